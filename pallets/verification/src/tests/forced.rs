//! Forced errors: who opens them, who finds them, and who guesses.

use crate::{mock::*, Error, Event, Fault, Forced as Openings};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::DispatchError;
use trainyard_protocol::{
	audit::{AuditPhase, Decision, GroupVerdict, SegmentEvidence},
	forced,
	pieces::Piece,
	trace, H256,
};
use trainyard_traits::Audits;

/// Runs with trainers that open when a test says so.
fn forcing(test: impl FnOnce()) {
	run(|| {
		Silent::set(TRAINERS.to_vec());
		bonded(3);
		test();
	});
}

fn is_opening(phase: &AuditPhase) -> bool {
	matches!(phase, AuditPhase::Opening { .. })
}

/// The leaf that is forced of what `who` trained: of ten segments one.
fn forced_leaf(who: AccountId) -> u32 {
	forced::indices(&ASSIGNMENT, &secret(who), SEGMENTS)[0]
}

/// The only verdict of what somebody says.
fn evidence_of(said: &mut Said) -> &mut [SegmentEvidence] {
	let GroupVerdict::Replayed(replayed) = &mut said.findings.verdicts[0] else {
		panic!("evidence")
	};
	replayed.evidence.as_mut()
}

/// Whether `who` must replay the segment that is forced.
fn is_hit(who: AccountId) -> bool {
	wanted(who, 0).iter().any(|segment| segment + 1 == forced_leaf(TRAINERS[0]))
}

/// All seats say what they found, but for what `change` makes of it; the audit is at the time to open.
fn spoken(change: impl Fn(AccountId, &mut Said)) -> Vec<AccountId> {
	tick_until(is_committing);
	let seats = committee();
	let all: Vec<Said> = seats
		.iter()
		.map(|who| {
			let mut said = say(*who, &[Say::Yes]);
			change(*who, &mut said);
			commit(*who, &said).unwrap();
			said
		})
		.collect();
	tick_until(is_revealing);
	for (who, said) in seats.iter().zip(&all) {
		reveal(*who, said).unwrap();
	}
	tick_until(|phase| !is_revealing(phase));
	seats
}

/// An audit of one result in which a seat hits the forced error, as often as that takes.
fn hit(change: impl Fn(AccountId, &mut Said)) -> Vec<AccountId> {
	for _ in 0..50 {
		open(1, 3);
		tick_until(is_committing);
		if committee().iter().any(|who| is_hit(*who)) {
			return spoken(change);
		}
		finish_nothing();
	}
	panic!("nobody is hit in 50 audits");
}

/// Forgets an audit that was only drawn.
fn finish_nothing() {
	Verification::remove(JOB);
	Due::set(None);
	tick();
}

#[test]
fn who_replays_finds_forced_errors() {
	forcing(|| {
		let seats = hit(|_, _| {});
		assert!(is_opening(&view().phase));
		let hits: Vec<AccountId> = seats.iter().copied().filter(|who| is_hit(*who)).collect();
		assert_ok!(open_forced(TRAINERS[0]));
		let all = Openings::<Test>::get(JOB, TRAINERS[0]).unwrap();
		assert_eq!(all.len(), 1);
		assert_eq!(all[0].index, forced_leaf(TRAINERS[0]));
		assert_eq!(view().groups[0].bundles[0].forced, Some(all.to_vec()));
		// Nobody waits for anything more.
		tick();
		assert!(is_standing(&view().phase));
		assert_eq!(finish(), (vec![Decision::Accepted], seats));
		let whole = Whole::get().unwrap();
		assert_eq!((whole.found, whole.unopened), (Some(hits), vec![]));
		Verification::remove(JOB);
		assert!(Openings::<Test>::get(JOB, TRAINERS[0]).is_none());
	});
}

