//! Verification of bundles: is this the run that the specification and the seed ask for?
//!
//! - [`audit`] is what a verifier of the chain does with one result: a verdict that every
//!   honest verifier reaches bit for bit, and a report for people.
//! - [`full`] is `trainyard verify DIR`: the same, and every other file of the bundle.
//! - [`replay`] does segments again; it alone decides about the training.
//! - [`parting`] finds the false ones among results of one job that differ.
//! - [`rules`] are the six full-pass rules: evidence, never a decision.

pub mod divergence;
pub mod replay;
mod report;
pub mod rules;
pub mod stats;

pub use divergence::{Contest, Judgement};
pub use report::{full, Choice, Full};

use crate::{
	bundle::{
		self,
		manifest::{self, checkpoint_file, Manifest},
		Bundle, BundleError, FileError,
	},
	inputs::{InputError, Inputs},
};
use primitive_types::H256;
use serde::Serialize;
use std::{
	collections::{BTreeMap, BTreeSet},
	io::ErrorKind,
	path::Path,
	sync::atomic::AtomicBool,
	time::Instant,
};
use trainyard_engine::{first_nan, Engine, EngineError, TensorMap};
use trainyard_program::{
	lower,
	spec::{CheckedSpec, JobSpec, SpecError},
	work::Parts,
};
use trainyard_protocol::{
	audit::{GroupVerdict, RejectReason, SegmentEvidence},
	blob::Chunked,
	bundle::Evaluation,
	job::{WorkResult, MAX_AUDIT_SEGMENTS},
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
	#[error("{0} segments were drawn; a verdict has room for {MAX_AUDIT_SEGMENTS}")]
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
	/// Work of the replay, and of evaluating checkpoint 0.
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

/// What an examination found.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
	/// Everything replayed was equal.
	Accept(Vec<SegmentEvidence>),
	/// The result is false.
	Reject(RejectReason),
	/// A file is missing.
	Missing(String),
	/// A file is not the one that the roots name.
	Tampered(String),
}

