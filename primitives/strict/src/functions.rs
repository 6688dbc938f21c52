//! Elementary functions as fixed sequences of operations.
//!
//! Each is generic over [`Arithmetic`], so that vector kernels compile this very code with their
//! own fused multiply-add: there is one definition of each function. Largest errors, measured by
//! the tests below against binary64 (`ulp` of the correctly rounded result): exp 1.01 over all
//! finite results, log 0.82 over all positive numbers; the inverse normal has a relative error of
//! at most 2.5e-7. sqrt is correctly rounded. The module `erf` has erf, `sigmoid` has sigmoid and
//! tanh, `cosine` the cosine, and `activations` GELU and SiLU.

use super::fma::fma as soft_fma;

/// The two operations of IEEE 754 that a target may lack in hardware.
pub trait Arithmetic: Copy {
	/// Returns `a * b + c` with one rounding.
	fn fma(a: f32, b: f32, c: f32) -> f32;
	/// Returns the square root, correctly rounded.
	fn sqrt(x: f32) -> f32;
}

/// [`Arithmetic`] in portable software.
#[derive(Clone, Copy, Debug)]
pub struct Soft;

impl Arithmetic for Soft {
	#[inline(always)]
	fn fma(a: f32, b: f32, c: f32) -> f32 {
		soft_fma(a, b, c)
	}

	#[inline(always)]
	fn sqrt(x: f32) -> f32 {
		libm::sqrtf(x)
	}
}

/// Returns the binary32 with these bits. A call to it that is not inlined would keep the loops
/// around it from being vectorised.
#[inline(always)]
pub(super) const fn f(bits: u32) -> f32 {
	f32::from_bits(bits)
}

/// Evaluates a polynomial by Horner's scheme with fused multiply-adds; the coefficients come from
/// the highest degree down.
#[inline(always)]
pub(super) fn horner<A: Arithmetic, const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
	let mut coefficients = coefficients.into_iter();
	let highest = coefficients.next().unwrap_or(0.0);
	coefficients.fold(highest, |p, c| A::fma(p, x, c))
}

/// log2(e), rounded.
const LOG2_E: f32 = f(0x3FB8_AA3B);
/// ln 2, rounded.
const LN2_HIGH: f32 = f(0x3F31_7218);
/// ln 2 - `LN2_HIGH`, rounded.
const LN2_LOW: f32 = f(0xB102_E308);
/// 1.5 x 2^23: adding it rounds to an integer, which is then in the low bits.
const ROUND: f32 = f(0x4B40_0000);
/// Above this exp is infinite.
const EXP_HIGH: f32 = 89.0;
/// Below this exp is +0.
const EXP_LOW: f32 = -104.0;

/// FLOP of [`exp`] as written: 2 comparisons, 8 fused multiply-adds, 3 multiplications, an
/// addition and a subtraction.
pub const EXP_FLOP: u128 = 23;

/// Returns `e^x`; +0 below -104, infinite above 88.73, subnormal results included.
///
/// `x = n ln 2 + r` with `n` the nearest integer; `e^r = 1 + (r + r^2 q(r))` with `q` the
/// polynomial of degree 4 that minimises the largest relative error of `e^r` over
/// `|r| <= ln 2 / 2` (Remez; 3.1e-9 before its coefficients are rounded); then times 2^n in
/// two exact steps, of which only the last may round.
#[inline(always)]
pub fn exp_with<A: Arithmetic>(x: f32) -> f32 {
	const Q: [f32; 5] =
		[f(0x3AB5_11E8), f(0x3C09_1D10), f(0x3D2A_AC79), f(0x3E2A_AA49), f(0x3EFF_FFFE)];
	let x = if x > EXP_HIGH { EXP_HIGH } else { x };
	let x = if x < EXP_LOW { EXP_LOW } else { x };
	let shifted = A::fma(x, LOG2_E, ROUND);
	let n = shifted - ROUND;
	let r = A::fma(n, -LN2_HIGH, x);
	let r = A::fma(n, -LN2_LOW, r);
	let q = horner::<A, 5>(r, Q);
	let y = A::fma(r * r, q, r) + 1.0;
	// The integer n, and 2^half and 2^(n - half) by their bits; none is subnormal.
	let n = shifted.to_bits().wrapping_sub(ROUND.to_bits()) as i32;
	let half = n >> 1;
	(y * power_of_two(half)) * power_of_two(n.wrapping_sub(half))
}

/// Returns `2^n` for `n` in -126..=127.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
	f((n.wrapping_add(127) as u32) << 23)
}

/// FLOP of [`log`] as written: 10 fused multiply-adds, 4 multiplications (the scaling of
/// subnormals included), an addition and a subtraction. Choices of special cases are free.
pub const LOG_FLOP: u128 = 26;

