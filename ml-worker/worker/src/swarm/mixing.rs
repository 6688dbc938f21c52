//! Turns in which a peer mixes its model with that of another one.

use super::{
	board::Board,
	contact::{ContactError, Expected},
	models,
	paying::owed,
	peer::{Peer, PeerError, Turn, KEPT},
	position::Debt,
	ticket::Signed,
	wire::{model_path, Answer, Question},
};
use rand::seq::IndexedRandom;
use std::time::Instant;
use trainyard_client::AccountId32;
use trainyard_protocol::H256;
use trainyard_transport::{Location, Source, SourceError};

/// Peers beside the maker that are asked for parts of its model, at most.
const MOST_HOLDERS: usize = 4;

impl<B: Board> Peer<B> {
	/// Draws another peer that has announced a model which was not tried yet, and that answered lately. Of each it
	/// is the model that was announced last.
	pub(super) fn candidate(&mut self) -> Option<(AccountId32, Location, H256)> {
		let seen = self.service.seen();
		let own = self.position.own.map(|own| own.root);
		let all: Vec<_> = {
			let standing = self.standing();
			let others = seen.peers.iter().filter(|peer| peer.account != *self.me());
			others
				.filter_map(|peer| {
					let (root, _) = *peer.models.last()?;
					let at = standing.reached(&peer.account)?.clone();
					Some((peer.account, at, root))
				})
				.filter(|(_, _, root)| Some(*root) != own && !self.position.tried.contains(root))
				.collect()
		};
		all.choose(&mut self.draw).cloned()
	}

	/// Returns the ticket with which a turn that was not finished goes on, where it still fits.
	fn unfinished(&mut self) -> Option<(Signed, Location)> {
		let open = self.position.open.clone()?;
		let seen = self.service.seen();
		let fits = self.position.own.is_some_and(|own| own.root == open.ticket.own)
			&& open.ticket.expires >= seen.height
			&& !open.begins();
		let at = self.standing().reached(&open.ticket.maker).cloned();
		match fits {
			// Who does not answer now may answer later: the ticket stays, and somebody else is drawn.
			true => Some((open, at?)),
			false => {
				self.position.open = None;
				None
			}
		}
	}

	/// Mixes with somebody. `None` where nobody is there with whom that was not tried.
	pub(super) async fn mix(&mut self) -> Result<Option<Turn>, PeerError> {
		let Some(own) = self.position.own else { return Ok(None) };
		let (Some(before), Some(state)) = (own.count, self.state.clone()) else { return Ok(None) };
		let (signed, to) = match self.unfinished() {
			Some(unfinished) => unfinished,
			None => {
				let Some((maker, to, remote)) = self.candidate() else { return Ok(None) };
				(self.sign(&maker, own.root, remote)?, to)
			}
		};
		let (maker, remote) = (signed.ticket.maker, signed.ticket.remote);
		if let Err(turn) = self.take_model(&signed, &to).await? {
			return Ok(Some(turn));
		}
		let models = self.service.models();
		let mean = models.mean(&models.bytes(&own.root)?, &models.bytes(&remote)?);
		let mean = mean.and_then(|mean| models.parse(&mean));
		let after = match mean {
			// The sum of two finite numbers can be infinite: no better model.
			Err(_) => None,
			Ok(mean) => {
				let (mixed, learner) =
					(self.learner.state_of(mean, Some(&state)), self.learner.clone());
				let counting = move || {
					let count = learner.count(&mixed)?;
					Ok((mixed, count))
				};
				Some(self.compute(counting).await?)
			}
		};
		let better = after.filter(|(_, after)| after.correct > before.correct);
		let Some((mixed, after)) = better else {
			self.position.open = None;
			self.position.tried.push(remote);
			self.save()?;
			return Ok(Some(Turn::InVain(maker)));
		};
		let amount = owed(&self.service.seen(), before, after);
		if amount > 0 {
			let ticket = signed.digest(&self.service.board().genesis());
			let expires = signed.ticket.expires;
			self.position.debts.push(Debt { to: maker, amount, ticket, expires });
		}
		// The debt is on disk with the model for which it is.
		self.adopt(mixed, Some(after))?;
		self.announce().await?;
		Ok(Some(Turn::Better { maker, before, after, owed: amount }))
	}

