//! The Whetstone benchmark (H. J. Curnow & B. A. Wichmann, "A synthetic benchmark", The
//! Computer Journal 19 (1), 1976), and what this machine is worth in ut a day: by it, and
//! by the FLOP of strict training.
//!
//! The unit of work is defined by Whetstone: 1 ut is what a machine of 1,000 MWIPS does in
//! 1/200 day, counted as 4.32 x 10^11 FLOP. What the chain credits is the FLOP of a job, so
//! [`training`] measures those.

pub mod sections;
pub mod training;

use sections::{Operations, Outcome, DEFINITIONS};
use serde::Serialize;
use std::{sync::Barrier, time::Instant};
use trainyard_program::units::{FLOP_PER_MICRO_UT, MICRO_UT_PER_UT};

const SECONDS_PER_DAY: f64 = 86_400.0;
/// Whetstone instructions of one pass, in millions: the original program stands for 100,000 of
/// them, and a pass is a hundred of it.
const MILLIONS_PER_PASS: f64 = 10.0;

/// Returns a day's work, in ut, of a machine that does `per_second` operations a second: FLOP, or
/// Whetstone instructions.
pub fn ut_per_day(per_second: f64) -> f64 {
	per_second * SECONDS_PER_DAY / (FLOP_PER_MICRO_UT * MICRO_UT_PER_UT) as f64
}

/// A precision of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
	/// IEEE binary32.
	Single,
	/// IEEE binary64.
	Double,
}

impl Precision {
	fn passes(self, passes: u32) -> [Outcome; 8] {
		match self {
			Precision::Single => sections::run::<f32>(passes),
			Precision::Double => sections::run::<f64>(passes),
		}
	}
}

/// The benchmark in one precision.
#[derive(Clone, Debug, Serialize)]
pub struct Whetstone {
	/// The precision.
	pub precision: Precision,
	/// Passes that each thread ran.
	pub passes: u32,
	/// The sections on one thread.
	pub sections: Vec<Section>,
	/// The total, on one thread and on all.
	pub totals: Vec<Total>,
}

/// One section on one thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Section {
	/// Its name in published tables.
	pub name: &'static str,
	/// What one pass gave.
	pub result: f64,
	/// What one pass gives by the published tables.
	pub expected: f64,
	/// Whether both agree, as far as mathematical libraries do.
	pub as_expected: bool,
	/// Millions of floating-point operations a second, in N1, N2 and N6.
	pub mflops: Option<f64>,
	/// Millions of other operations a second, in the other sections.
	pub mops: Option<f64>,
	/// Time of all passes.
	pub seconds: f64,
}

/// The work of some threads together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Total {
	/// Threads that ran side by side.
	pub threads: usize,
	/// Millions of Whetstone instructions a second, of all of them.
	pub mwips: f64,
	/// That in ut a day.
	pub ut_per_day: f64,
}

impl Whetstone {
	/// Runs the benchmark for about `seconds` for each entry of `threads`.
	pub fn measure(precision: Precision, seconds: f64, threads: &[usize]) -> Self {
		let check = precision.passes(1);
		let passes = calibrate(seconds, |passes| {
			precision.passes(passes);
		});
		let runs: Vec<Vec<[Outcome; 8]>> = threads
			.iter()
			.map(|threads| side_by_side(*threads, || precision.passes(passes)))
			.collect();
		let one = runs.first().and_then(|run| run.first()).copied().unwrap_or_default();
		Self {
			precision,
			passes,
			sections: sections_of(precision, passes, &check, &one),
			totals: runs.iter().map(|run| Total::of(passes, run)).collect(),
		}
	}

	/// Returns whether every section gave its published result.
	pub fn as_expected(&self) -> bool {
		self.sections.iter().all(|section| section.as_expected)
	}
}

/// Returns the lines of the table, from the results of one pass and the times of `passes`.
fn sections_of(
	precision: Precision,
	passes: u32,
	check: &[Outcome; 8],
	run: &[Outcome; 8],
) -> Vec<Section> {
	DEFINITIONS
		.iter()
		.zip(check)
		.zip(run)
		.map(|((definition, check), run)| {
			let [single, double] = definition.tolerance;
			let (expected, tolerance) = match precision {
				Precision::Single => (definition.single, single),
				Precision::Double => (definition.double, double),
			};
			let operations = definition.operations_per_pass() as f64 * f64::from(passes);
			let millions = operations / 1e6 / run.seconds;
			let floating_point = definition.operations == Operations::FloatingPoint;
			Section {
				name: definition.name,
				result: check.result,
				expected,
				as_expected: (check.result - expected).abs() <= tolerance * expected.abs(),
				mflops: floating_point.then_some(millions),
				mops: (!floating_point).then_some(millions),
				seconds: run.seconds,
			}
		})
		.collect()
}

impl Total {
	/// Returns the total of threads that ran `passes` each: all of their work in the time of the
	/// slowest.
	fn of(passes: u32, threads: &[[Outcome; 8]]) -> Self {
		let seconds = |run: &[Outcome; 8]| run.iter().map(|o| o.seconds).sum::<f64>();
		let slowest = threads.iter().map(seconds).fold(0.0, f64::max);
		let mwips = MILLIONS_PER_PASS * f64::from(passes) * threads.len() as f64 / slowest;
		Self { threads: threads.len(), mwips, ut_per_day: ut_per_day(mwips * 1e6) }
	}
}

