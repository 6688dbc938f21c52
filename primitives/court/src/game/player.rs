//! What an honest party says: posts, openings and denials as functions of its own computation.
//!
//! A [`Record`] is what a party holds of a run. Both sides play from their own: the defender says what
//! follows from its record, the challenger denies the first claim that does not follow from its own.
//! So whoever's record is true wins, and nothing has to be decided by hand.

use super::{
	claims::Claim,
	moves::Due,
	types::{
		After, ChunkBytes, Contents, End, Level, Moment, Opened, Opening, Peaks, Place, Roots,
		Said, Scene, Stage, Target, Turn, Witness,
	},
	Game,
};
use crate::{
	referee::{
		ends_training,
		proving::{self, Holder},
		results_root, state_after, state_file, Lowered, Origin,
	},
	Case,
};
use alloc::{vec, vec::Vec};
use trainyard_program::spec::StopRule;
use trainyard_protocol::{
	bundle::Evaluation,
	content, court,
	merkle::{self, Frontier},
	H256,
};
use trainyard_strict::{canonical_bits, SumChain};

mod pieces;
mod record;

pub use record::{Record, SliceBytes, Slices, StateAt};

/// What a challenger does in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
	/// It denies the claim of this index.
	Deny(u32),
	/// It agrees with the claims that matter, and shows a number that is not finite.
	Show(Witness),
}

/// A party: a record, in a case.
#[derive(Clone, Copy, Debug)]
pub struct Player<'a, R> {
	/// The case.
	pub case: &'a Case,
	/// What it holds.
	pub record: &'a R,
}

/// A post whose digests are all zero, for claims without digests.
struct Blank(Place, u32);

impl Said for Blank {
	fn posted(&self, place: &Place) -> Option<Roots> {
		let zeros = vec![H256::zero(); usize::try_from(self.1).unwrap_or_default()];
		(*place == self.0).then(|| Roots::truncate_from(zeros))
	}

	fn opened(&self, _: &Place) -> Option<Opened> {
		None
	}
}

fn peaks(frontier: Frontier) -> Option<Peaks> {
	Peaks::try_from(frontier.peaks).ok()
}

fn at<T>(all: &[T], index: u64) -> Option<&T> {
	all.get(usize::try_from(index).ok()?)
}

fn first<T>(all: &[T], count: u32) -> Option<&[T]> {
	all.get(..usize::try_from(count).ok()?)
}

/// Returns the word of an element.
fn word(bytes: &[u8], element: u64) -> Option<u32> {
	let (words, _) = bytes.as_chunks::<4>();
	at(words, element).map(|word| u32::from_le_bytes(*word))
}

