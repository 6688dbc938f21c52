//! What clients read about an audit.

use crate::{AuditRecords, Config, Kept, Locations, Pallet, Pool, Verdicts};
use trainyard_protocol::{
	views::{AuditView, GroupView, MemberView, VerifierView},
	JobId,
};

impl<T: Config> Pallet<T> {
	/// Returns where `who` stands as a verifier, while its bond is here.
	pub(crate) fn verifier_of(who: &T::AccountId) -> Option<VerifierView> {
		Pool::<T>::get().get(who).map(|entry| entry.view(Locations::<T>::get(who)))
	}

	/// Returns the audit of `job`, with the findings of the committee of its last round.
	pub(crate) fn view(job: JobId) -> Option<AuditView<T::AccountId>> {
		let audit = AuditRecords::<T>::get(job)?;
		Some(AuditView {
			round: audit.round,
			phase: audit.phase,
			groups: audit
				.groups
				.into_iter()
				.map(|group| GroupView {
					result: group.result,
					asked: group.open_pieces().collect(),
					stored: group.stored_pieces().collect(),
					rescued: group
						.trainers
						.iter()
						.flat_map(|trainer| Kept::<T>::get(job, trainer))
						.collect(),
					drawn: group.drawn.into_inner(),
					decision: group.decision,
				})
				.collect(),
			committee: audit
				.committee
				.into_iter()
				.map(|member| MemberView {
					commitment: member.commitment,
					findings: Verdicts::<T>::get(job, &member.verifier),
					location: Locations::<T>::get(&member.verifier),
					verifier: member.verifier,
				})
				.collect(),
		})
	}
}
