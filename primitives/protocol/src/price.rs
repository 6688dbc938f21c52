//! The price of power: the protocol fee for a `ut` of training, which is burned, and what markets paid.
//!
//! Power is bought by training whose fee is burned. What all training together earns is a fixed part of
//! what blocks mint, so a `ut` earns the less the more are trained. The fee follows that: it is what
//! [`BURNED_PART`] of a window mints, divided by what was bought in that window,
//!
//! ```text
//! base = BURNED_PART x reward x WINDOW / max(bought, LEAST_BOUGHT)
//! ```
//!
//! `bought` being a sum that fades: each `ut` counts in full when its fee is burned and falls by a
//! `WINDOW`-th in each block, so in the long run as much is burned as `BURNED_PART` of what is minted,
//! whatever hardware joins, and a share of the power costs the same money at every volume. The base goes
//! by what was burned alone. What is only posted never makes it cheaper.
//!
//! What is posted raises the fee at once, above the base, while it is more than the volume explains:
//! `posted` is a sum of the work of new jobs that fades in a [`DAY`], and where it is above
//! [`free`](Volumes::free), twice what a steady market has, the next infinitesimal work pays
//! `base x (posted / free)^2`. A job pays the mean over its own work, so one job and the same work in many
//! cost the same. See `docs/protocol.md`, and `tools/power/economy.py`, which mirrors this file in integers
//! and from which the constants were chosen.

use crate::{
	fees::COMPUTE_PRICE,
	job::{Balance, BlockNumber},
};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use trainyard_program::{units::MICRO_UT_PER_UT, MicroUt};

/// What is burned for power is this part of what blocks mint, in percent: a quarter of what training earns at
/// most, which is six tenths of the weight.
pub const BURNED_PART: Balance = 15;
/// The whole, of which [`BURNED_PART`] is a part.
pub const PERCENT: Balance = 100;
/// Blocks in which what was bought fades to `1/e`: ten days of 6 s, as long as power lasts, whose half-life
/// is a week.
pub const WINDOW: BlockNumber = 144_000;
/// Blocks in which what was posted fades to `1/e`: a day of 6 s.
pub const DAY: BlockNumber = 14_400;
/// Blocks for which a job that bought nothing pays for its place at least: a hundredth of a [`DAY`]. Who takes
/// back in the block in which it posted has shut out whoever posted between.
pub const LEAST_STAY: BlockNumber = 144;
/// The least that counts as bought: 5,000 ut in each of the ten days of a [`WINDOW`]. From this volume on
/// training has its whole part of the weight.
pub const LEAST_BOUGHT: MicroUt = 50_000_000_000;
/// The part of what was bought that may be posted before the fee rises: one in so many.
pub const FREE_PART: MicroUt = 5;
/// Beyond this multiple of what is free the fee rises no more.
pub const MOST_CROWDED: u128 = 32;
/// Least fee for a `ut`: 0.00000001 TRY.
pub const LEAST_FEE: Balance = 10_000;
/// Most of a fee for a `ut`: 1,000 TRY.
pub const MOST_FEE: Balance = 1_000_000_000_000_000;
/// The fee for a `ut` in the first block of a chain, on which nothing was bought: 0.432 TRY.
pub const FIRST_FEE: Balance = 432_000_000_000;
/// The part of what is minted on which training decides, in [tenths](TENTHS).
pub const TRAINING_TENTHS: Balance = 6;
/// The whole, of which [`TRAINING_TENTHS`] are a part.
pub const TENTHS: Balance = 10;
/// The least that power is counted as in [`worth`], as a multiple of the fee that was burned for it: training
/// has six tenths of what is minted at most, and [`BURNED_PART`] is burned for it. It is what power is worth
/// where all who train make blocks.
pub const POWER_WORTH: Balance = 4;
/// What computing a `ut` [counts as](compute) is this multiple of what it costs the dearest machine that trains, so
/// that who verifies with a machine like that has something left.
pub const COMPUTE_TIMES: Balance = 4;
/// What the power for a `ut` leaves for computing it, in [tenths](TENTHS) of the base fee: 2.6. A `ut` brings 0.54 of
/// what is minted for 0.15 of it, 3.6 bases, of which one is burned.
pub const LEFT_TENTHS: Balance = 26;

