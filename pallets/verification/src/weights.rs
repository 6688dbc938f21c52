//! Weights of `pallet_verification`, measured by `scripts/benchmark-weights` on 2026-11-24.
//!
//! frame-benchmarking-cli 64.0.0, 20 steps, 10 repeats, AMD EPYC.
//! Written by a program: change the benchmarks, not this file.

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
	/// Weight of `set_capacity`.
	fn set_capacity() -> Weight;
	/// Weight of `set_vrf_key`.
	fn set_vrf_key() -> Weight;
	/// Weight of `resume`.
	fn resume() -> Weight;
	/// Weight of `turn`.
	fn turn() -> Weight;
	/// Weight of `commit`.
	fn commit() -> Weight;
	/// Weight of `reveal`.
	fn reveal() -> Weight;
	/// Weight of `accuse`.
	fn accuse() -> Weight;
	/// Weight of `open_forced`.
	fn open_forced() -> Weight;
	/// Weight of `close_opening`.
	fn close_opening() -> Weight;
	/// Weight of `convict`.
	fn convict() -> Weight;
	/// Weight of `rescue`.
	fn rescue(n: u32, ) -> Weight;
	/// Weight of `rescue_leaves`.
	fn rescue_leaves() -> Weight;
	/// Weight of `set_location`.
	fn set_location() -> Weight;
	/// Weight of `request`.
	fn request() -> Weight;
	/// Weight of `withdraw_request`.
	fn withdraw_request() -> Weight;
	/// Weight of `bond_extra`.
	fn bond_extra() -> Weight;
	/// Weight of `request_relay`.
	fn request_relay() -> Weight;
	/// Weight of `say`.
	fn say() -> Weight;
	/// Weight of `show_chunk`.
	fn show_chunk() -> Weight;
	/// Weight of `ask_seats`.
	fn ask_seats() -> Weight;
	/// Weight of `appeal`.
	fn appeal() -> Weight;
	/// Weight of `relay_step`.
	fn relay_step() -> Weight;
	/// Weight of `close_round`.
	fn close_round() -> Weight;
	/// Weight of `charge_unasked`.
	fn charge_unasked() -> Weight;
	/// Weight of `close_standing`.
	fn close_standing() -> Weight;
	/// Weight of `seat`.
	fn seat(p: u32, ) -> Weight;
}

