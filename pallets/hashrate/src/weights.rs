//! Weights of this pallet's calls and hooks.
//!
//! These first values are derived by hand, not measured: storage accesses are counted from
//! the code (each at the runtime's database weight), computation is a generous guess for a
//! machine like the reference one, and proof sizes are the maximal encoded lengths of what
//! is read, rounded up. To be regenerated with `frame-omni-bencher`, against the runtime's
//! bounds.

use core::marker::PhantomData;
use frame_support::{
	traits::Get,
	weights::{constants::RocksDbWeight, Weight},
};

/// Weights of this pallet.
pub trait WeightInfo {
	/// [`register`](crate::Pallet::register).
	fn register() -> Weight;
	/// [`bond_extra`](crate::Pallet::bond_extra).
	fn bond_extra() -> Weight;
	/// [`update_hardware`](crate::Pallet::update_hardware).
	fn update_hardware() -> Weight;
	/// [`set_candidate`](crate::Pallet::set_candidate), on a full list.
	fn set_candidate() -> Weight;
	/// [`deregister`](crate::Pallet::deregister).
	fn deregister() -> Weight;
	/// [`withdraw`](crate::Pallet::withdraw).
	fn withdraw() -> Weight;
	/// [`purge_keys`](crate::Pallet::purge_keys).
	fn purge_keys() -> Weight;
	/// Recording an output for the beacon.
	fn on_initialize() -> Weight;
	/// Paying the author and noting its presence.
	fn note_author() -> Weight;
	/// The change of session with `c` candidates and as many authorities as fit. Session
	/// charges a whole block for it; this shows how much of that is used.
	fn change_session(c: u32) -> Weight;
}

/// Values for a runtime with up to 256 candidates and 100 authorities.
pub struct SubstrateWeight<T>(PhantomData<T>);

impl<T: frame_system::Config> WeightInfo for SubstrateWeight<T> {
	/// Reads and writes `Trainers`, `Holds`, `Account`.
	fn register() -> Weight {
		Weight::from_parts(80_000_000, 7_000).saturating_add(T::DbWeight::get().reads_writes(3, 3))
	}

	/// Reads and writes `Trainers`, `Holds`, `Account`.
	fn bond_extra() -> Weight {
		Weight::from_parts(80_000_000, 7_000).saturating_add(T::DbWeight::get().reads_writes(3, 3))
	}

	/// Reads and writes `Trainers`.
	fn update_hardware() -> Weight {
		Weight::from_parts(30_000_000, 4_000).saturating_add(T::DbWeight::get().reads_writes(1, 1))
	}

	/// Reads `Trainers`, `NextKeys`, `Candidates`, `Now`, and 257 of `Power`; writes
	/// `Candidates` and `Absence`. About 1.5 us for each decay.
	fn set_candidate() -> Weight {
		Weight::from_parts(450_000_000, 700_000)
			.saturating_add(T::DbWeight::get().reads_writes(261, 2))
	}

	/// Reads and writes `Trainers`, `Candidates`.
	fn deregister() -> Weight {
		Weight::from_parts(60_000_000, 12_000).saturating_add(T::DbWeight::get().reads_writes(2, 2))
	}

	/// Reads and writes `Trainers`, `Holds`, `Account`; writes `Power`, `Absence`.
	fn withdraw() -> Weight {
		Weight::from_parts(90_000_000, 7_000).saturating_add(T::DbWeight::get().reads_writes(3, 5))
	}

	/// Reads `Candidates`, `CurrentWeights`, `NextWeights`, `Validators`; reads and writes
	/// `NextKeys`, `ExternallySetKeys`, `Holds`, `Account`; writes two of `KeyOwner`.
	fn purge_keys() -> Weight {
		Weight::from_parts(100_000_000, 30_000)
			.saturating_add(T::DbWeight::get().reads_writes(8, 6))
	}

	/// Reads `AuthorVrfRandomness`, `LatestVrf`, `ParentHash`; writes `Outputs`,
	/// `LatestVrf`.
	fn on_initialize() -> Weight {
		Weight::from_parts(15_000_000, 2_000).saturating_add(T::DbWeight::get().reads_writes(3, 2))
	}

	/// Reads and writes two of `Account`, `TotalIssuance`, `SessionBlocks`, `Authored`;
	/// reads `Validators`; writes `Absence`.
	fn note_author() -> Weight {
		Weight::from_parts(90_000_000, 14_000).saturating_add(T::DbWeight::get().reads_writes(6, 6))
	}

	/// Reads `SessionBlocks`, `Authored`, `CurrentWeights`, `NextWeights`, `Candidates`,
	/// `MinPower`, `Now`, and for each candidate `NextKeys`, `Power`, `Absence`; writes
	/// `SessionBlocks`, `Authored`, `CurrentWeights`, `NextWeights`, and for each candidate
	/// `Absence`.
	fn change_session(c: u32) -> Weight {
		Weight::from_parts(60_000_000, 30_000)
			.saturating_add(Weight::from_parts(4_000_000, 8_000).saturating_mul(c.into()))
			.saturating_add(T::DbWeight::get().reads_writes(7, 4))
			.saturating_add(T::DbWeight::get().reads_writes(3, 1).saturating_mul(c.into()))
	}
}

/// The same values at RocksDB's speed, for mock runtimes.
impl WeightInfo for () {
	fn register() -> Weight {
		Weight::from_parts(80_000_000, 7_000)
			.saturating_add(RocksDbWeight::get().reads_writes(3, 3))
	}
	fn bond_extra() -> Weight {
		Weight::from_parts(80_000_000, 7_000)
			.saturating_add(RocksDbWeight::get().reads_writes(3, 3))
	}
	fn update_hardware() -> Weight {
		Weight::from_parts(30_000_000, 4_000)
			.saturating_add(RocksDbWeight::get().reads_writes(1, 1))
	}
	fn set_candidate() -> Weight {
		Weight::from_parts(450_000_000, 700_000)
			.saturating_add(RocksDbWeight::get().reads_writes(261, 2))
	}
	fn deregister() -> Weight {
		Weight::from_parts(60_000_000, 12_000)
			.saturating_add(RocksDbWeight::get().reads_writes(2, 2))
	}
	fn withdraw() -> Weight {
		Weight::from_parts(90_000_000, 7_000)
			.saturating_add(RocksDbWeight::get().reads_writes(3, 5))
	}
	fn purge_keys() -> Weight {
		Weight::from_parts(100_000_000, 30_000)
			.saturating_add(RocksDbWeight::get().reads_writes(8, 6))
	}
	fn on_initialize() -> Weight {
		Weight::from_parts(15_000_000, 2_000)
			.saturating_add(RocksDbWeight::get().reads_writes(3, 2))
	}
	fn note_author() -> Weight {
		Weight::from_parts(90_000_000, 14_000)
			.saturating_add(RocksDbWeight::get().reads_writes(6, 6))
	}
	fn change_session(c: u32) -> Weight {
		Weight::from_parts(60_000_000, 30_000)
			.saturating_add(Weight::from_parts(4_000_000, 8_000).saturating_mul(c.into()))
			.saturating_add(RocksDbWeight::get().reads_writes(7, 4))
			.saturating_add(RocksDbWeight::get().reads_writes(3, 1).saturating_mul(c.into()))
	}
}
