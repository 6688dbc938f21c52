//! Files compressed by zstd, with their header in a skippable frame before the compressed one.

use super::{Encoding, EncodingError, Hashed, Header, BLOCK};
use serde::{Deserialize, Serialize};
use std::{
	fs::File,
	io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
	path::Path,
};
use trainyard_protocol::H256;

/// The first bytes of a frame that readers of zstd pass over.
const SKIPPABLE: [u8; 4] = 0x184d_2a50u32.to_le_bytes();
/// What the header calls itself.
const FORMAT: &str = "trainyard/encoded/v1";
/// Most bytes of a header.
const LONGEST: u32 = 4_096;
/// How hard zstd tries.
const LEVEL: i32 = 3;
/// A reader needs 2 to this power bytes of memory at most.
const WINDOW_LOG: u32 = 27;

/// The header as it is written. Its length does not depend on the root.
#[derive(Serialize, Deserialize)]
struct Written {
	format: String,
	encoding: String,
	root: H256,
	size: u64,
}

/// Returns the frame with the header.
fn frame(root: H256, size: u64) -> io::Result<Vec<u8>> {
	let (format, encoding) = (FORMAT.to_owned(), Encoding::Zstd.name().to_owned());
	let text = serde_json::to_vec(&Written { format, encoding, root, size })?;
	let length = u32::try_from(text.len()).map_err(io::Error::other)?;
	Ok([&SKIPPABLE[..], &length.to_le_bytes(), &text].concat())
}

/// Compresses `file` into `out`.
pub(super) fn encode(file: &Path, out: &Path) -> Result<Header, EncodingError> {
	let source = File::open(file)?;
	let size = source.metadata()?.len();
	let mut target = BufWriter::with_capacity(BLOCK, File::create(out)?);
	// The root is known when all is read; its place is kept.
	target.write_all(&frame(H256::zero(), size)?)?;
	let mut encoder = zstd::stream::write::Encoder::new(target, LEVEL)?;
	encoder.include_checksum(true)?;
	encoder.set_pledged_src_size(Some(size))?;
	let mut source = Hashed::new(source);
	let mut block = vec![0; BLOCK];
	loop {
		let count = source.read(&mut block)?;
		match block.get(..count) {
			Some(read) if count > 0 => encoder.write_all(read)?,
			_ => break,
		}
	}
	if source.count() != size {
		return Err(
			io::Error::new(io::ErrorKind::InvalidData, "it changed while it was read").into()
		);
	}
	let root = source.root();
	let mut done = encoder.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
	done.seek(SeekFrom::Start(0))?;
	done.write_all(&frame(root, size)?)?;
	done.sync_all()?;
	let encoding = Encoding::Zstd;
	Ok(Header { encoding, root, size, decoded_root: root, decoded_size: size })
}

/// Returns what a file says of itself; `None` where it does not begin with such a header.
pub(super) fn header(file: &Path) -> Result<Option<Header>, EncodingError> {
	Ok(opened(file)?.map(|(header, _)| header))
}

/// Reads the header. Returns it with the file, of which what is compressed comes next.
fn opened(path: &Path) -> Result<Option<(Header, File)>, EncodingError> {
	let mut file = File::open(path)?;
	let mut start = [0; 8];
	match file.read_exact(&mut start) {
		Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
		read => read?,
	}
	let [a, b, c, d, length @ ..] = start;
	let length = u32::from_le_bytes(length);
	if [a, b, c, d] != SKIPPABLE || length > LONGEST {
		return Ok(None);
	}
	let mut text = Vec::new();
	(&mut file).take(length.into()).read_to_end(&mut text)?;
	// Others may have frames of this kind for other things.
	let Ok(Written { format, encoding, root, size }) = serde_json::from_slice(&text) else {
		return Ok(None);
	};
	if format != FORMAT {
		return Ok(None);
	}
	if Encoding::named(&encoding) != Some(Encoding::Zstd) {
		return Err(EncodingError::Header(format!("it names the encoding {encoding:?}")));
	}
	let encoding = Encoding::Zstd;
	Ok(Some((Header { encoding, root, size, decoded_root: root, decoded_size: size }, file)))
}

/// Decompresses `file` into `sink`, never more than the header says.
pub(super) fn decode(
	file: &Path,
	header: &Header,
	sink: &mut Hashed<impl Write>,
) -> Result<(), EncodingError> {
	let (_, file) = opened(file)?.ok_or(EncodingError::NotEncoded)?;
	let source = BufReader::with_capacity(BLOCK, file);
	let mut decoder = zstd::stream::read::Decoder::with_buffer(source)?.single_frame();
	decoder.window_log_max(WINDOW_LOG)?;
	let length = EncodingError::Length { size: header.decoded_size };
	let mut block = vec![0; BLOCK];
	loop {
		let count = decoder.read(&mut block)?;
		let Some(read) = block.get(..count).filter(|read| !read.is_empty()) else { break };
		if sink.count().saturating_add(count as u64) > header.decoded_size {
			return Err(length);
		}
		sink.write_all(read)?;
	}
	if sink.count() != header.decoded_size {
		return Err(length);
	}
	match decoder.finish().fill_buf()?.is_empty() {
		true => Ok(()),
		false => Err(EncodingError::Header("something stands after what is compressed".into())),
	}
}
