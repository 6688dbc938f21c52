//! Finds what happened to a job between two looks at it.

use crate::roles::display;
use serde_json::{json, Value};
use trainyard_client::{JobView, RescuedView};
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
		let text =
			format!("{} verifiers are drawn: {}", audit.committee.len(), display::draws(audit));
		let draws = audit.audit_segments;
		let committee: Vec<_> = audit.committee.iter().map(|m| m.verifier).collect();
		out.push(change("committee", text, json!({ "draws": draws, "committee": committee })));
	}
	for member in &audit.committee {
		let old = then.and_then(|a| a.committee.iter().find(|m| m.verifier == member.verifier));
		if let Some(findings) = member.findings.as_ref() {
			if old.is_none_or(|m| m.findings.is_none()) {
				let verdicts: Vec<String> =
					findings.verdicts.iter().map(display::verdict_in_full).collect();
				let text = format!("verifier {}: {}", member.verifier, verdicts.join("; "));
				let fields = json!({ "verifier": member.verifier, "findings": findings });
				out.push(change("verdict", text, fields));
			}
		}
		if member.convicted && old.is_none_or(|m| !m.convicted) {
			let text = format!("verifier {}: the court convicted its evidence", member.verifier);
			out.push(change("convicted", text, json!({ "verifier": member.verifier })));
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
		for who in &group.convicted {
			if old.is_none_or(|g| !g.convicted.contains(who)) {
				let text = format!("result {index}: the court convicted {who}");
				out.push(change("convicted", text, json!({ "result": index, "trainer": who })));
			}
		}
		let known = |stored: &&RescuedView| old.is_some_and(|g| g.rescued.contains(stored));
		for stored in group.rescued.iter().filter(|stored| !known(stored)) {
			let RescuedView { piece, blob } = stored;
			let what = display::pieces(std::slice::from_ref(piece));
			let text =
				format!("result {index}: {what}, which verifiers lacked, is stored on chain");
			let fields = json!({ "result": index, "piece": piece, "root": blob });
			out.push(change("rescued", text, fields));
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
	use trainyard_client::{
		fake::{self, job},
		AccountId32, AuditView, GroupView, MemberView, ReplicaView,
	};
	use trainyard_protocol::{
		audit::{AuditPhase, Decision},
		job::{Ending, JobState, Reveal, WorkResult},
		pieces::Piece,
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
			true_root: H256::repeat_byte(1),
			model_root: H256::repeat_byte(2),
			segments: 12,
			diverged: false,
			location: Text::new("http://x").unwrap(),
		};
		let result = reveal.result();
		let shown =
			ReplicaView { commitment: Some(H256([5; 32])), reveal: Some(reveal), ..replica };
		let member = |findings: bool| MemberView {
			commitment: Some(H256([6; 32])),
			findings: findings.then(|| fake::findings(vec![fake::rejected(who, 7)])),
			..fake::member(verifier)
		};
		let audit = |phase, findings, decision| AuditView {
			committee: vec![member(findings)],
			..fake::audit(phase, vec![GroupView { decision, ..fake::group(result) }])
		};
		let auditing = JobView {
			replicas: vec![shown.clone()],
			audit: Some(audit(AuditPhase::Committing { until: 5 }, false, None)),
			..job(JobState::Auditing)
		};
		let lines = texts(Some(&training), &auditing);
		assert_eq!(lines.len(), 5, "{lines:?}");
		assert!(lines[2].ends_with("stopped early, after 12 of 30 segments"), "{lines:?}");
		let drawn = "1 verifiers are drawn: each seat draws 2 segments for itself";
		assert!(lines[4].contains(drawn), "{lines:?}");

		let ended = JobView {
			replicas: vec![ReplicaView { fate: Fate::Rejected, ..shown }],
			audit: Some(audit(AuditPhase::Done, true, Some(Decision::Rejected))),
			..job(JobState::Ended(Ending::Failed))
		};
		let lines = texts(Some(&auditing), &ended);
		assert_eq!(lines[0], "auditing -> failed");
		assert!(
			lines.iter().any(|l| l.contains("rejected: checkpoint 8 is none that")),
			"{lines:?}"
		);
		assert!(lines.iter().any(|l| l == "result 0 is rejected"), "{lines:?}");
		assert!(lines.last().unwrap().ends_with("deposit lost"), "{lines:?}");
		assert!(texts(Some(&ended), &ended).is_empty());
	}

	#[test]
	fn a_conviction_is_reported_once() {
		let [trainer, verifier] = [1, 2].map(|n| AccountId32([n; 32]));
		let root = H256::repeat_byte(1);
		let result = WorkResult {
			bundle_root: root,
			true_root: root,
			model_root: root,
			segments: 30,
			diverged: false,
		};
		let at = |convicted: bool| {
			let group = GroupView {
				convicted: if convicted { vec![trainer] } else { vec![] },
				..fake::group(result)
			};
			let member = MemberView { convicted, ..fake::member(verifier) };
			let audit = AuditView {
				committee: vec![member],
				..fake::audit(AuditPhase::Standing { until: 9 }, vec![group])
			};
			JobView { audit: Some(audit), ..job(JobState::Auditing) }
		};
		let (before, after) = (at(false), at(true));
		assert_eq!(
			texts(Some(&before), &after),
			[
				format!("verifier {verifier}: the court convicted its evidence"),
				format!("result 0: the court convicted {trainer}"),
			]
		);
		assert!(texts(Some(&after), &after).is_empty());
	}

	#[test]
	fn a_rescue_is_reported_once_over_rounds() {
		let (bundle_root, model_root) = (H256::repeat_byte(1), H256::repeat_byte(2));
		let result = WorkResult {
			bundle_root,
			true_root: bundle_root,
			model_root,
			segments: 30,
			diverged: false,
		};
		let group = |asked, rescued| GroupView { asked, rescued, ..fake::group(result) };
		let verifier = AccountId32([2; 32]);
		let at = |round, phase, asked, rescued, seated: bool| JobView {
			audit: Some(AuditView {
				round,
				committee: seated.then_some(fake::member(verifier)).into_iter().collect(),
				..fake::audit(phase, vec![group(asked, rescued), group(vec![], vec![])])
			}),
			..job(JobState::Auditing)
		};
		let blob = H256::repeat_byte(9);
		let root = || vec![RescuedView { piece: Piece::State(7), blob }];
		let rescue = AuditPhase::Rescue { until: 9 };
		let lacking = || vec![Piece::Leaves, Piece::State(7)];
		let before = at(0, rescue, vec![], vec![], true);
		let asked = at(0, rescue, lacking(), vec![], true);
		let stored = at(0, rescue, vec![], root(), true);
		let drawing = at(1, AuditPhase::Drawing { after: 9 }, vec![], root(), false);
		let seated = at(1, AuditPhase::Committing { until: 20 }, vec![], root(), true);
		let texts_of = texts(Some(&before), &asked);
		assert_eq!(texts_of, ["result 0: verifiers lack the list of checkpoints, checkpoint 7"]);
		let texts_of = texts(Some(&asked), &stored);
		let line = "result 0: checkpoint 7, which verifiers lacked, is stored on chain";
		assert_eq!(texts_of, [line]);
		assert_eq!(texts(Some(&stored), &drawing), ["audit, round 1: drawing a committee"]);
		let lines = texts(Some(&drawing), &seated);
		assert_eq!(lines.len(), 2, "{lines:?}");
		let drawn = "1 verifiers are drawn: each seat draws 2 segments of each result for itself";
		assert!(lines[1].contains(drawn), "{lines:?}");
	}
}
