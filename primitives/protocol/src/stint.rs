//! Stints of drilling: work that one driller does alone, as much as it can, and that is checked by
//! samples.
//!
//! A *stint* is a stretch of blocks in which a driller computes **laps**: short chains of strict matrix
//! products ([`LAP`]), all alike, each drawn from a seed that is bound to the driller, the stint and
//! the number of the lap. Nobody can share a lap, copy one, or compute one before the stint has its
//! seed. At the end the driller reports the number of its laps and a Merkle root over their results.
//! A share of the reports is drawn for a check, by seeds of later blocks; then verifiers compute
//! [`SAMPLES`] laps again, of the numbers that the seed says, and the driller opens these under its
//! root. So what is checked takes the same time however large a stint is.
//!
//! What a lap computes is a unit of drilling of the kind
//! [chain](crate::drill::Template::Chain); `docs/drilling.md` defines it to the last bit.

use crate::{
	draw,
	drill::Template,
	job::{Balance, BlockNumber},
	merkle,
	seats::Resources,
	MicroUt, H256,
};
use alloc::vec::Vec;
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use sp_crypto_hashing::blake2_256;
use trainyard_program::units::FLOP_PER_MICRO_UT;

/// Number of a report: 0, 1, 2, … in the order in which they come.
pub type ReportId = u64;

/// Rows of the matrices of a lap.
pub const LAP_SIZE: u32 = 256;
/// Products of a lap.
pub const LAP_LINKS: u32 = 25;
/// What a lap computes: 1 GFLOP, some hundredths of a second of one core.
pub const LAP: Template = Template::Chain { size: LAP_SIZE, links: LAP_LINKS };
/// Most laps of a stint: what a machine of 10 TFLOP/s computes in two and a half days.
pub const MAX_LAPS: u32 = 1 << 31;
/// Laps that are computed again in a check.
pub const SAMPLES: u32 = 4;
/// Most hashes beside the samples that lead to the root.
pub const MAX_SIBLINGS: u32 = SAMPLES * 31;
/// A chance of a check that is certain, in parts of 2^32.
pub const CERTAIN: u64 = 1 << 32;
/// Least chance of a check: one report in 64.
pub const LEAST_CHANCE: u64 = CERTAIN / 64;
/// Blocks that have the same hash for seeds of stints: so a driller whose report comes in another
/// block of another branch rarely has another seed.
pub const SEED_STRIDE: BlockNumber = 8;

/// Work for each block of a stint that anybody may claim, in micro-ut: 2 ut, 144 GFLOP/s at 6 s a block.
pub const FREE_WORK: MicroUt = 2_000_000;
/// Times what a driller has to lose that it may claim, where that is more: so a machine that computes
/// more has to show it, in a few reports that are all checked. With more, whoever has two fifths of all
/// verifiers' seats for friends would grow by lying: it passes a check with 26 %.
pub const GROWTH: MicroUt = 2;

/// Domain of the draw of samples.
const SAMPLE: &[u8] = b"trainyard/stint/sample/v1";
/// Domain of the number by which a stint may be reported later than after a period.
const DELAY: &[u8] = b"trainyard/stint/delay/v1";
/// Domain of the number that decides about a check.
const CHANCE: &[u8] = b"trainyard/stint/chance/v1";

/// Results of the samples, in ascending order of the laps.
pub type Samples = BoundedVec<H256, ConstU32<SAMPLES>>;
/// Hashes beside the samples.
pub type Siblings = BoundedVec<H256, ConstU32<MAX_SIBLINGS>>;

/// Returns the work of a number of laps, rounded down to micro-ut.
pub fn work(laps: u32) -> MicroUt {
	// It does not depend on what is drawn, and it is below 2^63 for any number of laps.
	let flop = LAP.flop().unwrap_or_default().saturating_mul(laps.into());
	flop.checked_div(FLOP_PER_MICRO_UT).and_then(|work| work.try_into().ok()).unwrap_or_default()
}

/// Returns what a check takes of a verifier: the samples, and memory for the matrices.
pub fn needs() -> Resources {
	let memory_mib = LAP.measure().map_or(256, |measure| measure.needs.memory_mib);
	Resources { work: work(SAMPLES), memory_mib, disk_mib: 1 }
}

