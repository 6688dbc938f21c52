//! The work of an account's defences.
//!
//! A trainer is accused in as many jobs as its results can be challenged in, and a verifier in as many
//! audits as it revealed evidence in, and whoever it is computes all defences on one machine. A clock
//! counts two of them, so many accusations at once would convict whoever cannot meet them, and bring each
//! challenger more than it costs. So the clock of a defender grows by the work of all other defences of
//! its account: those that are under way when the dispute is heard first, and each that is heard while it
//! runs. Whatever order the machine takes them in, it has time for all.
//!
//! What is not heard is not counted: nobody has to answer it. A clock grows by [`Burden::room`] at most, or
//! friends of a cheat could hold a dispute for ever by accusing it elsewhere.
//!
//! Growth is read from sums by account, when somebody looks at the dispute: one record for all disputes.

use crate::{Burden, Config, DisputeOf, Disputes, Loads, Pallet};
use trainyard_protocol::job::BlockNumber;
use trainyard_traits::{ClockTerms, DisputeId};

impl Burden {
	/// Returns that of a dispute which was not heard.
	pub fn new(terms: &ClockTerms) -> Self {
		Self { work: terms.work, seen: None, room: terms.room }
	}

	/// Takes from the room what a clock grows by for that much work of other defences, and returns it.
	fn grow(&mut self, work: BlockNumber) -> BlockNumber {
		let more = work.min(self.room);
		self.room = self.room.saturating_sub(more);
		more
	}
}

impl<T: Config> Pallet<T> {
	/// Returns a dispute that has not ended, whose clock has grown by what was heard since.
	pub(crate) fn read(id: DisputeId) -> Option<DisputeOf<T>> {
		let mut dispute = Disputes::<T>::get(id)?;
		Self::grow(&mut dispute);
		Some(dispute)
	}

	/// Lets the clock of a defender grow by the work of the other defences of its account that were heard
	/// since it grew last.
	pub(crate) fn grow(dispute: &mut DisputeOf<T>) {
		let Some(seen) = dispute.burden.seen else { return };
		let ever = Loads::<T>::get(dispute.defendant.who()).ever;
		let more = dispute.burden.grow(ever.wrapping_sub(seen));
		dispute.clocks.defender = dispute.clocks.defender.saturating_add(more);
		dispute.burden.seen = Some(ever);
	}

	/// Counts a dispute that is heard among the defences of its account, the first time, and lets its clock
	/// grow by those that are under way.
	pub(crate) fn count(dispute: &mut DisputeOf<T>) {
		let burden = &mut dispute.burden;
		if burden.seen.is_some() {
			return;
		}
		Loads::<T>::mutate(dispute.defendant.who(), |load| {
			let more = burden.grow(load.open);
			dispute.clocks.defender = dispute.clocks.defender.saturating_add(more);
			load.disputes = load.disputes.saturating_add(1);
			load.open = load.open.saturating_add(burden.work);
			load.ever = load.ever.wrapping_add(burden.work);
			burden.seen = Some(load.ever);
		});
	}

	/// Counts a dispute that ended no more.
	pub(crate) fn uncount(dispute: &DisputeOf<T>) {
		if dispute.burden.seen.is_none() {
			return;
		}
		Loads::<T>::mutate_exists(dispute.defendant.who(), |stored| {
			let Some(load) = stored else { return };
			load.disputes = load.disputes.saturating_sub(1);
			load.open = load.open.saturating_sub(dispute.burden.work);
			// Nobody has seen it any more.
			if load.disputes == 0 {
				*stored = None;
			}
		});
	}
}
