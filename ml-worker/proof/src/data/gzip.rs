//! Reads files that may be compressed by gzip (RFC 1952); their first two bytes show it.

use flate2::bufread::MultiGzDecoder;
use std::{
	fs::File,
	io::{self, BufRead, BufReader, ErrorKind, Read},
	path::Path,
};
use trainyard_program::spec::{Extent, FILE_BYTES, HEADER_BYTES};

/// First bytes of a gzip file. No CSV and no IDX file begins with them.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Says that a file has more bytes, once decompressed, than rows of the declared shape may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
	"it has more than {most} bytes once decompressed, the most for {rows} rows of {features} inputs \
	 and a label (dataset.train_rows + dataset.validation_rows, dataset.features): {FILE_BYTES} for \
	 each number of these rows and of one more, and {HEADER_BYTES}. Write it without padding and with \
	 fewer digits",
	most = .0.file_bytes(), rows = .0.rows, features = .0.features
)]
pub(super) struct TooMuch(Extent);

impl TooMuch {
	/// Fails if `bytes` are more than rows of this `declared` shape may take; without a declaration
	/// any number is allowed.
	pub(super) fn check(bytes: u64, declared: Option<Extent>) -> io::Result<()> {
		match declared {
			Some(declared) if bytes > declared.file_bytes() => Err(Self(declared).into()),
			_ => Ok(()),
		}
	}

	/// Says it of rows of this shape.
	#[cfg(feature = "parquet")]
	pub(super) fn of_shape(declared: Extent) -> Self {
		Self(declared)
	}

	/// Returns this as the reason of `error`, if it is.
	pub(super) fn of(error: &io::Error) -> Option<Self> {
		error.get_ref()?.downcast_ref::<Self>().copied()
	}
}

impl From<TooMuch> for io::Error {
	fn from(error: TooMuch) -> Self {
		Self::new(ErrorKind::InvalidData, error)
	}
}

/// Reads from `inner`, and fails where more comes than rows of the `declared` shape may take.
struct Bounded<R> {
	inner: R,
	declared: Extent,
	read: u64,
}

impl<R: Read> Read for Bounded<R> {
	fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
		let read = self.inner.read(buffer)?;
		self.read = self.read.saturating_add(read as u64);
		TooMuch::check(self.read, Some(self.declared))?;
		Ok(read)
	}
}

/// Returns the bytes of the file at `path`, decompressed if it is compressed, and its length if it
/// is not. They are a stream, so that a file that decompresses to far more than it should takes no
/// more memory than any other, and it ends with [`TooMuch`] where the `declared` rows allow no more.
pub(super) fn open(
	path: &Path,
	declared: Option<Extent>,
) -> io::Result<(Box<dyn Read>, Option<u64>)> {
	let file = File::open(path)?;
	let length = file.metadata()?.len();
	let mut reader = BufReader::with_capacity(1 << 16, file);
	if !reader.fill_buf()?.starts_with(&MAGIC) {
		TooMuch::check(length, declared)?;
		return Ok((Box::new(reader), Some(length)));
	}
	let inner = MultiGzDecoder::new(reader);
	Ok(match declared {
		Some(declared) => (Box::new(Bounded { inner, declared, read: 0 }), None),
		None => (Box::new(inner), None),
	})
}
