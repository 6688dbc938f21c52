//! How long a dispute can be.

use super::{
	ranges::levels,
	types::{Target, FAN},
	STOP_STRETCH,
};
use crate::{
	case::{Case, Refused},
	referee::{mean_slices, Computation, Lowered, StateTensors},
};
use trainyard_program::{
	ops::OpKind,
	parts::{terms, Part, PartOp},
};
use trainyard_protocol::{content, model_file::Layout};

/// Bytes of a digest.
const DIGEST: u64 = 32;
/// Bytes of a transaction that posts or opens, beside the digests of the post.
const AROUND_POST: u64 = 200;
/// Bytes of a transaction that denies.
const DENIAL: u64 = 150;
/// Bytes of a challenge.
const CHALLENGE: u64 = 400;
/// Bytes of the last transaction, beside what it opens.
const AROUND_JUDGEMENT: u64 = 1_500;
/// Bytes that the last transaction opens, at most but for what lists are framed by.
const JUDGEMENT: u64 = 232 * 1_024;

/// What the length of a dispute about a step depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
	/// Steps of a segment.
	pub steps: u64,
	/// Results of a step.
	pub results: u64,
	/// Chunks of the largest of them.
	pub chunks: u64,
	/// Stretches of the longest chain.
	pub stretches: u64,
}

impl Sizes {
	/// Returns the sizes of the steps of a job. Fails where it cannot be lowered.
	pub fn of_steps(case: &Case) -> Result<Self, Refused> {
		let steps = case.spec.training.checkpoint_interval;
		Self::of(case, Computation::Step { step: 0 }, steps.into())
	}

	/// Returns the sizes of the slices of the evaluations of a job; in place of steps stands how often
	/// an evaluation is divided until a slice is left.
	fn of_slices(case: &Case) -> Result<Self, Refused> {
		Self::of(case, Computation::Slice { slice: 0 }, 1)
	}

	fn of(case: &Case, computation: Computation, steps: u64) -> Result<Self, Refused> {
		let lowered = Lowered::new(case, computation)?;
		let (mut chunks, mut stretches) = (0u64, 0u64);
		for (result, PartOp { part, len, .. }) in (0u32..).zip(lowered.parts()) {
			chunks = chunks.max(content::chunks(len.saturating_mul(4)));
			let most = most_terms(part, *len).div_ceil(lowered.stretch(result)?.max(1));
			stretches = stretches.max(most);
		}
		Ok(Self { steps, results: lowered.results().into(), chunks, stretches })
	}

	/// Returns how often the challenger denies something at most: steps, results, chunks, the chunk's
	/// elements, and stretches of a chain.
	pub fn rounds(&self) -> u32 {
		levels(self.steps).max(1).saturating_add(self.rounds_of_results())
	}

	fn rounds_of_results(&self) -> u32 {
		let inner = levels(self.chunks).saturating_add(levels(self.stretches)).saturating_add(1);
		levels(self.results).max(1).saturating_add(inner)
	}
}

/// Returns the most terms of the chain of an element of a part.
fn most_terms(part: &Part, len: u64) -> u64 {
	match part {
		// Elements in the middle are covered by more windows than those at the edges.
		Part::Whole(OpKind::AvgPool2dGrad { window, .. }) | Part::PoolGrad { window, .. } => {
			window.taps()
		}
		// The others have as many terms everywhere, or the most in the last row.
		_ => terms(part, len.saturating_sub(1)),
	}
}

/// Returns how often the challenger denies something at most in a dispute about such a target,
/// whatever its numbers. Fails where the job cannot be lowered.
pub fn rounds(case: &Case, target: &Target) -> Result<u32, Refused> {
	let spec = &case.spec;
	let tensors = || {
		let tensors = StateTensors::of(spec);
		let all = tensors.tensors().len() as u64;
		let largest = (0u32..).map_while(|index| tensors.elements(index)).max().unwrap_or_default();
		let chunks = content::chunks(largest.saturating_mul(4));
		levels(all).max(1).saturating_add(levels(chunks))
	};
	let evaluation = || {
		let slices = spec.slices();
		let of_slice =
			levels(slices.into()).saturating_add(Sizes::of_slices(case)?.rounds_of_results());
		let of_mean = levels(slices.div_ceil(mean_slices(case).max(1)).into());
		Ok::<u32, Refused>(of_slice.max(of_mean).saturating_add(1))
	};
	Ok(match target {
		Target::Start => tensors().saturating_add(1).max(evaluation()?),
		Target::Segment(_) | Target::Evidence(_) => {
			Sizes::of_steps(case)?.rounds().max(evaluation()?)
		}
		Target::Stop => {
			let checkpoints = u64::from(spec.segments()).saturating_add(1);
			levels(checkpoints.div_ceil(STOP_STRETCH.into()))
		}
		Target::Model => levels(content::chunks(Layout::of(spec).size)).max(1),
		// A tensor of one chunk is opened before it is judged.
		Target::Rescue { .. } => tensors().saturating_add(1),
	})
}

