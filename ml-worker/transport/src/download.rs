//! Takes a file from several sources at once.
//!
//! The file is cut into units of up to 1 MiB. Each source has a few requests under way, and takes the next
//! unit that nobody has when one is done: so each brings as much as it can. When no unit is left that nobody
//! has, a source asks for one that another source is still at, so that the last ones do not wait for the
//! slowest.

use crate::{
	index::Index,
	location::Location,
	node::{Node, OpenError},
	pace::{Meter, Pace},
	protocol::{self, Request, Span, Status},
	record::{path_of, Unfinished},
	units,
};
use bao_tree::io::{
	fsm::{BaoContentItem, ResponseDecoder, ResponseDecoderNext},
	DecodeError,
};
use futures::future::join_all;
use iroh_io::TokioStreamReader;
use std::{
	collections::VecDeque,
	io,
	path::{Path, PathBuf},
	sync::{
		atomic::{AtomicU64, AtomicUsize, Ordering},
		Arc, Mutex, MutexGuard, PoisonError,
	},
	time::Duration,
};
use tokio::{
	io::{AsyncReadExt, AsyncWriteExt},
	sync::{watch, OnceCell},
	time::timeout,
};
use tracing::debug;

/// Requests that one source has under way at once.
const LANES: usize = 4;
/// Sources that are asked at once; more wait until one of them is given up.
const MOST_SOURCES: usize = 8;
/// How often a source is asked again after its connection broke off without a whole unit in between.
const TRIES: u32 = 3;
/// Pause before it is, doubled each time.
const PAUSE: Duration = Duration::from_millis(250);
/// How often the rate of a source is looked at.
const LOOK: Duration = Duration::from_millis(500);
/// Longest wait for an index beside the silence that a source may keep: a file is hashed for it, a second or
/// two for each GiB.
const INDEX_PATIENCE: Duration = Duration::from_secs(120);

/// Who may have a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
	/// Where it is.
	pub location: Location,
	/// Under what path it has the file.
	pub path: String,
}

/// The file that is wanted.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
	/// Where it is brought to, unfinished and then whole. A record of what is whole lies beside it; when the
	/// file is whole, it is gone.
	pub part: &'a Path,
	/// Who may have it.
	pub sources: &'a [Source],
	/// Most bytes that it may have.
	pub limit: u64,
	/// Returns whether an index is that of the file.
	pub accept: &'a (dyn Fn(&Index) -> bool + Sync),
	/// How slow a source may be.
	pub pace: Pace,
}

/// Says why a source was given up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
	/// It could not be reached.
	#[error("{0}")]
	Unreachable(#[from] OpenError),
	/// It does not have the file, or does not give it.
	#[error("{0}")]
	Refused(String),
	/// It has another file.
	#[error("it has another file there than was asked for")]
	OtherFile,
	/// It sent bytes that are not those of the file.
	#[error("it sends wrong bytes: part {part}, from byte {from} on")]
	WrongBytes {
		/// Number of the part.
		part: u32,
		/// Where in the part the group begins that was wrong.
		from: u64,
	},
	/// It sent less than it must at least.
	#[error("it is too slow")]
	Slow,
	/// Nothing came from it.
	#[error("nothing comes from it")]
	Silent,
	/// The connection broke off.
	#[error("the connection broke off: {0}")]
	Broken(String),
}

impl SourceError {
	/// Returns whether it may be otherwise soon.
	pub fn may_pass(&self) -> bool {
		!matches!(self, Self::Refused(_) | Self::OtherFile | Self::WrongBytes { .. })
	}
}

/// Says why a file is not here.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
	/// No source gave all of it. What came is kept.
	#[error("{}", list(.0))]
	Sources(Vec<SourceError>),
	/// A local file could not be read or written.
	#[error("cannot read or write {}: {source}", path.display())]
	Local {
		/// The file.
		path: PathBuf,
		/// What the system said.
		source: io::Error,
	},
}

fn list(errors: &[SourceError]) -> String {
	let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
	match texts.is_empty() {
		true => "nobody has it".into(),
		false => texts.join("; "),
	}
}

