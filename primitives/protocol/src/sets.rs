//! Sets of jobs: posted together, trained by different trainers, compared by proven scores.
//!
//! A *sweep* is a set of one generation: the same data, other seeds or hyperparameters. Each job has a seed of
//! its own by the chain, so a sweep over seeds is one specification several times. In *population-based training*
//! (Jaderberg et al., arXiv:1711.09846) there are further generations: a member goes on from its own model, and the
//! worst go on from the models of better ones, with the specification of these and a perturbed learning rate
//! (*truncation selection*, *exploit* and *explore* there).
//!
//! A *score* is the evaluation of the last checkpoint of an accepted result, shown under its bundle root.

use crate::{
	bundle::Evaluation,
	draw,
	job::{Balance, BlockNumber, Terms, WorkResult},
	JobId, H256,
};
use alloc::vec::Vec;
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::cmp::Ordering;
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use sp_crypto_hashing::blake2_256;
use trainyard_program::spec::{JobSpec, Schedule, MAX_NANO};

/// Number of a set: 0, 1, 2, … in order of opening.
pub type SetId = u32;

/// Least members of a set.
pub const MIN_MEMBERS: u32 = 2;
/// Most members of a set.
pub const MAX_MEMBERS: u32 = 32;
/// Most generations of a set.
pub const MAX_GENERATIONS: u32 = 64;
/// Most factors of which a perturbation is drawn.
pub const MAX_FACTORS: u32 = 8;
/// Largest factor of a perturbation, in thousandths.
pub const MAX_FACTOR: u32 = 10_000;
/// One, in thousandths.
pub const ONE: u32 = 1_000;

/// Bytes of a member on record beside its specification: the model with which it begins, and its run.
pub const MEMBER_BYTES: u32 = 640;
/// Bytes of the record of a generation, and of a member in it.
pub const GENERATION_BYTES: u32 = 48;
/// Bytes of what a member came to in a generation, at most.
pub const TRAINED_BYTES: u32 = 64;

/// Domain of the draw of a member's parent.
const PARENT: &[u8] = b"trainyard/set/parent/v1";
/// Domain of the draw of a perturbation.
const FACTOR: &[u8] = b"trainyard/set/factor/v1";

/// By what members are compared.
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
pub enum Measure {
	/// The share of labels of the validation rows that the model predicts: more is better.
	Accuracy,
	/// The mean loss over the validation rows: less is better.
	Loss,
}

impl Measure {
	/// Compares two scores: the better one is less. Of accuracies the fractions are compared, not their quotients;
	/// losses are in the total order of IEEE 754, in which a NaN is worst.
	pub fn compare(&self, one: &Evaluation, other: &Evaluation) -> Ordering {
		match self {
			Measure::Accuracy => {
				let share = |a: &Evaluation, b: &Evaluation| {
					u64::from(a.correct).saturating_mul(u64::from(b.labels))
				};
				share(other, one).cmp(&share(one, other))
			}
			Measure::Loss => one.loss().total_cmp(&other.loss()),
		}
	}
}

/// How a set goes on.
#[derive(
	Clone,
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
#[serde(deny_unknown_fields)]
pub struct Plan {
	/// By what members are compared.
	pub measure: Measure,
	/// Generations, 1 to [`MAX_GENERATIONS`]; one is a sweep.
	pub generations: u32,
	/// How many of the worst go on from models of better ones in each further generation, at most half of the
	/// members; 0: all go on from their own.
	pub replaced: u32,
	/// Of these one is drawn by which the learning rate of a replaced member is multiplied, in thousandths, each 1 to
	/// [`MAX_FACTOR`].
	pub factors: BoundedVec<u32, ConstU32<MAX_FACTORS>>,
	/// Blocks for showing scores, after the last job of a generation has ended.
	pub show_blocks: BlockNumber,
	/// The most protocol fee for a `ut` at which a job is posted.
	#[serde(with = "trainyard_program::text::decimal")]
	pub max_fee_per_ut: Balance,
}

