//! What must always hold in this pallet's storage.

use crate::{
	beacon::{place, RING},
	Absence, Authored, Candidates, Config, Convicts, CurrentWeights, Founders, HoldReason,
	KnownKeys, LastServed, NextWeights, Offenders, Outputs, Overtaken, Pallet, Power, Records,
	SessionAccess, Starts, Suspended, Trainers, Unfinal,
};
use alloc::vec::Vec;
use frame_support::{
	ensure,
	traits::{fungible::InspectHold, Get},
};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::views::WHOLE_WEIGHT;

impl<T: Config> Pallet<T> {
	/// Checks that
	/// - every trainer's recorded bond is held;
	/// - candidates are trainers that are not leaving and have the least bond, ascending
	///   without repetition;
	/// - power, absences, suspensions and last sessions as an authority belong to trainers;
	/// - the list of authors is ascending;
	/// - the sessions on record are those from the oldest to the running one, each with its first
	///   block, ascending;
	/// - those that finality overtook are the first of them, each after its end and none before an
	///   earlier one;
	/// - offenders are ascending, and were authorities of their session;
	/// - who was convicted is named once, and in a session that is on record;
	/// - founders are trainers, ascending, and known keys are of ascending accounts;
	/// - weights are at least 1 and sum to the whole weight at most, and 1 for each;
	/// - the ring holds at most 256 outputs, each of a past block and in its place.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		for (who, trainer) in Trainers::<T>::iter() {
			let held = T::Currency::balance_on_hold(&HoldReason::Bond.into(), &who);
			ensure!(held >= trainer.bond, "a recorded bond is not held");
		}

		let candidates = Candidates::<T>::get();
		ensure!(ascending(&candidates), "candidates are not ascending");
		for who in &candidates {
			let trainer = Trainers::<T>::get(who).ok_or("a candidate is not registered")?;
			ensure!(trainer.free_at.is_none(), "a candidate is leaving");
			ensure!(trainer.bond >= T::MinBond::get(), "a candidate's bond is below the minimum");
		}

		for who in Power::<T>::iter_keys() {
			ensure!(Trainers::<T>::contains_key(who), "power of a stranger");
		}
		for who in Suspended::<T>::iter_keys() {
			ensure!(Trainers::<T>::contains_key(who), "a suspended stranger");
		}
		for who in Absence::<T>::iter_keys() {
			ensure!(Trainers::<T>::contains_key(who), "absence of a stranger");
		}
		for (who, session) in LastServed::<T>::iter() {
			ensure!(Trainers::<T>::contains_key(who), "a stranger was an authority");
			ensure!(session <= T::Session::current_index(), "an authority of a session to come");
		}
		ensure!(ascending(&Authored::<T>::get()), "authors are not ascending");

		for weights in [CurrentWeights::<T>::get(), NextWeights::<T>::get()] {
			ensure!(weights.iter().all(|(_, weight)| *weight > 0), "a weight is 0");
			let sum = weights.iter().fold(0u128, |s, (_, w)| s.saturating_add(u128::from(*w)));
			let most = u128::from(WHOLE_WEIGHT).saturating_add(weights.len() as u128);
			ensure!(sum <= most, "weights sum to more than the whole");
		}

		let founders: Vec<_> = Founders::<T>::get().into_iter().map(|(who, _)| who).collect();
		ensure!(ascending(&founders), "founders are not ascending");
		ensure!(founders.iter().all(Trainers::<T>::contains_key), "a founder is not registered");
		let known = KnownKeys::<T>::get().unwrap_or_default();
		let known: Vec<_> = known.into_iter().map(|(who, _)| who).collect();
		ensure!(ascending(&known), "known keys are not of ascending accounts");

		Self::try_records()?;

		let mut outputs = 0u32;
		for (at, (block, _)) in Outputs::<T>::iter() {
			outputs = outputs.saturating_add(1);
			ensure!(at == place(block), "an output is out of place");
			ensure!(block < Self::now().max(1), "an output is of a block to come");
		}
		ensure!(outputs <= RING, "the ring holds more than 256 outputs");
		Ok(())
	}
}

impl<T: Config> Pallet<T> {
	fn try_records() -> Result<(), TryRuntimeError> {
		let mut start = None;
		let mut count = 0usize;
		for session in Self::recorded().into_iter().flatten() {
			ensure!(Records::<T>::contains_key(session), "a session is not on record");
			let began = Starts::<T>::get(session);
			ensure!(began.is_some() && began > start, "sessions' first blocks do not ascend");
			start = began;
			count = count.saturating_add(1);
		}
		ensure!(Records::<T>::iter_keys().count() == count, "a record is too old");
		ensure!(Starts::<T>::iter_keys().count() == count, "a first block is too old");
		Self::try_overtaken()?;
		for (session, guilty) in Offenders::<T>::iter() {
			let members = Records::<T>::get(session).ok_or("offenders without a record")?;
			ensure!(ascending(&guilty), "offenders are not ascending");
			let known = |who: &T::AccountId| members.iter().any(|member| member.who == *who);
			ensure!(guilty.iter().all(known), "an offender was no authority");
		}
		let convicts = Convicts::<T>::get();
		for convict in &convicts {
			let named = convicts.iter().filter(|other| other.who == convict.who).count();
			ensure!(named == 1, "a convict is named twice");
			let on_record = Records::<T>::contains_key(convict.session);
			ensure!(on_record, "a convict's session is not on record");
		}
		Ok(())
	}
}

impl<T: Config> Pallet<T> {
	fn try_overtaken() -> Result<(), TryRuntimeError> {
		let mut latest = 0;
		let mut count = 0usize;
		for session in Self::recorded().into_iter().flatten() {
			let Some(at) = Overtaken::<T>::get(session) else { break };
			let end = Starts::<T>::get(session.saturating_add(1));
			ensure!(end.is_some_and(|end| end < at), "overtaken before its end");
			ensure!(latest <= at && at <= Self::now(), "overtaken before an earlier session");
			let next = Unfinal::<T>::get().ok_or("nothing is final, and a session overtaken")?;
			ensure!(session < next, "the oldest session in force was overtaken");
			latest = at;
			count = count.saturating_add(1);
		}
		ensure!(Overtaken::<T>::iter_keys().count() == count, "overtaken out of order");
		Ok(())
	}
}

/// Returns whether each item is above the one before it.
fn ascending<A: Ord>(list: &[A]) -> bool {
	list.iter().zip(list.iter().skip(1)).all(|(a, b)| a < b)
}
