//! What clients ask, through the runtime API. The views of a job lack its audit, which
//! belongs to another pallet and is filled in by the runtime.

use crate::{Applicants, Config, Due, Jobs, Listings, NextJob, Pallet};
use alloc::vec::Vec;
use trainyard_primitives::{
	job::{Balance, Terms},
	spec::JobSpec,
	traits::{Submissions, TrainerRegistry},
	views::{JobView, ListingView, ReplicaView},
	JobId, MicroUt,
};

impl<T: Config> Pallet<T> {
	/// Work of one replica, escrow of the submitter and deposit of each trainer; `None` where
	/// the chain would refuse the job.
	pub fn quote(spec: &JobSpec, terms: &Terms) -> Option<(MicroUt, Balance, Balance)> {
		let quote = Self::checked_quote(spec, terms).ok()?;
		Some((quote.work, quote.escrow, quote.deposit))
	}

	/// The job with this number, without its audit.
	pub fn job_view(id: JobId) -> Option<JobView<T::AccountId>> {
		let job = Jobs::<T>::get(id)?;
		let committed = T::Submissions::committed(id);
		let reveals = T::Submissions::reveals(id);
		let replicas = job
			.replicas
			.into_iter()
			.map(|replica| ReplicaView {
				committed: committed.contains(&replica.trainer),
				reveal: reveals
					.iter()
					.find(|(trainer, _)| *trainer == replica.trainer)
					.map(|(_, reveal)| reveal.clone()),
				trainer: replica.trainer,
				fate: replica.fate,
			})
			.collect();
		Some(JobView {
			id,
			submitter: job.submitter,
			invited: job.invited,
			spec: job.spec,
			terms: job.terms,
			work: job.quote.work,
			deposit: job.quote.deposit,
			state: job.state,
			deadline: job.deadline,
			seed: job.seed,
			applicants: Applicants::<T>::get(id).into_inner(),
			replicas,
			audit: None,
			settlement: job.settlement,
		})
	}

	/// The jobs that have not ended, in ascending order of number.
	pub fn active_jobs() -> Vec<JobView<T::AccountId>> {
		let mut ids: Vec<JobId> = Due::<T>::iter_keys().collect();
		ids.sort_unstable();
		ids.into_iter().filter_map(Self::job_view).collect()
	}

	/// The newest `count` jobs that are still on record, newest first.
	pub fn recent_jobs(count: u32) -> Vec<JobView<T::AccountId>> {
		(0..NextJob::<T>::get()).rev().filter_map(Self::job_view).take(count as usize).collect()
	}

	/// The listings of trainers that are still registered, cheapest first.
	pub fn listings() -> Vec<ListingView<T::AccountId>> {
		let mut listings: Vec<_> = Listings::<T>::iter()
			.filter(|(trainer, _)| T::Trainers::is_trainer(trainer))
			.map(|(trainer, listing)| ListingView {
				trainer,
				price_per_ut: listing.price_per_ut,
				max_work: listing.max_work,
				note: listing.note,
			})
			.collect();
		listings.sort_by(|a, b| {
			a.price_per_ut.cmp(&b.price_per_ut).then_with(|| a.trainer.cmp(&b.trainer))
		});
		listings
	}
}
