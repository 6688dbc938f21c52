//! What a seat of an audit puts at stake, bounded by what verifiers have.
//!
//! What is due follows from the job: the deposit of a challenge from its segments, and what makes a guess
//! cost more than the fee from that and their number. All of it is the submitter's to choose, and whoever
//! has less is not drawn. So where nearly all verifiers could not put that at stake, it is less: a job whose
//! stake only its submitter's verifiers have would choose its judges.

use crate::{pool::PoolOf, AuditOf, Config, Pallet};
use alloc::vec::Vec;
use core::cmp::Reverse;
use frame_support::traits::Get;
use trainyard_protocol::job::{Balance, BlockNumber};

/// The part of what counts in the pool whose owners may have too little for a seat: one in so many.
const LEFT_OUT: Balance = 20;

impl<T: Config> Pallet<T> {
	/// Returns the most that a seat can have to put at stake: of what counted in the pool at the height
	/// `after`, at most one in [`LEFT_OUT`] is of verifiers of whom less did. No less than the least bond.
	pub(crate) fn most_stake(pool: &PoolOf<T>, after: BlockNumber) -> Balance {
		// As many seats of one unit as units counted.
		let mut bonds: Vec<Balance> =
			pool.values().map(|entry| entry.all_seats(after, 1)).collect();
		bonds.sort_unstable_by_key(|bond| Reverse(*bond));
		let all = bonds.iter().fold(0, |sum: Balance, bond| sum.saturating_add(*bond));
		let wanted = all.saturating_sub(all / LEFT_OUT);
		let mut sum: Balance = 0;
		let most = bonds.into_iter().find(|bond| {
			sum = sum.saturating_add(*bond);
			sum >= wanted
		});
		most.unwrap_or(0).max(T::MinBond::get())
	}

	/// Lets the seats of an audit of which nobody was drawn put no more at stake than nearly all verifiers
	/// have.
	pub(crate) fn bound_stake(audit: &mut AuditOf<T>, pool: &PoolOf<T>, after: BlockNumber) {
		if audit.round == 0 {
			audit.stake = audit.stake.min(Self::most_stake(pool, after));
			audit.challenge = audit.challenge.min(audit.stake);
		}
	}
}
