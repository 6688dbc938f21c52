//! What a task computes, and what is offered for it.

use crate::{state::RECORD_HEAD, H256};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::fmt;
use scale_info::TypeInfo;
use trainyard_protocol::{
	blob, content,
	job::{Balance, BlockNumber},
	seats::Resources,
};

/// Most bytes of a module: it travels in a transaction together with a state.
pub const MAX_MODULE: u32 = 64 * 1024;
/// Most bytes of a state, so of an input.
pub const MAX_STATE: u32 = 64 * 1024;
/// Most steps: with the first state the leaves of a trace are at most 2^21, three moves of a dispute.
pub const MAX_STEPS: u32 = (1 << 21) - 1;
/// Most pages of 64 KiB of a step's memory.
pub const MAX_PAGES: u32 = 128;
/// Most replicas.
pub const MAX_REPLICAS: u8 = 8;
/// Most accounts that apply for a task.
pub const MAX_APPLICANTS: u32 = 32;
/// Part of a replica's deposit that a challenge puts at stake, where that is more than the chain's least: half of it is
/// for whoever waits a day or two longer for that deposit where the challenge was false.
pub const CHALLENGE_PART: Balance = 100;
/// Most bytes of an output that comes with its claim, and is kept by the chain itself. A longer one is a blob.
pub const MAX_INLINE: u32 = 4 * 1024;
/// All of the chances of an audit.
pub const CERTAIN: u16 = 1_000;
/// Fuel for which a chain's price of computing is.
pub const PRICED_FUEL: u64 = 1_000_000;

/// Bytes, named by their length and their root as a [blob].
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
)]
pub struct File {
	/// How many.
	pub bytes: u32,
	/// The root that a blob with these bytes has.
	pub root: H256,
}

impl File {
	/// Returns the name of these bytes. (Of more than 2^32 - 1 it is nobody's.)
	pub fn of(bytes: &[u8]) -> Self {
		let root = blob::root_of(bytes.len() as u64, &content::hash(bytes));
		Self { bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX), root }
	}
}

/// What one step, or one index, may use. More is a fault.
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
)]
pub struct Limits {
	/// Fuel: what the machine counts of its instructions.
	pub fuel: u64,
	/// Pages of 64 KiB of memory.
	pub pages: u32,
	/// Bytes of a state, before the step and after it.
	pub state: u32,
}

/// How the module is used.
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
)]
pub enum Form {
	/// A state to the next, so often. The input is the first state, the last state the output.
	Step {
		/// How often.
		steps: u32,
	},
	/// Each index by itself, [with the input](crate::state::Call::Map), to a
	/// [record](crate::state::record). The output is the file of all records in their order.
	Map {
		/// How many indices.
		count: u32,
		/// Most bytes of the output of an index.
		most: u32,
	},
}

/// What is computed.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct TaskSpec {
	/// The WebAssembly module.
	pub module: File,
	/// The input.
	pub input: File,
	/// How it is used.
	pub form: Form,
	/// What each step may use.
	pub limits: Limits,
}

/// What is offered, and when it happens.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct TaskTerms {
	/// What each replica earns whose claim stands.
	pub reward: Balance,
	/// How many compute it.
	pub replicas: u8,
	/// What each of them puts at stake.
	pub deposit: Balance,
	/// Chance of an audit in thousandths.
	pub audit: u16,
	/// What whoever audits earns.
	pub audit_fee: Balance,
	/// Blocks for applications.
	pub apply: BlockNumber,
	/// Blocks for computing, and for computing again in an audit.
	pub compute: BlockNumber,
	/// Blocks for showing claims, and for storing outputs.
	pub reveal: BlockNumber,
	/// Blocks in which anybody can challenge.
	pub challenge: BlockNumber,
}

/// What a chain allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, TypeInfo)]
pub struct Bounds {
	/// Most fuel of a step: what the chain executes in a quarter of a block.
	pub fuel: u64,
	/// Fuel for which there is a block of computing at least: what any machine of the chain executes in it.
	pub block_fuel: u64,
	/// Bytes of records for which there is a block of storing at least.
	pub block_bytes: u32,
	/// Least of the fee of an audit for [`PRICED_FUEL`].
	pub fuel_price: Balance,
	/// Least deposit: what a dispute costs who is right, several times.
	pub deposit: Balance,
	/// Least blocks of each period.
	pub least: BlockNumber,
	/// Least blocks of a challenge, in which machines may be away for a while.
	pub window: BlockNumber,
	/// Most blocks of each period.
	pub most: BlockNumber,
}

