//! The training state: parameters by layer, and what the optimizer keeps.

use super::{BETA1_POWER, BETA2_POWER, MAPPING_PREFIX, OPTIMIZER_PREFIX};
use crate::spec::{CheckedSpec, Optimizer, Placed, Shaped};
use alloc::{format, string::String, vec, vec::Vec};

/// Name and shape of a state tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateTensor {
	/// The name, as in a bundle.
	pub name: String,
	/// The shape, outermost dimension first.
	pub shape: Vec<u32>,
	/// How it begins.
	pub initial: Initial,
}

/// How a state tensor begins, see [`crate::init`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
	/// All +0.
	Zeros,
	/// All 1.
	Ones,
	/// The vector of a reflection, of length 1: all elements have one magnitude, and drawn signs.
	Reflection {
		/// Its number among the reflections, from 0.
		number: u32,
		/// Its elements.
		width: u32,
	},
	/// Drawn as tensor number `layer`, for `fan_in` inputs.
	Weights {
		/// Its number among the tensors that are drawn, from 0. (In a model whose layers have one
		/// each, it is the layer's number.)
		layer: u32,
		/// Its inputs.
		fan_in: u32,
	},
}

/// How a parameter begins.
#[derive(Clone, Copy)]
enum Begin {
	Zeros,
	Ones,
	Drawn { fan_in: u32 },
}

/// Returns the parameters of one layer: the part of the name after the layer's prefix, the shape,
/// and how it begins.
fn of_layer(placed: Placed) -> Vec<(&'static str, Vec<u32>, Begin)> {
	match placed {
		Placed::Linear { inputs, outputs } => vec![
			("weight", vec![outputs, inputs], Begin::Drawn { fan_in: inputs }),
			("bias", vec![outputs], Begin::Zeros),
		],
		Placed::Conv2d { window, filters } => {
			let fan_in = u32::try_from(window.patch()).unwrap_or(u32::MAX);
			let shape = vec![filters, window.channels, window.kernel, window.kernel];
			vec![("weight", shape, Begin::Drawn { fan_in }), ("bias", vec![filters], Begin::Zeros)]
		}
		Placed::LayerNorm { width } => {
			vec![("weight", vec![width], Begin::Ones), ("bias", vec![width], Begin::Zeros)]
		}
		Placed::RmsNorm { width } => vec![("weight", vec![width], Begin::Ones)],
		Placed::Embedding { positions, vocabulary, width } => {
			let drawn = Begin::Drawn { fan_in: width };
			vec![
				("tokens", vec![vocabulary, width], drawn),
				("positions", vec![positions, width], drawn),
			]
		}
		Placed::Attention { heads, depth, .. } => {
			let width = heads.saturating_mul(depth);
			ATTENTION
				.into_iter()
				.flat_map(|[weight, bias]| {
					let drawn = Begin::Drawn { fan_in: width };
					[(weight, vec![width, width], drawn), (bias, vec![width], Begin::Zeros)]
				})
				.collect()
		}
		Placed::MaxPool2d { .. }
		| Placed::AvgPool2d { .. }
		| Placed::Activation { .. }
		| Placed::Dropout { .. }
		| Placed::Mapping { .. }
		| Placed::Skip { .. } => vec![],
	}
}

/// Returns the vectors of the mapping, if there is one. They belong to the model and stay as they are.
fn mapping(spec: &CheckedSpec) -> Vec<StateTensor> {
	let of = |at: &Shaped| match at.placed {
		Placed::Mapping { reflections, width, .. } => Some((reflections, width)),
		_ => None,
	};
	let Some((reflections, width)) = spec.layers().first().and_then(of) else { return vec![] };
	let vector = |number| StateTensor {
		name: reflection_name(number),
		shape: vec![1, width],
		initial: Initial::Reflection { number, width },
	};
	(0..reflections).map(vector).collect()
}

/// The projections of an attention, by the names of weight and bias.
pub(super) const ATTENTION: [[&str; 2]; 4] = [
	["query.weight", "query.bias"],
	["key.weight", "key.bias"],
	["value.weight", "value.bias"],
	["output.weight", "output.bias"],
];

/// Returns the parameters of a model. Layers with parameters are numbered from 0, and the names
/// begin with `layers.{number}.`.
fn parameters(spec: &CheckedSpec) -> Vec<StateTensor> {
	let (mut all, mut drawn) = (Vec::new(), 0u32);
	let with_parameters = spec.layers().iter().filter(|at| at.has_parameters());
	for (number, at) in (0u32..).zip(with_parameters) {
		for (name, shape, begin) in of_layer(at.placed) {
			let initial = match begin {
				Begin::Zeros => Initial::Zeros,
				Begin::Ones => Initial::Ones,
				Begin::Drawn { fan_in } => {
					drawn = drawn.saturating_add(1);
					Initial::Weights { layer: drawn.saturating_sub(1), fan_in }
				}
			};
			all.push(StateTensor { name: parameter_name(number, name), shape, initial });
		}
	}
	all
}

/// Returns the training state of a job: the vectors of its mapping, parameters by layer
/// (`layers.0.weight` and so on; see docs/strict-arithmetic.md), then what the optimizer keeps.
pub fn state(spec: &CheckedSpec) -> Vec<StateTensor> {
	let (mut all, parameters) = (mapping(spec), parameters(spec));
	let kept = |kind: &str| -> Vec<StateTensor> {
		parameters
			.iter()
			.map(|p| StateTensor {
				name: optimizer_name(kind, &p.name),
				shape: p.shape.clone(),
				initial: Initial::Zeros,
			})
			.collect()
	};
	let optimizer = match spec.training.optimizer {
		Optimizer::Sgd { .. } => kept(VELOCITY),
		Optimizer::AdamW { .. } | Optimizer::Adam { .. } => {
			let power = |name: &str| StateTensor {
				name: name.into(),
				shape: vec![1],
				initial: Initial::Ones,
			};
			let mut all = kept(FIRST_MOMENT);
			all.extend(kept(SECOND_MOMENT));
			all.extend([power(BETA1_POWER), power(BETA2_POWER)]);
			all
		}
	};
	all.extend(parameters);
	all.extend(optimizer);
	all
}

pub(crate) const VELOCITY: &str = "velocity";
pub(crate) const FIRST_MOMENT: &str = "m";
pub(crate) const SECOND_MOMENT: &str = "v";

/// Returns the prefix of the names of a layer's parameters.
pub fn layer_prefix(layer: u32) -> String {
	format!("layers.{layer}.")
}

pub(super) fn reflection_name(number: u32) -> String {
	format!("{MAPPING_PREFIX}{number}")
}

pub(super) fn parameter_name(layer: u32, name: &str) -> String {
	format!("layers.{layer}.{name}")
}

pub(super) fn optimizer_name(kind: &str, parameter: &str) -> String {
	format!("{OPTIMIZER_PREFIX}{kind}.{parameter}")
}
