//! Storing on a made-up chain with a pool, which drops what it has, gives blocks up, and has others
//! store the same file.

use super::{
	board::{Account, Board, Look, Parcel, Source},
	*,
};
use crate::{AccountId32, Head};
use std::{
	collections::{BTreeMap, BTreeSet},
	sync::Mutex,
};

const ME: AccountId32 = AccountId32([1; 32]);
/// Chunks of the file.
const ALL: u32 = 40;

/// A transaction in the pool or in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tx {
	sender: usize,
	nonce: u64,
	index: u32,
}

/// A block: what is stored and which nonces are used after it, and what is in it.
#[derive(Clone, Default)]
struct Block {
	stored: BTreeSet<u32>,
	used: Vec<u64>,
	txs: Vec<Tx>,
	registered: bool,
}

#[derive(Default)]
struct State {
	blocks: Vec<Block>,
	pool: Vec<Tx>,
	/// How often each chunk was sent to the pool.
	offered: BTreeMap<u32, u32>,
	refused: u32,
	registrations: u32,
	forks: u32,
	/// Chunks that were sent without bytes.
	named: BTreeSet<u32>,
}

/// What goes wrong at which height.
#[derive(Clone, Copy, Debug)]
enum Fault {
	/// The pool is emptied.
	Drop(u32),
	/// So many blocks are given up; their transactions come back to the pool, or not.
	Fork(u32, usize, bool),
	/// Somebody else stores a chunk.
	Other(u32, u32),
}

struct Fake {
	state: Mutex<State>,
	faults: Mutex<Vec<Fault>>,
	/// Chunks that a block takes.
	room: usize,
	/// Transactions that the pool takes.
	pool: usize,
	/// Senders without money.
	poor: Vec<usize>,
	final_lag: usize,
	/// What an earlier run left in the pool that registers the blob, at the height where it does.
	registers_at: Option<u32>,
	/// Another blob, and the chunks of it that went.
	base: Option<(H256, Vec<u32>)>,
	/// Chunks that are lost: they have a record, and are missing.
	lost: Vec<u32>,
}

impl Fake {
	fn new(senders: usize) -> Self {
		let genesis = Block { used: vec![0; senders], registered: true, ..Block::default() };
		let state = State { blocks: vec![genesis], ..State::default() };
		Self {
			state: Mutex::new(state),
			faults: Mutex::default(),
			room: 3,
			pool: 100,
			poor: vec![],
			final_lag: 2,
			registers_at: None,
			base: None,
			lost: vec![],
		}
	}

	fn with(self, faults: &[Fault]) -> Self {
		*self.faults.lock().unwrap() = faults.to_vec();
		self
	}

	/// Makes a block of what the pool has.
	fn grow(&self, state: &mut State) {
		let mut block = Block { txs: vec![], ..state.blocks.last().unwrap().clone() };
		let height = state.blocks.len() as u32;
		if self.registers_at == Some(height) {
			block.registered = true;
			block.used[0] += 1;
			state.registrations += 1;
		}
		let mut faults = self.faults.lock().unwrap();
		for fault in faults.extract_if(.., |fault| match fault {
			Fault::Drop(at) | Fault::Fork(at, ..) | Fault::Other(at, _) => *at <= height,
		}) {
			match fault {
				Fault::Drop(_) => state.pool.clear(),
				Fault::Other(_, index) => {
					block.stored.insert(index);
				}
				Fault::Fork(_, depth, again) => {
					state.forks += 1;
					let kept = state.blocks.len() - depth;
					let gone: Vec<Tx> =
						state.blocks.drain(kept..).flat_map(|block| block.txs).collect();
					if again {
						state.pool.extend(gone);
					}
					block = Block { txs: vec![], ..state.blocks.last().unwrap().clone() };
				}
			}
		}
		let mut pool = std::mem::take(&mut state.pool);
		pool.sort_by_key(|tx| (tx.nonce, tx.sender));
		for tx in pool {
			let ready = block.used[tx.sender] == tx.nonce && block.txs.len() < self.room;
			match (ready, block.stored.contains(&tx.index)) {
				(true, false) => {
					block.used[tx.sender] += 1;
					block.stored.insert(tx.index);
					block.txs.push(tx);
				}
				// Refused without a fee; later nonces wait for another one in its place.
				(_, true) => {}
				(false, false) if block.used[tx.sender] <= tx.nonce => state.pool.push(tx),
				(false, false) => {}
			}
		}
		state.blocks.push(block);
	}

