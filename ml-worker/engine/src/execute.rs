//! Executes programs on candle tensors.

use super::{
	fused::Group,
	host::has_nan,
	kernels::Isa,
	ops,
	recorded::{Made, Recording},
	state::{elements, State},
	EngineError,
};
use candle_core::Tensor;
use trainyard_program::{
	lower::OPTIMIZER_PREFIX,
	ops::{Op, OpKind, Program, Role, TensorDecl, TensorId},
	reference::StepContext,
};

/// The inputs of a program.
pub struct Bindings<'a> {
	/// `[rows, features]`, binary32.
	pub features: Tensor,
	/// `[labels]`, u32, every one below the classes.
	pub labels: Tensor,
	/// Seed and step.
	pub moment: StepContext,
	/// The state, checked against the specification.
	pub state: &'a State,
}

/// Called after each operator with the operator, and the name and value of its result.
pub type Watcher<'a> = dyn FnMut(&Op, &str, &Tensor) -> Result<(), EngineError> + Send + 'a;

/// A program, prepared for execution in stages.
pub struct CompiledProgram {
	program: Program,
	stages: Vec<Stage>,
	/// For each operator, the local tensors whose last reader it is; they are freed after it.
	dead: Vec<Vec<TensorId>>,
	/// The sum of the squares of all gradients, which clipping computes.
	gradient_squares: Option<TensorId>,
}

/// A part of the program that is executed at once.
struct Stage {
	work: Work,
	/// The local tensors whose last reader is in this stage; they are freed after it.
	dead: Vec<TensorId>,
}

enum Work {
	/// An operator, by its number, and the shape of its result.
	One(usize, Vec<usize>),
	/// Operators of the update.
	Group(Group),
}

/// The tensors that are left after a program has run: its inputs and all results.
pub struct Values<'a> {
	program: &'a Program,
	values: Vec<Option<Tensor>>,
}

impl CompiledProgram {
	/// Prepares `program`.
	pub fn new(program: Program) -> Self {
		Self::keeping(program, &[])
	}

	/// Prepares `program`. These tensors are left after it has run, whoever reads them before.
	pub fn keeping(program: Program, kept: &[TensorId]) -> Self {
		let mut last = vec![None; program.tensors.len()];
		for (at, op) in program.ops.iter().enumerate() {
			for id in op.kind.inputs() {
				last[id as usize] = Some(at);
			}
		}
		let gradient_squares = program.ops.iter().find_map(|op| match op.kind {
			OpKind::ClipFactor { squares, .. } => Some(squares),
			_ => None,
		});
		let mut dead = vec![Vec::new(); program.ops.len()];
		// That sum is read after the program has run.
		let freed = |id: &TensorId| Some(*id) != gradient_squares && !kept.contains(id);
		for (id, last) in (0..).zip(last).filter(|(id, _)| freed(id)) {
			if let (Some(at), Role::Local) = (last, program.tensors[id as usize].role) {
				dead[at].push(id);
			}
		}
		let (mut stages, mut at) = (Vec::new(), 0);
		while at < program.ops.len() {
			let work = match Group::at(&program, at) {
				Some(group) => Work::Group(group),
				None => {
					let shape = program.tensor(program.ops[at].out).map(|out| &out.shape);
					let shape = shape.into_iter().flatten().map(|extent| *extent as usize);
					Work::One(at, shape.collect())
				}
			};
			let end = match &work {
				Work::Group(group) => group.ops().end,
				Work::One(at, _) => at + 1,
			};
			stages.push(Stage { work, dead: dead[at..end].concat() });
			at = end;
		}
		Self { program, stages, dead, gradient_squares }
	}

	/// Returns the program.
	pub fn program(&self) -> &Program {
		&self.program
	}

	/// Returns the tensor that holds the sum of the squares of all gradients after the program has
	/// run. Only a step that clips them has one.
	pub fn gradient_squares(&self) -> Option<TensorId> {
		self.gradient_squares
	}

	/// For each operator, the local tensors whose last reader it is; they are freed after it.
	pub fn dead(&self) -> &[Vec<TensorId>] {
		&self.dead
	}