/// Returns the number of passes that take about `seconds`.
fn calibrate(seconds: f64, mut run: impl FnMut(u32)) -> u32 {
	let mut passes = 1u32;
	loop {
		let begun = Instant::now();
		run(passes);
		let took = begun.elapsed().as_secs_f64();
		if took * 8.0 >= seconds || passes > u32::MAX / 5 {
			// `as` keeps within the bounds of the type.
			return ((f64::from(passes) * seconds / took) as u32).max(1);
		}
		passes *= 5;
	}
}

/// Runs `work` on `threads` threads, which begin together.
fn side_by_side<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
	let barrier = Barrier::new(threads);
	std::thread::scope(|scope| {
		let spawned: Vec<_> = (0..threads)
			.map(|_| {
				scope.spawn(|| {
					barrier.wait();
					work()
				})
			})
			.collect();
		spawned
			.into_iter()
			.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
			.collect()
	})
}

/// Returns one thread, and as many as the system lets this process run at once.
pub fn thread_counts() -> Vec<usize> {
	match processors() {
		1 => vec![1],
		all => vec![1, all],
	}
}

/// Returns the number of logical processors that this process may use. Two threads of one core
/// count as two.
pub fn processors() -> usize {
	std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
	use super::*;
	use std::time::Duration;

	fn outcomes(seconds: [f64; 8]) -> [Outcome; 8] {
		seconds.map(|seconds| Outcome { result: 0.0, seconds })
	}

	/// A published table (Pentium 100 MHz, single precision, optimised): its times give its
	/// rates and its total.
	#[test]
	fn the_arithmetic_is_that_of_published_tables() {
		let run = outcomes([0.478, 5.22, 3.46, 13.13, 20.81, 35.65, 5.38, 16.37]);
		let passes = 666;
		let total = Total::of(passes, &[run]);
		assert!((total.mwips - 66.270).abs() < 0.01, "{total:?}");
		assert!((total.ut_per_day - 66.270 / 1_000.0 * 200.0).abs() < 0.01, "{total:?}");
		let found = sections_of(Precision::Single, passes, &run, &run);
		let rates = [26.751, 17.148, 19.922, 15.978, 2.663, 10.077, 22.877, 1.513];
		for (section, published) in found.iter().zip(rates) {
			let rate = section.mflops.or(section.mops).unwrap();
			assert!((rate / published - 1.0).abs() < 2e-3, "{section:?}, published {published}");
		}
		let floating_point: Vec<&str> =
			found.iter().filter(|s| s.mflops.is_some()).map(|s| &s.name[..2]).collect();
		assert_eq!(floating_point, ["N1", "N2", "N6"]);
		assert!(found.iter().all(|s| s.mops.is_some() != s.mflops.is_some()));
		// The results here are zeros.
		assert!(found.iter().all(|s| !s.as_expected));
	}

	#[test]
	fn threads_add_up_in_the_time_of_the_slowest() {
		let (fast, slow) = (outcomes([0.5; 8]), outcomes([1.0; 8]));
		assert_eq!(Total::of(100, &[fast]).mwips, 250.0);
		let both = Total::of(100, &[fast, slow]);
		assert_eq!((both.threads, both.mwips, both.ut_per_day), (2, 250.0, 50.0));
	}

	#[test]
	fn a_machine_of_a_thousand_mwips_does_two_hundred_ut_a_day() {
		assert_eq!(ut_per_day(1e9), 200.0);
		assert_eq!(ut_per_day(0.0), 0.0);
	}

	#[test]
	fn calibration_ends_and_gives_a_pass_at_least() {
		let mut ran = Vec::new();
		let work = |passes| {
			ran.push(passes);
			std::thread::sleep(Duration::from_millis(1));
		};
		assert_eq!(calibrate(1e-3, work), 1);
		assert_eq!(ran, [1]);
	}

	#[test]
	fn threads_run_side_by_side() {
		// Each waits for the others: one after the other would never end.
		let meeting = Barrier::new(3);
		let leaders = side_by_side(3, || meeting.wait().is_leader());
		assert_eq!(leaders.len(), 3);
		assert_eq!(leaders.iter().filter(|leader| **leader).count(), 1);
	}

	#[test]
	fn a_wrong_result_is_reported() {
		let times = outcomes([1.0; 8]);
		let mut check = Precision::Double.passes(1);
		let right = sections_of(Precision::Double, 1, &check, &times);
		assert!(right.iter().all(|s| s.as_expected), "{right:?}");
		check[5].result += 1e-15;
		check[4].result *= 1.0 + 1e-11;
		let wrong = sections_of(Precision::Double, 1, &check, &times);
		let names: Vec<&str> =
			wrong.iter().filter(|s| !s.as_expected).map(|s| &s.name[..2]).collect();
		assert_eq!(names, ["N5", "N6"]);
	}
}