impl<R: Record> Player<'_, R> {
	/// Returns the post that is due where a dispute stands; `None` where none is, or the record lacks
	/// what it takes.
	pub fn post<S: Said>(&self, game: Game<'_, S>, stage: &Stage) -> Option<Roots> {
		let Due::Post(count) = game.due(stage).ok()? else { return None };
		let blank = Blank(stage.place()?, count);
		let game = Game { case: game.case, result: game.result, said: &blank };
		let claims = game.claims(&Stage { turn: Turn::Challenger, ..*stage }).ok()?;
		let claims = first(&claims, count)?;
		let chain = self.chain(stage, claims);
		let own = |claim: &Claim| digest_of(&self.own(stage, claim, None, chain.as_deref())?);
		let roots = claims.iter().map(own).collect::<Option<Vec<_>>>()?;
		Roots::try_from(roots).ok()
	}

	/// Returns what opens the place where a dispute stands, with the post that then is due.
	pub fn open<S: Said>(&self, game: Game<'_, S>, stage: &Stage) -> Option<Opening> {
		let mut opening = Opening {
			opened: self.opened(stage)?,
			contents: Contents::new(),
			chunk: ChunkBytes::new(),
			roots: Roots::new(),
		};
		match (stage.level, stage.subject.target) {
			(Level::Ends, Target::Start | Target::Rescue { .. }) => {
				let contents = self.record.contents(leaf_of(stage))?;
				opening.contents = Contents::try_from(contents).ok()?;
			}
			(Level::Results { scene, from, .. }, _) => {
				let is_opened = !matches!(scene, Scene::Stored { .. } | Scene::Model { .. });
				if is_opened {
					let chunk = |bytes: &[u8]| match bytes.len() as u64 <= content::CHUNK_BYTES {
						true => ChunkBytes::try_from(bytes.to_vec()).ok(),
						false => Some(ChunkBytes::new()),
					};
					opening.chunk = self.content(&scene, from, chunk)??;
				}
			}
			_ => {}
		}
		let led = game.led(stage, &opening).ok()?;
		if led.turn == Turn::Defender {
			if let Some(roots) = self.post(game, &led) {
				opening.roots = roots;
			}
		}
		Some(opening)
	}

	/// Returns what the challenger does where it is to move: it denies the first claim that does not
	/// follow from its own record. `None` where there is none.
	pub fn deny<S: Said>(&self, game: Game<'_, S>, stage: &Stage) -> Option<Denial> {
		let claims = game.claims(stage).ok()?;
		let chain = self.chain(stage, &claims);
		let ends = Some(game.result.segments.saturating_add(1));
		for (index, claim) in (0..).zip(&claims) {
			if let (Level::Segment { .. }, Claim::Slices(_)) = (stage.level, claim) {
				match self.segment(stage).and_then(|segment| self.record.divergence(segment)) {
					Some((step, witness @ Witness::State { .. }))
						if self.end_of(stage) == Some(step) =>
					{
						return Some(Denial::Show(witness));
					}
					_ => {}
				}
			}
			if self.own(stage, claim, ends, chain.as_deref()).as_ref() != Some(claim) {
				return Some(Denial::Deny(index));
			}
		}
		let Level::Results { scene: Scene::Step { segment, step, .. }, denied: None, .. } =
			stage.level
		else {
			return None;
		};
		self.record.witness(segment, step).map(Denial::Show)
	}

	/// Returns what the chain holds at all claims about it where a dispute stands, in one pass over its
	/// terms; none where it stands elsewhere.
	fn chain(&self, stage: &Stage, claims: &[Claim]) -> Option<Vec<(u64, H256)>> {
		let Level::Chain { owner, element, .. } = stage.level else { return None };
		let taken = claims.iter().filter_map(|claim| match claim {
			Claim::Chain { taken, .. } => Some(*taken),
			_ => None,
		});
		let at = owner.scene.moment();
		let (lowered, holder) = (self.lowered(&at)?, self.record.computed(&at)?);
		let held = proving::accumulators(&lowered, &holder, owner.result, element, taken).ok()?;
		Some(held.iter().map(|(taken, held)| (*taken, court::chain(*taken, held))).collect())
	}

	/// Returns what this party says in the place of a claim. `ends` is how many checkpoints the
	/// defendant's result has, where the rule for an early stop is held against it; `chain` is what
	/// [`Self::chain`] returned.
	fn own(
		&self,
		stage: &Stage,
		claim: &Claim,
		ends: Option<u32>,
		chain: Option<&[(u64, H256)]>,
	) -> Option<Claim> {
		let checkpoint = self.checkpoint(stage);
		match *claim {
			Claim::Milestone { step, .. } => {
				let digest = self.milestone(self.segment(stage)?, step)?;
				Some(Claim::Milestone { step, digest })
			}
			Claim::NotFinite(witness) => {
				let (step, _) = self.record.divergence(self.segment(stage)?)?;
				let there = match stage.subject.end {
					Some(End::Diverged(diverged)) => diverged.step == step,
					_ => false,
				};
				there.then_some(Claim::NotFinite(witness))
			}
			Claim::Slices(_) => {
				let root = |slices: &Slices| merkle::root(slices.leaves());
				Some(Claim::Slices(self.record.slices(checkpoint, root)?))
			}
			Claim::Evaluation(_) => Some(Claim::Evaluation(self.evaluation(checkpoint)?)),
			Claim::SlicesSoFar { count, .. } => {
				let root = |slices: &Slices| Some(merkle::root(first(slices.leaves(), count)?));
				let root = self.record.slices(checkpoint, root)??;
				Some(Claim::SlicesSoFar { count, root })
			}
			Claim::Results { count, .. } => {
				let contents = self.contents_of(stage)?;
				Some(Claim::Results { count, root: results_root(first(&contents, count)?) })
			}
			Claim::After(after) => {
				let Level::Results { scene, .. } = stage.level else { return None };
				self.after(&scene, after).map(Claim::After)
			}
			Claim::Slice { .. } => {
				let Level::Results { scene, .. } = stage.level else { return None };
				let Scene::Slice { checkpoint, slice, .. } = scene else { return None };
				let (losses, correct) = self.slice_contents(checkpoint, slice)?;
				Some(Claim::Slice { losses, correct })
			}
			Claim::Header { chunk } => {
				let layout = state_file(self.case);
				let header = content::chunk(&layout.header, chunk).ok()?;
				let begin = usize::try_from(chunk.saturating_mul(content::CHUNK_BYTES)).ok()?;
				let is_right =
					|blob: &[u8]| blob.get(begin..).is_some_and(|rest| rest.starts_with(header));
				self.record.blob(is_right)?.then_some(Claim::Header { chunk })
			}
			Claim::Node { node, .. } => {
				let Level::Content { owner, .. } = stage.level else { return None };
				let value = |bytes: &[u8]| node.value(bytes).ok();
				let value = self.content(&owner.scene, owner.result, value)??;
				Some(Claim::Node { node, value })
			}
			Claim::Word { element, .. } => {
				let Level::Content { owner, .. } = stage.level else { return None };
				let bits = self.word(&owner.scene, owner.result, element)?;
				Some(Claim::Word { element, bits })
			}
			Claim::Chain { taken, .. } => {
				let (_, digest) = chain?.iter().find(|(after, _)| *after == taken)?;
				Some(Claim::Chain { taken, digest: *digest })
			}
			Claim::Element { .. } => {
				let Level::Chain { owner, element, .. } = stage.level else { return None };
				let bits = self.word(&owner.scene, owner.result, element)?;
				Some(Claim::Element { bits })
			}
			Claim::Mean { taken, .. } => {
				let mean = |slices: &Slices| Some(mean_of(first(slices.bytes(), taken)?));
				let (labels, sum, correct) = self.record.slices(checkpoint, mean)??;
				let digest = court::mean(taken, labels, &sum, correct);
				Some(Claim::Mean { taken, digest })
			}
			Claim::Stop { taken, .. } => {
				let rule = self.rule_after(taken, ends)?;
				Some(Claim::Stop { taken, digest: court::stop(taken, &rule) })
			}
			Claim::Ends { checkpoints } => {
				let own = u32::try_from(self.record.checkpoints().len()).ok()?;
				(own == checkpoints).then_some(Claim::Ends { checkpoints })
			}
		}
	}

	/// Returns what opens the place where a dispute stands, but for posts and contents.
	fn opened(&self, stage: &Stage) -> Option<Opened> {
		let root =
			|checkpoint| self.record.slices(checkpoint, |slices| merkle::root(slices.leaves()));
		match (stage.level, stage.subject.target) {
			(Level::Ends, Target::Start) => Some(Opened::Start { slices: root(0)? }),
			(Level::Ends, Target::Rescue { .. }) => Some(Opened::Stored),
			(Level::Ends, Target::Model) => {
				Some(Opened::Model { content: self.record.model(content::hash)? })
			}
			(Level::Ends, _) => {
				let segment = self.segment(stage)?;
				match stage.subject.end? {
					End::Checkpoint { .. } => {
						let steps = self.record.steps(segment, self.end_of(stage)?)?;
						let slices = root(segment.saturating_add(1))?;
						Some(Opened::Segment { steps: peaks(steps)?, slices })
					}
					End::Diverged(diverged) => {
						let (_, witness) = self.record.divergence(segment)?;
						let steps = self.record.steps(segment, diverged.step)?;
						let at = StateAt::Steps { segment, steps: diverged.step };
						let state = self.record.state(at)?;
						Some(Opened::Diverged { state, steps: peaks(steps)?, witness })
					}
				}
			}
			(Level::Steps { from, to, .. }, _) => {
				let segment = self.segment(stage)?;
				let state = |steps| self.record.state(StateAt::Steps { segment, steps });
				let (loss, logits) = self.record.step(segment, from)?;
				Some(Opened::Step {
					state: state(from)?,
					steps: peaks(self.record.steps(segment, from)?)?,
					after: state(to)?,
					loss: canonical_bits(loss),
					logits,
				})
			}
			(Level::Slices { from, .. }, _) => {
				let checkpoint = self.checkpoint(stage);
				let (losses, correct) = self.slice_contents(checkpoint, from)?;
				let before = |slices: &Slices| Frontier::of(first(slices.leaves(), from)?);
				let slices = peaks(self.record.slices(checkpoint, before)??)?;
				Some(Opened::Slice { losses, correct, slices })
			}
			(Level::Results { from, .. }, _) => {
				let contents = self.contents_of(stage)?;
				let content = *at(&contents, from.into())?;
				Some(Opened::Result {
					content,
					results: peaks(Frontier::of(&leaves_of(first(&contents, from)?))?)?,
				})
			}
			(Level::Content { owner, node, .. }, _) => {
				let chunk = |bytes: &[u8]| Some(content::chunk(bytes, node.begin).ok()?.to_vec());
				let bytes = self.content(&owner.scene, owner.result, chunk)??;
				Some(Opened::Chunk { bytes: ChunkBytes::try_from(bytes).ok()? })
			}
			_ => None,
		}
	}

	fn lowered(&self, at: &Moment) -> Option<Lowered<'_>> {
		Lowered::new(self.case, at.computation()?).ok()
	}

	/// Returns the contents of all results.
	fn contents(&self, at: &Moment) -> Option<Vec<H256>> {
		Some(self.record.computed(at)?.results().to_vec())
	}

	/// Returns the contents of all results where a dispute stands.
	fn contents_of(&self, stage: &Stage) -> Option<Vec<H256>> {
		match stage.level {
			Level::Results {
				scene: scene @ (Scene::Step { .. } | Scene::Slice { .. }), ..
			} => self.contents(&scene.moment()),
			_ => match stage.subject.target {
				Target::Rescue { state, .. } => self.record.stored_contents(state),
				_ => self.record.contents(StateAt::Checkpoint(0)),
			},
		}
	}

	/// Lends the bytes of a result.
	fn content<T>(&self, scene: &Scene, result: u32, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
		match *scene {
			Scene::Initial => self.record.tensor(StateAt::Checkpoint(0), result, read),
			Scene::Stored { state, .. } => self.record.stored(state, result, read),
			Scene::Model { .. } => self.record.model(read),
			Scene::Step { .. } | Scene::Slice { .. } => {
				let holder = self.record.computed(&scene.moment())?;
				let bytes = holder.bytes(Origin::Result(result))?;
				Some(read(&bytes))
			}
		}
	}

	/// Returns the word of an element of a result.
	fn word(&self, scene: &Scene, result: u32, element: u64) -> Option<u32> {
		self.content(scene, result, |bytes| word(bytes, element))?
	}

	/// Returns the contents of losses and of correct labels of a slice.
	fn slice_contents(&self, checkpoint: u32, slice: u32) -> Option<(H256, H256)> {
		let contents = |slices: &Slices| at(slices.contents(), slice.into()).copied();
		self.record.slices(checkpoint, contents)?
	}

	/// Returns what follows from all results of a step.
	fn after(&self, scene: &Scene, claimed: After) -> Option<After> {
		let (lowered, contents) = (self.lowered(&scene.moment())?, self.contents(&scene.moment())?);
		match (claimed, *scene) {
			(After::Next { .. }, Scene::Step { segment, step, .. }) => {
				let (loss, logits) = self.record.step(segment, step)?;
				let state = match self.record.witness(segment, step) {
					// What does not go on has no next state, but results.
					Some(_) => state_after(&lowered, &contents).ok()?,
					None => {
						let steps = step.saturating_add(1);
						self.record.state(StateAt::Steps { segment, steps })?
					}
				};
				Some(After::Next { state, loss: canonical_bits(loss), logits })
			}
			(After::Diverged { result, element }, Scene::Step { segment, step, .. }) => {
				let bits = self.word(scene, result, element)?;
				let ends = ends_training(lowered.role(result).ok()?, f32::from_bits(bits));
				(ends && self.record.witness(segment, step).is_some()).then_some(claimed)
			}
			_ => None,
		}
	}

	/// Returns the milestone after so many steps.
	fn milestone(&self, segment: u32, steps: u32) -> Option<H256> {
		let state = self.record.state(StateAt::Steps { segment, steps })?;
		Some(court::milestone(steps, &state, &self.record.steps(segment, steps)?.root()))
	}

	/// Returns the evaluation that an honest party names.
	fn evaluation(&self, checkpoint: u32) -> Option<Evaluation> {
		let found = self.record.evaluation(checkpoint)?;
		match checkpoint == 0 && !found.loss().is_finite() {
			true => Some(Evaluation::NONE),
			false => Some(found),
		}
	}

	/// Returns what the rule for an early stop holds after so many checkpoints; `None` where it has
	/// stopped before the last of the `ends` checkpoints.
	fn rule_after(&self, checkpoints: u32, ends: Option<u32>) -> Option<StopRule> {
		let stop = self.case.spec.training.early_stop?;
		let mut rule = StopRule::default();
		let committed = first(self.record.checkpoints(), checkpoints)?;
		for (index, checkpoint) in (0u32..).zip(committed) {
			let stops = stop.take(&mut rule, index, checkpoint.evaluation.loss());
			let goes_on = ends.is_some_and(|ends| index.saturating_add(1) < ends);
			if stops && goes_on {
				return None;
			}
		}
		Some(rule)
	}

	fn segment(&self, stage: &Stage) -> Option<u32> {
		match stage.subject.target {
			Target::Segment(segment) | Target::Evidence(segment) => Some(segment),
			_ => None,
		}
	}

	fn checkpoint(&self, stage: &Stage) -> u32 {
		self.segment(stage).map_or(0, |segment| segment.saturating_add(1))
	}

	/// Returns the steps done at the end of the segment of a dispute.
	fn end_of(&self, stage: &Stage) -> Option<u32> {
		self.case.spec.checkpoint_step(self.checkpoint(stage))
	}

	/// Returns the state at the end that a dispute denies.
	fn state_of_end(&self, stage: &Stage) -> Option<StateAt> {
		let steps = match stage.subject.end? {
			End::Checkpoint { .. } => self.end_of(stage)?,
			End::Diverged(diverged) => diverged.step,
		};
		Some(StateAt::Steps { segment: self.segment(stage)?, steps })
	}
}

