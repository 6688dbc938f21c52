//! What *unavailable* costs a seat that asked nobody.
//!
//! That a result is not to be had decides nothing, and earns nothing. But where half of the seats say it, the
//! result is not accepted, so whoever gains by that could say it for nothing. A seat that could ask on chain and
//! did not pays as one that says nothing at all (`Pallet::is_absent`).
//!
//! States that no rescue carries can be asked for only while results stand, of a relay committee. So a result
//! with such states stands also where too few seats spoke of it. Where it stands to the end and nobody asked
//! for a relay of it, whoever said that it could not have it pays then. One relay is enough for all seats and
//! rounds: its answer is for everybody, and the escrow has the fees of one that finds a state held, so that the
//! seat that asks has back what it paid.

use crate::{AuditOf, Config, Event, Fault, Pallet, Pool, Verdicts, MAX_BEGUN};
use alloc::vec::Vec;
use frame_support::traits::Get;
use trainyard_protocol::{
	audit::{Findings, GroupVerdict},
	blob, duties,
	job::WorkResult,
	pieces::Piece,
	JobId,
};

impl<T: Config> Pallet<T> {
	/// Returns whether no rescue carries a state of this audit: who lacks one asks for a relay.
	pub(crate) fn has_large_states(audit: &AuditOf<T>) -> bool {
		audit.sizes.state > T::MaxRescue::get()
	}

	/// Returns whether a seat can ask on chain for all that it reads of any result that stands: the windows that
	/// it can begin carry it, whatever others ask for. Each carries a rescue, or all but a state where the next
	/// piece does not fit.
	pub fn claims_suffice(audit: &AuditOf<T>) -> bool {
		let (sizes, room) = (&audit.sizes, T::MaxRescue::get());
		let of = |result: &WorkResult| {
			let replays = duties::replays(audit.audit_segments, result.segments, 2);
			let states = blob::read_states(result.segments, replays).saturating_mul(sizes.state);
			let others = sizes.sum([Piece::Leaves, sizes.all_rows()], result, &[]);
			(states.saturating_add(others), others.max(sizes.state))
		};
		audit.undecided().all(|(_, group)| {
			let (all, largest) = of(&group.result);
			let each = room.saturating_sub(largest);
			all <= room || all <= each.saturating_mul(MAX_BEGUN.into())
		})
	}

	/// Returns whether results stand though half of the seats or fewer said something of one: by their `findings`
	/// some lacked its states, and can ask for them only then. Of several results none would be accepted, so
	/// another committee is drawn at once.
	pub(crate) fn stands_unheard(
		audit: &AuditOf<T>,
		findings: &[Option<Findings<T::AccountId>>],
	) -> bool {
		let mut open = audit.undecided().map(|(at, _)| at);
		let (Some(at), None) = (open.next(), open.next()) else { return false };
		let mut said = findings.iter().flatten().filter_map(|findings| findings.verdicts.get(at));
		Self::has_large_states(audit) && said.any(|said| matches!(said, GroupVerdict::Unavailable))
	}

	/// Results do not stand any more: takes what absence costs from the seats that could not have one of those
	/// that stood to the end, where no rescue carries its states and nobody asked for a relay of it.
	pub(crate) fn charge_unasked(job: JobId, audit: &mut AuditOf<T>) {
		if !Self::has_large_states(audit) {
			return;
		}
		// Of rows that no rescue carries nobody can be asked, so who lacks them said so rightly.
		let carries = |result: &WorkResult| {
			let rows = audit.sizes.sum([audit.sizes.all_rows()], result, &[]);
			rows <= T::MaxRescue::get()
		};
		let open = audit.undecided().filter(|(_, group)| carries(&group.result));
		let unasked = open.filter(|(_, group)| !group.relayed);
		let unasked: Vec<usize> = unasked.map(|(at, _)| at).collect();
		if unasked.is_empty() {
			return;
		}
		let is_unasked = |findings: &Findings<T::AccountId>| {
			let all = &findings.verdicts;
			let accuses = all.iter().any(|said| matches!(said, GroupVerdict::Rejected(_)));
			let lacks = |at: &usize| matches!(all.get(*at), Some(GroupVerdict::Unavailable));
			!accuses && unasked.iter().any(lacks)
		};
		let fee = audit.fee;
		Pool::<T>::mutate(|pool| {
			let seats = audit.committee.iter_mut();
			for member in seats.filter(|member| member.revealed && !member.convicted) {
				let who = &member.verifier;
				if !Verdicts::<T>::get(job, who).is_some_and(|findings| is_unasked(&findings)) {
					continue;
				}
				let Some(entry) = pool.get_mut(who) else { continue };
				let (fault, stake) = (Fault::NoVerdict, member.locked);
				let amount = Self::take(entry, who, fault, fee, stake);
				member.locked = stake.saturating_sub(amount);
				entry.unlock(amount);
				let verifier = who.clone();
				Self::deposit_event(Event::Slashed { verifier, amount, job, fault });
			}
		});
	}
}
