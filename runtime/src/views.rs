//! What [`TrainyardApi`](crate::api::TrainyardApi) tells, put together from what each
//! pallet knows.

use crate::{AccountId, Balance, Hashrate, ModelStorage, TaskMarket, Verification};
use alloc::vec::Vec;
use trainyard_primitives::{
	job::Terms,
	spec::JobSpec,
	views::{BlobView, JobView, ListingView, TrainerView},
	JobId, MicroUt, H256,
};

/// Most jobs told by [`recent_jobs`], whatever is asked.
const MAX_RECENT: u32 = 1_000;

/// The market knows all about a job but its audit.
fn with_audit(mut job: JobView<AccountId>) -> JobView<AccountId> {
	job.audit = Verification::audit_view(job.id);
	job
}

pub fn job(id: JobId) -> Option<JobView<AccountId>> {
	TaskMarket::job_view(id).map(with_audit)
}

pub fn active_jobs() -> Vec<JobView<AccountId>> {
	TaskMarket::active_jobs().into_iter().map(with_audit).collect()
}

pub fn recent_jobs(count: u32) -> Vec<JobView<AccountId>> {
	TaskMarket::recent_jobs(count.min(MAX_RECENT)).into_iter().map(with_audit).collect()
}

pub fn trainers() -> Vec<TrainerView<AccountId>> {
	Hashrate::trainers()
}

pub fn trainer(account: &AccountId) -> Option<TrainerView<AccountId>> {
	Hashrate::trainer(account)
}

pub fn verifiers() -> Vec<(AccountId, Balance)> {
	Verification::verifiers()
}

pub fn listings() -> Vec<ListingView<AccountId>> {
	TaskMarket::listings()
}

pub fn blob(root: H256) -> Option<BlobView<AccountId>> {
	ModelStorage::view(root)
}

pub fn chunk_hash(root: H256, index: u32) -> Option<H256> {
	ModelStorage::chunk_hash(root, index)
}

pub fn deposit(spec: &JobSpec, terms: &Terms) -> Option<(MicroUt, Balance, Balance)> {
	TaskMarket::quote(spec, terms)
}
