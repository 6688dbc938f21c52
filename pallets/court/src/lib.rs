//! The court: disputes about what was computed, decided by recomputing.
//!
//! Whoever says that a result, or a seat's evidence about one, is false challenges the account that
//! claims it. The [game](trainyard_court::game) narrows the dispute until a piece is left that a block
//! can compute, and the [referee](trainyard_court::referee) computes it. This pallet keeps what was
//! said, the clocks and the money.
//!
//! - Whoever accuses binds itself first and shows of what a block later, see `commits`.
//! - A defendant answers its disputes in the order of its docket, two at a time, see [`docket`] and
//!   `ranks`.
//! - Each side has one clock for all its moves, see [`clocks`]; the agenda serves those that ran out.
//! - Moves are those of the game, see `moves`. What a defendant posted or opened binds it in all
//!   disputes, and is kept once.
//! - A deposit that was lost waits on the defendant's account for its end, see `money`. What a
//!   conviction costs the defendant is said by [`Accused`](trainyard_traits::Accused).
//! - With the conviction of an account all other disputes with it are moot, see `endings`.

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

#[cfg(feature = "runtime-benchmarks")]
mod benchmarking;
pub mod clocks;
mod commits;
mod costs;
pub mod docket;
mod endings;
mod errors;
mod events;
mod load;
#[cfg(test)]
mod mock;
mod money;
mod moves;
mod ranks;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "std", feature = "try-runtime"))]
mod try_state;
mod types;
mod views;
pub mod weights;

use frame_support::pallet_macros::import_section;

pub use moves::JUDGE_AFTER;
pub use pallet::*;
pub use types::*;
pub use weights::WeightInfo;

/// Disputes of a convicted defendant that are ended by one service of the agenda.
pub const CLOSE_STEP: usize = 8;
/// Seats that are given what they won by one service of the agenda.
pub const ACQUIT_STEP: usize = 16;
/// Entries of what was said that are forgotten by one service of the agenda.
pub const FORGET_STEP: u32 = 64;

#[import_section(events::events)]
#[import_section(errors::errors)]
#[frame_support::pallet]
// The macros' own code calls `expect`; the work of this pallet is in the other files.
#[allow(clippy::expect_used)]
pub mod pallet {
	use super::*;
	use crate::{
		docket::{AgeKey, Docket},
		Task,
	};
	use alloc::vec::Vec;
	use frame_support::{
		pallet_prelude::*,
		traits::fungible::{Inspect, Mutate, MutateHold},
	};
	use frame_system::pallet_prelude::*;
	use sp_runtime::SaturatedConversion;
	use trainyard_court::game::{self, Claimed, Judgement, Piece, Place, Roots, Target, Witness};
	use trainyard_pallet_support::agenda::Clock;
	use trainyard_protocol::{
		job::{Balance, BlockNumber},
		JobId, H256,
	};
	use trainyard_traits::{
		Accusation, Accused, Court, CourtRoom, DisputeId, JobDeeds, Stakes, Standing,
	};

	/// The storage of this pallet's first release.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(1);

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs of its runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<RuntimeEvent: From<Event<Self>>> {
		/// Weights of this pallet's calls.
		type WeightInfo: WeightInfo;

		/// The currency of deposits.
		type Currency: Inspect<Self::AccountId, Balance = Balance>
			+ Mutate<Self::AccountId>
			+ MutateHold<Self::AccountId, Reason = Self::RuntimeHoldReason>;

		/// The runtime's overarching hold reason.
		type RuntimeHoldReason: From<HoldReason>;

		/// Whom the court accuses.
		type Accused: Accused<Self::AccountId>;

		/// What is remembered of those who accuse and are accused.
		type Deeds: JobDeeds<Self::AccountId>;

		/// What seats have at stake when they accuse.
		type Stakes: Stakes<Self::AccountId>;

		/// The room that blocks keep for moves.
		type Room: CourtRoom;

		/// The account for deposits that nobody else gets. It must exist (hold the existential
		/// deposit), or small ones cannot be moved to it.
		type Jackpot: Get<Self::AccountId>;

		/// Ticks from a commitment to the last block in which it can be shown.
		#[pallet::constant]
		type RevealBlocks: Get<BlockNumber>;

		/// Most weight of a block for clocks that ran out and what follows from them.
		type ServiceWeight: Get<Weight>;
	}

	/// What this pallet holds of somebody's balance.
	#[pallet::composite_enum]
	pub enum HoldReason {
		/// Deposit of a challenge: its challenger's, or where it lost the defendant's, until that is
		/// settled.
		Challenge,
	}

	/// What accounts are bound to accuse of, by the number of the dispute.
	#[pallet::storage]
	pub type Commitments<T: Config> =
		StorageMap<_, Twox64Concat, DisputeId, CommitmentOf<T>, OptionQuery>;

