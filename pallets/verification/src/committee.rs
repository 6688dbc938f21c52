//! Who verifies. What a seat replays it draws for itself.

use crate::{seats::Seating, AuditOf, Config, Event, Member, Pallet, Pool, H256};
use alloc::{vec, vec::Vec};
use codec::Encode;
use frame_support::{traits::Get, BoundedVec};
use trainyard_protocol::{audit::AuditPhase, duties::Drawing, job::BlockNumber, JobId};
use trainyard_traits::{Beacon, CommitteeRequest, Seed};

/// Domain of the seed of a round.
const SEED: &[u8] = b"trainyard/audit/v1";
/// Domain of the draw of verifiers from a round's seed.
const COMMITTEE: &[u8] = b"trainyard/audit/committee/v1";

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

	/// Returns how many seats a committee has of which that many are `wanted`, and so many verifiers can be
	/// drawn; 0 where it would be too small, or draw too little of results with these numbers of `segments`.
	fn seats_of(
		wanted: u32,
		eligible: usize,
		drawing: Drawing,
		mut segments: impl Iterator<Item = u32> + Clone,
	) -> usize {
		// Where training ended early there may be less to draw than was counted on.
		let most = segments.clone().map(|segments| drawing.most_seats(segments, wanted)).min();
		let wanted = most.unwrap_or(wanted);
		let seats = odd(wanted.min(u32::try_from(eligible).unwrap_or(u32::MAX)));
		// A smaller committee that draws less would see less than is counted on.
		let enough =
			seats >= T::MinSeats::get() && segments.all(|segments| drawing.fits(segments, seats));
		if enough {
			seats as usize
		} else {
			0
		}
	}

	/// Returns whether a committee could be drawn from those who count now, if none of them had another seat.
	pub(crate) fn has_committee(request: &CommitteeRequest<T::AccountId>) -> bool {
		let CommitteeRequest { excluded, verifiers, drawing, segments, .. } = request;
		let CommitteeRequest { fee, needs, rate, fetch, challenge, .. } = *request;
		let (pool, after) = (Pool::<T>::get(), Self::now());
		let (rates, costs) = ((rate, (fetch, 0)), (challenge, fee));
		let (stake, needs, _) =
			Self::seat_terms(needs, rates, costs, vec![*segments], (*drawing, *verifiers));
		let stake = stake.min(Self::most_stake(&pool, after));
		let seating = Seating { after, excluded, needs: &needs, stake };
		let able = Self::able(&pool, &seating);
		Self::seats_of(*verifiers, able, *drawing, core::iter::once(*segments)) > 0
	}

	/// Draws the committee of the round from the pool without the job's parties and without whoever was
	/// convicted in an earlier round, in proportion to the seats that are free in the bonds of height `after`. Returns whether there is a committee; without
	/// one nothing is drawn.
	///
	/// A committee has an odd number of seats, and at least `MinSeats`; fewer eligible verifiers than
	/// wanted make a smaller one, or none. All its seats together draw as much of each result as those
	/// that were wanted must ([`Drawing::fits`]), or there is none.
	///
	/// Each member keeps the key that it had at that height, before anybody could know the seed: what it
	/// draws by that key nobody chose. A key that is set later counts for later seeds.
	pub(crate) fn seat(
		job: JobId,
		audit: &mut AuditOf<T>,
		seed: &H256,
		after: BlockNumber,
	) -> bool {
		Self::bound_stake(audit, &Pool::<T>::get(), after);
		let excluded: Vec<T::AccountId> =
			audit.parties.iter().chain(&audit.barred).cloned().collect();
		let seating =
			Seating { after, excluded: &excluded, needs: &audit.needs, stake: audit.stake };
		let count = |eligible: usize| {
			let segments: Vec<u32> = audit
				.undecided()
				.map(|(_, group)| audit.drawing.segments_of(&group.result))
				.collect();
			Self::seats_of(audit.verifiers, eligible, audit.drawing, segments.into_iter())
		};
		let drawn = Self::seat_drawn(COMMITTEE, seed, &seating, count, false);
		if drawn.is_empty() {
			return false;
		}
		let members = drawn.iter().map(|(who, key)| Member {
			verifier: who.clone(),
			key: *key,
			commitment: None,
			committed_at: 0,
			revealed: false,
			convicted: false,
			lost: false,
			postponed: Default::default(),
			locked: audit.stake,
			began: 0,
		});
		audit.committee = BoundedVec::truncate_from(members.collect());
		audit.seed = Some(*seed);
		audit.drawn_at = Self::now();
		Self::deposit_event(Event::CommitteeDrawn {
			job,
			round: audit.round,
			committee: drawn.into_iter().map(|(who, _)| who).collect(),
			seed: *seed,
		});
		true
	}
}

/// Returns the largest odd number up to `n`; 0 for 0.
fn odd(n: u32) -> u32 {
	n.saturating_sub(u32::from(n.is_multiple_of(2)))
}
