//! Weights of `pallet_task_market`, measured by `scripts/benchmark-weights` on 2026-11-23.
//!
//! frame-benchmarking-cli 64.0.0, 20 steps, 10 repeats, AMD EPYC.
//! Written by a program: change the benchmarks, not this file. But for `Market`, `Prices` and `TrainingVolumes`,
//! whose reads and writes are counted by hand, with 20 us each time for what is computed, and for `offer_claim`,
//! `buy_claim` and `enrol_claim`, which are estimates from their accesses, until it is measured again.

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
	/// Weight of `end_late`.
	fn end_late() -> Weight;
	/// Weight of `convict_late`.
	fn convict_late() -> Weight;
	/// Weight of `charged`.
	fn charged() -> Weight;
	/// Weight of `offer_claim`: without what it asks of audit and court.
	fn offer_claim() -> Weight;
	/// Weight of `buy_claim`: without what it asks of audit and court.
	fn buy_claim() -> Weight;
	/// Weight of `enrol_claim`.
	fn enrol_claim() -> Weight;
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
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:1)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:0 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:0 w:1)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Market` (r:1 w:1)
	/// Proof: `TaskMarket::Market` (`max_values`: Some(1), `max_size`: Some(20), added: 515, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::TrainingVolumes` (r:1 w:0)
	/// Proof: `Hashrate::TrainingVolumes` (`max_values`: Some(1), `max_size`: Some(18), added: 513, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Prices` (r:1 w:0)
	/// Proof: `TaskMarket::Prices` (`max_values`: None, `max_size`: Some(37), added: 2512, mode: `MaxEncodedLen`)
	fn submit_job() -> Weight {
		// At least 9_539_722_000 ps.
		Weight::from_parts(10_229_388_000, 3712)
			.saturating_add(D::get().reads_writes(8_u64, 8_u64))
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
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:1)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:0 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:0 w:1)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Market` (r:1 w:1)
	/// Proof: `TaskMarket::Market` (`max_values`: Some(1), `max_size`: Some(20), added: 515, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::TrainingVolumes` (r:1 w:0)
	/// Proof: `Hashrate::TrainingVolumes` (`max_values`: Some(1), `max_size`: Some(18), added: 513, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Prices` (r:1 w:0)
	/// Proof: `TaskMarket::Prices` (`max_values`: None, `max_size`: Some(37), added: 2512, mode: `MaxEncodedLen`)
	fn order() -> Weight {
		// At least 9_747_564_000 ps.
		Weight::from_parts(10_456_068_000, 4058)
			.saturating_add(D::get().reads_writes(10_u64, 8_u64))
	}
	/// Storage: `Hashrate::Trainers` (r:1 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Applicants` (r:1 w:1)
	/// Proof: `TaskMarket::Applicants` (`max_values`: None, `max_size`: Some(5134), added: 7609, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:2 w:2)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:2 w:2)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	fn apply() -> Weight {
		// At least 103_115_000 ps.
		Weight::from_parts(117_397_000, 8599)
			.saturating_add(D::get().reads_writes(7_u64, 5_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Applicants` (r:1 w:0)
	/// Proof: `TaskMarket::Applicants` (`max_values`: None, `max_size`: Some(5134), added: 7609, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Lates` (r:1 w:0)
	/// Proof: `TaskMarket::Lates` (`max_values`: None, `max_size`: Some(541), added: 3016, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Uploading` (r:0 w:1)
	/// Proof: `TaskMarket::Uploading` (`max_values`: None, `max_size`: Some(20), added: 2495, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Market` (r:1 w:1)
	/// Proof: `TaskMarket::Market` (`max_values`: Some(1), `max_size`: Some(20), added: 515, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::TotalBurned` (r:1 w:1)
	/// Proof: `TaskMarket::TotalBurned` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::TrainingVolumes` (r:1 w:0)
	/// Proof: `Hashrate::TrainingVolumes` (`max_values`: Some(1), `max_size`: Some(18), added: 513, mode: `MaxEncodedLen`)
	fn cancel() -> Weight {
		// At least 60_200_000 ps.
		Weight::from_parts(90_315_000, 8599)
			.saturating_add(D::get().reads_writes(11_u64, 9_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	fn agree() -> Weight {
		// At least 14_322_000 ps.
		Weight::from_parts(18_247_000, 4813)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Storage: `Hashrate::Trainers` (r:1 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Listings` (r:0 w:1)
	/// Proof: `TaskMarket::Listings` (`max_values`: None, `max_size`: Some(330), added: 2805, mode: `MaxEncodedLen`)
	fn post_listing() -> Weight {
		// At least 9_645_000 ps.
		Weight::from_parts(10_526_000, 4058)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Storage: `TaskMarket::Listings` (r:1 w:1)
	/// Proof: `TaskMarket::Listings` (`max_values`: None, `max_size`: Some(330), added: 2805, mode: `MaxEncodedLen`)
	fn remove_listing() -> Weight {
		// At least 7_451_000 ps.
		Weight::from_parts(8_162_000, 3795)
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Lates` (r:1 w:0)
	/// Proof: `TaskMarket::Lates` (`max_values`: None, `max_size`: Some(541), added: 3016, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Pool` (r:1 w:1)
	/// Proof: `Verification::Pool` (`max_values`: Some(1), `max_size`: Some(221186), added: 221681, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Claims` (r:1 w:0)
	/// Proof: `Verification::Claims` (`max_values`: None, `max_size`: Some(15685), added: 18160, mode: `MaxEncodedLen`)
	/// Storage: `Verification::OpenRelays` (r:1 w:0)
	/// Proof: `Verification::OpenRelays` (`max_values`: None, `max_size`: Some(45), added: 2520, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Kept` (r:1 w:0)
	/// Proof: `Verification::Kept` (`max_values`: None, `max_size`: Some(4142), added: 6617, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:1)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:0 w:1)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:0 w:1)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:0 w:1)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Forced` (r:0 w:8)
	/// Proof: `Verification::Forced` (`max_values`: None, `max_size`: Some(1149), added: 3624, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Uploading` (r:0 w:1)
	/// Proof: `Verification::Uploading` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn forget() -> Weight {
		// At least 100_391_000 ps.
		Weight::from_parts(110_406_000, 222671)
			.saturating_add(D::get().reads_writes(9_u64, 18_u64))
	}
	/// Storage: `TaskMarket::Cursor` (r:1 w:1)
	/// Proof: `TaskMarket::Cursor` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:101 w:200)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:100 w:100)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Applicants` (r:100 w:0)
	/// Proof: `TaskMarket::Applicants` (`max_values`: None, `max_size`: Some(5134), added: 7609, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:100 w:100)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// `n` was 0 to 100.
	fn serve(n: u32, ) -> Weight {
		// At least 5_589_000 ps.
		Weight::from_parts(14_591_419, 3489)
			// Standard error 75_066.
			.saturating_add(Weight::from_parts(16_290_948, 0).saturating_mul(n.into()))
			.saturating_add(Weight::from_parts(0, 7609).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(2_u64, 1_u64))
			.saturating_add(D::get().reads((4_u64).saturating_mul(n.into())))
			.saturating_add(D::get().writes((4_u64).saturating_mul(n.into())))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:1)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn look() -> Weight {
		// At least 19_198_000 ps.
		Weight::from_parts(22_283_000, 6887)
			.saturating_add(D::get().reads_writes(3_u64, 3_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Applicants` (r:1 w:0)
	/// Proof: `TaskMarket::Applicants` (`max_values`: None, `max_size`: Some(5134), added: 7609, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn close_applications() -> Weight {
		// At least 23_686_000 ps.
		Weight::from_parts(35_072_000, 8599)
			.saturating_add(D::get().reads_writes(4_u64, 4_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Applicants` (r:1 w:1)
	/// Proof: `TaskMarket::Applicants` (`max_values`: None, `max_size`: Some(5134), added: 7609, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Trainers` (r:64 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:56 w:56)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:56 w:56)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:1)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:1)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// `a` was 1 to 64.
	fn assign(a: u32, ) -> Weight {
		// At least 37_426_000 ps.
		Weight::from_parts(38_749_000, 8599)
			// Standard error 151_913.
			.saturating_add(Weight::from_parts(29_247_131, 0).saturating_mul(a.into()))
			.saturating_add(Weight::from_parts(0, 3068).saturating_mul(a.into()))
			.saturating_add(D::get().reads_writes(6_u64, 5_u64))
			.saturating_add(D::get().reads((3_u64).saturating_mul(a.into())))
			.saturating_add(D::get().writes((2_u64).saturating_mul(a.into())))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:1)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:10 w:10)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:9 w:9)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Lates` (r:1 w:0)
	/// Proof: `TaskMarket::Lates` (`max_values`: None, `max_size`: Some(541), added: 3016, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Uploading` (r:0 w:1)
	/// Proof: `TaskMarket::Uploading` (`max_values`: None, `max_size`: Some(20), added: 2495, mode: `MaxEncodedLen`)
	fn open_reveals() -> Weight {
		// At least 326_310_000 ps.
		Weight::from_parts(360_452_000, 27020)
			.saturating_add(D::get().reads_writes(24_u64, 25_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `ModelStorage::Blobs` (r:8 w:0)
	/// Proof: `ModelStorage::Blobs` (`max_values`: None, `max_size`: Some(137), added: 2612, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `Parameters::Parameters` (r:2 w:0)
	/// Proof: `Parameters::Parameters` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::FirstPatience` (r:1 w:0)
	/// Proof: `TaskMarket::FirstPatience` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Seeding` (r:1 w:0)
	/// Proof: `Hashrate::Seeding` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:0 w:1)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	fn open_audit() -> Weight {
		// At least 56_805_000 ps.
		Weight::from_parts(65_889_000, 30735)
			.saturating_add(D::get().reads_writes(16_u64, 6_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Trainers` (r:7 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Timestamp::Now` (r:1 w:0)
	/// Proof: `Timestamp::Now` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Begun` (r:1 w:0)
	/// Proof: `Hashrate::Begun` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::HalfLifeMs` (r:1 w:0)
	/// Proof: `Hashrate::HalfLifeMs` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Power` (r:7 w:7)
	/// Proof: `Hashrate::Power` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:55 w:55)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:9 w:9)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::TotalBurned` (r:1 w:1)
	/// Proof: `TaskMarket::TotalBurned` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Lates` (r:1 w:0)
	/// Proof: `TaskMarket::Lates` (`max_values`: None, `max_size`: Some(541), added: 3016, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Uploading` (r:0 w:1)
	/// Proof: `TaskMarket::Uploading` (`max_values`: None, `max_size`: Some(20), added: 2495, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Market` (r:1 w:1)
	/// Proof: `TaskMarket::Market` (`max_values`: Some(1), `max_size`: Some(20), added: 515, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Prices` (r:1 w:1)
	/// Proof: `TaskMarket::Prices` (`max_values`: None, `max_size`: Some(37), added: 2512, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::TrainingVolumes` (r:1 w:0)
	/// Proof: `Hashrate::TrainingVolumes` (`max_values`: Some(1), `max_size`: Some(18), added: 513, mode: `MaxEncodedLen`)
	fn settle() -> Weight {
		// At least 2_355_228_000 ps.
		Weight::from_parts(2_548_910_000, 144155)
			.saturating_add(D::get().reads_writes(91_u64, 79_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Lates` (r:1 w:1)
	/// Proof: `TaskMarket::Lates` (`max_values`: None, `max_size`: Some(541), added: 3016, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:1 w:1)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:8 w:8)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:8 w:8)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Court::Won` (r:8 w:0)
	/// Proof: `Court::Won` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:0 w:1)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	fn end_late() -> Weight {
		// At least 284_548_000 ps.
		Weight::from_parts(300_501_000, 22766)
			.saturating_add(D::get().reads_writes(28_u64, 23_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:1)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Lates` (r:1 w:1)
	/// Proof: `TaskMarket::Lates` (`max_values`: None, `max_size`: Some(541), added: 3016, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:3 w:3)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::TotalBurned` (r:1 w:1)
	/// Proof: `TaskMarket::TotalBurned` (`max_values`: Some(1), `max_size`: Some(16), added: 511, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Trainers` (r:1 w:0)
	/// Proof: `Hashrate::Trainers` (`max_values`: None, `max_size`: Some(593), added: 3068, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Power` (r:1 w:1)
	/// Proof: `Hashrate::Power` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Timestamp::Now` (r:1 w:0)
	/// Proof: `Timestamp::Now` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::Begun` (r:1 w:0)
	/// Proof: `Hashrate::Begun` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Hashrate::HalfLifeMs` (r:1 w:0)
	/// Proof: `Hashrate::HalfLifeMs` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	fn convict_late() -> Weight {
		// At least 131_147_000 ps.
		Weight::from_parts(138_127_000, 8799)
			.saturating_add(D::get().reads_writes(14_u64, 11_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	fn charged() -> Weight {
		// At least 18_918_000 ps.
		Weight::from_parts(21_943_000, 6887)
			.saturating_add(D::get().reads_writes(4_u64, 0_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Storage: `TaskMarket::Claims` (r:1 w:1)
	/// Storage: `TaskMarket::Guilty` (r:1 w:0)
	fn offer_claim() -> Weight {
		// An estimate.
		Weight::from_parts(60_000_000, 12_000)
			.saturating_add(D::get().reads_writes(3_u64, 1_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Storage: `TaskMarket::Claims` (r:1 w:1)
	/// Storage: `TaskMarket::Guilty` (r:1 w:0)
	/// Storage: `System::Account` (r:2 w:2)
	fn buy_claim() -> Weight {
		// An estimate.
		Weight::from_parts(120_000_000, 18_000)
			.saturating_add(D::get().reads_writes(5_u64, 3_u64))
	}
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Storage: `TaskMarket::Claims` (r:1 w:1)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	fn enrol_claim() -> Weight {
		// An estimate.
		Weight::from_parts(70_000_000, 14_000)
			.saturating_add(D::get().reads_writes(3_u64, 1_u64))
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
	fn end_late() -> Weight {
		Measured::<RocksDbWeight>::end_late()
	}
	fn convict_late() -> Weight {
		Measured::<RocksDbWeight>::convict_late()
	}
	fn charged() -> Weight {
		Measured::<RocksDbWeight>::charged()
	}
	fn offer_claim() -> Weight {
		Measured::<RocksDbWeight>::offer_claim()
	}
	fn buy_claim() -> Weight {
		Measured::<RocksDbWeight>::buy_claim()
	}
	fn enrol_claim() -> Weight {
		Measured::<RocksDbWeight>::enrol_claim()
	}
}
