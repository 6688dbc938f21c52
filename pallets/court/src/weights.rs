//! Weights of `pallet_court`, measured by `scripts/benchmark-weights` on 2026-11-24.
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
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:1 w:1)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(48), added: 2523, mode: `MaxEncodedLen`)
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
		// At least 61_562_000 ps.
		Weight::from_parts(64_196_000, 68221)
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
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(48), added: 2523, mode: `MaxEncodedLen`)
	/// Storage: `Submissions::Rounds` (r:1 w:0)
	/// Proof: `Submissions::Rounds` (`max_values`: None, `max_size`: Some(3422), added: 5897, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Specs` (r:1 w:0)
	/// Proof: `TaskMarket::Specs` (`max_values`: None, `max_size`: Some(2198), added: 4673, mode: `MaxEncodedLen`)
	/// Storage: `Verification::Forced` (r:1 w:0)
	/// Proof: `Verification::Forced` (`max_values`: None, `max_size`: Some(1149), added: 3624, mode: `MaxEncodedLen`)
	/// Storage: `Court::Opened` (r:1 w:0)
	/// Proof: `Court::Opened` (`max_values`: None, `max_size`: Some(1277), added: 3752, mode: `MaxEncodedLen`)
	/// Storage: `Court::Suits` (r:1 w:1)
	/// Proof: `Court::Suits` (`max_values`: None, `max_size`: Some(194), added: 2669, mode: `MaxEncodedLen`)
	/// Storage: `Court::Standings` (r:1 w:1)
	/// Proof: `Court::Standings` (`max_values`: None, `max_size`: Some(25), added: 2500, mode: `MaxEncodedLen`)
	/// Storage: `Court::Dockets` (r:1 w:1)
	/// Proof: `Court::Dockets` (`max_values`: None, `max_size`: Some(1943), added: 4418, mode: `MaxEncodedLen`)
	/// Storage: `Court::Disputes` (r:3 w:4)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(665), added: 3140, mode: `MaxEncodedLen`)
	/// Storage: `Court::Loads` (r:1 w:1)
	/// Proof: `Court::Loads` (`max_values`: None, `max_size`: Some(60), added: 2535, mode: `MaxEncodedLen`)
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
		// At least 173_902_000 ps.
		Weight::from_parts(178_258_000, 10410)
			.saturating_add(D::get().reads_writes(22_u64, 20_u64))
	}
	/// Storage: `Court::Disputes` (r:4 w:4)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(665), added: 3140, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:1 w:1)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Court::Dockets` (r:1 w:1)
	/// Proof: `Court::Dockets` (`max_values`: None, `max_size`: Some(1943), added: 4418, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `Court::Loads` (r:1 w:1)
	/// Proof: `Court::Loads` (`max_values`: None, `max_size`: Some(60), added: 2535, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:2 w:2)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:2)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Court::Aside` (r:0 w:2)
	/// Proof: `Court::Aside` (`max_values`: None, `max_size`: Some(105), added: 2580, mode: `MaxEncodedLen`)
	fn raise() -> Weight {
		// At least 104_878_000 ps.
		Weight::from_parts(109_114_000, 13550)
			.saturating_add(D::get().reads_writes(11_u64, 13_u64))
	}
	/// Storage: `Court::Disputes` (r:4 w:4)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(665), added: 3140, mode: `MaxEncodedLen`)
	/// Storage: `Court::Loads` (r:1 w:1)
	/// Proof: `Court::Loads` (`max_values`: None, `max_size`: Some(60), added: 2535, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(48), added: 2523, mode: `MaxEncodedLen`)
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
	/// Storage: `Court::Suits` (r:0 w:1)
	/// Proof: `Court::Suits` (`max_values`: None, `max_size`: Some(194), added: 2669, mode: `MaxEncodedLen`)
	fn withdraw() -> Weight {
		// At least 165_789_000 ps.
		Weight::from_parts(171_588_000, 13550)
			.saturating_add(D::get().reads_writes(22_u64, 20_u64))
	}
	/// Storage: `Court::Disputes` (r:3 w:3)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(665), added: 3140, mode: `MaxEncodedLen`)
	/// Storage: `Court::Loads` (r:1 w:1)
	/// Proof: `Court::Loads` (`max_values`: None, `max_size`: Some(60), added: 2535, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(48), added: 2523, mode: `MaxEncodedLen`)
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
		// At least 170_285_000 ps.
		Weight::from_parts(177_126_000, 10410)
			.saturating_add(D::get().reads_writes(14_u64, 11_u64))
	}
	/// Storage: `Court::Disputes` (r:3 w:3)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(665), added: 3140, mode: `MaxEncodedLen`)
	/// Storage: `Court::Loads` (r:1 w:1)
	/// Proof: `Court::Loads` (`max_values`: None, `max_size`: Some(60), added: 2535, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(48), added: 2523, mode: `MaxEncodedLen`)
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
		// At least 195_694_000 ps.
		Weight::from_parts(202_184_000, 10410)
			.saturating_add(D::get().reads_writes(15_u64, 12_u64))
	}
	/// `n` was 1 to 1538.
	fn contents(n: u32, ) -> Weight {
		// At least 2_754_000 ps.
		Weight::from_parts(94_935_526, 0)
			// Standard error 10_034.
			.saturating_add(Weight::from_parts(4_014_277, 0).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(0_u64, 0_u64))
	}
	/// Storage: `Court::Disputes` (r:3 w:3)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(665), added: 3140, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(48), added: 2523, mode: `MaxEncodedLen`)
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
	/// Storage: `Court::Loads` (r:1 w:1)
	/// Proof: `Court::Loads` (`max_values`: None, `max_size`: Some(60), added: 2535, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:3)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn deny() -> Weight {
		// At least 97_877_000 ps.
		Weight::from_parts(102_053_000, 10410)
			.saturating_add(D::get().reads_writes(15_u64, 10_u64))
	}
	/// Storage: `Court::Disputes` (r:3 w:3)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(665), added: 3140, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(48), added: 2523, mode: `MaxEncodedLen`)
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
	/// Storage: `Court::Loads` (r:1 w:1)
	/// Proof: `Court::Loads` (`max_values`: None, `max_size`: Some(60), added: 2535, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:3)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	fn show() -> Weight {
		// At least 143_766_000 ps.
		Weight::from_parts(162_795_000, 10410)
			.saturating_add(D::get().reads_writes(14_u64, 10_u64))
	}
	/// `l` was 1 to 24.
	fn lower(l: u32, ) -> Weight {
		// At least 139_670_000 ps.
		Weight::from_parts(29_424_479, 0)
			// Standard error 212_078.
			.saturating_add(Weight::from_parts(105_054_858, 0).saturating_mul(l.into()))
			.saturating_add(D::get().reads_writes(0_u64, 0_u64))
	}
	/// Storage: `Court::Disputes` (r:64 w:1)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(665), added: 3140, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:1)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(48), added: 2523, mode: `MaxEncodedLen`)
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
	/// Storage: `Balances::Holds` (r:2 w:2)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Court::Won` (r:1 w:1)
	/// Proof: `Court::Won` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `Court::WonOfSeats` (r:1 w:1)
	/// Proof: `Court::WonOfSeats` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:2 w:2)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Verification::AuditRecords` (r:1 w:1)
	/// Proof: `Verification::AuditRecords` (`max_values`: None, `max_size`: Some(64756), added: 67231, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Due` (r:1 w:1)
	/// Proof: `TaskMarket::Due` (`max_values`: None, `max_size`: Some(16), added: 2491, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Guilty` (r:0 w:1)
	/// Proof: `TaskMarket::Guilty` (`max_values`: None, `max_size`: Some(134), added: 2609, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Agenda` (r:0 w:2)
	/// Proof: `TaskMarket::Agenda` (`max_values`: None, `max_size`: Some(24), added: 2499, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:1)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Court::Suits` (r:0 w:1)
	/// Proof: `Court::Suits` (`max_values`: None, `max_size`: Some(194), added: 2669, mode: `MaxEncodedLen`)
	/// Storage: `Court::Closing` (r:0 w:1)
	/// Proof: `Court::Closing` (`max_values`: None, `max_size`: Some(85), added: 2560, mode: `MaxEncodedLen`)
	fn judge() -> Weight {
		// At least 568_464_000 ps.
		Weight::from_parts(582_635_000, 201950)
			.saturating_add(D::get().reads_writes(82_u64, 19_u64))
	}
	/// `b` was 1 to 240.
	fn openings(b: u32, ) -> Weight {
		// At least 67_912_000 ps.
		Weight::from_parts(12_584_994, 0)
			// Standard error 85_344.
			.saturating_add(Weight::from_parts(66_798_800, 0).saturating_mul(b.into()))
			.saturating_add(D::get().reads_writes(0_u64, 0_u64))
	}
	/// `t` was 1 to 32768.
	fn terms(t: u32, ) -> Weight {
		// At least 130_000 ps.
		Weight::from_parts(150_000, 0)
			// Standard error 31.
			.saturating_add(Weight::from_parts(19_710, 0).saturating_mul(t.into()))
			.saturating_add(D::get().reads_writes(0_u64, 0_u64))
	}
	/// `r` was 1 to 220.
	fn rows(r: u32, ) -> Weight {
		// At least 290_000 ps.
		Weight::from_parts(498_504, 0)
			// Standard error 139.
			.saturating_add(Weight::from_parts(149_549, 0).saturating_mul(r.into()))
			.saturating_add(D::get().reads_writes(0_u64, 0_u64))
	}
	/// Storage: `Court::Agenda` (r:65 w:64)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Court::Cursor` (r:0 w:1)
	/// Proof: `Court::Cursor` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// `n` was 0 to 64.
	fn serve(n: u32, ) -> Weight {
		// At least 2_283_000 ps.
		Weight::from_parts(2_588_418, 3494)
			// Standard error 3_172.
			.saturating_add(Weight::from_parts(3_379_518, 0).saturating_mul(n.into()))
			.saturating_add(Weight::from_parts(0, 2504).saturating_mul(n.into()))
			.saturating_add(D::get().reads_writes(1_u64, 1_u64))
			.saturating_add(D::get().reads((1_u64).saturating_mul(n.into())))
			.saturating_add(D::get().writes((1_u64).saturating_mul(n.into())))
	}
	/// Storage: `Court::Disputes` (r:4 w:4)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(665), added: 3140, mode: `MaxEncodedLen`)
	/// Storage: `Court::Convicted` (r:1 w:0)
	/// Proof: `Court::Convicted` (`max_values`: None, `max_size`: Some(106), added: 2581, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:0)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Jobs` (r:1 w:0)
	/// Proof: `TaskMarket::Jobs` (`max_values`: None, `max_size`: Some(1348), added: 3823, mode: `MaxEncodedLen`)
	/// Storage: `TaskMarket::Hearings` (r:1 w:0)
	/// Proof: `TaskMarket::Hearings` (`max_values`: None, `max_size`: Some(48), added: 2523, mode: `MaxEncodedLen`)
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
	/// Storage: `Court::Suits` (r:0 w:1)
	/// Proof: `Court::Suits` (`max_values`: None, `max_size`: Some(194), added: 2669, mode: `MaxEncodedLen`)
	fn expire() -> Weight {
		// At least 146_891_000 ps.
		Weight::from_parts(155_523_000, 13550)
			.saturating_add(D::get().reads_writes(20_u64, 17_u64))
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
		// At least 59_849_000 ps.
		Weight::from_parts(62_544_000, 6196)
			.saturating_add(D::get().reads_writes(7_u64, 10_u64))
	}
	/// Storage: `Court::Closing` (r:1 w:0)
	/// Proof: `Court::Closing` (`max_values`: None, `max_size`: Some(85), added: 2560, mode: `MaxEncodedLen`)
	/// Storage: `Court::Dockets` (r:1 w:1)
	/// Proof: `Court::Dockets` (`max_values`: None, `max_size`: Some(1943), added: 4418, mode: `MaxEncodedLen`)
	/// Storage: `Court::Disputes` (r:8 w:8)
	/// Proof: `Court::Disputes` (`max_values`: None, `max_size`: Some(665), added: 3140, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:8 w:3)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	/// Storage: `Court::Loads` (r:1 w:1)
	/// Proof: `Court::Loads` (`max_values`: None, `max_size`: Some(60), added: 2535, mode: `MaxEncodedLen`)
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
	/// Storage: `Court::Suits` (r:0 w:8)
	/// Proof: `Court::Suits` (`max_values`: None, `max_size`: Some(194), added: 2669, mode: `MaxEncodedLen`)
	fn close() -> Weight {
		// At least 426_461_000 ps.
		Weight::from_parts(439_501_000, 26110)
			.saturating_add(D::get().reads_writes(38_u64, 44_u64))
	}
	/// Storage: `Court::Won` (r:25 w:16)
	/// Proof: `Court::Won` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `Court::WonOfSeats` (r:16 w:16)
	/// Proof: `Court::WonOfSeats` (`max_values`: None, `max_size`: Some(113), added: 2588, mode: `MaxEncodedLen`)
	/// Storage: `System::Account` (r:16 w:16)
	/// Proof: `System::Account` (`max_values`: None, `max_size`: Some(128), added: 2603, mode: `MaxEncodedLen`)
	/// Storage: `Balances::Holds` (r:16 w:16)
	/// Proof: `Balances::Holds` (`max_values`: None, `max_size`: Some(247), added: 2722, mode: `MaxEncodedLen`)
	/// Storage: `Court::Agenda` (r:0 w:1)
	/// Proof: `Court::Agenda` (`max_values`: None, `max_size`: Some(29), added: 2504, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:0 w:1)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	fn acquit() -> Weight {
		// At least 612_340_000 ps.
		Weight::from_parts(631_258_000, 65690)
			.saturating_add(D::get().reads_writes(73_u64, 66_u64))
	}
	/// Storage: `Court::Posts` (r:64 w:64)
	/// Proof: `Court::Posts` (`max_values`: None, `max_size`: Some(2201), added: 4676, mode: `MaxEncodedLen`)
	/// Storage: `Court::Due` (r:0 w:1)
	/// Proof: `Court::Due` (`max_values`: None, `max_size`: Some(21), added: 2496, mode: `MaxEncodedLen`)
	fn forget() -> Weight {
		// At least 51_727_000 ps.
		Weight::from_parts(53_941_000, 300254)
			.saturating_add(D::get().reads_writes(64_u64, 65_u64))
	}
	/// Storage: `ModelStorage::MovesFull` (r:1 w:0)
	/// Proof: `ModelStorage::MovesFull` (`max_values`: Some(1), `max_size`: Some(1), added: 496, mode: `MaxEncodedLen`)
	/// Storage: `Court::Ticks` (r:1 w:1)
	/// Proof: `Court::Ticks` (`max_values`: Some(1), `max_size`: Some(4), added: 499, mode: `MaxEncodedLen`)
	fn close_block() -> Weight {
		// At least 2_434_000 ps.
		Weight::from_parts(2_624_000, 1489)
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
