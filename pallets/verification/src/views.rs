//! What clients read about an audit.

use crate::{AuditRecords, Config, Forced, Kept, Locations, Pallet, Pool, Rechecks, Verdicts};
use frame_support::BoundedVec;
use trainyard_protocol::{
	views::{AuditView, BundleView, GroupView, MemberView, RecheckView, RescuedView, VerifierView},
	JobId, H256,
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
			audit_segments: audit.drawing.draws,
			lottery: audit.drawing.lottery,
			challenge: audit.challenge,
			seed: audit.seed,
			groups: audit
				.groups
				.into_iter()
				.map(|group| GroupView {
					result: group.looked_at(audit.round).unwrap_or(group.result),
					bundles: group
						.trainers
						.iter()
						.zip(&group.bundles)
						.map(|(trainer, bundle)| BundleView {
							trainer: trainer.clone(),
							root: bundle.root,
							forced: Forced::<T>::get(job, trainer).map(BoundedVec::into_inner),
						})
						.collect(),
					asked: group.open_pieces().collect(),
					stored: group.stored_pieces().collect(),
					rescued: group
						.trainers
						.iter()
						.flat_map(|trainer| Kept::<T>::get(job, trainer))
						.filter(|blob| blob.stored)
						.filter_map(|kept| {
							Some(RescuedView { piece: kept.piece, blob: kept.root? })
						})
						.collect(),
					convicted: group.convicted.into_inner(),
					decision: group.decision,
					relayed: group.relayed,
				})
				.collect(),
			committee: audit
				.committee
				.into_iter()
				.map(|member| MemberView {
					commitment: member.commitment,
					findings: Verdicts::<T>::get(job, &member.verifier),
					location: Locations::<T>::get(&member.verifier),
					vrf_key: H256(member.key),
					convicted: member.convicted,
					postponed: member.postponed.into_inner(),
					verifier: member.verifier,
				})
				.collect(),
			rechecks: match audit.recheck {
				Rechecks::Drawn(drawn) => drawn
					.into_iter()
					.map(|recheck| RecheckView {
						by: recheck.by,
						of: recheck.of,
						group: recheck.group,
						segment: recheck.segment,
					})
					.collect(),
				Rechecks::None | Rechecks::Drawing { .. } => Default::default(),
			},
		})
	}
}
