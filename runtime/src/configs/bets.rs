//! Bets on results.

use super::{
	market::DAYS,
	money::{state_deposit, Jackpot},
	system::MAX_BLOCK_WEIGHT,
};
use crate::{bets::AllResults, Balance, Balances, Runtime, RuntimeHoldReason, MILLIUNIT};
use frame_support::{parameter_types, traits::ConstU32, weights::Weight};
use sp_runtime::Perbill;

parameter_types! {
	/// A fiftieth of a block may go into bets at its beginning: a look at one takes about a fifth of that.
	pub BetWeight: Weight = Perbill::from_percent(2) * MAX_BLOCK_WEIGHT;
	/// Least stake of a side: what moving it costs is a small part of it.
	pub const MinBet: Balance = 100 * MILLIUNIT;
	/// Deposit for the record of an offer, with its panel and votes, its book and its place in lists.
	pub const OfferDeposit: Balance = state_deposit(6, 1_000);
	/// Deposit for the record of a bet.
	pub const BetDeposit: Balance = state_deposit(3, 300);
}

impl pallet_bets::Config for Runtime {
	type Currency = Balances;
	type RuntimeHoldReason = RuntimeHoldReason;
	type Results = AllResults;
	type Jackpot = Jackpot;
	type ServiceWeight = BetWeight;
	// An hour at 6 s.
	type PollBlocks = ConstU32<600>;
	// With 40 % of the blocks somebody keeps a transaction out of so many, one after the other, once in ten thousand
	// tries: 0.4^10.
	type LateBlocks = ConstU32<10>;
	type MaxBlocks = ConstU32<{ 30 * DAYS }>;
	type MinStake = MinBet;
	type OfferDeposit = OfferDeposit;
	type BetDeposit = BetDeposit;
	type WeightInfo = pallet_bets::weights::SubstrateWeight<Runtime>;
}
