//! What *unavailable* costs a seat that asked nobody.
//!
//! That a result is not to be had decides nothing, and earns nothing. But where half of the seats say it, the
//! result is not accepted, so whoever gains by that could say it for nothing. A seat that could ask on chain and
//! did not pays as one that says nothing at all (`Pallet::is_absent`).
//!
//! What a seat reads may be more than the windows carry that it can begin. Then it is heard where it asked for
//! as much as one carries: what it lacks beside that it had no time for.
//!
//! States that no rescue carries, and rows, can be asked for only while results stand, of a relay committee. So
//! a result with such states or rows stands also where too few seats spoke of it. Where it stands to the end and
//! nobody asked for a relay of it, whoever said that it could not have it pays then. One relay is enough for all
//! seats and rounds: its answer is for everybody, and the escrow has the fees of one that finds a piece held, so
//! that the seat that asks has back what it paid.

use crate::{
	AuditOf, Claims, Config, Fault, Group, Member, Pallet, Pool, Verdicts, MAX_BEGUN, MAX_WINDOWS,
};
use alloc::vec::Vec;
use frame_support::traits::Get;
use trainyard_protocol::{
	audit::{Findings, GroupVerdict},
	blob,
	job::WorkResult,
	pieces::Piece,
	JobId,
};

impl<T: Config> Pallet<T> {
	/// Returns the bytes of a state of this audit and of all rows, each where no rescue carries it and who lacks
	/// it asks for a relay; else 0.
	pub(crate) fn relayed_bytes(audit: &AuditOf<T>) -> [u64; 2] {
		let rows = audit.sizes.contents().into_iter().fold(0, u64::saturating_add);
		[audit.sizes.state, rows].map(|bytes| if bytes <= T::MaxRescue::get() { 0 } else { bytes })
	}

	/// Returns whether there is something in this audit that no rescue carries.
	pub(crate) fn has_large_pieces(audit: &AuditOf<T>) -> bool {
		Self::relayed_bytes(audit).iter().any(|bytes| *bytes > 0)
	}

	/// Returns the bytes of all that a seat reads of a result, and of the largest part of it that is not taken
	/// apart: a state, or leaves and rows.
	fn read_bytes(audit: &AuditOf<T>, result: &WorkResult) -> (u64, u64) {
		let sizes = &audit.sizes;
		let replays = audit.drawing.replays(audit.drawing.segments_of(result), 2);
		let states = blob::read_states(result.segments, replays).saturating_mul(sizes.state);
		let others = sizes.sum([Piece::Leaves, sizes.all_rows()], result, &[]);
		(states.saturating_add(others), others.max(sizes.state))
	}

	/// Returns whether a seat can ask on chain for all that it reads of a result: the windows that it can begin
	/// carry it, whatever others ask for. Each carries a rescue, or all but a state where the next piece does not
	/// fit.
	pub(crate) fn claims_suffice(audit: &AuditOf<T>, result: &WorkResult) -> bool {
		let room = T::MaxRescue::get();
		let (all, largest) = Self::read_bytes(audit, result);
		let each = room.saturating_sub(largest);
		all <= room || all <= each.saturating_mul(MAX_BEGUN.into())
	}

	/// Returns whether a seat asked for as much of a result in this round as a rescue carries: no other part of
	/// what it reads fits beside that. What it withdrew it had.
	fn has_asked_for_much(
		job: JobId,
		audit: &AuditOf<T>,
		who: &T::AccountId,
		(at, group): (u32, &Group<T::AccountId>),
	) -> bool {
		let claims = Claims::<T>::get(job, who);
		let is_named = |piece: &Piece| {
			claims.iter().any(|claim| claim.group == at && claim.pieces.contains(piece))
		};
		let (_, largest) = Self::read_bytes(audit, &group.result);
		group.bytes_of(is_named).saturating_add(largest) > T::MaxRescue::get()
	}

