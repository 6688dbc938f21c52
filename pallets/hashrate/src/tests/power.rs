//! The ledger against exact arithmetic.
//!
//! The reference has 200 fractional bits and computes factors by the exponential series,
//! so that it shares neither table nor method with the ledger. Its own error is far below
//! 2^-180.

use crate::power::{decayed, whole, Ledger, Track, HALF_LIFE_MS};
use proptest::prelude::*;
use sp_core::U512;

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

/// 2^(-elapsed / week).
fn exact_factor(elapsed: u64) -> U512 {
	let part = ln2() * U512::from(elapsed % HALF_LIFE_MS) / U512::from(HALF_LIFE_MS);
	let weeks = elapsed / HALF_LIFE_MS;
	if weeks >= 512 {
		return U512::zero();
	}
	exp_minus(part) >> weeks as usize
}

/// Exact effective power.
#[derive(Default)]
struct Exact {
	effective: U512,
	updated: u64,
}

impl Exact {
	fn at(&self, now: u64) -> U512 {
		times(self.effective, exact_factor(now - self.updated))
	}

	fn credit(&mut self, work: u64, now: u64) {
		self.effective = self.at(now) + U512::from(work) * ln2() / U512::from(7);
		self.updated = now;
	}
}

/// Asserts that `effective` (64 fractional bits) is within 1e-9 of `exact` (200):
/// relative above 1 micro-ut per day, absolute below.
#[track_caller]
fn assert_close(effective: u128, exact: U512) {
	let effective = U512::from(effective) << (BITS - 64);
	let error = if effective > exact { effective - exact } else { exact - effective };
	let scale = exact.max(one());
	assert!(error * U512::from(1_000_000_000u64) <= scale, "{effective} is not {exact}");
}

#[test]
fn the_reference_is_right() {
	let float = |x: U512| (x >> (BITS - 120)).as_u128() as f64 / 2f64.powi(120);
	assert!((float(ln2()) - std::f64::consts::LN_2).abs() < 1e-15);
	for elapsed in [0, 1, 1_000, 86_400_000, HALF_LIFE_MS - 1, HALF_LIFE_MS, YEAR_MS] {
		let expected = (-(elapsed as f64) / HALF_LIFE_MS as f64).exp2();
		assert!((float(exact_factor(elapsed)) / expected - 1.0).abs() < 1e-13, "{elapsed}");
	}
}

#[test]
fn a_week_halves() {
	let x = 12_345u128 << 64;
	assert_eq!(decayed(x, 0), x);
	assert_eq!(decayed(x, HALF_LIFE_MS), x / 2);
	assert_eq!(decayed(x, 3 * HALF_LIFE_MS), x / 8);
	assert_eq!(decayed(u128::MAX, 127 * HALF_LIFE_MS), 1);
	assert_eq!(decayed(u128::MAX, 128 * HALF_LIFE_MS), 0);
	assert_eq!(decayed(u128::MAX, u64::MAX), 0);
}

#[test]
fn a_year_of_credits_in_every_block_is_exact_and_converges() {
	// Work of 7 micro-ut every 6 s, 100,800 a day, for a year.
	let (work, step) = (7u64, 6_000u64);
	let blocks = YEAR_MS / step;
	let mut track = Track::default();
	for block in 1..=blocks {
		track.credit(work, block * step);
	}
	// The same as a geometric series: c (1 - q^n) / (1 - q).
	let credit = U512::from(work) * ln2() / U512::from(7);
	let ratio = exact_factor(step);
	let sum = ((one() - exact_factor(blocks * step)) << BITS) / (one() - ratio);
	let exact = times(credit, sum);
	assert_close(track.effective, exact);
	assert_eq!(track.total, u128::from(work) * u128::from(blocks));
	// Credits come in lumps, which a credit's own decay of 6 s does not fill: 3.4e-6.
	let rate = 100_800f64;
	let effective = track.effective as f64 / 2f64.powi(64);
	assert!((effective / rate - 1.0).abs() < 5e-6, "{effective}");
}

#[test]
fn a_year_of_reads_in_every_block_is_exact() {
	// Writing back what was read, 5 million times: the worst use of the ledger.
	for start in [1u64 << 63, 1_000_000_000, 3, 0] {
		let mut track = Track::default();
		track.credit(start, 0);
		let before = U512::from(track.effective) << (BITS - 64);
		for block in 1..=YEAR_MS / 6_000 {
			track.credit(0, block * 6_000);
		}
		assert_close(track.effective, times(before, exact_factor(track.updated)));
	}
}

