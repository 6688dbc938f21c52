//! Activations and their gradients.

use super::{
	elementwise::{map1, map2, Map1, Map2},
	rows::LONG,
	Arithmetic, Isa,
};
use trainyard_strict::Function;

/// Returns `function(x)`.
pub fn activation(isa: Isa, function: Function, x: &[f32]) -> Vec<f32> {
	match function {
		Function::Gelu => map1(isa, Gelu, x),
		Function::Silu => map1(isa, Silu, x),
		Function::Tanh => map1(isa, Tanh, x),
		Function::Sigmoid => map1(isa, Sigmoid, x),
	}
}

/// Returns `gradient` times the derivative at `at`. `at` is the function's result where
/// [`Function::gradient_from_result`] says so, otherwise its argument.
///
/// # Panics
/// Panics if the operands differ in length.
pub fn activation_grad(isa: Isa, function: Function, gradient: &[f32], at: &[f32]) -> Vec<f32> {
	match function {
		Function::Gelu => map2(isa, Gelu, gradient, at),
		Function::Silu => map2(isa, Silu, gradient, at),
		Function::Tanh => map2(isa, Tanh, gradient, at),
		Function::Sigmoid => map2(isa, Sigmoid, gradient, at),
	}
}

/// Each function is its own type, so that each gets its own loop.
macro_rules! functions {
	($($name:ident $gradient_work:expr;)*) => {
		$(
			#[derive(Clone, Copy, Debug)]
			struct $name;

			impl Map1 for $name {
				const WORK: usize = LONG;

				#[inline(always)]
				fn at<A: Arithmetic>(self, x: f32) -> f32 {
					Function::$name.apply::<A>(x)
				}
			}

			impl Map2 for $name {
				const WORK: usize = $gradient_work;

				#[inline(always)]
				fn at<A: Arithmetic>(self, gradient: f32, at: f32) -> f32 {
					Function::$name.gradient::<A>(gradient, at)
				}
			}
		)*
	};
}

functions! {
	Gelu LONG;
	Silu LONG;
	Tanh 1;
	Sigmoid 1;
}
