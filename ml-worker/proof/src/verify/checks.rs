//! The eight checks of [`audit`](super::audit), one function each, in the order in which its
//! documentation numbers them.

use super::{
	charge::{impossible, BundleTree, Charge},
	idle::{beginning, Standstill},
	is_trainers_fault,
	replay::{self, claimed_end, end_in_words, Equal},
	required_checkpoints,
	states::{check_next, check_state, jump, FalseState, States},
	Aids, AuditReport, SegmentReport, Status, VerifyError,
};
use crate::{
	bundle::{self, manifest::checkpoint_file, Bundle, BundleError},
	inputs::Inputs,
	trace::Trace,
};
use primitive_types::H256;
use std::{collections::BTreeSet, sync::atomic::AtomicBool, time::Instant};
use trainyard_engine::{Engine, State, TensorMap};
use trainyard_program::{spec::CheckedSpec, work::Parts};
use trainyard_protocol::{
	accusation::{Claimed, End, LeafContent, Target},
	audit::SegmentEvidence,
	blob::Chunked,
	bundle::Evaluation,
	job::WorkResult,
};

/// What an examination found.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
	/// Everything replayed was equal.
	Replayed(Vec<SegmentEvidence>),
	/// The result is false.
	False(Box<Charge>),
	/// A file is missing.
	Missing(String),
	/// A file is not the one that the roots name.
	Tampered(String),
}

impl Outcome {
	/// Returns the outcome in one line.
	pub(super) fn summary(&self) -> String {
		match self {
			Outcome::Replayed(evidence) => {
				let replayed = format!("nothing false: {} segments replayed", evidence.len());
				match evidence.iter().find_map(|e| e.idle_since) {
					None => replayed,
					Some(since) => {
						format!("{replayed}; no power, it stands still from segment {since} on")
					}
				}
			}
			Outcome::False(charge) => format!("false: {charge}"),
			Outcome::Missing(what) => format!("unavailable: {what}"),
			Outcome::Tampered(what) => format!("unavailable: {what}"),
		}
	}
}

/// Says why the checks ended before the last one.
enum Ended {
	/// A check failed, which decides the verdict.
	Decided(Outcome),
	/// This machine failed, which says nothing about the result.
	Failed(VerifyError),
}

impl<E: Into<VerifyError>> From<E> for Ended {
	fn from(error: E) -> Self {
		Ended::Failed(error.into())
	}
}

/// Returns the end of the checks by a charge. Where the leaves do not show it, the manifest is not
/// that of the result.
fn charge<T>(charge: Option<Charge>, what: &str) -> Result<T, Ended> {
	let outcome = match charge {
		Some(charge) => Outcome::False(Box::new(charge)),
		None => Outcome::Tampered(what.to_owned()),
	};
	Err(Ended::Decided(outcome))
}

/// A result and what it is compared with.
pub(super) struct Case<'a> {
	pub bundle: &'a Bundle,
	pub spec: &'a CheckedSpec,
	pub seed: H256,
	pub inputs: Inputs,
	pub expected: WorkResult,
	pub stop: &'a AtomicBool,
	pub aids: Aids<'a>,
}

