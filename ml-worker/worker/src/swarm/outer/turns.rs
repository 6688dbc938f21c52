//! Turns while an outer step trains: a peer goes on to the model of the step, trains from it, and commits to what
//! came of that.

use super::{
	position::{Base, Pending},
	steps::Kept,
	Outer,
};
use crate::swarm::{
	board::Board,
	contact::Expected,
	learner::{Learner, Slice},
	models,
	peer::{Peer, PeerError, Turn},
	service::Seen,
	wire::outer_path,
};
use codec::Encode;
use rand::seq::SliceRandom;
use std::{collections::BTreeMap, sync::Arc};
use tracing::warn;
use trainyard_client::{swarm::Contribution, AccountId32};
use trainyard_engine::TensorMap;
use trainyard_mixing::{Counted, Update};
use trainyard_program::lower::OPTIMIZER_PREFIX;
use trainyard_proof::hash;
use trainyard_protocol::{
	swarm::{self, role, Averaging, Brought, OuterRule, KEPT_STEPS, MAX_LATE},
	H256,
};
use trainyard_transport::{Location, Source};

/// Peers that are asked for one file at once, at most.
const MOST_SOURCES: usize = 5;
/// Models of which is looked whether blocks changed what they were computed from.
const LOOKED_AT: usize = 4;

/// Returns what names the contributions to a step, as they are on chain.
fn digest(contributions: &[Contribution]) -> H256 {
	hash::blake2_256(&contributions.encode())
}

/// What a contribution is made of.
pub(super) struct Work {
	pub model: TensorMap,
	pub kept: Kept,
	pub seed: H256,
	pub base: u32,
}

/// What came of it.
pub(super) struct Done {
	pub update: Vec<u8>,
	pub kept: Vec<u8>,
}

/// Computes a contribution: the same to the bit, whoever computes it.
pub(super) fn work(
	frame: &super::Frame,
	slice: &Slice,
	work: Work,
) -> Result<Result<Done, super::StepError>, crate::swarm::learner::LearnError> {
	let Work { model, mut kept, seed, base } = work;
	slice.is_enough()?;
	let mut state = model.clone();
	state.extend(kept.optimizer);
	let mut trained = slice.train_from(state, seed, base, frame.rule().inner)?;
	let optimizer: TensorMap = {
		let names: Vec<String> =
			trained.keys().filter(|name| name.starts_with(OPTIMIZER_PREFIX)).cloned().collect();
		names.into_iter().filter_map(|name| trained.remove_entry(&name)).collect()
	};
	kept.optimizer = optimizer;
	Ok(frame
		.contribute(&mut kept.residual, &model, &trained)
		.map(|update| Done { update, kept: frame.write_kept(&kept) }))
}

impl<B: Board> Peer<B> {
	/// Takes one turn of a swarm of outer steps.
	pub(in crate::swarm) async fn outer_turn(
		&mut self,
		rule: OuterRule,
		seen: Arc<Seen>,
	) -> Result<Turn, PeerError> {
		match self.turn_of(rule, seen).await {
			Err(PeerError::DidNotCome { who, why }) => {
				Ok(Turn::Failed { who, why: why.to_owned() })
			}
			turn => turn,
		}
	}

	async fn turn_of(&mut self, rule: OuterRule, seen: Arc<Seen>) -> Result<Turn, PeerError> {
		let Some(seed) = seen.swarm.seed else { return Ok(Turn::Nothing) };
		let moment = rule.moment(seen.swarm.began, seen.height);
		self.look_at_pending(&seen)?;
		if let Some(turn) = self.be_at(moment.step, &seen).await? {
			return Ok(turn);
		}
		if let Some(turn) = self.take_slice().await? {
			return Ok(turn);
		}
		self.outer_recount().await?;
		if !self.does(role::TRAIN) {
			return Ok(Turn::Nothing);
		}
		let contributions = self.service.board().step(moment.step).await?;
		let has = contributions.iter().any(|one| one.peer == *self.me());
		match (moment.trains, has) {
			(true, false) => self.contribute(rule, moment.step, &seed).await,
			(false, true) => self.vouch(moment, contributions, &seed).await,
			// There is time to look at what others say is false.
			(true, true) => self.look_at_accused(&seed).await,
			(false, false) => Ok(Turn::Nothing),
		}
	}

