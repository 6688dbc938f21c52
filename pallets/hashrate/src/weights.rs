//! Weights of `pallet_hashrate`, measured by `scripts/benchmark-weights` on 2026-11-21.
//!
//! frame-benchmarking-cli 64.0.0, 20 steps, 10 repeats, AMD EPYC.
//! Written by a program: change the benchmarks, not this file.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_hashrate` needs.
pub trait WeightInfo {
	/// Weight of `register`.
	fn register() -> Weight;
	/// Weight of `bond_extra`.
	fn bond_extra() -> Weight;
	/// Weight of `update_hardware`.
	fn update_hardware() -> Weight;
	/// Weight of `set_candidate`.
	fn set_candidate() -> Weight;
	/// Weight of `deregister`.
	fn deregister() -> Weight;
	/// Weight of `withdraw`.
	fn withdraw() -> Weight;
	/// Weight of `purge_keys`.
	fn purge_keys() -> Weight;
	/// Weight of `on_initialize`.
	fn on_initialize() -> Weight;
	/// Weight of `note_overtaken`.
	fn note_overtaken(n: u32, ) -> Weight;
	/// Weight of `note_author`.
	fn note_author() -> Weight;
	/// Weight of `change_session`.
	fn change_session(c: u32, ) -> Weight;
	/// Weight of `punish`.
	fn punish(n: u32, ) -> Weight;
}

