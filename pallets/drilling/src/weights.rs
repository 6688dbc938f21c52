//! Weights of `pallet_drilling`: NOT MEASURED YET. The figures are estimates, by the accesses of
//! each part and the measured figures of the neighbouring pallets; `scripts/benchmark-weights`
//! replaces this file.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_drilling` needs.
pub trait WeightInfo {
	/// Weight of `propose`.
	fn propose() -> Weight;
	/// Weight of `vote`.
	fn vote() -> Weight;
	/// Weight of `enlist`.
	fn enlist() -> Weight;
	/// Weight of `retire`.
	fn retire() -> Weight;
	/// Weight of `commit`.
	fn commit() -> Weight;
	/// Weight of `reveal`.
	fn reveal() -> Weight;
	/// Weight of `check`.
	fn check() -> Weight;
	/// Weight of `check_reveal`.
	fn check_reveal() -> Weight;
	/// Weight of `withdraw_project`.
	fn withdraw_project() -> Weight;
	/// Weight of `clear`.
	fn clear() -> Weight;
	/// Weight of `serve`.
	fn serve(n: u32, ) -> Weight;
	/// Weight of `look_at_unit`.
	fn look_at_unit() -> Weight;
	/// Weight of `look_at_batch`.
	fn look_at_batch() -> Weight;
	/// Weight of `end_review`.
	fn end_review() -> Weight;
	/// Weight of `open_reveals`.
	fn open_reveals() -> Weight;
	/// Weight of `judge`.
	fn judge() -> Weight;
	/// Weight of `settle`.
	fn settle() -> Weight;
	/// Weight of `open_check`.
	fn open_check() -> Weight;
	/// Weight of `judge_check`.
	fn judge_check() -> Weight;
	/// Weight of `close_batch`.
	fn close_batch(g: u32, ) -> Weight;
	/// Weight of `deal`.
	fn deal(g: u32, ) -> Weight;
}

