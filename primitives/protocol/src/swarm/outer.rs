//! Outer steps: all peers of a swarm train one model, and move it together.
//!
//! Blocks divide the time into outer steps of equal length. In the first blocks of a step each peer trains from
//! the model that the step begins with, and commits to how far its copy moved ([`sealed`]); in the others it
//! takes the updates of all that committed, and *vouches* for those that it has and finds right. What more than
//! half of those vouch for that vouch at all is [`counted`], and the next model is the outer step by these:
//! `docs/mixing.md` says what that computes, to the bit. So whoever has the updates has the model, without asking
//! anybody for it, and a contribution can be computed again like a segment of a job: from its model, its rows and
//! the [`noise`] of its peer.

use super::SwarmId;
use crate::{job::BlockNumber, H256};
use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use sp_crypto_hashing::blake2_256;
use trainyard_mixing::{Aggregation, Compression, OuterStep};

/// Contributions to one outer step, at most: as many as a vouching has bits.
pub const MAX_CONTRIBUTIONS: u32 = 64;
/// Outer steps whose contributions are remembered, at most, of those that have any.
pub const KEPT_STEPS: u32 = 8;
/// Outer steps ago with whose model a contribution may begin, at most: it counts a half less for each.
pub const MAX_LATE: u32 = KEPT_STEPS - 1;
/// Most steps of training in an outer step.
pub const MAX_INNER: u32 = 1_000_000;

/// How models that were trained apart are mixed.
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
#[serde(rename_all = "snake_case")]
pub enum Averaging {
	/// Each peer has a model of its own, and takes the mean of it and another's where that is better.
	Pairs,
	/// All have one model, which moves by what all of them found.
	Outer(OuterRule),
}

/// The numbers of outer steps. Those with a fraction are in thousandths.
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
pub struct OuterRule {
	/// Values that an update has of each 4,096 of a tensor.
	pub picks: u16,
	/// Bits of each of them, with its sign.
	pub bits: u8,
	/// What of that which updates did not say joins the next movement, in thousandths.
	pub keep: u16,
	/// The outer rate, in thousandths.
	pub rate: u16,
	/// The outer momentum, in thousandths; 0 for none.
	pub momentum: u16,
	/// Updates are clipped at so many thousandths of the median of their lengths.
	pub clip: Option<u16>,
	/// Smallest and largest values of a place that are left out, of each so many.
	pub trim: u8,
	/// Steps of training in each outer step.
	pub inner: u32,
	/// Blocks for training and committing.
	pub train: BlockNumber,
	/// Blocks for taking updates and vouching.
	pub vouch: BlockNumber,
}

/// What is wrong with an [`OuterRule`].
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
pub enum OuterFault {
	/// The values picked are none or more than 4,096, or their bits fewer than 2 or more than 8.
	Compression,
	/// More than all of what is left is kept.
	Keep,
	/// The rate is 0, or the momentum not below 1.
	Step,
	/// Updates are clipped at nothing.
	Clip,
	/// There are no steps of training, or too many.
	Inner,
	/// There are no blocks for training, or for vouching.
	Blocks,
}

impl core::fmt::Display for OuterFault {
	fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
		f.write_str(match self {
			Self::Compression => "picks are 1 to 4096 of 4,096 values, and bits 2 to 8",
			Self::Keep => "keep is at most 1000 thousandths",
			Self::Step => "rate is above 0, and momentum below 1000 thousandths",
			Self::Clip => "clip is above 0, or is not named",
			Self::Inner => "inner is 1 to 1000000 steps of training",
			Self::Blocks => "train and vouch have at least one block each",
		})
	}
}

/// What may be done at a height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
	/// Number of the outer step.
	pub step: u32,
	/// Whether contributions are taken; otherwise peers vouch.
	pub trains: bool,
	/// The last block of that.
	pub until: BlockNumber,
}

/// Returns a number of thousandths, rounded once.
fn thousandths(number: u16) -> f32 {
	f32::from(number) / 1_000.0
}

impl OuterRule {
	/// Fails with the first rule that is broken.
	pub fn check(&self) -> Result<(), OuterFault> {
		self.compression()?;
		if self.keep > 1_000 {
			return Err(OuterFault::Keep);
		}
		if self.rate == 0 {
			return Err(OuterFault::Step);
		}
		self.outer_step()?;
		self.aggregation()?;
		if !(1..=MAX_INNER).contains(&self.inner) {
			return Err(OuterFault::Inner);
		}
		match self.train > 0 && self.vouch > 0 {
			true => Ok(()),
			false => Err(OuterFault::Blocks),
		}
	}

	/// Returns how updates are compressed.
	pub fn compression(&self) -> Result<Compression, OuterFault> {
		Compression::new(self.picks.into(), self.bits.into()).map_err(|_| OuterFault::Compression)
	}

	/// Returns how they are aggregated.
	pub fn aggregation(&self) -> Result<Aggregation, OuterFault> {
		let clip = self.clip.map(thousandths);
		Aggregation::new(clip, self.trim.into()).map_err(|_| OuterFault::Clip)
	}

