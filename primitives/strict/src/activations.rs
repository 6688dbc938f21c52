//! Activations and their gradients, computed by the elementary functions.

use super::{
	erf::{erf_with, ERF_FLOP},
	functions::{exp_with, f, Arithmetic, EXP_FLOP},
	sigmoid::{sigmoid_with, tanh_with, SIGMOID_FLOP, TANH_FLOP},
};

/// Elementwise functions between layers (ReLU has operators of its own).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
	/// `x` times the standard normal distribution at `x`, by erf (Hendrycks and Gimpel 2016).
	Gelu,
	/// `x sigmoid(x)` (Elfwing, Uchibe and Doya 2017).
	Silu,
	/// The hyperbolic tangent.
	Tanh,
	/// The logistic function.
	Sigmoid,
}

/// 1 / sqrt 2, rounded.
const SQRT_HALF: f32 = f(0x3F35_04F3);
/// 1 / sqrt(2 pi), rounded.
const DENSITY: f32 = f(0x3ECC_422A);

impl Function {
	/// Returns the function at `x`. GELU and SiLU of minus infinity are NaN.
	#[inline(always)]
	pub fn apply<A: Arithmetic>(self, x: f32) -> f32 {
		match self {
			Function::Gelu => (0.5 * x) * (1.0 + erf_with::<A>(x * SQRT_HALF)),
			Function::Silu => x * sigmoid_with::<A>(x),
			Function::Tanh => tanh_with::<A>(x),
			Function::Sigmoid => sigmoid_with::<A>(x),
		}
	}

	/// Returns whether the gradient is computed from the function's result, not from its argument.
	pub const fn gradient_from_result(self) -> bool {
		matches!(self, Function::Tanh | Function::Sigmoid)
	}

	/// Returns `gradient` times the derivative; `at` is the result or the argument, see
	/// [`Self::gradient_from_result`].
	#[inline(always)]
	pub fn gradient<A: Arithmetic>(self, gradient: f32, at: f32) -> f32 {
		gradient
			* match self {
				Function::Gelu => {
					let below = 0.5 * (1.0 + erf_with::<A>(at * SQRT_HALF));
					let density = DENSITY * exp_with::<A>(-0.5 * (at * at));
					A::fma(at, density, below)
				}
				Function::Silu => {
					let s = sigmoid_with::<A>(at);
					s * A::fma(at, 1.0 - s, 1.0)
				}
				Function::Tanh => A::fma(-at, at, 1.0),
				Function::Sigmoid => at * (1.0 - at),
			}
	}

	/// Returns the FLOP of [`Self::apply`].
	pub const fn flop(self) -> u128 {
		match self {
			Function::Gelu => ERF_FLOP + 4,
			Function::Silu => SIGMOID_FLOP + 1,
			Function::Tanh => TANH_FLOP,
			Function::Sigmoid => SIGMOID_FLOP,
		}
	}

	/// Returns the FLOP of [`Self::gradient`].
	pub const fn gradient_flop(self) -> u128 {
		match self {
			Function::Gelu => ERF_FLOP + EXP_FLOP + 9,
			Function::Silu => SIGMOID_FLOP + 5,
			Function::Tanh => 4,
			Function::Sigmoid => 3,
		}
	}
}

#[cfg(test)]
mod tests {
	use super::{super::functions::Soft, *};

	const ALL: [Function; 4] = [Function::Gelu, Function::Silu, Function::Tanh, Function::Sigmoid];

	fn exact(function: Function, x: f64) -> f64 {
		match function {
			Function::Gelu => 0.5 * x * libm::erfc(-x / core::f64::consts::SQRT_2),
			Function::Silu => x / (1.0 + libm::exp(-x)),
			Function::Tanh => libm::tanh(x),
			Function::Sigmoid => 1.0 / (1.0 + libm::exp(-x)),
		}
	}

	#[test]
	fn activations_and_derivatives_are_near() {
		const H: f64 = 1e-5;
		for function in ALL {
			for i in -2_000..=2_000 {
				let x = i as f32 / 200.0;
				let wide = f64::from(x);
				let y = function.apply::<Soft>(x);
				let expected = exact(function, wide);
				// The left tail of GELU cancels: 1 + erf is good to a place of 1.
				let near = 3e-7 * expected.abs() + 6e-8 * wide.abs();
				assert!((f64::from(y) - expected).abs() <= near, "{function:?}({x}) = {y}");
				let slope = (exact(function, wide + H) - exact(function, wide - H)) / (2.0 * H);
				let at = if function.gradient_from_result() { y } else { x };
				let found = f64::from(function.gradient::<Soft>(2.0, at)) / 2.0;
				assert!((found - slope).abs() < 1e-6, "{function:?}'({x}) = {found}, {slope}");
			}
		}
	}

	#[test]
	fn large_arguments_stay_finite() {
		for function in ALL {
			for x in [1e30f32, -1e30, f32::MAX, f32::MIN] {
				let y = function.apply::<Soft>(x);
				assert!(y.is_finite());
				let at = if function.gradient_from_result() { y } else { x };
				assert!(function.gradient::<Soft>(1.0, at).is_finite(), "{function:?} {x}");
			}
		}
	}
}
