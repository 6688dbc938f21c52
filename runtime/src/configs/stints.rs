//! Stints of drilling.

use super::{
	drilling::{CheckFee, ForgerySlash},
	market::DAYS,
	money::{state_deposit, Jackpot},
	system::MAX_BLOCK_WEIGHT,
};
use crate::{Balance, Balances, Hashrate, Runtime, RuntimeHoldReason, Verification};
use frame_support::{parameter_types, traits::ConstU32, weights::Weight};
use sp_runtime::Perbill;
use trainyard_protocol::job::BlockNumber;

parameter_types! {
	/// A fifth of a block may go into the due work of stints at its beginning.
	pub StintsWeight: Weight = Perbill::from_percent(20) * MAX_BLOCK_WEIGHT;
	/// Held for what the state keeps of a driller: its stint, and a report.
	pub const DrillerDeposit: Balance = state_deposit(4, 2_500);
	/// Least blocks of a stint: five minutes at 6 s.
	pub const MinStint: BlockNumber = 50;
	/// Blocks for computing four laps, as for other verdicts.
	pub const SampleBlocks: BlockNumber = 120;
	/// Blocks for opening them where power answers for silence: two hours at 6 s, for a machine that
	/// was restarted.
	pub const OpenBlocks: BlockNumber = 1_200;
}

impl pallet_stints::Config for Runtime {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Drillers = Hashrate;
	type Verifiers = Verification;
	type Beacon = Hashrate;
	type Jackpot = Jackpot;
	type ServiceWeight = StintsWeight;
	type DrillerDeposit = DrillerDeposit;
	type MinPeriod = MinStint;
	type MaxStint = ConstU32<DAYS>;
	type ReportsPerBlock = ConstU32<20>;
	// An hour at 6 s.
	type RetargetBlocks = ConstU32<{ DAYS / 24 }>;
	type CheckBlocks = SampleBlocks;
	type OpenBlocks = OpenBlocks;
	type CheckFee = CheckFee;
	type ForgerySlash = ForgerySlash;
	type WeightInfo = pallet_stints::weights::SubstrateWeight<Runtime>;
}
