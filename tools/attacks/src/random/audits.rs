//! What those do next who are concerned in an audit: its seats, and the trainers of its results.

use crate::{
	states,
	world::{Actor, World, SALT},
};
use rand::Rng;
use trainyard_protocol::{
	audit::{AuditPhase, Findings, GroupVerdict, Piece, RejectReason, SegmentEvidence},
	commitment,
	views::{AuditView, GroupView, JobView},
	JobId, H256,
};
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, *};

impl World {
	pub(super) fn audits(&mut self, view: &JobView<AccountId>) -> Option<(Actor, RuntimeCall)> {
		let job = view.id;
		let audit = view.audit.as_ref()?;
		let committee: Vec<_> = audit.committee.iter().map(|seat| seat.verifier.clone()).collect();
		match audit.phase {
			AuditPhase::Committing { .. } => {
				let who = self.one(&committee)?;
				let call = match self.chance(40) {
					true => self.claims(job, audit)?,
					false => self.commits_to_findings(job, audit, &who)?,
				};
				Some((self.owner(&who)?, call))
			}
			AuditPhase::Revealing { .. } => {
				use pallet_verification::Call::reveal;
				let who = self.one(&committee)?;
				let findings = self.findings.get(&(job, audit.round, who.clone()))?.clone();
				Some((self.owner(&who)?, reveal { job, findings, salt: SALT }.into()))
			}
			AuditPhase::Rescue { .. } => {
				let trainers: Vec<_> = view.replicas.iter().map(|r| r.trainer.clone()).collect();
				let trainer = self.one(&trainers)?;
				let who = self.owner(&trainer)?;
				self.rescues(job, audit, who)
			}
			AuditPhase::Drawing { .. } | AuditPhase::Done => None,
		}
	}

	/// A result of an audit and its number, mostly one that there is.
	fn group(&mut self, audit: &AuditView<AccountId>) -> (u32, Option<GroupView>) {
		let count = audit.groups.len() as u32 + u32::from(self.chance(5));
		let group = self.rng.random_range(0..count);
		(group, audit.groups.get(group as usize).cloned())
	}

	/// A seat asks for something, or has it.
	fn claims(&mut self, job: JobId, audit: &AuditView<AccountId>) -> Option<RuntimeCall> {
		use pallet_verification::Call::{request, withdraw_request};
		let (group, found) = self.group(audit);
		if self.chance(40) {
			return Some(withdraw_request { job, group }.into());
		}
		let read = found.map_or(vec![Piece::Files], |found| states::everything(&found).to_vec());
		let mut pieces: Vec<Piece> = read.into_iter().filter(|_| self.chance(50)).collect();
		if self.chance(10) {
			pieces.push(Piece::State(self.rng.random_range(0..40)));
			pieces.sort();
		}
		Some(request { job, group, pieces: pieces.try_into().ok()? }.into())
	}

	fn commits_to_findings(
		&mut self,
		job: JobId,
		audit: &AuditView<AccountId>,
		who: &AccountId,
	) -> Option<RuntimeCall> {
		let verdicts: Vec<GroupVerdict> = audit
			.groups
			.iter()
			.map(|group| self.verdict(states::is_of(1, &group.result), &group.drawn))
			.collect();
		let findings = Findings::try_from(verdicts).ok()?;
		let round = audit.round;
		let commitment = commitment::verdict(&self.genesis, job, round, who, &findings, &SALT);
		self.findings.insert((job, round, who.clone()), findings);
		Some(pallet_verification::Call::commit { job, commitment }.into())
	}

	/// A trainer stores something for what is asked of a result, mostly of its own and with its leaves.
	fn rescues(
		&mut self,
		job: JobId,
		audit: &AuditView<AccountId>,
		who: Actor,
	) -> Option<(Actor, RuntimeCall)> {
		let (group, found) = self.group(audit);
		// Another one for each trainer and each thing that is asked for.
		let own = self.actors.iter().position(|actor| actor.account == who.account)?;
		let asked = found.as_ref().map_or(0, |found| found.asked.len());
		let blob = self.file([job as u8, own as u8, asked as u8, 7].repeat(700));
		let there = self.chain.state(|| Runtime::blob(blob));
		let complete = there.is_some_and(|blob| blob.missing.is_empty());
		if !complete && !self.chance(20) {
			return self.stores(who, blob);
		}
		let byte = if self.chance(90) {
			let of = |byte: &u8| found.as_ref().is_some_and(|f| states::is_of(*byte, &f.result));
			(1..4).find(of).unwrap_or(1)
		} else {
			9
		};
		let leaves = found.map(|found| states::leaves(byte, &found)).unwrap_or_default();
		Some((who, pallet_verification::Call::rescue { job, group, blob, leaves }.into()))
	}

	/// A verifier's verdict: usually the truth.
	fn verdict(&mut self, honest: bool, drawn: &[u32]) -> GroupVerdict {
		let evidence = |segment: u32, byte: u8| SegmentEvidence {
			segment,
			trace_root: H256::repeat_byte(byte),
			end_state: H256::repeat_byte(2),
			idle_since: None,
		};
		let first = drawn.first().copied().unwrap_or(0);
		match self.rng.random_range(0..100) {
			0..70 if honest => {
				let all: Vec<_> = drawn.iter().map(|segment| evidence(*segment, 1)).collect();
				all.try_into().map_or(GroupVerdict::Unavailable, GroupVerdict::Accept)
			}
			0..70 => GroupVerdict::Reject(RejectReason::WrongSegment(evidence(first, 3))),
			70..85 => GroupVerdict::Unavailable,
			85..95 => GroupVerdict::Reject(RejectReason::WrongModel),
			_ => {
				let all: Vec<_> = drawn.iter().map(|segment| evidence(*segment, 9)).collect();
				all.try_into().map_or(GroupVerdict::Unavailable, GroupVerdict::Accept)
			}
		}
	}
}
