//! The update: clipping, and the optimizer.

use super::{
	builder::*,
	state::{optimizer_name, FIRST_MOMENT, SECOND_MOMENT, VELOCITY},
	BETA1_POWER, BETA2_POWER, MAPPING_PREFIX,
};
use crate::{
	ops::{Factor, Nano, OpKind, Phase, Role, TensorId},
	schedule::LearningRate,
	spec::{Optimizer, ONE_NANO},
};
use alloc::{format, string::String, vec, vec::Vec};

/// The optimizer, and the tensors that its updates share.
#[derive(Clone, Copy)]
enum Rule {
	Sgd { momentum: Nano, nesterov: bool },
	Adam { beta1: Nano, beta2: Nano, epsilon: Nano, power1: TensorId, power2: TensorId },
}

impl Builder<'_> {
	/// Adds the update, from the gradients to the next state.
	pub fn update(&mut self, gradients: Vec<Gradient>) {
		self.phase = Phase::Update;
		let gradients = self.clip(gradients);
		self.layer = None;
		self.keep_mapping();
		let schedule = LearningRate::of(&self.spec.training);
		let learning_rate = match schedule.constant() {
			Some(nano) => Factor::Nano(nano),
			None => {
				let kind = OpKind::LearningRate { schedule };
				Factor::Tensor(self.compute("learning_rate", vec![1], kind))
			}
		};
		let rule = match self.spec.training.optimizer {
			Optimizer::Sgd { momentum_nano, nesterov } => {
				Rule::Sgd { momentum: Nano(momentum_nano), nesterov }
			}
			Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano }
			| Optimizer::Adam { beta1_nano, beta2_nano, epsilon_nano } => Rule::Adam {
				beta1: Nano(beta1_nano),
				beta2: Nano(beta2_nano),
				epsilon: Nano(epsilon_nano),
				power1: self.power(BETA1_POWER, Nano(beta1_nano)),
				power2: self.power(BETA2_POWER, Nano(beta2_nano)),
			},
		};
		for gradient in &gradients {
			self.update_one(gradient, rule, learning_rate);
		}
	}

	/// Takes the vectors of a mapping on as they are.
	fn keep_mapping(&mut self) {
		let vectors = self.program.state().filter(|(_, t)| t.name.starts_with(MAPPING_PREFIX));
		for x in vectors.map(|(id, _)| id).collect::<Vec<_>>() {
			let (name, shape, len) = (self.name(x), self.shape(x), self.len(x));
			let next = self.declare(format!("{name}.next"), shape, Role::Next(x));
			self.push(next, OpKind::Scale { x, factor: Nano(ONE_NANO).into(), len });
		}
	}

	/// Scales the gradients so that their common norm is at most the largest allowed.
	fn clip(&mut self, gradients: Vec<Gradient>) -> Vec<Gradient> {
		let largest = Nano(self.spec.training.clip_norm_nano);
		if largest.0 == 0 {
			return gradients;
		}
		let mut squares = None;
		for at in &gradients {
			self.layer = Some(at.layer);
			let (x, len) = (at.gradient, self.len(at.gradient));
			let name = format!("{}.squares", self.name(x));
			let part = self.compute(name, vec![1], OpKind::SumSquares { x, len });
			squares = Some(self.add_gradient(squares, part));
		}
		let Some(squares) = squares else { return gradients };
		self.layer = None;
		let factor = self.compute("clip", vec![1], OpKind::ClipFactor { squares, largest });
		gradients
			.into_iter()
			.map(|at| {
				self.layer = Some(at.layer);
				let (x, len) = (at.gradient, self.len(at.gradient));
				let kind = OpKind::Scale { x, factor: Factor::Tensor(factor), len };
				Gradient { gradient: self.compute_like(x, "clipped", kind), ..at }
			})
			.collect()
	}

	/// Adds the operator that multiplies a power of beta by beta once more.
	fn power(&mut self, name: &str, factor: Nano) -> TensorId {
		let (old, new) = self.kept(name.into(), vec![1]);
		self.push(new, OpKind::Scale { x: old, factor: factor.into(), len: 1 });
		new
	}

	/// Declares a tensor that the optimizer keeps, and its next value.
	fn kept(&mut self, name: String, shape: Vec<u32>) -> (TensorId, TensorId) {
		let next = format!("{name}.next");
		let old = self.declare(name, shape.clone(), Role::State);
		(old, self.declare(next, shape, Role::Next(old)))
	}

	/// Weight decay first, then the optimizer's step from the decayed parameter. (Adam adds
	/// the decay to the gradient instead.)
	fn update_one(&mut self, at: &Gradient, rule: Rule, learning_rate: Factor) {
		self.layer = Some(at.layer);
		let weight_decay = Nano(self.spec.training.weight_decay_nano);
		let len = self.len(at.parameter);
		let (name, shape) = (self.name(at.parameter), self.shape(at.parameter));
		let (mut x, mut g) = (at.parameter, at.gradient);
		let coupled = matches!(self.spec.training.optimizer, Optimizer::Adam { .. });
		if weight_decay.0 > 0 && coupled {
			let factor = weight_decay.into();
			let kind = OpKind::MulAdd { x, y: g, factor, negate: false, len };
			g = self.compute(format!("{name}.gradient.decayed"), shape.clone(), kind);
		} else if weight_decay.0 > 0 {
			let kind = OpKind::Decay { x, learning_rate, weight_decay, len };
			x = self.compute(format!("{name}.decayed"), shape.clone(), kind);
		}
		let kept =
			|list: &mut Self, kind: &str| list.kept(optimizer_name(kind, &name), shape.clone());
		let step = match rule {
			Rule::Sgd { momentum, nesterov } => {
				let factor = Factor::Nano(momentum);
				let (velocity, next) = kept(self, VELOCITY);
				let kind = OpKind::MulAdd { x: velocity, y: g, factor, negate: false, len };
				self.push(next, kind);
				let mut direction = next;
				if nesterov {
					let kind = OpKind::MulAdd { x: next, y: g, factor, negate: false, len };
					direction = self.compute(format!("{name}.ahead"), shape.clone(), kind);
				}
				OpKind::MulAdd { x: direction, y: x, factor: learning_rate, negate: true, len }
			}
			Rule::Adam { beta1, beta2, epsilon, power1, power2 } => {
				let (average, m) = kept(self, FIRST_MOMENT);
				let (keep, take) = (beta1, beta1.one_minus());
				let kind = OpKind::Ema { average, x: g, keep, take, len };
				self.push(m, kind);
				let (average, v) = kept(self, SECOND_MOMENT);
				let (keep, take) = (beta2, beta2.one_minus());
				let kind = OpKind::EmaSquare { average, x: g, keep, take, len };
				self.push(v, kind);
				OpKind::AdamStep { x, m, v, power1, power2, learning_rate, epsilon, len }
			}
		};
		let next = self.declare(format!("{name}.next"), shape, Role::Next(at.parameter));
		self.push(next, step);
	}
}
