//! What gain is worth.

use crate::job::{Balance, BlockNumber};
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::fmt;
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

/// Scores are in millionths: all labels right.
pub const ONE: u32 = 1_000_000;
/// Most points of a table.
pub const MAX_POINTS: u32 = 32;
/// Largest exponent.
const MAX_EXPONENT: u8 = 8;
/// Most that a model can be worth: no product of it with a millionth, or with a pace, leaves the range of amounts.
const MAX_WORTH: Balance = Balance::MAX / (ONE as Balance * 100);
/// Largest pace, in thousandths.
const MAX_PACE: u32 = 100_000;

/// What a model is worth by its score. It never falls.
#[derive(
	Clone,
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
#[serde(rename_all = "snake_case")]
pub enum Curve {
	/// This times the score: of the study's kind, factor times gain.
	Linear {
		/// The worth of a score of 1.
		#[serde(with = "trainyard_program::text::decimal")]
		factor: Balance,
	},
	/// This times a power of the score: the last percent is worth more than the first.
	Power {
		/// The worth of a score of 1.
		#[serde(with = "trainyard_program::text::decimal")]
		factor: Balance,
		/// The exponent, 2 to 8.
		exponent: u8,
	},
	/// Straight lines between points, 1 at least. Below the first and above the last it is flat.
	Table(BoundedVec<Point, ConstU32<MAX_POINTS>>),
}

/// A point of a table.
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
	Serialize,
	Deserialize,
)]
#[serde(deny_unknown_fields)]
pub struct Point {
	/// A score, in millionths.
	pub score: u32,
	/// What a model with it is worth.
	#[serde(with = "trainyard_program::text::decimal")]
	pub worth: Balance,
}

/// How pay changes from the beginning to the end of a swarm, in a straight line: in thousandths of what the
/// curve says. Twice 1,000 is a fixed pay.
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
#[serde(deny_unknown_fields)]
pub struct Pace {
	/// At the beginning.
	pub first: u32,
	/// At the end.
	pub last: u32,
}

/// What gain is worth in a swarm.
#[derive(
	Clone,
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
#[serde(deny_unknown_fields)]
pub struct Reward {
	/// The worth of a model.
	pub curve: Curve,
	/// How it changes with time.
	pub pace: Pace,
	/// The score in millionths below which nothing is paid: where models are worse than chance, garbage makes
	/// them better.
	pub floor: u32,
	/// The stake of a claim, which is also the most that one is paid or loses.
	#[serde(with = "trainyard_program::text::decimal")]
	pub stake: Balance,
}

/// Why a reward is refused.
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
)]
pub enum CurveFault {
	/// A model could be worth more than amounts allow.
	TooMuch,
	/// The exponent is not from 2 to 8.
	BadExponent,
	/// The table has no point.
	NoPoints,
	/// Scores of a table rise from point to point and are at most 1,000,000, and their worth never falls.
	NotRising,
	/// The floor is not below 1,000,000.
	BadFloor,
	/// The pace is above a hundredfold, or 0 all the time.
	BadPace,
}

impl fmt::Display for CurveFault {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(match self {
			Self::TooMuch => "a model could be worth more than amounts allow: lower the factor",
			Self::BadExponent => "the exponent is 2 to 8; for 1 take a linear curve",
			Self::NoPoints => "the table has no point",
			Self::NotRising => {
				"the scores of a table rise from point to point, up to 1000000, and worth never falls"
			}
			Self::BadFloor => "the floor is a score in millionths, below 1000000",
			Self::BadPace => "a pace is in thousandths, up to 100000, and not 0 at both ends",
		})
	}
}

impl Curve {
	/// Fails with the first rule that the curve breaks.
	pub fn check(&self) -> Result<(), CurveFault> {
		let largest = match self {
			Self::Linear { factor } => *factor,
			Self::Power { factor, exponent } => {
				if !(2..=MAX_EXPONENT).contains(exponent) {
					return Err(CurveFault::BadExponent);
				}
				*factor
			}
			Self::Table(points) => {
				let rises = points.iter().zip(points.iter().skip(1));
				let mut rises = rises.map(|(a, b)| a.score < b.score && a.worth <= b.worth);
				let last = *points.last().ok_or(CurveFault::NoPoints)?;
				if last.score > ONE || !rises.all(|rises| rises) {
					return Err(CurveFault::NotRising);
				}
				last.worth
			}
		};
		if largest > MAX_WORTH {
			return Err(CurveFault::TooMuch);
		}
		Ok(())
	}

