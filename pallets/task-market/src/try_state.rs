//! The invariants of this pallet's storage.

#![cfg(any(feature = "std", feature = "try-runtime"))]

use crate::{
	Agenda, Applicants, Claims, Config, Cursor, Due, Guilty, Hearings, HoldReason, Jobs, Lates,
	Market, NextJob, Pallet, Prices, Replica, Specs, Uploading,
};
use alloc::collections::BTreeMap;
use frame_support::{
	ensure,
	traits::{fungible::InspectHold, Get},
};
use sp_runtime::TryRuntimeError;
use trainyard_program::units;
use trainyard_protocol::{
	commitment,
	job::{Balance, Ending, Fate, JobState},
	price::{DAY, LEAST_FEE, MOST_FEE},
};

impl<T: Config> Pallet<T> {
	/// Checks the agenda, the specifications, the states, the settlements, and that what is on hold
	/// is exactly the escrow and the deposits of the jobs that have not ended, and the deposits for
	/// all that are on record.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		Self::check_agenda()?;
		Self::check_market()?;
		Self::check_claims()?;
		let none = BTreeMap::<T::AccountId, Balance>::new;
		let (mut escrows, mut deposits, mut records) = (none(), none(), none());
		let add = |held: &mut BTreeMap<T::AccountId, Balance>, who: &T::AccountId, amount| {
			let sum = held.entry(who.clone()).or_default();
			*sum = sum.saturating_add(amount);
		};
		for (id, job) in Jobs::<T>::iter() {
			ensure!(id < NextJob::<T>::get(), "a job has a number that was not given out");
			let spec = Specs::<T>::get(id).ok_or("a job without a specification")?;
			ensure!(
				job.digest == commitment::job(&spec, &job.terms),
				"a job's digest is that of another specification or other terms"
			);
			ensure!(spec.check().is_ok(), "a job's specification is invalid");
			add(&mut records, &job.submitter, job.quote.record);
			let applicants = Applicants::<T>::get(id);
			let drawn = job.seed.is_some();
			let working = job.replicas.iter().any(|r| r.fate == Fate::Working);
			match job.state {
				JobState::Open | JobState::Seeding => {
					ensure!(!drawn && job.replicas.is_empty(), "replicas before the draw");
					ensure!(
						job.state == JobState::Open || !applicants.is_empty(),
						"a seed forms for nobody"
					);
				}
				JobState::Training | JobState::Revealing | JobState::Auditing => {
					ensure!(drawn && working, "a running job without anyone working on it");
				}
				JobState::Ended(_) => ensure!(!working, "a job ended without a replica's fate"),
			}
			ensure!(
				Uploading::<T>::contains_key(id) == (job.state == JobState::Revealing),
				"models are awaited of a job that reveals nothing, or the reverse"
			);
			let offered = job.offer.is_some() || job.replicas.iter().any(|r| r.offer.is_some());
			ensure!(
				!offered || matches!(job.state, JobState::Training | JobState::Revealing),
				"an offer to settle in a state that takes none"
			);
			ensure!(drawn == !job.replicas.is_empty(), "a seed without replicas or the reverse");
			ensure!(!drawn || applicants.is_empty(), "applicants after the draw");
			let s = &job.settlement;
			ensure!(s.escrowed == job.quote.escrow, "the settlement names another escrow");
			if let JobState::Ended(_) = job.state {
				let out = s
					.paid_to_trainers
					.saturating_add(s.paid_to_verifiers)
					.saturating_add(s.prizes_to_jackpot)
					.saturating_add(s.burned)
					.saturating_add(s.refunded);
				ensure!(out == s.escrowed, "an escrow was not settled to the last unit");
				let accepted = job.replicas.iter().any(|r| r.fate.is_true());
				let whole =
					|r: &Replica<_>| matches!(r.fate, Fate::Accepted | Fate::Idle | Fate::Revoked);
				let burns = job.replicas.iter().any(whole);
				let most = job.quote.most_fee(&job.terms, Specs::<T>::get(id).as_ref());
				ensure!(s.burned <= most, "more was burned for power than its fee");
				let full = s.burned == job.quote.fee && job.quote.fee > 0;
				let held = job.since.saturating_sub(job.posted) >= DAY;
				ensure!(burns || held || !full, "the whole fee for power that nobody bought");
				let diverged = |r: &Replica<_>| r.fate != Fate::Diverged || r.diverged;
				ensure!(
					job.replicas.iter().all(diverged),
					"a result diverged that does not say so"
				);
				let paid = job.replicas.iter().any(|r| match r.fate {
					Fate::Accepted | Fate::Idle | Fate::Diverged | Fate::Agreed | Fate::Revoked => {
						true
					}
					Fate::Undecided => !accepted && job.terms.undecided_percent > 0,
					_ => false,
				});
				ensure!(paid || s.paid_to_trainers == 0, "pay for what earns none");
				let out = s
					.slashed_to_submitter
					.saturating_add(s.slashed_to_jackpot)
					.saturating_add(s.slashed_burned)
					.saturating_add(s.slashed_to_finders);
				ensure!(out == s.slashed, "slashed deposits were not shared out to the last unit");
				if let Some(late) = Lates::<T>::get(id) {
					ensure!(late.from <= late.until, "late proof ends before it begins");
					for locked in &late.trainers {
						let is_theirs = |r: &Replica<_>| {
							r.trainer == locked.who && r.fate.is_true() && locked.deposit > 0
						};
						ensure!(
							job.replicas.iter().any(is_theirs),
							"late proof against a stranger"
						);
						add(&mut deposits, &locked.who, locked.deposit);
					}
				}
				continue;
			}
			add(&mut escrows, &job.submitter, job.quote.escrow);
			let applied = applicants.iter().map(|applicant| &applicant.trainer);
			for trainer in applied.chain(job.replicas.iter().map(|r| &r.trainer)) {
				add(&mut deposits, trainer, job.quote.deposit);
			}
		}
		let audited = |id| Jobs::<T>::get(id).is_some_and(|job| job.state == JobState::Auditing);
		let settled = |id| {
			let job = Jobs::<T>::get(id);
			job.is_some_and(|job| matches!(job.state, JobState::Ended(Ending::Settled)))
		};
		ensure!(Lates::<T>::iter_keys().all(settled), "late proof of a job that is not settled");
		let is_heard = |id| audited(id) || Lates::<T>::contains_key(id);
		ensure!(Hearings::<T>::iter_keys().all(is_heard), "a hearing of a job that is not heard");
		let auditing =
			Jobs::<T>::iter_values().filter(|job| job.state == JobState::Auditing).count();
		let heard = auditing.saturating_add(Lates::<T>::iter_keys().count());
		ensure!(Hearings::<T>::iter_keys().count() == heard, "a job is heard without a hearing");
		for (id, trainer) in Guilty::<T>::iter_keys() {
			let job = Jobs::<T>::get(id).filter(|_| audited(id)).ok_or("guilt without an audit")?;
			let works = |r: &Replica<_>| r.trainer == trainer && r.fate == Fate::Working;
			ensure!(job.replicas.iter().any(works), "somebody is guilty who has no result");
		}
		let (jobs, specs) = (Jobs::<T>::iter_keys().count(), Specs::<T>::iter_keys().count());
		ensure!(jobs == specs, "a specification without a job");
		let held = [
			(HoldReason::Escrow, escrows),
			(HoldReason::Deposit, deposits),
			(HoldReason::Record, records),
		];
		for (reason, held) in held {
			let reason: T::RuntimeHoldReason = reason.into();
			for (who, amount) in held {
				ensure!(
					T::Currency::balance_on_hold(&reason, &who) == amount,
					"an account's holds differ from its escrows, deposits and records"
				);
			}
		}
		Ok(())
	}

	/// Checks that claims are of results that are audited, and that each is sold or offered.
	fn check_claims() -> Result<(), TryRuntimeError> {
		for (id, claims) in Claims::<T>::iter() {
			let job = Jobs::<T>::get(id).ok_or("a claim on a job that is not there")?;
			let audited = job.state == JobState::Auditing;
			let early = matches!(job.state, JobState::Training | JobState::Revealing);
			ensure!(audited || early, "a claim on a job that is not trained or audited");
			ensure!(!claims.is_empty(), "an empty list of claims is on record");
			for (at, claim) in claims.iter().enumerate() {
				let works = |r: &Replica<_>| {
					// What a pool holds stays with it when its trainer has lost before the audit.
					let sold = claim.holder != claim.trainer && claim.offer.is_none();
					r.trainer == claim.trainer && (r.fate == Fate::Working || sold)
				};
				ensure!(job.replicas.iter().any(works), "a claim on what nobody delivered");
				ensure!(audited || claim.offer.is_none(), "a claim is on offer before the audit");
				let before = claims.iter().take(at);
				ensure!(
					before.into_iter().all(|other| other.trainer != claim.trainer),
					"two claims on one replica"
				);
				ensure!(
					claim.holder != claim.trainer || claim.offer.is_some(),
					"a claim is on record that was neither sold nor offered"
				);
				if let Some(offer) = &claim.offer {
					ensure!(offer.since <= Self::now(), "an offer of a block to come");
					ensure!(
						offer.asked.only.as_ref() != Some(&claim.holder),
						"a claim is on offer to its holder"
					);
				}
			}
		}
		Ok(())
	}

	/// Checks that volumes and prices are of blocks that were, and that the fee follows from them within its
	/// bounds.
	fn check_market() -> Result<(), TryRuntimeError> {
		let now = Self::now();
		let market = Market::<T>::get();
		ensure!(market.at <= now, "the volumes of the market are of a block to come");
		let reward = T::BlockReward::get();
		let (base, fee) = (Self::volumes().base(reward), Self::volumes().fee(reward, 1));
		ensure!((LEAST_FEE..=MOST_FEE).contains(&base), "the base fee is out of its bounds");
		ensure!((base..=MOST_FEE).contains(&fee), "the fee is out of its bounds");
		for (_, price) in Prices::<T>::iter() {
			ensure!(price.at <= now, "a price of a block to come");
		}
		for (_, job) in Jobs::<T>::iter() {
			ensure!(job.posted <= now, "a job was posted in a block to come");
			let fee = units::price(job.quote.training, job.quote.fee_per_ut);
			ensure!(fee == Some(job.quote.fee), "a job's fee is not what its fee per ut makes it");
			ensure!(
				job.quote.compute_per_ut <= T::ComputePrice::get(),
				"computing counts as more than the most"
			);
		}
		Ok(())
	}

	/// Checks that every job is on the agenda exactly once: one that has not ended, or can still be
	/// challenged, where [`Due`] says, another that ended where it is to be forgotten. Nothing else may
	/// be on it.
	fn check_agenda() -> Result<(), TryRuntimeError> {
		let mut entries = 0usize;
		for (at, id, ()) in Agenda::<T>::iter() {
			let ended = Jobs::<T>::get(id)
				.filter(|job| matches!(job.state, JobState::Ended(_)))
				.filter(|_| !Lates::<T>::contains_key(id))
				.map(|job| job.deadline);
			ensure!(
				ended.or(Due::<T>::get(id)) == Some(at),
				"the two directions of the agenda differ"
			);
			ensure!(
				Cursor::<T>::get().is_none_or(|cursor| at >= cursor),
				"an entry of the agenda was passed over"
			);
			entries = entries.saturating_add(1);
		}
		let jobs = Jobs::<T>::iter_keys().count();
		ensure!(jobs == entries, "a job is not on the agenda");
		let active = Jobs::<T>::iter().filter(|(id, job)| {
			!matches!(job.state, JobState::Ended(_)) || Lates::<T>::contains_key(id)
		});
		let mut count = 0usize;
		for (id, _) in active {
			ensure!(Due::<T>::contains_key(id), "a job that has not ended is not due");
			count = count.saturating_add(1);
		}
		ensure!(count == Due::<T>::iter_keys().count(), "a job that ended is due");
		Ok(())
	}
}
