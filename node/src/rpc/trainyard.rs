//! `trainyard_*`: what clients need and the metadata does not give.

use crate::chunks::{
	keeper::{Shared, Status},
	store::{ChunkStore, Indexed},
};
use jsonrpsee::{
	core::RpcResult,
	proc_macros::rpc,
	types::{error::INTERNAL_ERROR_CODE, ErrorObjectOwned},
};
use sp_api::ProvideRuntimeApi;
use sp_blockchain::HeaderBackend;
use sp_core::{Bytes, H256};
use std::{
	fmt::Display,
	sync::{Arc, PoisonError},
};
use trainyard_protocol::{
	blob,
	retention::KeepingView,
	views::{BlobView, ChunkValues, DisputeView, JobView},
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

	/// Returns the values of at most `count` chunks of the blob `root` from `first` on in the tree over
	/// its content, at most 64, with its length: computed from the bytes that this node has, each chunk
	/// checked against its hash. With all of them a reader checks every chunk by itself. Null where the
	/// blob or one of these chunks is not on chain.
	#[method(name = "trainyard_chunkValues", blocking)]
	fn chunk_values(&self, root: H256, first: u32, count: u32) -> RpcResult<Option<ChunkValues>>;

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

	/// Returns what keeping a stored blob costs, when it ends, and which of its chunks are doubted or
	/// lost; null where there is none with this root.
	#[method(name = "trainyard_keeping", blocking)]
	fn keeping(&self, root: H256) -> RpcResult<Option<KeepingView>>;

	/// Returns what this node has of what the chain retains, and what to do where it lacks something.
	#[method(name = "trainyard_storage")]
	fn storage(&self) -> RpcResult<Status>;
}

/// Answers [`TrainyardRpc`] from a client.
pub struct Trainyard<C> {
	client: Arc<C>,
	chunks: Arc<ChunkStore<C>>,
	kept: Shared,
}

impl<C> Trainyard<C> {
	/// Answers from `client`, its chunks, and what the node says that it keeps.
	pub fn new(client: Arc<C>, chunks: Arc<ChunkStore<C>>, kept: Shared) -> Self {
		Self { client, chunks, kept }
	}
}

impl<C> TrainyardRpcServer for Trainyard<C>
where
	C: ProvideRuntimeApi<Block> + HeaderBackend<Block> + Indexed + Send + Sync + 'static,
	C::Api: TrainyardApi<Block, AccountId>,
{
	fn model_chunk(&self, root: H256, index: u32) -> RpcResult<Option<Bytes>> {
		let best = self.client.info().best_hash;
		let hash = self.client.runtime_api().chunk_hash(best, root, index);
		let Some(hash) = hash.map_err(failed("look up the chunk in the state"))? else {
			return Ok(None);
		};
		let bytes = self.chunks.get(&hash).ok_or_else(|| {
			let reason = format!(
				"chunk {index} of {root:?} is on chain, but this node lacks it: it came without block \
				 bodies, pruned it, or its disk is damaged. It fetches it from its peers; ask it later, \
				 or another node (trainyard_storage says what it lacks)"
			);
			ErrorObjectOwned::owned(INTERNAL_ERROR_CODE, reason, None::<()>)
		})?;
		Ok(Some(bytes.into()))
	}

	fn chunk_values(&self, root: H256, first: u32, count: u32) -> RpcResult<Option<ChunkValues>> {
		let view = self.blob(root)?;
		let Some(BlobView { size, chunks, .. }) = view else { return Ok(None) };
		let end = first.saturating_add(count.min(blob::VALUES_AT_ONCE)).min(chunks);
		let mut values = Vec::new();
		for index in first..end {
			let Some(bytes) = self.model_chunk(root, index)? else { return Ok(None) };
			let node = blob::chunk_node(size, index);
			let value = node.and_then(|node| node.value_of(size, &bytes).ok());
			let wrong = || failed("compute the value of a chunk")("it has another length");
			values.push(value.ok_or_else(wrong)?);
		}
		Ok(Some(ChunkValues { size, values }))
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

	fn keeping(&self, root: H256) -> RpcResult<Option<KeepingView>> {
		let best = self.client.info().best_hash;
		self.client.runtime_api().keeping(best, root).map_err(failed("look up the blob"))
	}

	fn storage(&self) -> RpcResult<Status> {
		Ok(self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone())
	}
}

/// Returns an internal error: what failed, and why.
fn failed<E: Display>(what: &'static str) -> impl FnOnce(E) -> ErrorObjectOwned {
	move |error| {
		let message = format!("cannot {what}: {error}");
		ErrorObjectOwned::owned(INTERNAL_ERROR_CODE, message, None::<()>)
	}
}
