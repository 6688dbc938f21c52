//! Posting a task, applying for it, and taking it back.

use crate::{
	Broken, Config, Error, Event, HoldReason, NextTask, Outputs, Pallet, Subject, Task, Tasks,
};
use frame_support::{ensure, pallet_prelude::DispatchResult, traits::Get, BoundedVec};
use sp_runtime::traits::Zero;
use trainyard_pallet_support::agenda::Clock;
use trainyard_task::{
	claim,
	views::{Phase, TaskEnd},
	File, TaskId, TaskSpec, TaskTerms, H256,
};
use trainyard_traits::{AwaitedBlobs, BlobStore};

/// A task of a runtime's accounts.
pub(crate) type TaskOf<T> = Task<<T as frame_system::Config>::AccountId>;

impl<T: Config> Pallet<T> {
	pub(crate) fn do_post(
		submitter: T::AccountId,
		spec: TaskSpec,
		terms: TaskTerms,
	) -> DispatchResult {
		let bounds = T::Bounds::get();
		let broken = |fault| Error::<T>::Invalid(Broken(fault));
		spec.check(&bounds).map_err(broken)?;
		terms.check(&spec, &bounds).map_err(broken)?;
		for file in [&spec.module, &spec.input] {
			ensure!(Self::is_on_chain(file), Error::<T>::NotOnChain);
		}
		let id = NextTask::<T>::get();
		NextTask::<T>::put(id.checked_add(1).ok_or(Error::<T>::TooMany)?);
		let escrow = terms.escrow().ok_or(Error::<T>::AmountOverflow)?;
		let record = T::RecordDeposit::get();
		Self::hold(HoldReason::Escrow, &submitter, escrow)?;
		Self::hold(HoldReason::Record, &submitter, record)?;
		for file in [&spec.module, &spec.input] {
			T::Blobs::expect(&file.root);
		}
		let until = Self::now().saturating_add(terms.apply);
		Self::deposit_event(Event::Posted { task: id, submitter: submitter.clone(), escrow });
		let task = Task {
			submitter,
			spec,
			terms,
			escrow,
			record,
			phase: Phase::Open { until },
			applicants: BoundedVec::new(),
			replicas: BoundedVec::new(),
			auditor: None,
			silent: BoundedVec::new(),
			claims: BoundedVec::new(),
			next_dispute: 0,
			running: 0,
			challenges: 0,
		};
		Tasks::<T>::insert(id, task);
		Self::schedule(Subject::Task(id), until.saturating_add(1));
		Ok(())
	}

	/// Returns whether all bytes of a file are on chain.
	pub(crate) fn is_on_chain(file: &File) -> bool {
		T::Blobs::size(&file.root) == Some(file.bytes.into()) && T::Blobs::is_complete(&file.root)
	}

	/// Returns a task, or the error that there is none.
	pub(crate) fn task(id: TaskId) -> Result<TaskOf<T>, Error<T>> {
		Tasks::<T>::get(id).ok_or(Error::<T>::NoSuchTask)
	}

	pub(crate) fn do_apply(who: T::AccountId, id: TaskId, digest: H256) -> DispatchResult {
		let mut task = Self::task(id)?;
		let Phase::Open { until } = task.phase else { return Err(Error::<T>::NotOpen.into()) };
		ensure!(Self::now() <= until, Error::<T>::NotOpen);
		ensure!(digest == claim::digest(&task.spec, &task.terms), Error::<T>::OtherTask);
		ensure!(who != task.submitter, Error::<T>::OwnTask);
		ensure!(!task.applicants.contains(&who), Error::<T>::HasApplied);
		task.applicants.try_push(who.clone()).map_err(|_| Error::<T>::TooManyApplicants)?;
		Self::hold(HoldReason::Replica, &who, task.terms.deposit)?;
		Tasks::<T>::insert(id, task);
		Self::deposit_event(Event::Applied { task: id, who });
		Ok(())
	}

	pub(crate) fn do_cancel(who: T::AccountId, id: TaskId) -> DispatchResult {
		let mut task = Self::task(id)?;
		ensure!(who == task.submitter, Error::<T>::NotSubmitter);
		ensure!(matches!(task.phase, Phase::Open { .. }), Error::<T>::NotOpen);
		Self::end(id, &mut task, TaskEnd::Cancelled);
		Tasks::<T>::insert(id, task);
		Ok(())
	}

	/// Gives the deposits of all applicants back that are left.
	pub(crate) fn dismiss_applicants(task: &mut TaskOf<T>) {
		for who in core::mem::take(&mut task.applicants) {
			Self::give_back(HoldReason::Replica, &who, task.terms.deposit);
		}
	}

	/// Forgets a task that ended long ago.
	pub(crate) fn forget(id: TaskId, task: &TaskOf<T>) {
		Self::give_back(HoldReason::Record, &task.submitter, task.record);
		for claim in 0..task.claims.len() {
			Outputs::<T>::remove(id, u8::try_from(claim).unwrap_or(u8::MAX));
		}
		Tasks::<T>::remove(id);
	}

	/// Returns the hash of the first block, which commitments cover.
	pub fn genesis_hash() -> H256 {
		frame_system::Pallet::<T>::block_hash(
			frame_system::pallet_prelude::BlockNumberFor::<T>::zero(),
		)
	}

	/// Maps a task's rule to this pallet's error.
	#[cfg(test)]
	pub(crate) fn invalid(fault: trainyard_task::spec::TaskFault) -> sp_runtime::DispatchError {
		Error::<T>::Invalid(Broken(fault)).into()
	}
}
