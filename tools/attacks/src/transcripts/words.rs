//! What the transcripts say beyond the words of the game: what is brought, and what a piece computes.

use super::operators;
use std::collections::BTreeMap;
use trainyard_court::{
	game::{words, Moment, Piece},
	referee::{Computation, Lowered, Openings, Source, StateTensors, To},
	Case,
};

pub use words::{claim, claimed, count, judgement, opening, place, shown, target};

/// What is opened for a decision.
pub fn openings(brought: &Openings, bytes: usize) -> String {
	let mut chunks = 0;
	let mut of = |tensors: &[trainyard_court::referee::TensorOpening]| {
		let mut sources = BTreeMap::<(&str, &str), usize>::new();
		for tensor in tensors {
			chunks += tensor.chunks.numbers.len();
			let name = match tensor.source {
				Source::Features => ("the inputs of the rows", ""),
				Source::Labels => ("the labels of the rows", ""),
				Source::State { .. } => ("tensor of the state", "tensors of the state"),
				Source::Result { .. } => ("result before it", "results before it"),
				Source::Initial { .. } => ("tensor of the model", "tensors of the model"),
			};
			*sources.entry(name).or_default() += 1;
		}
		let said = sources.into_iter().map(|((one, many), all)| match many.is_empty() {
			true => one.to_owned(),
			false => count(all, one, many),
		});
		said.collect::<Vec<_>>().join(", ")
	};
	let what = match brought {
		Openings::Stretch(stretch) => {
			let read = of(&stretch.tensors.tensors);
			let before = if stretch.before.is_some() { "what the chain held before" } else { "" };
			let all: Vec<&str> = [before, &read].into_iter().filter(|s| !s.is_empty()).collect();
			all.join(", ")
		}
		Openings::Tensors(tensors) => of(&tensors.tensors),
		Openings::Contents(all) => format!("the content hashes of all {} results", all.len()),
		Openings::Mean(mean) => {
			format!("losses and predictions of {}", count(mean.slices.len(), "slice", "slices"))
		}
		Openings::Stop(stop) => count(stop.checkpoints.len(), "checkpoint", "checkpoints"),
		Openings::Blob(_, of) => {
			chunks = of.numbers.len();
			"the stored file".into()
		}
	};
	let chunks = match chunks {
		0 => String::new(),
		chunks => format!(", {}", count(chunks, "chunk", "chunks")),
	};
	match what.is_empty() {
		true => format!("brings {bytes} bytes: nothing is read"),
		false => format!("brings {bytes} bytes: {what}{chunks}"),
	}
}

/// Names every kind of piece once.
macro_rules! kinds {
	($($kind:ident),*) => {
		/// Returns the kind of a piece.
		pub fn kind(piece: &Piece) -> &'static str {
			match piece {
				$(Piece::$kind { .. } => stringify!($kind),)*
			}
		}

		/// The kinds of pieces that there are.
		#[cfg(test)]
		pub const KINDS: &[&str] = &[$(stringify!($kind)),*];
	};
}

kinds!(
	Stretch,
	Initial,
	StepJoin,
	SliceJoin,
	Mean,
	Stop,
	Model,
	Stored,
	StoredHeader,
	NotFinite,
	NotFiniteState
);

/// What is left to be decided.
pub fn piece(piece: &Piece, case: &Case) -> String {
	let Piece::Stretch { at, stretch, .. } = piece else {
		let tensors = StateTensors::of(&case.spec);
		return words::piece(piece, |tensor| {
			let found = tensors.tensors().get(tensor as usize);
			found.map_or_else(|| tensor.to_string(), |found| format!("`{}`", found.name))
		});
	};
	let (all, operator) = lowered(case, at, |lowered| {
		let part = lowered.part(stretch.result).expect("it is one of them");
		let kind = &lowered.program().ops[part.op as usize].kind;
		(lowered.terms(stretch.result, stretch.element), operators::name_of(kind))
	});
	let all = all.unwrap_or_default();
	let begin = stretch.from.map_or(0, |(taken, _)| taken);
	let part = match stretch.to {
		To::Chain { taken, .. } => format!(", {} of {all}", words::range("term", begin, taken)),
		To::Element { .. } if begin > 0 => format!(", behind all {all} terms of its chain"),
		To::Element { .. } if all > 0 => format!(", all {all} terms of its chain"),
		To::Element { .. } => String::new(),
	};
	format!("{operator}: {}{part}", words::element(at, stretch.result, stretch.element))
}

/// Calls `read` with the computation of a moment.
pub fn lowered<R>(case: &Case, at: &Moment, read: impl FnOnce(&Lowered<'_>) -> R) -> R {
	let computation = at.computation().unwrap_or(Computation::Step { step: 0 });
	read(&Lowered::new(case, computation).expect("it was disputed"))
}
