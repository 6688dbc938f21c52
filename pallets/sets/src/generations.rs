//! The steps of a generation.
//!
//! | stage | goes on when | and then |
//! |---|---|---|
//! | Training | every job was posted and has ended | Showing; with nothing to be shown, as after that |
//! | Showing | all is shown, or its last block is over | Drawing, Training, or `Done`, `Stopped`, `NoScore`, `NoModel` |
//! | Drawing | the seed is there | Training |
//! | Ended | `RetentionBlocks` after that | its records are removed |
//!
//! A job always ends by the market's deadlines, showing by its last block, and there are as many generations as the
//! plan says at most; a generation without a score is the last. So no set lasts for ever, nor posts jobs that
//! nobody is paid for generation after generation.

use crate::{
	Config, Event, Generations, Member, MemberSpecs, Pallet, Set, Sets, WeightInfo, FORGET_STEP,
};
use alloc::vec::Vec;
use codec::Encode;
use core::cmp::Ordering;
use frame_support::{defensive, storage::with_storage_layer, traits::Get, weights::Weight};
use trainyard_pallet_support::agenda::Clock;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	job::BlockNumber,
	sets::{ranking, Best, Generation, Run, SetEnding, SetId, Stage, Trained, MAX_MEMBERS},
	H256,
};
use trainyard_traits::{AwaitedBlobs, Beacon, PostedJobs, Seed};

/// Domain of the seed by which members are replaced.
const SEED: &[u8] = b"trainyard/set/replace/v1";

impl<T: Config> Pallet<T> {
	/// Looks at a set: does what can be done of the stage that it is in, and puts it on the agenda again. Returns
	/// the weight of what was done, at most [`Self::worst_advance`].
	pub fn advance(id: SetId) -> Weight {
		let Some(mut set) = Sets::<T>::get(id) else {
			defensive!("a set on the agenda exists");
			Self::unschedule(id);
			return T::WeightInfo::look();
		};
		let now = Self::now();
		let (next, more) = match set.stage {
			Stage::Training => Self::look_at_training(id, &mut set, now),
			Stage::Showing { until } if now <= until && !set.is_settled() => {
				(until.saturating_add(1), Weight::zero())
			}
			Stage::Showing { .. } => Self::conclude(id, &mut set, now),
			Stage::Drawing { after } => Self::look_at_drawing(id, &mut set, after, now),
			Stage::Ended(_) => return Self::forget(id, &set),
		};
		Self::schedule(id, next);
		Sets::<T>::insert(id, set);
		T::WeightInfo::look().saturating_add(more)
	}

	/// Returns the largest weight of one [`Self::advance`].
	pub fn worst_advance() -> Weight {
		let post = T::WeightInfo::post().saturating_add(T::Jobs::post_weight());
		let breed = T::WeightInfo::breed().saturating_add(T::Beacon::seed_weight());
		T::WeightInfo::look()
			.saturating_add(Self::standings_weight())
			.saturating_add(T::WeightInfo::conclude().saturating_mul(2))
			.saturating_add(post.max(breed))
			.max(T::WeightInfo::forget())
	}

	/// Returns the weight of asking what became of as many jobs as a set has members.
	fn standings_weight() -> Weight {
		T::Jobs::standing_weight().saturating_mul(MAX_MEMBERS.into())
	}

	/// Posts one member that waits, since posting is the most work, and looks at all jobs that run.
	fn look_at_training(
		id: SetId,
		set: &mut Set<T::AccountId>,
		now: BlockNumber,
	) -> (BlockNumber, Weight) {
		let mut weight = Self::standings_weight();
		let mut members = core::mem::take(&mut set.members);
		let (mut posted, mut noted) = (false, false);
		for (number, member) in (0u32..).zip(members.iter_mut()) {
			match member.run {
				Run::Waiting if set.stopping => member.run = Run::Out(None),
				Run::Waiting if !posted => {
					posted = true;
					Self::post(id, set, number, member);
				}
				Run::Running(_) => {
					Self::note_end(id, set.generation, number, member);
					noted |= !matches!(member.run, Run::Running(_));
				}
				_ => {}
			}
		}
		set.members = members;
		if noted {
			// Names of models are counted there.
			weight = weight.saturating_add(T::WeightInfo::conclude());
		}
		if posted {
			weight = weight.saturating_add(T::WeightInfo::post());
			weight = weight.saturating_add(T::Jobs::post_weight());
			// What follows takes as much again, and has its own block.
			return (now.saturating_add(1), weight);
		}
		if !set.has_trained() {
			return (now.saturating_add(T::PollBlocks::get()), weight);
		}
		if set.is_settled() {
			let (next, more) = Self::conclude(id, set, now);
			return (next, weight.saturating_add(more));
		}
		let until = now.saturating_add(set.plan.show_blocks);
		(set.stage, set.since) = (Stage::Showing { until }, now);
		Self::deposit_event(Event::Showing { set: id, generation: set.generation, until });
		(until.saturating_add(1), weight)
	}

	/// Returns what a member trains, if its specification is on record.
	pub(crate) fn spec_of(id: SetId, number: u32, member: &Member) -> Option<JobSpec> {
		let mut spec = MemberSpecs::<T>::get(id, number)?;
		if let Some(base) = member.base {
			spec.initial_model = Some(base.initial());
		}
		Some(spec)
	}

