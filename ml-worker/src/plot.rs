//! Curves of a run: training and validation loss, validation accuracy.

use crate::bundle::{
	files::{self, FileError},
	metrics::{self, Line},
	CURVES_FILE,
};
use plotters::{coord::Shift, prelude::*};
use std::path::{Path, PathBuf};

const SIZE: (u32, u32) = (960, 720);
const TRAINING: RGBColor = RGBColor(0x9e, 0xbc, 0xda);
const VALIDATION: RGBColor = RGBColor(0x81, 0x0f, 0x7c);

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
	/// Nothing was recorded.
	#[error("{0} has no metrics yet: metrics.jsonl is missing or empty")]
	NoMetrics(PathBuf),
	/// Drawing failed.
	#[error("drawing failed: {0}")]
	Drawing(String),
	/// A file cannot be read or written.
	#[error(transparent)]
	File(#[from] FileError),
}

/// Draws `metrics.jsonl` of the bundle in `folder` into `curves.svg` beside it, and returns
/// its path.
pub fn write_curves(folder: &Path) -> Result<PathBuf, PlotError> {
	let lines = metrics::read(folder)?;
	if lines.is_empty() {
		return Err(PlotError::NoMetrics(folder.to_owned()));
	}
	let picture = draw(&lines).map_err(|e| PlotError::Drawing(e.to_string()))?;
	let path = folder.join(CURVES_FILE);
	files::write(&path, picture.as_bytes())?;
	Ok(path)
}

type Drawn<T> = Result<T, Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The picture as SVG text.
fn draw(lines: &[Line]) -> Drawn<String> {
	let (mut training, mut validation, mut accuracy) = (Vec::new(), Vec::new(), Vec::new());
	for line in lines {
		let step = f64::from(line.step);
		training.extend(line.loss.map(|loss| (step, f64::from(loss))));
		validation.extend(line.validation_loss.map(|loss| (step, f64::from(loss))));
		accuracy.extend(line.validation_accuracy.map(|share| (step, 100.0 * share)));
	}
	let steps = lines.iter().map(|line| line.step).max().unwrap_or(0).max(1);
	let highest = training.iter().chain(&validation).map(|(_, y)| *y).fold(1e-6, f64::max);
	let mut picture = String::new();
	{
		let root = SVGBackend::with_string(&mut picture, SIZE).into_drawing_area();
		root.fill(&WHITE)?;
		let (upper, lower) = root.split_vertically(SIZE.1 / 2);
		let title = match accuracy.last() {
			Some((_, last)) => format!("validation accuracy: {last:.2} % at the end"),
			None => "validation accuracy".to_owned(),
		};
		let losses: &[Curve] =
			&[("training loss", TRAINING, &training), ("validation loss", VALIDATION, &validation)];
		panel(&upper, "loss", steps, highest * 1.05, losses)?;
		panel(&lower, &title, steps, 100.0, &[("accuracy, %", VALIDATION, &accuracy)])?;
		root.present()?;
	}
	Ok(picture)
}

/// Name, colour and points of a curve.
type Curve<'a> = (&'a str, RGBColor, &'a [(f64, f64)]);

fn panel(area: &Area<'_>, title: &str, steps: u32, top: f64, curves: &[Curve<'_>]) -> Drawn<()> {
	let mut chart = ChartBuilder::on(area)
		.margin(12)
		.caption(title, ("sans-serif", 22))
		.x_label_area_size(36)
		.y_label_area_size(56)
		.build_cartesian_2d(0.0..f64::from(steps), 0.0..top)?;
	chart
		.configure_mesh()
		.x_desc("step")
		.label_style(("sans-serif", 15))
		.axis_desc_style(("sans-serif", 15))
		.light_line_style(WHITE.mix(0.0))
		.x_label_formatter(&|x| format!("{x:.0}"))
		.draw()?;
	for (name, colour, points) in curves {
		let colour = *colour;
		chart
			.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?
			.label(*name)
			.legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3)));
	}
	chart
		.configure_series_labels()
		.label_font(("sans-serif", 15))
		.background_style(WHITE.mix(0.8))
		.border_style(BLACK.mix(0.3))
		.draw()?;
	Ok(())
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::bundle::Validation;

	#[test]
	fn both_panels_are_drawn() {
		let dir = tempfile::tempdir().unwrap();
		assert!(matches!(write_curves(dir.path()), Err(PlotError::NoMetrics(_))));
		let mut writer = metrics::Writer::open(dir.path(), None, |_| 0.1).unwrap();
		for step in 0..20u32 {
			writer.push(&Line::training(step + 1, 2.0 / (step + 1) as f32)).unwrap();
			if step % 5 == 0 {
				let validation = Validation { loss: 1.0, correct: step, rows: 20 };
				writer.push(&Line::validation(step, &validation)).unwrap();
			}
		}
		writer.sync().unwrap();
		let picture = std::fs::read_to_string(write_curves(dir.path()).unwrap()).unwrap();
		for part in ["<svg", "training loss", "validation loss", "75.00 % at the end", "polyline"] {
			assert!(picture.contains(part), "{part} is not in the picture");
		}
	}
}
