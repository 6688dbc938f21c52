//! Weights of pallet-verification.
//!
//! First values, derived by hand from the work of each call and generous: 100 us of
//! bookkeeping, more where the pool (12 kB at 256 verifiers) is decoded and written or
//! findings (up to 9 kB a member) are hashed and compared, database access on top.
//! `frame-omni-bencher` replaces this file by measured ones.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens)]
#![allow(unused_imports)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, Weight}};

/// Weight functions of pallet-verification.
pub trait WeightInfo {
	/// `register` into an almost full pool.
	fn register() -> Weight;
	/// `deregister` from a full pool.
	fn deregister() -> Weight;
	/// `withdraw`.
	fn withdraw() -> Weight;
	/// `commit` as the last of the largest committee.
	fn commit() -> Weight;
	/// `reveal` of the longest findings as the last of the largest committee.
	fn reveal() -> Weight;
	/// `rescue` of the last result.
	fn rescue() -> Weight;
	/// `bond_extra` in a full pool.
	fn bond_extra() -> Weight;
	/// Closing a round of the largest committee, all of which is slashed and leaves.
	fn close_round() -> Weight;
	/// Drawing the largest committee from a pool of `p`.
	fn seat(p: u32, ) -> Weight;
}

/// Weights for a database with the runtime's access costs.
pub struct SubstrateWeight<T>(PhantomData<T>);
impl<T: frame_system::Config> WeightInfo for SubstrateWeight<T> {
	/// Storage: `Verification::LeavingVerifiers` (r:1 w:0), `Verification::Pool` (r:1 w:1),
	/// `Balances::Holds` (r:1 w:1), `System::Account` (r:1 w:1)
	fn register() -> Weight {
		Weight::from_parts(200_000_000, 20_000)
			.saturating_add(T::DbWeight::get().reads(4_u64))
			.saturating_add(T::DbWeight::get().writes(3_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1), `Verification::LeavingVerifiers` (r:0 w:1)
	fn deregister() -> Weight {
		Weight::from_parts(150_000_000, 20_000)
			.saturating_add(T::DbWeight::get().reads(1_u64))
			.saturating_add(T::DbWeight::get().writes(2_u64))
	}
	/// Storage: `Verification::LeavingVerifiers` (r:1 w:1), `Balances::Holds` (r:1 w:1),
	/// `System::Account` (r:1 w:1)
	fn withdraw() -> Weight {
		Weight::from_parts(100_000_000, 8_000)
			.saturating_add(T::DbWeight::get().reads(3_u64))
			.saturating_add(T::DbWeight::get().writes(3_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1), what the observer touches (r:4 w:4)
	fn commit() -> Weight {
		Weight::from_parts(150_000_000, 20_000)
			.saturating_add(T::DbWeight::get().reads(5_u64))
			.saturating_add(T::DbWeight::get().writes(5_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1), `System::BlockHash` (r:1 w:0),
	/// `Verification::Verdicts` (r:0 w:1), what the observer touches (r:4 w:4)
	fn reveal() -> Weight {
		Weight::from_parts(300_000_000, 40_000)
			.saturating_add(T::DbWeight::get().reads(6_u64))
			.saturating_add(T::DbWeight::get().writes(6_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1), `ModelStorage::Blobs` (r:1 w:0), what
	/// the observer touches (r:4 w:4)
	fn rescue() -> Weight {
		Weight::from_parts(150_000_000, 20_000)
			.saturating_add(T::DbWeight::get().reads(6_u64))
			.saturating_add(T::DbWeight::get().writes(5_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1), `Balances::Holds` (r:1 w:1),
	/// `System::Account` (r:1 w:1)
	fn bond_extra() -> Weight {
		Weight::from_parts(200_000_000, 20_000)
			.saturating_add(T::DbWeight::get().reads(3_u64))
			.saturating_add(T::DbWeight::get().writes(3_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1), `Verification::Pool` (r:1 w:1),
	/// `Verification::Verdicts` (r:16 w:16), `Verification::LeavingVerifiers` (r:0 w:16),
	/// `Balances::Holds` (r:16 w:16), `System::Account` (r:17 w:17)
	fn close_round() -> Weight {
		Weight::from_parts(10_000_000_000, 250_000)
			.saturating_add(T::DbWeight::get().reads(51_u64))
			.saturating_add(T::DbWeight::get().writes(67_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1), `Verification::Pool` (r:1 w:0), what
	/// the beacon reads (r:4 w:0)
	fn seat(p: u32, ) -> Weight {
		Weight::from_parts(300_000_000, 20_000)
			.saturating_add(Weight::from_parts(2_000_000, 0).saturating_mul(p.into()))
			.saturating_add(T::DbWeight::get().reads(6_u64))
			.saturating_add(T::DbWeight::get().writes(1_u64))
	}
}

// For tests.
impl WeightInfo for () {
	fn register() -> Weight {
		Weight::from_parts(200_000_000, 20_000)
			.saturating_add(RocksDbWeight::get().reads_writes(4_u64, 3_u64))
	}
	fn deregister() -> Weight {
		Weight::from_parts(150_000_000, 20_000)
			.saturating_add(RocksDbWeight::get().reads_writes(1_u64, 2_u64))
	}
	fn withdraw() -> Weight {
		Weight::from_parts(100_000_000, 8_000)
			.saturating_add(RocksDbWeight::get().reads_writes(3_u64, 3_u64))
	}
	fn commit() -> Weight {
		Weight::from_parts(150_000_000, 20_000)
			.saturating_add(RocksDbWeight::get().reads_writes(5_u64, 5_u64))
	}
	fn reveal() -> Weight {
		Weight::from_parts(300_000_000, 40_000)
			.saturating_add(RocksDbWeight::get().reads_writes(6_u64, 6_u64))
	}
	fn rescue() -> Weight {
		Weight::from_parts(150_000_000, 20_000)
			.saturating_add(RocksDbWeight::get().reads_writes(6_u64, 5_u64))
	}
	fn bond_extra() -> Weight {
		Weight::from_parts(200_000_000, 20_000)
			.saturating_add(RocksDbWeight::get().reads_writes(3_u64, 3_u64))
	}
	fn close_round() -> Weight {
		Weight::from_parts(10_000_000_000, 250_000)
			.saturating_add(RocksDbWeight::get().reads_writes(51_u64, 67_u64))
	}
	fn seat(p: u32, ) -> Weight {
		Weight::from_parts(300_000_000, 20_000)
			.saturating_add(Weight::from_parts(2_000_000, 0).saturating_mul(p.into()))
			.saturating_add(RocksDbWeight::get().reads_writes(6_u64, 1_u64))
	}
}