/// Returns the state whose contents are opened.
fn leaf_of(stage: &Stage) -> StateAt {
	match stage.subject.target {
		Target::Rescue { state, .. } => StateAt::Checkpoint(state),
		_ => StateAt::Checkpoint(0),
	}
}

/// Returns labels, sum of their losses and number of those that are predicted of these slices.
fn mean_of(slices: &[SliceBytes]) -> (u64, SumChain, u64) {
	let (mut labels, mut sum, mut hits) = (0u64, SumChain::default(), 0u64);
	for (losses, correct) in slices {
		for element in (0u64..).map_while(|element| word(losses, element)) {
			sum.add(labels, f32::from_bits(element));
			labels = labels.saturating_add(1);
		}
		let hit = |element: &u32| f32::from_bits(*element) == 1.0;
		let found = (0u64..).map_while(|element| word(correct, element)).filter(hit).count();
		hits = hits.saturating_add(found as u64);
	}
	(labels, sum, hits)
}

/// Returns the leaves of results.
fn leaves_of(contents: &[H256]) -> Vec<H256> {
	(0..).zip(contents).map(|(index, content)| court::result_leaf(index, content)).collect()
}

/// Returns the digest that a claim names, if it is posted.
fn digest_of(claim: &Claim) -> Option<H256> {
	match *claim {
		Claim::Milestone { digest, .. }
		| Claim::Chain { digest, .. }
		| Claim::Mean { digest, .. }
		| Claim::Stop { digest, .. } => Some(digest),
		Claim::SlicesSoFar { root, .. } | Claim::Results { root, .. } => Some(root),
		Claim::Node { value, .. } => Some(value),
		_ => None,
	}
}
