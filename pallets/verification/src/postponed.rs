//! Rejections whose accusation waits.
//!
//! A seat says what it found, whatever is free of its bond: draws for other audits lock some of it between
//! the commitment and the reveal, and nobody is to be able to cause that a reveal is refused. So as many
//! accusations are opened as the bond covers. The other rejections count as said, and the seat can accuse
//! while results stand (`accuse`), when its bond is free again.
//!
//! A seat that rejects at no risk could say so of results that it did not replay, so its fee waits: it has
//! it when it accused of all of them, or when whomever it rejected without an accusation was convicted, by
//! whom ever.

use crate::{Audit, AuditOf, Config, Event, Member, Pallet, Verdicts};
use alloc::vec::Vec;
use frame_support::storage::with_storage_layer;
use sp_runtime::DispatchResult;
use trainyard_protocol::{
	audit::{Findings, GroupVerdict},
	job::BlockNumber,
	JobId,
};
use trainyard_traits::{Accusation, Defendant};

/// An accusation by a rejection of the result with this number.
pub(crate) type OfResult<AccountId> = (u32, Accusation<AccountId>);

impl<AccountId> Member<AccountId> {
	/// Returns whether its fee is due, which waited for what it rejected without an accusation: `is_proven`
	/// says of which of these results the one that it rejected was convicted.
	fn is_fee_due(&self, is_proven: impl FnMut(&u32) -> bool) -> bool {
		let counts = self.fee_waits && !self.lost && !self.convicted;
		counts && self.postponed.iter().all(is_proven)
	}
}

impl<AccountId: Clone + PartialEq> Audit<AccountId> {
	/// Returns whom these findings accuse, each with the number of the result. Whom others convicted before
	/// is not accused again.
	pub(crate) fn rejected<'a>(
		&'a self,
		job: JobId,
		findings: &'a Findings<AccountId>,
	) -> impl Iterator<Item = OfResult<AccountId>> + 'a {
		let all = (0u32..).zip(&self.groups).zip(&findings.verdicts);
		let open = all.filter(|((_, group), _)| group.decision.is_none());
		open.filter_map(move |((at, group), verdict)| {
			let GroupVerdict::Rejected(of) = verdict else { return None };
			let accusation = || Accusation {
				defendant: Defendant::Trainer { job, who: of.account.clone() },
				target: of.target,
				claimed: of.claimed,
				leaves: of.leaves.clone(),
			};
			(!group.convicted.contains(&of.account)).then(|| (at, accusation()))
		})
	}
}

impl<T: Config> Pallet<T> {
	/// Opens a dispute for each of these rejections of the seat `who`, as far as its bond covers them. Fails
	/// where the court does not hear one.
	pub(crate) fn open_disputes(
		job: JobId,
		who: &T::AccountId,
		accusations: Vec<OfResult<T::AccountId>>,
		committed_at: BlockNumber,
	) -> DispatchResult {
		for (at, accusation) in accusations {
			let trainer = accusation.defendant.who().clone();
			let opened =
				with_storage_layer(|| Self::open_dispute(job, who, accusation, committed_at));
			match opened {
				Err(error) if error == crate::Error::<T>::StakeTooSmall.into() => {
					Self::change_member(job, who, |_, member| {
						// There are no more than results.
						let _ = member.postponed.try_push(at);
					});
					let verifier = who.clone();
					Self::deposit_event(Event::AccusationPostponed { job, verifier, trainer });
				}
				result => result?,
			}
		}
		Ok(())
	}

	/// Notes that the seat `who` accused a trainer while results stand, of whom it may have said before
	/// that its result is false.
	pub(crate) fn note_accused(job: JobId, who: &T::AccountId, trainer: &T::AccountId) {
		let due = Self::change_member(job, who, |groups, member| {
			let delivered = |at: &u32| {
				let group = usize::try_from(*at).ok().and_then(|at| groups.get(at));
				group.is_some_and(|group| group.trainers.contains(trainer))
			};
			member.postponed.retain(|at| !delivered(at));
			let due = member.is_fee_due(|_| false);
			member.fee_waits &= !due;
			due
		});
		if due.unwrap_or(false) {
			crate::AuditRecords::<T>::mutate(job, |audit| {
				if let Some(audit) = audit {
					// Bounded by the rounds and the size of a committee.
					let _ = audit.served.try_push(who.clone());
				}
			});
		}
	}

	/// Changes the seat of `who`, which sees the results.
	fn change_member<R>(
		job: JobId,
		who: &T::AccountId,
		change: impl FnOnce(&[crate::Group<T::AccountId>], &mut Member<T::AccountId>) -> R,
	) -> Option<R> {
		crate::AuditRecords::<T>::mutate(job, |audit| {
			let Audit { groups, committee, .. } = audit.as_mut()?;
			let member = committee.iter_mut().find(|member| member.verifier == *who)?;
			Some(change(groups, member))
		})
	}

	/// Results do not stand any more: lets those have their fees who were right about what they rejected
	/// without an accusation.
	pub(crate) fn pay_proven(job: JobId, audit: &mut AuditOf<T>) {
		for member in audit.committee.iter_mut().filter(|member| member.fee_waits) {
			let Some(findings) = Verdicts::<T>::get(job, &member.verifier) else { continue };
			let groups = &audit.groups;
			let is_proven = |at: &u32| {
				let at = usize::try_from(*at).unwrap_or(usize::MAX);
				match (groups.get(at), findings.verdicts.get(at)) {
					(Some(group), Some(GroupVerdict::Rejected(of))) => {
						group.convicted.contains(&of.account)
					}
					_ => false,
				}
			};
			if member.is_fee_due(is_proven) {
				// Bounded by the rounds and the size of a committee.
				let _ = audit.served.try_push(member.verifier.clone());
			}
			member.fee_waits = false;
		}
	}
}
