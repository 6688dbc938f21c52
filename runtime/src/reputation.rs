//! What is remembered of seats and of disputes: a router, since no pallet imports another.
//!
//! Verification and the court know of which job a deed is, and the market what that job burns.

use crate::{AccountId, Reputation, Runtime, TaskMarket};
use frame_support::weights::Weight;
use trainyard_protocol::{
	reputation::{Deed, Role},
	JobId,
};
use trainyard_traits::{JobDeeds, Reputation as _};

/// The records, for those who know the job of a deed.
pub struct Deeds;

impl JobDeeds<AccountId> for Deeds {
	fn note(job: JobId, role: Role, who: &AccountId, deed: Deed) {
		Reputation::note(role, who, deed, TaskMarket::blame_of(job, role));
	}

	fn note_weight() -> Weight {
		<Reputation as trainyard_traits::Reputation<AccountId>>::note_weight()
			.saturating_add(<Runtime as frame_system::Config>::DbWeight::get().reads(1))
	}
}
