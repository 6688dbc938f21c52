use crate::{mock::*, Error, Event, Records};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::DispatchError;
use trainyard_protocol::{
	job::Balance,
	reputation::{Deed, Record, Role, HALF_LIFE, SPENT},
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
