//! Files of tensors whose values are rounded to 16 or 8 bits.
//!
//! Tensors stand in the order of their types' width, the widest first, and then of their names, so that
//! each is aligned as its type needs; the header is JSON in that order, filled with spaces to a multiple
//! of 8 bytes. That is what the usual library writes, too, but here it is fixed. Files are read tensor by
//! tensor and block by block, never as a whole.

use super::{numbers, Encoding, EncodingError, Hashed, Header, BLOCK};
use safetensors::{tensor::Metadata, Dtype};
use serde_json::json;
use std::{
	collections::{BTreeMap, BTreeSet},
	fs::File,
	io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
	path::Path,
	str::FromStr,
};
use trainyard_protocol::{blob, H256};

/// What keys of our metadata begin with.
const OURS: &str = "trainyard.";
const ENCODING: &str = "trainyard.encoding";
const ROOT: &str = "trainyard.root";
const SIZE: &str = "trainyard.size";
const DECODED_ROOT: &str = "trainyard.decoded_root";
const DECODED_SIZE: &str = "trainyard.decoded_size";
/// The names of the tensors that were converted, as JSON.
const TENSORS: &str = "trainyard.tensors";
/// What the name of the scales of a tensor ends with.
const SCALES: &str = ".i8_scale";
/// Longest header that is read: what the usual library takes.
const LONGEST: u64 = 100_000_000;
/// Least length of a row that gets a scale of its own.
const ROW: u64 = 16;

/// A tensor as a header lists it.
#[derive(Clone, Debug)]
struct Entry {
	name: String,
	dtype: Dtype,
	shape: Vec<usize>,
	/// Where it begins in the file.
	begin: u64,
	bytes: u64,
}

impl Entry {
	fn elements(&self) -> u64 {
		(self.bytes * 8).checked_div(self.dtype.bitsize() as u64).unwrap_or_default()
	}

	/// The same tensor with elements of another type.
	fn with(&self, dtype: Dtype) -> Self {
		let bytes = self.elements() * (dtype.bitsize() as u64 / 8);
		Self { dtype, bytes, ..self.clone() }
	}

	/// How many rows it has, all with the same first index, and how many values each.
	fn rows(&self) -> (u64, u64) {
		let rows = self.shape.first().map_or(1, |rows| *rows as u64);
		(rows, self.elements().checked_div(rows).unwrap_or_default())
	}

	/// The scales of its rows.
	fn scales(&self) -> Self {
		let rows = self.rows().0;
		Self {
			name: format!("{}{SCALES}", self.name),
			dtype: Dtype::F32,
			shape: vec![rows as usize],
			begin: 0,
			bytes: rows.saturating_mul(4),
		}
	}

	/// Whether this encoding changes it.
	fn changes_by(&self, encoding: Encoding) -> bool {
		let has_rows = self.shape.len() >= 2 && self.rows().1 >= ROW;
		self.dtype == Dtype::F32 && (encoding != Encoding::I8 || has_rows)
	}
}

/// A file of tensors: what its header lists, in no order, and its metadata.
struct Listed {
	file: BufReader<File>,
	entries: BTreeMap<String, Entry>,
	notes: BTreeMap<String, String>,
}

