//! Weights of `pallet_finality`, as estimated from those of like calls; `scripts/benchmark-weights` has
//! not measured them yet.
//!
//! Written by a program: change the benchmarks, not this file.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_finality` needs.
pub trait WeightInfo {
	/// Weight of `note_final`.
	fn note_final() -> Weight;
	/// Weight of `declare_final`.
	fn declare_final() -> Weight;
}

/// What was measured, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was measured, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// Storage: `Finality::Noted` (r:1 w:1)
	/// Proof: `Finality::Noted` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Authorship::Author` (r:1 w:0)
	/// Proof: `Authorship::Author` (`max_values`: Some(1), `max_size`: Some(32), added: 527, mode: `MaxEncodedLen`)
	/// Storage: `Finality::Statements` (r:1 w:1)
	/// Proof: `Finality::Statements` (`max_values`: Some(1), `max_size`: Some(3602), added: 4097, mode: `MaxEncodedLen`)
	/// Storage: `Session::Validators` (r:1 w:0)
	/// Proof: `Session::Validators` (`max_values`: Some(1), `max_size`: None, mode: `Measured`)
	/// Storage: `Hashrate::CurrentWeights` (r:1 w:0)
	/// Proof: `Hashrate::CurrentWeights` (`max_values`: Some(1), `max_size`: Some(4002), added: 4497, mode: `MaxEncodedLen`)
	/// Storage: `Finality::Final` (r:1 w:1)
	/// Proof: `Finality::Final` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	fn note_final() -> Weight {
		Weight::from_parts(150_000_000, 5487)
			.saturating_add(D::get().reads_writes(6_u64, 3_u64))
	}

	/// Storage: `Finality::Final` (r:1 w:1)
	/// Proof: `Finality::Final` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Session::Validators` (r:1 w:0)
	/// Proof: `Session::Validators` (`max_values`: Some(1), `max_size`: None, mode: `Measured`)
	/// Storage: `Hashrate::CurrentWeights` (r:1 w:0)
	/// Proof: `Hashrate::CurrentWeights` (`max_values`: Some(1), `max_size`: Some(4002), added: 4497, mode: `MaxEncodedLen`)
	/// Storage: `Finality::Statements` (r:1 w:0)
	/// Proof: `Finality::Statements` (`max_values`: Some(1), `max_size`: Some(3602), added: 4097, mode: `MaxEncodedLen`)
	fn declare_final() -> Weight {
		Weight::from_parts(100_000_000, 5487)
			.saturating_add(D::get().reads_writes(4_u64, 1_u64))
	}
}

// For tests.
impl WeightInfo for () {
	fn note_final() -> Weight {
		Measured::<RocksDbWeight>::note_final()
	}

	fn declare_final() -> Weight {
		Measured::<RocksDbWeight>::declare_final()
	}
}
