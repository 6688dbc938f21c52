//! Finds what happened to a job between two looks at it.

use crate::roles::display;
use serde_json::{json, Value};
use trainyard_client::JobView;
use trainyard_protocol::job::Fate;

/// Something that happened to a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
	/// A word for programs.
	pub event: &'static str,
	/// A line for people.
	pub text: String,
	/// Details for programs.
	pub fields: Value,
}

fn change(event: &'static str, text: String, fields: Value) -> Change {
	Change { event, text, fields }
}

/// Returns what happened to a job between two looks.
pub fn changes(before: Option<&JobView>, now: &JobView) -> Vec<Change> {
	let mut out = Vec::new();
	let applicants = before.map_or(&[][..], |b| &b.applicants);
	for who in now.applicants.iter().filter(|who| !applicants.contains(who)) {
		out.push(change("applied", format!("{who} applied"), json!({ "trainer": who })));
	}
	let state = display::state(&now.state);
	match before.map(|b| display::state(&b.state)) {
		Some(then) if then == state => {}
		then => {
			let text = match then {
				Some(then) => format!("{then} -> {state}"),
				None => state.to_owned(),
			};
			out.push(change("state", text, json!({ "from": then, "state": state })));
		}
	}
	for replica in &now.replicas {
		let who = &replica.trainer;
		let then = before.and_then(|b| b.replicas.iter().find(|r| r.trainer == *who));
		if then.is_none() {
			out.push(change("drawn", format!("{who} trains"), json!({ "trainer": who })));
		}
		if replica.commitment.is_some() && then.is_none_or(|r| r.commitment.is_none()) {
			let text = format!("{who} committed to a result");
			out.push(change("committed", text, json!({ "trainer": who })));
		}
		if let Some(reveal) = replica.reveal.as_ref() {
			if then.is_none_or(|r| r.reveal.is_none()) {
				let trained = display::trained(reveal, &now.spec);
				let text = format!("{who} revealed bundle {:?}, {trained}", reveal.bundle_root);
				out.push(change("revealed", text, json!({ "trainer": who, "reveal": reveal })));
			}
		}
	}
	out.extend(audit_changes(before, now));
	for replica in &now.replicas {
		let who = &replica.trainer;
		let then = before.and_then(|b| b.replicas.iter().find(|r| r.trainer == *who));
		let decided = replica.fate != Fate::Working;
		if decided && then.is_none_or(|r| r.fate != replica.fate) {
			let text = format!("{who}: {}", display::fate(&replica.fate));
			out.push(change("fate", text, json!({ "trainer": who, "fate": replica.fate })));
		}
	}
	out
}

