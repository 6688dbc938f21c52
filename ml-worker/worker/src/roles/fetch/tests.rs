use super::*;
use crate::roles::http::{Server, Shelf};
use std::future::Future;
use tokio::{
	io::AsyncReadExt,
	net::{TcpListener, TcpStream},
	sync::mpsc,
};
use trainyard_proof::{bundle, hash};
use trainyard_protocol::H256;

pub(super) fn quick() -> Fetcher {
	among(Locations::Any)
}

pub(super) fn among(locations: Locations) -> Fetcher {
	Fetcher::new(2, Duration::from_millis(10), locations).unwrap()
}

pub(super) fn file(hash: H256, bytes: u64) -> Content {
	Content::File { hash, bytes }
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
	let wanted = Wanted { url: &url, path: &path, content: file(hash, 200_000) };
	quick().fetch(&wanted).await.unwrap();
	assert_eq!(std::fs::read(&path).unwrap(), bytes);
	assert_eq!(std::fs::read_dir(dir.path().join("cache")).unwrap().count(), 1, "no part is left");
	// The second time no server is asked.
	drop(server);
	quick().fetch(&wanted).await.unwrap();
}

/// A server that sends to each connection what `answer` makes of its request.
pub(super) async fn raw<F>(
	answer: impl Fn(String, TcpStream) -> F + Send + Sync + 'static,
) -> String
where
	F: Future<Output = ()> + Send + 'static,
{
	let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
	let url = format!("http://{}/data", listener.local_addr().unwrap());
	tokio::spawn(async move {
		while let Ok((mut stream, _)) = listener.accept().await {
			let mut request = vec![0; 4096];
			// A client ignores an answer before its request.
			let length = stream.read(&mut request).await.unwrap_or(0);
			request.truncate(length);
			tokio::spawn(answer(String::from_utf8_lossy(&request).to_lowercase(), stream));
		}
	});
	url
}

/// A server that announces this many bytes and sends one of them now and then.
async fn dripping(length: u64) -> String {
	raw(move |_, mut stream| async move {
		let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
		let mut sent = stream.write_all(head.as_bytes()).await;
		while sent.is_ok() {
			tokio::time::sleep(Duration::from_millis(20)).await;
			sent = stream.write_all(b"x").await;
		}
	})
	.await
}

/// A least rate that counts soon.
const SOON: Pace =
	Pace { grace: Duration::from_millis(200), window: Duration::from_millis(200), rate: 1 << 20 };

#[tokio::test]
async fn a_server_that_drips_is_given_up() {
	let dir = tempfile::tempdir().unwrap();
	let path = dir.path().join("data");
	let fetcher = quick().at(SOON);
	// A long file: the declared length gives it hours.
	let length = 700 << 20;
	let url = dripping(length).await;
	let content = file(H256::zero(), length);
	let error = fetcher.fetch(&Wanted { url: &url, path: &path, content }).await.unwrap_err();
	assert!(matches!(error, FetchError::BelowRate { .. }) && error.may_pass(), "{error}");
	assert!(error.to_string().starts_with(&format!("{url} is too slow: ")), "{error}");
	assert!(!path.exists());
	// A short one.
	let url = dripping(60_000).await;
	let fetcher = quick().at(Pace { window: Duration::ZERO, rate: 1 << 30, ..SOON });
	let content = Content::Any { limit: 60_000 };
	let error = fetcher.fetch(&Wanted { url: &url, path: &path, content }).await.unwrap_err();
	assert!(error.is_slow() && error.may_pass(), "{error}");
	assert!(error.to_string().starts_with(&format!("{url} is too slow: ")), "{error}");
	assert!(!path.exists());
}

