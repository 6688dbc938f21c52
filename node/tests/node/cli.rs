//! The command line: what parses, and as what.

use sc_cli::CliConfiguration;
use trainyard_node::cli::{Cli, Subcommand};

fn parse(args: &[&str]) -> Result<Cli, clap::Error> {
	Cli::read(std::iter::once("trainyard-node").chain(args.iter().copied()))
}

#[test]
fn the_definition_is_consistent() {
	Cli::command_line().debug_assert();
}

#[test]
fn the_cache_of_the_state_is_bounded() {
	let size = |args: &[&str]| parse(args).unwrap().run.trie_cache_maximum_size().unwrap();
	assert_eq!(size(&[]), Some(64 << 20));
	assert_eq!(size(&["--dev", "--trie-cache-size", "1000"]), Some(1_000));
	assert_eq!(size(&["--trie-cache-size", "0"]), None);
}

#[test]
fn dev_is_the_development_chain_in_a_temporary_directory() {
	let cli = parse(&["--dev"]).unwrap();
	assert_eq!(cli.run.chain_id(cli.run.is_dev().unwrap()).unwrap(), "dev");
	assert!(cli.run.base_path().unwrap().is_some());
	assert!(cli.run.role(true).unwrap().is_authority());
	assert_eq!(cli.run.dev_key_seed(true).unwrap().as_deref(), Some("//Alice"));
}

#[test]
fn chain_names_a_network_or_a_file() {
	for (args, expected) in [
		(vec![], ""),
		(vec!["--chain", "local"], "local"),
		(vec!["--chain", "/tmp/raw.json"], "/tmp/raw.json"),
		(vec!["--dev", "--chain", "local"], "local"),
	] {
		let cli = parse(&args).unwrap();
		assert_eq!(cli.run.chain_id(cli.run.is_dev().unwrap()).unwrap(), expected);
	}
}

#[test]
fn only_test_accounts_start_without_a_node_key() {
	let forced = |args: &[&str]| {
		let cli = parse(args).unwrap().with_node_key_of_test_accounts();
		cli.run.network_params.node_key_params.unsafe_force_node_key_generation
	};
	assert!(forced(&["--chain", "local", "--alice"]));
	assert!(forced(&["--dave"]));
	assert!(!forced(&["--validator"]));
}

#[test]
fn every_command_parses() {
	let commands: &[(&[&str], fn(&Subcommand) -> bool)] = &[
		(&["key", "inspect", "//Alice"], |c| matches!(c, Subcommand::Key(_))),
		(&["export-chain-spec", "--raw"], |c| matches!(c, Subcommand::ExportChainSpec(_))),
		(&["build-spec", "--chain", "dev"], |c| matches!(c, Subcommand::ExportChainSpec(_))),
		(&["chain-info", "--dev"], |c| matches!(c, Subcommand::ChainInfo(_))),
		(&["check-block", "1"], |c| matches!(c, Subcommand::CheckBlock(_))),
		(&["export-blocks"], |c| matches!(c, Subcommand::ExportBlocks(_))),
		(&["import-blocks"], |c| matches!(c, Subcommand::ImportBlocks(_))),
		(&["export-state"], |c| matches!(c, Subcommand::ExportState(_))),
		(&["revert", "5"], |c| matches!(c, Subcommand::Revert(_))),
		(&["purge-chain", "--dev", "-y"], |c| matches!(c, Subcommand::PurgeChain(_))),
	];
	for (args, is_it) in commands {
		let cli = parse(args).unwrap();
		assert!(is_it(&cli.subcommand.unwrap()), "{args:?}");
	}
}

#[test]
fn nonsense_is_refused_by_name() {
	let error = parse(&["--rpc-prot", "1"]).unwrap_err().to_string();
	assert!(error.contains("--rpc-prot"), "{error}");
	let error = parse(&["--rpc-port", "70000"]).unwrap_err().to_string();
	assert!(error.contains("70000"), "{error}");
	assert!(parse(&["--tmp", "--base-path", "/tmp/x"]).is_err());
	assert!(parse(&["--alice", "--bob"]).is_err());
}
