//! Standing for block authorship.

use super::*;
use crate::{Absence, Candidates, Error};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::DispatchError;

fn set(who: u64, candidate: bool) -> sp_runtime::DispatchResult {
	Hashrate::set_candidate(RuntimeOrigin::signed(who), candidate)
}

#[test]
fn candidates_come_and_go() {
	Genesis::default().run(|| {
		register(5);
		set_keys(5);
		Absence::<Test>::insert(5, 19_000);
		assert_ok!(set(5, true));
		assert!(Hashrate::is_candidate(&5));
		assert_eq!(Absence::<Test>::get(5), 19_000, "coming back is no fresh start");
		assert_last(Event::CandidacyChanged { trainer: 5, candidate: true });
		assert_ok!(set(5, false));
		assert!(!Hashrate::is_candidate(&5));
		assert_last(Event::CandidacyChanged { trainer: 5, candidate: false });
	});
}

#[test]
fn saying_it_twice_changes_nothing() {
	Genesis::default().run(|| {
		let before = events().len();
		assert_ok!(set(1, true));
		register(5);
		assert_ok!(set(5, false));
		assert_eq!(events().len(), before + 1, "the registration only");
		assert_eq!(Candidates::<Test>::get().to_vec(), vec![1, 2, 3]);
	});
}

#[test]
fn candidacy_refuses() {
	Genesis::default().run(|| {
		assert_noop!(set(5, true), Error::<Test>::NotRegistered);
		assert_noop!(
			Hashrate::set_candidate(RuntimeOrigin::root(), true),
			DispatchError::BadOrigin
		);
		register(5);
		assert_noop!(set(5, true), Error::<Test>::NoSessionKeys);
		assert_ok!(Hashrate::deregister(RuntimeOrigin::signed(5)));
		assert_noop!(set(5, true), Error::<Test>::Leaving);
		assert_noop!(set(5, false), Error::<Test>::Leaving);
	});
}

#[test]
fn a_full_list_yields_to_power_only() {
	Genesis::default().run(|| {
		stand(6, 5);
		stand(5, 5);
		stand(4, 100);
		assert_eq!(Candidates::<Test>::get().to_vec(), vec![1, 2, 3, 4, 5, 6]);

		register(7);
		set_keys(7);
		set_power(7, 5);
		assert_noop!(set(7, true), Error::<Test>::CandidatesFull);
		set_power(7, 6);
		assert_ok!(set(7, true));
		// Of the two weakest the first by account.
		assert_eq!(Candidates::<Test>::get().to_vec(), vec![1, 2, 3, 4, 6, 7]);
		assert!(events().contains(&Event::CandidateDisplaced { trainer: 5, by: 7 }));
		assert_last(Event::CandidacyChanged { trainer: 7, candidate: true });
	});
}
