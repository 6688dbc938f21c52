//! What a daemon asks of the process that replays for it, and what that answers: one line of JSON
//! each.

use codec::{Decode, Encode};
use serde::{de::Error as _, Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::path::PathBuf;
use trainyard_program::spec::{CheckedSpec, JobSpec};
use trainyard_proof::{
	inputs::InputPaths,
	verify::{AuditReport, Charge, Verdict},
};
use trainyard_protocol::{
	audit::SegmentEvidence,
	drill::{Template, UnitResult},
	job::WorkResult,
	H256,
};

impl Work {
	/// Names it for people.
	pub fn name(&self) -> &'static str {
		match self {
			Self::Decode { .. } => "data that are decoded",
			Self::Audit { .. } => "a replay",
			Self::Judge { .. } => "a judgement between results",
			Self::Rules { .. } => "the rules of a result",
			Self::Unit { .. } => "a unit of drilling",
			#[cfg(test)]
			Self::Test(_) => "a test",
		}
	}
}

/// A value as its SCALE bytes in hexadecimal digits: as JSON the text of strangers would not stay the
/// same bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale<T>(pub T);

impl<T: Encode> Serialize for Scale<T> {
	fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
		s.serialize_str(&hex::encode(self.0.encode()))
	}
}

impl<'de, T: Decode> Deserialize<'de> for Scale<T> {
	fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
		let bytes = hex::decode(String::deserialize(d)?).map_err(D::Error::custom)?;
		T::decode(&mut &bytes[..]).map(Self).map_err(D::Error::custom)
	}
}

/// Where the files of a job are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Paths {
	data: PathBuf,
	labels: Option<PathBuf>,
	initial_model: Option<PathBuf>,
	rows: Option<PathBuf>,
}

impl From<InputPaths> for Paths {
	fn from(paths: InputPaths) -> Self {
		let InputPaths { data, labels, initial_model, rows } = paths;
		Self { data, labels, initial_model, rows }
	}
}

impl From<Paths> for InputPaths {
	fn from(paths: Paths) -> Self {
		let Paths { data, labels, initial_model, rows } = paths;
		Self { data, labels, initial_model, rows }
	}
}

/// A job under its seed, and its files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobOf {
	/// Its specification.
	pub spec: Scale<JobSpec>,
	/// Its seed.
	pub seed: H256,
	/// Its files.
	pub paths: Paths,
}

impl JobOf {
	/// Names a job.
	pub fn new(spec: &CheckedSpec, seed: H256, paths: InputPaths) -> Self {
		Self { spec: Scale(spec.spec().clone()), seed, paths: paths.into() }
	}
}

/// What is to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Work {
	/// Decode the data of a job into the file that keeps them, from the first place that has them.
	Decode {
		/// Its specification.
		spec: Scale<JobSpec>,
		/// Where its files may be.
		places: Vec<Paths>,
	},
	/// Audit a result.
	Audit {
		/// The job.
		job: JobOf,
		/// Where the result is.
		dir: PathBuf,
		/// What was revealed of it.
		expected: WorkResult,
		/// The segments to replay.
		segments: Vec<u32>,
		/// The folder of the round, which keeps the replays.
		round: PathBuf,
	},
	/// Judge results where they part.
	Judge {
		/// The job.
		job: JobOf,
		/// The folders of the results, by their place in the audit.
		rivals: Vec<(usize, PathBuf)>,
	},
	/// Compute the full-pass rules.
	Rules {
		/// The job.
		job: JobOf,
		/// Where the result is.
		dir: PathBuf,
	},
	/// Compute a unit of drilling.
	Unit {
		/// The template of its project.
		template: Scale<Template>,
		/// Its number.
		index: u32,
		/// Its seed.
		seed: H256,
		/// The files of a trial.
		paths: Option<Paths>,
	},
	/// Do what a test asks for.
	#[cfg(test)]
	Test(TestWork),
}

/// What tests let such a process do.
#[cfg(test)]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum TestWork {
	/// Take that many bytes of memory, and write to them.
	Take(usize),
	/// Panic with this text.
	Panic(String),
	/// Write this process's number to the file, and wait for ever.
	Wait(PathBuf),
}

/// A request: what is to be done, and within which limits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
	/// The device, as `--device` names it.
	pub device: String,
	/// The most bytes of memory.
	pub memory: u64,
	/// What is to be done.
	pub work: Work,
}

/// The figures of an audit that a daemon reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
	/// The verdict in one line.
	pub summary: String,
	/// Replayed segments.
	pub segments: usize,
	/// What was replayed, as a share of the training's work.
	pub share: f64,
	/// FLOP of what was replayed.
	pub flop: u64,
	/// Duration of the replays.
	pub seconds: f64,
}

impl From<AuditReport> for Figures {
	fn from(report: AuditReport) -> Self {
		Self {
			summary: report.summary,
			segments: report.segments.len(),
			share: report.share,
			flop: u64::try_from(report.replayed_flop).unwrap_or(u64::MAX),
			seconds: report.replay_seconds,
		}
	}
}

/// What came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
	/// The rows are in the file that keeps them; the files were found here.
	Decoded(Paths),
	/// The data do not hold what the specification says, or are not here.
	NoData(String),
	/// The verdict on a result.
	Audited(Verdict, Figures),
	/// These checkpoint files are missing: to find where a standstill began, or which segment is false
	/// before a state that no honest run has.
	Wants(Vec<String>),
	/// What the segment comes to in which results part, and which of them are false; `None` if they do
	/// not.
	Judged(Option<(SegmentEvidence, Vec<(usize, Charge)>)>),
	/// The rules that apply, those that are kept, and all of them.
	Rules(usize, usize, Value),
	/// The result of a unit, and the seconds that it took.
	Computed(UnitResult, f64),
	/// This machine failed.
	Failed(String),
}
