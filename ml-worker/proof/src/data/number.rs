//! Numbers of binary files: inputs become the nearest binary32, labels must be whole. The
//! conversion is our own, because it is part of what a job means and the same for all formats.

/// Types of numbers that data may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
	U8,
	I8,
	U16,
	I16,
	U32,
	I32,
	U64,
	I64,
	F32,
	F64,
}

/// The types in words, for messages.
pub(super) const KINDS: &str = "integers of 8, 16, 32 or 64 bits and floats of 32 or 64 bits";

/// How a number is stored in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
	pub kind: Kind,
	pub big_endian: bool,
}

impl Element {
	/// Bytes of a number.
	pub(super) fn bytes(self) -> usize {
		match self.kind {
			Kind::U8 | Kind::I8 => 1,
			Kind::U16 | Kind::I16 => 2,
			Kind::U32 | Kind::I32 | Kind::F32 => 4,
			Kind::U64 | Kind::I64 | Kind::F64 => 8,
		}
	}

	/// Adds the numbers in `bytes` to `out`, each as the nearest binary32, ties to even. Fails with
	/// the place of the first that is then not finite.
	pub(super) fn inputs(self, bytes: &[u8], out: &mut Vec<f32>) -> Result<(), usize> {
		let big = self.big_endian;
		// A conversion by `as` rounds to nearest, ties to even.
		match self.kind {
			Kind::U8 => each(bytes, big, out, |b| f32::from(u8::from_le_bytes(b))),
			Kind::I8 => each(bytes, big, out, |b| f32::from(i8::from_le_bytes(b))),
			Kind::U16 => each(bytes, big, out, |b| f32::from(u16::from_le_bytes(b))),
			Kind::I16 => each(bytes, big, out, |b| f32::from(i16::from_le_bytes(b))),
			Kind::U32 => each(bytes, big, out, |b| u32::from_le_bytes(b) as f32),
			Kind::I32 => each(bytes, big, out, |b| i32::from_le_bytes(b) as f32),
			Kind::U64 => each(bytes, big, out, |b| u64::from_le_bytes(b) as f32),
			Kind::I64 => each(bytes, big, out, |b| i64::from_le_bytes(b) as f32),
			Kind::F32 => each(bytes, big, out, f32::from_le_bytes),
			Kind::F64 => each(bytes, big, out, |b| f64::from_le_bytes(b) as f32),
		}
	}

	/// Returns the label in `bytes`, which hold one number. Fails with the number in words if it is
	/// not whole, is negative, or is above `u32::MAX`.
	pub(super) fn label(self, bytes: &[u8]) -> Result<u32, String> {
		let mut raw = [0; 8];
		let n = self.bytes();
		raw[..n].copy_from_slice(&bytes[..n]);
		if self.big_endian {
			raw[..n].reverse();
		}
		let unsigned = u64::from_le_bytes(raw);
		// The sign moves to the top and comes down again.
		let signed = || i64::from_le_bytes(raw) << (64 - 8 * n) >> (64 - 8 * n);
		let float = |x: f64| whole(x).ok_or_else(|| x.to_string());
		match self.kind {
			Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 => {
				u32::try_from(unsigned).map_err(|_| unsigned.to_string())
			}
			Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64 => {
				u32::try_from(signed()).map_err(|_| signed().to_string())
			}
			Kind::F32 => float(f64::from(f32::from_bits(unsigned as u32))),
			Kind::F64 => float(f64::from_bits(unsigned)),
		}
	}
}

/// Returns a label that is written as a float: it must be whole and not negative.
pub(super) fn whole(x: f64) -> Option<u32> {
	((0.0..=f64::from(u32::MAX)).contains(&x) && x.fract() == 0.0).then_some(x as u32)
}

