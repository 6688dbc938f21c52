//! The court of a chain.

use super::{moves::Move, Courtroom, Seen};
use std::sync::Arc;
use trainyard_client::{
	court::{calls, Accusation, Commitment, Defendant, Dispute, DisputeId, Said, Since},
	ChainError, Transactor, TxError,
};
use trainyard_protocol::{job::Balance, JobId, H256};

impl Courtroom for Arc<Transactor> {
	async fn look(&self) -> Result<Seen, ChainError> {
		let head = self.chain().head().await?;
		let now = self.chain().court_moment(&head).await?;
		Ok(Seen { now, disputes: self.chain().disputes(head.hash).await? })
	}

	async fn dispute(&self, id: DisputeId) -> Result<(Since, Option<Dispute>), ChainError> {
		let head = self.chain().head().await?;
		let now = self.chain().court_moment(&head).await?;
		Ok((now, self.chain().dispute(id, head.hash).await?))
	}

	async fn said(&self, defendant: &Defendant) -> Result<Said, ChainError> {
		let head = self.chain().head().await?;
		self.chain().said(defendant, head.hash).await
	}

	async fn is_convicted(&self, defendant: &Defendant) -> Result<bool, ChainError> {
		let head = self.chain().head().await?;
		Ok(self.chain().convicted(defendant, head.hash).await?.is_some())
	}

	async fn send(&self, id: DisputeId, it: &Move) -> Result<(), TxError> {
		// On another fork a dispute of another job may have this number, and stand at such a place.
		let head = self.chain().head().await?;
		self.run(&it.call(id).on(head)).await.map(|_| ())
	}

	fn genesis(&self) -> H256 {
		self.chain().genesis()
	}

	async fn bound(&self, job: JobId) -> Result<Option<Commitment>, ChainError> {
		let at = self.chain().head().await?.hash;
		match self.chain().committed_by(job, self.account(), at).await? {
			Some(id) => self.chain().commitment(id, at).await,
			None => Ok(None),
		}
	}

	async fn free(&self) -> Result<Balance, ChainError> {
		Ok(self.chain().account(self.account()).await?.free)
	}

	async fn commit(&self, job: JobId, hash: &H256) -> Result<(), TxError> {
		self.run(&calls::commit(job, hash)).await.map(|_| ())
	}

	async fn challenge(&self, accusation: &Accusation, salt: &[u8; 32]) -> Result<(), TxError> {
		self.run(&calls::challenge(accusation, salt)).await.map(|_| ())
	}
}
