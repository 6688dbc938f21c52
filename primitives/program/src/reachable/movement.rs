//! How far the steps between two checkpoints can move a state.

use super::{
	error::{Limit, Unreachable},
	numbers::{geometric, power, TINY, U},
	optimizer::{Average, Optimizer, MOST_COUNTED},
	stretches::{first_wrong, sum},
	Kind, SLACK,
};
use crate::{
	schedule::LearningRate,
	spec::{self, CheckedSpec},
};
use trainyard_strict::{decay, from_nano};

/// What `n` steps can make of an element: `keep x`, `below` less or `above` more.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Drift {
	/// What is left of the element.
	keep: f64,
	/// What steps can take from it, whatever it is.
	below: f64,
	/// What steps can add to it, whatever it is.
	above: f64,
	/// What roundings can do more, for each unit of the element's magnitude.
	relative: f64,
	/// The most that it can move altogether.
	most: f64,
}

/// The bounds of what the steps from one checkpoint to another can change in an honest run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Movement {
	parameter: Drift,
	/// The most that all parameters move together, as a norm and without roundings.
	norm: f64,
	/// Velocity or first moment.
	first: Drift,
	second: Drift,
	/// The powers of beta at the end.
	powers: (f32, f32),
}

impl Movement {
	/// Returns the bounds of the movement from the state after `from` steps to that after `to`
	/// steps; none where `to` is before `from`. Over more than 131,072 steps parameters have no
	/// bound.
	///
	/// It takes some operations for each of these steps: fewer than the steps themselves.
	pub fn over(spec: &CheckedSpec, from: u32, to: u32) -> Self {
		let optimizer = Optimizer::of(spec);
		let (start, _) = optimizer.after(from);
		let (end, _) = optimizer.after(to.max(from));
		let n = to.saturating_sub(from);
		let count = f64::from(n);
		let rates = LearningRate::of(&spec.training);
		let weight_decay = from_nano(spec.training.weight_decay_nano);
		let decays = decays(spec);
		let (mut keep, mut travelled, mut norm) = (1.0, 0.0, 0.0);
		let mut steps = optimizer.steps(from, (start.power1, start.power2));
		let counted = n <= MOST_COUNTED;
		while counted && steps.step < to {
			let rate = rates.at(steps.step);
			if decays {
				keep *= f64::from(decay(rate, weight_decay));
			}
			let reach = steps.advance();
			travelled += f64::from(rate) * reach.element * SLACK;
			norm += f64::from(rate) * reach.norm * SLACK;
		}
		if !counted || !Self::shrinks(spec) {
			(travelled, norm) = (f64::INFINITY, f64::INFINITY);
		}
		// Two roundings a step, each of a number of at most |x| and twice what was travelled.
		let relative = count * 2.0 * U * (1.0 + U);
		let moved = travelled + 2.0 * relative * travelled + 2.0 * count * TINY;
		let parameter = Drift {
			keep,
			below: moved,
			above: moved,
			relative,
			// Without a decay a rounding moves a parameter by no more than the step it rounds.
			most: if decays { f64::INFINITY } else { 2.0 * travelled },
		};
		let [first, second] = optimizer.averages();
		let average = |Average { keep, add, .. }: Average, largest: f64| {
			let moved = match n {
				0 => 0.0,
				_ => (add + U * largest + TINY) * geometric(keep, n) * SLACK,
			};
			// Of powers in binary64.
			let relative = power(keep, n) * count * f64::EPSILON;
			Drift {
				keep: power(keep, n),
				below: moved,
				above: moved,
				relative,
				most: f64::INFINITY,
			}
		};
		let first = average(first, start.first.max(end.first));
		let second = average(second, start.second.max(end.second));
		// Nothing but the decay and its roundings makes a second moment less.
		let relative = second.keep * (count * 2.0 * U).min(1.0);
		let second = Drift { below: count * TINY, relative, ..second };
		Self { parameter, norm, first, second, powers: (end.power1, end.power2) }
	}

	/// Returns whether decay, where there is one, only ever makes parameters smaller: the share
	/// that a step takes is at most the whole.
	pub(super) fn shrinks(spec: &CheckedSpec) -> bool {
		let peak = LearningRate::of(&spec.training).peak.to_f32();
		let least = decay(peak, from_nano(spec.training.weight_decay_nano));
		!decays(spec) || (0.0..=1.0).contains(&least)
	}

