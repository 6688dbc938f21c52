//! Reports events to a role's owner: a line per event on the terminal (or a JSON object with
//! `--json`), and the same as JSON in the folder's `events.jsonl` for programs that look later. A
//! full `events.jsonl` becomes `events.jsonl.1`, in the place of the one before. Events and errors are counted in the role's metrics.

use super::metrics::Metrics;
use crate::terminal;
use serde_json::{json, Map, Value};
use std::{
	fs::OpenOptions,
	io::Write,
	path::{Path, PathBuf},
	time::{SystemTime, UNIX_EPOCH},
};
use tokio::sync::mpsc::UnboundedSender;
use tracing::warn;
use trainyard_protocol::JobId;

/// Bytes after which the file of events is full: tens of thousands of events.
const MAX_LOG: u64 = 16 * 1024 * 1024;

/// Reports events. Clones report to the same place.
#[derive(Clone, Debug)]
pub struct Reporter {
	role: &'static str,
	json: bool,
	log: Option<PathBuf>,
	metrics: Metrics,
	/// Who else hears of events.
	heard: Option<UnboundedSender<Map<String, Value>>>,
}

impl Reporter {
	/// Makes a reporter for `role`; `json` makes its lines JSON, `log` is the file of events.
	pub fn new(role: &'static str, json: bool, log: Option<&Path>) -> Self {
		let (log, metrics) = (log.map(Path::to_owned), Metrics::new(role));
		Self { role, json, log, metrics, heard: None }
	}

	/// Lets somebody else hear of events, too, as they are written.
	pub fn heard_by(self, heard: UnboundedSender<Map<String, Value>>) -> Self {
		Self { heard: Some(heard), ..self }
	}

	/// Returns the role's metrics.
	pub fn metrics(&self) -> &Metrics {
		&self.metrics
	}

	/// Reports `event` about a job: `text` for people, `fields` (an object) for programs.
	pub fn job(&self, job: JobId, event: &str, text: &str, fields: Value) {
		let mut object = fields_of(fields);
		object.insert("job".into(), json!(job));
		self.write(event, &format!("job {job}: {text}"), object);
	}

	/// Reports an event that is not about a job.
	pub fn general(&self, event: &str, text: &str, fields: Value) {
		self.write(event, text, fields_of(fields));
	}

	fn write(&self, event: &str, text: &str, mut object: Map<String, Value>) {
		self.metrics.event(event);
		if matches!(event, "failed_attempt" | "problem") {
			self.metrics.error(object.get("action").and_then(Value::as_str).unwrap_or(event));
		}
		let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
		object.insert("time".into(), json!(time.as_millis() as u64));
		object.insert("role".into(), json!(self.role));
		object.insert("event".into(), json!(event));
		if let Some(heard) = &self.heard {
			let _ = heard.send(object.clone());
		}
		let line = terminal::json(&Value::Object(object).to_string());
		let text = terminal::line(text);
		let mut out = std::io::stdout().lock();
		// A closed pipe must not stop a daemon in the middle of a job.
		let _ = writeln!(out, "{}", if self.json { &line } else { &text });
		let _ = out.flush();
		if let Some(path) = &self.log {
			if let Err(e) = append(path, &line, MAX_LOG) {
				warn!("cannot write {}: {e}", path.display());
			}
		}
	}
}

/// Appends a line to the file at `path`. If it has `most` bytes, it is put aside first, and the one
/// that was put aside before is gone.
fn append(path: &Path, line: &str, most: u64) -> std::io::Result<()> {
	if std::fs::metadata(path).is_ok_and(|about| about.len() >= most) {
		let mut aside = path.to_owned().into_os_string();
		aside.push(".1");
		std::fs::rename(path, aside)?;
	}
	let mut file = OpenOptions::new().create(true).append(true).open(path)?;
	writeln!(file, "{line}")
}

