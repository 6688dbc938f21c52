//! Lowering: from a specification to its operator lists.
//!
//! There are two: one optimizer step, and one evaluation. Neither depends on the number of
//! the step: what changes from step to step is the batch ([`crate::order`]) and the state,
//! which carries Adam's powers of beta along. Shapes follow the specification's, so lists
//! are short and cheap to make; call [`JobSpec::validate`] first, for nothing is checked
//! here.

use crate::{
	ops::{Nano, Op, OpKind, Phase, Program, Role, TensorDecl, TensorId},
	spec::{JobSpec, Optimizer},
};
use alloc::{format, string::String, vec, vec::Vec};

/// State tensor: beta1 to the power of the steps taken, `[1]`.
pub const BETA1_POWER: &str = "optimizer.beta1_power";
/// State tensor: beta2 to the power of the steps taken, `[1]`.
pub const BETA2_POWER: &str = "optimizer.beta2_power";
/// What the name of every state tensor that is not a parameter begins with.
pub const OPTIMIZER_PREFIX: &str = "optimizer.";

/// The list of one training step: forward and backward over a batch, and the update.
///
/// Given: `Features`, `Labels` and the state; results: `Loss`, `Logits` and the next state.
pub fn training_step(spec: &JobSpec) -> Program {
	let mut list = Builder::new(spec, spec.training.batch_size);
	let forward = list.forward();
	let log_p = list.log_softmax(&forward);
	let losses = list.row_losses(log_p, Role::Local);
	list.mean(losses);
	let gradients = list.backward(&forward, log_p);
	list.update(&gradients);
	list.program
}

/// The list of one evaluation of a state over all validation rows.
///
/// Given: `Features`, `Labels` and the parameters; results: `RowLosses`, `Correct`, `Loss`
/// and `Logits`.
pub fn evaluation(spec: &JobSpec) -> Program {
	evaluation_of(spec, spec.dataset.validation_rows)
}

/// [`evaluation`] over `rows` rows. Rows do not meet before the mean, so an executor may
/// take them in slices and reduce the row losses of all slices at the end.
pub fn evaluation_of(spec: &JobSpec, rows: u32) -> Program {
	let mut list = Builder::new(spec, rows);
	let forward = list.forward();
	let log_p = list.log_softmax(&forward);
	let losses = list.row_losses(log_p, Role::RowLosses);
	list.mean(losses);
	list.correct(&forward);
	list.program
}

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
	/// Drawn for layer `layer`, which has `fan_in` inputs.
	Weights {
		/// The layer, from 0.
		layer: u32,
		/// Its inputs.
		fan_in: u32,
	},
}

/// The training state of a job: parameters by layer (weight `[outputs, inputs]`, bias
/// `[outputs]`), then what the optimizer keeps.
pub fn state(spec: &JobSpec) -> Vec<StateTensor> {
	let mut parameters = Vec::new();
	for (layer, (inputs, outputs)) in layers(spec) {
		parameters.push(StateTensor {
			name: weight_name(layer),
			shape: vec![outputs, inputs],
			initial: Initial::Weights { layer, fan_in: inputs },
		});
		parameters.push(StateTensor {
			name: bias_name(layer),
			shape: vec![outputs],
			initial: Initial::Zeros,
		});
	}
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
		Optimizer::AdamW { .. } => {
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
	parameters.extend(optimizer);
	parameters
}

const VELOCITY: &str = "velocity";
const FIRST_MOMENT: &str = "m";
const SECOND_MOMENT: &str = "v";

fn weight_name(layer: u32) -> String {
	format!("layers.{layer}.weight")
}

fn bias_name(layer: u32) -> String {
	format!("layers.{layer}.bias")
}

fn optimizer_name(kind: &str, parameter: &str) -> String {
	format!("{OPTIMIZER_PREFIX}{kind}.{parameter}")
}

/// (layer, (inputs, outputs)) from the input on.
fn layers(spec: &JobSpec) -> Vec<(u32, (u32, u32))> {
	let widths = spec.widths();
	(0..).zip(widths.iter().copied().zip(widths.iter().skip(1).copied())).collect()
}

/// A layer on the forward pass.
struct Layer {
	layer: u32,
	inputs: u32,
	outputs: u32,
	/// Its input: features, or the activation before it.
	input: TensorId,
	weight: TensorId,
	bias: TensorId,
	/// Its output before the activation.
	output: TensorId,
	/// Behind the activation; none for the last layer.
	activation: Option<TensorId>,
}

/// Gradient of a parameter.
struct Gradient {
	layer: u32,
	parameter: TensorId,
	gradient: TensorId,
}

struct Builder<'a> {
	spec: &'a JobSpec,
	rows: u32,
	labels: TensorId,
	features: TensorId,
	program: Program,
}

