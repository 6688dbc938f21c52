//! Checks the vectors of docs/strict-arithmetic.md, so that page and code cannot differ.

use bounded_collections::{BoundedVec, ConstU32};
use trainyard_program::reference::{self as exec, StepContext};
use trainyard_program::{
	init, lower,
	ops::{Nano, OpKind, Role, Window},
	order::{self, Order},
	schedule::LearningRate,
	spec::{
		Activation, CheckedSpec, CnnLayer, DataFormat, EarlyStop, Input, JobSpec, Layer, Loss,
		Model, Optimizer, Schedule, MAX_LAYERS,
	},
};
use trainyard_protocol::{
	bundle::{Checkpoint, Diverged, Evaluation},
	content::{self, le_bytes},
	merkle,
	state::{state_hash, TensorDigest},
	trace::{evaluation_leaf, seal, slices_root, step_leaf},
	H256,
};
use trainyard_strict::philox::{philox4x32_10, symmetric, Stream, StreamName};
use trainyard_strict::{
	cos_pi, dot, erf, exp, fma, from_nano, inverse_normal, log, max, sigmoid, sqrt, sum, tanh,
	Function, Soft,
};

const PAGE: &str = include_str!("../../../docs/strict-arithmetic.md");

fn hex32(text: &str) -> u32 {
	u32::from_str_radix(text, 16).unwrap()
}

fn decimal(text: &str) -> u64 {
	text.parse().unwrap()
}

fn seed(text: &str) -> H256 {
	H256::repeat_byte(u8::from_str_radix(text, 16).unwrap())
}

fn stream(name: &str, seed_byte: &str) -> Stream {
	let name = [StreamName::Init, StreamName::Shuffle].into_iter().find(|n| n.as_str() == name);
	Stream::new(&seed(seed_byte).0, name.unwrap())
}

fn x(i: u64) -> f32 {
	(((37 * i + 11) % 101) as f32 - 50.0) / 64.0
}

fn y(i: u64) -> f32 {
	(((53 * i + 29) % 97) as f32 - 48.0) / 3.0
}

fn numbers(args: &[&str]) -> Vec<f32> {
	args.iter().map(|a| f32::from_bits(hex32(a))).collect()
}

fn write(values: &[f32]) -> String {
	values.iter().map(|v| format!("{:08X}", v.to_bits())).collect::<Vec<_>>().join(" ")
}

fn words(values: &[u32]) -> String {
	values.iter().map(|v| format!("{v:08X}")).collect::<Vec<_>>().join(" ")
}

/// Executes one operator by itself, on the operands by number.
fn operator(kind: OpKind, operands: &[&[f32]], moment: StepContext) -> Vec<f32> {
	let read = |id: u32| Ok::<_, exec::ExecError>(operands[id as usize]);
	exec::operator(&kind, &[], moment, read).unwrap()
}

fn log_softmax(row: &[f32]) -> Vec<f32> {
	let kind = OpKind::LogSoftmax { logits: 0, rows: 1, cols: row.len() as u32 };
	operator(kind, &[row], StepContext::default())
}

/// A number with up to nine decimals.
fn nano(text: &str) -> Nano {
	Nano((text.parse::<f64>().unwrap() * 1e9).round() as u64)
}

/// The first `n` of `x` and of `y`.
fn xs(n: u64) -> Vec<f32> {
	(0..n).map(x).collect()
}

fn ys(n: u64) -> Vec<f32> {
	(0..n).map(y).collect()
}

/// A product of a matrix of one row and a matrix of one column; their elements come in pairs.
fn product(pairs: &[f32]) -> Vec<f32> {
	let (a, b): (Vec<f32>, Vec<f32>) = pairs.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
	let (transpose_a, transpose_b, m, n, k) = (false, false, 1, 1, a.len() as u32);
	let kind = OpKind::MatMul { a: 0, b: 1, transpose_a, transpose_b, m, n, k };
	operator(kind, &[&a, &b], StepContext::default())
}

