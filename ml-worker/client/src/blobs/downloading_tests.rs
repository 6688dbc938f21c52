//! Downloads from made-up nodes that lie, lack chunks, stall and lose the blob on the way.

use super::*;
use crate::fake::FakeNode;
use codec::{Decode, Encode};
use std::sync::atomic::{AtomicU32, Ordering};
use trainyard_protocol::blob::Chunked;

/// What a node does wrong.
#[derive(Clone, Default)]
struct Fault {
	/// Chunks of which it gives other bytes.
	lies: Vec<u32>,
	/// Chunks that it lacks.
	lacks: Vec<u32>,
	/// Whether the values of chunks that it gives are of something else.
	wrong_values: bool,
	/// After so many chunks the chain has the blob no more.
	gone_after: Option<u32>,
	/// How long each answer takes.
	delay: Option<Duration>,
}

/// 49 chunks.
fn bytes() -> Vec<u8> {
	(0..200_001u32).map(|i| ((i * 7) >> 3) as u8 ^ (i >> 12) as u8).collect()
}

const URLS: [&str; 3] = ["ws://one", "ws://two", "ws://three"];

async fn nodes(faults: &[Fault]) -> Vec<Arc<Chain>> {
	let mut nodes = Vec::new();
	for (fault, url) in faults.iter().zip(URLS) {
		let (bytes, fault, given) = (bytes(), fault.clone(), AtomicU32::new(0));
		let delay = fault.delay;
		let node = FakeNode::new(move |method, arguments, _| {
			let blob = Chunked::new(&bytes);
			match method {
				"trainyard_chunkValues" => {
					let (_, first, count) =
						<(H256, u32, u32)>::decode(&mut &arguments[..]).unwrap();
					let range = first..(first + count).min(blob.chunks.len() as u32);
					if range.clone().any(|index| fault.lacks.contains(&index)) {
						return Err("this node has pruned it");
					}
					let size = bytes.len() as u64;
					let value = |index: u32| {
						let chunk = blob.chunks[index as usize];
						let chunk =
							if fault.wrong_values { vec![0; chunk.len()] } else { chunk.to_vec() };
						blob::chunk_node(size, index).unwrap().value_of(size, &chunk).unwrap()
					};
					Ok((size, range.map(value).collect::<Vec<H256>>()).encode())
				}
				"trainyard_modelChunk" => {
					let (_, index) = <(H256, u32)>::decode(&mut &arguments[..]).unwrap();
					let before = given.fetch_add(1, Ordering::SeqCst);
					if fault.gone_after.is_some_and(|after| before >= after) {
						return Err("null");
					}
					if fault.lacks.contains(&index) {
						return Err("this node has pruned it");
					}
					let mut chunk = blob.chunks[index as usize].to_vec();
					if fault.lies.contains(&index) {
						chunk[17] ^= 1;
					}
					Ok(chunk)
				}
				_ => Err("no such method"),
			}
		});
		let node = match delay {
			Some(delay) => node.slowly(delay),
			None => node,
		};
		nodes.push(Arc::new(node.reached_at(url).chain().await));
	}
	nodes
}

fn root() -> H256 {
	Chunked::new(&bytes()).root
}

/// Downloads from nodes with these faults to `path`; returns the result and who was dropped.
async fn got(faults: &[Fault], path: &Path) -> (Result<Got, BlobError>, Vec<String>) {
	let nodes = nodes(faults).await;
	let mut dropped = Vec::new();
	let loading = download(&nodes, root(), path, |fetched| {
		if let Fetched::Dropped { url, .. } = fetched {
			dropped.push(url);
		}
	});
	let result = tokio::time::timeout(Duration::from_secs(60), loading).await;
	(result.expect("it comes to an end"), dropped)
}

#[tokio::test]
async fn several_nodes_share_the_work() {
	let folder = tempfile::tempdir().unwrap();
	let path = folder.path().join("part");
	let slow = Fault { delay: Some(Duration::from_millis(2)), ..Fault::default() };
	let (result, dropped) = got(&[slow.clone(), slow.clone(), slow], &path).await;
	let got = result.unwrap();
	assert_eq!(std::fs::read(&path).unwrap(), bytes());
	assert_eq!((got.before, got.chunks, got.by.iter().sum::<u32>()), (0, 49, 49));
	assert!(got.by.iter().all(|count| *count > 5) && dropped.is_empty(), "{got:?}");
}

