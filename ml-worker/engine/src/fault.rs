//! Finds where a value became infinite or NaN. It runs a step or an evaluation again and checks
//! every tensor that it makes. This is slower than [`Engine::step`], so it is used only after a
//! failure.

use super::{Engine, EngineError, State};
use candle_core::{DType, Tensor};
use std::fmt;
use trainyard_program::{
	lower,
	ops::{Op, Phase},
};

/// The first value that is not a finite number.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
	/// The value: infinite or not a number.
	pub value: f32,
	/// Number of its element in the tensor, row major.
	pub element: usize,
	/// Name of the tensor in the program.
	pub tensor: String,
	/// The operator that made the tensor; none if the given state held the value already.
	pub made_by: Option<MadeBy>,
}

/// An operator of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeBy {
	/// Name of the operator, as in docs/strict-arithmetic.md.
	pub operator: String,
	/// The part of the step.
	pub phase: Phase,
	/// Number of the layer to which it belongs, if it belongs to one.
	pub layer: Option<u32>,
}

impl fmt::Display for Fault {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		write!(f, "{} at element {} of {}", self.value, self.element, self.tensor)?;
		match &self.made_by {
			Some(made_by) => write!(f, ", made by {made_by}"),
			None => write!(f, ", which was there before"),
		}
	}
}

impl fmt::Display for MadeBy {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		let phase = match self.phase {
			Phase::Forward => "forward pass",
			Phase::Loss => "loss",
			Phase::Backward => "backward pass",
			Phase::Update => "update",
		};
		match self.layer {
			Some(layer) => {
				let layer = lower::layer_prefix(layer);
				write!(f, "{} of {} ({phase})", self.operator, layer.trim_end_matches('.'))
			}
			None => write!(f, "{} ({phase})", self.operator),
		}
	}
}

impl Engine {
	/// Takes a step as [`Self::step`] does and checks every tensor. Returns the first value that is
	/// not finite. If there is none, the step is taken; otherwise the effect on `state` is that of
	/// [`Self::step`].
	pub fn checked_step(&self, state: &mut State, step: u32) -> Result<Option<Fault>, EngineError> {
		if let Some(fault) = given(state)? {
			return Ok(Some(fault));
		}
		let mut first = None;
		let mut see =
			|op: &Op, name: &str, tensor: &Tensor| note(&mut first, Some(op), name, tensor);
		let taken = self.step_watched(state, step, Some(&mut see));
		match first {
			Some(fault) => Ok(Some(fault)),
			None => taken.map(|_| None),
		}
	}

	/// Evaluates as [`Self::evaluate`] does and checks every tensor. Returns the first value that
	/// is not finite.
	pub fn checked_evaluation(&self, state: &State) -> Result<Option<Fault>, EngineError> {
		if let Some(fault) = given(state)? {
			return Ok(Some(fault));
		}
		let mut first = None;
		let mut see =
			|op: &Op, name: &str, tensor: &Tensor| note(&mut first, Some(op), name, tensor);
		let done = self.evaluate_watched(state, Some(&mut see));
		match first {
			Some(fault) => Ok(Some(fault)),
			// A mean over all rows can overflow where no slice of them does.
			None => match done {
				Ok(_) | Err(EngineError::LossNotANumber) => Ok(None),
				Err(e) => Err(e),
			},
		}
	}
}

/// Returns the first value of a state that is not finite.
fn given(state: &State) -> Result<Option<Fault>, EngineError> {
	let mut first = None;
	for (name, tensor) in &state.tensors {
		note(&mut first, None, name, tensor)?;
	}
	Ok(first)
}

/// Notes the first value of `tensor` that is not finite, unless one was noted before.
fn note(
	first: &mut Option<Fault>,
	op: Option<&Op>,
	name: &str,
	tensor: &Tensor,
) -> Result<(), EngineError> {
	if first.is_some() || tensor.dtype() != DType::F32 {
		return Ok(());
	}
	let values = tensor.flatten_all()?.to_vec1::<f32>()?;
	let Some(element) = values.iter().position(|value| !value.is_finite()) else { return Ok(()) };
	let made_by = op.map(|op| MadeBy { operator: name_of(op), phase: op.phase, layer: op.layer });
	*first = Some(Fault { value: values[element], element, tensor: name.to_owned(), made_by });
	Ok(())
}

