//! What a seat rejects: what counts as a rejection, whose accusation waits, and when its fee is due.
//!
//! A rejection is an accusation, with a stake at risk. Where nothing is at risk, it says nothing:
//!
//! - Who denies the trace of a checkpoint alone is refused. The leaf may be forced, which the trainer opens,
//!   and then the dispute ends without a loser; a seat says that a leaf differs, replays all the same, and
//!   accuses while results stand where it is not forced.
//! - Who names a trainer that is out already counts as having said that the result is unavailable. A seat
//!   cannot undo what it committed to, so one counts that committed before its trainer was out, or
//!   [`Config::RelayBlocks`] later at most; there is time to look at another trainer's bundle after that.
//!
//! A seat says what it found, whatever is free of its bond: draws for other audits lock some of it between
//! the commitment and the reveal, and nobody is to be able to cause that a reveal is refused. So as many
//! accusations are opened as the bond covers. The other rejections count as said, and the seat can accuse
//! while results stand (`accuse`), when its bond is free again. Who does not, and was not right, pays as for
//! an absence. Where results do not stand, since the round was not heard, anybody can challenge them when they
//! do, by a deposit; so that is known at the end of the audit.
//!
//! Whether a rejection was right the audit knows at its end. So the fee of a seat that rejects waits for that,
//! through all rounds: it is earned if all that it named are out, convicted by whom ever, or their results
//! lost. What becomes of the seat's own dispute makes no difference, but that it may not lose it.

use crate::{Audit, AuditOf, Config, Event, Fault, Member, Pallet, Pool, Rejecting, Verdicts};
use alloc::vec::Vec;
use frame_support::{
	storage::with_storage_layer,
	traits::{ConstU32, Get},
	BoundedVec,
};
use sp_runtime::DispatchResult;
use trainyard_protocol::{
	accusation::{Claimed, End, LeafContent, Target},
	audit::{Findings, GroupVerdict, Rejection},
	job::{BlockNumber, MAX_REPLICAS},
	JobId,
};
use trainyard_traits::{Accusation, Defendant};

/// An accusation by a rejection of the result with this number.
pub(crate) type OfResult<AccountId> = (u32, Accusation<AccountId>);

/// Returns the trainers that findings name of the results with these numbers, each once.
pub(crate) fn named<AccountId: Clone + PartialEq>(
	findings: &Findings<AccountId>,
	open: &[usize],
) -> BoundedVec<AccountId, ConstU32<MAX_REPLICAS>> {
	let mut named = BoundedVec::new();
	for at in open {
		if let Some(GroupVerdict::Rejected(of)) = findings.verdicts.get(*at) {
			if !named.contains(&of.account) {
				// There are no more than results.
				let _ = named.try_push(of.account.clone());
			}
		}
	}
	named
}

/// Returns whether a rejection denies nothing but the trace of a checkpoint.
pub(crate) fn denies_trace_alone<AccountId>(rejection: &Rejection<AccountId>) -> bool {
	let (Target::Segment(_), Claimed::End(End::Checkpoint { state, evaluation, .. })) =
		(rejection.target, rejection.claimed)
	else {
		return false;
	};
	// The leaf before the segment, and that at its end.
	let said = rejection.leaves.get(1).map(|leaf| leaf.content);
	said.is_some_and(|said| match said {
		LeafContent::Checkpoint(said) => (said.state, said.evaluation) == (state, evaluation),
		LeafContent::Diverged(_) => false,
	})
}

impl<AccountId: Clone + PartialEq> Audit<AccountId> {
	/// Returns the numbers of the results that findings reject by naming a trainer that was out for more
	/// than `grace` blocks when they were committed to.
	pub(crate) fn void_rejections(
		&self,
		findings: &Findings<AccountId>,
		committed_at: BlockNumber,
		grace: BlockNumber,
	) -> Vec<u32> {
		let all = (0u32..).zip(&self.groups).zip(&findings.verdicts);
		let open = all.filter(|((_, group), _)| group.decision.is_none());
		let is_void = |group: &crate::Group<AccountId>, verdict: &GroupVerdict<AccountId>| {
			let GroupVerdict::Rejected(of) = verdict else { return false };
			let out = group.out_since(&of.account);
			out.is_some_and(|out| committed_at > out.saturating_add(grace))
		};
		let void = open.filter(|((_, group), verdict)| is_void(group, verdict));
		void.map(|((at, _), _)| at).collect()
	}

	/// Returns whether a seat that committed to findings at this height puts a stake at risk to say that a
	/// result is false: one that was open then, of a trainer that was not out, or for no more than `grace` blocks.
	/// What it named may be decided since, by its own accusation as well.
	pub(crate) fn risks(
		&self,
		findings: &Findings<AccountId>,
		committed_at: BlockNumber,
		grace: BlockNumber,
	) -> bool {
		let is_late = |height: BlockNumber| committed_at > height.saturating_add(grace);
		self.groups.iter().zip(&findings.verdicts).any(|(group, verdict)| match verdict {
			GroupVerdict::Rejected(of) => {
				let was_decided = group.decided_at.is_some_and(is_late);
				!was_decided && !group.out_since(&of.account).is_some_and(is_late)
			}
			GroupVerdict::Replayed(_) | GroupVerdict::Unavailable => false,
		})
	}

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

	/// Returns whether a seat was right about all that it rejected.
	fn was_right(&self, of: &Rejecting<AccountId>) -> bool {
		of.named.iter().all(|who| self.is_lost(who))
	}

