//! Who joins and leaves, for how much.

use crate::{mock::*, Error, Event, Members, NextPool, Pools as AllPools};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::{DispatchError, TokenError};
use trainyard_protocol::{job::Balance, pools::Rules};

#[test]
fn a_pool_is_made_with_rules_that_stay() {
	run(|| {
		let id = made(5_000);
		assert_eq!((id, NextPool::<Test>::get()), (0, 1));
		let made = pool(id);
		assert_eq!(
			(made.maker, made.rules, made.capital, made.shares),
			(MAKER, rules(), 5_000, 5_000)
		);
		assert_eq!(free(MAKER), ENDOWMENT - 5_000 - ED);
		assert_eq!(free(Pools::account_of(id)), 5_000 + ED);
		assert_eq!(Pools::shares_of(id, &MAKER), 5_000);
		assert!(events().contains(&Event::Created { pool: id, maker: MAKER, rules: rules() }));
		assert_eq!(Pools::pool(id), Some(made));
		assert_eq!((Pools::numbers(None, 9), Pools::numbers(Some(0), 9)), (vec![0], vec![]));
		assert_ne!(Pools::account_of(0), Pools::account_of(1));
	});
}

#[test]
fn what_breaks_a_rule_is_not_made() {
	run(|| {
		for bad in [
			Rules { fee: 51, ..rules() },
			Rules { standing: 1_000_001, ..rules() },
			Rules { period: 4, ..rules() },
			Rules { period: 1_001, ..rules() },
		] {
			assert_noop!(Pools::create(signed(MAKER), bad, MIN), Error::<Test>::BadRules);
		}
		let create = |who, stake| Pools::create(signed(who), rules(), stake);
		assert_noop!(create(MAKER, MIN - 1), Error::<Test>::StakeTooSmall);
		assert_noop!(create(MAKER, Balance::MAX), Error::<Test>::TooMany);
		let poor: DispatchError = TokenError::FundsUnavailable.into();
		assert_noop!(create(POOR, MIN), poor);
		NextPool::<Test>::put(u32::MAX);
		assert_noop!(create(MAKER, MIN), Error::<Test>::TooMany);
	});
}

#[test]
fn members_have_parts_of_what_there_is() {
	run(|| {
		let id = made(4_000);
		assert_ok!(Pools::join(signed(ANNA), id, 2_000, 2_000));
		assert!(events().contains(&Event::Joined {
			pool: id,
			who: ANNA,
			stake: 2_000,
			shares: 2_000
		}));
		// The pool gains a half.
		assert_ok!(Pools::enrol(signed(11), id, 0));
		settle(0, 11, 3_000, Some(0));
		assert_eq!(pool(id).capital, 9_000);
		assert_ok!(Pools::join(signed(BERT), id, 3_000, 2_000));
		assert_eq!(Pools::shares_of(id, &BERT), 2_000);
		assert_ok!(Pools::leave(signed(ANNA), id));
		assert_eq!(free(ANNA), ENDOWMENT + 1_000);
		assert!(events().contains(&Event::Left { pool: id, who: ANNA, paid: 3_000 }));
		// Who joins twice has both.
		assert_ok!(Pools::join(signed(BERT), id, 1_500, 0));
		assert_eq!(Pools::shares_of(id, &BERT), 3_000);
		assert_ok!(Pools::leave(signed(BERT), id));
		assert_eq!(free(BERT), ENDOWMENT);
	});
}

#[test]
fn what_breaks_a_rule_is_no_member() {
	run(|| {
		let join = |id, stake, least| Pools::join(signed(ANNA), id, stake, least);
		assert_noop!(join(0, MIN, 0), Error::<Test>::NoSuchPool);
		assert_noop!(Pools::leave(signed(ANNA), 0), Error::<Test>::NoSuchPool);
		let id = made(4_000);
		assert_noop!(join(id, MIN - 1, 0), Error::<Test>::StakeTooSmall);
		assert_noop!(join(id, MIN, MIN + 1), Error::<Test>::FewerShares);
		assert_noop!(Pools::leave(signed(ANNA), id), Error::<Test>::NotAMember);
		let dear: DispatchError = TokenError::FundsUnavailable.into();
		assert_noop!(join(id, ENDOWMENT * 2, 0), dear);
		assert_eq!(Members::<Test>::iter().count(), 1);
	});
}

/// The last member takes all, and the maker the existential deposit and what others sent.
#[test]
fn a_pool_ends_with_its_last_member() {
	run(|| {
		let id = made(4_000);
		assert_ok!(Pools::join(signed(ANNA), id, 2_000, 0));
		let account = Pools::account_of(id);
		assert_ok!(Balances::transfer_keep_alive(signed(BERT), account, 70));
		assert_ok!(Pools::leave(signed(MAKER), id));
		assert_eq!(free(MAKER), ENDOWMENT - ED);
		assert_ok!(Pools::leave(signed(ANNA), id));
		assert_eq!((free(ANNA), free(MAKER)), (ENDOWMENT, ENDOWMENT + 70));
		assert!(events().contains(&Event::Dissolved { pool: id }));
		assert_eq!((free(account), AllPools::<Test>::iter().count()), (0, 0));
		assert_noop!(Pools::leave(signed(ANNA), id), Error::<Test>::NoSuchPool);
	});
}
