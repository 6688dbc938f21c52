//! Who verifies, and what is replayed.

use crate::{AuditOf, Config, Event, Member, Pallet, Pool, H256};
use alloc::vec::Vec;
use codec::Encode;
use frame_support::BoundedVec;
use trainyard_primitives::{
	draw,
	job::{Balance, BlockNumber},
	traits::{Beacon, Seed},
	JobId,
};

/// Domain of the seed of a round.
const SEED: &[u8] = b"trainyard/audit/v1";
/// Domain of the draw of verifiers from a round's seed.
const COMMITTEE: &[u8] = b"trainyard/audit/committee/v1";
/// Domain of the draw of segments from a round's seed.
const SEGMENTS: &[u8] = b"trainyard/audit/segments/v1";

impl<T: Config> Pallet<T> {
	/// The seed of `round` of `job`'s audit from the blocks behind `after`.
	pub(crate) fn seed(job: JobId, round: u32, after: BlockNumber) -> Seed {
		T::Beacon::seed(SEED, &(job, round).encode(), after)
	}

	/// Draws the committee of the round, in proportion to bonds, from the pool without the
	/// job's parties, and the segments.
	///
	/// Fewer eligible verifiers than wanted make a smaller committee. Once states were
	/// rescued, the segments stay those of the round in which they were asked for: no others
	/// are on chain. The results were revealed before any draw, so no trainer can use
	/// knowing them.
	pub(crate) fn seat(job: JobId, audit: &mut AuditOf<T>, seed: &H256) {
		let eligible: Vec<(T::AccountId, Balance)> = Pool::<T>::get()
			.into_inner()
			.into_iter()
			.filter(|(who, _)| !audit.parties.contains(who))
			.collect();
		let drawn = draw::weighted(COMMITTEE, seed, &eligible, audit.verifiers as usize);
		audit.committee = BoundedVec::truncate_from(
			drawn
				.into_iter()
				.map(|verifier| Member { verifier, commitment: None, revealed: false })
				.collect(),
		);
		if !audit.has_rescued() {
			audit.drawn = BoundedVec::truncate_from(draw::distinct(
				SEGMENTS,
				seed,
				audit.segments,
				audit.audit_segments,
			));
		}
		Self::deposit_event(Event::CommitteeDrawn {
			job,
			round: audit.round,
			committee: audit.committee.iter().map(|m| m.verifier.clone()).collect(),
			segments: audit.drawn.to_vec(),
		});
	}
}
