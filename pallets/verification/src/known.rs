//! What is known of a result while it is audited, for those who trade in what it is paid.

use crate::{AuditRecords, Config, Pallet};
use trainyard_protocol::{audit::AuditPhase, claims::Known, lottery::Strata, JobId};

impl<T: Config> Pallet<T> {
	/// Returns what is known of the result of `trainer`; see [`Audits::known`](trainyard_traits::Audits::known).
	///
	/// Before the first seat reveals, nobody knows what more than its own seats drew; when trainers have opened what they
	/// forced, everybody can count the tickets of a lottery. Between these some know more than others. While somebody
	/// lacks something, the trainer alone knows whether it will be had. While a committee is awaited, and in a later round,
	/// who kept verifiers away, or was silent, knows more of whether anything will be decided at all.
	pub(crate) fn known_of(job: JobId, trainer: &T::AccountId) -> Option<Known> {
		let audit = AuditRecords::<T>::get(job)?;
		let stands = match audit.phase {
			AuditPhase::Committing { .. } if audit.round == 0 => false,
			AuditPhase::Standing { .. } => true,
			AuditPhase::Drawing { .. }
			| AuditPhase::Committing { .. }
			| AuditPhase::Revealing { .. }
			| AuditPhase::Opening { .. }
			| AuditPhase::Rescue { .. }
			| AuditPhase::Done => return None,
		};
		if audit.relay.is_some() || audit.relays > 0 {
			return None;
		}
		let group = audit.groups.iter().find(|group| group.trainers.contains(trainer))?;
		if group.decision.is_some() || group.convicted.contains(trainer) {
			return None;
		}
		let delivered = group.trainers.iter().zip(&group.bundles);
		let (_, bundle) = delivered.into_iter().find(|(who, _)| *who == trainer)?;
		let (root, round) = (bundle.root, audit.round);
		Some(Known { root, round, stands, asked: audit.windows.saturating_add(group.late) })
	}
	/// Returns for how many segments the result of `trainer` is paid where it is accepted, of a job that pays by lottery
	/// whose tickets nobody can change any more; see [`Audits::tickets`](trainyard_traits::Audits::tickets).
	pub(crate) fn tickets_of(job: JobId, trainer: &T::AccountId) -> Option<u32> {
		let audit = AuditRecords::<T>::get(job)?;
		let one_in = audit.drawing.lottery?;
		if !audit.opened || !matches!(audit.phase, AuditPhase::Standing { .. }) {
			return None;
		}
		let group = audit.groups.iter().find(|group| group.trainers.contains(trainer))?;
		let delivered = group.trainers.iter().zip(&group.bundles);
		let (_, bundle) = delivered.into_iter().find(|(who, _)| *who == trainer)?;
		let strata = Strata::new(audit.drawing.segments_of(&group.result), one_in);
		let wins = bundle.opened && strata.rest_wins(&audit.mixed, &bundle.secret);
		Some(strata.tickets(wins, audit.committee.len() as u32, |_| true).paid)
	}
}