fn each<const N: usize>(
	bytes: &[u8],
	big_endian: bool,
	out: &mut Vec<f32>,
	value: impl Fn([u8; N]) -> f32,
) -> Result<(), usize> {
	for (place, bytes) in bytes.chunks_exact(N).enumerate() {
		let mut raw = [0; N];
		raw.copy_from_slice(bytes);
		if big_endian {
			raw.reverse();
		}
		let x = value(raw);
		if !x.is_finite() {
			return Err(place);
		}
		out.push(x);
	}
	Ok(())
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	const ALL: [Kind; 10] = [
		Kind::U8,
		Kind::I8,
		Kind::U16,
		Kind::I16,
		Kind::U32,
		Kind::I32,
		Kind::U64,
		Kind::I64,
		Kind::F32,
		Kind::F64,
	];

	/// `value` as this kind, little endian; wraps.
	fn bytes_of(kind: Kind, value: i64) -> Vec<u8> {
		match kind {
			Kind::F32 => (value as f32).to_le_bytes().to_vec(),
			Kind::F64 => (value as f64).to_le_bytes().to_vec(),
			kind => value.to_le_bytes()[..Element { kind, big_endian: false }.bytes()].to_vec(),
		}
	}

	#[test]
	fn numbers_of_every_type_and_order() {
		for kind in ALL {
			for value in [0i64, 1, 9, 100] {
				for big_endian in [false, true] {
					let element = Element { kind, big_endian };
					let mut bytes = bytes_of(kind, value);
					assert_eq!(bytes.len(), element.bytes());
					if big_endian {
						bytes.reverse();
					}
					assert_eq!(element.label(&bytes), Ok(value as u32), "{element:?}");
					let mut out = vec![7.0];
					let twice = [&bytes[..], &bytes[..]].concat();
					assert_eq!(element.inputs(&twice, &mut out), Ok(()));
					assert_eq!(out, [7.0, value as f32, value as f32], "{element:?}");
				}
			}
			let element = Element { kind, big_endian: false };
			let minus = element.label(&bytes_of(kind, -1));
			match kind {
				Kind::U8 => assert_eq!(minus, Ok(255)),
				Kind::U16 => assert_eq!(minus, Ok(65_535)),
				Kind::U32 => assert_eq!(minus, Ok(u32::MAX)),
				Kind::U64 => assert_eq!(minus, Err(u64::MAX.to_string())),
				_ => assert_eq!(minus, Err("-1".into())),
			}
		}
	}

	#[test]
	fn the_nearest_binary32_ties_to_even() {
		let one = |kind, bytes: &[u8]| {
			let mut out = Vec::new();
			Element { kind, big_endian: false }.inputs(bytes, &mut out).map(|()| out[0])
		};
		// 2^24 + 1 lies in the middle, 2^24 + 3 as well.
		assert_eq!(one(Kind::U32, &16_777_217u32.to_le_bytes()), Ok(16_777_216.0));
		assert_eq!(one(Kind::I32, &16_777_219i32.to_le_bytes()), Ok(16_777_220.0));
		assert_eq!(one(Kind::I64, &(-16_777_217i64).to_le_bytes()), Ok(-16_777_216.0));
		assert_eq!(one(Kind::U64, &u64::MAX.to_le_bytes()), Ok(18_446_744_073_709_551_616.0));
		assert_eq!(one(Kind::F64, &(1.0 + f64::EPSILON).to_le_bytes()), Ok(1.0));
		assert_eq!(one(Kind::F64, &1e-45f64.to_le_bytes()), Ok(f32::from_bits(1)));
		for not_finite in [f64::NAN, f64::INFINITY, 1e39, -1e39] {
			assert_eq!(one(Kind::F64, &not_finite.to_le_bytes()), Err(0), "{not_finite}");
		}
		let bytes = [1.0f32.to_le_bytes(), f32::NAN.to_le_bytes()].concat();
		assert_eq!(one(Kind::F32, &bytes), Err(1));
	}

	#[test]
	fn labels_written_as_floats_are_whole() {
		for (x, label) in [(0.0, 0), (-0.0, 0), (3.0, 3), (4_294_967_295.0, u32::MAX)] {
			assert_eq!(whole(x), Some(label));
		}
		for x in [-1.0, 0.5, 1e10, f64::NAN, f64::INFINITY, 4_294_967_296.0] {
			assert_eq!(whole(x), None, "{x}");
		}
	}

	proptest! {
		#[test]
		fn any_bytes_are_numbers_or_refused(bytes in prop::collection::vec(any::<u8>(), 8..64)) {
			for kind in ALL {
				let element = Element { kind, big_endian: bytes[0] % 2 == 0 };
				let mut out = Vec::new();
				match element.inputs(&bytes, &mut out) {
					Ok(()) => prop_assert_eq!(out.len(), bytes.len() / element.bytes()),
					Err(place) => prop_assert_eq!(out.len(), place),
				}
				prop_assert!(out.iter().all(|x| x.is_finite()));
				let _ = element.label(&bytes);
			}
		}
	}
}