/// Returns the natural logarithm; minus infinity for zeros, infinite for infinity, NaN below zero.
///
/// A subnormal is multiplied by 2^23 first. `x = 2^e m` with `m` in
/// `[sqrt(1/2), sqrt 2)`, `t = m - 1`; `log m = t - t^2 / 2 + t^3 p(t)` with `p` the
/// polynomial of degree 7 that minimises the largest relative error of `log m` (Remez;
/// 5.9e-9 before its coefficients are rounded).
#[inline(always)]
pub fn log_with<A: Arithmetic>(x: f32) -> f32 {
	const P: [f32; 8] = [
		f(0xBD9C_5AC8),
		f(0x3E02_ADB6),
		f(0xBE06_C2A0),
		f(0x3E11_6D0E),
		f(0xBE2A_3922),
		f(0x3E4C_D004),
		f(0xBE80_0113),
		f(0x3EAA_AAAA),
	];
	/// 2^23.
	const SUBNORMAL_SCALE: f32 = f(0x4B00_0000);
	/// Bits of the binary32 below sqrt(1/2).
	const ROOT_HALF: u32 = 0x3F35_04F3;
	let tiny = x < f32::MIN_POSITIVE;
	let scaled = if tiny { x * SUBNORMAL_SCALE } else { x };
	let offset = scaled.to_bits().wrapping_sub(ROOT_HALF);
	let e = ((offset as i32) >> 23).wrapping_sub(if tiny { 23 } else { 0 }) as f32;
	let m = f((offset & 0x007F_FFFF).wrapping_add(ROOT_HALF));
	let t = m - 1.0;
	let z = t * t;
	let y = (horner::<A, 8>(t, P) * t) * z;
	let y = A::fma(e, LN2_LOW, y);
	let y = A::fma(-0.5, z, y);
	let y = A::fma(e, LN2_HIGH, t + y);
	if x < 0.0 || x.is_nan() {
		f32::NAN
	} else if x == 0.0 {
		f32::NEG_INFINITY
	} else if x == f32::INFINITY {
		x
	} else {
		y
	}
}

/// Returns `e^x`, see [`exp_with`].
pub fn exp(x: f32) -> f32 {
	exp_with::<Soft>(x)
}

/// Returns the natural logarithm, see [`log_with`].
pub fn log(x: f32) -> f32 {
	log_with::<Soft>(x)
}

/// Returns the square root, correctly rounded as IEEE 754 demands.
pub fn sqrt(x: f32) -> f32 {
	Soft::sqrt(x)
}

/// Returns `x` where `x > 0`, otherwise +0 (also for -0 and NaN).
#[inline(always)]
pub fn relu(x: f32) -> f32 {
	if x > 0.0 {
		x
	} else {
		0.0
	}
}

/// Returns the standard normal variate below which a share of `(1 + x) / 2` lies, for `x` in (-1,
/// 1): `sqrt 2` times the inverse error function.
///
/// The polynomials are those of M. Giles, "Approximating the erfinv function" (GPU
/// Computing Gems 2, 2010), single precision; `(1 - x)(1 + x)` is `fma(-x, x, 1)`.
#[inline(always)]
pub fn inverse_normal_with<A: Arithmetic>(x: f32) -> f32 {
	// Coefficients of the centre and of the tail: one is chosen for each element, so that vectors
	// need no branch.
	const P: [[f32; 2]; 9] = [
		[f(0x32F1_6588), f(0xB951_F09B)],
		[f(0x34B8_4B36), f(0x38D3_B56B)],
		[f(0xB66C_7357), f(0x3AB0_DC72)],
		[f(0xB693_5AC1), f(0xBB70_BDE7)],
		[f(0x3965_32DB), f(0x3BBC_127B)],
		[f(0xBAA4_5408), f(0xBBF9_C5D7)],
		[f(0xBB88_E4EF), f(0x3C1A_A57E)],
		[f(0x3E7C_8F63), f(0x3F80_36DB)],
		[f(0x3FC0_2E2F), f(0x4035_4F7E)],
	];
	/// Square root of 2, rounded.
	const SQRT_2: f32 = f(0x3FB5_04F3);
	let w = -log_with::<A>(A::fma(-x, x, 1.0));
	let centre = w < 5.0;
	let t = if centre { w - 2.5 } else { A::sqrt(w) - 3.0 };
	let p = horner::<A, 9>(t, P.map(|[near, far]| if centre { near } else { far }));
	SQRT_2 * (p * x)
}

/// Returns the inverse normal distribution, see [`inverse_normal_with`].
pub fn inverse_normal(x: f32) -> f32 {
	inverse_normal_with::<Soft>(x)
}

