//! What a peer sees and does on chain.

use std::future::Future;
use trainyard_client::{
	blobs::BlobError,
	swarm::{Contribution, Payment, PeerView, Said, Signature, SwarmView},
	AccountId32, ChainError, TxError,
};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	swarm::{Brought, SwarmId},
	H256,
};

/// Says why the board could not be asked, or did not do something.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
	/// The chain cannot be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// A transaction failed.
	#[error(transparent)]
	Tx(#[from] TxError),
	/// A model or a slice cannot be read or stored.
	#[error(transparent)]
	Blob(#[from] BlobError),
	/// There is no such swarm.
	#[error("the chain knows no swarm {0}; ended ones are forgotten after a while")]
	Unknown(SwarmId),
	/// Something else is in the way.
	#[error("{0}")]
	Refused(String),
}

impl BoardError {
	/// Returns whether asking again can never help: this is another chain, or another protocol.
	pub fn is_final(&self) -> bool {
		matches!(self, Self::Chain(e) | Self::Tx(TxError::Chain(e)) if e.is_final())
	}
}

/// What one peer sees and does of one swarm on chain. Calls are made by its account, and return when they took
/// effect.
pub trait Board: Send + Sync + 'static {
	/// Returns the account of the peer.
	fn me(&self) -> &AccountId32;

	/// Returns the number of the swarm.
	fn swarm_id(&self) -> SwarmId;

	/// Returns the genesis hash of the chain.
	fn genesis(&self) -> H256;

	/// Returns the height of the best block.
	fn height(&self) -> impl Future<Output = Result<BlockNumber, BoardError>> + Send;

	/// Returns the height of the last block that is final: no other one takes the place of it or of those below it.
	fn last_final(&self) -> impl Future<Output = Result<BlockNumber, BoardError>> + Send;

	/// Returns the swarm.
	fn swarm(&self) -> impl Future<Output = Result<SwarmView, BoardError>> + Send;

	/// Returns all peers.
	fn peers(&self) -> impl Future<Output = Result<Vec<PeerView>, BoardError>> + Send;

	/// Returns the contributions to an outer step.
	fn step(&self, step: u32)
		-> impl Future<Output = Result<Vec<Contribution>, BoardError>> + Send;

	/// Returns the digests of tickets for which a peer paid this maker, as long as they are remembered: until nobody
	/// can claim by them.
	fn paid(
		&self,
		payer: &AccountId32,
		maker: &AccountId32,
	) -> impl Future<Output = Result<Vec<H256>, BoardError>> + Send;

	/// Returns the bytes of the blob with this root, of at most `limit` bytes.
	fn blob(
		&self,
		root: H256,
		limit: u64,
	) -> impl Future<Output = Result<Vec<u8>, BoardError>> + Send;

	/// Stores a blob.
	fn store(&self, bytes: &[u8]) -> impl Future<Output = Result<(), BoardError>> + Send;

	/// Joins with a key that signed [`joining`](trainyard_protocol::swarm::joining).
	fn join(
		&self,
		key: &H256,
		signature: &Signature,
		roles: u8,
		location: &str,
	) -> impl Future<Output = Result<(), BoardError>> + Send;

	/// Says that roles and location are others now.
	fn update(
		&self,
		roles: u8,
		location: &str,
	) -> impl Future<Output = Result<(), BoardError>> + Send;

	/// Announces a model.
	fn announce(&self, root: &H256) -> impl Future<Output = Result<(), BoardError>> + Send;

	/// Puts more into the purse.
	fn fund(&self, amount: Balance) -> impl Future<Output = Result<(), BoardError>> + Send;

	/// Pays for tickets: all of these, or none.
	fn pay(&self, payments: &[Payment]) -> impl Future<Output = Result<(), BoardError>> + Send;

	/// Commits to a contribution to an outer step.
	fn contribute(
		&self,
		step: u32,
		brought: &Brought,
	) -> impl Future<Output = Result<(), BoardError>> + Send;

	/// Vouches for contributions to an outer step, a bit for each in the order of this list.
	fn vouch(
		&self,
		step: u32,
		list: &H256,
		vouches: u64,
	) -> impl Future<Output = Result<(), BoardError>> + Send;

	/// Leaves, or goes where that was said long enough ago.
	fn leave(&self) -> impl Future<Output = Result<(), BoardError>> + Send;

	/// Commits to a claim.
	fn claim(&self, commitment: &H256) -> impl Future<Output = Result<(), BoardError>> + Send;

	/// Says what claim `number` was about.
	fn say(
		&self,
		number: u32,
		said: &Said,
		salt: &[u8; 32],
	) -> impl Future<Output = Result<(), BoardError>> + Send;
}
