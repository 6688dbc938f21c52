//! What must always hold in this pallet's storage.

use crate::{Config, Final, Noted, Pallet, Statements};
use frame_support::ensure;
use sp_runtime::TryRuntimeError;

impl<T: Config> Pallet<T> {
	/// Checks that
	/// - statements are ascending by account, one of each;
	/// - nothing is said to be final that was not below the block in which it was said;
	/// - what is final is below the latest block that said something.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		let said = Statements::<T>::get();
		let ascending = said.iter().zip(said.iter().skip(1)).all(|((a, _), (b, _))| a < b);
		ensure!(ascending, "statements are not ascending");
		let Some(noted) = Noted::<T>::get() else {
			ensure!(said.is_empty() && Final::<T>::get() == 0, "final by nobody's word");
			return Ok(());
		};
		ensure!(noted <= Self::now(), "a statement in a block to come");
		ensure!(said.iter().all(|(_, height)| *height < noted), "a statement about a later block");
		ensure!(Final::<T>::get() < noted, "final before it was said");
		Ok(())
	}
}
