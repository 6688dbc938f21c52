//! Who has which part of the capital.

use crate::{Config, Error, Event, Members, NextPool, Pallet, Pools};
use frame_support::{
	ensure,
	pallet_prelude::DispatchResult,
	traits::{
		fungible::{Inspect, Mutate},
		tokens::{Fortitude, Preservation},
		Get,
	},
};
use sp_runtime::{
	helpers_128bit::multiply_by_rational_with_rounding,
	traits::{AccountIdConversion, UniqueSaturatedInto},
	Rounding,
};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	pools::{Pool, PoolId, Rules, MOST_FEE},
	reputation::WHOLE,
};

/// Returns `amount x part / whole`, rounded down.
fn share(amount: Balance, part: Balance, whole: Balance) -> Option<Balance> {
	multiply_by_rational_with_rounding(amount, part, whole, Rounding::Down)
}

impl<T: Config> Pallet<T> {
	/// The present height.
	pub(crate) fn now() -> BlockNumber {
		frame_system::Pallet::<T>::block_number().unique_saturated_into()
	}

	/// Returns the account of a pool.
	pub fn account_of(pool: PoolId) -> T::AccountId {
		T::PalletId::get().into_sub_account_truncating(pool)
	}

	pub(crate) fn do_create(maker: T::AccountId, rules: Rules, stake: Balance) -> DispatchResult {
		let periods = T::MinPeriod::get()..=T::MaxPeriod::get();
		let valid =
			rules.fee <= MOST_FEE && rules.standing <= WHOLE && periods.contains(&rules.period);
		ensure!(valid, Error::<T>::BadRules);
		ensure!(stake >= T::MinStake::get(), Error::<T>::StakeTooSmall);
		let id = NextPool::<T>::get();
		NextPool::<T>::put(id.checked_add(1).ok_or(Error::<T>::TooMany)?);
		let account = Self::account_of(id);
		let all = stake.checked_add(T::Currency::minimum_balance()).ok_or(Error::<T>::TooMany)?;
		T::Currency::transfer(&maker, &account, all, Preservation::Preserve)?;
		let now = Self::now();
		let pool = Pool {
			maker: maker.clone(),
			rules,
			capital: stake,
			shares: stake,
			reserved: 0,
			enrolled: 0,
			since: now,
			quiet: now,
		};
		Pools::<T>::insert(id, pool);
		Members::<T>::insert(id, &maker, stake);
		Self::deposit_event(Event::Created { pool: id, maker: maker.clone(), rules });
		Self::deposit_event(Event::Joined { pool: id, who: maker, stake, shares: stake });
		Ok(())
	}

	pub(crate) fn do_join(
		who: T::AccountId,
		id: PoolId,
		stake: Balance,
		least: Balance,
	) -> DispatchResult {
		let mut pool = Pools::<T>::get(id).ok_or(Error::<T>::NoSuchPool)?;
		ensure!(pool.enrolled == 0, Error::<T>::ClaimsEnrolled);
		ensure!(stake >= T::MinStake::get(), Error::<T>::StakeTooSmall);
		ensure!(pool.capital > 0, Error::<T>::Exhausted);
		let shares = share(stake, pool.shares, pool.capital).ok_or(Error::<T>::TooMany)?;
		ensure!(shares > 0 && shares >= least, Error::<T>::FewerShares);
		pool.capital = pool.capital.checked_add(stake).ok_or(Error::<T>::TooMany)?;
		pool.shares = pool.shares.checked_add(shares).ok_or(Error::<T>::TooMany)?;
		T::Currency::transfer(&who, &Self::account_of(id), stake, Preservation::Preserve)?;
		Members::<T>::mutate(id, &who, |own| *own = own.saturating_add(shares));
		Pools::<T>::insert(id, pool);
		Self::deposit_event(Event::Joined { pool: id, who, stake, shares });
		Ok(())
	}

	pub(crate) fn do_leave(who: T::AccountId, id: PoolId) -> DispatchResult {
		let mut pool = Pools::<T>::get(id).ok_or(Error::<T>::NoSuchPool)?;
		ensure!(pool.enrolled == 0, Error::<T>::ClaimsEnrolled);
		let shares = Members::<T>::take(id, &who);
		ensure!(shares > 0, Error::<T>::NotAMember);
		// Its part of the capital; of the last member that is all.
		let paid = share(pool.capital, shares, pool.shares).ok_or(Error::<T>::TooMany)?;
		let account = Self::account_of(id);
		if paid > 0 {
			T::Currency::transfer(&account, &who, paid, Preservation::Preserve)?;
		}
		pool.capital = pool.capital.saturating_sub(paid);
		pool.shares = pool.shares.saturating_sub(shares);
		Self::deposit_event(Event::Left { pool: id, who, paid });
		if pool.shares > 0 {
			Pools::<T>::insert(id, pool);
			return Ok(());
		}
		// The existential deposit, and what others sent.
		let (keep, force) = (Preservation::Expendable, Fortitude::Polite);
		let left = T::Currency::reducible_balance(&account, keep, force);
		T::Currency::transfer(&account, &pool.maker, left, keep)?;
		Pools::<T>::remove(id);
		Self::deposit_event(Event::Dissolved { pool: id });
		Ok(())
	}
}
