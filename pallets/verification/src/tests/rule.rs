//! The rule by itself of where training stood still.

use crate::{mock::evidence, standing::stood_still};
use trainyard_protocol::audit::Replayed;

/// Somebody replayed these segments, and of each found since when it stood still.
fn replayed(found: &[(u32, Option<u32>)]) -> Replayed {
	let segments: Vec<u32> = found.iter().map(|(segment, _)| *segment).collect();
	let mut all = evidence(2, &segments);
	for (e, (_, since)) in all.iter_mut().zip(found) {
		e.idle_since = *since;
	}
	let evidence = all.try_into().unwrap();
	Replayed { bundle: 0, evidence, moved: None, parts: Default::default() }
}

#[test]
fn those_who_looked_that_late_say_whether_training_stood_still() {
	let moves = |segment| (segment, None);
	let (early, late) = (replayed(&[moves(1), moves(3)]), replayed(&[moves(2), moves(8)]));
	let found = replayed(&[moves(0), (7, Some(6))]);
	let sure = replayed(&[(6, Some(6)), (9, Some(6))]);
	for (all, idle) in [
		(vec![], false),
		(vec![&early, &late], false),
		// One alone is not believed, not even where nobody else looked.
		(vec![&found], false),
		(vec![&found, &early, &early], false),
		// Who looked at earlier segments says nothing of it.
		(vec![&found, &sure, &early, &early, &early], true),
		(vec![&found, &sure], true),
		// Two of four are no majority.
		(vec![&found, &sure, &late, &late], false),
		(vec![&found, &sure, &late], true),
	] {
		let all: Vec<Replayed> = all.into_iter().cloned().collect();
		assert_eq!(stood_still(&all), idle, "{all:?}");
	}
}

/// Seats 1 and 2 of any committee pick a segment themselves. Two cheats there would else take the power of
/// any trainer: they pick the last segment but one, which hardly anybody else draws.
#[test]
fn what_a_seat_chose_says_nothing_about_standstill() {
	let honest = replayed(&[(3, None), (9, None)]);
	let picks = |segment| Replayed {
		moved: Some(segment),
		..replayed(&[(1, None), (segment, Some(segment))])
	};
	let parts =
		Replayed { parts: vec![8].try_into().unwrap(), ..replayed(&[(1, None), (8, Some(8))]) };
	for all in [vec![honest.clone(), picks(8), picks(8)], vec![honest, parts.clone(), parts]] {
		assert!(!stood_still(&all), "{all:?}");
	}
}