	pub(super) fn outer(&mut self) -> Result<&mut Outer, PeerError> {
		self.outer.as_mut().ok_or(PeerError::NoOuterSteps)
	}

	/// Writes down where it stands, and tells others what they may know.
	pub(in crate::swarm) fn save_outer(&mut self) -> Result<(), PeerError> {
		let root = self.folder.path("");
		let genesis = self.service.board().genesis();
		let (id, me) = (self.service.board().swarm_id(), *self.me());
		let outer = self.outer()?;
		outer.position.save(&root)?;
		let own = outer.position.sent.iter();
		let own =
			own.map(|(step, root)| (*step, swarm::sealed(&genesis, id, *step, &me, root), *root));
		let roots = own.chain(outer.position.opened.iter().copied()).collect();
		let models = outer.position.bases.iter().flat_map(|base| [base.model, base.velocity]);
		let false_ones = outer.position.false_ones.clone();
		let told = super::Told { models: models.collect(), roots, false_ones };
		self.service.tell(told);
		Ok(())
	}

	/// Takes note of what the chain says that this peer kept: what it sent came into a block, or its block gave way
	/// to another one. Fails where that is not in the folder.
	fn look_at_pending(&mut self, seen: &Seen) -> Result<(), PeerError> {
		let me = *self.me();
		let on_chain = seen.peers.iter().find(|peer| peer.account == me).map(|peer| peer.kept);
		let outer = self.outer()?;
		let position = &mut outer.position;
		let Some(kept) = on_chain.filter(|kept| *kept != position.kept) else {
			return Ok(());
		};
		match (position.pending, position.last_sent) {
			(Some(pending), _) if pending.kept == kept => {
				position.last_sent = Some((pending, position.kept));
				position.pending = None;
			}
			(None, Some((sent, before))) if before == kept => position.pending = Some(sent),
			// It left, and joined again.
			_ if kept == H256::zero() => (position.pending, position.last_sent) = (None, None),
			_ if outer.files.has(&kept) => position.pending = None,
			_ => return Err(PeerError::KeptElsewhere(kept)),
		}
		position.kept = kept;
		self.save_outer()
	}

	/// Is at the model of this step, or returns the turn that was taken on the way there.
	async fn be_at(&mut self, step: u32, seen: &Arc<Seen>) -> Result<Option<Turn>, PeerError> {
		let Some(last) = self.outer()?.position.last() else {
			return self.begin_outer(step, seen).await.map(Some);
		};
		if let Some(turn) = self.look_for_changes(seen).await? {
			return Ok(Some(turn));
		}
		if last.step >= step {
			return Ok(None);
		}
		let is_forgotten = seen.swarm.steps.len() >= KEPT_STEPS as usize
			&& seen.swarm.steps.first().is_some_and(|first| *first > last.step);
		if is_forgotten {
			// What counted meanwhile others know.
			return self.begin_outer(step, seen).await.map(Some);
		}
		let contributions = self.service.board().step(last.step).await?;
		let of = Some(digest(&contributions));
		let next = Base { step: last.step.saturating_add(1), of, ..last };
		let counted = swarm::counted(&contributions);
		if counted == 0 {
			self.outer()?.position.go_on(next);
			self.save_outer()?;
			self.tidy_outer()?;
			return Ok(Some(Turn::Stepped {
				step: next.step,
				counted: 0,
				of: contributions.len(),
			}));
		}
		match self.gather(last.step, &contributions, counted).await {
			Ok(()) => {}
			Err(missing @ PeerError::DidNotCome { .. }) => {
				// Who cannot compute the model takes it from others, as soon as they have it.
				let is_newer = seen.swarm.steps.last().is_some_and(|newest| *newest > last.step);
				let from = last.step.saturating_add(1);
				let joined = if is_newer { self.join_majority(seen, from).await? } else { None };
				return joined.map(Some).ok_or(missing);
			}
			Err(e) => return Err(e),
		}
		let Some((model, velocity)) = self.model_of(&last)? else {
			return self.begin_outer(step, seen).await.map(Some);
		};
		let updates = self.counted(last.step, &contributions, counted)?;
		let of = updates.len();
		let frame = self.outer()?.frame.clone();
		let (model, velocity) =
			tokio::task::spawn_blocking(move || frame.next(&model, velocity.as_ref(), &updates))
				.await??;
		let (model, velocity) = self.put_model(&model, velocity.as_ref())?;
		self.go_to(Base { model, velocity, ..next })?;
		Ok(Some(Turn::Stepped { step: next.step, counted: of, of: contributions.len() }))
	}

