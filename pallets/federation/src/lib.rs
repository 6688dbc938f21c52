//! Federated rounds: parts of data are trained apart from one model, by several trainers each, and the mean
//! of what they agree in is the model of the next round.
//!
//! ```text
//! open -> Training -> Aggregating -> Training -> ... -> Finishing -> Ended
//!             |            |                                ^
//!             |            +- nobody proposed               | results that counted before their
//!             +- too few parts answered                     | audit are decided
//! ```
//!
//! A part of a round is an ordinary job of the market, posted for the submitter: its trainers are drawn, they
//! commit and reveal, equal results are grouped, and audit and court decide. Nothing of that is here.
//!
//! - [`opening`]: what is opened, and stopped.
//! - [`rounds`]: the steps of a round. A part is posted again where its job fails, and a round goes on
//!   without a part that never answers.
//! - [`aggregates`]: proposals of the mean, and their refutation in one step, by openings of the files.
//! - [`money`]: what is held, paid and lost; [`agenda`]: the clock; [`views`]: what clients ask.
//!
//! Jobs and models belong to other pallets behind the traits of `trainyard_traits`.

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
pub mod aggregates;
#[cfg(feature = "runtime-benchmarks")]
mod benchmarking;
mod events;
#[cfg(test)]
mod mock;
pub mod money;
pub mod opening;
pub mod rounds;
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
	use alloc::boxed::Box;
	use core::marker::PhantomData;
	use frame_support::{
		dispatch::PostDispatchInfo, pallet_prelude::*, traits::fungible, weights::Weight,
	};
	use frame_system::pallet_prelude::*;
	use trainyard_pallet_support::agenda::Clock;
	use trainyard_program::spec::JobSpec;
	use trainyard_protocol::{
		federation::{FederationEnding, FederationId, Pieces, Plan, Round},
		job::{Balance, BlockNumber, Terms},
		JobId, H256,
	};
	use trainyard_traits::{AwaitedBlobs, PostedJobs};

	/// The storage of this pallet's first release.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(1);

	/// A quarter of an hour at 6 s a block: for how long a proposal can be refuted, unless a chain says
	/// otherwise.
	pub const WINDOW: BlockNumber = 150;

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs of its runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<RuntimeEvent: From<Event<Self>>> {
		/// The currency of fees and deposits.
		type Currency: fungible::Mutate<Self::AccountId, Balance = Balance>
			+ fungible::MutateHold<Self::AccountId, Reason = Self::RuntimeHoldReason>;

		/// The runtime's reasons for holds.
		type RuntimeHoldReason: From<HoldReason>;

		/// The market, which trains the parts.
		type Jobs: PostedJobs<Self::AccountId>;

		/// Models on chain.
		type Blobs: AwaitedBlobs<Self::AccountId>;

		/// Weight of a block's beginning that may go into this pallet's work. At least
		/// [`Pallet::worst_step`], or nothing would ever be served.
		type ServiceWeight: Get<Weight>;

		/// Blocks for which a proposal can be refuted. It holds up each round.
		type Window: Get<BlockNumber>;

		/// Blocks in which somebody must have proposed an aggregate.
		#[pallet::constant]
		type AggregateBlocks: Get<BlockNumber>;

		/// Blocks between two looks at jobs that run.
		#[pallet::constant]
		type PollBlocks: Get<BlockNumber>;

		/// Blocks after which a part is posted again whose job failed, or could not be posted.
		#[pallet::constant]
		type RetryBlocks: Get<BlockNumber>;

		/// Least blocks of a round.
		#[pallet::constant]
		type MinRoundBlocks: Get<BlockNumber>;

		/// Blocks for which the record of a federation is kept that has ended.
		#[pallet::constant]
		type RetentionBlocks: Get<BlockNumber>;

		/// Least fee for an aggregate.
		#[pallet::constant]
		type MinAggregateFee: Get<Balance>;

		/// Deposit of a proposal, besides that for its pieces.
		#[pallet::constant]
		type ProposalDeposit: Get<Balance>;

		/// Deposit for the record of a federation, besides that for its bytes.
		#[pallet::constant]
		type RecordBase: Get<Balance>;

		/// Deposit for each byte of a record, and of the pieces of a proposal.
		#[pallet::constant]
		type RecordByte: Get<Balance>;

		/// Weights of the calls and of the steps of the hook.
		type WeightInfo: WeightInfo;
	}

	/// Why this pallet holds funds.
	#[pallet::composite_enum]
	pub enum HoldReason {
		/// What aggregates to come are paid.
		Fees,
		/// The deposit for the record of a federation.
		Record,
		/// The deposit of a proposal.
		Proposal,
	}

	/// For how long a proposal can be refuted by the genesis of the chain: what [`Config::Window`] returns
	/// where nobody decided otherwise.
	#[pallet::storage]
	pub type FirstWindow<T> = StorageValue<_, BlockNumber, ValueQuery, ConstU32<WINDOW>>;

	/// What a chain begins with.
	#[pallet::genesis_config]
	pub struct GenesisConfig<T> {
		/// Blocks for which a proposal can be refuted.
		pub window: BlockNumber,
		#[serde(skip)]
		_config: PhantomData<T>,
	}

	impl<T> Default for GenesisConfig<T> {
		fn default() -> Self {
			Self { window: WINDOW, _config: PhantomData }
		}
	}

	impl<T> GenesisConfig<T> {
		/// Returns what a chain begins with on which proposals can be refuted for so many blocks.
		pub fn of(window: BlockNumber) -> Self {
			Self { window, ..Self::default() }
		}
	}

	#[pallet::genesis_build]
	impl<T: Config> BuildGenesisConfig for GenesisConfig<T> {
		fn build(&self) {
			FirstWindow::<T>::put(self.window);
		}
	}

	/// Number of the next federation.
	#[pallet::storage]
	pub type NextFederation<T> = StorageValue<_, FederationId, ValueQuery>;

	/// Every federation, until it ended and was forgotten.
	#[pallet::storage]
	pub type Federations<T: Config> =
		StorageMap<_, Twox64Concat, FederationId, Federation<T::AccountId>>;

	/// What the parts train, which never changes.
	#[pallet::storage]
	pub type Templates<T> = StorageMap<_, Twox64Concat, FederationId, Template>;

	/// The rounds that have a model.
	#[pallet::storage]
	pub type Rounds<T> = StorageDoubleMap<_, Twox64Concat, FederationId, Twox64Concat, u32, Round>;

	/// The pieces of the proposals that stand, by federation and number.
	#[pallet::storage]
	pub type ProposedPieces<T> =
		StorageDoubleMap<_, Twox64Concat, FederationId, Twox64Concat, u32, Pieces>;

	/// Height at which each federation is looked at next; of one that ended, at which it is forgotten.
	#[pallet::storage]
	pub type Due<T> = StorageMap<_, Twox64Concat, FederationId, BlockNumber>;

	/// The same by height.
	#[pallet::storage]
	pub type Agenda<T> =
		StorageDoubleMap<_, Twox64Concat, BlockNumber, Twox64Concat, FederationId, ()>;

	/// Least height whose agenda may not be empty.
	#[pallet::storage]
	pub type Cursor<T> = StorageValue<_, BlockNumber>;

	#[pallet::error]
	pub enum Error<T> {
		/// There is no federation with this number, or it was forgotten.
		NoSuchFederation,
		/// There are no numbers left for federations.
		TooManyFederations,
		/// The template with the data of a part breaks a rule; the error inside says which.
		InvalidSpec(SpecFault),
		/// The template names no initial model: parts that begin with different ones have no mean that is of
		/// use. Draw one, store it on chain, and name it.
		NoInitialModel,
		/// The initial model is said to be on chain, and no blob of this root and length is complete.
		ModelMissing,
		/// There are 1 to 16 parts.
		BadParts,
		/// A round needs the results of 1 to all parts.
		BadMinParts,
		/// There are 1 to 1,000 rounds.
		BadRounds,
		/// A round has at least `MinRoundBlocks` blocks.
		BadRoundBlocks,
		/// Results count by agreement where there are two replicas at least: raise `replicas`, or wait for the
		/// audit by the rule `Settled`.
		NobodyToAgree,
		/// The fee for an aggregate is below `MinAggregateFee`.
		FeeTooLow,
		/// The fees of all rounds exceed the range of amounts.
		AmountOverflow,
		/// The model has more pieces than a proposal can have: give it fewer tensors.
		TooManyPieces,
		/// Only the submitter may do this.
		NotSubmitter,
		/// The federation has ended.
		HasEnded,
		/// No aggregate is waited for now.
		NotAggregating,
		/// No complete blob has this content and the length of the model's file: store it first.
		BlobMissing,
		/// The pieces are more or fewer than the model has.
		BadPieces,
		/// The same aggregate has been proposed.
		AlreadyProposed,
		/// As many proposals stand as there may be: refute those that are false.
		TooManyProposals,
		/// There is no proposal with this number: it was refuted, or the round has its model.
		NoSuchProposal,
		/// The aggregate and each result of the round must be opened, in this order, and nothing else.
		WrongOpenings,
		/// An opening does not lead to the root of its file.
		BadOpening,
		/// The model has no piece with this number.
		NoSuchPiece,
		/// What was opened is as the proposal says.
		NotRefuted,
		/// The federation is not waiting for anything that is overdue.
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
			assert!(T::RetryBlocks::get() > 0, "RetryBlocks: at least one");
			assert!(T::MinRoundBlocks::get() > 0, "MinRoundBlocks: at least one");
			assert!(T::AggregateBlocks::get() > 0, "AggregateBlocks: at least one");
			assert!(T::RetentionBlocks::get() > 0, "RetentionBlocks: at least one");
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Opens a federation: in each round every part of the data is a job of the caller, with the template's
		/// specification and these terms. The money of a job is held when it is posted, round by round; a part
		/// for which the caller has too little does not answer. The fees for all aggregates are held now,
		/// and a deposit for the record.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::open(parts.len() as u32)
			.saturating_add(T::Jobs::post_weight()))]
		pub fn open(
			origin: OriginFor<T>,
			template: Box<JobSpec>,
			parts: Parts,
			terms: Terms,
			plan: Plan,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_open(who, *template, parts, terms, plan)
		}

		/// Stops the caller's federation. Jobs that run go on, and are paid; no other is posted. What is held
		/// for aggregates returns.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::cancel())]
		pub fn cancel(origin: OriginFor<T>, federation: FederationId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_cancel(who, federation)
		}

		/// Proposes the aggregate of a round, a complete blob with this content hash; anyone may. `pieces` are the
		/// values of the pieces of its tensors, from which the state hash of its parameters follows. A deposit is
		/// held until the round has a model. Where this is the first in order that is not refuted in its time, the
		/// caller is paid the fee.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::propose(pieces.len() as u32))]
		pub fn propose(
			origin: OriginFor<T>,
			federation: FederationId,
			content: H256,
			pieces: Pieces,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_propose(who, federation, content, pieces)
		}

		/// Refutes a proposal by one chunk of 1 KiB, which is opened in the aggregate and in the result of each
		/// part of the round, in the order of the parts. Half of the proposal's deposit is the caller's, and half
		/// is burned.
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::refute())]
		pub fn refute(
			origin: OriginFor<T>,
			federation: FederationId,
			proposal: u32,
			chunk: u64,
			openings: Openings,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_refute(who, federation, proposal, chunk, &openings)
		}

		/// Refutes a proposal by one piece of its tensors, whose value is not that which was said. `bytes` are
		/// the chunks of the file that hold the piece, and `siblings` lead from them to its content hash.
		#[pallet::call_index(4)]
		#[pallet::weight(T::WeightInfo::refute_piece())]
		pub fn refute_piece(
			origin: OriginFor<T>,
			federation: FederationId,
			proposal: u32,
			piece: u32,
			bytes: PieceBytes,
			siblings: PieceSiblings,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_refute_piece(who, federation, proposal, piece, &bytes, &siblings)
		}

		/// Serves a federation that blocks had no room for. Anyone may call this; it costs nothing where it was
		/// overdue.
		#[pallet::call_index(5)]
		#[pallet::weight(Pallet::<T>::worst_advance())]
		pub fn poke(origin: OriginFor<T>, federation: FederationId) -> DispatchResultWithPostInfo {
			ensure_signed(origin)?;
			let weight = Self::do_poke(federation)?;
			Ok(PostDispatchInfo { actual_weight: Some(weight), pays_fee: Pays::No })
		}
	}
}