impl<'a> Builder<'a> {
	fn new(spec: &'a JobSpec, rows: u32) -> Self {
		let mut list = Self { spec, rows, labels: 0, features: 0, program: Program::default() };
		list.features = list.declare("features", vec![rows, spec.dataset.features], Role::Features);
		list.labels = list.declare("labels", vec![rows], Role::Labels);
		list
	}

	fn declare(&mut self, name: impl Into<String>, shape: Vec<u32>, role: Role) -> TensorId {
		let id = self.program.tensors.len() as TensorId;
		self.program.tensors.push(TensorDecl { name: name.into(), shape, role });
		id
	}

	fn shape(&self, id: TensorId) -> Vec<u32> {
		self.program.tensor(id).map(|t| t.shape.clone()).unwrap_or_default()
	}

	fn name(&self, id: TensorId) -> String {
		self.program.tensor(id).map(|t| t.name.clone()).unwrap_or_default()
	}

	fn len(&self, id: TensorId) -> u64 {
		self.program.tensor(id).map_or(0, |t| u64::try_from(t.len()).unwrap_or(u64::MAX))
	}

	fn push(&mut self, phase: Phase, layer: Option<u32>, out: TensorId, kind: OpKind) {
		self.program.ops.push(Op { phase, layer, out, kind });
	}

	/// `output = input weight^T + bias`, and the activation behind every layer but the last.
	fn forward(&mut self) -> Vec<Layer> {
		let (rows, all) = (self.rows, layers(self.spec));
		let last = all.len().saturating_sub(1) as u32;
		let mut input = self.features;
		let mut done = Vec::with_capacity(all.len());
		for (layer, (inputs, outputs)) in all {
			let at = Some(layer);
			let weight = self.declare(weight_name(layer), vec![outputs, inputs], Role::State);
			let bias = self.declare(bias_name(layer), vec![outputs], Role::State);
			let shape = vec![rows, outputs];
			let product = self.declare(format!("product.{layer}"), shape.clone(), Role::Local);
			self.push(
				Phase::Forward,
				at,
				product,
				OpKind::MatMul {
					a: input,
					b: weight,
					transpose_a: false,
					transpose_b: true,
					m: rows,
					n: outputs,
					k: inputs,
				},
			);
			let (name, role) = if layer == last {
				("logits".into(), Role::Logits)
			} else {
				(format!("output.{layer}"), Role::Local)
			};
			let output = self.declare(name, shape.clone(), role);
			self.push(
				Phase::Forward,
				at,
				output,
				OpKind::AddRow { a: product, row: bias, rows, cols: outputs },
			);
			let activation = (layer != last).then(|| {
				let out = self.declare(format!("activation.{layer}"), shape, Role::Local);
				let len = self.len(out);
				self.push(Phase::Forward, at, out, OpKind::Relu { a: output, len });
				out
			});
			done.push(Layer { layer, inputs, outputs, input, weight, bias, output, activation });
			input = activation.unwrap_or(output);
		}
		done
	}