/// The trainer opens what it must, at the time for it, once; anything else is refused.
#[test]
fn only_what_is_forced_is_opened() {
	forcing(|| {
		open(1, 3);
		tick_until(is_committing);
		assert_noop!(open_forced(TRAINERS[0]), Error::<Test>::NotOpening);
		spoken(|_, _| {});
		let call = |who, secret, opening| {
			Verification::open_forced(RuntimeOrigin::signed(who), JOB, secret, opening)
		};
		let (own, other) = (TRAINERS[0], TRAINERS[1]);
		assert_noop!(open_forced(other), Error::<Test>::NotTrainer);
		let wrong = call(own, secret(other), opening(own));
		assert_noop!(wrong, Error::<Test>::WrongSecret);
		let wrong = call(own, secret(own), opening(other));
		assert_noop!(wrong, Error::<Test>::WrongForced);
		let mut less = opening(own);
		less.leaves.pop();
		assert_noop!(call(own, secret(own), less), Error::<Test>::WrongForced);
		let none = Verification::open_forced(
			RuntimeOrigin::signed(own),
			JOB + 1,
			secret(own),
			opening(own),
		);
		assert_noop!(none, Error::<Test>::NoAudit);
		let bad = Verification::open_forced(RuntimeOrigin::none(), JOB, secret(own), opening(own));
		assert_noop!(bad, DispatchError::BadOrigin);
		assert_ok!(open_forced(own));
		let secret = secret(own);
		let forced = Openings::<Test>::get(JOB, own).unwrap();
		let event = Event::ForcedOpened { job: JOB, trainer: own, secret, forced };
		System::assert_has_event(event.into());
		assert_noop!(open_forced(own), Error::<Test>::AlreadyOpened);
	});
}

/// A trainer that does not open is out, with all its evidence; one that shares its result is not.
#[test]
fn who_does_not_open_is_out() {
	forcing(|| {
		open(1, 3);
		spoken(|_, _| {});
		let AuditPhase::Opening { until } = view().phase else { panic!("{:?}", view().phase) };
		tick_until(is_standing);
		assert_eq!(System::block_number(), u64::from(until) + 1);
		assert_noop!(open_forced(TRAINERS[0]), Error::<Test>::NotOpening);
		let event = Event::NotOpened { job: JOB, trainer: TRAINERS[0] };
		System::assert_has_event(event.into());
		assert_eq!(finish().0, [Decision::Rejected]);
		assert_eq!(Whole::get().unwrap().unopened, [TRAINERS[0]]);
	});
	forcing(|| {
		let mut request = request(1, 3);
		request.groups[0] = group_of(&[TRAINERS[0], TRAINERS[1]]);
		open_with(request);
		// All looked at the bundle of the first one.
		spoken(|_, _| {});
		assert_ok!(open_forced(TRAINERS[0]));
		tick();
		assert!(is_opening(&view().phase), "the second can still open");
		tick_until(is_standing);
		assert_eq!(view().groups[0].convicted, [TRAINERS[1]]);
		assert_eq!(finish().0, [Decision::Accepted]);
		assert_eq!(Whole::get().unwrap().unopened, [TRAINERS[1]]);
	});
	forcing(|| {
		let mut request = request(1, 3);
		request.groups[0] = group_of(&[TRAINERS[0], TRAINERS[1]]);
		open_with(request);
		spoken(|_, _| {});
		assert_ok!(open_by(TRAINERS[0], TRAINERS[1]));
		tick_until(is_standing);
		// Nobody looked at a bundle that is known to be this result: another committee is drawn.
		tick_until(is_committing);
		assert_eq!(view().round, 1);
		spoken_of(1);
		assert!(is_standing(&view().phase), "nothing is left to open");
		assert_eq!(finish().0, [Decision::Accepted]);
	});
}

