//! Segments that stand still: most of their work need not be done to know the state after them.
//!
//! A network whose units are dead, or saturated, has gradients that are zero, and moments that are
//! too large round all gradients away. From such a state on, training costs next to nothing and
//! replays as true. [`Coasting`] computes what steps make of an element when its gradient is zero:
//! if that is what the next checkpoint holds, in parameter and moments, nobody needed the gradient.
//! [`twins`] counts the elements of units that are equal to others.
//!
//! All this reads two neighbouring states and neither data nor seed, and never convicts: an honest
//! network may die.

use crate::{
	lower::{self, Initial},
	ops::Phase,
	schedule::LearningRate,
	spec::{self, CheckedSpec},
};
use alloc::{collections::BTreeSet, string::String, vec::Vec};
use trainyard_strict::{decay, fma, from_nano, sqrt};

/// Elements that are computed together.
pub const BLOCK: usize = 4_096;

/// The state of the elements of one parameter: all of a tensor, or the same part of each.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
	/// The parameters.
	pub parameter: &'a [f32],
	/// Their velocities, or first moments.
	pub first: &'a [f32],
	/// Their second moments; empty for SGD.
	pub second: &'a [f32],
}

/// An element, as the optimizer keeps it.
#[derive(Clone, Copy, PartialEq)]
struct Element {
	parameter: f32,
	first: f32,
	second: f32,
}

/// The steps between two checkpoints, without any gradient.
#[derive(Clone, Debug)]
pub struct Coasting {
	steps: core::ops::Range<u32>,
	rates: LearningRate,
	weight_decay: f32,
	/// Powers of beta at the beginning.
	powers: (f32, f32),
	rule: Rule,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
	Sgd { momentum: f32, nesterov: bool },
	Adam(Adam),
}

#[derive(Clone, Copy, Debug)]
struct Adam {
	beta1: f32,
	beta2: f32,
	/// The shares that are taken of a gradient; only Adam's decay is one here.
	take1: f32,
	take2: f32,
	epsilon: f32,
	/// Whether the decay is added to the gradient.
	coupled: bool,
}

impl Coasting {
	/// Returns the steps `from..to` of a training that begins them with these powers of beta. (SGD
	/// has none; they are not read.)
	pub fn over(spec: &CheckedSpec, from: u32, to: u32, powers: (f32, f32)) -> Self {
		let t = &spec.training;
		let coupled = matches!(t.optimizer, spec::Optimizer::Adam { .. });
		let rule = match t.optimizer {
			spec::Optimizer::Sgd { momentum_nano, nesterov } => {
				Rule::Sgd { momentum: from_nano(momentum_nano), nesterov }
			}
			spec::Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano }
			| spec::Optimizer::Adam { beta1_nano, beta2_nano, epsilon_nano } => Rule::Adam(Adam {
				beta1: from_nano(beta1_nano),
				beta2: from_nano(beta2_nano),
				take1: crate::ops::Nano(beta1_nano).one_minus().to_f32(),
				take2: crate::ops::Nano(beta2_nano).one_minus().to_f32(),
				epsilon: from_nano(epsilon_nano),
				coupled,
			}),
		};
		Self {
			steps: from..to,
			rates: LearningRate::of(t),
			weight_decay: from_nano(t.weight_decay_nano),
			powers,
			rule,
		}
	}

	/// Returns how many elements are at the end what they would be without any gradient. A zero of
	/// either sign is the same. Takes at most [`BLOCK`] elements at a time best.
	pub fn still(&self, begin: Elements<'_>, end: Elements<'_>) -> u64 {
		let mut elements: Vec<(Element, Element)> = each(begin)
			.zip(each(end))
			.filter(|(begin, end)| self.may_be_still(begin, end))
			.collect();
		let (mut power1, mut power2) = self.powers;
		for step in self.steps.clone() {
			if elements.is_empty() {
				break;
			}
			let rate = self.rates.at(step);
			let kept = decay(rate, self.weight_decay);
			match self.rule {
				Rule::Sgd { momentum, nesterov } => {
					for (at, _) in &mut elements {
						at.first *= momentum;
						let direction = if nesterov { momentum * at.first } else { at.first };
						at.parameter = fma(-rate, direction, self.decayed(kept, at.parameter));
					}
				}
				Rule::Adam(adam) => {
					(power1, power2) = (adam.beta1 * power1, adam.beta2 * power2);
					let (rest1, rest2) = (1.0 - power1, 1.0 - power2);
					for (at, _) in &mut elements {
						// What decays the parameter: itself, or by way of the gradient.
						let pull =
							if adam.coupled { self.weight_decay * at.parameter } else { 0.0 };
						at.first = fma(adam.beta1, at.first, adam.take1 * pull);
						at.second = fma(adam.beta2, at.second, adam.take2 * (pull * pull));
						let x = match adam.coupled {
							true => at.parameter,
							false => self.decayed(kept, at.parameter),
						};
						let step = (at.first / rest1) / (sqrt(at.second / rest2) + adam.epsilon);
						at.parameter = fma(-rate, step, x);
					}
				}
			}
		}
		elements.iter().filter(|(at, end)| at == end).count() as u64
	}

	fn decayed(&self, kept: f32, x: f32) -> f32 {
		if self.weight_decay > 0.0 {
			kept * x
		} else {
			x
		}
	}

	/// Returns whether the element can be still, by a look at both ends: without a gradient nothing
	/// that an average keeps grows. (Adam's decay makes it grow.)
	fn may_be_still(&self, begin: &Element, end: &Element) -> bool {
		let pulled = matches!(self.rule, Rule::Adam(Adam { coupled: true, .. }));
		pulled && self.weight_decay > 0.0
			|| end.second <= begin.second && end.first.abs() <= begin.first.abs()
	}
}

