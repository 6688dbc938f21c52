//! The requests of the worker to the chain: its runtime API, accounts, and chunks of models.

use super::{
	client::Chain, AccountId32, AssignmentView, BlobView, ChainError, FinalityView, JobView,
	ListingView, ProjectView, RelayView, ReportView, StoredView, TrainerView, VersionView,
};
use codec::Decode;
use std::{collections::BTreeSet, future::Future};
use subxt::rpcs::client::rpc_params;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	drill::{ProjectId, UnitOutcome},
	job::{Balance, Terms},
	retention::KeepingView,
	stint::StintView,
	views::{ChunkValues, MarketView, QuoteView, RecordView, VerifierView, MAX_VERSIONS},
	watch::WatchView,
	JobId, H256,
};

/// Jobs in the answer to one request.
const JOBS_AT_ONCE: u32 = 256;
/// Results of a project in the answer to one request.
const RESULTS_AT_ONCE: u32 = 256;
/// Entries of other lists that are asked for at once.
const ENTRIES_AT_ONCE: u32 = 256;

/// An account's balances, in units of the currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Account {
	/// Transactions sent so far.
	pub nonce: u32,
	/// Free balance.
	#[serde(with = "trainyard_program::text::decimal")]
	pub free: Balance,
	/// Held balance: bonds, escrow, deposits.
	#[serde(with = "trainyard_program::text::decimal")]
	pub reserved: Balance,
	/// Part that may not be spent.
	#[serde(with = "trainyard_program::text::decimal")]
	pub frozen: Balance,
}

/// Layout of `System.Account` in storage.
#[derive(Decode)]
pub(super) struct AccountInfo {
	nonce: u32,
	_consumers: u32,
	_providers: u32,
	_sufficients: u32,
	free: u128,
	reserved: u128,
	frozen: u128,
	_flags: u128,
}

impl From<AccountInfo> for Account {
	fn from(info: AccountInfo) -> Self {
		let AccountInfo { nonce, free, reserved, frozen, .. } = info;
		Self { nonce, free, reserved, frozen }
	}
}

impl Chain {
	/// Returns the balances of `who` at the best block; zeros for an account that does not exist.
	pub async fn account(&self, who: &AccountId32) -> Result<Account, ChainError> {
		let Some(bytes) = self.entry("System", "Account", who).await? else {
			return Ok(Account::default());
		};
		let info = AccountInfo::decode(&mut &bytes[..]).map_err(|e| ChainError::Unreadable {
			method: "System.Account".into(),
			reason: e.to_string(),
		})?;
		Ok(info.into())
	}

	/// Returns the session keys that `who` has set, encoded, at the best block.
	pub async fn session_keys(&self, who: &AccountId32) -> Result<Option<Vec<u8>>, ChainError> {
		self.entry("Session", "NextKeys", who).await
	}

	/// Returns job `id`.
	pub async fn job(&self, id: JobId) -> Result<Option<JobView>, ChainError> {
		self.api("job", id, None).await
	}

	/// Returns all jobs that have not ended, at block `at`, by number. A node returns a part at a
	/// time.
	pub async fn active_jobs(&self, at: H256) -> Result<Vec<JobView>, ChainError> {
		let ask = |last| self.api("active_jobs_after", (last, JOBS_AT_ONCE), Some(at));
		in_parts(JOBS_AT_ONCE, |job: &JobView| job.id, ask).await
	}

	/// Returns the least audit fee for these terms; `None` if specification or terms are out of
	/// range.
	pub async fn audit_fee(
		&self,
		spec: &JobSpec,
		terms: &Terms,
	) -> Result<Option<Balance>, ChainError> {
		self.api("audit_fee", (spec, terms), None).await
	}

	/// Returns the newest `count` jobs, newest first.
	pub async fn recent_jobs(&self, count: u32) -> Result<Vec<JobView>, ChainError> {
		self.api("recent_jobs", count, None).await
	}

	/// Returns all trainers, the strongest first; equally strong ones are in the order of accounts. A node
	/// returns a part at a time.
	pub async fn trainers(&self) -> Result<Vec<TrainerView>, ChainError> {
		let ask = |last| self.api("trainers", (last, ENTRIES_AT_ONCE), None);
		let mut all = in_pages(ENTRIES_AT_ONCE, |one: &TrainerView| one.account, ask).await?;
		all.sort_by(|a, b| b.ecp.cmp(&a.ecp).then_with(|| a.account.cmp(&b.account)));
		Ok(all)
	}

	/// Returns one trainer.
	pub async fn trainer(&self, who: &AccountId32) -> Result<Option<TrainerView>, ChainError> {
		self.api("trainer", who, None).await
	}

