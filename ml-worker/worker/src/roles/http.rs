//! The server that every trainer runs. It serves bundles by their root and data by their content
//! hash.
//!
//! | request | answer |
//! |---|---|
//! | `GET /bundle/<root>/<file>` | a file of a bundle, see [`bundle::servable`]; `<root>` is its own, or the true root |
//! | `GET /bundle/<root>/openings/<step>?parts=<parts>` | parts of a checkpoint with their proofs ([`trainyard_proof::bundle::openings`]), SCALE |
//! | `GET /blob/<content hash>` | a file that a job reads, by its `blake2_256` |
//! | `GET /health` | `ok` |
//!
//! Only what was registered is served, so a result is not shown before it is revealed.
//! Files are streamed, in whole or one part of them (`Range`), so ordinary clients resume a download.
//! A file by its content hash has this hash as its `ETag`. Connections are limited in number and time,
//! see [`Limits`]. Few checkpoints are opened at once: whoever comes then is told to come again (status
//! 503). So is a seat that asks for a state which is not kept: it is computed again ([`dropped`]), and
//! whoever is no seat is refused (status 403).

pub mod dropped;
mod endpoint;
mod limits;
mod openings;
mod part;

pub use endpoint::Endpoint;
pub use limits::Limits;

use axum::{
	body::Body,
	extract::{Request, State},
	http::{header, HeaderValue, Method, StatusCode},
	response::{IntoResponse, Response},
	Router,
};
use dropped::{Dropped, Fetch, Said};
use limits::Limited;
use openings::Openings;
use part::Part;
use std::{
	collections::HashMap,
	io::{ErrorKind, SeekFrom},
	net::SocketAddr,
	path::{Path, PathBuf},
	sync::{Arc, RwLock},
};
use tokio::{
	fs::File,
	io::{AsyncReadExt, AsyncSeekExt},
	net::TcpListener,
};
use tracing::{debug, error};
use trainyard_client::seat;
use trainyard_proof::bundle::{
	self,
	manifest::{self, checkpoint_file},
	samples::Samples,
};
use trainyard_protocol::H256;

/// Bytes read and sent at a time.
const PIECE: usize = 64 * 1024;

/// Says why the server does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
	/// Somebody else listens there.
	#[error(
		"port {} of {} is in use by another program. Stop that one, or choose another address \
		 with --listen ({}:0 takes any free port)", .0.port(), .0.ip(), .0.ip()
	)]
	InUse(SocketAddr),
	/// Not allowed, or no address of this machine.
	#[error("cannot listen on {address}: {source}. Choose another address with --listen")]
	CannotListen {
		/// The address.
		address: SocketAddr,
		/// What the system said.
		source: std::io::Error,
	},
}

/// What is served. Clones share it.
#[derive(Clone, Default)]
pub struct Shelf {
	inner: Arc<RwLock<Contents>>,
	/// Of which results not all states are kept.
	dropped: Dropped,
}

#[derive(Default)]
struct Contents {
	bundles: HashMap<H256, PathBuf>,
	blobs: HashMap<H256, PathBuf>,
}

impl Shelf {
	fn read(&self) -> std::sync::RwLockReadGuard<'_, Contents> {
		self.inner.read().unwrap_or_else(|poisoned| poisoned.into_inner())
	}

	/// Serves exactly these from now on: folders of bundles by root, data files by content
	/// hash.
	pub fn set(&self, bundles: HashMap<H256, PathBuf>, blobs: HashMap<H256, PathBuf>) {
		*self.inner.write().unwrap_or_else(|poisoned| poisoned.into_inner()) =
			Contents { bundles, blobs };
	}

	/// Returns the results of which not all states are kept.
	pub fn dropped(&self) -> &Dropped {
		&self.dropped
	}

	/// Returns the file that a request path names; `None` for everything that is not registered.
	fn find(&self, path: &str) -> Option<PathBuf> {
		if let Some(rest) = path.strip_prefix("/bundle/") {
			let (root, file) = rest.split_once('/')?;
			let folder = self.read().bundles.get(&parse_hash(root)?)?.clone();
			return bundle::servable(file).then(|| bundle::shown_file(&folder, file));
		}
		self.read().blobs.get(&blob_of(path)?).cloned()
	}
}

