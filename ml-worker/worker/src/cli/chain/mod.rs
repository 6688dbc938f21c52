//! The commands that talk to a chain.

mod authority;
mod bet;
mod certificate;
mod claim;
mod dispute;
mod federate;
mod model;
mod pool;
mod project;
mod reputation;
mod show;
mod swarm;
mod sweep;
pub(super) mod task;
mod verifier_status;
mod work;

use crate::args::{parse_ut, use_threads, DeviceArgs, KeyArgs, NodeArgs};
use crate::{
	job_toml,
	roles::{
		common::registration::hardware,
		display,
		driller::{self, DrillerArgs},
		report::Reporter,
		submit,
		trainer::{self, TrainerArgs},
		verifier::{self, VerifierArgs},
		whistleblower::{self, WhistleblowerArgs},
	},
	terminal,
};
use anyhow::{bail, Context};
use authority::{Authority, Deregister};
use bet::BetCommand;
use certificate::Certificate;
use claim::ClaimCommand;
use clap::Subcommand;
use dispute::DisputeCommand;
use model::ModelCommand;
use pool::PoolCommand;
use project::ProjectCommand;
use reputation::ReputationOf;
use serde_json::json;
use show::{BalanceOf, FetchModel, Read, Status, Trainers};
use std::{
	future::Future,
	io::{IsTerminal, Write},
	num::NonZeroUsize,
	path::PathBuf,
	process::ExitCode,
	sync::Arc,
	time::Duration,
};
use trainyard_client::{amount, calls, keys::parse_account, AccountId32, Chain, Transactor};
use trainyard_proof::inputs;
use trainyard_protocol::{
	job::{Balance, Ending, JobState},
	MicroUt, Text,
};

/// How long a command waits for a node.
const PATIENCE: Duration = Duration::from_secs(5);
/// Exit code of a job that ended without a result.
const FAILED: u8 = 1;
/// Exit code if the command could not do its work.
const CANNOT: u8 = 2;
/// Commands that need a node.
#[derive(Debug, Subcommand)]
pub enum ChainCommand {
	/// Posts a job and follows it to its end. Exit code 0: settled, 1: it failed, 2: it could
	/// not be posted or followed
	Submit(Submit),
	/// Splits the data of a job into parts, has each trained by several trainers round by round, and proposes the
	/// mean of each round; goes on after a restart. Exit code 0: all rounds have a model, 1: it ended before, 2: it
	/// could not be opened or followed
	Federate(Box<federate::Federate>),
	/// Has a job trained with several hyperparameters or seeds, by different trainers, and compares what comes of
	/// it; with a table pbt, generation after generation. Goes on after a restart. Exit code 0: there is a best model, 1: no
	/// member has a score, 2: it could not be posted or followed
	Sweep(Box<sweep::Sweep>),
	/// Trains one model among peers that nobody coordinates, and is paid for what makes it better
	#[command(subcommand)]
	Swarm(Box<swarm::SwarmCommand>),
	/// Stakes money on whether a result is right, at odds; takes, ends and shows such bets
	#[command(subcommand)]
	Bet(Box<BetCommand>),
	/// Sells and buys claims on what replicas are paid, while their results are audited
	#[command(subcommand)]
	Claim(Box<ClaimCommand>),
	/// Makes, joins and leaves pools that pay trainers of lotteries the mean, and enrols claims in them
	#[command(subcommand)]
	Pool(Box<PoolCommand>),
	/// Trains jobs from the market; goes on after a restart
	Trainer(OnDevice<TrainerArgs>),
	/// Checks results that it is drawn for; goes on after a restart
	Verifier(OnDevice<VerifierArgs>),
	/// Replays segments of results that stand, and accuses whoever delivered a false one; goes on after
	/// a restart
	Whistleblower(OnDevice<WhistleblowerArgs>),
	/// Shows where a verifier stands and what it owes. Exit code 0: it is drawn and nothing is
	/// urgent, 1: it is not drawn, 2: cannot be asked, 3: a deadline is near
	VerifierStatus(verifier_status::VerifierStatus),
	/// Computes units of drilling, for power; goes on after a restart
	Driller(OnDevice<DrillerArgs>),
	/// Plays trainer, driller, verifier and whistleblower in one daemon, with one key, one folder and one
	/// budget, and does what pays best now; goes on after a restart
	Work(Box<work::Work>),
	/// Proposes, votes on and shows projects of drilling
	#[command(subcommand)]
	Project(ProjectCommand),
	/// Lists the offers of trainers, with their power and what they did
	Market(Read),
	/// Offers training at a price, or takes the offer back
	Offer(Offer),
	/// Lists the newest jobs, or shows one
	Status(Status),
	/// Lists the trainers, their power and their weight among the block authors; or the authorities, and
	/// what they know to be final
	Trainers(Trainers),
	/// Shows what an account did as trainer, verifier, submitter or challenger
	Reputation(ReputationOf),
	/// Registers an account as a trainer
	Register(Register),
	/// Makes a trainer with a node of its own an authority: session keys, then candidacy
	Authority(Authority),
	/// Ends being a trainer; the bond is free after the unbonding period
	Deregister(Deregister),
	/// Reads the model of a job from the chain and checks it against its root
	FetchModel(FetchModel),
	/// Writes what the chain has on record of a finished job, with proofs that anybody can check without a
	/// node
	Certificate(Certificate),
	/// Stores files on chain, brings, lists, renews and removes them
	#[command(subcommand)]
	Model(ModelCommand),
	/// Lists the disputes that run, tells one, or says what one would cost
	Dispute(DisputeCommand),
	/// Shows the balance of an account
	Balance(BalanceOf),
}

