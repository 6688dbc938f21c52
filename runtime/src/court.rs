//! Whom the court accuses: a router over the pallets that know what accounts claim.
//!
//! No pallet imports another. What trainers claim is the market's to say. A seat's evidence names the end
//! of a segment by its state and its trace, and no evaluation, so no seat can be accused of it; and seats
//! reject by verdicts, so none has a stake in an accusation.

use crate::{configs::system::RuntimeBlockWeights, AccountId, Balance, Court, Runtime, TaskMarket};
use frame_support::{dispatch::DispatchClass, weights::Weight};
use trainyard_court::{
	game::{End, Target},
	referee::MAX_OPENINGS,
};
use trainyard_protocol::{job::BlockNumber, JobId, H256};
use trainyard_traits::{
	Accused, Charged, Conviction, CourtRoom, Defendant, JobObserver, Stakes, Window,
};

/// Those who can be accused.
pub struct Defendants;

impl Accused<AccountId> for Defendants {
	fn case(defendant: &Defendant<AccountId>) -> Option<Charged> {
		match defendant {
			Defendant::Trainer { job, who } => TaskMarket::charged(*job, who),
			Defendant::Seat { .. } => None,
		}
	}

	fn evidence(_: &Defendant<AccountId>, _: u32) -> Option<End> {
		None
	}

	/// A rescue holds several pieces in one archive, and is no file of one state.
	fn stored(_: &Defendant<AccountId>, _: &H256, _: u32) -> bool {
		false
	}

	fn window(job: JobId) -> Option<Window> {
		TaskMarket::window(job)
	}

	fn challenge_deposit(job: JobId) -> Option<Balance> {
		TaskMarket::challenge_deposit(job)
	}

	fn clock(defendant: &Defendant<AccountId>, target: &Target) -> BlockNumber {
		TaskMarket::clock(defendant.job(), target)
	}

	fn convict(defendant: &Defendant<AccountId>, conviction: &Conviction<AccountId>) {
		match defendant {
			Defendant::Trainer { job, who } => TaskMarket::convict(*job, who, conviction),
			Defendant::Seat { .. } => {}
		}
	}

	fn moved(job: JobId) {
		TaskMarket::progressed(job);
	}

	fn case_weight() -> Weight {
		TaskMarket::charged_weight()
	}

	fn convict_weight() -> Weight {
		TaskMarket::convict_weight()
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_accused(charged: Charged) -> Option<Defendant<AccountId>> {
		use pallet_submissions::{Entry, Phase, Round, Rounds};
		use trainyard_protocol::{job::Reveal, Text};
		let who: AccountId = frame_benchmarking::account("accused", 0, 0);
		let job = TaskMarket::make_accused(&charged, &who);
		let result = charged.result;
		let reveal = Reveal {
			bundle_root: result.bundle_root,
			model_root: result.model_root,
			segments: result.segments,
			diverged: result.diverged,
			location: Text::new("http://127.0.0.1:8600")?,
		};
		let entry =
			Entry { trainer: who.clone(), commitment: Some(H256::zero()), reveal: Some(reveal) };
		let entries = alloc::vec![entry].try_into().ok()?;
		let (least_segments, most_segments) = (result.segments, result.segments);
		let round = Round { phase: Phase::Closed, entries, least_segments, most_segments };
		Rounds::<Runtime>::insert(job, round);
		Some(Defendant::Trainer { job, who })
	}
}

/// What seats have at stake in accusations: nothing.
pub struct NoStakes;

impl Stakes<AccountId> for NoStakes {
	fn forfeit(_: JobId, _: &AccountId, _: &AccountId, _: Balance) -> Balance {
		0
	}

	fn unlock(_: JobId, _: &AccountId) {}
}

/// The room of blocks for the court's calls: that of moves in model-storage, which sees every
/// transaction, and as much weight as the heaviest of them takes.
pub struct MovesRoom;

impl MovesRoom {
	/// Returns whether the block has no weight left for another judgement.
	fn is_out_of_weight() -> bool {
		let judgement = Court::judge_weight(MAX_OPENINGS as u32);
		let used = *frame_system::Pallet::<Runtime>::block_weight().get(DispatchClass::Normal);
		let most = RuntimeBlockWeights::get().get(DispatchClass::Normal).max_total;
		most.is_some_and(|most| used.saturating_add(judgement).any_gt(most))
	}
}

impl CourtRoom for MovesRoom {
	fn is_full() -> bool {
		pallet_model_storage::MovesFull::<Runtime>::get() || Self::is_out_of_weight()
	}

	fn weight() -> Weight {
		<Runtime as frame_system::Config>::DbWeight::get().reads(2)
	}
}