	/// Returns what a model with this score, in millionths, is worth, rounded down. A score above 1 counts as 1.
	pub fn worth(&self, score: u32) -> Balance {
		let score = score.min(ONE);
		match self {
			Self::Linear { factor } => part(*factor, score, ONE),
			Self::Power { factor, exponent } => {
				(0..*exponent).fold(*factor, |worth, _| part(worth, score, ONE))
			}
			Self::Table(points) => {
				let after = points.iter().position(|point| point.score > score);
				let last = after.map_or(points.last(), |index| {
					index.checked_sub(1).and_then(|before| points.get(before))
				});
				let next = after.and_then(|index| points.get(index));
				match (last, next) {
					(Some(last), Some(next)) => {
						let rise = next.worth.saturating_sub(last.worth);
						let done = score.saturating_sub(last.score);
						let more = part(rise, done, next.score.saturating_sub(last.score));
						last.worth.saturating_add(more)
					}
					(Some(end), None) | (None, Some(end)) => end.worth,
					(None, None) => 0,
				}
			}
		}
	}
}

/// Returns `amount * of / all`, rounded down; 0 for none at all.
fn part(amount: Balance, of: u32, all: u32) -> Balance {
	amount.saturating_mul(of.into()).checked_div(all.into()).unwrap_or_default()
}

impl Pace {
	/// Returns the pace at height `now` of a swarm that began at one height and ends at another.
	pub fn at(&self, began: BlockNumber, now: BlockNumber, end: BlockNumber) -> u32 {
		let all = end.saturating_sub(began);
		let done = now.saturating_sub(began).min(all);
		let left = all.saturating_sub(done);
		let sum = u64::from(self.first)
			.saturating_mul(left.into())
			.saturating_add(u64::from(self.last).saturating_mul(done.into()));
		match sum.checked_div(all.into()) {
			Some(pace) => u32::try_from(pace).unwrap_or(u32::MAX),
			None => self.last,
		}
	}
}

/// What was measured for a claim, by the same rows: scores in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
	/// Of the model with which it is compared.
	pub base: u32,
	/// Of the best model that was claimed before it in the same round, at least `base`.
	pub best: u32,
	/// Of the model that is claimed.
	pub new: u32,
}

/// What comes of a claim that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
	/// This is to be paid for so many millionths.
	Gain {
		/// The amount.
		amount: Balance,
		/// The gain.
		points: u32,
	},
	/// This much of the stake is lost.
	Loss {
		/// The amount.
		amount: Balance,
	},
	/// Nothing happens.
	Nothing,
}

impl Reward {
	/// Fails with the first rule that the reward breaks.
	pub fn check(&self) -> Result<(), CurveFault> {
		self.curve.check()?;
		let Pace { first, last } = self.pace;
		if first > MAX_PACE || last > MAX_PACE || first.max(last) == 0 {
			return Err(CurveFault::BadPace);
		}
		if self.floor >= ONE {
			return Err(CurveFault::BadFloor);
		}
		Ok(())
	}

	/// Returns what a rise of so many points from this score brings, at this pace: at most the stake.
	fn rise(&self, pace: u32, from: u32, points: u32) -> Balance {
		let to = self.curve.worth(from.saturating_add(points));
		let more = to.saturating_sub(self.curve.worth(from));
		part(more, pace, 1_000).min(self.stake)
	}

	/// Returns what a claim comes to that was measured so, where the model with which it is compared counts as
	/// having the score `from`.
	///
	/// A model that is better than all before it, and than the floor, brings what the curve rises by from
	/// `from`. One that is worse than its base loses what it would have brought by being as much better: a count
	/// has noise, and whoever claims without a gain must expect nothing. Nobody is paid or loses more than the
	/// stake.
	pub fn due(&self, pace: u32, from: u32, measured: Measured) -> Due {
		let Measured { base, best, new } = measured;
		let least = base.max(best).max(self.floor);
		if let Some(points) = new.checked_sub(least).filter(|points| *points > 0) {
			return Due::Gain { amount: self.rise(pace, from, points), points };
		}
		match base.checked_sub(new).filter(|points| *points > 0) {
			// Near the top there is no room for a gain as large, and the loss is that of the last one there is.
			Some(points) => {
				let from = from.min(ONE.saturating_sub(points));
				Due::Loss { amount: self.rise(pace, from, points) }
			}
			None => Due::Nothing,
		}
	}
}
