//! Places, claims, pieces and what is brought, in words.

use super::operators;
use std::collections::BTreeMap;
use trainyard_court::{
	game::{
		After, Claim, Claimed, End, Judgement, Moment, Opened, Opening, Piece, Place, Target,
		Witness,
	},
	referee::{Computation, Lowered, MeanTo, Openings, Source, StateTensors, To},
	Case, Value, Verdict,
};
use trainyard_protocol::{bundle::Evaluation, H256};

/// `step 3`, or `steps 3 to 5`: of a range whose end is not in it.
fn range(one: &str, from: u64, to: u64) -> String {
	match to.saturating_sub(from) {
		0 | 1 => format!("{one} {from}"),
		_ => format!("{one}s {from} to {}", to - 1),
	}
}

/// The first bytes of a digest.
fn digest(hash: &H256) -> String {
	format!("{:02x}{:02x}{:02x}{:02x}...", hash.0[0], hash.0[1], hash.0[2], hash.0[3])
}

/// A number, by its bits.
fn number(bits: u32) -> String {
	format!("{} ({bits:08X})", f32::from_bits(bits))
}

fn evaluation(of: &Evaluation) -> String {
	format!("loss {}, {} of {} labels", of.loss(), of.correct, of.labels)
}

/// What is accused.
pub fn target(target: &Target) -> String {
	match target {
		Target::Start => "the start".into(),
		Target::Segment(segment) => format!("segment {segment}"),
		Target::Stop => "the number of segments".into(),
		Target::Model => "the model file".into(),
		Target::Rescue { state, .. } => format!("the file that is stored for state {state}"),
		Target::Evidence(segment) => format!("the evidence of segment {segment}"),
	}
}

/// What the challenger says of it.
pub fn claimed(claimed: &Claimed, target: &Target) -> &'static str {
	match (claimed, target) {
		(Claimed::End(End::Checkpoint { .. }), Target::Start) => "is another checkpoint",
		(Claimed::End(End::Checkpoint { .. }), _) => "ends in another checkpoint",
		(Claimed::End(End::Diverged(_)), _) => "is where training diverges",
		(Claimed::Other, _) => "is another one",
	}
}

/// So many things.
pub fn count(number: usize, one: &str, many: &str) -> String {
	match number {
		1 => format!("one {one}"),
		_ => format!("{number} {many}"),
	}
}

fn moment(at: &Moment) -> String {
	match at {
		Moment::Initial => "the initial state".into(),
		Moment::Stored { state } => format!("state {state}"),
		Moment::Model => "the model file".into(),
		Moment::Step { step, .. } => format!("step {step}"),
		Moment::Slice { checkpoint, slice } => format!("slice {slice} of evaluation {checkpoint}"),
	}
}

/// Where a dispute stands.
pub fn place(place: &Place) -> String {
	match place {
		Place::Ends { target: of } => target(of),
		Place::Steps { segment, from, to } => {
			format!("{} in segment {segment}", range("step", (*from).into(), (*to).into()))
		}
		Place::Slices { checkpoint, from, to } => {
			let slices = range("slice", (*from).into(), (*to).into());
			format!("{slices} of evaluation {checkpoint}")
		}
		Place::Results { at, from, to } => {
			let one = if matches!(at, Moment::Step { .. } | Moment::Slice { .. }) {
				"result"
			} else {
				"tensor"
			};
			format!("{} of {}", range(one, (*from).into(), (*to).into()), moment(at))
		}
		Place::Content { at, result, node } => {
			let chunks = range("chunk", node.begin, node.begin + node.chunks);
			format!("{chunks} of {}", content(at, *result))
		}
		Place::Chunk { at, result, chunk } => format!("chunk {chunk} of {}", content(at, *result)),
		Place::Chain { at, result, element, from, to } => {
			let terms = range("term", *from, *to);
			format!("{terms} of element {element} of {}", content(at, *result))
		}
		Place::Mean { checkpoint, from, to } => {
			let slices = range("slice", (*from).into(), (*to).into());
			format!("{slices} on the way to the mean of evaluation {checkpoint}")
		}
		Place::Stops { from, to } => {
			let checkpoints = range("checkpoint", (*from).into(), (*to).into());
			format!("{checkpoints} under the rule for an early stop")
		}
	}
}

fn content(at: &Moment, result: u32) -> String {
	match at {
		Moment::Model => "the model file".into(),
		Moment::Step { .. } | Moment::Slice { .. } => format!("result {result} of {}", moment(at)),
		Moment::Initial | Moment::Stored { .. } => format!("tensor {result} of {}", moment(at)),
	}
}

fn witness(of: &Witness) -> String {
	match of {
		Witness::Result { result, element } => format!("element {element} of result {result}"),
		Witness::State { tensor, element } => format!("element {element} of tensor {tensor}"),
		Witness::Evaluation { .. } => "the loss of the evaluation".into(),
	}
}

/// What is shown: a number that is not finite.
pub fn shown(of: &Witness) -> String {
	format!("agrees, and shows that {} is not finite", witness(of))
}

