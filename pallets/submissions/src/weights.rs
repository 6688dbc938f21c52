//! Weights of the calls. First values, derived by hand from the storage each call touches
//! and with ample time; `frame-omni-bencher` replaces this file.

use core::marker::PhantomData;
use frame_support::{
	traits::Get,
	weights::{constants::RocksDbWeight, Weight},
};

/// Weights of the calls of this pallet.
pub trait WeightInfo {
	/// The last trainer of a full round commits.
	fn commit() -> Weight;
	/// The last trainer of a full round reveals.
	fn reveal() -> Weight;
}

/// Largest encoded round with its key: 8 entries of at most 386 bytes.
const ROUND: u64 = 3_200;

/// Weights with the runtime's database.
pub struct SubstrateWeight<T>(PhantomData<T>);

impl<T: frame_system::Config> WeightInfo for SubstrateWeight<T> {
	/// Round (r:1 w:1); the market's agenda (r:1 w:3).
	fn commit() -> Weight {
		Weight::from_parts(40_000_000, ROUND.saturating_add(6_000))
			.saturating_add(T::DbWeight::get().reads_writes(2, 4))
	}

	/// Round (r:1 w:1); genesis hash (r:1); the market's agenda (r:1 w:3).
	fn reveal() -> Weight {
		Weight::from_parts(60_000_000, ROUND.saturating_add(9_000))
			.saturating_add(T::DbWeight::get().reads_writes(3, 4))
	}
}

impl WeightInfo for () {
	fn commit() -> Weight {
		Weight::from_parts(40_000_000, ROUND.saturating_add(6_000))
			.saturating_add(RocksDbWeight::get().reads_writes(2, 4))
	}

	fn reveal() -> Weight {
		Weight::from_parts(60_000_000, ROUND.saturating_add(9_000))
			.saturating_add(RocksDbWeight::get().reads_writes(3, 4))
	}
}
