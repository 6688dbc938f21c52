//! Serves what is on a shelf.
//!
//! A file is read once to hash its parts, and the hashes of its groups are kept in memory, 64 bytes for each
//! 16 KiB, for the files that were asked for last. What is sent is checked against them first: a file that
//! changed since is hashed again, and no wrong byte leaves with a proof.

use crate::{
	index::{Index, PartHash, MOST_HEAD, MOST_PARTS},
	protocol::{self, Request, Span, Status},
};
use bao_tree::io::{
	outboard::PreOrderMemOutboard,
	sync::{encode_ranges_validated, outboard, ReadAt},
};
use std::{
	collections::VecDeque,
	fs::{File, Metadata},
	io::{self, ErrorKind},
	path::{Path, PathBuf},
	sync::{Arc, Mutex, PoisonError},
	time::SystemTime,
};
use tokio::sync::{OnceCell, Semaphore};
use tracing::{debug, warn};

/// Most bytes of hashes that are kept: those of 16 GiB of files.
const MOST_KEPT: u64 = 64 << 20;
/// Files that are hashed at once.
const HASHED_AT_ONCE: usize = 2;
/// Answers that are made at once; each takes the memory of a unit.
const ANSWERED_AT_ONCE: usize = 32;

/// How a file is cut: a head, and parts without gaps up to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
	/// Bytes of the head.
	pub head: u64,
	/// Bytes of each part.
	pub parts: Vec<u64>,
}

/// What is served. Nothing else is.
pub trait Shelf: Send + Sync + 'static {
	/// Returns the file that a path names; `None` for everything that is not served, or is not there.
	fn find(&self, path: &str) -> Option<PathBuf>;

	/// Returns how this file, which has so many `bytes`, is cut. It may read the file.
	fn layout(&self, path: &str, file: &File, bytes: u64) -> io::Result<Layout>;
}

/// By what a file is known to be the same.
type Identity = (PathBuf, u64, Option<SystemTime>);

/// A file whose parts were hashed.
struct Hashed {
	identity: Identity,
	index: Index,
	parts: Vec<(u64, PreOrderMemOutboard)>,
	/// Bytes that it takes here.
	weight: u64,
}

/// A file that is hashed, or will be.
type Cell = Arc<OnceCell<Arc<Hashed>>>;

/// Serves a shelf. Clones share it.
#[derive(Clone)]
pub(crate) struct Provider {
	shelf: Arc<dyn Shelf>,
	/// The files, last asked for first.
	kept: Arc<Mutex<VecDeque<(Identity, Cell)>>>,
	hashing: Arc<Semaphore>,
	answering: Arc<Semaphore>,
}

/// A file from some byte on.
struct From<'a>(&'a File, u64);

impl ReadAt for From<'_> {
	fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
		self.0.read_at(self.1.saturating_add(at), buffer)
	}
}

/// A file from some byte on, read from there to its end.
struct Reading<'a> {
	file: &'a File,
	at: u64,
}

impl io::Read for Reading<'_> {
	fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
		let n = self.file.read_at(self.at, buffer)?;
		self.at = self.at.saturating_add(n as u64);
		Ok(n)
	}
}

fn invalid(what: &str) -> io::Error {
	io::Error::new(ErrorKind::InvalidData, what)
}

fn identity(path: &Path, about: &Metadata) -> Identity {
	(path.to_owned(), about.len(), about.modified().ok())
}

/// Opens a file, and says which it is.
fn open(path: &Path) -> io::Result<(File, Identity)> {
	let file = File::open(path)?;
	let about = file.metadata()?;
	if !about.is_file() {
		return Err(ErrorKind::NotFound.into());
	}
	let identity = identity(path, &about);
	Ok((file, identity))
}

/// Reads a file, and hashes its parts.
fn hash(shelf: &dyn Shelf, name: &str, file: &File, identity: Identity) -> io::Result<Hashed> {
	let bytes = identity.1;
	let layout = shelf.layout(name, file, bytes)?;
	let sum = layout.parts.iter().try_fold(layout.head, |sum, part| sum.checked_add(*part));
	if sum != Some(bytes) || layout.head > MOST_HEAD as u64 || layout.parts.len() > MOST_PARTS {
		return Err(invalid("its parts are not the whole of it"));
	}
	let mut head = vec![0; usize::try_from(layout.head).map_err(io::Error::other)?];
	file.read_exact_at(0, &mut head)?;
	let (mut at, mut parts, mut weight) = (layout.head, Vec::new(), layout.head);
	for length in layout.parts {
		let tree = protocol::tree(length);
		let size = usize::try_from(tree.outboard_size()).map_err(io::Error::other)?;
		let mut hashes = PreOrderMemOutboard { root: [0; 32].into(), tree, data: vec![0; size] };
		hashes.root = outboard(Reading { file, at }, tree, &mut hashes)?;
		weight = weight.saturating_add(size as u64 + 128);
		parts.push((at, hashes));
		at = at.saturating_add(length);
	}
	let about = |(_, hashes): &(u64, PreOrderMemOutboard)| PartHash {
		bytes: hashes.tree.size(),
		hash: hashes.root,
	};
	let index = Index { head, parts: parts.iter().map(about).collect() };
	Ok(Hashed { identity, index, parts, weight })
}

