//! Downloads what a location serves, checks its hash, and resumes where a transfer broke off.
//! Strangers name the locations, so private addresses are refused, see [`Locations`].

mod locations;

pub use locations::{LocationArgs, LocationError, Locations};

use reqwest::{header, StatusCode};
use std::{
	collections::HashMap,
	path::{Path, PathBuf},
	sync::{Arc, Mutex, Weak},
	time::Duration,
};
use tokio::{
	fs::{self, File, OpenOptions},
	io::AsyncWriteExt,
};
use tracing::debug;
use trainyard_proof::hash;
use trainyard_protocol::H256;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest silence during a transfer.
const READ_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest time for one file, whatever its size ...
const BASE_PATIENCE: Duration = Duration::from_secs(30);
/// ... and a second more for every `SLOWEST` bytes that it may have.
const SLOWEST: u64 = 64 * 1024;

/// Says why a download failed.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
	/// Nobody answers, or the transfer broke off.
	#[error("{url} does not answer: {reason}")]
	NoAnswer {
		/// The location.
		url: String,
		/// What the transport said.
		reason: String,
	},
	/// The server sends, but too slowly.
	#[error("{url} is too slow: {} bytes at most did not arrive in {} s", limit, patience.as_secs())]
	TooSlow {
		/// The location.
		url: String,
		/// The most bytes taken.
		limit: u64,
		/// The time that it had.
		patience: Duration,
	},
	/// The server does not have it.
	#[error("{url} answers with {status}")]
	Status {
		/// The location.
		url: String,
		/// The HTTP status.
		status: StatusCode,
	},
	/// There are more bytes than allowed.
	#[error("{url} serves more than the {limit} bytes that are allowed")]
	TooLarge {
		/// The location.
		url: String,
		/// The most bytes taken.
		limit: u64,
	},
	/// The bytes are not those that were asked for.
	#[error(
		"{url} serves other data than declared: its hash is {found:?}, not {expected:?}. \
		 Either the file at that location was changed, or the declared hash is wrong"
	)]
	WrongHash {
		/// The location.
		url: String,
		/// The hash asked for.
		expected: H256,
		/// The hash of what came.
		found: H256,
	},
	/// Not an http(s) URL.
	#[error("`{url}` is no http:// or https:// location")]
	BadUrl {
		/// The URL that was given.
		url: String,
	},
	/// The location must not be asked, or leads to one that must not.
	#[error("{url} is not fetched from: {reason}")]
	Refused {
		/// The location.
		url: String,
		/// What is wrong with it.
		reason: LocationError,
	},
	/// A local file could not be written.
	#[error("cannot write {}: {source}", path.display())]
	Local {
		/// The file.
		path: PathBuf,
		/// What the system said.
		source: std::io::Error,
	},
}

impl FetchError {
	/// Returns whether trying the same location again soon may help.
	pub fn may_pass(&self) -> bool {
		match self {
			Self::NoAnswer { .. } | Self::TooSlow { .. } => true,
			Self::Status { status, .. } => {
				status.is_server_error()
					|| *status == StatusCode::TOO_MANY_REQUESTS
					|| *status == StatusCode::REQUEST_TIMEOUT
			}
			_ => false,
		}
	}
}

/// The system could not make an HTTP client.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up downloads: {}. Are the system's TLS certificates in order?", reason(.0))]
pub struct SetupError(reqwest::Error);

/// The file that is wanted.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
	/// The URL that serves it.
	pub url: &'a str,
	/// The path where it will be written.
	pub path: &'a Path,
	/// Most bytes taken.
	pub limit: u64,
	/// Content hash, if one is known.
	pub content_hash: Option<H256>,
}

/// Downloads files.
#[derive(Clone)]
pub struct Fetcher {
	client: reqwest::Client,
	locations: Locations,
	tries: u32,
	pause: Duration,
	base: Duration,
	/// One lock per file that is being fetched. Clones share them.
	locks: Arc<Mutex<HashMap<PathBuf, Weak<tokio::sync::Mutex<()>>>>>,
}

