//! The eight sections, N1 to N8, of the Whetstone benchmark: what each computes, how much,
//! and what must come out.
//!
//! Loops, constants and counts are those of the self-timing C variant (R. Longbottom, 1996,
//! approved by H. Curnow), which added results to check to the synthetic program of
//! Curnow & Wichmann. As in C, the mathematical functions take and give double precision
//! in both variants; everything else is rounded to the precision that is measured.
//!
//! [`black_box`] hides from the compiler what it could otherwise compute beforehand or
//! leave out: constants, integers that never change, and branches that fold into one.

use std::{
	hint::black_box,
	num::Wrapping,
	ops::{Add, Div, Mul, Neg, Sub},
	time::Instant,
};

/// A precision in which the benchmark runs.
pub trait Real:
	Copy
	+ Add<Output = Self>
	+ Sub<Output = Self>
	+ Mul<Output = Self>
	+ Div<Output = Self>
	+ Neg<Output = Self>
{
	/// `value`, rounded to this precision.
	fn round(value: f64) -> Self;
	/// `value`, rounded to this precision.
	fn of_integer(value: i64) -> Self;
	/// The value in double precision.
	fn wide(self) -> f64;
}

impl Real for f32 {
	fn round(value: f64) -> Self {
		value as f32
	}

	fn of_integer(value: i64) -> Self {
		value as f32
	}

	fn wide(self) -> f64 {
		f64::from(self)
	}
}

impl Real for f64 {
	fn round(value: f64) -> Self {
		value
	}

	fn of_integer(value: i64) -> Self {
		value as f64
	}

	fn wide(self) -> f64 {
		self
	}
}

/// What the operations of a section are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operations {
	/// Floating-point operations, given in MFLOPS.
	FloatingPoint,
	/// Others, given in MOPS.
	Other,
}

/// One section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Definition {
	/// Name in published tables.
	pub name: &'static str,
	/// What its operations are.
	pub operations: Operations,
	/// Times that its loop runs in a pass, in hundreds.
	pub weight: u64,
	/// Operations that one run of the loop counts as.
	pub operations_per_loop: u64,
	/// Published result of one pass in single precision.
	pub single: f64,
	/// Published result of one pass in double precision.
	pub double: f64,
	/// How far from these a result may be in single and in double precision, relative.
	pub tolerance: [f64; 2],
}

/// IEEE 754 leaves no choice: every bit must agree.
const EXACT: [f64; 2] = [0.0, 0.0];
/// Libraries of mathematical functions may differ in the last place, and N5 and N8 iterate
/// functions that keep such a difference without damping it: a last place for each of about ten
/// thousand evaluations. In single precision it is rounded away except in rare ties, each of which
/// leaves one last place.
const LIBRARY: [f64; 2] = [1e-6, 1e-12];

/// The sections in their order.
pub const DEFINITIONS: [Definition; 8] = [
	Definition {
		name: "N1 floating point",
		operations: Operations::FloatingPoint,
		weight: 12,
		operations_per_loop: 16,
		single: -1.124_750_137_329_101_6,
		double: -1.123_982_556_673_919,
		tolerance: EXACT,
	},
	Definition {
		name: "N2 floating point",
		operations: Operations::FloatingPoint,
		weight: 14,
		operations_per_loop: 96,
		single: -1.122_747_421_264_648_4,
		double: -1.121_870_798_892_844_2,
		tolerance: EXACT,
	},
	Definition {
		name: "N3 if then else",
		operations: Operations::Other,
		weight: 345,
		operations_per_loop: 3,
		single: 1.0,
		double: 1.0,
		tolerance: EXACT,
	},
	Definition {
		name: "N4 fixed point",
		operations: Operations::Other,
		weight: 210,
		operations_per_loop: 15,
		single: 12.0,
		double: 12.0,
		tolerance: EXACT,
	},
	Definition {
		name: "N5 sin,cos etc.",
		operations: Operations::Other,
		weight: 32,
		operations_per_loop: 26,
		single: 0.499_110_102_653_503_4,
		double: 0.499_029_372_815_182_7,
		tolerance: LIBRARY,
	},
	Definition {
		name: "N6 floating point",
		operations: Operations::FloatingPoint,
		weight: 899,
		operations_per_loop: 6,
		single: 0.999_999_821_186_065_7,
		double: 0.999_999_878_908_028_1,
		tolerance: EXACT,
	},
	Definition {
		name: "N7 assignments",
		operations: Operations::Other,
		weight: 616,
		operations_per_loop: 3,
		single: 3.0,
		double: 3.0,
		tolerance: EXACT,
	},
	Definition {
		name: "N8 exp,sqrt etc.",
		operations: Operations::Other,
		weight: 93,
		operations_per_loop: 4,
		single: 0.751_108_646_392_822_3,
		double: 0.751_001_630_184_589_3,
		tolerance: LIBRARY,
	},
];