	/// Looks whether what the last models were computed from is still on chain: blocks of the last heights may give
	/// way to others. Goes back where not. Where what counts of the step before begins with another model than this
	/// peer has, it takes that of the others. What was looked at once its blocks were final is not asked for again.
	async fn look_for_changes(&mut self, seen: &Arc<Seen>) -> Result<Option<Turn>, PeerError> {
		let Averaging::Outer(rule) = seen.swarm.plan.averaging else { return Ok(None) };
		let outer = self.outer()?;
		let (bases, settled) = (outer.position.bases.clone(), outer.settled);
		let may_change = |at: usize, before: &Base, after: &Base| {
			let is_known = seen.swarm.steps.first().is_some_and(|first| *first <= before.step);
			let is_late = at.saturating_add(LOOKED_AT) >= bases.len();
			after.of.is_some() && is_known && is_late && before.step >= settled
		};
		let pairs = bases.windows(2).enumerate().filter_map(|(at, pair)| match pair {
			[before, after] if may_change(at, before, after) => Some((at, *before, *after)),
			_ => None,
		});
		let pairs: Vec<(usize, Base, Base)> = pairs.collect();
		if pairs.is_empty() {
			return Ok(None);
		}
		// Before the contributions: those are of a block that has this one below it.
		let last_final = self.service.board().last_final().await?;
		for (at, before, after) in pairs {
			let contributions = self.service.board().step(before.step).await?;
			if after.of != Some(digest(&contributions)) {
				let outer = self.outer()?;
				outer.position.bases.truncate(at.saturating_add(1));
				self.save_outer()?;
				return Ok(Some(Turn::WentBack(before.step)));
			}
			if let Some(found) = majority(&contributions) {
				let own = bases.iter().find(|base| base.step == found.base);
				let differs = own.is_some_and(|own| (own.model, own.velocity) != found.roots);
				let is_last = at.saturating_add(2) == bases.len();
				if differs && is_last && !found.whose.contains(self.me()) {
					let step = before.step;
					warn!("what counts of step {step} begins with another model: takes that");
					return self.join_majority(seen, 0).await;
				}
			}
			let outer = self.outer()?;
			// In order, so that none before it is left out.
			if rule.is_over(seen.swarm.began, before.step, last_final) {
				outer.settled = outer.settled.max(before.step.saturating_add(1));
			}
		}
		Ok(None)
	}

	/// Begins: with the model that most contributions of the last step begin with that has any, or with the best
	/// one on chain where there are none.
	async fn begin_outer(&mut self, step: u32, seen: &Arc<Seen>) -> Result<Turn, PeerError> {
		if let Some(newest) = seen.swarm.steps.last() {
			if let Some(turn) = self.join_majority(seen, 0).await? {
				return Ok(turn);
			}
			// Where nobody has contributed for long, those who did may be gone for good.
			let is_old = newest.saturating_add(MAX_LATE) < step;
			if !is_old || !self.standing().all_were_asked() {
				return Ok(Turn::Nothing);
			}
		}
		let root = seen.swarm.best.root;
		let models = self.service.models();
		let bytes = match models.has(&root) {
			true => models.bytes(&root)?,
			false => self.service.board().blob(root, models.layout().size).await?,
		};
		let model = models.parse(&bytes).map_err(PeerError::Model)?;
		let frame = self.outer()?.frame.clone();
		let velocity = frame.has_velocity().then(|| frame.nothing());
		let (model, velocity) = self.put_model(&model, velocity.as_ref())?;
		self.go_to(Base { step, model, velocity, of: None })?;
		Ok(Turn::Began(None))
	}

