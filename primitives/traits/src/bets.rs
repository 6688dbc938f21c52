//! Results on which somebody bets.

use alloc::vec::Vec;
use sp_runtime::Weight;
use trainyard_protocol::{
	bets::Outcome,
	job::{Balance, BlockNumber},
	JobId, H256,
};

/// Where a result of a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultStage {
	/// It is not audited yet.
	Awaited,
	/// It is audited, or can be challenged, and nothing is decided.
	Open,
	/// It is decided, or about to be, and what follows from that is not known yet: somebody who delivered it was
	/// convicted.
	Known,
	/// All is over.
	Over {
		/// What became of it.
		outcome: Outcome,
		/// Height of the conviction that decided it, if one did.
		convicted: Option<BlockNumber>,
	},
}

/// A result of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultStanding<AccountId> {
	/// Who delivered it.
	pub own: Vec<AccountId>,
	/// What whoever delivered it loses for good where it is convicted, whoever finds that.
	pub at_stake: Balance,
	/// Where it stands.
	pub stage: ResultStage,
}

/// Results of jobs, for those who bet on them.
pub trait Results<AccountId> {
	/// Returns where the result of `job` with this bundle root stands; with `late` the time for late proof belongs to
	/// it. `None` where nobody revealed such a result, or the job is not known any more.
	fn standing(job: JobId, root: &H256, late: bool) -> Option<ResultStanding<AccountId>>;
	/// Returns the weight of one [`Results::standing`] at worst.
	fn standing_weight() -> Weight;
	/// Benchmarks: makes a result of `who` that is audited. `None` where that cannot be made.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_open(_who: &AccountId) -> Option<(JobId, H256)> {
		None
	}
}

/// Who wants to hear of trainers that the court convicted.
pub trait ConvictionObserver<AccountId> {
	/// Notes that the trainer `who` of `job` was convicted, `proven` where the referee computed something else than it
	/// said. Constant, small work.
	fn convicted(job: JobId, who: &AccountId, proven: bool);
	/// Returns the weight of one [`ConvictionObserver::convicted`] at worst.
	fn convicted_weight() -> Weight;
}