	/// Returns the most by which these steps move a parameter that is `x` at their beginning;
	/// infinite where nothing bounds it.
	pub fn most(&self, x: f32) -> f64 {
		let drift = &self.parameter;
		let size = f64::from(x.abs());
		let moved = drift.above + (drift.relative + (1.0 - drift.keep).abs()) * size;
		moved.min(drift.most) * SLACK
	}

	/// Fails with the first element of the tensor `name` that the steps cannot have moved so far.
	pub fn tensor(&self, name: &str, from: &[f32], to: &[f32]) -> Result<(), Unreachable> {
		if from.len() != to.len() {
			let (expected, found) = (from.len() as u64, to.len() as u64);
			return Err(Unreachable::Length { tensor: name.into(), expected, found });
		}
		let fail = |index: u64, value: f32, limit: Limit, bound: f64| {
			Err(Unreachable::Element { tensor: name.into(), index, value, limit, bound })
		};
		let drift = match Kind::of(name).0 {
			Kind::Parameter => &self.parameter,
			Kind::Mapping => {
				return match first_wrong(from, to, |x, y| x != y) {
					Some((index, x, y)) => fail(index, y, Limit::Kept, f64::from(x)),
					None => Ok(()),
				};
			}
			Kind::Velocity | Kind::FirstMoment => &self.first,
			Kind::SecondMoment => &self.second,
			kind @ (Kind::Beta1Power | Kind::Beta2Power) => {
				let power = if kind == Kind::Beta1Power { self.powers.0 } else { self.powers.1 };
				let wrong = (0u64..).zip(to).find(|(_, value)| **value != power);
				return match wrong {
					Some((index, value)) => fail(index, *value, Limit::Power, f64::from(power)),
					None => Ok(()),
				};
			}
		};
		let wrong = |x: f32, y: f32| {
			let (least, most) = drift.range(f64::from(x));
			let y = f64::from(y);
			!x.is_finite() | !y.is_finite() | (y < least) | (y > most)
		};
		if let Some((index, x, y)) = first_wrong(from, to, wrong) {
			if let Some(value) = [x, y].into_iter().find(|value| !value.is_finite()) {
				return fail(index, value, Limit::Number, 0.0);
			}
			let (least, most) = drift.range(f64::from(x));
			return match f64::from(y) < least {
				true => fail(index, y, Limit::Least, least),
				false => fail(index, y, Limit::Most, most),
			};
		}
		match Kind::of(name).0 {
			Kind::Parameter => self.check_norm(name, from, to),
			_ => Ok(()),
		}
	}

	/// Fails if the elements of the tensor `name` moved too far together. SGD's steps are no longer
	/// than the clipped gradients; Adam's have no such bound.
	fn check_norm(&self, name: &str, from: &[f32], to: &[f32]) -> Result<(), Unreachable> {
		let sum_of_squares = sum(from, to, |x, y| {
			let moved = f64::from(y) - self.parameter.keep * f64::from(x);
			moved * moved
		});
		let squares = sum(from, from, |x, y| f64::from(x) * f64::from(y));
		let relative = self.parameter.relative;
		let rounded = relative * (libm::sqrt(squares) + 2.0 * self.norm);
		// Underflow moves 2^28 elements by less than 2^14 times what it moves one.
		let tiny = f64::from(1 << 15) * relative / U * TINY;
		let most = (self.norm + rounded + tiny) * SLACK;
		if sum_of_squares > most * most {
			let (sum, bound) = (sum_of_squares, most * most);
			return Err(Unreachable::Sum { tensor: name.into(), sum, bound });
		}
		Ok(())
	}
}

impl Drift {
	/// Returns the least and the most that the steps can make of `x`.
	fn range(&self, x: f64) -> (f64, f64) {
		let rounded = self.relative * x.abs() + 4.0 * f64::EPSILON * x.abs();
		let (middle, most) = (self.keep * x, self.most * SLACK);
		let least = (middle - (self.below + rounded) * SLACK).max(x - most);
		(least, (middle + (self.above + rounded) * SLACK).min(x + most))
	}
}

/// Returns whether a step decays the parameters themselves.
fn decays(spec: &CheckedSpec) -> bool {
	let t = &spec.training;
	t.weight_decay_nano > 0 && !matches!(t.optimizer, spec::Optimizer::Adam { .. })
}
