//! What a defence costs, for the table `court-defences` of decision 0029:
//!
//! ```text
//! cargo test --release --locked -p trainyard-proof --lib court::tests::costs -- --ignored --nocapture
//! ```

use super::{
	games::{play, Party, Spent},
	*,
};
use crate::{data::read_rows, inputs::InputPaths, testing, train::Cheat};
use std::time::Instant;
use trainyard_court::game::{Claimed, End, Outcome, Target};
use trainyard_program::spec::{CheckedSpec, DataFormat, JobSpec, Model, Optimizer, Schedule};

fn example(name: &str) -> PathBuf {
	Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data").join(name)
}

/// Names the file at `path` as the data of a job, with every `every`-th row for validation.
fn on(mut spec: JobSpec, path: &Path, context: u32, every: u32) -> CheckedSpec {
	let format = spec.dataset.format;
	let features = match format {
		DataFormat::Text => Some(context),
		_ => None,
	};
	let found = data::inspect(path, None, format, every, features.unwrap_or(1)).unwrap();
	let dataset = &mut spec.dataset;
	(dataset.content_hash, dataset.bytes) = (found.content_hash, found.bytes);
	(dataset.features, dataset.classes) = (found.features, found.classes);
	dataset.train_rows = found.train_rows as u32;
	dataset.validation_rows = found.validation_rows as u32;
	dataset.validation_every = every;
	let rows = read_rows(path, None, &spec.dataset, &AtomicBool::new(false)).unwrap();
	spec.dataset.rows = rows.root();
	spec.check().unwrap()
}

/// The job of `ml-worker/examples/digits.toml`.
fn digits() -> (CheckedSpec, PathBuf) {
	let path = example("digits.csv");
	let mut spec = JobSpec::example();
	(spec.training.steps, spec.training.checkpoint_interval) = (1_500, 50);
	spec.training.batch_size = 32;
	(on(spec, &path, 1, 5), path)
}

/// A transformer on the letters of a book, that trains as `ml-worker/examples/characters.toml` does.
fn letters(layers: u32, heads: u32, width: u32, [steps, interval, batch]: [u32; 3]) -> JobSpec {
	let mut spec = JobSpec::example();
	spec.dataset.format = DataFormat::Text;
	spec.dataset.feature_divisor = 1;
	let dropout_nano = 100_000_000;
	spec.model = Model::Transformer { layers, heads, width, mlp_factor: 4, dropout_nano };
	let training = &mut spec.training;
	(training.steps, training.checkpoint_interval, training.batch_size) = (steps, interval, batch);
	training.learning_rate_nano = 1_000_000;
	training.schedule = Schedule::Cosine { final_rate_nano: 100_000 };
	training.warmup_steps = 100;
	training.weight_decay_nano = 50_000_000;
	training.clip_norm_nano = 1_000_000_000;
	training.optimizer =
		Optimizer::AdamW { beta1_nano: 900_000_000, beta2_nano: 990_000_000, epsilon_nano: 10 };
	spec
}

/// The job of `ml-worker/examples/characters.toml`.
fn characters() -> (CheckedSpec, PathBuf) {
	let path = example("alice.txt");
	(on(letters(4, 4, 128, [2_000, 200, 16]), &path, 64, 10), path)
}

/// A job of 10^15 FLOP: 800 steps over 8,192 letters each.
fn large() -> (CheckedSpec, PathBuf) {
	let path = example("alice.txt");
	(on(letters(8, 8, 512, [800, 2, 64]), &path, 128, 10), path)
}

/// The most memory that this process had since the last call, in bytes, where the system says it.
fn most_memory() -> u64 {
	let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
	let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
	let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
	// Begins again, where that is allowed.
	let _ = std::fs::write("/proc/self/clear_refs", "5");
	kib.unwrap_or_default() << 10
}

/// Runs something, and prints the seconds, which it returns, and the most memory of the process before and
/// meanwhile.
fn measured(what: &str, run: impl FnOnce()) -> f64 {
	most_memory();
	let (before, begun) = (most_memory(), Instant::now());
	run();
	let seconds = begun.elapsed().as_secs_f64();
	let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
	println!("  {what}: {seconds:.3} s, {:.0} MiB, {:.0} before", mib(most_memory()), mib(before));
	seconds
}

#[test]
#[ignore = "measures: it takes minutes, and means something in a release build on an idle machine"]
fn costs() {
	let jobs = [("digits", digits()), ("characters", characters()), ("10^15", large())];
	for (name, (spec, path)) in jobs {
		let recorder = cost(name, spec, &path);
		let (_, steps) = recorder.steps_of(0).unwrap();
		let step = Moment::Step { segment: 0, step: 0 };
		let at = StateAt::Steps { segment: 0, steps };
		let forget = || *lock(&recorder.memory) = InMemory::default();
		measured("two segments and 16 steps", || {
			for _ in 0..2 {
				recorder.milestones(0, 0, steps).unwrap();
				assert!(recorder.state(at).is_some());
				forget();
			}
			for _ in 0..16 {
				recorder.computed(&step).unwrap();
				forget();
			}
		});
		println!("  {:?}", recorder.work());
	}
}

