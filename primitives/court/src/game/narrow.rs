//! What is left when a claim is denied.

use super::{
	claims::{nothing, Claim},
	enter::is_opened,
	play::{state_of, Play},
	types::{After, End, Level, Owner, Piece, Said, Scene, Stage, Target, Witness},
	Refused, STOP_STRETCH,
};
use crate::referee::{MeanStretch, MeanTo, StopStretch, Stretch, To};
use trainyard_protocol::{bundle::Evaluation, court, H256};

impl<S: Said> Play<'_, S> {
	/// Returns where a dispute stands when claim `at` is denied and those before it are agreed.
	pub(super) fn narrow(
		&self,
		stage: &Stage,
		claims: &[Claim],
		at: usize,
	) -> Result<Level, Refused> {
		let denied = claims.get(at).ok_or(Refused::NoSuchClaim)?;
		let before = at.checked_sub(1).and_then(|at| claims.get(at));
		match (*denied, stage.level) {
			(Claim::Milestone { step: to, digest: denied }, level) => {
				let (from, agreed) = match (before, level) {
					(Some(Claim::Milestone { step, digest }), _) => (*step, *digest),
					(_, Level::Steps { from, agreed, .. }) => (from, agreed),
					_ => {
						let (from, _) = self.steps_of(stage)?;
						(from, court::milestone(from, &stage.subject.begin, &nothing()))
					}
				};
				Ok(Level::Steps { from, to, agreed, denied })
			}
			(Claim::NotFinite(witness), Level::Diverged { state, .. }) => match witness {
				Witness::Result { result, element } => {
					let segment = self.segment(&stage.subject.target)?;
					let (_, step) = self.steps_of(stage)?;
					let after = After::Diverged { result, element };
					self.all_results(Scene::Step { segment, step, state, after })
				}
				Witness::State { tensor, element } => {
					Ok(judge(not_finite_state(state, tensor, element, true)))
				}
				Witness::Evaluation { .. } => Err(Refused::NoSuchClaim),
			},
			(Claim::Slices(denied), level) => {
				let state = match (level, stage.subject.end) {
					(Level::Diverged { state, .. }, _) => state,
					(_, Some(End::Checkpoint { state, .. })) => state,
					_ => return Err(Refused::NoSuchClaim),
				};
				let to = self.game.case.spec.slices();
				Ok(Level::Slices { state, from: 0, to, agreed: nothing(), denied })
			}
			(
				Claim::SlicesSoFar { count: to, root: denied },
				Level::Slices { state, from, agreed, .. },
			) => {
				let (from, agreed) = match before {
					Some(Claim::SlicesSoFar { count, root }) => (*count, *root),
					_ => (from, agreed),
				};
				Ok(Level::Slices { state, from, to, agreed, denied })
			}
			(Claim::Results { count: to, root: denied }, level) => {
				let (scene, from, agreed) = match level {
					Level::Results { scene, from, agreed, .. } => (scene, from, agreed),
					Level::Tensors { .. } => (tensors_of(&stage.subject.target)?, 0, nothing()),
					_ => return Err(Refused::NoSuchClaim),
				};
				let (from, agreed) = match before {
					Some(Claim::Results { count, root }) => (*count, *root),
					_ => (from, agreed),
				};
				Ok(Level::Results { scene, from, to, agreed, denied: Some(denied) })
			}
			(Claim::After(after), Level::Results { scene, .. }) => {
				let Scene::Step { segment, step, .. } = scene else {
					return Err(Refused::NoSuchClaim);
				};
				let results = last_root(before)?;
				Ok(judge(match after {
					After::Next { state: after, loss, logits } => {
						Piece::StepJoin { segment, step, results, after, loss, logits }
					}
					After::Diverged { result, element } => {
						let by_defender = true;
						Piece::NotFinite { segment, step, results, result, element, by_defender }
					}
				}))
			}
			(Claim::Slice { losses, correct }, Level::Results { scene, .. }) => {
				let Scene::Slice { checkpoint, slice, .. } = scene else {
					return Err(Refused::NoSuchClaim);
				};
				let results = last_root(before)?;
				Ok(judge(Piece::SliceJoin { checkpoint, slice, results, losses, correct }))
			}
			(Claim::Header { chunk }, Level::Tensors { .. }) => match stage.subject.target {
				Target::Rescue { blob, .. } => Ok(judge(Piece::StoredHeader { blob, chunk })),
				_ => Err(Refused::NoSuchClaim),
			},
			(Claim::Node { node, value }, Level::Content { owner, .. }) => {
				Ok(Level::Content { owner, node, value })
			}
			(Claim::Word { element, bits }, Level::Content { owner, .. }) => {
				self.element(&owner, element, bits)
			}
			(
				Claim::Chain { taken: to, digest: denied },
				Level::Chain { owner, element, bits, from, agreed, .. },
			) => {
				let (from, agreed) = match before {
					Some(Claim::Chain { taken, digest }) => (*taken, Some(*digest)),
					_ => (from, agreed),
				};
				let denied = Some(denied);
				Ok(Level::Chain { owner, element, bits, from, to, agreed, denied })
			}
			(Claim::Element { bits }, Level::Chain { owner, element, to, .. }) => {
				let Some(Claim::Chain { digest, .. }) = before else {
					return Err(Refused::NoSuchClaim);
				};
				let end = To::Element { bits };
				Ok(judge(stretch(&owner, element, Some((to, *digest)), end)))
			}
			(Claim::Evaluation(evaluation), level) => self.mean(stage, level, before, evaluation),
			(
				Claim::Mean { taken: to, digest: denied },
				Level::Mean { slices, evaluation, from, agreed, .. },
			) => {
				let (from, agreed) = match before {
					Some(Claim::Mean { taken, digest }) => (*taken, Some(*digest)),
					_ => (from, agreed),
				};
				Ok(Level::Mean { slices, evaluation, from, to, agreed, denied: Some(denied) })
			}
			(Claim::Stop { taken: to, digest: denied }, Level::Stops { from, agreed, .. }) => {
				let (from, agreed) = match before {
					Some(Claim::Stop { taken, digest }) => (*taken, Some(*digest)),
					_ => (from, agreed),
				};
				Ok(Level::Stops { from, to, agreed, denied: Some(denied) })
			}
			(Claim::Ends { checkpoints }, Level::Stops { .. }) => {
				let Some(Claim::Stop { digest, .. }) = before else {
					return Err(Refused::NoSuchClaim);
				};
				let stretch = StopStretch { from: Some((checkpoints, *digest)), to: None };
				Ok(judge(Piece::Stop(stretch)))
			}
			_ => Err(Refused::NoSuchClaim),
		}
	}

	/// Returns where a dispute stands when an element is denied.
	fn element(&self, owner: &Owner, element: u64, bits: u32) -> Result<Level, Refused> {
		if owner.scene == Scene::Initial {
			return Ok(judge(Piece::Initial { tensor: owner.result, element, bits }));
		}
		let to = self.lowered(&owner.scene)?.terms(owner.result, element)?;
		let (owner, from) = (*owner, 0);
		Ok(Level::Chain { owner, element, bits, from, to, agreed: None, denied: None })
	}

	/// Returns where a dispute stands when an evaluation is denied.
	fn mean(
		&self,
		stage: &Stage,
		level: Level,
		before: Option<&Claim>,
		evaluation: Evaluation,
	) -> Result<Level, Refused> {
		let checkpoint = self.checkpoint(&stage.subject.target)?;
		match (level, before) {
			(Level::Mean { slices, to, .. }, Some(Claim::Mean { digest, .. })) => {
				let (from, to) = (Some((to, *digest)), MeanTo::Evaluation(evaluation));
				let stretch = MeanStretch { from, to };
				Ok(judge(Piece::Mean { checkpoint, slices, stretch }))
			}
			(_, Some(Claim::Slices(slices))) => {
				let (slices, to) = (*slices, self.game.case.spec.slices());
				Ok(Level::Mean { slices, evaluation, from: 0, to, agreed: None, denied: None })
			}
			_ => Err(Refused::NoSuchClaim),
		}
	}

	/// Returns the piece that a dispute has come to, if it has: a range that is not divided any more
	/// and is not opened.
	pub(super) fn piece_of(&self, stage: &Stage) -> Result<Option<Piece>, Refused> {
		match stage.level {
			Level::Content { owner, node, value }
				if node.chunks == 1 && !is_opened(&owner.scene) =>
			{
				let chunk = node.begin;
				match owner.scene {
					Scene::Model { state } => Ok(Some(Piece::Model { chunk, value, state })),
					Scene::Stored { blob, .. } => {
						let tensor = owner.result;
						Ok(Some(Piece::Stored { blob, tensor, chunk, value }))
					}
					_ => Ok(None),
				}
			}
			Level::Chain { owner, element, bits, from, to, agreed, denied } => {
				let unit = self.stretch(&owner.scene, owner.result)?;
				let begin = agreed.map(|digest| (from, digest));
				let end = match denied {
					Some(digest) => To::Chain { taken: to, digest },
					None => To::Element { bits },
				};
				let piece = stretch(&owner, element, begin, end);
				Ok((to.saturating_sub(from) <= unit).then_some(piece))
			}
			Level::Mean { slices, evaluation, from, to, agreed, denied } => {
				let checkpoint = self.checkpoint(&stage.subject.target)?;
				let begin = agreed.map(|digest| (from, digest));
				let end = match denied {
					Some(digest) => MeanTo::Slices { taken: to, digest },
					None => MeanTo::Evaluation(evaluation),
				};
				let stretch = MeanStretch { from: begin, to: end };
				let piece = Piece::Mean { checkpoint, slices, stretch };
				Ok((to.saturating_sub(from) <= self.mean_stretch()).then_some(piece))
			}
			Level::Stops { from, to, agreed, denied } => {
				let begin = agreed.map(|digest| (from, digest));
				let end = denied.map(|digest| (to, digest));
				let piece = Piece::Stop(StopStretch { from: begin, to: end });
				Ok((to.saturating_sub(from) <= STOP_STRETCH).then_some(piece))
			}
			_ => Ok(None),
		}
	}
}

