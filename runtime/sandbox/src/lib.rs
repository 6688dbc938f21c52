//! A chain in one process, for tests and for attacks that are tried: the whole runtime in memory,
//! driven through its own entry points, that is headers with BABE digests, inherents and signed
//! transactions. No node, no network and no time passes but what the caller asks for.
//!
//! [`Chain`] makes blocks, which become final a few blocks later, or do not ([`Chain::stall`]), [`books`] checks the money and the state of every pallet. [`bundles`] has what
//! trainers deliver, [`seats`] what verifiers say of it, [`tasks`] a deterministic task and its runs, and [`disputes`] the moves of both sides before the
//! court.

pub mod books;
pub mod bundles;
pub mod disputes;
pub mod seats;
pub mod tasks;
pub mod votes;

use codec::{Decode, Encode};
use frame_support::{
	inherent::{InherentData, ProvideInherent},
	storage::with_transaction_unchecked,
	traits::Get,
};
use sp_core::{
	crypto::VrfSecret,
	offchain::{testing::TestTransactionPoolExt, TransactionPoolExt},
	sr25519, Pair, H256,
};
use sp_genesis_builder::PresetId;
use sp_io::TestExternalities;
use sp_keyring::Sr25519Keyring;
use sp_runtime::{
	generic::Era, traits::Header as _, transaction_validity::InvalidTransaction,
	ApplyExtrinsicResult, Digest, DigestItem, DispatchError, MultiSignature, TransactionOutcome,
};
use std::collections::HashMap;
use trainyard_protocol::{
	blob,
	retention::{self, Answers, Question},
};
use trainyard_runtime::*;

/// Genesis configuration of a preset: the defaults with its patch applied (RFC 7386).
pub fn genesis_json(preset: &str) -> serde_json::Value {
	fn merge(into: &mut serde_json::Value, patch: serde_json::Value) {
		match (into, patch) {
			(serde_json::Value::Object(into), serde_json::Value::Object(patch)) => {
				for (key, value) in patch {
					merge(into.entry(key).or_insert(serde_json::Value::Null), value);
				}
			}
			(into, patch) => *into = patch,
		}
	}
	let mut genesis = serde_json::to_value(RuntimeGenesisConfig::default()).unwrap();
	let patch = presets::get(&PresetId::from(preset)).expect("the preset exists");
	merge(&mut genesis, serde_json::from_slice(&patch).unwrap());
	genesis
}

/// The state that a preset makes.
pub fn genesis(preset: &str) -> TestExternalities {
	build(&genesis_json(preset))
}

/// The state that a genesis configuration makes.
pub fn build(json: &serde_json::Value) -> TestExternalities {
	let mut ext = TestExternalities::new_empty();
	ext.execute_with(|| {
		frame_support::genesis_builder_helper::build_state::<RuntimeGenesisConfig>(
			serde_json::to_vec(json).unwrap(),
		)
		.expect("the preset builds");
	});
	ext
}

/// Who signs.
#[derive(Clone)]
pub struct Key(pub sr25519::Pair);

impl Key {
	/// The key of a secret URI, such as `//Alice`.
	pub fn of(uri: &str) -> Self {
		Self(sr25519::Pair::from_string(uri, None).expect("a secret URI"))
	}

	/// A key of its own for each number, made faster than one of a URI.
	pub fn numbered(number: u32) -> Self {
		let mut seed = [0; 32];
		seed[..4].copy_from_slice(&number.to_le_bytes());
		Self(sr25519::Pair::from_seed(&seed))
	}

	/// The account that it opens.
	pub fn account(&self) -> AccountId {
		self.0.public().into()
	}
}

impl From<Sr25519Keyring> for Key {
	fn from(key: Sr25519Keyring) -> Self {
		Self(key.pair())
	}
}

/// A chain that makes blocks.
pub struct Chain {
	ext: TestExternalities,
	/// Those who make blocks, in turn. Deriving a key takes longer than a block.
	authors: Vec<sr25519::Pair>,
	slot: u64,
	open: bool,
	/// Where finality stalls: the last block that is final.
	stall: Option<BlockNumber>,
	/// What authors have of the chunks that were uploaded, by `blake2_256`.
	chunks: HashMap<H256, Vec<u8>>,
}

/// Blocks after which the state is brought into the trie: what is not there is hashed with every
/// block.
const COMMIT_EVERY: u32 = 16;
/// Most blocks without room for a transaction, one after the other.
const MOST_FULL_BLOCKS: u32 = 512;

/// How many blocks finality is behind the latest one.
pub const FINALITY_LAG: BlockNumber = 3;

impl Chain {
	/// The development preset, before its first block.
	pub fn development() -> Self {
		Self::of(presets::DEVELOPMENT)
	}

	/// The local preset, before its first block. //Alice makes all blocks.
	pub fn local() -> Self {
		Self::of(presets::LOCAL_TESTNET)
	}

	fn of(preset: &str) -> Self {
		Self::founded(&genesis_json(preset))
	}

