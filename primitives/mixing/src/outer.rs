//! What a model becomes by mixing: the mean of two, or a step of an outer optimizer.

use crate::rule::{Fault, RuleError};
use alloc::vec::Vec;
use trainyard_strict::{canonical_bits, Arithmetic};

/// Returns the mean of two models, value by value: `fma(1/2, remote, 1/2 own)`, the mean of a federated round of
/// two parts of equal size. A NaN has its canonical bits.
pub fn average<A: Arithmetic>(own: &[f32], remote: &[f32]) -> Result<Vec<f32>, Fault> {
	if own.len() != remote.len() {
		return Err(Fault::Shape);
	}
	let mean = |(own, remote): (&f32, &f32)| A::fma(0.5, *remote, 0.5 * own);
	Ok(own.iter().zip(remote).map(mean).map(|x| f32::from_bits(canonical_bits(x))).collect())
}

/// A step of the outer optimizer: stochastic gradient descent with Nesterov's momentum, by an aggregate in
/// the place of a gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OuterStep {
	rate: f32,
	momentum: f32,
}

impl OuterStep {
	/// A step of this rate, and of this momentum, 0 for none. Fails where they are negative or not finite, or the
	/// momentum is not below 1.
	pub fn new(rate: f32, momentum: f32) -> Result<Self, RuleError> {
		let is_rate = rate.is_finite() && rate >= 0.0;
		if is_rate && (0.0..1.0).contains(&momentum) {
			Ok(Self { rate, momentum })
		} else {
			Err(RuleError::Outer)
		}
	}

	/// Whether there is a momentum, so that the model has a velocity beside its values.
	pub fn has_velocity(self) -> bool {
		self.momentum > 0.0
	}

	/// Takes the step of some values by their aggregate: `v = fma(momentum, v, g)`, then
	/// `x = fma(-rate, fma(momentum, v, g), x)`. Without momentum `x = fma(-rate, g, x)`, and there is no `v`. Where
	/// a number is not finite after it, it fails, and the model is of no use.
	pub fn apply<A: Arithmetic>(
		self,
		values: &mut [f32],
		velocity: &mut [f32],
		aggregate: &[f32],
	) -> Result<(), Fault> {
		let expected = if self.has_velocity() { values.len() } else { 0 };
		if values.len() != aggregate.len() || velocity.len() != expected {
			return Err(Fault::Shape);
		}
		if !self.has_velocity() {
			for (x, g) in values.iter_mut().zip(aggregate) {
				*x = A::fma(-self.rate, *g, *x);
			}
			return all_finite(values);
		}
		for ((x, v), g) in values.iter_mut().zip(velocity.iter_mut()).zip(aggregate) {
			*v = A::fma(self.momentum, *v, *g);
			*x = A::fma(-self.rate, A::fma(self.momentum, *v, *g), *x);
		}
		all_finite(velocity).and_then(|()| all_finite(values))
	}
}

fn all_finite(values: &[f32]) -> Result<(), Fault> {
	match values.iter().all(|x| x.is_finite()) {
		true => Ok(()),
		false => Err(Fault::NotFinite),
	}
}
