//! Where a node has chunks, what it shows of them, and what it says of those that it lacks.

use crate::dev_node::TempDir;
use sp_core::H256;
use std::{
	collections::HashMap,
	fs,
	sync::{Arc, Mutex},
};
use trainyard_node::chunks::{
	answers::show,
	keeper::{advice, Round, Status},
	store::{ChunkStore, Indexed},
};
use trainyard_protocol::{
	blob::{chunk_hash, chunk_node, Chunked},
	retention::{check, Question, RetainedChunk},
};

/// A database of indexed bytes.
#[derive(Default)]
struct Database(Mutex<HashMap<H256, Vec<u8>>>);

impl Database {
	fn with(entries: &[(H256, &[u8])]) -> Arc<Self> {
		let entries = entries.iter().map(|(hash, bytes)| (*hash, bytes.to_vec()));
		Arc::new(Self(Mutex::new(entries.collect())))
	}
}

impl Indexed for Database {
	fn bytes(&self, hash: H256) -> Option<Vec<u8>> {
		self.0.lock().unwrap().get(&hash).cloned()
	}

	fn has(&self, hash: H256) -> bool {
		self.0.lock().unwrap().contains_key(&hash)
	}
}

#[test]
fn a_chunk_is_in_the_database_or_a_file_and_is_checked() {
	let folder = TempDir::new("chunk-store");
	let (one, two) = (b"in the database".as_slice(), b"in a file".as_slice());
	let (of_one, of_two) = (chunk_hash(one), chunk_hash(two));
	let database = Database::with(&[(of_one, one)]);
	let store = ChunkStore::open(database.clone(), folder.0.join("chunks")).unwrap();
	assert!(store.has(&of_one) && !store.has_file(&of_one) && !store.has(&of_two));
	assert_eq!((store.get(&of_one), store.get(&of_two)), (Some(one.to_vec()), None));

	// Other bytes than those of the hash are not kept.
	assert!(store.keep(&of_two, one).is_err());
	assert_eq!(store.files().unwrap(), []);
	store.keep(&of_two, two).unwrap();
	assert!(store.has(&of_two));
	assert_eq!(store.get(&of_two), Some(two.to_vec()));
	assert_eq!(store.files().unwrap(), [of_two]);

	// What a kill left of a file is gone at the next start, whole files stay.
	fs::write(store.folder().join("half.part"), b"half").unwrap();
	let store = ChunkStore::open(database.clone(), folder.0.join("chunks")).unwrap();
	assert_eq!(fs::read_dir(store.folder()).unwrap().count(), 1);
	assert_eq!(store.get(&of_two), Some(two.to_vec()));

	// A file that is damaged is none, and is removed so that it can be fetched.
	fs::write(store.folder().join(format!("{of_two:x}")), b"damage").unwrap();
	assert_eq!(store.get(&of_two), None);
	assert!(!store.has(&of_two));

	// So is an entry of the database; a file takes its place.
	database.0.lock().unwrap().insert(of_one, b"damage".to_vec());
	assert_eq!(store.get(&of_one), None);
	assert!(!store.has(&of_one));
	store.keep(&of_one, one).unwrap();
	assert_eq!(store.get(&of_one), Some(one.to_vec()));
	assert!(store.has(&of_one));
}

#[test]
fn an_author_shows_what_is_asked_for_and_nothing_else() {
	let folder = TempDir::new("chunk-answers");
	let data: Vec<u8> = (0..20_000u32).map(|i| (i ^ i >> 8) as u8).collect();
	let blob = Chunked::new(&data);
	let store = ChunkStore::open(Database::with(&[]), folder.0.join("chunks")).unwrap();
	let asked = |index: u32, kib| Question {
		root: blob.root,
		size: 20_000,
		index,
		hash: chunk_hash(blob.chunks[index as usize]),
		kib,
	};
	assert_eq!(show(&store, &asked(2, 1)), None, "it has nothing yet");
	store.keep(&chunk_hash(blob.chunks[2]), blob.chunks[2]).unwrap();
	let shown = show(&store, &asked(2, 1)).unwrap();
	let value = chunk_node(20_000, 2).unwrap().value_of(20_000, blob.chunks[2]).unwrap();
	assert_eq!(check(&asked(2, 1), &value, &shown), Ok(()));
	assert!(check(&asked(2, 0), &value, &shown).is_err());
	// A KiB that the chunk does not have, and a chunk that is not there.
	assert_eq!((show(&store, &asked(2, 4)), show(&store, &asked(1, 0))), (None, None));
}

fn listed(bytes: &[u8]) -> RetainedChunk {
	let length = bytes.len() as u32;
	RetainedChunk { root: H256::zero(), index: 0, hash: chunk_hash(bytes), length }
}

#[test]
fn a_round_counts_each_chunk_once_and_drops_what_two_rounds_did_not_meet() {
	let folder = TempDir::new("chunk-rounds");
	let store = ChunkStore::open(Database::with(&[]), folder.0.join("chunks")).unwrap();
	let (kept, gone, lacking) = (listed(b"kept"), listed(b"gone"), listed(b"lacking"));
	store.keep(&kept.hash, b"kept").unwrap();
	store.keep(&gone.hash, b"gone").unwrap();
	let mut round = Round::default();
	assert!(!round.note(&store, &kept) && !round.note(&store, &gone));
	assert!(round.note(&store, &lacking));
	assert!(!round.note(&store, &lacking), "it is fetched once");
	assert_eq!(round.end(&store), [], "of the first round nobody knows what it did not meet");
	// A removal moves the last of the list, so a round may miss one that is retained.
	assert!(!round.note(&store, &kept));
	assert_eq!(round.end(&store), [], "it was met in the round before");
	assert!(!round.note(&store, &kept));
	assert_eq!(round.end(&store), [gone.hash]);
	store.drop_file(&gone.hash).unwrap();
	assert_eq!(store.files().unwrap(), [kept.hash]);
}

#[test]
fn a_node_says_what_it_lacks_and_what_to_do() {
	let looked = Status { looked: true, retained: 10, held: 10, ..Status::default() };
	assert!(advice(&Status::default(), 3).contains("not looked yet"));
	assert!(advice(&looked, 3).contains("every chunk"));
	let lacking = Status { held: 7, missing: 3, missing_bytes: 99, ..looked };
	let text = advice(&lacking, 4);
	for part in ["lacks 3 chunks (99 bytes) of 10", "warp sync", "4 peers", "no reward"] {
		assert!(text.contains(part), "{part}: {text}");
	}
	assert!(advice(&Status { prunes: true, ..lacking }, 4).contains("pruned"));
}