	/// Checks that each chunk is in one block and no nonce was used twice, and returns the state.
	fn checked(&self) -> std::sync::MutexGuard<'_, State> {
		let state = self.state.lock().unwrap();
		let mut seen = BTreeSet::new();
		let mut nonces = BTreeSet::new();
		for tx in state.blocks.iter().flat_map(|block| &block.txs) {
			assert!(seen.insert(tx.index), "chunk {} is paid twice", tx.index);
			assert!(nonces.insert((tx.sender, tx.nonce)));
		}
		assert_eq!(state.blocks.last().unwrap().stored.len(), ALL as usize);
		state
	}
}

impl Board for Fake {
	async fn look(&self) -> Result<Look, ChainError> {
		let mut state = self.state.lock().unwrap();
		self.grow(&mut state);
		let block = state.blocks.last().unwrap();
		let missing = (0..ALL).filter(|index| !block.stored.contains(index)).collect();
		let view = BlobView {
			owner: ME,
			size: u64::from(ALL) * 4_096,
			chunks: ALL,
			missing,
			expires: 90,
			removing: false,
		};
		let next = |sender: usize, used: u64| {
			let has =
				|nonce: &u64| state.pool.iter().any(|tx| tx.sender == sender && tx.nonce == *nonce);
			let waits = u64::from(sender == 0 && self.registers_at.is_some() && !block.registered);
			(used..).find(|nonce| !has(nonce)).unwrap() + waits
		};
		let accounts = block.used.iter().enumerate();
		let accounts =
			accounts.map(|(sender, used)| Account { used: *used, next: next(sender, *used) });
		let number = state.blocks.len() as u32;
		// Another fork, another hash.
		let head = Head { number, hash: H256::repeat_byte(state.forks as u8) };
		Ok(Look { head, blob: block.registered.then_some(view), accounts: accounts.collect() })
	}

	async fn is_final(&self) -> Result<bool, ChainError> {
		let state = self.state.lock().unwrap();
		let height = state.blocks.len().saturating_sub(1 + self.final_lag);
		Ok(state.blocks[height].stored.len() == ALL as usize)
	}

	async fn register(&self) -> Result<(), TxError> {
		let mut state = self.state.lock().unwrap();
		state.registrations += 1;
		let block = state.blocks.last_mut().unwrap();
		assert!(!block.registered, "a registration that fails costs a fee");
		block.registered = true;
		Ok(())
	}

	async fn remove(&self) -> Result<(), TxError> {
		unreachable!("nothing is removed here")
	}

	async fn send(
		&self,
		sender: usize,
		nonce: u64,
		index: u32,
		proof: &[H256],
		parcel: &Parcel,
	) -> Result<(), Refusal> {
		assert!(!proof.is_empty());
		let mut state = self.state.lock().unwrap();
		match parcel {
			Parcel::Bytes(chunk) => assert_eq!(chunk.len(), 4_096),
			Parcel::SameAs(from) => {
				assert_eq!(Some(*from), self.base.as_ref().map(|(root, _)| *root));
				let gone = self.base.as_ref().is_some_and(|(_, gone)| gone.contains(&index));
				if gone || self.lost.contains(&index) {
					state.refused += 1;
					let why = if gone { NOT_KEPT } else { CHUNK_STORED };
					return Err(Refusal::Custom(why));
				}
				state.named.insert(index);
			}
		}
		if self.poor.contains(&sender) {
			return Err(Refusal::Poor("Inability to pay some fees".into()));
		}
		let block = state.blocks.last().unwrap();
		let (used, stored) = (block.used[sender], block.stored.contains(&index));
		if nonce < used {
			return Err(Refusal::NonceUsed);
		}
		if stored {
			state.refused += 1;
			return Err(Refusal::Custom(CHUNK_STORED));
		}
		if state.pool.iter().any(|tx| (tx.sender, tx.nonce) == (sender, nonce)) {
			return Err(Refusal::NonceTaken);
		}
		if state.pool.len() >= self.pool {
			return Err(Refusal::PoolFull);
		}
		*state.offered.entry(index).or_default() += 1;
		state.pool.push(Tx { sender, nonce, index });
		Ok(())
	}
}

