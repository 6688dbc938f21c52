//! What the footer of a Parquet file says: its columns, and where their numbers are.

use super::{
	super::number::Kind,
	thrift::{Field, Reader, Result},
};
use std::fmt::Write;

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
	/// Its name, as it may be shown.
	pub name: String,
	/// Its numbers, of 4 or 8 bytes, little endian.
	pub kind: Kind,
	/// Whether the file says of each whether it is there.
	pub optional: bool,
}

/// What compresses pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
	None,
	Snappy,
	Gzip,
	Zstd,
}

/// The numbers of a column in a group of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
	pub codec: Codec,
	/// How many they are.
	pub values: u64,
	/// Where their pages begin in the file.
	pub offset: u64,
	/// Bytes of these.
	pub bytes: u64,
}

/// Rows whose columns lie one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
	pub rows: u64,
	pub chunks: Vec<Chunk>,
}

/// What the footer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Footer {
	pub columns: Vec<Column>,
	pub rows: u64,
	pub groups: Vec<Group>,
}

/// Most bytes of a name that are shown.
const NAME: usize = 60;

/// Says what is wrong with a footer.
pub(super) type Wrong = String;

/// An element of the schema.
#[derive(Default)]
struct Element {
	physical: Option<i64>,
	repetition: Option<i64>,
	name: String,
	children: i64,
	converted: Option<i64>,
	logical: Option<Logical>,
}

/// What the numbers of a column mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Logical {
	Integer { signed: bool },
	Other,
}

/// A number of the file that is no negative one.
fn count(value: i64) -> Result<u64> {
	u64::try_from(value).map_err(|_| "a length in it is negative")
}

impl Footer {
	/// Reads a footer of a file whose pages lie before byte `end`. `most` is the most columns.
	pub(super) fn read(bytes: &[u8], end: u64, most: usize) -> std::result::Result<Self, Wrong> {
		let damaged = |why: &str| format!("its footer cannot be read: {why}");
		let mut reader = Reader::new(bytes);
		let (mut elements, mut groups, mut rows) = (Vec::new(), Vec::new(), None);
		reader
			.fields(|reader, field| {
				match field.id {
					2 => reader.structs(field, |reader| {
						// One more is the root.
						if elements.len() > most {
							return Err("it has too many columns");
						}
						elements.push(element(reader)?);
						Ok(())
					})?,
					3 => rows = Some(count(reader.integer(field)?)?),
					4 => reader.structs(field, |reader| {
						groups.push(group(reader, elements.len().saturating_sub(1))?);
						Ok(())
					})?,
					_ => return Ok(false),
				}
				Ok(true)
			})
			.map_err(damaged)?;
		let rows = rows.ok_or_else(|| damaged("it says no number of rows"))?;
		let columns = columns(elements)?;
		for group in &groups {
			let complete = group.chunks.len() == columns.len()
				&& group.chunks.iter().all(|chunk| chunk.values == group.rows);
			if !complete {
				return Err(damaged(
					"a group of rows does not have a number of each column for each row",
				));
			}
			let inside =
				|chunk: &Chunk| chunk.offset.checked_add(chunk.bytes).is_some_and(|to| to <= end);
			if !group.chunks.iter().all(|chunk| chunk.offset >= 4 && inside(chunk)) {
				return Err(
					"its footer names pages that lie outside of it: the file was cut or damaged"
						.into(),
				);
			}
		}
		// Pages that many groups share would be read for each of them.
		let chunks = groups.iter().flat_map(|group| &group.chunks);
		let bytes = chunks.fold(0u64, |sum, chunk| sum.saturating_add(chunk.bytes));
		if bytes > end {
			return Err(format!(
				"its footer names {bytes} bytes of pages, and {end} are there: it was damaged, or made so that \
				 reading it takes long"
			));
		}
		let sum = groups.iter().try_fold(0u64, |sum, group| sum.checked_add(group.rows));
		match sum == Some(rows) {
			true => Ok(Self { columns, rows, groups }),
			false => Err(damaged("its groups have another number of rows than it")),
		}
	}
}

fn element(reader: &mut Reader<'_>) -> Result<Element> {
	let mut found = Element::default();
	reader.fields(|reader, field| {
		match field.id {
			1 => found.physical = Some(reader.integer(field)?),
			3 => found.repetition = Some(reader.integer(field)?),
			4 => found.name = shown(reader.binary(field)?),
			5 => found.children = reader.integer(field)?,
			6 => found.converted = Some(reader.integer(field)?),
			10 => found.logical = Some(logical(reader, field)?),
			_ => return Ok(false),
		}
		Ok(true)
	})?;
	Ok(found)
}

fn logical(reader: &mut Reader<'_>, field: Field) -> Result<Logical> {
	let mut found = Logical::Other;
	reader.inner(field, |reader, field| {
		if field.id != 10 {
			return Ok(false);
		}
		let mut signed = true;
		reader.inner(field, |reader, field| match field.id {
			2 => {
				signed = reader.boolean(field)?;
				Ok(true)
			}
			_ => Ok(false),
		})?;
		found = Logical::Integer { signed };
		Ok(true)
	})?;
	Ok(found)
}

