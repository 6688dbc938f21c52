//! Reveals: what they must match, and what is malformed.

use crate::{mock::*, Error, Event, Verdicts, H256};
use frame_support::{assert_noop, assert_ok};
use sp_core::Pair;
use sp_runtime::DispatchError;
use trainyard_protocol::{
	accusation::Target,
	audit::{Decision, Ended, GroupVerdict, Rejection, Replayed},
	commitment, vrf,
};
use trainyard_traits::Audits;

type Verdict = GroupVerdict<AccountId>;
type Proof = Vec<Vec<H256>>;

/// A committee of three at the reveal of an audit of two results, of which `seat` committed to what `make`
/// returns. With what it committed to.
fn revealing(seat: usize, make: impl Fn(AccountId) -> Said) -> (AccountId, Said) {
	bonded(3);
	open(2, 3);
	tick_until(is_committing);
	let seats = committee();
	let odd = make(seats[seat]);
	for (at, who) in seats.iter().enumerate() {
		let said = if at == seat { odd.clone() } else { say(*who, &[Say::Yes, Say::Gone]) };
		assert_ok!(commit(*who, &said));
	}
	tick_until(is_revealing);
	(seats[seat], odd)
}

/// What `who` says, with another verdict on the first result.
fn with(who: AccountId, verdict: Verdict, paths: Proof) -> Said {
	said(who, vec![verdict, GroupVerdict::Unavailable], paths)
}

/// Evidence of these segments of the first result, with this pick and these partings.
fn replayed(segments: &[u32], moved: Option<u32>, parts: &[u32]) -> (Verdict, Proof) {
	let replayed = Replayed {
		bundle: 0,
		evidence: evidence(TRAINERS[0], segments).try_into().unwrap(),
		moved,
		parts: parts.to_vec().try_into().unwrap(),
	};
	(GroupVerdict::Replayed(replayed), paths(TRAINERS[0], segments))
}

#[test]
fn only_what_was_committed_is_revealed_and_once() {
	run(|| {
		let (who, said) = revealing(0, |who| say(who, &[Say::Yes, Say::Gone]));
		let call = |origin, job, findings, salt| {
			Verification::reveal(origin, job, findings, said.paths.clone(), salt)
		};
		let (signed, findings) = (RuntimeOrigin::signed(who), said.findings.clone());
		let bad = DispatchError::BadOrigin;
		assert_noop!(call(RuntimeOrigin::root(), JOB, findings.clone(), salt(who)), bad);
		let unknown = call(signed.clone(), JOB + 1, findings.clone(), salt(who));
		assert_eq!(unknown, Err(Error::<Test>::NoAudit.into()));
		assert_noop!(reveal(SUBMITTER, &said), Error::<Test>::NotOnCommittee);
		let other = say(who, &[Say::Gone, Say::Gone]);
		assert_noop!(reveal(who, &other), Error::<Test>::WrongReveal);
		assert_noop!(call(signed, JOB, findings.clone(), [0; 32]), Error::<Test>::WrongReveal);
		assert_ok!(reveal(who, &said));
		System::assert_last_event(Event::Revealed { job: JOB, verifier: who }.into());
		assert_noop!(reveal(who, &said), Error::<Test>::AlreadyRevealed);
		let member = view().committee.into_iter().find(|m| m.verifier == who).unwrap();
		assert_eq!(member.findings, Some(findings));
	});
}

#[test]
fn there_is_a_time_for_reveals() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let seats = committee();
		let said: Vec<Said> = seats.iter().map(|who| say(*who, &[Say::Yes])).collect();
		for (who, said) in seats[..2].iter().zip(&said) {
			assert_ok!(commit(*who, said));
		}
		assert_noop!(reveal(seats[0], &said[0]), Error::<Test>::NotRevealing);
		tick_until(is_revealing);
		let last = System::block_number() + u64::from(REVEAL);
		assert_noop!(reveal(seats[2], &said[2]), Error::<Test>::NotCommitted);
		System::set_block_number(last);
		assert_ok!(reveal(seats[0], &said[0]));
		System::set_block_number(last + 1);
		assert_noop!(reveal(seats[1], &said[1]), Error::<Test>::TooLate);
	});
}

