//! Bytes of WebAssembly: sections and instructions that are added to a module.

use alloc::vec::Vec;

/// Index of a global, function or type.
type Index = u32;

/// Writes an unsigned number as WebAssembly does (LEB128).
pub(super) fn unsigned(out: &mut Vec<u8>, mut value: u64) {
	loop {
		let low = (value & 0x7f) as u8;
		value >>= 7;
		if value == 0 {
			out.push(low);
			return;
		}
		out.push(low | 0x80);
	}
}

/// Writes a signed number as WebAssembly does (LEB128).
fn signed(out: &mut Vec<u8>, mut value: i64) {
	loop {
		let low = (value & 0x7f) as u8;
		value >>= 7;
		let sign = low & 0x40 != 0;
		if (value == 0 && !sign) || (value == -1 && sign) {
			out.push(low);
			return;
		}
		out.push(low | 0x80);
	}
}

/// Writes a section: its number, its length, and what it holds.
pub(super) fn section(out: &mut Vec<u8>, id: u8, content: &[u8]) {
	out.push(id);
	unsigned(out, content.len() as u64);
	out.extend_from_slice(content);
}

/// Writes a name.
pub(super) fn name(out: &mut Vec<u8>, text: &str) {
	unsigned(out, text.len() as u64);
	out.extend_from_slice(text.as_bytes());
}

pub(super) const I32: u8 = 0x7f;
pub(super) const I64: u8 = 0x7e;
pub(super) const EMPTY: u8 = 0x40;
pub(super) const FUNCTION_TYPE: u8 = 0x60;
pub(super) const MUTABLE: u8 = 1;

/// The instructions that are added, each by its name in the text format.
#[derive(Default)]
pub(super) struct Code(pub(super) Vec<u8>);

impl Code {
	fn op(&mut self, byte: u8) -> &mut Self {
		self.0.push(byte);
		self
	}

	fn op_with(&mut self, byte: u8, index: Index) -> &mut Self {
		self.0.push(byte);
		unsigned(&mut self.0, index.into());
		self
	}

	pub(super) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
		self.0.extend_from_slice(bytes);
		self
	}

	pub(super) fn unreachable(&mut self) -> &mut Self {
		self.op(0x00)
	}

	/// `if` without results.
	pub(super) fn if_(&mut self) -> &mut Self {
		self.op(0x04).op(EMPTY)
	}

	pub(super) fn end(&mut self) -> &mut Self {
		self.op(0x0b)
	}

	pub(super) fn return_(&mut self) -> &mut Self {
		self.op(0x0f)
	}

	pub(super) fn call(&mut self, function: Index) -> &mut Self {
		self.op_with(0x10, function)
	}

	pub(super) fn local_get(&mut self, local: Index) -> &mut Self {
		self.op_with(0x20, local)
	}

	pub(super) fn local_tee(&mut self, local: Index) -> &mut Self {
		self.op_with(0x22, local)
	}

	pub(super) fn global_get(&mut self, global: Index) -> &mut Self {
		self.op_with(0x23, global)
	}

	pub(super) fn global_set(&mut self, global: Index) -> &mut Self {
		self.op_with(0x24, global)
	}

	pub(super) fn memory_size(&mut self) -> &mut Self {
		self.op(0x3f).op(0)
	}

	pub(super) fn memory_grow(&mut self) -> &mut Self {
		self.op(0x40).op(0)
	}

	pub(super) fn memory_copy(&mut self) -> &mut Self {
		self.op(0xfc).op(10).op(0).op(0)
	}

	pub(super) fn memory_fill(&mut self) -> &mut Self {
		self.op(0xfc).op(11).op(0)
	}

	pub(super) fn i32_const(&mut self, value: i32) -> &mut Self {
		self.op(0x41);
		signed(&mut self.0, value.into());
		self
	}

	pub(super) fn i64_const(&mut self, value: i64) -> &mut Self {
		self.op(0x42);
		signed(&mut self.0, value);
		self
	}

	pub(super) fn i32_eq(&mut self) -> &mut Self {
		self.op(0x46)
	}

	pub(super) fn i32_lt_s(&mut self) -> &mut Self {
		self.op(0x48)
	}

	pub(super) fn i64_lt_s(&mut self) -> &mut Self {
		self.op(0x53)
	}

	pub(super) fn i64_gt_u(&mut self) -> &mut Self {
		self.op(0x56)
	}

	pub(super) fn i32_add(&mut self) -> &mut Self {
		self.op(0x6a)
	}

	pub(super) fn i32_sub(&mut self) -> &mut Self {
		self.op(0x6b)
	}

	pub(super) fn i64_add(&mut self) -> &mut Self {
		self.op(0x7c)
	}

	pub(super) fn i64_sub(&mut self) -> &mut Self {
		self.op(0x7d)
	}

	pub(super) fn i64_mul(&mut self) -> &mut Self {
		self.op(0x7e)
	}

	pub(super) fn i64_shr_u(&mut self) -> &mut Self {
		self.op(0x88)
	}

	pub(super) fn i64_extend_i32_u(&mut self) -> &mut Self {
		self.op(0xad)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	/// Numbers and their forms, as the specification of LEB128 has them.
	#[test]
	fn numbers_have_the_form_of_the_standard() {
		let of = |value| {
			let mut out = Vec::new();
			unsigned(&mut out, value);
			out
		};
		assert_eq!(of(0), [0]);
		assert_eq!(of(127), [0x7f]);
		assert_eq!(of(624_485), [0xe5, 0x8e, 0x26]);
		let of = |value| {
			let mut out = Vec::new();
			signed(&mut out, value);
			out
		};
		assert_eq!(of(-1), [0x7f]);
		assert_eq!(of(63), [0x3f]);
		assert_eq!(of(64), [0xc0, 0x00]);
		assert_eq!(of(-123_456), [0xc0, 0xbb, 0x78]);
		assert_eq!(of(i64::MIN).len(), 10);
	}
}
