//! Weights of `pallet_verification`, measured by `scripts/benchmark-weights` on 2026-11-23.
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
	/// Weight of `close_standing`.
	fn close_standing() -> Weight;
	/// Weight of `charge_unasked`.
	fn charge_unasked() -> Weight;
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
		// At least 591_218_000 ps.
		Weight::from_parts(627_764_000, 222671)
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
		// At least 549_466_000 ps.
		Weight::from_parts(581_834_000, 222671)
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
		// At least 546_862_000 ps.
		Weight::from_parts(579_491_000, 222671)
			.saturating_add(D::get().reads_writes(3_u64, 4_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	fn set_capacity() -> Weight {
		// At least 503_617_000 ps.
		Weight::from_parts(534_933_000, 222671)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	/// Proof: `Verification::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	fn set_vrf_key() -> Weight {
		// At least 510_678_000 ps.
		Weight::from_parts(547_983_000, 222671)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	/// Proof: `Verification::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	fn resume() -> Weight {
		// At least 511_698_000 ps.
		Weight::from_parts(539_490_000, 222671)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Inflow` (r:0 w:1)
	/// Proof: `Verification::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	fn turn() -> Weight {
		// At least 1_240_243_000 ps.
		Weight::from_parts(1_323_348_000, 222671)
			.saturating_add(D::get().reads_writes(1_u64, 2_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:17 w:1)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(15685), added: 18160, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn commit() -> Weight {
		// At least 168_163_000 ps.
		Weight::from_parts(183_686_000, 309710)
			.saturating_add(D::get().reads_writes(21_u64, 7_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `System::BlockHash` (r:1 w:0)
	/// Proof: `System::BlockHash` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:1 w:0)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(15685), added: 18160, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Verdicts` (r:0 w:1)
	/// Proof: `Verification::Verdicts` (`max_values`: None, `max_size`: Some(25077), added: 27552, mode: `MaxEncodedLen`)
	fn reveal() -> Weight {
		// At least 2_743_411_000 ps.
		Weight::from_parts(2_861_930_000, 30735)
			.saturating_add(D::get().reads_writes(4_u64, 5_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Verdicts` (r:1 w:0)
	/// Proof: `Verification::Verdicts` (`max_values`: None, `max_size`: Some(25077), added: 27552, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Accusations` (r:1 w:1)
	/// Proof: `Verification::Accusations` (`max_values`: None, `max_size`: Some(96), added: 2571, mode: `MaxEncodedLen`)
	fn accuse() -> Weight {
		// At least 647_663_000 ps.
		Weight::from_parts(840_182_000, 222671)
			.saturating_add(D::get().reads_writes(4_u64, 3_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Forced` (r:0 w:1)
	/// Proof: `Verification::Forced` (`max_values`: None, `max_size`: Some(1149), added: 3624, mode: `MaxEncodedLen`)
	fn open_forced() -> Weight {
		// At least 275_725_000 ps.
		Weight::from_parts(291_027_000, 30735)
			.saturating_add(D::get().reads_writes(2_u64, 5_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:17 w:17)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:16 w:16)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	fn close_opening() -> Weight {
		// At least 9_156_335_000 ps.
		Weight::from_parts(10_989_239_000, 222671)
			.saturating_add(D::get().reads_writes(34_u64, 34_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Accusations` (r:1 w:1)
	/// Proof: `Verification::Accusations` (`max_values`: None, `max_size`: Some(96), added: 2571, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:3 w:3)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	fn convict() -> Weight {
		// At least 706_251_000 ps.
		Weight::from_parts(807_233_000, 222671)
			.saturating_add(D::get().reads_writes(7_u64, 7_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Blobs` (r:136 w:68)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Kept` (r:1 w:1)
	/// Proof: `Verification::Kept` (`max_values`: None, `max_size`: Some(4142), added: 6617, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Brought` (r:136 w:136)
	/// Proof: `ModelStorage::Brought` (`max_values`: None, `max_size`: Some(88), added: 2563, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Awaited` (r:136 w:136)
	/// Proof: `ModelStorage::Awaited` (`max_values`: None, `max_size`: Some(36), added: 2511, mode: `MaxEncodedLen`)
	/// `n` was 1 to 68.
	fn rescue(n: u32, ) -> Weight {
		// At least 65_548_000 ps.
		Weight::from_parts(68_242_000, 30735)
			// Standard error 1_326_273.
			.saturating_add(Weight::from_parts(107_796_000, 0).saturating_mul(n.into()))
			.saturating_add(Weight::from_parts(0, 5224).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
			.saturating_add(D::get().reads((6_u64).saturating_mul(n.into())))
			.saturating_add(D::get().writes((5_u64).saturating_mul(n.into())))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Verification::ShownLeaves` (r:1 w:1)
	/// Proof: `Verification::ShownLeaves` (`max_values`: None, `max_size`: Some(5308606), added: 5311081, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Kept` (r:1 w:1)
	/// Proof: `Verification::Kept` (`max_values`: None, `max_size`: Some(4142), added: 6617, mode: `MaxEncodedLen`)
	fn rescue_leaves() -> Weight {
		// At least 2_630_602_000 ps.
		Weight::from_parts(2_793_116_000, 5312071)
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:0)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Locations` (r:0 w:1)
	/// Proof: `Verification::Locations` (`max_values`: None, `max_size`: Some(306), added: 2781, mode: `MaxEncodedLen`)
	fn set_location() -> Weight {
		// At least 334_302_000 ps.
		Weight::from_parts(353_381_000, 222671)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:1 w:1)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(15685), added: 18160, mode: `MaxEncodedLen`)
	/// Storage: `Parameters::Parameters` (r:1 w:0)
	/// Proof: `Parameters::Parameters` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn request() -> Weight {
		// At least 79_379_000 ps.
		Weight::from_parts(85_859_000, 30735)
			.saturating_add(D::get().reads_writes(6_u64, 7_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:17 w:1)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(15685), added: 18160, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	fn withdraw_request() -> Weight {
		// At least 145_068_000 ps.
		Weight::from_parts(156_856_000, 309710)
			.saturating_add(D::get().reads_writes(20_u64, 4_u64))
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
		// At least 537_668_000 ps.
		Weight::from_parts(581_934_000, 222671)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:1 w:0)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
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
	/// Storage: `Parameters::Parameters` (r:1 w:0)
	/// Proof: `Parameters::Parameters` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
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
		// At least 152_149_000 ps.
		Weight::from_parts(169_935_000, 65614)
			.saturating_add(D::get().reads_writes(19_u64, 8_u64))
	}
	/// Storage: `Verification::Relays` (r:1 w:1)
	/// Proof: `Verification::Relays` (`max_values`: None, `max_size`: Some(6757), added: 9232, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::FullBlocks` (r:1 w:0)
	/// Proof: `ModelStorage::FullBlocks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::RelayDue` (r:1 w:0)
	/// Proof: `Verification::RelayDue` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	fn say() -> Weight {
		// At least 37_657_000 ps.
		Weight::from_parts(48_453_000, 10222)
			.saturating_add(D::get().reads_writes(3_u64, 1_u64))
	}
	/// Storage: `Verification::Relays` (r:1 w:1)
	/// Proof: `Verification::Relays` (`max_values`: None, `max_size`: Some(6757), added: 9232, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::FullBlocks` (r:1 w:0)
	/// Proof: `ModelStorage::FullBlocks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::AuditRecords` (r:1 w:0)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:2 w:2)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	fn show_chunk() -> Weight {
		// At least 97_576_000 ps.
		Weight::from_parts(118_157_000, 30735)
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
		// At least 84_497_000 ps.
		Weight::from_parts(94_171_000, 10222)
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
		// At least 1_912_142_000 ps.
		Weight::from_parts(2_014_176_000, 169754)
			.saturating_add(D::get().reads_writes(128_u64, 128_u64))
	}
	/// Storage: `Verification::Relays` (r:1 w:1)
	/// Proof: `Verification::Relays` (`max_values`: None, `max_size`: Some(6757), added: 9232, mode: `MaxEncodedLen`)
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
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
		// At least 5_914_075_000 ps.
		Weight::from_parts(6_178_833_000, 407058)
			.saturating_add(D::get().reads_writes(287_u64, 286_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Verdicts` (r:8 w:8)
	/// Proof: `Verification::Verdicts` (`max_values`: None, `max_size`: Some(25077), added: 27552, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:8 w:8)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:9 w:9)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:1 w:0)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(15685), added: 18160, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	fn close_round() -> Weight {
		// At least 1_598_271_000 ps.
		Weight::from_parts(1_748_197_000, 222671)
			.saturating_add(D::get().reads_writes(29_u64, 27_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Verdicts` (r:16 w:0)
	/// Proof: `Verification::Verdicts` (`max_values`: None, `max_size`: Some(25077), added: 27552, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:1 w:0)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(15685), added: 18160, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Kept` (r:1 w:0)
	/// Proof: `Verification::Kept` (`max_values`: None, `max_size`: Some(4142), added: 6617, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Uploading` (r:0 w:1)
	/// Proof: `Verification::Uploading` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn close_standing() -> Weight {
		// At least 1_083_428_000 ps.
		Weight::from_parts(1_185_351_000, 441822)
			.saturating_add(D::get().reads_writes(20_u64, 3_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Verdicts` (r:16 w:0)
	/// Proof: `Verification::Verdicts` (`max_values`: None, `max_size`: Some(25077), added: 27552, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:1 w:0)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(15685), added: 18160, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Kept` (r:1 w:0)
	/// Proof: `Verification::Kept` (`max_values`: None, `max_size`: Some(4142), added: 6617, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Uploading` (r:0 w:1)
	/// Proof: `Verification::Uploading` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn charge_unasked() -> Weight {
		// At least 1_083_428_000 ps.
		Weight::from_parts(1_185_351_000, 441822)
			.saturating_add(D::get().reads_writes(20_u64, 3_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// `p` was 1 to 512.
	fn seat(p: u32, ) -> Weight {
		// At least 31_798_000 ps.
		Weight::from_parts(54_671_020, 222671)
			// Standard error 1_439.
			.saturating_add(Weight::from_parts(1_090_314, 0).saturating_mul(p.into()))
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
	fn close_standing() -> Weight {
		Measured::<RocksDbWeight>::close_standing()
	}
	fn charge_unasked() -> Weight {
		Measured::<RocksDbWeight>::charge_unasked()
	}
	fn seat(p: u32, ) -> Weight {
		Measured::<RocksDbWeight>::seat(p, )
	}
}
