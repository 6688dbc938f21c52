//! How updates are compressed, and what may be wrong with one.

use core::fmt;

/// Most values of a block. A block has values of one tensor, and the last one of a tensor the rest.
pub const BLOCK: u32 = 4_096;
/// Most values of a model: more than a file of 4 GiB has.
pub const MAX_VALUES: u64 = 1 << 30;

/// How updates are compressed: of each full block so many values, each in so many bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
	picks: u32,
	bits: u32,
}

/// What is wrong with the numbers of a [`Compression`] or an [`Aggregation`](crate::Aggregation).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleError {
	/// The values picked of a full block are none, or more than it has.
	Picks(u32),
	/// The bits of a value are fewer than 2 or more than 8.
	Bits(u32),
	/// The factor of the clipping is not positive and finite.
	Clip,
	/// Rate or momentum is not finite and at least 0, or the momentum not below 1.
	Outer,
}

impl fmt::Display for RuleError {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			Self::Picks(picks) => write!(f, "{picks} values of a block of {BLOCK}: 1 to {BLOCK} can be picked"),
			Self::Bits(bits) => write!(f, "{bits} bits for a value: it can have 2 to 8"),
			Self::Clip => f.write_str("the factor of the clipping is not positive and finite"),
			Self::Outer => {
				f.write_str("the outer rate is not finite and at least 0, or the momentum not from 0 to below 1")
			}
		}
	}
}

impl core::error::Error for RuleError {}

/// Why bytes are not an update, or a block of one, or why a movement has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
	/// There are fewer bytes than the lengths of the tensors say, or more.
	Length {
		/// Bytes that there are.
		found: u64,
		/// Bytes that there should be.
		expected: u64,
	},
	/// A scale of a block is negative, is not finite, or makes a value that is not finite.
	Scale,
	/// The places of a block are too few or too many, not ascending, or past its end.
	Places,
	/// Bits that fill up the last byte are not 0.
	Padding,
	/// No value of a block has the least level, or one has another level where all are equal.
	Levels,
	/// The part of a residual that is kept is not from 0 to 1.
	Keep,
	/// A number of a movement, of what is left of it, or of a model after its step is not finite.
	NotFinite,
	/// Two slices that belong together have different lengths, a block has no value or more than [`BLOCK`], or a model
	/// has more than [`MAX_VALUES`].
	Shape,
}

impl fmt::Display for Fault {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			Self::Length { found, expected } => {
				write!(f, "there are {found} bytes where {expected} are expected")
			}
			Self::Scale => f.write_str("a scale of a block is negative, not finite or too large"),
			Self::Places => {
				f.write_str("the places of the values of a block are not ascending places in it")
			}
			Self::Padding => f.write_str("bits that fill up the last byte of a block are not 0"),
			Self::Levels => f.write_str("the levels of a block are not those of its scales"),
			Self::Keep => f.write_str("the part of a residual that is kept is not from 0 to 1"),
			Self::NotFinite => f.write_str("a number of a movement or of a model is not finite"),
			Self::Shape => f.write_str("lengths that belong together differ, or are too large"),
		}
	}
}

impl core::error::Error for Fault {}

impl Compression {
	/// Picks so many values of a full block, 1 to [`BLOCK`], each written in so many bits, 2 to 8, of which one
	/// is its sign. Fails where the numbers are others.
	pub fn new(picks: u32, bits: u32) -> Result<Self, RuleError> {
		if !(1..=BLOCK).contains(&picks) {
			return Err(RuleError::Picks(picks));
		}
		if !(2..=8).contains(&bits) {
			return Err(RuleError::Bits(bits));
		}
		Ok(Self { picks, bits })
	}

	/// Returns the bits of a value, with its sign.
	pub fn bits(self) -> u32 {
		self.bits
	}

	/// Returns the magnitudes that a value can have in a block: two to the power of its bits without the sign.
	pub fn levels(self) -> u32 {
		1 << self.bits.saturating_sub(1)
	}

	/// Returns how many of `length` values of a block are picked: as large a part as of a full block, rounded
	/// up, and none of none.
	pub fn picked(self, length: u32) -> u32 {
		let part =
			u64::from(length).saturating_mul(u64::from(self.picks)).div_ceil(u64::from(BLOCK));
		u32::try_from(part).unwrap_or(u32::MAX).min(length)
	}

	/// Returns the low bits of a place that are written as they are in a block of `length` values: the most with
	/// which two to their power is no more than the values for each one picked.
	pub fn low_bits(self, length: u32) -> u32 {
		length.checked_div(self.picked(length)).unwrap_or(1).max(1).ilog2()
	}

	/// Returns the bits in which the high parts of the places of a block of `length` values are written.
	pub fn high_bits(self, length: u32) -> u32 {
		(length.saturating_sub(1) >> self.low_bits(length)).saturating_add(self.picked(length))
	}

	/// Returns the bytes of a block of `length` values in an update: two scales, the places and the values.
	pub fn block_bytes(self, length: u32) -> u32 {
		let each = self.low_bits(length).saturating_add(self.bits);
		let places =
			self.picked(length).saturating_mul(each).saturating_add(self.high_bits(length));
		if length == 0 {
			0
		} else {
			places.saturating_add(64).div_ceil(8)
		}
	}
}