/// What was estimated, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was estimated, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	fn propose() -> Weight {
		Weight::from_parts(400_000_000, 2675)
			.saturating_add(D::get().reads_writes(4_u64, 7_u64))
	}
	fn vote() -> Weight {
		Weight::from_parts(45_000_000, 3593)
			.saturating_add(D::get().reads_writes(3_u64, 2_u64))
	}
	fn enlist() -> Weight {
		Weight::from_parts(90_000_000, 18043)
			.saturating_add(D::get().reads_writes(5_u64, 3_u64))
	}
	fn retire() -> Weight {
		Weight::from_parts(60_000_000, 18043)
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	fn commit() -> Weight {
		Weight::from_parts(45_000_000, 4500)
			.saturating_add(D::get().reads_writes(2_u64, 4_u64))
	}
	fn reveal() -> Weight {
		Weight::from_parts(70_000_000, 7000)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
	fn check() -> Weight {
		Weight::from_parts(45_000_000, 4500)
			.saturating_add(D::get().reads_writes(2_u64, 4_u64))
	}
	fn check_reveal() -> Weight {
		Weight::from_parts(70_000_000, 7000)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
	fn withdraw_project() -> Weight {
		Weight::from_parts(90_000_000, 4000)
			.saturating_add(D::get().reads_writes(8_u64, 8_u64))
	}
	fn clear() -> Weight {
		Weight::from_parts(700_000_000, 170000)
			.saturating_add(D::get().reads_writes(71_u64, 72_u64))
	}
	fn serve(n: u32, ) -> Weight {
		Weight::from_parts(9_000_000, 3500)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
			.saturating_add(Weight::from_parts(11_000_000, 0).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(1_u64, 2_u64).saturating_mul(n.into()))
	}
	fn look_at_unit() -> Weight {
		Weight::from_parts(30_000_000, 4500)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	fn look_at_batch() -> Weight {
		Weight::from_parts(12_000_000, 1800)
			.saturating_add(D::get().reads_writes(3_u64, 0_u64))
	}
	fn end_review() -> Weight {
		Weight::from_parts(120_000_000, 4000)
			.saturating_add(D::get().reads_writes(8_u64, 9_u64))
	}
	fn open_reveals() -> Weight {
		Weight::from_parts(45_000_000, 4500)
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	fn judge() -> Weight {
		Weight::from_parts(700_000_000, 30000)
			.saturating_add(D::get().reads_writes(36_u64, 36_u64))
	}
	fn settle() -> Weight {
		Weight::from_parts(450_000_000, 30000)
			.saturating_add(D::get().reads_writes(20_u64, 20_u64))
	}
	fn open_check() -> Weight {
		Weight::from_parts(460_000_000, 50000)
			.saturating_add(D::get().reads_writes(6_u64, 4_u64))
	}
	fn judge_check() -> Weight {
		Weight::from_parts(1_700_000_000, 80000)
			.saturating_add(D::get().reads_writes(70_u64, 70_u64))
	}
	fn close_batch(g: u32, ) -> Weight {
		Weight::from_parts(250_000_000, 200000)
			.saturating_add(D::get().reads_writes(70_u64, 4_u64))
			.saturating_add(Weight::from_parts(25_000_000, 0).saturating_mul(g.into()))
			.saturating_add(D::get().reads_writes(2_u64, 3_u64).saturating_mul(g.into()))
	}
	fn deal(g: u32, ) -> Weight {
		Weight::from_parts(2_600_000_000, 1400000)
			.saturating_add(D::get().reads_writes(515_u64, 6_u64))
			.saturating_add(Weight::from_parts(320_000_000, 0).saturating_mul(g.into()))
			.saturating_add(D::get().reads_writes(16_u64, 14_u64).saturating_mul(g.into()))
	}
}

// For tests.
impl WeightInfo for () {
	fn propose() -> Weight {
		Measured::<RocksDbWeight>::propose()
	}
	fn vote() -> Weight {
		Measured::<RocksDbWeight>::vote()
	}
	fn enlist() -> Weight {
		Measured::<RocksDbWeight>::enlist()
	}
	fn retire() -> Weight {
		Measured::<RocksDbWeight>::retire()
	}
	fn commit() -> Weight {
		Measured::<RocksDbWeight>::commit()
	}
	fn reveal() -> Weight {
		Measured::<RocksDbWeight>::reveal()
	}
	fn check() -> Weight {
		Measured::<RocksDbWeight>::check()
	}
	fn check_reveal() -> Weight {
		Measured::<RocksDbWeight>::check_reveal()
	}
	fn withdraw_project() -> Weight {
		Measured::<RocksDbWeight>::withdraw_project()
	}
	fn clear() -> Weight {
		Measured::<RocksDbWeight>::clear()
	}
	fn serve(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::serve(n, )
	}
	fn look_at_unit() -> Weight {
		Measured::<RocksDbWeight>::look_at_unit()
	}
	fn look_at_batch() -> Weight {
		Measured::<RocksDbWeight>::look_at_batch()
	}
	fn end_review() -> Weight {
		Measured::<RocksDbWeight>::end_review()
	}
	fn open_reveals() -> Weight {
		Measured::<RocksDbWeight>::open_reveals()
	}
	fn judge() -> Weight {
		Measured::<RocksDbWeight>::judge()
	}
	fn settle() -> Weight {
		Measured::<RocksDbWeight>::settle()
	}
	fn open_check() -> Weight {
		Measured::<RocksDbWeight>::open_check()
	}
	fn judge_check() -> Weight {
		Measured::<RocksDbWeight>::judge_check()
	}
	fn close_batch(g: u32, ) -> Weight {
		Measured::<RocksDbWeight>::close_batch(g, )
	}
	fn deal(g: u32, ) -> Weight {
		Measured::<RocksDbWeight>::deal(g, )
	}
}
