//! Commit and reveal of results, one round per job.
//!
//! A round is opened for the trainers of a job. While it is *committing* each of them may send a
//! commitment, a hash that binds its result, the job, the chain and itself, and may replace it. While
//! it is *revealing* whoever committed may show the result; it counts only if it hashes to the last
//! commitment. The pallet
//! keeps no clock: whoever opened a round (the task market) moves it on, and is called through
//! [`JobObserver`](trainyard_traits::JobObserver) when there is nothing left to wait for.

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
#[cfg(test)]
mod mock;
mod rounds;
#[cfg(test)]
mod tests;
mod types;
pub mod weights;

pub use pallet::*;
pub use types::*;
pub use weights::WeightInfo;

#[frame_support::pallet]
// The macros' own code calls `expect`; the work of this pallet is in the other files.
#[allow(clippy::expect_used)]
pub mod pallet {
	use super::*;
	use frame_support::pallet_prelude::*;
	use frame_system::pallet_prelude::*;
	use trainyard_protocol::{
		job::{Reveal, WorkResult},
		JobId, H256,
	};
	use trainyard_traits::JobObserver;

	/// Version of the layout of this pallet's storage.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(1);

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs from the runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<Hash = H256, RuntimeEvent: From<Event<Self>>> {
		/// Called once nothing is left to wait for: everyone has committed, or everyone who
		/// committed has revealed.
		type Observer: JobObserver;

		/// Weights of the calls.
		type WeightInfo: WeightInfo;
	}

	/// The round of each job, from its opening until the job is forgotten.
	#[pallet::storage]
	pub type Rounds<T: Config> = StorageMap<_, Twox64Concat, JobId, Round<T::AccountId>>;

	#[pallet::event]
	#[pallet::generate_deposit(pub(super) fn deposit_event)]
	pub enum Event<T: Config> {
		/// A round was opened; commitments are taken.
		RoundOpened {
			/// The job.
			job: JobId,
		},
		/// A trainer committed to a result.
		Committed {
			/// The job.
			job: JobId,
			/// Who committed.
			trainer: T::AccountId,
			/// Hash that binds the result.
			commitment: H256,
		},
		/// Committing is over; reveals are taken.
		RevealsOpened {
			/// The job.
			job: JobId,
			/// How many trainers committed.
			committed: u32,
		},
		/// A trainer showed the result it had committed to.
		Revealed {
			/// The job.
			job: JobId,
			/// Who revealed.
			trainer: T::AccountId,
			/// The result.
			result: WorkResult,
		},
		/// The round takes nothing any more.
		RoundClosed {
			/// The job.
			job: JobId,
			/// How many trainers revealed.
			revealed: u32,
		},
	}

	#[pallet::error]
	pub enum Error<T> {
		/// The job has no round: it does not exist, its trainers are not drawn yet, or it was
		/// forgotten.
		NoRound,
		/// The job has a round already.
		RoundExists,
		/// A round needs one to `MAX_REPLICAS` trainers, each of them once.
		BadTrainers,
		/// The caller is not one of the trainers of this job.
		NotATrainer,
		/// Commitments are not taken any more.
		NotCommitting,
		/// Reveals are not taken yet, or not any more.
		NotRevealing,
		/// The caller has committed to nothing, so it has nothing to reveal.
		NothingCommitted,
		/// The caller has revealed already.
		AlreadyRevealed,
		/// Result and salt do not hash to the commitment.
		RevealMismatch,
		/// The location is not an `http://`, `https://` or `iroh://` URL in UTF-8, so verifiers could not
		/// fetch the bundle.
		BadLocation,
		/// The result claims a number of trained segments that no result of this job can have: all
		/// of them, or fewer where its specification may stop early or training diverged.
		WrongSegments,
	}

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Commits the caller to a result of `job`, in the place of what it committed to before. A
		/// commitment that was meant for another fork must not cost its sender the deposit.
		///
		/// `commitment` is `blake2_256(SCALE("trainyard/commit/v3", genesis hash, job, caller,
		/// bundle root, model root, segments, diverged, salt))`; keep the salt, the reveal needs it.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::commit())]
		pub fn commit(origin: OriginFor<T>, job: JobId, commitment: H256) -> DispatchResult {
			let trainer = ensure_signed(origin)?;
			Self::do_commit(job, trainer, commitment)
		}

		/// Shows the result of `job` that the caller committed to, and where its bundle and
		/// data are served. The location is not part of the commitment.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::reveal())]
		pub fn reveal(
			origin: OriginFor<T>,
			job: JobId,
			reveal: Reveal,
			salt: [u8; 32],
		) -> DispatchResult {
			let trainer = ensure_signed(origin)?;
			Self::do_reveal(job, trainer, reveal, salt)
		}
	}
}
