use super::*;
use crate::roles::http::{Endpoint, Server, Shelf};
use std::{collections::HashMap, net::SocketAddr, path::Path, time::Duration};
use trainyard_engine::{Tensor32, TensorMap};
use trainyard_proof::{
	bundle::{hash_of_state, manifest::checkpoint_file, tensors},
	hash,
};

fn loopback() -> SocketAddr {
	SocketAddr::from(([127, 0, 0, 1], 0))
}

/// A folder with a manifest, a state and a file of data, and what it is served as.
struct Scene {
	dir: tempfile::TempDir,
	shelf: Shelf,
	root: H256,
	state: (Vec<u8>, H256),
	data: (Vec<u8>, H256),
}

impl Scene {
	fn new() -> Self {
		let dir = tempfile::tempdir().unwrap();
		let folder = dir.path().join("bundle");
		std::fs::create_dir_all(folder.join("checkpoints")).unwrap();
		std::fs::write(folder.join("manifest.json"), "the manifest").unwrap();
		let tensor =
			|n: u32| Tensor32 { shape: vec![n, 2], data: (0..2 * n).map(|i| i as f32).collect() };
		let tensors: TensorMap = [
			("a".to_owned(), tensor(1)),
			("b".to_owned(), tensor(400_000)),
			("c".to_owned(), tensor(3)),
		]
		.into();
		let bytes = tensors::encode(&tensors);
		std::fs::write(folder.join(checkpoint_file(50)), &bytes).unwrap();
		let hash = hash_of_state(&bytes).unwrap();
		let data = vec![7; 300_000];
		let data_hash = hash::blake2_256(&data);
		std::fs::write(dir.path().join("data"), &data).unwrap();
		let (shelf, root) = (Shelf::default(), H256::repeat_byte(0xab));
		let blobs = HashMap::from([(data_hash, dir.path().join("data"))]);
		shelf.set(HashMap::from([(root, folder)]), blobs);
		Self { dir, shelf, root, state: (bytes, hash), data: (data, data_hash) }
	}

	/// Serves it at an endpoint on loopback.
	async fn endpoint(&self) -> Endpoint {
		let options = Options { listen: Some(loopback()), ..Options::new(SecretKey::generate()) };
		Endpoint::start(Node::bind(options).await.unwrap(), self.shelf.clone())
	}

	fn content(&self) -> Content {
		Content::State { hash: self.state.1, limit: self.state.0.len() as u64 }
	}

	/// The path of a file of the bundle under a base URL.
	fn url(&self, base: &str, file: &str) -> String {
		format!("{base}/bundle/{}/{file}", hex::encode(self.root))
	}

	fn to(&self, name: &str) -> PathBuf {
		self.dir.path().join("to").join(name)
	}
}

fn base(endpoint: &Endpoint) -> String {
	endpoint.location(endpoint.sockets()).to_string()
}

fn fetcher() -> Fetcher {
	Fetcher::new(2, Duration::from_millis(10), Locations::Any).unwrap()
}

