//! The forward pass.

use super::{builder::*, linear::Extents, state::reflection_name, NORM_EPSILON};
use crate::{
	ops::{Nano, OpKind, Phase, Role, TensorId, Window},
	spec::{Activation, Placed, Shape, Shaped, ONE_NANO},
};
use alloc::{format, string::String, vec, vec::Vec};
use trainyard_strict::Function;

/// Returns the function of an activation; none for ReLU, which has operators of its own.
pub(super) fn function(activation: Activation) -> Option<Function> {
	match activation {
		Activation::Relu => None,
		Activation::Gelu => Some(Function::Gelu),
		Activation::Silu => Some(Function::Silu),
		Activation::Tanh => Some(Function::Tanh),
		Activation::Sigmoid => Some(Function::Sigmoid),
	}
}

impl Builder<'_> {
	/// Returns the shape of a tensor that holds all rows of the batch.
	fn tensor_shape(&self, shape: Shape) -> Vec<u32> {
		match shape {
			Shape::Numbers(n) | Shape::Tokens { positions: n, .. } => vec![self.rows, n],
			Shape::Image { channels, height, width } => vec![self.rows, channels, height, width],
			Shape::Sequence { positions, width } => {
				vec![self.rows.saturating_mul(positions), width]
			}
		}
	}

	/// Adds the operator that writes a layer's result: the logits, where it is the last layer.
	fn result(&mut self, role: Role, name: String, shape: Shape, kind: OpKind) -> TensorId {
		let shape = self.tensor_shape(shape);
		let out = match role {
			Role::Logits => self.declare("logits", shape, role),
			_ => self.declare(name, shape, role),
		};
		self.push(out, kind);
		out
	}

	/// Adds the forward pass, from the features through all layers to the logits.
	pub fn forward(&mut self) -> (Vec<LoweredLayer>, TensorId) {
		self.phase = Phase::Forward;
		let layers = self.layers();
		let last = layers.iter().rposition(|(_, at)| !self.is_left_out(&at.layer));
		let mut input = self.features;
		let noise = self.spec.training.input_noise_nano;
		if noise > 0 && self.purpose == Purpose::Training {
			let (x, len) = (input, self.len(input));
			let kind = OpKind::Noise { x, deviation: Nano(noise), len };
			input = self.compute_like(x, "noisy", kind);
		}
		let (mut done, mut sites) = (Vec::<LoweredLayer>::with_capacity(layers.len()), 0u32);
		for (index, (layer, at)) in layers.into_iter().enumerate() {
			self.layer = Some(layer);
			let role = if last == Some(index) { Role::Logits } else { Role::Local };
			let (output, passed) = if self.is_left_out(&at.layer) {
				(input, Passed::LeftOut)
			} else {
				self.layer_forward(&at, layer, input, &done, sites, role)
			};
			if let Placed::Dropout { .. } = at.placed {
				sites = sites.saturating_add(1);
			}
			done.push(LoweredLayer { layer, input, output, passed });
			input = output;
		}
		(done, input)
	}

	/// Adds a mapping of each vector of `width` numbers: each reflection takes from `x` twice what it has
	/// along the vector `v` of length 1, `x - 2 (x . v) v`. Patches of an image are gathered before, and
	/// are the channels of each place after it.
	fn mapping(
		&mut self,
		mut x: TensorId,
		at: &Shaped,
		reflections: u32,
		patch: u32,
		width: u32,
	) -> TensorId {
		// It belongs to no layer that is trained.
		self.layer = None;
		let (rows, len) = (self.rows, self.len(x));
		let places = at.input.elements().checked_div(u64::from(width)).unwrap_or(0);
		let places = u32::try_from(places).unwrap_or(u32::MAX);
		let m = rows.saturating_mul(places);
		let patches = match at.input {
			Shape::Image { channels, height, width: across } if patch > 0 => {
				let (above, beside) = (height.checked_div(patch), across.checked_div(patch));
				Some((channels, above.unwrap_or(0), beside.unwrap_or(0), across))
			}
			_ => None,
		};
		if let Some((channels, above, beside, across)) = patches {
			let [outer, a, b, inner] = [rows, channels, above, patch.saturating_mul(across)];
			let shape = vec![rows, above, channels, inner];
			x = self.compute("bands", shape, OpKind::SwapAxes { x, outer, a, b, inner });
			let [outer, a] = [rows.saturating_mul(above), channels.saturating_mul(patch)];
			let (b, inner) = (beside, patch);
			x = self.compute("patches", vec![m, width], OpKind::SwapAxes { x, outer, a, b, inner });
		}
		for number in 0..reflections {
			let vector = self.declare(reflection_name(number), vec![1, width], Role::State);
			let product = |a, transpose_b, n, k| OpKind::MatMul {
				a,
				b: vector,
				transpose_a: false,
				transpose_b,
				m,
				n,
				k,
			};
			let along =
				self.compute(format!("along.{number}"), vec![m, 1], product(x, true, 1, width));
			let shape = vec![m, width];
			let part =
				self.compute(format!("part.{number}"), shape, product(along, false, width, 1));
			let factor = Nano(ONE_NANO.saturating_mul(2)).into();
			let kind = OpKind::MulAdd { x: part, y: x, factor, negate: true, len };
			let shape = match (patches, number.saturating_add(1) == reflections) {
				(None, true) => self.tensor_shape(at.output),
				_ => vec![m, width],
			};
			x = self.compute(format!("reflected.{number}"), shape, kind);
		}
		if patches.is_some() {
			let kind = OpKind::SwapAxes { x, outer: rows, a: places, b: width, inner: 1 };
			x = self.compute("mapped", self.tensor_shape(at.output), kind);
		}
		x
	}

	/// Adds layer number `layer` on `x`, after those that are `done`. Returns its output, and what
	/// its gradients read; `site` is its number among the dropouts.
	fn layer_forward(
		&mut self,
		at: &Shaped,
		layer: u32,
		x: TensorId,
		done: &[LoweredLayer],
		site: u32,
		role: Role,
	) -> (TensorId, Passed) {
		let (rows, index, output) = (self.rows, done.len(), at.output);
		let (len, vectors) = (self.len(x), rows.saturating_mul(at.input.vectors().0));
		let named = |name: &str| format!("{name}.{index}");
		match at.placed {
			Placed::Linear { inputs, outputs } => {
				let extents = Extents { rows: vectors, inputs, outputs };
				let (parameters, out) = self.linear(x, ["weight", "bias"], "", extents, role);
				(out, Passed::Linear { parameters, extents })
			}
			Placed::Conv2d { window, filters } => {
				let window = Window { images: rows, ..window };
				let shape = vec![filters, window.channels, window.kernel, window.kernel];
				let weight = self.parameter("weight", shape);
				let bias = self.parameter("bias", vec![filters]);
				let kind = OpKind::Conv2d { x, weight, window, filters };
				let shape = self.tensor_shape(output);
				let product = self.compute(format!("product.{layer}"), shape, kind);
				let (images, channels, area) = (rows, filters, window.out_area());
				let kind = OpKind::AddChannel { x: product, channel: bias, images, channels, area };
				let out = self.result(role, format!("output.{layer}"), output, kind);
				(out, Passed::Conv2d { parameters: [weight, bias], window, filters })
			}
			Placed::MaxPool2d { window } => {
				let window = Window { images: rows, ..window };
				let out = self.result(role, named("pool"), output, OpKind::MaxPool2d { x, window });
				(out, Passed::MaxPool2d { window })
			}
			Placed::AvgPool2d { window } => {
				let window = Window { images: rows, ..window };
				let out = self.result(role, named("pool"), output, OpKind::AvgPool2d { x, window });
				(out, Passed::AvgPool2d { window })
			}
			Placed::Activation { function: activation } => {
				let kind = match function(activation) {
					None => OpKind::Relu { a: x, len },
					Some(function) => OpKind::Activation { function, x, len },
				};
				let out = self.result(role, format!("activation.{layer}"), output, kind);
				(out, Passed::Activation { function: activation })
			}
			Placed::Mapping { reflections, patch, width } => {
				(self.mapping(x, at, reflections, patch, width), Passed::Mapping)
			}
			Placed::LayerNorm { width: cols } => {
				let weight = self.parameter("weight", vec![cols]);
				let bias = self.parameter("bias", vec![cols]);
				let (epsilon, rows) = (NORM_EPSILON, vectors);
				let kind = OpKind::LayerNorm { x, weight, bias, epsilon, rows, cols };
				let out = self.result(role, format!("norm.{layer}"), output, kind);
				(out, Passed::LayerNorm { parameters: [weight, bias], rows, cols })
			}
			Placed::RmsNorm { width: cols } => {
				let weight = self.parameter("weight", vec![cols]);
				let (epsilon, rows) = (NORM_EPSILON, vectors);
				let kind = OpKind::RmsNorm { x, weight, epsilon, rows, cols };
				let out = self.result(role, format!("norm.{layer}"), output, kind);
				(out, Passed::RmsNorm { parameters: [weight], rows, cols })
			}
			Placed::Dropout { rate_nano } => {
				let rate = Nano(rate_nano);
				let kind = OpKind::Dropout { x, rate, site, len };
				let out = self.result(role, named("dropout"), output, kind);
				(out, Passed::Dropout { rate, site })
			}
			Placed::Embedding { positions, vocabulary, width } => {
				let table = self.parameter("tokens", vec![vocabulary, width]);
				let row = self.parameter("positions", vec![positions, width]);
				let shape = self.tensor_shape(output);
				let tokens = rows.saturating_mul(positions);
				let kind = OpKind::Embedding { table, tokens: x, rows: tokens, vocabulary, width };
				let a = self.compute(format!("product.{layer}"), shape, kind);
				let cols = positions.saturating_mul(width);
				let kind = OpKind::AddRow { a, row, rows, cols };
				let out = self.result(role, format!("output.{layer}"), output, kind);
				let parameters = [table, row];
				(out, Passed::Embedding { parameters, tokens, vocabulary, width, cols })
			}
			Placed::Attention { positions, heads, depth } => {
				let (attention, out) = self.attention(x, [positions, heads, depth], role);
				(out, Passed::Attention(attention))
			}
			Placed::Skip { from } => {
				let earlier = done.get(from);
				debug_assert!(earlier.is_some(), "a skip comes after the layer that it comes from");
				let y = earlier.map_or(x, |earlier| earlier.input);
				let out = self.result(role, named("sum"), output, OpKind::Add { x, y, len });
				(out, Passed::Skip { from })
			}
		}
	}
}
