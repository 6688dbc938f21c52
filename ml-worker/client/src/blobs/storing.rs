//! Stores a file on chain, whatever stands in its place.
//!
//! The root of a file is a function of its bytes, so others may know it before: a replica with the
//! same result, or somebody who wants to keep it from the chain. Whoever registers a root first and
//! begins to remove it leaves a blob that takes no chunks. Anyone may finish that removal, and then
//! the root is registered again.

use super::BlobError;
use crate::{calls, BlobView, ChainError, Transactor, TxError};
use futures::{stream, StreamExt};
use std::{
	future::Future,
	ops::Range,
	sync::atomic::{AtomicBool, Ordering},
	time::Duration,
};
use tracing::{debug, info};
use trainyard_protocol::{
	blob::{self, Chunked},
	H256,
};

/// Chunks that are under way at once: two blocks take them where blocks have room.
const WINDOW: usize = 6;
/// Looks without progress after which storing is given up.
const PATIENCE: u32 = 5;
/// The time between two looks where something failed.
const PAUSE: Duration = Duration::from_millis(500);

/// The chain as a blob is stored on it.
trait Ledger: Sync {
	/// Returns what the chain has of the blob.
	fn blob(&self, root: H256)
		-> impl Future<Output = Result<Option<BlobView>, ChainError>> + Send;

	/// Registers the blob of `size` bytes with this BLAKE3 hash.
	fn register(&self, size: u64, content: H256) -> impl Future<Output = Sent> + Send;

	/// Goes on with the removal of a blob.
	fn remove(&self, root: H256) -> impl Future<Output = Sent> + Send;

	/// Stores a chunk.
	fn upload(
		&self,
		root: H256,
		index: u32,
		proof: &[H256],
		chunk: &[u8],
	) -> impl Future<Output = Sent> + Send;
}

/// What became of a transaction.
type Sent = Result<(), TxError>;

impl Ledger for Transactor {
	async fn blob(&self, root: H256) -> Result<Option<BlobView>, ChainError> {
		self.chain().blob(root).await
	}

	async fn register(&self, size: u64, content: H256) -> Sent {
		self.run(&calls::register_blob(size, &content)).await.map(drop)
	}

	async fn remove(&self, root: H256) -> Sent {
		self.run(&calls::remove_blob(&root)).await.map(drop)
	}

	async fn upload(&self, root: H256, index: u32, proof: &[H256], chunk: &[u8]) -> Sent {
		self.run(&calls::upload_chunk(&root, index, proof, chunk)).await.map(drop)
	}
}

/// Stores `bytes` on chain under their root, and returns it. Chunks that are there already
/// are skipped, whoever stored them, so it can be called again after a crash. A blob under this root
/// that is being removed is removed first.
pub async fn store(sender: &Transactor, bytes: &[u8]) -> Result<H256, BlobError> {
	let chunks = blob::chunk_count(bytes.len() as u64).unwrap_or(u32::MAX);
	store_on(sender, bytes, 0..chunks, PAUSE).await
}

/// Does what [`store`] does, for some of the chunks.
pub async fn store_chunks(
	sender: &Transactor,
	bytes: &[u8],
	chunks: Range<u32>,
) -> Result<H256, BlobError> {
	store_on(sender, bytes, chunks, PAUSE).await
}

/// What the next look at the chain asks for.
enum Step {
	/// Nothing stands under the root.
	Register,
	/// A blob that takes no chunks stands there; so many chunks are gone.
	Remove(usize),
	/// These chunks are missing.
	Upload(Vec<u32>),
}