/// Returns the height whose hash is in the seed of a stint that begins in block `now`: the last
/// multiple of [`SEED_STRIDE`] that is at least as many blocks back.
pub fn seed_height(now: BlockNumber) -> BlockNumber {
	let back = now.saturating_sub(SEED_STRIDE);
	back.saturating_sub(back % SEED_STRIDE)
}

/// Returns the seed of a stint: `blake2_256(SCALE("trainyard/stint/seed/v1", hash, driller, number:
/// u32))`, with the hash of the block at [`seed_height`].
pub fn seed<AccountId: Encode>(hash: &H256, driller: &AccountId, number: u32) -> H256 {
	(b"trainyard/stint/seed/v1", hash, driller, number).using_encoded(blake2_256).into()
}

/// Returns the seed of lap `index` of a stint: `blake2_256(SCALE("trainyard/stint/lap/v1", seed,
/// index: u32))`.
pub fn lap_seed(seed: &H256, index: u32) -> H256 {
	(b"trainyard/stint/lap/v1", seed, index).using_encoded(blake2_256).into()
}

/// Returns the blocks that a stint lasts beyond the period before it can be reported: 0 to half of
/// the period, by its seed. Without it drillers that report as soon as they may would all do so at
/// once, again and again.
pub fn delay(seed: &H256, period: BlockNumber) -> BlockNumber {
	let hash = (DELAY, seed).using_encoded(blake2_256);
	let (number, _) = hash.split_at(4);
	let number = number.iter().rev().fold(0u64, |acc, byte| (acc << 8) | u64::from(*byte));
	let choices = u64::from(period / 2).saturating_add(1);
	BlockNumber::try_from(number.checked_rem(choices).unwrap_or(0)).unwrap_or(0)
}

/// Returns the most work that a report may claim of a stint that can be reported after so many blocks, by
/// one whose drilling power is what `stock` would add now.
pub fn most_work(blocks: BlockNumber, stock: MicroUt) -> MicroUt {
	FREE_WORK.saturating_mul(blocks.into()).max(stock.saturating_mul(GROWTH))
}

/// Returns the leaf of a lap with this result.
pub fn leaf(result: &H256) -> H256 {
	merkle::leaf(&result.0)
}

/// Returns the chance of a check, in parts of 2^32, of a report that claims `work` by one whose
/// drilling power is what `stock` would add now: twice the part that it claims of what it can lose,
/// at least [`LEAST_CHANCE`]. Who has nothing to lose is checked.
pub fn chance(work: MicroUt, stock: MicroUt) -> u64 {
	let twice = u128::from(work).saturating_mul(2).saturating_mul(CERTAIN.into());
	let part = twice.checked_div(stock.into()).unwrap_or(CERTAIN.into());
	u64::try_from(part).unwrap_or(CERTAIN).clamp(LEAST_CHANCE, CERTAIN)
}

/// Returns the work whose power is lost where a report that claims `work` and was checked with this
/// chance is not opened: twice the work over the chance. That is all drilling power, or what 128
/// such reports bring.
pub fn at_stake(work: MicroUt, chance: u64) -> MicroUt {
	let twice = u128::from(work).saturating_mul(2).saturating_mul(CERTAIN.into());
	let lost = twice.checked_div(chance.into()).unwrap_or(u128::MAX);
	MicroUt::try_from(lost).unwrap_or(MicroUt::MAX)
}

/// Returns whether a report with this chance is checked, by the seed of the draw.
pub fn is_checked(seed: &H256, chance: u64) -> bool {
	let hash = (CHANCE, seed).using_encoded(blake2_256);
	let (number, _) = hash.split_at(4);
	let number = number.iter().rev().fold(0u64, |acc, byte| (acc << 8) | u64::from(*byte));
	number < chance
}

/// Returns the laps that are computed again, ascending, by the seed of the draw.
pub fn samples(seed: &H256, laps: u32) -> Vec<u32> {
	draw::distinct(SAMPLE, seed, laps, SAMPLES)
}

/// Returns the digest of the results of the samples: `blake2_256(SCALE("trainyard/stint/digest/v1",
/// results))`. Verifiers commit to it.
pub fn digest(results: &[H256]) -> H256 {
	(b"trainyard/stint/digest/v1", results).using_encoded(blake2_256).into()
}

