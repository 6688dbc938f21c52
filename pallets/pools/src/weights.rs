//! Weights of `pallet_pools`.
//!
//! Estimates, from the accesses of each step and the steps of other pallets that do the same, until
//! `scripts/benchmark-weights` has measured them. A transfer counts as 40 us.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_pools` needs.
pub trait WeightInfo {
	/// Weight of `create`.
	fn create() -> Weight;
	/// Weight of `join`.
	fn join() -> Weight;
	/// Weight of `leave`: with the end of the pool.
	fn leave() -> Weight;
	/// Weight of `enrol`: without what it asks of the market.
	fn enrol() -> Weight;
	/// Weight of `paid`.
	fn paid() -> Weight;
}

/// What was estimated, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was estimated, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	fn create() -> Weight {
		Weight::from_parts(110_000_000, 9_000)
			.saturating_add(D::get().reads_writes(3_u64, 5_u64))
	}
	fn join() -> Weight {
		Weight::from_parts(110_000_000, 12_000)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
	fn leave() -> Weight {
		Weight::from_parts(170_000_000, 15_000)
			.saturating_add(D::get().reads_writes(5_u64, 5_u64))
	}
	fn enrol() -> Weight {
		Weight::from_parts(70_000_000, 10_000)
			.saturating_add(D::get().reads_writes(3_u64, 2_u64))
	}
	fn paid() -> Weight {
		Weight::from_parts(110_000_000, 12_000)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
}

impl WeightInfo for () {
	fn create() -> Weight {
		Measured::<RocksDbWeight>::create()
	}
	fn join() -> Weight {
		Measured::<RocksDbWeight>::join()
	}
	fn leave() -> Weight {
		Measured::<RocksDbWeight>::leave()
	}
	fn enrol() -> Weight {
		Measured::<RocksDbWeight>::enrol()
	}
	fn paid() -> Weight {
		Measured::<RocksDbWeight>::paid()
	}
}
