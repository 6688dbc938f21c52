//! The ledger against exact arithmetic.
//!
//! The reference has 200 fractional bits and computes factors by the exponential series,
//! so that it shares neither table nor method with the ledger. Its own error is far below
//! 2^-180.

use crate::power::{whole, Clock, Ledger, Track, HALF_LIVES_MS, WEEK_MS};
use proptest::prelude::*;
use sp_core::U512;
use sp_runtime::Perbill;
use trainyard_protocol::decay::decayed;

const BITS: usize = 200;
const YEAR_MS: u64 = 365 * 86_400_000;

fn one() -> U512 {
	U512::one() << BITS
}

/// The product of two numbers with 200 fractional bits.
fn times(a: U512, b: U512) -> U512 {
	(a * b) >> BITS
}

/// ln 2 = sum of 2^-k / k.
fn ln2() -> U512 {
	(1..=BITS).fold(U512::zero(), |sum, k| sum + (one() >> k) / U512::from(k))
}

/// e^-y for y in 0..1, by its series.
fn exp_minus(y: U512) -> U512 {
	let (mut plus, mut minus, mut term) = (U512::zero(), U512::zero(), one());
	for n in 1.. {
		if n % 2 == 1 {
			plus += term;
		} else {
			minus += term;
		}
		term = times(term, y) / U512::from(n);
		if term.is_zero() {
			break;
		}
	}
	plus - minus
}

/// 2^(-elapsed / half_life).
fn exact_factor(elapsed: u64, half_life: u64) -> U512 {
	let part = ln2() * U512::from(elapsed % half_life) / U512::from(half_life);
	let halvings = elapsed / half_life;
	if halvings >= 512 {
		return U512::zero();
	}
	exp_minus(part) >> halvings as usize
}

/// What one micro-ut adds per day.
fn exact_unit(half_life: u64) -> U512 {
	ln2() * U512::from(86_400_000u64) / U512::from(half_life)
}

/// Exact effective power.
struct Exact {
	effective: U512,
	updated: u64,
	half_life: u64,
}

impl Exact {
	fn new(half_life: u64) -> Self {
		Self { effective: U512::zero(), updated: 0, half_life }
	}

	fn at(&self, now: u64) -> U512 {
		times(self.effective, exact_factor(now - self.updated, self.half_life))
	}

	fn credit(&mut self, work: u64, now: u64) {
		self.effective = self.at(now) + U512::from(work) * exact_unit(self.half_life);
		self.updated = now;
	}

	fn debit(&mut self, work: u64, now: u64) {
		let work = U512::from(work) * exact_unit(self.half_life);
		self.effective = self.at(now).saturating_sub(work);
		self.updated = now;
	}
}

/// A chain that began long ago.
fn clock(now: u64, half_life: u64) -> Clock {
	Clock { now, half_life }
}

/// The same with power that halves in a week.
fn week(now: u64) -> Clock {
	clock(now, WEEK_MS)
}

/// Asserts that `effective` (64 fractional bits) is within 1e-9 of `exact` (200):
/// relative above 1 micro-ut per day, absolute below.
#[track_caller]
fn assert_close(effective: u128, exact: U512) {
	assert_near(effective, exact, exact);
}

/// The same, relative to `scale`.
#[track_caller]
fn assert_near(effective: u128, exact: U512, scale: U512) {
	let effective = U512::from(effective) << (BITS - 64);
	let error = if effective > exact { effective - exact } else { exact - effective };
	let scale = scale.max(one());
	assert!(error * U512::from(1_000_000_000u64) <= scale, "{effective} is not {exact}");
}

#[test]
fn the_reference_is_right() {
	let float = |x: U512| (x >> (BITS - 120)).as_u128() as f64 / 2f64.powi(120);
	assert!((float(ln2()) - std::f64::consts::LN_2).abs() < 1e-15);
	for half_life in [1_000, 60_000, WEEK_MS, 10 * YEAR_MS] {
		for elapsed in [0, 1, 500, half_life / 7, half_life - 1, half_life, 5 * half_life / 2] {
			let expected = (-(elapsed as f64) / half_life as f64).exp2();
			let error = float(exact_factor(elapsed, half_life)) / expected - 1.0;
			assert!(error.abs() < 1e-13, "{elapsed} of {half_life}");
		}
	}
}

