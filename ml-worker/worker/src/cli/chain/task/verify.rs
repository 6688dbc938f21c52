//! `trainyard task verify`.

use super::{super::FAILED, connect, output, task};
use crate::{
	args::NodeArgs,
	cli::train::stop_on_signals,
	task::{
		market::{dispute::first_difference, plan::output_text},
		run::{self, Options},
		Program, TaskError,
	},
};
use anyhow::bail;
use std::{path::PathBuf, process::ExitCode};
use trainyard_client::blobs;
use trainyard_proof::bundle::files;
use trainyard_task::TaskId;

/// Options of `trainyard task verify`.
#[derive(Debug, clap::Args)]
pub struct Verify {
	/// Number of the task
	#[arg(value_name = "TASK")]
	id: TaskId,
	#[command(flatten)]
	node: NodeArgs,
	/// Folder in which what is done is kept while it is computed: the same command goes on after a kill
	#[arg(long, value_name = "DIR")]
	keep: Option<PathBuf>,
	/// File for the result that was computed here
	#[arg(long, value_name = "FILE")]
	out: Option<PathBuf>,
	/// Threads for the indices of a map [default: one for each core]
	#[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
	threads: usize,
}

impl Verify {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		let view = task(&chain, self.id).await?;
		if view.claims.is_empty() && self.out.is_none() {
			bail!("nobody has claimed anything of task {} so far. With --out it is computed all the same", self.id);
		}
		let spec = view.spec.clone();
		let module = blobs::load(&chain, spec.module.root, spec.module.bytes.into()).await?;
		let input = blobs::load(&chain, spec.input.root, spec.input.bytes.into()).await?;
		let (stop, keep, threads) = (stop_on_signals()?, self.keep.clone(), self.threads);
		let computing = tokio::task::spawn_blocking(move || {
			let program = Program::of_task(&spec, &module, threads)?;
			let options = Options {
				keep: keep.as_deref(),
				states: false,
				cheat: None,
				until: None,
				stop: &stop,
				progress: &mut |_| {},
			};
			run::run(&program, spec, &input, options)
		});
		let finished = match computing.await? {
			Ok(finished) => finished,
			Err(stopped @ TaskError::Stopped { .. }) => bail!("{stopped}"),
			Err(error) => return Err(error.into()),
		};
		if let (Some(out), Ok(bytes)) = (&self.out, &finished.output) {
			files::write(out, bytes)?;
		}
		println!(
			"computed here  {:?}, {}",
			finished.claim.root,
			output_text(&finished.claim.output)
		);
		// Others may have been shown meanwhile.
		let view = task(&chain, self.id).await?;
		if view.claims.is_empty() {
			bail!("nobody has claimed anything of task {} so far", self.id);
		}
		let mut all_true = true;
		for (number, (claim, convicted)) in (0u8..).zip(&view.claims) {
			let is_true = *claim == finished.claim;
			let mut said = if is_true { "true".to_owned() } else { "FALSE".to_owned() };
			if *convicted {
				said.push_str(", out");
			}
			if !is_true && finished.trace.is_none() {
				if let Ok(theirs) = output(&chain, self.id, number, claim).await {
					let own = finished.output.as_deref().unwrap_or_default();
					if let Some(index) = first_difference(&finished.spec, own, &theirs) {
						said.push_str(&format!(", from index {index} on"));
					}
				}
			}
			println!("claim {number}        {said}");
			// One that was convicted is nobody's result any more.
			all_true &= is_true || *convicted;
		}
		Ok(ExitCode::from(if all_true { 0 } else { FAILED }))
	}
}
