use crate::{mock::*, watching::CLEARED_AT_ONCE, Alive, Error, Event, Found, Records, Watching};
use frame_support::{assert_noop, assert_ok, traits::Hooks};
use sp_runtime::DispatchError;
use trainyard_protocol::{
	job::Balance,
	reputation::{Deed, Record, Role, HALF_LIFE, SPENT},
	watch::WATCH_BLOCKS,
};
use trainyard_traits::Reputation as _;

const TRY: Balance = 1_000_000_000_000;

fn note(role: Role, who: u64, deed: Deed, weight: Balance) {
	<Reputation as trainyard_traits::Reputation<u64>>::note(role, &who, deed, weight);
}

#[test]
fn a_deed_is_remembered_in_its_role_and_decays() {
	run(|| {
		note(Role::Trainer, 1, Deed::Done, 4 * TRY);
		note(Role::Trainer, 1, Deed::Late, TRY);
		note(Role::Verifier, 1, Deed::Done, TRY);
		System::assert_last_event(
			Event::Noted { who: 1, role: Role::Verifier, deed: Deed::Done, weight: TRY }.into(),
		);
		System::set_block_number(1 + HALF_LIFE);
		let record = Reputation::record(Role::Trainer, &1);
		assert_eq!((record.done, record.late, record.at), (2 * TRY, TRY / 2, 1 + HALF_LIFE));
		let roles: Vec<Role> = Reputation::records_of(&1).iter().map(|(role, _)| *role).collect();
		assert_eq!(roles, [Role::Trainer, Role::Verifier]);
		assert!(Reputation::records_of(&2).is_empty());
		assert_eq!(
			Reputation::record(Role::Submitter, &1),
			Record { at: record.at, ..Default::default() }
		);
		note(Role::Trainer, 1, Deed::Done, TRY);
		assert_eq!(Reputation::record(Role::Trainer, &1).done, 3 * TRY);
	});
}

#[test]
fn what_burned_nothing_leaves_no_record() {
	run(|| {
		note(Role::Trainer, 1, Deed::Done, 0);
		assert_eq!(Records::<Test>::iter().count(), 0);
		assert!(System::events().is_empty());
	});
}

#[test]
fn only_a_record_that_has_decayed_is_forgotten() {
	run(|| {
		let forget = |role| Reputation::forget(RuntimeOrigin::signed(9), role, 1);
		assert_noop!(forget(Role::Trainer), Error::<Test>::NoRecord);
		note(Role::Trainer, 1, Deed::Convicted, 4 * SPENT);
		assert_noop!(forget(Role::Trainer), Error::<Test>::StillCounts);
		assert_noop!(forget(Role::Verifier), Error::<Test>::NoRecord);
		System::set_block_number(1 + 2 * HALF_LIFE);
		assert_noop!(forget(Role::Trainer), Error::<Test>::StillCounts);
		System::set_block_number(3 + 2 * HALF_LIFE);
		let unsigned = Reputation::forget(RuntimeOrigin::none(), Role::Trainer, 1);
		assert_eq!(unsigned, Err(DispatchError::BadOrigin));
		assert_ok!(forget(Role::Trainer));
		System::assert_last_event(Event::Forgotten { who: 1, role: Role::Trainer }.into());
		assert_eq!(Records::<Test>::iter().count(), 0);
	});
}

fn to(height: u32) {
	while System::block_number() < height {
		System::set_block_number(System::block_number() + 1);
		Reputation::on_initialize(System::block_number());
	}
}

#[test]
fn whoever_looks_says_so_once_in_a_watch() {
	run(|| {
		let watch = |who| Reputation::watch(RuntimeOrigin::signed(who));
		assert_eq!(Reputation::watch(RuntimeOrigin::none()), Err(DispatchError::BadOrigin));
		to(WATCH_BLOCKS - 1);
		assert_ok!(watch(1));
		System::assert_last_event(Event::Watches { who: 1, watch: 0 }.into());
		assert_ok!(watch(2));
		assert_noop!(watch(1), Error::<Test>::HasSaidSo);
		let view = Reputation::watch_view();
		assert_eq!((view.watch, view.alive, view.so_far), (0, 0, 2));
		to(WATCH_BLOCKS);
		assert_ok!(watch(1));
		let view = Reputation::watch_view();
		assert_eq!((view.watch, view.alive, view.so_far), (1, 2, 1));
		to(2 * WATCH_BLOCKS);
		let view = Reputation::watch_view();
		assert_eq!((view.watch, view.alive, view.so_far), (2, 1, 0), "one has stopped");
	});
}

#[test]
fn what_finders_are_paid_says_what_one_more_may_expect() {
	run(|| {
		let found = |prize| <Reputation as trainyard_traits::Reputation<u64>>::found(prize);
		found(0);
		assert!(!Found::<Test>::exists());
		found(28 * TRY);
		let first = Reputation::watch_view();
		assert_eq!((first.prizes, first.next), (28 * TRY, first.per_day));
		for who in 1..=3 {
			assert_ok!(Reputation::watch(RuntimeOrigin::signed(who)));
		}
		System::set_block_number(WATCH_BLOCKS);
		let view = Reputation::watch_view();
		assert_eq!(view.next, view.per_day / 4);
		assert!(view.per_day < first.per_day);
		System::set_block_number(1 + HALF_LIFE);
		assert_eq!(Reputation::watch_view().prizes, 14 * TRY);
	});
}

/// A crowd of watchers is removed some at a time, and a block takes what is weighed.
#[test]
fn what_is_over_is_removed_piece_by_piece() {
	run(|| {
		for who in 0..u64::from(3 * CLEARED_AT_ONCE + 1) {
			assert_ok!(Reputation::watch(RuntimeOrigin::signed(who)));
		}
		to(2 * WATCH_BLOCKS - 1);
		assert_eq!(Watching::<Test>::iter().count(), 25, "it is the last one");
		for left in [17, 9, 1, 0, 0] {
			to(System::block_number() + 1);
			assert_eq!(Watching::<Test>::iter().count(), left);
		}
		assert_eq!(Alive::<Test>::iter().count(), 0);
	});
}
