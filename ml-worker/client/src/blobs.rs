//! Stores files on chain, chunk by chunk, and reads them back.

use super::{calls, Chain, ChainError, Transactor, TxError};
use tracing::{debug, info};
use trainyard_protocol::{
	blob::{self, Chunked},
	H256,
};

/// Chunks that are under way at once.
const WINDOW: usize = 6;
/// Rounds without a new chunk on chain after which storing is given up.
const PATIENCE: u32 = 5;

/// Says why a file is not on chain, or could not be read back.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
	/// The chain could not be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// A transaction that is needed to store the file did not go through.
	#[error(transparent)]
	Tx(#[from] TxError),
	/// Nothing is registered under the root.
	#[error("the chain knows no blob with root {root:?}; it may have expired")]
	Unknown {
		/// The root.
		root: H256,
	},
	/// Chunks are missing.
	#[error("{missing} of {chunks} chunks of blob {root:?} are not on chain")]
	Incomplete {
		/// The root.
		root: H256,
		/// Chunks not stored.
		missing: usize,
		/// Chunks in all.
		chunks: u32,
	},
	/// The node lacks the bytes of a chunk.
	#[error("the node at {url} has no bytes of chunk {index} of blob {root:?}: it may have pruned them; ask another node")]
	Pruned {
		/// The node's address.
		url: String,
		/// The root.
		root: H256,
		/// The chunk.
		index: u32,
	},
	/// The bytes do not hash to the root.
	#[error("the node at {url} gave bytes that do not hash to the root {root:?}")]
	WrongBytes {
		/// The node's address.
		url: String,
		/// The root.
		root: H256,
	},
	/// The blob is larger than the caller takes.
	#[error("blob {root:?} has {size} bytes, more than the {limit} that are taken")]
	TooLarge {
		/// The root.
		root: H256,
		/// Its size.
		size: u64,
		/// The caller's limit.
		limit: u64,
	},
	/// There is nothing to store.
	#[error("an empty file cannot be stored on chain")]
	Empty,
}

/// Stores `bytes` on chain under their root, and returns it. Chunks that are there already
/// are skipped, whoever stored them, so it can be called again after a crash.
pub async fn store(sender: &Transactor, bytes: &[u8]) -> Result<H256, BlobError> {
	if bytes.is_empty() {
		return Err(BlobError::Empty);
	}
	let chunked = Chunked::new(bytes);
	let root = chunked.root;
	let chain = sender.chain();
	if chain.blob(root).await?.is_none() {
		let call = calls::register_blob(bytes.len() as u64, &chunked.merkle_root);
		if let Err(error) = sender.run(&call).await {
			// Somebody with the same result may have been faster.
			if chain.blob(root).await?.is_none() {
				return Err(error.into());
			}
		}
	}
	let (mut fewest, mut idle) = (usize::MAX, 0);
	loop {
		let view = chain.blob(root).await?.ok_or(BlobError::Unknown { root })?;
		if view.missing.is_empty() {
			info!("blob {root:?} is on chain: {} bytes in {} chunks", bytes.len(), view.chunks);
			return Ok(root);
		}
		if view.missing.len() < fewest {
			(fewest, idle) = (view.missing.len(), 0);
		} else {
			idle += 1;
		}
		let mut last_error = None;
		let mut sent = Vec::new();
		for index in view.missing.iter().copied().take(WINDOW) {
			let at = index as usize;
			let (Some(proof), Some(chunk)) = (chunked.proof(at), chunked.chunks.get(at)) else {
				continue;
			};
			match sender.send(&calls::upload_chunk(&root, index, &proof, chunk)).await {
				Ok(pending) => sent.push(pending),
				Err(error) => {
					last_error = Some(error);
					break;
				}
			}
		}
		for pending in sent {
			if let Err(error) = pending.included().await {
				debug!("{error}");
				last_error = Some(error);
			}
		}
		if idle >= PATIENCE {
			return Err(match last_error {
				Some(error) => error.into(),
				None => {
					BlobError::Incomplete { root, missing: view.missing.len(), chunks: view.chunks }
				}
			});
		}
		if last_error.is_some() {
			tokio::time::sleep(std::time::Duration::from_millis(500)).await;
		}
	}
}

/// Reads the blob `root` back and checks that the bytes hash to it. Refuses more than
/// `limit` bytes.
pub async fn load(chain: &Chain, root: H256, limit: u64) -> Result<Vec<u8>, BlobError> {
	let view = chain.blob(root).await?.ok_or(BlobError::Unknown { root })?;
	if view.size > limit {
		return Err(BlobError::TooLarge { root, size: view.size, limit });
	}
	if !view.missing.is_empty() {
		return Err(BlobError::Incomplete {
			root,
			missing: view.missing.len(),
			chunks: view.chunks,
		});
	}
	let url = || chain.url().to_string();
	let chunks = blob::chunk_count(view.size).unwrap_or(u32::MAX);
	let mut bytes = Vec::with_capacity(usize::try_from(view.size).unwrap_or_default());
	for index in 0..chunks {
		let chunk = chain.model_chunk(root, index).await?.ok_or_else(|| BlobError::Pruned {
			url: url(),
			root,
			index,
		})?;
		if Some(chunk.len() as u64) != blob::chunk_size_at(view.size, index).map(u64::from) {
			return Err(BlobError::WrongBytes { url: url(), root });
		}
		bytes.extend_from_slice(&chunk);
	}
	if Chunked::new(&bytes).root != root {
		return Err(BlobError::WrongBytes { url: url(), root });
	}
	Ok(bytes)
}
