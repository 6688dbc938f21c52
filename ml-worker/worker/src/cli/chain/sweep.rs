//! `trainyard sweep`.

use super::{asked, connect, print_json, sender, FAILED};
use crate::{
	args::{KeyArgs, NodeArgs},
	roles::{
		fetch::{Fetcher, LocationArgs},
		report::Reporter,
	},
	sweep::{
		cost::{self, Cost},
		file::{self, Sweep as SweepFile},
		follow::Follower,
		tell,
	},
	terminal,
};
use anyhow::{bail, Context};
use serde_json::json;
use std::{
	path::{Path, PathBuf},
	process::ExitCode,
	time::Duration,
};
use trainyard_client::{amount, blobs, sets as calls, Chain, SetView, Transactor};
use trainyard_program::spec::JobSpec;
use trainyard_proof::{bundle::files, inputs};
use trainyard_protocol::{
	job::Balance,
	model_file::Layout,
	sets::{SetId, Stage},
};

/// Balance that stays for fees when a set is opened: a tenth of a coin.
const FEE_MARGIN: Balance = 100_000_000_000;

/// Options of `trainyard sweep`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Sweep {
	#[command(subcommand)]
	command: Option<SweepCommand>,
	#[command(flatten)]
	run: Run,
}

/// What can be done with a set besides opening and following it.
#[derive(Debug, clap::Subcommand)]
enum SweepCommand {
	/// Shows a set, its members ranked, or lists all
	Show(Show),
	/// Ends a set of this account after the running generation; jobs that run go on, and are paid
	Stop(Stop),
}

/// Options of opening and following a set.
#[derive(Debug, clap::Args)]
struct Run {
	/// The sweep
	#[arg(value_name = "SWEEP.toml", required_unless_present = "resume")]
	file: Option<PathBuf>,
	/// Follow this set, whoever opened it, and show what its members score
	#[arg(long, value_name = "SET", conflicts_with = "file")]
	resume: Option<SetId>,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	#[command(flatten)]
	locations: LocationArgs,
	/// Post it without asking
	#[arg(long)]
	yes: bool,
	/// Most protocol fee for one ut of training (in TRY); without it twice what the chain quotes
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	max_fee: Option<Balance>,
	/// Folder for what is fetched to show scores, and for the best model
	#[arg(long, value_name = "DIR", default_value = "sweep")]
	dir: PathBuf,
	/// Where the best model is written; without it model.safetensors in the folder
	#[arg(long, value_name = "FILE")]
	out: Option<PathBuf>,
	/// Only post it; exit code 0 when it is on chain. Somebody must follow it by --resume, or nothing is scored
	#[arg(long)]
	no_follow: bool,
	/// One JSON object per event; the last one is the whole set
	#[arg(long)]
	json: bool,
}

/// Options of `trainyard sweep show`.
#[derive(Debug, clap::Args)]
struct Show {
	/// Number of the set
	#[arg(value_name = "SET")]
	id: Option<SetId>,
	#[command(flatten)]
	node: NodeArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Options of `trainyard sweep stop`.
#[derive(Debug, clap::Args)]
struct Stop {
	/// Number of the set
	#[arg(value_name = "SET")]
	id: SetId,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

impl Sweep {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		match self.command {
			Some(SweepCommand::Show(args)) => args.run().await,
			Some(SweepCommand::Stop(args)) => args.run().await,
			None => self.run.run().await,
		}
	}
}

impl Run {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let sweep = match &self.file {
			Some(path) => Some(load(path)?),
			None => None,
		};
		let sender = sender(&self.node, &self.key).await?;
		let report = Reporter::new("sweep", self.json, None);
		let id = match (self.resume, &sweep) {
			(Some(id), _) => id,
			(None, Some(sweep)) => match self.open(&sender, sweep, &report).await? {
				Some(id) => id,
				None => return Ok(ExitCode::from(FAILED)),
			},
			(None, None) => bail!("name a sweep, or a set to --resume"),
		};
		if self.no_follow {
			return Ok(ExitCode::SUCCESS);
		}
		let locations = self.locations.locations(sender.chain()).await?;
		let fetcher = Fetcher::new(3, Duration::from_secs(1), locations)?
			.over(self.locations.over())
			.with_stores(self.locations.stores());
		let view = Follower::new(&sender, id, &self.dir, report, fetcher).run().await?;
		self.finish(sender.chain(), view).await
	}