impl Definition {
	/// Returns the times that the loop runs in a pass.
	pub const fn loops(&self) -> u64 {
		self.weight * 100
	}

	/// Returns the operations of a pass.
	pub const fn operations_per_pass(&self) -> u64 {
		self.loops() * self.operations_per_loop
	}
}

/// N1 is so short that it runs ten times as often as its weight says; its time is divided
/// by the same.
const N1_REPEATS: u32 = 10;

/// The outcome of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
	/// The value to check; comparable with the published one after a single pass.
	pub result: f64,
	/// Time that it took, in seconds.
	pub seconds: f64,
}

/// Runs `passes` passes of every section, one section after the other.
pub fn run<F: Real>(passes: u32) -> [Outcome; 8] {
	let [t0, t1, t2] = black_box([0.499_999_75, 0.500_000_25, 2.0].map(F::round));
	let one = F::round(1.0);
	let [n1, n2, n3, n4, n5, n6, n7, n8] = DEFINITIONS.map(|section| section.loops());
	// N1 and N2 work on the same array, one after the other.
	let mut e = black_box([1.0, -1.0, -1.0, -1.0].map(F::round));

	let mut array_elements = timed(|| {
		let mut t = t0;
		for _ in 0..passes {
			for _ in 0..n1 * u64::from(N1_REPEATS) {
				e[0] = (e[0] + e[1] + e[2] - e[3]) * t;
				e[1] = (e[0] + e[1] - e[2] + e[3]) * t;
				e[2] = (e[0] - e[1] + e[2] + e[3]) * t;
				e[3] = (-e[0] + e[1] + e[2] + e[3]) * t;
			}
			// The values would shrink below what can be represented otherwise.
			t = one - t;
		}
		e[3].wide()
	});
	array_elements.seconds /= f64::from(N1_REPEATS);

	let array_parameter = timed(|| {
		let mut t = t0;
		for _ in 0..passes {
			for _ in 0..n2 {
				mix(&mut e, t, t2);
			}
			t = one - t;
		}
		e[3].wide()
	});

	let conditional_jumps = timed(|| {
		let mut j = 1i64;
		for _ in 0..passes {
			for _ in 0..n3 {
				j = black_box(if j == 1 { 2 } else { 3 });
				j = black_box(if j > 2 { 0 } else { 1 });
				j = black_box(if j < 1 { 1 } else { 0 });
			}
		}
		j as f64
	});

	let integers = timed(|| {
		// Wrapping, as overflow checks are not part of the benchmark.
		let [mut j, mut k, mut l] = [1i64, 2, 3].map(Wrapping);
		let two = Wrapping(2);
		for _ in 0..passes {
			for _ in 0..n4 {
				[j, k, l] = black_box([j, k, l]);
				j = j * (k - j) * (l - k);
				k = l * k - (l - j) * k;
				l = (l - k) * (k + j);
				e[(l - two).0 as usize] = F::of_integer((j + k + l).0);
				e[(k - two).0 as usize] = F::of_integer((j * k * l).0);
			}
			black_box(&mut e);
		}
		(e[0] + e[1]).wide()
	});

	let trigonometric = timed(|| {
		let [mut x, mut y] = black_box([0.5, 0.5].map(F::round));
		let mut t = t0;
		for _ in 0..passes {
			// The published program begins this loop at 1.
			for _ in 1..n5 {
				x = turn(x, x, y, t, t2);
				y = turn(y, x, y, t, t2);
			}
			t = one - t;
		}
		y.wide()
	});

	let procedure_calls = timed(|| {
		let [mut x, mut y, mut z] = [one; 3];
		for _ in 0..passes {
			for _ in 0..n6 {
				average(&mut x, &mut y, &mut z, [t0, t1, t2]);
			}
		}
		z.wide()
	});

	let array_references = timed(|| {
		let indices = black_box([0, 1, 2]);
		e = [1.0, 2.0, 3.0, 0.0].map(F::round);
		for _ in 0..passes {
			for _ in 0..n7 {
				assign(&mut e, indices);
			}
		}
		e[2].wide()
	});

	let standard_functions = timed(|| {
		let mut x = black_box(F::round(0.75));
		for _ in 0..passes {
			for _ in 0..n8 {
				x = F::round((x.wide().ln() / t1.wide()).exp().sqrt());
			}
		}
		x.wide()
	});

	[
		array_elements,
		array_parameter,
		conditional_jumps,
		integers,
		trigonometric,
		procedure_calls,
		array_references,
		standard_functions,
	]
}

