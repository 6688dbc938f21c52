//! Replays segments: trains a segment again and compares where it ends.

use super::VerifyError;
use primitive_types::H256;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use trainyard_engine::{le_bytes, state_hash, Engine, EngineError, NanRule, State, TensorMap};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	audit::SegmentEvidence,
	bundle::{trace_leaf, Evaluation},
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
	/// Evaluation of the end state; none if it has none.
	pub validation: Option<Evaluation>,
}

/// Evaluates a state. Returns the result, and the losses of the validation labels, little endian;
/// `None` if the loss is not a number. No honest run goes on from there.
pub fn evaluate(
	engine: &Engine,
	state: &State,
) -> Result<Option<(Evaluation, Vec<u8>)>, VerifyError> {
	match engine.evaluate_labels(state) {
		Ok((found, losses)) => Ok(Some((found, le_bytes(&losses).to_vec()))),
		Err(EngineError::LossNotANumber) => Ok(None),
		Err(e) => Err(VerifyError::Engine(e)),
	}
}

/// Replays `segment` from its first state, evaluates its end state, and returns what was computed
/// on the way. If a value becomes infinite or NaN (no honest run goes on from there), the trace
/// ends with what could be done, and an end state that was not reached is zero.
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
	let mut reached = true;
	for step in from..to {
		check(stop)?;
		match engine.step(&mut state, step) {
			Ok(trace) => leaves.push(trace_leaf(step, trace.loss, &trace.logits)),
			Err(EngineError::NotANumber { .. }) => {
				reached = false;
				break;
			}
			Err(e) => return Err(VerifyError::Engine(e)),
		}
	}
	let (mut end_state, mut validation) = (H256::zero(), None);
	if reached {
		check(stop)?;
		if let Some((found, losses)) = evaluate(engine, &state)? {
			leaves.push(trace_leaf(to, found.loss(), &losses));
			validation = Some(found);
		}
		let hash = state.to_host().and_then(|end| state_hash(&end, NanRule::Allow));
		end_state = hash.map_err(VerifyError::Engine)?;
	}
	let trace_root = merkle::root(&leaves);
	let evidence = SegmentEvidence { segment, trace_root, end_state, idle_since: None };
	Ok(Replayed { evidence, validation })
}

/// Fails with [`VerifyError::Stopped`] once `stop` is set.
pub(super) fn check(stop: &AtomicBool) -> Result<(), VerifyError> {
	match stop.load(Ordering::Relaxed) {
		true => Err(VerifyError::Stopped),
		false => Ok(()),
	}
}
