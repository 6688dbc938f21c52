//! Weights of `pallet_swarm`.
//!
//! Estimates, from the steps of other pallets that do the same, until `scripts/benchmark-weights` has measured
//! them. Lowering the largest specification to the tensors of its model counts as 5 ms, as in
//! `runtime/src/relay.rs`, hashing a KiB by BLAKE3 in wasm as 10 us, and a signature as 60 us.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_swarm` needs.
pub trait WeightInfo {
	/// Weight of `open`.
	fn open(n: u32, ) -> Weight;
	/// Weight of `add_slices`.
	fn add_slices(n: u32, ) -> Weight;
	/// Weight of `join`.
	fn join() -> Weight;
	/// Weight of `update`.
	fn update() -> Weight;
	/// Weight of `announce`.
	fn announce() -> Weight;
	/// Weight of `fund`.
	fn fund() -> Weight;
	/// Weight of `pay`.
	fn pay(n: u32, ) -> Weight;
	/// Weight of `leave`.
	fn leave() -> Weight;
	/// Weight of `claim`.
	fn claim() -> Weight;
	/// Weight of `say`, with so many pieces in all.
	fn say(n: u32, ) -> Weight;
	/// Weight of `challenge`, without the market's part.
	fn challenge() -> Weight;
	/// Weight of `testify`, without the market's part.
	fn testify() -> Weight;
	/// Weight of `refute_piece`.
	fn refute_piece() -> Weight;
	/// Weight of `refute_mean`.
	fn refute_mean() -> Weight;
	/// Weight of `close`.
	fn close() -> Weight;
	/// Weight of `contribute`: the last one that there is room for, after a step of which all count.
	fn contribute() -> Weight;
	/// Weight of `vouch`.
	fn vouch() -> Weight;
	/// Weight of `collect`.
	fn collect() -> Weight;
	/// Weight of `look`: a step that changes the stage alone.
	fn look() -> Weight;
	/// Weight of `count`: whether all models of all claims are there, and claims that are dropped for one that is not.
	fn count() -> Weight;
	/// Weight of `doubt`: as many challenges come to nothing as there can be, without what the market is asked.
	fn doubt() -> Weight;
	/// Weight of `draw`: of a slice among as many as can wait.
	fn draw() -> Weight;
	/// Weight of `show`: a slice is withheld for the last time, and all claims return.
	fn show() -> Weight;
	/// Weight of `settle`: of so many claims, and the end of the round.
	fn settle(n: u32, ) -> Weight;
	/// Weight of `end`.
	fn end() -> Weight;
	/// Weight of `forget`: of so many peers.
	fn forget(n: u32, ) -> Weight;
	/// Weight of `serve`.
	fn serve(n: u32, ) -> Weight;
}

