//! Decides whether a job is worth applying for.

use super::needs::Needs;
use crate::roles::job::Job;
use std::{cmp::Reverse, time::Duration};
use trainyard_client::{amount, AccountId32};
use trainyard_program::{
	spec::SpecError,
	units::{self, FLOP_PER_MICRO_UT},
};
use trainyard_protocol::{
	blob, fees,
	job::{Balance, BlockNumber, JobState},
	lottery,
	pieces::Piece,
	relay, JobId, MicroUt,
};

/// Share of the time for training that a job may be expected to take.
const TIME_SHARE: f64 = 0.8;
/// Small transactions of a job: apply, commit, reveal, and one in reserve.
const CALLS: u128 = 4;
/// Transactions of a rescue besides those that store it: one before and one after, each with the
/// leaves of the states in it.
const RESCUE_CALLS: u128 = 2;

/// The limits of what a trainer takes.
#[derive(Clone, Debug)]
pub struct Limits {
	/// Least pay for one ut.
	pub min_price: Balance,
	/// Least part of the pay, in percent, where the audit decides nothing.
	pub min_undecided: u8,
	/// Largest deviation of the pay of a job that pays by lottery, in percent of its mean.
	pub max_deviation: u32,
	/// Largest job.
	pub max_work: MicroUt,
	/// Most jobs at once.
	pub max_parallel: usize,
	/// Most bytes of the files that a job reads.
	pub max_data: u64,
	/// Memory for all jobs together, in bytes.
	pub max_memory: u64,
	/// The most that can be stored on chain within the time for a rescue, in bytes. For states and rows that
	/// are larger relays are asked.
	pub max_rescue: u64,
	/// Balance that stays free, for fees.
	pub reserve: Balance,
	/// Expected speed of training in FLOP per second.
	pub speed: f64,
	/// Blocks for which an ended job is still served.
	pub grace: BlockNumber,
}

/// What storing and sending costs on this chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
	/// Deposit for a blob of any size.
	pub blob_base: Balance,
	/// Deposit for each byte of a blob.
	pub blob_byte: Balance,
	/// Fee for each byte of a chunk, and the rent for a month of it.
	pub fee_byte: Balance,
	/// Fee for a small transaction.
	pub fee_call: Balance,
}

impl Prices {
	/// Returns deposit and fees for a blob of `bytes` bytes on chain; saturates.
	pub fn storing(&self, bytes: u64) -> Balance {
		let chunks = blob::chunk_count(bytes).unwrap_or(u32::MAX);
		// The registration is a transaction too.
		let calls = u128::from(chunks).saturating_add(1);
		self.blob_byte
			.saturating_add(self.fee_byte)
			.saturating_mul(u128::from(bytes))
			.saturating_add(self.blob_base)
			.saturating_add(self.fee_call.saturating_mul(calls))
	}

	/// Returns deposit and fees for the largest rescue that seats can ask for, and what it costs to doubt
	/// committees that say of a state, of the rows, and of samples, that they are not to be had; saturates.
	pub fn rescue(&self, needs: &Needs) -> Balance {
		let fees = relay::Fees::of(fees::RELAY_FEE, needs.price);
		let doubt = |piece: Piece, bytes| {
			fees.of_seats(&piece, bytes, relay::APPEAL_SEATS).unwrap_or(Balance::MAX)
		};
		self.storing(needs.rescue)
			.saturating_add(self.fee_call.saturating_mul(RESCUE_CALLS))
			.saturating_add(doubt(Piece::State(0), needs.relayed))
			.saturating_add(doubt(Piece::Rows { from: 0, to: u32::MAX }, needs.relayed_rows))
			.saturating_add(doubt(Piece::Samples, needs.samples))
	}

	/// Returns what a job still costs its trainer after the application, if nothing of it is asked
	/// for; saturates.
	pub fn job(&self, needs: &Needs) -> Balance {
		self.storing(needs.model).saturating_add(self.fee_call.saturating_mul(CALLS))
	}
}

/// The state of the trainer at this block.
#[derive(Clone, Debug)]
pub struct Standing {
	/// The best block.
	pub best: BlockNumber,
	/// Time between blocks.
	pub block_time: Duration,
	/// Free balance less what the jobs at hand will still cost, and what their rescues could.
	pub free: Balance,
	/// What storing and sending costs.
	pub prices: Prices,
	/// Jobs that it has applied for or trains.
	pub busy: usize,
	/// Those of them that still have training to do.
	pub training: usize,
	/// Memory that those have been promised, in bytes.
	pub memory_taken: u64,
	/// Disk that is left for another job, in bytes.
	pub disk: u64,
	/// Whether this trainer is to move in a dispute: that comes before new work.
	pub disputed: bool,
}

