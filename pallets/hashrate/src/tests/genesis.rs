//! What the chain begins with.

use super::*;
use crate::{
	Candidates, CurrentWeights, EpochLength, Founders, GenesisConfig, HalfLife, MinShare,
	MinimumPeriod, NextWeights, SlotDuration, Trainers,
};
use frame_support::{assert_ok, traits::Get};
use sp_runtime::BuildStorage;
use trainyard_protocol::views::WHOLE_WEIGHT;

#[test]
fn trainers_are_bonded_and_stand() {
	Genesis { trainers: vec![(3, 30), (1, 10)], min_share: 7 }.build().execute_with(|| {
		assert_eq!(Trainers::<Test>::get(1).unwrap().bond, MIN_BOND);
		assert_eq!(Balances::free_balance(1), FUNDS - MIN_BOND);
		assert_eq!(Candidates::<Test>::get().to_vec(), vec![1, 3]);
		assert_eq!(MinShare::<Test>::get(), 7);
		Hashrate::do_try_state().unwrap();
	});
}

#[test]
fn the_first_authorities_have_weights() {
	Genesis::default().build().execute_with(|| {
		assert_eq!(babe_weights(), vec![10, 20, 30]);
		assert_eq!(next_babe_weights(), vec![10, 20, 30]);
		assert_eq!(grandpa_weights(), vec![10, 20, 30]);
		assert_eq!(CurrentWeights::<Test>::get().to_vec(), vec![(1, 10), (2, 20), (3, 30)]);
		assert_eq!(NextWeights::<Test>::get(), CurrentWeights::<Test>::get());
		assert_eq!(Grandpa::current_set_id(), 0);
		assert_eq!(Grandpa::session_for_set(0), Some(0));
	});
}

#[test]
fn without_enough_power_the_session_pallets_keys_begin() {
	Genesis { min_share: 1_000, ..Default::default() }.build().execute_with(|| {
		assert_eq!(Session::validators(), vec![1, 2, 3]);
		assert_eq!(babe_weights(), vec![1, 1, 1]);
		assert_eq!(grandpa_weights(), vec![1, 1, 1]);
	});
}

#[test]
fn slot_and_epoch_are_read_by_babe() {
	Genesis::default().build().execute_with(|| {
		assert_eq!(SlotDuration::<Test>::get(), SLOT);
		assert_eq!(MinimumPeriod::<Test>::get(), SLOT / 2);
		assert_eq!(EpochLength::<Test>::get(), EPOCH);
		assert_eq!(Babe::slot_duration(), SLOT);
		assert_eq!(Babe::current_epoch().duration, EPOCH);
	});
}

#[test]
fn without_a_state_slot_and_epoch_are_not_zero() {
	sp_io::TestExternalities::default().execute_with(|| {
		assert_eq!(SlotDuration::<Test>::get(), 2);
		assert_eq!(EpochLength::<Test>::get(), 1);
		assert_eq!(HalfLife::<Test>::get(), crate::power::WEEK_MS);
	});
}

#[test]
fn the_default_builds() {
	GenesisConfig::<Test>::default().build_storage().unwrap();
}

#[test]
#[should_panic(expected = "hashrate.epochLength: at most a third")]
fn bonds_outlast_sessions() {
	let epoch_length = u64::from(UNBONDING / 3) + 1;
	let trainers = vec![(1, MIN_BOND, true)];
	let _ = GenesisConfig::<Test> { trainers, epoch_length, ..Default::default() }.build_storage();
}

#[test]
#[should_panic(expected = "hashrate.slotDuration")]
fn an_odd_slot_is_refused() {
	let _ = GenesisConfig::<Test> { slot_duration: 1_001, ..Default::default() }.build_storage();
}

#[test]
#[should_panic(expected = "hashrate.epochLength")]
fn an_empty_epoch_is_refused() {
	let _ = GenesisConfig::<Test> { epoch_length: 0, ..Default::default() }.build_storage();
}

#[test]
#[should_panic(expected = "hashrate.trainers: 1 cannot bond")]
fn a_trainer_without_money_is_refused() {
	let trainers = vec![(1, MIN_BOND, true)];
	let _ = GenesisConfig::<Test> { trainers, epoch_length: EPOCH, ..Default::default() }
		.build_storage();
}

#[test]
#[should_panic(expected = "babe.authorities stays empty")]
fn babes_own_authorities_are_refused() {
	Genesis::default().build().execute_with(|| genesis_handlers(&[(1, keys(1))]));
}

