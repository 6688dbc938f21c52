//! The error function.

use super::functions::{exp_with, f, horner, Arithmetic, Soft, EXP_FLOP};

/// FLOP of [`erf`] as written: exp; 13 fused multiply-adds; 2 comparisons, 3 changes of sign,
/// a multiplication and a subtraction.
pub const ERF_FLOP: u128 = EXP_FLOP + 33;

/// Returns the error function, odd in every bit; -0 for -0, 1 from 3.9192059 on.
///
/// With `a = |x|`: below 475/512 it is `a + a q(a^2)`; from there on `1 - exp(-(t + t r(t)))`
/// with `t` the lesser of `a` and 4. `q` (degree 5) minimises the largest relative error of
/// erf over its range (Remez; 1.7e-8 before its coefficients are rounded), `r` (degree 6)
/// that of erf up to 4 (7e-10). Error: at most 1.21 ulp over all numbers.
#[inline(always)]
pub fn erf_with<A: Arithmetic>(x: f32) -> f32 {
	const Q: [f32; 6] = [
		f(0xBA1C_585E),
		f(0x3BA3_7227),
		f(0xBCDB_3E4C),
		f(0x3DE7_0CB5),
		f(0xBEC0_9370),
		f(0x3E03_75D3),
	];
	const R: [f32; 7] = [
		f(0x3741_6652),
		f(0xB9AA_CC3E),
		f(0x3B6F_80E6),
		f(0xBCC2_DE43),
		f(0x3DD9_A24B),
		f(0x3F22_9819),
		f(0x3E03_BD98),
	];
	/// 475 / 512.
	const CENTRE: f32 = f(0x3F6D_8000);
	/// From here on erf rounds to 1.
	const FAR: f32 = 4.0;
	let a = x.abs();
	let centre = A::fma(a, horner::<A, 6>(a * a, Q), a);
	let t = if a > FAR { FAR } else { a };
	let tail = 1.0 - exp_with::<A>(-A::fma(t, horner::<A, 7>(t, R), t));
	let y = if a > CENTRE { tail } else { centre };
	with_sign_of(y, x)
}

/// Returns `magnitude`, which is not negative, with the sign bit of `sign`.
#[inline(always)]
pub(super) fn with_sign_of(magnitude: f32, sign: f32) -> f32 {
	f(magnitude.to_bits() | (sign.to_bits() & 0x8000_0000))
}

/// Returns the error function, see [`erf_with`].
pub fn erf(x: f32) -> f32 {
	erf_with::<Soft>(x)
}

#[cfg(test)]
mod tests {
	use super::{super::accuracy::worst, *};

	#[test]
	fn erf_is_near() {
		let worst = worst((f32::from_bits(1), 8.0), 127, true, erf, libm::erf);
		println!("erf: {worst:.4} ulp");
		assert!(worst < 1.21, "{worst} ulp");
		let mut last = -1.0;
		for i in -500_000..=500_000 {
			let y = erf(i as f32 / 100_000.0);
			assert!(y >= last, "erf falls at {i}");
			last = y;
		}
	}

	#[test]
	fn erf_at_its_ends() {
		for (x, y) in [(0.0, 0.0), (4.0, 1.0), (1e30, 1.0), (f32::INFINITY, 1.0)] {
			assert_eq!(erf(x).to_bits(), f32::to_bits(y));
			assert_eq!(erf(-x).to_bits(), f32::to_bits(-y));
		}
		assert!(erf(f32::NAN).is_nan());
	}
}
