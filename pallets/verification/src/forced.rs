//! Forced errors: what trainers open, and what it says of seats.
//!
//! A trainer makes some leaves of its bundle false, at places that nobody knows, and opens them when the
//! committee has revealed ([`Opening`]). Its opening shows that its bundle is equal to what all trainers of
//! its result have in common in everything else.
//!
//! Of a leaf whose trace is not that of its replay, a seat says that it *differs*, and names its own. Where
//! the leaf is forced and that is the true trace, the seat has replayed: a part of all fees of the audit is
//! shared by those who found one in this way. Who said that a forced leaf is right did not replay, and
//! loses its stake. Anywhere else a difference means that the trainer is false: the seat accuses it while
//! results stand, and if the trainer is not convicted then, whoever that does, the seat loses its stake. Of a
//! result that was decided before there is nothing to judge, and what was revealed of it since was not looked
//! at: it costs nobody a stake that it differs, and nobody has a prize for it.
//!
//! A trainer that does not open loses its deposit, as one that revealed nothing: nobody could say what its
//! bundle is. Evidence from such a bundle is none. So it has as much time as machines may be away for
//! ([`Config::OpeningBlocks`]), and the others wait no longer than for the last one that opens.
//!
//! Who opened early would say to seats that have committed who of them is caught, and who is caught could keep
//! what it committed to, for the price of an absence. So nobody opens while they reveal,
//! unless something of the job is disputed: who is accused of a forced leaf would be convicted. What it has
//! left of its clock is for it to weigh.

use crate::{
	Audit, AuditOf, AuditRecords, Config, Error, Event, Fault, Forced, Pallet, Pool, Uploading,
	Verdicts,
};
use alloc::{
	collections::{BTreeMap, BTreeSet},
	vec::Vec,
};
use frame_support::{
	ensure,
	traits::{
		fungible::MutateHold,
		tokens::{Fortitude, Precision},
		Get,
	},
};
use sp_runtime::DispatchResult;
use trainyard_protocol::{
	audit::{AuditPhase, Decision, GroupVerdict, Replayed},
	forced::{self, AllForced, Opening, Secret},
	job::BlockNumber,
	JobId,
};
use trainyard_traits::{AwaitedBlobs, Court, JobObserver};

/// What a seat said of the leaves of a bundle that was opened.
#[derive(Default)]
pub(crate) struct Said {
	/// It said of a forced leaf that it differs, and named the true trace.
	found: bool,
	/// It said of a forced leaf that it is right.
	passed: bool,
	/// It said that another leaf differs, or named another trace.
	differs: bool,
}

/// What a seat said of the bundle of a trainer.
pub(crate) struct SaidOf<AccountId> {
	/// Who delivered the bundle.
	trainer: AccountId,
	/// Whether the result is not decided.
	is_open: bool,
	/// What the seat said of its leaves.
	said: Said,
}

/// Seats, each with what it said of the bundles of trainers.
pub(crate) type AllSaid<AccountId> = Vec<(AccountId, Vec<SaidOf<AccountId>>)>;

/// Returns what a seat said of the leaves of a bundle in which these are forced.
fn said(replayed: &Replayed, forced: &AllForced) -> Said {
	let mut said = Said::default();
	for evidence in &replayed.evidence {
		let index = evidence.segment.saturating_add(1);
		let forced = forced.iter().find(|forced| forced.index == index);
		match (forced, evidence.differs) {
			(Some(forced), Some(_)) if forced.trace == evidence.trace() => said.found = true,
			(Some(_), None) => said.passed = true,
			(_, Some(_)) => said.differs = true,
			(None, None) => {}
		}
	}
	said
}

impl<AccountId: Clone + Ord> Audit<AccountId> {
	/// Returns whether what a seat found in a bundle is about the result `at`: whether this bundle was
	/// opened, where there was something to open.
	pub(crate) fn is_of_result(&self, at: usize, replayed: &Replayed) -> bool {
		let bundle = self.groups.get(at).zip(usize::try_from(replayed.bundle).ok());
		let bundle = bundle.and_then(|(group, at)| group.bundles.get(at));
		!self.opened || bundle.is_some_and(|bundle| bundle.opened)
	}

