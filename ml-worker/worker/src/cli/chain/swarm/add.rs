//! `trainyard swarm add-slices`.

use super::One;
use crate::swarm::{board::Board, learner, open};
use anyhow::{bail, Context};
use std::{path::PathBuf, process::ExitCode};
use trainyard_client::swarm as calls;
use trainyard_proof::bundle::files;
use trainyard_protocol::federation::PartData;

/// Options of `trainyard swarm add-slices`.
#[derive(Debug, clap::Args)]
pub struct AddSlices {
	#[command(flatten)]
	one: One,
	/// Files in the format of the swarm, with as many rows as its slices have, and no longer than the first
	#[arg(value_name = "FILE", required = true)]
	files: Vec<PathBuf>,
	/// Folder in which their files are kept until they are drawn: that of `swarm watch`
	#[arg(long, value_name = "DIR", default_value = "swarm")]
	dir: PathBuf,
}

impl AddSlices {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let board = self.one.board().await?;
		let view = board.swarm().await?;
		if view.opener != *board.me() && !view.plan.open_slices {
			bail!("only {}, who opened swarm {}, adds slices to it", view.opener, self.one.id);
		}
		let spec = learner::plain(&view.template).context("the template of the swarm")?;
		files::create_private_folder(&self.dir)?;
		let all = open::slices(&spec, &self.files, &self.dir)?;
		let known = |slice: &PartData| view.slices.iter().any(|known| known.data == *slice);
		let new: Vec<_> = all.into_iter().filter(|slice| !known(slice)).collect();
		if new.is_empty() {
			println!("swarm {} has these slices already", self.one.id);
			return Ok(ExitCode::SUCCESS);
		}
		board.sender().run(&calls::add_slices(self.one.id, &new)).await?;
		println!(
			"added {} slices to swarm {}. Run `trainyard swarm watch {} --dir {}` so that they are shown when they \
			 are drawn",
			new.len(),
			self.one.id,
			self.one.id,
			self.dir.display()
		);
		Ok(ExitCode::SUCCESS)
	}
}
