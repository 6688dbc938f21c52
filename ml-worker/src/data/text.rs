//! Text: one token for each byte, see [`DataFormat::Text`].
//!
//! [`DataFormat::Text`]: trainyard_primitives::spec::DataFormat::Text

use super::{validates, DataError, Inspection};
use crate::{
	engine::{Data, Table},
	hash,
};
use std::path::Path;
use trainyard_primitives::spec::Dataset;

/// A text as tokens: the bytes that occur, numbered in ascending order.
struct Tokens {
	bytes: Vec<u8>,
	/// Token of each byte.
	numbers: [Option<u32>; 256],
	vocabulary: u32,
}

impl Tokens {
	fn read(path: &Path) -> Result<Self, DataError> {
		let bytes =
			std::fs::read(path).map_err(|error| DataError::Io { path: path.to_owned(), error })?;
		let mut occurs = [false; 256];
		bytes.iter().for_each(|byte| occurs[usize::from(*byte)] = true);
		let (mut numbers, mut vocabulary) = ([None; 256], 0u32);
		for (number, occurs) in numbers.iter_mut().zip(occurs) {
			if occurs {
				*number = Some(vocabulary);
				vocabulary += 1;
			}
		}
		Ok(Self { bytes, numbers, vocabulary })
	}

	/// Rows of `context` tokens, each followed by one more.
	fn rows(&self, context: u32) -> u64 {
		(self.bytes.len() as u64).saturating_sub(1) / u64::from(context.max(1))
	}

	fn tokens<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = u32> + 'a {
		bytes.iter().filter_map(|byte| self.numbers[usize::from(*byte)])
	}
}

/// Reads the text at `path` once and says what a specification with this context must say of
/// it.
pub fn inspect(path: &Path, every: u32, context: u32) -> Result<Inspection, DataError> {
	let text = Tokens::read(path)?;
	let rows = text.rows(context);
	let validation_rows = rows / u64::from(every.max(1));
	Ok(Inspection {
		content_hash: hash::blake2_256(&text.bytes),
		bytes: text.bytes.len() as u64,
		train_rows: rows - validation_rows,
		validation_rows,
		features: context,
		classes: text.vocabulary.max(2),
	})
}

/// The rows of the text at `path`, whose content is known to be the specification's.
pub(super) fn load(path: &Path, dataset: &Dataset) -> Result<Data, DataError> {
	let text = Tokens::read(path)?;
	super::content(path, dataset, hash::blake2_256(&text.bytes), text.bytes.len() as u64)?;
	let shape = |field, declared: u32, found: u64| match u64::from(declared) {
		declared if declared == found => Ok(()),
		declared => Err(DataError::Shape { path: path.to_owned(), field, declared, found }),
	};
	if dataset.classes < text.vocabulary {
		shape("dataset.classes", dataset.classes, u64::from(text.vocabulary))?;
	}
	let context = dataset.features as usize;
	let table = || Table { features: context, x: Vec::new(), y: Vec::new() };
	let (mut train, mut validation) = (table(), table());
	let rows = text.rows(dataset.features);
	for row in 0..rows {
		let start = row as usize * context;
		let table = match validates(row, dataset.validation_every) {
			true => &mut validation,
			false => &mut train,
		};
		table.x.extend(text.tokens(&text.bytes[start..start + context]).map(|t| t as f32));
		table.y.extend(text.tokens(&text.bytes[start + 1..start + context + 1]));
	}
	let found = |table: &Table| (table.y.len() / context.max(1)) as u64;
	shape("dataset.train_rows", dataset.train_rows, found(&train))?;
	shape("dataset.validation_rows", dataset.validation_rows, found(&validation))?;
	Ok(Data { train, validation })
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_primitives::spec::{DataFormat, JobSpec};

	#[test]
	fn a_text_becomes_tokens() {
		let file = tempfile::NamedTempFile::new().unwrap();
		std::fs::write(file.path(), "banana band").unwrap();
		let found = inspect(file.path(), 2, 3).unwrap();
		// Ten bytes have one behind them: three rows of three, of which one validates.
		assert_eq!((found.train_rows, found.validation_rows), (2, 1));
		// Space, a, b, d, n.
		assert_eq!((found.features, found.classes, found.bytes), (3, 5, 11));
		let dataset = Dataset {
			content_hash: found.content_hash,
			bytes: found.bytes,
			format: DataFormat::Text,
			train_rows: 2,
			validation_rows: 1,
			validation_every: 2,
			features: 3,
			classes: 5,
			feature_divisor: 1,
			..JobSpec::example().dataset
		};
		let data = crate::data::load(file.path(), None, &dataset).unwrap();
		assert_eq!(data.train.x, [2.0, 1.0, 4.0, 0.0, 2.0, 1.0]);
		assert_eq!(data.train.y, [1, 4, 1, 2, 1, 4]);
		assert_eq!(data.validation.x, [1.0, 4.0, 1.0]);
		assert_eq!(data.validation.y, [4, 1, 0]);
		let error = |dataset: Dataset| crate::data::load(file.path(), None, &dataset).unwrap_err();
		let few = error(Dataset { classes: 4, ..dataset.clone() }).to_string();
		assert!(few.contains("dataset.classes is 4, but the file has 5"), "{few}");
		let rows = error(Dataset { train_rows: 3, ..dataset }).to_string();
		assert!(rows.contains("dataset.train_rows"), "{rows}");
	}
}
