//! Numbers of the bounds: half a unit in the last place, sums of powers, rounding up.

/// Largest relative error of a binary32 operation, `2^-24`.
pub const U: f64 = 1.0 / 16_777_216.0;
/// The smallest positive binary32, `2^-149`: twice the largest error of an operation whose result
/// is subnormal.
pub const TINY: f64 = f32::from_bits(1) as f64;

/// Returns `x` to the power of `n`, by squaring.
pub fn power(x: f64, n: u32) -> f64 {
	let (mut result, mut square, mut rest) = (1.0, x, n);
	while rest > 0 {
		if rest & 1 == 1 {
			result *= square;
		}
		square *= square;
		rest >>= 1;
	}
	result
}

/// Returns a number that is at least `1 + q + ... + q^(n - 1)`, but for the roundings of a few
/// operations. It is that sum where `q` is below `1 - 2^-20`, where the quotient does not cancel.
pub fn geometric(q: f64, n: u32) -> f64 {
	let count = f64::from(n);
	if n <= 1 || q <= 0.0 {
		return count.min(1.0);
	}
	if q < 1.0 - 1.0 / 1_048_576.0 {
		(1.0 - power(q, n)) / (1.0 - q)
	} else if q < 1.0 {
		count.min(1.0 / (1.0 - q))
	} else {
		count * power(q, n)
	}
}

/// Returns the least binary32 that is not below `x`.
pub fn up(x: f64) -> f32 {
	let near = x as f32;
	if f64::from(near) < x {
		// Positive numbers ascend with their bits, up to infinity.
		f32::from_bits(near.to_bits().saturating_add(1))
	} else {
		near
	}
}
