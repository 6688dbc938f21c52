//! Thrift's compact protocol, of which Parquet makes its footer and the heads of its pages: as much of it as reading
//! numbers takes. It reads from bytes that are in memory already and makes nothing of them on their own word.

/// Says what is wrong with bytes.
pub(super) type Result<T> = std::result::Result<T, &'static str>;

/// Most structs and lists inside each other.
const DEPTH: u32 = 24;

/// A field of a struct, before its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
	/// Its number.
	pub id: i64,
	kind: u8,
}

/// Kinds of values.
mod kind {
	pub const TRUE: u8 = 1;
	pub const FALSE: u8 = 2;
	pub const BYTE: u8 = 3;
	pub const I16: u8 = 4;
	pub const I32: u8 = 5;
	pub const I64: u8 = 6;
	pub const DOUBLE: u8 = 7;
	pub const BINARY: u8 = 8;
	pub const LIST: u8 = 9;
	pub const SET: u8 = 10;
	pub const MAP: u8 = 11;
	pub const STRUCT: u8 = 12;
	pub const UUID: u8 = 13;
}

const CUT: &str = "it ends too early";
const LONG: &str = "a number in it is too long";
const OTHER: &str = "a field of it is of another type";

/// Reads values one after the other.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
	bytes: &'a [u8],
	at: usize,
	depth: u32,
}

impl<'a> Reader<'a> {
	pub(super) fn new(bytes: &'a [u8]) -> Self {
		Self { bytes, at: 0, depth: 0 }
	}

	/// Returns how many bytes were read.
	pub(super) fn read(&self) -> usize {
		self.at
	}

	fn left(&self) -> usize {
		self.bytes.len().saturating_sub(self.at)
	}

	fn byte(&mut self) -> Result<u8> {
		let byte = *self.bytes.get(self.at).ok_or(CUT)?;
		self.at += 1;
		Ok(byte)
	}

