//! Storing on a made-up chain, on which others do what they can against it.

use super::*;
use crate::AccountId32;
use std::{
	collections::BTreeSet,
	sync::{atomic::AtomicUsize, Mutex},
};
use tokio::sync::watch;

/// Chunk records that one call of `remove` drops.
const STEP: u32 = 4;
const ME: AccountId32 = AccountId32([1; 32]);
const OTHER: AccountId32 = AccountId32([2; 32]);

/// The one blob of the chain.
#[derive(Clone)]
struct Blob {
	owner: AccountId32,
	stored: BTreeSet<u32>,
	removing: Option<u32>,
}

impl Blob {
	fn of(owner: AccountId32, stored: impl IntoIterator<Item = u32>) -> Self {
		Self { owner, stored: stored.into_iter().collect(), removing: None }
	}
}

/// The chain, by the rules of the pallet.
struct Fake {
	chunks: u32,
	size: u64,
	blob: Mutex<Option<Blob>>,
	/// The calls in order, `u` for each chunk that was stored.
	calls: Mutex<String>,
	/// After that many chunks, somebody begins to remove the blob, once.
	strike: Mutex<Option<usize>>,
	/// A chunk that is not in a block before the other one is.
	waits: Option<(u32, u32)>,
	last: watch::Sender<u32>,
	/// Uploads that are under way, and the most that were.
	under_way: AtomicUsize,
	most: AtomicUsize,
	/// Whether the account can pay a deposit.
	has_money: bool,
}

fn fail(name: &str) -> TxError {
	TxError::Failed { call: String::new(), name: name.into(), docs: String::new() }
}

impl Fake {
	fn new(bytes: &[u8], blob: Option<Blob>) -> Self {
		Self {
			chunks: Chunked::new(bytes).chunks.len() as u32,
			size: bytes.len() as u64,
			blob: Mutex::new(blob),
			calls: Mutex::default(),
			strike: Mutex::default(),
			waits: None,
			last: watch::Sender::new(u32::MAX),
			under_way: AtomicUsize::new(0),
			most: AtomicUsize::new(0),
			has_money: true,
		}
	}

	fn note(&self, call: char) {
		self.calls.lock().unwrap().push(call);
	}

	fn calls(&self) -> String {
		self.calls.lock().unwrap().clone()
	}

	fn owner(&self) -> AccountId32 {
		self.blob.lock().unwrap().as_ref().unwrap().owner
	}
}

impl Ledger for Fake {
	async fn blob(&self, _: H256) -> Result<Option<BlobView>, ChainError> {
		Ok(self.blob.lock().unwrap().clone().map(|blob| BlobView {
			owner: blob.owner,
			size: self.size,
			chunks: self.chunks,
			missing: (0..self.chunks).filter(|index| !blob.stored.contains(index)).collect(),
			expires: 90,
			removing: blob.removing.is_some(),
		}))
	}

	async fn register(&self, size: u64, _: H256) -> Sent {
		assert_eq!(size, self.size);
		self.note('r');
		let mut blob = self.blob.lock().unwrap();
		match *blob {
			_ if !self.has_money => Err(fail("Token error: FundsUnavailable")),
			Some(_) => Err(fail("ModelStorage::AlreadyRegistered")),
			None => {
				*blob = Some(Blob::of(ME, []));
				Ok(())
			}
		}
	}

	async fn remove(&self, _: H256) -> Sent {
		self.note('x');
		let mut slot = self.blob.lock().unwrap();
		let Some(blob) = slot.as_mut() else { return Err(fail("ModelStorage::UnknownBlob")) };
		let Some(from) = blob.removing else { return Err(fail("ModelStorage::NotExpired")) };
		blob.stored.retain(|index| !(from..from + STEP).contains(index));
		blob.removing = Some(from + STEP);
		if blob.stored.is_empty() {
			*slot = None;
		}
		Ok(())
	}

