//! Turns after the training of an outer step: a peer takes the updates of all, and vouches for those that are
//! right.
//!
//! An update is right that is here, can be read, begins with a model that this peer has for that step as well, and
//! whose rows somebody serves, where data are shared. Whether it was computed is known of what was computed again:
//! now and then one that the peer draws, and any that somebody says is false. Nobody is believed in that: who hears
//! it computes it again as well, vouches meanwhile as it did, and listens no more to whoever said it of what is
//! right. So one honest peer that finds a false contribution is enough for all that have time to look, in that step
//! or in one of the next.

use super::Review;
use crate::swarm::{
	board::Board,
	contact::Expected,
	peer::{Peer, PeerError, Turn},
	wire::{outer_path, Answer, Question},
};
use futures::{future::join_all, stream, StreamExt};
use rand::{
	seq::{IndexedRandom, SliceRandom},
	Rng,
};
use std::{sync::Arc, time::Duration};
use tracing::{debug, warn};
use trainyard_client::{swarm::Contribution, AccountId32};
use trainyard_mixing::Update;
use trainyard_protocol::{
	swarm::{self, Averaging, Moment},
	H256,
};
use trainyard_transport::Source;

/// Files that are brought at the same time.
const AT_ONCE: usize = 8;
/// Of those who are asked in one turn, so many at most whose own root is not known.
const MOST_SILENT: usize = 3;
/// Longest time for updates in one turn: what came of one stays, and the next turn goes on with it. Who serves
/// slowly keeps nobody from looking at the height.
const GATHERING: Duration = Duration::from_secs(8);

impl<B: Board> Peer<B> {
	/// Asks some of those who contributed to a step for the roots under the seals, and whose are false: some whose
	/// own is not known, and others that are drawn. What one of them knows so goes on to all.
	async fn ask_around(
		&mut self,
		step: u32,
		contributions: &[Contribution],
	) -> Result<(), PeerError> {
		let me = *self.me();
		let position = &self.outer()?.position;
		let (mut silent, mut others): (Vec<_>, Vec<_>) = contributions
			.iter()
			.filter(|one| one.peer != me)
			.partition(|one| position.root_under(&one.brought.sealed).is_none());
		silent.shuffle(&mut self.draw);
		others.shuffle(&mut self.draw);
		let rest = silent.split_off(silent.len().min(MOST_SILENT));
		let asked = silent.into_iter().chain(others).chain(rest);
		let asked: Vec<AccountId32> = asked.map(|one| one.peer).collect();
		let (id, genesis) = (self.service.board().swarm_id(), self.service.board().genesis());
		let contact = self.service.contact().clone();
		let asked = self.reached(&asked).into_iter().map(|(who, location)| {
			let contact = contact.clone();
			async move {
				let question = Question::Updates(id, step);
				let asked = contact.ask(&location, &question, 0);
				(who, tokio::time::timeout(GATHERING, asked).await)
			}
		});
		let mut found = Vec::new();
		let before = self.outer()?.position.opened.len();
		for (who, answer) in join_all(asked).await {
			match answer {
				Ok(Ok(Answer::Updates { roots, false_ones })) => {
					self.hear(who, false_ones)?;
					found.extend(roots);
				}
				Ok(Ok(_)) | Err(_) => {}
				Ok(Err(e)) => debug!("{who}: {e}"),
			}
		}
		let outer = self.outer()?;
		for one in contributions {
			let seal = one.brought.sealed;
			let is_under = |root: &H256| swarm::sealed(&genesis, id, step, &one.peer, root) == seal;
			if outer.position.root_under(&seal).is_none() {
				let root = found.iter().find(|(known, root)| *known == seal && is_under(root));
				if let Some((_, root)) = root {
					outer.position.opened.push((step, seal, *root));
				}
			}
		}
		match self.outer()?.position.opened.len() > before {
			true => self.save_outer(),
			false => Ok(()),
		}
	}

	/// Hears from somebody whose contributions to which steps are false.
	fn hear(
		&mut self,
		from: AccountId32,
		false_ones: Vec<(u32, AccountId32)>,
	) -> Result<(), PeerError> {
		let me = *self.me();
		let outer = self.outer()?;
		if outer.alarmists.contains(&from) {
			return Ok(());
		}
		for (step, who) in false_ones {
			// One of them that this peer could not look at is of no use to it.
			if who != me && outer.position.base(step).is_some() {
				outer.accused.entry((step, who)).or_default().insert(from);
			}
		}
		Ok(())
	}

