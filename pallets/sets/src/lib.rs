//! Sets of jobs: posted together, trained by different trainers, compared by proven scores; in population-based
//! training generation after generation.
//!
//! ```text
//! open -> Training -> Showing -> Drawing -> Training -> ... -> Ended
//!             |           |                                      ^
//!             |           +- the last generation, or nothing to go on with
//!             +- nobody has a result
//! ```
//!
//! A member of a generation is an ordinary job of the market, posted for the submitter: its trainers are drawn,
//! they commit and reveal, and audit and court decide. Nothing of that is here, and none of its money.
//!
//! - [`opening`]: what is opened, and stopped.
//! - [`showing`]: what a member scores, opened under the bundle root that the audit of its job accepted.
//! - [`generations`]: the steps of a generation; [`breeding`]: from what the next one goes on.
//! - [`money`]: the deposit for the record; [`agenda`]: the clock; [`views`]: what clients ask.
//!
//! Jobs, models and randomness belong to other pallets behind the traits of `trainyard_traits`.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(any(test, feature = "runtime-benchmarks")),
	deny(
		clippy::unwrap_used,
		clippy::expect_used,
		clippy::indexing_slicing,
		clippy::panic,
		clippy::arithmetic_side_effects
	)
)]

extern crate alloc;

pub mod agenda;
#[cfg(feature = "runtime-benchmarks")]
mod benchmarking;
pub mod breeding;
mod events;
pub mod generations;
#[cfg(test)]
mod mock;
pub mod money;
pub mod opening;
pub mod showing;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "std", feature = "try-runtime"))]
mod try_state;
mod types;
pub mod views;
pub mod weights;

use frame_support::pallet_macros::import_section;

pub use pallet::*;
pub use types::*;
pub use weights::WeightInfo;

#[import_section(events::events)]
#[frame_support::pallet]
// The macros' own code calls `expect`; the work of this pallet is in the other files.
#[allow(clippy::expect_used)]
pub mod pallet {
	use super::*;
	use frame_support::{
		dispatch::PostDispatchInfo, pallet_prelude::*, traits::fungible, weights::Weight,
	};
	use frame_system::pallet_prelude::*;
	use trainyard_pallet_support::agenda::Clock;
	use trainyard_program::spec::JobSpec;
	use trainyard_protocol::{
		accusation::Leaf,
		bundle::Evaluation,
		job::{Balance, BlockNumber, Terms},
		sets::{Best, Generation, Plan, SetEnding, SetId},
		JobId, H256,
	};
	use trainyard_traits::{AwaitedBlobs, Beacon, PostedJobs};

	/// The storage of this pallet's first release.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(1);

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs of its runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<RuntimeEvent: From<Event<Self>>> {
		/// The currency of deposits.
		type Currency: fungible::Mutate<Self::AccountId, Balance = Balance>
			+ fungible::MutateHold<Self::AccountId, Reason = Self::RuntimeHoldReason>;

		/// The runtime's reasons for holds.
		type RuntimeHoldReason: From<HoldReason>;

		/// The market, which trains the members.
		type Jobs: PostedJobs<Self::AccountId>;

		/// Models on chain.
		type Blobs: AwaitedBlobs<Self::AccountId>;

		/// Randomness, by which the worst are replaced.
		type Beacon: Beacon;

		/// Weight of a block's beginning that may go into this pallet's work. At least
		/// [`Pallet::worst_step`], or nothing would ever be served.
		type ServiceWeight: Get<Weight>;

		/// Blocks between two looks at jobs that run.
		#[pallet::constant]
		type PollBlocks: Get<BlockNumber>;

		/// Least blocks for showing scores.
		#[pallet::constant]
		type MinShowBlocks: Get<BlockNumber>;

		/// Most blocks for showing scores.
		#[pallet::constant]
		type MaxShowBlocks: Get<BlockNumber>;

		/// Blocks for which the record of a set is kept that has ended.
		#[pallet::constant]
		type RetentionBlocks: Get<BlockNumber>;

		/// Deposit for the record of a set, besides that for its bytes.
		#[pallet::constant]
		type RecordBase: Get<Balance>;

		/// Deposit for each byte of a record.
		#[pallet::constant]
		type RecordByte: Get<Balance>;

		/// Weights of the calls and of the steps of the hook.
		type WeightInfo: WeightInfo;
	}

	/// Why this pallet holds funds.
	#[pallet::composite_enum]
	pub enum HoldReason {
		/// The deposit for the record of a set.
		Record,
	}

	/// Number of the next set.
	#[pallet::storage]
	pub type NextSet<T> = StorageValue<_, SetId, ValueQuery>;

	/// Every set, until it ended and was forgotten.
	#[pallet::storage]
	pub type Sets<T: Config> = StorageMap<_, Twox64Concat, SetId, Set<T::AccountId>>;

	/// What each member trains in the running generation, but for the model with which it begins.
	#[pallet::storage]
	pub type MemberSpecs<T> = StorageDoubleMap<_, Twox64Concat, SetId, Twox64Concat, u32, JobSpec>;

