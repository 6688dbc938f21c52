//! Replays segments: trains a segment again and compares where it ends.

use super::VerifyError;
use primitive_types::H256;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use trainyard_engine::{state_hash, Engine, EngineError, NanRule, State, TensorMap};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	audit::SegmentEvidence,
	bundle::{diverged_state, trace_leaf, Evaluation},
	content::le_bytes,
	merkle,
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
}

/// Evaluates a state. Returns the result, and the losses of the validation labels, little endian;
/// `None` if the loss is not a number. No honest run goes on from there.
pub fn evaluate(
	engine: &Engine,
	state: &State,
) -> Result<Option<(Evaluation, Vec<u8>)>, VerifyError> {
	match engine.evaluate_labels(state) {
		Ok((found, losses)) => Ok(Some((found, le_bytes(&losses)))),
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
	let mut leaves = Vec::with_capacity((to - from) as usize + 1);
	let mut diverged = None;
	for step in from..to {
		check(stop)?;
		match engine.step(&mut state, step) {
			Ok(trace) if trace.loss.is_finite() => {
				leaves.push(trace_leaf(step, trace.loss, &trace.logits));
			}
			Ok(_) | Err(EngineError::NotANumber { .. }) => {
				diverged = Some(step);
				break;
			}
			Err(e) => return Err(VerifyError::Engine(e)),
		}
	}
	let mut end = None;
	if diverged.is_none() {
		check(stop)?;
		end = end_of(engine, &state)?;
	}
	let (end_state, validation) = match end {
		Some((hash, found, losses)) => {
			leaves.push(trace_leaf(to, found.loss(), &losses));
			(hash, Some(found))
		}
		None => (diverged_state(diverged.unwrap_or(to)), None),
	};
	let trace_root = merkle::root(&leaves);
	let evidence = SegmentEvidence { segment, trace_root, end_state, idle_since: None };
	Ok(Replayed { evidence, validation })
}

/// Returns what stands for the replay of segment 0 where the initial state has no finite validation
/// loss: training diverged before its first step.
pub fn before_the_first_step() -> Replayed {
	let (trace_root, end_state) = (merkle::root(&[]), diverged_state(0));
	let evidence = SegmentEvidence { segment: 0, trace_root, end_state, idle_since: None };
	Replayed { evidence, validation: None }
}

/// Returns the hash of a state at the end of a segment, its evaluation and the losses of the
/// validation labels; `None` where a run would end as diverged.
fn end_of(
	engine: &Engine,
	state: &State,
) -> Result<Option<(H256, Evaluation, Vec<u8>)>, VerifyError> {
	let end = state.to_host().map_err(VerifyError::Engine)?;
	if end.values().any(|tensor| tensor.data.iter().any(|x| !x.is_finite())) {
		return Ok(None);
	}
	let Some((found, losses)) = evaluate(engine, state)? else { return Ok(None) };
	let hash = state_hash(&end, NanRule::Refuse).map_err(VerifyError::Engine)?;
	Ok(found.loss().is_finite().then_some((hash, found, losses)))
}

/// Fails with [`VerifyError::Stopped`] once `stop` is set.
pub(super) fn check(stop: &AtomicBool) -> Result<(), VerifyError> {
	match stop.load(Ordering::Relaxed) {
		true => Err(VerifyError::Stopped),
		false => Ok(()),
	}
}
