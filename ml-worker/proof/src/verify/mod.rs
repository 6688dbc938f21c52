//! Verification of bundles: is this the run that the specification and the seed ask for?
//!
//! - [`audit`] is what a verifier of the chain does with one result: what it replayed, or what is
//!   false in it ([`Charge`]), and a report for people.
//! - [`full`] is `trainyard verify DIR`: the same, and every other file of the bundle.
//! - `checks` are the eight checks that an audit makes, one function each.
//! - `states` and `idle` say which states an honest run can have, and which segments stand still.
//! - [`replay`] does segments again; it alone decides about the training.
//! - [`divergence`] finds the false ones among results of one job that differ.
//! - [`movement`] finds the segment in which a run moved farthest, from parts of its states.
//! - [`self_check`] replays segments of one's own run before it is committed to.
//! - [`rules`] are the six full-pass rules: evidence, never a decision.

mod answers;
pub mod charge;
mod checks;
pub mod divergence;
mod idle;
pub mod movement;
pub mod replay;
mod report;
pub mod rules;
pub mod self_check;
mod states;
pub mod stats;

pub use answers::{answers, sizes_of, state_leaf, Prepared};
pub use charge::Charge;
pub use divergence::{Contest, Judged, Judgement};
pub use idle::Standstill;
pub use report::{full, Choice, Full};

use crate::{
	bundle::{
		self,
		manifest::{self, checkpoint_file, Manifest},
		Bundle, BundleError, FileError,
	},
	inputs::{InputError, Inputs},
};
use checks::{Case, Outcome};
use primitive_types::H256;
use replay::{NoReplays, Replays};
use serde::{Deserialize, Serialize};
use std::{
	collections::BTreeSet, io::ErrorKind, path::Path, sync::atomic::AtomicBool, time::Instant,
};
use trainyard_engine::EngineError;
use trainyard_program::spec::{CheckedSpec, JobSpec, SpecError};
use trainyard_protocol::{
	accusation::{LeafContent, Peaks},
	audit::{SegmentEvidence, MAX_EVIDENCE},
	job::WorkResult,
};

/// Says why a verifier cannot give a verdict. Every reason is about the verifier or the question,
/// none about the trainer.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
	/// The work of the given specification cannot be counted.
	#[error("{field}: {0}", field = .0.field())]
	Spec(#[from] SpecError),
	/// The result has no such segment.
	#[error("there is no segment {segment}: the result has {segments}, from 0 on")]
	NoSuchSegment {
		/// The segment.
		segment: u32,
		/// How many there are.
		segments: u32,
	},
	/// More segments than a verdict has room for.
	#[error("{0} segments are to be replayed; a verdict has room for {MAX_EVIDENCE}")]
	TooManySegments(usize),
	/// It was asked to stop: nobody waits for the verdict any more.
	#[error("stopped before there was a verdict, because nobody waits for it any more")]
	Stopped,
	/// The bundle cannot be checked by itself.
	#[error("{0}")]
	CannotCheck(String),
	/// The bundle cannot be read.
	#[error(transparent)]
	Bundle(#[from] BundleError),
	/// A file cannot be read for a reason on this machine.
	#[error(transparent)]
	File(#[from] FileError),
	/// A file that the job reads is not here, or is a different one.
	#[error(transparent)]
	Input(#[from] InputError),
	/// The engine failed.
	#[error(transparent)]
	Engine(EngineError),
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
	/// It is as it should be.
	Pass,
	/// It is not as it should be.
	Fail,
	/// It could not be checked, or was not asked for.
	Skipped,
}

/// One check of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
	/// What was checked.
	pub name: &'static str,
	/// How it ended.
	pub status: Status,
	/// What was found, in one line.
	pub detail: String,
}

/// One replayed segment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SegmentReport {
	/// Step at which it begins.
	pub from_step: u32,
	/// Step at which it ends.
	pub to_step: u32,
	/// Whether the replay ended in the committed state.
	pub equal: bool,
	/// Whether the evaluation of the end state is the committed one.
	pub evaluation_equal: bool,
	/// Whether the trace of the segment is the committed one.
	pub trace_equal: bool,
	/// The leaf that was committed to at its end.
	pub committed: LeafContent,
	/// What was computed.
	pub evidence: SegmentEvidence,
	/// Duration of the replay.
	pub seconds: f64,
}

/// What an audit found of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
	/// All that had to be was replayed, and equal: evidence of each segment, ascending.
	Replayed(Vec<SegmentEvidence>),
	/// The result is false.
	False(Box<Charge>),
	/// The result cannot be had as it was revealed.
	Unavailable,
}

