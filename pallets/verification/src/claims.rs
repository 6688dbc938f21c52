//! What is asked for because nobody gave it, and what is prepaid for it.
//!
//! Whoever lacks something of a result names it: a seat while its committee commits, and anybody while
//! results stand. For a while the seats, and the trainers, can still give it to whoever asked, which then
//! withdraws its claim, or commits. What is asked for after that the trainers store on chain (`rescue`),
//! or lose. So "not to be had" is nobody's vote.
//!
//! - What seats draw only they know, so any piece that the result has can be named.
//! - A claim that finds no other one waiting begins this time, for all claims. A seat does so twice in a
//!   round at most, and the time for commitments has an end that no claim moves. While results stand the
//!   window is open again after each, and none begins later than that many windows after it opened
//!   (`Window::last_claim`): what moves an end has an end itself.
//! - Who claims prepays all bytes. Those who stored them have half of that, the rest returns. A claim that
//!   is withdrawn costs nothing: whether what it asked for was there, or came late, nobody can prove.
//!   Nobody is paid for giving, so that nobody asks a friend. While results stand it can pledge something
//!   for its place, which costs a part of that (`places`).
//! - A seat gets what it paid back from the audit's escrow, of the pieces that its draws read. Which
//!   these are is known when it reveals.
//! - What is stored already is not asked for again. How much somebody can ask for: `shares`.

use crate::{
	places::Wanted, Asked, AuditOf, AuditRecords, Claim, Claims, Config, Error, Event, HoldReason,
	Pallet, H256, MAX_BEGUN, MAX_CLAIMS, MAX_WINDOWS,
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
	accusation::Target,
	audit::{AuditPhase, Findings, GroupVerdict},
	job::{Balance, WorkResult},
	pieces::{is_read, Piece, Pieces},
	JobId,
};
use trainyard_traits::JobObserver;

/// What a seat has to show for what it asked for.
pub(crate) struct Spent<'a, AccountId> {
	/// The output by which it drew.
	pub output: H256,
	/// Its number, and how many seats there are.
	pub place: (usize, usize),
	/// What it found.
	pub findings: &'a Findings<AccountId>,
}