	/// Returns the step that the model takes by the aggregate.
	pub fn outer_step(&self) -> Result<OuterStep, OuterFault> {
		let (rate, momentum) = (thousandths(self.rate), thousandths(self.momentum));
		OuterStep::new(rate, momentum).map_err(|_| OuterFault::Step)
	}

	/// Returns the part of a residual that joins the next movement.
	pub fn kept_part(&self) -> f32 {
		thousandths(self.keep)
	}

	/// Returns the blocks of one outer step.
	pub fn blocks(&self) -> BlockNumber {
		self.train.saturating_add(self.vouch)
	}

	/// Returns what may be done at this height in a swarm that began at another one.
	pub fn moment(&self, began: BlockNumber, height: BlockNumber) -> Moment {
		let since = height.saturating_sub(began);
		let step = since.checked_div(self.blocks()).unwrap_or_default();
		let first = began.saturating_add(step.saturating_mul(self.blocks()));
		let last_training = first.saturating_add(self.train).saturating_sub(1);
		let trains = height <= last_training;
		let until = if trains { last_training } else { last_training.saturating_add(self.vouch) };
		Moment { step, trains, until }
	}

	/// Returns whether it is decided at this height what counts of an outer step.
	pub fn is_over(&self, began: BlockNumber, step: u32, height: BlockNumber) -> bool {
		self.moment(began, height).step > step
	}
}

/// What a peer says to have brought to an outer step.
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
pub struct Brought {
	/// The outer step with whose model it began to train: this one, or up to [`MAX_LATE`] before.
	pub base: u32,
	/// Root of that model.
	pub model: H256,
	/// Root of the velocity of that model; zero where there is no momentum.
	pub velocity: H256,
	/// Content hash of the file of rows with which it trained.
	pub data: H256,
	/// The root of its update, [sealed].
	pub sealed: H256,
	/// Root of what the peer keeps for its next contribution: the residual that the update left, and what the
	/// optimizer of its training keeps.
	pub kept: H256,
}

/// A contribution to an outer step.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo, Serialize, Deserialize,
)]
pub struct Contribution<AccountId> {
	/// Who contributes.
	pub peer: AccountId,
	/// Root of what its peer kept from the contribution before; zero for nothing.
	pub before: H256,
	/// What it brings.
	pub brought: Brought,
	/// For which contributions it vouches, a bit for each in their order; none before it said.
	pub vouches: Option<u64>,
}

/// Returns how much a contribution counts that began with the model of so many outer steps ago: 128 where none,
/// a half for each. Nothing where they are more than [`MAX_LATE`].
pub fn shares(late: u32) -> u64 {
	match late <= MAX_LATE {
		true => (1u64 << MAX_LATE) >> late,
		false => 0,
	}
}

/// Returns which contributions count, a bit for each: those for which more than half of those vouch that vouch for
/// any or none.
pub fn counted<AccountId>(contributions: &[Contribution<AccountId>]) -> u64 {
	let said: Vec<u64> = contributions.iter().filter_map(|one| one.vouches).collect();
	let most = contributions.len().min(MAX_CONTRIBUTIONS as usize);
	let counts = |at: &usize| {
		let votes = said.iter().filter(|vouches| (*vouches >> at) & 1 == 1).count();
		votes.saturating_mul(2) > said.len()
	};
	(0..most).filter(counts).fold(0, |all, at| all | 1u64 << at)
}

/// Returns what names the contributions to a step in their order: `blake2_256(SCALE("trainyard/swarm/list/v1",
/// seals))`. Who vouches says it, since bits stand for places, and other blocks may have another order.
pub fn list_of<AccountId>(contributions: &[Contribution<AccountId>]) -> H256 {
	let seals: Vec<H256> = contributions.iter().map(|one| one.brought.sealed).collect();
	(b"trainyard/swarm/list/v1", seals).using_encoded(blake2_256).into()
}

/// Returns the seed by which a peer trains from the model of outer step `base`: of the order of its rows, and of
/// noise. It follows from the seed of the swarm and the peer's key, so what one peer computed is of no use to
/// another: `blake2_256(SCALE("trainyard/swarm/noise/v1", seed, key, base))`.
pub fn noise(seed: &H256, key: &H256, base: u32) -> H256 {
	(b"trainyard/swarm/noise/v1", seed, key, base).using_encoded(blake2_256).into()
}

