//! What a seat does while results stand: it replays evidence of another seat that it is drawn for, and
//! accuses whoever it finds false.
//!
//! What is to be sent is in `standing.json` in the folder of the round, from before it is sent. Whether it
//! came on chain, the chain shows at each block: an accusation of which no dispute is seen is sent again
//! some blocks later. One whose dispute was seen is not, even if it was lost, and neither is one where
//! somebody lost against the defendant while nobody looked: a second one would cost another stake.

use super::{lots::Lot, round::Standing, unseen::sees_moved, Duty, Verifier};
use crate::roles::{
	blocks::LookError,
	checked,
	common::large::Teller,
	disputes::{
		accusing::dispute_of,
		bundles::{accusations, bundle_of, keep},
		parting::{self, forced_of, Shown},
	},
	store::{result_folder, Accused, FindingsRecord, StandingRecord},
	tasks::{Outcome, TaskError},
};
use serde_json::json;
use std::{
	path::Path,
	sync::{atomic::AtomicBool, Arc},
};
use trainyard_client::{
	calls,
	court::{Accusation, Defendant, Dispute},
	AccountId32, AuditView, GroupVerdict, GroupView, Head, JobView, RecheckView, Rejection,
	TxError,
};
use trainyard_proof::{
	bundle::Bundle,
	court::Claims,
	verify::{charge, Charge, Verdict},
};
use trainyard_protocol::{
	accusation::{Claimed, Target},
	audit::{AuditPhase, SegmentEvidence},
	job::BlockNumber,
	views::VerifierView,
};

/// What the chain answers where this seat accuses of the same already.
const ACCUSED: &str = "Court::AlreadyAccused";
/// What it answers where the bond does not cover an accusation.
const TOO_POOR: &str = "Verification::StakeTooSmall";
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
/// with what it is accused of: `accusations` returns those of all trainers of the result with this number
/// that can be accused. The findings accuse one of them already, but of the results with the numbers
/// `postponed`. `disputes` are all that run.
pub(super) fn unaccused(
	audit: &AuditView,
	found: &FindingsRecord,
	postponed: &[u32],
	disputes: &[&Dispute],
	accusations: impl Fn(usize, &Rejection) -> Vec<Accusation>,
) -> Vec<Accusation> {
	let mut all = Vec::new();
	for ((index, group), verdict) in (0u32..).zip(&audit.groups).zip(&found.findings.verdicts) {
		let GroupVerdict::Rejected(rejection) = verdict else { continue };
		if group.decision.is_some() {
			continue;
		}
		let is_known = |accusation: &Accusation| {
			let defendant = &accusation.defendant;
			let who = defendant.who();
			let is_accused = match *who == rejection.account {
				true => !postponed.contains(&index),
				// A blob is one trainer's.
				false => matches!(rejection.target, Target::Rescue { .. }),
			};
			is_accused
				|| group.convicted.contains(who)
				|| disputes.iter().any(|dispute| dispute.defendant == *defendant)
		};
		let of_group = accusations(index as usize, rejection);
		all.extend(of_group.into_iter().filter(|it| !is_known(it)));
	}
	all
}

/// Returns the accusations of all trainers that delivered a result and can be accused, of what a rejection
/// says of the bundle in `dir`. What a dispute with each of them needs is kept there.
pub(super) fn of_all(
	job: &JobView,
	group: &GroupView,
	rejection: &Rejection,
	dir: &Path,
) -> Vec<Accusation> {
	let (Ok(bundle), Ok(spec)) = (Bundle::open(dir), checked(job)) else { return Vec::new() };
	let (claims, forced) = (Claims::of(bundle.manifest()), forced_of(job, &group.result));
	let shown = Shown { result: &group.result, claims: &claims, forced: &forced };
	let what = (rejection.target, rejection.claimed);
	// Where it cannot be said of what they are accused, others say it.
	accusations((job, &spec), shown, what, dir).unwrap_or_default()
}

