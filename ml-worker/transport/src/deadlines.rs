//! How long an answer is waited for: as long as answers usually take, and some more.
//!
//! A fixed limit is too short for a slow link and too long for a fast one, where it lets one peer that is gone
//! hold up another. So the limit follows what was seen: twice the sum of the median of the last times and four
//! median absolute deviations. Neither is moved far by a few answers that took very long, as a mean would be.

use std::{collections::VecDeque, time::Duration};

/// Times that are remembered.
const REMEMBERED: usize = 32;
/// Times that must be known before they count.
const ENOUGH: usize = 3;
/// Median absolute deviations above the median.
const DEVIATIONS: u32 = 4;
/// How much longer than usual an answer may take.
const SLACK: u32 = 2;
/// How often a limit is doubled where nothing comes in time, at most.
const MOST_DOUBLINGS: u32 = 8;

/// Bytes of the text of what is remembered, at most.
pub const MOST_TEXT: u64 = 1_024;

/// Says why some text has no times that were seen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTimes {
	/// A word is no number of nanoseconds.
	#[error("\"{0}\" is no number of nanoseconds")]
	Word(String),
	/// There are more than are remembered.
	#[error("it has more than {REMEMBERED} times")]
	TooMany,
}

/// The limit for one kind of answer.
#[derive(Clone, Debug)]
pub struct Deadlines {
	seen: VecDeque<Duration>,
	first: Duration,
	least: Duration,
	most: Duration,
}

/// Returns the lower median of times; zero of none.
fn median(times: impl Iterator<Item = Duration>) -> Duration {
	let mut sorted: Vec<Duration> = times.collect();
	sorted.sort_unstable();
	sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

impl Deadlines {
	/// Waits `first` as long as nothing is known, and always from `least` to `most`.
	pub fn new(first: Duration, least: Duration, most: Duration) -> Self {
		Self { seen: VecDeque::new(), first, least, most }
	}

	/// Takes note that an answer took so long.
	pub fn seen(&mut self, took: Duration) {
		if self.seen.len() >= REMEMBERED {
			self.seen.pop_front();
		}
		self.seen.push_back(took);
	}

	/// Returns the times that are remembered, as text: nanoseconds, in order, with spaces between them. Whoever
	/// [reads](Self::remember) it after a restart waits as long as before. It has less than [`MOST_TEXT`] bytes.
	pub fn text(&self) -> String {
		let one = |time: &Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).to_string();
		self.seen.iter().map(one).collect::<Vec<_>>().join(" ")
	}

	/// Takes note of times that were [written down](Self::text). Where one of them is no number of nanoseconds, or
	/// they are more than are remembered, it fails and changes nothing.
	pub fn remember(&mut self, text: &str) -> Result<(), NoTimes> {
		let mut times = Vec::new();
		for word in text.split_ascii_whitespace() {
			let time = word.parse().map_err(|_| NoTimes::Word(word.chars().take(20).collect()))?;
			times.push(Duration::from_nanos(time));
			if times.len() > REMEMBERED {
				return Err(NoTimes::TooMany);
			}
		}
		times.into_iter().for_each(|time| self.seen(time));
		Ok(())
	}

	/// Returns how long the next answer is waited for from somebody who did not answer in time so often in a
	/// row. The limit doubles each time: otherwise a link that got slower would never bring anything. What one
	/// peer misses changes nothing for the others.
	pub fn limit(&self, missed: u32) -> Duration {
		let usual = if self.seen.len() < ENOUGH {
			self.first
		} else {
			let middle = median(self.seen.iter().copied());
			let deviation = median(self.seen.iter().map(|time| time.abs_diff(middle)));
			middle.saturating_add(deviation.saturating_mul(DEVIATIONS)).saturating_mul(SLACK)
		};
		usual
			.max(self.least)
			.saturating_mul(1u32.checked_shl(missed.min(MOST_DOUBLINGS)).unwrap_or(u32::MAX))
			.min(self.most)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	const fn ms(n: u64) -> Duration {
		Duration::from_millis(n)
	}

	fn with(times: &[u64]) -> Deadlines {
		let mut deadlines = Deadlines::new(ms(3_000), ms(10), ms(60_000));
		times.iter().for_each(|time| deadlines.seen(ms(*time)));
		deadlines
	}

	#[test]
	fn the_first_limit_holds_until_enough_is_known() {
		assert_eq!(with(&[]).limit(0), ms(3_000));
		assert_eq!(with(&[1, 1]).limit(0), ms(3_000));
		assert_eq!(with(&[100, 100, 100]).limit(0), ms(200));
	}

	#[test]
	fn it_follows_median_and_deviation_and_not_what_is_far_off() {
		// The median is 100, the deviations are 20, 10, 0, 10, 20.
		assert_eq!(with(&[80, 90, 100, 110, 120]).limit(0), ms(2 * (100 + 4 * 10)));
		assert_eq!(with(&[80, 90, 100, 110, 50_000]).limit(0), ms(2 * (100 + 4 * 10)));
		// What was long ago is forgotten.
		let mut slower = vec![100; 32];
		slower.extend([500; 32]);
		assert_eq!(with(&slower).limit(0), ms(1_000));
	}

	#[test]
	fn it_stays_between_its_ends_and_doubles_for_who_misses_it() {
		assert_eq!(with(&[1, 1, 1]).limit(0), ms(10));
		assert_eq!(with(&[90_000, 90_000, 90_000]).limit(0), ms(60_000));
		let deadlines = with(&[100, 100, 100]);
		assert_eq!([1, 2, 3].map(|missed| deadlines.limit(missed)), [400, 800, 1_600].map(ms));
		assert_eq!(deadlines.limit(100), ms(200 << 8));
	}

	#[test]
	fn what_was_seen_is_known_after_a_restart() {
		let mut many: Vec<u64> = (0..50).map(|at| 100 + at * at % 37).collect();
		many.push(u64::MAX / 1_000_000);
		for times in [&[][..], &[90, 100], &[80, 90, 100, 110, 50_000], &many] {
			let before = with(times);
			let mut after = with(&[]);
			after.remember(&before.text()).unwrap();
			assert_eq!([0, 3].map(|missed| after.limit(missed)), [0, 3].map(|m| before.limit(m)));
			assert_eq!(after.seen, before.seen);
		}
		let mut longest = with(&[]);
		(0..2 * REMEMBERED).for_each(|_| longest.seen(Duration::MAX));
		assert!((longest.text().len() as u64) < MOST_TEXT, "{}", longest.text().len());
		assert_eq!(with(&[]).remember(&longest.text()), Ok(()));
	}

	#[test]
	fn text_that_has_no_times_is_refused_and_changes_nothing() {
		let mut deadlines = with(&[100, 100, 100]);
		let many = "7 ".repeat(REMEMBERED + 1);
		for wrong in ["7 x", "-7", "7.5", "18446744073709551616", "7 {\"a\":1}", &many] {
			assert!(deadlines.remember(wrong).is_err(), "{wrong}");
			assert_eq!((deadlines.seen.len(), deadlines.limit(0)), (3, ms(200)));
		}
	}

	#[test]
	fn nothing_overflows() {
		let mut deadlines = Deadlines::new(Duration::MAX, ms(0), Duration::MAX);
		(0..3).for_each(|_| deadlines.seen(Duration::MAX));
		assert_eq!(deadlines.limit(u32::MAX), Duration::MAX);
	}
}
