//! Brings the files of trials into the cache: they are blobs on the chain itself, so that everybody has
//! them or nobody does.

use crate::roles::store::Home;
use std::{
	io,
	path::{Path, PathBuf},
	sync::Arc,
};
use tokio::task::JoinError;
use trainyard_client::{
	blobs::{self, BlobError},
	Chain,
};
use trainyard_program::spec::{CheckedSpec, FileRef};
use trainyard_proof::hash;
use trainyard_protocol::{drill::TrialData, H256};

/// Says why a file of a trial is not here.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
	/// The project names no blob for it.
	#[error("the project names no blob for {0}")]
	Unnamed(&'static str),
	/// The blob with the file cannot be read.
	#[error("{field}: {source}")]
	Blob {
		/// The field of the specification that names the file.
		field: &'static str,
		/// Why.
		source: BlobError,
	},
	/// The blob is another file.
	#[error(
		"{field}: blob {root:?} is not the file of the specification: its blake2_256 is {found:?}"
	)]
	Other {
		/// The field of the specification that names the file.
		field: &'static str,
		/// The blob.
		root: H256,
		/// Hash of its bytes.
		found: H256,
	},
	/// The same, as it was found before.
	#[error("{0}")]
	Known(Arc<str>),
	/// The cache cannot be written or read.
	#[error("cannot keep {}: {source}", .path.display())]
	Local {
		/// The file.
		path: PathBuf,
		/// Why.
		source: io::Error,
	},
	/// The thread that read the file ended unexpectedly.
	#[error(transparent)]
	Ended(#[from] JoinError),
}

impl StoredError {
	/// Returns whether the data are not to be had, as far as the node can say: the blob is not there, not
	/// whole, another file, or its bytes are pruned here, which others may have. A node that does not answer,
	/// and a fault of this machine, say nothing about that.
	pub fn is_missing(&self) -> bool {
		match self {
			Self::Unnamed(_) | Self::Other { .. } | Self::Known(_) => true,
			Self::Blob { source, .. } => matches!(
				source,
				BlobError::Unknown { .. }
					| BlobError::Incomplete { .. }
					| BlobError::Pruned { .. }
					| BlobError::TooLarge { .. }
			),
			Self::Local { .. } | Self::Ended(_) => false,
		}
	}
}

/// Brings all files of a trial into the cache, and checks that each is what its specification says. `data`
/// are the blobs that its project names. It may be dropped at any time, and goes on where it was. No more
/// than one at a time brings the same file.
pub async fn bring(
	chain: &Chain,
	home: &Home,
	spec: &CheckedSpec,
	data: &TrialData,
) -> Result<(), StoredError> {
	for (at, (which, file)) in spec.files().enumerate() {
		let field = which.field();
		let root = *data.get(at).ok_or(StoredError::Unnamed(field))?;
		one(chain, home, field, &file, root).await?;
	}
	Ok(())
}

async fn one(
	chain: &Chain,
	home: &Home,
	field: &'static str,
	file: &FileRef,
	root: H256,
) -> Result<(), StoredError> {
	let path = home.data(&file.content_hash);
	let local = |source| StoredError::Local { path: path.clone(), source };
	if path.exists() && hash_of(&path).await?.map_err(local)? == file.content_hash {
		return Ok(());
	}
	if let Some(folder) = path.parent() {
		std::fs::create_dir_all(folder).map_err(local)?;
	}
	let part = path.with_extension(format!("{}.part", hex::encode(&root.as_bytes()[..8])));
	let blob = |source| StoredError::Blob { field, source };
	blobs::load_into(chain, root, file.bytes, &part).await.map_err(blob)?;
	let found = hash_of(&part).await?.map_err(local)?;
	if found != file.content_hash {
		std::fs::remove_file(&part).map_err(local)?;
		return Err(StoredError::Other { field, root, found });
	}
	std::fs::rename(&part, &path).map_err(local)
}

/// Returns the hash of the file at `path`.
async fn hash_of(path: &Path) -> Result<io::Result<H256>, JoinError> {
	let path = path.to_owned();
	tokio::task::spawn_blocking(move || hash::file(&path).map(|(hash, _)| hash)).await
}
