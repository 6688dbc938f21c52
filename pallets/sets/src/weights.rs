//! Weights of `pallet_sets`.
//!
//! Estimates, from the steps of other pallets that do the same, until `scripts/benchmark-weights` has measured
//! them. Checking the largest specification counts as 150 us, as in `pallets/federation/src/weights.rs`; what lowering
//! it takes is in the market's part.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_sets` needs.
pub trait WeightInfo {
	/// Weight of `open`: without the market's part.
	fn open(n: u32, ) -> Weight;
	/// Weight of `show`: without what it asks of the market.
	fn show() -> Weight;
	/// Weight of `stop`.
	fn stop() -> Weight;
	/// Weight of `look`: without what it asks of the market, and without the end of a generation.
	fn look() -> Weight;
	/// Weight of `conclude`: with the end of the set.
	fn conclude() -> Weight;
	/// Weight of `post`: of the specification, without the market's part.
	fn post() -> Weight;
	/// Weight of `breed`: without the seed.
	fn breed() -> Weight;
	/// Weight of `forget`.
	fn forget() -> Weight;
	/// Weight of `serve`.
	fn serve(n: u32, ) -> Weight;
}

/// What was estimated, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was estimated, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// `n` is 2 to 32.
	fn open(n: u32, ) -> Weight {
		Weight::from_parts(200_000_000, 20_000)
			.saturating_add(Weight::from_parts(170_000_000, 1_000).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(5_u64, 6_u64))
			.saturating_add(D::get().writes(n.into()))
	}
	fn show() -> Weight {
		Weight::from_parts(250_000_000, 30_000)
			.saturating_add(D::get().reads_writes(6_u64, 6_u64))
	}
	fn stop() -> Weight {
		Weight::from_parts(600_000_000, 100_000)
			.saturating_add(D::get().reads_writes(135_u64, 135_u64))
	}
	fn look() -> Weight {
		Weight::from_parts(300_000_000, 100_000)
			.saturating_add(D::get().reads_writes(6_u64, 6_u64))
	}
	fn conclude() -> Weight {
		Weight::from_parts(900_000_000, 200_000)
			.saturating_add(D::get().reads_writes(170_u64, 140_u64))
	}
	fn post() -> Weight {
		Weight::from_parts(170_000_000, 20_000)
			.saturating_add(D::get().reads_writes(1_u64, 0_u64))
	}
	fn breed() -> Weight {
		Weight::from_parts(1_500_000_000, 200_000)
			.saturating_add(D::get().reads_writes(230_u64, 195_u64))
	}
	fn forget() -> Weight {
		Weight::from_parts(400_000_000, 100_000)
			.saturating_add(D::get().reads_writes(70_u64, 70_u64))
	}
	/// `n` is 0 to 16.
	fn serve(n: u32, ) -> Weight {
		Weight::from_parts(13_500_000, 3494)
			.saturating_add(Weight::from_parts(12_400_000, 3700).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(3_u64, 1_u64))
			.saturating_add(D::get().reads((3_u64).saturating_mul(n.into())))
			.saturating_add(D::get().writes((2_u64).saturating_mul(n.into())))
	}
}

impl WeightInfo for () {
	fn open(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::open(n)
	}
	fn show() -> Weight {
		Measured::<RocksDbWeight>::show()
	}
	fn stop() -> Weight {
		Measured::<RocksDbWeight>::stop()
	}
	fn look() -> Weight {
		Measured::<RocksDbWeight>::look()
	}
	fn conclude() -> Weight {
		Measured::<RocksDbWeight>::conclude()
	}
	fn post() -> Weight {
		Measured::<RocksDbWeight>::post()
	}
	fn breed() -> Weight {
		Measured::<RocksDbWeight>::breed()
	}
	fn forget() -> Weight {
		Measured::<RocksDbWeight>::forget()
	}
	fn serve(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::serve(n)
	}
}