	/// Returns all verifiers that can be drawn and their bonds.
	pub async fn verifiers(&self) -> Result<Vec<(AccountId32, Balance)>, ChainError> {
		self.api("verifiers", (), None).await
	}

	/// Returns the relays about results of a job that run at block `at`, by number.
	pub async fn relays_of(&self, job: JobId, at: H256) -> Result<Vec<RelayView>, ChainError> {
		self.api("relays_of", job, Some(at)).await
	}

	/// Returns where an account stands as a verifier; `None` without a bond.
	pub async fn verifier(&self, who: &AccountId32) -> Result<Option<VerifierView>, ChainError> {
		self.api("verifier", who, None).await
	}

	/// Returns what an account did in each role in which it did something.
	pub async fn reputation(&self, who: &AccountId32) -> Result<Vec<RecordView>, ChainError> {
		self.api("reputation", who, None).await
	}

	/// Returns how many look at results of others, and what one more may expect.
	pub async fn watchers(&self) -> Result<WatchView, ChainError> {
		self.api("watchers", (), None).await
	}

	/// Returns all offers, the cheapest first. A node returns a part at a time.
	pub async fn listings(&self) -> Result<Vec<ListingView>, ChainError> {
		let ask = |last| self.api("listings", (last, ENTRIES_AT_ONCE), None);
		let mut all = in_pages(ENTRIES_AT_ONCE, |one: &ListingView| one.trainer, ask).await?;
		all.sort_by(|a, b| {
			a.price_per_ut.cmp(&b.price_per_ut).then_with(|| a.trainer.cmp(&b.trainer))
		});
		Ok(all)
	}

	/// Returns the blob with this root.
	pub async fn blob(&self, root: H256) -> Result<Option<BlobView>, ChainError> {
		self.api("blob", root, None).await
	}

	/// Returns the blob with this root, at block `at`.
	pub async fn blob_at(&self, root: H256, at: H256) -> Result<Option<BlobView>, ChainError> {
		self.api("blob", root, Some(at)).await
	}

	/// Returns what keeping the blob with this root costs, and when it ends.
	pub async fn keeping(&self, root: H256) -> Result<Option<KeepingView>, ChainError> {
		self.api("keeping", root, None).await
	}

	/// Returns all blobs, by root. A node returns a part at a time.
	pub async fn stored_blobs(&self) -> Result<Vec<StoredView>, ChainError> {
		let ask = |last| self.api("stored", (last, ENTRIES_AT_ONCE), None);
		let mut all = in_pages(ENTRIES_AT_ONCE, |one: &StoredView| one.root, ask).await?;
		all.sort_by_key(|one| one.root);
		Ok(all)
	}

	/// Returns the blob `root` and those that it descends from, the newest first, `most` at most. Ends at
	/// one that is not on chain, or was registered again since, whatever a node says: numbers fall.
	pub async fn versions(&self, root: H256, most: usize) -> Result<Vec<VersionView>, ChainError> {
		let mut all: Vec<VersionView> = Vec::new();
		let mut next = Some(root);
		while let Some(root) = next.take().filter(|_| all.len() < most) {
			let part: Vec<VersionView> = self.api("versions", (root, MAX_VERSIONS), None).await?;
			let is_full = part.len() >= MAX_VERSIONS as usize;
			for version in part {
				let follows = all.last().is_none_or(|last| {
					last.parent == Some(version.root) && version.number < last.number
				});
				if !follows || all.len() >= most {
					return Ok(all);
				}
				all.push(version);
			}
			next = all.last().filter(|_| is_full).and_then(|last| last.parent);
		}
		Ok(all)
	}

	/// Returns the values of chunks `first` to at most `first + count` of the blob `root` in the tree
	/// over its content, with its size, as the node computes them from the bytes that it has; `None`
	/// where the chain has no such blob. A node returns at most
	/// [`VALUES_AT_ONCE`](trainyard_protocol::blob::VALUES_AT_ONCE), and none past the last chunk.
	pub async fn chunk_values(
		&self,
		root: H256,
		first: u32,
		count: u32,
	) -> Result<Option<ChunkValues>, ChainError> {
		let root = subxt::utils::H256(root.0);
		self.rpc("trainyard_chunkValues", rpc_params![root, first, count]).await
	}

	/// Returns all drilling projects on record, by number. A node returns a part at a time.
	pub async fn drilling_projects(&self) -> Result<Vec<ProjectView>, ChainError> {
		let ask = |last| self.api("drilling_projects", (last, ENTRIES_AT_ONCE), None);
		let mut all = in_pages(ENTRIES_AT_ONCE, |project: &ProjectView| project.id, ask).await?;
		all.sort_by_key(|project| project.id);
		Ok(all)
	}

