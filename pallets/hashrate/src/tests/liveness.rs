//! Authorities that make no blocks.

use super::*;
use crate::{Absence, Authored, SessionBlocks};
use frame_support::assert_ok;

#[test]
fn who_makes_no_block_is_suspended() {
	// The epoch's five blocks: 2.5 are expected of account 3, 1 2/3 of 2.
	Genesis::default().run(|| {
		run_to_session(7, 1);
		// The first session counts the block with which the second began.
		assert_eq!(Absence::<Test>::get(3), 3_000 + 6 * 2_500);
		assert_eq!(Absence::<Test>::get(2), 2_000 + 6 * 1_666);
		assert_eq!(Absence::<Test>::get(1), 0);
		assert!(Hashrate::is_candidate(&3));

		run_to_session(8, 1);
		assert!(!Hashrate::is_candidate(&3));
		assert!(events().contains(&Event::AuthoritySuspended { trainer: 3 }));
		assert!(Hashrate::is_candidate(&2));
		assert!(Hashrate::is_candidate(&1));
		assert!(!Absence::<Test>::contains_key(3));

		run_to_session(9, 1);
		assert_eq!(Session::validators(), vec![1, 2]);
		// It stands again when it is back.
		assert_ok!(Hashrate::set_candidate(RuntimeOrigin::signed(3), true));
		run_to_session(11, 1);
		assert_eq!(Session::validators(), vec![1, 2]);
		run_to_session(12, 1);
		assert!(Session::validators().contains(&3));
	});
}

#[test]
fn one_block_clears_the_account() {
	Genesis::default().run(|| {
		run_to_session(7, 1);
		run_block(3);
		assert_eq!(Absence::<Test>::get(3), 0);
		assert_eq!(Authored::<Test>::get().to_vec(), vec![3]);
		run_block(1);
		run_block(3);
		assert_eq!(Authored::<Test>::get().to_vec(), vec![1, 3]);
		assert_eq!(SessionBlocks::<Test>::get(), 3);
		run_to_session(8, 1);
		assert!(Hashrate::is_candidate(&3));
		assert_eq!(Absence::<Test>::get(3), 0);
		run_to_session(9, 1);
		assert_eq!(Absence::<Test>::get(3), 2_500);
	});
}

#[test]
fn leaving_forgets_absences() {
	Genesis::default().run(|| {
		run_to_session(2, 1);
		assert_ok!(Hashrate::deregister(RuntimeOrigin::signed(3)));
		// It serves until block 20.
		run_to(21 + LAG + UNBONDING, 1);
		assert_ok!(Hashrate::withdraw(RuntimeOrigin::signed(3)));
		assert!(!Absence::<Test>::contains_key(3));
	});
}

#[test]
fn more_authors_than_authorities_do_no_harm() {
	Genesis::default().run(|| {
		for who in 1..=6 {
			Hashrate::note_presence(&who);
		}
		assert_eq!(Authored::<Test>::get().to_vec(), vec![1, 2, 3, 4]);
	});
}
