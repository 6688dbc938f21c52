//! safetensors files with the tensors `x` and `y`: the length of a header as a little-endian
//! u64, the header in JSON, the tensors, little endian.

use super::{
	array::{wrong, Array, Header, Pair},
	gzip::TooMuch,
	number::{Element, Kind, KINDS},
	DataError,
};
use safetensors::{tensor::Metadata, Dtype};
use std::{
	fs::File,
	io::{BufReader, Read, Seek, SeekFrom},
	path::Path,
};
use trainyard_program::spec::Extent;

/// Longest header that is read, in bytes.
const MAX_HEADER: u64 = 1 << 20;

/// Opens the rows of the tensors `x` and `y` in the file at `path`.
pub(super) fn open(path: &Path, declared: Option<Extent>) -> Result<Pair, DataError> {
	let failed = |error| DataError::reading(path, None, error);
	let mut file = File::open(path).map_err(failed)?;
	let all = file.metadata().map_err(failed)?.len();
	let mut length = [0; 8];
	file.read_exact(&mut length).map_err(failed)?;
	let length = u64::from_le_bytes(length);
	if length > MAX_HEADER || length > all.saturating_sub(8) {
		let what = format!(
			"it says that its header has {length} bytes; a safetensors file of data has at most \
			 {MAX_HEADER}, and no more than the file"
		);
		return Err(wrong(path, None, what));
	}
	let mut header = vec![0; length as usize];
	file.read_exact(&mut header).map_err(failed)?;
	// Checks that the tensors follow each other without gaps and are as long as their shapes say.
	let header: Metadata = serde_json::from_slice(&header).map_err(|error| {
		wrong(path, None, format!("its header is not one of a safetensors file: {error}"))
	})?;
	let tensors = all - 8 - length;
	if header.data_len() as u64 != tensors {
		let what = format!(
			"its header says {} bytes of tensors, but {tensors} follow: the file was cut or \
			 damaged; fetch or write it again",
			header.data_len()
		);
		return Err(wrong(path, None, what));
	}
	let tensor = |name| tensor(path, &header, 8 + length, name, declared);
	Pair::new(tensor("x")?, tensor("y")?)
}

fn tensor(
	path: &Path,
	header: &Metadata,
	begin: u64,
	name: &str,
	declared: Option<Extent>,
) -> Result<Array, DataError> {
	let failed = |error| DataError::reading(path, Some(name), error);
	let Some(info) = header.info(name) else {
		let mut names = header.offset_keys();
		names.truncate(8);
		let what = format!(
			"it has no tensor {name:?}; the inputs are called x and the labels y. Its first \
			 tensors: {}",
			names.join(", ")
		);
		return Err(wrong(path, None, what));
	};
	let kind = match info.dtype {
		Dtype::U8 => Kind::U8,
		Dtype::I8 => Kind::I8,
		Dtype::U16 => Kind::U16,
		Dtype::I16 => Kind::I16,
		Dtype::U32 => Kind::U32,
		Dtype::I32 => Kind::I32,
		Dtype::U64 => Kind::U64,
		Dtype::I64 => Kind::I64,
		Dtype::F32 => Kind::F32,
		Dtype::F64 => Kind::F64,
		other => {
			let what = format!("its numbers are {other:?}; {KINDS} can be read");
			return Err(wrong(path, Some(name), what));
		}
	};
	let (from, to) = info.data_offsets;
	let length = (to - from) as u64;
	TooMuch::check(length, declared).map_err(failed)?;
	let mut file = File::open(path).map_err(failed)?;
	file.seek(SeekFrom::Start(begin + from as u64)).map_err(failed)?;
	let reader = Box::new(BufReader::with_capacity(1 << 16, file.take(length)));
	let shape = info.shape.iter().map(|extent| *extent as u64).collect();
	let header = Header { element: Element { kind, big_endian: false }, shape };
	Array::new(path, Some(name), header, Some(length), reader)
}
