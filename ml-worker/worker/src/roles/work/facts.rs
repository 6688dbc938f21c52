//! What the chain says of the account and of its work, at one block.

use std::collections::BTreeMap;
use trainyard_client::{
	books::{Health, Hold},
	Account, AccountId32, BlobView, Chain, ChainError, Head, JobView, ReportView, TrainerView,
};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	stint::StintView,
	views::VerifierView,
	JobId, H256,
};

/// A part of a deposit that stays locked after a job was settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateLock {
	/// How much.
	pub locked: Balance,
	/// The last block in which the result can be challenged.
	pub until: BlockNumber,
}

/// Blocks for which bonds stay held after their owner left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unbonding {
	/// Of a trainer.
	pub trainer: Option<BlockNumber>,
	/// Of a verifier.
	pub verifier: Option<BlockNumber>,
}

/// What the chain says.
#[derive(Clone, Debug)]
pub struct Facts {
	/// The account.
	pub me: AccountId32,
	/// The block.
	pub best: BlockNumber,
	/// What the node says of itself, if it does.
	pub health: Option<Health>,
	/// Balances.
	pub account: Account,
	/// What is held.
	pub holds: Vec<Hold>,
	/// The account as a trainer.
	pub trainer: Option<TrainerView>,
	/// While it leaves: the height from which its bond is free.
	pub free_at: Option<BlockNumber>,
	/// The account as a verifier.
	pub verifier: Option<VerifierView>,
	/// How long bonds stay.
	pub unbonding: Unbonding,
	/// Jobs that have not ended.
	pub jobs: Vec<JobView>,
	/// What late proof locks, by job.
	pub late: BTreeMap<JobId, LateLock>,
	/// The stint.
	pub stint: Option<StintView>,
	/// The report that is not settled.
	pub report: Option<ReportView>,
	/// Reports in whose check the account sits.
	pub checks: usize,
	/// Blobs of the account.
	pub blobs: Vec<BlobView>,
}

/// Asks for facts, and remembers what does not change.
#[derive(Debug, Default)]
pub struct Asker {
	/// Settled jobs, and what they lock of the account.
	late: BTreeMap<JobId, Option<LateLock>>,
	unbonding: Option<Unbonding>,
}

impl Asker {
	/// Asks for everything at `head`. `blobs` are those that the account may have stored.
	pub async fn facts(
		&mut self,
		chain: &Chain,
		me: AccountId32,
		head: Head,
		blobs: impl IntoIterator<Item = H256>,
	) -> Result<Facts, ChainError> {
		let unbonding = match self.unbonding {
			Some(known) => known,
			None => *self.unbonding.insert(unbonding(chain).await?),
		};
		let mut found = Vec::new();
		for root in blobs {
			let blob = chain.blob(root).await?;
			found.extend(blob.filter(|blob| blob.owner == me));
		}
		Ok(Facts {
			me,
			best: head.number,
			health: chain.health().await.ok(),
			account: chain.account_at(&me, head.hash).await?,
			holds: chain.holds_at(&me, head.hash).await?,
			trainer: chain.trainer(&me).await?,
			free_at: chain.trainer_free_at(&me, head.hash).await?,
			verifier: chain.verifier(&me).await?,
			unbonding,
			jobs: chain.active_jobs(head.hash).await?,
			late: self.late(chain, &me, head).await?,
			stint: chain.stint(&me, head.hash).await?,
			report: chain.stint_report(&me, head.hash).await?,
			checks: chain.stint_checks(&me, head.hash).await?.len(),
			blobs: found,
		})
	}

	/// Returns what settled jobs lock of the account. Each is asked for once.
	async fn late(
		&mut self,
		chain: &Chain,
		me: &AccountId32,
		head: Head,
	) -> Result<BTreeMap<JobId, LateLock>, ChainError> {
		let open = chain.late_jobs(&head).await?;
		self.late.retain(|job, _| open.contains(job));
		for job in open {
			if self.late.contains_key(&job) {
				continue;
			}
			let view = chain.job(job).await?.and_then(|view| view.late);
			let lock = view.and_then(|late| {
				let mine = late.trainers.iter().find(|locked| locked.trainer == *me)?;
				Some(LateLock { locked: mine.locked, until: late.until })
			});
			self.late.insert(job, lock);
		}
		Ok(self.late.iter().filter_map(|(job, lock)| Some((*job, (*lock)?))).collect())
	}
}

async fn unbonding(chain: &Chain) -> Result<Unbonding, ChainError> {
	let blocks = |found: Option<u128>| found.and_then(|blocks| BlockNumber::try_from(blocks).ok());
	Ok(Unbonding {
		trainer: blocks(chain.constant("Hashrate", "UnbondingBlocks").await?),
		verifier: blocks(chain.constant("Verification", "UnbondingBlocks").await?),
	})
}
