//! Reports authorities that made two blocks in one slot.
//!
//! BABE's own import looks for them as well, but at headers from which verification has already
//! taken the seal (`sc-consensus-babe` 0.60: `BabeVerifier::verify` moves it into the post-digests,
//! `check_and_report_equivocation` runs after it), and without its signature no such proof counts:
//! the runtime does not take it into the pool, though BABE logs "Submitted equivocation report".
//! Here the whole headers of imported blocks are compared, and a report that is not taken at one best
//! block is tried at the next ones: the first block of a session may not be known yet to the best.
//!
//! A report is a transaction without a sender, which only nodes that saw both blocks take
//! from themselves and put into blocks of their own. Votes of GRANDPA are watched by the
//! SDK's voter.

use crate::client::FullClient;
use futures::StreamExt;
use log::{debug, info, warn};
use sc_client_api::BlockchainEvents;
use sc_consensus_babe::find_pre_digest;
use sc_transaction_pool_api::OffchainTransactionPoolFactory;
use sp_api::{ApiExt, ProvideRuntimeApi};
use sp_blockchain::HeaderBackend;
use sp_consensus::BlockOrigin;
use sp_consensus_babe::{AuthorityId, BabeApi, EquivocationProof, Slot};
use std::{
	collections::{BTreeMap, VecDeque},
	sync::Arc,
};
use trainyard_runtime::{opaque::Block, Header};

/// Two blocks of one slot are noticed in the latest slot and in this many slots before it.
pub const SLOTS: u64 = 1_000;

/// Reports that wait for being sent; if there are more, the oldest is given up.
const MAX_UNSENT: usize = 16;
/// Imported blocks at which a report is tried: on a best block that knows the offender's session.
const TRIES: u32 = 100;

/// The first block that each authority made in each of the latest slots.
#[derive(Debug, Default)]
pub struct Seen {
	/// By slot and index of the authority. There are at most as many entries as blocks that were
	/// made.
	blocks: BTreeMap<(Slot, u32), Header>,
}

impl Seen {
	/// Notes a block. Returns the first block of the same authority and slot, if that was a
	/// different one; only the first one is kept.
	pub fn note(&mut self, slot: Slot, authority: u32, header: &Header) -> Option<Header> {
		let latest = self.blocks.last_key_value().map_or(slot, |((slot, _), _)| *slot).max(slot);
		let oldest = Slot::from((*latest).saturating_sub(SLOTS));
		self.blocks = self.blocks.split_off(&(oldest, 0));
		if slot < oldest {
			return None;
		}
		match self.blocks.get(&(slot, authority)) {
			Some(first) => (first.hash() != header.hash()).then(|| first.clone()),
			None => {
				self.blocks.insert((slot, authority), header.clone());
				None
			}
		}
	}
}

/// Returns the key with which `header` was sealed, by the epoch that it is in.
fn author(client: &FullClient, header: &Header, index: u32) -> Result<Option<AuthorityId>, String> {
	let epoch = client.runtime_api().current_epoch(header.hash()).map_err(|e| e.to_string())?;
	Ok(epoch.authorities.get(index as usize).map(|(key, _)| key.clone()))
}

/// Two blocks of one slot that are to be reported.
struct Pair {
	/// Their slot, and the index of their author.
	place: (Slot, u32),
	first: Header,
	second: Header,
	/// How often this has been tried.
	tries: u32,
}

/// Reports two blocks of one slot, if one key made both. Returns whether that is done; if not, the
/// best block does not know yet whose key it was, or the pool has no room.
fn report(
	client: &FullClient,
	pool: &OffchainTransactionPoolFactory<Block>,
	Pair { place: (slot, index), first, second, tries }: &Pair,
) -> Result<bool, String> {
	let (slot, first, second) = (*slot, first.clone(), second.clone());
	// An index means a different authority in a different epoch, and forks may differ in epochs.
	let Some(offender) = author(client, &second, *index)? else { return Ok(true) };
	if author(client, &first, *index)? != Some(offender.clone()) {
		return Ok(true);
	}
	let best = client.info().best_hash;
	let mut owner = None;
	for at in [second.hash(), best] {
		let proof = client.runtime_api().generate_key_ownership_proof(at, slot, offender.clone());
		owner = proof.map_err(|e| e.to_string())?;
		if owner.is_some() {
			break;
		}
	}
	let Some(owner) = owner else {
		debug!(target: "babe", "who made two blocks in slot {slot} is not on record");
		return Ok(false);
	};
	if *tries == 0 {
		info!(
			target: "babe",
			"{offender} made two blocks in slot {slot}: {:?} and {:?}; reporting it",
			first.hash(),
			second.hash(),
		);
	}
	let proof = EquivocationProof { offender, slot, first_header: first, second_header: second };
	let mut api = client.runtime_api();
	api.register_extension(pool.offchain_transaction_pool(best));
	let sent = api.submit_report_equivocation_unsigned_extrinsic(best, proof, owner);
	Ok(sent.map_err(|e| e.to_string())?.is_some())
}

