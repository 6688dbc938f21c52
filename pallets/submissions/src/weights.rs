//! Weights of `pallet_submissions`, measured by `scripts/benchmark-weights` on 2026-11-23.
//!
//! frame-benchmarking-cli 64.0.0, 50 steps, 20 repeats, Intel(R) Xeon(R) Processor.
//! Written by a program: change the benchmarks, not this file.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_submissions` needs.
pub trait WeightInfo {
	/// Weight of `commit`.
	fn commit() -> Weight;
	/// Weight of `reveal`.
	fn reveal() -> Weight;
}

/// What was measured, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was measured, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// Storage: `Submissions::Rounds` (r:1 w:1)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3166), added: 5641, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn commit() -> Weight {
		// At least 41_208_000 ps.
		Weight::from_parts(69_015_000, 6631)
			.saturating_add(D::get().reads_writes(2_u64, 4_u64))
	}
	/// Storage: `Submissions::Rounds` (r:1 w:1)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3166), added: 5641, mode: `MaxEncodedLen`)
	/// Storage: `System::BlockHash` (r:1 w:0)
	/// Proof: `System::BlockHash` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Awaited` (r:1 w:1)
	/// Proof: `ModelStorage::Awaited` (`max_values`: None, `max_size`: Some(36), added: 2511, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn reveal() -> Weight {
		// At least 70_552_000 ps.
		Weight::from_parts(104_182_000, 6631)
			.saturating_add(D::get().reads_writes(4_u64, 5_u64))
	}
}

// For tests.
impl WeightInfo for () {
	fn commit() -> Weight {
		Measured::<RocksDbWeight>::commit()
	}
	fn reveal() -> Weight {
		Measured::<RocksDbWeight>::reveal()
	}
}
