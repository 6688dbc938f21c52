//! Weights of `pallet_verification`, measured by `scripts/benchmark-weights` on 2026-11-21.
//!
//! frame-benchmarking-cli 64.0.0, 20 steps, 10 repeats, AMD EPYC.
//! Written by a program: change the benchmarks, not this file.
//! not yet measured: rescue

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_verification` needs.
pub trait WeightInfo {
	/// Weight of `register`.
	fn register() -> Weight;
	/// Weight of `deregister`.
	fn deregister() -> Weight;
	/// Weight of `withdraw`.
	fn withdraw() -> Weight;
	/// Weight of `commit`.
	fn commit() -> Weight;
	/// Weight of `reveal`.
	fn reveal() -> Weight;
	/// Weight of `rescue`.
	fn rescue() -> Weight;
	/// Weight of `bond_extra`.
	fn bond_extra() -> Weight;
	/// Weight of `close_round`.
	fn close_round() -> Weight;
	/// Weight of `seat`.
	fn seat(p: u32, ) -> Weight;
}

/// What was measured, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was measured, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// Storage: `Verification::LeavingVerifiers` (r:1 w:1)
	/// Proof: `Verification::LeavingVerifiers` (`max_values`: None, `max_size`: Some(68), added: 2543, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(37378), added: 37873, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(157), added: 2632, mode: `MaxEncodedLen`)
	fn register() -> Weight {
		// At least 222_111_000 ps.
		Weight::from_parts(230_032_000, 38863)
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(37378), added: 37873, mode: `MaxEncodedLen`)
	/// Storage: `Verification::LeavingVerifiers` (r:0 w:1)
	/// Proof: `Verification::LeavingVerifiers` (`max_values`: None, `max_size`: Some(68), added: 2543, mode: `MaxEncodedLen`)
	fn deregister() -> Weight {
		// At least 113_459_000 ps.
		Weight::from_parts(119_247_000, 38863)
			.saturating_add(D::get().reads_writes(1_u64, 2_u64))
	}
	/// Storage: `Verification::LeavingVerifiers` (r:1 w:1)
	/// Proof: `Verification::LeavingVerifiers` (`max_values`: None, `max_size`: Some(68), added: 2543, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(157), added: 2632, mode: `MaxEncodedLen`)
	fn withdraw() -> Weight {
		// At least 47_261_000 ps.
		Weight::from_parts(49_143_000, 3622)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(6313), added: 8788, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn commit() -> Weight {
		// At least 33_880_000 ps.
		Weight::from_parts(36_725_000, 9778)
			.saturating_add(D::get().reads_writes(2_u64, 4_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(6313), added: 8788, mode: `MaxEncodedLen`)
	/// Storage: `System::BlockHash` (r:1 w:0)
	/// Proof: `System::BlockHash` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Verdicts` (r:0 w:1)
	/// Proof: `Verification::Verdicts` (`max_values`: None, `max_size`: Some(8781), added: 11256, mode: `MaxEncodedLen`)
	fn reveal() -> Weight {
		// At least 180_238_000 ps.
		Weight::from_parts(186_427_000, 9778)
			.saturating_add(D::get().reads_writes(3_u64, 5_u64))
	}
	/// Storage: `ModelStorage::Blobs` (r:1 w:0)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(6313), added: 8788, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Announced` (r:1 w:1)
	/// Storage: `ModelStorage::Awaited` (r:2 w:2)
	fn rescue() -> Weight {
		// At least 34_892_000 ps.
		Weight::from_parts(47_536_000, 9778)
			.saturating_add(D::get().reads_writes(6_u64, 7_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(37378), added: 37873, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(157), added: 2632, mode: `MaxEncodedLen`)
	fn bond_extra() -> Weight {
		// At least 113_058_000 ps.
		Weight::from_parts(118_706_000, 38863)
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(6313), added: 8788, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Verdicts` (r:16 w:0)
	/// Proof: `Verification::Verdicts` (`max_values`: None, `max_size`: Some(8781), added: 11256, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(37378), added: 37873, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:16 w:16)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(157), added: 2632, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:17 w:17)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Verification::LeavingVerifiers` (r:0 w:16)
	/// Proof: `Verification::LeavingVerifiers` (`max_values`: None, `max_size`: Some(68), added: 2543, mode: `MaxEncodedLen`)
	fn close_round() -> Weight {
		// At least 3_343_494_000 ps.
		Weight::from_parts(3_467_529_000, 181086)
			.saturating_add(D::get().reads_writes(51_u64, 51_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(6313), added: 8788, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:0)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(37378), added: 37873, mode: `MaxEncodedLen`)
	/// `p` was 1 to 512.
	fn seat(p: u32, ) -> Weight {
		// At least 228_360_000 ps.
		Weight::from_parts(259_791_206, 38863)
			// Standard error 1_183.
			.saturating_add(Weight::from_parts(308_428, 0).saturating_mul(p.into()))
			.saturating_add(D::get().reads_writes(2_u64, 1_u64))
	}
}

// For tests.
impl WeightInfo for () {
	fn register() -> Weight {
		Measured::<RocksDbWeight>::register()
	}
	fn deregister() -> Weight {
		Measured::<RocksDbWeight>::deregister()
	}
	fn withdraw() -> Weight {
		Measured::<RocksDbWeight>::withdraw()
	}
	fn commit() -> Weight {
		Measured::<RocksDbWeight>::commit()
	}
	fn reveal() -> Weight {
		Measured::<RocksDbWeight>::reveal()
	}
	fn rescue() -> Weight {
		Measured::<RocksDbWeight>::rescue()
	}
	fn bond_extra() -> Weight {
		Measured::<RocksDbWeight>::bond_extra()
	}
	fn close_round() -> Weight {
		Measured::<RocksDbWeight>::close_round()
	}
	fn seat(p: u32, ) -> Weight {
		Measured::<RocksDbWeight>::seat(p, )
	}
}
