//! Draws trials of a project of drilling: loss and accuracy by learning rate.

use super::PlotError;
use plotters::{
	coord::{ranged1d::AsRangedCoord, ranged1d::Ranged, ranged1d::ValueFormatter, Shift},
	prelude::*,
};
use std::{collections::BTreeMap, path::Path};
use trainyard_proof::bundle::files;

/// Width of the picture, and height of its panels, in pixels.
const WIDTH: u32 = 960;
const TITLE_HEIGHT: u32 = 40;
const PANEL_HEIGHT: u32 = 320;
const FONT: &str = "sans-serif";
/// Colours of trials, and of their means (Okabe and Ito).
const TRIAL: RGBColor = RGBColor(0x00, 0x72, 0xb2);
const MEAN: RGBColor = RGBColor(0xd5, 0x5e, 0x00);
/// Losses that differ by more than this factor are drawn on a logarithmic axis.
const WIDE: f64 = 50.0;

/// A trial that ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
	/// Its learning rate, above 0.
	pub rate: f64,
	/// Validation loss, finite.
	pub loss: f64,
	/// Share of validation labels that are predicted.
	pub accuracy: f64,
}

/// Draws trials into a picture at `path`; `title` says of what. Trials whose loss is infinite are
/// not drawn.
pub fn write(title: &str, trials: &[Trial], path: &Path) -> Result<(), PlotError> {
	let trials: Vec<Trial> = trials.iter().copied().filter(|t| t.loss.is_finite()).collect();
	let picture = draw(title, &trials).map_err(|e| PlotError::Drawing(e.to_string()))?;
	Ok(files::write(path, picture.as_bytes())?)
}

type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

fn draw(title: &str, trials: &[Trial]) -> Drawn<String> {
	let mut picture = String::new();
	{
		let size = (WIDTH, TITLE_HEIGHT + 2 * PANEL_HEIGHT);
		let root = SVGBackend::with_string(&mut picture, size).into_drawing_area();
		root.fill(&WHITE)?;
		let (head, rest) = root.split_vertically(TITLE_HEIGHT);
		head.margin(10, 0, 0, 0).titled(title, (FONT, 20))?;
		let (upper, lower) = rest.split_vertically(PANEL_HEIGHT);
		let losses: Vec<(f64, f64)> = trials.iter().map(|t| (t.rate, t.loss)).collect();
		let hits: Vec<(f64, f64)> = trials.iter().map(|t| (t.rate, 100.0 * t.accuracy)).collect();
		let (low, high) = ends(&losses);
		match low > 0.0 && high / low > WIDE {
			true => panel(
				&upper,
				"validation loss (logarithmic)",
				&losses,
				(low / 1.5..high * 1.5).log_scale(),
			)?,
			false => panel(&upper, "validation loss", &losses, 0.0..high.max(1e-6) * 1.08)?,
		}
		let low = (ends(&hits).0 / 10.0).floor() * 10.0;
		panel(&lower, "accuracy, %", &hits, low.min(90.0)..100.0)?;
		root.present()?;
	}
	Ok(picture)
}

/// Returns the least and the largest ordinate.
fn ends(points: &[(f64, f64)]) -> (f64, f64) {
	let values = || points.iter().map(|(_, y)| *y);
	(values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
}

/// Returns the mean for each abscissa, ascending.
fn means(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
	let mut groups: BTreeMap<u64, (f64, f64, f64)> = BTreeMap::new();
	for (x, y) in points {
		// Positive numbers are ordered like their bits.
		let group = groups.entry(x.to_bits()).or_insert((*x, 0.0, 0.0));
		group.1 += y;
		group.2 += 1.0;
	}
	groups.into_values().map(|(x, sum, count)| (x, sum / count)).collect()
}

fn panel<Y>(
	area: &DrawingArea<SVGBackend<'_>, Shift>,
	quantity: &str,
	points: &[(f64, f64)],
	range: Y,
) -> Drawn<()>
where
	Y: AsRangedCoord<Value = f64>,
	Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
	let rates = || points.iter().map(|(rate, _)| *rate);
	let least = rates().fold(f64::INFINITY, f64::min).min(1.0);
	let most = rates().fold(0.0, f64::max).max(least);
	let mut chart = ChartBuilder::on(area)
		.margin(10)
		.x_label_area_size(40)
		.y_label_area_size(76)
		.build_cartesian_2d((least / 1.5..most * 1.5).log_scale(), range)?;
	chart
		.configure_mesh()
		.x_desc("learning rate (logarithmic)")
		.y_desc(quantity)
		.label_style((FONT, 14))
		.axis_desc_style((FONT, 15))
		.bold_line_style(BLACK.mix(0.12))
		.light_line_style(WHITE.mix(0.0))
		.x_label_formatter(&|x| format!("{x:e}"))
		.draw()?;
	chart.draw_series(points.iter().map(|at| Circle::new(*at, 3, TRIAL.mix(0.5).filled())))?;
	let line = LineSeries::new(means(points), MEAN.stroke_width(2));
	chart
		.draw_series(line)?
		.label("mean")
		.legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], MEAN.stroke_width(3)));
	chart
		.configure_series_labels()
		.position(SeriesLabelPosition::UpperMiddle)
		.label_font((FONT, 14))
		.background_style(WHITE.mix(0.85))
		.border_style(BLACK.mix(0.3))
		.draw()?;
	Ok(())
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn trials_are_drawn_with_their_means() {
		let trial = |rate, loss| Trial { rate, loss, accuracy: 0.9 };
		let trials =
			[trial(0.001, 0.5), trial(0.001, 0.3), trial(0.1, 40.0), trial(1.0, f64::INFINITY)];
		let folder = tempfile::tempdir().unwrap();
		let path = folder.path().join("rates.svg");
		write("Which rate?", &trials, &path).unwrap();
		let text = std::fs::read_to_string(&path).unwrap();
		assert!(text.contains("Which rate?") && text.contains("(logarithmic)"));
		// Three points in each panel.
		assert_eq!(text.matches("<circle").count(), 6);
		let points = [(0.001, 0.5), (0.1, 4.0), (0.001, 0.25)];
		assert_eq!(means(&points), [(0.001, 0.375), (0.1, 4.0)]);
	}

	#[test]
	fn no_trials_are_no_fault() {
		assert!(draw("nothing yet", &[]).unwrap().contains("nothing yet"));
	}
}