	fn take(&mut self, length: u64) -> Result<&'a [u8]> {
		let length = usize::try_from(length).map_err(|_| CUT)?;
		let end = self.at.checked_add(length).ok_or(CUT)?;
		let taken = self.bytes.get(self.at..end).ok_or(CUT)?;
		self.at = end;
		Ok(taken)
	}

	pub(super) fn varint(&mut self) -> Result<u64> {
		let mut value = 0u64;
		for shift in (0..64).step_by(7) {
			let byte = self.byte()?;
			let part = u64::from(byte & 0x7f);
			if shift == 63 && part > 1 {
				return Err(LONG);
			}
			value |= part << shift;
			if byte & 0x80 == 0 {
				return Ok(value);
			}
		}
		Err(LONG)
	}

	pub(super) fn zigzag(&mut self) -> Result<i64> {
		let value = self.varint()?;
		Ok((value >> 1) as i64 ^ -((value & 1) as i64))
	}

	/// Returns the value of a field that is an integer.
	pub(super) fn integer(&mut self, field: Field) -> Result<i64> {
		match field.kind {
			kind::BYTE => Ok(i64::from(self.byte()? as i8)),
			kind::I16 | kind::I32 | kind::I64 => self.zigzag(),
			_ => Err(OTHER),
		}
	}

	/// Returns the value of a field that is true or false.
	pub(super) fn boolean(&mut self, field: Field) -> Result<bool> {
		match field.kind {
			kind::TRUE => Ok(true),
			kind::FALSE => Ok(false),
			_ => Err(OTHER),
		}
	}

	/// Returns the value of a field that is text or bytes.
	pub(super) fn binary(&mut self, field: Field) -> Result<&'a [u8]> {
		if field.kind != kind::BINARY {
			return Err(OTHER);
		}
		let length = self.varint()?;
		self.take(length)
	}

	/// Reads a struct: `see` is called for each of its fields, and returns whether it read the value; others
	/// are passed over.
	pub(super) fn fields(
		&mut self,
		mut see: impl FnMut(&mut Self, Field) -> Result<bool>,
	) -> Result<()> {
		self.deeper()?;
		let mut id = 0i64;
		loop {
			let head = self.byte()?;
			if head == 0 {
				self.depth -= 1;
				return Ok(());
			}
			id = match head >> 4 {
				0 => self.zigzag()?,
				more => id.saturating_add(i64::from(more)),
			};
			let field = Field { id, kind: head & 0xf };
			if !see(self, field)? {
				self.pass(field.kind)?;
			}
		}
	}

	/// Reads the fields of a struct that is the value of a field.
	pub(super) fn inner(
		&mut self,
		field: Field,
		see: impl FnMut(&mut Self, Field) -> Result<bool>,
	) -> Result<()> {
		match field.kind {
			kind::STRUCT => self.fields(see),
			_ => Err(OTHER),
		}
	}

	/// Reads a list of structs: `each` reads one.
	pub(super) fn structs(
		&mut self,
		field: Field,
		mut each: impl FnMut(&mut Self) -> Result<()>,
	) -> Result<()> {
		if field.kind != kind::LIST {
			return Err(OTHER);
		}
		let (count, of) = self.list()?;
		if of != kind::STRUCT {
			return Err(OTHER);
		}
		(0..count).try_for_each(|_| each(self))
	}

	/// Returns how many values a list has, and their kind. There is a byte at least for each.
	fn list(&mut self) -> Result<(u64, u8)> {
		let head = self.byte()?;
		let count = match head >> 4 {
			15 => self.varint()?,
			few => u64::from(few),
		};
		match count > self.left() as u64 {
			true => Err(CUT),
			false => Ok((count, head & 0xf)),
		}
	}

	fn deeper(&mut self) -> Result<()> {
		self.depth += 1;
		match self.depth > DEPTH {
			true => Err("too many structs lie inside each other"),
			false => Ok(()),
		}
	}

	/// Passes over the value of a field.
	fn pass(&mut self, of: u8) -> Result<()> {
		match of {
			kind::TRUE | kind::FALSE => Ok(()),
			_ => self.pass_element(of),
		}
	}

	/// Passes over a value in a list, where true and false take a byte.
	fn pass_element(&mut self, of: u8) -> Result<()> {
		match of {
			kind::TRUE | kind::FALSE | kind::BYTE => self.byte().map(drop),
			kind::I16 | kind::I32 | kind::I64 => self.varint().map(drop),
			kind::DOUBLE => self.take(8).map(drop),
			kind::UUID => self.take(16).map(drop),
			kind::BINARY => {
				let length = self.varint()?;
				self.take(length).map(drop)
			}
			kind::LIST | kind::SET => {
				self.deeper()?;
				let (count, of) = self.list()?;
				(0..count).try_for_each(|_| self.pass_element(of))?;
				self.depth -= 1;
				Ok(())
			}
			kind::MAP => {
				self.deeper()?;
				let count = self.varint()?;
				if count > self.left() as u64 {
					return Err(CUT);
				}
				if count > 0 {
					let kinds = self.byte()?;
					for _ in 0..count {
						self.pass_element(kinds >> 4)?;
						self.pass_element(kinds & 0xf)?;
					}
				}
				self.depth -= 1;
				Ok(())
			}
			kind::STRUCT => self.fields(|_, _| Ok(false)),
			_ => Err("it has a value of a type that there is not"),
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	#[test]
	fn fields_are_found_and_others_passed_over() {
		// 1: i32 -3; 2: binary "ab"; 4: true; 5: list of two i64; 6: struct { 1: byte 7 }; 300: i64 1.
		let bytes = [
			0x15, 5, 0x18, 2, b'a', b'b', 0x21, 0x19, 0x26, 2, 4, 0x1c, 0x13, 7, 0, 0x06, 0xd8, 4,
			2, 0, 99,
		];
		let mut reader = Reader::new(&bytes);
		let (mut seen, mut inner) = (Vec::new(), 0);
		reader
			.fields(|reader, field| {
				match field.id {
					1 => seen.push(reader.integer(field)?),
					2 => assert_eq!(reader.binary(field)?, b"ab"),
					4 => assert!(reader.boolean(field)?),
					6 => reader.inner(field, |reader, field| {
						inner = reader.integer(field)?;
						Ok(true)
					})?,
					300 => seen.push(reader.integer(field)?),
					_ => return Ok(false),
				}
				Ok(true)
			})
			.unwrap();
		assert_eq!((seen, inner, reader.read()), (vec![-3, 1], 7, bytes.len() - 1));
		for length in 0..bytes.len() - 1 {
			let cut = Reader::new(&bytes[..length]).fields(|_, _| Ok(false));
			assert_eq!(cut, Err(CUT), "{length}");
		}
	}

	#[test]
	fn what_lies_too_deep_or_promises_too_much_is_refused() {
		let deep = [0x1c; 100_000];
		assert!(Reader::new(&deep).fields(|_, _| Ok(false)).unwrap_err().contains("inside"));
		let lists = [0x19; 100_000];
		assert!(Reader::new(&lists).fields(|_, _| Ok(false)).is_err());
		let long = [0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f];
		assert_eq!(Reader::new(&long).fields(|_, _| Ok(false)), Err(CUT));
		assert_eq!(Reader::new(&[0xff; 11]).varint(), Err(LONG));
		assert_eq!(Reader::new(&[1]).zigzag(), Ok(-1));
	}

	proptest! {
		#[test]
		fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
			let mut reader = Reader::new(&bytes);
			let _ = reader.fields(|_, _| Ok(false));
			prop_assert!(reader.read() <= bytes.len());
		}
	}
}
