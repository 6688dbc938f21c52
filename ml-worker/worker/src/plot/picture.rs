//! Draws the picture: panels below each other, one curve or more for each run.

use super::{Points, Run};
use plotters::{
	coord::{
		ranged1d::{AsRangedCoord, Ranged, ValueFormatter},
		Shift,
	},
	prelude::*,
};

/// Width of the picture, and height of its panels, in pixels.
const WIDTH: u32 = 960;
const LOSS_HEIGHT: u32 = 380;
const PANEL_HEIGHT: u32 = 250;
const TITLE_HEIGHT: u32 = 40;

const FONT: &str = "sans-serif";

/// Colours of runs: those of Okabe and Ito, which people with any colour vision can distinguish.
const COLOURS: [RGBColor; 7] = [
	RGBColor(0x00, 0x72, 0xb2),
	RGBColor(0xd5, 0x5e, 0x00),
	RGBColor(0x00, 0x9e, 0x73),
	RGBColor(0xcc, 0x79, 0xa7),
	RGBColor(0xe6, 0x9f, 0x00),
	RGBColor(0x56, 0xb4, 0xe9),
	RGBColor(0x33, 0x33, 0x33),
];

/// Losses that differ by more than this factor are drawn on a logarithmic axis.
const WIDE: f64 = 50.0;
/// The number of means of the training loss that are drawn.
const MEANS: usize = 50;
/// The axis of the accuracy begins at the lowest one after this share of the run.
const RISE: f64 = 0.1;
/// Checkpoints are marked by points if there are at most this many.
const MARKED: usize = 60;

type Drawn<T> = Result<T, Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A curve.
struct Curve {
	/// Name in the legend; none for a curve that needs none.
	name: Option<String>,
	colour: RGBAColor,
	width: u32,
	points: Points,
	/// Points of it that are marked.
	marks: Points,
}

/// What a panel shows.
struct Panel {
	title: String,
	/// What its vertical axis shows.
	quantity: String,
	/// The last step.
	steps: u32,
	/// Ends of the vertical axis.
	range: (f64, f64),
	/// The place of the legend.
	legend: SeriesLabelPosition,
	curves: Vec<Curve>,
}

/// Returns the picture of these runs as SVG.
pub(super) fn draw(runs: &[Run]) -> Drawn<String> {
	let rates = learning_rates(runs);
	let panels = if rates.is_some() { 2 } else { 1 };
	let size = (WIDTH, TITLE_HEIGHT + LOSS_HEIGHT + panels * PANEL_HEIGHT);
	let mut picture = String::new();
	{
		let root = SVGBackend::with_string(&mut picture, size).into_drawing_area();
		root.fill(&WHITE)?;
		let heading = match runs {
			[run] => run.heading.clone(),
			_ => format!("{} runs", runs.len()),
		};
		let (title, rest) = root.split_vertically(TITLE_HEIGHT);
		title.margin(10, 0, 0, 0).titled(&heading, (FONT, 20))?;
		let (upper, rest) = rest.split_vertically(LOSS_HEIGHT);
		let (loss, logarithmic) = losses(runs);
		match logarithmic {
			true => panel(&upper, &loss, (loss.range.0..loss.range.1).log_scale())?,
			false => panel(&upper, &loss, loss.range.0..loss.range.1)?,
		}
		let (middle, lower) = rest.split_vertically(PANEL_HEIGHT);
		for (area, shown) in [(middle, Some(accuracies(runs))), (lower, rates)] {
			if let Some(shown) = shown {
				panel(&area, &shown, shown.range.0..shown.range.1)?;
			}
		}
		root.present()?;
	}
	Ok(picture)
}

fn colour(run: usize) -> RGBColor {
	COLOURS[run % COLOURS.len()]
}

fn steps(runs: &[Run]) -> u32 {
	runs.iter().map(|run| run.steps).max().unwrap_or(1)
}

