//! Puts files into object stores, where they stay when the chain does not keep them any more: gateways of S3's kind,
//! which Filecoin's and Storj's networks have as well, and Google's.
//!
//! A file is put as one object, with its root as metadata (`x-amz-meta-trainyard-root`). The store is told the SHA-256
//! of what comes, so that it refuses what was damaged on the way.

use super::{
	no_answer, sign::Action, FetchError, Fetcher, LocationError, Place, Stores, CONNECT_TIMEOUT,
};
use futures::stream::{self, Stream};
use reqwest::{
	header::{HeaderMap, CONTENT_LENGTH},
	redirect::Policy,
	Body, Method, Response, StatusCode,
};
use ring::digest::{Context, SHA256};
use std::{
	io::{self, Read},
	path::{Path, PathBuf},
	sync::{
		atomic::{AtomicU64, Ordering},
		Arc,
	},
	time::Duration,
};
use tokio::{fs::File, io::AsyncReadExt};
use tracing::debug;
use trainyard_proof::hash;
use trainyard_protocol::H256;

/// The header by which an object says the root of the file that it is.
const ROOT: &str = "x-amz-meta-trainyard-root";
/// The largest object that stores take at once.
const MOST: u64 = 5 << 30;
/// Bytes that are read from the disk at once.
const PIECE: usize = 1 << 18;
/// Least bytes a second that a store takes, over the whole of a file.
const LEAST_RATE: u64 = 64 * 1024;
/// Time that it has beside that.
const GRACE: Duration = Duration::from_secs(120);
/// Bytes of what a store says that are shown.
const SHOWN: usize = 300;

/// A file in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archived {
	/// Its length.
	pub bytes: u64,
	/// Its root.
	pub root: H256,
	/// Whether it was put there now; it was there already if not.
	pub sent: bool,
}

/// Says why a file was not archived.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
	/// Not a bucket.
	#[error(
		"files are archived in buckets, s3://BUCKET/KEY or gs://BUCKET/KEY: `{location}` is none"
	)]
	NoBucket {
		/// The location that was given.
		location: String,
	},
	/// Something else is there.
	#[error(
		"{location} has another file already: {} bytes, {}. Name another key, or have it replaced by --overwrite",
		bytes.map_or_else(|| "an unknown number of".into(), |bytes| bytes.to_string()),
		root.as_ref().map_or_else(|| "without a root".into(), |root| format!("root {root}"))
	)]
	Other {
		/// The location.
		location: String,
		/// Its length, if the store says it.
		bytes: Option<u64>,
		/// What it says of its root.
		root: Option<String>,
	},
	/// The store does not say what is there.
	#[error(
		"{location} answers with {status} when it is asked what is there: the keys in the environment \
		 (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY) may not read \
		 it, or there are none. --overwrite writes it all the same"
	)]
	Hidden {
		/// The location.
		location: String,
		/// What it answers.
		status: StatusCode,
	},
	/// The file is too large.
	#[error("{} has {bytes} bytes, and stores take {MOST} at once", path.display())]
	TooLarge {
		/// The file.
		path: PathBuf,
		/// Its length.
		bytes: u64,
	},
	/// The store does not take it.
	#[error("{location} does not take the file: {status}{says}")]
	NotTaken {
		/// The location.
		location: String,
		/// What it answers.
		status: StatusCode,
		/// What it says to that.
		says: String,
	},
	/// The store took it, and does not have it.
	#[error(
		"{location} took the file, and then says that {found} is there: put it again, or elsewhere"
	)]
	NotThere {
		/// The location.
		location: String,
		/// What is there.
		found: String,
	},
	/// The location cannot be asked, or the file not be read.
	#[error(transparent)]
	Fetch(#[from] FetchError),
}

/// What a store says of an object.
struct Object {
	bytes: Option<u64>,
	root: Option<String>,
}

impl Object {
	fn of(headers: &HeaderMap) -> Self {
		let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
		Self {
			bytes: text(CONTENT_LENGTH.as_str()).and_then(|text| text.parse().ok()),
			root: text(ROOT).map(|root| root.chars().take(64).collect()),
		}
	}

	fn is(&self, bytes: u64, root: &H256) -> bool {
		self.bytes == Some(bytes) && self.root == Some(hex::encode(root))
	}
}

/// Asks a store about one of its objects.
struct Archive<'a> {
	client: reqwest::Client,
	stores: &'a Stores,
	fetcher: &'a Fetcher,
	location: &'a str,
	place: Place,
	region: Option<String>,
}

