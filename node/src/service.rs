//! Puts the parts of a node together: client, transaction pool, BABE, GRANDPA, network.

use crate::{
	chunks::{
		answers::{self, KeptChunks},
		fetch,
		keeper::{self, Keeper},
		store::ChunkStore,
	},
	client::{FullBackend, FullClient, FullPool, FullSelectChain},
	equivocations,
	finality::FinalHeight,
	metrics::Metrics,
	rpc,
};
use futures::FutureExt;
use sc_client_api::{Backend, BlockBackend};
use sc_consensus_babe::{BabeLink, BabeWorkerHandle, SlotProportion};
use sc_consensus_grandpa::{GrandpaPruningFilter, LinkHalf, SharedVoterState};
use sc_network::service::traits::NetworkBackend;
use sc_service::{
	BlocksPruning, Configuration, Error as ServiceError, PartialComponents, SpawnTasksParams,
	TaskManager, WarpSyncConfig,
};
use sc_telemetry::{Telemetry, TelemetryWorker};
use sc_transaction_pool_api::OffchainTransactionPoolFactory;
use sp_blockchain::HeaderBackend;
use sp_consensus_babe::{
	inherents::{BabeCreateInherentDataProviders, InherentDataProvider as SlotProvider},
	SlotDuration,
};
use sp_inherents::CreateInherentDataProviders;
use sp_runtime::traits::Block as BlockT;
use std::{sync::Arc, time::Duration};
use trainyard_runtime::opaque::Block;

type GrandpaImport =
	sc_consensus_grandpa::GrandpaBlockImport<FullBackend, Block, FullClient, FullSelectChain>;
type BabeImport = sc_consensus_babe::BabeBlockImport<
	Block,
	FullClient,
	GrandpaImport,
	BabeCreateInherentDataProviders<Block>,
	FullSelectChain,
>;

/// At least one justification in this many blocks is kept and imported.
const JUSTIFICATION_PERIOD: u32 = 512;

/// How long a GRANDPA message is expected to travel; rounds take a few times as long.
const GOSSIP_DURATION: Duration = Duration::from_millis(333);

/// What consensus needs beyond the common parts.
pub struct Consensus {
	block_import: BabeImport,
	grandpa_link: LinkHalf<Block, FullClient, FullSelectChain>,
	babe_link: BabeLink<Block>,
	babe_worker: BabeWorkerHandle<Block>,
	telemetry: Option<Telemetry>,
}

/// The parts of a node that commands on the database need too.
pub type Partial = PartialComponents<
	FullClient,
	FullBackend,
	FullSelectChain,
	sc_consensus::DefaultImportQueue<Block>,
	FullPool,
	Consensus,
>;

/// Returns the timestamp and slot of a block made now: what is asked of blocks that are imported.
fn inherents(slot_duration: SlotDuration) -> BabeCreateInherentDataProviders<Block> {
	Arc::new(move |_, ()| async move {
		let timestamp = sp_timestamp::InherentDataProvider::from_system_time();
		let slot = SlotProvider::from_timestamp_and_slot_duration(*timestamp, slot_duration);
		Ok((slot, timestamp))
	})
}

/// The same for a block that this node makes, which says what it knows to be final and shows what it has
/// of the chunks that the block asks for.
fn inherents_of_author(
	slot_duration: SlotDuration,
	client: Arc<FullClient>,
	chunks: Arc<ChunkStore<FullClient>>,
) -> impl CreateInherentDataProviders<
	Block,
	(),
	InherentDataProviders = (
		SlotProvider,
		sp_timestamp::InherentDataProvider,
		FinalHeight,
		KeptChunks,
	),
> {
	move |parent, ()| {
		let last = FinalHeight(client.info().finalized_number);
		let kept = answers::answer(&client, &chunks, parent);
		async move {
			let timestamp = sp_timestamp::InherentDataProvider::from_system_time();
			let slot = SlotProvider::from_timestamp_and_slot_duration(*timestamp, slot_duration);
			Ok((slot, timestamp, last, kept))
		}
	}
}

