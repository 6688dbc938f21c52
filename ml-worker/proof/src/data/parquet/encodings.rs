//! The encodings of numbers in a page: each gives them as little-endian bytes of one width.

use super::thrift::{Reader, Result};

/// Numbers that are decoded at a time.
pub(super) const BLOCK: usize = 1024;

const CUT: &str = "a page ends before its values do";

/// Returns `width` bits, at most 64, from bit `at` on, the lowest first.
fn bits(bytes: &[u8], at: u64, width: u32) -> Option<u64> {
	if width == 0 {
		return Some(0);
	}
	let end = at.checked_add(u64::from(width))?;
	if end > (bytes.len() as u64).saturating_mul(8) {
		return None;
	}
	let rest = bytes.get((at / 8) as usize..)?;
	let mut raw = [0; 16];
	let length = rest.len().min(16);
	raw[..length].copy_from_slice(&rest[..length]);
	let mask = u64::MAX >> (64 - width);
	Some((u128::from_le_bytes(raw) >> (at % 8)) as u64 & mask)
}

/// Runs of equal numbers, and numbers packed into bits: levels, and places in a dictionary.
pub(super) struct Hybrid<'a> {
	bytes: &'a [u8],
	width: u32,
	run: Run<'a>,
}

enum Run<'a> {
	Equal { value: u32, left: u64 },
	Packed { bytes: &'a [u8], at: u64, left: u64 },
}

impl<'a> Hybrid<'a> {
	/// `width` is the bits of a number, at most 32.
	pub(super) fn new(bytes: &'a [u8], width: u32) -> Result<Self> {
		match width > 32 {
			true => Err("numbers of a page have more than 32 bits"),
			false => Ok(Self { bytes, width, run: Run::Equal { value: 0, left: 0 } }),
		}
	}

	/// Begins the next run, if this one is over.
	fn next_run(&mut self) -> Result<()> {
		while matches!(self.run, Run::Equal { left: 0, .. } | Run::Packed { left: 0, .. }) {
			let mut reader = Reader::new(self.bytes);
			let head = reader.varint().map_err(|_| CUT)?;
			let rest = self.bytes.get(reader.read()..).unwrap_or_default();
			let count = head >> 1;
			if head & 1 == 0 {
				let length = self.width.div_ceil(8) as usize;
				let (value, rest) = rest.split_at_checked(length).ok_or(CUT)?;
				let mut raw = [0; 4];
				raw[..length].copy_from_slice(value);
				self.run = Run::Equal { value: u32::from_le_bytes(raw), left: count };
				self.bytes = rest;
			} else {
				let length = count.saturating_mul(u64::from(self.width));
				// What fills up the last eight may be missing.
				let length = length.min(rest.len() as u64) as usize;
				let (bytes, rest) = rest.split_at(length);
				self.run = Run::Packed { bytes, at: 0, left: count.saturating_mul(8) };
				self.bytes = rest;
			}
		}
		Ok(())
	}

	/// Fills `out`.
	pub(super) fn fill(&mut self, out: &mut [u32]) -> Result<()> {
		let mut done = 0;
		while done < out.len() {
			self.next_run()?;
			let Some(to) = out.get_mut(done..) else { break };
			let count = match &mut self.run {
				Run::Equal { value, left } => {
					let count = to.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
					to[..count].fill(*value);
					*left -= count as u64;
					count
				}
				Run::Packed { bytes, at, left } => {
					let count = to.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
					for to in &mut to[..count] {
						*to = bits(bytes, *at, self.width).ok_or(CUT)? as u32;
						*at += u64::from(self.width);
					}
					*left -= count as u64;
					count
				}
			};
			done += count;
		}
		Ok(())
	}

