//! Units of drilling: small strict computations that several trainers do, and that earn drilling
//! power where all agree (MatrixAI's drilling).
//!
//! A project publishes a [`Template`]; its units differ by their seed ([`unit_seed`]), and
//! units of a trial by their number. What a unit computes is an operator list ([`program`]),
//! so its [`Template::difficulty`] is counted, not declared; [`mod@reference`] executes it as the
//! worker's kernels must. `docs/drilling.md` defines each kind of unit to the last bit.

mod error;
mod hashes;
pub mod program;
pub mod reference;
#[cfg(test)]
mod tests;
mod views;

pub use error::DrillError;
pub use hashes::{
	calibration_state, chain_state, commitment, diverged_state, trial_state, unit_seed,
};
pub use views::{AssignmentView, ProjectState, ProjectView, Recall, UnitOutcome, UnitPhase};

use crate::{bundle::Evaluation, seats::Resources, MicroUt, H256};
use alloc::vec::Vec;
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use trainyard_program::{
	needs::{MachineClass, Needs, Resource, Room},
	ops::Program,
	spec::{CheckedSpec, JobSpec, MAX_NANO},
	units::{self, FLOP_PER_MICRO_UT},
};

/// Number of a project: 0, 1, 2, … in order of proposal.
pub type ProjectId = u32;
/// Number of an assignment: 0, 1, 2, … A unit that is issued again is a new assignment with the
/// same index.
pub type AssignmentId = u64;

/// Most learning rates of a trial.
pub const MAX_RATES: u32 = 64;
/// Least rows of a chain's matrices: below that, drawing them is most of the work.
pub const MIN_CHAIN_SIZE: u32 = 16;
/// Most rows of a chain's matrices: 64 MiB each.
pub const MAX_CHAIN_SIZE: u32 = 4_096;
/// Lanes of a calibration.
pub const CALIBRATION_LANES: u32 = 4_096;
/// Cycles of each lane in a pass of a calibration.
pub const CALIBRATION_CYCLES: u32 = 16;
/// Most files that a trial reads: data, and labels.
pub const MAX_TRIAL_FILES: u32 = 2;
/// Most projects that one driller computes units of.
pub const MAX_CHOSEN: u32 = 16;
/// Most bytes of all files that a trial reads: 64 MiB. Every driller fetches them.
pub const MAX_TRIAL_BYTES: u64 = 1 << 26;
/// Most work of one unit, with the evaluation of a trial: 1 ut, or 4.32 x 10^11 FLOP. That takes
/// some seconds on a fast machine, minutes on a slow one.
pub const MAX_UNIT_WORK: MicroUt = 1_000_000;
/// Least work of one unit: 4.32 x 10^8 FLOP, a tenth of a second of one core, and more than the
/// transactions of the unit.
pub const MIN_UNIT_WORK: MicroUt = 1_000;
/// Work that the slowest machine for which there must be time computes in a block, in micro-ut:
/// 12 GFLOP, 2 GFLOP/s at 6 s a block.
pub const SLOWEST_BLOCK: MicroUt = 27_777;
/// Data that such a machine fetches and reads in a block, in MiB.
pub const SLOWEST_MIB: u32 = 2;
/// Blocks for the transactions of a unit, beside its work.
pub const UNIT_TRANSACTIONS: u32 = 2;
/// Class of the machines that compute units: a trial may ask no more of them than a job.
pub const UNIT_MACHINE: MachineClass = MachineClass::Gib8;
/// Memory for programs and for threads, besides the tensors of a chain or of a calibration.
const UNIT_BASE: u64 = 128 << 20;
/// Least trainers that compute the same unit.
pub const MIN_UNIT_REPLICAS: u8 = 2;
/// Most trainers that compute the same unit.
pub const MAX_UNIT_REPLICAS: u8 = 7;

/// Roots of the blobs on this chain that hold the files of a trial, in the order of
/// [`JobSpec::files`]; none for other templates.
pub type TrialData = BoundedVec<H256, ConstU32<MAX_TRIAL_FILES>>;

