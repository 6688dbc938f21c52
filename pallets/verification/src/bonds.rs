//! Verifiers' bonds: in, out, and slashed.

use crate::{Config, Error, Event, Fault, HoldReason, LeavingVerifiers, Pallet, Pool};
use frame_support::{
	ensure,
	pallet_prelude::DispatchResult,
	traits::{
		fungible::MutateHold,
		tokens::{Fortitude, Precision, Restriction},
		Get,
	},
};
use sp_runtime::traits::SaturatedConversion;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	JobId,
};

impl<T: Config> Pallet<T> {
	/// The present height.
	pub(crate) fn now() -> BlockNumber {
		frame_system::Pallet::<T>::block_number().saturated_into()
	}

	pub(crate) fn do_register(who: T::AccountId, bond: Balance) -> DispatchResult {
		ensure!(bond >= T::MinBond::get(), Error::<T>::BondTooSmall);
		ensure!(!LeavingVerifiers::<T>::contains_key(&who), Error::<T>::StillLeaving);
		let known = Pool::<T>::get().get(&who).is_some_and(|entry| entry.is_active());
		ensure!(!known, Error::<T>::AlreadyVerifier);
		T::Currency::hold(&HoldReason::VerifierBond.into(), &who, bond)?;
		Self::enter(who.clone(), bond)?;
		Self::deposit_event(Event::Registered { verifier: who, bond });
		Ok(())
	}

	pub(crate) fn do_bond_extra(who: T::AccountId, amount: Balance) -> DispatchResult {
		let bond = Pool::<T>::try_mutate(|pool| {
			let entry = pool.get_mut(&who).filter(|entry| entry.is_active());
			let entry = entry.ok_or(Error::<T>::NotVerifier)?;
			T::Currency::hold(&HoldReason::VerifierBond.into(), &who, amount)?;
			entry.raise(amount, Self::now());
			Ok::<_, sp_runtime::DispatchError>(entry.bond)
		})?;
		Self::deposit_event(Event::BondRaised { verifier: who, bond });
		Ok(())
	}

	pub(crate) fn do_deregister(who: T::AccountId) -> DispatchResult {
		let active = Pool::<T>::get().get(&who).is_some_and(|entry| entry.is_active());
		ensure!(active, Error::<T>::NotVerifier);
		Self::leave(&who);
		Ok(())
	}

	pub(crate) fn do_withdraw(who: T::AccountId) -> DispatchResult {
		let leaving = LeavingVerifiers::<T>::get(&who).ok_or(Error::<T>::NotLeaving)?;
		ensure!(Self::now() > leaving.until, Error::<T>::StillBonded);
		let amount = T::Currency::release(
			&HoldReason::VerifierBond.into(),
			&who,
			leaving.bond,
			Precision::BestEffort,
		)?;
		LeavingVerifiers::<T>::remove(&who);
		Self::deposit_event(Event::Withdrawn { verifier: who, amount });
		Ok(())
	}

	/// Slashes `who` for what it did in the audit of `job`.
	pub(crate) fn slash(job: JobId, who: &T::AccountId, fault: Fault) {
		let amount = Self::take(who, fault);
		Self::deposit_event(Event::Slashed { verifier: who.clone(), amount, job, fault });
	}

	/// Moves the part of `who`'s bond that `fault` costs to the jackpot; returns how much. A
	/// verifier whose bond falls below the minimum leaves the pool.
	pub(crate) fn take(who: &T::AccountId, fault: Fault) -> Balance {
		let part = match fault {
			Fault::NoVerdict => T::AbsentSlash::get(),
			Fault::Contrary => T::ContrarySlash::get(),
		};
		let active = Pool::<T>::get().get(who).copied().filter(|entry| entry.is_active());
		if let Some(entry) = active {
			let amount = Self::move_to_jackpot(who, part.mul_floor(entry.bond));
			let left = entry.bond.saturating_sub(amount);
			Pool::<T>::mutate(|pool| {
				if let Some(entry) = pool.get_mut(who) {
					entry.lower(left);
				}
			});
			if left < T::MinBond::get() {
				Self::leave(who);
			}
			amount
		} else if let Some(mut leaving) = LeavingVerifiers::<T>::get(who) {
			let amount = Self::move_to_jackpot(who, part.mul_floor(leaving.bond));
			leaving.bond = leaving.bond.saturating_sub(amount);
			LeavingVerifiers::<T>::insert(who, leaving);
			amount
		} else {
			0
		}
	}

	/// Moves up to `amount` from a bond to the jackpot; returns how much. It is 0 only where
	/// the jackpot's account does not exist and `amount` cannot create it: then the bond keeps
	/// that dust.
	fn move_to_jackpot(who: &T::AccountId, amount: Balance) -> Balance {
		T::Currency::transfer_on_hold(
			&HoldReason::VerifierBond.into(),
			who,
			&T::Jackpot::get(),
			amount,
			Precision::BestEffort,
			Restriction::Free,
			Fortitude::Force,
		)
		.unwrap_or_else(|error| {
			log::warn!(
				target: "runtime::verification",
				"a slash of {amount} could not be moved to the jackpot: {error:?}",
			);
			0
		})
	}
}