	/// The number of the commitment of an account, by job.
	#[pallet::storage]
	pub type CommittedBy<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		T::AccountId,
		DisputeId,
		OptionQuery,
	>;

	/// The disputes that have not ended.
	#[pallet::storage]
	pub type Disputes<T: Config> =
		StorageMap<_, Twox64Concat, DisputeId, DisputeOf<T>, OptionQuery>;

	/// The dispute in which somebody accuses a defendant of a target: by defendant, who, and target.
	#[pallet::storage]
	pub type Suits<T: Config> = StorageNMap<
		_,
		(
			NMapKey<Blake2_128Concat, DefendantOf<T>>,
			NMapKey<Blake2_128Concat, T::AccountId>,
			NMapKey<Blake2_128Concat, Target>,
		),
		DisputeId,
		OptionQuery,
	>;

	/// The next number of a dispute.
	#[pallet::storage]
	pub type NextDispute<T> = StorageValue<_, DisputeId, ValueQuery>;

	/// The defences of each account, of all that it is accused of.
	#[pallet::storage]
	pub type Loads<T: Config> = StorageMap<_, Blake2_128Concat, T::AccountId, Load, ValueQuery>;

	/// The disputes of each defendant that take part.
	#[pallet::storage]
	pub type Dockets<T: Config> =
		StorageMap<_, Blake2_128Concat, DefendantOf<T>, Docket, ValueQuery>;

	/// The disputes of each defendant that wait for a place in its docket, in the order of their ages.
	#[pallet::storage]
	pub type Aside<T: Config> = StorageDoubleMap<
		_,
		Blake2_128Concat,
		DefendantOf<T>,
		Identity,
		AgeKey,
		DisputeId,
		OptionQuery,
	>;

	/// What defendants posted, by job, defendant and place.
	#[pallet::storage]
	pub type Posts<T: Config> = StorageNMap<
		_,
		(
			NMapKey<Twox64Concat, JobId>,
			NMapKey<Blake2_128Concat, DefendantOf<T>>,
			NMapKey<Blake2_128Concat, Place>,
		),
		Roots,
		OptionQuery,
	>;

	/// What defendants opened, by job, defendant and place.
	#[pallet::storage]
	pub type Opened<T: Config> = StorageNMap<
		_,
		(
			NMapKey<Twox64Concat, JobId>,
			NMapKey<Blake2_128Concat, DefendantOf<T>>,
			NMapKey<Blake2_128Concat, Place>,
		),
		game::Opened,
		OptionQuery,
	>;

	/// Where the disputes of each job stand.
	#[pallet::storage]
	pub type Standings<T> = StorageMap<_, Twox64Concat, JobId, Standing, ValueQuery>;

	/// The deposits that challengers lost against each defendant, held on its account.
	#[pallet::storage]
	pub type Won<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		DefendantOf<T>,
		Balance,
		ValueQuery,
	>;

	/// What of [`Won`] seats lost, by their stakes: as long as a seat can be convicted itself, it can be
	/// asked for again.
	#[pallet::storage]
	pub type WonOfSeats<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		DefendantOf<T>,
		Balance,
		ValueQuery,
	>;

	/// Defendants that lost, by job: in which dispute, or none where it was not the court that decided.
	#[pallet::storage]
	pub type Convicted<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		DefendantOf<T>,
		Option<DisputeId>,
		OptionQuery,
	>;

	/// Defendants that lost and whose other disputes are being ended.
	#[pallet::storage]
	pub type Closing<T: Config> =
		StorageMap<_, Twox64Concat, DisputeId, DefendantOf<T>, OptionQuery>;

	/// Blocks so far in which the court's room was not full.
	#[pallet::storage]
	pub type Ticks<T> = StorageValue<_, u32, ValueQuery>;

	/// The agenda: tasks by the height at which they are looked at.
	#[pallet::storage]
	pub type Agenda<T> =
		StorageDoubleMap<_, Twox64Concat, BlockNumber, Twox64Concat, Task, (), OptionQuery>;

	/// The height at which each task is looked at.
	#[pallet::storage]
	pub type Due<T> = StorageMap<_, Twox64Concat, Task, BlockNumber, OptionQuery>;

	/// Least height whose agenda may not be empty.
	#[pallet::storage]
	pub type Cursor<T> = StorageValue<_, BlockNumber, OptionQuery>;

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		/// Serves what is due, and answers for the work at the block's end.
		fn on_initialize(now: BlockNumberFor<T>) -> Weight {
			let served = Self::serve(now.saturated_into(), T::ServiceWeight::get());
			served.saturating_add(T::WeightInfo::close_block()).saturating_add(T::Room::weight())
		}

