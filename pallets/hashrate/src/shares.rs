//! Total ECP: the share of the whole weight that each one who stands for authorship has.
//!
//! Drilling and training are different markets: a ut of drilling costs computing alone, a ut of
//! training also the fee that is burned for it. If they were added up, the cheaper kind would decide
//! alone. So each kind is a share of its own total, and the totals are those of who stands:
//!
//! ```text
//! ECP = 0.4 d / max(D, F_D) + 0.6 t / max(T, F_T) + g (1 - 0.4 min(1, D / F_D) - 0.6 min(1, T / F_T))
//! ```
//!
//! `d` and `t` are one's own effective power, `D` and `T` those of all who stand together, `F_D` and
//! `F_T` the [`Floors`] of the genesis, `g` the part of what founders declared there that is one's
//! own. While there is little work of a kind, little of the weight is given for it: who drills alone
//! in an empty market has `0.4 d / F_D`, and not 0.4. What is given for no work stays with the
//! founders; it does not decay, and comes back to them where work ceases. If no founder stands,
//! nobody has it, and weights count relative to each other.
//!
//! Splitting gains nothing: the formula is linear in `d`, `t` and `g` while their sums stay.
//! `tools/power-sim` computes what a third of the weight costs at every volume.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use trainyard_protocol::views::WHOLE_WEIGHT;

/// The whole weight, as a `u128` for products.
const WHOLE: u128 = WHOLE_WEIGHT as u128;

/// Fifths of the weight that drilling and training have at most.
const DRILLING_FIFTHS: u128 = 2;
const TRAINING_FIFTHS: u128 = 3;

/// The volumes from which on a kind of work has its whole part of the weight, in micro-ut a day.
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
pub struct Floors {
	/// Of drilling.
	pub drilling: u64,
	/// Of training.
	pub training: u64,
}

/// What one who stands has to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claim {
	/// Effective drilling power, micro-ut a day.
	pub drilling: u64,
	/// Effective training power, micro-ut a day.
	pub training: u64,
	/// What it has as a founder, in the unit of the genesis.
	pub founder: u64,
}

/// The sums of all who stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
	floors: Floors,
	drilling: u128,
	training: u128,
	founder: u128,
}

impl Totals {
	/// Returns the sums of `all`.
	pub fn of<'a>(floors: Floors, all: impl Iterator<Item = &'a Claim>) -> Self {
		let none = Self { floors, drilling: 0, training: 0, founder: 0 };
		all.fold(none, |sum, claim| sum.with(claim))
	}

	/// Returns the sums with one more.
	pub fn with(self, claim: &Claim) -> Self {
		Self {
			floors: self.floors,
			drilling: self.drilling.saturating_add(claim.drilling.into()),
			training: self.training.saturating_add(claim.training.into()),
			founder: self.founder.saturating_add(claim.founder.into()),
		}
	}

	/// Returns the share of `claim`, which is one of those summed, in parts of [`WHOLE_WEIGHT`],
	/// rounded down. All shares together are at most the whole, and less by the rounding alone where
	/// a founder stands.
	pub fn share(&self, claim: &Claim) -> u64 {
		let of = |power: u64, fifths: u128, total| {
			let part = WHOLE.saturating_mul(fifths).saturating_mul(power.into());
			part.checked_div(total).unwrap_or(0)
		};
		let (drilling, training) = self.measures();
		let earned = of(claim.drilling, DRILLING_FIFTHS, drilling).saturating_add(of(
			claim.training,
			TRAINING_FIFTHS,
			training,
		)) / 5;
		let left = self.unearned().saturating_mul(claim.founder.into());
		let founded = left.checked_div(self.founder).unwrap_or(0);
		u64::try_from(earned.saturating_add(founded)).unwrap_or(u64::MAX)
	}

	/// Returns among how much training power, micro-ut a day, six tenths of all blocks are shared out where
	/// `weight` is the sum of all shares: the training of all, or its floor, less what nobody has of the weight. A
	/// part of `p` of it brings `0.6 p` of all blocks.
	///
	/// Where neither work nor founders have six tenths, as on a chain without founders, it counts as if they did.
	pub fn training_volume(&self, weight: u64) -> u64 {
		let least = WHOLE.saturating_mul(TRAINING_FIFTHS) / 5;
		let weight = u128::from(weight).clamp(least, WHOLE);
		let (_, training) = self.measures();
		let volume = training.saturating_mul(weight).checked_div(WHOLE).unwrap_or(0);
		u64::try_from(volume).unwrap_or(u64::MAX)
	}

	/// Returns what powers of either kind are divided by.
	fn measures(&self) -> (u128, u128) {
		(
			self.drilling.max(self.floors.drilling.into()),
			self.training.max(self.floors.training.into()),
		)
	}

	/// Returns the part of the weight that no work has, rounded down.
	fn unearned(&self) -> u128 {
		let of = |sum: u128, fifths: u128, total: u128| {
			let part = WHOLE.saturating_mul(fifths).saturating_mul(sum);
			part.saturating_add(total.saturating_sub(1)).checked_div(total).unwrap_or(0)
		};
		let (drilling, training) = self.measures();
		let earned = of(self.drilling, DRILLING_FIFTHS, drilling).saturating_add(of(
			self.training,
			TRAINING_FIFTHS,
			training,
		));
		WHOLE.saturating_sub(earned.saturating_add(4) / 5)
	}
}