/// Returns the operator's name, which is that of its variant.
fn name_of(op: &Op) -> String {
	let text = format!("{:?}", op.kind);
	text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{
		tests::{checked, seed, small_spec, ADAM},
		Data, Table,
	};
	use candle_core::Device;
	use std::sync::Arc;

	/// Four features of each row are 0 to 7, and 8 more where the class says so.
	fn rows(count: u32) -> Table {
		let mut table = Table { features: 4, ..Table::default() };
		let mut noise = 12_345u32;
		for i in 0..count {
			for feature in 0..4 {
				noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
				let centre = if feature == i % 3 { 8 } else { 0 };
				table.x.push((centre + (noise >> 29)) as f32);
			}
			table.y.push(i % 3);
		}
		table
	}

	fn engine() -> (Engine, State) {
		let (mut spec, _) = small_spec(vec![8], ADAM);
		let data = Data { train: rows(45), validation: rows(15) };
		spec.dataset.features = 4;
		(spec.dataset.train_rows, spec.dataset.validation_rows) = (45, 15);
		spec.dataset.validation_every = 4;
		(spec.training.batch_size, spec.training.weight_decay_nano) = (8, 0);
		let state = Engine::initial_state(&checked(&spec), &seed(), None).unwrap();
		(Engine::new(&checked(&spec), seed(), Arc::new(data)).unwrap(), state)
	}

	/// Returns the state with every element of a tensor set to `value`.
	fn with(state: &State, name: &str, value: f32) -> State {
		let mut state = state.clone();
		let tensor = Tensor::full(value, state.tensors[name].dims(), &Device::Cpu).unwrap();
		state.tensors.insert(name.to_owned(), tensor);
		state
	}

	#[test]
	fn where_nothing_is_wrong_the_step_is_taken() {
		let (engine, state) = engine();
		let (mut plain, mut checked) = (state.clone(), state);
		for step in 0..3 {
			engine.step(&mut plain, step).unwrap();
			assert_eq!(engine.checked_step(&mut checked, step).unwrap(), None);
		}
		assert_eq!(plain.hash().unwrap(), checked.hash().unwrap());
		assert_eq!(engine.checked_evaluation(&checked).unwrap(), None);
	}

	#[test]
	fn the_first_operator_that_overflows_is_named() {
		let (engine, state) = engine();
		let fault = |state: &State| engine.checked_step(&mut state.clone(), 0).unwrap().unwrap();
		// The inputs are at least zero, and in most rows their sum is above 1.
		let huge = with(&state, "layers.0.weight", f32::MAX);
		let found = fault(&huge);
		assert_eq!((found.tensor.as_str(), found.value), ("product.0", f32::INFINITY));
		let words = "of product.0, made by MatMul of layers.0 (forward pass)";
		assert!(found.to_string().ends_with(words), "{found}");
		let evaluated = engine.checked_evaluation(&huge).unwrap().unwrap();
		assert_eq!((evaluated.tensor, evaluated.made_by), (found.tensor, found.made_by));
		// Equal outputs, however large, are no fault.
		let flat = with(&with(&state, "layers.1.weight", 0.0), "layers.1.bias", f32::MAX);
		assert_eq!(engine.checked_step(&mut flat.clone(), 0).unwrap(), None);
		// A first moment that becomes infinite by its correction, a division by 0.1.
		let found = fault(&with(&state, "optimizer.m.layers.1.bias", f32::MAX));
		assert_eq!(
			found.to_string(),
			"-inf at element 0 of layers.1.bias.next, made by AdamStep of layers.1 (update)"
		);
	}

	#[test]
	fn given_values_are_distinguished_from_computed_ones() {
		let (engine, state) = engine();
		let bad = with(&state, "layers.0.bias", f32::NAN);
		let found = engine.checked_step(&mut bad.clone(), 0).unwrap().unwrap();
		assert_eq!((found.tensor.as_str(), &found.made_by), ("layers.0.bias", &None));
		assert!(found.value.is_nan());
		assert_eq!(found.to_string(), "NaN at element 0 of layers.0.bias, which was there before");
		let found = engine.checked_evaluation(&bad).unwrap().unwrap();
		assert_eq!(found.made_by, None);
	}
}