/// Returns the indices of members, best first; ties by index, and those without a score last.
pub fn ranking(measure: Measure, scores: &[Option<Evaluation>]) -> Vec<u32> {
	let mut all: Vec<(u32, Option<Evaluation>)> = (0u32..).zip(scores.iter().copied()).collect();
	all.sort_by(|(at, one), (other_at, other)| {
		let by_score = match (one, other) {
			(Some(one), Some(other)) => measure.compare(one, other),
			(Some(_), None) => Ordering::Less,
			(None, Some(_)) => Ordering::Greater,
			(None, None) => Ordering::Equal,
		};
		by_score.then(at.cmp(other_at))
	});
	all.into_iter().map(|(at, _)| at).collect()
}

/// Returns the bytes of the record of a set, for which a deposit is held. A member that is replaced has the
/// specification of another, so each counts as much as the largest.
pub fn record_bytes(plan: &Plan, specs: &[JobSpec]) -> u64 {
	let largest = specs.iter().map(Encode::encoded_size).max().unwrap_or(0);
	let largest = u64::try_from(largest).unwrap_or(u64::MAX);
	let count = u64::try_from(specs.len()).unwrap_or(u64::MAX);
	let members = largest.saturating_add(MEMBER_BYTES.into()).saturating_mul(count);
	let generation = count.saturating_mul(TRAINED_BYTES.into());
	let generation = generation.saturating_add(GENERATION_BYTES.into());
	members.saturating_add(generation.saturating_mul(plan.generations.into()))
}

/// How a member goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
	/// From whose model: of itself, or of a better one, whose specification it takes as well.
	pub parent: u32,
	/// By what the learning rate is multiplied, in thousandths.
	pub factor: u32,
}

/// Returns how each member goes on, in their order. `scores` are those of members whose models can be trained
/// further; the others count as worst. The last `replaced` in the [`ranking`] are replaced, each by one that is
/// drawn from as many of the best, so none is replaced that has children; the others go on as they are. Nobody is
/// replaced where nobody has a score.
pub fn children(plan: &Plan, scores: &[Option<Evaluation>], seed: &H256) -> Vec<Child> {
	let order = ranking(plan.measure, scores);
	let replaced = (plan.replaced as usize).min(scores.len() / 2);
	let with_score = scores.iter().flatten().count();
	let parents = order.get(..replaced.min(with_score)).unwrap_or_default();
	let worst = order.get(order.len().saturating_sub(replaced)..).unwrap_or_default();
	let mut all: Vec<Child> =
		(0u32..).zip(scores).map(|(parent, _)| Child { parent, factor: ONE }).collect();
	for member in worst {
		let Some(parent) = one_of(PARENT, seed, *member, parents) else { continue };
		let factor = one_of(FACTOR, seed, *member, &plan.factors).unwrap_or(ONE);
		if let Some(child) = all.get_mut(*member as usize) {
			*child = Child { parent, factor };
		}
	}
	all
}

/// Draws one of `all` for a member.
fn one_of(domain: &[u8], seed: &H256, member: u32, all: &[u32]) -> Option<u32> {
	let own = H256((seed, member).using_encoded(blake2_256));
	let bound = u32::try_from(all.len()).unwrap_or(u32::MAX);
	let drawn = draw::distinct(domain, &own, bound, 1);
	drawn.first().and_then(|at| all.get(*at as usize)).copied()
}

/// Returns a rate times `factor` thousandths, rounded down, and within what a specification can have.
fn scaled(rate_nano: u64, factor: u32) -> u64 {
	let product = u128::from(rate_nano).saturating_mul(u128::from(factor));
	u64::try_from(product / u128::from(ONE)).unwrap_or(MAX_NANO).clamp(1, MAX_NANO)
}

/// Multiplies the learning rate of a specification, and that with which its schedule ends, by `factor` thousandths.
pub fn perturb(spec: &mut JobSpec, factor: u32) {
	if factor == ONE {
		return;
	}
	let training = &mut spec.training;
	training.learning_rate_nano = scaled(training.learning_rate_nano, factor);
	if let Schedule::Cosine { final_rate_nano } = &mut training.schedule {
		if *final_rate_nano > 0 {
			*final_rate_nano = scaled(*final_rate_nano, factor);
		}
	}
}

