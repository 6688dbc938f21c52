//! Replays segments: trains a segment again and compares where it ends.

use super::VerifyError;
use crate::{bundle::Manifest, trace::Trace};
use primitive_types::H256;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use trainyard_engine::{state_hash, Engine, EngineError, Evaluated, NanRule, State, TensorMap};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	audit::{RejectReason, SegmentEvidence},
	bundle::{diverged_state, Checkpoint, Diverged, Evaluation},
	trace::seal,
};

/// Replays that were done before, of one job under one seed: what a segment comes to depends on
/// nothing else but the state in which it begins. A verifier that was restarted goes on with them,
/// and results that share segments share their replays.
pub trait Replays: Sync {
	/// Returns what the replay of `segment` from the state with the hash `begin` computed, if it was
	/// done.
	fn load(&self, segment: u32, begin: &H256) -> Option<Replayed>;

	/// Keeps what it computed.
	fn save(&self, begin: &H256, replayed: &Replayed);
}

/// No replays: each is done, and none is kept.
pub struct NoReplays;

impl Replays for NoReplays {
	fn load(&self, _: u32, _: &H256) -> Option<Replayed> {
		None
	}

	fn save(&self, _: &H256, _: &Replayed) {}
}

/// What a replay computed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replayed {
	/// The trace and the end state.
	pub evidence: SegmentEvidence,
	/// Evaluation of the end state; none where training left the finite numbers before, so that there
	/// is no end state.
	pub validation: Option<Evaluation>,
}

impl Replayed {
	/// Returns whether training left the finite numbers in the segment.
	pub fn diverged(&self) -> bool {
		self.validation.is_none()
	}

	/// Returns what of a claimed end of the segment the replay came to.
	pub fn compare(&self, claimed: &End) -> Equal {
		let SegmentEvidence { end_state, trace_root, .. } = self.evidence;
		match claimed {
			End::Checkpoint(Checkpoint { state, evaluation, trace, .. }) => Equal {
				state: end_state == *state,
				evaluation: self.validation == Some(*evaluation),
				trace: seal(&trace_root) == *trace,
			},
			End::Diverged(Diverged { trace, .. }) => Equal {
				state: self.diverged() && end_state == claimed.state(),
				evaluation: self.diverged(),
				trace: seal(&trace_root) == *trace,
			},
		}
	}

	/// Returns why a result is false that claims this end of the segment, if it is.
	pub fn refutes(&self, claimed: &End) -> Option<RejectReason> {
		let (found, equal) = (self.evidence, self.compare(claimed));
		match claimed {
			End::Diverged(_) if !self.diverged() => Some(RejectReason::NotDiverged(found)),
			_ if !equal.state => Some(RejectReason::WrongSegment(found)),
			_ if !equal.evaluation => {
				let checkpoint = found.segment.saturating_add(1);
				Some(RejectReason::WrongEvaluation { checkpoint })
			}
			_ if !equal.trace => Some(RejectReason::WrongSegment(found)),
			_ => None,
		}
	}
}

/// What a result says of the end of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
	/// The segment was trained to its end.
	Checkpoint(Checkpoint),
	/// Training left the finite numbers in it.
	Diverged(Diverged),
}

impl End {
	/// Returns what the bundle of this manifest says of the end of `segment`; `None` if it trained no
	/// such segment.
	pub fn of(manifest: &Manifest, segment: u32) -> Option<Self> {
		match manifest.checkpoints.get(segment.saturating_add(1) as usize) {
			Some(listed) => Some(End::Checkpoint(listed.bound())),
			None => manifest.diverged.filter(|_| manifest.segments() == segment).map(End::Diverged),
		}
	}

	/// Returns the hash of the state at the end, as evidence names it.
	pub fn state(&self) -> H256 {
		match self {
			End::Checkpoint(end) => end.state,
			End::Diverged(end) => diverged_state(end.step),
		}
	}
}

