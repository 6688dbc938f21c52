//! The ledger of compute power.
//!
//! *Total* power is the sum of all work ever credited. *Effective* power is the average
//! per day over a recent period, halved every half-life `h` (a genesis value, by default a
//! week): each credit of `w` adds `w * ln 2 / h` per day, with `h` in days, and the whole
//! decays by `2^(-days / h)`. A steady `r` a day converges to `r`, whatever `h` is, and the
//! value does not depend on how often it is read or written.
//!
//! Only integers: effective power is a `u128` with 64 fractional bits of micro-ut per day, which
//! [`decayed`] lets decay.
//!
//! How both kinds make a weight is in [`shares`](crate::shares).

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use sp_runtime::Perbill;
use trainyard_protocol::{decay::decayed, MicroUt};

/// A week in milliseconds: the half-life where the genesis names no other.
pub const WEEK_MS: u64 = 604_800_000;

/// Half-lives that a genesis may name, in milliseconds: from a second to a hundred years.
pub const HALF_LIVES_MS: core::ops::RangeInclusive<u64> = 1_000..=3_155_760_000_000;

/// A day in milliseconds.
const DAY_MS: u64 = 86_400_000;

/// `ln 2` with 96 fractional bits.
const LN2: u128 = 0xb172_17f7_d1cf_79ab_c9e3_b398;

/// When power is looked at, and what it decays by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
	/// Now, in milliseconds since 1970.
	pub now: u64,
	/// The time in which power halves, in milliseconds; 0 reads as 1.
	pub half_life: u64,
}

impl Clock {
	/// Returns what is left of `effective`, noted at `updated`. A `now` before `updated` reads as
	/// `updated`.
	fn left(&self, effective: u128, updated: u64) -> u128 {
		let elapsed = self.now.saturating_sub(updated);
		decayed(effective, elapsed, self.half_life)
	}

	/// Returns what `work` adds to effective power: micro-ut per day with 64 fractional bits.
	pub fn worth(&self, work: MicroUt) -> u128 {
		u128::from(work).saturating_mul(per_unit(self.half_life))
	}

	/// Returns the work that adds this effective power, rounded down.
	pub fn work_of(&self, effective: u128) -> MicroUt {
		let work = effective.checked_div(per_unit(self.half_life)).unwrap_or(u128::MAX);
		MicroUt::try_from(work).unwrap_or(MicroUt::MAX)
	}
}

/// One kind of power of one trainer.
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
pub struct Track {
	/// Work ever credited, micro-ut.
	pub total: u128,
	/// Effective power at `updated`: micro-ut per day with 64 fractional bits.
	pub effective: u128,
	/// When `effective` was exact, in milliseconds since 1970.
	pub updated: u64,
}

impl Track {
	/// Returns the effective power at `clock.now`: micro-ut per day with 64 fractional bits. A time
	/// before the last credit reads as the time of that credit.
	pub fn effective_at(&self, clock: &Clock) -> u128 {
		clock.left(self.effective, self.updated)
	}

	/// Credits `work` done now. Saturates; time never runs backwards.
	pub fn credit(&mut self, work: MicroUt, clock: &Clock) {
		self.effective = self.effective_at(clock).saturating_add(clock.worth(work));
		self.total = self.total.saturating_add(u128::from(work));
		self.updated = self.updated.max(clock.now);
	}

	/// Takes back `work` that was credited at the time `credited`: what its decay left of it, and all of
	/// it from the total. What is there without it stays, but for roundings; where a part was lost
	/// meanwhile, at most what there is is taken.
	pub fn revoke(&mut self, work: MicroUt, credited: u64, clock: &Clock) {
		let left = clock.left(clock.worth(work), credited);
		self.effective = self.effective_at(clock).saturating_sub(left);
		self.total = self.total.saturating_sub(u128::from(work));
		self.updated = self.updated.max(clock.now);
	}

	/// Takes away `part` of the effective power. Power decays in proportion, so it does not
	/// matter when.
	pub fn lose(&mut self, part: Perbill) {
		self.effective = self.effective.saturating_sub(part.mul_floor(self.effective));
	}

	/// Takes away as much effective power as crediting `work` now would add, at most what there is.
	/// The total stays, because it counts what was credited.
	pub fn debit(&mut self, work: MicroUt, clock: &Clock) {
		self.effective = self.effective_at(clock).saturating_sub(clock.worth(work));
		self.updated = self.updated.max(clock.now);
	}
}

/// The power of one trainer.
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
pub struct Ledger {
	/// From drilling.
	pub drilling: Track,
	/// From training.
	pub training: Track,
}

impl Ledger {
	/// Returns the effective power of drilling and of training at `clock.now`, in whole micro-ut
	/// per day, rounded down.
	pub fn rates_at(&self, clock: &Clock) -> (u64, u64) {
		(whole(self.drilling.effective_at(clock)), whole(self.training.effective_at(clock)))
	}
}

/// Returns the whole part of a number with 64 fractional bits.
pub fn whole(x: u128) -> u64 {
	(x >> 64) as u64
}

/// Returns `ln 2 / half-life in days` with 64 fractional bits, rounded to nearest: what a credit of
/// 1 adds to the power per day.
fn per_unit(half_life: u64) -> u128 {
	// At most 2^123 over at most 2^96.
	let numerator = LN2.saturating_mul(u128::from(DAY_MS));
	let denominator = u128::from(half_life.max(1)) << 32;
	numerator.saturating_add(denominator >> 1).checked_div(denominator).unwrap_or(0)
}