	async fn upload(&self, _: H256, index: u32, proof: &[H256], chunk: &[u8]) -> Sent {
		assert!(!proof.is_empty() && !chunk.is_empty());
		let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
		self.most.fetch_max(now, Ordering::SeqCst);
		if let Some((_, other)) = self.waits.filter(|(chunk, _)| *chunk == index) {
			self.last.subscribe().wait_for(|last| *last == other).await.unwrap();
		} else {
			tokio::task::yield_now().await;
		}
		self.under_way.fetch_sub(1, Ordering::SeqCst);
		let mut slot = self.blob.lock().unwrap();
		let Some(blob) = slot.as_mut() else { return Err(fail("code 101")) };
		if blob.removing.is_some() {
			return Err(fail("code 105"));
		}
		assert!(blob.stored.insert(index), "a chunk is sent once");
		self.note('u');
		self.last.send_replace(index);
		let stored = blob.stored.len();
		if self.strike.lock().unwrap().take_if(|after| *after == stored).is_some() {
			blob.stored.retain(|index| *index >= STEP);
			blob.removing = Some(STEP);
		}
		Ok(())
	}
}

/// A file of 12 chunks.
fn file() -> Vec<u8> {
	(0..12 * 4_096u32).map(|i| (i >> 3) as u8 ^ (i >> 12) as u8).collect()
}

async fn stored(fake: &Fake) -> Result<H256, BlobError> {
	let bytes = file();
	let storing = store_on(fake, &bytes, 0..u32::MAX, Duration::from_millis(1));
	tokio::time::timeout(Duration::from_secs(20), storing).await.expect("it comes to an end")
}

#[tokio::test]
async fn a_file_is_registered_and_stored() {
	let fake = Fake::new(&file(), None);
	assert_eq!(stored(&fake).await.unwrap(), Chunked::new(&file()).root);
	assert_eq!(fake.calls(), format!("r{}", "u".repeat(12)));
	// A second time there is nothing to do.
	stored(&fake).await.unwrap();
	assert_eq!(fake.calls().len(), 13);
}

/// A slow transaction kept the next six waiting, and with them half of the room in blocks.
#[tokio::test]
async fn a_slow_chunk_keeps_no_other_waiting() {
	let fake = Fake { waits: Some((0, 11)), ..Fake::new(&file(), None) };
	stored(&fake).await.unwrap();
	assert_eq!(fake.most.load(Ordering::SeqCst), WINDOW);
}

/// Storing was given up at a blob whose removal had begun, and with it the deposit of the job.
#[tokio::test]
async fn a_blob_that_a_stranger_removes_is_removed_and_stored_again() {
	let half = Blob { removing: Some(STEP), ..Blob::of(OTHER, 5..12) };
	let fake = Fake::new(&file(), Some(half));
	stored(&fake).await.unwrap();
	assert_eq!(fake.calls(), format!("xxr{}", "u".repeat(12)));
	assert_eq!(fake.owner(), ME);
}

#[tokio::test]
async fn a_blob_that_is_removed_in_the_middle_is_stored_again() {
	let fake = Fake::new(&file(), Some(Blob::of(OTHER, [3])));
	*fake.strike.lock().unwrap() = Some(8);
	stored(&fake).await.unwrap();
	let calls = fake.calls();
	assert!(calls.starts_with("uuuuuuux") && calls.ends_with(&format!("r{}", "u".repeat(12))));
	assert_eq!(fake.owner(), ME);
}

/// What somebody registered and did not remove takes chunks: its time begins again with each.
#[tokio::test]
async fn the_blob_of_a_stranger_is_completed() {
	let fake = Fake::new(&file(), Some(Blob::of(OTHER, [0, 7])));
	stored(&fake).await.unwrap();
	assert_eq!((fake.calls(), fake.owner()), ("u".repeat(10), OTHER));
}

#[tokio::test]
async fn whoever_cannot_pay_the_deposit_tries_twice() {
	let fake = Fake { has_money: false, ..Fake::new(&file(), None) };
	let error = stored(&fake).await.unwrap_err();
	assert!(error.to_string().contains("FundsUnavailable"), "{error}");
	assert_eq!(fake.calls(), "rr");
}