/// Options of a role that trains or replays, and where it computes.
#[derive(Debug, clap::Args)]
pub struct OnDevice<Role: clap::Args> {
	#[command(flatten)]
	args: Role,
	#[command(flatten)]
	device: DeviceArgs,
}

impl<Role: clap::Args> OnDevice<Role> {
	/// Runs a role until it ends, with as many threads as `threads` says, or as there are cores.
	async fn run<R, E>(
		self,
		threads: impl FnOnce(&Role) -> Option<NonZeroUsize>,
		role: impl FnOnce(Role) -> R,
	) -> anyhow::Result<ExitCode>
	where
		R: Future<Output = Result<(), E>>,
		anyhow::Error: From<E>,
	{
		use_threads(threads(&self.args))?;
		self.device.choose()?;
		role(self.args).await?;
		Ok(ExitCode::SUCCESS)
	}
}

/// Options of `trainyard submit`.
#[derive(Debug, clap::Args)]
pub struct Submit {
	/// The job
	#[arg(value_name = "JOB.toml")]
	job: PathBuf,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Order it from this trainer, through its listing: nobody else may take it
	#[arg(long, value_name = "ACCOUNT", value_parser = parse_account)]
	trainer: Option<AccountId32>,
	/// Most protocol fee for one ut of training (in TRY); without it twice what the chain quotes
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	max_fee: Option<Balance>,
	/// Only post it; exit code 0 when it is on chain
	#[arg(long)]
	no_follow: bool,
	/// One JSON object per event; the last one is the whole job
	#[arg(long)]
	json: bool,
}

/// Options of `trainyard offer`.
#[derive(Debug, clap::Args)]
pub struct Offer {
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Price of one ut (in TRY)
	#[arg(long, value_name = "TRY", value_parser = amount::parse, required_unless_present = "remove")]
	price: Option<Balance>,
	/// Largest job taken (in ut)
	#[arg(long, value_name = "UT", default_value = "1000", value_parser = parse_ut)]
	max_ut: MicroUt,
	/// A word to submitters, at most 256 bytes
	#[arg(long, value_name = "TEXT", default_value = "")]
	note: String,
	/// Take the offer back
	#[arg(long, conflicts_with = "price")]
	remove: bool,
}

/// Options of `trainyard register`.
#[derive(Debug, clap::Args)]
pub struct Register {
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Bond (in TRY)
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	bond: Balance,
}

