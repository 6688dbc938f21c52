//! What seats ask for because nobody gave it to them, and what they prepay for it.
//!
//! A seat names what it lacks. For a while the other seats, and the trainers, can still give it to
//! the seat, which then withdraws its claim or commits. What is asked for after that the trainers
//! store on chain (`rescue`), or lose.
//!
//! - A claim that finds no other one waiting begins this time, for all claims of all seats. A seat
//!   does so twice in a round at most, and the time for commitments has an end that no claim moves, so that
//!   nobody delays an audit again and again.
//! - What has to be stored for a seat the first time, of a result in a round, is paid from the audit's
//!   escrow. For whatever it asks for after that the seat prepays all bytes, and half of that goes to
//!   who stored them. A claim that is withdrawn costs nothing: whether what it asked for was there, or
//!   came late, nobody can prove. Nobody is paid for giving, so that nobody asks a friend.
//! - What is stored already is not asked for again. A seat that names nothing else says that what was
//!   stored is of no use to it, and its verdict *unavailable* counts.

use crate::{
	Asked, AuditOf, AuditRecords, Claim, Claims, Config, Error, Event, HoldReason, Pallet,
	MAX_BEGUN, MAX_CLAIMS, MAX_WINDOWS,
};
use alloc::vec::Vec;
use frame_support::{
	ensure,
	storage::with_storage_layer,
	traits::{
		fungible::MutateHold,
		tokens::{Fortitude, Precision, Restriction},
		Get,
	},
};
use sp_runtime::{
	helpers_128bit::multiply_by_rational_with_rounding, ArithmeticError, DispatchResult, Rounding,
};
use trainyard_protocol::{
	audit::{are_read, AuditPhase, Piece, Pieces},
	job::Balance,
	JobId,
};
use trainyard_traits::JobObserver;

/// What storers are owed, in the order given.
type Owed<AccountId> = Vec<(AccountId, Balance)>;

impl<T: Config> Pallet<T> {
	pub(crate) fn do_request(
		who: T::AccountId,
		job: JobId,
		group: u32,
		pieces: Pieces,
	) -> DispatchResult {
		let mut audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		let AuditPhase::Committing { until } = audit.phase else {
			return Err(Error::<T>::NotCommitting.into());
		};
		let now = Self::now();
		ensure!(now <= until, Error::<T>::TooLate);
		let member = audit.member_mut(&who).ok_or(Error::<T>::NotOnCommittee)?;
		ensure!(member.commitment.is_none(), Error::<T>::HasCommitted);
		let (sizes, byte) = (audit.sizes, audit.storage_byte);
		// All replicas share the seed: of several results that pass, all but one part from the true one.
		let parts = audit.groups.len() > 1;
		let found = usize::try_from(group)
			.ok()
			.and_then(|at| audit.groups.get_mut(at))
			.filter(|found| found.decision.is_none())
			.ok_or(Error::<T>::NoSuchGroup)?;
		let segments = found.result.segments;
		ensure!(are_read(&pieces, &found.drawn, &found.result, parts), Error::<T>::NotRead);
		let mut claims = Claims::<T>::get(job, &who);
		let mine = claims.iter().filter(|claim| claim.group == group);
		ensure!(mine.clone().all(|claim| !claim.open), Error::<T>::AlreadyAsked);
		// One that named nothing but what was stored was answered by that, and nothing was stored for it.
		let answered = mine.clone().any(|claim| claim.answered && !claim.pieces.is_empty());
		let before = mine.count() as u32;
		ensure!(before < MAX_CLAIMS, Error::<T>::TooManyClaims);
		let is_stored =
			|piece: &Piece| found.asked.iter().any(|asked| asked.piece == *piece && asked.stored);
		let mut lacking = pieces;
		lacking.retain(|piece| !is_stored(piece));
		if lacking.is_empty() {
			let claim = Claim { group, pieces: lacking, prepaid: 0, open: false, answered: true };
			claims.try_push(claim).map_err(|_| Error::<T>::TooManyClaims)?;
			Claims::<T>::insert(job, &who, claims);
			Self::deposit_event(Event::StoredInVain { job, group, verifier: who });
			return Ok(());
		}
		let prepaid = match answered {
			false => 0,
			true => Balance::from(sizes.sum(lacking.iter().copied(), segments))
				.checked_mul(byte)
				.ok_or(ArithmeticError::Overflow)?,
		};
		for piece in &lacking {
			if !found.asked.iter().any(|asked| asked.piece == *piece) {
				let asked = Asked { piece: *piece, stored: false };
				found.asked.try_push(asked).map_err(|_| Error::<T>::TooManyPieces)?;
			}
		}
		let relay = match audit.relay {
			Some(relay) => {
				ensure!(now <= relay, Error::<T>::TooLate);
				relay
			}
			None => {
				ensure!(now <= audit.latest, Error::<T>::TooLate);
				ensure!(audit.windows < MAX_WINDOWS, Error::<T>::TooManyWindows);
				let member = audit.member_mut(&who).ok_or(Error::<T>::NotOnCommittee)?;
				ensure!(member.began < MAX_BEGUN, Error::<T>::TooManyWindows);
				member.began = member.began.saturating_add(1);
				now.saturating_add(T::RelayBlocks::get())
			}
		};
		audit.relay = Some(relay);
		// Who gets it from others must still replay it.
		let whole = relay.saturating_add(T::CommitBlocks::get()).min(audit.latest);
		let until = until.max(relay).max(whole);
		audit.phase = AuditPhase::Committing { until };
		T::Currency::hold(&HoldReason::Claim.into(), &who, prepaid)?;
		let claim = Claim { group, pieces: lacking.clone(), prepaid, open: true, answered: false };
		claims.try_push(claim).map_err(|_| Error::<T>::TooManyClaims)?;
		Claims::<T>::insert(job, &who, claims);
		AuditRecords::<T>::insert(job, &audit);
		Self::deposit_event(Event::Asked {
			job,
			group,
			verifier: who,
			pieces: lacking,
			prepaid,
			until: relay,
		});
		// The owner of the audit is to look when the others had their time.
		T::Observer::progressed(job);
		Ok(())
	}

