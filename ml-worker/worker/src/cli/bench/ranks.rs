//! `trainyard bench ranks`.

use super::machine;
use crate::{
	args::use_threads,
	ranks::{
		crew::{Crew, Options, Patience, Ranked},
		wire::Secret,
	},
	table::{table, Align},
};
use anyhow::{ensure, Context};
use primitive_types::H256;
use serde::Serialize;
use std::{
	num::{NonZeroU32, NonZeroUsize},
	process::ExitCode,
	sync::Arc,
	time::Instant,
};
use trainyard_bench::{
	median,
	train::{parse_models, Model},
	Machine,
};
use trainyard_engine::Engine;

/// What comes before the first measured step: the processes learn of the job.
const BEFORE: u32 = 1;

#[derive(Debug, clap::Args)]
pub(super) struct Ranks {
	/// Models, separated by commas.
	#[arg(long, default_value = "mlp,cnn,transformer")]
	models: String,
	/// Virtual ranks.
	#[arg(long, value_name = "V", default_value = "8")]
	ranks: NonZeroU32,
	/// Numbers of processes, separated by commas. Each process has one thread.
	#[arg(long, value_delimiter = ',', default_value = "1,2,4")]
	workers: Vec<NonZeroU32>,
	/// Steps of a turn.
	#[arg(long, default_value = "20")]
	steps: NonZeroU32,
	/// Turns, in which all numbers of processes follow each other.
	#[arg(long, default_value = "5")]
	turns: NonZeroU32,
	/// Print JSON.
	#[arg(long)]
	json: bool,
}

/// One number of processes.
#[derive(Serialize)]
struct Row {
	model: String,
	ranks: u32,
	workers: u32,
	/// Hash of the state after the steps.
	state: H256,
	/// Median over the turns.
	seconds_per_step: f64,
	/// Time of one process over that of these, in the same turn; the median of that.
	speed_up: f64,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
	machine: Machine,
	rows: Vec<Row>,
}

impl Ranks {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		use_threads(Some(NonZeroUsize::MIN))?;
		let mut rows = Vec::new();
		for model in parse_models(&self.models)? {
			rows.extend(self.rows(model)?);
		}
		let report = Report { machine: Machine::here(), rows };
		match self.json {
			true => println!("{}", serde_json::to_string_pretty(&report)?),
			false => print!("{}", text(&report)),
		}
		Ok(ExitCode::SUCCESS)
	}

	fn rows(&self, model: Model) -> anyhow::Result<Vec<Row>> {
		let case = model.case();
		let spec = case.spec.clone().check()?;
		let seed = H256::zero();
		let engine = Engine::new(&spec, seed, Arc::new(case.data()))?;
		let program = std::env::current_exe().context("cannot find this program")?;
		let mut times = vec![Vec::new(); self.workers.len()];
		let mut states = vec![None; self.workers.len()];
		for _ in 0..self.turns.get() {
			for ((workers, times), found) in self.workers.iter().zip(&mut times).zip(&mut states) {
				let crew = Crew::start(Options {
					workers: workers.get(),
					threads: NonZeroUsize::MIN,
					listen: None,
					secret: Secret::draw(),
					patience: Patience::default(),
					program: program.clone(),
				})?;
				let ranked = Ranked::new(&spec, seed, self.ranks.get())?;
				let mut state = Engine::initial_state(&spec, &seed, None)?;
				for step in 0..BEFORE {
					crew.step(&ranked, &engine, &mut state, step)?;
				}
				let begun = Instant::now();
				for step in BEFORE..BEFORE + self.steps.get() {
					crew.step(&ranked, &engine, &mut state, step)?;
				}
				times.push(begun.elapsed().as_secs_f64() / f64::from(self.steps.get()));
				ensure!(crew.lost() == 0, "a worker was lost, so the time means nothing");
				let hash = state.hash()?;
				ensure!(
					found.replace(hash).is_none_or(|before| before == hash),
					"{workers} workers came to two different states"
				);
			}
		}
		let (Some(one), Some(Some(state))) = (times.first(), states.first()) else {
			return Ok(Vec::new());
		};
		ensure!(
			states.iter().all(|other| *other == Some(*state)),
			"the states differ by the number of workers: {states:?}"
		);
		let rows = self.workers.iter().zip(&times).map(|(workers, times)| {
			let ratios: Vec<f64> = one.iter().zip(times).map(|(one, time)| one / time).collect();
			Row {
				model: case.name.clone(),
				ranks: self.ranks.get(),
				workers: workers.get(),
				state: *state,
				seconds_per_step: median(times),
				speed_up: median(&ratios),
			}
		});
		Ok(rows.collect())
	}
}

fn text(report: &Report) -> String {
	let header = [
		("model", Align::Left),
		("ranks", Align::Right),
		("workers", Align::Right),
		("ms/step", Align::Right),
		("speed-up", Align::Right),
		("state", Align::Left),
	];
	let cells = report.rows.iter().map(|row| {
		vec![
			row.model.clone(),
			row.ranks.to_string(),
			row.workers.to_string(),
			format!("{:.2}", row.seconds_per_step * 1e3),
			format!("{:.2}", row.speed_up),
			hex::encode(row.state.as_bytes().first_chunk::<8>().map_or(&[][..], |part| part)),
		]
	});
	let rows: Vec<Vec<String>> = cells.collect();
	format!(
		"{}one thread for each process; medians; speed-up: to the first row of the model in the same turn\n\n{}",
		machine(&report.machine),
		table(&header, &rows)
	)
}
