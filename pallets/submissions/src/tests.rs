//! Every call, every error, and what the task market relies on.

use crate::{mock::*, Error, Event, Phase, Rounds};
use codec::Encode;
use frame_support::{assert_noop, assert_ok};
use proptest::prelude::*;
use trainyard_protocol::{job::MAX_REPLICAS, JobId};
use trainyard_traits::Submissions as _;

const JOB: JobId = 3;

fn commit(who: AccountId, byte: u8) -> sp_runtime::DispatchResult {
	Submissions::commit(RuntimeOrigin::signed(who), JOB, commitment(JOB, who, byte))
}

fn show(who: AccountId, byte: u8) -> sp_runtime::DispatchResult {
	Submissions::reveal(RuntimeOrigin::signed(who), JOB, reveal(byte), [byte; 32])
}

#[test]
fn a_round_from_opening_to_closing() {
	run(|| {
		assert_ok!(Submissions::open(JOB, &[2, 1], SEGMENTS));
		System::assert_last_event(Event::RoundOpened { job: JOB }.into());
		assert!(!Submissions::is_complete(JOB));

		assert_ok!(commit(1, 7));
		System::assert_last_event(
			Event::Committed { job: JOB, trainer: 1, commitment: commitment(JOB, 1, 7) }.into(),
		);
		assert_eq!(Submissions::commitments(JOB), vec![(1, commitment(JOB, 1, 7))]);
		assert_eq!(Progressed::get(), Vec::<JobId>::new(), "one is missing");
		assert_ok!(commit(2, 7));
		assert!(Submissions::is_complete(JOB));
		assert_eq!(Progressed::get(), vec![JOB]);

		assert_eq!(Submissions::open_reveals(JOB), vec![2, 1], "in the order of opening");
		System::assert_last_event(Event::RevealsOpened { job: JOB, committed: 2 }.into());
		assert!(!Submissions::is_complete(JOB));

		assert_ok!(show(1, 7));
		System::assert_last_event(
			Event::Revealed { job: JOB, trainer: 1, result: reveal(7).result() }.into(),
		);
		assert_eq!(Submissions::reveals(JOB), vec![(1, reveal(7))]);
		assert_eq!(Progressed::get(), vec![JOB]);
		assert_ok!(show(2, 7));
		assert!(Submissions::is_complete(JOB));
		assert_eq!(Progressed::get(), vec![JOB, JOB]);

		assert_eq!(Submissions::close(JOB), vec![(2, reveal(7)), (1, reveal(7))]);
		System::assert_last_event(Event::RoundClosed { job: JOB, revealed: 2 }.into());
		assert_eq!(Submissions::reveals(JOB).len(), 2, "kept until removed");

		Submissions::remove(JOB);
		assert!(Rounds::<Test>::get(JOB).is_none());
	});
}

#[test]
fn who_did_not_commit_is_not_waited_for() {
	run(|| {
		assert_ok!(Submissions::open(JOB, &[1, 2], SEGMENTS));
		assert_ok!(commit(1, 1));
		assert_eq!(Submissions::open_reveals(JOB), vec![1]);
		assert_ok!(show(1, 1));
		assert!(Submissions::is_complete(JOB));
		assert_eq!(Progressed::get(), vec![JOB]);
		assert_eq!(Submissions::close(JOB), vec![(1, reveal(1))]);
	});
}

#[test]
fn nobody_committed() {
	run(|| {
		assert_ok!(Submissions::open(JOB, &[1], SEGMENTS));
		assert!(Submissions::open_reveals(JOB).is_empty());
		assert!(Submissions::is_complete(JOB), "nothing to wait for");
		assert!(Submissions::close(JOB).is_empty());
	});
}