/// The projects that a driller computes units of.
pub type Chosen = BoundedVec<ProjectId, ConstU32<MAX_CHOSEN>>;

/// What the units of a project compute.
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
#[serde(rename_all = "snake_case", deny_unknown_fields)]
// A template is stored and passed whole; there is one for a project.
#[allow(clippy::large_enum_variant)]
pub enum Template {
	/// A chain of strict matrix products. `X` is drawn from the unit's seed; every link draws a
	/// weight matrix `W` and replaces `X` by `tanh(X W)`. Nothing of it can be known before the
	/// seed.
	Chain {
		/// Rows and columns of every matrix, [`MIN_CHAIN_SIZE`] to [`MAX_CHAIN_SIZE`].
		size: u32,
		/// Products.
		links: u32,
	},
	/// Hyper-parameter trials: a small training run for each unit, under the unit's seed. The
	/// score at its end is the project's result.
	Trial(TrialTemplate),
	/// A fixed mix of scalar functions in the proportions of Whetstone
	/// ([`trainyard_strict::whetstone`]), by which a machine's rate of drilling, in ut a day, can
	/// be compared with its MWIPS.
	Calibration {
		/// Passes over all lanes.
		passes: u32,
	},
}

/// A training run with several learning rates.
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
pub struct TrialTemplate {
	/// What is trained. Its learning rate is replaced, and it is evaluated once, at its end.
	pub spec: JobSpec,
	/// Learning rates x 10^9: unit `i` takes the one at `i mod` their number.
	pub learning_rates_nano: BoundedVec<u64, ConstU32<MAX_RATES>>,
}

/// What a unit asks of whoever computes it, and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
	/// Work that is credited: of a trial, that of its steps.
	pub difficulty: MicroUt,
	/// All work, also what is not credited, with memory, and with disk for the files and their
	/// rows, decoded.
	pub needs: Resources,
}

/// What was counted of a unit: FLOP, and bytes.
struct Count {
	credited: u128,
	all: u128,
	memory: u64,
	disk: u64,
}

/// What happens where the results of a unit differ.
#[derive(
	Clone,
	Copy,
	Debug,
	Default,
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
pub enum Mismatch {
	/// A result on which more than half of the unit's trainers agree holds; the others lose the
	/// unit's difficulty.
	#[default]
	Majority,
	/// All that revealed lose the unit's difficulty (MatrixAI).
	AllLose,
}

/// The result of a unit.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	PartialOrd,
	Ord,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(deny_unknown_fields)]
pub struct UnitResult {
	/// Hash of what was computed, see [`chain_state`], [`calibration_state`], [`trial_state`] and
	/// [`diverged_state`].
	pub state: H256,
	/// How a trial did, with a loss that is no NaN; none for other units, and for a trial that
	/// diverged.
	pub score: Option<Evaluation>,
}

/// Returns the least blocks that a project must give for computing a unit that asks for this: a shorter
/// time would cost all that are slower their power, however honest they are. Data may have to be read
/// again.
pub fn least_blocks(needs: &Resources) -> crate::job::BlockNumber {
	let work = u32::try_from(needs.work.div_ceil(SLOWEST_BLOCK)).unwrap_or(u32::MAX);
	let data = needs.disk_mib.div_ceil(SLOWEST_MIB);
	work.saturating_add(data).saturating_add(UNIT_TRANSACTIONS)
}

impl Template {
	/// Fails if it cannot be a template of units. Shapes must be within their limits, the job of a
	/// trial valid at all rates and such that its work must be done, with no more memory and rows
	/// than a machine of [`UNIT_MACHINE`] takes, and the work of a unit within [`MIN_UNIT_WORK`] and
	/// [`MAX_UNIT_WORK`].
	pub fn validate(&self) -> Result<(), DrillError> {
		self.measure().map(drop)
	}

