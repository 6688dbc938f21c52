//! What must hold in any state.

use crate::{AuditRecords, Config, HoldReason, Pallet, Pool, Verdicts, MAX_FEES, MAX_PARTIES};
use alloc::collections::BTreeMap;
use frame_support::{
	ensure,
	traits::{fungible::InspectHold, Get},
};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::{
	audit::AuditPhase,
	job::{Balance, MAX_AUDIT_ROUNDS},
	seats::Resources,
};

/// What the seats of a verifier in running audits come to.
type Seats = (Balance, Resources);

impl<T: Config> Pallet<T> {
	/// - A bond is what is held of its verifier, and covers what its seats lock. These are the seats
	///   of running audits, and those of recomputations. No more verifiers have a place than there
	///   are places, and no more counts of a bond than is there.
	/// - A committee has no party, no member twice, no member without a bond while it works, and no
	///   more members than wanted; the segments drawn of a result are ascending, no more than wanted,
	///   and among those that it has.
	/// - Fees were earned by verifiers, by each at most once a round, and by no party.
	/// - An audit has a decision for each group if and only if it is done, and no more rounds
	///   than allowed; it draws soon, or waits no longer than it may.
	/// - There are findings of exactly the members who revealed.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		for (job, _, _) in crate::Announced::<T>::iter() {
			let running = AuditRecords::<T>::get(job).filter(|a| a.phase != AuditPhase::Done);
			ensure!(running.is_some(), "a rescue is announced for an audit that does not run");
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
			let works =
				matches!(audit.phase, AuditPhase::Committing { .. } | AuditPhase::Revealing { .. });
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
		Self::check_pool(seats)
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
		Ok(())
	}
}