impl Shelf {
	/// Returns the checkpoint file of which a request path asks for openings; `None` for every other
	/// path, and for what is not registered.
	fn find_opened(&self, path: &str) -> Option<PathBuf> {
		let (root, step) = path.strip_prefix("/bundle/")?.split_once("/openings/")?;
		let number: u32 = step.parse().ok()?;
		let folder = self.read().bundles.get(&parse_hash(root)?)?.clone();
		// A number has one form.
		(number.to_string() == step).then(|| folder.join(checkpoint_file(number)))
	}
}

/// Returns the root of a bundle and the steps of the checkpoint of which a request path asks for the state, or for parts of
/// it.
pub fn state_of(path: &str) -> Option<(H256, u32)> {
	let (root, file) = path.strip_prefix("/bundle/")?.split_once('/')?;
	let step = match file.strip_prefix("openings/") {
		Some(step) => step.parse().ok(),
		None => manifest::step_of(file),
	};
	Some((parse_hash(root)?, step?))
}

/// Returns the content hash that a request path names.
fn blob_of(path: &str) -> Option<H256> {
	parse_hash(path.strip_prefix("/blob/")?)
}

/// Reads a hash as it is in a URL: 64 hex digits, with or without 0x.
pub fn parse_hash(text: &str) -> Option<H256> {
	let bytes = hex::decode(text.strip_prefix("0x").unwrap_or(text)).ok()?;
	<[u8; 32]>::try_from(bytes).ok().map(H256)
}

/// A running server; it stops when this is dropped.
pub struct Server {
	address: SocketAddr,
	task: tokio::task::JoinHandle<()>,
}

impl Server {
	/// Listens on `address` (port 0: any free port) and serves what is on `shelf`, within the
	/// default [`Limits`].
	pub async fn start(address: SocketAddr, shelf: Shelf) -> Result<Self, ServeError> {
		Self::start_within(Limits::default(), address, shelf).await
	}

	/// Does what [`Self::start`] does, within these limits.
	pub async fn start_within(
		limits: Limits,
		address: SocketAddr,
		shelf: Shelf,
	) -> Result<Self, ServeError> {
		let refused = |source: std::io::Error| match source.kind() {
			ErrorKind::AddrInUse => ServeError::InUse(address),
			_ => ServeError::CannotListen { address, source },
		};
		let listener = TcpListener::bind(address).await.map_err(refused)?;
		let address =
			listener.local_addr().map_err(|source| ServeError::CannotListen { address, source })?;
		let listener = Limited::new(listener, limits);
		let routes = routes(shelf, limits);
		let task = tokio::spawn(async move {
			if let Err(e) = axum::serve(listener, routes).await {
				error!("the HTTP server stopped: {e}");
			}
		});
		Ok(Self { address, task })
	}

	/// Returns the address on which it listens.
	pub fn address(&self) -> SocketAddr {
		self.address
	}
}

impl Drop for Server {
	fn drop(&mut self) {
		self.task.abort();
	}
}

/// Returns what answers to requests.
fn routes(shelf: Shelf, limits: Limits) -> Router {
	let state = (shelf, Openings::new(limits.first_byte));
	Router::new().fallback(answer).with_state(state)
}

