//! Blocks, accounts, time.

use crate::{
	AccountId, Babe, Balance, Block, Hash, Nonce, PalletInfo, Runtime, RuntimeCall, RuntimeEvent,
	RuntimeOrigin, RuntimeTask, SS58_PREFIX, VERSION,
};
use frame_support::{
	derive_impl,
	dispatch::DispatchClass,
	parameter_types,
	weights::{
		constants::{ParityDbWeight, WEIGHT_REF_TIME_PER_SECOND},
		Weight,
	},
};
use frame_system::limits::{BlockLength, BlockWeights};
use pallet_model_storage::{AROUND_CHUNK, MOVES_ROOM};
use sp_runtime::Perbill;
use sp_version::RuntimeVersion;
use trainyard_protocol::blob::MAX_CHUNK;

/// Share of a block that ordinary transactions may fill; the rest is left to operational
/// ones.
pub const NORMAL_RATIO: Perbill = Perbill::from_percent(75);

/// Largest block: 5 MiB, of which ordinary transactions may take 3.75 MiB. An upload of an awaited
/// chunk (1 MiB) fits three times.
pub const MAX_BLOCK_LENGTH: u32 = 5 * 1024 * 1024;

/// What ordinary transactions may take of it that bring no awaited chunk: the rest takes two chunks
/// of the largest length, and moves in disputes.
pub const MAX_ORDINARY_LENGTH: u32 =
	MAX_BLOCK_LENGTH / 4 * 3 - 2 * (MAX_CHUNK + AROUND_CHUNK) - MOVES_ROOM;

/// Longest execution of a block: 2 s of the reference machine. Authors stop earlier where a slot is
/// shorter (they propose for at most half of it), so this bounds what an import may cost. There is
/// no proof of validity whose size must be kept small.
pub const MAX_BLOCK_WEIGHT: Weight =
	Weight::from_parts(WEIGHT_REF_TIME_PER_SECOND.saturating_mul(2), u64::MAX);

parameter_types! {
	/// Blocks whose hashes are known on chain: a transaction may be that old.
	pub const BlockHashCount: u32 = 2_400;
	/// See [`VERSION`].
	pub const Version: RuntimeVersion = VERSION;
	/// See [`SS58_PREFIX`].
	pub const SS58Prefix: u16 = SS58_PREFIX;
	/// Execution that fits a block.
	pub RuntimeBlockWeights: BlockWeights =
		BlockWeights::with_sensible_defaults(MAX_BLOCK_WEIGHT, NORMAL_RATIO);
	/// See [`MAX_ORDINARY_LENGTH`].
	pub const OrdinaryLength: u32 = MAX_ORDINARY_LENGTH;
	/// Bytes that fit a block.
	pub RuntimeBlockLength: BlockLength = BlockLength::builder()
		.max_length(MAX_BLOCK_LENGTH)
		.modify_max_length_for_class(DispatchClass::Normal, |m| *m = NORMAL_RATIO * *m)
		.build();
}

#[derive_impl(frame_system::config_preludes::SolochainDefaultConfig)]
impl frame_system::Config for Runtime {
	// Keys that the chain counts on are removed through `Hashrate.purge_keys`, which checks that.
	type BaseCallFilter = pallet_hashrate::authorities::KeepCandidateKeys<Runtime>;
	type BlockWeights = RuntimeBlockWeights;
	type BlockLength = RuntimeBlockLength;
	type AccountId = AccountId;
	type Nonce = Nonce;
	type Hash = Hash;
	type Block = Block;
	type BlockHashCount = BlockHashCount;
	type DbWeight = ParityDbWeight;
	type Version = Version;
	type AccountData = pallet_balances::AccountData<Balance>;
	type SystemWeightInfo = frame_system::weights::SubstrateWeight<Runtime>;
	type ExtensionsWeightInfo = frame_system::SubstrateExtensionsWeight<Runtime>;
	type SS58Prefix = SS58Prefix;
	type MaxConsumers = frame_support::traits::ConstU32<64>;
}

impl pallet_timestamp::Config for Runtime {
	type Moment = u64;
	type OnTimestampSet = Babe;
	type MinimumPeriod = pallet_hashrate::MinimumPeriod<Runtime>;
	type WeightInfo = pallet_timestamp::weights::SubstrateWeight<Runtime>;
}
