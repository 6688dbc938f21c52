//! Session keys stay while they are needed.

use super::*;
use crate::Error;
use frame_support::{assert_noop, assert_ok};
use sp_runtime::{traits::Dispatchable, DispatchError};

#[test]
fn the_session_pallets_own_call_is_filtered() {
	Genesis::default().run(|| {
		for who in [1, 5] {
			let call = RuntimeCall::Session(pallet_session::Call::purge_keys {});
			let refused = call.dispatch(RuntimeOrigin::signed(who)).unwrap_err();
			assert_eq!(refused.error, frame_system::Error::<Test>::CallFiltered.into());
		}
		// Others pass the filter.
		let call = RuntimeCall::System(frame_system::Call::remark { remark: vec![] });
		assert_ok!(call.dispatch(RuntimeOrigin::signed(1)));
	});
}

#[test]
fn keys_go_when_nobody_needs_them() {
	Genesis::default().run(|| {
		let purge = || Hashrate::purge_keys(RuntimeOrigin::signed(3));
		assert_noop!(purge(), Error::<Test>::KeysInUse);
		assert_ok!(Hashrate::set_candidate(RuntimeOrigin::signed(3), false));
		// It is still an authority of this session and the next.
		assert_noop!(purge(), Error::<Test>::KeysInUse);
		run_to_session(1, 1);
		// No longer announced, but still present.
		assert_noop!(purge(), Error::<Test>::KeysInUse);
		run_to_session(2, 1);
		assert_ok!(purge());
		assert!(pallet_session::NextKeys::<Test>::get(3).is_none());
		assert_noop!(purge(), pallet_session::Error::<Test>::NoKeys);
		assert_noop!(Hashrate::purge_keys(RuntimeOrigin::root()), DispatchError::BadOrigin);
	});
}

#[test]
fn a_chain_survives_the_loss_of_all_keys() {
	// Nothing in a runtime with the filter can do this; a mistake of its root could.
	Genesis::default().run(|| {
		for who in 1..=3 {
			assert_ok!(Hashrate::set_candidate(RuntimeOrigin::signed(who), false));
			assert_ok!(Session::purge_keys(RuntimeOrigin::signed(who)));
		}
		run_to_session(4, 1);
		assert_eq!(Session::validators(), Vec::<u64>::new());
		assert_eq!(babe_weights(), vec![10, 20, 30]);
		assert_eq!(grandpa_weights(), vec![10, 20, 30]);
		assert_eq!(Babe::epoch_index(), 4);
		// And finds its way back.
		set_keys(2);
		assert_ok!(Hashrate::set_candidate(RuntimeOrigin::signed(2), true));
		run_to_session(5, 1);
		run_to_session(7, 2);
		assert_eq!(Session::validators(), vec![2]);
		assert_eq!((babe_weights(), grandpa_weights()), (vec![20], vec![20]));
	});
}
