//! Late proof: for a while after the settlement accepted results can be challenged.

use crate::{mock::*, Error, Event, Hearings, HoldReason, Lates};
use frame_support::assert_noop;
use proptest::prelude::*;
use trainyard_court::game::Target;
use trainyard_protocol::{
	audit::Decision,
	fees::LostShares,
	job::{Balance, Ending, Fate, JobState},
	JobId,
};
use trainyard_traits::{Conviction, Window};

/// Who accuses.
const FINDER: AccountId = OTHER;
/// Blocks for late proof, in these tests: fewer than an ended job is kept.
const WEEK: u32 = 12;

/// A job settled in the present block whose trainers delivered this result, accepted.
fn settled(trainers: &[AccountId]) -> JobId {
	settled_by(trainers, Decision::Accepted)
}

/// The same of a result that was decided like this.
fn settled_by(trainers: &[AccountId], decision: Decision) -> JobId {
	LateBlocks::set(WEEK);
	let results: Vec<_> = trainers.iter().map(|trainer| (*trainer, 1)).collect();
	let id = auditing(&results);
	decide(id, &[decision], &VERIFIERS);
	run_to_end(id);
	id
}

fn convict(id: JobId, who: AccountId, proven: bool) {
	let conviction = Conviction { dispute: 3, finder: FINDER, second: None, proven };
	TaskMarket::convict(id, &who, &conviction);
}

fn locked(who: AccountId) -> Balance {
	held(HoldReason::Deposit, who)
}

#[test]
fn a_fifth_stays_locked_for_a_week() {
	run(|| {
		let id = settled(&[11]);
		let (deposit, from) = (job(id).quote.deposit, TaskMarket::now());
		assert_eq!(job(id).state, JobState::Ended(Ending::Settled));
		assert_eq!((locked(11), deposit / 5 * 5), (deposit / 5, deposit), "it divides");
		let (_, at) = Lates::<Test>::get(id).unwrap().trainers[0].credited.unwrap();
		assert_eq!(at, u64::from(from));
		assert_eq!(TaskMarket::late_window(id), Some(Window::once(from, from + WEEK)));
		let opened = Event::LateProofOpened { job: id, until: from + WEEK };
		assert!(events().contains(&opened));
		let view = TaskMarket::job_view(id).unwrap().late.unwrap();
		assert_eq!((view.until, view.open), (from + WEEK, true));
		assert_eq!((view.trainers[0].trainer, view.trainers[0].locked), (11, deposit / 5));
		assert!(TaskMarket::active_jobs(None, 9).is_empty(), "it has ended");

		// What a dispute needs is there.
		assert_eq!(TaskMarket::charged(id, &11).unwrap().result, reveal_by(11, 1).result());
		assert!(TaskMarket::charged(id, &12).is_none(), "a stranger");
		assert!(
			TaskMarket::charged_seat(id, reveal_by(11, 1).result()).is_none(),
			"seats are free"
		);
		assert!(TaskMarket::challenge_deposit(id).is_some());
		assert!(TaskMarket::clock(id, &Target::Segment(0)).ticks > 0);

		run_to(from + WEEK);
		assert_eq!(locked(11), deposit / 5);
		assert!(TaskMarket::job_view(id).unwrap().late.unwrap().open);
		run_to(from + WEEK + 1);
		assert_eq!(locked(11), 0);
		assert!(events().contains(&Event::LateProofOver { job: id }));
		assert!(TaskMarket::charged(id, &11).is_none());
		assert_eq!(TaskMarket::challenge_deposit(id), None);
		assert_eq!(TaskMarket::late_window(id), None);
		assert_eq!(TaskMarket::job_view(id).unwrap().late, None);
		assert_eq!(Hearings::<Test>::iter().count(), 0);
		assert_eq!(ForgottenDisputes::get(), [id], "what was said is of no use any more");
		assert_eq!(Acquittals::get(), [(11, true), (11, true)]);
		convict(id, 11, true);
		assert_eq!(job(id).replicas[0].fate, Fate::Accepted, "it is over");
		run_to(from + 25);
		assert!(TaskMarket::job_view(id).is_none(), "and is forgotten in its time");
	});
}

#[test]
fn a_convict_loses_its_fifth_and_its_power_and_keeps_its_pay() {
	for proven in [true, false] {
		run(|| {
			let id = settled(&[11]);
			let (deposit, from) = (job(id).quote.deposit, TaskMarket::now());
			let before = job(id).settlement;
			let (submitter, trainer) = (free(SUBMITTER), free(11));
			let burned = crate::TotalBurned::<Test>::get();
			let challenge = TaskMarket::challenge_deposit(id).unwrap();
			run_to(from + 3);
			convict(id, 11, proven);
			let shares = LostShares::of(deposit / 5, 0, proven, challenge);
			assert_eq!((shares.submitter, shares.burned), (0, deposit / 10));
			assert_eq!(free(FINDER), ENDOWMENT + shares.finder);
			assert_eq!(free(JACKPOT), shares.jackpot);
			assert_eq!((free(SUBMITTER), free(11), locked(11)), (submitter, trainer, 0));
			assert_eq!(crate::TotalBurned::<Test>::get() - burned, deposit / 10);
			let after = job(id).settlement;
			assert_eq!(after.paid_to_trainers, before.paid_to_trainers);
			assert_eq!((after.slashed, after.slashed_burned), (deposit / 5, deposit / 10));
			assert_eq!(after.slashed_to_finders, shares.finder);
			assert_eq!(FoundPrizes::get(), shares.finder);
			assert_eq!((after.slashed_to_jackpot, after.slashed_to_submitter), (shares.jackpot, 0));
			assert_eq!(job(id).replicas[0].fate, Fate::Revoked);
			assert_eq!(job(id).state, JobState::Ended(Ending::Settled));
			let [(_, work)] = Credited::get()[..] else { panic!("it was credited once") };
			assert_eq!(Revoked::get(), [(11, work, u64::from(from))]);
			let (lost, found) = (deposit / 5, shares.finder);
			let (trainer, finder) = (11, FINDER);
			let (job, second) = (id, None);
			let event = Event::LateConviction { job, trainer, finder, second, proven, lost, found };
			assert!(events().contains(&event));

			// Once.
			convict(id, 11, proven);
			assert_eq!((free(JACKPOT), Revoked::get().len()), (shares.jackpot, 1));
			// Nobody is left who can be accused.
			assert_eq!(TaskMarket::late_window(id), None);
			assert!(TaskMarket::charged(id, &11).is_none());
			run_to(from + 4 + WEEK);
			assert_eq!(Lates::<Test>::iter().count(), 0);
		});
	}
}

