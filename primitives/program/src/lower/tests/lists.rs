//! The form of the lists.

use crate::{
	lower::*,
	ops::{OpKind, Phase, TensorId},
	spec::*,
};
use std::collections::{BTreeMap, BTreeSet};

/// Jobs with every layer, optimizer and option.
pub fn specs() -> Vec<CheckedSpec> {
	let mut all = Vec::new();
	let (beta1_nano, beta2_nano, epsilon_nano) = (900_000_000, 999_000_000, 10);
	let optimizers = [
		Optimizer::Sgd { momentum_nano: 1, nesterov: false },
		Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: true },
		Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano },
		Optimizer::Adam { beta1_nano, beta2_nano, epsilon_nano },
	];
	for base in models() {
		for optimizer in optimizers {
			for weight_decay_nano in [0, 5] {
				let mut spec = base.clone();
				spec.training.optimizer = optimizer;
				spec.training.weight_decay_nano = weight_decay_nano;
				all.push(spec.check().unwrap());
			}
		}
	}
	let mut spec = JobSpec::example();
	spec.training.warmup_steps = 10;
	spec.training.clip_norm_nano = 500_000_000;
	spec.training.input_noise_nano = 1_000_000;
	spec.training.loss = Loss::MeanSquaredError;
	all.push(spec.clone().check().unwrap());
	spec.training.schedule = Schedule::Cosine { final_rate_nano: 1 };
	spec.training.weight_decay_nano = 7;
	all.push(spec.check().unwrap());
	all
}

/// Jobs with every kind of model, small.
pub fn models() -> Vec<JobSpec> {
	let mut all = Vec::new();
	let mut base = JobSpec::example();
	base.dataset.features = 32;
	base.dataset.classes = 3;
	base.training.batch_size = 4;
	let mut with = |model: Model| all.push(JobSpec { model, ..base.clone() });
	for hidden in [vec![], vec![7], vec![6, 4, 5]] {
		let hidden = hidden.try_into().unwrap();
		with(Model::Mlp { hidden, activation: Activation::Relu });
	}
	with(Model::Cnn {
		channels: 2,
		height: 4,
		width: 4,
		layers: vec![
			CnnLayer::Conv { filters: 3, kernel: 3, stride: 1, padding: 1 },
			CnnLayer::MaxPool { kernel: 2, stride: 1 },
			CnnLayer::Conv { filters: 2, kernel: 2, stride: 2, padding: 1 },
			CnnLayer::AvgPool { kernel: 2, stride: 1 },
			CnnLayer::Dropout { rate_nano: 300_000_000 },
			CnnLayer::Linear { outputs: 5 },
		]
		.try_into()
		.unwrap(),
		activation: Activation::Tanh,
	});
	let activation = |function| Layer::Activation { function };
	with(Model::Layers {
		input: Input::Image { channels: 2, height: 4, width: 4 },
		layers: vec![
			// Nothing before the first parameter is differentiated.
			Layer::AvgPool2d { kernel: 1, stride: 1 },
			activation(Activation::Sigmoid),
			Layer::Conv2d { filters: 2, kernel: 3, stride: 1, padding: 1 },
			activation(Activation::Gelu),
			// Two skips to one place, and one from before the first parameter.
			Layer::Conv2d { filters: 2, kernel: 3, stride: 1, padding: 1 },
			Layer::Skip { back: 2 },
			activation(Activation::Silu),
			Layer::Skip { back: 4 },
			Layer::Skip { back: 6 },
			Layer::LayerNorm,
			Layer::Dropout { rate_nano: 250_000_000 },
			Layer::RmsNorm,
			Layer::Linear { outputs: 3 },
			// The last layer is not the one with the logits' parameters.
			activation(Activation::Tanh),
		]
		.try_into()
		.unwrap(),
	});
	let mapped = [
		(Input::Numbers, 0, Layer::Linear { outputs: 5 }),
		(
			Input::Image { channels: 2, height: 4, width: 4 },
			2,
			Layer::Conv2d { filters: 3, kernel: 2, stride: 1, padding: 1 },
		),
	];
	for (input, patch, layer) in mapped {
		let mapping = Layer::Mapping { reflections: 3, patch };
		let tanh = activation(Activation::Tanh);
		let layers = vec![mapping, layer, tanh, Layer::Linear { outputs: 3 }];
		with(Model::Layers { input, layers: layers.try_into().unwrap() });
	}
	let mut text = base.clone();
	text.dataset.format = DataFormat::Text;
	text.dataset.feature_divisor = 1;
	text.dataset.features = 5;
	text.model = Model::Transformer {
		layers: 2,
		heads: 2,
		width: 4,
		mlp_factor: 2,
		dropout_nano: 100_000_000,
	};
	all.push(text);
	all
}

