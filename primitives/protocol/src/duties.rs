//! What a seat of an audit replays, what it puts at stake, and how long it has.
//!
//! Each seat draws segments for itself ([`vrf`]), so that nobody knows before what is looked
//! at. Beside them some have duties, by the order in which the committee was drawn, so that the number
//! of duties does not grow with the committee.

use crate::{
	job::{Balance, BlockNumber, WorkResult, MAX_AUDIT_SEGMENTS},
	lottery::{self, Strata},
	vrf, MicroUt, H256,
};
use alloc::{collections::BTreeSet, vec::Vec};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use trainyard_program::{needs, thinning, units::FLOP_PER_MICRO_UT};

/// Own draws of all seats together, of [`OF_SEGMENTS`] segments or more.
pub const DRAWS: u32 = 45;
/// Segments up to which the number of draws grows with them.
pub const OF_SEGMENTS: u32 = 1_000;
/// Most forced errors of a result.
pub const MAX_FORCED: u32 = 16;
/// Segments for which there is one forced error.
pub const FORCED_SHARE: u32 = 16;
/// Most blocks for commitments: a day.
pub const MAX_COMMIT_BLOCKS: BlockNumber = 14_400;
/// Seats that pick a segment by how far a result moved in it.
const PICKING: u32 = 2;
/// Seconds of a block.
const BLOCK_SECONDS: u128 = 6;
/// The fixed point in which probabilities are counted.
const ONE: u128 = 1 << 32;

/// Returns how many segments of a result with that many `segments` each of `seats` seats draws at least:
/// `ceil(45 min(segments, 1,000) / (1,000 seats))`, and at least one.
pub fn least_draws(segments: u32, seats: u32) -> u32 {
	let all = DRAWS.saturating_mul(segments.min(OF_SEGMENTS));
	let of = OF_SEGMENTS.saturating_mul(seats.max(1));
	all.div_ceil(of).max(1)
}

/// Returns whether each of `seats` seats may draw `draws` segments of such a result: no fewer than the
/// least, and no more than [`MAX_AUDIT_SEGMENTS`].
pub fn fits(draws: u32, segments: u32, seats: u32) -> bool {
	(least_draws(segments, seats)..=MAX_AUDIT_SEGMENTS).contains(&draws)
}

/// Returns how many segments of a result the seat number `seat` draws for itself, where each draws `draws`:
/// seat 0, which replays the first segment and the last as well, one less if it is to draw three at least.
/// So a committee replays 50 of 1,000.
pub fn own_draws(draws: u32, seat: usize) -> u32 {
	draws.saturating_sub((seat == 0 && draws > 2).into())
}

/// How the seats of an audit draw what they replay for themselves.
#[derive(
	Clone,
	Copy,
	Debug,
	Default,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Drawing {
	/// How many segments of each result, at most where the job pays by lottery.
	pub draws: u32,
	/// Where it does: of how many segments one is drawn.
	pub lottery: Option<u32>,
}

impl Drawing {
	/// Returns how many segments of a result there are to draw of: those that have an end, or, for a
	/// [`lottery`], all that were trained.
	pub fn segments_of(&self, result: &WorkResult) -> u32 {
		match self.lottery {
			Some(_) => result.trained(),
			None => result.segments,
		}
	}

	/// Returns whether `seats` seats may draw so of so many `segments`.
	pub fn fits(&self, segments: u32, seats: u32) -> bool {
		match self.lottery {
			Some(one_in) => {
				let most = self.draws <= MAX_AUDIT_SEGMENTS;
				most && lottery::fits(self.draws, segments, one_in, seats)
			}
			None => fits(self.draws, segments, seats),
		}
	}

	/// Returns how many seats a committee for a result with so many `segments` may have, of which so many are `wanted`.
	pub fn most_seats(&self, segments: u32, wanted: u32) -> u32 {
		let most = self.lottery.map_or(wanted, |one_in| lottery::most_seats(segments, one_in));
		wanted.min(most)
	}

