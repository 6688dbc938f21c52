//! Shows the progress of a run: a bar with the time left on a terminal, plain lines otherwise.

use indicatif::{ProgressBar, ProgressStyle};
use std::{
	collections::VecDeque,
	io::IsTerminal,
	time::{Duration, Instant},
};
use trainyard_proof::train::Progress;

/// Time between two plain lines.
const PAUSE: Duration = Duration::from_secs(5);

/// Shows a run on standard error.
pub struct Display {
	bar: Option<ProgressBar>,
	begun: Instant,
	said: Option<Instant>,
	loss: Option<f32>,
	validation: String,
	meter: Meter,
	/// The last progress of the run.
	last: Option<Progress>,
}

impl Display {
	/// Makes a display for a run of `steps` steps.
	pub fn new(steps: u32) -> Self {
		let bar = std::io::stderr().is_terminal().then(|| {
			let bar = ProgressBar::new(u64::from(steps));
			let style = "{wide_bar} {pos}/{len} steps, {eta} left, {msg}";
			if let Ok(style) = ProgressStyle::with_template(style) {
				bar.set_style(style);
			}
			bar
		});
		Self {
			bar,
			begun: Instant::now(),
			said: None,
			loss: None,
			validation: String::new(),
			meter: Meter::default(),
			last: None,
		}
	}

	/// Shows the progress of the run.
	pub fn update(&mut self, at: &Progress) {
		let passed = self.begun.elapsed();
		self.meter.note(passed, at.flop);
		self.last = Some(*at);
		self.loss = at.loss.or(self.loss);
		if let Some(validation) = at.validation {
			self.validation = format!("accuracy {:.2} %", 100.0 * validation.accuracy());
		}
		let loss = self.loss.map(|loss| format!("loss {loss:.4}"));
		let speed = self.meter.speed().map(per_second);
		let parts = [loss, Some(self.validation.clone()).filter(|text| !text.is_empty()), speed];
		let text = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
		if let Some(bar) = &self.bar {
			if at.step == at.begun_at {
				bar.reset_eta();
			}
			bar.set_position(u64::from(at.step));
			bar.set_message(text);
			if at.stops_early {
				bar.println(format!("stops early, after step {} of {}", at.step, at.steps));
			}
			return;
		}
		if at.stops_early {
			eprintln!("step {} of {}, {text}, stops early", at.step, at.steps);
			return;
		}
		let ends = at.step == at.begun_at || at.step == at.steps;
		if ends || self.said.is_none_or(|said| said.elapsed() >= PAUSE) {
			self.said = Some(Instant::now());
			let left = left(at, passed).map(|left| format!(", {} left", clock(left)));
			eprintln!("step {} of {}, {text}{}", at.step, at.steps, left.unwrap_or_default());
		}
	}

	/// Leaves the terminal clean.
	pub fn finish(&self) {
		if let Some(bar) = &self.bar {
			bar.finish_and_clear();
		}
	}

	/// Describes what this process did: work, time and speed; none if it took no step.
	pub fn summary(&self) -> Option<String> {
		let at = self.last.filter(|at| at.step > at.begun_at)?;
		let seconds = self.begun.elapsed().as_secs_f64();
		let steps = at.step - at.begun_at;
		Some(format!(
			"{steps} steps, {} in {seconds:.1} s, {}",
			scaled(at.flop as f64, "FLOP"),
			per_second(at.flop as f64 / seconds)
		))
	}
}

/// Returns the time left, by the pace of this process so far, which has run for `passed`.
fn left(at: &Progress, passed: Duration) -> Option<Duration> {
	let done = at.step.checked_sub(at.begun_at).filter(|done| *done > 0)?;
	let left = at.steps.checked_sub(at.step).filter(|left| *left > 0)?;
	Some(passed.mul_f64(f64::from(left) / f64::from(done)))
}

/// Writes a duration: `9s`, `3m05s`, `2h07m`.
pub(super) fn clock(time: Duration) -> String {
	let seconds = time.as_secs_f64().ceil() as u64;
	match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
		(0, 0, s) => format!("{s}s"),
		(0, m, s) => format!("{m}m{s:02}s"),
		(h, m, _) => format!("{h}h{m:02}m"),
	}
}

