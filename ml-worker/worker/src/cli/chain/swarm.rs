//! `trainyard swarm`.

mod add;
mod claim;
mod open;
mod run;
mod show;

use super::{connect, print_json, sender};
use crate::{
	args::{KeyArgs, NodeArgs},
	roles::fetch::{Fetcher, LocationArgs},
	roles::report::Reporter,
	swarm::{
		board::Board,
		chain::OnChain,
		journal::Journal,
		peer::roles_in,
		position::{Folder, Position},
		watch::Watcher,
	},
	table::{table, Align},
};
use anyhow::bail;
use clap::Subcommand;
use serde_json::json;
use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};
use trainyard_client::{amount, swarm as calls, swarm::PeerView};
use trainyard_protocol::{
	job::Balance,
	swarm::{joining, role, SwarmId},
	H256,
};

/// Peers that train one model without a coordinator.
#[derive(Debug, Subcommand)]
pub enum SwarmCommand {
	/// Opens the swarm of a file: stores the model with which all begins, and names the slices by which gain is
	/// measured. Their files are kept in the folder until they are drawn: run `swarm watch` on it
	Open(open::Open),
	/// Adds slices by which gain is measured; their files are kept in the folder until they are drawn
	AddSlices(add::AddSlices),
	/// Is a peer: joins, trains, mixes with others, serves its models and pays; goes on after a restart
	Run(Box<run::Run>),
	/// Joins without running, with the key that is in the folder
	Join(Join),
	/// Shows a swarm, or lists all
	Show(show::Show),
	/// Lists the tickets that the peer of a folder was given and that are not paid
	Debts(Debts),
	/// Puts more into the purse that others' claims can take
	Fund(Fund),
	/// Says that the account leaves; and, after the time for its tickets, goes with what is in its purse
	Leave(One),
	/// Is paid what the account's contributions to outer steps brought
	Collect(One),
	/// Ends a swarm that the account opened
	Close(One),
	/// Claims what a model is better by than the best one so far, or, by a ticket, than that of its payer; goes on
	/// after a restart. Exit code 0: it was said what was counted, 2: it could not be claimed
	Claim(claim::ClaimArgs),
	/// Shows slices of this account that are drawn, and has false counts of others measured; goes on after a restart
	Watch(Watch),
}

/// Which swarm, and who.
#[derive(Debug, clap::Args)]
pub struct One {
	/// Number of the swarm
	#[arg(value_name = "ID")]
	id: SwarmId,
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
}

impl One {
	async fn board(&self) -> anyhow::Result<OnChain> {
		Ok(OnChain::new(Arc::new(sender(&self.node, &self.key).await?), self.id))
	}
}

/// Options of `trainyard swarm join`.
#[derive(Debug, clap::Args)]
pub struct Join {
	#[command(flatten)]
	one: One,
	/// Folder of the peer
	#[arg(long, value_name = "DIR")]
	dir: PathBuf,
	/// What it will do: data, train, mix
	#[arg(long, value_name = "ROLES", value_delimiter = ',', default_value = "data,train,mix")]
	roles: Vec<RoleArg>,
}

/// Something that a peer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RoleArg {
	/// Serves data for others to train on, where the swarm is not private
	Data,
	/// Trains
	Train,
	/// Takes models of others, mixes them with its own, and pays for what that brings
	Mix,
}

/// Returns the sum of roles.
fn sum_of(roles: &[RoleArg]) -> u8 {
	roles.iter().fold(0, |sum, role| {
		sum | match role {
			RoleArg::Data => role::DATA,
			RoleArg::Train => role::TRAIN,
			RoleArg::Mix => role::MIX,
		}
	})
}

/// Options of `trainyard swarm debts`.
#[derive(Debug, clap::Args)]
pub struct Debts {
	/// Number of the swarm
	#[arg(value_name = "ID")]
	id: SwarmId,
	/// Folder of the peer
	#[arg(long, value_name = "DIR")]
	dir: PathBuf,
	#[command(flatten)]
	node: NodeArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Options of `trainyard swarm fund`.
#[derive(Debug, clap::Args)]
pub struct Fund {
	#[command(flatten)]
	one: One,
	/// How much (in TRY)
	#[arg(value_name = "TRY", value_parser = amount::parse)]
	amount: Balance,
}

/// Options of `trainyard swarm watch`.
#[derive(Debug, clap::Args)]
pub struct Watch {
	#[command(flatten)]
	one: One,
	/// Folder in which `swarm open` put the slices
	#[arg(long, value_name = "DIR", default_value = "swarm")]
	dir: PathBuf,
	#[command(flatten)]
	locations: LocationArgs,
	/// One JSON object per event
	#[arg(long)]
	json: bool,
}

impl SwarmCommand {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		match self {
			Self::Open(args) => args.run().await,
			Self::AddSlices(args) => args.run().await,
			Self::Run(args) => args.run().await,
			Self::Join(args) => args.run().await,
			Self::Show(args) => args.run().await,
			Self::Debts(args) => args.run().await,
			Self::Fund(args) => args.run().await,
			Self::Leave(args) => args.leave().await,
			Self::Collect(args) => args.collect().await,
			Self::Close(args) => args.close().await,
			Self::Claim(args) => args.run().await,
			Self::Watch(args) => args.run().await,
		}
	}
}