	/// Returns the segments of result `group` that the seat number `seat` of so many `seats` draws by its `output`,
	/// ascending: of a result that has fewer than it draws all of them.
	pub fn own(
		&self,
		output: &H256,
		group: u32,
		result: &WorkResult,
		(seat, seats): (usize, usize),
	) -> Vec<u32> {
		match self.lottery {
			Some(one_in) => {
				let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
				let strata = Strata::new(self.segments_of(result), one_in);
				strata.drawn(output, group, number(seat), number(seats))
			}
			None => vrf::own_segments(output, group, result.segments, own_draws(self.draws, seat)),
		}
	}

	/// Returns the fewest segments that a seat of so many `seats` draws of so many, where some draw fewer than others.
	pub fn fewest(&self, segments: u32, seats: u32) -> u32 {
		match self.lottery {
			Some(one_in) => Strata::new(segments, one_in).fewest(seats),
			None => own_draws(self.draws, 0),
		}
	}

	/// Returns the most segments of a result with that many `segments` that a seat replays in a round: its own
	/// draws, those by its duty (two of seat 0, one of others), and, where there are several `results`, the one
	/// where they part. Of a lottery seat 0 may draw as many as others.
	pub fn replays(&self, segments: u32, results: u32) -> u32 {
		match self.lottery {
			Some(_) => {
				self.draws.saturating_add(2).saturating_add((results > 1).into()).min(segments)
			}
			None => replays(self.draws, segments, results),
		}
	}
}

/// Returns how many leaves of a result with that many segments have a false trace:
/// `min(16, ceil(segments / 16))`.
pub fn forced_errors(segments: u32) -> u32 {
	segments.div_ceil(FORCED_SHARE).min(MAX_FORCED)
}

/// Returns the probability that `draws` of `segments` segments hit none of the forced errors, in parts of
/// [`ONE`], rounded up.
fn miss(segments: u32, draws: u32) -> u128 {
	let errors = forced_errors(segments);
	let draws = draws.min(segments);
	(0..draws).fold(ONE, |miss, drawn| {
		let left = segments.saturating_sub(drawn);
		let good = u128::from(left.saturating_sub(errors));
		miss.saturating_mul(good).div_ceil(u128::from(left.max(1)))
	})
}

/// Returns what a seat puts at stake: the largest of `least`, the deposit of a `challenge`, and
/// `5/4 fee / hit`, rounded up. `hit` is the least probability, over results with these numbers of
/// `segments`, that a seat that draws as few of them as `draws` says hits a forced error: whoever guesses in the
/// place of replaying loses more than the fee.
pub fn seat_stake(
	least: Balance,
	challenge: Balance,
	fee: Balance,
	segments: impl IntoIterator<Item = u32>,
	draws: impl Fn(u32) -> u32,
) -> Balance {
	// A result without a segment has none to guess.
	let misses = segments.into_iter().filter(|segments| *segments > 0).map(|n| miss(n, draws(n)));
	let hit = ONE.saturating_sub(misses.max().unwrap_or(0)).max(1);
	let guess = fee.saturating_mul(5).div_ceil(4).saturating_mul(ONE).div_ceil(hit);
	least.max(challenge).max(guess)
}

/// Returns the blocks for commitments of a seat that has to do `work` at `rate` FLOP a second:
/// `12/7 work / rate`, no less than `least` and no more than a day, unless `least` is more.
pub fn commit_blocks(work: MicroUt, rate: u64, least: BlockNumber) -> BlockNumber {
	let flop = u128::from(work).saturating_mul(FLOP_PER_MICRO_UT);
	computing_blocks(flop, rate).min(MAX_COMMIT_BLOCKS).max(least)
}

