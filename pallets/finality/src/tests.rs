//! Tests, by behaviour.

use crate::{mock::*, statements::agreed, Error, Final, Noted, Statements, INHERENT_IDENTIFIER};
use frame_support::{
	assert_noop, assert_ok,
	dispatch::{DispatchClass, GetDispatchInfo, Pays},
	inherent::ProvideInherent,
};
use proptest::prelude::*;
use sp_inherents::InherentData;
use sp_runtime::DispatchError;
use trainyard_traits::Finality as _;

/// Three with the same weight, and a fourth with a little more than the others.
const FOUR: &[(u64, u64)] = &[(1, 10), (2, 10), (3, 10), (4, 11)];

fn note(height: u32) -> Result<(), DispatchError> {
	Finality::note_final(RuntimeOrigin::none(), height)
}

/// What a node makes that knows this height.
fn made(height: u32) -> Option<crate::Call<Test>> {
	let mut data = InherentData::new();
	data.put_data(INHERENT_IDENTIFIER, &height).unwrap();
	Finality::create_inherent(&data)
}

#[test]
fn a_lone_authority_is_believed_at_once() {
	run(&[(1, 1)], || {
		says(1, 1, 0);
		assert_eq!(Finality::final_height(), 0);
		says(2, 1, 1);
		assert_eq!(Finality::final_height(), 1);
		says(9, 1, 6);
		assert_eq!((Finality::final_height(), Noted::<Test>::get()), (6, Some(9)));
	});
}

#[test]
fn more_than_two_thirds_must_have_seen_it() {
	run(FOUR, || {
		says(20, 1, 10);
		says(21, 2, 11);
		assert_eq!(Finality::final_height(), 0, "20 of 41");
		says(22, 3, 12);
		// 30 of 41.
		assert_eq!(Finality::final_height(), 10);
		says(23, 4, 15);
		// 31 of 41 said at least 11.
		assert_eq!(Finality::final_height(), 11);
		says(24, 1, 23);
		assert_eq!(Finality::final_height(), 12);
	});
	// Exactly two thirds are not more.
	run(&[(1, 10), (2, 10), (3, 10)], || {
		says(20, 1, 10);
		says(21, 2, 10);
		assert_eq!(Finality::final_height(), 0);
		says(22, 3, 1);
		assert_eq!(Finality::final_height(), 1);
	});
}

#[test]
fn a_third_can_hold_it_and_no_more() {
	run(&[(1, 34), (2, 66)], || {
		for number in 10..40 {
			says(number, 2, number - 1);
		}
		assert_eq!(Finality::final_height(), 0, "the first says nothing");
		says(40, 1, 3);
		assert_eq!(Finality::final_height(), 3);
	});
	run(&[(1, 33), (2, 67)], || {
		says(10, 2, 9);
		assert_eq!(Finality::final_height(), 9, "it is not needed");
	});
}

#[test]
fn it_never_falls() {
	run(&[(1, 1)], || {
		says(10, 1, 9);
		// Another set, of which nobody has seen that.
		Weights::set(vec![(2, 5), (3, 5)]);
		says(11, 2, 4);
		says(12, 3, 5);
		assert_eq!(Finality::final_height(), 9);
		says(13, 2, 12);
		says(14, 3, 11);
		assert_eq!(Finality::final_height(), 11);
	});
}

#[test]
fn those_who_left_are_forgotten_with_what_they_said() {
	run(FOUR, || {
		says(10, 1, 5);
		says(11, 2, 6);
		says(12, 4, 7);
		assert_eq!(Finality::final_height(), 5);
		Weights::set(vec![(2, 10), (3, 10), (5, 1)]);
		says(13, 5, 8);
		assert_eq!(Statements::<Test>::get().to_vec(), vec![(2, 6), (5, 8)]);
		assert_eq!(Finality::final_height(), 5, "11 of 21");
		says(14, 3, 6);
		assert_eq!(Finality::final_height(), 6);
		// Who comes back begins again.
		Weights::set(FOUR.to_vec());
		says(15, 1, 2);
		assert_eq!(Statements::<Test>::get().to_vec(), vec![(1, 2), (2, 6), (3, 6)]);
	});
}

#[test]
fn it_is_said_once_in_a_block() {
	run(FOUR, || {
		says(10, 1, 5);
		assert_noop!(note(6), Error::<Test>::AlreadyNoted);
		assert_eq!(made(6), None);
		block(11, 1);
		assert_ok!(note(6));
	});
}

#[test]
fn only_earlier_blocks_can_be_final() {
	run(FOUR, || {
		block(10, 1);
		assert_noop!(note(10), Error::<Test>::NotBelow);
		assert_noop!(note(u32::MAX), Error::<Test>::NotBelow);
		assert_eq!((made(10), made(u32::MAX)), (None, None));
		assert_ok!(note(9));
	});
}

#[test]
fn nobody_takes_back_what_it_said() {
	run(FOUR, || {
		says(10, 1, 8);
		block(11, 1);
		assert_noop!(note(7), Error::<Test>::Lowered);
		// A node with an older database still makes blocks.
		assert_eq!(made(7), None);
		assert_ok!(note(8));
		// Others may say less.
		says(12, 2, 3);
	});
}