impl Fetcher {
	/// Puts the file at `path` to `location`, a place in a bucket, and adds to `sent` what was sent. Where the same
	/// file is there already it sends nothing; another one it replaces only where `overwrite` says so.
	pub async fn archive(
		&self,
		path: &Path,
		location: &str,
		overwrite: bool,
		sent: Arc<AtomicU64>,
	) -> Result<Archived, ArchiveError> {
		let no_bucket = || ArchiveError::NoBucket { location: location.into() };
		let place = match Place::parse(location).ok_or_else(no_bucket)? {
			Ok(place) if place.is_bucket() => place,
			Ok(_) => return Err(no_bucket()),
			Err(why) => {
				let reason = LocationError::NotAPlace { url: location.into(), why };
				return Err(FetchError::Refused { url: location.into(), reason }.into());
			}
		};
		let local = |source| FetchError::Local { path: path.to_owned(), source };
		let bytes = tokio::fs::metadata(path).await.map_err(local)?.len();
		if bytes > MOST {
			return Err(ArchiveError::TooLarge { path: path.to_owned(), bytes });
		}
		let own = path.to_owned();
		let hashes = tokio::task::spawn_blocking(move || hashes_of(&own));
		let hashes = hashes.await.map_err(io::Error::other).and_then(|hashes| hashes);
		let (root, sha256) = hashes.map_err(local)?;
		let patience = GRACE.saturating_add(Duration::from_secs(bytes / LEAST_RATE));
		// A client's time without an answer would pass while a large file is sent.
		let client = reqwest::Client::builder()
			.connect_timeout(CONNECT_TIMEOUT)
			.timeout(patience)
			.redirect(Policy::none());
		let client = self.locations.restrict(client).redirect(Policy::none()).build();
		let client = client.map_err(|e| no_answer(location, &e))?;
		let (stores, fetcher) = (&*self.stores, self);
		let mut archive = Archive { client, stores, fetcher, location, place, region: None };
		let there = archive.look().await;
		match there {
			Ok(Some(object)) if object.is(bytes, &root) => {
				return Ok(Archived { bytes, root, sent: false });
			}
			Ok(Some(Object { bytes, root })) if !overwrite => {
				return Err(ArchiveError::Other { location: location.into(), bytes, root });
			}
			Err(hidden @ ArchiveError::Hidden { .. }) if !overwrite => return Err(hidden),
			Ok(_) | Err(ArchiveError::Hidden { .. }) => {}
			Err(e) => return Err(e),
		}
		archive.put(path, (bytes, root, &sha256), &sent).await?;
		match archive.look().await {
			Ok(Some(object)) if object.is(bytes, &root) => {}
			// Whoever may not read has what the store said when it took it.
			Err(ArchiveError::Hidden { .. }) => {}
			Ok(found) => {
				let found = match found.and_then(|object| object.bytes) {
					Some(bytes) => format!("another file of {bytes} bytes"),
					None => "nothing".into(),
				};
				return Err(ArchiveError::NotThere { location: location.into(), found });
			}
			Err(e) => return Err(e),
		}
		Ok(Archived { bytes, root, sent: true })
	}
}