/// Opens the database (writing the genesis block into an empty one) and builds the client
/// and the import queue.
pub fn new_partial(config: &Configuration) -> Result<Partial, ServiceError> {
	let telemetry = config
		.telemetry_endpoints
		.clone()
		.filter(|endpoints| !endpoints.is_empty())
		.map(|endpoints| -> Result<_, sc_telemetry::Error> {
			let worker = TelemetryWorker::new(16)?;
			let telemetry = worker.handle().new_telemetry(endpoints);
			Ok((worker, telemetry))
		})
		.transpose()?;

	let (client, backend, keystore_container, task_manager) = sc_service::new_full_parts(
		config,
		telemetry.as_ref().map(|(_, telemetry)| telemetry.handle()),
		sc_service::new_wasm_executor(&config.executor),
		// Justifications are what warp sync proves finality with: pruning leaves them.
		vec![Arc::new(GrandpaPruningFilter)],
	)?;
	let client = Arc::new(client);

	let telemetry = telemetry.map(|(worker, telemetry)| {
		task_manager.spawn_handle().spawn("telemetry", None, worker.run());
		telemetry
	});
	let telemetry_handle = || telemetry.as_ref().map(|telemetry| telemetry.handle());

	let select_chain = sc_consensus::LongestChain::new(backend.clone());
	let transaction_pool = Arc::from(
		sc_transaction_pool::Builder::new(
			task_manager.spawn_essential_handle(),
			client.clone(),
			config.role.is_authority().into(),
		)
		.with_options(config.transaction_pool.clone())
		.with_prometheus(config.prometheus_registry())
		.build(),
	);

	let (grandpa_import, grandpa_link) = sc_consensus_grandpa::block_import(
		client.clone(),
		JUSTIFICATION_PERIOD,
		&client,
		select_chain.clone(),
		telemetry_handle(),
	)?;
	let justification_import = grandpa_import.clone();

	let babe_config = sc_consensus_babe::configuration(&*client)?;
	let slot_duration = babe_config.slot_duration();
	let (block_import, babe_link) = sc_consensus_babe::block_import(
		babe_config,
		grandpa_import,
		client.clone(),
		inherents(slot_duration),
		select_chain.clone(),
		OffchainTransactionPoolFactory::new(Arc::clone(&transaction_pool)),
	)?;

	let (import_queue, babe_worker) =
		sc_consensus_babe::import_queue(sc_consensus_babe::ImportQueueParams {
			link: babe_link.clone(),
			block_import: block_import.clone(),
			justification_import: Some(Box::new(justification_import)),
			client: client.clone(),
			slot_duration,
			spawner: &task_manager.spawn_essential_handle(),
			registry: config.prometheus_registry(),
			telemetry: telemetry_handle(),
		})?;

	Ok(PartialComponents {
		client,
		backend,
		task_manager,
		keystore_container,
		select_chain,
		import_queue,
		transaction_pool,
		other: Consensus { block_import, grandpa_link, babe_link, babe_worker, telemetry },
	})
}

