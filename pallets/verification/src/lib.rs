//! Verifiers, and the audits that they carry out.
//!
//! - Verifiers [`Pallet::register`] with a bond and what they have room for. Each seat on a committee
//!   locks a fixed stake of the bond, which answers for what is said in it; committees are drawn in
//!   proportion to the seats that are free. Leaving takes an unbonding period, and returning none.
//! - The [`pool`] changes slowly, so that nobody buys it: [`Config::TurnoverBlocks`].
//! - An audit decides for every *distinct* result of a job ("group") whether it is true. Its owner
//!   (the task market) opens it, calls `Audits::advance` at the height that the audit returned, and
//!   again when `JobObserver::progressed` reports that everyone in a phase is done: this pallet has
//!   no clock of its own.
//! - A round: `committee` draws verifiers and segments of each result from randomness of blocks
//!   after the opening; they replay and [`Pallet::commit`]; when all have, or the time is up, they
//!   [`Pallet::reveal`]; [`verdicts`] decides each group by a strict majority of the committee.
//!   `rounds` takes an audit from phase to phase.
//! - A seat that lacks a state or the data names it by [`Pallet::request`]. What the other seats do
//!   not give it either, the trainers store on chain and [`Pallet::rescue`], or lose; see `claims`.
//! - A group without a majority gets another round. An audit has at most `MAX_AUDIT_ROUNDS` rounds, and each phase has a deadline, so it ends even if participants
//!   vanish. Where no committee can be drawn it waits, until its owner gives it up.
//! - A verifier that agreed with what was decided in a round has earned a fee, which the owner of
//!   the audit pays; one that gave no verdict loses a few fees to the jackpot, and one that gave a
//!   contrary one at most the stake of its seat, see `bonds`. Who is absent too often is paused.
//! - Other pallets draw from the same pool for recomputations of their own, see `recompute`.

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
mod bonds;
mod claims;
mod committee;
mod entry;
#[cfg(test)]
mod mock;
pub mod pool;
mod recompute;
mod rescue;
mod rounds;
mod seats;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "std", feature = "try-runtime"))]
mod try_state;
mod types;
pub mod verdicts;
mod views;
pub mod weights;

pub use entry::{Entry, Tariff, REMEMBERED, SETTLING};
pub use pallet::*;
pub use pool::{PoolOf, Room};
pub use types::*;
pub use weights::WeightInfo;

#[frame_support::pallet]
// The macros' own code calls `expect`; the work of this pallet is in the other files.
#[allow(clippy::expect_used)]
pub mod pallet {
	use super::*;
	use alloc::vec::Vec;
	use frame_support::{
		pallet_prelude::*,
		traits::fungible::{Inspect, Mutate, MutateHold},
	};
	use frame_system::pallet_prelude::*;
	use sp_runtime::{Permill, SaturatedConversion};
	use trainyard_protocol::{
		audit::{Decision, Findings, Leaves, Pieces},
		job::{Balance, BlockNumber},
		seats::Resources,
		views::{AuditView, Standing, VerifierView},
		JobId,
	};
	use trainyard_traits::{AwaitedBlobs, Beacon, JobObserver};

