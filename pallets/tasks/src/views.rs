//! What clients ask.

use crate::{posting::TaskOf, Config, Disputes, Outputs, Pallet, Replica, Seals, Tasks};
use alloc::vec::Vec;
use trainyard_protocol::job::BlockNumber;
use trainyard_task::{
	views::{DisputeView, Phase, ReplicaView, TaskEnd, TaskView},
	TaskId, H256,
};

impl<T: Config> Pallet<T> {
	/// Returns the task with this number, until it is forgotten.
	pub fn view(id: TaskId) -> Option<TaskView<T::AccountId>> {
		let task: TaskOf<T> = Tasks::<T>::get(id)?;
		let replica = |replica: Replica<T::AccountId>| ReplicaView {
			who: replica.who,
			commitment: replica.commitment,
			claim: replica.claim,
		};
		let mut disputes: Vec<_> = Disputes::<T>::iter_prefix(id)
			.map(|(number, dispute)| DisputeView {
				number,
				moved: dispute.shown.map(|nodes| nodes.is_some()),
				sides: dispute.sides,
				stage: dispute.stage,
				until: dispute.until,
			})
			.collect();
		disputes.sort_by_key(|dispute| dispute.number);
		let output = match task.phase {
			Phase::Ended(TaskEnd::Accepted(number)) => Outputs::<T>::get(id, number),
			_ => None,
		};
		Some(TaskView {
			id,
			submitter: task.submitter,
			spec: task.spec,
			terms: task.terms,
			phase: task.phase,
			applicants: task.applicants.into_inner(),
			replicas: task.replicas.into_iter().map(replica).collect(),
			auditor: task.auditor.map(replica),
			claims: task.claims.into_iter().map(|one| (one.claim, one.out.is_some())).collect(),
			disputes,
			output: output.map(Into::into),
		})
	}

	/// Returns the output of a claim, where it is short enough to be kept by the chain itself.
	pub fn output(id: TaskId, claim: u8) -> Option<Vec<u8>> {
		Outputs::<T>::get(id, claim).map(Into::into)
	}

	/// Returns what an account sealed for a task, and in which block.
	pub fn seal_of(id: TaskId, who: &T::AccountId) -> Option<(H256, BlockNumber)> {
		Seals::<T>::get(id, who).map(|seal| (seal.commitment, seal.at))
	}

	/// Returns the numbers of the tasks that are on record, at most `count` of those after `after`, by number.
	pub fn numbers(after: Option<TaskId>, count: u32) -> Vec<TaskId> {
		Self::select(after, count, |_| true)
	}

	/// Returns those of them for which one can apply.
	pub fn open_numbers(after: Option<TaskId>, count: u32) -> Vec<TaskId> {
		Self::select(after, count, |task| matches!(task.phase, Phase::Open { .. }))
	}

	fn select(
		after: Option<TaskId>,
		count: u32,
		wanted: impl Fn(&TaskOf<T>) -> bool,
	) -> Vec<TaskId> {
		let all = Tasks::<T>::iter().filter(|(id, _)| after.is_none_or(|after| *id > after));
		let mut all: Vec<_> = all.filter(|(_, task)| wanted(task)).map(|(id, _)| id).collect();
		all.sort_unstable();
		all.truncate(count as usize);
		all
	}
}
