//! How a dispute went, read from blocks.
//!
//! A dispute names the height of its last move, so the moves are found from the last to the first, each
//! by one look at the storage before it. What a dispute that is over stood like is found by halving the
//! chain. A node keeps the storage of old blocks only if it is an archive; where it does not, the story
//! begins with what is left.

use super::{calls::PALLET, DisputeId};
use crate::{amount, client::root_cause, AccountId32, Chain, ChainError, Head};
use codec::{Decode, Encode};
use std::collections::BTreeSet;
use subxt::{events::Phase, rpcs::client::rpc_params};
use trainyard_court::game::{words, Place, Roots};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	H256,
};

/// Bytes of a multi-address that names an account: its kind, and the account.
const ADDRESS: usize = 33;

/// What happened to a dispute in one block, by one transaction or by the chain itself.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Happened {
	/// Height of the block.
	pub block: BlockNumber,
	/// The transaction; none where the chain did it by itself.
	pub by: Option<Sent>,
	/// What happened, in words.
	pub events: Vec<String>,
}

/// A transaction that is in a block.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Sent {
	/// `Pallet.call`.
	pub call: String,
	/// Who signed it.
	pub sender: Option<AccountId32>,
	/// Bytes.
	pub bytes: u64,
	/// What it paid, in units of the currency.
	#[serde(serialize_with = "decimal")]
	pub fee: Option<Balance>,
}

fn decimal<S: serde::Serializer>(fee: &Option<Balance>, s: S) -> Result<S::Ok, S::Error> {
	match fee {
		Some(fee) => s.serialize_some(&fee.to_string()),
		None => s.serialize_none(),
	}
}

/// Says in words what an event of the court, by its name and the bytes of its fields, says about a
/// dispute; `None` where it is about another one.
fn told(id: DisputeId, name: &str, fields: &[u8]) -> Option<String> {
	// Money can move where no dispute ended.
	let of = if name == "Split" { Some(id).encode() } else { id.encode() };
	let rest = &mut fields.strip_prefix(&of[..])?;
	Some(said(name, rest).unwrap_or_else(|| name.to_owned()))
}

fn said(name: &str, rest: &mut &[u8]) -> Option<String> {
	let place = |rest: &mut &[u8]| Place::decode(rest).ok().map(|place| words::place(&place));
	Some(match name {
		"Posted" => {
			let place = place(rest)?;
			let digests = words::count(Roots::decode(rest).ok()?.len(), "digest", "digests");
			format!("posted {digests} at {place}")
		}
		"Opened" => format!("opened {}", place(rest)?),
		"Denied" => {
			let place = place(rest)?;
			format!("denied claim {} at {place}", u32::decode(rest).ok()?)
		}
		"Shown" => format!("showed a number that is not finite at {}", place(rest)?),
		"Passed" => "the turn passed: what was asked for had been said".into(),
		"Ended" => match (u8::decode(rest).ok()?, rest.first()) {
			(0, Some(1)) => "ended: the defendant is convicted, by its clock".into(),
			(0, _) => "ended: the defendant is convicted".into(),
			(1, Some(1)) => "ended: the challenger lost, by its clock".into(),
			(1, _) => "ended: the challenger lost".into(),
			(2, _) => "ended: the challenger gave up".into(),
			(3, _) => "ended: the challenger took its deposit back".into(),
			(4, _) => "ended: the defendant was convicted elsewhere".into(),
			_ => "ended: the leaf was forced, and the defendant opened the true one".into(),
		},
		"Split" => {
			let to = Option::<AccountId32>::decode(rest).ok()?;
			let sum = amount::format(Balance::decode(rest).ok()?);
			to.map_or(format!("{sum} burned"), |to| format!("{sum} to {to}"))
		}
		_ => return None,
	})
}

/// Returns the fee in the fields of `TransactionPayment.TransactionFeePaid`: behind who paid.
fn fee_of(fields: &[u8]) -> Option<Balance> {
	Balance::decode(&mut fields.get(32..)?).ok()
}

