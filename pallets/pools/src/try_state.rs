//! The invariants of this pallet's storage.

use crate::{Claims, Config, Members, NextPool, Pallet, Pools};
use frame_support::{
	ensure,
	traits::{fungible::Inspect, Get},
};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::{job::Balance, pools::MOST_FEE};

impl<T: Config> Pallet<T> {
	/// Checks that shares are those of the members, that what claims may cost is reserved and covered, and that the
	/// account of each pool has its capital.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		for (id, pool) in Pools::<T>::iter() {
			ensure!(id < NextPool::<T>::get(), "a pool has a number that was not given out");
			ensure!(pool.rules.fee <= MOST_FEE, "a pool takes more than it may");
			let shares = Members::<T>::iter_prefix_values(id);
			let shares = shares.fold(0, |sum: Balance, own| sum.saturating_add(own));
			ensure!(shares == pool.shares && shares > 0, "shares of nobody, or a pool of nobody");
			let mine = || Claims::<T>::iter_values().filter(|claim| claim.pool == id);
			let reserved = mine().fold(0, |sum: Balance, one| sum.saturating_add(one.reserve));
			ensure!(reserved == pool.reserved, "what is reserved is not that of the claims");
			ensure!(mine().count() == pool.enrolled as usize, "claims were counted wrong");
			ensure!(pool.reserved <= pool.capital, "a pool owes more than it has");
			let least = pool.capital.saturating_add(T::Currency::minimum_balance());
			ensure!(
				T::Currency::total_balance(&Self::account_of(id)) >= least,
				"the account of a pool has less than its capital"
			);
			ensure!(pool.since.max(pool.quiet) <= Self::now(), "a pool of a block to come");
		}
		for (_, _, claim) in Claims::<T>::iter() {
			ensure!(Pools::<T>::contains_key(claim.pool), "a claim of no pool");
		}
		for (id, _, own) in Members::<T>::iter() {
			ensure!(Pools::<T>::contains_key(id) && own > 0, "a member of no pool, or of none");
		}
		ensure!(T::MinPeriod::get() <= T::MaxPeriod::get(), "no period is possible");
		Ok(())
	}
}
