//! Weights of `pallet_reputation`, as estimated from those of like calls; `scripts/benchmark-weights` has
//! not measured them yet.
//!
//! Written by a program: change the benchmarks, not this file.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_reputation` needs.
pub trait WeightInfo {
	/// Weight of `note`.
	fn note() -> Weight;
	/// Weight of `forget`.
	fn forget() -> Weight;
	/// Weight of `watch`.
	fn watch() -> Weight;
	/// Weight of removing `n` accounts of a watch that is over.
	fn clear(n: u32) -> Weight;
}

/// What was measured, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was measured, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// Storage: `Reputation::Records` (r:1 w:1)
	/// Proof: `Reputation::Records` (`max_values`: None, `max_size`: Some(141), added: 2616, mode: `MaxEncodedLen`)
	fn note() -> Weight {
		Weight::from_parts(20_000_000, 3606)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}

	/// Storage: `Reputation::Records` (r:1 w:1)
	/// Proof: `Reputation::Records` (`max_values`: None, `max_size`: Some(141), added: 2616, mode: `MaxEncodedLen`)
	fn forget() -> Weight {
		Weight::from_parts(25_000_000, 3606)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}

	/// Storage: `Reputation::Watching` (r:1 w:1)
	/// Proof: `Reputation::Watching` (`max_values`: None, `max_size`: Some(60), added: 2535, mode: `MaxEncodedLen`)
	/// Storage: `Reputation::Alive` (r:1 w:1)
	/// Proof: `Reputation::Alive` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	fn watch() -> Weight {
		Weight::from_parts(25_000_000, 3525)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}

	/// Storage: `Reputation::Oldest` (r:1 w:1)
	/// Proof: `Reputation::Oldest` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Reputation::Watching` (r:8 w:8)
	/// Proof: `Reputation::Watching` (`max_values`: None, `max_size`: Some(60), added: 2535, mode: `MaxEncodedLen`)
	/// Storage: `Reputation::Alive` (r:0 w:1)
	/// Proof: `Reputation::Alive` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	fn clear(n: u32) -> Weight {
		Weight::from_parts(6_000_000, 1489)
			.saturating_add(Weight::from_parts(4_000_000, 2535).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
			.saturating_add(D::get().reads_writes(1_u64, 1_u64).saturating_mul(n.into()))
	}
}

// For tests.
impl WeightInfo for () {
	fn note() -> Weight {
		Measured::<RocksDbWeight>::note()
	}

	fn forget() -> Weight {
		Measured::<RocksDbWeight>::forget()
	}

	fn watch() -> Weight {
		Measured::<RocksDbWeight>::watch()
	}

	fn clear(n: u32) -> Weight {
		Measured::<RocksDbWeight>::clear(n)
	}
}