	/// Returns the place of the first of the next `count` numbers that is not `value`; `None` where all are.
	pub(super) fn first_other(&mut self, count: u64, value: u32) -> Result<Option<u64>> {
		let (mut done, mut block) = (0u64, [0; BLOCK]);
		while done < count {
			self.next_run()?;
			let wanted = count - done;
			if let Run::Equal { value: found, left } = &mut self.run {
				if *found != value {
					return Ok(Some(done));
				}
				let passed = wanted.min(*left);
				*left -= passed;
				done += passed;
				continue;
			}
			let length = wanted.min(BLOCK as u64) as usize;
			self.fill(&mut block[..length])?;
			if let Some(at) = block[..length].iter().position(|found| *found != value) {
				return Ok(Some(done + at as u64));
			}
			done += length as u64;
		}
		Ok(None)
	}
}

/// Integers as differences of each from the one before.
pub(super) struct Deltas<'a> {
	bytes: &'a [u8],
	/// Differences of a packed piece.
	per_piece: u64,
	/// Pieces of a block.
	pieces: usize,
	/// Numbers that are still to come.
	left: u64,
	/// The number that comes next.
	value: u64,
	/// What is added to every difference of the block.
	least: u64,
	/// Bits of a difference in the pieces of the block that are still to come.
	widths: &'a [u8],
	/// The present piece, bits of a difference in it, the next bit, and how many are left.
	piece: (&'a [u8], u32, u64, u64),
}

impl<'a> Deltas<'a> {
	pub(super) fn new(bytes: &'a [u8]) -> Result<Self> {
		let mut reader = Reader::new(bytes);
		let (block, pieces) = (reader.varint()?, reader.varint()?);
		let (left, value) = (reader.varint()?, reader.zigzag()? as u64);
		let per_piece = block.checked_div(pieces).unwrap_or(0);
		let whole = per_piece.checked_mul(pieces) == Some(block) && per_piece % 32 == 0;
		if !whole || !(1..=1 << 20).contains(&block) || pieces > 1 << 10 {
			return Err("a page of differences has a wrong head");
		}
		let bytes = bytes.get(reader.read()..).unwrap_or_default();
		let (widths, piece) = (&[][..], (&[][..], 0, 0, 0));
		Ok(Self { bytes, per_piece, pieces: pieces as usize, left, value, least: 0, widths, piece })
	}

	/// Begins the next piece.
	fn next_piece(&mut self) -> Result<()> {
		if self.widths.is_empty() {
			let mut reader = Reader::new(self.bytes);
			self.least = reader.zigzag().map_err(|_| CUT)? as u64;
			let rest = self.bytes.get(reader.read()..).unwrap_or_default();
			(self.widths, self.bytes) = rest.split_at_checked(self.pieces).ok_or(CUT)?;
		}
		let (width, widths) = self.widths.split_first().ok_or(CUT)?;
		let width = u32::from(*width);
		if width > 64 {
			return Err("differences of a page have more than 64 bits");
		}
		let length = (self.per_piece * u64::from(width)) / 8;
		// What fills up the last piece may be missing.
		let length = length.min(self.bytes.len() as u64) as usize;
		let (piece, bytes) = self.bytes.split_at(length);
		(self.widths, self.bytes) = (widths, bytes);
		self.piece = (piece, width, 0, self.per_piece);
		Ok(())
	}

	/// Fills `out`. Sums wrap, as the format wants it; of narrower integers the low bits count.
	pub(super) fn fill(&mut self, out: &mut [u64]) -> Result<()> {
		for to in out {
			self.left = self.left.checked_sub(1).ok_or(CUT)?;
			*to = self.value;
			if self.left == 0 {
				continue;
			}
			if self.piece.3 == 0 {
				self.next_piece()?;
			}
			let (piece, width, at, count) = &mut self.piece;
			let difference = bits(piece, *at, *width).ok_or(CUT)?;
			*at += u64::from(*width);
			*count -= 1;
			self.value = self.value.wrapping_add(self.least).wrapping_add(difference);
		}
		Ok(())
	}
}

