//! Stores files on chain, chunk by chunk, and reads them back.

mod downloading;
mod outline;
mod storing;
mod uploading;

pub use downloading::{download, Fetched, Got};
pub use outline::Outline;
pub use storing::{store, store_chunks};
pub use uploading::{cost, cost_of, upload, Cost, Progress, Report, Settings, Source};

use super::{Chain, ChainError, TxError};
use futures::{stream, Stream, StreamExt, TryStreamExt};
use std::{
	fs::File,
	io::{self, Seek, SeekFrom, Write},
	path::{Path, PathBuf},
};
use tracing::debug;
use trainyard_protocol::{
	blob::{self, Chunked},
	H256,
};

/// Chunks that are read at once.
const WINDOW: usize = 6;

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
	/// The blob went away from the chain while it was read.
	#[error("blob {root:?} is on the chain no more, or only in part: it has expired and was removed. {missing} of {chunks} chunks had not come")]
	Gone {
		/// The root.
		root: H256,
		/// Chunks that did not come.
		missing: usize,
		/// Chunks in all.
		chunks: u32,
	},
	/// No node is left that could be asked.
	#[error("{missing} of {chunks} chunks of blob {root:?} could be had from none of the nodes: name another one that keeps old blocks")]
	NobodyHas {
		/// The root.
		root: H256,
		/// Chunks that did not come.
		missing: usize,
		/// Chunks in all.
		chunks: u32,
	},
	/// The file is not any more what it was when storing began.
	#[error("{} changed while it was stored: what it is now has another root", .path.display())]
	Changed {
		/// The file.
		path: PathBuf,
	},
	/// No sender can pay.
	#[error("no sender can pay the fees any more: {reason}. What is stored stays; put money on an account and store the file again")]
	Poor {
		/// The node's words.
		reason: String,
	},
	/// There is nothing to store.
	#[error("an empty file cannot be stored on chain")]
	Empty,
	/// The file for what is read cannot be written or read.
	#[error("cannot read or write the file {}: {source}", .path.display())]
	Local {
		/// The file.
		path: PathBuf,
		/// Why.
		source: io::Error,
	},
}

/// Reads the blob `root` back and checks that the bytes hash to it. Refuses more than
/// `limit` bytes.
pub async fn load(chain: &Chain, root: H256, limit: u64) -> Result<Vec<u8>, BlobError> {
	let size = whole_size(chain, root, limit).await?;
	let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
	let mut chunks = std::pin::pin!(chunks_from(chain, root, size, 0));
	while let Some((_, chunk)) = chunks.try_next().await? {
		bytes.extend_from_slice(&chunk);
	}
	if Chunked::new(&bytes).root != root {
		return Err(BlobError::WrongBytes { url: chain.url().to_string(), root });
	}
	Ok(bytes)
}

/// Brings the blob `root`, of at most `limit` bytes, into the file at `path`, and returns its
/// length. It may be dropped at any time: whole chunks stay in the file, and the next call for the
/// same root and path goes on after them. A whole file that does not hash to the root is removed.
pub async fn load_into(
	chain: &Chain,
	root: H256,
	limit: u64,
	path: &Path,
) -> Result<u64, BlobError> {
	let size = whole_size(chain, root, limit).await?;
	let chunks = blob::chunk_count(size).unwrap_or(u32::MAX);
	let here = in_file(path, move |path| match std::fs::metadata(path) {
		Ok(about) if about.len() > size => std::fs::remove_file(path).map(|()| 0),
		Ok(about) => Ok(about.len()),
		Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(0),
		Err(e) => Err(e),
	})
	.await?;
	// Part of a chunk is read again. The last chunk of a whole file is a part of one by its length.
	let length = u64::from(blob::chunk_len(size));
	let from = match here == size {
		true => chunks,
		false => u32::try_from(here / length).unwrap_or(u32::MAX),
	};
	if from > 0 {
		debug!("blob {root:?}: {from} of {chunks} chunks are here already");
	}
	let mut coming = std::pin::pin!(chunks_from(chain, root, size, from));
	while let Some((index, chunk)) = coming.try_next().await? {
		// A write goes on where its caller is dropped meanwhile. At a place that follows from the
		// number of the chunk it spoils nothing.
		in_file(path, move |path| {
			let mut file = File::options().create(true).truncate(false).write(true).open(path)?;
			file.seek(SeekFrom::Start(u64::from(index) * length))?;
			file.write_all(&chunk)
		})
		.await?;
		debug!("blob {root:?}: chunk {} of {chunks} is here", index + 1);
	}
	if in_file(path, |path| blob::root_of_reader(File::open(path)?)).await? != root {
		in_file(path, |path| std::fs::remove_file(path)).await?;
		return Err(BlobError::WrongBytes { url: chain.url().to_string(), root });
	}
	Ok(size)
}

/// Returns the length of the blob `root` if all of it is on chain and it has at most `limit` bytes.
async fn whole_size(chain: &Chain, root: H256, limit: u64) -> Result<u64, BlobError> {
	let view = chain.blob(root).await?.ok_or(BlobError::Unknown { root })?;
	if view.size > limit {
		return Err(BlobError::TooLarge { root, size: view.size, limit });
	}
	match view.missing.len() {
		0 => Ok(view.size),
		missing => Err(BlobError::Incomplete { root, missing, chunks: view.chunks }),
	}
}

