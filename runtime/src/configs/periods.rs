//! How long the chain waits for whom, as parameters that root may set: what is right
//! depends on block times, models and connections, and nobody knows it before a network
//! runs. A period that is under way ends when it was announced to.

use super::{
	drilling::LeastCheckShare,
	market::{MinPeriod, DAYS},
	session::UnbondingBlocks,
};
use crate::{Runtime, RuntimeEvent};
use core::marker::PhantomData;
use frame_support::{
	dynamic_params::{dynamic_pallet_params, dynamic_params},
	traits::{AsEnsureOriginWithArg, Get},
};
use frame_system::EnsureRoot;
use pallet_federation::FirstWindow;
use pallet_task_market::{FirstLateBlocks, FirstPatience};
use sp_runtime::Permill;
use trainyard_protocol::{
	blob::{self, RESCUE_BLOCKS},
	job::BlockNumber,
};

/// The parameters. An index is part of the encoding: it never changes and is never used
/// again for another.
#[dynamic_params(RuntimeParameters, pallet_parameters::Parameters::<Runtime>)]
#[allow(missing_docs)]
pub mod parameters {
	use super::*;

	/// Periods in blocks.
	#[dynamic_pallet_params]
	#[codec(index = 0)]
	pub mod periods {
		/// Revealing a result and storing its model. The largest model there can be (1 GiB,
		/// three chunks a block) takes 342 blocks.
		#[codec(index = 0)]
		pub static Reveal: BlockNumber = 600;
		/// Checking the work and committing to a verdict. A committee member who vanishes delays an
		/// audit by this time: 12 minutes at 6 s.
		#[codec(index = 1)]
		pub static VerdictCommit: BlockNumber = 120;
		/// Revealing the verdict.
		#[codec(index = 2)]
		pub static VerdictReveal: BlockNumber = 30;
		/// Storing on chain what a seat asked for and nobody gave it, besides the blocks that its bytes
		/// take: an hour at 6 s.
		#[codec(index = 3)]
		pub static Rescue: BlockNumber = RESCUE_BLOCKS;
		/// Voting on a drilling project: half a day at 6 s.
		#[codec(index = 4)]
		pub static Review: BlockNumber = 7_200;
		/// An audit's waiting for verifiers in all, from its beginning: two weeks at 6 s. It holds
		/// for the audits under way as well.
		#[codec(index = 5)]
		pub static Audit: BlockNumber = 14 * DAYS;
		/// Most bytes that trainers are asked to store in the period `Rescue`: half of what 300 blocks
		/// carry, 450 MiB, and never more. Of states that are larger a relay committee decides.
		#[codec(index = 6)]
		pub static LargestRescue: u64 = blob::room().rescue;
	}

	/// Disputes.
	#[dynamic_pallet_params]
	#[codec(index = 2)]
	pub mod court {
		/// For how many blocks an honest machine may be away while something is disputed: the least time
		/// for challenges, and for the moves of each side. Four hours, 2,400 blocks at 6 s, unless the
		/// genesis of the chain says otherwise.
		#[codec(index = 0)]
		pub static Patience: BlockNumber = FirstPatience::<Runtime>::get();
		/// For how many blocks accepted results can be challenged after the settlement, while a fifth of
		/// the deposits stays locked. A week, 100,800 blocks at 6 s, unless the genesis of the chain says
		/// otherwise. It holds for jobs that are settled from then on.
		#[codec(index = 1)]
		pub static LateProof: BlockNumber = FirstLateBlocks::<Runtime>::get();
	}

	/// Federated rounds.
	#[dynamic_pallet_params]
	#[codec(index = 3)]
	pub mod federation {
		/// For how many blocks a proposal of an aggregate can be refuted. 150 blocks, a quarter of an hour at
		/// 6 s, unless the genesis of the chain says otherwise.
		#[codec(index = 0)]
		pub static Window: BlockNumber = FirstWindow::<Runtime>::get();
	}

	/// How closely drilling is watched.
	#[dynamic_pallet_params]
	#[codec(index = 1)]
	pub mod drilling {
		/// Share of agreed units that are recomputed, at least [`LeastCheckShare`].
		#[codec(index = 0)]
		pub static CheckShare: Permill = LeastCheckShare::get();
	}
}

/// A period that no setting can make useless: at least [`MinPeriod`], at most a week.
pub struct Within<Parameter>(PhantomData<Parameter>);

