//! Computing a contribution of somebody else again.

use super::turns::{work, Work};
use crate::swarm::{
	board::Board,
	contact::Expected,
	learner::Slice,
	models,
	peer::{Peer, PeerError, Turn},
	training::MOST_BYTES,
	wire::slice_path,
};
use std::sync::Arc;
use tracing::debug;
use trainyard_client::swarm::Contribution;
use trainyard_proof::hash;
use trainyard_protocol::{swarm, H256};
use trainyard_transport::Source;

impl<B: Board> Peer<B> {
	/// Looks at a contribution of the last steps that others say is false, if there is one at which this peer did not
	/// look: at that first of which most say it.
	pub(super) async fn look_at_accused(&mut self, seed: &H256) -> Result<Turn, PeerError> {
		if self.service.seen().swarm.plan.private {
			return Ok(Turn::Nothing);
		}
		let outer = self.outer()?;
		let (alarmists, replayed) = (&outer.alarmists, &outer.replayed);
		for accusers in outer.accused.values_mut() {
			accusers.retain(|who| !alarmists.contains(who));
		}
		outer.accused.retain(|one, accusers| !accusers.is_empty() && !replayed.contains_key(one));
		let most = outer.accused.iter().max_by_key(|(_, accusers)| accusers.len());
		let Some(((step, who), accusers)) = most.map(|(one, accusers)| (*one, accusers.clone()))
		else {
			return Ok(Turn::Nothing);
		};
		let contributions = self.service.board().step(step).await?;
		let one = contributions.into_iter().find(|one| one.peer == who);
		let replayed = match &one {
			Some(one) => self.replay(step, one, seed).await,
			// What is forgotten by the chain, or never was there.
			None => {
				let why = "cannot be computed again: the chain knows no such contribution";
				Err(PeerError::DidNotCome { who, why })
			}
		};
		match &replayed {
			Ok(true) => self.outer()?.alarmists.extend(accusers),
			Err(PeerError::DidNotCome { .. }) => {
				self.outer()?.accused.remove(&(step, who));
			}
			_ => {}
		}
		Ok(Turn::Replayed { step, who, right: replayed? })
	}

	/// Computes a contribution again, and returns whether it came to the same. Where it is false nobody of this account
	/// is vouched for any more, and others are told.
	pub(super) async fn replay(
		&mut self,
		step: u32,
		one: &Contribution,
		seed: &H256,
	) -> Result<bool, PeerError> {
		let (who, brought) = (one.peer, one.brought);
		let missing = |why| PeerError::DidNotCome { who, why };
		let seen = self.service.seen();
		let Some(peer) = seen.peers.iter().find(|peer| peer.account == who) else {
			return Err(missing("cannot be computed again: it has left"));
		};
		let Some(slice) = self.slice_under(&brought.data).await? else {
			return Err(missing("cannot be computed again: nobody gives its rows"));
		};
		let bytes = self.outer()?.frame.kept_bytes();
		if one.before != H256::zero() && !self.bring(one.before, bytes, &[who]).await? {
			return Err(missing("cannot be computed again: nobody gives what it kept before"));
		}
		let base = self.outer()?.position.base(brought.base);
		let (Some(kept), Some(base)) = (self.kept_under(&one.before)?, base) else {
			return Err(missing(
				"cannot be computed again: what it kept before is not of this swarm",
			));
		};
		let Some((model, _)) = self.model_of(&base)? else {
			return Err(missing("cannot be computed again: its model is not here"));
		};
		let same = (base.model, base.velocity) == (brought.model, brought.velocity);
		let seed = swarm::noise(seed, &peer.key, brought.base);
		let frame = self.outer()?.frame.clone();
		let job = Work { model, kept, seed, base: brought.base };
		let (id, genesis) = (self.service.board().swarm_id(), self.service.board().genesis());
		let right = match self.compute(move || work(&frame, &slice, job)).await {
			Ok(done) => done.is_ok_and(|done| {
				let root = models::root_of(&done.update);
				let update = swarm::sealed(&genesis, id, step, &who, &root) == brought.sealed;
				same && update && models::root_of(&done.kept) == brought.kept
			}),
			// With rows like these nobody comes to anything.
			Err(PeerError::Learn(e)) => {
				debug!("the contribution of {who}: {e}");
				false
			}
			Err(e) => return Err(e),
		};
		let outer = self.outer()?;
		outer.replayed.insert((step, who), right);
		if !right {
			outer.position.false_ones.push((step, who));
			let why = format!("its contribution to step {step} is false");
			self.standing().drop_for(&who, &why);
		}
		self.save_outer()?;
		Ok(right)
	}

	/// Returns whether somebody serves a slice with this content hash, or this peer has it.
	pub(super) fn is_served(&self, data: &H256) -> bool {
		let own = self.learner.slices();
		let mut own = own.iter().map(|own| own.data.file.content_hash);
		let served = || self.standing().slices();
		own.any(|own| own == *data)
			|| served().iter().any(|(_, _, slice)| slice.file.content_hash == *data)
	}

	/// Returns the slice with this content hash: an own one, or one that is brought from whoever serves it.
	async fn slice_under(&mut self, data: &H256) -> Result<Option<Arc<Slice>>, PeerError> {
		let own = self.learner.slices();
		if let Some(own) = own.into_iter().find(|own| own.data.file.content_hash == *data) {
			return Ok(Some(own));
		}
		let served = self.standing().slices();
		let served = served.into_iter().filter(|(_, _, slice)| {
			let file = &slice.file;
			file.content_hash == *data && slice.labels.is_none() && file.bytes <= MOST_BYTES
		});
		let name = slice_path(self.service.board().swarm_id(), data);
		let part = self.folder.slice(data).with_extension("part");
		for (_, location, slice) in served.collect::<Vec<_>>() {
			let sources = [Source { location, path: name.clone() }];
			let expected = Expected::File(slice.file.bytes);
			let contact = self.service.contact();
			if contact.bring(expected, &sources, &part, 0).await.is_err() {
				continue;
			}
			if hash::file(&part).ok().map(|(hash, _)| hash) != Some(*data) {
				models::remove(&part)?;
				continue;
			}
			let (template, me) = (self.learner.template().clone(), *self.me());
			let path = part.clone();
			// How many rows it has is read from it, whatever anybody says.
			let opened = self.compute(move || Slice::open(&template, &path, &me)).await;
			models::remove(&part)?;
			return match opened {
				Ok(slice) => Ok(Some(Arc::new(slice))),
				Err(PeerError::Learn(e)) => {
					debug!("a slice cannot be used: {e}");
					Ok(None)
				}
				Err(e) => Err(e),
			};
		}
		Ok(None)
	}
}