/// Puts number `at` of `count` together, of which the bytes lie apart: all first ones, all second ones, and so on.
pub(super) fn joined(bytes: &[u8], count: usize, at: usize, out: &mut [u8]) -> Result<()> {
	for (place, to) in out.iter_mut().enumerate() {
		let from = place.checked_mul(count).and_then(|begin| begin.checked_add(at));
		*to = *from.and_then(|from| bytes.get(from)).ok_or(CUT)?;
	}
	Ok(())
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	fn filled(bytes: &[u8], width: u32, count: usize) -> Result<Vec<u32>> {
		let mut out = vec![0; count];
		Hybrid::new(bytes, width)?.fill(&mut out)?;
		Ok(out)
	}

	#[test]
	fn runs_of_both_kinds() {
		// Five times 4, and 0 to 7 in three bits each, as the format's own text shows them.
		let bytes = [10, 4, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010];
		let mut all = vec![4; 5];
		all.extend(0..8);
		assert_eq!(filled(&bytes, 3, 13), Ok(all));
		assert_eq!(filled(&bytes, 3, 14), Err(CUT));
		assert_eq!(filled(&[8, 1, 2], 12, 4), Ok(vec![0x201; 4]));
		assert_eq!(filled(&[6], 0, 3), Ok(vec![0; 3]), "one value needs no bits");
		assert!(Hybrid::new(&[], 33).is_err());
		// Runs without numbers are passed over.
		assert_eq!(filled(&[0, 7, 2, 7], 8, 1), Ok(vec![7]));
		let ones = |bytes: &[u8], count| Hybrid::new(bytes, 1).unwrap().first_other(count, 1);
		assert_eq!(ones(&[8, 1], 4), Ok(None));
		assert_eq!(ones(&[8, 1], 5), Err(CUT));
		assert_eq!(ones(&[8, 1, 8, 0], 5), Ok(Some(4)));
		assert_eq!(ones(&[3, 0b0111_1111], 8), Ok(Some(7)));
		assert_eq!(ones(&[3, 0b0111_1111], 7), Ok(None));
	}

	#[test]
	fn differences_as_the_format_shows_them() {
		// 1 to 5, and 7, 5, 3, 1, 2, 3, 4, 5 in blocks of 128 with 4 pieces.
		let read = |bytes: &[u8], count| {
			let mut out = vec![0; count];
			Deltas::new(bytes)?.fill(&mut out).map(|()| out)
		};
		let head = |count, first| vec![128, 1, 4, count, first];
		let even = [head(5, 2), vec![2, 0, 0, 0, 0]].concat();
		assert_eq!(read(&even, 5), Ok(vec![1, 2, 3, 4, 5]));
		assert_eq!(read(&even, 6), Err(CUT));
		// Least difference -2, then two bits for each: 0 0 0 3 3 3 3.
		let uneven = [head(8, 14), vec![3, 2, 0, 0, 0, 0b1100_0000, 0b0011_1111]].concat();
		assert_eq!(read(&uneven, 8), Ok(vec![7, 5, 3, 1, 2, 3, 4, 5]));
		for wrong in [[0, 0, 4, 1, 2], [128, 1, 0, 1, 2], [128, 1, 3, 1, 2], [129, 1, 1, 1, 2]] {
			assert!(Deltas::new(&wrong).is_err(), "{wrong:?}");
		}
	}

	proptest! {
		#[test]
		fn bits_are_those_of_the_bytes(bytes in prop::collection::vec(any::<u8>(), 1..40), at in 0u64..320, width in 0u32..=64) {
			let found = bits(&bytes, at, width);
			let bit = |n: u64| bytes.get((n / 8) as usize).map(|byte| u64::from(byte >> (n % 8)) & 1);
			let expected = (0..u64::from(width)).try_fold(0u64, |sum, n| Some(sum | bit(at + n)? << n));
			prop_assert_eq!(found, expected);
		}

		#[test]
		fn any_bytes_are_numbers_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100), width in 0u32..40, count in 0usize..5_000) {
			if let Ok(found) = filled(&bytes, width, count) {
				prop_assert_eq!(found.len(), count);
			}
			if let Ok(mut hybrid) = Hybrid::new(&bytes, width) {
				let _ = hybrid.first_other(count as u64, 1);
			}
			if let Ok(mut deltas) = Deltas::new(&bytes) {
				let _ = deltas.fill(&mut vec![0; count]);
			}
		}
	}
}
