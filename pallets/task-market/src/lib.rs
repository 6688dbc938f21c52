//! The market of training jobs: listings, jobs, escrow and the life of a job.
//!
//! A submitter posts a job with its money on hold ([`Pallet::submit_job`], or
//! [`Pallet::order`] through a trainer's listing). Trainers apply with a deposit on hold.
//! From there on the chain leads:
//!
//! ```text
//! Open -> Seeding -> Training -> Revealing -> Auditing -> Ended
//!   |                   |            |           |
//!   no applicant,       nobody       nobody      decisions: Settled or Failed
//!   cancelled           committed    revealed
//! ```
//!
//! - [`life_cycle`] is the state machine: what each state waits for, until when, and what
//!   happens then.
//! - [`parties`] is what submitters and trainers do: post, apply, take back, agree.
//! - [`price`] is the fee for power, which follows what is minted and what is trained, and what markets paid.
//! - [`money`] holds and moves every unit: quotes, escrow, deposits, settlement, slashes.
//! - [`disputes`] is what the court asks about results, and what a conviction does; [`late`] is the same
//!   for a week after a job was settled.
//! - [`agenda`] is the clock. Every job that has not ended is on it exactly once, and due jobs are
//!   served at the beginning of each block with bounded, weighed work. What does not fit waits for
//!   the next block, oldest first, or for anyone's `poke`.
//! - `posted` posts jobs for another pallet, and says what became of them.
//! - [`claims`]: the right to what a replica is paid is sold while it is audited.
//! - [`listings`] are trainers' standing offers; [`views`] is what clients ask.
//!
//! Commitments and reveals, audits, randomness, models and trainers belong to other pallets
//! behind the traits of `trainyard_traits`.

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
pub mod claims;
mod deeds;
pub mod disputes;
mod errors;
mod events;
pub mod late;
pub mod life_cycle;
pub mod listings;
#[cfg(test)]
mod mock;
pub mod money;
pub mod parties;
mod posted;
pub mod price;
#[cfg(test)]
mod tests;
mod try_state;
mod types;
pub mod views;
pub mod weights;

use frame_support::pallet_macros::import_section;

pub use pallet::*;
pub use types::*;
pub use weights::WeightInfo;

#[import_section(events::events)]
#[import_section(errors::errors)]
#[frame_support::pallet]
// The macros' own code calls `expect`; the work of this pallet is in the other files.
#[allow(clippy::expect_used)]
pub mod pallet {
	use super::*;
	use core::marker::PhantomData;
	use frame_support::{
		dispatch::PostDispatchInfo, pallet_prelude::*, traits::fungible, weights::Weight,
	};
	use frame_system::pallet_prelude::*;
	use trainyard_pallet_support::agenda::Clock;
	use trainyard_program::{needs::MachineClass, spec::JobSpec};
	use trainyard_protocol::{
		claims::{Asked, Seen},
		fees::COMPUTE_PRICE,
		job::{Balance, BlockNumber, Ending, Fate, Settlement, Terms, MAX_REPLICAS, MIN_AUDIT_FEE},
		price::{ClassPrice, Volumes},
		JobId, MicroUt, Text, H256,
	};
	use trainyard_traits::{
		Audits, AwaitedBlobs, Beacon, ClaimPools, Conviction, Court, Reputation, Submissions,
		TrainerRegistry,
	};

	/// Version of the layout of this pallet's storage.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(7);

	/// Four hours at 6 s a block: for how long honest machines may be away, unless a chain says otherwise.
	pub const PATIENCE: BlockNumber = 2_400;

