//! Decoded rows as the four contents under the root by which a specification names them.

use super::{load_until, DataError};
use std::{path::Path, sync::atomic::AtomicBool};
use trainyard_engine::Data;
use trainyard_program::spec::Dataset;
use trainyard_protocol::{content, rows::Rows};

/// Hashes the decoded rows of a dataset, and ends soon after `stop` is set, with
/// [`DataError::Stopped`]. Rows in memory are not copied.
pub fn rows_of(data: &Data, dataset: &Dataset, stop: &AtomicBool) -> Result<Rows, DataError> {
	let labels = dataset.labels_per_row() as usize;
	let contents = |table: &trainyard_engine::Table| {
		table.contents(labels, stop).map_err(DataError::Scratch)?.ok_or(DataError::Stopped)
	};
	let ([x, y], [x_validation, y_validation]) =
		(contents(&data.train)?, contents(&data.validation)?);
	Ok(Rows::of(dataset, [x, y, x_validation, y_validation]))
}

/// Returns the bytes of the four contents of [`Rows`]: what their hashes are of.
pub fn contents_of(data: &Data, dataset: &Dataset) -> Result<[Vec<u8>; 4], DataError> {
	let labels = dataset.labels_per_row() as usize;
	let bytes = |table: &trainyard_engine::Table| {
		let (mut inputs, mut of_labels) = (Vec::new(), Vec::new());
		table
			.each(labels, |_, x, y| {
				inputs.extend(content::le_bytes(x));
				of_labels.extend(y.iter().flat_map(|label| label.to_le_bytes()));
				Ok::<_, std::io::Error>(())
			})
			.map_err(DataError::Scratch)?;
		Ok::<_, DataError>((inputs, of_labels))
	};
	let ((x, y), (x_validation, y_validation)) = (bytes(&data.train)?, bytes(&data.validation)?);
	Ok([x, y, x_validation, y_validation])
}

/// Reads the data of a job, as [`load_until`] does, and returns what its specification must name as
/// [`Dataset::rows`]: the root of this. What the dataset says of it so far is not looked at.
pub fn read_rows(
	data: &Path,
	labels: Option<&Path>,
	dataset: &Dataset,
	stop: &AtomicBool,
) -> Result<Rows, DataError> {
	rows_of(&load_until(data, labels, dataset, stop)?, dataset, stop)
}