#[test]
fn others_of_a_job_stay_what_they_are() {
	run(|| {
		let id = settled(&[11, 12]);
		let (deposit, from) = (job(id).quote.deposit, TaskMarket::now());
		convict(id, 12, true);
		convict(id, 15, true);
		let fates: Vec<Fate> = job(id).replicas.iter().map(|replica| replica.fate).collect();
		let of = |who| job(id).replicas.iter().position(|r| r.trainer == who).unwrap();
		assert_eq!((fates[of(11)], fates[of(12)]), (Fate::Accepted, Fate::Revoked));
		assert_eq!((locked(11), locked(12), Revoked::get().len()), (deposit / 5, 0, 1));
		assert!(TaskMarket::charged(id, &11).is_some() && TaskMarket::charged(id, &12).is_none());
		run_to(from + WEEK + 1);
		assert_eq!(locked(11), 0);
	});
}

#[test]
fn only_what_was_accepted_is_locked() {
	for (decision, is_late) in [
		(Decision::Accepted, true),
		(Decision::Idle, true),
		(Decision::Rejected, false),
		(Decision::Unavailable, false),
		(Decision::Undecided, false),
	] {
		run(|| {
			let id = settled_by(&[11], decision);
			assert_eq!(Lates::<Test>::contains_key(id), is_late, "{decision:?}");
			assert_eq!(Hearings::<Test>::contains_key(id), is_late);
			let deposit = if is_late { job(id).quote.deposit / 5 } else { 0 };
			assert_eq!(locked(11), deposit);
			let has_power = decision == Decision::Accepted;
			let credited = Lates::<Test>::get(id).and_then(|late| late.trainers[0].credited);
			assert_eq!(credited.is_some(), has_power);
			convict(id, 11, true);
			assert_eq!(Revoked::get().len(), usize::from(has_power), "nothing else to take");
		});
	}
}

#[test]
fn what_runs_when_the_week_ends_is_carried_to_its_end() {
	run(|| {
		Won::set(77);
		let id = settled(&[11]);
		let (deposit, from) = (job(id).quote.deposit, TaskMarket::now());
		Disputes::set(1);
		// Longer than an ended job is kept.
		run_to(from + 40);
		assert_eq!(locked(11), deposit / 5);
		assert!(!TaskMarket::job_view(id).unwrap().late.unwrap().open, "nothing new is taken");
		assert!(TaskMarket::charged(id, &11).is_some(), "what runs goes on");
		let forget = TaskMarket::forget(RuntimeOrigin::signed(SUBMITTER), id);
		assert_noop!(forget, Error::<Test>::StillAccusable);
		Disputes::set(0);
		use trainyard_traits::JobObserver;
		TaskMarket::progressed(id);
		run_to(from + 41);
		assert_eq!(locked(11), 0);
		assert_eq!(job(id).settlement.won, 2 * 77, "what challengers lost since is the trainer's");
		run_to(from + 42);
		assert!(TaskMarket::job_view(id).is_none(), "it is forgotten at once");
	});
}

#[test]
fn a_chain_without_late_proof_locks_nothing() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		decide(id, &[Decision::Accepted], &VERIFIERS);
		run_to_end(id);
		assert_eq!((locked(11), Lates::<Test>::iter().count()), (0, 0));
	});
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(64))]

	/// Whoever is convicted when, and whatever runs: money is where it should be in every block, and
	/// nothing stays.
	#[test]
	fn random_convictions(
		trainers in 1usize..5,
		steps in prop::collection::vec((0u32..9, 0usize..5, any::<bool>(), 0u32..3), 0..8),
	) {
		run(|| {
			let id = settled(&TRAINERS[..trainers]);
			let paid = job(id).settlement.paid_to_trainers;
			for (blocks, who, proven, disputes) in steps {
				Disputes::set(disputes);
				run_to(TaskMarket::now() + blocks);
				if TaskMarket::job_view(id).is_some() {
					convict(id, TRAINERS[who], proven);
					prop_assert_eq!(job(id).settlement.paid_to_trainers, paid);
				}
				TaskMarket::do_try_state().unwrap();
			}
			Disputes::set(0);
			run_to(TaskMarket::now() + WEEK + 30);
			for who in TRAINERS {
				prop_assert_eq!(locked(who), 0);
			}
			prop_assert_eq!(Lates::<Test>::iter().count(), 0);
			prop_assert_eq!(Hearings::<Test>::iter().count(), 0);
			prop_assert!(TaskMarket::job_view(id).is_none());
			Ok(())
		})?;
	}
}
