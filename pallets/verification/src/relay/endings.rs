//! How a relay ends: who has which part of what was prepaid, and what seats lose.

use super::record::{Relay, REASON};
use crate::{
	AuditOf, AuditRecords, Config, Event, Fault, HeldRelays, OpenRelays, Pallet, Pool, Recheck,
	Rechecks, Relays, Verdicts,
};
use frame_support::{
	storage::with_storage_layer,
	traits::{
		fungible::MutateHold,
		tokens::{Fortitude, Precision, Restriction},
		Get,
	},
};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	audit::{Decision, GroupVerdict},
	job::Balance,
	relay::{self, RelayId, LACKING_SEATS},
	JobId,
};
use trainyard_traits::JobObserver;

impl<T: Config> Pallet<T> {
	/// Ends a relay with an answer, or without one, and tells the audit.
	pub(crate) fn end_relay(id: RelayId, relay: Relay<T::AccountId>, held: Option<bool>) {
		let (job, group, by) = (relay.job, relay.group, relay.by.clone());
		let owed = Self::settle_relay(id, relay, held);
		let mut open = OpenRelays::<T>::get(job);
		open.retain(|other| *other != id);
		match open.is_empty() {
			true => OpenRelays::<T>::remove(job),
			false => OpenRelays::<T>::insert(job, &open),
		}
		let Some(mut audit) = AuditRecords::<T>::get(job) else { return };
		audit.relays = open.len() as u32;
		let found = audit.groups.get(group as usize);
		let lost = found.is_some_and(|found| found.decision == Some(Decision::Unavailable));
		match held {
			Some(true) => {
				HeldRelays::<T>::mutate(job, group, |count| *count = count.saturating_add(1));
				// Not what it paid because others had asked: that is the jackpot's.
				if Self::lacked(job, &audit, group, &by) {
					let paid = owed.iter().filter(|(who, _)| *who == by).map(|(_, paid)| *paid);
					let kept = Self::kept_for_relays(&audit);
					let free = audit.storage.saturating_sub(kept);
					let back = paid.fold(0, Balance::saturating_add).min(free);
					if back > 0 && audit.owed.try_push((by, back)).is_ok() {
						audit.storage = audit.storage.saturating_sub(back);
					}
				}
			}
			Some(false) => {
				for (who, amount) in owed {
					let back = amount.min(audit.storage);
					if back > 0 && audit.owed.try_push((who, back)).is_ok() {
						audit.storage = audit.storage.saturating_sub(back);
					}
				}
				Self::decide(job, &mut audit, |at, _| {
					(at == group).then_some(Decision::Unavailable)
				});
			}
			// Another relay of the result was over sooner: who asked for this piece asked as rightly.
			None if lost => {
				for (who, paid) in owed {
					let free = audit.storage.saturating_sub(Self::kept_for_relays(&audit));
					let back = paid.min(free);
					if back > 0 && audit.owed.try_push((who, back)).is_ok() {
						audit.storage = audit.storage.saturating_sub(back);
					}
				}
			}
			None => {}
		}
		Self::open_again(&mut audit, Self::now());
		AuditRecords::<T>::insert(job, audit);
		T::Observer::progressed(job);
	}

	/// Returns whether `who` is a seat of the audit that could not have this result, or was drawn to replay
	/// evidence about it again: it had to ask, and whoever withholds must not make that dear.
	fn lacked(job: JobId, audit: &AuditOf<T>, group: u32, who: &T::AccountId) -> bool {
		let lacks = |verdict: Option<&GroupVerdict<T::AccountId>>| {
			matches!(verdict, Some(GroupVerdict::Unavailable))
		};
		let sits = audit.committee.iter().any(|m| m.verifier == *who && m.revealed && !m.convicted);
		let said = || Verdicts::<T>::get(job, who);
		let again = |of: &Recheck<T::AccountId>| of.by == *who && of.group == group;
		let drawn = match &audit.recheck {
			Rechecks::Drawn(drawn) => drawn.iter().any(again),
			Rechecks::None | Rechecks::Drawing { .. } => false,
		};
		sits && (drawn || said().is_some_and(|f| lacks(f.verdicts.get(group as usize))))
	}

	/// Returns what of the escrow's part for storing nothing else may take: what is due to whoever asks rightly
	/// for what is too large for the chain and not to be had, of each result that stands. One such answer is
	/// the end of a result, so that is the dearer one of a state and of all rows.
	pub(crate) fn kept_for_relays(audit: &AuditOf<T>) -> Balance {
		let price = |bytes| {
			let price = relay::price(bytes, T::RelayFee::get(), LACKING_SEATS);
			price.unwrap_or(Balance::MAX)
		};
		let one = Self::relayed_bytes(audit).map(price).into_iter().fold(0, Balance::max);
		let results = audit.undecided().count() as Balance;
		one.saturating_mul(results)
	}

