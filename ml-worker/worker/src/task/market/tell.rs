//! Tasks in words.

use super::plan::output_text;
use serde_json::{json, Value};
use trainyard_client::{
	amount,
	tasks::{ReplicaView, Side, TaskView},
};
use trainyard_task::{
	views::{Phase, Stage, TaskEnd},
	Form,
};

/// What is said of a claim that is out.
const OUT: &str = ", out: convicted, or its output was not stored in time";

/// Returns where a task stands, in words.
pub fn phase(view: &TaskView) -> String {
	match &view.phase {
		Phase::Open { until } => format!("takes applications until block {until}"),
		Phase::Drawing { .. } => "its replicas are drawn".into(),
		Phase::Computing { until } => format!("is computed until block {until}"),
		Phase::Sampling { .. } => "it is drawn whether it is audited".into(),
		Phase::Auditing { until, .. } => {
			format!("is computed again by an auditor until block {until}")
		}
		Phase::Revealing { until, .. } => format!("claims are shown until block {until}"),
		Phase::Challenging { until } if view.disputes.is_empty() => {
			format!("can be challenged until block {until}")
		}
		Phase::Challenging { .. } => match view.disputes.len() {
			1 => "a dispute runs".into(),
			many => format!("{many} disputes run"),
		},
		Phase::Ended(end) => ending(*end).into(),
	}
}

/// Returns how a task ended, in words.
pub fn ending(end: TaskEnd) -> &'static str {
	match end {
		TaskEnd::Accepted(_) => "accepted: its replicas are paid",
		TaskEnd::Cancelled => "taken back",
		TaskEnd::Untaken => "too few applied: everything went back",
		TaskEnd::Unaudited => "it was to be audited and no verifier did it: everything went back",
		TaskEnd::Undelivered => "nobody delivered",
		TaskEnd::Refuted => "what was claimed was false",
		TaskEnd::Unresolved => "claims that differ were left, and nobody showed which is false",
	}
}

/// Returns the name of a phase for programs.
pub fn phase_name(phase: &Phase) -> &'static str {
	match phase {
		Phase::Open { .. } => "open",
		Phase::Drawing { .. } => "drawing",
		Phase::Computing { .. } => "computing",
		Phase::Sampling { .. } => "sampling",
		Phase::Auditing { .. } => "auditing",
		Phase::Revealing { .. } => "revealing",
		Phase::Challenging { .. } => "challenging",
		Phase::Ended(TaskEnd::Accepted(_)) => "accepted",
		Phase::Ended(TaskEnd::Cancelled) => "cancelled",
		Phase::Ended(TaskEnd::Untaken) => "untaken",
		Phase::Ended(TaskEnd::Unaudited) => "unaudited",
		Phase::Ended(TaskEnd::Undelivered) => "undelivered",
		Phase::Ended(TaskEnd::Refuted) => "refuted",
		Phase::Ended(TaskEnd::Unresolved) => "unresolved",
	}
}

/// Returns what a task computes, in words.
pub fn form(form: &Form) -> String {
	match form {
		Form::Step { steps } => format!("{steps} steps"),
		Form::Map { count, most } => format!("a map over {count} indices, records of {most} bytes"),
	}
}

fn computes(view: &TaskView, one: &ReplicaView) -> String {
	match (one.claim, one.commitment) {
		(Some(claim), _) => {
			let convicted =
				view.claims.get(usize::from(claim)).is_some_and(|(_, convicted)| *convicted);
			format!("{}, claim {claim}{}", one.who, if convicted { OUT } else { "" })
		}
		(None, Some(_)) => format!("{}, has committed", one.who),
		(None, None) => one.who.to_string(),
	}
}

fn side(side: &Side) -> String {
	match side {
		Side::Claim(number) => format!("claim {number}"),
		Side::Challenger { who, .. } => format!("{who}, who challenges"),
	}
}

