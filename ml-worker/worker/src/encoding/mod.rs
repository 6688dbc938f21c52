//! Files in another form: compressed by zstd, or with tensors of 16 or 8 bits.
//!
//! An encoded file says by itself what it is: its [`Header`] names the encoding, root and length of the
//! file that was encoded, and root and length of what decoding gives, by which that is checked.
//!
//! - [`Encoding::Zstd`] loses nothing. The header is a skippable frame before the compressed one, so any
//!   program that reads zstd reads the file.
//! - [`Encoding::F16`], [`Encoding::Bf16`] and [`Encoding::I8`] round the tensors of type F32 of a
//!   safetensors file by the rules of [`numbers`]. The result is a safetensors file whose metadata hold the
//!   header, so any library reads it.
//!
//! The same file gives the same bytes on every machine; those of zstd are of one release of its library.

pub mod numbers;
mod packed;
mod tensors;

use std::{
	ffi::OsString,
	fmt,
	fs::File,
	io::{self, BufWriter, Read, Write},
	path::{Path, PathBuf},
};
use trainyard_protocol::{blob, H256};

/// Bytes that are read or written at once.
const BLOCK: usize = 256 * 1024;

/// A form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Encoding {
	/// Compressed by zstd; nothing is lost
	Zstd,
	/// Tensors of IEEE 754's binary16: 11 digits of two, up to 65,504
	F16,
	/// Tensors of bfloat16: 8 digits of two, the range of F32
	Bf16,
	/// Tensors of integers of 8 bits, with a scale for each row
	I8,
}

impl Encoding {
	/// Returns its name in headers and on the command line.
	pub fn name(self) -> &'static str {
		match self {
			Self::Zstd => "zstd",
			Self::F16 => "f16",
			Self::Bf16 => "bf16",
			Self::I8 => "i8",
		}
	}

	/// Returns the encoding of this name.
	pub fn named(name: &str) -> Option<Self> {
		[Self::Zstd, Self::F16, Self::Bf16, Self::I8].into_iter().find(|one| one.name() == name)
	}

	/// Returns whether decoding gives the very file that was encoded.
	pub fn is_lossless(self) -> bool {
		self == Self::Zstd
	}

	/// Returns the usual name of what encoding `file` gives: `model.zst` beside `model`,
	/// `model.f16.safetensors` beside `model.safetensors`.
	pub fn name_of(self, file: &Path) -> PathBuf {
		match self {
			Self::Zstd => with_end(file, ".zst"),
			_ => within(file, self.name()),
		}
	}
}

impl fmt::Display for Encoding {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(self.name())
	}
}

/// What an encoded file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
	/// How it is encoded.
	pub encoding: Encoding,
	/// Root of the file that was encoded.
	pub root: H256,
	/// Its length in bytes.
	pub size: u64,
	/// Root of the file that decoding gives; the same where nothing is lost.
	pub decoded_root: H256,
	/// Its length in bytes.
	pub decoded_size: u64,
}

