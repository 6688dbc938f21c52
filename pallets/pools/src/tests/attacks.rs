//! What somebody tries who knows more than others.

use crate::{mock::*, Error};
use frame_support::{assert_err, assert_noop, assert_ok};
use sp_runtime::DispatchError;

/// Attack: who knows that the tickets of enrolled claims won joins before they are paid, and who knows that they did not
/// leaves.
#[test]
fn nobody_buys_into_a_gain_or_flees_from_a_loss() {
	run(|| {
		let id = made(4_000);
		assert_ok!(Pools::join(signed(ANNA), id, 2_000, 0));
		assert_ok!(Pools::enrol(signed(11), id, 0));
		assert_noop!(Pools::join(signed(BERT), id, 2_000, 0), Error::<Test>::ClaimsEnrolled);
		assert_noop!(Pools::leave(signed(ANNA), id), Error::<Test>::ClaimsEnrolled);
		settle(0, 11, 600, Some(1_000));
		// The loss is everybody's.
		assert_ok!(Pools::leave(signed(ANNA), id));
		assert_eq!(free(ANNA), ENDOWMENT - 350 * 2 / 6 - 1);
	});
}

/// Attack: claims are enrolled again and again, so that members never get out. A period ends, and a rest follows.
#[test]
fn members_get_out_whoever_enrols() {
	run(|| {
		let id = made(4_000);
		assert_ok!(Pools::join(signed(ANNA), id, 2_000, 0));
		let mut job = 0;
		for height in (1..=100).step_by(20) {
			run_to(height);
			assert_ok!(Pools::enrol(signed(11), id, job));
			job += 1;
		}
		run_to(101);
		for job in 0..job {
			assert_noop!(Pools::enrol(signed(12), id, 7), Error::<Test>::Resting);
			assert_noop!(Pools::leave(signed(ANNA), id), Error::<Test>::ClaimsEnrolled);
			settle(job, 11, 950, Some(1_000));
		}
		assert_noop!(Pools::enrol(signed(12), id, 7), Error::<Test>::Resting);
		assert_ok!(Pools::leave(signed(ANNA), id));
		assert_eq!(free(ANNA), ENDOWMENT);
	});
}

/// Attack: the first member makes shares dear by a gift, so that the next one has none for its stake.
#[test]
fn gifts_move_no_shares() {
	run(|| {
		let id = made(MIN);
		assert_ok!(Balances::transfer_keep_alive(signed(MAKER), Pools::account_of(id), 900_000));
		assert_ok!(Pools::join(signed(ANNA), id, MIN, MIN));
		assert_ok!(Pools::leave(signed(ANNA), id));
		assert_eq!(free(ANNA), ENDOWMENT);
	});
}

/// Attack: who joins and leaves again gains by rounding.
#[test]
fn rounding_is_for_those_who_stay() {
	run(|| {
		let id = made(3_001);
		assert_ok!(Pools::enrol(signed(11), id, 0));
		settle(0, 11, 1_000, Some(333));
		for _ in 0..50 {
			assert_ok!(Pools::join(signed(ANNA), id, 1_007, 0));
			assert_ok!(Pools::leave(signed(ANNA), id));
			assert!(free(ANNA) <= ENDOWMENT);
		}
		assert_ok!(Pools::leave(signed(MAKER), id));
		assert!(free(MAKER) >= ENDOWMENT + 684);
	});
}

/// A pool that has lost all is dead: nobody buys shares of nothing, and its members may go.
#[test]
fn a_pool_without_capital_takes_nobody() {
	run(|| {
		Trained::mutate(|all| all.insert((0, 11), MIN));
		let id = made(MIN);
		assert_ok!(Pools::enrol(signed(11), id, 0));
		// Nothing more is owed than was reserved, whatever a market says.
		settle(0, 11, 0, Some(100 * MIN));
		assert_eq!((free(11), pool(id).capital), (ENDOWMENT + MIN, 0));
		assert_noop!(Pools::join(signed(ANNA), id, MIN, 0), Error::<Test>::Exhausted);
		assert_ok!(Pools::leave(signed(MAKER), id));
		assert_eq!(free(MAKER), ENDOWMENT - MIN);
	});
}

/// Attack: a job that is trained for months, and costs cents, keeps members in.
#[test]
fn nobody_locks_members_in_by_a_long_job() {
	run(|| {
		let id = made(4_000);
		let end = pool(id).since + pool(id).rules.period;
		Ends::set(end + 1);
		assert_err!(Pools::enrol(signed(11), id, 0), DispatchError::Other("it takes too long"));
		Ends::set(end);
		assert_ok!(Pools::enrol(signed(11), id, 0));
	});
}
