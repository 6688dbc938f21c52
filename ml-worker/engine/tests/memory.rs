//! The chain counts the memory of a step and of an evaluation from the specification
//! (`trainyard_program::needs`), and refuses jobs by that count. This measures what the engine really
//! takes on the processor, by an allocator that counts: never more than was counted.

use std::{
	alloc::{GlobalAlloc, Layout, System},
	sync::{
		atomic::{AtomicUsize, Ordering::SeqCst},
		Arc,
	},
};
use trainyard_engine::{Data, Engine, Table};
use trainyard_program::{
	needs::Needs,
	spec::{Activation, CnnLayer, DataFormat, JobSpec, Loss, Model, Optimizer},
	H256,
};

/// Buffers that a thread may still make in a later step. What is kept for all steps is counted once
/// for the whole job (`Needs::memory`).
const BUFFERS: u64 = 1 << 20;

/// Bytes that are allocated, and the most that were since the last look.
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call is passed on to the system's allocator as it came; only numbers are kept.
unsafe impl GlobalAlloc for Counting {
	unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
		let now = NOW.fetch_add(layout.size(), SeqCst) + layout.size();
		MOST.fetch_max(now, SeqCst);
		unsafe { System.alloc(layout) }
	}

	unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
		NOW.fetch_sub(layout.size(), SeqCst);
		unsafe { System.dealloc(at, layout) }
	}
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Returns the most bytes that `f` had at once besides what was there before, and what it returned.
fn most<T>(f: impl FnOnce() -> T) -> (u64, T) {
	let before = NOW.load(SeqCst);
	MOST.store(before, SeqCst);
	let made = f();
	((MOST.load(SeqCst) - before) as u64, made)
}

/// Rows of small numbers; of tokens, where `labels` is the number of inputs.
fn rows(count: u32, features: u32, classes: u32, labels: u32) -> Table {
	let of = |i: u32| i * 7 % classes;
	let inputs = 0..count * features;
	let token = labels > 1;
	Table {
		features: features as usize,
		x: inputs.map(|i| if token { of(i) as f32 } else { (i % 13) as f32 / 13.0 }).collect(),
		y: (0..count * labels).map(of).collect(),
		..Table::default()
	}
}

fn with_rows(mut spec: JobSpec, features: u32, classes: u32) -> JobSpec {
	spec.dataset.features = features;
	spec.dataset.classes = classes;
	spec.dataset.validation_every = 5;
	(spec.dataset.train_rows, spec.dataset.validation_rows) = (400, 100);
	spec
}

fn jobs() -> Vec<(&'static str, JobSpec)> {
	let base = JobSpec::example();
	let mlp = |features: u32, hidden: &[u32], batch: u32| {
		let mut spec = with_rows(base.clone(), features, 10);
		let hidden = hidden.to_vec().try_into().unwrap();
		spec.model = Model::Mlp { hidden, activation: Activation::Relu };
		spec.training.batch_size = batch;
		spec
	};
	// Activations are most of it.
	let wide = mlp(8, &[4_096], 400);
	// Parameters are most of it: gradients and the next state live at once.
	let mut deep = mlp(64, &[1_024, 1_024], 8);
	deep.training.clip_norm_nano = 1_000_000_000;
	deep.training.weight_decay_nano = 10_000_000;
	let mut squares = mlp(64, &[1_024, 128], 256);
	squares.training.loss = Loss::MeanSquaredError;
	squares.training.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: true };
	squares.training.input_noise_nano = 10_000_000;
	let mut cnn = with_rows(base.clone(), 2 * 20 * 20, 10);
	let layers = vec![
		CnnLayer::Conv { filters: 16, kernel: 3, stride: 1, padding: 1 },
		CnnLayer::MaxPool { kernel: 2, stride: 2 },
		CnnLayer::Conv { filters: 24, kernel: 3, stride: 1, padding: 1 },
		CnnLayer::Linear { outputs: 10 },
	];
	cnn.model = Model::Cnn {
		channels: 2,
		height: 20,
		width: 20,
		layers: layers.try_into().unwrap(),
		activation: Activation::Relu,
	};
	cnn.training.batch_size = 64;
	let mut text = with_rows(base.clone(), 32, 64);
	text.dataset.format = DataFormat::Text;
	text.dataset.feature_divisor = 1;
	text.model = Model::Transformer {
		layers: 2,
		heads: 4,
		width: 64,
		mlp_factor: 4,
		dropout_nano: 100_000_000,
	};
	text.training.batch_size = 32;
	vec![("wide", wide), ("deep", deep), ("squares", squares), ("cnn", cnn), ("text", text)]
}

#[test]
fn no_job_takes_more_memory_than_the_chain_counts() {
	for (name, spec) in jobs() {
		let spec = spec.check().unwrap();
		let (d, labels) = (&spec.dataset, spec.labels_per_row());
		let table = |count| rows(count, d.features, d.classes, labels);
		let data = Data { train: table(d.train_rows), validation: table(d.validation_rows) };
		let seed = H256::repeat_byte(7);
		let needs = Needs::of(&spec);
		let engine = Engine::new(&spec, seed, Arc::new(data)).unwrap();
		let mut state = Engine::initial_state(&spec, &seed, None).unwrap();
		// The first calls make threads and their buffers.
		let (first, _) = most(|| engine.step(&mut state, 0).unwrap());
		for step in 1..4 {
			engine.step(&mut state, step).unwrap();
			engine.evaluate(&state).unwrap();
		}
		let (step, _) = most(|| engine.step(&mut state, 4).unwrap());
		let (evaluation, _) = most(|| engine.evaluate(&state).unwrap());
		println!(
			"{name}: a step takes {step} of {} bytes, an evaluation {evaluation} of {}",
			needs.step, needs.evaluation
		);
		assert!(first <= needs.memory(), "{name}: {first} in the first step");
		assert!(step <= needs.step + BUFFERS, "{name}: {step} of {}", needs.step);
		let counted = needs.evaluation + BUFFERS;
		assert!(evaluation <= counted, "{name}: {evaluation} of {counted}");
		// Nor is so much more counted that jobs would be refused for nothing.
		assert!(needs.step < 3 * step, "{name}: {step} of {}", needs.step);
	}
}