#[test]
#[should_panic(expected = "grandpa.authorities stays empty")]
fn grandpas_own_authorities_are_refused() {
	Genesis::default().build().execute_with(|| {
		pallet_babe::Authorities::<Test>::kill();
		genesis_handlers(&[(1, keys(1))])
	});
}

/// The state of a genesis with trainers 1 and 2 and these founders, and floors of 1,000 and 500.
fn founded(founders: Vec<(u64, u64)>) -> sp_io::TestExternalities {
	let mut storage = frame_system::GenesisConfig::<Test>::default().build_storage().unwrap();
	let balances = vec![(1, FUNDS), (2, FUNDS), (JACKPOT, 10)];
	pallet_balances::GenesisConfig::<Test> { balances, ..Default::default() }
		.assimilate_storage(&mut storage)
		.unwrap();
	GenesisConfig::<Test> {
		trainers: vec![(1, MIN_BOND, true), (2, MIN_BOND, true)],
		founders,
		drilling_floor: 1_000,
		training_floor: 500,
		slot_duration: SLOT,
		epoch_length: EPOCH,
		half_life: 1_000_000 * SLOT,
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	pallet_session::GenesisConfig::<Test> {
		keys: [1, 2].map(|who| (who, who, keys(who))).to_vec(),
		..Default::default()
	}
	.assimilate_storage(&mut storage)
	.unwrap();
	storage.into()
}

/// Founders have the whole weight while nobody works, for as long as nobody does, and give way to
/// work as it comes.
#[test]
fn founders_give_way_to_work() {
	let part = |of: u64| of * (WHOLE_WEIGHT / 1_000);
	founded(vec![(2, 300), (1, 100)]).execute_with(|| {
		assert_eq!(babe_weights(), vec![part(250), part(750)]);
		assert_eq!(grandpa_weights(), babe_weights());
		assert_eq!((Hashrate::ecp(&1), Hashrate::ecp(&2)), (part(250), part(750)));
		assert_eq!(Hashrate::trainer(&2).unwrap().drilling_effective, 0);
		run_to_session(1, 1);
		// It does not decay.
		pallet_timestamp::Now::<Test>::mutate(|now| *now += 10 * 1_000_000 * SLOT);
		assert_eq!(Hashrate::ecp(&2), part(750));
		pallet_timestamp::Now::<Test>::mutate(|now| *now -= 10 * 1_000_000 * SLOT);
		// 1 works: half of a floor, and all of the other.
		let track = |power: u128| crate::power::Track {
			effective: power << 64,
			updated: u64::MAX,
			..Default::default()
		};
		crate::Power::<Test>::insert(
			1,
			crate::power::Ledger { drilling: track(500), training: track(500) },
		);
		assert_eq!((Hashrate::ecp(&1), Hashrate::ecp(&2)), (part(850), part(150)));
		// And ceases.
		crate::Power::<Test>::remove(1);
		assert_eq!((Hashrate::ecp(&1), Hashrate::ecp(&2)), (part(250), part(750)));
		// A founder that left has nothing any more.
		assert_ok!(Hashrate::deregister(RuntimeOrigin::signed(2)));
		run_to(40, 1);
		assert_ok!(Hashrate::withdraw(RuntimeOrigin::signed(2)));
		assert_eq!(Founders::<Test>::get().to_vec(), vec![(1, 100)]);
		assert_eq!(Hashrate::ecp(&1), WHOLE_WEIGHT);
		Hashrate::do_try_state().unwrap();
	});
}

#[test]
#[should_panic(expected = "hashrate.founders: 3 is not among hashrate.trainers")]
fn a_founder_is_a_trainer() {
	founded(vec![(1, 1), (3, 1)]);
}

#[test]
#[should_panic(expected = "hashrate.founders: 1 stands twice")]
fn a_founder_is_named_once() {
	founded(vec![(1, 1), (1, 1)]);
}

#[test]
#[should_panic(expected = "hashrate.seedBlocks: 1 to 24")]
fn a_seed_fits_what_pools_remember() {
	let _ = GenesisConfig::<Test> { seed_blocks: 25, ..Default::default() }.build_storage();
}

#[test]
#[should_panic(expected = "hashrate.seedStep")]
fn draw_heights_have_a_step() {
	let _ = GenesisConfig::<Test> { seed_step: 0, ..Default::default() }.build_storage();
}

#[test]
#[should_panic(expected = "hashrate.halfLife")]
fn a_half_life_of_nothing_is_refused() {
	let _ = GenesisConfig::<Test> { half_life: 999, ..Default::default() }.build_storage();
}
