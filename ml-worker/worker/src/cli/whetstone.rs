//! `trainyard whetstone`.

use crate::table::{table, Align};
use crate::whetstone::{
	self,
	training::{self, StrictTraining},
	Precision, Whetstone,
};
use serde::Serialize;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(super) struct WhetstoneCommand {
	/// About how long each measurement takes, in seconds. There are three (Whetstone in single
	/// and in double precision, strict training), each on one thread and on all.
	#[arg(long, value_name = "S", default_value = "5", value_parser = parse_seconds)]
	seconds: f64,
	/// Print JSON.
	#[arg(long)]
	json: bool,
}

/// Reads a duration that can be measured and waited for.
fn parse_seconds(text: &str) -> Result<f64, String> {
	match text.parse::<f64>() {
		Ok(seconds) if (0.001..=3_600.0).contains(&seconds) => Ok(seconds),
		_ => Err("a number of seconds from 0.001 to 3600 is needed".into()),
	}
}

/// The measurements.
#[derive(Serialize)]
struct Report {
	/// Logical processors that this process may use.
	processors: usize,
	whetstone: Vec<Whetstone>,
	strict_training: StrictTraining,
}

impl Report {
	fn measure(seconds: f64) -> Result<Self, training::TrainingError> {
		let threads = whetstone::thread_counts();
		Ok(Self {
			processors: whetstone::processors(),
			whetstone: [Precision::Single, Precision::Double]
				.map(|precision| Whetstone::measure(precision, seconds, &threads))
				.into(),
			strict_training: StrictTraining::measure(seconds, &threads)?,
		})
	}
}

impl WhetstoneCommand {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let report = Report::measure(self.seconds)?;
		match self.json {
			true => println!("{}", serde_json::to_string_pretty(&report)?),
			false => print!("{}", text(&report)),
		}
		if report.whetstone.iter().all(Whetstone::as_expected) {
			return Ok(ExitCode::SUCCESS);
		}
		eprintln!(
			"error: a section did not give its published result, so this machine (or the way this \
			 program was built) computes wrongly, and the rates mean nothing. Run the tests of the \
			 engine before training on it"
		);
		Ok(ExitCode::FAILURE)
	}
}

fn name(precision: Precision) -> &'static str {
	match precision {
		Precision::Single => "single",
		Precision::Double => "double",
	}
}

fn text(report: &Report) -> String {
	let mut out = String::new();
	for run in &report.whetstone {
		out.push_str(&format!("Whetstone, {} precision, one thread\n\n", name(run.precision)));
		out.push_str(&sections(run));
		out.push('\n');
	}
	out.push_str(&totals(report));
	let training = &report.strict_training;
	let speed = training.totals.first().map_or(0.0, |one| one.flop_per_second / 1e6);
	out.push_str(&format!(
		"\n1 ut is 1/200 day of a machine of 1,000 MWIPS, counted as 4.32e11 FLOP. Power on chain is\n\
		 the FLOP of training. Threads: one, then one for each of the {} logical processors that\n\
		 this process may use, side by side; their work is added.\n\
		 Strict training: {}, {} kernel, one job on each thread.\n\
		 For `trainyard trainer`: --speed-mflops {speed:.0} suits such jobs.\n",
		report.processors, training.job, training.kernel,
	));
	out
}

/// Writes the table of sections, as the benchmark prints it.
fn sections(run: &Whetstone) -> String {
	let header = [
		("section", Align::Left),
		("result", Align::Right),
		("published", Align::Right),
		("", Align::Left),
		("MFLOPS", Align::Right),
		("MOPS", Align::Right),
		("seconds", Align::Right),
	];
	let rate = |rate: Option<f64>| rate.map(|rate| format!("{rate:.1}")).unwrap_or_default();
	let mut rows: Vec<Vec<String>> = run
		.sections
		.iter()
		.map(|section| {
			vec![
				section.name.into(),
				format!("{:.15}", section.result),
				format!("{:.15}", section.expected),
				if section.as_expected { "ok" } else { "WRONG" }.into(),
				rate(section.mflops),
				rate(section.mops),
				format!("{:.3}", section.seconds),
			]
		})
		.collect();
	let seconds: f64 = run.sections.iter().map(|section| section.seconds).sum();
	rows.push(vec![
		format!("all, {} passes", run.passes),
		String::new(),
		String::new(),
		String::new(),
		String::new(),
		String::new(),
		format!("{seconds:.3}"),
	]);
	table(&header, &rows)
}

