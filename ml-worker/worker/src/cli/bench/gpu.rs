//! `trainyard bench gpu`.

use super::{machine, seconds};
use crate::table::{grouped, table, Align};
use anyhow::bail;
use serde::Serialize;
use std::{io::IsTerminal, process::ExitCode};
use trainyard_bench::{
	gpu::{self, Row},
	train::parse_models,
	Machine,
};
use trainyard_engine::{Compute, Target};

#[derive(Debug, clap::Args)]
pub(super) struct Gpu {
	/// Models that train, separated by commas.
	#[arg(long, default_value = "mlp,cnn,transformer,gpt")]
	models: String,
	/// Time for each model, and for laps.
	#[arg(long, default_value_t = 5.0, value_name = "SECONDS", allow_negative_numbers = true)]
	seconds: f64,
	/// Print JSON.
	#[arg(long)]
	json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
	machine: Machine,
	threads: usize,
	gpu: String,
	rows: Vec<Row>,
}

impl Gpu {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let models = parse_models(&self.models)?;
		let time = seconds(self.seconds)?;
		let target = Compute::chosen().target()?;
		let Target::Cuda(device) = &target else {
			bail!("bench gpu compares a GPU with the processor; name it with --device cuda")
		};
		let show = |what: &str| {
			if std::io::stderr().is_terminal() {
				eprintln!("{what}: in turns");
			}
		};
		let mut rows = Vec::new();
		for model in models {
			show(model.name());
			rows.push(gpu::train(&model.case(), &target, time)?);
		}
		show("laps");
		rows.push(gpu::laps(&target, time)?);
		let (threads, gpu) = (rayon::current_num_threads(), format!("{device:?}"));
		let report = Report { machine: Machine::here(), threads, gpu, rows };
		match self.json {
			true => println!("{}", serde_json::to_string_pretty(&report)?),
			false => print!("{}", text(&report)),
		}
		Ok(ExitCode::SUCCESS)
	}
}

fn text(report: &Report) -> String {
	let mut out = machine(&report.machine);
	out.push_str(&format!(
		"{}; steps (and laps) a second and GFLOP/s, medians; GFLOP/s by the count that the chain pays \
		 by. ratio: the GPU to {} threads of the processor in the same turn\n\n",
		report.gpu, report.threads
	));
	let header = [
		("work", Align::Left),
		("MFLOP", Align::Right),
		("processor", Align::Right),
		("GFLOP/s", Align::Right),
		("GPU", Align::Right),
		("GFLOP/s", Align::Right),
		("ratio", Align::Right),
	];
	let row = |row: &Row| {
		let rate = |each: f64| format!("{:.1}", each * row.flop as f64 / 1e9);
		vec![
			row.name.clone(),
			grouped(row.flop / 1_000_000),
			format!("{:.2}", row.processor),
			rate(row.processor),
			format!("{:.1}", row.gpu),
			rate(row.gpu),
			format!("{:.1}", row.ratio),
		]
	};
	let rows: Vec<Vec<String>> = report.rows.iter().map(row).collect();
	out.push_str(&table(&header, &rows));
	out.push('\n');
	for row in &report.rows {
		out.push_str(&format!("{}: {}\n", row.name, row.what));
	}
	out
}
