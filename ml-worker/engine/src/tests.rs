//! The engine against the reference executor, against candle's autograd and against
//! calculus.

mod autograd;
mod cnn;
mod ranks;
mod recorded;

use super::*;
use candle_core::{DType, Var, D};
use std::collections::BTreeMap;
use trainyard_program::{
	ops::{OpKind, Program},
	reference as exec,
	spec::{
		Activation, CnnLayer, DataFormat, InitialModel, Input, JobSpec, Layer, Loss, Model,
		Optimizer, Schedule,
	},
};
use trainyard_protocol::content;

/// The handwritten digits of the demo, split as the specification says.
fn digits() -> Arc<Data> {
	let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/digits.csv");
	let text = std::fs::read_to_string(path).unwrap();
	let empty = || Table { features: 64, ..Table::default() };
	let mut data = Data { train: empty(), validation: empty() };
	for (i, line) in text.lines().skip(1).enumerate() {
		let numbers: Vec<u32> = line.split(',').map(|x| x.parse().unwrap()).collect();
		let table = if i % 5 == 4 { &mut data.validation } else { &mut data.train };
		table.x.extend(numbers[..64].iter().map(|x| *x as f32 / 16.0));
		table.y.push(numbers[64]);
	}
	Arc::new(data)
}

/// Rows whose class follows from their inputs, with some noise.
fn synthetic(rows: usize, features: usize, classes: u32) -> Table {
	let mut state = 0x1234_5678u32;
	let mut next = || {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		(state >> 8) as f32 / 8_388_608.0 - 1.0
	};
	let x: Vec<f32> = (0..rows * features).map(|_| next()).collect();
	let y = x.chunks(features).map(|row| ((row[0] + 1.0) * 0.499 * classes as f32) as u32);
	Table { features, y: y.collect(), x, ..Table::default() }
}

pub(super) fn small_spec(hidden: Vec<u32>, optimizer: Optimizer) -> (JobSpec, Arc<Data>) {
	let mut spec = JobSpec::example();
	spec.dataset.features = 5;
	spec.dataset.classes = 3;
	spec.dataset.train_rows = 50;
	spec.dataset.validation_rows = 12;
	let hidden = hidden.try_into().unwrap();
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	spec.training.steps = 40;
	spec.training.batch_size = 7;
	spec.training.checkpoint_interval = 10;
	spec.training.learning_rate_nano = 20_000_000;
	spec.training.weight_decay_nano = 10_000_000;
	spec.training.optimizer = optimizer;
	let data = Data { train: synthetic(50, 5, 3), validation: synthetic(12, 5, 3) };
	(spec, Arc::new(data))
}

pub(super) const SGD: Optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: false };
pub(super) const ADAM: Optimizer =
	Optimizer::AdamW { beta1_nano: 900_000_000, beta2_nano: 999_000_000, epsilon_nano: 10 };

pub(super) fn checked(spec: &JobSpec) -> CheckedSpec {
	spec.clone().check().unwrap()
}

pub(super) fn seed() -> H256 {
	H256::repeat_byte(42)
}

fn as_vectors(state: &State) -> exec::State {
	let values = |t: &Tensor| t.flatten_all().unwrap().to_vec1::<f32>().unwrap();
	state.tensors.iter().map(|(name, t)| (name.clone(), values(t))).collect()
}

/// A batch as the reference executor takes it.
fn batch(engine: &Engine, step: u32) -> (Vec<f32>, Vec<u32>) {
	let (x, y) = engine.batch(step).unwrap();
	(x.flatten_all().unwrap().to_vec1().unwrap(), y.to_vec1().unwrap())
}