/// A trainer may be away for as long as machines may be when the committee has revealed, and the others wait
/// for it no longer than that, or than it takes.
#[test]
fn who_is_away_can_open_later() {
	forcing(|| {
		open(1, 3);
		let seats = spoken(|_, _| {});
		let AuditPhase::Opening { until } = view().phase else { panic!("{:?}", view().phase) };
		assert_eq!(u64::from(until), System::block_number() + u64::from(OPENING));
		while System::block_number() < u64::from(until) {
			tick();
			assert!(is_opening(&view().phase));
		}
		assert_ok!(open_forced(TRAINERS[0]));
		tick();
		assert!(is_standing(&view().phase), "nobody waits for more");
		assert_eq!(finish(), (vec![Decision::Accepted], seats));
		assert!(Whole::get().unwrap().unopened.is_empty());
	});
}

/// Who opened while seats reveal would say to those who committed to a guess that they are caught. They would
/// say nothing, for less than their stake. Only who is accused may.
#[test]
fn nobody_opens_while_seats_reveal() {
	forcing(|| {
		open(1, 3);
		tick_until(is_committing);
		for who in committee() {
			commit(who, &say(who, &[Say::Yes])).unwrap();
		}
		tick_until(is_revealing);
		assert_noop!(open_forced(TRAINERS[0]), Error::<Test>::NotOpening);
		sue(VERIFIERS[5], of_trainer(TRAINERS[0]));
		assert_ok!(open_forced(TRAINERS[0]));
	});
}

/// What is revealed of a result that was decided before is not looked at, so nobody has a part of the prize
/// for it.
#[test]
fn evidence_of_a_decided_result_wins_nothing() {
	forcing(|| {
		let (honest, guilty) = (TRAINERS[0], TRAINERS[1]);
		let draws = (0..50).any(|_| {
			open(2, 3);
			tick_until(is_committing);
			let hit = committee().iter().any(|who| is_hit(*who));
			if hit {
				finish_nothing();
			}
			!hit
		});
		assert!(draws, "somebody is hit in each of 50 audits");
		let dispute = sue(VERIFIERS[5], of_trainer(guilty));
		assert_ok!(open_forced(guilty));
		// The leaf that all know to be forced, whatever they drew.
		let segment = forced_leaf(guilty) - 1;
		let all: Vec<(AccountId, Said)> = committee()
			.into_iter()
			.map(|who| {
				let (own, mut shown) = verdict(who, 0, honest, Say::Yes);
				let (mut other, _) = verdict(who, 1, guilty, Say::Yes);
				let GroupVerdict::Replayed(replayed) = &mut other else { panic!("evidence") };
				replayed.evidence = evidence(guilty, &[segment]).try_into().unwrap();
				assert!(replayed.evidence[0].differs.is_some());
				shown.extend(paths(guilty, &[segment]));
				(who, said(who, vec![own, other], shown))
			})
			.collect();
		for (who, said) in &all {
			commit(*who, said).unwrap();
		}
		convict(dispute, true);
		assert_eq!(view().groups[1].decision, Some(Decision::Rejected));
		tick_until(is_revealing);
		for (who, said) in &all {
			reveal(*who, said).unwrap();
		}
		tick_until(is_opening);
		assert_ok!(open_forced(honest));
		assert_eq!(finish().0, [Decision::Accepted, Decision::Rejected]);
		let whole = Whole::get().unwrap();
		assert_eq!((whole.found, whole.unopened), (Some(vec![]), vec![]));
	});
}

/// Who says of a leaf that it differs was right for all that anybody knows where the result is lost since: it
/// loses nothing.
#[test]
fn a_difference_in_a_result_that_is_lost_costs_nothing() {
	forcing(|| {
		let seats = hit(|_, said| {
			for evidence in evidence_of(said).iter_mut() {
				evidence.differs = Some(evidence.leaf_trace());
				evidence.trace_root = H256([9; 32]);
			}
		});
		assert_ok!(open_forced(TRAINERS[0]));
		tick_until(is_standing);
		let bonds = || seats.iter().map(|who| entry(*who).bond).collect::<Vec<_>>();
		let before = bonds();
		// Nobody stores what is asked for.
		assert_ok!(ask(VERIFIERS[5], 0, &[Piece::State(3)]));
		assert_eq!(finish(), (vec![Decision::Unavailable], seats.clone()));
		assert_eq!(bonds(), before);
		assert!(view().groups[0].convicted.is_empty(), "nobody is convicted of anything");
	});
}