async fn answer(State((shelf, openings)): State<(Shelf, Openings)>, request: Request) -> Response {
	let path = request.uri().path().to_owned();
	if request.method() != Method::GET && request.method() != Method::HEAD {
		return (StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n").into_response();
	}
	if path == "/health" {
		return "ok\n".into_response();
	}
	let signed = request.headers().get(seat::HEADER).and_then(|value| value.to_str().ok());
	let signed = signed.map(str::to_owned);
	let fetch = match state(&shelf, &path, signed).await {
		Ok(fetch) => fetch,
		Err(said) => return *said,
	};
	if let Some(file) = shelf.find_opened(&path) {
		return match *request.method() == Method::GET {
			true => openings.answer(file, request.uri().query().unwrap_or_default()).await,
			false => (StatusCode::METHOD_NOT_ALLOWED, "only GET\n").into_response(),
		};
	}
	let Some(file) = shelf.find(&path) else { return not_found() };
	let tag = blob_of(&path).map(|hash| format!("\"{}\"", hex::encode(hash)));
	let head_only = request.method() == Method::HEAD;
	let part = match head_only {
		true => Part::Whole,
		false => Part::asked(request.headers(), tag.as_deref()),
	};
	match send(&file, part, head_only, (tag, fetch)).await {
		Ok(response) => response,
		Err(e) if e.kind() == ErrorKind::NotFound => not_found(),
		Err(e) => {
			error!("cannot serve {}: {e}", file.display());
			(StatusCode::INTERNAL_SERVER_ERROR, "the file cannot be read\n").into_response()
		}
	}
}

/// Notes that a reader fetches a state, or parts of it, that was computed again, until what is returned is dropped; `None`
/// for everything else. Of a result of which not all states are kept, and where this one is not on disk, the error is
/// what is said to whoever asks, which `signed` shows.
async fn state(
	shelf: &Shelf,
	path: &str,
	signed: Option<String>,
) -> Result<Option<Fetch>, Box<Response>> {
	let Some((root, step)) = state_of(path) else { return Ok(None) };
	let opened = shelf.find_opened(path);
	let parts = opened.is_some();
	let Some(file) = opened.or_else(|| shelf.find(path)) else { return Ok(None) };
	let samples = Samples::beside(&file);
	let is_there = move || file.is_file() || (parts && samples.is_file());
	if tokio::task::spawn_blocking(is_there).await.unwrap_or(true) {
		return Ok(shelf.dropped.fetches(&root, step, signed.as_deref()));
	}
	let Some(said) = shelf.dropped.ask(&root, step, signed.as_deref()) else { return Ok(None) };
	Err(Box::new(match said {
		Said::Wait(why) => {
			let again = [(header::RETRY_AFTER, dropped::AGAIN.to_string())];
			(StatusCode::SERVICE_UNAVAILABLE, again, format!("{why}\n")).into_response()
		}
		Said::Refused(why) => (StatusCode::FORBIDDEN, format!("{why}\n")).into_response(),
		Said::Failed(why) => {
			(StatusCode::INTERNAL_SERVER_ERROR, format!("{why}\n")).into_response()
		}
	}))
}

/// Sends a part of a file. What `fetch` notes lasts until the last byte was taken.
async fn send(
	path: &Path,
	part: Part,
	head_only: bool,
	(tag, fetch): (Option<String>, Option<Fetch>),
) -> std::io::Result<Response> {
	let mut file = File::open(path).await?;
	let metadata = file.metadata().await?;
	if !metadata.is_file() {
		return Err(ErrorKind::NotFound.into());
	}
	let size = metadata.len();
	let Some((start, end)) = part.place(size) else {
		let mut response = (StatusCode::RANGE_NOT_SATISFIABLE, "past the end\n").into_response();
		insert(&mut response, header::CONTENT_RANGE, format!("bytes */{size}"));
		return Ok(response);
	};
	let length = end.saturating_sub(start);
	file.seek(SeekFrom::Start(start)).await?;
	debug!("serving {length} bytes of {} from byte {start}", path.display());
	let body = match head_only {
		true => Body::empty(),
		false => Body::from_stream(pieces(file, length, fetch)),
	};
	let mut response = Response::new(body);
	insert(&mut response, header::CONTENT_TYPE, "application/octet-stream".into());
	insert(&mut response, header::CONTENT_LENGTH, length.to_string());
	insert(&mut response, header::ACCEPT_RANGES, "bytes".into());
	if let Some(tag) = tag {
		insert(&mut response, header::ETAG, tag);
	}
	if length < size {
		*response.status_mut() = StatusCode::PARTIAL_CONTENT;
		let range = format!("bytes {start}-{}/{size}", end.saturating_sub(1));
		insert(&mut response, header::CONTENT_RANGE, range);
	}
	Ok(response)
}

fn not_found() -> Response {
	(StatusCode::NOT_FOUND, "nothing is served here\n").into_response()
}

fn insert(response: &mut Response, name: header::HeaderName, value: String) {
	if let Ok(value) = HeaderValue::from_str(&value) {
		response.headers_mut().insert(name, value);
	}
}

/// Returns the next `left` bytes of `file`, piece by piece. A file that became shorter is an error,
/// so that the client sees a broken transfer and no short file.
fn pieces(
	file: File,
	left: u64,
	fetch: Option<Fetch>,
) -> impl futures::Stream<Item = Result<Vec<u8>, std::io::Error>> + Send + 'static {
	futures::stream::try_unfold((file, left, fetch), |(mut file, left, fetch)| async move {
		if left == 0 {
			return Ok(None);
		}
		let mut piece = vec![0u8; PIECE.min(usize::try_from(left).unwrap_or(PIECE))];
		let n = file.read(&mut piece).await?;
		if n == 0 {
			return Err(ErrorKind::UnexpectedEof.into());
		}
		piece.truncate(n);
		Ok(Some((piece, (file, left - n as u64, fetch))))
	})
}

