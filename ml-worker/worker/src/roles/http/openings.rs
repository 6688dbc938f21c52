//! Opens parts of checkpoints for whoever asks.
//!
//! A checkpoint is read and hashed whole for each answer, so two are opened at once, and whoever comes
//! then waits for a moment, and is told to come again. An answer that was made after its client had
//! gone is kept for a while: so a checkpoint that takes longer than a connection waits is had by asking
//! again, and is not opened again for that.

use super::{insert, not_found};
use axum::{
	body::Body,
	http::{header, StatusCode},
	response::{IntoResponse, Response},
};
use codec::Encode;
use std::{
	collections::VecDeque,
	io::ErrorKind,
	path::{Path, PathBuf},
	sync::{Arc, Mutex, MutexGuard, PoisonError},
	time::Duration,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::error;
use trainyard_proof::bundle::{
	openings::{OpenError, Opening, Parts},
	samples::Samples,
};

/// Checkpoints that are opened at once.
const AT_ONCE: usize = 2;
/// Most answers that are kept for clients that had gone.
const MOST_KEPT: usize = 8;
/// Seconds after which a client is told to come again.
const AGAIN: &str = "2";

/// A request: the file, and what of it.
type Key = (PathBuf, Parts);
/// What became of it: the SCALE bytes of an [`Opening`], or why there is none.
type Opened = Result<Vec<u8>, OpenError>;

/// Opens checkpoints. Clones share it.
#[derive(Clone)]
pub(super) struct Openings {
	free: Arc<Semaphore>,
	inner: Arc<Mutex<Inner>>,
	/// Longest time that a client waits.
	patience: Duration,
}

#[derive(Default)]
struct Inner {
	under_way: Vec<Key>,
	/// Answers that nobody has taken, oldest first.
	made: VecDeque<(Key, Opened)>,
}

impl Openings {
	/// Makes one whose clients have `first_byte` until their answer must begin.
	pub(super) fn new(first_byte: Duration) -> Self {
		let free = Arc::new(Semaphore::new(AT_ONCE));
		// A part of the time is gone already when a request was read.
		Self { free, inner: Arc::default(), patience: first_byte / 2 }
	}

	fn locked(&self) -> MutexGuard<'_, Inner> {
		self.inner.lock().unwrap_or_else(PoisonError::into_inner)
	}

	/// Answers a request for parts of the checkpoint in `file`, which the `query` names.
	pub(super) async fn answer(&self, file: PathBuf, query: &str) -> Response {
		let Some(text) = query.strip_prefix("parts=") else {
			return refused("the parts are missing: ?parts=0,2.17.4001");
		};
		let parts: Parts = match text.parse() {
			Ok(parts) => parts,
			Err(e) => return refused(e),
		};
		let key = (file, parts);
		if let Some(opened) = self.take(&key) {
			return respond(&key, opened);
		}
		// What is dropped here goes on, and leaves its answer.
		match tokio::time::timeout(self.patience, self.open(key.clone())).await {
			Ok(Some(opened)) => respond(&key, opened),
			Ok(None) | Err(_) => busy(),
		}
	}

	/// Returns the answer that was made for this request, if there is one.
	fn take(&self, key: &Key) -> Option<Opened> {
		let mut inner = self.locked();
		let at = inner.made.iter().position(|(made, _)| made == key)?;
		inner.made.remove(at).map(|(_, opened)| opened)
	}

	/// Waits for its turn, and opens. `None` if somebody else waits for the same already.
	async fn open(&self, key: Key) -> Option<Opened> {
		// Nobody closes it.
		let permit = self.free.clone().acquire_owned().await.ok()?;
		let work = Work::begin(self.clone(), permit, &key)?;
		let opening = move || {
			let (file, parts) = &work.key;
			let opened = opened(file, parts).map(|opening| opening.encode());
			work.end(opened);
		};
		if let Err(e) = tokio::task::spawn_blocking(opening).await {
			error!("cannot open parts of {}: {e}", key.0.display());
		}
		self.take(&key)
	}
}

/// Opens parts of a checkpoint: by the samples that are kept beside it, where they have these, which hashes nothing,
/// and else by its file.
fn opened(file: &Path, parts: &Parts) -> Result<Opening, OpenError> {
	let kept = Samples::load(&Samples::beside(file))?;
	match kept.and_then(|samples| samples.opening(parts)) {
		Some(opening) => Ok(opening),
		None => Opening::of_file(file, parts),
	}
}