/// Writes what this machine is worth.
fn totals(report: &Report) -> String {
	let header = [
		("this machine by", Align::Left),
		("threads", Align::Right),
		("speed", Align::Right),
		("", Align::Left),
		("ut/day", Align::Right),
	];
	let whetstone = report.whetstone.iter().flat_map(|run| {
		run.totals.iter().map(|total| {
			vec![
				format!("Whetstone, {}", name(run.precision)),
				total.threads.to_string(),
				format!("{:.1}", total.mwips),
				"MWIPS".into(),
				format!("{:.1}", total.ut_per_day),
			]
		})
	});
	let training = report.strict_training.totals.iter().map(|total| {
		vec![
			"strict training".into(),
			total.threads.to_string(),
			format!("{:.1}", total.flop_per_second / 1e6),
			"MFLOP/s".into(),
			format!("{:.1}", total.ut_per_day),
		]
	});
	table(&header, &whetstone.chain(training).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn seconds_are_bounded() {
		assert_eq!(parse_seconds("0.25"), Ok(0.25));
		for bad in ["0", "-1", "nan", "inf", "3601", "long"] {
			assert!(parse_seconds(bad).is_err(), "{bad}");
		}
	}

	#[test]
	fn the_report_has_all_parts() {
		let report = Report::measure(0.001).unwrap();
		let json = serde_json::to_value(&report).unwrap();
		let all = whetstone::thread_counts();
		assert_eq!(json["processors"], *all.last().unwrap());
		for (index, precision) in ["single", "double"].into_iter().enumerate() {
			let run = &json["whetstone"][index];
			assert_eq!(run["precision"], precision);
			assert!(run["passes"].as_u64().unwrap() >= 1);
			let sections = run["sections"].as_array().unwrap();
			assert_eq!(sections.len(), 8);
			for section in sections {
				assert_eq!(section["as_expected"], true, "{section}");
				assert!(section["result"].is_f64() && section["expected"].is_f64());
				assert!(section["seconds"].as_f64().unwrap() > 0.0);
				assert!(section["mflops"].is_f64() != section["mops"].is_f64(), "{section}");
			}
			let totals = run["totals"].as_array().unwrap();
			assert_eq!(totals.len(), all.len());
			for (total, threads) in totals.iter().zip(&all) {
				assert_eq!(total["threads"], *threads);
				let by_mwips = total["mwips"].as_f64().unwrap() / 1_000.0 * 200.0;
				let ut = total["ut_per_day"].as_f64().unwrap();
				assert!((ut / by_mwips - 1.0).abs() < 1e-12, "{total}");
			}
		}
		let training = &json["strict_training"];
		assert!(training["job"].is_string() && training["kernel"].is_string());
		for (total, threads) in training["totals"].as_array().unwrap().iter().zip(&all) {
			assert_eq!(total["threads"], *threads);
			assert!(total["flop"].as_u64().unwrap() > 0);
			assert!(total["flop_per_second"].as_f64().unwrap() > 0.0);
			assert!(total["ut_per_day"].as_f64().unwrap() > 0.0);
		}
		let text = text(&report);
		for part in ["N1 floating point", "N8 exp,sqrt etc.", "MWIPS", "ut/day", "MFLOP/s"] {
			assert!(text.contains(part), "{part}:\n{text}");
		}
		assert!(!text.contains("WRONG"), "{text}");
	}
}