/// Most of a volume. The fee is the least there is long before.
const MOST_VOLUME: MicroUt = 1 << 62;
/// Bits behind the point of a multiple of the base.
const POINT: u32 = 32;
/// Bits of what is free, where squares are formed.
const SQUARED_BITS: u32 = 30;

/// The volumes by which the fee goes, as they were at a height.
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
pub struct Volumes {
	/// Training whose fee was burned, as far as that [buys power](Volumes::credited).
	pub bought: MicroUt,
	/// Training that was posted.
	pub posted: MicroUt,
	/// The height.
	pub at: BlockNumber,
}

impl Volumes {
	/// Returns the volumes as they are at height `now`, if nothing happens until then.
	pub fn aged(self, now: BlockNumber) -> Self {
		let blocks = now.saturating_sub(self.at);
		Self {
			bought: faded(self.bought, blocks, WINDOW),
			posted: faded(self.posted, blocks, DAY),
			at: self.at.max(now),
		}
	}

	/// Returns the volumes after this much was posted.
	pub fn post(self, work: MicroUt) -> Self {
		Self { posted: self.posted.saturating_add(work).min(MOST_VOLUME), ..self }
	}

	/// Returns the volumes after work that was posted `age` blocks ago came to nothing: what is left of it is
	/// taken out, but for the part for which its [place](place_fee) was paid.
	pub fn take_back(self, work: MicroUt, age: BlockNumber) -> Self {
		let left = u128::from(faded(work, age, DAY));
		let unpaid = u128::from(DAY.saturating_sub(stay(age)));
		let back = left.saturating_mul(unpaid).checked_div(DAY.into()).unwrap_or(0);
		let back = MicroUt::try_from(back).unwrap_or(MicroUt::MAX);
		Self { posted: self.posted.saturating_sub(back), ..self }
	}

	/// Returns the volumes after the fee for this much was burned.
	pub fn buy(self, work: MicroUt) -> Self {
		Self { bought: self.bought.saturating_add(work).min(MOST_VOLUME), ..self }
	}

	/// Returns what counts as bought.
	fn counted(&self) -> MicroUt {
		self.bought.max(LEAST_BOUGHT)
	}

	/// Returns how much may be posted before the fee rises above its base: what a steady market posts in
	/// two days.
	pub fn free(&self) -> MicroUt {
		self.counted() / FREE_PART
	}

	/// Returns the base fee for a `ut` where a block mints this `reward`, rounded up.
	pub fn base(&self, reward: Balance) -> Balance {
		let minted = reward.saturating_mul(WINDOW.into());
		let spent = minted.saturating_mul(BURNED_PART).saturating_mul(MICRO_UT_PER_UT);
		let whole = PERCENT.saturating_mul(self.counted().into());
		spent.div_ceil(whole.max(1)).clamp(LEAST_FEE, MOST_FEE)
	}

	/// Returns the fee for each `ut` of a job of this much training that is posted now, rounded up: the mean
	/// over its work.
	pub fn fee(&self, reward: Balance, work: MicroUt) -> Balance {
		let base = self.base(reward);
		let multiple = self.crowding(work.max(1));
		base.saturating_mul(multiple).div_ceil(1 << POINT).clamp(base, MOST_FEE.max(base))
	}

	/// Returns how much power a job brings of this much training, whose fee was fixed at `fee` a `ut`: all of
	/// it, or where the base has risen above that fee since, what the fee buys now. Else somebody could post
	/// while there is much training and power is cheap, and have it when there is little.
	pub fn credited(&self, reward: Balance, work: MicroUt, fee: Balance) -> MicroUt {
		let base = self.base(reward);
		let part = fee.min(base).saturating_mul(work.into()).checked_div(base);
		part.and_then(|part| MicroUt::try_from(part).ok()).unwrap_or(work)
	}

