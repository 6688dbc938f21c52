//! Who verifies, and what is replayed.

use crate::{seats::Seating, AuditOf, Config, Event, Member, Pallet, H256};
use codec::Encode;
use frame_support::{traits::Get, BoundedVec};
use trainyard_protocol::{audit::AuditPhase, draw, job::BlockNumber, JobId};
use trainyard_traits::{Beacon, Seed};

/// Domain of the seed of a round.
const SEED: &[u8] = b"trainyard/audit/v1";
/// Domain of the draw of verifiers from a round's seed.
const COMMITTEE: &[u8] = b"trainyard/audit/committee/v1";
/// Domain, with the index of a result, of the draw of its segments from a round's seed.
const SEGMENTS: &[u8] = b"trainyard/audit/segments/v2";

impl<T: Config> Pallet<T> {
	/// Returns the phase that waits for the seed of what was settled at `settled`: the reveals of
	/// the results, or the end of a round. The trainer decides when it reveals and when it stores
	/// the last chunk of its model, and the draw height lies apart from both.
	pub(crate) fn drawing(settled: BlockNumber) -> AuditPhase {
		AuditPhase::Drawing { after: T::Beacon::draw_height(settled) }
	}

	/// Returns the seed of `round` of `job`'s audit, from the blocks after `after`.
	pub(crate) fn seed(job: JobId, round: u32, after: BlockNumber) -> Seed {
		T::Beacon::seed(SEED, &(job, round).encode(), after)
	}

	/// Draws the committee of the round from the pool without the job's parties, in proportion to
	/// the seats that are free in the bonds of height `after`; and the segments of each result that
	/// has none yet. Returns whether there is a committee; without one nothing is drawn.
	///
	/// A committee has an odd number of seats, so that nobody can split it, and at least
	/// `MinSeats`; fewer eligible verifiers than wanted make a smaller one, or none.
	///
	/// Each result has a draw of its own, among the segments that it has: a trainer that claims to
	/// have stopped early does not keep the later segments of others from being drawn. The segment
	/// in which training diverged is replayed besides those that are drawn.
	///
	/// The segments stay over the rounds: new ones would be another chance for a trainer
	/// who serves only enough verifiers to prevent a decision. The results were revealed
	/// before any draw, so no trainer can use knowing them.
	pub(crate) fn seat(
		job: JobId,
		audit: &mut AuditOf<T>,
		seed: &H256,
		after: BlockNumber,
	) -> bool {
		let seating =
			Seating { after, excluded: &audit.parties, needs: &audit.needs, stake: audit.stake };
		let wanted = audit.verifiers;
		let count = |eligible: usize| {
			let seats = odd(wanted.min(eligible as u32));
			let enough = seats >= T::MinSeats::get();
			if enough {
				seats as usize
			} else {
				0
			}
		};
		let drawn = Self::seat_drawn(COMMITTEE, seed, &seating, count, false);
		audit.committee = BoundedVec::truncate_from(
			drawn
				.iter()
				.map(|who| Member {
					verifier: who.clone(),
					commitment: None,
					revealed: false,
					began: 0,
				})
				.collect(),
		);
		if audit.committee.is_empty() {
			return false;
		}
		for (at, group) in (0u32..).zip(audit.groups.iter_mut()) {
			if group.drawn.is_empty() && group.decision.is_none() {
				group.drawn = BoundedVec::truncate_from(draw::segments(
					&(SEGMENTS, at).encode(),
					seed,
					&group.result,
					audit.audit_segments,
				));
			}
		}
		Self::deposit_event(Event::CommitteeDrawn {
			job,
			round: audit.round,
			committee: drawn,
			segments: audit.groups.iter().map(|group| group.drawn.to_vec()).collect(),
		});
		true
	}
}

/// Returns the largest odd number up to `n`; 0 for 0.
fn odd(n: u32) -> u32 {
	n.saturating_sub(u32::from(n.is_multiple_of(2)))
}