impl Case<'_> {
	/// Makes the checks of [`audit`](super::audit) in their order, up to the first that fails. It
	/// returns `Err` only for this machine's own failures.
	pub(super) fn examine(
		&self,
		segments: &BTreeSet<u32>,
		report: &mut AuditReport,
	) -> Result<Outcome, VerifyError> {
		match self.all_checks(segments, report) {
			Ok(evidence) => Ok(Outcome::Replayed(evidence)),
			Err(Ended::Decided(outcome)) => Ok(outcome),
			Err(Ended::Failed(error)) => Err(error),
		}
	}

	fn all_checks(
		&self,
		segments: &BTreeSet<u32>,
		report: &mut AuditReport,
	) -> Result<Vec<SegmentEvidence>, Ended> {
		let (parts, trained) = (Parts::of(self.spec), self.expected.trained());
		report.training_flop = parts.flop_of(self.spec, trained.min(self.spec.segments()))?;
		if let Some(segment) = segments.iter().find(|s| **s >= trained) {
			return Err(VerifyError::NoSuchSegment { segment: *segment, segments: trained }.into());
		}
		self.check_root(report)?;
		self.check_list(report)?;
		let (engine, initial) = self.check_beginning(&parts, report)?;
		let states = self.read_states(segments, report)?;
		self.check_states(&engine, &parts, (&initial, &states), report)?;
		let mut evidence = self.check_segments(&engine, &parts, segments, &states, report)?;
		self.check_standstill(&engine, &parts, (&initial, &states), &mut evidence, report)?;
		self.check_end(&engine, &parts, segments, (&initial, &states), report)?;
		Ok(evidence)
	}

	/// Check 1: the manifest's checkpoints are those of the expected root.
	fn check_root(&self, report: &mut AuditReport) -> Result<(), Ended> {
		let (root, expected) = (self.bundle.root(), self.expected.bundle_root);
		if root != expected {
			let what = format!("the manifest's checkpoints have root {root:?}, not {expected:?}");
			report.note("bundle root", Status::Fail, what.clone());
			return Err(Ended::Decided(Outcome::Tampered(what)));
		}
		report.note("bundle root", Status::Pass, format!("{root:?}"));
		Ok(())
	}

	/// Check 2: there are as many leaves as the result says, and each is one that a true result can
	/// have in its place; and by the losses training ends there, or goes on, where it is said to have
	/// diverged after them.
	fn check_list(&self, report: &mut AuditReport) -> Result<(), Ended> {
		let (spec, trained, manifest) = (self.spec, self.expected.segments, self.bundle.manifest());
		let tree = BundleTree::of(manifest);
		let (count, expected) = (tree.contents().len() as u64, self.expected.leaves());
		if count != u64::from(expected) {
			// No path of such a bundle fits the result, so nobody can show anything of it.
			let what = format!("the manifest has {count} leaves, and the result {expected}");
			report.note("checkpoints", Status::Fail, what.clone());
			return Err(Ended::Decided(Outcome::Tampered(what)));
		}
		if let Some(index) = impossible(spec, &self.expected, tree.contents()) {
			let what = format!("checkpoint {index} is none that the specification asks for");
			report.note("checkpoints", Status::Fail, what.clone());
			return charge(Charge::of_leaf(manifest, index), &what);
		}
		let listed = &manifest.checkpoints;
		let losses: Vec<f32> = listed.iter().map(|c| c.validation.loss()).collect();
		let end = spec.ends_after(&losses);
		let ends = end == Some(trained);
		if ends == self.expected.diverged {
			let should = match end {
				Some(end) if end == spec.segments() => "training is over".to_owned(),
				Some(end) => format!("training stops early after segment {end}"),
				None => "training goes on".to_owned(),
			};
			let how = match self.expected.diverged {
				true => "it diverged after",
				false => "there are",
			};
			let detail = format!("by their losses {should}, but {how} {trained} segments");
			report.note("checkpoints", Status::Fail, detail.clone());
			// The market takes a shorter result of no other job.
			let stops = spec.training.early_stop.is_some();
			let stop = || Charge::new(manifest, Target::Stop, Claimed::Other);
			return charge(stops.then(stop).flatten(), &detail);
		}
		let mut detail = format!("{}, at the steps of the job", listed.len());
		if self.expected.diverged {
			detail += &format!("; it diverged after {trained} of {} segments", spec.segments());
		} else if trained < spec.segments() {
			detail += &format!(
				"; by their losses it stops early, after {trained} of {} segments",
				spec.segments()
			);
		}
		report.note("checkpoints", Status::Pass, detail);
		Ok(())
	}

	/// Check 3: checkpoint 0 is the initial state, recomputed (of a fine-tuning, from its initial
	/// model), and has its evaluation, whose leaf alone makes its trace. Returns it, and the engine that
	/// evaluated it.
	fn check_beginning(
		&self,
		parts: &Parts,
		report: &mut AuditReport,
	) -> Result<(Engine, TensorMap), Ended> {
		let (spec, manifest) = (self.spec, self.bundle.manifest());
		let state = Engine::initial_state(spec, &self.seed, self.inputs.initial_model())
			.map_err(VerifyError::Engine)?;
		let initial = state.hash().map_err(VerifyError::Engine)?;
		let engine =
			Engine::new(spec, self.seed, self.inputs.data.clone()).map_err(VerifyError::Engine)?;
		let evaluated = replay::evaluate(&engine, &state)?;
		report.replayed_flop = parts.evaluation;
		// Where it is none, training diverged before its first step.
		let found = evaluated.as_ref().map(|found| found.evaluation);
		let end = End::Checkpoint {
			state: initial,
			evaluation: found.unwrap_or(Evaluation::NONE),
			trace: Trace::of_the_beginning(evaluated.as_ref()).sealed(),
		};
		let first = manifest.checkpoints.first();
		if first.map(|listed| End::of(&listed.bound())) != Some(end) {
			let committed = first.map(|c| c.validation);
			let detail = if first.map(|c| c.state_hash) != Some(initial) {
				format!("it should be {initial:?}")
			} else if committed != Some(found.unwrap_or(Evaluation::NONE)) {
				wrong_evaluation(0, found, committed)
			} else {
				"the trace of checkpoint 0 is not that of its evaluation".to_owned()
			};
			report.note("checkpoint 0", Status::Fail, detail.clone());
			return charge(Charge::new(manifest, Target::Start, Claimed::End(end)), &detail);
		}
		let from = match spec.initial_model {
			Some(_) => "recomputed from specification and initial model, and evaluated",
			None => "recomputed from specification and seed, and evaluated",
		};
		report.note("checkpoint 0", Status::Pass, from);
		Ok((engine, state.to_host().map_err(VerifyError::Engine)?))
	}

	/// Check 4: the files needed are there and hash to the manifest's states. Returns those states
	/// by their index.
	fn read_states(
		&self,
		segments: &BTreeSet<u32>,
		report: &mut AuditReport,
	) -> Result<States, Ended> {
		let mut states = States::new();
		let drawn: Vec<u32> = segments.iter().copied().collect();
		for index in required_checkpoints(self.expected.segments, &drawn) {
			replay::check(self.stop)?;
			match self.state(index) {
				Ok(state) => states.insert(index, state),
				Err(ended) => {
					if let Ended::Decided(outcome) = &ended {
						report.note("states", Status::Fail, outcome.summary());
					}
					return Err(ended);
				}
			};
		}
		Ok(states)
	}

	/// Returns checkpoint `index` of the bundle, or what its failure means.
	fn state(&self, index: u32) -> Result<TensorMap, Ended> {
		let step = self.spec.checkpoint_step(index).unwrap_or_default();
		if !self.bundle.has_checkpoint(step) {
			let what = format!("{} is missing", checkpoint_file(step));
			return Err(Ended::Decided(Outcome::Missing(what)));
		}
		let most = bundle::max_checkpoint_bytes(self.spec);
		self.bundle.checkpoint_within(step, most).map_err(|error| match error {
			BundleError::File(e) if !is_trainers_fault(&e) => e.into(),
			e => Ended::Decided(Outcome::Tampered(e.to_string())),
		})
	}

	/// Check 5: each of these states is one that an honest run can have, by itself and beside the
	/// one before it. Where one is not, a segment before it is false.
	fn check_states(
		&self,
		engine: &Engine,
		parts: &Parts,
		(initial, states): (&TensorMap, &States),
		report: &mut AuditReport,
	) -> Result<(), Ended> {
		let mut before = (0, initial);
		for (index, state) in states {
			if let Err(found) = check_next(self.spec, before, (*index, state)) {
				report.note("states", Status::Fail, found.to_string());
				let good = (before.0, before.1.clone());
				return self.check_jump(engine, parts, (good, initial), &found, report);
			}
			before = (*index, state);
		}
		let (read, count) = (states.len(), self.bundle.manifest().checkpoints.len());
		let detail = format!("{read} of {count} read; hashes, tensors and numbers are right");
		report.note("states", Status::Pass, detail);
		Ok(())
	}

	/// Finds and replays the segment between a state of an honest run and one that is `found` to be
	/// none. If it were true, nothing would be shown of the result.
	fn check_jump<T>(
		&self,
		engine: &Engine,
		parts: &Parts,
		(good, initial): ((u32, TensorMap), &TensorMap),
		found: &FalseState,
		report: &mut AuditReport,
	) -> Result<T, Ended> {
		let (segment, begin) = jump(self.spec, good, found.checkpoint, |index| {
			self.read(index, initial, "states", report)
		})?;
		let begin = States::from([(segment, begin)]);
		self.check_segment(engine, parts, segment, &begin, report)?;
		Err(Ended::Decided(Outcome::Missing(format!("{found}, and segment {segment} is true"))))
	}

	/// Check 6: each segment, ascending, replays to its committed end, with the committed evaluation
	/// and by the committed trace. Returns what was computed on the way.
	fn check_segments(
		&self,
		engine: &Engine,
		parts: &Parts,
		segments: &BTreeSet<u32>,
		states: &States,
		report: &mut AuditReport,
	) -> Result<Vec<SegmentEvidence>, Ended> {
		let mut evidence = Vec::new();
		for segment in segments {
			evidence.push(self.check_segment(engine, parts, *segment, states, report)?);
		}
		if let Some(what) = engine.fell_back() {
			tracing::warn!("the GPU cannot compute {what}: the processor has replayed this result");
		}
		let detail = format!(
			"{} of {} segments, their evaluations and traces, equal in every bit",
			segments.len(),
			self.expected.trained()
		);
		let status = if segments.is_empty() { Status::Skipped } else { Status::Pass };
		report.note("replay", status, detail);
		Ok(evidence)
	}

	/// Replays one segment and compares where it ends. The one in which training is said to have
	/// diverged must leave the finite numbers there.
	fn check_segment(
		&self,
		engine: &Engine,
		parts: &Parts,
		segment: u32,
		states: &States,
		report: &mut AuditReport,
	) -> Result<SegmentEvidence, Ended> {
		let no_such = || VerifyError::NoSuchSegment { segment, segments: self.expected.trained() };
		let (begun, manifest) = (Instant::now(), self.bundle.manifest());
		let begin = states.get(&segment).ok_or_else(no_such)?;
		let from = manifest.checkpoints.get(segment as usize).ok_or_else(no_such)?;
		let to = self.spec.checkpoint_step(segment.saturating_add(1)).ok_or_else(no_such)?;
		let claimed = claimed_end(manifest, segment).ok_or_else(no_such)?;
		let known = match segment == 0 && from.validation == Evaluation::NONE {
			// Check 3 found that.
			true => Some(replay::before_the_first_step()),
			false => self.aids.replays.load(segment, &from.state_hash),
		};
		let found = match known {
			Some(replayed) => replayed,
			None => replay::segment(engine, self.spec, segment, begin, self.stop)?,
		};
		if known.is_none() {
			self.aids.replays.save(&from.state_hash, &found);
			report.replayed_flop += u128::from(to - from.step) * parts.step + parts.evaluation;
		}
		let equal = Equal::of(&found, &claimed);
		let seconds = begun.elapsed().as_secs_f64();
		report.segments.push(SegmentReport {
			from_step: from.step,
			to_step: to,
			equal: equal.state,
			evaluation_equal: equal.evaluation,
			trace_equal: equal.trace,
			committed: claimed,
			evidence: found,
			seconds,
		});
		report.replay_seconds += seconds;
		report.share = report.replayed_flop as f64 / report.training_flop.max(1) as f64;
		let diverged = replay::diverged(&found);
		let has_forced = self.expected.bundle_root != self.expected.true_root;
		if has_forced
			&& matches!(claimed, LeafContent::Checkpoint(_))
			&& equal.is_but_for_its_trace()
		{
			let detail =
				format!("segment {segment} has another trace than its leaf: that may be forced");
			report.note("forced errors", Status::Pass, detail);
			return Ok(found);
		}
		if !equal.all() {
			let steps = format!("segment {segment} (steps {} to {to})", from.step);
			let detail = match (&claimed, found.leaf()) {
				(LeafContent::Diverged(_), LeafContent::Checkpoint(_)) => {
					let end = end_in_words(&found.leaf());
					format!("{steps} is said to diverge, and ends in {end}")
				}
				(LeafContent::Diverged(end), _) if !equal.state => format!(
					"{steps} is said to diverge in step {}, and diverges elsewhere",
					end.step
				),
				_ if !equal.state => {
					let [found, committed] = [found.leaf(), claimed].map(|end| end_in_words(&end));
					format!("{steps} ends in {found}, but {committed} was committed")
				}
				(LeafContent::Checkpoint(end), LeafContent::Checkpoint(found))
					if !equal.evaluation =>
				{
					wrong_evaluation(
						segment.saturating_add(1),
						Some(found.evaluation),
						Some(end.evaluation),
					)
				}
				_ => format!("{steps} ends as was committed, but its trace is another one"),
			};
			report.note("replay", Status::Fail, detail.clone());
			return charge(Charge::of_segment(manifest, &found), &detail);
		}
		if diverged {
			let detail = format!("segment {segment} leaves the finite numbers");
			report.note("divergence", Status::Pass, detail);
		}
		Ok(found)
	}

	/// Check 7: where a drawn segment stands still, the segment before that began is true. Notes in
	/// the evidence which segments stand still.
	fn check_standstill(
		&self,
		engine: &Engine,
		parts: &Parts,
		(initial, states): (&TensorMap, &States),
		evidence: &mut [SegmentEvidence],
		report: &mut AuditReport,
	) -> Result<(), Ended> {
		if self.expected.diverged {
			// It takes the place of the search in what a verifier computes, and earns no power.
			report.note("standstill", Status::Skipped, "what diverged earns no power");
			return Ok(());
		}
		let standstill = Standstill::of(self.spec);
		let (mut before, mut first) = (None, None);
		for found in evidence.iter_mut() {
			let ends = states.get(&found.segment).zip(states.get(&found.segment.saturating_add(1)));
			let idle = ends.is_some_and(|(a, b)| standstill.is_idle(found.segment, a, b));
			found.idle_since = idle.then_some(found.segment);
			if idle && first.is_none() {
				first = Some((before, found));
			} else if first.is_none() {
				before = Some(found.segment);
			}
		}
		let Some((before, found)) = first else {
			let status = if evidence.is_empty() { Status::Skipped } else { Status::Pass };
			report.note("standstill", status, "no drawn segment stands still");
			return Ok(());
		};
		let began = beginning(found.segment, before, |segment| {
			let [begin, end] = [segment, segment.saturating_add(1)]
				.map(|index| self.believed(engine, parts, index, initial, report));
			Ok::<_, Ended>(standstill.is_idle(segment, &begin?, &end?))
		})?;
		found.idle_since = Some(began);
		let known = before.is_some_and(|before| before.saturating_add(1) == began);
		if let (Some(last), false) = (began.checked_sub(1), known) {
			let begin = self.believed(engine, parts, last, initial, report)?;
			let begin = States::from([(last, begin)]);
			self.check_segment(engine, parts, last, &begin, report)?;
		}
		let detail = match began {
			0 => "the training stands still from the beginning: no power".to_owned(),
			_ => format!(
				"the training stands still from segment {began} on, and the one before it is true: \
				 no power"
			),
		};
		report.note("standstill", Status::Pass, detail);
		Ok(())
	}

	/// Returns checkpoint `index`, fetched if need be, as a state that an honest run can have.
	fn believed(
		&self,
		engine: &Engine,
		parts: &Parts,
		index: u32,
		initial: &TensorMap,
		report: &mut AuditReport,
	) -> Result<TensorMap, Ended> {
		let state = self.read(index, initial, "standstill", report)?;
		if let Err(found) = check_state(self.spec, index, &state) {
			report.note("standstill", Status::Fail, found.to_string());
			let good = (0, initial.clone());
			return self.check_jump(engine, parts, (good, initial), &found, report);
		}
		Ok(state)
	}

	/// Returns checkpoint `index`, fetched if need be, for the check of this name.
	fn read(
		&self,
		index: u32,
		initial: &TensorMap,
		name: &'static str,
		report: &mut AuditReport,
	) -> Result<TensorMap, Ended> {
		replay::check(self.stop)?;
		if index == 0 {
			return Ok(initial.clone());
		}
		let step = self.spec.checkpoint_step(index).unwrap_or_default();
		if !self.bundle.has_checkpoint(step) {
			(self.aids.fetch)(&checkpoint_file(step));
		}
		self.state(index).inspect_err(|ended| {
			if let Ended::Decided(outcome) = ended {
				report.note(name, Status::Fail, outcome.summary());
			}
		})
	}

	/// Check 8: the last checkpoint has its evaluation, whatever is drawn (it is what the buyer
	/// sees), and its parameters are the expected model. Where it has another one, the last segment is
	/// replayed, which shows it.
	fn check_end(
		&self,
		engine: &Engine,
		parts: &Parts,
		segments: &BTreeSet<u32>,
		(initial, states): (&TensorMap, &States),
		report: &mut AuditReport,
	) -> Result<(), Ended> {
		let manifest = self.bundle.manifest();
		let (trained, expected) = (self.expected.segments, self.expected.model_root);
		let last = states.get(&trained);
		// Check 3 evaluated the first.
		let unseen = trained.checked_sub(1).filter(|end| !segments.contains(end));
		if let (Some(state), Some(end)) = (last, unseen) {
			let state = State::from_host(state.clone()).map_err(VerifyError::Engine)?;
			let found = replay::evaluate(engine, &state)?.map(|found| found.evaluation);
			report.replayed_flop += parts.evaluation;
			report.share = report.replayed_flop as f64 / report.training_flop.max(1) as f64;
			let committed = manifest.checkpoints.last().map(|c| c.validation);
			if found.is_none() || found != committed {
				let detail = wrong_evaluation(trained, found, committed);
				report.note("last checkpoint", Status::Fail, detail.clone());
				let begin = self.believed(engine, parts, end, initial, report)?;
				let begin = States::from([(end, begin)]);
				self.check_segment(engine, parts, end, &begin, report)?;
				return Err(Ended::Decided(Outcome::Tampered(detail)));
			}
		}
		report.note("last checkpoint", Status::Pass, "has the committed evaluation");
		let model = last.map(|state| Chunked::new(&bundle::model_bytes(state)).root);
		if model != Some(expected) {
			let detail = "it is not the last checkpoint's parameters";
			report.note("model", Status::Fail, detail);
			return charge(Charge::new(manifest, Target::Model, Claimed::Other), detail);
		}
		report.note("model", Status::Pass, format!("root {expected:?}"));
		Ok(())
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
