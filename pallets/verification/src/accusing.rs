//! Seats before the court: what they put at stake when they accuse, and what a conviction costs.
//!
//! A rejection is an accusation with the stake of the seat in the place of a deposit, so that no seat is
//! too poor to say what it found. A seat that accuses of several results has one such stake; each further
//! accusation locks as much again of what is free of its bond. What is at stake stays locked until the
//! court has decided, whatever becomes of the round in which it was said.

use crate::{
	Accusations, AuditOf, AuditRecords, Config, Error, Event, Fault, HoldReason, Kept, KeptBlob,
	NamedState, NamedStates, Pallet, Pool, Verdicts, WeightInfo, H256,
};
use frame_support::{
	ensure,
	storage::with_storage_layer,
	traits::{
		fungible::MutateHold,
		tokens::{Fortitude, Precision, Restriction},
	},
	weights::Weight,
};
use sp_runtime::{DispatchError, DispatchResult};
use trainyard_protocol::{
	accusation::End,
	audit::{AuditPhase, Decision, GroupVerdict, Replayed},
	fees::most_for_silence,
	forced::Forced,
	job::{Balance, BlockNumber, WorkResult},
	pieces::Piece,
	reputation::{Deed, Role},
	JobId,
};
use trainyard_traits::{Accusation, Audited, Conviction, Court, Defendant, JobDeeds, Window};

impl<T: Config> Pallet<T> {
	/// Opens a dispute for the seat `who`, which bound itself to it at height `committed_at`. The audit
	/// must be stored: the court may decide at once.
	pub(crate) fn open_dispute(
		job: JobId,
		who: &T::AccountId,
		accusation: Accusation<T::AccountId>,
		committed_at: BlockNumber,
	) -> DispatchResult {
		let stake = Self::put_at_stake(job, who)?;
		let dispute = T::Court::accuse(who, accusation, committed_at, stake)?;
		Self::deposit_event(Event::Accused { verifier: who.clone(), dispute, stake });
		Ok(())
	}

	/// Locks what the seat `who` puts at stake with an accusation: of the stake of the seat first, and
	/// what that lacks of the rest of the bond. Returns how much.
	pub(crate) fn put_at_stake(job: JobId, who: &T::AccountId) -> Result<Balance, DispatchError> {
		let stake = AuditRecords::<T>::try_mutate(job, |audit| {
			let audit = audit.as_mut().ok_or(Error::<T>::NoAudit)?;
			let stake = audit.challenge;
			let member = audit.member_mut(who).ok_or(Error::<T>::NotOnCommittee)?;
			let of_seat = member.locked.min(stake);
			let more = stake.saturating_sub(of_seat);
			member.locked = member.locked.saturating_sub(of_seat);
			Pool::<T>::try_mutate(|pool| {
				let entry = pool.get_mut(who).ok_or(Error::<T>::NotVerifier)?;
				ensure!(entry.free() >= more, Error::<T>::StakeTooSmall);
				entry.lock(more);
				Ok::<_, DispatchError>(())
			})?;
			Ok::<_, DispatchError>(stake)
		})?;
		Accusations::<T>::mutate(job, who, |accusing| {
			accusing.stake = stake;
			accusing.open = accusing.open.saturating_add(1);
		});
		Ok(stake)
	}

	/// Accuses for a seat that revealed, while results stand.
	pub(crate) fn do_accuse(
		who: T::AccountId,
		accusation: Accusation<T::AccountId>,
	) -> DispatchResult {
		let job = accusation.defendant.job();
		let audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		let now = Self::now();
		let stands = matches!(audit.phase, AuditPhase::Standing { .. });
		ensure!(stands && Self::is_open(job, &audit, now), Error::<T>::NotStanding);
		let member = audit.committee.iter().find(|member| member.verifier == who);
		let member = member.ok_or(Error::<T>::NotOnCommittee)?;
		ensure!(member.revealed && !member.convicted, Error::<T>::NotRevealed);
		let is_there = match &accusation.defendant {
			Defendant::Trainer { who: trainer, .. } => {
				audit.groups.iter().any(|group| group.trainers.contains(trainer))
			}
			Defendant::Seat { who: other, bundle_root, .. } => {
				*other != who && Self::replayed(job, other, bundle_root).is_some()
			}
		};
		ensure!(is_there, Error::<T>::WrongAccused);
		let defendant = accusation.defendant.clone();
		Self::open_dispute(job, &who, accusation, now)?;
		if let Defendant::Trainer { who: trainer, .. } = defendant {
			Self::note_accused(job, &who, &trainer);
		}
		Ok(())
	}

