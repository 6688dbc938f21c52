//! What must always hold in this pallet's storage.

use crate::{Config, Pallet, Records};
use frame_support::ensure;
use sp_runtime::TryRuntimeError;

impl<T: Config> Pallet<T> {
	/// Checks that every record has something in it, and none comes from a block to come.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		for (_, _, record) in Records::<T>::iter() {
			ensure!(record.total() > 0, "a record of nothing");
			ensure!(record.at <= Self::now(), "a record from a block to come");
		}
		Ok(())
	}
}
