//! What a trainer does next, as a pure function of what the chain says and what it has.

use super::store::JobRecord;
use crate::{
	amount,
	chain::{AccountId32, JobView, ReplicaView},
};
use std::time::Duration;
use trainyard_primitives::{
	audit::{AuditPhase, GroupVerdict},
	job::{Balance, BlockNumber, Fate, JobState, WorkResult},
	units::{self, FLOP_PER_MICRO_UT},
	MicroUt,
};

/// Blocks behind a deadline after which the trainer pokes the chain about its job: by then
/// the chain's own agenda has had its chance.
const POKE_AFTER: BlockNumber = 10;
/// Share of the time for training that a job may be expected to take.
const TIME_SHARE: f64 = 0.8;

/// One step for one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
	/// Get the data and check that it is what the job declares.
	Fetch,
	/// Apply.
	Apply,
	/// Train, or go on training.
	Train,
	/// Commit to the result.
	Commit,
	/// Reveal the result.
	Reveal,
	/// Store the model on chain.
	Store,
	/// Store the drawn states on chain, for the group of this index.
	Rescue(u32),
	/// Tell the chain that the job is overdue.
	Poke,
}

/// What a trainer takes.
#[derive(Clone, Debug)]
pub struct Limits {
	/// Least pay for one ut.
	pub min_price: Balance,
	/// Largest job.
	pub max_work: MicroUt,
	/// Most jobs at once.
	pub max_parallel: usize,
	/// Largest data file in bytes.
	pub max_data: u64,
	/// Balance that stays free, for fees.
	pub reserve: Balance,
	/// Expected speed of training in FLOP per second.
	pub speed: f64,
	/// Blocks for which an ended job is still served.
	pub grace: BlockNumber,
}

/// How the trainer stands at this block.
#[derive(Clone, Debug)]
pub struct Standing {
	/// The best block.
	pub best: BlockNumber,
	/// Time between blocks.
	pub block_time: Duration,
	/// Free balance.
	pub free: Balance,
	/// Deposit for storing a model of so many bytes on chain: base and per byte.
	pub blob_deposit: (Balance, Balance),
	/// Jobs that it has applied for or trains.
	pub busy: usize,
}

/// Why a job is not taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
	/// Ordered from somebody else.
	#[error("it was ordered from another trainer")]
	NotInvited,
	/// Posted by this account: the chain lets no submitter train its own job.
	#[error("this account posted it")]
	Own,
	/// Pays too little.
	#[error("it pays {} per ut, less than the {} that are asked (--min-price)", amount::format(*.offered), amount::format(*.asked))]
	Price {
		/// Offered for one ut.
		offered: Balance,
		/// Asked for one ut.
		asked: Balance,
	},
	/// Too much work.
	#[error("it is {} ut of work, more than the {} that are taken (--max-ut)", amount::format_scaled(u128::from(*.work), 6), amount::format_scaled(u128::from(*.limit), 6))]
	Work {
		/// The job's.
		work: MicroUt,
		/// The limit.
		limit: MicroUt,
	},
	/// Too much data.
	#[error("its data has {bytes} bytes, more than the {limit} that are taken (--max-data-mib)")]
	Data {
		/// The job's.
		bytes: u64,
		/// The limit.
		limit: u64,
	},
	/// Could not be done in time.
	#[error("it would take about {needed:.0} s, but the time for training is {given:.0} s")]
	Time {
		/// Expected seconds of training.
		needed: f64,
		/// Seconds until the deadline of commitments.
		given: f64,
	},
	/// Not enough balance.
	#[error("deposits and fees need {}, but {} are free", amount::format(*.needed), amount::format(*.free))]
	Balance {
		/// Deposits and reserve.
		needed: Balance,
		/// Free balance.
		free: Balance,
	},
	/// Enough to do.
	#[error("{0} jobs are enough at once (--max-parallel)")]
	Busy(usize),
}