/// A server of `bytes`, which knows ranges. It tells where each request begins, and breaks its
/// first answer off after `most` bytes.
pub(super) async fn breaking(
	bytes: Vec<u8>,
	most: usize,
) -> (String, mpsc::UnboundedReceiver<Option<usize>>) {
	let (asked, log) = mpsc::unbounded_channel();
	let (bytes, whole) = (Arc::new(bytes), Arc::new(Mutex::new(false)));
	let url = raw(move |request, mut stream| {
		let range = request.lines().find_map(|line| line.strip_prefix("range: bytes="));
		let range = range.map(|range| range.trim_end_matches('-').parse::<usize>().unwrap());
		asked.send(range).unwrap();
		let start = range.unwrap_or(0);
		let all = std::mem::replace(&mut *whole.lock().unwrap(), true);
		let end = if all { bytes.len() } else { bytes.len().min(start.saturating_add(most)) };
		let bytes = bytes.clone();
		async move {
			let status = if start == 0 { "200 OK" } else { "206 Partial Content" };
			let left = bytes.len() - start;
			let head = format!("HTTP/1.1 {status}\r\ncontent-length: {left}\r\n\r\n");
			let _ = stream.write_all(head.as_bytes()).await;
			let _ = stream.write_all(&bytes[start..end]).await;
			let _ = stream.shutdown().await;
		}
	})
	.await;
	(url, log)
}

pub(super) fn told(mut log: mpsc::UnboundedReceiver<Option<usize>>) -> Vec<Option<usize>> {
	std::iter::from_fn(|| log.try_recv().ok()).collect()
}

/// The bytes of a checkpoint with one tensor, and the hash of its state.
fn a_state(value: f32) -> (Vec<u8>, H256) {
	let numbers = [value; 5_000];
	let header = r#"{"w":{"dtype":"F32","shape":[5000],"data_offsets":[0,20000]}}"#;
	let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
	bytes.extend(header.as_bytes());
	bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
	let hash = bundle::hash_of_state(&bytes).unwrap();
	(bytes, hash)
}

#[tokio::test]
async fn a_checkpoint_goes_on_where_it_broke_off() {
	let dir = tempfile::tempdir().unwrap();
	let path = dir.path().join("step.safetensors");
	let (bytes, hash) = a_state(1.5);
	let content = Content::State { hash, limit: 30_000 };
	// Within one call, and in a later one.
	for tries in [2, 1] {
		let (url, log) = breaking(bytes.clone(), 12_000).await;
		let wanted = Wanted { url: &url, path: &path, content };
		let fetcher = Fetcher { tries, ..quick() };
		if tries == 1 {
			let error = fetcher.fetch(&wanted).await.unwrap_err();
			assert!(error.may_pass(), "{error}");
			assert_eq!(std::fs::read(content.part(&path, &url)).unwrap(), bytes[..12_000]);
			// Another state of the same step has a part of its own.
			let (other, hash) = a_state(2.5);
			let (url, log) = breaking(other, usize::MAX).await;
			let elsewhere = Content::State { hash, limit: 30_000 };
			let wanted = Wanted { url: &url, path: &path, content: elsewhere };
			fetcher.fetch(&wanted).await.unwrap();
			assert_eq!(told(log), [None]);
		}
		fetcher.fetch(&wanted).await.unwrap();
		assert_eq!(std::fs::read(&path).unwrap(), bytes);
		assert_eq!(told(log), [None, Some(12_000)]);
		// What is here and right is not fetched again, whoever is asked.
		fetcher.fetch(&Wanted { url: "http://127.0.0.1:1/gone", ..wanted }).await.unwrap();
		std::fs::remove_file(&path).unwrap();
		assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "no part is left");
	}
}

#[tokio::test]
async fn a_wrong_part_of_a_checkpoint_is_begun_again_once() {
	let dir = tempfile::tempdir().unwrap();
	let path = dir.path().join("step.safetensors");
	let (bytes, hash) = a_state(1.5);
	let content = Content::State { hash, limit: 30_000 };
	let fetcher = Fetcher { tries: 1, ..quick() };
	let (url, log) = breaking(bytes.clone(), usize::MAX).await;
	std::fs::write(content.part(&path, &url), [7; 9_000]).unwrap();
	fetcher.fetch(&Wanted { url: &url, path: &path, content }).await.unwrap();
	assert_eq!(std::fs::read(&path).unwrap(), bytes);
	assert_eq!(told(log), [Some(9_000), None]);
	// It is the server that is wrong.
	std::fs::remove_file(&path).unwrap();
	for other in [a_state(2.5).0, vec![0; 20_000]] {
		let (url, log) = breaking(other, usize::MAX).await;
		let part = content.part(&path, &url);
		std::fs::write(&part, [7; 9_000]).unwrap();
		let wanted = Wanted { url: &url, path: &path, content };
		let error = Fetcher { tries: 5, ..quick() }.fetch(&wanted).await.unwrap_err();
		assert!(matches!(error, FetchError::WrongState { .. }) && !error.may_pass(), "{error}");
		assert!(error.to_string().contains(&url), "{error}");
		assert_eq!(told(log), [Some(9_000), None]);
		assert!(!path.exists() && !part.exists());
	}
}

