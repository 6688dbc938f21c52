//! Genesis states that come with the runtime.
//!
//! Both give //Alice to //Ferdie a million TRY and make //Alice sudo: they are for
//! development. A public network writes its own specification and names no sudo.
//!
//! The accounts: //Alice trains and is an authority (in the local network with //Bob, //Charlie and
//! //Dave), the others have money to post jobs and to register as trainers or verifiers.

use crate::{
	configs::{money::Jackpot, session::SessionKeys},
	AccountId, Balance, BalancesConfig, RuntimeGenesisConfig, SudoConfig, EXISTENTIAL_DEPOSIT, TRY,
};
use alloc::{vec, vec::Vec};
use frame_support::build_struct_json_patch;
use pallet_hashrate::{power::WEEK_MS, SeedTiming};
use serde_json::Value;
use sp_consensus_babe::{AllowedSlots, BabeEpochConfiguration};
use sp_genesis_builder::PresetId;
use sp_keyring::{Ed25519Keyring, Sr25519Keyring};
use trainyard_program::units::MICRO_UT_PER_UT;

/// Name of the preset with one authority.
pub const DEVELOPMENT: &str = sp_genesis_builder::DEV_RUNTIME_PRESET;
/// Name of the preset with four authorities.
pub const LOCAL_TESTNET: &str = sp_genesis_builder::LOCAL_TESTNET_RUNTIME_PRESET;

/// A block in every slot: a slot whose lottery nobody wins is given out by turns. Turns ignore
/// weights, so this is for chains with one authority. Secondary slots carry a VRF output, without
/// which the beacon would not advance in them. (c must stay below 1: at 1 the threshold of a lone
/// authority overflows in the client.)
pub const FILL_EVERY_SLOT: BabeEpochConfiguration =
	BabeEpochConfiguration { c: (1, 4), allowed_slots: AllowedSlots::PrimaryAndSecondaryVRFSlots };

/// Authorship by lottery alone, in proportion to weight, as on public networks: a slot has
/// a block with probability 1/4, whatever the weights are.
pub const LOTTERY: BabeEpochConfiguration =
	BabeEpochConfiguration { c: (1, 4), allowed_slots: AllowedSlots::PrimarySlots };

/// What each of the six development accounts has.
pub const ENDOWMENT: Balance = 1_000_000 * TRY;

/// Bond of a trainer from genesis.
pub const GENESIS_BOND: Balance = 1_000 * TRY;

/// Volumes of drilling and of training from which on each has its whole part of the weight, in
/// micro-ut a day: 4,000 ut, what a machine of 20 GFLOPS does in a day. One that computes on a chain
/// for development shows in its weights; a public network has floors of its own.
pub const FLOOR: u64 = 4_000 * MICRO_UT_PER_UT as u64;

/// Blocks for which machines may be away while something is disputed: half a minute of the development
/// chain, so that a job is over soon. On a public network these are four hours.
pub const PATIENCE: u32 = 30;

/// Blocks for which accepted results can be challenged after the settlement: a minute of the development
/// chain. On a public network it is a week.
pub const LATE_BLOCKS: u32 = 60;

/// Blocks for which an aggregate of federated rounds can be refuted: ten seconds of the development chain. On a
/// public network it is a quarter of an hour.
pub const AGGREGATE_WINDOW: u32 = 10;

/// Returns the preset called `id` as a JSON patch of the default genesis configuration.
pub fn get(id: &PresetId) -> Option<Vec<u8>> {
	let patch = match id.as_ref() {
		DEVELOPMENT => development(),
		LOCAL_TESTNET => local_testnet(),
		_ => return None,
	};
	serde_json::to_string(&patch).ok().map(|json| json.into_bytes())
}

/// Returns the names of the presets.
pub fn names() -> Vec<PresetId> {
	vec![PresetId::from(DEVELOPMENT), PresetId::from(LOCAL_TESTNET)]
}

