//! `trainyard task show` and `fetch`.

use super::{super::print_json, accepted, connect, output, task};
use crate::{
	args::NodeArgs,
	table::{table, Align},
	task::market::tell,
	terminal,
};
use anyhow::bail;
use serde_json::{json, Value};
use std::{path::PathBuf, process::ExitCode};
use trainyard_client::{amount, TaskView};
use trainyard_proof::bundle::files;
use trainyard_task::TaskId;

/// Options of `trainyard task show`.
#[derive(Debug, clap::Args)]
pub struct Show {
	/// Number of the task
	#[arg(value_name = "TASK")]
	id: Option<TaskId>,
	#[command(flatten)]
	node: NodeArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Options of `trainyard task fetch`.
#[derive(Debug, clap::Args)]
pub struct Fetch {
	/// Number of the task
	#[arg(value_name = "TASK")]
	id: TaskId,
	#[command(flatten)]
	node: NodeArgs,
	/// File for the result
	#[arg(long, value_name = "FILE")]
	out: PathBuf,
}

impl Show {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		if let Some(id) = self.id {
			let view = task(&chain, id).await?;
			if self.json {
				return print_json(&tell::json(&view));
			}
			print!("{}", terminal::lines(&tell::lines(&view)));
			return Ok(ExitCode::SUCCESS);
		}
		let mut all = Vec::new();
		for id in chain.tasks(None).await? {
			all.extend(chain.task(id).await?);
		}
		if self.json {
			return print_json(&json!(all.iter().map(tell::json).collect::<Vec<Value>>()));
		}
		if all.is_empty() {
			println!("no tasks are on record: trainyard task submit posts one");
			return Ok(ExitCode::SUCCESS);
		}
		let row = |view: &TaskView| {
			vec![
				view.id.to_string(),
				tell::form(&view.spec.form),
				amount::format(view.terms.reward),
				view.terms.replicas.to_string(),
				tell::phase(view),
			]
		};
		let rows: Vec<_> = all.iter().map(row).collect();
		let head = [
			("task", Align::Right),
			("computes", Align::Left),
			("reward", Align::Right),
			("replicas", Align::Right),
			("stands", Align::Left),
		];
		print!("{}", terminal::lines(&table(&head, &rows)));
		Ok(ExitCode::SUCCESS)
	}
}

impl Fetch {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		let view = task(&chain, self.id).await?;
		let Some((number, claim)) = accepted(&view) else {
			bail!("task {} has no result: {}", self.id, tell::phase(&view));
		};
		let bytes = output(&chain, self.id, number, claim).await?;
		files::write(&self.out, &bytes)?;
		println!("{} bytes are in {}", bytes.len(), self.out.display());
		Ok(ExitCode::SUCCESS)
	}
}