impl One {
	async fn leave(self) -> anyhow::Result<ExitCode> {
		let board = self.board().await?;
		board.leave().await?;
		let left = board.peers().await?.iter().all(|peer| peer.account != *board.me());
		match left {
			true => println!("{} has left swarm {}", board.me(), self.id),
			false => {
				let blocks = board.swarm().await?.plan.ticket_blocks;
				println!(
					"{} leaves swarm {}: call this again after {blocks} blocks, when its tickets have expired",
					board.me(),
					self.id
				);
			}
		}
		Ok(ExitCode::SUCCESS)
	}

	async fn collect(self) -> anyhow::Result<ExitCode> {
		let board = self.board().await?;
		let of = |peers: Vec<PeerView>| peers.into_iter().find(|peer| peer.account == *board.me());
		let Some(peer) = of(board.peers().await?) else {
			bail!("{} is no peer of swarm {}", board.me(), self.id);
		};
		if peer.owed == 0 {
			println!("nothing is owed to {} for outer steps", board.me());
			return Ok(ExitCode::SUCCESS);
		}
		board.sender().run(&calls::collect(self.id)).await?;
		let earned = of(board.peers().await?).map_or(0, |peer| peer.earned);
		let paid = earned.saturating_sub(peer.earned);
		println!("{} was paid {} for outer steps", board.me(), amount::format(paid));
		Ok(ExitCode::SUCCESS)
	}

	async fn close(self) -> anyhow::Result<ExitCode> {
		let sender = sender(&self.node, &self.key).await?;
		sender.run(&calls::close(self.id)).await?;
		println!("swarm {} is closed", self.id);
		Ok(ExitCode::SUCCESS)
	}
}

impl Join {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let board = self.one.board().await?;
		let (folder, _) = Folder::open(&self.dir, board.genesis(), self.one.id)?;
		let key = folder.key()?;
		let digest = joining(&board.genesis(), self.one.id, board.me());
		let signature = key.sign(digest.as_bytes()).to_bytes();
		let public = H256(*key.public().as_bytes());
		let private = board.swarm().await?.plan.private;
		let roles = roles_in(sum_of(&self.roles), private);
		board.join(&public, &signature, roles, "").await?;
		let peers = board.peers().await?;
		if peers.iter().all(|peer| peer.account != *board.me()) {
			let first = peers.iter().find(|peer| peer.key == public);
			let first =
				first.map_or_else(String::new, |peer| format!(": it is {}'s", peer.account));
			bail!(
				"the key of {} belongs to another account{first}. Who joined first with a key keeps it; use a \
				 folder of your own",
				self.dir.display()
			);
		}
		println!(
			"{} is a peer of swarm {} with the key {public:?}. Others reach it once `trainyard swarm run {} --dir \
			 {}` runs",
			board.me(),
			self.one.id,
			self.one.id,
			self.dir.display()
		);
		Ok(ExitCode::SUCCESS)
	}
}

impl Fund {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let board = self.one.board().await?;
		board.fund(self.amount).await?;
		let peers = board.peers().await?;
		let purse =
			peers.iter().find(|peer| peer.account == *board.me()).map_or(0, |peer| peer.purse);
		println!("the purse of {} has {}", board.me(), amount::format(purse));
		Ok(ExitCode::SUCCESS)
	}
}

impl Debts {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		let genesis = chain.genesis();
		Position::check(&self.dir, genesis, self.id)?;
		// The peer may run: its tickets are only read here.
		let journal = Journal::read(&self.dir.join("tickets"), genesis)?;
		let height = chain.head().await?.number;
		let mut rows = Vec::new();
		let mut all = Vec::new();
		for payer in journal.debtors() {
			let of_payer =
				|| journal.unpaid().filter(|(_, given)| given.signed.ticket.payer == payer);
			let maker = of_payer().next().map(|(_, given)| given.signed.ticket.maker);
			let paid = match maker {
				Some(maker) => chain.swarm_paid(self.id, &payer, &maker).await?,
				None => continue,
			};
			for (digest, given) in of_payer().filter(|(digest, _)| !paid.contains(digest)) {
				let ticket = &given.signed.ticket;
				rows.push(vec![
					payer.to_string(),
					format!("{:?}", ticket.remote),
					given.came.to_string(),
					match ticket.expires < height {
						true => "expired".into(),
						false => ticket.expires.to_string(),
					},
					hex::encode(digest),
				]);
				all.push(
					json!({ "digest": digest, "given": given, "expired": ticket.expires < height }),
				);
			}
		}
		if self.json {
			return print_json(&all);
		}
		match rows.is_empty() {
			true => println!("every ticket is paid"),
			false => {
				let header = [
					("payer", Align::Left),
					("for the model", Align::Left),
					("given in", Align::Right),
					("until", Align::Right),
					("ticket", Align::Left),
				];
				print!("{}", table(&header, &rows));
				println!(
					"Something is owed only where the mean was better; who doubts that claims it: trainyard swarm \
					 claim {} --ticket TICKET",
					self.id
				);
			}
		}
		Ok(ExitCode::SUCCESS)
	}
}

impl Watch {
	async fn run(self) -> anyhow::Result<ExitCode> {
		let board = self.one.board().await?;
		let report = Reporter::new("swarm", self.json, None);
		let locations = self.locations.locations(board.sender().chain()).await?;
		let fetcher = Fetcher::new(3, Duration::from_secs(1), locations)?
			.over(self.locations.over())
			.with_stores(self.locations.stores());
		Watcher::new(board, &self.dir, report, fetcher)?.run().await?;
		println!("swarm {} has ended", self.one.id);
		Ok(ExitCode::SUCCESS)
	}
}
