//! Records of what accounts did.

use sp_runtime::Weight;
use trainyard_protocol::{
	job::Balance,
	reputation::{Deed, Record, Role},
	JobId,
};

/// The records, for the pallet that knows what jobs burned.
pub trait Reputation<AccountId> {
	/// Adds a deed of `who` that counts as `weight`. Nothing is noted of a weight of 0.
	fn note(role: Role, who: &AccountId, deed: Deed, weight: Balance);
	/// Returns what is known of `who` now.
	fn record(role: Role, who: &AccountId) -> Record;
	/// Adds what finders were paid of somebody's deposit. Nothing is noted of nothing.
	fn found(prize: Balance);
	/// Returns the weight of one [`Reputation::note`], [`Reputation::record`] or [`Reputation::found`], at worst.
	fn note_weight() -> Weight;
}

/// A chain that remembers nothing.
impl<AccountId> Reputation<AccountId> for () {
	fn note(_: Role, _: &AccountId, _: Deed, _: Balance) {}

	fn record(_: Role, _: &AccountId) -> Record {
		Record::default()
	}

	fn found(_: Balance) {}

	fn note_weight() -> Weight {
		Weight::zero()
	}
}

/// The same for pallets that know the job and not what it burns.
pub trait JobDeeds<AccountId> {
	/// Adds a deed of `who` in `job`, which counts as one of those that are not to somebody's credit, whatever
	/// it is.
	fn note(job: JobId, role: Role, who: &AccountId, deed: Deed);
	/// Returns the weight of one [`JobDeeds::note`] at worst.
	fn note_weight() -> Weight;
}

impl<AccountId> JobDeeds<AccountId> for () {
	fn note(_: JobId, _: Role, _: &AccountId, _: Deed) {}

	fn note_weight() -> Weight {
		Weight::zero()
	}
}
