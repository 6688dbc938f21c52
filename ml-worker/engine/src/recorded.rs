//! Records computations: lets somebody see all that a step, or a slice of an evaluation, makes on its
//! way. A dispute about a training asks for it.

use super::{
	execute::{Bindings, Values},
	in_pool,
	state::{elements, Elements},
	Engine, EngineError, State,
};
use std::ops::ControlFlow;
use trainyard_program::{
	ops::{Role, TensorId},
	reference::StepContext,
};

/// What an operator made, beside all that it read.
pub struct Made<'a> {
	op: u32,
	values: &'a Values<'a>,
}

impl<'a> Made<'a> {
	pub(super) fn new(op: u32, values: &'a Values<'a>) -> Self {
		Self { op, values }
	}

	/// Returns the index of the operator in its program.
	pub fn op(&self) -> u32 {
		self.op
	}

	/// Returns the elements of a tensor of numbers: of what the operator made, of what it read, and of
	/// all inputs and results of the program so far. Others may be gone, which is an error.
	pub fn elements(&self, tensor: TensorId) -> Result<Elements<'_>, EngineError> {
		elements(self.values.tensor(tensor)?)
	}

	/// Returns the labels of the batch.
	pub fn labels(&self) -> Result<Vec<u32>, EngineError> {
		Ok(self.values.role(Role::Labels)?.to_vec1()?)
	}
}

/// Called after each operator of a program, in their order. It says whether the computation goes on.
pub type Recording<'a> = dyn FnMut(&Made<'_>) -> Result<ControlFlow<()>, EngineError> + Send + 'a;

/// What a slice of an evaluation comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SliceValues {
	/// The losses of its labels, infinite or NaN as they may be.
	pub losses: Vec<f32>,
	/// Which of them are predicted: 0 or 1.
	pub correct: Vec<f32>,
}

impl Engine {
	/// Computes step `step` from `state`, which stays as it is, operator by operator and without
	/// fusing any, and lets `see` look at each. It runs on the processor, whatever the device; the
	/// bits are those of [`Self::step`]. Values that are infinite or NaN are no error.
	pub fn record_step(
		&self,
		state: &State,
		step: u32,
		see: &mut Recording<'_>,
	) -> Result<(), EngineError> {
		let steps = self.spec.training.steps;
		if step >= steps {
			return Err(EngineError::NoSuchStep { step, steps });
		}
		let state = state.on_host()?;
		state.check(&self.state)?;
		in_pool(|| {
			let (features, labels) = self.batch(step)?;
			let moment = StepContext { seed: self.seed, step };
			let given = Bindings { features, labels, state: &state, moment };
			self.step.run_recorded(self.isa, given, see)
		})
	}

	/// Does the same with slice `slice` of the evaluation of `state`.
	pub fn record_slice(
		&self,
		state: &State,
		slice: u32,
		see: &mut Recording<'_>,
	) -> Result<(), EngineError> {
		let slices = self.evaluation.len() as u32;
		let Some((rows, plan)) = self.evaluation.get(slice as usize) else {
			return Err(EngineError::NoSuchSlice { slice, slices });
		};
		let state = state.on_host()?;
		state.check(&self.state)?;
		in_pool(|| {
			let given = self.slice_bindings(&state, rows.clone())?;
			plan.run_recorded(self.isa, given, see)
		})
	}

	/// Evaluates a state as [`Self::evaluate_slices`] does, and returns the numbers of each slice.
	/// Values that are infinite or NaN are no error.
	pub fn evaluate_values(&self, state: &State) -> Result<Vec<SliceValues>, EngineError> {
		let mut slices = Vec::new();
		let mut take = |losses: &[f32], correct: &[f32]| {
			slices.push(SliceValues { losses: losses.to_vec(), correct: correct.to_vec() });
		};
		if let Some(device) = self.device() {
			let computed = self.slices_on(device, state, &mut take);
			if self.unless_unsupported(computed)?.is_some() {
				return Ok(slices);
			}
			slices.clear();
		}
		let state = state.on_host()?;
		state.check(&self.state)?;
		in_pool(|| {
			let take = |losses: &[f32], correct: &[f32]| {
				slices.push(SliceValues { losses: losses.to_vec(), correct: correct.to_vec() });
			};
			self.each_slice(&state, None, take)
		})?;
		Ok(slices)
	}
}
