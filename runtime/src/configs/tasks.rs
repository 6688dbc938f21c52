//! Deterministic tasks.

use super::{
	market::{MinPeriod, DAYS},
	money::state_deposit,
	periods::Patience,
	system::MAX_BLOCK_WEIGHT,
};
use crate::{
	Balance, Balances, Hashrate, ModelStorage, Runtime, RuntimeHoldReason, Verification, MILLIUNIT,
	TRY,
};
use frame_support::{
	parameter_types,
	traits::{ConstU32, Get},
	weights::Weight,
};
use sp_runtime::Perbill;
use trainyard_task::Bounds;
use trainyard_task_vm::MAX_FUEL;

/// Least deposit of a replica, and what a challenge puts at stake. Executing a step costs 5 TRY at most where
/// blocks are not full, and half of this is shared by eight at most.
const DEPOSIT: Balance = 100 * TRY;
/// Fuel that any machine executes in a block by an interpreter. It takes 0.4 ns for a unit
/// (`tools/task-referee/run`): a quarter of 6 s.
const BLOCK_FUEL: u64 = 4_000_000_000;
/// Bytes of records that are stored in a block, as of models.
const BLOCK_BYTES: u32 = 3 * 512 * 1024;
/// Least fee of an audit for a million units of fuel: what 0.4 ms of a machine earn that trains 2 GFLOP in a
/// second at 1,000 TRY for 432 GFLOP.
const FUEL_PRICE: Balance = 2 * MILLIUNIT;

/// What a task may ask for and offer.
pub struct TaskBounds;

impl Get<Bounds> for TaskBounds {
	fn get() -> Bounds {
		Bounds {
			fuel: MAX_FUEL,
			block_fuel: BLOCK_FUEL,
			block_bytes: BLOCK_BYTES,
			fuel_price: FUEL_PRICE,
			deposit: DEPOSIT,
			least: MinPeriod::get(),
			window: Patience::get(),
			most: 7 * DAYS,
		}
	}
}

parameter_types! {
	/// A twentieth of a block may go into tasks at its beginning.
	pub TasksWeight: Weight = Perbill::from_percent(5) * MAX_BLOCK_WEIGHT;
	/// Deposit for the record of a task, with nine short outputs.
	pub const TaskRecord: Balance = state_deposit(24, 44_000);
}

impl pallet_tasks::Config for Runtime {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Blobs = ModelStorage;
	type Verifiers = Verification;
	type Beacon = Hashrate;
	type Referee = crate::tasks::Machine;
	type Bounds = TaskBounds;
	type ServiceWeight = TasksWeight;
	type MoveBlocks = Patience;
	type Moves = crate::Court;
	type RetentionBlocks = ConstU32<{ 7 * DAYS }>;
	type RecordDeposit = TaskRecord;
	type WeightInfo = pallet_tasks::weights::SubstrateWeight<Runtime>;
}