/// Measures what a defence of a job is made of, and prints its sum. The recorder knows nothing after it.
fn cost(name: &str, spec: CheckedSpec, path: &Path) -> Recorder {
	let inputs = Inputs::load(&spec, &InputPaths::data(path)).unwrap();
	let case = Case { spec: spec.clone(), seed: H256::repeat_byte(7) };
	let begin = Engine::initial_state(&spec, &case.seed, None).unwrap().hash().unwrap();
	let evaluation = trainyard_protocol::bundle::Evaluation::new(1.0, 0, 1);
	let first = Checkpoint { step: 0, state: begin, evaluation, trace: H256::zero() };
	let claims = Claims { checkpoints: vec![first], diverged: None };
	let folder = tempfile::tempdir().unwrap();
	let (states, options) = (folder.path(), Options::default());
	let recorder = Recorder::new(case.clone(), claims, states, inputs, options).unwrap();
	let computations =
		[Moment::Step { segment: 0, step: 0 }, Moment::Slice { checkpoint: 0, slice: 0 }];
	let results = computations.map(|at| {
		let lowered = Lowered::new(&case, at.computation().unwrap()).unwrap();
		let bytes: u64 = lowered.parts().iter().map(|part| part.len * 4).sum();
		(lowered.results(), bytes >> 10)
	});
	println!("{name}: {:.2e} FLOP", trainyard_program::work::flop(&spec).unwrap() as f64);
	println!("  (results, KiB) of a step and of a slice: {results:?}");
	let (_, steps) = recorder.steps_of(0).unwrap();
	let segment = measured(&format!("{steps} steps, trained"), || {
		assert!(recorder.try_state(StateAt::Steps { segment: 0, steps }).unwrap().is_some());
	});
	// Nothing is on disk, so nothing is known after this.
	let forget = || *lock(&recorder.memory) = InMemory::default();
	forget();
	let step =
		measured("one step, recorded", || drop(recorder.computed(&computations[0]).unwrap()));
	forget();
	measured("one evaluation", || {
		let _ = recorder.evaluation(0).unwrap();
	});
	measured("one slice, recorded", || drop(recorder.computed(&computations[1]).unwrap()));
	forget();
	println!("  two segments and 16 steps, by these: {:.3} s", 2.0 * segment + 16.0 * step);
	recorder
}

/// Whole disputes about results on disk, of a trainer that trained with half of the learning rate and says so at each
/// place: accused by an honest one, and accusing it. For the table `court-played` of decision 0029:
///
/// ```text
/// cargo test --release --locked -p trainyard-proof --lib court::tests::costs::whole -- --ignored --nocapture
/// ```
#[test]
#[ignore = "measures: it takes minutes, and means something in a release build on an idle machine"]
fn whole_disputes() {
	// Of the largest one segment is trained: its sizes are those of 400.
	let one_segment = |(spec, path): (CheckedSpec, PathBuf)| {
		let spec = testing::changed(&spec, |spec| {
			(spec.training.steps, spec.training.warmup_steps) = (2, 1);
		});
		(spec, path)
	};
	let jobs =
		[("digits", digits()), ("characters", characters()), ("10^15", one_segment(large()))];
	println!("| job | who is right | moves | KiB | largest, KiB | defender, s | challenger, s |");
	println!("|---|---|---|---|---|---|---|");
	for (name, (spec, path)) in jobs {
		let inputs = Inputs::load(&spec, &InputPaths::data(&path)).unwrap();
		let folder = tempfile::tempdir().unwrap();
		let [honest, cheat] =
			[("honest", None), ("cheat", Some(Cheat::HalfRate))].map(|(name, how)| {
				let out = folder.path().join(name);
				testing::train(&spec, &path, &out, false, how).unwrap();
				let claims = Claims::of(bundle::Bundle::open(&out).unwrap().manifest());
				let trained = how.and_then(|how| how.trained(&spec)).unwrap_or(spec.clone());
				let case = Case { spec: trained, seed: testing::SEED };
				let options = kept_in(&out, 4 << 30);
				Recorder::new(case, claims, &out, inputs.clone(), options).unwrap()
			});
		let (case, target) = (honest.case(), Target::Segment(0));
		let end = |of: &Recorder| Claimed::End(End::of(&Party::claims(of).checkpoints[1]));
		let accused = play(case, &cheat, &honest, target, end(&honest));
		assert_eq!(accused.outcome, Outcome::Convicted);
		assert!(accused.piece.is_some(), "by proof");
		let defended = play(case, &honest, &cheat, target, end(&cheat));
		assert_eq!(defended.outcome, Outcome::Acquitted);
		for (right, played) in [("challenger", accused), ("defender", defended)] {
			let Spent { moves, bytes, largest, seconds: [defender, challenger] } = played.spent;
			let kib = |bytes: usize| bytes as f64 / 1_024.0;
			println!(
				"| {name} | {right} | {moves} | {:.0} | {:.0} | {defender:.1} | {challenger:.1} |",
				kib(bytes),
				kib(largest)
			);
			// A commitment besides.
			assert!(moves < 30 && largest <= 240 << 10, "{name}: {:?}", played.spent);
		}
	}
}
