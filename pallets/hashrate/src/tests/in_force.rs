//! Sets that stay in force while finality stalls.

use super::{
	offences::{bond, lost, report_votes, two_votes},
	*,
};
use crate::{
	in_force::OVERTAKEN_AT_ONCE, offences::session_of_votes, Error, LastServed, OldestRecord,
	OldestSet, Overtaken, Records, Starts, Unfinal,
};
use frame_support::{assert_noop, assert_ok};
use pallet_grandpa::SetIdSession;
use proptest::prelude::*;
use sp_runtime::Perbill;
use trainyard_traits::SessionWeights;

fn withdraw(who: u64) -> sp_runtime::DispatchResult {
	Hashrate::withdraw(RuntimeOrigin::signed(who))
}

fn leave(who: u64) {
	assert_ok!(Hashrate::deregister(RuntimeOrigin::signed(who)));
}

/// Blocks by `author` until height `number`, each of them checked.
fn checked_to(number: u32, author: u64) {
	while System::block_number() < number {
		run_block(author);
		Hashrate::do_try_state().unwrap();
	}
}

#[test]
fn a_member_of_a_set_in_force_keeps_its_bond() {
	Genesis::default().run(|| {
		// 1 leaves in session 0, whose set votes on: nothing after block 3 becomes final.
		Stall::set(Some(3));
		leave(1);
		checked_to(100, 2);
		assert!(Session::current_index() > 15 && !Session::validators().contains(&1));
		assert!(Grandpa::current_set_id() >= 1, "another set was announced long ago");
		assert_noop!(withdraw(1), Error::<Test>::StillInForce);
		assert_eq!((OldestRecord::<Test>::get(), Overtaken::<Test>::iter().count()), (Some(0), 0));

		// It votes for two blocks of a height at which its set decides.
		assert_ok!(report_votes(two_votes(1, 0, 3, [7, 7])));
		assert_eq!((lost(1), bond(1)), (Perbill::from_percent(25), 75));

		// Blocks become final again: four sessions are overtaken in each, and 1 served in session 1.
		Stall::set(None);
		run_block(2);
		let overtaken = System::block_number();
		assert_eq!(Overtaken::<Test>::get(1), Some(overtaken));
		checked_to(overtaken + UNBONDING - 1, 2);
		assert_noop!(withdraw(1), Error::<Test>::StillInForce);
		run_block(2);
		let before = Balances::free_balance(1);
		assert_ok!(withdraw(1));
		assert_eq!((Balances::free_balance(1), LastServed::<Test>::get(1)), (before + 75, None));
	});
}

/// A stall that ends before the bond is free is no different from a set that serves for longer.
#[test]
fn what_becomes_final_in_parts_counts_in_parts() {
	Genesis::default().run(|| {
		leave(1);
		// Session 1, the last of 1, ends with block 10.
		Stall::set(Some(10));
		checked_to(20, 2);
		assert_eq!((Overtaken::<Test>::get(0), Overtaken::<Test>::get(1)), (Some(8), None));
		assert_eq!(Unfinal::<Test>::get(), Some(1));
		checked_to(60, 2);
		assert!(Hashrate::recorded().unwrap().contains(&1));
		assert!(!Records::<Test>::contains_key(0), "nobody answers for session 0 any more");
		assert_noop!(withdraw(1), Error::<Test>::StillInForce);
		Stall::set(Some(11));
		checked_to(61 + UNBONDING - 1, 2);
		assert_noop!(withdraw(1), Error::<Test>::StillInForce);
		run_block(2);
		assert_ok!(withdraw(1));
	});
}

#[test]
fn who_was_no_authority_may_go_while_finality_stalls() {
	Genesis::default().run(|| {
		Stall::set(Some(3));
		register(5);
		leave(5);
		checked_to(1 + UNBONDING, 1);
		assert_ok!(withdraw(5));
	});
}

/// Founders are authorities like others. Who goes on as an authority because there is nobody else does
/// not do so without a bond.
#[test]
fn founders_and_last_authorities_wait_too() {
	Genesis { trainers: vec![(1, 10)], min_share: 0 }.run(|| {
		crate::Founders::<Test>::put(frame_support::BoundedVec::truncate_from(vec![(1, 7)]));
		leave(1);
		checked_to(80, 1);
		assert_eq!(Session::validators(), vec![1]);
		assert_noop!(withdraw(1), Error::<Test>::StillInForce);
		stand(2, 10);
		run_to_session(Session::current_index() + 2, 1);
		run_to(System::block_number() + EPOCH as u32 - 1, 1);
		run_block(2);
		assert_eq!(Session::validators(), vec![2]);
		let last = LastServed::<Test>::get(1).unwrap();
		assert_eq!(last + 1, Session::current_index());
		let start = Starts::<Test>::get(last + 1).unwrap();
		checked_to(start + LAG + UNBONDING - 1, 2);
		assert_noop!(withdraw(1), Error::<Test>::StillInForce);
		run_block(2);
		assert_ok!(withdraw(1));
		assert!(crate::Founders::<Test>::get().is_empty());
	});
}