impl ChainCommand {
	/// Runs the command. It prints what it could not do; the exit code says how it went.
	pub async fn run(self) -> anyhow::Result<ExitCode> {
		let result = match self {
			Self::Submit(args) => args.run().await,
			Self::Federate(args) => args.run().await,
			Self::Sweep(args) => args.run().await,
			Self::Swarm(command) => command.run().await,
			Self::Bet(command) => command.run().await,
			Self::Claim(command) => command.run().await,
			Self::Pool(command) => command.run().await,
			Self::Trainer(role) => role.run(|_| None, trainer::run).await,
			Self::Verifier(role) => role.run(|_| None, verifier::run).await,
			Self::Whistleblower(role) => role.run(|_| None, whistleblower::run).await,
			Self::VerifierStatus(args) => args.run().await,
			Self::Driller(role) => role.run(DrillerArgs::threads, driller::run).await,
			Self::Work(args) => args.run().await,
			Self::Project(command) => command.run().await,
			Self::Market(args) => args.market().await,
			Self::Offer(args) => args.run().await,
			Self::Status(args) => args.run().await,
			Self::Trainers(args) => args.run().await,
			Self::Reputation(args) => args.run().await,
			Self::Register(args) => args.run().await,
			Self::Authority(args) => args.run().await,
			Self::Deregister(args) => args.run().await,
			Self::FetchModel(args) => args.run().await,
			Self::Certificate(args) => args.run().await,
			Self::Model(command) => command.run().await,
			Self::Dispute(args) => args.run().await,
			Self::Balance(args) => args.run().await,
		};
		Ok(result.unwrap_or_else(|error| {
			eprintln!("{}", terminal::lines(&format!("error: {error:#}")));
			ExitCode::from(CANNOT)
		}))
	}
}

async fn connect(node: &NodeArgs) -> anyhow::Result<Arc<Chain>> {
	Ok(Arc::new(Chain::connect(&node.node, PATIENCE).await?))
}

async fn sender(node: &NodeArgs, key: &KeyArgs) -> anyhow::Result<Transactor> {
	let key = key.keypair()?;
	Ok(Transactor::new(connect(node).await?, key))
}

/// Asks whether to go on. Fails where nobody is there to ask.
fn asked() -> anyhow::Result<bool> {
	if !std::io::stdin().is_terminal() {
		bail!("nobody is there to be asked whether to pay this: give --yes");
	}
	eprint!("post it? [y/N] ");
	std::io::stderr().flush()?;
	let mut line = String::new();
	std::io::stdin().read_line(&mut line)?;
	Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn print_json(value: &impl serde::Serialize) -> anyhow::Result<ExitCode> {
	println!("{}", terminal::pretty(value)?);
	Ok(ExitCode::SUCCESS)
}

fn ut(micro: u128) -> String {
	amount::format_scaled(micro, 6)
}

impl Submit {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let file = job_toml::load(&self.job)?;
		let Some(terms) = &file.terms else {
			bail!(
				"{} has no [terms]: what do you offer? `terms` needs price_per_ut, and may have replicas, \
				 verifiers, audit_segments, audit_fee, apply_blocks and training_blocks",
				self.job.display()
			)
		};
		if let Some(which) = file.without_location() {
			bail!(
				"{} has no {}.location: trainers must be able to fetch the {}. Give an http:// or \
				 https:// URL that serves the file",
				self.job.display(),
				which.field(),
				inputs::name_of(which)
			);
		}
		let sender = sender(&self.node, &self.key).await?;
		let report = Reporter::new("submitter", self.json, None);
		let terms = match file.audit_fee_is_open {
			true => submit::with_audit_fee(sender.chain(), &file.spec, terms).await?,
			false => terms.clone(),
		};
		let posted =
			submit::post(&sender, &file.spec, &terms, self.trainer.as_ref(), self.max_fee).await?;
		let mut text = format!(
			"posted: {} ut of work, {} held in escrow",
			ut(u128::from(posted.work)),
			amount::format(posted.escrow)
		);
		if let (Some(prospect), Some(one_in)) = (posted.lottery, terms.lottery) {
			text.push('\n');
			text.push_str(&display::prospect(&prospect, one_in));
		}
		let fields = json!({
			"work": posted.work,
			"escrow": posted.escrow.to_string(),
			"lottery": posted.lottery,
			"submitter": sender.account(),
		});
		report.job(posted.job, "posted", &text, fields);
		if self.no_follow {
			return Ok(ExitCode::SUCCESS);
		}
		let job = submit::follow(sender.chain(), posted.job, &report).await?;
		if self.json {
			let ended = json!({ "event": "ended", "job": job.id, "view": job });
			println!("{}", terminal::json(&ended.to_string()));
		} else {
			print!("\n{}", submit::summary(&job));
		}
		Ok(match job.state {
			JobState::Ended(Ending::Settled | Ending::Agreed) => ExitCode::SUCCESS,
			_ => ExitCode::from(FAILED),
		})
	}
}

