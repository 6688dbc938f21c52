//! Says for each role what it does now, or why nothing comes. It is a pure function of what the chain says
//! and of what the roles told.

use super::{
	facts::Facts,
	part::{Part, Relation},
};
use crate::roles::{display, disputes::driver::is_open, machine::Present, plan::replica_of};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use trainyard_client::{amount, JobView};
use trainyard_protocol::{
	job::{Fate, JobState},
	stint::ReportPhase,
	views::Standing,
	JobId,
};

/// Jobs of which the reason is told one by one.
const MOST: usize = 3;

/// What the roles told, as far as it says why something does not come.
#[derive(Clone, Debug, Default)]
pub struct Told {
	/// Why jobs are not taken.
	not_taken: BTreeMap<JobId, String>,
	/// Why results of jobs are not looked at.
	not_looked_at: BTreeMap<JobId, String>,
	/// Jobs whose results were looked at.
	looked_at: BTreeMap<JobId, ()>,
	/// The last that was told of each task that has not ended.
	tasks: BTreeMap<u64, String>,
	/// The last thing that went wrong, by role.
	problems: BTreeMap<String, String>,
}

impl Told {
	/// Takes note of an event of a role.
	pub fn note(&mut self, event: &Map<String, Value>) {
		let text = |name: &str| event.get(name).and_then(Value::as_str).map(str::to_owned);
		let job =
			event.get("job").and_then(Value::as_u64).and_then(|job| JobId::try_from(job).ok());
		let reason = text("reason");
		let (Some(name), Some(role)) = (text("event"), text("role")) else { return };
		if let Some(task) = event.get("task").and_then(Value::as_u64) {
			match name.strip_prefix("task_") {
				Some("ended") => drop(self.tasks.remove(&task)),
				Some(word) => drop(self.tasks.insert(task, word.to_owned())),
				None => {}
			}
		}
		match (name.as_str(), job, reason) {
			("not_taken", Some(job), Some(reason)) => {
				self.not_taken.insert(job, reason);
			}
			("applied" | "rehearsed", Some(job), _) => {
				self.not_taken.remove(&job);
			}
			("not_looked_at", Some(job), Some(reason)) => {
				self.not_looked_at.insert(job, reason);
			}
			("looked_at" | "found_false", Some(job), _) => {
				self.looked_at.insert(job, ());
			}
			("failed_attempt" | "problem", _, Some(reason)) => {
				self.problems.insert(role, reason);
			}
			// What worked after it has mended it.
			("stint" | "stint_reported" | "trained" | "committed" | "revealed", ..) => {
				self.problems.remove(&role);
			}
			_ => {}
		}
	}

	/// Forgets all jobs but these.
	pub fn retain(&mut self, jobs: &[JobView]) {
		let is_known = |id: &JobId| jobs.iter().any(|job| job.id == *id);
		self.not_taken.retain(|id, _| is_known(id));
		self.not_looked_at.retain(|id, _| is_known(id));
		self.looked_at.retain(|id, _| is_known(id));
	}
}

/// Says what a role does, or why nothing comes.
pub fn reason(role: Part, facts: &Facts, told: &Told, present: &[Present]) -> String {
	if let Some(health) = facts.health.filter(|health| health.is_syncing) {
		return format!(
			"the node is syncing, with {} peer(s): nothing can be seen before",
			health.peers
		);
	}
	let text = match role {
		Part::Trainer => trainer(facts, told),
		Part::Driller => driller(facts, present),
		Part::Verifier => verifier(facts),
		Part::Whistleblower => whistleblower(facts, told),
		Part::Tasks => tasks(told),
		Part::Node | Part::Disputes | Part::Account => return String::new(),
	};
	match told.problems.get(role.name()) {
		Some(problem) => format!("{text}. The last trouble: {problem}"),
		None => text,
	}
}

fn numbers(jobs: &[&JobView]) -> String {
	jobs.iter().map(|job| job.id.to_string()).collect::<Vec<_>>().join(", ")
}

/// Writes reasons of jobs, the first few one by one.
fn listed(reasons: &[(JobId, &str)]) -> String {
	let mut texts: Vec<String> =
		reasons.iter().take(MOST).map(|(job, why)| format!("job {job}: {why}")).collect();
	if let Some(more) = reasons.len().checked_sub(MOST).filter(|more| *more > 0) {
		texts.push(format!("and {more} more"));
	}
	texts.join("; ")
}

fn trainer(facts: &Facts, told: &Told) -> String {
	if facts.trainer.is_none() {
		return match facts.free_at {
			Some(at) => {
				format!("the account leaves, and its bond is free at block {at}: no new jobs")
			}
			None => "the account is no trainer: start with --bond".to_owned(),
		};
	}
	let me = &facts.me;
	let working: Vec<&JobView> = facts
		.jobs
		.iter()
		.filter(|job| replica_of(job, me).is_some_and(|mine| mine.fate == Fate::Working))
		.collect();
	let open: Vec<&JobView> = facts.jobs.iter().filter(|job| job.state == JobState::Open).collect();
	let (applied, rest): (Vec<&JobView>, Vec<&JobView>) =
		open.iter().partition(|job| job.applicants.contains(me));
	let mut texts = Vec::new();
	for job in &working {
		texts.push(format!(
			"job {} is {}, until block {}",
			job.id,
			display::state(&job.state),
			job.deadline
		));
	}
	if !applied.is_empty() {
		texts.push(format!("applied for job {}: it waits for the draw", numbers(&applied)));
	}
	let refused: Vec<(JobId, &str)> = rest
		.iter()
		.filter_map(|job| Some((job.id, told.not_taken.get(&job.id)?.as_str())))
		.collect();
	let prepared = rest.len() - refused.len();
	if prepared > 0 {
		texts.push(format!("{prepared} open job(s) are being fetched and tried"));
	}
	if !refused.is_empty() {
		texts.push(format!("{} job(s) open and not taken: {}", refused.len(), listed(&refused)));
	}
	match texts.is_empty() {
		true => "no job is open".to_owned(),
		false => texts.join("; "),
	}
}