#[cfg(test)]
mod tests {
	use super::*;
	use std::time::Duration;
	use tokio::{io::AsyncWriteExt, net::TcpStream};
	use trainyard_proof::hash;

	async fn serve(shelf: Shelf) -> Server {
		Server::start("127.0.0.1:0".parse().unwrap(), shelf).await.unwrap()
	}

	/// Sends the path as it is: HTTP libraries would tidy up `..`.
	async fn raw(server: &Server, path: &str, headers: &str) -> (u16, String) {
		let mut stream = TcpStream::connect(server.address()).await.unwrap();
		let request =
			format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n");
		stream.write_all(request.as_bytes()).await.unwrap();
		let mut answer = Vec::new();
		stream.read_to_end(&mut answer).await.unwrap();
		let text = String::from_utf8_lossy(&answer).into_owned();
		let status = text.split(' ').nth(1).unwrap().parse().unwrap();
		(status, text.split_once("\r\n\r\n").unwrap().1.to_owned())
	}

	fn a_bundle() -> (tempfile::TempDir, H256) {
		let dir = tempfile::tempdir().unwrap();
		let folder = dir.path().join("bundle");
		std::fs::create_dir_all(folder.join("checkpoints")).unwrap();
		std::fs::write(folder.join("manifest.json"), "the manifest").unwrap();
		std::fs::write(folder.join("secret.json"), "a secret").unwrap();
		std::fs::write(dir.path().join("secret.json"), "a secret").unwrap();
		let state = "checkpoints/step-00000050.safetensors";
		std::fs::write(folder.join(state), vec![b'x'; 3 * PIECE + 5]).unwrap();
		(dir, H256::repeat_byte(0xab))
	}

	#[tokio::test]
	async fn registered_files_are_served_and_nothing_else() {
		let (dir, root) = a_bundle();
		let folder = dir.path().join("bundle");
		let shelf = Shelf::default();
		let server = serve(shelf.clone()).await;
		let base = format!("/bundle/{}", hex::encode(root));
		let manifest = format!("{base}/manifest.json");
		assert_eq!(raw(&server, "/health", "").await, (200, "ok\n".into()));
		assert_eq!(raw(&server, &manifest, "").await.0, 404, "not registered yet");

		shelf.set(HashMap::from([(root, folder)]), HashMap::new());
		assert_eq!(raw(&server, &manifest, "").await, (200, "the manifest".into()));
		let state = format!("{base}/checkpoints/step-00000050.safetensors");
		assert_eq!(raw(&server, &state, "").await.1.len(), 3 * PIECE + 5);
		let with_0x = format!("/bundle/0x{}/manifest.json", hex::encode(root));
		assert_eq!(raw(&server, &with_0x, "").await.0, 200);

		for path in [
			"/",
			"/bundle",
			"/bundle/",
			"/blob/",
			"/blob/zz",
			"/bundle/xx/manifest.json",
			&base,
			&format!("{base}/"),
			&format!("{base}/secret.json"),
			&format!("{base}/../secret.json"),
			&format!("{base}/%2e%2e/secret.json"),
			&format!("{base}/checkpoints/../secret.json"),
			&format!("{base}/checkpoints/../manifest.json"),
			&format!("{base}//etc/passwd"),
			&format!("{base}/checkpoints"),
			&format!("{base}/checkpoints/step-00000099.safetensors"),
			&format!("/blob/{}", hex::encode(root)),
		] {
			let (status, body) = raw(&server, path, "").await;
			assert_eq!(status, 404, "{path}");
			assert!(!body.contains("a secret"), "{path}");
		}

		shelf.set(HashMap::new(), HashMap::new());
		assert_eq!(raw(&server, &manifest, "").await.0, 404, "taken down");
	}

