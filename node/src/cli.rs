//! The command line.

use clap::{CommandFactory, FromArgMatches};
use sc_cli::{RunCmd, SubstrateCli};
use std::ffi::OsString;

/// Default of `--trie-cache-size`, in bytes. Everything that a block writes enters this cache, so a
/// node uses all of it in time; the SDK's default is 1 GiB, of which a chain of this kind would
/// fill the largest part with what nobody reads again.
pub const TRIE_CACHE_SIZE: &str = "67108864";

/// The command line after `trainyard-node`.
#[derive(Debug, clap::Parser)]
pub struct Cli {
	/// A command; without one the node runs.
	#[command(subcommand)]
	pub subcommand: Option<Subcommand>,

	/// Options of a running node.
	#[clap(flatten)]
	pub run: RunCmd,
}

impl Cli {
	/// Returns the command line: the SDK's, with our defaults.
	pub fn command_line() -> clap::Command {
		Self::setup_command(Self::command())
			.mut_arg("trie_cache_size", |arg| arg.default_value(TRIE_CACHE_SIZE))
	}

	/// Parses a command line, whose first word is the program's name.
	pub fn read<I>(words: I) -> Result<Self, clap::Error>
	where
		I: IntoIterator<Item: Into<OsString> + Clone>,
	{
		Self::from_arg_matches(&Self::command_line().try_get_matches_from(words)?)
	}

	/// Lets `--alice` to `--two` start without a node key on disk. A real authority is
	/// asked to make one, so that its peers find it again; these are for trying things out.
	pub fn with_node_key_of_test_accounts(mut self) -> Self {
		if self.run.get_keyring().is_some() {
			self.run.network_params.node_key_params.unsafe_force_node_key_generation = true;
		}
		self
	}
}

/// Commands besides running.
#[derive(Debug, clap::Subcommand)]
#[allow(clippy::large_enum_variant)]
pub enum Subcommand {
	/// Make, inspect and insert keys.
	#[command(subcommand)]
	Key(sc_cli::KeySubcommand),

	/// Write the chain specification of a network; nodes of one network share the raw one.
	#[command(alias = "build-spec")]
	ExportChainSpec(sc_cli::ExportChainSpecCmd),

	/// Show best and finalized block of the database.
	ChainInfo(sc_cli::ChainInfoCmd),

	/// Validate a block of the database again.
	CheckBlock(sc_cli::CheckBlockCmd),

	/// Write blocks to a file.
	ExportBlocks(sc_cli::ExportBlocksCmd),

	/// Read blocks from a file.
	ImportBlocks(sc_cli::ImportBlocksCmd),

	/// Write the state of a block as a chain specification.
	ExportState(sc_cli::ExportStateCmd),

	/// Take back the newest blocks that are not final.
	Revert(sc_cli::RevertCmd),

	/// Remove the database of a chain; keys stay.
	PurgeChain(sc_cli::PurgeChainCmd),
}
