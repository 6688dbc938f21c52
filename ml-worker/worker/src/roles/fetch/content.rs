//! What is known beforehand of a file that is fetched: how long it may be, and by what it is
//! recognised.

use super::{iroh::remove_part, FetchError};
use std::{
	cmp::Reverse,
	io,
	path::{Path, PathBuf},
};
use trainyard_program::spec::FileRef;
use trainyard_proof::{bundle, hash};
use trainyard_protocol::H256;

/// The ending of the name of an unfinished file.
const PART: &str = ".part";

/// Returns the unfinished files whose paths begin with `stem`, longest first, and their lengths.
fn parts(stem: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
	let (Some(folder), Some(name)) = (stem.parent(), stem.file_name()) else {
		return Ok(Vec::new());
	};
	let start = format!("{}.", name.to_string_lossy());
	let entries = match std::fs::read_dir(folder) {
		Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
		entries => entries?,
	};
	let mut found = Vec::new();
	for entry in entries {
		let entry = entry?;
		let name = entry.file_name().to_string_lossy().into_owned();
		if name.starts_with(&start) && name.ends_with(PART) {
			found.push((entry.metadata().map_or(0, |about| about.len()), entry.path()));
		}
	}
	found.sort_by_key(|(length, _)| Reverse(*length));
	Ok(found)
}

/// Removes the unfinished files whose paths begin with `stem`, except the `most` longest.
pub fn drop_parts(stem: &Path, most: usize) -> io::Result<()> {
	for (_, part) in parts(stem)?.into_iter().skip(most) {
		remove_part(&part)?;
	}
	Ok(())
}

/// What is known of a file before it is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
	/// Its bytes.
	File {
		/// Their `blake2_256`.
		hash: H256,
		/// Their number.
		bytes: u64,
	},
	/// A blob of the chain.
	Blob {
		/// Its root.
		root: H256,
		/// Its length.
		bytes: u64,
	},
	/// A checkpoint with this state.
	State {
		/// The hash of the state.
		hash: H256,
		/// Most bytes of the file.
		limit: u64,
	},
	/// Nothing: whoever asks for it checks it.
	Any {
		/// Most bytes of the file.
		limit: u64,
	},
}

impl Content {
	/// Returns what a specification says of a file.
	pub fn of(file: &FileRef) -> Self {
		match file.is_on_chain() {
			true => Self::Blob { root: file.content_hash, bytes: file.bytes },
			false => Self::File { hash: file.content_hash, bytes: file.bytes },
		}
	}

	/// Returns the most bytes that are taken.
	pub(super) fn limit(&self) -> u64 {
		match *self {
			Self::File { bytes, .. } | Self::Blob { bytes, .. } => bytes,
			Self::State { limit, .. } | Self::Any { limit } => limit,
		}
	}

	/// Returns the number of bytes, where it is known.
	pub(super) fn length(&self) -> Option<u64> {
		match *self {
			Self::File { bytes, .. } | Self::Blob { bytes, .. } => Some(bytes),
			Self::State { .. } | Self::Any { .. } => None,
		}
	}

	/// Returns whether the file can be recognised. If not, nothing shows whether the part of it that
	/// is here is of the same file.
	pub(super) fn is_known(&self) -> bool {
		!matches!(self, Self::Any { .. })
	}

	/// Returns the beginning of the paths of all parts of the file. A file of data is named by its
	/// hash already; a checkpoint is named by its step, which different states have.
	pub(super) fn stem(&self, path: &Path) -> PathBuf {
		let mut stem = path.as_os_str().to_owned();
		if let Self::State { hash, .. } = self {
			stem.push(format!(".{}", hex::encode(hash)));
		}
		PathBuf::from(stem)
	}

	/// Returns where the part of the file that came from `url` is kept until it is whole. No other
	/// location adds to it, so that none can spoil it.
	pub(crate) fn part(&self, path: &Path, url: &str) -> PathBuf {
		let mut part = self.stem(path).into_os_string();
		let from = hash::blake2_256(url.as_bytes());
		part.push(format!(".{}{PART}", hex::encode(&from.as_bytes()[..8])));
		PathBuf::from(part)
	}

	/// Checks that the file at `path`, which came from `url`, is what was wanted.
	pub(super) async fn check(&self, url: &str, path: &Path) -> Result<(), FetchError> {
		let (owned, content) = (path.to_owned(), *self);
		let found = tokio::task::spawn_blocking(move || match content {
			Self::File { .. } => hash::file(&owned).map(|(hash, _)| Some(hash)),
			Self::Blob { .. } => hash::blob_root(&owned).map(Some),
			Self::State { .. } => std::fs::read(&owned).map(|bytes| bundle::hash_of_state(&bytes)),
			Self::Any { .. } => Ok(None),
		});
		let failed = |source| FetchError::Local { path: path.to_owned(), source };
		let found = found.await.map_err(std::io::Error::other).and_then(|found| found);
		let found = found.map_err(failed)?;
		match (*self, found) {
			(Self::File { hash, .. } | Self::Blob { root: hash, .. }, Some(found))
				if found != hash =>
			{
				Err(FetchError::WrongHash { url: url.into(), expected: hash, found })
			}
			(Self::State { hash, .. }, found) if found != Some(hash) => {
				Err(FetchError::WrongState { url: url.into(), expected: hash, found })
			}
			_ => Ok(()),
		}
	}
}