fn audit_changes(before: Option<&JobView>, now: &JobView) -> Vec<Change> {
	let mut out = Vec::new();
	let Some(audit) = now.audit.as_ref() else { return out };
	let earlier = before.and_then(|b| b.audit.as_ref());
	// A new round begins from nothing but what was decided and rescued.
	let then = earlier.filter(|a| a.round == audit.round);
	let phase = display::phase(&audit.phase);
	if then.map(|a| display::phase(&a.phase)) != Some(phase) {
		let text = format!("audit, round {}: {phase}", audit.round);
		out.push(change("audit", text, json!({ "round": audit.round, "phase": audit.phase })));
	}
	if !audit.committee.is_empty() && then.is_none_or(|a| a.committee.is_empty()) {
		let text = format!(
			"{} drawn, to be replayed by {} verifiers",
			display::drawn(&audit.groups),
			audit.committee.len()
		);
		let drawn: Vec<&[u32]> = audit.groups.iter().map(|group| &group.drawn[..]).collect();
		let committee: Vec<_> = audit.committee.iter().map(|m| m.verifier).collect();
		out.push(change("drawn_segments", text, json!({ "drawn": drawn, "committee": committee })));
	}
	for member in &audit.committee {
		let old = then.and_then(|a| a.committee.iter().find(|m| m.verifier == member.verifier));
		if let Some(findings) = member.findings.as_ref() {
			if old.is_none_or(|m| m.findings.is_none()) {
				let verdicts: Vec<String> = findings.iter().map(display::verdict_in_full).collect();
				let text = format!("verifier {}: {}", member.verifier, verdicts.join("; "));
				let fields = json!({ "verifier": member.verifier, "findings": findings });
				out.push(change("verdict", text, fields));
			}
		}
	}
	for (index, group) in audit.groups.iter().enumerate() {
		let old = earlier.and_then(|a| a.groups.get(index));
		if let Some(decision) = group.decision.as_ref() {
			if old.is_none_or(|g| g.decision.is_none()) {
				let text = format!("result {index} is {}", display::decision(decision));
				out.push(change(
					"decision",
					text,
					json!({ "result": index, "decision": decision }),
				));
			}
		}
		for root in &group.rescued {
			if old.is_none_or(|g| !g.rescued.contains(root)) {
				let text =
					format!("result {index}: what verifiers lacked of it is stored on chain");
				out.push(change("rescued", text, json!({ "result": index, "root": root })));
			}
		}
		if !group.asked.is_empty() && old.is_none_or(|g| g.asked != group.asked) {
			let lacking = display::pieces(&group.asked);
			let text = format!("result {index}: verifiers lack {lacking}");
			out.push(change("asked", text, json!({ "result": index, "pieces": group.asked })));
		}
	}
	out
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::{fake::job, AccountId32, AuditView, ReplicaView};
	use trainyard_protocol::{
		audit::{AuditPhase, Decision, GroupVerdict, Piece, RejectReason, SegmentEvidence},
		job::{Ending, JobState, Reveal, WorkResult},
		views::{GroupView, MemberView},
		Text, H256,
	};

	fn texts(before: Option<&JobView>, now: &JobView) -> Vec<String> {
		changes(before, now).into_iter().map(|c| c.text).collect()
	}

	#[test]
	fn a_change_of_state_is_one_line() {
		let (training, revealing) = (job(JobState::Training), job(JobState::Revealing));
		assert_eq!(texts(None, &training), ["training"]);
		assert_eq!(texts(Some(&training), &revealing), ["training -> revealing"]);
		assert!(texts(Some(&revealing), &revealing).is_empty());
	}

	#[test]
	fn a_whole_life_is_reported_once_each() {
		let who = AccountId32([1; 32]);
		let verifier = AccountId32([2; 32]);
		let open = job(JobState::Open);
		let applied = JobView { applicants: vec![who], ..open.clone() };
		assert_eq!(texts(Some(&open), &applied), [format!("{who} applied")]);

		let replica =
			ReplicaView { trainer: who, commitment: None, reveal: None, fate: Fate::Working };
		let training = JobView { replicas: vec![replica.clone()], ..job(JobState::Training) };
		assert_eq!(
			texts(Some(&applied), &training),
			["open -> training".to_owned(), format!("{who} trains")]
		);
		let reveal = Reveal {
			bundle_root: H256::repeat_byte(1),
			model_root: H256::repeat_byte(2),
			segments: 12,
			diverged: false,
			location: Text::new("http://x").unwrap(),
		};
		let result = reveal.result();
		let shown =
			ReplicaView { commitment: Some(H256([5; 32])), reveal: Some(reveal), ..replica };
		let evidence = SegmentEvidence {
			segment: 7,
			trace_root: H256::zero(),
			end_state: H256::zero(),
			idle_since: None,
		};
		let member = |findings: bool| MemberView {
			verifier,
			commitment: Some(H256([6; 32])),
			findings: findings.then(|| {
				vec![GroupVerdict::Reject(RejectReason::WrongSegment(evidence))].try_into().unwrap()
			}),
			location: None,
		};
		let audit = |phase, findings, decision| AuditView {
			round: 0,
			phase,
			groups: vec![GroupView {
				result,
				drawn: vec![7],
				decision,
				asked: vec![],
				stored: vec![],
				rescued: vec![],
			}],
			committee: vec![member(findings)],
		};
		let auditing = JobView {
			replicas: vec![shown.clone()],
			audit: Some(audit(AuditPhase::Committing { until: 5 }, false, None)),
			..job(JobState::Auditing)
		};
		let lines = texts(Some(&training), &auditing);
		assert_eq!(lines.len(), 5, "{lines:?}");
		assert!(lines[2].ends_with("stopped early, after 12 of 30 segments"), "{lines:?}");
		assert!(lines[4].contains("segments [7] drawn"), "{lines:?}");

		let ended = JobView {
			replicas: vec![ReplicaView { fate: Fate::Rejected, ..shown }],
			audit: Some(audit(AuditPhase::Done, true, Some(Decision::Rejected))),
			..job(JobState::Ended(Ending::Failed))
		};
		let lines = texts(Some(&auditing), &ended);
		assert_eq!(lines[0], "auditing -> failed");
		assert!(
			lines.iter().any(|l| l.contains("segment 7 has another end or trace")),
			"{lines:?}"
		);
		assert!(lines.iter().any(|l| l == "result 0 is rejected"), "{lines:?}");
		assert!(lines.last().unwrap().ends_with("deposit lost"), "{lines:?}");
		assert!(texts(Some(&ended), &ended).is_empty());
	}

	#[test]
	fn a_rescue_is_reported_once_over_rounds() {
		let (bundle_root, model_root) = (H256::repeat_byte(1), H256::repeat_byte(2));
		let result = WorkResult { bundle_root, model_root, segments: 30, diverged: false };
		let group = |segment, asked, rescued| GroupView {
			result,
			drawn: vec![segment],
			decision: None,
			asked,
			stored: vec![],
			rescued,
		};
		let verifier = AccountId32([2; 32]);
		let at = |round, phase, asked, rescued, seated: bool| JobView {
			audit: Some(AuditView {
				round,
				phase,
				groups: vec![group(7, asked, rescued), group(9, vec![], vec![])],
				committee: seated
					.then_some(MemberView {
						verifier,
						commitment: None,
						findings: None,
						location: None,
					})
					.into_iter()
					.collect(),
			}),
			..job(JobState::Auditing)
		};
		let root = || vec![H256::repeat_byte(9)];
		let rescue = AuditPhase::Rescue { until: 9 };
		let lacking = || vec![Piece::Manifest, Piece::State(7)];
		let before = at(0, rescue, vec![], vec![], true);
		let asked = at(0, rescue, lacking(), vec![], true);
		let stored = at(0, rescue, vec![], root(), true);
		let drawing = at(1, AuditPhase::Drawing { after: 9 }, vec![], root(), false);
		let seated = at(1, AuditPhase::Committing { until: 20 }, vec![], root(), true);
		let texts_of = texts(Some(&before), &asked);
		assert_eq!(texts_of, ["result 0: verifiers lack the manifest, checkpoint 7"]);
		let texts_of = texts(Some(&asked), &stored);
		assert_eq!(texts_of, ["result 0: what verifiers lacked of it is stored on chain"]);
		assert_eq!(texts(Some(&stored), &drawing), ["audit, round 1: drawing a committee"]);
		let lines = texts(Some(&drawing), &seated);
		assert_eq!(lines.len(), 2, "{lines:?}");
		assert!(lines[1].contains("[7] of result 0, [9] of result 1 drawn"), "{lines:?}");
		assert!(lines[1].contains("by 1 verifiers"), "{lines:?}");
	}
}
