//! `trainyard dispute`: where disputes stand, how they went, and what one would cost.

mod estimate;
mod story;

use super::{connect, print_json};
use crate::{
	args::NodeArgs,
	job_toml,
	table::{table, Align},
};
use anyhow::{bail, Context};
use estimate::Costs;
use std::{path::Path, process::ExitCode};
use story::Story;
use trainyard_client::{
	amount,
	court::{Dispute, DisputeId, Happened},
	Chain, Head,
};
use trainyard_protocol::{fees, JobId};

/// Options of `trainyard dispute`.
#[derive(Debug, clap::Args)]
pub struct DisputeCommand {
	/// Number of a dispute; without it, all that have not ended
	#[arg(value_name = "ID", conflicts_with = "estimate")]
	id: Option<DisputeId>,
	/// What a dispute about this job would cost each side: a JOB.toml, or the number of a job
	#[arg(long, value_name = "JOB")]
	estimate: Option<String>,
	#[command(flatten)]
	node: NodeArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

impl DisputeCommand {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		match (&self.estimate, self.id) {
			(Some(job), _) => self.costs(job).await,
			(None, Some(id)) => self.one(id).await,
			(None, None) => self.all().await,
		}
	}

	async fn costs(&self, job: &str) -> anyhow::Result<ExitCode> {
		let costs = match job.parse::<JobId>() {
			Ok(id) => {
				let chain = connect(&self.node).await?;
				let job = chain.job(id).await?;
				let job = job.with_context(|| format!("there is no job {id} on this chain"))?;
				let spec = job.spec.clone().check().context("this program cannot read the job")?;
				Costs::of(&spec, &job.terms, job.compute_per_ut)?
			}
			Err(_) => {
				let file = job_toml::load(Path::new(job))?;
				let Some(terms) = &file.terms else {
					bail!(
						"{job} has no [terms]: what the trainer has at stake depends on the price"
					)
				};
				// Without a chain: the most that it may be.
				Costs::of(&file.spec, terms, fees::COMPUTE_PRICE)?
			}
		};
		if self.json {
			return print_json(&costs);
		}
		print!("{}", costs.text());
		Ok(ExitCode::SUCCESS)
	}

	async fn one(&self, id: DisputeId) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		let head = chain.head().await?;
		let history = chain.history(id, &head).await?;
		let story = match chain.dispute(id, head.hash).await? {
			Some(dispute) => running(&chain, &head, id, dispute, history).await?,
			None => Story::without_a_record(
				id,
				chain.commitment(id, head.hash).await?,
				chain.next_dispute(head.hash).await?,
				history,
			)
			.with_context(|| {
				format!("there is no dispute {id} on this chain, and there was none")
			})?,
		};
		if self.json {
			return print_json(&story);
		}
		print!("{}", story.text());
		Ok(ExitCode::SUCCESS)
	}

	async fn all(&self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		let head = chain.head().await?;
		let now = chain.court_moment(&head).await?;
		let disputes = chain.disputes(head.hash).await?;
		if self.json {
			let all: Vec<_> = disputes
				.iter()
				.map(|(id, dispute)| story::Running::of(*id, dispute, &now))
				.collect();
			return print_json(&all);
		}
		if disputes.is_empty() {
			println!("no dispute runs on this chain");
			return Ok(ExitCode::SUCCESS);
		}
		let rows: Vec<Vec<String>> = disputes
			.iter()
			.map(|(id, dispute)| {
				let it = story::Running::of(*id, dispute, &now);
				vec![
					id.to_string(),
					dispute.defendant.job().to_string(),
					it.target.clone(),
					it.due.to_owned(),
					it.left.to_string(),
					amount::format(dispute.deposit),
				]
			})
			.collect();
		let header = [
			("dispute", Align::Right),
			("job", Align::Right),
			("about", Align::Left),
			("due", Align::Left),
			("blocks left", Align::Right),
			("deposit", Align::Right),
		];
		print!("{}", table(&header, &rows));
		Ok(ExitCode::SUCCESS)
	}
}

/// Reads all that storage has about a dispute that runs.
async fn running(
	chain: &Chain,
	head: &Head,
	id: DisputeId,
	dispute: Dispute,
	history: Vec<Happened>,
) -> anyhow::Result<Story> {
	let (now, at) = (chain.court_moment(head).await?, head.hash);
	let defendant = &dispute.defendant;
	Ok(Story::Running(Box::new(story::Running {
		docket: chain.docket(defendant, at).await?.iter().map(|entry| entry.age.1).collect(),
		won: chain.won(defendant, at).await?,
		convicted: chain.convicted(defendant, at).await?.is_some(),
		said: story::said(&chain.said(defendant, at).await?),
		history,
		..story::Running::of(id, &dispute, &now)
	})))
}
