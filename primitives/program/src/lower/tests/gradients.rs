//! The gradients in the lists against calculus: central differences of the loss in binary64.

use super::{
	lists::models,
	shadow::{loss, Wide},
};
use crate::{
	init,
	lower::{state, training_step, MAPPING_PREFIX, OPTIMIZER_PREFIX},
	ops::{Nano, OpKind, Phase, Program, Role},
	reference as exec,
	reference::{State, StepContext},
	spec::{Activation, CheckedSpec, Loss, Model},
	H256,
};
use trainyard_strict::Function;

/// xorshift32 in -1..1.
fn random(state: &mut u32) -> f32 {
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	(*state >> 8) as f32 / 8_388_608.0 - 1.0
}

/// A batch for the specification.
fn batch(spec: &CheckedSpec, program: &Program) -> (Vec<f32>, Vec<u32>) {
	let len = |role| program.tensor(program.find(role).unwrap()).unwrap().len() as usize;
	let mut noise = 12_345u32;
	let classes = spec.dataset.classes;
	let mut token = || ((random(&mut noise) + 1.0) * 0.5 * classes as f32) as u32;
	let labels: Vec<u32> = (0..len(Role::Labels)).map(|_| token()).collect();
	let tokens: Vec<f32> = (0..len(Role::Features)).map(|_| token() as f32).collect();
	if spec.labels_per_row() > 1 {
		return (tokens, labels);
	}
	let features = (0..len(Role::Features)).map(|_| random(&mut noise)).collect();
	(features, labels)
}

/// A state in which no parameter has a special value: biases and norms are moved off 0 and 1.
fn moved_state(spec: &CheckedSpec, seed: &H256) -> State {
	let mut noise = 777u32;
	state(spec)
		.iter()
		.map(|t| {
			let mut values = init::initial(seed, t);
			if !t.name.starts_with(OPTIMIZER_PREFIX) {
				values.iter_mut().for_each(|x| *x += 0.2 * random(&mut noise));
			}
			(t.name.clone(), values)
		})
		.collect()
}

/// The largest distance of a gradient in the list from the difference quotient, over every element
/// of every parameter, and the number of elements. The distance is relative to the norm of the
/// tensor's gradient (or, as some gradients are 0, to a hundredth of the whole norm if that is
/// more).
fn worst(spec: &CheckedSpec, program: &Program) -> (f64, usize) {
	let (features, labels) = batch(spec, program);
	let moment = StepContext { seed: H256::repeat_byte(5), step: 3 };
	let given = moved_state(spec, &moment.seed);
	let values = exec::run_at(program, &features, &labels, &given, moment).unwrap();
	let mut at: Wide =
		given.iter().map(|(n, v)| (n.clone(), v.iter().map(|x| f64::from(*x)).collect())).collect();
	let found = f64::from(values.role(program, Role::Loss)[0]);
	let exact = loss(program, &features, &labels, &at, moment);
	assert!((found - exact).abs() < 1e-5 * exact.abs().max(1.0), "loss {found}, not {exact}");

	const H: f64 = 1e-6;
	let mut all: Vec<(&[f32], Vec<f64>)> = Vec::new();
	for (id, tensor) in (0..).zip(&program.tensors) {
		let Some(name) = tensor.name.strip_suffix(".gradient") else { continue };
		if !given.contains_key(name) {
			continue;
		}
		let mut quotients = Vec::new();
		for i in 0..given[name].len() {
			let mut loss_at = |shift: f64| {
				at.get_mut(name).unwrap()[i] += shift;
				let loss = loss(program, &features, &labels, &at, moment);
				at.get_mut(name).unwrap()[i] -= shift;
				loss
			};
			quotients.push((loss_at(H) - loss_at(-H)) / (2.0 * H));
		}
		all.push((values.get(id), quotients));
	}
	let checked: usize = all.iter().map(|(_, quotients)| quotients.len()).sum();
	let kept = state(spec).into_iter().filter(|t| t.name.starts_with(MAPPING_PREFIX));
	let kept: u32 = kept.map(|t| t.shape.iter().product::<u32>()).sum();
	let trained = spec.parameters() - u64::from(kept);
	assert_eq!(checked as u64, trained, "every parameter that is trained has a gradient");
	let norm = |q: &[f64]| q.iter().map(|q| q * q).sum::<f64>().sqrt();
	let whole = all.iter().map(|(_, q)| norm(q).powi(2)).sum::<f64>().sqrt();
	assert!(whole > 1e-3, "the loss depends on the parameters");
	let distances = all.iter().flat_map(|(found, quotients)| {
		let unit = norm(quotients).max(whole / 100.0);
		found.iter().zip(quotients).map(move |(f, q)| (f64::from(*f) - q).abs() / unit)
	});
	(distances.fold(0.0, f64::max), checked)
}

/// How far a gradient may be off.
const NEAR: f64 = 1e-5;

#[test]
fn gradients_equal_finite_differences() {
	let mut specs = models();
	for activation in [Activation::Gelu, Activation::Silu, Activation::Tanh, Activation::Sigmoid] {
		let mut spec = specs[1].clone();
		spec.model = Model::Mlp { hidden: vec![6, 5].try_into().unwrap(), activation };
		specs.push(spec);
	}
	for spec in specs.clone() {
		let mut squared = spec;
		squared.training.loss = Loss::MeanSquaredError;
		specs.push(squared);
	}
	let mut all = 0;
	for spec in specs {
		let spec = spec.check().unwrap();
		let (worst, checked) = worst(&spec, &training_step(&spec));
		println!("{worst:.1e} over {checked} parameters: {:?}", spec.model);
		assert!(worst < NEAR, "{worst:e}: {:?}", spec.model);
		all += checked;
	}
	println!("{all} gradients");
}

/// The check can fail: it notices every backward operator that is spoiled.
#[test]
fn wrong_gradients_are_noticed() {
	let mut noticed = 0;
	for spec in models() {
		let spec = spec.check().unwrap();
		let program = training_step(&spec);
		for index in 0..program.ops.len() {
			let mut wrong = program.clone();
			let op = &mut wrong.ops[index];
			if op.phase != Phase::Backward || !spoil(&mut op.kind) {
				continue;
			}
			assert!(worst(&spec, &wrong).0 > 10.0 * NEAR, "{:?}", program.ops[index]);
			noticed += 1;
		}
	}
	assert!(noticed >= 15, "{noticed}");
}

/// Makes an operator compute something else of the same shape; returns false where it left the
/// operator as it is.
fn spoil(kind: &mut OpKind) -> bool {
	match kind {
		OpKind::ActivationGrad { function, .. } => {
			*function = match function {
				Function::Tanh => Function::Sigmoid,
				_ => Function::Tanh,
			};
		}
		OpKind::CausalSoftmaxGrad { depth, .. } => *depth *= 2,
		OpKind::LayerNormGrad { epsilon, .. }
		| OpKind::LayerNormWeightGrad { epsilon, .. }
		| OpKind::RmsNormGrad { epsilon, .. }
		| OpKind::RmsNormWeightGrad { epsilon, .. } => {
			*epsilon = Nano(100_000_000);
		}
		OpKind::Dropout { site, .. } => *site += 1,
		OpKind::Add { x, y, .. } => *x = *y,
		OpKind::MaxPool2dGrad { x, maximum, .. } => *maximum = *x,
		OpKind::ReluGrad { gradient, activation, .. } => *activation = *gradient,
		_ => return false,
	}
	true
}
