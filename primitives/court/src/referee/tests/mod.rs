//! The referee over real computations.

mod costs;
mod ends;
mod files;
mod malformed;
mod operators;
mod sizes;

use super::*;
use crate::{
	case::{Refused, Value, Verdict},
	testing::{self, Computed, World},
};
use codec::Encode;
use proving::Holder;
use trainyard_protocol::{court, H256};

/// What is agreed before a result of a computation.
fn agreed(lowered: &Lowered<'_>, made: &Computed, result: u32) -> Agreed {
	let state = lowered.state().hash(made.state()).unwrap();
	Agreed { state, results: results_root(&made.results()[..result as usize]) }
}

/// Returns the pieces of an element as it was computed, from the begin of its chain to the element.
fn pieces(lowered: &Lowered<'_>, made: &Computed, result: u32, element: u64) -> Vec<Stretch> {
	let to = To::Element { bits: made.bits(result, element) };
	let (all, length) = (lowered.terms(result, element).unwrap(), lowered.stretch(result).unwrap());
	if all <= length {
		return vec![Stretch { result, element, from: None, to }];
	}
	let (mut pieces, mut from) = (Vec::new(), None);
	for taken in (length..all).step_by(length as usize).chain([all]) {
		let held = proving::accumulator(lowered, made, result, element, taken).unwrap();
		let digest = court::chain(taken, &held);
		pieces.push(Stretch { result, element, from, to: To::Chain { taken, digest } });
		from = Some((taken, digest));
	}
	pieces.push(Stretch { result, element, from, to });
	pieces
}

/// Opens a piece, and decides about it from what was encoded and decoded again.
fn decide(lowered: &Lowered<'_>, made: &Computed, piece: &Stretch) -> Result<Verdict, Refused> {
	let opening = proving::open_stretch(lowered, made, piece)?;
	let bytes = Openings::Stretch(opening.clone()).encode();
	let cost = Cost::of(lowered, piece).unwrap();
	assert!(bytes.len() as u64 <= cost.bytes, "{} {cost:?}", bytes.len());
	assert!(cost.bytes <= MAX_OPENINGS as u64, "{cost:?}");
	let Openings::Stretch(opening) = Openings::from_bytes(&bytes)? else { panic!("{bytes:?}") };
	stretch(lowered, &agreed(lowered, made, piece.result), piece, &opening)
}

/// Calls `f` with every computation of a small job: a step in the middle, and the last slice.
fn for_each_computation(mut f: impl FnMut(&World, &Lowered<'_>, &Computed)) {
	for spec in testing::specs() {
		let world = World::new(spec);
		let slice = world.case.spec.slices() - 1;
		for computation in [Computation::Step { step: 13 }, Computation::Slice { slice }] {
			let lowered = Lowered::new(&world.case, computation).unwrap();
			let made = Computed::new(&lowered, &world, &world.initial(), None);
			f(&world, &lowered, &made);
		}
	}
}