fn is_given(role: Role) -> bool {
	matches!(role, Role::Features | Role::Labels | Role::State)
}

/// Number of elements of an operator's result and of each tensor it reads, from its own
/// numbers; scalars last.
fn lengths(kind: &OpKind) -> (u64, Vec<u64>) {
	let area = |a: u32, b: u32| u64::from(a) * u64::from(b);
	match *kind {
		OpKind::MatMul { m, n, k, .. } => (area(m, n), vec![area(m, k), area(k, n)]),
		OpKind::BatchMatMul { batch, m, n, k, .. } => {
			let batch = u64::from(batch);
			(batch * area(m, n), vec![batch * area(m, k), batch * area(k, n)])
		}
		OpKind::AddRow { rows, cols, .. } => {
			(area(rows, cols), vec![area(rows, cols), cols.into()])
		}
		OpKind::LogSoftmax { rows, cols, .. } => (area(rows, cols), vec![area(rows, cols)]),
		OpKind::RowLoss { rows, cols, .. }
		| OpKind::Correct { rows, cols, .. }
		| OpKind::SquaredLoss { rows, cols, .. } => (rows.into(), vec![area(rows, cols), rows.into()]),
		OpKind::RowLossGrad { rows, cols, .. } | OpKind::SquaredLossGrad { rows, cols, .. } => {
			(area(rows, cols), vec![area(rows, cols), rows.into()])
		}
		OpKind::SumRows { rows, cols, .. } => (cols.into(), vec![area(rows, cols)]),
		OpKind::Relu { len, .. }
		| OpKind::Activation { len, .. }
		| OpKind::Dropout { len, .. }
		| OpKind::Noise { len, .. } => (len, vec![len]),
		OpKind::Scale { len, factor, .. } => {
			(len, [len].into_iter().chain(factor.tensor().map(|_| 1)).collect())
		}
		OpKind::Decay { len, learning_rate, .. } => {
			(len, [len].into_iter().chain(learning_rate.tensor().map(|_| 1)).collect())
		}
		OpKind::MulAdd { len, factor, .. } => {
			(len, [len, len].into_iter().chain(factor.tensor().map(|_| 1)).collect())
		}
		OpKind::AdamStep { len, learning_rate, .. } => {
			let scalars = [1, 1].into_iter().chain(learning_rate.tensor().map(|_| 1));
			(len, [len, len, len].into_iter().chain(scalars).collect())
		}
		OpKind::ReluGrad { len, .. }
		| OpKind::ActivationGrad { len, .. }
		| OpKind::Add { len, .. }
		| OpKind::Ema { len, .. }
		| OpKind::EmaSquare { len, .. } => (len, vec![len, len]),
		OpKind::Mean { len, .. } | OpKind::SumSquares { len, .. } => (1, vec![len]),
		OpKind::SwapAxes { outer, a, b, inner, .. } => {
			let all = area(outer, a) * area(b, inner);
			(all, vec![all])
		}
		OpKind::Conv2d { window: w, filters, .. } => {
			let (x, out) = (planes(&w, w.channels), windows(&w, filters));
			(out, vec![x, u64::from(filters) * w.patch()])
		}
		OpKind::Conv2dWeightGrad { window: w, filters, .. } => {
			let (x, out) = (planes(&w, w.channels), windows(&w, filters));
			(u64::from(filters) * w.patch(), vec![out, x])
		}
		OpKind::Conv2dInputGrad { window: w, filters, .. } => {
			let (x, out) = (planes(&w, w.channels), windows(&w, filters));
			(x, vec![out, u64::from(filters) * w.patch()])
		}
		OpKind::AddChannel { images, channels, area: plane, .. } => {
			let all = area(images, channels) * plane;
			(all, vec![all, channels.into()])
		}
		OpKind::SumChannels { images, channels, area: plane, .. } => {
			(channels.into(), vec![area(images, channels) * plane])
		}
		OpKind::MaxPool2d { window: w, .. } | OpKind::AvgPool2d { window: w, .. } => {
			(windows(&w, w.channels), vec![planes(&w, w.channels)])
		}
		OpKind::MaxPool2dGrad { window: w, .. } => {
			let (x, out) = (planes(&w, w.channels), windows(&w, w.channels));
			(x, vec![out, x, out])
		}
		OpKind::AvgPool2dGrad { window: w, .. } => {
			(planes(&w, w.channels), vec![windows(&w, w.channels)])
		}
		OpKind::LayerNorm { rows, cols, .. } => {
			(area(rows, cols), vec![area(rows, cols), cols.into(), cols.into()])
		}
		OpKind::LayerNormGrad { rows, cols, .. } => {
			(area(rows, cols), vec![area(rows, cols), area(rows, cols), cols.into()])
		}
		OpKind::LayerNormWeightGrad { rows, cols, .. } => {
			(cols.into(), vec![area(rows, cols), area(rows, cols)])
		}
		OpKind::RmsNorm { rows, cols, .. } => {
			(area(rows, cols), vec![area(rows, cols), cols.into()])
		}
		OpKind::RmsNormGrad { rows, cols, .. } => {
			(area(rows, cols), vec![area(rows, cols), area(rows, cols), cols.into()])
		}
		OpKind::RmsNormWeightGrad { rows, cols, .. } => {
			(cols.into(), vec![area(rows, cols), area(rows, cols)])
		}
		OpKind::Embedding { rows, vocabulary, width, .. } => {
			(area(rows, width), vec![area(vocabulary, width), rows.into()])
		}
		OpKind::EmbeddingGrad { rows, vocabulary, width, .. } => {
			(area(vocabulary, width), vec![area(rows, width), rows.into()])
		}
		OpKind::CausalSoftmax { batch, size, .. } => {
			let all = u64::from(batch) * area(size, size);
			(all, vec![all])
		}
		OpKind::CausalSoftmaxGrad { batch, size, .. } => {
			let all = u64::from(batch) * area(size, size);
			(all, vec![all, all])
		}
		OpKind::ClipFactor { .. } => (1, vec![1]),
		OpKind::Whetstone { lanes, .. } => {
			let all = area(lanes, trainyard_strict::whetstone::VARIABLES as u32);
			(all, vec![all])
		}
		OpKind::LearningRate { .. } => (1, vec![]),
	}
}

