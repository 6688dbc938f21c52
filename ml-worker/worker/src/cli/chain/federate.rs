//! `trainyard federate`.

use super::{sender, FAILED};
use crate::{
	args::{KeyArgs, NodeArgs},
	federate::{
		follow::{self, Does, Follower},
		prepare::{self, Places, Prepared},
	},
	job_toml::{self, JobFile},
	roles::{
		http::{Server, Shelf},
		report::Reporter,
		submit,
	},
	terminal,
};
use anyhow::{bail, Context};
use clap::ValueEnum;
use serde_json::json;
use std::{collections::HashMap, net::SocketAddr, path::PathBuf, process::ExitCode};
use trainyard_client::{amount, blobs, federation as calls, FederationView, Transactor};
use trainyard_program::spec::{CheckedSpec, JobSpec};
use trainyard_proof::bundle::files;
use trainyard_protocol::{
	federation::{self, FederationEnding, FederationId, Plan, Rule, Stage, MAX_PARTS, MAX_ROUNDS},
	job::{Balance, BlockNumber, Terms, MAX_REPLICAS},
};

/// Blocks that a round has besides those for applying and training, where nobody says otherwise: for revealing, and
/// an audit.
const MORE_BLOCKS: BlockNumber = 2_000;

/// When the result of a part counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RuleArg {
	/// As soon as its trainers agree
	Agreed,
	/// When its audit decided
	Settled,
}

/// Options of `trainyard federate`.
#[derive(Debug, clap::Args)]
pub struct Federate {
	/// The job; training.steps are those of a part in a round
	#[arg(value_name = "JOB.toml", required_unless_present = "watch")]
	job: Option<PathBuf>,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Trainers of each part, who must agree
	#[arg(long, value_name = "R", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=MAX_REPLICAS as i64))]
	redundancy: u32,
	/// Rounds
	#[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=MAX_ROUNDS as i64))]
	rounds: u32,
	/// Parts into which the data are split
	#[arg(long, value_name = "P", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=MAX_PARTS as i64))]
	parts: u32,
	/// The file of a part, in the format of the job, once for each; nothing is split then
	#[arg(long = "part", value_name = "FILE")]
	part_files: Vec<PathBuf>,
	/// When the result of a part counts; without it, agreed where the redundancy is above 1
	#[arg(long, value_enum)]
	rule: Option<RuleArg>,
	/// Parts of which a round needs a result; without it all
	#[arg(long, value_name = "PARTS")]
	min_parts: Option<u32>,
	/// Blocks after which a round goes on without parts that have not answered
	#[arg(long, value_name = "BLOCKS")]
	round_blocks: Option<BlockNumber>,
	/// End where a result that counted is found to be false
	#[arg(long)]
	stop_if_tainted: bool,
	/// What whoever proposes the aggregate of a round is paid (in TRY)
	#[arg(long, value_name = "TRY", value_parser = amount::parse, default_value = "0.5")]
	aggregate_fee: Balance,
	/// URL at which the files of the parts are served, by their names; without it this program serves them
	#[arg(long, value_name = "URL", conflicts_with = "listen")]
	location_base: Option<String>,
	/// Address at which this program serves the parts. After a restart it must be the same
	#[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8630")]
	listen: SocketAddr,
	/// URL by which trainers reach that address; without it http://ADDRESS
	#[arg(long, value_name = "URL")]
	public_url: Option<String>,
	/// Folder for the parts, the first model and the models of the rounds
	#[arg(long, value_name = "DIR", default_value = "federation")]
	dir: PathBuf,
	/// Where the last model is written; without it model.safetensors in the folder
	#[arg(long, value_name = "FILE")]
	out: Option<PathBuf>,
	/// Watch this federation, whoever opened it: propose its aggregates for the fee, and refute false ones
	#[arg(long, value_name = "NUMBER", conflicts_with = "job")]
	watch: Option<FederationId>,
	/// Only post it; exit code 0 when it is on chain. Others must serve the parts and propose the aggregates
	#[arg(long, requires = "location_base")]
	no_follow: bool,
	/// For tests: propose a false aggregate of the first round
	#[arg(long, hide = true)]
	test_only_lie: bool,
	/// For tests: follow, and propose nothing
	#[arg(long, hide = true)]
	test_only_no_proposals: bool,
	/// One JSON object per event; the last one is the whole federation
	#[arg(long)]
	json: bool,
}