/// Returns what `found` says of bundles that were opened since and do not have it so: where a trace differs
/// and the leaf is not forced, or its true trace is another one than that of the replay. The trainer is
/// accused of each, with the leaves that `charge` returns of a result and a segment.
pub(super) fn unforced(
	job: &JobView,
	audit: &AuditView,
	found: &FindingsRecord,
	charge: impl Fn(usize, &SegmentEvidence) -> Option<Charge>,
) -> Vec<Accusation> {
	let mut all = Vec::new();
	for ((index, group), verdict) in (0..).zip(&audit.groups).zip(&found.findings.verdicts) {
		let GroupVerdict::Replayed(replayed) = verdict else { continue };
		let Some(bundle) = group.bundles.get(replayed.bundle as usize) else { continue };
		let (who, Some(forced)) = (bundle.trainer, &bundle.forced) else { continue };
		if group.convicted.contains(&who) {
			continue;
		}
		let is_forced = |evidence: &SegmentEvidence| {
			let index = evidence.segment.saturating_add(1);
			forced.iter().any(|leaf| leaf.index == index && leaf.trace == evidence.trace())
		};
		let mut differing = replayed.evidence.iter().filter(|e| e.differs.is_some());
		let Some(charge) = differing.find(|e| !is_forced(e)).and_then(|e| charge(index, e)) else {
			continue;
		};
		all.push(Accusation {
			defendant: Defendant::Trainer { job: job.id, who },
			target: charge.target,
			claimed: charge.claimed,
			leaves: charge.leaves.to_vec(),
		});
	}
	all
}

/// Returns the charge of the segment of this evidence, by the bundle in `dir`.
fn charged(dir: &Path, target: Target, evidence: &SegmentEvidence) -> Option<Charge> {
	let bundle = Bundle::open(dir).ok()?;
	Charge::new(bundle.manifest(), target, Claimed::End(evidence.end()))
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
	let is_evidence = charge.target == Target::Evidence(recheck.segment);
	let is_of_segment = is_evidence || charge.target == Target::Segment(recheck.segment);
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
	// What a seat says alone is no trainer's fault.
	let is_blob = is_evidence || matches!(charge.target, Target::Rescue { .. });
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

/// Returns an accusation of a seat with the leaves of the bundle at which that looked, which may be another
/// one than that in `dir`. `None` where it is not known.
fn in_its_bundle(
	(job, audit): (&JobView, &AuditView),
	recheck: &RecheckView,
	accusation: Accusation,
	dir: &Path,
) -> Option<Accusation> {
	let Defendant::Seat { job: id, who, bundle_root } = accusation.defendant else {
		return Some(accusation);
	};
	let group = audit.groups.get(recheck.group as usize)?;
	let seat = audit.committee.iter().find(|member| member.verifier == who)?;
	let verdicts = &seat.findings.as_ref()?.verdicts;
	let GroupVerdict::Replayed(replayed) = verdicts.get(recheck.group as usize)? else {
		return None;
	};
	// There are no numbers where there is nothing to choose.
	let Some(looked) = group.bundles.get(replayed.bundle as usize) else { return Some(accusation) };
	if looked.root == bundle_root {
		return Some(accusation);
	}
	let bundle = Bundle::open(dir).ok()?;
	let (claims, forced) = (Claims::of(bundle.manifest()), forced_of(job, &group.result));
	let shown = Shown { result: &group.result, claims: &claims, forced: &forced };
	let other = bundle_of(job, shown, looked.trainer)?;
	keep(dir, &checked(job).ok()?, job.seed?, &other).ok()?;
	let defendant = Defendant::Seat { job: id, who, bundle_root: looked.root };
	parting::accusation(defendant, other.shown(), accusation.target, accusation.claimed)
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

/// Returns whether something may be to be done about an accusation.
fn is_open(audit: &AuditView, accused: &Accused) -> bool {
	!accused.over && !is_convicted(audit, &accused.accusation.0.defendant)
}

/// Returns the first accusation that is to be sent at height `best`.
fn first_due<'a>(
	audit: &AuditView,
	record: &'a StandingRecord,
	best: BlockNumber,
) -> Option<&'a Accused> {
	let mut open = record.accused.iter().filter(|accused| is_open(audit, accused));
	open.find(|accused| accused.brought.is_due(best))
}