	/// Takes the model with which most contributions begin that count, of the newest step from this one on that is
	/// over; nothing where nobody gives it. Of a step that still runs whoever is first would say it.
	async fn join_majority(
		&mut self,
		seen: &Arc<Seen>,
		from: u32,
	) -> Result<Option<Turn>, PeerError> {
		let Averaging::Outer(rule) = seen.swarm.plan.averaging else { return Ok(None) };
		let (began, height) = (seen.swarm.began, seen.height);
		let over = |step: &&u32| **step >= from && rule.is_over(began, **step, height);
		for step in seen.swarm.steps.iter().rev().filter(over) {
			let contributions = self.service.board().step(*step).await?;
			let Some(found) = majority(&contributions) else { continue };
			let Majority { base, roots: (model, velocity), mut whose } = found;
			whose.shuffle(&mut self.draw);
			let bytes = self.service.models().layout().size;
			if !self.bring(model, bytes, &whose).await?
				|| (velocity != H256::zero() && !self.bring(velocity, bytes, &whose).await?)
			{
				return Ok(None);
			}
			let base = Base { step: base, model, velocity, of: None };
			let Some((_, velocity)) = self.model_of(&base)? else {
				return Ok(None);
			};
			if velocity.is_some() != self.outer()?.frame.has_velocity() {
				return Ok(None);
			}
			self.outer()?.position.bases.clear();
			self.go_to(base)?;
			return Ok(Some(Turn::Began(whose.first().copied())));
		}
		Ok(None)
	}

	/// Makes a model the present one.
	fn go_to(&mut self, base: Base) -> Result<(), PeerError> {
		let Some((model, _)) = self.model_of(&base)? else { return Ok(()) };
		let state = self.learner.state_of(model, None);
		self.outer()?.position.go_on(base);
		self.adopt(state, None)?;
		self.save_outer()?;
		self.tidy_outer()
	}

	/// Removes files that nobody can ask for any more.
	pub(super) fn tidy_outer(&mut self) -> Result<(), PeerError> {
		let outer = self.outer()?;
		let first = outer.position.bases.first().map_or(0, |base| base.step);
		outer.accused.retain(|(step, _), _| *step >= first);
		outer.replayed.retain(|(step, _), _| *step >= first);
		// It has gone on, and takes memory for training.
		outer.read.clear();
		let roots = outer.position.roots();
		Ok(outer.files.keep(&roots)?)
	}

	/// Writes a model and its velocity down.
	fn put_model(
		&mut self,
		model: &TensorMap,
		velocity: Option<&TensorMap>,
	) -> Result<(H256, H256), PeerError> {
		let files = &self.outer()?.files;
		let model = files.put(&models::file_of(model))?;
		let velocity = match velocity {
			Some(velocity) => files.put(&models::file_of(velocity))?,
			None => H256::zero(),
		};
		Ok((model, velocity))
	}

	/// Returns a model and its velocity, where they are here and are of this swarm.
	pub(super) fn model_of(
		&mut self,
		base: &Base,
	) -> Result<Option<(TensorMap, Option<TensorMap>)>, PeerError> {
		let service = self.service.clone();
		let size = service.models().layout().size;
		let files = &self.outer()?.files;
		let read = |root: &H256| -> Result<Option<TensorMap>, PeerError> {
			let Some(bytes) = files.read(root, size)? else { return Ok(None) };
			Ok(service.models().parse(&bytes).ok())
		};
		let Some(model) = read(&base.model)? else { return Ok(None) };
		if base.velocity == H256::zero() {
			return Ok(Some((model, None)));
		}
		Ok(read(&base.velocity)?.map(|velocity| (model, Some(velocity))))
	}

