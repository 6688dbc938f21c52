//! Verification of bundles: is this the run that the specification and the seed ask for?
//!
//! - [`audit`] is what a verifier of the chain does with one result: a verdict that every
//!   honest verifier reaches bit for bit, and a report for people.
//! - [`full`] is `trainyard verify DIR`: the same, and every other file of the bundle.
//! - `checks` are the eight checks that an audit makes, one function each.
//! - `states` and `idle` say which states an honest run can have, and which segments stand still.
//! - [`replay`] does segments again; it alone decides about the training.
//! - [`divergence`] finds the false ones among results of one job that differ.
//! - [`self_check`] replays segments of one's own run before it is committed to.
//! - [`rules`] are the six full-pass rules: evidence, never a decision.

mod checks;
pub mod divergence;
mod idle;
pub mod replay;
mod report;
pub mod rules;
pub mod self_check;
mod states;
pub mod stats;

pub use divergence::{Contest, Judgement};
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
use serde::Serialize;
use std::{
	collections::BTreeSet, io::ErrorKind, path::Path, sync::atomic::AtomicBool, time::Instant,
};
use trainyard_engine::EngineError;
use trainyard_program::spec::{CheckedSpec, JobSpec, SpecError};
use trainyard_protocol::{
	audit::{GroupVerdict, Leaf, Leaves, Piece, SegmentEvidence},
	bundle::{bundle_leaves, Checkpoint},
	job::{WorkResult, MAX_REPLAYED_SEGMENTS},
	merkle,
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
	#[error("{0} segments were drawn; a verdict has room for {MAX_REPLAYED_SEGMENTS}")]
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
	/// The committed state's hash.
	pub committed: H256,
	/// What was computed.
	pub evidence: SegmentEvidence,
	/// Duration of the replay.
	pub seconds: f64,
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

/// Returns the files of a rescue archive for these segments of the result with `trained` segments
/// whose whole bundle is in `dir`: manifest, [`required_files_of`], the files that the job reads,
/// and, where one of the segments stands still, the checkpoints that are read to find where that
/// began.
pub fn rescue_files(
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

/// Returns the files of these pieces of the result with `trained` segments whose whole bundle is in
/// `dir`, of which `segments` are drawn.
pub fn piece_files(
	dir: &Path,
	spec: &CheckedSpec,
	trained: u32,
	segments: &[u32],
	pieces: &[Piece],
) -> Result<Vec<String>, VerifyError> {
	let (mut checkpoints, mut files) = (BTreeSet::new(), Vec::new());
	for piece in pieces {
		match piece {
			Piece::Manifest => files.push(manifest::FILE.to_owned()),
			Piece::Files => {
				files.extend(spec.files().map(|(which, _)| bundle::input_file(which).to_owned()));
			}
			Piece::State(index) => {
				checkpoints.extend(Some(*index).filter(|index| *index <= trained));
			}
			// Where training diverged nothing is searched: what has no end is drawn of no other result.
			Piece::Searched if segments.iter().any(|segment| *segment >= trained) => {}
			Piece::Searched => {
				checkpoints.extend(idle::searched(dir, spec, &segments.iter().copied().collect())?);
			}
		}
	}
	files.extend(idle::files(spec, &checkpoints));
	Ok(files)
}

/// Returns the leaves of the states among these pieces, by the manifest of the bundle in `dir`.
pub fn piece_leaves(dir: &Path, pieces: &[Piece]) -> Result<Leaves, VerifyError> {
	let bundle = Bundle::open(dir)?;
	let all: Vec<Checkpoint> = bundle.manifest().checkpoints.iter().map(|c| c.bound()).collect();
	let hashes = bundle_leaves(all.iter().copied(), bundle.manifest().diverged);
	let leaf = |index: u32| {
		let checkpoint = *all.get(index as usize)?;
		let path = merkle::proof(&hashes, index as usize)?.try_into().ok()?;
		Some(Leaf { index, checkpoint, path })
	};
	let states = pieces.iter().filter_map(|piece| match piece {
		Piece::State(index) => leaf(*index),
		Piece::Manifest | Piece::Files | Piece::Searched => None,
	});
	Ok(Leaves::truncate_from(states.collect()))
}

/// Gives the verdict on the result `expected` of the job (`spec`, `seed`) from the files in
/// `dir`, which may be a partial bundle ([`required_files`]).
///
/// The order of checks is fixed, so that verifiers agree:
/// 1. the manifest's checkpoints are those of `expected.bundle_root`, otherwise
///    `Unavailable`;
/// 2. there is one more than segments claimed, their steps are the specification's, and by
///    their losses training ends there (or goes on, where it is claimed to have diverged),
///    otherwise `WrongCheckpoints`;
/// 3. checkpoint 0 is the initial state, recomputed (of a fine-tuning, from its initial model),
///    otherwise `WrongInitialState`, and has its evaluation and the trace of that, otherwise
///    `WrongEvaluation`;
/// 4. the files needed are there and hash to the manifest's states, otherwise `Unavailable`;
/// 5. each holds the job's tensors without NaN, in ascending order, otherwise `WrongState`, and
///    is a state that an honest run can have, no farther from the one before it (checkpoint 0
///    being the first) than the steps between them go, otherwise `UnreachableState`;
/// 6. each segment, ascending, replays to its committed end, otherwise `WrongSegment`, and
///    that has the committed evaluation, otherwise `WrongEvaluation`, and the segment the committed
///    trace, otherwise `WrongSegment`; the replay of the one in which training diverged leaves the
///    finite numbers, otherwise `NotDiverged`, in the committed step and with the committed trace,
///    otherwise `WrongSegment`;
/// 7. where a drawn segment stands still, [`Standstill`] finds where that began, and the segment
///    before replays to its committed end, otherwise as in 6 (what is read for this is checked as
///    in 4 and 5; a result that diverged earns no power, and is not searched);
/// 8. the last checkpoint has the committed evaluation, otherwise `WrongEvaluation`, and its
///    parameters are the blob `expected.model_root`, otherwise `WrongModel`.
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
) -> Result<(GroupVerdict, AuditReport), VerifyError> {
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
	/// [`required_files`], where a drawn segment stands still.
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
) -> Result<(GroupVerdict, AuditReport), VerifyError> {
	let segments: BTreeSet<u32> = segments.iter().copied().collect();
	if segments.len() > MAX_REPLAYED_SEGMENTS as usize {
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
		Outcome::Accept(evidence) => GroupVerdict::Accept(
			evidence
				.try_into()
				.map_err(|e: Vec<SegmentEvidence>| VerifyError::TooManySegments(e.len()))?,
		),
		Outcome::Reject(reason) => GroupVerdict::Reject(reason),
		Outcome::Missing(_) | Outcome::Tampered(_) => GroupVerdict::Unavailable,
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
