//! Who joins, announces models, pays and leaves.
//!
//! A peer is an account with a key that speaks for it. Whoever joins first with a key keeps it: somebody who
//! shows the same signature is refused, and it is shown. The last models that peers announced are remembered
//! with who was first, so nobody is paid as the maker of what another one made.
//!
//! A peer pays what it owes by itself. What it paid for a ticket is remembered until the ticket expires, since
//! its maker may claim what is missing. So a peer that leaves waits as long: its purse answers for what it
//! signed.

use crate::{
	Announced, Config, Error, Event, HoldReason, Keys, Pallet, Payments, Peer, Peers, Settled,
	Swarm, Swarms,
};
use frame_support::{
	ensure,
	pallet_prelude::DispatchResult,
	traits::{fungible::Mutate, tokens::Preservation, Get},
	BoundedVec,
};
use frame_system::pallet_prelude::BlockNumberFor;
use sp_core::ed25519;
use sp_runtime::traits::Zero;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	swarm::{self, role, Payment, Plan, Stage, SwarmId, MAX_ANNOUNCED, MAX_TICKETS},
	Text, H256,
};

impl<T: Config> Pallet<T> {
	/// Returns the hash of the first block, which keeps what is signed and committed from other chains.
	pub(crate) fn genesis() -> H256 {
		let hash = frame_system::Pallet::<T>::block_hash(BlockNumberFor::<T>::zero());
		let mut bytes = [0; 32];
		bytes.iter_mut().zip(hash.as_ref()).for_each(|(to, from)| *to = *from);
		H256(bytes)
	}

	/// Returns whether a key signed this digest.
	pub(crate) fn is_signed(key: &H256, digest: &H256, signature: &ed25519::Signature) -> bool {
		let key = ed25519::Public::from_raw(key.0);
		sp_io::crypto::ed25519_verify(signature, &digest.0, &key)
	}

	fn check_roles(roles: u8, plan: &Plan) -> Result<(), Error<T>> {
		ensure!(roles & !role::ALL == 0, Error::<T>::NoSuchRole);
		ensure!(roles & role::DATA == 0 || !plan.private, Error::<T>::IsPrivate);
		Ok(())
	}

	pub(crate) fn do_join(
		who: T::AccountId,
		id: SwarmId,
		key: H256,
		signature: &ed25519::Signature,
		roles: u8,
		location: Text,
	) -> DispatchResult {
		let mut swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		ensure!(Self::takes_claims(&swarm), Error::<T>::HasEnded);
		let digest = swarm::joining(&Self::genesis(), id, &who);
		ensure!(Self::is_signed(&key, &digest, signature), Error::<T>::BadSignature);
		ensure!(!Peers::<T>::contains_key(id, &who), Error::<T>::IsPeer);
		Self::check_roles(roles, &swarm.plan)?;
		if let Some(first) = Keys::<T>::get(id, key) {
			Self::deposit_event(Event::Duplicate { swarm: id, key, first, second: who });
			return Ok(());
		}
		ensure!(swarm.peers < swarm.plan.max_peers, Error::<T>::TooManyPeers);
		let deposit = T::PeerDeposit::get();
		Self::hold(HoldReason::Peer, &who, deposit)?;
		swarm.peers = swarm.peers.saturating_add(1);
		Keys::<T>::insert(id, key, &who);
		let peer = Peer {
			key,
			since: Self::now(),
			roles,
			location,
			deposit,
			purse: 0,
			models: BoundedVec::new(),
			settled: BoundedVec::new(),
			claimed: BoundedVec::new(),
			paid: 0,
			earned: 0,
			from_budget: 0,
			shares: 0,
			// What shares bring before it has any is not its.
			entered: swarm.per_share,
			owed: 0,
			kept: H256::zero(),
			leaving: None,
		};
		Peers::<T>::insert(id, &who, peer);
		Swarms::<T>::insert(id, swarm);
		Self::deposit_event(Event::Joined { swarm: id, peer: who, key, roles });
		Ok(())
	}

	pub(crate) fn do_update(
		who: T::AccountId,
		id: SwarmId,
		roles: u8,
		location: Text,
	) -> DispatchResult {
		let swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		let mut peer = Peers::<T>::get(id, &who).ok_or(Error::<T>::NotPeer)?;
		Self::check_roles(roles, &swarm.plan)?;
		(peer.roles, peer.location) = (roles, location);
		Peers::<T>::insert(id, &who, peer);
		Self::deposit_event(Event::Updated { swarm: id, peer: who, roles });
		Ok(())
	}

	pub(crate) fn do_announce(who: T::AccountId, id: SwarmId, root: H256) -> DispatchResult {
		let swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		ensure!(Self::takes_claims(&swarm), Error::<T>::HasEnded);
		let mut peer = Peers::<T>::get(id, &who).ok_or(Error::<T>::NotPeer)?;
		ensure!(!Announced::<T>::contains_key(id, root), Error::<T>::IsAnnounced);
		if peer.models.len() >= MAX_ANNOUNCED as usize {
			let (oldest, at) = peer.models.remove(0);
			// A ticket for it may still be claimed by.
			let until = at.saturating_add(swarm.plan.ticket_blocks);
			ensure!(until < Self::forgets_before(&swarm), Error::<T>::TooManyModels);
			Announced::<T>::remove(id, oldest);
		}
		// There is room.
		let _ = peer.models.try_push((root, Self::now()));
		Announced::<T>::insert(id, root, &who);
		Peers::<T>::insert(id, &who, peer);
		Self::deposit_event(Event::Announced { swarm: id, peer: who, root });
		Ok(())
	}

