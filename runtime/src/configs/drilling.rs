//! Drilling: projects, units, recomputation.

use super::{
	audits::PoolTurnover,
	market::{MinPeriod, DAYS},
	money::{state_deposit, Jackpot},
	periods,
	system::MAX_BLOCK_WEIGHT,
};
use crate::{
	Balance, Balances, Hashrate, ModelStorage, Runtime, RuntimeHoldReason, Verification, TRY,
};
use frame_support::{
	parameter_types,
	traits::{ConstU32, ConstU8},
	weights::Weight,
};
use sp_runtime::{Perbill, Permill};
use trainyard_protocol::job::BlockNumber;

parameter_types! {
	/// A fifth of a block may go into the due work of drilling at its beginning.
	pub DrillingWeight: Weight = Perbill::from_percent(20) * MAX_BLOCK_WEIGHT;
	/// Held for a project, at least: all 64 places take 204,000 TRY of 64 accounts, and more of fewer.
	pub const ProjectDeposit: Balance = 100 * TRY;
	/// Held for each of its units: for the result that the state keeps.
	pub const UnitDeposit: Balance = state_deposit(1, 100);
	/// Bonds that must vote for a project: those of ten trainers with the least bond.
	pub const MinApproval: Balance = 1_000 * TRY;
	/// Most blocks for computing a unit: two hours at 6 s, for 7 minutes of 1,000 MFLOPS at most.
	pub const MaxUnitBlocks: BlockNumber = 1_200;
	/// Blocks for revealing a unit's result.
	pub const UnitReveal: BlockNumber = 30;
	/// Least blocks for recomputing a unit, as for other verdicts.
	pub const UnitCheck: BlockNumber = 120;
	/// Blocks for which a project is active at most: a quarter of a year.
	pub const LifeBlocks: BlockNumber = 90 * DAYS;
	/// Blocks for which a project that ended is kept: a month.
	pub const ProjectRetention: BlockNumber = 30 * DAYS;
	/// Fee of each verifier that recomputes a unit.
	pub const CheckFee: Balance = TRY / 20;
	/// One unit in sixteen is recomputed, unless root wants more.
	pub const LeastCheckShare: Permill = Permill::from_parts(62_500);
	/// Part of the bond lost by each of those who agreed on a false result. On average it is lost
	/// once in sixteen forged units: with the least bond that is 50 TRY, for at most 16 ut.
	pub const ForgerySlash: Permill = Permill::from_percent(50);
}

impl pallet_drilling::Config for Runtime {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Drillers = Hashrate;
	type Verifiers = Verification;
	type Blobs = ModelStorage;
	type Beacon = Hashrate;
	type Jackpot = Jackpot;
	type ServiceWeight = DrillingWeight;
	type ProjectDeposit = ProjectDeposit;
	type UnitDeposit = UnitDeposit;
	type MaxProjects = ConstU32<64>;
	type MaxOwnProjects = ConstU32<4>;
	type LifeBlocks = LifeBlocks;
	type MaxUnits = ConstU32<10_000>;
	type ReviewBlocks = periods::ReviewBlocks;
	type MinApproval = MinApproval;
	type MinCommitBlocks = MinPeriod;
	type MaxCommitBlocks = MaxUnitBlocks;
	type RevealBlocks = UnitReveal;
	type CheckBlocks = UnitCheck;
	type KeepBlocks = ProjectRetention;
	type MaxAttempts = ConstU8<3>;
	type MaxDrillers = ConstU32<512>;
	type TurnoverBlocks = ConstU32<DAYS>;
	type TurnoverShare = PoolTurnover;
	// A sixteenth of a full pool.
	type FreeInflow = ConstU32<32>;
	// An hour at 6 s: for restarts.
	type ReturnBlocks = ConstU32<{ DAYS / 24 }>;
	type MaxGroups = ConstU32<32>;
	type CheckShare = periods::CheckShare;
	type CheckFee = CheckFee;
	type ForgerySlash = ForgerySlash;
	type WeightInfo = pallet_drilling::weights::SubstrateWeight<Runtime>;
}
