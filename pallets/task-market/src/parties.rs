//! What submitters and trainers do: posting, applying, taking back, agreeing; and what anyone
//! may do with what is left of a job.

use crate::{
	Agenda, Applicant, Applicants, Config, Error, Event, Job, Jobs, Lates, NextJob, Pallet, Quote,
	Specs, WeightInfo,
};
use alloc::vec::Vec;
use core::cmp::Reverse;
use frame_support::{
	ensure, pallet_prelude::DispatchResult, traits::Get, weights::Weight, BoundedVec,
};
use sp_runtime::DispatchError;
use trainyard_pallet_support::agenda::Clock;
use trainyard_program::spec::{CheckedSpec, JobSpec};
use trainyard_protocol::{
	commitment, fees,
	job::{Balance, Ending, Fate, JobState, Settlement, Terms, MAX_VERIFIERS},
	reputation::Role,
	seats::Resources,
	JobId, H256,
};
use trainyard_traits::{
	Audits, CommitteeRequest, Court, JobObserver, Reputation, Submissions, TrainerRegistry,
};

impl<T: Config> Pallet<T> {
	pub(crate) fn do_submit_job(
		submitter: T::AccountId,
		spec: JobSpec,
		terms: Terms,
		max_fee_per_ut: Balance,
	) -> DispatchResult {
		let spec = Self::checked(spec)?;
		let quote = Self::checked_quote(&spec, &terms)?;
		ensure!(quote.fee_per_ut <= max_fee_per_ut, Error::<T>::FeeRose);
		Self::post(submitter, None, spec, terms, quote)
	}

	/// Puts a checked job on the market.
	pub(crate) fn post(
		submitter: T::AccountId,
		invited: Option<T::AccountId>,
		spec: CheckedSpec,
		terms: Terms,
		quote: Quote,
	) -> DispatchResult {
		let id = NextJob::<T>::get();
		let next = id.checked_add(1).ok_or(Error::<T>::TooManyJobs)?;
		let excluded = invited.iter().chain([&submitter]).cloned().collect();
		Self::check_committee(excluded, &spec, &terms, &quote)?;
		Self::hold_escrow(&submitter, &quote)?;
		Self::note_posted(&quote);
		NextJob::<T>::put(next);
		let now = Self::now();
		let deadline = now.saturating_add(terms.apply_blocks);
		let spec = spec.into_spec();
		let job = Job {
			submitter: submitter.clone(),
			invited: invited.clone(),
			digest: commitment::job(&spec, &terms),
			terms,
			quote,
			state: JobState::Open,
			posted: now,
			since: now,
			deadline,
			seed: None,
			replicas: BoundedVec::new(),
			offer: None,
			settlement: Settlement { escrowed: quote.escrow, ..Settlement::default() },
		};
		Specs::<T>::insert(id, spec);
		Jobs::<T>::insert(id, job);
		Self::schedule(id, deadline);
		let Quote { work, escrow, fee_per_ut, .. } = quote;
		Self::deposit_event(Event::JobPosted {
			job: id,
			submitter,
			invited,
			work,
			escrow,
			fee_per_ut,
		});
		Ok(())
	}

	/// Fails where no committee could be drawn now for the audit of such a job, of which these accounts are
	/// parties: it would end undecided, and nobody would have looked at its result.
	pub(crate) fn check_committee(
		excluded: Vec<T::AccountId>,
		spec: &CheckedSpec,
		terms: &Terms,
		quote: &Quote,
	) -> Result<(), Error<T>> {
		let challenge = fees::challenge_deposit(spec, &quote.parts, quote.compute_per_ut);
		let work = quote.needs.work.saturating_mul(terms.replicas.into());
		let request = CommitteeRequest {
			excluded,
			verifiers: terms.verifiers,
			drawing: terms.drawing(),
			segments: spec.segments(),
			fee: terms.audit_fee,
			needs: Resources { work, ..quote.needs },
			rate: terms.machine.rate(),
			fetch: quote.moved.fetch,
			challenge: challenge.ok_or(Error::<T>::AmountOverflow)?,
		};
		ensure!(T::Audits::can_seat(&request), Error::<T>::NoCommittee);
		Ok(())
	}

	pub(crate) fn do_apply(
		trainer: T::AccountId,
		id: JobId,
		digest: H256,
		forced: H256,
	) -> DispatchResult {
		let bond = T::Trainers::bond(&trainer);
		let standing = T::Reputation::record(Role::Trainer, &trainer).standing();
		Self::apply_with(Applicant { trainer, bond, standing, forced }, id, digest)
	}