#[test]
fn every_kernel_trains_to_the_reference_state() {
	for (hidden, optimizer) in
		[(vec![], SGD), (vec![6], ADAM), (vec![9, 17], SGD), (vec![33, 4, 8], ADAM)]
	{
		let (spec, data) = small_spec(hidden, optimizer);
		let program = lower::training_step(&checked(&spec));
		let scoring = lower::evaluation(&checked(&spec));
		let mut expected =
			as_vectors(&Engine::initial_state(&checked(&spec), &seed(), None).unwrap());
		let mut runs: Vec<(Engine, State)> = Isa::supported()
			.into_iter()
			.map(|isa| {
				let engine = Engine::with_isa(&checked(&spec), seed(), data.clone(), isa).unwrap();
				(engine, Engine::initial_state(&checked(&spec), &seed(), None).unwrap())
			})
			.collect();
		for step in 0..spec.training.steps {
			let (x, y) = batch(&runs[0].0, step);
			let values = exec::run(&program, &x, &y, &expected).unwrap();
			let loss = values.role(&program, Role::Loss)[0];
			let logits = content::hash(&content::le_bytes(values.role(&program, Role::Logits)));
			values.advance(&program, &mut expected);
			for (engine, state) in &mut runs {
				let trace = engine.step(state, step).unwrap();
				assert_eq!((trace.loss.to_bits(), trace.logits), (loss.to_bits(), logits));
				assert_eq!(trace.leaf(step), trace::step_leaf(step, loss, &logits));
				assert_eq!(trace.gradient_norm, None, "nothing is clipped");
				assert_eq!(as_vectors(state), expected, "{} at {step}", engine.isa());
			}
		}
		let validation = &data.validation;
		let values = exec::run(&scoring, &validation.x, &validation.y, &expected).unwrap();
		let content = |role| content::hash(&content::le_bytes(values.role(&scoring, role)));
		let contents = (content(Role::RowLosses), content(Role::Correct));
		let hash = runs[0].1.hash().unwrap();
		for (engine, state) in &runs {
			assert_eq!(state.hash().unwrap(), hash);
			let score = engine.evaluate(state).unwrap();
			let expected = Evaluated { evaluation: score, slices: vec![contents] };
			assert_eq!(engine.evaluate_slices(state).unwrap(), expected);
			assert_eq!(score.loss().to_bits(), values.role(&scoring, Role::Loss)[0].to_bits());
			let correct: f32 = values.role(&scoring, Role::Correct).iter().sum();
			assert_eq!((score.correct, score.labels), (correct as u32, 12));
		}
	}
}

/// A transformer on text of three tokens.
fn text_spec() -> (JobSpec, Arc<Data>) {
	let (mut spec, _) = small_spec(vec![6], ADAM);
	spec.dataset.format = DataFormat::Text;
	spec.dataset.feature_divisor = 1;
	spec.training.steps = 12;
	spec.model =
		Model::Transformer { layers: 1, heads: 2, width: 4, mlp_factor: 2, dropout_nano: 1_000 };
	let tokens = |rows: usize| {
		let token = |i: usize| ((i * i + i / 3) % 3) as u32;
		let x = (0..rows * 5).map(|i| token(i) as f32).collect();
		Table { features: 5, x, y: (1..=rows * 5).map(token).collect(), ..Table::default() }
	};
	(spec, Arc::new(Data { train: tokens(50), validation: tokens(12) }))
}

