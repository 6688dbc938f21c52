//! Rounding, the same to the bit on every machine: by integers, or by single operations of IEEE 754.

/// Returns the bits of the binary16 nearest to `x`, of two the even one; `None` where that is not finite
/// (NaN, infinite, or 65,520 and more by magnitude).
pub fn to_f16(x: f32) -> Option<u16> {
	let (sign, magnitude) = split(x);
	// Below the least normal number, 2^-14, steps have 2^-24, and those of binary32 at 1/2 have the same:
	// the sum rounds to them.
	let rounded = if magnitude < 0x3880_0000 {
		(f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits()
	} else if magnitude < 0x4780_0000 {
		// Exponents count from -127 here and from -15 there, and 13 bits go.
		nearest(magnitude - (112 << 23), 13)
	} else {
		return None;
	};
	(rounded < 0x7c00).then_some(sign | rounded as u16)
}

/// Returns the value of a binary16. Every one is a binary32.
pub fn of_f16(bits: u16) -> f32 {
	let (sign, magnitude) = (u32::from(bits & 0x8000) << 16, u32::from(bits & 0x7fff));
	let magnitude = match magnitude {
		0x7c00.. => 0x7f80_0000 | (magnitude & 0x3ff) << 13,
		0x400.. => (magnitude << 13) + (112 << 23),
		// Multiples of 2^-24: both factors and the product are exact.
		_ => (magnitude as f32 * f32::from_bits(0x3380_0000)).to_bits(),
	};
	f32::from_bits(sign | magnitude)
}

/// Returns the bits of the bfloat16 nearest to `x`, of two the even one; `None` where that is not finite.
pub fn to_bf16(x: f32) -> Option<u16> {
	let (sign, magnitude) = split(x);
	if magnitude >= 0x7f80_0000 {
		return None;
	}
	let rounded = nearest(magnitude, 16);
	(rounded < 0x7f80).then_some(sign | rounded as u16)
}

/// Returns the value of a bfloat16.
pub fn of_bf16(bits: u16) -> f32 {
	f32::from_bits(u32::from(bits) << 16)
}

/// Returns the scale of a row whose largest magnitude is `most`: a 127th of it, rounded once.
pub fn scale(most: f32) -> f32 {
	most / 127.0
}

/// Returns the integer nearest to `x / scale`, of two the even one, in -127..=127. The division is
/// rounded, too. Where the scale is 0 so is the result.
pub fn to_i8(x: f32, scale: f32) -> i8 {
	if scale == 0.0 {
		return 0;
	}
	(x / scale).round_ties_even().clamp(-127.0, 127.0) as i8
}

/// Returns the value of such an integer: its product with the scale, rounded once.
pub fn of_i8(q: i8, scale: f32) -> f32 {
	f32::from(q) * scale
}

/// The sign as that of 16 bits, and the bits without it.
fn split(x: f32) -> (u16, u32) {
	let bits = x.to_bits();
	((bits >> 16) as u16 & 0x8000, bits & 0x7fff_ffff)
}

/// Drops so many bits, and rounds to the nearest, of two the even one. What overflows goes to the next
/// exponent, as it should.
fn nearest(bits: u32, dropped: u32) -> u32 {
	let half = (1 << (dropped - 1)) - 1;
	(bits + half + (bits >> dropped & 1)) >> dropped
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	/// Of all finite numbers with 16 bits the one nearest to `x`, by search. Differences of numbers that are
	/// this near are exact in binary64.
	fn searched(all: &[(u16, f64)], x: f32) -> Option<u16> {
		let magnitude = f64::from(x).abs();
		let at = all.partition_point(|(_, value)| *value < magnitude);
		let (below, above) = (all.get(at.wrapping_sub(1)), all.get(at));
		let bits = match (below, above) {
			(None, Some((bits, _))) => *bits,
			(Some((low, a)), Some((high, b))) => {
				match (magnitude - a).total_cmp(&(b - magnitude)) {
					std::cmp::Ordering::Less => *low,
					std::cmp::Ordering::Greater => *high,
					std::cmp::Ordering::Equal => *if low % 2 == 0 { low } else { high },
				}
			}
			// Half a step past the largest is nearer to the next power of two, which is none of them.
			(Some((low, a)), None) => {
				let step = a - all[all.len() - 2].1;
				if magnitude - a >= step / 2.0 {
					return None;
				}
				*low
			}
			(None, None) => return None,
		};
		Some(bits | (u16::from(x.is_sign_negative()) << 15))
	}

	fn magnitudes(of: fn(u16) -> f32, end: u16) -> Vec<(u16, f64)> {
		(0..end).map(|bits| (bits, f64::from(of(bits)))).collect()
	}

	#[test]
	fn what_has_16_bits_stays() {
		for bits in 0..=u16::MAX {
			let is_finite = bits & 0x7c00 != 0x7c00;
			assert_eq!(to_f16(of_f16(bits)), is_finite.then_some(bits));
			let is_finite = bits & 0x7f80 != 0x7f80;
			assert_eq!(to_bf16(of_bf16(bits)), is_finite.then_some(bits));
		}
		let known = [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65_504.0), (1, 5.960_464_5e-8)];
		for (bits, value) in known {
			assert_eq!(of_f16(bits), value);
		}
		assert!(of_f16(0x7e00).is_nan() && of_f16(0xfc00) == f32::NEG_INFINITY);
	}

	#[test]
	fn ties_go_to_the_even_one_and_what_is_too_large_to_none() {
		let step = f32::from_bits(0x3a80_0000); // 2^-10
		assert_eq!(to_f16(1.0 + step / 2.0), Some(0x3c00));
		assert_eq!(to_f16(1.0 + step * 1.5), Some(0x3c02));
		assert_eq!(to_f16(f32::from_bits(0x3300_0000)), Some(0), "half of the least");
		assert_eq!(to_f16(f32::from_bits(0x3300_0001)), Some(1));
		assert_eq!((to_f16(65_519.99), to_f16(65_520.0)), (Some(0x7bff), None));
		assert_eq!(
			(to_f16(f32::NAN), to_bf16(f32::INFINITY), to_bf16(f32::MAX)),
			(None, None, None)
		);
		assert_eq!(to_f16(-0.0), Some(0x8000));
	}

	#[test]
	fn a_row_keeps_its_largest_value() {
		for most in [1.0, 0.3, 1e-30, 12_345.678] {
			let scale = scale(most);
			assert_eq!((to_i8(most, scale), to_i8(-most, scale)), (127, -127));
			assert!((of_i8(127, scale) - most).abs() <= most * 1e-6);
		}
		// A scale that underflows stands for zeros.
		assert_eq!(to_i8(f32::from_bits(1), scale(f32::from_bits(1))), 0);
		assert_eq!(to_i8(0.0, 0.0), 0);
	}

	proptest! {
		#[test]
		fn the_nearest_is_found(bits in any::<u32>(), small in 0x3300_0000u32..0x4790_0000) {
			let (half, brain) = (magnitudes(of_f16, 0x7c00), magnitudes(of_bf16, 0x7f80));
			for x in [f32::from_bits(bits), f32::from_bits(small)] {
				if x.is_nan() {
					prop_assert_eq!((to_f16(x), to_bf16(x)), (None, None));
					continue;
				}
				prop_assert_eq!(to_f16(x), searched(&half, x));
				prop_assert_eq!(to_bf16(x), searched(&brain, x));
			}
		}

		#[test]
		fn an_integer_is_half_a_step_away_at_most(x in -1000.0f32..1000.0, more in 1.0f32..4.0) {
			let scale = scale(x.abs() * more);
			let back = of_i8(to_i8(x, scale), scale);
			prop_assert!((back - x).abs() <= scale * 0.5001, "{x} {back}");
		}
	}
}
