//! Jobs that another pallet posts for their submitters, and what became of them.

use crate::{Config, Error, Job, Jobs, Pallet, WeightInfo};
use frame_support::{ensure, traits::Get, weights::Weight};
use sp_runtime::DispatchError;
use trainyard_program::spec::CheckedSpec;
use trainyard_protocol::{
	job::{Balance, Ending, Fate, JobState, Terms, WorkResult, MAX_REPLICAS},
	JobId, H256,
};
use trainyard_traits::{Audits, JobEnd, JobStanding, PostedJobs, Submissions};

impl<T: Config> Pallet<T> {
	/// Returns a trainer's result that was revealed.
	fn revealed(id: JobId, trainer: &T::AccountId) -> Option<WorkResult> {
		let reveals = T::Submissions::reveals(id);
		let own = reveals.into_iter().find(|(who, _)| who == trainer);
		own.map(|(_, reveal)| reveal.result())
	}

	/// Returns the root of the model of a trainer's result that was revealed.
	fn revealed_model(id: JobId, trainer: &T::AccountId) -> Option<H256> {
		Self::revealed(id, trainer).map(|result| result.model_root)
	}

	/// Returns the model in which all results of a job agree that is audited: see
	/// [`JobStanding::Agreed`].
	fn agreed_model(id: JobId, job: &Job<T::AccountId>) -> Option<H256> {
		let working = || job.replicas.iter().filter(|replica| replica.fate == Fate::Working);
		let count = u32::try_from(working().count()).unwrap_or(u32::MAX);
		if count < 2 || count.saturating_mul(2) <= job.terms.replicas {
			return None;
		}
		let one = |replica: &crate::Replica<T::AccountId>| {
			replica.result == Some(0) && !replica.diverged && !Self::is_guilty(id, &replica.trainer)
		};
		working().all(one).then(|| Self::revealed_model(id, &working().next()?.trainer)).flatten()
	}
}

impl<T: Config> PostedJobs<T::AccountId> for Pallet<T> {
	fn check(
		submitter: &T::AccountId,
		spec: &CheckedSpec,
		terms: &Terms,
		max_fee_per_ut: Balance,
	) -> Result<Balance, DispatchError> {
		let quote = Self::checked_quote(spec, terms)?;
		ensure!(quote.fee_per_ut <= max_fee_per_ut, Error::<T>::FeeRose);
		let excluded = alloc::vec![submitter.clone()];
		Self::check_committee(excluded, spec, terms, &quote)?;
		Ok(quote.escrow)
	}

	fn post(
		submitter: &T::AccountId,
		spec: CheckedSpec,
		terms: Terms,
		max_fee_per_ut: Balance,
	) -> Result<JobId, DispatchError> {
		let quote = Self::checked_quote(&spec, &terms)?;
		ensure!(quote.fee_per_ut <= max_fee_per_ut, Error::<T>::FeeRose);
		let id = crate::NextJob::<T>::get();
		Self::post(submitter.clone(), None, spec, terms, quote)?;
		Ok(id)
	}

	fn post_weight() -> Weight {
		T::WeightInfo::submit_job().saturating_add(T::Audits::can_seat_weight())
	}

	fn standing(id: JobId) -> JobStanding {
		let Some(job) = Jobs::<T>::get(id) else { return JobStanding::Failed };
		match job.state {
			JobState::Open | JobState::Seeding | JobState::Training | JobState::Revealing => {
				JobStanding::Running
			}
			JobState::Auditing => {
				Self::agreed_model(id, &job).map_or(JobStanding::Running, JobStanding::Agreed)
			}
			JobState::Ended(Ending::Settled) => {
				let good = |fate| matches!(fate, Fate::Accepted | Fate::Idle);
				let accepted = job.replicas.iter().find(|replica| good(replica.fate));
				accepted
					.and_then(|replica| Self::revealed_model(id, &replica.trainer))
					.map_or(JobStanding::Failed, JobStanding::Accepted)
			}
			JobState::Ended(_) => JobStanding::Failed,
		}
	}

	fn ended(id: JobId) -> Option<JobEnd> {
		let Some(job) = Jobs::<T>::get(id) else { return Some(JobEnd::Failed) };
		let JobState::Ended(ending) = job.state else { return None };
		Some(match ending {
			Ending::Cancelled | Ending::Agreed => JobEnd::Stopped,
			Ending::NoApplicants | Ending::Failed => JobEnd::Failed,
			Ending::Settled => {
				let accepted = job.replicas.iter().find(|replica| replica.fate.is_true());
				accepted
					.and_then(|replica| Self::revealed(id, &replica.trainer))
					.map_or(JobEnd::Failed, JobEnd::Accepted)
			}
		})
	}

	fn standing_weight() -> Weight {
		// The job, who was convicted, and one round of reveals.
		let most = u64::from(MAX_REPLICAS);
		T::DbWeight::get().reads(most.saturating_mul(2).saturating_add(2))
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_postable(who: &T::AccountId) {
		use frame_support::traits::fungible::Mutate;
		T::Audits::make_pool();
		// Benchmarks may panic.
		let _ = T::Currency::mint_into(who, Balance::MAX / 1_000_000);
	}
}