/// Returns `12/7` of the blocks in which a machine of this `rate`, in FLOP a second, computes `flop`: so three quarters
/// of them, after which seats fetch nothing any more, are more than it takes.
pub fn computing_blocks(flop: u128, rate: u64) -> BlockNumber {
	let in_blocks = u128::from(rate.max(1)).saturating_mul(BLOCK_SECONDS).saturating_mul(7);
	let blocks = flop.saturating_mul(12).div_ceil(in_blocks);
	BlockNumber::try_from(blocks).unwrap_or(BlockNumber::MAX)
}

/// What computing the states again takes that trainers of a job do not [keep](thinning). Fixed at posting.
#[derive(
	Clone,
	Copy,
	Debug,
	Default,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Recompute {
	/// One state in so many is kept; 0 and 1 keep all.
	pub keep_every: u32,
	/// Blocks in which a machine of the job's class computes all states of one stretch; 0 where all are kept.
	pub stretch: BlockNumber,
	/// Blocks in which it computes all that a committee may ask for in a round, by [`asked_stretches`].
	pub round: BlockNumber,
}

impl Recompute {
	/// Returns what it takes for a job of so many `segments`, each of at most `flop` without its evaluation, on
	/// machines of this `rate` in FLOP a second, whose trainers keep one state in `keep_every`. Each of `seats` seats
	/// replays at most `replays` segments of a result.
	pub fn of(
		keep_every: u32,
		segments: u32,
		(flop, rate): (u128, u64),
		(seats, replays): (u32, u32),
	) -> Self {
		let blocks = |stretches| {
			let again = thinning::segments_of_stretches(keep_every, segments, stretches);
			computing_blocks(flop.saturating_mul(again.into()), rate)
		};
		let asked = asked_stretches(keep_every, segments, seats, replays);
		Self { keep_every, stretch: blocks(1), round: blocks(asked) }
	}

	/// Returns the blocks in which a machine of the class computes these `states` again, of a run whose last one is
	/// `last`: those of each stretch in which one lies.
	pub fn blocks_of(&self, states: impl IntoIterator<Item = u32>, last: u32) -> BlockNumber {
		let stretch = |state| thinning::stretch_of(self.keep_every, state, last);
		let stretches: BTreeSet<u32> = states.into_iter().filter_map(stretch).collect();
		let count = u32::try_from(stretches.len()).unwrap_or(u32::MAX);
		self.stretch.saturating_mul(count)
	}
}

/// Returns of how many stretches of a result with so many `segments` all `seats` seats together may ask for states in a
/// round, if each replays at most `replays` segments: one for each segment, both of whose ends lie in one stretch or
/// are kept; those of a search for a standstill, of both ends of each segment at which it looks; and the first one and
/// another for each seat that picks by movement. No more than there are.
pub fn asked_stretches(keep_every: u32, segments: u32, seats: u32, replays: u32) -> u32 {
	let asked = seats.saturating_mul(read_stretches(segments, replays));
	let asked = asked.saturating_add(PICKING.saturating_add(1));
	asked.min(thinning::stretches(keep_every, segments))
}

/// Returns of how many stretches one seat reads states to replay `replays` segments.
fn read_stretches(segments: u32, replays: u32) -> u32 {
	replays.saturating_add(needs::searched_states(segments) / 2)
}

/// Returns of how many stretches one seat may ask for states, whether it picks by movement or not.
pub fn stretches_of_seat(keep_every: u32, segments: u32, replays: u32) -> u32 {
	let most = read_stretches(segments, replays).saturating_add(2);
	most.min(thinning::stretches(keep_every, segments))
}

/// Returns the blocks that fetching `bytes` takes at `bandwidth` bytes a second.
pub fn fetch_blocks(bytes: u64, bandwidth: u64) -> BlockNumber {
	let in_block = u128::from(bandwidth.max(1)).saturating_mul(BLOCK_SECONDS);
	let blocks = u128::from(bytes).div_ceil(in_block);
	BlockNumber::try_from(blocks).unwrap_or(BlockNumber::MAX)
}