/// Looks at all imported blocks, for as long as the node runs.
pub async fn watch(client: Arc<FullClient>, pool: OffchainTransactionPoolFactory<Block>) {
	let mut imported = client.every_import_notification_stream();
	let mut seen = Seen::default();
	let mut unsent = VecDeque::<Pair>::new();
	while let Some(block) = imported.next().await {
		// For old blocks there is nothing to report that others did not report then.
		if block.origin == BlockOrigin::NetworkInitialSync {
			continue;
		}
		if let Ok(digest) = find_pre_digest::<Block>(&block.header) {
			let place = (digest.slot(), digest.authority_index());
			let first = seen.note(place.0, place.1, &block.header);
			// A node whose clock was set back makes blocks again in slots that it has used already. It
			// does not accuse itself of what nobody else may have seen.
			if let Some(first) = first.filter(|_| block.origin != BlockOrigin::Own) {
				unsent.push_back(Pair { place, first, second: block.header.clone(), tries: 0 });
			}
		}
		if unsent.len() > MAX_UNSENT {
			unsent.pop_front();
		}
		unsent.retain_mut(|pair| {
			let slot = pair.place.0;
			let done = report(&client, &pool, pair).unwrap_or_else(|error| {
				debug!(target: "babe", "cannot report two blocks of slot {slot} now: {error}");
				false
			});
			pair.tries += 1;
			if !done && pair.tries >= TRIES {
				warn!(
					target: "babe",
					"no report of two blocks of slot {slot} was taken in {TRIES} tries: it is known \
					 already, or nobody's"
				);
			}
			!done && pair.tries < TRIES
		});
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use sp_core::H256;
	use sp_runtime::traits::Header as _;

	fn header(n: u64) -> Header {
		let root = H256::from_low_u64_be(n);
		Header::new(7, H256::zero(), root, H256::zero(), Default::default())
	}

	#[test]
	fn the_first_of_two_blocks_is_told_with_every_other_one() {
		let mut seen = Seen::default();
		let note = |seen: &mut Seen, slot: u64, authority, n| {
			seen.note(slot.into(), authority, &header(n))
		};
		assert_eq!(note(&mut seen, 5, 0, 1), None);
		assert_eq!(note(&mut seen, 5, 0, 1), None, "the same block once more");
		assert_eq!(note(&mut seen, 5, 1, 2), None, "another authority");
		assert_eq!(note(&mut seen, 6, 0, 3), None, "another slot");
		assert_eq!(note(&mut seen, 5, 0, 4), Some(header(1)));
		assert_eq!(note(&mut seen, 5, 0, 5), Some(header(1)));
		assert_eq!(note(&mut seen, 5, 1, 6), Some(header(2)));
	}

	#[test]
	fn old_slots_are_forgotten() {
		let mut seen = Seen::default();
		seen.note(5.into(), 0, &header(1));
		seen.note((5 + SLOTS).into(), 0, &header(2));
		assert_eq!(seen.note(5.into(), 0, &header(3)), Some(header(1)));
		seen.note((6 + SLOTS).into(), 0, &header(4));
		assert_eq!(seen.blocks.len(), 2);
		// This block is neither compared nor kept.
		assert_eq!(seen.note(5.into(), 0, &header(5)), None);
		assert_eq!(seen.blocks.len(), 2);
		// This slot is far ahead, and nothing overflows.
		assert_eq!(seen.note(u64::MAX.into(), 0, &header(6)), None);
		assert_eq!(seen.blocks.len(), 1);
	}
}
