//! Reveals: what they must match, and what is malformed.

use crate::{mock::*, Error, Event, H256};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::DispatchError;
use trainyard_protocol::{
	audit::{Decision, Findings, GroupVerdict, RejectReason, SegmentEvidence},
	commitment,
};
use trainyard_traits::Audits;

/// A committee of three at the reveal, of which `who` committed `findings`, and the others
/// what is true of both groups.
fn revealing(make: impl Fn(&[Vec<u32>]) -> Findings) -> (AccountId, Findings) {
	bonded(3);
	open(2, 3);
	tick_until(is_committing);
	let seats = committee();
	let odd = make(&drawn());
	assert_ok!(commit(seats[0], &odd));
	for who in &seats[1..] {
		assert_ok!(commit(*who, &findings(&[Say::Yes(1), Say::Yes(1)])));
	}
	tick_until(is_revealing);
	(seats[0], odd)
}

fn verdicts(list: Vec<GroupVerdict>) -> Findings {
	list.try_into().unwrap()
}

fn accept(evidence: Vec<SegmentEvidence>) -> GroupVerdict {
	GroupVerdict::Accept(evidence.try_into().unwrap())
}

#[test]
fn only_what_was_committed_is_revealed_and_once() {
	run(|| {
		let (who, true_findings) = revealing(|drawn| {
			verdicts(vec![accept(evidence(&drawn[0], 1)), GroupVerdict::Unavailable])
		});
		assert_noop!(
			Verification::reveal(RuntimeOrigin::root(), JOB, true_findings.clone(), salt(who)),
			DispatchError::BadOrigin
		);
		assert_noop!(
			Verification::reveal(
				RuntimeOrigin::signed(who),
				JOB + 1,
				true_findings.clone(),
				salt(who)
			),
			Error::<Test>::NoAudit
		);
		assert_noop!(reveal(SUBMITTER, &true_findings), Error::<Test>::NotOnCommittee);
		assert_noop!(reveal(who, &findings(&[Say::No, Say::Gone])), Error::<Test>::WrongReveal);
		assert_noop!(
			Verification::reveal(RuntimeOrigin::signed(who), JOB, true_findings.clone(), [0; 32]),
			Error::<Test>::WrongReveal
		);
		assert_ok!(reveal(who, &true_findings));
		System::assert_last_event(Event::Revealed { job: JOB, verifier: who }.into());
		assert_noop!(reveal(who, &true_findings), Error::<Test>::AlreadyRevealed);
		let member = view().committee.into_iter().find(|m| m.verifier == who).unwrap();
		assert_eq!(member.findings, Some(true_findings));
	});
}

#[test]
fn there_is_a_time_for_reveals() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let seats = committee();
		let said = findings(&[Say::Yes(1)]);
		for who in &seats[..2] {
			assert_ok!(commit(*who, &said));
		}
		assert_noop!(reveal(seats[0], &said), Error::<Test>::NotRevealing);
		tick_until(is_revealing);
		let last = System::block_number() + u64::from(REVEAL);
		assert_noop!(reveal(seats[2], &said), Error::<Test>::NotCommitted);
		System::set_block_number(last);
		assert_ok!(reveal(seats[0], &said));
		System::set_block_number(last + 1);
		assert_noop!(reveal(seats[1], &said), Error::<Test>::TooLate);
	});
}

/// Whoever copies a commitment cannot open it: the account is inside the hash.
#[test]
fn a_copied_commitment_cannot_be_opened() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let seats = committee();
		let said = findings(&[Say::Yes(1)]);
		let hash = commitment::verdict(
			&Verification::genesis(),
			JOB,
			0,
			&seats[0],
			&said,
			&salt(seats[0]),
		);
		for who in &seats[..2] {
			assert_ok!(Verification::commit(RuntimeOrigin::signed(*who), JOB, hash));
		}
		assert_ok!(commit(seats[2], &said));
		tick_until(is_revealing);
		assert_ok!(reveal(seats[0], &said));
		assert_ok!(reveal(seats[2], &said));
		assert_noop!(
			Verification::reveal(RuntimeOrigin::signed(seats[1]), JOB, said, salt(seats[0])),
			Error::<Test>::WrongReveal
		);
		while Outcome::get().is_none() {
			tick();
		}
		let (decisions, served) = Outcome::get().unwrap();
		assert_eq!((decisions, served), (vec![Decision::Accepted], vec![seats[0], seats[2]]));
		assert_eq!(bond_of(seats[1]), BOND - ABSENCE);
	});
}

