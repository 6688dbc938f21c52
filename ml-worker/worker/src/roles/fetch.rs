//! Downloads what a location serves, checks it, and resumes where a transfer broke off.
//!
//! Strangers name the locations. So private addresses are refused ([`Locations`]), a server that
//! announces another length than declared is not listened to ([`Content`]), and one that is slower
//! than a least rate is given up ([`Pace`]).

mod answer;
#[cfg(feature = "object-stores")]
mod archive;
mod content;
mod error;
mod get;
mod iroh;
mod locations;
mod pace;
mod sign;
mod stores;

#[cfg(feature = "object-stores")]
pub use archive::{ArchiveError, Archived};
pub use content::{drop_parts, Content};
pub use error::{FetchError, SetupError};
pub use iroh::Over;
pub use locations::{server, LocationArgs, LocationError, Locations};
pub use pace::Pace;
pub use stores::{Credentials, NotAPlace, Own as OwnPlace, Place, StoreArgs, Stores, MAY_MOVE};

use super::http::state_of;
use answer::Answer;
use error::reason;
use iroh::{is_iroh, Own};
use pace::Meter;
use reqwest::{header, redirect::Policy, StatusCode};
use std::{
	collections::HashMap,
	path::{Path, PathBuf},
	sync::{Arc, Mutex, Weak},
	time::{Duration, Instant},
};
use tokio::{
	fs::{self, File, OpenOptions},
	io::AsyncWriteExt,
};
use tracing::debug;
use trainyard_client::{
	blobs::{self, BlobError},
	seat, Chain,
};
use trainyard_program::spec::ON_CHAIN;
use trainyard_protocol::H256;

/// Signs a request for the state after so many steps of the result that is served by a root.
type SignState = dyn Fn(H256, u32) -> String + Send + Sync;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest silence during a transfer.
const READ_TIMEOUT: Duration = Duration::from_secs(20);
/// Parts of one file, by different locations, that stay when a transfer of it begins. The longest
/// ones do: what came from one location goes only where that many others brought more.
const MOST_PARTS: usize = 3;

/// The file that is wanted.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
	/// The URL that serves it.
	pub url: &'a str,
	/// The path where it will be written.
	pub path: &'a Path,
	/// What is known of it.
	pub content: Content,
}

/// Downloads files.
#[derive(Clone)]
pub struct Fetcher {
	client: reqwest::Client,
	/// Asks with signatures, which are for one host: it goes nowhere else.
	unled: reqwest::Client,
	own: Own,
	locations: Locations,
	stores: Arc<Stores>,
	tries: u32,
	pause: Duration,
	pace: Pace,
	/// Who has the blobs of the chain.
	chain: Option<Arc<Chain>>,
	/// What signs requests for states that trainers do not keep.
	seat: Option<Arc<SignState>>,
	/// One lock per file that is being fetched. Clones share them.
	locks: Arc<Mutex<HashMap<PathBuf, Weak<tokio::sync::Mutex<()>>>>>,
}

impl Fetcher {
	/// Makes a fetcher that asks `locations`, each of them `tries` times, `pause` (doubled each
	/// time) apart.
	pub fn new(tries: u32, pause: Duration, locations: Locations) -> Result<Self, SetupError> {
		let client = || {
			let client = reqwest::Client::builder()
				.connect_timeout(CONNECT_TIMEOUT)
				.read_timeout(READ_TIMEOUT)
				.user_agent(concat!("trainyard/", env!("CARGO_PKG_VERSION")));
			locations.restrict(client)
		};
		Ok(Self {
			client: client().build().map_err(SetupError)?,
			unled: client().redirect(Policy::none()).build().map_err(SetupError)?,
			own: Own::default(),
			locations,
			stores: Arc::default(),
			tries: tries.max(1),
			pause,
			pace: Pace::default(),
			chain: None,
			seat: None,
			locks: Arc::default(),
		})
	}

	/// Returns the same fetcher, which asks this chain for what is [on chain](ON_CHAIN).
	pub fn with_chain(self, chain: Arc<Chain>) -> Self {
		Self { chain: Some(chain), ..self }
	}

