//! Runs programs that are not a step of a job: those of units of drilling.

use super::{
	environment,
	execute::{Bindings, CompiledProgram},
	in_pool, EngineError, Isa, State,
};
use candle_core::{DType, Device, Tensor};
use trainyard_program::{
	ops::{Program, Role},
	reference::StepContext,
};

/// A program that takes a state to the next one. Its features are `+0` everywhere, and there are no
/// labels. It always runs on the CPU.
pub struct ProgramRunner {
	plan: CompiledProgram,
	isa: Isa,
	features: Tensor,
	labels: Tensor,
}

impl ProgramRunner {
	/// Prepares `program` for this instruction set. Fails if this machine cannot compute strictly.
	pub fn new(program: Program, isa: Isa) -> Result<Self, EngineError> {
		environment::check().map_err(EngineError::Arithmetic)?;
		let zeros = |role: Role, dtype: DType| {
			let shape = program.find(role).and_then(|id| program.tensor(id)).map(|t| &t.shape);
			let shape: Vec<usize> = shape.into_iter().flatten().map(|d| *d as usize).collect();
			Tensor::zeros(shape, dtype, &Device::Cpu)
		};
		let features = zeros(Role::Features, DType::F32)?;
		let labels = zeros(Role::Labels, DType::U32)?;
		Ok(Self { plan: CompiledProgram::new(program), isa, features, labels })
	}

	/// Returns the state with which it begins if nothing is known: `+0` everywhere.
	pub fn zeros(&self) -> Result<State, EngineError> {
		let tensors = self.plan.program().state().map(|(_, t)| {
			let shape: Vec<usize> = t.shape.iter().map(|d| *d as usize).collect();
			Ok((t.name.clone(), Tensor::zeros(shape, DType::F32, &Device::Cpu)?))
		});
		Ok(State::new(tensors.collect::<Result<_, EngineError>>()?))
	}

	/// Puts the next state in the place of `state`, which must have the tensors that the program
	/// names.
	pub fn advance(&self, state: &mut State, moment: StepContext) -> Result<(), EngineError> {
		let next = in_pool(|| -> Result<Vec<_>, EngineError> {
			let (features, labels) = (self.features.clone(), self.labels.clone());
			let given = Bindings { features, labels, moment, state };
			let values = self.plan.run(self.isa, given)?;
			let program = self.plan.program();
			let next = program.next_state().map(|(new, old)| {
				Ok((program.tensors[old as usize].name.clone(), values.tensor(new)?.clone()))
			});
			next.collect()
		})?;
		state.tensors.extend(next);
		Ok(())
	}
}
