//! NumPy's files: arrays (`.npy`, format versions 1 to 3) and archives of them (`.npz`).
//!
//! An array is the magic bytes `\x93NUMPY`, two bytes of version, the length of the header, the
//! header, which is a Python dictionary with the keys `descr`, `fortran_order` and `shape`, and
//! the numbers. A library for `.npy` would parse that header, which is the small part; streaming,
//! conversion and the limits on a stranger's file would remain ours, so none is used (decision
//! 0017).

use super::{
	array::{wrong, Array, Header, Joined, Pair},
	gzip::TooMuch,
	number::{Element, Kind, KINDS},
	zip::{Archive, ZipError},
	DataError,
};
use std::{
	fs::File,
	io::{self, BufReader, Read},
	path::Path,
};
use trainyard_program::spec::Extent;

/// Longest header that is read, in bytes; NumPy itself reads 10,000.
const MAX_HEADER: u32 = 1 << 16;
/// Most dimensions; NumPy has no more.
const MAX_DIMENSIONS: usize = 64;
/// Names of the arrays of inputs and labels in an archive; the first that is there counts.
const NAMES: [[&str; 2]; 2] = [["x.npy", "y.npy"], ["x_train.npy", "y_train.npy"]];

/// Opens the rows of the array in the file at `path`.
pub(super) fn open_array(path: &Path, declared: Option<Extent>) -> Result<Joined, DataError> {
	let failed = |error| DataError::reading(path, None, error);
	let file = File::open(path).map_err(failed)?;
	let length = file.metadata().map_err(failed)?.len();
	TooMuch::check(length, declared).map_err(failed)?;
	let reader = Box::new(BufReader::with_capacity(1 << 16, file));
	Joined::new(array(path, None, reader, length)?)
}

/// Opens the rows of the archive at `path`.
pub(super) fn open_archive(path: &Path, declared: Option<Extent>) -> Result<Pair, DataError> {
	let archive = Archive::open(path).map_err(|error| unzip(path, None, error))?;
	let Some([x, y]) = NAMES.into_iter().find(|names| names.iter().any(|name| archive.has(name)))
	else {
		let what = format!(
			"it has no array x and y, or x_train and y_train; save it by numpy.savez(\"data.npz\", \
			 x=inputs, y=labels). Its first entries: {}",
			archive.names()
		);
		return Err(wrong(path, None, what));
	};
	let part = |name| {
		let unzip = |error| unzip(path, Some(name), error);
		let (reader, length) = archive.entry(path, name).map_err(unzip)?;
		TooMuch::check(length, declared)
			.map_err(|error| DataError::reading(path, Some(name), error))?;
		array(path, Some(name), reader, length)
	};
	Pair::new(part(x)?, part(y)?)
}

fn unzip(path: &Path, part: Option<&str>, error: ZipError) -> DataError {
	match error {
		ZipError::Io(error) => DataError::reading(path, part, error),
		ZipError::Wrong(what) => wrong(path, part, what),
	}
}

/// Opens the array in a stream of `length` bytes.
fn array(
	path: &Path,
	part: Option<&str>,
	mut reader: Box<dyn Read>,
	length: u64,
) -> Result<Array, DataError> {
	let (header, bytes) = match header(&mut reader) {
		Ok(found) => found,
		Err(HeaderError::Io(error)) => return Err(DataError::reading(path, part, error)),
		Err(HeaderError::Wrong(what)) => return Err(wrong(path, part, what)),
	};
	Array::new(path, part, header, Some(length.saturating_sub(bytes)), reader)
}

enum HeaderError {
	Io(io::Error),
	Wrong(String),
}

impl From<io::Error> for HeaderError {
	fn from(error: io::Error) -> Self {
		HeaderError::Io(error)
	}
}

/// Reads a header; also returns its length in bytes.
fn header(reader: &mut impl Read) -> Result<(Header, u64), HeaderError> {
	let wrong = |what: String| Err(HeaderError::Wrong(what));
	let mut begin = [0; 8];
	reader.read_exact(&mut begin)?;
	let [magic @ .., version, _minor] = begin;
	if &magic != b"\x93NUMPY" {
		return wrong("it is no NumPy array (npy): those begin with \\x93NUMPY".into());
	}
	let (length, before) = match version {
		1 => {
			let mut length = [0; 2];
			reader.read_exact(&mut length)?;
			(u32::from(u16::from_le_bytes(length)), 10)
		}
		2 | 3 => {
			let mut length = [0; 4];
			reader.read_exact(&mut length)?;
			(u32::from_le_bytes(length), 12)
		}
		other => return wrong(format!("its format has version {other}; 1 to 3 can be read")),
	};
	if length > MAX_HEADER {
		return wrong(format!("its header has {length} bytes; at most {MAX_HEADER}"));
	}
	let mut text = vec![0; length as usize];
	reader.read_exact(&mut text)?;
	let header = std::str::from_utf8(&text)
		.map_err(|_| "it is not UTF-8".to_owned())
		.and_then(|text| Parser { rest: text }.header());
	match header {
		Ok(header) => Ok((header, before + u64::from(length))),
		Err(what) => wrong(format!("its header cannot be used: {what}")),
	}
}