/// A commitment of one round cannot be opened in another.
#[test]
fn a_commitment_is_for_its_round() {
	run(|| {
		bonded(1);
		open(1, 1);
		round(&[Act::Seal]);
		assert_eq!(view().round, 1);
		tick_until(is_committing);
		let (who, said) = (committee()[0], findings(&[Say::No]));
		let old = commitment::verdict(&Verification::genesis(), JOB, 0, &who, &said, &salt(who));
		assert_ok!(Verification::commit(RuntimeOrigin::signed(who), JOB, old));
		tick_until(is_revealing);
		assert_noop!(reveal(who, &said), Error::<Test>::WrongReveal);
	});
}

#[test]
fn malformed_findings_are_refused() {
	type Make = fn(&[Vec<u32>]) -> Findings;
	let cases: Vec<(Make, Error<Test>)> = vec![
		(|_| verdicts(vec![]), Error::WrongNumberOfVerdicts),
		(|drawn| verdicts(vec![accept(evidence(&drawn[0], 1))]), Error::WrongNumberOfVerdicts),
		(|_| verdicts(vec![GroupVerdict::Unavailable; 3]), Error::WrongNumberOfVerdicts),
		(
			|drawn| verdicts(vec![accept(evidence(&drawn[0][..1], 1)), GroupVerdict::Unavailable]),
			Error::WrongSegments,
		),
		(|_| verdicts(vec![accept(vec![]), GroupVerdict::Unavailable]), Error::WrongSegments),
		(
			|drawn| {
				let mut twisted = evidence(&drawn[1], 1);
				twisted.reverse();
				verdicts(vec![GroupVerdict::Unavailable, accept(twisted)])
			},
			Error::WrongSegments,
		),
		(
			|drawn| {
				let more = evidence(&[drawn[1][0], drawn[1][1], drawn[1][1]], 1);
				verdicts(vec![GroupVerdict::Unavailable, accept(more)])
			},
			Error::WrongSegments,
		),
		(
			|_| {
				let wrong = RejectReason::WrongSegment(evidence(&[10], 1)[0]);
				verdicts(vec![GroupVerdict::Reject(wrong), GroupVerdict::Unavailable])
			},
			Error::WrongSegments,
		),
		(
			|_| {
				let wrong = RejectReason::WrongState { checkpoint: 11 };
				verdicts(vec![GroupVerdict::Reject(wrong), GroupVerdict::Unavailable])
			},
			Error::NoSuchCheckpoint,
		),
		(
			|_| {
				let wrong = RejectReason::WrongEvaluation { checkpoint: 11 };
				verdicts(vec![GroupVerdict::Unavailable, GroupVerdict::Reject(wrong)])
			},
			Error::NoSuchCheckpoint,
		),
		(
			|_| {
				let wrong = RejectReason::UnreachableState { checkpoint: 11 };
				verdicts(vec![GroupVerdict::Unavailable, GroupVerdict::Reject(wrong)])
			},
			Error::NoSuchCheckpoint,
		),
		// A segment stands still since one after it.
		(
			|drawn| {
				let mut late = evidence(&drawn[1], 1);
				late[0].idle_since = Some(late[0].segment + 1);
				verdicts(vec![GroupVerdict::Unavailable, accept(late)])
			},
			Error::WrongSegments,
		),
		// What is drawn of one result is no evidence for another.
		(
			|drawn| verdicts(vec![GroupVerdict::Unavailable, accept(evidence(&drawn[0], 1))]),
			Error::WrongSegments,
		),
	];
	for (make, error) in cases {
		run(|| {
			let (who, findings) = revealing(make);
			assert_noop!(reveal(who, &findings), error);
		});
	}
}

