//! Which chunk is sent next, by whom and with which nonce. No time passes here and nothing is asked:
//! it follows from what was sent and from what a look at the chain shows.

use super::{board::Account, Look, Settings};
use crate::blobs::Outline;
use std::{
	collections::{BTreeMap, BTreeSet, HashMap},
	time::{Duration, Instant},
};
use trainyard_protocol::blob;

/// How long a sender waits whom the pool refused.
const REST: Duration = Duration::from_secs(2);

/// Chunks without bytes that may be on their way at once.
const LIGHT: usize = 128;

/// A chunk that the pool took.
#[derive(Clone, Copy, Debug)]
struct Sent {
	sender: usize,
	nonce: u64,
	at: Instant,
}

/// What one sender sends now: these chunks, with nonces from `nonce` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
	pub(super) sender: usize,
	pub(super) nonce: u64,
	pub(super) chunks: Vec<u32>,
}

/// What was sent so far.
pub(super) struct Plan {
	settings: Settings,
	all: u32,
	/// Chunks that may be on their way at once.
	window: usize,
	/// Chunks whose bytes are not sent.
	light: BTreeSet<u32>,
	sent: BTreeMap<u32, Sent>,
	/// Chunks that the pool said are stored, which the last look did not show.
	stored: BTreeSet<u32>,
	/// Nonces that the pool had for transactions that we do not know.
	taken: HashMap<usize, u64>,
	resting: HashMap<usize, Instant>,
	poor: BTreeSet<usize>,
	/// The nonce that the pool lacks of each sender, and since when it lacks the same one.
	lacking: HashMap<usize, (u64, Instant)>,
}

impl Plan {
	pub(super) fn new(outline: &Outline, settings: Settings, light: BTreeSet<u32>) -> Self {
		let length = u64::from(blob::chunk_len(outline.size()));
		let window = usize::try_from(settings.window / length).unwrap_or(usize::MAX).max(1);
		Self {
			settings,
			all: outline.chunks(),
			// Nodes keep a few hundred transactions of one account at most.
			window: window.min(256),
			light,
			sent: BTreeMap::new(),
			stored: BTreeSet::new(),
			taken: HashMap::new(),
			resting: HashMap::new(),
			poor: BTreeSet::new(),
			lacking: HashMap::new(),
		}
	}

	/// Returns the chunks whose bytes are not sent.
	pub(super) fn light(&self) -> &BTreeSet<u32> {
		&self.light
	}

	/// Notes that the bytes of a chunk must be sent after all.
	pub(super) fn is_heavy(&mut self, index: u32) {
		self.light.remove(&index);
	}

	/// Notes that the pool took a chunk; returns whether it was sent before.
	pub(super) fn sent(&mut self, sender: usize, index: u32, nonce: u64) -> bool {
		if self.lacking.get(&sender).is_some_and(|(lacking, _)| *lacking == nonce) {
			self.lacking.insert(sender, (nonce, Instant::now()));
		}
		self.sent.insert(index, Sent { sender, nonce, at: Instant::now() }).is_some()
	}

	/// Notes that the pool refused a chunk because it is stored.
	pub(super) fn is_stored(&mut self, index: u32) {
		self.stored.insert(index);
	}

	/// Notes that the pool has another transaction with this nonce.
	pub(super) fn taken(&mut self, sender: usize, nonce: u64) {
		self.taken.insert(sender, nonce);
	}

	/// Lets a sender rest for a while.
	pub(super) fn rest(&mut self, sender: usize) {
		self.resting.insert(sender, Instant::now());
	}

	/// Notes that a sender cannot pay.
	pub(super) fn is_poor(&mut self, sender: usize) {
		self.poor.insert(sender);
	}

	/// Returns whether none of so many senders can pay.
	pub(super) fn all_poor(&self, senders: usize) -> bool {
		self.poor.len() >= senders
	}

	/// Returns whether a missing chunk is on its way: its transaction waits in the pool, or was sent
	/// so lately that the pool need not show it.
	fn is_under_way(&self, look: &Look, sent: &Sent) -> bool {
		let Some(Account { used, next }) = look.accounts.get(sent.sender) else { return false };
		sent.nonce >= *used && (sent.nonce < *next || sent.at.elapsed() < self.settings.grace)
	}

	/// Returns how many missing chunks are on their way.
	pub(super) fn under_way(&self, look: &Look, missing: &BTreeSet<u32>) -> usize {
		self.under_way_of(look, missing, |_| true)
	}

	/// The same of some of them.
	fn under_way_of(
		&self,
		look: &Look,
		missing: &BTreeSet<u32>,
		of: impl Fn(&u32) -> bool,
	) -> usize {
		let sent = missing.iter().filter(|index| of(index));
		let sent = sent.filter_map(|index| self.sent.get(index));
		sent.filter(|sent| self.is_under_way(look, sent)).count()
	}

