//! What must hold in any state.

use crate::{
	AuditRecords, Config, HoldReason, LeavingVerifiers, Pallet, Pool, Verdicts, MAX_PARTIES,
};
use frame_support::{
	ensure,
	traits::{fungible::InspectHold, Get},
};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::{audit::AuditPhase, job::MAX_AUDIT_ROUNDS};

impl<T: Config> Pallet<T> {
	/// - A bond is what is held of its verifier; one in the pool is at least the minimum;
	///   nobody is in the pool and leaving.
	/// - A committee has no party, no member twice, and no more members than wanted; the
	///   segments drawn of a result are ascending, no more than wanted, and among those that it
	///   has.
	/// - An audit has a decision for each group if and only if it is done, and no more rounds
	///   than allowed.
	/// - There are findings of exactly the members who revealed.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		let held = |who: &T::AccountId| {
			T::Currency::balance_on_hold(&HoldReason::VerifierBond.into(), who)
		};
		for (job, _, _) in crate::Announced::<T>::iter() {
			let running = AuditRecords::<T>::get(job).filter(|a| a.phase != AuditPhase::Done);
			ensure!(running.is_some(), "a rescue is announced for an audit that does not run");
		}
		let active = Self::active();
		ensure!(active.len() <= T::MaxPool::get() as usize, "too many verifiers in the pool");
		for (who, bond) in active {
			ensure!(held(&who) == bond, "a bond in the pool is not what is held");
			ensure!(bond >= T::MinBond::get(), "a bond in the pool is below the minimum");
			ensure!(!LeavingVerifiers::<T>::contains_key(&who), "in the pool and leaving");
		}
		for (_, entry) in Pool::<T>::get() {
			ensure!(entry.before <= entry.bond, "a bond counted for more than it is");
			ensure!(entry.since <= Self::now(), "a bond from the future");
		}
		for (who, leaving) in LeavingVerifiers::<T>::iter() {
			ensure!(held(&who) == leaving.bond, "a leaving bond is not what is held");
		}
		let mut revealed = 0usize;
		for (job, audit) in AuditRecords::<T>::iter() {
			ensure!(audit.round < MAX_AUDIT_ROUNDS, "a round too many");
			ensure!(audit.parties.len() <= MAX_PARTIES as usize, "too many parties");
			ensure!(audit.committee.len() <= audit.verifiers as usize, "committee too large");
			ensure!(
				audit.committee.is_empty() || audit.committee.len() % 2 == 1,
				"a committee that can be split"
			);
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
			}
			for group in &audit.groups {
				let drawn = &group.drawn;
				ensure!(
					drawn.iter().zip(drawn.iter().skip(1)).all(|(a, b)| a < b)
						&& drawn.iter().all(|segment| *segment < group.result.segments)
						&& drawn.len() <= audit.audit_segments as usize,
					"drawn segments are out of order or range"
				);
			}
			ensure!(
				audit.is_decided() == (audit.phase == AuditPhase::Done),
				"done without decisions, or decided and not done"
			);
		}
		ensure!(Verdicts::<T>::iter_keys().count() == revealed, "findings of nobody");
		Ok(())
	}
}
