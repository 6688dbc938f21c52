//! What seats ask for because nobody gave it to them, and what they prepay for it.
//!
//! A seat names what it lacks. For a while the other seats, and the trainers, can still give it to
//! the seat, which then withdraws its claim or commits. What is asked for after that the trainers
//! store on chain (`rescue`), or lose.
//!
//! The first claim of a seat on a result costs it nothing: what has to be stored for it is paid from
//! the audit's escrow. For another one it prepays all bytes; if it withdraws that, what it asked for
//! was there, and the prepayment is the jackpot's. Nobody is paid for giving, so that nobody asks a
//! friend.

use crate::{
	Asked, AuditOf, AuditRecords, Claim, Claims, Config, Error, Event, HoldReason, Pallet,
	MAX_CLAIMS, MAX_WINDOWS,
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
		ensure!(are_read(&pieces, &found.drawn, segments, parts), Error::<T>::NotRead);
		let is_stored =
			|piece: &Piece| found.asked.iter().any(|asked| asked.piece == *piece && asked.stored);
		ensure!(!pieces.iter().any(is_stored), Error::<T>::AlreadyRescued);
		ensure!(found.windows < MAX_WINDOWS, Error::<T>::TooManyWindows);
		let mut claims = Claims::<T>::get(job, &who);
		let mine = claims.iter().filter(|claim| claim.group == group);
		ensure!(mine.clone().all(|claim| !claim.open), Error::<T>::AlreadyAsked);
		let before = mine.count() as u32;
		ensure!(before < MAX_CLAIMS, Error::<T>::TooManyClaims);
		let prepaid = match before {
			0 => 0,
			_ => Balance::from(sizes.sum(pieces.iter().copied(), segments))
				.checked_mul(byte)
				.ok_or(ArithmeticError::Overflow)?,
		};
		T::Currency::hold(&HoldReason::Claim.into(), &who, prepaid)?;
		for piece in &pieces {
			if !found.asked.iter().any(|asked| asked.piece == *piece) {
				let asked = Asked { piece: *piece, stored: false };
				found.asked.try_push(asked).map_err(|_| Error::<T>::NotRead)?;
			}
		}
		let claim = Claim { group, pieces: pieces.clone(), prepaid, open: true };
		claims.try_push(claim).map_err(|_| Error::<T>::TooManyClaims)?;
		Claims::<T>::insert(job, &who, claims);
		let relay = now.saturating_add(T::RelayBlocks::get());
		let relay = relay.max(audit.relay.unwrap_or_default());
		audit.relay = Some(relay);
		// Who gets it from others must still replay it.
		let until = until.max(relay.saturating_add(T::CommitBlocks::get()));
		audit.phase = AuditPhase::Committing { until };
		AuditRecords::<T>::insert(job, &audit);
		Self::deposit_event(Event::Asked {
			job,
			group,
			verifier: who,
			pieces,
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
			let paid = Self::move_claim(who, &T::Jackpot::get(), claim.prepaid);
			Self::release_claim(who, claim.prepaid.saturating_sub(paid));
			claim.prepaid = 0;
			let (verifier, group) = (who.clone(), claim.group);
			Self::deposit_event(Event::RequestWithdrawn { job, group, verifier, paid });
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

	/// Ends the open claims on `group` after its window. The `shares` are due to those who stored what
	/// was asked for. A piece is paid by the first seat that named it: by what it prepaid, or by the
	/// audit's escrow. Returns what the escrow owes; what is prepaid beyond it returns.
	pub(crate) fn close_claims(
		job: JobId,
		audit: &AuditOf<T>,
		group: u32,
		shares: &[(T::AccountId, Balance)],
	) -> Owed<T::AccountId> {
		let mut owed = Vec::new();
		let Some(found) = audit.groups.get(group as usize) else { return owed };
		let (sizes, segments) = (audit.sizes, found.result.segments);
		let mut left: Vec<Piece> = found.open_pieces().collect();
		let all = Balance::from(sizes.sum(left.iter().copied(), segments));
		for member in &audit.committee {
			let who = &member.verifier;
			let mut claims = Claims::<T>::get(job, who);
			let mut changed = false;
			for claim in claims.iter_mut().filter(|claim| claim.open && claim.group == group) {
				changed = true;
				claim.open = false;
				let first: Vec<Piece> =
					left.iter().copied().filter(|piece| claim.pieces.contains(piece)).collect();
				left.retain(|piece| !first.contains(piece));
				let part = Balance::from(sizes.sum(first, segments));
				let mut kept = claim.prepaid;
				for (trainer, share) in shares {
					let amount =
						multiply_by_rational_with_rounding(*share, part, all, Rounding::Down)
							.unwrap_or(0);
					if claim.prepaid == 0 {
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
		owed
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
