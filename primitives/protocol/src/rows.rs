//! The rows root: binds the rows of a job, as training reads them.
//!
//! A specification names its files by hash, and it takes a decoder to say which rows they hold. The
//! rows root names the rows themselves: numbers that were decoded, divided and normalised as section
//! 1 of `docs/strict-arithmetic.md` says. With it any 1 KiB of them opens
//! ([`content`](crate::content)), and no decoder is needed. That it is the root of what the files
//! hold is checked by whoever reads them, before anything is at stake.

use crate::H256;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use sp_crypto_hashing::blake2_256;
use trainyard_program::spec::Dataset;

/// The rows of a job: how many there are, and the hashes of their contents.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Rows {
	/// Rows that train.
	pub train_rows: u32,
	/// Rows that validate.
	pub validation_rows: u32,
	/// Inputs of a row.
	pub features: u32,
	/// Labels of a row.
	pub labels_per_row: u32,
	/// [Content hashes](crate::content::hash) of four tensors, each row major with the rows in the
	/// order of the file: `[train_rows, features]`, the inputs of the training rows as binary32;
	/// `[train_rows, labels_per_row]`, their labels as `u32`; and the same two of the validation rows.
	/// All are little endian; tokens are inputs, too, as binary32.
	pub contents: [H256; 4],
}

impl Rows {
	/// Returns the rows of a dataset with these contents.
	pub fn of(dataset: &Dataset, contents: [H256; 4]) -> Self {
		Self {
			train_rows: dataset.train_rows,
			validation_rows: dataset.validation_rows,
			features: dataset.features,
			labels_per_row: dataset.labels_per_row(),
			contents,
		}
	}

	/// Returns the bytes of the four contents, 4 for each number.
	pub fn content_bytes(&self) -> [u64; 4] {
		let bytes =
			|rows: u32, width: u32| u64::from(rows).saturating_mul(width.into()).saturating_mul(4);
		let of = |rows| [self.features, self.labels_per_row].map(|width| bytes(rows, width));
		let ([a, b], [c, d]) = (of(self.train_rows), of(self.validation_rows));
		[a, b, c, d]
	}

	/// Returns the rows root, which a specification names: `blake2_256(SCALE("trainyard/rows/v1",
	/// train_rows, validation_rows, features, labels_per_row, contents))`.
	pub fn root(&self) -> H256 {
		(b"trainyard/rows/v1", self).using_encoded(blake2_256).into()
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::content;
	use trainyard_program::spec::{DataFormat, JobSpec};

	/// Three rows of two inputs that train, and one that validates.
	fn rows() -> Rows {
		let inputs = content::le_bytes(&[1.0, -0.0, 0.5, -2.0, 3.0, 1e-45]);
		let labels: Vec<u8> = [7u32, 0, 258].iter().flat_map(|label| label.to_le_bytes()).collect();
		let contents = [
			content::hash(&inputs),
			content::hash(&labels),
			content::hash(&content::le_bytes(&[f32::NAN, 9.0])),
			content::hash(&[1, 0, 0, 0]),
		];
		Rows { train_rows: 3, validation_rows: 1, features: 2, labels_per_row: 1, contents }
	}

	/// The layout is frozen: other languages build it by hand.
	#[test]
	fn layout() {
		let inputs = [
			[0, 0, 0x80, 0x3F],
			[0, 0, 0, 0x80],
			[0, 0, 0, 0x3F],
			[0, 0, 0, 0xC0],
			[0, 0, 0x40, 0x40],
			[1, 0, 0, 0],
		];
		let labels = [[7, 0, 0, 0], [0, 0, 0, 0], [2, 1, 0, 0]];
		let validating = [[0, 0, 0xC0, 0x7F], [0, 0, 0x10, 0x41]];
		let contents = [inputs.as_flattened(), labels.as_flattened(), validating.as_flattened()]
			.map(|bytes| *blake3::hash(bytes).as_bytes());
		let last = *blake3::hash(&[1, 0, 0, 0]).as_bytes();
		let counts = [3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0];
		let bytes = [&b"trainyard/rows/v1"[..], &counts, contents.as_flattened(), &last].concat();
		assert_eq!(bytes.len(), 17 + 16 + 128);
		assert_eq!(rows().root(), H256(blake2_256(&bytes)));
		assert_eq!(rows().encode(), bytes[17..]);
		assert_eq!(Rows::decode(&mut &bytes[17..]), Ok(rows()));
		assert_eq!(Rows::max_encoded_len(), 16 + 128);
	}

	#[test]
	fn the_root_binds_every_part() {
		let changes: [fn(&mut Rows); 8] = [
			|r| r.train_rows += 1,
			|r| r.validation_rows += 1,
			|r| r.features += 1,
			|r| r.labels_per_row += 1,
			|r| r.contents[0].0[0] ^= 1,
			|r| r.contents[1].0[31] ^= 1,
			|r| r.contents[2].0[7] ^= 128,
			|r| r.contents.swap(1, 3),
		];
		let mut roots = vec![rows().root()];
		for change in changes {
			let mut other = rows();
			change(&mut other);
			roots.push(other.root());
		}
		for (at, root) in roots.iter().enumerate() {
			assert!(!roots[..at].contains(root), "change {at}");
		}
	}

	#[test]
	fn a_dataset_gives_the_counts() {
		let mut dataset = JobSpec::example().dataset;
		let contents = rows().contents;
		let found = Rows::of(&dataset, contents);
		assert_eq!((found.train_rows, found.validation_rows), (1_438, 359));
		assert_eq!((found.features, found.labels_per_row, found.contents), (64, 1, contents));
		dataset.format = DataFormat::Text;
		assert_eq!(Rows::of(&dataset, contents).labels_per_row, 64, "one for each token");
	}
}