impl<T: Config> Pallet<T> {
	pub(crate) fn do_request(
		who: T::AccountId,
		job: JobId,
		group: u32,
		pieces: Pieces,
		pledge: Balance,
	) -> DispatchResult {
		let mut audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		let now = Self::now();
		let late = match audit.phase {
			AuditPhase::Committing { until } => {
				ensure!(now <= until, Error::<T>::TooLate);
				let member = audit.member_mut(&who).ok_or(Error::<T>::NotOnCommittee)?;
				ensure!(member.commitment.is_none(), Error::<T>::HasCommitted);
				false
			}
			AuditPhase::Standing { .. } => {
				ensure!(Self::is_open(job, &audit, now), Error::<T>::TooLate);
				true
			}
			_ => return Err(Error::<T>::NotCommitting.into()),
		};
		// A committee that works has no crowd.
		let pledge = if late { pledge } else { 0 };
		let (sizes, byte) = (audit.sizes, audit.storage_byte);
		let found = usize::try_from(group)
			.ok()
			.and_then(|at| audit.groups.get(at))
			.filter(|found| found.decision.is_none())
			.ok_or(Error::<T>::NoSuchGroup)?;
		let result = found.result;
		ensure!(pieces.iter().all(Piece::is_answered), Error::<T>::OnlyRelayed);
		let tensors = Self::tensor_bytes(job, pieces.iter().copied());
		ensure!(sizes.exist(&pieces, &result, tensors.len()), Error::<T>::NoSuchPiece);
		let claims = Claims::<T>::get(job, &who);
		let mine = claims.iter().filter(|claim| claim.group == group);
		ensure!(mine.clone().all(|claim| !claim.open), Error::<T>::AlreadyAsked);
		ensure!((mine.count() as u32) < MAX_CLAIMS, Error::<T>::TooManyClaims);
		let is_stored =
			|piece: &Piece| found.asked.iter().any(|asked| asked.piece == *piece && asked.stored);
		let mut lacking = pieces;
		lacking.retain(|piece| !is_stored(piece));
		ensure!(!lacking.is_empty(), Error::<T>::IsStored);
		let prepaid = Balance::from(sizes.sum(lacking.iter().copied(), &result, &tensors))
			.checked_mul(byte)
			.ok_or(ArithmeticError::Overflow)?;
		let sized: Vec<(Piece, u64)> =
			lacking.iter().map(|piece| (*piece, sizes.of(piece, &result, &tensors))).collect();
		let wanted = Wanted { group, pieces: &sized };
		match late {
			true => Self::find_place(job, &mut audit, &who, &wanted, pledge)?,
			false => Self::find_room(job, &audit, &who, &wanted)?,
		}
		let found = audit.groups.get_mut(group as usize).ok_or(Error::<T>::NoSuchGroup)?;
		for (piece, bytes) in sized {
			if !found.has_asked(&piece) {
				let asked = Asked::new(piece, bytes, late);
				found.asked.try_push(asked).map_err(|_| Error::<T>::TooManyPieces)?;
			}
		}
		let relay = match audit.relay {
			Some(relay) => {
				ensure!(now <= relay, Error::<T>::TooLate);
				relay
			}
			None if late => {
				let last = audit.window.map_or(0, |window| window.last_claim());
				ensure!(now <= last, Error::<T>::TooManyWindows);
				now.saturating_add(T::RelayBlocks::get())
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
		if let AuditPhase::Committing { until } = audit.phase {
			// Who gets it from others must still replay it.
			let whole = relay.saturating_add(audit.time).min(audit.latest);
			audit.phase = AuditPhase::Committing { until: until.max(relay).max(whole) };
		}
		let held = prepaid.checked_add(pledge).ok_or(ArithmeticError::Overflow)?;
		T::Currency::hold(&HoldReason::Claim.into(), &who, held)?;
		let pieces = lacking.clone();
		let claim = Claim { group, pieces, prepaid, pledge, open: true, paid: 0 };
		let mut claims = Claims::<T>::get(job, &who);
		claims.try_push(claim).map_err(|_| Error::<T>::TooManyClaims)?;
		Claims::<T>::insert(job, &who, claims);
		AuditRecords::<T>::insert(job, &audit);
		let (pieces, until) = (lacking, relay);
		Self::deposit_event(Event::Asked { job, group, who, pieces, prepaid, pledge, until });
		// The owner of the audit is to look when the others had their time.
		T::Observer::progressed(job);
		Ok(())
	}

	pub(crate) fn do_withdraw_request(who: T::AccountId, job: JobId, group: u32) -> DispatchResult {
		let mut audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		let waits =
			matches!(audit.phase, AuditPhase::Committing { .. } | AuditPhase::Standing { .. });
		ensure!(waits, Error::<T>::NotCommitting);
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
			// It takes nothing of its owner's share any more.
			claim.pieces = Default::default();
			Self::take_pledge(job, who, claim);
			Self::return_claim(who, claim);
			let (who, group) = (who.clone(), claim.group);
			Self::deposit_event(Event::RequestWithdrawn { job, group, who });
		}
		if !withdrawn {
			return false;
		}
		Self::keep_claims(job, audit, who, claims);
		Self::forget_unasked(job, audit);
		if audit.relay.is_none() {
			Self::open_again(audit, Self::now());
			T::Observer::progressed(job);
		}
		true
	}

	/// Keeps the claims of `who`: those of a committee that works until it has revealed, others while one
	/// is open.
	pub(crate) fn keep_claims(
		job: JobId,
		audit: &AuditOf<T>,
		who: &T::AccountId,
		claims: frame_support::BoundedVec<
			Claim,
			frame_support::traits::ConstU32<{ crate::ALL_CLAIMS }>,
		>,
	) {
		if audit.window.is_some() && claims.iter().all(|claim| !claim.open) {
			Claims::<T>::remove(job, who);
		} else {
			Claims::<T>::insert(job, who, claims);
		}
	}

	/// Lets the pieces go that no open claim names.
	pub(crate) fn forget_unasked(job: JobId, audit: &mut AuditOf<T>) {
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

	/// Ends the open claims on `group` after its window. The `shares` are due to those who stored what was
	/// asked for: of each piece the first who named it pays, by what it prepaid, and the rest returns. What
	/// was pledged returns as well where the result is `lost`, and without the price of the place elsewhere.
	pub(crate) fn close_claims(
		job: JobId,
		audit: &AuditOf<T>,
		group: u32,
		lost: bool,
		shares: &[(T::AccountId, Balance)],
	) {
		let Some(found) = audit.groups.get(group as usize) else { return };
		let mut left: Vec<Piece> = found.open_pieces().collect();
		let all = Balance::from(found.open_bytes());
		let claimants: Vec<_> = Claims::<T>::iter_prefix(job).collect();
		for (who, mut claims) in claimants {
			let is_due = |claim: &Claim| claim.open && claim.group == group;
			if !claims.iter().any(is_due) {
				continue;
			}
			for claim in claims.iter_mut().filter(|claim| is_due(claim)) {
				claim.open = false;
				let first: Vec<Piece> =
					left.iter().copied().filter(|piece| claim.pieces.contains(piece)).collect();
				left.retain(|piece| !first.contains(piece));
				let part = Balance::from(found.bytes_of(|piece| first.contains(piece)));
				let mut kept = claim.prepaid;
				for (trainer, share) in shares {
					let amount =
						multiply_by_rational_with_rounding(*share, part, all, Rounding::Down)
							.unwrap_or(0);
					let paid = Self::move_claim(&who, trainer, amount.min(kept));
					kept = kept.saturating_sub(paid);
					claim.paid = claim.paid.saturating_add(paid);
				}
				claim.prepaid = kept;
				if !lost {
					Self::take_pledge(job, &who, claim);
				}
				Self::return_claim(&who, claim);
			}
			Self::keep_claims(job, audit, &who, claims);
		}
	}

	/// Ends what claims are still open, of results that were decided meanwhile.
	pub(crate) fn drop_open_claims(job: JobId, audit: &mut AuditOf<T>) {
		let claimants: Vec<_> = Claims::<T>::iter_prefix(job).collect();
		for (who, mut claims) in claimants {
			for claim in claims.iter_mut().filter(|claim| claim.open) {
				claim.open = false;
				Self::return_claim(&who, claim);
			}
			Self::keep_claims(job, audit, &who, claims);
		}
		Self::forget_unasked(job, audit);
	}

	/// Notes what a seat gets back of what it paid for pieces that it reads: of the segments of which it
	/// reveals evidence, or, where it accuses somebody, of those that it drew and the one that it found.
	pub(crate) fn note_refunds(
		job: JobId,
		audit: &mut AuditOf<T>,
		who: &T::AccountId,
		spent: &Spent<T::AccountId>,
	) {
		let mut back: Balance = 0;
		for claim in Claims::<T>::get(job, who).iter().filter(|claim| claim.paid > 0) {
			let at = claim.group as usize;
			let Some(group) = audit.groups.get(at) else { continue };
			let Some(verdict) = spent.findings.verdicts.get(at) else { continue };
			let result: &WorkResult = &group.result;
			let own = || audit.drawing.own(&spent.output, claim.group, result, spent.place);
			let segments: Vec<u32> = match verdict {
				GroupVerdict::Replayed(replayed) => {
					replayed.evidence.iter().map(|e| e.segment).collect()
				}
				GroupVerdict::Rejected(rejection) => {
					let mut segments = own();
					if let Target::Segment(segment) = rejection.target {
						segments.push(segment);
					}
					segments
				}
				// It lacks what it had no room to ask for.
				GroupVerdict::Unavailable if Self::has_used_up(job, audit, who, claim.group) => {
					own()
				}
				GroupVerdict::Unavailable => continue,
			};
			let claimed = |piece: &Piece| claim.pieces.contains(piece);
			let all = Balance::from(group.bytes_of(claimed));
			let is_read = |piece: &Piece| claimed(piece) && is_read(piece, &segments, result);
			let read = Balance::from(group.bytes_of(is_read));
			let part =
				multiply_by_rational_with_rounding(claim.paid, read, all.max(1), Rounding::Down);
			back = back.saturating_add(part.unwrap_or(0));
		}
		let back = back.min(audit.storage.saturating_sub(Self::kept_for_relays(audit)));
		// Once a seat and round, so there is room.
		if back > 0 && audit.owed.try_push((who.clone(), back)).is_ok() {
			audit.storage = audit.storage.saturating_sub(back);
		}
	}

	/// Forgets the claims of a round, and returns what is still prepaid.
	pub(crate) fn drop_claims(job: JobId, audit: &mut AuditOf<T>) {
		for (who, claims) in Claims::<T>::drain_prefix(job) {
			for mut claim in claims {
				Self::return_claim(&who, &mut claim);
			}
		}
		audit.relay = None;
		audit.groups.iter_mut().for_each(|group| group.asked.retain(|asked| asked.stored));
	}

	/// Moves up to `amount` of what `who` prepaid; returns how much.
	pub(crate) fn move_claim(who: &T::AccountId, to: &T::AccountId, amount: Balance) -> Balance {
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
	pub(crate) fn release_claim(who: &T::AccountId, amount: Balance) {
		if amount > 0 {
			let _ =
				T::Currency::release(&HoldReason::Claim.into(), who, amount, Precision::BestEffort);
		}
	}
}