/// What was measured, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was measured, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// Storage: `Hashrate::Trainers` (r:1 w:1)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(175), added: 2650, mode: `MaxEncodedLen`)
	fn register() -> Weight {
		// At least 57_005_000 ps.
		Weight::from_parts(59_609_000, 4058)
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	/// Storage: `Hashrate::Trainers` (r:1 w:1)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(175), added: 2650, mode: `MaxEncodedLen`)
	fn bond_extra() -> Weight {
		// At least 60_270_000 ps.
		Weight::from_parts(62_573_000, 4058)
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	/// Storage: `Hashrate::Trainers` (r:1 w:1)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	fn update_hardware() -> Weight {
		// At least 13_560_000 ps.
		Weight::from_parts(14_742_000, 4058)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Storage: `Hashrate::Trainers` (r:1 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Suspended` (r:1 w:0)
	/// Proof: `Hashrate::Suspended` (`max_values`: None, `max_size`: Some(52), added: 2527, mode: `MaxEncodedLen`)
	/// Storage: `Session::NextKeys` (r:1 w:0)
	/// Proof: `Session::NextKeys` (`max_values`: None, `max_size`: None, mode: `Measured`)
	/// Storage: `Hashrate::Candidates` (r:1 w:1)
	/// Proof: `Hashrate::Candidates` (`max_values`: Some(1), `max_size`: Some(8194), added: 8689, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Power` (r:257 w:0)
	/// Proof: `Hashrate::Power` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Timestamp::Now` (r:1 w:0)
	/// Proof: `Timestamp::Now` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Begun` (r:1 w:0)
	/// Proof: `Hashrate::Begun` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::HalfLifeMs` (r:1 w:0)
	/// Proof: `Hashrate::HalfLifeMs` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	fn set_candidate() -> Weight {
		// At least 1_670_946_000 ps.
		Weight::from_parts(1_815_341_000, 669961)
			.saturating_add(D::get().reads_writes(264_u64, 1_u64))
	}
	/// Storage: `Hashrate::Trainers` (r:1 w:1)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Candidates` (r:1 w:1)
	/// Proof: `Hashrate::Candidates` (`max_values`: Some(1), `max_size`: Some(8194), added: 8689, mode: `MaxEncodedLen`)
	fn deregister() -> Weight {
		// At least 62_893_000 ps.
		Weight::from_parts(84_316_000, 9679)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Storage: `Hashrate::Trainers` (r:1 w:1)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(175), added: 2650, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Absence` (r:0 w:1)
	/// Proof: `Hashrate::Absence` (`max_values`: None, `max_size`: Some(56), added: 2531, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Suspended` (r:0 w:1)
	/// Proof: `Hashrate::Suspended` (`max_values`: None, `max_size`: Some(52), added: 2527, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Power` (r:0 w:1)
	/// Proof: `Hashrate::Power` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::LastServed` (r:1 w:1)
	/// Proof: `Hashrate::LastServed` (`max_values`: None, `max_size`: Some(52), added: 2527, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::OldestRecord` (r:1 w:0)
	/// Proof: `Hashrate::OldestRecord` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Overtaken` (r:1 w:0)
	/// Proof: `Hashrate::Overtaken` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	fn withdraw() -> Weight {
		// At least 57_786_000 ps; the last three entries are estimated.
		Weight::from_parts(73_151_000, 4058)
			.saturating_add(D::get().reads_writes(6_u64, 7_u64))
	}
	/// Storage: `Hashrate::Candidates` (r:1 w:0)
	/// Proof: `Hashrate::Candidates` (`max_values`: Some(1), `max_size`: Some(8194), added: 8689, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::CurrentWeights` (r:1 w:0)
	/// Proof: `Hashrate::CurrentWeights` (`max_values`: Some(1), `max_size`: Some(4002), added: 4497, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::NextWeights` (r:1 w:0)
	/// Proof: `Hashrate::NextWeights` (`max_values`: Some(1), `max_size`: Some(4002), added: 4497, mode: `MaxEncodedLen`)
	/// Storage: `Session::Validators` (r:1 w:0)
	/// Proof: `Session::Validators` (`max_values`: Some(1), `max_size`: None, mode: `Measured`)
	/// Storage: `Session::NextKeys` (r:1 w:1)
	/// Proof: `Session::NextKeys` (`max_values`: None, `max_size`: None, mode: `Measured`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(175), added: 2650, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Session::ExternallySetKeys` (r:1 w:0)
	/// Proof: `Session::ExternallySetKeys` (`max_values`: None, `max_size`: None, mode: `Measured`)
	/// Storage: `Session::KeyOwner` (r:0 w:2)
	/// Proof: `Session::KeyOwner` (`max_values`: None, `max_size`: None, mode: `Measured`)
	fn purge_keys() -> Weight {
		// At least 124_015_000 ps.
		Weight::from_parts(161_991_000, 18485)
			.saturating_add(D::get().reads_writes(8_u64, 5_u64))
	}
	/// Storage: `Babe::AuthorVrfRandomness` (r:1 w:0)
	/// Proof: `Babe::AuthorVrfRandomness` (`max_values`: Some(1), `max_size`: Some(33), added: 528, mode: `MaxEncodedLen`)
	/// Storage: `System::ParentHash` (r:1 w:0)
	/// Proof: `System::ParentHash` (`max_values`: Some(1), `max_size`: Some(32), added: 527, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Outputs` (r:0 w:1)
	/// Proof: `Hashrate::Outputs` (`max_values`: None, `max_size`: Some(45), added: 2520, mode: `MaxEncodedLen`)
	fn on_initialize() -> Weight {
		// At least 7_251_000 ps.
		Weight::from_parts(7_922_000, 1518)
			.saturating_add(D::get().reads_writes(2_u64, 1_u64))
	}
	/// Storage: `Hashrate::Unfinal` (r:1 w:1)
	/// Proof: `Hashrate::Unfinal` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Finality::Final` (r:1 w:0)
	/// Proof: `Finality::Final` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Starts` (r:5 w:0)
	/// Proof: `Hashrate::Starts` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Overtaken` (r:0 w:4)
	/// Proof: `Hashrate::Overtaken` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// `n` was 0 to 4. Estimated, not measured.
	fn note_overtaken(n: u32, ) -> Weight {
		Weight::from_parts(10_000_000, 3481)
			.saturating_add(Weight::from_parts(5_000_000, 2491).saturating_mul(n.into()))
			.saturating_add(D::get().reads(3_u64))
			.saturating_add(D::get().reads_writes(1_u64, 2_u64).saturating_mul(n.into()))
	}
	/// Storage: `System::Account` (r:2 w:2)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::SessionBlocks` (r:1 w:1)
	/// Proof: `Hashrate::SessionBlocks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Authored` (r:1 w:1)
	/// Proof: `Hashrate::Authored` (`max_values`: Some(1), `max_size`: Some(3202), added: 3697, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Absence` (r:0 w:1)
	/// Proof: `Hashrate::Absence` (`max_values`: None, `max_size`: Some(56), added: 2531, mode: `MaxEncodedLen`)
	fn note_author() -> Weight {
		// At least 54_201_000 ps.
		Weight::from_parts(57_866_000, 6196)
			.saturating_add(D::get().reads_writes(4_u64, 5_u64))
	}
	/// Storage: `Hashrate::SessionBlocks` (r:1 w:1)
	/// Proof: `Hashrate::SessionBlocks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Authored` (r:1 w:0)
	/// Proof: `Hashrate::Authored` (`max_values`: Some(1), `max_size`: Some(3202), added: 3697, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Candidates` (r:1 w:0)
	/// Proof: `Hashrate::Candidates` (`max_values`: Some(1), `max_size`: Some(8194), added: 8689, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::CurrentWeights` (r:1 w:1)
	/// Proof: `Hashrate::CurrentWeights` (`max_values`: Some(1), `max_size`: Some(4002), added: 4497, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Absence` (r:100 w:100)
	/// Proof: `Hashrate::Absence` (`max_values`: None, `max_size`: Some(56), added: 2531, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::NextWeights` (r:1 w:1)
	/// Proof: `Hashrate::NextWeights` (`max_values`: Some(1), `max_size`: Some(4002), added: 4497, mode: `MaxEncodedLen`)
	/// Storage: `Session::QueuedKeys` (r:1 w:0)
	/// Proof: `Session::QueuedKeys` (`max_values`: Some(1), `max_size`: None, mode: `Measured`)
	/// Storage: `Hashrate::OldestRecord` (r:1 w:1)
	/// Proof: `Hashrate::OldestRecord` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::MinPower` (r:1 w:0)
	/// Proof: `Hashrate::MinPower` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Session::NextKeys` (r:256 w:0)
	/// Proof: `Session::NextKeys` (`max_values`: None, `max_size`: None, mode: `Measured`)
	/// Storage: `Hashrate::Power` (r:256 w:0)
	/// Proof: `Hashrate::Power` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Timestamp::Now` (r:1 w:0)
	/// Proof: `Timestamp::Now` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Begun` (r:1 w:0)
	/// Proof: `Hashrate::Begun` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::HalfLifeMs` (r:1 w:0)
	/// Proof: `Hashrate::HalfLifeMs` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Starts` (r:0 w:1)
	/// Proof: `Hashrate::Starts` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Records` (r:0 w:1)
	/// Proof: `Hashrate::Records` (`max_values`: None, `max_size`: Some(10414), added: 12889, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Trainers` (r:100 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::LastServed` (r:0 w:100)
	/// Proof: `Hashrate::LastServed` (`max_values`: None, `max_size`: Some(52), added: 2527, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::TrainingVolumes` (r:1 w:1)
	/// Proof: `Hashrate::TrainingVolumes` (`max_values`: Some(1), `max_size`: Some(18), added: 513, mode: `MaxEncodedLen`)
	/// `c` was 1 to 256.
	fn change_session(c: u32, ) -> Weight {
		// At least 47_220_000 ps; the last three entries are estimated.
		Weight::from_parts(553_099_845, 395966)
			// Standard error 82_662.
			.saturating_add(Weight::from_parts(13_052_285, 0).saturating_mul(c.into()))
			.saturating_add(Weight::from_parts(0, 2735).saturating_mul(c.into()))
			.saturating_add(D::get().reads_writes(147_u64, 142_u64))
			.saturating_add(D::get().reads((2_u64).saturating_mul(c.into())))
	}
	/// Storage: `Hashrate::Records` (r:1 w:0)
	/// Proof: `Hashrate::Records` (`max_values`: None, `max_size`: Some(10414), added: 12889, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Offenders` (r:1 w:1)
	/// Proof: `Hashrate::Offenders` (`max_values`: None, `max_size`: Some(3218), added: 5693, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Candidates` (r:1 w:1)
	/// Proof: `Hashrate::Candidates` (`max_values`: Some(1), `max_size`: Some(8194), added: 8689, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Trainers` (r:100 w:100)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Session::CurrentIndex` (r:1 w:0)
	/// Proof: `Session::CurrentIndex` (`max_values`: Some(1), `max_size`: None, mode: `Measured`)
	/// Storage: `Hashrate::Power` (r:100 w:100)
	/// Proof: `Hashrate::Power` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:100 w:100)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(175), added: 2650, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:102 w:102)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Absence` (r:0 w:1)
	/// Proof: `Hashrate::Absence` (`max_values`: None, `max_size`: Some(56), added: 2531, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Suspended` (r:0 w:1)
	/// Proof: `Hashrate::Suspended` (`max_values`: None, `max_size`: Some(52), added: 2527, mode: `MaxEncodedLen`)
	/// `n` was 1 to 100.
	fn punish(n: u32, ) -> Weight {
		// At least 137_965_000 ps.
		Weight::from_parts(140_179_000, 13879)
			// Standard error 212_061.
			.saturating_add(Weight::from_parts(111_836_184, 0).saturating_mul(n.into()))
			.saturating_add(Weight::from_parts(0, 3068).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(6_u64, 6_u64))
			.saturating_add(D::get().reads((4_u64).saturating_mul(n.into())))
			.saturating_add(D::get().writes((4_u64).saturating_mul(n.into())))
	}
}

// For tests.
impl WeightInfo for () {
	fn register() -> Weight {
		Measured::<RocksDbWeight>::register()
	}
	fn bond_extra() -> Weight {
		Measured::<RocksDbWeight>::bond_extra()
	}
	fn update_hardware() -> Weight {
		Measured::<RocksDbWeight>::update_hardware()
	}
	fn set_candidate() -> Weight {
		Measured::<RocksDbWeight>::set_candidate()
	}
	fn deregister() -> Weight {
		Measured::<RocksDbWeight>::deregister()
	}
	fn withdraw() -> Weight {
		Measured::<RocksDbWeight>::withdraw()
	}
	fn purge_keys() -> Weight {
		Measured::<RocksDbWeight>::purge_keys()
	}
	fn on_initialize() -> Weight {
		Measured::<RocksDbWeight>::on_initialize()
	}
	fn note_overtaken(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::note_overtaken(n, )
	}
	fn note_author() -> Weight {
		Measured::<RocksDbWeight>::note_author()
	}
	fn change_session(c: u32, ) -> Weight {
		Measured::<RocksDbWeight>::change_session(c, )
	}
	fn punish(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::punish(n, )
	}
}
