//! What the pallet stores, and the trait that it calls.

use crate::Config;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{traits::ConstU32, BoundedVec};
use scale_info::TypeInfo;
use trainyard_protocol::{
	blob::{MAX_CHUNK, MAX_PATH},
	job::{Balance, BlockNumber},
};

pub use trainyard_protocol::H256;

/// Path of a chunk: the values of the nodes beside the way from it up to the content hash.
pub type ChunkProof = BoundedVec<H256, ConstU32<MAX_PATH>>;

/// The bytes of one chunk.
pub type ChunkBytes = BoundedVec<u8, ConstU32<MAX_CHUNK>>;

/// A [`Blob`] of a runtime's accounts.
pub type BlobOf<T> = Blob<<T as frame_system::Config>::AccountId>;

/// What an extrinsic brings, as [`DirectUpload`](crate::DirectUpload) finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, TypeInfo)]
pub enum Shipment {
	/// No chunk.
	Ordinary,
	/// A chunk with this `blake2_256` and this value in the tree over its blob, for which no running job
	/// waits.
	Chunk(H256, H256),
	/// The same, for which a running job waits.
	Awaited(H256, H256),
	/// No chunk, but a call that makes way for those for which running jobs wait.
	Urgent,
	/// No chunk, but a move in a dispute, for which a clock runs.
	Move,
}

/// Calls of other pallets that blocks keep room for: those that make way for chunks for which running
/// jobs wait, and moves in disputes. They are preferred, and have a little room in blocks that are full
/// of ordinary transactions, each kind its own.
pub trait UrgentCalls<AccountId, Call> {
	/// Returns whether a call is of this kind, by its name alone.
	fn may_be(call: &Call) -> bool;

	/// Returns whether a job, or a dispute, waits for this call of `who`. It reads one record at most.
	/// That a call fails costs its fee only, so it holds for as few as can be.
	fn is_urgent(who: &AccountId, call: &Call) -> bool;

	/// Returns whether a call that is urgent is a move in a dispute, by its name alone: these have
	/// [`MOVES_ROOM`](crate::MOVES_ROOM).
	fn is_move(_call: &Call) -> bool {
		false
	}
}

impl<AccountId, Call> UrgentCalls<AccountId, Call> for () {
	fn may_be(_: &Call) -> bool {
		false
	}

	fn is_urgent(_: &AccountId, _: &Call) -> bool {
		false
	}
}

/// The running extrinsic's own call is an upload that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Marker {
	/// Index of the extrinsic.
	pub extrinsic: u32,
	/// `blake2_256` of the chunk.
	pub hash: H256,
	/// Its value as a node of BLAKE3's tree over the blob.
	pub value: H256,
}

/// Where a stored chunk stands.
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
pub enum Place {
	/// Authors are asked for it: it is at this place of the list.
	Listed(u32),
	/// An author could not show it. Each block asks for one of these, at no loss.
	Doubted,
	/// Nobody showed it for [`LostAfter`](crate::Config::LostAfter) blocks. Nobody is asked for it, and
	/// anyone may upload it again.
	Lost,
}

/// The record of a stored chunk.
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
pub struct Chunk {
	/// Its `blake2_256`, under which nodes have it.
	pub hash: H256,
	/// Its value as a node of BLAKE3's tree over the blob: what an opening of a KiB of it leads to.
	pub value: H256,
	/// Where it stands.
	pub place: Place,
}

/// An entry of the list of chunks that authors are asked for.
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
pub struct Slot {
	/// Root of the blob.
	pub root: H256,
	/// Index of the chunk.
	pub index: u32,
	/// Its length in bytes.
	pub length: u32,
}

/// A chunk that an author could not show, and nobody since.
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
pub struct Doubt {
	/// Root of the blob.
	pub root: H256,
	/// Index of the chunk.
	pub index: u32,
	/// The block whose author could not show it.
	pub since: BlockNumber,
}

/// What the present block asks its author for, and what of that was shown.
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
pub struct Draw {
	/// From which everything is drawn.
	pub seed: H256,
	/// Root and index of the chunk without which the author has no reward.
	pub drawn: Option<(H256, u32)>,
	/// Root and index of a doubted chunk.
	pub doubted: Option<(H256, u32)>,
	/// Whether the author has answered, with whatever.
	pub answered: bool,
	/// Whether it showed the chunk that was drawn.
	pub shown: bool,
}

/// A registered blob.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Blob<AccountId> {
	/// Who registered it and holds the deposit.
	pub owner: AccountId,
	/// Length in bytes.
	pub size: u64,
	/// BLAKE3 hash of its bytes.
	pub content: H256,
	/// Number of its chunks.
	pub chunks: u32,
	/// How many of them have a record in `Chunks`.
	pub stored: u32,
	/// How many of these are lost.
	pub lost: u32,
	/// What is held of the owner for its bytes.
	pub deposit: Balance,
	/// What is held of the owner for its time, beside that.
	pub rent: Balance,
	/// The block from which on its time counts: that of its registration.
	pub since: BlockNumber,
	/// For how many blocks it is kept from its completion on.
	pub period: BlockNumber,
	/// Last block of its retention, or of the wait for its next chunk.
	pub expires: BlockNumber,
	/// Last block in which its owner cannot remove it, because a job named it.
	pub kept: BlockNumber,
	/// While it is removed: chunk records below this index are gone.
	pub removing: Option<u32>,
}

impl<AccountId> Blob<AccountId> {
	/// Returns whether every chunk is stored and none was dropped since.
	pub fn is_complete(&self) -> bool {
		self.removing.is_none() && self.stored == self.chunks
	}
}

/// From which other one a blob descends.
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
pub struct Version {
	/// Root of that one.
	pub parent: H256,
	/// One more than its number; 1 where it descends from none.
	pub number: u32,
}

/// Called for blobs whose last missing chunk was stored.
pub trait OnBlobComplete {
	/// Called when the blob with this root is complete. The work is small and constant.
	fn blob_complete(root: H256);
}

impl OnBlobComplete for () {
	fn blob_complete(_: H256) {}
}

/// Returns the deposit for a blob of `size` bytes; `None` on overflow.
pub(crate) fn deposit_for<T: Config>(size: u64) -> Option<Balance> {
	use frame_support::traits::Get;
	T::DepositPerByte::get().checked_mul(u128::from(size))?.checked_add(T::DepositBase::get())
}