	/// Lets a trainer apply for the job of this `digest`. Where the list is
	/// full it displaces the applicant with the smallest weight, if that is smaller than its own.
	pub(crate) fn apply_with(
		applicant: Applicant<T::AccountId>,
		id: JobId,
		digest: H256,
	) -> DispatchResult {
		let trainer = applicant.trainer.clone();
		let whole = |applicant: &Applicant<_>| applicant.weight(Balance::MAX, u32::MAX);
		let job = Jobs::<T>::get(id).ok_or(Error::<T>::NoSuchJob)?;
		ensure!(job.digest == digest, Error::<T>::OtherJob);
		// Full blocks may look at the job late; applying ends in time all the same.
		let open = job.state == JobState::Open && Self::now() < job.deadline;
		ensure!(open, Error::<T>::NotOpen);
		ensure!(trainer != job.submitter, Error::<T>::SubmitterCannotTrain);
		let welcome = job.invited.as_ref().is_none_or(|invited| *invited == trainer);
		ensure!(welcome, Error::<T>::NotInvited);
		ensure!(T::Trainers::is_trainer(&trainer), Error::<T>::NotATrainer);
		Applicants::<T>::try_mutate(id, |applicants| -> DispatchResult {
			ensure!(
				applicants.iter().all(|other| other.trainer != trainer),
				Error::<T>::AlreadyApplied
			);
			Self::hold_deposit(&trainer, &job.quote)?;
			if applicants.is_full() {
				// Among equal weights, the one that came last.
				let weights = applicants.iter().map(whole);
				let smallest = weights.zip((0usize..).map(Reverse)).min();
				let (least, Reverse(at)) = smallest.ok_or(Error::<T>::TooManyApplicants)?;
				ensure!(whole(&applicant) > least, Error::<T>::TooManyApplicants);
				let Applicant { trainer: displaced, .. } = applicants.remove(at);
				Self::return_deposit(id, &displaced, &job.quote);
				Self::deposit_event(Event::Displaced { job: id, trainer: displaced });
			}
			applicants.try_push(applicant).map_err(|_| Error::<T>::TooManyApplicants.into())
		})?;
		if job.invited.is_some() {
			// Nobody else may apply.
			<Self as JobObserver>::progressed(id);
		}
		Self::deposit_event(Event::Applied { job: id, trainer, deposit: job.quote.deposit });
		Ok(())
	}

	pub(crate) fn do_cancel(who: T::AccountId, id: JobId) -> DispatchResult {
		let mut job = Jobs::<T>::get(id).ok_or(Error::<T>::NoSuchJob)?;
		ensure!(who == job.submitter, Error::<T>::NotSubmitter);
		ensure!(job.state == JobState::Open, Error::<T>::NotOpen);
		ensure!(Applicants::<T>::decode_len(id).unwrap_or(0) == 0, Error::<T>::HasApplicants);
		Self::unschedule(id);
		Self::end(id, &mut job, Ending::Cancelled);
		Jobs::<T>::insert(id, job);
		Ok(())
	}

	/// Records that `who` would settle for `pay`, or, with `None`, that it would not settle any
	/// more. Settles the job when all parties would. Returns whether they did.
	///
	/// During an audit nothing can be agreed: an owner of both sides that sees a faked segment
	/// drawn would settle with itself and lose nothing.
	pub(crate) fn do_agree(
		who: T::AccountId,
		id: JobId,
		pay: Option<Balance>,
	) -> Result<bool, DispatchError> {
		let mut job = Jobs::<T>::get(id).ok_or(Error::<T>::NoSuchJob)?;
		ensure!(
			matches!(job.state, JobState::Training | JobState::Revealing),
			Error::<T>::NotRunning
		);
		let drawn = u32::try_from(job.replicas.len()).unwrap_or(u32::MAX);
		let most = job.quote.whole().of_each(drawn).price;
		let word = if who == job.submitter {
			&mut job.offer
		} else {
			job.replicas
				.iter_mut()
				.find(|r| r.trainer == who && r.fate == Fate::Working)
				.map(|r| &mut r.offer)
				.ok_or(Error::<T>::NotAParty)?
		};
		ensure!(pay.is_none_or(|pay| pay <= most), Error::<T>::PayAbovePrice);
		*word = pay;
		Self::deposit_event(match pay {
			Some(pay) => Event::AgreementProposed { job: id, who, pay },
			None => Event::AgreementWithdrawn { job: id, who },
		});

		let mut working = job.replicas.iter().filter(|r| r.fate == Fate::Working);
		let agreed = pay.is_some() && job.offer == pay && working.all(|r| r.offer == pay);
		if agreed {
			T::Submissions::close(id);
			Self::conclude(id, &mut job, |_| Some(Fate::Agreed));
			Self::unschedule(id);
			Self::end(id, &mut job, Ending::Agreed);
		}
		Jobs::<T>::insert(id, job);
		Ok(agreed)
	}

	/// Returns the largest weight of `agree`, by whether it `settled` the job.
	pub(crate) fn agree_weight(settled: bool) -> Weight {
		let word = T::WeightInfo::agree();
		if settled {
			word.saturating_add(Self::settle_weight())
		} else {
			word
		}
	}

	pub(crate) fn do_forget(who: T::AccountId, id: JobId) -> DispatchResult {
		let job = Jobs::<T>::get(id).ok_or(Error::<T>::NoSuchJob)?;
		let JobState::Ended(ending) = job.state else { return Err(Error::<T>::NotEnded.into()) };
		// Nobody else had to do with such a job.
		let alone = matches!(ending, Ending::Cancelled | Ending::NoApplicants);
		let own = alone && who == job.submitter;
		ensure!(!Lates::<T>::contains_key(id), Error::<T>::StillAccusable);
		ensure!(own || Self::now() >= job.deadline, Error::<T>::StillRetained);
		Self::drop_records(id, &job);
		Ok(())
	}

	/// Removes all that is kept of a job that ended, and returns the deposit for it.
	pub(crate) fn drop_records(id: JobId, job: &Job<T::AccountId>) {
		Self::return_record(id, job);
		Agenda::<T>::remove(job.deadline, id);
		Jobs::<T>::remove(id);
		Specs::<T>::remove(id);
		T::Submissions::remove(id);
		T::Audits::remove(id);
		T::Court::forget(id);
		Self::deposit_event(Event::Forgotten { job: id });
	}

	/// Returns the largest weight of forgetting a job. Benchmarks cannot make verifiers give
	/// verdicts, of which an audit keeps one for each seat.
	pub(crate) fn forget_weight() -> Weight {
		let seats = u64::from(MAX_VERIFIERS);
		T::WeightInfo::forget()
			.saturating_add(T::DbWeight::get().reads_writes(seats, seats))
			.saturating_add(T::Court::forget_weight())
	}
}
