//! The presets build, and say what they promise.

use frame_support::traits::{fungible::Inspect, Get};
use sp_consensus_babe::AllowedSlots;
use sp_keyring::Sr25519Keyring::{self, *};
use trainyard_protocol::views::WHOLE_WEIGHT;
use trainyard_runtime::{
	configs::money::Jackpot,
	presets::{DEVELOPMENT, ENDOWMENT, GENESIS_BOND, LOCAL_TESTNET},
	*,
};
use trainyard_sandbox::{build, genesis, genesis_json};

#[test]
fn every_named_preset_exists_and_no_other() {
	let names = presets::names();
	assert_eq!(names.len(), 2);
	for name in names {
		assert!(presets::get(&name).is_some());
	}
	assert_eq!(presets::get(&"mainnet".into()), None);
}

fn weights(list: Vec<(sp_consensus_babe::AuthorityId, u64)>) -> Vec<u64> {
	list.into_iter().map(|(_, weight)| weight).collect()
}

#[test]
fn development_is_alice_alone_with_a_block_in_every_slot() {
	genesis(DEVELOPMENT).execute_with(|| {
		assert_eq!(Babe::slot_duration(), 1_000);
		assert_eq!(<Runtime as pallet_babe::Config>::EpochDuration::get(), 20);
		assert_eq!(
			Babe::epoch_config().unwrap().allowed_slots,
			AllowedSlots::PrimaryAndSecondaryVRFSlots
		);
		assert_eq!(weights(Babe::authorities().to_vec()), [1]);
		assert_eq!(Babe::authorities()[0].0, Alice.public().into());
		assert_eq!(Grandpa::grandpa_authorities().len(), 1);
		assert_eq!(Session::validators(), [Alice.to_account_id()]);
		assert_eq!(Hashrate::trainers(None, 9).len(), 1);
		assert_eq!(pallet_sudo::Key::<Runtime>::get(), Some(Alice.to_account_id()));
		let quick = pallet_hashrate::SeedTiming { blocks: 2, step: 4 };
		assert_eq!(pallet_hashrate::Seeding::<Runtime>::get(), quick);
	});
}

#[test]
fn local_testnet_is_four_authorities_by_lottery() {
	genesis(LOCAL_TESTNET).execute_with(|| {
		assert_eq!(Babe::epoch_config().unwrap().allowed_slots, AllowedSlots::PrimarySlots);
		assert_eq!(weights(Babe::authorities().to_vec()), [WHOLE_WEIGHT / 4; 4]);
		assert_eq!(Grandpa::grandpa_authorities().len(), 4);
		assert_eq!(Session::validators().len(), 4);
		for who in [Alice, Bob, Charlie, Dave] {
			assert!(Session::validators().contains(&who.to_account_id()));
			assert!(Hashrate::trainer(&who.to_account_id()).unwrap().candidate);
		}
		let public = pallet_hashrate::SeedTiming::default();
		assert_eq!(pallet_hashrate::Seeding::<Runtime>::get(), public);
	});
}

/// A network on one machine has founders of any weight, and lets power decay in minutes.
#[test]
fn founders_and_half_life_can_be_patched() {
	let mut json = genesis_json(LOCAL_TESTNET);
	let who = [Alice, Bob, Charlie, Dave].map(|key| key.to_account_id());
	let shares = [1u64, 2, 3, 4].map(|share| share * WHOLE_WEIGHT / 10);
	let founders: Vec<_> = who.iter().cloned().zip([1u64, 2, 3, 4]).collect();
	json["hashrate"]["founders"] = serde_json::to_value(founders).unwrap();
	json["hashrate"]["halfLife"] = 300_000.into();
	build(&json).execute_with(|| {
		let of = |who: &AccountId| Hashrate::trainer(who).unwrap().weight;
		assert_eq!(who.each_ref().map(of), shares.map(Some));
		let mut declared = shares.to_vec();
		let mut weights = weights(Babe::authorities().to_vec());
		declared.sort();
		weights.sort();
		assert_eq!(weights, declared);
		assert_eq!(<pallet_hashrate::HalfLife<Runtime> as Get<u64>>::get(), 300_000);
	});
}

/// A c of 1 panics in every client that holds a lone authority's key; a c of 0 makes no
/// block.
#[test]
fn the_lottery_is_one_that_clients_can_compute() {
	for config in [presets::FILL_EVERY_SLOT, presets::LOTTERY] {
		assert!(0 < config.c.0 && config.c.0 < config.c.1);
	}
}

#[test]
fn money_is_where_the_presets_say() {
	for preset in [DEVELOPMENT, LOCAL_TESTNET] {
		genesis(preset).execute_with(|| {
			for who in Sr25519Keyring::iter().take(6) {
				let who = who.to_account_id();
				assert_eq!(<Balances as Inspect<AccountId>>::total_balance(&who), ENDOWMENT);
				let bond = Hashrate::trainer(&who).map_or(0, |_| GENESIS_BOND);
				assert_eq!(Balances::free_balance(&who), ENDOWMENT - bond);
			}
			assert_eq!(Balances::free_balance(Jackpot::get()), EXISTENTIAL_DEPOSIT);
			assert_eq!(Balances::total_issuance(), 6 * ENDOWMENT + EXISTENTIAL_DEPOSIT);
		});
	}
}
