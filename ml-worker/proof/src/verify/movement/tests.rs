mod levels;

use super::*;
use crate::{
	bundle::{
		hash_of_state,
		manifest::checkpoint_file,
		openings::{Opening, Parts, WrongOpening},
		tensors, Bundle,
	},
	testing::{changed, job, stopping, table, train},
	train::TrainError,
};
use std::path::{Path, PathBuf};
use trainyard_engine::TensorMap;
use trainyard_program::spec::{Activation, DataFormat, JobSpec, Loss, Model, Optimizer, Schedule};

/// What a VRF gave a seat.
const OUTPUT: H256 = H256([9; 32]);

/// A trained run, of which states can be made up.
struct Run {
	folder: tempfile::TempDir,
	spec: CheckedSpec,
	checkpoints: Vec<(u32, H256)>,
	diverged: bool,
	measure: Measure,
}

impl Run {
	fn of(spec: impl FnOnce(&Path) -> CheckedSpec) -> Self {
		let folder = tempfile::tempdir().unwrap();
		let data = table(folder.path());
		let spec = spec(&data);
		let out = folder.path().join("bundle");
		let bundle = match train(&spec, &data, &out, false, None) {
			Err(TrainError::Diverged { bundle, .. }) => *bundle.unwrap(),
			trained => trained.unwrap(),
		};
		let listed = &bundle.manifest().checkpoints;
		let checkpoints = listed.iter().map(|c| (c.step, c.state_hash)).collect();
		let diverged = bundle.manifest().diverged.is_some();
		let measure = Measure::Parameters;
		Self { folder, spec, checkpoints, diverged, measure }
	}

	fn bundle(&self) -> PathBuf {
		self.folder.path().join("bundle")
	}

	fn local(&self) -> Local {
		Local(self.bundle())
	}

	fn walk(&self) -> Walk<'_> {
		self.walk_as(&OUTPUT)
	}

	fn walk_as(&self, output: &H256) -> Walk<'_> {
		let checkpoints = self.checkpoints.clone();
		Walk::new(&self.spec, checkpoints, self.diverged, self.measure, output)
	}

	fn movement(&self) -> Movement {
		self.walk().run(&mut self.local()).unwrap()
	}

	fn file(&self, index: usize) -> PathBuf {
		self.bundle().join(checkpoint_file(self.checkpoints[index].0))
	}

	fn state(&self, index: usize) -> TensorMap {
		tensors::decode_any_nan(&std::fs::read(self.file(index)).unwrap()).unwrap()
	}

	/// Commits to a changed state.
	fn forge(&mut self, index: usize, change: impl FnOnce(&mut TensorMap)) {
		let mut state = self.state(index);
		change(&mut state);
		let bytes = tensors::encode(&state);
		std::fs::write(self.file(index), &bytes).unwrap();
		self.checkpoints[index].1 = hash_of_state(&bytes).unwrap();
	}

	/// Jumps in `segment` by `far` in every element of a tensor, and goes on from there. Returns what is
	/// picked, and takes the jump back.
	fn pick_with_jump(&mut self, segment: usize, tensor: &str, far: f64) -> Pick {
		let honest = self.checkpoints.clone();
		let mut files = Vec::new();
		for index in segment + 1..self.checkpoints.len() {
			files.push((index, std::fs::read(self.file(index)).unwrap()));
			self.forge(index, |state| {
				let data = &mut state.get_mut(tensor).unwrap().data;
				data.iter_mut().for_each(|x| *x = (f64::from(*x) + far) as f32);
			});
		}
		let pick = self.movement().pick().unwrap();
		for (index, bytes) in files {
			std::fs::write(self.file(index), bytes).unwrap();
		}
		self.checkpoints = honest;
		pick
	}
}

