//! From what the members of the next generation go on.
//!
//! A member goes on from the model of its result, by its own specification. Where that was not shown with its
//! parameters in time, it goes on from the model with which it began, or, without one, begins again by its
//! specification; and it counts as worst where members are replaced. One that is replaced takes model and
//! specification of its parent, with another learning rate.
//!
//! Models are named here before they are let go there, so none can be removed between two generations.

use crate::{Base, Config, Event, Member, MemberSpecs, Pallet, Set, WeightInfo};
use alloc::vec::Vec;
use frame_support::{weights::Weight, BoundedVec};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	job::BlockNumber,
	sets::{children, perturb, Run, SetId, Stage},
	H256,
};
use trainyard_traits::{AwaitedBlobs, BlobStore};

impl<T: Config> Pallet<T> {
	/// Returns the models of the running generation that can be trained further, in the order of the members.
	pub(crate) fn models(set: &Set<T::AccountId>) -> Vec<Option<Base>> {
		let of = |member: &Member| match member.run {
			Run::Shown { result, parameters: Some(parameters), .. } => {
				let root = result.model_root;
				T::Blobs::size(&root).map(|bytes| Base { root, bytes, parameters })
			}
			_ => None,
		};
		set.members.iter().map(of).collect()
	}

	/// Begins the next generation: its members wait to be posted.
	pub(crate) fn breed(
		id: SetId,
		set: &mut Set<T::AccountId>,
		seed: &H256,
	) -> (BlockNumber, Weight) {
		let generation = set.generation.saturating_add(1);
		let models = Self::models(set);
		let scores = set.scores().into_iter().zip(&models);
		let scores: Vec<_> =
			scores.map(|(score, model)| score.filter(|_| model.is_some())).collect();
		let specs: Vec<Option<JobSpec>> = (0u32..)
			.zip(&set.members)
			.map(|(number, _)| MemberSpecs::<T>::get(id, number))
			.collect();
		let before = core::mem::take(&mut set.members);
		let mut next = Vec::new();
		for ((number, child), member) in
			(0u32..).zip(children(&set.plan, &scores, seed)).zip(&before)
		{
			let of_parent = models.get(child.parent as usize).copied().flatten();
			let base = if child.parent == number { of_parent.or(member.base) } else { of_parent };
			let spec = specs.get(child.parent as usize).cloned().flatten();
			if let Some(mut spec) = spec.filter(|_| child.parent != number) {
				perturb(&mut spec, child.factor);
				let learning_rate_nano = spec.training.learning_rate_nano;
				MemberSpecs::<T>::insert(id, number, spec);
				Self::deposit_event(Event::Replaced {
					set: id,
					generation,
					member: number,
					parent: child.parent,
					learning_rate_nano,
				});
			}
			if let Some(base) = &base {
				T::Blobs::expect(&base.root);
			}
			let parent = base.map(|_| child.parent);
			next.push(Member { base, parent, run: Run::Waiting });
		}
		Self::release_models(&before);
		set.members = BoundedVec::truncate_from(next);
		let now = Self::now();
		(set.generation, set.stage, set.since) = (generation, Stage::Training, now);
		(now.saturating_add(1), T::WeightInfo::breed())
	}
}
