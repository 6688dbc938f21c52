//! What clients ask.

use crate::{
	Claims, Config, Contributions, Doubts, Pallet, Peer, Peers, Slices, Swarm, Swarms, Templates,
};
use alloc::vec::Vec;
use trainyard_protocol::{
	swarm::{ClaimView, Contribution, DoubtView, PeerView, SliceView, SwarmId, SwarmView},
	H256,
};

impl<T: Config> Pallet<T> {
	/// Returns the swarm with this number, until it is forgotten.
	pub fn view(id: SwarmId) -> Option<SwarmView<T::AccountId>> {
		let template = Templates::<T>::get(id)?;
		let swarm = Swarms::<T>::get(id)?;
		let mut slices: Vec<SliceView<T::AccountId>> = Slices::<T>::iter_prefix(id)
			.map(|(number, slice)| SliceView {
				number,
				owner: slice.owner,
				data: slice.data,
				waits: swarm.waiting.contains(&number),
			})
			.collect();
		slices.sort_by_key(|slice| slice.number);
		let claims = (0..swarm.claims).filter_map(|number| {
			let claim = Claims::<T>::get(id, number)?;
			let said = claim.said.as_ref();
			let mixing = said.and_then(|spoken| spoken.mixing.as_ref());
			Some(ClaimView {
				number,
				commitment: claim.commitment,
				model: said.map(|spoken| spoken.model),
				base: said.map(|spoken| spoken.base_model(swarm.compared)),
				counts: said.map(|spoken| (spoken.new, spoken.base)),
				payer: mixing.map(|mixing| mixing.payer.clone()),
				remote: mixing.map(|mixing| mixing.remote),
				refuter: claim.refuter,
				claimant: claim.claimant,
			})
		});
		let doubts = Doubts::<T>::get(id).into_iter().map(|doubt| DoubtView {
			model: doubt.model,
			challenge: doubt.challenge.map(|challenge| (challenge.challenger, challenge.job)),
			failures: doubt.failures,
			proven: doubt.proven,
		});
		Some(SwarmView {
			id,
			template,
			claims: claims.collect(),
			doubts: doubts.collect(),
			slices,
			opener: swarm.opener,
			plan: swarm.plan,
			began: swarm.began,
			seed: swarm.seed,
			stage: swarm.stage,
			round: swarm.round,
			round_began: swarm.round_began,
			previous_began: swarm.previous_began,
			best: swarm.best,
			progress: swarm.progress,
			budget: swarm.budget,
			peers: swarm.peers,
			shares: swarm.shares,
			steps: swarm.steps.into_inner(),
		})
	}

	/// Returns the numbers of the swarms that are on record, at most `count` of those after `after`, by number.
	pub fn numbers(after: Option<SwarmId>, count: u32) -> Vec<SwarmId> {
		let mut all: Vec<SwarmId> =
			Swarms::<T>::iter_keys().filter(|id| after.is_none_or(|after| *id > after)).collect();
		all.sort_unstable();
		all.truncate(count as usize);
		all
	}

	/// Returns a peer as clients see it.
	fn peer_view(
		swarm: &Swarm<T::AccountId>,
		account: T::AccountId,
		peer: Peer<T::AccountId>,
	) -> PeerView<T::AccountId> {
		let owed = Self::owed(swarm, &peer);
		let Peer {
			key,
			since,
			roles,
			location,
			purse,
			models,
			paid,
			earned,
			shares,
			kept,
			leaving,
			..
		} = peer;
		let models = models.into_inner();
		PeerView {
			account,
			key,
			since,
			roles,
			location,
			models,
			purse,
			paid,
			earned,
			shares,
			owed,
			kept,
			leaving,
		}
	}

	/// Returns one peer of a swarm.
	pub fn peer(id: SwarmId, account: &T::AccountId) -> Option<PeerView<T::AccountId>> {
		let (swarm, peer) = (Swarms::<T>::get(id)?, Peers::<T>::get(id, account)?);
		Some(Self::peer_view(&swarm, account.clone(), peer))
	}

	/// Returns the digests of the tickets for which a peer paid this maker, as long as they are remembered.
	pub fn paid(id: SwarmId, payer: &T::AccountId, maker: &T::AccountId) -> Vec<H256> {
		let settled = Peers::<T>::get(id, payer).map(|peer| peer.settled).unwrap_or_default();
		let to = settled.into_iter().filter(|settled| settled.to == *maker);
		to.map(|settled| settled.ticket).collect()
	}

	/// Returns the peers of a swarm, at most `count` of those after `after`, by account.
	pub fn peers(
		id: SwarmId,
		after: Option<T::AccountId>,
		count: u32,
	) -> Vec<PeerView<T::AccountId>> {
		let mut keys: Vec<T::AccountId> = Peers::<T>::iter_key_prefix(id)
			.filter(|account| after.as_ref().is_none_or(|after| account > after))
			.collect();
		keys.sort_unstable();
		keys.truncate(count as usize);
		let Some(swarm) = Swarms::<T>::get(id) else { return Vec::new() };
		let view = |account| {
			let peer = Peers::<T>::get(id, &account)?;
			Some(Self::peer_view(&swarm, account, peer))
		};
		keys.into_iter().filter_map(view).collect()
	}

	/// Returns the contributions to an outer step, in their order, as long as they are remembered.
	pub fn step(id: SwarmId, step: u32) -> Vec<Contribution<T::AccountId>> {
		Contributions::<T>::get(id, step).into_inner()
	}
}
