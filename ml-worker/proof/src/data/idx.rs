//! IDX files, as of MNIST (LeCun, Cortes and Burges 1998): two zero bytes, the type of the
//! numbers, how many dimensions, the extents as big-endian u32, and the numbers, big endian.
//! Inputs and labels are two files.

use super::{
	array::{wrong, Array, Header, Pair},
	gzip,
	number::{Element, Kind},
	DataError,
};
use std::{
	io::{BufReader, Read},
	path::Path,
};
use trainyard_program::spec::Extent;

/// Opens the rows of the inputs at `data` and the labels at `labels`. No more is read than rows of
/// the `declared` shape may take.
pub(super) fn open(
	data: &Path,
	labels: &Path,
	declared: Option<Extent>,
) -> Result<Pair, DataError> {
	Pair::new(array(data, declared)?, array(labels, declared)?)
}

fn array(path: &Path, declared: Option<Extent>) -> Result<Array, DataError> {
	let failed = |error| DataError::reading(path, None, error);
	let (reader, length) = gzip::open(path, declared).map_err(failed)?;
	let mut reader = BufReader::with_capacity(1 << 16, reader);
	let mut begin = [0; 4];
	reader.read_exact(&mut begin).map_err(failed)?;
	let [0, 0, kind, dimensions] = begin else {
		return Err(wrong(path, None, "it is no IDX file: those begin with two zero bytes".into()));
	};
	let kind = match kind {
		0x08 => Kind::U8,
		0x09 => Kind::I8,
		0x0b => Kind::I16,
		0x0c => Kind::I32,
		0x0d => Kind::F32,
		0x0e => Kind::F64,
		other => {
			let what = format!("it is no IDX file: there is no type of numbers {other:#04x}");
			return Err(wrong(path, None, what));
		}
	};
	let mut shape = Vec::new();
	for _ in 0..dimensions {
		let mut extent = [0; 4];
		reader.read_exact(&mut extent).map_err(failed)?;
		shape.push(u64::from(u32::from_be_bytes(extent)));
	}
	let length = length.map(|length| length.saturating_sub(4 + 4 * u64::from(dimensions)));
	let header = Header { element: Element { kind, big_endian: true }, shape };
	Array::new(path, None, header, length, Box::new(reader))
}
