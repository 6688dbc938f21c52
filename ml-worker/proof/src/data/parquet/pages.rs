//! Reads the pages of a column one by one, decompresses them within bounds, and gives their numbers.

use super::{
	encodings::{joined, Deltas, Hybrid, BLOCK},
	footer::{Chunk, Codec, Column},
	thrift::{Reader, Result},
};
use std::io::{self, Read, Seek, SeekFrom};

/// Most bytes of a page, as it is in the file and decompressed. Writers make pages of about 1 MiB.
pub(super) const MAX_PAGE: u64 = 64 << 20;
/// Most bytes of the head of a page, which may show the least and the largest number in it.
const MAX_HEAD: u64 = 64 << 10;
/// Pages that a column of a group of rows may have: so many, and one for so many numbers. Writers put thousands of
/// numbers into one; finding a page takes far longer than reading a number.
const PAGES: u64 = 8;
const NUMBERS: u64 = 64;
/// Bytes of a head that are read at first.
const FIRST: u64 = 512;

/// Says why the numbers of a column cannot be had.
#[derive(Debug)]
pub(super) enum PageError {
	/// The file does not hold what it should.
	Wrong(String),
	/// A number is missing.
	Null {
		/// Row in the group.
		row: u64,
	},
	/// More would be decompressed than the rows may take.
	TooMuch,
	/// It cannot be read.
	Io(io::Error),
}

impl From<&str> for PageError {
	fn from(what: &str) -> Self {
		Self::Wrong(format!("{what}: the file was cut or damaged; fetch or write it again"))
	}
}

impl From<io::Error> for PageError {
	fn from(error: io::Error) -> Self {
		Self::Io(error)
	}
}

/// What the head of a page says.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
	kind: i64,
	decompressed: u64,
	compressed: u64,
	values: u64,
	encoding: i64,
	levels: i64,
	/// Bytes of the levels before the numbers, which are not compressed: of pages of the second version.
	repetition_bytes: u64,
	definition_bytes: u64,
	is_compressed: bool,
}

/// Kinds of pages.
const DATA: i64 = 0;
const INDEX: i64 = 1;
const DICTIONARY: i64 = 2;
const DATA_2: i64 = 3;

/// Encodings.
const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
const RLE: i64 = 3;
const DELTA: i64 = 5;
const RLE_DICTIONARY: i64 = 8;
const SPLIT: i64 = 9;

fn size(value: i64) -> Result<u64> {
	u64::try_from(value).map_err(|_| "the head of a page says a negative length")
}

fn head(bytes: &[u8]) -> Result<(Head, usize)> {
	let mut head = Head { kind: -1, is_compressed: true, levels: RLE, ..Head::default() };
	let mut reader = Reader::new(bytes);
	reader.fields(|reader, field| {
		match field.id {
			1 => head.kind = reader.integer(field)?,
			2 => head.decompressed = size(reader.integer(field)?)?,
			3 => head.compressed = size(reader.integer(field)?)?,
			5 => reader.inner(field, |reader, field| {
				match field.id {
					1 => head.values = size(reader.integer(field)?)?,
					2 => head.encoding = reader.integer(field)?,
					3 => head.levels = reader.integer(field)?,
					_ => return Ok(false),
				}
				Ok(true)
			})?,
			7 => reader.inner(field, |reader, field| {
				match field.id {
					1 => head.values = size(reader.integer(field)?)?,
					2 => head.encoding = reader.integer(field)?,
					_ => return Ok(false),
				}
				Ok(true)
			})?,
			8 => reader.inner(field, |reader, field| {
				match field.id {
					1 => head.values = size(reader.integer(field)?)?,
					4 => head.encoding = reader.integer(field)?,
					5 => head.definition_bytes = size(reader.integer(field)?)?,
					6 => head.repetition_bytes = size(reader.integer(field)?)?,
					7 => head.is_compressed = reader.boolean(field)?,
					_ => return Ok(false),
				}
				Ok(true)
			})?,
			_ => return Ok(false),
		}
		Ok(true)
	})?;
	Ok((head, reader.read()))
}

/// What gets pieces of the numbers of a column in their order, with the row in the group of the first.
pub(super) type See<'a> = dyn FnMut(u64, &[u8]) -> std::result::Result<(), PageError> + 'a;

/// Buffers that pages share.
#[derive(Default)]
pub(super) struct Buffers {
	compressed: Vec<u8>,
	page: Vec<u8>,
	dictionary: Vec<u8>,
}