/// Whoever copies a commitment cannot open it: the account is inside the hash. Nor does what another seat
/// revealed help: it drew other segments, by its own key.
#[test]
fn copied_evidence_is_refused() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let seats = committee();
		let said: Vec<Said> = seats.iter().map(|who| say(*who, &[Say::Yes])).collect();
		let (genesis, findings) = (Verification::genesis(), &said[0].findings);
		let hash = commitment::verdict(&genesis, JOB, 0, &seats[0], findings, &salt(seats[0]));
		assert_ok!(commit(seats[0], &said[0]));
		assert_ok!(Verification::commit(RuntimeOrigin::signed(seats[1]), JOB, hash));
		// The third binds itself to what the first found, as its own.
		assert_ok!(commit(seats[2], &said[0]));
		tick_until(is_revealing);
		assert_ok!(reveal(seats[0], &said[0]));
		let Said { findings, paths } = said[0].clone();
		let signed = RuntimeOrigin::signed(seats[1]);
		let copied = Verification::reveal(signed, JOB, findings, paths, salt(seats[0]));
		assert_eq!(copied, Err(Error::<Test>::WrongReveal.into()));
		assert_noop!(reveal(seats[2], &said[0]), Error::<Test>::WrongDraw);
		tick_until(|phase| !is_revealing(phase));
		assert_eq!(view().round, 1, "one of three is no majority");
		assert!(seats[1..].iter().all(|who| bond_of(*who) == BOND - ABSENCE));
	});
}

/// A commitment of one round cannot be opened in another, and neither can a draw.
#[test]
fn a_commitment_is_for_its_round() {
	run(|| {
		bonded(1);
		open(1, 1);
		tick_until(is_committing);
		let (who, old) = (committee()[0], say(committee()[0], &[Say::Yes]));
		round(&[Act::Seal]);
		assert_eq!(view().round, 1);
		tick_until(is_committing);
		let genesis = Verification::genesis();
		let hash = commitment::verdict(&genesis, JOB, 0, &who, &old.findings, &salt(who));
		assert_ok!(Verification::commit(RuntimeOrigin::signed(who), JOB, hash));
		tick_until(is_revealing);
		assert_noop!(reveal(who, &old), Error::<Test>::WrongReveal);
		tick_until(is_committing);
		assert_ok!(commit(who, &old));
		tick_until(is_revealing);
		assert_noop!(reveal(who, &old), Error::<Test>::WrongDraw);
	});
}

/// The output is that of the key which the seat had at the height of the draw. Whoever sees the seed and
/// sets another key draws by the old one.
#[test]
fn a_key_that_is_younger_than_the_seed_draws_nothing() {
	run(|| {
		bonded(1);
		System::set_block_number(100);
		open(1, 1);
		System::set_block_number(101);
		assert_ok!(set_key(10, pair(2).public()));
		tick_until(is_committing);
		let mut younger = say(10, &[Say::Yes]);
		assert_eq!(view().committee[0].vrf_key, H256(key().0));
		younger.findings.draw = draw_by(10, &pair(2));
		assert_ok!(commit(10, &younger));
		tick_until(is_revealing);
		assert_noop!(reveal(10, &younger), Error::<Test>::WrongDraw);
	});
	// However long the round takes: the history of keys forgets after 60 blocks.
	run(|| {
		bonded(1);
		open_with(trainyard_traits::AuditRequest { rate: 500, ..request(1, 1) });
		tick_until(is_committing);
		for number in 2..5 {
			let now = System::block_number();
			System::set_block_number(now + 2 * u64::from(crate::SETTLING));
			assert_ok!(set_key(10, pair(number).public()));
		}
		let said = say(10, &[Say::Yes]);
		assert_ok!(commit(10, &said));
		Due::set(Some(0));
		tick_until(is_revealing);
		assert_ok!(reveal(10, &said));
	});
}

/// Another's signature, one for another job, round or seed, and one that is none.
#[test]
fn whoever_draws_otherwise_reveals_nothing() {
	type Change = fn(&mut vrf::VrfSignature, AccountId, AccountId);
	let cases: [Change; 5] = [
		|draw, _, other| *draw = draw_of(other).0,
		|draw, who, _| *draw = draw_by(who, &pair(2)),
		|draw, who, _| {
			let (genesis, seed) = (Verification::genesis(), view().seed.unwrap());
			let subject = vrf::Subject {
				genesis: &genesis,
				job: JOB + 1,
				round: 0,
				seed: &seed,
				account: &who,
			};
			*draw = vrf::sign(pair(1).as_ref(), &subject);
		},
		|draw, who, _| {
			let (genesis, seed) = (Verification::genesis(), H256([9; 32]));
			let subject =
				vrf::Subject { genesis: &genesis, job: JOB, round: 0, seed: &seed, account: &who };
			*draw = vrf::sign(pair(1).as_ref(), &subject);
		},
		|draw, _, _| draw.proof[3] ^= 1,
	];
	for change in cases {
		run(|| {
			let (who, said) = revealing(0, |who| {
				let mut said = say(who, &[Say::Yes, Say::Gone]);
				change(&mut said.findings.draw, who, committee()[1]);
				said
			});
			assert_noop!(reveal(who, &said), Error::<Test>::WrongDraw);
		});
	}
}

