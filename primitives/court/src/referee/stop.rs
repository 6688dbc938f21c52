//! The rule for an early stop over the checkpoints of a result.

use super::{mean::cut, CheckpointOpening, StopOpening};
use crate::case::{Case, Refused, Value, Verdict};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::ops::Range;
use scale_info::TypeInfo;
use trainyard_program::spec::StopRule;
use trainyard_protocol::{court, merkle, H256};

/// What a defendant committed to of its result.
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
pub struct Committed {
	/// The bundle root.
	pub root: H256,
	/// Segments: checkpoints but the first.
	pub segments: u32,
	/// Whether training left the finite numbers after the last checkpoint.
	pub diverged: bool,
}

/// A stretch of the rule for an early stop.
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
pub struct StopStretch {
	/// Where it begins: the checkpoints taken so far, and the [digest](court::stop) that was agreed.
	/// None where it is the begin.
	pub from: Option<(u32, H256)>,
	/// Where it ends: the checkpoints taken, and the [digest](court::stop) that was denied. None where
	/// the number of segments is denied.
	pub to: Option<(u32, H256)>,
}

/// Checkpoints of a stretch of the rule for an early stop.
pub const STOP_STRETCH: u32 = 128;

impl StopStretch {
	/// Returns the checkpoints that it takes. A result of no more checkpoints than [`STOP_STRETCH`] is
	/// one piece. A longer one is cut at its multiples and behind the last checkpoint, and the piece
	/// from there to the number of segments takes none. Fails with [`Refused::NoSuchPiece`] for any
	/// other bounds.
	pub fn range(&self, result: &Committed) -> Result<Range<u32>, Refused> {
		let all = result.segments.checked_add(1).ok_or(Refused::NoSuchPiece)?;
		let taken = |at: Option<(u32, H256)>| at.map(|(taken, _)| taken);
		cut(taken(self.from), taken(self.to), STOP_STRETCH, all)
	}
}

/// Decides about a stretch of the rule for an early stop.
///
/// A result may have segments after the one in which the rule says that training ends, or end before
/// it does. The first is found in the stretch with this checkpoint, whatever its end is; the second in
/// the last piece. Where training left the finite numbers, it may not have ended before. Fails with
/// [`Refused::NoSuchPiece`] where the job has no such rule.
pub fn stop(
	case: &Case,
	result: &Committed,
	piece: &StopStretch,
	opening: &StopOpening,
) -> Result<Verdict, Refused> {
	let rule = case.spec.training.early_stop.ok_or(Refused::NoSuchPiece)?;
	let range = piece.range(result)?;
	let mut held = match (piece.from, opening.before) {
		(None, None) => StopRule::default(),
		(Some((taken, digest)), Some((least, waited))) => {
			let held = StopRule { least: f32::from_bits(least), waited };
			if court::stop(taken, &held) != digest {
				return Err(Refused::WrongOpening);
			}
			held
		}
		(Some(_), None) => return Err(Refused::WrongOpening),
		(None, Some(_)) => return Err(Refused::LeftOver),
	};
	if opening.checkpoints.len() as u64 != u64::from(range.end.saturating_sub(range.start)) {
		return Err(Refused::WrongOpening);
	}
	let leaves = result.segments.saturating_add(1).saturating_add(result.diverged.into());
	let claimed = Value::Segments(Some(result.segments));
	for (at, opened) in range.clone().zip(&opening.checkpoints) {
		let CheckpointOpening { checkpoint, path } = opened;
		if !merkle::verify(&result.root, &checkpoint.leaf(), at, leaves, path) {
			return Err(Refused::WrongOpening);
		}
		let ends = rule.take(&mut held, at, checkpoint.evaluation.loss());
		let goes_on = at < result.segments || result.diverged;
		if ends && goes_on && at < case.spec.segments() {
			return Ok(Verdict::Other { found: Value::Segments(Some(at)), claimed });
		}
	}
	if let Some((_, digest)) = piece.to {
		let found = court::stop(range.end, &held);
		return Ok(Verdict::of(Value::Digest(found), Value::Digest(digest)));
	}
	let is_over = held.waited >= rule.patience || result.segments >= case.spec.segments();
	let ended = result.diverged || is_over;
	Ok(Verdict::of(Value::Segments(ended.then_some(result.segments)), claimed))
}