	/// Returns the mean multiple of the base for this much work, with [`POINT`] bits behind the point.
	fn crowding(&self, work: MicroUt) -> u128 {
		let free = u128::from(self.free().max(1));
		let most = free.saturating_mul(MOST_CROWDED);
		let (from, work) = (u128::from(self.posted), u128::from(work));
		let to = from.saturating_add(work);
		// What is paid at the base, by the square, and at the most.
		let plain = free.saturating_sub(from).min(work);
		let (low, high) = (from.clamp(free, most), to.clamp(free, most));
		let square = high.saturating_sub(low);
		let beyond = work.saturating_sub(plain).saturating_sub(square);
		let highest = MOST_CROWDED.saturating_mul(MOST_CROWDED) << POINT;
		let sum = (plain << POINT)
			.saturating_add(square.saturating_mul(mean_square(low, high, free)))
			.saturating_add(beyond.saturating_mul(highest));
		sum.div_ceil(work.max(1))
	}
}

/// Returns the mean of `(x / free)^2` over `x` from `low` to `high`, with [`POINT`] bits behind the point,
/// rounded up.
fn mean_square(low: u128, high: u128, free: u128) -> u128 {
	let bits = u128::BITS.saturating_sub(free.leading_zeros());
	let shift = bits.saturating_sub(SQUARED_BITS);
	let (low, high, free) = (low >> shift, high >> shift, (free >> shift).max(1));
	let squares = low
		.saturating_mul(low)
		.saturating_add(low.saturating_mul(high))
		.saturating_add(high.saturating_mul(high));
	let whole = free.saturating_mul(free).saturating_mul(3);
	(squares << POINT).div_ceil(whole.max(1))
}

/// Returns `x (1 - 1 / window)^blocks`, rounded down.
pub fn faded(x: MicroUt, blocks: BlockNumber, window: BlockNumber) -> MicroUt {
	if blocks == 0 {
		return x;
	}
	// All factors have 64 bits behind the point, and are below 1.
	let mut power = u64::MAX.saturating_sub(u64::MAX / u64::from(window.max(1)));
	let (mut factor, mut left) = (u64::MAX, blocks);
	while left > 0 {
		if left & 1 == 1 {
			factor = product(factor, power);
		}
		power = product(power, power);
		left >>= 1;
	}
	product(x, factor)
}

/// Returns the upper half of the product.
fn product(a: u64, b: u64) -> u64 {
	(u128::from(a).saturating_mul(u128::from(b)) >> 64) as u64
}

/// Returns for how many blocks a job pays that ended `age` blocks after it was posted.
fn stay(age: BlockNumber) -> BlockNumber {
	age.clamp(LEAST_STAY, DAY)
}

/// Returns what is burned of the part of a job's fee that bought nothing, where the job ended `age` blocks after
/// it was posted: it held the fee up for others, and pays for its place by the time, all of it after a [`DAY`],
/// and a hundredth at least. So whoever posts and takes back pays for what that does.
pub fn place_fee(unspent: Balance, age: BlockNumber) -> Balance {
	let (whole, rest) = (unspent / Balance::from(DAY), unspent % Balance::from(DAY));
	let age = Balance::from(stay(age));
	whole.saturating_mul(age).saturating_add(rest.saturating_mul(age) / Balance::from(DAY))
}

/// Returns what the power for a `ut` of training is worth at most, whose fee is `fee`, where a block mints this
/// `reward`, rounded up: what it brings for as long as it lasts. Six tenths of what is minted in a [`DAY`] are
/// shared out among `volume`, the training power of those who make blocks in micro-ut a day. Where others train
/// who make none, that is less than what fees are paid for, and power of a chosen one is worth more.
///
/// It is [`POWER_WORTH`] times the fee at least. Power that has no fee is none, and is worth nothing. What `volume`
/// brings is bounded by [`MOST_FEE`].
pub fn worth(fee: Balance, reward: Balance, volume: MicroUt) -> Balance {
	if fee == 0 {
		return 0;
	}
	let minted = reward.saturating_mul(DAY.into());
	let shared = minted.saturating_mul(TRAINING_TENTHS).saturating_mul(MICRO_UT_PER_UT);
	let among = TENTHS.saturating_mul(volume.max(1).into());
	let brings = shared.div_ceil(among.max(1)).min(MOST_FEE);
	brings.max(fee.saturating_mul(POWER_WORTH))
}

