//! Tickets: what a peer signs for the model of another one.

use super::SwarmId;
use crate::{job::BlockNumber, H256};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use sp_crypto_hashing::blake2_256;

/// Bytes of a signature.
pub const TICKET_BYTES: usize = 64;

/// A promise of a peer: *if the mean of my model and of yours is better than mine, I owe you for it*. Its key
/// signs the digest.
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
	Serialize,
	Deserialize,
)]
#[serde(deny_unknown_fields)]
pub struct Ticket<AccountId> {
	/// The swarm.
	pub swarm: SwarmId,
	/// Who promises.
	pub payer: AccountId,
	/// To whom.
	pub maker: AccountId,
	/// Root of the payer's model.
	pub own: H256,
	/// Root of the maker's model, which it announced.
	pub remote: H256,
	/// The last block in which a claim by it can begin.
	pub expires: BlockNumber,
	/// Keeps promises about the same models apart.
	pub nonce: u32,
}

impl<AccountId: Encode> Ticket<AccountId> {
	/// Returns what the key of the payer signs: `blake2_256(SCALE("trainyard/swarm/ticket/v1", genesis_hash,
	/// ticket))`.
	pub fn digest(&self, genesis: &H256) -> H256 {
		(b"trainyard/swarm/ticket/v1", genesis, self).using_encoded(blake2_256).into()
	}
}
