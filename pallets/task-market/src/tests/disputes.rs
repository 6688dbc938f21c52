//! How results can be challenged, and what convictions do to a job.

use crate::{mock::*, Event, Guilty, Hearings, Specs};
use trainyard_court::game::Target;
use trainyard_program::work::Parts;
use trainyard_protocol::{
	audit::Decision,
	fees::{self, LostShares},
	job::{Balance, Ending, Fate, JobState, Settlement},
	JobId,
};
use trainyard_traits::Conviction;

/// Who accuses.
const FINDER: AccountId = OTHER;
/// What challengers lost to each trainer.
const WON: Balance = 77;

/// A job in its audit, which began at this height, where machines may be away for so many blocks.
fn heard(patience: u32, results: &[(AccountId, u8)]) -> (JobId, u32) {
	Patience::set(patience);
	let id = auditing(results);
	Patience::set(0);
	(id, job(id).since)
}

fn convict(id: JobId, who: AccountId, proven: bool) {
	let conviction = Conviction { dispute: 3, finder: FINDER, second: None, proven };
	TaskMarket::convict(id, &who, &conviction);
}

fn fates(id: JobId) -> Vec<Fate> {
	job(id).replicas.iter().map(|replica| replica.fate).collect()
}

#[test]
fn a_window_is_as_long_as_machines_may_be_away_and_a_replay_takes() {
	run(|| {
		let (id, _) = heard(40, &[(11, 1)]);
		let spec = noisy();
		let parts = Parts::of(&spec);
		// 2 x 10^9 FLOP/s for 6 s.
		let blocks = |flop: u128| flop.div_ceil(12_000_000_000) as u32;
		let again = blocks(parts.longest_flop(&spec).unwrap()) + 10;
		let hearing = Hearings::<Test>::get(id).unwrap();
		assert_eq!((hearing.length, hearing.again), (40, again));
		let clock = |target| TaskMarket::clock(id, &target).ticks;
		let defence = blocks(parts.defence_flop(&spec).unwrap());
		let evaluations = blocks(4 * parts.evaluation);
		assert_eq!(clock(Target::Segment(3)), 2 * defence.max(evaluations) + 40);
		assert_eq!((clock(Target::Start), clock(Target::Model)), (2 * evaluations + 40, 42));
		// A clock grows for other defences of an account, by 42 times the patience at most.
		let of_segment = TaskMarket::clock(id, &Target::Segment(3));
		assert_eq!((of_segment.work, of_segment.room), (defence.max(evaluations), 42 * 40));
		let deposit = fees::challenge_deposit(&spec, &parts, 1_000_000);
		assert_eq!(TaskMarket::challenge_deposit(id), deposit);
		let request = AuditBook::get()[&id].request.clone();
		assert_eq!((request.window, request.again, request.rate), (40, again, 2_000_000_000));
		assert_eq!((Some(request.challenge), request.storage), (deposit, job(id).quote.storage));

		let charged = TaskMarket::charged(id, &11).unwrap();
		assert_eq!(charged.result, reveal_by(11, 1).result());
		assert_eq!((&*charged.case.spec, Some(charged.case.seed)), (&*spec, job(id).seed));
		assert_eq!(charged.results, TaskMarket::results(&noisy()).unwrap());
		assert!((30..100).contains(&charged.results));
		for stranger in [12, SUBMITTER, VERIFIERS[0]] {
			assert!(TaskMarket::charged(id, &stranger).is_none());
		}
		let of_seat = TaskMarket::charged_seat(id, reveal_of(7).result()).unwrap();
		assert_eq!((of_seat.result, of_seat.case), (reveal_of(7).result(), charged.case));
		decide(id, &[Decision::Accepted], &VERIFIERS);
		run_to_end(id);
		assert!(TaskMarket::charged(id, &11).is_none(), "it is over");
		assert!(TaskMarket::charged_seat(id, reveal_by(11, 1).result()).is_none());
		assert_eq!(TaskMarket::challenge_deposit(id), None);
		assert_eq!(TaskMarket::clock(id, &Target::Start), Default::default());
	});
}

#[test]
fn without_patience_there_is_time_for_a_replay() {
	run(|| {
		let (id, _) = heard(0, &[(11, 1)]);
		let hearing = Hearings::<Test>::get(id).unwrap();
		assert_eq!((hearing.length, hearing.again), (1, 1), "a block for the least job");
		let request = AuditBook::get()[&id].request.clone();
		assert_eq!((request.window, request.again), (1, 1));
	});
}

