//! Weights of `pallet_tasks`.
//!
//! Estimates, from the steps of other pallets that do the same, until `scripts/benchmark-weights` has measured
//! them. What executing a step takes is not in them.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_tasks` needs.
pub trait WeightInfo {
	/// Weight of `post`.
	fn post() -> Weight;
	/// Weight of `cancel`.
	fn cancel() -> Weight;
	/// Weight of `apply`.
	fn apply() -> Weight;
	/// Weight of `commit`.
	fn commit() -> Weight;
	/// Weight of `reveal`.
	fn reveal() -> Weight;
	/// Weight of `seal`.
	fn seal() -> Weight;
	/// Weight of `unseal`.
	fn unseal() -> Weight;
	/// Weight of `challenge`.
	fn challenge() -> Weight;
	/// Weight of `show`.
	fn show() -> Weight;
	/// Weight of `execute`.
	fn execute() -> Weight;
	/// Weight of `refute`.
	fn refute() -> Weight;
	/// Weight of `look`.
	fn look() -> Weight;
	/// Weight of `draw`.
	fn draw() -> Weight;
	/// Weight of `sample`.
	fn sample() -> Weight;
	/// Weight of `close_reveals`.
	fn close_reveals() -> Weight;
	/// Weight of `settle`.
	fn settle() -> Weight;
	/// Weight of `end_dispute`.
	fn end_dispute() -> Weight;
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
	fn post() -> Weight {
		Weight::from_parts(240_000_000, 10_100)
			.saturating_add(D::get().reads_writes(9_u64, 10_u64))
	}
	fn cancel() -> Weight {
		Weight::from_parts(1_500_000_000, 120_000)
			.saturating_add(D::get().reads_writes(80_u64, 80_u64))
	}
	fn apply() -> Weight {
		Weight::from_parts(120_000_000, 8_100)
			.saturating_add(D::get().reads_writes(4_u64, 3_u64))
	}
	fn commit() -> Weight {
		Weight::from_parts(80_000_000, 7_700)
			.saturating_add(D::get().reads_writes(3_u64, 4_u64))
	}
	fn reveal() -> Weight {
		Weight::from_parts(200_000_000, 8_900)
			.saturating_add(D::get().reads_writes(6_u64, 6_u64))
	}
	fn seal() -> Weight {
		Weight::from_parts(90_000_000, 8_100)
			.saturating_add(D::get().reads_writes(4_u64, 3_u64))
	}
	fn unseal() -> Weight {
		Weight::from_parts(80_000_000, 7_700)
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	fn challenge() -> Weight {
		Weight::from_parts(400_000_000, 230_000)
			.saturating_add(D::get().reads_writes(28_u64, 8_u64))
	}
	fn show() -> Weight {
		Weight::from_parts(220_000_000, 24_000)
			.saturating_add(D::get().reads_writes(2_u64, 5_u64))
	}
	fn execute() -> Weight {
		Weight::from_parts(2_300_000_000, 270_000)
			.saturating_add(D::get().reads_writes(90_u64, 90_u64))
	}
	fn refute() -> Weight {
		Weight::from_parts(2_300_000_000, 270_000)
			.saturating_add(D::get().reads_writes(90_u64, 90_u64))
	}
	fn look() -> Weight {
		Weight::from_parts(60_000_000, 7_300)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	fn draw() -> Weight {
		Weight::from_parts(1_800_000_000, 130_000)
			.saturating_add(D::get().reads_writes(75_u64, 75_u64))
	}
	fn sample() -> Weight {
		Weight::from_parts(1_500_000_000, 165_000)
			.saturating_add(D::get().reads_writes(30_u64, 30_u64))
	}
	fn close_reveals() -> Weight {
		Weight::from_parts(1_800_000_000, 180_000)
			.saturating_add(D::get().reads_writes(80_u64, 80_u64))
	}
	fn settle() -> Weight {
		Weight::from_parts(1_800_000_000, 165_000)
			.saturating_add(D::get().reads_writes(80_u64, 80_u64))
	}
	fn end_dispute() -> Weight {
		Weight::from_parts(2_300_000_000, 270_000)
			.saturating_add(D::get().reads_writes(90_u64, 90_u64))
	}
	fn forget() -> Weight {
		Weight::from_parts(300_000_000, 60_000)
			.saturating_add(D::get().reads_writes(5_u64, 16_u64))
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
	fn post() -> Weight {
		Measured::<RocksDbWeight>::post()
	}
	fn cancel() -> Weight {
		Measured::<RocksDbWeight>::cancel()
	}
	fn apply() -> Weight {
		Measured::<RocksDbWeight>::apply()
	}
	fn commit() -> Weight {
		Measured::<RocksDbWeight>::commit()
	}
	fn reveal() -> Weight {
		Measured::<RocksDbWeight>::reveal()
	}
	fn seal() -> Weight {
		Measured::<RocksDbWeight>::seal()
	}
	fn unseal() -> Weight {
		Measured::<RocksDbWeight>::unseal()
	}
	fn challenge() -> Weight {
		Measured::<RocksDbWeight>::challenge()
	}
	fn show() -> Weight {
		Measured::<RocksDbWeight>::show()
	}
	fn execute() -> Weight {
		Measured::<RocksDbWeight>::execute()
	}
	fn refute() -> Weight {
		Measured::<RocksDbWeight>::refute()
	}
	fn look() -> Weight {
		Measured::<RocksDbWeight>::look()
	}
	fn draw() -> Weight {
		Measured::<RocksDbWeight>::draw()
	}
	fn sample() -> Weight {
		Measured::<RocksDbWeight>::sample()
	}
	fn close_reveals() -> Weight {
		Measured::<RocksDbWeight>::close_reveals()
	}
	fn settle() -> Weight {
		Measured::<RocksDbWeight>::settle()
	}
	fn end_dispute() -> Weight {
		Measured::<RocksDbWeight>::end_dispute()
	}
	fn forget() -> Weight {
		Measured::<RocksDbWeight>::forget()
	}
	fn serve(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::serve(n)
	}
}
