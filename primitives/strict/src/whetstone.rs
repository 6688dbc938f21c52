//! A mix of scalar functions in the proportions of the Whetstone benchmark.
//!
//! Curnow & Wichmann, "A synthetic benchmark" (The Computer Journal 19 (1), 1976), as far as
//! binary32 arithmetic has its sections: array elements (N1, N2), trigonometric functions (N5),
//! three values computed from one another (N6), standard functions (N8). A cycle is a 3,200th of a
//! pass of `trainyard whetstone`, with fewer of the short N6. Unlike in the benchmark, no value
//! comes to rest: the sections drive each other, and the trigonometric one is chaotic.

use super::{
	cosine::{cos_pi_with, COS_PI_FLOP},
	functions::{exp_with, f, log_with, Arithmetic, Soft, EXP_FLOP, LOG_FLOP},
};
use alloc::vec::Vec;

/// Variables of a lane: `e0` to `e3` (array), `x`, `y` (angles in pi), `a`, `b`, `c` (values
/// computed from one another), `z` (standard functions).
pub const VARIABLES: usize = 10;

/// Times that N1 and N2 run in a cycle.
const MIXES: u32 = 3;
/// Times that N6 runs in a cycle.
const AVERAGES: u32 = 7;
/// Times that N8 runs in a cycle.
const ROOTS: u32 = 3;

/// 0.499, rounded: below one half, so that what enters a section fades in time.
const T: f32 = f(0x3EFF_7CEE);
/// 0.50000025, as in the benchmark, rounded.
const T1: f32 = f(0x3F00_0004);
/// 2, as in the benchmark.
const T2: f32 = 2.0;

/// FLOP of a [`cycle`] as written.
///
/// A mix is 12 additions and subtractions, 3 multiplications, a division and a change of sign; the
/// array has one more addition. An angle is a fused multiply-add, 4 cosines, 5 additions and
/// subtractions, 2 multiplications and a division. Values computed from one another are 3
/// additions, 2 multiplications and a division, with one more addition. A standard function is log,
/// a division, exp and a root; before them come a change of sign, a fused multiply-add and a
/// division.
pub const CYCLE_FLOP: u128 = MIXES as u128 * 17
	+ 1 + 2 * (4 * COS_PI_FLOP + 10)
	+ AVERAGES as u128 * 6
	+ 1 + 4
	+ ROOTS as u128 * (LOG_FLOP + EXP_FLOP + 2);

/// Runs one cycle of a lane.
#[inline(always)]
pub fn cycle<A: Arithmetic>(lane: [f32; VARIABLES]) -> [f32; VARIABLES] {
	let [mut e0, mut e1, mut e2, mut e3, x, y, mut a, mut b, mut c, z] = lane;
	for _ in 0..MIXES {
		e0 = (((e0 + e1) + e2) - e3) * T;
		e1 = (((e0 + e1) - e2) + e3) * T;
		e2 = (((e0 - e1) + e2) + e3) * T;
		e3 = (((-e0 + e1) + e2) + e3) / T2;
	}
	let x = turn::<A>(A::fma(3.0, x, z), x, y);
	let y = turn::<A>(A::fma(3.0, y, e3), x, y);
	e0 += x;
	c += y;
	for _ in 0..AVERAGES {
		// As the benchmark writes it: x = y, y = z, and then new values for all three.
		(a, b) = (b, c);
		a = T * (a + b);
		b = T1 * (a + b);
		c = (a + b) / T2;
	}
	let mut z = A::fma(x, x, z.abs()) / T2;
	for _ in 0..ROOTS {
		z = A::sqrt(exp_with::<A>(log_with::<A>(z) / T1));
	}
	[e0, e1, e2, e3, x, y, a, b, c, z]
}

/// Returns `(2 sin(pi v) cos(pi v)) / ((cos(pi (x + y)) + cos(pi (x - y))) + 3)`, within -1 and 1.
#[inline(always)]
fn turn<A: Arithmetic>(v: f32, x: f32, y: f32) -> f32 {
	let (sin, cos) = (cos_pi_with::<A>(v - 0.5), cos_pi_with::<A>(v));
	let below = (cos_pi_with::<A>(x + y) + cos_pi_with::<A>(x - y)) + 3.0;
	((T2 * sin) * cos) / below
}

/// Runs `cycles` cycles of every lane of `x`, `[VARIABLES, lanes]`, and returns the lanes.
pub fn cycles(x: &[f32], cycles: u32) -> Vec<f32> {
	let lanes = x.len() / VARIABLES;
	let rows: Vec<&[f32]> = x.chunks(lanes.max(1)).take(VARIABLES).collect();
	let mut out = alloc::vec![0.0; x.len()];
	for lane in 0..lanes {
		let mut values = [0.0; VARIABLES];
		for (value, row) in values.iter_mut().zip(&rows) {
			*value = row.get(lane).copied().unwrap_or_default();
		}
		for _ in 0..cycles {
			values = cycle::<Soft>(values);
		}
		for (row, value) in out.chunks_mut(lanes).zip(values) {
			if let Some(place) = row.get_mut(lane) {
				*place = value;
			}
		}
	}
	out
}

#[cfg(test)]
mod tests {
	use super::*;

	fn start(lanes: usize) -> Vec<f32> {
		(0..VARIABLES * lanes).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0).collect()
	}

	#[test]
	fn the_constants() {
		assert_eq!((T, T1), (0.499, 0.500_000_25));
		assert_eq!(CYCLE_FLOP, 51 + 1 + 2 * (4 * 32 + 10) + 42 + 1 + 4 + 153);
	}

	/// Values stay finite and bounded, and none comes to rest: a lane that repeated itself
	/// could be left out.
	#[test]
	fn nothing_comes_to_rest_and_nothing_grows() {
		let mut x = start(16);
		for _ in 0..2_000 {
			let next = cycles(&x, 1);
			assert!(next.iter().all(|v| v.is_finite() && v.abs() < 1e3), "{next:?}");
			for (row, (now, before)) in next.chunks(16).zip(x.chunks(16)).enumerate() {
				let moved = now.iter().zip(before).filter(|(now, before)| now != before);
				assert!(moved.count() > 12, "variable {row} rests");
			}
			x = next;
		}
		let lane = |i: usize| -> Vec<u32> { (0..10).map(|v| x[v * 16 + i].to_bits()).collect() };
		assert!((1..16).all(|i| lane(i) != lane(0)), "lanes fell together");
	}

	/// Two lanes that begin close to each other drift apart: no cycle can be left out.
	#[test]
	fn it_is_chaotic() {
		let (mut one, mut other) = (start(1), start(1));
		other[4] += 1e-6;
		one = cycles(&one, 200);
		other = cycles(&other, 200);
		assert!((one[4] - other[4]).abs() > 1e-3, "{one:?} {other:?}");
	}

	#[test]
	fn lanes_are_computed_alone() {
		let x = start(3);
		let all = cycles(&x, 5);
		for lane in 0..3 {
			let alone: Vec<f32> = (0..VARIABLES).map(|v| x[v * 3 + lane]).collect();
			let expected: Vec<f32> = (0..VARIABLES).map(|v| all[v * 3 + lane]).collect();
			assert_eq!(cycles(&alone, 5), expected);
		}
		assert!(cycles(&[], 5).is_empty());
	}
}