	/// Returns the trainers that did not open in time what they forced to be false.
	pub(crate) fn unopened(&self) -> Vec<AccountId> {
		let all = self.groups.iter().flat_map(|group| group.trainers.iter().zip(&group.bundles));
		let unopened = all.filter(|(_, bundle)| self.opened && !bundle.opened);
		unopened.map(|(trainer, _)| trainer.clone()).collect()
	}
}

impl<T: Config> Pallet<T> {
	/// Returns whether a trainer can still open its forced leaves, and has not.
	pub(crate) fn awaits_openings(audit: &AuditOf<T>) -> bool {
		!audit.opened && !audit.all_opened()
	}

	/// Returns the last block of the time to open, while a trainer that has not is awaited. It stands still
	/// where blocks have no room.
	pub(crate) fn opening_until(
		job: JobId,
		audit: &AuditOf<T>,
		until: BlockNumber,
		now: BlockNumber,
	) -> Option<BlockNumber> {
		let until = Self::rescue_until(job, until);
		(now <= until && Self::awaits_openings(audit)).then_some(until)
	}

	/// Begins the time in which trainers open what they forced.
	pub(crate) fn open_opening(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		let until = match Self::awaits_openings(audit) {
			true => now.saturating_add(T::OpeningBlocks::get()),
			false => now,
		};
		audit.phase = AuditPhase::Opening { until };
		if until > now {
			// Nobody makes a trainer lose its deposit by filling the blocks in which it would open.
			Uploading::<T>::insert(job, (T::Blobs::full_blocks(), now, until));
			Self::deposit_event(Event::OpeningBegan { job, until });
		}
	}

	pub(crate) fn do_open_forced(
		who: T::AccountId,
		job: JobId,
		secret: Secret,
		opening: Opening,
	) -> DispatchResult {
		let mut audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		// Before the committee has revealed, nobody is to know them; but who is accused can defend itself.
		let is_time = matches!(audit.phase, AuditPhase::Opening { .. })
			|| !T::Court::standing(job).is_quiet();
		ensure!(!audit.opened && is_time, Error::<T>::NotOpening);
		let (seed, mut opened) = (audit.assignment, None);
		for group in audit.groups.iter_mut() {
			let Some(at) = group.trainers.iter().position(|trainer| *trainer == who) else {
				continue;
			};
			let result = group.result_of(at).ok_or(Error::<T>::NotTrainer)?;
			let bundle = group.bundles.get_mut(at).ok_or(Error::<T>::NotTrainer)?;
			ensure!(!bundle.opened, Error::<T>::AlreadyOpened);
			ensure!(forced::commitment(&secret) == bundle.forced, Error::<T>::WrongSecret);
			opened = opening.check(&seed, &secret, &result);
			ensure!(opened.is_some(), Error::<T>::WrongForced);
			bundle.opened = true;
			bundle.secret = secret;
		}
		let forced = opened.ok_or(Error::<T>::NotTrainer)?;
		Forced::<T>::insert(job, &who, &forced);
		let all = audit.all_opened();
		AuditRecords::<T>::insert(job, audit);
		Self::deposit_event(Event::ForcedOpened { job, trainer: who, secret, forced });
		if all {
			T::Observer::progressed(job);
		}
		Ok(())
	}

	/// Ends the time to open: who did not is out, and seats are paid and convicted by what was opened.
	pub(crate) fn close_opening(job: JobId, audit: &mut AuditOf<T>) {
		if !audit.opened {
			let now = Self::now();
			for group in audit.groups.iter_mut() {
				let silent = group.trainers.iter().zip(&group.bundles);
				let silent = silent.filter(|(_, bundle)| !bundle.opened);
				let silent: Vec<T::AccountId> = silent.map(|(who, _)| who.clone()).collect();
				for trainer in silent {
					if group.put_out(&trainer, now) {
						Self::deposit_event(Event::NotOpened { job, trainer });
					}
				}
			}
			Self::decide(job, audit, |_, group| {
				let all = group.convicted.len() == group.trainers.len();
				all.then_some(Decision::Rejected)
			});
		}
		let is_first = !audit.opened;
		audit.opened = true;
		for (who, said) in Self::all_said(job, audit) {
			if said.iter().any(|of| of.said.passed) {
				Self::take_stake(job, audit, &who);
			} else if is_first && said.iter().any(|of| of.is_open && of.said.found) {
				// There are no more than seats.
				let _ = audit.found.try_push(who);
			}
		}
	}

