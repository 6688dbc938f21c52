//! What a seat does while results stand: it replays evidence of another seat that it is drawn for, and
//! accuses whoever it finds false.
//!
//! What is to be sent is in `standing.json` in the folder of the round, from before it is sent. An
//! accusation is sent once: where it is not known whether it came on chain, it is not sent again, since
//! one that is lost costs its stake.

use super::{
	lots::Lot,
	round::{seed_of, Round},
	Duty, Verifier, MARGIN,
};
use crate::roles::{
	blocks::LookError,
	checked,
	store::{Accused, FindingsRecord, StandingRecord},
	tasks::{Outcome, TaskError},
};
use serde_json::json;
use std::{
	path::Path,
	sync::{atomic::AtomicBool, Arc},
	time::Instant,
};
use trainyard_client::{
	calls,
	court::{Accusation, Defendant, Dispute},
	AccountId32, AuditView, GroupVerdict, Head, JobView, RecheckView,
};
use trainyard_proof::verify::{charge, Charge, Verdict};
use trainyard_protocol::{
	accusation::{Claimed, Target},
	audit::{AuditPhase, SegmentEvidence},
	job::BlockNumber,
};

/// How often an accusation is sent that the chain refuses.
const TRIES: u32 = 3;
/// Least blocks that are left for a second replay, whatever the phase says: the window is open as long
/// as something is disputed.
const LEAST_WINDOW: BlockNumber = 60;

/// Returns the evidence that `me` is drawn to replay again, and what its seat revealed of it.
pub(super) fn recheck_of<'a>(
	audit: &'a AuditView,
	me: &AccountId32,
) -> Option<(&'a RecheckView, SegmentEvidence)> {
	let recheck = audit.rechecks.iter().find(|recheck| recheck.by == *me)?;
	let seat = audit.committee.iter().find(|member| member.verifier == recheck.of)?;
	let verdicts = &seat.findings.as_ref().filter(|_| !seat.convicted)?.verdicts;
	let GroupVerdict::Replayed(replayed) = verdicts.get(recheck.group as usize)? else {
		return None;
	};
	let evidence = replayed.evidence.iter().find(|e| e.segment == recheck.segment)?;
	Some((recheck, *evidence))
}

/// Returns the trainers whose result is among those that `found` rejects and whom nobody accuses, each
/// with what it is accused of. `disputes` are all that run.
pub(super) fn unaccused(
	job: &JobView,
	audit: &AuditView,
	found: &FindingsRecord,
	disputes: &[&Dispute],
) -> Vec<Accusation> {
	let mut all = Vec::new();
	for (group, verdict) in audit.groups.iter().zip(&found.findings.verdicts) {
		let GroupVerdict::Rejected(rejection) = verdict else { continue };
		// A blob is one trainer's.
		if group.decision.is_some() || matches!(rejection.target, Target::Rescue { .. }) {
			continue;
		}
		for replica in &job.replicas {
			let delivered = replica.reveal.as_ref().map(|reveal| reveal.result());
			let who = replica.trainer;
			let defendant = Defendant::Trainer { job: job.id, who };
			let known = who == rejection.account
				|| group.convicted.contains(&who)
				|| disputes.iter().any(|dispute| dispute.defendant == defendant);
			if delivered == Some(group.result) && !known {
				all.push(Accusation {
					defendant,
					target: rejection.target,
					claimed: rejection.claimed,
					leaves: rejection.leaves.to_vec(),
				});
			}
		}
	}
	all
}

/// Returns what a seat that replayed `evidence` of another one again accuses of: that seat, whose
/// evidence is another end than its replay, and a trainer who committed to the same.
pub(super) fn found_false(
	(job, audit): (&JobView, &AuditView),
	(recheck, evidence): (&RecheckView, &SegmentEvidence),
	charge: &Charge,
	seat: usize,
) -> Vec<Accusation> {
	let mut all = Vec::new();
	let Some(group) = audit.groups.get(recheck.group as usize) else { return all };
	let is_of_segment = charge.target == Target::Segment(recheck.segment);
	if let (true, Claimed::End(end), Some(leaf)) =
		(is_of_segment, charge.claimed, charge.leaves.first())
	{
		if end != evidence.end() {
			all.push(Accusation {
				defendant: Defendant::Seat {
					job: job.id,
					who: recheck.of,
					bundle_root: group.result.bundle_root,
				},
				target: Target::Evidence(recheck.segment),
				claimed: charge.claimed,
				leaves: vec![leaf.clone()],
			});
		}
	}
	let is_blob = matches!(charge.target, Target::Rescue { .. });
	// Of a blob whoever stored it is accused, which this seat does in its findings.
	if let Some(who) = super::round::accused(job, group, seat).filter(|_| !is_blob) {
		all.push(Accusation {
			defendant: Defendant::Trainer { job: job.id, who },
			target: charge.target,
			claimed: charge.claimed,
			leaves: charge.leaves.to_vec(),
		});
	}
	all
}

