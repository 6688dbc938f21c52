//! Jobs that pay by lottery: one segment in so many wins, only winners are replayed, and each pays as much as the
//! segments among which it was drawn.
//!
//! The segments of a result are cut into *strata* of `one_in` consecutive ones; the last stratum has the rest, if
//! there is one. Each stratum belongs to a seat of the committee, which draws one segment of it by its own VRF output
//! and replays it: the *ticket*. So nobody but the seat knows which segment is looked at, every segment is drawn with
//! the same probability within its stratum, whatever is drawn in others, and all tickets together are `1 / one_in` of
//! the segments, rounded up.
//!
//! A ticket pays `one_in` segments. Of a whole stratum that is what the stratum is worth. The one of the rest, of `m`
//! segments, *wins* with the probability `m / one_in`, so that it pays `m` segments on the average. Whether it wins
//! follows from the outputs of all seats that revealed and from the [secret](crate::forced::Secret) to which the trainer
//! is bound since it applied: neither the author of a block nor a seat of somebody else knows it before it is fixed.
//! For a job of fewer than `one_in` segments that is all there is: it pays `one_in` segments or nothing.
//!
//! No seat moves money by saying nothing: the pay of an accepted result depends on what wins alone. Power is credited
//! only for what won and was proven by evidence.

use crate::{draw, forced::Secret, job::Balance, H256};
use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use sp_crypto_hashing::blake2_256;

/// Least of which one segment wins.
pub const LEAST: u32 = 2;
/// Most of which one segment wins: below that the deposits of jobs of few segments would be out of proportion.
pub const MOST: u32 = 128;
/// Domain, with the index of a result and the number of a stratum, of the draw of its ticket.
const TICKET: &[u8; 19] = b"trainyard/ticket/v1";
/// Domain of the draw that says whether the ticket of the last stratum wins.
const REST: &[u8; 17] = b"trainyard/rest/v1";
/// Parts in which chances are counted.
pub const MILLION: u32 = 1_000_000;

/// The strata of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strata {
	/// Segments of the result.
	segments: u32,
	/// Of so many segments one is drawn.
	one_in: u32,
}

/// What of a result is paid, in segments.
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
pub struct Tickets {
	/// For how many segments the trainer is paid.
	pub paid: u32,
	/// For how many of them evidence was revealed: for so many power is credited, and the protocol fee burned.
	pub proven: u32,
}

impl Strata {
	/// Returns the strata of a result with so many `segments`, of which one in `one_in` is drawn; 0 counts as 1.
	pub fn new(segments: u32, one_in: u32) -> Self {
		Self { segments, one_in: one_in.max(1) }
	}

	/// Returns how many there are, which is how many segments are drawn.
	pub fn count(&self) -> u32 {
		self.segments.div_ceil(self.one_in)
	}

	/// Returns how many of them are whole.
	pub fn whole(&self) -> u32 {
		self.segments.checked_div(self.one_in).unwrap_or(0)
	}

	/// Returns how many segments the last stratum has where it is not whole; 0 where all are.
	pub fn rest(&self) -> u32 {
		self.segments.checked_rem(self.one_in).unwrap_or(0)
	}

	/// Returns the number of the seat, of so many `seats`, to which a stratum belongs: strata are dealt from the last
	/// seat down, since the first ones have other duties.
	pub fn seat_of(stratum: u32, seats: u32) -> Option<u32> {
		seats.checked_sub(1)?.checked_sub(stratum.checked_rem(seats)?)
	}

	/// Returns the strata of a seat of so many `seats`.
	pub fn of_seat(&self, seat: u32, seats: u32) -> impl Iterator<Item = u32> {
		(0..self.count()).filter(move |stratum| Self::seat_of(*stratum, seats) == Some(seat))
	}

	/// Returns the segments that the seat number `seat` of so many `seats` draws by its `output` of result `group`, one
	/// of each of its strata, ascending.
	pub fn drawn(&self, output: &H256, group: u32, seat: u32, seats: u32) -> Vec<u32> {
		let ticket = |stratum: u32| {
			let from = stratum.saturating_mul(self.one_in);
			let size = self.segments.saturating_sub(from).min(self.one_in);
			let drawn = draw::distinct(&(TICKET, group, stratum).encode(), output, size, 1);
			drawn.first().map(|at| from.saturating_add(*at))
		};
		self.of_seat(seat, seats).filter_map(ticket).collect()
	}

	/// Returns the fewest segments that a seat of so many `seats` replays, be it by a duty where it draws none.
	pub fn fewest(&self, seats: u32) -> u32 {
		self.count().checked_div(seats).unwrap_or(0).max(1)
	}

	/// Returns the most segments that are paid.
	pub fn most(&self) -> u32 {
		self.count().saturating_mul(self.one_in)
	}

	/// Returns whether the ticket of the last stratum wins, where that is not whole: by what the outputs of the seats
	/// [mix] to, and the secret of the trainer.
	pub fn rest_wins(&self, mixed: &H256, secret: &Secret) -> bool {
		let seed = (mixed, secret).using_encoded(blake2_256).into();
		draw::distinct(REST, &seed, self.one_in, 1)
			.first()
			.is_some_and(|place| *place < self.rest())
	}