/// Where a set stands.
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
pub enum Stage {
	/// Jobs are posted and trained; scores of those that ended can be shown.
	Training,
	/// All jobs of the generation have ended; scores can be shown up to a block.
	Showing {
		/// The last block for it.
		until: BlockNumber,
	},
	/// The seed forms by which members are replaced.
	Drawing {
		/// The draw height: the blocks after it make the seed.
		after: BlockNumber,
	},
	/// Over.
	Ended(SetEnding),
}

/// How a set ended.
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
pub enum SetEnding {
	/// All generations were trained.
	Done,
	/// The submitter wanted no further generation.
	Stopped,
	/// Nobody has a score in a generation.
	NoScore,
	/// Members have scores, and the parameters of none of their models were said in time, so that nothing can be
	/// trained further.
	NoModel,
}

/// Where a member stands in the running generation.
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
pub enum Run {
	/// It is to be posted.
	Waiting,
	/// Its job runs.
	Running(JobId),
	/// Its job ended with this result; what it scores was not shown yet.
	Accepted {
		/// The job.
		job: JobId,
		/// What its audit accepted.
		result: WorkResult,
	},
	/// Its score was shown.
	Shown {
		/// The job.
		job: JobId,
		/// What its audit accepted.
		result: WorkResult,
		/// The evaluation of the last checkpoint.
		score: Evaluation,
		/// The state hash of the parameters of the model, by the word of the submitter.
		parameters: Option<H256>,
	},
	/// It has no score: it could not be posted, or its job ended without a result, or with one that diverged.
	Out(Option<JobId>),
}

impl Run {
	/// Returns its job.
	pub fn job(&self) -> Option<JobId> {
		match self {
			Run::Waiting => None,
			Run::Running(job) | Run::Accepted { job, .. } | Run::Shown { job, .. } => Some(*job),
			Run::Out(job) => *job,
		}
	}

	/// Returns its score, once shown.
	pub fn score(&self) -> Option<Evaluation> {
		match self {
			Run::Shown { score, .. } => Some(*score),
			_ => None,
		}
	}

	/// Returns the result that its audit accepted, and that did not diverge.
	pub fn result(&self) -> Option<&WorkResult> {
		match self {
			Run::Accepted { result, .. } | Run::Shown { result, .. } => Some(result),
			_ => None,
		}
	}
}

/// The best of all generations so far.
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
pub struct Best {
	/// The member.
	pub member: u32,
	/// The generation, from 0.
	pub generation: u32,
	/// The job.
	pub job: JobId,
	/// The score.
	pub score: Evaluation,
	/// Root of the model.
	pub model: H256,
}

/// What a member came to in a generation that is over.
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
pub struct Trained {
	/// From whose model of the generation before it began; `None` where it began by its own specification.
	pub parent: Option<u32>,
	/// Its learning rate x 10^9.
	pub learning_rate_nano: u64,
	/// Its job, if it could be posted.
	pub job: Option<JobId>,
	/// Its score, if it was shown.
	pub score: Option<Evaluation>,
	/// Root of its model.
	pub model: Option<H256>,
}

/// What all members came to in a generation.
pub type Generation = BoundedVec<Trained, ConstU32<MAX_MEMBERS>>;

/// A member of the running generation, as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct MemberView {
	/// What it trains, with the model with which it begins.
	pub spec: JobSpec,
	/// From whose model of the generation before it began; `None` where it began by its own specification.
	pub parent: Option<u32>,
	/// Where it stands.
	pub run: Run,
}

/// A set, as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct SetView<AccountId> {
	/// Its number.
	pub id: SetId,
	/// Who opened it.
	pub submitter: AccountId,
	/// What is offered to the trainers of each job.
	pub terms: Terms,
	/// How it goes on.
	pub plan: Plan,
	/// Where it stands.
	pub stage: Stage,
	/// The running generation, from 0; the last one where none runs any more.
	pub generation: u32,
	/// The block in which stage and generation began.
	pub since: BlockNumber,
	/// Whether the submitter wants no further generation.
	pub stopping: bool,
	/// The best of all generations that are over.
	pub best: Option<Best>,
	/// The members, in their order.
	pub members: Vec<MemberView>,
	/// What came of the generations that are over, in order.
	pub generations: Vec<Generation>,
}

#[cfg(test)]
mod tests;
