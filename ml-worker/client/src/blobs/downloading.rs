//! Brings a blob from several nodes at once into a file.
//!
//! First one node gives the values of all chunks, 32 bytes each, which must lead to the root. With
//! these every chunk is checked by itself as it comes, whoever sends it: who sends a wrong one is
//! dropped, and what it was asked for is asked of others. What is in the file already is checked in
//! the same way, so an interrupted download goes on with the chunks that are missing.

mod queue;

use super::{in_file, BlobError, Outline};
use crate::{Chain, ChainError};
use futures::{stream, stream::FuturesUnordered, StreamExt};
use queue::Queue;
use std::{
	fs::File,
	io::{self, Read, Seek, SeekFrom, Write},
	path::{Path, PathBuf},
	sync::{Arc, Mutex},
	time::Duration,
};
use trainyard_protocol::{
	blob::{self, VALUES_AT_ONCE},
	H256,
};

/// Chunks that one node is asked for at once.
const AT_ONCE: usize = 4;
/// Failures in a row after which a node is asked no more.
const FAILURES: u32 = 6;
/// After so long the next node is asked for the values of the chunks, too.
const SLOW: Duration = Duration::from_secs(2);
/// Pause after a failure, times the failures so far.
const PAUSE: Duration = Duration::from_millis(400);

/// What happens during a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
	/// So much is here, at the beginning and after each chunk.
	Here {
		/// Chunks.
		chunks: u32,
		/// Their bytes.
		bytes: u64,
	},
	/// A node is asked no more.
	Dropped {
		/// Its address.
		url: String,
		/// Why.
		reason: String,
	},
}

/// What a download came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
	/// Length of the blob in bytes.
	pub size: u64,
	/// Its chunks.
	pub chunks: u32,
	/// Chunks that were in the file before.
	pub before: u32,
	/// Chunks that each node brought, in the order of the nodes.
	pub by: Vec<u32>,
}

/// Brings the blob `root` from `nodes` into the file at `path`. It may be dropped or killed at any
/// time, and called again with the same path: chunks that are in the file stay. The file has the
/// whole blob and nothing else where this returns without an error.
///
/// # Errors
///
/// Fails where no node knows the blob, where it goes away from the chain meanwhile, where no node is
/// left to ask for a chunk, and where the file cannot be written, as on a full disk.
pub async fn download(
	nodes: &[Arc<Chain>],
	root: H256,
	path: &Path,
	told: impl FnMut(Fetched) + Send,
) -> Result<Got, BlobError> {
	let told = Mutex::new(told);
	let tell = |what| {
		let mut told = told.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
		(*told)(what);
	};
	let outline = Arc::new(outline(nodes, root, &tell).await?);
	let here = present(path, outline.clone()).await?;
	let before = u32::try_from(here.len()).unwrap_or(u32::MAX);
	let queue = Queue::new(outline.clone(), here);
	tell(queue.here());
	let workers = nodes.iter().enumerate().flat_map(|node| std::iter::repeat_n(node, AT_ONCE));
	let out = Out { path: path.to_owned(), outline: outline.clone() };
	let failures: Vec<Mutex<u32>> = nodes.iter().map(|_| Mutex::new(0)).collect();
	let work = workers
		.map(|(source, node)| serve(node, source, &queue, &out, failures.get(source), &tell));
	let count = nodes.len().saturating_mul(AT_ONCE).max(1);
	let mut work = std::pin::pin!(stream::iter(work).buffer_unordered(count));
	let drained = async {
		while let Some(ended) = work.next().await {
			ended?;
		}
		Ok::<_, BlobError>(())
	};
	tokio::select! {
		ended = drained => ended?,
		// A node that stalls over what another one brought keeps nobody waiting.
		() = queue.whole() => {}
	}
	queue.finished(root)?;
	in_file(path, move |path| {
		let file = File::options().write(true).open(path)?;
		file.set_len(outline.size())?;
		file.sync_all()
	})
	.await?;
	let (chunks, size) = (out.outline.chunks(), out.outline.size());
	Ok(Got { size, chunks, before, by: queue.by(nodes.len()) })
}

/// The file that a download fills.
struct Out {
	path: PathBuf,
	outline: Arc<Outline>,
}

impl Out {
	async fn write(&self, index: u32, chunk: Vec<u8>) -> Result<(), BlobError> {
		let (begin, _) = self.outline.place(index).unwrap_or_default();
		in_file(&self.path, move |path| {
			// Made at the beginning: a write that comes too late makes no file.
			let mut file = File::options().write(true).open(path)?;
			file.seek(SeekFrom::Start(begin))?;
			file.write_all(&chunk)
		})
		.await
	}
}