/// A job with a tensor of 64 KiB, which is read by slices, and others that are read whole.
fn large(data: &Path) -> CheckedSpec {
	let hidden = vec![128, 128].try_into().unwrap();
	changed(&job(data), |spec| {
		spec.model = Model::Mlp { hidden, activation: Activation::Relu };
		spec.training.learning_rate_nano = 1_000_000;
	})
}

/// The same with another schedule and optimizer.
fn schedules() -> [fn(&Path) -> CheckedSpec; 4] {
	let warm_up = |data: &Path| changed(&large(data), |spec| spec.training.warmup_steps = 55);
	let cosine = |data: &Path| {
		changed(&large(data), |spec| {
			spec.training.schedule = Schedule::Cosine { final_rate_nano: 0 };
			spec.training.warmup_steps = 15;
		})
	};
	let sgd = |data: &Path| {
		changed(&large(data), |spec| {
			spec.training.optimizer =
				Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: false };
		})
	};
	[large, warm_up, cosine, sgd]
}

const WEIGHT: &str = "layers.1.weight";

#[test]
fn quotients_are_those_of_the_states() {
	for (spec, measure) in schedules().into_iter().zip(Measure::ALL.into_iter().cycle()) {
		let mut run = Run::of(spec);
		run.measure = measure;
		let walk = run.walk();
		let (names, parts) = (walk.plan().names().to_vec(), walk.plan().parts().to_vec());
		let movement = run.movement();
		assert_eq!(movement.quotients().len(), 6);
		assert_eq!(movement.names(), names);
		let sliced = parts.iter().filter(|part| !part.chunks.is_empty());
		assert!(sliced.clone().all(|part| part.chunks.len() == 2));
		let of_moments = names.iter().all(|n| n.starts_with("optimizer."));
		assert_eq!(of_moments, measure == Measure::Moments);
		assert!(of_moments || names.iter().all(|n| !n.starts_with("optimizer.")));
		let twice = names.iter().any(|n| n.contains(".m."));
		assert_eq!(sliced.count(), if twice { 2 } else { 1 }, "a weight, or its moments");
		assert!(names.iter().all(|name| !name.contains("power")));
		for segment in 0..6usize {
			let (from, to) = (run.state(segment), run.state(segment + 1));
			let steps = 10 * segment as u32..10 * (segment as u32 + 1);
			let rate = LearningRate::of(&run.spec.training);
			let rates: f64 = steps.map(|step| f64::from(rate.at(step))).sum();
			for (at, (name, part)) in names.iter().zip(&parts).enumerate() {
				let read = |state: &TensorMap| -> Vec<f32> {
					let data = &state[name].data;
					let chunk = |at: &u32| data[256 * *at as usize..][..256].to_vec();
					match part.chunks.is_empty() {
						true => data.clone(),
						false => part.chunks.iter().flat_map(chunk).collect(),
					}
				};
				let pairs = read(&from).into_iter().zip(read(&to));
				let moved = pairs.map(|(x, y)| (f64::from(y) - f64::from(x)).abs());
				let moved = moved.fold(0.0, f64::max);
				let expected = match Kind::of(name).0 {
					Kind::Parameter => moved / rates,
					Kind::SecondMoment => moved.sqrt(),
					_ => moved,
				};
				let found = movement.quotients()[segment][at];
				assert!((found - expected).abs() <= 1e-12 * expected, "{segment}, {name}");
			}
		}
		// An honest run has a pick, too, and two seats with other places read other slices.
		let pick = movement.pick().unwrap();
		assert!((1..5).contains(&pick.segment) && pick.ratio > 0.0, "{pick:?}");
		assert_ne!(run.walk_as(&H256([8; 32])).plan().parts(), parts);
	}
}

/// How far a tensor must be moved in a segment for this quotient.
fn far(run: &Run, segment: usize, tensor: &str, quotient: f64) -> f64 {
	let steps = 10 * segment as u32;
	match Kind::of(tensor).0 {
		Kind::Parameter => quotient * summed_rates(&run.spec, steps, steps + 10),
		Kind::SecondMoment => quotient * quotient,
		_ => quotient,
	}
}