	fn log_softmax(&mut self, forward: &[Layer]) -> TensorId {
		let (rows, cols) = (self.rows, self.spec.dataset.classes);
		let logits = forward.last().map_or(self.features, |l| l.output);
		let out = self.declare("log_softmax", vec![rows, cols], Role::Local);
		self.push(Phase::Loss, None, out, OpKind::LogSoftmax { logits, rows, cols });
		out
	}

	fn row_losses(&mut self, log_p: TensorId, role: Role) -> TensorId {
		let (rows, cols, labels) = (self.rows, self.spec.dataset.classes, self.labels);
		let out = self.declare("row_losses", vec![rows], role);
		self.push(Phase::Loss, None, out, OpKind::RowLoss { log_p, labels, rows, cols });
		out
	}

	fn mean(&mut self, losses: TensorId) {
		let len = self.len(losses);
		let out = self.declare("loss", vec![1], Role::Loss);
		self.push(Phase::Loss, None, out, OpKind::Mean { a: losses, len });
	}

	fn correct(&mut self, forward: &[Layer]) {
		let (rows, cols, labels) = (self.rows, self.spec.dataset.classes, self.labels);
		let logits = forward.last().map_or(self.features, |l| l.output);
		let out = self.declare("correct", vec![rows], Role::Correct);
		self.push(Phase::Loss, None, out, OpKind::Correct { logits, labels, rows, cols });
	}

	/// From the last layer to the first; the features need no gradient.
	fn backward(&mut self, forward: &[Layer], log_p: TensorId) -> Vec<Gradient> {
		let (rows, labels) = (self.rows, self.labels);
		let classes = self.spec.dataset.classes;
		let mut gradients = Vec::new();
		let mut upstream = self.declare("logits.gradient", vec![rows, classes], Role::Local);
		self.push(
			Phase::Loss,
			None,
			upstream,
			OpKind::RowLossGrad { log_p, labels, rows, cols: classes },
		);
		for at in forward.iter().rev() {
			let layer = Some(at.layer);
			if let Some(activation) = at.activation {
				let name = format!("output.{}.gradient", at.layer);
				let out = self.declare(name, vec![rows, at.outputs], Role::Local);
				let len = self.len(out);
				self.push(
					Phase::Backward,
					layer,
					out,
					OpKind::ReluGrad { gradient: upstream, activation, len },
				);
				upstream = out;
			}
			let name = format!("{}.gradient", weight_name(at.layer));
			let weight = self.declare(name, vec![at.outputs, at.inputs], Role::Local);
			self.push(
				Phase::Backward,
				layer,
				weight,
				OpKind::MatMul {
					a: upstream,
					b: at.input,
					transpose_a: true,
					transpose_b: false,
					m: at.outputs,
					n: at.inputs,
					k: rows,
				},
			);
			let name = format!("{}.gradient", bias_name(at.layer));
			let bias = self.declare(name, vec![at.outputs], Role::Local);
			self.push(
				Phase::Backward,
				layer,
				bias,
				OpKind::SumRows { a: upstream, rows, cols: at.outputs },
			);
			gradients.push(Gradient { layer: at.layer, parameter: at.bias, gradient: bias });
			gradients.push(Gradient { layer: at.layer, parameter: at.weight, gradient: weight });
			if at.layer > 0 {
				let name = format!("input.{}.gradient", at.layer);
				let out = self.declare(name, vec![rows, at.inputs], Role::Local);
				self.push(
					Phase::Backward,
					layer,
					out,
					OpKind::MatMul {
						a: upstream,
						b: at.weight,
						transpose_a: false,
						transpose_b: false,
						m: rows,
						n: at.inputs,
						k: at.outputs,
					},
				);
				upstream = out;
			}
		}
		gradients.reverse();
		gradients
	}

