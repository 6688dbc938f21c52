//! What the tests share: files, shelves, and servers that do wrong.

use crate::{
	index::{Index, PartHash},
	protocol::{self, Request, Span, Status},
	Layout, Limits, Location, Node, Options, Pace, Shelf, Source, Wanted,
};
use iroh::{
	endpoint::{presets::Minimal, SendStream},
	Endpoint, SecretKey,
};
use rand::{rngs::StdRng, RngCore, SeedableRng};
use std::{
	collections::HashMap,
	fs::File,
	io,
	net::SocketAddr,
	path::{Path, PathBuf},
	sync::{Arc, Mutex},
	time::Duration,
};
use tokio::io::AsyncReadExt;

/// A file for tests: a head of 24 bytes, and parts of these lengths.
pub(crate) struct Example {
	pub bytes: Vec<u8>,
	pub parts: Vec<u64>,
}

/// Length of its head.
const HEAD: u64 = 24;

impl Example {
	pub(crate) fn new(parts: &[u64]) -> Self {
		let mut bytes = vec![0; (HEAD + parts.iter().sum::<u64>()) as usize];
		StdRng::seed_from_u64(parts.len() as u64).fill_bytes(&mut bytes);
		Self { bytes, parts: parts.to_vec() }
	}

	pub(crate) fn index(&self) -> Index {
		let (head, mut rest) = self.bytes.split_at(HEAD as usize);
		let mut parts = Vec::new();
		for length in &self.parts {
			let (part, after) = rest.split_at(*length as usize);
			parts.push(PartHash { bytes: *length, hash: blake3::hash(part) });
			rest = after;
		}
		Index { head: head.to_vec(), parts }
	}

	pub(crate) fn write(&self, folder: &Path, name: &str) -> PathBuf {
		let path = folder.join(name);
		std::fs::write(&path, &self.bytes).unwrap();
		path
	}
}

/// Files by their paths; all are cut alike.
#[derive(Default)]
pub(crate) struct Files {
	pub files: Mutex<HashMap<String, PathBuf>>,
	pub parts: Vec<u64>,
}

impl Shelf for Files {
	fn find(&self, path: &str) -> Option<PathBuf> {
		self.files.lock().unwrap().get(path).cloned()
	}

	fn layout(&self, _: &str, _: &File, _: u64) -> io::Result<Layout> {
		Ok(Layout { head: HEAD, parts: self.parts.clone() })
	}
}

/// A key that only tests have.
pub(crate) fn key(n: u8) -> SecretKey {
	SecretKey::from_bytes(&[n; 32])
}

/// An endpoint on loopback alone.
pub(crate) async fn node(n: u8) -> Node {
	let listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
	Node::bind(Options { listen, ..Options::new(key(n)) }).await.unwrap()
}

/// Where it is.
pub(crate) fn here(node: &Node) -> Location {
	node.location(node.sockets())
}

/// A provider of one file under the path `/file`.
pub(crate) struct Provider {
	pub node: Node,
	pub shelf: Arc<Files>,
	_serving: crate::serve::Serving,
}

impl Provider {
	pub(crate) async fn new(n: u8, example: &Example, path: PathBuf) -> Self {
		Self::on(node(n).await, example, path, Limits::default())
	}

	pub(crate) fn on(node: Node, example: &Example, path: PathBuf, limits: Limits) -> Self {
		let files = Mutex::new(HashMap::from([("/file".to_owned(), path)]));
		let shelf = Arc::new(Files { files, parts: example.parts.clone() });
		let _serving = node.serve(shelf.clone(), limits);
		Self { node, shelf, _serving }
	}

	pub(crate) fn source(&self) -> Source {
		source(here(&self.node))
	}
}

pub(crate) fn source(location: Location) -> Source {
	Source { location, path: "/file".into() }
}

/// A pace of which tests do not wait for long.
pub(crate) fn quick() -> Pace {
	Pace {
		grace: Duration::from_secs(1),
		window: Duration::from_secs(1),
		rate: 64 * 1024,
		silence: Duration::from_secs(3),
	}
}

/// Downloads the example, and checks that it is it.
pub(crate) async fn fetch(
	node: &Node,
	example: &Example,
	part: &Path,
	sources: &[Source],
) -> Result<crate::Fetched, crate::DownloadError> {
	let expected = example.index();
	let accept = |index: &Index| *index == expected;
	let limit = example.bytes.len() as u64;
	let wanted = Wanted { part, sources, limit, accept: &accept, pace: quick() };
	let fetched = crate::download(node, &wanted).await?;
	assert!(std::fs::read(part).unwrap() == example.bytes);
	assert!(!crate::record::path_of(part).exists());
	Ok(fetched)
}

