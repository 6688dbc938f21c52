//! What moves compute from: a case, and what was said about it.

use super::{
	types::{
		Claimed, End, Entry, Level, Opened, Place, Roots, Said, Scene, Stage, Subject, Target,
	},
	Game, Refused,
};
use crate::{
	case,
	referee::{mean_slices, Lowered, StateTensors},
};
use alloc::vec::Vec;
use core::cell::OnceCell;
use trainyard_program::parts::PartOp;
use trainyard_protocol::{model_file::Layout, H256};

/// One move: what was said before, and what the move adds.
pub(super) struct Play<'a, S> {
	pub(super) game: Game<'a, S>,
	/// What this move says.
	pub(super) fresh: Vec<Entry>,
	/// The one computation to which a move can lead: it is lowered once.
	lowered: OnceCell<Lowered<'a>>,
	state: OnceCell<StateTensors>,
}

impl<'a, S: Said> Play<'a, S> {
	pub(super) fn new(game: Game<'a, S>) -> Self {
		Self { game, fresh: Vec::new(), lowered: OnceCell::new(), state: OnceCell::new() }
	}

	/// Returns what was posted at a place, in this move or before.
	pub(super) fn posted(&self, place: &Place) -> Option<Roots> {
		let fresh = self.fresh.iter().find_map(|entry| match entry {
			Entry::Posted(at, roots) if at == place => Some(roots.clone()),
			_ => None,
		});
		fresh.or_else(|| self.game.said.posted(place))
	}

	/// Returns what was opened at a place, in this move or before.
	pub(super) fn opened(&self, place: &Place) -> Option<Opened> {
		let fresh = self.fresh.iter().find_map(|entry| match entry {
			Entry::Opened(at, opened) if at == place => Some(opened.clone()),
			_ => None,
		});
		fresh.or_else(|| self.game.said.opened(place))
	}

	/// Returns the end of a segment of a result as its defendant computed it: where its leaf was opened as
	/// forced, with its true trace.
	pub(super) fn computed(&self, target: &Target, end: Option<End>) -> Option<End> {
		match (target, end) {
			(Target::Segment(segment), Some(End::Checkpoint { state, evaluation, trace })) => {
				let forced = self.game.said.forced(segment.saturating_add(1));
				let forced = forced.filter(|forced| forced.shown == trace);
				let trace = forced.map_or(trace, |forced| forced.trace);
				Some(End::Checkpoint { state, evaluation, trace })
			}
			_ => end,
		}
	}

	/// Returns a stage with the end that is compared as the defendant computed it.
	pub(super) fn unforced(&self, stage: &Stage) -> Stage {
		let Subject { target, end, .. } = stage.subject;
		let end = self.computed(&target, end);
		Stage { subject: Subject { end, ..stage.subject }, ..*stage }
	}

