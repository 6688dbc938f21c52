//! What must hold in any state.

use crate::{
	docket::age_key, Agenda, Aside, Closing, Commitments, CommittedBy, Config, Convicted, Cursor,
	Disputes, Dockets, Due, HoldReason, Loads, NextDispute, Pallet, Side, Standings, Suits, Task,
	Won, WonOfSeats,
};
use alloc::collections::BTreeMap;
use frame_support::{
	ensure,
	traits::fungible::{Inspect, InspectHold},
};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::{job::Balance, JobId};

/// Amounts by account.
type Sums<T> = BTreeMap<<T as frame_system::Config>::AccountId, Balance>;
/// Disputes and blocks of work by account.
type Works<T> = BTreeMap<<T as frame_system::Config>::AccountId, (u32, u32)>;

impl<T: Config> Pallet<T> {
	/// - What is held of an account is what its commitments and disputes say, and what it won. No more of
	///   that was lost by seats.
	/// - Nobody accuses a defendant of the same in two disputes.
	/// - A commitment is found by its account, and is on the agenda.
	/// - A dispute is in the docket of its defendant or beside it, with its age, its deposit and its
	///   turn. Nobody waits beside a docket that has room.
	/// - A clock runs in the challenger's turn, and in the defender's where the dispute is heard; it
	///   stands in disputes that are set aside. What runs is on the agenda.
	/// - Of a defendant that lost, whatever is left is being ended.
	/// - The counts of each job are right, and the defences of each account.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		let mut sums = Sums::<T>::new();
		let mut counts = BTreeMap::<JobId, (u32, u32)>::new();
		let mut works = Works::<T>::new();
		let add = |sums: &mut Sums<T>, who: &T::AccountId, amount: Balance| {
			let sum = sums.entry(who.clone()).or_default();
			*sum = sum.saturating_add(amount);
		};
		let next = NextDispute::<T>::get();
		for (id, commitment) in Commitments::<T>::iter() {
			ensure!(id < next, "a commitment has a number that was not given out");
			let (job, who) = (commitment.job, &commitment.who);
			let found = CommittedBy::<T>::get(job, who);
			ensure!(found == Some(id), "a commitment is not found by its account");
			let is_due = Due::<T>::contains_key(Task::Commitment(id));
			ensure!(is_due, "a commitment is not on the agenda");
			ensure!(!Disputes::<T>::contains_key(id), "a commitment was shown and is still there");
			add(&mut sums, who, commitment.deposit);
			let count = counts.entry(job).or_default();
			count.0 = count.0.saturating_add(1);
		}
		let commitments = Commitments::<T>::iter_keys().count();
		ensure!(
			commitments == CommittedBy::<T>::iter_keys().count(),
			"an account is bound to nothing"
		);
		let now = Self::moment();
		for (id, mut dispute) in Disputes::<T>::iter() {
			let was_over = dispute.clocks.left(dispute.side(), &now) == 0;
			Self::grow(&mut dispute);
			ensure!(id < next, "a dispute has a number that was not given out");
			let defendant = &dispute.defendant;
			ensure!(dispute.stake <= dispute.deposit, "more is locked than is at stake");
			let suit = (defendant, &dispute.challenger, dispute.stage.subject.target);
			ensure!(Suits::<T>::get(suit) == Some(id), "somebody accuses twice of the same");
			ensure!(dispute.awake <= now.height, "a dispute woke in the future");
			add(&mut sums, &dispute.challenger, dispute.held());
			let count = counts.entry(defendant.job()).or_default();
			count.1 = count.1.saturating_add(1);
			if dispute.burden.seen.is_some() {
				let work = works.entry(defendant.who().clone()).or_default();
				work.0 = work.0.saturating_add(1);
				work.1 = work.1.saturating_add(dispute.burden.work);
			}
			let docket = Dockets::<T>::get(defendant);
			let key = age_key(dispute.age(id));
			let is_aside = Aside::<T>::get(defendant, key) == Some(id);
			ensure!(is_aside == dispute.aside, "a dispute waits, or not, and does not know it");
			ensure!(is_aside == docket.get(id).is_none(), "a dispute has two places or none");
			if Convicted::<T>::contains_key(defendant.job(), defendant) {
				let mut closing = Closing::<T>::iter_values();
				ensure!(closing.any(|other| other == *defendant), "a moot dispute goes on");
				continue;
			}
			ensure!(!is_aside || docket.is_full(), "a dispute waits beside a docket that has room");
			let side = dispute.side();
			if let Some(entry) = docket.get(id) {
				ensure!(entry.deposit == dispute.deposit, "a docket has another deposit");
				ensure!(entry.age == dispute.age(id), "a docket has another age");
				ensure!(entry.waits == (side == Side::Defender), "a docket has another turn");
			}
			let is_heard = docket.heard().contains(&Some(id));
			ensure!(!is_heard || dispute.burden.seen.is_some(), "what is heard is not counted");
			let runs = !is_aside && (side == Side::Challenger || is_heard);
			ensure!(
				runs == dispute.clocks.since.is_some(),
				"a clock stands or runs, and should not"
			);
			let is_over = dispute.clocks.left(side, &now) == 0;
			let is_due = Due::<T>::contains_key(Task::Dispute(id));
			ensure!(is_due || !(runs || is_over), "what runs is not on the agenda");
			ensure!(runs || was_over || !is_due, "what stands is on the agenda");
		}
		let suits = Suits::<T>::iter_keys().count();
		ensure!(suits == Disputes::<T>::iter_keys().count(), "a suit without a dispute");
		for (defendant, docket) in Dockets::<T>::iter() {
			ensure!(!docket.is_empty(), "an empty docket is kept");
			let entries = docket.entries();
			ensure!(entries.is_sorted_by_key(|entry| entry.age), "a docket is not in order");
			for entry in entries {
				let found = Disputes::<T>::get(entry.id()).map(|dispute| dispute.defendant);
				ensure!(found.as_ref() == Some(&defendant), "a docket has a dispute of another");
			}
		}
		for (_, _, id) in Aside::<T>::iter() {
			ensure!(Disputes::<T>::contains_key(id), "what waits has ended");
		}
		for (_, defendant, amount) in Won::<T>::iter() {
			add(&mut sums, defendant.who(), amount);
		}
		for (job, defendant, amount) in WonOfSeats::<T>::iter() {
			let all = Won::<T>::get(job, defendant);
			ensure!(amount > 0 && amount <= all, "seats lost more than all did");
		}
		for (who, sum) in sums {
			let held = T::Currency::balance_on_hold(&HoldReason::Challenge.into(), &who);
			ensure!(held == sum, "what is held differs from what is at stake");
			ensure!(T::Currency::total_balance(&who) >= sum, "more is held than there is");
		}
		for (job, standing) in Standings::<T>::iter() {
			let count = counts.remove(&job).unwrap_or_default();
			ensure!(count == (standing.commitments, standing.disputes), "a job is miscounted");
		}
		ensure!(counts.is_empty(), "a job is not counted");
		for (who, load) in Loads::<T>::iter() {
			let work = works.remove(&who).unwrap_or_default();
			ensure!(
				work == (load.disputes, load.open),
				"the defences of an account are miscounted"
			);
			ensure!(load.disputes > 0, "an account without defences is counted");
		}
		ensure!(works.is_empty(), "the defences of an account are not counted");
		Self::check_agenda()
	}

	/// The agenda holds the same in both directions, and nothing was passed over.
	fn check_agenda() -> Result<(), TryRuntimeError> {
		for (at, task, ()) in Agenda::<T>::iter() {
			ensure!(Due::<T>::get(task) == Some(at), "the two directions of the agenda differ");
			let passed = Cursor::<T>::get().is_some_and(|cursor| at < cursor);
			ensure!(!passed, "an entry of the agenda was passed over");
			let is_known = match task {
				Task::Commitment(id) => Commitments::<T>::contains_key(id),
				Task::Dispute(id) => Disputes::<T>::contains_key(id),
				Task::Close(id) => Closing::<T>::contains_key(id),
				Task::Acquit(_) | Task::Forget(_) => true,
			};
			ensure!(is_known, "a task of nothing");
		}
		let entries = Agenda::<T>::iter_keys().count();
		ensure!(entries == Due::<T>::iter_keys().count(), "a task is due and not on the agenda");
		Ok(())
	}
}
