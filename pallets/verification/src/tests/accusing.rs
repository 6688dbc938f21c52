//! Seats before the court: what they put at stake, and what they lose.

use crate::{mock::*, Accusations, AuditRecords, Error, Event, Fault};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::DispatchError;
use trainyard_protocol::{
	accusation::Target,
	audit::{Decision, GroupVerdict},
	reputation::{Deed, Role},
};
use trainyard_traits::{Accusation, AuditRequest, Audited, Audits, Defendant, Stakes};

fn accuse(who: AccountId, accusation: Accusation<AccountId>) -> sp_runtime::DispatchResult {
	Verification::accuse(RuntimeOrigin::signed(who), accusation)
}

/// An audit of one result that stands, of which three seats revealed evidence.
fn standing() -> Vec<AccountId> {
	bonded(4);
	open(1, 3);
	unanimous(Say::Yes)
}

/// What a seat accuses with is the stake of its seat, and no further deposit.
#[test]
fn a_rejection_is_an_accusation_with_the_stake_of_the_seat() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let committed = System::block_number() as u32;
		let seats = round(&[speak(Say::No), speak(Say::Yes), speak(Say::Yes)]);
		let dispute = Disputes::get()[0].clone();
		assert_eq!((dispute.by, dispute.stake), (seats[0], CHALLENGE));
		assert_eq!(
			(dispute.accusation, dispute.committed_at),
			(of_trainer(TRAINERS[0]), committed)
		);
		let (verifier, stake) = (seats[0], CHALLENGE);
		System::assert_has_event(Event::Accused { verifier, dispute: 0, stake }.into());
		assert_eq!(entry(seats[0]).locked, STAKE, "no more than the seat");
		assert_eq!(Balances::free_balance(seats[0]), ENDOWMENT - BOND);
		for _ in 0..4 * LENGTH {
			tick();
		}
		assert!(is_standing(&view().phase), "nothing is decided while the court is not");
		acquit(0);
		let fault = Fault::LostAccusation;
		System::assert_has_event(
			Event::Slashed { verifier, amount: CHALLENGE, job: JOB, fault }.into(),
		);
		assert_eq!(Noted::get(), [(Role::Verifier, verifier, Deed::Convicted)]);
		assert_eq!(entry(seats[0]).locked, STAKE - CHALLENGE);
		assert_eq!(bond_of(seats[0]), BOND - CHALLENGE);
		assert_eq!(Balances::free_balance(TRAINERS[0]), ENDOWMENT + CHALLENGE);
		assert_eq!(finish(), (vec![Decision::Accepted], seats[1..].to_vec()));
		assert_eq!((entry(verifier).locked, Accusations::<Test>::iter().count()), (0, 0));
	});
}

/// A seat that accuses of several results has one stake of a seat; the rest of its bond covers the others.
#[test]
fn each_further_accusation_locks_as_much_again() {
	run(|| {
		bonded(3);
		open_with(AuditRequest { challenge: STAKE, ..request(3, 3) });
		let says = Act::Speak(vec![Say::No; 3]);
		let seats = round(&vec![says; 3]);
		assert_eq!(disputes().len(), 9);
		assert!(seats.iter().all(|who| entry(*who).locked == 3 * STAKE));
		let by = Disputes::get()[0].by;
		acquit(0);
		assert_eq!(entry(by).locked, 2 * STAKE);
		while let Some(id) = disputes().first() {
			convict(*id, true);
		}
		assert!(seats.iter().all(|who| entry(*who).locked == 0));
		assert_eq!(finish().0, [Decision::Rejected; 3]);
		assert_eq!(bond_of(by), BOND - STAKE);
	});
}

/// An audit of two results by three seats of which no bond covers two accusations: the first seat rejects
/// both results, the others none. Returns the seats.
fn two_rejections_of_one_stake() -> Vec<AccountId> {
	for who in &VERIFIERS[..3] {
		assert_ok!(register(*who, MIN_BOND));
	}
	open_with(AuditRequest { challenge: 600, ..request(2, 3) });
	let passes = Act::Speak(vec![Say::Yes, Say::Yes]);
	let seats = round(&[Act::Speak(vec![Say::No, Say::No]), passes.clone(), passes]);
	let accused: Vec<_> = Disputes::get().into_iter().map(|it| (it.by, it.accusation)).collect();
	assert_eq!(accused, [(seats[0], of_trainer(TRAINERS[0]))]);
	assert_eq!((view().committee[0].postponed.clone(), entry(seats[0]).locked), (vec![1], 600));
	let (verifier, trainer) = (seats[0], TRAINERS[1]);
	System::assert_has_event(Event::AccusationPostponed { job: JOB, verifier, trainer }.into());
	seats
}

