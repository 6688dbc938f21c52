//! What is known of a result while it is audited, for those who trade in what it is paid.

use crate::{AuditRecords, Config, Pallet};
use trainyard_protocol::{audit::AuditPhase, claims::Known, JobId};

impl<T: Config> Pallet<T> {
	/// Returns what is known of the result of `trainer`; see [`Audits::known`](trainyard_traits::Audits::known).
	///
	/// Before the first seat of a round reveals, nobody knows what more than its own seats drew; when trainers have
	/// opened what they forced, everybody can count the tickets of a lottery. Between these some know more than others.
	/// While somebody lacks something, the trainer alone knows whether it will be had.
	pub(crate) fn known_of(job: JobId, trainer: &T::AccountId) -> Option<Known> {
		let audit = AuditRecords::<T>::get(job)?;
		let stands = match audit.phase {
			AuditPhase::Drawing { .. } | AuditPhase::Committing { .. } => false,
			AuditPhase::Standing { .. } => true,
			AuditPhase::Revealing { .. }
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
}
