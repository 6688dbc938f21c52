//! Bounds of what an optimizer keeps, and of its steps.
//!
//! Each is an invariant: it holds at step 0, and a step carries it over, whatever the gradient is.

use super::{
	numbers::{geometric, up, TINY, U},
	SLACK,
};
use crate::{
	ops::Nano,
	spec::{self, CheckedSpec},
};
use trainyard_strict::{fma, from_nano};

/// Largest relative error of the norm of a clipped gradient, `2^-14`: at most 1,024 additions are
/// one after another between a square and the sum of all.
const NORM_ERROR: f64 = 1.0 / 16_384.0;
/// Most steps of which each is counted by itself: whoever posts a job must not keep those busy who
/// check a state of it.
pub(super) const MOST_COUNTED: u32 = 1 << 17;
/// More than what underflow adds to a norm of `2^28` elements, or to a sum of `2^28`, in a step.
const UNDERFLOW: f64 = TINY * 1_073_741_824.0;

/// An optimizer with the gradients that clipping lets through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Optimizer {
	/// Largest magnitude of an element of the gradient that the optimizer takes.
	pub(super) gradient: f64,
	/// Largest norm of that gradient, over all parameters together.
	pub(super) norm: f64,
	rule: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
	Sgd { momentum: f64, nesterov: bool },
	Adam(Adam),
}

/// The constants of Adam, as a step reads them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Adam {
	beta1: f32,
	beta2: f32,
	/// `1 - beta1`, rounded by itself: it may differ from the difference of the rounded numbers.
	take1: f64,
	take2: f64,
	epsilon: f64,
}

/// Bounds at one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
	/// Largest magnitude of a velocity or first moment.
	pub(super) first: f64,
	/// Largest second moment.
	pub(super) second: f64,
	/// Largest norm of all velocities or first moments.
	pub(super) first_norm: f64,
	/// Largest sum of all second moments.
	pub(super) second_sum: f64,
	/// `K^2`: a first moment is at most `K sqrt(v) + offset` beside the second moment `v`.
	pub(super) root: f64,
	/// What underflow can add to that.
	pub(super) offset: f64,
	/// The power of beta1, exactly.
	pub(super) power1: f32,
	/// The power of beta2, exactly.
	pub(super) power2: f32,
}

impl Bounds {
	/// Returns the largest magnitude of a first moment beside the second moment `v`.
	pub(super) fn first_beside(&self, v: f64) -> f64 {
		if self.root.is_infinite() {
			return f64::INFINITY;
		}
		(libm::sqrt(self.root * v) + self.offset) * SLACK
	}
}