/// Asks one node for chunk after chunk until nothing is left that it may have.
async fn serve(
	node: &Chain,
	source: usize,
	queue: &Queue,
	out: &Out,
	failures: Option<&Mutex<u32>>,
	tell: &(impl Fn(Fetched) + Sync),
) -> Result<(), BlobError> {
	let root = out.outline.root();
	let drop_node = |reason: String| {
		if queue.drop_source(source) {
			tell(Fetched::Dropped { url: node.url().to_string(), reason });
		}
	};
	while let Some(index) = queue.take(source).await {
		match node.model_chunk(root, index).await {
			Ok(Some(chunk)) if out.outline.is_chunk(index, &chunk) => {
				set(failures, |_| 0);
				if queue.is_here(index) {
					continue;
				}
				if let Err(error) = out.write(index, chunk).await {
					queue.stop();
					return Err(error);
				}
				if queue.done(index, source) {
					tell(queue.here());
				}
			}
			Ok(Some(chunk)) => {
				let length = chunk.len();
				drop_node(format!(
					"it gave {length} bytes for chunk {index} that are not this chunk of {root:?}"
				));
			}
			// Other nodes may be at another block.
			Ok(None) => queue.lacks(source, index, true),
			Err(ChainError::Refused { .. }) => queue.lacks(source, index, false),
			Err(error) => {
				queue.give_back(source, index);
				let count = set(failures, |count| count + 1);
				if error.is_final() || count >= FAILURES {
					drop_node(error.to_string());
				} else {
					tokio::time::sleep(PAUSE * count).await;
				}
			}
		}
	}
	Ok(())
}

/// Changes a count and returns it.
fn set(count: Option<&Mutex<u32>>, change: impl FnOnce(u32) -> u32) -> u32 {
	let Some(count) = count else { return FAILURES };
	let mut count = count.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
	*count = change(*count);
	*count
}

/// Returns the outline of the blob: of the first node that gives one that leads to the root, and
/// where no node has all chunks, of several.
pub(super) async fn outline(
	nodes: &[Arc<Chain>],
	root: H256,
	tell: &impl Fn(Fetched),
) -> Result<Outline, BlobError> {
	let mut last = BlobError::Unknown { root };
	let mut able: Vec<&Chain> = Vec::new();
	let mut waiting = nodes.iter().map(|node| &**node);
	let mut asked = FuturesUnordered::new();
	loop {
		let answer: Option<(&Chain, Result<_, _>)> = match asked.is_empty() {
			true => None,
			false => tokio::time::timeout(SLOW, asked.next()).await.unwrap_or_default(),
		};
		match answer {
			Some((node, Ok(Some((size, values))))) => {
				if let Some(outline) = Outline::checked(root, size, values) {
					return Ok(outline);
				}
				let (url, what) = (node.url().to_string(), "the values of chunks that it gave");
				let reason = format!("{what} do not lead to {root:?}");
				tell(Fetched::Dropped { url: url.clone(), reason });
				last = BlobError::WrongBytes { url, root };
			}
			Some((_, Ok(None))) => {}
			Some((node, Err(error))) => {
				// It may lack one chunk, and have others.
				able.push(node);
				last = error;
			}
			// Nobody is asked, or who is asked is slow.
			None => {}
		}
		match waiting.next() {
			Some(node) => asked.push(async move { (node, values(&[node], root).await) }),
			None if asked.is_empty() => break,
			None => {}
		}
	}
	if able.len() > 1 {
		if let Ok(Some((size, values))) = values(&able, root).await {
			if let Some(outline) = Outline::checked(root, size, values) {
				return Ok(outline);
			}
		}
	}
	Err(last)
}

/// Returns size and values of all chunks, asked of these nodes part by part: each part of the first
/// that gives it.
async fn values(nodes: &[&Chain], root: H256) -> Result<Option<(u64, Vec<H256>)>, BlobError> {
	let mut all: Vec<H256> = Vec::new();
	loop {
		let first = u32::try_from(all.len()).unwrap_or(u32::MAX);
		let mut part = Err(BlobError::Unknown { root });
		for node in nodes {
			part = node.chunk_values(root, first, VALUES_AT_ONCE).await.map_err(BlobError::from);
			if matches!(part, Ok(Some(_))) {
				break;
			}
		}
		let Some(part) = part? else { return Ok(None) };
		let chunks = blob::chunk_count(part.size).unwrap_or(u32::MAX);
		let none = part.values.is_empty();
		all.extend(part.values);
		if none || all.len() >= chunks as usize {
			return Ok(Some((part.size, all)));
		}
	}
}

/// Returns the chunks that are in the file at `path`, whose length is brought to that of the blob.
async fn present(path: &Path, outline: Arc<Outline>) -> Result<Vec<u32>, BlobError> {
	in_file(path, move |path| {
		let opened = File::options().create(true).truncate(false).read(true).write(true).open(path);
		let mut file = opened?;
		if file.metadata()?.len() > outline.size() {
			file.set_len(outline.size())?;
		}
		let mut here = Vec::new();
		let mut buffer = vec![0; blob::chunk_len(outline.size()) as usize];
		for index in 0..outline.chunks() {
			let (_, length) = outline.place(index).unwrap_or_default();
			let chunk = buffer.get_mut(..length as usize).unwrap_or_default();
			match file.read_exact(chunk) {
				Ok(()) if outline.is_chunk(index, chunk) => here.push(index),
				Ok(()) => {}
				// Its end is missing, and all that comes after it.
				Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => break,
				Err(e) => return Err(e),
			}
		}
		Ok(here)
	})
	.await
}

#[cfg(test)]
#[path = "downloading_tests.rs"]
mod tests;
