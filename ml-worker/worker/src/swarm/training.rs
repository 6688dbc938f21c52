//! Turns in which a peer begins, takes data, and trains.

use super::{
	board::Board,
	contact::{ContactError, Expected},
	learner::{LearnError, Slice},
	models,
	peer::{Peer, PeerError, Turn},
	ticket::Signed,
	wire::slice_path,
};
use crate::roles::store::{load, save};
use rand::seq::IndexedRandom;
use std::{path::Path, sync::Arc, time::Instant};
use trainyard_client::AccountId32;
use trainyard_engine::TensorMap;
use trainyard_proof::hash;
use trainyard_protocol::{federation::PartData, swarm::role};
use trainyard_transport::{Location, Source};

/// Most bytes of a slice that is taken from others.
pub(super) const MOST_BYTES: u64 = 1 << 30;

impl<B: Board> Peer<B> {
	/// Takes a model to begin with: the best one on chain, or, without data, that of somebody whom it draws.
	pub(super) async fn begin(&mut self) -> Result<Turn, PeerError> {
		if self.options.data.is_empty() && self.does(role::MIX) {
			if let Some((maker, to, root)) = self.candidate() {
				let signed = match self.position.open.clone() {
					Some(open) if open.begins() && open.ticket.maker == maker => open,
					_ => self.sign(&maker, root, root)?,
				};
				return match self.take_model(&signed, &to).await? {
					Ok(()) => {
						let model = self.model(&signed.ticket.remote).await?;
						self.adopt(self.learner.state_of(model, None), None)?;
						Ok(Turn::Began(Some(maker)))
					}
					Err(turn) => Ok(turn),
				};
			}
			let seen = self.service.seen();
			let others = seen.peers.iter().filter(|peer| peer.account != *self.me());
			let somebody = others.into_iter().any(|peer| !peer.models.is_empty());
			if somebody && !self.standing().all_were_asked() {
				return Ok(Turn::Nothing);
			}
		}
		let best = self.service.seen().swarm.best.root;
		let models = self.service.models();
		let bytes = match models.has(&best) {
			true => models.bytes(&best)?,
			false => self.service.board().blob(best, models.layout().size).await?,
		};
		let model = models.parse(&bytes).map_err(PeerError::Model)?;
		self.adopt(self.learner.state_of(model, None), None)?;
		Ok(Turn::Began(None))
	}

	/// Returns whether it trains in this turn, if nothing else is to be done.
	pub(super) fn may_train(&self) -> bool {
		let slices = u32::try_from(self.learner.slices().len()).unwrap_or(u32::MAX);
		let all = self.options.passes.saturating_mul(slices);
		let goes_on = self.options.passes == 0 || self.position.trained < all;
		let next = self.next_slice().filter(|_| self.does(role::TRAIN) && goes_on);
		next.is_some_and(|slice| self.affords(&slice))
	}

	/// Returns the slice on which it trains next.
	fn next_slice(&self) -> Option<Arc<Slice>> {
		let slices = self.learner.slices();
		let count = u32::try_from(slices.len()).unwrap_or(u32::MAX);
		let at = self.position.trained.checked_rem(count)?;
		slices.get(at as usize).cloned()
	}

	/// Returns whether it mixes. A peer that trains does that with each of its slices once before: where models are
	/// worse than chance, a mean with garbage is better.
	pub(super) fn may_mix(&self) -> bool {
		let slices = u32::try_from(self.learner.slices().len()).unwrap_or(u32::MAX);
		let begun = !self.does(role::TRAIN) || self.position.trained >= slices;
		// Who may give nothing away any more does not train first.
		let begun = begun || self.next_slice().is_some_and(|slice| !self.affords(&slice));
		self.does(role::MIX) && slices > 0 && begun
	}