/// Returns the blocks of a round for commitments, where replaying takes `replay` of them by
/// [`commit_blocks`] with this `least`, and fetching `fetch`: half of the least time is for fetching, and
/// what takes longer is added. So is the time in which trainers compute states again, `recompute`.
pub fn round_blocks(
	replay: BlockNumber,
	(fetch, recompute): (BlockNumber, BlockNumber),
	least: BlockNumber,
) -> BlockNumber {
	replay.saturating_add(fetch.saturating_sub(least / 2)).saturating_add(recompute)
}

/// Returns the most work of a seat for which a machine that computes `rate` FLOP a second has the time: that
/// of [`MAX_COMMIT_BLOCKS`], so 233 `ut` at 2 GFLOP/s.
pub fn most_work(rate: u64) -> MicroUt {
	let seconds = u128::from(MAX_COMMIT_BLOCKS).saturating_mul(BLOCK_SECONDS);
	let flop = seconds.saturating_mul(rate.into()).saturating_mul(7) / 12;
	MicroUt::try_from(flop / FLOP_PER_MICRO_UT).unwrap_or(MicroUt::MAX)
}

/// Returns the same of a seat that draws `draws` of any segments.
fn replays(draws: u32, segments: u32, results: u32) -> u32 {
	let first = own_draws(draws, 0).saturating_add(2);
	first.max(draws.saturating_add(1)).saturating_add((results > 1).into()).min(segments)
}

/// Returns the part of `work`, for which there are `blocks`, that is done in `least` of them, rounded up.
/// Verifiers declare what they have room for by that time.
pub fn work_of(work: MicroUt, blocks: BlockNumber, least: BlockNumber) -> MicroUt {
	let part = u128::from(work).saturating_mul(least.into()).div_ceil(blocks.max(1).into());
	MicroUt::try_from(part).unwrap_or(MicroUt::MAX)
}

/// Returns whether the seat number `seat` picks the segment in which `result` moved farthest.
pub fn picks(seat: usize, result: &WorkResult) -> bool {
	matches!(seat, 1 | 2) && result.segments > 0
}