/// Starts a node.
pub fn new_full<N>(config: Configuration) -> Result<TaskManager, ServiceError>
where
	N: NetworkBackend<Block, <Block as BlockT>::Hash>,
{
	let PartialComponents {
		client,
		backend,
		mut task_manager,
		keystore_container,
		select_chain,
		import_queue,
		transaction_pool,
		other: Consensus { block_import, grandpa_link, babe_link, babe_worker, mut telemetry },
	} = new_partial(&config)?;

	let mut net_config = sc_network::config::FullNetworkConfiguration::<_, _, N>::new(
		&config.network,
		config.prometheus_registry().cloned(),
	);
	let metrics = N::register_notification_metrics(config.prometheus_registry());
	let genesis_hash = client
		.block_hash(0)?
		.ok_or_else(|| ServiceError::Other("The database has no genesis block".into()))?;
	let grandpa_protocol =
		sc_consensus_grandpa::protocol_standard_name(&genesis_hash, &config.chain_spec);
	let (grandpa_protocol_config, grandpa_notifications) =
		sc_consensus_grandpa::grandpa_peers_set_config::<_, N>(
			grandpa_protocol.clone(),
			metrics.clone(),
			net_config.peer_store_handle(),
		);
	net_config.add_notification_protocol(grandpa_protocol_config);

	let folder = config.base_path.config_dir(config.chain_spec.id()).join("chunks");
	let store = ChunkStore::open(client.clone(), folder.clone()).map_err(|e| {
		ServiceError::Other(format!("cannot keep chunks in {}: {e}", folder.display()))
	})?;
	let store = Arc::new(store);
	let (chunk_protocol, chunk_requests) = fetch::protocol::<N>(&genesis_hash);
	net_config.add_request_response_protocol(chunk_protocol);
	task_manager.spawn_handle().spawn_blocking(
		"serve-chunks",
		None,
		fetch::serve(store.clone(), chunk_requests),
	);

	let warp_sync = Arc::new(sc_consensus_grandpa::warp_proof::NetworkProvider::new(
		backend.clone(),
		grandpa_link.shared_authority_set().clone(),
		Vec::new(),
	));
	let (network, system_rpc_tx, tx_handler_controller, sync_service, _bitswap) =
		sc_service::build_network(sc_service::BuildNetworkParams {
			config: &config,
			net_config,
			client: client.clone(),
			transaction_pool: transaction_pool.clone(),
			spawn_handle: task_manager.spawn_handle(),
			spawn_essential_handle: task_manager.spawn_essential_handle(),
			import_queue,
			block_announce_validator_builder: None,
			warp_sync_config: Some(WarpSyncConfig::WithProvider(warp_sync)),
			block_relay: None,
			metrics,
			gap_sync_body_policy: None,
		})?;

	if config.offchain_worker.enabled {
		let workers = sc_offchain::OffchainWorkers::new(sc_offchain::OffchainWorkerOptions {
			runtime_api_provider: client.clone(),
			is_validator: config.role.is_authority(),
			keystore: Some(keystore_container.keystore()),
			offchain_db: backend.offchain_storage(),
			transaction_pool: Some(OffchainTransactionPoolFactory::new(transaction_pool.clone())),
			network_provider: Arc::new(network.clone()),
			enable_http_requests: true,
			custom_extensions: |_| vec![],
		})?;
		task_manager.spawn_handle().spawn(
			"offchain-workers-runner",
			"offchain-worker",
			workers.run(client.clone(), task_manager.spawn_handle()).boxed(),
		);
	}

	let role = config.role;
	let force_authoring = config.force_authoring;
	let name = config.network.node_name.clone();
	let enable_grandpa = !config.disable_grandpa;
	let prometheus_registry = config.prometheus_registry().cloned();
	let voter_state = SharedVoterState::empty();

	if let Some(registry) = &prometheus_registry {
		let metrics = Metrics::register(registry)
			.map_err(|e| ServiceError::Other(format!("cannot register metrics: {e}")))?;
		task_manager.spawn_handle().spawn_blocking(
			"trainyard-metrics",
			None,
			crate::metrics::run(
				client.clone(),
				keystore_container.keystore(),
				sync_service.clone(),
				metrics,
			),
		);
	}

	let shared = keeper::Shared::default();
	let metrics = prometheus_registry.as_ref().map(keeper::Metrics::register).transpose();
	let keeper = Keeper {
		client: client.clone(),
		sync: sync_service.clone(),
		network: network.clone(),
		protocol: fetch::protocol_name(&genesis_hash),
		store: store.clone(),
		prunes: matches!(config.blocks_pruning, BlocksPruning::Some(_)),
		shared: shared.clone(),
		metrics: metrics
			.map_err(|e| ServiceError::Other(format!("cannot register metrics: {e}")))?,
	};
	task_manager.spawn_handle().spawn_blocking("keep-chunks", None, keeper.run());

	let rpc_deps = rpc::Deps {
		client: client.clone(),
		chunks: store.clone(),
		keeping: shared,
		pool: transaction_pool.clone(),
		select_chain: select_chain.clone(),
		chain_spec: config.chain_spec.cloned_box(),
		keystore: keystore_container.keystore(),
		babe: babe_worker,
		grandpa: rpc::GrandpaDeps {
			voter_state: voter_state.clone(),
			authority_set: grandpa_link.shared_authority_set().clone(),
			justifications: grandpa_link.justification_stream(),
			proofs: sc_consensus_grandpa::FinalityProofProvider::new_for_service(
				backend.clone(),
				Some(grandpa_link.shared_authority_set().clone()),
			),
		},
	};
	sc_service::spawn_tasks(SpawnTasksParams {
		network: Arc::new(network.clone()),
		client: client.clone(),
		keystore: keystore_container.keystore(),
		task_manager: &mut task_manager,
		transaction_pool: transaction_pool.clone(),
		rpc_builder: Box::new(move |executor| {
			rpc::create(&rpc_deps, executor).map_err(ServiceError::Application)
		}),
		backend,
		system_rpc_tx,
		tx_handler_controller,
		sync_service: sync_service.clone(),
		config,
		telemetry: telemetry.as_mut(),
		tracing_execute_block: None,
	})?;

	let telemetry_handle = telemetry.as_ref().map(|telemetry| telemetry.handle());

	if role.is_authority() {
		task_manager.spawn_handle().spawn_blocking(
			"equivocations",
			None,
			equivocations::watch(
				client.clone(),
				OffchainTransactionPoolFactory::new(transaction_pool.clone()),
			),
		);
		let proposer = sc_basic_authorship::ProposerFactory::new(
			task_manager.spawn_handle(),
			client.clone(),
			transaction_pool.clone(),
			prometheus_registry.as_ref(),
			telemetry_handle.clone(),
		);
		let slot_duration = babe_link.config().slot_duration();
		let babe = sc_consensus_babe::start_babe(sc_consensus_babe::BabeParams {
			keystore: keystore_container.keystore(),
			client: client.clone(),
			select_chain,
			env: proposer,
			block_import,
			sync_oracle: sync_service.clone(),
			justification_sync_link: sync_service.clone(),
			create_inherent_data_providers: inherents_of_author(
				slot_duration,
				client.clone(),
				store,
			),
			force_authoring,
			backoff_authoring_blocks: None::<()>,
			babe_link,
			block_proposal_slot_portion: SlotProportion::new(0.5),
			max_block_proposal_slot_portion: None,
			telemetry: telemetry_handle.clone(),
		})?;
		task_manager.spawn_essential_handle().spawn_blocking(
			"babe-proposer",
			Some("block-authoring"),
			babe,
		);
	}

	if enable_grandpa {
		let voter = sc_consensus_grandpa::run_grandpa_voter(sc_consensus_grandpa::GrandpaParams {
			config: sc_consensus_grandpa::Config {
				gossip_duration: GOSSIP_DURATION,
				justification_generation_period: JUSTIFICATION_PERIOD,
				observer_enabled: false,
				local_role: role,
				name: Some(name),
				// Without keys the voter only watches.
				keystore: role.is_authority().then(|| keystore_container.keystore()),
				telemetry: telemetry_handle.clone(),
				protocol_name: grandpa_protocol,
			},
			link: grandpa_link,
			network,
			sync: Arc::new(sync_service),
			notification_service: grandpa_notifications,
			voting_rule: sc_consensus_grandpa::VotingRulesBuilder::default().build(),
			prometheus_registry,
			shared_voter_state: voter_state,
			telemetry: telemetry_handle,
			offchain_tx_pool_factory: OffchainTransactionPoolFactory::new(transaction_pool),
		})?;
		task_manager.spawn_essential_handle().spawn_blocking("grandpa-voter", None, voter);
	}

	Ok(task_manager)
}