#[tokio::test]
async fn a_download_goes_on_with_what_is_missing() {
	let folder = tempfile::tempdir().unwrap();
	let path = folder.path().join("part");
	let (result, _) = got(&[Fault { gone_after: Some(20), ..Fault::default() }], &path).await;
	let error = result.unwrap_err();
	assert!(matches!(error, BlobError::Gone { missing: 29, chunks: 49, .. }), "{error}");
	// A part that is damaged comes again, and what is too much is cut off.
	let mut here = std::fs::read(&path).unwrap();
	here[5] ^= 1;
	here.resize(300_000, 9);
	std::fs::write(&path, here).unwrap();
	let (result, _) = got(&[Fault::default()], &path).await;
	let got = result.unwrap();
	assert_eq!(std::fs::read(&path).unwrap(), bytes());
	assert_eq!((got.before, got.by), (19, vec![30]));
}

#[tokio::test]
async fn who_lies_is_dropped_and_named() {
	let folder = tempfile::tempdir().unwrap();
	let liar = Fault { lies: (0..49).collect(), ..Fault::default() };
	let path = folder.path().join("chunks");
	let (result, dropped) = got(&[liar.clone(), Fault::default()], &path).await;
	assert_eq!(result.unwrap().by, [0, 49]);
	assert_eq!(dropped, ["ws://one"]);
	assert_eq!(std::fs::read(&path).unwrap(), bytes());

	let path = folder.path().join("values");
	let wrong = Fault { wrong_values: true, ..Fault::default() };
	let (result, dropped) = got(&[wrong.clone(), Fault::default()], &path).await;
	result.unwrap();
	assert_eq!(dropped, ["ws://one"]);

	let path = folder.path().join("alone");
	let (result, dropped) = got(&[liar], &path).await;
	let error = result.unwrap_err();
	assert!(matches!(error, BlobError::NobodyHas { missing: 49, .. }), "{error}");
	assert_eq!(dropped, ["ws://one"]);
	let (result, _) = got(&[wrong], &path).await;
	assert!(matches!(result.unwrap_err(), BlobError::WrongBytes { .. }));
}

#[tokio::test]
async fn what_one_node_lacks_another_has() {
	let folder = tempfile::tempdir().unwrap();
	let path = folder.path().join("part");
	let half = |lacks: Vec<u32>| Fault { lacks, ..Fault::default() };
	let (result, dropped) = got(&[half((0..49).collect()), Fault::default()], &path).await;
	assert_eq!(result.unwrap().by, [0, 49]);
	assert!(dropped.is_empty());
	let path = folder.path().join("nobody");
	let (result, _) = got(&[half(vec![7]), half(vec![7])], &path).await;
	assert!(matches!(result.unwrap_err(), BlobError::Chain(_)));
}

#[tokio::test]
async fn a_node_that_stalls_keeps_nobody_waiting() {
	let folder = tempfile::tempdir().unwrap();
	let path = folder.path().join("part");
	let stalled = Fault { delay: Some(Duration::from_secs(20)), ..Fault::default() };
	let nodes = nodes(&[stalled, Fault::default()]).await;
	let loading = download(&nodes, root(), &path, |_| {});
	// Its chunks were asked of the other one.
	let got = tokio::time::timeout(Duration::from_secs(19), loading).await.unwrap().unwrap();
	assert_eq!(got.by, [0, 49]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_an_error_of_the_disk() {
	// A device on which every write fails for lack of room, and that reads as zeros.
	let (result, _) = got(&[Fault::default()], Path::new("/dev/full")).await;
	let error = result.unwrap_err();
	let BlobError::Local { source, .. } = &error else { panic!("{error}") };
	assert_eq!(source.kind(), io::ErrorKind::StorageFull, "{error}");
}
