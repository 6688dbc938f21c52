//! Stints: drilling as much as one can, alone, checked by samples.
//!
//! Every driller computes laps of its own ([`trainyard_protocol::stint`]) and reports how many it
//! did, with a root over their results. Nothing is handed out, so nobody waits, and there are no
//! places to take: a machine with ten times the rate reports ten times the laps, and ten accounts of
//! one machine report no more together than one.
//!
//! ```text
//! begin -> [stint: compute laps] -> report -> Drawing -> credited
//!              ^                      |          |
//!              +---- next stint ------+          | drawn for a check
//!                                                v
//!                                            Checking -> Opening -> credited
//!                                                ^          |
//!                                                |          +-> absent: power lost
//!                                   doubted: 15 others      |
//!                                                +----------+-> forged: bond and power lost
//! ```
//!
//! - [`stints`]: a driller's stints and reports, and the period, which grows with the number of
//!   reports so that blocks take a constant number of them.
//! - [`checks`]: who is checked, by whom, and what comes of it. How likely a check is depends on what
//!   a report claims beside what its driller can lose, so that claiming false laps never pays.
//! - [`rules`]: what committees decide, as pure functions.
//! - [`agenda`]: the clock; [`money`]: deposits and fees; [`views`]: what clients ask.
//!
//! Trainers and their power, verifiers and randomness belong to other pallets behind the traits of
//! `trainyard_traits`.

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
pub mod checks;
mod events;
#[cfg(test)]
mod mock;
pub mod money;
pub mod rules;
pub mod stints;
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
	use frame_support::{pallet_prelude::*, traits::fungible, weights::Weight};
	use frame_system::pallet_prelude::*;
	use sp_runtime::Permill;
	use trainyard_pallet_support::agenda::Clock;
	use trainyard_protocol::{
		job::{Balance, BlockNumber},
		stint::{ReportId, Samples, Siblings},
		MicroUt, H256,
	};
	use trainyard_traits::{Beacon, Drillers, VerifierPool};

	/// The storage of this pallet's first release.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(1);

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs of its runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<Hash = H256, RuntimeEvent: From<Event<Self>>> {
		/// The currency of deposits and fees.
		type Currency: fungible::Mutate<Self::AccountId, Balance = Balance>
			+ fungible::MutateHold<Self::AccountId, Reason = Self::RuntimeHoldReason>;

		/// The runtime's reasons for holds.
		type RuntimeHoldReason: From<HoldReason>;

		/// Trainers, their bonds and their drilling power.
		type Drillers: Drillers<Self::AccountId>;

		/// The verifiers, who compute samples again.
		type Verifiers: VerifierPool<Self::AccountId>;

		/// Randomness from blocks that do not exist yet.
		type Beacon: Beacon;

		/// Takes what reports pay for checks, and pays for them. It exists from genesis with at least
		/// the existential deposit.
		type Jackpot: Get<Self::AccountId>;

		/// Weight of a block's beginning that may go into this pallet's work. At least
		/// [`Pallet::worst_step`], or nothing would ever be served.
		type ServiceWeight: Get<Weight>;

		/// Held for what the state keeps of a driller.
		#[pallet::constant]
		type DrillerDeposit: Get<Balance>;

		/// Least blocks from the beginning of a stint to its report.
		#[pallet::constant]
		type MinPeriod: Get<BlockNumber>;

		/// Most blocks from the beginning of a stint to its report, unless twice the period is more:
		/// who hoards its work to show it at once gains little.
		#[pallet::constant]
		type MaxStint: Get<BlockNumber>;

		/// Reports that a block is to take on the average. The period follows from it.
		#[pallet::constant]
		type ReportsPerBlock: Get<u32>;

		/// Least blocks after which the period is set again; three periods where those are more.
		#[pallet::constant]
		type RetargetBlocks: Get<BlockNumber>;

		/// Blocks for computing samples and committing to them.
		#[pallet::constant]
		type CheckBlocks: Get<BlockNumber>;

		/// Blocks for opening samples, and for revealing what verifiers found. Long, since a driller
		/// that is away so long loses power.
		#[pallet::constant]
		type OpenBlocks: Get<BlockNumber>;

		/// What a verifier is paid for a check, from the jackpot. A report pays for three of them in
		/// proportion to its chance.
		#[pallet::constant]
		type CheckFee: Get<Balance>;

		/// Part of the bond that a false report costs, beside all drilling power.
		#[pallet::constant]
		type ForgerySlash: Get<Permill>;

		/// Weights of the calls and of the steps of the hook.
		type WeightInfo: WeightInfo;
	}

	/// Why this pallet holds funds.
	#[pallet::composite_enum]
	pub enum HoldReason {
		/// The deposit of a driller.
		Driller,
	}

	/// Everyone who is in a stint.
	#[pallet::storage]
	pub type Stints<T: Config> = CountedStorageMap<_, Blake2_128Concat, T::AccountId, Stint>;

	/// Number of the next report.
	#[pallet::storage]
	pub type NextReport<T> = StorageValue<_, ReportId, ValueQuery>;

	/// Reports that are not settled.
	#[pallet::storage]
	pub type Reports<T: Config> = StorageMap<_, Twox64Concat, ReportId, Report<T::AccountId>>;

	/// The checks in which a verifier has a seat.
	#[pallet::storage]
	pub type Seats<T: Config> =
		StorageDoubleMap<_, Blake2_128Concat, T::AccountId, Twox64Concat, ReportId, ()>;

	/// Least blocks from the beginning of a stint to its report; `None` for `MinPeriod`.
	#[pallet::storage]
	pub type Period<T> = StorageValue<_, BlockNumber>;

	/// Reports since the period was set.
	#[pallet::storage]
	pub type Reported<T> = StorageValue<_, u32, ValueQuery>;

	/// When the period was set, and when it is set again.
	#[pallet::storage]
	pub type Window<T> = StorageValue<_, (BlockNumber, BlockNumber), ValueQuery>;

	/// When there were too few verifiers for a check.
	#[pallet::storage]
	pub type Scarce<T> = StorageValue<_, BlockNumber>;

	/// Height at which each task is looked at next.
	#[pallet::storage]
	pub type Due<T> = StorageMap<_, Twox64Concat, Task, BlockNumber>;

	/// The same by height.
	#[pallet::storage]
	pub type Agenda<T> = StorageDoubleMap<_, Twox64Concat, BlockNumber, Twox64Concat, Task, ()>;

	/// Least height whose agenda may not be empty.
	#[pallet::storage]
	pub type Cursor<T> = StorageValue<_, BlockNumber>;

	#[pallet::error]
	pub enum Error<T> {
		/// The account is no trainer in good standing: register by `hashrate.register`, or add to the
		/// bond.
		NotATrainer,
		/// The account is in no stint: call `begin` first.
		NoStint,
		/// The last report is not settled. The stint goes on, and what is computed meanwhile counts.
		Unsettled,
		/// The stint began too short a while ago to be reported. It goes on.
		TooEarly,
		/// The stint began so long ago that it does not count any more: call `begin`.
		TooLate,
		/// A report claims 1 to 2^31 laps.
		BadLaps,
		/// A report claims at most 2 ut for each block of the stint, or twice the work that would
		/// add the driller's power now. Claim fewer laps: the next report may claim more.
		TooMuch,
		/// The report is of a stint that is over.
		OtherStint,
		/// There is no such report, or it is settled.
		NoSuchReport,
		/// The report is not being checked now.
		NotChecking,
		/// The samples of the report are not being opened now.
		NotOpening,
		/// The account has no part in this report's check.
		NotSeated,
		/// The verifier has committed already.
		AlreadyCommitted,
		/// The verifier has not committed.
		NotCommitted,
		/// It was revealed or opened already.
		AlreadyRevealed,
		/// What is revealed is not what was committed to.
		WrongReveal,
		/// What is opened is not under the report's root.
		WrongOpening,
	}

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		/// Serves what is due, and sets the period from time to time.
		fn on_initialize(_: BlockNumberFor<T>) -> Weight {
			let now = Self::now();
			let (_, ends) = Window::<T>::get();
			let mut weight = T::DbWeight::get().reads(1);
			if now >= ends {
				Self::retarget();
				weight = weight.saturating_add(T::WeightInfo::retarget());
			}
			weight.saturating_add(Self::serve(now, T::ServiceWeight::get()))
		}

		fn integrity_test() {
			let (needed, limit) = (Self::worst_step(), T::ServiceWeight::get());
			assert!(
				needed.all_lte(limit),
				"ServiceWeight ({limit}) must allow for the largest step ({needed})"
			);
			assert!(T::MinPeriod::get() > 0, "MinPeriod: at least one");
			assert!(T::MaxStint::get() > T::MinPeriod::get(), "MaxStint: more than MinPeriod");
			assert!(T::ReportsPerBlock::get() > 0, "ReportsPerBlock: at least one");
			assert!(T::RetargetBlocks::get() > 0, "RetargetBlocks: at least one");
			assert!(T::CheckBlocks::get() > 0, "CheckBlocks: at least one");
			assert!(T::OpenBlocks::get() > 0, "OpenBlocks: at least one");
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Begins a stint of the caller, a trainer, and holds `DrillerDeposit` where it had none. One
		/// that is running is given up: what was computed in it counts no more.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::begin())]
		pub fn begin(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_begin(who)
		}

		/// Gives up the caller's stint and returns its deposit. A report must be settled first.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::retire())]
		pub fn retire(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_retire(who)
		}

		/// Ends the caller's stint of this number with `laps` laps, whose results are under `root`, and
		/// begins the next one. Pays what checks of such reports cost on the average.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::report())]
		pub fn report(origin: OriginFor<T>, number: u32, root: H256, laps: u32) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_report(who, number, root, laps)
		}

		/// Commits to the samples that the caller, a verifier, computed again:
		/// `stint::commitment(genesis, report, caller, digest, salt)`.
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::check())]
		pub fn check(origin: OriginFor<T>, report: ReportId, commitment: H256) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_check(who, report, commitment)
		}

		/// Opens the samples of the caller's report, with the hashes beside them that lead to its root.
		#[pallet::call_index(4)]
		#[pallet::weight(T::WeightInfo::open())]
		pub fn open(
			origin: OriginFor<T>,
			report: ReportId,
			results: Samples,
			siblings: Siblings,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_open(who, report, &results, &siblings)
		}

		/// Reveals the digest of the samples that the caller, a verifier, committed to.
		#[pallet::call_index(5)]
		#[pallet::weight(T::WeightInfo::check_reveal())]
		pub fn check_reveal(
			origin: OriginFor<T>,
			report: ReportId,
			digest: H256,
			salt: [u8; 32],
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_check_reveal(who, report, digest, &salt)
		}
	}
}
