//! Honest runs keep the bounds, however their gradients are; what was made up does not.

mod crafted;
mod honest;
mod idle;
mod steps;

use crate::{
	init, lower,
	ops::{Phase, Program, Role, TensorId},
	reference::{operator, ExecError, State, StepContext},
	spec::{CheckedSpec, JobSpec, Model, Optimizer, Training},
	H256,
};

/// xorshift64.
struct Random(u64);

impl Random {
	fn word(&mut self) -> u64 {
		self.0 ^= self.0 << 13;
		self.0 ^= self.0 >> 7;
		self.0 ^= self.0 << 17;
		self.0
	}

	/// In 0 to 1.
	fn unit(&mut self) -> f64 {
		(self.word() >> 11) as f64 / (1u64 << 53) as f64
	}

	fn below(&mut self, n: u64) -> u64 {
		self.word() % n
	}

	/// A number of any magnitude between 2^-149 and 2^high, of either sign.
	fn wild(&mut self, high: f64) -> f32 {
		let size = (-149.0 + self.unit() * (high + 149.0)).exp2() as f32;
		if self.word() & 1 == 0 {
			size
		} else {
			-size
		}
	}

	/// A decay x 10^9 whose distance from one is of any magnitude.
	fn decay_nano(&mut self) -> u64 {
		match self.below(8) {
			0 => 0,
			1 => 900_000_000,
			2 => 999_000_000,
			_ => 1_000_000_000 - (30.0 * 33_333_333f64.powf(self.unit())) as u64,
		}
	}
}

fn adamw(beta1_nano: u64, beta2_nano: u64, epsilon_nano: u64) -> Optimizer {
	Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano }
}

/// A network of 3-4-2 with clipping at 1.
fn small(change: impl FnOnce(&mut Training)) -> CheckedSpec {
	let mut spec = JobSpec::example();
	(spec.dataset.features, spec.dataset.classes) = (3, 2);
	spec.model = Model::Mlp {
		hidden: vec![4].try_into().unwrap(),
		activation: crate::spec::Activation::Relu,
	};
	spec.training.clip_norm_nano = 1_000_000_000;
	change(&mut spec.training);
	spec.check().unwrap()
}

fn initial(spec: &CheckedSpec) -> State {
	let of = |tensor: lower::StateTensor| {
		let values = init::initial(&H256::repeat_byte(3), &tensor);
		(tensor.name, values)
	};
	lower::state(spec).into_iter().map(of).collect()
}

/// The update of a training step, on gradients that are given.
struct Update {
	program: Program,
	/// The gradients before clipping, with their numbers of elements.
	gradients: Vec<(TensorId, usize)>,
}

impl Update {
	fn of(spec: &CheckedSpec) -> Self {
		let program = lower::training_step(spec);
		let mut gradients = Vec::new();
		let update: Vec<_> = program.ops.iter().filter(|op| op.phase == Phase::Update).collect();
		for id in update.iter().flat_map(|op| op.kind.inputs()) {
			let tensor = program.tensor(id).unwrap();
			let given = tensor.role != Role::State && !update.iter().any(|op| op.out == id);
			if given && !gradients.iter().any(|(known, _)| *known == id) {
				gradients.push((id, tensor.len() as usize));
			}
		}
		Self { program, gradients }
	}

	/// How many elements all gradients have.
	fn len(&self) -> usize {
		self.gradients.iter().map(|(_, len)| len).sum()
	}

	/// Takes step number `step` with these gradients, one after another.
	fn step(&self, state: &mut State, step: u32, gradient: &[f32]) {
		let program = &self.program;
		let mut values: Vec<Vec<f32>> = vec![vec![]; program.tensors.len()];
		for (tensor, value) in program.tensors.iter().zip(&mut values) {
			if tensor.role == Role::State {
				value.clone_from(&state[&tensor.name]);
			}
		}
		let mut rest = gradient;
		for (id, len) in &self.gradients {
			let (own, others) = rest.split_at(*len);
			values[*id as usize] = own.to_vec();
			rest = others;
		}
		let moment = StepContext { seed: H256::zero(), step };
		for op in program.ops.iter().filter(|op| op.phase == Phase::Update) {
			let read = |id: TensorId| Ok::<_, ExecError>(values[id as usize].as_slice());
			values[op.out as usize] = operator(&op.kind, &[], moment, read).unwrap();
		}
		for (new, old) in program.next_state() {
			let name = program.tensor(old).unwrap().name.clone();
			state.insert(name, values[new as usize].clone());
		}
	}
}