#[test]
fn who_was_not_convicted_is_told_so() {
	run(|| {
		Won::set(WON);
		let (id, _) = heard(60, &[(11, 1)]);
		decide(id, &[Decision::Accepted], &VERIFIERS);
		run_to(TaskMarket::now() + 1);
		assert_eq!(job(id).state, JobState::Ended(Ending::Settled));
		assert_eq!(Acquittals::get(), [(11, true)]);
		assert_eq!(AcquittedSeats::get(), [id]);
		assert_eq!(job(id).settlement.won, WON);
		assert_eq!(Hearings::<Test>::iter().count(), 0);
		convict(id, 11, true);
		assert_eq!(Guilty::<Test>::iter().count(), 0, "it is over");
	});
}

/// With the deposit, the fees that were earned, and how the deposit of a challenge compares.
fn convicted(proven: bool) -> (Settlement, Balance, Balance) {
	let (id, _) = heard(30, &[(11, 1)]);
	let challenge = TaskMarket::challenge_deposit(id).unwrap();
	convict(id, 11, proven);
	decide(id, &[Decision::Accepted], &VERIFIERS);
	run_to(TaskMarket::now() + 1);
	assert_eq!(fates(id), [Fate::Rejected], "whatever the committee says");
	assert_eq!(job(id).state, JobState::Ended(Ending::Failed));
	assert_eq!(Acquittals::get(), [(11, false)]);
	assert_eq!(AcquittedSeats::get(), [id], "it loses what others won");
	assert_eq!(Guilty::<Test>::iter().count(), 0);
	assert_eq!(Credited::get(), vec![]);
	(job(id).settlement, job(id).quote.deposit, challenge)
}

#[test]
fn a_convict_pays_submitter_finder_and_jackpot_and_half_is_burned() {
	for proven in [true, false] {
		run(|| {
			let before = crate::TotalBurned::<Test>::get();
			let (s, deposit, challenge) = convicted(proven);
			let paid = 3 * 10_000;
			assert_eq!((s.paid_to_verifiers, s.slashed, s.won), (paid, deposit, 0));
			let shares = LostShares::of(deposit, paid, proven, challenge);
			let rest = deposit - paid;
			assert_eq!((s.slashed_to_submitter, s.slashed_burned), (paid, rest / 2));
			assert_eq!(s.slashed_to_finders, shares.finder);
			assert_eq!(FoundPrizes::get(), shares.finder);
			assert_eq!(s.slashed_to_jackpot, rest - rest / 2 - shares.finder);
			assert_eq!(free(FINDER), ENDOWMENT + shares.finder);
			assert_eq!(free(JACKPOT), shares.jackpot);
			assert_eq!((free(SUBMITTER), free(11)), (ENDOWMENT, ENDOWMENT - deposit));
			assert_eq!(crate::TotalBurned::<Test>::get() - before, rest / 2);
		});
	}
}

#[test]
fn convictions_are_of_accounts() {
	run(|| {
		Won::set(WON);
		let (id, _) = heard(30, &[(11, 1), (12, 1), (13, 2)]);
		convict(id, 12, true);
		convict(id, 15, true);
		assert_eq!(Guilty::<Test>::iter().count(), 1, "a stranger claims nothing");
		convict(id, 13, false);
		decide(id, &[Decision::Accepted, Decision::Rejected], &VERIFIERS);
		run_to(TaskMarket::now() + 1);
		assert_eq!(fates(id), [Fate::Accepted, Fate::Rejected, Fate::Rejected]);
		let (s, deposit) = (job(id).settlement, job(id).quote.deposit);
		assert_eq!((s.slashed, s.slashed_to_submitter), (2 * deposit, 0), "one is good");
		assert_eq!(s.slashed_burned, 2 * (deposit / 2));
		assert_eq!((s.won, free(12), free(13)), (WON, ENDOWMENT - deposit, ENDOWMENT - deposit));
		let mut said = Acquittals::get();
		said.sort();
		assert_eq!(said, [(11, true), (12, false), (13, false)]);
	});
}

#[test]
fn what_was_said_is_forgotten_with_the_job() {
	run(|| {
		let (id, _) = heard(30, &[(11, 1)]);
		decide(id, &[Decision::Accepted], &VERIFIERS);
		run_to(TaskMarket::now() + 1);
		let ended = TaskMarket::now();
		assert!(ForgottenDisputes::get().is_empty());
		run_to(ended + 25);
		assert!(!Specs::<Test>::contains_key(id));
		assert_eq!(ForgottenDisputes::get(), [id]);
		assert!(events().contains(&Event::Forgotten { job: id }));
	});
}