fn settings() -> Settings {
	Settings {
		window: 9 * 4_096,
		pause: Duration::from_millis(1),
		grace: Duration::from_millis(4),
		patience: Duration::from_secs(5),
		..Settings::default()
	}
}

/// A file of [`ALL`] chunks, and what was told of storing it.
async fn stored(fake: &Fake, settings: Settings) -> (Result<Report, BlobError>, Vec<Progress>) {
	let file = tempfile::NamedTempFile::new().unwrap();
	let bytes: Vec<u8> = (0..ALL * 4_096).map(|i| (i >> 3) as u8 ^ (i >> 12) as u8).collect();
	std::fs::write(file.path(), bytes).unwrap();
	let source = Source::open(file.path()).await.unwrap();
	let mut told = Vec::new();
	let storing = upload_to(fake, &source, settings, |progress| told.push(progress));
	let result = tokio::time::timeout(Duration::from_secs(60), storing).await;
	(result.expect("it comes to an end"), told)
}

#[tokio::test]
async fn blocks_are_full_of_chunks() {
	for senders in [1, 3] {
		let fake = Fake::new(senders);
		let (result, told) = stored(&fake, settings()).await;
		let report = result.unwrap();
		assert_eq!((report.before, report.sent, report.again), (0, ALL, 0));
		let state = fake.checked();
		let full = state.blocks.iter().filter(|block| block.txs.len() == fake.room).count();
		assert_eq!(full, (ALL as usize) / fake.room, "{senders}");
		assert!(told.contains(&Progress::Finalizing));
		let most = told.iter().filter_map(|progress| match progress {
			Progress::Stored { under_way, .. } => Some(*under_way),
			_ => None,
		});
		assert_eq!(most.max(), Some(9 - 3), "nine were sent, and a block took three");
	}
}

#[tokio::test]
async fn what_the_pool_drops_is_sent_again() {
	let fake = Fake::new(2).with(&[Fault::Drop(3), Fault::Drop(5), Fault::Drop(9)]);
	let (result, _) = stored(&fake, settings()).await;
	let report = result.unwrap();
	assert!(report.again > 0 && report.sent == ALL + report.again, "{report:?}");
	drop(fake.checked());
}

/// Unasked, and until the last one is final.
#[tokio::test]
async fn what_a_reorganisation_drops_is_sent_again() {
	for again in [true, false] {
		let last = ALL.div_ceil(3) + 3;
		let faults = [Fault::Fork(6, 3, again), Fault::Fork(last, 2, again)];
		let fake = Fake { final_lag: 4, ..Fake::new(2).with(&faults) };
		let (result, told) = stored(&fake, settings()).await;
		result.unwrap();
		let forks = told.iter().filter(|one| matches!(one, Progress::Reorganised { .. })).count();
		assert!(forks >= 1, "{again}: {told:?}");
		let state = fake.checked();
		let twice = state.offered.values().filter(|count| **count > 1).count();
		assert_eq!(twice > 0, !again, "{:?}", state.offered);
	}
}

