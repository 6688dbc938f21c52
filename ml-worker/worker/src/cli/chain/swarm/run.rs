//! `trainyard swarm run`.

use super::{sum_of, One, RoleArg};
use crate::{
	args::{use_threads, DeviceArgs},
	cli::ranks::CrewArgs,
	roles::{fetch::LocationArgs, report::Reporter},
	swarm::{
		board::Board,
		learner::Sharing,
		peer::{Options, Peer},
		position::Folder,
		privacy::Privacy,
	},
};
use anyhow::{bail, ensure};
use std::{net::SocketAddr, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};
use tracing::warn;
use trainyard_engine::{private::Hiding, Compute};
use trainyard_protocol::swarm::{Averaging, Plan, SwarmId};
use trainyard_transport::{Location, Node, Options as Endpoint, Relay, SecretKey};

/// How long a start waits for the relay.
const RELAY_PATIENCE: Duration = Duration::from_secs(10);

/// Options of `trainyard swarm run`.
#[derive(Debug, clap::Args)]
pub struct Run {
	#[command(flatten)]
	one: One,
	/// Folder of the peer: key, models, tickets and position. One process for each
	#[arg(long, value_name = "DIR")]
	dir: PathBuf,
	/// A file of data in the format of the swarm, once for each slice. Without any, the peer begins with the
	/// model of another one and trains on slices that others serve, where the swarm is not private
	#[arg(long, value_name = "FILE")]
	data: Vec<PathBuf>,
	/// What it does: data, train, mix
	#[arg(long, value_name = "ROLES", value_delimiter = ',', default_value = "data,train,mix")]
	roles: Vec<RoleArg>,
	/// How often it trains on each slice before it only mixes; 0 for as long as the swarm runs
	#[arg(long, value_name = "N", default_value_t = 3)]
	passes: u32,
	/// Debts that are paid together; what is owed for a ticket that ends soon is paid anyway
	#[arg(long, value_name = "N", default_value_t = 8)]
	batch: usize,
	/// Slices that are taken from others, at most
	#[arg(long, value_name = "N", default_value_t = 8)]
	slices: usize,
	/// How likely it computes a contribution of somebody else again in each outer step: a number from 0 to 1. Refused
	/// where nothing can be computed again, since the swarm is private, or its peers mix by pairs [default: 0.25]
	#[arg(long, value_name = "P", value_parser = part)]
	replay: Option<f64>,
	/// Relay (https://HOST[:PORT]) at which it waits for those who cannot reach it directly
	#[arg(long, value_name = "URL")]
	iroh_relay: Option<Relay>,
	/// UDP address on which it listens [default: a free port on all interfaces]
	#[arg(long, value_name = "ADDRESS")]
	iroh_listen: Option<SocketAddr>,
	/// Address at which others reach it directly, where it is known: that of a port which a router leads here.
	/// Several may be given
	#[arg(long, value_name = "ADDRESS")]
	iroh_address: Vec<SocketAddr>,
	#[command(flatten)]
	locations: LocationArgs,
	#[command(flatten)]
	crew: CrewArgs,
	/// Hides the rows on which it trains: deviation of the noise that each step adds, in units of --private-clip.
	/// See docs/private-training.md for what that hides and what not
	#[arg(long, value_name = "SIGMA", requires_all = ["private_clip", "private_epsilon"])]
	private_noise: Option<f64>,
	/// Norm to which the gradient of each row is scaled down
	#[arg(long, value_name = "C", requires = "private_noise")]
	private_clip: Option<f32>,
	/// What may be given away in all: then it trains no more, and only mixes
	#[arg(long, value_name = "EPSILON", requires = "private_noise")]
	private_epsilon: Option<f64>,
	/// The delta for which epsilon is counted: well below one part in as many as there are rows
	#[arg(long, value_name = "DELTA", default_value_t = 1e-6, requires = "private_noise")]
	private_delta: f64,
	#[command(flatten)]
	device: DeviceArgs,
	/// One JSON object per event
	#[arg(long)]
	json: bool,
}

fn part(text: &str) -> Result<f64, String> {
	match text.parse::<f64>() {
		Ok(part) if (0.0..=1.0).contains(&part) => Ok(part),
		_ => Err("a number from 0 to 1, like 0.25".into()),
	}
}

/// Returns how likely contributions are computed again, where that was said. Fails where none can be.
fn replays(said: Option<f64>, id: SwarmId, plan: &Plan) -> anyhow::Result<Option<f64>> {
	let why = match plan.averaging {
		Averaging::Pairs => "its peers mix by pairs, and contribute to no outer steps",
		Averaging::Outer(_) if plan.private => "it is private, so that rows stay with their peers",
		Averaging::Outer(_) => return Ok(said),
	};
	ensure!(
		said.is_none_or(|said| said == 0.0),
		"nothing is computed again in swarm {id}: {why}. Leave --replay out"
	);
	Ok(said)
}