#[test]
fn a_half_life_halves() {
	let x = 12_345u128 << 64;
	for half_life in [1_000, 90_001, WEEK_MS, *HALF_LIVES_MS.end()] {
		let left = |x, halvings| decayed(x, halvings * half_life, half_life);
		assert_eq!(left(x, 0), x);
		assert_eq!(left(x, 1), x / 2);
		assert_eq!(left(x, 3), x / 8);
		assert_eq!(left(u128::MAX, 127), 1);
		assert_eq!(left(u128::MAX, 128), 0);
	}
	assert_eq!(decayed(u128::MAX, u64::MAX, WEEK_MS), 0);
	// 0 would be a division by zero; it reads as 1.
	assert_eq!(decayed(x, 1, 0), x / 2);
}

#[test]
fn a_year_of_credits_in_every_block_is_exact_and_converges() {
	// Work of 7 micro-ut every 6 s, 100,800 a day, for a year: it converges to that rate
	// whatever the half-life is, if the year holds enough of them.
	let (work, step) = (7u64, 6_000u64);
	let blocks = YEAR_MS / step;
	for half_life in [600_000, 86_400_000, WEEK_MS] {
		let mut track = Track::default();
		for block in 1..=blocks {
			track.credit(work, &clock(block * step, half_life));
		}
		// The same as a geometric series: c (1 - q^n) / (1 - q).
		let credit = U512::from(work) * exact_unit(half_life);
		let ratio = exact_factor(step, half_life);
		let sum = ((one() - exact_factor(blocks * step, half_life)) << BITS) / (one() - ratio);
		let exact = times(credit, sum);
		assert_close(track.effective, exact);
		assert_eq!(track.total, u128::from(work) * u128::from(blocks));
		// Credits come in lumps, which a credit's own decay of 6 s does not fill: half of
		// ln 2 x 6 s / half-life, 3.4e-6 for a week.
		let rate = 100_800f64;
		let effective = track.effective as f64 / 2f64.powi(64);
		let lump = std::f64::consts::LN_2 * step as f64 / half_life as f64 / 2.0;
		assert!((effective / rate - 1.0 - lump).abs() < lump / 100.0 + 1e-9, "{effective}");
	}
}

#[test]
fn a_year_of_reads_in_every_block_is_exact() {
	// Writing back what was read, 5 million times: the worst use of the ledger.
	for start in [1u64 << 63, 1_000_000_000, 3, 0] {
		let mut track = Track::default();
		track.credit(start, &week(0));
		let before = U512::from(track.effective) << (BITS - 64);
		for block in 1..=YEAR_MS / 6_000 {
			track.credit(0, &week(block * 6_000));
		}
		assert_close(track.effective, times(before, exact_factor(track.updated, WEEK_MS)));
	}
}

#[test]
fn a_debit_takes_what_a_credit_adds() {
	let mut track = Track { effective: 1_000 << 64, ..Default::default() };
	let before = track;
	track.credit(777, &week(0));
	track.debit(777, &week(0));
	assert_eq!((track.effective, track.total), (before.effective, 777));
	// At most what there is.
	track.debit(u64::MAX, &week(5));
	assert_eq!((track.effective, track.total, track.updated), (0, 777, 5));
}

/// What was credited before, between and after stays, whenever it is revoked.
#[test]
fn a_revocation_takes_what_decay_left() {
	let day = 86_400_000;
	for (between, after) in [(0, 0), (day, 0), (0, day), (3 * day, 11 * day), (1, 400 * day)] {
		let credits = [(900u64, 0), (777, between), (5_000, between + after)];
		let now = between + after;
		let mut with = Track { effective: 1_000 << 64, ..Default::default() };
		let mut without = with;
		for (number, (work, at)) in credits.into_iter().enumerate() {
			with.credit(work, &week(at));
			if number != 1 {
				without.credit(work, &week(at));
			}
		}
		with.revoke(777, between, &week(now));
		assert_eq!(with.total, without.total);
		let (left, exact) = (with.effective_at(&week(now)), without.effective_at(&week(now)));
		assert!(left.abs_diff(exact) <= 64 + (exact >> 50), "{left} and not {exact}");
	}
}