	/// Brings the updates of those contributions to a step whose bits are set; fails with the first that is missing
	/// then. First are asked who made one, and those who vouch for it, since they have it.
	pub(super) async fn gather(
		&mut self,
		step: u32,
		contributions: &[Contribution],
		which: u64,
	) -> Result<(), PeerError> {
		self.ask_around(step, contributions).await?;
		let mut wanted = Vec::new();
		let mut missing = Vec::new();
		for (at, one) in contributions.iter().enumerate() {
			if (which >> at) & 1 == 0 {
				continue;
			}
			let Some(root) = self.root_of(one)? else {
				missing.push(one.peer);
				continue;
			};
			if !self.outer()?.files.has(&root) {
				let has = |other: &&Contribution| {
					other.vouches.is_some_and(|vouches| (vouches >> at) & 1 == 1)
				};
				let mut whose: Vec<_> =
					contributions.iter().filter(has).map(|other| other.peer).collect();
				whose.shuffle(&mut self.draw);
				whose.insert(0, one.peer);
				whose.dedup();
				wanted.push((root, self.reached(&whose)));
				missing.push(one.peer);
			}
		}
		let id = self.service.board().swarm_id();
		let (bytes, files) = (self.outer()?.frame.update_bytes(), self.outer()?.files.clone());
		let contact = self.service.contact();
		let bringing = wanted.into_iter().map(|(root, from)| {
			let path = outer_path(id, &root);
			let sources: Vec<Source> = from
				.into_iter()
				.map(|(_, location)| Source { location, path: path.clone() })
				.collect();
			let (contact, files) = (contact.clone(), files.clone());
			async move {
				if sources.is_empty() {
					return;
				}
				let part = files.part(&root);
				let expected = Expected::Model { root, bytes };
				match contact.bring(expected, &sources, &part, 0).await {
					Ok(_) => {
						if let Err(e) = files.whole(&root) {
							warn!("{e}");
						}
					}
					Err(e) => debug!("an update did not come: {e}"),
				}
			}
		});
		let bringing = stream::iter(bringing).buffer_unordered(AT_ONCE).collect::<Vec<()>>();
		// What does not come in this turn comes in another one.
		let _ = tokio::time::timeout(GATHERING, bringing).await;
		for one in contributions.iter().filter(|one| missing.contains(&one.peer)) {
			match self.root_of(one)? {
				Some(root) if self.outer()?.files.has(&root) => {}
				_ => {
					return Err(PeerError::DidNotCome {
						who: one.peer,
						why: "nobody gave its update",
					})
				}
			}
		}
		Ok(())
	}

	/// Returns the root of the update of a contribution, where it is known.
	fn root_of(&mut self, one: &Contribution) -> Result<Option<H256>, PeerError> {
		let (id, genesis) = (self.service.board().swarm_id(), self.service.board().genesis());
		let seal = one.brought.sealed;
		let position = &self.outer()?.position;
		let mut sent = position.sent.iter().rev();
		let own =
			sent.find(|(step, root)| swarm::sealed(&genesis, id, *step, &one.peer, root) == seal);
		Ok(position.root_under(&seal).or(own.map(|(_, root)| *root)))
	}

	/// Returns the update of a contribution to a step; nothing where its bytes are here, and are none.
	pub(super) fn update_of(
		&mut self,
		step: u32,
		one: &Contribution,
	) -> Result<Option<Arc<Update>>, PeerError> {
		let missing = |why| PeerError::DidNotCome { who: one.peer, why };
		let root = self.root_of(one)?.ok_or(missing("nobody says the root of its update"))?;
		let outer = self.outer()?;
		// It is served to others as well, so that it was here once is not enough.
		if !outer.files.has(&root) {
			return Err(missing("its update is not on the disk"));
		}
		if let Some(known) = outer.read.of(step).get(&root) {
			return Ok(known.clone());
		}
		let bytes = outer.files.read(&root, outer.frame.update_bytes())?;
		let bytes = bytes.ok_or(missing("its update was damaged on the disk"))?;
		let update = outer.frame.read_update(&bytes).ok().map(Arc::new);
		outer.read.of(step).insert(root, update.clone());
		Ok(update)
	}

