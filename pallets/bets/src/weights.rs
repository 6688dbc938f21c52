//! Weights of `pallet_bets`.
//!
//! Estimates, from the accesses of each step and the steps of other pallets that do the same, until
//! `scripts/benchmark-weights` has measured them. A hold, a release or a transfer of held money counts as 40 us.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_bets` needs.
pub trait WeightInfo {
	/// Weight of `offer`: without what it asks of the result.
	fn offer() -> Weight;
	/// Weight of `take`: without what it asks of the result.
	fn take() -> Weight;
	/// Weight of `withdraw`: without what it asks of the result.
	fn withdraw() -> Weight;
	/// Weight of `agree`: with the end of the bet.
	fn agree() -> Weight;
	/// Weight of `judge`: without what it asks of the result.
	fn judge() -> Weight;
	/// Weight of `settle`: without what it asks of the result.
	fn settle() -> Weight;
	/// Weight of `close`.
	fn close() -> Weight;
	/// Weight of `serve`.
	fn serve(n: u32, ) -> Weight;
}

/// What was estimated, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was estimated, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	fn offer() -> Weight {
		Weight::from_parts(150_000_000, 10_000)
			.saturating_add(D::get().reads_writes(7_u64, 9_u64))
	}
	fn take() -> Weight {
		Weight::from_parts(160_000_000, 12_000)
			.saturating_add(D::get().reads_writes(7_u64, 8_u64))
	}
	fn withdraw() -> Weight {
		Weight::from_parts(150_000_000, 40_000)
			.saturating_add(D::get().reads_writes(17_u64, 18_u64))
	}
	fn agree() -> Weight {
		Weight::from_parts(300_000_000, 45_000)
			.saturating_add(D::get().reads_writes(21_u64, 23_u64))
	}
	fn judge() -> Weight {
		Weight::from_parts(40_000_000, 5_000)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	fn settle() -> Weight {
		Weight::from_parts(320_000_000, 50_000)
			.saturating_add(D::get().reads_writes(23_u64, 25_u64))
	}
	fn close() -> Weight {
		Weight::from_parts(150_000_000, 40_000)
			.saturating_add(D::get().reads_writes(17_u64, 18_u64))
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
	fn offer() -> Weight {
		Measured::<RocksDbWeight>::offer()
	}
	fn take() -> Weight {
		Measured::<RocksDbWeight>::take()
	}
	fn withdraw() -> Weight {
		Measured::<RocksDbWeight>::withdraw()
	}
	fn agree() -> Weight {
		Measured::<RocksDbWeight>::agree()
	}
	fn judge() -> Weight {
		Measured::<RocksDbWeight>::judge()
	}
	fn settle() -> Weight {
		Measured::<RocksDbWeight>::settle()
	}
	fn close() -> Weight {
		Measured::<RocksDbWeight>::close()
	}
	fn serve(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::serve(n)
	}
}