impl<Parameter: Get<BlockNumber>> Get<BlockNumber> for Within<Parameter> {
	fn get() -> BlockNumber {
		Parameter::get().clamp(MinPeriod::get(), 7 * DAYS)
	}
}

/// Revealing a result and storing its model.
pub type RevealBlocks = Within<parameters::periods::Reveal>;
/// Committing to a verdict.
pub type VerdictCommitBlocks = Within<parameters::periods::VerdictCommit>;
/// Revealing a verdict.
pub type VerdictRevealBlocks = Within<parameters::periods::VerdictReveal>;
/// Storing on chain what could not be fetched.
pub type RescueBlocks = Within<parameters::periods::Rescue>;

/// Most bytes of a rescue: no more than blocks carry in the time for it.
pub struct MaxRescue;

impl Get<u64> for MaxRescue {
	fn get() -> u64 {
		parameters::periods::LargestRescue::get().min(blob::room().rescue)
	}
}

/// An audit's waiting for verifiers: at least an hour, in which a committee is drawn and redrawn,
/// at most a quarter of a year, for which deposits and escrow may be locked.
pub struct AuditDeadline;

impl Get<BlockNumber> for AuditDeadline {
	fn get() -> BlockNumber {
		parameters::periods::Audit::get().clamp(DAYS / 24, 90 * DAYS)
	}
}

/// In which seats and trainers can give a seat what it asked for: a quarter of the time for a
/// verdict, 3 minutes at 6 s.
pub struct RelayBlocks;

impl Get<BlockNumber> for RelayBlocks {
	fn get() -> BlockNumber {
		VerdictCommitBlocks::get().saturating_div(4).max(MinPeriod::get())
	}
}

/// Voting on a drilling project. Shorter than trainers unbond, or a bond could vote, leave, and
/// vote again under another name.
pub struct ReviewBlocks;

impl Get<BlockNumber> for ReviewBlocks {
	fn get() -> BlockNumber {
		let longest = UnbondingBlocks::get().saturating_div(2);
		Within::<parameters::periods::Review>::get().min(longest)
	}
}

/// How long machines may be away while something is disputed: at least [`MinPeriod`], at most a week.
pub struct Patience;

impl Get<BlockNumber> for Patience {
	fn get() -> BlockNumber {
		parameters::court::Patience::get().clamp(MinPeriod::get(), 7 * DAYS)
	}
}

/// In which trainers open what they forced to be false. Who does not loses its deposit as if it had revealed
/// nothing, so it has as long as for that, and as machines may be away; nobody waits longer than for the last
/// one that opens.
pub struct OpeningBlocks;

impl Get<BlockNumber> for OpeningBlocks {
	fn get() -> BlockNumber {
		Patience::get().max(RevealBlocks::get())
	}
}

/// Of each period of a relay: a quarter of the time for which machines may be away, an hour of four.
pub struct RelayHour;

impl Get<BlockNumber> for RelayHour {
	fn get() -> BlockNumber {
		Patience::get().saturating_div(4).max(MinPeriod::get())
	}
}

/// Late proof: at least [`MinPeriod`], at most a week, which is shorter than ended jobs are kept.
pub type LateBlocks = Within<parameters::court::LateProof>;

/// For how long a proposal of an aggregate can be refuted.
pub type AggregateWindow = Within<parameters::federation::Window>;

/// Share of agreed units of drilling that are recomputed. What a forger loses is set by the least
/// there can be, so that no setting can make forging pay.
pub struct CheckShare;

impl Get<Permill> for CheckShare {
	fn get() -> Permill {
		parameters::drilling::CheckShare::get().max(LeastCheckShare::get())
	}
}

impl pallet_parameters::Config for Runtime {
	type RuntimeEvent = RuntimeEvent;
	type RuntimeParameters = RuntimeParameters;
	type AdminOrigin = AsEnsureOriginWithArg<EnsureRoot<crate::AccountId>>;
	// The pallet's own weights.
	type WeightInfo = ();
}

/// What the SDK's benchmark of setting a parameter sets.
#[cfg(feature = "runtime-benchmarks")]
impl Default for RuntimeParameters {
	fn default() -> Self {
		RuntimeParameters::Periods(parameters::periods::Parameters::Reveal(
			parameters::periods::Reveal,
			Some(600),
		))
	}
}
