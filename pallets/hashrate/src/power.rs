//! The ledger of compute power.
//!
//! *Total* power is the sum of all work ever credited. *Effective* power is the average
//! per day over a recent period, halved every half-life `h` (a genesis value, by default a
//! week): each credit of `w` adds `w * ln 2 / h` per day, with `h` in days, and the whole
//! decays by `2^(-days / h)`. A steady `r` a day converges to `r`, whatever `h` is, and the
//! value does not depend on how often it is read or written.
//!
//! Only integers: effective power is a `u128` with 64 fractional bits of micro-ut per day.
//! The decay factor of a part of a half-life is a product of table entries `2^(-2^-i)`, one
//! for each set bit of that part written in binary, each step rounded to nearest, so that
//! one factor is off by less than 64 half-units of `2^-64`. Whole half-lives are shifts.
//!
//! How both kinds make a weight is in [`shares`](crate::shares).

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use sp_runtime::Perbill;
use trainyard_protocol::MicroUt;

/// A week in milliseconds: the half-life where the genesis names no other.
pub const WEEK_MS: u64 = 604_800_000;

/// Half-lives that a genesis may name, in milliseconds: from a second to a hundred years.
pub const HALF_LIVES_MS: core::ops::RangeInclusive<u64> = 1_000..=3_155_760_000_000;

/// A day in milliseconds.
const DAY_MS: u64 = 86_400_000;

/// `ln 2` with 96 fractional bits.
const LN2: u128 = 0xb172_17f7_d1cf_79ab_c9e3_b398;

/// 1, one half, and the mask of the fractional bits, with 64 fractional bits.
const ONE: u128 = 1 << 64;
const HALF: u128 = 1 << 63;
const FRACTION: u128 = ONE - 1;

/// Entry `i` is `2^(-2^-(i + 1))` with 64 fractional bits, rounded to nearest; the last
/// entries, which round to 1, are one unit below it to stay in 64 bits.
const FACTORS: [u64; 64] = [
	0xb504_f333_f9de_6484,
	0xd744_fcca_d69d_6af4,
	0xeac0_c6e7_dd24_392f,
	0xf525_7d15_2486_cc2c,
	0xfa83_b2db_722a_033a,
	0xfd3e_0c0c_f486_c175,
	0xfe9e_115c_7b8f_884c,
	0xff4e_cb59_511e_c8a5,
	0xffa7_5652_1c8d_aed2,
	0xffd3_a751_c0f7_e10c,
	0xffe9_d2b2_f7db_2756,
	0xfff4_e91b_ff1b_8c3e,
	0xfffa_747e_a004_0664,
	0xfffd_3a3b_7814_eb54,
	0xfffe_9d1c_c60d_dab1,
	0xffff_4e8e_2587_9bfa,
	0xffff_a747_0363_f451,
	0xffff_d3a3_7dda_0313,
	0xffff_e9d1_bdf7_03af,
	0xffff_f4e8_debe_025e,
	0xffff_fa74_6f4f_a150,
	0xffff_fd3a_37a3_f8b0,
	0xffff_fe9d_1bd1_065a,
	0xffff_ff4e_8de8_45ae,
	0xffff_ffa7_46f4_1377,
	0xffff_ffd3_a37a_05e4,
	0xffff_ffe9_d1bd_01fc,
	0xffff_fff4_e8de_80c0,
	0xffff_fffa_746f_4051,
	0xffff_fffd_3a37_a025,
	0xffff_fffe_9d1b_d011,
	0xffff_ffff_4e8d_e808,
	0xffff_ffff_a746_f404,
	0xffff_ffff_d3a3_7a02,
	0xffff_ffff_e9d1_bd01,
	0xffff_ffff_f4e8_de81,
	0xffff_ffff_fa74_6f40,
	0xffff_ffff_fd3a_37a0,
	0xffff_ffff_fe9d_1bd0,
	0xffff_ffff_ff4e_8de8,
	0xffff_ffff_ffa7_46f4,
	0xffff_ffff_ffd3_a37a,
	0xffff_ffff_ffe9_d1bd,
	0xffff_ffff_fff4_e8df,
	0xffff_ffff_fffa_746f,
	0xffff_ffff_fffd_3a38,
	0xffff_ffff_fffe_9d1c,
	0xffff_ffff_ffff_4e8e,
	0xffff_ffff_ffff_a747,
	0xffff_ffff_ffff_d3a3,
	0xffff_ffff_ffff_e9d2,
	0xffff_ffff_ffff_f4e9,
	0xffff_ffff_ffff_fa74,
	0xffff_ffff_ffff_fd3a,
	0xffff_ffff_ffff_fe9d,
	0xffff_ffff_ffff_ff4f,
	0xffff_ffff_ffff_ffa7,
	0xffff_ffff_ffff_ffd4,
	0xffff_ffff_ffff_ffea,
	0xffff_ffff_ffff_fff5,
	0xffff_ffff_ffff_fffa,
	0xffff_ffff_ffff_fffd,
	0xffff_ffff_ffff_ffff,
	0xffff_ffff_ffff_ffff,
];

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

/// Returns `effective * 2^(-elapsed / half_life)`, both times in milliseconds; a half-life of 0
/// reads as 1.
pub fn decayed(effective: u128, elapsed: u64, half_life: u64) -> u128 {
	let half_life = half_life.max(1);
	let halvings = elapsed.checked_div(half_life).unwrap_or(0);
	let rest = elapsed.checked_rem(half_life).unwrap_or(0);
	let halvings = u32::try_from(halvings).unwrap_or(u32::MAX);
	multiply(effective, factor(rest, half_life)).checked_shr(halvings).unwrap_or(0)
}

/// Returns `2^(-elapsed / half_life)` with 64 fractional bits, for `elapsed` below `half_life`.
fn factor(elapsed: u64, half_life: u64) -> u128 {
	let mut bits =
		(u128::from(elapsed) << 64).checked_div(u128::from(half_life)).unwrap_or(0) as u64;
	let mut product = ONE;
	for step in FACTORS {
		if bits >> 63 == 1 {
			product = multiply(product, u128::from(step));
		}
		bits = bits.wrapping_shl(1);
	}
	product
}

/// Returns `x * f / 2^64`, rounded to nearest, for `f` of at most 1: 128 by 64 bits in two halves.
fn multiply(x: u128, f: u128) -> u128 {
	let (high, low) = (x >> 64, x & FRACTION);
	let low = low.saturating_mul(f).saturating_add(HALF) >> 64;
	high.saturating_mul(f).saturating_add(low)
}
