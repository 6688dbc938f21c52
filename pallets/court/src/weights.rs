//! Weights of `pallet_court`, measured by `scripts/benchmark-weights` on 2026-11-23.
//!
//! frame-benchmarking-cli 64.0.0, 20 steps, 10 repeats, AMD EPYC.
//! Written by a program: change the benchmarks, not this file.

#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(unused_parens, unused_imports, clippy::unnecessary_cast)]

use core::marker::PhantomData;
use frame_support::{traits::Get, weights::{constants::RocksDbWeight, RuntimeDbWeight, Weight}};

/// Weights that `pallet_court` needs.
pub trait WeightInfo {
	/// Weight of `commit`.
	fn commit() -> Weight;
	/// Weight of `challenge`.
	fn challenge() -> Weight;
	/// Weight of `raise`.
	fn raise() -> Weight;
	/// Weight of `withdraw`.
	fn withdraw() -> Weight;
	/// Weight of `post`.
	fn post() -> Weight;
	/// Weight of `open`.
	fn open() -> Weight;
	/// Weight of `contents`.
	fn contents(n: u32, ) -> Weight;
	/// Weight of `deny`.
	fn deny() -> Weight;
	/// Weight of `show`.
	fn show() -> Weight;
	/// Weight of `lower`.
	fn lower(l: u32, ) -> Weight;
	/// Weight of `judge`.
	fn judge() -> Weight;
	/// Weight of `openings`.
	fn openings(b: u32, ) -> Weight;
	/// Weight of `terms`.
	fn terms(t: u32, ) -> Weight;
	/// Weight of `rows`.
	fn rows(r: u32, ) -> Weight;
	/// Weight of `serve`.
	fn serve(n: u32, ) -> Weight;
	/// Weight of `expire`.
	fn expire() -> Weight;
	/// Weight of `lapse`.
	fn lapse() -> Weight;
	/// Weight of `close`.
	fn close() -> Weight;
	/// Weight of `acquit`.
	fn acquit() -> Weight;
	/// Weight of `forget`.
	fn forget() -> Weight;
	/// Weight of `close_block`.
	fn close_block() -> Weight;
}

/// What was measured, with the access costs `D` of a database.
pub struct Measured<D>(PhantomData<D>);

/// What was measured, with the access costs of the runtime's database.
pub type SubstrateWeight<T> = Measured<<T as frame_system::Config>::DbWeight>;

