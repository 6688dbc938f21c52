//! Weights of `pallet_model_storage`, measured by `scripts/benchmark-weights` on 2026-11-21.
//!
//! frame-benchmarking-cli 64.0.0, 20 steps, 10 repeats, AMD EPYC.
//! Written by a program: change the benchmarks, not this file.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_model_storage` needs.
pub trait WeightInfo {
	/// Weight of `register`.
	fn register() -> Weight;
	/// Weight of `upload_chunk`.
	fn upload_chunk(b: u32, ) -> Weight;
	/// Weight of `extend`.
	fn extend() -> Weight;
	/// Weight of `remove`.
	fn remove(n: u32, ) -> Weight;
	/// Weight of `direct_upload`.
	fn direct_upload() -> Weight;
}

/// What was measured, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was measured, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// Storage: `ModelStorage::Blobs` (r:1 w:1)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(157), added: 2632, mode: `MaxEncodedLen`)
	fn register() -> Weight {
		// At least 55_753_000 ps.
		Weight::from_parts(58_968_000, 3622)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Storage: `ModelStorage::TopLevelUpload` (r:1 w:1)
	/// Proof: `ModelStorage::TopLevelUpload` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Blobs` (r:1 w:1)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::ChunkHashes` (r:1 w:1)
	/// Proof: `ModelStorage::ChunkHashes` (`max_values`: None, `max_size`: Some(76), added: 2551, mode: `MaxEncodedLen`)
	/// `b` was 1 to 1048576.
	fn upload_chunk(b: u32, ) -> Weight {
		// At least 31_978_000 ps.
		Weight::from_parts(33_170_000, 3602)
			// Standard error 9.
			.saturating_add(Weight::from_parts(7_317, 0).saturating_mul(b.into()))
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	/// Storage: `ModelStorage::Blobs` (r:1 w:1)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	fn extend() -> Weight {
		// At least 12_269_000 ps.
		Weight::from_parts(20_810_000, 3602)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Storage: `ModelStorage::Blobs` (r:1 w:1)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::ChunkHashes` (r:64 w:64)
	/// Proof: `ModelStorage::ChunkHashes` (`max_values`: None, `max_size`: Some(76), added: 2551, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(157), added: 2632, mode: `MaxEncodedLen`)
	/// `n` was 1 to 64.
	fn remove(n: u32, ) -> Weight {
		// At least 52_838_000 ps.
		Weight::from_parts(65_761_315, 3622)
			// Standard error 26_984.
			.saturating_add(Weight::from_parts(5_239_694, 0).saturating_mul(n.into()))
			.saturating_add(Weight::from_parts(0, 2551).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
			.saturating_add(D::get().reads((1_u64).saturating_mul(n.into())))
			.saturating_add(D::get().writes((1_u64).saturating_mul(n.into())))
	}
	/// Storage: `ModelStorage::Blobs` (r:1 w:0)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::ChunkHashes` (r:1 w:0)
	/// Proof: `ModelStorage::ChunkHashes` (`max_values`: None, `max_size`: Some(76), added: 2551, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::TopLevelUpload` (r:0 w:1)
	/// Proof: `ModelStorage::TopLevelUpload` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	fn direct_upload() -> Weight {
		// At least 8_472_000 ps.
		Weight::from_parts(13_810_000, 3602)
			.saturating_add(D::get().reads_writes(2_u64, 1_u64))
	}
}

// For tests.
impl WeightInfo for () {
	fn register() -> Weight {
		Measured::<RocksDbWeight>::register()
	}
	fn upload_chunk(b: u32, ) -> Weight {
		Measured::<RocksDbWeight>::upload_chunk(b, )
	}
	fn extend() -> Weight {
		Measured::<RocksDbWeight>::extend()
	}
	fn remove(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::remove(n, )
	}
	fn direct_upload() -> Weight {
		Measured::<RocksDbWeight>::direct_upload()
	}
}
