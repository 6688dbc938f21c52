//! The forward pass.

use super::{builder::*, linear::Extents, NORM_EPSILON};
use crate::{
	ops::{Nano, OpKind, Phase, Role, TensorId},
	spec::{window, Activation, Layer, Shape, Shaped},
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

	/// Adds the forward pass, from the features through all layers.
	pub fn forward(&mut self) -> Vec<LoweredLayer> {
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
			let earlier = match at.layer {
				Layer::Skip { back } => index
					.checked_sub(back as usize)
					.and_then(|from| done.get(from))
					.map(|from| from.input),
				_ => None,
			};
			let mut now = LoweredLayer {
				at,
				layer,
				input,
				output: input,
				parameters: vec![],
				saved: vec![],
				site: sites,
			};
			if !self.is_left_out(&at.layer) {
				self.layer_forward(&mut now, earlier, index, role);
			}
			if let Layer::Dropout { .. } = at.layer {
				sites = sites.saturating_add(1);
			}
			input = now.output;
			done.push(now);
		}
		done
	}

	fn layer_forward(
		&mut self,
		now: &mut LoweredLayer,
		earlier: Option<TensorId>,
		index: usize,
		role: Role,
	) {
		let (x, layer, rows) = (now.input, now.layer, self.rows);
		let Shaped { layer: kind, input, output } = now.at;
		let (len, (vectors, cols)) = (self.len(x), input.vectors());
		let vectors = rows.saturating_mul(vectors);
		let named = |name: &str| format!("{name}.{index}");
		match kind {
			Layer::Linear { outputs } => {
				let extents = Extents { rows: vectors, inputs: cols, outputs };
				let (parameters, out) = self.linear(x, ["weight", "bias"], "", extents, role);
				(now.parameters, now.output) = (parameters.to_vec(), out);
			}
			Layer::Conv2d { filters, kernel, stride, padding } => {
				let Some(window) = window(rows, input, kernel, stride, padding) else { return };
				let shape = vec![filters, window.channels, kernel, kernel];
				let weight = self.parameter("weight", shape);
				let bias = self.parameter("bias", vec![filters]);
				let kind = OpKind::Conv2d { x, weight, window, filters };
				let shape = self.tensor_shape(output);
				let product = self.compute(format!("product.{layer}"), shape, kind);
				let (images, channels, area) = (rows, filters, window.out_area());
				let kind = OpKind::AddChannel { x: product, channel: bias, images, channels, area };
				now.output = self.result(role, format!("output.{layer}"), output, kind);
				now.parameters = vec![weight, bias];
			}
			Layer::MaxPool2d { kernel, stride } => {
				let Some(window) = window(rows, input, kernel, stride, 0) else { return };
				let kind = OpKind::MaxPool2d { x, window };
				now.output = self.result(role, named("pool"), output, kind);
			}
			Layer::AvgPool2d { kernel, stride } => {
				let Some(window) = window(rows, input, kernel, stride, 0) else { return };
				let kind = OpKind::AvgPool2d { x, window };
				now.output = self.result(role, named("pool"), output, kind);
			}
			Layer::Activation { function: activation } => {
				let kind = match function(activation) {
					None => OpKind::Relu { a: x, len },
					Some(function) => OpKind::Activation { function, x, len },
				};
				now.output = self.result(role, format!("activation.{layer}"), output, kind);
			}
			Layer::LayerNorm => {
				let weight = self.parameter("weight", vec![cols]);
				let bias = self.parameter("bias", vec![cols]);
				let (epsilon, rows) = (NORM_EPSILON, vectors);
				let kind = OpKind::LayerNorm { x, weight, bias, epsilon, rows, cols };
				now.output = self.result(role, format!("norm.{layer}"), output, kind);
				now.parameters = vec![weight, bias];
			}
			Layer::Dropout { rate_nano } => {
				let kind = OpKind::Dropout { x, rate: Nano(rate_nano), site: now.site, len };
				now.output = self.result(role, named("dropout"), output, kind);
			}
			Layer::Embedding { width } => {
				let Shape::Tokens { positions, vocabulary } = input else { return };
				let table = self.parameter("tokens", vec![vocabulary, width]);
				let row = self.parameter("positions", vec![positions, width]);
				let shape = self.tensor_shape(output);
				let tokens = rows.saturating_mul(positions);
				let kind = OpKind::Embedding { table, tokens: x, rows: tokens, vocabulary, width };
				let a = self.compute(format!("product.{layer}"), shape, kind);
				let cols = positions.saturating_mul(width);
				let kind = OpKind::AddRow { a, row, rows, cols };
				now.output = self.result(role, format!("output.{layer}"), output, kind);
				now.parameters = vec![table, row];
			}
			Layer::Attention { heads } => {
				let (parameters, saved, out) = self.attention(x, input, heads, role);
				(now.parameters, now.saved, now.output) = (parameters, saved, out);
			}
			Layer::Skip { .. } => {
				let Some(y) = earlier else { return };
				now.output = self.result(role, named("sum"), output, OpKind::Add { x, y, len });
			}
		}
	}
}
