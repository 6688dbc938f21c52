//! What each command does.

use crate::{
	chain_spec,
	cli::{Cli, Subcommand},
	ports::Claims,
	service,
};
use sc_cli::SubstrateCli;
use sc_network::{config::NetworkBackendType, service::NetworkWorker, Litep2pNetworkBackend};
use sc_service::PartialComponents;
use trainyard_runtime::opaque::Block;

impl SubstrateCli for Cli {
	fn impl_name() -> String {
		"Trainyard Node".into()
	}

	fn impl_version() -> String {
		env!("SUBSTRATE_CLI_IMPL_VERSION").into()
	}

	fn description() -> String {
		"A node of a Trainyard network: a chain on which machine-learning training is bought, \
		 sold and checked. `trainyard-node --dev` runs a chain of your own."
			.into()
	}

	fn author() -> String {
		"the Trainyard project".into()
	}

	fn support_url() -> String {
		"the README of the repository".into()
	}

	fn copyright_start_year() -> i32 {
		2026
	}

	fn load_spec(&self, id: &str) -> Result<Box<dyn sc_service::ChainSpec>, String> {
		chain_spec::load(id).map(|spec| Box::new(spec) as Box<_>)
	}
}

/// Parses the command line and does what it says.
pub fn run() -> sc_cli::Result<()> {
	let words = std::env::args_os();
	let cli =
		Cli::read(words).unwrap_or_else(|error| error.exit()).with_node_key_of_test_accounts();

	match &cli.subcommand {
		Some(Subcommand::Key(cmd)) => cmd.run(&cli),
		Some(Subcommand::ExportChainSpec(cmd)) => cmd.run(cli.load_spec(&cmd.chain)?),
		Some(Subcommand::ChainInfo(cmd)) => {
			cli.create_runner(cmd)?.sync_run(|config| cmd.run::<Block>(&config))
		}
		Some(Subcommand::CheckBlock(cmd)) => cli.create_runner(cmd)?.async_run(|config| {
			let PartialComponents { client, task_manager, import_queue, .. } =
				service::new_partial(&config)?;
			Ok((cmd.run(client, import_queue), task_manager))
		}),
		Some(Subcommand::ExportBlocks(cmd)) => cli.create_runner(cmd)?.async_run(|config| {
			let PartialComponents { client, task_manager, .. } = service::new_partial(&config)?;
			Ok((cmd.run(client, config.database), task_manager))
		}),
		Some(Subcommand::ExportState(cmd)) => cli.create_runner(cmd)?.async_run(|config| {
			let PartialComponents { client, task_manager, .. } = service::new_partial(&config)?;
			Ok((cmd.run(client, config.chain_spec), task_manager))
		}),
		Some(Subcommand::ImportBlocks(cmd)) => cli.create_runner(cmd)?.async_run(|config| {
			let PartialComponents { client, task_manager, import_queue, .. } =
				service::new_partial(&config)?;
			Ok((cmd.run(client, import_queue), task_manager))
		}),
		Some(Subcommand::PurgeChain(cmd)) => {
			cli.create_runner(cmd)?.sync_run(|config| cmd.run(config.database))
		}
		Some(Subcommand::Revert(cmd)) => cli.create_runner(cmd)?.async_run(|config| {
			let PartialComponents { client, task_manager, backend, .. } =
				service::new_partial(&config)?;
			// Consensus keeps its own records of the blocks that go.
			let aux_revert =
				Box::new(|client: std::sync::Arc<crate::client::FullClient>, backend, blocks| {
					sc_consensus_babe::revert(client.clone(), backend, blocks)?;
					sc_consensus_grandpa::revert(client, blocks)?;
					Ok(())
				});
			Ok((cmd.run(client, backend, Some(aux_revert)), task_manager))
		}),
		None => {
			let rpc_fixed = cli.run.rpc_params.experimental_rpc_endpoint.is_empty();
			cli.create_runner(&cli.run)?.run_node_until_exit(|mut config| async move {
				let ports = Claims::of(&mut config, rpc_fixed);
				ports.check()?;
				match config.network.network_backend {
					NetworkBackendType::Litep2p => {
						service::new_full::<Litep2pNetworkBackend>(config)
					}
					NetworkBackendType::Libp2p => service::new_full::<NetworkWorker<_, _>>(config),
				}
				.map_err(|error| ports.explain(error))
			})
		}
	}
}
