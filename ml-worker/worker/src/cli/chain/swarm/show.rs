//! `trainyard swarm show`.

use crate::{
	args::NodeArgs,
	cli::chain::{connect, print_json},
	table::{table, Align},
	terminal,
};
use anyhow::Context;
use serde_json::json;
use std::process::ExitCode;
use trainyard_client::{
	amount,
	swarm::{PeerView, SwarmView},
};
use trainyard_protocol::swarm::{role, Averaging, Payer, Stage, SwarmId};

/// Options of `trainyard swarm show`.
#[derive(Debug, clap::Args)]
pub struct Show {
	/// Number of a swarm; without it, all
	#[arg(value_name = "ID")]
	id: Option<SwarmId>,
	#[command(flatten)]
	node: NodeArgs,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

impl Show {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		let Some(id) = self.id else {
			let mut all = Vec::new();
			for id in chain.swarms().await? {
				all.extend(chain.swarm(id).await?);
			}
			if self.json {
				return print_json(&all);
			}
			print!("{}", list(&all));
			return Ok(ExitCode::SUCCESS);
		};
		let view = chain.swarm(id).await?;
		let view = view.with_context(|| {
			format!("the chain knows no swarm {id}; ended ones are forgotten after a while")
		})?;
		let peers = chain.swarm_peers(id).await?;
		if self.json {
			return print_json(&json!({ "swarm": view, "peers": peers }));
		}
		// Others wrote the locations.
		print!("{}", terminal::lines(&describe(&view, &peers)));
		println!();
		Ok(ExitCode::SUCCESS)
	}
}

fn percent(millionths: u32) -> String {
	format!("{:.2} %", f64::from(millionths) / 10_000.0)
}

/// Returns where a round stands, in words.
pub(super) fn stage(stage: &Stage) -> String {
	match stage {
		Stage::Idle => "nothing is claimed".into(),
		Stage::Collecting { until } => format!("claims are taken in until block {until}"),
		Stage::Drawing { after } => format!("a slice is drawn from the blocks after {after}"),
		Stage::Showing { slice, until } => {
			format!("the owner of slice {slice} has until block {until} to store it")
		}
		Stage::Counting { slice, until } => {
			format!("claimants count by slice {slice} until block {until}")
		}
		Stage::Challenging { slice, until } => {
			format!("counts by slice {slice} can be challenged until block {until}")
		}
		Stage::Settling { slice, .. } => format!("claims measured by slice {slice} are settled"),
		Stage::Ended => "it has ended".into(),
	}
}

fn list(all: &[SwarmView]) -> String {
	let rows: Vec<Vec<String>> = all
		.iter()
		.map(|view| {
			vec![
				view.id.to_string(),
				view.opener.to_string(),
				view.peers.to_string(),
				percent(view.progress),
				amount::format(view.budget),
				stage(&view.stage),
			]
		})
		.collect();
	let header = [
		("swarm", Align::Right),
		("opened by", Align::Left),
		("peers", Align::Right),
		("paid up to", Align::Right),
		("budget", Align::Right),
		("stands at", Align::Left),
	];
	table(&header, &rows)
}

fn roles(sum: u8) -> String {
	let names = [(role::DATA, "data"), (role::TRAIN, "train"), (role::MIX, "mix")];
	let does = names.iter().filter(|(role, _)| sum & role != 0).map(|(_, name)| *name);
	does.collect::<Vec<_>>().join(", ")
}

/// Returns a swarm in words.
fn describe(view: &SwarmView, peers: &[PeerView]) -> String {
	let plan = &view.plan;
	let waiting = view.slices.iter().filter(|slice| slice.waits).count();
	let mut text = vec![
		format!("swarm {}, opened by {} in block {}", view.id, view.opener, view.began),
		format!("stands at   {}, round {}", stage(&view.stage), view.round),
		format!(
			"pays        {}",
			match plan.payer {
				Payer::Budget => format!(
					"the budget, of which {} are left, for what is better than {}",
					amount::format(view.budget),
					percent(view.progress)
				),
				Payer::Peers =>
					format!("each peer, for gains above {}", percent(plan.reward.floor)),
			}
		),
		format!(
			"data        {}",
			if plan.private { "stay with their peers" } else { "are shared" }
		),
		"power       none: gain is paid by what models get right, and the chain replays no training"
			.into(),
		format!(
			"models      {}",
			match plan.averaging {
				Averaging::Pairs => "each peer has its own, and mixes it with others".into(),
				Averaging::Outer(rule) => format!(
					"all have one, which takes an outer step each {} blocks; {} shares in what that brings",
					rule.blocks(),
					view.shares
				),
			}
		),
		format!("slices      {} of {} wait to be drawn", waiting, view.slices.len()),
		format!("best model  {:?}", view.best.root),
		format!("ends after block {}", plan.end),
	];
	if !view.claims.is_empty() {
		let rows: Vec<Vec<String>> = view
			.claims
			.iter()
			.map(|claim| {
				let counts =
					claim.counts.map_or(("not said".into(), String::new()), |(new, base)| {
						(percent(new.score()), percent(base.score()))
					});
				vec![claim.number.to_string(), claim.claimant.to_string(), counts.0, counts.1]
			})
			.collect();
		let header = [
			("claim", Align::Right),
			("by", Align::Left),
			("gets right", Align::Right),
			("where the base gets", Align::Right),
		];
		text.push(format!("\n{}", table(&header, &rows).trim_end()));
	}
	let rows: Vec<Vec<String>> = peers
		.iter()
		.map(|peer| {
			vec![
				peer.account.to_string(),
				roles(peer.roles),
				peer.models.len().to_string(),
				amount::format(peer.purse),
				amount::format(peer.paid),
				amount::format(peer.earned),
				peer.shares.to_string(),
				amount::format(peer.owed),
				peer.location.to_string_lossy(),
			]
		})
		.collect();
	let header = [
		("peer", Align::Left),
		("does", Align::Left),
		("models", Align::Right),
		("purse", Align::Right),
		("paid", Align::Right),
		("earned", Align::Right),
		("shares", Align::Right),
		("to collect", Align::Right),
		("at", Align::Left),
	];
	text.push(format!("\n{}", table(&header, &rows).trim_end()));
	text.join("\n")
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn roles_and_stages_have_words() {
		assert_eq!(roles(role::ALL), "data, train, mix");
		assert_eq!(roles(role::TRAIN), "train");
		assert!(stage(&Stage::Counting { slice: 3, until: 9 }).contains("slice 3 until block 9"));
	}
}
