//! The block reward.

use super::*;

#[test]
fn every_block_mints_the_same() {
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
	Genesis { trainers: vec![(2, 20), (3, 30)], min_power: 0 }.run(|| {
		stand(1, 10);
		run_to_session(1, 2);
		run_to(10, 2);
		// Account 1 enters with session 2, whose first block it makes: index 0 of the new
		// authorities is account 2 among the old ones.
		run_block(1);
		assert_eq!(Session::current_index(), 2);
		assert!(events().contains(&Event::BlockRewarded { author: 1, reward: 900, jackpot: 100 }));
		run_block(1);
		assert_eq!(events(), vec![Event::BlockRewarded { author: 1, reward: 900, jackpot: 100 }]);
	});
}