	/// Counts what the present model gets right, where there are rows for that.
	async fn outer_recount(&mut self) -> Result<(), PeerError> {
		match self.learner.slices().is_empty() {
			true => Ok(()),
			false => self.recount().await,
		}
	}

	/// Returns the updates that count of a step, in the order of their peers.
	fn counted(
		&mut self,
		step: u32,
		contributions: &[Contribution],
		counted: u64,
	) -> Result<Vec<Counted<Arc<Update>>>, PeerError> {
		let mut all: Vec<&Contribution> = contributions
			.iter()
			.enumerate()
			.filter(|(at, _)| (counted >> at) & 1 == 1)
			.map(|(_, one)| one)
			.collect();
		all.sort_by_key(|one| one.peer);
		let mut updates = Vec::new();
		for one in all {
			let late = step.saturating_sub(one.brought.base);
			// What counts and is no update moves nothing, whoever vouches for it.
			let update = self.update_of(step, one)?;
			updates.extend(update.map(|update| Counted { update, late }));
		}
		Ok(updates)
	}

	/// Trains from the present model, or sends what came of that.
	async fn contribute(
		&mut self,
		rule: OuterRule,
		step: u32,
		seed: &H256,
	) -> Result<Turn, PeerError> {
		let position = &self.outer()?.position;
		let Some(last) = position.last() else { return Ok(Turn::Nothing) };
		let Some(pending) = position.pending else { return self.work(last, seed).await };
		let late = step.saturating_sub(pending.base);
		let base = position
			.base(pending.base)
			.filter(|base| late <= MAX_LATE && (base.model, base.velocity) == pending.began);
		let Some(base) = base else {
			// It is too old to count, or that step began with another model after all.
			self.outer()?.position.pending = None;
			self.save_outer()?;
			return Ok(Turn::Nothing);
		};
		let (id, me) = (self.service.board().swarm_id(), *self.me());
		let genesis = self.service.board().genesis();
		let outer = self.outer()?;
		// It may be tried again in the same step.
		if !outer.position.sent.contains(&(step, pending.update)) {
			outer.position.sent.push((step, pending.update));
		}
		self.save_outer()?;
		let brought = Brought {
			base: pending.base,
			model: base.model,
			velocity: base.velocity,
			data: pending.data,
			sealed: swarm::sealed(&genesis, id, step, &me, &pending.update),
			kept: pending.kept,
		};
		// The time may be over by the block that takes it; then it comes late to the next step.
		if let Err(e) = self.service.board().contribute(step, &brought).await {
			if e.is_final() {
				return Err(e.into());
			}
			warn!("a contribution to step {step} was not taken: {e}");
			let seen = self.service.refresh().await?;
			return Ok(match rule.moment(seen.swarm.began, seen.height).step > step {
				true => Turn::Missed(step),
				false => Turn::Nothing,
			});
		}
		let seen = self.service.refresh().await?;
		self.look_at_pending(&seen)?;
		Ok(Turn::Contributed { step, late })
	}

	/// Trains from the model of this step.
	async fn work(&mut self, base: Base, seed: &H256) -> Result<Turn, PeerError> {
		let slices = self.learner.slices();
		let count = u32::try_from(slices.len()).unwrap_or(u32::MAX);
		let at = base.step.checked_rem(count).unwrap_or_default();
		let Some(slice) = slices.get(at as usize).cloned() else { return Ok(Turn::Nothing) };
		let Some((model, _)) = self.model_of(&base)? else { return Ok(Turn::Nothing) };
		let key = H256(*self.key.public().as_bytes());
		let kept = self.outer()?.position.kept;
		let Some(kept) = self.kept_under(&kept)? else {
			return Err(PeerError::KeptElsewhere(kept));
		};
		let seed = swarm::noise(seed, &key, base.step);
		let (frame, data) = (self.outer()?.frame.clone(), slice.data.file.content_hash);
		let job = Work { model, kept, seed, base: base.step };
		let done = self.compute(move || work(&frame, &slice, job)).await?;
		let Done { update, kept } = match done {
			Ok(done) => done,
			Err(e) => {
				return Ok(Turn::Diverged { step: base.step, why: e.to_string() });
			}
		};
		let outer = self.outer()?;
		let (update, kept) = (outer.files.put(&update)?, outer.files.put(&kept)?);
		outer.position.pending = Some(Pending {
			base: base.step,
			began: (base.model, base.velocity),
			data,
			update,
			kept,
		});
		self.position.trained = self.position.trained.saturating_add(1);
		self.save()?;
		self.save_outer()?;
		Ok(Turn::Worked(base.step))
	}