/// Returns the panel of training and validation losses, and whether its axis is logarithmic.
fn losses(runs: &[Run]) -> (Panel, bool) {
	let mut curves = Vec::new();
	let mut seen: Vec<f64> = Vec::new();
	for (number, run) in runs.iter().enumerate() {
		let alone = runs.len() == 1;
		let named = |name: &str| alone.then(|| name.to_owned());
		let (means, batches) = means(&run.training);
		// With one run the validation has the second colour, with several each run has one.
		let (strong, light) = match alone {
			true => (colour(1), colour(0)),
			false => (colour(number), colour(number)),
		};
		if alone && batches > 1 {
			curves.push(Curve {
				name: named("training, one batch"),
				colour: light.mix(0.25),
				width: 1,
				points: run.training.clone(),
				marks: Points::new(),
			});
		}
		let name = match batches {
			1 => "training".to_owned(),
			_ => format!("training, mean of {batches}"),
		};
		seen.extend(means.iter().chain(&run.validation).map(|(_, loss)| *loss));
		curves.push(Curve {
			name: named(&name),
			colour: light.mix(if alone { 1.0 } else { 0.45 }),
			width: 2,
			points: means,
			marks: Points::new(),
		});
		curves.push(Curve {
			name: Some(if alone { "validation".to_owned() } else { run.name.clone() }),
			colour: strong.mix(1.0),
			width: 2,
			points: run.validation.clone(),
			marks: if_few(&run.validation),
		});
	}
	let highest = seen.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
	let lowest = seen.iter().copied().filter(|loss| *loss > 0.0).fold(highest, f64::min);
	let logarithmic = highest / lowest > WIDE;
	let range = match logarithmic {
		true => (lowest / 1.5, highest * 1.5),
		false => (0.0, highest * 1.08),
	};
	// Single batches may lie outside; nothing is drawn beside the panel.
	for (_, loss) in curves.iter_mut().flat_map(|curve| &mut curve.points) {
		*loss = loss.clamp(range.0, range.1);
	}
	let kind = match runs {
		[first, rest @ ..] if rest.iter().all(|run| run.loss == first.loss) => first.loss,
		_ => "loss",
	};
	let title = match runs {
		[run] => match ends(&run.validation, f64::min) {
			Some((last, (step, best))) => {
				format!("loss: {last:.4} in validation at the end, lowest {best:.4} at step {step}")
			}
			None => "loss".to_owned(),
		},
		_ => "loss: pale in training, strong in validation".to_owned(),
	};
	let legend = SeriesLabelPosition::UpperRight;
	let quantity = match logarithmic {
		true => format!("{kind} (logarithmic)"),
		false => kind.to_owned(),
	};
	(Panel { title, quantity, steps: steps(runs), range, legend, curves }, logarithmic)
}

fn accuracies(runs: &[Run]) -> Panel {
	let all = || runs.iter().flat_map(|run| &run.accuracy);
	let highest = (all().map(|(_, percent)| *percent).fold(0.0, f64::max) / 10.0).ceil() * 10.0;
	// What comes later is drawn large: the rise of the first tenth may lie below.
	let first = f64::from(steps(runs)) * RISE;
	let late = all().filter(|(step, _)| *step >= first).map(|(_, percent)| *percent);
	let lowest = (late.fold(highest, f64::min) / 10.0).floor() * 10.0;
	let range = (lowest, highest.max(lowest + 1.0));
	let title = match runs {
		[run] => match ends(&run.accuracy, f64::max) {
			Some((last, (step, best))) => format!(
				"validation accuracy: {last:.2} % at the end, highest {best:.2} % at step {step}"
			),
			None => "validation accuracy".to_owned(),
		},
		_ => "validation accuracy".to_owned(),
	};
	Panel {
		title,
		quantity: "accuracy, %".to_owned(),
		steps: steps(runs),
		range,
		legend: SeriesLabelPosition::LowerRight,
		curves: one_for_each(runs, |run| above(&run.accuracy, lowest)),
	}
}