/// Returns the account that a multi-address names by its bytes.
fn account_of(address: &[u8]) -> Option<AccountId32> {
	let [0, account @ ..] = address else { return None };
	(address.len() == ADDRESS).then_some(())?;
	Some(AccountId32(account.try_into().ok()?))
}

impl Chain {
	/// Returns the block at a height on the best chain, if the node has it.
	async fn block_at(&self, number: BlockNumber) -> Result<Option<Head>, ChainError> {
		let hash: Option<String> = self.rpc("chain_getBlockHash", rpc_params![number]).await?;
		let bytes = hash.and_then(|hash| hex::decode(hash.trim_start_matches("0x")).ok());
		let hash = bytes.filter(|bytes| bytes.len() == 32).map(|bytes| H256::from_slice(&bytes));
		Ok(hash.map(|hash| Head { number, hash }))
	}

	/// Returns whether a number has a commitment or a dispute after block `at`: before, while and after
	/// that are `None`, `Some(true)` and `Some(false)`. What the node does not keep counts as before.
	async fn was_open(&self, id: DisputeId, at: &Head) -> Option<bool> {
		let next = self.next_dispute(at.hash).await.ok()?;
		if next <= id {
			return None;
		}
		let runs = self.dispute(id, at.hash).await.ok()?.is_some();
		Some(runs || self.commitment(id, at.hash).await.ok()?.is_some())
	}

	/// Returns the last block after which a number had a commitment or a dispute.
	async fn last_open(&self, id: DisputeId, head: &Head) -> Result<Option<Head>, ChainError> {
		if self.was_open(id, head).await == Some(true) {
			return Ok(Some(*head));
		}
		let (mut before, mut after) = (0, head.number);
		while after.saturating_sub(before) > 1 {
			let middle = before + (after - before) / 2;
			let Some(at) = self.block_at(middle).await? else { return Ok(None) };
			match self.was_open(id, &at).await {
				Some(false) => after = middle,
				_ => before = middle,
			}
		}
		let Some(last) = self.block_at(before).await? else { return Ok(None) };
		Ok((self.was_open(id, &last).await == Some(true)).then_some(last))
	}

	/// Returns what happened to a dispute until `head`, the first first. It is empty where the node does
	/// not keep the storage of that time.
	pub async fn history(&self, id: DisputeId, head: &Head) -> Result<Vec<Happened>, ChainError> {
		let Some(last) = self.last_open(id, head).await? else { return Ok(Vec::new()) };
		let mut heights = BTreeSet::new();
		if last.number < head.number {
			heights.insert(last.number.saturating_add(1));
		}
		let mut at = Some(last);
		while let Some(block) = at.take() {
			// Storage that the node does not keep ends the story.
			let Ok(found) = self.dispute(id, block.hash).await else { break };
			match found {
				Some(dispute) => {
					heights.extend([dispute.moved_at, dispute.committed_at]);
					let before = dispute.moved_at.checked_sub(1);
					if let Some(before) = before.filter(|before| *before < block.number) {
						at = self.block_at(before).await?;
					}
				}
				None => {
					let commitment = self.commitment(id, block.hash).await.ok().flatten();
					heights.extend(commitment.map(|commitment| commitment.since.height));
				}
			}
		}
		let mut story = Vec::new();
		for height in heights {
			let Some(block) = self.block_at(height).await? else { continue };
			story.extend(self.happened(id, &block).await?);
		}
		Ok(story)
	}

