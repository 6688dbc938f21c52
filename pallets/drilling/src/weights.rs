//! Weights of `pallet_drilling`, measured by `scripts/benchmark-weights` on 2026-11-23.
//!
//! frame-benchmarking-cli 64.0.0, 20 steps, 10 repeats, Intel(R) Xeon(R) Processor.
//! Written by a program: change the benchmarks, not this file.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_drilling` needs.
pub trait WeightInfo {
	/// Weight of `propose`.
	fn propose() -> Weight;
	/// Weight of `vote`.
	fn vote() -> Weight;
	/// Weight of `enlist`.
	fn enlist() -> Weight;
	/// Weight of `turn`.
	fn turn() -> Weight;
	/// Weight of `retire`.
	fn retire() -> Weight;
	/// Weight of `commit`.
	fn commit() -> Weight;
	/// Weight of `reveal`.
	fn reveal() -> Weight;
	/// Weight of `check`.
	fn check() -> Weight;
	/// Weight of `check_reveal`.
	fn check_reveal() -> Weight;
	/// Weight of `withdraw_project`.
	fn withdraw_project() -> Weight;
	/// Weight of `clear`.
	fn clear() -> Weight;
	/// Weight of `choose`.
	fn choose() -> Weight;
	/// Weight of `decline`.
	fn decline() -> Weight;
	/// Weight of `recall`.
	fn recall() -> Weight;
	/// Weight of `serve`.
	fn serve(n: u32, ) -> Weight;
	/// Weight of `look_at_unit`.
	fn look_at_unit() -> Weight;
	/// Weight of `look_at_batch`.
	fn look_at_batch() -> Weight;
	/// Weight of `end_review`.
	fn end_review() -> Weight;
	/// Weight of `open_reveals`.
	fn open_reveals() -> Weight;
	/// Weight of `judge`.
	fn judge() -> Weight;
	/// Weight of `settle`.
	fn settle() -> Weight;
	/// Weight of `open_check`.
	fn open_check() -> Weight;
	/// Weight of `judge_check`.
	fn judge_check() -> Weight;
	/// Weight of `suspend`.
	fn suspend() -> Weight;
	/// Weight of `close_batch`.
	fn close_batch(g: u32, ) -> Weight;
	/// Weight of `deal`.
	fn deal(g: u32, ) -> Weight;
}

