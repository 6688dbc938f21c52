//! Weights of `pallet_court`: NOT MEASURED YET. The figures are estimates, by the accesses of each
//! part and the measured figures of the neighbouring pallets; `scripts/benchmark-weights` replaces
//! this file.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_court` needs.
pub trait WeightInfo {
	/// Weight of `commit`.
	fn commit() -> Weight;
	/// Weight of `challenge`.
	fn challenge() -> Weight;
	/// Weight of `raise`.
	fn raise() -> Weight;
	/// Weight of `withdraw`.
	fn withdraw() -> Weight;
	/// Weight of `post`.
	fn post() -> Weight;
	/// Weight of `open`.
	fn open() -> Weight;
	/// Weight of `contents`.
	fn contents(n: u32, ) -> Weight;
	/// Weight of `deny`.
	fn deny() -> Weight;
	/// Weight of `show`.
	fn show() -> Weight;
	/// Weight of `lower`.
	fn lower(l: u32, ) -> Weight;
	/// Weight of `judge`.
	fn judge() -> Weight;
	/// Weight of `openings`.
	fn openings(b: u32, ) -> Weight;
	/// Weight of `terms`.
	fn terms(t: u32, ) -> Weight;
	/// Weight of `rows`.
	fn rows(r: u32, ) -> Weight;
	/// Weight of `serve`.
	fn serve(n: u32, ) -> Weight;
	/// Weight of `expire`.
	fn expire() -> Weight;
	/// Weight of `lapse`.
	fn lapse() -> Weight;
	/// Weight of `close`.
	fn close() -> Weight;
	/// Weight of `acquit`.
	fn acquit() -> Weight;
	/// Weight of `forget`.
	fn forget() -> Weight;
	/// Weight of `close_block`.
	fn close_block() -> Weight;
}

/// What was estimated, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was estimated, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	fn commit() -> Weight {
		Weight::from_parts(130_000_000, 4000)
			.saturating_add(D::get().reads_writes(5_u64, 8_u64))
	}
	fn challenge() -> Weight {
		Weight::from_parts(300_000_000, 12000)
			.saturating_add(D::get().reads_writes(14_u64, 16_u64))
	}
	fn raise() -> Weight {
		Weight::from_parts(160_000_000, 8000)
			.saturating_add(D::get().reads_writes(9_u64, 9_u64))
	}
	fn withdraw() -> Weight {
		Weight::from_parts(300_000_000, 12000)
			.saturating_add(D::get().reads_writes(14_u64, 16_u64))
	}
	fn post() -> Weight {
		Weight::from_parts(230_000_000, 10000)
			.saturating_add(D::get().reads_writes(10_u64, 12_u64))
	}
	fn open() -> Weight {
		Weight::from_parts(260_000_000, 12000)
			.saturating_add(D::get().reads_writes(11_u64, 14_u64))
	}
	/// `n` was 1 to 1538.
	fn contents(n: u32, ) -> Weight {
		Weight::from_parts(10_000_000, 0)
			.saturating_add(Weight::from_parts(4_000_000, 0).saturating_mul(n.into()))
	}
	fn deny() -> Weight {
		Weight::from_parts(180_000_000, 10000)
			.saturating_add(D::get().reads_writes(11_u64, 10_u64))
	}
	fn show() -> Weight {
		Weight::from_parts(180_000_000, 10000)
			.saturating_add(D::get().reads_writes(11_u64, 10_u64))
	}
	/// `l` was 1 to 24.
	fn lower(l: u32, ) -> Weight {
		Weight::from_parts(100_000_000, 0)
			.saturating_add(Weight::from_parts(600_000_000, 0).saturating_mul(l.into()))
	}
	fn judge() -> Weight {
		Weight::from_parts(500_000_000, 80000)
			.saturating_add(D::get().reads_writes(80_u64, 20_u64))
	}
	/// `b` was 1 to 240.
	fn openings(b: u32, ) -> Weight {
		Weight::from_parts(10_000_000, 0)
			.saturating_add(Weight::from_parts(12_000_000, 0).saturating_mul(b.into()))
	}
	/// `t` was 1 to 32768.
	fn terms(t: u32, ) -> Weight {
		Weight::from_parts(10_000_000, 0)
			.saturating_add(Weight::from_parts(2_000_000, 0).saturating_mul(t.into()))
	}
	/// `r` was 1 to 220.
	fn rows(r: u32, ) -> Weight {
		Weight::from_parts(10_000_000, 0)
			.saturating_add(Weight::from_parts(12_000_000, 0).saturating_mul(r.into()))
	}
	/// `n` was 0 to 64.
	fn serve(n: u32, ) -> Weight {
		Weight::from_parts(12_000_000, 1500)
			.saturating_add(Weight::from_parts(12_000_000, 2500).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(2_u64, 1_u64))
			.saturating_add(D::get().reads_writes((1_u64).saturating_mul(n.into()), (1_u64).saturating_mul(n.into())))
	}
	fn expire() -> Weight {
		Weight::from_parts(300_000_000, 12000)
			.saturating_add(D::get().reads_writes(14_u64, 16_u64))
	}
	fn lapse() -> Weight {
		Weight::from_parts(120_000_000, 6000)
			.saturating_add(D::get().reads_writes(6_u64, 7_u64))
	}
	fn close() -> Weight {
		Weight::from_parts(900_000_000, 40000)
			.saturating_add(D::get().reads_writes(50_u64, 60_u64))
	}
	fn acquit() -> Weight {
		Weight::from_parts(1_000_000_000, 60000)
			.saturating_add(D::get().reads_writes(60_u64, 52_u64))
	}
	fn forget() -> Weight {
		Weight::from_parts(500_000_000, 200000)
			.saturating_add(D::get().reads_writes(70_u64, 70_u64))
	}
	fn close_block() -> Weight {
		Weight::from_parts(5_000_000, 1489)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
}

