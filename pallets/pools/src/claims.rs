//! Claims that are enrolled, and what follows when their jobs are settled.
//!
//! | the job ends | the pool pays the trainer |
//! |---|---|
//! | its result was found true, and is paid by tickets | the mean of what it is paid, less the fee, whatever the tickets brought |
//! | otherwise: agreed, undecided | what the pool got |
//! | otherwise: rejected, or anything that is not paid | nothing |
//!
//! So a trainer with a false result has by a pool what it would have without, on the average.

use crate::{Claims, Config, Error, Event, Pallet, Pools, WeightInfo};
use frame_support::{
	defensive, ensure,
	pallet_prelude::DispatchResult,
	storage::with_storage_layer,
	traits::{fungible::Mutate, tokens::Preservation, Get},
	weights::Weight,
};
use trainyard_protocol::{
	job::Balance,
	pools::{Enrolled, PoolId},
	reputation::Role,
	JobId,
};
use trainyard_traits::{ClaimPools, PooledClaims, Reputation};

impl<T: Config> Pallet<T> {
	pub(crate) fn do_enrol(trainer: T::AccountId, id: PoolId, job: JobId) -> DispatchResult {
		let mut pool = Pools::<T>::get(id).ok_or(Error::<T>::NoSuchPool)?;
		let since = pool.enrols(Self::now(), T::Rest::get()).ok_or(Error::<T>::Resting)?;
		let standing = T::Reputation::record(Role::Trainer, &trainer).standing();
		ensure!(standing >= pool.rules.standing, Error::<T>::BadRecord);
		// Members wait for its settlement, so nobody locks them in by a job that is trained for months.
		let by = since.saturating_add(pool.rules.period);
		let reserve = T::Claims::enrol(job, &trainer, &Self::account_of(id), by)?;
		ensure!(reserve <= pool.free(), Error::<T>::NotEnoughCapital);
		pool.reserved = pool.reserved.saturating_add(reserve);
		pool.enrolled = pool.enrolled.checked_add(1).ok_or(Error::<T>::TooMany)?;
		pool.since = since;
		Pools::<T>::insert(id, pool);
		Claims::<T>::insert(job, &trainer, Enrolled { pool: id, reserve });
		Self::deposit_event(Event::Enrolled { pool: id, job, trainer, reserve });
		Ok(())
	}
}

impl<T: Config> ClaimPools<T::AccountId> for Pallet<T> {
	fn paid(job: JobId, trainer: &T::AccountId, got: Balance, mean: Option<Balance>) {
		let Some(Enrolled { pool: id, reserve }) = Claims::<T>::take(job, trainer) else { return };
		let Some(mut pool) = Pools::<T>::get(id) else {
			defensive!("a pool with a claim is there");
			return;
		};
		let due = mean.map_or(got, |mean| pool.rules.paid_of(mean));
		let capital = pool.capital.saturating_add(got);
		// No more than what is not reserved for others.
		let others = pool.reserved.saturating_sub(reserve);
		let due = due.min(capital.saturating_sub(others));
		let account = Self::account_of(id);
		let pay = || T::Currency::transfer(&account, trainer, due, Preservation::Preserve);
		let paid = match due == 0 || with_storage_layer(pay).is_ok() {
			true => due,
			false => {
				let trainer = trainer.clone();
				Self::deposit_event(Event::Undelivered { pool: id, trainer, amount: due });
				0
			}
		};
		pool.capital = capital.saturating_sub(paid);
		pool.reserved = others;
		pool.enrolled = pool.enrolled.saturating_sub(1);
		pool.quiet = Self::now();
		Pools::<T>::insert(id, pool);
		let trainer = trainer.clone();
		Self::deposit_event(Event::Settled { pool: id, job, trainer, got, paid });
	}

	fn paid_weight() -> Weight {
		T::WeightInfo::paid()
	}
}
