//! Asks other peers, over iroh, and waits no longer for one than answers usually take: also after a restart.

use super::{
	models::root_of_parts,
	wire::{self, Answer, Question},
};
use std::{
	io,
	path::{Path, PathBuf},
	sync::{
		atomic::{AtomicBool, Ordering},
		Arc, Mutex, MutexGuard, PoisonError,
	},
	time::{Duration, Instant},
};
use tokio::time::timeout;
use tracing::warn;
use trainyard_proof::bundle::files::{self, FileError};
use trainyard_protocol::H256;
use trainyard_transport::{
	download, Deadlines, DownloadError, Index, Location, Node, OpenError, Pace, Source,
	SourceError, Wanted, MOST_TEXT,
};

/// How long answers are waited for: at first, at least, and at most.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
	/// For an answer to a question.
	pub answer: [Duration; 3],
	/// For a model or a slice.
	pub bring: [Duration; 3],
}

impl Default for Patience {
	fn default() -> Self {
		let times = |first, least, most| [first, least, most].map(Duration::from_millis);
		Self { answer: times(10_000, 2_000, 60_000), bring: times(300_000, 10_000, 3_600_000) }
	}
}

/// Why somebody did not answer as it should.
#[derive(Debug, thiserror::Error)]
pub enum ContactError {
	/// It cannot be reached.
	#[error("it cannot be reached: {0}")]
	Unreachable(#[from] OpenError),
	/// It says something that cannot be understood, or the connection broke off.
	#[error("it does not answer as a peer does: {0}")]
	Broken(#[from] io::Error),
	/// It took longer than others do.
	#[error("it did not answer within {0:.1?}")]
	Late(Duration),
	/// It does not give the model.
	#[error("it says no: {0}")]
	Refused(String),
	/// It answered another question.
	#[error("it answers another question than was asked")]
	Senseless,
	/// Nobody gave the file.
	#[error("nobody gave it: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
	Sources(Vec<SourceError>),
	/// A local file cannot be written.
	#[error("cannot write {path}: {why}")]
	Local {
		/// The file.
		path: String,
		/// What the system said.
		why: io::Error,
	},
}

/// How long one kind of answer is waited for.
struct Limit {
	of: Mutex<Deadlines>,
	/// Where what was seen is written down, if it is.
	file: Option<PathBuf>,
	/// Whether something was seen that is not written down.
	is_newer: AtomicBool,
}

impl Limit {
	fn new([first, least, most]: [Duration; 3], file: Option<PathBuf>) -> Arc<Self> {
		let mut of = Deadlines::new(first, least, most);
		if let Some(file) = file.as_ref().filter(|file| file.exists()) {
			let read = files::read(file, MOST_TEXT).map_err(|e| e.to_string());
			let read = read.and_then(|bytes| {
				let text = str::from_utf8(&bytes).map_err(|e| e.to_string())?;
				of.remember(text).map_err(|e| e.to_string())
			});
			if let Err(why) = read {
				warn!(
					"how long answers took before cannot be read from {}: {why}. They are waited for as at first, and \
					 the file is written again",
					file.display()
				);
			}
		}
		Arc::new(Self { of: Mutex::new(of), file, is_newer: AtomicBool::new(false) })
	}

	fn locked(&self) -> MutexGuard<'_, Deadlines> {
		self.of.lock().unwrap_or_else(PoisonError::into_inner)
	}

	fn limit(&self, missed: u32) -> Duration {
		self.locked().limit(missed)
	}

	fn seen(&self, begun: Instant) {
		self.locked().seen(begun.elapsed());
		self.is_newer.store(true, Ordering::Relaxed);
	}

	fn write(&self) -> Result<(), FileError> {
		let Some(file) = &self.file else { return Ok(()) };
		if self.is_newer.swap(false, Ordering::Relaxed) {
			let text = self.locked().text();
			files::write(file, text.as_bytes())?;
		}
		Ok(())
	}
}

/// Asks others. Clones share what is known of the times that answers take.
#[derive(Clone)]
pub struct Contact {
	node: Node,
	answers: Arc<Limit>,
	bringing: Arc<Limit>,
}

/// What a file must be.
#[derive(Clone, Copy, Debug)]
pub enum Expected {
	/// A model of this length with this root.
	Model {
		/// The root that was announced.
		root: H256,
		/// Its length in bytes.
		bytes: u64,
	},
	/// A file of this length, which is checked when it is here.
	File(u64),
}

impl Expected {
	fn is(&self, index: &Index) -> bool {
		let [part] = &index.parts[..] else { return false };
		let whole = index.head.is_empty();
		match *self {
			Self::Model { root, bytes } => {
				whole && part.bytes == bytes && root_of_parts(bytes, part.hash.as_bytes()) == root
			}
			Self::File(bytes) => whole && part.bytes == bytes,
		}
	}