/// A jump that is larger than what honest segments do is picked: in a parameter, in each moment, in
/// a tensor that is read whole and in one of which two slices are, under every schedule. A smaller
/// one is not, and neither is one in the first segment or the last.
#[test]
fn a_jump_is_picked_wherever_it_is() {
	for (spec, measure) in schedules().into_iter().flat_map(|s| Measure::ALL.map(|m| (s, m))) {
		let mut run = Run::of(spec);
		run.measure = measure;
		let honest = run.movement();
		let most = honest.pick().unwrap();
		for segment in [0usize, 1, 3, 4, 5] {
			for (name, reference) in honest.names().iter().zip(honest.references(segment)) {
				if !name.ends_with(WEIGHT) && !name.ends_with("layers.0.bias") {
					continue;
				}
				let large = far(&run, segment, name, 3.0 * most.ratio * reference);
				let pick = run.pick_with_jump(segment, name, large);
				if matches!(segment, 0 | 5) {
					assert!((1..5).contains(&pick.segment), "{segment}, {name}");
					continue;
				}
				assert_eq!((pick.segment as usize, &pick.tensor), (segment, name));
				if segment as u32 != most.segment {
					let small = far(&run, segment, name, 1e-3 * reference);
					let pick = run.pick_with_jump(segment, name, small);
					assert_eq!(pick.segment, most.segment, "{segment}, {name}");
				}
			}
		}
	}
}

/// The same jump counts for more where the schedule goes slowly.
#[test]
fn a_warm_up_hides_no_jump() {
	let mut run = Run::of(schedules()[1]);
	let honest = run.movement();
	let at = honest.names().iter().position(|name| name == WEIGHT).unwrap();
	let reference = honest.references(1)[at].max(honest.references(4)[at]);
	let far = far(&run, 4, WEIGHT, 3.0 * honest.pick().unwrap().ratio * reference);
	let (slow, fast) = (run.pick_with_jump(1, WEIGHT, far), run.pick_with_jump(4, WEIGHT, far));
	assert_eq!((slow.segment, fast.segment), (1, 4));
	let rates = |segment: u32| summed_rates(&run.spec, 10 * segment, 10 * (segment + 1));
	assert!(rates(4) > 2.5 * rates(1));
	assert!(slow.quotient > 1.5 * fast.quotient, "{slow:?} {fast:?}");
}

#[test]
fn rates_are_summed_exactly() {
	let mut spec = JobSpec::example();
	(spec.training.steps, spec.training.warmup_steps) = (5_000, 700);
	spec.training.schedule = Schedule::Cosine { final_rate_nano: 3 };
	let spec = spec.check().unwrap();
	let rate = LearningRate::of(&spec.training);
	let unit = 2f64.powi(80);
	for (from, to) in [(0, 0), (0, 1), (0, 5_000), (650, 750), (4_990, 5_000)] {
		// Every rate is a multiple of this unit.
		let exact: i128 = (from..to).map(|step| (f64::from(rate.at(step)) * unit) as i128).sum();
		assert_eq!(summed_rates(&spec, from, to), exact as f64 / unit, "{from} to {to}");
	}
}

/// A source that changes what another one gives.
struct Changed<F>(Local, F, Vec<u32>);

impl<F: FnMut(&Request, &mut Opening) -> Result<(), String>> Source for Changed<F> {
	fn open(&mut self, request: &Request) -> Result<Opening, String> {
		self.2.push(request.checkpoint);
		let mut opening = self.0.open(request)?;
		(self.1)(request, &mut opening).map(|()| opening)
	}
}