	/// Takes the updates of a step, vouches, and computes one again.
	pub(super) async fn vouch(
		&mut self,
		moment: Moment,
		contributions: Vec<Contribution>,
		seed: &H256,
	) -> Result<Turn, PeerError> {
		let step = moment.step;
		if self.outer()?.review.step != step {
			self.outer()?.review = Review { step, ..Review::default() };
		}
		let is_whole = match self.gather(step, &contributions, u64::MAX).await {
			Ok(()) => true,
			Err(PeerError::DidNotCome { .. }) => false,
			Err(e) => return Err(e),
		};
		let seen = self.service.refresh().await?;
		let left = moment.until.saturating_sub(seen.height);
		let of = match seen.swarm.plan.averaging {
			Averaging::Outer(rule) => rule.vouch,
			Averaging::Pairs => 0,
		};
		// Who does not give its update keeps nobody from vouching for the others in time.
		let is_time = is_whole || left <= of / 2;
		let (drawn, bits) = self.judge(&contributions, is_time)?;
		if is_time && self.outer()?.review.vouched != Some(bits) {
			let list = swarm::list_of(&contributions);
			if let Err(e) = self.service.board().vouch(step, &list, bits).await {
				if e.is_final() {
					return Err(e.into());
				}
				warn!("nothing was vouched for in step {step}: {e}");
				return Ok(Turn::Nothing);
			}
			self.outer()?.review.vouched = Some(bits);
			let count = bits.count_ones() as usize;
			return Ok(Turn::Vouched { step, count, of: contributions.len() });
		}
		match self.look_at_accused(seed).await? {
			Turn::Nothing => {}
			turn => return Ok(turn),
		}
		let Some(one) = drawn.and_then(|at| contributions.get(at)) else {
			return Ok(Turn::Nothing);
		};
		let replayed = self.replay(step, one, seed).await;
		if let Err(PeerError::DidNotCome { .. }) = &replayed {
			self.outer()?.review.unserved.insert(one.peer);
		}
		Ok(Turn::Replayed { step, who: one.peer, right: replayed? })
	}

	/// Returns which contribution was drawn to be computed again and was not yet, if one was, and for which to vouch.
	/// It is drawn when all are here that come in time, or who is late would never be drawn.
	fn judge(
		&mut self,
		contributions: &[Contribution],
		draws: bool,
	) -> Result<(Option<usize>, u64), PeerError> {
		let me = *self.me();
		let private = self.service.seen().swarm.plan.private;
		let step = self.outer()?.review.step;
		let mut right = Vec::new();
		for (at, one) in contributions.iter().enumerate() {
			let base = self.outer()?.position.base(one.brought.base);
			let same = base.is_some_and(|base| {
				(base.model, base.velocity) == (one.brought.model, one.brought.velocity)
			});
			let served = private || one.peer == me || self.is_served(&one.brought.data);
			let good = same && served && self.fault_of(&one.peer).is_none();
			if !good {
				continue;
			}
			match self.update_of(step, one) {
				Ok(Some(_)) => right.push((at, one.peer)),
				Ok(None) | Err(PeerError::DidNotCome { .. }) => {}
				Err(e) => return Err(e),
			}
		}
		let others: Vec<AccountId32> =
			right.iter().map(|(_, who)| *who).filter(|who| *who != me).collect();
		if draws && self.outer()?.review.drawn.is_none() {
			let looks = !private && self.draw.random_bool(self.options.replay.clamp(0.0, 1.0));
			let drawn = if looks { others.choose(&mut self.draw).copied() } else { None };
			self.outer()?.review.drawn = Some(drawn);
		}
		let outer = self.outer()?;
		let mut waits = None;
		let mut bits = 0u64;
		for (at, who) in right {
			let drawn = outer.review.drawn.flatten() == Some(who);
			match outer.replayed.get(&(step, who)) {
				Some(false) => continue,
				// Rows that cannot be had are as good as none.
				None if outer.review.unserved.contains(&who) => continue,
				None if drawn => waits = Some(at),
				_ => {}
			}
			// What was drawn is vouched for until it turns out to be false, or time would decide.
			bits |= 1u64.checked_shl(at as u32).unwrap_or_default();
		}
		Ok((waits, bits))
	}
}
