//! What clients ask.

use crate::{Config, Federation, Federations, Pallet, ProposedPieces, Rounds, Templates};
use alloc::vec::Vec;
use trainyard_protocol::federation::{
	FederationId, FederationView, PartView, Pieces, ProposalView,
};

impl<T: Config> Pallet<T> {
	/// Returns the federation with this number, until it is forgotten.
	pub fn view(id: FederationId) -> Option<FederationView<T::AccountId>> {
		let template = Templates::<T>::get(id)?;
		let Federation {
			submitter,
			terms,
			plan,
			fees,
			stage,
			round,
			since,
			initial,
			parts,
			undecided,
			tainted,
			proposals,
			..
		} = Federations::<T>::get(id)?;
		let parts = parts.into_iter().zip(template.parts).map(|(part, data)| PartView {
			data,
			attempts: part.attempts,
			job: part.job,
			answer: part.answer,
			given_up: part.given_up,
		});
		let proposals = proposals.into_iter().map(|proposal| ProposalView {
			number: proposal.number,
			proposer: proposal.proposer,
			root: proposal.root,
			parameters: proposal.parameters,
			until: proposal.until,
		});
		Some(FederationView {
			id,
			submitter,
			template: template.spec,
			terms,
			plan,
			stage,
			round,
			since,
			initial,
			parts: parts.collect(),
			proposals: proposals.collect(),
			rounds: (0..round).filter_map(|round| Rounds::<T>::get(id, round)).collect(),
			undecided: u32::try_from(undecided.len()).unwrap_or(u32::MAX),
			tainted,
			fees,
		})
	}

	/// Returns the numbers of the federations that are on record, at most `count` of those after `after`, by
	/// number.
	pub fn numbers(after: Option<FederationId>, count: u32) -> Vec<FederationId> {
		let mut all: Vec<FederationId> = Federations::<T>::iter_keys()
			.filter(|id| after.is_none_or(|after| *id > after))
			.collect();
		all.sort_unstable();
		all.truncate(count as usize);
		all
	}

	/// Returns the pieces of a proposal that stands.
	pub fn pieces(id: FederationId, proposal: u32) -> Option<Pieces> {
		ProposedPieces::<T>::get(id, proposal)
	}
}
