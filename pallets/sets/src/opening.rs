//! Opening a set, and stopping one.

use crate::{
	Config, Error, Event, Member, MemberSpecs, NextSet, Pallet, Set, Sets, SpecFault, Specs,
};
use alloc::vec::Vec;
use frame_support::{ensure, pallet_prelude::DispatchResult, traits::Get, BoundedVec};
use trainyard_pallet_support::agenda::Clock;
use trainyard_program::spec::{CheckedSpec, JobSpec, SpecError};
use trainyard_protocol::{
	job::{Balance, Terms},
	sets::{
		self, Measure, Plan, Run, SetEnding, SetId, Stage, MAX_FACTOR, MAX_GENERATIONS,
		MAX_MEMBERS, MIN_MEMBERS,
	},
};
use trainyard_traits::PostedJobs;

impl<T: Config> Pallet<T> {
	/// Returns what is trained by a specification, if it is valid.
	pub(crate) fn checked(spec: JobSpec) -> Result<CheckedSpec, Error<T>> {
		spec.check().map_err(|error| Error::InvalidSpec(SpecFault(error)))
	}

	/// Fails with the first rule that a plan breaks.
	fn check_plan(plan: &Plan, members: u32) -> Result<(), Error<T>> {
		ensure!((MIN_MEMBERS..=MAX_MEMBERS).contains(&members), Error::<T>::BadMembers);
		ensure!((1..=MAX_GENERATIONS).contains(&plan.generations), Error::<T>::BadGenerations);
		ensure!(plan.replaced <= members / 2, Error::<T>::BadReplaced);
		let given = plan.replaced == 0 || !plan.factors.is_empty();
		let in_range = plan.factors.iter().all(|factor| (1..=MAX_FACTOR).contains(factor));
		ensure!(given && in_range, Error::<T>::BadFactors);
		let times = T::MinShowBlocks::get()..=T::MaxShowBlocks::get();
		ensure!(times.contains(&plan.show_blocks), Error::<T>::BadShowBlocks);
		Ok(())
	}

	/// Fails where what members score could not be compared, or one could not go on from the model of another.
	fn check_alike(plan: &Plan, specs: &Specs) -> Result<(), Error<T>> {
		let first = specs.first().ok_or(Error::<T>::BadMembers)?;
		for spec in specs {
			ensure!(spec.dataset == first.dataset, Error::<T>::OtherData);
			let same = spec.training.loss == first.training.loss;
			ensure!(same || plan.measure == Measure::Accuracy, Error::<T>::OtherLoss);
			let one = plan.generations == 1;
			ensure!(one || spec.model == first.model, Error::<T>::OtherModels);
			let fault = SpecFault(SpecError::MappedFineTuning);
			ensure!(one || !spec.is_mapped(), Error::<T>::InvalidSpec(fault));
		}
		Ok(())
	}

	/// Returns the deposit for the record of a set.
	pub(crate) fn record_of(plan: &Plan, specs: &Specs) -> Result<Balance, Error<T>> {
		let bytes = Balance::from(sets::record_bytes(plan, specs));
		let record = T::RecordByte::get().checked_mul(bytes);
		let record = record.and_then(|bytes| bytes.checked_add(T::RecordBase::get()));
		record.ok_or(Error::AmountOverflow)
	}

	pub(crate) fn do_open(
		submitter: T::AccountId,
		specs: Specs,
		terms: Terms,
		plan: Plan,
	) -> DispatchResult {
		let count = u32::try_from(specs.len()).unwrap_or(u32::MAX);
		Self::check_plan(&plan, count)?;
		Self::check_alike(&plan, &specs)?;
		let id = NextSet::<T>::get();
		let next = id.checked_add(1).ok_or(Error::<T>::TooManySets)?;
		let record = Self::record_of(&plan, &specs)?;
		Self::hold(&submitter, record)?;
		NextSet::<T>::put(next);
		let generations = plan.generations;
		let event = Event::Opened {
			set: id,
			submitter: submitter.clone(),
			members: count,
			generations,
			record,
		};
		Self::deposit_event(event);
		let mut members = Vec::new();
		for (member, spec) in (0u32..).zip(specs) {
			let checked = Self::checked(spec.clone())?;
			let job = T::Jobs::post(&submitter, checked, terms.clone(), plan.max_fee_per_ut)?;
			MemberSpecs::<T>::insert(id, member, spec);
			members.push(Member { base: None, parent: None, run: Run::Running(job) });
			Self::deposit_event(Event::Posted { set: id, generation: 0, member, job });
		}
		let now = Self::now();
		let set = Set {
			submitter,
			terms,
			plan,
			record,
			stage: Stage::Training,
			generation: 0,
			since: now,
			stopping: false,
			best: None,
			members: BoundedVec::truncate_from(members),
		};
		Sets::<T>::insert(id, set);
		Self::schedule(id, now.saturating_add(T::PollBlocks::get()));
		Ok(())
	}

	pub(crate) fn do_stop(who: T::AccountId, id: SetId) -> DispatchResult {
		let mut set = Sets::<T>::get(id).ok_or(Error::<T>::NoSuchSet)?;
		ensure!(who == set.submitter, Error::<T>::NotSubmitter);
		ensure!(!matches!(set.stage, Stage::Ended(_)), Error::<T>::HasEnded);
		ensure!(!set.stopping, Error::<T>::IsStopping);
		set.stopping = true;
		Self::deposit_event(Event::Stopping { set: id });
		if let Stage::Drawing { .. } = set.stage {
			let next = Self::end(id, &mut set, SetEnding::Stopped);
			Self::schedule(id, next);
		} else {
			Self::hasten(id);
		}
		Sets::<T>::insert(id, set);
		Ok(())
	}
}