/// Returns a verifier's commitment to a digest: `blake2_256(SCALE("trainyard/stint/v1", genesis,
/// report, verifier, digest, salt))`.
pub fn commitment<AccountId: Encode>(
	genesis: &H256,
	report: ReportId,
	verifier: &AccountId,
	digest: &H256,
	salt: &[u8; 32],
) -> H256 {
	(b"trainyard/stint/v1", genesis, report, verifier, digest, salt)
		.using_encoded(blake2_256)
		.into()
}

/// Returns whether the results of `samples` are those under the root of a report of `laps` laps.
pub fn opens(root: &H256, laps: u32, samples: &[u32], results: &[H256], siblings: &[H256]) -> bool {
	let leaves: Vec<(u32, H256)> = samples.iter().copied().zip(results.iter().map(leaf)).collect();
	samples.len() == results.len()
		&& merkle::root_by_many(&leaves, laps, siblings).is_some_and(|found| found == *root)
}

/// A driller's stint, for clients.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct StintView {
	/// How many stints it began before.
	pub number: u32,
	/// The block in which it began.
	pub begun: BlockNumber,
	/// Its seed.
	pub seed: H256,
	/// First block in which it can be reported.
	pub from: BlockNumber,
	/// Last block in which it can be reported.
	pub until: BlockNumber,
	/// The report before, while it is not settled.
	pub report: Option<ReportId>,
	/// The driller's drilling power, as the work that would add as much now. What a report pays follows
	/// from it by [`chance`].
	pub stock: MicroUt,
	/// What a report pays that is certain to be checked, and another in proportion.
	pub check_price: Balance,
}

/// Where a report stands, for clients.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ReportPhase {
	/// It waits for a seed, or for verifiers.
	Drawing,
	/// Verifiers compute the samples and commit.
	Checking,
	/// The driller opens the samples, and verifiers reveal.
	Opening,
}