/// A server that gives this answer to every request, and then closes.
pub(super) async fn answering(head: &'static str, body: Vec<u8>) -> String {
	raw(move |_, mut stream| {
		let body = body.clone();
		async move {
			let _ = stream.write_all(format!("HTTP/1.1 {head}\r\n\r\n").as_bytes()).await;
			let _ = stream.write_all(&body).await;
			let _ = stream.shutdown().await;
		}
	})
	.await
}

#[tokio::test]
async fn no_server_undoes_what_another_one_brought() {
	let dir = tempfile::tempdir().unwrap();
	let path = dir.path().join("step.safetensors");
	let (bytes, hash) = a_state(1.5);
	let content = Content::State { hash, limit: 30_000 };
	let fetcher = Fetcher { tries: 1, ..quick() };
	let (honest, log) = breaking(bytes.clone(), 12_000).await;
	let asking = |url: String| {
		let (fetcher, path, content) = (&fetcher, &path, content);
		async move { fetcher.fetch(&Wanted { url: &url, path, content }).await }
	};
	asking(honest.clone()).await.unwrap_err();
	let (breaks_off, _log) = breaking(vec![9; 25_000], 15_000).await;
	let others = [
		answering("404 Not Found", vec![]).await,
		answering("200 OK", vec![9; 20_000]).await,
		// As if it went on with another one's part.
		answering("206 Partial Content", vec![9; 8_000]).await,
		answering("200 OK", vec![9; 40_000]).await,
		answering("200 OK\r\ncontent-length: 40000", vec![]).await,
		"file:///etc/passwd".to_owned(),
		breaks_off,
		"http://127.0.0.1:1/gone".to_owned(),
	];
	for url in others {
		asking(url).await.unwrap_err();
		assert_eq!(std::fs::read(content.part(&path, &honest)).unwrap(), bytes[..12_000]);
	}
	asking(honest).await.unwrap();
	assert_eq!(std::fs::read(&path).unwrap(), bytes);
	assert_eq!(told(log), [None, Some(12_000)]);
	assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no part is left");
}

#[tokio::test]
async fn a_part_stays_where_its_server_does_not_have_the_file_now() {
	let dir = tempfile::tempdir().unwrap();
	let path = dir.path().join("data");
	let content = file(H256::zero(), 500);
	let url = answering("404 Not Found", vec![]).await;
	let part = content.part(&path, &url);
	std::fs::write(&part, [1; 100]).unwrap();
	quick().fetch(&Wanted { url: &url, path: &path, content }).await.unwrap_err();
	assert_eq!(std::fs::read(&part).unwrap(), [1; 100]);
}

#[tokio::test]
async fn the_longest_parts_of_a_file_stay_and_no_others() {
	let dir = tempfile::tempdir().unwrap();
	let path = dir.path().join("data");
	let content = file(H256::zero(), 500);
	let part = |n: usize| content.part(&path, &format!("http://server-{n}"));
	for n in 1..=5 {
		std::fs::write(part(n), vec![1; 10 * n]).unwrap();
	}
	std::fs::write(dir.path().join("data-of-others.part"), [1; 5]).unwrap();
	let wanted = Wanted { url: "http://127.0.0.1:1/gone", path: &path, content };
	quick().fetch(&wanted).await.unwrap_err();
	assert_eq!([1, 2, 3, 4, 5].map(|n| part(n).exists()), [false, false, true, true, true]);
	assert!(dir.path().join("data-of-others.part").exists());
}

