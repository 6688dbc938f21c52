//! Fully connected layers and attention.

use super::{builder::*, state::ATTENTION};
use crate::ops::{OpKind, Role, TensorId};
use alloc::{format, vec, vec::Vec};

/// Extents of a fully connected layer.
#[derive(Clone, Copy)]
pub(super) struct Extents {
	/// Vectors.
	pub rows: u32,
	pub inputs: u32,
	pub outputs: u32,
}

/// An attention on the forward pass.
pub(super) struct Attention {
	heads: Heads,
	/// The extents of each of its projections.
	extents: Extents,
	/// Weight and bias of each projection, in the order of the state.
	parameters: [[TensorId; 2]; 4],
	/// Query, key and value, by head.
	inputs: [TensorId; 3],
	/// The probabilities.
	p: TensorId,
	/// The input of the last projection.
	merged: TensorId,
}

/// Extents of an attention.
#[derive(Clone, Copy)]
struct Heads {
	rows: u32,
	positions: u32,
	heads: u32,
	depth: u32,
}

impl Heads {
	/// Returns the number of matrices: one for each row and head.
	fn batch(&self) -> u32 {
		self.rows.saturating_mul(self.heads)
	}
}

impl Builder<'_> {
	/// Adds `input weight^T + bias`; returns the parameters and the result.
	pub fn linear(
		&mut self,
		input: TensorId,
		[weight, bias]: [&str; 2],
		name: &str,
		extents: Extents,
		role: Role,
	) -> ([TensorId; 2], TensorId) {
		let Extents { rows, inputs, outputs } = extents;
		let layer = self.layer.unwrap_or_default();
		let weight = self.parameter(weight, vec![outputs, inputs]);
		let bias = self.parameter(bias, vec![outputs]);
		let shape = vec![rows, outputs];
		let product = OpKind::MatMul {
			a: input,
			b: weight,
			transpose_a: false,
			transpose_b: true,
			m: rows,
			n: outputs,
			k: inputs,
		};
		let product = self.compute(format!("{name}product.{layer}"), shape.clone(), product);
		let output = match role {
			Role::Logits => self.declare("logits", shape, role),
			_ => self.declare(format!("{name}output.{layer}"), shape, role),
		};
		self.push(output, OpKind::AddRow { a: product, row: bias, rows, cols: outputs });
		([weight, bias], output)
	}

	/// Adds the gradients of a fully connected layer's parameters.
	pub fn linear_parameters(
		&mut self,
		gradient: TensorId,
		input: TensorId,
		[weight, bias]: [TensorId; 2],
		extents: Extents,
	) -> [Gradient; 2] {
		let Extents { rows, inputs, outputs } = extents;
		let layer = self.layer.unwrap_or_default();
		let kind = OpKind::MatMul {
			a: gradient,
			b: input,
			transpose_a: true,
			transpose_b: false,
			m: outputs,
			n: inputs,
			k: rows,
		};
		let by_weight = self.compute_like(weight, "gradient", kind);
		let kind = OpKind::SumRows { a: gradient, rows, cols: outputs };
		let by_bias = self.compute_like(bias, "gradient", kind);
		[
			Gradient { layer, parameter: weight, gradient: by_weight },
			Gradient { layer, parameter: bias, gradient: by_bias },
		]
	}

	/// Adds the gradient of a fully connected layer by its input.
	pub fn linear_input(
		&mut self,
		gradient: TensorId,
		weight: TensorId,
		name: &str,
		extents: Extents,
	) -> TensorId {
		let Extents { rows, inputs, outputs } = extents;
		let layer = self.layer.unwrap_or_default();
		let kind = OpKind::MatMul {
			a: gradient,
			b: weight,
			transpose_a: false,
			transpose_b: false,
			m: rows,
			n: inputs,
			k: outputs,
		};
		self.compute(format!("{name}input.{layer}.gradient"), vec![rows, inputs], kind)
	}

	/// Rearranges `[rows, positions, heads, depth]` to `[rows, heads, positions, depth]`.
	fn split_heads(&mut self, x: TensorId, at: &Heads) -> TensorId {
		let Heads { rows: outer, positions: a, heads: b, depth: inner } = *at;
		let name = format!("{}.heads", self.name(x));
		let kind = OpKind::SwapAxes { x, outer, a, b, inner };
		self.compute(name, vec![at.batch(), a, inner], kind)
	}

	/// Reverses [`Self::split_heads`].
	fn merge_heads(&mut self, x: TensorId, at: &Heads) -> TensorId {
		let Heads { rows: outer, positions: b, heads: a, depth: inner } = *at;
		let name = format!("{}.merged", self.name(x));
		let shape = vec![outer.saturating_mul(b), a.saturating_mul(inner)];
		self.compute(name, shape, OpKind::SwapAxes { x, outer, a, b, inner })
	}

	/// Adds one product of matrices for each row and head. `n` is the number of the result's
	/// columns, and `k` the length of the sums.
	fn by_head(
		&mut self,
		name: &str,
		at: &Heads,
		(a, transpose_a): (TensorId, bool),
		(b, transpose_b): (TensorId, bool),
		[n, k]: [u32; 2],
	) -> TensorId {
		let (batch, m) = (at.batch(), at.positions);
		let name = format!("{name}.{}", self.layer.unwrap_or_default());
		let kind = OpKind::BatchMatMul { a, b, transpose_a, transpose_b, batch, m, n, k };
		self.compute(name, vec![batch, m, n], kind)
	}

	/// Adds an attention over that many positions, with that many heads of that depth.
	pub fn attention(
		&mut self,
		input: TensorId,
		[positions, heads, depth]: [u32; 3],
		role: Role,
	) -> (Attention, TensorId) {
		let at = Heads { rows: self.rows, positions, heads, depth };
		let width = heads.saturating_mul(depth);
		let rows = self.rows.saturating_mul(positions);
		let extents = Extents { rows, inputs: width, outputs: width };
		let layer = self.layer.unwrap_or_default();
		let [query, key, value, last] = ATTENTION;
		let made = [(query, "query."), (key, "key."), (value, "value.")].map(|(names, prefix)| {
			let (made, out) = self.linear(input, names, prefix, extents, Role::Local);
			(made, self.split_heads(out, &at))
		});
		let [(of_query, query), (of_key, key), (of_value, value)] = made;
		let scores = self.by_head("scores", &at, (query, false), (key, true), [positions, depth]);
		let (batch, size) = (at.batch(), positions);
		let kind = OpKind::CausalSoftmax { x: scores, batch, size, depth };
		let p = self.compute(format!("attention.{layer}"), vec![batch, size, size], kind);
		let mixed = self.by_head("mixed", &at, (p, false), (value, false), [depth, positions]);
		let merged = self.merge_heads(mixed, &at);
		let (of_output, output) = self.linear(merged, last, "", extents, role);
		let parameters = [of_query, of_key, of_value, of_output];
		let inputs = [query, key, value];
		(Attention { heads: at, extents, parameters, inputs, p, merged }, output)
	}

	/// Adds the gradients of an attention by its parameters and, where `needed`, its input.
	pub fn attention_backward(
		&mut self,
		gradient: TensorId,
		input: TensorId,
		attention: &Attention,
		needed: bool,
	) -> (Vec<Gradient>, Option<TensorId>) {
		let Attention { heads: at, extents, parameters, inputs, p, merged } = *attention;
		let (positions, depth, batch) = (at.positions, at.depth, at.batch());
		let [query, key, value] = inputs;
		let [of_query, of_key, of_value, [wo, bo]] = parameters;
		let output = self.linear_parameters(gradient, merged, [wo, bo], extents);
		let merged = self.linear_input(gradient, wo, "output.", extents);
		let mixed = self.split_heads(merged, &at);
		let by_p = self.by_head(
			"attention.gradient",
			&at,
			(mixed, false),
			(value, true),
			[positions, depth],
		);
		let kind = OpKind::CausalSoftmaxGrad { gradient: by_p, p, batch, size: positions, depth };
		let layer = self.layer.unwrap_or_default();
		let name = format!("scores.gradient.{layer}");
		let scores = self.compute(name, vec![batch, positions, positions], kind);
		let ends = [depth, positions];
		let by_query = self.by_head("query.gradient", &at, (scores, false), (key, false), ends);
		let by_key = self.by_head("key.gradient", &at, (scores, true), (query, false), ends);
		let by_value = self.by_head("value.gradient", &at, (p, true), (mixed, false), ends);
		let (mut gradients, mut by_input) = (Vec::new(), None);
		for (g, [weight, bias], name) in [
			(by_query, of_query, "query."),
			(by_key, of_key, "key."),
			(by_value, of_value, "value."),
		] {
			let g = self.merge_heads(g, &at);
			gradients.extend(self.linear_parameters(g, input, [weight, bias], extents));
			if needed {
				let part = self.linear_input(g, weight, name, extents);
				by_input = Some(self.add_gradient(by_input, part));
			}
		}
		gradients.extend(output);
		(gradients, by_input)
	}

	/// Adds `part` to a gradient's sum so far, and returns the new sum.
	pub fn add_gradient(&mut self, sum: Option<TensorId>, part: TensorId) -> TensorId {
		let Some(x) = sum else { return part };
		let len = self.len(x);
		self.compute_like(x, "sum", OpKind::Add { x, y: part, len })
	}
}
