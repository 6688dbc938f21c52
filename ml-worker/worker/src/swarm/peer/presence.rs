//! A peer among the others: it joins, says where it is and what it has, and asks who is there.

use super::{Peer, PeerError};
use crate::swarm::{
	board::Board,
	service::{location_of, Seen},
	wire::{Answer, Question},
};
use serde_json::json;
use std::{sync::PoisonError, time::Instant};
use tracing::warn;
use trainyard_client::swarm::PeerView;
use trainyard_protocol::{
	swarm::{self, MAX_ANNOUNCED},
	H256,
};

impl<B: Board> Peer<B> {
	/// Returns its peer as the chain has it.
	fn on_chain<'a>(&self, seen: &'a Seen) -> Option<&'a PeerView> {
		seen.peers.iter().find(|peer| peer.account == *self.me())
	}

	/// Joins, and says where it is by now.
	pub(super) async fn be_there(&mut self, seen: &Seen) -> Result<(), PeerError> {
		let board = self.service.board();
		let (roles, place) = (self.options.roles, self.location.to_string_lossy());
		match self.on_chain(seen) {
			Some(peer) if peer.roles == roles && peer.location == self.location => return Ok(()),
			Some(_) => board.update(roles, &place).await?,
			None => {
				let digest = swarm::joining(&board.genesis(), board.swarm_id(), board.me());
				let signature = self.key.sign(digest.as_bytes()).to_bytes();
				let key = H256(*self.key.public().as_bytes());
				board.join(&key, &signature, roles, &place).await?;
				let peers = board.peers().await?;
				if peers.iter().all(|peer| peer.account != *board.me()) {
					return Err(PeerError::KeyTaken);
				}
				self.report.general("joined", &format!("joined at {place}"), json!({ "key": key }));
			}
		}
		self.service.refresh().await?;
		Ok(())
	}

	/// Announces the present model, unless that was done, or the chain remembers as many as it does for as long as
	/// tickets for them may be claimed by: then others take an earlier one meanwhile.
	pub(in crate::swarm) async fn announce(&mut self) -> Result<(), PeerError> {
		let Some(own) = self.position.own else { return Ok(()) };
		let seen = self.service.seen();
		// A model with which several begin is that of whoever said so first.
		let known = |peer: &PeerView| peer.models.iter().any(|(root, _)| *root == own.root);
		if seen.peers.iter().any(known) {
			return Ok(());
		}
		let place = self.on_chain(&seen).map(|peer| &peer.models);
		let full = place.filter(|models| models.len() >= MAX_ANNOUNCED as usize);
		let oldest = full.and_then(|models| models.first()).map(|(_, at)| *at);
		let view = &seen.swarm;
		let (began, previous) = (view.round_began, view.previous_began);
		let before = swarm::forgets_before(&view.stage, seen.height, began, previous);
		let held = |at: u32| at.saturating_add(view.plan.ticket_blocks) >= before;
		if oldest.is_some_and(held) {
			return Ok(());
		}
		let announced = self.service.board().announce(&own.root).await;
		let seen = self.service.refresh().await?;
		match announced {
			// Somebody was first meanwhile.
			Err(_) if seen.peers.iter().any(known) => Ok(()),
			Err(e) if e.is_final() => Err(e.into()),
			// It trains on, and tries again at its next turn.
			Err(e) => {
				let text = e.to_string();
				if self.refusal.as_ref() != Some(&text) {
					warn!("{text}; trying again");
					self.refusal = Some(text);
				}
				Ok(())
			}
			Ok(()) => {
				self.refusal = None;
				Ok(())
			}
		}
	}

	/// Asks others in the background whether they are there, and what they have.
	pub(super) fn look_around(&mut self) {
		let (seen, now) = (self.service.seen(), Instant::now());
		let only = self.options.locations.only();
		let usable = |peer: &PeerView| {
			let location = location_of(peer)?;
			let among = match only {
				Some(only) => location.among(only),
				None => location,
			};
			among.leads_there().then_some(among)
		};
		let (moved, due) = {
			let mut standing = self.standing();
			let moved = standing.are(&seen.peers, self.me(), usable);
			(moved, standing.due(now))
		};
		for (who, location, missed) in due {
			let (contact, standing) = (self.service.contact().clone(), self.standing.clone());
			let hello = Question::Hello(self.service.board().swarm_id());
			// Where it is now no old connection leads.
			let is_elsewhere = moved.iter().any(|before| before.id == location.id);
			tokio::spawn(async move {
				if is_elsewhere {
					contact.node().moved(location.id).await;
				}
				let answer = contact.ask(&location, &hello, missed).await;
				let mut standing = standing.lock().unwrap_or_else(PoisonError::into_inner);
				// It moved meanwhile, and is asked there.
				if !standing.is_at(&who, &location) {
					return;
				}
				match answer {
					Ok(Answer::Here { models, slices }) => {
						standing.answered(&who, Instant::now(), models, slices);
					}
					Ok(_) => standing.missed(&who, Instant::now()),
					Err(e) => {
						tracing::debug!("{who}: {e}");
						standing.missed(&who, Instant::now());
					}
				}
			});
		}
	}
}