/// Returns the segments of `result` of which the seat number `seat` reveals evidence, ascending: its
/// `own` draws; of seat 0 the first one and the last, and where training diverged that one in the place
/// of the last; of all of them the only one of a run that diverged in it, of which nobody can draw any; of seats 1 and 2 the one that `moved` most by their own pick, which is neither of these
/// where there are others; and those where the result `parts` from others, as the seat found. `None` where
/// the seat names a pick that is not its duty, or none where it is; or segments that the result does not
/// have, or not in ascending order.
pub fn required(
	own: &[u32],
	seat: usize,
	result: &WorkResult,
	moved: Option<u32>,
	parts: &[u32],
) -> Option<Vec<u32>> {
	let ascending = parts.iter().zip(parts.iter().skip(1)).all(|(a, b)| a < b);
	let there = parts.iter().all(|part| *part < result.trained())
		&& moved.is_none_or(|segment| segment < result.segments);
	if moved.is_some() != picks(seat, result) || !ascending || !there {
		return None;
	}
	let mut all: BTreeSet<u32> = own.iter().chain(parts).copied().chain(moved).collect();
	if seat == 0 {
		let last = result.segments.checked_sub(1).filter(|_| !result.diverged);
		all.extend(result.diverged_in().or(last));
		// Every run moves farthest there, so nobody could pick it for that.
		all.extend((result.trained() > 0).then_some(0));
	} else if result.segments == 0 {
		// Evidence of nothing would vouch for it.
		all.extend(result.diverged_in());
	}
	Some(all.into_iter().collect())
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn all_seats_together_draw_45_of_1000() {
		for (segments, seats, draws) in [
			(1_000, 3, 15),
			(1_000, 5, 9),
			(1_000, 9, 5),
			(1_000, 15, 3),
			(100_000, 3, 15),
			(100, 3, 2),
			(30, 3, 1),
			(1, 15, 1),
			(0, 3, 1),
			(1_000, 0, 45),
			(u32::MAX, u32::MAX, 1),
		] {
			assert_eq!(least_draws(segments, seats), draws, "{segments} by {seats}");
		}
		assert!(fits(15, 1_000, 3) && fits(16, 1_000, 3));
		assert!(!fits(14, 1_000, 3) && !fits(17, 1_000, 3) && !fits(0, 1, 3));
		assert!(!fits(16, 1_000, 2), "23 would be needed");
	}

	#[test]
	fn the_first_seat_draws_one_less_of_many() {
		assert_eq!([0, 1, 2, 3, 15].map(|draws| own_draws(draws, 0)), [0, 1, 2, 2, 14]);
		assert_eq!([1, 3, 15].map(|draws| own_draws(draws, 1)), [1, 3, 15]);
		// Two beside for seat 0, a pick for two, two that are replayed again.
		for seats in [3, 5, 9, 15] {
			let draws = least_draws(1_000, seats);
			let own: u32 = (0..seats as usize).map(|seat| own_draws(draws, seat)).sum();
			assert_eq!(own + 2 + 2 + 2, 50, "5 % of the training, for {seats}");
		}
	}

	/// The figures of decision 0029: 0.067, 0.136 and 0.203.
	#[test]
	fn a_guesser_is_hit_as_often_as_the_record_says() {
		assert_eq!([0, 1, 16, 17, 100, 256, 1_000].map(forced_errors), [0, 1, 1, 2, 7, 16, 16]);
		for (segments, draws, hit) in [(30, 1, 67), (100, 2, 136), (1_000, 14, 203)] {
			let found = (ONE - miss(segments, draws)) * 1_000;
			assert_eq!((found + ONE / 2) / ONE, hit, "{segments}");
		}
		assert_eq!((miss(5, 5), miss(5, 9), miss(0, 3)), (0, 0, ONE));
	}

	#[test]
	fn a_stake_covers_a_challenge_and_a_guess() {
		assert_eq!(seat_stake(100, 10, 0, [30], |_| 1), 100);
		assert_eq!(seat_stake(100, 900, 0, [30], |_| 1), 900);
		// 5/4 of 1,000 by 1/15, and a little for rounding.
		let stake = seat_stake(100, 900, 1_000, [30], |_| 1);
		assert!((18_750..18_753).contains(&stake), "{stake}");
		// The result in which a guess is hit least often counts, and one without segments does not.
		let stake_of = |segments: &[u32]| seat_stake(1, 1, 1_000, segments.iter().copied(), |_| 1);
		assert_eq!((stake_of(&[30, 5]), stake_of(&[5, 30, 0])), (stake, stake));
		assert_eq!((stake_of(&[1]), stake_of(&[0]), stake_of(&[])), (1_250, 1_250, 1_250));
		let fee = 1_000_000;
		for (segments, draws) in [(30, 1), (100, 2), (1_000, 15), (1_000_000, 1)] {
			let stake = seat_stake(0, 0, fee, [segments], |_| draws);
			let hit = ONE - miss(segments, draws);
			assert!(stake * hit >= fee * 5 / 4 * ONE, "{segments}: guessing would pay");
		}
		assert_eq!(seat_stake(1, 1, u128::MAX, [30], |_| 1), u128::MAX.div_ceil(ONE - miss(30, 1)));
	}

	#[test]
	fn commitments_have_twelve_sevenths_of_the_time() {
		// 2 ut take 432 s at 2 GFLOP/s.
		assert_eq!(commit_blocks(2_000_000, 2_000_000_000, 120), 124);
		assert_eq!(commit_blocks(1_000_000, 2_000_000_000, 120), 120);
		assert_eq!(commit_blocks(230_000_000, 2_000_000_000, 120), 14_195);
		assert_eq!(commit_blocks(300_000_000, 2_000_000_000, 120), MAX_COMMIT_BLOCKS);
		assert_eq!(commit_blocks(u64::MAX, 0, 120), MAX_COMMIT_BLOCKS);
		assert_eq!(commit_blocks(0, 1, 20_000), 20_000, "the least goes before");
		// The most work takes all of the time, and a little more does not fit.
		let most = most_work(2_000_000_000);
		assert_eq!((most, most_work(0)), (233_333_333, 0));
		assert_eq!(commit_blocks(most, 2_000_000_000, 120), MAX_COMMIT_BLOCKS);
		// Whoever has the least room can take all of it.
		let room = crate::seats::LEAST_ROOM.work;
		let rate = trainyard_program::needs::MachineClass::Gib8.rate();
		for work in [1, 1_944_444, 1_944_445, 100_000_000, most_work(rate)] {
			let time = commit_blocks(work, rate, 120);
			assert!(work_of(work, time, 120) <= room, "{work}");
		}
		// What is done in 120 of them is what a machine can do in that time.
		assert_eq!(work_of(230_000_000, 14_195, 120), 1_944_347);
		assert_eq!((work_of(7, 120, 120), work_of(7, 0, 120), work_of(1, 240, 120)), (7, 840, 1));
	}

	/// Whoever has the least line of its class fetches the most that there may be in its time, and the class of
	/// small machines needs no more than the least time.
	#[test]
	fn a_round_has_time_for_what_is_fetched() {
		use trainyard_program::needs::MachineClass;
		let fetch = |class: MachineClass| {
			let limits = class.limits();
			fetch_blocks(limits.download, limits.bandwidth)
		};
		assert_eq!(MachineClass::ALL.map(fetch), [60, 230]);
		let round = |replay, fetch| round_blocks(replay, (fetch, 0), 120);
		assert_eq!((round(120, 60), round(120, 0)), (120, 120));
		assert_eq!((round(120, 61), round(14_400, 230)), (121, 14_570));
		assert_eq!(round_blocks(120, (0, 300), 120), 420);
		assert_eq!((fetch_blocks(0, 1), fetch_blocks(1, 6_000_000)), (0, 1));
		assert_eq!(
			(fetch_blocks(36_000_000, 6_000_000), fetch_blocks(36_000_001, 6_000_000)),
			(1, 2)
		);
		assert_eq!(fetch_blocks(u64::MAX, 0), u32::MAX);
		assert_eq!(round_blocks(u32::MAX, (u32::MAX, u32::MAX), 1), u32::MAX);
	}

	/// A job whose trainers keep all states has the times that it had.
	#[test]
	fn what_is_kept_takes_no_time() {
		for every in [0, 1] {
			let none = Recompute::of(every, 1_000, (u128::MAX, 1), (15, 16));
			assert_eq!(none, Recompute { keep_every: every, stretch: 0, round: 0 });
			assert_eq!(none.blocks_of(0..=1_000, 1_000), 0);
		}
	}

	#[test]
	fn computing_again_has_twelve_sevenths_of_the_time_of_each_stretch() {
		// Segments of 7 x 10^10 FLOP at 2 GFLOP/s: 35 s each, and nine of them in a stretch of ten.
		let of = |every, segments| {
			Recompute::of(every, segments, (70_000_000_000, 2_000_000_000), (3, 3))
		};
		assert_eq!(of(10, 1_000).stretch, 90);
		// Three seats, of which each replays 3 segments and looks at 10; the first stretch, and a pick of two.
		assert_eq!((asked_stretches(10, 1_000, 3, 3), of(10, 1_000).round), (42, 42 * 90));
		// There are no more stretches than that.
		// The last one is shorter: 85 states are dropped.
		assert_eq!((asked_stretches(10, 95, 3, 3), of(10, 95).round), (10, 850));
		assert_eq!(
			(of(1_000, 30).stretch, of(30, 30)),
			(of(30, 30).round, Recompute { keep_every: 30, ..of(u32::MAX, 30) })
		);
		// One seat has those of what it replays and searches, and two of its pick.
		assert_eq!([1_000, 95].map(|n| stretches_of_seat(10, n, 3)), [15, 10]);
		let of_10 = of(10, 95);
		for (states, stretches) in [
			(&[0, 10, 90, 95][..], 0),
			(&[1, 5, 9], 1),
			(&[9, 11], 2),
			(&[94, 91, 93], 1),
			(&[1, 2, 15, 20, 91], 3),
		] {
			assert_eq!(of_10.blocks_of(states.iter().copied(), 95), stretches * 90, "{states:?}");
		}
		assert_eq!(of_10.blocks_of([94], 94), 0, "the last one is kept, wherever that is");
		assert_eq!(Recompute::of(9, 99, (u128::MAX, 0), (u32::MAX, u32::MAX)).round, u32::MAX);
	}

	/// A trainer that computes at the rate of the class is ready before seats stop to fetch, which is after three
	/// quarters of their time at the latest.
	#[test]
	fn a_trainer_at_the_rate_of_the_class_is_in_time() {
		for flop in [1u128, 1 << 30, 1 << 40, 1 << 45] {
			let (rate, blocks) = (2_000_000_000, computing_blocks(flop, 2_000_000_000));
			assert!(u128::from(blocks) * 3 * rate * 6 >= flop * 4, "{flop}");
		}
	}

	#[test]
	fn a_seat_replays_its_draws_and_its_duties() {
		assert_eq!((replays(15, 1_000, 1), replays(15, 1_000, 3), replays(4, 4, 3)), (16, 17, 4));
		assert_eq!([1, 2, 3].map(|draws| replays(draws, 1_000, 1)), [3, 4, 4]);
	}

	fn result(segments: u32, diverged: bool) -> WorkResult {
		let (bundle_root, model_root) = (H256::zero(), H256::zero());
		WorkResult { bundle_root, true_root: bundle_root, model_root, segments, diverged }
	}

	#[test]
	fn each_seat_has_its_duties() {
		let (plain, diverged) = (result(10, false), result(10, true));
		let at = |seat, moved, parts: &[u32]| required(&[2, 5], seat, &plain, moved, parts);
		assert_eq!(at(0, None, &[]), Some(vec![0, 2, 5, 9]));
		assert_eq!(at(1, Some(7), &[]), Some(vec![2, 5, 7]));
		assert_eq!(at(2, Some(5), &[]), Some(vec![2, 5]), "its pick is drawn as well");
		assert_eq!(at(3, None, &[]), Some(vec![2, 5]));
		assert_eq!(at(3, None, &[0, 5, 9]), Some(vec![0, 2, 5, 9]));
		for (seat, moved, parts) in [
			(0, Some(7), &[][..]),
			(3, Some(7), &[]),
			(1, None, &[]),
			(2, None, &[]),
			(1, Some(10), &[]),
			(3, None, &[10]),
			(3, None, &[5, 5]),
			(3, None, &[6, 5]),
		] {
			assert_eq!(at(seat, moved, parts), None, "{seat} {moved:?} {parts:?}");
		}
		assert_eq!(required(&[2], 0, &diverged, None, &[]), Some(vec![0, 2, 10]));
		assert_eq!(required(&[2], 3, &diverged, None, &[10]), Some(vec![2, 10]));
		assert_eq!(required(&[2], 1, &diverged, Some(10), &[]), None, "it has no end");
		// It diverged in its first segment: nothing can have moved.
		let first = result(0, true);
		assert_eq!(required(&[], 0, &first, None, &[]), Some(vec![0]));
		assert_eq!(required(&[], 1, &first, None, &[]), Some(vec![0]), "evidence of nothing");
		assert_eq!(required(&[0], 0, &result(1, false), None, &[]), Some(vec![0]));
		// The initial state was not finite: nothing was trained.
		assert_eq!(required(&[], 0, &result(0, false), None, &[]), Some(vec![]));
	}
}
