//! Commitments to gains, and what they turn out to be about.
//!
//! A claim is committed to before the slice is drawn by which it is measured, so nobody fits a model to the
//! slice, and before its model is served, so nobody claims what somebody else made. Whoever has seen the slice
//! and does not like it cannot step back: a claim of which nothing is said loses its stake. From the moment on
//! that it is said which models are meant, blocks keep room for them, and nobody takes them away.

use crate::{
	Announced, Claim, Claims, Config, Error, Event, HoldReason, Mixing, Pallet, Peers, Promise,
	Said, SaidPieces, Spoken, Swarm, Swarms, Which,
};
use frame_support::{ensure, pallet_prelude::DispatchResult};
use sp_core::ed25519;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	blob,
	federation::{self, Pieces},
	model_file::Layout,
	swarm::{self, Count, Model, Payer, Stage, SwarmId, MAX_CLAIMS, MAX_OWN_CLAIMS, MAX_TICKETS},
	H256,
};
use trainyard_traits::{AwaitedBlobs, BlobStore};

/// A mixing of a claim, with the pieces of the payer's model.
type Mixed<T> = (Mixing<<T as frame_system::Config>::AccountId>, Pieces);

impl<T: Config> Pallet<T> {
	/// Returns how many pieces a call names.
	pub(crate) fn count_pieces(said: &Said<T::AccountId>) -> u32 {
		let own = said.promise.as_ref().map_or(0, |promise| promise.own_pieces.len());
		u32::try_from(said.pieces.len().saturating_add(own)).unwrap_or(u32::MAX)
	}

	pub(crate) fn do_claim(who: T::AccountId, id: SwarmId, commitment: H256) -> DispatchResult {
		let mut swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		let peer = Peers::<T>::get(id, &who).ok_or(Error::<T>::NotPeer)?;
		ensure!(peer.leaving.is_none(), Error::<T>::IsLeaving);
		ensure!(Self::takes_claims(&swarm), Error::<T>::HasEnded);
		let now = Self::now();
		match swarm.stage {
			Stage::Idle => {
				ensure!(!swarm.waiting.is_empty(), Error::<T>::NothingToDraw);
				let until = now.saturating_add(swarm.plan.stages.collect);
				swarm.stage = Stage::Collecting { until };
				swarm.compared = swarm.best;
				let (began, end) = (swarm.began, swarm.planned_end);
				swarm.pace = swarm.plan.reward.pace.at(began, now, end);
				swarm.drawable = swarm.next_slice;
				swarm.previous_began = swarm.round_began;
				(swarm.round_began, swarm.claims, swarm.said, swarm.draws) = (now, 0, 0, 0);
				Self::schedule(id, until.saturating_add(1));
			}
			Stage::Collecting { until } if now <= until => {}
			_ => return Err(Error::<T>::RoundRuns.into()),
		}
		let claim = swarm.claims;
		ensure!(claim < MAX_CLAIMS, Error::<T>::TooManyClaims);
		let others = (0..claim).filter_map(|claim| Claims::<T>::get(id, claim));
		let own = others.filter(|claim| claim.claimant == who).count();
		ensure!(own < MAX_OWN_CLAIMS as usize, Error::<T>::TooManyClaims);
		// It must be possible to say what they are about.
		let before = Self::forgets_before(&swarm);
		let live = peer.claimed.iter().filter(|(_, expires)| *expires >= before).count();
		let room = live.saturating_add(MAX_OWN_CLAIMS as usize) <= MAX_TICKETS as usize;
		ensure!(room, Error::<T>::TooManyTickets);
		let held = swarm.plan.reward.stake.saturating_add(swarm.plan.claim_fee);
		Self::hold(HoldReason::Claim, &who, held)?;
		swarm.claims = claim.saturating_add(1);
		let round = swarm.round;
		Swarms::<T>::insert(id, swarm);
		let (claimant, said, refuter) = (who.clone(), None, None);
		Claims::<T>::insert(id, claim, Claim { claimant, commitment, held, said, refuter });
		Self::deposit_event(Event::Claimed { swarm: id, round, claim, claimant: who });
		Ok(())
	}

	/// Returns the model of these pieces; fails where they are not those of one.
	fn model(
		swarm: &Swarm<T::AccountId>,
		layout: &Layout,
		content: &H256,
		pieces: &Pieces,
	) -> Result<Model, Error<T>> {
		let root = blob::root_of(swarm.size, content);
		let parameters = federation::parameters(layout, pieces);
		Ok(Model { root, parameters: parameters.map_err(|_| Error::<T>::BadPieces)? })
	}

	/// Returns whether all models of a claim are complete on chain.
	pub(crate) fn is_whole(swarm: &Swarm<T::AccountId>, spoken: &Spoken<T::AccountId>) -> bool {
		let mixing = spoken.mixing.iter().flat_map(|mixing| [mixing.own.root, mixing.remote]);
		let mut roots = core::iter::once(spoken.model.root).chain(mixing);
		roots.all(|root| T::Blobs::size(&root) == Some(swarm.size) && T::Blobs::is_complete(&root))
	}

