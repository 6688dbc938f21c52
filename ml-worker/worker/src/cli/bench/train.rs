//! `trainyard bench train`.

use super::{check_threads, kernels, machine, measured, seconds, thread_counts, threads_title};
use crate::table::{grouped, table, Align};
use anyhow::Context;
use serde::Serialize;
use std::{
	io::{IsTerminal, Write},
	process::ExitCode,
};
use trainyard_bench::{
	train::{self, parse_models, Model, Row, Side, Trainer, CANDLE},
	Machine,
};

#[derive(Debug, clap::Args)]
pub(super) struct Train {
	/// Models, separated by commas.
	#[arg(long, default_value = "mlp,cnn,transformer")]
	models: String,
	/// Numbers of threads, separated by commas [default: 1,2, as far as there are cores]
	#[arg(long, value_delimiter = ',')]
	threads: Vec<usize>,
	/// Time for each model and number of threads.
	#[arg(long, default_value_t = 5.0, value_name = "SECONDS", allow_negative_numbers = true)]
	seconds: f64,
	/// Print JSON.
	#[arg(long)]
	json: bool,
	/// Measure in this process and print a line of JSON for each row.
	#[arg(long, hide = true)]
	here: bool,
	/// With --here: print the peak memory of one side, `candle` or an instruction set, instead.
	#[arg(long, hide = true, requires = "here")]
	memory: Option<String>,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
	machine: Machine,
	rows: Vec<Row>,
}

impl Train {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		let models = parse_models(&self.models)?;
		let time = seconds(self.seconds)?;
		if self.here {
			check_threads(&self.threads)?;
			for model in models {
				let line = match &self.memory {
					Some(side) => {
						serde_json::to_string(&train::peak_memory(&model.case(), trainer(side)?)?)
					}
					None => {
						serde_json::to_string(&train::measure(model.case(), &kernels()?, time)?)
					}
				};
				println!("{}", line?);
				std::io::stdout().flush()?;
			}
			return Ok(ExitCode::SUCCESS);
		}
		kernels()?;
		let mut rows = Vec::new();
		for threads in thread_counts(&self.threads)? {
			for model in &models {
				rows.push(self.row(*model, threads)?);
			}
		}
		let report = Report { machine: Machine::here(), rows };
		match self.json {
			true => println!("{}", serde_json::to_string_pretty(&report)?),
			false => print!("{}", text(&report)),
		}
		Ok(ExitCode::SUCCESS)
	}

	/// Measures a row: the speeds in one process, and the memory of each side in its own process.
	fn row(&self, model: Model, threads: usize) -> anyhow::Result<Row> {
		let (name, seconds) = (model.name(), self.seconds.to_string());
		let title = format!("{name}, {}", threads_title(threads));
		if std::io::stderr().is_terminal() {
			eprintln!("{title}: training in turns");
		}
		let arguments = ["train", "--models", name, "--seconds", &seconds];
		let mut rows: Vec<Row> = Vec::new();
		measured(threads, &arguments, &mut rows, |_, row: &Row| {
			format!("{title}: {} turns of {} steps done; now memory", row.turns, row.steps)
		})?;
		let mut row = rows.pop().with_context(|| format!("{title}: nothing was measured"))?;
		let memory = |side: &str| -> anyhow::Result<Option<u64>> {
			let arguments = ["train", "--models", name, "--memory", side];
			let mut found: Vec<Option<u64>> = Vec::new();
			measured(threads, &arguments, &mut found, |_, memory| {
				format!("{title}: MiB of {side}: {}", mebibytes(*memory))
			})?;
			found.pop().with_context(|| format!("{title}: no memory was measured"))
		};
		row.candle.memory = memory(CANDLE)?;
		for kernel in &mut row.kernels {
			kernel.memory = memory(&kernel.name)?;
		}
		Ok(row)
	}
}

/// Returns the side of this name.
fn trainer(side: &str) -> anyhow::Result<Trainer> {
	Ok(match side {
		CANDLE => Trainer::Candle,
		kernel => Trainer::Strict(kernel.parse()?),
	})
}