/// What is denied.
pub fn claim(claim: &Claim) -> String {
	match claim {
		Claim::Milestone { step, .. } => {
			format!("state and trace after {}", count(*step as usize, "step", "steps"))
		}
		Claim::NotFinite(of) => format!("that {} is not finite", witness(of)),
		Claim::Slices(_) => "the slices of the evaluation".into(),
		Claim::Evaluation(of) => format!("the evaluation: {}", evaluation(of)),
		Claim::SlicesSoFar { count, .. } | Claim::Results { count, .. } => match count {
			1 => "the first of them".into(),
			_ => format!("the first {count} of them"),
		},
		Claim::After(After::Next { loss, .. }) => {
			format!(
				"what follows from all results: the next state, logits, a loss of {}",
				number(*loss)
			)
		}
		Claim::After(After::Diverged { result, element }) => {
			format!("that element {element} of result {result} is not finite")
		}
		Claim::Slice { .. } => "what follows from all results: losses and predicted labels".into(),
		Claim::Header { chunk } => format!("chunk {chunk} of the header"),
		Claim::Node { node, .. } => range("chunk", node.begin, node.begin + node.chunks),
		Claim::Word { element, bits } => format!("that element {element} is {}", number(*bits)),
		Claim::Chain { taken, .. } => format!("what the chain holds after {taken} terms"),
		Claim::Element { bits } => format!("that the chain comes to {}", number(*bits)),
		Claim::Mean { taken, .. } => {
			format!("the mean after {}", count(*taken as usize, "slice", "slices"))
		}
		Claim::Stop { taken, .. } => format!("the rule after {taken} checkpoints"),
		Claim::Ends { checkpoints } => format!("that training ends with {checkpoints} checkpoints"),
	}
}

/// What an opening brings, and where.
pub fn opening(at: &Place, opening: &Opening) -> String {
	let mut words = format!("opens {}", place(at));
	if let Opened::Diverged { witness: of, .. } = &opening.opened {
		words += &format!(": training diverged by {}", witness(of));
	}
	if !opening.contents.is_empty() {
		words += &format!(", with the contents of {} tensors", opening.contents.len());
	}
	if !opening.chunk.is_empty() {
		words += &format!(", with its chunk of {} bytes", opening.chunk.len());
	}
	if !opening.roots.is_empty() {
		words += &format!(", and posts {}", count(opening.roots.len(), "digest", "digests"));
	}
	words
}

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
	let tensor = |tensor: u32| {
		let tensors = StateTensors::of(&case.spec);
		let found = tensors.tensors().get(tensor as usize);
		found.map_or_else(|| tensor.to_string(), |found| format!("`{}`", found.name))
	};
	match piece {
		Piece::Stretch { at, stretch, .. } => {
			let (all, operator) = lowered(case, at, |lowered| {
				let part = lowered.part(stretch.result).expect("it is one of them");
				let kind = &lowered.program().ops[part.op as usize].kind;
				(lowered.terms(stretch.result, stretch.element), operators::name_of(kind))
			});
			let all = all.unwrap_or_default();
			let begin = stretch.from.map_or(0, |(taken, _)| taken);
			let part = match stretch.to {
				To::Chain { taken, .. } => format!(", {} of {all}", range("term", begin, taken)),
				To::Element { .. } if begin > 0 => format!(", behind all {all} terms of its chain"),
				To::Element { .. } if all > 0 => format!(", all {all} terms of its chain"),
				To::Element { .. } => String::new(),
			};
			let element = format!("element {} of {}", stretch.element, content(at, stretch.result));
			format!("{operator}: {element}{part}")
		}
		Piece::Initial { tensor: of, element, .. } => {
			format!("element {element} of {} of the initial state", tensor(*of))
		}
		Piece::StepJoin { step, .. } => format!("what follows from all results of step {step}"),
		Piece::SliceJoin { checkpoint, slice, .. } => {
			format!("what follows from all results of slice {slice} of evaluation {checkpoint}")
		}
		Piece::Mean { checkpoint, stretch, .. } => match stretch.to {
			MeanTo::Slices { taken, .. } => {
				format!("the mean of evaluation {checkpoint}, up to {taken} slices")
			}
			MeanTo::Evaluation(_) => format!("the mean of evaluation {checkpoint}"),
		},
		Piece::Stop(_) => "the rule for an early stop".into(),
		Piece::Model { chunk, .. } => format!("chunk {chunk} of the model file"),
		Piece::Stored { tensor: of, chunk, .. } => {
			format!("chunk {chunk} of {} in the stored file", tensor(*of))
		}
		Piece::StoredHeader { chunk, .. } => {
			format!("chunk {chunk} of the header of the stored file")
		}
		Piece::NotFinite { step, result, element, .. } => {
			format!("whether element {element} of result {result} of step {step} is finite")
		}
		Piece::NotFiniteState { tensor: of, element, .. } => {
			format!("whether element {element} of {} is finite", tensor(*of))
		}
	}
}

/// Calls `read` with the computation of a moment.
pub fn lowered<R>(case: &Case, at: &Moment, read: impl FnOnce(&Lowered<'_>) -> R) -> R {
	let computation = at.computation().unwrap_or(Computation::Step { step: 0 });
	read(&Lowered::new(case, computation).expect("it was disputed"))
}

fn value(of: &Value) -> String {
	match of {
		Value::Digest(hash) => digest(hash),
		Value::Bits(bits) => number(*bits),
		Value::Evaluation(of) => evaluation(of),
		Value::Segments(Some(segments)) => format!("an end after {segments} segments"),
		Value::Segments(None) => "that training goes on".into(),
	}
}

/// What the runtime found.
pub fn judgement(of: &Judgement) -> String {
	match of {
		Judgement::Compared(Verdict::Same) => "the runtime finds what the defendant said".into(),
		Judgement::Compared(Verdict::Other { found, claimed }) => {
			format!("the runtime finds {}, the defendant said {}", value(found), value(claimed))
		}
		Judgement::Finite { is_finite, said } => {
			let not = |is: bool| if is { "finite" } else { "not finite" };
			format!("the number is {}; the defendant said {}", not(*is_finite), not(*said))
		}
	}
}
