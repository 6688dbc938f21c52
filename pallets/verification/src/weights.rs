//! Weights of `pallet_verification`, measured by `scripts/benchmark-weights` on 2026-11-21.
//!
//! frame-benchmarking-cli 64.0.0, 20 steps, 10 repeats, AMD EPYC.
//! Written by a program: change the benchmarks, not this file.
//! not yet measured: rescue, request, withdraw_request, set_location, commit

// not yet measured: register, deregister, withdraw, bond_extra, set_capacity, resume, turn,
// close_round, seat. They are estimated: the pool's value is several times as large as it was.

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
	/// Weight of `request`.
	fn request() -> Weight;
	/// Weight of `withdraw_request`.
	fn withdraw_request() -> Weight;
	/// Weight of `set_location`.
	fn set_location() -> Weight;
	/// Weight of `bond_extra`.
	fn bond_extra() -> Weight;
	/// Weight of `set_capacity`.
	fn set_capacity() -> Weight;
	/// Weight of `resume`.
	fn resume() -> Weight;
	/// Weight of `turn`.
	fn turn() -> Weight;
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
	/// Estimated.
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	/// Storage: `Balances::Holds` (r:2 w:2)
	/// Storage: `System::Account` (r:2 w:2)
	fn register() -> Weight {
		Weight::from_parts(1_100_000_000, 157000)
			.saturating_add(D::get().reads_writes(6_u64, 6_u64))
	}
	/// Estimated.
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Storage: `System::Account` (r:1 w:1)
	fn deregister() -> Weight {
		Weight::from_parts(900_000_000, 157000)
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	/// Estimated.
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Storage: `System::Account` (r:1 w:1)
	fn withdraw() -> Weight {
		Weight::from_parts(900_000_000, 157000)
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(6313), added: 8788, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn commit() -> Weight {
		// With the claims that it withdraws, estimated.
		Weight::from_parts(636_725_000, 72000)
			.saturating_add(D::get().reads_writes(22_u64, 8_u64))
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
		// 33 leaves of ten hashes each are checked, and the record is larger than it was.
		Weight::from_parts(900_000_000, 16000)
			.saturating_add(D::get().reads_writes(8_u64, 9_u64))
	}
	/// Estimated.
	/// Storage: `Verification::Pool` (r:1 w:0)
	/// Storage: `Verification::Locations` (r:0 w:1)
	fn set_location() -> Weight {
		Weight::from_parts(700_000_000, 157000)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Estimated.
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Storage: `Verification::Claims` (r:1 w:1)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Storage: `System::Account` (r:1 w:1)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	fn request() -> Weight {
		Weight::from_parts(200_000_000, 16000)
			.saturating_add(D::get().reads_writes(5_u64, 7_u64))
	}
	/// Estimated.
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Storage: `Verification::Claims` (r:17 w:1)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Storage: `System::Account` (r:2 w:2)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	fn withdraw_request() -> Weight {
		Weight::from_parts(600_000_000, 72000)
			.saturating_add(D::get().reads_writes(22_u64, 8_u64))
	}
	/// Estimated.
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Storage: `System::Account` (r:1 w:1)
	fn bond_extra() -> Weight {
		Weight::from_parts(900_000_000, 157000)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
	/// Estimated.
	/// Storage: `Verification::Pool` (r:1 w:1)
	fn set_capacity() -> Weight {
		Weight::from_parts(800_000_000, 157000)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Estimated.
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	fn resume() -> Weight {
		Weight::from_parts(900_000_000, 157000)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Estimated.
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	fn turn() -> Weight {
		Weight::from_parts(5_000_000_000, 157000)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Estimated.
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Storage: `Verification::Verdicts` (r:16 w:0)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Storage: `Balances::Holds` (r:16 w:16)
	/// Storage: `System::Account` (r:17 w:17)
	fn close_round() -> Weight {
		Weight::from_parts(5_000_000_000, 336000)
			.saturating_add(D::get().reads_writes(51_u64, 35_u64))
	}
	/// Estimated.
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// `p` is 1 to 512.
	fn seat(p: u32, ) -> Weight {
		Weight::from_parts(700_000_000, 157000)
			.saturating_add(Weight::from_parts(2_400_000, 0).saturating_mul(p.into()))
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
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
	fn set_location() -> Weight {
		Measured::<RocksDbWeight>::set_location()
	}
	fn request() -> Weight {
		Measured::<RocksDbWeight>::request()
	}
	fn withdraw_request() -> Weight {
		Measured::<RocksDbWeight>::withdraw_request()
	}
	fn bond_extra() -> Weight {
		Measured::<RocksDbWeight>::bond_extra()
	}
	fn set_capacity() -> Weight {
		Measured::<RocksDbWeight>::set_capacity()
	}
	fn resume() -> Weight {
		Measured::<RocksDbWeight>::resume()
	}
	fn turn() -> Weight {
		Measured::<RocksDbWeight>::turn()
	}
	fn close_round() -> Weight {
		Measured::<RocksDbWeight>::close_round()
	}
	fn seat(p: u32, ) -> Weight {
		Measured::<RocksDbWeight>::seat(p, )
	}
}