async fn store_on<L: Ledger>(
	ledger: &L,
	bytes: &[u8],
	wanted: Range<u32>,
	pause: Duration,
) -> Result<H256, BlobError> {
	if bytes.is_empty() {
		return Err(BlobError::Empty);
	}
	let chunked = Chunked::new(bytes);
	let (root, chunks) = (chunked.root, chunked.chunks.len());
	// The step of the last look, and the least that was left to do in it.
	let mut last: Option<(u8, usize)> = None;
	let mut idle = 0;
	loop {
		let mut there = ledger.blob(root).await?;
		if let Some(view) = there.as_mut().filter(|view| !view.removing) {
			view.missing.retain(|chunk| wanted.contains(chunk));
		}
		let step = match there {
			None => Step::Register,
			Some(view) if view.removing => Step::Remove(view.missing.len()),
			Some(view) if view.missing.is_empty() => {
				let stored = wanted.len();
				info!("blob {root:?} is on chain: {stored} chunks of {chunks}");
				return Ok(root);
			}
			Some(view) => Step::Upload(view.missing),
		};
		let (rank, left) = (step.rank(), step.left(chunks));
		let least = last.filter(|(before, _)| *before == rank).map(|(_, least)| least);
		idle = if least.is_none_or(|least| left < least) { 0 } else { idle + 1 };
		last = Some((rank, left.min(least.unwrap_or(left))));
		let error = match &step {
			Step::Register => ledger.register(bytes.len() as u64, chunked.content).await.err(),
			Step::Remove(_) => {
				debug!("blob {root:?} is being removed: going on with it, to store it again");
				ledger.remove(root).await.err()
			}
			Step::Upload(missing) => upload(ledger, &chunked, missing).await,
		};
		match error {
			None if idle < PATIENCE => {}
			None => {
				let chunks = chunks as u32;
				return Err(BlobError::Incomplete { root, missing: left, chunks });
			}
			Some(error) if idle >= step.patience(&error) => return Err(error.into()),
			Some(error) => {
				debug!("{error}");
				tokio::time::sleep(pause).await;
			}
		}
	}
}

impl Step {
	/// Returns which step it is.
	fn rank(&self) -> u8 {
		match self {
			Self::Register => 0,
			Self::Remove(_) => 1,
			Self::Upload(_) => 2,
		}
	}

	/// Returns how many looks in a row may find nothing done after this error.
	fn patience(&self, error: &TxError) -> u32 {
		match self {
			// Somebody with the same result may have been faster, and then the next look says so. What
			// the account cannot pay now it cannot pay then either, and a failure costs a fee.
			Self::Register if !error.is_uncertain() => 1,
			_ => PATIENCE,
		}
	}

	/// Returns how many chunks this step has still to remove or to store.
	fn left(&self, chunks: usize) -> usize {
		match self {
			Self::Register => chunks,
			Self::Remove(gone) => chunks.saturating_sub(*gone),
			Self::Upload(missing) => missing.len(),
		}
	}
}

/// Stores the missing chunks, [`WINDOW`] at once: where one is in a block the next one is sent. Ends
/// at an error, when those under way are done with, and returns the last one.
async fn upload<L: Ledger>(ledger: &L, chunked: &Chunked<'_>, missing: &[u32]) -> Option<TxError> {
	let failed = AtomicBool::new(false);
	let mut uploads = std::pin::pin!(stream::iter(missing.iter().copied())
		.take_while(|_| std::future::ready(!failed.load(Ordering::Relaxed)))
		.map(|index| upload_one(ledger, chunked, index))
		.buffer_unordered(WINDOW));
	let mut error = None;
	while let Some(sent) = uploads.next().await {
		if let Err(e) = sent {
			failed.store(true, Ordering::Relaxed);
			error = Some(e);
		}
	}
	error
}

async fn upload_one<L: Ledger>(ledger: &L, chunked: &Chunked<'_>, index: u32) -> Sent {
	let at = index as usize;
	match (chunked.proof(at), chunked.chunks.get(at)) {
		(Some(proof), Some(chunk)) => ledger.upload(chunked.root, index, &proof, chunk).await,
		// The chain counts the chunks of these bytes as this program does.
		_ => Ok(()),
	}
}

#[cfg(test)]
#[path = "storing_tests.rs"]
mod tests;