impl Listed {
	/// Reads the header of a file.
	fn open(path: &Path) -> Result<Self, EncodingError> {
		let wrong = |what: &str| EncodingError::Format(what.into());
		let file = File::open(path)?;
		let length = file.metadata()?.len();
		let mut file = BufReader::with_capacity(BLOCK, file);
		let mut count = [0; 8];
		match file.read_exact(&mut count) {
			Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
				return Err(wrong("it has less than 8 bytes"));
			}
			read => read?,
		}
		let count = u64::from_le_bytes(count);
		let data = count.saturating_add(8);
		if count > LONGEST || data > length {
			return Err(wrong("its header would be longer than the file, or than 100 MB"));
		}
		let mut text = Vec::new();
		(&mut file).take(count).read_to_end(&mut text)?;
		let listed: Metadata =
			serde_json::from_slice(&text).map_err(|e| EncodingError::Format(e.to_string()))?;
		if data.saturating_add(listed.data_len() as u64) != length {
			return Err(wrong("it is longer or shorter than its header says"));
		}
		let entries = listed.tensors().into_iter().map(|(name, info)| {
			let (begin, end) = info.data_offsets;
			let (begin, bytes) = (data + begin as u64, (end - begin) as u64);
			let (dtype, shape) = (info.dtype, info.shape.clone());
			(name.clone(), Entry { name, dtype, shape, begin, bytes })
		});
		let entries = entries.collect();
		let notes = listed.metadata().clone().unwrap_or_default().into_iter().collect();
		Ok(Self { file, entries, notes })
	}

	/// Reads what the metadata say of an encoding.
	fn header(&self) -> Result<Option<Header>, EncodingError> {
		let Some(name) = self.notes.get(ENCODING) else { return Ok(None) };
		let encoding = Encoding::named(name).filter(|encoding| !encoding.is_lossless());
		let encoding = encoding
			.ok_or_else(|| EncodingError::Header(format!("it names the encoding {name:?}")))?;
		let wrong =
			|key: &str| EncodingError::Header(format!("{key} is not there, or no such thing"));
		let text = |key: &str| self.notes.get(key).map(String::as_str).ok_or_else(|| wrong(key));
		let root =
			|key: &str| H256::from_str(text(key)?.trim_start_matches("0x")).map_err(|_| wrong(key));
		let size = |key: &str| text(key)?.parse::<u64>().map_err(|_| wrong(key));
		Ok(Some(Header {
			encoding,
			root: root(ROOT)?,
			size: size(SIZE)?,
			decoded_root: root(DECODED_ROOT)?,
			decoded_size: size(DECODED_SIZE)?,
		}))
	}

	/// Reads a tensor block by block.
	fn read(
		&mut self,
		entry: &Entry,
		mut each: impl FnMut(&[u8]) -> Result<(), EncodingError>,
	) -> Result<(), EncodingError> {
		self.file.seek(SeekFrom::Start(entry.begin))?;
		let (mut left, mut block) = (entry.bytes, vec![0; BLOCK]);
		while left > 0 {
			let count = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
			let part = block.get_mut(..count).unwrap_or_default();
			self.file.read_exact(part)?;
			each(part)?;
			left -= count as u64;
		}
		Ok(())
	}

	/// Reads values of type F32 with their places.
	fn values(
		&mut self,
		entry: &Entry,
		mut each: impl FnMut(u64, f32) -> Result<(), EncodingError>,
	) -> Result<(), EncodingError> {
		let mut place = 0;
		self.read(entry, |block| {
			for bytes in block.chunks_exact(4) {
				each(place, f32::from_le_bytes(bytes.try_into().unwrap_or_default()))?;
				place += 1;
			}
			Ok(())
		})
	}
}

/// Sorts tensors into the order of a file.
fn ordered(mut entries: Vec<Entry>) -> Vec<Entry> {
	entries.sort_by(|a, b| {
		b.dtype.bitsize().cmp(&a.dtype.bitsize()).then_with(|| a.name.cmp(&b.name))
	});
	entries
}

