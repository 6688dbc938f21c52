//! Verdicts: what is well formed, what a committee's verdicts decide, and who was right.
//!
//! The rule, in one place. A group is decided when a *strict majority of the committee*,
//! absent members counted, says the same about it: accept with equal evidence, reject for
//! any reason, or unavailable. Unavailable is a word only of a seat that asked for pieces which the
//! trainers stored on chain: then it says that these were of no use. Any other seat asks for what it
//! lacks, and its *unavailable* counts as no vote, whatever was wrong with its machine or its line.
//! Where reject and unavailable have the majority only together it is unavailable.
//!
//! Where accept or reject is decided, a member that said the other thing, or accepted on other
//! evidence, was wrong: a strict replay has one outcome. A member that says *unavailable* earns
//! nothing and loses nothing, unless that is what is decided. Where *unavailable* has the majority
//! nobody was wrong: who can be reached differs from place to place.

use crate::{Audit, AuditRecords, Config, Error, Event, Pallet, Verdicts, H256};
use frame_support::ensure;
use frame_system::pallet_prelude::BlockNumberFor;
use sp_runtime::{traits::Zero, DispatchResult};
use trainyard_protocol::{
	audit::{AuditPhase, Decision, Findings, GroupVerdict, RejectReason, SegmentEvidence},
	commitment, JobId,
};
use trainyard_traits::JobObserver;

/// What the majority of a committee says about a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
	/// It is true: the replays ended with this evidence. Where one of them stands still, it earns no
	/// power.
	Accept(&'a [SegmentEvidence]),
	/// It is false.
	Reject,
	/// It could not be fetched.
	Unavailable,
}

impl<'a> From<&'a GroupVerdict> for Outcome<'a> {
	fn from(verdict: &'a GroupVerdict) -> Self {
		match verdict {
			GroupVerdict::Accept(evidence) => Outcome::Accept(evidence),
			GroupVerdict::Reject(_) => Outcome::Reject,
			GroupVerdict::Unavailable => Outcome::Unavailable,
		}
	}
}

/// How a member's vote relates to what its committee decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stance {
	/// It said the same, or nothing was decided.
	Agrees,
	/// It could not have the result, and others could or it did not ask for it.
	InVain,
	/// It said nothing.
	Silent,
	/// It said something else.
	Contradicts,
}

/// What a member of a committee says about a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote<'a> {
	/// Nothing.
	Nothing,
	/// That it could not have the result, though it did not ask for anything that was stored.
	Unasked,
	/// This.
	Says(&'a GroupVerdict),
}

/// Returns what a strict majority of the committee says; `None` without such a majority. There is
/// one vote for each member.
pub fn tally<'a>(votes: &[Vote<'a>]) -> Option<Outcome<'a>> {
	let seats = votes.len();
	let outcomes = || {
		votes.iter().filter_map(|vote| match vote {
			Vote::Says(verdict) => Some(Outcome::from(*verdict)),
			Vote::Nothing | Vote::Unasked => None,
		})
	};
	let majority = |count: usize| count.saturating_mul(2) > seats;
	outcomes()
		.find(|candidate| majority(outcomes().filter(|other| other == candidate).count()))
		.or_else(|| {
			let without = outcomes().filter(|o| !matches!(o, Outcome::Accept(_))).count();
			majority(without).then_some(Outcome::Unavailable)
		})
}

impl Outcome<'_> {
	/// Returns what it decides.
	pub fn decision(&self) -> Decision {
		match self {
			Outcome::Accept(evidence) if evidence.iter().any(|e| e.idle_since.is_some()) => {
				Decision::Idle
			}
			Outcome::Accept(_) => Decision::Accepted,
			Outcome::Reject => Decision::Rejected,
			Outcome::Unavailable => Decision::Unavailable,
		}
	}
}

/// Returns how a vote relates to the outcome.
pub fn stance(vote: Vote, outcome: Option<&Outcome>) -> Stance {
	let said = match vote {
		Vote::Nothing => return Stance::Silent,
		Vote::Unasked => return Stance::InVain,
		Vote::Says(verdict) => Outcome::from(verdict),
	};
	match outcome {
		None | Some(Outcome::Unavailable) => Stance::Agrees,
		Some(decided) if said == *decided => Stance::Agrees,
		Some(_) if said == Outcome::Unavailable => Stance::InVain,
		Some(_) => Stance::Contradicts,
	}
}

