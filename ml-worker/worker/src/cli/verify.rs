//! `trainyard verify DIR`.

use super::certificate;
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
	/// Folder of the bundle. With a certificate it may be a model file as well.
	#[arg(value_name = "DIR", required_unless_present = "certificate")]
	dir: Option<PathBuf>,
	/// Check the certificate of a job, and with DIR whether that is what it certifies. It needs no node.
	#[arg(long, value_name = "FILE", requires = "genesis")]
	certificate: Option<PathBuf>,
	/// Hash of the genesis block of the certificate's chain, from somebody you trust: everything follows from it.
	#[arg(long, value_name = "HASH", requires = "certificate")]
	genesis: Option<H256>,
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
		match (&self.certificate, &self.genesis) {
			(Some(file), Some(genesis)) => self.certified(file, genesis),
			_ => self.bundle(),
		}
	}

	/// Checks a bundle. It is there wherever no certificate is.
	fn bundle(&self) -> anyhow::Result<ExitCode> {
		let dir = self.dir.as_deref().context("name a bundle")?;
		let full = match self.full(dir) {
			Ok(full) => full,
			Err(error) => return self.cannot_check(dir, &error),
		};
		match self.json {
			true => println!("{}", terminal::pretty(&full)?),
			false => print!("{}", text(&full)),
		}
		Ok(if full.passed { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
	}

	fn full(&self, dir: &Path) -> anyhow::Result<Full> {
		self.device.choose().map_err(VerifyError::Engine)?;
		let mut full = verify::full(dir, self.segments, &self.inputs.given())?;
		// A bundle that failed may have other states than it lists.
		if self.movement && full.passed {
			full.movement = farthest(dir)?;
		}
		Ok(full)
	}

	fn cannot_check(&self, path: &Path, error: &anyhow::Error) -> anyhow::Result<ExitCode> {
		// These say their causes themselves.
		let error = match error.downcast_ref::<VerifyError>() {
			Some(error) => error.to_string(),
			None => format!("{error:#}"),
		};
		if self.json {
			let error = serde_json::json!({ "passed": null, "error": error });
			println!("{}", terminal::pretty(&error)?);
		}
		eprintln!("{}", terminal::lines(&format!("cannot check {}: {error}", path.display())));
		Ok(ExitCode::from(CANNOT_CHECK))
	}

	/// Checks a certificate, and whether what is named beside it is certified.
	fn certified(&self, file: &Path, genesis: &H256) -> anyhow::Result<ExitCode> {
		let statement = match certificate::check(file, genesis) {
			Ok(Ok(statement)) => statement,
			Ok(Err(refusal)) => {
				if self.json {
					let refused =
						serde_json::json!({ "passed": false, "error": refusal.to_string() });
					println!("{}", terminal::pretty(&refused)?);
				}
				let text = format!("failed: {} is refused: {refusal}", file.display());
				eprintln!("{}", terminal::lines(&text));
				return Ok(ExitCode::from(FAILED));
			}
			Err(error) => return self.cannot_check(file, &error),
		};
		if !self.json {
			print!("{}", certificate::describe(&statement));
			println!("\npassed: all of this follows from the genesis hash that you named");
		}
		let mut found = serde_json::json!({ "passed": true, "certificate": statement });
		let mut passed = true;
		match self.dir.as_deref() {
			None => {}
			Some(dir) if dir.is_dir() => {
				let full = match self.full(dir) {
					Ok(full) => full,
					Err(error) => return self.cannot_check(dir, &error),
				};
				let is_certified = certificate::is_bundle(&statement, &full);
				passed = full.passed && is_certified;
				if !self.json {
					println!("\n{}", text(&full));
					println!("{}", verdict(dir, "bundle", is_certified));
				}
				found["bundle"] = serde_json::json!(full);
				found["certified"] = is_certified.into();
			}
			Some(path) => {
				let (is_certified, root) = match certificate::is_model(&statement, path) {
					Ok(found) => found,
					Err(error) => return self.cannot_check(path, &error),
				};
				passed = is_certified;
				if !self.json {
					println!("{} (blob root {root:?})", verdict(path, "model", is_certified));
				}
				found["model"] = serde_json::json!({ "file": path, "blob_root": root });
				found["certified"] = is_certified.into();
			}
		}
		found["passed"] = passed.into();
		if self.json {
			println!("{}", terminal::pretty(&found)?);
		}
		Ok(if passed { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
	}
}

/// Says whether what is at a path is certified.
fn verdict(path: &Path, what: &str, is_certified: bool) -> String {
	match is_certified {
		true => format!("passed: {} is a {what} that is certified", path.display()),
		false => format!("failed: {} is no {what} of this certificate", path.display()),
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