	/// Returns what is sent now: chunks that are missing and not on their way, spread over those
	/// senders who can send, as many as the window has room for.
	pub(super) fn turns(&mut self, look: &Look, missing: &BTreeSet<u32>) -> Vec<Turn> {
		// The look is newer than these words of the pool, unless its block is older: then they come again.
		let stored = std::mem::take(&mut self.stored);
		let begin = self.settings.begin.checked_rem(self.all).unwrap_or_default();
		let waits = |index: &&u32| {
			let sent = self.sent.get(index);
			!stored.contains(index) && !sent.is_some_and(|sent| self.is_under_way(look, sent))
		};
		let after = missing.range(begin..).chain(missing.range(..begin));
		let is_light = |index: &u32| self.light.contains(index);
		let mut heavy = self.window;
		heavy = heavy.saturating_sub(self.under_way_of(look, missing, |index| !is_light(index)));
		let mut light = LIGHT.saturating_sub(self.under_way_of(look, missing, is_light));
		let has_room = |index: &&u32| {
			let room = if is_light(index) { &mut light } else { &mut heavy };
			let left = room.checked_sub(1);
			*room = left.unwrap_or_default();
			left.is_some()
		};
		let mut chunks: Vec<u32> = after.filter(waits).filter(has_room).copied().collect();
		for (sender, Account { next, .. }) in look.accounts.iter().enumerate() {
			if self.lacking.get(&sender).is_none_or(|(lacking, _)| lacking != next) {
				self.lacking.insert(sender, (*next, Instant::now()));
			}
		}

		self.resting.retain(|_, since| since.elapsed() < REST);
		let able: Vec<usize> = (0..look.accounts.len())
			.filter(|sender| !self.poor.contains(sender) && !self.resting.contains_key(sender))
			.collect();
		let mut turns: Vec<Turn> = able
			.iter()
			.filter_map(|sender| {
				Some(Turn { sender: *sender, nonce: self.nonce(look, *sender)?, chunks: vec![] })
			})
			.collect();
		// A gap is filled by what was there: what waits behind it in the pool stays good.
		for turn in &mut turns {
			let was_there = |index: &u32| {
				let sent = self.sent.get(index);
				sent.is_some_and(|sent| (sent.sender, sent.nonce) == (turn.sender, turn.nonce))
			};
			if let Some(place) = chunks.iter().position(was_there) {
				turn.chunks.push(chunks.remove(place));
			}
		}
		let count = turns.len().max(1);
		for (place, index) in chunks.into_iter().enumerate() {
			if let Some(turn) = turns.get_mut(place % count) {
				turn.chunks.push(index);
			}
		}
		self.taken.clear();
		turns.retain(|turn| !turn.chunks.is_empty());
		turns
	}

