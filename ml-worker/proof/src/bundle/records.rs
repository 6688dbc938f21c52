//! Records of a run for other programs: a table (`metrics.csv`) and an event file for TensorBoard.
//! Both hold what `metrics.jsonl` holds, and the learning rate; each step is in them once. They
//! inform: no root covers them, and `trainyard verify` does not read them.
//!
//! They are functions of the lines of `metrics.jsonl` and of the specification, without times. So a
//! resumed run writes them again from the lines that it keeps, and they end with the same bytes as
//! those of a run that was never interrupted.

use super::{
	files::{self, at, FileError},
	points::{Line, Point},
	tensorboard,
};
use std::{
	fs::{File, OpenOptions},
	io::{BufWriter, Write},
	path::{Path, PathBuf},
};

/// Name of the table.
pub const CSV_FILE: &str = "metrics.csv";
/// Name of the event file. TensorBoard takes a file whose name has `tfevents` in it.
pub const EVENTS_FILE: &str = "events.out.tfevents.0.trainyard";

/// How a record is written.
struct Format {
	file: &'static str,
	/// Returns the bytes with which it begins.
	head: fn() -> Vec<u8>,
	/// Returns the bytes that a step adds.
	encode: fn(&Point) -> Vec<u8>,
}

const FORMATS: [Format; 2] = [
	Format { file: CSV_FILE, head: csv_head, encode: csv_row },
	Format { file: EVENTS_FILE, head: tensorboard::head, encode: tensorboard::event },
];

fn csv_head() -> Vec<u8> {
	b"step,loss,learning_rate,validation_loss,validation_accuracy,gradient_norm\n".to_vec()
}

/// Returns a row of the table; unknown values stay empty. A number has as many digits as
/// distinguish it from every other binary32.
fn csv_row(point: &Point) -> Vec<u8> {
	let cells = [
		point.loss,
		point.learning_rate,
		point.validation_loss,
		point.validation_accuracy,
		point.gradient_norm,
	];
	let mut row = point.step.to_string();
	for cell in cells {
		row.push(',');
		row.extend(cell.map(|number| number.to_string()));
	}
	row.push('\n');
	row.into_bytes()
}

/// The records of a run, being written.
pub struct Records {
	files: Vec<(PathBuf, BufWriter<File>)>,
	rate: Box<dyn Fn(u32) -> f32>,
	/// The last step: a line of its checkpoint may follow that of its loss.
	open: Option<Point>,
}

impl Records {
	/// Begins the records with `kept` lines. `rate` returns the learning rate of the update that
	/// completes that many steps.
	pub fn open(
		folder: &Path,
		kept: &[Line],
		rate: impl Fn(u32) -> f32 + 'static,
	) -> Result<Self, FileError> {
		let mut points: Vec<Point> = Vec::new();
		for line in kept {
			let point = Point::new(line, &rate);
			match points.last_mut().filter(|last| last.step == line.step) {
				Some(last) => *last = last.and(point),
				None => points.push(point),
			}
		}
		let files = FORMATS
			.iter()
			.map(|format| {
				let path = folder.join(format.file);
				let mut bytes = (format.head)();
				points.iter().for_each(|point| bytes.extend((format.encode)(point)));
				files::write(&path, &bytes)?;
				let file =
					OpenOptions::new().append(true).open(&path).map_err(at("write", &path))?;
				Ok((path, BufWriter::new(file)))
			})
			.collect::<Result<_, FileError>>()?;
		Ok(Self { files, rate: Box::new(rate), open: None })
	}

	/// Adds a line of `metrics.jsonl`; steps never fall.
	pub fn push(&mut self, line: &Line) -> Result<(), FileError> {
		let point = Point::new(line, &self.rate);
		self.open = Some(match self.open.take() {
			Some(last) if last.step == line.step => last.and(point),
			last => {
				self.write(last)?;
				point
			}
		});
		Ok(())
	}

	fn write(&mut self, point: Option<Point>) -> Result<(), FileError> {
		let Some(point) = point else { return Ok(()) };
		for (format, (path, file)) in FORMATS.iter().zip(&mut self.files) {
			file.write_all(&(format.encode)(&point)).map_err(at("write", path))?;
		}
		Ok(())
	}