	/// A week at 6 s a block: for how long accepted results can be challenged after the settlement, unless
	/// a chain says otherwise.
	pub const LATE_BLOCKS: BlockNumber = 100_800;

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs from the runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<RuntimeEvent: From<Event<Self>>> {
		/// The currency of escrow, deposits and pay.
		type Currency: fungible::Mutate<Self::AccountId, Balance = Balance>
			+ fungible::MutateHold<Self::AccountId, Reason = Self::RuntimeHoldReason>;

		/// The runtime's reasons for holds.
		type RuntimeHoldReason: From<HoldReason>;

		/// Who trains, and the ledger of power.
		type Trainers: TrainerRegistry<Self::AccountId>;

		/// Rounds of commit and reveal.
		type Submissions: Submissions<Self::AccountId>;

		/// Audits of what was revealed.
		type Audits: Audits<Self::AccountId>;

		/// Disputes about what was revealed.
		type Court: Court<Self::AccountId>;

		/// Pools that hold claims on what replicas are paid.
		type Pools: ClaimPools<Self::AccountId>;

		/// What accounts did in earlier jobs, and in this one.
		type Reputation: Reputation<Self::AccountId>;

		/// For how many blocks honest machines may be away while something is disputed.
		type Patience: Get<BlockNumber>;

		/// Blocks after the settlement of a job in which what was accepted can still be challenged; 0 for
		/// none.
		type LateBlocks: Get<BlockNumber>;

		/// Time between two blocks, in milliseconds: what a machine computes in a block.
		type BlockTime: Get<u64>;

		/// Randomness from blocks that do not exist yet.
		type Beacon: Beacon;

		/// Models on chain.
		type Blobs: AwaitedBlobs<Self::AccountId>;

		/// Receives what is slashed and belongs to nobody in particular, and what cannot be
		/// delivered.
		type Jackpot: Get<Self::AccountId>;

		/// Weight of a block's beginning that may go into serving due jobs. At least
		/// [`Pallet::worst_advance`], or nothing would ever be served.
		type ServiceWeight: Get<Weight>;

		/// Least deposit of a trainer, before the audit fees that it covers.
		#[pallet::constant]
		type MinDeposit: Get<Balance>;

		/// What the present block mints: the price of power follows it, see [`price`].
		type BlockReward: Get<Balance>;

		/// The most that computing a `ut` counts as. Least fees of verifiers and deposits of challenges go by what it
		/// counts as in the quote of a job, which [follows the market](trainyard_protocol::price::compute), whatever
		/// the job pays.
		#[pallet::constant]
		type ComputePrice: Get<Balance>;

		/// Least fee of a verifier for a round. Where the price of what it replays, by what computing counts as, is
		/// more, that price is the least fee.
		#[pallet::constant]
		type MinAuditFee: Get<Balance>;

		/// Price of storing a byte on chain, of which the escrow pays half where a seat's draw reads it.
		#[pallet::constant]
		type StorageByte: Get<Balance>;

		/// Most bytes that a rescue may have: what the blocks of its period can carry, and the
		/// largest blob. A state that is larger is asked of a relay committee.
		type MaxRescue: Get<u64>;

		/// Most bytes of a blob.
		type MaxBlob: Get<u64>;

		/// What a seat of a relay earns for each 4 GiB: the escrow has the fees of committees where no
		/// rescue carries a state.
		#[pallet::constant]
		type RelayFee: Get<Balance>;

		/// Deposit for the record of a job, besides its specification.
		#[pallet::constant]
		type RecordBase: Get<Balance>;

		/// Deposit for each byte of the specification on record.
		#[pallet::constant]
		type RecordByte: Get<Balance>;

		/// Least blocks for applying, and for training.
		#[pallet::constant]
		type MinPeriod: Get<BlockNumber>;

		/// Most blocks for applying.
		#[pallet::constant]
		type MaxApplyBlocks: Get<BlockNumber>;

		/// Most blocks for training.
		#[pallet::constant]
		type MaxTrainingBlocks: Get<BlockNumber>;

		/// Blocks for revealing and storing the model.
		#[pallet::constant]
		type RevealBlocks: Get<BlockNumber>;

		/// Blocks for which an audit waits for verifiers in all. One that has no committee then ends
		/// undecided.
		type AuditDeadline: Get<BlockNumber>;

		/// Blocks between two checks for models that are still being stored after everyone
		/// revealed.
		#[pallet::constant]
		type ModelPollBlocks: Get<BlockNumber>;

		/// Blocks for which an ended job is kept.
		#[pallet::constant]
		type RetentionBlocks: Get<BlockNumber>;

		/// Most trainers that may apply for one job.
		#[pallet::constant]
		type MaxApplicants: Get<u32>;

		/// Weights of the calls and of each step of a job.
		type WeightInfo: WeightInfo;
	}

	/// Why this pallet holds funds.
	#[pallet::composite_enum]
	pub enum HoldReason {
		/// A submitter's money for a job that has not ended.
		Escrow,
		/// A trainer's deposit for a job that it applied for or trains.
		Deposit,
		/// A submitter's deposit for the record of a job, until it is removed.
		Record,
	}

	/// For how many blocks honest machines may be away by the genesis of the chain: what
	/// [`Config::Patience`] returns where nobody decided otherwise.
	#[pallet::storage]
	pub type FirstPatience<T> = StorageValue<_, BlockNumber, ValueQuery, ConstU32<PATIENCE>>;