	/// Executes the program.
	pub fn run(&self, isa: Isa, given: Bindings<'_>) -> Result<Values<'_>, EngineError> {
		let mut all = self.begin(&given);
		for Stage { work, dead } in &self.stages {
			match work {
				Work::One(at, shape) => {
					let op = &self.program.ops[*at];
					let read = |id| all.tensor(id);
					let out = ops::apply(isa, &op.kind, given.moment, shape, read)?;
					all.values[op.out as usize] = Some(out);
				}
				Work::Group(group) => {
					for (id, out) in group.run(isa, &self.program, &all)? {
						all.values[id as usize] = Some(out);
					}
				}
			}
			for id in dead {
				all.values[*id as usize] = None;
			}
		}
		Ok(all)
	}

	/// Executes the program operator by operator and calls `see` after each. This is slower and
	/// gives the same bits.
	pub fn run_watched(
		&self,
		isa: Isa,
		given: Bindings<'_>,
		see: &mut Watcher<'_>,
	) -> Result<Values<'_>, EngineError> {
		let mut all = self.begin(&given);
		for op in &self.program.ops {
			let out = self.program.tensor(op.out);
			let (name, shape) = out.map_or(("", [].as_slice()), |out| (&out.name, &out.shape));
			let shape: Vec<usize> = shape.iter().map(|extent| *extent as usize).collect();
			let value = ops::apply(isa, &op.kind, given.moment, &shape, |id| all.tensor(id))?;
			see(op, name, &value)?;
			all.values[op.out as usize] = Some(value);
		}
		Ok(all)
	}

	/// Executes the program operator by operator and calls `see` after each, as long as it wants to go
	/// on. What nobody reads any more is freed after that. The bits are those of [`Self::run`].
	pub fn run_recorded(
		&self,
		isa: Isa,
		given: Bindings<'_>,
		see: &mut Recording<'_>,
	) -> Result<(), EngineError> {
		let mut all = self.begin(&given);
		for ((at, op), dead) in (0u32..).zip(&self.program.ops).zip(&self.dead) {
			let shape = self.program.tensor(op.out).map(|out| &out.shape);
			let shape: Vec<usize> =
				shape.into_iter().flatten().map(|extent| *extent as usize).collect();
			let value = ops::apply(isa, &op.kind, given.moment, &shape, |id| all.tensor(id))?;
			all.values[op.out as usize] = Some(value);
			if see(&Made::new(at, &all))?.is_break() {
				break;
			}
			for id in dead {
				all.values[*id as usize] = None;
			}
		}
		Ok(())
	}

	/// Returns the next state that it made in `step`. Fails where it holds a NaN.
	pub fn next_state(
		&self,
		values: &Values<'_>,
		step: u32,
	) -> Result<Vec<(String, Tensor)>, EngineError> {
		let mut next = Vec::new();
		let mut diverged = false;
		for (new, old) in self.program.next_state() {
			let name = &self.program.tensors[old as usize].name;
			let tensor = values.tensor(new)?;
			// Where the optimizer's state is NaN, the parameter at that place is NaN as well,
			// because it is computed from it. So checking the parameters is enough.
			let kept = name.starts_with(OPTIMIZER_PREFIX);
			diverged |= !kept && has_nan(elements(tensor)?.slice());
			next.push((name.clone(), tensor.clone()));
		}
		for (name, tensor) in next.iter().filter(|_| diverged) {
			if has_nan(elements(tensor)?.slice()) {
				return Err(EngineError::NotANumber { step, tensor: name.clone() });
			}
		}
		Ok(next)
	}

	/// Returns the inputs, and nothing else yet.
	fn begin(&self, given: &Bindings<'_>) -> Values<'_> {
		let value = |tensor: &TensorDecl| match tensor.role {
			Role::Features => Some(given.features.clone()),
			Role::Labels => Some(given.labels.clone()),
			Role::State => given.state.tensors.get(&tensor.name).cloned(),
			_ => None,
		};
		let values = self.program.tensors.iter().map(value).collect();
		Values { program: &self.program, values }
	}
}

impl Values<'_> {
	/// Returns tensor `id`. Fails if it is a local tensor that was freed already, or a state tensor
	/// that was not given.
	pub fn tensor(&self, id: TensorId) -> Result<&Tensor, EngineError> {
		self.values.get(id as usize).and_then(Option::as_ref).ok_or_else(|| {
			let tensor = self.program.tensor(id).map_or("?".into(), |t| t.name.clone());
			EngineError::State { tensor, what: "it is missing".into() }
		})
	}

	/// Returns the only element of tensor `id`, which has the shape `[1]`.
	pub fn number(&self, id: TensorId) -> Result<f32, EngineError> {
		Ok(elements(self.tensor(id)?)?.slice().first().copied().unwrap_or_default())
	}

	/// Returns the first tensor with this role.
	pub fn role(&self, role: Role) -> Result<&Tensor, EngineError> {
		self.tensor(self.program.find(role).unwrap_or(TensorId::MAX))
	}
}