/// A draw for another audit can take what is free of a bond before the reveal: what the bond covers is
/// opened, and the rest is said.
#[test]
fn what_a_bond_does_not_cover_is_said_and_accused_of_later() {
	run(|| {
		let seats = two_rejections_of_one_stake();
		let second = of_trainer(TRAINERS[1]);
		assert_noop!(accuse(seats[0], second.clone()), Error::<Test>::StakeTooSmall);
		convict(0, true);
		assert_ok!(accuse(seats[0], second));
		assert!(view().committee[0].postponed.is_empty());
		convict(1, true);
		let (decisions, mut served) = finish();
		assert_eq!(decisions, [Decision::Rejected; 2]);
		served.sort();
		assert_eq!(served, VERIFIERS[..3], "a fee for each");
	});
}

/// Whoever rejects at no risk is paid if it was right, and pays as for an absence if it was not.
#[test]
fn a_rejection_without_an_accusation_is_paid_where_it_is_proven() {
	run(|| {
		let seats = two_rejections_of_one_stake();
		let other = sue(SUBMITTER, of_trainer(TRAINERS[1]));
		convict(other, true);
		convict(0, true);
		let (decisions, served) = finish();
		assert_eq!(decisions, [Decision::Rejected; 2]);
		assert_eq!(served, [seats[1], seats[2], seats[0]]);
		assert_eq!(bond_of(seats[0]), MIN_BOND);
	});
	run(|| {
		let seats = two_rejections_of_one_stake();
		convict(0, true);
		assert_eq!(finish(), (vec![Decision::Rejected, Decision::Accepted], seats[1..].to_vec()));
		assert_eq!((bond_of(seats[0]), entry(seats[0]).locked), (MIN_BOND - ABSENCE, 0));
		let (verifier, fault) = (seats[0], Fault::NoVerdict);
		let event = Event::Slashed { verifier, amount: ABSENCE, job: JOB, fault };
		System::assert_has_event(event.into());
	});
	// Who accuses later and loses has none, either.
	run(|| {
		let seats = two_rejections_of_one_stake();
		convict(0, true);
		assert_ok!(accuse(seats[0], of_trainer(TRAINERS[1])));
		assert_eq!(acquit(1), 600);
		assert_eq!(finish(), (vec![Decision::Rejected, Decision::Accepted], seats[1..].to_vec()));
		assert_eq!(bond_of(seats[0]), MIN_BOND - 600, "and no more");
	});
}

/// Where the round is not heard nothing stands of which it could accuse. So it is known at the end whether it was
/// right; whoever looks at the result can challenge it until then.
#[test]
fn a_postponed_rejection_of_a_round_that_is_not_heard_has_its_price() {
	for right in [false, true] {
		run(|| {
			for who in &VERIFIERS[..3] {
				assert_ok!(register(*who, MIN_BOND));
			}
			open_with(AuditRequest { challenge: 600, ..request(2, 3) });
			let no = Act::Speak(vec![Say::No, Say::No]);
			let seats = round(&[no, Act::Vanish, Act::Vanish]);
			assert_eq!((view().round, disputes()), (1, vec![0]));
			let owing = AuditRecords::<Test>::get(JOB).unwrap().owing;
			assert_eq!((owing[0].seat, owing[0].named.to_vec()), (seats[0], vec![TRAINERS[1]]));
			convict(0, true);
			assert_eq!((bond_of(seats[0]), entry(seats[0]).locked), (MIN_BOND, 0));
			let both = Act::Speak(vec![Say::Yes, Say::Yes]);
			let next = round(&vec![both; 3]);
			if right {
				convict(sue(SUBMITTER, of_trainer(TRAINERS[1])), true);
			}
			let decision = if right { Decision::Rejected } else { Decision::Accepted };
			let (decisions, served) = finish();
			assert_eq!(decisions, [Decision::Rejected, decision]);
			let fees = next.into_iter().chain(right.then_some(seats[0])).collect::<Vec<_>>();
			assert_eq!(served, fees);
			let paid = if right { 0 } else { ABSENCE };
			assert_eq!(bond_of(seats[0]), MIN_BOND - paid);
			assert!(AuditRecords::<Test>::get(JOB).unwrap().owing.is_empty());
		});
	}
}