fn judge(piece: Piece) -> Level {
	Level::Judge { piece }
}

/// Returns the piece of a number in the state at the end of a segment that one side says is not finite.
pub(super) fn not_finite_state(state: H256, tensor: u32, element: u64, by_defender: bool) -> Piece {
	Piece::NotFiniteState { state, tensor, element, by_defender }
}

fn stretch(owner: &Owner, element: u64, from: Option<(u64, H256)>, to: To) -> Piece {
	let Owner { scene, result, before: results, .. } = *owner;
	let (at, state) = (scene.moment(), state_of(&scene));
	Piece::Stretch { at, state, results, stretch: Stretch { result, element, from, to } }
}

/// Returns the root over all results, which is the last claim before what follows from them.
fn last_root(before: Option<&Claim>) -> Result<H256, Refused> {
	match before {
		Some(Claim::Results { root, .. }) => Ok(*root),
		_ => Err(Refused::NoSuchClaim),
	}
}

/// Returns the scene of a state whose tensors are narrowed by themselves.
fn tensors_of(target: &Target) -> Result<Scene, Refused> {
	match *target {
		Target::Start => Ok(Scene::Initial),
		Target::Rescue { blob, state } => Ok(Scene::Stored { state, blob }),
		_ => Err(Refused::NoSuchTarget),
	}
}