	/// Ends one accusation of `who`: what it had at stake is not locked any more. What it owes since its
	/// own evidence was convicted goes to the jackpot, or whoever is about to be convicted would accuse a
	/// friend to keep its stake. Returns the rest of what was at stake; 0 where it had none.
	pub(crate) fn end_accusation(job: JobId, who: &T::AccountId) -> Balance {
		let (stake, due) = Accusations::<T>::mutate_exists(job, who, |accusing| {
			let Some(found) = accusing else { return (0, 0) };
			let (stake, due) = (found.stake, found.owed.min(found.stake));
			found.owed = found.owed.saturating_sub(due);
			found.open = found.open.saturating_sub(1);
			if found.open == 0 {
				*accusing = None;
			}
			(stake, due)
		});
		Pool::<T>::mutate(|pool| {
			let Some(entry) = pool.get_mut(who) else { return };
			entry.unlock(stake);
			if due > 0 {
				let amount = Self::move_to_jackpot(who, due);
				entry.lose(amount);
				let (verifier, fault) = (who.clone(), Fault::LostAccusation);
				Self::slashed(job, verifier, amount, fault);
			}
		});
		stake.saturating_sub(due)
	}

	/// Lets no later round of this audit draw `who`. The court convicts an account once, so what somebody
	/// revealed after that nobody could accuse it of.
	pub(crate) fn bar(audit: &mut AuditOf<T>, who: &T::AccountId) {
		if !audit.barred.contains(who) {
			// There are no more than seats.
			let _ = audit.barred.try_push(who.clone());
		}
	}

	/// Forgets what `who` earned in an audit.
	pub(crate) fn take_back_fees(audit: &mut AuditOf<T>, who: &T::AccountId) {
		audit.served.retain(|other| other != who);
		audit.waiting.retain(|of| of.seat != *who);
		audit.owed.retain(|(other, _)| other != who);
	}

	/// Takes the stake of a seat whose evidence was convicted: a half is burned, the finders have a
	/// quarter, or no more than it cost them where nothing was proven, and the rest is the jackpot's.
	fn convict_seat(
		job: JobId,
		audit: &mut AuditOf<T>,
		who: &T::AccountId,
		conviction: &Conviction<T::AccountId>,
	) {
		let (stake, challenge) = (audit.stake, audit.challenge);
		let Some(member) = audit.member_mut(who).filter(|m| m.revealed && !m.convicted) else {
			return;
		};
		member.convicted = true;
		let locked = core::mem::take(&mut member.locked);
		Self::bar(audit, who);
		Self::take_back_fees(audit, who);
		Pool::<T>::mutate(|pool| {
			let Some(entry) = pool.get_mut(who) else { return };
			let amount = Self::collect_stake((job, who), entry, stake, locked);
			let most = match conviction.proven {
				true => Balance::MAX,
				false => most_for_silence(challenge),
			};
			let (half, quarter) = (amount / 2, (amount / 4).min(most));
			let reason = HoldReason::VerifierBond.into();
			let burned =
				T::Currency::burn_held(&reason, who, half, Precision::BestEffort, Fortitude::Force)
					.unwrap_or(0);
			let found = conviction.halves(quarter).fold(0, |sum: Balance, (finder, part)| {
				sum.saturating_add(Self::move_bond(who, finder, part))
			});
			let rest = amount.saturating_sub(burned).saturating_sub(found);
			let jackpot = Self::move_to_jackpot(who, rest);
			entry.lose(burned.saturating_add(found).saturating_add(jackpot));
			T::Deeds::note(job, Role::Verifier, who, Deed::Convicted);
			Self::deposit_event(Event::EvidenceConvicted {
				job,
				verifier: who.clone(),
				burned,
				finder: conviction.finder.clone(),
				second: conviction.second.clone(),
				found,
				jackpot,
			});
		});
	}