impl Offer {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let note = Text::new(&self.note).context("--note has more than 256 bytes")?;
		let sender = sender(&self.node, &self.key).await?;
		match self.price {
			Some(price) => {
				sender.run(&calls::post_listing(price, self.max_ut, &note)).await?;
				println!(
					"{} offers training at {} per ut, jobs up to {} ut",
					sender.account(),
					amount::format(price),
					ut(u128::from(self.max_ut))
				);
			}
			None => {
				sender.run(&calls::remove_listing()).await?;
				println!("the offer of {} is taken back", sender.account());
			}
		}
		Ok(ExitCode::SUCCESS)
	}
}

impl Register {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let sender = sender(&self.node, &self.key).await?;
		sender.run(&calls::register_trainer(self.bond, &hardware())).await?;
		println!("{} is a trainer with a bond of {}", sender.account(), amount::format(self.bond));
		Ok(ExitCode::SUCCESS)
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use clap::Parser;

	#[derive(Parser)]
	struct Line {
		#[command(subcommand)]
		command: ChainCommand,
	}

	fn parse(line: &str) -> Result<ChainCommand, clap::Error> {
		Line::try_parse_from(line.split(' ')).map(|l| l.command)
	}

	#[test]
	fn the_documented_lines_parse() {
		for line in [
			"x submit job.toml --node ws://127.0.0.1:9944 --suri //Alice --json --no-follow",
			"x submit job.toml --suri //Bob --trainer //Alice",
			"x federate job.toml --redundancy 2 --rounds 3 --parts 4 --rule settled --min-parts 3 --round-blocks 90 \
			 --stop-if-tainted --aggregate-fee 1 --listen 127.0.0.1:0 --public-url http://h --dir d --out m --json",
			"x federate job.toml --part a --part b --location-base http://h/parts --no-follow --suri //Bob",
			"x federate --watch 3 --suri //Bob --dir d",
			"x sweep sweep.toml --suri //Alice --yes --dir d --out m --json",
			"x sweep --resume 3 --suri //Alice --allow-private-locations",
			"x sweep show",
			"x sweep show 3 --json",
			"x sweep stop 3 --suri //Alice",
			"x swarm open swarm.toml --suri //Alice --dir d --json",
			"x swarm run 3 --suri //Bob --dir d --data a.csv --data b.csv --roles train,mix --passes 2 --batch 4 \
			 --iroh-listen 127.0.0.1:0 --allow-private-locations --json",
			"x swarm run 3 --suri //Bob --dir d --iroh-relay https://relay.example",
			"x swarm join 3 --suri //Bob --dir d --roles data",
			"x bet offer --job 7 --side right --odds 100:1 --stake 500 --blocks 2400 --notice 600 --suri //Alice",
			"x bet offer --job 7 --late --odds 1:20 --stake 100 --only //Bob --panel //Eve //Dave --threshold 2 \
			 --panel-blocks 10 --suri //Alice",
			"x bet offer --words 5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f --side wrong \
			 --odds 1:1 --stake 1 --panel //Eve --suri //Alice",
			"x bet take 3 --side wrong --stake 5 --suri //Bob",
			"x bet withdraw 3 --suri //Alice",
			"x bet agree 2 --to-maker 1.5 --suri //Bob",
			"x bet agree 2 --take-back --suri //Bob",
			"x bet judge 3 --says unknown --suri //Eve",
			"x bet settle 2 --suri //Bob",
			"x bet show --job 7 --age 100 --notice 600 --loss 100 --cost 1 --json",
			"x bet show --offer 3",
			"x bet show --bet 2 --json",
			"x swarm show",
			"x swarm show 3 --json",
			"x swarm debts 3 --dir d --json",
			"x swarm fund 3 2.5 --suri //Bob",
			"x swarm leave 3 --suri //Bob",
			"x swarm close 3 --suri //Alice",
			"x swarm claim 3 --dir d --suri //Bob",
			"x swarm claim 3 --dir d --suri //Bob \
			 --ticket 5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f",
			"x swarm watch 3 --suri //Alice --dir d",
			"x trainer --node ws://127.0.0.1:9944 --suri //Alice --dir /tmp/a --listen 127.0.0.1:0 \
			 --public-url http://127.0.0.1:1 --min-price 0.5 --max-ut 2 --max-parallel 2 \
			 --test-only-cheat 3 --bond 100",
			"x trainer --suri //Alice --device cuda:1 --check-segments 3 --forget-other-chains",
			"x verifier --suri //Charlie --max-memory-mib 4096 --max-replays 2",
			"x driller --suri //Alice --max-disk-mib 4096",
			"x trainer --suri //Alice --no-accuse --dispute-disk-mib 100 --dispute-memory-mib 100 \
			 --max-challenge-deposit 20 --warn-webhook http://127.0.0.1:9/hook",
			"x whistleblower --suri //Dave --dir d --once --segments-per-job 1 --max-deposit 50 \
			 --max-open 1 --reserve 1 --max-ut 3 --max-data-mib 10 --max-memory-mib 1024 \
			 --max-disk-mib 4096 --device cpu --json",
			"x verifier --suri //Charlie --dir d --bond 100 --once --device cpu",
			"x verifier --suri-file suri --max-disk-mib 4096",
			"x verifier --suri //Eve --capacity-ut 4.5 --capacity-memory-mib 8192 --warn-webhook \
			 http://127.0.0.1:9/hook",
			"x verifier-status //Charlie --json",
			"x trainer --suri-file suri --max-disk-mib 4096",
			"x submit job.toml --suri-file suri",
			"x driller --suri //Alice --dir d --bond 100 --threads 2 --projects --units 3 --json \
			 --test-only-cheat --device cpu",
			"x work --node ws://127.0.0.1:9944 --suri //Bob --dir d --threads 2 --max-memory-mib 16384 \
			 --max-disk-mib 100000 --bond 100 --roles trainer,driller,verifier,whistleblower \
			 --verifier-bond 200 --at-once 2 --min-price 0.5 --projects --status-minutes 5 \
			 --trainer-options=--max-parallel=1 --prometheus-port 9616 --device cpu --json",
			"x work",
			"x work status --dir d",
			"x work status --dir d --node ws://127.0.0.1:9944 --json",
			"x project propose project.toml --suri //Alice",
			"x project vote 3 --aye --suri //Bob",
			"x project vote 3 --nay --suri //Bob",
			"x project withdraw 3 --suri //Alice",
			"x project clear 3 --suri //Alice",
			"x project list --json",
			"x project show 3 --all --svg rates.svg",
			"x market --json",
			"x offer --suri //Alice --price 1.5 --max-ut 10 --note hello",
			"x offer --suri //Alice --remove",
			"x status",
			"x status 3 --json",
			"x trainers --json",
			"x register --suri //Bob --bond 100",
			"x authority --suri //Bob --new-keys --wait",
			"x authority --suri //Bob --leave",
			"x deregister --suri //Bob",
			"x deregister --suri //Bob --withdraw",
			"x trainer --suri //Alice --prometheus-port 9616 --prometheus-external",
			"x fetch-model 3 --out model.safetensors",
			"x model put model.bin --suri //Alice --senders one two --dry-run --json",
			"x model put model.bin --suri-file suri --yes --no-wait-final --window 3 --patience 2",
			"x model get 0x5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f --out f --json \
			 --node ws://127.0.0.1:9944 ws://127.0.0.1:9945",
			"x model put model.bin --suri-file suri --seal-for \
			 seal-8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285fbab9a005",
			"x model get 5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f --unseal key",
			"x model ls --suri //Alice --json",
			"x model ls --mine --suri //Alice",
			"x model ls --all",
			"x model ls --owner //Bob",
			"x model renew 5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f --suri //Alice",
			"x model rm 5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f --suri //Alice",
			"x balance //Alice",
			"x reputation --watchers --json",
			"x whistleblower --suri //Dave --min-expected 0.5",
			"x dispute",
			"x dispute 7 --json",
			"x dispute --estimate job.toml --json",
			"x dispute --estimate 3 --node ws://127.0.0.1:9944",
		] {
			let line = line.replace("\t", "");
			if let Err(e) = parse(&line) {
				panic!("{line}: {e}");
			}
		}
	}

