//! What is paid of results of a job that pays by [lottery].
//!
//! Every whole stratum of an accepted result has a ticket that wins. Whether that of the rest does follows from the
//! outputs of the seats that had revealed when the time to open what trainers forced was first over, and the secret to
//! which its trainer is bound: the trainer does not know the outputs of others before they are shown, the seats do not
//! know the secret, and who makes blocks knows neither. So whoever is accused, and opens its secret before seats reveal,
//! fixes nothing by that.
//!
//! What is proven is what seats revealed evidence of which counts for the result.

use crate::{AuditOf, Config, Pallet, Verdicts};
use alloc::{collections::BTreeSet, vec::Vec};
use frame_support::{traits::Get, weights::Weight};
use trainyard_protocol::{
	audit::{Decision, GroupVerdict},
	job::MAX_VERIFIERS,
	lottery::{self, Strata, Tickets},
	JobId, H256,
};

impl<AccountId> crate::Audit<AccountId> {
	/// Notes the output of a seat that revealed, unless it comes too late to count.
	pub(crate) fn mix(&mut self, output: &H256) {
		if !self.opened {
			self.mixed = lottery::mix(&self.mixed, output);
		}
	}
}

impl<T: Config> Pallet<T> {
	/// Returns what is paid to each trainer of an accepted result that was not put out; nothing where the job does
	/// not pay by lottery.
	pub(crate) fn tickets(job: JobId, audit: &AuditOf<T>) -> Vec<(T::AccountId, Tickets)> {
		let Some(one_in) = audit.drawing.lottery else { return Vec::new() };
		let seats = audit.committee.len() as u32;
		let mut all = Vec::new();
		for (at, group) in audit.groups.iter().enumerate() {
			if !matches!(group.decision, Some(Decision::Accepted | Decision::Idle)) {
				continue;
			}
			let is_heard = |who: &T::AccountId| {
				let verdict =
					Verdicts::<T>::get(job, who).and_then(|f| f.verdicts.get(at).cloned());
				matches!(verdict, Some(GroupVerdict::Replayed(of)) if audit.is_of_result(at, &of))
			};
			let heard: BTreeSet<u32> = (0u32..)
				.zip(&audit.committee)
				.filter(|(_, seat)| seat.revealed && !seat.convicted && is_heard(&seat.verifier))
				.map(|(number, _)| number)
				.collect();
			let strata = Strata::new(audit.drawing.segments_of(&group.result), one_in);
			let trainers = group.trainers.iter().zip(&group.bundles);
			for (trainer, bundle) in trainers.filter(|(who, _)| !group.convicted.contains(who)) {
				let wins = bundle.opened && strata.rest_wins(&audit.mixed, &bundle.secret);
				let tickets = strata.tickets(wins, seats, |seat| heard.contains(&seat));
				all.push((trainer.clone(), tickets));
			}
		}
		all
	}

	/// Returns the weight of counting tickets: one result is accepted at most, and each seat said one thing of it.
	pub(crate) fn tickets_weight() -> Weight {
		T::DbWeight::get().reads(MAX_VERIFIERS.into())
	}
}