/// Says which rule a task breaks.
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
)]
pub enum TaskFault {
	/// A module has 1 to [`MAX_MODULE`] bytes.
	Module,
	/// An input has 1 byte at least, and no more than a state.
	Input,
	/// There is one step at least, and [`MAX_STEPS`] at most.
	Steps,
	/// There is one index at least, and all records fit in a blob of less than 2^32 bytes.
	Count,
	/// The limit of a record is 1 byte at least, and no more than that of a state.
	Record,
	/// The limit of a state is [`MAX_STATE`] at most.
	State,
	/// A step has fuel, and no more than the chain executes in a quarter of a block.
	Fuel,
	/// A step has one page of memory at least, and [`MAX_PAGES`] at most.
	Pages,
	/// There is one replica at least, and [`MAX_REPLICAS`] at most.
	Replicas,
	/// A replica earns something.
	Reward,
	/// The chance of an audit is 1 to [`CERTAIN`] thousandths.
	Audit,
	/// The fee of an audit pays for all fuel of the task by the chain's price.
	AuditFee,
	/// The deposit is that of the chain at least, and with the chance `p` of an audit at least twice the
	/// reward times `(1 - p) / p`, so that who expects nothing but audits has no gain from a false claim.
	Deposit,
	/// A period is as long as the chain says, computing has the blocks that all fuel takes, and showing claims those
	/// in which all records of a map are stored, of as many claims as there can be.
	Blocks,
	/// An amount exceeds the range of amounts.
	Overflow,
}

impl fmt::Display for TaskFault {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(match self {
			Self::Module => "a module has 1 byte to 64 KiB",
			Self::Input => "the input has 1 byte at least and fits in a state",
			Self::Steps => "there are 1 to 2,097,151 steps",
			Self::Count => "a map has 1 index at least, and all its records are less than 4 GiB",
			Self::Record => "a record has 1 byte at least and no more than a state",
			Self::State => "a state has 64 KiB at most",
			Self::Fuel => "a step has fuel, and no more than the chain allows",
			Self::Pages => "a step has 1 to 128 pages of memory",
			Self::Replicas => "there are 1 to 8 replicas",
			Self::Reward => "a replica earns something",
			Self::Audit => "the chance of an audit is 1 to 1,000 thousandths",
			Self::AuditFee => "the fee of an audit does not pay for the fuel of the task",
			Self::Deposit => "the deposit is too small for the reward and the chance of an audit",
			Self::Blocks => "a period is too short or too long",
			Self::Overflow => "an amount is too large",
		})
	}
}

impl core::error::Error for TaskFault {}

/// Fails with `fault` unless `holds`.
fn ensure(holds: bool, fault: TaskFault) -> Result<(), TaskFault> {
	if holds {
		Ok(())
	} else {
		Err(fault)
	}
}

impl TaskSpec {
	/// Returns how many steps, or indices, there are.
	pub fn units(&self) -> u32 {
		match self.form {
			Form::Step { steps } => steps,
			Form::Map { count, .. } => count,
		}
	}

	/// Returns the leaves of a trace; `None` of a map, which has no trace.
	pub fn leaves(&self) -> Option<u32> {
		match self.form {
			Form::Step { steps } => steps.checked_add(1),
			Form::Map { .. } => None,
		}
	}

	/// Returns the bytes of the file of all records; `None` of a task in steps.
	pub fn records(&self) -> Option<u64> {
		match self.form {
			Form::Step { .. } => None,
			Form::Map { count, most } => {
				let record = u64::from(most).saturating_add(RECORD_HEAD.into());
				Some(record.saturating_mul(count.into()))
			}
		}
	}

	/// Returns the most fuel of the whole task: its work.
	pub fn fuel(&self) -> u128 {
		u128::from(self.limits.fuel).saturating_mul(self.units().into())
	}

	/// Returns what a verifier needs for an audit. The work of tasks is bounded by their periods.
	pub fn needs(&self) -> Resources {
		let memory = u64::from(self.limits.pages).saturating_mul(64 * 1024);
		let states = u64::from(self.limits.state).saturating_mul(4);
		// A trace with all nodes of its tree, or all records.
		let trace = self.leaves().map_or(0, |count| u64::from(count).saturating_mul(64));
		let records = self.records().unwrap_or(0);
		let mib = |bytes: u64| u32::try_from(bytes.div_ceil(1 << 20)).unwrap_or(u32::MAX);
		let memory = memory.saturating_add(states).saturating_add(trace);
		Resources { work: 0, memory_mib: mib(memory), disk_mib: mib(records) }
	}

