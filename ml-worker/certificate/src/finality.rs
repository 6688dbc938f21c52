//! Which block is final, as it follows from the authorities of genesis.
//!
//! GRANDPA's authorities vote with weights. A block whose header announces other authorities is the last
//! that the present ones make final, and its justification hands over to those. So a chain of such
//! headers with their justifications leads from the authorities of genesis to any later set, and each step
//! rests on two thirds of the weight of one set.

use crate::{
	error::{Fault, Refusal},
	keys::Key,
	Bytes,
};
use codec::{Decode, DecodeAll};
use finality_grandpa::{voter_set::VoterSet, Error as GrandpaError, Message};
use serde::{Deserialize, Serialize};
use sp_consensus_grandpa::{
	check_message_signature, AuthorityId, AuthorityList, ConsensusLog, GrandpaJustification,
	ScheduledChange, SignatureResult, GRANDPA_ENGINE_ID,
};
use sp_core::crypto::Ss58Codec;
use sp_runtime::{generic, traits::BlakeTwo256};
use std::collections::{BTreeMap, BTreeSet};
use trainyard_protocol::{job::BlockNumber, H256};

/// A header of the chain.
pub type Header = generic::Header<BlockNumber, BlakeTwo256>;

/// A block, and what makes it final.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
	/// Its header, SCALE-encoded.
	pub header: Bytes,
	/// GRANDPA's justification of it, SCALE-encoded.
	pub justification: Bytes,
}

/// A block that is final.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Final {
	/// Its height.
	pub number: BlockNumber,
	/// Its hash.
	pub hash: H256,
	/// The root of the state after it.
	pub state_root: H256,
	/// The authority set that made it final.
	pub set: u64,
	/// How many authorities that has.
	pub authorities: u32,
}

/// Returns where the authorities of a chain stand in its state.
pub fn authorities_key() -> Key {
	Key::of("Grandpa", "Authorities")
}

/// Returns the header that these bytes are.
pub fn header(what: &str, bytes: &Bytes) -> Result<Header, Refusal> {
	Header::decode_all(&mut &bytes.0[..])
		.map_err(|error| Refusal::Form(format!("the header of {what} cannot be decoded: {error}")))
}

/// Returns the authorities that a value of [`authorities_key`] holds.
pub fn authorities(value: &[u8]) -> Result<AuthorityList, Refusal> {
	AuthorityList::decode_all(&mut &*value).map_err(|error| Refusal::Unreadable {
		what: authorities_key().name,
		reason: error.to_string(),
	})
}

/// What a header says about the authorities after it.
enum Next {
	Same,
	Scheduled(ScheduledChange<BlockNumber>),
	Forced,
}

/// Returns whether a block announces other authorities.
pub fn announces(header: &Header) -> bool {
	!matches!(next(header), Ok(Next::Same))
}

/// The earliest change counts, and one by force before any other.
fn next(header: &Header) -> Result<Next, Refusal> {
	let mut scheduled = None;
	for log in &header.digest.logs {
		let Some((GRANDPA_ENGINE_ID, mut bytes)) = log.as_consensus() else { continue };
		let log = ConsensusLog::<BlockNumber>::decode(&mut bytes).map_err(|error| {
			Refusal::Form(format!(
				"what block {} says of its authorities cannot be decoded: {error}",
				header.number
			))
		})?;
		match log {
			ConsensusLog::ForcedChange(..) => return Ok(Next::Forced),
			ConsensusLog::ScheduledChange(change) => _ = scheduled.get_or_insert(change),
			_ => {}
		}
	}
	Ok(scheduled.map_or(Next::Same, Next::Scheduled))
}

/// Follows the chain of authority sets from that of genesis. Returns the last block of it.
pub fn follow(first: AuthorityList, links: &[Link]) -> Result<Final, Refusal> {
	let (mut set, mut list, mut before) = (0u64, first, 0);
	for (at, link) in links.iter().enumerate() {
		let header = header(&format!("link {at} of the proof of finality"), &link.header)?;
		let (number, hash) = (header.number, header.hash());
		if number <= before {
			return Err(Refusal::NotRising { from: before, to: number });
		}
		let voters = VoterSet::new(list.iter().cloned()).ok_or(Refusal::BadSet { set })?;
		check_justification(&link.justification, (number, hash), set, &voters)
			.map_err(|fault| Refusal::NotFinal { number, set, fault })?;
		if at + 1 == links.len() {
			let authorities = voters.len().get() as u32;
			return Ok(Final { number, hash, state_root: header.state_root, set, authorities });
		}
		list = match next(&header)? {
			Next::Same => return Err(Refusal::NoChange { number }),
			Next::Forced => return Err(Refusal::Forced { number }),
			Next::Scheduled(change) if change.delay != 0 => {
				return Err(Refusal::Delayed { number, delay: change.delay })
			}
			Next::Scheduled(change) => change.next_authorities,
		};
		(set, before) = (set + 1, number);
	}
	Err(Refusal::NoFinalBlock)
}

