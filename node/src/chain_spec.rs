//! Chain specifications: the built-in networks, and files.

use sc_chain_spec::{ChainSpecExtension, ChainType, GenericChainSpec, Properties};
use serde::{Deserialize, Serialize};
use trainyard_runtime::{
	opaque::Block, presets, SS58_PREFIX, TOKEN_DECIMALS, TOKEN_SYMBOL, WASM_BINARY,
};

/// What a specification may carry for clients besides the genesis state.
#[derive(Default, Clone, Serialize, Deserialize, ChainSpecExtension)]
#[serde(rename_all = "camelCase")]
pub struct Extensions {
	/// Blocks whose hash is fixed.
	pub fork_blocks: sc_client_api::ForkBlocks<Block>,
	/// Blocks that are refused.
	pub bad_blocks: sc_client_api::BadBlocks<Block>,
	/// Starting point for light clients, filled in by `sync_state_genSyncSpec`.
	pub light_sync_state: sc_sync_state_rpc::LightSyncStateExtension,
}

/// Specification of a Trainyard network.
pub type ChainSpec = GenericChainSpec<Extensions>;

fn properties() -> Properties {
	let mut properties = Properties::new();
	properties.insert("tokenSymbol".into(), TOKEN_SYMBOL.into());
	properties.insert("tokenDecimals".into(), TOKEN_DECIMALS.into());
	properties.insert("ss58Format".into(), SS58_PREFIX.into());
	properties
}

fn built_in(
	name: &str,
	id: &str,
	chain_type: ChainType,
	preset: &str,
) -> Result<ChainSpec, String> {
	let code = WASM_BINARY.ok_or(
		"This node was built with SKIP_WASM_BUILD, so it has no runtime for its built-in chains. \
		 Build it again without that variable, or give a raw specification: --chain FILE.",
	)?;
	Ok(ChainSpec::builder(code, Extensions::default())
		.with_name(name)
		.with_id(id)
		.with_protocol_id("trainyard")
		.with_chain_type(chain_type)
		.with_genesis_config_preset_name(preset)
		.with_properties(properties())
		.build())
}

/// Returns the development chain: one authority, //Alice, and a block in every slot.
pub fn development() -> Result<ChainSpec, String> {
	built_in("Trainyard Development", "trainyard_dev", ChainType::Development, presets::DEVELOPMENT)
}

/// Returns a local network of the four authorities //Alice, //Bob, //Charlie and //Dave.
pub fn local_testnet() -> Result<ChainSpec, String> {
	built_in("Trainyard Local Testnet", "trainyard_local", ChainType::Local, presets::LOCAL_TESTNET)
}

/// Returns the specification called `id`: `dev`, `local` (also the default), or a file.
pub fn load(id: &str) -> Result<ChainSpec, String> {
	match id {
		"dev" => development(),
		"" | "local" => local_testnet(),
		path => ChainSpec::from_json_file(path.into()).map_err(|error| {
			format!(
				"Cannot read the chain specification '{path}': {error}. \
				 --chain takes 'dev', 'local' or the path of a specification file."
			)
		}),
	}
}
