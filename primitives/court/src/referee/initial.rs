//! The state in which a training begins.

use super::{
	lowered::Words,
	openings::{of_state, Proved},
	Origin, Source, StateTensors, Tensors,
};
use crate::case::{Case, Refused, Value, Verdict};
use trainyard_program::{init, lower::OPTIMIZER_PREFIX, spec::InitialModel};
use trainyard_strict::canonical_bits;

/// Decides about an element of a tensor of [`StateTensors`] in the initial state, of which the
/// defendant said that it has these bits.
///
/// It is drawn, or it follows from the specification, and then nothing is opened. A parameter with
/// which a fine-tuning begins is opened under
/// [`InitialModel::parameters`]. Fails with [`Refused::NoSuchPiece`] where the states of the case have
/// no such element.
pub fn initial(
	case: &Case,
	tensor: u32,
	element: u64,
	bits: u32,
	opening: &Tensors,
) -> Result<Verdict, Refused> {
	let tensors = StateTensors::of(&case.spec);
	let begun = tensors.get(tensor).ok_or(Refused::NoSuchPiece)?;
	tensors.elements(tensor).filter(|all| element < *all).ok_or(Refused::NoSuchPiece)?;
	let is_kept = begun.name.starts_with(OPTIMIZER_PREFIX);
	let found = match &case.spec.initial_model {
		Some(InitialModel { parameters, .. }) if !is_kept => {
			if opening.rows.is_some() {
				return Err(Refused::LeftOver);
			}
			let model = StateTensors::parameters(&case.spec);
			let proved = Proved::new(&opening.tensors, |source| match source {
				Source::Initial { tensor, content, path } => {
					of_state(&model, parameters, *tensor, content, path)
				}
				_ => Err(Refused::LeftOver),
			})?;
			let word = proved.word(Origin::Initial(tensor), element);
			word.ok_or(Refused::Missing { tensor, index: element })?
		}
		_ => {
			if *opening != Tensors::default() {
				return Err(Refused::LeftOver);
			}
			canonical_bits(init::element(&case.seed, begun, element))
		}
	};
	Ok(Verdict::of(Value::Bits(found), Value::Bits(bits)))
}
