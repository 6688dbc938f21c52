//! Pieces that are too large for the chain: what a relay committee says of them, and openings of single
//! chunks.
//!
//! A piece that no rescue can carry is asked of a committee that is drawn for it. Who of it says that it
//! has the piece opens one chunk of 1 KiB, which a later seed draws, under the revealed root of the
//! result, or of the rows of the specification. Chunks of a state are numbered through the contents of all its
//! tensors, in ascending bytewise order of name, and those of all rows through the four contents of
//! [`Rows`](crate::rows::Rows). Samples of all states are chunks of these, at places that the seed of the first committee
//! draws, so after the states were committed to; they are numbered state by state. No other piece is opened by
//! chunks: leaves are brought by an answer, some of the rows are a part of all, and a tensor is a part of its
//! state.

mod chunks;

pub use chunks::*;

use crate::{
	job::{Balance, BlockNumber},
	pieces::Piece,
	JobId, Text, H256,
};
use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use sp_crypto_hashing::blake2_256;

/// Seats of a relay committee.
pub const SEATS: u32 = 31;
/// Seats of the committee that is drawn when somebody doubts the answer of the first.
pub const APPEAL_SEATS: u32 = 61;
/// Most seats that earn a fee in a relay of what is not to be had: those of the first committee, and those of
/// the larger one where somebody doubts the first.
pub const LACKING_SEATS: u32 = SEATS + APPEAL_SEATS;
/// The fee of a seat for 4 GiB in this many parts is the price of a chunk that it is asked for.
pub const ASK_PART: Balance = 5;
/// The fee for samples as a part of that for other pieces.
pub const SAMPLES_PART: Balance = 10;
/// A seat earns at least this part of the price of a job's work, see [`Fees::of`].
pub const PRICE_PART: Balance = 1_250;
/// Bytes of a piece for which there is one [hour](hours).
pub const HOUR_BYTES: u64 = 4 << 30;
/// Domain of the draw of a chunk.
const CHUNK: &[u8; 24] = b"trainyard/relay/chunk/v1";

/// Number of a relay, counted over all jobs.
pub type RelayId = u32;

/// Returns how many of the periods in which 4 GiB are fetched a piece of so many bytes takes, at least
/// one. At an hour each that is 1.2 MB/s.
pub fn hours(bytes: u64) -> u32 {
	u32::try_from(bytes.div_ceil(HOUR_BYTES)).unwrap_or(u32::MAX).max(1)
}

/// What seats of relays of a job's results earn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fees {
	/// For each 4 GiB of a piece.
	fee: Balance,
	/// At least, for any piece.
	least: Balance,
}

impl Fees {
	/// Returns those of a job whose work done once has this `price`, where a seat earns `fee` for 4 GiB of a
	/// cheap job.
	///
	/// An owner of two fifths of the bonds has a majority of both committees together with 2 %, and with it an honest
	/// result is lost. Where the owner posted the job it has the model and its money back, so attempts must cost
	/// more than they bring (`tools/slots/court.py`).
	pub fn of(fee: Balance, price: Balance) -> Self {
		Self { fee, least: price / PRICE_PART }
	}

	/// Returns what a seat earns for this piece, which has so many bytes.
	pub fn of_seat(&self, piece: &Piece, bytes: u64) -> Balance {
		let each = match piece {
			// They are little to keep, and read in small parts.
			Piece::Samples => self.fee / SAMPLES_PART,
			Piece::Leaves | Piece::Rows { .. } | Piece::State(_) | Piece::Tensor { .. } => self.fee,
		};
		each.saturating_mul(hours(bytes).into()).max(self.least)
	}

	/// Returns what so many seats earn for this piece; 0 where it has no bytes. `None` on overflow.
	pub fn of_seats(&self, piece: &Piece, bytes: u64, seats: u32) -> Option<Balance> {
		match bytes {
			0 => Some(0),
			bytes => self.of_seat(piece, bytes).checked_mul(seats.into()),
		}
	}

	/// Returns what the escrow of a job has for relays of this piece of a result: the fees of [`LACKING_SEATS`]
	/// where it is not to be had, and those of one committee that found it held which a seat of the audit lacked.
	/// `None` on overflow.
	pub fn escrowed(&self, piece: &Piece, bytes: u64) -> Option<Balance> {
		self.of_seats(piece, bytes, LACKING_SEATS.checked_add(SEATS)?)
	}
}

/// Returns which of the `chunks` chunks of a piece the seat of an account opens, by a seed:
/// `x = blake2_256(SCALE("trainyard/relay/chunk/v1", seed, account))`, of which the first eight bytes
/// are a little-endian number `n`, and the chunk is the high half of the 128 bits of `n` times `chunks`.
pub fn drawn(seed: &H256, account: &impl Encode, chunks: u64) -> u64 {
	let hash = (CHUNK, seed, account).using_encoded(blake2_256);
	let (word, _) = hash.split_at(8);
	let word = word.iter().rev().fold(0u64, |acc, byte| (acc << 8) | u64::from(*byte));
	((u128::from(word) * u128::from(chunks)) >> 64) as u64
}

/// Where a relay stands.
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
pub enum RelayStage {
	/// The seed forms by which a committee is drawn.
	Drawing {
		/// Height whose successors make it.
		after: BlockNumber,
	},
	/// Each seat fetches the piece, and says whether it has it.
	Saying {
		/// Last block for that.
		until: BlockNumber,
	},
	/// The seed forms by which the chunks are drawn.
	Seeding {
		/// Height whose successors make it.
		after: BlockNumber,
	},
	/// Who said that it has the piece opens a chunk of it.
	Showing {
		/// By which the chunk of each seat is [drawn].
		seed: H256,
		/// Last block for that.
		until: BlockNumber,
	},
	/// No majority had it: the trainers serve it to the committee, which then says it again.
	Serving {
		/// Last block of that.
		until: BlockNumber,
	},
	/// A majority has it, and gives it to whoever asks.
	Held {
		/// Last block of that, and for a doubt.
		until: BlockNumber,
	},
	/// No majority had it in the second vote either.
	Lacking {
		/// Last block for a doubt.
		until: BlockNumber,
	},
}

/// A seat of a relay committee, as clients read it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo)]
pub struct RelaySeatView<AccountId> {
	/// Who.
	pub who: AccountId,
	/// Whether it says that it has the piece; `None` before it said anything.
	pub says: Option<bool>,
	/// Whether it opened a chunk since it said so.
	pub shown: bool,
	/// Whether it lost its stake.
	pub lost: bool,
	/// The chunk that it must open now.
	pub due: Option<u64>,
	/// Where it serves, if it does: the base URL of an HTTP server.
	pub location: Option<Text>,
}

/// A relay, as clients read it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo)]
pub struct RelayView<AccountId> {
	/// Its number.
	pub id: RelayId,
	/// Of which job.
	pub job: JobId,
	/// Of which result, in the audit's order.
	pub group: u32,
	/// What is asked for.
	pub piece: Piece,
	/// Chunks that it has.
	pub chunks: u64,
	/// The seed of the first committee, at whose places samples are read; `None` before it is drawn.
	pub places: Option<H256>,
	/// Who asked for it.
	pub by: AccountId,
	/// What a seat earns.
	pub fee: u128,
	/// Where it stands.
	pub stage: RelayStage,
	/// The last block of that stage, as far as blocks had room; `None` while a seed forms.
	pub until: Option<BlockNumber>,
	/// Whether this is the committee that somebody asked for who doubted the first.
	pub appealed: bool,
	/// The committee.
	pub seats: Vec<RelaySeatView<AccountId>>,
}

#[cfg(test)]
mod tests;
