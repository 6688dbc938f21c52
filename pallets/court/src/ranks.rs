//! Dockets in storage: who enters, who leaves, and whose clock runs after that.

use crate::{
	docket::{age_key, Docket, Entry},
	Aside, Config, Convicted, DefendantOf, DisputeOf, Disputes, Dockets, Event, Pallet, Side, Task,
};
use trainyard_court::game::Stage;
use trainyard_pallet_support::agenda::Clock;
use trainyard_traits::DisputeId;

impl<T: Config> Pallet<T> {
	/// Changes the docket of `defendant`, and lets the clocks of its own side run in the disputes that
	/// are heard after that, and in no others.
	fn change_docket<R>(defendant: &DefendantOf<T>, change: impl FnOnce(&mut Docket) -> R) -> R {
		let mut docket = Dockets::<T>::get(defendant);
		let before = docket.heard();
		let result = change(&mut docket);
		let after = docket.heard();
		match docket.is_empty() {
			true => Dockets::<T>::remove(defendant),
			false => Dockets::<T>::insert(defendant, docket),
		}
		for id in before.into_iter().flatten().filter(|id| !after.contains(&Some(*id))) {
			Disputes::<T>::mutate_extant(id, |dispute| {
				if dispute.side() == Side::Defender && dispute.clocks.since.is_some() {
					Self::stop(id, dispute);
				}
			});
		}
		for id in after.into_iter().flatten() {
			Disputes::<T>::mutate_extant(id, |dispute| {
				if dispute.clocks.since.is_none() {
					Self::count(dispute);
					Self::start(id, dispute);
					Self::deposit_event(Event::Heard { id });
				}
			});
		}
		result
	}

	/// Returns the entry of a dispute.
	fn entry(id: DisputeId, dispute: &DisputeOf<T>) -> Entry {
		let waits = dispute.side() == Side::Defender;
		Entry { age: dispute.age(id), deposit: dispute.deposit, waits }
	}

	/// Gives a dispute a place in the docket, or sets it or another one aside, and lets its clock run if
	/// it should. It is stored afterwards.
	pub(crate) fn enter(id: DisputeId, mut dispute: DisputeOf<T>) {
		dispute.aside = false;
		let entry = Self::entry(id, &dispute);
		let defendant = dispute.defendant.clone();
		Disputes::<T>::insert(id, dispute);
		let displaced = Self::change_docket(&defendant, |docket| docket.add(entry));
		if let Some(displaced) = displaced {
			Self::set_aside(&defendant, displaced);
		}
		if displaced != Some(entry) {
			Self::start_challenger(id);
		}
	}

	/// Returns how many disputes of the docket come before this one by their deposits.
	pub(crate) fn rank(id: DisputeId, dispute: &DisputeOf<T>) -> u32 {
		Dockets::<T>::get(&dispute.defendant).rank(&Self::entry(id, dispute))
	}

	/// Lets the challenger's clock run in its turn.
	fn start_challenger(id: DisputeId) {
		Disputes::<T>::mutate_extant(id, |dispute| {
			if dispute.side() == Side::Challenger {
				Self::start(id, dispute);
			}
		});
	}

	/// Lets a dispute without a place wait. Its clocks stand.
	fn set_aside(defendant: &DefendantOf<T>, entry: Entry) {
		let id = entry.id();
		Aside::<T>::insert(defendant, age_key(entry.age), id);
		Disputes::<T>::mutate_extant(id, |dispute| {
			dispute.aside = true;
			if dispute.clocks.since.is_some() {
				Self::stop(id, dispute);
			}
		});
		Self::deposit_event(Event::SetAside { id });
	}

	/// Takes a dispute that ended out of the docket, and gives its place to the oldest that waits for
	/// one. Nobody moves up where the defendant was convicted.
	pub(crate) fn leave(id: DisputeId, dispute: &DisputeOf<T>) {
		let defendant = &dispute.defendant;
		if dispute.aside {
			Aside::<T>::remove(defendant, age_key(dispute.age(id)));
			return;
		}
		if Convicted::<T>::contains_key(defendant.job(), defendant) {
			Dockets::<T>::mutate_exists(defendant, |docket| {
				docket.as_mut().map(|docket| docket.remove(id));
				*docket = docket.take().filter(|docket| !docket.is_empty());
			});
			return;
		}
		Self::change_docket(defendant, |docket| docket.remove(id));
		if let Some((key, next)) = Aside::<T>::iter_prefix(defendant).next() {
			Aside::<T>::remove(defendant, key);
			if let Some(dispute) = Self::read(next) {
				Self::enter(next, dispute);
			}
		}
	}

	/// Stores a dispute in which somebody moved, and lets the right clock run. `was` is the side that
	/// was to move before.
	pub(crate) fn store_moved(id: DisputeId, mut dispute: DisputeOf<T>, stage: Stage) {
		dispute.clocks.stop(dispute.side(), &Self::moment());
		dispute.stage = stage;
		Self::unschedule(Task::Dispute(id));
		let (side, aside) = (dispute.side(), dispute.aside);
		let defendant = dispute.defendant.clone();
		Disputes::<T>::insert(id, dispute);
		if aside {
			return;
		}
		Self::change_docket(&defendant, |docket| {
			docket.change(id, |entry| entry.waits = side == Side::Defender)
		});
		Self::start_challenger(id);
	}

	/// Stores a dispute whose deposit grew.
	pub(crate) fn rank_again(id: DisputeId, dispute: DisputeOf<T>) {
		if dispute.aside {
			// Perhaps it is larger than the least now.
			Aside::<T>::remove(&dispute.defendant, age_key(dispute.age(id)));
			return Self::enter(id, dispute);
		}
		let (defendant, deposit) = (dispute.defendant.clone(), dispute.deposit);
		Disputes::<T>::insert(id, dispute);
		Self::change_docket(&defendant, |docket| {
			docket.change(id, |entry| entry.deposit = deposit)
		});
	}
}