/// Operators on images: the windows of the page.
fn images(name: &str) -> Vec<f32> {
	let padded =
		Window { images: 2, channels: 60, height: 5, width: 4, kernel: 3, stride: 2, padding: 1 };
	let pooled =
		Window { images: 1, channels: 1, height: 3, width: 4, kernel: 2, stride: 1, padding: 0 };
	let (filters, gradient, window) = (3, 0, padded);
	let (image, weight, result) = (xs(2 * 60 * 20), ys(3 * 540), ys(2 * 3 * 6));
	let run = |kind, operands: &[&[f32]]| operator(kind, operands, StepContext::default());
	match name {
		"conv2d" => run(OpKind::Conv2d { x: 0, weight: 1, window, filters }, &[&image, &weight]),
		"conv2d_weight_grad" => {
			let kind = OpKind::Conv2dWeightGrad { gradient, x: 1, window, filters };
			run(kind, &[&result, &image])
		}
		"conv2d_input_grad" => {
			let kind = OpKind::Conv2dInputGrad { gradient, weight: 1, window, filters };
			run(kind, &[&result, &weight])
		}
		"max_pool" => run(OpKind::MaxPool2d { x: 0, window: pooled }, &[&xs(12)]),
		"max_pool_grad" => {
			let maximum = run(OpKind::MaxPool2d { x: 0, window: pooled }, &[&xs(12)]);
			let kind = OpKind::MaxPool2dGrad { gradient, x: 1, maximum: 2, window: pooled };
			run(kind, &[&ys(6), &xs(12), &maximum])
		}
		"avg_pool" => run(OpKind::AvgPool2d { x: 0, window: pooled }, &[&ys(12)]),
		"avg_pool_grad" => run(OpKind::AvgPool2dGrad { gradient, window: pooled }, &[&ys(6)]),
		other => panic!("{other}"),
	}
}

/// Operators on rows, of these sizes.
fn by_rows(name: &str, rows: u32, cols: u32) -> Vec<f32> {
	let n = u64::from(rows) * u64::from(cols);
	let (x, y, weight, bias) = (xs(n), ys(n), xs(cols.into()), ys(cols.into()));
	let (gradient, epsilon, batch, size, depth) = (0, lower::NORM_EPSILON, 1, cols, 3);
	let run = |kind, operands: &[&[f32]]| operator(kind, operands, StepContext::default());
	match name {
		"layer_norm" => {
			let kind = OpKind::LayerNorm { x: 0, weight: 1, bias: 2, epsilon, rows, cols };
			run(kind, &[&x, &weight, &bias])
		}
		"layer_norm_grad" => {
			let kind = OpKind::LayerNormGrad { gradient, x: 1, weight: 2, epsilon, rows, cols };
			run(kind, &[&y, &x, &weight])
		}
		"layer_norm_weight_grad" => {
			let kind = OpKind::LayerNormWeightGrad { gradient, x: 1, epsilon, rows, cols };
			run(kind, &[&y, &x])
		}
		"rms_norm" => {
			let kind = OpKind::RmsNorm { x: 0, weight: 1, epsilon, rows, cols };
			run(kind, &[&x, &weight])
		}
		"rms_norm_grad" => {
			let kind = OpKind::RmsNormGrad { gradient, x: 1, weight: 2, epsilon, rows, cols };
			run(kind, &[&y, &x, &weight])
		}
		"rms_norm_weight_grad" => {
			let kind = OpKind::RmsNormWeightGrad { gradient, x: 1, epsilon, rows, cols };
			run(kind, &[&y, &x])
		}
		"causal_softmax" => run(OpKind::CausalSoftmax { x: 0, batch, size, depth }, &[&x]),
		"causal_softmax_grad" => {
			let p = run(OpKind::CausalSoftmax { x: 0, batch, size, depth }, &[&x]);
			run(OpKind::CausalSoftmaxGrad { gradient, p: 1, batch, size, depth }, &[&y, &p])
		}
		other => panic!("{other}"),
	}
}