#[tokio::test]
async fn two_uploaders_of_one_file_help_each_other() {
	let others: Vec<Fault> = (0..20).map(|n| Fault::Other(2 + n / 3, n)).collect();
	let fake = Fake::new(1).with(&others);
	let (result, _) = stored(&fake, settings()).await;
	result.unwrap();
	let state = fake.checked();
	let mine: usize = state.blocks.iter().map(|block| block.txs.len()).sum();
	assert!(mine < ALL as usize, "{mine}");
	drop(state);
	// From the other end they do not meet until all is there.
	let fake = Fake::new(1).with(&others);
	stored(&fake, Settings { begin: 20, ..settings() }).await.0.unwrap();
	assert_eq!(fake.checked().refused, 0);
}

#[tokio::test]
async fn a_full_pool_and_a_poor_sender_slow_it_down() {
	let fake = Fake { pool: 2, poor: vec![1], ..Fake::new(3) };
	let (result, told) = stored(&fake, settings()).await;
	result.unwrap();
	assert!(told.iter().any(|one| matches!(one, Progress::Poor { sender: 1, .. })));
	drop(fake.checked());
	let fake = Fake { poor: vec![0, 1], ..Fake::new(2) };
	let error = stored(&fake, settings()).await.0.unwrap_err();
	assert!(error.to_string().contains("no sender can pay"), "{error}");
}

/// A registration that an earlier run sent would make another one fail for a fee.
#[tokio::test]
async fn a_file_is_registered_once() {
	for registers_at in [None, Some(3)] {
		let fake = Fake { registers_at, ..Fake::new(1) };
		fake.state.lock().unwrap().blocks[0].registered = false;
		let (result, told) = stored(&fake, settings()).await;
		result.unwrap();
		assert_eq!(fake.checked().registrations, 1);
		assert_eq!(told.contains(&Progress::Waiting), registers_at.is_some());
	}
}

#[tokio::test]
async fn nothing_is_waited_for_for_ever() {
	let fake = Fake { room: 0, ..Fake::new(1) };
	let impatient = Settings { patience: Duration::from_millis(50), ..settings() };
	let error = stored(&fake, impatient).await.0.unwrap_err();
	assert!(matches!(error, BlobError::Incomplete { missing: 40, .. }), "{error}");
	let fake = Fake { final_lag: 1_000_000, ..Fake::new(1) };
	let error = stored(&fake, impatient).await.0.unwrap_err();
	assert!(matches!(error, BlobError::Incomplete { missing: 0, .. }), "{error}");
	let best = Settings { until_final: false, ..impatient };
	stored(&fake, best).await.0.unwrap();
}

#[tokio::test]
async fn a_file_that_changes_is_not_stored() {
	let file = tempfile::NamedTempFile::new().unwrap();
	std::fs::write(file.path(), vec![1; ALL as usize * 4_096]).unwrap();
	let source = Source::open(file.path()).await.unwrap();
	for changed in [vec![2; ALL as usize * 4_096], vec![1; 4_096]] {
		std::fs::write(file.path(), changed).unwrap();
		let error = upload_to(&Fake::new(1), &source, settings(), |_| {}).await.unwrap_err();
		assert!(matches!(error, BlobError::Changed { .. }), "{error}");
	}
	std::fs::write(file.path(), []).unwrap();
	assert!(matches!(Source::open(file.path()).await, Err(BlobError::Empty)));
}