	/// Pays seats, lets them go and gives back what is left. Returns who may have a right to have back from the
	/// escrow what it paid to seats, and how much that is: who asked, and who doubted rightly that a piece is
	/// to be had.
	fn settle_relay(
		id: RelayId,
		mut relay: Relay<T::AccountId>,
		held: Option<bool>,
	) -> alloc::vec::Vec<(T::AccountId, Balance)> {
		Self::unschedule(id);
		Relays::<T>::remove(id);
		Self::end_asking(&mut relay);
		let fee = relay.fee;
		let by = relay.by.clone();
		let mut owed = alloc::vec::Vec::new();
		let mut left = relay.prepaid;
		let first = match relay.appeal {
			Some(_) => relay.before.iter(),
			None => relay.seats.iter(),
		};
		let mut paid = 0;
		for seat in first.filter(|seat| seat.earns(held)) {
			let amount = Self::pay_for_relay(&by, &seat.who, fee.min(left));
			left = left.saturating_sub(amount);
			paid = amount.saturating_add(paid);
		}
		if held == Some(true) {
			let jackpot = T::Jackpot::get();
			let amount = Self::pay_for_relay(&by, &jackpot, relay.surcharge.min(left));
			left = left.saturating_sub(amount);
			// What goes to the jackpot is no cost that anybody makes good.
		}
		if let Some(appeal) = &relay.appeal {
			let mut rest = appeal.prepaid;
			let mut cost: Balance = 0;
			for seat in relay.seats.iter().filter(|seat| seat.earns(held)) {
				let amount = Self::pay_for_relay(&appeal.by, &seat.who, fee.min(rest));
				rest = rest.saturating_sub(amount);
				cost = cost.saturating_add(amount);
			}
			Self::release_for_relay(&appeal.by, rest);
			if held.is_none() {
				owed.push((appeal.by.clone(), cost));
			}
			if held.is_some_and(|held| held != appeal.held) {
				// The doubt was right: it has what those did not earn who answered first.
				let unearned = left.min(cost);
				let amount = Self::pay_for_relay(&by, &appeal.by, unearned);
				left = left.saturating_sub(amount);
				if held == Some(false) {
					paid = paid.saturating_add(amount);
					owed.push((appeal.by.clone(), cost.saturating_sub(amount)));
				}
			}
		}
		Self::release_for_relay(&by, left);
		owed.push((by, paid));
		Self::release_seats(id, &relay, held.is_some());
		Self::deposit_event(Event::RelayEnded { relay: id, held });
		owed
	}

	/// Lets the seats go. Whoever said nothing before an answer pays for it.
	fn release_seats(id: RelayId, relay: &Relay<T::AccountId>, answered: bool) {
		let (fee, stake, needs) = (relay.fee, relay.stake, relay.needs);
		Pool::<T>::mutate(|pool| {
			for seat in relay.before.iter().chain(relay.seats.iter()) {
				let who = &seat.who;
				let silent = answered && seat.says.is_none() && !seat.lost;
				if silent {
					let Some(entry) = pool.get_mut(who) else { continue };
					let fault = Fault::NoVerdict;
					let amount = Self::take(entry, who, fault, fee, stake);
					let verifier = who.clone();
					Self::deposit_event(Event::RelaySlashed { relay: id, verifier, amount, fault });
				}
				let locked = if seat.lost { 0 } else { stake };
				Self::unseat(pool, who, locked, &needs, silent || seat.lost);
			}
		});
	}

	/// Ends the relays of an audit that is forgotten.
	pub(crate) fn drop_relays(job: JobId, audit: &mut AuditOf<T>) {
		audit.relays = 0;
		for id in OpenRelays::<T>::take(job) {
			if let Some(relay) = Relays::<T>::get(id) {
				Self::settle_relay(id, relay, None);
			}
		}
		let _ = HeldRelays::<T>::clear_prefix(job, u32::MAX, None);
	}

	/// Moves up to `amount` of what `who` has on hold for relays to the free balance of `to`. Returns how
	/// much.
	pub(crate) fn pay_for_relay(who: &T::AccountId, to: &T::AccountId, amount: Balance) -> Balance {
		if amount == 0 {
			return 0;
		}
		with_storage_layer(|| {
			T::Currency::transfer_on_hold(
				&REASON.into(),
				who,
				to,
				amount,
				Precision::Exact,
				Restriction::Free,
				Fortitude::Force,
			)
		})
		.unwrap_or(0)
	}
}