	/// What came of the generations that are over.
	#[pallet::storage]
	pub type Generations<T> =
		StorageDoubleMap<_, Twox64Concat, SetId, Twox64Concat, u32, Generation>;

	/// Height at which each set is looked at next; of one that ended, at which it is forgotten.
	#[pallet::storage]
	pub type Due<T> = StorageMap<_, Twox64Concat, SetId, BlockNumber>;

	/// The same by height.
	#[pallet::storage]
	pub type Agenda<T> = StorageDoubleMap<_, Twox64Concat, BlockNumber, Twox64Concat, SetId, ()>;

	/// Least height whose agenda may not be empty.
	#[pallet::storage]
	pub type Cursor<T> = StorageValue<_, BlockNumber>;

	#[pallet::error]
	pub enum Error<T> {
		/// There is no set with this number, or it was forgotten.
		NoSuchSet,
		/// There are no numbers left for sets.
		TooManySets,
		/// A set has 2 to 32 members.
		BadMembers,
		/// There are 1 to 64 generations.
		BadGenerations,
		/// At most half of the members are replaced in a generation.
		BadReplaced,
		/// Where members are replaced there is a factor at least, and each is 1 to 10,000 thousandths.
		BadFactors,
		/// The blocks for showing scores are `MinShowBlocks` to `MaxShowBlocks`.
		BadShowBlocks,
		/// A specification breaks a rule; the error inside says which.
		InvalidSpec(SpecFault),
		/// The members have different data: what they score on these cannot be compared.
		OtherData,
		/// The members have different losses: use the measure accuracy.
		OtherLoss,
		/// The members have different models, and in further generations they go on from those of others.
		OtherModels,
		/// The deposit exceeds the range of amounts.
		AmountOverflow,
		/// Only the submitter may do this, and say the parameters of a model.
		NotSubmitter,
		/// The set has ended.
		HasEnded,
		/// The submitter has said that already.
		IsStopping,
		/// Scores of this generation are not shown any more.
		NotShowing,
		/// There is no member with this number.
		NoSuchMember,
		/// The job of the member has no accepted result, or its training diverged.
		NoResult,
		/// The score was shown already.
		AlreadyShown,
		/// This is not the last checkpoint under the bundle root of the member's result.
		BadLeaf,
		/// The set is not waiting for anything that is overdue.
		NotOverdue,
	}

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		fn on_initialize(_: BlockNumberFor<T>) -> Weight {
			Self::serve(Self::now(), T::ServiceWeight::get())
		}

		fn integrity_test() {
			let (needed, limit) = (Self::worst_step(), T::ServiceWeight::get());
			assert!(
				needed.all_lte(limit),
				"ServiceWeight ({limit}) must allow for the largest step ({needed})"
			);
			assert!(T::PollBlocks::get() > 0, "PollBlocks: at least one");
			assert!(T::MinShowBlocks::get() > 0, "MinShowBlocks: at least one");
			assert!(T::MaxShowBlocks::get() >= T::MinShowBlocks::get(), "MaxShowBlocks: not less");
			assert!(T::RetentionBlocks::get() > 0, "RetentionBlocks: at least one");
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Opens a set, and posts the jobs of all its members for the caller, or none. The money of a job is held
		/// when it is posted, as of any job: that of further generations when these come. A deposit for the record
		/// is held until it is forgotten.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::open(specs.len() as u32)
			.saturating_add(T::Jobs::post_weight().saturating_mul(specs.len() as u64)))]
		pub fn open(
			origin: OriginFor<T>,
			specs: Specs,
			terms: Terms,
			plan: Plan,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_open(who, specs, terms, plan)
		}

		/// Shows what a member scores: the last leaf under the bundle root that the audit of its job accepted; anyone
		/// may. The submitter says the state hash of the parameters of the model as well, which the next generation
		/// needs, also where somebody else has shown the score. It is not proven: by a false one trainers refuse the
		/// member's next job, which is the submitter's own.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::show().saturating_add(T::Jobs::standing_weight()))]
		pub fn show(
			origin: OriginFor<T>,
			set: SetId,
			member: u32,
			leaf: Leaf,
			parameters: Option<H256>,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_show(who, set, member, &leaf, parameters)
		}

		/// Ends the caller's set after the running generation. Jobs that run go on, and are paid; no other is posted.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::stop())]
		pub fn stop(origin: OriginFor<T>, set: SetId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_stop(who, set)
		}

		/// Serves a set that blocks had no room for. Anyone may call this; it costs nothing where it was overdue.
		#[pallet::call_index(3)]
		#[pallet::weight(Pallet::<T>::worst_advance())]
		pub fn poke(origin: OriginFor<T>, set: SetId) -> DispatchResultWithPostInfo {
			ensure_signed(origin)?;
			let weight = Self::do_poke(set)?;
			Ok(PostDispatchInfo { actual_weight: Some(weight), pays_fee: Pays::No })
		}
	}
}