#[test]
fn moving_on_twice_changes_nothing() {
	run(|| {
		assert_ok!(Submissions::open(JOB, &[1], SEGMENTS));
		assert_ok!(commit(1, 1));
		Submissions::open_reveals(JOB);
		let events = System::events().len();
		assert_eq!(Submissions::open_reveals(JOB), vec![1]);
		assert_ok!(show(1, 1));
		Submissions::close(JOB);
		assert_eq!(Submissions::close(JOB), vec![(1, reveal(1))]);
		assert_eq!(Submissions::open_reveals(JOB), vec![1]);
		assert_eq!(Rounds::<Test>::get(JOB).unwrap().phase, Phase::Closed, "never reopened");
		assert_eq!(System::events().len(), events + 2, "one reveal, one closing");
	});
}

#[test]
fn a_job_without_a_round() {
	run(|| {
		assert_noop!(commit(1, 1), Error::<Test>::NoRound);
		assert_noop!(show(1, 1), Error::<Test>::NoRound);
		assert!(!Submissions::is_complete(JOB));
		assert!(Submissions::open_reveals(JOB).is_empty());
		assert!(Submissions::close(JOB).is_empty());
		assert!(Submissions::reveals(JOB).is_empty());
		assert!(Submissions::commitments(JOB).is_empty());
		Submissions::remove(JOB);
		assert!(Rounds::<Test>::get(JOB).is_none());
	});
}

#[test]
fn opening_is_checked() {
	run(|| {
		assert_noop!(Submissions::open(JOB, &[], SEGMENTS), Error::<Test>::BadTrainers);
		assert_noop!(Submissions::open(JOB, &[1, 2, 1], SEGMENTS), Error::<Test>::BadTrainers);
		let many: Vec<u64> = (0..=u64::from(MAX_REPLICAS)).collect();
		assert_noop!(Submissions::open(JOB, &many, SEGMENTS), Error::<Test>::BadTrainers);
		assert_ok!(Submissions::open(JOB, &many[1..], SEGMENTS));
		assert_noop!(Submissions::open(JOB, &[1], SEGMENTS), Error::<Test>::RoundExists);
	});
}

#[test]
fn unsigned_callers_are_refused() {
	run(|| {
		let bad = sp_runtime::DispatchError::BadOrigin;
		assert_ok!(Submissions::open(JOB, &[1], SEGMENTS));
		assert_noop!(Submissions::commit(RuntimeOrigin::root(), JOB, GENESIS), bad);
		assert_noop!(Submissions::reveal(RuntimeOrigin::none(), JOB, reveal(1), [1; 32]), bad);
	});
}

#[test]
fn commitments_are_taken_from_trainers_in_time() {
	run(|| {
		assert_ok!(Submissions::open(JOB, &[1, 2], SEGMENTS));
		assert_noop!(commit(9, 1), Error::<Test>::NotATrainer);
		assert_ok!(commit(1, 1));
		Submissions::open_reveals(JOB);
		assert_noop!(commit(2, 1), Error::<Test>::NotCommitting);
		Submissions::close(JOB);
		assert_noop!(commit(2, 1), Error::<Test>::NotCommitting);
	});
}

/// A commitment that a short fork took to a different seed is no result of this one.
#[test]
fn a_commitment_may_be_replaced_while_they_are_taken() {
	run(|| {
		assert_ok!(Submissions::open(JOB, &[1, 2], SEGMENTS));
		assert_ok!(commit(1, 1));
		let first = Submissions::commitments(JOB);
		assert_ok!(commit(1, 2));
		let last = Submissions::commitments(JOB);
		assert_eq!((first.len(), last.len()), (1, 1));
		assert_ne!(first, last);
		Submissions::open_reveals(JOB);
		assert_noop!(commit(1, 1), Error::<Test>::NotCommitting);
		assert_noop!(show(1, 1), Error::<Test>::RevealMismatch);
		assert_ok!(show(1, 2));
	});
}