/// Jobs with other layers than those of an MLP, and with every option.
pub(super) fn other_specs() -> Vec<(JobSpec, Arc<Data>)> {
	let (mut options, data) = small_spec(vec![6], SGD);
	let t = &mut options.training;
	t.steps = 12;
	t.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: true };
	t.loss = Loss::MeanSquaredError;
	t.schedule = Schedule::Cosine { final_rate_nano: 1_000 };
	t.warmup_steps = 3;
	t.clip_norm_nano = 100_000_000;
	t.input_noise_nano = 10_000_000;
	let mut all = vec![(options.clone(), data)];

	let mut cnn = options.clone();
	cnn.dataset.features = 2 * 6 * 5;
	let layers = vec![
		CnnLayer::Conv { filters: 3, kernel: 3, stride: 1, padding: 1 },
		CnnLayer::MaxPool { kernel: 2, stride: 2 },
		CnnLayer::Dropout { rate_nano: 200_000_000 },
		CnnLayer::Linear { outputs: 4 },
	];
	let layers = layers.try_into().unwrap();
	let activation = Activation::Gelu;
	cnn.model = Model::Cnn { channels: 2, height: 6, width: 5, layers, activation };
	cnn.training.optimizer = ADAM;
	let data = Data { train: synthetic(50, 60, 3), validation: synthetic(12, 60, 3) };
	all.push((cnn, Arc::new(data)));

	let mut norms = options.clone();
	let linear = |outputs| Layer::Linear { outputs };
	let silu = Layer::Activation { function: Activation::Silu };
	let head = linear(norms.dataset.classes);
	let layers = vec![linear(9), Layer::RmsNorm, silu, Layer::RmsNorm, head];
	let layers = layers.try_into().unwrap();
	norms.model = Model::Layers { input: Input::Numbers, layers };
	all.push((norms, all[0].1.clone()));

	let mut mapped = all[1].clone();
	let gelu = Layer::Activation { function: Activation::Gelu };
	let conv = Layer::Conv2d { filters: 3, kernel: 2, stride: 1, padding: 1 };
	let layers = vec![Layer::Mapping { reflections: 3, patch: 1 }, conv, gelu, head];
	let layers = layers.try_into().unwrap();
	let input = Input::Image { channels: 2, height: 6, width: 5 };
	mapped.0.model = Model::Layers { input, layers };
	all.push(mapped);

	let (mut text, data) = text_spec();
	text.training.schedule = options.training.schedule;
	text.training.warmup_steps = options.training.warmup_steps;
	text.training.clip_norm_nano = options.training.clip_norm_nano;
	if let Model::Transformer { dropout_nano, .. } = &mut text.model {
		*dropout_nano = 200_000_000;
	}
	all.push((text, data));
	all
}

#[test]
fn every_kernel_trains_every_model_to_the_reference_state() {
	for (spec, data) in other_specs() {
		let (program, scoring) =
			(lower::training_step(&checked(&spec)), lower::evaluation(&checked(&spec)));
		let mut expected =
			as_vectors(&Engine::initial_state(&checked(&spec), &seed(), None).unwrap());
		let mut runs: Vec<(Engine, State)> = Isa::supported()
			.into_iter()
			.map(|isa| {
				let engine = Engine::with_isa(&checked(&spec), seed(), data.clone(), isa).unwrap();
				(engine, Engine::initial_state(&checked(&spec), &seed(), None).unwrap())
			})
			.collect();
		for step in 0..spec.training.steps {
			let (x, y) = batch(&runs[0].0, step);
			let moment = StepContext { seed: seed(), step };
			let values = exec::run_at(&program, &x, &y, &expected, moment).unwrap();
			let loss = values.role(&program, Role::Loss)[0];
			let squares = program.ops.iter().find_map(|op| match op.kind {
				OpKind::ClipFactor { squares, .. } => Some(values.get(squares)[0]),
				_ => None,
			});
			let norm = squares.expect("all of these clip").sqrt();
			values.advance(&program, &mut expected);
			for (engine, state) in &mut runs {
				let trace = engine.step(state, step).unwrap();
				assert_eq!(trace.loss.to_bits(), loss.to_bits());
				assert_eq!(trace.gradient_norm.map(f32::to_bits), Some(norm.to_bits()));
				assert_eq!(as_vectors(state), expected, "{} at {step}", engine.isa());
			}
		}
		let (x, y) = (&data.validation.x, &data.validation.y);
		let values = exec::run(&scoring, x, y, &expected).unwrap();
		for (engine, state) in &runs {
			let score = engine.evaluate(state).unwrap();
			assert_eq!(score.loss().to_bits(), values.role(&scoring, Role::Loss)[0].to_bits());
			assert_eq!(score.labels as usize, y.len());
			state.check_shapes(&checked(&spec)).unwrap();
		}
	}
}