impl Outcome {
	fn summary(&self) -> String {
		match self {
			Outcome::Accept(evidence) => format!("accepted: {} segments replayed", evidence.len()),
			Outcome::Reject(reason) => format!("rejected: {reason}"),
			Outcome::Missing(what) => format!("unavailable: {what}"),
			Outcome::Tampered(what) => format!("unavailable: {what}"),
		}
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

fn required_checkpoints(trained: u32, segments: &[u32]) -> BTreeSet<u32> {
	let ends = segments.iter().flat_map(|s| [*s, s.saturating_add(1)]);
	ends.chain([trained]).filter(|index| *index <= trained).collect()
}

/// Returns the files of a rescue archive for these segments of a result with `trained` segments:
/// manifest, [`required_files_of`], and the files that the job reads.
pub fn rescue_files(spec: &JobSpec, trained: u32, segments: &[u32]) -> Vec<String> {
	let mut files = required_files_of(spec, trained, segments);
	files.push(manifest::FILE.to_owned());
	files.extend(spec.files().map(|(which, _)| bundle::input_file(which).to_owned()));
	files
}

/// Gives the verdict on the result `expected` of the job (`spec`, `seed`) from the files in
/// `dir`, which may be a partial bundle ([`required_files`]).
///
/// The order of checks is fixed, so that verifiers agree:
/// 1. the manifest's checkpoints are those of `expected.bundle_root`, otherwise
///    `Unavailable`;
/// 2. there is one more than segments claimed, their steps are the specification's, and by
///    their losses training ends there, otherwise `WrongCheckpoints`;
/// 3. checkpoint 0 is the initial state, recomputed (of a fine-tuning, from its initial model),
///    otherwise `WrongInitialState`, and has its evaluation, otherwise `WrongEvaluation`;
/// 4. the files needed are there and hash to the manifest's states, otherwise `Unavailable`;
/// 5. each holds the job's tensors without NaN, in ascending order, otherwise `WrongState`;
/// 6. each segment, ascending, replays to its committed end, otherwise `WrongSegment`, and
///    that has the committed evaluation, otherwise `WrongEvaluation`;
/// 7. the last checkpoint's parameters are the blob `expected.model_root`, otherwise
///    `WrongModel`.
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
	let segments: BTreeSet<u32> = segments.iter().copied().collect();
	if segments.len() > MAX_AUDIT_SEGMENTS as usize {
		return Err(VerifyError::TooManySegments(segments.len()));
	}
	let begun = Instant::now();
	let mut report = AuditReport::default();
	let outcome = match Bundle::open(dir) {
		Ok(bundle) => {
			let case = Case { bundle: &bundle, spec, seed, inputs, expected, stop };
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

/// A result and what it is compared with.
struct Case<'a> {
	bundle: &'a Bundle,
	spec: &'a CheckedSpec,
	seed: H256,
	inputs: Inputs,
	expected: WorkResult,
	stop: &'a AtomicBool,
}

impl Case<'_> {
	/// The checks of [`audit`] in their order. It returns `Err` only for this machine's own
	/// failures.
	fn examine(
		&self,
		segments: &BTreeSet<u32>,
		report: &mut AuditReport,
	) -> Result<Outcome, VerifyError> {
		let (spec, manifest) = (self.spec, self.bundle.manifest());
		let (parts, trained) = (Parts::of(spec), self.expected.segments);
		report.training_flop = parts.flop_of(spec, trained)?;
		if let Some(segment) = segments.iter().find(|s| **s >= trained) {
			return Err(VerifyError::NoSuchSegment { segment: *segment, segments: trained });
		}

		let root = self.bundle.root();
		if root != self.expected.bundle_root {
			let what = format!(
				"the manifest's checkpoints have root {root:?}, not {:?}",
				self.expected.bundle_root
			);
			report.note("bundle root", Status::Fail, what.clone());
			return Ok(Outcome::Tampered(what));
		}
		report.note("bundle root", Status::Pass, format!("{root:?}"));

		let steps = manifest.checkpoints.iter().map(|c| Some(c.step));
		if !steps.eq((0..=trained).map(|index| spec.checkpoint_step(index))) {
			report.note("checkpoints", Status::Fail, "their steps are not the job's");
			return Ok(Outcome::Reject(RejectReason::WrongCheckpoints));
		}
		let losses: Vec<f32> = manifest.checkpoints.iter().map(|c| c.validation.loss()).collect();
		let end = spec.ends_after(&losses);
		if end != Some(trained) {
			let should = match end {
				Some(end) => format!("training stops early after segment {end}"),
				None => "training goes on".to_owned(),
			};
			let detail = format!("by their losses {should}, but {trained} segments were trained");
			report.note("checkpoints", Status::Fail, detail);
			return Ok(Outcome::Reject(RejectReason::WrongCheckpoints));
		}
		let count = manifest.checkpoints.len();
		let detail = match trained < spec.segments() {
			true => format!(
				"{count}, at the steps of the job; by their losses it stops early, after {trained} of \
				 {} segments",
				spec.segments()
			),
			false => format!("{count}, at the steps of the job"),
		};
		report.note("checkpoints", Status::Pass, detail);

		let state = Engine::initial_state(spec, &self.seed, self.inputs.initial_model())
			.map_err(VerifyError::Engine)?;
		let initial = state.hash().map_err(VerifyError::Engine)?;
		if manifest.checkpoints.first().map(|c| c.state_hash) != Some(initial) {
			report.note("checkpoint 0", Status::Fail, format!("it should be {initial:?}"));
			return Ok(Outcome::Reject(RejectReason::WrongInitialState));
		}
		let engine =
			Engine::new(spec, self.seed, self.inputs.data.clone()).map_err(VerifyError::Engine)?;
		let found = replay::evaluate(&engine, &state)?.map(|(found, _)| found);
		let committed = manifest.checkpoints.first().map(|c| c.validation);
		report.replayed_flop = parts.evaluation;
		if found.is_none() || found != committed {
			let detail = wrong_evaluation(0, found, committed);
			report.note("checkpoint 0", Status::Fail, detail);
			return Ok(Outcome::Reject(RejectReason::WrongEvaluation { checkpoint: 0 }));
		}
		let from = match spec.initial_model {
			Some(_) => "recomputed from specification and initial model, and evaluated",
			None => "recomputed from specification and seed, and evaluated",
		};
		report.note("checkpoint 0", Status::Pass, from);

		let mut states = BTreeMap::new();
		let drawn: Vec<u32> = segments.iter().copied().collect();
		for index in required_checkpoints(trained, &drawn) {
			replay::check(self.stop)?;
			match self.state(index)? {
				Ok(state) => states.insert(index, state),
				Err(outcome) => {
					report.note("states", Status::Fail, outcome.summary());
					return Ok(outcome);
				}
			};
		}
		for (index, state) in &states {
			if let Some(why) = wrong_state(spec, state) {
				report.note("states", Status::Fail, format!("checkpoint {index}: {why}"));
				return Ok(Outcome::Reject(RejectReason::WrongState { checkpoint: *index }));
			}
		}
		let read =
			format!("{} of {count} read; hashes, tensors and numbers are right", states.len());
		report.note("states", Status::Pass, read);

		let mut evidence = Vec::new();
		let replayed = self.replay(&engine, &parts, segments, &states, &mut evidence, report)?;
		if let Some(reason) = replayed {
			return Ok(Outcome::Reject(reason));
		}

		let last = states.get(&trained);
		let model = last.map(|state| Chunked::new(&bundle::model_bytes(state)).root);
		if model != Some(self.expected.model_root) {
			report.note("model", Status::Fail, "it is not the last checkpoint's parameters");
			return Ok(Outcome::Reject(RejectReason::WrongModel));
		}
		report.note("model", Status::Pass, format!("root {:?}", self.expected.model_root));
		Ok(Outcome::Accept(evidence))
	}

	/// Returns checkpoint `index` of the bundle, or what its failure means for the trainer.
	fn state(&self, index: u32) -> Result<Result<TensorMap, Outcome>, VerifyError> {
		let step = self.spec.checkpoint_step(index).unwrap_or_default();
		if !self.bundle.has_checkpoint(step) {
			let what = format!("{} is missing", checkpoint_file(step));
			return Ok(Err(Outcome::Missing(what)));
		}
		match self.bundle.checkpoint_within(step, bundle::max_checkpoint_bytes(self.spec)) {
			Ok(state) => Ok(Ok(state)),
			Err(BundleError::File(e)) if !is_trainers_fault(&e) => Err(e.into()),
			Err(e) => Ok(Err(Outcome::Tampered(e.to_string()))),
		}
	}

	/// Replays the segments, ascending, until one differs.
	fn replay(
		&self,
		engine: &Engine,
		parts: &Parts,
		segments: &BTreeSet<u32>,
		states: &BTreeMap<u32, TensorMap>,
		evidence: &mut Vec<SegmentEvidence>,
		report: &mut AuditReport,
	) -> Result<Option<RejectReason>, VerifyError> {
		let trained = self.expected.segments;
		for segment in segments {
			let begun = Instant::now();
			let no_such = || VerifyError::NoSuchSegment { segment: *segment, segments: trained };
			let begin = states.get(segment).ok_or_else(no_such)?;
			let replayed = replay::segment(engine, self.spec, *segment, begin, self.stop)?;
			let found = replayed.evidence;
			let listed = &self.bundle.manifest().checkpoints;
			let (from, to) = listed
				.get(*segment as usize)
				.zip(listed.get(*segment as usize + 1))
				.ok_or_else(no_such)?;
			let seconds = begun.elapsed().as_secs_f64();
			let equal = found.end_state == to.state_hash;
			let evaluation_equal = replayed.validation == Some(to.validation);
			report.segments.push(SegmentReport {
				from_step: from.step,
				to_step: to.step,
				equal,
				evaluation_equal,
				committed: to.state_hash,
				evidence: found,
				seconds,
			});
			report.replay_seconds += seconds;
			report.replayed_flop += u128::from(to.step - from.step) * parts.step + parts.evaluation;
			report.share = report.replayed_flop as f64 / report.training_flop.max(1) as f64;
			if !equal {
				let detail = format!(
					"segment {segment} (steps {} to {}) ends in {:?}, but {:?} was committed",
					from.step, to.step, found.end_state, to.state_hash
				);
				report.note("replay", Status::Fail, detail);
				return Ok(Some(RejectReason::WrongSegment(found)));
			}
			if !evaluation_equal {
				let checkpoint = segment.saturating_add(1);
				let committed = Some(to.validation);
				let detail = wrong_evaluation(checkpoint, replayed.validation, committed);
				report.note("replay", Status::Fail, detail);
				return Ok(Some(RejectReason::WrongEvaluation { checkpoint }));
			}
			evidence.push(found);
		}
		let detail = format!(
			"{} of {trained} segments and their evaluations, equal in every bit",
			segments.len()
		);
		let status = if segments.is_empty() { Status::Skipped } else { Status::Pass };
		report.note("replay", status, detail);
		Ok(None)
	}
}

/// Describes an evaluation that differs from the committed one.
fn wrong_evaluation(
	checkpoint: u32,
	found: Option<Evaluation>,
	committed: Option<Evaluation>,
) -> String {
	let text = |evaluation: Option<Evaluation>| match evaluation {
		Some(v) => format!("loss {}, {} of {} predicted", v.loss(), v.correct, v.labels),
		None => "none".to_owned(),
	};
	format!(
		"the evaluation of checkpoint {checkpoint} is {}, but {} was committed",
		text(found),
		text(committed)
	)
}

/// Returns what is wrong with a state of this job, if anything.
fn wrong_state(spec: &CheckedSpec, state: &TensorMap) -> Option<String> {
	let mut expected: Vec<_> = lower::state(spec).into_iter().map(|t| (t.name, t.shape)).collect();
	expected.sort();
	let found = state.iter().map(|(name, tensor)| (name, &tensor.shape));
	if !found.eq(expected.iter().map(|(name, shape)| (name, shape))) {
		return Some("its tensors are not those of the job".into());
	}
	first_nan(state).map(|name| format!("{name} holds a NaN"))
}

#[cfg(test)]
mod tests;
