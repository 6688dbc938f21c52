//! The learning rate of every step.

use crate::{
	ops::Nano,
	spec::{Schedule, Training},
};
use trainyard_strict::{cos_pi, fma, from_nano};

/// How the learning rate changes over a training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LearningRate {
	/// The rate at its peak.
	pub peak: Nano,
	/// What it does after the warm-up.
	pub schedule: Schedule,
	/// Steps of the linear warm-up.
	pub warmup_steps: u32,
	/// Steps of the training.
	pub steps: u32,
}

impl LearningRate {
	/// Returns the learning rate of a training.
	pub fn of(training: &Training) -> Self {
		Self {
			peak: Nano(training.learning_rate_nano),
			schedule: training.schedule,
			warmup_steps: training.warmup_steps,
			steps: training.steps,
		}
	}

	/// Returns the rate, where it is the same in every step.
	pub fn constant(&self) -> Option<Nano> {
		(self.schedule == Schedule::Constant && self.warmup_steps == 0).then_some(self.peak)
	}

	/// Returns the rate of `step` (from 0).
	///
	/// In the warm-up, the first `w` steps, it is the binary32 of the integer
	/// `floor(peak * (step + 1) / w)`. After it a constant schedule stays at the peak. A cosine
	/// (Loshchilov and Hutter 2017, without restarts) falls towards the final rate: with `x` the
	/// binary64 quotient `(step - w) / (steps - w)` rounded to binary32 and `c = cos_pi(x * 0.5)`,
	/// it is `fma(peak - final, c * c, final)`. (The square is `(1 + cos(pi x)) / 2`, and does not
	/// cancel to zero near the end.)
	pub fn at(&self, step: u32) -> f32 {
		if step < self.warmup_steps {
			let risen = u128::from(self.peak.0)
				.saturating_mul(u128::from(step).saturating_add(1))
				.checked_div(u128::from(self.warmup_steps));
			return from_nano(risen.and_then(|n| u64::try_from(n).ok()).unwrap_or(self.peak.0));
		}
		match self.schedule {
			Schedule::Constant => self.peak.to_f32(),
			Schedule::Cosine { final_rate_nano } => {
				let (low, high) = (from_nano(final_rate_nano), self.peak.to_f32());
				let done = step.saturating_sub(self.warmup_steps);
				let all = self.steps.saturating_sub(self.warmup_steps).max(1);
				let x = (f64::from(done) / f64::from(all)) as f32;
				let c = cos_pi(x * 0.5);
				fma(high - low, c * c, low)
			}
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	fn rate(schedule: Schedule, warmup_steps: u32) -> LearningRate {
		LearningRate { peak: Nano(2_000_000), schedule, warmup_steps, steps: 1_000 }
	}

	#[test]
	fn a_constant_is_constant() {
		let rate = rate(Schedule::Constant, 0);
		assert_eq!(rate.constant(), Some(Nano(2_000_000)));
		assert!([0, 1, 500, 999].iter().all(|step| rate.at(*step) == 0.002));
	}

	#[test]
	fn the_warmup_is_linear() {
		let rate = rate(Schedule::Constant, 100);
		assert_eq!(rate.constant(), None);
		assert_eq!(rate.at(0), 2e-5);
		assert_eq!(rate.at(49), 1e-3);
		assert_eq!((rate.at(99), rate.at(100), rate.at(999)), (2e-3, 2e-3, 2e-3));
		// The integer quotient rounds down: 2,000,000 / 3.
		let thirds = LearningRate { warmup_steps: 3, ..rate };
		assert_eq!(thirds.at(0), from_nano(666_666));
	}

	#[test]
	fn a_cosine_falls_from_peak_to_final() {
		let rate = rate(Schedule::Cosine { final_rate_nano: 200_000 }, 10);
		assert_eq!(rate.constant(), None);
		assert_eq!(rate.at(9), 2e-3);
		assert_eq!(rate.at(10), 2e-3);
		for step in 10..1_000u32 {
			let share = f64::from(step - 10) / 990.0;
			let exact =
				2e-4 + (2e-3 - 2e-4) * 0.5 * (1.0 + libm::cos(core::f64::consts::PI * share));
			assert!((f64::from(rate.at(step)) - exact).abs() < 1e-9, "{step}");
			assert!(rate.at(step + 1) <= rate.at(step));
		}
		assert_eq!(rate.at(1_000), 2e-4);
		// It falls towards zero, and is not zero before the end.
		let steps = 100_000_000;
		let long = LearningRate { steps, ..self::rate(Schedule::Cosine { final_rate_nano: 0 }, 0) };
		assert!(long.at(steps - 7) > 0.0);
	}

	#[test]
	fn no_number_panics() {
		let all = [0, 1, u32::MAX];
		for (warmup_steps, steps, step) in
			all.iter().flat_map(|a| all.iter().flat_map(move |b| all.map(|c| (*a, *b, c))))
		{
			let schedule = Schedule::Cosine { final_rate_nano: 0 };
			let rate = LearningRate { peak: Nano(u64::MAX), schedule, warmup_steps, steps };
			assert!(!rate.at(step).is_nan());
		}
	}
}
