//! An operator list under construction.

use super::{
	linear::{Attention, Extents},
	state::parameter_name,
};
use crate::{
	ops::{Nano, Op, OpKind, Phase, Program, Role, TensorDecl, TensorId, Window},
	spec::{Activation, CheckedSpec, Layer, Loss, Shaped},
};
use alloc::{format, string::String, vec, vec::Vec};

/// Which of the two lists is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
	/// A training step: with dropout and noise.
	Training,
	/// An evaluation: without dropout and noise.
	Evaluation,
}

/// A parameter and its gradient.
pub(super) struct Gradient {
	pub layer: u32,
	pub parameter: TensorId,
	pub gradient: TensorId,
}

/// A layer on the forward pass.
pub(super) struct LoweredLayer {
	/// Number of the layer with parameters to which it belongs: itself, or the last before it.
	pub layer: u32,
	/// Its input.
	pub input: TensorId,
	/// Its output.
	pub output: TensorId,
	/// The layer, with what its gradients read.
	pub passed: Passed,
}

/// A layer with what its forward pass leaves to the backward pass, besides input and output.
/// Parameters are in the order of the state.
pub(super) enum Passed {
	/// A fully connected layer.
	Linear { parameters: [TensorId; 2], extents: Extents },
	/// A convolution.
	Conv2d { parameters: [TensorId; 2], window: Window, filters: u32 },
	/// The largest number of each window.
	MaxPool2d { window: Window },
	/// The mean of each window.
	AvgPool2d { window: Window },
	/// A function of each number.
	Activation { function: Activation },
	/// A norm of each vector.
	LayerNorm { parameters: [TensorId; 2], rows: u32, cols: u32 },
	/// A norm of each vector by the root of its mean square.
	RmsNorm { parameters: [TensorId; 1], rows: u32, cols: u32 },
	/// The dropout of this number among the dropouts.
	Dropout { rate: Nano, site: u32 },
	/// Vectors for tokens and positions.
	Embedding { parameters: [TensorId; 2], tokens: u32, vocabulary: u32, width: u32, cols: u32 },
	/// An attention.
	Attention(Attention),
	/// A mapping, before which nothing is trained.
	Mapping,
	/// The sum with the input of the layer at this place.
	Skip { from: usize },
	/// A layer that is left out of this list.
	LeftOut,
}

/// The list so far.
pub(super) struct Builder<'a> {
	pub spec: &'a CheckedSpec,
	pub purpose: Purpose,
	pub rows: u32,
	/// Labels: rows times labels of a row.
	pub positions: u32,
	pub features: TensorId,
	pub labels: TensorId,
	pub program: Program,
	/// What the operators that are pushed belong to.
	pub phase: Phase,
	pub layer: Option<u32>,
}

impl<'a> Builder<'a> {
	pub fn new(spec: &'a CheckedSpec, rows: u32, purpose: Purpose) -> Self {
		let mut list = Self {
			spec,
			purpose,
			rows,
			positions: rows.saturating_mul(spec.labels_per_row()),
			labels: 0,
			features: 0,
			program: Program::default(),
			phase: Phase::Forward,
			layer: None,
		};
		list.features = list.declare("features", vec![rows, spec.dataset.features], Role::Features);
		list.labels = list.declare("labels", vec![list.positions], Role::Labels);
		list
	}

	pub fn declare(&mut self, name: impl Into<String>, shape: Vec<u32>, role: Role) -> TensorId {
		let id = self.program.tensors.len() as TensorId;
		self.program.tensors.push(TensorDecl { name: name.into(), shape, role });
		id
	}

	/// Returns a tensor of this list. There is one, as [`Self::declare`] alone makes numbers.
	fn tensor(&self, id: TensorId) -> Option<&TensorDecl> {
		let tensor = self.program.tensor(id);
		debug_assert!(tensor.is_some(), "no tensor {id}");
		tensor
	}

	pub fn shape(&self, id: TensorId) -> Vec<u32> {
		self.tensor(id).map(|t| t.shape.clone()).unwrap_or_default()
	}