	/// Computes in a thread of its own, so that others are served meanwhile.
	pub(super) async fn compute<T: Send + 'static>(
		&self,
		work: impl FnOnce() -> Result<T, LearnError> + Send + 'static,
	) -> Result<T, PeerError> {
		Ok(tokio::task::spawn_blocking(work).await??)
	}

	/// Counts what the present model gets right, where that is not known.
	pub(super) async fn recount(&mut self) -> Result<(), PeerError> {
		let (Some(own), Some(state)) = (self.position.own, self.state.clone()) else {
			return Ok(());
		};
		if own.count.is_none() {
			let learner = self.learner.clone();
			let count = self.compute(move || learner.count(&state)).await?;
			self.position.own = Some(super::position::Own { count: Some(count), ..own });
			self.save()?;
		}
		Ok(())
	}

	/// Trains on the next slice.
	pub(super) async fn train(&mut self) -> Result<Turn, PeerError> {
		let (Some(slice), Some(state)) = (self.next_slice(), self.state.clone()) else {
			return Ok(Turn::Nothing);
		};
		let count = u32::try_from(self.learner.slices().len()).unwrap_or(u32::MAX);
		let passes = self.position.trained.checked_div(count).unwrap_or_default();
		let (learner, privacy) = (self.learner.clone(), self.options.privacy);
		let spent = match &privacy {
			Some(privacy) => Some(self.spent_after(privacy, &slice)?),
			None => None,
		};
		let work = move || {
			let trained = match privacy {
				Some(privacy) => slice.train_hiding(&state, passes, privacy.hiding)?,
				None => slice.train(&state, passes)?,
			};
			let count = learner.count(&trained)?;
			Ok((trained, count))
		};
		let (trained, count) = self.compute(work).await?;
		self.position.trained = self.position.trained.saturating_add(1);
		if let Some(spent) = &spent {
			self.give_away(spent);
		}
		if !is_finite(&trained) {
			// It diverged: the model from before is as good as it was, and another slice comes next.
			self.save()?;
			return Ok(Turn::Trained(self.position.own.and_then(|own| own.count).unwrap_or(count)));
		}
		self.adopt(trained, Some(count))?;
		self.tell_privacy()?;
		Ok(Turn::Trained(count))
	}

	/// Opens the slices that were taken before.
	pub(super) async fn reopen_slices(&mut self) -> Result<(), PeerError> {
		let folder = self.folder.path("slices");
		let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
		let mut records: Vec<_> = entries.map(|entry| entry.path()).collect();
		records.sort();
		for record in records.iter().filter(|path| path.extension().is_some_and(|e| e == "json")) {
			let Some(data) = load::<PartData>(record)? else { continue };
			let path = self.folder.slice(&data.file.content_hash);
			if path.is_file() {
				self.add_slice(data, &path).await?;
			}
		}
		Ok(())
	}

	async fn add_slice(&mut self, data: PartData, path: &Path) -> Result<(), PeerError> {
		let (template, me) = (self.learner.template().clone(), *self.me());
		let path = path.to_owned();
		let sharing = self.options.sharing.clone();
		let opening = move || Slice::of(&template, data, &path, &me)?.shared(sharing.as_ref());
		let slice = self.compute(opening).await?;
		if let Some(privacy) = &self.options.privacy {
			privacy.check(&slice)?;
		}
		// Who took a slice can give it to others as well as its owner.
		if self.does(role::DATA) {
			self.service.serve_slice(slice.data.clone(), slice.path.clone());
		}
		self.learner.add(slice);
		Ok(())
	}

	/// Takes a slice that somebody serves, where this peer has no data and not enough of others'.
	pub(super) async fn take_slice(&mut self) -> Result<Option<Turn>, PeerError> {
		let has = self.learner.slices();
		let private = self.service.seen().swarm.plan.private;
		if !self.options.data.is_empty() || private || has.len() >= self.options.slices {
			return Ok(None);
		}
		let is_new = |data: &PartData| {
			has.iter().all(|own| own.data.file.content_hash != data.file.content_hash)
		};
		let served = self.standing().slices();
		let offered: Vec<(AccountId32, Location, PartData)> = served
			.into_iter()
			.filter(|(_, _, data)| {
				is_new(data) && data.file.bytes <= MOST_BYTES && data.labels.is_none()
			})
			.collect();
		let Some((who, to, data)) = offered.choose(&mut self.draw).cloned() else {
			return Ok(None);
		};
		let path = self.folder.slice(&data.file.content_hash);
		let part = path.with_extension("part");
		let same = |other: &&(AccountId32, Location, PartData)| other.2 == data;
		let name = slice_path(self.service.board().swarm_id(), &data.file.content_hash);
		let mut sources = vec![Source { location: to.clone(), path: name.clone() }];
		for (_, location, _) in offered.iter().filter(same) {
			let source = Source { location: location.clone(), path: name.clone() };
			if !sources.contains(&source) {
				sources.push(source);
			}
		}
		let missed = self.standing().misses(&who);
		let bringing =
			self.service.contact().bring(Expected::File(data.file.bytes), &sources, &part, missed);
		if let Err(e) = bringing.await {
			if let ContactError::Local { .. } = e {
				return Ok(Some(Turn::Failed { who, why: e.to_string() }));
			}
			self.standing().missed(&who, Instant::now());
			return Ok(Some(Turn::Failed { who, why: e.to_string() }));
		}
		let found = hash::file(&part).ok();
		if found != Some((data.file.content_hash, data.file.bytes)) {
			models::remove(&part)?;
			return Ok(Some(self.drop_peer(&who, "it serves another slice than it says")));
		}
		std::fs::rename(&part, &path)
			.map_err(trainyard_proof::bundle::files::at("rename", &part))?;
		if let Err(PeerError::Learn(e)) = self.add_slice(data.clone(), &path).await {
			models::remove(&path)?;
			return Ok(Some(self.drop_peer(&who, &format!("its slice cannot be used: {e}"))));
		}
		save(&path.with_extension("json"), &data)?;
		// What the model gets right is counted by more rows from now on.
		if let Some(own) = &mut self.position.own {
			own.count = None;
		}
		self.save()?;
		Ok(Some(Turn::TookSlice(who)))
	}

	/// Asks somebody nothing more, because of what it did.
	pub(super) fn drop_peer(&mut self, who: &AccountId32, why: &str) -> Turn {
		self.standing().drop_for(who, why);
		Turn::Dropped { who: *who, why: why.to_owned() }
	}

	/// Returns a model that is here.
	pub(super) async fn model(
		&self,
		root: &trainyard_protocol::H256,
	) -> Result<TensorMap, PeerError> {
		self.service.models().read(root)?.map_err(PeerError::Model)
	}

	/// Signs a promise, which is on disk when this returns.
	pub(super) fn sign(
		&mut self,
		maker: &AccountId32,
		own: trainyard_protocol::H256,
		remote: trainyard_protocol::H256,
	) -> Result<Signed, PeerError> {
		let board = self.service.board();
		let seen = self.service.seen();
		let ticket = trainyard_client::swarm::Ticket {
			swarm: board.swarm_id(),
			payer: *board.me(),
			maker: *maker,
			own,
			remote,
			expires: trainyard_client::swarm::expires(seen.height, &seen.swarm.plan),
			nonce: self.position.nonce,
		};
		let signed = Signed::by(&self.key, &board.genesis(), ticket);
		self.position.nonce = self.position.nonce.wrapping_add(1);
		self.position.open = Some(signed.clone());
		self.position.signed.push(signed.clone());
		self.save()?;
		self.service.signed(&self.position.signed);
		Ok(signed)
	}
}

fn is_finite(state: &TensorMap) -> bool {
	state.values().all(|tensor| tensor.data.iter().all(|x| x.is_finite()))
}