/// The whole demo job, with every instruction set: equal states, and a model that knows digits.
#[test]
fn the_demo_job_learns_the_digits() {
	let (spec, data) = (JobSpec::example(), digits());
	let mut hashes = Vec::new();
	for isa in Isa::supported() {
		let engine = Engine::with_isa(&checked(&spec), seed(), data.clone(), isa).unwrap();
		let mut state = Engine::initial_state(&checked(&spec), &seed(), None).unwrap();
		let begin = engine.evaluate(&state).unwrap();
		assert!(begin.accuracy() < 0.5, "{begin:?}");
		let clock = std::time::Instant::now();
		for step in 0..spec.training.steps {
			engine.step(&mut state, step).unwrap();
		}
		let end = engine.evaluate(&state).unwrap();
		println!("{isa}: {end:?} in {:?}", clock.elapsed());
		assert!(end.accuracy() >= 0.95, "{end:?}");
		hashes.push(state.hash().unwrap());
	}
	assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn any_segment_can_be_replayed_alone() {
	let (spec, data) = small_spec(vec![6], ADAM);
	let engine = Engine::new(&checked(&spec), seed(), data.clone()).unwrap();
	let mut state = Engine::initial_state(&checked(&spec), &seed(), None).unwrap();
	let mut states = Vec::new();
	for step in 0..spec.training.steps {
		states.push(state.clone());
		engine.step(&mut state, step).unwrap();
	}
	// Takes the steps backwards, in a new engine.
	let other = Engine::new(&checked(&spec), seed(), data).unwrap();
	for step in (0..spec.training.steps).rev() {
		let mut replay = states[step as usize].clone();
		other.step(&mut replay, step).unwrap();
		let expected = states.get(step as usize + 1).unwrap_or(&state);
		assert_eq!(replay.hash().unwrap(), expected.hash().unwrap());
	}
	assert!(matches!(
		engine.step(&mut state, 40),
		Err(EngineError::NoSuchStep { step: 40, steps: 40 })
	));
}

#[test]
fn evaluation_in_slices_is_evaluation_at_once() {
	let (mut spec, _) = small_spec(vec![6], ADAM);
	spec.dataset.train_rows = 9_200;
	spec.dataset.validation_rows = 2_300;
	let data = Data { train: synthetic(9_200, 5, 3), validation: synthetic(2_300, 5, 3) };
	let data = Arc::new(data);
	let state = Engine::initial_state(&checked(&spec), &seed(), None).unwrap();
	let program = lower::evaluation(&checked(&spec));
	let (x, y) = (&data.validation.x, &data.validation.y);
	let values = exec::run(&program, x, y, &as_vectors(&state)).unwrap();
	let found = Engine::new(&checked(&spec), seed(), data.clone()).unwrap().evaluate_slices(&state);
	let found = found.unwrap();
	let score = found.evaluation;
	assert_eq!(score.loss().to_bits(), values.role(&program, Role::Loss)[0].to_bits());
	let correct = values.role(&program, Role::Correct).iter().filter(|x| **x == 1.0).count();
	assert_eq!((score.correct as usize, score.labels), (correct, 2_300));
	// Each slice has the contents of its rows, and the leaf of the evaluation binds all of them.
	let hashed = |role, slice: u32| {
		let rows = spec.slice(slice).unwrap();
		let part = &values.role(&program, role)[rows.start as usize..rows.end as usize];
		content::hash(&content::le_bytes(part))
	};
	let slices =
		(0..spec.slices()).map(|at| [Role::RowLosses, Role::Correct].map(|r| hashed(r, at)));
	let slices: Vec<(H256, H256)> = slices.map(|[losses, correct]| (losses, correct)).collect();
	assert_eq!((slices.len(), &slices), (3, &found.slices));
	let leaf = trace::evaluation_leaf(7, &score, &trace::slices_root(&slices));
	assert_eq!(found.leaf(7), leaf);
}

#[test]
fn slices_cover_the_validation_rows_with_two_programs_at_most() {
	for (rows, slices, programs) in [(15, 1, 1), (1_024, 1, 1), (2_048, 2, 1), (2_300, 3, 2)] {
		let (mut spec, _) = small_spec(vec![6], ADAM);
		spec.dataset.train_rows = rows * 4;
		spec.dataset.validation_rows = rows;
		let found = evaluation_slices(&checked(&spec));
		assert_eq!(found.len(), slices, "{rows}");
		let covered = found.iter().flat_map(|(range, _)| range.clone());
		assert!(covered.eq(0..rows as usize), "{rows}");
		let mut made: Vec<_> = found.iter().map(|(_, program)| Arc::as_ptr(program)).collect();
		made.dedup();
		assert_eq!(made.len(), programs, "{rows}");
	}
}

/// Gradients of the parameters, by name, at a state, from the reference executor (whose
/// bits are the engine's).
fn gradients(spec: &JobSpec, x: &[f32], y: &[u32], state: &State) -> BTreeMap<String, Vec<f32>> {
	let program: Program = lower::training_step(&checked(spec));
	let values = exec::run(&program, x, y, &as_vectors(state)).unwrap();
	(0..)
		.zip(&program.tensors)
		.filter_map(|(id, t)| {
			let name = t.name.strip_suffix(".gradient")?;
			name.starts_with("layers.").then(|| (name.to_string(), values.get(id).to_vec()))
		})
		.collect()
}

fn assert_near(found: &[f32], expected: &[f64], tolerance: f64, what: &str) {
	assert_eq!(found.len(), expected.len());
	let norm = expected.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-3);
	for (f, e) in found.iter().zip(expected) {
		assert!((f64::from(*f) - e).abs() <= tolerance * norm, "{what}: {f} and {e}");
	}
}