/// A report that is not settled, for the driller and for verifiers.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct ReportView<AccountId> {
	/// Its number.
	pub id: ReportId,
	/// Who reported.
	pub driller: AccountId,
	/// Which of its stints.
	pub number: u32,
	/// The stint's seed.
	pub seed: H256,
	/// How many laps it claims.
	pub laps: u32,
	/// Where it stands.
	pub phase: ReportPhase,
	/// Last block of the phase; 0 where it waits for a seed.
	pub until: BlockNumber,
	/// The laps that are computed again, once they are drawn.
	pub samples: Vec<u32>,
	/// Whether the driller has opened them.
	pub opened: bool,
	/// Whether the verifier who asked has committed, and revealed.
	pub committed: bool,
	/// See `committed`.
	pub revealed: bool,
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	#[test]
	fn a_lap_is_a_small_piece_of_work() {
		assert_eq!(LAP.flop().unwrap(), 997_982_208);
		assert_eq!(work(1), 2_310);
		assert_eq!(work(1_000), 2_310_144, "rounded once");
		assert!(work(MAX_LAPS) < u64::MAX / 1_000);
		assert_eq!(needs().work, work(SAMPLES));
	}

	#[test]
	fn who_has_little_to_lose_is_checked() {
		assert_eq!(chance(1, 0), CERTAIN);
		assert_eq!(chance(100, 200), CERTAIN);
		assert_eq!(chance(100, 400), CERTAIN / 2);
		assert_eq!(chance(100, 1_000_000), LEAST_CHANCE);
		assert_eq!(chance(u64::MAX, 1), CERTAIN);
		assert_eq!(at_stake(100, CERTAIN), 200);
		assert_eq!(at_stake(100, LEAST_CHANCE), 12_800);
		assert_eq!(at_stake(u64::MAX, LEAST_CHANCE), u64::MAX);
		assert_eq!(at_stake(1, 0), u64::MAX);
	}

	#[test]
	fn claims_grow_with_what_was_shown() {
		assert_eq!(most_work(50, 0), 100_000_000);
		assert_eq!(most_work(50, 20_000_000), 100_000_000);
		assert_eq!(most_work(50, 1_000_000_000), 2_000_000_000);
		assert_eq!(most_work(u32::MAX, u64::MAX), u64::MAX);
	}

	#[test]
	fn stints_last_a_period_and_up_to_a_half_more() {
		let delays: Vec<u32> =
			(0..2_000u32).map(|i| delay(&H256(blake2_256(&i.to_le_bytes())), 100)).collect();
		assert_eq!((delays.iter().min(), delays.iter().max()), (Some(&0), Some(&50)));
		let mean = delays.iter().sum::<u32>() as f64 / 2_000.0;
		assert!((23.0..27.0).contains(&mean), "{mean}");
		assert_eq!((delay(&H256::zero(), 0), delay(&H256::zero(), 1)), (0, 0));
	}

	#[test]
	fn seeds_come_from_blocks_that_are_some_way_back() {
		assert_eq!([0, 7, 8, 15, 16, 23, 24].map(seed_height), [0, 0, 0, 0, 8, 8, 16]);
		let (hash, other) = (H256([1; 32]), H256([2; 32]));
		let seeds = [
			seed(&hash, &1u64, 0),
			seed(&hash, &1u64, 1),
			seed(&hash, &2u64, 0),
			seed(&other, &1u64, 0),
		];
		for (i, a) in seeds.iter().enumerate() {
			assert!(seeds[i + 1..].iter().all(|b| a != b));
		}
	}

	#[test]
	fn checks_are_as_frequent_as_their_chance() {
		for (chance, parts) in [(CERTAIN, 1.0), (CERTAIN / 4, 0.25), (LEAST_CHANCE, 1.0 / 64.0)] {
			let hits =
				(0..8_000u32).filter(|i| is_checked(&H256(blake2_256(&i.to_le_bytes())), chance));
			let found = hits.count() as f64 / 8_000.0;
			let deviation = (parts * (1.0 - parts) / 8_000.0f64).sqrt();
			assert!((found - parts).abs() <= 5.0 * deviation, "{found} and not {parts}");
		}
	}

	proptest! {
		/// Whoever claims more than it computed loses more than it gains, whatever part of the laps is
		/// false: what it keeps is what was not found.
		#[test]
		fn false_laps_never_pay(
			fake in 0.0001..1.0f64,
			claimed in 1..1_000_000_000u64,
			stock in 0..1_000_000_000_000u64,
		) {
			let p = chance(claimed, stock) as f64 / CERTAIN as f64;
			let found = p * (1.0 - (1.0 - fake).powi(SAMPLES as i32));
			let (claimed, stock) = (claimed as f64, stock as f64);
			let cheat = (1.0 - found) * (stock + claimed);
			let honest = stock + (1.0 - fake) * claimed;
			// Where all laps are false and the chance is the least, it is twice the gain that is lost.
			prop_assert!(cheat <= honest + 1e-6 * honest, "{cheat} and honestly {honest}");
			// Nor does it where it does not open what is drawn.
			let lost = at_stake(claimed as u64, chance(claimed as u64, stock as u64)) as f64;
			let silent = (1.0 - found) * (stock + claimed) + found * (stock - lost.min(stock));
			prop_assert!(silent <= honest + 1e-6 * honest, "{silent} and honestly {honest}");
		}

		#[test]
		fn samples_open_under_the_root_and_others_do_not(
			laps in 1..200u32,
			bytes in any::<[u8; 32]>(),
			wrong in 0..4usize,
		) {
			let results: Vec<H256> = (0..laps).map(|i| lap_seed(&H256(bytes), i)).collect();
			let leaves: Vec<H256> = results.iter().map(leaf).collect();
			let root = merkle::root(&leaves);
			let drawn = samples(&H256(bytes), laps);
			prop_assert_eq!(drawn.len() as u32, laps.min(SAMPLES));
			let siblings = merkle::proof_many(&leaves, &drawn).unwrap();
			prop_assert!(siblings.len() as u32 <= MAX_SIBLINGS);
			let mut found: Vec<H256> = drawn.iter().map(|at| results[*at as usize]).collect();
			prop_assert!(opens(&root, laps, &drawn, &found, &siblings));
			prop_assert!(!opens(&root, laps, &drawn, &found[1..], &siblings));
			let wrong = wrong % found.len();
			found[wrong].0[0] ^= 1;
			prop_assert!(!opens(&root, laps, &drawn, &found, &siblings));
		}
	}
}
