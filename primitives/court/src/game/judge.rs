//! How a piece is decided.

use super::{
	types::{Level, Moment, Moved, Outcome, Piece, Said, Stage},
	Game, Refused,
};
use crate::{
	case,
	referee::{self, Agreed, Committed, Lowered, MeanTo, Openings, SliceEnd, StepEnd},
	Case, Value, Verdict,
};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use trainyard_protocol::{bundle::Evaluation, job::WorkResult};

/// What a referee found out about a piece.
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
pub enum Judgement {
	/// It compared what the defendant said with what it found.
	Compared(Verdict),
	/// It looked whether a number is finite.
	Finite {
		/// Whether it is.
		is_finite: bool,
		/// Whether the defendant said so.
		said: bool,
	},
}

impl Judgement {
	/// Returns whether the defendant is right.
	pub fn is_same(&self) -> bool {
		match self {
			Judgement::Compared(verdict) => verdict.is_same(),
			Judgement::Finite { is_finite, said } => is_finite == said,
		}
	}
}

/// Decides about a piece of a result by openings. Fails where they are not what it reads.
pub fn judge(
	case: &Case,
	result: &WorkResult,
	piece: &Piece,
	openings: &Openings,
) -> Result<Judgement, case::Refused> {
	let lowered = |at: &Moment| {
		let computation = at.computation().ok_or(case::Refused::NoSuchPiece)?;
		Lowered::new(case, computation)
	};
	let not_finite = |by_defender: bool, is_not: bool| Judgement::Finite {
		is_finite: !is_not,
		said: !by_defender,
	};
	let verdict = match (*piece, openings) {
		(Piece::Stretch { at, state, results, stretch }, Openings::Stretch(opening)) => {
			let agreed = Agreed { state, results };
			referee::stretch(&lowered(&at)?, &agreed, &stretch, opening)?
		}
		(Piece::Initial { tensor, element, bits }, Openings::Tensors(opening)) => {
			referee::initial(case, tensor, element, bits, opening)?
		}
		(
			Piece::StepJoin { segment, step, results, after, loss, logits },
			Openings::Contents(contents),
		) => {
			let lowered = lowered(&Moment::Step { segment, step })?;
			let end = StepEnd { state: after, loss: f32::from_bits(loss), logits };
			referee::step_join(&lowered, &results, &end, contents)?
		}
		(
			Piece::SliceJoin { checkpoint, slice, results, losses, correct },
			Openings::Contents(contents),
		) => {
			let lowered = lowered(&Moment::Slice { checkpoint, slice })?;
			referee::slice_join(&lowered, &results, &SliceEnd { losses, correct }, contents)?
		}
		(Piece::Mean { checkpoint, slices, stretch }, Openings::Mean(opening)) => {
			let verdict = referee::mean(case, &slices, &stretch, opening)?;
			match (checkpoint, stretch.to, verdict) {
				// What stands for the evaluation of an initial state whose loss is not finite.
				(
					0,
					MeanTo::Evaluation(Evaluation::NONE),
					Verdict::Other { found: Value::Evaluation(found), .. },
				) if !found.loss().is_finite() => Verdict::Same,
				_ => verdict,
			}
		}
		(Piece::Stop(stretch), Openings::Stop(opening)) => {
			let WorkResult { bundle_root: root, segments, diverged, .. } = *result;
			let committed = Committed { root, segments, diverged };
			referee::stop(case, &committed, &stretch, opening)?
		}
		(Piece::Model { chunk, value, state }, Openings::Tensors(opening)) => {
			referee::model(case, &state, chunk, &value, opening)?
		}
		(Piece::Stored { blob, tensor, chunk, value }, Openings::Blob(content, chunks)) => {
			referee::stored(case, &blob, tensor, chunk, &value, (content, chunks))?
		}
		(Piece::StoredHeader { blob, chunk }, Openings::Blob(content, chunks)) => {
			referee::stored_header(case, &blob, chunk, (content, chunks))?
		}
		(
			Piece::NotFinite { segment, step, results, result, element, by_defender },
			Openings::Tensors(opening),
		) => {
			let lowered = lowered(&Moment::Step { segment, step })?;
			let is_not = referee::not_finite(&lowered, &results, result, element, opening)?;
			return Ok(not_finite(by_defender, is_not));
		}
		(
			Piece::NotFiniteState { state, tensor, element, by_defender },
			Openings::Tensors(opening),
		) => {
			let is_not = referee::not_finite_in_state(case, &state, tensor, element, opening)?;
			return Ok(not_finite(by_defender, is_not));
		}
		_ => return Err(case::Refused::WrongOpening),
	};
	Ok(Judgement::Compared(verdict))
}

impl<S: Said> Game<'_, S> {
	/// Decides about the piece by openings, which either side may bring.
	pub fn judge(self, stage: &Stage, openings: &Openings) -> Result<(Moved, Judgement), Refused> {
		let Level::Judge { piece } = stage.level else { return Err(Refused::NotNow) };
		let judged = judge(self.case, self.result, &piece, openings).map_err(Refused::Piece)?;
		let outcome = match judged.is_same() {
			true => Outcome::Acquitted,
			false => Outcome::Convicted,
		};
		Ok((Moved::ended(outcome), judged))
	}
}