	#[test]
	fn wrong_lines_are_refused() {
		for line in [
			"x offer --suri //Alice",
			"x federate --suri //Alice",
			"x bet",
			"x bet offer --side right --odds 100:1 --stake 500 --suri //Alice",
			"x bet offer --job 7 --odds 100 --stake 500 --suri //Alice",
			"x bet offer --job 7 --odds 1:1 --stake 1 --threshold 2 --suri //Alice",
			"x bet take 3 --stake 5 --suri //Bob",
			"x bet agree 2 --suri //Bob",
			"x bet agree 2 --to-maker 1 --take-back --suri //Bob",
			"x bet show",
			"x bet show --job 7 --loss 100",
			"x bet show --offer 3 --bet 2",
			"x swarm",
			"x swarm run 3",
			"x swarm run 3 --dir d --roles cook",
			"x swarm claim 3",
			"x swarm fund 3",
			"x federate job.toml --watch 3",
			"x federate job.toml --redundancy 9",
			"x federate job.toml --parts 0",
			"x federate job.toml --no-follow",
			"x offer --suri //Alice --price 1 --remove",
			"x trainer --max-parallel 0",
			"x driller --suri //Alice --threads 0",
			"x verifier --suri //Alice --max-replays 0",
			"x whistleblower --suri //Dave --segments-per-job 0",
			"x whistleblower --suri //Dave --max-open 0",
			"x work --roles miner",
			"x work --threads 0",
			"x work --bond much",
			"x work status",
			"x work status --dir d --suri //Bob",
			"x project vote 3 --suri //Bob",
			"x project vote 3 --aye --nay --suri //Bob",
			"x project show",
			"x trainer --suri //Alice --prometheus-external",
			"x verifier --suri //Alice --prometheus-port 70000",
			"x authority --suri //Bob --leave --wait",
			"x trainer --suri //Alice --device gpu",
			"x trainer --min-price -1",
			"x trainer --min-price much",
			"x balance nobody",
			"x model",
			"x model put",
			"x model put model.bin --window 0",
			"x model get",
			"x model get 5f5f",
			"x model ls --all --mine",
			"x model ls --all --owner //Bob",
			"x model rm nothing",
			"x dispute seven",
			"x dispute -1",
			"x dispute 7 --estimate 3",
			"x dispute --estimate",
			"x register --suri //Bob",
			"x verifier --suri //Bob --suri-file suri",
			"x verifier --key-file key.json --suri-file suri",
		] {
			assert!(parse(line).is_err(), "{line}");
		}
	}

	#[tokio::test]
	async fn without_a_node_the_exit_code_says_cannot() {
		let port = {
			let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
			listener.local_addr().unwrap().port()
		};
		let command = parse(&format!("x status --node http://127.0.0.1:{port}")).unwrap();
		let code = command.run().await.unwrap();
		assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(CANNOT)));
	}
}