/// Who fills the blocks in which a trainer would open takes no deposit by that.
#[test]
fn the_time_to_open_stands_still_in_full_blocks() {
	forcing(|| {
		open(1, 3);
		spoken(|_, _| {});
		let AuditPhase::Opening { until } = view().phase else { panic!("{:?}", view().phase) };
		FullBlocks::mutate(|full| *full += 7);
		while System::block_number() < u64::from(until) + 7 {
			tick();
			assert!(is_opening(&view().phase));
		}
		assert_ok!(open_forced(TRAINERS[0]));
		tick();
		assert!(is_standing(&view().phase));
		assert!(view().groups[0].convicted.is_empty());
		assert!(!crate::Uploading::<Test>::contains_key(JOB));
	});
}

/// A trainer that withholds its opening harms no seat, whatever the seats said of its bundle: nothing is known
/// of it. They have their fees.
#[test]
fn who_withholds_its_opening_harms_nobody() {
	forcing(|| {
		let seats = hit(|who, said| {
			// One of them says of everything that it differs.
			if who == committee()[0] {
				for evidence in evidence_of(said).iter_mut() {
					evidence.differs = Some(evidence.leaf_trace());
					evidence.trace_root = H256([9; 32]);
				}
			}
		});
		let bonds = || seats.iter().map(|who| entry(*who).bond).collect::<Vec<_>>();
		let before = bonds();
		tick_until(is_standing);
		assert_eq!(view().groups[0].convicted, [TRAINERS[0]]);
		let (decisions, served) = finish();
		assert_eq!(decisions, [Decision::Rejected]);
		assert_eq!((bonds(), served), (before, seats));
		let whole = Whole::get().unwrap();
		assert_eq!((whole.found, whole.unopened), (Some(vec![]), vec![TRAINERS[0]]));
	});
}

/// All seats looked at the bundle of the trainer number `at` of what the first one trained.
fn spoken_of(at: u32) {
	let (of, who) = (TRAINERS[0], TRAINERS[at as usize]);
	let shown = shown_by(of, who);
	let hashes: Vec<H256> =
		shown.iter().map(trainyard_protocol::bundle::Checkpoint::leaf).collect();
	spoken(|_, said| {
		let GroupVerdict::Replayed(replayed) = &mut said.findings.verdicts[0] else {
			panic!("evidence")
		};
		replayed.bundle = at;
		let mut paths = Vec::new();
		for evidence in replayed.evidence.iter_mut() {
			let index = evidence.segment as usize + 1;
			let there = shown[index].trace;
			evidence.differs = (there != evidence.trace()).then_some(there);
			let path = trainyard_protocol::merkle::proof(&hashes, index).unwrap();
			paths.push(path.try_into().unwrap());
		}
		said.paths = paths.try_into().unwrap();
	});
}

