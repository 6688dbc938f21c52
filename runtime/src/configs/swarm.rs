//! Swarms.

use super::{
	market::DAYS, money::state_deposit, periods::AggregateWindow, system::MAX_BLOCK_WEIGHT,
};
use crate::{
	Balance, Balances, Hashrate, ModelStorage, Runtime, RuntimeHoldReason, TaskMarket, MILLIUNIT,
	TRY,
};
use frame_support::{parameter_types, traits::ConstU32, weights::Weight};
use sp_runtime::Perbill;

parameter_types! {
	/// A tenth of a block may go into swarms at its beginning.
	pub SwarmWeight: Weight = Perbill::from_percent(10) * MAX_BLOCK_WEIGHT;
	/// Least fee of a claim: what it costs to use a slice up for nothing.
	pub const MinClaimFee: Balance = 100 * MILLIUNIT;
	/// Least deposit of a challenge. Whoever doubts what is true, and so holds up a round, loses it.
	pub const SwarmChallenge: Balance = 5 * TRY;
	/// Deposit for the record of a peer, with its key, its models and its tickets.
	pub const PeerDeposit: Balance = state_deposit(20, 8_000);
	/// Deposit for the record of a swarm, besides its template and its plan.
	pub const SwarmBase: Balance = state_deposit(6, 4_000);
	/// Deposit for each byte of a record.
	pub const SwarmByte: Balance = state_deposit(0, 1);
}

impl pallet_swarm::Config for Runtime {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Jobs = TaskMarket;
	type Blobs = ModelStorage;
	type Beacon = Hashrate;
	type ServiceWeight = SwarmWeight;
	type PollBlocks = ConstU32<2>;
	type MinBlocks = ConstU32<3>;
	// A week at 6 s.
	// As long as a proposal of a federation can be looked at.
	type MinWindow = AggregateWindow;
	type MaxBlocks = ConstU32<{ 7 * DAYS }>;
	// A year.
	type MaxLife = ConstU32<{ 365 * DAYS }>;
	type RetentionBlocks = ConstU32<{ 7 * DAYS }>;
	type MinClaimFee = MinClaimFee;
	type ChallengeDeposit = SwarmChallenge;
	type PeerDeposit = PeerDeposit;
	type RecordBase = SwarmBase;
	type RecordByte = SwarmByte;
	type WeightInfo = pallet_swarm::weights::SubstrateWeight<Runtime>;
}
