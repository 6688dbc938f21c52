//! `metrics.jsonl`: one JSON object per line, with what a plot needs. It holds no times, so a run
//! that was killed and resumed ends with the same bytes. [`super::records`] are written along with
//! it.

use super::{
	files::{self, at, FileError},
	records::Records,
};
use std::{
	collections::BTreeMap,
	fs::{File, OpenOptions},
	io::{BufRead, BufReader, BufWriter, ErrorKind, Write},
	path::{Path, PathBuf},
};

pub use super::points::{interval, Line};

/// Name of the file.
pub const FILE: &str = "metrics.jsonl";

/// Reads the file; a half-written last line ends it, a missing file is empty.
pub fn read(folder: &Path) -> Result<Vec<Line>, FileError> {
	Ok(read_with_bytes(folder)?.into_iter().map(|(line, _)| line).collect())
}

/// Does what [`read`] does, and also returns the bytes of each line.
fn read_with_bytes(folder: &Path) -> Result<Vec<(Line, Vec<u8>)>, FileError> {
	let path = folder.join(FILE);
	let file = match File::open(&path) {
		Ok(file) => file,
		Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
		Err(e) => return Err(at("read", &path)(e)),
	};
	let mut lines = Vec::new();
	for bytes in BufReader::new(file).split(b'\n') {
		let bytes = bytes.map_err(at("read", &path))?;
		match serde_json::from_slice(&bytes) {
			Ok(line) => lines.push((line, bytes)),
			Err(_) => break,
		}
	}
	Ok(lines)
}

/// Replaces the validations in the file by the `right` ones, by step.
pub fn correct(folder: &Path, right: &BTreeMap<u32, Line>) -> Result<(), FileError> {
	let mut corrected = Vec::new();
	for (line, as_it_stands) in read_with_bytes(folder)? {
		match right.get(&line.step).filter(|_| line.validation_loss.is_some()) {
			Some(right) => corrected.extend(bytes(right)),
			None => {
				corrected.extend(as_it_stands);
				corrected.push(b'\n');
			}
		}
	}
	files::write(&folder.join(FILE), &corrected)
}

/// Appends lines to the file and to the records.
pub struct Writer {
	path: PathBuf,
	file: BufWriter<File>,
	records: Records,
}

impl Writer {
	/// Keeps the lines up to `step` and goes on after them; `None` starts from scratch.
	/// `learning_rate` returns the rate of the update that completes that many steps.
	pub fn open(
		folder: &Path,
		step: Option<u32>,
		learning_rate: impl Fn(u32) -> f32 + 'static,
	) -> Result<Self, FileError> {
		let path = folder.join(FILE);
		let (mut kept, mut lines) = (Vec::new(), Vec::new());
		if let Some(step) = step {
			// The lines are kept byte for byte: a number need not survive being read and written
			// again.
			let whole = read_with_bytes(folder)?;
			for (line, bytes) in whole.iter().filter(|(line, _)| line.step <= step) {
				kept.extend(bytes);
				kept.push(b'\n');
				lines.push(*line);
			}
		}
		files::write(&path, &kept)?;
		let file = OpenOptions::new().append(true).open(&path).map_err(at("write", &path))?;
		let records = Records::open(folder, &lines, learning_rate)?;
		Ok(Self { path, file: BufWriter::new(file), records })
	}

	/// Adds a line; it is on disk after the next [`Self::sync`].
	pub fn push(&mut self, line: &Line) -> Result<(), FileError> {
		self.file.write_all(&bytes(line)).map_err(at("write", &self.path))?;
		self.records.push(line)
	}

	/// Puts all lines on disk, and lets other programs see the records. No further line of the
	/// last step may follow.
	pub fn sync(&mut self) -> Result<(), FileError> {
		self.file
			.flush()
			.and_then(|()| self.file.get_ref().sync_data())
			.map_err(at("write", &self.path))?;
		self.records.flush()
	}

	/// Puts all lines and the records on disk.
	pub fn finish(mut self) -> Result<(), FileError> {
		self.sync()?;
		self.records.finish()
	}
}

fn bytes(line: &Line) -> Vec<u8> {
	let mut bytes = serde_json::to_vec(line).unwrap_or_default();
	bytes.push(b'\n');
	bytes
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::bundle::Evaluation;

	#[test]
	fn a_resumed_file_continues_where_the_checkpoint_stands() {
		let dir = tempfile::tempdir().unwrap();
		let train = |step| Line::training(step, 1.0 / step as f32, (step > 1).then_some(0.1));
		let validation = Line::validation(2, &Evaluation::new(0.1, 1, 15));
		let mut writer = Writer::open(dir.path(), None, |_| 0.1).unwrap();
		for line in [train(1), train(2), validation, train(3), train(4)] {
			writer.push(&line).unwrap();
		}
		writer.sync().unwrap();
		let whole = std::fs::read(dir.path().join(FILE)).unwrap();
		// Killed in the middle of a line.
		std::fs::write(dir.path().join(FILE), &whole[..whole.len() - 3]).unwrap();
		assert_eq!(read(dir.path()).unwrap().len(), 4);
		// Followed by bytes that no disk should return.
		let garbage = [&whole[..whole.len() - 3], &b"\xff\xfe\0\n"[..]].concat();
		std::fs::write(dir.path().join(FILE), garbage).unwrap();
		assert_eq!(read(dir.path()).unwrap().len(), 4);
		let mut writer = Writer::open(dir.path(), Some(2), |_| 0.1).unwrap();
		assert_eq!(read(dir.path()).unwrap(), [train(1), train(2), validation]);
		writer.push(&train(3)).unwrap();
		writer.push(&train(4)).unwrap();
		writer.sync().unwrap();
		assert_eq!(std::fs::read(dir.path().join(FILE)).unwrap(), whole);
	}

	#[test]
	fn a_norm_stands_where_it_is_a_number() {
		let text = |norm| String::from_utf8(bytes(&Line::training(7, 0.5, norm))).unwrap();
		assert_eq!(text(Some(0.25)), "{\"step\":7,\"loss\":0.5,\"gradient_norm\":0.25}\n");
		for none in [None, Some(f32::INFINITY), Some(f32::NAN)] {
			assert_eq!(text(none), "{\"step\":7,\"loss\":0.5}\n");
		}
	}
}