const MIB: u64 = 1024 * 1024;

/// Says why a job is not taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
	/// Ordered from somebody else.
	#[error("it was ordered from another trainer")]
	NotInvited,
	/// Posted by this account: the chain lets no submitter train its own job.
	#[error("this account posted it")]
	Own,
	/// Pays too little.
	#[error("it pays a replica {} per ut, less than the {} that are asked (--min-price)", amount::format(*.offered), amount::format(*.asked))]
	Price {
		/// Offered for one ut.
		offered: Balance,
		/// Asked for one ut.
		asked: Balance,
	},
	/// Pays too little where the audit decides nothing.
	#[error("it pays {offered} % of the price where the audit decides nothing, less than the {asked} % that are asked (--min-undecided)")]
	Undecided {
		/// Offered, in percent.
		offered: u8,
		/// Asked, in percent.
		asked: u8,
	},
	/// Pays by lottery, and too unevenly.
	#[error("it pays by lottery, one of {one_in} segments, with a deviation of {percent} % of the pay, more than the {most} % that are taken (--max-lottery-deviation)")]
	Lottery {
		/// Of so many segments one wins.
		one_in: u32,
		/// The deviation, in percent of the mean.
		percent: u32,
		/// What is taken.
		most: u32,
	},
	/// Too much work.
	#[error("it is {} ut of work, more than the {} that are taken (--max-ut)", amount::format_scaled(u128::from(*.work), 6), amount::format_scaled(u128::from(*.limit), 6))]
	Work {
		/// The job's.
		work: MicroUt,
		/// The limit.
		limit: MicroUt,
	},
	/// Not valid by the rules of this program.
	#[error("its specification is invalid: {field}: {0}", field = .0.field())]
	Spec(SpecError),
	/// Too much data.
	#[error("its files have {bytes} bytes, more than the {limit} that are taken (--max-data-mib)")]
	Data {
		/// The job's.
		bytes: u64,
		/// The limit.
		limit: u64,
	},
	/// Does not fit in memory.
	#[error("it needs about {} MiB of memory, but {} MiB are left for it (--max-memory-mib)", .needed.div_ceil(MIB), .left / MIB)]
	Memory {
		/// The job's, in bytes.
		needed: u64,
		/// Left beside the jobs at hand, in bytes.
		left: u64,
	},
	/// Does not fit on the disk.
	#[error("its data and bundle need about {} MiB of disk, but {} MiB are left for it (--max-disk-mib)", .needed.div_ceil(MIB), .left / MIB)]
	Disk {
		/// The job's, in bytes.
		needed: u64,
		/// Left beside the jobs at hand, in bytes.
		left: u64,
	},
	/// Could not be done in time.
	#[error("it would take about {needed:.0} s beside {beside} other job(s), but the time for training is {given:.0} s")]
	Time {
		/// Expected seconds of training.
		needed: f64,
		/// Seconds until the deadline of commitments.
		given: f64,
		/// Jobs that train at the same time.
		beside: usize,
	},
	/// Not enough balance.
	#[error("deposits and fees need {}, but {} are free", amount::format(*.needed), amount::format(*.free))]
	Balance {
		/// Deposits, fees and reserve.
		needed: Balance,
		/// Free balance less what the jobs at hand will still cost, or hold.
		free: Balance,
	},
	/// Not enough balance for a rescue.
	#[error("if verifiers could not fetch its bundle, up to {} MiB would have to be stored on chain: with deposits and fees {} must be free for that, but {} are", .rescue.div_ceil(MIB), amount::format(*.needed), amount::format(*.free))]
	Capital {
		/// The most that a rescue of the job brings, in bytes.
		rescue: u64,
		/// Deposits, fees and reserve, and deposit and fees for that rescue.
		needed: Balance,
		/// Free balance less what the jobs at hand will still cost, or hold.
		free: Balance,
	},
	/// Enough to do.
	#[error("{0} jobs are enough at once (--max-parallel)")]
	Busy(usize),
	/// A dispute comes first.
	#[error("this account is to move in a dispute, which comes before new work")]
	Disputed,
	/// Found to be bad when its data was fetched or its training tried.
	#[error("{0}")]
	Bad(String),
}

