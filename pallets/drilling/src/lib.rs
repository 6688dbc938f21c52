//! Drilling: projects publish work units, groups of trainers drawn by chance compute each of them,
//! and those who agree are credited drilling power.
//!
//! - [`projects`]: anyone proposes a project with a deposit ([`Pallet::propose`]), trainers vote
//!   with their bonds ([`Pallet::vote`]), and from approval on its units count. The work of a
//!   unit is computed from its program; nobody declares it.
//! - [`voting`]: the votes on a project, and those on its end ([`Pallet::recall`]).
//! - [`pool`]: trainers [`Pallet::enlist`] for projects that they choose. Those who are ready are noted
//!   together with the units to hand out, and a seed from the blocks after that assigns the units to them.
//! - [`units`]: the life of an assignment,
//!
//! ```text
//! Committing -> Revealing -> judged: agreed -> Settling -> credited
//!     |             |          |                  |            ^
//!     +-- too few --+----------+ reissued         | drawn      | confirmed
//!                              | or abandoned     v            |
//!                              +<-- not confirmed CheckCommitting -> CheckRevealing
//! ```
//!
//!   Whoever cannot have the data of a unit says so ([`Pallet::decline`]), which costs nothing where it
//!   is true. A unit that was drawn while the verifiers were busy stays in Settling, and they are drawn
//!   again.
//!
//! - [`rules`]: how a group, a recomputation and a vote are judged: pure functions.
//! - [`checks`]: a random share of the agreed units is recomputed by verifiers; whoever agreed on a
//!   false result loses a part of its bond and all drilling power.
//! - [`cleaning`]: the removal of what ended.
//! - [`agenda`]: the clock. Whatever has a deadline is on it once, and is served at the beginning
//!   of blocks with bounded, weighed work.
//! - [`money`]: deposits and fees; [`views`]: what clients ask.
//!
//! Trainers and their power, verifiers and their bonds, and randomness belong to other pallets
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
pub mod checks;
pub mod cleaning;
mod errors;
mod events;
#[cfg(test)]
mod mock;
pub mod money;
pub mod pool;
pub mod projects;
pub mod rules;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "std", feature = "try-runtime"))]
mod try_state;
pub mod turnover;
mod types;
pub mod units;
pub mod views;
pub mod voting;
pub mod weights;

use frame_support::pallet_macros::import_section;

pub use pallet::*;
pub use types::*;
pub use weights::WeightInfo;

#[import_section(events::events)]
#[import_section(errors::errors)]
#[frame_support::pallet]
// The macros' own code calls `expect`; the work of this pallet is in the other files. A call with a
// template is larger than the others, but a transaction holds only one.
#[allow(clippy::expect_used, clippy::large_enum_variant, clippy::too_many_arguments)]
pub mod pallet {
	use super::{Task, *};
	use alloc::vec::Vec;
	use frame_support::{pallet_prelude::*, traits::fungible, weights::Weight};
	use frame_system::pallet_prelude::*;
	use sp_runtime::Permill;
	use trainyard_pallet_support::agenda::Clock;
	use trainyard_protocol::{
		drill::{
			AssignmentId, Chosen, Mismatch, ProjectId, Template, TrialData, UnitResult,
			MAX_UNIT_REPLICAS,
		},
		job::{Balance, BlockNumber},
		MicroUt, Text, H256,
	};
	use trainyard_traits::{AwaitedBlobs, Beacon, Drillers, VerifierPool};

	/// The storage of this pallet's first release.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(2);

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

		/// The verifiers, who recompute units.
		type Verifiers: VerifierPool<Self::AccountId>;

		/// The blobs that hold data.
		type Blobs: AwaitedBlobs<Self::AccountId>;

		/// Randomness from blocks that do not exist yet.
		type Beacon: Beacon;

		/// Takes lost deposits and pays for recomputations. It exists from genesis with at least
		/// the existential deposit.
		type Jackpot: Get<Self::AccountId>;

		/// Weight of a block's beginning that may go into this pallet's work. At least
		/// [`Pallet::worst_step`], or nothing would ever be served.
		type ServiceWeight: Get<Weight>;

		/// Held for a project, whatever its size, by who has no open one where there are few: each
		/// other that the proposer has open doubles it, and so does each eighth of the places that is
		/// taken.
		#[pallet::constant]
		type ProjectDeposit: Get<Balance>;

