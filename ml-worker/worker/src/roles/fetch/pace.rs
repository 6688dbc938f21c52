//! The least rate of a transfer. A server that sends a byte now and then would otherwise hold a
//! place among the downloads for as long as the declared length allows.

use std::time::Duration;

/// Time in which a transfer may be as slow as it likes, so that a slow link brings a small file.
pub const GRACE: Duration = Duration::from_secs(30);
/// Time over which the rate is measured after that, again and again: a short pause is no fault.
pub const WINDOW: Duration = Duration::from_secs(15);
/// Least bytes a second over such a time.
pub const LEAST_RATE: u64 = 256 * 1024;

/// How slow a server may be.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
	/// Time without a least rate.
	pub grace: Duration,
	/// Time over which the rate is measured.
	pub window: Duration,
	/// Least bytes a second.
	pub rate: u64,
}

impl Default for Pace {
	fn default() -> Self {
		Self { grace: GRACE, window: WINDOW, rate: LEAST_RATE }
	}
}

impl Pace {
	/// Returns the longest time for `bytes` bytes, whatever happens to them on their way.
	pub(super) fn patience(&self, bytes: u64) -> Duration {
		let sending = Duration::from_secs(bytes / self.rate.max(1));
		self.grace.saturating_add(self.window).saturating_add(sending)
	}
}

/// The server was too slow for the last window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooFew {
	/// Bytes that came in it.
	pub bytes: u64,
}

/// Measures how fast a server sends. Only the time in which it was waited for counts, and a
/// connection that broke off begins no new grace time.
#[derive(Debug)]
pub(super) struct Meter {
	pace: Pace,
	/// What is left of the present period, the grace time or a window.
	left: Duration,
	/// Bytes that must come in it.
	due: u64,
	/// Bytes that came in it.
	came: u64,
}

impl Meter {
	pub fn new(pace: Pace) -> Self {
		Self { pace, left: pace.grace, due: 0, came: 0 }
	}

	/// Returns how long the server may be waited for until it is judged.
	pub fn left(&self) -> Duration {
		self.left
	}

	/// Takes note of `bytes` bytes that came after the server was `waited` for.
	pub fn note(&mut self, waited: Duration, bytes: u64) -> Result<(), TooFew> {
		self.came = self.came.saturating_add(bytes);
		if waited < self.left {
			self.left -= waited;
			return Ok(());
		}
		if self.came < self.due {
			return Err(TooFew { bytes: self.came });
		}
		let Pace { window, rate, .. } = self.pace;
		let millis = u64::try_from(window.as_millis()).unwrap_or(u64::MAX);
		(self.left, self.due, self.came) = (window, rate.saturating_mul(millis) / 1000, 0);
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	const SECOND: Duration = Duration::from_secs(1);

	/// Returns the seconds after which a server is given up that sends this much in each.
	fn given_up(bytes: impl Fn(u64) -> u64) -> Option<u64> {
		let mut meter = Meter::new(Pace::default());
		(0..100_000).find(|at| meter.note(SECOND, bytes(*at)).is_err()).map(|at| at + 1)
	}

	#[test]
	fn a_least_rate_counts_after_the_grace_time() {
		let first = (GRACE + WINDOW).as_secs();
		assert_eq!(given_up(|_| 0), Some(first));
		assert_eq!(given_up(|_| 1), Some(first));
		assert_eq!(given_up(|_| LEAST_RATE - 1), Some(first));
		assert_eq!(given_up(|_| LEAST_RATE), None);
		// What was sent before does not count for later.
		let window = WINDOW.as_secs();
		let fast_first = |at: u64| if at < 2 * window { 1 << 30 } else { 1 };
		assert_eq!(given_up(fast_first), Some(first));
		// A pause that is made up for in the same window is no fault.
		let pauses = |at: u64| if at % window < 10 { 0 } else { 3 * LEAST_RATE };
		assert_eq!(given_up(pauses), None);
	}

	#[test]
	fn a_slow_link_has_time_for_a_small_file() {
		let mut meter = Meter::new(Pace::default());
		// 8 KiB a second bring 200 KiB.
		for _ in 0..25 {
			assert_eq!(meter.note(SECOND, 8 * 1024), Ok(()));
		}
		assert_eq!(Pace::default().patience(0), GRACE + WINDOW);
		assert_eq!(Pace::default().patience(10 * LEAST_RATE), GRACE + WINDOW + 10 * SECOND);
	}

	#[test]
	fn waiting_in_small_pieces_is_waiting() {
		let pace = Pace { grace: SECOND, window: SECOND, rate: 10 };
		let mut meter = Meter::new(pace);
		let steps = (0..1_000).find(|_| meter.note(SECOND / 100, 0).is_err());
		assert_eq!(steps, Some(199));
		let mut meter = Meter::new(pace);
		assert_eq!(meter.note(3 * SECOND, 0), Ok(()), "a window begins when it is waited for");
		assert_eq!(meter.left(), SECOND);
		assert_eq!(meter.note(SECOND, 9), Err(TooFew { bytes: 9 }));
	}
}
