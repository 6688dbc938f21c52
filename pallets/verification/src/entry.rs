//! One verifier: its bond, what of it counts in draws, and the seats that it has.

use crate::Fault;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use sp_core::sr25519::Public;
use trainyard_pallet_support::{history::History, turnover::Allowance};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	seats::Resources,
	views::{Standing, VerifierView},
	Text, H256,
};

/// Blocks for which a verifier remembers what it was before a change: longer than
/// [`horizon`](trainyard_traits::Beacon::horizon), the time from a draw height to the last block in
/// which its seed is given. `integrity_test` compares them.
pub const SETTLING: BlockNumber = 60;
/// Seats of which a verifier remembers whether it gave a verdict.
pub const REMEMBERED: u32 = 100;

/// A verifier with a bond.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Entry {
	/// The bond, as it is held.
	pub bond: Balance,
	/// The part of it that running seats lock.
	pub locked: Balance,
	/// The part of it that counts while the verifier is active: the rest waits until the pool has
	/// room for it in a turn.
	pub counted: Balance,
	/// What counted in draws, by height; 0 while it is not active.
	pub weights: History<Balance>,
	/// What it declared to have room for, by height.
	pub capacity: History<Resources>,
	/// The key of its own draws, by height; empty before it set one. Without one it has no place.
	pub vrf: History<Public>,
	/// What its running seats need.
	pub load: Resources,
	/// How many of these seats are of recomputations.
	pub checks: u32,
	/// A bit for each of its last seats: 1 where it gave no verdict.
	pub absences: u128,
	/// Where it stands.
	pub standing: Standing,
	/// Height at which it came.
	pub entered: BlockNumber,
}

impl Entry {
	/// Returns a verifier that comes at `now` and waits for a place.
	pub fn new(bond: Balance, capacity: Resources, now: BlockNumber) -> Self {
		Self {
			bond,
			locked: 0,
			counted: 0,
			weights: History::default(),
			capacity: History::new(now, capacity),
			vrf: History::default(),
			load: Resources::default(),
			checks: 0,
			absences: 0,
			standing: Standing::Waiting { since: now },
			entered: now,
		}
	}

	/// Returns whether it is drawn.
	pub fn is_active(&self) -> bool {
		self.standing == Standing::Active
	}

	/// Returns whether it has one of the places of the pool.
	pub fn has_place(&self) -> bool {
		matches!(self.standing, Standing::Active | Standing::Paused)
	}

	/// Returns whether it has a VRF key.
	pub fn has_key(&self) -> bool {
		self.vrf.latest().is_some()
	}

	/// Returns what counted of its bond at the height `after`: nothing where it had no VRF key then.
	fn counted_at(&self, after: BlockNumber) -> Balance {
		match self.vrf.at(after) {
			Some(_) => self.weights.at(after).unwrap_or(0).min(self.bond),
			None => 0,
		}
	}

	/// Returns how many seats of `stake` were free, in a draw from the blocks after `after`: by the
	/// bond that counted then, and the seats that it has now.
	pub fn seats(&self, after: BlockNumber, stake: Balance) -> Balance {
		let free = self.counted_at(after).saturating_sub(self.locked);
		free.checked_div(stake).unwrap_or(0)
	}

	/// Returns how many seats of `stake` it could have at `after` if it had none.
	pub fn all_seats(&self, after: BlockNumber, stake: Balance) -> Balance {
		self.counted_at(after).checked_div(stake).unwrap_or(0)
	}

	/// Returns whether it has room for `needs` beside its other seats.
	pub fn can_take(&self, after: BlockNumber, needs: &Resources) -> bool {
		self.capacity.at(after).is_some_and(|has| has.can_take(&self.load, needs))
	}

	/// Returns whether it would have room for `needs` if it had no other seat.
	pub fn is_able(&self, after: BlockNumber, needs: &Resources) -> bool {
		self.capacity.at(after).is_some_and(|has| has.can_take(&Resources::default(), needs))
	}

	/// Returns whether nothing of it has counted in draws for `turn` blocks or longer.
	pub fn is_long_away(&self, now: BlockNumber, turn: BlockNumber) -> bool {
		let since = self.weights.changed().unwrap_or(self.entered);
		!self.is_active() && since.saturating_add(turn) <= now
	}

	/// Changes where it stands, and with it what counts. Returns whether there was room to remember
	/// that; nothing changed where not.
	#[must_use]
	pub fn stand(&mut self, standing: Standing, now: BlockNumber) -> bool {
		let counts = if standing == Standing::Active { self.counted } else { 0 };
		let fits = self.weights.push(now, counts, SETTLING);
		if fits {
			self.standing = standing;
		}
		fits
	}