	/// Returns what happened to a dispute in a block.
	async fn happened(&self, id: DisputeId, block: &Head) -> Result<Vec<Happened>, ChainError> {
		let lost =
			|what: &str, e: &(dyn std::error::Error + 'static)| self.lost(what, root_cause(e));
		let connection = self.connection().await?;
		let at = connection.client.at_block(subxt::utils::H256(block.hash.0)).await;
		let at = at.map_err(|e| lost("metadata", &e))?;
		let events = at.events().fetch().await.map_err(|e| lost("System.Events", &e))?;
		let sent = at.extrinsics().fetch().await.map_err(|e| lost("chain_getBlock", &e))?;
		let mut story: Vec<(Option<u32>, Happened)> = Vec::new();
		let mut fees = Vec::new();
		for event in events.iter() {
			let event = event.map_err(|e| lost("System.Events", &e))?;
			let index = match event.phase() {
				Phase::ApplyExtrinsic(index) => Some(index),
				_ => None,
			};
			if (event.pallet_name(), event.event_name())
				== ("TransactionPayment", "TransactionFeePaid")
			{
				fees.extend(index.zip(fee_of(event.field_bytes())));
			}
			if event.pallet_name() != PALLET {
				continue;
			}
			let Some(text) = told(id, event.event_name(), event.field_bytes()) else { continue };
			match story.iter_mut().find(|(by, _)| *by == index) {
				Some((_, happened)) => happened.events.push(text),
				None => {
					let (block, events) = (block.number, vec![text]);
					story.push((index, Happened { block, by: None, events }));
				}
			}
		}
		for extrinsic in sent.iter() {
			let extrinsic = extrinsic.map_err(|e| lost("chain_getBlock", &e))?;
			let index = u32::try_from(extrinsic.index()).ok();
			let Some((_, happened)) = story.iter_mut().find(|(by, _)| *by == index) else {
				continue;
			};
			let fee = fees.iter().find(|(of, _)| Some(*of) == index).map(|(_, fee)| *fee);
			happened.by = Some(Sent {
				call: format!("{}.{}", extrinsic.pallet_name(), extrinsic.call_name()),
				sender: extrinsic.address_bytes().and_then(account_of),
				bytes: extrinsic.bytes().len() as u64,
				fee,
			});
		}
		Ok(story.into_iter().map(|(_, happened)| happened).collect())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_court::game::Target;

	#[test]
	fn events_of_one_dispute_are_told() {
		let place = Place::Ends { target: Target::Segment(3) };
		let roots = Roots::truncate_from(vec![H256::zero(); 5]);
		let who = AccountId32([2; 32]);
		let cases = [
			("Posted", (7u64, place, roots).encode(), "posted 5 digests at segment 3"),
			("Opened", (7u64, place, 9u8).encode(), "opened segment 3"),
			("Denied", (7u64, place, 2u32).encode(), "denied claim 2 at segment 3"),
			("Ended", (7u64, 0u8, true).encode(), "convicted, by its clock"),
			("Ended", (7u64, 1u8, false).encode(), "the challenger lost"),
			("Ended", (7u64, 4u8).encode(), "convicted elsewhere"),
			("Ended", (7u64, 5u8).encode(), "the leaf was forced"),
			("Split", (Some(7u64), Some(who), 2_000_000_000_000u128, 0u8).encode(), "2 TRY to 5"),
			("Split", (Some(7u64), None::<AccountId32>, 1u128, 0u8).encode(), "burned"),
			("Heard", 7u64.encode(), "Heard"),
		];
		for (name, fields, expected) in cases {
			let found = told(7, name, &fields).unwrap();
			assert!(found.contains(expected), "{found}");
			assert_eq!(told(8, name, &fields), None, "{name}");
		}
		assert_eq!(told(7, "Split", &(None::<u64>, Some(who), 1u128, 0u8).encode()), None);
		// What cannot be read is named all the same.
		assert_eq!(told(7, "Posted", &7u64.encode()).as_deref(), Some("Posted"));
	}

	#[test]
	fn senders_and_fees_are_read_from_their_bytes() {
		let who = AccountId32([5; 32]);
		let address = [&[0][..], &[5; 32]].concat();
		assert_eq!(account_of(&address), Some(who));
		assert_eq!(account_of(&address[..32]), None);
		assert_eq!(account_of(&[&[1][..], &[5; 32]].concat()), None);
		assert_eq!(fee_of(&(who, 77u128, 0u128).encode()), Some(77));
		assert_eq!(fee_of(&[1; 20]), None);
	}
}