/// Reads the dictionary of a header.
struct Parser<'a> {
	rest: &'a str,
}

impl<'a> Parser<'a> {
	/// Takes spaces and then `mark` off. Returns whether the mark was there.
	fn take(&mut self, mark: &str) -> bool {
		self.rest = self.rest.trim_start();
		match self.rest.strip_prefix(mark) {
			Some(rest) => {
				self.rest = rest;
				true
			}
			None => false,
		}
	}

	fn expect(&mut self, mark: &str) -> Result<(), String> {
		match self.take(mark) {
			true => Ok(()),
			false => {
				let found: String = self.rest.chars().take(20).collect();
				Err(format!("{mark:?} was expected where it says {found:?}"))
			}
		}
	}

	/// A string without escapes.
	fn text(&mut self) -> Result<&'a str, String> {
		let quote = if self.take("\"") { '"' } else { '\'' };
		if quote == '\'' {
			self.expect("'")?;
		}
		let (text, rest) = self.rest.split_once(quote).ok_or("a text does not end")?;
		self.rest = rest;
		Ok(text)
	}

	fn shape(&mut self) -> Result<Vec<u64>, String> {
		self.expect("(")?;
		let mut shape = Vec::new();
		while !self.take(")") {
			self.rest = self.rest.trim_start();
			let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
			let (digits, rest) = self.rest.split_at(end);
			self.rest = rest;
			let extent = digits.parse().map_err(|_| format!("{digits:?} is not an extent"))?;
			shape.push(extent);
			if shape.len() > MAX_DIMENSIONS {
				return Err(format!("it has more than {MAX_DIMENSIONS} dimensions"));
			}
			if !self.take(",") {
				self.expect(")")?;
				break;
			}
		}
		Ok(shape)
	}

	fn header(mut self) -> Result<Header, String> {
		let (mut element, mut shape, mut fortran) = (None, None, None);
		self.expect("{")?;
		while !self.take("}") {
			let key = self.text()?;
			self.expect(":")?;
			match key {
				"descr" if element.is_none() => element = Some(self.element()?),
				"shape" if shape.is_none() => shape = Some(self.shape()?),
				"fortran_order" if fortran.is_none() => {
					fortran = Some(self.take("True"));
					if fortran == Some(false) {
						self.expect("False")?;
					}
				}
				other => return Err(format!("there is no key {other:?}, or it stands twice")),
			}
			if !self.take(",") {
				self.expect("}")?;
				break;
			}
		}
		if !self.rest.trim().is_empty() {
			return Err("something stands behind the dictionary".into());
		}
		let (Some(element), Some(shape), Some(fortran)) = (element, shape, fortran) else {
			return Err("it lacks descr, fortran_order or shape".into());
		};
		// In one dimension there is one order.
		if fortran && shape.len() > 1 {
			return Err("the array is in Fortran order, column by column; save \
				 numpy.ascontiguousarray(array)"
				.into());
		}
		Ok(Header { element, shape })
	}

	/// A type of numbers: `'<f4'`.
	fn element(&mut self) -> Result<Element, String> {
		if self.rest.trim_start().starts_with('[') {
			return Err(format!("its rows are records; {KINDS} can be read"));
		}
		let text = self.text()?;
		let kind = |name: &str| {
			Some(match name {
				"u1" => Kind::U8,
				"i1" => Kind::I8,
				"u2" => Kind::U16,
				"i2" => Kind::I16,
				"u4" => Kind::U32,
				"i4" => Kind::I32,
				"u8" => Kind::U64,
				"i8" => Kind::I64,
				"f4" => Kind::F32,
				"f8" => Kind::F64,
				_ => return None,
			})
		};
		let element = match text.split_at_checked(1) {
			Some(("<", name)) => kind(name).map(|kind| Element { kind, big_endian: false }),
			Some((">", name)) => kind(name).map(|kind| Element { kind, big_endian: true }),
			Some(("|", name)) => kind(name)
				.map(|kind| Element { kind, big_endian: false })
				.filter(|element| element.bytes() == 1),
			_ => None,
		};
		element.ok_or_else(|| format!("its numbers are {text:?}; {KINDS} can be read"))
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	fn npy(version: u8, text: &str) -> Vec<u8> {
		let mut bytes = b"\x93NUMPY".to_vec();
		bytes.extend([version, 0]);
		match version {
			1 => bytes.extend((text.len() as u16).to_le_bytes()),
			_ => bytes.extend((text.len() as u32).to_le_bytes()),
		}
		bytes.extend(text.as_bytes());
		bytes
	}

	fn read(bytes: &[u8]) -> Result<Header, String> {
		match header(&mut &bytes[..]) {
			Ok((header, length)) => {
				assert_eq!(length, bytes.len() as u64);
				Ok(header)
			}
			Err(HeaderError::Io(error)) => Err(error.to_string()),
			Err(HeaderError::Wrong(what)) => Err(what),
		}
	}

	#[test]
	fn headers_of_every_version_and_spelling() {
		for (version, text, kind, big_endian, shape) in [
			(
				1,
				"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n",
				Kind::F32,
				false,
				vec![3, 4],
			),
			(
				2,
				"{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 28, 28), }\n",
				Kind::U8,
				false,
				vec![60_000, 28, 28],
			),
			(
				3,
				"{\"shape\":(7,),\"descr\":\">i8\",\"fortran_order\":True}",
				Kind::I64,
				true,
				vec![7],
			),
			(1, "{'descr': '<u8', 'fortran_order': False, 'shape': ()}", Kind::U64, false, vec![]),
			(
				1,
				"{'shape': (5, 1), 'fortran_order': False, 'descr': '>f8'}",
				Kind::F64,
				true,
				vec![5, 1],
			),
		] {
			let expected = Header { element: Element { kind, big_endian }, shape };
			assert_eq!(read(&npy(version, text)), Ok(expected), "{text}");
		}
	}

	#[test]
	fn wrong_headers_are_named() {
		let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
		for (from, to, what) in [
			("<f4", "<f2", "\"<f2\""),
			("<f4", "|f4", "\"|f4\""),
			("<f4", "=f4", "\"=f4\""),
			("<f4", "<c8", "\"<c8\""),
			("<f4", "|O", "\"|O\""),
			("<f4", "é4", "\"é4\""),
			("'<f4'", "[('a', '<f4')]", "records"),
			("False", "True", "ascontiguousarray"),
			("False", "0", "\"False\" was expected"),
			("(3, 4)", "(3, -4)", "\"\" is not an extent"),
			("(3, 4)", "(3, 99999999999999999999)", "is not an extent"),
			("(3, 4)", "(3, 4", "\"\" is not an extent"),
			("(3, 4)", "[3, 4]", "\"(\" was expected"),
			("shape", "shapes", "no key \"shapes\""),
			("'shape': (3, 4), ", "", "lacks"),
			("'shape'", "'descr': '<f4', 'shape'", "twice"),
			("}", "} x", "behind"),
			("{", "", "\"{\" was expected"),
		] {
			let error = read(&npy(1, &good.replacen(from, to, 1))).unwrap_err();
			assert!(error.contains(what), "{to}: {error}");
		}
		let many = format!("({})", "1, ".repeat(65));
		assert!(read(&npy(1, &good.replace("(3, 4)", &many))).unwrap_err().contains("dimensions"));
		assert!(read(&npy(4, good)).unwrap_err().contains("version 4"));
		assert!(read(b"\x93NUMPX\x01\x00\x00\x00").unwrap_err().contains("no NumPy array"));
		// A length is believed only as far as there are bytes.
		let mut long = npy(2, good);
		long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
		assert!(read(&long).unwrap_err().contains("4294967295 bytes"));
		long[8..12].copy_from_slice(&60_000u32.to_le_bytes());
		assert!(read(&long).is_err());
	}

	proptest! {
		#![proptest_config(ProptestConfig::with_cases(2_000))]

		#[test]
		fn any_header_is_read_or_refused(text in "[{}()':,a-z0-9 <|é-]{0,60}", version in 0u8..5) {
			let _ = header(&mut &npy(version, &text)[..]);
		}

		#[test]
		fn any_change_of_a_header_is_read_or_refused(
			at in 0usize..80, byte in any::<u8>(), cut in 0usize..90,
		) {
			let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }  \n";
			let mut bytes = npy(1, text);
			let at = at % bytes.len();
			bytes[at] = byte;
			bytes.truncate(cut.max(at));
			let _ = header(&mut &bytes[..]);
		}
	}
}
