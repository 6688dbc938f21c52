//! How a relay ends: who has which part of what was prepaid, and what seats lose.

use super::record::{Relay, REASON};
use crate::{
	AuditOf, AuditRecords, Config, Event, Fault, Group, HeldRelays, OpenRelays, Pallet, Pool,
	Recheck, Rechecks, Relays, Verdicts,
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
	audit::{Decision, Findings, GroupVerdict},
	duties,
	job::Balance,
	pieces::Piece,
	relay::{RelayId, LACKING_SEATS},
	JobId,
};
use trainyard_traits::JobObserver;

impl<T: Config> Pallet<T> {
	/// Ends a relay with an answer, or without one, and tells the audit.
	pub(crate) fn end_relay(id: RelayId, relay: Relay<T::AccountId>, held: Option<bool>) {
		let (job, group, by) = (relay.job, relay.group, relay.by.clone());
		let (piece, cost) = (relay.piece, relay.of_first_committee());
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
				HeldRelays::<T>::mutate(job, group, |sum| *sum = sum.saturating_add(cost));
				// Not what it paid because others had asked: that is the jackpot's.
				if Self::lacked(job, &audit, (group, piece), &by) {
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
	/// evidence about it again, or of samples one that picks by them: it had to ask, and whoever withholds must
	/// not make that dear.
	fn lacked(
		job: JobId,
		audit: &AuditOf<T>,
		(group, piece): (u32, Piece),
		who: &T::AccountId,
	) -> bool {
		let lacks = |verdict: Option<&GroupVerdict<T::AccountId>>| {
			matches!(verdict, Some(GroupVerdict::Unavailable))
		};
		let seat = audit.committee.iter().position(|member| member.verifier == *who);
		let member = seat.and_then(|seat| audit.committee.get(seat));
		let sits = member.is_some_and(|member| member.revealed && !member.convicted);
		if piece == Piece::Samples {
			let result = audit.groups.get(group as usize).map(|group| group.result);
			let picks = seat.zip(result).is_some_and(|(seat, result)| duties::picks(seat, &result));
			// A seat that found the result false has no pick.
			let rejects = |findings: Findings<T::AccountId>| {
				let verdict = findings.verdicts.get(group as usize);
				matches!(verdict, Some(GroupVerdict::Rejected(_)))
			};
			return sits && picks && !Verdicts::<T>::get(job, who).is_some_and(rejects);
		}
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
	/// the end of a result, so that is the dearest one of a state, of all rows, and of samples.
	pub(crate) fn kept_for_relays(audit: &AuditOf<T>) -> Balance {
		let fees = Self::relay_fees(audit);
		let price = |piece: Piece, bytes| {
			fees.of_seats(&piece, bytes, LACKING_SEATS).unwrap_or(Balance::MAX)
		};
		let [state, rows] = Self::relayed_bytes(audit);
		let large = price(Piece::State(0), state).max(price(audit.sizes.all_rows(), rows));
		let dearest = |group: &Group<T::AccountId>| {
			let samples = audit.sizes.of(&Piece::Samples, &group.result, &[]);
			price(Piece::Samples, samples).max(large)
		};
		let results = audit.undecided().map(|(_, group)| dearest(group));
		results.fold(0, Balance::saturating_add)
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