	/// The storage of this pallet's first release.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(2);

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs of its runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<RuntimeEvent: From<Event<Self>>> {
		/// Weights of this pallet's calls.
		type WeightInfo: WeightInfo;

		/// The currency of bonds.
		type Currency: Inspect<Self::AccountId, Balance = Balance>
			+ Mutate<Self::AccountId>
			+ MutateHold<Self::AccountId, Reason = Self::RuntimeHoldReason>;

		/// The runtime's overarching hold reason.
		type RuntimeHoldReason: From<HoldReason>;

		/// Randomness of blocks that did not exist when the results were revealed.
		type Beacon: Beacon;

		/// Called when everyone in a phase of an audit is done.
		type Observer: JobObserver;

		/// Where rescued states are stored.
		type Blobs: AwaitedBlobs<Self::AccountId>;

		/// The account that slashed bonds go to. It must exist (hold the existential deposit),
		/// or small slashes cannot be moved to it.
		type Jackpot: Get<Self::AccountId>;

		/// Least bond of a verifier that enters the pool. It is several [`Config::SeatStake`]s, so
		/// that whoever lost a little goes on.
		#[pallet::constant]
		type MinBond: Get<Balance>;

		/// What a seat locks of a bond.
		#[pallet::constant]
		type SeatStake: Get<Balance>;

		/// Least room of a verifier: what a seat can need at most. If some could not take every
		/// audit, whoever makes one larger would be judged by the others alone.
		#[pallet::constant]
		type LeastRoom: Get<Resources>;

		/// Blocks from leaving the pool until the bond can be withdrawn.
		#[pallet::constant]
		type UnbondingBlocks: Get<BlockNumber>;

		/// Blocks of a turn: a day. At its end the pool changes.
		#[pallet::constant]
		type TurnoverBlocks: Get<BlockNumber>;

		/// Part of what counts in the pool that can come in, and that can be displaced, in a turn.
		#[pallet::constant]
		type TurnoverShare: Get<Permill>;

		/// What can come in or be displaced in any turn, however small the pool is.
		#[pallet::constant]
		type FreeInflow: Get<Balance>;

		/// Places in the pool.
		#[pallet::constant]
		type MaxPool: Get<u32>;

		/// Fewest seats of a committee. With fewer eligible verifiers nobody is seated.
		#[pallet::constant]
		type MinSeats: Get<u32>;

		/// Blocks for replaying and committing.
		type CommitBlocks: Get<BlockNumber>;

		/// Blocks for revealing.
		type RevealBlocks: Get<BlockNumber>;

		/// Blocks in which seats and trainers can give a seat what it asked for.
		type RelayBlocks: Get<BlockNumber>;

		/// Most blocks for storing what a seat still lacks.
		type RescueBlocks: Get<BlockNumber>;

		/// Most blocks for which an audit waits before it looks for a committee again.
		#[pallet::constant]
		type MaxWaitBlocks: Get<BlockNumber>;

		/// How many fees a member of a committee without a verdict loses, at most its stake.
		#[pallet::constant]
		type AbsenceFees: Get<u32>;

		/// Part of the stake lost by a member of a committee who contradicted its decision.
		#[pallet::constant]
		type ContrarySlash: Get<Permill>;

		/// A verifier without a verdict in this many of its last [`REMEMBERED`] seats is paused.
		#[pallet::constant]
		type MaxAbsences: Get<u32>;
	}

	/// What this pallet holds of somebody's balance.
	#[pallet::composite_enum]
	pub enum HoldReason {
		/// Bond of a verifier.
		VerifierBond,
		/// What a seat prepays for bytes that it asks for.
		Claim,
	}

	/// Everyone with a bond; see [`crate::pool`]. One value, because a draw reads all of them.
	#[pallet::storage]
	pub type Pool<T: Config> = StorageValue<_, PoolOf<T>, ValueQuery>;

	/// What can still come in during this turn; `None` before the first change.
	#[pallet::storage]
	pub type Inflow<T: Config> = StorageValue<_, Balance, OptionQuery>;

	/// The audits, by job. A decided one stays until its owner forgets it.
	#[pallet::storage]
	pub type AuditRecords<T: Config> = StorageMap<_, Twox64Concat, JobId, AuditOf<T>, OptionQuery>;

	/// The blobs that trainers are going to store as rescues, by job and trainer.
	#[pallet::storage]
	pub type Announced<T: Config> =
		StorageDoubleMap<_, Twox64Concat, JobId, Blake2_128Concat, T::AccountId, H256, OptionQuery>;