/// What a row has.
type ByRow<T> = fn(u32) -> Vec<T>;

/// The job of a training vector, and its inputs and labels by row.
fn job(name: &str) -> (CheckedSpec, ByRow<f32>, ByRow<u32>) {
	let mut spec = JobSpec::example();
	spec.dataset.features = 5;
	spec.dataset.classes = 3;
	spec.dataset.train_rows = 10;
	spec.dataset.validation_rows = 2;
	let activation = Activation::Relu;
	spec.model = Model::Mlp { hidden: vec![6].try_into().unwrap(), activation };
	let t = &mut spec.training;
	t.steps = 50;
	t.batch_size = 4;
	t.checkpoint_interval = 50;
	t.learning_rate_nano = 20_000_000;
	t.weight_decay_nano = 10_000_000;
	let momentum_nano = 900_000_000;
	let (beta1_nano, beta2_nano, epsilon_nano) = (900_000_000, 999_000_000, 10);
	t.optimizer = Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano };
	let mut inputs: ByRow<f32> = |row| (0..5).map(|j| x(u64::from(5 * row + j))).collect();
	let mut labels: ByRow<u32> = |row| vec![row % 3];
	match name {
		"sgd" => t.optimizer = Optimizer::Sgd { momentum_nano, nesterov: false },
		"adamw" => {}
		"options" => {
			let hidden = vec![6].try_into().unwrap();
			spec.model = Model::Mlp { hidden, activation: Activation::Silu };
			t.optimizer = Optimizer::Sgd { momentum_nano, nesterov: true };
			t.loss = Loss::MeanSquaredError;
			t.schedule = Schedule::Cosine { final_rate_nano: 1_000_000 };
			t.warmup_steps = 5;
			t.clip_norm_nano = 300_000_000;
			t.input_noise_nano = 10_000_000;
		}
		"clip" => {
			let hidden = vec![6; 10].try_into().unwrap();
			spec.model = Model::Mlp { hidden, activation: Activation::Silu };
			t.optimizer = Optimizer::Sgd { momentum_nano, nesterov: false };
			t.clip_norm_nano = 300_000_000;
		}
		"skips" => {
			t.optimizer = Optimizer::Sgd { momentum_nano, nesterov: false };
			spec.model = Model::Layers { input: Input::Numbers, layers: skips() };
		}
		"rms" => {
			t.optimizer = Optimizer::Sgd { momentum_nano, nesterov: false };
			let linear = |outputs| Layer::Linear { outputs };
			let silu = Layer::Activation { function: Activation::Silu };
			let norm = Layer::RmsNorm;
			let layers = vec![linear(6), norm, silu, linear(4), norm, linear(3)];
			let layers = layers.try_into().unwrap();
			spec.model = Model::Layers { input: Input::Numbers, layers };
		}
		"mapping" => {
			t.optimizer = Optimizer::Sgd { momentum_nano, nesterov: false };
			t.input_noise_nano = 10_000_000;
			let linear = |outputs| Layer::Linear { outputs };
			let relu = Layer::Activation { function: activation };
			let mapping = Layer::Mapping { reflections: 2, patch: 0 };
			let layers = vec![mapping, linear(6), relu, linear(3)].try_into().unwrap();
			spec.model = Model::Layers { input: Input::Numbers, layers };
		}
		"patches" => {
			spec.dataset.features = 36;
			inputs = |row| (0..36).map(|j| x(u64::from(36 * row + j))).collect();
			let layers = vec![
				Layer::Mapping { reflections: 3, patch: 2 },
				Layer::Conv2d { filters: 4, kernel: 2, stride: 1, padding: 0 },
				Layer::Activation { function: activation },
				Layer::Linear { outputs: 3 },
			];
			spec.model = Model::Layers {
				input: Input::Image { channels: 1, height: 6, width: 6 },
				layers: layers.try_into().unwrap(),
			};
		}
		"norm" => {
			spec.dataset.features = 36;
			t.optimizer = Optimizer::Sgd { momentum_nano, nesterov: false };
			inputs = |row| (0..36).map(|j| x(u64::from(36 * row + j))).collect();
			let layers = vec![
				Layer::Conv2d { filters: 2, kernel: 3, stride: 1, padding: 1 },
				Layer::LayerNorm,
				Layer::Activation { function: activation },
				Layer::Linear { outputs: 3 },
			];
			spec.model = Model::Layers {
				input: Input::Image { channels: 1, height: 6, width: 6 },
				layers: layers.try_into().unwrap(),
			};
		}
		"cnn" => {
			spec.dataset.features = 36;
			t.optimizer = Optimizer::Adam { beta1_nano, beta2_nano, epsilon_nano };
			inputs = |row| (0..36).map(|j| x(u64::from(36 * row + j))).collect();
			let layers = vec![
				CnnLayer::Conv { filters: 4, kernel: 3, stride: 1, padding: 1 },
				CnnLayer::MaxPool { kernel: 2, stride: 2 },
				CnnLayer::Conv { filters: 3, kernel: 3, stride: 2, padding: 1 },
				CnnLayer::AvgPool { kernel: 2, stride: 1 },
			];
			spec.model = Model::Cnn {
				channels: 1,
				height: 6,
				width: 6,
				layers: layers.try_into().unwrap(),
				activation,
			};
		}
		"transformer" => {
			spec.dataset.format = DataFormat::Text;
			spec.dataset.feature_divisor = 1;
			spec.dataset.features = 6;
			inputs = |row| (0..6).map(|j| token(6 * row + j) as f32).collect();
			labels = |row| (1..7).map(|j| token(6 * row + j)).collect();
			spec.model = Model::Transformer {
				layers: 1,
				heads: 2,
				width: 8,
				mlp_factor: 2,
				dropout_nano: 100_000_000,
			};
		}
		other => panic!("{other}"),
	}
	(spec.check().unwrap(), inputs, labels)
}

