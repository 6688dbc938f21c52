//! Slot and epoch length, for Babe, Timestamp and Session to read, and the half-life of
//! power. They are genesis values and never change (Babe could not bear it), so that one
//! runtime serves a fast local chain and a slow public one. So are the blocks of a seed and the step
//! between draw heights, [`SeedTiming`].
//!
//! They are read from storage. Where there is none, as for tools that take metadata from a runtime
//! without a state, they are 2 ms, 1 slot, a week, and the default of [`SeedTiming`].

use crate::{
	power::{Clock, WEEK_MS},
	Config, EpochSlots, HalfLifeMs, Pallet, SlotMs,
};
use codec::{Decode, Encode, MaxEncodedLen};
use core::marker::PhantomData;
use frame_support::traits::{Get, Time};
use scale_info::TypeInfo;

/// Of how many blocks the beacon makes a seed, and how far apart draw heights lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct SeedTiming {
	/// Blocks whose outputs make one seed.
	pub blocks: u32,
	/// A seed forms after a multiple of this height.
	pub step: u32,
}

impl Default for SeedTiming {
	/// Returns what a public network uses: an author with 40 % of the weight makes all 16 blocks
	/// after a given height once in 600,000 times, and has 900 such heights a day.
	/// `docs/proof-of-hashrate.md` has the tables.
	fn default() -> Self {
		Self { blocks: 16, step: 16 }
	}
}

/// Length of a slot in milliseconds: for Babe's `ExpectedBlockTime`, if every slot has a
/// block.
pub struct SlotDuration<T>(PhantomData<T>);

impl<T: Config> Get<u64> for SlotDuration<T> {
	fn get() -> u64 {
		MinimumPeriod::<T>::get().saturating_mul(2)
	}
}

/// Half a slot in milliseconds: for Timestamp's `MinimumPeriod`, from which Babe takes its
/// slot.
pub struct MinimumPeriod<T>(PhantomData<T>);

impl<T: Config> Get<u64> for MinimumPeriod<T> {
	fn get() -> u64 {
		(SlotMs::<T>::get() / 2).max(1)
	}
}

/// Length of an epoch in slots: for Babe's `EpochDuration`.
pub struct EpochLength<T>(PhantomData<T>);

impl<T: Config> Get<u64> for EpochLength<T> {
	fn get() -> u64 {
		EpochSlots::<T>::get().max(1)
	}
}

/// The time in which effective power halves, in milliseconds.
pub struct HalfLife<T>(PhantomData<T>);

impl<T: Config> Get<u64> for HalfLife<T> {
	/// Returns the half-life in storage. A chain that is older than this value does not have it,
	/// and keeps its week.
	fn get() -> u64 {
		HalfLifeMs::<T>::get().unwrap_or(WEEK_MS).max(1)
	}
}

impl<T: Config> Pallet<T> {
	/// Returns the clock by which power decays.
	pub fn clock() -> Clock {
		Clock { now: T::Time::now(), half_life: HalfLife::<T>::get() }
	}
}
