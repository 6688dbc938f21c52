//! Rounds as they are played: claims, what is said of them, and tickets.

use super::*;
use crate::{Promise, Said};
use trainyard_protocol::{
	content,
	swarm::{Count, Ticket},
};

pub fn commitment(id: SwarmId, who: AccountId, file: &[u8], ticket: Option<H256>) -> H256 {
	swarm::commitment(&genesis(), id, &who, &root(file), ticket.as_ref(), &[7; 32])
}

/// Commits to a claim by the budget, of the file of this seed; returns its number.
pub fn claim(id: SwarmId, who: AccountId, seed: u32) -> u32 {
	let commitment = commitment(id, who, &model_file(seed), None);
	assert_ok!(Swarming::claim(signed(who), id, commitment));
	get(id).claims - 1
}

/// Shows the slice that was drawn; goes on to counting.
pub fn show(id: SwarmId) -> u32 {
	until(id, |stage| matches!(stage, Stage::Showing { .. }));
	let Stage::Showing { slice, .. } = get(id).stage else { unreachable!() };
	store(&slice_file(slice));
	until(id, |stage| matches!(stage, Stage::Counting { .. }));
	slice
}

pub fn count(correct: u32) -> Count {
	Count { correct, labels: LABELS }
}

pub fn said(file: &[u8], new: u32, base: u32) -> Box<Said<AccountId>> {
	let (content, pieces) = (content::hash(file), pieces(file));
	Box::new(Said { content, pieces, new: count(new), base: count(base), promise: None })
}

/// Says of a claim by the budget how many labels of 1,000 its model and the best one get right.
pub fn say(id: SwarmId, who: AccountId, number: u32, seed: u32, new: u32, base: u32) {
	let file = model_file(seed);
	store(&file);
	assert_ok!(Swarming::say(signed(who), id, number, said(&file, new, base), [7; 32]));
}

/// Goes on until claims can be challenged.
pub fn until_challenging(id: SwarmId) {
	until(id, |stage| matches!(stage, Stage::Challenging { .. }));
}

/// Goes on until the round is over. Returns what happened in the last block.
pub fn finish(id: SwarmId) -> Vec<Event<Test>> {
	let mut all = Vec::new();
	for _ in 0..300 {
		all.extend(events());
		if matches!(get(id).stage, Stage::Idle | Stage::Ended) {
			return all;
		}
		pass(1);
	}
	panic!("a round without an end: {:?}", get(id).stage);
}

/// One round in which `who` claims the model of this seed, with these counts.
pub fn round(id: SwarmId, who: AccountId, seed: u32, new: u32, base: u32) -> Vec<Event<Test>> {
	let number = claim(id, who, seed);
	show(id);
	say(id, who, number, seed, new, base);
	finish(id)
}

/// A ticket of `payer` for the model of seed `remote` of `maker`, from its own model of seed `own`.
pub fn ticket(
	id: SwarmId,
	payer: AccountId,
	maker: AccountId,
	own: u32,
	remote: u32,
) -> Ticket<AccountId> {
	Ticket {
		swarm: id,
		payer,
		maker,
		own: root(&model_file(own)),
		remote: root(&model_file(remote)),
		expires: System::block_number() + 20,
		nonce: 0,
	}
}

pub fn promise(ticket: &Ticket<AccountId>, own: u32) -> Promise<AccountId> {
	let own = model_file(own);
	Promise {
		ticket: ticket.clone(),
		signature: key(ticket.payer).sign(&ticket.digest(&genesis()).0).0,
		own_content: content::hash(&own),
		own_pieces: pieces(&own),
	}
}