	pub(crate) fn do_withdraw_request(who: T::AccountId, job: JobId, group: u32) -> DispatchResult {
		let mut audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		let AuditPhase::Committing { .. } = audit.phase else {
			return Err(Error::<T>::NotCommitting.into());
		};
		ensure!(audit.member_mut(&who).is_some(), Error::<T>::NotOnCommittee);
		let withdrawn = Self::withdraw_claims(job, &mut audit, &who, |of| of == group);
		ensure!(withdrawn, Error::<T>::NotAsked);
		AuditRecords::<T>::insert(job, &audit);
		Ok(())
	}

	/// Withdraws the open claims of `who` on those groups: what it asked for was there. Returns
	/// whether there were any.
	pub(crate) fn withdraw_claims(
		job: JobId,
		audit: &mut AuditOf<T>,
		who: &T::AccountId,
		groups: impl Fn(u32) -> bool,
	) -> bool {
		let mut claims = Claims::<T>::get(job, who);
		let mut withdrawn = false;
		for claim in claims.iter_mut().filter(|claim| claim.open && groups(claim.group)) {
			withdrawn = true;
			claim.open = false;
			Self::release_claim(who, claim.prepaid);
			claim.prepaid = 0;
			let (verifier, group) = (who.clone(), claim.group);
			Self::deposit_event(Event::RequestWithdrawn { job, group, verifier });
		}
		if !withdrawn {
			return false;
		}
		Claims::<T>::insert(job, who, claims);
		Self::forget_unasked(job, audit);
		if audit.relay.is_none() {
			T::Observer::progressed(job);
		}
		true
	}

	/// Lets the pieces go that no open claim names.
	fn forget_unasked(job: JobId, audit: &mut AuditOf<T>) {
		let open: Vec<Claim> = Claims::<T>::iter_prefix(job)
			.flat_map(|(_, claims)| claims)
			.filter(|claim| claim.open)
			.collect();
		for (at, group) in (0u32..).zip(audit.groups.iter_mut()) {
			group.asked.retain(|asked| {
				let is_asked =
					|claim: &Claim| claim.group == at && claim.pieces.contains(&asked.piece);
				asked.stored || open.iter().any(is_asked)
			});
		}
		if open.is_empty() {
			audit.relay = None;
		}
	}