/// What a download came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
	/// Bytes that were here already.
	pub resumed: u64,
	/// Bytes that each source brought, and that were of use.
	pub brought: Vec<u64>,
	/// Why each source was given up, if it was.
	pub given_up: Vec<Option<SourceError>>,
}

/// A download whose index is known.
struct Download {
	index: Index,
	name: [u8; 32],
	begins: Vec<u64>,
	units: Vec<Vec<Span>>,
	state: Mutex<State>,
	/// Grows with each unit that is whole or given back.
	changed: watch::Sender<u64>,
	resumed: u64,
}

struct State {
	file: Unfinished,
	/// Units that nobody has.
	waiting: VecDeque<u32>,
	/// Units under way, and who is at them.
	running: Vec<(u32, usize)>,
	whole: Vec<bool>,
	/// Units that are not whole.
	left: usize,
	/// Bytes that each source brought, and that were of use.
	brought: Vec<u64>,
	/// Why nothing more can be written.
	broken: Option<io::Error>,
}

/// What a lane does next.
enum Next {
	Unit(u32),
	Wait,
	End,
}

impl Download {
	fn open(part: &Path, index: Index, sources: usize) -> io::Result<Self> {
		let units = units::units(&index);
		let count = u32::try_from(units.len()).map_err(io::Error::other)?;
		let (file, had) = Unfinished::open(part, &index, count)?;
		let whole: Vec<bool> = (0..count).map(|unit| had.contains(&unit)).collect();
		let waiting: VecDeque<u32> = (0..count).filter(|unit| !had.contains(unit)).collect();
		let bytes = |unit: &u32| units.get(*unit as usize).map_or(0, |spans| bytes_of(spans));
		let resumed = had.iter().map(bytes).sum();
		let left = waiting.len();
		let brought = vec![0; sources];
		let state =
			State { file, waiting, running: Vec::new(), whole, left, brought, broken: None };
		let (begins, name) = (index.begins(), index.name());
		let (state, changed) = (Mutex::new(state), watch::Sender::new(0));
		Ok(Self { index, name, begins, units, state, changed, resumed })
	}

	fn locked(&self) -> MutexGuard<'_, State> {
		self.state.lock().unwrap_or_else(PoisonError::into_inner)
	}

	fn next(&self, source: usize) -> Next {
		let mut state = self.locked();
		if state.left == 0 || state.broken.is_some() {
			return Next::End;
		}
		let alone =
			|unit: u32| state.running.iter().filter(|(other, _)| *other == unit).count() == 1;
		let of_others = || {
			let mut others = state.running.iter().filter(|(_, at)| *at != source);
			// Who has just written one has not left it yet.
			let is_whole = |unit: u32| state.whole.get(unit as usize).copied().unwrap_or(true);
			others.find(|(unit, _)| alone(*unit) && !is_whole(*unit)).map(|(unit, _)| *unit)
		};
		match state.waiting.front().copied().or_else(of_others) {
			Some(unit) => {
				if state.waiting.front() == Some(&unit) {
					state.waiting.pop_front();
				}
				state.running.push((unit, source));
				Next::Unit(unit)
			}
			None => Next::Wait,
		}
	}

	/// Ends the work of a source at a unit. Whatever came of it, others see it.
	fn leave(&self, unit: u32, source: usize) {
		let mut state = self.locked();
		if let Some(at) = state.running.iter().position(|running| *running == (unit, source)) {
			state.running.swap_remove(at);
		}
		let is_whole = state.whole.get(unit as usize).copied().unwrap_or(true);
		let others = state.running.iter().any(|(running, _)| *running == unit);
		if !is_whole && !others && !state.waiting.contains(&unit) {
			state.waiting.push_front(unit);
		}
		drop(state);
		self.changed.send_modify(|n| *n = n.wrapping_add(1));
	}

	/// Writes a unit that a source brought, unless it is there already.
	fn write(&self, unit: u32, source: usize, pieces: &[(u64, Vec<u8>)]) {
		let mut state = self.locked();
		let is_whole = state.whole.get(unit as usize).copied().unwrap_or(true);
		if is_whole || state.broken.is_some() {
			return;
		}
		if let Err(e) = state.file.write(unit, pieces) {
			state.broken = Some(e);
			return;
		}
		if let Some(whole) = state.whole.get_mut(unit as usize) {
			*whole = true;
		}
		state.left -= 1;
		let bytes: u64 = pieces.iter().map(|(_, bytes)| bytes.len() as u64).sum();
		if let Some(brought) = state.brought.get_mut(source) {
			*brought = brought.saturating_add(bytes);
		}
	}

	/// Returns whether somebody else brought the unit meanwhile.
	fn is_whole(&self, unit: u32) -> bool {
		self.locked().whole.get(unit as usize).copied().unwrap_or(true)
	}

	fn is_over(&self) -> bool {
		let state = self.locked();
		state.left == 0 || state.broken.is_some()
	}
}