	/// Returns the same fetcher, for which the stores are these.
	pub fn with_stores(self, stores: Stores) -> Self {
		Self { stores: Arc::new(stores), ..self }
	}

	/// Returns the same fetcher, which asks for states as a seat: a trainer computes those again for it that it does not
	/// keep. `sign` returns the value of the header [`seat::HEADER`], of the root by which a result is served and the
	/// steps done.
	pub fn as_seat(self, sign: impl Fn(H256, u32) -> String + Send + Sync + 'static) -> Self {
		Self { seat: Some(Arc::new(sign)), ..self }
	}

	/// Returns whether it asks as a seat.
	pub fn is_seat(&self) -> bool {
		self.seat.is_some()
	}

	/// Returns the value of the header that says who asks for a state; `None` where something else is at this path.
	fn signed(&self, path: &str) -> Option<String> {
		let at = path.find("/bundle/")?;
		let path = path.get(at..)?;
		let (root, step) = state_of(path.split('?').next()?)?;
		self.seat.as_ref().map(|sign| sign(root, step))
	}

	/// Returns the same fetcher with another least rate.
	#[cfg(test)]
	pub fn at(self, pace: Pace) -> Self {
		Self { pace, ..self }
	}

	/// Brings `wanted` to its path. A file that is there already and is the right one is taken as it
	/// is; a transfer that broke off goes on where it stopped, now or at the next call for the same
	/// location, if the file can be recognised. It appears under its name only when it is whole and
	/// right.
	///
	/// A transfer may be slow for a grace time; after that it must bring a least rate in each window of
	/// time ([`Pace`]). All tries together may take both times, and what the limit takes at
	/// that rate. A caller that wants a path that another one is fetching waits for that one first,
	/// within its own time: two writers would spoil the unfinished file.
	pub async fn fetch(&self, wanted: &Wanted<'_>) -> Result<(), FetchError> {
		self.fetch_from(wanted, &[]).await
	}

	/// Does what [`Self::fetch`] does for a file that these `others` have as well: a state is brought from
	/// all of them at once that are endpoints of iroh.
	pub async fn fetch_from(
		&self,
		wanted: &Wanted<'_>,
		others: &[String],
	) -> Result<(), FetchError> {
		let limit = wanted.content.limit();
		let patience = self.pace.patience(limit);
		let fetching = async {
			let lock = self.lock(wanted.path);
			let _alone = lock.lock().await;
			self.fetch_alone(wanted, others).await
		};
		// In a box: every future that fetches would have what iroh waits for within, which is deep.
		tokio::time::timeout(patience, Box::pin(fetching)).await.unwrap_or_else(|_| {
			Err(FetchError::TooSlow { url: wanted.url.into(), limit, patience })
		})
	}

	/// Returns the lock of a path; locks that nobody holds any more are forgotten.
	fn lock(&self, path: &Path) -> Arc<tokio::sync::Mutex<()>> {
		let mut locks = self.locks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
		if let Some(lock) = locks.get(path).and_then(Weak::upgrade) {
			return lock;
		}
		locks.retain(|_, lock| lock.strong_count() > 0);
		let lock = Arc::default();
		locks.insert(path.to_owned(), Arc::downgrade(&lock));
		lock
	}

	/// Fails if `url` is not to be asked.
	fn allow(&self, url: &str) -> Result<(), FetchError> {
		self.locations.check(url).map_err(|reason| match reason {
			LocationError::NotHttp { .. } => FetchError::BadUrl { url: url.into() },
			reason => FetchError::Refused { url: url.into(), reason },
		})
	}