fn driller(facts: &Facts, present: &[Present]) -> String {
	if facts.trainer.is_none() {
		return "the account is no trainer, which a driller must be: start with --bond".to_owned();
	}
	let mut texts = Vec::new();
	match &facts.stint {
		Some(stint) => {
			let left = stint.from.saturating_sub(facts.best);
			texts.push(match left {
				0 => format!("stint {} is to be reported", stint.number),
				_ => format!(
					"stint {} can be reported from block {} on, in {left} block(s)",
					stint.number, stint.from
				),
			});
			if let Some(first) = present.first() {
				texts.push(format!("laps rest while {} is computed ({})", first.what, first.role));
			}
		}
		None => texts.push("no stint yet: one begins at the next block".to_owned()),
	}
	if let Some(report) = &facts.report {
		texts.push(match report.phase {
			ReportPhase::Drawing => {
				format!("report {} waits for the draw of its check, or for verifiers", report.id)
			}
			ReportPhase::Checking => {
				format!("report {} is checked, until block {}", report.id, report.until)
			}
			ReportPhase::Opening => {
				format!("report {} is to be opened, until block {}", report.id, report.until)
			}
		});
	}
	texts.join("; ")
}

fn verifier(facts: &Facts) -> String {
	let Some(view) = &facts.verifier else {
		return "the account is no verifier: start with --bond or --verifier-bond".to_owned();
	};
	let audited: Vec<&JobView> =
		facts.jobs.iter().filter(|job| job.state == JobState::Auditing).collect();
	let mine: Vec<&JobView> = audited
		.iter()
		.filter(|job| {
			let committee = job.audit.iter().flat_map(|audit| &audit.committee);
			committee.into_iter().any(|member| member.verifier == facts.me)
		})
		.copied()
		.collect();
	let mut texts = Vec::new();
	match view.standing {
		Standing::Active => {}
		Standing::Paused => texts.push(format!(
			"paused, with {} seats of a hundred without a verdict: it comes back by itself",
			view.absences
		)),
		Standing::Waiting { .. } if view.vrf_key.is_none() => {
			texts.push("not in the pool: its VRF key is not set yet".to_owned());
		}
		Standing::Waiting { since } => texts.push(format!(
			"not in the pool since block {since}: it is full of larger bonds, and a larger one may \
			 bring a place at the end of a day"
		)),
		Standing::Left { since } => {
			texts.push(format!("not in the pool: it left at block {since}"));
		}
	}
	if !mine.is_empty() {
		texts.push(format!("it sits on the committee of job {}", numbers(&mine)));
	}
	if facts.checks > 0 {
		texts.push(format!("it checks {} report(s) of drillers", facts.checks));
	}
	if texts.is_empty() {
		let counted = amount::format(view.counted);
		texts.push(match audited.len() {
			0 => format!("in the pool, {counted} of its bond count; no job is audited"),
			all => format!(
				"in the pool, {counted} of its bond count; {all} job(s) are audited by others who were \
				 drawn"
			),
		});
	}
	texts.join("; ")
}

fn whistleblower(facts: &Facts, told: &Told) -> String {
	let stands = facts.jobs.iter().filter(|job| is_open(job));
	let (own, others): (Vec<&JobView>, Vec<&JobView>) = stands.partition(|job| {
		let relation = Relation::of(job, &facts.me);
		matches!(relation, Some(Relation::Trains | Relation::Checks))
	});
	let refused: Vec<(JobId, &str)> = others
		.iter()
		.filter_map(|job| Some((job.id, told.not_looked_at.get(&job.id)?.as_str())))
		.collect();
	let done = others.iter().filter(|job| told.looked_at.contains_key(&job.id)).count();
	let waiting = others.len().saturating_sub(refused.len()).saturating_sub(done);
	let mut texts = Vec::new();
	if waiting > 0 {
		texts.push(format!("{waiting} job(s) have results that stand and wait to be looked at"));
	}
	if done > 0 {
		texts.push(format!("{done} job(s) have results that were looked at"));
	}
	if !refused.is_empty() {
		texts.push(format!("not looked at: {}", listed(&refused)));
	}
	match (texts.is_empty(), own.len()) {
		(true, 0) => "no result stands that could be looked at".to_owned(),
		(true, own) => format!("only results stand that this account trained or audits ({own})"),
		(false, _) => texts.join("; "),
	}
}

fn tasks(told: &Told) -> String {
	let at_hand = told.tasks.iter().take(MOST).map(|(task, word)| format!("task {task}: {word}"));
	let mut texts: Vec<String> = at_hand.collect();
	match told.tasks.len() {
		0 => texts.push("no task is open that it would take".to_owned()),
		all if all > MOST => texts.push(format!("and {} more", all - MOST)),
		_ => {}
	}
	texts.join("; ")
}

#[cfg(test)]
#[path = "reasons_tests.rs"]
mod tests;
