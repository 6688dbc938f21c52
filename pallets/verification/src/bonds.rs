//! Verifiers' bonds: in, out, and slashed.

use crate::{
	pool::PoolOf, Config, Entry, Error, Event, Fault, HoldReason, Locations, Pallet, Pool, Tariff,
	SETTLING,
};
use frame_support::{
	ensure,
	pallet_prelude::DispatchResult,
	traits::{
		fungible::MutateHold,
		tokens::{Fortitude, Precision, Restriction},
		Get,
	},
};
use sp_core::sr25519::Public;
use sp_runtime::{traits::SaturatedConversion, DispatchError};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	seats::Resources,
	views::Standing,
	vrf,
};

impl<T: Config> Pallet<T> {
	/// The present height.
	pub(crate) fn now() -> BlockNumber {
		frame_system::Pallet::<T>::block_number().saturated_into()
	}

	/// Puts more of `who`'s balance on hold.
	pub(crate) fn hold(who: &T::AccountId, amount: Balance) -> DispatchResult {
		T::Currency::hold(&HoldReason::VerifierBond.into(), who, amount)
	}

	/// Enters the pool, or returns to it with a bond of at least `bond`.
	pub(crate) fn do_register(
		who: T::AccountId,
		bond: Balance,
		capacity: Resources,
	) -> DispatchResult {
		ensure!(bond >= T::MinBond::get(), Error::<T>::BondTooSmall);
		Self::ensure_roomy(&capacity)?;
		let now = Self::now();
		let (standing, bond) = Pool::<T>::try_mutate(|pool| {
			if let Some(entry) = pool.get_mut(&who) {
				let away = matches!(entry.standing, Standing::Left { .. } | Standing::Paused);
				ensure!(away, Error::<T>::AlreadyVerifier);
				Self::hold(&who, bond.saturating_sub(entry.bond))?;
				entry.bond = entry.bond.max(bond);
				entry.absences = 0;
				let changed = entry.capacity.push(now, capacity, SETTLING);
				ensure!(changed, Error::<T>::TooManyChanges);
			} else {
				Self::hold(&who, bond)?;
				Self::make_room(pool, bond, now)?;
				pool.try_insert(who.clone(), Entry::new(bond, capacity, now))
					.map_err(|_| Error::<T>::PoolFull)?;
			}
			let standing = Self::settle_in(pool, &who, now)?;
			let bond = pool.get(&who).map_or(bond, |entry| entry.bond);
			Ok::<_, DispatchError>((standing, bond))
		})?;
		Self::deposit_event(Event::Registered { verifier: who, bond, standing });
		Ok(())
	}

	pub(crate) fn do_bond_extra(who: T::AccountId, amount: Balance) -> DispatchResult {
		let now = Self::now();
		let bond = Pool::<T>::try_mutate(|pool| {
			Self::hold(&who, amount)?;
			Self::with_inflow(pool, |pool, inflow| {
				let entry = pool.get_mut(&who).ok_or(Error::<T>::NotVerifier)?;
				entry.bond = entry.bond.saturating_add(amount);
				if entry.is_active() {
					ensure!(entry.grow(inflow, now), Error::<T>::TooManyChanges);
				}
				Ok::<_, DispatchError>(entry.bond)
			})
		})?;
		Self::deposit_event(Event::BondRaised { verifier: who, bond });
		Ok(())
	}

	/// Fails where a verifier of this `capacity` could not take every audit.
	fn ensure_roomy(capacity: &Resources) -> Result<(), Error<T>> {
		let fits = capacity.can_take(&Resources::default(), &T::LeastRoom::get());
		ensure!(fits, Error::<T>::CapacityTooSmall);
		Ok(())
	}

	pub(crate) fn do_set_capacity(who: T::AccountId, capacity: Resources) -> DispatchResult {
		Self::ensure_roomy(&capacity)?;
		Pool::<T>::try_mutate(|pool| {
			let entry = pool.get_mut(&who).ok_or(Error::<T>::NotVerifier)?;
			let changed = entry.capacity.push(Self::now(), capacity, SETTLING);
			ensure!(changed, Error::<T>::TooManyChanges);
			Ok::<_, DispatchError>(())
		})?;
		Self::deposit_event(Event::CapacityDeclared { verifier: who, capacity });
		Ok(())
	}