impl Federate {
	/// Opens a federation and follows it to its end, or watches one.
	pub async fn run(self) -> anyhow::Result<ExitCode> {
		let sender = sender(&self.node, &self.key).await?;
		let report = Reporter::new("federation", self.json, None);
		files::create_folder(&self.dir)?;
		let mut server = None;
		let id = match (self.watch, &self.job) {
			(Some(id), _) => id,
			(None, Some(path)) => {
				let job = job_toml::load(path)?;
				let paths = match self.part_files.is_empty() {
					true => prepare::split(&job, &self.dir.join("parts"), self.parts)?,
					false => self.part_files.clone(),
				};
				let prepared = prepare::parts(&job, &paths, &self.places())?;
				if self.location_base.is_none() {
					let shelf = Shelf::default();
					shelf.set(HashMap::new(), prepared.files.clone());
					server = Some(Server::start(self.listen, shelf).await?);
				}
				self.open(&sender, &job, prepared, &report).await?
			}
			(None, None) => bail!("name a job, or a federation to --watch"),
		};
		if self.no_follow {
			return Ok(ExitCode::SUCCESS);
		}
		let does = Does { proposes: !self.test_only_no_proposals, lies: self.test_only_lie };
		let view = Follower::new(&sender, id, &self.dir, report, does).run().await?;
		drop(server);
		self.finish(&sender, view).await
	}

	fn places(&self) -> Places {
		match (&self.location_base, &self.public_url) {
			(Some(base), _) => Places::Base(base.clone()),
			(None, Some(url)) => Places::Served(url.clone()),
			(None, None) => Places::Served(format!("http://{}", self.listen)),
		}
	}

	/// Returns the number of the federation of this job: one of this account that runs, or a new one.
	async fn open(
		&self,
		sender: &Transactor,
		job: &JobFile,
		prepared: Prepared,
		report: &Reporter,
	) -> anyhow::Result<FederationId> {
		let Some(terms) = &job.terms else {
			bail!("the job has no [terms]: what do you offer the trainers of a part?")
		};
		let bytes = prepare::initial_bytes(job, &self.dir.join("initial.safetensors"))?;
		let initial = prepare::store_initial(sender, &job.spec, bytes).await?;
		let template =
			JobSpec { initial_model: Some(initial.clone()), ..job.spec.clone().into_spec() };
		let same = |view: &FederationView| {
			let parts = view.parts.iter().map(|part| &part.data);
			view.submitter == *sender.account()
				&& view.template == template
				&& parts.eq(&prepared.parts)
				&& view.plan.rounds == self.rounds
				&& view.terms.replicas == self.redundancy
		};
		if let Some(view) = newest(sender, |view| same(view) && !has_ended(view)).await? {
			let text = format!("federation {} goes on in round {}", view.id, view.round);
			report.general("resumed", &text, json!({ "federation": view.id, "round": view.round }));
			return Ok(view.id);
		}
		let first = prepared.parts.first().context("there is no part")?;
		let spec = federation::spec_of_part(&template, first, &initial).check()?;
		let terms = Terms { replicas: self.redundancy, ..terms.clone() };
		let terms = self.with_audit_fee(sender, job, &spec, terms).await?;
		let plan = self.plan(sender, &spec, &terms, prepared.parts.len()).await?;
		let call = calls::open(&template, &prepared.parts, &terms, &plan);
		sender.run(&call).await?;
		let opened = newest(sender, same).await?.context(
			"the federation was opened, but its number was not found; run the same command again",
		)?;
		let text = format!(
			"federation {} is open: {} parts with {} trainers each, {} rounds; {} held for aggregates",
			opened.id,
			opened.parts.len(),
			self.redundancy,
			plan.rounds,
			amount::format(opened.fees)
		);
		report.general("opened", &text, json!({ "federation": opened.id }));
		Ok(opened.id)
	}

