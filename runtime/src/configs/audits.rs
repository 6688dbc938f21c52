//! Verifiers and audits.

use super::{market::DAYS, money::Jackpot};
use crate::{
	Balance, Balances, Hashrate, ModelStorage, Runtime, RuntimeHoldReason, TaskMarket, UNIT,
};
use frame_support::{parameter_types, traits::ConstU32};
use sp_runtime::Permill;
use trainyard_primitives::job::BlockNumber;

parameter_types! {
	pub const MinVerifierBond: Balance = 100 * UNIT;
	pub const VerifierUnbonding: BlockNumber = DAYS;
	/// A committee member who vanishes holds an audit up this long: 12 minutes at 6 s.
	pub const CommitBlocks: BlockNumber = 120;
	pub const RevealBlocks: BlockNumber = 30;
	pub const RescueBlocks: BlockNumber = 300;
	pub const AbsentSlash: Permill = Permill::from_percent(1);
	pub const ContrarySlash: Permill = Permill::from_percent(10);
}

impl pallet_verification::Config for Runtime {
	type WeightInfo = pallet_verification::weights::SubstrateWeight<Runtime>;
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Beacon = Hashrate;
	type Observer = TaskMarket;
	type Blobs = ModelStorage;
	type Jackpot = Jackpot;
	type MinBond = MinVerifierBond;
	type UnbondingBlocks = VerifierUnbonding;
	type MaxPool = ConstU32<256>;
	type CommitBlocks = CommitBlocks;
	type RevealBlocks = RevealBlocks;
	type RescueBlocks = RescueBlocks;
	type AbsentSlash = AbsentSlash;
	type ContrarySlash = ContrarySlash;
}
