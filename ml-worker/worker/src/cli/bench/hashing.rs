//! `trainyard bench hashing`.

use super::{check_threads, machine, measured, seconds, thread_counts, threads_title};
use crate::table::{grouped, table, Align};
use serde::Serialize;
use std::{io::Write, process::ExitCode};
use trainyard_bench::{
	hashing::{self, Row, SPLITS},
	Machine,
};

#[derive(Debug, clap::Args)]
pub(super) struct Hashing {
	/// Size of the state.
	#[arg(long, default_value_t = 64, value_name = "MIB")]
	mib: u16,
	/// Numbers of threads, separated by commas [default: 1,2, as far as there are cores]
	#[arg(long, value_delimiter = ',')]
	threads: Vec<usize>,
	/// Time for each state and number of threads.
	#[arg(long, default_value_t = 2.0, value_name = "SECONDS", allow_negative_numbers = true)]
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

impl Hashing {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let time = seconds(self.seconds)?;
		if self.here {
			check_threads(&self.threads)?;
			for tensors in SPLITS {
				let row = hashing::measure(tensors, usize::from(self.mib) << 20, time)?;
				println!("{}", serde_json::to_string(&row)?);
				std::io::stdout().flush()?;
			}
			return Ok(ExitCode::SUCCESS);
		}
		let mut rows: Vec<Row> = Vec::new();
		for threads in thread_counts(&self.threads)? {
			let (mib, seconds) = (self.mib.to_string(), self.seconds.to_string());
			let arguments = ["hashing", "--mib", &mib, "--seconds", &seconds];
			measured(threads, &arguments, &mut rows, |done, row: &Row| {
				let (of, title) = (SPLITS.len(), threads_title(threads));
				format!("{done} of {of}, {title}: {} tensors", row.tensors)
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

/// Writes a table.
fn text(report: &Report) -> String {
	let mut out = machine(&report.machine);
	out.push_str("GB/s, medians. ratio: BLAKE3 to BLAKE2b in the same turn\n\n");
	let columns = ["threads", "tensors", "bytes", "BLAKE2b", "BLAKE3", "ratio"];
	let cells = |row: &Row| {
		vec![
			row.threads.to_string(),
			row.tensors.to_string(),
			grouped(row.bytes as u128),
			format!("{:.2}", row.blake2b),
			format!("{:.2}", row.blake3),
			format!("{:.2}", row.ratio),
		]
	};
	let rows: Vec<Vec<String>> = report.rows.iter().map(cells).collect();
	out + &table(&columns.map(|name| (name, Align::Right)), &rows)
}
