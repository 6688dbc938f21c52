//! Registration, bonds and candidacy, and what other pallets ask of trainers.

use crate::{
	power::{whole, Track},
	Absence, Candidates, Config, CurrentWeights, Error, Event, Founders, HoldReason, LastServed,
	NextWeights, Pallet, Power, SessionAccess, Suspended, Trainers, TrainingVolumes,
};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{
	ensure,
	traits::{fungible::MutateHold, tokens::Precision, Get},
};
use scale_info::TypeInfo;
use sp_runtime::{ArithmeticError, DispatchError, DispatchResult, Permill, SaturatedConversion};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	views::Hardware,
	MicroUt,
};
use trainyard_traits::{Drillers, TrainerRegistry};

/// A registered trainer.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Trainer {
	/// What it bonded, less what was slashed.
	pub bond: Balance,
	/// Its hardware, as reported.
	pub hardware: Hardware,
	/// While it leaves: the height from which it can withdraw.
	pub free_at: Option<BlockNumber>,
}

impl<T: Config> Pallet<T> {
	/// The present height.
	pub(crate) fn now() -> BlockNumber {
		frame_system::Pallet::<T>::block_number().saturated_into()
	}

	/// Returns the record of `who`, unless it is leaving.
	fn active(who: &T::AccountId) -> Result<Trainer, Error<T>> {
		let trainer = Trainers::<T>::get(who).ok_or(Error::<T>::NotRegistered)?;
		ensure!(trainer.free_at.is_none(), Error::<T>::Leaving);
		Ok(trainer)
	}

	/// Returns the same record, if its bond was not slashed to less than [`Config::MinBond`].
	fn in_good_standing(who: &T::AccountId) -> Result<Trainer, Error<T>> {
		let trainer = Self::active(who)?;
		ensure!(trainer.bond >= T::MinBond::get(), Error::<T>::BondTooSmall);
		Ok(trainer)
	}

	pub(crate) fn do_register(
		who: &T::AccountId,
		bond: Balance,
		hardware: Hardware,
	) -> DispatchResult {
		ensure!(!Self::is_registered(who), Error::<T>::AlreadyRegistered);
		ensure!(bond >= T::MinBond::get(), Error::<T>::BondTooSmall);
		T::Currency::hold(&HoldReason::Bond.into(), who, bond)?;
		Trainers::<T>::insert(who, Trainer { bond, hardware, free_at: None });
		Self::deposit_event(Event::Registered { trainer: who.clone(), bond });
		Ok(())
	}

	pub(crate) fn do_bond_extra(who: &T::AccountId, amount: Balance) -> DispatchResult {
		let mut trainer = Self::active(who)?;
		let bond = trainer.bond.checked_add(amount).ok_or(ArithmeticError::Overflow)?;
		T::Currency::hold(&HoldReason::Bond.into(), who, amount)?;
		trainer.bond = bond;
		Trainers::<T>::insert(who, trainer);
		Self::deposit_event(Event::BondExtended { trainer: who.clone(), bond });
		Ok(())
	}

	pub(crate) fn do_update_hardware(who: &T::AccountId, hardware: Hardware) -> DispatchResult {
		let mut trainer = Self::active(who)?;
		trainer.hardware = hardware;
		Trainers::<T>::insert(who, trainer);
		Self::deposit_event(Event::HardwareUpdated { trainer: who.clone() });
		Ok(())
	}

	pub(crate) fn do_set_candidate(who: &T::AccountId, candidate: bool) -> DispatchResult {
		Self::active(who)?;
		if !candidate {
			Self::retire(who);
			return Ok(());
		}
		Self::in_good_standing(who)?;
		if let Some(until) = Suspended::<T>::get(who) {
			ensure!(T::Session::current_index() >= until, Error::<T>::Suspended);
			Suspended::<T>::remove(who);
		}
		ensure!(T::Session::has_keys(who), Error::<T>::NoSessionKeys);
		if Candidates::<T>::get().binary_search(who).is_ok() {
			return Ok(());
		}
		// The blocks that it owes by absence stay: otherwise a dead authority could leave and come
		// back once a session, and never be suspended.
		let displaced = Self::enlist(who)?;
		if let Some(trainer) = displaced {
			Self::deposit_event(Event::CandidateDisplaced { trainer, by: who.clone() });
		}
		Self::deposit_event(Event::CandidacyChanged { trainer: who.clone(), candidate });
		Ok(())
	}

