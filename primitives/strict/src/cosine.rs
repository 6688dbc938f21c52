//! The cosine of multiples of pi.

use super::functions::{f, horner, Arithmetic, Soft};

/// FLOP of [`cos_pi`] as written: 8 fused multiply-adds, 4 multiplications (a square that is
/// written twice counts once), 4 subtractions, 2 additions, 3 comparisons and 3 changes of sign;
/// taking an absolute value counts as one.
pub const COS_PI_FLOP: u128 = 32;

/// Returns `cos(pi x)`, an even function in every bit; NaN for infinities.
///
/// With `h = |x| / 2` and `n` the integer nearest to it, `q = ||x| - 2 n|` is exact and in 0..=1.
/// Up to 1/4 the result is `1 + z c(z)` with `z = q^2`; up to 3/4 it is `d s(d^2)` with
/// `d = 1/2 - q`, where `x s(x^2)` is `sin(pi x)`; above 3/4 it is the first formula at `1 - q`,
/// negated. `c` (degree 3) and `s` (degree 4) minimise the largest relative error (Remez; 6.4e-11
/// and 4.6e-12 before their coefficients are rounded). Error: at most 1.7 ulp over all numbers.
#[inline(always)]
pub fn cos_pi_with<A: Arithmetic>(x: f32) -> f32 {
	const C: [f32; 4] = [f(0x3E6C_EABF), f(0xBFAA_E2F0), f(0x4081_E0EF), f(0xC09D_E9E6)];
	const S: [f32; 5] =
		[f(0x3DA5_E12B), f(0xBF19_6543), f(0x4023_35DD), f(0xC0A5_5DE7), f(0x4049_0FDB)];
	/// 2^23: from here on every number is an integer; adding it rounds to one.
	const INTEGERS: f32 = f(0x4B00_0000);
	let a = x.abs();
	let h = a * 0.5;
	let n = if h < INTEGERS { (h + INTEGERS) - INTEGERS } else { h };
	let q = (a - (n + n)).abs();
	let far = q > 0.75;
	let e = if far { 1.0 - q } else { q };
	let cosine = A::fma(e * e, horner::<A, 4>(e * e, C), 1.0);
	let cosine = if far { -cosine } else { cosine };
	let d = 0.5 - q;
	let sine = d * horner::<A, 5>(d * d, S);
	if q > 0.25 && !far {
		sine
	} else {
		cosine
	}
}

/// Returns `cos(pi x)`, see [`cos_pi_with`].
pub fn cos_pi(x: f32) -> f32 {
	cos_pi_with::<Soft>(x)
}

#[cfg(test)]
mod tests {
	use super::{super::accuracy::ulps, *};

	/// Returns `cos(pi x)` in binary64, with the period taken off exactly.
	fn exact(x: f32) -> f64 {
		let x = libm::fmod(f64::from(x).abs(), 2.0);
		let x = if x > 1.0 { 2.0 - x } else { x };
		libm::sin(core::f64::consts::PI * (0.5 - x))
	}

	#[test]
	fn cosine_is_near() {
		let mut worst = 0.0f64;
		for bits in (1..0x7F80_0000u32).step_by(97).chain((0..1 << 20).map(|i| {
			// Between 0 and 4, evenly.
			(i as f32 / 262_144.0).to_bits()
		})) {
			let x = f32::from_bits(bits);
			worst = worst.max(ulps(cos_pi(x), exact(x)));
			assert_eq!(cos_pi(x).to_bits(), cos_pi(-x).to_bits());
		}
		println!("cos_pi: {worst:.4} ulp");
		assert!(worst < 1.7, "{worst} ulp");
	}

	#[test]
	fn cosine_at_its_ends() {
		for (x, y) in [
			(0.0, 1.0),
			(0.5, 0.0),
			(1.0, -1.0),
			(1.5, 0.0),
			(2.0, 1.0),
			(8_388_607.0, -1.0),
			(16_777_215.0, -1.0),
			(16_777_216.0, 1.0),
			(1e30, 1.0),
			(f32::from_bits(1), 1.0),
		] {
			assert_eq!(cos_pi(x), y, "{x}");
		}
		assert!(cos_pi(f32::INFINITY).is_nan() && cos_pi(f32::NAN).is_nan());
	}
}