	/// For how many blocks accepted results can be challenged after the settlement by the genesis of the
	/// chain: what [`Config::LateBlocks`] returns where nobody decided otherwise.
	#[pallet::storage]
	pub type FirstLateBlocks<T> = StorageValue<_, BlockNumber, ValueQuery, ConstU32<LATE_BLOCKS>>;

	/// What a chain begins with.
	#[pallet::genesis_config]
	pub struct GenesisConfig<T> {
		/// For how many blocks honest machines may be away while something is disputed.
		pub patience: BlockNumber,
		/// For how many blocks accepted results can be challenged after the settlement.
		pub late_blocks: BlockNumber,
		#[serde(skip)]
		_config: PhantomData<T>,
	}

	impl<T> Default for GenesisConfig<T> {
		fn default() -> Self {
			Self { patience: PATIENCE, late_blocks: LATE_BLOCKS, _config: PhantomData }
		}
	}

	impl<T> GenesisConfig<T> {
		/// Returns what a chain begins with on which machines may be away for that many blocks, and
		/// accepted results can be challenged for so many after the settlement.
		pub fn of(patience: BlockNumber, late_blocks: BlockNumber) -> Self {
			Self { patience, late_blocks, ..Self::default() }
		}
	}

	#[pallet::genesis_build]
	impl<T: Config> BuildGenesisConfig for GenesisConfig<T> {
		fn build(&self) {
			FirstPatience::<T>::put(self.patience);
			FirstLateBlocks::<T>::put(self.late_blocks);
		}
	}

	/// Number of the next job.
	#[pallet::storage]
	pub type NextJob<T> = StorageValue<_, JobId, ValueQuery>;

	/// What each job trains: written when it is posted, removed when it is forgotten, and read only
	/// where it is needed, since it is larger than all else that is kept of a job.
	#[pallet::storage]
	pub type Specs<T> = StorageMap<_, Twox64Concat, JobId, JobSpec>;

	/// Every job, until it ended and was forgotten.
	#[pallet::storage]
	pub type Jobs<T: Config> = StorageMap<_, Twox64Concat, JobId, Job<T::AccountId>>;

	/// For each job in [`JobState::Revealing`](trainyard_protocol::job::JobState): the blocks
	/// without room for a chunk when its reveals opened, and the deadline that it had then.
	#[pallet::storage]
	pub type Uploading<T> =
		StorageMap<_, Twox64Concat, JobId, (BlockNumber, BlockNumber), OptionQuery>;

	/// How the results of a job can be challenged, while it is in
	/// [`JobState::Auditing`](trainyard_protocol::job::JobState), and as long as it is in [`Lates`].
	#[pallet::storage]
	pub type Hearings<T> = StorageMap<_, Twox64Concat, JobId, Hearing, OptionQuery>;

	/// The trainers of such a job that the court convicted.
	#[pallet::storage]
	pub type Guilty<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		T::AccountId,
		Conviction<T::AccountId>,
		OptionQuery,
	>;

	/// The claims on pay of a job that were sold or offered, while it is in
	/// [`JobState::Auditing`](trainyard_protocol::job::JobState), or that a pool holds, from its training on.
	#[pallet::storage]
	pub type Claims<T: Config> =
		StorageMap<_, Twox64Concat, JobId, ClaimsOf<T::AccountId>, ValueQuery>;

	/// The settled jobs whose accepted results can still be challenged, or are.
	#[pallet::storage]
	pub type Lates<T: Config> = StorageMap<_, Twox64Concat, JobId, Late<T::AccountId>, OptionQuery>;

	/// Who applied for a job, and with which bond, in order of applying, until the draw.
	#[pallet::storage]
	pub type Applicants<T: Config> = StorageMap<
		_,
		Twox64Concat,
		JobId,
		BoundedVec<Applicant<T::AccountId>, T::MaxApplicants>,
		ValueQuery,
	>;

	/// Trainers' standing offers.
	#[pallet::storage]
	pub type Listings<T: Config> = StorageMap<_, Blake2_128Concat, T::AccountId, Listing>;

	/// The last listing that was checked for a trainer that has left; none at the beginning of a
	/// turn.
	#[pallet::storage]
	pub type SweptListing<T: Config> = StorageValue<_, T::AccountId>;

	/// Height at which each job that has not ended is looked at next, and each in [`Lates`]. Its keys
	/// are these jobs.
	#[pallet::storage]
	pub type Due<T> = StorageMap<_, Twox64Concat, JobId, BlockNumber>;

