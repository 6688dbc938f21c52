//! Who makes blocks: BABE, GRANDPA and sessions, all fed by pallet-hashrate.

use super::money::Jackpot;
use crate::{
	AccountId, Babe, Balance, Balances, Hashrate, Runtime, RuntimeEvent, RuntimeHoldReason,
	Session, Timestamp, UNIT,
};
use alloc::vec::Vec;
use frame_support::{
	parameter_types,
	traits::{ConstU32, ConstU64},
};
use pallet_hashrate::authorities::{AuthorVrf, BlockAuthor};
use sp_runtime::{
	impl_opaque_keys,
	traits::{ConvertInto, OpaqueKeys},
	Permill,
};
use trainyard_primitives::job::BlockNumber;

/// Keys of BABE with the weights of pallet-hashrate.
pub type WeightedBabe = pallet_hashrate::authorities::WeightedBabe<Runtime>;
/// Keys of GRANDPA with the weights of pallet-hashrate.
pub type WeightedGrandpa = pallet_hashrate::authorities::WeightedGrandpa<Runtime>;

impl_opaque_keys! {
	/// The keys by which a node acts for an authority.
	pub struct SessionKeys {
		/// Makes blocks.
		pub babe: WeightedBabe,
		/// Votes on finality.
		pub grandpa: WeightedGrandpa,
	}
}

parameter_types! {
	/// Most authorities of a session.
	pub const MaxAuthorities: u32 = 100;
	/// Held while an account has session keys on record.
	pub const KeyDeposit: Balance = UNIT;
	/// Smallest bond of a trainer.
	pub const MinBond: Balance = 100 * UNIT;
	/// A day of blocks of 6 s, far longer than two sessions.
	pub const UnbondingBlocks: BlockNumber = 14_400;
	/// Minted in every block.
	pub const BlockReward: Balance = UNIT;
	/// Of that, to the jackpot.
	pub const JackpotShare: Permill = Permill::from_percent(10);
}

impl pallet_hashrate::Config for Runtime {
	type RuntimeHoldReason = RuntimeHoldReason;
	type Currency = Balances;
	type Time = Timestamp;
	type Session = Session;
	type VrfOutput = AuthorVrf<Runtime>;
	type MinBond = MinBond;
	type UnbondingBlocks = UnbondingBlocks;
	type MaxCandidates = ConstU32<256>;
	type MaxAuthorities = MaxAuthorities;
	type SeedBlocks = ConstU32<2>;
	type BlockReward = BlockReward;
	type JackpotShare = JackpotShare;
	type Jackpot = Jackpot;
	type WeightInfo = pallet_hashrate::weights::SubstrateWeight<Runtime>;
}

impl pallet_babe::Config for Runtime {
	type EpochDuration = pallet_hashrate::EpochLength<Runtime>;
	type ExpectedBlockTime = pallet_hashrate::SlotDuration<Runtime>;
	type EpochChangeTrigger = pallet_babe::ExternalTrigger;
	type DisabledValidators = Session;
	// The pallet's own weights.
	type WeightInfo = ();
	type MaxAuthorities = MaxAuthorities;
	type MaxNominators = ConstU32<0>;
	// Equivocations are not punished yet.
	type KeyOwnerProof = sp_core::Void;
	type EquivocationReportSystem = ();
}

impl pallet_grandpa::Config for Runtime {
	type RuntimeEvent = RuntimeEvent;
	// The pallet's own weights.
	type WeightInfo = ();
	type MaxAuthorities = MaxAuthorities;
	type MaxNominators = ConstU32<0>;
	type MaxSetIdSessionEntries = ConstU64<0>;
	type KeyOwnerProof = sp_core::Void;
	type EquivocationReportSystem = ();
}

impl pallet_authorship::Config for Runtime {
	type FindAuthor = BlockAuthor<Runtime>;
	type EventHandler = Hashrate;
}

impl pallet_session::Config for Runtime {
	type RuntimeEvent = RuntimeEvent;
	type ValidatorId = AccountId;
	type ValidatorIdOf = ConvertInto;
	type ShouldEndSession = Babe;
	type NextSessionRotation = Babe;
	type SessionManager = Hashrate;
	type SessionHandler = <SessionKeys as OpaqueKeys>::KeyTypeIdProviders;
	type Keys = SessionKeys;
	type DisablingStrategy = ();
	type WeightInfo = pallet_session::weights::SubstrateWeight<Runtime>;
	type Currency = Balances;
	type KeyDeposit = KeyDeposit;
}