impl Run {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		self.device.choose()?;
		let sharing = self.sharing()?;
		let board = self.one.board().await?;
		let replay = replays(self.replay, self.one.id, &board.swarm().await?.plan)?;
		let locations = self.locations.locations(board.sender().chain()).await?;
		let (folder, position) = Folder::open(&self.dir, board.genesis(), self.one.id)?;
		let key = folder.key()?;
		let (node, location) = self.endpoint(key.clone(), locations.only()).await?;
		let report = Reporter::new("swarm", self.json, Some(&folder.path("events.jsonl")));
		let options = Options {
			roles: sum_of(&self.roles),
			data: self.data.clone(),
			passes: self.passes,
			batch: self.batch,
			slices: self.slices,
			replay: replay.unwrap_or(Options::default().replay),
			locations,
			sharing,
			privacy: self.privacy()?,
			..Options::default()
		};
		let place = (folder, position, key);
		let peer = Peer::open(board, place, (node, &location), options, report).await?;
		tokio::select! {
			ended = peer.run() => ended?,
			stopped = tokio::signal::ctrl_c() => {
				stopped?;
				println!("stopped; the same command goes on where it was");
			}
		}
		Ok(ExitCode::SUCCESS)
	}

	/// How it hides its rows.
	fn privacy(&self) -> anyhow::Result<Option<Privacy>> {
		let given = (self.private_noise, self.private_clip, self.private_epsilon);
		let (Some(noise), Some(clip), Some(epsilon)) = given else { return Ok(None) };
		let positive = |x: f64| x.is_finite() && x > 0.0;
		ensure!(
			positive(noise) && positive(clip.into()) && positive(epsilon),
			"--private-noise, --private-clip and --private-epsilon are numbers above 0"
		);
		ensure!(
			self.crew.ranks.get() == 1 && !self.crew.is_shared(),
			"a peer that hides its rows computes each of them as a rank of its own, in this process: leave --ranks and \
			 --workers out"
		);
		ensure!(
			self.device.device == Compute::Cpu,
			"rows are hidden on the processor: leave --device out"
		);
		let hiding = Hiding { clip, noise };
		Ok(Some(Privacy { hiding, epsilon, delta: self.private_delta }))
	}

	/// Starts the processes that compute its steps, where these have virtual ranks.
	fn sharing(&self) -> anyhow::Result<Option<Sharing>> {
		let ranks = self.crew.ranks.get();
		if ranks == 1 && !self.crew.is_shared() {
			return Ok(None);
		}
		ensure!(
			self.device.device == Compute::Cpu,
			"virtual ranks are computed on processors: leave --device or --ranks out"
		);
		let threads = self.crew.threads(None);
		if self.crew.workers.get() > 1 {
			use_threads(Some(threads))?;
		}
		Ok(Some(Sharing { ranks, crew: Arc::new(self.crew.start(threads)?) }))
	}

	/// Makes the endpoint, and says where it is.
	async fn endpoint(
		&self,
		key: SecretKey,
		public_only: Option<fn(std::net::IpAddr) -> bool>,
	) -> anyhow::Result<(Node, Location)> {
		let over = self.locations.over();
		let node = Node::bind(Endpoint {
			listen: self.iroh_listen,
			relay: self.iroh_relay.clone(),
			authorities: over.authorities,
			public_only,
			relay_only: over.relay_only,
			announced: self.iroh_address.clone(),
			..Endpoint::new(key)
		})
		.await?;
		let mut addresses = self.iroh_address.clone();
		let listens = self.iroh_listen.is_some_and(|address| !address.ip().is_unspecified());
		if addresses.is_empty() && listens {
			addresses = node.sockets();
		}
		let location = node.location(addresses);
		if !location.leads_there() {
			bail!(
				"nobody could reach this peer: name a relay at which it waits (--iroh-relay https://...), or the \
				 address of a UDP port that leads here (--iroh-listen, --iroh-address)"
			);
		}
		if tokio::time::timeout(RELAY_PATIENCE, node.waits_at_relay()).await.is_err() {
			warn!("the relay does not answer; the endpoint goes on trying");
		}
		Ok((node, location))
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::swarm::testing::{Memory, RULE};
	use trainyard_protocol::swarm::Payer;

	#[test]
	fn what_can_have_no_effect_is_refused() {
		let plan = |private, averaging| {
			let mut plan = Memory::new(Payer::Budget, private).world().view.plan.clone();
			plan.averaging = averaging;
			plan
		};
		let outer = Averaging::Outer(RULE);
		for said in [None, Some(0.0), Some(0.5)] {
			assert_eq!(replays(said, 7, &plan(false, outer)).unwrap(), said);
		}
		for (plan, why) in
			[(plan(true, outer), "private"), (plan(false, Averaging::Pairs), "by pairs")]
		{
			assert_eq!(replays(None, 7, &plan).unwrap(), None);
			assert_eq!(replays(Some(0.0), 7, &plan).unwrap(), Some(0.0));
			let error = replays(Some(0.1), 7, &plan).unwrap_err().to_string();
			assert!(error.contains("swarm 7") && error.contains(why), "{error}");
		}
	}
}