/// A trainer can hand out its traces, and with them the one that it forced. Who says it is right did not
/// replay.
#[test]
fn a_copied_trace_is_convicted() {
	forcing(|| {
		let index = forced_leaf(TRAINERS[0]);
		let handed = forced::trace_root(&secret(TRAINERS[0]), index);
		let seats = hit(|_, said| {
			for evidence in evidence_of(said).iter_mut().filter(|e| e.segment + 1 == index) {
				evidence.trace_root = handed;
				evidence.differs = None;
			}
		});
		let caught: Vec<AccountId> = seats.iter().copied().filter(|who| is_hit(*who)).collect();
		let before: Vec<_> = caught.iter().map(|who| entry(*who).bond).collect();
		let (all, jackpot) = (Balances::total_issuance(), Balances::free_balance(JACKPOT));
		let stake = crate::AuditRecords::<Test>::get(JOB).unwrap().stake;
		assert_ok!(open_forced(TRAINERS[0]));
		tick_until(is_standing);
		for (who, bond) in caught.iter().zip(before) {
			assert_eq!(entry(*who).bond, bond - stake);
			let (verifier, fault) = (*who, Fault::Guessed);
			let event = Event::Slashed { verifier, amount: stake, job: JOB, fault };
			System::assert_has_event(event.into());
		}
		let lost = stake * caught.len() as u128;
		assert_eq!(Balances::total_issuance(), all - lost / 2);
		assert_eq!(Balances::free_balance(JACKPOT), jackpot + lost / 2);
		// They have no fee; nobody found anything.
		tick_until(|phase| !is_standing(phase));
		let audit = crate::AuditRecords::<Test>::get(JOB).unwrap();
		assert!(caught.iter().all(|who| !audit.served.contains(who)));
		assert!(audit.found.is_empty());
	});
}

/// Who says of everything that it differs finds all forced errors, and loses at every other leaf.
#[test]
fn a_difference_that_is_none_costs_the_stake() {
	forcing(|| {
		let seats = hit(|_, said| {
			for evidence in evidence_of(said).iter_mut() {
				evidence.differs = Some(evidence.leaf_trace());
				evidence.trace_root = H256([9; 32]);
			}
		});
		assert_ok!(open_forced(TRAINERS[0]));
		tick_until(is_standing);
		let bonds = || seats.iter().map(|who| entry(*who).bond).collect::<Vec<_>>();
		let (before, stake) = (bonds(), crate::AuditRecords::<Test>::get(JOB).unwrap().stake);
		tick_until(|phase| !is_standing(phase));
		assert_eq!(bonds(), before.iter().map(|bond| bond - stake).collect::<Vec<_>>());
		let audit = crate::AuditRecords::<Test>::get(JOB).unwrap();
		assert!(audit.found.is_empty() && audit.served.is_empty());
		assert_eq!(audit.groups[0].decision, None, "nobody vouches for it");
	});
	// Where the trainer is convicted, the seats were right.
	forcing(|| {
		let seats = hit(|_, said| {
			for evidence in evidence_of(said).iter_mut() {
				evidence.differs = Some(evidence.leaf_trace());
				evidence.trace_root = H256([9; 32]);
			}
		});
		assert_ok!(open_forced(TRAINERS[0]));
		tick_until(is_standing);
		let before: Vec<_> = seats.iter().map(|who| entry(*who).bond).collect();
		convict(sue(VERIFIERS[5], of_trainer(TRAINERS[0])), true);
		assert_eq!(finish().0, [Decision::Rejected]);
		assert_eq!(seats.iter().map(|who| entry(*who).bond).collect::<Vec<_>>(), before);
	});
}

/// The sealed trace that a bundle has where this evidence leads to.
trait LeafTrace {
	fn leaf_trace(&self) -> H256;
}

impl LeafTrace for SegmentEvidence {
	fn leaf_trace(&self) -> H256 {
		self.differs.unwrap_or_else(|| trace::seal(&self.trace_root))
	}
}

/// Who is accused at a leaf that it forced can open it before the time for that.
#[test]
fn who_is_accused_can_open_at_once() {
	forcing(|| {
		open(1, 3);
		tick_until(is_committing);
		sue(VERIFIERS[5], of_trainer(TRAINERS[0]));
		assert_ok!(open_forced(TRAINERS[0]));
		let index = forced_leaf(TRAINERS[0]);
		let found =
			<Verification as trainyard_traits::Audited<_>>::forced(JOB, &TRAINERS[0], index);
		assert_eq!(found.map(|forced| forced.index), Some(index));
		let none = <Verification as trainyard_traits::Audited<_>>::forced(JOB, &TRAINERS[0], 0);
		assert_eq!(none, None);
	});
}
