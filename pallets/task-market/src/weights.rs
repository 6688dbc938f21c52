//! Weights of `pallet_task_market`, measured by `scripts/benchmark-weights`.
//!
//! frame-benchmarking-cli 64.0.0, 20 steps, 10 repeats. Times are of 2026-11-21, AMD EPYC. Accesses and
//! sizes are of 2026-11-22, after the specification got a map of its own: on one slower machine the
//! times before and after that agreed (settle 0.98, assign 0.98, look 0.92, submit_job 0.95).
//! Written by a program: change the benchmarks, not this file.
//! not yet measured: submit_job, order, forget (estimated; they count the needs of a job, and hold or
//! return the deposit for its record)

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_task_market` needs.
pub trait WeightInfo {
	/// Weight of `submit_job`.
	fn submit_job() -> Weight;
	/// Weight of `order`.
	fn order() -> Weight;
	/// Weight of `apply`.
	fn apply() -> Weight;
	/// Weight of `cancel`.
	fn cancel() -> Weight;
	/// Weight of `agree`.
	fn agree() -> Weight;
	/// Weight of `post_listing`.
	fn post_listing() -> Weight;
	/// Weight of `remove_listing`.
	fn remove_listing() -> Weight;
	/// Weight of `forget`.
	fn forget() -> Weight;
	/// Weight of `serve`.
	fn serve(n: u32, ) -> Weight;
	/// Weight of `look`.
	fn look() -> Weight;
	/// Weight of `close_applications`.
	fn close_applications() -> Weight;
	/// Weight of `assign`.
	fn assign(a: u32, ) -> Weight;
	/// Weight of `open_reveals`.
	fn open_reveals() -> Weight;
	/// Weight of `open_audit`.
	fn open_audit() -> Weight;
	/// Weight of `settle`.
	fn settle() -> Weight;
}

/// What was measured, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was measured, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// Storage: `TaskMarket::NextJob` (r:1 w:1)
	/// Proof: `TaskMarket::NextJob` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(175), added: 2650, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:1)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:0 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(950), added: 3425, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:0 w:1)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2134), added: 4609, mode: `MaxEncodedLen`)
	fn submit_job() -> Weight {
		Weight::from_parts(13_000_000_000, 3640)
			.saturating_add(D::get().reads_writes(4_u64, 7_u64))
	}
	/// Storage: `TaskMarket::Listings` (r:1 w:0)
	/// Proof: `TaskMarket::Listings` (`max_values`: None, `max_size`: Some(330), added: 2805, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Trainers` (r:1 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::NextJob` (r:1 w:1)
	/// Proof: `TaskMarket::NextJob` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(175), added: 2650, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:1)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:0 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(950), added: 3425, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:0 w:1)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2134), added: 4609, mode: `MaxEncodedLen`)
	fn order() -> Weight {
		Weight::from_parts(13_500_000_000, 4058)
			.saturating_add(D::get().reads_writes(6_u64, 7_u64))
	}
	/// Storage: `Hashrate::Trainers` (r:65 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(950), added: 3425, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Applicants` (r:1 w:1)
	/// Proof: `TaskMarket::Applicants` (`max_values`: None, `max_size`: Some(2062), added: 4537, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:2 w:2)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:2 w:2)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(175), added: 2650, mode: `MaxEncodedLen`)
	fn apply() -> Weight {
		// At least 405_303_000 ps.
		Weight::from_parts(474_636_000, 200410)
			.saturating_add(D::get().reads_writes(71_u64, 5_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(950), added: 3425, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Applicants` (r:1 w:0)
	/// Proof: `TaskMarket::Applicants` (`max_values`: None, `max_size`: Some(2062), added: 4537, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(175), added: 2650, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn cancel() -> Weight {
		// At least 96_584_000 ps.
		Weight::from_parts(109_333_000, 5527)
			.saturating_add(D::get().reads_writes(5_u64, 6_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(950), added: 3425, mode: `MaxEncodedLen`)
	fn agree() -> Weight {
		// At least 24_596_000 ps.
		Weight::from_parts(42_323_000, 4415)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Storage: `Hashrate::Trainers` (r:1 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Listings` (r:0 w:1)
	/// Proof: `TaskMarket::Listings` (`max_values`: None, `max_size`: Some(330), added: 2805, mode: `MaxEncodedLen`)
	fn post_listing() -> Weight {
		// At least 13_009_000 ps.
		Weight::from_parts(14_401_000, 4058)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Storage: `TaskMarket::Listings` (r:1 w:1)
	/// Proof: `TaskMarket::Listings` (`max_values`: None, `max_size`: Some(330), added: 2805, mode: `MaxEncodedLen`)
	fn remove_listing() -> Weight {
		// At least 10_957_000 ps.
		Weight::from_parts(12_268_000, 3795)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(950), added: 3425, mode: `MaxEncodedLen`)
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(6313), added: 8788, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:1)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:0 w:1)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2134), added: 4609, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:0 w:1)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3158), added: 5633, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(175), added: 2650, mode: `MaxEncodedLen`)
	fn forget() -> Weight {
		Weight::from_parts(110_000_000, 9778)
			.saturating_add(D::get().reads_writes(4_u64, 7_u64))
	}
	/// Storage: `TaskMarket::Cursor` (r:1 w:1)
	/// Proof: `TaskMarket::Cursor` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:101 w:200)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:100 w:100)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(950), added: 3425, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Applicants` (r:100 w:0)
	/// Proof: `TaskMarket::Applicants` (`max_values`: None, `max_size`: Some(2062), added: 4537, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:100 w:100)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// `n` was 0 to 100.
	fn serve(n: u32, ) -> Weight {
		// At least 7_321_000 ps.
		Weight::from_parts(21_789_220, 3489)
			// Standard error 365_933.
			.saturating_add(Weight::from_parts(24_161_972, 0).saturating_mul(n.into()))
			.saturating_add(Weight::from_parts(0, 4537).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(2_u64, 1_u64))
			.saturating_add(D::get().reads((4_u64).saturating_mul(n.into())))
			.saturating_add(D::get().writes((4_u64).saturating_mul(n.into())))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(950), added: 3425, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3158), added: 5633, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:1)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn look() -> Weight {
		// At least 28_582_000 ps.
		Weight::from_parts(32_748_000, 6623)
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(950), added: 3425, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Applicants` (r:1 w:0)
	/// Proof: `TaskMarket::Applicants` (`max_values`: None, `max_size`: Some(2062), added: 4537, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn close_applications() -> Weight {
		// At least 43_554_000 ps.
		Weight::from_parts(49_814_000, 5527)
			.saturating_add(D::get().reads_writes(3_u64, 4_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(950), added: 3425, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Applicants` (r:1 w:1)
	/// Proof: `TaskMarket::Applicants` (`max_values`: None, `max_size`: Some(2062), added: 4537, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Trainers` (r:64 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:56 w:56)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:56 w:56)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(175), added: 2650, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2134), added: 4609, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:1)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3158), added: 5633, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:1)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// `a` was 1 to 64.
	fn assign(a: u32, ) -> Weight {
		// At least 56_765_000 ps.
		Weight::from_parts(65_989_000, 6623)
			// Standard error 229_537.
			.saturating_add(Weight::from_parts(41_462_242, 0).saturating_mul(a.into()))
			.saturating_add(Weight::from_parts(0, 3068).saturating_mul(a.into()))
			.saturating_add(D::get().reads_writes(6_u64, 5_u64))
			.saturating_add(D::get().reads((3_u64).saturating_mul(a.into())))
			.saturating_add(D::get().writes((2_u64).saturating_mul(a.into())))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(950), added: 3425, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:1)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3158), added: 5633, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:10 w:10)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:9 w:9)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(175), added: 2650, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn open_reveals() -> Weight {
		// At least 480_966_000 ps.
		Weight::from_parts(497_040_000, 27020)
			.saturating_add(D::get().reads_writes(22_u64, 24_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(950), added: 3425, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Blobs` (r:8 w:0)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(6313), added: 8788, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn open_audit() -> Weight {
		// At least 68_292_000 ps.
		Weight::from_parts(76_655_000, 21886)
			.saturating_add(D::get().reads_writes(11_u64, 5_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(950), added: 3425, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2134), added: 4609, mode: `MaxEncodedLen`)
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
	/// Storage: `System::Account` (r:55 w:55)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:9 w:9)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(175), added: 2650, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::TotalBurned` (r:1 w:1)
	/// Proof: `TaskMarket::TotalBurned` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn settle() -> Weight {
		// At least 4_457_982_000 ps.
		Weight::from_parts(4_629_727_000, 144155)
			.saturating_add(D::get().reads_writes(85_u64, 76_u64))
	}
}

// For tests.
impl WeightInfo for () {
	fn submit_job() -> Weight {
		Measured::<RocksDbWeight>::submit_job()
	}
	fn order() -> Weight {
		Measured::<RocksDbWeight>::order()
	}
	fn apply() -> Weight {
		Measured::<RocksDbWeight>::apply()
	}
	fn cancel() -> Weight {
		Measured::<RocksDbWeight>::cancel()
	}
	fn agree() -> Weight {
		Measured::<RocksDbWeight>::agree()
	}
	fn post_listing() -> Weight {
		Measured::<RocksDbWeight>::post_listing()
	}
	fn remove_listing() -> Weight {
		Measured::<RocksDbWeight>::remove_listing()
	}
	fn forget() -> Weight {
		Measured::<RocksDbWeight>::forget()
	}
	fn serve(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::serve(n, )
	}
	fn look() -> Weight {
		Measured::<RocksDbWeight>::look()
	}
	fn close_applications() -> Weight {
		Measured::<RocksDbWeight>::close_applications()
	}
	fn assign(a: u32, ) -> Weight {
		Measured::<RocksDbWeight>::assign(a, )
	}
	fn open_reveals() -> Weight {
		Measured::<RocksDbWeight>::open_reveals()
	}
	fn open_audit() -> Weight {
		Measured::<RocksDbWeight>::open_audit()
	}
	fn settle() -> Weight {
		Measured::<RocksDbWeight>::settle()
	}
}
