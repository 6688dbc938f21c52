//! The engine with its state on a device.

use super::{Accelerator, Inputs};
use crate::{
	device::{DeviceMemory, DeviceState},
	execute::CompiledProgram,
	host, Engine, EngineError, Evaluated, Slices, State, StepTrace,
};
use candle_core::Tensor;
use std::{collections::BTreeMap, ops::Range, sync::Arc};
use trainyard_program::{
	ops::{Role, TensorId},
	reference::StepContext,
};

impl Engine {
	/// Does what [`Engine::step`] does, on a device. The state stays there. Returns also the logits.
	pub(crate) fn step_on(
		&self,
		device: &Arc<dyn Accelerator>,
		state: &mut State,
		step: u32,
	) -> Result<(StepTrace, Vec<f32>), EngineError> {
		let resident = self.resident(device, state)?;
		let (features, labels) = self.batch_values(step)?;
		let moment = StepContext { seed: self.seed, step };
		let inputs =
			Inputs { features: &features, labels: &labels, state: &resident.tensors, moment };
		let mut wanted = roles(&self.step, [Role::Loss, Role::Logits]).to_vec();
		wanted.extend(self.step.gradient_squares());
		let out = device.run(&self.step, inputs, &wanted)?;
		if let Some((tensor, ..)) = out.next.iter().find(|(.., nan)| *nan) {
			return Err(EngineError::NotANumber { step, tensor: tensor.clone() });
		}
		let mut results = out.values.into_iter();
		let mut result = || results.next().unwrap_or_default();
		let (loss, logits) = (result().first().copied().unwrap_or_default(), result());
		let gradient_norm = result().first().map(|squares| squares.sqrt());
		if loss.is_nan() {
			return Err(EngineError::NotANumber { step, tensor: "loss".into() });
		}
		let mut tensors = resident.tensors;
		tensors.extend(out.next.into_iter().map(|(name, buffer, _)| (name, buffer)));
		state.hold(DeviceState { tensors, ..resident });
		Ok((StepTrace { loss, logits: host::hash_of(&logits), gradient_norm }, logits))
	}

	/// Does what [`Engine::evaluate_slices`] does, on a device. Returns also the loss of each
	/// validation label, in their order.
	pub(crate) fn evaluate_on(
		&self,
		device: &Arc<dyn Accelerator>,
		state: &State,
	) -> Result<(Evaluated, Vec<f32>), EngineError> {
		let mut sums = Slices::new(self.data.validation.labels());
		self.slices_on(device, state, |losses, correct| sums.take(losses, correct))?;
		sums.finish(self.isa)
	}

	/// Evaluates a state on a device, and hands losses and correct labels of each slice to `take`.
	pub(crate) fn slices_on(
		&self,
		device: &Arc<dyn Accelerator>,
		state: &State,
		mut take: impl FnMut(&[f32], &[f32]),
	) -> Result<(), EngineError> {
		let resident = self.resident(device, state)?;
		for (rows, plan) in &self.evaluation {
			let (features, labels) = self.validation_values(rows.clone())?;
			let inputs = Inputs {
				features: &features,
				labels: &labels,
				state: &resident.tensors,
				// No operator of an evaluation depends on it.
				moment: StepContext::default(),
			};
			let wanted = roles(plan, [Role::RowLosses, Role::Correct]);
			let out = device.run(plan, inputs, &wanted)?;
			let mut results = out.values.into_iter();
			let mut result = || results.next().unwrap_or_default();
			take(&result(), &result());
		}
		Ok(())
	}

	/// Returns the features and labels of the batch of `step`.
	pub(super) fn batch_values(&self, step: u32) -> Result<(Vec<f32>, Vec<u32>), EngineError> {
		let (features, labels) = self.batch(step)?;
		Ok((values(&features)?, labels.to_vec1()?))
	}

	/// Returns the features and labels of these validation rows.
	pub(super) fn validation_values(
		&self,
		rows: Range<usize>,
	) -> Result<(Vec<f32>, Vec<u32>), EngineError> {
		let (features, labels) = self.rows(&self.data.validation, rows)?;
		Ok((values(&features)?, labels.to_vec1()?))
	}

	/// Returns the state on the device. It is copied there if it is not there yet.
	fn resident(
		&self,
		accelerator: &Arc<dyn Accelerator>,
		state: &State,
	) -> Result<DeviceState, EngineError> {
		let memory: Arc<dyn DeviceMemory> = accelerator.clone();
		match state.resident() {
			Some(resident) if resident.fits(&memory, &self.state) => Ok(resident.clone()),
			Some(resident) => {
				let state = State::from_host(resident.to_host()?)?;
				self.resident(accelerator, &state)
			}
			None => {
				state.check(&self.state)?;
				let (mut tensors, mut shapes) = (BTreeMap::new(), BTreeMap::new());
				for (name, tensor) in &state.tensors {
					tensors.insert(name.clone(), memory.upload(&values(tensor)?)?);
					shapes.insert(name.clone(), tensor.dims().to_vec());
				}
				Ok(DeviceState { memory, tensors, shapes })
			}
		}
	}
}

/// Returns the tensors with these roles.
fn roles(plan: &CompiledProgram, roles: [Role; 2]) -> [TensorId; 2] {
	roles.map(|role| plan.program().find(role).unwrap_or(TensorId::MAX))
}

/// Returns the elements, row major.
fn values(tensor: &Tensor) -> Result<Vec<f32>, EngineError> {
	Ok(tensor.flatten_all()?.to_vec1::<f32>()?)
}