	/// The chain of a genesis configuration, before its first block. //Alice, who must be one of its
	/// authorities, makes all blocks.
	pub fn founded(genesis: &serde_json::Value) -> Self {
		let authors = vec![Sr25519Keyring::Alice.pair()];
		Self {
			ext: build(genesis),
			authors,
			slot: 1_000_000,
			open: false,
			stall: None,
			chunks: HashMap::new(),
		}
	}

	/// From the next block on these make blocks in turn, as far as they are authorities. One of them
	/// must always be.
	pub fn made_by(&mut self, authors: impl IntoIterator<Item = impl Into<Key>>) {
		self.authors = authors.into_iter().map(|key| key.into().0).collect();
	}

	/// From the next block on no further block becomes final, or, with `false`, as many as ever.
	/// Authors say the truth about it.
	pub fn stall(&mut self, stalls: bool) {
		let last = self.final_height();
		self.stall = stalls.then_some(last);
	}

	/// The latest block that is final.
	fn final_height(&mut self) -> BlockNumber {
		let last = self.ext.execute_with(System::block_number).saturating_sub(FINALITY_LAG);
		self.stall.map_or(last, |stall| stall.min(last))
	}

	/// From now on no author has the chunk with this `blake2_256`, until it is uploaded again.
	pub fn lose_chunk(&mut self, hash: &H256) {
		self.chunks.remove(hash);
	}

	/// From now on authors have this chunk.
	pub fn find_chunk(&mut self, bytes: &[u8]) {
		self.chunks.insert(blob::chunk_hash(bytes), bytes.to_vec());
	}

	/// Lets that many blocks pass in which nobody does anything and no hook runs: only the height
	/// rises. For periods of weeks; what was due meanwhile is served in the next blocks.
	pub fn leap(&mut self, blocks: BlockNumber) {
		assert!(!self.open, "a block is open");
		self.ext.execute_with(|| System::set_block_number(System::block_number() + blocks));
	}

	/// Runs `f` as a node would, and returns the transactions that it put into the node's pool.
	pub fn pooled<R>(&mut self, f: impl FnOnce() -> R) -> (R, Vec<UncheckedExtrinsic>) {
		let (pool, state) = TestTransactionPoolExt::new();
		self.ext.register_extension(TransactionPoolExt::new(pool));
		let result = self.ext.execute_with(f);
		let pooled = std::mem::take(&mut state.write().transactions);
		let decoded = pooled.iter().map(|xt| UncheckedExtrinsic::decode(&mut &xt[..]).unwrap());
		(result, decoded.collect())
	}

	/// Reads or changes the state.
	pub fn state<R>(&mut self, f: impl FnOnce() -> R) -> R {
		self.ext.execute_with(f)
	}

	/// Begins a block in the next slot: of //Alice, if no others were named.
	pub fn begin(&mut self) {
		assert!(!self.open, "a block is open");
		self.open = true;
		self.slot += 1;
		let (slot, last) = (self.slot, self.final_height());
		let turn = slot as usize % self.authors.len();
		let (authors, chunks) = (&self.authors, &self.chunks);
		self.ext.execute_with(|| {
			// As an author answers: from the state before its block.
			let questions = ModelStorage::questions();
			let show = |question: Option<Question>| {
				let asked = question?;
				retention::show(&asked, chunks.get(&asked.hash)?).ok()
			};
			let answers =
				Answers { drawn: show(questions.drawn), doubted: show(questions.doubted) };
			let number = System::block_number() + 1;
			let parent = System::block_hash(number - 1);
			// A real VRF signature, as a client would make, on what the block's epoch says.
			let turns = *Babe::current_slot() != 0u64 && epoch_is_over(slot);
			let said = if turns { Babe::next_epoch() } else { Babe::current_epoch() };
			let (randomness, epoch) = (said.randomness, said.epoch_index);
			// The next of them that is an authority.
			let index_of = |author: &sr25519::Pair| {
				let own = author.public().into();
				said.authorities.iter().position(|(key, _)| *key == own)
			};
			let mut turns = authors.iter().cycle().skip(turn).take(authors.len());
			let (author, index) = turns
				.find_map(|author| Some((author, index_of(author)?)))
				.expect("one of them is an authority");
			let data = sp_consensus_babe::make_vrf_sign_data(&randomness, slot.into(), epoch);
			let pre = sp_consensus_babe::digests::PreDigest::SecondaryVRF(
				sp_consensus_babe::digests::SecondaryVRFPreDigest {
					authority_index: index as u32,
					slot: slot.into(),
					vrf_signature: author.vrf_sign(&data),
				},
			);
			let digest = Digest {
				logs: vec![DigestItem::PreRuntime(sp_consensus_babe::BABE_ENGINE_ID, pre.encode())],
			};
			let header = Header::new(number, H256::zero(), H256::zero(), parent, digest);
			Executive::initialize_block(&header);
			let duration: u64 = <Runtime as pallet_babe::Config>::ExpectedBlockTime::get();
			let now = pallet_timestamp::Call::set { now: slot * duration };
			let inherent = UncheckedExtrinsic::new_bare(now.into());
			Executive::apply_extrinsic(inherent).unwrap().unwrap();
			let mut data = InherentData::new();
			data.put_data(FINALITY_INHERENT, &last).expect("there is nothing of this name");
			data.put_data(RETENTION_INHERENT, &answers).expect("there is nothing of this name");
			if let Some(note) = Finality::create_inherent(&data) {
				let inherent = UncheckedExtrinsic::new_bare(note.into());
				Executive::apply_extrinsic(inherent).unwrap().unwrap();
			}
			if let Some(prove) = ModelStorage::create_inherent(&data) {
				let inherent = UncheckedExtrinsic::new_bare(prove.into());
				Executive::apply_extrinsic(inherent).unwrap().unwrap();
			}
		});
	}