	#[tokio::test]
	async fn blobs_are_served_by_content_hash_and_in_part() {
		let (dir, _) = a_bundle();
		let path = dir.path().join("data.csv");
		std::fs::write(&path, "0123456789").unwrap();
		let (hash, _) = hash::file(&path).unwrap();
		let shelf = Shelf::default();
		shelf.set(HashMap::new(), HashMap::from([(hash, path)]));
		let server = serve(shelf.clone()).await;
		let url = format!("/blob/{}", hex::encode(hash));
		assert_eq!(raw(&server, &url, "").await, (200, "0123456789".into()));
		let range = |r: &str| format!("range: {r}\r\n");
		assert_eq!(raw(&server, &url, &range("bytes=4-")).await, (206, "456789".into()));
		assert_eq!(raw(&server, &url, &range("bytes=0-")).await.1, "0123456789");
		assert_eq!(raw(&server, &url, &range("bytes=10-")).await.0, 416);
		assert_eq!(raw(&server, &url, &range("bytes=1-2")).await, (206, "12".into()));
		assert_eq!(raw(&server, &url, &range("bytes=8-99")).await, (206, "89".into()));
		assert_eq!(raw(&server, &url, &range("bytes=-3")).await, (206, "789".into()));
		assert_eq!(raw(&server, &url, &range("bytes=-0")).await.0, 416);
		for passed_over in ["bytes=2-1", "bytes=0-1,3-4", "lines=1-2"] {
			assert_eq!(raw(&server, &url, &range(passed_over)).await.0, 200, "{passed_over}");
		}
		shelf.set(HashMap::new(), HashMap::new());
		assert_eq!(raw(&server, &url, "").await.0, 404);
	}

	/// As browsers and download managers do: they have a part and its tag, and ask for the rest.
	#[tokio::test]
	async fn an_ordinary_client_resumes() {
		let (dir, root) = a_bundle();
		let state = "checkpoints/step-00000050.safetensors";
		let path = dir.path().join("bundle").join(state);
		let bytes: Vec<u8> = (0..3 * PIECE + 5).map(|at| (at % 251) as u8).collect();
		std::fs::write(&path, &bytes).unwrap();
		let (hash, _) = hash::file(&path).unwrap();
		let shelf = Shelf::default();
		let bundles = HashMap::from([(root, dir.path().join("bundle"))]);
		shelf.set(bundles, HashMap::from([(hash, path)]));
		let server = serve(shelf).await;
		let client = reqwest::Client::builder().no_proxy().build().unwrap();
		let blob = format!("http://{}/blob/{}", server.address(), hex::encode(hash));
		let bundle = format!("http://{}/bundle/{}/{state}", server.address(), hex::encode(root));
		for url in [blob, bundle] {
			let ask = |range: &str, tag: Option<&str>| {
				let request = client.get(&url).header("range", range);
				match tag {
					Some(tag) => request.header("if-range", tag),
					None => request,
				}
				.send()
			};
			let half = 2 * PIECE + 1;
			let first = ask(&format!("bytes=0-{}", half - 1), None).await.unwrap();
			assert_eq!(first.status(), 206);
			let named = |name: &str| Some(first.headers().get(name)?.to_str().unwrap().to_owned());
			assert_eq!(named("accept-ranges").as_deref(), Some("bytes"));
			let (end, size) = (half - 1, bytes.len());
			assert_eq!(named("content-range"), Some(format!("bytes 0-{end}/{size}")));
			let tag = named("etag");
			let mut got = first.bytes().await.unwrap().to_vec();
			assert_eq!(got.len(), half);
			let rest = ask(&format!("bytes={half}-"), tag.as_deref()).await.unwrap();
			assert_eq!(rest.status(), 206);
			got.extend(rest.bytes().await.unwrap());
			assert!(got == bytes, "{url}");
			// What it has is of another file: it begins again.
			let again = ask(&format!("bytes={half}-"), Some("\"other\"")).await.unwrap();
			assert_eq!(again.status(), 200);
			assert!(again.bytes().await.unwrap() == bytes);
			let head = client.head(&url).header("range", "bytes=5-").send().await.unwrap();
			assert_eq!(head.status(), 200);
			assert_eq!(head.headers()["content-length"], size.to_string().as_str());
		}
	}

