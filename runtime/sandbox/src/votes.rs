//! Votes of GRANDPA that contradict each other, and reports of them as nodes make them.

use crate::Chain;
use codec::{Decode, Encode};
use sp_consensus_grandpa::{
	localized_payload, runtime_decl_for_grandpa_api::GrandpaApi, EquivocationProof,
};
use sp_core::{ed25519, Pair, H256};
use trainyard_runtime::*;

/// The proof of an equivocation.
pub type Proof = EquivocationProof<H256, BlockNumber>;

/// Two precommits of `who` in one round of this set, for two blocks of one height. (The crate's own
/// types are not public; this is their encoding.)
pub fn two_votes(who: &ed25519::Pair, set: u64, height: BlockNumber) -> Proof {
	let round = 5u64;
	let vote = |byte: u8| {
		let precommit = (H256::repeat_byte(byte), height);
		let payload = localized_payload(round, set, &(1u8, precommit));
		(precommit, who.sign(&payload))
	};
	let bytes = (set, 1u8, round, who.public(), (vote(1), vote(2))).encode();
	Proof::decode(&mut &bytes[..]).expect("it is its encoding")
}

/// Reports it as GRANDPA's client does. Returns what is in the node's pool then: nothing where the chain
/// does not know whose key it was.
pub fn report(chain: &mut Chain, proof: Proof) -> Option<UncheckedExtrinsic> {
	let (_, mut pool) = chain.pooled(|| {
		let (set, key) = (proof.set_id(), proof.offender().clone());
		let owner = <Runtime as GrandpaApi<Block>>::generate_key_ownership_proof(set, key)?;
		<Runtime as GrandpaApi<Block>>::submit_report_equivocation_unsigned_extrinsic(proof, owner)
	});
	pool.pop()
}