/// Reads the numbers of a column in a group of rows and gives them to `see`. `left` is how much more may be
/// decompressed.
pub(super) fn read(
	file: &mut (impl Read + Seek),
	(column, chunk): (&Column, &Chunk),
	buffers: &mut Buffers,
	left: &mut u64,
	see: &mut See<'_>,
) -> std::result::Result<(), PageError> {
	let width = column.width();
	buffers.dictionary.clear();
	let (mut row, mut at, mut has_dictionary) = (0u64, 0u64, false);
	let mut pages = (chunk.values / NUMBERS).saturating_add(PAGES);
	while row < chunk.values {
		pages = pages.checked_sub(1).ok_or_else(|| {
			PageError::Wrong(format!(
				"it has more than {PAGES} pages, and one for each {NUMBERS} of its numbers in a group of \
				 rows. Write it with larger pages (data_page_size, max_rows_per_page)"
			))
		})?;
		let rest = chunk.bytes.saturating_sub(at);
		file.seek(SeekFrom::Start(chunk.offset.saturating_add(at)))?;
		let (head, length) = next_head(file, rest)?;
		at = at.saturating_add(length);
		if head.compressed > chunk.bytes.saturating_sub(at) {
			return Err("a page is longer than its column".into());
		}
		if head.compressed > MAX_PAGE || head.decompressed > MAX_PAGE {
			return Err(PageError::Wrong(format!(
				"it has a page of {} bytes; at most {MAX_PAGE} are read at a time. Write it with smaller \
				 pages (data_page_size)",
				head.compressed.max(head.decompressed)
			)));
		}
		file.seek(SeekFrom::Start(chunk.offset.saturating_add(at)))?;
		at = at.saturating_add(head.compressed);
		if head.kind == INDEX {
			continue;
		}
		*left = left.checked_sub(head.decompressed).ok_or(PageError::TooMuch)?;
		// A page says how long it is; no room is made for more than comes.
		buffers.compressed.clear();
		let read = Read::take(&mut *file, head.compressed).read_to_end(&mut buffers.compressed)?;
		if (read as u64) < head.compressed {
			return Err("a page is cut".into());
		}
		match head.kind {
			DICTIONARY if !has_dictionary && row == 0 => {
				if !matches!(head.encoding, PLAIN | PLAIN_DICTIONARY) {
					return Err("its dictionary has an encoding that there is not".into());
				}
				decompress(
					&buffers.compressed,
					chunk.codec,
					head.decompressed,
					&mut buffers.dictionary,
				)?;
				if Some(head.decompressed) != head.values.checked_mul(width as u64) {
					return Err("a dictionary has another length than its numbers".into());
				}
				has_dictionary = true;
			}
			DATA | DATA_2 => {
				if head.values == 0 || head.values > chunk.values.saturating_sub(row) {
					return Err("a page has no numbers, or more than its column".into());
				}
				let body =
					body(&head, (column, chunk), row, &buffers.compressed, &mut buffers.page)?;
				let values = Values { head, width, bytes: body, row };
				values.give(&buffers.dictionary, see)?;
				row = row.saturating_add(head.values);
			}
			_ => return Err("a page is of a kind that there is not".into()),
		}
	}
	Ok(())
}

/// Reads the head of the page that begins here; at most `rest` bytes follow. Returns its length, too.
fn next_head(
	file: &mut (impl Read + Seek),
	rest: u64,
) -> std::result::Result<(Head, u64), PageError> {
	let begin = file.stream_position()?;
	let mut most = FIRST;
	loop {
		let most_here = most.min(rest);
		let mut bytes = Vec::new();
		file.seek(SeekFrom::Start(begin))?;
		Read::take(&mut *file, most_here).read_to_end(&mut bytes)?;
		match head(&bytes) {
			Ok((head, length)) => return Ok((head, length as u64)),
			Err(_) if most < MAX_HEAD && most < rest => most = MAX_HEAD,
			Err(why) => {
				return Err(PageError::Wrong(format!(
					"the head of a page cannot be read: {why}: the file was cut or damaged; fetch or \
					 write it again"
				)))
			}
		}
	}
}

/// Returns the encoded numbers of a page, after its levels were looked at: every number must be there.
fn body<'a>(
	head: &Head,
	(column, chunk): (&Column, &Chunk),
	row: u64,
	compressed: &'a [u8],
	page: &'a mut Vec<u8>,
) -> std::result::Result<&'a [u8], PageError> {
	let there = |levels: &[u8]| match Hybrid::new(levels, 1)?.first_other(head.values, 1)? {
		None => Ok(()),
		Some(at) => Err(PageError::Null { row: row.saturating_add(at) }),
	};
	let cut = "the levels of a page are longer than the page";
	if head.kind == DATA_2 {
		let skipped = usize::try_from(head.repetition_bytes).map_err(|_| cut)?;
		let levels = usize::try_from(head.definition_bytes).map_err(|_| cut)?;
		let (_, rest) = compressed.split_at_checked(skipped).ok_or(cut)?;
		let (levels, rest) = rest.split_at_checked(levels).ok_or(cut)?;
		if column.optional {
			there(levels)?;
		}
		let before = head.repetition_bytes.saturating_add(head.definition_bytes);
		let length = head.decompressed.checked_sub(before).ok_or(cut)?;
		let codec = if head.is_compressed { chunk.codec } else { Codec::None };
		decompress(rest, codec, length, page)?;
		return Ok(page);
	}
	decompress(compressed, chunk.codec, head.decompressed, page)?;
	if !column.optional {
		return Ok(page);
	}
	if head.levels != RLE {
		return Err("the levels of a page have an encoding that is no longer in use".into());
	}
	let (length, rest) = page.split_first_chunk().ok_or(cut)?;
	let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| cut)?;
	let (levels, rest) = rest.split_at_checked(length).ok_or(cut)?;
	there(levels)?;
	Ok(rest)
}