/// Layers where three skips meet the input of the second layer.
fn skips() -> BoundedVec<Layer, ConstU32<MAX_LAYERS>> {
	let linear = |outputs| Layer::Linear { outputs };
	let mut layers = vec![linear(6), Layer::Activation { function: Activation::Silu }];
	for back in [2, 4, 6] {
		layers.extend([linear(6), Layer::Skip { back }]);
	}
	layers.push(linear(3));
	layers.try_into().unwrap()
}

fn token(n: u32) -> u32 {
	(n * n + n / 3) % 3
}

fn train(name: &str, steps: u32) -> String {
	let (spec, inputs, labels) = job(name);
	let (seed, program) = (H256::repeat_byte(7), lower::training_step(&spec));
	let tensors = lower::state(&spec);
	let mut state: exec::State =
		tensors.iter().map(|t| (t.name.clone(), init::initial(&seed, t))).collect();
	let mut loss = None;
	for step in 0..steps {
		let place = order::place(&spec, step);
		let order = Order::new(&seed, place.epoch, 10);
		let rows: Vec<u32> = place.positions.map(|p| order.at(p).unwrap()).collect();
		let features: Vec<f32> = rows.iter().flat_map(|row| inputs(*row)).collect();
		let labels: Vec<u32> = rows.iter().flat_map(|row| labels(*row)).collect();
		let moment = StepContext { seed, step };
		let values = exec::run_at(&program, &features, &labels, &state, moment).unwrap();
		loss = Some(values.role(&program, Role::Loss)[0]);
		values.advance(&program, &mut state);
	}
	let digests = tensors.iter().map(|t| {
		let content = content::hash(&le_bytes(&state[&t.name]));
		TensorDigest::of_f32(t.name.clone(), t.shape.clone(), content)
	});
	let hash = hex::encode(state_hash(digests.collect()));
	match loss {
		Some(loss) => format!("{hash} {}", write(&[loss])),
		None => hash,
	}
}