	/// Moves held `amount` of a bond to the free balance of `to`, or nothing. Returns how much.
	pub(crate) fn move_bond(who: &T::AccountId, to: &T::AccountId, amount: Balance) -> Balance {
		if amount == 0 {
			return 0;
		}
		with_storage_layer(|| {
			T::Currency::transfer_on_hold(
				&HoldReason::VerifierBond.into(),
				who,
				to,
				amount,
				Precision::Exact,
				Restriction::Free,
				Fortitude::Force,
			)
		})
		.unwrap_or(0)
	}

	/// Returns the evidence that a seat of this round revealed of results with this bundle root, unless it
	/// was convicted.
	fn evidence_of(
		job: JobId,
		who: &T::AccountId,
		bundle_root: &H256,
	) -> Option<(WorkResult, Replayed)> {
		let audit = AuditRecords::<T>::get(job)?;
		let member = audit.committee.iter().find(|member| member.verifier == *who)?;
		if !member.revealed || member.convicted {
			return None;
		}
		let findings = Verdicts::<T>::get(job, who)?;
		audit.groups.iter().zip(findings.verdicts).find_map(|(group, verdict)| match verdict {
			GroupVerdict::Replayed(replayed) => {
				let result = group.result_in(&replayed)?;
				(result.bundle_root == *bundle_root).then_some((result, replayed))
			}
			_ => None,
		})
	}
}

impl<T: Config> Audited<T::AccountId> for Pallet<T> {
	fn replayed(job: JobId, who: &T::AccountId, bundle_root: &H256) -> Option<WorkResult> {
		Self::evidence_of(job, who, bundle_root).map(|(result, _)| result)
	}

	fn evidence(job: JobId, who: &T::AccountId, bundle_root: &H256, segment: u32) -> Option<End> {
		let (_, replayed) = Self::evidence_of(job, who, bundle_root)?;
		replayed.evidence.iter().find(|e| e.segment == segment).map(|e| e.end())
	}

	fn stored(job: JobId, who: &T::AccountId, blob: &H256, state: u32) -> bool {
		let is_file = |kept: &KeptBlob| {
			kept.stored && kept.piece == Piece::State(state) && kept.root == Some(*blob)
		};
		// What was let go since stays what it was.
		let was_named =
			|named: &NamedState| named.stored && named.leaf.index == state && named.blob == *blob;
		Kept::<T>::get(job, who).iter().any(is_file)
			|| NamedStates::<T>::get(job, who).iter().any(was_named)
	}

	fn forced(job: JobId, who: &T::AccountId, index: u32) -> Option<Forced> {
		let all = crate::Forced::<T>::get(job, who)?;
		all.into_iter().find(|forced| forced.index == index)
	}

	fn window(job: JobId) -> Option<Window> {
		let audit = AuditRecords::<T>::get(job)?;
		Self::window_of(&audit, Self::now())
	}

	fn convict(defendant: &Defendant<T::AccountId>, conviction: &Conviction<T::AccountId>) {
		let job = defendant.job();
		let Some(mut audit) = AuditRecords::<T>::get(job) else { return };
		if audit.phase == AuditPhase::Done {
			return;
		}
		match defendant {
			Defendant::Seat { who, .. } => Self::convict_seat(job, &mut audit, who, conviction),
			Defendant::Trainer { who, .. } => {
				let now = Self::now();
				for (at, group) in (0u32..).zip(audit.groups.iter_mut()) {
					if group.put_out(who, now) {
						let trainer = who.clone();
						Self::deposit_event(Event::TrainerConvicted { job, group: at, trainer });
					}
				}
				Self::decide(job, &mut audit, |_, group| {
					let all = group.convicted.len() == group.trainers.len();
					all.then_some(Decision::Rejected)
				});
			}
		}
		AuditRecords::<T>::insert(job, audit);
	}

	fn convict_weight() -> Weight {
		T::WeightInfo::convict().saturating_add(T::Deeds::note_weight())
	}
}
