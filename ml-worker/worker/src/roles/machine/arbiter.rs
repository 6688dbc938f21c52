//! Decides who computes now, on a machine that several roles share. It is a pure function of who wants to.
//!
//! What costs money when it is missed goes first, then what is paid, then looking at results of others.
//! Within a class the nearest deadline is first. Laps of drilling are no claim at all: they take what is
//! left, which is everything while nobody claims anything.
//!
//! Nobody waits for a lower class. What can rest rests for a higher claim; what cannot is not begun while
//! there is one, and if it was begun before, it ends beside it.

use trainyard_protocol::job::BlockNumber;

/// What a computation is worth, the first first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
	/// A move in a dispute, whose clock runs.
	Clock,
	/// What was taken on: a seat, a job that is trained, a unit, the check of a report. Missing it costs a
	/// deposit, a part of a bond, or power.
	Duty,
	/// What leads to a job that pays.
	Paid,
	/// A look at the results of others, which pays if one of them is false.
	Watch,
}

/// What a computation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Need {
	/// What it is worth.
	pub class: Class,
	/// The block by which it must be done.
	pub deadline: BlockNumber,
}

impl Need {
	/// Returns the need of what must be done by block `deadline`.
	pub fn by(class: Class, deadline: BlockNumber) -> Self {
		Self { class, deadline }
	}
}

/// Somebody who computes, or wants to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimant {
	/// What it needs.
	pub need: Need,
	/// How many came before it.
	pub came: u64,
	/// Whether it computes now and cannot rest.
	pub is_held: bool,
}

/// Returns who computes, in the order of `claimants`, where `places` may at once.
pub fn computes(places: usize, claimants: &[Claimant]) -> Vec<bool> {
	let mut order: Vec<usize> = (0..claimants.len()).collect();
	order.sort_by_key(|at| (claimants[*at].need, claimants[*at].came));
	let mut found = vec![false; claimants.len()];
	let mut granted = 0;
	for (place, at) in order.iter().enumerate() {
		let claimant = claimants[*at];
		// Those after it that have their place already, and are worth as much, are waited for.
		let behind = order[place + 1..].iter().map(|at| claimants[*at]);
		let held = behind.filter(|it| it.is_held && it.need.class == claimant.need.class).count();
		if claimant.is_held || granted + held < places.max(1) {
			found[*at] = true;
			granted += 1;
		}
	}
	found
}

#[cfg(test)]
mod tests {
	use super::*;
	use Class::*;

	/// Class and deadline, and whether it computes and cannot rest.
	type Row = (Class, BlockNumber, bool);

	fn decide(places: usize, rows: &[Row]) -> Vec<bool> {
		let claimant = |(came, (class, deadline, is_held)): (usize, &Row)| Claimant {
			need: Need::by(*class, *deadline),
			came: came as u64,
			is_held: *is_held,
		};
		computes(places, &rows.iter().enumerate().map(claimant).collect::<Vec<_>>())
	}

	#[test]
	fn who_computes() {
		let cases: &[(&str, usize, &[Row], &[bool])] = &[
			("nobody wants to", 1, &[], &[]),
			("one alone", 1, &[(Watch, 9, false)], &[true]),
			("a duty before a look", 1, &[(Watch, 1, false), (Duty, 99, false)], &[false, true]),
			("a duty before a new job", 1, &[(Paid, 1, false), (Duty, 99, false)], &[false, true]),
			("a new job before a look", 1, &[(Watch, 1, false), (Paid, 9, false)], &[false, true]),
			("a clock before a duty", 1, &[(Duty, 1, false), (Clock, 99, false)], &[false, true]),
			(
				"the nearest deadline, whatever came first",
				1,
				&[(Duty, 90, false), (Duty, 20, false), (Duty, 50, false)],
				&[false, true, false],
			),
			("equals keep their order", 1, &[(Duty, 5, false), (Duty, 5, false)], &[true, false]),
			(
				"a training that can rest lets a seat go first",
				1,
				&[(Duty, 500, false), (Duty, 40, false)],
				&[false, true],
			),
			(
				"what cannot rest is waited for by its like",
				1,
				&[(Duty, 500, true), (Duty, 40, false)],
				&[true, false],
			),
			(
				"nobody waits for a lower class",
				1,
				&[(Watch, 5, true), (Duty, 40, false)],
				&[true, true],
			),
			(
				"nor does a clock for a duty",
				1,
				&[(Duty, 5, true), (Clock, 40, false), (Duty, 6, false)],
				&[true, true, false],
			),
			(
				"two places",
				2,
				&[(Duty, 90, false), (Watch, 3, false), (Duty, 20, false), (Paid, 1, false)],
				&[true, false, true, false],
			),
			(
				"a look takes a place that no duty wants",
				2,
				&[(Duty, 90, false), (Watch, 3, false)],
				&[true, true],
			),
			("there is one place at least", 0, &[(Duty, 9, false)], &[true]),
		];
		for (name, places, rows, expected) in cases {
			assert_eq!(decide(*places, rows), *expected, "{name}");
		}
	}

	/// Whatever comes, somebody computes while anybody wants to, what is held goes on, and nobody computes
	/// whom a better claim that rests could have replaced.
	#[test]
	fn nothing_is_turned_upside_down() {
		let classes = [Clock, Duty, Paid, Watch];
		for seed in 0u32..2_000 {
			let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
			let mut random = |n: u32| {
				state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
				(state >> 16) % n
			};
			let count = 1 + random(6);
			let rows: Vec<Row> = (0..count)
				.map(|_| (classes[random(4) as usize], random(5), random(4) == 0))
				.collect();
			let places = 1 + random(3) as usize;
			let found = decide(places, &rows);
			assert!(found.contains(&true), "{rows:?}");
			let free = found.iter().zip(&rows).filter(|(runs, row)| **runs && !row.2).count();
			assert!(free <= places, "{places} {rows:?} {found:?}");
			for (at, row) in rows.iter().enumerate() {
				assert!(!row.2 || found[at], "what cannot rest goes on: {rows:?}");
				for (other, better) in rows.iter().enumerate() {
					if found[at] && !row.2 && !found[other] {
						assert!(
							(row.0, row.1) <= (better.0, better.1),
							"{places} {rows:?} {found:?}"
						);
					}
				}
			}
		}
	}
}