/// Returns a genesis with one authority, slots of 1 s, each with a block, and sessions of 20 slots:
/// a change of power shows in the weights within 40 s. Seeds are made of two blocks, after every
/// fourth: the one authority knows all of them beforehand whatever their number is, and so nobody
/// waits for more. It has no founders, so that the first power that is earned shows in the weights.
/// This is for trying things only.
fn development() -> Value {
	genesis(
		&[(Sr25519Keyring::Alice, Ed25519Keyring::Alice)],
		false,
		Timing {
			slot_duration: 1_000,
			epoch_length: 20,
			babe: FILL_EVERY_SLOT,
			seeds: SeedTiming { blocks: 2, step: 4 },
		},
	)
}

/// Returns a genesis with four authorities under the rules of a public network, but faster: slots
/// of 1 s, a block in 4 s on average, sessions of two minutes. With c = 1/4 two authorities win the
/// same slot in about one slot of forty; such forks are short and finality settles them.
///
/// They are founders of equal weight. Other proportions, and a half-life other than a week, are
/// patches of `hashrate.founders` and `hashrate.halfLife` in the specification.
fn local_testnet() -> Value {
	genesis(
		&[
			(Sr25519Keyring::Alice, Ed25519Keyring::Alice),
			(Sr25519Keyring::Bob, Ed25519Keyring::Bob),
			(Sr25519Keyring::Charlie, Ed25519Keyring::Charlie),
			(Sr25519Keyring::Dave, Ed25519Keyring::Dave),
		],
		true,
		Timing {
			slot_duration: 1_000,
			epoch_length: 120,
			babe: LOTTERY,
			seeds: SeedTiming::default(),
		},
	)
}

/// How fast a network runs.
struct Timing {
	/// Milliseconds of a slot.
	slot_duration: u64,
	/// Slots of a session.
	epoch_length: u64,
	/// Who may make a block in a slot.
	babe: BabeEpochConfiguration,
	/// When and of how many blocks seeds form.
	seeds: SeedTiming,
}

/// Returns a development genesis with these authorities, all of them trainers and, where it is
/// `founded`, founders of equal weight.
fn genesis(
	authorities: &[(Sr25519Keyring, Ed25519Keyring)],
	founded: bool,
	timing: Timing,
) -> Value {
	let account = |key: &Sr25519Keyring| key.to_account_id();
	let balances: Vec<(AccountId, Balance)> = [
		Sr25519Keyring::Alice,
		Sr25519Keyring::Bob,
		Sr25519Keyring::Charlie,
		Sr25519Keyring::Dave,
		Sr25519Keyring::Eve,
		Sr25519Keyring::Ferdie,
	]
	.iter()
	.map(|key| (account(key), ENDOWMENT))
	.chain([(Jackpot::get(), EXISTENTIAL_DEPOSIT)])
	.collect();

	build_struct_json_patch!(RuntimeGenesisConfig {
		balances: BalancesConfig { balances },
		hashrate: pallet_hashrate::GenesisConfig {
			trainers: authorities
				.iter()
				.map(|(key, _)| (account(key), GENESIS_BOND, true))
				.collect(),
			founders: authorities
				.iter()
				.filter(|_| founded)
				.map(|(key, _)| (account(key), 1))
				.collect(),
			drilling_floor: FLOOR,
			training_floor: FLOOR,
			min_share: 0,
			slot_duration: timing.slot_duration,
			epoch_length: timing.epoch_length,
			half_life: WEEK_MS,
			seed_blocks: timing.seeds.blocks,
			seed_step: timing.seeds.step,
		},
		task_market: pallet_task_market::GenesisConfig::of(PATIENCE, LATE_BLOCKS),
		federation: pallet_federation::GenesisConfig::of(AGGREGATE_WINDOW),
		babe: pallet_babe::GenesisConfig { epoch_config: timing.babe },
		session: pallet_session::GenesisConfig {
			keys: authorities
				.iter()
				.map(|(key, grandpa)| {
					let keys =
						SessionKeys { babe: key.public().into(), grandpa: grandpa.public().into() };
					(account(key), account(key), keys)
				})
				.collect(),
		},
		sudo: SudoConfig { key: Some(account(&Sr25519Keyring::Alice)) },
	})
}
