//! Where a dispute can stand, and what is said there.
//!
//! Everything here that is stored has a bound, and names are ordered: a [`Place`] is the key of what is
//! kept of a defendant, a [`Stage`] all that a dispute itself consists of.

use bounded_collections::{BoundedVec, ConstU32};
use trainyard_protocol::H256;

pub use trainyard_protocol::accusation::{
	Claimed, End, Leaf, LeafContent, Peaks, Target, MAX_PEAKS,
};

/// Most parts into which a range is divided, and so most digests of a post.
pub const FAN: u32 = 64;
/// Levels of the tree of a content between a node and its parts: `2^LEVELS` is [`FAN`].
pub const LEVELS: u32 = 6;
/// Most tensors of a state: 64 layers of 8 parameters, each with two moments, and two powers of beta.
pub const MAX_TENSORS: u32 = 64 * 8 * 3 + 2;
/// Bytes of a chunk of a content.
pub const MAX_CHUNK: u32 = 1_024;
/// Most results that a step, or a slice of an evaluation, of a job with a court may have: their
/// contents are brought all at once, in 208 KiB.
pub const MAX_RESULTS: u32 = 6_656;
/// Digests of a post.
pub type Roots = BoundedVec<H256, ConstU32<FAN>>;
/// The bytes of a chunk of a content, or none.
pub type ChunkBytes = BoundedVec<u8, ConstU32<MAX_CHUNK>>;
/// The contents of all tensors of a state, in the order of
/// [`lower::state`](trainyard_program::lower::state), or none.
pub type Contents = BoundedVec<H256, ConstU32<MAX_TENSORS>>;

/// Derives what everything has that is stored on chain.
macro_rules! stored {
	($($item:item)*) => {$(
		#[derive(
			Clone,
			Debug,
			PartialEq,
			Eq,
			Encode,
			Decode,
			DecodeWithMemTracking,
			MaxEncodedLen,
			TypeInfo,
		)]
		$item
	)*};
}

/// Derives the same, and what names have.
macro_rules! name {
	($($item:item)*) => {stored! {$(
		#[derive(Copy, PartialOrd, Ord)]
		$item
	)*}};
}

mod place;
mod said;
mod stage;

pub use place::{Moment, Place, Turn, Witness};
pub use said::{Entry, Opened, Opening, Said};
pub use stage::{After, Level, Moved, Next, Outcome, Owner, Piece, Scene, Stage, Subject};

#[cfg(test)]
mod tests {
	use super::*;
	use codec::MaxEncodedLen;

	/// A pallet has 64 disputes of a defendant in its state, and a post for each place.
	#[test]
	fn what_is_stored_is_small() {
		let sizes = [Stage::max_encoded_len(), Place::max_encoded_len(), Opened::max_encoded_len()];
		println!("stage, place, opened: {sizes:?} bytes at most");
		assert!(sizes[0] <= 450 && sizes[1] <= 48 && sizes[2] <= 1_228, "{sizes:?}");
		assert_eq!(1 << LEVELS, FAN);
	}
}