/// Nothing unfinished is left beside a file.
fn alone(path: &Path) -> bool {
	std::fs::read_dir(path.parent().unwrap()).unwrap().count() == 1
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_is_served_comes_from_an_endpoint() {
	let scene = Scene::new();
	let endpoint = scene.endpoint().await;
	let (base, fetcher) = (base(&endpoint), fetcher());
	let manifest = scene.url(&base, "manifest.json");
	assert_eq!(fetcher.get(&manifest, 100).await.unwrap(), b"the manifest");
	let error = fetcher.get(&manifest, 5).await.unwrap_err();
	assert!(matches!(error, FetchError::TooLarge { .. }), "{error}");
	let error = fetcher.get(&scene.url(&base, "secret.json"), 5).await.unwrap_err();
	assert!(matches!(error, FetchError::Status { .. }), "{error}");
	// Data come by HTTP, and go on where they broke off.
	let url = format!("{base}/blob/{}", hex::encode(scene.data.1));
	let content = Content::File { hash: scene.data.1, bytes: 300_000 };
	let path = scene.to("data/data");
	std::fs::create_dir_all(path.parent().unwrap()).unwrap();
	std::fs::write(content.part(&path, &url), [7; 100_000]).unwrap();
	fetcher.fetch(&Wanted { url: &url, path: &path, content }).await.unwrap();
	assert!(std::fs::read(&path).unwrap() == scene.data.0 && alone(&path));
	// States come by their tensors.
	let url = scene.url(&base, &checkpoint_file(50));
	let path = scene.to("state/state");
	fetcher.fetch(&Wanted { url: &url, path: &path, content: scene.content() }).await.unwrap();
	assert!(std::fs::read(&path).unwrap() == scene.state.0 && alone(&path));
	// What is here is not asked for.
	drop(endpoint);
	fetcher.fetch(&Wanted { url: &url, path: &path, content: scene.content() }).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_comes_from_those_that_have_it() {
	let scene = Scene::new();
	let (one, two) = (scene.endpoint().await, scene.endpoint().await);
	let other = Scene::new();
	// It has another state under the same name.
	let changed = other.dir.path().join("bundle").join(checkpoint_file(50));
	let mut bytes = other.state.0.clone();
	*bytes.last_mut().unwrap() ^= 1;
	std::fs::write(changed, bytes).unwrap();
	let liar = other.endpoint().await;
	let gone = scene.endpoint().await;
	let file = checkpoint_file(50);
	let urls: Vec<String> =
		[&liar, &gone, &one, &two].map(|at| scene.url(&base(at), &file)).to_vec();
	drop(gone);
	let path = scene.to("a/state");
	let wanted = Wanted { url: &urls[0], path: &path, content: scene.content() };
	fetcher().fetch_from(&wanted, &urls[1..]).await.unwrap();
	assert!(std::fs::read(&path).unwrap() == scene.state.0 && alone(&path));
	// Alone, the other one is seen to have something else.
	let path = scene.to("b/state");
	let wanted = Wanted { url: &urls[0], path: &path, content: scene.content() };
	let error = fetcher().fetch(&wanted).await.unwrap_err();
	assert!(matches!(error, FetchError::WrongState { .. }), "{error}");
	assert!(!path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_beside_an_endpoint_is_asked_when_that_is_away() {
	let scene = Scene::new();
	let server = Server::start(loopback(), scene.shelf.clone()).await.unwrap();
	let endpoint = scene.endpoint().await;
	let mut location = endpoint.location(endpoint.sockets());
	drop(endpoint);
	let away = location.to_string();
	location.http = Some(format!("http://{}", server.address()));
	let base = location.to_string();
	let fetcher = fetcher();
	assert_eq!(
		fetcher.get(&scene.url(&base, "manifest.json"), 100).await.unwrap(),
		b"the manifest"
	);
	let path = scene.to("a/state");
	let url = scene.url(&base, &checkpoint_file(50));
	fetcher.fetch(&Wanted { url: &url, path: &path, content: scene.content() }).await.unwrap();
	assert!(std::fs::read(&path).unwrap() == scene.state.0 && alone(&path));
	let once = Fetcher { tries: 1, ..fetcher };
	let error = once.get(&scene.url(&away, "manifest.json"), 100).await.unwrap_err();
	assert!(matches!(error, FetchError::NoAnswer { .. }) && error.may_pass(), "{error}");
}

#[tokio::test]
async fn private_addresses_of_endpoints_are_not_gone_to() {
	let id = hex::encode(SecretKey::generate().public().as_bytes());
	let at = |rest: &str| format!("iroh://{id}{rest}/bundle");
	let refused = |rest: &str| Locations::Public.check(&at(rest)).unwrap_err();
	for rest in ["", ",ip=10.0.0.1:1", ",relay=127.0.0.1", ",http=10.0.0.1", ",plain-relay=[::1]:1"]
	{
		assert!(matches!(refused(rest), LocationError::NoWay { .. }), "{rest}");
	}
	for rest in [",ip=10.0.0.1:1,ip=1.1.1.1:1", ",relay=relay.example", ",https=1.1.1.1"] {
		assert_eq!(Locations::Public.check(&at(rest)), Ok(()), "{rest}");
	}
	let url = at(",ip=10.0.0.1:1,ip=1.1.1.1:1,relay=127.0.0.1,http=10.0.0.1");
	let (kept, path) = Locations::Public.endpoint(&url).unwrap();
	assert_eq!((kept.to_string(), path), (format!("iroh://{id},ip=1.1.1.1:1"), "/bundle"));
	assert!(matches!(refused(",x=1"), LocationError::NotIroh { .. }));
	assert!(Locations::Any.check(&at(",ip=10.0.0.1:1")).is_ok());
	let fetcher = Fetcher::new(1, Duration::ZERO, Locations::Public).unwrap();
	let error = fetcher.get(&at(",ip=10.0.0.1:1"), 9).await.unwrap_err();
	assert!(matches!(error, FetchError::Refused { .. }) && !error.may_pass(), "{error}");
}