	/// Changes where it stands by the pool's rules and not by its own wish.
	pub fn put(&mut self, standing: Standing, now: BlockNumber) {
		self.standing = standing;
		let counts = if self.is_active() { self.counted } else { 0 };
		self.weights.force(now, counts, SETTLING);
	}

	/// Lets as much of the bond count as the pool has room for in this turn.
	#[must_use]
	pub fn grow(&mut self, allowance: &mut Allowance, now: BlockNumber) -> bool {
		let more = allowance.take(self.bond.saturating_sub(self.counted));
		self.counted = self.counted.saturating_add(more);
		!self.is_active() || self.weights.push(now, self.counted, SETTLING)
	}

	/// Takes a seat.
	pub fn sit(&mut self, stake: Balance, needs: &Resources) {
		self.locked = self.locked.saturating_add(stake);
		self.load = self.load.and(needs);
	}

	/// Locks more of the bond.
	pub fn lock(&mut self, amount: Balance) {
		self.locked = self.locked.saturating_add(amount);
	}

	/// Frees what was locked of the bond.
	pub fn unlock(&mut self, amount: Balance) {
		self.locked = self.locked.saturating_sub(amount).min(self.bond);
	}

	/// Has done the work of a seat.
	pub fn unload(&mut self, needs: &Resources) {
		self.load = self.load.without(needs);
	}

	/// Remembers whether it was absent in a seat. Returns how often it was lately.
	pub fn remember(&mut self, absent: bool) -> u32 {
		let mask = 1u128.wrapping_shl(REMEMBERED).wrapping_sub(1);
		let before = self.absences.wrapping_shl(1) & mask;
		self.absences = before | u128::from(absent);
		self.absences.count_ones()
	}

	/// Leaves a seat, of which `absent` remains known. Returns how often it was absent lately.
	pub fn rise(&mut self, stake: Balance, needs: &Resources, absent: bool) -> u32 {
		self.unlock(stake);
		self.unload(needs);
		self.remember(absent)
	}

	/// Loses a part of the bond, at once for all draws.
	pub fn lose(&mut self, amount: Balance) {
		self.bond = self.bond.saturating_sub(amount);
		self.shrink();
	}

	/// Gives back what no seat locks. Returns how much that is.
	pub fn free(&self) -> Balance {
		self.bond.saturating_sub(self.locked)
	}

	/// Lets no more count than there is.
	pub fn shrink(&mut self) {
		let bond = self.bond;
		self.counted = self.counted.min(bond);
		self.weights.rewrite(|counts| counts.min(bond));
	}

	/// Returns what clients read about it, with where it serves.
	pub fn view(&self, location: Option<Text>) -> VerifierView {
		VerifierView {
			standing: self.standing,
			bond: self.bond,
			locked: self.locked,
			counted: self.counted,
			capacity: self.capacity.latest().unwrap_or_default(),
			load: self.load,
			absences: self.absences.count_ones(),
			location,
			vrf_key: self.vrf.latest().map(|key| H256(key.0)),
		}
	}
}

/// What faults cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tariff {
	/// What a seat locks: the most that can be lost in it.
	pub stake: Balance,
	/// How many fees absence costs.
	pub absence_fees: u32,
	/// What a false verdict costs.
	pub contrary: Balance,
}

