//! A stretch of the chain of one element.

use super::{
	openings::{of_state, Known, Proved},
	Lowered, Origin, Source, StretchOpening, Tensors,
};
use crate::case::{Refused, Value, Verdict};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use trainyard_program::parts;
use trainyard_protocol::{court, merkle, rows::Rows, H256};
use trainyard_strict::canonical_bits;

/// What was agreed before the result that is disputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
	/// Hash of the state before the computation.
	pub state: H256,
	/// The prefix root over the results before this one.
	pub results: H256,
}

/// A stretch of the chain of an element: what a piece is about.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Stretch {
	/// The result.
	pub result: u32,
	/// The element of it.
	pub element: u64,
	/// Where the stretch begins: the terms taken so far, and the [digest](court::chain) that was
	/// agreed. None where it is the begin of the chain.
	pub from: Option<(u64, H256)>,
	/// Where it ends.
	pub to: To,
}

/// What a defendant said that a stretch comes to.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub enum To {
	/// The chain after so many terms.
	Chain {
		/// The terms taken.
		taken: u64,
		/// The [digest](court::chain) that was denied.
		digest: H256,
	},
	/// The element.
	Element {
		/// The bits that were denied.
		bits: u32,
	},
}

impl Stretch {
	/// Returns the terms that it takes.
	///
	/// A chain of no more terms than a [stretch](Lowered::stretch) has is one piece, from its begin to
	/// the element. A longer one is cut at the multiples of a stretch and behind its last term, and
	/// the piece from there to the element takes no terms. Fails with [`Refused::NoSuchPiece`] for any
	/// other bounds, so the work of a piece is bounded.
	pub fn range(&self, lowered: &Lowered<'_>) -> Result<core::ops::Range<u64>, Refused> {
		let all = lowered.terms(self.result, self.element)?;
		let length = lowered.stretch(self.result)?;
		let begin = self.from.map_or(0, |(taken, _)| taken);
		let is_long = all > length;
		let end = match self.to {
			To::Element { .. } => all,
			To::Chain { taken, .. } => taken,
		};
		let is_piece = match (self.from, self.to) {
			(None, To::Element { .. }) => !is_long,
			(Some(_), To::Element { .. }) => is_long && begin == all,
			(from, To::Chain { .. }) => {
				let is_cut = from.is_none() || (begin > 0 && begin.is_multiple_of(length));
				is_long && is_cut && begin < all && end == begin.saturating_add(length).min(all)
			}
		};
		is_piece.then_some(begin..end).ok_or(Refused::NoSuchPiece)
	}
}

/// Decides about a stretch: whether it leads from what was agreed to what the defendant said.
///
/// Fails with [`Refused::NoSuchPiece`] before anything is computed where there is no such stretch,
/// and otherwise where the openings are not what it reads.
pub fn stretch(
	lowered: &Lowered<'_>,
	agreed: &Agreed,
	piece: &Stretch,
	opening: &StretchOpening,
) -> Result<Verdict, Refused> {
	let range = piece.range(lowered)?;
	let Stretch { result, element, from, to } = *piece;
	let part = lowered.part_with(result, element)?;
	let proved = proved(lowered, agreed, result, &opening.tensors)?;
	let inputs = lowered.inputs(&proved);
	let mut held = match (from, &opening.before) {
		(None, None) => parts::start(part, element, &inputs)?,
		(Some((taken, digest)), Some(before)) if court::chain(taken, before) == digest => *before,
		(Some(_), _) => return Err(Refused::WrongOpening),
		(None, Some(_)) => return Err(Refused::LeftOver),
	};
	let end = range.end;
	parts::advance(part, element, &mut held, range, &inputs)?;
	Ok(match to {
		To::Chain { digest, .. } => {
			Verdict::of(Value::Digest(court::chain(end, &held)), Value::Digest(digest))
		}
		To::Element { bits } => {
			let found = parts::finish(part, element, &held, lowered.moment(), &inputs)?;
			Verdict::of(Value::Bits(canonical_bits(found)), Value::Bits(bits))
		}
	})
}

/// Checks the tensors that were opened to compute an element of `result`: of the state before, of the
/// results before it, and rows.
pub(super) fn proved(
	lowered: &Lowered<'_>,
	agreed: &Agreed,
	result: u32,
	opening: &Tensors,
) -> Result<Proved, Refused> {
	let dataset = &lowered.case().spec.dataset;
	let is_right = |rows: &[H256; 4]| Rows::of(dataset, *rows).root() == dataset.rows;
	if !opening.rows.as_ref().is_none_or(is_right) {
		return Err(Refused::WrongOpening);
	}
	let known = |source: &Source| {
		let content = match source {
			Source::State { tensor, content, path } => {
				return of_state(lowered.state(), &agreed.state, *tensor, content, path);
			}
			Source::Result { result: index, content, path } => {
				let leaf = court::result_leaf(*index, content);
				if !merkle::verify(&agreed.results, &leaf, *index, result, path) {
					return Err(Refused::WrongOpening);
				}
				*content
			}
			Source::Features | Source::Labels => {
				let rows = opening.rows.as_ref().ok_or(Refused::WrongOpening)?;
				lowered.rows_content(rows, source.origin() == Origin::Labels)
			}
			Source::Initial { .. } => return Err(Refused::LeftOver),
		};
		let elements = lowered.opened_elements(source.origin()).ok_or(Refused::WrongOpening)?;
		Ok(Known { content, elements })
	};
	Proved::new(&opening.tensors, known)
}