	/// The same by height: the jobs to be looked at then, and the others that ended and are to be
	/// forgotten then.
	#[pallet::storage]
	pub type Agenda<T> = StorageDoubleMap<_, Twox64Concat, BlockNumber, Twox64Concat, JobId, ()>;

	/// Least height whose agenda may not be empty.
	#[pallet::storage]
	pub type Cursor<T> = StorageValue<_, BlockNumber>;

	/// The volumes of training by which the fee for power goes, as they were when they last changed.
	#[pallet::storage]
	pub type Market<T> = StorageValue<_, Volumes, ValueQuery>;

	/// What a `ut` cost where a job was accepted, by class of machines.
	#[pallet::storage]
	pub type Prices<T> = StorageMap<_, Twox64Concat, MachineClass, ClassPrice, OptionQuery>;

	/// All that this pallet ever burned: protocol fees, and what could be delivered neither
	/// to its recipient nor to the jackpot.
	#[pallet::storage]
	pub type TotalBurned<T> = StorageValue<_, Balance, ValueQuery>;

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		fn on_initialize(_: BlockNumberFor<T>) -> Weight {
			Self::serve(Self::now(), T::ServiceWeight::get())
		}

		fn on_idle(_: BlockNumberFor<T>, room: Weight) -> Weight {
			Self::sweep_listings(room)
		}

