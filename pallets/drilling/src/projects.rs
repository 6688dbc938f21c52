//! Projects: proposed, ended, removed; and what becomes of their units. How they are voted on is in
//! [`voting`](crate::voting).

use crate::{
	cleaning::Cleaning, Config, Error, Event, Failure, NextProject, OpenProjects, Outcome,
	OwnProjects, Pallet, Project, Projects, Results, Retries, Stage, Task, TemplateFault,
	Templates, Turns, MISSING_AT_FIRST, MISSING_FINDINGS,
};
use frame_support::{defensive, ensure, pallet_prelude::DispatchResult, traits::Get};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	drill::{
		self, AssignmentId, Measure, Mismatch, ProjectId, Template, TrialData, MAX_UNIT_REPLICAS,
		MIN_UNIT_REPLICAS,
	},
	job::BlockNumber,
	Text,
};
use trainyard_traits::{AwaitedBlobs, BlobStore};

/// The record of a project.
pub(crate) type Found<T> = Project<<T as frame_system::Config>::AccountId>;

impl<T: Config> Pallet<T> {
	#[allow(clippy::too_many_arguments)] // They are those of the call.
	pub(crate) fn do_propose(
		proposer: T::AccountId,
		title: Text,
		template: Template,
		data: TrialData,
		rule: Mismatch,
		replicas: u8,
		units: u32,
		commit_blocks: BlockNumber,
	) -> DispatchResult {
		let sizes = MIN_UNIT_REPLICAS..=MAX_UNIT_REPLICAS;
		ensure!(sizes.contains(&replicas), Error::<T>::BadReplicas);
		ensure!((1..=T::MaxUnits::get()).contains(&units), Error::<T>::BadUnits);
		let periods = T::MinCommitBlocks::get()..=T::MaxCommitBlocks::get();
		ensure!(periods.contains(&commit_blocks), Error::<T>::BadPeriod);
		let mut open = OpenProjects::<T>::get();
		let own = OwnProjects::<T>::get(&proposer);
		ensure!(own < T::MaxOwnProjects::get(), Error::<T>::TooManyOwn);
		let Measure { difficulty, needs } = template
			.measure()
			.map_err(|error| Error::<T>::InvalidTemplate(TemplateFault(error)))?;
		ensure!(commit_blocks >= drill::least_blocks(&needs), Error::<T>::TooHasty);
		Self::check_data(&proposer, &template, &data)?;
		let deposit = Self::deposit(units, open.len() as u32, own).ok_or(Error::<T>::Overflow)?;
		let id = NextProject::<T>::get();
		let next = id.checked_add(1).ok_or(Error::<T>::Overflow)?;
		open.try_push(id).map_err(|_| Error::<T>::TooManyProjects)?;
		Self::hold(&proposer, deposit)?;
		data.iter().for_each(T::Blobs::expect);
		let until = Self::now().saturating_add(T::ReviewBlocks::get());
		let project = Project {
			proposer: proposer.clone(),
			title,
			data,
			rule,
			replicas,
			units,
			commit_blocks,
			difficulty,
			until,
			stage: Stage::Review,
			deposit,
			ayes: 0,
			nays: 0,
			recall: None,
			rounds: 0,
			recall_from: 0,
			stopped: false,
			proven: false,
			doubted: false,
			missing: 0,
			begun: 0,
			failed: 0,
			running: 0,
			agreed: 0,
			abandoned: 0,
			needs,
		};
		NextProject::<T>::put(next);
		OpenProjects::<T>::put(open);
		OwnProjects::<T>::insert(&proposer, own.saturating_add(1));
		Self::look_again(id, &project);
		Projects::<T>::insert(id, project);
		Templates::<T>::insert(id, template);
		Self::deposit_event(Event::ProjectProposed {
			project: id,
			proposer,
			difficulty,
			units,
			deposit,
			until,
		});
		Ok(())
	}