	/// The blobs in which trainers stored what was asked for, by job and trainer, while the audit runs.
	#[pallet::storage]
	pub type Kept<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		T::AccountId,
		BoundedVec<H256, ConstU32<MAX_WINDOWS>>,
		ValueQuery,
	>;

	/// What the seats of the running round asked for, by job and verifier.
	#[pallet::storage]
	pub type Claims<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		T::AccountId,
		BoundedVec<Claim, ConstU32<ALL_CLAIMS>>,
		ValueQuery,
	>;

	/// For each audit that asks for rescues: the blocks without room for a chunk when it began to,
	/// the height of that, and the last block for a rescue that was named then.
	#[pallet::storage]
	pub type Uploading<T> =
		StorageMap<_, Twox64Concat, JobId, (BlockNumber, BlockNumber, BlockNumber), OptionQuery>;

	/// Revealed findings of the round, by job and member of its committee.
	#[pallet::storage]
	pub type Verdicts<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		T::AccountId,
		Findings,
		OptionQuery,
	>;

	#[pallet::event]
	#[pallet::generate_deposit(pub(super) fn deposit_event)]
	pub enum Event<T: Config> {
		/// A verifier came, or returned with a new bond.
		Registered {
			/// Who.
			verifier: T::AccountId,
			/// Its bond.
			bond: Balance,
			/// Whether it can be drawn, or waits for a place.
			standing: Standing,
		},
		/// A verifier that waited has a place.
		Admitted {
			/// Who.
			verifier: T::AccountId,
			/// Its bond.
			bond: Balance,
		},
		/// A verifier lost its place to a larger bond, and waits for one. Its bond is free.
		Displaced {
			/// Who.
			verifier: T::AccountId,
			/// By whom.
			by: T::AccountId,
		},
		/// A verifier was absent too often. It keeps its bond, and its place for a turn, and is not
		/// drawn.
		Paused {
			/// Who.
			verifier: T::AccountId,
		},
		/// A verifier ended its pause, or did not leave after all.
		Resumed {
			/// Who.
			verifier: T::AccountId,
			/// Whether it can be drawn, or waits for a place.
			standing: Standing,
		},
		/// A verifier declared what it has room for.
		CapacityDeclared {
			/// Who.
			verifier: T::AccountId,
			/// For what.
			capacity: Resources,
		},
		/// A verifier raised its bond.
		BondRaised {
			/// Who.
			verifier: T::AccountId,
			/// Its bond now.
			bond: Balance,
		},
		/// A verifier left the pool.
		Left {
			/// Who.
			verifier: T::AccountId,
			/// Last block in which its bond cannot be withdrawn.
			until: BlockNumber,
		},
		/// A verifier that left, or waited, got back what no seat locks of its bond.
		Withdrawn {
			/// Who.
			verifier: T::AccountId,
			/// How much.
			amount: Balance,
		},
		/// A verifier lost a part of its bond to the jackpot.
		Slashed {
			/// Who.
			verifier: T::AccountId,
			/// How much.
			amount: Balance,
			/// In which job's audit.
			job: JobId,
			/// What for.
			fault: Fault,
		},
		/// An audit was opened.
		AuditOpened {
			/// Of which job.
			job: JobId,
			/// Number of distinct results.
			groups: u32,
		},
		/// The committee and the segments of a round were drawn; the committee commits.
		CommitteeDrawn {
			/// Of which job.
			job: JobId,
			/// Round, from 0.
			round: u32,
			/// The committee, in the order drawn.
			committee: Vec<T::AccountId>,
			/// The segments to replay, of each distinct result.
			segments: Vec<Vec<u32>>,
		},
		/// Too few verifiers have a free seat for a committee. This was no round: the draw is made
		/// again.
		NoCommittee {
			/// Of which job.
			job: JobId,
			/// Round, from 0.
			round: u32,
			/// Height after which the next seed forms.
			after: BlockNumber,
		},
		/// A member of a committee committed its findings.
		Committed {
			/// Of which job.
			job: JobId,
			/// Who.
			verifier: T::AccountId,
		},
		/// Committing is over; the committee reveals.
		RevealOpened {
			/// Of which job.
			job: JobId,
			/// Last block for reveals.
			until: BlockNumber,
		},
		/// A member of a committee revealed its findings.
		Revealed {
			/// Of which job.
			job: JobId,
			/// Who.
			verifier: T::AccountId,
		},
		/// Seats still lack what they asked for: the trainers store it, or lose.
		RescueOpened {
			/// Of which job.
			job: JobId,
			/// Last block for `rescue`.
			until: BlockNumber,
		},
		/// A trainer stored what was asked for.
		Rescued {
			/// Of which job.
			job: JobId,
			/// Which result.
			group: u32,
			/// Root of the blob that holds them.
			blob: H256,
			/// Which of its trainers stored them.
			trainer: T::AccountId,
		},
		/// A result was decided.
		Decided {
			/// Of which job.
			job: JobId,
			/// Which result.
			group: u32,
			/// What was decided.
			decision: Decision,
		},
		/// All results of a job are decided.
		AuditDone {
			/// Of which job.
			job: JobId,
			/// Audit fees earned.
			fees: u32,
		},
		/// A verifier lost a part of its bond to the jackpot for what it did when it was drawn
		/// for a recomputation that is no audit.
		SlashedInRecompute {
			/// Who.
			verifier: T::AccountId,
			/// How much.
			amount: Balance,
			/// What for.
			fault: Fault,
		},
		/// A trainer is going to store the drawn states of a result.
		RescueAnnounced {
			/// Of which job.
			job: JobId,
			/// Which result.
			group: u32,
			/// Root of the blob that is going to hold them.
			blob: H256,
			/// Who.
			trainer: T::AccountId,
		},
		/// A seat lacks pieces of a result, and nobody gave them to it.
		Asked {
			/// Of which job.
			job: JobId,
			/// Which result.
			group: u32,
			/// Who.
			verifier: T::AccountId,
			/// Which pieces.
			pieces: Pieces,
			/// What it prepaid; 0 where the escrow of the audit does.
			prepaid: Balance,
			/// Last block in which others can give them to it.
			until: BlockNumber,
		},
		/// A seat has what it asked for.
		RequestWithdrawn {
			/// Of which job.
			job: JobId,
			/// Which result.
			group: u32,
			/// Who.
			verifier: T::AccountId,
			/// What it paid to the jackpot.
			paid: Balance,
		},
		/// What was asked for is stored or lost; the committee goes on.
		CommitReopened {
			/// Of which job.
			job: JobId,
			/// Last block for commitments.
			until: BlockNumber,
		},
	}

