//! Fused multiply-add of binary32 without hardware for it.

/// Bits of a binary64 significand's last place.
const LAST_PLACE: u64 = 1;

/// Returns `a * b + c` with one rounding, to nearest even.
///
/// The product of two binary32 is exact in binary64. The sum with `c` is rounded to *odd*:
/// if it is inexact, the neighbour with an odd significand is taken. Rounding to odd in
/// binary64, whose 53 bits are more than 24 + 2, and then to nearest in binary32 equals one
/// rounding (Boldo and Melquiond 2008, "Emulation of FMA and correctly rounded sums").
/// No binary32 operands can overflow or underflow binary64.
#[inline]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
	let product = f64::from(a) * f64::from(b);
	let addend = f64::from(c);
	let sum = product + addend;
	// The error of the sum, exact (Knuth's TwoSum).
	let virtual_addend = sum - product;
	let error = (product - (sum - virtual_addend)) + (addend - virtual_addend);
	let mut bits = sum.to_bits();
	if error != 0.0 && bits & LAST_PLACE == 0 && sum.is_finite() {
		// One step towards the exact value: away from zero where error and sum agree in
		// sign. The sum is not zero, for then there would be no error.
		bits =
			if (error > 0.0) == (sum > 0.0) { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
	}
	f64::from_bits(bits) as f32
}

#[cfg(test)]
mod tests {
	use super::*;

	/// xorshift64: a fast stream of test bits.
	fn next(state: &mut u64) -> u64 {
		*state ^= *state << 13;
		*state ^= *state >> 7;
		*state ^= *state << 17;
		*state
	}

	/// Cases that are hard for a fused multiply-add, as well as arbitrary bits.
	fn case(i: u64, state: &mut u64) -> (f32, f32, f32) {
		let (x, y) = (next(state), next(state));
		let (a, b) = (f32::from_bits(x as u32), f32::from_bits((x >> 32) as u32));
		let noise = (y >> 32) as u32;
		let c = match i % 8 {
			// Near cancellation and near ties of the product.
			1 | 3 | 5 => {
				let near = (a * b).to_bits().wrapping_add((noise & 63).wrapping_sub(32));
				-f32::from_bits(near) * if noise >> 31 == 1 { 0.5 } else { 1.0 }
			}
			// The product is far below the addend's last place.
			2 => (a * b) * 16_777_216.0,
			// Subnormal addend, and a product near it.
			4 => {
				let c = f32::from_bits(noise & 0x807f_ffff);
				let scale = f32::from_bits(1 << 23 | (y as u32 & 0x7f_ffff));
				return (f32::from_bits(0x3f00_0000 | (x as u32 & 0xff_ffff)), scale, c);
			}
			// A halfway case: 24-bit significands with trailing zeros.
			6 => {
				let half = |w: u32| f32::from_bits(w & 0xff80_0fff);
				return (half(x as u32), half((x >> 32) as u32), f32::from_bits(noise));
			}
			_ => f32::from_bits(y as u32),
		};
		(a, b, c)
	}

	fn compare(count: u64, hardware: impl Fn(f32, f32, f32) -> f32) {
		let mut state = 88_172_645_463_325_252u64;
		for i in 0..count {
			let (a, b, c) = case(i, &mut state);
			let (expected, found) = (hardware(a, b, c), fma(a, b, c));
			assert!(
				expected.to_bits() == found.to_bits() || expected.is_nan() && found.is_nan(),
				"fma({a:e}, {b:e}, {c:e}) is {expected:e}, not {found:e}"
			);
		}
	}

	#[cfg(target_arch = "x86_64")]
	#[test]
	fn equals_hardware() {
		#[target_feature(enable = "fma")]
		fn hardware(count: u64) {
			compare(count, |a, b, c| a.mul_add(b, c));
		}
		if std::arch::is_x86_feature_detected!("fma") {
			// Safety: just detected.
			unsafe { hardware(5_000_000) }
		} else {
			equals_libm_slowly();
		}
	}

	#[cfg(target_arch = "aarch64")]
	#[test]
	fn equals_hardware() {
		compare(5_000_000, |a, b, c| a.mul_add(b, c));
	}

	fn equals_libm_slowly() {
		compare(1_000_000, libm::fmaf);
	}

	/// On hosts without the instruction too.
	#[test]
	fn equals_libm() {
		equals_libm_slowly();
	}

	#[test]
	fn signs_of_zero_and_infinities() {
		let inf = f32::INFINITY;
		for (a, b, c, expected) in [
			(0.0, 1.0, -0.0, 0.0f32),
			(-0.0, 1.0, -0.0, -0.0),
			(-0.0, 1.0, 0.0, 0.0),
			(1.0, 1.0, -1.0, 0.0),
			(inf, 1.0, -1.0, inf),
			(f32::MAX, 2.0, 0.0, inf),
			(f32::MAX, 2.0, -f32::MAX, f32::MAX),
			(f32::MAX, -2.0, 1.0, -inf),
			(f32::from_bits(1), 0.5, 0.0, 0.0),
			(f32::from_bits(1), 0.5, f32::from_bits(1), f32::from_bits(2)),
		] {
			assert_eq!(fma(a, b, c).to_bits(), expected.to_bits(), "{a:e} {b:e} {c:e}");
		}
		assert!(fma(inf, 0.0, 1.0).is_nan());
		assert!(fma(inf, 1.0, -inf).is_nan());
		assert!(fma(1.0, 1.0, f32::NAN).is_nan());
	}
}
