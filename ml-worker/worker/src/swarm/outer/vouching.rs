//! Turns after the training of an outer step: a peer takes the updates of all, and vouches for those that are
//! right.
//!
//! An update is right that is here, can be read, and begins with a model that this peer has for that step as well.
//! Whether it was computed is known of what was computed again: now and then one that the peer draws, and any
//! that somebody says is false. Nobody is believed in that: who hears it computes it again as well, and whoever
//! said it of what is right is not listened to any more. So one honest peer that finds a false contribution is
//! enough for all that have time to look.

use super::{
	turns::{work, Work},
	Review,
};
use crate::swarm::{
	board::Board,
	contact::Expected,
	learner::Slice,
	models,
	peer::{Peer, PeerError, Turn},
	wire::{slice_path, Answer, Question},
};
use futures::future::join_all;
use rand::{
	seq::{IndexedRandom, SliceRandom},
	Rng,
};
use tracing::{debug, warn};
use trainyard_client::{swarm::Contribution, AccountId32};
use trainyard_mixing::Update;
use trainyard_proof::hash;
use trainyard_protocol::{
	swarm::{self, Moment},
	H256,
};
use trainyard_transport::Source;

/// Files that are brought at the same time.
const AT_ONCE: usize = 8;

impl<B: Board> Peer<B> {
	/// Asks some of those who contributed to a step for the roots under the seals, and whose are false: those whose
	/// own is not known, and then others that are drawn. What one of them knows so goes on to all.
	async fn ask_around(
		&mut self,
		step: u32,
		contributions: &[Contribution],
	) -> Result<(), PeerError> {
		let me = *self.me();
		let position = &self.outer()?.position;
		let (mut asked, mut others): (Vec<_>, Vec<_>) = contributions
			.iter()
			.filter(|one| one.peer != me)
			.partition(|one| position.root_under(&one.brought.sealed).is_none());
		asked.shuffle(&mut self.draw);
		others.shuffle(&mut self.draw);
		asked.extend(others);
		let asked: Vec<AccountId32> = asked.into_iter().map(|one| one.peer).collect();
		let (id, genesis) = (self.service.board().swarm_id(), self.service.board().genesis());
		let contact = self.service.contact().clone();
		let asked = self.reached(&asked).into_iter().map(|(who, location)| {
			let contact = contact.clone();
			async move {
				let asked = contact.ask(&location, &Question::Updates(id, step), 0).await;
				(who, asked)
			}
		});
		let mut found = Vec::new();
		let before = self.outer()?.position.opened.len();
		for (who, answer) in join_all(asked).await {
			match answer {
				Ok(Answer::Updates { roots, false_ones }) => {
					self.hear(step, who, false_ones)?;
					found.extend(roots);
				}
				Ok(_) => {}
				Err(e) => debug!("{who}: {e}"),
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

	/// Hears from somebody whose contributions are false.
	fn hear(
		&mut self,
		step: u32,
		from: AccountId32,
		false_ones: Vec<AccountId32>,
	) -> Result<(), PeerError> {
		let me = *self.me();
		let outer = self.outer()?;
		if outer.review.step != step || outer.alarmists.contains(&from) {
			return Ok(());
		}
		for who in false_ones.into_iter().filter(|who| *who != me) {
			outer.review.accused.entry(who).or_insert(from);
		}
		Ok(())
	}

	/// Brings the updates of those contributions to a step whose bits are set. Returns whose is missing.
	pub(super) async fn gather(
		&mut self,
		step: u32,
		contributions: &[Contribution],
		which: u64,
	) -> Result<Option<AccountId32>, PeerError> {
		self.ask_around(step, contributions).await?;
		let bytes = self.outer()?.frame.update_bytes();
		let me = *self.me();
		let mut wanted = Vec::new();
		let mut missing = None;
		for (at, one) in contributions.iter().enumerate() {
			if (which >> at) & 1 == 0 || one.peer == me {
				continue;
			}
			let outer = self.outer()?;
			match outer.position.root_under(&one.brought.sealed) {
				None => missing = Some(one.peer),
				Some(root) if outer.files.has(&root) => {}
				Some(root) => wanted.push((one.peer, root)),
			}
		}
		let id = self.service.board().swarm_id();
		for some in wanted.chunks(AT_ONCE) {
			let files = self.outer()?.files.clone();
			let bringing = some.iter().map(|(who, root)| {
				let from = self.reached(&[*who]);
				let path = crate::swarm::wire::outer_path(id, root);
				let sources: Vec<Source> = from
					.into_iter()
					.map(|(_, location)| Source { location, path: path.clone() })
					.collect();
				let (contact, files, root) = (self.service.contact().clone(), files.clone(), *root);
				async move {
					if sources.is_empty() {
						return false;
					}
					let part = files.part(&root);
					let expected = Expected::Model { root, bytes };
					match contact.bring(expected, &sources, &part, 0).await {
						Ok(_) => files.whole(&root).is_ok(),
						Err(e) => {
							debug!("an update did not come: {e}");
							false
						}
					}
				}
			});
			let came = join_all(bringing).await;
			let lacks = some.iter().zip(came).find(|(_, came)| !came);
			missing = missing.or(lacks.map(|((who, _), _)| *who));
		}
		Ok(missing)
	}

	/// Returns the update of a contribution, where it is here and can be read.
	pub(super) fn update_of(&mut self, one: &Contribution) -> Result<Option<Update>, PeerError> {
		let (id, genesis) = (self.service.board().swarm_id(), self.service.board().genesis());
		let seal = one.brought.sealed;
		let outer = self.outer()?;
		let mut sent = outer.position.sent.iter().rev();
		let own = sent
			.find(|(step, root)| swarm::sealed(&genesis, id, *step, &one.peer, root) == seal)
			.map(|(_, root)| *root);
		let Some(root) = outer.position.root_under(&seal).or(own) else { return Ok(None) };
		let bytes = outer.files.read(&root, outer.frame.update_bytes())?;
		Ok(bytes.and_then(|bytes| outer.frame.read_update(&bytes).ok()))
	}

	/// Takes the updates of a step, computes one again, and vouches.
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
		let missing = self.gather(step, &contributions, u64::MAX).await?;
		let (doubted, bits) = self.judge(step, &contributions)?;
		let seen = self.service.seen();
		let left = moment.until.saturating_sub(seen.height);
		let of = match seen.swarm.plan.averaging {
			swarm::Averaging::Outer(rule) => rule.vouch,
			swarm::Averaging::Pairs => 0,
		};
		// Who does not give its update keeps nobody from vouching for the others in time.
		let is_time = missing.is_none() || left <= of / 2;
		if is_time && self.outer()?.review.vouched != Some(bits) {
			if let Err(e) = self.service.board().vouch(step, bits).await {
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
		let Some(at) = doubted else { return Ok(Turn::Nothing) };
		match contributions.get(at) {
			Some(one) => self.replay(step, one, seed).await,
			None => Ok(Turn::Nothing),
		}
	}

	/// Returns which contribution is to be computed again next, if one is, and for which to vouch.
	fn judge(
		&mut self,
		step: u32,
		contributions: &[Contribution],
	) -> Result<(Option<usize>, u64), PeerError> {
		let me = *self.me();
		let private = self.service.seen().swarm.plan.private;
		let mut right = Vec::new();
		for (at, one) in contributions.iter().enumerate() {
			let base = self.outer()?.position.base(one.brought.base);
			let same = base.is_some_and(|base| {
				(base.model, base.velocity) == (one.brought.model, one.brought.velocity)
			});
			if same && self.fault_of(&one.peer).is_none() && self.update_of(one)?.is_some() {
				right.push((at, one.peer));
			}
		}
		let others: Vec<AccountId32> =
			right.iter().map(|(_, who)| *who).filter(|who| *who != me).collect();
		let draws = !private && self.options.replay > 0.0;
		if self.outer()?.review.drawn.is_none() {
			let drawn = match draws && self.draw.random_bool(self.options.replay.min(1.0)) {
				true => others.choose(&mut self.draw).copied(),
				false => None,
			};
			self.outer()?.review.drawn = Some(drawn);
		}
		let review = &self.outer()?.review;
		debug_assert_eq!(review.step, step);
		let mut doubted = None;
		let mut bits = 0u64;
		for (at, who) in right {
			let accused = !private && review.accused.contains_key(&who);
			let drawn = review.drawn.flatten() == Some(who);
			match review.replayed.get(&who) {
				Some(false) => {}
				None if accused || drawn => {
					if doubted.is_none() || accused {
						doubted = Some(at);
					}
				}
				Some(true) | None => bits |= 1u64.checked_shl(at as u32).unwrap_or_default(),
			}
		}
		Ok((doubted, bits))
	}

	/// Computes a contribution again. What is needed for that and does not come makes it as good as false: so in a
	/// swarm that is not private nobody is vouched for whose rows cannot be had.
	async fn replay(
		&mut self,
		step: u32,
		one: &Contribution,
		seed: &H256,
	) -> Result<Turn, PeerError> {
		let (who, brought) = (one.peer, one.brought);
		let failed = |why: &str| Turn::Failed { who, why: format!("cannot be replayed: {why}") };
		let seen = self.service.seen();
		let Some(peer) = seen.peers.iter().find(|peer| peer.account == who) else {
			return Ok(failed("it has left"));
		};
		let Some(slice) = self.slice_under(&brought.data).await? else {
			return Ok(failed("nobody serves its rows"));
		};
		let bytes = self.outer()?.frame.kept_bytes();
		if one.before != H256::zero() && !self.bring(one.before, bytes, &[who]).await? {
			return Ok(failed("nobody gives what it kept before"));
		}
		let base = self.outer()?.position.base(brought.base);
		let (Some(kept), Some(base)) = (self.kept_under(&one.before)?, base) else {
			return Ok(failed("what it kept before is not of this swarm"));
		};
		let Some((model, _)) = self.model_of(&base)? else {
			return Ok(failed("its model is not here"));
		};
		let seed = swarm::noise(seed, &peer.key, brought.base);
		let frame = self.outer()?.frame.clone();
		let job = Work { model, kept, seed, base: brought.base };
		let done = self.compute(move || work(&frame, &slice, job)).await?;
		let (id, genesis) = (self.service.board().swarm_id(), self.service.board().genesis());
		let right = done.is_ok_and(|done| {
			let root = models::root_of(&done.update);
			swarm::sealed(&genesis, id, step, &who, &root) == brought.sealed
				&& models::root_of(&done.kept) == brought.kept
		});
		let outer = self.outer()?;
		outer.review.replayed.insert(who, right);
		if right {
			if let Some(accuser) = outer.review.accused.remove(&who) {
				outer.alarmists.insert(accuser);
			}
		}
		self.save_outer()?;
		if !right {
			self.standing().drop_for(&who, &format!("its contribution to step {step} is false"));
		}
		Ok(Turn::Replayed { step, who, right })
	}

	/// Returns the slice with this content hash: an own one, or one that somebody serves, which is brought.
	async fn slice_under(
		&mut self,
		data: &H256,
	) -> Result<Option<std::sync::Arc<Slice>>, PeerError> {
		let own = self.learner.slices();
		if let Some(own) = own.into_iter().find(|own| own.data.file.content_hash == *data) {
			return Ok(Some(own));
		}
		let served = self.standing().slices();
		let mut served = served.into_iter().filter(|(_, _, slice)| {
			slice.file.content_hash == *data
				&& slice.labels.is_none()
				&& slice.file.bytes <= crate::swarm::training::MOST_BYTES
		});
		let Some((_, location, slice)) = served.next() else { return Ok(None) };
		let path = self.folder.slice(data).with_extension("replayed");
		let found = hash::file(&path).ok();
		if found.map(|(hash, _)| hash) != Some(*data) {
			let part = self.folder.slice(data).with_extension("part");
			let name = slice_path(self.service.board().swarm_id(), data);
			let sources = [Source { location, path: name }];
			let expected = Expected::File(slice.file.bytes);
			if self.service.contact().bring(expected, &sources, &part, 0).await.is_err() {
				return Ok(None);
			}
			if hash::file(&part).ok().map(|(hash, _)| hash) != Some(*data) {
				models::remove(&part)?;
				return Ok(None);
			}
			std::fs::rename(&part, &path)
				.map_err(trainyard_proof::bundle::files::at("rename", &part))?;
		}
		let (template, me) = (self.learner.template().clone(), *self.me());
		let opened = self.compute(move || Slice::of(&template, slice, &path, &me)).await;
		match opened {
			Ok(slice) => Ok(Some(std::sync::Arc::new(slice))),
			// The counts of rows are its owner's word.
			Err(PeerError::Learn(e)) => {
				debug!("a slice cannot be used: {e}");
				Ok(None)
			}
			Err(e) => Err(e),
		}
	}
}
