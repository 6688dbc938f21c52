//! The block reward.

use super::*;
use crate::rewards::scheduled;
use proptest::prelude::*;

#[test]
fn a_block_mints_the_reward() {
	Genesis::default().run(|| {
		let issued = Balances::total_issuance();
		let (author, jackpot) = (Balances::free_balance(2), Balances::free_balance(JACKPOT));
		run_block(2);
		assert_eq!(events(), vec![Event::BlockRewarded { author: 2, reward: 900, jackpot: 100 }]);
		run_block(2);
		run_block(3);
		assert_eq!(Balances::free_balance(2), author + 2 * 900);
		assert_eq!(Balances::free_balance(JACKPOT), jackpot + 3 * 100);
		assert_eq!(Balances::total_issuance(), issued + 3 * 1_000);
	});
}

#[test]
fn an_author_without_the_data_has_no_reward_and_the_block_is_good() {
	Genesis::default().run(|| {
		let (issued, author) = (Balances::total_issuance(), Balances::free_balance(2));
		Keeps::set(false);
		run_block(2);
		Keeps::set(true);
		assert_eq!(events(), vec![Event::BlockRewarded { author: 2, reward: 0, jackpot: 100 }]);
		assert_eq!(Balances::free_balance(2), author);
		assert_eq!(Balances::total_issuance(), issued + 100);
		run_block(2);
		assert_eq!(Balances::free_balance(2), author + 900);
		assert!(!crate::Unpaid::<Test>::exists());
	});
}

#[test]
fn the_jackpot_rounds_down() {
	Genesis::default().run(|| {
		BlockReward::set(1_009);
		let issued = Balances::total_issuance();
		run_block(2);
		assert_eq!(events(), vec![Event::BlockRewarded { author: 2, reward: 909, jackpot: 100 }]);
		assert_eq!(Balances::total_issuance(), issued + 1_009);
		BlockReward::set(0);
		run_block(2);
		assert_eq!(events(), vec![Event::BlockRewarded { author: 2, reward: 0, jackpot: 0 }]);
	});
}

#[test]
fn what_cannot_be_taken_is_not_minted() {
	Genesis::default().run(|| {
		use frame_support::traits::fungible::Mutate;
		let gone = Balances::free_balance(JACKPOT);
		Balances::burn_from(
			&JACKPOT,
			gone,
			frame_support::traits::tokens::Preservation::Expendable,
			frame_support::traits::tokens::Precision::Exact,
			frame_support::traits::tokens::Fortitude::Force,
		)
		.unwrap();
		// A tenth of it is below the existential deposit of 10.
		BlockReward::set(50);
		let issued = Balances::total_issuance();
		run_block(2);
		assert_eq!(events(), vec![Event::BlockRewarded { author: 2, reward: 45, jackpot: 0 }]);
		assert_eq!(Balances::total_issuance(), issued + 45);
	});
}

#[test]
fn the_first_block_of_a_session_is_its_authors() {
	Genesis { trainers: vec![(2, 20), (3, 30)], min_share: 0 }.run(|| {
		stand(1, 10);
		run_to_session(2, 2);
		run_to(15, 2);
		// Account 1 enters with session 3, whose first block it makes: index 0 of the new
		// authorities is account 2 among the old ones.
		run_block(1);
		assert_eq!(Session::current_index(), 3);
		assert!(events().contains(&Event::BlockRewarded { author: 1, reward: 900, jackpot: 100 }));
		run_block(1);
		assert_eq!(events(), vec![Event::BlockRewarded { author: 1, reward: 900, jackpot: 100 }]);
	});
}

#[test]
fn the_reward_halves_and_never_ends() {
	let reward = |n| scheduled(n, 1_000_000, 100, 60_000);
	assert_eq!(reward(1), 1_000_000);
	assert_eq!(reward(0), 1_000_000, "there is no such block to be paid");
	// 2^(-1/100) = 0.993092...
	assert_eq!(reward(2), 993_092);
	assert_eq!(reward(51), 707_107);
	assert_eq!(reward(101), 500_000);
	assert_eq!(reward(201), 250_000);
	assert_eq!(reward(401), 62_500);
	assert_eq!(reward(501), 60_000);
	assert_eq!(reward(u32::MAX), 60_000);
}

/// What was minted is the sum of the schedule, the jackpot's share included.
#[test]
fn issuance_follows_the_schedule() {
	Genesis::default().run(|| {
		BlockReward::set(1_000_000);
		RewardHalfLife::set(20);
		RewardTail::set(100_000);
		let (issued, jackpot) = (Balances::total_issuance(), Balances::free_balance(JACKPOT));
		let (mut minted, mut shared) = (0, 0);
		for height in 2..=120 {
			run_block(1);
			let reward = Hashrate::block_reward(height);
			minted += reward;
			shared += reward / 10;
			assert_eq!(Balances::total_issuance(), issued + minted, "{height}");
			assert_eq!(Balances::free_balance(JACKPOT), jackpot + shared, "{height}");
		}
		// In closed form: R (1 - tail / R) / (1 - 2^(-1 / H)) until the tail, less the first.
		let q = (-1.0f64 / 20.0).exp2();
		let until = (1.0f64 / 0.1).log2() * 20.0 + 1.0;
		let falling = 1e6 * (1.0 - q.powi(until.ceil() as i32 - 1)) / (1.0 - q) - 1e6;
		let tail = (120.0 - until.ceil() + 1.0) * 1e5;
		let expected = falling + tail;
		assert!((minted as f64 / expected - 1.0).abs() < 1e-6, "{minted} is not {expected}");
	});
}

proptest! {
	#[test]
	fn the_reward_is_exact_and_never_rises(
		first in 0..1u128 << 100,
		tail in 0..1u128 << 60,
		half_life in 1..u32::MAX,
		n in any::<u32>(),
		later in any::<u32>(),
	) {
		let reward = |n| scheduled(n, first, half_life, tail);
		let exact = first as f64 * (-f64::from(n.saturating_sub(1)) / f64::from(half_life)).exp2();
		let exact = exact.max(tail as f64);
		prop_assert!((reward(n) as f64 - exact).abs() <= exact * 1e-12 + 1.0);
		// Up to the rounding of the factor, 64 half-units of 2^-64.
		prop_assert!(reward(n.saturating_add(later)) <= reward(n) + (first >> 58) + 1);
		prop_assert!(reward(n) >= tail && reward(n) <= first.max(tail));
	}
}