#[test]
fn reveals_are_taken_once_from_committers_in_time() {
	run(|| {
		assert_ok!(Submissions::open(JOB, &[1, 2, 3], SEGMENTS));
		assert_ok!(commit(1, 1));
		assert_noop!(show(1, 1), Error::<Test>::NotRevealing);
		assert_ok!(commit(3, 3));
		Submissions::open_reveals(JOB);
		assert_noop!(show(9, 1), Error::<Test>::NotATrainer);
		assert_noop!(show(2, 1), Error::<Test>::NothingCommitted);
		assert_ok!(show(1, 1));
		assert_noop!(show(1, 1), Error::<Test>::AlreadyRevealed);
		Submissions::close(JOB);
		assert_noop!(show(3, 3), Error::<Test>::NotRevealing);
	});
}

#[test]
fn only_what_was_committed_can_be_revealed() {
	run(|| {
		assert_ok!(Submissions::open(JOB, &[1, 2], SEGMENTS));
		assert_ok!(commit(1, 1));
		// Trainer 2 copies trainer 1's commitment byte for byte.
		let copied = commitment(JOB, 1, 1);
		assert_ok!(Submissions::commit(RuntimeOrigin::signed(2), JOB, copied));
		Submissions::open_reveals(JOB);

		let mismatch = sp_runtime::DispatchError::from(Error::<Test>::RevealMismatch);
		assert_noop!(show(2, 1), mismatch);
		assert_noop!(show(1, 2), mismatch);
		let (who, mut r) = (RuntimeOrigin::signed(1), reveal(1));
		assert_noop!(Submissions::reveal(who.clone(), JOB, r.clone(), [2; 32]), mismatch);
		r.model_root = reveal(2).model_root;
		assert_noop!(Submissions::reveal(who.clone(), JOB, r.clone(), [1; 32]), mismatch);
		r = reveal(1);
		r.bundle_root = reveal(2).bundle_root;
		assert_noop!(Submissions::reveal(who.clone(), JOB, r, [1; 32]), mismatch);
		r = reveal(1);
		r.segments = 6;
		assert_noop!(Submissions::reveal(who.clone(), JOB, r, [1; 32]), mismatch);
		r = reveal(1);
		r.diverged = true;
		assert_noop!(Submissions::reveal(who, JOB, r, [1; 32]), mismatch);
		assert_ok!(show(1, 1));
	});
}

#[test]
fn a_result_has_as_many_segments_as_the_job_allows() {
	let numbers = [0, 3, 4, 6, 7, 8, u32::MAX];
	for (segments, diverged) in numbers.into_iter().flat_map(|n| [(n, false), (n, true)]) {
		run(|| {
			assert_ok!(Submissions::open(JOB, &[1], SEGMENTS));
			let shown = trainyard_protocol::job::Reveal { segments, diverged, ..reveal(1) };
			let committed = trainyard_protocol::commitment::result(
				&GENESIS,
				JOB,
				&1u64,
				&shown.result(),
				&[1; 32],
			);
			assert_ok!(Submissions::commit(RuntimeOrigin::signed(1), JOB, committed));
			Submissions::open_reveals(JOB);
			let reveal = || {
				let who = RuntimeOrigin::signed(1);
				Submissions::reveal(who, JOB, shown.clone(), [1; 32])
			};
			// One that diverged has lost some of the job's, whether that may stop early or not.
			let possible = if diverged { 0..=SEGMENTS.end() - 1 } else { SEGMENTS };
			if possible.contains(&segments) {
				assert_ok!(reveal());
				let all = Submissions::close(JOB);
				assert_eq!((all[0].1.segments, all[0].1.diverged), (segments, diverged));
			} else {
				assert_noop!(reveal(), Error::<Test>::WrongSegments);
				assert!(Submissions::close(JOB).is_empty());
			}
		});
	}
}