/// Says why a file cannot be encoded or decoded.
#[derive(Debug, thiserror::Error)]
pub enum EncodingError {
	/// A file cannot be read or written.
	#[error(transparent)]
	Io(#[from] io::Error),
	/// There is nothing to encode.
	#[error("the file is empty")]
	Empty,
	/// It is no file of tensors.
	#[error("it is not a whole safetensors file: {0}")]
	Format(String),
	/// It has an encoding.
	#[error("it is encoded as {0} already: decode it first, or compress it by zstd")]
	Already(Encoding),
	/// No tensor would be converted.
	#[error("it has no tensor that {0} would make smaller: such are of type F32, and for i8 have rows of 16 values or more")]
	NothingToConvert(Encoding),
	/// A tensor has the name that a scale would have.
	#[error("it has a tensor {0}, which is the name of the scales of another one")]
	NameTaken(String),
	/// A value that cannot be rounded.
	#[error("tensor {tensor} has the value {value}, and {encoding} takes none but finite values of its range{}", match encoding { Encoding::F16 => " (up to 65,504): try bf16", _ => "" })]
	Value {
		/// Which tensor.
		tensor: String,
		/// The value.
		value: f32,
		/// What it was to be encoded as.
		encoding: Encoding,
	},
	/// It is no encoded file.
	#[error("it is not encoded: it has no header of `trainyard model encode`. A file of plain zstd is unpacked by `zstd -d`")]
	NotEncoded,
	/// What it says of itself cannot be.
	#[error("its header is wrong: {0}")]
	Header(String),
	/// Decoding would give more than is taken.
	#[error("decoding gives {size} bytes, more than the {limit} that are taken: allow more by --max-gib")]
	TooLong {
		/// Length of what decoding would give.
		size: u64,
		/// What is taken.
		limit: u64,
	},
	/// Decoding gave something else than the header says.
	#[error("decoding gives a file with root {found:?}, and the header says {wanted:?}: the file is damaged, or its header false")]
	Root {
		/// What the header says.
		wanted: H256,
		/// What came out.
		found: H256,
	},
	/// Decoding gave fewer or more bytes than the header says.
	#[error("decoding does not give the {size} bytes that the header says: the file is damaged, or its header false")]
	Length {
		/// What the header says.
		size: u64,
	},
}

/// Encodes `file` into `out`, which is whole or not there. Returns the header.
///
/// # Errors
///
/// Fails where a file cannot be read or written, and where the encoding takes no such file or value.
pub fn encode(encoding: Encoding, file: &Path, out: &Path) -> Result<Header, EncodingError> {
	if std::fs::metadata(file)?.len() == 0 {
		return Err(EncodingError::Empty);
	}
	whole(out, |part| match encoding {
		Encoding::Zstd => packed::encode(file, part),
		_ => tensors::encode(encoding, file, part),
	})
}

/// Decodes `file` into `out`, which is whole or not there, and checks it by the header, which is returned.
/// Takes no more than `limit` bytes, whatever the header says.
///
/// # Errors
///
/// Fails where a file cannot be read or written, is not encoded, or gives other bytes than its header says.
pub fn decode(file: &Path, out: &Path, limit: u64) -> Result<Header, EncodingError> {
	let header = header(file)?.ok_or(EncodingError::NotEncoded)?;
	if header.decoded_size > limit {
		return Err(EncodingError::TooLong { size: header.decoded_size, limit });
	}
	whole(out, |part| {
		let mut sink = Hashed::new(BufWriter::with_capacity(BLOCK, File::create(part)?));
		match header.encoding {
			Encoding::Zstd => packed::decode(file, &header, &mut sink)?,
			_ => tensors::decode(file, &header, &mut sink)?,
		}
		let found = sink.root();
		sink.inner.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
		match found == header.decoded_root {
			true => Ok(header),
			false => Err(EncodingError::Root { wanted: header.decoded_root, found }),
		}
	})
}

/// Returns what a file says of itself; `None` where it is not encoded.
///
/// # Errors
///
/// Fails where it cannot be read, and where it has a header that is wrong.
pub fn header(file: &Path) -> Result<Option<Header>, EncodingError> {
	match packed::header(file)? {
		Some(header) => Ok(Some(header)),
		None => tensors::header(file),
	}
}

/// Has `work` make a file beside `out`, which its owner alone may read, and names it `out` when it is done; otherwise it
/// goes.
fn whole(
	out: &Path,
	work: impl FnOnce(&Path) -> Result<Header, EncodingError>,
) -> Result<Header, EncodingError> {
	// What it is made of may be readable by its owner alone.
	let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
	let part = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?.into_temp_path();
	let header = work(&part)?;
	part.persist(out).map_err(|e| e.error)?;
	Ok(header)
}

/// Returns the path with something behind its name.
pub fn with_end(path: &Path, end: &str) -> PathBuf {
	let mut name: OsString = path.as_os_str().to_owned();
	name.push(end);
	name.into()
}

/// Returns the path with a word before its extension: `model.f16.safetensors`.
pub fn within(path: &Path, word: &str) -> PathBuf {
	match path.extension().and_then(|end| end.to_str()) {
		Some(end) => path.with_extension(format!("{word}.{end}")),
		None => with_end(path, &format!(".{word}")),
	}
}

/// Hashes what goes through it.
struct Hashed<W> {
	inner: W,
	hasher: blake3::Hasher,
}

impl<W> Hashed<W> {
	fn new(inner: W) -> Self {
		Self { inner, hasher: blake3::Hasher::new() }
	}

	/// Bytes so far.
	fn count(&self) -> u64 {
		self.hasher.count()
	}

	/// The root of a file of the bytes so far.
	fn root(&self) -> H256 {
		blob::root_of(self.count(), &H256(*self.hasher.finalize().as_bytes()))
	}
}

impl<W: Write> Write for Hashed<W> {
	fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
		let count = self.inner.write(bytes)?;
		self.hasher.update(bytes.get(..count).unwrap_or(bytes));
		Ok(count)
	}

	fn flush(&mut self) -> io::Result<()> {
		self.inner.flush()
	}
}

impl<R: Read> Read for Hashed<R> {
	fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
		let count = self.inner.read(bytes)?;
		self.hasher.update(bytes.get(..count).unwrap_or(bytes));
		Ok(count)
	}
}

#[cfg(test)]
mod tests;