#[test]
fn no_more_is_revoked_than_there_is() {
	let mut track = Track::default();
	track.credit(1_000, &week(0));
	track.lose(Perbill::from_percent(90));
	track.revoke(1_000, 0, &week(10));
	assert_eq!((track.effective, track.total, track.updated), (0, 0, 10));
	track.revoke(u64::MAX, 0, &week(10));
	assert_eq!((track.effective, track.total), (0, 0));
}

/// BOINC's published rule, in whose place ours is: work since the last update counts as done evenly
/// since then. In intervals that are short beside the half-life both are one; the longer they are the
/// more ours gives for the last piece of work, `(x ln 2) / (1 - 2^-x)` times as much after `x`
/// half-lives, and ours does not depend on how often work is reported.
#[test]
fn short_intervals_are_averaged_as_by_boinc() {
	const DAY: f64 = 86_400_000.0;
	let update_average = |average: f64, elapsed: f64, work: f64| {
		let left = (-elapsed / WEEK_MS as f64).exp2();
		if 1.0 - left > 1e-6 {
			average * left + (1.0 - left) * work / (elapsed / DAY)
		} else {
			average * left + core::f64::consts::LN_2 * work * DAY / WEEK_MS as f64
		}
	};
	for (minutes, tolerance) in [(1u64, 1e-4), (60, 0.003), (24 * 60, 0.06), (7 * 24 * 60, 0.39)] {
		let gap = minutes * 60_000;
		let (mut track, mut average, mut now) = (Track::default(), 0.0, 0);
		for piece in 1..=500u64 {
			now += gap;
			let work = 1_000_000 * (1 + piece % 7);
			track.credit(work, &week(now));
			average = update_average(average, gap as f64, work as f64);
			let ours = track.effective as f64 / 2f64.powi(64);
			let x = gap as f64 / WEEK_MS as f64;
			let most = x * core::f64::consts::LN_2 / (1.0 - (-x).exp2());
			let ratio = ours / average;
			assert!((ratio / most - 1.0).abs() < 1e-6, "{minutes} min: {ratio} and not {most}");
			assert!(ratio - 1.0 <= tolerance, "{minutes} min: {ratio}");
		}
	}
}

#[test]
fn time_does_not_run_backwards() {
	let mut track = Track::default();
	track.credit(1_000, &week(5_000_000));
	let then = track.effective;
	assert_eq!(track.effective_at(&week(0)), then);
	track.credit(1_000, &week(0));
	assert_eq!(track.effective, 2 * then);
	track.debit(1_000, &week(0));
	assert_eq!(track.effective, then);
	assert_eq!(track.updated, 5_000_000);
}

#[test]
fn credits_saturate() {
	let mut track = Track { total: u128::MAX - 1, effective: u128::MAX - 1, updated: 9 };
	track.credit(u64::MAX, &week(9));
	assert_eq!(track, Track { total: u128::MAX, effective: u128::MAX, updated: 9 });
	assert_eq!(whole(track.effective), u64::MAX);
}

#[test]
fn a_ledger_keeps_its_layout() {
	use codec::Encode;
	let track = |n: u8| Track { total: n.into(), effective: u128::from(n) + 1, updated: 9 };
	let bytes = |n: u8| {
		[
			u128::from(n).to_le_bytes().to_vec(),
			(u128::from(n) + 1).to_le_bytes().to_vec(),
			9u64.to_le_bytes().to_vec(),
		]
		.concat()
	};
	let ledger = Ledger { drilling: track(1), training: track(3) };
	assert_eq!(ledger.encode(), [bytes(1), bytes(3)].concat());
}

