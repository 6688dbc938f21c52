//! What a recorder says at every place of a job.

use super::*;
use trainyard_court::{
	game::player::Slices,
	referee::{
		proving::{self, Holder},
		Origin, Stretch, To,
	},
};

/// Compares what is computed of a step or of a slice, all bytes and what opens them.
fn compare_computed(name: &str, job: &Job, run: &Run, recorder: &Recorder, at: Moment) -> u32 {
	let lowered = Lowered::new(&job.world.case, at.computation().unwrap()).unwrap();
	let (expected, found) = (run.computed(&at).unwrap(), recorder.computed(&at).unwrap());
	assert_eq!(Holder::results(expected), found.results(), "{name}: {at:?}");
	assert_eq!(Holder::state(expected), Holder::state(&found), "{name}: {at:?}");
	assert_eq!(expected.rows(), found.rows());
	let states = (0..lowered.state().tensors().len() as u32).map(Origin::State);
	let results = (0..lowered.results()).map(Origin::Result);
	let rows = [Origin::Features, Origin::Labels];
	for origin in states.chain(results).chain(rows) {
		let bytes = Holder::bytes(&expected, origin).unwrap();
		assert_eq!(bytes, found.bytes(origin).unwrap(), "{name}: {at:?} {origin:?}");
		let last = bytes.len() as u64 / 4 - 1;
		for index in [0, last / 2, last] {
			assert_eq!(expected.word(origin, index), Holder::word(&found, origin, index));
		}
		assert_eq!(Holder::word(&found, origin, last + 1), None);
	}
	let mut opened = 0;
	for result in 0..lowered.results() {
		let element = lowered.part(result).unwrap().len / 2;
		let (all, unit) =
			(lowered.terms(result, element).unwrap(), lowered.stretch(result).unwrap());
		let end = To::Element { bits: 0 };
		let chain = |taken: u64| To::Chain { taken, digest: H256::zero() };
		let mut pieces = vec![(None, end)];
		if all > unit {
			let digest = H256::zero();
			pieces = vec![
				(None, chain(unit)),
				(Some((unit, digest)), chain(all.min(2 * unit))),
				(Some((all, digest)), end),
			];
		}
		for (from, to) in pieces {
			let piece = Stretch { result, element, from, to };
			let open = proving::open_stretch(&lowered, &expected, &piece).unwrap();
			let own = proving::open_stretch(&lowered, &found, &piece).unwrap();
			assert_eq!(open, own, "{name}: {at:?} {piece:?}");
			opened += 1;
		}
		let open = proving::open_result(&lowered, &expected, result, element).unwrap();
		assert_eq!(open, proving::open_result(&lowered, &found, result, element).unwrap());
		let taken = [0, all / 2, all];
		let chain = proving::accumulators(&lowered, &expected, result, element, taken).unwrap();
		let own = proving::accumulators(&lowered, &found, result, element, taken).unwrap();
		let digest = |(taken, held): &(u64, _)| trainyard_protocol::court::chain(*taken, held);
		let digests = |all: &[_]| all.iter().map(digest).collect::<Vec<_>>();
		assert_eq!(digests(&chain), digests(&own), "{name}: {at:?} {result}");
		let one = proving::accumulator(&lowered, &found, result, element, all / 2).unwrap();
		assert_eq!(digest(&(all / 2, one)), digest(&chain[1]));
	}
	opened
}

fn compare_state(name: &str, run: &Run, recorder: &Recorder, at: StateAt) {
	let hash = run.state(at);
	assert_eq!(hash, recorder.state(at), "{name}: {at:?}");
	if hash.is_none() {
		assert!(recorder.contents(at).is_none(), "{name}: {at:?}");
		return;
	}
	let contents = run.contents(at).unwrap();
	assert_eq!(Some(&contents), recorder.contents(at).as_ref(), "{name}: {at:?}");
	for tensor in 0..=contents.len() as u32 {
		let bytes = run.tensor(at, tensor, <[u8]>::to_vec);
		assert_eq!(bytes.is_some(), (tensor as usize) < contents.len());
		assert_eq!(bytes, recorder.tensor(at, tensor, <[u8]>::to_vec), "{name}: {at:?} {tensor}");
	}
}

