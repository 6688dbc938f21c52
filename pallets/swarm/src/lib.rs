//! Swarms: peers that train one model without a coordinator, and are paid for what makes it better.
//!
//! ```text
//!            claim                 seed                stored             all said, or late
//!   Idle --> Collecting --> Drawing --> Showing --> Counting --> Challenging --> Settling --> Idle
//!     |                        ^           |                                                  |
//!     |                        +-----------+ withheld, three times at most                    |
//!     +--> Ended <----------------------------------------------------------------------------+
//!          after the plan's end
//! ```
//!
//! - [`opening`]: what is opened, and slices that are added.
//! - [`peers`]: who joins, announces, pays and leaves.
//! - [`claims`]: commitments to gains, and what they turn out to be about.
//! - [`rounds`]: the steps of a round; [`settling`]: what becomes of each claim.
//! - [`outer`]: contributions to outer steps, and shares in what they bring.
//! - [`disputes`]: challenges of counts by jobs of the market, and refutations of files by openings.
//! - [`money`]: what is held, paid and lost; [`agenda`]: the clock; [`views`]: what clients ask.
//!
//! The terms are those of [`trainyard_protocol::swarm`]. Jobs, blobs and randomness belong to other pallets
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
pub mod disputes;
mod events;
#[cfg(test)]
mod mock;
pub mod money;
pub mod opening;
pub mod outer;
pub mod peers;
pub mod rounds;
pub mod settling;
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
	use frame_support::{
		dispatch::PostDispatchInfo, pallet_prelude::*, traits::fungible, weights::Weight,
	};
	use frame_system::pallet_prelude::*;
	use sp_core::ed25519;
	use trainyard_pallet_support::agenda::Clock;
	use trainyard_program::spec::JobSpec;
	use trainyard_protocol::{
		accusation::Leaf,
		federation::Pieces,
		job::{Balance, BlockNumber},
		swarm::{Brought, Count, Model, Plan, SwarmId},
		JobId, Text, H256,
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
		/// The currency of rewards and deposits.
		type Currency: fungible::Mutate<Self::AccountId, Balance = Balance>
			+ fungible::MutateHold<Self::AccountId, Reason = Self::RuntimeHoldReason>;

		/// The runtime's reasons for holds.
		type RuntimeHoldReason: From<HoldReason>;

		/// The market, which measures models whose counts are challenged.
		type Jobs: PostedJobs<Self::AccountId>;

		/// Models and slices on chain.
		type Blobs: AwaitedBlobs<Self::AccountId>;

		/// What slices are drawn by.
		type Beacon: Beacon;

		/// Weight of a block's beginning that may go into this pallet's work. At least
		/// [`Pallet::worst_step`], or nothing would ever be served.
		type ServiceWeight: Get<Weight>;

		/// Blocks between two looks at what others do.
		#[pallet::constant]
		type PollBlocks: Get<BlockNumber>;

		/// Least blocks for claims, and for tickets.
		#[pallet::constant]
		type MinBlocks: Get<BlockNumber>;

		/// Least blocks of the stages in which somebody has to look at what others did: for showing, counting and
		/// challenging.
		type MinWindow: Get<BlockNumber>;

		/// Most blocks of a stage, and for tickets.
		#[pallet::constant]
		type MaxBlocks: Get<BlockNumber>;

		/// Most blocks of a swarm.
		#[pallet::constant]
		type MaxLife: Get<BlockNumber>;

		/// Blocks for which the record of a swarm is kept that has ended.
		#[pallet::constant]
		type RetentionBlocks: Get<BlockNumber>;

		/// Least fee of a claim.
		#[pallet::constant]
		type MinClaimFee: Get<Balance>;

		/// Least deposit of a challenge, besides the money of its job; a quarter of the stake where that is more.
		#[pallet::constant]
		type ChallengeDeposit: Get<Balance>;

		/// Deposit for the record of a peer.
		#[pallet::constant]
		type PeerDeposit: Get<Balance>;

		/// Deposit for the record of a swarm, besides that for its bytes.
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
		/// What a swarm can pay.
		Budget,
		/// The deposit for the record of a swarm.
		Record,
		/// The deposit of a slice.
		Slice,
		/// The deposit for the record of a peer.
		Peer,
		/// What claims against a peer can take.
		Purse,
		/// Stake and fee of a claim.
		Claim,
		/// The deposit of a challenge.
		Challenge,
	}

	/// Number of the next swarm.
	#[pallet::storage]
	pub type NextSwarm<T> = StorageValue<_, SwarmId, ValueQuery>;

	/// Every swarm, until it ended and was forgotten.
	#[pallet::storage]
	pub type Swarms<T: Config> = StorageMap<_, Twox64Concat, SwarmId, Swarm<T::AccountId>>;

	/// What is trained, which never changes.
	#[pallet::storage]
	pub type Templates<T> = StorageMap<_, Twox64Concat, SwarmId, JobSpec>;

	/// The slices that wait, that are measured by, and the last ones that were shown.
	#[pallet::storage]
	pub type Slices<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		SwarmId,
		Twox64Concat,
		u32,
		Slice<<T as frame_system::Config>::AccountId>,
	>;

	/// The peers, by account.
	#[pallet::storage]
	pub type Peers<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		SwarmId,
		Blake2_128Concat,
		T::AccountId,
		Peer<<T as frame_system::Config>::AccountId>,
	>;

	/// Whose key that is.
	#[pallet::storage]
	pub type Keys<T: Config> =
		StorageDoubleMap<_, Twox64Concat, SwarmId, Blake2_128Concat, H256, T::AccountId>;

	/// Who announced a model first, as long as it is among its last ones.
	#[pallet::storage]
	pub type Announced<T: Config> =
		StorageDoubleMap<_, Twox64Concat, SwarmId, Blake2_128Concat, H256, T::AccountId>;

	/// The claims of the running round.
	#[pallet::storage]
	pub type Claims<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		SwarmId,
		Twox64Concat,
		u32,
		Claim<<T as frame_system::Config>::AccountId>,
	>;

	/// The pieces of the models of claims, by swarm, and by claim and model.
	#[pallet::storage]
	pub type SaidPieces<T> =
		StorageDoubleMap<_, Twox64Concat, SwarmId, Twox64Concat, (u32, Which), Pieces>;

	/// The models in doubt in the running round.
	#[pallet::storage]
	pub type Doubts<T: Config> =
		StorageMap<_, Twox64Concat, SwarmId, DoubtsOf<T::AccountId>, ValueQuery>;

	/// Contributions to the outer steps of a swarm that are remembered, in the order in which they came.
	#[pallet::storage]
	pub type Contributions<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		SwarmId,
		Twox64Concat,
		u32,
		ContributionsOf<T::AccountId>,
		ValueQuery,
	>;

	/// Height at which each swarm is looked at next; of one that ended, at which it is forgotten.
	#[pallet::storage]
	pub type Due<T> = StorageMap<_, Twox64Concat, SwarmId, BlockNumber>;

	/// The same by height.
	#[pallet::storage]
	pub type Agenda<T> = StorageDoubleMap<_, Twox64Concat, BlockNumber, Twox64Concat, SwarmId, ()>;

	/// Least height whose agenda may not be empty.
	#[pallet::storage]
	pub type Cursor<T> = StorageValue<_, BlockNumber>;

	#[pallet::error]
	pub enum Error<T> {
		/// There is no swarm with this number, or it was forgotten.
		NoSuchSwarm,
		/// There are no numbers left.
		TooMany,
		/// The template with the data of a slice breaks a rule; the error inside says which.
		InvalidSpec(SpecFault),
		/// The reward breaks a rule; the error inside says which.
		InvalidReward(RewardFault),
		/// The template names no initial model on chain that is complete and the caller's: draw one, store it, and
		/// name it.
		NoInitialModel,
		/// A job that measures a model has one segment: set the steps of the template to its checkpoint interval
		/// at most.
		TooManySegments,
		/// Stages and tickets have at least `MinBlocks` blocks, those for showing, counting and challenging at least
		/// as many as the chain gives for looking at something; and all have `MaxBlocks` at most.
		BadBlocks,
		/// The end lies after the present block, `MaxLife` blocks at most.
		BadEnd,
		/// A swarm has room for one peer at least, and for 64 at most where they take outer steps.
		BadPeers,
		/// A budget is what a swarm pays by `Budget`, and only by that.
		BadBudget,
		/// The fee of a claim is below `MinClaimFee`.
		FeeTooLow,
		/// The rule of averaging is not valid; the error inside says what of it.
		InvalidAveraging(AveragingFault),
		/// Outer steps need noise, or one training could be contributed by many: set `training.input_noise`, or
		/// for tokens a dropout behind the embedding.
		NoNoise,
		/// What outer steps bring is paid from a budget, and by nobody else.
		OuterNeedsBudget,
		/// The stake is at least twice what a job costs that measures a model, so that who shows that a count is
		/// false has that back.
		StakeTooLow,
		/// The deposit of a slice is at least the stake, or an owner would withhold it rather than pay.
		SliceDepositTooLow,
		/// An amount exceeds the range of amounts.
		AmountOverflow,
		/// The model has more pieces than can be said: give it fewer tensors.
		TooManyPieces,
		/// Only who opened the swarm may do this.
		NotOpener,
		/// Slices are files of which all are said to be on chain, where they are stored when they were drawn.
		NotOnChain,
		/// As many slices wait as there may be, or as many of this peer.
		TooManySlices,
		/// All slices have as many rows as the first, and files that are no longer: so what a challenge costs is
		/// known.
		OtherSlices,
		/// A slice has 100 labels at least.
		TooFewLabels,
		/// A call adds one slice at least.
		NoSlices,
		/// The swarm has ended, or takes no claims any more.
		HasEnded,
		/// The key did not sign that it speaks for this account.
		BadSignature,
		/// The account is a peer of this swarm already.
		IsPeer,
		/// The account is not a peer of this swarm: join first.
		NotPeer,
		/// There are as many peers as there may be.
		TooManyPeers,
		/// There is no such role.
		NoSuchRole,
		/// In a private swarm nobody serves data.
		IsPrivate,
		/// A peer announced this model before.
		IsAnnounced,
		/// As many models of this peer are remembered as there may be, and tickets for the oldest may still be
		/// claimed by: announce fewer.
		TooManyModels,
		/// The peer is leaving.
		IsLeaving,
		/// The peer can leave later: when the time for its tickets is over, and no round runs that began before.
		TooSoon,
		/// There is nothing to pay.
		NothingToPay,
		/// Nobody pays itself.
		OwnTicket,
		/// The ticket has expired, or holds for longer than the plan allows.
		BadExpiry,
		/// As many tickets are remembered as there may be, and none of them has expired: wait.
		TooManyTickets,
		/// No claims are taken in now: a round runs. Claim in the next one.
		RoundRuns,
		/// There are as many claims in this round as there may be, or as many of this peer: claim in the next one.
		TooManyClaims,
		/// No slice waits to be drawn.
		NothingToDraw,
		/// Nothing is counted now.
		NotCounting,
		/// There is no claim with this number in the running round, or it was refuted.
		NoSuchClaim,
		/// The claim is somebody else's.
		NotClaimant,
		/// It was said already what the claim is about.
		WasSaid,
		/// The commitment was to something else.
		WrongCommitment,
		/// The pieces are more or fewer than the model has.
		BadPieces,
		/// The counts are not of as many labels as the slice has.
		BadCount,
		/// By the plan a peer pays: name its ticket.
		NoTicket,
		/// By the plan the budget pays: name no ticket.
		NeedsNoTicket,
		/// The ticket is of another swarm, for somebody else, or was claimed before.
		WrongTicket,
		/// The claimant has not announced the model that the ticket names, or not first.
		NotAnnounced,
		/// Nothing can be challenged now.
		NotChallenging,
		/// No claim of the round says anything of this model.
		NothingSaid,
		/// A job measures this model already, or has.
		IsChallenged,
		/// The market has not measured this model so often that no claim with it is paid.
		IsUnmeasurable,
		/// More models are in doubt than a round can have.
		TooManyDoubts,
		/// No job measures this model.
		NotChallenged,
		/// The job has no accepted result, or not yet.
		NoResult,
		/// The leaf is not that of the start of the job's accepted result.
		BadLeaf,
		/// An opening does not lead to the root of its file.
		BadOpening,
		/// The model has no piece with this number.
		NoSuchPiece,
		/// What was opened is as the claim says.
		NotRefuted,
		/// A count of the claim was found false already.
		IsRefuted,
		/// The swarm is not waiting for anything that is overdue.
		NotOverdue,
		/// The peers of this swarm mix by pairs, and take no outer steps.
		NoOuterSteps,
		/// The seed of the swarm has not formed yet: wait some blocks.
		NoSeed,
		/// This is not the time of that outer step, or not for this part of it.
		NotNow,
		/// A contribution begins with the model of the outer step that it is for, or of one of the seven before.
		WrongBase,
		/// The peer contributed to this outer step before.
		HasContributed,
		/// There are as many contributions to this outer step as there may be.
		TooManyContributions,
		/// Who did not contribute to an outer step does not vouch for what others did.
		NotContributor,
		/// The contributions are others than the caller saw, or come in another order: look again.
		OtherContributions,
		/// Bits are set that stand for no contribution.
		WrongVouches,
		/// Nothing is owed to the peer for outer steps, or its limit is reached.
		NothingToCollect,
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
			assert!(T::MinBlocks::get() > 0, "MinBlocks: at least one");
			assert!(T::MaxBlocks::get() >= T::MinBlocks::get(), "MaxBlocks: at least MinBlocks");
			assert!(T::RetentionBlocks::get() > 0, "RetentionBlocks: at least one");
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Opens a swarm whose peers train what the template says, from its initial model, and measure gain by
		/// these slices, which the caller stores on chain when they are drawn. The budget is held, a deposit for
		/// each slice, and one for the record.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::open(slices.len() as u32)
			.saturating_add(T::Jobs::post_weight()))]
		pub fn open(
			origin: OriginFor<T>,
			template: Box<JobSpec>,
			slices: NewSlices,
			plan: Plan,
			#[pallet::compact] budget: Balance,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_open(who, *template, slices, plan, budget)
		}

		/// Adds slices, which the caller stores on chain when they are drawn; a deposit is held for each. Who
		/// opened the swarm may, and where the plan says so each peer.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::add_slices(slices.len() as u32))]
		pub fn add_slices(
			origin: OriginFor<T>,
			swarm: SwarmId,
			slices: NewSlices,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_add_slices(who, swarm, slices)
		}

		/// Makes the caller a peer for which this key speaks; the key signed
		/// [`joining`](trainyard_protocol::swarm::joining). Where another account has the key, that account keeps
		/// it, and an event shows both. A deposit is held.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::join())]
		pub fn join(
			origin: OriginFor<T>,
			swarm: SwarmId,
			key: H256,
			signature: ed25519::Signature,
			roles: u8,
			location: Text,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_join(who, swarm, key, &signature, roles, location)
		}

		/// Changes what the caller does in a swarm, and where it can be reached.
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::update())]
		pub fn update(
			origin: OriginFor<T>,
			swarm: SwarmId,
			roles: u8,
			location: Text,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_update(who, swarm, roles, location)
		}

		/// Says that the caller has a model with this root. Who says so first is its maker; of each peer the last
		/// sixteen are remembered.
		#[pallet::call_index(4)]
		#[pallet::weight(T::WeightInfo::announce())]
		pub fn announce(origin: OriginFor<T>, swarm: SwarmId, root: H256) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_announce(who, swarm, root)
		}

		/// Puts more into the caller's purse: what claims by its tickets can take.
		#[pallet::call_index(5)]
		#[pallet::weight(T::WeightInfo::fund())]
		pub fn fund(
			origin: OriginFor<T>,
			swarm: SwarmId,
			#[pallet::compact] amount: Balance,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_fund(who, swarm, amount)
		}

		/// Pays other peers for the caller's tickets, from its free balance. A claim by a ticket brings only what
		/// was not paid for it.
		#[pallet::call_index(6)]
		#[pallet::weight(T::WeightInfo::pay(payments.len() as u32))]
		pub fn pay(
			origin: OriginFor<T>,
			swarm: SwarmId,
			payments: Payments<T::AccountId>,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_pay(who, swarm, payments)
		}

		/// Says that the caller leaves; and, called again after the time for its tickets, lets it go with purse and
		/// deposit. Of a swarm that has ended it can go at once.
		#[pallet::call_index(7)]
		#[pallet::weight(T::WeightInfo::leave())]
		pub fn leave(origin: OriginFor<T>, swarm: SwarmId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_leave(who, swarm)
		}

		/// Commits to a claim by [`commitment`](trainyard_protocol::swarm::commitment). Stake and fee are held.
		/// Commit before you serve the model, or somebody else can claim what it is made of.
		#[pallet::call_index(8)]
		#[pallet::weight(T::WeightInfo::claim())]
		pub fn claim(origin: OriginFor<T>, swarm: SwarmId, commitment: H256) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_claim(who, swarm, commitment)
		}

		/// Says what a claim of the caller is about, when the slice is on chain that was drawn. Whoever says
		/// nothing loses the stake, and whose models are not complete on chain when the time for this is over.
		#[pallet::call_index(9)]
		#[pallet::weight(T::WeightInfo::say(Pallet::<T>::count_pieces(said)))]
		pub fn say(
			origin: OriginFor<T>,
			swarm: SwarmId,
			claim: u32,
			said: Box<Said<T::AccountId>>,
			salt: [u8; 32],
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_say(who, swarm, claim, *said, &salt)
		}

		/// Challenges what was said of a model: a job of the caller measures it by the slice, by the terms of the
		/// plan with this audit fee. Where it counts otherwise, half of the stake of each claim that is false is
		/// the caller's. Where it counts the same, or the caller stops the job, or nobody shows what it counted,
		/// the deposit is lost.
		#[pallet::call_index(10)]
		#[pallet::weight(T::WeightInfo::challenge().saturating_add(T::Jobs::post_weight()))]
		pub fn challenge(
			origin: OriginFor<T>,
			swarm: SwarmId,
			model: Model,
			#[pallet::compact] audit_fee: Balance,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_challenge(who, swarm, model, audit_fee)
		}

		/// Shows what the job that measures this model counted: leaf 0 of its accepted result, under the root
		/// that its audit accepted. Anyone may.
		#[pallet::call_index(11)]
		#[pallet::weight(T::WeightInfo::testify().saturating_add(T::Jobs::standing_weight()))]
		pub fn testify(
			origin: OriginFor<T>,
			swarm: SwarmId,
			model: Model,
			leaf: Leaf,
		) -> DispatchResult {
			ensure_signed(origin)?;
			Self::do_testify(swarm, model, &leaf)
		}

		/// Refutes a claim by one piece of the tensors of one of its models, whose value is not that which was
		/// said. `bytes` are the chunks of the file that hold the piece, and `siblings` lead from them to its
		/// content hash. Half of the stake is the caller's.
		#[pallet::call_index(12)]
		#[pallet::weight(T::WeightInfo::refute_piece())]
		pub fn refute_piece(
			origin: OriginFor<T>,
			swarm: SwarmId,
			claim: u32,
			which: Which,
			piece: u32,
			bytes: PieceBytes,
			siblings: PieceSiblings,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_refute_piece(who, swarm, claim, which, piece, &bytes, &siblings)
		}

		/// Refutes a claim by a ticket whose model is not the mean of the two that the ticket names: by one chunk
		/// of 1 KiB of it, of the payer's model and of the remote one. Half of the stake is the caller's.
		#[pallet::call_index(13)]
		#[pallet::weight(T::WeightInfo::refute_mean())]
		pub fn refute_mean(
			origin: OriginFor<T>,
			swarm: SwarmId,
			claim: u32,
			chunk: u64,
			openings: Box<MeanOpenings>,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_refute_mean(who, swarm, claim, chunk, &openings)
		}

		/// Ends the caller's swarm when the time for tickets is over, if that is sooner than its plan says. A round
		/// that runs then goes on to its end.
		#[pallet::call_index(14)]
		#[pallet::weight(T::WeightInfo::close())]
		pub fn close(origin: OriginFor<T>, swarm: SwarmId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_close(who, swarm)
		}

		/// Serves a swarm that blocks had no room for. Anyone may call this; it costs nothing where it was overdue.
		#[pallet::call_index(15)]
		#[pallet::weight(Pallet::<T>::worst_advance())]
		pub fn poke(origin: OriginFor<T>, swarm: SwarmId) -> DispatchResultWithPostInfo {
			ensure_signed(origin)?;
			let weight = Self::do_poke(swarm)?;
			Ok(PostDispatchInfo { actual_weight: Some(weight), pays_fee: Pays::No })
		}

		/// Commits the caller to a contribution to the outer step that runs, while that trains: one for each peer.
		#[pallet::call_index(16)]
		#[pallet::weight(T::WeightInfo::contribute())]
		pub fn contribute(
			origin: OriginFor<T>,
			swarm: SwarmId,
			step: u32,
			brought: Brought,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_contribute(who, swarm, step, brought)
		}

		/// Vouches for contributions to the outer step that runs, after its training: a bit for each of them, in
		/// the order that [`list_of`](trainyard_protocol::swarm::list_of) names, whose update the caller has and finds right. Said again, the last word counts. Who did not
		/// contribute does not vouch.
		#[pallet::call_index(17)]
		#[pallet::weight(T::WeightInfo::vouch())]
		pub fn vouch(
			origin: OriginFor<T>,
			swarm: SwarmId,
			step: u32,
			list: H256,
			vouches: u64,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_vouch(who, swarm, step, list, vouches)
		}

		/// Pays the caller what its shares in outer steps brought.
		#[pallet::call_index(18)]
		#[pallet::weight(T::WeightInfo::collect())]
		pub fn collect(origin: OriginFor<T>, swarm: SwarmId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_collect(who, swarm)
		}
	}
}