/// Runs a section; its result counts as used.
fn timed(section: impl FnOnce() -> f64) -> Outcome {
	let begun = Instant::now();
	let result = black_box(section());
	Outcome { result, seconds: begun.elapsed().as_secs_f64() }
}

// What follows are procedures of the benchmark: calls are part of what it measures.

/// N2: the work of N1 on an array that is passed in, six times.
#[inline(never)]
fn mix<F: Real>(e: &mut [F; 4], t: F, t2: F) {
	for _ in 0..6 {
		e[0] = (e[0] + e[1] + e[2] - e[3]) * t;
		e[1] = (e[0] + e[1] - e[2] + e[3]) * t;
		e[2] = (e[0] - e[1] + e[2] + e[3]) * t;
		e[3] = (-e[0] + e[1] + e[2] + e[3]) / t2;
	}
}

/// N5: an expression of sine and cosine that gives nearly `v` again.
#[inline(always)]
fn turn<F: Real>(v: F, x: F, y: F, t: F, t2: F) -> F {
	let (sin, cos) = (v.wide().sin(), v.wide().cos());
	let below = (x + y).wide().cos() + (x - y).wide().cos() - 1.0;
	F::round(t.wide() * (t2.wide() * sin * cos / below).atan())
}

/// N6: three values through one another.
#[inline(never)]
fn average<F: Real>(x: &mut F, y: &mut F, z: &mut F, [t, t1, t2]: [F; 3]) {
	*x = *y;
	*y = *z;
	*x = t * (*x + *y);
	*y = t1 * (*x + *y);
	*z = (*x + *y) / t2;
}

/// N7: three assignments by index.
#[inline(never)]
fn assign<F: Real>(e: &mut [F; 4], [j, k, l]: [usize; 3]) {
	e[j] = e[k];
	e[k] = e[l];
	e[l] = e[j];
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn a_pass_gives_the_published_results() {
		let single = run::<f32>(1);
		let double = run::<f64>(1);
		for ((section, single), double) in DEFINITIONS.iter().zip(single).zip(double) {
			let found = [single.result, double.result];
			for ((found, expected), tolerance) in
				found.into_iter().zip([section.single, section.double]).zip(section.tolerance)
			{
				let apart = ((found - expected) / expected).abs();
				assert!(
					apart <= tolerance,
					"{}: {found:.17} instead of {expected:.17}, {apart:e} apart",
					section.name
				);
			}
		}
	}

	/// Every section whose result can differ between the precisions distinguishes them.
	#[test]
	fn single_precision_is_single() {
		let (single, double) = (run::<f32>(1), run::<f64>(1));
		for index in [0, 1, 4, 5, 7] {
			assert_ne!(single[index].result, double[index].result, "N{}", index + 1);
			assert_eq!(f64::from(single[index].result as f32), single[index].result);
		}
	}

	#[test]
	fn more_passes_do_more() {
		let (one, three) = (run::<f64>(1), run::<f64>(3));
		// These go on from where a pass ends; the others end where they began.
		for index in [0, 1, 4, 7] {
			assert_ne!(one[index].result, three[index].result, "N{}", index + 1);
		}
		for index in [2, 3, 6] {
			assert_eq!(one[index].result, three[index].result, "N{}", index + 1);
		}
	}

	#[test]
	fn the_work_of_a_pass() {
		// From the published table of loops.
		let operations = DEFINITIONS.map(|section| section.operations_per_pass());
		assert_eq!(
			operations,
			[19_200, 134_400, 103_500, 315_000, 83_200, 539_400, 184_800, 37_200]
		);
	}
}