/// What was estimated, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was estimated, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// `n` is 1 to 64.
	fn open(n: u32, ) -> Weight {
		Weight::from_parts(5_300_000_000, 20_000)
			.saturating_add(Weight::from_parts(180_000_000, 1_500).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(10_u64, 11_u64))
			.saturating_add(D::get().reads_writes(1_u64, 1_u64).saturating_mul(n.into()))
	}
	/// `n` is 1 to 64.
	fn add_slices(n: u32, ) -> Weight {
		Weight::from_parts(80_000_000, 20_000)
			.saturating_add(Weight::from_parts(180_000_000, 1_500).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(70_u64, 3_u64))
			.saturating_add(D::get().reads_writes(1_u64, 1_u64).saturating_mul(n.into()))
	}
	fn join() -> Weight {
		Weight::from_parts(150_000_000, 12_000)
			.saturating_add(D::get().reads_writes(6_u64, 5_u64))
	}
	fn update() -> Weight {
		Weight::from_parts(40_000_000, 10_000)
			.saturating_add(D::get().reads_writes(2_u64, 1_u64))
	}
	fn announce() -> Weight {
		Weight::from_parts(45_000_000, 10_000)
			.saturating_add(D::get().reads_writes(4_u64, 3_u64))
	}
	fn fund() -> Weight {
		Weight::from_parts(60_000_000, 12_000)
			.saturating_add(D::get().reads_writes(4_u64, 3_u64))
	}
	/// `n` is 1 to 64.
	fn pay(n: u32, ) -> Weight {
		Weight::from_parts(50_000_000, 10_000)
			.saturating_add(Weight::from_parts(70_000_000, 7_000).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(3_u64, 2_u64))
			.saturating_add(D::get().reads_writes(2_u64, 2_u64).saturating_mul(n.into()))
	}
	fn leave() -> Weight {
		Weight::from_parts(180_000_000, 18_000)
			.saturating_add(D::get().reads_writes(8_u64, 17_u64))
	}
	fn claim() -> Weight {
		Weight::from_parts(200_000_000, 40_000)
			.saturating_add(D::get().reads_writes(23_u64, 7_u64))
	}
	/// `n` is 1 to 16,384.
	fn say(n: u32, ) -> Weight {
		Weight::from_parts(5_500_000_000, 40_000)
			.saturating_add(Weight::from_parts(1_200_000, 32).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(18_u64, 12_u64))
	}
	fn challenge() -> Weight {
		Weight::from_parts(500_000_000, 60_000)
			.saturating_add(D::get().reads_writes(24_u64, 8_u64))
	}
	fn testify() -> Weight {
		Weight::from_parts(200_000_000, 50_000)
			.saturating_add(D::get().reads_writes(24_u64, 22_u64))
	}
	fn refute_piece() -> Weight {
		Weight::from_parts(10_600_000_000, 600_000)
			.saturating_add(D::get().reads_writes(14_u64, 14_u64))
	}
	fn refute_mean() -> Weight {
		Weight::from_parts(6_500_000_000, 120_000)
			.saturating_add(D::get().reads_writes(13_u64, 14_u64))
	}
	fn close() -> Weight {
		Weight::from_parts(40_000_000, 10_000)
			.saturating_add(D::get().reads_writes(2_u64, 5_u64))
	}
	fn contribute() -> Weight {
		Weight::from_parts(900_000_000, 360_000)
			.saturating_add(D::get().reads_writes(69_u64, 69_u64))
	}
	fn vouch() -> Weight {
		Weight::from_parts(90_000_000, 24_000)
			.saturating_add(D::get().reads_writes(2_u64, 1_u64))
	}
	fn collect() -> Weight {
		Weight::from_parts(110_000_000, 20_000)
			.saturating_add(D::get().reads_writes(5_u64, 5_u64))
	}
	fn look() -> Weight {
		Weight::from_parts(60_000_000, 20_000)
			.saturating_add(D::get().reads_writes(4_u64, 5_u64))
	}
	fn count() -> Weight {
		Weight::from_parts(1_500_000_000, 300_000)
			.saturating_add(D::get().reads_writes(180_u64, 120_u64))
	}
	fn doubt() -> Weight {
		Weight::from_parts(1_800_000_000, 200_000)
			.saturating_add(D::get().reads_writes(72_u64, 72_u64))
	}
	fn draw() -> Weight {
		Weight::from_parts(4_000_000_000, 500_000)
			.saturating_add(D::get().reads_writes(480_u64, 320_u64))
	}
	fn show() -> Weight {
		Weight::from_parts(3_500_000_000, 500_000)
			.saturating_add(D::get().reads_writes(160_u64, 160_u64))
	}
	/// `n` is 0 to 4.
	fn settle(n: u32, ) -> Weight {
		Weight::from_parts(700_000_000, 100_000)
			.saturating_add(Weight::from_parts(400_000_000, 60_000).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(24_u64, 24_u64))
			.saturating_add(D::get().reads_writes(18_u64, 22_u64).saturating_mul(n.into()))
	}
	fn end() -> Weight {
		Weight::from_parts(2_500_000_000, 300_000)
			.saturating_add(D::get().reads_writes(215_u64, 215_u64))
	}
	/// `n` is 0 to 8.
	fn forget(n: u32, ) -> Weight {
		Weight::from_parts(120_000_000, 20_000)
			.saturating_add(Weight::from_parts(150_000_000, 15_000).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(6_u64, 7_u64))
			.saturating_add(D::get().reads_writes(6_u64, 15_u64).saturating_mul(n.into()))
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
	fn add_slices(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::add_slices(n)
	}
	fn join() -> Weight {
		Measured::<RocksDbWeight>::join()
	}
	fn update() -> Weight {
		Measured::<RocksDbWeight>::update()
	}
	fn announce() -> Weight {
		Measured::<RocksDbWeight>::announce()
	}
	fn fund() -> Weight {
		Measured::<RocksDbWeight>::fund()
	}
	fn pay(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::pay(n)
	}
	fn leave() -> Weight {
		Measured::<RocksDbWeight>::leave()
	}
	fn claim() -> Weight {
		Measured::<RocksDbWeight>::claim()
	}
	fn say(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::say(n)
	}
	fn challenge() -> Weight {
		Measured::<RocksDbWeight>::challenge()
	}
	fn testify() -> Weight {
		Measured::<RocksDbWeight>::testify()
	}
	fn refute_piece() -> Weight {
		Measured::<RocksDbWeight>::refute_piece()
	}
	fn refute_mean() -> Weight {
		Measured::<RocksDbWeight>::refute_mean()
	}
	fn close() -> Weight {
		Measured::<RocksDbWeight>::close()
	}
	fn contribute() -> Weight {
		Measured::<RocksDbWeight>::contribute()
	}
	fn vouch() -> Weight {
		Measured::<RocksDbWeight>::vouch()
	}
	fn collect() -> Weight {
		Measured::<RocksDbWeight>::collect()
	}
	fn look() -> Weight {
		Measured::<RocksDbWeight>::look()
	}
	fn count() -> Weight {
		Measured::<RocksDbWeight>::count()
	}
	fn doubt() -> Weight {
		Measured::<RocksDbWeight>::doubt()
	}
	fn draw() -> Weight {
		Measured::<RocksDbWeight>::draw()
	}
	fn show() -> Weight {
		Measured::<RocksDbWeight>::show()
	}
	fn settle(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::settle(n)
	}
	fn end() -> Weight {
		Measured::<RocksDbWeight>::end()
	}
	fn forget(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::forget(n)
	}
	fn serve(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::serve(n)
	}
}