/// Returns whether findings accuse a trainer already.
fn accuses(found: &FindingsRecord, defendant: &Defendant) -> bool {
	let is_same = |verdict: &GroupVerdict| match (verdict, defendant) {
		(GroupVerdict::Rejected(rejection), Defendant::Trainer { who, .. }) => {
			rejection.account == *who
		}
		_ => false,
	};
	found.findings.verdicts.iter().any(is_same)
}

/// Returns whether the court convicted somebody, as the audit shows it.
fn is_convicted(audit: &AuditView, defendant: &Defendant) -> bool {
	match defendant {
		Defendant::Trainer { who, .. } => {
			audit.groups.iter().any(|group| group.convicted.contains(who))
		}
		Defendant::Seat { who, .. } => {
			let mut seats = audit.committee.iter();
			seats.any(|member| member.verifier == *who && member.convicted)
		}
	}
}

/// Returns whether an accusation is to be sent.
fn is_due(audit: &AuditView, accused: &Accused) -> bool {
	let convicted = is_convicted(audit, &accused.accusation.0.defendant);
	!accused.sent && accused.tries < TRIES && !convicted
}

/// Returns what a seat owes while results stand, by what it has done so far.
pub(super) fn due(audit: &AuditView, me: &AccountId32, record: &StandingRecord) -> Vec<Duty> {
	let AuditPhase::Standing { .. } = audit.phase else { return Vec::new() };
	let mut seats = audit.committee.iter();
	let speaks = |seat: &trainyard_client::MemberView| {
		seat.verifier == *me && seat.findings.is_some() && !seat.convicted
	};
	if !seats.any(speaks) {
		return Vec::new();
	}
	let recheck = !record.rechecked && recheck_of(audit, me).is_some();
	let accuse = record.accused.iter().any(|accused| is_due(audit, accused));
	let due = [(recheck, Duty::Recheck), (accuse, Duty::Accuse)];
	due.into_iter().filter(|(is_due, _)| *is_due).map(|(_, duty)| duty).collect()
}

impl Verifier {
	/// Looks at results that stand: takes up accusations of trainers whom nobody accuses, and returns
	/// what is owed. So that the seats do not all accuse the same at once, each takes them up in its own
	/// blocks.
	pub(super) async fn look_at_standing(
		&self,
		(job, audit): (&JobView, &AuditView),
		found: Option<&FindingsRecord>,
		folder: &Path,
		head: Head,
	) -> Result<Vec<Duty>, LookError> {
		let me = self.sender.account();
		let mut record = self.home.load_standing(folder)?;
		let seats = audit.committee.len().max(1) as u32;
		let seat = audit.committee.iter().position(|member| member.verifier == *me);
		let is_turn = seat.is_some_and(|seat| head.number % seats == seat as u32);
		let rejects = |found: &&FindingsRecord| {
			let mut verdicts = found.findings.verdicts.iter();
			verdicts.any(|verdict| matches!(verdict, GroupVerdict::Rejected(_)))
		};
		if let (true, Some(found)) = (is_turn, found.filter(rejects)) {
			let disputes = self.chain.disputes(head.hash).await?;
			let mut changed = false;
			let disputes: Vec<&Dispute> = disputes.values().collect();
			for accusation in unaccused(job, audit, found, &disputes) {
				changed |= record.add(accusation);
			}
			if changed {
				self.home.save_standing(folder, &record)?;
			}
		}
		Ok(due(audit, me, &record))
	}