	fn update(&mut self, gradients: &[Gradient]) {
		let rule = match self.spec.training.optimizer {
			Optimizer::Sgd { momentum_nano } => Rule::Sgd { momentum: Nano(momentum_nano) },
			Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano } => Rule::Adam {
				beta1: Nano(beta1_nano),
				beta2: Nano(beta2_nano),
				epsilon: Nano(epsilon_nano),
				power1: self.power(BETA1_POWER, Nano(beta1_nano)),
				power2: self.power(BETA2_POWER, Nano(beta2_nano)),
			},
		};
		for gradient in gradients {
			self.update_one(gradient, rule);
		}
	}

	/// Takes a power of beta one step on.
	fn power(&mut self, name: &str, factor: Nano) -> TensorId {
		let (old, new) = self.kept(name.into(), vec![1]);
		self.push(Phase::Update, None, new, OpKind::Scale { x: old, factor, len: 1 });
		new
	}

	/// Declares a tensor that the optimizer keeps, and its next value.
	fn kept(&mut self, name: String, shape: Vec<u32>) -> (TensorId, TensorId) {
		let next = format!("{name}.next");
		let old = self.declare(name, shape.clone(), Role::State);
		(old, self.declare(next, shape, Role::Next(old)))
	}

	/// Weight decay first, then the optimizer's step from the decayed parameter.
	fn update_one(&mut self, at: &Gradient, rule: Rule) {
		let t = &self.spec.training;
		let (learning_rate, weight_decay) = (Nano(t.learning_rate_nano), Nano(t.weight_decay_nano));
		let (layer, len) = (Some(at.layer), self.len(at.parameter));
		let (name, shape) = (self.name(at.parameter), self.shape(at.parameter));
		let mut x = at.parameter;
		if weight_decay.0 > 0 {
			let out = self.declare(format!("{name}.decayed"), shape.clone(), Role::Local);
			let kind = OpKind::Decay { x, learning_rate, weight_decay, len };
			self.push(Phase::Update, layer, out, kind);
			x = out;
		}
		let kept =
			|list: &mut Self, kind: &str| list.kept(optimizer_name(kind, &name), shape.clone());
		let step = match rule {
			Rule::Sgd { momentum: factor } => {
				let (velocity, next) = kept(self, VELOCITY);
				let y = at.gradient;
				let kind = OpKind::MulAdd { x: velocity, y, factor, negate: false, len };
				self.push(Phase::Update, layer, next, kind);
				OpKind::MulAdd { x: next, y: x, factor: learning_rate, negate: true, len }
			}
			Rule::Adam { beta1, beta2, epsilon, power1, power2 } => {
				let (average, m) = kept(self, FIRST_MOMENT);
				let (keep, take, g) = (beta1, beta1.one_minus(), at.gradient);
				let kind = OpKind::Ema { average, x: g, keep, take, len };
				self.push(Phase::Update, layer, m, kind);
				let (average, v) = kept(self, SECOND_MOMENT);
				let (keep, take) = (beta2, beta2.one_minus());
				let kind = OpKind::EmaSquare { average, x: g, keep, take, len };
				self.push(Phase::Update, layer, v, kind);
				OpKind::AdamStep { x, m, v, power1, power2, learning_rate, epsilon, len }
			}
		};
		let next = self.declare(format!("{name}.next"), shape, Role::Next(at.parameter));
		self.push(Phase::Update, layer, next, step);
	}
}

/// The optimizer, with what its updates share.
#[derive(Clone, Copy)]
enum Rule {
	Sgd { momentum: Nano },
	Adam { beta1: Nano, beta2: Nano, epsilon: Nano, power1: TensorId, power2: TensorId },
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::spec::{Activation, Model};
	use std::collections::{BTreeMap, BTreeSet};

	fn specs() -> Vec<JobSpec> {
		let mut all = Vec::new();
		for hidden in [vec![], vec![7], vec![64, 32, 5]] {
			for optimizer in
				[Optimizer::Sgd { momentum_nano: 1 }, JobSpec::example().training.optimizer]
			{
				for weight_decay_nano in [0, 5] {
					let mut spec = JobSpec::example();
					spec.model = Model::Mlp {
						hidden: hidden.clone().try_into().unwrap(),
						activation: Activation::Relu,
					};
					spec.training.optimizer = optimizer;
					spec.training.weight_decay_nano = weight_decay_nano;
					all.push(spec);
				}
			}
		}
		all
	}