	/// Returns the drilling projects that are in review or active at block `at`, by number.
	pub async fn drilling_open_projects(&self, at: H256) -> Result<Vec<ProjectView>, ChainError> {
		self.api("drilling_open_projects", (), Some(at)).await
	}

	/// Returns the projects of which `who`, in the pool of drillers or waiting, computes units at block
	/// `at`; none of anybody else.
	pub async fn drilling_chosen(
		&self,
		who: &AccountId32,
		at: H256,
	) -> Result<Vec<ProjectId>, ChainError> {
		self.api("drilling_chosen", who, Some(at)).await
	}

	/// Returns the drilling project with this number.
	pub async fn drilling_project(&self, id: ProjectId) -> Result<Option<ProjectView>, ChainError> {
		self.api("drilling_project", id, None).await
	}

	/// Returns the result of one unit of a project, once it is agreed on and kept.
	pub async fn drilling_result(
		&self,
		id: ProjectId,
		index: u32,
	) -> Result<Option<UnitOutcome>, ChainError> {
		let found: Vec<UnitOutcome> =
			self.api("drilling_results", (id, index.checked_sub(1), 1u32), None).await?;
		Ok(found.into_iter().find(|outcome| outcome.index == index))
	}

	/// Returns all results of a project, by index. A node returns a part at a time.
	pub async fn drilling_results(&self, id: ProjectId) -> Result<Vec<UnitOutcome>, ChainError> {
		let ask = |last| self.api("drilling_results", (id, last, RESULTS_AT_ONCE), None);
		in_parts(RESULTS_AT_ONCE, |result: &UnitOutcome| result.index, ask).await
	}

	/// Returns the unit that `who`, a driller, has at block `at`, while there is something to do.
	pub async fn drilling_assignment(
		&self,
		who: &AccountId32,
		at: H256,
	) -> Result<Option<AssignmentView>, ChainError> {
		self.api("drilling_assignment", who, Some(at)).await
	}

	/// Returns the units that `who`, a verifier, must recompute at block `at`. There are none on a
	/// chain without drilling.
	pub async fn drilling_checks(
		&self,
		who: &AccountId32,
		at: H256,
	) -> Result<Vec<AssignmentView>, ChainError> {
		match self.api("drilling_check", who, Some(at)).await {
			Err(e) if e.is_missing_api() => Ok(Vec::new()),
			result => result,
		}
	}

	/// Returns the pool of drillers at block `at`.
	pub async fn drilling_pool(&self, at: H256) -> Result<Vec<AccountId32>, ChainError> {
		self.api("drilling_pool", (), Some(at)).await
	}

	/// Returns the stint that `who` is in at block `at`.
	pub async fn stint(
		&self,
		who: &AccountId32,
		at: H256,
	) -> Result<Option<StintView>, ChainError> {
		self.api("stint", who, Some(at)).await
	}

	/// Returns the report of `who` that is not settled at block `at`.
	pub async fn stint_report(
		&self,
		who: &AccountId32,
		at: H256,
	) -> Result<Option<ReportView>, ChainError> {
		self.api("stint_report", who, Some(at)).await
	}

	/// Returns the reports in whose check `who`, a verifier, sits at block `at`.
	pub async fn stint_checks(
		&self,
		who: &AccountId32,
		at: H256,
	) -> Result<Vec<ReportView>, ChainError> {
		self.api("stint_checks", who, Some(at)).await
	}

	/// Returns what posting this job would come to; `None` if the chain would refuse it.
	pub async fn quote(
		&self,
		spec: &JobSpec,
		terms: &Terms,
	) -> Result<Option<QuoteView>, ChainError> {
		self.api("quote", (spec, terms), None).await
	}

	/// Returns what training costs now.
	pub async fn market(&self) -> Result<MarketView, ChainError> {
		self.api("market", (), None).await
	}

	/// Returns what the chain knows of its own finality, and what each authority said of it. `None` of a
	/// chain that does not say it.
	pub async fn finality(&self) -> Result<Option<FinalityView>, ChainError> {
		match self.api("finality", (), None).await {
			Err(e) if e.is_missing_api() => Ok(None),
			result => result.map(Some),
		}
	}

	/// Returns the bytes of chunk `index` of the blob `root`, if the node has them.
	pub async fn model_chunk(&self, root: H256, index: u32) -> Result<Option<Vec<u8>>, ChainError> {
		let method = "trainyard_modelChunk";
		let hex: Option<String> =
			self.rpc(method, rpc_params![subxt::utils::H256(root.0), index]).await?;
		hex.map(|text| {
			hex::decode(text.trim_start_matches("0x")).map_err(|e| ChainError::Unreadable {
				method: method.into(),
				reason: e.to_string(),
			})
		})
		.transpose()
	}
}