	/// Replays the evidence of another seat that this one is drawn for. What it finds false it accuses of.
	pub(super) async fn recheck(
		&self,
		job: &JobView,
		audit: &AuditView,
		folder: &Path,
		best: BlockNumber,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		let (AuditPhase::Standing { until }, Some((recheck, evidence))) =
			(audit.phase, recheck_of(audit, self.sender.account()))
		else {
			return Err(TaskError::failed("there is no evidence to replay again"));
		};
		let draw = self.draw(job, audit)?;
		let index = recheck.group as usize;
		let lot = |(at, group): (u32, &trainyard_client::GroupView)| {
			Lot::only(draw, at, group.result, recheck.segment)
		};
		let until = until.max(best.saturating_add(LEAST_WINDOW));
		let blocks = until.saturating_sub(best).saturating_sub(MARGIN);
		let window = self.block_time.saturating_mul(blocks);
		let now = Instant::now();
		let round = Round {
			job,
			spec: checked(job)?,
			audit,
			seed: seed_of(job)?,
			folder,
			draw,
			lots: (0u32..).zip(&audit.groups).map(lot).collect(),
			give_up: now + window / 2,
			give_up_searched: now + window / 4 * 3,
			stop,
			until,
			inputs: Default::default(),
			deaths: Default::default(),
			claims: Default::default(),
		};
		let (of, segment) = (recheck.of, recheck.segment);
		let text =
			format!("result {index}: segment {segment} of the evidence of {of} is replayed again");
		let fields = json!({ "round": audit.round, "result": index, "segment": segment, "of": of });
		self.report.job(job.id, "recheck", &text, fields.clone());
		let (verdict, _) = self.examine(&round, index).await?;
		let (said, accusations) = match &verdict {
			Verdict::Replayed(_) => ("it is right".to_owned(), Vec::new()),
			Verdict::Unavailable => ("the result cannot be had".to_owned(), Vec::new()),
			Verdict::False(charge) => {
				let of = (recheck, &evidence);
				let found = found_false((job, audit), of, charge, draw.seat);
				(charge.to_string(), found)
			}
		};
		let said_before = self.home.load_findings(folder)?;
		let mut record = self.home.load_standing(folder)?;
		record.rechecked = true;
		for accusation in accusations {
			if said_before.as_ref().is_none_or(|found| !accuses(found, &accusation.defendant)) {
				record.add(accusation);
			}
		}
		self.home.save_standing(folder, &record)?;
		let text = format!("result {index}: the evidence of {of} in segment {segment}: {said}");
		self.report.job(job.id, "rechecked", &text, fields);
		Ok(())
	}

	/// Sends the first accusation that is due.
	pub(super) async fn accuse(
		&self,
		job: &JobView,
		audit: &AuditView,
		folder: &Path,
		head: Head,
	) -> Outcome {
		let mut record = self.home.load_standing(folder)?;
		let mut accused = record.accused.iter_mut();
		let Some(accused) = accused.find(|accused| is_due(audit, accused)) else { return Ok(()) };
		let accusation = accused.accusation.0.clone();
		(accused.sent, accused.tries) = (true, accused.tries + 1);
		let key = accusation.clone();
		self.home.save_standing(folder, &record)?;
		let (who, what) = (
			*accusation.defendant.who(),
			charge::in_words(&accusation.target, &accusation.claimed, &accusation.leaves),
		);
		match self.sender.run(&calls::accuse(&accusation).on(head)).await {
			Ok(_) => {
				let text = format!("{who} is accused: {what}");
				let fields = json!({ "accused": who, "target": accusation.target });
				self.report.job(job.id, "accused", &text, fields);
				Ok(())
			}
			Err(e) => {
				// What certainly is not on chain can be sent again.
				if !e.is_uncertain() {
					let mut record = self.home.load_standing(folder)?;
					for accused in record.accused.iter_mut().filter(|it| it.accusation.0 == key) {
						accused.sent = false;
					}
					self.home.save_standing(folder, &record)?;
				}
				Err(TaskError::from(e).about(&format!("accusing {who}: {what}")))
			}
		}
	}

	/// Returns for how many rejections in a round the bond of this verifier suffices: the stake of its
	/// seat is that of one, and each further one puts as much of the rest of the bond at stake.
	pub(super) async fn most_rejections(&self, job: &JobView) -> usize {
		use trainyard_program::work::Parts;
		use trainyard_protocol::fees::{challenge_deposit, Rates};
		let (price, fee) = (job.terms.price_per_ut, Rates::RUNTIME.fee_per_ut);
		let deposit = checked(job)
			.ok()
			.and_then(|spec| challenge_deposit(&spec, &Parts::of(&spec), price, fee));
		let free = match self.chain.verifier(self.sender.account()).await {
			Ok(Some(view)) => view.bond.saturating_sub(view.locked),
			_ => 0,
		};
		let more = deposit.filter(|deposit| *deposit > 0).map_or(0, |deposit| free / deposit);
		1usize.saturating_add(usize::try_from(more).unwrap_or(usize::MAX))
	}
}