#[tokio::test]
async fn another_length_than_declared_is_not_listened_to() {
	let dir = tempfile::tempdir().unwrap();
	let path = dir.path().join("data");
	// Nothing comes after the head: whoever waits for it waits until it is too slow.
	let url = raw(|request, mut stream| async move {
		let (status, length) = match request.contains("range: bytes=100-") {
			true => ("206 Partial Content", 59_900),
			false => ("200 OK", 60_000),
		};
		let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n");
		stream.write_all(head.as_bytes()).await.unwrap();
		std::future::pending::<()>().await;
	})
	.await;
	for (declared, here) in [(59_999, 0), (60_001, 0), (1 << 40, 0), (60_001, 100)] {
		let content = file(H256::zero(), declared);
		std::fs::write(content.part(&path, &url), vec![0; here]).unwrap();
		let error = quick().fetch(&Wanted { url: &url, path: &path, content }).await.unwrap_err();
		let wrong = matches!(
			error,
			FetchError::WrongLength { expected, found: 60_000, .. } if expected == declared
		);
		assert!(wrong && !error.may_pass(), "{error}");
		assert!(error.to_string().starts_with(&url), "{error}");
		assert!(!path.exists() && !content.part(&path, &url).exists());
	}
	// Where only a limit is known, a longer file is not begun.
	let content = Content::State { hash: H256::zero(), limit: 59_999 };
	let error = quick().fetch(&Wanted { url: &url, path: &path, content }).await.unwrap_err();
	assert!(matches!(error, FetchError::TooLarge { limit: 59_999, .. }), "{error}");
}

#[tokio::test]
async fn one_at_a_time_writes_a_file() {
	let (_server, dir, hash, url) = serving(&[7; 5000]).await;
	let path = dir.path().join("data");
	let wanted = Wanted { url: &url, path: &path, content: file(hash, 5000) };
	let fetcher = quick().at(SOON);
	let lock = fetcher.lock(&path);
	let other = lock.lock().await;
	let error = fetcher.clone().fetch(&wanted).await.unwrap_err();
	assert!(matches!(error, FetchError::TooSlow { .. }), "{error}");
	assert!(!wanted.content.part(&path, &url).exists(), "written beside the other one");
	drop(other);
	quick().fetch(&wanted).await.unwrap();
	assert_eq!(std::fs::read(&path).unwrap(), [7; 5000]);
}

#[tokio::test]
async fn a_transfer_goes_on_where_it_broke_off() {
	let bytes: Vec<u8> = (0..100_000u32).map(|i| i as u8).collect();
	let (_server, dir, hash, url) = serving(&bytes).await;
	let path = dir.path().join("data");
	let wanted = Wanted { url: &url, path: &path, content: file(hash, 100_000) };
	let part = wanted.content.part(&path, &url);

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
	let wanted = Wanted { url: &url, path: &path, content: file(expected, 7) };
	let error = quick().fetch(&wanted).await.unwrap_err();
	assert!(matches!(error, FetchError::WrongHash { .. }));
	let text = error.to_string();
	assert!(text.contains(&format!("{found:?}")) && text.contains(&format!("{expected:?}")));
	assert!(text.contains(&url), "{text}");
	assert!(!path.exists() && !wanted.content.part(&path, &url).exists());
}

#[tokio::test]
async fn a_location_that_does_not_answer_is_named() {
	let (server, dir, hash, url) = serving(b"x").await;
	let address = server.address();
	drop(server);
	// The aborted server closes its socket when its task is dropped.
	while TcpStream::connect(address).await.is_ok() {
		tokio::time::sleep(Duration::from_millis(10)).await;
	}
	let path = dir.path().join("data");
	let wanted = Wanted { url: &url, path: &path, content: file(hash, 99) };
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
		let wanted = Wanted { url, path: &path, content: file(hash, 99) };
		let error = among(Locations::Public).fetch(&wanted).await.unwrap_err();
		assert!(matches!(error, FetchError::Refused { .. }) && !error.may_pass(), "{error}");
		assert!(error.to_string().starts_with(url.as_str()), "{error}");
		assert!(error.to_string().contains("--allow-private-locations"), "{error}");
		assert!(!path.exists());
	}
}