	/// Does what [`Self::fetch`] does. The caller must hold the lock of the path.
	async fn fetch_alone(&self, wanted: &Wanted<'_>, others: &[String]) -> Result<(), FetchError> {
		let Wanted { url, path, content } = wanted;
		if *url != ON_CHAIN {
			self.allow(url)?;
		}
		let local = |source: std::io::Error| FetchError::Local { path: path.to_path_buf(), source };
		if content.is_known() && fs::try_exists(path).await.map_err(local)? {
			match content.check(url, path).await {
				Err(e) if e.is_other_content() => {}
				here => return here,
			}
		}
		if let Some(parent) = path.parent() {
			fs::create_dir_all(parent).await.map_err(local)?;
		}
		if *url == ON_CHAIN {
			return self.read_from_chain(wanted).await;
		}
		let part = content.part(path, url);
		let most = if content.is_known() { MOST_PARTS } else { 0 };
		drop_parts(&content.stem(path), most).map_err(local)?;
		if let Some(done) = self.together(wanted, others).await {
			return done;
		}
		let mut meter = Meter::new(self.pace);
		let (mut attempt, mut begun_again) = (1, false);
		loop {
			let resumed = length_of(&part).await > 0;
			let result = match self.transfer(wanted, &part, &mut meter).await {
				Ok(()) => content.check(url, &part).await,
				Err(e) => Err(e),
			};
			match result {
				Ok(()) => {
					fs::rename(&part, path).await.map_err(local)?;
					return drop_parts(&content.stem(path), 0).map_err(local);
				}
				// The earlier bytes may have been of a different file at this location, so it is
				// fetched once, and only once, from the start.
				Err(e) if e.is_other_content() && resumed && !begun_again => {
					debug!("{e}; beginning again");
					begun_again = true;
					remove(&part).await?;
				}
				Err(e) if e.may_pass() && !e.is_slow() && attempt < self.tries => {
					debug!("{e}; trying again");
					if !content.is_known() {
						remove(&part).await?;
					}
					tokio::time::sleep(self.pause * 2u32.saturating_pow(attempt - 1)).await;
					attempt += 1;
				}
				Err(e) => {
					// A file that cannot be had now may be had later, and then the rest of it is.
					if e.is_other_file() || !content.is_known() {
						remove(&part).await?;
					}
					return Err(e);
				}
			}
		}
	}

	/// Reads a blob from the chain. What came of it is kept for the next call where it breaks off.
	async fn read_from_chain(&self, wanted: &Wanted<'_>) -> Result<(), FetchError> {
		let Wanted { url, path, content } = wanted;
		let bad = || FetchError::BadUrl { url: (*url).into() };
		let (Some(chain), Content::Blob { root, bytes }) = (&self.chain, content) else {
			return Err(bad());
		};
		let part = content.part(path, url);
		let no_answer = |e: BlobError| match e {
			BlobError::Local { path, source } => FetchError::Local { path, source },
			e => FetchError::NoAnswer { url: (*url).into(), reason: e.to_string() },
		};
		blobs::load_into(chain, *root, *bytes, &part).await.map_err(no_answer)?;
		content.check(url, &part).await?;
		let local = |source: std::io::Error| FetchError::Local { path: path.to_path_buf(), source };
		fs::rename(&part, path).await.map_err(local)?;
		drop_parts(&content.stem(path), 0).map_err(local)
	}

	/// Appends to `part` what is missing of it.
	async fn transfer(
		&self,
		wanted: &Wanted<'_>,
		part: &Path,
		meter: &mut Meter,
	) -> Result<(), FetchError> {
		let Wanted { url, content, .. } = *wanted;
		let Pace { window, rate, .. } = self.pace;
		let slow = |few: pace::TooFew| FetchError::BelowRate {
			url: url.into(),
			bytes: few.bytes,
			window,
			rate,
		};
		let local = |source: std::io::Error| FetchError::Local { path: part.to_owned(), source };
		let limit = content.limit();
		let too_large = || FetchError::TooLarge { url: url.into(), limit };
		let have = length_of(part).await;
		if content.length().is_some_and(|length| have >= length && have > 0) {
			// All of it is here already; the hash will show it.
			return Ok(());
		}
		let begun = Instant::now();
		let mut response = self.ask(url, have).await?;
		meter.note(begun.elapsed(), 0).map_err(slow)?;
		let status = response.status();
		let kept = match status {
			StatusCode::PARTIAL_CONTENT if have > 0 => have,
			// Of a checkpoint, too, all may be here already.
			StatusCode::RANGE_NOT_SATISFIABLE if have > 0 => return Ok(()),
			StatusCode::OK => 0,
			_ => return Err(FetchError::Status { url: url.into(), status }),
		};
		if let Some(announced) = response.content_length() {
			let found = kept.saturating_add(announced);
			match content.length() {
				Some(expected) if found != expected => {
					return Err(FetchError::WrongLength { url: url.into(), expected, found });
				}
				_ if found > limit => return Err(too_large()),
				_ => {}
			}
		}
		let mut file = match kept {
			0 => File::create(part).await,
			_ => OpenOptions::new().append(true).open(part).await,
		}
		.map_err(local)?;
		let received = async {
			let mut length = kept;
			loop {
				let begun = Instant::now();
				let piece = match tokio::time::timeout(meter.left(), response.chunk(url)).await {
					Ok(Ok(Some(piece))) => piece,
					Ok(Ok(None)) => return Ok(()),
					Ok(Err(e)) => return Err(e),
					Err(_) => {
						meter.note(begun.elapsed(), 0).map_err(slow)?;
						continue;
					}
				};
				let (waited, bytes) = (begun.elapsed(), piece.len() as u64);
				length = length.saturating_add(bytes);
				if length > limit {
					return Err(too_large());
				}
				file.write_all(&piece).await.map_err(local)?;
				meter.note(waited, bytes).map_err(slow)?;
			}
		}
		.await;
		// What came is on its way to the disk: the next try begins after it.
		file.flush().await.map_err(local)?;
		received?;
		file.sync_all().await.map_err(local)
	}
}