fn fields_of(value: Value) -> Map<String, Value> {
	match value {
		Value::Object(map) => map,
		Value::Null => Map::new(),
		other => Map::from_iter([("value".to_owned(), other)]),
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn events_are_appended_as_json() {
		let dir = tempfile::tempdir().unwrap();
		let path = dir.path().join("events.jsonl");
		let reporter = Reporter::new("trainer", false, Some(&path));
		reporter.job(3, "trained", "trained in 2 s", json!({ "seconds": 2.0 }));
		reporter.general("started", "started", Value::Null);
		let text = std::fs::read_to_string(&path).unwrap();
		let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
		assert_eq!(lines.len(), 2);
		assert_eq!(lines[0]["job"], 3);
		assert_eq!(lines[0]["event"], "trained");
		assert_eq!(lines[0]["seconds"], 2.0);
		assert_eq!(lines[1]["role"], "trainer");
		assert!(lines[1]["time"].as_u64().unwrap() > 0);
	}

	#[test]
	fn somebody_else_hears_of_events() {
		let (heard, mut ears) = tokio::sync::mpsc::unbounded_channel();
		let reporter = Reporter::new("trainer", true, None).heard_by(heard);
		reporter.clone().job(3, "not_taken", "not taken: dear", json!({ "reason": "dear" }));
		let event = ears.try_recv().unwrap();
		assert_eq!((&event["event"], &event["job"]), (&json!("not_taken"), &json!(3)));
		assert_eq!((&event["role"], &event["reason"]), (&json!("trainer"), &json!("dear")));
		drop(ears);
		reporter.general("stopped", "nobody listens any more", Value::Null);
	}

	#[test]
	fn what_strangers_wrote_forges_no_event() {
		let dir = tempfile::tempdir().unwrap();
		let path = dir.path().join("events.jsonl");
		let reporter = Reporter::new("trainer", false, Some(&path));
		let url = "http://\x1b[2J\n{\"event\":\"paid\"}\u{202e}";
		reporter.job(3, "failed_attempt", url, json!({ "reason": url }));
		let text = std::fs::read_to_string(&path).unwrap();
		assert_eq!(text.lines().count(), 1);
		assert!(!text.trim_end().chars().any(trainyard_program::text::acts), "{text}");
		let event: Value = serde_json::from_str(&text).unwrap();
		assert_eq!(event["reason"], url, "programs read what was written");
	}

	#[test]
	fn the_file_of_events_does_not_grow_for_ever() {
		let dir = tempfile::tempdir().unwrap();
		let path = dir.path().join("events.jsonl");
		for n in 0..100 {
			append(&path, &format!("{n:09}"), 250).unwrap();
		}
		let text = |name| std::fs::read_to_string(dir.path().join(name)).unwrap();
		assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
		assert_eq!(text("events.jsonl").len() + text("events.jsonl.1").len(), 250 + 250);
		assert!(text("events.jsonl").ends_with("000000099\n"));
		assert!(text("events.jsonl.1").ends_with("000000074\n"));
	}

	#[test]
	fn events_and_errors_are_counted() {
		let reporter = Reporter::new("trainer", true, None);
		reporter.job(3, "trained", "", json!({ "seconds": 2.0 }));
		reporter.clone().job(4, "trained", "", Value::Null);
		reporter.job(4, "failed_attempt", "", json!({ "action": "apply" }));
		reporter.general("problem", "", json!({ "reason": "full" }));
		let text = reporter.metrics().text().unwrap();
		for line in [
			"trainyard_worker_events_total{event=\"trained\",role=\"trainer\"} 2",
			"trainyard_worker_events_total{event=\"failed_attempt\",role=\"trainer\"} 1",
			"trainyard_worker_errors_total{action=\"apply\",role=\"trainer\"} 1",
			"trainyard_worker_errors_total{action=\"problem\",role=\"trainer\"} 1",
		] {
			assert!(text.lines().any(|l| l == line), "{line}\n{text}");
		}
	}
}