/// A server that sends everybody to `target`.
pub(super) async fn redirecting(target: String) -> String {
	raw(move |_, mut stream| {
		let head = "HTTP/1.1 302 Found\r\nconnection: close\r\ncontent-length: 0\r\n";
		let answer = format!("{head}location: {target}\r\n\r\n");
		async move {
			let _ = stream.write_all(answer.as_bytes()).await;
		}
	})
	.await
}

#[tokio::test]
async fn redirects_lead_to_no_private_location() {
	let (server, dir, hash, target) = serving(b"secret").await;
	let path = dir.path().join("data");
	let by_name = format!("http://localhost:{}/health", server.address().port());
	for target in [target, by_name] {
		let url = redirecting(target.clone()).await;
		let wanted = Wanted { url: &url, path: &path, content: file(hash, 6) };
		// The first location is of this machine, too: it alone passes.
		let fetcher = Fetcher { locations: Locations::Any, ..among(Locations::Public) };
		let error = fetcher.fetch(&wanted).await.unwrap_err();
		assert!(matches!(error, FetchError::Refused { .. }), "{target}: {error}");
		assert!(!path.exists());
	}
	let url = redirecting(format!("http://{}/blob/{}", server.address(), hex::encode(hash)));
	let url = url.await;
	let wanted = Wanted { url: &url, path: &path, content: file(hash, 6) };
	quick().fetch(&wanted).await.unwrap();
	assert_eq!(std::fs::read(&path).unwrap(), b"secret");
	// Round and round.
	std::fs::remove_file(&path).unwrap();
	let url = redirecting("/again".into()).await;
	let wanted = Wanted { url: &url, path: &path, content: file(hash, 6) };
	assert!(quick().fetch(&wanted).await.unwrap_err().to_string().contains("redirects"));
}

#[tokio::test]
async fn missing_and_oversized_files_are_refused() {
	let (_server, dir, hash, url) = serving(&[5; 5000]).await;
	let path = dir.path().join("data");
	let elsewhere = url.replace("/blob/", "/nowhere/");
	let wanted = Wanted { url: &elsewhere, path: &path, content: file(hash, 5000) };
	let error = quick().fetch(&wanted).await.unwrap_err();
	assert!(matches!(error, FetchError::Status { status: StatusCode::NOT_FOUND, .. }));
	let wanted = Wanted { url: &url, path: &path, content: Content::Any { limit: 4999 } };
	let error = quick().fetch(&wanted).await.unwrap_err();
	assert!(matches!(error, FetchError::TooLarge { limit: 4999, .. }));
	assert!(!path.exists());
	let wanted =
		Wanted { url: "file:///etc/passwd", path: &path, content: Content::Any { limit: 1 } };
	assert!(matches!(quick().fetch(&wanted).await, Err(FetchError::BadUrl { .. })));
}

/// A short answer is taken into memory, within its limit, and asked for again where that may help.
#[tokio::test]
async fn short_answers_are_taken_into_memory() {
	let (_server, _dir, _, url) = serving(&[7; 1_000]).await;
	assert_eq!(quick().get(&url, 1_000).await.unwrap(), [7; 1_000]);
	let error = quick().get(&url, 999).await.unwrap_err();
	assert!(matches!(error, FetchError::TooLarge { limit: 999, .. }), "{error}");
	let error = quick().get(&format!("{url}0"), 9).await.unwrap_err();
	assert!(matches!(error, FetchError::Status { .. }), "{error}");
	let error = among(Locations::Public).get(&url, 1_000).await.unwrap_err();
	assert!(matches!(error, FetchError::Refused { .. }), "{error}");
	let error = quick().get("file:///etc/passwd", 9).await.unwrap_err();
	assert!(matches!(error, FetchError::BadUrl { .. }), "{error}");
	// No length is announced, and more comes than was asked for.
	let endless = raw(|_, mut stream| async move {
		let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
		while sent.is_ok() {
			sent = stream.write_all(&[1; 1_000]).await;
		}
	})
	.await;
	let error = quick().get(&endless, 100_000).await.unwrap_err();
	assert!(matches!(error, FetchError::TooLarge { .. }), "{error}");
	// The first answer is a refusal for now.
	let first = Arc::new(std::sync::atomic::AtomicBool::new(true));
	let busy = raw(move |_, mut stream| {
		let first = first.swap(false, std::sync::atomic::Ordering::Relaxed);
		async move {
			let answer: &[u8] = match first {
				true => b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
				false => b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok",
			};
			// A client that has gone is no matter.
			let _ = stream.write_all(answer).await;
		}
	})
	.await;
	assert_eq!(quick().get(&busy, 9).await.unwrap(), b"ok");
	let pace =
		Pace { grace: Duration::from_millis(50), window: Duration::from_millis(50), rate: 1 << 20 };
	let error = quick().at(pace).get(&dripping(9_000).await, 9_000).await.unwrap_err();
	assert!(matches!(error, FetchError::TooSlow { .. }), "{error}");
}