impl Fetcher {
	/// Asks for what is at `url`, from byte `from` on.
	async fn ask(&self, url: &str, from: u64) -> Result<Answer, FetchError> {
		match Place::parse(url) {
			Some(place) => self.ask_store(url, place, from).await,
			None if is_iroh(url) => self.ask_endpoint(url, from).await,
			None => self.ask_http(url, from).await,
		}
	}

	/// Does what [`Self::ask`] does for a file in a store, by HTTP at the server that this machine's owner chose
	/// for such stores.
	async fn ask_store(
		&self,
		url: &str,
		place: Result<Place, NotAPlace>,
		from: u64,
	) -> Result<Answer, FetchError> {
		let refused = |reason| FetchError::Refused { url: url.into(), reason };
		let place = place.map_err(|why| LocationError::NotAPlace { url: url.into(), why });
		let place = place.map_err(refused)?;
		let mut region = None;
		loop {
			let asked = self.stores.request(url, &place, region.as_deref());
			let asked = asked.ok_or_else(|| FetchError::BadUrl { url: url.into() })?;
			self.locations.check_parsed(&asked.url).map_err(refused)?;
			let client = if asked.follow { &self.client } else { &self.unled };
			let mut request = client.get(asked.url).headers(asked.headers);
			if from > 0 {
				request = request.header(header::RANGE, format!("bytes={from}-"));
			}
			let response = request.send().await.map_err(|e| no_answer(url, &e))?;
			let status = response.status();
			if region.is_none() && (status.is_redirection() || status == StatusCode::BAD_REQUEST) {
				region = self.stores.other_region(&place, response.headers());
				if region.is_some() {
					continue;
				}
			}
			return Ok(Answer::Tcp(response));
		}
	}

	/// Does what [`Self::ask`] does at an `http://` or `https://` URL.
	async fn ask_http(&self, url: &str, from: u64) -> Result<Answer, FetchError> {
		let mut request = self.client.get(url);
		if from > 0 {
			request = request.header(header::RANGE, format!("bytes={from}-"));
		}
		if let Some(signed) = self.signed(url) {
			request = request.header(seat::HEADER, signed);
		}
		request.send().await.map(Answer::Tcp).map_err(|e| no_answer(url, &e))
	}
}

/// Says why a request brought nothing.
fn no_answer(url: &str, error: &reqwest::Error) -> FetchError {
	match locations::refusal(error) {
		Some(reason) => FetchError::Refused { url: url.into(), reason },
		None => FetchError::NoAnswer { url: url.into(), reason: reason(error) },
	}
}

/// Returns the length of a file; 0 if it is not there.
async fn length_of(path: &Path) -> u64 {
	fs::metadata(path).await.map_or(0, |about| about.len())
}

async fn remove(path: &Path) -> Result<(), FetchError> {
	match fs::remove_file(path).await {
		Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
			Err(FetchError::Local { path: path.to_owned(), source: e })
		}
		_ => Ok(()),
	}
}

#[cfg(test)]
mod tests;