#[test]
fn only_authorities_speak() {
	run(FOUR, || {
		block(10, 5);
		assert_noop!(note(3), Error::<Test>::NoAuthority);
		assert_eq!(made(3), None);
		Author::set(None);
		assert_noop!(note(3), Error::<Test>::NoAuthority);
		assert_eq!(made(3), None);
		block(10, 4);
		for origin in [RuntimeOrigin::root(), RuntimeOrigin::signed(4)] {
			assert_noop!(Finality::note_final(origin, 3), DispatchError::BadOrigin);
		}
		assert_ok!(note(3));
	});
}

#[test]
fn the_inherent_says_what_the_node_knows() {
	run(FOUR, || {
		block(10, 1);
		let call = made(7).unwrap();
		assert_eq!(call, crate::Call::note_final { height: 7 });
		assert!(Finality::is_inherent(&call));
		let info = call.get_dispatch_info();
		assert_eq!((info.class, info.pays_fee), (DispatchClass::Mandatory, Pays::Yes));
		// A node that gives nothing, or nonsense, makes a block without it.
		assert_eq!(Finality::create_inherent(&InherentData::new()), None);
		let mut data = InherentData::new();
		data.put_data(INHERENT_IDENTIFIER, &1u8).unwrap();
		assert_eq!(Finality::create_inherent(&data), None);
		assert!(matches!(Finality::is_inherent_required(&data), Ok(None)));
		// Nor does it matter to a node that imports the block what it knows itself.
		data.replace_data(INHERENT_IDENTIFIER, &2u32);
		assert!(Finality::check_inherent(&call, &data).is_ok());
		assert!(Finality::check_inherent(&call, &InherentData::new()).is_ok());
	});
}

/// Weights of up to five authorities, and what they said, if anything.
fn authorities() -> impl Strategy<Value = Vec<(u64, Option<u32>)>> {
	let one = (1u64..1_000_000_000_000, prop::option::of(0u32..1_000));
	prop::collection::vec(one, 1..=5)
}

/// Something of each account.
type Of<V> = Vec<(u64, V)>;

/// The weights of accounts 1, 2 and so on, and what those of them said that spoke.
fn parts(all: &[(u64, Option<u32>)]) -> (Of<u64>, Of<u32>) {
	let who = 1u64..;
	let weights = who.clone().zip(all).map(|(who, (weight, _))| (who, *weight)).collect();
	let said = who.zip(all).filter_map(|(who, (_, height))| Some((who, (*height)?))).collect();
	(weights, said)
}

proptest! {
	/// It is the greatest height that more than two thirds vouch for, by trying them all.
	#[test]
	fn it_is_the_greatest_that_two_thirds_vouch_for(all in authorities()) {
		let (weights, said) = parts(&all);
		let total: u128 = all.iter().map(|(weight, _)| u128::from(*weight)).sum();
		let vouched = |height: u32| {
			let those = all.iter().filter(|(_, said)| said.is_some_and(|said| said >= height));
			those.map(|(weight, _)| u128::from(*weight)).sum::<u128>() * 3 > total * 2
		};
		prop_assert_eq!(agreed(&weights, &said), (0..1_000).rev().find(|height| vouched(*height)));
	}

	/// Liars with two thirds of the weight or less say what they like: it is never above what an honest
	/// authority has seen. With less than a third they cannot hold it below what all of these have seen.
	#[test]
	fn liars_need_more_than_two_thirds_to_raise_it(
		honest in authorities(),
		lies in authorities(),
	) {
		let all = [honest.clone(), lies.clone()].concat();
		let (weights, said) = parts(&all);
		let sum = |list: &[(u64, Option<u32>)]| {
			list.iter().map(|(weight, _)| u128::from(*weight)).sum::<u128>()
		};
		let (total, lying) = (sum(&all), sum(&lies));
		let seen = honest.iter().filter_map(|(_, said)| *said);
		let is = agreed(&weights, &said);
		if lying * 3 <= total * 2 {
			prop_assert!(is.is_none_or(|is| seen.clone().max().is_some_and(|most| is <= most)));
		}
		if lying * 3 < total && honest.iter().all(|(_, said)| said.is_some()) {
			prop_assert!(is.is_some_and(|is| seen.clone().min().is_some_and(|least| is >= least)));
		}
	}

	/// Whoever says what, in whatever order and whatever sessions: it never falls, and is below the block.
	#[test]
	fn it_is_monotone(
		acts in prop::collection::vec((1u64..=5, 0u32..120, prop::option::of(authorities())), 1..80),
	) {
		run(FOUR, || {
			let mut before = 0;
			for (number, (author, height, session)) in (1u32..).zip(acts) {
				if let Some(session) = session {
					Weights::set(parts(&session).0);
				}
				block(number, author);
				let call = made(height);
				// What a node makes is taken, and what it does not make would not be.
				assert_eq!(note(height).is_ok(), call.is_some());
				Finality::do_try_state().unwrap();
				let now = Final::<Test>::get();
				assert!(now >= before && now < number);
				before = now;
			}
		});
	}
}