#[test]
fn gradients_equal_candles_autograd() {
	let (spec, data) = small_spec(vec![9, 17], ADAM);
	let engine = Engine::new(&checked(&spec), seed(), data).unwrap();
	let state = Engine::initial_state(&checked(&spec), &seed(), None).unwrap();
	let (x, y) = engine.batch(3).unwrap();
	let vars: BTreeMap<String, Var> =
		state.parameters().map(|(n, t)| (n.clone(), Var::from_tensor(t).unwrap())).collect();
	let mut h = x.clone();
	for layer in 0..3 {
		let weight = vars[&format!("layers.{layer}.weight")].t().unwrap();
		h = h.matmul(&weight).unwrap();
		h = h.broadcast_add(&vars[&format!("layers.{layer}.bias")]).unwrap();
		if layer < 2 {
			h = h.relu().unwrap();
		}
	}
	let shifted = h.broadcast_sub(&h.max_keepdim(D::Minus1).unwrap()).unwrap();
	let total = shifted.exp().unwrap().sum_keepdim(D::Minus1).unwrap();
	let log_p = shifted.broadcast_sub(&total.log().unwrap()).unwrap();
	let picked = log_p.gather(&y.unsqueeze(1).unwrap(), 1).unwrap();
	let loss = picked.mean_all().unwrap().neg().unwrap();
	let grads = loss.backward().unwrap();

	let (bx, by) = batch(&engine, 3);
	let ours = gradients(&spec, &bx, &by, &state);
	assert_eq!(ours.len(), vars.len());
	for (name, var) in &vars {
		let theirs = grads.get(var).unwrap().to_dtype(DType::F64).unwrap();
		let theirs: Vec<f64> = theirs.flatten_all().unwrap().to_vec1().unwrap();
		assert_near(&ours[name], &theirs, 2e-6, name);
	}
	let trace = engine.step(&mut state.clone(), 3).unwrap();
	assert!((trace.loss - loss.to_scalar::<f32>().unwrap()).abs() < 1e-6);
}