	/// Returns whether a trainer that a seat named has lost: it is out, or its result is lost.
	fn is_lost(&self, trainer: &AccountId) -> bool {
		let mut delivered = self.groups.iter().filter(|group| group.trainers.contains(trainer));
		delivered.any(|group| {
			let is_lost = group.decision.is_some_and(|decision| decision.is_lost());
			is_lost || group.convicted.contains(trainer)
		})
	}
}

impl<T: Config> Pallet<T> {
	/// Makes rejections that put nothing at risk, since the trainer was out before, what they are: no word
	/// about the result.
	pub(crate) fn drop_void_rejections(
		job: JobId,
		audit: &AuditOf<T>,
		(who, committed_at): (&T::AccountId, BlockNumber),
		findings: &mut Findings<T::AccountId>,
	) {
		for group in audit.void_rejections(findings, committed_at, T::RelayBlocks::get()) {
			let at = usize::try_from(group).ok();
			if let Some(verdict) = at.and_then(|at| findings.verdicts.get_mut(at)) {
				*verdict = GroupVerdict::Unavailable;
				Self::deposit_event(Event::RejectionVoid { job, verifier: who.clone(), group });
			}
		}
	}

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
		Self::change_member(job, who, |groups, member| {
			let delivered = |at: &u32| {
				let group = usize::try_from(*at).ok().and_then(|at| groups.get(at));
				group.is_some_and(|group| group.trainers.contains(trainer))
			};
			member.postponed.retain(|at| !delivered(at));
		});
	}

	/// Changes the seat of `who`, which sees the results.
	fn change_member(
		job: JobId,
		who: &T::AccountId,
		change: impl FnOnce(&[crate::Group<T::AccountId>], &mut Member<T::AccountId>),
	) {
		crate::AuditRecords::<T>::mutate(job, |audit| {
			let Some(Audit { groups, committee, .. }) = audit.as_mut() else { return };
			let member = committee.iter_mut().find(|member| member.verifier == *who);
			if let Some(member) = member {
				change(groups, member);
			}
		});
	}

	/// Returns the seats that rejected results without an accusation, and made none since.
	fn postponing(job: JobId, audit: &AuditOf<T>) -> Vec<Rejecting<T::AccountId>> {
		let seats = audit.committee.iter().filter(|member| !member.convicted && !member.lost);
		seats
			.filter(|member| !member.postponed.is_empty())
			.filter_map(|member| {
				let findings = Verdicts::<T>::get(job, &member.verifier)?;
				let at = member.postponed.iter().filter_map(|at| usize::try_from(*at).ok());
				let named = named(&findings, &at.collect::<Vec<_>>());
				Some(Rejecting { seat: member.verifier.clone(), named })
			})
			.collect()
	}

	/// Results do not stand any more: whoever rejected one without an accusation, made none since and was not
	/// right pays as who says nothing. It could accuse when its bond was free again.
	pub(crate) fn charge_postponed(job: JobId, audit: &mut AuditOf<T>) {
		let mut wrong = Self::postponing(job, audit);
		wrong.retain(|of| !audit.was_right(of));
		let cost = Self::tariff(audit.stake).of(Fault::NoVerdict, audit.fee);
		for Rejecting { seat: who, .. } in wrong {
			let Some(member) = audit.member_mut(&who) else { continue };
			let locked = core::mem::take(&mut member.locked);
			Pool::<T>::mutate(|pool| {
				let Some(entry) = pool.get_mut(&who) else { return };
				entry.unlock(locked);
				let amount = Self::move_to_jackpot(&who, cost.min(entry.free()));
				entry.lose(amount);
				let (verifier, fault) = (who.clone(), Fault::NoVerdict);
				Self::slashed(job, verifier, amount, fault);
			});
		}
	}

	/// A round was not heard, so its seats could accuse nobody of what they postponed: notes whom these named.
	pub(crate) fn note_owing(job: JobId, audit: &mut AuditOf<T>) {
		for of in Self::postponing(job, audit) {
			// Bounded by the rounds and the size of a committee.
			let _ = audit.owing.try_push(of);
		}
	}

	/// Everything is decided: takes what absence costs, as far as a bond is free, from the seats of rounds that
	/// were not heard that rejected something without an accusation and were not right.
	pub(crate) fn charge_owing(job: JobId, audit: &mut AuditOf<T>) {
		let mut wrong = core::mem::take(&mut audit.owing).into_inner();
		wrong.retain(|of| !audit.was_right(of));
		if wrong.is_empty() {
			return;
		}
		let cost = Self::tariff(audit.stake).of(Fault::NoVerdict, audit.fee);
		Pool::<T>::mutate(|pool| {
			for Rejecting { seat: verifier, .. } in wrong {
				let Some(entry) = pool.get_mut(&verifier) else { continue };
				let amount = Self::move_to_jackpot(&verifier, cost.min(entry.free()));
				entry.lose(amount);
				let fault = Fault::NoVerdict;
				Self::slashed(job, verifier, amount, fault);
			}
		});
	}

	/// Everything is decided: lets those have their fees who were right about what they rejected.
	pub(crate) fn pay_waiting(audit: &mut AuditOf<T>) {
		let mut due = core::mem::take(&mut audit.waiting).into_inner();
		due.retain(|of| audit.was_right(of));
		for Rejecting { seat, .. } in due {
			// Bounded by the rounds and the size of a committee.
			let _ = audit.served.try_push(seat);
		}
	}
}