/// Returns the panel of the learning rates, unless they are all the same all the time.
fn learning_rates(runs: &[Run]) -> Option<Panel> {
	let mut seen = runs.iter().flat_map(|run| &run.learning_rate).map(|(_, rate)| *rate);
	let first = seen.next()?;
	let (same, highest) =
		seen.fold((true, first), |(same, high), rate| (same && rate == first, high.max(rate)));
	(!same).then(|| Panel {
		title: "learning rate".to_owned(),
		quantity: "learning rate".to_owned(),
		steps: steps(runs),
		range: (0.0, highest * 1.08),
		legend: SeriesLabelPosition::LowerMiddle,
		curves: one_for_each(runs, |run| (run.learning_rate.clone(), Points::new())),
	})
}

/// Returns a curve for each run; `points` returns the points of its line, and those that are
/// marked.
fn one_for_each(runs: &[Run], points: impl Fn(&Run) -> (Points, Points)) -> Vec<Curve> {
	let alone = runs.len() == 1;
	let curve = |(number, run): (usize, &Run)| {
		let (points, marks) = points(run);
		Curve {
			name: (!alone).then(|| run.name.clone()),
			colour: colour(if alone { 1 } else { number }).mix(1.0),
			width: 2,
			points,
			marks,
		}
	};
	runs.iter().enumerate().map(curve).collect()
}

/// Returns the points, unless they are too many to distinguish.
fn if_few(points: &[(f64, f64)]) -> Points {
	if points.len() <= MARKED {
		points.to_vec()
	} else {
		Points::new()
	}
}

/// Returns the part of a line that is not below `low`, and its points.
fn above(points: &[(f64, f64)], low: f64) -> (Points, Points) {
	let (mut line, mut last) = (Points::new(), None);
	for now in points {
		if let Some((x, y)) = last.filter(|(_, y): &(f64, f64)| (*y < low) != (now.1 < low)) {
			line.push((x + (now.0 - x) * (low - y) / (now.1 - y), low));
		}
		if now.1 >= low {
			line.push(*now);
		}
		last = Some(*now);
	}
	let inside: Points = points.iter().copied().filter(|(_, y)| *y >= low).collect();
	(line, if_few(&inside))
}

/// Returns the last value, and the best one, by `better` of two, with its first step.
fn ends(points: &[(f64, f64)], better: fn(f64, f64) -> f64) -> Option<(f64, (f64, f64))> {
	let (_, last) = *points.last()?;
	let best = points.iter().map(|(_, value)| *value).reduce(better)?;
	let at = points.iter().find(|(_, value)| *value == best)?;
	Some((last, *at))
}

/// Returns means of neighbouring points, and of how many; the points themselves if there are few.
fn means(points: &[(f64, f64)]) -> (Points, usize) {
	let size = (points.len() / MEANS).max(1);
	let mean = |part: &[(f64, f64)]| {
		let n = part.len() as f64;
		let (x, y) = part.iter().fold((0.0, 0.0), |sum, at| (sum.0 + at.0, sum.1 + at.1));
		(x / n, y / n)
	};
	(points.chunks(size).map(mean).collect(), size)
}

/// Writes a number on an axis, as short as it can be.
fn tick(value: f64) -> String {
	match value.abs() {
		0.0 => "0".to_owned(),
		size if !(1e-4..1e6).contains(&size) => format!("{value:.1e}"),
		_ => {
			let text = format!("{value:.4}");
			text.trim_end_matches('0').trim_end_matches('.').to_owned()
		}
	}
}

