//! `trainyard verify DIR`.

use crate::args::{DeviceArgs, InputArgs};
use crate::{
	table::{grouped, table, Align},
	terminal,
};
use anyhow::Context;
use primitive_types::H256;
use std::{
	path::{Path, PathBuf},
	process::ExitCode,
};
use trainyard_proof::{
	bundle::Bundle,
	verify::{
		self,
		movement::{Local, Measure, Pick, Walk},
		replay::end_in_words,
		rules::Rules,
		Choice, Full, Status, VerifyError,
	},
};

/// Exit code of a bundle that failed.
const FAILED: u8 = 1;
/// Exit code if nothing can be said.
const CANNOT_CHECK: u8 = 2;

#[derive(Debug, clap::Args)]
pub(super) struct Verify {
	/// Folder of the bundle.
	#[arg(value_name = "DIR")]
	dir: PathBuf,
	/// How many segments to replay, drawn at random, or `all`.
	#[arg(long, value_name = "N|all", default_value = "3")]
	segments: Choice,
	#[command(flatten)]
	inputs: InputArgs,
	#[command(flatten)]
	device: DeviceArgs,
	/// Say in which segment, beside the first and the last, the run moved farthest for what the
	/// segments around it do. Of tensors of 64 KiB and more two places are read, drawn at random. It
	/// decides nothing.
	#[arg(long)]
	movement: bool,
	/// Print JSON.
	#[arg(long)]
	json: bool,
}

/// Returns the segment in which the run in this folder moved farthest by each measure; none where
/// nothing moves.
fn farthest(dir: &Path) -> anyhow::Result<Vec<Pick>> {
	let bundle = Bundle::open(dir)?;
	let mut picks = Vec::new();
	for measure in Measure::ALL {
		let mut walk = Walk::of_bundle(&bundle, measure, &H256(rand::random()));
		let movement =
			walk.run(&mut Local(dir.to_owned())).context("cannot measure the movement")?;
		picks.extend(movement.pick());
	}
	Ok(picks)
}

impl Verify {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let chosen = self.device.choose().map_err(VerifyError::Engine);
		let checked =
			chosen.and_then(|()| verify::full(&self.dir, self.segments, &self.inputs.given()));
		let mut full = match checked {
			Ok(full) => full,
			Err(error) => {
				if self.json {
					let error = serde_json::json!({ "passed": null, "error": error.to_string() });
					println!("{}", terminal::pretty(&error)?);
				}
				eprintln!("cannot check {}: {error}", self.dir.display());
				return Ok(ExitCode::from(CANNOT_CHECK));
			}
		};
		// A bundle that failed may have other states than it lists.
		if self.movement && full.passed {
			full.movement = farthest(&self.dir)?;
		}
		match self.json {
			true => println!("{}", terminal::pretty(&full)?),
			false => print!("{}", text(&full)),
		}
		Ok(if full.passed { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
	}
}

/// Says where a run moved farthest, in a line.
fn moved(pick: &Pick) -> String {
	format!(
		"moved farthest in segment {}, beside the first and the last: {} by {:.1} times what is usual there",
		pick.segment, pick.tensor, pick.ratio
	)
}

fn text(full: &Full) -> String {
	let (report, diverged) = (&full.report, full.result.diverged_in());
	let rows: Vec<Vec<String>> = report
		.checks
		.iter()
		.map(|check| {
			let status = match check.status {
				Status::Pass => "pass",
				Status::Fail => "FAIL",
				Status::Skipped => "skipped",
			};
			vec![check.name.to_owned(), status.to_owned(), check.detail.clone()]
		})
		.collect();
	let header = [("check", Align::Left), ("", Align::Left), ("", Align::Left)];
	let mut out = table(&header, &rows);
	if !report.segments.is_empty() {
		let rows: Vec<Vec<String>> = report
			.segments
			.iter()
			.map(|s| {
				vec![
					s.evidence.segment.to_string(),
					format!("{} to {}", s.from_step, s.to_step),
					match (s.equal, s.evaluation_equal, s.trace_equal) {
						(_, false, _) if diverged == Some(s.evidence.segment) => "STAYS FINITE",
						(true, _, true) if diverged == Some(s.evidence.segment) => "diverges",
						_ if diverged == Some(s.evidence.segment) => "DIVERGES ELSEWHERE",
						(true, true, true) => "equal",
						(true, true, false) => "TRACE DIFFERS",
						(true, false, _) => "EVALUATION DIFFERS",
						(false, ..) => "DIFFERS",
					}
					.to_owned(),
					format!("{:.3} s", s.seconds),
					end_in_words(&s.evidence.leaf()),
				]
			})
			.collect();
		let header = [
			("segment", Align::Right),
			("steps", Align::Left),
			("replay", Align::Left),
			("time", Align::Right),
			("end state", Align::Left),
		];
		out.push('\n');
		out.push_str(&table(&header, &rows));
		out.push_str(&format!(
			"replayed {} FLOP, {:.2} % of training's {}, in {:.2} s\n",
			grouped(report.replayed_flop),
			100.0 * report.share,
			grouped(report.training_flop),
			report.replay_seconds
		));
	}
	if let Some(rules) = &report.rules {
		out.push_str("\nFull-pass rules: evidence, they decide nothing.\n");
		out.push_str(&rules_table(rules));
	}
	out.push_str(&format!("\n{}\n", report.summary));
	for pick in &full.movement {
		out.push_str(&format!("{}\n", moved(pick)));
	}
	out
}

/// Writes the six rules as a table.
pub(super) fn rules_table(rules: &Rules) -> String {
	let rows: Vec<Vec<String>> = rules
		.rules
		.iter()
		.map(|rule| {
			let kept = match rule.kept {
				Some(true) => "kept",
				Some(false) => "NOT KEPT",
				None => "-",
			};
			vec![
				rule.number.to_string(),
				rule.name.to_owned(),
				rule.value.map_or("-".into(), |value| format!("{value:.4}")),
				rule.threshold.to_string(),
				kept.to_owned(),
				format!("{} ({})", rule.statistic, rule.detail),
			]
		})
		.collect();
	let header = [
		("rule", Align::Right),
		("", Align::Left),
		("value", Align::Right),
		("threshold", Align::Left),
		("", Align::Left),
		("statistic", Align::Left),
	];
	table(&header, &rows)
}