/// Otherwise a job whose stake only its submitter's verifiers have would choose its judges.
#[test]
fn a_job_asks_for_no_stake_that_few_have() {
	run(|| {
		for who in &VERIFIERS[..4] {
			assert_ok!(register(*who, BOND));
		}
		// Its own verifiers, of whom each has twice as much.
		for who in &VERIFIERS[4..] {
			assert_ok!(register(*who, 2 * BOND));
		}
		open_with(AuditRequest { challenge: 2 * BOND, ..request(1, 5) });
		let says = speak(Say::No);
		let seats = round(&[says, speak(Say::Yes), speak(Say::Yes), speak(Say::Yes)]);
		assert_eq!(seats.len(), 5, "all six can be drawn");
		let dispute = Disputes::get()[0].clone();
		assert_eq!((dispute.by, dispute.stake), (seats[0], BOND));
		assert_eq!(view().challenge, BOND);
		acquit(0);
	});
	let most = |bonds: &[u128]| {
		let pool = bonds.iter().zip(100..).map(|(bond, who)| (who, seated(*bond, 0)));
		let pool: std::collections::BTreeMap<_, _> = pool.collect();
		Verification::most_stake(&pool.try_into().unwrap(), 1)
	};
	assert_eq!((most(&[]), most(&[5]), most(&[7_000])), (MIN_BOND, MIN_BOND, 7_000));
	assert_eq!(most(&[5_000, 5_000, 90_000]), 5_000, "a tenth is more than may be left out");
	assert_eq!(most(&[2_000, 2_000, 90_000]), 90_000, "and a 23rd is not");
}

/// The court convicts an account once: whoever was drawn again could reveal what nobody accuses it of.
#[test]
fn who_was_convicted_is_not_drawn_again() {
	run(|| {
		bonded(4);
		open(1, 3);
		let seats = unanimous(Say::Yes);
		for who in &seats[..2] {
			let dispute = sue(SUBMITTER, of_seat(*who, TRAINERS[0], wanted_of(*who)));
			convict(dispute, true);
		}
		tick_until(is_committing);
		let again = committee();
		assert_eq!((view().round, again.len()), (1, 1), "two are left, and it is odd");
		assert!(seats[..2].iter().all(|who| !again.contains(who)));
		unanimous(Say::Yes);
		let (decisions, served) = finish();
		assert_eq!(decisions, [Decision::Accepted]);
		assert!(seats[..2].iter().all(|who| !served.contains(who)));
	});
}

/// What the court does not hear, an accusation without its leaves for example, is no reveal.
#[test]
fn an_accusation_that_is_not_heard_is_not_revealed() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let who = committee()[0];
		let no = say(who, &[Say::No]);
		assert_ok!(commit(who, &no));
		tick_until(is_revealing);
		Refuses::set(true);
		assert_noop!(reveal(who, &no), DispatchError::Other("refused"));
		tick_until(|phase| !is_revealing(phase));
		assert_eq!(bond_of(who), BOND - ABSENCE);
	});
}

/// The court may see at once that a result is false.
#[test]
fn who_is_convicted_at_once_is_not_accused_again() {
	run(|| {
		bonded(3);
		open(1, 3);
		Flagrant::set(vec![TRAINERS[0]]);
		let seats = round(&vec![speak(Say::No); 3]);
		assert_eq!((NextDispute::get(), disputes().len()), (1, 0));
		assert_eq!(finish(), (vec![Decision::Rejected], seats.clone()));
		assert!(seats.iter().all(|who| entry(*who).locked == 0 && bond_of(*who) == BOND));
	});
}

/// A seat that finds something in what it replays again accuses with its stake, too.
#[test]
fn a_seat_accuses_while_results_stand() {
	run(|| {
		let seats = standing();
		let segment = wanted_of(seats[0]);
		assert_ok!(accuse(seats[1], of_seat(seats[0], TRAINERS[0], segment)));
		assert_ok!(accuse(seats[2], of_trainer(TRAINERS[0])));
		assert_eq!(Disputes::get()[0].committed_at, System::block_number() as u32);
		assert!(Disputes::get().iter().all(|dispute| dispute.stake == CHALLENGE));
		convict(0, true);
		assert_eq!(acquit(1), CHALLENGE);
		assert!(view().committee[0].convicted);
		// Two of three are left.
		assert_eq!(finish(), (vec![Decision::Accepted], vec![seats[1]]));
	});
}

