//! Seats: what one locks, who can take one, and what happens when it ends.

use crate::{pool::PoolOf, AuditOf, Config, Entry, Event, Fault, Forfeited, Pallet, Pool};
use alloc::vec::Vec;
use frame_support::{traits::Get, weights::Weight};
use trainyard_protocol::{
	draw,
	job::{Balance, BlockNumber, MAX_VERIFIERS},
	reputation::{Deed, Role},
	seats::Resources,
	views::Standing,
	vrf::VrfKey,
	JobId, H256,
};
use trainyard_traits::JobDeeds;

/// What a draw is made for.
pub(crate) struct Seating<'a, AccountId> {
	/// Height after which the seed formed.
	pub after: BlockNumber,
	/// Who may not be drawn.
	pub excluded: &'a [AccountId],
	/// What a seat needs.
	pub needs: &'a Resources,
	/// What a seat locks.
	pub stake: Balance,
}

/// Those who can be drawn, with the seats that they have free.
type Candidates<AccountId> = Vec<(AccountId, Balance)>;

impl<T: Config> Pallet<T> {
	/// Returns who can be drawn, by account, each with the number of seats that it had free: by what
	/// counted at the height of the draw, with room for what a seat needs.
	///
	/// Nobody can while less than half of the seats of all is free: whoever keeps others busy, or
	/// makes an audit that others cannot take, would otherwise be drawn alone.
	pub(crate) fn eligible(
		pool: &PoolOf<T>,
		seating: &Seating<T::AccountId>,
	) -> Candidates<T::AccountId> {
		let Seating { after, excluded, needs, stake } = *seating;
		let (mut free, mut all) = (0u128, 0u128);
		let mut candidates = Vec::new();
		for (who, entry) in pool.iter() {
			if excluded.contains(who) {
				continue;
			}
			all = all.saturating_add(entry.all_seats(after, stake));
			let seats = entry.seats(after, stake);
			if seats > 0 && entry.can_take(after, needs) {
				free = free.saturating_add(seats);
				candidates.push((who.clone(), seats));
			}
		}
		if free.saturating_mul(2) < all {
			candidates.clear();
		}
		candidates
	}

	/// Draws as many as `count` returns for the number of candidates, and seats them. Returns them with
	/// the keys that they had at the height of the draw.
	pub(crate) fn seat_drawn(
		domain: &[u8],
		seed: &H256,
		seating: &Seating<T::AccountId>,
		count: impl FnOnce(usize) -> usize,
		is_check: bool,
	) -> Vec<(T::AccountId, VrfKey)> {
		let mut pool = Pool::<T>::get();
		let candidates = Self::eligible(&pool, seating);
		let drawn: Vec<_> = draw::weighted(domain, seed, &candidates, count(candidates.len()))
			.into_iter()
			.filter_map(|who| {
				let entry = pool.get_mut(&who)?;
				let key = entry.vrf.at(seating.after)?;
				entry.sit(seating.stake, seating.needs);
				entry.checks = entry.checks.saturating_add(u32::from(is_check));
				Some((who, key.0))
			})
			.collect();
		if !drawn.is_empty() {
			Pool::<T>::put(pool);
		}
		drawn
	}

	/// Ends a seat. A verifier that was absent too often is paused: it keeps its place and its bond,
	/// and is not drawn until it resumes.
	pub(crate) fn unseat(
		pool: &mut PoolOf<T>,
		who: &T::AccountId,
		stake: Balance,
		needs: &Resources,
		absent: bool,
	) {
		let Some(entry) = pool.get_mut(who) else { return };
		let absences = entry.rise(stake, needs, absent);
		Self::pause(entry, who, absences, absent);
	}

	/// Pauses a verifier that was absent, if it was too often.
	fn pause(entry: &mut Entry, who: &T::AccountId, absences: u32, absent: bool) {
		if absent && absences >= T::MaxAbsences::get() && entry.is_active() {
			entry.put(Standing::Paused, Self::now());
			Self::deposit_event(Event::Paused { verifier: who.clone() });
		}
	}

	/// Says that a seat of the audit of `job` lost this `amount` for this `fault`, and notes it in its record.
	pub(crate) fn slashed(job: JobId, verifier: T::AccountId, amount: Balance, fault: Fault) {
		let deed = match fault {
			Fault::NoVerdict => Deed::Late,
			Fault::LostAccusation => Deed::Convicted,
			Fault::Contrary | Fault::NotShown | Fault::Guessed => Deed::Failed,
		};
		T::Deeds::note(job, Role::Verifier, &verifier, deed);
		Self::deposit_event(Event::Slashed { verifier, amount, job, fault });
	}

	/// Returns the weight of noting what all seats of a committee did, at worst.
	pub(crate) fn deeds_weight() -> Weight {
		T::Deeds::note_weight().saturating_mul(MAX_VERIFIERS.into())
	}

	/// Ends the seats of an audit that does not come to its end.
	pub(crate) fn dissolve(job: JobId, audit: &mut AuditOf<T>) {
		if audit.works() {
			Self::unload_seats(audit);
		}
		Self::leave_seats(job, audit);
	}

	/// Ends the work of a round: seats take nothing any more of what verifiers have room for, and those
	/// that are `absent` pay for it. Who revealed something all the same answers for that with what is left
	/// of its stake, the others leave their seats.
	pub(crate) fn close_seats(job: JobId, audit: &mut AuditOf<T>, absent: &[bool]) {
		let (needs, fee) = (audit.needs, audit.fee);
		Pool::<T>::mutate(|pool| {
			for (member, absent) in audit.committee.iter_mut().zip(absent) {
				let who = &member.verifier;
				let Some(entry) = pool.get_mut(who) else { continue };
				entry.unload(&needs);
				let absences = entry.remember(*absent);
				if *absent {
					let (fault, stake) = (Fault::NoVerdict, member.locked);
					let amount = Self::take(entry, who, fault, fee, stake);
					let freed = if member.revealed { amount } else { stake };
					member.locked = stake.saturating_sub(freed);
					entry.unlock(freed);
					let verifier = who.clone();
					Self::slashed(job, verifier, amount, fault);
				}
				Self::pause(entry, who, absences, *absent);
			}
		});
	}

	/// Ends the work of a round that does not come to its end: nobody was absent.
	pub(crate) fn unload_seats(audit: &AuditOf<T>) {
		Pool::<T>::mutate(|pool| {
			for member in &audit.committee {
				if let Some(entry) = pool.get_mut(&member.verifier) {
					entry.unload(&audit.needs);
				}
			}
		});
	}

	/// Frees what the seats still lock: nobody is convicted for this round any more. What accusations have at
	/// stake stays.
	pub(crate) fn leave_seats(job: JobId, audit: &mut AuditOf<T>) {
		for member in &audit.committee {
			Forfeited::<T>::remove(job, &member.verifier);
		}
		Pool::<T>::mutate(|pool| {
			for member in audit.committee.iter_mut() {
				let stake = core::mem::take(&mut member.locked);
				if let Some(entry) = pool.get_mut(&member.verifier) {
					entry.unlock(stake);
				}
			}
		});
	}
}