#[test]
fn what_is_withheld_or_wrong_is_named() {
	let run = Run::of(large);
	let walk = run.walk();
	let at = walk.plan().names().iter().position(|name| name == WEIGHT).unwrap();
	let tensor = walk.plan().parts()[at].tensor;
	let place = move |request: &Request| {
		let here = request.checkpoint == 3;
		request.parts.iter().position(|part| here && part.tensor == tensor)
	};
	let withheld = run.walk().run(&mut Changed(
		run.local(),
		|request: &Request, _: &mut Opening| match place(request) {
			Some(_) => Err("not this one".into()),
			None => Ok(()),
		},
		Vec::new(),
	));
	let error = withheld.unwrap_err();
	assert!(!error.is_local());
	let text = "checkpoint 3, layers.1.weight: it cannot be had: not this one";
	assert_eq!(error.to_string(), text);

	let changes: [fn(&mut Opening, usize); 3] = [
		|opening, at| opening.parts[at].bytes[9] ^= 1,
		|opening, at| opening.parts[at].siblings[0].0[0] ^= 1,
		|opening, at| opening.parts[at].siblings.truncate(1),
	];
	for change in changes {
		let mut source = Changed(
			run.local(),
			|request: &Request, opening: &mut Opening| {
				if let Some(at) = place(request) {
					change(opening, at);
				}
				Ok(())
			},
			Vec::new(),
		);
		match run.walk().run(&mut source).unwrap_err() {
			Fault::Wrong { checkpoint: 3, tensor, why: WrongOpening::Chunks(_) } => {
				assert_eq!(tensor, WEIGHT);
			}
			other => panic!("{other}"),
		}
	}
	// A state that is not the one that was committed to: its first tensor is named.
	let mut other = run.checkpoints.clone();
	other[4].1 = H256::zero();
	let mut walk = Walk::new(&run.spec, other, false, run.measure, &OUTPUT);
	let error = walk.run(&mut run.local()).unwrap_err();
	let Fault::Wrong { checkpoint: 4, tensor, why: WrongOpening::State } = &error else {
		panic!("{error}")
	};
	assert_eq!(tensor, &run.walk().plan().names()[0]);
	// A file that is not there.
	std::fs::remove_file(run.file(2)).unwrap();
	let error = run.walk().run(&mut run.local()).unwrap_err();
	assert!(matches!(error, Fault::Missing { checkpoint: 2, .. }), "{error}");
}

#[test]
fn a_state_that_is_not_finite_is_named() {
	for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
		let mut run = Run::of(job);
		run.forge(2, |state| state.get_mut("layers.0.bias").unwrap().data[5] = value);
		match run.walk().run(&mut run.local()).unwrap_err() {
			Fault::NotFinite { checkpoint: 2, tensor, value: found } => {
				assert_eq!(
					(tensor.as_str(), found.to_string()),
					("layers.0.bias", value.to_string())
				);
			}
			other => panic!("{other}"),
		}
	}
}

#[test]
fn runs_of_any_length_are_measured() {
	// Seat 0 replays the only segment, and both of two.
	for interval in [60, 30] {
		let spec =
			|data: &Path| changed(&job(data), |spec| spec.training.checkpoint_interval = interval);
		assert_eq!(Run::of(spec).movement().pick(), None, "{interval}");
	}
	// One that stopped early has the segments up to there.
	let stopped = Run::of(stopping);
	assert_eq!(stopped.movement().quotients().len(), 3);
	assert_eq!(stopped.movement().pick().unwrap().segment, 1);
	// So has one that diverged, and where it did in its first segment there is nothing.
	let later = (0..16).map(|doubled| Run::of(|data| growing(data, 10_000_000 << doubled)));
	let later = later.into_iter().find(|run| run.checkpoints.len() < 7).unwrap();
	let segments = later.checkpoints.len() - 1;
	assert!(segments >= 2, "not in its first segments");
	assert_eq!(later.movement().quotients().len(), segments);
	let pick = later.movement().pick().unwrap();
	assert_eq!(pick.segment as usize, segments - 1, "it grows in every step");
	let first = Run::of(|data| growing(data, 10_000_000 << 16));
	assert_eq!(first.checkpoints.len(), 1);
	assert_eq!(first.movement().pick(), None);
}