	/// Posts a member; one that cannot be posted is out.
	fn post(id: SetId, set: &Set<T::AccountId>, number: u32, member: &mut Member) {
		let posting = || {
			let spec = Self::spec_of(id, number, member).ok_or(crate::Error::<T>::NoSuchMember)?;
			let spec = Self::checked(spec)?;
			T::Jobs::post(&set.submitter, spec, set.terms.clone(), set.plan.max_fee_per_ut)
		};
		let generation = set.generation;
		match with_storage_layer(posting) {
			Ok(job) => {
				member.run = Run::Running(job);
				Self::deposit_event(Event::Posted { set: id, generation, member: number, job });
			}
			Err(error) => {
				member.run = Run::Out(None);
				Self::deposit_event(Event::NotPosted {
					set: id,
					generation,
					member: number,
					error,
				});
			}
		}
	}

	/// Ends a generation: notes what came of it, and begins the next one, or its draw, if there is one.
	fn conclude(id: SetId, set: &mut Set<T::AccountId>, now: BlockNumber) -> (BlockNumber, Weight) {
		let scores = set.scores();
		Self::note_best(set);
		let trained = (0u32..).zip(&set.members).map(|(number, member)| {
			let rate =
				MemberSpecs::<T>::get(id, number).map(|spec| spec.training.learning_rate_nano);
			Trained {
				parent: member.parent,
				learning_rate_nano: rate.unwrap_or_default(),
				job: member.run.job(),
				score: member.run.score(),
				model: member.run.result().map(|result| result.model_root),
			}
		});
		let trained = Generation::truncate_from(trained.collect());
		Generations::<T>::insert(id, set.generation, trained);
		let (generation, best) = (set.generation, set.best);
		let count = u32::try_from(scores.iter().flatten().count()).unwrap_or(u32::MAX);
		Self::deposit_event(Event::GenerationEnded { set: id, generation, scores: count, best });
		let was_last = generation.saturating_add(1) >= set.plan.generations;
		let ending = if count == 0 {
			Some(SetEnding::NoScore)
		} else if was_last {
			Some(SetEnding::Done)
		} else if set.stopping {
			Some(SetEnding::Stopped)
		} else if Self::models(set).iter().all(Option::is_none) {
			Some(SetEnding::NoModel)
		} else {
			None
		};
		let weight = T::WeightInfo::conclude();
		if let Some(ending) = ending {
			return (Self::end(id, set, ending), weight);
		}
		set.since = now;
		if set.plan.replaced == 0 {
			let (next, more) = Self::breed(id, set, &H256::zero());
			return (next, weight.saturating_add(more));
		}
		let after = T::Beacon::draw_height(now);
		set.stage = Stage::Drawing { after };
		(after.saturating_add(1), weight)
	}

	/// Notes the best of the generation, if it is better than that of all before, and keeps its model on chain.
	fn note_best(set: &mut Set<T::AccountId>) {
		let measure = set.plan.measure;
		let order = ranking(measure, &set.scores());
		let Some(member) = order.first().copied() else { return };
		let Some(Run::Shown { job, result, score, .. }) =
			set.members.get(member as usize).map(|member| member.run)
		else {
			return;
		};
		let better = |best: &Best| measure.compare(&score, &best.score) == Ordering::Less;
		if set.best.as_ref().is_none_or(better) {
			let (generation, model) = (set.generation, result.model_root);
			T::Blobs::expect(&model);
			let before = set.best.replace(Best { member, generation, job, score, model });
			if let Some(before) = before {
				T::Blobs::release(&before.model, &[]);
			}
		}
	}

	/// Begins the next generation as soon as the seed is there.
	fn look_at_drawing(
		id: SetId,
		set: &mut Set<T::AccountId>,
		after: BlockNumber,
		now: BlockNumber,
	) -> (BlockNumber, Weight) {
		let weight = T::Beacon::seed_weight();
		let subject = (id, set.generation).encode();
		match T::Beacon::seed(SEED, &subject, after) {
			Seed::NotBefore(height) => (height, weight),
			Seed::Lost => {
				let after = T::Beacon::draw_height(now);
				set.stage = Stage::Drawing { after };
				(after.saturating_add(1), weight)
			}
			Seed::Ready(seed) => {
				let (next, more) = Self::breed(id, set, &seed);
				(next, weight.saturating_add(more))
			}
		}
	}

	/// Lets the models go with which the members began, and those of their results.
	pub(crate) fn release_models(members: &[Member]) {
		let bases = members.iter().filter_map(|member| member.base).map(|base| base.root);
		let results = members.iter().filter_map(|member| member.run.result());
		let all: Vec<H256> = bases.chain(results.map(|result| result.model_root)).collect();
		for root in all {
			T::Blobs::release(&root, &[]);
		}
	}

	/// Ends a set: lets go of all models. Returns the height of the next look.
	pub(crate) fn end(id: SetId, set: &mut Set<T::AccountId>, ending: SetEnding) -> BlockNumber {
		let now = Self::now();
		Self::release_models(&set.members);
		if let Some(best) = &set.best {
			T::Blobs::release(&best.model, core::slice::from_ref(&set.submitter));
		}
		(set.stage, set.since) = (Stage::Ended(ending), now);
		Self::deposit_event(Event::Ended { set: id, ending, best: set.best });
		now.saturating_add(T::RetentionBlocks::get())
	}

	/// Removes some of the record of a set that ended, and with the last of it the rest.
	fn forget(id: SetId, set: &Set<T::AccountId>) -> Weight {
		let removed = Generations::<T>::clear_prefix(id, FORGET_STEP, None);
		if removed.maybe_cursor.is_some() {
			Self::schedule(id, Self::now().saturating_add(1));
			return T::WeightInfo::forget();
		}
		Self::unschedule(id);
		Self::give_back(&set.submitter, set.record);
		for number in 0..MAX_MEMBERS {
			MemberSpecs::<T>::remove(id, number);
		}
		Sets::<T>::remove(id);
		Self::deposit_event(Event::Forgotten { set: id });
		T::WeightInfo::forget()
	}
}