/// The content hash of the first `n` of the numbers `x` or `y`.
fn content_of(name: &str, n: u64) -> H256 {
	content::hash(&le_bytes(&if name == "x" { xs(n) } else { ys(n) }))
}

/// A leaf of a trace or of a bundle, or a sealed trace.
fn trace(what: &str, step: u32) -> H256 {
	let (a, b) = (content_of("x", 12), content_of("y", 7));
	let found = Evaluation::new(x(1), 7, 9);
	let of_slices = |n: u32| slices_root(&vec![(a, b); n as usize]);
	let evaluation = evaluation_leaf(step, &found, &of_slices(3));
	let steps: Vec<H256> = (0..step).map(|step| step_leaf(step, x(1), &a)).collect();
	let sealed = seal(&merkle::root(&[&steps[..], &[evaluation]].concat()));
	match what {
		"step" => step_leaf(step, x(1), &a),
		"slices" => of_slices(step),
		"evaluation" => evaluation,
		"sealed" => sealed,
		"checkpoint" => Checkpoint { step, state: a, evaluation: found, trace: sealed }.leaf(),
		"diverged" => Diverged { step, trace: seal(&merkle::root(&steps)) }.leaf(),
		other => panic!("{other}"),
	}
}

fn compute(name: &str, args: &[&str]) -> String {
	let one = |f: fn(f32) -> f32| write(&[f(numbers(args)[0])]);
	match name {
		"philox" => {
			let w: Vec<u32> = args.iter().map(|a| hex32(a)).collect();
			words(&philox4x32_10([w[0], w[1], w[2], w[3]], [w[4], w[5]]))
		}
		"key" => words(&stream(args[0], args[1]).key()),
		"below" => {
			let (step, bound) = (decimal(args[2]) as u32, decimal(args[4]) as u32);
			stream(args[0], args[1]).below(step, decimal(args[3]), bound).to_string()
		}
		"symmetric" => write(&[symmetric(hex32(args[0]))]),
		"nano" => write(&[from_nano(decimal(args[0]))]),
		"fma" => {
			let n = numbers(args);
			write(&[fma(n[0], n[1], n[2])])
		}
		"exp" => one(exp),
		"log" => one(log),
		"sqrt" => one(sqrt),
		"erf" => one(erf),
		"sigmoid" => one(sigmoid),
		"tanh" => one(tanh),
		"cos_pi" => one(cos_pi),
		"gelu" => one(|x| Function::Gelu.apply::<Soft>(x)),
		"silu" => one(|x| Function::Silu.apply::<Soft>(x)),
		"gelu_grad" => one(|x| Function::Gelu.gradient::<Soft>(1.0, x)),
		"silu_grad" => one(|x| Function::Silu.gradient::<Soft>(1.0, x)),
		"inverse_normal" => one(inverse_normal),
		"dot" => {
			let n = decimal(args[0]);
			write(&[dot((0..n).map(x), (0..n).map(y))])
		}
		"sum" => {
			let terms: Vec<f32> = (0..decimal(args[0])).map(y).collect();
			write(&[sum(terms.into_iter())])
		}
		"product" => write(&product(&numbers(args))),
		"max" => write(&[max(numbers(args).into_iter())]),
		"log_softmax" => write(&log_softmax(&numbers(args))),
		"conv2d" | "conv2d_weight_grad" | "conv2d_input_grad" => {
			let all = images(name);
			write(&[&all[..3], &all[all.len() - 3..]].concat())
		}
		"max_pool" | "max_pool_grad" | "avg_pool" | "avg_pool_grad" => write(&images(name)),
		"layer_norm"
		| "layer_norm_grad"
		| "layer_norm_weight_grad"
		| "rms_norm"
		| "rms_norm_grad"
		| "rms_norm_weight_grad"
		| "causal_softmax"
		| "causal_softmax_grad" => {
			write(&by_rows(name, decimal(args[0]) as u32, decimal(args[1]) as u32))
		}
		"dropout" | "noise" => {
			let (step, len) = (decimal(args[1]) as u32, decimal(args[4]));
			let (site, number) = (decimal(args[2]) as u32, nano(args[3]));
			let kind = match name {
				"dropout" => OpKind::Dropout { x: 0, rate: number, site, len },
				_ => OpKind::Noise { x: 0, deviation: number, len },
			};
			write(&operator(kind, &[&ys(len)], StepContext { seed: seed(args[0]), step }))
		}
		"rate" => {
			let final_rate_nano = nano(args[1]).0;
			let rate = LearningRate {
				peak: nano(args[0]),
				schedule: Schedule::Cosine { final_rate_nano },
				warmup_steps: decimal(args[2]) as u32,
				steps: decimal(args[3]) as u32,
			};
			write(&[rate.at(decimal(args[4]) as u32)])
		}
		"stop" => {
			let (patience, min_delta_nano) = (decimal(args[0]) as u32, nano(args[1]).0);
			let rule = EarlyStop { patience, min_delta_nano };
			rule.stops_at(&numbers(&args[2..])).map_or("none".into(), |at| at.to_string())
		}
		"scale" => write(&[init::scale(decimal(args[0]) as u32)]),
		"weights" => {
			let tensor = lower::StateTensor {
				name: String::new(),
				shape: vec![4],
				initial: lower::Initial::Weights {
					layer: decimal(args[1]) as u32,
					fan_in: decimal(args[2]) as u32,
				},
			};
			write(&init::initial(&seed(args[0]), &tensor))
		}
		"reflection" => {
			let width = decimal(args[2]) as u32;
			let tensor = lower::StateTensor {
				name: String::new(),
				shape: vec![1, width],
				initial: lower::Initial::Reflection { number: decimal(args[1]) as u32, width },
			};
			write(&init::initial(&seed(args[0]), &tensor))
		}
		"epoch" => {
			let (epoch, rows) = (decimal(args[1]) as u32, decimal(args[2]) as u32);
			let order = Order::new(&seed(args[0]), epoch, rows).tabulate();
			order.rows(0..rows).iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
		}
		"position" => {
			let [epoch, rows, position] = [1, 2, 3].map(|i| decimal(args[i]) as u32);
			Order::new(&seed(args[0]), epoch, rows).at(position).unwrap().to_string()
		}
		"train" => train(args[0], decimal(args[1]) as u32),
		"content" => hex::encode(content_of(args[0], decimal(args[1]))),
		"trace" => hex::encode(trace(args[0], decimal(args[1]) as u32)),
		other => panic!("the page has a vector of unknown kind {other}"),
	}
}

#[test]
fn the_page_tells_the_truth() {
	let block = PAGE.split("```vectors\n").nth(1).unwrap().split("```").next().unwrap();
	let (mut wrong, mut kinds) = (Vec::new(), std::collections::BTreeSet::new());
	for line in block.lines().filter(|line| !line.trim().is_empty()) {
		let (question, answer) = line.split_once('=').unwrap();
		let mut parts = question.split_whitespace();
		let name = parts.next().unwrap();
		let found = compute(name, &parts.collect::<Vec<_>>());
		kinds.insert(name);
		if found != answer.trim() {
			wrong.push(format!("{}= {found}", question));
		}
	}
	assert!(wrong.is_empty(), "these lines should be:\n{}", wrong.join("\n"));
	assert_eq!(kinds.len(), 50, "{kinds:?}");
}
