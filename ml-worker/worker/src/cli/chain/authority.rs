//! Makes an account an authority, and lets it leave.

use super::{sender, show::share};
use crate::args::{KeyArgs, NodeArgs};
use anyhow::{bail, Context};
use std::{process::ExitCode, time::Duration};
use subxt::rpcs::client::{rpc_params, RpcParams};
use trainyard_client::{calls, Chain, ChainError, TrainerView, Transactor};

/// How often `--wait` looks.
const LOOK: Duration = Duration::from_secs(2);

/// Options of `trainyard authority`.
#[derive(Debug, clap::Args)]
pub struct Authority {
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Let the node make new session keys, even where it has those on chain
	#[arg(long)]
	new_keys: bool,
	/// Wait until the account is an authority: two sessions
	#[arg(long)]
	wait: bool,
	/// Stand for block authorship no more, instead
	#[arg(long, conflicts_with_all = ["new_keys", "wait"])]
	leave: bool,
}

/// Options of `trainyard deregister`.
#[derive(Debug, clap::Args)]
pub struct Deregister {
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Take the bond back, when the unbonding period is over
	#[arg(long)]
	withdraw: bool,
}

/// What `author_rotateKeysWithOwner` answers: session keys and the proof of ownership, in hex.
#[derive(serde::Deserialize)]
struct MadeKeys {
	keys: String,
	proof: Option<String>,
}

/// Returns whether new session keys are needed: `on_chain` says whether there are any, `here`
/// whether this node has them.
fn needs_keys(on_chain: bool, here: bool, wanted: bool) -> bool {
	wanted || !on_chain || !here
}

fn bytes_of(hex: &str) -> anyhow::Result<Vec<u8>> {
	hex::decode(hex.trim_start_matches("0x")).context("the node answered no hex")
}

/// Calls a method that nodes answer only to their own machine.
async fn local<T: serde::de::DeserializeOwned>(
	chain: &Chain,
	method: &str,
	params: RpcParams,
) -> anyhow::Result<T> {
	match chain.rpc(method, params).await {
		Err(ChainError::Refused { reason, .. }) if reason.contains("unsafe") => bail!(
			"{} does not make keys for others: run this on the node's machine, with --node \
			 ws://127.0.0.1:PORT. A node that listens for others, too, refuses it as well \
			 (--rpc-external)",
			chain.url()
		),
		other => Ok(other?),
	}
}

impl Authority {
	/// Does only what is still missing.
	pub async fn run(self) -> anyhow::Result<ExitCode> {
		let sender = sender(&self.node, &self.key).await?;
		let trainer = trainer(&sender).await?;
		if self.leave {
			if trainer.candidate {
				sender.run(&calls::set_candidate(false)).await?;
			}
			println!(
				"{} does not stand for block authorship. It is an authority until the sessions \
				 that are announced are over: keep the node running for two more",
				sender.account()
			);
			return Ok(ExitCode::SUCCESS);
		}
		self.keys(&sender).await?;
		if !trainer.candidate {
			sender.run(&calls::set_candidate(true)).await?;
		}
		println!("{} stands for block authorship", sender.account());
		if self.wait {
			wait(&sender).await?;
		}
		Ok(ExitCode::SUCCESS)
	}

	/// Lets the node make session keys and sets them on chain, unless both have the same.
	async fn keys(&self, sender: &Transactor) -> anyhow::Result<()> {
		let (chain, account) = (sender.chain(), sender.account());
		let on_chain = chain.session_keys(account).await?;
		let here: bool = match &on_chain {
			None => false,
			Some(keys) => {
				let hex = format!("0x{}", hex::encode(keys));
				local(chain, "author_hasSessionKeys", rpc_params![hex]).await?
			}
		};
		if !needs_keys(on_chain.is_some(), here, self.new_keys) {
			println!("the node has the session keys of {account}");
			return Ok(());
		}
		// The proof of ownership covers the account's public key.
		let owner = format!("0x{}", hex::encode(account.0));
		let made: MadeKeys = local(chain, "author_rotateKeysWithOwner", rpc_params![owner]).await?;
		let proof = made.proof.context("the node made keys without a proof of ownership")?;
		sender.run(&calls::set_keys(&bytes_of(&made.keys)?, &bytes_of(&proof)?)).await?;
		println!("session keys of {account}: {}", made.keys);
		Ok(())
	}
}

impl Deregister {
	/// Begins to leave, or takes the bond back.
	pub async fn run(self) -> anyhow::Result<ExitCode> {
		let sender = sender(&self.node, &self.key).await?;
		match self.withdraw {
			true => {
				sender.run(&calls::withdraw_bond()).await?;
				println!("{} has its bond back; its power is forgotten", sender.account());
			}
			false => {
				sender.run(&calls::deregister_trainer()).await?;
				println!(
					"{} takes no more jobs. When the unbonding period is over: trainyard \
					 deregister --withdraw",
					sender.account()
				);
			}
		}
		Ok(ExitCode::SUCCESS)
	}
}

async fn trainer(sender: &Transactor) -> anyhow::Result<TrainerView> {
	let account = sender.account();
	sender.chain().trainer(account).await?.with_context(|| {
		format!("{account} is no trainer: run `trainyard register --bond AMOUNT` first")
	})
}

/// Waits until the account is an authority of the running session.
async fn wait(sender: &Transactor) -> anyhow::Result<()> {
	let mut announced = None;
	loop {
		let trainer = trainer(sender).await?;
		if let Some(weight) = trainer.weight {
			println!("an authority now, of weight {}", share(weight));
			return Ok(());
		}
		if !trainer.candidate {
			bail!("it stands no more: displaced by a stronger one, suspended, or taken back");
		}
		if trainer.next_weight.is_some() && announced != trainer.next_weight {
			announced = trainer.next_weight;
			println!(
				"announced for the next session, with weight {}",
				share(announced.unwrap_or_default())
			);
		}
		tokio::time::sleep(LOOK).await;
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use codec::Encode;

	#[test]
	fn keys_that_this_node_has_are_kept() {
		assert!(needs_keys(false, false, false), "none yet");
		assert!(needs_keys(true, false, false), "another node has them");
		assert!(!needs_keys(true, true, false));
		assert!(needs_keys(true, true, true), "asked for");
	}

	#[test]
	fn keys_travel_as_the_node_encoded_them() {
		let call = calls::set_keys(&[1, 2, 3], &[9; 70]);
		assert_eq!(call.title(), "Session.set_keys");
		// The keys as they are, the proof with its length.
		assert_eq!(call.arguments(), [vec![1, 2, 3], vec![9u8; 70].encode()].concat());
	}
}
