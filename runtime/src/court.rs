//! Whom the court accuses: a router over the pallets that know what accounts claim.
//!
//! No pallet imports another. What trainers claim, what a job trains, and for how long that can be
//! disputed after the settlement, is the market's to say; what seats revealed, and for how long results
//! stand before, is verification's.

use crate::{
	configs::system::RuntimeBlockWeights, AccountId, Balance, Bets, Court, Runtime, TaskMarket,
	Verification,
};
use frame_support::{dispatch::DispatchClass, weights::Weight};
use trainyard_court::{
	game::{End, Target},
	referee::MAX_OPENINGS,
};
use trainyard_protocol::{forced::Forced, JobId, H256};
use trainyard_traits::{
	Accused, Audited, Charged, ClockTerms, Conviction, ConvictionObserver, CourtRoom, Defendant,
	JobObserver, Window,
};

/// Those who can be accused.
pub struct Defendants;

impl Accused<AccountId> for Defendants {
	fn case(defendant: &Defendant<AccountId>) -> Option<Charged> {
		match defendant {
			Defendant::Trainer { job, who } => TaskMarket::charged(*job, who),
			Defendant::Seat { job, who, bundle_root } => {
				let result = <Verification as Audited<_>>::replayed(*job, who, bundle_root)?;
				TaskMarket::charged_seat(*job, result)
			}
		}
	}

	fn evidence(defendant: &Defendant<AccountId>, segment: u32) -> Option<End> {
		match defendant {
			Defendant::Trainer { .. } => None,
			Defendant::Seat { job, who, bundle_root } => {
				<Verification as Audited<_>>::evidence(*job, who, bundle_root, segment)
			}
		}
	}

	fn stored(defendant: &Defendant<AccountId>, blob: &H256, state: u32) -> bool {
		match defendant {
			Defendant::Trainer { job, who } => {
				<Verification as Audited<_>>::stored(*job, who, blob, state)
			}
			Defendant::Seat { .. } => false,
		}
	}

	fn forced(defendant: &Defendant<AccountId>, index: u32) -> Option<Forced> {
		match defendant {
			Defendant::Trainer { job, who } => {
				<Verification as Audited<_>>::forced(*job, who, index)
			}
			Defendant::Seat { .. } => None,
		}
	}

	fn window(job: JobId) -> Option<Window> {
		<Verification as Audited<AccountId>>::window(job).or_else(|| TaskMarket::late_window(job))
	}

	fn challenge_deposit(job: JobId) -> Option<Balance> {
		TaskMarket::challenge_deposit(job)
	}

	fn clock(defendant: &Defendant<AccountId>, target: &Target) -> ClockTerms {
		TaskMarket::clock(defendant.job(), target)
	}

	fn convict(defendant: &Defendant<AccountId>, conviction: &Conviction<AccountId>) {
		if let Defendant::Trainer { job, who } = defendant {
			TaskMarket::convict(*job, who, conviction);
			Bets::convicted(*job, who, conviction.proven);
		}
		<Verification as Audited<_>>::convict(defendant, conviction);
	}

	fn moved(job: JobId) {
		TaskMarket::progressed(job);
	}

	fn case_weight() -> Weight {
		// What a seat revealed, and the audit, are read before, or the forced leaves of a trainer.
		TaskMarket::charged_weight()
			.saturating_add(<Runtime as frame_system::Config>::DbWeight::get().reads(3))
	}

	fn convict_weight() -> Weight {
		TaskMarket::convict_weight()
			.saturating_add(<Verification as Audited<AccountId>>::convict_weight())
			.saturating_add(Bets::convicted_weight())
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
			true_root: result.true_root,
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
		Verification::make_standing(job, result, who.clone())?;
		Some(Defendant::Trainer { job, who })
	}
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
