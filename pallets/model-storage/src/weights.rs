//! Weights of `pallet_model_storage`, measured by `scripts/benchmark-weights` on 2026-11-21.
//!
//! frame-benchmarking-cli 64.0.0, 20 steps, 10 repeats, AMD EPYC.
//! Written by a program: change the benchmarks, not this file.
//! not yet measured: upload_chunk, direct_upload, ordinary, close_block

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_model_storage` needs.
pub trait WeightInfo {
	/// Weight of `register`.
	fn register() -> Weight;
	/// Weight of `upload_chunk`.
	fn upload_chunk() -> Weight;
	/// Weight of `extend`.
	fn extend() -> Weight;
	/// Weight of `remove`.
	fn remove(n: u32, ) -> Weight;
	/// Weight of `direct_upload`.
	fn direct_upload(b: u32, ) -> Weight;
	/// Weight of `ordinary`.
	fn ordinary() -> Weight;
	/// Weight of `close_block`.
	fn close_block() -> Weight;
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
	fn upload_chunk() -> Weight {
		// At least 31_978_000 ps.
		Weight::from_parts(33_170_000, 3602)
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
	/// Storage: `ModelStorage::Awaited` (r:1 w:0)
	/// Proof: `ModelStorage::Awaited` (`max_values`: None, `max_size`: Some(36), added: 2511, mode: `MaxEncodedLen`)
	/// `b` is 1 to 1048576.
	fn direct_upload(b: u32, ) -> Weight {
		Weight::from_parts(16_810_000, 3602)
			.saturating_add(Weight::from_parts(7_317, 0).saturating_mul(b.into()))
			.saturating_add(D::get().reads_writes(3_u64, 1_u64))
	}
	/// The only storage is in the block's own overlay.
	fn ordinary() -> Weight {
		Weight::from_parts(2_000_000, 0)
	}
	/// Storage: `ModelStorage::FullBlocks` (r:1 w:1)
	/// Proof: `ModelStorage::FullBlocks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	fn close_block() -> Weight {
		Weight::from_parts(4_000_000, 1489)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
}

// For tests.
impl WeightInfo for () {
	fn register() -> Weight {
		Measured::<RocksDbWeight>::register()
	}
	fn upload_chunk() -> Weight {
		Measured::<RocksDbWeight>::upload_chunk()
	}
	fn extend() -> Weight {
		Measured::<RocksDbWeight>::extend()
	}
	fn remove(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::remove(n, )
	}
	fn direct_upload(b: u32, ) -> Weight {
		Measured::<RocksDbWeight>::direct_upload(b, )
	}
	fn ordinary() -> Weight {
		Measured::<RocksDbWeight>::ordinary()
	}
	fn close_block() -> Weight {
		Measured::<RocksDbWeight>::close_block()
	}
}