/// Elements of `channels` planes of every image.
fn planes(window: &crate::ops::Window, channels: u32) -> u64 {
	u64::from(window.images) * u64::from(channels) * window.area()
}

/// Windows on `channels` planes of every image.
fn windows(window: &crate::ops::Window, channels: u32) -> u64 {
	u64::from(window.images) * u64::from(channels) * window.out_area()
}

#[test]
fn lists_are_well_formed() {
	for spec in specs() {
		for program in [training_step(&spec), evaluation(&spec)] {
			let len = |id: TensorId| program.tensors[id as usize].len() as u64;
			let mut known: BTreeSet<TensorId> = (0..)
				.zip(&program.tensors)
				.filter(|(_, t)| is_given(t.role))
				.map(|(id, _)| id)
				.collect();
			for op in &program.ops {
				let inputs = op.kind.inputs();
				assert!(inputs.iter().all(|id| known.contains(id)), "{op:?}");
				assert!(known.insert(op.out), "written twice: {op:?}");
				let (out, expected) = lengths(&op.kind);
				assert_eq!(len(op.out), out, "{op:?}");
				let found: Vec<_> = inputs.iter().map(|id| len(*id)).collect();
				assert_eq!(found, expected, "{op:?}");
			}
			assert_eq!(known.len(), program.tensors.len(), "a tensor nobody writes");
			let labels = program.find(Role::Labels).unwrap();
			let logits = program.find(Role::Logits).unwrap();
			assert_eq!(len(labels) * u64::from(spec.dataset.classes), len(logits));
			let logits = program.tensors.iter().filter(|t| t.role == Role::Logits);
			assert_eq!(logits.count(), 1);
		}
	}
}

#[test]
fn nothing_is_computed_in_vain() {
	for spec in specs() {
		for program in [training_step(&spec), evaluation(&spec)] {
			let read: BTreeSet<TensorId> =
				program.ops.iter().flat_map(|op| op.kind.inputs()).collect();
			for (id, tensor) in (0..).zip(&program.tensors) {
				if tensor.role == Role::Local {
					assert!(read.contains(&id), "{:?}: {}", spec.model, tensor.name);
				}
			}
		}
	}
}