/// What a server that does wrong does with the answer to a request for spans.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wrong {
	/// Changes a byte of the last group.
	Byte,
	/// Changes the first pair of hashes.
	Hash,
	/// Sends zeros.
	Zeros,
	/// Sends half of it, and ends.
	Half,
	/// Sends half of it, and nothing more.
	Silence,
	/// Sends a little now and then.
	Drip,
	/// Says nothing.
	Nothing,
	/// Sends it, and more.
	More,
	/// Answers with a status that there is not.
	Status,
	/// Answers to a request for the index with that of another file.
	OtherIndex,
	/// Announces an index that would take all memory.
	EndlessIndex,
}

/// A server that has the example, and does wrong. Returns where it is.
pub(crate) async fn wrong(n: u8, example: &Example, how: Wrong) -> Source {
	let endpoint = Endpoint::builder(Minimal)
		.secret_key(key(n))
		.alpns(vec![protocol::ALPN.to_vec()])
		.clear_ip_transports()
		.bind_addr("127.0.0.1:0")
		.unwrap()
		.bind()
		.await
		.unwrap();
	let addresses = endpoint.bound_sockets();
	let location = Location { addresses, ..Location::new(endpoint.id()) };
	let (bytes, index) = (Arc::new(example.bytes.clone()), example.index());
	tokio::spawn(async move {
		while let Some(connecting) = endpoint.accept().await {
			let (bytes, index) = (bytes.clone(), index.clone());
			tokio::spawn(async move {
				let Ok(connection) = connecting.await else { return };
				while let Ok((send, mut receive)) = connection.accept_bi().await {
					let (bytes, index) = (bytes.clone(), index.clone());
					tokio::spawn(async move {
						let kind = receive.read_u8().await.unwrap();
						let request = Request::read(kind, &mut receive).await.unwrap();
						let _ = answer(request, &bytes, index, how, send).await;
					});
				}
			});
		}
	});
	source(location)
}

async fn answer(
	request: Request,
	bytes: &[u8],
	mut index: Index,
	how: Wrong,
	mut send: SendStream,
) -> io::Result<()> {
	let Request::Spans { spans, .. } = request else {
		match how {
			Wrong::OtherIndex => index.parts[0].hash = blake3::hash(b"another"),
			Wrong::EndlessIndex => {
				send.write_all(&[0, 8, 0, 0, 0]).await?;
				send.write_all(&[0; 8]).await?;
				send.write_all(&[0xff; 4]).await?;
				while send.write_all(&[0xff; 40_000]).await.is_ok() {}
				return Ok(());
			}
			_ => {}
		}
		send.write_all(&[Status::Here.byte()]).await?;
		send.write_all(&protocol::encode_index(&index)).await?;
		return send.finish().map_err(io::Error::other);
	};
	let mut answer = Vec::new();
	for span in &spans {
		answer.extend(honest(bytes, &index, span));
	}
	let middle = answer.len() / 2;
	let status = match how {
		Wrong::Status => 99,
		_ => Status::Here.byte(),
	};
	match how {
		Wrong::Byte => *answer.last_mut().unwrap() ^= 1,
		Wrong::Hash => answer[0] ^= 1,
		Wrong::Zeros => answer.fill(0),
		Wrong::Half => answer.truncate(middle),
		Wrong::More => answer.extend([7; 100]),
		Wrong::Silence | Wrong::Drip => answer.truncate(middle),
		Wrong::Nothing => std::future::pending().await,
		_ => {}
	}
	send.write_all(&[status]).await?;
	if let Wrong::Drip = how {
		for byte in answer {
			send.write_all(&[byte]).await?;
			tokio::time::sleep(Duration::from_millis(2)).await;
		}
		return Ok(());
	}
	send.write_all(&answer).await?;
	if let Wrong::Silence = how {
		std::future::pending::<()>().await;
	}
	send.finish().map_err(io::Error::other)
}

/// The right answer to a span.
fn honest(bytes: &[u8], index: &Index, span: &Span) -> Vec<u8> {
	let begin = index.begins()[span.part as usize] as usize;
	let part = &bytes[begin..begin + index.parts[span.part as usize].bytes as usize];
	let block = bao_tree::BlockSize::from_chunk_log(4);
	let hashes = bao_tree::io::outboard::PreOrderMemOutboard::create(part, block);
	let mut answer = Vec::new();
	bao_tree::io::sync::encode_ranges_validated(part, &hashes, &span.chunks(), &mut answer)
		.unwrap();
	answer
}