#[test]
fn malformed_findings_are_refused() {
	type Make = fn(AccountId) -> Said;
	let cases: Vec<(usize, Make, Error<Test>)> = vec![
		(0, |who| said(who, vec![], vec![]), Error::WrongNumberOfVerdicts),
		(0, |who| say(who, &[Say::Gone]), Error::WrongNumberOfVerdicts),
		(0, |who| say(who, &[Say::Gone; 3]), Error::WrongNumberOfVerdicts),
		// Too few, none, too many, another one, not in order.
		(
			0,
			|who| {
				let (verdict, paths) = replayed(&wanted(who, 0)[1..], None, &[]);
				with(who, verdict, paths)
			},
			Error::WrongSegments,
		),
		(
			0,
			|who| {
				let (verdict, paths) = replayed(&[], None, &[]);
				with(who, verdict, paths)
			},
			Error::WrongSegments,
		),
		(
			0,
			|who| {
				let (verdict, paths) = replayed(&(0..10).collect::<Vec<_>>(), None, &[]);
				with(who, verdict, paths)
			},
			Error::WrongSegments,
		),
		(
			0,
			|who| {
				let mut segments = wanted(who, 0);
				segments.reverse();
				let (verdict, paths) = replayed(&segments, None, &[]);
				with(who, verdict, paths)
			},
			Error::WrongSegments,
		),
		// What it drew of one result is no evidence of another, nor is what another seat drew.
		(
			0,
			|who| {
				let (verdict, paths) = replayed(&wanted(committee()[1], 0), None, &[]);
				with(who, verdict, paths)
			},
			Error::WrongSegments,
		),
		// A pick that is not its duty, none where it is, and one that there is not.
		(
			0,
			|who| {
				let (verdict, paths) = replayed(&wanted(who, 0), Some(4), &[]);
				with(who, verdict, paths)
			},
			Error::WrongSegments,
		),
		(
			1,
			|who| {
				let (verdict, paths) = replayed(&wanted(who, 0), None, &[]);
				with(who, verdict, paths)
			},
			Error::WrongSegments,
		),
		(
			2,
			|who| {
				let (verdict, paths) = replayed(&wanted(who, 0), Some(10), &[]);
				with(who, verdict, paths)
			},
			Error::WrongSegments,
		),
		// Two results part from each other once.
		(
			0,
			|who| {
				let (verdict, paths) = replayed(&wanted(who, 0), None, &[8, 9]);
				with(who, verdict, paths)
			},
			Error::WrongSegments,
		),
		// A parting of which there is no evidence.
		(
			0,
			|who| {
				let segments = wanted(who, 0);
				let other = (0..10).find(|at| !segments.contains(at)).unwrap();
				let (verdict, paths) = replayed(&segments, None, &[other]);
				with(who, verdict, paths)
			},
			Error::WrongSegments,
		),
		// A segment stands still since one after it.
		(
			0,
			|who| {
				let (mut verdict, paths) = verdict(who, 0, TRAINERS[0], Say::Yes);
				if let GroupVerdict::Replayed(replayed) = &mut verdict {
					replayed.evidence[0].idle_since = Some(replayed.evidence[0].segment + 1);
				}
				with(who, verdict, paths)
			},
			Error::WrongSegments,
		),
		// Evidence that is another result's, or somebody made up, and paths that are not there or too many.
		(
			0,
			|who| {
				let (verdict, paths) = verdict(who, 0, TRAINERS[1], Say::Yes);
				with(who, verdict, paths)
			},
			Error::WrongPaths,
		),
		(
			0,
			|who| {
				let (mut verdict, paths) = verdict(who, 0, TRAINERS[0], Say::Yes);
				if let GroupVerdict::Replayed(replayed) = &mut verdict {
					replayed.evidence[0].trace_root = H256([1; 32]);
				}
				with(who, verdict, paths)
			},
			Error::WrongPaths,
		),
		(
			0,
			|who| {
				let (mut verdict, paths) = verdict(who, 0, TRAINERS[0], Say::Yes);
				if let GroupVerdict::Replayed(replayed) = &mut verdict {
					replayed.evidence[0].ended = Ended::Diverged { step: 1 };
				}
				with(who, verdict, paths)
			},
			Error::WrongPaths,
		),
		(
			0,
			|who| {
				let (verdict, mut paths) = verdict(who, 0, TRAINERS[0], Say::Yes);
				paths.pop();
				with(who, verdict, paths)
			},
			Error::WrongPaths,
		),
		(
			0,
			|who| {
				let (verdict, mut paths) = verdict(who, 0, TRAINERS[0], Say::Yes);
				paths.push(vec![]);
				with(who, verdict, paths)
			},
			Error::WrongPaths,
		),
		// Somebody who delivered another result, a stranger, and something that is no result.
		(
			0,
			|who| with(who, GroupVerdict::Rejected(rejection(TRAINERS[1])), vec![]),
			Error::WrongAccused,
		),
		(
			0,
			|who| with(who, GroupVerdict::Rejected(rejection(SUBMITTER)), vec![]),
			Error::WrongAccused,
		),
		(
			0,
			|who| {
				let of = Rejection { target: Target::Evidence(3), ..rejection(TRAINERS[0]) };
				with(who, GroupVerdict::Rejected(of), vec![])
			},
			Error::WrongAccused,
		),
	];
	for (case, (seat, make, error)) in cases.into_iter().enumerate() {
		run(|| {
			println!("case {case}");
			let (who, said) = revealing(seat, make);
			assert_noop!(reveal(who, &said), error);
			assert_eq!(Verdicts::<Test>::iter().count(), 0);
			assert!(disputes().is_empty());
		});
	}
}