/// Returns all entries that a node returns in parts of at most `most`, in the order of a number. It
/// asks for the entries after the last number until a part is not full.
async fn in_parts<T, F>(
	most: u32,
	number: impl Fn(&T) -> u32,
	ask: impl Fn(Option<u32>) -> F,
) -> Result<Vec<T>, ChainError>
where
	F: Future<Output = Result<Vec<T>, ChainError>>,
{
	let mut all = Vec::<T>::new();
	loop {
		let last = all.last().map(&number);
		let more = ask(last).await?;
		let full = more.len() >= most as usize;
		// A node that repeats itself must not keep us here for ever.
		all.extend(more.into_iter().filter(|one| last.is_none_or(|last| number(one) > last)));
		if !full || all.last().map(&number) == last {
			return Ok(all);
		}
	}
}

/// Returns all entries that a node returns in parts of at most `most`, in an order of its own. It asks
/// for the entries after the last key until a part is not full.
async fn in_pages<T, K, F>(
	most: u32,
	key: impl Fn(&T) -> K,
	ask: impl Fn(Option<K>) -> F,
) -> Result<Vec<T>, ChainError>
where
	K: Ord,
	F: Future<Output = Result<Vec<T>, ChainError>>,
{
	let (mut all, mut known) = (Vec::<T>::new(), BTreeSet::new());
	loop {
		let more = ask(all.last().map(&key)).await?;
		let full = more.len() >= most as usize;
		let before = all.len();
		all.extend(more.into_iter().filter(|one| known.insert(key(one))));
		// A node that repeats itself must not keep us here for ever.
		if !full || all.len() == before {
			return Ok(all);
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::fake::{self, FakeNode};
	use codec::{DecodeAll, Encode};
	use trainyard_protocol::job::JobState;

	#[tokio::test]
	async fn all_jobs_are_asked_for_in_parts() {
		let of = |count: u32| {
			let jobs = |after: Option<JobId>, most: u32| -> Vec<JobView> {
				let from = after.map_or(0, |after| after + 1);
				(from..)
					.take(most as usize)
					.map(|id| JobView { id, ..fake::job(JobState::Open) })
					.collect()
			};
			FakeNode::new(move |method, arguments, _| {
				assert_eq!(method, "TrainyardApi_active_jobs_after");
				let (after, most) = <(Option<JobId>, u32)>::decode(&mut &*arguments).unwrap();
				let left = count - after.map_or(0, |after| after + 1);
				Ok(jobs(after, most.min(left)).encode())
			})
		};
		for count in [0, 1, JOBS_AT_ONCE - 1, JOBS_AT_ONCE, 2 * JOBS_AT_ONCE + 3] {
			let jobs = of(count).chain().await.active_jobs(H256::zero()).await.unwrap();
			let numbers: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
			assert_eq!(numbers, (0..count).collect::<Vec<_>>());
		}
		// A node that always returns the same part is not followed for ever.
		let same: Vec<JobView> =
			(0..JOBS_AT_ONCE).map(|id| JobView { id, ..fake::job(JobState::Open) }).collect();
		let stuck = FakeNode::new(move |_, _, _| Ok(same.encode())).chain().await;
		assert_eq!(stuck.active_jobs(H256::zero()).await.unwrap().len(), JOBS_AT_ONCE as usize);
	}

	#[tokio::test]
	async fn a_chain_says_who_says_what_of_finality_or_that_it_cannot() {
		use trainyard_protocol::views::SaidView;
		let said = SaidView { account: AccountId32([4; 32]), weight: 7, said: Some(30) };
		let view = FinalityView { height: 29, authorities: vec![said] };
		let known = view.encode();
		let node = FakeNode::new(move |method, _, _| {
			assert_eq!(method, "TrainyardApi_finality");
			Ok(known.clone())
		});
		assert_eq!(node.chain().await.finality().await.unwrap(), Some(view));
		let older = FakeNode::new(|_, _, _| {
			Err("Execution failed: Exported method TrainyardApi_finality is not found")
		});
		assert_eq!(older.chain().await.finality().await.unwrap(), None);
		let pruned = FakeNode::new(|_, _, _| Err("State already discarded"));
		assert!(pruned.chain().await.finality().await.is_err());
	}

	#[test]
	fn accounts_decode_from_the_layout_of_the_system_pallet() {
		let bytes = (7u32, 1u32, 2u32, 0u32, 10u128, 20u128, 3u128, 1u128 << 127).encode();
		let info = AccountInfo::decode_all(&mut &bytes[..]).unwrap();
		assert_eq!((info.nonce, info.free, info.reserved, info.frozen), (7, 10, 20, 3));
	}
}