/// What was done for a verdict, for people.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuditReport {
	/// The verdict in one line.
	pub summary: String,
	/// The checks, in the order in which they were made; the last may have failed.
	pub checks: Vec<Check>,
	/// The replayed segments.
	pub segments: Vec<SegmentReport>,
	/// The six full-pass rules, by [`full`] alone. They decide nothing.
	pub rules: Option<rules::Rules>,
	/// Work of the replay, and of evaluating the first checkpoint and the last.
	pub replayed_flop: u128,
	/// Work of the whole training, as far as it went.
	pub training_flop: u128,
	/// The former as a share of the latter: what verification costs.
	pub share: f64,
	/// Duration of the replay.
	pub replay_seconds: f64,
	/// Duration of everything.
	pub seconds: f64,
}

impl AuditReport {
	fn note(&mut self, name: &'static str, status: Status, detail: impl Into<String>) {
		self.checks.push(Check { name, status, detail: detail.into() });
	}
}

/// Returns the paths inside a bundle that an audit of these segments reads: the checkpoints at both
/// ends of each segment, and the last one, ascending. The manifest itself, read first, is not among
/// them.
pub fn required_files(manifest: &Manifest, segments: &[u32]) -> Vec<String> {
	required_files_of(&manifest.spec, manifest.segments(), segments)
}

/// Returns [`required_files`] for a result with `trained` segments, by the specification of the
/// job. The one in a manifest is only the trainer's word.
pub fn required_files_of(spec: &JobSpec, trained: u32, segments: &[u32]) -> Vec<String> {
	required_checkpoints(trained, segments)
		.into_iter()
		.filter_map(|index| spec.checkpoint_step(index))
		.map(checkpoint_file)
		.collect()
}

/// Returns the checkpoints of [`required_files_of`].
pub fn required_checkpoints(trained: u32, segments: &[u32]) -> BTreeSet<u32> {
	let ends = segments.iter().flat_map(|s| [*s, s.saturating_add(1)]);
	ends.chain([trained]).filter(|index| *index <= trained).collect()
}

/// Returns the files that an audit of these segments reads of the result with `trained` segments whose
/// whole bundle is in `dir`: manifest, [`required_files_of`], the files that the job reads, and, where
/// one of the segments stands still, the checkpoints that are read to find where that began.
pub fn files_read(
	dir: &Path,
	spec: &CheckedSpec,
	trained: u32,
	segments: &[u32],
) -> Result<Vec<String>, VerifyError> {
	let mut checkpoints = required_checkpoints(trained, segments);
	// Where training diverged nothing is searched: what has no end is drawn of no other result.
	if segments.iter().all(|segment| *segment < trained) {
		checkpoints.extend(idle::searched(dir, spec, &segments.iter().copied().collect())?);
	}
	// The initial state is computed.
	if !segments.contains(&0) {
		checkpoints.remove(&0);
	}
	let mut files = idle::files(spec, &checkpoints);
	files.push(manifest::FILE.to_owned());
	files.extend(spec.files().map(|(which, _)| bundle::input_file(which).to_owned()));
	Ok(files)
}

/// Returns this evidence as it is revealed of the bundle in `dir`, with the paths from the leaves there to
/// its root: where the trace alone is another one it [differs](SegmentEvidence::differs). `None` where the
/// bundle has no such segment.
pub fn revealed(
	dir: &Path,
	evidence: &[SegmentEvidence],
) -> Result<Option<Vec<(SegmentEvidence, Peaks)>>, VerifyError> {
	let bundle = Bundle::open(dir)?;
	let tree = charge::BundleTree::of(bundle.manifest());
	let of = |found: &SegmentEvidence| {
		let claimed = replay::claimed_end(bundle.manifest(), found.segment)?;
		let is_forced = replay::Equal::of(found, &claimed).is_but_for_its_trace();
		let differs = match claimed {
			LeafContent::Checkpoint(claimed) if is_forced => Some(claimed.trace),
			_ => None,
		};
		let path = tree.path(found.segment.checked_add(1)?)?;
		Some((SegmentEvidence { differs, ..*found }, path))
	};
	Ok(evidence.iter().map(of).collect())
}

