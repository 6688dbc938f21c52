//! `trainyard task`, as far as it needs a chain.

mod show;
mod submit;
mod verify;

use super::{connect, sender, CANNOT};
use crate::{
	args::{KeyArgs, NodeArgs},
	task::market::role::{self, TaskWorkArgs},
	terminal,
};
use anyhow::{bail, Context};
use clap::Subcommand;
use std::process::ExitCode;
use trainyard_client::{
	blobs,
	tasks::{self as calls, TaskView},
	Chain,
};
use trainyard_task::{
	spec::MAX_INLINE,
	views::{Phase, TaskEnd},
	Claim, StateId, TaskId,
};

/// What can be done with tasks on chain.
#[derive(Debug, Subcommand)]
pub enum TaskOnChain {
	/// Posts a task and follows it to its end. Exit code 0: a result was accepted, 1: none was, 2: it could not be
	/// posted or followed
	Submit(submit::Submit),
	/// Follows a task that is posted. Exit codes are those of submit
	Follow(submit::Follow),
	/// Shows a task, or lists all
	Show(show::Show),
	/// Writes the result of a task that was accepted to a file
	Fetch(show::Fetch),
	/// Computes a task again, and compares. Exit code 0: what was claimed is true, 1: something is false, 2: it cannot
	/// be said
	Verify(verify::Verify),
	/// Takes a task back, as long as applications are taken
	Cancel(Cancel),
	/// Computes tasks of others for pay, audits those that it is drawn for, and challenges false claims; goes on after
	/// a restart
	Work(TaskWorkArgs),
}

impl TaskOnChain {
	/// Runs the command. It prints what it could not do; the exit code says how it went.
	pub async fn run(self) -> anyhow::Result<ExitCode> {
		let result = match self {
			Self::Submit(args) => args.run().await,
			Self::Follow(args) => args.run().await,
			Self::Show(args) => args.run().await,
			Self::Fetch(args) => args.run().await,
			Self::Verify(args) => args.run().await,
			Self::Cancel(args) => args.run().await,
			Self::Work(args) => match role::run(args).await {
				Ok(()) => Ok(ExitCode::SUCCESS),
				Err(error) => Err(error.into()),
			},
		};
		Ok(result.unwrap_or_else(|error| {
			eprintln!("{}", terminal::lines(&format!("error: {error:#}")));
			ExitCode::from(CANNOT)
		}))
	}
}

/// Options of `trainyard task cancel`.
#[derive(Debug, clap::Args)]
pub struct Cancel {
	/// Number of the task
	#[arg(value_name = "TASK")]
	id: TaskId,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

impl Cancel {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let sender = sender(&self.node, &self.key).await?;
		sender.run(&calls::cancel(self.id)).await?;
		println!("task {} is taken back", self.id);
		Ok(ExitCode::SUCCESS)
	}
}

/// Returns a task. Fails where the chain knows none with this number.
async fn task(chain: &Chain, id: TaskId) -> anyhow::Result<TaskView> {
	let found = chain.task(id).await?;
	found.with_context(|| {
		format!("the chain knows no task {id}; ended ones are forgotten after a week")
	})
}

/// Returns the bytes of a claim of a task. Fails where they are not on chain, or it is a fault.
async fn output(chain: &Chain, id: TaskId, number: u8, claim: &Claim) -> anyhow::Result<Vec<u8>> {
	match &claim.output {
		StateId::Bytes(file) if file.bytes <= MAX_INLINE => {
			let found = chain.task_output(id, number).await?;
			found.with_context(|| format!("the chain has no output of claim {number} of task {id}"))
		}
		StateId::Bytes(file) => Ok(blobs::load(chain, file.root, file.bytes.into()).await?),
		StateId::Fault(fault) => {
			bail!("the task ended with a fault: {}", crate::task::describe(fault))
		}
	}
}

/// Returns the claim that was accepted. `None` of a task that is not over, or that ended otherwise.
fn accepted(view: &TaskView) -> Option<(u8, &Claim)> {
	let Phase::Ended(TaskEnd::Accepted(number)) = view.phase else { return None };
	view.claims.get(usize::from(number)).map(|(claim, _)| (number, claim))
}