/// Returns all of a task, as lines.
pub fn lines(view: &TaskView) -> String {
	let mut out = format!("task {}      {}\n", view.id, phase(view));
	let mut add = |name: &str, text: String| out.push_str(&format!("{name:<12}{text}\n"));
	add("submitter", view.submitter.to_string());
	add("computes", form(&view.spec.form));
	add("module", format!("{:?}, {} bytes", view.spec.module.root, view.spec.module.bytes));
	add("input", format!("{:?}, {} bytes", view.spec.input.root, view.spec.input.bytes));
	let limits = &view.spec.limits;
	add(
		"a step",
		format!(
			"{} units of fuel, {} pages, {} bytes at most",
			limits.fuel, limits.pages, limits.state
		),
	);
	let terms = &view.terms;
	add(
		"offers",
		format!(
			"{} to each of {} replicas, for a deposit of {}; audited with {:.1} %, for {}",
			amount::format(terms.reward),
			terms.replicas,
			amount::format(terms.deposit),
			f64::from(terms.audit) / 10.0,
			amount::format(terms.audit_fee)
		),
	);
	for who in &view.applicants {
		add("applied", who.to_string());
	}
	for replica in &view.replicas {
		add("replica", computes(view, replica));
	}
	if let Some(auditor) = &view.auditor {
		add("auditor", computes(view, auditor));
	}
	for (number, (claim, convicted)) in view.claims.iter().enumerate() {
		let convicted = if *convicted { OUT } else { "" };
		add(
			&format!("claim {number}"),
			format!("{:?}, {}{convicted}", claim.root, output_text(&claim.output)),
		);
	}
	for dispute in &view.disputes {
		let [a, b] = &dispute.sides;
		let stage = match dispute.stage {
			Stage::Descending(descent) => {
				format!("level {} of the trees, until block {}", descent.level, dispute.until)
			}
			Stage::Executing { index, .. } => {
				format!("step {index} is to be executed, until block {}", dispute.until)
			}
		};
		add(
			&format!("dispute {}", dispute.number),
			format!("{} against {}: {stage}", side(a), side(b)),
		);
	}
	out
}

/// Returns all of a task for programs.
pub fn json(view: &TaskView) -> Value {
	let one = |one: &ReplicaView| json!({ "account": one.who, "committed": one.commitment.is_some(), "claim": one.claim });
	let (kind, units, record) = match view.spec.form {
		Form::Step { steps } => ("step", steps, None),
		Form::Map { count, most } => ("map", count, Some(most)),
	};
	let terms = &view.terms;
	let claims: Vec<_> = view
		.claims
		.iter()
		.map(|(claim, convicted)| {
			json!({
				"root": format!("{:?}", claim.root),
				"bytes": claim.output.file().map(|file| file.bytes),
				"output": claim.output.file().map(|file| format!("{:?}", file.root)),
				"convicted": convicted,
			})
		})
		.collect();
	let disputes: Vec<_> = view
		.disputes
		.iter()
		.map(|dispute| {
			let step = match dispute.stage {
				Stage::Descending(_) => None,
				Stage::Executing { index, .. } => Some(index),
			};
			let sides: Vec<_> = dispute.sides.iter().map(side).collect();
			json!({ "number": dispute.number, "sides": sides, "step": step, "until": dispute.until })
		})
		.collect();
	json!({
		"task": view.id,
		"phase": phase_name(&view.phase),
		"submitter": view.submitter,
		"form": kind,
		"units": units,
		"record": record,
		"module": format!("{:?}", view.spec.module.root),
		"input": format!("{:?}", view.spec.input.root),
		"fuel": view.spec.limits.fuel,
		"reward": terms.reward.to_string(),
		"deposit": terms.deposit.to_string(),
		"audit": f64::from(terms.audit) / 1_000.0,
		"audit_fee": terms.audit_fee.to_string(),
		"applicants": view.applicants,
		"replicas": view.replicas.iter().map(one).collect::<Vec<_>>(),
		"auditor": view.auditor.as_ref().map(one),
		"claims": claims,
		"disputes": disputes,
	})
}