		fn on_finalize(_: BlockNumberFor<T>) {
			Self::close_block();
		}

		#[cfg(feature = "std")]
		fn integrity_test() {
			assert!(T::RevealBlocks::get() > 0, "no time to show a challenge");
			let limit = T::ServiceWeight::get();
			let least = Self::look_weight()
				.saturating_add(Self::look_weight())
				.saturating_add(Self::key_weight())
				.saturating_add(Self::worst_task());
			assert!(
				least.all_lte(limit),
				"ServiceWeight ({limit}) must allow for the largest task ({least})"
			);
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Binds the caller to a challenge to `job`, which it shows later:
		/// `commitment::challenge(genesis, caller, defendant, target, claimed, salt)`. Holds the deposit
		/// of a challenge.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::commit())]
		pub fn commit(origin: OriginFor<T>, job: JobId, hash: H256) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_commit(who, job, hash)
		}

		/// Shows what the caller is bound to, and so begins a dispute. The leaves of the accusation are
		/// those that its target names, with their paths to the defendant's root.
		#[pallet::call_index(1)]
		#[pallet::weight(
			Pallet::<T>::move_weight(T::WeightInfo::challenge())
				.saturating_add(T::Accused::convict_weight())
		)]
		pub fn challenge(
			origin: OriginFor<T>,
			accusation: Accusation<T::AccountId>,
			salt: [u8; 32],
		) -> DispatchResultWithPostInfo {
			let who = ensure_signed(origin)?;
			let used = Self::do_challenge(who, accusation, salt)?;
			Ok(Some(used).into())
		}

		/// Adds `more` to the deposit of a dispute that the caller brought: larger ones are heard first.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::raise())]
		pub fn raise(origin: OriginFor<T>, id: DisputeId, more: Balance) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_raise(who, id, more)
		}

		/// Gives up a dispute that the caller brought. Its deposit is lost, unless the dispute was set
		/// aside, the defendant was convicted in another, or what it claims is gone.
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::withdraw().saturating_add(T::Accused::case_weight()))]
		pub fn withdraw(origin: OriginFor<T>, id: DisputeId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_withdraw(who, id)
		}

		/// Posts digests at `place`, where a dispute with the caller stands.
		#[pallet::call_index(4)]
		#[pallet::weight(Pallet::<T>::move_weight(T::WeightInfo::post()))]
		pub fn post(
			origin: OriginFor<T>,
			id: DisputeId,
			place: Place,
			roots: Roots,
		) -> DispatchResultWithPostInfo {
			let who = ensure_signed(origin)?;
			let results = Self::do_post(who, id, place, roots)?;
			Ok(Some(Self::moved_weight(T::WeightInfo::post(), results)).into())
		}

		/// Opens `place`, where a dispute with the caller stands, and posts what the place takes to which
		/// that leads.
		#[pallet::call_index(5)]
		#[pallet::weight(Pallet::<T>::move_weight(Pallet::<T>::open_weight(opening.contents.len() as u32)))]
		pub fn open(
			origin: OriginFor<T>,
			id: DisputeId,
			place: Place,
			opening: game::Opening,
		) -> DispatchResultWithPostInfo {
			let who = ensure_signed(origin)?;
			let count = opening.contents.len() as u32;
			let results = Self::do_open(who, id, place, opening)?;
			Ok(Some(Self::moved_weight(Self::open_weight(count), results)).into())
		}

		/// Denies claim `at` of what the defendant claims at `place`, where a dispute that the caller
		/// brought stands, and agrees with the claims before it.
		#[pallet::call_index(6)]
		#[pallet::weight(Pallet::<T>::move_weight(T::WeightInfo::deny()))]
		pub fn deny(
			origin: OriginFor<T>,
			id: DisputeId,
			place: Place,
			at: u32,
		) -> DispatchResultWithPostInfo {
			let who = ensure_signed(origin)?;
			let results = Self::do_deny(who, id, place, at)?;
			Ok(Some(Self::moved_weight(T::WeightInfo::deny(), results)).into())
		}

		/// Brings what the piece of a dispute reads, `Openings` SCALE-encoded: the referee computes it and
		/// decides. Either side may do that, the challenger [`JUDGE_AFTER`] blocks after the dispute came to
		/// the piece.
		#[pallet::call_index(7)]
		#[pallet::weight(Pallet::<T>::judge_weight(openings.len() as u32))]
		pub fn judge(
			origin: OriginFor<T>,
			id: DisputeId,
			openings: OpeningBytes,
		) -> DispatchResultWithPostInfo {
			let who = ensure_signed(origin)?;
			let used = Self::do_judge(who, id, &openings)?;
			Ok(Some(Self::judged_weight(openings.len() as u32, &used)).into())
		}

		/// Agrees with all results of a step at `place`, and names one that is infinite or NaN: a training
		/// that goes on past it is false.
		#[pallet::call_index(8)]
		#[pallet::weight(Pallet::<T>::move_weight(T::WeightInfo::show()))]
		pub fn show(
			origin: OriginFor<T>,
			id: DisputeId,
			place: Place,
			witness: Witness,
		) -> DispatchResultWithPostInfo {
			let who = ensure_signed(origin)?;
			let results = Self::do_show(who, id, place, witness)?;
			Ok(Some(Self::moved_weight(T::WeightInfo::show(), results)).into())
		}

		/// Serves what is due of a dispute or of a commitment: a clock that ran out, a turn that is over
		/// since what was asked for stands already, or the conviction of the defendant elsewhere.
		#[pallet::call_index(9)]
		#[pallet::weight(Pallet::<T>::expire_weight().max(T::WeightInfo::lapse()))]
		pub fn poke(origin: OriginFor<T>, id: DisputeId) -> DispatchResult {
			ensure_signed(origin)?;
			Self::do_poke(id)
		}
	}

	#[pallet::view_functions]
	impl<T: Config> Pallet<T> {
		/// Returns the dispute with this number as it is now, until it ends.
		pub fn dispute(id: DisputeId) -> Option<DisputeView<T::AccountId>> {
			Self::view_of(id)
		}

		/// Returns the disputes with `defendant` that have a place in its docket, the oldest first.
		pub fn docket(defendant: DefendantOf<T>) -> Vec<DisputeView<T::AccountId>> {
			Self::docket_of(&defendant)
		}

		/// Returns the disputes about `job` that have not ended, by number.
		pub fn disputes_of(job: JobId) -> Vec<DisputeView<T::AccountId>> {
			Self::about(job)
		}

		/// Returns what `defendant` posted at `place`, in whichever dispute.
		pub fn posted(defendant: DefendantOf<T>, place: Place) -> Option<Roots> {
			Self::posted_at(&defendant, &place)
		}

		/// Returns what `defendant` opened at `place`, in whichever dispute.
		pub fn opened(defendant: DefendantOf<T>, place: Place) -> Option<game::Opened> {
			Self::opened_at(&defendant, &place)
		}

		/// Returns the number of what `who` is bound to accuse of about `job`, before it is shown.
		pub fn commitment_of(job: JobId, who: T::AccountId) -> Option<DisputeId> {
			Self::bound(job, &who)
		}
	}

	impl<T: Config> Court<T::AccountId> for Pallet<T> {
		fn accuse(
			by: &T::AccountId,
			accusation: Accusation<T::AccountId>,
			committed_at: BlockNumber,
			stake: Balance,
		) -> Result<DisputeId, DispatchError> {
			Self::do_accuse(by, accusation, committed_at, stake)
		}

		fn is_accusing(by: &T::AccountId, defendant: &DefendantOf<T>, target: &Target) -> bool {
			Suits::<T>::contains_key((defendant, by, target))
		}

		fn standing(job: JobId) -> Standing {
			Standings::<T>::get(job)
		}

		fn settle(defendant: &DefendantOf<T>, acquitted: bool) -> Balance {
			Self::do_settle(defendant, acquitted)
		}

		fn acquit_seats(job: JobId) {
			Self::schedule(Task::Acquit(job), 0);
		}

		fn reclaim(defendant: &DefendantOf<T>, to: &T::AccountId, amount: Balance) -> Balance {
			Self::do_reclaim(defendant, to, amount)
		}

		fn forget(job: JobId) {
			Self::do_forget(job);
		}

		fn accuse_weight() -> Weight {
			Self::move_weight(T::WeightInfo::challenge())
				.saturating_add(T::Accused::convict_weight())
		}

		fn standing_weight() -> Weight {
			T::DbWeight::get().reads(1)
		}

		/// A deposit moves and disputes become moot, as where a clock runs out.
		fn settle_weight() -> Weight {
			T::WeightInfo::expire()
		}

		fn acquit_seats_weight() -> Weight {
			T::DbWeight::get().reads_writes(2, 3)
		}

		fn forget_weight() -> Weight {
			T::WeightInfo::forget().saturating_add(T::DbWeight::get().writes(1))
		}

		#[cfg(feature = "runtime-benchmarks")]
		fn make_lost(defendant: &DefendantOf<T>, amount: Balance) {
			if Self::hold_more(defendant.who(), amount).is_ok() {
				let more = |won: &mut Balance| *won = won.saturating_add(amount);
				Won::<T>::mutate(defendant.job(), defendant, more);
				WonOfSeats::<T>::mutate(defendant.job(), defendant, more);
			}
		}
	}
}
