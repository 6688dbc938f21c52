//! Reports failures of tasks, each reason once.

use super::{Outcome, TaskError};
use crate::roles::{recent::Recent, report::Reporter};
use serde_json::{json, Map, Value};
use std::{
	fmt::{Debug, Display},
	hash::Hash,
};
use tracing::debug;
use trainyard_protocol::JobId;

/// The name of a task in reports of its failures.
#[derive(Clone, Debug)]
pub struct TaskName {
	/// The job that it is about.
	job: Option<JobId>,
	/// What else it is about.
	subject: Option<String>,
	/// What is attempted, in one of a few words, which programs count.
	action: String,
	fields: Map<String, Value>,
	again: &'static str,
	hopeless: &'static str,
}

impl TaskName {
	/// Names a task after what it attempts, in one word.
	pub fn new(action: impl Into<String>) -> Self {
		Self {
			job: None,
			subject: None,
			action: action.into(),
			fields: Map::new(),
			again: "it will be tried again",
			hopeless: "it will not be tried again",
		}
	}

	/// Adds the job that it is about.
	pub fn of_job(self, job: JobId) -> Self {
		Self { job: Some(job), ..self }
	}

	/// Adds what it is about, if that is no job.
	pub fn of(self, subject: impl Into<String>) -> Self {
		Self { subject: Some(subject.into()), ..self }
	}

	/// Adds a detail for programs.
	pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
		self.fields.insert(field.into(), value.into());
		self
	}

	/// Says what follows if it failed.
	pub fn or_else(self, again: &'static str) -> Self {
		Self { again, ..self }
	}

	/// Says what follows if it is hopeless.
	pub fn or_never(self, hopeless: &'static str) -> Self {
		Self { hopeless, ..self }
	}
}

impl Display for TaskName {
	fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
		if let Some(subject) = &self.subject {
			write!(f, "{subject}: ")?;
		}
		write!(f, "{}", self.action)
	}
}

/// Writes the name of a variant as a word for reports.
pub fn word(variant: &impl Debug) -> String {
	format!("{variant:?}").to_lowercase()
}

/// What was last reported of each task.
#[derive(Debug)]
pub struct Failures<K> {
	last: Recent<K, String>,
}

impl<K> Default for Failures<K> {
	fn default() -> Self {
		Self { last: Recent::default() }
	}
}

impl<K: Clone + Eq + Hash> Failures<K> {
	/// Takes note of how the task `key`, called `name`, ended. Reports it if it failed, and not for
	/// the same reason as the last time.
	pub fn note(&mut self, report: &Reporter, key: &K, name: &TaskName, outcome: &Outcome) {
		let (reason, next) = match outcome {
			Ok(()) => {
				self.last.remove(key);
				return;
			}
			// The next look at the chain shows it.
			Err(error @ (TaskError::Transient(_) | TaskError::Stopped)) => {
				return debug!("{name}: {error}");
			}
			Err(TaskError::Hopeless(reason)) => (reason, name.hopeless),
			Err(TaskError::Failed(reason)) => (reason, name.again),
		};
		if self.last.insert(key.clone(), reason.clone()).as_ref() == Some(reason) {
			return;
		}
		let mut fields = name.fields.clone();
		fields.insert("action".into(), json!(name.action));
		fields.insert("reason".into(), json!(reason));
		let (text, fields) = (format!("{name}: {reason}; {next}"), Value::Object(fields));
		match name.job {
			Some(job) => report.job(job, "failed_attempt", &text, fields),
			None => report.general("failed_attempt", &text, fields),
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::units::Step;

	#[test]
	fn a_reason_is_reported_once_until_it_changes_or_passes() {
		let dir = tempfile::tempdir().unwrap();
		let log = dir.path().join("events.jsonl");
		let report = Reporter::new("test", true, Some(&log));
		let mut failures = Failures::default();
		let name = TaskName::new("fetch").of_job(3);
		let mut note = |outcome: Outcome| {
			failures.note(&report, &"key", &name, &outcome);
			std::fs::read_to_string(&log).map_or(0, |text| text.lines().count())
		};
		let failed = |why: &str| Err(TaskError::failed(why));
		let transient = || Err(TaskError::Transient("away".into()));
		let counts = [
			note(transient()),
			note(Err(TaskError::Stopped)),
			note(failed("full")),
			note(failed("full")),
			note(transient()),
			note(failed("full")),
			note(failed("slow")),
			note(Ok(())),
			note(failed("slow")),
		];
		assert_eq!(counts, [0, 0, 1, 1, 1, 1, 2, 2, 3]);
	}

	#[test]
	fn a_report_says_what_of_what_and_what_follows() {
		let dir = tempfile::tempdir().unwrap();
		let log = dir.path().join("events.jsonl");
		let report = Reporter::new("test", true, Some(&log));
		let mut failures = Failures::default();
		let of_unit = TaskName::new(word(&Step::Compute)).of("assignment 3").with("assignment", 3);
		assert_eq!(of_unit.to_string(), "assignment 3: compute");
		let job = TaskName::new("fetch").of_job(7).or_never("the job is not taken");
		failures.note(&report, &1, &of_unit, &Err(TaskError::failed("full")));
		failures.note(&report, &2, &job, &Err(TaskError::Hopeless("404".into())));
		let text = std::fs::read_to_string(&log).unwrap();
		let events: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
		assert_eq!((&events[0]["assignment"], &events[0]["reason"]), (&json!(3), &json!("full")));
		assert_eq!((&events[1]["job"], &events[1]["action"]), (&json!(7), &json!("fetch")));
		assert!(events.iter().all(|event| event["event"] == "failed_attempt"));
	}
}