impl Refusal {
	/// Whether the job may still be taken later, when other jobs have ended.
	pub fn may_pass(&self) -> bool {
		matches!(self, Self::Busy(_) | Self::Balance { .. })
	}
}

/// Whether an open job is worth applying for.
pub fn worth(
	job: &JobView,
	me: &AccountId32,
	limits: &Limits,
	standing: &Standing,
) -> Result<(), Refusal> {
	if job.invited.is_some_and(|invited| invited != *me) {
		return Err(Refusal::NotInvited);
	}
	if job.submitter == *me {
		return Err(Refusal::Own);
	}
	let offered = job.terms.price_per_ut;
	if offered < limits.min_price {
		return Err(Refusal::Price { offered, asked: limits.min_price });
	}
	if job.work > limits.max_work {
		return Err(Refusal::Work { work: job.work, limit: limits.max_work });
	}
	let bytes = job.spec.dataset.bytes;
	if bytes > limits.max_data {
		return Err(Refusal::Data { bytes, limit: limits.max_data });
	}
	let needed = (u128::from(job.work) * FLOP_PER_MICRO_UT) as f64 / limits.speed.max(1.0);
	let given = f64::from(job.terms.training_blocks) * standing.block_time.as_secs_f64();
	if needed > given * TIME_SHARE {
		return Err(Refusal::Time { needed, given });
	}
	let (base, per_byte) = standing.blob_deposit;
	let model_bytes = job.spec.parameters().unwrap_or(u64::MAX).saturating_mul(4);
	let blob = per_byte.saturating_mul(u128::from(model_bytes)).saturating_add(base);
	let needed = job.deposit.saturating_add(blob).saturating_add(limits.reserve);
	if standing.free < needed {
		return Err(Refusal::Balance { needed, free: standing.free });
	}
	if standing.busy >= limits.max_parallel {
		return Err(Refusal::Busy(limits.max_parallel));
	}
	Ok(())
}

/// What is to be done about one job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
	/// Steps, most urgent first.
	pub actions: Vec<Action>,
	/// Whether its data is to be served.
	pub serve_data: bool,
	/// Whether its bundle is to be served.
	pub serve_bundle: bool,
	/// Why an open job is not applied for.
	pub refusal: Option<Refusal>,
	/// Whether the trainer has anything to do with the job: it applied, or was drawn.
	pub involved: bool,
	/// Whether there will never be anything to do again.
	pub finished: bool,
}

/// The replica of `me`, if it is a trainer of this job.
pub fn replica_of<'a>(job: &'a JobView, me: &AccountId32) -> Option<&'a ReplicaView> {
	job.replicas.iter().find(|replica| replica.trainer == *me)
}

/// Price of one replica, in units of the currency; saturates.
pub fn price(job: &JobView) -> Balance {
	units::price(job.work, job.terms.price_per_ut).unwrap_or(Balance::MAX)
}

/// What `me` does about `job`. `record` is what it knows of it (from the seed on), and
/// `data` says whether the data lies here, checked.
pub fn plan(
	job: &JobView,
	me: &AccountId32,
	record: Option<&JobRecord>,
	data: bool,
	limits: &Limits,
	standing: &Standing,
) -> Plan {
	let mut plan = match job.state {
		JobState::Open | JobState::Seeding => before_the_draw(job, me, data, limits, standing),
		JobState::Training | JobState::Revealing | JobState::Auditing => {
			match replica_of(job, me) {
				Some(mine) => at_work(job, mine, record),
				None => Plan { finished: true, ..Plan::default() },
			}
		}
		JobState::Ended(_) => ended(job, me, record, limits, standing),
	};
	if plan.serve_data && !data && !plan.actions.contains(&Action::Fetch) {
		plan.actions.push(Action::Fetch);
	}
	// Training needs the data first.
	if !data {
		plan.actions.retain(|action| *action != Action::Train);
	}
	let overdue = standing.best > job.deadline.saturating_add(POKE_AFTER);
	if overdue && plan.involved && !matches!(job.state, JobState::Ended(_)) {
		plan.actions.push(Action::Poke);
	}
	plan
}

