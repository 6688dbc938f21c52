//! Verifiers, and the audits that they carry out.
//!
//! - Verifiers [`Pallet::register`] with a bond, which is their weight when committees
//!   are drawn and answers for what they say. Leaving takes an unbonding period.
//! - An audit decides for every *distinct* result of a job ("group") whether it is true. Its owner
//!   (the task market) opens it, calls `Audits::advance` at the height that the audit returned, and
//!   again when `JobObserver::progressed` reports that everyone in a phase is done: this pallet has
//!   no clock of its own.
//! - A round: `committee` draws verifiers and segments of each result from randomness of blocks
//!   after the opening; they replay and [`Pallet::commit`]; when all have, or the time is up, they
//!   [`Pallet::reveal`]; [`verdicts`] decides each group by a strict majority of the committee.
//!   `rounds` takes an audit from phase to phase.
//! - A group without a majority gets another round. Where the majority could not fetch a result,
//!   its trainers may store the drawn states on chain and [`Pallet::rescue`] it. An audit has at
//!   most `MAX_AUDIT_ROUNDS` rounds, and each phase has a deadline, so it ends even if participants
//!   vanish.
//! - A verifier that agreed with what was decided in a round has earned a fee, which the owner of
//!   the audit pays; one that gave no verdict or a contrary one loses a part of the bond to the
//!   jackpot, see `bonds`.
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
mod committee;
#[cfg(test)]
mod mock;
pub mod pool;
mod recompute;
mod rescue;
mod rounds;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "std", feature = "try-runtime"))]
mod try_state;
mod types;
pub mod verdicts;
mod views;
pub mod weights;