		/// Held for each of its units: for the result that the state keeps.
		#[pallet::constant]
		type UnitDeposit: Get<Balance>;

		/// Most projects in review or active.
		#[pallet::constant]
		type MaxProjects: Get<u32>;

		/// Most of these that one account proposed.
		#[pallet::constant]
		type MaxOwnProjects: Get<u32>;

		/// Most units of a project.
		#[pallet::constant]
		type MaxUnits: Get<u32>;

		/// Blocks for votes. No longer than the unbonding of trainers, or a bond could vote, leave
		/// and vote again under another name.
		type ReviewBlocks: Get<BlockNumber>;

		/// Blocks for which a project is active at most.
		#[pallet::constant]
		type LifeBlocks: Get<BlockNumber>;

		/// Bonds that must vote for a project, or for its end, at least.
		#[pallet::constant]
		type MinApproval: Get<Balance>;

		/// Least blocks for computing a unit.
		#[pallet::constant]
		type MinCommitBlocks: Get<BlockNumber>;

		/// Most blocks for computing a unit.
		#[pallet::constant]
		type MaxCommitBlocks: Get<BlockNumber>;

		/// Blocks for revealing, also of verifiers.
		#[pallet::constant]
		type RevealBlocks: Get<BlockNumber>;

		/// Least blocks for verifiers to recompute a unit; the project's `commit_blocks` where
		/// those are more.
		#[pallet::constant]
		type CheckBlocks: Get<BlockNumber>;

		/// Blocks for which an ended project is kept.
		#[pallet::constant]
		type KeepBlocks: Get<BlockNumber>;

		/// Times that a unit without a result is issued again.
		#[pallet::constant]
		type MaxAttempts: Get<u8>;

		/// Most trainers in the pool of drillers.
		#[pallet::constant]
		type MaxDrillers: Get<u32>;

		/// Blocks of a turn: a day. At its end the pool changes.
		#[pallet::constant]
		type TurnoverBlocks: Get<BlockNumber>;

		/// Part of the pool that can come in, and that can be displaced, in a turn.
		#[pallet::constant]
		type TurnoverShare: Get<Permill>;

		/// How many drillers can come in or be displaced in any turn, however small the pool is.
		#[pallet::constant]
		type FreeInflow: Get<u32>;

		/// Blocks within which a driller that left returns at once, where it was in the pool for as
		/// long before: for a restart.
		#[pallet::constant]
		type ReturnBlocks: Get<BlockNumber>;

		/// Most units that one batch hands out.
		#[pallet::constant]
		type MaxGroups: Get<u32>;

		/// Share of agreed units that are recomputed.
		#[pallet::constant]
		type CheckShare: Get<Permill>;

		/// What a verifier is paid for a recomputation, from the jackpot.
		#[pallet::constant]
		type CheckFee: Get<Balance>;

		/// Part of the bond lost by each of those who agreed on a false result.
		#[pallet::constant]
		type ForgerySlash: Get<Permill>;