/// Checks that the voters of a set made a block final. Each vote counts once, and nobody votes who is not
/// in the set; what is left to decide is GRANDPA's own rule.
fn check_justification(
	bytes: &Bytes,
	block: (BlockNumber, H256),
	set: u64,
	voters: &VoterSet<AuthorityId>,
) -> Result<(), Fault> {
	let GrandpaJustification::<Header> { round, commit, votes_ancestries } =
		GrandpaJustification::decode_all(&mut &bytes.0[..])
			.map_err(|error| Fault::Undecodable(error.to_string()))?;
	if (commit.target_number, commit.target_hash) != block {
		return Err(Fault::OtherBlock { number: commit.target_number, hash: commit.target_hash });
	}
	let mut votes = BTreeMap::<&AuthorityId, BTreeSet<H256>>::new();
	let mut weight = 0u64;
	for signed in &commit.precommits {
		let name = || signed.id.to_ss58check();
		let info = voters.get(&signed.id).ok_or_else(|| Fault::Stranger(name()))?;
		let of_voter = votes.entry(&signed.id).or_insert_with(|| {
			// The sum of all weights fits, or there is no set.
			weight += info.weight().get();
			BTreeSet::new()
		});
		// Who voted for two blocks of a round is against the rules, and GRANDPA counts it once for both.
		if !of_voter.insert(signed.precommit.target_hash) || of_voter.len() > 2 {
			return Err(Fault::Doubled(name()));
		}
	}
	let (needed, total) = (voters.threshold().get(), voters.total_weight().get());
	if weight < needed {
		return Err(Fault::TooLittleWeight { weight, total, needed });
	}
	for signed in &commit.precommits {
		let message = Message::Precommit(signed.precommit.clone());
		let result = check_message_signature(&message, &signed.id, &signed.signature, round, set);
		if !matches!(result, SignatureResult::Valid) {
			return Err(Fault::Signature(signed.id.to_ss58check()));
		}
	}
	let chain = Ancestry::new(&votes_ancestries);
	let mut used = BTreeSet::new();
	for signed in &commit.precommits {
		let route = chain
			.route(commit.target_hash, signed.precommit.target_hash)
			.ok_or_else(|| Fault::Ancestry(signed.id.to_ss58check()))?;
		used.extend(route);
	}
	match finality_grandpa::validate_commit(&commit, voters, &chain) {
		Ok(result) if result.is_valid() => {}
		_ => return Err(Fault::NoCommit),
	}
	match votes_ancestries.len() - used.len() {
		0 => Ok(()),
		surplus => Err(Fault::Surplus(surplus)),
	}
}

/// Headers that lead from the blocks of votes to the one that is final.
struct Ancestry {
	/// The parent of each block.
	parents: BTreeMap<H256, H256>,
}

impl Ancestry {
	fn new(headers: &[Header]) -> Self {
		Self { parents: headers.iter().map(|header| (header.hash(), header.parent_hash)).collect() }
	}

	/// Returns the blocks from `block` down to that whose parent is `base`; none of them where both are
	/// the same, `None` where no way is known.
	fn route(&self, base: H256, block: H256) -> Option<Vec<H256>> {
		let (mut at, mut route) = (block, Vec::new());
		while at != base {
			route.push(at);
			// A hash does not lead back to itself, so this ends.
			at = *self.parents.get(&at)?;
		}
		Some(route)
	}
}

impl finality_grandpa::Chain<H256, BlockNumber> for Ancestry {
	fn ancestry(&self, base: H256, block: H256) -> Result<Vec<H256>, GrandpaError> {
		let route = self.route(base, block).ok_or(GrandpaError::NotDescendent)?;
		// Without the block itself.
		Ok(route.into_iter().skip(1).collect())
	}
}
