//! What clients ask, through the runtime API. The views of a job lack its audit, which
//! belongs to another pallet and is filled in by the runtime.

use crate::{
	Applicants, Config, Due, Jobs, Lates, Listings, NextJob, Pallet, Prices, Quote, Specs,
};
use alloc::vec::Vec;
use frame_support::traits::Get;
use trainyard_program::{spec::JobSpec, work};
use trainyard_protocol::{
	job::{Balance, Terms},
	reputation::Role,
	views::{ClassPriceView, JobView, ListingView, MarketView, QuoteView, ReplicaView},
	JobId,
};
use trainyard_traits::{Reputation, Submissions, TrainerRegistry};

/// How many numbers of jobs [`Pallet::recent_jobs`] looks at: most may be forgotten.
pub const RECENT_RANGE: u32 = 4_096;

impl<T: Config> Pallet<T> {
	/// Returns what posting this job would come to; `None` where the chain would refuse it.
	pub fn quote(spec: JobSpec, terms: &Terms) -> Option<QuoteView> {
		let spec = spec.check().ok()?;
		let quote = Self::checked_quote(&spec, terms).ok()?;
		let Quote { work, training, price, fee_per_ut, fee, escrow, deposit, record, .. } = quote;
		let compute_per_ut = quote.compute_per_ut;
		let pay = quote.whole().of_each(terms.replicas).price;
		Some(QuoteView {
			work,
			training,
			price,
			pay,
			fee_per_ut,
			fee,
			escrow,
			deposit,
			record,
			compute_per_ut,
			fetch_blocks: quote.moved.fetch,
			store_blocks: quote.moved.store,
			recompute_blocks: quote.moved.recompute.round,
			stretch_blocks: quote.moved.recompute.stretch,
			lottery: terms.prospect(pay, spec.segments()),
		})
	}

	/// Returns what training costs now.
	pub fn market() -> MarketView {
		let (volumes, reward, now) = (Self::volumes(), T::BlockReward::get(), Self::now());
		let prices = Prices::<T>::iter()
			.map(|(machine, price)| ClassPriceView { machine, price: price.aged(now) })
			.collect();
		MarketView {
			fee_per_ut: volumes.fee(reward, 1),
			base_fee_per_ut: volumes.base(reward),
			bought: volumes.bought,
			posted: volumes.posted,
			free: volumes.free(),
			prices,
		}
	}

	/// Returns the least `audit_fee` for this specification and the other terms, if the job were posted now; `None`
	/// where the specification is invalid or the fee out of range.
	pub fn audit_fee(spec: JobSpec, terms: &Terms) -> Option<Balance> {
		let spec = spec.check().ok()?;
		let audit = work::audit_micro_ut(&spec, terms.replays(spec.segments())).ok()?;
		Self::least_fee(audit, Self::compute_per_ut())
	}

	/// Returns the job with this number, without its audit.
	pub fn job_view(id: JobId) -> Option<JobView<T::AccountId>> {
		let job = Jobs::<T>::get(id)?;
		let commitments = T::Submissions::commitments(id);
		let reveals = T::Submissions::reveals(id);
		let replicas = job
			.replicas
			.into_iter()
			.map(|replica| ReplicaView {
				commitment: commitments
					.iter()
					.find(|(trainer, _)| *trainer == replica.trainer)
					.map(|(_, commitment)| *commitment),
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
			spec: Specs::<T>::get(id)?,
			terms: job.terms,
			work: job.quote.work,
			training: job.quote.training,
			deposit: job.quote.deposit,
			state: job.state,
			deadline: job.deadline,
			seed: job.seed,
			applicants: Applicants::<T>::get(id).into_iter().map(|one| one.trainer).collect(),
			replicas,
			audit: None,
			settlement: job.settlement,
			late: Self::late_view(id),
			record: job.quote.record,
			fee_per_ut: job.quote.fee_per_ut,
			compute_per_ut: job.quote.compute_per_ut,
		})
	}

	/// Returns the first `count` jobs that have not ended, in ascending order of number, of those
	/// after number `after`. All numbers are looked at, but at most `count` jobs.
	pub fn active_jobs(after: Option<JobId>, count: u32) -> Vec<JobView<T::AccountId>> {
		let is_after = |id: &JobId| after.is_none_or(|after| *id > after);
		let is_active = |id: &JobId| is_after(id) && !Lates::<T>::contains_key(id);
		let mut ids: Vec<JobId> = Due::<T>::iter_keys().filter(is_active).collect();
		ids.sort_unstable();
		ids.into_iter().take(count as usize).filter_map(Self::job_view).collect()
	}

	/// Returns the newest `count` jobs that are still on record, newest first, among the newest
	/// [`RECENT_RANGE`] numbers.
	pub fn recent_jobs(count: u32) -> Vec<JobView<T::AccountId>> {
		let next = NextJob::<T>::get();
		(next.saturating_sub(RECENT_RANGE)..next)
			.rev()
			.filter_map(Self::job_view)
			.take(count as usize)
			.collect()
	}

	/// Returns `count` listings of trainers that are still registered, in the order of the storage, after
	/// that of `after`, which need not be there any more. If there are fewer, there are no more.
	pub fn listings(after: Option<T::AccountId>, count: u32) -> Vec<ListingView<T::AccountId>> {
		let all = match after {
			Some(who) => Listings::<T>::iter_from(Listings::<T>::hashed_key_for(who)),
			None => Listings::<T>::iter(),
		};
		all.filter(|(trainer, _)| T::Trainers::is_trainer(trainer))
			.take(count as usize)
			.map(|(trainer, listing)| ListingView {
				record: T::Reputation::record(Role::Trainer, &trainer),
				trainer,
				price_per_ut: listing.price_per_ut,
				max_work: listing.max_work,
				note: listing.note,
			})
			.collect()
	}
}