fn before_the_draw(
	job: &JobView,
	me: &AccountId32,
	data: bool,
	limits: &Limits,
	standing: &Standing,
) -> Plan {
	if job.applicants.contains(me) {
		return Plan { involved: true, serve_data: true, ..Plan::default() };
	}
	// An application sent at the last block would come too late.
	if job.state != JobState::Open || standing.best.saturating_add(1) >= job.deadline {
		return Plan::default();
	}
	match worth(job, me, limits, standing) {
		Err(refusal) => Plan { refusal: Some(refusal), ..Plan::default() },
		Ok(()) => {
			let action = if data { Action::Apply } else { Action::Fetch };
			Plan { actions: vec![action], ..Plan::default() }
		}
	}
}

fn at_work(job: &JobView, mine: &ReplicaView, record: Option<&JobRecord>) -> Plan {
	let mut plan = Plan { involved: true, serve_data: true, ..Plan::default() };
	if mine.fate != Fate::Working {
		// Lost already; what was revealed is served until the job ends.
		plan.serve_bundle = mine.reveal.is_some();
		return plan;
	}
	let Some(record) = record else {
		// The record begins with the seed.
		return plan;
	};
	match job.state {
		JobState::Training => match record.result {
			None => plan.actions.push(Action::Train),
			Some(_) if !mine.committed => plan.actions.push(Action::Commit),
			Some(_) => {}
		},
		JobState::Revealing if mine.committed => {
			if record.result.is_none() {
				// The result is a function of job and seed: what was lost is made again.
				plan.actions.push(Action::Train);
			} else {
				if mine.reveal.is_none() && record.committed.is_some() {
					plan.actions.push(Action::Reveal);
				}
				if !record.stored {
					plan.actions.push(Action::Store);
				}
			}
			plan.serve_bundle = mine.reveal.is_some();
		}
		JobState::Auditing => {
			plan.serve_bundle = mine.reveal.is_some();
			if record.result.is_none() && mine.reveal.is_some() {
				plan.actions.push(Action::Train);
			}
			if let (Some(shown), Some(own)) = (mine.reveal.as_ref(), record.result) {
				if shown.result() == own {
					plan.actions.extend(rescue(job, &own));
				}
			}
		}
		_ => {}
	}
	plan
}

/// The rescue of the group with this result, while its window is open and verifiers asked
/// for it: more than half of the committee could not have it.
fn rescue(job: &JobView, own: &WorkResult) -> Option<Action> {
	let audit = job.audit.as_ref()?;
	if !matches!(audit.phase, AuditPhase::Rescue { .. }) {
		return None;
	}
	let index = audit.groups.iter().position(|group| {
		group.result == *own && group.decision.is_none() && group.rescued.is_none()
	})?;
	let missed = audit
		.committee
		.iter()
		.filter_map(|member| member.findings.as_ref()?.get(index))
		.filter(|verdict| **verdict == GroupVerdict::Unavailable)
		.count();
	let asked = missed.saturating_mul(2) > audit.committee.len();
	u32::try_from(index).ok().filter(|_| asked).map(Action::Rescue)
}

fn ended(
	job: &JobView,
	me: &AccountId32,
	record: Option<&JobRecord>,
	limits: &Limits,
	standing: &Standing,
) -> Plan {
	let Some(mine) = replica_of(job, me) else {
		return Plan { finished: true, ..Plan::default() };
	};
	let Some(record) = record else {
		// Nothing of it lies here.
		return Plan { finished: true, ..Plan::default() };
	};
	let since = record.ended.unwrap_or(standing.best);
	if standing.best > since.saturating_add(limits.grace) {
		return Plan { finished: true, ..Plan::default() };
	}
	let revealed = mine.reveal.is_some();
	Plan { serve_data: revealed, serve_bundle: revealed, ..Plan::default() }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