	/// Returns the terms with a fee of verifiers, if the job leaves it open: twice what the chain takes now, since it
	/// follows the market and the rounds to come must be posted by the same terms, and at most what it can be.
	async fn with_audit_fee(
		&self,
		sender: &Transactor,
		job: &JobFile,
		spec: &CheckedSpec,
		terms: Terms,
	) -> anyhow::Result<Terms> {
		if !job.audit_fee_is_open {
			return Ok(terms);
		}
		let offered = submit::with_audit_fee(sender.chain(), spec, &terms).await?;
		let highest =
			trainyard_protocol::fees::audit_fee(spec, &terms).unwrap_or(offered.audit_fee);
		let audit_fee = offered.audit_fee.saturating_mul(2).min(highest.max(offered.audit_fee));
		Ok(Terms { audit_fee, ..terms })
	}

	async fn plan(
		&self,
		sender: &Transactor,
		spec: &CheckedSpec,
		terms: &Terms,
		parts: usize,
	) -> anyhow::Result<Plan> {
		let Some(quote) = sender.chain().quote(spec, terms).await? else {
			bail!("the chain would refuse the job of a part: `trainyard estimate` shows what it allows")
		};
		let free = sender.chain().account(sender.account()).await?.free;
		let count = u32::try_from(parts).unwrap_or(u32::MAX);
		let each = quote.escrow.saturating_add(quote.record);
		let needed = each.saturating_mul(count.into());
		if free < needed {
			bail!(
				"a round holds {} for {count} parts, and {} has {} free. Bring balance to the account, or lower \
				 the price, the redundancy or the number of parts",
				amount::format(needed),
				sender.account(),
				amount::format(free)
			);
		}
		let periods = terms.apply_blocks.saturating_add(terms.training_blocks);
		let rule = self.rule.unwrap_or(match self.redundancy {
			1 => RuleArg::Settled,
			_ => RuleArg::Agreed,
		});
		Ok(Plan {
			rounds: self.rounds,
			min_parts: self.min_parts.unwrap_or(count),
			rule: match rule {
				RuleArg::Agreed => Rule::Agreed,
				RuleArg::Settled => Rule::Settled,
			},
			round_blocks: self.round_blocks.unwrap_or(periods.saturating_add(MORE_BLOCKS)),
			stop_if_tainted: self.stop_if_tainted,
			aggregate_fee: self.aggregate_fee,
			max_fee_per_ut: quote.fee_per_ut.saturating_mul(2),
		})
	}

	/// Writes the last model, and says how it ended.
	async fn finish(&self, sender: &Transactor, view: FederationView) -> anyhow::Result<ExitCode> {
		let out = self.out.clone().unwrap_or_else(|| self.dir.join("model.safetensors"));
		if let (Some(round), None) = (view.rounds.last(), self.watch) {
			let size = view.initial.file.bytes;
			let bytes = blobs::load(sender.chain(), round.root, size).await?;
			files::write(&out, &bytes)?;
		}
		if self.json {
			let ended = json!({ "event": "ended", "federation": view.id, "view": view });
			println!("{}", terminal::json(&ended.to_string()));
		} else {
			println!("federation {}: {}", view.id, follow::stage(&view.stage));
			for (at, round) in view.rounds.iter().enumerate() {
				println!("  round {at}: {:?}, of {} parts", round.root, round.parts.len());
			}
			if !view.rounds.is_empty() && self.watch.is_none() {
				println!("the last model is in {}", out.display());
			}
		}
		Ok(match view.stage {
			Stage::Ended(FederationEnding::Done) => ExitCode::SUCCESS,
			_ => ExitCode::from(FAILED),
		})
	}
}

fn has_ended(view: &FederationView) -> bool {
	matches!(view.stage, Stage::Ended(_))
}

/// Returns the newest federation of which `wanted` holds.
async fn newest(
	sender: &Transactor,
	wanted: impl Fn(&FederationView) -> bool,
) -> anyhow::Result<Option<FederationView>> {
	for id in sender.chain().federations().await?.into_iter().rev() {
		if let Some(view) = sender.chain().federation(id).await?.filter(|view| wanted(view)) {
			return Ok(Some(view));
		}
	}
	Ok(None)
}