/// FLOP of [`inverse_normal`] as written, by the longer of its two branches: log; 9 fused
/// multiply-adds; 2 changes of sign, a comparison, a root, a subtraction, 2 multiplications.
pub const INVERSE_NORMAL_FLOP: u128 = LOG_FLOP + 25;

#[cfg(test)]
mod tests {
	use super::{super::accuracy::ulps, *};

	#[test]
	fn exp_is_near() {
		let mut worst = 0.0f64;
		// Every 61st binary32 with a finite, non-zero result, of both signs.
		for bits in (0..=0x42B1_7217u32).step_by(61).chain((0x8000_0000..=0xC2CF_F1B4).step_by(61))
		{
			let x = f32::from_bits(bits);
			worst = worst.max(ulps(exp(x), libm::exp(f64::from(x))));
		}
		assert!(worst < 1.01, "{worst} ulp");
		println!("exp: {worst:.4} ulp");
		let mut last = 0.0;
		for i in -1_100_000..=900_000 {
			let y = exp(i as f32 / 10_000.0);
			assert!(y >= last, "exp falls at {i}");
			last = y;
		}
	}

	#[test]
	fn exp_at_its_ends() {
		for zero in [0.0, -0.0] {
			assert_eq!(exp(zero), 1.0);
		}
		for low in [-104.0, -1e4, f32::MIN, f32::NEG_INFINITY] {
			assert_eq!(exp(low).to_bits(), 0);
		}
		for high in [88.73, 89.0, 1e4, f32::MAX, f32::INFINITY] {
			assert_eq!(exp(high), f32::INFINITY);
		}
		assert!(exp(88.72).is_finite());
		assert_eq!(exp(-103.5).to_bits(), 1);
		assert!(exp(f32::NAN).is_nan());
		assert!(exp(-f32::NAN).is_nan());
	}

	#[test]
	fn log_is_near() {
		let mut worst = 0.0f64;
		for bits in (1..0x7F80_0000u32).step_by(97).chain(0x3F7F_0000..0x3F81_0000) {
			let x = f32::from_bits(bits);
			if x != 1.0 {
				worst = worst.max(ulps(log(x), libm::log(f64::from(x))));
			}
		}
		assert!(worst < 0.82, "{worst} ulp");
		println!("log: {worst:.4} ulp");
	}

	#[test]
	fn log_at_its_ends() {
		assert_eq!(log(1.0).to_bits(), 0);
		assert_eq!(log(0.0), f32::NEG_INFINITY);
		assert_eq!(log(-0.0), f32::NEG_INFINITY);
		assert_eq!(log(f32::INFINITY), f32::INFINITY);
		for x in [-1.0, f32::NEG_INFINITY, f32::NAN, -f32::from_bits(1)] {
			assert!(log(x).is_nan(), "{x}");
		}
	}

	#[test]
	fn sqrt_is_correctly_rounded() {
		for bits in (0..0x7F80_0000u32).step_by(1_009) {
			let x = f32::from_bits(bits);
			// The square root in binary64 has more than 2 x 24 + 2 bits: rounding twice is safe.
			assert_eq!(sqrt(x), libm::sqrt(f64::from(x)) as f32);
		}
	}

	#[test]
	fn inverse_normal_inverts() {
		let mut worst = 0.0f64;
		// The whole grid of philox::symmetric, thinned, and its ends.
		for n in (1..1u32 << 24).step_by(2 * 509).chain((1 << 24) - 2_001..1 << 24) {
			let x = (n | 1) as f32 / 16_777_216.0;
			// Newton's method from the answer, on the upper tail, in binary64.
			let found = inverse_normal(x);
			let mut z = f64::from(found);
			let upper = (1.0 - f64::from(x)) / 2.0;
			for _ in 0..3 {
				let density = libm::exp(-z * z / 2.0) / libm::sqrt(2.0 * core::f64::consts::PI);
				let tail = libm::erfc(z / core::f64::consts::SQRT_2) / 2.0;
				z += (tail - upper) / density;
			}
			worst = worst.max((f64::from(found) - z).abs() / z);
			assert_eq!(inverse_normal(-x), -found);
		}
		assert!(worst < 2.5e-7, "{worst:e} relative");
		println!("inverse normal: {worst:e} relative");
	}

	#[test]
	fn relu_fixes_zero() {
		assert_eq!(relu(-0.0).to_bits(), 0);
		assert_eq!(relu(-1.0).to_bits(), 0);
		assert_eq!(relu(f32::NAN).to_bits(), 0);
		assert_eq!(relu(f32::from_bits(1)).to_bits(), 1);
		assert_eq!(relu(f32::INFINITY), f32::INFINITY);
	}
}
