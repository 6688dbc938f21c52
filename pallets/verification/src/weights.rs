//! Weights of `pallet_verification`: NOT MEASURED YET for `reveal`, `accuse`, `convict`, `close_round`,
//! `close_standing`, `request`, `withdraw_request`, `commit`, `rescue`, `rescue_leaves` and all of relays, of
//! which the figures are estimates;
//! `scripts/benchmark-weights` replaces this file. The others were measured on 2026-11-23.

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
	/// Weight of `resume`.
	fn resume() -> Weight;
	/// Weight of `set_vrf_key`.
	fn set_vrf_key() -> Weight;
	/// Weight of `turn`.
	fn turn() -> Weight;
	/// Weight of `commit`.
	fn commit() -> Weight;
	/// Weight of `reveal`.
	fn reveal() -> Weight;
	/// Weight of `rescue` with answers that name `n` blobs.
	fn rescue(n: u32, ) -> Weight;
	/// Weight of `rescue` with a part of the leaves.
	fn rescue_leaves() -> Weight;
	/// Weight of `set_location`.
	fn set_location() -> Weight;
	/// Weight of `request`.
	fn request() -> Weight;
	/// Weight of `withdraw_request`.
	fn withdraw_request() -> Weight;
	/// Weight of `bond_extra`.
	fn bond_extra() -> Weight;
	/// Weight of `accuse`.
	fn accuse() -> Weight;
	/// Weight of `convict`.
	fn convict() -> Weight;
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
	/// Weight of `seat`.
	fn seat(p: u32, ) -> Weight;
}