pub use pallet::*;
pub use pool::{Entry, Room, SETTLING};
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
	use sp_runtime::Permill;
	use trainyard_protocol::{
		audit::{Decision, Findings},
		job::{Balance, BlockNumber},
		views::AuditView,
		JobId,
	};
	use trainyard_traits::{AwaitedBlobs, Beacon, JobObserver};

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

		/// Smallest bond of a verifier in the pool.
		#[pallet::constant]
		type MinBond: Get<Balance>;

		/// Blocks from leaving the pool until the bond can be withdrawn. Longer than a round of
		/// an audit, so that a bond answers for the whole of it.
		#[pallet::constant]
		type UnbondingBlocks: Get<BlockNumber>;

		/// Most verifiers in the pool.
		#[pallet::constant]
		type MaxPool: Get<u32>;

		/// Fewest seats of a committee. With fewer eligible verifiers nobody is seated.
		#[pallet::constant]
		type MinSeats: Get<u32>;

		/// Blocks for replaying and committing.
		type CommitBlocks: Get<BlockNumber>;

		/// Blocks for revealing.
		type RevealBlocks: Get<BlockNumber>;

		/// Blocks for storing the states of a result that could not be fetched.
		type RescueBlocks: Get<BlockNumber>;

		/// Part of the bond lost by a member of a committee without a verdict.
		#[pallet::constant]
		type AbsentSlash: Get<Permill>;

		/// Part of the bond lost by a member of a committee who contradicted its decision.
		#[pallet::constant]
		type ContrarySlash: Get<Permill>;
	}

	/// What this pallet holds of somebody's balance.
	#[pallet::composite_enum]
	pub enum HoldReason {
		/// Bond of a verifier.
		VerifierBond,
	}

	/// Verifiers that committees are drawn from, and their bonds; see [`crate::pool`]. One
	/// value, because a draw reads all of them.
	#[pallet::storage]
	pub type Pool<T: Config> =
		StorageValue<_, BoundedBTreeMap<T::AccountId, Entry, Room<T::MaxPool>>, ValueQuery>;

	/// Verifiers that left the pool and have not withdrawn their bond.
	#[pallet::storage]
	pub type LeavingVerifiers<T: Config> =
		StorageMap<_, Blake2_128Concat, T::AccountId, Leaving, OptionQuery>;

	/// The audits, by job. A decided one stays until its owner forgets it.
	#[pallet::storage]
	pub type AuditRecords<T: Config> = StorageMap<_, Twox64Concat, JobId, AuditOf<T>, OptionQuery>;

	/// The blobs that trainers are going to store as rescues, by job and trainer.
	#[pallet::storage]
	pub type Announced<T: Config> =
		StorageDoubleMap<_, Twox64Concat, JobId, Blake2_128Concat, T::AccountId, H256, OptionQuery>;

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
		/// A verifier entered the pool.
		Registered {
			/// Who.
			verifier: T::AccountId,
			/// Its bond.
			bond: Balance,
		},
		/// A verifier raised its bond.
		BondRaised {
			/// Who.
			verifier: T::AccountId,
			/// Its bond now.
			bond: Balance,
		},
		/// A verifier left the pool, by itself or because its bond fell below the minimum.
		Left {
			/// Who.
			verifier: T::AccountId,
			/// Last block in which its bond cannot be withdrawn.
			until: BlockNumber,
		},
		/// A verifier that left got back what is left of its bond.
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
			/// The committee, in the order drawn; empty when nobody is eligible.
			committee: Vec<T::AccountId>,
			/// The segments to replay, of each distinct result.
			segments: Vec<Vec<u32>>,
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
		/// The majority could not fetch a result: its trainers may store the drawn states.
		RescueOpened {
			/// Of which job.
			job: JobId,
			/// Last block for `rescue`.
			until: BlockNumber,
		},
		/// The drawn states of a result are on chain.
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
	}

	#[pallet::error]
	pub enum Error<T> {
		/// The bond is smaller than the minimum.
		BondTooSmall,
		/// The caller is a verifier already.
		AlreadyVerifier,
		/// The caller is leaving: withdraw the bond first.
		StillLeaving,
		/// The pool of verifiers is full, and nobody in it has a smaller bond.
		PoolFull,
		/// The caller is not in the pool of verifiers.
		NotVerifier,
		/// The caller has not left the pool of verifiers.
		NotLeaving,
		/// The unbonding period is not over.
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
		/// The audit has no such group.
		NoSuchGroup,
		/// The verifiers did not ask for the states of this group.
		NotAsked,
		/// The states of this group are stored already.
		AlreadyRescued,
		/// Only a trainer of the group can rescue it.
		NotTrainer,
		/// The blob is not complete on chain. No call returns this any more.
		BlobIncomplete,
	}

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
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
			assert!(T::MinSeats::get() % 2 == 1, "an even committee can be split");
			assert!(
				T::ContrarySlash::get() >= T::AbsentSlash::get(),
				"a false verdict must not cost less than none"
			);
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Enters the pool of verifiers with `bond` of the caller on hold.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::register())]
		pub fn register(origin: OriginFor<T>, bond: Balance) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_register(who, bond)
		}

		/// Leaves the pool. The bond answers for running audits until it can be withdrawn.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::deregister())]
		pub fn deregister(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_deregister(who)
		}

		/// Takes back what is left of the bond, an unbonding period after leaving.
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

		/// Names the complete blob that holds the drawn states of `group`, which the verifiers
		/// could not fetch. Only one of its trainers may do this. A blob that is not complete yet is
		/// announced: blocks keep room for its chunks, and the call is made again when all are
		/// stored.
		#[pallet::call_index(5)]
		#[pallet::weight(T::WeightInfo::rescue())]
		pub fn rescue(origin: OriginFor<T>, job: JobId, group: u32, blob: H256) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_rescue(who, job, group, blob)
		}

		/// Adds `amount` to the bond of the caller, who is in the pool.
		#[pallet::call_index(6)]
		#[pallet::weight(T::WeightInfo::bond_extra())]
		pub fn bond_extra(origin: OriginFor<T>, amount: Balance) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_bond_extra(who, amount)
		}
	}

	#[pallet::view_functions]
	impl<T: Config> Pallet<T> {
		/// Returns the audit of `job`, while it runs and until it is forgotten.
		pub fn audit_view(job: JobId) -> Option<AuditView<T::AccountId>> {
			Self::view(job)
		}

		/// Returns the verifiers in the pool and their bonds, by account.
		pub fn verifiers() -> Vec<(T::AccountId, Balance)> {
			Self::active()
		}
	}
}