	/// Returns the computation of a scene. Fails where it is none, or has too many results.
	pub(super) fn lowered(&self, scene: &Scene) -> Result<&Lowered<'a>, Refused> {
		let none = Refused::Computation(case::Refused::NoSuchPiece);
		let computation = scene.moment().computation().ok_or(none)?;
		if self.lowered.get().is_none() {
			let lowered = Lowered::new(self.game.case, computation)?;
			// It is not set yet.
			let _ = self.lowered.set(lowered);
		}
		let found = self.lowered.get().filter(|lowered| lowered.computation() == computation);
		found.ok_or(none)
	}

	/// Returns the tensors of a state.
	pub(super) fn tensors(&self) -> &StateTensors {
		self.state.get_or_init(|| StateTensors::of(&self.game.case.spec))
	}

	/// Returns the number of tensors of a state.
	pub(super) fn state_tensors(&self) -> u32 {
		u32::try_from(self.tensors().tensors().len()).unwrap_or(u32::MAX)
	}

	/// Returns the number of results of a scene.
	pub(super) fn results(&self, scene: &Scene) -> Result<u32, Refused> {
		match scene {
			Scene::Initial | Scene::Stored { .. } => Ok(self.state_tensors()),
			Scene::Model { .. } => Ok(1),
			Scene::Step { .. } | Scene::Slice { .. } => Ok(self.lowered(scene)?.results()),
		}
	}

	/// Returns the number of elements of a result.
	pub(super) fn elements(&self, scene: &Scene, result: u32) -> Result<u64, Refused> {
		match scene {
			Scene::Initial | Scene::Stored { .. } => {
				let elements = self.tensors().elements(result);
				elements.ok_or(Refused::Computation(case::Refused::NoSuchPiece))
			}
			Scene::Model { .. } => Err(Refused::Computation(case::Refused::NoSuchPiece)),
			Scene::Step { .. } | Scene::Slice { .. } => {
				let PartOp { len, .. } = self.lowered(scene)?.part(result)?;
				Ok(*len)
			}
		}
	}

	/// Returns the length of the content of a result in bytes.
	pub(super) fn content_bytes(&self, scene: &Scene, result: u32) -> Result<u64, Refused> {
		match scene {
			Scene::Model { .. } => Ok(Layout::of(&self.game.case.spec).size),
			_ => Ok(self.elements(scene, result)?.saturating_mul(4)),
		}
	}

	/// Returns the terms of a stretch of the chains of a result.
	pub(super) fn stretch(&self, scene: &Scene, result: u32) -> Result<u64, Refused> {
		Ok(self.lowered(scene)?.stretch(result)?)
	}

	/// Returns the slices of a stretch of a mean.
	pub(super) fn mean_stretch(&self) -> u32 {
		mean_slices(self.game.case)
	}

	/// Returns the segment that a target is about.
	pub(super) fn segment(&self, target: &Target) -> Result<u32, Refused> {
		match *target {
			Target::Segment(segment) | Target::Evidence(segment) => Ok(segment),
			_ => Err(Refused::NoSuchTarget),
		}
	}

	/// Returns the steps done before the segment of a dispute, and those after the steps that it
	/// claims: up to its end, or to where it is said to diverge.
	pub(super) fn steps_of(&self, stage: &Stage) -> Result<(u32, u32), Refused> {
		let segment = self.segment(&stage.subject.target)?;
		let spec = &self.game.case.spec;
		let steps =
			spec.checkpoint_step(segment).zip(spec.checkpoint_step(segment.saturating_add(1)));
		let (from, end) = steps.ok_or(Refused::NoSuchTarget)?;
		match stage.subject.end {
			Some(End::Diverged(diverged)) => Ok((from, diverged.step)),
			_ => Ok((from, end)),
		}
	}

	/// Returns the checkpoint whose evaluation a dispute is about.
	pub(super) fn checkpoint(&self, target: &Target) -> Result<u32, Refused> {
		match *target {
			Target::Start => Ok(0),
			_ => Ok(self.segment(target)?.saturating_add(1)),
		}
	}
}

impl Stage {
	/// Returns whether the defendant says what the challenger claims: it opened a leaf as forced, and
	/// nothing is in dispute any more.
	pub fn grants(&self, claimed: &Claimed) -> bool {
		self.subject.end.is_some_and(|end| *claimed == Claimed::End(end))
	}

	/// Returns the place at which a dispute stands, by which posts and openings are kept; `None` at a
	/// piece.
	pub fn place(&self) -> Option<Place> {
		let target = self.subject.target;
		let (segment, checkpoint) = match target {
			Target::Segment(segment) | Target::Evidence(segment) => {
				(segment, segment.saturating_add(1))
			}
			_ => (0, 0),
		};
		Some(match self.level {
			Level::Ends
			| Level::Segment { .. }
			| Level::Diverged { .. }
			| Level::Tensors { .. } => Place::Ends { target },
			Level::Steps { from, to, .. } => Place::Steps { segment, from, to },
			Level::Slices { from, to, .. } => Place::Slices { checkpoint, from, to },
			Level::Results { scene, from, to, .. } => {
				Place::Results { at: scene.moment(), from, to }
			}
			Level::Content { owner, node, .. } => {
				let (at, result) = (owner.scene.moment(), owner.result);
				match node.chunks {
					1 => Place::Chunk { at, result, chunk: node.begin },
					_ => Place::Content { at, result, node },
				}
			}
			Level::Chain { owner, element, from, to, .. } => {
				let (at, result) = (owner.scene.moment(), owner.result);
				Place::Chain { at, result, element, from, to }
			}
			Level::Mean { from, to, .. } => Place::Mean { checkpoint, from, to },
			Level::Stops { from, to, .. } => Place::Stops { from, to },
			Level::Judge { .. } => return None,
		})
	}
}

/// Returns the state that a scene reads.
pub(super) fn state_of(scene: &Scene) -> H256 {
	match *scene {
		Scene::Initial | Scene::Stored { .. } => H256::zero(),
		Scene::Model { state } | Scene::Step { state, .. } | Scene::Slice { state, .. } => state,
	}
}