	/// Fails with the first rule that it breaks.
	pub fn check(&self, bounds: &Bounds) -> Result<(), TaskFault> {
		let Limits { fuel, pages, state } = self.limits;
		ensure((1..=MAX_MODULE).contains(&self.module.bytes), TaskFault::Module)?;
		ensure(state <= MAX_STATE, TaskFault::State)?;
		ensure((1..=bounds.fuel).contains(&fuel), TaskFault::Fuel)?;
		ensure((1..=MAX_PAGES).contains(&pages), TaskFault::Pages)?;
		match self.form {
			Form::Step { steps } => ensure((1..=MAX_STEPS).contains(&steps), TaskFault::Steps)?,
			Form::Map { count, most } => {
				ensure((1..=state).contains(&most), TaskFault::Record)?;
				let fits = self.records().is_some_and(|bytes| u32::try_from(bytes).is_ok());
				ensure(count > 0 && fits, TaskFault::Count)?;
			}
		}
		ensure((1..=state).contains(&self.input.bytes), TaskFault::Input)
	}
}

impl TaskTerms {
	/// Returns what is held of who posts it: all rewards, and the fee of an audit. `None` past the range
	/// of amounts.
	pub fn escrow(&self) -> Option<Balance> {
		self.reward.checked_mul(self.replicas.into())?.checked_add(self.audit_fee)
	}

	/// Returns the least fee of an audit of this task.
	pub fn least_audit_fee(spec: &TaskSpec, bounds: &Bounds) -> Balance {
		spec.fuel().div_ceil(PRICED_FUEL.into()).saturating_mul(bounds.fuel_price)
	}

	/// Returns the least deposit for a reward, as far as the chance of an audit decides.
	pub fn deterrent(reward: Balance, audit: u16) -> Option<Balance> {
		let escapes = CERTAIN.checked_sub(audit)?;
		let gain = reward.checked_mul(2)?.checked_mul(escapes.into())?;
		(audit > 0).then(|| gain.div_ceil(audit.into()))
	}

	/// Fails with the first rule that it breaks, for a task with this specification.
	pub fn check(&self, spec: &TaskSpec, bounds: &Bounds) -> Result<(), TaskFault> {
		ensure((1..=MAX_REPLICAS).contains(&self.replicas), TaskFault::Replicas)?;
		ensure(self.reward > 0, TaskFault::Reward)?;
		ensure((1..=CERTAIN).contains(&self.audit), TaskFault::Audit)?;
		self.escrow().ok_or(TaskFault::Overflow)?;
		let fee = Self::least_audit_fee(spec, bounds);
		ensure(self.audit_fee >= fee, TaskFault::AuditFee)?;
		let least = Self::deterrent(self.reward, self.audit).ok_or(TaskFault::Overflow)?;
		ensure(self.deposit >= least.max(bounds.deposit), TaskFault::Deposit)?;
		// Deposits of a task can be added up.
		let all = self.deposit.checked_mul(64);
		ensure(all.is_some(), TaskFault::Overflow)?;
		let range = bounds.least..=bounds.most;
		let all = [self.apply, self.compute, self.reveal];
		let needed = spec.fuel().div_ceil(u128::from(bounds.block_fuel).max(1));
		let bytes = spec.records().unwrap_or(0);
		let stored = bytes.div_ceil(u64::from(bounds.block_bytes).max(1));
		// Each replica and an auditor may claim something else, and all of that is stored.
		let stored = stored.saturating_mul(u64::from(self.replicas).saturating_add(1));
		let fits = all.iter().all(|blocks| range.contains(blocks))
			&& (bounds.window.max(bounds.least)..=bounds.most).contains(&self.challenge)
			&& u128::from(self.compute) >= needed
			&& u64::from(self.reveal) >= u64::from(bounds.least).saturating_add(stored);
		ensure(fits, TaskFault::Blocks)
	}
}

#[cfg(test)]
pub(crate) mod testing {
	use super::*;

	pub const INPUT: &[u8] = b"input";

	/// A task of this form.
	pub fn spec(form: Form) -> TaskSpec {
		TaskSpec {
			module: File::of(b"module"),
			input: File::of(INPUT),
			form,
			limits: Limits { fuel: 1_000, pages: 2, state: 64 },
		}
	}

	/// What a chain may allow.
	pub const BOUNDS: Bounds = Bounds {
		fuel: 10_000,
		block_fuel: 2_000,
		block_bytes: 100,
		fuel_price: 3,
		deposit: 50,
		least: 2,
		window: 10,
		most: 1_000,
	};

	/// Terms for a task of five steps.
	pub fn terms() -> TaskTerms {
		TaskTerms {
			reward: 100,
			replicas: 2,
			deposit: 600,
			audit: 250,
			audit_fee: 3,
			apply: 2,
			compute: 3,
			reveal: 2,
			challenge: 10,
		}
	}
}

#[cfg(test)]
mod tests {
	use super::{testing::*, *};

	#[test]
	fn a_file_is_a_blob() {
		let file = File::of(b"abc");
		let root = blob::root_of_reader(&b"abc"[..]).unwrap();
		assert_eq!((file.bytes, file.root), (3, root));
		assert_ne!(File::of(b"").root, file.root);
	}

