//! What members score.
//!
//! The bundle root of a result is over its checkpoints, each with an evaluation; the audit has replayed the last
//! segment of what it accepted, whatever else was drawn. So the leaf at the place of the last checkpoint has the
//! score, and a path shows it. An earlier checkpoint is at another place, and that of another job under another
//! root.

use crate::{Config, Error, Event, Member, Pallet, Set, Sets};
use frame_support::{ensure, pallet_prelude::DispatchResult};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	accusation::{Leaf, LeafContent},
	bundle::Evaluation,
	job::WorkResult,
	merkle,
	sets::{Run, SetId, Stage},
	H256,
};
use trainyard_traits::{AwaitedBlobs, BlobStore, JobEnd, PostedJobs};

/// Returns the evaluation of the last checkpoint of a result, if `leaf` shows it.
pub fn score_of(result: &WorkResult, leaf: &Leaf) -> Option<Evaluation> {
	let LeafContent::Checkpoint(last) = leaf.content else { return None };
	let (root, hash) = (&result.bundle_root, leaf.content.leaf());
	let shows = merkle::verify(root, &hash, result.segments, result.leaves(), &leaf.path);
	let is_score = shows && !result.diverged && last.evaluation.labels > 0;
	is_score.then_some(last.evaluation)
}

impl<T: Config> Pallet<T> {
	/// Notes how the job of a member ended, if it did, and keeps the model of its result on chain.
	pub(crate) fn note_end(id: SetId, generation: u32, number: u32, member: &mut Member) {
		let Run::Running(job) = member.run else { return };
		let Some(end) = T::Jobs::ended(job) else { return };
		match end {
			JobEnd::Accepted(result)
				if !result.diverged && T::Blobs::is_complete(&result.model_root) =>
			{
				T::Blobs::expect(&result.model_root);
				member.run = Run::Accepted { job, result };
			}
			JobEnd::Accepted(_) | JobEnd::Stopped | JobEnd::Failed => {
				member.run = Run::Out(Some(job));
				Self::deposit_event(Event::Failed { set: id, generation, member: number, job });
			}
		}
	}

	/// Fails where scores are not shown now.
	fn check_time(set: &Set<T::AccountId>) -> Result<(), Error<T>> {
		match set.stage {
			Stage::Training => Ok(()),
			Stage::Showing { until } if Self::now() <= until => Ok(()),
			_ => Err(Error::NotShowing),
		}
	}

	pub(crate) fn do_show(
		who: T::AccountId,
		id: SetId,
		number: u32,
		leaf: &Leaf,
		parameters: Option<H256>,
	) -> DispatchResult {
		let mut set = Sets::<T>::get(id).ok_or(Error::<T>::NoSuchSet)?;
		Self::check_time(&set)?;
		ensure!(parameters.is_none() || who == set.submitter, Error::<T>::NotSubmitter);
		let generation = set.generation;
		let member = set.members.get_mut(number as usize).ok_or(Error::<T>::NoSuchMember)?;
		Self::note_end(id, generation, number, member);
		let (job, result) = match member.run {
			Run::Accepted { job, result } => (job, result),
			Run::Shown { job, result, parameters: None, .. } if parameters.is_some() => {
				(job, result)
			}
			Run::Shown { .. } => return Err(Error::<T>::AlreadyShown.into()),
			Run::Waiting | Run::Running(_) | Run::Out(_) => {
				return Err(Error::<T>::NoResult.into());
			}
		};
		let score = score_of(&result, leaf).ok_or(Error::<T>::BadLeaf)?;
		member.run = Run::Shown { job, result, score, parameters };
		if set.is_settled() {
			Self::hasten(id);
		}
		Sets::<T>::insert(id, set);
		let set = id;
		Self::deposit_event(Event::Shown {
			set,
			generation,
			member: number,
			job,
			score,
			parameters,
		});
		Ok(())
	}
}