/// Reads the chunks of a blob of `size` bytes from number `from` on, in order, several at once.
fn chunks_from(
	chain: &Chain,
	root: H256,
	size: u64,
	from: u32,
) -> impl Stream<Item = Result<(u32, Vec<u8>), BlobError>> + '_ {
	let url = || chain.url().to_string();
	let read = move |index| async move {
		let chunk = chain.model_chunk(root, index).await?;
		let chunk = chunk.ok_or_else(|| BlobError::Pruned { url: url(), root, index })?;
		match blob::chunk_size_at(size, index).map(u64::from) == Some(chunk.len() as u64) {
			true => Ok((index, chunk)),
			false => Err(BlobError::WrongBytes { url: url(), root }),
		}
	};
	let chunks = blob::chunk_count(size).unwrap_or(u32::MAX);
	stream::iter(from..chunks).map(read).buffered(WINDOW)
}

/// Does something with the file at `path` on a thread that may wait for the disk.
async fn in_file<T: Send + 'static>(
	path: &Path,
	work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> Result<T, BlobError> {
	let at = path.to_owned();
	let done = tokio::task::spawn_blocking(move || work(&at)).await;
	let done = done.unwrap_or_else(|e| Err(io::Error::other(e)));
	done.map_err(|source| BlobError::Local { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{fake::FakeNode, AccountId32, BlobView};
	use codec::{Decode, Encode};
	use std::sync::{Arc, Mutex};

	/// A node that has `bytes` as a blob, fails at the chunks in `broken`, and notes which it was
	/// asked for.
	struct Stored {
		bytes: Vec<u8>,
		broken: Mutex<Vec<u32>>,
		asked: Mutex<Vec<u32>>,
	}

	impl Stored {
		fn new(bytes: Vec<u8>) -> Arc<Self> {
			Arc::new(Self { bytes, broken: Mutex::default(), asked: Mutex::default() })
		}

		fn root(&self) -> H256 {
			Chunked::new(&self.bytes).root
		}

		async fn chain(self: &Arc<Self>) -> Chain {
			let this = self.clone();
			let node = FakeNode::new(move |method, arguments, _| match method {
				"TrainyardApi_blob" => {
					let chunks = Chunked::new(&this.bytes).chunks.len() as u32;
					let size = this.bytes.len() as u64;
					let owner = AccountId32([1; 32]);
					let (missing, expires, removing) = (vec![], 90, false);
					let view = BlobView { owner, size, chunks, missing, expires, removing };
					Ok(Some(view).encode())
				}
				"trainyard_modelChunk" => {
					let (_, index) = <(H256, u32)>::decode(&mut &arguments[..]).unwrap();
					this.asked.lock().unwrap().push(index);
					match this.broken.lock().unwrap().contains(&index) {
						true => Err("the node stalls"),
						false => Ok(Chunked::new(&this.bytes).chunks[index as usize].to_vec()),
					}
				}
				_ => Err("no such method"),
			});
			node.chain().await
		}

		/// Returns the chunks that were asked for since the last call.
		fn asked(&self) -> Vec<u32> {
			let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
			asked.sort();
			asked
		}
	}

	#[tokio::test]
	async fn a_blob_whose_reading_broke_off_goes_on_after_its_whole_chunks() {
		let folder = tempfile::tempdir().unwrap();
		let path = folder.path().join("rescue.part");
		let bytes: Vec<u8> = (0..200_001u32).map(|i| ((i * 7) >> 3) as u8).collect();
		let stored = Stored::new(bytes.clone());
		let (chain, root) = (stored.chain().await, stored.root());
		let (length, chunks) = (u64::from(blob::chunk_len(200_001)), 49);
		assert_eq!((length, blob::chunk_count(200_001)), (4_096, Some(chunks)));

		stored.broken.lock().unwrap().push(20);
		let error = load_into(&chain, root, 1 << 20, &path).await.unwrap_err();
		assert!(matches!(error, BlobError::Chain(_)), "{error}");
		assert_eq!(std::fs::metadata(&path).unwrap().len(), 20 * length);
		stored.asked();
		// Half of a chunk, as a kill leaves it, is no chunk.
		File::options().append(true).open(&path).unwrap().write_all(&[9; 100]).unwrap();
		stored.broken.lock().unwrap().clear();
		assert_eq!(load_into(&chain, root, 1 << 20, &path).await.unwrap(), 200_001);
		assert_eq!(stored.asked(), (20..chunks).collect::<Vec<_>>());
		assert_eq!(std::fs::read(&path).unwrap(), bytes);
		// All of it is here.
		load_into(&chain, root, 1 << 20, &path).await.unwrap();
		assert!(stored.asked().is_empty());
		assert_eq!(load(&chain, root, 1 << 20).await.unwrap(), bytes);

		let error = load_into(&chain, root, 200_000, &path).await.unwrap_err();
		assert!(matches!(error, BlobError::TooLarge { .. }), "{error}");
	}

	#[tokio::test]
	async fn a_file_that_is_not_the_blob_is_removed() {
		let folder = tempfile::tempdir().unwrap();
		let path = folder.path().join("rescue.part");
		let stored = Stored::new(vec![3; 10_000]);
		let (chain, root) = (stored.chain().await, stored.root());
		std::fs::write(&path, [4; 5_000]).unwrap();
		let error = load_into(&chain, root, 1 << 20, &path).await.unwrap_err();
		assert!(matches!(error, BlobError::WrongBytes { .. }), "{error}");
		assert!(!path.exists());
		// One that is too long is none of it.
		std::fs::write(&path, [3; 10_001]).unwrap();
		load_into(&chain, root, 1 << 20, &path).await.unwrap();
		assert_eq!(std::fs::read(&path).unwrap(), [3; 10_000]);
	}
}