	/// Returns what is paid where the ticket of the last stratum wins or does not, and the seats whose numbers `heard`
	/// knows revealed evidence, of so many `seats`.
	pub fn tickets(&self, rest_wins: bool, seats: u32, heard: impl Fn(u32) -> bool) -> Tickets {
		let wins = self.whole().saturating_add((rest_wins && self.rest() > 0).into());
		let proven = (0..wins).filter(|stratum| Self::seat_of(*stratum, seats).is_some_and(&heard));
		let pays = |count: u32| count.saturating_mul(self.one_in);
		let proven = u32::try_from(proven.count()).unwrap_or(u32::MAX);
		Tickets { paid: pays(wins), proven: pays(proven) }
	}

	/// Returns the most that is paid of `amount`, which all segments are worth, rounded up. `None` on overflow.
	pub fn most_of(&self, amount: Balance) -> Option<Balance> {
		part(amount, self.most(), self.segments, true)
	}
}

/// Returns what the outputs of seats mix to: each is added to what was there before by `xor`, in whatever order.
pub fn mix(mixed: &H256, output: &H256) -> H256 {
	let mut both = *mixed;
	both.0.iter_mut().zip(output.0).for_each(|(to, from)| *to ^= from);
	both
}

/// Returns whether each of `seats` seats may draw up to `draws` of so many `segments`, of which one in `one_in` is drawn: as
/// many as there are strata for it, and all of them have something to replay: three seats do by their duties, of more
/// each needs a stratum.
pub fn fits(draws: u32, segments: u32, one_in: u32, seats: u32) -> bool {
	let count = Strata::new(segments, one_in).count();
	seats > 0 && count.div_ceil(seats) <= draws && seats <= most_seats(segments, one_in)
}

/// Returns how many seats can have something to replay of a result with so many `segments`.
pub fn most_seats(segments: u32, one_in: u32) -> u32 {
	Strata::new(segments, one_in).count().max(crate::job::MIN_VERIFIERS)
}

/// Returns the part `segments / of` of an amount, rounded down. Nothing where it leaves its range.
pub fn share(amount: Balance, segments: u32, of: u32) -> Balance {
	part(amount, segments, of, false).unwrap_or(0)
}

fn part(amount: Balance, segments: u32, of: u32, up: bool) -> Option<Balance> {
	let (segments, of) = (Balance::from(segments), Balance::from(of.max(1)));
	// Whole parts and what is left of them are multiplied apart: so only what does not fit itself overflows.
	let (whole, rest) = (amount.checked_div(of)?, amount.checked_rem(of)?);
	let rest = rest.checked_mul(segments)?;
	let rest = if up { rest.div_ceil(of) } else { rest.checked_div(of)? };
	whole.checked_mul(segments)?.checked_add(rest)
}

/// What a trainer of a job is paid whose result is accepted, as it is known before anybody applies.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
pub struct Prospect {
	/// The mean: what the same job pays without a lottery.
	#[serde(with = "trainyard_program::text::decimal")]
	pub expected: Balance,
	/// The standard deviation, rounded down.
	#[serde(with = "trainyard_program::text::decimal")]
	pub deviation: Balance,
	/// The least.
	#[serde(with = "trainyard_program::text::decimal")]
	pub least: Balance,
	/// The most.
	#[serde(with = "trainyard_program::text::decimal")]
	pub most: Balance,
	/// With which chance it is the most and not the least, in millionths, rounded to the nearest.
	pub chance: u32,
}

impl Prospect {
	/// Returns what a job of so many `segments` pays, one in `one_in` of which wins, where it pays `pay` without a
	/// lottery.
	pub fn of(pay: Balance, segments: u32, one_in: u32) -> Self {
		let strata = Strata::new(segments, one_in);
		let (rest, one_in) = (strata.rest(), strata.one_in);
		let least = strata.whole().saturating_mul(one_in);
		// The ticket of the rest pays `one_in` with the chance `rest / one_in`: that has the variance
		// `rest (one_in - rest)`, in segments. Its root is taken in parts of 2^-32, since `one_in` is small.
		let variance = u64::from(rest).saturating_mul(one_in.saturating_sub(rest).into());
		let root = (u128::from(variance) << 64).isqrt();
		let each = pay.checked_div(segments.max(1).into()).unwrap_or(0);
		let deviation = each.checked_mul(root).map(|scaled| scaled >> 32);
		let deviation = deviation.unwrap_or_else(|| each.saturating_mul(root >> 32));
		let million = u64::from(MILLION);
		let chance = u64::from(rest).saturating_mul(million).saturating_add(u64::from(one_in) / 2);
		let chance = chance.checked_div(one_in.into()).unwrap_or(0);
		let chance = if rest == 0 { million } else { chance };
		Self {
			expected: pay,
			deviation,
			least: share(pay, least, segments),
			most: share(pay, strata.most(), segments),
			chance: u32::try_from(chance).unwrap_or(MILLION),
		}
	}

	/// Returns the deviation in percent of the expected pay, rounded up.
	pub fn percent(&self) -> u32 {
		let percent = self.deviation.saturating_mul(100).div_ceil(self.expected.max(1));
		u32::try_from(percent).unwrap_or(u32::MAX)
	}
}

#[cfg(test)]
mod tests;