fn bytes_of(spans: &[Span]) -> u64 {
	spans.iter().map(|span| span.bytes).sum()
}

/// Gives a unit back when it is dropped, whatever happened.
struct Running<'a> {
	download: &'a Download,
	unit: u32,
	source: usize,
}

impl Drop for Running<'_> {
	fn drop(&mut self) {
		self.download.leave(self.unit, self.source);
	}
}

/// What is measured of one source.
#[derive(Default)]
struct Measured {
	/// Bytes that came and were right.
	came: AtomicU64,
	/// Requests under way.
	busy: AtomicUsize,
}

/// Brings a file. A source that cannot be reached, is too slow or sends something else is given up, and the
/// others go on; where none is left, what came is kept for the next time.
pub async fn download(node: &Node, wanted: &Wanted<'_>) -> Result<Fetched, DownloadError> {
	let measured: Vec<Measured> = wanted.sources.iter().map(|_| Measured::default()).collect();
	let download = OnceCell::new();
	let over = watch::Sender::new(false);
	let places = tokio::sync::Semaphore::new(MOST_SOURCES);
	let tasks =
		wanted.sources.iter().zip(&measured).enumerate().map(|(number, (source, measured))| {
			let asking =
				Asking { node, wanted, source, number, measured, download: &download, over: &over };
			let mut ended = over.subscribe();
			let places = &places;
			async move {
				let work = async {
					let _place = places.acquire().await;
					asking.run().await
				};
				// Those who wait for a connection end when others brought all of it.
				tokio::select! {
					result = work => result.err(),
					_ = ended.wait_for(|over| *over) => None,
				}
			}
		});
	let results = join_all(tasks).await;
	let mut given_up = Vec::new();
	for result in results {
		match result {
			Some(Failed::Local(source)) => {
				return Err(DownloadError::Local { path: wanted.part.to_owned(), source });
			}
			Some(Failed::Source(e)) => given_up.push(Some(e)),
			None => given_up.push(None),
		}
	}
	let local = |source| DownloadError::Local { path: wanted.part.to_owned(), source };
	let Some(download) = download.get() else {
		return Err(DownloadError::Sources(given_up.into_iter().flatten().collect()));
	};
	let download: &Arc<Download> = download;
	if let Some(e) = download.locked().broken.take() {
		return Err(local(e));
	}
	if download.locked().left > 0 {
		return Err(DownloadError::Sources(given_up.into_iter().flatten().collect()));
	}
	let syncing = download.clone();
	let synced = tokio::task::spawn_blocking(move || syncing.locked().file.sync()).await;
	synced.map_err(io::Error::other).and_then(|synced| synced).map_err(local)?;
	match tokio::fs::remove_file(path_of(wanted.part)).await {
		Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(local(e)),
		_ => {}
	}
	let brought = download.locked().brought.clone();
	Ok(Fetched { resumed: download.resumed, brought, given_up })
}

/// Why the work of a source ended early.
enum Failed {
	Source(SourceError),
	Local(io::Error),
}

impl<E: Into<SourceError>> From<E> for Failed {
	fn from(e: E) -> Self {
		Self::Source(e.into())
	}
}

