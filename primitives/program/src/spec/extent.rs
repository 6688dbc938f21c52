//! How much text the rows of a dataset may take. A file comes from a stranger and may be compressed,
//! so its own length says little about what is to be read.

use super::{DataFormat, Dataset};

/// Most bytes of a line of CSV for each of its numbers, the comma included.
pub const LINE_BYTES: u64 = 64;
/// Most bytes of a whole file, once decompressed, for each number of its rows and of one row more,
/// for names. A number that `numpy.savetxt` writes has 25 and a comma.
pub const FILE_BYTES: u64 = 32;
/// Bytes that a file may have besides, for the headers of the formats.
pub const HEADER_BYTES: u64 = 1 << 20;

/// Rows of a dataset and their inputs: what bounds the bytes that are read of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
	/// Training and validation rows.
	pub rows: u64,
	/// Inputs of a row.
	pub features: u32,
}

impl Extent {
	/// Returns the numbers of a row: its inputs and the label.
	fn columns(&self) -> u64 {
		u64::from(self.features).saturating_add(1)
	}

	/// Returns the most bytes of a line of CSV, without its end. The header is such a line.
	pub fn line_bytes(&self) -> u64 {
		self.columns().saturating_mul(LINE_BYTES)
	}

	/// Returns the most bytes of a file, once decompressed. An archive counts array by array.
	pub fn file_bytes(&self) -> u64 {
		let numbers = self.rows.saturating_add(1).saturating_mul(self.columns());
		numbers.saturating_mul(FILE_BYTES).saturating_add(HEADER_BYTES)
	}
}

impl Dataset {
	/// Returns the rows and inputs that are declared.
	pub fn extent(&self) -> Extent {
		let rows = u64::from(self.train_rows).saturating_add(u64::from(self.validation_rows));
		Extent { rows, features: self.features }
	}

	/// Returns the most bytes that are read of the data, once decompressed: of a format that nothing
	/// compresses those of the file, of others what the declared shape allows.
	pub fn text_bytes(&self) -> u64 {
		match self.format {
			DataFormat::Text | DataFormat::Npy | DataFormat::Safetensors => self.bytes,
			DataFormat::CsvLabelLast
			| DataFormat::CsvLabelFirst
			| DataFormat::Idx
			| DataFormat::Npz
			| DataFormat::Parquet
			| DataFormat::ParquetLabelFirst => self.extent().file_bytes(),
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::spec::{JobSpec, MAX_WIDTH};

	#[test]
	fn bounds_follow_the_declared_shape() {
		let extent = Extent { rows: 9, features: 4 };
		assert_eq!((extent.line_bytes(), extent.file_bytes()), (320, 32 * 10 * 5 + 1_048_576));
		let example = JobSpec::example().dataset;
		let rows = u64::from(example.train_rows + example.validation_rows);
		assert_eq!(example.extent(), Extent { rows, features: example.features });
		let most = Extent { rows: u64::MAX, features: u32::MAX };
		assert_eq!(most.file_bytes(), u64::MAX, "it never overflows");
		// Arrays of the largest numbers that can be read fit whatever their shape.
		for (rows, features) in [(2, 1), (2, MAX_WIDTH), (1 << 33, MAX_WIDTH)] {
			let extent = Extent { rows, features };
			let headers = 12 + (1 << 16);
			assert!(rows * (u64::from(features) + 1) * 8 + headers < extent.file_bytes());
		}
	}
}
