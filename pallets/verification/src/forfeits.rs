//! What seats forfeit by accusations, and how long it stays within reach.
//!
//! A seat that is about to be convicted could accuse a friend and give up, again and again: what was at stake
//! would be the friend's, and nothing left for the conviction. So what a seat lost counts as a part of its
//! stake for as long as its own evidence can be convicted. Where its bond does not cover the stake then, the
//! court brings back what defendants hold of it; it holds all until the job ends, and what seats lost against
//! a defendant that is convicted meanwhile is the jackpot's. An honest defendant has what it won where the
//! bond of the seat covers both.

use crate::{
	Accusations, AuditRecords, Config, Entry, Event, Fault, Forfeited, Forfeits, Pallet, Pool,
	MAX_FORFEITS,
};
use alloc::vec::Vec;
use frame_support::traits::{
	fungible::Inspect,
	tokens::{Fortitude, Preservation},
};
use sp_runtime::{helpers_128bit::multiply_by_rational_with_rounding, Rounding};
use trainyard_protocol::{audit::AuditPhase, job::Balance, JobId};
use trainyard_traits::{Court, Defendant, Stakes};

impl<T: Config> Pallet<T> {
	/// Returns whether what the seat `who` revealed can still cost it its stake.
	fn is_answerable(job: JobId, who: &T::AccountId) -> bool {
		let running = AuditRecords::<T>::get(job).filter(|audit| audit.phase != AuditPhase::Done);
		running.is_some_and(|audit| {
			let mut seats = audit.committee.iter();
			seats.any(|member| member.verifier == *who && member.revealed && !member.convicted)
		})
	}

	/// Takes the stake of a seat together, of which it `locked` so much: what accusations lock of it the seat
	/// owes until they end, and what they lost comes back. Returns what of it is free of the bond now.
	pub(crate) fn collect_stake(
		(job, who): (JobId, &T::AccountId),
		entry: &mut Entry,
		stake: Balance,
		locked: Balance,
	) -> Balance {
		entry.unlock(locked);
		let short = stake.saturating_sub(entry.free());
		let at_stake = Accusations::<T>::get(job, who).left();
		let lost = Forfeited::<T>::take(job, who);
		let back = Self::reclaim(who, lost, short.saturating_sub(at_stake));
		entry.bond = entry.bond.saturating_add(back);
		Accusations::<T>::mutate_exists(job, who, |accusing| {
			if let Some(found) = accusing {
				found.owed = found.owed.saturating_add(short.saturating_sub(back));
			}
		});
		stake.min(entry.free())
	}

	/// Brings up to `amount` of what `who` lost back to its bond. Returns how much. All to whom it lost give
	/// back in proportion to what they have of it, so that it makes no difference whom it accused first; what
	/// lacks then, since a conviction took it from one of them, the others give.
	fn reclaim(who: &T::AccountId, lost: Forfeits<T::AccountId>, amount: Balance) -> Balance {
		let all = lost.iter().fold(0, |sum: Balance, (_, part)| sum.saturating_add(*part));
		let amount = amount.min(all);
		let mut left = amount;
		let mut bring = |defendant: &Defendant<T::AccountId>, part: Balance| {
			let back = match part.min(left) {
				0 => 0,
				part => T::Court::reclaim(defendant, who, part),
			};
			left = left.saturating_sub(back);
			back
		};
		let mut rest = Vec::new();
		for (defendant, part) in lost {
			let share = multiply_by_rational_with_rounding(amount, part, all, Rounding::Down);
			let back = bring(&defendant, share.unwrap_or(0).min(part));
			rest.push((defendant, part.saturating_sub(back)));
		}
		for (defendant, part) in rest {
			bring(&defendant, part);
		}
		// As much is held as can be: an account keeps the existential deposit.
		let free = T::Currency::reducible_balance(who, Preservation::Protect, Fortitude::Force);
		let back = amount.saturating_sub(left).min(free);
		match back > 0 && Self::hold(who, back).is_ok() {
			true => back,
			false => 0,
		}
	}

	/// Returns whether it can be noted what `who` loses to this defendant.
	fn can_note(job: JobId, who: &T::AccountId, to: &Defendant<T::AccountId>) -> bool {
		let lost = Forfeited::<T>::get(job, who);
		lost.len() < MAX_FORFEITS as usize || lost.iter().any(|(other, _)| other == to)
	}

	/// Notes what `who` lost to a defendant.
	fn note_forfeit(job: JobId, who: &T::AccountId, to: &Defendant<T::AccountId>, amount: Balance) {
		Forfeited::<T>::mutate(job, who, |lost| {
			match lost.iter_mut().find(|(other, _)| other == to) {
				Some((_, sum)) => *sum = sum.saturating_add(amount),
				None => {
					// It has room.
					let _ = lost.try_push((to.clone(), amount));
				}
			}
		});
	}
}

impl<T: Config> Stakes<T::AccountId> for Pallet<T> {
	/// Who accused falsely also earns no fee in this audit.
	fn forfeit(
		job: JobId,
		who: &T::AccountId,
		to: &Defendant<T::AccountId>,
		amount: Balance,
	) -> Balance {
		let stake = Self::end_accusation(job, who);
		let amount = amount.min(stake);
		let is_answerable = Self::is_answerable(job, who);
		let is_paid = !is_answerable || Self::can_note(job, who, to);
		let moved = Pool::<T>::mutate(|pool| {
			let Some(entry) = pool.get_mut(who) else { return 0 };
			let moved = if is_paid { Self::move_bond(who, to.who(), amount) } else { 0 };
			let diverted = match moved {
				0 => Self::move_to_jackpot(who, amount),
				_ => 0,
			};
			entry.lose(moved.saturating_add(diverted));
			moved
		});
		if is_answerable && moved > 0 {
			Self::note_forfeit(job, who, to, moved);
		}
		AuditRecords::<T>::mutate(job, |audit| {
			if let Some(audit) = audit {
				Self::take_back_fees(audit, who);
				if let Some(member) = audit.member_mut(who) {
					member.lost = true;
				}
			}
		});
		let (verifier, fault) = (who.clone(), Fault::LostAccusation);
		Self::slashed(job, verifier, amount, fault);
		moved
	}

	fn unlock(job: JobId, who: &T::AccountId) {
		Self::end_accusation(job, who);
		Self::deposit_event(Event::AccusationOver { job, verifier: who.clone() });
	}
}
