//! Results on which somebody bets.

use alloc::vec::Vec;
use sp_runtime::Weight;
use trainyard_protocol::{
	bets::{Outcome, Statement},
	job::{Balance, BlockNumber},
	JobId,
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

/// A result of a job or a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultStanding<AccountId> {
	/// Who delivered it.
	pub own: Vec<AccountId>,
	/// What whoever delivered it loses for good where it is convicted, whoever finds that.
	pub at_stake: Balance,
	/// Where it stands.
	pub stage: ResultStage,
}

/// Results of jobs and tasks, for those who bet on them.
pub trait Results<AccountId> {
	/// Returns where the result stands that a statement is about. `None` where nobody revealed such a result, or its
	/// job or task is not known any more, and of words.
	fn standing(statement: &Statement) -> Option<ResultStanding<AccountId>>;
	/// Returns the weight of one [`Results::standing`] at worst.
	fn standing_weight() -> Weight;
	/// Benchmarks: makes a result of `who` that is audited. `None` where that cannot be made.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_open(
		_who: &AccountId,
	) -> Option<(trainyard_protocol::JobId, trainyard_protocol::H256)> {
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