/// The mean loss in binary64, written from the definition of the model.
fn loss_in_f64(widths: &[u32], p: &BTreeMap<String, Vec<f64>>, x: &[f32], y: &[u32]) -> f64 {
	let features = widths[0] as usize;
	let rows = x.chunks(features).zip(y).map(|(row, label)| {
		let mut h: Vec<f64> = row.iter().map(|x| f64::from(*x)).collect();
		for layer in 0..widths.len() - 1 {
			let weight = &p[&format!("layers.{layer}.weight")];
			let bias = &p[&format!("layers.{layer}.bias")];
			h = weight
				.chunks(h.len())
				.zip(bias)
				.map(|(w, b)| w.iter().zip(&h).map(|(w, h)| w * h).sum::<f64>() + b)
				.map(|z| if layer + 2 < widths.len() { z.max(0.0) } else { z })
				.collect();
		}
		let total: f64 = h.iter().map(|z| z.exp()).sum();
		total.ln() - h[*label as usize]
	});
	rows.sum::<f64>() / y.len() as f64
}

#[test]
fn gradients_equal_finite_differences() {
	let (spec, data) = small_spec(vec![6, 4], SGD);
	let engine = Engine::new(&checked(&spec), seed(), data).unwrap();
	let mut state = Engine::initial_state(&checked(&spec), &seed(), None).unwrap();
	for step in 0..5 {
		engine.step(&mut state, step).unwrap();
	}
	let (x, y) = batch(&engine, 5);
	let ours = gradients(&spec, &x, &y, &state);
	let mut at: BTreeMap<String, Vec<f64>> = as_vectors(&state)
		.into_iter()
		.map(|(n, v)| (n, v.into_iter().map(f64::from).collect()))
		.collect();
	let widths = spec.widths();
	const H: f64 = 1e-6;
	for (name, found) in &ours {
		let mut expected = Vec::new();
		for i in 0..found.len() {
			let mut loss_at = |shift: f64| {
				at.get_mut(name).unwrap()[i] += shift;
				let loss = loss_in_f64(&widths, &at, &x, &y);
				at.get_mut(name).unwrap()[i] -= shift;
				loss
			};
			expected.push((loss_at(H) - loss_at(-H)) / (2.0 * H));
		}
		assert_near(found, &expected, 1e-5, name);
	}
}

/// The optimizers against their textbook formulas in binary64, fed the same gradients.
#[test]
fn updates_equal_the_textbook() {
	for optimizer in [SGD, ADAM] {
		let (spec, data) = small_spec(vec![6], optimizer);
		let engine = Engine::new(&checked(&spec), seed(), data).unwrap();
		let mut state = Engine::initial_state(&checked(&spec), &seed(), None).unwrap();
		let (rate, decay) = (0.02f64, 0.01f64);
		let wide = |v: Vec<f32>| v.into_iter().map(f64::from).collect::<Vec<f64>>();
		let mut p: BTreeMap<String, Vec<f64>> =
			as_vectors(&state).into_iter().map(|(n, v)| (n, wide(v))).collect();
		let mut m: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
		for step in 0..30 {
			let (x, y) = batch(&engine, step);
			let t = step as i32 + 1;
			for (name, g) in gradients(&spec, &x, &y, &state) {
				let kept = m.entry(name.clone()).or_insert_with(|| vec![(0.0, 0.0); g.len()]);
				for ((p, (m, v)), g) in p.get_mut(&name).unwrap().iter_mut().zip(kept).zip(g) {
					let g = f64::from(g);
					let update = match optimizer {
						Optimizer::Sgd { .. } => {
							*m = 0.9 * *m + g;
							*m
						}
						Optimizer::AdamW { .. } | Optimizer::Adam { .. } => {
							*m = 0.9 * *m + 0.1 * g;
							*v = 0.999 * *v + 0.001 * g * g;
							let m_hat = *m / (1.0 - 0.9f64.powi(t));
							let v_hat = *v / (1.0 - 0.999f64.powi(t));
							m_hat / (v_hat.sqrt() + 1e-8)
						}
					};
					*p = *p * (1.0 - rate * decay) - rate * update;
				}
			}
			engine.step(&mut state, step).unwrap();
		}
		for (name, tensor) in state.parameters() {
			let found: Vec<f32> = tensor.flatten_all().unwrap().to_vec1().unwrap();
			assert_near(&found, &p[name], 1e-4, name);
		}
	}
}