impl Optimizer {
	/// Returns the optimizer of a specification.
	pub(super) fn of(spec: &CheckedSpec) -> Self {
		let t = &spec.training;
		let coupled =
			matches!(t.optimizer, spec::Optimizer::Adam { .. }) && t.weight_decay_nano > 0;
		let (gradient, norm) = if t.clip_norm_nano == 0 || coupled {
			(f64::INFINITY, f64::INFINITY)
		} else {
			let clip = f64::from(from_nano(t.clip_norm_nano));
			// The norm is at least each element, and the factor and the product are rounded.
			(f64::from(up(clip * (1.0 + 4.0 * U))), clip * (1.0 + NORM_ERROR))
		};
		let rule = match t.optimizer {
			spec::Optimizer::Sgd { momentum_nano, nesterov } => {
				Rule::Sgd { momentum: f64::from(from_nano(momentum_nano)), nesterov }
			}
			spec::Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano }
			| spec::Optimizer::Adam { beta1_nano, beta2_nano, epsilon_nano } => {
				let take = |nano| f64::from(Nano(nano).one_minus().to_f32());
				Rule::Adam(Adam {
					beta1: from_nano(beta1_nano),
					beta2: from_nano(beta2_nano),
					take1: take(beta1_nano),
					take2: take(beta2_nano),
					epsilon: f64::from(from_nano(epsilon_nano)),
				})
			}
		};
		Self { gradient, norm, rule }
	}

	/// Returns the average that a velocity or first moment is, and that of a second moment.
	pub(super) fn averages(&self) -> [Average; 2] {
		let g = self.gradient;
		match self.rule {
			Rule::Sgd { momentum, .. } => [
				Average { keep: momentum, add: g, size: f64::INFINITY },
				Average { keep: 0.0, add: 0.0, size: 0.0 },
			],
			Rule::Adam(Adam { beta1, beta2, take1, take2, .. }) => [
				Average { keep: f64::from(beta1), add: take1 * g * (1.0 + 2.0 * U), size: g },
				Average {
					keep: f64::from(beta2),
					add: take2 * g * g * (1.0 + 4.0 * U),
					size: g * g,
				},
			],
		}
	}

	/// Returns the bounds after `step` steps with these powers of beta.
	pub(super) fn bounds(&self, step: u32, powers: (f32, f32)) -> Bounds {
		let [one, two] = self.averages();
		let (keep1, keep2) = (one.keep, two.keep);
		let mut bounds = Bounds {
			first: one.largest(step),
			second: two.largest(step),
			first_norm: 0.0,
			second_sum: 0.0,
			root: f64::INFINITY,
			offset: 0.0,
			power1: powers.0,
			power2: powers.1,
		};
		let rounded = 1.0 + U;
		match self.rule {
			Rule::Sgd { momentum, .. } => {
				let add = (self.norm + UNDERFLOW) * rounded;
				bounds.first_norm = add * geometric(momentum * rounded, step) * SLACK;
			}
			Rule::Adam(adam) => {
				let add = adam.take1 * self.norm * (1.0 + 3.0 * U) + UNDERFLOW;
				bounds.first_norm = add * geometric(keep1 * rounded, step) * SLACK;
				let add = adam.take2 * self.norm * self.norm * (1.0 + 4.0 * U) + UNDERFLOW;
				bounds.second_sum = add * geometric(keep2 * rounded, step) * SLACK;
				// Each factor with the roundings of a step against it.
				let (keep1, keep2) = (keep1 * rounded, keep2 * (1.0 - U));
				let share = if keep1 > 0.0 { keep1 * keep1 / keep2 } else { 0.0 };
				let base =
					adam.take1 * adam.take1 * (1.0 + 5.0 * U) / (adam.take2 * (1.0 - 4.0 * U));
				bounds.root = base * geometric(share, step);
				// The square root of three halves of the smallest number, and two of those.
				let lost = libm::sqrt(bounds.root * 1.5 * TINY) + 2.0 * TINY;
				bounds.offset = lost * geometric(keep1, step);
			}
		}
		bounds
	}

	/// Returns the bounds after `step` steps, and the sum of the most that these steps move a
	/// parameter, at a learning rate of one and without roundings; infinite where they are more than
	/// [`MOST_COUNTED`].
	pub(super) fn after(&self, step: u32) -> (Bounds, f64) {
		let (mut sum, mut steps) = (0.0, self.steps(0, (1.0, 1.0)));
		if step > MOST_COUNTED {
			return (self.bounds(step, steps.powers_at(step)), f64::INFINITY);
		}
		while steps.step < step && !steps.is_corrected() {
			sum += steps.advance().element;
		}
		let rest = f64::from(step.saturating_sub(steps.step));
		let powers = steps.powers_at(step);
		let bounds = self.bounds(step, powers);
		// The powers are rounded away from here on, and the bounds do not fall: the last step's is
		// the largest.
		if rest > 0.0 {
			sum += rest * self.reach(&bounds, step).element;
		}
		(bounds, sum)
	}

	/// Returns the steps from `step` on, where the powers of beta are `powers`.
	pub(super) fn steps(&self, step: u32, powers: (f32, f32)) -> Steps<'_> {
		Steps { optimizer: self, step, powers }
	}

	/// Returns the most by which the step that ends with these bounds moves parameters, at a
	/// learning rate of one.
	fn reach(&self, bounds: &Bounds, step: u32) -> Reach {
		match self.rule {
			Rule::Sgd { nesterov: false, .. } => {
				Reach { element: bounds.first * SLACK, norm: bounds.first_norm * SLACK }
			}
			// One step ahead.
			Rule::Sgd { nesterov: true, .. } => {
				let ahead = self.bounds(step.saturating_add(1), (1.0, 1.0));
				Reach { element: ahead.first * SLACK, norm: ahead.first_norm * SLACK }
			}
			Rule::Adam(adam) => {
				// The quotient of both moments, each over its own correction.
				let rest = |power: f32| f64::from(1.0 - power);
				let (rest1, rest2) = (rest(bounds.power1), rest(bounds.power2));
				let epsilon = adam.epsilon * (1.0 - 16.0 * U);
				let slope = libm::sqrt(bounds.root * rest2);
				let most = bounds.first;
				let clipped = if most.is_finite() {
					most / ((most - bounds.offset).max(0.0) / slope + epsilon)
				} else {
					slope
				};
				let quotient = slope.min(clipped).max(bounds.offset / epsilon);
				Reach { element: quotient / rest1 * SLACK + TINY, norm: f64::INFINITY }
			}
		}
	}
}

