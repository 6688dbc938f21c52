//! Weights of `pallet_federation`.
//!
//! Estimates, from the steps of other pallets that do the same, until `scripts/benchmark-weights` has measured
//! them. Lowering the largest specification to the tensors of its model counts as 5 ms, as in
//! `runtime/src/relay.rs`, and hashing a KiB by BLAKE3 in wasm as 10 us.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_federation` needs.
pub trait WeightInfo {
	/// Weight of `open`.
	fn open(n: u32, ) -> Weight;
	/// Weight of `cancel`.
	fn cancel() -> Weight;
	/// Weight of `propose`.
	fn propose(n: u32, ) -> Weight;
	/// Weight of `refute`.
	fn refute() -> Weight;
	/// Weight of `refute_piece`.
	fn refute_piece() -> Weight;
	/// Weight of `look`: without what it asks of the market, and with the end of a round.
	fn look() -> Weight;
	/// Weight of `post`: of the specification, without the market's part.
	fn post() -> Weight;
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
	/// `n` is 1 to 16.
	fn open(n: u32, ) -> Weight {
		Weight::from_parts(5_200_000_000, 20_000)
			.saturating_add(Weight::from_parts(150_000_000, 700).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(8_u64, 9_u64))
	}
	fn cancel() -> Weight {
		Weight::from_parts(900_000_000, 300_000)
			.saturating_add(D::get().reads_writes(60_u64, 66_u64))
	}
	/// `n` is 0 to 8,192.
	fn propose(n: u32, ) -> Weight {
		Weight::from_parts(5_300_000_000, 30_000)
			.saturating_add(Weight::from_parts(1_200_000, 32).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(8_u64, 8_u64))
	}
	fn refute() -> Weight {
		Weight::from_parts(6_500_000_000, 300_000)
			.saturating_add(D::get().reads_writes(8_u64, 8_u64))
	}
	fn refute_piece() -> Weight {
		Weight::from_parts(10_500_000_000, 600_000)
			.saturating_add(D::get().reads_writes(9_u64, 8_u64))
	}
	fn look() -> Weight {
		Weight::from_parts(900_000_000, 300_000)
			.saturating_add(D::get().reads_writes(70_u64, 75_u64))
	}
	fn post() -> Weight {
		Weight::from_parts(150_000_000, 20_000)
			.saturating_add(D::get().reads_writes(1_u64, 0_u64))
	}
	fn forget() -> Weight {
		Weight::from_parts(300_000_000, 40_000)
			.saturating_add(D::get().reads_writes(36_u64, 38_u64))
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
	fn cancel() -> Weight {
		Measured::<RocksDbWeight>::cancel()
	}
	fn propose(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::propose(n)
	}
	fn refute() -> Weight {
		Measured::<RocksDbWeight>::refute()
	}
	fn refute_piece() -> Weight {
		Measured::<RocksDbWeight>::refute_piece()
	}
	fn look() -> Weight {
		Measured::<RocksDbWeight>::look()
	}
	fn post() -> Weight {
		Measured::<RocksDbWeight>::post()
	}
	fn forget() -> Weight {
		Measured::<RocksDbWeight>::forget()
	}
	fn serve(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::serve(n)
	}
}