	/// Checks the ticket of a claim, and takes it: nobody claims by it again.
	fn take_promise(
		who: &T::AccountId,
		id: SwarmId,
		swarm: &Swarm<T::AccountId>,
		layout: &Layout,
		promise: Promise<T::AccountId>,
	) -> Result<Mixed<T>, Error<T>> {
		let Promise { ticket, signature, own_content, own_pieces } = promise;
		let fits = ticket.swarm == id && ticket.maker == *who;
		ensure!(fits, Error::<T>::WrongTicket);
		ensure!(ticket.payer != *who, Error::<T>::OwnTicket);
		// While a round runs nobody can claim: what expires in it holds for the next.
		let last = swarm.round_began.saturating_add(swarm.plan.stages.collect);
		let last = last.saturating_add(swarm.plan.ticket_blocks);
		let holds = swarm.previous_began..=last;
		ensure!(holds.contains(&ticket.expires), Error::<T>::BadExpiry);
		let payer = Peers::<T>::get(id, &ticket.payer).ok_or(Error::<T>::NotPeer)?;
		let digest = ticket.digest(&Self::genesis());
		let signature = ed25519::Signature::from_raw(signature);
		ensure!(Self::is_signed(&payer.key, &digest, &signature), Error::<T>::BadSignature);
		let maker = Announced::<T>::get(id, ticket.remote);
		ensure!(maker.as_ref() == Some(who), Error::<T>::NotAnnounced);
		let own = Self::model(swarm, layout, &own_content, &own_pieces)?;
		ensure!(own.root == ticket.own, Error::<T>::WrongTicket);
		let mut maker = Peers::<T>::get(id, who).ok_or(Error::<T>::NotPeer)?;
		Self::use_ticket(swarm, &mut maker, digest, ticket.expires)?;
		Peers::<T>::insert(id, who, maker);
		let (payer, remote) = (ticket.payer, ticket.remote);
		Ok((Mixing { payer, ticket: digest, own, own_content, remote }, own_pieces))
	}

	pub(crate) fn do_say(
		who: T::AccountId,
		id: SwarmId,
		number: u32,
		said: Said<T::AccountId>,
		salt: &[u8; 32],
	) -> DispatchResult {
		let mut swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		let Stage::Counting { slice, .. } = swarm.stage else {
			return Err(Error::<T>::NotCounting.into());
		};
		let mut claim = Claims::<T>::get(id, number).ok_or(Error::<T>::NoSuchClaim)?;
		ensure!(claim.claimant == who, Error::<T>::NotClaimant);
		ensure!(claim.said.is_none(), Error::<T>::WasSaid);
		let root = blob::root_of(swarm.size, &said.content);
		let genesis = Self::genesis();
		let ticket = said.promise.as_ref().map(|promise| promise.ticket.digest(&genesis));
		let made = swarm::commitment(&genesis, id, &who, &root, ticket.as_ref(), salt);
		ensure!(made == claim.commitment, Error::<T>::WrongCommitment);
		let data = Self::slice(id, slice)?.data;
		let labels = swarm.labels;
		let fits = |count: &Count| count.labels == labels && count.correct <= labels;
		ensure!(fits(&said.new) && fits(&said.base), Error::<T>::BadCount);
		let layout = Self::layout(id, &data)?;
		let model = Self::model(&swarm, &layout, &said.content, &said.pieces)?;
		let mixed = match (swarm.plan.payer, said.promise) {
			(Payer::Budget, None) => None,
			(Payer::Budget, Some(_)) => return Err(Error::<T>::NeedsNoTicket.into()),
			(Payer::Peers, None) => return Err(Error::<T>::NoTicket.into()),
			(Payer::Peers, Some(promise)) => {
				Some(Self::take_promise(&who, id, &swarm, &layout, promise)?)
			}
		};

		T::Blobs::expect(&model.root);
		SaidPieces::<T>::insert(id, (number, Which::New), said.pieces);
		let mixing = mixed.map(|(mixing, pieces)| {
			T::Blobs::expect(&mixing.own.root);
			T::Blobs::expect(&mixing.remote);
			SaidPieces::<T>::insert(id, (number, Which::Own), pieces);
			mixing
		});
		let (content, new, base) = (said.content, said.new, said.base);
		claim.said = Some(Spoken { model, content, new, base, mixing });
		Claims::<T>::insert(id, number, claim);
		swarm.said = swarm.said.saturating_add(1);
		if swarm.said >= swarm.claims {
			Self::hasten(id);
		}
		Swarms::<T>::insert(id, swarm);
		let root = model.root;
		Self::deposit_event(Event::Said { swarm: id, claim: number, model: root, new, base });
		Ok(())
	}

	/// Removes what is kept of a claim, and lets go of its blobs.
	pub(crate) fn drop_claim(id: SwarmId, number: u32, claim: &Claim<T::AccountId>) {
		Claims::<T>::remove(id, number);
		let Some(spoken) = &claim.said else { return };
		SaidPieces::<T>::remove(id, (number, Which::New));
		T::Blobs::release(&spoken.model.root, core::slice::from_ref(&claim.claimant));
		if let Some(mixing) = &spoken.mixing {
			SaidPieces::<T>::remove(id, (number, Which::Own));
			T::Blobs::release(&mixing.own.root, &[]);
			T::Blobs::release(&mixing.remote, core::slice::from_ref(&claim.claimant));
		}
	}
}
