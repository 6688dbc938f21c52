//! The types of which a node is made: client, database, best chain, pool.

use trainyard_runtime::{apis::RuntimeApi, opaque::Block};

/// Executes the runtime's wasm.
pub type Executor = sc_executor::WasmExecutor<sp_io::SubstrateHostFunctions>;
/// The client.
pub type FullClient = sc_service::TFullClient<Block, RuntimeApi, Executor>;
/// The database.
pub type FullBackend = sc_service::TFullBackend<Block>;
/// The best chain, as BABE's fork choice marked it.
pub type FullSelectChain = sc_consensus::LongestChain<FullBackend, Block>;
/// The transaction pool.
pub type FullPool = sc_transaction_pool::TransactionPoolHandle<Block, FullClient>;
