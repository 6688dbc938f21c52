//! A chain of three authority sets and one job, made up in memory with keys of the tests.

mod finality;
mod forgeries;
mod job;
mod specification;

use crate::{
	finality::authorities_key,
	keys::Key,
	records::{self, Read},
	trie::{GenesisState, Proof},
	Bytes, Evidence, Genesis, Header, Link, Refusal,
};
use codec::Encode;
use finality_grandpa::{Commit, Message, Precommit, SignedPrecommit};
use sp_consensus_grandpa::{
	localized_payload, AuthorityId, AuthorityList, AuthorityPair, ConsensusLog,
	GrandpaJustification, ScheduledChange, GRANDPA_ENGINE_ID,
};
use sp_core::Pair;
use sp_runtime::{Digest, DigestItem};
use trainyard_protocol::{JobId, H256};

/// The job of the tests.
const JOB: JobId = 7;

fn key(n: u8) -> AuthorityPair {
	AuthorityPair::from_seed(&[n; 32])
}

fn id(n: u8) -> AuthorityId {
	key(n).public()
}

/// Authorities by the number of their key, with weights.
fn set(weights: &[(u8, u64)]) -> AuthorityList {
	weights.iter().map(|(n, weight)| (id(*n), *weight)).collect()
}

fn header(number: u32, state_root: H256, logs: Vec<DigestItem>) -> Header {
	let (parent_hash, extrinsics_root) = (H256([number as u8; 32]), H256::zero());
	Header { parent_hash, number, state_root, extrinsics_root, digest: Digest { logs } }
}

fn scheduled(next: AuthorityList, delay: u32) -> DigestItem {
	let change = ScheduledChange { next_authorities: next, delay };
	DigestItem::Consensus(GRANDPA_ENGINE_ID, ConsensusLog::ScheduledChange(change).encode())
}

/// A vote of a key for a block, in round 5 of a set.
fn vote(
	n: u8,
	set: u64,
	block: &Header,
) -> SignedPrecommit<H256, u32, sp_consensus_grandpa::AuthoritySignature, AuthorityId> {
	let precommit = Precommit { target_hash: block.hash(), target_number: block.number };
	let payload = localized_payload(5, set, &Message::Precommit(precommit.clone()));
	SignedPrecommit { precommit, signature: key(n).sign(&payload), id: id(n) }
}

/// A justification of a block by these votes.
fn justification(
	block: &Header,
	precommits: Vec<
		SignedPrecommit<H256, u32, sp_consensus_grandpa::AuthoritySignature, AuthorityId>,
	>,
	votes_ancestries: Vec<Header>,
) -> Bytes {
	let commit = Commit { target_hash: block.hash(), target_number: block.number, precommits };
	Bytes(GrandpaJustification::<Header> { round: 5, commit, votes_ancestries }.encode())
}

/// A block that these keys made final.
fn link(block: &Header, set: u64, voters: &[u8]) -> Link {
	let votes = voters.iter().map(|n| vote(*n, set, block)).collect();
	Link { header: Bytes(block.encode()), justification: justification(block, votes, vec![]) }
}

/// The authorities of genesis: of 10 parts of the weight 7 are needed.
fn first() -> AuthorityList {
	set(&[(1, 6), (2, 2), (3, 1), (4, 1)])
}

fn genesis_state() -> GenesisState {
	let other = |n: u8| (vec![n; 20], vec![n; 100]);
	let entries = (0..40).map(other).chain([(authorities_key().bytes, first().encode())]);
	GenesisState::of(entries)
}

fn genesis_header() -> Header {
	header(0, genesis_state().root(), vec![])
}

fn genesis() -> H256 {
	genesis_header().hash()
}

/// Links of the first two sets.
fn handovers() -> Vec<Link> {
	let one = header(10, H256::zero(), vec![scheduled(set(&[(5, 1), (6, 1), (7, 1)]), 0)]);
	let two = header(25, H256::zero(), vec![scheduled(set(&[(1, 1), (8, 9)]), 0)]);
	vec![link(&one, 0, &[1, 2]), link(&two, 1, &[5, 6, 7])]
}

/// Evidence of a state whose entries these are, at block 40.
fn evidence(entries: Vec<(Key, Vec<u8>)>) -> Evidence {
	let other = |n: u8| (vec![n; 30], vec![n; 50]);
	let all = entries.iter().map(|(key, value)| (key.bytes.clone(), value.clone()));
	let state = GenesisState::of(all.chain((0..99).map(other)));
	let last = header(40, state.root(), vec![]);
	let get = |key: &Key| {
		let found = entries.iter().find(|(other, _)| other.bytes == key.bytes);
		Ok::<_, Refusal>(found.map(|(_, value)| value.clone()))
	};
	// Where nothing can be read there is nothing more to prove.
	let keys = records::all_keys(&get, JOB, 40).unwrap_or_else(|_| records::first_keys(JOB));
	let header = Bytes(genesis_header().encode());
	let authorities = genesis_state().prove(&[authorities_key()]).unwrap();
	Evidence {
		genesis: Genesis { header, authorities },
		finality: handovers().into_iter().chain([link(&last, 2, &[8])]).collect(),
		storage: needed(&state, &keys, last.state_root),
	}
}

/// The nodes that a reader of these keys needs, who stops where it cannot read on.
fn needed(state: &GenesisState, keys: &[Key], root: H256) -> Vec<Bytes> {
	let all = state.prove(keys).unwrap();
	let proof = Proof::new("the records of the job", root, &all);
	let _ = records::Records::read(&|key: &Key| proof.get(key), JOB, 40);
	proof.needed()
}

/// Reads from entries.
struct Entries(Vec<(Key, Vec<u8>)>);

impl Read for Entries {
	fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, Refusal> {
		let found = self.0.iter().find(|(other, _)| other.bytes == key.bytes);
		Ok(found.map(|(_, value)| value.clone()))
	}
}
