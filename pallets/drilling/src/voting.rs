//! Votes on projects: the review that decides whether one begins, and recalls that may end it.
//!
//! Trainers vote with their bonds, once in each vote. A vote lasts no longer than bonds take to
//! leave, so that no bond votes twice under two names. A project that ends meanwhile, by its proposer or
//! because all its units are computed, is only *stopped*, and ends with the vote: nobody dodges what the
//! votes condemn, and nobody takes a deposit in a block in which others cannot answer.

use crate::{
	projects::Found,
	rules::{judge_recall, judge_vote, Opinion},
	Ballot, Config, Error, Event, Pallet, Projects, Stage, Task, Votes, RECALL_PAUSE,
};
use frame_support::{ensure, pallet_prelude::DispatchResult, traits::Get};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	drill::{ProjectId, Recall},
	job::BlockNumber,
};
use trainyard_traits::Drillers;

impl<T: Config> Pallet<T> {
	pub(crate) fn do_vote(who: T::AccountId, id: ProjectId, aye: bool) -> DispatchResult {
		let mut project = Projects::<T>::get(id).ok_or(Error::<T>::NoSuchProject)?;
		let until = match (project.stage, project.recall) {
			(Stage::Review, _) => project.until,
			(Stage::Active, Some(recall)) => recall.until,
			_ => return Err(Error::<T>::NotInReview.into()),
		};
		ensure!(Self::now() <= until, Error::<T>::NotInReview);
		Self::cast(&who, id, &mut project, aye)?;
		Projects::<T>::insert(id, project);
		Ok(())
	}

	/// Counts the vote of `who` in the vote on a project that is open.
	fn cast(
		who: &T::AccountId,
		id: ProjectId,
		project: &mut Found<T>,
		aye: bool,
	) -> DispatchResult {
		ensure!(T::Drillers::is_trainer(who), Error::<T>::NotATrainer);
		ensure!(*who != project.proposer, Error::<T>::OwnProject);
		let round = project.rounds;
		let before = Votes::<T>::get(id, who);
		ensure!(before.is_none_or(|ballot| ballot.round != round), Error::<T>::AlreadyVoted);
		let weight = T::Drillers::bond(who);
		let (ayes, nays) = match &mut project.recall {
			Some(recall) => (&mut recall.ayes, &mut recall.nays),
			None => (&mut project.ayes, &mut project.nays),
		};
		let side = if aye { ayes } else { nays };
		*side = side.saturating_add(weight);
		Votes::<T>::insert(id, who, Ballot { round, aye });
		Self::deposit_event(Event::Voted { project: id, voter: who.clone(), aye, weight });
		Ok(())
	}

	pub(crate) fn do_recall(who: T::AccountId, id: ProjectId) -> DispatchResult {
		let mut project = Projects::<T>::get(id).ok_or(Error::<T>::NoSuchProject)?;
		ensure!(project.stage == Stage::Active, Error::<T>::NotActive);
		ensure!(project.recall.is_none(), Error::<T>::AlreadyRecalled);
		ensure!(Self::now() >= project.recall_from, Error::<T>::RecalledLately);
		let until = Self::now().saturating_add(T::ReviewBlocks::get());
		project.recall = Some(Recall { until, ayes: 0, nays: 0 });
		project.rounds = project.rounds.saturating_add(1);
		Self::cast(&who, id, &mut project, false)?;
		Self::look_again(id, &project);
		Projects::<T>::insert(id, project);
		Self::deposit_event(Event::RecallOpened { project: id, who, until });
		Ok(())
	}

	/// Puts an open project on the agenda: at the end of the vote on it, or of its time.
	pub(crate) fn look_again(id: ProjectId, project: &Found<T>) {
		let until: BlockNumber = project.recall.map_or(project.until, |recall| recall.until);
		Self::schedule(Task::Review(id), until.saturating_add(1));
	}

	/// Does what is due of an open project: counts votes, or ends it where its time is over.
	pub(crate) fn end_review(id: ProjectId) {
		let Some(mut project) = Projects::<T>::get(id) else { return };
		match project.stage {
			Stage::Review => Self::count_review(id, &mut project),
			Stage::Active => {
				let now = Self::now();
				if project.recall.is_some_and(|recall| now > recall.until) {
					Self::count_recall(id, &mut project);
				}
				if project.stage == Stage::Active {
					if project.recall.is_none() && now > project.until {
						Self::stop(id, &mut project);
						Self::finish(id, &mut project);
					} else {
						Self::look_again(id, &project);
					}
				}
			}
			_ => return,
		}
		Projects::<T>::insert(id, project);
	}

	/// Counts the votes on a project whose review is over.
	fn count_review(id: ProjectId, project: &mut Found<T>) {
		let (ayes, nays) = (project.ayes, project.nays);
		let opinion = judge_vote(ayes, nays, T::MinApproval::get());
		if project.stopped && opinion != Opinion::Condemned {
			Self::close(id, project, Stage::Withdrawn { at: Self::now() });
		} else if opinion == Opinion::Approved {
			project.stage = Stage::Active;
			project.until = Self::now().saturating_add(T::LifeBlocks::get());
			Self::look_again(id, project);
			Self::give_turn(id);
			Self::deposit_event(Event::ProjectApproved { project: id, ayes, nays });
		} else {
			let lost = match opinion {
				Opinion::Condemned => Self::forfeit(project),
				Opinion::Approved | Opinion::Rejected => 0,
			};
			Self::close(id, project, Stage::Rejected { at: Self::now() });
			Self::deposit_event(Event::ProjectRejected { project: id, ayes, nays, lost });
		}
	}

	/// Counts the votes on the end of an active project.
	fn count_recall(id: ProjectId, project: &mut Found<T>) {
		let Some(Recall { ayes, nays, .. }) = project.recall.take() else { return };
		let (now, least) = (Self::now(), T::MinApproval::get());
		let lost = match judge_recall(ayes, nays, project.ayes, least) {
			Opinion::Approved => {
				let pause = T::ReviewBlocks::get().saturating_mul(RECALL_PAUSE);
				project.recall_from = now.saturating_add(pause);
				Self::deposit_event(Event::ProjectKept { project: id, ayes, nays });
				if project.stopped && project.is_exhausted() {
					Self::finish(id, project);
				} else if project.stopped {
					Self::close(id, project, Stage::Withdrawn { at: now });
				}
				return;
			}
			Opinion::Rejected => 0,
			Opinion::Condemned => Self::forfeit(project),
		};
		Self::stop(id, project);
		Self::close(id, project, Stage::Recalled { at: now });
		Self::deposit_event(Event::ProjectRecalled { project: id, ayes, nays, lost });
	}
}