	#[pallet::error]
	pub enum Error<T> {
		/// The bond is smaller than the minimum.
		BondTooSmall,
		/// The caller is a verifier already, or waits for a place: `bond_extra` raises its bond.
		AlreadyVerifier,
		/// The pool of verifiers and the list of those who wait are full, and nobody who waits has a
		/// smaller bond.
		PoolFull,
		/// The caller is not in the pool of verifiers.
		NotVerifier,
		/// The caller is neither paused nor leaving.
		NothingToResume,
		/// The caller changed too often in the last minutes: try again later.
		TooManyChanges,
		/// The caller has not left the pool of verifiers.
		NotLeaving,
		/// The unbonding period is not over, or running seats lock what is left.
		StillBonded,
		/// This job has an audit already.
		AlreadyOpen,
		/// The request is out of bounds: groups, parties, segments or size of the committee.
		BadRequest,
		/// This job has no audit.
		NoAudit,
		/// The audit takes no commitments now.
		NotCommitting,
		/// The audit takes no reveals now.
		NotRevealing,
		/// The audit takes no rescues now.
		NotRescuing,
		/// The deadline of this phase is over.
		TooLate,
		/// The caller is not on the committee of this round.
		NotOnCommittee,
		/// The caller has not committed in this round.
		NotCommitted,
		/// The caller has revealed in this round already.
		AlreadyRevealed,
		/// Findings and salt do not make the caller's commitment.
		WrongReveal,
		/// The findings have more or fewer verdicts than the job has distinct results.
		WrongNumberOfVerdicts,
		/// The evidence is not for exactly the segments drawn of that result, or a rejection
		/// names a segment that it does not have.
		WrongSegments,
		/// A rejection names a checkpoint that the result does not have.
		NoSuchCheckpoint,
		/// The audit has no such group, or it is decided.
		NoSuchGroup,
		/// Nobody lacks anything of this group.
		NotAsked,
		/// The caller has stored this already, or what is asked for is on chain.
		AlreadyRescued,
		/// Only a trainer of the group can rescue it.
		NotTrainer,
		/// The blob is not complete on chain. No call returns this any more.
		BlobIncomplete,
		/// A verifier must have room for the largest audit there may be, `LeastRoom`: declare at least
		/// that much work, memory and disk.
		CapacityTooSmall,
		/// The audit reads no such piece, or the pieces are not each once and ascending.
		NotRead,
		/// The caller has committed in this round: it lacks nothing.
		HasCommitted,
		/// The caller has an open claim on this group.
		AlreadyAsked,
		/// The caller has asked for pieces of this group as often as a seat can.
		TooManyClaims,
		/// The trainers of this group were asked as often as they can be.
		TooManyWindows,
		/// The leaves are not those of the states that are asked for, under the revealed root.
		WrongLeaves,
		/// The blob is larger than what is asked for.
		RescueTooLarge,
	}

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		fn on_initialize(now: BlockNumberFor<T>) -> Weight {
			let now: BlockNumber = now.saturated_into();
			if !now.is_multiple_of(T::TurnoverBlocks::get()) {
				return Weight::zero();
			}
			Self::turn(now);
			T::WeightInfo::turn()
		}

