//! A development chain in memory, driven through the runtime's own entry points: headers
//! with BABE digests, inherents, signed transactions.

use codec::{Decode, Encode};
use frame_support::traits::Get;
use sp_core::{
	crypto::VrfSecret,
	offchain::{testing::TestTransactionPoolExt, TransactionPoolExt},
	Pair, H256,
};
use sp_genesis_builder::PresetId;
use sp_io::TestExternalities;
use sp_keyring::Sr25519Keyring;
use sp_runtime::{
	generic::Era, traits::Header as _, transaction_validity::InvalidTransaction,
	ApplyExtrinsicResult, Digest, DigestItem, DispatchError, MultiSignature,
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

/// A chain that makes blocks.
pub struct Chain {
	ext: TestExternalities,
	slot: u64,
	open: bool,
}

impl Chain {
	/// The development preset, before its first block.
	pub fn development() -> Self {
		Self { ext: genesis(presets::DEVELOPMENT), slot: 1_000_000, open: false }
	}

	/// The local preset, before its first block. //Alice makes all blocks.
	pub fn local() -> Self {
		Self { ext: genesis(presets::LOCAL_TESTNET), slot: 1_000_000, open: false }
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

	/// Begins a block of //Alice in the next slot.
	pub fn begin(&mut self) {
		assert!(!self.open, "a block is open");
		self.open = true;
		self.slot += 1;
		let slot = self.slot;
		self.ext.execute_with(|| {
			let number = System::block_number() + 1;
			let parent = System::block_hash(number - 1);
			// A real VRF signature, as a client would make, on what the block's epoch says.
			let turns = *Babe::current_slot() != 0u64 && epoch_is_over(slot);
			let said = if turns { Babe::next_epoch() } else { Babe::current_epoch() };
			let (randomness, epoch) = (said.randomness, said.epoch_index);
			let alice = Sr25519Keyring::Alice.public().into();
			let index = said.authorities.iter().position(|(key, _)| *key == alice).unwrap();
			let data = sp_consensus_babe::make_vrf_sign_data(&randomness, slot.into(), epoch);
			let pre = sp_consensus_babe::digests::PreDigest::SecondaryVRF(
				sp_consensus_babe::digests::SecondaryVRFPreDigest {
					authority_index: index as u32,
					slot: slot.into(),
					vrf_signature: Sr25519Keyring::Alice.pair().vrf_sign(&data),
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
		});
	}

	/// Ends the open block.
	pub fn end(&mut self) {
		assert!(self.open, "no block is open");
		self.open = false;
		self.ext.execute_with(|| {
			let header = Executive::finalize_block();
			frame_system::BlockHash::<Runtime>::insert(header.number, header.hash());
		});
	}

	/// Makes `count` blocks without transactions.
	pub fn run(&mut self, count: u32) {
		for _ in 0..count {
			self.begin();
			self.end();
		}
	}

	/// Applies `call`, signed by `who`, in the open block.
	pub fn apply(
		&mut self,
		who: Sr25519Keyring,
		call: impl Into<RuntimeCall>,
	) -> ApplyExtrinsicResult {
		assert!(self.open, "no block is open");
		self.ext.execute_with(|| Executive::apply_extrinsic(signed(who, call.into())))
	}

	/// Makes a block for `call` alone, signed by `who`; returns what the call returned. A block
	/// that changes the session has no room for transactions; then the next block has it.
	pub fn call(
		&mut self,
		who: Sr25519Keyring,
		call: impl Into<RuntimeCall>,
	) -> Result<(), DispatchError> {
		let call = call.into();
		self.begin();
		let mut result = self.apply(who, call.clone());
		if result == Err(InvalidTransaction::ExhaustsResources.into()) {
			self.end();
			self.begin();
			result = self.apply(who, call);
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
pub fn signed(who: Sr25519Keyring, call: RuntimeCall) -> UncheckedExtrinsic {
	tipped(who, call, 0)
}

/// The same with a tip.
pub fn tipped(who: Sr25519Keyring, call: RuntimeCall, tip: Balance) -> UncheckedExtrinsic {
	let nonce = System::account_nonce(who.to_account_id());
	let extension: TxExtension = (
		frame_system::CheckNonZeroSender::new(),
		frame_system::CheckSpecVersion::new(),
		frame_system::CheckTxVersion::new(),
		frame_system::CheckGenesis::new(),
		frame_system::CheckEra::from(Era::Immortal),
		frame_system::CheckNonce::from(nonce),
		frame_system::CheckWeight::new(),
		pallet_transaction_payment::ChargeTransactionPayment::from(tip),
		pallet_model_storage::DirectUpload::new(),
		frame_system::WeightReclaim::new(),
	);
	let payload = SignedPayload::new(call, extension).expect("implicit data are there");
	let signature = payload.using_encoded(|bytes| who.pair().sign(bytes));
	let (call, extension, _) = payload.deconstruct();
	UncheckedExtrinsic::new_signed(
		call,
		who.to_account_id().into(),
		MultiSignature::Sr25519(signature),
		extension,
	)
}