/// Fails if `findings` do not fit the audit. There must be one verdict for each group; for a group
/// still open, acceptance needs evidence for exactly the segments drawn of it, and a rejected
/// segment or checkpoint must be among those that it has.
fn check<T: Config>(audit: &Audit<T::AccountId>, findings: &Findings) -> Result<(), Error<T>> {
	ensure!(findings.len() == audit.groups.len(), Error::<T>::WrongNumberOfVerdicts);
	for (group, verdict) in audit.groups.iter().zip(findings) {
		if group.decision.is_some() {
			continue;
		}
		match verdict {
			GroupVerdict::Accept(evidence) => ensure!(
				evidence.iter().map(|e| e.segment).eq(group.drawn.iter().copied())
					&& evidence.iter().all(|e| e.idle_since.is_none_or(|at| at <= e.segment)),
				Error::<T>::WrongSegments
			),
			// Not only one of those drawn: where results differ, verifiers look at the segment
			// where they part.
			GroupVerdict::Reject(RejectReason::WrongSegment(evidence)) => {
				ensure!(evidence.segment < group.result.segments, Error::<T>::WrongSegments)
			}
			GroupVerdict::Reject(RejectReason::NotDiverged(evidence)) => {
				let claimed = group.result.diverged_in() == Some(evidence.segment);
				ensure!(claimed, Error::<T>::WrongSegments)
			}
			GroupVerdict::Reject(
				RejectReason::WrongState { checkpoint }
				| RejectReason::WrongEvaluation { checkpoint }
				| RejectReason::UnreachableState { checkpoint },
			) => {
				ensure!(*checkpoint <= group.result.segments, Error::<T>::NoSuchCheckpoint)
			}
			GroupVerdict::Reject(
				RejectReason::WrongCheckpoints
				| RejectReason::WrongInitialState
				| RejectReason::WrongModel,
			)
			| GroupVerdict::Unavailable => {}
		}
	}
	Ok(())
}

impl<T: Config> Pallet<T> {
	/// Returns the hash of the genesis block, which binds commitments to this chain.
	pub(crate) fn genesis() -> H256 {
		let hash = frame_system::Pallet::<T>::block_hash(BlockNumberFor::<T>::zero());
		let mut bytes = [0u8; 32];
		for (to, from) in bytes.iter_mut().zip(hash.as_ref()) {
			*to = *from;
		}
		bytes.into()
	}

	pub(crate) fn do_commit(who: T::AccountId, job: JobId, commitment: H256) -> DispatchResult {
		let mut audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		let AuditPhase::Committing { until } = audit.phase else {
			return Err(Error::<T>::NotCommitting.into());
		};
		ensure!(Self::now() <= until, Error::<T>::TooLate);
		let member = audit.member_mut(&who).ok_or(Error::<T>::NotOnCommittee)?;
		member.commitment = Some(commitment);
		// It has found what it says, so it lacks nothing any more.
		Self::withdraw_claims(job, &mut audit, &who, |_| true);
		AuditRecords::<T>::insert(job, &audit);
		Self::deposit_event(Event::Committed { job, verifier: who });
		if audit.all_committed() {
			T::Observer::progressed(job);
		}
		Ok(())
	}

	pub(crate) fn do_reveal(
		who: T::AccountId,
		job: JobId,
		findings: Findings,
		salt: [u8; 32],
	) -> DispatchResult {
		let mut audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		let AuditPhase::Revealing { until } = audit.phase else {
			return Err(Error::<T>::NotRevealing.into());
		};
		ensure!(Self::now() <= until, Error::<T>::TooLate);
		let round = audit.round;
		let member = audit.member_mut(&who).ok_or(Error::<T>::NotOnCommittee)?;
		let committed = member.commitment.ok_or(Error::<T>::NotCommitted)?;
		ensure!(!member.revealed, Error::<T>::AlreadyRevealed);
		member.revealed = true;
		let revealed = commitment::verdict(&Self::genesis(), job, round, &who, &findings, &salt);
		ensure!(revealed == committed, Error::<T>::WrongReveal);
		check::<T>(&audit, &findings)?;
		Verdicts::<T>::insert(job, &who, findings);
		AuditRecords::<T>::insert(job, &audit);
		Self::deposit_event(Event::Revealed { job, verifier: who });
		if audit.all_revealed() {
			T::Observer::progressed(job);
		}
		Ok(())
	}
}
