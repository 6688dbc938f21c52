//! What somebody says that it offers for a task, and the terms that follow: the one place where it is decided what
//! stands where nothing is said. Clients ask the chain (`TrainyardApi_task_terms`), or call it themselves.

use crate::{spec::TaskFault, Bounds, TaskSpec, TaskTerms};
use codec::{Decode, DecodeWithMemTracking, Encode};
use scale_info::TypeInfo;
use trainyard_program::units::{self, MicroUt};
use trainyard_protocol::job::{Balance, BlockNumber};

/// FLOP as which a unit of fuel counts, so that work of tasks has a price in ut beside that of training: what a core
/// does of strict training in the time in which it executes a unit. `docs/tasks.md` has the measurement.
pub const FLOP_PER_FUEL: u128 = 32;

/// Returns the work of some fuel, in micro-ut, rounded up; `None` out of the range of amounts.
pub fn work(fuel: u128) -> Option<MicroUt> {
	units::micro_ut(fuel.checked_mul(FLOP_PER_FUEL)?)
}

/// Blocks for applications, where nobody says another number: workers fetch the module and try it first.
const APPLY_BLOCKS: BlockNumber = 30;
/// Blocks for computing and for storing beside those that are needed, where nobody says another number.
const SOME_BLOCKS: BlockNumber = 10;

/// What who posts a task says of it. What it does not say follows from the chain's bounds.
#[derive(
	Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo,
)]
pub struct Offer {
	/// What each replica earns; or else [`Self::price`].
	pub reward: Option<Balance>,
	/// What each replica earns for a ut, where every step takes all its fuel.
	pub price: Option<Balance>,
	/// How many compute it.
	pub replicas: u8,
	/// Chance of an audit in thousandths.
	pub audit: u16,
	/// What whoever audits earns.
	pub audit_fee: Option<Balance>,
	/// What a replica puts at stake.
	pub deposit: Option<Balance>,
	/// Blocks for applications.
	pub apply: Option<BlockNumber>,
	/// Blocks for computing.
	pub compute: Option<BlockNumber>,
	/// Blocks for showing claims.
	pub reveal: Option<BlockNumber>,
	/// Blocks for challenges.
	pub challenge: Option<BlockNumber>,
}

impl Offer {
	/// Returns the terms of a task.
	///
	/// # Errors
	///
	/// The first rule of the chain that they break.
	pub fn terms(&self, spec: &TaskSpec, bounds: &Bounds) -> Result<TaskTerms, TaskFault> {
		spec.check(bounds)?;
		let work = work(spec.fuel()).ok_or(TaskFault::Overflow)?;
		let reward = match (self.reward, self.price) {
			(Some(reward), _) => reward,
			(None, Some(price)) => {
				let all = price.checked_mul(work.into()).ok_or(TaskFault::Overflow)?;
				all.div_ceil(1_000_000)
			}
			(None, None) => return Err(TaskFault::Reward),
		};
		let deterrent = TaskTerms::deterrent(reward, self.audit).ok_or(TaskFault::Audit)?;
		let needed = spec.fuel().div_ceil(u128::from(bounds.block_fuel).max(1));
		let needed = BlockNumber::try_from(needed).map_err(|_| TaskFault::Blocks)?;
		let stored = spec.records().unwrap_or(0).div_ceil(u64::from(bounds.block_bytes).max(1));
		// Each replica and an auditor may claim something else.
		let stored = stored.saturating_mul(u64::from(self.replicas).saturating_add(1));
		let stored = BlockNumber::try_from(stored).map_err(|_| TaskFault::Blocks)?;
		let some = bounds.least.max(SOME_BLOCKS);
		let terms = TaskTerms {
			reward,
			replicas: self.replicas,
			deposit: self.deposit.unwrap_or(deterrent.max(bounds.deposit)),
			audit: self.audit,
			audit_fee: self.audit_fee.unwrap_or(TaskTerms::least_audit_fee(spec, bounds)),
			apply: self.apply.unwrap_or(bounds.least.max(APPLY_BLOCKS)),
			compute: self.compute.unwrap_or(needed.saturating_add(some).min(bounds.most)),
			reveal: self.reveal.unwrap_or(stored.saturating_add(some).min(bounds.most)),
			challenge: self.challenge.unwrap_or(bounds.window.max(bounds.least)),
		};
		terms.check(spec, bounds)?;
		Ok(terms)
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{File, Form, Limits};

	const BOUNDS: Bounds = Bounds {
		fuel: 32_000_000,
		block_fuel: 4_000_000_000,
		block_bytes: 1_000_000,
		fuel_price: 2,
		deposit: 100,
		least: 3,
		window: 40,
		most: 1_000,
	};

	fn spec(form: Form) -> TaskSpec {
		TaskSpec {
			module: File::of(b"module"),
			input: File::of(b"input"),
			form,
			limits: Limits { fuel: 1_000_000, pages: 1, state: 64 },
		}
	}

	#[test]
	fn what_nobody_says_follows_from_the_bounds() {
		let offer = Offer { reward: Some(50), replicas: 2, audit: 100, ..Offer::default() };
		let spec = spec(Form::Step { steps: 20_000 });
		let terms = offer.terms(&spec, &BOUNDS).unwrap();
		assert_eq!((terms.reward, terms.deposit, terms.audit_fee), (50, 900, 40_000));
		assert_eq!((terms.apply, terms.compute, terms.reveal, terms.challenge), (30, 15, 10, 40));
		let certain = Offer { audit: 1_000, ..offer };
		assert_eq!(certain.terms(&spec, &BOUNDS).unwrap().deposit, 100, "the chain's least");
		// 20,000 steps of a million units are 1.481482 ut, rounded up.
		let priced = Offer { reward: None, price: Some(1_000_000), ..offer };
		assert_eq!(priced.terms(&spec, &BOUNDS).unwrap().reward, 1_481_482);
	}

	#[test]
	fn records_have_time_to_be_stored() {
		let offer = Offer { reward: Some(50), replicas: 1, audit: 100, ..Offer::default() };
		let spec = spec(Form::Map { count: 100_000, most: 60 });
		assert_eq!(offer.terms(&spec, &BOUNDS).unwrap().reveal, 24);
	}

	#[test]
	fn what_the_chain_would_refuse_is_refused() {
		let offer = Offer { reward: Some(50), replicas: 2, audit: 100, ..Offer::default() };
		let spec = spec(Form::Step { steps: 100 });
		let of = |offer: Offer| offer.terms(&spec, &BOUNDS).unwrap_err();
		assert_eq!(of(Offer { reward: None, ..offer }), TaskFault::Reward);
		assert_eq!(of(Offer { audit: 0, ..offer }), TaskFault::Audit);
		assert_eq!(of(Offer { audit: 1_001, ..offer }), TaskFault::Audit);
		assert_eq!(of(Offer { replicas: 9, ..offer }), TaskFault::Replicas);
		assert_eq!(of(Offer { deposit: Some(899), ..offer }), TaskFault::Deposit);
		assert_eq!(of(Offer { challenge: Some(39), ..offer }), TaskFault::Blocks);
		assert_eq!(of(Offer { compute: Some(1_001), ..offer }), TaskFault::Blocks);
		let large = TaskSpec { limits: Limits { fuel: 32_000_001, ..spec.limits }, ..spec.clone() };
		assert_eq!(offer.terms(&large, &BOUNDS), Err(TaskFault::Fuel));
	}
}
