//! What clients ask.

use crate::{Config, Members, Pallet, Pools};
use alloc::vec::Vec;
use trainyard_protocol::{
	job::Balance,
	pools::{Pool, PoolId},
};

impl<T: Config> Pallet<T> {
	/// Returns the pool with this number, while it has a member.
	pub fn pool(id: PoolId) -> Option<Pool<T::AccountId>> {
		Pools::<T>::get(id)
	}

	/// Returns the numbers of the pools, at most `count` of those after `after`, by number.
	pub fn numbers(after: Option<PoolId>, count: u32) -> Vec<PoolId> {
		let all = Pools::<T>::iter_keys().filter(|id| after.is_none_or(|after| *id > after));
		let mut all: Vec<PoolId> = all.collect();
		all.sort_unstable();
		all.truncate(count as usize);
		all
	}

	/// Returns the shares of an account in a pool.
	pub fn shares_of(id: PoolId, who: &T::AccountId) -> Balance {
		Members::<T>::get(id, who)
	}
}