	pub(crate) fn do_deregister(who: &T::AccountId) -> DispatchResult {
		let mut trainer = Self::active(who)?;
		let free_at = Self::now().saturating_add(T::UnbondingBlocks::get());
		trainer.free_at = Some(free_at);
		Trainers::<T>::insert(who, trainer);
		Self::retire(who);
		Self::deposit_event(Event::Leaving { trainer: who.clone(), free_at });
		Ok(())
	}

	pub(crate) fn do_withdraw(who: &T::AccountId) -> DispatchResult {
		let trainer = Trainers::<T>::get(who).ok_or(Error::<T>::NotRegistered)?;
		let free_at = trainer.free_at.ok_or(Error::<T>::NotLeaving)?;
		ensure!(Self::now() >= free_at, Error::<T>::StillBonded);
		ensure!(!Self::is_in_force(who), Error::<T>::StillInForce);
		let bond = T::Currency::release_all(&HoldReason::Bond.into(), who, Precision::BestEffort)?;
		Trainers::<T>::remove(who);
		Power::<T>::remove(who);
		Founders::<T>::mutate(|founders| founders.retain(|(founder, _)| founder != who));
		Absence::<T>::remove(who);
		Suspended::<T>::remove(who);
		LastServed::<T>::remove(who);
		Self::deposit_event(Event::Withdrawn { trainer: who.clone(), bond });
		Ok(())
	}

	pub(crate) fn do_purge_keys(who: &T::AccountId) -> DispatchResult {
		ensure!(!Self::keys_in_use(who), Error::<T>::KeysInUse);
		T::Session::purge_keys(who)
	}

	/// Returns whether the chain counts on the session keys of `who`: it is a candidate, or an
	/// authority of this session or the next.
	pub fn keys_in_use(who: &T::AccountId) -> bool {
		Candidates::<T>::get().binary_search(who).is_ok()
			|| CurrentWeights::<T>::get().iter().any(|(a, _)| a == who)
			|| NextWeights::<T>::get().iter().any(|(a, _)| a == who)
			|| T::Session::authorities().contains(who)
	}

	/// Returns whether `who` has registered and not withdrawn.
	pub(crate) fn is_registered(who: &T::AccountId) -> bool {
		Trainers::<T>::contains_key(who)
	}

	/// Returns the bond of `who`; 0 for strangers.
	pub(crate) fn bond_of(who: &T::AccountId) -> Balance {
		Trainers::<T>::get(who).map_or(0, |trainer| trainer.bond)
	}

	/// Returns whether `who` stands for block authorship.
	pub fn is_candidate(who: &T::AccountId) -> bool {
		Candidates::<T>::get().binary_search(who).is_ok()
	}

	/// Returns the total ECP of `who` now: its share of the weight among those who stand, in parts of
	/// 10^12. Of one that does not stand what it would be if it did.
	pub fn ecp(who: &T::AccountId) -> u64 {
		let claims = Self::claims(Candidates::<T>::get());
		let totals = Self::totals(&claims);
		if let Some((_, claim)) = claims.iter().find(|(other, _)| other == who) {
			return totals.share(claim);
		}
		let own = Self::claims([who.clone()]);
		own.first().map_or(0, |(_, claim)| totals.with(claim).share(claim))
	}

	/// Ends the candidacy of `who`, if it stands.
	pub(crate) fn retire(who: &T::AccountId) {
		if Self::delist(who) {
			Self::deposit_event(Event::CandidacyChanged { trainer: who.clone(), candidate: false });
		}
	}

	/// Puts `who` on the list of candidates. On a full list it takes the place of the
	/// weakest (of equals the first by account), which is returned, if it has more power.
	pub(crate) fn enlist(who: &T::AccountId) -> Result<Option<T::AccountId>, DispatchError> {
		Candidates::<T>::try_mutate(|list| {
			if list.binary_search(who).is_ok() {
				return Ok(None);
			}
			let mut displaced = None;
			if list.is_full() {
				// As if it stood beside all of them.
				let claims = Self::claims(list.iter().chain([who]).cloned());
				let totals = Self::totals(&claims);
				let mut shares = claims.into_iter().map(|(who, c)| (totals.share(&c), who));
				let own = shares.next_back().map_or(0, |(own, _)| own);
				let (least, weakest) = shares.min().ok_or(Error::<T>::CandidatesFull)?;
				ensure!(own > least, Error::<T>::CandidatesFull);
				list.retain(|c| *c != weakest);
				displaced = Some(weakest);
			}
			let at = list.binary_search(who).unwrap_or_else(|at| at);
			list.try_insert(at, who.clone()).map_err(|_| Error::<T>::CandidatesFull)?;
			Ok(displaced)
		})
	}