	/// Takes the stakes of seats that said that something differs, where nothing does: the result stood to
	/// the end, and the trainer was not convicted. Of a result that was lost since nobody knows who was right.
	pub(crate) fn judge_differences(job: JobId, audit: &mut AuditOf<T>) {
		if !audit.opened {
			return;
		}
		let convicted: BTreeSet<T::AccountId> =
			audit.groups.iter().flat_map(|group| group.convicted.iter().cloned()).collect();
		for (who, said) in Self::all_said(job, audit) {
			let unfounded = |of: &SaidOf<T::AccountId>| {
				of.is_open && of.said.differs && !convicted.contains(&of.trainer)
			};
			if said.iter().any(unfounded) {
				Self::take_stake(job, audit, &who);
			}
		}
	}

	/// Returns what each seat said, whose evidence was not convicted, of the bundles of trainers that have
	/// opened them.
	pub(crate) fn all_said(job: JobId, audit: &AuditOf<T>) -> AllSaid<T::AccountId> {
		let seats = audit.committee.iter().filter(|member| member.revealed && !member.convicted);
		let trainers: BTreeSet<&T::AccountId> =
			audit.groups.iter().flat_map(|group| group.trainers.iter()).collect();
		let opened = |who: &T::AccountId| Some((who.clone(), Forced::<T>::get(job, who)?));
		let opened: BTreeMap<T::AccountId, AllForced> =
			trainers.into_iter().filter_map(opened).collect();
		let of_seat = |who: &T::AccountId| {
			let verdicts = Verdicts::<T>::get(job, who)?.verdicts;
			let all = audit.groups.iter().zip(verdicts).filter_map(|(group, verdict)| {
				let GroupVerdict::Replayed(replayed) = verdict else { return None };
				let trainer = group.trainers.get(usize::try_from(replayed.bundle).ok()?)?;
				let said = said(&replayed, opened.get(trainer)?);
				Some(SaidOf { trainer: trainer.clone(), is_open: group.decision.is_none(), said })
			});
			Some((who.clone(), all.collect()))
		};
		seats.filter_map(|member| of_seat(&member.verifier)).collect()
	}

	/// Takes the stake of a seat that guessed: a half is burned, the other half is the jackpot's. Its
	/// evidence is none, and it earns nothing in this audit.
	pub(crate) fn take_stake(job: JobId, audit: &mut AuditOf<T>, who: &T::AccountId) {
		let stake = audit.stake;
		let Some(member) = audit.member_mut(who).filter(|member| !member.convicted) else { return };
		member.convicted = true;
		let locked = core::mem::take(&mut member.locked);
		Self::bar(audit, who);
		Self::take_back_fees(audit, who);
		audit.found.retain(|other| other != who);
		Pool::<T>::mutate(|pool| {
			let Some(entry) = pool.get_mut(who) else { return };
			let amount = Self::collect_stake((job, who), entry, stake, locked);
			let reason = crate::HoldReason::VerifierBond.into();
			let half = amount / 2;
			let burned =
				T::Currency::burn_held(&reason, who, half, Precision::BestEffort, Fortitude::Force)
					.unwrap_or(0);
			let jackpot = Self::move_to_jackpot(who, amount.saturating_sub(burned));
			entry.lose(burned.saturating_add(jackpot));
			let (verifier, fault) = (who.clone(), Fault::Guessed);
			Self::slashed(job, verifier, amount, fault);
		});
	}
}