	/// Ends the open claims on `group` after its window, in which its pieces were `answered` or not. The
	/// `shares` are due to those who stored what was asked for. What seats asked for without prepaying it
	/// the audit's escrow pays, all else the first seat that named it, by what it prepaid. Returns what
	/// the escrow owes; what is prepaid beyond it returns.
	pub(crate) fn close_claims(
		job: JobId,
		audit: &AuditOf<T>,
		group: u32,
		shares: &[(T::AccountId, Balance)],
		answered: bool,
	) -> Owed<T::AccountId> {
		let mut owed = Vec::new();
		let Some(found) = audit.groups.get(group as usize) else { return owed };
		let (sizes, segments) = (audit.sizes, found.result.segments);
		let mut left: Vec<Piece> = found.open_pieces().collect();
		let all = Balance::from(sizes.sum(left.iter().copied(), segments));
		for free in [true, false] {
			for member in &audit.committee {
				let who = &member.verifier;
				let mut claims = Claims::<T>::get(job, who);
				let mut changed = false;
				let is_due = |claim: &Claim| {
					claim.open && claim.group == group && free == (claim.prepaid == 0)
				};
				for claim in claims.iter_mut().filter(|claim| is_due(claim)) {
					changed = true;
					claim.open = false;
					claim.answered = answered;
					let first: Vec<Piece> =
						left.iter().copied().filter(|piece| claim.pieces.contains(piece)).collect();
					left.retain(|piece| !first.contains(piece));
					let part = Balance::from(sizes.sum(first, segments));
					let mut kept = claim.prepaid;
					for (trainer, share) in shares {
						let amount =
							multiply_by_rational_with_rounding(*share, part, all, Rounding::Down)
								.unwrap_or(0);
						if free {
							owed.push((trainer.clone(), amount));
						} else {
							let paid = Self::move_claim(who, trainer, amount.min(kept));
							kept = kept.saturating_sub(paid);
						}
					}
					Self::release_claim(who, kept);
					claim.prepaid = 0;
				}
				if changed {
					Claims::<T>::insert(job, who, claims);
				}
			}
		}
		owed
	}

	/// Returns whether this seat asked in this round for pieces of `group` that were stored.
	pub(crate) fn was_answered(job: JobId, who: &T::AccountId, group: u32) -> bool {
		Claims::<T>::get(job, who).iter().any(|claim| claim.group == group && claim.answered)
	}

	/// Forgets the claims of a round, and returns what is still prepaid.
	pub(crate) fn drop_claims(job: JobId, audit: &mut AuditOf<T>) {
		for (who, claims) in Claims::<T>::drain_prefix(job) {
			for claim in claims {
				Self::release_claim(&who, claim.prepaid);
			}
		}
		audit.relay = None;
		audit.groups.iter_mut().for_each(|group| group.asked.retain(|asked| asked.stored));
	}

	/// Returns what the owner of the audit owes to those who stored what seats asked for, of results
	/// that were not found false.
	pub(crate) fn owed(audit: &AuditOf<T>) -> Owed<T::AccountId> {
		audit
			.groups
			.iter()
			.filter(|group| !group.decision.is_some_and(|decision| decision.is_lost()))
			.flat_map(|group| group.storers.iter())
			.filter(|storer| storer.owed > 0)
			.map(|storer| (storer.trainer.clone(), storer.owed))
			.collect()
	}

	/// Moves up to `amount` of what `who` prepaid; returns how much.
	fn move_claim(who: &T::AccountId, to: &T::AccountId, amount: Balance) -> Balance {
		if amount == 0 {
			return 0;
		}
		with_storage_layer(|| {
			T::Currency::transfer_on_hold(
				&HoldReason::Claim.into(),
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

	/// Gives back what `who` prepaid.
	fn release_claim(who: &T::AccountId, amount: Balance) {
		if amount > 0 {
			let _ =
				T::Currency::release(&HoldReason::Claim.into(), who, amount, Precision::BestEffort);
		}
	}
}
