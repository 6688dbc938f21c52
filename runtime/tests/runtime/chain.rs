//! The pallets together, block by block.

use crate::common::Chain;
use frame_support::assert_ok;
use sp_keyring::Sr25519Keyring::{Alice, Bob};
use sp_runtime::traits::Zero;
use trainyard_primitives::traits::{Beacon, Seed, TrainerRegistry};
use trainyard_runtime::{configs::money::Jackpot, *};

fn weight_announced(chain: &mut Chain) -> u64 {
	chain.state(|| pallet_babe::NextAuthorities::<Runtime>::get()[0].1)
}

fn weight_now(chain: &mut Chain) -> u64 {
	chain.state(|| pallet_babe::Authorities::<Runtime>::get()[0].1)
}

/// What every pallet asks of its configuration. (The runtime macro makes such a test of its
/// own, in the library, whose harness is not built.)
#[test]
fn every_pallet_is_content_with_its_configuration() {
	use frame_support::traits::IntegrityTest;
	sp_io::TestExternalities::default().execute_with(AllPalletsWithSystem::integrity_test);
}

#[test]
fn power_shows_in_the_weights_within_two_changes_of_session() {
	let mut chain = Chain::development();
	chain.run(3);
	assert_eq!((weight_now(&mut chain), weight_announced(&mut chain)), (1, 1));
	// The work of the demo's job.
	chain.state(|| Hashrate::credit_training(&Alice.to_account_id(), 6_000));
	let ecp = chain.state(|| Hashrate::trainer(&Alice.to_account_id()).unwrap().ecp) as u64;
	assert!((300..=400).contains(&ecp), "0.6 x 6,000 ln 2 / 7 is 356: {ecp}");

	chain.run(20);
	assert_eq!(chain.state(Session::current_index), 1);
	let announced = weight_announced(&mut chain);
	assert!(announced.abs_diff(ecp) <= 1, "{announced} against {ecp}");
	chain.run(20);
	assert_eq!(chain.state(Session::current_index), 2);
	assert_eq!(weight_now(&mut chain), announced, "exactly what was announced");
	let grandpa = chain.state(Grandpa::grandpa_authorities);
	assert_eq!(grandpa[0].1, announced, "finality has the same weights");
}

#[test]
fn every_block_pays_its_author_and_the_jackpot() {
	let mut chain = Chain::development();
	let (alice, jackpot) = (Alice.to_account_id(), Jackpot::get());
	let before = chain.state(|| (Balances::free_balance(&alice), Balances::free_balance(&jackpot)));
	chain.run(10);
	let after = chain.state(|| (Balances::free_balance(&alice), Balances::free_balance(&jackpot)));
	let reward: Balance = <Runtime as pallet_hashrate::Config>::BlockReward::get();
	assert_eq!(after.0 - before.0, 10 * reward * 9 / 10);
	assert_eq!(after.1 - before.1, 10 * reward / 10);
}

#[test]
fn the_beacon_turns_with_every_block() {
	let mut chain = Chain::development();
	chain.run(5);
	let height = chain.state(System::block_number);
	let seed = |chain: &mut Chain, after| chain.state(|| Hashrate::seed(b"test", b"", after));
	assert!(matches!(seed(&mut chain, height), Seed::NotBefore(_)));
	chain.run(3);
	let (one, other) = (seed(&mut chain, height), seed(&mut chain, height - 1));
	assert!(matches!(one, Seed::Ready(_)) && matches!(other, Seed::Ready(_)));
	assert_ne!(one, other);
}

#[test]
fn fees_are_burned() {
	let mut chain = Chain::development();
	chain.run(1);
	let issuance = |chain: &mut Chain| chain.state(Balances::total_issuance);
	let before = issuance(&mut chain);
	let bob = chain.state(|| Balances::free_balance(Bob.to_account_id()));
	assert_ok!(chain.call(Bob, frame_system::Call::remark { remark: vec![0; 100] }));
	let reward: Balance = <Runtime as pallet_hashrate::Config>::BlockReward::get();
	let fee = bob - chain.state(|| Balances::free_balance(Bob.to_account_id()));
	assert!(!fee.is_zero() && fee < UNIT / 100, "{fee}");
	assert_eq!(issuance(&mut chain), before + reward - fee);
}

#[test]
fn metadata_need_no_state() {
	// Tools take metadata from a runtime without a chain.
	let mut ext = sp_io::TestExternalities::new_empty();
	ext.execute_with(|| {
		let metadata = Runtime::metadata_at_version(15);
		assert!(metadata.is_some_and(|m| m.len() > 10_000));
	});
}
