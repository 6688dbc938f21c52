//! Replays segments: trains a segment again and compares where it ends.

use super::VerifyError;
use crate::{bundle::Manifest, trace::Trace};
use primitive_types::H256;
use std::sync::atomic::{AtomicBool, Ordering};
use trainyard_engine::{state_hash, Engine, EngineError, Evaluated, NanRule, State, TensorMap};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	accusation::LeafContent,
	audit::{Ended, SegmentEvidence},
	bundle::Checkpoint,
};

/// Replays that were done before, of one job under one seed: what a segment comes to depends on
/// nothing else but the state in which it begins. A verifier that was restarted goes on with them,
/// and results that share segments share their replays.
pub trait Replays: Sync {
	/// Returns what the replay of `segment` from the state with the hash `begin` computed, if it was
	/// done.
	fn load(&self, segment: u32, begin: &H256) -> Option<SegmentEvidence>;

	/// Keeps what it computed.
	fn save(&self, begin: &H256, replayed: &SegmentEvidence);
}

/// No replays: each is done, and none is kept.
pub struct NoReplays;

impl Replays for NoReplays {
	fn load(&self, _: u32, _: &H256) -> Option<SegmentEvidence> {
		None
	}

	fn save(&self, _: &H256, _: &SegmentEvidence) {}
}

/// Returns what the bundle of this manifest says of the end of `segment`; `None` if it trained no
/// such segment.
pub fn claimed_end(manifest: &Manifest, segment: u32) -> Option<LeafContent> {
	match manifest.checkpoints.get(segment.saturating_add(1) as usize) {
		Some(listed) => Some(LeafContent::Checkpoint(listed.bound())),
		None => {
			let last = manifest.diverged.filter(|_| manifest.segments() == segment);
			last.map(LeafContent::Diverged)
		}
	}
}

/// Returns whether training left the finite numbers in a segment that was replayed.
pub fn diverged(replayed: &SegmentEvidence) -> bool {
	matches!(replayed.ended, Ended::Diverged { .. })
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

impl Equal {
	/// Compares what a replay came to with what is claimed.
	pub fn of(replayed: &SegmentEvidence, claimed: &LeafContent) -> Self {
		match (replayed.leaf(), claimed) {
			(LeafContent::Checkpoint(found), LeafContent::Checkpoint(claimed)) => Self {
				state: (found.step, found.state) == (claimed.step, claimed.state),
				evaluation: found.evaluation == claimed.evaluation,
				trace: found.trace == claimed.trace,
			},
			(LeafContent::Diverged(found), LeafContent::Diverged(claimed)) => Self {
				state: found.step == claimed.step,
				evaluation: true,
				trace: found.trace == claimed.trace,
			},
			_ => Self { state: false, evaluation: false, trace: false },
		}
	}

	/// Returns whether the trace alone is another one, as that of a forced leaf is. A run that diverged has
	/// no evaluation that could tell.
	pub fn is_but_for_its_trace(&self) -> bool {
		self.state && self.evaluation && !self.trace
	}

	/// Returns whether all of it is.
	pub fn all(&self) -> bool {
		self.state && self.evaluation && self.trace
	}
}

/// Says what a segment ended in, in few words: the hash of a state, or the step in which training left
/// the finite numbers.
pub fn end_in_words(end: &LeafContent) -> String {
	match end {
		LeafContent::Checkpoint(Checkpoint { state, .. }) => format!("{state:?}"),
		LeafContent::Diverged(end) => format!("a divergence in step {}", end.step),
	}
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
/// is infinite or NaN), the trace ends with the step before, and in the place of an end stands in
/// which step that was.
///
/// Once `stop` is set, it ends after the present step, with [`VerifyError::Stopped`].
pub fn segment(
	engine: &Engine,
	spec: &JobSpec,
	segment: u32,
	begin: &TensorMap,
	stop: &AtomicBool,
) -> Result<SegmentEvidence, VerifyError> {
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
	let ended = match end {
		Some((state, found)) => {
			trace.evaluation(&found);
			Ended::Checkpoint { step: to, state, evaluation: found.evaluation }
		}
		None => Ended::Diverged { step: trace.steps() },
	};
	Ok(SegmentEvidence {
		segment,
		trace_root: trace.root(),
		ended,
		differs: None,
		idle_since: None,
	})
}

/// Returns what stands for the replay of segment 0 where the initial state has no finite validation
/// loss: training diverged before its first step.
pub fn before_the_first_step() -> SegmentEvidence {
	let trace_root = Trace::new(0).root();
	let ended = Ended::Diverged { step: 0 };
	SegmentEvidence { segment: 0, trace_root, ended, differs: None, idle_since: None }
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