/// Gives the verdict on the result `expected` of the job (`spec`, `seed`) from the files in
/// `dir`, which may be a partial bundle ([`required_files`]).
///
/// Whoever replays the same segments comes to the same evidence. The checks, in their order:
/// 1. the manifest's checkpoints are those of `expected.bundle_root`, otherwise
///    `Unavailable`;
/// 2. it has as many leaves as the result, otherwise `Unavailable`; each is one that a true result can
///    have in its place, otherwise a charge that shows it; and by their losses training ends there (or
///    goes on, where it is claimed to have diverged), otherwise [`Target::Stop`];
/// 3. checkpoint 0 is the initial state, recomputed (of a fine-tuning, from its initial model), and has
///    its evaluation and the trace of that, otherwise [`Target::Start`];
/// 4. the files needed are there and hash to the manifest's states, otherwise `Unavailable`;
/// 5. each holds the job's tensors without NaN, in ascending order, and is a state that an honest run
///    can have, no farther from the one before it (checkpoint 0 being the first) than the steps between
///    them go, otherwise the segment is looked for that leads from a state of an honest run to one
///    that is none, and replayed as in 6 (what is read for this is checked as in 4);
/// 6. each segment, ascending, replays to its committed end, with the committed evaluation and by the
///    committed trace; the replay of the one in which training diverged leaves the finite numbers in
///    the committed step. Otherwise [`Target::Segment`], with the end that the replay came to;
/// 7. where a replayed segment stands still, [`Standstill`] finds where that began, and the segment
///    before replays to its committed end, otherwise as in 6 (what is read for this is checked as
///    in 4 and 5; a result that diverged earns no power, and is not searched);
/// 8. the last checkpoint has the committed evaluation, otherwise its segment is replayed as in 6, and
///    its parameters are the blob `expected.model_root`, otherwise [`Target::Model`].
///
/// [`Target::Stop`]: trainyard_protocol::accusation::Target::Stop
/// [`Target::Start`]: trainyard_protocol::accusation::Target::Start
/// [`Target::Segment`]: trainyard_protocol::accusation::Target::Segment
/// [`Target::Model`]: trainyard_protocol::accusation::Target::Model
///
/// Once `stop` is set, it ends after the present step, with [`VerifyError::Stopped`] and without a
/// verdict.
pub fn audit(
	dir: &Path,
	spec: &CheckedSpec,
	seed: H256,
	inputs: Inputs,
	expected: WorkResult,
	segments: &[u32],
	stop: &AtomicBool,
) -> Result<(Verdict, AuditReport), VerifyError> {
	let aids = Aids { replays: &NoReplays, fetch: &|_| () };
	audit_with(dir, (spec, seed), inputs, expected, segments, stop, aids)
}

/// What an audit may use besides the files of a bundle.
#[derive(Clone, Copy)]
pub struct Aids<'a> {
	/// Of the replays only those are done that are not among these, and they are kept there, one by
	/// one.
	pub replays: &'a dyn Replays,
	/// Brings a file into the folder, if it can be had: a checkpoint beyond those of
	/// [`required_files`], where a replayed segment stands still, or a state is none of an honest run.
	pub fetch: &'a (dyn Fn(&str) + Sync),
}

/// Does what [`audit`] does for the job `(spec, seed)`, by these `aids`.
pub fn audit_with(
	dir: &Path,
	(spec, seed): (&CheckedSpec, H256),
	inputs: Inputs,
	expected: WorkResult,
	segments: &[u32],
	stop: &AtomicBool,
	aids: Aids<'_>,
) -> Result<(Verdict, AuditReport), VerifyError> {
	let segments: BTreeSet<u32> = segments.iter().copied().collect();
	if segments.len() > MAX_EVIDENCE as usize {
		return Err(VerifyError::TooManySegments(segments.len()));
	}
	let begun = Instant::now();
	let mut report = AuditReport::default();
	let outcome = match Bundle::open(dir) {
		Ok(bundle) => {
			let case = Case { bundle: &bundle, spec, seed, inputs, expected, stop, aids };
			case.examine(&segments, &mut report)?
		}
		Err(BundleError::File(e)) if !is_trainers_fault(&e) => return Err(e.into()),
		Err(e) => {
			report.note("manifest", Status::Fail, e.to_string());
			Outcome::Missing(e.to_string())
		}
	};
	report.summary = outcome.summary();
	report.seconds = begun.elapsed().as_secs_f64();
	let verdict = match outcome {
		Outcome::Replayed(evidence) => Verdict::Replayed(evidence),
		Outcome::False(charge) => Verdict::False(charge),
		Outcome::Missing(_) | Outcome::Tampered(_) => Verdict::Unavailable,
	};
	Ok((verdict, report))
}

/// Returns whether a file is missing or too long, rather than unreadable on this machine.
fn is_trainers_fault(error: &FileError) -> bool {
	matches!(
		error.error.kind(),
		ErrorKind::NotFound | ErrorKind::InvalidData | ErrorKind::IsADirectory
	)
}

#[cfg(test)]
mod tests;