impl Fetcher {
	/// Makes a fetcher that asks `locations`, each of them `tries` times, `pause` (doubled each
	/// time) apart.
	pub fn new(tries: u32, pause: Duration, locations: Locations) -> Result<Self, SetupError> {
		let client = reqwest::Client::builder()
			.connect_timeout(CONNECT_TIMEOUT)
			.read_timeout(READ_TIMEOUT)
			.user_agent(concat!("trainyard/", env!("CARGO_PKG_VERSION")));
		Ok(Self {
			client: locations.restrict(client).build().map_err(SetupError)?,
			locations,
			tries: tries.max(1),
			pause,
			base: BASE_PATIENCE,
			locks: Arc::default(),
		})
	}

	/// Brings `wanted` to its path. A file that is there already with the right content hash is
	/// taken as it is; a transfer that broke off goes on where it stopped. The file appears under
	/// its name only when it is whole and its hash is right.
	///
	/// All tries together may take 30 s and a second for every 64 KiB of the limit. A caller that
	/// wants a path that another one is fetching waits for that one first, within its own time: two
	/// writers would spoil the unfinished file.
	pub async fn fetch(&self, wanted: &Wanted<'_>) -> Result<(), FetchError> {
		let patience = self.base.saturating_add(Duration::from_secs(wanted.limit / SLOWEST));
		let fetching = async {
			let lock = self.lock(wanted.path);
			let _alone = lock.lock().await;
			self.fetch_alone(wanted).await
		};
		tokio::time::timeout(patience, fetching).await.unwrap_or_else(|_| {
			Err(FetchError::TooSlow { url: wanted.url.into(), limit: wanted.limit, patience })
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

	/// Does what [`Self::fetch`] does. The caller must hold the lock of the path.
	async fn fetch_alone(&self, wanted: &Wanted<'_>) -> Result<(), FetchError> {
		let Wanted { url, path, content_hash, .. } = wanted;
		self.locations.check(url).map_err(|reason| match reason {
			LocationError::NotHttp { .. } => FetchError::BadUrl { url: url.to_string() },
			reason => FetchError::Refused { url: url.to_string(), reason },
		})?;
		let local = |source: std::io::Error| FetchError::Local { path: path.to_path_buf(), source };
		if let Some(expected) = content_hash {
			if fs::try_exists(path).await.map_err(local)? && hash_of(path).await? == *expected {
				return Ok(());
			}
		}
		if let Some(parent) = path.parent() {
			fs::create_dir_all(parent).await.map_err(local)?;
		}
		let mut part = path.as_os_str().to_owned();
		part.push(".part");
		let part = PathBuf::from(part);
		if content_hash.is_none() {
			// Without a hash nothing shows whether the beginning is of the same file.
			remove(&part).await?;
		}
		let mut attempt = 1;
		loop {
			let resumed = fs::metadata(&part).await.map(|m| m.len()).unwrap_or(0) > 0;
			let result = match self.transfer(wanted, &part).await {
				Ok(()) => check(wanted, &part).await,
				Err(e) => Err(e),
			};
			match result {
				Ok(()) => {
					fs::rename(&part, path).await.map_err(local)?;
					return Ok(());
				}
				// The earlier bytes may have been of a different file, so it is fetched once from
				// the start.
				Err(FetchError::WrongHash { .. }) if resumed && attempt < self.tries => {
					remove(&part).await?;
				}
				Err(e) if e.may_pass() && attempt < self.tries => {
					debug!("{e}; trying again");
					if content_hash.is_none() {
						remove(&part).await?;
					}
					tokio::time::sleep(self.pause * 2u32.saturating_pow(attempt - 1)).await;
				}
				Err(e) => {
					if !e.may_pass() {
						remove(&part).await?;
					}
					return Err(e);
				}
			}
			attempt += 1;
		}
	}

	/// Appends to `part` what is missing of it.
	async fn transfer(&self, wanted: &Wanted<'_>, part: &Path) -> Result<(), FetchError> {
		let Wanted { url, limit, .. } = *wanted;
		let no_answer = |e: reqwest::Error| match locations::refusal(&e) {
			Some(reason) => FetchError::Refused { url: url.into(), reason },
			None => FetchError::NoAnswer { url: url.into(), reason: reason(&e) },
		};
		let local = |source: std::io::Error| FetchError::Local { path: part.to_owned(), source };
		let too_large = || FetchError::TooLarge { url: url.into(), limit };
		let have = fs::metadata(part).await.map(|m| m.len()).unwrap_or(0);
		let mut request = self.client.get(url);
		if have > 0 {
			request = request.header(header::RANGE, format!("bytes={have}-"));
		}
		let mut response = request.send().await.map_err(no_answer)?;
		let status = response.status();
		let (mut file, mut length) = match status {
			StatusCode::PARTIAL_CONTENT if have > 0 => {
				(OpenOptions::new().append(true).open(part).await.map_err(local)?, have)
			}
			// All of it is here already; the hash will show it.
			StatusCode::RANGE_NOT_SATISFIABLE if have > 0 => return Ok(()),
			StatusCode::OK => (File::create(part).await.map_err(local)?, 0),
			_ => return Err(FetchError::Status { url: url.into(), status }),
		};
		let announced = response.content_length().unwrap_or(0);
		if length.saturating_add(announced) > limit {
			return Err(too_large());
		}
		while let Some(piece) = response.chunk().await.map_err(no_answer)? {
			length = length.saturating_add(piece.len() as u64);
			if length > limit {
				return Err(too_large());
			}
			file.write_all(&piece).await.map_err(local)?;
		}
		file.sync_all().await.map_err(local)
	}
}

async fn remove(path: &Path) -> Result<(), FetchError> {
	match fs::remove_file(path).await {
		Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
			Err(FetchError::Local { path: path.to_owned(), source: e })
		}
		_ => Ok(()),
	}
}

async fn check(wanted: &Wanted<'_>, part: &Path) -> Result<(), FetchError> {
	let Some(expected) = wanted.content_hash else { return Ok(()) };
	match hash_of(part).await? {
		found if found == expected => Ok(()),
		found => Err(FetchError::WrongHash { url: wanted.url.into(), expected, found }),
	}
}

async fn hash_of(path: &Path) -> Result<H256, FetchError> {
	let owned = path.to_owned();
	let hashed = tokio::task::spawn_blocking(move || hash::file(&owned)).await;
	let failed = |source: std::io::Error| FetchError::Local { path: path.to_owned(), source };
	match hashed {
		Ok(result) => result.map(|(hash, _)| hash).map_err(failed),
		Err(e) => Err(failed(std::io::Error::other(e))),
	}
}

/// Returns the innermost message: the outer ones only repeat the URL.
fn reason(error: &reqwest::Error) -> String {
	let mut at: &dyn std::error::Error = error;
	while let Some(source) = at.source() {
		at = source;
	}
	match error.is_timeout() {
		true => format!("no answer in time ({at})"),
		false => at.to_string(),
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::http::{Server, Shelf};
	use tokio::io::AsyncReadExt;

	fn quick() -> Fetcher {
		among(Locations::Any)
	}

	fn among(locations: Locations) -> Fetcher {
		Fetcher::new(2, Duration::from_millis(10), locations).unwrap()
	}

	async fn serving(bytes: &[u8]) -> (Server, tempfile::TempDir, H256, String) {
		let dir = tempfile::tempdir().unwrap();
		let path = dir.path().join("source");
		std::fs::write(&path, bytes).unwrap();
		let hash = hash::blake2_256(bytes);
		let shelf = Shelf::default();
		shelf.set(Default::default(), [(hash, path)].into());
		let server = Server::start("127.0.0.1:0".parse().unwrap(), shelf).await.unwrap();
		let url = format!("http://{}/blob/{}", server.address(), hex::encode(hash));
		(server, dir, hash, url)
	}

	#[tokio::test]
	async fn what_is_served_arrives_once() {
		let bytes = vec![7u8; 200_000];
		let (server, dir, hash, url) = serving(&bytes).await;
		let path = dir.path().join("cache/data");
		let wanted = Wanted { url: &url, path: &path, limit: 200_000, content_hash: Some(hash) };
		quick().fetch(&wanted).await.unwrap();
		assert_eq!(std::fs::read(&path).unwrap(), bytes);
		assert!(!dir.path().join("cache/data.part").exists());
		// The second time no server is asked.
		drop(server);
		quick().fetch(&wanted).await.unwrap();
	}

	/// A server that announces a long file and sends a byte of it now and then.
	async fn dripping() -> String {
		let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
		let url = format!("http://{}/data", listener.local_addr().unwrap());
		tokio::spawn(async move {
			while let Ok((mut stream, _)) = listener.accept().await {
				tokio::spawn(async move {
					// A client ignores an answer before its request.
					let _ = stream.read(&mut [0; 4096]).await;
					let head = b"HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n";
					let mut sent = stream.write_all(head).await;
					while sent.is_ok() {
						tokio::time::sleep(Duration::from_millis(20)).await;
						sent = stream.write_all(b"x").await;
					}
				});
			}
		});
		url
	}

	#[tokio::test]
	async fn a_server_that_drips_is_given_up() {
		let url = dripping().await;
		let dir = tempfile::tempdir().unwrap();
		let path = dir.path().join("data");
		let wanted = Wanted { url: &url, path: &path, limit: 60_000, content_hash: None };
		let fetcher = Fetcher { base: Duration::from_millis(300), ..quick() };
		let error = fetcher.fetch(&wanted).await.unwrap_err();
		assert!(matches!(error, FetchError::TooSlow { .. }) && error.may_pass(), "{error}");
		assert!(error.to_string().contains(&url), "{error}");
		assert!(!path.exists());
	}

	#[tokio::test]
	async fn one_at_a_time_writes_a_file() {
		let (_server, dir, hash, url) = serving(&[7; 5000]).await;
		let path = dir.path().join("data");
		let wanted = Wanted { url: &url, path: &path, limit: 5000, content_hash: Some(hash) };
		let fetcher = Fetcher { base: Duration::from_millis(300), ..quick() };
		let lock = fetcher.lock(&path);
		let other = lock.lock().await;
		let error = fetcher.clone().fetch(&wanted).await.unwrap_err();
		assert!(matches!(error, FetchError::TooSlow { .. }), "{error}");
		assert!(!dir.path().join("data.part").exists(), "written beside the other one");
		drop(other);
		quick().fetch(&wanted).await.unwrap();
		assert_eq!(std::fs::read(&path).unwrap(), [7; 5000]);
	}

	#[tokio::test]
	async fn a_transfer_goes_on_where_it_broke_off() {
		let bytes: Vec<u8> = (0..100_000u32).map(|i| i as u8).collect();
		let (_server, dir, hash, url) = serving(&bytes).await;
		let path = dir.path().join("data");
		let part = dir.path().join("data.part");
		let wanted = Wanted { url: &url, path: &path, limit: 100_000, content_hash: Some(hash) };

		std::fs::write(&part, &bytes[..60_000]).unwrap();
		quick().fetch(&wanted).await.unwrap();
		assert_eq!(std::fs::read(&path).unwrap(), bytes);

		// Whole but not renamed yet, and the beginning of some other file.
		for start in [bytes.clone(), vec![1, 2, 3]] {
			std::fs::remove_file(&path).unwrap();
			std::fs::write(&part, &start).unwrap();
			quick().fetch(&wanted).await.unwrap();
			assert_eq!(std::fs::read(&path).unwrap(), bytes);
		}
	}

	#[tokio::test]
	async fn other_data_than_declared_is_refused() {
		let (_server, dir, found, url) = serving(b"changed").await;
		let path = dir.path().join("data");
		let expected = H256::repeat_byte(3);
		let wanted = Wanted { url: &url, path: &path, limit: 99, content_hash: Some(expected) };
		let error = quick().fetch(&wanted).await.unwrap_err();
		assert!(matches!(error, FetchError::WrongHash { .. }));
		let text = error.to_string();
		assert!(text.contains(&format!("{found:?}")) && text.contains(&format!("{expected:?}")));
		assert!(text.contains(&url), "{text}");
		assert!(!path.exists() && !dir.path().join("data.part").exists());
	}

	#[tokio::test]
	async fn a_location_that_does_not_answer_is_named() {
		let (server, dir, hash, url) = serving(b"x").await;
		let address = server.address();
		drop(server);
		// The aborted server closes its socket when its task is dropped.
		while tokio::net::TcpStream::connect(address).await.is_ok() {
			tokio::time::sleep(Duration::from_millis(10)).await;
		}
		let path = dir.path().join("data");
		let wanted = Wanted { url: &url, path: &path, limit: 99, content_hash: Some(hash) };
		let error = quick().fetch(&wanted).await.unwrap_err();
		assert!(error.may_pass());
		assert!(error.to_string().starts_with(&format!("{url} does not answer")), "{error}");
	}

	#[tokio::test]
	async fn private_locations_are_refused() {
		let (server, dir, hash, url) = serving(b"secret").await;
		let path = dir.path().join("data");
		let by_name = format!("http://localhost:{}/health", server.address().port());
		for url in [&url, &by_name] {
			let wanted = Wanted { url, path: &path, limit: 99, content_hash: Some(hash) };
			let error = among(Locations::Public).fetch(&wanted).await.unwrap_err();
			assert!(matches!(error, FetchError::Refused { .. }) && !error.may_pass(), "{error}");
			assert!(error.to_string().starts_with(url.as_str()), "{error}");
			assert!(error.to_string().contains("--allow-private-locations"), "{error}");
			assert!(!path.exists());
		}
	}

	/// A server that sends everybody to `target`.
	async fn redirecting(target: String) -> String {
		let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
		let url = format!("http://{}/data", listener.local_addr().unwrap());
		tokio::spawn(async move {
			while let Ok((mut stream, _)) = listener.accept().await {
				let mut request = [0; 4096];
				let _ = stream.read(&mut request).await;
				let head = "HTTP/1.1 302 Found\r\nconnection: close\r\ncontent-length: 0\r\n";
				let answer = format!("{head}location: {target}\r\n\r\n");
				let _ = stream.write_all(answer.as_bytes()).await;
			}
		});
		url
	}

	#[tokio::test]
	async fn redirects_lead_to_no_private_location() {
		let (server, dir, hash, target) = serving(b"secret").await;
		let path = dir.path().join("data");
		let by_name = format!("http://localhost:{}/health", server.address().port());
		for target in [target, by_name] {
			let url = redirecting(target.clone()).await;
			let wanted = Wanted { url: &url, path: &path, limit: 99, content_hash: Some(hash) };
			// The first location is of this machine, too: it alone passes.
			let fetcher = Fetcher { locations: Locations::Any, ..among(Locations::Public) };
			let error = fetcher.fetch(&wanted).await.unwrap_err();
			assert!(matches!(error, FetchError::Refused { .. }), "{target}: {error}");
			assert!(!path.exists());
		}
		let url = redirecting(format!("http://{}/blob/{}", server.address(), hex::encode(hash)));
		let url = url.await;
		let wanted = Wanted { url: &url, path: &path, limit: 99, content_hash: Some(hash) };
		quick().fetch(&wanted).await.unwrap();
		assert_eq!(std::fs::read(&path).unwrap(), b"secret");
		// Round and round.
		std::fs::remove_file(&path).unwrap();
		let url = redirecting("/again".into()).await;
		let wanted = Wanted { url: &url, path: &path, limit: 99, content_hash: Some(hash) };
		assert!(quick().fetch(&wanted).await.unwrap_err().to_string().contains("redirects"));
	}

	#[tokio::test]
	async fn missing_and_oversized_files_are_refused() {
		let (_server, dir, hash, url) = serving(&[5; 5000]).await;
		let path = dir.path().join("data");
		let elsewhere = url.replace("/blob/", "/nowhere/");
		let wanted = Wanted { url: &elsewhere, path: &path, limit: 5000, content_hash: Some(hash) };
		let error = quick().fetch(&wanted).await.unwrap_err();
		assert!(matches!(error, FetchError::Status { status: StatusCode::NOT_FOUND, .. }));
		let wanted = Wanted { url: &url, path: &path, limit: 4999, content_hash: None };
		let error = quick().fetch(&wanted).await.unwrap_err();
		assert!(matches!(error, FetchError::TooLarge { limit: 4999, .. }));
		assert!(!path.exists());
		let wanted =
			Wanted { url: "file:///etc/passwd", path: &path, limit: 1, content_hash: None };
		assert!(matches!(quick().fetch(&wanted).await, Err(FetchError::BadUrl { .. })));
	}
}