	pub(crate) fn do_fund(who: T::AccountId, id: SwarmId, amount: Balance) -> DispatchResult {
		let mut peer = Peers::<T>::get(id, &who).ok_or(Error::<T>::NotPeer)?;
		ensure!(amount > 0, Error::<T>::NothingToPay);
		let swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		ensure!(Self::takes_claims(&swarm), Error::<T>::HasEnded);
		Self::hold(HoldReason::Purse, &who, amount)?;
		peer.purse = peer.purse.checked_add(amount).ok_or(Error::<T>::AmountOverflow)?;
		let purse = peer.purse;
		Peers::<T>::insert(id, &who, peer);
		Self::deposit_event(Event::Funded { swarm: id, peer: who, purse });
		Ok(())
	}

	/// Returns what [`swarm::forgets_before`] says of a swarm now.
	pub(crate) fn forgets_before(swarm: &Swarm<T::AccountId>) -> BlockNumber {
		let Swarm { stage, round_began, previous_began, .. } = swarm;
		swarm::forgets_before(stage, Self::now(), *round_began, *previous_began)
	}

	pub(crate) fn do_pay(
		who: T::AccountId,
		id: SwarmId,
		payments: Payments<T::AccountId>,
	) -> DispatchResult {
		let swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		let mut peer = Peers::<T>::get(id, &who).ok_or(Error::<T>::NotPeer)?;
		ensure!(!payments.is_empty(), Error::<T>::NothingToPay);
		let before = Self::forgets_before(&swarm);
		peer.settled.retain(|settled| settled.expires >= before);
		let last = Self::now().saturating_add(swarm.plan.ticket_blocks);
		for Payment { to, amount, ticket, expires } in payments {
			ensure!(to != who, Error::<T>::OwnTicket);
			ensure!(amount > 0, Error::<T>::NothingToPay);
			ensure!((before..=last).contains(&expires), Error::<T>::BadExpiry);
			let mut maker = Peers::<T>::get(id, &to).ok_or(Error::<T>::NotPeer)?;
			T::Currency::transfer(&who, &to, amount, Preservation::Preserve)?;
			let same =
				|settled: &&mut Settled<T::AccountId>| settled.ticket == ticket && settled.to == to;
			match peer.settled.iter_mut().find(same) {
				Some(settled) => settled.paid = settled.paid.saturating_add(amount),
				None => {
					let settled = Settled { ticket, to: to.clone(), paid: amount, expires };
					let room = peer.settled.try_push(settled);
					room.map_err(|_| Error::<T>::TooManyTickets)?;
				}
			}
			peer.paid = peer.paid.saturating_add(amount);
			maker.earned = maker.earned.saturating_add(amount);
			Peers::<T>::insert(id, &to, maker);
			let from = who.clone();
			Self::deposit_event(Event::Paid { swarm: id, from, to, amount, ticket });
		}
		Peers::<T>::insert(id, &who, peer);
		Ok(())
	}

	/// Notes that a maker claims by a ticket; fails where it did before, or where too many are remembered.
	pub(crate) fn use_ticket(
		swarm: &Swarm<T::AccountId>,
		maker: &mut Peer<T::AccountId>,
		ticket: H256,
		expires: BlockNumber,
	) -> Result<(), Error<T>> {
		let before = Self::forgets_before(swarm);
		maker.claimed.retain(|(_, expires)| *expires >= before);
		ensure!(!maker.claimed.iter().any(|(one, _)| *one == ticket), Error::<T>::WrongTicket);
		ensure!(maker.claimed.len() < MAX_TICKETS as usize, Error::<T>::TooManyTickets);
		let _ = maker.claimed.try_push((ticket, expires));
		Ok(())
	}

	pub(crate) fn do_leave(who: T::AccountId, id: SwarmId) -> DispatchResult {
		let mut swarm = Swarms::<T>::get(id).ok_or(Error::<T>::NoSuchSwarm)?;
		let mut peer = Peers::<T>::get(id, &who).ok_or(Error::<T>::NotPeer)?;
		if swarm.stage != Stage::Ended {
			let now = Self::now();
			let since = peer.leaving.unwrap_or(now);
			let (collect, holds) = (swarm.plan.stages.collect, swarm.plan.ticket_blocks);
			let from = since.saturating_add(holds).saturating_add(collect);
			if peer.leaving.is_none() {
				peer.leaving = Some(now);
				Peers::<T>::insert(id, &who, peer);
				Self::deposit_event(Event::Leaving { swarm: id, peer: who, from });
				return Ok(());
			}
			// Whoever could not claim while a round ran has as long as claims are collected.
			let ready = match swarm.stage {
				Stage::Idle => now > from.max(swarm.idle_since.saturating_add(collect)),
				_ => swarm.previous_began > from,
			};
			ensure!(ready, Error::<T>::TooSoon);
		}
		swarm.peers = swarm.peers.saturating_sub(1);
		Self::redeem(id, &mut swarm, &who, &mut peer);
		Swarms::<T>::insert(id, swarm);
		Self::let_go(id, &who, &peer);
		Ok(())
	}

	/// Removes a peer, which has back what is held of it.
	pub(crate) fn let_go(id: SwarmId, who: &T::AccountId, peer: &Peer<T::AccountId>) {
		for (root, _) in &peer.models {
			Announced::<T>::remove(id, root);
		}
		Keys::<T>::remove(id, peer.key);
		Peers::<T>::remove(id, who);
		Self::give_back(HoldReason::Purse, who, peer.purse);
		Self::give_back(HoldReason::Peer, who, peer.deposit);
		let returned = peer.purse.saturating_add(peer.deposit);
		Self::deposit_event(Event::Left { swarm: id, peer: who.clone(), returned });
	}
}