	pub(crate) fn do_withdraw_project(who: T::AccountId, id: ProjectId) -> DispatchResult {
		let mut project = Projects::<T>::get(id).ok_or(Error::<T>::NoSuchProject)?;
		ensure!(who == project.proposer, Error::<T>::NotProposer);
		ensure!(project.is_open() && !project.stopped, Error::<T>::AlreadyEnded);
		Self::stop(id, &mut project);
		Self::deposit_event(Event::ProjectWithdrawn { project: id });
		if !project.proven && project.missing > 0 {
			let lost = Self::forfeit(&mut project);
			Self::deposit_event(Event::ProjectSuspended { project: id, lost });
		}
		let disputed = match project.stage {
			Stage::Review => project.nays > 0,
			_ => project.recall.is_some(),
		};
		if !disputed {
			Self::close(id, &mut project, Stage::Withdrawn { at: Self::now() });
		}
		Projects::<T>::insert(id, project);
		Ok(())
	}

	/// Fails unless the blobs in `data` are the files that units of `template` read, on chain as a
	/// whole, and its proposer's own: nobody's deposit is kept on hold by a stranger's project.
	fn check_data(
		proposer: &T::AccountId,
		template: &Template,
		data: &TrialData,
	) -> DispatchResult {
		let files = template.file_bytes();
		ensure!(files.len() == data.len(), Error::<T>::WrongData);
		for (root, bytes) in data.iter().zip(files) {
			let stored = T::Blobs::is_complete(root) && T::Blobs::size(root) == Some(bytes);
			ensure!(stored, Error::<T>::DataNotStored);
			ensure!(T::Blobs::owner(root).as_ref() == Some(proposer), Error::<T>::NotYourData);
		}
		Ok(())
	}

	/// Hands no more units of a project out: those that wait for another attempt will not have one.
	pub(crate) fn stop(id: ProjectId, project: &mut Found<T>) {
		project.stopped = true;
		Turns::<T>::mutate(|turns| turns.retain(|other| *other != id));
		project.abandoned = project.abandoned.saturating_add(project.failed);
		project.failed = 0;
	}

	/// Lets the data of a project go that has ended, when no unit of it is under way any more.
	fn release_data(project: &mut Found<T>) {
		if !project.is_open() && project.running == 0 {
			core::mem::take(&mut project.data).iter().for_each(|root| T::Blobs::release(root, &[]));
		}
	}

	/// Ends an open project: it makes room for another, and the clock removes it in time.
	pub(crate) fn close(id: ProjectId, project: &mut Found<T>, stage: Stage) {
		project.stage = stage;
		project.recall = None;
		Self::unschedule(Task::Review(id));
		OpenProjects::<T>::mutate(|open| open.retain(|other| *other != id));
		OwnProjects::<T>::mutate_exists(&project.proposer, |own| {
			*own = own.and_then(|own| own.checked_sub(1)).filter(|own| *own > 0);
		});
		Self::release_data(project);
		Cleaning::<T>::schedule(id, Self::now().saturating_add(T::KeepBlocks::get()));
	}

	/// Notes what verifiers found of the data of a project: whether they are to be had. Findings in a
	/// row that they are not end it, and where verifiers never had them they cost its deposit, also of a
	/// project that has ended meanwhile.
	pub(crate) fn note_data(id: ProjectId, there: bool) {
		let Some(mut project) = Projects::<T>::get(id) else { return };
		project.doubted = false;
		if there {
			(project.missing, project.proven) = (0, true);
		} else {
			project.missing = project.missing.saturating_add(1);
		}
		let most = if project.proven { MISSING_FINDINGS } else { MISSING_AT_FIRST };
		if project.missing >= most {
			let lost = if project.proven { 0 } else { Self::forfeit(&mut project) };
			let ends = project.stage == Stage::Active;
			if ends {
				Self::stop(id, &mut project);
				Self::close(id, &mut project, Stage::Suspended { at: Self::now() });
			}
			if ends || lost > 0 {
				Self::deposit_event(Event::ProjectSuspended { project: id, lost });
			}
		}
		Projects::<T>::insert(id, project);
	}

	/// Notes that a unit waits for verifiers because its drillers had no data, or, where they came to
	/// nothing, that it does not any more.
	pub(crate) fn note_doubt(id: ProjectId, doubted: bool) {
		Projects::<T>::mutate(id, |project| {
			if let Some(project) = project {
				project.doubted = doubted;
			}
		});
	}

