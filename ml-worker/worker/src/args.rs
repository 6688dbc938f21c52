//! Options that several commands share. The libraries below take plain values; this is where the
//! command line becomes such values.

use anyhow::Context;
use std::{num::NonZeroUsize, path::PathBuf};
use trainyard_client::{
	amount,
	keys::{KeyError, KeySource, Keypair},
};
use trainyard_engine::{Compute, EngineError};
use trainyard_proof::inputs::GivenFiles;
use trainyard_protocol::{bets::Odds, MicroUt};

/// Reads an amount of work in ut.
pub fn parse_ut(text: &str) -> Result<MicroUt, amount::DecimalError> {
	let micro = amount::parse_scaled(text, 6)?;
	MicroUt::try_from(micro).map_err(|_| amount::DecimalError::TooLarge)
}

/// Reads odds: `100:1`.
pub fn parse_odds(text: &str) -> Result<Odds, String> {
	let parts = text.split_once(':').and_then(|(maker, taker)| {
		Some(Odds { maker: maker.trim().parse().ok()?, taker: taker.trim().parse().ok()? })
	});
	parts
		.filter(Odds::is_valid)
		.ok_or_else(|| "odds are two whole numbers from 1 to 1,000,000, like 100:1".into())
}

/// The option of every command that trains, replays or measures.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct DeviceArgs {
	/// Where to compute: cpu, cuda, or cuda:N for the GPU number N. The results are the same in
	/// every bit
	#[arg(long, global = true, value_name = "DEVICE", default_value_t)]
	pub device: Compute,
}

impl DeviceArgs {
	/// Makes it the device of this process's engines. Fails if it cannot be used.
	pub fn choose(self) -> Result<(), EngineError> {
		self.device.choose()
	}
}

/// Computes with this many threads from now on, instead of one for each core. It must come before anything
/// is computed, and a GPU is checked when it is opened.
pub fn use_threads(threads: Option<NonZeroUsize>) -> anyhow::Result<()> {
	let Some(threads) = threads else { return Ok(()) };
	let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get());
	pool.build_global().with_context(|| format!("cannot compute with {threads} threads"))
}

/// Files named by hand on the command line.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct InputArgs {
	/// The data, instead of the file that the job names, or of the bundle's copy.
	#[arg(long, value_name = "FILE")]
	data: Option<PathBuf>,
	/// The same for the labels, where they are a file of their own.
	#[arg(long, value_name = "FILE")]
	labels: Option<PathBuf>,
	/// The same for the initial model of a fine-tuning.
	#[arg(long, value_name = "FILE")]
	initial_model: Option<PathBuf>,
}

impl InputArgs {
	/// Returns the files that were given.
	pub fn given(&self) -> GivenFiles {
		let Self { data, labels, initial_model } = self.clone();
		GivenFiles { data, labels, initial_model }
	}
}

/// Which node.
#[derive(Clone, Debug, clap::Args)]
pub struct NodeArgs {
	/// WebSocket address of a node's RPC
	#[arg(long, env = "TRAINYARD_NODE", default_value = "ws://127.0.0.1:9944", value_name = "URL")]
	pub node: String,
}

/// Whose key signs.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct KeyArgs {
	/// Secret URI of the account: a development account like //Alice, a mnemonic, or a
	/// 0x-prefixed seed, with derivations. Everybody on this machine can see a command line: a
	/// secret is better in a file, or in TRAINYARD_SURI, which is read if no key is named here
	#[arg(long)]
	pub suri: Option<String>,
	/// File with such a URI, in place of --suri. It must not be readable for everybody.
	/// TRAINYARD_SURI_FILE names it if no key is named here
	#[arg(long, value_name = "FILE", conflicts_with_all = ["suri", "key_file"])]
	pub suri_file: Option<PathBuf>,
	/// Encrypted sr25519 key file (JSON) as exported by polkadot.js
	#[arg(long, value_name = "FILE")]
	pub key_file: Option<PathBuf>,
	/// File with the password of the key file; otherwise TRAINYARD_KEY_PASSWORD holds it
	#[arg(long, value_name = "FILE", requires = "key_file")]
	pub password_file: Option<PathBuf>,
}

impl KeyArgs {
	/// Returns the key. Fails if none is given, or if the one given cannot be read.
	pub fn keypair(&self) -> Result<Keypair, KeyError> {
		self.source(|name| std::env::var(name).ok()).keypair()
	}

	/// Returns where to find the key. The environment is read only if the command line names no key,
	/// so that a variable that is set for every command is neither in the way nor signs unnoticed.
	fn source(&self, variable: impl Fn(&str) -> Option<String>) -> KeySource {
		let Self { suri, suri_file, key_file, password_file } = self.clone();
		let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
		let (suri, suri_file) = match (&suri, &suri_file, &key_file) {
			(None, None, None) => {
				(variable("TRAINYARD_SURI"), variable("TRAINYARD_SURI_FILE").map(PathBuf::from))
			}
			_ => (suri, suri_file),
		};
		KeySource { suri, suri_file, key_file, password_file }
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn odds_are_two_numbers() {
		assert_eq!(parse_odds("100:1"), Ok(Odds { maker: 100, taker: 1 }));
		assert_eq!(parse_odds("1 : 20"), Ok(Odds { maker: 1, taker: 20 }));
		for bad in ["100", "100/1", "0:1", "1:0", "1:1000001", "a:b", "1:1:1", "-1:1"] {
			assert!(parse_odds(bad).unwrap_err().contains("100:1"), "{bad}");
		}
	}

	#[test]
	fn the_command_line_goes_before_the_environment() {
		let variables = |name: &str| match name {
			"TRAINYARD_SURI" => Some("//Eve".to_owned()),
			"TRAINYARD_SURI_FILE" => Some("mine".to_owned()),
			_ => None,
		};
		let none = KeyArgs::default();
		let source = none.source(variables);
		assert_eq!(source.suri.as_deref(), Some("//Eve"));
		assert_eq!(source.suri_file, Some("mine".into()));
		assert!(none.source(|_| Some(String::new())).suri_file.is_none(), "set, and empty");
		let suri = KeyArgs { suri: Some("//Bob".into()), ..KeyArgs::default() };
		assert_eq!(suri.source(variables).suri.as_deref(), Some("//Bob"));
		assert!(suri.source(variables).suri_file.is_none());
		let key_file = KeyArgs { key_file: Some("key.json".into()), ..KeyArgs::default() };
		assert!(key_file.source(variables).suri_file.is_none());
	}
}
