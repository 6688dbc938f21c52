//! Where a verifier stands, for its owner and for programs that watch it.

use super::{connect, print_json, ut, FAILED};
use crate::{args::NodeArgs, roles::verifier::deadlines};
use serde_json::json;
use std::process::ExitCode;
use trainyard_client::{amount, keys::parse_account, AccountId32};
use trainyard_protocol::views::{Standing, VerifierView};

/// Exit code where a deadline is near.
const NEAR: u8 = 3;

/// Options of `trainyard verifier-status`.
#[derive(Debug, clap::Args)]
pub struct VerifierStatus {
	#[command(flatten)]
	node: NodeArgs,
	/// Whose: an address, or a development account such as //Charlie
	#[arg(value_name = "ACCOUNT", value_parser = parse_account)]
	account: AccountId32,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Says where a verifier stands.
fn standing(view: &VerifierView) -> String {
	match view.standing {
		Standing::Active => "active".into(),
		Standing::Paused => "paused after absences; `trainyard verifier` resumes".into(),
		Standing::Waiting { .. } if view.vrf_key.is_none() => {
			"waits until a VRF key is set, which `trainyard verifier` does".into()
		}
		Standing::Waiting { since } => {
			format!("waits for a place since block {since}; a larger bond may bring it one")
		}
		Standing::Left { since } => format!("left at block {since}"),
	}
}

impl VerifierStatus {
	pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
		let chain = connect(&self.node).await?;
		let view = chain.verifier(&self.account).await?;
		let head = chain.head().await?;
		let jobs = chain.active_jobs(head.hash).await?;
		let units = chain.drilling_checks(&self.account, head.hash).await?;
		let owed = deadlines::owed(&jobs, &units, &self.account);
		let near = owed.iter().any(|owed| owed.is_near(head.number));
		let active = view.as_ref().is_some_and(|view| view.standing == Standing::Active);
		if self.json {
			let texts: Vec<_> = owed
				.iter()
				.map(|owed| {
					let text = owed.text(head.number);
					json!({ "text": text, "until": owed.until, "near": owed.is_near(head.number) })
				})
				.collect();
			print_json(&json!({ "verifier": view, "height": head.number, "owed": texts }))?;
		} else {
			match &view {
				None => println!("{} is no verifier", self.account),
				Some(view) => {
					println!("{} {}", self.account, standing(view));
					println!(
						"bond {}, of which {} count and running seats lock {}",
						amount::format(view.bond),
						amount::format(view.counted),
						amount::format(view.locked)
					);
					println!(
						"room for {} ut, {} MiB of memory, {} MiB of disk; {} ut and {} MiB in use",
						ut(view.capacity.work.into()),
						view.capacity.memory_mib,
						view.capacity.disk_mib,
						ut(view.load.work.into()),
						view.load.disk_mib
					);
					println!("without a verdict in {} of the last 100 seats", view.absences);
					match &view.vrf_key {
						Some(key) => println!("draws by the VRF key {key:?}"),
						None => println!("has no VRF key, so it is not drawn"),
					}
					match &view.location {
						Some(location) => println!("serves other verifiers at {location}"),
						None => println!("serves no other verifiers"),
					}
				}
			}
			for owed in &owed {
				println!("{}", owed.text(head.number));
			}
		}
		Ok(match (near, active) {
			(true, _) => ExitCode::from(NEAR),
			(false, false) => ExitCode::from(FAILED),
			(false, true) => ExitCode::SUCCESS,
		})
	}
}
