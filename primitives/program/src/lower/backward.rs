//! The backward pass.

use super::{builder::*, forward::function, linear::Extents, state::has_parameters, NORM_EPSILON};
use crate::{
	ops::{Nano, OpKind, Phase, TensorId},
	spec::{window, Layer, Shape},
};
use alloc::{format, vec, vec::Vec};

impl Builder<'_> {
	/// Adds the backward pass and returns the gradients of the parameters, in the order of the
	/// state. Nothing is computed that no parameter needs.
	pub fn backward(&mut self, forward: &[LoweredLayer], logits: TensorId) -> Vec<Gradient> {
		self.phase = Phase::Backward;
		// The first layer with parameters: the layers before it need no gradient.
		let first = forward.iter().position(|done| has_parameters(&done.at.layer));
		let first = first.unwrap_or(forward.len());
		let mut pending: Vec<Option<TensorId>> = vec![None; forward.len()];
		let (mut gradients, mut upstream) = (Vec::new(), logits);
		for (index, done) in forward.iter().enumerate().skip(first).rev() {
			self.layer = Some(done.layer);
			let needed = index > first;
			let (mut parameters, below) = self.layer_backward(upstream, done, needed);
			parameters.reverse();
			gradients.append(&mut parameters);
			if let Layer::Skip { back } = done.at.layer {
				let from = index.checked_sub(back as usize).filter(|from| *from > first);
				if let Some(slot) = from.and_then(|from| pending.get_mut(from)) {
					let sum = *slot;
					let joined = self.add_gradient(sum, upstream);
					if let Some(slot) = from.and_then(|from| pending.get_mut(from)) {
						*slot = Some(joined);
					}
				}
			}
			let Some(below) = below else { continue };
			upstream = match pending.get(index).copied().flatten() {
				Some(part) => self.add_gradient(Some(below), part),
				None => below,
			};
		}
		gradients.reverse();
		gradients
	}

	/// Adds the gradients of a layer by its parameters, in the order of the state, and, where
	/// `needed`, by its input.
	fn layer_backward(
		&mut self,
		gradient: TensorId,
		done: &LoweredLayer,
		needed: bool,
	) -> (Vec<Gradient>, Option<TensorId>) {
		let (x, layer, rows) = (done.input, done.layer, self.rows);
		let shape = done.at.input;
		let (vectors, cols) = shape.vectors();
		let vectors = rows.saturating_mul(vectors);
		let len = self.len(gradient);
		match done.at.layer {
			Layer::Linear { outputs } => {
				let [weight, bias] = done.parameters[..] else { return (vec![], None) };
				let extents = Extents { rows: vectors, inputs: cols, outputs };
				let made = self.linear_parameters(gradient, x, [weight, bias], extents);
				let below = needed.then(|| self.linear_input(gradient, weight, "", extents));
				(made.into(), below)
			}
			Layer::Conv2d { filters, kernel, stride, padding } => {
				let Some(window) = window(rows, shape, kernel, stride, padding) else {
					return (vec![], None);
				};
				let [weight, bias] = done.parameters[..] else { return (vec![], None) };
				let kind = OpKind::Conv2dWeightGrad { gradient, x, window, filters };
				let by_weight = self.compute_like(weight, "gradient", kind);
				let (images, channels, area) = (rows, filters, window.out_area());
				let kind = OpKind::SumChannels { x: gradient, images, channels, area };
				let by_bias = self.compute_like(bias, "gradient", kind);
				let made = vec![
					Gradient { layer, parameter: weight, gradient: by_weight },
					Gradient { layer, parameter: bias, gradient: by_bias },
				];
				let kind = OpKind::Conv2dInputGrad { gradient, weight, window, filters };
				(made, needed.then(|| self.by_input(done, kind)))
			}
			Layer::MaxPool2d { kernel, stride } => {
				let Some(window) = window(rows, shape, kernel, stride, 0) else {
					return (vec![], None);
				};
				let kind = OpKind::MaxPool2dGrad { gradient, x, maximum: done.output, window };
				(vec![], needed.then(|| self.by_input(done, kind)))
			}
			Layer::AvgPool2d { kernel, stride } => {
				let Some(window) = window(rows, shape, kernel, stride, 0) else {
					return (vec![], None);
				};
				let kind = OpKind::AvgPool2dGrad { gradient, window };
				(vec![], needed.then(|| self.by_input(done, kind)))
			}
			Layer::Activation { function: activation } => {
				let activated = done.output;
				let kind = match function(activation) {
					None => OpKind::ReluGrad { gradient, activation: activated, len },
					Some(function) => {
						let from_result = function.gradient_from_result();
						let at = if from_result { activated } else { x };
						OpKind::ActivationGrad { function, gradient, at, len }
					}
				};
				let name = format!("output.{layer}.gradient");
				let shape = self.shape(x);
				(vec![], needed.then(|| self.compute(name, shape, kind)))
			}
			Layer::LayerNorm => {
				let [weight, bias] = done.parameters[..] else { return (vec![], None) };
				let (epsilon, rows) = (NORM_EPSILON, vectors);
				let kind = OpKind::LayerNormWeightGrad { gradient, x, epsilon, rows, cols };
				let by_weight = self.compute_like(weight, "gradient", kind);
				let kind = OpKind::SumRows { a: gradient, rows, cols };
				let by_bias = self.compute_like(bias, "gradient", kind);
				let made = vec![
					Gradient { layer, parameter: weight, gradient: by_weight },
					Gradient { layer, parameter: bias, gradient: by_bias },
				];
				let kind = OpKind::LayerNormGrad { gradient, x, weight, epsilon, rows, cols };
				(made, needed.then(|| self.by_input(done, kind)))
			}
			Layer::Dropout { rate_nano } => {
				let kind =
					OpKind::Dropout { x: gradient, rate: Nano(rate_nano), site: done.site, len };
				(vec![], needed.then(|| self.by_input(done, kind)))
			}
			Layer::Embedding { width } => {
				let Shape::Tokens { positions, vocabulary } = shape else { return (vec![], None) };
				let [table, row] = done.parameters[..] else { return (vec![], None) };
				let tokens = rows.saturating_mul(positions);
				let kind =
					OpKind::EmbeddingGrad { gradient, tokens: x, rows: tokens, vocabulary, width };
				let by_table = self.compute_like(table, "gradient", kind);
				let cols = positions.saturating_mul(width);
				let kind = OpKind::SumRows { a: gradient, rows, cols };
				let by_row = self.compute_like(row, "gradient", kind);
				let made = vec![
					Gradient { layer, parameter: table, gradient: by_table },
					Gradient { layer, parameter: row, gradient: by_row },
				];
				(made, None)
			}
			Layer::Attention { heads } => self.attention_backward(gradient, done, heads, needed),
			Layer::Skip { .. } => (vec![], Some(gradient)),
		}
	}

	/// Adds the gradient of a layer by its input.
	fn by_input(&mut self, done: &LoweredLayer, kind: OpKind) -> TensorId {
		self.compute_like(done.input, "gradient", kind)
	}
}