// For tests.
impl WeightInfo for () {
	fn commit() -> Weight {
		Measured::<RocksDbWeight>::commit()
	}
	fn challenge() -> Weight {
		Measured::<RocksDbWeight>::challenge()
	}
	fn raise() -> Weight {
		Measured::<RocksDbWeight>::raise()
	}
	fn withdraw() -> Weight {
		Measured::<RocksDbWeight>::withdraw()
	}
	fn post() -> Weight {
		Measured::<RocksDbWeight>::post()
	}
	fn open() -> Weight {
		Measured::<RocksDbWeight>::open()
	}
	fn contents(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::contents(n, )
	}
	fn deny() -> Weight {
		Measured::<RocksDbWeight>::deny()
	}
	fn show() -> Weight {
		Measured::<RocksDbWeight>::show()
	}
	fn lower(l: u32, ) -> Weight {
		Measured::<RocksDbWeight>::lower(l, )
	}
	fn judge() -> Weight {
		Measured::<RocksDbWeight>::judge()
	}
	fn openings(b: u32, ) -> Weight {
		Measured::<RocksDbWeight>::openings(b, )
	}
	fn terms(t: u32, ) -> Weight {
		Measured::<RocksDbWeight>::terms(t, )
	}
	fn rows(r: u32, ) -> Weight {
		Measured::<RocksDbWeight>::rows(r, )
	}
	fn serve(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::serve(n, )
	}
	fn expire() -> Weight {
		Measured::<RocksDbWeight>::expire()
	}
	fn lapse() -> Weight {
		Measured::<RocksDbWeight>::lapse()
	}
	fn close() -> Weight {
		Measured::<RocksDbWeight>::close()
	}
	fn acquit() -> Weight {
		Measured::<RocksDbWeight>::acquit()
	}
	fn forget() -> Weight {
		Measured::<RocksDbWeight>::forget()
	}
	fn close_block() -> Weight {
		Measured::<RocksDbWeight>::close_block()
	}
}
