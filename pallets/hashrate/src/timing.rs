//! Slot and epoch length, for Babe, Timestamp and Session to read. They are genesis values
//! and never change (Babe could not bear it), so that one runtime serves a fast local
//! chain and a slow public one.
//!
//! They are read from storage. Read without any, as by tools that take metadata from a
//! runtime without a state, they are 2 ms and 1 slot.

use crate::{Config, EpochSlots, SlotMs};
use core::marker::PhantomData;
use frame_support::traits::Get;

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
