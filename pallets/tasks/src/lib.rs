//! Tasks: any deterministic computation, paid where its result stands.
//!
//! ```text
//!         apply            seed            all committed    seed        committed
//!   Open -------> Drawing -----> Computing ------> Sampling -----> Auditing -----> Revealing
//!    |                               |                 |                               |
//!    |  too few, or taken back       | nobody          +-------------------------------+
//!    v                               v                     not audited                 v
//!   Ended <----------------------------------------------------------------------- Challenging
//!                                                                         no dispute runs
//! ```
//!
//! - [`posting`]: tasks that are posted, applied for and taken back;
//! - [`life`]: the steps of a task, and what it pays; [`computing`]: commitments and claims;
//! - [`disputes`]: claims that differ, narrowed to one step that the [`Referee`] executes;
//! - [`money`]: what is held, paid and lost; [`agenda`]: the clock; [`views`]: what clients ask.
//!
//! What a task is, and how two traces are compared, is in [`trainyard_task`]. Blobs, verifiers and randomness
//! belong to other pallets behind the traits of `trainyard_traits`. Tasks earn no power: their fuel is bounded
//! by what their submitter says, not counted, and whoever posts tasks to itself would buy blocks by them.

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
pub mod computing;
pub mod disputes;
mod events;
pub mod life;
#[cfg(test)]
mod mock;
pub mod money;
pub mod posting;
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
	use super::{Task, *};
	use alloc::boxed::Box;
	use frame_support::{
		dispatch::{PostDispatchInfo, WithPostDispatchInfo},
		pallet_prelude::*,
		traits::fungible,
		weights::Weight,
	};
	use frame_system::pallet_prelude::*;
	use trainyard_pallet_support::agenda::Clock;
	use trainyard_protocol::job::{Balance, BlockNumber};
	use trainyard_task::{
		claim::Path,
		spec::{MAX_PAGES, MAX_REPLICAS, MAX_STATE},
		views::TaskEnd,
		Bounds, Claim, Ends, Limits, Nodes, TaskId, TaskSpec, TaskTerms, H256,
	};
	use trainyard_traits::{AwaitedBlobs, Beacon, MoveClock, VerifierPool};

	/// The storage of this pallet's first release.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(1);

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs of its runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<Hash = H256, RuntimeEvent: From<Event<Self>>> {
		/// The currency of rewards and deposits.
		type Currency: fungible::Mutate<Self::AccountId, Balance = Balance>
			+ fungible::MutateHold<Self::AccountId, Reason = Self::RuntimeHoldReason>;

		/// The runtime's reasons for holds.
		type RuntimeHoldReason: From<HoldReason>;

		/// Modules, inputs and outputs on chain.
		type Blobs: AwaitedBlobs<Self::AccountId>;

		/// Who audits.
		type Verifiers: VerifierPool<Self::AccountId>;

		/// What replicas and audits are drawn by.
		type Beacon: Beacon;

		/// What executes a step.
		type Referee: Referee;

		/// What a task may ask for and offer.
		type Bounds: Get<Bounds>;

		/// Weight of a block's beginning that may go into this pallet's work. At least
		/// [`Pallet::worst_step`], or nothing would ever be served.
		type ServiceWeight: Get<Weight>;

		/// Blocks for each move of a dispute: for how long machines may be away.
		type MoveBlocks: Get<BlockNumber>;

		/// Which blocks had room for moves.
		type Moves: MoveClock;

		/// Blocks for which the record of a task is kept that has ended.
		#[pallet::constant]
		type RetentionBlocks: Get<BlockNumber>;

		/// Deposit for the record of a task, with its short outputs and disputes.
		#[pallet::constant]
		type RecordDeposit: Get<Balance>;

		/// Weights of the calls and of the steps of the hook.
		type WeightInfo: WeightInfo;
	}

	/// Why this pallet holds funds.
	#[pallet::composite_enum]
	pub enum HoldReason {
		/// Rewards, and the fee of an audit.
		Escrow,
		/// The deposit for the record of a task.
		Record,
		/// The deposit of a replica, or of who applied to be one.
		Replica,
		/// The deposit of who challenges.
		Challenge,
	}

	/// Number of the next task.
	#[pallet::storage]
	pub type NextTask<T> = StorageValue<_, TaskId, ValueQuery>;

	/// Every task, until it ended and was forgotten.
	#[pallet::storage]
	pub type Tasks<T: Config> = StorageMap<_, Twox64Concat, TaskId, Task<T::AccountId>>;

	/// Short outputs of claims.
	#[pallet::storage]
	pub type Outputs<T> =
		StorageDoubleMap<_, Twox64Concat, TaskId, Twox64Concat, u8, Inline, OptionQuery>;

	/// Disputes that run.
	#[pallet::storage]
	pub type Disputes<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		TaskId,
		Twox64Concat,
		u32,
		Dispute<<T as frame_system::Config>::AccountId>,
	>;

	/// What was sealed by whom.
	#[pallet::storage]
	pub type Seals<T: Config> =
		StorageDoubleMap<_, Twox64Concat, TaskId, Blake2_128Concat, T::AccountId, Seal>;

	/// Height at which each task and each dispute is looked at next; of a task that ended, at which it is
	/// forgotten.
	#[pallet::storage]
	pub type Due<T> = StorageMap<_, Twox64Concat, Subject, BlockNumber>;

	/// The same by height.
	#[pallet::storage]
	pub type Agenda<T> = StorageDoubleMap<_, Twox64Concat, BlockNumber, Twox64Concat, Subject, ()>;

	/// Least height whose agenda may not be empty.
	#[pallet::storage]
	pub type Cursor<T> = StorageValue<_, BlockNumber>;

	#[pallet::error]
	pub enum Error<T> {
		/// There is no task with this number, or it was forgotten.
		NoSuchTask,
		/// There are no numbers left.
		TooMany,
		/// The task breaks a rule; the error inside says which.
		Invalid(Broken),
		/// Module and input are blobs that are complete when the task is posted: store them first.
		NotOnChain,
		/// An amount exceeds the range of amounts.
		AmountOverflow,
		/// Applications are not taken any more, and the task is not taken back any more.
		NotOpen,
		/// The task with this number is another one: look again before you apply.
		OtherTask,
		/// Who posted a task does not compute it.
		OwnTask,
		/// The account applied before.
		HasApplied,
		/// There are as many applicants as there may be.
		TooManyApplicants,
		/// Only who posted the task may do this.
		NotSubmitter,
		/// No commitments are taken now, or not of this account.
		NotComputing,
		/// The account is no replica of this task and does not audit it, or did not commit.
		NotReplica,
		/// The account has committed already.
		HasCommitted,
		/// No claims are taken now.
		NotRevealing,
		/// The account has shown its claim already.
		HasRevealed,
		/// The commitment was to something else.
		WrongCommitment,
		/// The claim is none that the task can have: its trace does not begin with the input and end with the
		/// output, or its file does not have as many records.
		WrongClaim,
		/// The bytes of the output are not those of the claim.
		WrongOutput,
		/// An output of 4 KiB at most comes with the claim.
		NeedsOutput,
		/// A longer output is stored as a blob, and a fault has none.
		NeedsNoOutput,
		/// Nothing can be challenged now.
		NotChallenging,
		/// There is no such claim, or it was convicted.
		NoSuchClaim,
		/// The account has sealed something for this task: use that or take it back.
		HasSealed,
		/// The account has sealed nothing for this task.
		NotSealed,
		/// What was sealed is said in a later block.
		SealedNow,
		/// As many challenges of this task run as there may be: wait for one to end.
		TooManyChallenges,
		/// Both claims are the same, or this one is in dispute with the other already: show its nodes there.
		SameClaim,
		/// A map has no traces: show a record that is false.
		IsMap,
		/// A task in steps has no records: challenge by a trace.
		IsNoMap,
		/// There is no such dispute, or it is over.
		NoSuchDispute,
		/// A dispute has the sides 0 and 1.
		NoSuchSide,
		/// No nodes are due in this dispute.
		NotDescending,
		/// The side has shown its nodes.
		HasShown,
		/// The nodes are not those that are due, or not of the trace of this side.
		WrongNodes,
		/// The time for this move is over.
		TooLate,
		/// No step of this dispute waits to be executed.
		NotExecuting,
		/// The bytes are not those of the module.
		WrongModule,
		/// The bytes are not those of the state before the step, or of the input.
		WrongState,
		/// The module could not be executed here. That says nothing about the step.
		CannotExecute,
		/// What was opened is not that record of the file.
		WrongOpening,
		/// The record is what the module comes to.
		NotRefuted,
		/// It is not waiting for anything that is overdue.
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
			assert!(T::RetentionBlocks::get() > 0, "RetentionBlocks: at least one");
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	impl<T: Config> Pallet<T> {
		/// Returns the weight of executing a step at worst.
		pub fn execution_weight() -> Weight {
			let fuel = T::Bounds::get().fuel;
			T::Referee::weight(&Limits { fuel, pages: MAX_PAGES, state: MAX_STATE })
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Posts a task, whose module and input are on chain. All rewards and the fee of an audit are held, and
		/// a deposit for the record.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::post())]
		pub fn post(
			origin: OriginFor<T>,
			spec: Box<TaskSpec>,
			terms: Box<TaskTerms>,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_post(who, *spec, *terms)
		}

		/// Takes a task of the caller back, as long as applications are taken.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::cancel())]
		pub fn cancel(origin: OriginFor<T>, task: TaskId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_cancel(who, task)
		}

		/// Applies to compute a task with this [digest](trainyard_task::claim::digest). The deposit is held, and
		/// returned where the caller is not drawn.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::apply())]
		pub fn apply(origin: OriginFor<T>, task: TaskId, digest: H256) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_apply(who, task, digest)
		}

		/// Commits the caller, a replica or the auditor, to
		/// [its claim](trainyard_task::claim::commitment).
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::commit())]
		pub fn commit(origin: OriginFor<T>, task: TaskId, commitment: H256) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_commit(who, task, commitment)
		}

		/// Shows the claim to which the caller committed, with the proofs of the ends of its trace. An output of
		/// 4 KiB at most comes with it; a longer one is stored as a blob before the time is over.
		#[pallet::call_index(4)]
		#[pallet::weight(T::WeightInfo::reveal())]
		pub fn reveal(
			origin: OriginFor<T>,
			task: TaskId,
			claim: Claim,
			ends: Box<Ends>,
			output: Option<Inline>,
			salt: [u8; 32],
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_reveal(who, task, claim, &ends, output, &salt)
		}

		/// Seals what the caller will challenge: [a claim of its own](trainyard_task::claim::commitment), or
		/// [an index of a map](trainyard_task::claim::refutation). A deposit is held.
		#[pallet::call_index(5)]
		#[pallet::weight(T::WeightInfo::seal())]
		pub fn seal(origin: OriginFor<T>, task: TaskId, commitment: H256) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_seal(who, task, commitment)
		}

		/// Takes a seal back, and the deposit.
		#[pallet::call_index(6)]
		#[pallet::weight(T::WeightInfo::unseal())]
		pub fn unseal(origin: OriginFor<T>, task: TaskId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_unseal(who, task)
		}

		/// Challenges a claim by another one that the caller sealed before.
		#[pallet::call_index(7)]
		#[pallet::weight(T::WeightInfo::challenge())]
		pub fn challenge(
			origin: OriginFor<T>,
			task: TaskId,
			claim: u8,
			own: Claim,
			ends: Box<Ends>,
			salt: [u8; 32],
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_challenge(who, task, claim, own, &ends, &salt)
		}

		/// Shows the nodes that are due of a side of a dispute. They hash to what that side has committed to, so
		/// anybody may bring them.
		#[pallet::call_index(8)]
		#[pallet::weight(T::WeightInfo::show())]
		pub fn show(
			origin: OriginFor<T>,
			task: TaskId,
			dispute: u32,
			side: u8,
			nodes: Nodes,
		) -> DispatchResult {
			ensure_signed(origin)?;
			Self::do_show(task, dispute, side, nodes)
		}

		/// Executes the step that is in dispute: anybody may bring the bytes of the module and of the state
		/// before the step, with the way from that to the root of the trace.
		#[pallet::call_index(9)]
		#[pallet::weight(T::WeightInfo::execute().saturating_add(Pallet::<T>::execution_weight()))]
		pub fn execute(
			origin: OriginFor<T>,
			task: TaskId,
			dispute: u32,
			brought: Box<Brought>,
			path: Path,
		) -> DispatchResultWithPostInfo {
			ensure_signed(origin)?;
			// Both sides may bring it: who comes second pays for no execution.
			Self::ensure_executing(task, dispute)
				.map_err(|error| error.with_weight(T::WeightInfo::execute()))?;
			let weight = Self::do_execute(task, dispute, &brought, &path)?;
			let actual = T::WeightInfo::execute().saturating_add(weight);
			Ok(PostDispatchInfo { actual_weight: Some(actual), pays_fee: Pays::Yes })
		}

		/// Shows that a record in a claim of a map is false, at an index that the caller sealed before.
		#[pallet::call_index(10)]
		#[pallet::weight(T::WeightInfo::refute().saturating_add(Pallet::<T>::execution_weight()))]
		pub fn refute(
			origin: OriginFor<T>,
			task: TaskId,
			claim: u8,
			opened: Box<OpenedRecord>,
			salt: [u8; 32],
		) -> DispatchResultWithPostInfo {
			let who = ensure_signed(origin)?;
			let weight = Self::do_refute(who, task, claim, &opened, &salt)?;
			let actual = T::WeightInfo::refute().saturating_add(weight);
			Ok(PostDispatchInfo { actual_weight: Some(actual), pays_fee: Pays::Yes })
		}

		/// Looks at what is overdue, where blocks had no room for it. Free where there was something to do.
		#[pallet::call_index(11)]
		#[pallet::weight(Pallet::<T>::worst_task())]
		pub fn poke(origin: OriginFor<T>, subject: Subject) -> DispatchResultWithPostInfo {
			ensure_signed(origin)?;
			let weight = Self::do_poke(subject)?;
			Ok(PostDispatchInfo { actual_weight: Some(weight), pays_fee: Pays::No })
		}
	}
}
