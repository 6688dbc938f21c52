//! What clients ask, through the runtime API.

use crate::{
	units::AssignmentOf, Assignments, Checking, Choices, Coming, Config, Heirs, OpenProjects,
	Pallet, Phase, Pool, Project, Projects, Results, Seat, Stage, Templates, Waiting,
};
use alloc::vec::Vec;
use frame_support::traits::Get;
use trainyard_protocol::{
	drill::{
		AssignmentId, AssignmentView, ProjectId, ProjectState, ProjectView, UnitOutcome, UnitPhase,
	},
	job::BlockNumber,
};

impl<T: Config> Pallet<T> {
	/// Returns `count` of the projects that were not cleared, in the order of the storage, after the one
	/// with the number `after`, which need not be there any more. If there are fewer, there are no more.
	pub fn projects(after: Option<ProjectId>, count: u32) -> Vec<ProjectView<T::AccountId>> {
		let all = match after {
			Some(id) => Projects::<T>::iter_from(Projects::<T>::hashed_key_for(id)),
			None => Projects::<T>::iter(),
		};
		all.filter_map(|(id, project)| Self::view(id, project)).take(count as usize).collect()
	}

	/// Returns the projects in review or active, by number.
	pub fn open_projects() -> Vec<ProjectView<T::AccountId>> {
		OpenProjects::<T>::get().into_iter().filter_map(Self::project).collect()
	}

	/// Returns the projects that somebody in the pool, or who waits for a place, chose last; none where it
	/// does neither.
	pub fn chosen(who: &T::AccountId) -> Vec<ProjectId> {
		Coming::<T>::get(who).unwrap_or_else(|| Choices::<T>::get(who)).into_inner()
	}

	/// Returns the project with this number.
	pub fn project(id: ProjectId) -> Option<ProjectView<T::AccountId>> {
		Self::view(id, Projects::<T>::get(id)?)
	}

	fn view(id: ProjectId, p: Project<T::AccountId>) -> Option<ProjectView<T::AccountId>> {
		let over = |at: BlockNumber| at.saturating_add(T::KeepBlocks::get());
		let (state, deadline) = match p.stage {
			Stage::Review => (ProjectState::Review, p.until),
			Stage::Active => (ProjectState::Active, p.until),
			Stage::Rejected { at } => (ProjectState::Rejected, over(at)),
			Stage::Withdrawn { at } => (ProjectState::Withdrawn, over(at)),
			Stage::Done { at } => (ProjectState::Done, over(at)),
			Stage::Recalled { at } => (ProjectState::Recalled, over(at)),
			Stage::Suspended { at } => (ProjectState::Suspended, over(at)),
		};
		Some(ProjectView {
			id,
			owner: p.proposer,
			title: p.title,
			template: Templates::<T>::get(id)?,
			data: p.data,
			rule: p.rule,
			replicas: p.replicas,
			units: p.units,
			commit_blocks: p.commit_blocks,
			difficulty: p.difficulty,
			deposit: p.deposit,
			state,
			deadline,
			ayes: p.ayes,
			nays: p.nays,
			recall: p.recall,
			missing: p.missing,
			open: p.running,
			agreed: p.agreed,
			abandoned: p.abandoned,
		})
	}

	/// Returns the first `count` results of a project with an index above `after`, by index.
	pub fn results(id: ProjectId, after: Option<u32>, count: u32) -> Vec<UnitOutcome> {
		let Some(project) = Projects::<T>::get(id) else { return Vec::new() };
		let first = after.map_or(0, |after| after.saturating_add(1));
		(first..project.begun)
			.filter_map(|index| {
				let outcome = Results::<T>::get(id, index)?;
				Some(UnitOutcome { index, result: outcome.result, replicas: outcome.agreeing })
			})
			.take(count as usize)
			.collect()
	}

	/// Returns what `who` must compute, or reveal, now.
	pub fn assignment(who: &T::AccountId) -> Option<AssignmentView<T::AccountId>> {
		let id = Pool::<T>::get(who)?.assignment?;
		let unit = Assignments::<T>::get(id)?;
		let (phase, deadline) = match unit.phase {
			Phase::Committing { until } => (UnitPhase::Commit, until),
			Phase::Revealing { until } => (UnitPhase::Reveal, until),
			_ => return None,
		};
		let seats = unit.members.to_vec();
		Self::part(id, unit, seats, who, phase, deadline)
	}

	/// Returns what `who`, a verifier, must recompute, or reveal, now; by number of the assignment.
	pub fn checks(who: &T::AccountId) -> Vec<AssignmentView<T::AccountId>> {
		let mut checks: Vec<_> = Checking::<T>::iter_key_prefix(who)
			.filter_map(|id| {
				let unit = Assignments::<T>::get(id)?;
				let (phase, deadline) = match unit.phase {
					Phase::CheckCommitting { until } => (UnitPhase::Commit, until),
					Phase::CheckRevealing { until } => (UnitPhase::Reveal, until),
					_ => return None,
				};
				let seats = unit.verifiers.to_vec();
				Self::part(id, unit, seats, who, phase, deadline)
			})
			.collect();
		checks.sort_by_key(|check| check.id);
		checks
	}

	/// Returns the part that `who`, one of `seats`, has in an assignment.
	fn part(
		id: AssignmentId,
		unit: AssignmentOf<T>,
		seats: Vec<Seat<T::AccountId>>,
		who: &T::AccountId,
		phase: UnitPhase,
		deadline: BlockNumber,
	) -> Option<AssignmentView<T::AccountId>> {
		let seat = seats.iter().find(|seat| seat.who == *who)?;
		let (committed, revealed) = (seat.commitment.is_some(), seat.result.is_some());
		let declined = seat.declined;
		// The next block is the earliest in which something can arrive.
		let phase = if Self::now() < deadline { phase } else { UnitPhase::Judgement };
		Some(AssignmentView {
			id,
			project: unit.project,
			index: unit.index,
			seed: unit.seed,
			phase,
			deadline,
			members: seats.into_iter().map(|seat| seat.who).collect(),
			committed,
			revealed,
			declined,
		})
	}

	/// Returns the pool of drillers and those who wait for a place in it, by account.
	pub fn drillers() -> Vec<T::AccountId> {
		let waiting = Waiting::<T>::get().into_iter().map(|(who, _)| who);
		let waiting = waiting.chain(Heirs::<T>::get());
		let mut drillers: Vec<_> = Pool::<T>::iter_keys().chain(waiting).collect();
		drillers.sort();
		drillers
	}
}