/// Returns the bytes before the data of a file with these tensors, in this order.
fn head(notes: &BTreeMap<String, String>, entries: &[Entry]) -> io::Result<Vec<u8>> {
	let mut members = Vec::with_capacity(entries.len() + 1);
	let member = |key: &str, value: &str| -> io::Result<String> {
		Ok(format!("{}:{value}", serde_json::to_string(key)?))
	};
	if !notes.is_empty() {
		members.push(member("__metadata__", &serde_json::to_string(notes)?)?);
	}
	let mut begin = 0;
	for Entry { name, dtype, shape, bytes, .. } in entries {
		let (dtype, shape) = (serde_json::to_string(dtype)?, serde_json::to_string(shape)?);
		let end = begin + bytes;
		let value =
			format!(r#"{{"dtype":{dtype},"shape":{shape},"data_offsets":[{begin},{end}]}}"#);
		members.push(member(name, &value)?);
		begin = end;
	}
	let mut text = format!("{{{}}}", members.join(",")).into_bytes();
	text.resize(text.len().next_multiple_of(8), b' ');
	Ok([&(text.len() as u64).to_le_bytes()[..], &text].concat())
}

/// The metadata with a header and the names of what was converted.
fn notes(
	others: &BTreeMap<String, String>,
	header: &Header,
	converted: &BTreeSet<String>,
) -> io::Result<BTreeMap<String, String>> {
	let mut notes = others.clone();
	let ours = [
		(ENCODING, header.encoding.to_string()),
		(ROOT, format!("{:?}", header.root)),
		(SIZE, header.size.to_string()),
		(DECODED_ROOT, format!("{:?}", header.decoded_root)),
		(DECODED_SIZE, header.decoded_size.to_string()),
		(TENSORS, json!(converted).to_string()),
	];
	notes.extend(ours.map(|(key, value)| (key.to_owned(), value)));
	Ok(notes)
}

/// Returns what a file says of itself; `None` where it is no file of tensors, or not encoded.
pub(super) fn header(path: &Path) -> Result<Option<Header>, EncodingError> {
	match Listed::open(path) {
		Ok(listed) => listed.header(),
		Err(EncodingError::Format(_)) => Ok(None),
		Err(error) => Err(error),
	}
}

/// Encodes the tensors of `path` into the file `out`.
pub(super) fn encode(encoding: Encoding, path: &Path, out: &Path) -> Result<Header, EncodingError> {
	let mut source = Listed::open(path)?;
	if let Some(header) = source.header()? {
		return Err(EncodingError::Already(header.encoding));
	}
	if source.notes.keys().any(|key| key.starts_with(OURS)) {
		return Err(EncodingError::Header(format!("it has metadata that begin with {OURS:?}")));
	}
	let changed = |entry: &&Entry| entry.changes_by(encoding);
	let converted: BTreeSet<String> =
		source.entries.values().filter(changed).map(|entry| entry.name.clone()).collect();
	if converted.is_empty() {
		return Err(EncodingError::NothingToConvert(encoding));
	}
	let mut planned = Vec::new();
	for entry in source.entries.values() {
		match (converted.contains(&entry.name), encoding) {
			(false, _) => planned.push(entry.clone()),
			(true, Encoding::F16) => planned.push(entry.with(Dtype::F16)),
			(true, Encoding::Bf16) => planned.push(entry.with(Dtype::BF16)),
			(true, _) => {
				let scales = entry.scales();
				if source.entries.contains_key(&scales.name) {
					return Err(EncodingError::NameTaken(scales.name));
				}
				planned.extend([scales, entry.with(Dtype::I8)]);
			}
		}
	}
	let planned = ordered(planned);

	let size = std::fs::metadata(path)?.len();
	let root = blob::root_of_reader(File::open(path)?)?;
	let (decoded_root, decoded_size) = (H256::zero(), decoded_size(&source, &converted)?);
	let mut header = Header { encoding, root, size, decoded_root, decoded_size };
	let mut target = BufWriter::with_capacity(BLOCK, File::create(out)?);
	target.write_all(&head(&notes(&source.notes, &header, &converted)?, &planned)?)?;
	let mut scales = BTreeMap::new();
	for entry in &planned {
		let of = entry.name.strip_suffix(SCALES).filter(|name| converted.contains(*name));
		if let (Some(name), Encoding::I8) = (of, encoding) {
			let all = measured(&mut source, name)?;
			all.iter().try_for_each(|scale| target.write_all(&scale.to_le_bytes()))?;
			scales.insert(name.to_owned(), all);
		} else if converted.contains(&entry.name) {
			convert(&mut source, encoding, entry, scales.get(&entry.name), &mut target)?;
		} else {
			source.read(entry, |block| Ok(target.write_all(block)?))?;
		}
	}
	let mut file = target.into_inner().map_err(io::IntoInnerError::into_error)?;

	// What decoding gives is hashed, and its root, of the same length, takes its place.
	let mut sink = Hashed::new(io::sink());
	decode(out, &header, &mut sink)?;
	header.decoded_root = sink.root();
	file.seek(SeekFrom::Start(0))?;
	file.write_all(&head(&notes(&source.notes, &header, &converted)?, &planned)?)?;
	file.sync_all()?;
	Ok(header)
}

/// Returns the scales of the rows of a tensor.
fn measured(source: &mut Listed, name: &str) -> Result<Vec<f32>, EncodingError> {
	let Some(entry) = source.entries.get(name).cloned() else { return Ok(Vec::new()) };
	let (rows, length) = entry.rows();
	let mut most = vec![0f32; usize::try_from(rows).unwrap_or_default()];
	source.values(&entry, |place, value| {
		if !value.is_finite() {
			let (tensor, encoding) = (entry.name.clone(), Encoding::I8);
			return Err(EncodingError::Value { tensor, value, encoding });
		}
		let row = place.checked_div(length).and_then(|row| usize::try_from(row).ok());
		if let Some(most) = row.and_then(|row| most.get_mut(row)) {
			*most = most.max(value.abs());
		}
		Ok(())
	})?;
	Ok(most.into_iter().map(numbers::scale).collect())
}

/// Writes the rounded values of a tensor of the source.
fn convert(
	source: &mut Listed,
	encoding: Encoding,
	planned: &Entry,
	scales: Option<&Vec<f32>>,
	target: &mut impl Write,
) -> Result<(), EncodingError> {
	let Some(entry) = source.entries.get(&planned.name).cloned() else { return Ok(()) };
	let length = entry.rows().1;
	source.values(&entry, |place, value| {
		let bad = || EncodingError::Value { tensor: entry.name.clone(), value, encoding };
		match encoding {
			Encoding::F16 => {
				target.write_all(&numbers::to_f16(value).ok_or_else(bad)?.to_le_bytes())?;
			}
			Encoding::Bf16 => {
				target.write_all(&numbers::to_bf16(value).ok_or_else(bad)?.to_le_bytes())?;
			}
			Encoding::I8 | Encoding::Zstd => {
				let scale = scale_at(scales, place, length)?;
				let rounded = numbers::to_i8(value, scale);
				// 127 times the scale of the largest numbers is none.
				if !numbers::of_i8(rounded, scale).is_finite() {
					return Err(bad());
				}
				target.write_all(&rounded.to_le_bytes())?;
			}
		}
		Ok(())
	})
}

/// Returns the scale of the value at a place of a tensor with rows of this length.
fn scale_at(scales: Option<&Vec<f32>>, place: u64, length: u64) -> Result<f32, EncodingError> {
	let row = place.checked_div(length).and_then(|row| usize::try_from(row).ok());
	let scale = row.and_then(|row| scales?.get(row).copied());
	scale.ok_or_else(|| EncodingError::Header("a row has no scale".into()))
}

/// Returns the tensors that decoding gives, in their order, and the metadata that are not ours.
fn decoded(
	listed: &Listed,
	converted: &BTreeSet<String>,
) -> (Vec<Entry>, BTreeMap<String, String>) {
	let mut entries = Vec::new();
	for entry in listed.entries.values() {
		let of = entry.name.strip_suffix(SCALES).filter(|name| converted.contains(*name));
		let is_i8 =
			of.and_then(|name| listed.entries.get(name)).map(|of| of.dtype) == Some(Dtype::I8);
		if !is_i8 {
			let is_converted = converted.contains(&entry.name);
			entries.push(if is_converted { entry.with(Dtype::F32) } else { entry.clone() });
		}
	}
	let mut notes = listed.notes.clone();
	notes.retain(|key, _| !key.starts_with(OURS));
	(ordered(entries), notes)
}

/// Returns the length of what decoding gives.
fn decoded_size(listed: &Listed, converted: &BTreeSet<String>) -> Result<u64, EncodingError> {
	let (entries, notes) = decoded(listed, converted);
	let data = entries.iter().fold(0u64, |sum, entry| sum.saturating_add(entry.bytes));
	Ok(data.saturating_add(head(&notes, &entries)?.len() as u64))
}

/// Decodes `path` into `sink`, never more than the header says.
pub(super) fn decode(
	path: &Path,
	header: &Header,
	sink: &mut Hashed<impl Write>,
) -> Result<(), EncodingError> {
	let mut source = Listed::open(path)?;
	let names = source.notes.get(TENSORS).map_or("", String::as_str);
	let converted: BTreeSet<String> = serde_json::from_str(names)
		.map_err(|e| EncodingError::Header(format!("{TENSORS} is no list of names: {e}")))?;
	let wanted = match header.encoding {
		Encoding::F16 => Dtype::F16,
		Encoding::Bf16 => Dtype::BF16,
		Encoding::I8 | Encoding::Zstd => Dtype::I8,
	};
	let wrong = |name: &str, what: &str| EncodingError::Header(format!("tensor {name:?} {what}"));
	for name in &converted {
		let entry = source.entries.get(name).ok_or_else(|| wrong(name, "is not there"))?;
		if entry.dtype != wanted {
			return Err(wrong(name, &format!("is of type {}, not {wanted}", entry.dtype)));
		}
		if wanted == Dtype::I8 {
			let scales = entry.scales();
			let found = source.entries.get(&scales.name);
			let found =
				found.filter(|found| (found.dtype, &found.shape) == (Dtype::F32, &scales.shape));
			found.ok_or_else(|| wrong(name, "has no scales, or others than its rows"))?;
		}
	}
	let length = EncodingError::Length { size: header.decoded_size };
	if decoded_size(&source, &converted)? != header.decoded_size {
		return Err(length);
	}
	let (entries, notes) = decoded(&source, &converted);
	sink.write_all(&head(&notes, &entries)?)?;
	for entry in &entries {
		// Where it stands in the file.
		let Some(entry) = source.entries.get(&entry.name).cloned() else { continue };
		if !converted.contains(&entry.name) {
			source.read(&entry, |block| Ok(sink.write_all(block)?))?;
			continue;
		}
		let mut scales = Vec::new();
		if wanted == Dtype::I8 {
			if let Some(listed) = source.entries.get(&entry.scales().name).cloned() {
				source.values(&listed, |_, scale| {
					scales.push(scale);
					Ok(())
				})?;
			}
		}
		let (row, mut place, mut out) = (entry.rows().1, 0, Vec::with_capacity(4 * BLOCK));
		source.read(&entry, |block| {
			out.clear();
			if wanted == Dtype::I8 {
				for byte in block {
					let scale = scale_at(Some(&scales), place, row)?;
					out.extend(numbers::of_i8(i8::from_le_bytes([*byte]), scale).to_le_bytes());
					place += 1;
				}
			} else {
				for pair in block.chunks_exact(2) {
					let bits = u16::from_le_bytes(pair.try_into().unwrap_or_default());
					let value = match wanted {
						Dtype::F16 => numbers::of_f16(bits),
						_ => numbers::of_bf16(bits),
					};
					out.extend(value.to_le_bytes());
				}
			}
			Ok(sink.write_all(&out)?)
		})?;
	}
	Ok(())
}
