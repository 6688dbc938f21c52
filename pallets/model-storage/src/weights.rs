//! Weights of pallet-model-storage.
//!
//! First values, derived by hand from the work of each call and generous: 100 us of
//! bookkeeping, 2 ns a byte for decoding and hashing a chunk, database access on top.
//! `frame-omni-bencher` replaces this file by measured ones.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens)]
#![allow(unused_imports)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, Weight}};

/// Weight functions of pallet-model-storage.
pub trait WeightInfo {
	/// `register`.
	fn register() -> Weight;
	/// `upload_chunk` of `b` bytes that completes its blob.
	fn upload_chunk(b: u32, ) -> Weight;
	/// `extend`.
	fn extend() -> Weight;
	/// `remove` that drops `n` chunk records.
	fn remove(n: u32, ) -> Weight;
	/// `DirectUpload` around an `upload_chunk`.
	fn direct_upload() -> Weight;
}

/// Weights for a database with the runtime's access costs.
pub struct SubstrateWeight<T>(PhantomData<T>);
impl<T: frame_system::Config> WeightInfo for SubstrateWeight<T> {
	/// Storage: `ModelStorage::Blobs` (r:1 w:1), `Balances::Holds` (r:1 w:1),
	/// `System::Account` (r:1 w:1)
	fn register() -> Weight {
		Weight::from_parts(100_000_000, 8_000)
			.saturating_add(T::DbWeight::get().reads(3_u64))
			.saturating_add(T::DbWeight::get().writes(3_u64))
	}
	/// Storage: `ModelStorage::TopLevelUpload` (r:1 w:1), `ModelStorage::Blobs` (r:1 w:1),
	/// `ModelStorage::ChunkHashes` (r:1 w:1)
	fn upload_chunk(b: u32, ) -> Weight {
		Weight::from_parts(100_000_000, 8_000)
			.saturating_add(Weight::from_parts(2_000, 0).saturating_mul(b.into()))
			.saturating_add(T::DbWeight::get().reads(3_u64))
			.saturating_add(T::DbWeight::get().writes(3_u64))
	}
	/// Storage: `ModelStorage::Blobs` (r:1 w:1)
	fn extend() -> Weight {
		Weight::from_parts(50_000_000, 4_000)
			.saturating_add(T::DbWeight::get().reads(1_u64))
			.saturating_add(T::DbWeight::get().writes(1_u64))
	}
	/// Storage: `ModelStorage::Blobs` (r:1 w:1), `ModelStorage::ChunkHashes` (r:n w:n),
	/// `Balances::Holds` (r:1 w:1), `System::Account` (r:1 w:1)
	fn remove(n: u32, ) -> Weight {
		Weight::from_parts(100_000_000, 8_000)
			.saturating_add(Weight::from_parts(5_000_000, 2_600).saturating_mul(n.into()))
			.saturating_add(T::DbWeight::get().reads(3_u64))
			.saturating_add(T::DbWeight::get().reads((1_u64).saturating_mul(n.into())))
			.saturating_add(T::DbWeight::get().writes(3_u64))
			.saturating_add(T::DbWeight::get().writes((1_u64).saturating_mul(n.into())))
	}
	/// Storage: `ModelStorage::Blobs` (r:1 w:0), `ModelStorage::ChunkHashes` (r:1 w:0),
	/// `ModelStorage::TopLevelUpload` (r:0 w:1)
	fn direct_upload() -> Weight {
		Weight::from_parts(30_000_000, 8_000)
			.saturating_add(T::DbWeight::get().reads(2_u64))
			.saturating_add(T::DbWeight::get().writes(1_u64))
	}
}

// For tests.
impl WeightInfo for () {
	fn register() -> Weight {
		Weight::from_parts(100_000_000, 8_000)
			.saturating_add(RocksDbWeight::get().reads_writes(3_u64, 3_u64))
	}
	fn upload_chunk(b: u32, ) -> Weight {
		Weight::from_parts(100_000_000, 8_000)
			.saturating_add(Weight::from_parts(2_000, 0).saturating_mul(b.into()))
			.saturating_add(RocksDbWeight::get().reads_writes(3_u64, 3_u64))
	}
	fn extend() -> Weight {
		Weight::from_parts(50_000_000, 4_000)
			.saturating_add(RocksDbWeight::get().reads_writes(1_u64, 1_u64))
	}
	fn remove(n: u32, ) -> Weight {
		Weight::from_parts(100_000_000, 8_000)
			.saturating_add(Weight::from_parts(5_000_000, 2_600).saturating_mul(n.into()))
			.saturating_add(RocksDbWeight::get().reads_writes(3_u64, 3_u64))
			.saturating_add(RocksDbWeight::get().reads_writes(1_u64, 1_u64).saturating_mul(n.into()))
	}
	fn direct_upload() -> Weight {
		Weight::from_parts(30_000_000, 8_000)
			.saturating_add(RocksDbWeight::get().reads_writes(2_u64, 1_u64))
	}
}
