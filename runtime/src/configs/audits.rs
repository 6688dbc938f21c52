//! Verifiers and audits.

use super::{market::DAYS, money::Jackpot, periods};
use crate::{
	Balance, Balances, Hashrate, ModelStorage, Runtime, RuntimeHoldReason, TaskMarket, TRY,
};
use frame_support::{parameter_types, traits::ConstU32};
use sp_runtime::Permill;
use trainyard_protocol::job::BlockNumber;

parameter_types! {
	/// Smallest bond of a verifier.
	pub const MinVerifierBond: Balance = 100 * TRY;
	/// Longer than the two periods of a verdict can be made, see [`periods`].
	pub const VerifierUnbonding: BlockNumber = 15 * DAYS;
	/// Part of the bond lost by a member of a committee that gives no verdict,
	pub const AbsentSlash: Permill = Permill::from_percent(1);
	/// and by one whose verdict is false.
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
	type MinSeats = ConstU32<3>;
	type CommitBlocks = periods::VerdictCommitBlocks;
	type RevealBlocks = periods::VerdictRevealBlocks;
	type RescueBlocks = periods::RescueBlocks;
	type AbsentSlash = AbsentSlash;
	type ContrarySlash = ContrarySlash;
}