/// A job whose parameters grow in every step, if the rate is high enough.
fn growing(data: &Path, learning_rate_nano: u64) -> CheckedSpec {
	changed(&job(data), |spec| {
		let hidden = Default::default();
		spec.model = Model::Mlp { hidden, activation: Activation::Relu };
		spec.training.optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
		spec.training.loss = Loss::MeanSquaredError;
		spec.training.learning_rate_nano = learning_rate_nano;
	})
}

#[test]
fn an_interrupted_reading_goes_on() {
	let run = Run::of(large);
	let whole = run.movement();
	let path = run.folder.path().join("kept");
	let broken = |checkpoint: u32| {
		let away = move |request: &Request, _: &mut Opening| match request.checkpoint == checkpoint
		{
			true => Err("away".to_owned()),
			false => Ok(()),
		};
		Changed(run.local(), away, Vec::new())
	};
	let begin = |output: &H256| {
		let mut walk = run.walk_as(output);
		walk.keep_in(&path).unwrap();
		walk
	};
	let mut walk = begin(&OUTPUT);
	assert!(matches!(walk.run(&mut broken(4)), Err(Fault::Missing { checkpoint: 4, .. })));
	assert_eq!(walk.segments(), 3);
	// The same process goes on with the checkpoint that failed.
	let mut source = broken(6);
	assert!(walk.run(&mut source).is_err());
	assert_eq!((source.2[0], walk.segments()), (4, 5));
	// Another one reads the last checkpoint again, also where half of a segment is in the file.
	drop(walk);
	let kept = std::fs::read(&path).unwrap();
	for cut in [kept.len(), kept.len() - 5, 32, 31, 0] {
		std::fs::write(&path, &kept[..cut]).unwrap();
		let (mut walk, mut source) = (begin(&OUTPUT), broken(99));
		let segments = walk.segments();
		assert_eq!(segments as usize, cut.saturating_sub(32) / ((kept.len() - 32) / 5));
		assert_eq!(walk.run(&mut source).unwrap(), whole);
		assert_eq!(source.2[0], segments);
	}
	// Nothing is asked for where all is here.
	let (mut walk, mut source) = (begin(&OUTPUT), broken(99));
	assert_eq!(walk.run(&mut source).unwrap(), whole);
	assert!(source.2.is_empty());
	// What is no number of ours is not believed.
	let mut kept = std::fs::read(&path).unwrap();
	kept[32..40].copy_from_slice(&f64::NAN.to_bits().to_le_bytes());
	std::fs::write(&path, &kept).unwrap();
	assert_eq!(begin(&OUTPUT).segments(), 0);
	assert_eq!(begin(&OUTPUT).run(&mut run.local()).unwrap(), whole);
	// Another seat's places and tensors, and another run, are another file.
	assert_eq!(begin(&H256([8; 32])).segments(), 0);
	assert_eq!(begin(&OUTPUT).segments(), 0);
	begin(&OUTPUT).run(&mut run.local()).unwrap();
	let (checkpoints, measure) = (run.checkpoints.clone(), Measure::Moments);
	let mut walk = Walk::new(&run.spec, checkpoints, false, measure, &OUTPUT);
	walk.keep_in(&path).unwrap();
	assert_eq!(walk.segments(), 0);
	begin(&OUTPUT).run(&mut run.local()).unwrap();
	let mut other = run.checkpoints.clone();
	other[6].1 = H256::zero();
	let mut walk = Walk::new(&run.spec, other, false, run.measure, &OUTPUT);
	walk.keep_in(&path).unwrap();
	assert_eq!(walk.segments(), 0);
}