	#[test]
	fn every_rule_of_a_specification_is_enforced() {
		let steps = spec(Form::Step { steps: 5 });
		let map = spec(Form::Map { count: 5, most: 8 });
		assert_eq!((steps.check(&BOUNDS), map.check(&BOUNDS)), (Ok(()), Ok(())));
		let fails = |of: &TaskSpec, change: fn(&mut TaskSpec), fault| {
			let mut spec = of.clone();
			change(&mut spec);
			assert_eq!(spec.check(&BOUNDS), Err(fault));
		};
		fails(&steps, |s| s.module.bytes = 0, TaskFault::Module);
		fails(&steps, |s| s.module.bytes = MAX_MODULE + 1, TaskFault::Module);
		fails(&steps, |s| s.input.bytes = 0, TaskFault::Input);
		fails(&steps, |s| s.input.bytes = 65, TaskFault::Input);
		fails(&map, |s| s.input.bytes = 65, TaskFault::Input);
		fails(&steps, |s| s.form = Form::Step { steps: 0 }, TaskFault::Steps);
		fails(&steps, |s| s.form = Form::Step { steps: MAX_STEPS + 1 }, TaskFault::Steps);
		fails(&map, |s| s.form = Form::Map { count: 0, most: 8 }, TaskFault::Count);
		fails(&map, |s| s.form = Form::Map { count: u32::MAX, most: 8 }, TaskFault::Count);
		fails(&map, |s| s.form = Form::Map { count: 5, most: 0 }, TaskFault::Record);
		fails(&map, |s| s.form = Form::Map { count: 5, most: 65 }, TaskFault::Record);
		fails(&steps, |s| s.limits.state = MAX_STATE + 1, TaskFault::State);
		fails(&steps, |s| s.limits.fuel = 0, TaskFault::Fuel);
		fails(&steps, |s| s.limits.fuel = 10_001, TaskFault::Fuel);
		fails(&steps, |s| s.limits.pages = 0, TaskFault::Pages);
		fails(&steps, |s| s.limits.pages = MAX_PAGES + 1, TaskFault::Pages);
	}

	#[test]
	fn every_rule_of_terms_is_enforced() {
		let spec = spec(Form::Step { steps: 5 });
		assert_eq!(terms().check(&spec, &BOUNDS), Ok(()));
		let fails = |change: fn(&mut TaskTerms), fault| {
			let mut terms = terms();
			change(&mut terms);
			assert_eq!(terms.check(&spec, &BOUNDS), Err(fault));
		};
		fails(|t| t.replicas = 0, TaskFault::Replicas);
		fails(|t| t.replicas = MAX_REPLICAS + 1, TaskFault::Replicas);
		fails(|t| t.reward = 0, TaskFault::Reward);
		fails(|t| t.audit = 0, TaskFault::Audit);
		fails(|t| t.audit = CERTAIN + 1, TaskFault::Audit);
		fails(|t| t.audit_fee = 2, TaskFault::AuditFee);
		fails(|t| t.deposit = 599, TaskFault::Deposit);
		fails(|t| t.audit = 249, TaskFault::Deposit);
		fails(|t| (t.audit, t.deposit) = (1_000, 49), TaskFault::Deposit);
		fails(|t| t.reward = Balance::MAX / 2, TaskFault::Overflow);
		fails(|t| t.deposit = Balance::MAX / 2, TaskFault::Overflow);
		fails(|t| t.audit_fee = Balance::MAX, TaskFault::Overflow);
		fails(|t| t.apply = 1, TaskFault::Blocks);
		fails(|t| t.reveal = 1_001, TaskFault::Blocks);
		fails(|t| t.compute = 2, TaskFault::Blocks);
		fails(|t| t.challenge = 9, TaskFault::Blocks);
		let certain = TaskTerms { audit: 1_000, deposit: 50, ..terms() };
		assert_eq!(certain.check(&spec, &BOUNDS), Ok(()));
	}

	#[test]
	fn work_is_all_fuel_there_may_be() {
		let spec = spec(Form::Map { count: 7, most: 8 });
		assert_eq!((spec.fuel(), spec.units(), spec.leaves()), (7_000, 7, None));
		assert_eq!(spec.records(), Some(84));
		assert_eq!(TaskTerms::least_audit_fee(&spec, &BOUNDS), 3);
		let larger = TaskSpec { limits: Limits { fuel: 143_000, ..spec.limits }, ..spec };
		assert_eq!(TaskTerms::least_audit_fee(&larger, &BOUNDS), 6, "1.001 millions are two");
		assert_eq!(terms().escrow(), Some(203));
	}
}
