//! `trainyard bench matmul`.

use super::{check_threads, kernels, machine, measured, seconds, thread_counts, threads_title};
use crate::table::{grouped, table, Align};
use serde::Serialize;
use std::{io::Write, process::ExitCode};
use trainyard_bench::{
	matmul::{self, Row},
	median, Machine,
};

#[derive(Debug, clap::Args)]
pub(super) struct Matmul {
	/// Products: N (m = n = k), MxNxK, or `layers`, separated by commas.
	#[arg(long, default_value = "128,256,384,512,768,1024,1536,2048,layers")]
	sizes: String,
	/// Numbers of threads, separated by commas [default: 1,2, as far as there are cores]
	#[arg(long, value_delimiter = ',')]
	threads: Vec<usize>,
	/// Time for each product and number of threads.
	#[arg(long, default_value_t = 1.0, value_name = "SECONDS", allow_negative_numbers = true)]
	seconds: f64,
	/// Print JSON.
	#[arg(long)]
	json: bool,
	/// Measure in this process and print a line of JSON for each row.
	#[arg(long, hide = true)]
	here: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
	machine: Machine,
	rows: Vec<Row>,
}

impl Matmul {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let cases = matmul::parse_cases(&self.sizes)?;
		let time = seconds(self.seconds)?;
		if self.here {
			let kernels = kernels()?;
			check_threads(&self.threads)?;
			for case in cases {
				let row = matmul::measure(case, &kernels, time)?;
				println!("{}", serde_json::to_string(&row)?);
				std::io::stdout().flush()?;
			}
			return Ok(ExitCode::SUCCESS);
		}
		kernels()?;
		let mut rows: Vec<Row> = Vec::new();
		for threads in thread_counts(&self.threads)? {
			let seconds = self.seconds.to_string();
			let arguments = ["matmul", "--sizes", &self.sizes, "--seconds", &seconds];
			measured(threads, &arguments, &mut rows, |done, row: &Row| {
				let of = cases.len();
				format!("{done} of {of}, {}: {}", threads_title(threads), row.case.name)
			})?;
		}
		let report = Report { machine: Machine::here(), rows };
		match self.json {
			true => println!("{}", serde_json::to_string_pretty(&report)?),
			false => print!("{}", text(&report)),
		}
		Ok(ExitCode::SUCCESS)
	}
}

/// Writes one table for each number of threads.
fn text(report: &Report) -> String {
	let mut out = machine(&report.machine);
	out.push_str(
		"GFLOP/s, medians. ratio: to candle in the same turn; most: the ratio at the peak, that \
		 is multiply-adds between registers only\n",
	);
	for rows in report.rows.chunk_by(|a, b| a.threads == b.threads) {
		let Some(first) = rows.first() else { continue };
		let peaks: Vec<String> = (0..first.kernels.len())
			.map(|index| {
				let of = |row: &Row| row.kernels.get(index).map(|kernel| kernel.peak);
				let peaks: Vec<f64> = rows.iter().filter_map(of).collect();
				format!("{} {:.1}", first.kernels[index].kernel, median(&peaks))
			})
			.collect();
		let title = threads_title(first.threads);
		out.push_str(&format!("\n{title}; peak: {}\n", peaks.join(", ")));
		let mut header = vec![
			("product", Align::Left),
			("m", Align::Right),
			("n", Align::Right),
			("k", Align::Right),
			("flop/byte", Align::Right),
			("candle", Align::Right),
		];
		for kernel in &first.kernels {
			let names = [kernel.kernel.as_str(), "ratio", "most", "of peak"];
			header.extend(names.map(|name| (name, Align::Right)));
		}
		let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
		out.push_str(&table(&header, &cells));
	}
	out
}

fn cells(row: &Row) -> Vec<String> {
	let mut cells = vec![row.case.name.clone()];
	cells.extend([row.case.m, row.case.n, row.case.k].map(|size| grouped(size as u128)));
	cells.push(format!("{:.1}", row.flop as f64 / row.bytes as f64));
	cells.push(format!("{:.1}", row.candle));
	for kernel in &row.kernels {
		cells.push(format!("{:.1}", kernel.rate));
		cells.push(format!("{:.2}", kernel.ratio));
		cells.push(format!("{:.2}", kernel.peak / row.candle));
		cells.push(format!("{:.0}%", 100.0 * kernel.rate / kernel.peak));
	}
	cells
}