	/// Returns what every unit is worth, and what it asks of a machine. Operator lists are made
	/// here, and they are most of what this costs. Fails where [`Self::validate`] does.
	pub fn measure(&self) -> Result<Measure, DrillError> {
		let Count { credited, all, memory, disk } = self.count()?;
		let whole = |flop: u128| flop.checked_div(FLOP_PER_MICRO_UT).unwrap_or_default();
		if whole(credited) < MIN_UNIT_WORK.into() {
			return Err(DrillError::TooLittleWork);
		}
		if whole(all) > MAX_UNIT_WORK.into() {
			return Err(DrillError::TooMuchWork);
		}
		// Neither is more than `all`, which fits.
		let difficulty = MicroUt::try_from(whole(credited)).unwrap_or(MAX_UNIT_WORK);
		let work = units::micro_ut(all).unwrap_or(MicroUt::MAX);
		let needs = Resources { work, memory_mib: mib(memory), disk_mib: mib(disk) };
		Ok(Measure { difficulty, needs })
	}

	/// Returns the work of every unit: the exact count of its operator lists, rounded down to
	/// micro-ut, so that power is never more than the work. Fails where [`Self::validate`] does.
	pub fn difficulty(&self) -> Result<MicroUt, DrillError> {
		self.measure().map(|measure| measure.difficulty)
	}

	/// Returns the FLOP of every unit that count: of a trial, those of its steps. Fails where the
	/// template is invalid by itself, whatever its work.
	pub fn flop(&self) -> Result<u128, DrillError> {
		self.count().map(|count| count.credited)
	}

	/// Counts a unit. Fails where the template is invalid by itself, whatever its work.
	fn count(&self) -> Result<Count, DrillError> {
		let of_lists = |flop: u128, list: &Program| Count {
			credited: flop,
			all: flop,
			memory: bytes_of_tensors(list).saturating_add(UNIT_BASE),
			disk: 0,
		};
		let ensure = |ok: bool, error: DrillError| if ok { Ok(()) } else { Err(error) };
		let repeated = |times: u32, flop: u128| u128::from(times).saturating_mul(flop);
		match self {
			Template::Chain { size, links } => {
				ensure((MIN_CHAIN_SIZE..=MAX_CHAIN_SIZE).contains(size), DrillError::BadSize)?;
				ensure(*links > 0, DrillError::NoLinks)?;
				let link = program::link(*size);
				let links = repeated(*links, link.flop());
				Ok(of_lists(program::begin(*size).flop().saturating_add(links), &link))
			}
			Template::Calibration { passes } => {
				ensure(*passes > 0, DrillError::NoPasses)?;
				let pass = program::pass();
				Ok(of_lists(repeated(*passes, pass.flop()), &pass))
			}
			Template::Trial(trial) => {
				// Its work is the same at all rates. The evaluation earns nothing: equal rows would be
				// computed once.
				let spec = trial.check()?;
				let (needs, parts) = Needs::and_parts(&spec);
				check_needs(&needs)?;
				let credited = repeated(spec.training.steps, parts.step);
				Ok(Count {
					credited,
					all: credited.saturating_add(parts.evaluation),
					memory: needs.memory(),
					disk: needs.files.saturating_add(needs.rows),
				})
			}
		}
	}

	/// Returns the job that unit `index` of a trial trains: the template's with the unit's learning
	/// rate, and one checkpoint interval. Other templates, and those that are invalid, have none.
	pub fn trial(&self, index: u32) -> Option<CheckedSpec> {
		match self {
			Template::Trial(trial) => trial.at(trial.learning_rate_nano(index)?).check().ok(),
			Template::Chain { .. } | Template::Calibration { .. } => None,
		}
	}

	/// Returns the length of each file that units read, in the order of [`JobSpec::files`].
	pub fn file_bytes(&self) -> Vec<u64> {
		match self {
			Template::Trial(trial) => trial.spec.files().map(|(_, file)| file.bytes).collect(),
			Template::Chain { .. } | Template::Calibration { .. } => Vec::new(),
		}
	}

