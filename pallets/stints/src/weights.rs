//! Weights of `pallet_stints`.
//!
//! Estimates, from the steps of `pallet_drilling` that do the same, until `scripts/benchmark-weights`
//! has measured them.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_stints` needs.
pub trait WeightInfo {
	/// Weight of `begin`.
	fn begin() -> Weight;
	/// Weight of `retire`.
	fn retire() -> Weight;
	/// Weight of `report`.
	fn report() -> Weight;
	/// Weight of `check`.
	fn check() -> Weight;
	/// Weight of `open`.
	fn open() -> Weight;
	/// Weight of `check_reveal`.
	fn check_reveal() -> Weight;
	/// Weight of `retarget`.
	fn retarget() -> Weight;
	/// Weight of `look`.
	fn look() -> Weight;
	/// Weight of `begin_opening`.
	fn begin_opening() -> Weight;
	/// Weight of `credit`.
	fn credit() -> Weight;
	/// Weight of `draw`.
	fn draw() -> Weight;
	/// Weight of `conclude`.
	fn conclude(n: u32, ) -> Weight;
	/// Weight of `serve`.
	fn serve(n: u32, ) -> Weight;
}

/// What was estimated, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was estimated, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	fn begin() -> Weight {
		Weight::from_parts(110_000_000, 4690)
			.saturating_add(D::get().reads_writes(6_u64, 5_u64))
	}
	fn retire() -> Weight {
		Weight::from_parts(110_000_000, 4690)
			.saturating_add(D::get().reads_writes(5_u64, 4_u64))
	}
	fn report() -> Weight {
		Weight::from_parts(260_000_000, 6500)
			.saturating_add(D::get().reads_writes(11_u64, 11_u64))
	}
	fn check() -> Weight {
		Weight::from_parts(80_000_000, 4690)
			.saturating_add(D::get().reads_writes(4_u64, 3_u64))
	}
	fn open() -> Weight {
		Weight::from_parts(160_000_000, 6500)
			.saturating_add(D::get().reads_writes(5_u64, 4_u64))
	}
	fn check_reveal() -> Weight {
		Weight::from_parts(90_000_000, 4690)
			.saturating_add(D::get().reads_writes(5_u64, 3_u64))
	}
	fn retarget() -> Weight {
		Weight::from_parts(20_000_000, 1500)
			.saturating_add(D::get().reads_writes(4_u64, 3_u64))
	}
	fn look() -> Weight {
		Weight::from_parts(75_000_000, 4690)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	fn begin_opening() -> Weight {
		Weight::from_parts(130_000_000, 4690)
			.saturating_add(D::get().reads_writes(2_u64, 4_u64))
	}
	fn credit() -> Weight {
		Weight::from_parts(300_000_000, 12000)
			.saturating_add(D::get().reads_writes(9_u64, 8_u64))
	}
	fn draw() -> Weight {
		Weight::from_parts(1_300_000_000, 148431)
			.saturating_add(D::get().reads_writes(25_u64, 27_u64))
	}
	/// `n` is 4 to 18.
	fn conclude(n: u32, ) -> Weight {
		Weight::from_parts(3_000_000_000, 148_431)
			.saturating_add(Weight::from_parts(2_200_000_000, 3_000).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(12_u64, 8_u64))
			.saturating_add(D::get().reads((6_u64).saturating_mul(n.into())))
			.saturating_add(D::get().writes((6_u64).saturating_mul(n.into())))
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
	fn begin() -> Weight {
		Measured::<RocksDbWeight>::begin()
	}
	fn retire() -> Weight {
		Measured::<RocksDbWeight>::retire()
	}
	fn report() -> Weight {
		Measured::<RocksDbWeight>::report()
	}
	fn check() -> Weight {
		Measured::<RocksDbWeight>::check()
	}
	fn open() -> Weight {
		Measured::<RocksDbWeight>::open()
	}
	fn check_reveal() -> Weight {
		Measured::<RocksDbWeight>::check_reveal()
	}
	fn retarget() -> Weight {
		Measured::<RocksDbWeight>::retarget()
	}
	fn look() -> Weight {
		Measured::<RocksDbWeight>::look()
	}
	fn begin_opening() -> Weight {
		Measured::<RocksDbWeight>::begin_opening()
	}
	fn credit() -> Weight {
		Measured::<RocksDbWeight>::credit()
	}
	fn draw() -> Weight {
		Measured::<RocksDbWeight>::draw()
	}
	fn conclude(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::conclude(n)
	}
	fn serve(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::serve(n)
	}
}