/// Returns what an hour of computing for a job is expected to bring, in units of the currency: its pay if
/// as many train as are wanted, less the fees of its transactions and of storing the model. `None` for a
/// job that this program cannot read.
pub fn hourly(job: &Job, limits: &Limits, prices: &Prices) -> Option<i128> {
	let needs = job.needs().ok()?;
	let pay = units::price(job.work, fees::paid_per_ut(&job.terms))?;
	let chunks = u128::from(blob::chunk_count(needs.model).unwrap_or(u32::MAX)).saturating_add(1);
	let cost = prices
		.fee_call
		.saturating_mul(CALLS.saturating_add(chunks))
		.saturating_add(prices.fee_byte.saturating_mul(needs.model.into()));
	let whole = |amount: Balance| i128::try_from(amount).unwrap_or(i128::MAX);
	let seconds = work_seconds(job, limits) + needs.checkpoint_seconds();
	let hourly = whole(pay).saturating_sub(whole(cost)) as f64 * 3_600.0 / seconds.max(1e-3);
	Some(hourly as i128)
}

/// Returns by what jobs are sorted, so that those that pay most in an hour come first, and the older of
/// those that pay the same. What is not open is not chosen any more, and keeps its order before them.
pub fn by_pay(job: &Job, limits: &Limits, prices: &Prices) -> (bool, Reverse<i128>, JobId) {
	match job.state == JobState::Open {
		true => (true, Reverse(hourly(job, limits, prices).unwrap_or(i128::MIN)), job.id),
		false => (false, Reverse(0), job.id),
	}
}

/// Returns the seconds of computing for a job, at the expected speed.
fn work_seconds(job: &Job, limits: &Limits) -> f64 {
	(u128::from(job.work) * FLOP_PER_MICRO_UT) as f64 / limits.speed.max(1.0)
}

/// Decides whether an open job is worth applying for.
pub fn worth(
	job: &Job,
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
	if standing.disputed {
		return Err(Refusal::Disputed);
	}
	// As many may be drawn as are wanted.
	let offered = fees::paid_per_ut(&job.terms);
	if offered < limits.min_price {
		return Err(Refusal::Price { offered, asked: limits.min_price });
	}
	let offered = job.terms.undecided_percent;
	if offered < limits.min_undecided {
		return Err(Refusal::Undecided { offered, asked: limits.min_undecided });
	}
	// The part of the mean does not depend on its amount.
	let million = Balance::from(lottery::MILLION).saturating_mul(lottery::MILLION.into());
	if let Some(prospect) = job.terms.prospect(million, job.spec.segments()) {
		let (percent, most) = (prospect.percent(), limits.max_deviation);
		if percent > most {
			let one_in = job.terms.lottery.unwrap_or_default();
			return Err(Refusal::Lottery { one_in, percent, most });
		}
	}
	if job.work > limits.max_work {
		return Err(Refusal::Work { work: job.work, limit: limits.max_work });
	}
	let bytes = job.spec.file_bytes();
	if bytes > limits.max_data {
		return Err(Refusal::Data { bytes, limit: limits.max_data });
	}
	let needs = job.needs().map_err(Refusal::Spec)?;
	let left = limits.max_memory.saturating_sub(standing.memory_taken);
	if needs.memory > left {
		return Err(Refusal::Memory { needed: needs.memory, left });
	}
	if needs.disk > standing.disk {
		return Err(Refusal::Disk { needed: needs.disk, left: standing.disk });
	}
	let work = work_seconds(job, limits);
	let beside = standing.training;
	// Jobs that train at once share the machine.
	let needed = (work + needs.checkpoint_seconds()) * (beside + 1) as f64;
	let given = f64::from(job.terms.training_blocks) * standing.block_time.as_secs_f64();
	if needed > given * TIME_SHARE {
		return Err(Refusal::Time { needed, given, beside });
	}
	let needed =
		job.deposit.saturating_add(standing.prices.job(needs)).saturating_add(limits.reserve);
	if standing.free < needed {
		return Err(Refusal::Balance { needed, free: standing.free });
	}
	// Whoever cannot pay for storing it loses the deposit to anybody who asks.
	let needed = needed.saturating_add(standing.prices.rescue(needs));
	if standing.free < needed {
		return Err(Refusal::Capital { rescue: needs.rescue, needed, free: standing.free });
	}
	if standing.busy >= limits.max_parallel {
		return Err(Refusal::Busy(limits.max_parallel));
	}
	Ok(())
}

#[cfg(test)]
#[path = "pay_tests.rs"]
mod tests;
