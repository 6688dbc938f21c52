//! Who watches: how many accounts look at results of others, and what that brings.
//!
//! Whoever looks says so once in each [watch](WATCH_BLOCKS). What finders are paid of the deposits of whom they
//! convicted is summed up, and decays by half as [reputation](crate::reputation) does. So anybody knows what one more
//! may expect: what is found on a day, shared with those who look. Where it is little some stop, and where frauds are
//! found more come.

use crate::{
	decay::decayed,
	job::{Balance, BlockNumber},
	reputation::HALF_LIFE,
};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

/// Blocks of a watch: four hours at 6 s each.
pub const WATCH_BLOCKS: BlockNumber = 2_400;
/// Blocks of a day.
const DAY: BlockNumber = 14_400;
/// ln 2 in millionths of millionths: the part of a decayed sum that comes in a half-life, where as much comes as goes.
const LN_2: u128 = 693_147_180_560;
/// The most that a sum can be: no product with [`LN_2`] leaves the range of amounts.
const MOST: Balance = Balance::MAX >> 48;

/// Number of the watch to which a height belongs.
pub fn watch_of(height: BlockNumber) -> u32 {
	height.checked_div(WATCH_BLOCKS).unwrap_or(0)
}

/// What finders were paid, as of a height.
#[derive(
	Clone,
	Copy,
	Debug,
	Default,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Prizes {
	/// The decayed sum.
	pub sum: Balance,
	/// Height as of which it is.
	pub at: BlockNumber,
}

impl Prizes {
	/// Returns the sum as of `now`.
	pub fn aged(self, now: BlockNumber) -> Self {
		let elapsed = u64::from(now.saturating_sub(self.at));
		Self { sum: decayed(self.sum, elapsed, HALF_LIFE.into()), at: now }
	}

	/// Returns the sum as of `now` with one more prize.
	pub fn with(self, prize: Balance, now: BlockNumber) -> Self {
		let Self { sum, at } = self.aged(now);
		Self { sum: sum.saturating_add(prize).min(MOST), at }
	}

	/// Returns what comes in a day, where as much comes as decays: `sum ln 2 / 28`.
	pub fn per_day(&self) -> Balance {
		let days =
			u128::from(HALF_LIFE.checked_div(DAY).unwrap_or(1)).saturating_mul(1_000_000_000_000);
		self.sum.min(MOST).saturating_mul(LN_2).checked_div(days).unwrap_or(0)
	}
}

/// What a chain says to whoever may watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct WatchView {
	/// The watch that runs.
	pub watch: u32,
	/// How many said in the last one that they look.
	pub alive: u32,
	/// How many have said it so far in this one.
	pub so_far: u32,
	/// What finders were paid, decayed by half in four weeks.
	#[serde(with = "trainyard_program::text::decimal")]
	pub prizes: Balance,
	/// What that is in a day.
	#[serde(with = "trainyard_program::text::decimal")]
	pub per_day: Balance,
	/// What one more may expect in a day.
	#[serde(with = "trainyard_program::text::decimal")]
	pub next: Balance,
}

impl WatchView {
	/// Makes a view of what is known.
	pub fn new(watch: u32, alive: u32, so_far: u32, prizes: Prizes) -> Self {
		let per_day = prizes.per_day();
		let all = Balance::from(alive).saturating_add(1);
		let next = per_day.checked_div(all).unwrap_or(0);
		Self { watch, alive, so_far, prizes: prizes.sum, per_day, next }
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	const TRY: Balance = 1_000_000_000_000;

	#[test]
	fn what_comes_every_day_is_what_it_says() {
		// 3 TRY on every day of a year.
		let mut prizes = Prizes::default();
		for day in 0..365 {
			prizes = prizes.with(3 * TRY, day * DAY);
		}
		let found = prizes.per_day() as f64 / TRY as f64;
		assert!((found - 3.0).abs() < 0.05, "{found}");
		let later = prizes.aged(365 * DAY + HALF_LIFE - DAY);
		assert!(later.sum * 2 <= prizes.sum && later.sum * 2 + 2 >= prizes.sum);
	}

	#[test]
	fn one_more_shares_with_those_who_look() {
		let prizes = Prizes { sum: 28 * TRY, at: 5 };
		let view = |alive| WatchView::new(0, alive, 0, prizes);
		assert_eq!(view(0).next, 693_147_180_560);
		assert_eq!(view(0).per_day, view(9).per_day);
		assert_eq!(view(9).next, 69_314_718_056);
		assert_eq!(view(u32::MAX).next, 161);
	}

	#[test]
	fn a_watch_is_four_hours() {
		assert_eq!([0, 2_399, 2_400, 4_800].map(watch_of), [0, 0, 1, 2]);
	}

	proptest! {
		#[test]
		fn nothing_overflows(all in proptest::collection::vec((any::<u128>(), any::<u32>()), 0..20)) {
			let mut prizes = Prizes::default();
			for (prize, at) in all {
				prizes = prizes.with(prize, at);
				prop_assert!(prizes.per_day() <= prizes.sum);
			}
		}
	}
}
