//! Endpoints on loopback, honest ones and others.

use crate::{
	record::path_of,
	relay,
	testing::{fetch, here, key, node, quick, source, wrong, Example, Provider, Wrong},
	DownloadError, Limits, Location, Node, OpenError, Options, Relay, SourceError,
};
use std::{net::SocketAddr, path::Path, time::Duration};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const MIB: u64 = 1 << 20;

/// Lengths with every kind of end: a few bytes, a whole group, several units and a rest.
fn parts() -> Vec<u64> {
	vec![4, 3 * MIB + 1234, 16 * 1024, 100, 5 * MIB, 0, 16 * 1024 + 4, MIB]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_comes_whole_from_one_source() {
	let dir = tempfile::tempdir().unwrap();
	let example = Example::new(&parts());
	let provider = Provider::new(1, &example, example.write(dir.path(), "file")).await;
	let client = node(2).await;
	let part = dir.path().join("copy");
	let fetched = fetch(&client, &example, &part, &[provider.source()]).await.unwrap();
	let all: u64 = example.parts.iter().sum();
	assert_eq!((fetched.resumed, fetched.brought), (0, vec![all]));
	// Whoever has nothing but a head has all of it.
	let empty = Example::new(&[]);
	let provider = Provider::new(3, &empty, empty.write(dir.path(), "empty")).await;
	fetch(&client, &empty, &dir.path().join("none"), &[provider.source()]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn several_sources_each_bring_a_part_of_it() {
	let dir = tempfile::tempdir().unwrap();
	let example = Example::new(&[40 * MIB]);
	let path = example.write(dir.path(), "file");
	let mut sources = Vec::new();
	let mut providers = Vec::new();
	for n in 1..=3 {
		let provider = Provider::new(n, &example, path.clone()).await;
		sources.push(provider.source());
		providers.push(provider);
	}
	let part = dir.path().join("copy");
	let fetched = fetch(&node(9).await, &example, &part, &sources).await.unwrap();
	assert_eq!(fetched.brought.iter().sum::<u64>(), 40 * MIB);
	assert!(fetched.brought.iter().filter(|bytes| **bytes > 0).count() >= 2, "{fetched:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_does_wrong_is_given_up_and_the_others_go_on() {
	let dir = tempfile::tempdir().unwrap();
	let example = Example::new(&[6 * MIB, 40]);
	let path = example.write(dir.path(), "file");
	let honest = Provider::new(1, &example, path).await;
	let client = node(2).await;
	let kinds = [
		Wrong::Byte,
		Wrong::Hash,
		Wrong::Zeros,
		Wrong::Half,
		Wrong::Silence,
		Wrong::Drip,
		Wrong::Nothing,
		Wrong::Status,
		Wrong::OtherIndex,
		Wrong::EndlessIndex,
	];
	for (n, how) in (10u8..).zip(kinds) {
		let bad = wrong(n, &example, how).await;
		// Alone it brings nothing that is taken for the file.
		let part = dir.path().join(format!("alone-{how:?}"));
		let error = fetch(&client, &example, &part, &[bad.clone()]).await.unwrap_err();
		let DownloadError::Sources(errors) = &error else { panic!("{how:?}: {error}") };
		eprintln!("{how:?}: {error}");
		let is_expected = match (&errors[..], how) {
			(
				[SourceError::WrongBytes { part: 0, .. }],
				Wrong::Byte | Wrong::Hash | Wrong::Zeros,
			) => true,
			([SourceError::WrongBytes { part: 1, .. }], Wrong::Byte) => true,
			([SourceError::Broken(_)], Wrong::Half) => true,
			([SourceError::Silent | SourceError::Slow], Wrong::Silence | Wrong::Nothing) => true,
			([SourceError::Slow], Wrong::Drip) => true,
			([SourceError::Refused(_)], Wrong::Status | Wrong::EndlessIndex) => true,
			([SourceError::OtherFile], Wrong::OtherIndex) => true,
			_ => false,
		};
		assert!(is_expected, "{how:?}: {error}");
		// With an honest one beside it the file comes, and its own.
		let part = dir.path().join(format!("beside-{how:?}"));
		let fetched = fetch(&client, &example, &part, &[bad, honest.source()]).await.unwrap();
		assert_eq!(fetched.brought[1], 6 * MIB + 40, "{how:?}: {fetched:?}");
	}
	// What comes after the answer is not read.
	let more = wrong(40, &example, Wrong::More).await;
	fetch(&client, &example, &dir.path().join("more"), &[more]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_bytes_are_found_in_their_group() {
	let dir = tempfile::tempdir().unwrap();
	let example = Example::new(&[MIB]);
	let bad = wrong(1, &example, Wrong::Byte).await;
	let error =
		fetch(&node(2).await, &example, &dir.path().join("copy"), &[bad]).await.unwrap_err();
	let DownloadError::Sources(errors) = error else { panic!("{error}") };
	assert_eq!(errors, [SourceError::WrongBytes { part: 0, from: MIB - 16 * 1024 }]);
}

/// Waits until so many units are noted beside `part`.
async fn until_noted(part: &Path, units: u64) {
	loop {
		let noted = std::fs::metadata(path_of(part)).map_or(0, |about| about.len());
		if noted >= 32 + 4 * units {
			return;
		}
		tokio::time::sleep(Duration::from_millis(1)).await;
	}
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_is_kept_when_it_breaks_off_anywhere() {
	let dir = tempfile::tempdir().unwrap();
	let example = Example::new(&[24 * MIB + 77]);
	let path = example.write(dir.path(), "file");
	let provider = Provider::new(1, &example, path.clone()).await;
	let client = node(2).await;
	let part = dir.path().join("copy");
	let sources = [provider.source()];
	let mut resumed = 0;
	for units in [1, 3, 7, 15] {
		// As a kill does: it is dropped where it is.
		tokio::select! {
			_ = fetch(&client, &example, &part, &sources) => {}
			() = until_noted(&part, units) => {}
		}
		if !path_of(&part).exists() {
			break;
		}
		let noted = (std::fs::metadata(path_of(&part)).unwrap().len() - 32) / 4;
		assert!(noted >= units);
		resumed = noted;
	}
	if path_of(&part).exists() {
		// A number that was not written whole.
		let mut record = std::fs::read(path_of(&part)).unwrap();
		record.extend([1, 2]);
		std::fs::write(path_of(&part), record).unwrap();
	}
	let fetched = fetch(&client, &example, &part, &sources).await.unwrap();
	assert!(
		fetched.resumed >= resumed.saturating_sub(1) * MIB,
		"{fetched:?}, {resumed} units before"
	);
	assert_eq!(fetched.resumed + fetched.brought[0], 24 * MIB + 77);
	// Another file's beginning is of no use, nor is a record without its file.
	let other = Example::new(&[24 * MIB, 77]);
	let provider = Provider::new(3, &other, other.write(dir.path(), "other")).await;
	std::fs::write(&part, &example.bytes).unwrap();
	let mut record = example.index().name().to_vec();
	record.extend((0..24u32).flat_map(u32::to_le_bytes));
	std::fs::write(path_of(&part), &record).unwrap();
	let fetched = fetch(&client, &other, &part, &[provider.source()]).await.unwrap();
	assert_eq!(fetched.resumed, 0);
	std::fs::remove_file(&part).unwrap();
	std::fs::write(path_of(&part), &record).unwrap();
	let fetched = fetch(&client, &example, &part, &sources).await.unwrap();
	assert_eq!(fetched.resumed, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_dies_in_the_middle_is_replaced() {
	let dir = tempfile::tempdir().unwrap();
	let example = Example::new(&[48 * MIB]);
	let path = example.write(dir.path(), "file");
	let dying = Provider::new(1, &example, path.clone()).await;
	let other = Provider::new(2, &example, path.clone()).await;
	let client = node(3).await;
	let part = dir.path().join("copy");
	let sources = [dying.source(), other.source()];
	let dies = async {
		until_noted(&part, 6).await;
		dying.node.close().await;
	};
	let (fetched, ()) = tokio::join!(fetch(&client, &example, &part, &sources), dies);
	assert_eq!(fetched.unwrap().brought.iter().sum::<u64>(), 48 * MIB);
	// Alone: what came stays, and the rest comes from another one.
	let dying = Provider::new(4, &example, path).await;
	let part = dir.path().join("alone");
	let sources = [dying.source()];
	let dies = async {
		until_noted(&part, 6).await;
		dying.node.close().await;
	};
	let (fetched, ()) = tokio::join!(fetch(&client, &example, &part, &sources), dies);
	if let Err(error) = fetched {
		let DownloadError::Sources(errors) = &error else { panic!("{error}") };
		assert!(errors[0].may_pass(), "{error}");
		let fetched = fetch(&client, &example, &part, &[other.source()]).await.unwrap();
		assert!(fetched.resumed >= 6 * MIB, "{fetched:?}");
	}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_downloads_at_once_all_come() {
	let dir = tempfile::tempdir().unwrap();
	let example = Example::new(&[2 * MIB, 100]);
	let path = example.write(dir.path(), "file");
	let provider = Provider::new(1, &example, path).await;
	let sources = [provider.source()];
	let mut clients = Vec::new();
	for n in 10..20 {
		clients.push(node(n).await);
	}
	let all = (0..100).map(|n| {
		let (client, part) = (&clients[n % 10], dir.path().join(format!("copy-{n}")));
		let (example, sources) = (&example, &sources);
		async move { fetch(client, example, &part, sources).await }
	});
	for fetched in futures::future::join_all(all).await {
		fetched.unwrap();
	}
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_on_the_shelf_is_served_and_only_as_it_is() {
	let dir = tempfile::tempdir().unwrap();
	let example = Example::new(&[3 * MIB]);
	let path = example.write(dir.path(), "file");
	let provider = Provider::new(1, &example, path.clone()).await;
	let client = node(2).await;
	let refused = |error: DownloadError| {
		let DownloadError::Sources(errors) = error else { panic!("{error}") };
		assert!(matches!(errors[..], [SourceError::Refused(_)]), "{errors:?}");
	};
	for path in ["", "/", "/files", "/file/", "/../file", "file"] {
		let source = crate::Source { path: path.into(), ..provider.source() };
		refused(fetch(&client, &example, &dir.path().join("no"), &[source]).await.unwrap_err());
	}
	fetch(&client, &example, &dir.path().join("copy"), &[provider.source()]).await.unwrap();
	// It is hashed again when it changed, and then it is another file.
	let mut changed = example.bytes.clone();
	changed[1_000_000] ^= 1;
	changed.push(1);
	std::fs::write(&path, changed).unwrap();
	refused(
		fetch(&client, &example, &dir.path().join("no"), &[provider.source()]).await.unwrap_err(),
	);
	let mut changed = example.bytes.clone();
	changed[1_000_000] ^= 1;
	std::fs::write(&path, changed).unwrap();
	let error =
		fetch(&client, &example, &dir.path().join("no"), &[provider.source()]).await.unwrap_err();
	assert!(error.to_string().contains("another file"), "{error}");
	provider.shelf.files.lock().unwrap().clear();
	refused(
		fetch(&client, &example, &dir.path().join("no"), &[provider.source()]).await.unwrap_err(),
	);
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_of_another_protocol_are_handed_out_and_idle_connections_end() {
	let server = node(1).await;
	let soon = Duration::from_millis(300);
	let limits = Limits { connections: 2, first_byte: soon, stall: soon, ..Limits::default() };
	let example = Example::new(&[]);
	let shelf = std::sync::Arc::new(crate::testing::Files::default());
	drop(example);
	let mut serving = server.serve(shelf, limits);
	let client = node(2).await;
	let mut stream = client.open(&here(&server)).await.unwrap();
	stream.write_all(b"question").await.unwrap();
	let mut came = serving.incoming.recv().await.unwrap();
	assert_eq!(came.from, client.id());
	assert!(came.address.unwrap().ip().is_loopback());
	let mut bytes = [0; 8];
	came.stream.read_exact(&mut bytes).await.unwrap();
	assert_eq!(&bytes, b"question");
	// A stream that is used keeps its connection; one that nobody uses any more does not.
	tokio::time::sleep(3 * soon).await;
	came.stream.write_all(b"answer").await.unwrap();
	came.stream.shutdown().await.unwrap();
	let mut answer = Vec::new();
	stream.read_to_end(&mut answer).await.unwrap();
	assert_eq!(answer, b"answer");
	assert!(client.ways_to(server.id()).await[0].contains("127.0.0.1"));
	drop((stream, came));
	// Those who keep all places without asking for anything lose them.
	let idle = [node(3).await, node(4).await];
	for node in &idle {
		let _ = node.open_for(&here(&server), &[]).await;
	}
	let mut stream = loop {
		match client.open(&here(&server)).await {
			Ok(stream) => break stream,
			Err(e) => assert!(matches!(e, OpenError::Unreachable(_)), "{e}"),
		}
	};
	stream.write_all(b"again").await.unwrap();
	assert!(serving.incoming.recv().await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_began_again_is_asked_by_a_new_connection_once_the_old_one_is_forgotten() {
	let client = node(2).await;
	let shelf = || std::sync::Arc::new(crate::testing::Files::default());
	let server = node(1).await;
	let mut serving = server.serve(shelf(), Limits::default());
	let location = here(&server);
	let mut kept = client.open(&location).await.unwrap();
	kept.write_all(b"first").await.unwrap();
	let first = serving.incoming.recv().await.unwrap();
	// One connection is kept: a second stream goes by it, until it is forgotten, with all that is on it.
	let again = client.open(&location).await.unwrap();
	assert_eq!(client.ways_to(server.id()).await.len(), 1);
	client.forget(server.id()).await;
	assert!(client.ways_to(server.id()).await.is_empty());
	assert!(kept.read_u8().await.is_err());
	drop((again, first));
	let mut stream = client.open(&location).await.unwrap();
	stream.write_all(b"second").await.unwrap();
	let mut came = loop {
		let mut came = serving.incoming.recv().await.unwrap();
		let mut bytes = [0; 6];
		// Those of the first connection end.
		if came.stream.read_exact(&mut bytes).await.is_ok() {
			assert_eq!(&bytes, b"second");
			break came;
		}
	};
	came.stream.write_all(b"answer").await.unwrap();
	let mut answer = [0; 6];
	stream.read_exact(&mut answer).await.unwrap();
	assert_eq!(&answer, b"answer");
	client.forget(key(9).public()).await;
}

/// Each of two has opened a connection to the other, as peers of a swarm do, when one is killed: that tells nobody.
/// It begins again at another port.
#[tokio::test(flavor = "multi_thread")]
async fn who_was_killed_is_reached_elsewhere_once_it_is_known_that_it_moved() {
	let shelf = || std::sync::Arc::new(crate::testing::Files::default());
	let client = node(2).await;
	let mut serving = client.serve(shelf(), Limits::default());
	let before = {
		let to = here(&client);
		let process = tokio::runtime::Runtime::new().unwrap();
		let (says, said) = tokio::sync::oneshot::channel();
		process.spawn(async move {
			let killed = node(1).await;
			let _serving = killed.serve(shelf(), Limits::default());
			let mut stream = killed.open(&to).await.unwrap();
			stream.write_all(b"question").await.unwrap();
			says.send(here(&killed)).unwrap();
			std::future::pending::<()>().await;
		});
		let before = said.await.unwrap();
		let asked = serving.incoming.recv().await.unwrap();
		assert_eq!(asked.from, before.id);
		client.open(&before).await.unwrap();
		process.shutdown_background();
		before
	};
	let again = node(1).await;
	let _serving = again.serve(shelf(), Limits::default());
	let now = here(&again);
	assert!(now.id == before.id && now.addresses != before.addresses);
	client.moved(now.id).await;
	client.open(&now).await.unwrap();
}

#[tokio::test]
async fn who_cannot_be_reached_is_said_to_be_so() {
	let client = node(1).await;
	let nowhere = Location::new(key(9).public());
	assert_eq!(client.open(&nowhere).await.unwrap_err(), OpenError::NoWay);
	// Somebody else answers at that address: it does not have the key.
	let example = Example::new(&[10]);
	let dir = tempfile::tempdir().unwrap();
	let other = Provider::new(2, &example, example.write(dir.path(), "file")).await;
	let address = here(&other.node).addresses;
	let posing = Location { addresses: address, ..Location::new(key(9).public()) };
	assert!(matches!(client.open(&posing).await.unwrap_err(), OpenError::Unreachable(_)));
	let taken = here(&other.node).addresses[0];
	let options = Options { listen: Some(taken), ..Options::new(key(5)) };
	let error = Node::bind(options).await.unwrap_err().to_string();
	assert!(error.contains(&taken.to_string()), "{error}");
	let missing = Some(dir.path().join("no.pem"));
	let error =
		Node::bind(Options { authorities: missing, ..Options::new(key(6)) }).await.unwrap_err();
	assert!(error.to_string().contains("no.pem"), "{error}");
}

/// A relay without TLS on loopback.
async fn a_relay(port: u16) -> (relay::Running, Relay) {
	let listen = SocketAddr::from(([127, 0, 0, 1], port));
	let options = relay::Options { listen, tls: None, rate: None, only: None };
	let running = relay::start(options).await.unwrap();
	let relay = format!("http://{}", running.http().unwrap()).parse().unwrap();
	(running, relay)
}

/// An endpoint that uses relays alone, and waits at this one.
async fn relayed(n: u8, relay: &Relay) -> Node {
	let relay = Some(relay.clone());
	Node::bind(Options { relay, relay_only: true, ..Options::new(key(n)) }).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_comes_through_a_relay_alone_and_goes_on_when_that_dies() {
	let dir = tempfile::tempdir().unwrap();
	let example = Example::new(&[16 * MIB]);
	let path = example.write(dir.path(), "file");
	let (running, relay) = a_relay(0).await;
	let port = running.http().unwrap().port();
	let provider =
		Provider::on(relayed(1, &relay).await, &example, path.clone(), Limits::default());
	provider.node.waits_at_relay().await;
	let location = provider.node.location(vec![]);
	// It waits nowhere itself, and knows the relay by the location.
	let client = Node::bind(Options { relay_only: true, ..Options::new(key(2)) }).await.unwrap();
	let part = dir.path().join("copy");
	fetch(&client, &example, &part, &[source(location.clone())]).await.unwrap();
	let ways = client.ways_to(provider.node.id()).await;
	assert!(ways.iter().all(|way| way.contains("relay")) && !ways.is_empty(), "{ways:?}");
	// It dies in the middle, and another source has it.
	let direct = Provider::new(3, &example, path).await;
	let both = Node::bind(Options {
		listen: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
		..Options::new(key(4))
	});
	let both = both.await.unwrap();
	let part = dir.path().join("second");
	let sources = [source(location.clone()), direct.source()];
	let dies = async {
		until_noted(&part, 2).await;
		drop(running);
	};
	let (fetched, ()) = tokio::join!(fetch(&both, &example, &part, &sources), dies);
	assert_eq!(fetched.unwrap().brought.iter().sum::<u64>(), 16 * MIB);
	// It is the only way, dies in the middle, and comes back.
	let (running, _) = a_relay(port).await;
	let part = dir.path().join("third");
	let sources = [source(location)];
	let dies = async {
		until_noted(&part, 2).await;
		drop(running);
		tokio::time::sleep(Duration::from_millis(200)).await;
		a_relay(port).await.0
	};
	let (mut fetched, _running) = tokio::join!(fetch(&client, &example, &part, &sources), dies);
	let begun = std::time::Instant::now();
	while fetched.is_err() && begun.elapsed() < Duration::from_secs(60) {
		fetched = fetch(&client, &example, &part, &sources).await;
	}
	let fetched = fetched.unwrap();
	assert_eq!(fetched.resumed + fetched.brought[0], 16 * MIB);
	let _ = quick();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_for_certain_endpoints_refuses_others() {
	let listen = SocketAddr::from(([127, 0, 0, 1], 0));
	let only = Some([key(1).public(), key(2).public()].into());
	let options = relay::Options { listen, tls: None, rate: None, only };
	let running = relay::start(options).await.unwrap();
	let relay: Relay = format!("http://{}", running.http().unwrap()).parse().unwrap();
	let dir = tempfile::tempdir().unwrap();
	let example = Example::new(&[100_000]);
	let path = example.write(dir.path(), "file");
	let provider = Provider::on(relayed(1, &relay).await, &example, path, Limits::default());
	provider.node.waits_at_relay().await;
	let sources = [source(provider.node.location(vec![]))];
	let part = dir.path().join("copy");
	fetch(&relayed(2, &relay).await, &example, &part, &sources).await.unwrap();
	let part = dir.path().join("no");
	let error = fetch(&relayed(3, &relay).await, &example, &part, &sources).await.unwrap_err();
	assert!(matches!(error, DownloadError::Sources(_)), "{error}");
	assert_eq!(relay::parse_id(&hex::encode(key(1).public().as_bytes())), Ok(key(1).public()));
	assert!(relay::parse_id("x").is_err());
	let tls = relay::Tls {
		listen,
		quic: listen,
		certificate: dir.path().join("no.pem"),
		key: dir.path().join("no.key"),
	};
	let options = relay::Options { listen, tls: Some(tls), rate: None, only: None };
	let error = relay::start(options).await.unwrap_err().to_string();
	assert!(error.contains("no.pem") && error.contains("no.key"), "{error}");
}
