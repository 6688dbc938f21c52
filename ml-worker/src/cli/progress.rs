//! How a run shows itself: a bar with the time left on a terminal, plain lines otherwise.

use crate::train::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
	io::IsTerminal,
	time::{Duration, Instant},
};

/// Between two plain lines.
const PAUSE: Duration = Duration::from_secs(5);

/// Shows a run on standard error.
pub struct Display {
	bar: Option<ProgressBar>,
	begun: Instant,
	said: Option<Instant>,
	accuracy: String,
}

impl Display {
	/// A display for a run of `steps` steps.
	pub fn new(steps: u32) -> Self {
		let bar = std::io::stderr().is_terminal().then(|| {
			let bar = ProgressBar::new(u64::from(steps));
			let style = "{bar:30} {pos}/{len} steps, {per_sec}, {eta} left  {msg}";
			if let Ok(style) = ProgressStyle::with_template(style) {
				bar.set_style(style);
			}
			bar
		});
		Self { bar, begun: Instant::now(), said: None, accuracy: String::new() }
	}

	/// Shows where the run stands.
	pub fn update(&mut self, at: &Progress) {
		if let Some(validation) = at.validation {
			self.accuracy = format!("validation {:.2} %", 100.0 * validation.accuracy());
		}
		let loss = at.loss.map(|loss| format!("loss {loss:.4}, ")).unwrap_or_default();
		if let Some(bar) = &self.bar {
			if at.step == at.begun_at {
				bar.reset_eta();
			}
			bar.set_position(u64::from(at.step));
			bar.set_message(format!("{loss}{}", self.accuracy));
			if at.stops_early {
				bar.println(format!("stops early, after step {} of {}", at.step, at.steps));
			}
			return;
		}
		if at.stops_early {
			eprintln!("step {} of {}, {loss}{}, stops early", at.step, at.steps, self.accuracy);
			return;
		}
		let ends = at.step == at.begun_at || at.step == at.steps;
		if ends || self.said.is_none_or(|said| said.elapsed() >= PAUSE) {
			self.said = Some(Instant::now());
			let left = self.left(at).map(|left| format!(", {left} s left")).unwrap_or_default();
			eprintln!("step {} of {}, {loss}{}{left}", at.step, at.steps, self.accuracy);
		}
	}

	/// Seconds left, from the pace of this process.
	fn left(&self, at: &Progress) -> Option<u64> {
		let done = at.step.checked_sub(at.begun_at).filter(|done| *done > 0)?;
		let left = at.steps.checked_sub(at.step).filter(|left| *left > 0)?;
		let pace = self.begun.elapsed().as_secs_f64() / f64::from(done);
		Some((pace * f64::from(left)).ceil() as u64)
	}

	/// Leaves the terminal clean.
	pub fn finish(&self) {
		if let Some(bar) = &self.bar {
			bar.finish_and_clear();
		}
	}
}