/// What of a claimed end of a segment its replay came to as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equal {
	/// The state at its end; of one that diverged, the step in which that was noticed.
	pub state: bool,
	/// The evaluation of that state; of one that diverged, that it did.
	pub evaluation: bool,
	/// The sealed trace.
	pub trace: bool,
}

/// Evaluates a state. Returns `None` if the loss is infinite or NaN. No honest run goes on from there.
pub fn evaluate(engine: &Engine, state: &State) -> Result<Option<Evaluated>, VerifyError> {
	match engine.evaluate_slices(state) {
		Ok(found) => Ok(Some(found).filter(|found| found.evaluation.loss().is_finite())),
		Err(EngineError::LossNotANumber) => Ok(None),
		Err(e) => Err(VerifyError::Engine(e)),
	}
}

/// Replays `segment` from its first state, evaluates its end state, and returns what was computed
/// on the way. Where training diverges, by the rule by which a run ends (a loss that is infinite or
/// NaN, a NaN in the state after a step, an infinite value in the state at the end, an evaluation that
/// is infinite or NaN), the trace ends with the step before, and in place of the end state stands in
/// which step that was.
///
/// Once `stop` is set, it ends after the present step, with [`VerifyError::Stopped`].
pub fn segment(
	engine: &Engine,
	spec: &JobSpec,
	segment: u32,
	begin: &TensorMap,
	stop: &AtomicBool,
) -> Result<Replayed, VerifyError> {
	let steps = spec.checkpoint_step(segment).zip(spec.checkpoint_step(segment.saturating_add(1)));
	let (from, to) = steps
		.filter(|(from, to)| from < to)
		.ok_or(VerifyError::NoSuchSegment { segment, segments: spec.segments() })?;
	let mut state = State::from_host(begin.clone()).map_err(VerifyError::Engine)?;
	let (mut trace, mut diverged) = (Trace::new(from), false);
	for step in from..to {
		check(stop)?;
		match engine.step(&mut state, step) {
			Ok(made) if made.loss.is_finite() => trace.step(&made),
			Ok(_) | Err(EngineError::NotANumber { .. }) => {
				diverged = true;
				break;
			}
			Err(e) => return Err(VerifyError::Engine(e)),
		}
	}
	let mut end = None;
	if !diverged {
		check(stop)?;
		end = end_of(engine, &state)?;
	}
	let (end_state, validation) = match end {
		Some((hash, found)) => {
			trace.evaluation(&found);
			(hash, Some(found.evaluation))
		}
		None => (diverged_state(trace.steps()), None),
	};
	let trace_root = trace.root();
	let evidence = SegmentEvidence { segment, trace_root, end_state, idle_since: None };
	Ok(Replayed { evidence, validation })
}

/// Returns what stands for the replay of segment 0 where the initial state has no finite validation
/// loss: training diverged before its first step.
pub fn before_the_first_step() -> Replayed {
	let (trace_root, end_state) = (Trace::new(0).root(), diverged_state(0));
	let evidence = SegmentEvidence { segment: 0, trace_root, end_state, idle_since: None };
	Replayed { evidence, validation: None }
}

/// Returns the hash of a state at the end of a segment, and its evaluation; `None` where a run would
/// end as diverged.
fn end_of(engine: &Engine, state: &State) -> Result<Option<(H256, Evaluated)>, VerifyError> {
	let end = state.to_host().map_err(VerifyError::Engine)?;
	if end.values().any(|tensor| tensor.data.iter().any(|x| !x.is_finite())) {
		return Ok(None);
	}
	let Some(found) = evaluate(engine, state)? else { return Ok(None) };
	let hash = state_hash(&end, NanRule::Refuse).map_err(VerifyError::Engine)?;
	Ok(Some((hash, found)))
}

/// Fails with [`VerifyError::Stopped`] once `stop` is set.
pub(super) fn check(stop: &AtomicBool) -> Result<(), VerifyError> {
	match stop.load(Ordering::Relaxed) {
		true => Err(VerifyError::Stopped),
		false => Ok(()),
	}
}
