//! Replay: doing a segment again and comparing where it ends.

use super::VerifyError;
use crate::{
	bundle::{tensors, Tensors},
	engine::{Engine, EngineError, State},
};
use primitive_types::H256;
use std::sync::atomic::{AtomicBool, Ordering};
use trainyard_primitives::{audit::SegmentEvidence, bundle::trace_leaf, merkle, spec::JobSpec};

/// Replays `segment` from its first state, and says what was computed on the way. Where
/// the numbers leave the finite range (no honest run goes on from there) the trace ends
/// with the last step that could be done and the end state is zero.
///
/// Once `stop` is set it ends behind the present step, with [`VerifyError::Stopped`].
pub fn segment(
	engine: &Engine,
	spec: &JobSpec,
	segment: u32,
	begin: &Tensors,
	stop: &AtomicBool,
) -> Result<SegmentEvidence, VerifyError> {
	let steps = spec.checkpoint_step(segment).zip(spec.checkpoint_step(segment.saturating_add(1)));
	let (from, to) = steps
		.filter(|(from, to)| from < to)
		.ok_or(VerifyError::NoSuchSegment { segment, segments: spec.segments() })?;
	let mut state = State::new(tensors::to_candle(begin)?);
	let mut leaves = Vec::with_capacity((to - from) as usize);
	let mut end_state = None;
	for step in from..to {
		check(stop)?;
		match engine.step(&mut state, step) {
			Ok(trace) => leaves.push(trace_leaf(step, trace.loss, &trace.logits)),
			Err(EngineError::NotANumber { .. }) => {
				end_state = Some(H256::zero());
				break;
			}
			Err(e) => return Err(VerifyError::Engine(e)),
		}
	}
	let end_state = match end_state {
		Some(zero) => zero,
		None => tensors::hash(&tensors::from_candle(state.host().map_err(VerifyError::Engine)?)?),
	};
	Ok(SegmentEvidence { segment, trace_root: merkle::root(&leaves), end_state })
}

/// [`VerifyError::Stopped`] once `stop` is set.
pub(super) fn check(stop: &AtomicBool) -> Result<(), VerifyError> {
	match stop.load(Ordering::Relaxed) {
		true => Err(VerifyError::Stopped),
		false => Ok(()),
	}
}
