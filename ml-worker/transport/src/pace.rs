//! The least rate of a source. One that sends a byte now and then would otherwise hold what others could
//! bring.

use std::time::Duration;

/// How slow a source may be.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
	/// Time without a least rate.
	pub grace: Duration,
	/// Time over which the rate is measured after that, again and again.
	pub window: Duration,
	/// Least bytes a second.
	pub rate: u64,
	/// Longest silence while something is awaited.
	pub silence: Duration,
}

impl Default for Pace {
	fn default() -> Self {
		Self {
			grace: Duration::from_secs(30),
			window: Duration::from_secs(15),
			rate: 256 * 1024,
			silence: Duration::from_secs(20),
		}
	}
}

/// Measures one source: only time in which it was waited for counts.
#[derive(Debug)]
pub(crate) struct Meter {
	pace: Pace,
	left: Duration,
	due: u64,
	came: u64,
}

impl Meter {
	pub(crate) fn new(pace: Pace) -> Self {
		Self { pace, left: pace.grace, due: 0, came: 0 }
	}

	/// Takes note of bytes that came.
	pub(crate) fn came(&mut self, bytes: u64) {
		self.came = self.came.saturating_add(bytes);
	}

	/// Takes note that the source was `waited` for; returns whether it is too slow.
	pub(crate) fn is_too_slow(&mut self, waited: Duration) -> bool {
		if waited < self.left {
			self.left -= waited;
			return false;
		}
		let slow = self.came < self.due;
		let millis = u64::try_from(self.pace.window.as_millis()).unwrap_or(u64::MAX);
		let due = self.pace.rate.saturating_mul(millis) / 1000;
		(self.left, self.due, self.came) = (self.pace.window, due, 0);
		slow
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn a_least_rate_counts_after_the_grace_time() {
		let second = Duration::from_secs(1);
		let given_up = |bytes: u64| {
			let mut meter = Meter::new(Pace::default());
			(0..1_000).find(|_| {
				meter.came(bytes);
				meter.is_too_slow(second)
			})
		};
		assert_eq!(given_up(0), Some(44));
		assert_eq!(given_up(256 * 1024 - 1), Some(44));
		assert_eq!(given_up(256 * 1024), None);
	}
}
