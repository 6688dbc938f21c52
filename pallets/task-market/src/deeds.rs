//! What a job that ends leaves in the records of those who took part.
//!
//! What is to somebody's credit counts as what the job burned, in equal parts: made-up jobs return all else to whoever
//! pays itself. What is not counts as what the job would have burned for it, and a little where it burns nothing.

use crate::{Config, Guilty, Job, Jobs, Pallet};
use alloc::{collections::BTreeMap, vec::Vec};
use frame_support::weights::Weight;
use trainyard_protocol::{
	job::{Balance, Ending, Fate, Settlement, MAX_AUDIT_ROUNDS, MAX_REPLICAS, MAX_VERIFIERS},
	reputation::{Deed, Role, LEAST_BLAME},
	JobId,
};
use trainyard_traits::{Outcome, Reputation};

impl<T: Config> Pallet<T> {
	/// Returns which trainers of a job the court convicted; asked before its money moves.
	pub(crate) fn convicted(id: JobId, job: &Job<T::AccountId>) -> Vec<T::AccountId> {
		let trainers = job.replicas.iter().map(|replica| &replica.trainer);
		trainers.filter(|who| Guilty::<T>::contains_key(id, who)).cloned().collect()
	}

	/// Notes what everybody did in a job that ended and whose money has moved, of which the court had `convicted`
	/// these.
	pub(crate) fn note_deeds(
		job: &Job<T::AccountId>,
		ending: Ending,
		outcome: &Outcome<T::AccountId>,
		convicted: &[T::AccountId],
		settlement: &Settlement,
	) {
		let burned = settlement.burned;
		let delivers = |fate: Fate| fate.is_true() || fate == Fate::Agreed;
		let delivered = job.replicas.iter().filter(|replica| delivers(replica.fate)).count();
		let credit = burned.checked_div(delivered as Balance).unwrap_or(0);
		let blame = Self::blame(job, Role::Trainer);
		for replica in &job.replicas {
			let (deed, weight) = match replica.fate {
				fate if delivers(fate) => (Deed::Done, credit),
				Fate::NotCommitted | Fate::NotRevealed | Fate::ModelMissing => (Deed::Late, blame),
				Fate::Rejected if convicted.contains(&replica.trainer) => (Deed::Convicted, blame),
				Fate::Rejected | Fate::Unavailable => (Deed::Failed, blame),
				_ => continue,
			};
			T::Reputation::note(Role::Trainer, &replica.trainer, deed, weight);
		}
		let services = outcome.served.len() as Balance;
		let mut served = BTreeMap::<&T::AccountId, Balance>::new();
		for seat in &outcome.served {
			let count = served.entry(seat).or_default();
			*count = count.saturating_add(1);
		}
		for (seat, count) in served {
			let weight = burned.saturating_mul(count).checked_div(services).unwrap_or(0);
			T::Reputation::note(Role::Verifier, seat, Deed::Done, weight);
		}
		let (deed, weight) = match ending {
			Ending::Settled | Ending::Agreed => (Deed::Done, burned),
			Ending::NoApplicants => (Deed::Failed, LEAST_BLAME),
			Ending::Failed if outcome.unseated => (Deed::Failed, Self::blame(job, Role::Submitter)),
			Ending::Failed | Ending::Cancelled => return,
		};
		T::Reputation::note(Role::Submitter, &job.submitter, deed, weight);
	}

	/// Returns what a deed in this job counts as that is not to somebody's credit: a part of its fee, or a little.
	fn blame(job: &Job<T::AccountId>, role: Role) -> Balance {
		let parts = match role {
			Role::Trainer => job.replicas.len() as Balance,
			Role::Verifier => Balance::from(job.terms.verifiers),
			Role::Submitter | Role::Challenger => 1,
		};
		job.quote.fee.checked_div(parts).unwrap_or(0).max(LEAST_BLAME)
	}

	/// Returns the same of the job with this number, and the least of an unknown one. One read.
	pub fn blame_of(id: JobId, role: Role) -> Balance {
		Jobs::<T>::get(id).map_or(LEAST_BLAME, |job| Self::blame(&job, role))
	}

	/// Returns the weight of noting what everybody did at worst.
	pub(crate) fn deeds_weight() -> Weight {
		let seats = u64::from(MAX_VERIFIERS).saturating_mul(MAX_AUDIT_ROUNDS.into());
		// Of each trainer what it did, and what who convicted it was paid.
		let trainers = u64::from(MAX_REPLICAS).saturating_mul(2);
		let all = trainers.saturating_add(seats).saturating_add(1);
		T::Reputation::note_weight().saturating_mul(all)
	}
}