fn each(of: Elements<'_>) -> impl Iterator<Item = Element> + '_ {
	let second = of.second.iter().copied().chain(core::iter::repeat(0.0));
	let kept = of.first.iter().zip(second);
	of.parameter.iter().zip(kept).map(|(parameter, (first, second))| Element {
		parameter: *parameter,
		first: *first,
		second,
	})
}

/// The weights of one layer, and the work that depends on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
	/// Names of its matrices and kernels. Biases and the scales of norms are not among them: they
	/// are few, and what they cost is little.
	pub tensors: Vec<String>,
	/// How many elements these have together.
	pub elements: u64,
	/// FLOP of the layer in a step, forwards and backwards.
	pub work: u128,
}

/// Returns the weights of all layers that have some.
pub fn weights(spec: &CheckedSpec) -> Vec<Weights> {
	let (program, state) = (lower::training_step(spec), lower::state(spec));
	let layers = program.ops.iter().filter_map(|op| op.layer).max();
	let layers = layers.map_or(0, |last| last.saturating_add(1));
	let of = |layer: u32| {
		let prefix = lower::layer_prefix(layer);
		let own = state.iter().filter(|tensor| {
			tensor.name.starts_with(&prefix) && matches!(tensor.initial, Initial::Weights { .. })
		});
		let ops = program.ops.iter();
		let ops = ops.filter(|op| op.layer == Some(layer) && op.phase != Phase::Update);
		let product = |n: u64, d: &u32| n.saturating_mul(u64::from(*d));
		Weights {
			tensors: own.clone().map(|tensor| tensor.name.clone()).collect(),
			elements: own.fold(0u64, |n, t| n.saturating_add(t.shape.iter().fold(1, product))),
			work: ops.fold(0u128, |sum, op| sum.saturating_add(op.kind.flop())),
		}
	};
	(0..layers).map(of).filter(|weights| weights.elements > 0).collect()
}

/// Returns how many elements of a matrix or kernel belong to units that are equal to one before
/// them, up to the sign and a power of two: what such a unit computes follows from the other without
/// computing it. The rows of `values` are the units' weights, as many as `units`.
///
/// Units that were drawn are never equal for good. Weights of one element are not looked at: each is
/// the other's multiple.
pub fn twins(values: &[f32], units: usize) -> u64 {
	let len = values.len().checked_div(units).unwrap_or(0);
	if len < 2 {
		return 0;
	}
	let mut known = BTreeSet::new();
	let repeats = values.chunks_exact(len).filter(|row| !known.insert(canonical(row))).count();
	(repeats as u64).saturating_mul(len as u64)
}

/// Returns the bits of a row, divided by the power of two and the sign of its first element that is
/// not zero. Exact in binary64.
fn canonical(row: &[f32]) -> Vec<u64> {
	let first = row.iter().map(|x| f64::from(*x)).find(|x| *x != 0.0).unwrap_or(1.0);
	let (sign, power) = (first.signum(), libm::ilogb(first).saturating_neg());
	// A zero of either sign is the same.
	row.iter().map(|x| (libm::scalbn(f64::from(*x), power) * sign + 0.0).to_bits()).collect()
}

/// Returns whether a segment stands still in which that many elements of each of these weights
/// would be the same without the gradient, or belong to twins: the work is shared out equally among the elements of a
/// layer, and more than half of it belongs to such ones.
pub fn is_idle(weights: &[Weights], still: &[u64]) -> bool {
	let (mut idle, mut all) = (0u128, 0u128);
	for (layer, still) in weights.iter().zip(still) {
		let share = layer.work.saturating_mul(u128::from(*still));
		idle = idle.saturating_add(share.checked_div(u128::from(layer.elements)).unwrap_or(0));
		all = all.saturating_add(layer.work);
	}
	idle > all.saturating_sub(idle)
}