	/// Puts an active project at the end of the turns, unless it is in them already.
	pub(crate) fn give_turn(id: ProjectId) {
		Turns::<T>::mutate(|turns| {
			if !turns.contains(&id) && turns.try_push(id).is_err() {
				// Turns have room for all that may be open.
				defensive!("more active projects than there may be");
			}
		});
	}

	/// Takes the next unit of a project that has one: a unit that failed before, if there is one,
	/// else the next in order. Returns its index and how many times it was issued.
	pub(crate) fn take_unit(id: ProjectId, project: &mut Found<T>) -> Option<(u32, u8)> {
		let unit = if project.failed > 0 {
			let retry = Retries::<T>::iter_prefix(id).next()?;
			Retries::<T>::remove(id, retry.0);
			project.failed = project.failed.saturating_sub(1);
			retry
		} else {
			let index = project.begun;
			project.begun = index.saturating_add(1);
			(index, 0)
		};
		project.running = project.running.saturating_add(1);
		Some(unit)
	}

	/// Puts back a running unit that was issued `attempts` times. If its project has ended, the
	/// unit is given up. Returns whether it is.
	pub(crate) fn put_back(
		id: ProjectId,
		project: &mut Found<T>,
		index: u32,
		attempts: u8,
	) -> bool {
		if !project.is_given_out() {
			Self::abandon(id, project);
			return true;
		}
		project.running = project.running.saturating_sub(1);
		project.failed = project.failed.saturating_add(1);
		Retries::<T>::insert(id, index, attempts);
		Self::give_turn(id);
		false
	}

	/// Gives a running unit up.
	fn abandon(id: ProjectId, project: &mut Found<T>) {
		project.running = project.running.saturating_sub(1);
		project.abandoned = project.abandoned.saturating_add(1);
		Self::end_if_exhausted(id, project);
		Self::release_data(project);
	}

	/// Ends an attempt of a running unit without a result: the unit is issued again, or given up
	/// after `MaxAttempts`.
	pub(crate) fn fail_unit(
		assignment: AssignmentId,
		id: ProjectId,
		index: u32,
		attempt: u8,
		failure: Failure,
	) {
		let Some(mut project) = Projects::<T>::get(id) else { return };
		let given_up = if attempt < T::MaxAttempts::get() {
			Self::put_back(id, &mut project, index, attempt.saturating_add(1))
		} else {
			Self::abandon(id, &mut project);
			true
		};
		Projects::<T>::insert(id, project);
		Self::deposit_event(if given_up {
			Event::Abandoned { assignment, project: id, index, failure }
		} else {
			Event::Reissued { assignment, project: id, index, failure }
		});
	}

	/// Keeps the result of a running unit. Returns what each of those who agreed on it is credited.
	pub(crate) fn keep_result(id: ProjectId, index: u32, outcome: Outcome) -> u64 {
		let Some(mut project) = Projects::<T>::get(id) else { return 0 };
		let template = Templates::<T>::get(id);
		let work = template.map_or(0, |t| t.credit(project.difficulty, &outcome.result));
		Results::<T>::insert(id, index, outcome);
		project.running = project.running.saturating_sub(1);
		project.agreed = project.agreed.saturating_add(1);
		Self::end_if_exhausted(id, &mut project);
		Self::release_data(&mut project);
		Projects::<T>::insert(id, project);
		work
	}

	/// Ends an active project if all of its units have come to an end.
	fn end_if_exhausted(id: ProjectId, project: &mut Found<T>) {
		if project.is_given_out() && project.is_exhausted() {
			Self::finish(id, project);
		}
	}

	/// Ends an active project that has no more to do, or whose time is over: with the vote on it, if one is
	/// open.
	pub(crate) fn finish(id: ProjectId, project: &mut Found<T>) {
		if project.recall.is_some() {
			return Self::stop(id, project);
		}
		Self::close(id, project, Stage::Done { at: Self::now() });
		let (agreed, abandoned) = (project.agreed, project.abandoned);
		Self::deposit_event(Event::ProjectDone { project: id, agreed, abandoned });
	}
}