/// Returns what a seat owes while results stand at height `best`, by what it has done so far.
pub(super) fn due(
	audit: &AuditView,
	me: &AccountId32,
	record: &StandingRecord,
	best: BlockNumber,
) -> Vec<Duty> {
	let AuditPhase::Standing { .. } = audit.phase else { return Vec::new() };
	let mut seats = audit.committee.iter();
	let speaks = |seat: &trainyard_client::MemberView| {
		seat.verifier == *me && seat.findings.is_some() && !seat.convicted
	};
	if !seats.any(speaks) {
		return Vec::new();
	}
	let recheck = !record.rechecked && recheck_of(audit, me).is_some();
	let accuse = first_due(audit, record, best).is_some();
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
		let mine = seat.and_then(|seat| audit.committee.get(seat));
		let postponed = mine.map_or(&[][..], |member| member.postponed.as_slice());
		let rejects = |found: &&FindingsRecord| {
			let mut verdicts = found.findings.verdicts.iter();
			verdicts.any(|verdict| matches!(verdict, GroupVerdict::Rejected(_)))
		};
		if let (true, Some(found)) = (is_turn, found.filter(rejects)) {
			let disputes = self.chain.disputes(head.hash).await?;
			let disputes: Vec<&Dispute> = disputes.values().collect();
			let of = |index: usize, rejection: &Rejection| {
				let group = audit.groups.get(index);
				let dir = result_folder(folder, index);
				group.map_or_else(Vec::new, |group| of_all(job, group, rejection, &dir))
			};
			let all = unaccused(audit, found, postponed, &disputes, of);
			let mut new = Vec::new();
			record = self.home.change_standing(folder, |record| {
				for accusation in all {
					let who = *accusation.defendant.who();
					new.extend(record.add(accusation).then_some(who));
				}
			})?;
			for who in new.into_iter().filter(|_| !postponed.is_empty()) {
				let text = format!(
					"what {who} delivered is false, and the bond covers no further accusation: it is \
					 accused when so much of it is free. Raise it by --bond"
				);
				let fields = json!({ "round": audit.round, "accused": who });
				self.report.job(job.id, "too_poor", &text, fields);
			}
		}
		if let (AuditPhase::Standing { .. }, Some(found)) = (audit.phase, found) {
			let of = |index: usize, evidence: &SegmentEvidence| {
				let target = Target::Segment(evidence.segment);
				charged(&result_folder(folder, index), target, evidence)
			};
			let all = unforced(job, audit, found, of);
			record = self.home.change_standing(folder, |record| {
				for accusation in all {
					record.add(accusation);
				}
			})?;
		}
		record = self.look_at_accusations(audit, record, folder, head).await?;
		let mut due = due(audit, me, &record, head.number);
		// Its stake is taken by what it accused of before.
		let is_poor = first_due(audit, &record, head.number).is_some_and(|accused| accused.poor);
		let is_stake_taken = is_poor || !postponed.is_empty();
		let accuses = due.contains(&Duty::Accuse);
		if accuses && is_stake_taken && !self.covers_accusation(audit).await {
			due.retain(|duty| *duty != Duty::Accuse);
		}
		due.extend(self.looks_again(job, audit, &record));
		due.extend(sees_moved(audit, me, &record));
		Ok(due)
	}

	/// Notes what the chain shows of the accusations in `record`, and returns what is known of them then.
	async fn look_at_accusations(
		&self,
		audit: &AuditView,
		record: StandingRecord,
		folder: &Path,
		head: Head,
	) -> Result<StandingRecord, LookError> {
		if !record.accused.iter().any(|accused| is_open(audit, accused)) {
			return Ok(record);
		}
		let disputes = self.chain.disputes(head.hash).await?;
		let mut shown = Vec::new();
		for accused in record.accused.iter().filter(|accused| is_open(audit, accused)) {
			let accusation = &accused.accusation.0;
			let runs = dispute_of(&disputes, self.sender.account(), accusation);
			let won = self.chain.won(&accusation.defendant, head.hash).await?;
			shown.push((accusation.clone(), runs, won));
		}
		Ok(self.home.change_standing(folder, |record| {
			for (accusation, runs, won) in shown {
				let mut accused = record.accused.iter_mut();
				if let Some(accused) = accused.find(|it| it.accusation.0 == accusation) {
					accused.note(head.number, runs, won);
				}
			}
		})?)
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
		let lots = (0u32..).zip(&audit.groups).map(lot).collect();
		let of = Standing { job, audit, folder, until, best };
		let round = self.round_of(of, (draw, lots), stop)?;
		let (of, segment) = (recheck.of, recheck.segment);
		let text =
			format!("result {index}: segment {segment} of the evidence of {of} is replayed again");
		let fields = json!({ "round": audit.round, "result": index, "segment": segment, "of": of });
		self.report.job(job.id, "recheck", &text, fields.clone());
		let (verdict, _) = self.examine_standing(&round, index).await?;
		let (said, accusations) = match &verdict {
			Verdict::Replayed(found) => {
				// Of a leaf that is said to be forced, the trace is that seat's own word.
				let found = found.iter().find(|e| e.segment == segment);
				let found = found
					.filter(|found| evidence.differs.is_some() && found.end() != evidence.end());
				let target = Target::Evidence(segment);
				let charge =
					found.and_then(|found| charged(&result_folder(folder, index), target, found));
				match charge {
					None => ("it is right".to_owned(), Vec::new()),
					Some(charge) => {
						let found =
							found_false((job, audit), (recheck, &evidence), &charge, draw.seat);
						(charge.to_string(), found)
					}
				}
			}
			Verdict::Unavailable => ("the result cannot be had".to_owned(), Vec::new()),
			Verdict::False(charge) => {
				let of = (recheck, &evidence);
				let found = found_false((job, audit), of, charge, draw.seat);
				(charge.to_string(), found)
			}
		};
		let said_before = self.home.load_findings(folder)?;
		let dir = result_folder(folder, index);
		let its = |accusation| in_its_bundle((job, audit), recheck, accusation, &dir);
		let is_new = |accusation: &Accusation| {
			said_before.as_ref().is_none_or(|found| !accuses(found, &accusation.defendant))
		};
		let new: Vec<_> = accusations.into_iter().filter_map(its).filter(is_new).collect();
		self.home.change_standing(folder, |record| {
			record.rechecked = true;
			for accusation in new {
				record.add(accusation);
			}
		})?;
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
		let teller = Teller::Chain(self.sender.clone());
		self.accuse_by(&teller, (job, audit), folder, head).await
	}

	/// Does what [`Self::accuse`] does, by what sends calls.
	pub(super) async fn accuse_by(
		&self,
		teller: &Teller,
		(job, audit): (&JobView, &AuditView),
		folder: &Path,
		head: Head,
	) -> Outcome {
		let record = self.home.load_standing(folder)?;
		let Some(before) = first_due(audit, &record, head.number) else { return Ok(()) };
		let accusation = before.accusation.0.clone();
		let note = |change: &dyn Fn(&mut Accused)| {
			self.home.change_standing(folder, |record| {
				let mut accused = record.accused.iter_mut();
				if let Some(accused) = accused.find(|it| it.accusation.0 == accusation) {
					change(accused);
				}
			})
		};
		let won = self.chain.won(&accusation.defendant, head.hash).await?;
		note(&|it| {
			it.brought.sent = Some(head.number);
			(it.looked, it.won, it.poor) = (head.number, won, false);
		})?;
		let (who, what) = (
			*accusation.defendant.who(),
			charge::in_words(&accusation.target, &accusation.claimed, &accusation.leaves),
		);
		match teller.run(&calls::accuse(&accusation).on(head)).await {
			Ok(()) => {
				let text = format!("{who} is accused: {what}");
				let fields = json!({ "accused": who, "target": accusation.target });
				self.report.job(job.id, "accused", &text, fields);
				Ok(())
			}
			// The next look sees its dispute.
			Err(e) if e.failed_with(ACCUSED) => Ok(()),
			Err(e) => {
				note(&|it| {
					it.poor = e.failed_with(TOO_POOR);
					if matches!(e, TxError::Failed { .. }) && !it.poor {
						it.brought.refused += 1;
						it.over |= it.brought.is_refused();
					} else if !e.is_uncertain() {
						// What certainly is not on chain can be sent at once.
						it.brought.sent = before.brought.sent;
					}
				})?;
				Err(TaskError::from(e).about(&format!("accusing {who}: {what}")))
			}
		}
	}

	/// Returns whether what is free of the bond of this verifier covers an accusation.
	async fn covers_accusation(&self, audit: &AuditView) -> bool {
		let verifier = self.chain.verifier(self.sender.account()).await;
		let free = |view: VerifierView| view.bond.saturating_sub(view.locked);
		verifier.ok().flatten().is_some_and(|view| audit.challenge <= free(view))
	}
}