/// The most by which a step moves parameters at a learning rate of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reach {
	/// Each element.
	pub(super) element: f64,
	/// All of them together, as a norm.
	pub(super) norm: f64,
}

/// Successive steps of an optimizer, with the powers of beta that they compute.
pub(super) struct Steps<'a> {
	optimizer: &'a Optimizer,
	/// Steps that are done.
	pub(super) step: u32,
	powers: (f32, f32),
}

impl Steps<'_> {
	/// Goes on by a step. Returns the most by which it moves parameters at a learning rate of one.
	pub(super) fn advance(&mut self) -> Reach {
		self.step = self.step.saturating_add(1);
		self.powers = self.next_powers();
		self.optimizer.reach(&self.optimizer.bounds(self.step, self.powers), self.step)
	}

	fn next_powers(&self) -> (f32, f32) {
		match self.optimizer.rule {
			Rule::Adam(adam) => (adam.beta1 * self.powers.0, adam.beta2 * self.powers.1),
			Rule::Sgd { .. } => self.powers,
		}
	}

	/// Returns whether no later step corrects its moments: there are no powers, or one minus each
	/// is one.
	fn is_corrected(&self) -> bool {
		match self.optimizer.rule {
			Rule::Adam(_) => 1.0 - self.powers.0 == 1.0 && 1.0 - self.powers.1 == 1.0,
			Rule::Sgd { .. } => true,
		}
	}

	/// Returns the powers after `step` steps, which end at a fixed number.
	fn powers_at(mut self, step: u32) -> (f32, f32) {
		while self.step < step {
			let before = self.powers;
			self.powers = self.next_powers();
			self.step = if self.powers == before { step } else { self.step.saturating_add(1) };
		}
		self.powers
	}
}

/// An average, `x = keep x + g`, with each operation rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Average {
	/// What a step keeps of it.
	pub(super) keep: f64,
	/// The most that a step adds to it.
	pub(super) add: f64,
	/// The largest of what is averaged; infinite where it is a sum and no average.
	size: f64,
}

impl Average {
	/// Returns the most that it is after `step` steps from zero on: what they can add up to, or
	/// what it cannot pass, whichever is less.
	fn largest(&self, step: u32) -> f64 {
		if step == 0 {
			return 0.0;
		}
		let summed = self.add * (1.0 + U) * geometric(self.keep * (1.0 + U), step) * SLACK;
		let quotient = up(self.add / (1.0 - self.keep) * (1.0 + 4.0 * f64::EPSILON));
		summed.min(f64::from(quotient)).min(self.fixed())
	}

	/// Returns a number that a step does not pass from at most that number on; infinite where none
	/// was found.
	///
	/// Where `keep` is near one, it and the share that is taken are rounded so differently that the
	/// quotient above may be half as large again as what is averaged. But then the sum hardly
	/// differs from `x`, and is rounded to it: what is averaged, or the next power of two, where
	/// the distance between numbers doubles, is not passed. A step is monotonic, so one test of it
	/// is proof.
	fn fixed(&self) -> f64 {
		let (keep, add) = (self.keep as f32, up(self.add));
		let size = up(self.size * (1.0 + 8.0 * U));
		let above = f32::from_bits((size.to_bits() | 0x007F_FFFF).saturating_add(1));
		let mut found = [size, above].into_iter().filter(|x| x.is_finite());
		let found = found.find(|x| fma(keep, *x, add) <= *x);
		found.map_or(f64::INFINITY, f64::from)
	}
}