	/// Returns whether what a seat revealed, or that it revealed nothing, costs it what absence costs. That
	/// it could not have a result is no verdict: what a seat asks for on chain is there after that, or the
	/// result is lost and needs no verdict. It is heard only
	///
	/// - where it could not ask: committees have asked as often as they can, or it used up its share of the list
	///   of that result, or what it reads is more than it can ask for, and it asked for as much as a rescue
	///   carries (nothing else can be asked for where the next piece is larger than that; see
	///   [`Self::charge_unasked`]);
	/// - where a trainer of the result was put out after the committee was drawn: it may have looked at that one's
	///   bundle, and had no time for another one;
	/// - where it put a stake at risk to say that another result is false, and may have no second one.
	pub(crate) fn is_absent(
		job: JobId,
		audit: &AuditOf<T>,
		member: &Member<T::AccountId>,
		findings: Option<&Findings<T::AccountId>>,
	) -> bool {
		let Some(findings) = findings else { return true };
		if audit.windows >= MAX_WINDOWS || Self::risks(audit, member, findings) {
			return false;
		}
		let who = &member.verifier;
		let could_ask = |at: usize, group: &Group<T::AccountId>| {
			let number = u32::try_from(at).unwrap_or(u32::MAX);
			let asked_all = || {
				!Self::claims_suffice(audit, &group.result)
					&& Self::has_asked_for_much(job, audit, who, (number, group))
			};
			!group.lost_trainer_since(audit.drawn_at)
				&& !Self::has_used_up(job, audit, who, number)
				&& !asked_all()
		};
		let lacks =
			|at: usize| matches!(findings.verdicts.get(at), Some(GroupVerdict::Unavailable));
		audit.undecided().any(|(at, group)| lacks(at) && could_ask(at, group))
	}

	/// Returns whether a seat put a stake at risk with what it found of some result.
	fn risks(
		audit: &AuditOf<T>,
		member: &Member<T::AccountId>,
		findings: &Findings<T::AccountId>,
	) -> bool {
		audit.risks(findings, member.committed_at, T::RelayBlocks::get())
	}

	/// Returns whether results stand though half of the seats or fewer said something of one: by their `findings`
	/// some lacked its states or rows, and can ask for them only then. Of several results none would be accepted, so
	/// another committee is drawn at once.
	pub(crate) fn stands_unheard(
		audit: &AuditOf<T>,
		findings: &[Option<Findings<T::AccountId>>],
	) -> bool {
		let mut open = audit.undecided().map(|(at, _)| at);
		let (Some(at), None) = (open.next(), open.next()) else { return false };
		let mut said = findings.iter().flatten().filter_map(|findings| findings.verdicts.get(at));
		Self::has_large_pieces(audit) && said.any(|said| matches!(said, GroupVerdict::Unavailable))
	}

	/// Results do not stand any more: takes what absence costs from the seats that could not have one of those
	/// that stood to the end, where no rescue carries its states or rows and nobody asked for a relay of it.
	/// What else excuses a seat is as in [`Self::is_absent`].
	pub(crate) fn charge_unasked(job: JobId, audit: &mut AuditOf<T>) {
		if !Self::has_large_pieces(audit) {
			return;
		}
		let since = audit.drawn_at;
		let open = audit
			.undecided()
			.filter(|(_, group)| !group.relayed && !group.lost_trainer_since(since));
		let unasked: Vec<usize> = open.map(|(at, _)| at).collect();
		if unasked.is_empty() {
			return;
		}
		let is_unasked = |member: &Member<T::AccountId>| {
			let Some(findings) = Verdicts::<T>::get(job, &member.verifier) else { return false };
			let all = &findings.verdicts;
			let lacks = |at: &usize| matches!(all.get(*at), Some(GroupVerdict::Unavailable));
			unasked.iter().any(lacks) && !Self::risks(audit, member, &findings)
		};
		let seats = audit.committee.iter();
		let seats = seats.filter(|member| member.revealed && !member.convicted);
		let unasked: Vec<T::AccountId> =
			seats.filter(|member| is_unasked(member)).map(|m| m.verifier.clone()).collect();
		let fee = audit.fee;
		Pool::<T>::mutate(|pool| {
			let seats = audit.committee.iter_mut();
			for member in seats.filter(|member| unasked.contains(&member.verifier)) {
				let who = &member.verifier;
				let Some(entry) = pool.get_mut(who) else { continue };
				let (fault, stake) = (Fault::NoVerdict, member.locked);
				let amount = Self::take(entry, who, fault, fee, stake);
				member.locked = stake.saturating_sub(amount);
				entry.unlock(amount);
				let verifier = who.clone();
				Self::slashed(job, verifier, amount, fault);
			}
		});
	}
}
