//! Bets on results: standing offers of stakes at odds, and the bets that somebody took of them.
//!
//! ```text
//! offer -> stands -> withdrawn, after its notice, or expired -> removed with its last bet
//!            |
//!           take -> runs -> decided by the job, the panel, or nobody | agreed
//! ```
//!
//! - [`offers`]: what is offered, taken and withdrawn.
//! - [`settling`]: who decides a bet, and what follows; [`agreeing`]: both sides end it, and what a panel says.
//! - [`money`]: stakes and deposits; [`agenda`]: the clock; [`views`]: what clients ask.
//!
//! What became of a result belongs to other pallets behind `trainyard_traits::Results`. Nothing here moves what they
//! decide: no odds lower the number of seats, and nothing that was settled unwinds.

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
pub mod agreeing;
#[cfg(feature = "runtime-benchmarks")]
mod benchmarking;
mod events;
#[cfg(test)]
mod mock;
pub mod money;
pub mod offers;
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
	use frame_support::{pallet_prelude::*, traits::fungible, weights::Weight};
	use frame_system::pallet_prelude::*;
	use trainyard_pallet_support::agenda::Clock;
	use trainyard_protocol::{
		bets::{Bet, BetEnding, BetId, Judgement, Offer, OfferId, Offered, Side, Statement},
		job::{Balance, BlockNumber},
		JobId,
	};
	use trainyard_traits::Results;

	/// The storage of this pallet's first release.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(1);

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs of its runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<RuntimeEvent: From<Event<Self>>> {
		/// The currency of stakes and deposits.
		type Currency: fungible::Mutate<Self::AccountId, Balance = Balance>
			+ fungible::MutateHold<Self::AccountId, Reason = Self::RuntimeHoldReason>;

		/// The runtime's reasons for holds.
		type RuntimeHoldReason: From<HoldReason>;

		/// What became of results.
		type Results: Results<Self::AccountId>;

		/// Who has the stakes that nobody may win.
		type Jackpot: Get<Self::AccountId>;

		/// Weight of a block's beginning that may go into this pallet's work. At least
		/// [`Pallet::worst_step`], or nothing would ever be served.
		type ServiceWeight: Get<Weight>;

		/// Blocks between two looks at a bet.
		#[pallet::constant]
		type PollBlocks: Get<BlockNumber>;

		/// A bet that was taken in so many blocks before it was decided against its maker by what others may have seen
		/// before is void.
		#[pallet::constant]
		type LateBlocks: Get<BlockNumber>;

		/// Most blocks for which an offer stands, or for a panel, or for which an offer can be taken after it was
		/// withdrawn.
		#[pallet::constant]
		type MaxBlocks: Get<BlockNumber>;

		/// Least stake of either side of a bet.
		#[pallet::constant]
		type MinStake: Get<Balance>;

		/// Deposit for the record of an offer, until it is removed.
		#[pallet::constant]
		type OfferDeposit: Get<Balance>;

		/// Deposit for the record of a bet, until it ends.
		#[pallet::constant]
		type BetDeposit: Get<Balance>;

		/// Weights of the calls and of the steps of the hook.
		type WeightInfo: WeightInfo;
	}

	/// Why this pallet holds funds.
	#[pallet::composite_enum]
	pub enum HoldReason {
		/// Stakes of offers and bets.
		Stake,
		/// Deposits for records.
		Record,
	}

	/// Number of the next offer.
	#[pallet::storage]
	pub type NextOffer<T> = StorageValue<_, OfferId, ValueQuery>;

	/// Number of the next bet.
	#[pallet::storage]
	pub type NextBet<T> = StorageValue<_, BetId, ValueQuery>;

	/// Offers that stand, or of which a bet runs.
	#[pallet::storage]
	pub type Offers<T: Config> = StorageMap<_, Twox64Concat, OfferId, Offer<T::AccountId>>;

	/// Bets that run.
	#[pallet::storage]
	pub type Bets<T: Config> = StorageMap<_, Twox64Concat, BetId, Bet<T::AccountId>>;

	/// What is bet on each statement.
	#[pallet::storage]
	pub type Books<T> = StorageMap<_, Blake2_128Concat, Statement, Book>;

	/// Offers by what they are about.
	#[pallet::storage]
	pub type OffersOn<T> =
		StorageDoubleMap<_, Blake2_128Concat, Statement, Twox64Concat, OfferId, ()>;

	/// How many statements there are about each job.
	#[pallet::storage]
	pub type Statements<T> = StorageMap<_, Twox64Concat, JobId, u32, ValueQuery>;

	/// Trainers that were convicted while there was a statement about their job.
	#[pallet::storage]
	pub type Convictions<T: Config> =
		StorageDoubleMap<_, Twox64Concat, JobId, Blake2_128Concat, T::AccountId, Convicted>;

	/// Height at which each offer and bet is looked at next.
	#[pallet::storage]
	pub type Due<T> = StorageMap<_, Twox64Concat, Look, BlockNumber>;

	/// The same by height.
	#[pallet::storage]
	pub type Agenda<T> = StorageDoubleMap<_, Twox64Concat, BlockNumber, Twox64Concat, Look, ()>;

	/// Least height whose agenda may not be empty.
	#[pallet::storage]
	pub type Cursor<T> = StorageValue<_, BlockNumber>;

	#[pallet::error]
	pub enum Error<T> {
		/// There are no numbers left for offers or bets.
		TooMany,
		/// Each part of the odds is 1 to 1,000,000.
		BadOdds,
		/// Either side of a bet stakes `MinStake` at least.
		StakeTooSmall,
		/// An offer stands to a block to come, `MaxBlocks` from now at most.
		BadExpiry,
		/// An offer can be taken for `MaxBlocks` at most after it was withdrawn.
		BadNotice,
		/// A panel has members, each once, of which more than half decide in 1 to `MaxBlocks` blocks.
		BadPanel,
		/// What no arithmetic decides needs a panel.
		NoArbiter,
		/// Nobody judges bets of its own.
		OnPanel,
		/// An amount exceeds its range.
		AmountOverflow,
		/// Nobody revealed a result with this bundle root for this job, or the job is not known any more.
		NoSuchResult,
		/// The result is not audited yet.
		NotAudited,
		/// The result is decided, or about to be.
		AlreadyDecided,
		/// There is no offer with this number, or it was removed.
		NoSuchOffer,
		/// The offer was withdrawn, has expired, or its panel votes.
		NotStanding,
		/// The offer is for somebody else.
		NotForYou,
		/// Nobody bets with itself.
		OwnOffer,
		/// The offer is on that side.
		WrongSide,
		/// There is not as much left of the offer.
		NotAsMuchLeft,
		/// Others than those who delivered the result would stake more on it than a conviction costs these: they could
		/// let themselves be convicted for the sake of a bet.
		BeyondDeposit,
		/// Only the maker may do this.
		NotMaker,
		/// The offer was withdrawn already.
		AlreadyWithdrawn,
		/// There is no bet with this number, or it has ended.
		NoSuchBet,
		/// Only the two sides of the bet may do this.
		NotParty,
		/// There is less in both stakes.
		BadSplit,
		/// Nobody has decided the bet.
		NotDecided,
		/// Only members of the offer's panel may do this.
		NotOnPanel,
		/// The panel judges what the job does not decide, and in its time.
		NotPanelsTurn,
		/// The panel has decided.
		AlreadyJudged,
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
			assert!(T::MaxBlocks::get() > 0, "MaxBlocks: at least one");
			assert!(T::MinStake::get() > 0, "MinStake: at least one");
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Offers a stake on a side of a statement at odds, or, with no side, on the other side of whatever the taker
		/// says: that solicits. The stake is held until it is taken or the offer ends, and a deposit for the record.
		/// A result can be bet on while it is audited; with late proof also in the week of that.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::offer().saturating_add(T::Results::standing_weight()))]
		pub fn offer(
			origin: OriginFor<T>,
			statement: Statement,
			offered: Offered<T::AccountId>,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_offer(who, statement, offered)
		}

		/// Takes so much of an offer: `amount` is the caller's stake, and `side` its side. With that it accepts the
		/// offer's panel.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::take().saturating_add(T::Results::standing_weight()))]
		pub fn take(
			origin: OriginFor<T>,
			offer: OfferId,
			side: Side,
			amount: Balance,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_take(who, offer, side, amount)
		}

		/// Withdraws what nobody took of the caller's offer: after its notice, or at once where it cannot be taken any
		/// more. Bets that were taken of it go on.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::withdraw().saturating_add(T::Results::standing_weight()))]
		pub fn withdraw(origin: OriginFor<T>, offer: OfferId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_withdraw(who, offer)
		}

		/// Says that the bet may end now, with `to_maker` of both stakes for the maker and the rest for the taker. It
		/// ends when both sides say the same. `None` takes the caller's word back.
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::agree())]
		pub fn agree(
			origin: OriginFor<T>,
			bet: BetId,
			to_maker: Option<Balance>,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_agree(who, bet, to_maker)
		}

		/// Says what a member of an offer's panel thinks of its statement, `None` that it cannot be decided. Of a
		/// result only what the job does not decide. With the first vote the offer cannot be taken any more.
		#[pallet::call_index(4)]
		#[pallet::weight(T::WeightInfo::judge().saturating_add(T::Results::standing_weight()))]
		pub fn judge(origin: OriginFor<T>, offer: OfferId, judgement: Judgement) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_judge(who, offer, judgement)
		}

		/// Ends a bet that is decided, or that nobody decides any more. Anyone may call this; the hook does so later.
		#[pallet::call_index(5)]
		#[pallet::weight(Pallet::<T>::worst_look())]
		pub fn settle(origin: OriginFor<T>, bet: BetId) -> DispatchResult {
			ensure_signed(origin)?;
			Self::do_settle(bet)
		}
	}
}