	/// Returns the work credited to each trainer that found this result: the unit's difficulty, but
	/// nothing for a trial that diverged, which may have ended in its first step.
	pub fn credit(&self, difficulty: MicroUt, result: &UnitResult) -> MicroUt {
		match self {
			Template::Trial(_) if result.score.is_none() => 0,
			_ => difficulty,
		}
	}

	/// Returns whether a result has the form of this template's results: only those of a trial have
	/// a score, of as many labels as there are.
	pub fn takes(&self, result: &UnitResult) -> bool {
		match (self, &result.score) {
			(_, None) => true,
			(Template::Trial(trial), Some(score)) => {
				let spec = &trial.spec;
				let labels = spec.dataset.validation_rows.saturating_mul(spec.labels_per_row());
				!score.loss().is_nan() && score.correct <= score.labels && score.labels == labels
			}
			(Template::Chain { .. } | Template::Calibration { .. }, Some(_)) => false,
		}
	}
}

impl TrialTemplate {
	/// Returns the learning rate of unit `index`; none where there are no rates.
	pub fn learning_rate_nano(&self, index: u32) -> Option<u64> {
		let count = u32::try_from(self.learning_rates_nano.len()).ok()?;
		self.learning_rates_nano.get(index.checked_rem(count)? as usize).copied()
	}

	/// Returns the job at this learning rate.
	fn at(&self, learning_rate_nano: u64) -> JobSpec {
		let mut spec = self.spec.clone();
		spec.training.learning_rate_nano = learning_rate_nano;
		spec.training.checkpoint_interval = spec.training.steps;
		spec
	}

	/// Returns the job at the least rate, where it is valid at all rates and a project may have it.
	fn check(&self) -> Result<CheckedSpec, DrillError> {
		let ensure = |ok: bool, error: DrillError| if ok { Ok(()) } else { Err(error) };
		// A job that is valid at both ends is valid between them.
		let rates = &self.learning_rates_nano;
		let least = rates.iter().min().ok_or(DrillError::NoRates)?;
		let largest = rates.iter().max().copied().unwrap_or(MAX_NANO);
		let (spec, fastest) = (self.at(*least).check()?, self.at(largest).check()?);
		if let Some(reason) = spec.no_power_in_one_go().or_else(|| fastest.no_power_in_one_go()) {
			return Err(DrillError::NoPower(reason));
		}
		ensure(spec.training.early_stop.is_none(), DrillError::EarlyStop)?;
		ensure(spec.file_bytes() <= MAX_TRIAL_BYTES, DrillError::DataTooLarge)?;
		Ok(spec)
	}
}

/// Fails if a machine that computes units could not carry a trial with these needs. No states of it
/// are fetched or rescued.
fn check_needs(needs: &Needs) -> Result<(), DrillError> {
	let room = Room { rescue: u64::MAX, blob: u64::MAX };
	let beside = needs.beside(UNIT_MACHINE, 0, 1, room);
	let error =
		beside.iter().filter(|shortage| shortage.is_exceeded()).find_map(|shortage| match shortage
			.resource
		{
			Resource::Memory => Some(DrillError::MemoryTooLarge),
			Resource::Rows | Resource::Text => Some(DrillError::RowsTooLarge),
			Resource::Download | Resource::Rescue | Resource::Content => None,
		});
	error.map_or(Ok(()), Err)
}

/// Returns the bytes of all tensors of a list together.
fn bytes_of_tensors(list: &Program) -> u64 {
	let bytes = |shape: &[u32]| shape.iter().fold(4u64, |n, d| n.saturating_mul(u64::from(*d)));
	list.tensors.iter().fold(0, |sum, tensor| sum.saturating_add(bytes(&tensor.shape)))
}

/// Returns that many bytes in MiB, rounded up.
fn mib(bytes: u64) -> u32 {
	u32::try_from(bytes.div_ceil(1 << 20)).unwrap_or(u32::MAX)
}
