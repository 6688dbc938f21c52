//! Executes operator lists on candle tensors.

use super::{kernels::Kernel, ops, EngineError, State};
use candle_core::Tensor;
use trainyard_primitives::{
	ops::{Program, Role, TensorDecl, TensorId},
	strict::exec::Moment,
};

/// What is given to a list.
pub struct Given<'a> {
	/// `[rows, features]`, binary32.
	pub features: Tensor,
	/// `[labels]`, u32, every one below the classes.
	pub labels: Tensor,
	/// Seed and step.
	pub moment: Moment,
	/// The state, checked against the specification.
	pub state: &'a State,
}

/// A list, and when each of its tensors is read last, so that it is freed behind that.
pub struct Plan {
	program: Program,
	/// For each operator, local tensors that nothing reads behind it.
	dead: Vec<Vec<TensorId>>,
}

/// The tensors that are left when a list has run: what was given, and all results.
pub struct Values<'a> {
	program: &'a Program,
	values: Vec<Option<Tensor>>,
}

impl Plan {
	/// Prepares `program`.
	pub fn new(program: Program) -> Self {
		let mut last = vec![None; program.tensors.len()];
		for (at, op) in program.ops.iter().enumerate() {
			for id in op.kind.inputs() {
				last[id as usize] = Some(at);
			}
		}
		let mut dead = vec![Vec::new(); program.ops.len()];
		for (id, last) in (0..).zip(last) {
			if let (Some(at), Role::Local) = (last, program.tensors[id as usize].role) {
				dead[at].push(id);
			}
		}
		Self { program, dead }
	}

	/// The list.
	pub fn program(&self) -> &Program {
		&self.program
	}

	/// For each operator, local tensors that nothing reads behind it.
	pub fn dead(&self) -> &[Vec<TensorId>] {
		&self.dead
	}

	/// Executes the list.
	pub fn run(&self, kernel: Kernel, given: Given<'_>) -> Result<Values<'_>, EngineError> {
		let value = |tensor: &TensorDecl| match tensor.role {
			Role::Features => Some(given.features.clone()),
			Role::Labels => Some(given.labels.clone()),
			Role::State => given.state.tensors.get(&tensor.name).cloned(),
			_ => None,
		};
		let values = self.program.tensors.iter().map(value).collect();
		let mut all = Values { program: &self.program, values };
		for (op, dead) in self.program.ops.iter().zip(&self.dead) {
			let shape: Vec<usize> = self
				.program
				.tensor(op.out)
				.map_or(vec![], |out| out.shape.iter().map(|extent| *extent as usize).collect());
			let read = |id| all.tensor(id);
			let out = ops::apply(kernel, &op.kind, given.moment, &shape, read)?;
			all.values[op.out as usize] = Some(out);
			for id in dead {
				all.values[*id as usize] = None;
			}
		}
		Ok(all)
	}
}

impl Values<'_> {
	/// Tensor `id`. Fails on a local that is gone already, or a state that was not given.
	pub fn tensor(&self, id: TensorId) -> Result<&Tensor, EngineError> {
		self.values.get(id as usize).and_then(Option::as_ref).ok_or_else(|| {
			let tensor = self.program.tensor(id).map_or("?".into(), |t| t.name.clone());
			EngineError::State { tensor, what: "it is missing".into() }
		})
	}

	/// The first tensor with this role.
	pub fn role(&self, role: Role) -> Result<&Tensor, EngineError> {
		self.tensor(self.program.find(role).unwrap_or(TensorId::MAX))
	}
}