#[test]
fn no_request_asks_for_too_much() {
	let mut spec = JobSpec::example();
	spec.dataset.format = DataFormat::Text;
	(spec.dataset.feature_divisor, spec.dataset.features) = (1, 5);
	spec.model =
		Model::Transformer { layers: 8, heads: 2, width: 64, mlp_factor: 4, dropout_nano: 0 };
	let spec = spec.check().unwrap();
	let plan = Plan::of(&spec, Measure::Moments, &OUTPUT);
	assert!(plan.parts().len() > MAX_PARTS);
	assert!(plan.parts().iter().any(|part| !part.chunks.is_empty()));
	let (mut from, mut requests) = (0, 0);
	while from < plan.parts().len() {
		assert_eq!(plan.asked_from(from, 1), 1);
		let count = plan.asked_from(from, usize::MAX);
		let parts = Parts::new(plan.parts()[from..][..count].to_vec()).unwrap();
		// Twice what was asked for would have room for all siblings.
		assert!(plan.tensors.most_bytes(&parts) < 2 * MAX_BYTES);
		assert!(parts.to_string().parse::<Parts>() == Ok(parts));
		(from, requests) = (from + count, requests + 1);
	}
	assert!(requests > 1);
	assert_eq!(plan.asked_from(from, usize::MAX), 1, "there is nothing, and no panic");
}

/// Quotients of one tensor or more, by segment.
fn movement(quotients: &[&[f64]]) -> Movement {
	let names: Vec<_> = (0..quotients[0].len()).map(|at| format!("tensor {at}")).collect();
	let kinds = vec![Kind::Parameter; names.len()];
	let quotients: Vec<_> = quotients.iter().map(|row| row.to_vec()).collect();
	spans_of(names, kinds, quotients, 1)
}

/// The same of stretches of so many segments.
fn spans_of(names: Vec<String>, kinds: Vec<Kind>, quotients: Vec<Vec<f64>>, each: u32) -> Movement {
	let spans: Vec<_> =
		(0..quotients.len() as u32).map(|at| (at * each, (at + 1) * each)).collect();
	let last = spans.last().map_or(0, |(_, to)| *to);
	Movement { names, kinds, quotients, spans, last, diverged: false }
}

/// Quotients of one tensor.
fn of_one(quotients: &[f64]) -> Movement {
	movement(&quotients.chunks(1).collect::<Vec<_>>())
}