	/// Sets the key of the caller's own draws. With its first one a verifier that waits takes a place,
	/// where there is one.
	pub(crate) fn do_set_vrf_key(who: T::AccountId, key: Public) -> DispatchResult {
		ensure!(vrf::is_key(&key.0), Error::<T>::NotVrfKey);
		let now = Self::now();
		let admitted = Pool::<T>::try_mutate(|pool| {
			let entry = pool.get_mut(&who).ok_or(Error::<T>::NotVerifier)?;
			let waits = matches!(entry.standing, Standing::Waiting { .. });
			let enters = waits && !entry.has_key();
			ensure!(entry.vrf.push(now, key, SETTLING), Error::<T>::TooManyChanges);
			let bond = entry.bond;
			let active = enters && Self::settle_in(pool, &who, now)? == Standing::Active;
			Ok::<_, DispatchError>(active.then_some(bond))
		})?;
		Self::deposit_event(Event::VrfKeySet { verifier: who.clone(), key });
		if let Some(bond) = admitted {
			Self::deposit_event(Event::Admitted { verifier: who, bond });
		}
		Ok(())
	}

	/// Ends a pause, or takes leaving back.
	pub(crate) fn do_resume(who: T::AccountId) -> DispatchResult {
		let standing = Pool::<T>::try_mutate(|pool| {
			let entry = pool.get_mut(&who).ok_or(Error::<T>::NotVerifier)?;
			let away = matches!(entry.standing, Standing::Left { .. } | Standing::Paused);
			ensure!(away, Error::<T>::NothingToResume);
			ensure!(entry.bond >= T::SeatStake::get(), Error::<T>::BondTooSmall);
			entry.absences = 0;
			Self::settle_in(pool, &who, Self::now()).map_err(DispatchError::from)
		})?;
		Self::deposit_event(Event::Resumed { verifier: who, standing });
		Ok(())
	}

	/// Leaves the pool. Whoever waits for a place takes back at once what no seat locks.
	pub(crate) fn do_deregister(who: T::AccountId) -> DispatchResult {
		let now = Self::now();
		Pool::<T>::try_mutate(|pool| {
			let entry = pool.get_mut(&who).ok_or(Error::<T>::NotVerifier)?;
			match entry.standing {
				Standing::Left { .. } => Err(Error::<T>::NotVerifier.into()),
				Standing::Waiting { .. } => {
					entry.standing = Standing::Left { since: now };
					Self::take_out(pool, &who);
					Ok(())
				}
				Standing::Active | Standing::Paused => {
					let left = entry.stand(Standing::Left { since: now }, now);
					ensure!(left, Error::<T>::TooManyChanges);
					let until = now.saturating_add(T::UnbondingBlocks::get());
					Self::deposit_event(Event::Left { verifier: who.clone(), until });
					Ok::<_, DispatchError>(())
				}
			}
		})
	}

	pub(crate) fn do_withdraw(who: T::AccountId) -> DispatchResult {
		Pool::<T>::try_mutate(|pool| {
			let entry = pool.get(&who).ok_or(Error::<T>::NotLeaving)?;
			let Standing::Left { since } = entry.standing else {
				return Err(Error::<T>::NotLeaving.into());
			};
			let until = since.saturating_add(T::UnbondingBlocks::get());
			ensure!(Self::now() > until && entry.free() > 0, Error::<T>::StillBonded);
			Self::take_out(pool, &who);
			Ok(())
		})
	}

	/// Releases what no seat locks of the bond of a verifier that left, and forgets it where that is
	/// all.
	fn take_out(pool: &mut PoolOf<T>, who: &T::AccountId) {
		let Some(entry) = pool.get_mut(who) else { return };
		let amount = Self::give_back(who, entry.free());
		entry.lose(amount);
		if entry.bond == 0 {
			pool.remove(who);
			Locations::<T>::remove(who);
		}
	}

	/// Returns what faults cost in a seat with this stake.
	pub(crate) fn tariff(stake: Balance) -> Tariff {
		Tariff {
			stake,
			absence_fees: T::AbsenceFees::get(),
			contrary: T::ContrarySlash::get().mul_floor(stake),
		}
	}

	/// Moves what `fault` costs in a seat from the bond to the jackpot; returns how much it was.
	pub(crate) fn take(
		entry: &mut Entry,
		who: &T::AccountId,
		fault: Fault,
		fee: Balance,
		stake: Balance,
	) -> Balance {
		let cost = Self::tariff(stake).of(fault, fee).min(entry.bond);
		let amount = Self::move_to_jackpot(who, cost);
		entry.lose(amount);
		amount
	}

	/// Moves up to `amount` from a bond to the jackpot; returns how much. It is 0 only where
	/// the jackpot's account does not exist and `amount` cannot create it: then the bond keeps
	/// that dust.
	pub(crate) fn move_to_jackpot(who: &T::AccountId, amount: Balance) -> Balance {
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
