//! Checks that a device computes as IEEE 754 says, as [`environment`](crate) does for the
//! processor.
//!
//! A compiler or a driver that fused, flushed or approximated anything would show in these
//! numbers: every function and operation of the kernels, at ordinary, subnormal, huge and special
//! arguments, against the scalar reference.

use super::{
	backend::{Arg, Backend},
	launches::Launches,
	DeviceError,
};
use trainyard_strict as strict;
use trainyard_strict::philox;

/// Arguments of each function.
const ARGUMENTS: usize = 1 << 14;

/// A function of the kernel `functions`: its name, and the reference.
type Checked = (&'static str, fn(f32, f32, f32) -> f32);

/// In the order of the kernel's numbers.
pub const FUNCTIONS: [Checked; 12] = [
	("exp", |x, _, _| strict::exp(x)),
	("log", |x, _, _| strict::log(x)),
	("erf", |x, _, _| strict::erf(x)),
	("sigmoid", |x, _, _| strict::sigmoid(x)),
	("tanh", |x, _, _| strict::tanh(x)),
	("cos_pi", |x, _, _| strict::cos_pi(x)),
	("the inverse normal distribution", |x, _, _| strict::inverse_normal(x)),
	("sqrt", |x, _, _| strict::sqrt(x)),
	("addition", |x, y, _| x + y),
	("multiplication", |x, y, _| x * y),
	("division", |x, y, _| x / y),
	("fma", strict::fma),
];

/// Compares every function with the reference. Reports the first difference as the error.
pub fn check<B: Backend>(backend: &B) -> Result<(), DeviceError> {
	let [x, y, z] = operands(ARGUMENTS);
	let n = x.len();
	let (bx, by, bz) = (backend.upload(&x)?, backend.upload(&y)?, backend.upload(&z)?);
	for (number, (name, reference)) in (0u32..).zip(FUNCTIONS) {
		let out = backend.allocate(n)?;
		let mut arguments = vec![Arg::U32(number)];
		arguments.extend([&bx, &by, &bz, &out].map(Arg::Buffer));
		arguments.push(Arg::U64(n as u64));
		Launches(backend).each("functions", n as u64, &arguments)?;
		let found = backend.download(&out, n)?;
		let operands = x.iter().zip(&y).zip(&z);
		for (((x, y), z), found) in operands.zip(found) {
			let expected = reference(*x, *y, *z);
			// The bits of a NaN are not defined.
			if expected.to_bits() != found.to_bits() && !(expected.is_nan() && found.is_nan()) {
				return Err(DeviceError::Arithmetic(format!(
					"{name} of {x:e}, {y:e}, {z:e} is {found:e} there, and must be {expected:e}"
				)));
			}
		}
	}
	Ok(())
}

/// Returns operands for functions of up to three arguments: special numbers with each other; any
/// bits; and sums near cancellation, near ties and near the subnormal numbers.
pub fn operands(count: usize) -> [Vec<f32>; 3] {
	let special = [
		0.0,
		-0.0,
		1.0,
		-1.0,
		0.5,
		f32::INFINITY,
		f32::NEG_INFINITY,
		f32::NAN,
		f32::MAX,
		f32::MIN_POSITIVE,
		f32::from_bits(1),
		-f32::from_bits(1),
		f32::from_bits(0x007F_FFFF),
		1.0 + f32::EPSILON,
		1.0 - f32::EPSILON / 2.0,
	];
	let mut all = [Vec::new(), Vec::new(), Vec::new()];
	let mut push = |x, y, z| {
		for (list, value) in all.iter_mut().zip([x, y, z]) {
			list.push(value);
		}
	};
	for x in special {
		for y in special {
			push(x, y, 0.0);
			push(x, y, -x * y);
			push(x, y, 1.0);
		}
	}
	for i in 0..count as u32 {
		let [a, b, c, d] = philox::philox4x32_10([i, 0, 0, 0], [7, 9]);
		// Exponents in the middle, where functions are not all 0, 1 or infinite.
		let near = |bits: u32| {
			f32::from_bits((bits & 0x80FF_FFFF) | 0x3C00_0000 | (bits >> 6 & 0x0300_0000))
		};
		let (x, y) = match i % 4 {
			0 => (f32::from_bits(a), f32::from_bits(b)),
			_ => (near(a), near(b)),
		};
		let z = match i % 4 {
			0 => f32::from_bits(c),
			1 => near(c),
			// Near the product, with the other sign.
			2 => -f32::from_bits((x * y).to_bits().wrapping_add((d & 63).wrapping_sub(32))),
			_ => (x * y) * 16_777_216.0,
		};
		// Products that are subnormal.
		let y = if i % 8 == 5 { y * f32::MIN_POSITIVE } else { y };
		push(x, y, z);
	}
	all
}
