//! What clients ask.

use crate::{
	CommittedBy, Config, Convicted, DefendantOf, DisputeOf, DisputeView, Disputes, Dockets, Pallet,
	Posts, Side,
};
use alloc::vec::Vec;
use trainyard_court::game::{self, Place, Roots};
use trainyard_protocol::JobId;
use trainyard_traits::DisputeId;

impl<T: Config> Pallet<T> {
	/// Returns a dispute that has not ended, as it is now.
	pub(crate) fn view_of(id: DisputeId) -> Option<DisputeView<T::AccountId>> {
		let dispute = Self::read(id)?;
		let now = Self::moment();
		// The clock of the side that is to move is the one that runs.
		let (mut clocks, to_move) = (dispute.clocks, dispute.side());
		let left = clocks.left(to_move, &now);
		match to_move {
			Side::Challenger => clocks.challenger = left,
			Side::Defender => clocks.defender = left,
		}
		let defendant = &dispute.defendant;
		Some(DisputeView {
			id,
			left: [clocks.challenger, clocks.defender],
			place: dispute.stage.place(),
			is_moot: Convicted::<T>::contains_key(defendant.job(), defendant),
			runs: dispute.clocks.since.is_some(),
			dispute,
		})
	}

	/// Returns the disputes with a defendant that have a place in its docket, the oldest first.
	pub(crate) fn docket_of(defendant: &DefendantOf<T>) -> Vec<DisputeView<T::AccountId>> {
		let docket = Dockets::<T>::get(defendant);
		docket.entries().iter().filter_map(|entry| Self::view_of(entry.id())).collect()
	}

	/// Returns the disputes about a job, by number. All that run on the chain are looked at.
	pub(crate) fn about(job: JobId) -> Vec<DisputeView<T::AccountId>> {
		let about = |(_, dispute): &(DisputeId, DisputeOf<T>)| dispute.defendant.job() == job;
		let mut ids: Vec<DisputeId> =
			Disputes::<T>::iter().filter(about).map(|(id, _)| id).collect();
		ids.sort_unstable();
		ids.into_iter().filter_map(Self::view_of).collect()
	}

	/// Returns what a defendant posted at a place.
	pub(crate) fn posted_at(defendant: &DefendantOf<T>, place: &Place) -> Option<Roots> {
		Posts::<T>::get((defendant.job(), defendant, place))
	}

	/// Returns what a defendant opened at a place.
	pub(crate) fn opened_at(defendant: &DefendantOf<T>, place: &Place) -> Option<game::Opened> {
		crate::Opened::<T>::get((defendant.job(), defendant, place))
	}

	/// Returns the number of what an account is bound to about a job.
	pub(crate) fn bound(job: JobId, who: &T::AccountId) -> Option<DisputeId> {
		CommittedBy::<T>::get(job, who)
	}
}