#[test]
fn divergence_names_step_and_tensor() {
	let (mut spec, data) = small_spec(vec![6], SGD);
	spec.training.learning_rate_nano = trainyard_program::spec::MAX_NANO;
	spec.training.loss = trainyard_program::spec::Loss::MeanSquaredError;
	spec.training.weight_decay_nano = 0;
	let engine = Engine::new(&checked(&spec), seed(), data).unwrap();
	let mut state = Engine::initial_state(&checked(&spec), &seed(), None).unwrap();
	let mut last = None;
	for step in 0..spec.training.steps {
		let before = as_vectors(&state);
		match engine.step(&mut state, step) {
			Ok(_) => assert_eq!(first_nan(&state.to_host().unwrap()), None),
			Err(EngineError::NotANumber { step: at, tensor }) => {
				assert_eq!(at, step);
				assert!(state.tensors.contains_key(&tensor));
				assert_eq!(as_vectors(&state), before, "a failed step changes nothing");
				last = Some(step);
				break;
			}
			Err(other) => panic!("{other}"),
		}
	}
	assert!(last.is_some(), "a learning rate of 1,000 must diverge");
}

#[test]
fn states_that_do_not_fit_are_refused() {
	let (spec, data) = small_spec(vec![6], ADAM);
	let engine = Engine::new(&checked(&spec), seed(), data).unwrap();
	let good = Engine::initial_state(&checked(&spec), &seed(), None).unwrap();
	let refused = |change: &dyn Fn(&mut State)| {
		let mut state = good.clone();
		change(&mut state);
		assert!(engine.evaluate(&state).is_err());
		engine.step(&mut state, 0).unwrap_err().to_string()
	};
	let zeros = |shape: &[usize], dtype| Tensor::zeros(shape, dtype, &Device::Cpu).unwrap();
	let bias = "layers.0.bias";
	assert!(refused(&|s| drop(s.tensors.remove(bias))).contains("missing"));
	assert!(refused(&|s| drop(s.tensors.insert("x".into(), zeros(&[1], DType::F32))))
		.contains("no such tensor"));
	assert!(refused(&|s| drop(s.tensors.insert(bias.into(), zeros(&[7], DType::F32))))
		.contains("[7], not [6]"));
	assert!(
		refused(&|s| drop(s.tensors.insert(bias.into(), zeros(&[6], DType::F64)))).contains("f64")
	);

	let mut nan = good.clone();
	let tensor = Tensor::full(f32::NAN, 6, &Device::Cpu).unwrap();
	nan.tensors.insert(bias.into(), tensor);
	assert_eq!(first_nan(&nan.to_host().unwrap()), Some(bias));
	assert!(nan.hash().unwrap_err().to_string().contains(bias));
	assert!(matches!(engine.step(&mut nan, 0), Err(EngineError::NotANumber { .. })));
}

#[test]
fn data_that_does_not_fit_is_refused() {
	let (spec, data) = small_spec(vec![6], ADAM);
	let refused = |change: &dyn Fn(&mut Data)| {
		let mut data = Data::clone(&data);
		change(&mut data);
		Engine::new(&checked(&spec), seed(), Arc::new(data)).err().unwrap().to_string()
	};
	let message = refused(&|d| d.train.y.truncate(49));
	assert!(message.contains("training") && message.contains("49 rows"), "{message}");
	assert!(refused(&|d| d.validation.features = 4).contains("declared 5"));
	assert!(refused(&|d| d.validation.x.truncate(59)).contains("validation"));
	assert!(refused(&|d| d.train.x[12] = f32::INFINITY).contains("input 2 of its row 2"));
	assert!(refused(&|d| d.train.y[8] = 3).contains("row 8"));
}

