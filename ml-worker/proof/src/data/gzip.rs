//! Reads files that may be compressed by gzip (RFC 1952); their first two bytes show it.

use flate2::bufread::MultiGzDecoder;
use std::{
	fs::File,
	io::{self, BufRead, BufReader, Read},
	path::Path,
};

/// First bytes of a gzip file. No CSV and no IDX file begins with them.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Returns the bytes of the file at `path`, decompressed if it is compressed, and its length if it
/// is not. They are a stream, so that a file that decompresses to far more than it should takes no
/// more memory than any other.
pub(super) fn open(path: &Path) -> io::Result<(Box<dyn Read>, Option<u64>)> {
	let file = File::open(path)?;
	let length = file.metadata()?.len();
	let mut reader = BufReader::with_capacity(1 << 16, file);
	match reader.fill_buf()?.starts_with(&MAGIC) {
		true => Ok((Box::new(MultiGzDecoder::new(reader)), None)),
		false => Ok((Box::new(reader), Some(length))),
	}
}
