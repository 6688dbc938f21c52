//! Federated rounds.

use super::{
	market::DAYS, money::state_deposit, periods::AggregateWindow, system::MAX_BLOCK_WEIGHT,
};
use crate::{
	Balance, Balances, ModelStorage, Runtime, RuntimeHoldReason, TaskMarket, MILLIUNIT, TRY,
};
use frame_support::{parameter_types, traits::ConstU32, weights::Weight};
use sp_runtime::Perbill;

parameter_types! {
	/// A tenth of a block may go into federations at its beginning: one that posts a part takes a twentieth.
	pub FederationWeight: Weight = Perbill::from_percent(10) * MAX_BLOCK_WEIGHT;
	/// Least fee for an aggregate: what the transactions cost that store a model of a few hundred KiB.
	pub const MinAggregateFee: Balance = 100 * MILLIUNIT;
	/// Deposit of a proposal. Whoever proposes a false one loses it, and half of it goes to whoever shows that.
	pub const ProposalDeposit: Balance = 10 * TRY;
	/// Deposit for the record of a federation, besides its template and its rounds.
	pub const FederationBase: Balance = state_deposit(6, 6_000);
	/// Deposit for each byte of a record.
	pub const FederationByte: Balance = state_deposit(0, 1);
}

impl pallet_federation::Config for Runtime {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Jobs = TaskMarket;
	type Blobs = ModelStorage;
	type ServiceWeight = FederationWeight;
	type Window = AggregateWindow;
	// A day at 6 s.
	type AggregateBlocks = ConstU32<DAYS>;
	type PollBlocks = ConstU32<2>;
	type RetryBlocks = ConstU32<10>;
	type MinRoundBlocks = ConstU32<10>;
	type RetentionBlocks = ConstU32<{ 30 * DAYS }>;
	type MinAggregateFee = MinAggregateFee;
	type ProposalDeposit = ProposalDeposit;
	type RecordBase = FederationBase;
	type RecordByte = FederationByte;
	type WeightInfo = pallet_federation::weights::SubstrateWeight<Runtime>;
}