		#[cfg(feature = "std")]
		fn integrity_test() {
			assert!(T::CommitBlocks::get() > 0, "no time to commit");
			assert!(T::RevealBlocks::get() > 0, "no time to reveal");
			assert!(T::RescueBlocks::get() > 0, "no time to rescue");
			assert!(
				T::UnbondingBlocks::get()
					> T::CommitBlocks::get().saturating_add(T::RevealBlocks::get()),
				"a bond could be withdrawn before the round it answers for is over"
			);
			assert!(
				SETTLING > T::Beacon::horizon(),
				"the pool ({SETTLING}) must remember for longer than seeds are given ({})",
				T::Beacon::horizon()
			);
			assert!(
				T::UnbondingBlocks::get() > SETTLING,
				"a bond could be withdrawn while its owner can still be drawn"
			);
			assert!(T::TurnoverBlocks::get() > SETTLING, "a turn could be aimed at a draw");
			assert!(T::MinSeats::get() % 2 == 1, "an even committee can be split");
			assert!(T::SeatStake::get() > 0, "seats without a stake");
			assert!(
				T::MinBond::get() >= T::SeatStake::get().saturating_mul(2),
				"a verifier with the least bond could lose its last seat by one absence"
			);
			assert!((1..=REMEMBERED).contains(&T::MaxAbsences::get()), "never or always paused");
			assert!(T::MaxWaitBlocks::get() > 0, "no time to wait");
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Enters the pool of verifiers with `bond` of the caller on hold, and says what the caller
		/// has room for. Whoever is paused or left returns with at least this bond. Where the pool is
		/// full the caller waits for a place: at the end of a turn the largest bonds displace those of
		/// which they are 1.25 times.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::register())]
		pub fn register(
			origin: OriginFor<T>,
			bond: Balance,
			capacity: Resources,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_register(who, bond, capacity)
		}

		/// Leaves the pool. Who waits for a place gets the bond back at once; others after the
		/// unbonding period, and until then they can `resume`.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::deregister())]
		pub fn deregister(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_deregister(who)
		}

		/// Takes back what running seats do not lock of the bond, an unbonding period after leaving.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::withdraw())]
		pub fn withdraw(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_withdraw(who)
		}

		/// Commits the caller's findings in the running round of `job`'s audit, in the place of what
		/// it committed to before:
		/// `commitment::verdict(genesis, job, round, caller, findings, salt)`.
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::commit())]
		pub fn commit(origin: OriginFor<T>, job: JobId, commitment: H256) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_commit(who, job, commitment)
		}

		/// Reveals the findings that the caller committed: one verdict for each group, in the
		/// audit's order. The verdict on a group decided in an earlier round is not looked
		/// at; `Unavailable` is the shortest to put there.
		#[pallet::call_index(4)]
		#[pallet::weight(T::WeightInfo::reveal())]
		pub fn reveal(
			origin: OriginFor<T>,
			job: JobId,
			findings: Findings,
			salt: [u8; 32],
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_reveal(who, job, findings, salt)
		}

		/// Names the complete blob that holds what seats lack of `group`. Each of its trainers can name
		/// one. The `leaves` are those of the states that are asked for, ascending, and lead to the
		/// revealed root. A blob that is not complete yet is announced: blocks keep room for its chunks,
		/// and the call is made again when all are stored.
		#[pallet::call_index(5)]
		#[pallet::weight(T::WeightInfo::rescue())]
		pub fn rescue(
			origin: OriginFor<T>,
			job: JobId,
			group: u32,
			blob: H256,
			leaves: Leaves,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_rescue(who, job, group, blob, leaves)
		}

		/// Adds `amount` to the bond of the caller, wherever it stands. It counts in draws as far as
		/// the turn has room for it, and the rest in later turns.
		#[pallet::call_index(6)]
		#[pallet::weight(T::WeightInfo::bond_extra())]
		pub fn bond_extra(origin: OriginFor<T>, amount: Balance) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_bond_extra(who, amount)
		}

		/// Says what the caller has room for, from the next draws on.
		#[pallet::call_index(7)]
		#[pallet::weight(T::WeightInfo::set_capacity())]
		pub fn set_capacity(origin: OriginFor<T>, capacity: Resources) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_set_capacity(who, capacity)
		}

		/// Ends the caller's pause, or takes back that it left. It is drawn again at once, or waits
		/// where it left and its place is taken.
		#[pallet::call_index(8)]
		#[pallet::weight(T::WeightInfo::resume())]
		pub fn resume(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_resume(who)
		}

		/// Asks for pieces of `group` that the caller lacks for its seat. A second claim on the same
		/// group holds the price of their bytes.
		#[pallet::call_index(9)]
		#[pallet::weight(T::WeightInfo::request())]
		pub fn request(
			origin: OriginFor<T>,
			job: JobId,
			group: u32,
			pieces: Pieces,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_request(who, job, group, pieces)
		}

		/// Says that the caller has what it asked for of `group`. What it prepaid goes to the jackpot.
		#[pallet::call_index(10)]
		#[pallet::weight(T::WeightInfo::withdraw_request())]
		pub fn withdraw_request(origin: OriginFor<T>, job: JobId, group: u32) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_withdraw_request(who, job, group)
		}
	}

	#[pallet::view_functions]
	impl<T: Config> Pallet<T> {
		/// Returns the audit of `job`, while it runs and until it is forgotten.
		pub fn audit_view(job: JobId) -> Option<AuditView<T::AccountId>> {
			Self::view(job)
		}

		/// Returns the verifiers that can be drawn and their bonds, by account.
		pub fn verifiers() -> Vec<(T::AccountId, Balance)> {
			Self::active()
		}

		/// Returns where `who` stands as a verifier, while its bond is here.
		pub fn verifier(who: T::AccountId) -> Option<VerifierView> {
			Self::verifier_of(&who)
		}
	}
}
