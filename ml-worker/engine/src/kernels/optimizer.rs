//! The optimizers' elementwise operators.

use super::{
	elementwise::{Map2, Map3},
	Arithmetic,
};

/// `fma(factor, x, y)`.
#[derive(Clone, Copy, Debug)]
pub struct MulAdd(pub f32);

impl Map2 for MulAdd {
	#[inline(always)]
	fn at<A: Arithmetic>(self, x: f32, y: f32) -> f32 {
		A::fma(self.0, x, y)
	}
}

/// `fma(keep, average, take * x)`.
#[derive(Clone, Copy, Debug)]
pub struct Ema {
	/// Weight of the average.
	pub keep: f32,
	/// Weight of `x`.
	pub take: f32,
}

impl Map2 for Ema {
	#[inline(always)]
	fn at<A: Arithmetic>(self, average: f32, x: f32) -> f32 {
		A::fma(self.keep, average, self.take * x)
	}
}

/// `fma(keep, average, take * (x * x))`.
#[derive(Clone, Copy, Debug)]
pub struct EmaSquare {
	/// Weight of the average.
	pub keep: f32,
	/// Weight of the square.
	pub take: f32,
}

impl Map2 for EmaSquare {
	#[inline(always)]
	fn at<A: Arithmetic>(self, average: f32, x: f32) -> f32 {
		A::fma(self.keep, average, self.take * (x * x))
	}
}

/// `fma(-learning_rate, (m / rest1) / (sqrt(v / rest2) + epsilon), x)`.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
	/// Learning rate, negated.
	pub minus_learning_rate: f32,
	/// One less the power of beta1.
	pub rest1: f32,
	/// One less the power of beta2.
	pub rest2: f32,
	/// Epsilon.
	pub epsilon: f32,
}

impl Map3 for AdamStep {
	#[inline(always)]
	fn at<A: Arithmetic>(self, x: f32, m: f32, v: f32) -> f32 {
		let step = (m / self.rest1) / (A::sqrt(v / self.rest2) + self.epsilon);
		A::fma(self.minus_learning_rate, step, x)
	}
}
