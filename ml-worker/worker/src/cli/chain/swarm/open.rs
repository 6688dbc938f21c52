//! `trainyard swarm open`.

use crate::{
	args::{KeyArgs, NodeArgs},
	cli::chain::sender,
	federate::prepare,
	roles::{report::Reporter, submit},
	swarm::open,
};
use anyhow::{bail, Context};
use serde_json::json;
use std::{path::PathBuf, process::ExitCode};
use trainyard_client::{amount, swarm as calls, swarm::SwarmView, Transactor};
use trainyard_program::spec::JobSpec;
use trainyard_proof::bundle::files;
use trainyard_protocol::swarm::{Plan, Stage};

/// Options of `trainyard swarm open`.
#[derive(Debug, clap::Args)]
pub struct Open {
	/// The swarm
	#[arg(value_name = "SWARM.toml")]
	file: PathBuf,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Folder for the first model, and for the slices until they are drawn
	#[arg(long, value_name = "DIR", default_value = "swarm")]
	dir: PathBuf,
	/// One JSON object per event
	#[arg(long)]
	json: bool,
}

impl Open {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let file = open::load(&self.file)?;
		files::create_private_folder(&self.dir)?;
		let slices = open::slices(&file.job.spec, &file.slices, &self.dir)?;
		let sender = sender(&self.node, &self.key).await?;
		let report = Reporter::new("swarm", self.json, None);
		let bytes = prepare::initial_bytes(&file.job, &self.dir.join("initial.safetensors"))?;
		let initial = prepare::store_initial(&sender, &file.job.spec, bytes).await?;
		let template =
			JobSpec { initial_model: Some(initial), ..file.job.spec.clone().into_spec() };
		let same = |view: &SwarmView| {
			let theirs = view.slices.iter().map(|slice| &slice.data);
			view.opener == *sender.account()
				&& view.stage != Stage::Ended
				&& view.template == template
				&& slices.iter().all(|slice| theirs.clone().any(|known| known == slice))
		};
		if let Some(view) = newest(&sender, same).await? {
			let text = format!("swarm {} of this file is open already", view.id);
			report.general("resumed", &text, json!({ "swarm": view.id }));
			return Ok(ExitCode::SUCCESS);
		}
		let mut appeal = file.plan.appeal.clone();
		if file.job.audit_fee_is_open {
			appeal.audit_fee =
				submit::with_audit_fee(sender.chain(), &file.job.spec, &appeal).await?.audit_fee;
		}
		let max_fee_per_ut = match file.fee_is_named {
			true => file.plan.max_fee_per_ut,
			// What is measured later must be measured by the same terms.
			false => sender.chain().market().await?.fee_per_ut.saturating_mul(2),
		};
		let now = sender.chain().head().await?.number;
		let end = now.saturating_add(file.plan.end);
		let plan = Plan { appeal, max_fee_per_ut, end, ..file.plan.clone() };
		if end == now {
			bail!("blocks = 0: how long does it run?");
		}
		sender.run(&calls::open(&template, &slices, &plan, file.budget)).await?;
		let opened = newest(&sender, same).await?.context(
			"the swarm was opened, but its number was not found; run the same command again",
		)?;
		let text = format!(
			"swarm {} is open until block {end}: {} slices, {} to be paid. Run `trainyard swarm watch {} --dir {}` \
			 so that slices are shown when they are drawn",
			opened.id,
			slices.len(),
			amount::format(opened.budget),
			opened.id,
			self.dir.display()
		);
		report.general("opened", &text, json!({ "swarm": opened.id, "model": opened.best.root }));
		Ok(ExitCode::SUCCESS)
	}
}

/// Returns the newest swarm of which `wanted` holds.
async fn newest(
	sender: &Transactor,
	wanted: impl Fn(&SwarmView) -> bool,
) -> anyhow::Result<Option<SwarmView>> {
	for id in sender.chain().swarms().await?.into_iter().rev() {
		if let Some(view) = sender.chain().swarm(id).await?.filter(|view| wanted(view)) {
			return Ok(Some(view));
		}
	}
	Ok(None)
}
