//! Sets of jobs.

use super::{market::DAYS, money::state_deposit, system::MAX_BLOCK_WEIGHT};
use crate::{Balance, Balances, Hashrate, ModelStorage, Runtime, RuntimeHoldReason, TaskMarket};
use frame_support::{parameter_types, traits::ConstU32, weights::Weight};
use sp_runtime::Perbill;

parameter_types! {
	/// A twentieth of a block may go into sets at its beginning: one that posts a member takes about a fiftieth.
	pub SetWeight: Weight = Perbill::from_percent(5) * MAX_BLOCK_WEIGHT;
	/// Deposit for the record of a set, besides that for its bytes.
	pub const SetBase: Balance = state_deposit(4, 500);
	/// Deposit for each byte of a record.
	pub const SetByte: Balance = state_deposit(0, 1);
}

impl pallet_sets::Config for Runtime {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Jobs = TaskMarket;
	type Blobs = ModelStorage;
	type Beacon = Hashrate;
	type ServiceWeight = SetWeight;
	type PollBlocks = ConstU32<2>;
	// A minute at 6 s, and a week.
	type MinShowBlocks = ConstU32<10>;
	type MaxShowBlocks = ConstU32<{ 7 * DAYS }>;
	type RetentionBlocks = ConstU32<{ 30 * DAYS }>;
	type RecordBase = SetBase;
	type RecordByte = SetByte;
	type WeightInfo = pallet_sets::weights::SubstrateWeight<Runtime>;
}
