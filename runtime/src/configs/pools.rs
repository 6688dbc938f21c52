//! Pools of claims.

use super::market::DAYS;
use crate::{Balance, Balances, Reputation, Runtime, TaskMarket, TRY};
use frame_support::{
	parameter_types,
	traits::{ConstU128, ConstU32},
	PalletId,
};

parameter_types! {
	/// From which the accounts of pools follow.
	pub const PoolAccounts: PalletId = PalletId(*b"ty/pools");
}

/// Least that a member puts in: fifty times what a record of as many bytes has as its deposit elsewhere.
const MIN_STAKE: Balance = 10 * TRY;

impl pallet_pools::Config for Runtime {
	type Currency = Balances;
	type Claims = TaskMarket;
	type Reputation = Reputation;
	type PalletId = PoolAccounts;
	type MinStake = ConstU128<MIN_STAKE>;
	// An hour at 6 s, and a month.
	type MinPeriod = ConstU32<600>;
	type MaxPeriod = ConstU32<{ 30 * DAYS }>;
	// A day for members to leave.
	type Rest = ConstU32<DAYS>;
	type WeightInfo = pallet_pools::weights::SubstrateWeight<Runtime>;
}
