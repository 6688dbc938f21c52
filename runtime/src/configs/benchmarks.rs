//! What can be benchmarked: our own pallets. Those of the SDK come with weights.

use crate::{
	Bets, Court, Drilling, Federation, Finality, Hashrate, ModelStorage, Pools, Reputation, Sets,
	Stints, Submissions, Swarm, TaskMarket, Tasks, Verification,
};
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
	[pallet_court, Court]
	[pallet_stints, Stints]
	[pallet_finality, Finality]
	[pallet_reputation, Reputation]
	[pallet_federation, Federation]
	[pallet_swarm, Swarm]
	[pallet_sets, Sets]
	[pallet_bets, Bets]
	[pallet_pools, Pools]
	[pallet_tasks, Tasks]
);

/// Returns the benchmarks and the storage that they touch; with `extra` also those that make no
/// weights.
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