/// Returns a name as a terminal may show it: strangers choose it.
fn shown(name: &[u8]) -> String {
	let name = String::from_utf8_lossy(name.get(..NAME).unwrap_or(name));
	let mut out = String::new();
	// Writing to a String cannot fail.
	let _ = write!(out, "{name:?}");
	out
}

/// Returns the columns of a schema, all of which must be numbers.
fn columns(elements: Vec<Element>) -> std::result::Result<Vec<Column>, Wrong> {
	let mut elements = elements.into_iter();
	let root = elements.next().ok_or("its footer has no schema")?;
	let columns: Vec<_> = elements.map(column).collect::<std::result::Result<_, Wrong>>()?;
	match u64::try_from(root.children) == Ok(columns.len() as u64) {
		true => Ok(columns),
		false => Err("its footer says another number of columns than it describes".into()),
	}
}

fn column(element: Element) -> std::result::Result<Column, Wrong> {
	let Element { physical, repetition, name, children, converted, logical } = element;
	let refused = |what: &str| {
		Err(format!(
			"column {name} {what}; the columns of data are integers of 8, 16, 32 or 64 bits and floats \
			 of 32 or 64 bits, one number a row. Leave the column out, or write it as numbers"
		))
	};
	if children != 0 {
		return refused("has columns inside it");
	}
	let optional = match repetition {
		Some(0) => false,
		Some(1) => true,
		_ => return refused("holds lists"),
	};
	// Of a float only the type matters; an integer may say its width, and whether it has a sign.
	let unsigned = match (converted, logical) {
		(None | Some(15..=18), None | Some(Logical::Integer { signed: true })) => false,
		(None | Some(11..=14), Some(Logical::Integer { signed: false }))
		| (Some(11..=14), None) => true,
		_ => return refused("holds no plain numbers but dates, times, decimals or the like"),
	};
	let kind = match (physical, unsigned) {
		(Some(1), false) => Kind::I32,
		(Some(1), true) => Kind::U32,
		(Some(2), false) => Kind::I64,
		(Some(2), true) => Kind::U64,
		(Some(4), false) => Kind::F32,
		(Some(5), false) => Kind::F64,
		(Some(0), _) => return refused("holds true and false"),
		(Some(3), _) => return refused("holds times"),
		_ => return refused("holds text or bytes"),
	};
	Ok(Column { name, kind, optional })
}

fn group(reader: &mut Reader<'_>, columns: usize) -> Result<Group> {
	let mut found = Group { rows: 0, chunks: Vec::new() };
	reader.fields(|reader, field| {
		match field.id {
			1 => reader.structs(field, |reader| {
				if found.chunks.len() == columns {
					return Err("a group of rows has more columns than the schema");
				}
				found.chunks.push(chunk(reader)?);
				Ok(())
			})?,
			3 => found.rows = count(reader.integer(field)?)?,
			_ => return Ok(false),
		}
		Ok(true)
	})?;
	// Without columns it would take a byte in the file, and many here.
	match found.chunks.is_empty() {
		true => Err("a group of rows has no columns"),
		false => Ok(found),
	}
}

fn chunk(reader: &mut Reader<'_>) -> Result<Chunk> {
	let mut found = None;
	reader.fields(|reader, field| {
		match field.id {
			1 => return Err("its pages are in another file"),
			3 => found = Some(about_chunk(reader, field)?),
			8 | 9 => return Err("it is encrypted"),
			_ => return Ok(false),
		}
		Ok(true)
	})?;
	found.ok_or("a column does not say where its pages are")
}

fn about_chunk(reader: &mut Reader<'_>, field: Field) -> Result<Chunk> {
	let (mut codec, mut values, mut bytes) = (None, None, None);
	let (mut data, mut dictionary) = (None, None);
	reader.inner(field, |reader, field| {
		let into = match field.id {
			4 => &mut codec,
			5 => &mut values,
			7 => &mut bytes,
			9 => &mut data,
			11 => &mut dictionary,
			_ => return Ok(false),
		};
		*into = Some(count(reader.integer(field)?)?);
		Ok(true)
	})?;
	let missing = "a column does not say how many numbers it has, or where";
	let data = data.ok_or(missing)?;
	Ok(Chunk {
		codec: match codec.ok_or(missing)? {
			0 => Codec::None,
			1 => Codec::Snappy,
			2 => Codec::Gzip,
			6 => Codec::Zstd,
			_ => return Err(
				"it is compressed by LZO, Brotli or LZ4: none, Snappy, gzip and zstd can be read",
			),
		},
		values: values.ok_or(missing)?,
		// Some writers say 0 where there is no dictionary.
		offset: dictionary.filter(|at| (4..data).contains(at)).unwrap_or(data),
		bytes: bytes.ok_or(missing)?,
	})
}