/// Writes a count with a prefix: `12.3 GFLOP`.
pub(super) fn scaled(count: f64, unit: &str) -> String {
	let (scale, prefix) = match count {
		n if n >= 1e15 => (1e15, "P"),
		n if n >= 1e12 => (1e12, "T"),
		n if n >= 1e9 => (1e9, "G"),
		n if n >= 1e6 => (1e6, "M"),
		_ => (1e3, "k"),
	};
	format!("{:.1} {prefix}{unit}", count / scale)
}

fn per_second(flop: f64) -> String {
	scaled(flop, "FLOP/s")
}

/// Measures the present speed: over the last [`Meter::WINDOW`], or the whole run if that is
/// shorter.
#[derive(Default)]
struct Meter {
	/// The times at which numbers of FLOP were reached, ascending, at most a few a second.
	marks: VecDeque<(Duration, u128)>,
	now: (Duration, u128),
}

impl Meter {
	const WINDOW: Duration = Duration::from_secs(5);
	const APART: Duration = Duration::from_millis(100);

	/// Notes that `flop` are done after `passed`; neither falls.
	fn note(&mut self, passed: Duration, flop: u128) {
		self.now = (passed, flop);
		let apart = |(last, _): &(Duration, u128)| passed.saturating_sub(*last) >= Self::APART;
		if self.marks.back().is_none_or(apart) {
			self.marks.push_back((passed, flop));
		}
		// One mark from before the window stays, to measure from.
		let begin = passed.saturating_sub(Self::WINDOW);
		while self.marks.get(1).is_some_and(|(at, _)| *at <= begin) {
			self.marks.pop_front();
		}
	}

	/// Returns the FLOP in a second; none before anything was done.
	fn speed(&self) -> Option<f64> {
		let (from, before) = *self.marks.front()?;
		let (to, flop) = self.now;
		let (seconds, done) = (to.saturating_sub(from).as_secs_f64(), flop.checked_sub(before)?);
		(seconds > 0.0 && done > 0).then(|| done as f64 / seconds)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	fn at(step: u32) -> Progress {
		Progress {
			step,
			steps: 100,
			begun_at: 20,
			loss: None,
			validation: None,
			stops_early: false,
			flop: 0,
		}
	}

	#[test]
	fn speed_is_of_the_last_seconds() {
		let mut meter = Meter::default();
		let time = Duration::from_millis;
		meter.note(time(0), 0);
		assert_eq!(meter.speed(), None);
		meter.note(time(10), 5_000);
		assert_eq!(meter.speed(), Some(500_000.0));
		// Slow for ten seconds, then ten times as fast: after the window only that counts.
		for tick in 1..=100u32 {
			meter.note(time(u64::from(tick) * 100), u128::from(tick) * 1_000);
		}
		assert!((meter.speed().unwrap() - 10_000.0).abs() < 1.0);
		for tick in 1..=60u32 {
			meter.note(time(10_000 + u64::from(tick) * 100), 100_000 + u128::from(tick) * 10_000);
		}
		assert!((meter.speed().unwrap() - 100_000.0).abs() < 1.0);
		assert!(meter.marks.len() < 60, "old marks are dropped");
	}

	#[test]
	fn the_time_left_counts_this_process_only() {
		let passed = Duration::from_secs(10);
		assert_eq!(left(&at(20), passed), None);
		assert_eq!(left(&at(30), passed), Some(Duration::from_secs(70)));
		assert_eq!(left(&at(100), passed), None);
	}

	#[test]
	fn times_and_counts_as_people_read_them() {
		let clocks = [0.2, 9.0, 59.5, 185.0, 7_620.0].map(|s| clock(Duration::from_secs_f64(s)));
		assert_eq!(clocks, ["1s", "9s", "1m00s", "3m05s", "2h07m"]);
		assert_eq!(scaled(950.0, "FLOP"), "0.9 kFLOP");
		assert_eq!(per_second(12.34e9), "12.3 GFLOP/s");
		assert_eq!(scaled(4.32e11, "FLOP"), "432.0 GFLOP");
		assert_eq!(scaled(2.5e15, "FLOP"), "2.5 PFLOP");
	}
}
