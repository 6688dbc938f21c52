//! Weights of `pallet_model_storage`, measured by `scripts/benchmark-weights` on 2026-11-23.
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
	/// Weight of `renew`.
	fn renew() -> Weight;
	/// Weight of `remove`.
	fn remove(n: u32, ) -> Weight;
	/// Weight of `direct_upload`.
	fn direct_upload(b: u32, ) -> Weight;
	/// Weight of `ordinary`.
	fn ordinary() -> Weight;
	/// Weight of `close_block`.
	fn close_block() -> Weight;
	/// Weight of `adopt`.
	fn adopt() -> Weight;
	/// Weight of `prove`.
	fn prove() -> Weight;
	/// Weight of `draw`.
	fn draw() -> Weight;
	/// Weight of `reuse_chunk`.
	fn reuse_chunk() -> Weight;
	/// Weight of `register_version`.
	fn register_version() -> Weight;
}

/// What was measured, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was measured, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// Storage: `ModelStorage::Blobs` (r:1 w:1)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	fn register() -> Weight {
		// At least 38_568_000 ps. The two entries of the agenda are estimated.
		Weight::from_parts(47_503_000, 3712)
			.saturating_add(D::get().reads_writes(3_u64, 4_u64))
	}
	/// Storage: `ModelStorage::TopLevelUpload` (r:1 w:1)
	/// Proof: `ModelStorage::TopLevelUpload` (`max_values`: Some(1), `max_size`: Some(36), added: 531, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Blobs` (r:1 w:1)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::ChunkHashes` (r:1 w:1)
	/// Proof: `ModelStorage::ChunkHashes` (`max_values`: None, `max_size`: Some(76), added: 2551, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Brought` (r:1 w:1)
	/// Proof: `ModelStorage::Brought` (`max_values`: None, `max_size`: Some(88), added: 2563, mode: `MaxEncodedLen`)
	/// `b` was 1 to 1048576.
	fn upload_chunk(b: u32, ) -> Weight {
		// At least 18_758_000 ps.
		Weight::from_parts(24_003_082, 3602)
			// Standard error 1.
			.saturating_add(Weight::from_parts(212, 0).saturating_mul(b.into()))
			// The list of chunks, its count, and those that are doubted or lost, are estimated.
			.saturating_add(Weight::from_parts(20_000_000, 5120))
			.saturating_add(D::get().reads_writes(7_u64, 8_u64))
	}
	/// Estimated, of what `register` takes.
	fn renew() -> Weight {
		Weight::from_parts(41_503_000, 3712)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Storage: `ModelStorage::Blobs` (r:1 w:1)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Awaited` (r:1 w:0)
	/// Proof: `ModelStorage::Awaited` (`max_values`: None, `max_size`: Some(36), added: 2511, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::ChunkHashes` (r:64 w:64)
	/// Proof: `ModelStorage::ChunkHashes` (`max_values`: None, `max_size`: Some(76), added: 2551, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// `n` was 1 to 64.
	fn remove(n: u32, ) -> Weight {
		// At least 36_846_000 ps.
		Weight::from_parts(35_556_396, 3712)
			// Standard error 990.
			.saturating_add(Weight::from_parts(9_500_000, 0).saturating_mul(n.into()))
			.saturating_add(Weight::from_parts(0, 7653).saturating_mul(n.into()))
			// What is burned, the agenda, and the list of chunks, from which each one is taken, are
			// estimated.
			.saturating_add(Weight::from_parts(60_000_000, 8697))
			.saturating_add(D::get().reads_writes(8_u64, 8_u64))
			.saturating_add(D::get().reads((3_u64).saturating_mul(n.into())))
			.saturating_add(D::get().writes((4_u64).saturating_mul(n.into())))
	}
	/// Storage: `ModelStorage::Blobs` (r:1 w:0)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::ChunkHashes` (r:1 w:0)
	/// Proof: `ModelStorage::ChunkHashes` (`max_values`: None, `max_size`: Some(76), added: 2551, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Awaited` (r:1 w:0)
	/// Proof: `ModelStorage::Awaited` (`max_values`: None, `max_size`: Some(36), added: 2511, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::TopLevelUpload` (r:0 w:1)
	/// Proof: `ModelStorage::TopLevelUpload` (`max_values`: Some(1), `max_size`: Some(36), added: 531, mode: `MaxEncodedLen`)
	/// `b` was 1 to 1048576.
	fn direct_upload(b: u32, ) -> Weight {
		// At least 12_019_000 ps.
		Weight::from_parts(21_331_455, 3602)
			// Standard error 1.
			.saturating_add(Weight::from_parts(3_875, 0).saturating_mul(b.into()))
			.saturating_add(D::get().reads_writes(3_u64, 1_u64))
	}
	fn ordinary() -> Weight {
		// At least 801_000 ps.
		Weight::from_parts(922_000, 0)
			.saturating_add(D::get().reads_writes(0_u64, 0_u64))
	}
	/// Storage: `ModelStorage::MovesFull` (r:1 w:1)
	/// Proof: `ModelStorage::MovesFull` (`max_values`: Some(1), `max_size`: Some(1), added: 496, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::FullBlocks` (r:1 w:1)
	/// Proof: `ModelStorage::FullBlocks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	fn close_block() -> Weight {
		// At least 2_353_000 ps.
		Weight::from_parts(2_624_000, 1489)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Estimated, of what `register` and `remove` take: what is held is burned and released, and a hold.
	fn adopt() -> Weight {
		Weight::from_parts(120_000_000, 3712)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
	/// Estimated: two openings of 1 KiB, each of 16 compressions and 10 for its path, and a list of 128
	/// doubted chunks that is read and written.
	fn prove() -> Weight {
		Weight::from_parts(90_000_000, 8697)
			.saturating_add(D::get().reads_writes(8_u64, 5_u64))
	}
	/// Estimated: eight draws, a chunk that is doubted and one that is lost, with lists of 128 doubted
	/// chunks.
	fn draw() -> Weight {
		Weight::from_parts(80_000_000, 8697)
			.saturating_add(D::get().reads_writes(18_u64, 11_u64))
	}
	/// Estimated, of what `upload_chunk` takes without its bytes, and 12 compressions for the path: the
	/// records of both blobs and both chunks, and the list of chunks with its count.
	fn reuse_chunk() -> Weight {
		Weight::from_parts(60_000_000, 8722)
			.saturating_add(D::get().reads_writes(5_u64, 4_u64))
	}
	/// Estimated, of what `register` takes, and the record of the parent.
	fn register_version() -> Weight {
		Self::register()
			.saturating_add(Weight::from_parts(15_000_000, 5220))
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
	fn renew() -> Weight {
		Measured::<RocksDbWeight>::renew()
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
	fn adopt() -> Weight {
		Measured::<RocksDbWeight>::adopt()
	}
	fn prove() -> Weight {
		Measured::<RocksDbWeight>::prove()
	}
	fn draw() -> Weight {
		Measured::<RocksDbWeight>::draw()
	}
	fn reuse_chunk() -> Weight {
		Measured::<RocksDbWeight>::reuse_chunk()
	}
	fn register_version() -> Weight {
		Measured::<RocksDbWeight>::register_version()
	}
}