#[test]
fn ecp_blends_exactly() {
	let ecp = |d: u128, t: u128| {
		let track = |effective| Track { total: 0, effective, updated: 0 };
		Ledger { drilling: track(d), training: track(t) }.ecp_at(0)
	};
	assert_eq!(ecp(10 << 64, 10 << 64), 10);
	assert_eq!(ecp(10 << 64, 0), 4);
	assert_eq!(ecp(0, 10 << 64), 6);
	assert_eq!(ecp(1 << 64, 1 << 64), 1);
	assert_eq!(ecp(u128::MAX, u128::MAX), u64::MAX);
	// Just below a whole number is rounded down.
	assert_eq!(ecp((10 << 64) - 1, 10 << 64), 9);
}

#[test]
fn time_does_not_run_backwards() {
	let mut track = Track::default();
	track.credit(1_000, 5_000_000);
	let then = track.effective;
	assert_eq!(track.effective_at(0), then);
	track.credit(1_000, 0);
	assert_eq!(track.effective, 2 * then);
	assert_eq!(track.updated, 5_000_000);
}

#[test]
fn credits_saturate() {
	let mut track = Track { total: u128::MAX - 1, effective: u128::MAX - 1, updated: 9 };
	track.credit(u64::MAX, 9);
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

proptest! {
	#[test]
	fn any_history_of_a_year_is_exact(
		history in proptest::collection::vec(
			(prop_oneof![any::<u64>(), 0..10_000u64, Just(0)], prop_oneof![0..YEAR_MS, 0..100_000u64]),
			1..80),
		last in 0..YEAR_MS,
	) {
		// The gaps are scaled to a year in all.
		let all: u64 = history.iter().map(|(_, gap)| gap).sum::<u64>().max(YEAR_MS);
		let scaled = |gap: u64| (u128::from(gap) * u128::from(YEAR_MS) / u128::from(all)) as u64;
		let (mut track, mut exact, mut now) = (Track::default(), Exact::default(), 1_000u64);
		let mut total = 0u128;
		for (work, gap) in history {
			now += scaled(gap);
			// Beyond 2^64 micro-ut a day the ledger saturates; stay below.
			let work = work >> 8;
			track.credit(work, now);
			exact.credit(work, now);
			total += u128::from(work);
			assert_close(track.effective, exact.effective);
		}
		prop_assert_eq!(track.total, total);
		assert_close(track.effective_at(now + last), exact.at(now + last));
	}

	#[test]
	fn reads_do_not_matter(
		start in any::<u64>(),
		gaps in proptest::collection::vec(0..YEAR_MS / 50, 1..50),
	) {
		let mut track = Track::default();
		track.credit(start >> 8, 0);
		let untouched = track;
		let mut now = 0;
		for gap in gaps {
			now += gap;
			track.credit(0, now);
		}
		let exact = U512::from(untouched.effective_at(now)) << (BITS - 64);
		assert_close(track.effective, exact);
	}

	#[test]
	fn nothing_panics_and_power_never_grows(
		effective in any::<u128>(),
		updated in any::<u64>(),
		now in any::<u64>(),
		work in any::<u64>(),
		total in any::<u128>(),
	) {
		let mut track = Track { total, effective, updated };
		prop_assert!(track.effective_at(now) <= effective);
		track.credit(work, now);
		prop_assert!(track.updated >= updated && track.updated >= now);
		let ledger = Ledger { drilling: track, training: Track { total, effective, updated } };
		let larger = track.effective.max(effective);
		prop_assert!(ledger.ecp_at(now) <= whole(larger));
	}

	#[test]
	fn decay_is_monotone_in_time(
		effective in any::<u128>(),
		a in 0..3 * YEAR_MS,
		b in 0..3 * YEAR_MS,
	) {
		let (soon, late) = (decayed(effective, a.min(b)), decayed(effective, a.max(b)));
		// Up to the rounding of the factor, 64 half-units of 2^-64.
		let slack = (effective >> 58) + 2;
		prop_assert!(late <= soon.saturating_add(slack));
	}
}