/// What was measured, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was measured, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// An estimate: it was not measured yet.
	fn choose() -> Weight {
		Weight::from_parts(60_000_000, 3578)
			.saturating_add(D::get().reads_writes(2_u64, 1_u64))
	}
	/// An estimate: it was not measured yet.
	fn decline() -> Weight {
		Weight::from_parts(120_000_000, 4578)
			.saturating_add(D::get().reads_writes(6_u64, 5_u64))
	}
	/// An estimate: it was not measured yet.
	fn recall() -> Weight {
		Weight::from_parts(150_000_000, 4578)
			.saturating_add(D::get().reads_writes(4_u64, 6_u64))
	}
	/// Storage: `Drilling::OpenProjects` (r:1 w:1)
	/// Proof: `Drilling::OpenProjects` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::NextProject` (r:1 w:1)
	/// Proof: `Drilling::NextProject` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(211), added: 2686, mode: `MaxEncodedLen`)
	/// Storage: `Parameters::Parameters` (r:1 w:0)
	/// Proof: `Parameters::Parameters` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:1 w:1)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:0 w:1)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Projects` (r:0 w:1)
	/// Proof: `Drilling::Projects` (`max_values`: None, `max_size`: Some(413), added: 2888, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Templates` (r:0 w:1)
	/// Proof: `Drilling::Templates` (`max_values`: None, `max_size`: Some(2649), added: 5124, mode: `MaxEncodedLen`)
	fn propose() -> Weight {
		// At least 2_537_027_000 ps.
		Weight::from_parts(4_808_376_000, 3676)
			.saturating_add(D::get().reads_writes(6_u64, 8_u64))
			// An estimate of what came later, and was not measured yet.
			.saturating_add(Weight::from_parts(150_000_000, 0))
			.saturating_add(D::get().reads_writes(8_u64, 5_u64))
	}
	/// Storage: `Drilling::Projects` (r:1 w:1)
	/// Proof: `Drilling::Projects` (`max_values`: None, `max_size`: Some(413), added: 2888, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Trainers` (r:1 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Votes` (r:1 w:1)
	/// Proof: `Drilling::Votes` (`max_values`: None, `max_size`: Some(61), added: 2536, mode: `MaxEncodedLen`)
	fn vote() -> Weight {
		// At least 55_923_000 ps.
		Weight::from_parts(117_072_000, 4058)
			.saturating_add(D::get().reads_writes(3_u64, 2_u64))
	}
	/// Storage: `Hashrate::Trainers` (r:1 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Pool` (r:1 w:1)
	/// Proof: `Drilling::Pool` (`max_values`: None, `max_size`: Some(63), added: 2538, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Waiting` (r:1 w:0)
	/// Proof: `Drilling::Waiting` (`max_values`: Some(1), `max_size`: Some(24578), added: 25073, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Heirs` (r:1 w:0)
	/// Proof: `Drilling::Heirs` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Inflow` (r:1 w:1)
	/// Proof: `Drilling::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::CounterForPool` (r:1 w:1)
	/// Proof: `Drilling::CounterForPool` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Former` (r:1 w:1)
	/// Proof: `Drilling::Former` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Ready` (r:1 w:1)
	/// Proof: `Drilling::Ready` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	fn enlist() -> Weight {
		// At least 191_070_000 ps.
		Weight::from_parts(256_790_000, 26063)
			.saturating_add(D::get().reads_writes(8_u64, 5_u64))
			// An estimate of what came later, and was not measured yet.
			.saturating_add(Weight::from_parts(40_000_000, 0))
			.saturating_add(D::get().reads_writes(2_u64, 1_u64))
	}
	/// Storage: `Drilling::Former` (r:513 w:512)
	/// Proof: `Drilling::Former` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::CounterForPool` (r:1 w:0)
	/// Proof: `Drilling::CounterForPool` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Waiting` (r:1 w:1)
	/// Proof: `Drilling::Waiting` (`max_values`: Some(1), `max_size`: Some(24578), added: 25073, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Trainers` (r:1024 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Pool` (r:513 w:0)
	/// Proof: `Drilling::Pool` (`max_values`: None, `max_size`: Some(63), added: 2538, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Inflow` (r:0 w:1)
	/// Proof: `Drilling::Inflow` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	fn turn() -> Weight {
		// At least 21_271_764_000 ps.
		Weight::from_parts(37_045_403_000, 3142622)
			.saturating_add(D::get().reads_writes(2052_u64, 514_u64))
			// An estimate of what came later, and was not measured yet.
			.saturating_add(Weight::from_parts(2_000_000_000, 0))
			.saturating_add(D::get().reads_writes(0_u64, 512_u64))
	}
	/// Storage: `Drilling::Waiting` (r:1 w:1)
	/// Proof: `Drilling::Waiting` (`max_values`: Some(1), `max_size`: Some(24578), added: 25073, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Heirs` (r:1 w:1)
	/// Proof: `Drilling::Heirs` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Pool` (r:1 w:1)
	/// Proof: `Drilling::Pool` (`max_values`: None, `max_size`: Some(63), added: 2538, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Ready` (r:1 w:1)
	/// Proof: `Drilling::Ready` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::CounterForPool` (r:1 w:1)
	/// Proof: `Drilling::CounterForPool` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	fn retire() -> Weight {
		// At least 168_941_000 ps.
		Weight::from_parts(192_349_000, 26063)
			.saturating_add(D::get().reads_writes(5_u64, 5_u64))
			// An estimate of what came later, and was not measured yet.
			.saturating_add(Weight::from_parts(10_000_000, 0))
			.saturating_add(D::get().reads_writes(0_u64, 1_u64))
	}
	/// Storage: `Drilling::Assignments` (r:1 w:1)
	/// Proof: `Drilling::Assignments` (`max_values`: None, `max_size`: Some(1225), added: 3700, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:1 w:1)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:0 w:2)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn commit() -> Weight {
		// At least 108_674_000 ps.
		Weight::from_parts(127_563_000, 4690)
			.saturating_add(D::get().reads_writes(2_u64, 4_u64))
	}
	/// Storage: `Drilling::Assignments` (r:1 w:1)
	/// Proof: `Drilling::Assignments` (`max_values`: None, `max_size`: Some(1225), added: 3700, mode: `MaxEncodedLen`)
	/// Storage: `System::BlockHash` (r:1 w:0)
	/// Proof: `System::BlockHash` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Templates` (r:1 w:0)
	/// Proof: `Drilling::Templates` (`max_values`: None, `max_size`: Some(2649), added: 5124, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:1 w:1)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:0 w:2)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn reveal() -> Weight {
		// At least 175_596_000 ps.
		Weight::from_parts(193_714_000, 6114)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
	/// Storage: `Drilling::Assignments` (r:1 w:1)
	/// Proof: `Drilling::Assignments` (`max_values`: None, `max_size`: Some(1225), added: 3700, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:1 w:1)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:0 w:2)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn check() -> Weight {
		// At least 111_841_000 ps.
		Weight::from_parts(130_123_000, 4690)
			.saturating_add(D::get().reads_writes(2_u64, 4_u64))
	}
	/// Storage: `Drilling::Assignments` (r:1 w:1)
	/// Proof: `Drilling::Assignments` (`max_values`: None, `max_size`: Some(1225), added: 3700, mode: `MaxEncodedLen`)
	/// Storage: `System::BlockHash` (r:1 w:0)
	/// Proof: `System::BlockHash` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Templates` (r:1 w:0)
	/// Proof: `Drilling::Templates` (`max_values`: None, `max_size`: Some(2649), added: 5124, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:1 w:1)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:0 w:2)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn check_reveal() -> Weight {
		// At least 175_108_000 ps.
		Weight::from_parts(194_903_000, 6114)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
	/// Storage: `Drilling::Projects` (r:1 w:1)
	/// Proof: `Drilling::Projects` (`max_values`: None, `max_size`: Some(413), added: 2888, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Turns` (r:1 w:1)
	/// Proof: `Drilling::Turns` (`max_values`: Some(1), `max_size`: Some(258), added: 753, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::OpenProjects` (r:1 w:1)
	/// Proof: `Drilling::OpenProjects` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:1 w:1)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:0 w:1)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn withdraw_project() -> Weight {
		// At least 85_891_000 ps.
		Weight::from_parts(97_508_000, 3878)
			.saturating_add(D::get().reads_writes(4_u64, 5_u64))
			// An estimate of what came later, and was not measured yet.
			.saturating_add(Weight::from_parts(120_000_000, 0))
			.saturating_add(D::get().reads_writes(6_u64, 6_u64))
	}
	/// Storage: `Drilling::Projects` (r:1 w:1)
	/// Proof: `Drilling::Projects` (`max_values`: None, `max_size`: Some(413), added: 2888, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Votes` (r:1 w:0)
	/// Proof: `Drilling::Votes` (`max_values`: None, `max_size`: Some(61), added: 2536, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Retries` (r:1 w:0)
	/// Proof: `Drilling::Retries` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Results` (r:64 w:63)
	/// Proof: `Drilling::Results` (`max_values`: None, `max_size`: Some(70), added: 2545, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(211), added: 2686, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:1 w:1)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:0 w:1)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Templates` (r:0 w:1)
	/// Proof: `Drilling::Templates` (`max_values`: None, `max_size`: Some(2649), added: 5124, mode: `MaxEncodedLen`)
	fn clear() -> Weight {
		// At least 551_506_000 ps.
		Weight::from_parts(643_191_000, 163870)
			.saturating_add(D::get().reads_writes(70_u64, 69_u64))
	}
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Cursor` (r:1 w:1)
	/// Proof: `Drilling::Cursor` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:101 w:100)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Assignments` (r:100 w:0)
	/// Proof: `Drilling::Assignments` (`max_values`: None, `max_size`: Some(1225), added: 3700, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:100 w:100)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// `n` was 0 to 100.
	fn serve(n: u32, ) -> Weight {
		// At least 15_646_000 ps.
		Weight::from_parts(13_452_789, 3494)
			// Standard error 24_831.
			.saturating_add(Weight::from_parts(12_306_720, 0).saturating_mul(n.into()))
			.saturating_add(Weight::from_parts(0, 3700).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(3_u64, 1_u64))
			.saturating_add(D::get().reads((3_u64).saturating_mul(n.into())))
			.saturating_add(D::get().writes((2_u64).saturating_mul(n.into())))
	}
	/// Storage: `Drilling::Assignments` (r:1 w:0)
	/// Proof: `Drilling::Assignments` (`max_values`: None, `max_size`: Some(1225), added: 3700, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:1 w:1)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:0 w:1)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn look_at_unit() -> Weight {
		// At least 63_237_000 ps.
		Weight::from_parts(71_198_000, 4690)
			.saturating_add(D::get().reads_writes(2_u64, 2_u64))
	}
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Batch` (r:1 w:0)
	/// Proof: `Drilling::Batch` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Turns` (r:1 w:0)
	/// Proof: `Drilling::Turns` (`max_values`: Some(1), `max_size`: Some(258), added: 753, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Ready` (r:1 w:0)
	/// Proof: `Drilling::Ready` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	fn look_at_batch() -> Weight {
		// At least 38_485_000 ps.
		Weight::from_parts(44_699_000, 17871)
			.saturating_add(D::get().reads_writes(4_u64, 0_u64))
	}
	/// Storage: `Drilling::Projects` (r:1 w:1)
	/// Proof: `Drilling::Projects` (`max_values`: None, `max_size`: Some(413), added: 2888, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(211), added: 2686, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:2 w:2)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::OpenProjects` (r:1 w:1)
	/// Proof: `Drilling::OpenProjects` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:1 w:1)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:0 w:1)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn end_review() -> Weight {
		// At least 156_380_000 ps.
		Weight::from_parts(173_822_000, 6196)
			.saturating_add(D::get().reads_writes(6_u64, 7_u64))
			// An estimate of what came later, and was not measured yet.
			.saturating_add(Weight::from_parts(120_000_000, 0))
			.saturating_add(D::get().reads_writes(6_u64, 6_u64))
	}
	/// Storage: `Drilling::Assignments` (r:1 w:1)
	/// Proof: `Drilling::Assignments` (`max_values`: None, `max_size`: Some(1225), added: 3700, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:1 w:1)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:0 w:2)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn open_reveals() -> Weight {
		// At least 86_456_000 ps.
		Weight::from_parts(128_840_000, 4690)
			.saturating_add(D::get().reads_writes(2_u64, 4_u64))
	}
	/// Storage: `Drilling::Assignments` (r:1 w:1)
	/// Proof: `Drilling::Assignments` (`max_values`: None, `max_size`: Some(1225), added: 3700, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Projects` (r:1 w:1)
	/// Proof: `Drilling::Projects` (`max_values`: None, `max_size`: Some(413), added: 2888, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Trainers` (r:14 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Power` (r:7 w:7)
	/// Proof: `Hashrate::Power` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Timestamp::Now` (r:1 w:0)
	/// Proof: `Timestamp::Now` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Begun` (r:1 w:0)
	/// Proof: `Hashrate::Begun` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::HalfLifeMs` (r:1 w:0)
	/// Proof: `Hashrate::HalfLifeMs` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Pool` (r:14 w:14)
	/// Proof: `Drilling::Pool` (`max_values`: None, `max_size`: Some(63), added: 2538, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::CounterForPool` (r:1 w:1)
	/// Proof: `Drilling::CounterForPool` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Heirs` (r:1 w:1)
	/// Proof: `Drilling::Heirs` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Ready` (r:1 w:1)
	/// Proof: `Drilling::Ready` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Turns` (r:1 w:1)
	/// Proof: `Drilling::Turns` (`max_values`: Some(1), `max_size`: Some(258), added: 753, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Retries` (r:0 w:1)
	/// Proof: `Drilling::Retries` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Former` (r:0 w:7)
	/// Proof: `Drilling::Former` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	fn judge() -> Weight {
		// At least 1_046_875_000 ps.
		Weight::from_parts(1_587_535_000, 43942)
			.saturating_add(D::get().reads_writes(44_u64, 35_u64))
			// An estimate of what came later, and was not measured yet.
			.saturating_add(Weight::from_parts(80_000_000, 0))
			.saturating_add(D::get().reads_writes(0_u64, 7_u64))
	}
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Assignments` (r:1 w:1)
	/// Proof: `Drilling::Assignments` (`max_values`: None, `max_size`: Some(1225), added: 3700, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Projects` (r:1 w:1)
	/// Proof: `Drilling::Projects` (`max_values`: None, `max_size`: Some(413), added: 2888, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Templates` (r:1 w:0)
	/// Proof: `Drilling::Templates` (`max_values`: None, `max_size`: Some(2649), added: 5124, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::OpenProjects` (r:1 w:1)
	/// Proof: `Drilling::OpenProjects` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:1 w:1)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Trainers` (r:7 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Power` (r:7 w:7)
	/// Proof: `Hashrate::Power` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Timestamp::Now` (r:1 w:0)
	/// Proof: `Timestamp::Now` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Begun` (r:1 w:0)
	/// Proof: `Hashrate::Begun` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::HalfLifeMs` (r:1 w:0)
	/// Proof: `Hashrate::HalfLifeMs` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Results` (r:0 w:1)
	/// Proof: `Drilling::Results` (`max_values`: None, `max_size`: Some(70), added: 2545, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:0 w:1)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn settle() -> Weight {
		// At least 434_203_000 ps.
		Weight::from_parts(522_457_000, 22466)
			.saturating_add(D::get().reads_writes(23_u64, 13_u64))
			// An estimate of what came later, and was not measured yet.
			.saturating_add(Weight::from_parts(120_000_000, 0))
			.saturating_add(D::get().reads_writes(6_u64, 6_u64))
	}
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Assignments` (r:1 w:1)
	/// Proof: `Drilling::Assignments` (`max_values`: None, `max_size`: Some(1225), added: 3700, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Projects` (r:1 w:0)
	/// Proof: `Drilling::Projects` (`max_values`: None, `max_size`: Some(413), added: 2888, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(146946), added: 147441, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:1 w:1)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:0 w:2)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn open_check() -> Weight {
		// At least 718_897_000 ps.
		Weight::from_parts(1_143_854_000, 148431)
			.saturating_add(D::get().reads_writes(5_u64, 5_u64))
			// An estimate of what came later, and was not measured yet.
			.saturating_add(Weight::from_parts(60_000_000, 0))
			.saturating_add(D::get().reads_writes(0_u64, 3_u64))
	}
	/// Storage: `Drilling::Assignments` (r:1 w:1)
	/// Proof: `Drilling::Assignments` (`max_values`: None, `max_size`: Some(1225), added: 3700, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Projects` (r:1 w:1)
	/// Proof: `Drilling::Projects` (`max_values`: None, `max_size`: Some(413), added: 2888, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(146946), added: 147441, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:8 w:8)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(211), added: 2686, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:11 w:11)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Trainers` (r:7 w:7)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Power` (r:7 w:7)
	/// Proof: `Hashrate::Power` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Candidates` (r:1 w:1)
	/// Proof: `Hashrate::Candidates` (`max_values`: Some(1), `max_size`: Some(8194), added: 8689, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Waiting` (r:1 w:1)
	/// Proof: `Drilling::Waiting` (`max_values`: Some(1), `max_size`: Some(24578), added: 25073, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Heirs` (r:1 w:1)
	/// Proof: `Drilling::Heirs` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Pool` (r:7 w:7)
	/// Proof: `Drilling::Pool` (`max_values`: None, `max_size`: Some(63), added: 2538, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Ready` (r:1 w:1)
	/// Proof: `Drilling::Ready` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Turns` (r:1 w:1)
	/// Proof: `Drilling::Turns` (`max_values`: Some(1), `max_size`: Some(258), added: 753, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Retries` (r:0 w:1)
	/// Proof: `Drilling::Retries` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	fn judge_check() -> Weight {
		// At least 3_380_654_000 ps.
		Weight::from_parts(3_955_886_000, 148431)
			.saturating_add(D::get().reads_writes(48_u64, 49_u64))
			// An estimate of what came later, and was not measured yet.
			.saturating_add(Weight::from_parts(200_000_000, 0))
			.saturating_add(D::get().reads_writes(10_u64, 15_u64))
	}
	/// As estimated from `judge_check` and `withdraw_project`; it was not measured yet. What is read and
	/// written: the assignment, what is due of it and of the review, three verifiers with the pool, their
	/// jackpot and their checks, the project with its deposit, its list, its owner's and its turn, the
	/// blobs of its data, and when it is removed.
	fn suspend() -> Weight {
		Weight::from_parts(900_000_000, 148431)
			.saturating_add(D::get().reads_writes(24_u64, 28_u64))
	}
	/// Storage: `Drilling::Turns` (r:1 w:1)
	/// Proof: `Drilling::Turns` (`max_values`: Some(1), `max_size`: Some(258), added: 753, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Ready` (r:1 w:1)
	/// Proof: `Drilling::Ready` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::CounterForPool` (r:1 w:0)
	/// Proof: `Drilling::CounterForPool` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Projects` (r:32 w:32)
	/// Proof: `Drilling::Projects` (`max_values`: None, `max_size`: Some(413), added: 2888, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::BatchDrillers` (r:0 w:1)
	/// Proof: `Drilling::BatchDrillers` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::BatchPlan` (r:0 w:1)
	/// Proof: `Drilling::BatchPlan` (`max_values`: Some(1), `max_size`: Some(321), added: 816, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Batch` (r:0 w:1)
	/// Proof: `Drilling::Batch` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// `g` was 0 to 32.
	fn close_batch(g: u32, ) -> Weight {
		// At least 417_823_000 ps.
		Weight::from_parts(694_646_714, 193823)
			// Standard error 1_639_133.
			.saturating_add(Weight::from_parts(8_304_337, 0).saturating_mul(g.into()))
			.saturating_add(D::get().reads_writes(71_u64, 4_u64))
			// An estimate of what came later, and was not measured yet.
			.saturating_add(Weight::from_parts(25_000_000_000, 0))
			.saturating_add(D::get().reads_writes(1536_u64, 1_u64))
			.saturating_add(D::get().writes((1_u64).saturating_mul(g.into())))
	}
	/// Storage: `Drilling::BatchPlan` (r:1 w:1)
	/// Proof: `Drilling::BatchPlan` (`max_values`: Some(1), `max_size`: Some(321), added: 816, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::BatchDrillers` (r:1 w:1)
	/// Proof: `Drilling::BatchDrillers` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Projects` (r:32 w:0)
	/// Proof: `Drilling::Projects` (`max_values`: None, `max_size`: Some(413), added: 2888, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Trainers` (r:241 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::NextAssignment` (r:1 w:1)
	/// Proof: `Drilling::NextAssignment` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Pool` (r:529 w:258)
	/// Proof: `Drilling::Pool` (`max_values`: None, `max_size`: Some(63), added: 2538, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Due` (r:32 w:32)
	/// Proof: `Drilling::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::CounterForPool` (r:1 w:1)
	/// Proof: `Drilling::CounterForPool` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Heirs` (r:1 w:1)
	/// Proof: `Drilling::Heirs` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Ready` (r:1 w:1)
	/// Proof: `Drilling::Ready` (`max_values`: Some(1), `max_size`: Some(16386), added: 16881, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Agenda` (r:0 w:32)
	/// Proof: `Drilling::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Assignments` (r:0 w:32)
	/// Proof: `Drilling::Assignments` (`max_values`: None, `max_size`: Some(1225), added: 3700, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Former` (r:0 w:17)
	/// Proof: `Drilling::Former` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Drilling::Batch` (r:0 w:1)
	/// Proof: `Drilling::Batch` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// `g` was 1 to 32.
	fn deal(g: u32, ) -> Weight {
		// At least 7_951_490_000 ps.
		Weight::from_parts(9_869_528_428, 1380780)
			// Standard error 11_409_677.
			.saturating_add(Weight::from_parts(129_374_459, 0).saturating_mul(g.into()))
			.saturating_add(Weight::from_parts(0, 19985).saturating_mul(g.into()))
			.saturating_add(D::get().reads_writes(581_u64, 102_u64))
			// An estimate of what came later, and was not measured yet.
			.saturating_add(Weight::from_parts(15_000_000_000, 0))
			.saturating_add(D::get().reads_writes(1024_u64, 33_u64))
			.saturating_add(D::get().reads((8_u64).saturating_mul(g.into())))
			.saturating_add(D::get().writes((9_u64).saturating_mul(g.into())))
	}
}

