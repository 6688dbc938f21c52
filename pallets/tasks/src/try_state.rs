//! What must always hold in this pallet's storage.

use crate::{
	Config, Disputes, Due, HoldReason, NextTask, Outputs, Pallet, Seals, Subject, Tasks,
	MAX_CHALLENGES, MAX_DISPUTES,
};
use alloc::collections::BTreeMap;
use frame_support::{ensure, traits::fungible::InspectHold};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::job::Balance;
use trainyard_task::views::{Phase, Side};

impl<T: Config> Pallet<T> {
	/// Checks that
	/// - what tasks, replicas and challenges say that is held is held, no less and no more;
	/// - every task and every dispute is on the agenda, at a height that has it;
	/// - claims of replicas exist, and disputes are counted and of claims that were not convicted;
	/// - a task that ended holds nothing but the deposit for its record, and has no disputes.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		let mut held = BTreeMap::<(HoldCode, T::AccountId), Balance>::new();
		let mut add = |reason, who: &T::AccountId, amount: Balance| {
			let sum = held.entry((reason, who.clone())).or_default();
			*sum = sum.saturating_add(amount);
		};
		for (id, task) in Tasks::<T>::iter() {
			ensure!(id < NextTask::<T>::get(), "a task of a number to come");
			ensure!(Due::<T>::contains_key(Subject::Task(id)), "a task is not on the agenda");
			add(HoldCode::Escrow, &task.submitter, task.escrow);
			add(HoldCode::Record, &task.submitter, task.record);
			for who in &task.applicants {
				add(HoldCode::Replica, who, task.terms.deposit);
			}
			for replica in &task.replicas {
				add(HoldCode::Replica, &replica.who, replica.deposit);
			}
			for replica in task.replicas.iter().chain(&task.auditor) {
				let claim = replica.claim.map(usize::from);
				ensure!(claim.is_none_or(|at| at < task.claims.len()), "no such claim");
			}
			let (mut running, mut challenges) = (0u32, 0u32);
			for (number, dispute) in Disputes::<T>::iter_prefix(id) {
				running = running.saturating_add(1);
				ensure!(number < task.next_dispute, "a dispute of a number to come");
				for side in &dispute.sides {
					match side {
						Side::Claim(claim) => {
							let claimed = task.claims.get(usize::from(*claim));
							let live = claimed.is_some_and(|claimed| !claimed.convicted());
							ensure!(live, "a claim is in dispute that was convicted");
						}
						Side::Challenger { who, deposit, .. } => {
							challenges = challenges.saturating_add(1);
							add(HoldCode::Challenge, who, *deposit);
						}
					}
				}
			}
			let counted = running == task.running && challenges == task.challenges;
			ensure!(counted, "disputes are not counted");
			let bounded = running <= MAX_DISPUTES && challenges <= MAX_CHALLENGES;
			ensure!(bounded, "too many disputes");
			if matches!(task.phase, Phase::Ended(_)) {
				let deposits = task.replicas.iter().any(|replica| replica.deposit > 0);
				let holds = task.escrow > 0 || deposits || !task.applicants.is_empty();
				ensure!(!holds && running == 0, "a task that ended holds something");
				ensure!(task.auditor.is_none(), "a task that ended has an auditor");
			}
		}
		for (id, number) in Disputes::<T>::iter_keys() {
			ensure!(Tasks::<T>::contains_key(id), "a dispute of no task");
			let due = Due::<T>::contains_key(Subject::Dispute(id, number));
			ensure!(due, "a dispute is not on the agenda");
		}
		for (id, _) in Outputs::<T>::iter_keys() {
			ensure!(Tasks::<T>::contains_key(id), "an output of no task");
		}
		for (_, who, seal) in Seals::<T>::iter() {
			add(HoldCode::Challenge, &who, seal.deposit);
		}
		for ((reason, who), amount) in held {
			let reason = match reason {
				HoldCode::Escrow => HoldReason::Escrow,
				HoldCode::Record => HoldReason::Record,
				HoldCode::Replica => HoldReason::Replica,
				HoldCode::Challenge => HoldReason::Challenge,
			};
			let found = T::Currency::balance_on_hold(&reason.into(), &who);
			ensure!(found == amount, "what is held is not what the records say");
		}
		Ok(())
	}
}

/// The reasons for holds, in an order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum HoldCode {
	Escrow,
	Record,
	Replica,
	Challenge,
}
