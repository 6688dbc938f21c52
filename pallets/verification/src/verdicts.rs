//! What seats commit to and reveal, and what of it is well formed.
//!
//! A seat reveals by which output it drew its segments, and of each result evidence of exactly the
//! segments that it must replay, or an accusation. The output is checked against the key that the seat
//! had at the height of the draw, so nobody chooses its segments, and each end that it computed against
//! the revealed root, so whoever reveals evidence vouches for just that result: a seat that is a cheat's
//! friend can be convicted with it.

use crate::{
	claims::Spent, rejections::denies_trace_alone, Audit, AuditRecords, Config, Error, Event,
	Pallet, Verdicts, WeightInfo, H256,
};
use alloc::vec::Vec;
use frame_support::{ensure, weights::Weight};
use frame_system::pallet_prelude::BlockNumberFor;
use sp_runtime::{traits::Zero, DispatchResult};
use trainyard_protocol::{
	accusation::Target,
	audit::{AuditPhase, Findings, GroupVerdict, Paths, SegmentEvidence},
	commitment, duties,
	vrf::{self, Subject},
	JobId,
};
use trainyard_traits::{Accusation, Court, JobObserver};

/// Fails if the findings of the seat number `seat`, which drew by `output`, do not fit the audit. There
/// must be one verdict for each group. Of a group that is open, evidence is for exactly the segments that
/// this seat must replay, and its path leads to the root of the bundle that it looked at; and a rejection
/// accuses somebody who delivered it, of more than a trace. Paths of decided groups are not looked at.
fn check<T: Config>(
	audit: &Audit<T::AccountId>,
	seat: usize,
	output: &H256,
	findings: &Findings<T::AccountId>,
	paths: &Paths,
) -> Result<(), Error<T>> {
	ensure!(findings.verdicts.len() == audit.groups.len(), Error::<T>::WrongNumberOfVerdicts);
	let mut paths = paths.iter();
	for ((at, group), verdict) in (0u32..).zip(&audit.groups).zip(&findings.verdicts) {
		let is_open = group.decision.is_none();
		match verdict {
			GroupVerdict::Replayed(replayed) => {
				let mine: Vec<_> = paths.by_ref().take(replayed.evidence.len()).collect();
				if !is_open {
					continue;
				}
				let result = &group.result_in(replayed).ok_or(Error::<T>::WrongAccused)?;
				let agreed = mine.into_iter().zip(&replayed.evidence);
				let agreed: Vec<bool> = agreed.map(|(path, e)| e.agrees(result, path)).collect();
				let place = (seat, audit.committee.len());
				let own = audit.drawing.own(output, at, result, place);
				let (moved, parts) = (replayed.moved, &replayed.parts);
				let wanted = duties::required(&own, seat, result, moved, parts)
					.filter(|_| parts.len() < audit.groups.len())
					.ok_or(Error::<T>::WrongSegments)?;
				let idle = |e: &SegmentEvidence| e.idle_since.is_none_or(|at| at <= e.segment);
				ensure!(
					replayed.evidence.iter().map(|e| e.segment).eq(wanted)
						&& replayed.evidence.iter().all(idle),
					Error::<T>::WrongSegments
				);
				let all = agreed.len() == replayed.evidence.len();
				ensure!(all && agreed.into_iter().all(|yes| yes), Error::<T>::WrongPaths);
			}
			GroupVerdict::Rejected(rejection) if is_open => {
				let of_result = !matches!(rejection.target, Target::Evidence(_));
				let delivered = group.trainers.contains(&rejection.account);
				ensure!(of_result && delivered, Error::<T>::WrongAccused);
				ensure!(!denies_trace_alone(rejection), Error::<T>::TraceAlone);
			}
			GroupVerdict::Rejected(_) | GroupVerdict::Unavailable => {}
		}
	}
	ensure!(paths.next().is_none(), Error::<T>::WrongPaths);
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
		let now = Self::now();
		ensure!(now <= until, Error::<T>::TooLate);
		let member = audit.member_mut(&who).ok_or(Error::<T>::NotOnCommittee)?;
		member.commitment = Some(commitment);
		member.committed_at = now;
		// It has found what it says, so it lacks nothing any more.
		Self::withdraw_claims(job, &mut audit, &who, |_| true);
		AuditRecords::<T>::insert(job, &audit);
		Self::deposit_event(Event::Committed { job, verifier: who });
		if audit.all_committed() {
			T::Observer::progressed(job);
		}
		Ok(())
	}

	/// Returns the weight of revealing these findings: with one accusation for each rejection.
	pub(crate) fn reveal_weight(findings: &Findings<T::AccountId>) -> Weight {
		let rejected =
			|verdict: &&GroupVerdict<T::AccountId>| matches!(verdict, GroupVerdict::Rejected(_));
		let accusations = findings.verdicts.iter().filter(rejected).count() as u64;
		let each = T::WeightInfo::accuse().saturating_add(T::Court::accuse_weight());
		T::WeightInfo::reveal().saturating_add(each.saturating_mul(accusations))
	}

	pub(crate) fn do_reveal(
		who: T::AccountId,
		job: JobId,
		mut findings: Findings<T::AccountId>,
		paths: Paths,
		salt: [u8; 32],
	) -> DispatchResult {
		let mut audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		let AuditPhase::Revealing { until } = audit.phase else {
			return Err(Error::<T>::NotRevealing.into());
		};
		ensure!(Self::now() <= until, Error::<T>::TooLate);
		let (round, seed) = (audit.round, audit.seed.ok_or(Error::<T>::NotRevealing)?);
		let seat = audit.committee.iter().position(|member| member.verifier == who);
		let seat = seat.ok_or(Error::<T>::NotOnCommittee)?;
		let member = audit.committee.get_mut(seat).ok_or(Error::<T>::NotOnCommittee)?;
		let committed = member.commitment.ok_or(Error::<T>::NotCommitted)?;
		ensure!(!member.revealed, Error::<T>::AlreadyRevealed);
		member.revealed = true;
		let (key, committed_at) = (member.key, member.committed_at);
		let genesis = Self::genesis();
		let shown = commitment::verdict(&genesis, job, round, &who, &findings, &salt);
		ensure!(shown == committed, Error::<T>::WrongReveal);
		let subject = Subject { genesis: &genesis, job, round, seed: &seed, account: &who };
		let output = vrf::output(&key, &subject, &findings.draw).ok_or(Error::<T>::WrongDraw)?;
		check::<T>(&audit, seat, &output, &findings, &paths)?;
		Self::drop_void_rejections(job, &audit, (&who, committed_at), &mut findings);
		let place = (seat, audit.committee.len());
		let spent = Spent { output, place, findings: &findings };
		Self::note_refunds(job, &mut audit, &who, &spent);
		// Nor is whom it accuses of the same since an earlier round.
		let is_new =
			|of: &Accusation<T::AccountId>| !T::Court::is_accusing(&who, &of.defendant, &of.target);
		let accusations: Vec<_> =
			audit.rejected(job, &findings).filter(|(_, of)| is_new(of)).collect();
		audit.mix(&output);
		let all_revealed = audit.all_revealed();
		Verdicts::<T>::insert(job, &who, findings);
		AuditRecords::<T>::insert(job, &audit);
		Self::deposit_event(Event::Revealed { job, verifier: who.clone() });
		Self::open_disputes(job, &who, accusations, committed_at)?;
		if all_revealed {
			T::Observer::progressed(job);
		}
		Ok(())
	}
}