/// A segment of which `who` revealed evidence.
fn wanted_of(who: AccountId) -> u32 {
	let member = view().committee.into_iter().find(|m| m.verifier == who).unwrap();
	let verdicts = member.findings.unwrap().verdicts;
	let GroupVerdict::Replayed(replayed) = &verdicts[0] else { panic!("it replayed it") };
	replayed.evidence[0].segment
}

#[test]
fn accusations_of_seats_have_conditions() {
	run(|| {
		let good = of_trainer(TRAINERS[0]);
		assert_noop!(accuse(10, good.clone()), Error::<Test>::NoAudit);
		bonded(5);
		open(1, 3);
		assert_noop!(accuse(10, good.clone()), Error::<Test>::NotStanding);
		let seats = round(&[speak(Say::Yes), Act::Vanish, speak(Say::Yes)]);
		assert_noop!(
			Verification::accuse(RuntimeOrigin::root(), good.clone()),
			DispatchError::BadOrigin
		);
		let outsider = *VERIFIERS[..5].iter().find(|who| !seats.contains(who)).unwrap();
		for who in [outsider, TRAINERS[1], SUBMITTER] {
			assert_noop!(accuse(who, good.clone()), Error::<Test>::NotOnCommittee);
		}
		assert_noop!(accuse(seats[1], good.clone()), Error::<Test>::NotRevealed);
		let absent = of_seat(seats[1], TRAINERS[0], 0);
		let other = of_seat(seats[2], TRAINERS[1], 0);
		let oneself = of_seat(seats[0], TRAINERS[0], 0);
		for bad in [of_trainer(TRAINERS[1]), of_trainer(seats[2]), absent, other, oneself] {
			assert_noop!(accuse(seats[0], bad), Error::<Test>::WrongAccused);
		}
		// Whose own evidence is convicted accuses nobody.
		convict(sue(outsider, of_seat(seats[2], TRAINERS[0], 0)), true);
		assert_noop!(accuse(seats[2], good.clone()), Error::<Test>::NotRevealed);
		assert_noop!(
			accuse(seats[0], of_seat(seats[2], TRAINERS[0], 0)),
			Error::<Test>::WrongAccused
		);
		// When the window is over, nobody does, whether the market has looked or not.
		System::set_block_number(System::block_number() + 100);
		assert_noop!(accuse(seats[0], good), Error::<Test>::NotStanding);
	});
}

/// A friend of the cheat vouches for a false result and is convicted with it: a half of its stake is
/// burned, a quarter is the finder's, a quarter the jackpot's, and it earns nothing.
#[test]
fn friendly_seats_lose_their_stakes() {
	run(|| {
		let seats = standing();
		let finder = VERIFIERS[3];
		let before = Balances::free_balance(finder);
		convict(sue(finder, of_seat(seats[1], TRAINERS[0], 0)), true);
		assert_eq!(bond_of(seats[1]), BOND - STAKE);
		assert_eq!(Balances::free_balance(finder), before + STAKE / 4);
		assert_eq!(Balances::free_balance(JACKPOT), 1 + STAKE / 4);
		assert_eq!(burned(), STAKE / 2);
		let (verifier, quarter) = (seats[1], STAKE / 4);
		System::assert_has_event(
			Event::EvidenceConvicted {
				job: JOB,
				verifier,
				burned: STAKE / 2,
				finder,
				second: None,
				found: quarter,
				jackpot: quarter,
			}
			.into(),
		);
		// Once.
		convict(sue(finder, of_seat(seats[1], TRAINERS[0], 1)), true);
		assert_eq!(bond_of(seats[1]), BOND - STAKE);
		assert_eq!(finish(), (vec![Decision::Accepted], vec![seats[0], seats[2]]));
	});
}

/// Who is silent pays its finder no more than a deposit.
#[test]
fn silence_pays_no_finder_a_quarter() {
	run(|| {
		bonded(4);
		open_with(AuditRequest { challenge: 10, ..request(1, 3) });
		let seats = unanimous(Say::Yes);
		let finder = VERIFIERS[3];
		let before = Balances::free_balance(finder);
		convict(sue(finder, of_seat(seats[1], TRAINERS[0], 0)), false);
		assert_eq!(bond_of(seats[1]), BOND - STAKE);
		assert_eq!(Balances::free_balance(finder), before + 10);
		assert_eq!(Balances::free_balance(JACKPOT), 1 + STAKE / 2 - 10);
	});
}

