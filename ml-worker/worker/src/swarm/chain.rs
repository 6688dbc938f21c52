//! The chain as a board.

use super::board::{Board, BoardError};
use std::sync::Arc;
use trainyard_client::{
	blobs, swarm as calls,
	swarm::{Contribution, Payment, PeerView, Said, Signature, SwarmView},
	AccountId32, Call, Transactor,
};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	swarm::{Brought, SwarmId},
	H256,
};

/// A swarm on chain, seen by one account.
#[derive(Clone)]
pub struct OnChain {
	sender: Arc<Transactor>,
	id: SwarmId,
}

impl OnChain {
	/// Looks at swarm `id` with this account.
	pub fn new(sender: Arc<Transactor>, id: SwarmId) -> Self {
		Self { sender, id }
	}

	/// Returns who signs.
	pub fn sender(&self) -> &Transactor {
		&self.sender
	}

	async fn run(&self, call: Call) -> Result<(), BoardError> {
		self.sender.run(&call).await?;
		Ok(())
	}
}

impl Board for OnChain {
	fn me(&self) -> &AccountId32 {
		self.sender.account()
	}

	fn swarm_id(&self) -> SwarmId {
		self.id
	}

	fn genesis(&self) -> H256 {
		self.sender.chain().genesis()
	}

	async fn height(&self) -> Result<BlockNumber, BoardError> {
		Ok(self.sender.chain().head().await?.number)
	}

	async fn last_final(&self) -> Result<BlockNumber, BoardError> {
		Ok(self.sender.chain().finalized().await?.number)
	}

	async fn swarm(&self) -> Result<SwarmView, BoardError> {
		self.sender.chain().swarm(self.id).await?.ok_or(BoardError::Unknown(self.id))
	}

	async fn peers(&self) -> Result<Vec<PeerView>, BoardError> {
		Ok(self.sender.chain().swarm_peers(self.id).await?)
	}

	async fn step(&self, step: u32) -> Result<Vec<Contribution>, BoardError> {
		Ok(self.sender.chain().swarm_step(self.id, step).await?)
	}

	async fn paid(
		&self,
		payer: &AccountId32,
		maker: &AccountId32,
	) -> Result<Vec<H256>, BoardError> {
		Ok(self.sender.chain().swarm_paid(self.id, payer, maker).await?)
	}

	async fn blob(&self, root: H256, limit: u64) -> Result<Vec<u8>, BoardError> {
		Ok(blobs::load(self.sender.chain(), root, limit).await?)
	}

	async fn store(&self, bytes: &[u8]) -> Result<(), BoardError> {
		blobs::store(&self.sender, bytes).await?;
		Ok(())
	}

	async fn join(
		&self,
		key: &H256,
		signature: &Signature,
		roles: u8,
		location: &str,
	) -> Result<(), BoardError> {
		self.run(calls::join(self.id, key, signature, roles, location)).await
	}

	async fn update(&self, roles: u8, location: &str) -> Result<(), BoardError> {
		self.run(calls::update(self.id, roles, location)).await
	}

	async fn announce(&self, root: &H256) -> Result<(), BoardError> {
		self.run(calls::announce(self.id, root)).await
	}

	async fn fund(&self, amount: Balance) -> Result<(), BoardError> {
		self.run(calls::fund(self.id, amount)).await
	}

	async fn pay(&self, payments: &[Payment]) -> Result<(), BoardError> {
		self.run(calls::pay(self.id, payments)).await
	}

	async fn contribute(&self, step: u32, brought: &Brought) -> Result<(), BoardError> {
		self.run(calls::contribute(self.id, step, brought)).await
	}

	async fn vouch(&self, step: u32, list: &H256, vouches: u64) -> Result<(), BoardError> {
		self.run(calls::vouch(self.id, step, list, vouches)).await
	}

	async fn leave(&self) -> Result<(), BoardError> {
		self.run(calls::leave(self.id)).await
	}

	async fn claim(&self, commitment: &H256) -> Result<(), BoardError> {
		self.run(calls::claim(self.id, commitment)).await
	}

	async fn say(&self, number: u32, said: &Said, salt: &[u8; 32]) -> Result<(), BoardError> {
		self.run(calls::say(self.id, number, said, salt)).await
	}
}