impl Tariff {
	/// Returns what `fault` costs in a seat that would have earned `fee`.
	pub fn of(&self, fault: Fault, fee: Balance) -> Balance {
		let absence = fee.saturating_mul(self.absence_fees.into());
		match fault {
			Fault::NoVerdict => absence,
			// A false verdict never costs less than none.
			Fault::Contrary => self.contrary.max(absence),
			Fault::LostAccusation | Fault::NotShown | Fault::Guessed => self.stake,
		}
		.min(self.stake)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	const STAKE: Balance = 10;
	const ROOM: Resources = Resources { work: 100, memory_mib: 8, disk_mib: 50 };
	const NEEDS: Resources = Resources { work: 40, memory_mib: 8, disk_mib: 10 };

	fn active(bond: Balance, now: BlockNumber) -> Entry {
		let mut entry = Entry::new(bond, ROOM, now);
		assert!(entry.vrf.push(now, Public::from_raw([1; 32]), SETTLING));
		assert!(entry.grow(&mut Allowance::left_over(bond), now));
		assert!(entry.stand(Standing::Active, now));
		entry
	}

	#[test]
	fn newcomers_count_from_the_height_at_which_they_came() {
		let entry = active(100, 50);
		assert_eq!([49, 50, 51].map(|after| entry.seats(after, STAKE)), [0, 10, 10]);
		assert!(!entry.is_able(49, &NEEDS) && entry.is_able(50, &NEEDS));
	}

	/// Otherwise somebody who knows a seed could choose the key by which it draws.
	#[test]
	fn a_key_counts_from_its_height() {
		let mut entry = active(100, 50);
		let (first, second) = (Public::from_raw([1; 32]), Public::from_raw([2; 32]));
		assert!(entry.vrf.push(70, second, SETTLING));
		let keys = [49, 50, 69, 70].map(|after| entry.vrf.at(after));
		assert_eq!(keys, [None, Some(first), Some(first), Some(second)]);
		// Without a key then nothing of the bond counts, whatever was there of it.
		entry.vrf = History::new(80, first);
		let seats = [79, 80].map(|after| entry.seats(after, STAKE));
		assert_eq!(seats, [0, 10]);
		assert_eq!([79, 80].map(|after| entry.all_seats(after, STAKE)), [0, 10]);
	}

	#[test]
	fn what_the_pool_has_no_room_for_does_not_count() {
		let mut entry = active(100, 50);
		entry.bond = 200;
		let mut allowance = Allowance::left_over(30);
		assert!(entry.grow(&mut allowance, 60));
		assert_eq!((entry.counted, allowance.left()), (130, 0));
		assert_eq!((entry.seats(59, STAKE), entry.seats(60, STAKE)), (10, 13));
	}

	/// Otherwise a bond that is raised again would count for a draw that is known.
	#[test]
	fn raises_in_a_row_do_not_count_for_earlier_draws() {
		let mut entry = active(100, 0);
		for now in [1_000, 1_001, 1_002] {
			entry.bond += 10;
			assert!(entry.grow(&mut Allowance::left_over(10), now));
		}
		entry.bond += 10;
		assert!(!entry.grow(&mut Allowance::left_over(10), 1_003));
		assert_eq!([999, 1_000, 1_002].map(|after| entry.seats(after, STAKE)), [10, 11, 13]);
	}

	#[test]
	fn who_leaves_or_pauses_counts_for_the_draws_that_began_before() {
		for standing in [Standing::Left { since: 60 }, Standing::Paused] {
			let mut entry = active(100, 50);
			assert!(entry.stand(standing, 60));
			assert_eq!([49, 59, 60].map(|after| entry.seats(after, STAKE)), [0, 10, 0]);
			// It comes back with all that counted.
			assert!(entry.stand(Standing::Active, 70));
			assert_eq!((entry.seats(69, STAKE), entry.seats(70, STAKE)), (0, 10));
		}
	}

	#[test]
	fn a_slash_counts_at_once() {
		let mut entry = active(100, 0);
		entry.lose(35);
		assert_eq!((entry.seats(0, STAKE), entry.bond, entry.counted), (6, 65, 65));
	}

	#[test]
	fn seats_lock_stake_and_room() {
		let mut entry = active(25, 0);
		entry.sit(STAKE, &NEEDS);
		assert_eq!((entry.seats(0, STAKE), entry.all_seats(0, STAKE), entry.free()), (1, 2, 15));
		assert!(entry.can_take(0, &NEEDS));
		entry.sit(STAKE, &NEEDS);
		assert_eq!(entry.seats(0, STAKE), 0);
		assert!(!entry.can_take(0, &NEEDS), "80 of 100 are in use");
		assert!(entry.is_able(0, &NEEDS));
		entry.rise(STAKE, &NEEDS, false);
		entry.rise(STAKE, &NEEDS, false);
		assert_eq!((entry.locked, entry.load), (0, Resources::default()));
	}

	#[test]
	fn absences_are_forgotten_after_a_hundred_seats() {
		let mut entry = active(100, 0);
		let mut sit = |absent| {
			entry.sit(STAKE, &NEEDS);
			entry.rise(STAKE, &NEEDS, absent)
		};
		assert_eq!((sit(true), sit(true)), (1, 2));
		for _ in 0..97 {
			assert_eq!(sit(false), 2);
		}
		assert_eq!((sit(false), sit(false), sit(false)), (2, 1, 0));
	}

	#[test]
	fn faults_cost_by_the_fee_and_never_more_than_the_stake() {
		let tariff = Tariff { stake: 100, absence_fees: 5, contrary: 60 };
		assert_eq!((tariff.of(Fault::NoVerdict, 3), tariff.of(Fault::Contrary, 3)), (15, 60));
		assert_eq!((tariff.of(Fault::NoVerdict, 15), tariff.of(Fault::Contrary, 15)), (75, 75));
		assert_eq!((tariff.of(Fault::NoVerdict, 90), tariff.of(Fault::Contrary, 90)), (100, 100));
	}
}
