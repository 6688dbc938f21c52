//! The mean of an evaluation over its slices.

use super::{
	openings::{is_canonical, words, WORD},
	MeanOpening, SliceOpening, STRETCH_BYTES,
};
use crate::case::{Case, Refused, Value, Verdict};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::ops::Range;
use scale_info::TypeInfo;
use trainyard_program::parts::Accumulator;
use trainyard_protocol::{bundle::Evaluation, content, court, merkle, trace, H256};
use trainyard_strict::SumChain;

/// A stretch of the mean of an evaluation.
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
pub struct MeanStretch {
	/// Where it begins: the slices taken so far, and the [digest](court::mean) that was agreed. None
	/// where it is the begin.
	pub from: Option<(u32, H256)>,
	/// Where it ends.
	pub to: MeanTo,
}

/// What a defendant said that a stretch of the mean comes to.
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
pub enum MeanTo {
	/// The mean after so many slices.
	Slices {
		/// The slices taken.
		taken: u32,
		/// The [digest](court::mean) that was denied.
		digest: H256,
	},
	/// The evaluation.
	Evaluation(Evaluation),
}

/// Returns the slices of a stretch of the mean: as many as [`STRETCH_BYTES`] open, at least 1.
pub fn mean_slices(case: &Case) -> u32 {
	let labels = case.spec.slice_rows().saturating_mul(case.spec.dataset.labels_per_row());
	// Two words for each label, and beside them a path and what lists are framed by.
	let depth = case.spec.slices().checked_next_power_of_two().map_or(32, u32::ilog2);
	let path = u64::from(depth).saturating_mul(32).saturating_add(16);
	let each = u64::from(labels).saturating_mul(2).saturating_mul(WORD).saturating_add(path);
	let slices = STRETCH_BYTES.checked_div(each).unwrap_or_default().max(1);
	u32::try_from(slices).unwrap_or(u32::MAX)
}

impl MeanStretch {
	/// Returns the slices that it takes. An evaluation of no more slices than a
	/// [stretch](mean_slices) has is one piece. A longer one is cut at the multiples of a stretch and
	/// behind its last slice, and the piece from there to the evaluation takes none. Fails with
	/// [`Refused::NoSuchPiece`] for any other bounds.
	pub fn range(&self, case: &Case) -> Result<Range<u32>, Refused> {
		let to = match self.to {
			MeanTo::Slices { taken, .. } => Some(taken),
			MeanTo::Evaluation(_) => None,
		};
		cut(self.from.map(|(taken, _)| taken), to, mean_slices(case), case.spec.slices())
	}
}

/// Returns what a stretch of so many of `all` takes, by its bounds; none for its begin is the begin,
/// none for its end what stands above. Fails with [`Refused::NoSuchPiece`].
pub(super) fn cut(
	from: Option<u32>,
	to: Option<u32>,
	length: u32,
	all: u32,
) -> Result<Range<u32>, Refused> {
	let (begin, is_long) = (from.unwrap_or_default(), all > length);
	let is_piece = match (from, to) {
		(None, None) => !is_long,
		(Some(_), None) => is_long && begin == all,
		(from, Some(end)) => {
			let is_cut = from.is_none() || (begin > 0 && begin.is_multiple_of(length.max(1)));
			is_long && is_cut && begin < all && end == begin.saturating_add(length).min(all)
		}
	};
	is_piece.then_some(begin..to.unwrap_or(all)).ok_or(Refused::NoSuchPiece)
}

/// What the mean holds after some slices.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
	/// Labels so far.
	taken: u64,
	/// The sum of their losses.
	sum: SumChain,
	/// How many of them are predicted.
	correct: u64,
}

/// Decides about a stretch of the mean of an evaluation whose slices are agreed, `slices` being the root
/// over their leaves.
pub fn mean(
	case: &Case,
	slices: &H256,
	piece: &MeanStretch,
	opening: &MeanOpening,
) -> Result<Verdict, Refused> {
	let range = piece.range(case)?;
	let mut held = match (piece.from, &opening.before) {
		(None, None) => Held::default(),
		(Some((taken, digest)), Some((Accumulator::Sum(sum), correct))) => {
			let held = Held { taken: labels(case, 0..taken), sum: *sum, correct: *correct };
			if court::mean(taken, held.taken, sum, *correct) != digest {
				return Err(Refused::WrongOpening);
			}
			held
		}
		(Some(_), _) => return Err(Refused::WrongOpening),
		(None, Some(_)) => return Err(Refused::LeftOver),
	};
	if opening.slices.len() as u64 != u64::from(range.end.saturating_sub(range.start)) {
		return Err(Refused::WrongOpening);
	}
	for (slice, opened) in range.clone().zip(&opening.slices) {
		take(case, slices, slice, opened, &mut held)?;
	}
	let Held { taken, sum, correct } = held;
	Ok(match piece.to {
		MeanTo::Slices { digest, .. } => {
			let found = court::mean(range.end, taken, &sum, correct);
			Verdict::of(Value::Digest(found), Value::Digest(digest))
		}
		MeanTo::Evaluation(claimed) => {
			let count = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
			let loss = sum.finish(taken) / taken as f32;
			let found = Evaluation::new(loss, count(correct), count(taken));
			Verdict::of(Value::Evaluation(found), Value::Evaluation(claimed))
		}
	})
}

/// Takes one slice.
fn take(
	case: &Case,
	slices: &H256,
	slice: u32,
	opened: &SliceOpening,
	held: &mut Held,
) -> Result<(), Refused> {
	let SliceOpening { losses, correct, path } = opened;
	let length = labels(case, slice..slice.saturating_add(1)).saturating_mul(WORD);
	if losses.len() as u64 != length || correct.len() as u64 != length {
		return Err(Refused::WrongOpening);
	}
	let leaf = trace::slice_leaf(slice, &content::hash(losses), &content::hash(correct));
	if !merkle::verify(slices, &leaf, slice, case.spec.slices(), path) {
		return Err(Refused::WrongOpening);
	}
	let (losses, correct) = (words(losses), words(correct));
	if !losses.iter().chain(&correct).copied().all(is_canonical) {
		return Err(Refused::NotCanonical);
	}
	for loss in losses {
		held.sum.add(held.taken, f32::from_bits(loss));
		held.taken = held.taken.saturating_add(1);
	}
	let hits = correct.into_iter().filter(|hit| f32::from_bits(*hit) == 1.0).count();
	held.correct = held.correct.saturating_add(hits as u64);
	Ok(())
}

/// Returns the labels of these slices.
pub(super) fn labels(case: &Case, slices: Range<u32>) -> u64 {
	let rows = |slices: u32| {
		let rows = u64::from(slices).saturating_mul(case.spec.slice_rows().into());
		rows.min(case.spec.dataset.validation_rows.into())
	};
	let rows = rows(slices.end).saturating_sub(rows(slices.start));
	rows.saturating_mul(case.spec.dataset.labels_per_row().into())
}
