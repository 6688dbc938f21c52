//! What must hold in any state.

use crate::{AuditRecords, Config, HoldReason, Pallet, Pool, Verdicts, MAX_FEES, MAX_PARTIES};
use alloc::collections::BTreeMap;
use frame_support::{
	ensure,
	traits::{fungible::InspectHold, Get},
};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::{
	audit::{AuditPhase, Piece},
	job::{Balance, MAX_AUDIT_ROUNDS},
	seats::Resources,
	vrf,
};

/// What the seats of a verifier in running audits come to.
type Seats = (Balance, Resources);

impl<T: Config> Pallet<T> {
	/// - A bond is what is held of its verifier, and covers what its seats lock. These are the seats
	///   of running audits, and those of recomputations. No more verifiers have a place than there
	///   are places, and no more counts of a bond than is there.
	/// - Whoever has a place has a key, by which it can sign.
	/// - A committee has no party, no member twice, no member without a bond while it works, and no
	///   more members than wanted; the segments drawn of a result are ascending, no more than wanted,
	///   and among those that it has.
	/// - Fees were earned by verifiers, by each at most once a round, and by no party.
	/// - An audit has a decision for each group if and only if it is done, and no more rounds
	///   than allowed; it draws soon, or waits no longer than it may.
	/// - What seats asked for, see `check_claims`.
	/// - There are findings of exactly the members who revealed.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		for (job, _, _) in crate::Announced::<T>::iter() {
			let running = AuditRecords::<T>::get(job).filter(|a| a.phase != AuditPhase::Done);
			ensure!(running.is_some(), "a rescue is announced for an audit that does not run");
		}
		for (job, _, _) in crate::Kept::<T>::iter() {
			let running = AuditRecords::<T>::get(job).filter(|a| a.phase != AuditPhase::Done);
			ensure!(running.is_some(), "a rescue is kept for an audit that does not run");
		}
		let mut seats = BTreeMap::<T::AccountId, Seats>::new();
		let mut revealed = 0usize;
		for (job, audit) in AuditRecords::<T>::iter() {
			ensure!(audit.round < MAX_AUDIT_ROUNDS, "a round too many");
			ensure!(audit.parties.len() <= MAX_PARTIES as usize, "too many parties");
			ensure!(audit.committee.len() <= audit.verifiers as usize, "committee too large");
			ensure!(
				audit.committee.is_empty() || audit.committee.len() % 2 == 1,
				"a committee that can be split"
			);
			let works = audit.works();
			ensure!(!works || !audit.committee.is_empty(), "nobody works on an audit");
			for (at, member) in audit.committee.iter().enumerate() {
				let who = &member.verifier;
				ensure!(!audit.parties.contains(who), "a party sits on the committee");
				ensure!(
					audit.committee.iter().take(at).all(|other| other.verifier != *who),
					"a verifier sits on the committee twice"
				);
				ensure!(
					Verdicts::<T>::contains_key(job, who) == member.revealed,
					"findings do not go with the members who revealed"
				);
				ensure!(member.commitment.is_some() || !member.revealed, "a reveal of nothing");
				revealed = revealed.saturating_add(usize::from(member.revealed));
				if works {
					let (locked, load) = seats.entry(who.clone()).or_default();
					*locked = locked.saturating_add(audit.stake);
					*load = load.and(&audit.needs);
				}
			}
			ensure!(audit.served.len() <= MAX_FEES as usize, "too many fees");
			for who in &audit.served {
				ensure!(!audit.parties.contains(who), "a party earned a fee");
				let fees = audit.served.iter().filter(|other| *other == who).count();
				ensure!(fees <= (audit.round as usize).saturating_add(1), "more fees than rounds");
			}
			for group in &audit.groups {
				let drawn = &group.drawn;
				ensure!(
					drawn.iter().zip(drawn.iter().skip(1)).all(|(a, b)| a < b)
						&& drawn.iter().all(|segment| *segment < group.result.trained())
						&& group
							.result
							.diverged_in()
							.is_none_or(|last| { drawn.is_empty() || drawn.last() == Some(&last) })
						&& drawn.len()
							<= (audit.audit_segments as usize)
								.saturating_add(usize::from(group.result.diverged)),
					"drawn segments are out of order or range"
				);
			}
			ensure!(
				audit.is_decided() == (audit.phase == AuditPhase::Done),
				"done without decisions, or decided and not done"
			);
			if let AuditPhase::Drawing { after } = audit.phase {
				let latest = Self::now().saturating_add(T::MaxWaitBlocks::get());
				ensure!(after <= latest, "an audit waits too long");
			}
		}
		ensure!(Verdicts::<T>::iter_keys().count() == revealed, "findings of nobody");
		Self::check_claims()?;
		Self::check_pool(seats)
	}

	/// Checks what seats asked for: only members of a committee at work have open claims, exactly what
	/// these name is asked for, and what they prepaid is what is held.
	fn check_claims() -> Result<(), TryRuntimeError> {
		let mut held = BTreeMap::<T::AccountId, Balance>::new();
		for (job, who, claims) in crate::Claims::<T>::iter() {
			let audit =
				AuditRecords::<T>::get(job).ok_or("claims in an audit that is not there")?;
			ensure!(audit.works(), "claims on a result after the seats were left");
			let sits = audit.committee.iter().find(|member| member.verifier == who);
			ensure!(sits.is_some(), "a claim of somebody without a seat");
			for claim in claims {
				ensure!(claim.open || claim.prepaid == 0, "a claim that ended is prepaid");
				let group = audit.groups.get(claim.group as usize).ok_or("a claim on no result")?;
				let asked = |piece: &Piece| group.open_pieces().any(|other| other == *piece);
				ensure!(!claim.open || claim.pieces.iter().all(asked), "a claim that nobody sees");
				ensure!(
					!claim.open || sits.is_some_and(|member| member.commitment.is_none()),
					"who committed lacks something"
				);
				let sum = held.entry(who.clone()).or_default();
				*sum = sum.saturating_add(claim.prepaid);
			}
		}
		let reason = HoldReason::Claim.into();
		for who in Pool::<T>::get().keys() {
			let prepaid = held.remove(who).unwrap_or_default();
			let on_hold = T::Currency::balance_on_hold(&reason, who);
			ensure!(on_hold == prepaid, "what is held for claims is not what was prepaid");
		}
		ensure!(held.is_empty(), "claims of no verifier");
		for (job, audit) in AuditRecords::<T>::iter() {
			ensure!(audit.windows <= crate::MAX_WINDOWS, "too many windows");
			ensure!(
				audit.committee.iter().all(|member| member.began <= crate::MAX_BEGUN),
				"a seat that asks again and again"
			);
			let committing = matches!(audit.phase, AuditPhase::Committing { .. });
			ensure!(audit.relay.is_none() || committing, "seats wait for each other at no time");
			let open: alloc::vec::Vec<_> = crate::Claims::<T>::iter_prefix(job)
				.flat_map(|(_, claims)| claims)
				.filter(|claim| claim.open)
				.collect();
			ensure!(
				!committing || audit.relay.is_none() == open.is_empty(),
				"a claim without time"
			);
			for (at, group) in (0u32..).zip(&audit.groups) {
				let named = |piece| {
					open.iter().any(|claim| claim.group == at && claim.pieces.contains(&piece))
				};
				ensure!(group.open_pieces().all(named), "a piece is asked for by nobody");
				ensure!(
					group.storers.iter().all(|storer| group.trainers.contains(&storer.trainer)),
					"a stranger stored a result"
				);
			}
		}
		Ok(())
	}

	/// Checks the pool against the `seats` of running audits.
	fn check_pool(mut seats: BTreeMap<T::AccountId, Seats>) -> Result<(), TryRuntimeError> {
		let pool = Pool::<T>::get();
		ensure!(Self::places(&pool) <= T::MaxPool::get() as usize, "too many have a place");
		for (who, entry) in pool {
			let held = T::Currency::balance_on_hold(&HoldReason::VerifierBond.into(), &who);
			ensure!(held == entry.bond, "a bond is not what is held");
			ensure!(entry.locked <= entry.bond, "seats lock more than the bond");
			ensure!(entry.counted <= entry.bond, "more counts than the bond");
			ensure!(!entry.has_place() || entry.has_key(), "a place without a key");
			let key = entry.vrf.latest();
			ensure!(key.is_none_or(|key| vrf::is_key(&key.0)), "a key that is none");
			ensure!(entry.vrf.changed() <= Some(Self::now()), "a key from the future");
			let latest = entry.weights.latest().unwrap_or(0);
			let counts = if entry.is_active() { entry.counted } else { 0 };
			ensure!(latest == counts, "what counts in draws is not what it should be");
			ensure!(entry.weights.changed() <= Some(Self::now()), "a bond from the future");
			let (locked, load) = seats.remove(&who).unwrap_or_default();
			if entry.checks == 0 {
				ensure!(entry.locked == locked, "locked seats are not those of running audits");
				ensure!(entry.load == load, "a load is not that of running audits");
			} else {
				ensure!(entry.locked >= locked, "seats of audits lock nothing");
			}
		}
		ensure!(seats.is_empty(), "a member of a committee without a bond");
		for who in crate::Locations::<T>::iter_keys() {
			ensure!(Pool::<T>::get().contains_key(&who), "the location of no verifier");
		}
		Ok(())
	}
}
