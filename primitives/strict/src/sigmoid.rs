//! The logistic function and the hyperbolic tangent.

use super::{
	erf::with_sign_of,
	functions::{exp_with, f, horner, Arithmetic, Soft, EXP_FLOP},
};

/// FLOP of [`sigmoid`] as written: exp; a change of sign, a comparison, an addition and a
/// division.
pub const SIGMOID_FLOP: u128 = EXP_FLOP + 4;

/// Returns `1 / (1 + e^-x)`, subnormal results included; +0 below -104.
///
/// `e = exp(-|x|)`, and then `1 / (1 + e)`, or `e / (1 + e)` where `x < 0`: so nothing
/// overflows. Error: at most 2.41 ulp over all numbers.
#[inline(always)]
pub fn sigmoid_with<A: Arithmetic>(x: f32) -> f32 {
	let e = exp_with::<A>(-x.abs());
	let above = if x < 0.0 { e } else { 1.0 };
	above / (1.0 + e)
}

/// Returns the logistic function, see [`sigmoid_with`].
pub fn sigmoid(x: f32) -> f32 {
	sigmoid_with::<Soft>(x)
}

/// FLOP of [`tanh`] as written: exp; 5 fused multiply-adds; 2 multiplications, 2 additions, a
/// subtraction, a division, a comparison and 2 changes of sign.
pub const TANH_FLOP: u128 = EXP_FLOP + 19;

/// Returns the hyperbolic tangent, odd in every bit; -0 for -0, 1 from 9.011 on.
///
/// With `a = |x|`: below 0.625 it is `a + a (a^2 p(a^2))`, with `p` of degree 4 minimising
/// the largest relative error (Remez; 4.4e-9 before its coefficients are rounded); from there
/// on `1 - 2 / (exp(a + a) + 1)`. Error: at most 1.34 ulp over all numbers.
#[inline(always)]
pub fn tanh_with<A: Arithmetic>(x: f32) -> f32 {
	const P: [f32; 5] =
		[f(0xBBBA_F0E1), f(0x3CA9_134C), f(0xBD5C_1E2D), f(0x3E08_8393), f(0xBEAA_AA99)];
	const CENTRE: f32 = 0.625;
	let a = x.abs();
	let z = a * a;
	let centre = A::fma(a, z * horner::<A, 5>(z, P), a);
	let tail = 1.0 - 2.0 / (exp_with::<A>(a + a) + 1.0);
	let y = if a > CENTRE { tail } else { centre };
	with_sign_of(y, x)
}

/// Returns the hyperbolic tangent, see [`tanh_with`].
pub fn tanh(x: f32) -> f32 {
	tanh_with::<Soft>(x)
}

#[cfg(test)]
mod tests {
	use super::{super::accuracy::worst, *};

	#[test]
	fn sigmoid_is_near() {
		let exact = |x: f64| 1.0 / (1.0 + libm::exp(-x));
		// Below -103.9 the exact value is less than half the smallest subnormal.
		let worst = worst((f32::from_bits(1), 103.9), 127, true, sigmoid, exact);
		println!("sigmoid: {worst:.4} ulp");
		assert!(worst < 2.41, "{worst} ulp");
	}

	#[test]
	fn sigmoid_at_its_ends() {
		for zero in [0.0, -0.0] {
			assert_eq!(sigmoid(zero), 0.5);
		}
		for high in [20.0, 1e30, f32::INFINITY] {
			assert_eq!(sigmoid(high), 1.0);
		}
		for low in [-104.0, -1e30, f32::NEG_INFINITY] {
			assert_eq!(sigmoid(low).to_bits(), 0);
		}
		assert_eq!(sigmoid(-103.5).to_bits(), 1);
		assert!(sigmoid(f32::NAN).is_nan());
	}

	#[test]
	fn tanh_is_near() {
		let worst = worst((f32::from_bits(1), 20.0), 127, true, tanh, libm::tanh);
		println!("tanh: {worst:.4} ulp");
		assert!(worst < 1.34, "{worst} ulp");
		let mut last = -1.0;
		for i in -1_000_000..=1_000_000 {
			let y = tanh(i as f32 / 100_000.0);
			assert!(y >= last, "tanh falls at {i}");
			last = y;
		}
	}

	#[test]
	fn tanh_at_its_ends() {
		for (x, y) in [(0.0, 0.0), (10.0, 1.0), (1e30, 1.0), (f32::INFINITY, 1.0)] {
			assert_eq!(tanh(x).to_bits(), f32::to_bits(y));
			assert_eq!(tanh(-x).to_bits(), f32::to_bits(-y));
		}
		let smallest = f32::from_bits(1);
		assert_eq!(tanh(smallest), smallest);
		assert!(tanh(f32::NAN).is_nan());
	}
}
