//! The removal of projects that ended, with what the chain keeps of them.
//!
//! It has a clock of its own, which is served with what work under way has left of a block: nobody
//! delays units by projects that end.

use crate::{
	projects::Found, CleanAgenda, CleanCursor, CleanDue, Config, Error, Event, Pallet, Projects,
	Results, Retries, Templates, Votes, WeightInfo, CLEAR_STEP,
};
use core::marker::PhantomData;
use frame_support::{ensure, pallet_prelude::DispatchResult, traits::Get, weights::Weight};
use sp_runtime::DispatchError;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{drill::ProjectId, job::Balance};

/// The clock of removals.
pub struct Cleaning<T>(PhantomData<T>);

impl<T: Config> Clock for Cleaning<T> {
	type Runtime = T;
	type Task = ProjectId;
	type Agenda = CleanAgenda<T>;
	type Due = CleanDue<T>;
	type Cursor = CleanCursor<T>;

	fn look_weight() -> Weight {
		Pallet::<T>::look_weight()
	}

	fn key_weight() -> Weight {
		Pallet::<T>::key_weight()
	}

	fn worst_task() -> Weight {
		T::WeightInfo::clear()
	}

	fn perform(project: ProjectId) -> Weight {
		CleanDue::<T>::remove(project);
		Pallet::<T>::clear_by_clock(project);
		T::WeightInfo::clear()
	}
}

impl<T: Config> Pallet<T> {
	/// Returns the project; fails if `who`, or with `None` the clock, cannot remove it now. Of one
	/// that never had a unit its proposer may be rid at once: there is nothing to read in it.
	fn clearable(id: ProjectId, who: Option<&T::AccountId>) -> Result<Found<T>, DispatchError> {
		let project = Projects::<T>::get(id).ok_or(Error::<T>::NoSuchProject)?;
		let own = who == Some(&project.proposer) && project.begun == 0;
		let over = project.stage.ended().is_some_and(|at| {
			let kept = own || Self::now() >= at.saturating_add(T::KeepBlocks::get());
			kept && project.running == 0
		});
		ensure!(over, Error::<T>::StillKept);
		Ok(project)
	}

	pub(crate) fn do_clear(who: T::AccountId, id: ProjectId) -> DispatchResult {
		let project = Self::clearable(id, Some(&who))?;
		if Self::clear_step(id, project) {
			Cleaning::<T>::unschedule(id);
		}
		Ok(())
	}

	/// Removes a part of a project by the clock.
	pub(crate) fn clear_by_clock(id: ProjectId) {
		if !Projects::<T>::contains_key(id) {
			return;
		}
		let cleared = Self::clearable(id, None).is_ok_and(|project| Self::clear_step(id, project));
		if !cleared {
			// There are more entries, or a unit is still under way.
			Cleaning::<T>::schedule(id, Self::now().saturating_add(1));
		}
	}

	/// Removes at most [`CLEAR_STEP`] entries of a project, and the project itself when there are
	/// no more. Returns whether it is gone.
	fn clear_step(id: ProjectId, mut project: Found<T>) -> bool {
		let step = CLEAR_STEP as usize;
		let mut gone = Votes::<T>::drain_prefix(id).take(step).count();
		let mut left = step.saturating_sub(gone);
		gone = Retries::<T>::drain_prefix(id).take(left).count();
		left = left.saturating_sub(gone);
		gone = Results::<T>::drain_prefix(id).take(left).count();
		left = left.saturating_sub(gone);
		if left == 0 {
			return false;
		}
		let deposit: Balance = Self::give_back(&mut project);
		Projects::<T>::remove(id);
		Templates::<T>::remove(id);
		Self::deposit_event(Event::ProjectCleared { project: id, deposit });
		true
	}
}
