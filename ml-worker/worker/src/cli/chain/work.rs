//! `trainyard work`: all roles of a machine's owner in one daemon, and a look at what it does.

use super::print_json;
use crate::{
	args::{use_threads, DeviceArgs},
	roles::work::{self, WorkArgs},
	terminal,
};
use std::{path::PathBuf, process::ExitCode};

/// Options of `trainyard work`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Work {
	#[command(subcommand)]
	look: Option<Look>,
	#[command(flatten)]
	args: WorkArgs,
	#[command(flatten)]
	device: DeviceArgs,
}

/// What can be done besides working.
#[derive(Debug, clap::Subcommand)]
enum Look {
	/// Shows what was earned by hour, what is locked until when and why, and why nothing came. It reads
	/// the folder; the daemon may be running
	Status(StatusOf),
}

/// Options of `trainyard work status`.
#[derive(Debug, clap::Args)]
struct StatusOf {
	/// Folder of the daemon
	#[arg(long, value_name = "DIR")]
	dir: PathBuf,
	/// Ask this node what is locked now [default: what the folder says]
	#[arg(long, value_name = "URL")]
	node: Option<String>,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

impl Work {
	/// Works, or looks.
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		match self.look {
			Some(Look::Status(of)) => of.run().await,
			None => {
				use_threads(self.args.threads())?;
				self.device.choose()?;
				work::run(self.args).await?;
				Ok(ExitCode::SUCCESS)
			}
		}
	}
}

impl StatusOf {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let shown = work::status(&self.dir, self.node.as_deref()).await?;
		if self.json {
			return print_json(&shown.json);
		}
		print!("{}", terminal::lines(&shown.text));
		Ok(ExitCode::SUCCESS)
	}
}