#[test]
fn a_commitment_holds_for_one_job_and_one_chain() {
	run(|| {
		assert_ok!(Submissions::open(JOB, &[1], SEGMENTS));
		assert_ok!(Submissions::open(JOB + 1, &[1], SEGMENTS));
		let origin = RuntimeOrigin::signed(1);
		// Made for another job.
		assert_ok!(Submissions::commit(origin.clone(), JOB + 1, commitment(JOB, 1, 1)));
		Submissions::open_reveals(JOB + 1);
		assert_noop!(
			Submissions::reveal(origin, JOB + 1, reveal(1), [1; 32]),
			Error::<Test>::RevealMismatch
		);
		// Made on another chain.
		assert_ok!(commit(1, 1));
		Submissions::open_reveals(JOB);
		frame_system::BlockHash::<Test>::insert(0, sp_core::H256::zero());
		assert_noop!(show(1, 1), Error::<Test>::RevealMismatch);
	});
}

#[test]
fn the_location_must_be_a_url_and_is_free_until_then() {
	run(|| {
		assert_ok!(Submissions::open(JOB, &[1], SEGMENTS));
		assert_ok!(commit(1, 1));
		Submissions::open_reveals(JOB);
		let mut r = reveal(1);
		let no_urls =
			[&b""[..], b"http://", b"ftp://a", b"127.0.0.1:8600", b"http://\xFF", b"iroh://"];
		// A bucket serves files of data, and no trainer.
		for bad in no_urls.into_iter().chain([&b"s3://bucket/key"[..]]) {
			r.location = text(bad);
			assert_noop!(
				Submissions::reveal(RuntimeOrigin::signed(1), JOB, r.clone(), [1; 32]),
				Error::<Test>::BadLocation
			);
		}
		r.location = text(b"iroh://0123,relay=relay.example");
		assert_ok!(Submissions::reveal(RuntimeOrigin::signed(1), JOB, r.clone(), [1; 32]));
		assert_eq!(Submissions::reveals(JOB), vec![(1, r)]);
	});
}

/// Frozen: the worker builds these bytes from metadata and primitives types.
#[test]
fn layout_of_the_calls() {
	let call = RuntimeCall::Submissions(crate::Call::commit { job: 1, commitment: GENESIS });
	let mut bytes = vec![21, 0, 1, 0, 0, 0];
	bytes.extend([0xAB; 32]);
	assert_eq!(call.encode(), bytes);

	let reveal = trainyard_protocol::job::Reveal { location: text(b"http://x"), ..reveal(1) };
	let call = RuntimeCall::Submissions(crate::Call::reveal { job: 1, reveal, salt: [5; 32] });
	let mut bytes = vec![21, 1, 1, 0, 0, 0];
	bytes.extend([1; 32]);
	bytes.extend([1; 32]);
	bytes.extend([1 ^ 0x55; 32]);
	bytes.extend([7, 0, 0, 0, 0]);
	bytes.extend(b"\x20http://x");
	bytes.extend([5; 32]);
	assert_eq!(call.encode(), bytes);
}

proptest! {
	/// Whatever is tried in whatever order: the round stays consistent, and the observer is called
	/// exactly when a call brings what was still missing.
	#[test]
	fn any_order_of_acts(acts in proptest::collection::vec((0u8..24, 0u64..4, 0u8..3), 0..80)) {
		new_test_ext().execute_with(|| {
			assert_ok!(Submissions::open(JOB, &[0, 1, 2], SEGMENTS));
			for (act, who, byte) in acts {
				let told = Progressed::get().len();
				let taken = match act {
					0 => {
						Submissions::open_reveals(JOB);
						false
					},
					1 => {
						Submissions::close(JOB);
						false
					},
					2..=12 => commit(who, byte).is_ok(),
					_ => show(who, byte).is_ok(),
				};
				let expected = told + usize::from(taken && Submissions::is_complete(JOB));
				assert_eq!(Progressed::get().len(), expected);
				assert!(Submissions::reveals(JOB).len() <= Submissions::commitments(JOB).len());
				Submissions::do_try_state().unwrap();
			}
		});
	}
}