	/// Takes `who` off the list of candidates; returns whether it was there.
	pub(crate) fn delist(who: &T::AccountId) -> bool {
		Candidates::<T>::mutate(|list| match list.binary_search(who) {
			Ok(at) => {
				list.remove(at);
				true
			}
			Err(_) => false,
		})
	}
}

impl<T: Config> TrainerRegistry<T::AccountId> for Pallet<T> {
	/// Returns whether `who` is registered, not leaving, and has at least the minimum bond.
	fn is_trainer(who: &T::AccountId) -> bool {
		Self::in_good_standing(who).is_ok()
	}

	fn bond(who: &T::AccountId) -> Balance {
		Self::bond_of(who)
	}

	/// A trainer that is leaving still gets what it finished; it loses it on withdrawal.
	fn credit_training(who: &T::AccountId, work: MicroUt) -> Option<u64> {
		if !Self::is_registered(who) {
			return None;
		}
		let clock = Self::clock();
		let effective = Power::<T>::mutate(who, |ledger| {
			ledger.training.credit(work, &clock);
			whole(ledger.training.effective)
		});
		Self::deposit_event(Event::TrainingCredited { trainer: who.clone(), work, effective });
		Some(clock.now)
	}

	/// Of a trainer that left meanwhile and came back at most what it has earned since is taken.
	fn revoke_training(who: &T::AccountId, work: MicroUt, credited: u64) {
		if !Self::is_registered(who) {
			return;
		}
		let effective = Power::<T>::mutate(who, |ledger| {
			ledger.training.revoke(work, credited, &Self::clock());
			whole(ledger.training.effective)
		});
		Self::deposit_event(Event::TrainingRevoked { trainer: who.clone(), work, effective });
	}

	/// Returns the floor, as on a chain without founders, before anybody was chosen.
	fn training_volume() -> MicroUt {
		let first = || Self::totals(&[]).training_volume(0);
		TrainingVolumes::<T>::get().least().unwrap_or_else(first)
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_trainer(who: &T::AccountId) {
		use frame_support::traits::fungible::{Inspect, Mutate};
		let bond = T::MinBond::get();
		let funds = bond.saturating_add(T::Currency::minimum_balance());
		T::Currency::mint_into(who, funds).expect("an account can be given money");
		Self::do_register(who, bond, Hardware::default()).expect("it was given the bond");
	}
}

impl<T: Config> Drillers<T::AccountId> for Pallet<T> {
	fn is_trainer(who: &T::AccountId) -> bool {
		<Self as TrainerRegistry<T::AccountId>>::is_trainer(who)
	}

	fn bond(who: &T::AccountId) -> Balance {
		Self::bond_of(who)
	}

	fn drilled(who: &T::AccountId) -> MicroUt {
		let clock = Self::clock();
		clock.work_of(Power::<T>::get(who).drilling.effective_at(&clock))
	}

	/// A trainer that is leaving still gets what it finished; it loses it on withdrawal.
	fn credit_drilling(who: &T::AccountId, work: MicroUt) {
		if let Some(effective) = Self::drill(who, |track| track.credit(work, &Self::clock())) {
			Self::deposit_event(Event::DrillingCredited { trainer: who.clone(), work, effective });
		}
	}

	fn debit_drilling(who: &T::AccountId, work: MicroUt) {
		if let Some(effective) = Self::drill(who, |track| track.debit(work, &Self::clock())) {
			Self::deposit_event(Event::DrillingDebited { trainer: who.clone(), work, effective });
		}
	}

	/// Slashes a trainer, also one that is leaving. If its bond is less than the minimum
	/// afterwards, it is no candidate any more, and takes no work, until it bonds more.
	fn slash(who: &T::AccountId, part: Permill) -> Balance {
		if Self::drill(who, |track| track.effective = 0).is_none() {
			return 0;
		}
		let part = part.mul_floor(Self::bond_of(who));
		let amount = Self::take_bond(who, part, &T::Jackpot::get());
		Self::deposit_event(Event::DrillerSlashed { trainer: who.clone(), amount });
		amount
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_driller(who: &T::AccountId) {
		<Self as TrainerRegistry<T::AccountId>>::make_trainer(who);
		Self::drill(who, |track| track.credit(1_000_000, &Self::clock()));
	}
}

impl<T: Config> Pallet<T> {
	/// Changes the drilling power of `who`. Returns the power afterwards in whole micro-ut per day,
	/// `None` for a stranger.
	fn drill(who: &T::AccountId, change: impl FnOnce(&mut Track)) -> Option<u64> {
		Self::is_registered(who).then(|| {
			Power::<T>::mutate(who, |ledger| {
				change(&mut ledger.drilling);
				whole(ledger.drilling.effective)
			})
		})
	}
}