#[test]
fn an_initial_model_is_the_parameters_of_the_model_and_nothing_else() {
	let (plain, _) = small_spec(vec![6], ADAM);
	let drawn = Engine::initial_state(&checked(&plain), &H256::zero(), None).unwrap();
	let mut model = drawn.to_host().unwrap();
	model.retain(|name, _| !name.starts_with(lower::OPTIMIZER_PREFIX));
	let begins = InitialModel { file: plain.dataset.file(), parameters: H256::repeat_byte(3) };
	let spec = JobSpec { initial_model: Some(begins), ..plain.clone() };
	let state = Engine::initial_state(&checked(&spec), &seed(), Some(&model)).unwrap();
	assert_eq!(state.hash().unwrap(), drawn.hash().unwrap(), "the seed changes nothing");
	for (job, model) in [(&spec, None), (&plain, Some(&model))] {
		let error = Engine::initial_state(&checked(job), &seed(), model).unwrap_err();
		assert!(matches!(error, EngineError::InitialModel { .. }), "{error}");
	}

	let refused = |name: &str, tensor: Option<Tensor32>| {
		let mut model = model.clone();
		match tensor {
			Some(tensor) => drop(model.insert(name.into(), tensor)),
			None => drop(model.remove(name)),
		}
		Engine::initial_state(&checked(&spec), &seed(), Some(&model)).unwrap_err().to_string()
	};
	let of = |value: f32, shape: &[u32]| {
		let data = vec![value; shape.iter().product::<u32>() as usize];
		Some(Tensor32 { shape: shape.to_vec(), data })
	};
	let bias = "layers.0.bias";
	assert!(refused(bias, None).contains("missing"));
	assert!(refused("x", of(1.0, &[1])).contains("no such tensor"));
	assert!(refused("optimizer.m.layers.0.bias", of(1.0, &[6])).contains("no parameter"));
	assert!(refused(bias, of(1.0, &[7])).contains("[7], not [6]"));
	assert!(refused(bias, of(f32::NAN, &[6])).contains("not a number"));
	assert!(refused(bias, of(f32::NEG_INFINITY, &[6])).contains("an infinity"));
}

#[test]
fn the_state_hash_covers_names_shapes_and_values() {
	let (spec, _) = small_spec(vec![5], ADAM);
	let state = Engine::initial_state(&checked(&spec), &seed(), None).unwrap();
	let hash = state.hash().unwrap();
	assert_eq!(state.clone().hash().unwrap(), hash);
	assert_ne!(
		Engine::initial_state(&checked(&spec), &H256::zero(), None).unwrap().hash().unwrap(),
		hash
	);
	let weight = &state.tensors["layers.0.weight"];
	let mut reshaped = state.clone();
	reshaped.tensors.insert("layers.0.weight".into(), weight.reshape((1, 25)).unwrap());
	assert_ne!(reshaped.hash().unwrap(), hash);
	// Transposed in memory, it is another matrix, whatever the memory says.
	let mut transposed = state.clone();
	transposed.tensors.insert("layers.0.weight".into(), weight.t().unwrap());
	assert_ne!(transposed.hash().unwrap(), hash);
	let again = weight.t().unwrap().contiguous().unwrap().t().unwrap();
	transposed.tensors.insert("layers.0.weight".into(), again);
	assert_eq!(transposed.hash().unwrap(), hash);
	assert_eq!(state.parameters().count(), 4);
	let mut longer = state;
	longer.tensors.insert("zzz".into(), Tensor::zeros(1, DType::F32, &Device::Cpu).unwrap());
	assert_ne!(longer.hash().unwrap(), hash);
}