/// A chain that has these bytes as a blob.
async fn chain_with(bytes: Vec<u8>) -> Arc<Chain> {
	use codec::{Decode, Encode};
	use trainyard_client::{fake::FakeNode, AccountId32, BlobView};
	use trainyard_protocol::blob::Chunked;
	let node = FakeNode::new(move |method, arguments, _| match method {
		"TrainyardApi_blob" => {
			let asked = H256::decode(&mut &arguments[..]).unwrap();
			let blob = Chunked::new(&bytes);
			let (size, chunks) = (bytes.len() as u64, blob.chunks.len() as u32);
			let owner = AccountId32([1; 32]);
			let (missing, expires, removing) = (vec![], 90, false);
			let view = BlobView { owner, size, chunks, missing, expires, removing };
			Ok(Some(view).filter(|_| asked == blob.root).encode())
		}
		"trainyard_modelChunk" => {
			let (_, index) = <(H256, u32)>::decode(&mut &arguments[..]).unwrap();
			Ok(Chunked::new(&bytes).chunks[index as usize].to_vec())
		}
		_ => Err("no such method"),
	});
	Arc::new(node.chain().await)
}

#[tokio::test]
async fn a_file_on_chain_comes_from_the_chain_or_from_who_has_it() {
	let bytes: Vec<u8> = (0..30_000u32).map(|i| (i % 251) as u8).collect();
	let root = trainyard_protocol::blob::Chunked::new(&bytes).root;
	let content = Content::Blob { root, bytes: 30_000 };
	let fetcher = quick().with_chain(chain_with(bytes.clone()).await);
	let dir = tempfile::tempdir().unwrap();
	let path = dir.path().join("cache/model");
	let wanted = Wanted { url: ON_CHAIN, path: &path, content };
	fetcher.fetch(&wanted).await.unwrap();
	assert_eq!(std::fs::read(&path).unwrap(), bytes);
	assert_eq!(std::fs::read_dir(dir.path().join("cache")).unwrap().count(), 1, "no part is left");

	// Whoever is not at a chain has it by HTTP, recognised by the same root.
	let (_server, _source, _, url) = serving(&bytes).await;
	let other = dir.path().join("other/model");
	quick().fetch(&Wanted { url: &url, path: &other, content }).await.unwrap();
	assert_eq!(std::fs::read(&other).unwrap(), bytes);
	let wrong = Content::Blob { root: H256::zero(), bytes: 30_000 };
	let third = dir.path().join("third/model");
	let error = quick().fetch(&Wanted { url: &url, path: &third, content: wrong }).await;
	assert!(matches!(error, Err(FetchError::WrongHash { .. })), "{error:?}");

	// What the chain does not have may come yet; without a chain, and for files that are no blobs, it is no place.
	let missing = Wanted { url: ON_CHAIN, path: &third, content: wrong };
	let error = fetcher.fetch(&missing).await.unwrap_err();
	assert!(error.may_pass(), "{error}");
	assert!(matches!(quick().fetch(&missing).await, Err(FetchError::BadUrl { .. })));
	let plain = Wanted { url: ON_CHAIN, path: &third, content: file(root, 30_000) };
	assert!(matches!(fetcher.fetch(&plain).await, Err(FetchError::BadUrl { .. })));
}