	/// Gives a ticket to its maker, and brings the model that it names, if it is not here. Where that does not
	/// work, the error is what the turn came to.
	pub(super) async fn take_model(
		&mut self,
		signed: &Signed,
		to: &Location,
	) -> Result<Result<(), Turn>, PeerError> {
		let (maker, root) = (&signed.ticket.maker, signed.ticket.remote);
		let missed = self.standing().misses(maker);
		let contact = self.service.contact().clone();
		let answer = contact.ask(to, &Question::Promise(signed.clone()), missed).await;
		match answer {
			Ok(Answer::Taken) => {}
			Ok(Answer::Refused(why)) => {
				// Another ticket may be taken, but not at once.
				self.position.open = None;
				self.save()?;
				return Ok(Err(self.fail(maker, ContactError::Refused(why))));
			}
			Ok(Answer::Here { .. } | Answer::Updates { .. }) => {
				return Ok(Err(self.fail(maker, ContactError::Senseless)))
			}
			Err(e) => return Ok(Err(self.fail(maker, e))),
		}
		if !self.service.models().has(&root) {
			if let Err(turn) = self.bring_model(signed, to).await? {
				return Ok(Err(turn));
			}
		}
		self.remotes.retain(|known| *known != root);
		self.remotes.insert(0, root);
		self.remotes.truncate(KEPT);
		// The bytes are those that were announced. They may be no model all the same.
		match self.service.models().read(&root)? {
			Ok(_) => Ok(Ok(())),
			Err(why) => {
				self.service.models().remove(&root)?;
				self.position.open = None;
				self.save()?;
				let maker = *maker;
				Ok(Err(self.drop_peer(&maker, &format!("what it announced is no model: {why}"))))
			}
		}
	}

	/// Brings a model from its maker and from others that have it, each group of bytes from whoever is fast.
	async fn bring_model(
		&mut self,
		signed: &Signed,
		to: &Location,
	) -> Result<Result<(), Turn>, PeerError> {
		let (maker, root) = (signed.ticket.maker, signed.ticket.remote);
		let board = self.service.board();
		let (me, digest) = (*board.me(), signed.digest(&board.genesis()));
		let path = model_path(board.swarm_id(), &root, &digest);
		let contact = self.service.contact().clone();
		let holders: Vec<_> = {
			let holders = self.standing().holders(&root).into_iter();
			holders.filter(|(who, _)| *who != maker && *who != me).take(MOST_HOLDERS).collect()
		};
		// Who has the model serves it to whoever shows the ticket; who does not answer is no source.
		let shown = holders.into_iter().map(|(who, location)| {
			let (contact, question) = (contact.clone(), Question::Promise(signed.clone()));
			async move {
				let answer = contact.ask(&location, &question, 0).await;
				matches!(answer, Ok(Answer::Taken)).then_some((who, location))
			}
		});
		let shown = futures::future::join_all(shown).await;
		let mut from = vec![(maker, to.clone())];
		from.extend(shown.into_iter().flatten());
		let sources: Vec<Source> = from
			.iter()
			.map(|(_, location)| Source { location: location.clone(), path: path.clone() })
			.collect();
		let models = self.service.models();
		let (part, bytes) = (models.part(&root), models.layout().size);
		let missed = self.standing().misses(&maker);
		let brought = contact.bring(Expected::Model { root, bytes }, &sources, &part, missed).await;
		match brought {
			Ok(given_up) => {
				self.drop_liars(&from, &given_up);
				std::fs::rename(&part, self.service.models().path(&root))
					.map_err(trainyard_proof::bundle::files::at("rename", &part))?;
				// What the disk lost of it is asked for once more another time.
				if self.service.models().read(&root)? == Err(models::NoModel::Root) {
					self.service.models().remove(&root)?;
					let why = "what came is not on the disk any more".to_owned();
					return Ok(Err(Turn::Failed { who: maker, why }));
				}
				Ok(Ok(()))
			}
			Err(ContactError::Sources(errors)) => {
				let given_up: Vec<_> = errors.iter().cloned().map(Some).collect();
				let of_maker = errors.first().cloned();
				if given_up.len() == from.len() {
					self.drop_liars(&from, &given_up);
				}
				match of_maker.filter(lies) {
					Some(lie) => {
						self.position.open = None;
						self.save()?;
						Ok(Err(self.drop_peer(&maker, &lie.to_string())))
					}
					None => Ok(Err(self.fail(&maker, ContactError::Sources(errors)))),
				}
			}
			Err(e) => Ok(Err(self.fail(&maker, e))),
		}
	}

	/// Asks those nothing more who gave other bytes than they said.
	pub(super) fn drop_liars(
		&mut self,
		from: &[(AccountId32, Location)],
		given_up: &[Option<SourceError>],
	) {
		for ((who, _), error) in from.iter().zip(given_up) {
			if let Some(lie) = error.clone().filter(lies) {
				self.standing().drop_for(who, &lie.to_string());
			}
		}
	}

	/// Takes note that somebody did not do what it should, and asks others first for a while.
	fn fail(&mut self, who: &AccountId32, why: ContactError) -> Turn {
		self.standing().missed(who, Instant::now());
		Turn::Failed { who: *who, why: why.to_string() }
	}
}

/// Returns whether a source gave something else than it said. That is no matter of the network: connections are
/// those of a key.
fn lies(error: &SourceError) -> bool {
	matches!(error, SourceError::OtherFile | SourceError::WrongBytes { .. })
}
