//! The pallets together, block by block.

use frame_support::assert_ok;
use sp_keyring::Sr25519Keyring::{Alice, Bob};
use sp_runtime::traits::Zero;
use trainyard_protocol::views::WHOLE_WEIGHT;
use trainyard_runtime::{configs::money::Jackpot, *};
use trainyard_sandbox::{tipped, Chain};
use trainyard_traits::{Beacon, Seed, TrainerRegistry};

fn weight_announced(chain: &mut Chain) -> u64 {
	chain.state(|| pallet_babe::NextAuthorities::<Runtime>::get()[0].1)
}

fn weight_now(chain: &mut Chain) -> u64 {
	chain.state(|| pallet_babe::Authorities::<Runtime>::get()[0].1)
}

/// What every pallet requires of its configuration. (The runtime macro makes such a test itself, in
/// the library, whose test harness is not built.)
#[test]
fn every_pallet_is_content_with_its_configuration() {
	use frame_support::traits::IntegrityTest;
	sp_io::TestExternalities::default().execute_with(AllPalletsWithSystem::integrity_test);
}

#[test]
fn power_shows_in_the_weights_within_two_changes_of_session() {
	let mut chain = Chain::development();
	chain.run(3);
	let alice = Alice.to_account_id();
	assert_eq!((weight_now(&mut chain), weight_announced(&mut chain)), (1, 1));
	// A thousand ut.
	chain.state(|| Hashrate::credit_training(&alice, 1_000_000_000));
	let ecp = chain.state(|| Hashrate::trainer(&alice).unwrap().ecp) as u64;
	let exact = 0.6 * (1_000.0 * core::f64::consts::LN_2 / 7.0) / 4_000.0 * WHOLE_WEIGHT as f64;
	assert!((ecp as f64 / exact - 1.0).abs() < 1e-4, "{ecp} is not {exact}");

	chain.run(20);
	assert_eq!(chain.state(Session::current_index), 1);
	let announced = weight_announced(&mut chain);
	assert!(announced.abs_diff(ecp) < ecp / 1_000, "{announced} against {ecp}");
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
	let rewards: Vec<Balance> = (1..=10).map(Hashrate::block_reward).collect();
	assert_eq!(rewards[0], TRY);
	let shares = rewards.iter().map(|reward| reward / 10).sum::<Balance>();
	assert_eq!(after.0 - before.0, rewards.iter().sum::<Balance>() - shares);
	assert_eq!(after.1 - before.1, shares);
}

/// Fees are burned, tips go to the author, and an empty tip deposits nothing.
#[test]
fn fees_are_burned_and_tips_reach_the_author() {
	let mut chain = Chain::development();
	let (alice, bob) = (Alice.to_account_id(), Bob.to_account_id());
	let charlie = sp_keyring::Sr25519Keyring::Charlie.to_account_id();
	chain.run(1);
	for tip in [0, 5 * MILLIUNIT] {
		chain.begin();
		let (issued, author, sender) = chain.state(|| {
			let accounts = [&alice, &bob].map(Balances::free_balance);
			(Balances::total_issuance(), accounts[0], accounts[1])
		});
		chain.state(|| {
			let call = pallet_balances::Call::transfer_keep_alive {
				dest: charlie.clone().into(),
				value: TRY,
			};
			let transfer = tipped(Bob, call.into(), tip);
			assert_ok!(Executive::apply_extrinsic(transfer).unwrap());
			let paid = sender - TRY - Balances::free_balance(&bob);
			assert!(paid > tip);
			assert_eq!(Balances::free_balance(&alice) - author, tip);
			assert_eq!(issued - Balances::total_issuance(), paid - tip, "the fee is burned");
			let deposited = System::events()
				.into_iter()
				.filter_map(|record| match record.event {
					RuntimeEvent::Balances(pallet_balances::Event::Deposit { who, amount })
						if who == alice =>
					{
						Some(amount)
					}
					_ => None,
				})
				.collect::<Vec<_>>();
			assert_eq!(deposited, if tip == 0 { vec![] } else { vec![tip] });
		});
		chain.end();
	}
}

/// The table in the documentation of the protocol: the reward, and all that was minted, by
/// year.
#[test]
fn issuance_is_as_documented() {
	use trainyard_runtime::configs::session::YEAR;
	let reward = |block: BlockNumber| Hashrate::block_reward(block) as f64 / TRY as f64;
	// The mean of 240 blocks of a year for all of them.
	let step = YEAR / 240;
	let year = |y: u32| {
		let sampled = (0..240).map(|i| reward(y * YEAR + i * step + step / 2));
		f64::from(step) * sampled.sum::<f64>()
	};
	let minted = |years: u32| (0..years).map(year).sum::<f64>() / 1e6;
	let table =
		[(1, 0.841, 4.83), (4, 0.5, 15.18), (8, 0.25, 22.76), (12, 0.125, 26.56), (14, 0.1, 27.69)];
	for (years, pays, sum) in table {
		assert!((reward(years * YEAR + 1) - pays).abs() < 6e-4, "{years}");
		assert!((minted(years) - sum).abs() < 6e-3, "{years}: {}", minted(years));
	}
	// From there on the tail.
	assert!((year(20) - 0.526e6).abs() < 1e3);
	assert_eq!(Hashrate::block_reward(BlockNumber::MAX), TRY / 10);
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
	let reward = Hashrate::block_reward(chain.state(System::block_number));
	let fee = bob - chain.state(|| Balances::free_balance(Bob.to_account_id()));
	assert!(!fee.is_zero() && fee < TRY / 100, "{fee}");
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