	/// Ends the open block.
	pub fn end(&mut self) {
		assert!(self.open, "no block is open");
		self.open = false;
		let number = self.ext.execute_with(|| {
			let header = Executive::finalize_block();
			frame_system::BlockHash::<Runtime>::insert(header.number, header.hash());
			header.number
		});
		if number % COMMIT_EVERY == 0 {
			self.ext.commit_all().expect("no transaction is open");
		}
	}

	/// Makes `count` blocks without transactions.
	pub fn run(&mut self, count: u32) {
		for _ in 0..count {
			self.begin();
			self.end();
		}
	}

	/// Applies `call`, signed by `who`, in the open block. A transaction that does not enter the block
	/// leaves nothing: an author rolls it back.
	pub fn apply(
		&mut self,
		who: impl Into<Key>,
		call: impl Into<RuntimeCall>,
	) -> ApplyExtrinsicResult {
		assert!(self.open, "no block is open");
		let call = call.into();
		if let RuntimeCall::ModelStorage(pallet_model_storage::Call::upload_chunk {
			bytes, ..
		}) = &call
		{
			self.chunks.insert(blob::chunk_hash(bytes), bytes.to_vec());
		}
		self.ext.execute_with(|| {
			with_transaction_unchecked(|| {
				let result = Executive::apply_extrinsic(signed(who, call));
				match &result {
					Ok(_) => TransactionOutcome::Commit(result),
					Err(_) => TransactionOutcome::Rollback(result),
				}
			})
		})
	}

	/// Makes a block for `call` alone, signed by `who`; returns what the call returned. A block
	/// that changes the session has no room for transactions, nor have those after a [leap](Self::leap), in which
	/// the agendas of all pallets look at every height that was passed over; then one of the next blocks has it.
	pub fn call(
		&mut self,
		who: impl Into<Key>,
		call: impl Into<RuntimeCall>,
	) -> Result<(), DispatchError> {
		let (who, call) = (who.into(), call.into());
		self.begin();
		let mut result = self.apply(who.clone(), call.clone());
		for _ in 0..MOST_FULL_BLOCKS {
			if result != Err(InvalidTransaction::ExhaustsResources.into()) {
				break;
			}
			self.end();
			self.begin();
			result = self.apply(who.clone(), call.clone());
		}
		self.end();
		result.expect("the transaction is valid")
	}

	/// Whether the latest block has this event.
	pub fn has_event(&mut self, event: impl Into<RuntimeEvent>) -> bool {
		let event = event.into();
		self.ext.execute_with(|| System::events().iter().any(|record| record.event == event))
	}
}

/// Whether the epoch that the chain is in is over at `slot`.
fn epoch_is_over(slot: u64) -> bool {
	let length: u64 = <Runtime as pallet_babe::Config>::EpochDuration::get();
	slot >= *Babe::current_epoch_start() + length
}

/// `call` as a transaction signed by `who`, for the present state.
pub fn signed(who: impl Into<Key>, call: RuntimeCall) -> UncheckedExtrinsic {
	tipped(who, call, 0)
}

/// The same with a tip.
pub fn tipped(who: impl Into<Key>, call: RuntimeCall, tip: Balance) -> UncheckedExtrinsic {
	let who = who.into();
	let nonce = System::account_nonce(who.account());
	let extension: TxExtension = (
		frame_system::CheckNonZeroSender::new(),
		frame_system::CheckSpecVersion::new(),
		frame_system::CheckTxVersion::new(),
		frame_system::CheckGenesis::new(),
		frame_system::CheckEra::from(Era::Immortal),
		frame_system::CheckNonce::from(nonce),
		frame_system::CheckWeight::new(),
		configs::fees::ChargeFees::from(tip),
		pallet_model_storage::DirectUpload::new(),
		frame_system::WeightReclaim::new(),
	);
	let payload = SignedPayload::new(call, extension).expect("implicit data are there");
	let signature = payload.using_encoded(|bytes| who.0.sign(bytes));
	let (call, extension, _) = payload.deconstruct();
	UncheckedExtrinsic::new_signed(
		call,
		who.account().into(),
		MultiSignature::Sr25519(signature),
		extension,
	)
}