	/// Returns what a peer kept under this root, where it is here; what one begins with under no root.
	pub(super) fn kept_under(&mut self, root: &H256) -> Result<Option<Kept>, PeerError> {
		let optimizer = fresh_optimizer(&self.learner);
		let outer = self.outer()?;
		if *root == H256::zero() {
			return Ok(Some(outer.frame.fresh(optimizer)));
		}
		let bytes = outer.files.read(root, outer.frame.kept_bytes())?;
		Ok(bytes.and_then(|bytes| outer.frame.read_kept(&bytes).ok()))
	}

	/// Brings a file under this root from these peers and others that answer. Returns whether it is here.
	pub(super) async fn bring(
		&mut self,
		root: H256,
		bytes: u64,
		whose: &[AccountId32],
	) -> Result<bool, PeerError> {
		let files = self.outer()?.files.clone();
		if files.has(&root) {
			return Ok(true);
		}
		let from = self.reached(whose);
		let Some((first, _)) = from.first() else { return Ok(false) };
		let path = outer_path(self.service.board().swarm_id(), &root);
		let sources: Vec<Source> = from
			.iter()
			.map(|(_, location)| Source { location: location.clone(), path: path.clone() })
			.collect();
		let missed = self.standing().misses(first);
		let expected = Expected::Model { root, bytes };
		let contact = self.service.contact().clone();
		match contact.bring(expected, &sources, &files.part(&root), missed).await {
			Ok(given_up) => {
				self.drop_liars(&from, &given_up);
				files.whole(&root)?;
				Ok(true)
			}
			Err(e) => {
				tracing::debug!("{root:?} did not come: {e}");
				Ok(false)
			}
		}
	}

	/// Returns where some are that answered lately: first these, in their order, and then others that are drawn.
	pub(super) fn reached(&mut self, first: &[AccountId32]) -> Vec<(AccountId32, Location)> {
		let seen = self.service.seen();
		let me = *self.me();
		let others = seen.peers.iter().map(|peer| peer.account);
		let mut others: Vec<_> = others.filter(|who| *who != me && !first.contains(who)).collect();
		others.shuffle(&mut self.draw);
		let standing = self.standing();
		first
			.iter()
			.copied()
			.filter(|who| *who != me)
			.chain(others)
			.filter_map(|who| Some((who, standing.reached(&who)?.clone())))
			.take(MOST_SOURCES)
			.collect()
	}
}

/// Returns what an optimizer keeps before its first step.
pub(super) fn fresh_optimizer(learner: &Learner) -> TensorMap {
	learner.state_of(TensorMap::new(), None)
}

/// With what most contributions to a step begin that count.
struct Majority {
	/// The step with whose model they begin.
	base: u32,
	/// Roots of the model and its velocity.
	roots: (H256, H256),
	/// Whose those contributions are.
	whose: Vec<AccountId32>,
}

/// Returns with what most contributions to a step begin that count; of as many, the newest.
fn majority(contributions: &[Contribution]) -> Option<Majority> {
	let counted = swarm::counted(contributions);
	let mut all: BTreeMap<(u32, (H256, H256)), Vec<AccountId32>> = BTreeMap::new();
	let counts = contributions.iter().enumerate().filter(|(at, _)| (counted >> at) & 1 == 1);
	for (_, one) in counts {
		let Brought { base, model, velocity, .. } = one.brought;
		all.entry((base, (model, velocity))).or_default().push(one.peer);
	}
	let ((base, roots), whose) = all.into_iter().max_by_key(|(_, whose)| whose.len())?;
	Some(Majority { base, roots, whose })
}
