//! Checks a run of one's own before anything depends on it: segments drawn by this machine's
//! randomness are replayed on the processor, and must end as the run did, bit for bit.
//!
//! It finds a GPU that computes wrong, and, where the processor trained as well, errors of memory
//! and processor. Whoever commits to a false result loses a deposit that is many times the price.

use super::{
	replay::{self, claimed_end, end_in_words, Equal},
	VerifyError,
};
use crate::{
	bundle::{self, Bundle, BundleError},
	inputs::Inputs,
};
use primitive_types::H256;
use std::{collections::BTreeSet, sync::atomic::AtomicBool};
use trainyard_engine::{Compute, Engine, State, TensorMap};
use trainyard_program::spec::CheckedSpec;
use trainyard_protocol::{
	accusation::LeafContent,
	audit::{Ended, SegmentEvidence},
	bundle::Evaluation,
};

/// What replays a segment from its first state.
pub type Replayer<'a> = dyn FnMut(u32, &TensorMap) -> Result<SegmentEvidence, VerifyError> + 'a;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
	/// Every replay ended as the run did.
	Agrees,
	/// A replay ended otherwise, and ended as the run did when it was done again: the run is right,
	/// and this machine makes errors.
	Unsteady {
		/// The segment.
		segment: u32,
		/// How the first replay differed.
		what: String,
	},
	/// The run is false.
	False {
		/// The first segment that is known to be false.
		segment: u32,
		/// Checkpoints, from the first on, that may be kept.
		whole: u32,
		/// How it differs.
		what: String,
	},
}

/// Returns `count` of the segments of a run, drawn at random.
pub fn draw(count: u32, segments: u32) -> BTreeSet<u32> {
	super::Choice::Random(count).draw(segments)
}

/// Replays segments of the run in `bundle` on the processor. Once `stop` is set, it ends after the
/// present step, with [`VerifyError::Stopped`].
pub fn on_processor(
	bundle: &Bundle,
	(spec, seed): (&CheckedSpec, H256),
	inputs: &Inputs,
	segments: &BTreeSet<u32>,
	stop: &AtomicBool,
) -> Result<Finding, VerifyError> {
	let target = Compute::Cpu.target().map_err(VerifyError::Engine)?;
	let engine =
		Engine::on(spec, seed, inputs.data.clone(), target).map_err(VerifyError::Engine)?;
	let unevaluated = bundle.manifest().checkpoints.first().map(|c| c.validation);
	let unevaluated = unevaluated == Some(Evaluation::NONE);
	let replayer = &mut |segment, begin: &TensorMap| {
		if unevaluated {
			// What is said to have diverged is the evaluation before the first step.
			let state = State::from_host(begin.clone()).map_err(VerifyError::Engine)?;
			let none = replay::before_the_first_step();
			let Some(found) = replay::evaluate(&engine, &state)? else { return Ok(none) };
			let (state, evaluation) =
				(state.hash().map_err(VerifyError::Engine)?, found.evaluation);
			let ended = Ended::Checkpoint { step: 0, state, evaluation };
			return Ok(SegmentEvidence { ended, ..none });
		}
		replay::segment(&engine, spec, segment, begin, stop)
	};
	check((bundle, spec, seed), inputs, segments, replayer)
}

/// Does what [`on_processor`] does, with the replays of `replayer`.
///
/// If one differs, it is done again: this machine may have failed in the replay and not in the run.
/// If it differs again, the run is false there. As it may be false before that, all segments
/// before it are replayed until one differs, so that what is kept was computed twice.
pub fn check(
	(bundle, spec, seed): (&Bundle, &CheckedSpec, H256),
	inputs: &Inputs,
	segments: &BTreeSet<u32>,
	replayer: &mut Replayer<'_>,
) -> Result<Finding, VerifyError> {
	let mut differs = |segment| difference((bundle, spec, seed), inputs, segment, replayer);
	let mut unsteady = None;
	for segment in segments {
		let Some(what) = differs(*segment)? else { continue };
		if differs(*segment)?.is_none() {
			unsteady = Some(Finding::Unsteady { segment: *segment, what });
			continue;
		}
		// A segment whose first state is not kept cannot be replayed by itself: what follows it counts as not
		// computed twice.
		let mut unknown = None;
		for before in 0..*segment {
			if !is_there(bundle, before) {
				unknown = unknown.or(Some(before));
				continue;
			}
			if let Some(what) = differs(before)? {
				let whole = unknown.unwrap_or(before).saturating_add(1);
				return Ok(Finding::False { segment: before, whole, what });
			}
		}
		let unevaluated = bundle.manifest().checkpoints.first().map(|c| c.validation);
		let whole = match unevaluated == Some(Evaluation::NONE) {
			true => 0,
			false => unknown.unwrap_or(*segment).saturating_add(1),
		};
		return Ok(Finding::False { segment: *segment, whole, what });
	}
	Ok(unsteady.unwrap_or(Finding::Agrees))
}