#[test]
fn a_step_takes_the_whole_state_on() {
	for spec in specs() {
		let program = training_step(&spec);
		let declared: BTreeMap<String, Vec<u32>> =
			state(&spec).into_iter().map(|t| (t.name, t.shape)).collect();
		let given: BTreeMap<String, Vec<u32>> =
			program.state().map(|(_, t)| (t.name.clone(), t.shape.clone())).collect();
		assert_eq!(given, declared);
		let mut next: Vec<String> = program
			.next_state()
			.map(|(_, old)| program.tensors[old as usize].name.clone())
			.collect();
		next.sort();
		assert_eq!(next, declared.into_keys().collect::<Vec<_>>());
		assert!(program.find(Role::Loss).is_some() && program.find(Role::Logits).is_some());
		let decays = program.ops.iter().any(|op| matches!(op.kind, OpKind::Decay { .. }));
		let coupled = matches!(spec.training.optimizer, Optimizer::Adam { .. });
		assert_eq!(decays, spec.training.weight_decay_nano > 0 && !coupled);
		// An evaluation needs the parameters only, and neither drops elements nor adds noise.
		let scoring = evaluation(&spec);
		assert!(scoring.state().all(|(_, t)| !t.name.starts_with(OPTIMIZER_PREFIX)));
		assert_eq!(scoring.next_state().count(), 0);
		let random =
			|op: &crate::ops::Op| matches!(op.kind, OpKind::Dropout { .. } | OpKind::Noise { .. });
		assert!(!scoring.ops.iter().any(random));
	}
}

#[test]
fn parameters_are_counted() {
	for spec in models() {
		let spec = spec.check().unwrap();
		let elements = |t: &StateTensor| t.shape.iter().map(|d| u64::from(*d)).product::<u64>();
		let parameters = state(&spec);
		let parameters = parameters.iter().filter(|t| !t.name.starts_with(OPTIMIZER_PREFIX));
		assert_eq!(spec.parameters(), parameters.map(elements).sum::<u64>());
		// Every drawn tensor has its own number.
		let numbers: Vec<u32> = state(&spec)
			.iter()
			.filter_map(|t| match t.initial {
				Initial::Weights { layer, .. } => Some(layer),
				_ => None,
			})
			.collect();
		assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>());
	}
}

/// The list of an MLP is frozen: stored bundles are replayed by it.
#[test]
fn the_list_of_an_mlp() {
	let mut spec = JobSpec::example();
	spec.model = Model::Mlp { hidden: vec![7].try_into().unwrap(), activation: Activation::Relu };
	spec.training.weight_decay_nano = 1;
	let program = training_step(&spec.check().unwrap());
	let name = |id: TensorId| program.tensors[id as usize].name.as_str();
	let lines: Vec<String> = program
		.ops
		.iter()
		.map(|op| {
			let inputs: Vec<&str> = op.kind.inputs().into_iter().map(name).collect();
			let layer = op.layer.map_or("-".into(), |layer| layer.to_string());
			format!("{:?} {layer} {} <- {}", op.phase, name(op.out), inputs.join(" "))
		})
		.collect();
	let w = |l: u32, name: &str| format!("layers.{l}.{name}");
	let mut expected: Vec<String> = [
		"Forward 0 product.0 <- features layers.0.weight",
		"Forward 0 output.0 <- product.0 layers.0.bias",
		"Forward 0 activation.0 <- output.0",
		"Forward 1 product.1 <- activation.0 layers.1.weight",
		"Forward 1 logits <- product.1 layers.1.bias",
		"Loss - log_softmax <- logits",
		"Loss - row_losses <- log_softmax labels",
		"Loss - loss <- row_losses",
		"Loss - logits.gradient <- log_softmax labels",
		"Backward 1 layers.1.weight.gradient <- logits.gradient activation.0",
		"Backward 1 layers.1.bias.gradient <- logits.gradient",
		"Backward 1 input.1.gradient <- logits.gradient layers.1.weight",
		"Backward 0 output.0.gradient <- input.1.gradient activation.0",
		"Backward 0 layers.0.weight.gradient <- output.0.gradient features",
		"Backward 0 layers.0.bias.gradient <- output.0.gradient",
		"Update - optimizer.beta1_power.next <- optimizer.beta1_power",
		"Update - optimizer.beta2_power.next <- optimizer.beta2_power",
	]
	.map(String::from)
	.into();
	for (l, x) in [(0, "weight"), (0, "bias"), (1, "weight"), (1, "bias")] {
		let p = w(l, x);
		expected.extend([
			format!("Update {l} {p}.decayed <- {p}"),
			format!("Update {l} optimizer.m.{p}.next <- optimizer.m.{p} {p}.gradient"),
			format!("Update {l} optimizer.v.{p}.next <- optimizer.v.{p} {p}.gradient"),
			format!(
				"Update {l} {p}.next <- {p}.decayed optimizer.m.{p}.next optimizer.v.{p}.next \
				 optimizer.beta1_power.next optimizer.beta2_power.next"
			),
		]);
	}
	assert_eq!(lines, expected);
	assert_eq!(program.ops[0].phase, Phase::Forward);
}