/// Decompresses `from`, which must give `length` bytes.
fn decompress(from: &[u8], codec: Codec, length: u64, into: &mut Vec<u8>) -> Result<()> {
	const OTHER: &str = "a page cannot be decompressed, or to another length than its head says";
	let length = usize::try_from(length).map_err(|_| OTHER)?;
	into.clear();
	if codec == Codec::None {
		if from.len() != length {
			return Err(OTHER);
		}
		into.extend_from_slice(from);
		return Ok(());
	}
	// A page of the second version whose numbers are all missing has nothing to decompress.
	if length == 0 {
		return Ok(());
	}
	into.resize(length, 0);
	let came = match codec {
		Codec::None => Some(length),
		Codec::Snappy => match snap::raw::decompress_len(from) {
			Ok(found) if found == length => snap::raw::Decoder::new().decompress(from, into).ok(),
			_ => None,
		},
		Codec::Gzip => {
			let mut decoder = flate2::read::MultiGzDecoder::new(from);
			let whole = decoder.read_exact(into).is_ok() && matches!(decoder.read(&mut [0]), Ok(0));
			whole.then_some(length)
		}
		Codec::Zstd => zstd::bulk::decompress_to_buffer(from, &mut into[..]).ok(),
	};
	match came == Some(length) {
		true => Ok(()),
		false => Err(OTHER),
	}
}

/// The encoded numbers of a page.
struct Values<'a> {
	head: Head,
	/// Bytes of a number.
	width: usize,
	bytes: &'a [u8],
	/// The row in the group of the first.
	row: u64,
}

impl Values<'_> {
	/// Gives the numbers to `see`.
	fn give(&self, dictionary: &[u8], see: &mut See<'_>) -> std::result::Result<(), PageError> {
		let Self { head, width, bytes, row } = *self;
		let exact = || match head.values.checked_mul(width as u64) == Some(bytes.len() as u64) {
			true => Ok(()),
			false => Err("a page has another length than its numbers"),
		};
		match head.encoding {
			PLAIN => {
				exact()?;
				see(row, bytes)
			}
			SPLIT => {
				exact()?;
				let count = bytes.len() / width;
				self.blocks(see, |first, block| {
					let mut numbers = block.chunks_exact_mut(width).enumerate();
					numbers.try_for_each(|(at, to)| joined(bytes, count, first + at, to))
				})
			}
			DELTA => {
				let (mut deltas, mut numbers) = (Deltas::new(bytes)?, [0; BLOCK]);
				self.blocks(see, |_, block| {
					let numbers = &mut numbers[..block.len() / width];
					deltas.fill(numbers)?;
					for (to, number) in block.chunks_exact_mut(width).zip(numbers) {
						to.copy_from_slice(&number.to_le_bytes()[..width]);
					}
					Ok(())
				})
			}
			PLAIN_DICTIONARY | RLE_DICTIONARY => {
				let (bits, bytes) = bytes.split_first().ok_or("a page is empty")?;
				let (mut hybrid, mut places) = (Hybrid::new(bytes, u32::from(*bits))?, [0; BLOCK]);
				self.blocks(see, |_, block| {
					let places = &mut places[..block.len() / width];
					hybrid.fill(places)?;
					for (to, place) in block.chunks_exact_mut(width).zip(places) {
						let begin = (*place as usize).saturating_mul(width);
						let from = dictionary.get(begin..begin.saturating_add(width));
						to.copy_from_slice(
							from.ok_or("a page names what its dictionary does not have")?,
						);
					}
					Ok(())
				})
			}
			_ => Err(PageError::Wrong(
				"its numbers have an encoding that is not read: plain, dictionaries, differences \
				 (DELTA_BINARY_PACKED) and split bytes (BYTE_STREAM_SPLIT) are"
					.into(),
			)),
		}
	}

	/// Gives the numbers in blocks that `fill` fills, from the first number of a block on.
	fn blocks(
		&self,
		see: &mut See<'_>,
		mut fill: impl FnMut(usize, &mut [u8]) -> Result<()>,
	) -> std::result::Result<(), PageError> {
		let mut block = [0; BLOCK * 8];
		let mut done = 0u64;
		while done < self.head.values {
			let count = (self.head.values - done).min(BLOCK as u64) as usize;
			let block = &mut block[..count * self.width];
			fill(usize::try_from(done).map_err(|_| "a page is too long")?, block)?;
			see(self.row.saturating_add(done), block)?;
			done += count as u64;
		}
		Ok(())
	}
}
