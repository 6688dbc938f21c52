//! `trainyard profile JOB.toml`: what the full-pass rules measure on honest runs.

use crate::job_toml;
use crate::table::{table, Align};
use anyhow::Context;
use primitive_types::H256;
use std::{path::PathBuf, process::ExitCode, sync::atomic::AtomicBool};
use trainyard_proof::{
	bundle::thinning::Thinning,
	hash::Hasher,
	inputs::{GivenFiles, Inputs},
	train::{self, TrainOptions},
	verify::{
		rules::{self, Rules},
		stats::mean_and_deviation,
	},
};

#[derive(Debug, clap::Args)]
pub(super) struct Profile {
	/// The job.
	#[arg(value_name = "JOB.toml")]
	job: PathBuf,
	/// How many honest runs, each under another seed.
	#[arg(long, value_name = "N", default_value_t = 20)]
	seeds: u32,
	/// Print JSON.
	#[arg(long)]
	json: bool,
}

/// Returns the seed of profiling run `run`.
fn seed(run: u32) -> H256 {
	let mut hasher = Hasher::default();
	hasher.update(b"trainyard/profile/v1");
	hasher.update(&run.to_le_bytes());
	hasher.finish()
}

impl Profile {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let job = job_toml::load(&self.job)?;
		let paths = job.inputs(&GivenFiles::default(), &self.job)?;
		let Inputs { data, .. } = Inputs::load(&job.spec, &paths)?;
		let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
		let mut runs: Vec<Rules> = Vec::new();
		for run in 0..self.seeds {
			let seed = seed(run);
			let out = folder.path().join(run.to_string());
			let options = TrainOptions {
				out: &out,
				resume: false,
				keep: Thinning::NONE,
				cheat: None,
				progress: &mut |_| {},
				stop: &AtomicBool::new(false),
			};
			let bundle = train::run(&job.spec, seed, &paths, options)?;
			runs.push(rules::assess(&bundle, &job.spec, seed, data.clone())?);
			eprintln!("run {} of {}", run + 1, self.seeds);
			// Only the figures are kept.
			let _ = std::fs::remove_dir_all(&out);
		}
		match self.json {
			true => println!("{}", serde_json::to_string_pretty(&runs)?),
			false => print!("{}", summary(&runs)),
		}
		Ok(ExitCode::SUCCESS)
	}
}

/// Writes, for each rule, least, mean, deviation and greatest of its statistic, its threshold, and
/// in how many runs it was kept.
fn summary(runs: &[Rules]) -> String {
	let mut rows = Vec::new();
	for (at, rule) in runs.iter().flat_map(|run| run.rules.iter()).take(6).enumerate() {
		let of_rule = || runs.iter().filter_map(|run| run.rules.get(at));
		let values: Vec<f64> = of_rule().filter_map(|rule| rule.value).collect();
		let (mean, deviation) = mean_and_deviation(&values);
		let least = values.iter().copied().fold(f64::INFINITY, f64::min);
		let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
		let kept = of_rule().filter(|rule| rule.kept == Some(true)).count();
		let mut row = vec![rule.number.to_string(), rule.statistic.to_owned()];
		row.extend([least, mean, deviation, greatest].map(|x| format!("{x:.4}")));
		row.extend([rule.threshold.to_string(), format!("{kept} of {}", runs.len())]);
		rows.push(row);
	}
	let header = [
		("rule", Align::Right),
		("statistic", Align::Left),
		("least", Align::Right),
		("mean", Align::Right),
		("deviation", Align::Right),
		("greatest", Align::Right),
		("threshold", Align::Left),
		("kept", Align::Right),
	];
	table(&header, &rows)
}