/// An opening under way. It is no longer when this is dropped, whatever happened.
struct Work {
	all: Openings,
	key: Key,
	_permit: OwnedSemaphorePermit,
}

impl Work {
	/// Begins with `key`, unless that is under way.
	fn begin(all: Openings, permit: OwnedSemaphorePermit, key: &Key) -> Option<Self> {
		let mut inner = all.locked();
		if inner.under_way.contains(key) {
			return None;
		}
		inner.under_way.push(key.clone());
		drop(inner);
		Some(Self { all, key: key.clone(), _permit: permit })
	}

	/// Leaves what came of it.
	fn end(self, opened: Opened) {
		let mut inner = self.all.locked();
		if inner.made.len() >= MOST_KEPT {
			inner.made.pop_front();
		}
		inner.made.push_back((self.key.clone(), opened));
	}
}

impl Drop for Work {
	fn drop(&mut self) {
		self.all.locked().under_way.retain(|key| *key != self.key);
	}
}

fn refused(why: impl std::fmt::Display) -> Response {
	(StatusCode::BAD_REQUEST, format!("{why}\n")).into_response()
}

fn busy() -> Response {
	let text = "it is still being opened, or others are: ask again\n";
	(StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, AGAIN)], text).into_response()
}

fn respond((file, _): &Key, opened: Opened) -> Response {
	match opened {
		Ok(bytes) => {
			let mut response = Response::new(Body::from(bytes));
			insert(&mut response, header::CONTENT_TYPE, "application/octet-stream".into());
			response
		}
		Err(e @ (OpenError::NoSuchPart { .. } | OpenError::TooMuch { .. })) => refused(e),
		Err(OpenError::File(e)) if e.error.kind() == ErrorKind::NotFound => not_found(),
		Err(OpenError::File(e)) => {
			error!("cannot open parts of {}: {e}", file.display());
			(StatusCode::INTERNAL_SERVER_ERROR, "the file cannot be read\n").into_response()
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::http::{Server, Shelf};
	use codec::Decode;
	use std::{collections::HashMap, path::Path};
	use trainyard_proof::{
		bundle::{manifest::checkpoint_file, openings::Tensors, Bundle},
		testing,
	};
	use trainyard_protocol::H256;

	/// A trained bundle, and a server.
	struct Scene {
		folder: tempfile::TempDir,
		bundle: Bundle,
		shelf: Shelf,
		server: Server,
	}

	impl Scene {
		async fn new() -> Self {
			let folder = tempfile::tempdir().unwrap();
			let data = testing::table(folder.path());
			let (spec, out) = (testing::job(&data), folder.path().join("bundle"));
			let bundle = testing::train(&spec, &data, &out, false, None).unwrap();
			let shelf = Shelf::default();
			let server =
				Server::start("127.0.0.1:0".parse().unwrap(), shelf.clone()).await.unwrap();
			Self { folder, bundle, shelf, server }
		}

		fn register(&self) {
			let out = self.folder.path().join("bundle");
			self.shelf.set(HashMap::from([(self.bundle.root(), out)]), HashMap::new());
		}

		fn file(&self, step: u32) -> PathBuf {
			self.folder.path().join("bundle").join(checkpoint_file(step))
		}

		fn url(&self, rest: &str) -> String {
			let root = hex::encode(self.bundle.root());
			format!("http://{}/bundle/{root}/openings/{rest}", self.server.address())
		}

		async fn get(&self, rest: &str) -> (u16, Vec<u8>) {
			let response = reqwest::get(self.url(rest)).await.unwrap();
			(response.status().as_u16(), response.bytes().await.unwrap().to_vec())
		}

		fn state(&self, index: usize) -> H256 {
			self.bundle.manifest().checkpoints[index].state_hash
		}
	}

	#[tokio::test]
	async fn parts_of_checkpoints_are_served_with_their_proofs() {
		let scene = Scene::new().await;
		assert_eq!(scene.get("10?parts=0").await.0, 404, "not registered yet");
		scene.register();
		let parts: Parts = "0,3".parse().unwrap();
		let (status, bytes) = scene.get("10?parts=0,3").await;
		assert_eq!(status, 200);
		let opening = Opening::decode(&mut &bytes[..]).unwrap();
		let tensors = Tensors::of(&scene.bundle.manifest().spec);
		assert!(bytes.len() as u64 <= tensors.most_bytes(&parts));
		assert_eq!(opening.elements(&scene.state(1), &tensors, &parts).unwrap().len(), 2);
		assert!(opening.elements(&scene.state(2), &tensors, &parts).is_err());
		for (rest, expected) in [
			("10", 400),
			("10?parts=", 400),
			("10?part=0", 400),
			("10?parts=0&parts=1", 400),
			("10?parts=3,0", 400),
			("10?parts=0,0", 400),
			("10?parts=99", 400),
			("10?parts=0.7000", 400),
			("10?parts=0.1.1", 400),
			("10?parts=-1", 400),
			("11?parts=0", 404),
			("010?parts=0", 404),
			("4294967296?parts=0", 404),
			("10/?parts=0", 404),
			("../10?parts=0", 404),
			("?parts=0", 404),
		] {
			let (status, text) = scene.get(rest).await;
			assert_eq!(status, expected, "{rest}");
			assert!(text.ends_with(b"\n") && text.len() < 300, "{rest}: one line");
		}
		// More parts than there may be in one request.
		let many: Vec<String> = (0..257).map(|part: u32| part.to_string()).collect();
		assert_eq!(scene.get(&format!("10?parts={}", many.join(","))).await.0, 400);
		for method in [reqwest::Method::POST, reqwest::Method::HEAD] {
			let request = reqwest::Client::new().request(method, scene.url("10?parts=0"));
			assert_eq!(request.send().await.unwrap().status().as_u16(), 405);
		}
		std::fs::write(scene.file(10), b"no state").unwrap();
		assert_eq!(scene.get("10?parts=0").await.0, 500);
		scene.shelf.set(HashMap::new(), HashMap::new());
		assert_eq!(scene.get("20?parts=0").await.0, 404, "taken down");
	}

	fn key(path: &Path) -> Key {
		(path.to_owned(), "0".parse().unwrap())
	}

	#[tokio::test]
	async fn who_comes_while_others_are_served_is_told_to_come_again() {
		let scene = Scene::new().await;
		let openings = Openings::new(Duration::from_millis(20));
		let held = openings.free.clone().acquire_many_owned(AT_ONCE as u32).await.unwrap();
		let response = openings.answer(scene.file(10), "parts=0").await;
		assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
		assert_eq!(response.headers()[header::RETRY_AFTER], AGAIN);
		drop(held);
		let patient = Openings { patience: Duration::from_secs(600), ..openings };
		assert_eq!(patient.answer(scene.file(10), "parts=0").await.status(), StatusCode::OK);
		// The same is not opened twice at once, and what ended in any way is not under way.
		let permit = patient.free.clone().acquire_owned().await.unwrap();
		let work = Work::begin(patient.clone(), permit, &key(&scene.file(10))).unwrap();
		let response = patient.answer(scene.file(10), "parts=0").await;
		assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
		assert_eq!(patient.answer(scene.file(20), "parts=0").await.status(), StatusCode::OK);
		drop(work);
		assert_eq!(patient.answer(scene.file(10), "parts=0").await.status(), StatusCode::OK);
	}

	#[tokio::test]
	async fn an_answer_that_nobody_waited_for_is_kept_and_few_are() {
		let scene = Scene::new().await;
		let openings = Openings::new(Duration::from_secs(600));
		let leave = |file: &Path| {
			let permit = openings.free.clone().try_acquire_owned().unwrap();
			let work = Work::begin(openings.clone(), permit, &key(file)).unwrap();
			work.end(Ok(b"kept".to_vec()));
		};
		leave(&scene.file(10));
		let response = openings.answer(scene.file(10), "parts=0").await;
		let body = axum::body::to_bytes(response.into_body(), 100).await.unwrap();
		assert_eq!(&body[..], b"kept");
		// It is given once.
		let response = openings.answer(scene.file(10), "parts=0").await;
		assert!(axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap().len() > 100);
		for step in 0..3 * MOST_KEPT as u32 {
			leave(&scene.file(step));
		}
		assert_eq!(openings.locked().made.len(), MOST_KEPT);
		assert!(openings.locked().under_way.is_empty());
	}
}
