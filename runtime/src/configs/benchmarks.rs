//! What can be benchmarked: the pallets of our own. The SDK's come with weights.

use crate::{Drilling, Hashrate, ModelStorage, Submissions, TaskMarket, Verification};
use alloc::{string::String, vec::Vec};
use frame_benchmarking::{BenchmarkBatch, BenchmarkConfig, BenchmarkList};
use frame_support::traits::{StorageInfo, StorageInfoTrait, WhitelistedStorageKeys};

frame_benchmarking::define_benchmarks!(
	[pallet_hashrate, Hashrate]
	[pallet_task_market, TaskMarket]
	[pallet_submissions, Submissions]
	[pallet_model_storage, ModelStorage]
	[pallet_verification, Verification]
	[pallet_drilling, Drilling]
);

/// The benchmarks and the storage that they touch; `extra`: those that make no weights too.
pub fn metadata(extra: bool) -> (Vec<BenchmarkList>, Vec<StorageInfo>) {
	let mut list = Vec::new();
	list_benchmarks!(list, extra);
	(list, crate::AllPalletsWithSystem::storage_info())
}

/// Runs what `config` names.
pub fn dispatch(config: BenchmarkConfig) -> Result<Vec<BenchmarkBatch>, String> {
	let whitelist = crate::AllPalletsWithSystem::whitelisted_storage_keys();
	let mut batches = Vec::new();
	let params = (&config, &whitelist);
	add_benchmarks!(params, batches);
	Ok(batches)
}