	fn is_given(role: Role) -> bool {
		matches!(role, Role::Features | Role::Labels | Role::State)
	}

	/// Shape of an operator's result and of what it reads, from its own numbers.
	fn shapes(kind: &OpKind) -> (Vec<u32>, Vec<Vec<u32>>) {
		let flip = |t: bool, r: u32, c: u32| if t { vec![c, r] } else { vec![r, c] };
		match *kind {
			OpKind::MatMul { transpose_a, transpose_b, m, n, k, .. } => {
				(vec![m, n], vec![flip(transpose_a, m, k), flip(transpose_b, k, n)])
			}
			OpKind::AddRow { rows, cols, .. } => {
				(vec![rows, cols], vec![vec![rows, cols], vec![cols]])
			}
			OpKind::LogSoftmax { rows, cols, .. } => (vec![rows, cols], vec![vec![rows, cols]]),
			OpKind::RowLoss { rows, cols, .. } | OpKind::Correct { rows, cols, .. } => {
				(vec![rows], vec![vec![rows, cols], vec![rows]])
			}
			OpKind::RowLossGrad { rows, cols, .. } => {
				(vec![rows, cols], vec![vec![rows, cols], vec![rows]])
			}
			OpKind::SumRows { rows, cols, .. } => (vec![cols], vec![vec![rows, cols]]),
			_ => (vec![], vec![]),
		}
	}

	#[test]
	fn lists_are_well_formed() {
		for spec in specs() {
			for program in [training_step(&spec), evaluation(&spec)] {
				let shape = |id: TensorId| program.tensors[id as usize].shape.clone();
				let mut known: BTreeSet<TensorId> = (0..)
					.zip(&program.tensors)
					.filter(|(_, t)| is_given(t.role))
					.map(|(id, _)| id)
					.collect();
				for op in &program.ops {
					let inputs = op.kind.inputs();
					assert!(inputs.iter().all(|id| known.contains(id)), "{op:?}");
					assert!(known.insert(op.out), "written twice: {op:?}");
					let (out, expected) = shapes(&op.kind);
					if out.is_empty() {
						// Elementwise, or a mean: lengths agree.
						let len = match op.kind {
							OpKind::Relu { len, .. }
							| OpKind::ReluGrad { len, .. }
							| OpKind::Mean { len, .. }
							| OpKind::Scale { len, .. }
							| OpKind::Decay { len, .. }
							| OpKind::MulAdd { len, .. }
							| OpKind::Ema { len, .. }
							| OpKind::EmaSquare { len, .. }
							| OpKind::AdamStep { len, .. } => u128::from(len),
							_ => unreachable!(),
						};
						let scalars = matches!(op.kind, OpKind::AdamStep { .. }) as usize * 2;
						for id in &inputs[..inputs.len() - scalars] {
							assert_eq!(program.tensor(*id).unwrap().len(), len, "{op:?}");
						}
						if !matches!(op.kind, OpKind::Mean { .. }) {
							assert_eq!(shape(op.out), shape(inputs[0]), "{op:?}");
						}
					} else {
						assert_eq!(shape(op.out), out, "{op:?}");
						let found: Vec<_> = inputs.iter().map(|id| shape(*id)).collect();
						assert_eq!(found, expected, "{op:?}");
					}
				}
				assert_eq!(known.len(), program.tensors.len(), "a tensor nobody writes");
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
			assert_eq!(decays, spec.training.weight_decay_nano > 0);
			// An evaluation needs the parameters only.
			let scoring = evaluation(&spec);
			assert!(scoring.state().all(|(_, t)| !t.name.starts_with(OPTIMIZER_PREFIX)));
			assert_eq!(scoring.next_state().count(), 0);
		}
	}
}
