//! Claims that are enrolled, and how they are settled.

use crate::{mock::*, Claims, Error, Event};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::DispatchError;
use trainyard_protocol::{
	pools::Rules,
	reputation::{Deed, Record},
};

#[test]
fn a_trainer_has_the_mean_whatever_tickets_bring() {
	for (got, gain) in [(1_380, 430), (600, -350), (950, 0)] {
		run(|| {
			let id = made(4_000);
			assert_ok!(Pools::enrol(signed(11), id, 0));
			assert_eq!((pool(id).reserved, pool(id).enrolled), (RESERVE, 1));
			assert_eq!(Held::get()[&(0, 11)], Pools::account_of(id));
			let enrolled = Event::Enrolled { pool: id, job: 0, trainer: 11, reserve: RESERVE };
			assert!(events().contains(&enrolled));
			run_to(40);
			settle(0, 11, got, Some(1_000));
			assert_eq!(free(11), ENDOWMENT + 950, "the mean less 5 %");
			let after = pool(id);
			assert_eq!((after.capital as i128, after.reserved), (4_000 + gain, 0));
			assert_eq!((after.enrolled, after.quiet), (0, 40));
			let paid = Event::Settled { pool: id, job: 0, trainer: 11, got, paid: 950 };
			assert!(events().contains(&paid));
			assert_eq!(Claims::<Test>::iter().count(), 0);
		});
	}
}

/// Where no verdict says that the result is true the pool passes on what it got.
#[test]
fn what_no_verdict_decides_is_passed_on() {
	for got in [0, 1, 200, 5_000] {
		run(|| {
			let id = made(4_000);
			assert_ok!(Pools::enrol(signed(11), id, 0));
			settle(0, 11, got, None);
			assert_eq!((free(11), pool(id).capital), (ENDOWMENT + got, 4_000));
		});
	}
}

#[test]
fn what_nobody_enrolled_is_none_of_a_pools_business() {
	run(|| {
		use trainyard_traits::ClaimPools;
		let id = made(4_000);
		<Pools as ClaimPools<AccountId>>::paid(3, &12, 900, Some(5));
		assert_eq!(pool(id).capital, 4_000);
	});
}

#[test]
fn a_pool_takes_claims_that_its_free_capital_covers() {
	run(|| {
		let id = made(MIN);
		assert_noop!(Pools::enrol(signed(11), 9, 0), Error::<Test>::NoSuchPool);
		assert_noop!(Pools::enrol(signed(ANNA), id, 0), DispatchError::Other("nothing to enrol"));
		for who in [11, 12] {
			assert_ok!(Pools::enrol(signed(who), id, 0));
		}
		assert_eq!(pool(id).free(), MIN - 2 * RESERVE);
		let short = Pools::enrol(signed(13), id, 0).unwrap_err();
		assert_eq!(short, Error::<Test>::NotEnoughCapital.into());
		Held::mutate(|held| held.remove(&(0, 13)));
		// With all that is reserved used up it still pays everybody.
		settle(0, 11, 0, Some(420));
		settle(0, 12, 600, Some(1_000));
		assert_eq!((free(11), free(12)), (ENDOWMENT + 399, ENDOWMENT + 950));
		assert_eq!(pool(id).capital, MIN - 399 - 350);
	});
}

#[test]
fn a_pool_asks_for_a_record() {
	run(|| {
		let rules = Rules { standing: 900_000, ..rules() };
		assert_ok!(Pools::create(signed(MAKER), rules, 4_000));
		let bad = Record::default().with(Deed::Convicted, 1_000_000_000_000_000, 1);
		assert!(bad.standing() < 900_000, "{}", bad.standing());
		Known::mutate(|all| all.insert(11, bad));
		assert_noop!(Pools::enrol(signed(11), 0, 0), Error::<Test>::BadRecord);
		let good = Record::default().with(Deed::Done, 1_000_000_000_000_000, 1);
		assert!(good.standing() >= 900_000, "{}", good.standing());
		Known::mutate(|all| all.insert(11, good));
		assert_ok!(Pools::enrol(signed(11), 0, 0));
	});
}

/// What a trainer without an account cannot receive the pool keeps.
#[test]
fn what_cannot_be_delivered_stays_in_the_pool() {
	run(|| {
		Trained::mutate(|all| all.insert((0, POOR), RESERVE));
		let id = made(4_000);
		assert_ok!(Pools::enrol(signed(POOR), id, 0));
		settle(0, POOR, 20, Some(40));
		assert_eq!((free(POOR), pool(id).capital), (0, 4_020));
		let kept = Event::Undelivered { pool: id, trainer: POOR, amount: 38 };
		assert!(events().contains(&kept));
	});
}

#[test]
fn a_pool_enrols_for_its_period_and_again_after_a_rest() {
	run(|| {
		let id = made(4_000);
		run_to(100);
		assert_ok!(Pools::enrol(signed(11), id, 0));
		run_to(101);
		assert_noop!(Pools::enrol(signed(12), id, 0), Error::<Test>::Resting);
		run_to(150);
		settle(0, 11, 900, Some(900));
		run_to(150 + REST - 1);
		assert_noop!(Pools::enrol(signed(12), id, 0), Error::<Test>::Resting);
		run_to(150 + REST);
		assert_ok!(Pools::enrol(signed(12), id, 0));
		assert_eq!(pool(id).since, 150 + REST);
	});
}
