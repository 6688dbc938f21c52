//! What pieces consist of that are too large for the chain: a router from verification, which asks, to the
//! market, which has the specification.

use crate::{Runtime, TaskMarket};
use frame_support::weights::Weight;
use trainyard_protocol::{
	job::WorkResult,
	pieces::Piece,
	relay::{self, ChunkOpening},
	JobId, H256,
};
use trainyard_traits::PieceChunks;

/// Weight of lowering the largest specification to the tensors of its states, and of hashing a chunk of
/// 1 KiB with 54 siblings and two Merkle paths of 32, in wasm. An estimate.
const OPENING: Weight = Weight::from_parts(5_000_000_000, 0);

/// The chunks of pieces, by the specifications of jobs that are audited.
pub struct Chunks;

impl PieceChunks for Chunks {
	fn chunks(job: JobId, result: &WorkResult, piece: Piece) -> u64 {
		let charged = TaskMarket::charged_seat(job, *result);
		let every = TaskMarket::keep_every(job);
		charged.map_or(0, |charged| relay::chunks(&charged.case.spec, every, result, piece))
	}

	fn opens(
		job: JobId,
		result: &WorkResult,
		piece: (Piece, &H256),
		number: u64,
		opening: &ChunkOpening,
	) -> bool {
		let every = TaskMarket::keep_every(job);
		TaskMarket::charged_seat(job, *result).is_some_and(|charged| {
			relay::opens(&charged.case.spec, every, result, piece, number, opening)
		})
	}

	fn weight() -> Weight {
		// The terms say which states there are samples of.
		let terms = <Runtime as frame_system::Config>::DbWeight::get().reads(1);
		TaskMarket::charged_weight().saturating_add(OPENING).saturating_add(terms)
	}
}
