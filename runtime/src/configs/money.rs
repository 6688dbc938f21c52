//! Balances and fees.

use super::fees::{ByFullness, LengthPrice};
use crate::{
	AccountId, Authorship, Balance, Balances, Runtime, RuntimeEvent, RuntimeFreezeReason,
	RuntimeHoldReason, System, EXISTENTIAL_DEPOSIT, MICROUNIT, MILLIUNIT,
};
use frame_support::{
	parameter_types,
	traits::{
		fungible::{Balanced, Credit},
		ConstU32, ConstU8, Imbalance, OnUnbalanced, VariantCountOf,
	},
	weights::ConstantMultiplier,
	PalletId,
};
use pallet_transaction_payment::{FungibleAdapter, Multiplier};
use sp_runtime::{traits::AccountIdConversion, FixedPointNumber, Perquintill};

parameter_types! {
	/// Least balance that keeps an account.
	pub const ExistentialDeposit: Balance = EXISTENTIAL_DEPOSIT;
	/// The account that collects a part of the block rewards and of what is slashed, to pay for
	/// checking. No key opens it. It exists from genesis.
	pub Jackpot: AccountId = PalletId(*b"ty/jkpot").into_account_truncating();
}

impl pallet_balances::Config for Runtime {
	type RuntimeEvent = RuntimeEvent;
	type RuntimeHoldReason = RuntimeHoldReason;
	type RuntimeFreezeReason = RuntimeFreezeReason;
	type WeightInfo = pallet_balances::weights::SubstrateWeight<Runtime>;
	type Balance = Balance;
	type DustRemoval = ();
	type ExistentialDeposit = ExistentialDeposit;
	type AccountStore = System;
	type ReserveIdentifier = [u8; 8];
	type FreezeIdentifier = RuntimeFreezeReason;
	type MaxLocks = ConstU32<0>;
	type MaxReserves = ConstU32<8>;
	type MaxFreezes = VariantCountOf<RuntimeFreezeReason>;
	type DoneSlashHandler = ();
}

parameter_types! {
	/// Fee for 10^-12 s of execution: 10 units. A plain transfer (about 0.3 ms) costs about
	/// 0.003 TRY, a block full of ordinary transactions about 15 TRY.
	pub const WeightFee: Balance = 10;
	/// Fee for a byte, before the multiplier: a chunk of 1 MiB costs about 0.1 TRY.
	pub const LengthFee: Balance = MICROUNIT / 10;
	/// Blocks a quarter full, by weight or by ordinary bytes, leave the fees as they are.
	pub const TargetBlockFullness: Perquintill = Perquintill::from_percent(25);
	/// How fast fees follow: about a factor of e^(3/4) for a day of full blocks of 6 s.
	pub AdjustmentVariable: Multiplier = Multiplier::saturating_from_rational(75, 1_000_000);
	/// Fees never fall below what this file says,
	pub MinimumMultiplier: Multiplier = Multiplier::from_u32(1);
	/// nor rise above a thousand times that.
	pub MaximumMultiplier: Multiplier = Multiplier::from_u32(1_000);
}

impl pallet_transaction_payment::Config for Runtime {
	type RuntimeEvent = RuntimeEvent;
	type OnChargeTransaction = FungibleAdapter<Balances, BurnFees>;
	type WeightToFee = ConstantMultiplier<Balance, WeightFee>;
	type LengthToFee = LengthPrice;
	type FeeMultiplierUpdate = ByFullness;
	type OperationalFeeMultiplier = ConstU8<5>;
	type WeightInfo = pallet_transaction_payment::weights::SubstrateWeight<Runtime>;
}

/// Fees are burned: an author who was paid them could fill its own blocks for nothing.
/// Tips go to the author, who is free to prefer whoever pays them.
pub struct BurnFees;

impl OnUnbalanced<Credit<AccountId, Balances>> for BurnFees {
	fn on_unbalanceds(mut fees_then_tips: impl Iterator<Item = Credit<AccountId, Balances>>) {
		// Dropping a credit takes it out of the issuance.
		drop(fees_then_tips.next());
		// Most tips are empty. Finding the author costs a look-up, and a deposit of nothing would
		// cost an event.
		let Some(tip) = fees_then_tips.next().filter(|tip| tip.peek() > 0) else { return };
		if let Some(author) = Authorship::author() {
			// A tip too small to open the author's account is burned too.
			drop(Balances::resolve(&author, tip));
		}
	}
}

/// Returns the deposit for `items` entries and `bytes` bytes that an account keeps in the state.
pub const fn state_deposit(items: u32, bytes: u32) -> Balance {
	items as Balance * 10 * MILLIUNIT + bytes as Balance * 100 * MICROUNIT
}
