//! The backward pass.

use super::{builder::*, forward::function, NORM_EPSILON};
use crate::{
	ops::{OpKind, Phase, TensorId},
	spec::Shaped,
};
use alloc::{format, vec, vec::Vec};

impl Builder<'_> {
	/// Adds the backward pass and returns the gradients of the parameters, in the order of the
	/// state. Nothing is computed that no parameter needs.
	pub fn backward(&mut self, forward: &[LoweredLayer], logits: TensorId) -> Vec<Gradient> {
		self.phase = Phase::Backward;
		// The first layer with parameters: the layers before it need no gradient.
		let first = self.spec.layers().iter().position(Shaped::has_parameters);
		let first = first.unwrap_or(forward.len());
		let mut pending: Vec<Option<TensorId>> = vec![None; forward.len()];
		let (mut gradients, mut upstream) = (Vec::new(), logits);
		for (index, done) in forward.iter().enumerate().skip(first).rev() {
			self.layer = Some(done.layer);
			let needed = index > first;
			let (mut parameters, below) = self.layer_backward(upstream, done, needed);
			parameters.reverse();
			gradients.append(&mut parameters);
			if let Passed::Skip { from } = done.passed {
				if let Some(slot) = pending.get_mut(from).filter(|_| from > first) {
					*slot = Some(self.add_gradient(*slot, upstream));
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
		let (x, layer, rows, len) = (done.input, done.layer, self.rows, self.len(gradient));
		match &done.passed {
			Passed::Linear { parameters, extents } => {
				let made = self.linear_parameters(gradient, x, *parameters, *extents);
				let [weight, _] = *parameters;
				let below = needed.then(|| self.linear_input(gradient, weight, "", *extents));
				(made.into(), below)
			}
			Passed::Conv2d { parameters: [weight, bias], window, filters } => {
				let (weight, bias, window, filters) = (*weight, *bias, *window, *filters);
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
			Passed::MaxPool2d { window } => {
				let (maximum, window) = (done.output, *window);
				let kind = OpKind::MaxPool2dGrad { gradient, x, maximum, window };
				(vec![], needed.then(|| self.by_input(done, kind)))
			}
			Passed::AvgPool2d { window } => {
				let kind = OpKind::AvgPool2dGrad { gradient, window: *window };
				(vec![], needed.then(|| self.by_input(done, kind)))
			}
			Passed::Activation { function: activation } => {
				let activated = done.output;
				let kind = match function(*activation) {
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
			Passed::LayerNorm { parameters: [weight, bias], rows, cols } => {
				let (weight, bias, rows, cols) = (*weight, *bias, *rows, *cols);
				let epsilon = NORM_EPSILON;
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
			Passed::RmsNorm { parameters: [weight], rows, cols } => {
				let (weight, epsilon, rows, cols) = (*weight, NORM_EPSILON, *rows, *cols);
				let kind = OpKind::RmsNormWeightGrad { gradient, x, epsilon, rows, cols };
				let by_weight = self.compute_like(weight, "gradient", kind);
				let made = vec![Gradient { layer, parameter: weight, gradient: by_weight }];
				let kind = OpKind::RmsNormGrad { gradient, x, weight, epsilon, rows, cols };
				(made, needed.then(|| self.by_input(done, kind)))
			}
			Passed::Dropout { rate, site } => {
				let kind = OpKind::Dropout { x: gradient, rate: *rate, site: *site, len };
				(vec![], needed.then(|| self.by_input(done, kind)))
			}
			Passed::Embedding { parameters: [table, row], tokens, vocabulary, width, cols } => {
				let (table, row, cols) = (*table, *row, *cols);
				let (tokens, vocabulary, width) = (*tokens, *vocabulary, *width);
				let kind =
					OpKind::EmbeddingGrad { gradient, tokens: x, rows: tokens, vocabulary, width };
				let by_table = self.compute_like(table, "gradient", kind);
				let kind = OpKind::SumRows { a: gradient, rows, cols };
				let by_row = self.compute_like(row, "gradient", kind);
				let made = vec![
					Gradient { layer, parameter: table, gradient: by_table },
					Gradient { layer, parameter: row, gradient: by_row },
				];
				(made, None)
			}
			Passed::Attention(attention) => self.attention_backward(gradient, x, attention, needed),
			Passed::Skip { .. } | Passed::LeftOut => (vec![], Some(gradient)),
			Passed::Mapping => (vec![], None),
		}
	}

	/// Adds the gradient of a layer by its input.
	fn by_input(&mut self, done: &LoweredLayer, kind: OpKind) -> TensorId {
		self.compute_like(done.input, "gradient", kind)
	}
}
