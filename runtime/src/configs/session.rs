//! Who makes blocks: BABE, GRANDPA and sessions, all fed by pallet-hashrate; and what authors say of
//! finality.

use super::money::Jackpot;
use crate::{
	AccountId, Authorship, Babe, Balance, Balances, Finality, Hashrate, ModelStorage, Runtime,
	RuntimeCall, RuntimeEvent, RuntimeHoldReason, Session, Timestamp, UncheckedExtrinsic, TRY,
};
use alloc::vec::Vec;
use frame_support::{
	parameter_types,
	traits::{ConstU32, ConstU64, Get},
};
use frame_system::offchain::{CreateBare, CreateTransactionBase};
use pallet_hashrate::{
	authorities::{AuthorVrf, BlockAuthor},
	offences::{BabeReports, GrandpaReports, ReportWeight},
	records::KeyOwnerProof,
};
use sp_runtime::{
	impl_opaque_keys,
	traits::{ConvertInto, OpaqueKeys},
	Perbill, Permill,
};
use trainyard_protocol::job::BlockNumber;

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
	pub const KeyDeposit: Balance = TRY;
	/// Smallest bond of a trainer.
	pub const MinBond: Balance = 100 * TRY;
	/// A day of blocks of 6 s, far longer than two sessions. An equivocation can be reported for
	/// that long from when finality has passed its session.
	pub const UnbondingBlocks: BlockNumber = 14_400;
	/// Minted in the first block; then it falls.
	pub const BlockReward: Balance = TRY;
	/// Blocks in which it halves: four years of 6 s each. A chain with other block times has
	/// other years.
	pub const RewardHalfLife: BlockNumber = 4 * YEAR;
	/// It stays at a tenth: 1.05 million TRY in two years, for ever.
	pub const RewardTail: Balance = TRY / 10;
	/// The part of it that goes to the jackpot.
	pub const JackpotShare: Permill = Permill::from_percent(10);
	/// What an equivocation costs of bond and power, however small the offender is.
	pub const MinSlash: Perbill = Perbill::from_percent(5);
	/// The reporter's part of what is taken of a bond.
	pub const ReporterShare: Permill = Permill::from_percent(10);
}

/// Blocks of a year of 365.25 days, at 6 s each.
pub const YEAR: BlockNumber = 5_259_600;

impl pallet_hashrate::Config for Runtime {
	type RuntimeHoldReason = RuntimeHoldReason;
	type Currency = Balances;
	type Time = Timestamp;
	type Session = Session;
	type VrfOutput = AuthorVrf<Runtime>;
	type Finality = Finality;
	// Whoever lacks a chunk that its block asks for makes it for nothing.
	type Data = ModelStorage;
	type MinBond = MinBond;
	type UnbondingBlocks = UnbondingBlocks;
	type MaxCandidates = ConstU32<256>;
	type MaxAuthorities = MaxAuthorities;
	type BlockReward = BlockReward;
	type RewardHalfLife = RewardHalfLife;
	type RewardTail = RewardTail;
	type MinSlash = MinSlash;
	type ReporterShare = ReporterShare;
	type JackpotShare = JackpotShare;
	type Jackpot = Jackpot;
	type WeightInfo = pallet_hashrate::weights::SubstrateWeight<Runtime>;
}

impl pallet_babe::Config for Runtime {
	type EpochDuration = pallet_hashrate::EpochLength<Runtime>;
	type ExpectedBlockTime = pallet_hashrate::SlotDuration<Runtime>;
	type EpochChangeTrigger = pallet_babe::ExternalTrigger;
	type DisabledValidators = Session;
	type WeightInfo = ReportWeight<Runtime>;
	type MaxAuthorities = MaxAuthorities;
	type MaxNominators = ConstU32<0>;
	type KeyOwnerProof = KeyOwnerProof;
	type EquivocationReportSystem = BabeReports<Runtime>;
}

impl pallet_grandpa::Config for Runtime {
	type RuntimeEvent = RuntimeEvent;
	type WeightInfo = ReportWeight<Runtime>;
	type MaxAuthorities = MaxAuthorities;
	type MaxNominators = ConstU32<0>;
	// Pallet-hashrate keeps the sets of all sessions on record, however many. Of a chain that is older
	// than this rule it begins with that many.
	type MaxSetIdSessionEntries = ConstU64<1_000>;
	type KeyOwnerProof = KeyOwnerProof;
	type EquivocationReportSystem = GrandpaReports<Runtime>;
}

/// Transactions without a sender, by which nodes report equivocations.
impl<C> CreateTransactionBase<C> for Runtime
where
	RuntimeCall: From<C>,
{
	type Extrinsic = UncheckedExtrinsic;
	type RuntimeCall = RuntimeCall;
}

impl<C> CreateBare<C> for Runtime
where
	RuntimeCall: From<C>,
{
	fn create_bare(call: RuntimeCall) -> UncheckedExtrinsic {
		UncheckedExtrinsic::new_bare(call)
	}
}

impl pallet_authorship::Config for Runtime {
	type FindAuthor = BlockAuthor<Runtime>;
	type EventHandler = Hashrate;
}

/// Who made the present block: [`BlockAuthor`] found it before the session could change.
pub struct Author;

impl Get<Option<AccountId>> for Author {
	fn get() -> Option<AccountId> {
		Authorship::author()
	}
}

impl pallet_finality::Config for Runtime {
	type Authorities = Hashrate;
	type Author = Author;
	type MaxAuthorities = MaxAuthorities;
	type WeightInfo = pallet_finality::weights::SubstrateWeight<Runtime>;
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