/// What was measured, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was measured, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(146946), added: 147441, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:2 w:2)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(211), added: 2686, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	/// Proof: `Verification::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Locations` (r:0 w:1)
	/// Proof: `Verification::Locations` (`max_values`: None, `max_size`: Some(306), added: 2781, mode: `MaxEncodedLen`)
	fn register() -> Weight {
		// At least 1_115_896_000 ps.
		Weight::from_parts(1_862_857_000, 148431)
			.saturating_add(D::get().reads_writes(5_u64, 6_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(146946), added: 147441, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(211), added: 2686, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Locations` (r:0 w:1)
	/// Proof: `Verification::Locations` (`max_values`: None, `max_size`: Some(306), added: 2781, mode: `MaxEncodedLen`)
	fn deregister() -> Weight {
		// At least 837_630_000 ps.
		Weight::from_parts(1_622_368_000, 148431)
			.saturating_add(D::get().reads_writes(3_u64, 4_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(146946), added: 147441, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(211), added: 2686, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Locations` (r:0 w:1)
	/// Proof: `Verification::Locations` (`max_values`: None, `max_size`: Some(306), added: 2781, mode: `MaxEncodedLen`)
	fn withdraw() -> Weight {
		// At least 863_167_000 ps.
		Weight::from_parts(1_537_807_000, 148431)
			.saturating_add(D::get().reads_writes(3_u64, 4_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(146946), added: 147441, mode: `MaxEncodedLen`)
	fn set_capacity() -> Weight {
		// At least 683_701_000 ps.
		Weight::from_parts(1_225_703_000, 148431)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(146946), added: 147441, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	/// Proof: `Verification::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	fn resume() -> Weight {
		// At least 728_898_000 ps.
		Weight::from_parts(1_250_820_000, 148431)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(146946), added: 147441, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	/// Proof: `Verification::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	fn set_vrf_key() -> Weight {
		// At least 728_898_000 ps.
		Weight::from_parts(1_250_820_000, 148431)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(146946), added: 147441, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Inflow` (r:0 w:1)
	/// Proof: `Verification::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	fn turn() -> Weight {
		// At least 2_347_531_000 ps.
		Weight::from_parts(2_669_984_000, 148431)
			.saturating_add(D::get().reads_writes(1_u64, 2_u64))
	}
	/// Estimate: as measured before, with 16 accounts more that have claims.
	fn commit() -> Weight {
		Weight::from_parts(944_650_000, 372_614)
			.saturating_add(D::get().reads_writes(37_u64, 7_u64))
	}
	/// Estimate: 2 ms for a VRF signature in wasm, 4 ms for 192 paths, 1 ms for decoding and hashing
	/// 65 KiB, and what was measured before.
	fn reveal() -> Weight {
		Weight::from_parts(7_400_000_000, 47_107)
			.saturating_add(D::get().reads_writes(5_u64, 6_u64))
	}
	/// Estimate: as measured before for one blob, of which the audit is most, and for each blob its record,
	/// its name and its count, and those of one that was announced in its place.
	fn rescue(n: u32, ) -> Weight {
		Weight::from_parts(701_581_000, 23_000)
			.saturating_add(Weight::from_parts(80_000_000, 7_700).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(4_u64, 6_u64))
			.saturating_add(D::get().reads_writes(6_u64, 5_u64).saturating_mul(n.into()))
	}
	/// Estimate: 4 ms for 1,023 hashes in wasm and for 41 KiB that are decoded and written.
	fn rescue_leaves() -> Weight {
		Weight::from_parts(4_000_000_000, 49_000)
			.saturating_add(D::get().reads_writes(3_u64, 2_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:0)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(146946), added: 147441, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Locations` (r:0 w:1)
	/// Proof: `Verification::Locations` (`max_values`: None, `max_size`: Some(306), added: 2781, mode: `MaxEncodedLen`)
	fn set_location() -> Weight {
		// At least 603_833_000 ps.
		Weight::from_parts(1_089_179_000, 148431)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Estimate: as measured before, with the keys of 32 accounts that have claims.
	fn request() -> Weight {
		Weight::from_parts(503_285_000, 372_614)
			.saturating_add(D::get().reads_writes(39_u64, 7_u64))
	}
	/// Estimate: as measured before, with 16 accounts more that have claims.
	fn withdraw_request() -> Weight {
		Weight::from_parts(1_037_087_000, 372_614)
			.saturating_add(D::get().reads_writes(37_u64, 4_u64))
	}
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(146946), added: 147441, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(211), added: 2686, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Inflow` (r:1 w:1)
	/// Proof: `Verification::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	fn bond_extra() -> Weight {
		// At least 996_071_000 ps.
		Weight::from_parts(1_679_260_000, 148431)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
	/// Estimate: the pool, the audit and what is at stake; what the court does comes with it.
	fn accuse() -> Weight {
		Weight::from_parts(1_900_000_000, 180_431)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
	/// Estimate: the pool, the audit, and three payments from a bond.
	fn convict() -> Weight {
		Weight::from_parts(2_300_000_000, 200_431)
			.saturating_add(D::get().reads_writes(8_u64, 8_u64))
	}
	/// Estimate: as measured before, and half as much for longer findings.
	fn close_round() -> Weight {
		Weight::from_parts(6_011_746_000, 460_670)
			.saturating_add(D::get().reads_writes(70_u64, 52_u64))
	}
	/// Estimate: the audit, all relays of its job, and a hold.
	fn request_relay() -> Weight {
		Weight::from_parts(600_000_000, 120_000)
			.saturating_add(D::get().reads_writes(18_u64, 8_u64))
	}
	/// Estimate: a relay of 61 seats and 31 before, of 7 KiB, and its place on the agenda.
	fn say() -> Weight {
		Weight::from_parts(250_000_000, 14_000)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
	/// Estimate: the same, the audit, and a payment. What the opening takes is beside it.
	fn show_chunk() -> Weight {
		Weight::from_parts(600_000_000, 60_000)
			.saturating_add(D::get().reads_writes(9_u64, 7_u64))
	}
	/// Estimate: the same, with a hold.
	fn ask_seats() -> Weight {
		Weight::from_parts(350_000_000, 20_000)
			.saturating_add(D::get().reads_writes(6_u64, 6_u64))
	}
	/// Estimate: the same, where each of 61 seats was asked by another account.
	fn appeal() -> Weight {
		Weight::from_parts(4_000_000_000, 350_000)
			.saturating_add(D::get().reads_writes(130_u64, 130_u64))
	}
	/// Estimate: 92 seats are paid or slashed, of which 61 are asked for a chunk; the pool, and the audit.
	/// What a draw takes is beside it.
	fn relay_step() -> Weight {
		Weight::from_parts(20_000_000_000, 1_200_000)
			.saturating_add(D::get().reads_writes(420_u64, 420_u64))
	}
	/// Estimate: three times the findings of 16 seats, of 21 KiB each, and the pool.
	fn close_standing() -> Weight {
		Weight::from_parts(8_000_000_000, 460_670)
			.saturating_add(D::get().reads_writes(54_u64, 20_u64))
	}
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(13642), added: 16117, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(146946), added: 147441, mode: `MaxEncodedLen`)
	/// `p` was 1 to 512.
	fn seat(p: u32, ) -> Weight {
		// At least 35_850_000 ps.
		Weight::from_parts(275_552_839, 148431)
			// Standard error 35_893.
			.saturating_add(Weight::from_parts(3_572_176, 0).saturating_mul(p.into()))
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
	fn resume() -> Weight {
		Measured::<RocksDbWeight>::resume()
	}
	fn set_vrf_key() -> Weight {
		Measured::<RocksDbWeight>::set_vrf_key()
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
	fn rescue(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::rescue(n)
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
	fn accuse() -> Weight {
		Measured::<RocksDbWeight>::accuse()
	}
	fn convict() -> Weight {
		Measured::<RocksDbWeight>::convict()
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
	fn close_standing() -> Weight {
		Measured::<RocksDbWeight>::close_standing()
	}
	fn close_round() -> Weight {
		Measured::<RocksDbWeight>::close_round()
	}
	fn seat(p: u32, ) -> Weight {
		Measured::<RocksDbWeight>::seat(p, )
	}
}
