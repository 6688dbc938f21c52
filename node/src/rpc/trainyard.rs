//! `trainyard_*`: what clients need and the metadata does not give.

use jsonrpsee::{
	core::RpcResult,
	proc_macros::rpc,
	types::{error::INTERNAL_ERROR_CODE, ErrorObjectOwned},
};
use sc_client_api::BlockBackend;
use sp_api::ProvideRuntimeApi;
use sp_blockchain::HeaderBackend;
use sp_core::{Bytes, H256};
use std::{fmt::Display, sync::Arc};
use trainyard_protocol::{
	blob,
	views::{BlobView, DisputeView, JobView},
	JobId,
};
use trainyard_runtime::{api::TrainyardApi, opaque::Block, AccountId};

/// Stored models and jobs. All methods look at the best block.
#[rpc(server)]
pub trait TrainyardRpc {
	/// Returns the bytes of chunk `index` of the blob with root `root`, checked against its hash;
	/// null where the blob or the chunk is not on chain.
	#[method(name = "trainyard_modelChunk", blocking)]
	fn model_chunk(&self, root: H256, index: u32) -> RpcResult<Option<Bytes>>;

	/// Returns a job and everything around it; null where there is none with this number.
	#[method(name = "trainyard_job", blocking)]
	fn job(&self, id: JobId) -> RpcResult<Option<JobView<AccountId>>>;

	/// Returns a dispute before the court; null where there is none with this number, or it ended.
	#[method(name = "trainyard_dispute", blocking)]
	fn dispute(&self, id: u64) -> RpcResult<Option<DisputeView<AccountId>>>;

	/// Returns the disputes about a job that have not ended, by number.
	#[method(name = "trainyard_disputes", blocking)]
	fn disputes(&self, job: JobId) -> RpcResult<Vec<DisputeView<AccountId>>>;

	/// Returns a stored blob: size, chunks, what is missing, when it may go; null where there is
	/// none with this root.
	#[method(name = "trainyard_blob", blocking)]
	fn blob(&self, root: H256) -> RpcResult<Option<BlobView<AccountId>>>;
}

/// Answers [`TrainyardRpc`] from a client.
pub struct Trainyard<C> {
	client: Arc<C>,
}

impl<C> Trainyard<C> {
	/// Answers from `client`.
	pub fn new(client: Arc<C>) -> Self {
		Self { client }
	}
}

impl<C> TrainyardRpcServer for Trainyard<C>
where
	C: ProvideRuntimeApi<Block>
		+ HeaderBackend<Block>
		+ BlockBackend<Block>
		+ Send
		+ Sync
		+ 'static,
	C::Api: TrainyardApi<Block, AccountId>,
{
	fn model_chunk(&self, root: H256, index: u32) -> RpcResult<Option<Bytes>> {
		let best = self.client.info().best_hash;
		let hash = self.client.runtime_api().chunk_hash(best, root, index);
		let Some(hash) = hash.map_err(failed("look up the chunk in the state"))? else {
			return Ok(None);
		};
		let bytes = self.client.indexed_transaction(hash);
		let bytes =
			bytes.map_err(failed("read the chunk from the database"))?.ok_or_else(|| {
				ErrorObjectOwned::owned(
					INTERNAL_ERROR_CODE,
					format!(
					"chunk {index} of {root:?} is on chain, but this node has pruned it or synced \
					 without block bodies; ask another node, or run one with --blocks-pruning archive"
				),
					None::<()>,
				)
			})?;
		// The database keeps what the runtime named, so this holds unless the disk failed.
		if blob::chunk_hash(&bytes) != hash {
			return Err(failed("read the chunk from the database")(
				"its bytes do not match its hash",
			));
		}
		Ok(Some(bytes.into()))
	}

	fn job(&self, id: JobId) -> RpcResult<Option<JobView<AccountId>>> {
		let best = self.client.info().best_hash;
		self.client.runtime_api().job(best, id).map_err(failed("look up the job"))
	}

	fn dispute(&self, id: u64) -> RpcResult<Option<DisputeView<AccountId>>> {
		let best = self.client.info().best_hash;
		self.client.runtime_api().dispute(best, id).map_err(failed("look up the dispute"))
	}

	fn disputes(&self, job: JobId) -> RpcResult<Vec<DisputeView<AccountId>>> {
		let best = self.client.info().best_hash;
		self.client.runtime_api().disputes_of(best, job).map_err(failed("look up the disputes"))
	}

	fn blob(&self, root: H256) -> RpcResult<Option<BlobView<AccountId>>> {
		let best = self.client.info().best_hash;
		self.client.runtime_api().blob(best, root).map_err(failed("look up the blob"))
	}
}

/// Returns an internal error: what failed, and why.
fn failed<E: Display>(what: &'static str) -> impl FnOnce(E) -> ErrorObjectOwned {
	move |error| {
		let message = format!("cannot {what}: {error}");
		ErrorObjectOwned::owned(INTERNAL_ERROR_CODE, message, None::<()>)
	}
}