	/// Returns the number of the set of this sweep: one of this account that runs, or a new one; `None` where the
	/// answer to what it costs was no.
	async fn open(
		&self,
		sender: &Transactor,
		sweep: &SweepFile,
		report: &Reporter,
	) -> anyhow::Result<Option<SetId>> {
		let Some(terms) = &sweep.job.terms else {
			bail!("the job has no [terms]: what do you offer the trainers of a member?")
		};
		let specs: Vec<JobSpec> =
			sweep.members.iter().map(|spec| spec.clone().into_spec()).collect();
		let chain = sender.chain();
		// In later generations members train what the chain made of it, so that is looked for by its first one.
		if let Some(view) = newest(sender, |view| is_of(view, &specs, sweep)).await? {
			let text = format!("set {} goes on in generation {}", view.id, view.generation);
			report.general("resumed", &text, json!({ "set": view.id }));
			return Ok(Some(view.id));
		}
		let open = sweep.job.audit_fee_is_open;
		let cost = cost::of(chain, sweep, terms, open, self.max_fee).await?;
		let account = sender.account();
		let free = chain.account(account).await?.free;
		if free < cost.held().saturating_add(FEE_MARGIN) {
			bail!(
				"this set holds {} when it is opened, and {account} has {} free. Bring balance to the account, \
				 or lower the price, the replicas or the number of members",
				amount::format(cost.held()),
				amount::format(free)
			);
		}
		eprint!("{}", cost.text());
		if !self.yes && !asked()? {
			return Ok(None);
		}
		let Cost { terms, plan, .. } = &cost;
		sender.run(&calls::open(&specs, terms, plan)).await?;
		let opened = newest(sender, |view| is_of(view, &specs, sweep)).await?;
		let opened = opened.context(
			"the set was opened, but its number was not found; run the same command again",
		)?;
		let text = format!("set {} is open: {} members", opened.id, opened.members.len());
		let fields = json!({ "set": opened.id, "escrow": cost.escrow.to_string() });
		report.general("opened", &text, fields);
		Ok(Some(opened.id))
	}

	/// Fetches the best model, and says how it ended.
	async fn finish(&self, chain: &Chain, view: SetView) -> anyhow::Result<ExitCode> {
		let out = self.out.clone().unwrap_or_else(|| self.dir.join("model.safetensors"));
		if let Some(best) = &view.best {
			let member = view.members.get(best.member as usize).context("there is no member")?;
			let spec = JobSpec { initial_model: None, ..member.spec.clone() };
			let size = Layout::of(&spec.check()?).size;
			let bytes = blobs::load(chain, best.model, size).await?;
			files::write(&out, &bytes)?;
		}
		if self.json {
			let ended = json!({ "event": "ended", "set": view.id, "view": view });
			println!("{}", terminal::json(&ended.to_string()));
		} else {
			print!("\n{}", terminal::lines(&tell::summary(&view)));
			if view.best.is_some() {
				println!("it is in {}", out.display());
			}
		}
		Ok(match view.best {
			Some(_) => ExitCode::SUCCESS,
			None => ExitCode::from(FAILED),
		})
	}
}

impl Show {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		let Some(id) = self.id else {
			let mut all = Vec::new();
			for id in chain.job_sets().await? {
				all.extend(chain.job_set(id).await?);
			}
			if self.json {
				return print_json(&all);
			}
			for view in &all {
				let (count, stage) = (view.members.len(), tell::stage(&view.stage));
				println!("set {} of {}: {count} members, {stage}", view.id, view.submitter);
			}
			return Ok(ExitCode::SUCCESS);
		};
		let view = chain.job_set(id).await?;
		let view = view.with_context(|| {
			format!("the chain knows no set {id}; ended ones are forgotten after a while")
		})?;
		if self.json {
			return print_json(&view);
		}
		print!("{}", terminal::lines(&tell::summary(&view)));
		Ok(ExitCode::SUCCESS)
	}
}

impl Stop {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let sender = sender(&self.node, &self.key).await?;
		sender.run(&calls::stop(self.id)).await?;
		println!("set {} ends after the running generation", self.id);
		Ok(ExitCode::SUCCESS)
	}
}

/// Reads a sweep that can be posted.
fn load(path: &Path) -> anyhow::Result<SweepFile> {
	let sweep = file::load(path)?;
	if let Some(which) = sweep.job.without_location() {
		bail!(
			"the job of {} has no {}.location: trainers must be able to fetch the {}. Give an http:// or https:// \
			 URL that serves the file",
			path.display(),
			which.field(),
			inputs::name_of(which)
		);
	}
	Ok(sweep)
}

/// Returns whether a set that runs is one of this sweep. What members train changes after the first generation where
/// they are replaced; then how many there are, their data and model, and the plan decide.
fn is_of(view: &SetView, specs: &[JobSpec], sweep: &SweepFile) -> bool {
	let plan = trainyard_protocol::sets::Plan {
		max_fee_per_ut: view.plan.max_fee_per_ut,
		..sweep.plan.clone()
	};
	let same = |(member, spec): (&trainyard_protocol::sets::MemberView, &JobSpec)| {
		let training = view.generation > 0 || member.spec.training == spec.training;
		training && member.spec.dataset == spec.dataset && member.spec.model == spec.model
	};
	!matches!(view.stage, Stage::Ended(_))
		&& view.plan == plan
		&& view.members.len() == specs.len()
		&& view.members.iter().zip(specs).all(same)
}

/// Returns the newest set of this account of which `wanted` holds.
async fn newest(
	sender: &Transactor,
	wanted: impl Fn(&SetView) -> bool,
) -> anyhow::Result<Option<SetView>> {
	let own = |view: &SetView| view.submitter == *sender.account() && wanted(view);
	for id in sender.chain().job_sets().await?.into_iter().rev() {
		if let Some(view) = sender.chain().job_set(id).await?.filter(own) {
			return Ok(Some(view));
		}
	}
	Ok(None)
}