impl Archive<'_> {
	/// Asks for something, in another region if the store says that the bucket is there.
	async fn ask(
		&mut self,
		action: &Action,
		body: impl AsyncFn() -> io::Result<Option<(Body, u64)>>,
		path: &Path,
	) -> Result<Response, FetchError> {
		loop {
			let url = || self.location.to_owned();
			let asked =
				self.stores.request_to(action, self.location, &self.place, self.region.as_deref());
			let asked = asked.ok_or_else(|| FetchError::BadUrl { url: url() })?;
			let checked = self.fetcher.locations.check_parsed(&asked.url);
			checked.map_err(|reason| FetchError::Refused { url: url(), reason })?;
			let mut request =
				self.client.request(action.method.clone(), asked.url).headers(asked.headers);
			let local = |source| FetchError::Local { path: path.to_owned(), source };
			if let Some((body, length)) = body().await.map_err(local)? {
				request = request.header(CONTENT_LENGTH, length).body(body);
			}
			let response = request.send().await.map_err(|e| no_answer(self.location, &e))?;
			let status = response.status();
			let elsewhere = status.is_redirection() || status == StatusCode::BAD_REQUEST;
			if self.region.is_none() && elsewhere {
				self.region = self.stores.other_region(&self.place, response.headers());
				if self.region.is_some() {
					continue;
				}
			}
			return Ok(response);
		}
	}

	/// Asks several times where that may help, as the fetcher does for what it fetches.
	async fn tried(
		&mut self,
		action: &Action,
		body: impl AsyncFn() -> io::Result<Option<(Body, u64)>>,
		path: &Path,
	) -> Result<Response, FetchError> {
		let mut attempt = 1;
		loop {
			let answer = self.ask(action, &body, path).await;
			let again = match &answer {
				Ok(response) => {
					let (status, url) = (response.status(), String::new());
					FetchError::Status { url, status }.may_pass()
				}
				Err(e) => e.may_pass(),
			};
			if !again || attempt >= self.fetcher.tries {
				return answer;
			}
			debug!("{} of {} did not pass; trying again", action.method, self.location);
			tokio::time::sleep(self.fetcher.pause * 2u32.saturating_pow(attempt - 1)).await;
			attempt += 1;
		}
	}

	/// Returns what is there.
	async fn look(&mut self) -> Result<Option<Object>, ArchiveError> {
		let head = Action::of(Method::HEAD);
		let response = self.tried(&head, async || Ok(None), Path::new("")).await?;
		match response.status() {
			StatusCode::OK => Ok(Some(Object::of(response.headers()))),
			StatusCode::NOT_FOUND => Ok(None),
			status => Err(ArchiveError::Hidden { location: self.location.into(), status }),
		}
	}

	/// Sends the file.
	async fn put(
		&mut self,
		path: &Path,
		(bytes, root, sha256): (u64, H256, &str),
		sent: &Arc<AtomicU64>,
	) -> Result<(), ArchiveError> {
		let about = vec![(ROOT, hex::encode(root))];
		let put = Action { method: Method::PUT, body: sha256.into(), about };
		let body = async || {
			sent.store(0, Ordering::Relaxed);
			let pieces = pieces(File::open(path).await?, bytes, sha256.into(), sent.clone());
			Ok(Some((Body::wrap_stream(pieces), bytes)))
		};
		let response = self.tried(&put, body, path).await?;
		let status = response.status();
		if status.is_success() {
			return Ok(());
		}
		let says = response.text().await.unwrap_or_default();
		let says: String = says.chars().filter(|c| !c.is_control()).take(SHOWN).collect();
		let says = if says.is_empty() { says } else { format!(", {says}") };
		Err(ArchiveError::NotTaken { location: self.location.into(), status, says })
	}
}

/// Returns the root of a file, and its SHA-256 in hex.
fn hashes_of(path: &Path) -> io::Result<(H256, String)> {
	let root = hash::blob_root(path)?;
	let (mut file, mut context) = (std::fs::File::open(path)?, Context::new(&SHA256));
	let mut piece = vec![0u8; PIECE];
	loop {
		match file.read(&mut piece)? {
			0 => return Ok((root, hex::encode(context.finish()))),
			read => context.update(piece.get(..read).unwrap_or_default()),
		}
	}
}

/// Returns the first `left` bytes of a file, piece by piece, and counts them. A file that became shorter is an error, and
/// so is one that has another SHA-256, in the place of its last piece: the store then has no whole file.
fn pieces(
	file: File,
	left: u64,
	sha256: String,
	sent: Arc<AtomicU64>,
) -> impl Stream<Item = io::Result<Vec<u8>>> + Send + 'static {
	let begin = (file, left, (Context::new(&SHA256), sha256), sent);
	stream::try_unfold(begin, |(mut file, left, (mut context, sha256), sent)| async move {
		if left == 0 {
			return Ok(None);
		}
		let mut piece = vec![0u8; PIECE.min(usize::try_from(left).unwrap_or(PIECE))];
		let read = file.read(&mut piece).await?;
		if read == 0 {
			return Err(io::ErrorKind::UnexpectedEof.into());
		}
		piece.truncate(read);
		context.update(&piece);
		let left = left.saturating_sub(read as u64);
		if left == 0 && hex::encode(context.clone().finish()) != sha256 {
			let why = "the file changed while it was sent";
			return Err(io::Error::new(io::ErrorKind::InvalidData, why));
		}
		sent.fetch_add(read as u64, Ordering::Relaxed);
		Ok(Some((piece, (file, left, (context, sha256), sent))))
	})
}