fn panel<Y>(area: &Area<'_>, panel: &Panel, range: Y) -> Drawn<()>
where
	Y: AsRangedCoord<Value = f64>,
	Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
	let mut chart = ChartBuilder::on(area)
		.margin(10)
		.caption(&panel.title, (FONT, 18))
		.x_label_area_size(40)
		.y_label_area_size(76)
		.build_cartesian_2d(0.0..f64::from(panel.steps), range)?;
	chart
		.configure_mesh()
		.x_desc("step")
		.y_desc(&panel.quantity)
		.label_style((FONT, 14))
		.axis_desc_style((FONT, 15))
		.bold_line_style(BLACK.mix(0.12))
		.light_line_style(WHITE.mix(0.0))
		.x_label_formatter(&|step| format!("{step:.0}"))
		.y_label_formatter(&|value| tick(*value))
		.draw()?;
	for curve in &panel.curves {
		let style = ShapeStyle { color: curve.colour, filled: true, stroke_width: curve.width };
		chart.draw_series(curve.marks.iter().map(|at| Circle::new(*at, 3, style)))?;
		let drawn = chart.draw_series(LineSeries::new(curve.points.iter().copied(), style))?;
		if let Some(name) = &curve.name {
			let style = ShapeStyle { stroke_width: 3, ..style };
			drawn.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
		}
	}
	if panel.curves.iter().any(|curve| curve.name.is_some()) {
		chart
			.configure_series_labels()
			.position(panel.legend.clone())
			.label_font((FONT, 14))
			.background_style(WHITE.mix(0.85))
			.border_style(BLACK.mix(0.3))
			.draw()?;
	}
	Ok(())
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn axes_are_read_easily() {
		let found = [0.0, 0.5, 0.0001, 20.0, 1_500.0, 2e-5, 3e7].map(tick);
		assert_eq!(found, ["0", "0.5", "0.0001", "20", "1500", "2.0e-5", "3.0e7"]);
	}

	#[test]
	fn the_best_value_is_named_with_its_first_step() {
		let points = vec![(0.0, 3.0), (5.0, 1.0), (10.0, 1.0), (15.0, 2.0)];
		assert_eq!(ends(&points, f64::min), Some((2.0, (5.0, 1.0))));
		assert_eq!(ends(&points, f64::max), Some((2.0, (0.0, 3.0))));
		assert_eq!(ends(&[], f64::max), None);
	}

	#[test]
	fn a_line_begins_where_it_rises_into_the_panel() {
		let points = [(0.0, 10.0), (10.0, 70.0), (20.0, 90.0), (30.0, 60.0), (40.0, 80.0)];
		let (line, marks) = above(&points, 80.0);
		assert_eq!(
			line,
			[(15.0, 80.0), (20.0, 90.0), (20.0 + 10.0 / 3.0, 80.0), (40.0, 80.0), (40.0, 80.0)]
		);
		assert_eq!(marks, [(20.0, 90.0), (40.0, 80.0)]);
		assert_eq!(above(&points, 0.0), (points.to_vec(), points.to_vec()));
	}

	#[test]
	fn many_batches_become_their_means() {
		let points: Points = (0..1_000).map(|i| (f64::from(i), f64::from(i % 2))).collect();
		let (found, size) = means(&points);
		assert_eq!((found.len(), size), (50, 20));
		assert_eq!(found[0], (9.5, 0.5));
		let few: Points = points[..99].to_vec();
		assert_eq!(means(&few), (few.clone(), 1));
	}

	/// Makes a run with these losses in training and validation.
	fn run(training: impl Fn(f64) -> f64) -> Run {
		let points: Points = (1..=200).map(|i| (f64::from(i), training(f64::from(i)))).collect();
		let validation: Points = points.iter().copied().step_by(20).collect();
		Run { training: points, validation, steps: 200, loss: "loss", ..Run::default() }
	}

	#[test]
	fn wide_losses_are_drawn_logarithmically_and_all_inside_the_panel() {
		let (narrow, logarithmic) = losses(&[run(|i| 2.0 - i / 200.0)]);
		assert!(!logarithmic);
		assert_eq!(narrow.range.0, 0.0);
		let (wide, logarithmic) = losses(&[run(|i| if i == 50.0 { 1e6 } else { 10.0 / (i * i) })]);
		assert!(logarithmic);
		let (low, high) = wide.range;
		assert!(wide.curves.iter().flat_map(|c| &c.points).all(|(_, y)| (low..=high).contains(y)));
		let text = draw(&[run(|i| 10.0 / (i * i))]).unwrap();
		assert!(text.contains("(logarithmic)"));
	}
}
