//! What a claimant says of its claim.

use super::{ticket::TICKET_BYTES, Count, Ticket};
use crate::{federation::Pieces, H256};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;

/// A signature of a peer's Ed25519 key.
pub type Signature = [u8; TICKET_BYTES];

/// What a claimant says of its claim.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct Said<AccountId> {
	/// Content hash of the file of the model that is better.
	pub content: H256,
	/// The values of the pieces of its tensors.
	pub pieces: Pieces,
	/// What it gets right of the slice.
	pub new: Count,
	/// What the model gets right with which it is compared.
	pub base: Count,
	/// By which a peer owes for it.
	pub promise: Option<Promise<AccountId>>,
}

/// A ticket, with what proves it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct Promise<AccountId> {
	/// The ticket.
	pub ticket: Ticket<AccountId>,
	/// The payer's key signed its digest.
	pub signature: Signature,
	/// Content hash of the file of the payer's model.
	pub own_content: H256,
	/// The values of the pieces of its tensors.
	pub own_pieces: Pieces,
}

/// Which model of a claim.
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
pub enum Which {
	/// The one that is better.
	New,
	/// The payer's.
	Own,
}