/// Returns the transactions of a dispute of so many rounds: a commitment, the challenge, two in each
/// round, and the judgement.
pub fn transactions(rounds: u32) -> u32 {
	rounds.saturating_mul(2).saturating_add(3)
}

/// Returns the bytes of all transactions of a dispute of so many rounds, at most but for the contents
/// of a state: the openings of the piece, and a full post and a denial in each round.
pub fn bytes(rounds: u32) -> u64 {
	let round = DIGEST * FAN as u64 + AROUND_POST + DENIAL;
	let rounds = round.saturating_mul(rounds.into());
	rounds.saturating_add(CHALLENGE + AROUND_JUDGEMENT + JUDGEMENT)
}

/// Returns the part of [`bytes`] that the challenger sends where it does not bring the openings: the
/// challenge, and a denial in each round.
pub fn challenger_bytes(rounds: u32) -> u64 {
	DENIAL.saturating_mul(rounds.into()).saturating_add(CHALLENGE)
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::{spec::JobSpec, H256};

	const RECORD: &str =
		include_str!("../../../../docs/decisions/0029-a-court-decides-by-recomputing.md");

	/// Reads `1,650`, `2^24` and the like.
	fn number(cell: &str) -> u64 {
		match cell.split_once('^') {
			Some((base, power)) => number(base).pow(power.parse().unwrap()),
			None => cell.replace(',', "").parse().unwrap(),
		}
	}

	/// The table of the record is computed by `tools/slots/court.py`.
	#[test]
	fn the_record_says_how_long_disputes_are() {
		let (_, table) = RECORD.split_once("<!-- court-sizes -->\n").unwrap();
		let (table, _) = table.split_once("<!-- /court-sizes -->").unwrap();
		let mut rows = 0;
		for row in table.lines().skip(2) {
			let cells: Vec<&str> = row.split('|').map(str::trim).collect();
			let (_, steps) = cells[2].split_once(" x ").unwrap();
			let [results, chunks, stretches] = [3, 4, 5].map(|at| number(cells[at]));
			let sizes = Sizes { steps: number(steps), results, chunks, stretches };
			let rounds = sizes.rounds();
			let found = [rounds, transactions(rounds), bytes(rounds).div_ceil(1_024) as u32];
			let [rounds, transactions, kib] = [8, 11, 14].map(|at| number(cells[at]) as u32);
			println!("{}: rounds, transactions, KiB {found:?}", cells[1]);
			assert_eq!(found[..2], [rounds, transactions], "{}", cells[1]);
			assert!(found[2].abs_diff(kib) <= 1, "{} KiB, {kib} in the record", found[2]);
			rows += 1;
		}
		assert_eq!(rows, 4);
		// Its first row is the example.
		let case = Case { spec: JobSpec::example().check().unwrap(), seed: H256::zero() };
		let found = Sizes::of_steps(&case).unwrap();
		assert_eq!(found, Sizes { steps: 50, results: 44, chunks: 16, stretches: 1 });
	}

	/// Whatever a valid specification is, a dispute ends.
	#[test]
	fn the_longest_dispute() {
		let longest =
			Sizes { steps: 100_000_000, results: 6_656, chunks: 1 << 22, stretches: 1 << 22 };
		assert_eq!((longest.rounds(), transactions(longest.rounds())), (17, 37));
		assert_eq!(challenger_bytes(17), 400 + 17 * 150);
		assert!(challenger_bytes(17) < bytes(17) - JUDGEMENT);
	}
}
