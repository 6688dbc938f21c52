//! Claims on pay that pools hold, and what pools are told.

use sp_runtime::{DispatchError, Weight};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	JobId,
};

/// The market, for a pool of claims on what it pays by lottery.
pub trait PooledClaims<AccountId> {
	/// Makes `pool` the holder of the claim on what the replica of `trainer` is paid, until the job is settled. Possible
	/// while it is trained and revealed: before any ticket is drawn. Returns the most by which the mean of what the result
	/// is paid can be more than what its tickets bring.
	///
	/// Fails where a seat that says nothing would move more than that costs it, and where the state in which the job is
	/// may last longer than to the block `by`.
	fn enrol(
		job: JobId,
		trainer: &AccountId,
		pool: &AccountId,
		by: BlockNumber,
	) -> Result<Balance, DispatchError>;
	/// Returns the weight of one [`PooledClaims::enrol`] at worst.
	fn enrol_weight() -> Weight;
	/// Benchmarks: makes a job of which `who` trains a replica whose claim can be enrolled. `None` where that cannot be made.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_enrollable(who: &AccountId) -> Option<JobId>;
}

/// Pools, for the market that pays what they hold claims on.
pub trait ClaimPools<AccountId> {
	/// Says that the job is settled, and that the holder of the claim on the replica of `trainer` was paid `got`, if it is
	/// a pool. With `mean` that was by tickets of a result which the audit found true, whose mean pay is this.
	fn paid(job: JobId, trainer: &AccountId, got: Balance, mean: Option<Balance>);
	/// Returns the weight of one [`ClaimPools::paid`] at worst.
	fn paid_weight() -> Weight;
}

impl<AccountId> ClaimPools<AccountId> for () {
	fn paid(_: JobId, _: &AccountId, _: Balance, _: Option<Balance>) {}
	fn paid_weight() -> Weight {
		Weight::zero()
	}
}