#[test]
fn every_seat_reveals_its_draws_and_its_duties() {
	run(|| {
		bonded(5);
		open(1, 5);
		tick_until(is_committing);
		let seats = committee();
		let own: Vec<Vec<u32>> =
			seats.iter().map(|who| vrf::own_segments(&draw_of(*who).1, 0, SEGMENTS, 2)).collect();
		assert!(own.iter().all(|own| own.len() == 2) && own.iter().any(|other| *other != own[0]));
		for (seat, who) in seats.iter().enumerate() {
			let wanted = wanted(*who, 0);
			assert!(own[seat].iter().all(|segment| wanted.contains(segment)));
			assert!(seat > 0 || [0, SEGMENTS - 1].iter().all(|s| wanted.contains(s)));
			assert!(!matches!(seat, 1 | 2) || wanted.contains(&PICK));
			assert!(wanted.len() <= if seat == 0 { 4 } else { 3 });
		}
		round(&vec![speak(Say::Yes); 5]);
		assert_eq!(finish().0, [Decision::Accepted]);
	});
}

/// Where results part all replay that segment as well, as they find it.
#[test]
fn a_parting_is_replayed_besides() {
	run(|| {
		let (who, said) = revealing(0, |who| {
			let parting = (0..10).find(|at| !wanted(who, 0).contains(at)).unwrap();
			let mut segments = wanted(who, 0);
			segments.push(parting);
			segments.sort();
			let (verdict, paths) = replayed(&segments, None, &[parting]);
			with(who, verdict, paths)
		});
		assert_ok!(reveal(who, &said));
	});
}

/// The verdict on what was decided meanwhile is not looked at, nor are its paths.
#[test]
fn a_decided_result_is_not_asked_about() {
	run(|| {
		bonded(3);
		open(2, 3);
		tick_until(is_committing);
		let seats = committee();
		let odd = {
			let (mut verdict, mut paths) = verdict(seats[0], 0, TRAINERS[0], Say::Yes);
			if let GroupVerdict::Replayed(replayed) = &mut verdict {
				replayed.evidence[0].trace_root = H256([1; 32]);
			}
			let (second, more) = honest(seats[0], 1);
			paths.extend(more);
			said(seats[0], vec![verdict, second], paths)
		};
		assert_ok!(commit(seats[0], &odd));
		let others: Vec<_> =
			seats[1..].iter().map(|who| (*who, say(*who, &[Say::No, Say::Yes]))).collect();
		for (who, said) in &others {
			assert_ok!(commit(*who, said));
		}
		tick_until(is_revealing);
		assert_noop!(reveal(seats[0], &odd), Error::<Test>::WrongPaths);
		convict(sue(VERIFIERS[5], of_trainer(TRAINERS[0])), true);
		for (who, said) in &others {
			assert_ok!(reveal(*who, said));
		}
		assert!(disputes().is_empty(), "who was convicted is not accused again");
		assert_ok!(reveal(seats[0], &odd));
		assert_eq!(finish(), (vec![Decision::Rejected, Decision::Accepted], seats));
	});
}

/// An honest verdict on a result.
fn honest(who: AccountId, group: u32) -> (Verdict, Proof) {
	verdict(who, group, TRAINERS[group as usize], Say::Yes)
}

/// Segments are those of the result, not of the job; and where it diverged seat 0 replays that one.
#[test]
fn a_result_that_stopped_early_has_only_its_own_segments() {
	run(|| {
		bonded(3);
		let mut request = request(2, 3);
		request.groups[1].0.segments = 4;
		request.groups[1].0.diverged = true;
		assert_ok!(Verification::open(JOB, request));
		System::set_block_number(System::block_number() + 3);
		Verification::advance(JOB);
		for who in committee() {
			let own = vrf::own_segments(&draw_of(who).1, 1, 4, 2);
			assert!(own.iter().all(|segment| *segment < 4));
		}
		let first = wanted(committee()[0], 1);
		assert_eq!(first.last(), Some(&4));
	});
}