#[test]
fn the_pick_follows_its_rule() {
	let found =
		|movement: &Movement| movement.pick().map(|pick| (pick.segment, pick.tensor, pick.ratio));
	let pick = |quotients: &[&[f64]]| found(&movement(quotients));
	let is = |segment: u32, tensor: &str, ratio: f64| Some((segment, tensor.to_owned(), ratio));
	// Each tensor has its own measure.
	let small = [&[1.0, 0.125][..], &[1.0, 0.125], &[2.0, 0.125], &[1.0, 0.625], &[1.0, 0.125]];
	assert_eq!(pick(&small), is(3, "tensor 1", 5.0));
	// One that all but stands still is compared with the others of its kind, and of its kind alone.
	let still = [1.0, 8.0, 1.0, 1.0, 1.0].map(|x| [x, 1e-20, 1.0]);
	let mut still = movement(&still.each_ref().map(|row| &row[..]));
	still.quotients[3][1] = 0.5;
	assert_eq!(found(&still), is(1, "tensor 0", 8.0));
	still.kinds[1] = Kind::SecondMoment;
	assert_eq!(found(&still).unwrap().1, "tensor 1");
	// Training that slows down hides no jump, and one that speeds up neither.
	let mut slower = [100.0, 50.0, 25.0, 12.5, 6.0, 60.0, 2.0, 1.0];
	assert_eq!(found(&of_one(&slower)), is(5, "tensor 0", 60.0 / 25.0));
	slower.reverse();
	assert_eq!(found(&of_one(&slower)), is(2, "tensor 0", 60.0 / 25.0));
	// What is farther away than eight segments does not count, on either side.
	let mut levels = [[100.0; 20], [1.0; 20]].concat();
	levels[30] = 5.0;
	assert_eq!(found(&of_one(&levels)), is(30, "tensor 0", 5.0));
	assert_eq!(of_one(&levels).references(23), [100.0], "five of the eight before it");
	assert_eq!(of_one(&levels).references(24), [1.0], "four of them");
	// Less than half of the segments on a side hide none.
	let mut several = [1.0; 30];
	several[10..13].fill(7.0);
	several[13] = 10.0;
	assert_eq!(found(&of_one(&several)), is(13, "tensor 0", 10.0));
	// The first segment and the last are not picked, but where training diverged after the last.
	let mut ends = of_one(&[9.0, 1.0, 2.0, 1.0, 9.0]);
	assert_eq!(found(&ends), is(2, "tensor 0", 2.0));
	ends.diverged = true;
	assert_eq!(found(&ends), is(4, "tensor 0", 9.0));
	// Of equal ratios the earliest segment, and there the first tensor.
	let equal = [&[1.0, 1.0][..], &[3.0, 3.0], &[1.0, 1.0], &[1.0, 3.0], &[1.0, 1.0]];
	assert_eq!(pick(&equal), is(1, "tensor 0", 3.0));
	// What moves where nothing of its kind does around it goes before all others.
	let rare = [0.0, 0.0, 4.0, 0.0, 0.0].map(|x| [x, 1.0]);
	let mut rare = movement(&rare.each_ref().map(|row| &row[..]));
	rare.quotients[1][1] = 30.0;
	assert_eq!(found(&rare), is(1, "tensor 1", 30.0));
	rare.kinds[1] = Kind::FirstMoment;
	assert_eq!(found(&rare), is(2, "tensor 0", f64::MAX));
	// Nothing moves, or there is nothing.
	for none in [&[0.0; 5][..], &[1.0], &[1.0, 2.0]] {
		assert_eq!(of_one(none).pick(), None);
	}
	let none = spans_of(vec![], vec![], vec![], 1);
	assert_eq!(none.pick(), None);
	// The largest and the smallest numbers that there are have finite ratios.
	let (tiny, huge) = (f64::from(f32::from_bits(1)) / 1e20, 2.0 * f64::from(f32::MAX));
	let huge = huge / f64::from(f32::MIN_POSITIVE);
	let found = of_one(&[tiny, huge, tiny]).pick().unwrap();
	assert!(found.segment == 1 && found.ratio.is_finite());
}

#[test]
fn a_bundle_is_walked_by_its_manifest() {
	let run = Run::of(job);
	let bundle = Bundle::open(&run.bundle()).unwrap();
	let found =
		Walk::of_bundle(&bundle, Measure::Parameters, &OUTPUT).run(&mut run.local()).unwrap();
	assert_eq!(found, run.movement());
}

#[test]
fn each_seat_has_its_measure() {
	let (parameters, moments) = (Measure::Parameters, Measure::Moments);
	let seats = [0, 1, 2, 3, usize::MAX].map(Measure::of_seat);
	assert_eq!(seats, [None, Some(parameters), Some(moments), None, None]);
	// Both are read by the seats that pick, and by no other.
	let result = trainyard_protocol::job::WorkResult {
		bundle_root: H256::zero(),
		true_root: H256::zero(),
		model_root: H256::zero(),
		segments: 3,
		diverged: false,
	};
	for seat in 0..5 {
		let picks = trainyard_protocol::duties::picks(seat, &result);
		assert_eq!(Measure::of_seat(seat).is_some(), picks, "{seat}");
	}
	// Both have something to read, whatever the optimizer.
	let mut spec = JobSpec::example();
	spec.training.optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
	let spec = spec.check().unwrap();
	let read = |measure| Plan::of(&spec, measure, &OUTPUT).parts().len();
	assert_eq!((read(parameters), read(moments)), (6, 6));
}