/// Returns whether the state is there with which a segment begins.
pub fn is_there(bundle: &Bundle, segment: u32) -> bool {
	let listed = bundle.manifest().checkpoints.get(segment as usize);
	segment == 0 || listed.is_some_and(|listed| bundle.has_checkpoint(listed.step))
}

/// Returns how the replay of a segment differs from the run, if it does.
fn difference(
	(bundle, spec, seed): (&Bundle, &CheckedSpec, H256),
	inputs: &Inputs,
	segment: u32,
	replayer: &mut Replayer<'_>,
) -> Result<Option<String>, VerifyError> {
	let listed = &bundle.manifest().checkpoints;
	let no_such = || VerifyError::NoSuchSegment { segment, segments: bundle.manifest().segments() };
	let at = segment as usize;
	let from = listed.get(at).ok_or_else(no_such)?;
	let claimed = claimed_end(bundle.manifest(), segment).ok_or_else(no_such)?;
	let begin = match segment {
		0 => {
			let state = Engine::initial_state(spec, &seed, inputs.initial_model());
			let state = state.map_err(VerifyError::Engine)?;
			if state.hash().map_err(VerifyError::Engine)? != from.state_hash {
				return Ok(Some("it does not begin with the initial state".to_owned()));
			}
			state.to_host().map_err(VerifyError::Engine)?
		}
		_ => match bundle.checkpoint_within(from.step, bundle::max_checkpoint_bytes(spec)) {
			Ok(state) => state,
			Err(BundleError::File(e)) => return Err(e.into()),
			Err(e) => return Ok(Some(format!("its first state is not what was written: {e}"))),
		},
	};
	let replayed = replayer(segment, &begin)?;
	let equal = Equal::of(&replayed, &claimed);
	Ok(match claimed {
		LeafContent::Diverged(_) => {
			let steps = format!("segment {segment} (from step {})", from.step);
			match (replay::diverged(&replayed), equal.all()) {
				(false, _) => Some(format!("{steps} diverged, and its replay does not")),
				(true, false) => Some(format!("{steps} diverged otherwise than its replay")),
				(true, true) => None,
			}
		}
		LeafContent::Checkpoint(to) => {
			let steps = format!("segment {segment} (steps {} to {})", from.step, to.step);
			if !equal.state {
				let [found, expected] = [replayed.leaf(), claimed].map(|end| end_in_words(&end));
				Some(format!("{steps} ended in {expected}, and its replay in {found}"))
			} else if !equal.evaluation {
				Some(format!("the evaluation after {steps} is another one in its replay"))
			} else {
				(!equal.trace).then(|| format!("the trace of {steps} is another one in its replay"))
			}
		}
	})
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{
		bundle::{manifest::checkpoint_file, tensors, thinning::Thinning},
		inputs::InputPaths,
		restore,
		testing::{job, table, train, SEED},
		trace::Trace,
		train as training,
	};
	use std::{collections::BTreeMap, path::Path};
	use trainyard_engine::{state_hash, NanRule};

	struct Run {
		folder: tempfile::TempDir,
		spec: CheckedSpec,
		inputs: Inputs,
		bundle: Bundle,
	}

	const NEVER: AtomicBool = AtomicBool::new(false);

	impl Run {
		fn new() -> Self {
			let folder = tempfile::tempdir().unwrap();
			let path = table(folder.path());
			let spec = job(&path);
			let inputs = Inputs::load(&spec, &InputPaths::data(&path)).unwrap();
			let bundle = train(&spec, &path, &folder.path().join("out"), false, None).unwrap();
			Self { folder, spec, inputs, bundle }
		}

		fn data(&self) -> std::path::PathBuf {
			self.folder.path().join("table.csv")
		}

		/// A run in which a bit of checkpoint `index` was flipped before it was written: everything
		/// after it is trained from there.
		fn flipped(mut self, index: u32) -> Self {
			let out = self.bundle.folder().to_owned();
			training::keep_until(&out, index + 1).unwrap();
			let mut bundle = Bundle::open(&out).unwrap();
			let step = self.spec.checkpoint_step(index).unwrap();
			let mut state = bundle.checkpoint(step).unwrap();
			let tensor = state.get_mut("layers.0.weight").unwrap();
			tensor.data[3] = f32::from_bits(tensor.data[3].to_bits() ^ (1 << 20));
			std::fs::write(out.join(checkpoint_file(step)), tensors::encode(&state)).unwrap();
			let engine = Engine::new(&self.spec, SEED, self.inputs.data.clone()).unwrap();
			let begin = self.spec.checkpoint_step(index - 1).unwrap();
			let mut trained = State::from_host(bundle.checkpoint(begin).unwrap()).unwrap();
			let mut trace = Trace::new(begin);
			for step in begin..step {
				trace.step(&engine.step(&mut trained, step).unwrap());
			}
			let flipped = State::from_host(state.clone()).unwrap();
			let found = engine.evaluate_slices(&flipped).unwrap();
			trace.evaluation(&found);
			let listed = &mut bundle.manifest_mut().checkpoints[index as usize];
			listed.state_hash = state_hash(&state, NanRule::Refuse).unwrap();
			(listed.validation, listed.trace) = (found.evaluation, trace.sealed());
			bundle.write_manifest().unwrap();
			self.bundle = train(&self.spec, &self.data(), &out, true, None).unwrap();
			self
		}

		fn checked(&self, segments: &[u32]) -> Finding {
			let (job, drawn) = ((&self.spec, SEED), segments.iter().copied().collect());
			on_processor(&self.bundle, job, &self.inputs, &drawn, &NEVER).unwrap()
		}
	}

	#[test]
	fn a_right_run_agrees_and_an_error_of_memory_is_found() {
		let run = Run::new();
		assert_eq!(run.checked(&[0, 1, 2, 3, 4, 5]), Finding::Agrees);
		let root = run.bundle.root();
		let run = run.flipped(3);
		assert_ne!(run.bundle.root(), root);
		// Segment 2 ends in the wrong state. What comes after follows from it, so that it is true.
		assert_eq!(run.checked(&[0, 1, 3, 4, 5]), Finding::Agrees);
		let Finding::False { segment: 2, whole: 3, what } = run.checked(&[2, 5]) else { panic!() };
		assert!(what.starts_with("segment 2 (steps 20 to 30) ended in "), "{what}");
		// From the last agreed checkpoint the run comes to what it should have come to.
		let out = run.bundle.folder();
		training::keep_until(out, 3).unwrap();
		assert_eq!(Bundle::open(out).unwrap().manifest().checkpoints.len(), 3);
		let bundle = train(&run.spec, &run.data(), out, true, None).unwrap();
		assert_eq!(bundle.root(), root);
	}

	/// Where states thin out, what was not computed twice is trained again: all that follows a state that is not there.
	#[test]
	fn of_a_thinned_run_what_cannot_be_replayed_counts_as_unknown() {
		let run = Run::new().flipped(4);
		let every = Thinning::every(3.try_into().unwrap());
		assert_eq!(restore::thin(run.bundle.folder(), every).unwrap().states, 4);
		assert_eq!([0, 1, 3, 4].map(|at| is_there(&run.bundle, at)), [true, false, true, false]);
		// Segment 3 ends in the wrong state; segments 1 and 2 begin with states that are not there.
		let Finding::False { segment: 3, whole: 2, .. } = run.checked(&[3]) else { panic!() };
		let right = Run::new();
		restore::thin(right.bundle.folder(), every).unwrap();
		assert_eq!(right.checked(&[0, 3]), Finding::Agrees);
	}

	/// A device that computes wrong does so from the beginning; one false segment of many is drawn.
	#[test]
	fn nothing_is_kept_that_was_not_computed_twice() {
		let run = Run::new().flipped(2).flipped(4);
		let Finding::False { segment: 1, whole: 2, .. } = run.checked(&[3]) else { panic!() };
		let run = Run::new();
		let states = run.bundle.folder().join("checkpoints");
		let before: BTreeMap<_, _> = files(&states);
		// Everything after checkpoint 1 is wrong in this executor's eyes.
		let job = (&run.bundle, &run.spec, SEED);
		let engine = Engine::new(&run.spec, SEED, run.inputs.data.clone()).unwrap();
		let mut wrong = |segment, begin: &TensorMap| {
			let mut replayed = replay::segment(&engine, &run.spec, segment, begin, &NEVER)?;
			if segment > 0 {
				replayed.ended = Ended::Diverged { step: 3 };
			}
			Ok(replayed)
		};
		let found = check(job, &run.inputs, &[4].into(), &mut wrong).unwrap();
		assert!(matches!(found, Finding::False { segment: 1, whole: 2, .. }), "{found:?}");
		assert_eq!(files(&states), before, "a check changes nothing");
	}

	#[test]
	fn a_replay_that_fails_once_does_not_cost_the_run() {
		let run = Run::new();
		let job = (&run.bundle, &run.spec, SEED);
		let engine = Engine::new(&run.spec, SEED, run.inputs.data.clone()).unwrap();
		let mut times = 0;
		let mut shaky = |segment, begin: &TensorMap| {
			let mut replayed = replay::segment(&engine, &run.spec, segment, begin, &NEVER)?;
			times += 1;
			if times == 2 {
				replayed.trace_root.0[31] ^= 1;
			}
			Ok(replayed)
		};
		let found = check(job, &run.inputs, &[1, 4, 5].into(), &mut shaky).unwrap();
		assert!(matches!(found, Finding::Unsteady { segment: 4, .. }), "{found:?}");
		assert_eq!(times, 4);
		let stopped = AtomicBool::new(true);
		let job = (&run.spec, SEED);
		let ended = on_processor(&run.bundle, job, &run.inputs, &draw(1, 6), &stopped);
		assert!(matches!(ended, Err(VerifyError::Stopped)));
	}

	fn files(folder: &Path) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
		let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
		entries.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
	}
}