#[test]
fn every_well_formed_verdict_is_taken() {
	type Make = fn(&[Vec<u32>]) -> Findings;
	let cases: Vec<Make> = vec![
		|drawn| verdicts(vec![accept(evidence(&drawn[0], 1)), accept(evidence(&drawn[1], 2))]),
		|drawn| {
			let wrong = RejectReason::WrongSegment(evidence(&drawn[0][1..], 1)[0]);
			verdicts(vec![GroupVerdict::Reject(wrong), GroupVerdict::Unavailable])
		},
		// The first segment where two results differ.
		|drawn| {
			let other = (0..10).find(|segment| !drawn[0].contains(segment)).unwrap();
			let wrong = RejectReason::WrongSegment(evidence(&[other], 1)[0]);
			verdicts(vec![GroupVerdict::Reject(wrong), GroupVerdict::Unavailable])
		},
		|_| {
			let wrong = RejectReason::WrongState { checkpoint: 10 };
			let start = RejectReason::WrongInitialState;
			verdicts(vec![GroupVerdict::Reject(wrong), GroupVerdict::Reject(start)])
		},
		|_| {
			let at = |checkpoint| RejectReason::WrongEvaluation { checkpoint };
			verdicts(vec![GroupVerdict::Reject(at(0)), GroupVerdict::Reject(at(10))])
		},
		|drawn| {
			let mut still = evidence(&drawn[0], 1);
			still.iter_mut().for_each(|e| e.idle_since = Some(e.segment));
			still[0].idle_since = Some(0);
			let far = RejectReason::UnreachableState { checkpoint: 10 };
			verdicts(vec![accept(still), GroupVerdict::Reject(far)])
		},
		|_| {
			let (model, points) = (RejectReason::WrongModel, RejectReason::WrongCheckpoints);
			verdicts(vec![GroupVerdict::Reject(model), GroupVerdict::Reject(points)])
		},
	];
	for make in cases {
		run(|| {
			let (who, findings) = revealing(make);
			assert_ok!(reveal(who, &findings));
		});
	}
}

/// Segments and checkpoints are those of the result, not of the job.
#[test]
fn a_result_that_stopped_early_has_only_its_own_segments() {
	let reject = |reason| verdicts(vec![GroupVerdict::Unavailable, GroupVerdict::Reject(reason)]);
	let segment = |at| RejectReason::WrongSegment(evidence(&[at], 1)[0]);
	let state = |checkpoint| RejectReason::WrongState { checkpoint };
	let evaluation = |checkpoint| RejectReason::WrongEvaluation { checkpoint };
	let finite = |at| RejectReason::NotDiverged(evidence(&[at], 1)[0]);
	let cases = [
		(segment(3), None),
		(segment(4), Some(Error::<Test>::WrongSegments)),
		(state(4), None),
		(state(5), Some(Error::NoSuchCheckpoint)),
		(evaluation(4), None),
		(evaluation(5), Some(Error::NoSuchCheckpoint)),
		(finite(4), Some(Error::WrongSegments)),
	];
	let cases = cases.map(|(reason, error)| (reason, error, false)).into_iter();
	// The segment in which it diverged has no end of which it could be wrong.
	let diverged = [
		(segment(3), None, true),
		(segment(4), Some(Error::WrongSegments), true),
		(evaluation(5), Some(Error::NoSuchCheckpoint), true),
		(finite(4), None, true),
		(finite(3), Some(Error::WrongSegments), true),
	];
	for (reason, error, diverged) in cases.chain(diverged) {
		run(|| {
			bonded(3);
			let mut request = request(2, 3);
			request.groups[1].0.segments = 4;
			request.groups[1].0.diverged = diverged;
			assert_ok!(Verification::open(JOB, request));
			System::set_block_number(System::block_number() + 3);
			Verification::advance(JOB);
			let said = reject(reason);
			let seats = committee();
			for who in &seats {
				assert_ok!(commit(*who, &said));
			}
			Verification::advance(JOB);
			match error {
				Some(error) => {
					assert_noop!(reveal(seats[0], &said), error);
				}
				None => {
					assert_ok!(reveal(seats[0], &said));
				}
			}
		});
	}
}

/// The bytes that a verifier's commitment covers are frozen: clients build them by hand.
#[test]
fn the_commitment_binds_chain_job_round_account_findings_and_salt() {
	let said = verdicts(vec![GroupVerdict::Unavailable]);
	let base = (H256([1; 32]), 2u32, 3u32, 4u64, said, [5u8; 32]);
	let hash = |b: &(H256, u32, u32, u64, Findings, [u8; 32])| {
		commitment::verdict(&b.0, b.1, b.2, &b.3, &b.4, &b.5)
	};
	let changed = [
		(H256([9; 32]), base.1, base.2, base.3, base.4.clone(), base.5),
		(base.0, 9, base.2, base.3, base.4.clone(), base.5),
		(base.0, base.1, 9, base.3, base.4.clone(), base.5),
		(base.0, base.1, base.2, 9, base.4.clone(), base.5),
		(base.0, base.1, base.2, base.3, verdicts(vec![]), base.5),
		(base.0, base.1, base.2, base.3, base.4.clone(), [9; 32]),
	];
	for other in changed {
		assert_ne!(hash(&base), hash(&other));
	}
}