/// Any half-life that a genesis may name, the usual ones more often.
fn half_lives() -> impl Strategy<Value = u64> {
	prop_oneof![Just(WEEK_MS), Just(120_000), HALF_LIVES_MS]
}

proptest! {
	#[test]
	fn any_history_of_a_year_is_exact(
		history in proptest::collection::vec(
			(any::<bool>(), prop_oneof![any::<u64>(), 0..10_000u64, Just(0)],
				prop_oneof![0..YEAR_MS, 0..100_000u64]),
			1..80),
		last in 0..YEAR_MS,
		half_life in half_lives(),
	) {
		// The gaps are scaled to a year in all.
		let all: u64 = history.iter().map(|(_, _, gap)| gap).sum::<u64>().max(YEAR_MS);
		let scaled = |gap: u64| (u128::from(gap) * u128::from(YEAR_MS) / u128::from(all)) as u64;
		let (mut track, mut exact) = (Track::default(), Exact::new(half_life));
		// What a debit leaves may be a small difference of large numbers: the error is
		// relative to what was added and taken away.
		let mut all_added = Exact::new(half_life);
		let (mut now, mut total) = (1_000u64, 0u128);
		for (credits, work, gap) in history {
			now += scaled(gap);
			// Beyond 2^64 micro-ut a day the ledger saturates; stay below. A unit adds up to
			// 59,886 a day where the half-life is a second.
			let work = work >> 24;
			if credits {
				track.credit(work, &clock(now, half_life));
				exact.credit(work, now);
				total += u128::from(work);
			} else {
				track.debit(work, &clock(now, half_life));
				exact.debit(work, now);
			}
			all_added.credit(work, now);
			assert_near(track.effective, exact.effective, all_added.effective);
		}
		prop_assert_eq!(track.total, total);
		now += last;
		assert_near(track.effective_at(&clock(now, half_life)), exact.at(now), all_added.at(now));
	}

	#[test]
	fn reads_do_not_matter(
		start in any::<u64>(),
		gaps in proptest::collection::vec(0..YEAR_MS / 50, 1..50),
		half_life in half_lives(),
	) {
		let mut track = Track::default();
		track.credit(start >> 24, &clock(0, half_life));
		let untouched = track;
		let mut now = 0;
		for gap in gaps {
			now += gap;
			track.credit(0, &clock(now, half_life));
		}
		let exact = U512::from(untouched.effective_at(&clock(now, half_life))) << (BITS - 64);
		assert_close(track.effective, exact);
	}

	#[test]
	fn any_two_timestamps_are_exact(
		power in any::<u64>(),
		then in any::<u64>(),
		now in any::<u64>(),
		half_life in half_lives(),
	) {
		let track = Track { total: 0, effective: u128::from(power) << 64, updated: then };
		let elapsed = now.saturating_sub(then);
		let exact = times(U512::from(power) << BITS, exact_factor(elapsed, half_life));
		assert_close(track.effective_at(&Clock { now, half_life }), exact);
	}

	#[test]
	fn nothing_panics_and_power_never_grows(
		effective in any::<u128>(),
		updated in any::<u64>(),
		now in any::<u64>(),
		half_life in any::<u64>(),
		work in any::<u64>(),
		total in any::<u128>(),
	) {
		let clock = Clock { now, half_life };
		let mut track = Track { total, effective, updated };
		prop_assert!(track.effective_at(&clock) <= effective);
		track.credit(work, &clock);
		prop_assert!(track.updated >= updated && track.updated >= now);
		let before = track.effective;
		track.debit(work, &clock);
		prop_assert!(track.effective <= before);
	}

	#[test]
	fn decay_is_monotone_in_time(
		effective in any::<u128>(),
		a in 0..3 * YEAR_MS,
		b in 0..3 * YEAR_MS,
		half_life in half_lives(),
	) {
		let (soon, late) =
			(decayed(effective, a.min(b), half_life), decayed(effective, a.max(b), half_life));
		// Up to the rounding of the factor, 64 half-units of 2^-64.
		let slack = (effective >> 58) + 2;
		prop_assert!(late <= soon.saturating_add(slack));
	}
}
