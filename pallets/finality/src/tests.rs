//! Tests, by behaviour.

use crate::{
	mock::*,
	statements::{agreed, heard},
	Error, Event, Final, Noted, Statements, INHERENT_IDENTIFIER,
};
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

fn declare(height: u32) -> Result<(), DispatchError> {
	Finality::declare_final(RuntimeOrigin::root(), height)
}

/// A third that is silent locks all bonds: the others have seen it, and root takes their word.
#[test]
fn root_stands_for_a_third_that_is_silent() {
	run(&[(1, 34), (2, 33), (3, 33)], || {
		says(20, 2, 18);
		says(21, 3, 19);
		assert_eq!(Finality::final_height(), 0, "66 of 100");
		block(22, 2);
		assert_noop!(declare(20), Error::<Test>::TooFewSaid);
		// 33 of 100 are no third.
		assert_noop!(declare(19), Error::<Test>::TooFewSaid);
		assert_ok!(declare(18));
		assert_eq!(Finality::final_height(), 18);
		let event = Event::FinalDeclared { before: 0, height: 18, heard: 66, total: 100 };
		System::assert_last_event(event.into());
		Finality::do_try_state().unwrap();
		// It falls by nobody's word.
		assert_noop!(declare(18), Error::<Test>::AlreadyFinal);
		assert_noop!(declare(7), Error::<Test>::AlreadyFinal);
		// And rises without root as soon as the third speaks.
		says(23, 1, 19);
		assert_eq!(Finality::final_height(), 19);
	});
}

#[test]
fn root_alone_declares_nothing() {
	// Exactly a third is too few, one more in a hundred is enough.
	for (weight, enough) in [(50, false), (51, true)] {
		run(&[(1, weight), (2, 100)], || {
			block(9, 1);
			assert_noop!(declare(0), Error::<Test>::AlreadyFinal);
			for height in [1, 8, 9, 1_000, u32::MAX] {
				assert_noop!(declare(height), Error::<Test>::TooFewSaid);
			}
			says(10, 1, 5);
			assert_noop!(declare(6), Error::<Test>::TooFewSaid);
			assert_eq!(declare(5).is_ok(), enough);
			assert_eq!(Finality::final_height(), if enough { 5 } else { 0 });
		});
	}
}

/// What was said by those who have left since counts for nothing, though nobody has spoken after them.
#[test]
fn root_takes_no_word_of_an_earlier_session() {
	run(FOUR, || {
		says(10, 1, 5);
		says(11, 2, 6);
		Weights::set(vec![(2, 10), (5, 30)]);
		block(12, 2);
		assert_eq!(Statements::<Test>::get().len(), 2);
		assert_noop!(declare(5), Error::<Test>::TooFewSaid);
		says(13, 5, 6);
		assert_eq!(Finality::final_height(), 6, "all of them");
	});
}

/// The set after a forced change, of which a third is silent as well.
#[test]
fn root_declares_after_another_set_follows() {
	run(FOUR, || {
		for (number, author) in (10..).zip(1..=4) {
			says(number, author, 8);
		}
		assert_eq!(Finality::final_height(), 8);
		Weights::set(vec![(5, 10), (6, 10), (7, 10)]);
		says(500, 5, 480);
		says(501, 6, 490);
		assert_eq!(Finality::final_height(), 8);
		assert_ok!(declare(480));
		assert_eq!(Finality::final_height(), 480);
	});
}

#[test]
fn nobody_but_root_declares() {
	run(&[(1, 10), (2, 10)], || {
		says(10, 1, 5);
		for origin in [RuntimeOrigin::none(), RuntimeOrigin::signed(1)] {
			assert_noop!(Finality::declare_final(origin, 5), DispatchError::BadOrigin);
		}
		let info = crate::Call::<Test>::declare_final { height: 5 }.get_dispatch_info();
		assert_eq!((info.class, info.pays_fee), (DispatchClass::Operational, Pays::Yes));
		assert_ok!(declare(5));
	});
}

/// Who lags how far.
#[test]
fn it_is_seen_what_each_authority_said_last() {
	run(FOUR, || {
		says(10, 4, 5);
		says(11, 2, 6);
		says(12, 4, 9);
		Weights::set(vec![(3, 10), (4, 11), (9, 5)]);
		let view = Finality::view();
		let said: Vec<_> =
			view.authorities.iter().map(|one| (one.account, one.weight, one.said)).collect();
		assert_eq!(said, [(3, 10, None), (4, 11, Some(9)), (9, 5, None)]);
		assert_eq!(view.height, 0);
		says(13, 3, 8);
		assert_eq!(Finality::view().height, 8);
		assert_eq!(Finality::view().authorities[0].said, Some(8));
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

	/// With liars of a third of the weight or less root declares nothing that no honest authority has seen,
	/// whatever it tries.
	#[test]
	fn a_third_and_root_raise_it_to_nothing_unseen(
		honest in authorities(),
		lies in authorities(),
		tried in 0u32..1_000,
	) {
		let all = [honest.clone(), lies.clone()].concat();
		let (weights, said) = parts(&all);
		let sum = |list: &[(u64, Option<u32>)]| list.iter().map(|(weight, _)| *weight).sum::<u64>();
		let (heard, total) = heard(&weights, &said, tried);
		prop_assert_eq!(total, sum(&all));
		let those = all.iter().filter(|(_, said)| said.is_some_and(|said| said >= tried));
		prop_assert_eq!(heard, those.map(|(weight, _)| *weight).sum::<u64>());
		let seen = honest.iter().any(|(_, said)| said.is_some_and(|said| said >= tried));
		if sum(&lies) * 3 <= total && heard * 3 > total {
			prop_assert!(seen);
		}
		// Whatever is final by the rule of two thirds root could have declared.
		if agreed(&weights, &said).is_some_and(|is| is >= tried) {
			prop_assert!(heard * 3 > total);
		}
	}

	/// Whoever says and declares what, in whatever order and whatever sessions: it never falls, and is
	/// below the block.
	#[test]
	fn it_is_monotone(
		acts in prop::collection::vec((1u64..=5, 0u32..120, prop::option::of(authorities())), 1..80),
		declared in prop::collection::vec(0u32..120, 80),
	) {
		run(FOUR, || {
			let mut before = 0;
			for ((number, (author, height, session)), declared) in (1u32..).zip(acts).zip(declared) {
				if let Some(session) = session {
					Weights::set(parts(&session).0);
				}
				block(number, author);
				let call = made(height);
				// What a node makes is taken, and what it does not make would not be.
				assert_eq!(note(height).is_ok(), call.is_some());
				let raised = declare(declared).is_ok();
				assert!(!raised || Final::<Test>::get() == declared);
				Finality::do_try_state().unwrap();
				let now = Final::<Test>::get();
				assert!(now >= before && now < number);
				before = now;
			}
		});
	}
}