/// What was measured, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was measured, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:2 w:2)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	/// Proof: `Verification::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Locations` (r:0 w:1)
	/// Proof: `Verification::Locations` (`max_values`: None, `max_size`: Some(306), added: 2781, mode: `MaxEncodedLen`)
	fn register() -> Weight {
		// At least 603_386_000 ps.
		Weight::from_parts(649_415_000, 222671)
			.saturating_add(D::get().reads_writes(5_u64, 6_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Locations` (r:0 w:1)
	/// Proof: `Verification::Locations` (`max_values`: None, `max_size`: Some(306), added: 2781, mode: `MaxEncodedLen`)
	fn deregister() -> Weight {
		// At least 554_032_000 ps.
		Weight::from_parts(590_627_000, 222671)
			.saturating_add(D::get().reads_writes(3_u64, 4_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Locations` (r:0 w:1)
	/// Proof: `Verification::Locations` (`max_values`: None, `max_size`: Some(306), added: 2781, mode: `MaxEncodedLen`)
	fn withdraw() -> Weight {
		// At least 555_205_000 ps.
		Weight::from_parts(591_769_000, 222671)
			.saturating_add(D::get().reads_writes(3_u64, 4_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	fn set_capacity() -> Weight {
		// At least 507_422_000 ps.
		Weight::from_parts(543_257_000, 222671)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	/// Proof: `Verification::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	fn set_vrf_key() -> Weight {
		// At least 516_636_000 ps.
		Weight::from_parts(539_050_000, 222671)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	/// Proof: `Verification::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	fn resume() -> Weight {
		// At least 509_786_000 ps.
		Weight::from_parts(542_766_000, 222671)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Inflow` (r:0 w:1)
	/// Proof: `Verification::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	fn turn() -> Weight {
		// At least 1_211_210_000 ps.
		Weight::from_parts(1_273_473_000, 222671)
			.saturating_add(D::get().reads_writes(1_u64, 2_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:17 w:1)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(16069), added: 18544, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn commit() -> Weight {
		// At least 242_134_000 ps.
		Weight::from_parts(251_708_000, 316238)
			.saturating_add(D::get().reads_writes(21_u64, 7_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `System::BlockHash` (r:1 w:0)
	/// Proof: `System::BlockHash` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Parameters::Parameters` (r:2 w:0)
	/// Proof: `Parameters::Parameters` (`max_values`: None, `max_size`: Some(28), added: 2503, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:1 w:0)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(16069), added: 18544, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Verdicts` (r:0 w:1)
	/// Proof: `Verification::Verdicts` (`max_values`: None, `max_size`: Some(25077), added: 27552, mode: `MaxEncodedLen`)
	fn reveal() -> Weight {
		// At least 2_804_293_000 ps.
		Weight::from_parts(2_918_635_000, 68221)
			.saturating_add(D::get().reads_writes(6_u64, 5_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Verdicts` (r:1 w:0)
	/// Proof: `Verification::Verdicts` (`max_values`: None, `max_size`: Some(25077), added: 27552, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Accusations` (r:1 w:1)
	/// Proof: `Verification::Accusations` (`max_values`: None, `max_size`: Some(96), added: 2571, mode: `MaxEncodedLen`)
	fn accuse() -> Weight {
		// At least 600_902_000 ps.
		Weight::from_parts(640_613_000, 222671)
			.saturating_add(D::get().reads_writes(4_u64, 3_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Forced` (r:0 w:1)
	/// Proof: `Verification::Forced` (`max_values`: None, `max_size`: Some(1149), added: 3624, mode: `MaxEncodedLen`)
	fn open_forced() -> Weight {
		// At least 298_339_000 ps.
		Weight::from_parts(313_461_000, 68221)
			.saturating_add(D::get().reads_writes(2_u64, 5_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Uploading` (r:1 w:1)
	/// Proof: `Verification::Uploading` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::FullBlocks` (r:1 w:0)
	/// Proof: `ModelStorage::FullBlocks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Forced` (r:8 w:0)
	/// Proof: `Verification::Forced` (`max_values`: None, `max_size`: Some(1149), added: 3624, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Verdicts` (r:16 w:0)
	/// Proof: `Verification::Verdicts` (`max_values`: None, `max_size`: Some(25077), added: 27552, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Accusations` (r:16 w:16)
	/// Proof: `Verification::Accusations` (`max_values`: None, `max_size`: Some(96), added: 2571, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Forfeited` (r:16 w:16)
	/// Proof: `Verification::Forfeited` (`max_values`: None, `max_size`: Some(741), added: 3216, mode: `MaxEncodedLen`)
	/// Storage: `Court::WonOfSeats` (r:8 w:8)
	/// Proof: `Court::WonOfSeats` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:24 w:24)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:25 w:25)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Court::Won` (r:8 w:8)
	/// Proof: `Court::Won` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	fn close_opening() -> Weight {
		// At least 14_026_142_000 ps.
		Weight::from_parts(14_097_188_000, 441822)
			.saturating_add(D::get().reads_writes(126_u64, 100_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Accusations` (r:1 w:1)
	/// Proof: `Verification::Accusations` (`max_values`: None, `max_size`: Some(96), added: 2571, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Forfeited` (r:1 w:1)
	/// Proof: `Verification::Forfeited` (`max_values`: None, `max_size`: Some(741), added: 3216, mode: `MaxEncodedLen`)
	/// Storage: `Court::WonOfSeats` (r:8 w:8)
	/// Proof: `Court::WonOfSeats` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:9 w:9)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:12 w:12)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Court::Won` (r:8 w:8)
	/// Proof: `Court::Won` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	fn convict() -> Weight {
		// At least 1_115_366_000 ps.
		Weight::from_parts(1_130_829_000, 222671)
			.saturating_add(D::get().reads_writes(41_u64, 41_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Blobs` (r:136 w:68)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Kept` (r:1 w:1)
	/// Proof: `Verification::Kept` (`max_values`: None, `max_size`: Some(9752), added: 12227, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Brought` (r:136 w:136)
	/// Proof: `ModelStorage::Brought` (`max_values`: None, `max_size`: Some(88), added: 2563, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Awaited` (r:136 w:136)
	/// Proof: `ModelStorage::Awaited` (`max_values`: None, `max_size`: Some(36), added: 2511, mode: `MaxEncodedLen`)
	/// Storage: `Verification::NamedStates` (r:1 w:1)
	/// Proof: `Verification::NamedStates` (`max_values`: None, `max_size`: Some(210772), added: 213247, mode: `MaxEncodedLen`)
	/// `n` was 1 to 68.
	fn rescue(n: u32, ) -> Weight {
		// At least 68_493_000 ps.
		Weight::from_parts(69_324_000, 214237)
			// Standard error 1_671_990.
			.saturating_add(Weight::from_parts(104_031_104, 0).saturating_mul(n.into()))
			.saturating_add(Weight::from_parts(0, 5224).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
			.saturating_add(D::get().reads((6_u64).saturating_mul(n.into())))
			.saturating_add(D::get().writes((5_u64).saturating_mul(n.into())))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Verification::ShownLeaves` (r:1 w:1)
	/// Proof: `Verification::ShownLeaves` (`max_values`: None, `max_size`: Some(5308642), added: 5311117, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Kept` (r:1 w:1)
	/// Proof: `Verification::Kept` (`max_values`: None, `max_size`: Some(9752), added: 12227, mode: `MaxEncodedLen`)
	fn rescue_leaves() -> Weight {
		// At least 2_902_390_000 ps.
		Weight::from_parts(2_954_709_000, 5312107)
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:0)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Locations` (r:0 w:1)
	/// Proof: `Verification::Locations` (`max_values`: None, `max_size`: Some(306), added: 2781, mode: `MaxEncodedLen`)
	fn set_location() -> Weight {
		// At least 353_161_000 ps.
		Weight::from_parts(364_308_000, 222671)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:1 w:0)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:34 w:33)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(16069), added: 18544, mode: `MaxEncodedLen`)
	/// Storage: `Parameters::Parameters` (r:1 w:0)
	/// Proof: `Parameters::Parameters` (`max_values`: None, `max_size`: Some(28), added: 2503, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:33 w:33)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:33 w:33)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn request() -> Weight {
		// At least 2_764_873_000 ps.
		Weight::from_parts(2_943_081_000, 631486)
			.saturating_add(D::get().reads_writes(104_u64, 103_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:33 w:1)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(16069), added: 18544, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:2 w:2)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	fn withdraw_request() -> Weight {
		// At least 343_546_000 ps.
		Weight::from_parts(362_354_000, 612942)
			.saturating_add(D::get().reads_writes(37_u64, 5_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	/// Proof: `Verification::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	fn bond_extra() -> Weight {
		// At least 550_267_000 ps.
		Weight::from_parts(578_029_000, 222671)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:1 w:0)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `Parameters::Parameters` (r:2 w:0)
	/// Proof: `Parameters::Parameters` (`max_values`: None, `max_size`: Some(28), added: 2503, mode: `MaxEncodedLen`)
	/// Storage: `Verification::OpenRelays` (r:1 w:1)
	/// Proof: `Verification::OpenRelays` (`max_values`: None, `max_size`: Some(45), added: 2520, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Relays` (r:7 w:1)
	/// Proof: `Verification::Relays` (`max_values`: None, `max_size`: Some(6757), added: 9232, mode: `MaxEncodedLen`)
	/// Storage: `Verification::NextRelay` (r:1 w:1)
	/// Proof: `Verification::NextRelay` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::HeldRelays` (r:1 w:0)
	/// Proof: `Verification::HeldRelays` (`max_values`: None, `max_size`: Some(28), added: 2503, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::FirstPatience` (r:1 w:0)
	/// Proof: `TaskMarket::FirstPatience` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::FullBlocks` (r:1 w:0)
	/// Proof: `ModelStorage::FullBlocks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::RelayDue` (r:1 w:1)
	/// Proof: `Verification::RelayDue` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `Verification::RelayAgenda` (r:0 w:1)
	/// Proof: `Verification::RelayAgenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn request_relay() -> Weight {
		// At least 177_246_000 ps.
		Weight::from_parts(182_665_000, 68221)
			.saturating_add(D::get().reads_writes(20_u64, 8_u64))
	}
	/// Storage: `Verification::Relays` (r:1 w:1)
	/// Proof: `Verification::Relays` (`max_values`: None, `max_size`: Some(6757), added: 9232, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::FullBlocks` (r:1 w:0)
	/// Proof: `ModelStorage::FullBlocks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::RelayDue` (r:1 w:0)
	/// Proof: `Verification::RelayDue` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	fn say() -> Weight {
		// At least 38_919_000 ps.
		Weight::from_parts(44_407_000, 10222)
			.saturating_add(D::get().reads_writes(3_u64, 1_u64))
	}
	/// Storage: `Verification::Relays` (r:1 w:1)
	/// Proof: `Verification::Relays` (`max_values`: None, `max_size`: Some(6757), added: 9232, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::FullBlocks` (r:1 w:0)
	/// Proof: `ModelStorage::FullBlocks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::AuditRecords` (r:1 w:0)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:2 w:2)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	fn show_chunk() -> Weight {
		// At least 110_266_000 ps.
		Weight::from_parts(117_977_000, 68221)
			.saturating_add(D::get().reads_writes(6_u64, 4_u64))
	}
	/// Storage: `Verification::Relays` (r:1 w:1)
	/// Proof: `Verification::Relays` (`max_values`: None, `max_size`: Some(6757), added: 9232, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::FullBlocks` (r:1 w:0)
	/// Proof: `ModelStorage::FullBlocks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Verification::RelayDue` (r:1 w:0)
	/// Proof: `Verification::RelayDue` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	fn ask_seats() -> Weight {
		// At least 85_920_000 ps.
		Weight::from_parts(90_817_000, 10222)
			.saturating_add(D::get().reads_writes(5_u64, 3_u64))
	}
	/// Storage: `Verification::Relays` (r:1 w:1)
	/// Proof: `Verification::Relays` (`max_values`: None, `max_size`: Some(6757), added: 9232, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::FullBlocks` (r:1 w:0)
	/// Proof: `ModelStorage::FullBlocks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:62 w:62)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:62 w:62)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Verification::RelayDue` (r:1 w:1)
	/// Proof: `Verification::RelayDue` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `Verification::RelayAgenda` (r:0 w:2)
	/// Proof: `Verification::RelayAgenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn appeal() -> Weight {
		// At least 1_889_538_000 ps.
		Weight::from_parts(1_938_092_000, 169754)
			.saturating_add(D::get().reads_writes(128_u64, 128_u64))
	}
	/// Storage: `Verification::Relays` (r:1 w:1)
	/// Proof: `Verification::Relays` (`max_values`: None, `max_size`: Some(6757), added: 9232, mode: `MaxEncodedLen`)
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::FullBlocks` (r:1 w:0)
	/// Proof: `ModelStorage::FullBlocks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:156 w:156)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:124 w:124)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Verification::RelayDue` (r:1 w:1)
	/// Proof: `Verification::RelayDue` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `Verification::OpenRelays` (r:1 w:1)
	/// Proof: `Verification::OpenRelays` (`max_values`: None, `max_size`: Some(45), added: 2520, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:0)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `Verification::RelayAgenda` (r:0 w:1)
	/// Proof: `Verification::RelayAgenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn relay_step() -> Weight {
		// At least 5_920_534_000 ps.
		Weight::from_parts(6_216_148_000, 407058)
			.saturating_add(D::get().reads_writes(287_u64, 286_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Verdicts` (r:16 w:16)
	/// Proof: `Verification::Verdicts` (`max_values`: None, `max_size`: Some(25077), added: 27552, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:17 w:16)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(16069), added: 18544, mode: `MaxEncodedLen`)
	/// Storage: `Parameters::Parameters` (r:1 w:0)
	/// Proof: `Parameters::Parameters` (`max_values`: None, `max_size`: Some(28), added: 2503, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:16 w:16)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:17 w:17)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Kept` (r:1 w:0)
	/// Proof: `Verification::Kept` (`max_values`: None, `max_size`: Some(9752), added: 12227, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Forfeited` (r:0 w:16)
	/// Proof: `Verification::Forfeited` (`max_values`: None, `max_size`: Some(741), added: 3216, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Uploading` (r:0 w:1)
	/// Proof: `Verification::Uploading` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn close_round() -> Weight {
		// At least 2_098_052_000 ps.
		Weight::from_parts(2_227_978_000, 441822)
			.saturating_add(D::get().reads_writes(71_u64, 84_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Parameters::Parameters` (r:1 w:0)
	/// Proof: `Parameters::Parameters` (`max_values`: None, `max_size`: Some(28), added: 2503, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Verdicts` (r:16 w:0)
	/// Proof: `Verification::Verdicts` (`max_values`: None, `max_size`: Some(25077), added: 27552, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:16 w:16)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:17 w:17)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	fn charge_unasked() -> Weight {
		// At least 1_230_909_000 ps.
		Weight::from_parts(1_255_426_000, 441822)
			.saturating_add(D::get().reads_writes(52_u64, 35_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Verdicts` (r:16 w:16)
	/// Proof: `Verification::Verdicts` (`max_values`: None, `max_size`: Some(25077), added: 27552, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Forced` (r:8 w:0)
	/// Proof: `Verification::Forced` (`max_values`: None, `max_size`: Some(1149), added: 3624, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Accusations` (r:16 w:16)
	/// Proof: `Verification::Accusations` (`max_values`: None, `max_size`: Some(96), added: 2571, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Forfeited` (r:16 w:16)
	/// Proof: `Verification::Forfeited` (`max_values`: None, `max_size`: Some(741), added: 3216, mode: `MaxEncodedLen`)
	/// Storage: `Court::WonOfSeats` (r:8 w:8)
	/// Proof: `Court::WonOfSeats` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:24 w:24)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:25 w:25)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Court::Won` (r:8 w:8)
	/// Proof: `Court::Won` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `Parameters::Parameters` (r:1 w:0)
	/// Proof: `Parameters::Parameters` (`max_values`: None, `max_size`: Some(28), added: 2503, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:1 w:0)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(16069), added: 18544, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Kept` (r:1 w:0)
	/// Proof: `Verification::Kept` (`max_values`: None, `max_size`: Some(9752), added: 12227, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Uploading` (r:0 w:1)
	/// Proof: `Verification::Uploading` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn close_standing() -> Weight {
		// At least 14_846_104_000 ps.
		Weight::from_parts(15_083_620_000, 441822)
			.saturating_add(D::get().reads_writes(127_u64, 116_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// `p` was 1 to 512.
	fn seat(p: u32, ) -> Weight {
		// At least 30_686_000 ps.
		Weight::from_parts(54_904_722, 222671)
			// Standard error 5_862.
			.saturating_add(Weight::from_parts(1_677_218, 0).saturating_mul(p.into()))
			.saturating_add(D::get().reads_writes(3_u64, 2_u64))
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
	fn set_capacity() -> Weight {
		Measured::<RocksDbWeight>::set_capacity()
	}
	fn set_vrf_key() -> Weight {
		Measured::<RocksDbWeight>::set_vrf_key()
	}
	fn resume() -> Weight {
		Measured::<RocksDbWeight>::resume()
	}
	fn turn() -> Weight {
		Measured::<RocksDbWeight>::turn()
	}
	fn commit() -> Weight {
		Measured::<RocksDbWeight>::commit()
	}
	fn reveal() -> Weight {
		Measured::<RocksDbWeight>::reveal()
	}
	fn accuse() -> Weight {
		Measured::<RocksDbWeight>::accuse()
	}
	fn open_forced() -> Weight {
		Measured::<RocksDbWeight>::open_forced()
	}
	fn close_opening() -> Weight {
		Measured::<RocksDbWeight>::close_opening()
	}
	fn convict() -> Weight {
		Measured::<RocksDbWeight>::convict()
	}
	fn rescue(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::rescue(n, )
	}
	fn rescue_leaves() -> Weight {
		Measured::<RocksDbWeight>::rescue_leaves()
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
	fn request_relay() -> Weight {
		Measured::<RocksDbWeight>::request_relay()
	}
	fn say() -> Weight {
		Measured::<RocksDbWeight>::say()
	}
	fn show_chunk() -> Weight {
		Measured::<RocksDbWeight>::show_chunk()
	}
	fn ask_seats() -> Weight {
		Measured::<RocksDbWeight>::ask_seats()
	}
	fn appeal() -> Weight {
		Measured::<RocksDbWeight>::appeal()
	}
	fn relay_step() -> Weight {
		Measured::<RocksDbWeight>::relay_step()
	}
	fn close_round() -> Weight {
		Measured::<RocksDbWeight>::close_round()
	}
	fn charge_unasked() -> Weight {
		Measured::<RocksDbWeight>::charge_unasked()
	}
	fn close_standing() -> Weight {
		Measured::<RocksDbWeight>::close_standing()
	}
	fn seat(p: u32, ) -> Weight {
		Measured::<RocksDbWeight>::seat(p, )
	}
}