/// Writes one table for each number of threads.
fn text(report: &Report) -> String {
	let mut out = machine(&report.machine);
	out.push_str(
		"steps/s and GFLOP/s, medians; GFLOP/s by the count that the chain pays by, of both sides. \
		 ratio: to candle in the same turn; MiB: peak memory above that before the model; of \
		 candle's: its share of candle's\n",
	);
	for rows in report.rows.chunk_by(|a, b| a.threads == b.threads) {
		let Some(first) = rows.first() else { continue };
		out.push_str(&format!("\n{}\n", threads_title(first.threads)));
		let mut header = vec![
			("model", Align::Left),
			("batch", Align::Right),
			("parameters", Align::Right),
			("MFLOP/step", Align::Right),
			(CANDLE, Align::Right),
			("GFLOP/s", Align::Right),
			("MiB", Align::Right),
		];
		for kernel in &first.kernels {
			let names = [kernel.name.as_str(), "GFLOP/s", "ratio", "MiB", "of candle's"];
			header.extend(names.map(|name| (name, Align::Right)));
		}
		let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
		out.push_str(&table(&header, &cells));
	}
	out.push('\n');
	let mut named: Vec<&str> = Vec::new();
	for row in &report.rows {
		if !named.contains(&row.model.as_str()) {
			named.push(&row.model);
			out.push_str(&format!("{}: {}\n", row.model, row.layers));
		}
	}
	out
}

fn cells(row: &Row) -> Vec<String> {
	let side = |side: &Side| [format!("{:.1}", side.steps_per_second), format!("{:.1}", side.rate)];
	let mut cells = vec![row.model.clone(), row.batch.to_string(), grouped(row.parameters)];
	cells.push(format!("{:.1}", row.flop as f64 / 1e6));
	cells.extend(side(&row.candle));
	cells.push(mebibytes(row.candle.memory));
	for kernel in &row.kernels {
		cells.extend(side(kernel));
		cells.push(format!("{:.2}", kernel.ratio));
		cells.push(mebibytes(kernel.memory));
		let share = kernel.memory.zip(row.candle.memory);
		cells.push(share.map_or_else(not_measured, |(ours, candle)| {
			format!("{:.2}", ours as f64 / candle as f64)
		}));
	}
	cells
}

/// Memory in MiB.
fn mebibytes(bytes: Option<u64>) -> String {
	bytes.map_or_else(not_measured, |bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 20)))
}

fn not_measured() -> String {
	"not measured".into()
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn what_was_not_measured_is_said() {
		let side = |name: &str, ratio, memory| Side {
			name: name.into(),
			steps_per_second: 2.0,
			rate: 3.0,
			ratio,
			memory,
		};
		let row = |memory| Row {
			model: "mlp".into(),
			layers: "784-256-10".into(),
			batch: 64,
			parameters: 203_530,
			threads: 1,
			flop: 54_000_000,
			turns: 7,
			steps: 9,
			difference: 0.0,
			candle: side(CANDLE, 1.0, memory),
			kernels: vec![side("scalar", 1.5, memory)],
		};
		let of = |memory| {
			text(&Report { machine: Machine::here(), rows: vec![row(memory), row(memory)] })
		};
		let measured = of(Some(3 << 20));
		for part in ["1 thread\n", "203,530", "54.0", "1.50", " 3.0", "1.00", "mlp: 784-256-10"] {
			assert!(measured.contains(part), "{part}:\n{measured}");
		}
		assert!(!measured.contains("not measured"));
		assert_eq!(measured.matches("mlp: ").count(), 1);
		assert_eq!(of(None).matches("not measured").count(), 2 * 3);
	}

	#[test]
	fn sides_have_names() {
		assert_eq!(trainer("candle").unwrap(), Trainer::Candle);
		assert!(matches!(trainer("scalar").unwrap(), Trainer::Strict(_)));
		assert!(trainer("torch").unwrap_err().to_string().contains("torch"));
	}
}
