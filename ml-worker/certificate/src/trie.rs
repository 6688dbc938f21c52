//! Values of a state under its root: proofs of them, and the state of a genesis as a whole.

use crate::{error::Refusal, keys::Key, Bytes};
use serde_json::Value;
use sp_core::Blake2Hasher;
use sp_trie::{
	recorder::Recorder, LayoutV1, MemoryDB, StorageProof, Trie, TrieDBBuilder, TrieDBMutBuilder,
	TrieMut,
};
use trainyard_protocol::H256;

/// How a state is laid out. It reads the older layout as well.
type Layout = LayoutV1<Blake2Hasher>;

/// A part of a state, from which values are read; what was read is noted.
pub struct Proof {
	what: &'static str,
	root: H256,
	nodes: usize,
	db: MemoryDB<Blake2Hasher>,
	recorder: Recorder<Blake2Hasher>,
}

impl Proof {
	/// Returns the part that these nodes are of the state with this root. `what` names it.
	pub fn new(what: &'static str, root: H256, nodes: &[Bytes]) -> Self {
		let db = StorageProof::new(nodes.iter().map(|node| node.0.clone())).into_memory_db();
		Self { what, root, nodes: nodes.len(), db, recorder: Recorder::default() }
	}

	/// Returns the value under a key, or that there is none. Fails where neither follows from the root.
	pub fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, Refusal> {
		let mut recorder = self.recorder.as_trie_recorder(self.root);
		let trie =
			TrieDBBuilder::<Layout>::new(&self.db, &self.root).with_recorder(&mut recorder).build();
		trie.get(&key.bytes).map_err(|error| Refusal::NotProven {
			what: key.name.clone(),
			reason: error.to_string(),
		})
	}

	/// Returns the nodes that were needed so far, in order.
	pub fn needed(&self) -> Vec<Bytes> {
		self.recorder.to_storage_proof().into_nodes().into_iter().map(Bytes).collect()
	}

	/// Fails if there is more in it than was needed. All that was needed is in it, or reading had failed.
	pub fn all_needed(&self) -> Result<(), Refusal> {
		match self.nodes.saturating_sub(self.recorder.to_storage_proof().len()) {
			0 => Ok(()),
			nodes => Err(Refusal::Surplus { what: self.what, nodes }),
		}
	}
}

/// The state with which a chain begins.
pub struct GenesisState {
	root: H256,
	db: MemoryDB<Blake2Hasher>,
}

impl GenesisState {
	/// Builds the state that a raw chain specification (JSON) holds.
	pub fn of_specification(specification: &Value) -> Result<Self, Refusal> {
		let wrong = |text: &str| Refusal::Specification(text.into());
		let raw = specification.pointer("/genesis/raw").ok_or_else(|| {
			wrong(
				"it has no genesis.raw, so it is none or not a raw one. `trainyard-node export-chain-spec \
				 --raw` makes one",
			)
		})?;
		let children = raw.get("childrenDefault").and_then(Value::as_object);
		if children.is_some_and(|children| !children.is_empty()) {
			return Err(wrong("its genesis has child tries, which no Trainyard chain has"));
		}
		let top = raw.get("top").and_then(Value::as_object);
		let entries =
			top.ok_or_else(|| wrong("it has no genesis.raw.top"))?.iter().map(|(key, value)| {
				let decoded = |text: &str| hex::decode(text.strip_prefix("0x")?).ok();
				decoded(key).zip(value.as_str().and_then(decoded))
			});
		let entries = entries.collect::<Option<Vec<_>>>();
		Ok(Self::of(entries.ok_or_else(|| wrong("genesis.raw.top has something that is not hex"))?))
	}

	/// Builds the state that has these entries.
	pub fn of(entries: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Self {
		let (mut db, mut root) = (MemoryDB::default(), H256::zero());
		let mut trie = TrieDBMutBuilder::<Layout>::new(&mut db, &mut root).build();
		for (key, value) in entries {
			// All nodes are in memory, so none is missing.
			let _ = trie.insert(&key, &value);
		}
		drop(trie);
		Self { root, db }
	}

	/// Returns its root.
	pub fn root(&self) -> H256 {
		self.root
	}

	/// Returns the nodes that prove what is under these keys.
	pub fn prove(&self, keys: &[Key]) -> Result<Vec<Bytes>, Refusal> {
		let recorder = Recorder::<Blake2Hasher>::default();
		for key in keys {
			let mut recorder = recorder.as_trie_recorder(self.root);
			let trie = TrieDBBuilder::<Layout>::new(&self.db, &self.root)
				.with_recorder(&mut recorder)
				.build();
			trie.get(&key.bytes).map_err(|error| Refusal::NotProven {
				what: key.name.clone(),
				reason: error.to_string(),
			})?;
		}
		Ok(recorder.drain_storage_proof().into_nodes().into_iter().map(Bytes).collect())
	}
}