impl Provider {
	pub(crate) fn new(shelf: Arc<dyn Shelf>) -> Self {
		Self {
			shelf,
			kept: Arc::default(),
			hashing: Arc::new(Semaphore::new(HASHED_AT_ONCE)),
			answering: Arc::new(Semaphore::new(ANSWERED_AT_ONCE)),
		}
	}

	/// Returns the answer to a request, its status first.
	pub(crate) async fn answer(&self, request: Request) -> Vec<u8> {
		let (path, spans) = match request {
			Request::Index { path } => (path, None),
			Request::Spans { path, spans } => (path, Some(spans)),
		};
		let Some(file) = self.shelf.find(&path) else { return vec![Status::NotHere.byte()] };
		match self.read(&path, &file, spans).await {
			Ok(answer) => answer,
			Err(e) if e.kind() == ErrorKind::NotFound => vec![Status::NotHere.byte()],
			Err(e) if e.kind() == ErrorKind::InvalidInput => vec![Status::Senseless.byte()],
			Err(e) => {
				warn!("cannot serve {}: {e}", file.display());
				vec![Status::Failed.byte()]
			}
		}
	}

	async fn read(&self, name: &str, path: &Path, spans: Option<Vec<Span>>) -> io::Result<Vec<u8>> {
		let hashed = self.hashed(name, path).await?;
		let Some(spans) = spans else {
			let mut answer = vec![Status::Here.byte()];
			answer.extend(protocol::encode_index(&hashed.index));
			return Ok(answer);
		};
		// Nobody closes it.
		let turn = self.answering.clone().acquire_owned().await.map_err(io::Error::other)?;
		let made = tokio::task::spawn_blocking(move || {
			let _turn = turn;
			let made = encode(&hashed, &spans);
			(made, hashed)
		});
		match made.await.map_err(io::Error::other)? {
			(Ok(answer), _) => Ok(answer),
			(Err(e), hashed) => {
				self.forget(&hashed.identity);
				Err(e)
			}
		}
	}

	/// Returns the hashes of a file, and hashes it if they are not kept. Who asks for the same meanwhile
	/// waits for that.
	async fn hashed(&self, name: &str, path: &Path) -> io::Result<Arc<Hashed>> {
		let owned = path.to_owned();
		let opened = tokio::task::spawn_blocking(move || open(&owned));
		let (file, identity) = opened.await.map_err(io::Error::other)??;
		let cell = self.cell(&identity);
		let hashed = cell.get_or_try_init(|| async {
			let turn = self.hashing.clone().acquire_owned().await.map_err(io::Error::other)?;
			let (shelf, name, identity) = (self.shelf.clone(), name.to_owned(), identity.clone());
			debug!("hashing {}", path.display());
			let hashing = move || {
				let _turn = turn;
				hash(&*shelf, &name, &file, identity)
			};
			tokio::task::spawn_blocking(hashing).await.map_err(io::Error::other)?.map(Arc::new)
		});
		let hashed = hashed.await?.clone();
		self.make_room();
		Ok(hashed)
	}

	fn locked(&self) -> std::sync::MutexGuard<'_, VecDeque<(Identity, Cell)>> {
		self.kept.lock().unwrap_or_else(PoisonError::into_inner)
	}

	/// Returns where the hashes of a file are, or will be.
	fn cell(&self, identity: &Identity) -> Cell {
		let mut kept = self.locked();
		let at = kept.iter().position(|(known, _)| known == identity);
		let cell = match at.and_then(|at| kept.remove(at)) {
			Some((_, cell)) => cell,
			None => Cell::default(),
		};
		// What a file was before is of no use.
		kept.retain(|((path, ..), _)| *path != identity.0);
		kept.push_front((identity.clone(), cell.clone()));
		cell
	}

	/// Forgets the hashes of files that were not asked for lately, where they are too many.
	fn make_room(&self) {
		let mut sum = 0u64;
		let mut kept = self.locked();
		let mut first = true;
		kept.retain(|(_, cell)| {
			let Some(hashed) = cell.get() else { return true };
			sum = sum.saturating_add(hashed.weight);
			// The last one is being served, whatever it takes.
			std::mem::take(&mut first) || sum <= MOST_KEPT
		});
	}

	fn forget(&self, identity: &Identity) {
		self.locked().retain(|(known, _)| known != identity);
	}
}

/// Returns these spans of a file with their proofs. Fails where the file is another one by now.
fn encode(hashed: &Hashed, spans: &[Span]) -> io::Result<Vec<u8>> {
	let sum: u64 = spans.iter().map(|span| span.bytes).sum();
	let (file, now) = open(&hashed.identity.0)?;
	if now != hashed.identity {
		return Err(invalid("it changed while it was served"));
	}
	let senseless = || io::Error::from(ErrorKind::InvalidInput);
	// A pair of hashes for each level above the groups, of which there are few beside their bytes.
	let mut answer =
		Vec::with_capacity(usize::try_from(sum).unwrap_or_default() / 100 * 102 + 4096);
	answer.push(Status::Here.byte());
	for span in spans {
		let part = usize::try_from(span.part).map_err(io::Error::other)?;
		let (begin, hashes) = hashed.parts.get(part).ok_or_else(senseless)?;
		if !span.fits(hashes.tree.size()) {
			return Err(senseless());
		}
		encode_ranges_validated(From(&file, *begin), hashes, &span.chunks(), &mut answer)
			.map_err(|e| invalid(&format!("it changed while it was served: {e}")))?;
	}
	Ok(answer)
}