		fn integrity_test() {
			let needed = Self::worst_advance().saturating_add(T::WeightInfo::serve(1));
			let limit = T::ServiceWeight::get();
			assert!(
				needed.all_lte(limit),
				"ServiceWeight ({limit}) must allow for serving one job ({needed})"
			);
			assert!(T::MaxApplicants::get() >= MAX_REPLICAS, "MaxApplicants below MAX_REPLICAS");
			assert!(T::MinPeriod::get() > 0, "MinPeriod must be at least one block");
			assert!(
				T::MinPeriod::get() <= listings::ORDER_BLOCKS,
				"MinPeriod above what an ordered job may name"
			);
			assert!(T::ModelPollBlocks::get() > 0, "ModelPollBlocks must be at least one block");
			assert!(T::RetentionBlocks::get() > 0, "RetentionBlocks must be at least one block");
			assert!(
				T::MinAuditFee::get() <= MIN_AUDIT_FEE,
				"MinAuditFee above what clients take it for"
			);
			assert!(
				T::ComputePrice::get() <= COMPUTE_PRICE,
				"ComputePrice above what clients take it for"
			);
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Posts a job that any trainer may apply for, and holds its escrow: the price and 15 % of
		/// it for each replica after the first, the protocol fee, and `verifiers x audit fee x audit
		/// rounds`. A deposit for the record is held besides until that is removed.
		///
		/// The protocol fee moves with the market and is fixed by this call. Where it is more than
		/// `max_fee_per_ut` for a `ut` of training, the call fails with `FeeRose`. It fails with
		/// `NoCommittee` where too few verifiers are there for the audit.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::submit_job().saturating_add(T::Audits::can_seat_weight()))]
		pub fn submit_job(
			origin: OriginFor<T>,
			spec: JobSpec,
			terms: Terms,
			max_fee_per_ut: Balance,
		) -> DispatchResult {
			let submitter = ensure_signed(origin)?;
			Self::do_submit_job(submitter, spec, terms, max_fee_per_ut)
		}

		/// Orders a job from `trainer` at its listing's price or more; only `trainer` may
		/// apply, within 144 blocks. The protocol fee is as for `submit_job`.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::order().saturating_add(T::Audits::can_seat_weight()))]
		pub fn order(
			origin: OriginFor<T>,
			trainer: T::AccountId,
			spec: JobSpec,
			terms: Terms,
			max_fee_per_ut: Balance,
		) -> DispatchResult {
			let submitter = ensure_signed(origin)?;
			Self::do_order(submitter, trainer, spec, terms, max_fee_per_ut)
		}

		/// Applies for an open job. The caller's deposit is held until the draw passes it over or
		/// the job ends. An applicant has the data already and serves it from then on. Where the
		/// list of applicants is full, a larger bond displaces the smallest, each as far as it counts by the record of
		/// its trainer.
		///
		/// `digest` is `blake2_256(SCALE("trainyard/job/v1", spec, terms))` of what the caller means
		/// to train: after a fork the same number may be another job's. `forced` is the
		/// [commitment](trainyard_protocol::forced::commitment) to the secret from which, with the
		/// assignment seed, the leaves are drawn that it must force to be false.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::apply().saturating_add(T::Reputation::note_weight()))]
		pub fn apply(
			origin: OriginFor<T>,
			job: JobId,
			digest: H256,
			forced: H256,
		) -> DispatchResult {
			let trainer = ensure_signed(origin)?;
			Self::do_apply(trainer, job, digest, forced)
		}

		/// Takes back a job that nobody applied for; everything is refunded.
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::cancel())]
		pub fn cancel(origin: OriginFor<T>, job: JobId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_cancel(who, job)
		}

		/// Serves an overdue job that blocks had no room for. Anyone may call this; it costs
		/// nothing where the job was overdue.
		#[pallet::call_index(4)]
		#[pallet::weight(
			T::WeightInfo::look().saturating_add(Pallet::<T>::worst_advance())
		)]
		pub fn poke(origin: OriginFor<T>, job: JobId) -> DispatchResultWithPostInfo {
			ensure_signed(origin)?;
			let weight = Self::do_poke(job)?;
			Ok(PostDispatchInfo { actual_weight: Some(weight), pays_fee: Pays::No })
		}

		/// Says that the caller is ready to settle at once, with `pay` in total for each replica
		/// still working. When the submitter and all these trainers have said the same, the job
		/// ends: trainers are paid that and get their deposits back, the submitter gets the rest,
		/// and nobody is credited power. Saying it again with a different pay replaces the earlier
		/// offer, and `None` takes it back; all offers lapse when the job's state changes. Possible
		/// until the audit begins.
		#[pallet::call_index(5)]
		#[pallet::weight(Pallet::<T>::agree_weight(true))]
		pub fn agree(
			origin: OriginFor<T>,
			job: JobId,
			pay: Option<Balance>,
		) -> DispatchResultWithPostInfo {
			let who = ensure_signed(origin)?;
			let settled = Self::do_agree(who, job, pay)?;
			Ok(Some(Self::agree_weight(settled)).into())
		}

		/// Posts the caller's listing, or replaces it: its price of one `ut`, the largest job
		/// it takes, and a free note. The caller must be a registered trainer.
		#[pallet::call_index(6)]
		#[pallet::weight(T::WeightInfo::post_listing())]
		pub fn post_listing(
			origin: OriginFor<T>,
			price_per_ut: Balance,
			max_work: MicroUt,
			note: Text,
		) -> DispatchResult {
			let trainer = ensure_signed(origin)?;
			Self::do_post_listing(trainer, Listing { price_per_ut, max_work, note })
		}

		/// Removes the caller's listing. Jobs already ordered go on.
		#[pallet::call_index(7)]
		#[pallet::weight(T::WeightInfo::remove_listing())]
		pub fn remove_listing(origin: OriginFor<T>) -> DispatchResult {
			let trainer = ensure_signed(origin)?;
			Self::do_remove_listing(trainer)
		}

		/// Removes the record of a job that ended at least `RetentionBlocks` ago, with its
		/// commitments, reveals and audit, where full blocks had no room for it. Anyone may call
		/// this. Of a job that was cancelled or that nobody applied for, its submitter may at once.
		/// The deposit for the record returns.
		#[pallet::call_index(8)]
		#[pallet::weight(Pallet::<T>::forget_weight())]
		pub fn forget(origin: OriginFor<T>, job: JobId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_forget(who, job)
		}

		/// Offers the caller's claim on what the replica of `trainer` is paid, or, with `None`, takes the offer back.
		/// A new offer replaces the one before. Possible while the result is audited, and not while seats reveal,
		/// somebody lacks something, or something is disputed; then earlier offers lapse, too.
		#[pallet::call_index(9)]
		#[pallet::weight(T::WeightInfo::offer_claim().saturating_add(Pallet::<T>::trade_weight()))]
		pub fn offer_claim(
			origin: OriginFor<T>,
			job: JobId,
			trainer: T::AccountId,
			asked: Option<Asked<T::AccountId>>,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_offer_claim(who, job, trainer, asked)
		}

		/// Buys the claim on what the replica of `trainer` is paid, as the caller saw it on offer, for `most` at most.
		/// The price is paid to the holder at once, and nothing of it returns, whatever becomes of the result.
		#[pallet::call_index(10)]
		#[pallet::weight(T::WeightInfo::buy_claim().saturating_add(Pallet::<T>::trade_weight()))]
		pub fn buy_claim(
			origin: OriginFor<T>,
			job: JobId,
			trainer: T::AccountId,
			seen: Seen<T::AccountId>,
			most: Balance,
		) -> DispatchResult {
			let buyer = ensure_signed(origin)?;
			Self::do_buy_claim(buyer, job, trainer, seen, most)
		}
	}
}
