//! Numbers past which no training goes on.

use super::{
	lowered::Words,
	openings::{of_state, Proved},
	stretch::{proved, Agreed},
	Lowered, Origin, Source, StateTensors, Tensors,
};
use crate::case::{Case, Refused};
use trainyard_program::ops::Role;
use trainyard_protocol::H256;

/// Returns whether training ends in the step whose result of this role has the element `x`: where the
/// loss is infinite or NaN, or a number of the next state NaN. (An infinite one ends it at the end of
/// the segment.)
pub fn ends_training(role: Role, x: f32) -> bool {
	match role {
		Role::Loss => !x.is_finite(),
		Role::Next(_) => x.is_nan(),
		_ => false,
	}
}

/// Returns whether an element of a result of a step is one in which [training
/// ends](ends_training). All results are agreed, `results` being the prefix root over them. Fails with
/// [`Refused::NoSuchPiece`] where the result is neither loss nor next state.
pub fn not_finite(
	lowered: &Lowered<'_>,
	results: &H256,
	result: u32,
	element: u64,
	opening: &Tensors,
) -> Result<bool, Refused> {
	let role = lowered.role(result)?;
	let out = lowered.part(result)?.out;
	lowered.part_with(result, element)?;
	if !matches!(role, Role::Loss | Role::Next(_)) {
		return Err(Refused::NoSuchPiece);
	}
	let agreed = Agreed { state: H256::zero(), results: *results };
	// As if it were read after all results.
	let proved = proved(lowered, &agreed, lowered.results(), opening)?;
	let missing = Refused::Missing { tensor: out, index: element };
	let word = proved.word(Origin::Result(result), element).ok_or(missing)?;
	Ok(ends_training(role, f32::from_bits(word)))
}

/// Returns whether an element of a tensor of [`StateTensors`] is infinite or NaN in the state with this
/// hash: a training does not go on past the end of a segment in such a state. Fails with
/// [`Refused::NoSuchPiece`] where the states of the case have no such element.
pub fn not_finite_in_state(
	case: &Case,
	state: &H256,
	tensor: u32,
	element: u64,
	opening: &Tensors,
) -> Result<bool, Refused> {
	let tensors = StateTensors::of(&case.spec);
	tensors.elements(tensor).filter(|all| element < *all).ok_or(Refused::NoSuchPiece)?;
	if opening.rows.is_some() {
		return Err(Refused::LeftOver);
	}
	let proved = Proved::new(&opening.tensors, |source| match source {
		Source::State { tensor, content, path } => {
			of_state(&tensors, state, *tensor, content, path)
		}
		_ => Err(Refused::LeftOver),
	})?;
	let word = proved.word(Origin::State(tensor), element);
	let word = word.ok_or(Refused::Missing { tensor, index: element })?;
	Ok(!f32::from_bits(word).is_finite())
}