	pub fn name(&self, id: TensorId) -> String {
		self.tensor(id).map(|t| t.name.clone()).unwrap_or_default()
	}

	pub fn len(&self, id: TensorId) -> u64 {
		self.tensor(id).map_or(0, |t| u64::try_from(t.len()).unwrap_or(u64::MAX))
	}

	/// Adds an operator that writes `out`.
	pub fn push(&mut self, out: TensorId, kind: OpKind) {
		let (phase, layer) = (self.phase, self.layer);
		self.program.ops.push(Op { phase, layer, out, kind });
	}

	/// Adds an operator that writes a new tensor.
	pub fn compute(&mut self, name: impl Into<String>, shape: Vec<u32>, kind: OpKind) -> TensorId {
		let out = self.declare(name, shape, Role::Local);
		self.push(out, kind);
		out
	}

	/// Adds an operator whose result is named and shaped after `like`'s, with this ending.
	pub fn compute_like(&mut self, like: TensorId, ending: &str, kind: OpKind) -> TensorId {
		let (name, shape) = (format!("{}.{ending}", self.name(like)), self.shape(like));
		self.compute(name, shape, kind)
	}

	/// Declares a parameter of the present layer.
	pub fn parameter(&mut self, name: &str, shape: Vec<u32>) -> TensorId {
		self.declare(parameter_name(self.layer.unwrap_or_default(), name), shape, Role::State)
	}

	/// Returns the layers with the numbers that their tensors and parameters bear. In an evaluation
	/// dropouts are left out, but keep their places, because skips count them.
	pub fn layers(&self) -> Vec<(u32, Shaped)> {
		let (mut all, mut weighted) = (Vec::new(), 0u32);
		for at in self.spec.layers().iter().copied() {
			if at.has_parameters() {
				weighted = weighted.saturating_add(1);
			}
			all.push((weighted.saturating_sub(1), at));
		}
		all
	}

	/// Returns whether a layer is left out of this list.
	pub fn is_left_out(&self, layer: &Layer) -> bool {
		self.purpose == Purpose::Evaluation && matches!(layer, Layer::Dropout { .. })
	}

	/// Adds the loss of every label, and what its gradient reads: the logarithms of the softmax, or
	/// the outputs themselves.
	pub fn losses(&mut self, outputs: TensorId, role: Role) -> TensorId {
		self.phase = Phase::Loss;
		self.layer = None;
		let (rows, cols, labels) = (self.positions, self.spec.dataset.classes, self.labels);
		let (of, kind) = match self.spec.training.loss {
			Loss::CrossEntropy => {
				let kind = OpKind::LogSoftmax { logits: outputs, rows, cols };
				let log_p = self.compute("log_softmax", vec![rows, cols], kind);
				(log_p, OpKind::RowLoss { log_p, labels, rows, cols })
			}
			Loss::MeanSquaredError => {
				(outputs, OpKind::SquaredLoss { outputs, labels, rows, cols })
			}
		};
		let losses = self.declare("row_losses", vec![rows], role);
		self.push(losses, kind);
		let out = self.declare("loss", vec![1], Role::Loss);
		self.push(out, OpKind::Mean { a: losses, len: u64::from(rows) });
		of
	}

	/// Adds the gradient of the mean loss by the outputs; `of` is what [`Self::losses`] returned.
	pub fn loss_gradient(&mut self, of: TensorId) -> TensorId {
		let (rows, cols, labels) = (self.positions, self.spec.dataset.classes, self.labels);
		let kind = match self.spec.training.loss {
			Loss::CrossEntropy => OpKind::RowLossGrad { log_p: of, labels, rows, cols },
			Loss::MeanSquaredError => OpKind::SquaredLossGrad { outputs: of, labels, rows, cols },
		};
		self.compute("logits.gradient", vec![rows, cols], kind)
	}

	/// Adds the operator that marks which labels are predicted.
	pub fn correct(&mut self, logits: TensorId) {
		let (rows, cols, labels) = (self.positions, self.spec.dataset.classes, self.labels);
		let out = self.declare("correct", vec![rows], Role::Correct);
		self.push(out, OpKind::Correct { logits, labels, rows, cols });
	}
}
