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
}

// For tests.
impl WeightInfo for () {
	fn note() -> Weight {
		Measured::<RocksDbWeight>::note()
	}

	fn forget() -> Weight {
		Measured::<RocksDbWeight>::forget()
	}
}
