//! What must hold in any state.

use crate::{
	Agenda, Assignments, Batch, BatchDrillers, BatchPlan, Checking, Choices, CleanAgenda,
	CleanCursor, CleanDue, Coming, Config, Cursor, Due, Former, Heirs, HoldReason, NextAssignment,
	NextProject, OpenProjects, OwnProjects, Pallet, Phase, Pool, Projects, Ready, Results, Retries,
	Stage, Task, Templates, Turns, Waiting,
};
use alloc::{
	collections::{BTreeMap, BTreeSet},
	vec::Vec,
};
use frame_support::{
	ensure,
	traits::{fungible::InspectHold, Get},
};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::{drill::ProjectId, job::Balance};

impl<T: Config> Pallet<T> {
	/// Checks the agenda, the counts of each project, who is where in the pool, and that what is
	/// on hold is exactly the deposits.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		Self::check_agenda()?;
		Self::check_projects()?;
		Self::check_assignments()?;
		Self::check_pool()
	}

	/// Checks that the two directions of the agendas agree, that nothing on them was passed over, and
	/// that exactly the open projects and the assignments are on one, and the projects that ended on
	/// the other.
	fn check_agenda() -> Result<(), TryRuntimeError> {
		let mut tasks = BTreeSet::new();
		for (at, task, ()) in Agenda::<T>::iter() {
			ensure!(Due::<T>::get(task) == Some(at), "the two directions of the agenda differ");
			ensure!(
				Cursor::<T>::get().is_none_or(|cursor| at >= cursor),
				"an entry of the agenda was passed over"
			);
			ensure!(tasks.insert(task), "a task is on the agenda twice");
		}
		ensure!(
			Due::<T>::iter_keys().count() == tasks.len(),
			"a task is due and not on the agenda"
		);
		let projects = Projects::<T>::iter().filter(|(_, project)| project.is_open());
		let projects = projects.map(|(id, _)| Task::Review(id));
		let units = Assignments::<T>::iter_keys().map(Task::Unit);
		let expected: BTreeSet<Task> = projects.chain(units).collect();
		ensure!(tasks == expected, "something waits for ever, or the agenda for nothing");
		let mut removals = BTreeSet::new();
		for (at, id, ()) in CleanAgenda::<T>::iter() {
			ensure!(CleanDue::<T>::get(id) == Some(at), "the two directions of removals differ");
			ensure!(
				CleanCursor::<T>::get().is_none_or(|cursor| at >= cursor),
				"a removal was passed over"
			);
			ensure!(removals.insert(id), "a project is removed twice");
		}
		ensure!(CleanDue::<T>::iter_keys().count() == removals.len(), "a removal is not due");
		let ended = Projects::<T>::iter().filter(|(_, project)| !project.is_open());
		let ended: BTreeSet<ProjectId> = ended.map(|(id, _)| id).collect();
		ensure!(removals == ended, "a project stays for ever, or none is removed");
		Ok(())
	}

	/// Checks that every unit of a project that was begun is in one place, and that deposits are on
	/// hold.
	fn check_projects() -> Result<(), TryRuntimeError> {
		let mut running = BTreeMap::<ProjectId, BTreeSet<u32>>::new();
		let planned = BatchPlan::<T>::get().into_iter().map(|slot| (slot.project, slot.index));
		let assigned = Assignments::<T>::iter_values().map(|unit| (unit.project, unit.index));
		for (project, index) in planned.chain(assigned) {
			let fresh = running.entry(project).or_default().insert(index);
			ensure!(fresh, "a unit was handed out twice");
		}
		let mut held = BTreeMap::<T::AccountId, Balance>::new();
		let turns = Turns::<T>::get();
		let (mut open, mut having) = (BTreeSet::new(), 0usize);
		let mut own = BTreeMap::<T::AccountId, u32>::new();
		for (id, project) in Projects::<T>::iter() {
			ensure!(id < NextProject::<T>::get(), "a project has a number that was not given out");
			ensure!(Templates::<T>::contains_key(id), "a project without a template");
			if project.is_open() {
				open.insert(id);
				let count = own.entry(project.proposer.clone()).or_default();
				*count = count.saturating_add(1);
			}
			ensure!(
				project.recall.is_none() || project.stage == Stage::Active,
				"a vote on the end of what is not active"
			);
			let running = running.remove(&id).unwrap_or_default();
			ensure!(running.len() as u32 == project.running, "a wrong count of running units");
			let ends = [project.failed, project.running, project.agreed, project.abandoned];
			let sum = ends.into_iter().fold(0u32, u32::saturating_add);
			ensure!(sum == project.begun, "a unit was lost");
			ensure!(project.begun <= project.units, "more units than there are");
			let results = Results::<T>::iter_key_prefix(id).collect::<BTreeSet<_>>();
			let retries = Retries::<T>::iter_key_prefix(id).collect::<BTreeSet<_>>();
			if project.is_open() && !project.stopped {
				ensure!(retries.len() as u32 == project.failed, "a wrong count of failed units");
				ensure!(results.len() as u32 == project.agreed, "a wrong count of results");
			}
			ensure!(results.is_disjoint(&retries), "a unit with a result waits to be computed");
			ensure!(results.is_disjoint(&running), "a unit with a result is computed again");
			ensure!(retries.is_disjoint(&running), "a unit that is computed waits for it too");
			let turn = turns.iter().filter(|other| **other == id).count();
			ensure!(turn == usize::from(project.has_units()), "turns and units differ");
			having = having.saturating_add(turn);
			let least = Self::deposit(project.units, 0, 0).unwrap_or(0);
			// Votes take it, and data that are not to be had; otherwise it stays until the record is
			// removed.
			let taken = (!project.is_open() || project.stopped) && project.deposit == 0;
			ensure!(
				project.data.is_empty() || project.is_open() || project.running > 0,
				"data of what is over"
			);
			ensure!(taken || project.deposit >= least, "a project with a wrong deposit");
			let sum = held.entry(project.proposer).or_default();
			*sum = sum.saturating_add(project.deposit);
		}
		ensure!(running.is_empty(), "units of no project");
		ensure!(having == turns.len(), "turns of no project");
		let listed = OpenProjects::<T>::get();
		ensure!(open.len() == listed.len(), "an open project is not listed, or one is twice");
		ensure!(listed.iter().all(|id| open.contains(id)), "an ended project is listed as open");
		ensure!(
			own == OwnProjects::<T>::iter().collect(),
			"a wrong count of a proposer's projects"
		);
		for (who, amount) in held {
			ensure!(
				T::Currency::balance_on_hold(&HoldReason::Project.into(), &who) == amount,
				"what is held of a proposer is not the sum of its deposits"
			);
		}
		Ok(())
	}

	/// Checks that assignments are in a phase that fits what is known of them.
	fn check_assignments() -> Result<(), TryRuntimeError> {
		for (id, unit) in Assignments::<T>::iter() {
			ensure!(id < NextAssignment::<T>::get(), "an assignment with a number not given out");
			let agreed = !matches!(unit.phase, Phase::Committing { .. } | Phase::Revealing { .. });
			let declined = unit.members.iter().filter(|seat| seat.declined).count();
			let doubted = agreed && unit.agreed.is_none() && declined > 0;
			ensure!(
				unit.agreed.is_some() == (agreed && !doubted),
				"agreed and still computed, or the reverse"
			);
			let checked =
				matches!(unit.phase, Phase::CheckCommitting { .. } | Phase::CheckRevealing { .. });
			ensure!(
				unit.verifiers.is_empty() != checked,
				"verifiers of nothing, or a check by none"
			);
			let members: BTreeSet<_> = unit.members.iter().map(|seat| &seat.who).collect();
			ensure!(members.len() == unit.members.len(), "a driller has two seats in a group");
			ensure!(
				unit.verifiers.iter().all(|seat| !members.contains(&seat.who)),
				"a driller checks itself"
			);
			ensure!(
				unit.members
					.iter()
					.chain(&unit.verifiers)
					.all(|seat| seat.result.is_none() || seat.commitment.is_some()),
				"a reveal of nothing"
			);
			ensure!(
				unit.members
					.iter()
					.chain(&unit.verifiers)
					.all(|seat| !seat.declined || seat.commitment.is_none()),
				"a commitment to no data"
			);
			ensure!(
				unit.verifiers.iter().all(|seat| Checking::<T>::contains_key(&seat.who, id)),
				"a verifier that does not know of its check"
			);
			if let Some(result) = unit.agreed {
				let agreeing = unit.members.iter().filter(|seat| seat.result == Some(result));
				ensure!(agreeing.count() > unit.members.len() / 2, "agreed by a minority");
			}
		}
		Ok(())
	}

	/// Checks that every driller of the pool is in one place: ready, in the batch, or in one group.
	fn check_pool() -> Result<(), TryRuntimeError> {
		ensure!(Pool::<T>::count() <= T::MaxDrillers::get(), "too many drillers");
		ensure!(
			Former::<T>::iter_keys().all(|who| !Pool::<T>::contains_key(who)),
			"somebody left who is in the pool"
		);
		let waiting = Waiting::<T>::get();
		for (at, (who, _)) in waiting.iter().enumerate() {
			ensure!(!Pool::<T>::contains_key(who), "somebody waits who is in the pool");
			ensure!(
				!waiting.iter().take(at).any(|(other, _)| other == who),
				"somebody waits twice"
			);
		}
		let heirs = Heirs::<T>::get();
		let distinct: BTreeSet<_> = heirs.iter().collect();
		ensure!(distinct.len() == heirs.len(), "an heir has two claims");
		ensure!(
			heirs.iter().all(|who| {
				!Pool::<T>::contains_key(who) && !waiting.iter().any(|(other, _)| other == who)
			}),
			"an heir has a place, or waits for one"
		);
		let displaced = Pool::<T>::iter_values().filter(|driller| driller.displaced).count();
		ensure!(heirs.len() <= displaced, "more heirs than places that will be free");
		let outside = waiting.iter().map(|(who, _)| who).chain(heirs.iter()).cloned();
		let choosing: BTreeSet<_> = Pool::<T>::iter_keys().chain(outside).collect();
		let chose: BTreeSet<_> = Choices::<T>::iter_keys().collect();
		ensure!(
			Coming::<T>::iter_keys().all(|who| Pool::<T>::contains_key(who)),
			"a choice of nobody"
		);
		for chosen in Choices::<T>::iter_values().chain(Coming::<T>::iter_values()) {
			let pairs = chosen.iter().zip(chosen.iter().skip(1));
			ensure!(pairs.into_iter().all(|(one, next)| one < next), "a project is chosen twice");
		}
		ensure!(choosing == chose, "a driller without a choice, or a choice of nobody");
		let ready = Ready::<T>::get();
		let batch: Vec<_> = BatchDrillers::<T>::get().into_iter().map(|(who, _)| who).collect();
		let plan = BatchPlan::<T>::get();
		let seats = plan.iter().fold(0usize, |sum, s| sum.saturating_add(usize::from(s.replicas)));
		ensure!(Batch::<T>::exists() != plan.is_empty(), "a batch without units, or the reverse");
		ensure!(seats <= batch.len(), "a batch with more seats than drillers");
		ensure!(!plan.is_empty() || batch.is_empty(), "drillers in no batch");
		let mut places = BTreeMap::<T::AccountId, Vec<Option<u64>>>::new();
		for who in ready.iter().chain(&batch) {
			places.entry(who.clone()).or_default().push(None);
		}
		for (id, unit) in Assignments::<T>::iter() {
			// Who said that there are no data waits for what verifiers find.
			let (computing, doubted) = (unit.phase.is_computing(), unit.agreed.is_none());
			for seat in unit.members {
				if computing || doubted && seat.declined {
					places.entry(seat.who).or_default().push(Some(id));
				}
			}
		}
		for (who, driller) in Pool::<T>::iter() {
			let place = places.remove(&who);
			ensure!(
				place == Some([driller.assignment].to_vec()),
				"a driller is not where it should be"
			);
			ensure!(
				!(driller.retiring && ready.contains(&who)),
				"a driller that leaves is ready for units"
			);
			ensure!(driller.retiring || !driller.displaced, "a displaced driller stays");
		}
		ensure!(places.is_empty(), "somebody drills who is not in the pool");
		Ok(())
	}
}