/// What the other blob has is named, what it lacks is sent with its bytes, and where it loses chunks on the
/// way these are sent as well.
#[tokio::test]
async fn what_another_blob_has_is_not_sent() {
	let old: Vec<u8> = (0..ALL * 4_096).map(|i| (i >> 3) as u8 ^ (i >> 12) as u8).collect();
	let mut new = old.clone();
	(0..5).for_each(|chunk| new[chunk * 4_096] ^= 1);
	let node = {
		let old = old.clone();
		crate::fake::FakeNode::new(move |method, _, _| match method {
			"trainyard_chunkValues" => Ok(values_of(&old)),
			_ => Err("no such method"),
		})
	};
	let chain = Arc::new(node.chain().await);
	let file = tempfile::NamedTempFile::new().unwrap();
	std::fs::write(file.path(), &new).unwrap();
	let mut source = Source::open(file.path()).await.unwrap();
	let root = trainyard_protocol::blob::Chunked::new(&old).root;
	source.take_over(&chain, root).await.unwrap();
	assert_eq!(source.same(), (5..ALL).collect());
	for (gone, lost) in [(vec![], vec![]), (vec![7, 30], vec![]), (vec![7], vec![30])] {
		let base = Some((root, gone.clone()));
		let fake = Fake { base, lost: lost.clone(), ..Fake::new(2) };
		let gone = [gone, lost].concat();
		let report = upload_to(&fake, &source, settings(), |_| {}).await.unwrap();
		let state = fake.checked();
		let named: BTreeSet<u32> = (5..ALL).filter(|index| !gone.contains(index)).collect();
		assert_eq!(state.named, named);
		assert_eq!((report.reused, report.sent), (named.len() as u32, ALL));
		assert_eq!(state.refused as usize, gone.len());
	}
	// A node that gives values of other bytes is found out.
	let other = source.take_over(&chain, H256::repeat_byte(3)).await.unwrap_err();
	assert!(matches!(other, BlobError::WrongBytes { .. }), "{other}");
}

/// What the node answers with the values of all chunks of a blob.
fn values_of(bytes: &[u8]) -> Vec<u8> {
	use codec::Encode;
	let size = bytes.len() as u64;
	let chunks = trainyard_protocol::blob::Chunked::new(bytes).chunks;
	let value = |(index, chunk): (u32, &&[u8])| {
		blob::chunk_node(size, index).unwrap().value_of(size, chunk).unwrap()
	};
	let values: Vec<H256> = (0..).zip(&chunks).map(value).collect();
	(size, values).encode()
}

/// Chunks of a sealed file are computed as they are sent, and lead to the root of the whole.
#[tokio::test]
async fn a_file_is_stored_sealed() {
	use trainyard_seal::{open, SecretKey};
	let key = SecretKey::from_bytes(&[1; 32]);
	for length in [0usize, 1, 70_000, 1_048_576, 1_300_000] {
		let plain: Vec<u8> = (0..length).map(|i| (i ^ (i >> 9)) as u8).collect();
		let file = tempfile::NamedTempFile::new().unwrap();
		std::fs::write(file.path(), &plain).unwrap();
		let source = Source::open_sealed(file.path(), key.public()).await.unwrap();
		let outline = source.outline();
		assert_eq!(source.plain_len(), length as u64);
		let mut sealed = Vec::new();
		for index in 0..outline.chunks() {
			sealed.extend(source.chunk(index).await.unwrap());
		}
		assert_eq!(outline.root(), trainyard_protocol::blob::Chunked::new(&sealed).root);
		let mut opened = Vec::new();
		open(&sealed[..], &key, &mut opened).unwrap();
		assert!(opened == plain, "{length}");
	}
}

/// What is sealed with the key of other bytes is sent to nobody.
#[tokio::test]
async fn a_sealed_file_that_changes_is_not_sent() {
	let key = trainyard_seal::SecretKey::from_bytes(&[1; 32]);
	let file = tempfile::NamedTempFile::new().unwrap();
	std::fs::write(file.path(), vec![3; 200_000]).unwrap();
	let source = Source::open_sealed(file.path(), key.public()).await.unwrap();
	let mut changed = vec![3; 200_000];
	changed[100_000] = 4;
	for other in [&changed[..], &changed[..120_000], &changed[..10]] {
		std::fs::write(file.path(), other).unwrap();
		let (mut gone, mut same) = (0, 0);
		for index in 0..source.outline().chunks() {
			match source.chunk(index).await {
				Ok(_) => same += 1,
				Err(BlobError::Changed { .. }) => gone += 1,
				Err(other) => panic!("{other}"),
			}
		}
		assert!(gone > 0 && gone + same == source.outline().chunks(), "{gone} and {same}");
	}
	std::fs::remove_file(file.path()).unwrap();
	let nothing = Source::open_sealed(file.path(), key.public()).await;
	assert!(matches!(nothing, Err(BlobError::Local { .. })));
}