/// Evidence that is convicted does not count, and so others look at the result.
#[test]
fn a_majority_of_false_evidence_accepts_nothing_and_rejects_nothing() {
	run(|| {
		let seats = standing();
		for who in &seats[..2] {
			convict(sue(VERIFIERS[3], of_seat(*who, TRAINERS[0], 0)), true);
		}
		tick_until(|phase| matches!(phase, trainyard_protocol::audit::AuditPhase::Drawing { .. }));
		assert_eq!((view().round, view().groups[0].decision), (1, None));
		let second = unanimous(Say::Yes);
		let fees: Vec<_> = [seats[2]].into_iter().chain(second).collect();
		assert_eq!(finish(), (vec![Decision::Accepted], fees));
	});
}

/// What an accusation has at stake is taken for the seat's own evidence first, when it ends, and no more
/// than there is.
#[test]
fn stakes_are_counted_once() {
	run(|| {
		for who in &VERIFIERS[..3] {
			assert_ok!(register(*who, MIN_BOND));
		}
		open_with(AuditRequest { challenge: 900, ..request(1, 3) });
		let seats = unanimous(Say::Yes);
		assert_ok!(accuse(seats[0], of_trainer(TRAINERS[0])));
		assert_eq!(entry(seats[0]).locked, 900);
		// Of its seat's stake nothing is left but what it accuses with.
		convict(sue(VERIFIERS[4], of_seat(seats[0], TRAINERS[0], 0)), true);
		assert_eq!((bond_of(seats[0]), entry(seats[0]).locked), (900, 900));
		let before = Balances::free_balance(JACKPOT);
		// It owes 800 of the stake of 900, and what is left is lost to whom it accused.
		assert_eq!(acquit(0), 100);
		assert_eq!((bond_of(seats[0]), entry(seats[0]).locked), (0, 0));
		assert_eq!(Balances::free_balance(JACKPOT), before + 800);
	});
}

/// Before its own evidence is convicted, a seat that vouched for a cheat accuses that cheat as well, as
/// often as its bond covers. These disputes are moot when others convict the cheat, and their stakes
/// return, but for what the seat owes.
#[test]
fn who_accuses_a_friend_keeps_nothing_of_its_stake() {
	run(|| {
		for who in &VERIFIERS[..3] {
			assert_ok!(register(*who, MIN_BOND));
		}
		open_with(AuditRequest { challenge: 400, ..request(1, 3) });
		let seats = unanimous(Say::Yes);
		let of = |target| Accusation { target, ..of_trainer(TRAINERS[0]) };
		let shields = [Target::Model, Target::Stop].map(|target| accuse(seats[0], of(target)));
		assert!(shields.iter().all(Result::is_ok));
		let finder = sue(VERIFIERS[4], of_trainer(TRAINERS[0]));
		convict(sue(VERIFIERS[4], of_seat(seats[0], TRAINERS[0], 0)), true);
		assert_eq!((bond_of(seats[0]), entry(seats[0]).locked), (800, 800), "the rest is locked");
		convict(finder, true);
		assert_eq!((bond_of(seats[0]), entry(seats[0]).locked), (MIN_BOND - 400, 0));
		assert_eq!(Accusations::<Test>::iter().count(), 0);
	});
}

/// Of each accusation what is at stake is lost once, and no more than that.
#[test]
fn a_stake_is_lost_once() {
	run(|| {
		let seats = standing();
		assert_ok!(accuse(seats[0], of_trainer(TRAINERS[0])));
		let of = |who| Defendant::Trainer { job: JOB, who };
		let forfeit =
			|who, amount| <Verification as Stakes<_>>::forfeit(JOB, &who, &of(TRAINERS[0]), amount);
		// It was at stake once, whatever is asked for.
		assert_eq!(forfeit(seats[0], 10 * CHALLENGE), CHALLENGE);
		Disputes::set(vec![]);
		assert_eq!(forfeit(seats[0], CHALLENGE), 0);
		assert_eq!(forfeit(VERIFIERS[5], CHALLENGE), 0);
		<Verification as Stakes<_>>::unlock(JOB, &VERIFIERS[5]);
		assert_eq!(bond_of(seats[0]), BOND - CHALLENGE);
	});
	// A defendant whose account is gone cannot have it.
	run(|| {
		let seats = standing();
		assert_ok!(accuse(seats[0], of_trainer(TRAINERS[0])));
		JackpotAccount::set(777);
		let gone = Defendant::Trainer { job: JOB, who: 778 };
		let moved = <Verification as Stakes<_>>::forfeit(JOB, &seats[0], &gone, 0);
		Disputes::set(vec![]);
		assert_eq!(
			(moved, bond_of(seats[0]), entry(seats[0]).locked),
			(0, BOND, STAKE - CHALLENGE)
		);
	});
}