	fn bytes(&self) -> u64 {
		match *self {
			Self::Model { bytes, .. } | Self::File(bytes) => bytes,
		}
	}
}

impl Contact {
	/// Asks from this endpoint. How long answers take it knows from files in `folder`, where one is named and they can
	/// be read.
	pub fn new(node: Node, patience: Patience, folder: Option<&Path>) -> Self {
		let limit = |times, name| Limit::new(times, folder.map(|folder| folder.join(name)));
		Self {
			node,
			answers: limit(patience.answer, "answers.times"),
			bringing: limit(patience.bring, "files.times"),
		}
	}

	/// Writes down how long answers took, where that is newer than what is in the folder.
	pub fn write_times(&self) -> Result<(), FileError> {
		self.answers.write()?;
		self.bringing.write()
	}

	/// Returns how long an answer to a question, and a file, is waited for from somebody who always came in time.
	pub fn limits(&self) -> [Duration; 2] {
		[&self.answers, &self.bringing].map(|of| of.limit(0))
	}

	/// Returns the endpoint.
	pub fn node(&self) -> &Node {
		&self.node
	}

	/// Asks somebody who did not answer in time so often in a row.
	pub async fn ask(
		&self,
		to: &Location,
		question: &Question,
		missed: u32,
	) -> Result<Answer, ContactError> {
		// A connection takes its time where it is a new one, and has a limit of its own.
		let mut stream = self.node.open(to).await?;
		let (begun, most) = (Instant::now(), self.answers.limit(missed));
		let Ok(answer) = timeout(most, wire::ask(&mut stream, question)).await else {
			// It may have begun again: the next question goes over another connection.
			self.node.forget(to.id).await;
			return Err(ContactError::Late(most));
		};
		let answer = answer?;
		self.answers.seen(begun);
		Ok(answer)
	}

	/// Brings a file from all of these at once into `part`; what came stays there where not all of it did, and
	/// the next call for the same file goes on with it. Returns for each source why it was given up, if it was.
	pub async fn bring(
		&self,
		expected: Expected,
		sources: &[Source],
		part: &Path,
		missed: u32,
	) -> Result<Vec<Option<SourceError>>, ContactError> {
		let (begun, most) = (Instant::now(), self.bringing.limit(missed));
		let accept = |index: &Index| expected.is(index);
		let silence = self.answers.limit(missed);
		let pace = Pace { silence, ..Pace::default() };
		let wanted = Wanted { part, sources, limit: expected.bytes(), accept: &accept, pace };
		let brought = timeout(most, download(&self.node, &wanted)).await;
		match brought.map_err(|_| ContactError::Late(most))? {
			Ok(fetched) => {
				self.bringing.seen(begun);
				Ok(fetched.given_up)
			}
			Err(DownloadError::Sources(errors)) => Err(ContactError::Sources(errors)),
			Err(DownloadError::Local { path, source }) => {
				Err(ContactError::Local { path: path.display().to_string(), why: source })
			}
		}
	}
}