	#[tokio::test]
	async fn a_port_in_use_is_named() {
		let taken = serve(Shelf::default()).await;
		let error = Server::start(taken.address(), Shelf::default()).await.err().unwrap();
		let text = error.to_string();
		assert!(text.contains(&format!("port {}", taken.address().port())), "{text}");
		assert!(text.contains("--listen"), "{text}");
	}

	/// A server with `connections` that gives up after a second.
	async fn impatient(connections: usize, shelf: Shelf) -> Server {
		let soon = Duration::from_secs(1);
		let limits = Limits { connections, first_byte: soon, stall: soon, ..Limits::default() };
		Server::start_within(limits, "127.0.0.1:0".parse().unwrap(), shelf).await.unwrap()
	}

	#[tokio::test]
	async fn idle_connections_give_way_to_an_honest_client() {
		let server = impatient(3, Shelf::default()).await;
		let mut idle = Vec::new();
		for begun in
			["", "GET /health HTTP/1.1\r\nhost:", "GET /health HTTP/1.1\r\nhost: x\r\n\r\n"]
		{
			let mut stream = TcpStream::connect(server.address()).await.unwrap();
			stream.write_all(begun.as_bytes()).await.unwrap();
			idle.push(stream);
		}
		// It waits in the queue until the three are closed; without a limit in time, for ever.
		assert_eq!(raw(&server, "/health", "").await, (200, "ok\n".into()));
		for mut stream in idle {
			let mut rest = Vec::new();
			// Closed or reset, both are an end.
			let _ = stream.read_to_end(&mut rest).await;
			assert!(rest.is_empty() || rest.ends_with(b"ok\n"));
		}
	}

	#[tokio::test]
	async fn a_client_that_does_not_read_is_cut_off() {
		let (dir, root) = a_bundle();
		let folder = dir.path().join("bundle");
		let state = "checkpoints/step-00000050.safetensors";
		// More than the buffers of both ends hold.
		let size = 64 << 20;
		let file = std::fs::File::create(folder.join(state)).unwrap();
		file.set_len(size).unwrap();
		let shelf = Shelf::default();
		shelf.set(HashMap::from([(root, folder)]), HashMap::new());
		let server = impatient(1, shelf).await;
		let mut stream = TcpStream::connect(server.address()).await.unwrap();
		let request =
			format!("GET /bundle/{}/{state} HTTP/1.1\r\nhost: x\r\n\r\n", hex::encode(root));
		stream.write_all(request.as_bytes()).await.unwrap();
		// There is one place: this one has it after the other lost it.
		assert_eq!(raw(&server, "/health", "").await, (200, "ok\n".into()));
		let mut got = Vec::new();
		let _ = stream.read_to_end(&mut got).await;
		assert!((got.len() as u64) < size, "{} bytes", got.len());
	}
}
