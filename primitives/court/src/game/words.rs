//! Targets, places, claims, openings and pieces in words, for people. Nothing reads them back.

use super::{
	After, Claim, Claimed, End, Judgement, Moment, Opened, Opening, Piece, Place, Target, Witness,
};
use crate::{
	referee::{MeanTo, To},
	Value, Verdict,
};
use alloc::{format, string::String};
use trainyard_protocol::{bundle::Evaluation, H256};

/// Returns `step 3`, or `steps 3 to 5`: of a range whose end is not in it.
pub fn range(one: &str, from: u64, to: u64) -> String {
	match to.saturating_sub(from) {
		0 | 1 => format!("{one} {from}"),
		_ => format!("{one}s {from} to {}", to.saturating_sub(1)),
	}
}

/// The first bytes of a digest.
fn digest(hash: &H256) -> String {
	let [a, b, c, d, ..] = hash.0;
	format!("{a:02x}{b:02x}{c:02x}{d:02x}...")
}

/// A number, by its bits.
fn number(bits: u32) -> String {
	format!("{} ({bits:08X})", f32::from_bits(bits))
}

fn evaluation(of: &Evaluation) -> String {
	format!("loss {}, {} of {} labels", of.loss(), of.correct, of.labels)
}

/// Returns what is accused.
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

/// Returns what the challenger says of it.
pub fn claimed(claimed: &Claimed, target: &Target) -> &'static str {
	match (claimed, target) {
		(Claimed::End(End::Checkpoint { .. }), Target::Start) => "is another checkpoint",
		(Claimed::End(End::Checkpoint { .. }), _) => "ends in another checkpoint",
		(Claimed::End(End::Diverged(_)), _) => "is where training diverges",
		(Claimed::Other, _) => "is another one",
	}
}

/// Returns so many things, by the words for one and for many.
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

/// Returns where a dispute stands.
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
			let chunks = range("chunk", node.begin, node.begin.saturating_add(node.chunks));
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

/// Returns what is shown: a number that is not finite.
pub fn shown(of: &Witness) -> String {
	format!("agrees, and shows that {} is not finite", witness(of))
}

/// Returns what is denied.
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
		Claim::Node { node, .. } => {
			range("chunk", node.begin, node.begin.saturating_add(node.chunks))
		}
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

/// Returns what an opening brings, and where.
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

/// Returns what is left to be decided. `tensor` names the tensors of a state by their numbers.
pub fn piece(piece: &Piece, tensor: impl Fn(u32) -> String) -> String {
	match piece {
		Piece::Stretch { at, stretch, .. } => {
			let begin = stretch.from.map_or(0, |(taken, _)| taken);
			let part = match stretch.to {
				To::Chain { taken, .. } => {
					format!(", {} of its chain", range("term", begin, taken))
				}
				To::Element { .. } if begin > 0 => format!(", behind {begin} terms of its chain"),
				To::Element { .. } => String::new(),
			};
			format!("{}{part}", element(at, stretch.result, stretch.element))
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

/// Returns an element of a result, or of a tensor.
pub fn element(at: &Moment, result: u32, element: u64) -> String {
	format!("element {element} of {}", content(at, result))
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

/// Returns what the referee found.
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

#[cfg(test)]
mod tests {
	use super::*;
	use crate::referee::Stretch;
	use alloc::string::ToString;

	#[test]
	fn places_are_told() {
		let at = Moment::Step { segment: 3, step: 151 };
		for (of, expected) in [
			(Place::Ends { target: Target::Segment(3) }, "segment 3"),
			(Place::Steps { segment: 3, from: 150, to: 200 }, "steps 150 to 199 in segment 3"),
			(Place::Results { at, from: 7, to: 8 }, "result 7 of step 151"),
			(
				Place::Results { at: Moment::Initial, from: 0, to: 6 },
				"tensors 0 to 5 of the initial state",
			),
			(
				Place::Chain { at, result: 7, element: 12, from: 0, to: 64 },
				"terms 0 to 63 of element 12 of result 7 of step 151",
			),
			(
				Place::Stops { from: 0, to: 4 },
				"checkpoints 0 to 3 under the rule for an early stop",
			),
		] {
			assert_eq!(place(&of), expected);
		}
	}

	#[test]
	fn pieces_are_told() {
		let at = Moment::Step { segment: 3, step: 151 };
		let stretch = Stretch { result: 7, element: 12, from: None, to: To::Element { bits: 0 } };
		let (state, results) = (H256::zero(), H256::zero());
		let of = Piece::Stretch { at, state, results, stretch };
		let name = |tensor: u32| ["weight", "bias"][tensor as usize].to_string();
		assert_eq!(piece(&of, name), "element 12 of result 7 of step 151");
		let of = Piece::Initial { tensor: 1, element: 4, bits: 0 };
		assert_eq!(piece(&of, name), "element 4 of bias of the initial state");
	}
}
