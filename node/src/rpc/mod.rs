//! JSON-RPC beyond what every node of the SDK answers (`system_*`, `chain_*`, `state_*`,
//! `author_*`, `offchain_*`, and the `*_v1_*` families).

pub mod trainyard;

use crate::{
	chunks::{keeper::Shared, store::ChunkStore},
	client::{FullBackend, FullClient, FullPool, FullSelectChain},
};
use jsonrpsee::RpcModule;
use sc_consensus_babe::BabeWorkerHandle;
use sc_consensus_grandpa::{
	FinalityProofProvider, GrandpaJustificationStream, SharedAuthoritySet, SharedVoterState,
};
use sc_rpc::SubscriptionTaskExecutor;
use sp_keystore::KeystorePtr;
use std::sync::Arc;
use trainyard_runtime::{opaque::Block, BlockNumber, Hash};

/// What the methods need.
pub struct Deps {
	/// The client.
	pub client: Arc<FullClient>,
	/// Where chunks are.
	pub chunks: Arc<ChunkStore<FullClient>>,
	/// What this node has of them.
	pub keeping: Shared,
	/// The transaction pool.
	pub pool: Arc<FullPool>,
	/// Chooses the best chain.
	pub select_chain: FullSelectChain,
	/// The specification of this chain.
	pub chain_spec: Box<dyn sc_chain_spec::ChainSpec>,
	/// Session keys of this node.
	pub keystore: KeystorePtr,
	/// Epochs.
	pub babe: BabeWorkerHandle<Block>,
	/// Finality.
	pub grandpa: GrandpaDeps,
}

/// What the methods about finality need.
pub struct GrandpaDeps {
	/// Votes of the present round.
	pub voter_state: SharedVoterState,
	/// Present authorities.
	pub authority_set: SharedAuthoritySet<Hash, BlockNumber>,
	/// New justifications.
	pub justifications: GrandpaJustificationStream<Block>,
	/// Proofs of finality.
	pub proofs: Arc<FinalityProofProvider<FullBackend, Block>>,
}

/// Returns all methods of this module in one. It is called once for each server; `executor` runs
/// subscriptions.
pub fn create(
	deps: &Deps,
	executor: SubscriptionTaskExecutor,
) -> Result<RpcModule<()>, Box<dyn std::error::Error + Send + Sync>> {
	use pallet_transaction_payment_rpc::{TransactionPayment, TransactionPaymentApiServer};
	use sc_consensus_babe_rpc::{Babe, BabeApiServer};
	use sc_consensus_grandpa_rpc::{Grandpa, GrandpaApiServer};
	use sc_sync_state_rpc::{SyncState, SyncStateApiServer};
	use substrate_frame_rpc_system::{System, SystemApiServer};
	use trainyard::{Trainyard, TrainyardRpcServer};

	let Deps { client, chunks, keeping, pool, select_chain, chain_spec, keystore, babe, grandpa } =
		deps;
	let mut module = RpcModule::new(());
	module.merge(System::new(client.clone(), pool.clone()).into_rpc())?;
	module.merge(TransactionPayment::new(client.clone()).into_rpc())?;
	module.merge(
		Babe::new(client.clone(), babe.clone(), keystore.clone(), select_chain.clone()).into_rpc(),
	)?;
	module.merge(
		Grandpa::new(
			executor,
			grandpa.authority_set.clone(),
			grandpa.voter_state.clone(),
			grandpa.justifications.clone(),
			grandpa.proofs.clone(),
		)
		.into_rpc(),
	)?;
	module.merge(
		SyncState::new(
			chain_spec.cloned_box(),
			client.clone(),
			grandpa.authority_set.clone(),
			babe.clone(),
		)?
		.into_rpc(),
	)?;
	module.merge(Trainyard::new(client.clone(), chunks.clone(), keeping.clone()).into_rpc())?;
	Ok(module)
}