/// Returns what computing a `ut` counts as where the base fee is `base` and the market paid `mean` for a `ut` (0 where
/// it paid nothing yet), rounded up: `4 x (mean + 2.6 x base)`, and `most` at most. Fees of seats and deposits of
/// challenges go by it. Who trains has `mean` and 2.6 bases for a `ut`, so no machine that trains costs more than a
/// quarter of this. What is only posted moves neither.
pub fn compute(base: Balance, mean: Balance, most: Balance) -> Balance {
	let power = base.saturating_mul(LEFT_TENTHS).saturating_mul(COMPUTE_TIMES).div_ceil(TENTHS);
	mean.saturating_mul(COMPUTE_TIMES).saturating_add(power).min(most)
}

/// Returns for how much of this `work` a trainer is credited power by its deposit, which was fixed where power for a
/// `ut` was worth `quoted`: all of it, or, where it is worth more by now, as much as is worth that. Else the
/// deposit would not cover what false work gains whose power is dear when it comes.
pub fn covered(work: MicroUt, quoted: Balance, worth: Balance) -> MicroUt {
	let part = quoted.min(worth).saturating_mul(work.into()).checked_div(worth);
	part.and_then(|part| MicroUt::try_from(part).ok()).unwrap_or(work)
}

/// The most that counts of a price that was paid for a `ut`: 1 TRY, above which computing [counts as](compute) no more.
/// The mean falls slowly, and whoever paid itself a millionfold for next to no work in an empty market, or a thousand
/// TRY for a `ut` of a small first job, would keep audits dear for months.
const MOST_PRICE: Balance = COMPUTE_PRICE;

/// What a `ut` cost on the market of a class of machines: the mean over accepted jobs, by the training whose
/// fee they burned. It fades as [`Volumes::bought`] does.
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
pub struct ClassPrice {
	/// The mean price of a `ut`.
	#[serde(with = "trainyard_program::text::decimal")]
	pub price_per_ut: Balance,
	/// How much training it is the mean of, as it was at a height.
	pub weight: MicroUt,
	/// The height.
	pub at: BlockNumber,
}

impl ClassPrice {
	/// Returns the mean with a job that paid this price, and burned the fee for this much training, at height
	/// `now`. What it paid counts as no less than half of the mean and no more than twice as much, so that a
	/// price costs nothing and moves nothing, and burned fees do; and as 1 TRY at most.
	pub fn with(before: Option<Self>, price: Balance, work: MicroUt, now: BlockNumber) -> Self {
		let price = price.min(MOST_PRICE);
		let Some(Self { price_per_ut: mean, weight, at }) = before else {
			return Self { price_per_ut: price, weight: work.min(MOST_VOLUME), at: now };
		};
		let (mean, weight) = (mean.min(MOST_PRICE), faded(weight, now.saturating_sub(at), WINDOW));
		let price = price.clamp(mean / 2, mean.saturating_mul(2).clamp(1, MOST_PRICE));
		let sum = u128::from(weight).saturating_add(work.into());
		let of = |price: Balance, work: MicroUt| price.saturating_mul(work.into());
		let mean = of(mean, weight).saturating_add(of(price, work)).checked_div(sum);
		let weight = weight.saturating_add(work).min(MOST_VOLUME);
		Self { price_per_ut: mean.unwrap_or(price), weight, at: now.max(at) }
	}

	/// Returns the mean as it is at height `now`.
	pub fn aged(self, now: BlockNumber) -> Self {
		let weight = faded(self.weight, now.saturating_sub(self.at), WINDOW);
		Self { weight, at: self.at.max(now), ..self }
	}
}

/// Returns the mean price of a `ut` over the markets of all classes, each by its weight now; of markets that have
/// faded the highest, and 0 of none. A small market moves it little, so nobody makes computing cheap or dear by a
/// class that few buy.
pub fn mean(prices: impl IntoIterator<Item = ClassPrice>) -> Balance {
	let (mut sum, mut weights, mut highest) = (0u128, 0u128, 0);
	for ClassPrice { price_per_ut, weight, .. } in prices {
		sum = sum.saturating_add(price_per_ut.saturating_mul(weight.into()));
		weights = weights.saturating_add(weight.into());
		highest = price_per_ut.max(highest);
	}
	sum.checked_div(weights).unwrap_or(highest)
}

#[cfg(test)]
mod tests;