	/// Hands everything to the system, so that other programs see it; no further line of the last
	/// step may follow. What a power cut destroys is written again from `metrics.jsonl`.
	pub fn flush(&mut self) -> Result<(), FileError> {
		let last = self.open.take();
		self.write(last)?;
		for (path, file) in &mut self.files {
			file.flush().map_err(at("write", path))?;
		}
		Ok(())
	}

	/// Puts everything on disk.
	pub fn finish(mut self) -> Result<(), FileError> {
		self.flush()?;
		for (path, file) in &self.files {
			file.get_ref().sync_all().map_err(at("write", path))?;
		}
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::bundle::Evaluation;

	fn rate(step: u32) -> f32 {
		0.5 / step as f32
	}

	/// A loss at every step from 1, a checkpoint at 0 and at every third step.
	fn lines(steps: u32) -> Vec<Line> {
		let validation = |step| Evaluation::new(0.1, step, 15);
		let mut lines = vec![Line::validation(0, &validation(0))];
		for step in 1..=steps {
			lines.push(Line::training(step, 1.0 / step as f32, (step > 2).then_some(step as f32)));
			if step % 3 == 0 {
				lines.push(Line::validation(step, &validation(step)));
			}
		}
		lines
	}

	fn write(records: &mut Records, lines: &[Line]) {
		for line in lines {
			records.push(line).unwrap();
			if line.validation_loss.is_some() {
				records.flush().unwrap();
			}
		}
	}

	fn contents(folder: &Path) -> [Vec<u8>; 2] {
		[CSV_FILE, EVENTS_FILE].map(|file| std::fs::read(folder.join(file)).unwrap())
	}

	#[test]
	fn each_step_stands_once_in_both() {
		let folder = tempfile::tempdir().unwrap();
		let mut records = Records::open(folder.path(), &[], rate).unwrap();
		write(&mut records, &lines(4));
		records.finish().unwrap();
		let [csv, events] = contents(folder.path());
		assert_eq!(
			String::from_utf8(csv).unwrap(),
			"step,loss,learning_rate,validation_loss,validation_accuracy,gradient_norm\n\
			 0,,,0.1,0,\n\
			 1,1,0.5,,,\n\
			 2,0.5,0.25,,,\n\
			 3,0.33333334,0.16666667,0.1,0.2,3\n\
			 4,0.25,0.125,,,4\n"
		);
		let found = tensorboard::read(&events);
		assert_eq!(found.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
		let value = |tag: &str, value| (tag.to_owned(), value);
		assert_eq!(
			found[3].1,
			[
				value("loss/training", 1.0 / 3.0),
				value("learning_rate", 0.5 / 3.0),
				value("loss/validation", 0.1),
				value("accuracy/validation", 0.2),
				value("gradient_norm", 3.0)
			]
		);
		assert_eq!(found[0].1, [value("loss/validation", 0.1), value("accuracy/validation", 0.0)]);
	}

	/// Whatever a killed process left: cut, longer, or nothing at all.
	#[test]
	fn opened_again_they_continue_with_the_lines_that_are_kept() {
		let folder = tempfile::tempdir().unwrap();
		let all = lines(9);
		let mut records = Records::open(folder.path(), &[], rate).unwrap();
		write(&mut records, &all);
		records.finish().unwrap();
		let whole = contents(folder.path());
		for kept in [3, 6, 9] {
			for damage in ["cut", "longer", "missing", "none"] {
				for (file, bytes) in [CSV_FILE, EVENTS_FILE].into_iter().zip(&whole) {
					let path = folder.path().join(file);
					match damage {
						"cut" => std::fs::write(&path, &bytes[..bytes.len() - 5]).unwrap(),
						"longer" => {
							std::fs::write(&path, [&bytes[..], &bytes[..9]].concat()).unwrap()
						}
						"missing" => std::fs::remove_file(&path).unwrap(),
						_ => {}
					}
				}
				let (before, after): (Vec<Line>, Vec<Line>) =
					all.iter().copied().partition(|line| line.step <= kept);
				let mut records = Records::open(folder.path(), &before, rate).unwrap();
				write(&mut records, &after);
				records.finish().unwrap();
				assert!(contents(folder.path()) == whole, "{damage} files, kept to step {kept}");
			}
		}
	}

	#[test]
	fn a_folder_that_is_gone_is_named() {
		let folder = tempfile::tempdir().unwrap().path().join("gone");
		let error = Records::open(&folder, &[], rate).err().unwrap().to_string();
		assert!(error.contains("cannot write") && error.contains(CSV_FILE), "{error}");
	}
}
