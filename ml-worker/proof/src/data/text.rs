//! Text: one token for each byte, see [`DataFormat::Text`].
//!
//! [`DataFormat::Text`]: trainyard_program::spec::DataFormat::Text

use super::{gzip::TooMuch, DataError, Rows};
use std::{
	fs::File,
	io::{BufReader, Read},
	path::{Path, PathBuf},
};
use trainyard_program::spec::Extent;

/// Rows of `context` tokens and their labels. The file is read twice: for the bytes that occur, and
/// for the rows.
pub(super) struct Text {
	path: PathBuf,
	reader: BufReader<File>,
	context: usize,
	/// Token of each byte.
	numbers: [Option<u32>; 256],
	vocabulary: u32,
	/// The token before those that are read next; none at the beginning.
	before: Option<u32>,
	bytes: Vec<u8>,
}

impl Text {
	/// Opens the text at `path` with rows of `context` tokens, at least one. It is not read if it is
	/// longer than rows of the `declared` shape may be.
	pub(super) fn open(
		path: &Path,
		context: u32,
		declared: Option<Extent>,
	) -> Result<Self, DataError> {
		let failed = |error| DataError::Io { path: path.to_owned(), error };
		let file = File::open(path).map_err(failed)?;
		TooMuch::check(file.metadata().map_err(failed)?.len(), declared)
			.map_err(|error| DataError::reading(path, None, error))?;
		let mut reader = BufReader::with_capacity(1 << 16, file);
		let mut bytes = vec![0; 1 << 16];
		let mut occurs = [false; 256];
		loop {
			let read = reader.read(&mut bytes).map_err(failed)?;
			if read == 0 {
				break;
			}
			bytes[..read].iter().for_each(|byte| occurs[usize::from(*byte)] = true);
		}
		let (mut numbers, mut vocabulary) = ([None; 256], 0u32);
		for (number, occurs) in numbers.iter_mut().zip(occurs) {
			if occurs {
				*number = Some(vocabulary);
				vocabulary += 1;
			}
		}
		let file = File::open(path).map_err(failed)?;
		let reader = BufReader::with_capacity(1 << 16, file);
		let (path, context) = (path.to_owned(), context.max(1) as usize);
		Ok(Self { path, reader, context, numbers, vocabulary, before: None, bytes })
	}

	/// Reads `count` bytes; returns false if there are fewer.
	fn read(&mut self, count: usize) -> Result<bool, DataError> {
		self.bytes.resize(count, 0);
		match self.reader.read_exact(&mut self.bytes) {
			Ok(()) => Ok(true),
			Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
			Err(error) => Err(DataError::Io { path: self.path.clone(), error }),
		}
	}

	/// Adds the tokens of the bytes read last to `labels`.
	fn tokens(&self, labels: &mut Vec<u32>) -> Result<(), DataError> {
		for byte in &self.bytes {
			let token = self.numbers[usize::from(*byte)];
			labels.push(token.ok_or_else(|| self.wrong("it changed while it was read".into()))?);
		}
		Ok(())
	}
}

impl Rows for Text {
	fn features(&self) -> usize {
		self.context
	}

	fn labels(&self) -> usize {
		self.context
	}

	fn least_classes(&self) -> u32 {
		self.vocabulary
	}

	fn next(&mut self, inputs: &mut Vec<f32>, labels: &mut Vec<u32>) -> Result<bool, DataError> {
		if self.before.is_none() {
			if !self.read(1)? {
				return Ok(false);
			}
			let mut first = Vec::new();
			self.tokens(&mut first)?;
			self.before = first.pop();
		}
		let Some(before) = self.before else { return Ok(false) };
		// A row is the token before and all read now but the last; its labels are all read now.
		if !self.read(self.context)? {
			return Ok(false);
		}
		let start = labels.len();
		self.tokens(labels)?;
		inputs.push(before as f32);
		let (_, row) = labels.split_at(start);
		inputs.extend(row[..row.len() - 1].iter().map(|token| *token as f32));
		self.before = labels.last().copied();
		Ok(true)
	}

	fn wrong(&self, what: String) -> DataError {
		DataError::File { path: self.path.clone(), what }
	}
}