	/// Returns the nonce of the next transaction of a sender: the first that the pool does not have,
	/// nor may have in a moment.
	fn nonce(&self, look: &Look, sender: usize) -> Option<u64> {
		let Account { used, next } = *look.accounts.get(sender)?;
		let lately = self.sent.values().filter(|sent| {
			sent.sender == sender && sent.nonce >= used && sent.at.elapsed() < self.settings.grace
		});
		let mut after = lately.map(|sent| sent.nonce.saturating_add(1)).max().unwrap_or_default();
		// What is lacking for so long is a gap: nothing behind it gets into a block before it is filled.
		if self
			.lacking
			.get(&sender)
			.is_some_and(|(_, since)| since.elapsed() >= self.settings.grace)
		{
			after = 0;
		}
		// A gap in the pool is what another transaction of the account fills: it is known by its refusal.
		let taken = self.taken.get(&sender).map_or(0, |nonce| nonce.saturating_add(1));
		Some(next.max(after).max(taken))
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::Head;
	use trainyard_protocol::H256;

	/// A plan for 10 chunks, of which `window` may be on their way.
	fn plan(window: u64, begin: u32, grace: Duration) -> Plan {
		let bytes = [5; 10 * 4_096];
		let outline = Outline::of(&bytes[..], 40_960).unwrap();
		let settings = Settings { window: window * 4_096, begin, grace, ..Settings::default() };
		Plan::new(&outline, settings, BTreeSet::new())
	}

	fn look(accounts: &[(u64, u64)]) -> Look {
		let accounts = accounts.iter().map(|(used, next)| Account { used: *used, next: *next });
		let head = Head { number: 1, hash: H256::zero() };
		Look { head, blob: None, accounts: accounts.collect() }
	}

	fn turn(sender: usize, nonce: u64, chunks: &[u32]) -> Turn {
		Turn { sender, nonce, chunks: chunks.to_vec() }
	}

	const NEVER: Duration = Duration::ZERO;
	const LONG: Duration = Duration::from_secs(1_000);

	#[test]
	fn chunks_are_spread_over_the_senders() {
		let missing: BTreeSet<u32> = (0..10).collect();
		let mut plan = plan(5, 8, NEVER);
		let turns = plan.turns(&look(&[(3, 3), (0, 7)]), &missing);
		assert_eq!(turns, [turn(0, 3, &[8, 0, 2]), turn(1, 7, &[9, 1])]);
	}

	#[test]
	fn what_waits_in_the_pool_is_not_sent_again() {
		let missing: BTreeSet<u32> = (0..10).collect();
		let mut plan = plan(4, 0, NEVER);
		for (nonce, index) in [(3, 0), (4, 1), (5, 2)] {
			assert!(!plan.sent(0, index, nonce));
		}
		assert_eq!(plan.turns(&look(&[(3, 6)]), &missing), [turn(0, 6, &[3])]);
		// The pool lost the last one, which is first again; and a block has the nonce of the first one,
		// whose chunk is missing.
		assert_eq!(plan.turns(&look(&[(4, 5)]), &missing), [turn(0, 5, &[2, 0, 3])]);
		assert!(plan.sent(0, 2, 5), "again");
	}

	#[test]
	fn chunks_without_bytes_take_no_room() {
		let missing: BTreeSet<u32> = (0..10).collect();
		let mut plan = plan(2, 0, NEVER);
		plan.light = (1..8).collect();
		assert_eq!(
			plan.turns(&look(&[(3, 3)]), &missing),
			[turn(0, 3, &[0, 1, 2, 3, 4, 5, 6, 7, 8])]
		);
		// Where the other blob lost some, they wait as others do.
		(1..8).for_each(|index| plan.is_heavy(index));
		assert_eq!(plan.turns(&look(&[(3, 3)]), &missing), [turn(0, 3, &[0, 1])]);
	}

	#[test]
	fn a_pool_may_be_late() {
		let missing: BTreeSet<u32> = (0..10).collect();
		let mut plan = plan(3, 0, LONG);
		plan.sent(0, 0, 3);
		plan.sent(0, 1, 4);
		assert_eq!(plan.turns(&look(&[(3, 3)]), &missing), [turn(0, 5, &[2])]);
	}

	/// Its block was given up, and the node has the transaction again.
	#[test]
	fn what_a_reorganisation_dropped_is_sent_if_the_pool_lacks_it() {
		let mut plan = plan(9, 0, NEVER);
		plan.sent(0, 0, 3);
		plan.sent(0, 1, 4);
		assert_eq!(plan.turns(&look(&[(5, 5)]), &BTreeSet::new()), []);
		let missing = BTreeSet::from([0, 1]);
		assert_eq!(plan.turns(&look(&[(3, 5)]), &missing), []);
		assert_eq!(plan.under_way(&look(&[(3, 5)]), &missing), 2);
		assert_eq!(plan.turns(&look(&[(3, 3)]), &missing), [turn(0, 3, &[0, 1])]);
	}

	/// New transactions behind a gap made the pool look late for ever, and nothing got into a block.
	#[test]
	fn a_gap_is_filled_by_what_was_there() {
		let missing: BTreeSet<u32> = (0..10).collect();
		let grace = Duration::from_millis(20);
		let mut plan = plan(6, 0, grace);
		for (nonce, index) in [(3, 0), (4, 1), (5, 2)] {
			plan.sent(0, index, nonce);
		}
		let gap = look(&[(3, 4)]);
		assert_eq!(plan.turns(&gap, &missing), [turn(0, 6, &[3, 4, 5])]);
		std::thread::sleep(grace);
		plan.sent(0, 3, 6);
		assert_eq!(plan.turns(&gap, &missing)[0].nonce, 4);
		assert_eq!(plan.turns(&gap, &missing)[0].chunks[0], 1, "it had this nonce");
		plan.sent(0, 1, 4);
		assert_ne!(plan.turns(&gap, &missing)[0].nonce, 4, "the pool may be late again");
	}

	#[test]
	fn who_cannot_send_is_passed_over() {
		let missing: BTreeSet<u32> = (0..3).collect();
		let mut plan = plan(9, 0, NEVER);
		plan.is_poor(0);
		plan.rest(1);
		let accounts = look(&[(0, 0), (0, 0), (2, 2)]);
		assert_eq!(plan.turns(&accounts, &missing), [turn(2, 2, &[0, 1, 2])]);
		assert!(!plan.all_poor(3));
		plan.is_poor(1);
		plan.is_poor(2);
		assert!(plan.all_poor(3) && plan.turns(&accounts, &missing).is_empty());
	}

	#[test]
	fn what_the_pool_says_counts_until_the_next_look() {
		let missing: BTreeSet<u32> = (0..3).collect();
		let mut plan = plan(9, 0, NEVER);
		plan.is_stored(1);
		plan.taken(0, 4);
		assert_eq!(plan.turns(&look(&[(4, 4)]), &missing), [turn(0, 5, &[0, 2])]);
		assert_eq!(plan.turns(&look(&[(4, 4)]), &missing), [turn(0, 4, &[0, 1, 2])]);
	}
}
