//! What must always hold in this pallet's storage.

use crate::{Alive, Config, Found, Oldest, Pallet, Records, Watching};
use alloc::collections::BTreeMap;
use frame_support::ensure;
use sp_runtime::TryRuntimeError;

impl<T: Config> Pallet<T> {
	/// Checks that every record has something in it, and none comes from a block to come.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		for (_, _, record) in Records::<T>::iter() {
			ensure!(record.total() > 0, "a record of nothing");
			ensure!(record.at <= Self::now(), "a record from a block to come");
		}
		let mut counts = BTreeMap::<u32, u32>::new();
		for (watch, _) in Watching::<T>::iter_keys() {
			let count = counts.entry(watch).or_default();
			*count = count.saturating_add(1);
		}
		for (watch, count) in counts {
			ensure!(watch >= Oldest::<T>::get(), "a watch that was removed");
			// Of one that is over some may be removed.
			ensure!(count <= Alive::<T>::get(watch), "more watch than were counted");
		}
		ensure!(Found::<T>::get().at <= Self::now(), "prizes from a block to come");
		Ok(())
	}
}