/// Sets are remembered for as long as sessions are, however many there are, and no longer.
#[test]
fn votes_of_the_set_in_force_count_after_many_sets() {
	Genesis::default().run(|| {
		Stall::set(Some(3));
		for session in 1..=12 {
			set_power(3, if session % 2 == 0 { 30 } else { 300 });
			run_block(3);
			run_to_session(session, 2);
		}
		let last = Grandpa::current_set_id();
		assert!(last > 8, "{last}");
		let votes = || two_votes(1, 0, 3, [7, 8]);
		assert_eq!(session_of_votes::<Test>(&votes()), Some(1));
		assert_ok!(report_votes(votes()));
		assert!(bond(1) < MIN_BOND);

		Stall::set(None);
		for session in 13..=40 {
			set_power(3, if session % 2 == 0 { 30 } else { 300 });
			run_block(3);
			run_to_session(session, 2);
			Hashrate::do_try_state().unwrap();
			// The last of each set on record, and that of the one before the first, are there.
			let oldest = OldestSet::<Test>::get().unwrap();
			let current = Grandpa::current_set_id();
			assert!((oldest..=current).all(SetIdSession::<Test>::contains_key));
			assert_eq!(SetIdSession::<Test>::iter().count() as u64, current - oldest + 1);
			let on_record = OldestRecord::<Test>::get().unwrap();
			assert!(oldest == 0 || SetIdSession::<Test>::get(oldest).unwrap() < on_record);
		}
		assert_eq!(session_of_votes::<Test>(&votes()), None);
		assert!(SetIdSession::<Test>::iter().count() <= 9);
	});
}

/// After a stall of any length a block has little to do, and in the end records are as few as ever.
#[test]
fn a_long_stall_leaves_no_block_much_to_do() {
	Genesis::default().run(|| {
		Stall::set(Some(1));
		// Sessions of one block, by skipped slots.
		for _ in 0..60 {
			run_slot(*Babe::current_slot() + EPOCH, 1);
		}
		assert_eq!(Hashrate::recorded(), Some(0..=60));
		Hashrate::do_try_state().unwrap();
		Stall::set(None);
		let mut overtaken = 0;
		let mut oldest = 0;
		for _ in 0..200 {
			run_block(1);
			Hashrate::do_try_state().unwrap();
			let next = Unfinal::<Test>::get().unwrap();
			assert!(next - overtaken <= OVERTAKEN_AT_ONCE);
			overtaken = next;
			let first = OldestRecord::<Test>::get().unwrap();
			assert!(first - oldest <= 4);
			oldest = first;
		}
		let recorded = Hashrate::recorded().unwrap();
		assert_eq!(*recorded.end(), 100);
		// As where there was no stall.
		assert_eq!(*recorded.start(), 95);
	});
}

/// What other pallets ask: also of authorities that the genesis gave to the session pallet alone.
#[test]
fn weights_of_the_running_session() {
	Genesis::default().run(|| {
		let weights = Hashrate::weights;
		assert_eq!(weights(), vec![(1, 10), (2, 20), (3, 30)]);
		set_power(2, 200);
		run_to_session(1, 1);
		assert_eq!(weights()[1], (2, 20));
		run_to_session(2, 1);
		assert_eq!(weights()[1], (2, 200));
		crate::CurrentWeights::<Test>::kill();
		assert_eq!(weights(), vec![(1, 1), (2, 1), (3, 1)]);
	});
}

proptest! {
	/// However finality comes and goes: nobody withdraws who was an authority in the last `UNBONDING`
	/// blocks before which the chain knew that it is not one any more, and everybody can in the end.
	#[test]
	fn no_member_of_a_set_in_force_ever_withdraws(
		steps in proptest::collection::vec((0..4u32, 0..30u32, 1..5u32), 1..40),
	) {
		Genesis::default().run(|| {
			leave(1);
			let mut last_served = 0;
			let mut overtaken = None;
			let mut left = None;
			let mut known = 0;
			for (kind, back, blocks) in steps {
				let now = System::block_number();
				Stall::set((kind != 0).then(|| known.max(now.saturating_sub(back))));
				for _ in 0..blocks {
					run_block(2);
					let now = System::block_number();
					known = <Known as trainyard_traits::Finality>::final_height();
					if Session::validators().contains(&1) {
						last_served = now;
					}
					// The session after the last block in which it served began with the next one.
					if overtaken.is_none() && last_served < now && known > last_served {
						overtaken = Some(now);
					}
					if left.is_none() && withdraw(1).is_ok() {
						left = Some(now);
					}
					Hashrate::do_try_state().unwrap();
				}
			}
			if let Some(left) = left {
				assert!(overtaken.is_some_and(|at| at + UNBONDING <= left));
			}
			Stall::set(None);
			run_to(System::block_number() + 20 + UNBONDING, 2);
			assert!(left.is_some() || withdraw(1).is_ok());
		});
	}
}