// For tests.
impl WeightInfo for () {
	fn choose() -> Weight {
		Measured::<RocksDbWeight>::choose()
	}
	fn decline() -> Weight {
		Measured::<RocksDbWeight>::decline()
	}
	fn recall() -> Weight {
		Measured::<RocksDbWeight>::recall()
	}
	fn propose() -> Weight {
		Measured::<RocksDbWeight>::propose()
	}
	fn vote() -> Weight {
		Measured::<RocksDbWeight>::vote()
	}
	fn enlist() -> Weight {
		Measured::<RocksDbWeight>::enlist()
	}
	fn turn() -> Weight {
		Measured::<RocksDbWeight>::turn()
	}
	fn retire() -> Weight {
		Measured::<RocksDbWeight>::retire()
	}
	fn commit() -> Weight {
		Measured::<RocksDbWeight>::commit()
	}
	fn reveal() -> Weight {
		Measured::<RocksDbWeight>::reveal()
	}
	fn check() -> Weight {
		Measured::<RocksDbWeight>::check()
	}
	fn check_reveal() -> Weight {
		Measured::<RocksDbWeight>::check_reveal()
	}
	fn withdraw_project() -> Weight {
		Measured::<RocksDbWeight>::withdraw_project()
	}
	fn clear() -> Weight {
		Measured::<RocksDbWeight>::clear()
	}
	fn serve(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::serve(n, )
	}
	fn look_at_unit() -> Weight {
		Measured::<RocksDbWeight>::look_at_unit()
	}
	fn look_at_batch() -> Weight {
		Measured::<RocksDbWeight>::look_at_batch()
	}
	fn end_review() -> Weight {
		Measured::<RocksDbWeight>::end_review()
	}
	fn open_reveals() -> Weight {
		Measured::<RocksDbWeight>::open_reveals()
	}
	fn judge() -> Weight {
		Measured::<RocksDbWeight>::judge()
	}
	fn settle() -> Weight {
		Measured::<RocksDbWeight>::settle()
	}
	fn open_check() -> Weight {
		Measured::<RocksDbWeight>::open_check()
	}
	fn judge_check() -> Weight {
		Measured::<RocksDbWeight>::judge_check()
	}
	fn suspend() -> Weight {
		Measured::<RocksDbWeight>::suspend()
	}
	fn close_batch(g: u32, ) -> Weight {
		Measured::<RocksDbWeight>::close_batch(g, )
	}
	fn deal(g: u32, ) -> Weight {
		Measured::<RocksDbWeight>::deal(g, )
	}
}