		/// Weights of the calls and of the steps of the hook.
		type WeightInfo: WeightInfo;
	}

	/// Why this pallet holds funds.
	#[pallet::composite_enum]
	pub enum HoldReason {
		/// The deposit of a project.
		Project,
	}

	/// Number of the next project.
	#[pallet::storage]
	pub type NextProject<T> = StorageValue<_, ProjectId, ValueQuery>;

	/// Every project, until it is cleared.
	#[pallet::storage]
	pub type Projects<T: Config> = StorageMap<_, Twox64Concat, ProjectId, Project<T::AccountId>>;

	/// What the units of a project compute.
	#[pallet::storage]
	pub type Templates<T> = StorageMap<_, Twox64Concat, ProjectId, Template>;

	/// Projects in review or active, in the order of their proposals.
	#[pallet::storage]
	pub type OpenProjects<T: Config> =
		StorageValue<_, BoundedVec<ProjectId, T::MaxProjects>, ValueQuery>;

	/// How many of these each account proposed. One that has none is not here.
	#[pallet::storage]
	pub type OwnProjects<T: Config> =
		StorageMap<_, Blake2_128Concat, T::AccountId, u32, ValueQuery>;

	/// Who voted on a project, and how: its last ballot.
	#[pallet::storage]
	pub type Votes<T: Config> =
		StorageDoubleMap<_, Twox64Concat, ProjectId, Blake2_128Concat, T::AccountId, Ballot>;

	/// Active projects that have units to hand out, in the order of their turns.
	#[pallet::storage]
	pub type Turns<T: Config> = StorageValue<_, BoundedVec<ProjectId, T::MaxProjects>, ValueQuery>;

	/// Units that wait to be handed out again, with the number of times that they were handed out.
	#[pallet::storage]
	pub type Retries<T> = StorageDoubleMap<_, Twox64Concat, ProjectId, Twox64Concat, u32, u8>;

	/// Results of a project, by index of the unit.
	#[pallet::storage]
	pub type Results<T> = StorageDoubleMap<_, Twox64Concat, ProjectId, Twox64Concat, u32, Outcome>;

	/// The pool of drillers.
	#[pallet::storage]
	pub type Pool<T: Config> = CountedStorageMap<_, Blake2_128Concat, T::AccountId, Driller>;

	/// The projects of which somebody in the pool, or who waits for a place, computes units.
	#[pallet::storage]
	pub type Choices<T: Config> = StorageMap<_, Blake2_128Concat, T::AccountId, Chosen, ValueQuery>;

	/// What drillers choose who are at work, or in the batch: from when they are ready again.
	#[pallet::storage]
	pub type Coming<T: Config> = StorageMap<_, Blake2_128Concat, T::AccountId, Chosen>;

	/// Trainers that wait for a place in the pool, in the order in which they came, with the bonds
	/// that they had then.
	#[pallet::storage]
	pub type Waiting<T: Config> =
		StorageValue<_, BoundedVec<(T::AccountId, Balance), T::MaxDrillers>, ValueQuery>;

	/// Trainers that displaced drillers who are still at work, in the order in which they get the
	/// places of these: one for each displaced driller of the pool at most.
	#[pallet::storage]
	pub type Heirs<T: Config> =
		StorageValue<_, BoundedVec<T::AccountId, T::MaxDrillers>, ValueQuery>;

	/// Drillers that left, with the height at which they did: they return at once within
	/// `ReturnBlocks`. Those who left before that are forgotten at the end of a turn.
	#[pallet::storage]
	pub type Former<T: Config> = StorageMap<_, Twox64Concat, T::AccountId, BlockNumber>;

	/// How many drillers can still come in during this turn; `None` before the first.
	#[pallet::storage]
	pub type Inflow<T> = StorageValue<_, Balance>;

	/// Drillers of the pool that are ready for a batch.
	#[pallet::storage]
	pub type Ready<T: Config> =
		StorageValue<_, BoundedVec<T::AccountId, T::MaxDrillers>, ValueQuery>;

	/// Draw height of the batch that was noted and waits for the seed of the blocks after it.
	#[pallet::storage]
	pub type Batch<T> = StorageValue<_, BlockNumber>;

	/// The drillers of the batch: those that were ready, and what they had chosen.
	#[pallet::storage]
	pub type BatchDrillers<T: Config> =
		StorageValue<_, BoundedVec<(T::AccountId, Chosen), T::MaxDrillers>, ValueQuery>;

	/// The units that the batch hands out, in this order.
	#[pallet::storage]
	pub type BatchPlan<T: Config> = StorageValue<_, BoundedVec<Slot, T::MaxGroups>, ValueQuery>;

	/// Number of the next assignment.
	#[pallet::storage]
	pub type NextAssignment<T> = StorageValue<_, AssignmentId, ValueQuery>;

	/// Units in the hands of drillers or verifiers.
	#[pallet::storage]
	pub type Assignments<T: Config> =
		StorageMap<_, Twox64Concat, AssignmentId, Assignment<T::AccountId>>;

	/// The units that a verifier recomputes.
	#[pallet::storage]
	pub type Checking<T: Config> =
		StorageDoubleMap<_, Blake2_128Concat, T::AccountId, Twox64Concat, AssignmentId, ()>;

	/// Height at which each task is looked at next.
	#[pallet::storage]
	pub type Due<T> = StorageMap<_, Twox64Concat, Task, BlockNumber>;

	/// The same by height.
	#[pallet::storage]
	pub type Agenda<T> = StorageDoubleMap<_, Twox64Concat, BlockNumber, Twox64Concat, Task, ()>;

	/// Least height whose agenda may not be empty.
	#[pallet::storage]
	pub type Cursor<T> = StorageValue<_, BlockNumber>;

	/// Height at which a part of each project that ended is removed next.
	#[pallet::storage]
	pub type CleanDue<T> = StorageMap<_, Twox64Concat, ProjectId, BlockNumber>;

	/// The same by height.
	#[pallet::storage]
	pub type CleanAgenda<T> =
		StorageDoubleMap<_, Twox64Concat, BlockNumber, Twox64Concat, ProjectId, ()>;

	/// Least height whose removals may not all be done.
	#[pallet::storage]
	pub type CleanCursor<T> = StorageValue<_, BlockNumber>;

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		/// Serves what is due, then batches, and then removals, with what is left of `ServiceWeight`.
		fn on_initialize(_: BlockNumberFor<T>) -> Weight {
			let (now, limit) = (Self::now(), T::ServiceWeight::get());
			let mut turn = Weight::zero();
			if now.is_multiple_of(T::TurnoverBlocks::get()) {
				Self::turn();
				turn = T::WeightInfo::turn();
			}
			let used = Self::serve(now, limit);
			let batch = Self::tend_batch(now, limit.saturating_sub(used));
			let used = used.saturating_add(batch);
			let cleaned = cleaning::Cleaning::<T>::serve(now, limit.saturating_sub(used));
			turn.saturating_add(used).saturating_add(cleaned)
		}

		fn integrity_test() {
			let (needed, limit) = (Self::worst_step(), T::ServiceWeight::get());
			assert!(
				needed.all_lte(limit),
				"ServiceWeight ({limit}) must allow for the largest step ({needed})"
			);
			assert!(T::MaxProjects::get() > 0, "MaxProjects: at least one");
			assert!(T::MaxOwnProjects::get() > 0, "MaxOwnProjects: at least one");
			assert!(T::LifeBlocks::get() > 0, "LifeBlocks: at least one");
			assert!(T::MaxGroups::get() > 0, "MaxGroups: at least one");
			assert!(
				T::MaxDrillers::get() >= u32::from(MAX_UNIT_REPLICAS),
				"MaxDrillers: at least one full group"
			);
			assert!(T::TurnoverBlocks::get() > 0, "TurnoverBlocks: at least one");
			assert!(T::MinCommitBlocks::get() > 0, "MinCommitBlocks: at least one");
			assert!(
				T::MaxCommitBlocks::get() >= T::MinCommitBlocks::get(),
				"MaxCommitBlocks below MinCommitBlocks"
			);
			assert!(T::RevealBlocks::get() > 0, "RevealBlocks: at least one");
			assert!(T::CheckBlocks::get() > 0, "CheckBlocks: at least one");
			assert!(T::KeepBlocks::get() > 0, "KeepBlocks: at least one");
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Proposes a project of `units` units, each computed by `replicas` trainers within
		/// `commit_blocks`, and holds its deposit: `UnitDeposit` for each unit, and `ProjectDeposit`,
		/// which rises with the projects that are open. `data` are blobs of the caller with the files that
		/// units of `template` read, in the order of its specification. `rule` says what happens where
		/// results differ. Trainers vote until the review ends.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::propose())]
		pub fn propose(
			origin: OriginFor<T>,
			title: Text,
			template: Template,
			data: TrialData,
			rule: Mismatch,
			replicas: u8,
			units: u32,
			commit_blocks: BlockNumber,
		) -> DispatchResult {
			let proposer = ensure_signed(origin)?;
			Self::do_propose(proposer, title, template, data, rule, replicas, units, commit_blocks)
		}

		/// Votes with the caller's bond on a project in review, or on the end of an active one, where
		/// `aye` is for its going on. The caller is a trainer, and not the proposer; it votes once in each
		/// vote.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::vote())]
		pub fn vote(origin: OriginFor<T>, project: ProjectId, aye: bool) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_vote(who, project, aye)
		}

		/// Enters the pool of drillers: from now on the caller, a trainer, is given units of these open
		/// `projects`, ascending, one at a time, and loses power for each that it does not compute in time. A driller that was
		/// leaving by its own wish stays. Where the turn has no room for more, the caller waits: at the
		/// end of a turn the largest bonds enter, and displace those of which they are 1.25 times. Who
		/// displaced a driller that is still at work has its place as soon as that work is judged.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::enlist())]
		pub fn enlist(origin: OriginFor<T>, projects: Chosen) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_enlist(who, projects)
		}

		/// Leaves the pool of drillers: at once, or when the unit that the caller was given, or may
		/// be given by the batch under way, is judged.
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::retire())]
		pub fn retire(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_retire(who)
		}

		/// Commits the caller's result of the unit that it was given:
		/// `drill::commitment(genesis, assignment, caller, result, salt)`.
		#[pallet::call_index(4)]
		#[pallet::weight(T::WeightInfo::commit())]
		pub fn commit(
			origin: OriginFor<T>,
			assignment: AssignmentId,
			commitment: H256,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_commit(who, assignment, commitment)
		}

		/// Reveals the result that the caller committed.
		#[pallet::call_index(5)]
		#[pallet::weight(T::WeightInfo::reveal())]
		pub fn reveal(
			origin: OriginFor<T>,
			assignment: AssignmentId,
			result: UnitResult,
			salt: [u8; 32],
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_reveal(who, assignment, result, salt)
		}

		/// Commits the result of a unit that the caller, a verifier, recomputed; the commitment is
		/// made like a driller's.
		#[pallet::call_index(6)]
		#[pallet::weight(T::WeightInfo::check())]
		pub fn check(
			origin: OriginFor<T>,
			assignment: AssignmentId,
			commitment: H256,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_check(who, assignment, commitment)
		}

		/// Reveals the result that the caller, a verifier, committed.
		#[pallet::call_index(7)]
		#[pallet::weight(T::WeightInfo::check_reveal())]
		pub fn check_reveal(
			origin: OriginFor<T>,
			assignment: AssignmentId,
			result: UnitResult,
			salt: [u8; 32],
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_check_reveal(who, assignment, result, salt)
		}

		/// Takes back a project in review, or ends an active one: no unit of it is handed out any more,
		/// and those under way are finished. Where a vote is open in which somebody is against it, it ends
		/// with that vote, and what is condemned is lost all the same; so is the deposit of one whose data
		/// verifiers looked for in vain. Only the proposer may do this.
		#[pallet::call_index(8)]
		#[pallet::weight(T::WeightInfo::withdraw_project())]
		pub fn withdraw_project(origin: OriginFor<T>, project: ProjectId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_withdraw_project(who, project)
		}

		/// Removes a part of what the chain keeps of a project that ended at least `KeepBlocks`
		/// ago; the last part returns the deposit. Blocks do this by themselves; this call is for
		/// when they have no room. Anyone may call it, and the proposer at once where no unit was
		/// ever handed out.
		#[pallet::call_index(9)]
		#[pallet::weight(T::WeightInfo::clear())]
		pub fn clear(origin: OriginFor<T>, project: ProjectId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_clear(who, project)
		}

		/// Computes units of these open `projects`, ascending, and of no others: from now on, or, where the
		/// caller has a unit, or may be given one by the batch under way, from when it is ready again. It is
		/// in the pool of drillers, or waits for a place.
		#[pallet::call_index(10)]
		#[pallet::weight(T::WeightInfo::choose())]
		pub fn choose(origin: OriginFor<T>, projects: Chosen) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_choose(who, projects)
		}

		/// Says, instead of a commitment, that the data of a unit are not to be had. A driller is given no
		/// more units of this project until it chooses it again. Where most of a group say so, verifiers
		/// look for the data: nobody loses anything if most of them do not have them either, and the
		/// project ends when that was found a few times in a row, without its deposit where verifiers never
		/// had them; if they have them, those who said so lose what silence costs. A verifier says it instead of a result, and is not paid.
		#[pallet::call_index(11)]
		#[pallet::weight(T::WeightInfo::decline())]
		pub fn decline(origin: OriginFor<T>, assignment: AssignmentId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_decline(who, assignment)
		}

		/// Asks for the end of an active project: trainers vote on it for as long as in a review, and the
		/// caller, a trainer and not the proposer, votes against it. It ends where `MinApproval` of bonds, more
		/// than are for it, and more than had approved it, are against it; without its deposit where these are
		/// twice as many.
		#[pallet::call_index(12)]
		#[pallet::weight(T::WeightInfo::recall())]
		pub fn recall(origin: OriginFor<T>, project: ProjectId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_recall(who, project)
		}
	}
}