impl<D: Get<RuntimeDbWeight>> WeightInfo for Measured<D> {
	/// Storage: `Court::CommittedBy` (r:1 w:1)
	/// Proof: `Court::CommittedBy` (`max_values`: None, `max_size`: Some(68), added: 2543, mode: `MaxEncodedLen`)
	/// Storage: `Verification::AuditRecords` (r:1 w:0)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:1 w:1)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Court::NextDispute` (r:1 w:1)
	/// Proof: `Court::NextDispute` (`max_values`: Some(1), `max_size`: Some(8), added: 503, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:1 w:1)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:1)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Court::Commitments` (r:0 w:1)
	/// Proof: `Court::Commitments` (`max_values`: None, `max_size`: Some(108), added: 2583, mode: `MaxEncodedLen`)
	fn commit() -> Weight {
		// At least 56_765_000 ps.
		Weight::from_parts(59_700_000, 30735)
			.saturating_add(D::get().reads_writes(8_u64, 7_u64))
	}
	/// Storage: `Court::CommittedBy` (r:1 w:1)
	/// Proof: `Court::CommittedBy` (`max_values`: None, `max_size`: Some(68), added: 2543, mode: `MaxEncodedLen`)
	/// Storage: `Court::Commitments` (r:1 w:1)
	/// Proof: `Court::Commitments` (`max_values`: None, `max_size`: Some(108), added: 2583, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `System::BlockHash` (r:1 w:0)
	/// Proof: `System::BlockHash` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Forced` (r:1 w:0)
	/// Proof: `Verification::Forced` (`max_values`: None, `max_size`: Some(1149), added: 3624, mode: `MaxEncodedLen`)
	/// Storage: `Court::Opened` (r:1 w:0)
	/// Proof: `Court::Opened` (`max_values`: None, `max_size`: Some(1277), added: 3752, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:1 w:1)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `Court::Dockets` (r:1 w:1)
	/// Proof: `Court::Dockets` (`max_values`: None, `max_size`: Some(1943), added: 4418, mode: `MaxEncodedLen`)
	/// Storage: `Court::Disputes` (r:3 w:4)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(648), added: 3123, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:3 w:3)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:3)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Court::Aside` (r:0 w:1)
	/// Proof: `Court::Aside` (`max_values`: None, `max_size`: Some(105), added: 2580, mode: `MaxEncodedLen`)
	fn challenge() -> Weight {
		// At least 154_152_000 ps.
		Weight::from_parts(163_435_000, 10359)
			.saturating_add(D::get().reads_writes(20_u64, 18_u64))
	}
	/// Storage: `Court::Disputes` (r:4 w:4)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(648), added: 3123, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Court::Dockets` (r:1 w:1)
	/// Proof: `Court::Dockets` (`max_values`: None, `max_size`: Some(1943), added: 4418, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:2 w:2)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:2)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Court::Aside` (r:0 w:2)
	/// Proof: `Court::Aside` (`max_values`: None, `max_size`: Some(105), added: 2580, mode: `MaxEncodedLen`)
	fn raise() -> Weight {
		// At least 98_157_000 ps.
		Weight::from_parts(102_383_000, 13482)
			.saturating_add(D::get().reads_writes(10_u64, 12_u64))
	}
	/// Storage: `Court::Disputes` (r:4 w:4)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(648), added: 3123, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:2 w:2)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Court::Dockets` (r:1 w:1)
	/// Proof: `Court::Dockets` (`max_values`: None, `max_size`: Some(1943), added: 4418, mode: `MaxEncodedLen`)
	/// Storage: `Court::Aside` (r:2 w:1)
	/// Proof: `Court::Aside` (`max_values`: None, `max_size`: Some(105), added: 2580, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:1 w:1)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:2 w:2)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:1 w:1)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Court::Won` (r:1 w:1)
	/// Proof: `Court::Won` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:2)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn withdraw() -> Weight {
		// At least 153_450_000 ps.
		Weight::from_parts(163_886_000, 13482)
			.saturating_add(D::get().reads_writes(21_u64, 18_u64))
	}
	/// Storage: `Court::Disputes` (r:3 w:3)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(648), added: 3123, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `Court::Posts` (r:1 w:1)
	/// Proof: `Court::Posts` (`max_values`: None, `max_size`: Some(2201), added: 4676, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:2 w:2)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Court::Dockets` (r:1 w:1)
	/// Proof: `Court::Dockets` (`max_values`: None, `max_size`: Some(1943), added: 4418, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:3)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn post() -> Weight {
		// At least 167_001_000 ps.
		Weight::from_parts(186_069_000, 10359)
			.saturating_add(D::get().reads_writes(13_u64, 10_u64))
	}
	/// Storage: `Court::Disputes` (r:3 w:3)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(648), added: 3123, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `Court::Opened` (r:1 w:1)
	/// Proof: `Court::Opened` (`max_values`: None, `max_size`: Some(1277), added: 3752, mode: `MaxEncodedLen`)
	/// Storage: `Court::Posts` (r:1 w:1)
	/// Proof: `Court::Posts` (`max_values`: None, `max_size`: Some(2201), added: 4676, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:2 w:2)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Court::Dockets` (r:1 w:1)
	/// Proof: `Court::Dockets` (`max_values`: None, `max_size`: Some(1943), added: 4418, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:3)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn open() -> Weight {
		// At least 190_146_000 ps.
		Weight::from_parts(206_580_000, 10359)
			.saturating_add(D::get().reads_writes(14_u64, 11_u64))
	}
	/// `n` was 1 to 1538.
	fn contents(n: u32, ) -> Weight {
		// At least 2_944_000 ps.
		Weight::from_parts(90_571_387, 0)
			// Standard error 9_233.
			.saturating_add(Weight::from_parts(4_179_519, 0).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(0_u64, 0_u64))
	}
	/// Storage: `Court::Disputes` (r:3 w:3)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(648), added: 3123, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `Court::Posts` (r:1 w:0)
	/// Proof: `Court::Posts` (`max_values`: None, `max_size`: Some(2201), added: 4676, mode: `MaxEncodedLen`)
	/// Storage: `Court::Opened` (r:1 w:0)
	/// Proof: `Court::Opened` (`max_values`: None, `max_size`: Some(1277), added: 3752, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:2 w:2)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Court::Dockets` (r:1 w:1)
	/// Proof: `Court::Dockets` (`max_values`: None, `max_size`: Some(1943), added: 4418, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:3)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn deny() -> Weight {
		// At least 89_304_000 ps.
		Weight::from_parts(95_744_000, 10359)
			.saturating_add(D::get().reads_writes(14_u64, 9_u64))
	}
	/// Storage: `Court::Disputes` (r:3 w:3)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(648), added: 3123, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `Court::Posts` (r:1 w:0)
	/// Proof: `Court::Posts` (`max_values`: None, `max_size`: Some(2201), added: 4676, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:2 w:2)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Court::Dockets` (r:1 w:1)
	/// Proof: `Court::Dockets` (`max_values`: None, `max_size`: Some(1943), added: 4418, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:3)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn show() -> Weight {
		// At least 139_129_000 ps.
		Weight::from_parts(150_286_000, 10359)
			.saturating_add(D::get().reads_writes(13_u64, 9_u64))
	}
	/// `l` was 1 to 24.
	fn lower(l: u32, ) -> Weight {
		// At least 148_283_000 ps.
		Weight::from_parts(36_625_756, 0)
			// Standard error 259_024.
			.saturating_add(Weight::from_parts(111_910_531, 0).saturating_mul(l.into()))
			.saturating_add(D::get().reads_writes(0_u64, 0_u64))
	}
	/// Storage: `Court::Disputes` (r:64 w:1)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(648), added: 3123, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:1)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `Court::Dockets` (r:1 w:1)
	/// Proof: `Court::Dockets` (`max_values`: None, `max_size`: Some(1943), added: 4418, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:2 w:1)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:1 w:1)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Court::Won` (r:1 w:0)
	/// Proof: `Court::Won` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(27270), added: 29745, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Guilty` (r:0 w:1)
	/// Proof: `TaskMarket::Guilty` (`max_values`: None, `max_size`: Some(93), added: 2568, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:1)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Court::Closing` (r:0 w:1)
	/// Proof: `Court::Closing` (`max_values`: None, `max_size`: Some(85), added: 2560, mode: `MaxEncodedLen`)
	fn judge() -> Weight {
		// At least 501_353_000 ps.
		Weight::from_parts(528_914_000, 200862)
			.saturating_add(D::get().reads_writes(78_u64, 13_u64))
	}
	/// `b` was 1 to 240.
	fn openings(b: u32, ) -> Weight {
		// At least 75_393_000 ps.
		Weight::from_parts(96_525_868, 0)
			// Standard error 232_501.
			.saturating_add(Weight::from_parts(71_292_981, 0).saturating_mul(b.into()))
			.saturating_add(D::get().reads_writes(0_u64, 0_u64))
	}
	/// `t` was 1 to 32768.
	fn terms(t: u32, ) -> Weight {
		// At least 140_000 ps.
		Weight::from_parts(160_000, 0)
			// Standard error 36.
			.saturating_add(Weight::from_parts(20_706, 0).saturating_mul(t.into()))
			.saturating_add(D::get().reads_writes(0_u64, 0_u64))
	}
	/// `r` was 1 to 220.
	fn rows(r: u32, ) -> Weight {
		// At least 301_000 ps.
		Weight::from_parts(493_713, 0)
			// Standard error 142.
			.saturating_add(Weight::from_parts(152_147, 0).saturating_mul(r.into()))
			.saturating_add(D::get().reads_writes(0_u64, 0_u64))
	}
	/// Storage: `Court::Agenda` (r:65 w:64)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Court::Cursor` (r:0 w:1)
	/// Proof: `Court::Cursor` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// `n` was 0 to 64.
	fn serve(n: u32, ) -> Weight {
		// At least 2_394_000 ps.
		Weight::from_parts(2_531_223, 3494)
			// Standard error 2_620.
			.saturating_add(Weight::from_parts(3_527_287, 0).saturating_mul(n.into()))
			.saturating_add(Weight::from_parts(0, 2504).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
			.saturating_add(D::get().reads((1_u64).saturating_mul(n.into())))
			.saturating_add(D::get().writes((1_u64).saturating_mul(n.into())))
	}
	/// Storage: `Court::Disputes` (r:4 w:4)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(648), added: 3123, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(44), added: 2519, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `Court::Dockets` (r:1 w:1)
	/// Proof: `Court::Dockets` (`max_values`: None, `max_size`: Some(1943), added: 4418, mode: `MaxEncodedLen`)
	/// Storage: `Court::Aside` (r:2 w:1)
	/// Proof: `Court::Aside` (`max_values`: None, `max_size`: Some(105), added: 2580, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:1 w:1)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:2 w:2)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:2 w:2)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Court::Won` (r:1 w:1)
	/// Proof: `Court::Won` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:0 w:1)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	fn expire() -> Weight {
		// At least 139_450_000 ps.
		Weight::from_parts(152_269_000, 13482)
			.saturating_add(D::get().reads_writes(20_u64, 16_u64))
	}
	/// Storage: `Court::Commitments` (r:1 w:1)
	/// Proof: `Court::Commitments` (`max_values`: None, `max_size`: Some(108), added: 2583, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:1 w:1)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:2 w:2)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Court::CommittedBy` (r:0 w:1)
	/// Proof: `Court::CommittedBy` (`max_values`: None, `max_size`: Some(68), added: 2543, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:0 w:1)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	fn lapse() -> Weight {
		// At least 54_943_000 ps.
		Weight::from_parts(58_547_000, 6196)
			.saturating_add(D::get().reads_writes(7_u64, 10_u64))
	}
	/// Storage: `Court::Closing` (r:1 w:0)
	/// Proof: `Court::Closing` (`max_values`: None, `max_size`: Some(85), added: 2560, mode: `MaxEncodedLen`)
	/// Storage: `Court::Dockets` (r:1 w:1)
	/// Proof: `Court::Dockets` (`max_values`: None, `max_size`: Some(1943), added: 4418, mode: `MaxEncodedLen`)
	/// Storage: `Court::Disputes` (r:8 w:8)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(648), added: 3123, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:8 w:3)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:1 w:1)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:8 w:8)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:8 w:8)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:3)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn close() -> Weight {
		// At least 397_628_000 ps.
		Weight::from_parts(416_085_000, 25974)
			.saturating_add(D::get().reads_writes(37_u64, 35_u64))
	}
	/// Storage: `Court::Won` (r:25 w:16)
	/// Proof: `Court::Won` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:16 w:16)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:16 w:16)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:1)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:0 w:1)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	fn acquit() -> Weight {
		// At least 576_716_000 ps.
		Weight::from_parts(601_103_000, 65690)
			.saturating_add(D::get().reads_writes(57_u64, 50_u64))
	}
	/// Storage: `Court::Posts` (r:64 w:64)
	/// Proof: `Court::Posts` (`max_values`: None, `max_size`: Some(2201), added: 4676, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:0 w:1)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	fn forget() -> Weight {
		// At least 51_237_000 ps.
		Weight::from_parts(54_392_000, 300254)
			.saturating_add(D::get().reads_writes(64_u64, 65_u64))
	}
	/// Storage: `ModelStorage::MovesFull` (r:1 w:0)
	/// Proof: `ModelStorage::MovesFull` (`max_values`: Some(1), `max_size`: Some(1), added: 496, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:1)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	fn close_block() -> Weight {
		// At least 2_413_000 ps.
		Weight::from_parts(2_644_000, 1489)
			.saturating_add(D::get().reads_writes(2_u64, 1_u64))
	}
}