/// Asks one source.
struct Asking<'a> {
	node: &'a Node,
	wanted: &'a Wanted<'a>,
	source: &'a Source,
	number: usize,
	measured: &'a Measured,
	download: &'a OnceCell<Arc<Download>>,
	over: &'a watch::Sender<bool>,
}

impl Asking<'_> {
	async fn run(&self) -> Result<(), Failed> {
		let (mut tries, mut before) = (0, 0);
		loop {
			let failed = match self.once().await {
				Ok(()) => return Ok(()),
				Err(Failed::Source(e)) => e,
				Err(local) => return Err(local),
			};
			// What came and makes no unit whole is no progress: one that breaks off in each would be asked
			// for ever.
			let brought = self.brought();
			tries = if brought > before { 1 } else { tries + 1 };
			before = brought;
			let again = matches!(failed, SourceError::Broken(_));
			if !again || tries >= TRIES {
				debug!("{} is given up: {failed}", self.source.location);
				return Err(failed.into());
			}
			debug!("{}: {failed}; trying again", self.source.location);
			tokio::time::sleep(PAUSE * 2u32.pow(tries - 1)).await;
		}
	}

	/// Returns the bytes of whole units that it brought.
	fn brought(&self) -> u64 {
		let of = |download: &Arc<Download>| download.locked().brought.get(self.number).copied();
		self.download.get().and_then(of).unwrap_or(0)
	}

	async fn once(&self) -> Result<(), Failed> {
		let download = match self.download.get() {
			// Whether it has the same file is seen by the first bytes.
			Some(download) if self.brought() > 0 => download,
			_ => {
				let index = self.index().await?;
				if !(self.wanted.accept)(&index) {
					return Err(SourceError::OtherFile.into());
				}
				let name = index.name();
				let part = self.wanted.part.to_owned();
				let sources = self.wanted.sources.len();
				let opened = self.download.get_or_try_init(|| async {
					let opening =
						tokio::task::spawn_blocking(move || Download::open(&part, index, sources));
					opening.await.map_err(io::Error::other)?.map(Arc::new)
				});
				let download = opened.await.map_err(Failed::Local)?;
				if download.name != name {
					return Err(SourceError::OtherFile.into());
				}
				download
			}
		};
		let lanes = futures::future::try_join_all((0..LANES).map(|_| self.lane(download)));
		tokio::select! {
			done = lanes => done.map(drop)?,
			slow = self.watch() => return Err(slow.into()),
		}
		self.over.send_replace(true);
		Ok(())
	}

	/// Returns when the source was too slow for a time.
	async fn watch(&self) -> SourceError {
		let (mut meter, mut before) = (Meter::new(self.wanted.pace), 0);
		loop {
			let begun = tokio::time::Instant::now();
			tokio::time::sleep(LOOK).await;
			let came = self.measured.came.load(Ordering::Relaxed);
			meter.came(came - before);
			before = came;
			let busy = self.measured.busy.load(Ordering::Relaxed) > 0;
			if busy && meter.is_too_slow(begun.elapsed()) {
				return SourceError::Slow;
			}
		}
	}

	/// Sends a request, and returns the stream of its answer after the status.
	async fn ask(
		&self,
		request: &Request,
		patience: Duration,
	) -> Result<crate::Stream, SourceError> {
		let bytes = request.encode().map_err(|e| SourceError::Refused(e.to_string()))?;
		let mut stream = self.node.open_for(&self.source.location, &bytes).await?;
		stream.flush().await.map_err(broken)?;
		stream.finish().await.map_err(broken)?;
		let status = timeout(patience, stream.read_u8()).await.map_err(|_| SourceError::Silent)?;
		match Status::of(status.map_err(broken)?) {
			Some(Status::Here) => Ok(stream),
			Some(status) => Err(SourceError::Refused(status.to_string())),
			None => Err(SourceError::Refused("it answers with something that there is not".into())),
		}
	}

	async fn index(&self) -> Result<Index, SourceError> {
		let request = Request::Index { path: self.source.path.clone() };
		let mut stream = self.ask(&request, INDEX_PATIENCE).await?;
		let reading = protocol::read_index(&mut stream, self.wanted.limit);
		let index = timeout(self.wanted.pace.silence, reading).await;
		index.map_err(|_| SourceError::Silent)?.map_err(|e| match e.kind() {
			io::ErrorKind::InvalidData => SourceError::Refused(e.to_string()),
			_ => broken(e),
		})
	}

	/// Takes one unit after the other until there is none.
	async fn lane(&self, download: &Arc<Download>) -> Result<(), Failed> {
		let mut changes = download.changed.subscribe();
		loop {
			changes.borrow_and_update();
			let unit = match download.next(self.number) {
				Next::Unit(unit) => unit,
				Next::End => return Ok(()),
				Next::Wait => {
					// The sender is in the download.
					let _ = changes.changed().await;
					continue;
				}
			};
			let running = Running { download, unit, source: self.number };
			self.measured.busy.fetch_add(1, Ordering::Relaxed);
			let result = tokio::select! {
				result = self.unit(download, unit) => result,
				() = brought_by_another(download, unit) => Ok(()),
			};
			self.measured.busy.fetch_sub(1, Ordering::Relaxed);
			drop(running);
			result?;
		}
	}

	/// Brings one unit.
	async fn unit(&self, download: &Arc<Download>, unit: u32) -> Result<(), Failed> {
		let spans = download.units.get(unit as usize).map_or(&[][..], |spans| spans);
		let request = Request::Spans { path: self.source.path.clone(), spans: spans.to_vec() };
		let mut stream = self.ask(&request, self.wanted.pace.silence).await?;
		let mut pieces = Vec::with_capacity(spans.len());
		for span in spans {
			let of_part = download.index.parts.get(span.part as usize);
			let begin = download.begins.get(span.part as usize).copied();
			let Some((about, begin)) = of_part.zip(begin) else { continue };
			let tree = protocol::tree(about.bytes);
			let reader = TokioStreamReader(stream);
			let mut decoder = ResponseDecoder::new(about.hash, span.chunks(), tree, reader);
			let mut bytes = Vec::with_capacity(usize::try_from(span.bytes).unwrap_or_default());
			loop {
				let next = timeout(self.wanted.pace.silence, decoder.next()).await;
				let (rest, item) = match next.map_err(|_| SourceError::Silent)? {
					ResponseDecoderNext::More(more) => more,
					ResponseDecoderNext::Done(reader) => {
						stream = reader.0;
						break;
					}
				};
				decoder = rest;
				let at = span.from.saturating_add(bytes.len() as u64);
				let wrong = SourceError::WrongBytes { part: span.part, from: at };
				match item {
					Ok(BaoContentItem::Parent(_)) => {}
					Ok(BaoContentItem::Leaf(leaf)) if leaf.offset == at => {
						self.measured.came.fetch_add(leaf.data.len() as u64, Ordering::Relaxed);
						bytes.extend_from_slice(&leaf.data);
					}
					Ok(BaoContentItem::Leaf(_)) => return Err(wrong.into()),
					Err(DecodeError::ParentHashMismatch(_) | DecodeError::LeafHashMismatch(_)) => {
						return Err(wrong.into());
					}
					Err(e) => return Err(SourceError::Broken(e.to_string()).into()),
				}
			}
			if bytes.len() as u64 != span.bytes {
				return Err(SourceError::Broken("it ended early".into()).into());
			}
			pieces.push((begin.saturating_add(span.from), bytes));
		}
		let (writing, source) = (download.clone(), self.number);
		let written = tokio::task::spawn_blocking(move || writing.write(unit, source, &pieces));
		written.await.map_err(|e| Failed::Local(io::Error::other(e)))
	}
}

/// Returns when a unit is whole, or nothing more can be written.
async fn brought_by_another(download: &Download, unit: u32) {
	let mut changes = download.changed.subscribe();
	while !download.is_whole(unit) && !download.is_over() {
		let _ = changes.changed().await;
	}
}

fn broken(e: io::Error) -> SourceError {
	SourceError::Broken(e.to_string())
}
