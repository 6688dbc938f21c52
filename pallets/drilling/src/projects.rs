//! Projects: proposed, voted on, ended, removed; and what becomes of their units.

use crate::{
	rules::{judge_vote, Opinion},
	Config, Error, Event, Failure, NextProject, OpenProjects, Outcome, Pallet, Project, Projects,
	Results, Retries, Stage, Task, TemplateFault, Templates, Turns, Votes, CLEAR_STEP,
};
use frame_support::{defensive, ensure, pallet_prelude::DispatchResult, traits::Get};
use sp_runtime::DispatchError;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	drill::{
		self, AssignmentId, Measure, Mismatch, ProjectId, Template, MAX_UNIT_REPLICAS,
		MIN_UNIT_REPLICAS,
	},
	job::{Balance, BlockNumber},
	Text,
};
use trainyard_traits::Drillers;

/// The record of a project.
type Found<T> = Project<<T as frame_system::Config>::AccountId>;

impl<T: Config> Pallet<T> {
	pub(crate) fn do_propose(
		proposer: T::AccountId,
		title: Text,
		template: Template,
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
		let open = OpenProjects::<T>::get();
		ensure!(open < T::MaxProjects::get(), Error::<T>::TooManyProjects);
		let Measure { difficulty, needs } = template
			.measure()
			.map_err(|error| Error::<T>::InvalidTemplate(TemplateFault(error)))?;
		ensure!(commit_blocks >= drill::least_blocks(needs.work), Error::<T>::TooHasty);
		let deposit = Self::deposit(units).ok_or(Error::<T>::Overflow)?;
		let id = NextProject::<T>::get();
		let next = id.checked_add(1).ok_or(Error::<T>::Overflow)?;
		Self::hold(&proposer, deposit)?;
		let until = Self::now().saturating_add(T::ReviewBlocks::get());
		let project = Project {
			proposer: proposer.clone(),
			title,
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
			begun: 0,
			failed: 0,
			running: 0,
			agreed: 0,
			abandoned: 0,
			needs,
		};
		NextProject::<T>::put(next);
		OpenProjects::<T>::put(open.saturating_add(1));
		Projects::<T>::insert(id, project);
		Templates::<T>::insert(id, template);
		Self::schedule(Task::Review(id), until.saturating_add(1));
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

	pub(crate) fn do_vote(who: T::AccountId, id: ProjectId, aye: bool) -> DispatchResult {
		let mut project = Projects::<T>::get(id).ok_or(Error::<T>::NoSuchProject)?;
		let in_time = Self::now() <= project.until;
		ensure!(project.stage == Stage::Review && in_time, Error::<T>::NotInReview);
		ensure!(T::Drillers::is_trainer(&who), Error::<T>::NotATrainer);
		ensure!(who != project.proposer, Error::<T>::OwnProject);
		ensure!(!Votes::<T>::contains_key(id, &who), Error::<T>::AlreadyVoted);
		let weight = T::Drillers::bond(&who);
		let side = if aye { &mut project.ayes } else { &mut project.nays };
		*side = side.saturating_add(weight);
		Projects::<T>::insert(id, project);
		Votes::<T>::insert(id, &who, aye);
		Self::deposit_event(Event::Voted { project: id, voter: who, aye, weight });
		Ok(())
	}

	/// Counts the votes on a project whose review is over.
	pub(crate) fn end_review(id: ProjectId) {
		let Some(mut project) = Projects::<T>::get(id) else { return };
		if project.stage != Stage::Review {
			return;
		}
		let (ayes, nays) = (project.ayes, project.nays);
		let opinion = judge_vote(ayes, nays, T::MinApproval::get());
		if opinion == Opinion::Approved {
			project.stage = Stage::Active;
			Self::give_turn(id);
			Self::deposit_event(Event::ProjectApproved { project: id, ayes, nays });
		} else {
			let lost = match opinion {
				Opinion::Condemned => Self::forfeit(&mut project),
				Opinion::Approved | Opinion::Rejected => 0,
			};
			let at = Self::now();
			Self::close(id, &mut project, Stage::Rejected { at });
			Self::deposit_event(Event::ProjectRejected { project: id, ayes, nays, lost });
		}
		Projects::<T>::insert(id, project);
	}

	pub(crate) fn do_withdraw_project(who: T::AccountId, id: ProjectId) -> DispatchResult {
		let mut project = Projects::<T>::get(id).ok_or(Error::<T>::NoSuchProject)?;
		ensure!(who == project.proposer, Error::<T>::NotProposer);
		ensure!(project.is_open(), Error::<T>::AlreadyEnded);
		if project.stage == Stage::Review {
			Self::unschedule(Task::Review(id));
			// What the votes so far would condemn is lost all the same.
			let (ayes, nays) = (project.ayes, project.nays);
			if judge_vote(ayes, nays, T::MinApproval::get()) == Opinion::Condemned {
				let lost = Self::forfeit(&mut project);
				Self::deposit_event(Event::ProjectRejected { project: id, ayes, nays, lost });
			}
		} else {
			Turns::<T>::mutate(|turns| turns.retain(|other| *other != id));
			// Units that wait for another attempt will not have one.
			project.abandoned = project.abandoned.saturating_add(project.failed);
			project.failed = 0;
		}
		Self::close(id, &mut project, Stage::Withdrawn { at: Self::now() });
		Projects::<T>::insert(id, project);
		Self::deposit_event(Event::ProjectWithdrawn { project: id });
		Ok(())
	}

	/// Ends an open project: it makes room for another, and the clock removes it in time.
	fn close(id: ProjectId, project: &mut Found<T>, stage: Stage) {
		project.stage = stage;
		OpenProjects::<T>::mutate(|open| *open = open.saturating_sub(1));
		Self::schedule(Task::Clear(id), Self::now().saturating_add(T::KeepBlocks::get()));
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
		if project.stage != Stage::Active {
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
		Projects::<T>::insert(id, project);
		work
	}

	/// Ends an active project if all of its units have come to an end.
	fn end_if_exhausted(id: ProjectId, project: &mut Found<T>) {
		if project.stage == Stage::Active && project.is_exhausted() {
			Self::close(id, project, Stage::Done { at: Self::now() });
			let (agreed, abandoned) = (project.agreed, project.abandoned);
			Self::deposit_event(Event::ProjectDone { project: id, agreed, abandoned });
		}
	}

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
			Self::unschedule(Task::Clear(id));
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
			Self::schedule(Task::Clear(id), Self::now().saturating_add(1));
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
