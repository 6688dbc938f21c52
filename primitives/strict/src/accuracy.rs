//! Measures of accuracy, for the tests of the functions.

/// Returns the distance of `found` from `exact`, in units of the last place of `exact` as a
/// binary32.
pub fn ulps(found: f32, exact: f64) -> f64 {
	if exact == 0.0 {
		return if found == 0.0 { 0.0 } else { f64::INFINITY };
	}
	let exponent = libm::floor(libm::log2(exact.abs())).max(-126.0);
	(f64::from(found) - exact).abs() / libm::exp2(exponent - 23.0)
}

/// Returns the largest distance of `found` from `exact` over every `step`-th binary32 from `low` to
/// `high` (bits, of positive numbers), with the same magnitudes below zero where `signed`.
pub fn worst(
	(low, high): (f32, f32),
	step: usize,
	signed: bool,
	found: impl Fn(f32) -> f32,
	exact: impl Fn(f64) -> f64,
) -> f64 {
	let mut worst = 0.0f64;
	for bits in (low.to_bits()..=high.to_bits()).step_by(step) {
		let x = f32::from_bits(bits);
		for x in [x, -x].into_iter().take(1 + usize::from(signed)) {
			worst = worst.max(ulps(found(x), exact(f64::from(x))));
		}
	}
	worst
}