/// What the court asks about seats and trainers.
#[test]
fn the_court_is_answered() {
	run(|| {
		bonded(3);
		open(2, 3);
		let seats = round(&vec![Act::Speak(vec![Say::Yes, Say::Gone]); 3]);
		// The second result has no evidence, so others are asked.
		assert_eq!(view().round, 1);
		let says = Act::Speak(vec![Say::Yes, Say::No]);
		let seats_again = round(&vec![says; 3]);
		assert_eq!(seats.len(), seats_again.len());
		let who = seats_again[0];
		let (root, other) = (bundle_of(TRAINERS[0]), bundle_of(TRAINERS[1]));
		assert_eq!(Verification::replayed(JOB, &who, &root), Some(result_of(TRAINERS[0])));
		assert_eq!(Verification::replayed(JOB, &who, &other), None);
		assert_eq!(Verification::replayed(JOB, &SUBMITTER, &root), None);
		assert_eq!(Verification::replayed(JOB + 1, &who, &root), None);
		let segment = wanted_of(who);
		let end = evidence(TRAINERS[0], &[segment])[0].end();
		assert_eq!(Verification::evidence(JOB, &who, &root, segment), Some(end));
		let none = (0..10).find(|at| !wanted(who, 0).contains(at)).unwrap();
		assert_eq!(Verification::evidence(JOB, &who, &root, none), None);
		assert_eq!(Verification::evidence(JOB, &who, &other, segment), None);
		assert!(!Verification::stored(JOB, &TRAINERS[0], &root, 0));
		let window = Verification::window(JOB).unwrap();
		let now = System::block_number() as u32;
		assert_eq!((window.from, window.until, window.again), (now, now + LENGTH, AGAIN));
		assert_eq!(Verification::window(JOB + 1), None);
		// What is no audit's, or over, changes nothing.
		let unknown = Defendant::Trainer { job: JOB + 1, who: TRAINERS[0] };
		let conviction = trainyard_traits::Conviction {
			dispute: 0,
			finder: SUBMITTER,
			second: None,
			proven: true,
		};
		<Verification as Audited<_>>::convict(&unknown, &conviction);
		while let Some(id) = disputes().first() {
			acquit(*id);
		}
		finish();
		assert_eq!(Verification::window(JOB), None);
		let late = Defendant::Seat { job: JOB, who, bundle_root: root };
		<Verification as Audited<_>>::convict(&late, &conviction);
		// In the first round it said nothing of the second result.
		assert!(bond_of(who) >= BOND - CHALLENGE - ABSENCE);
	});
}

/// Whoever forgets an audit leaves what is before the court locked until it is decided.
#[test]
fn a_forgotten_audit_keeps_what_is_before_the_court() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[speak(Say::No), speak(Say::Yes), speak(Say::Yes)]);
		Verification::remove(JOB);
		assert_eq!(entry(seats[0]).locked, CHALLENGE);
		assert!(seats[1..].iter().all(|who| entry(*who).locked == 0));
		convict(0, true);
		assert_eq!(entry(seats[0]).locked, 0);
	});
}

/// Whenever an accusation is lost, its seat earns nothing: before the others reveal, while results stand,
/// or when another committee works.
#[test]
fn who_loses_an_accusation_earns_nothing() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let seats = committee();
		let mut said: Vec<Said> = seats.iter().map(|who| say(*who, &[Say::Yes])).collect();
		said[0] = say(seats[0], &[Say::No]);
		for (who, said) in seats.iter().zip(&said) {
			assert_ok!(commit(*who, said));
		}
		tick_until(is_revealing);
		assert_ok!(reveal(seats[0], &said[0]));
		acquit(0);
		for (who, said) in seats.iter().zip(&said).skip(1) {
			assert_ok!(reveal(*who, said));
		}
		assert_eq!(finish(), (vec![Decision::Accepted], seats[1..].to_vec()));
	});
	run(|| {
		bonded(3);
		open(1, 3);
		round(&[speak(Say::No), Act::Vanish, Act::Vanish]);
		assert_eq!(view().round, 1);
		tick_until(is_committing);
		acquit(0);
		let second = round(&vec![speak(Say::Yes); 3]);
		let (decisions, served) = finish();
		assert_eq!(decisions, [Decision::Accepted]);
		// It sits again, and lost before it could earn there.
		assert_eq!(served.len(), 2);
		assert!(served.iter().all(|who| second.contains(who)));
	});
}