/// Returns what a peer commits to in the place of the root of its update, which nobody learns before the time for
/// contributions is over: or whoever sees it wait could contribute the same. `blake2_256(SCALE(
/// "trainyard/swarm/update/v1", genesis_hash, swarm, step, account, root))`.
pub fn sealed<AccountId: Encode>(
	genesis: &H256,
	swarm: SwarmId,
	step: u32,
	account: &AccountId,
	root: &H256,
) -> H256 {
	(b"trainyard/swarm/update/v1", genesis, swarm, step, account, root)
		.using_encoded(blake2_256)
		.into()
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	const RULE: OuterRule = OuterRule {
		picks: 64,
		bits: 2,
		keep: 950,
		rate: 1_000,
		momentum: 0,
		clip: Some(2_000),
		trim: 0,
		inner: 30,
		train: 10,
		vouch: 5,
	};

	#[test]
	fn rules_are_checked() {
		assert_eq!(RULE.check(), Ok(()));
		let most = OuterRule { picks: 4_096, bits: 8, keep: 1_000, momentum: 999, ..RULE };
		assert_eq!(most.check(), Ok(()));
		for (wrong, fault) in [
			(OuterRule { picks: 0, ..RULE }, OuterFault::Compression),
			(OuterRule { picks: 4_097, ..RULE }, OuterFault::Compression),
			(OuterRule { bits: 1, ..RULE }, OuterFault::Compression),
			(OuterRule { bits: 9, ..RULE }, OuterFault::Compression),
			(OuterRule { keep: 1_001, ..RULE }, OuterFault::Keep),
			(OuterRule { rate: 0, ..RULE }, OuterFault::Step),
			(OuterRule { momentum: 1_000, ..RULE }, OuterFault::Step),
			(OuterRule { clip: Some(0), ..RULE }, OuterFault::Clip),
			(OuterRule { inner: 0, ..RULE }, OuterFault::Inner),
			(OuterRule { inner: MAX_INNER + 1, ..RULE }, OuterFault::Inner),
			(OuterRule { train: 0, ..RULE }, OuterFault::Blocks),
			(OuterRule { vouch: 0, ..RULE }, OuterFault::Blocks),
		] {
			assert_eq!(wrong.check(), Err(fault));
			assert!(!fault.to_string().is_empty());
		}
	}

	#[test]
	fn blocks_say_what_may_be_done() {
		for (height, step, trains, until) in [
			(100, 0, true, 109),
			(109, 0, true, 109),
			(110, 0, false, 114),
			(114, 0, false, 114),
			(115, 1, true, 124),
			(99, 0, true, 109),
		] {
			assert_eq!(RULE.moment(100, height), Moment { step, trains, until }, "{height}");
		}
		assert!(!RULE.is_over(100, 0, 114) && RULE.is_over(100, 0, 115));
	}

	fn by(vouches: Option<u64>) -> Contribution<u8> {
		let zero = H256::zero();
		let brought =
			Brought { base: 0, model: zero, velocity: zero, data: zero, sealed: zero, kept: zero };
		Contribution { peer: 0, before: zero, brought, vouches }
	}

	#[test]
	fn what_more_than_half_vouch_for_counts() {
		assert_eq!(counted::<u8>(&[]), 0);
		assert_eq!(counted(&[by(None), by(None)]), 0, "nobody says anything");
		assert_eq!(counted(&[by(Some(0b11)), by(None)]), 0b11, "of those that say something");
		assert_eq!(counted(&[by(Some(0b11)), by(Some(0b01))]), 0b01, "a half is too little");
		let three = [by(Some(0b111)), by(Some(0b101)), by(Some(0b001))];
		assert_eq!(counted(&three), 0b101);
		assert_eq!(counted(&[by(Some(u64::MAX))]), 1, "bits of nobody are nothing");
		let all = vec![by(Some(u64::MAX)); 64];
		assert_eq!(counted(&all), u64::MAX);
	}

	#[test]
	fn late_contributions_count_less() {
		assert_eq!((0..10).map(shares).collect::<Vec<_>>(), [128, 64, 32, 16, 8, 4, 2, 1, 0, 0]);
		for late in 0..=MAX_LATE {
			let weight = trainyard_mixing::late_weight(late);
			assert_eq!(weight, shares(late) as f32 / 128.0, "the model moves by what is paid");
		}
	}

	#[test]
	fn noise_and_seals_differ_by_all_that_they_are_of() {
		let [a, b] = [H256::repeat_byte(1), H256::repeat_byte(2)];
		let noises = [noise(&a, &b, 0), noise(&b, &a, 0), noise(&a, &b, 1)];
		let seals = [
			sealed(&a, 0, 0, &7u8, &b),
			sealed(&a, 1, 0, &7u8, &b),
			sealed(&a, 0, 1, &7u8, &b),
			sealed(&a, 0, 0, &8u8, &b),
			sealed(&b, 0, 0, &7u8, &b),
			sealed(&a, 0, 0, &7u8, &a),
		];
		let all: std::collections::BTreeSet<H256> = noises.into_iter().chain(seals).collect();
		assert_eq!(all.len(), 9);
	}

	proptest! {
		#[test]
		fn every_height_is_of_one_moment(began in 0u32..1000, since in 0u32..10_000, train in 1u32..50, vouch in 1u32..50) {
			let rule = OuterRule { train, vouch, ..RULE };
			let now = rule.moment(began, began + since);
			prop_assert!(now.until >= began + since);
			let last = rule.moment(began, now.until);
			prop_assert_eq!(last, now);
			let next = rule.moment(began, now.until + 1);
			prop_assert_eq!(next.trains, !now.trains);
			prop_assert_eq!(next.step, now.step + u32::from(!now.trains));
		}
	}
}