/// Compares all that a recorder of an honest run says with what the run says. Returns the openings.
pub(super) fn compare(name: &str, job: &Job, run: &Run, recorder: &Recorder) -> u32 {
	let (spec, mut opened) = (job.spec(), 0);
	assert_eq!(run.checkpoints(), recorder.checkpoints());
	assert_eq!(run.leaves(), recorder.leaves());
	let ends = run.checkpoints.len() as u32;
	for index in 0..ends {
		compare_state(name, run, recorder, StateAt::Checkpoint(index));
	}
	let slices = |record: &Run, at: u32| record.slices(at, Slices::clone);
	for checkpoint in 0..=ends {
		// Nothing follows the leaf of an initial state whose loss is not finite, or an early stop.
		if checkpoint == ends && (run.diverged.is_none() || ends == 1) {
			break;
		}
		let expected = slices(run, checkpoint);
		assert_eq!(expected, recorder.slices(checkpoint, Slices::clone), "{name}: {checkpoint}");
		assert_eq!(run.evaluation(checkpoint), recorder.evaluation(checkpoint), "{name}");
		if expected.is_none() {
			continue;
		}
		for slice in 0..spec.slices() {
			let at = Moment::Slice { checkpoint, slice };
			opened += compare_computed(name, job, run, recorder, at);
		}
	}
	let segments = (ends - 1) + u32::from(run.diverged.is_some() && ends > 1);
	for segment in 0..segments {
		let (from, to) = recorder.steps_of(segment).unwrap();
		let last = run.diverged.filter(|_| segment + 1 == ends);
		assert_eq!(recorder.end(segment).unwrap(), run.end_at(segment + 1).unwrap(), "{name}");
		recorder.check(segment).unwrap();
		// Backwards as well: nothing depends on what was asked before.
		for steps in (from..=to).rev().chain(from..=to) {
			compare_state(name, run, recorder, StateAt::Steps { segment, steps });
			if last.is_some_and(|last| steps > last.step) {
				continue;
			}
			assert_eq!(run.steps(segment, steps), recorder.steps(segment, steps), "{name}");
		}
		let divergence = run.divergence(segment).filter(|_| last.is_some());
		assert_eq!(divergence, recorder.divergence(segment), "{name}");
		let trained = last.map_or(to, |last| to.min(last.step + 1));
		for step in from..trained {
			let bits = |found: Option<(f32, H256)>| {
				found.map(|(loss, logits)| (trainyard_strict::canonical_bits(loss), logits))
			};
			assert_eq!(bits(run.step(segment, step)), bits(recorder.step(segment, step)));
			assert_eq!(
				run.witness(segment, step).filter(|_| last.is_some()),
				recorder.witness(segment, step),
				"{name}: {step}"
			);
			let at = Moment::Step { segment, step };
			opened += compare_computed(name, job, run, recorder, at);
		}
		assert!(recorder.computed(&Moment::Step { segment, step: to }).is_none());
	}
	let model = recorder.model(<[u8]>::to_vec).unwrap();
	assert_eq!(model, run.model_bytes, "{name}");
	if !job.parameters.is_empty() {
		assert_eq!(run.parameters(), recorder.parameters());
		for tensor in 0..job.parameters.len() as u32 {
			let parameter = run.parameter(tensor, <[u8]>::to_vec);
			assert_eq!(parameter, recorder.parameter(tensor, <[u8]>::to_vec));
		}
	}
	assert!(lock(&recorder.failure).is_none(), "{name}: {:?}", lock(&recorder.failure));
	opened
}

#[test]
fn every_place_of_every_job_is_that_of_the_reference() {
	let mut opened = 0;
	for (name, job) in every_kind() {
		let run = Run::new(&job, Change::Nothing);
		let disk = OnDisk::new(&job, &run);
		opened += compare(&name, &job, &run, &disk.recorder(Options::default()));
	}
	println!("{opened} openings");
	assert!(opened > 2_000, "{opened}");
}

/// Without room in memory, what is asked for is computed again, to the same bits.
#[test]
fn results_that_do_not_stay_in_memory_are_computed_again() {
	for (name, job) in all_operators() {
		let run = Run::new(&job, Change::Nothing);
		let disk = OnDisk::new(&job, &run);
		let recorder = disk.recorder(Options { memory: 0, ..Options::default() });
		let at = Moment::Step { segment: 0, step: 1 };
		compare_computed(&name, &job, &run, &recorder, at);
		let results = run.computed(&at).unwrap().results().len() as u64;
		assert_eq!(recorder.work().recorded, 1 + results, "{name}: once for each, and no more");
	}
}

/// Chains of several stretches, and contents of two levels.
#[test]
fn large_tensors_are_those_of_the_reference() {
	let job = jobs::broad();
	let run = Run::new(&job, Change::Nothing);
	let recorder = OnDisk::new(&job, &run).recorder(Options::default());
	let at = Moment::Step { segment: 0, step: 0 };
	let opened = compare_computed("broad", &job, &run, &recorder, at);
	let results = run.computed(&at).unwrap().results().len() as u32;
	assert!(opened > results, "{opened} openings of {results} results");
}
