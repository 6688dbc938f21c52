//! Numbers of a few bits, one after the other, the least significant bit of a byte first.

use alloc::vec::Vec;

/// Writes numbers of a few bits after bytes that there are already.
pub struct Writer<'a> {
	out: &'a mut Vec<u8>,
	held: u64,
	count: u32,
}

impl<'a> Writer<'a> {
	pub fn new(out: &'a mut Vec<u8>) -> Self {
		Self { out, held: 0, count: 0 }
	}

	/// Writes the `bits` low bits of a number, 32 at most.
	pub fn put(&mut self, number: u32, bits: u32) {
		let mask = (1u64 << bits).wrapping_sub(1);
		self.held |= (u64::from(number) & mask) << self.count;
		self.count = self.count.saturating_add(bits);
		while self.count >= 8 {
			let [byte, ..] = self.held.to_le_bytes();
			self.out.push(byte);
			self.held >>= 8;
			self.count = self.count.saturating_sub(8);
		}
	}

	/// Fills the last byte up with zeros.
	pub fn finish(mut self) {
		if self.count > 0 {
			self.put(0, 8u32.saturating_sub(self.count));
		}
	}
}

/// Reads numbers of a few bits.
pub struct Reader<'a> {
	bytes: core::slice::Iter<'a, u8>,
	held: u64,
	count: u32,
}

impl<'a> Reader<'a> {
	pub fn new(bytes: &'a [u8]) -> Self {
		Self { bytes: bytes.iter(), held: 0, count: 0 }
	}

	/// Reads a number of so many bits, 32 at most; `None` where too few are left.
	pub fn take(&mut self, bits: u32) -> Option<u32> {
		while self.count < bits {
			self.held |= u64::from(*self.bytes.next()?) << self.count;
			self.count = self.count.saturating_add(8);
		}
		let number = self.held & (1u64 << bits).wrapping_sub(1);
		self.held >>= bits;
		self.count = self.count.saturating_sub(bits);
		u32::try_from(number).ok()
	}

	/// Whether all that is left are zeros of the last byte.
	pub fn is_padding(&self) -> bool {
		self.held == 0 && self.count < 8 && self.bytes.as_slice().is_empty()
	}
}