// For tests.
impl WeightInfo for () {
	fn commit() -> Weight {
		Measured::<RocksDbWeight>::commit()
	}
	fn challenge() -> Weight {
		Measured::<RocksDbWeight>::challenge()
	}
	fn raise() -> Weight {
		Measured::<RocksDbWeight>::raise()
	}
	fn withdraw() -> Weight {
		Measured::<RocksDbWeight>::withdraw()
	}
	fn post() -> Weight {
		Measured::<RocksDbWeight>::post()
	}
	fn open() -> Weight {
		Measured::<RocksDbWeight>::open()
	}
	fn contents(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::contents(n, )
	}
	fn deny() -> Weight {
		Measured::<RocksDbWeight>::deny()
	}
	fn show() -> Weight {
		Measured::<RocksDbWeight>::show()
	}
	fn lower(l: u32, ) -> Weight {
		Measured::<RocksDbWeight>::lower(l, )
	}
	fn judge() -> Weight {
		Measured::<RocksDbWeight>::judge()
	}
	fn openings(b: u32, ) -> Weight {
		Measured::<RocksDbWeight>::openings(b, )
	}
	fn terms(t: u32, ) -> Weight {
		Measured::<RocksDbWeight>::terms(t, )
	}
	fn rows(r: u32, ) -> Weight {
		Measured::<RocksDbWeight>::rows(r, )
	}
	fn serve(n: u32, ) -> Weight {
		Measured::<RocksDbWeight>::serve(n, )
	}
	fn expire() -> Weight {
		Measured::<RocksDbWeight>::expire()
	}
	fn lapse() -> Weight {
		Measured::<RocksDbWeight>::lapse()
	}
	fn close() -> Weight {
		Measured::<RocksDbWeight>::close()
	}
	fn acquit() -> Weight {
		Measured::<RocksDbWeight>::acquit()
	}
	fn forget() -> Weight {
		Measured::<RocksDbWeight>::forget()
	}
	fn close_block() -> Weight {
		Measured::<RocksDbWeight>::close_block()
	}
}
