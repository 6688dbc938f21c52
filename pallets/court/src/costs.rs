//! What moves weigh beside their storage: lowering the computation that they are about, and deciding
//! about a piece.

use crate::{Config, Pallet, WeightInfo};
use frame_support::weights::Weight;
use trainyard_court::{
	game::{types::MAX_RESULTS, Piece},
	referee::{Committed, Cost, Lowered, STRETCH_BYTES},
	Case, Refused,
};
use trainyard_program::parts::{MAX_REST_READS, MAX_STRETCH};
use trainyard_protocol::job::WorkResult;
use trainyard_traits::{Accused, JobDeeds};

/// Results of a layer of the model by which lowering is measured, a block of a transformer. A model of
/// other layers may have as many results as 34 of them, more than such a model may have blocks.
pub const LAYER_RESULTS: u32 = 197;
/// Most terms of a stretch: of a chain along one row, as that of a sum of exponentials.
pub const MAX_TERMS: u32 = MAX_STRETCH as u32;
/// Most rows whose places the order gives for a stretch: of a column of the inputs, each number of
/// another row and with a chunk of its own, and what the rest reads of inputs and labels.
pub const MAX_ROWS: u32 = (STRETCH_BYTES / 1_024 + 2 * MAX_REST_READS) as u32;

/// What a decision about a piece used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Used {
	/// Results of the computation that was lowered.
	pub results: u32,
	/// Terms that were computed.
	pub terms: u32,
	/// Rows that were looked up.
	pub rows: u32,
}

impl Used {
	/// The most that a decision can use: the dearest operator, the longest stretch, each of its terms of
	/// another row.
	pub const MOST: Used = Used { results: MAX_RESULTS, terms: MAX_TERMS, rows: MAX_ROWS };

	/// Returns what a decision about `piece` uses; the most where that cannot be said.
	pub fn of(case: &Case, result: &WorkResult, piece: &Piece) -> Self {
		let WorkResult { bundle_root: root, segments, diverged, .. } = *result;
		let cost = match piece {
			Piece::Stretch { at, stretch, .. } => at
				.computation()
				.ok_or(Refused::NoSuchPiece)
				.and_then(|computation| Lowered::new(case, computation))
				.and_then(|lowered| Cost::of(&lowered, stretch)),
			Piece::Mean { stretch, .. } => Cost::of_mean(case, stretch),
			Piece::Stop(stretch) => Cost::of_stop(&Committed { root, segments, diverged }, stretch),
			// Nothing but hashes.
			_ => return Self { terms: 0, rows: 0, ..Self::MOST },
		};
		let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
		cost.map_or(Self::MOST, |cost| Self {
			results: cost.parts,
			terms: number(cost.terms),
			rows: number(cost.rows),
		})
	}
}

impl<T: Config> Pallet<T> {
	/// Returns the weight of a move that reads the case and lowers one of its computations, at worst.
	pub(crate) fn move_weight(own: Weight) -> Weight {
		Self::moved_weight(own, MAX_RESULTS)
	}

	/// Returns the weight of a move that lowers a computation with so many results.
	pub(crate) fn moved_weight(own: Weight, results: u32) -> Weight {
		own.saturating_add(T::Accused::case_weight())
			.saturating_add(Self::lower_weight(results))
			.saturating_add(Self::deeds_weight())
	}

	/// Returns the weight of noting what a dispute that ends leaves behind: two records.
	pub(crate) fn deeds_weight() -> Weight {
		T::Deeds::note_weight().saturating_mul(2)
	}

	/// Returns the weight of lowering a computation with so many results, and of taking it apart.
	fn lower_weight(results: u32) -> Weight {
		T::WeightInfo::lower(results.div_ceil(LAYER_RESULTS))
	}

	/// Returns the weight of opening a place, with so many contents of tensors.
	pub(crate) fn open_weight(contents: u32) -> Weight {
		T::WeightInfo::open().saturating_add(T::WeightInfo::contents(contents))
	}

	/// Returns the weight of deciding about a piece by so many bytes of openings, at worst.
	pub fn judge_weight(bytes: u32) -> Weight {
		Self::judged_weight(bytes, &Used::MOST)
	}

	/// Returns the weight of a decision that used this. It lowers the computation once more to know
	/// what it costs.
	pub(crate) fn judged_weight(bytes: u32, used: &Used) -> Weight {
		Self::moved_weight(T::WeightInfo::judge(), used.results)
			.saturating_add(T::WeightInfo::openings(bytes.div_ceil(1_024)))
			.saturating_add(Self::lower_weight(used.results))
			.saturating_add(T::WeightInfo::terms(used.terms))
			.saturating_add(T::WeightInfo::rows(used.rows))
			.saturating_add(T::Accused::convict_weight())
	}

	/// Returns the weight of what a clock that ran out leads to, at worst: the case is read for where the
	/// dispute stands, and again for whether there is one.
	pub(crate) fn expire_weight() -> Weight {
		Self::move_weight(T::WeightInfo::expire())
			.saturating_add(T::Accused::case_weight())
			.saturating_add(T::Accused::convict_weight())
	}
}
