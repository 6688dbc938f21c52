//! What a challenger can deny at a place.

use super::{
	play::Play,
	ranges::{boundaries, boundaries32},
	types::{After, End, Level, Opened, Place, Roots, Said, Scene, Stage, Witness, LEVELS},
	Refused, STOP_STRETCH,
};
use crate::referee::state_file;
use alloc::vec::Vec;
use trainyard_protocol::{
	bundle::Evaluation,
	content::{self, Node},
	court, merkle, H256,
};

/// One thing that a defendant says at a place. A challenger denies the first that is not what it
/// computed itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
	/// This is the [milestone](court::milestone) after so many steps. (Where the training has diverged
	/// before, there is none.)
	Milestone {
		/// Steps done.
		step: u32,
		/// The milestone.
		digest: H256,
	},
	/// This number is not finite: training diverged.
	NotFinite(Witness),
	/// This is the root over the leaves of all slices of the evaluation.
	Slices(H256),
	/// The evaluation is this.
	Evaluation(Evaluation),
	/// This is the prefix root over so many slices.
	SlicesSoFar {
		/// Slices.
		count: u32,
		/// The root.
		root: H256,
	},
	/// This is the prefix root over so many results.
	Results {
		/// Results.
		count: u32,
		/// The root.
		root: H256,
	},
	/// This follows from all results of the step.
	After(After),
	/// This follows from all results of the slice.
	Slice {
		/// Content hash of the losses of its labels.
		losses: H256,
		/// Content hash of what says which of them are predicted.
		correct: H256,
	},
	/// The file that was stored for a state has the right header, as far as this chunk of the header
	/// goes.
	Header {
		/// Index of the chunk.
		chunk: u64,
	},
	/// This is the value of a node of a content.
	Node {
		/// The node.
		node: Node,
		/// Its value.
		value: H256,
	},
	/// An element has these bits.
	Word {
		/// The element.
		element: u64,
		/// The bits.
		bits: u32,
	},
	/// The chain holds this after so many terms.
	Chain {
		/// Terms taken.
		taken: u64,
		/// The [digest](court::chain).
		digest: H256,
	},
	/// The element has these bits, from what its chain holds at its end.
	Element {
		/// The bits.
		bits: u32,
	},
	/// This is the mean after so many slices.
	Mean {
		/// Slices taken.
		taken: u32,
		/// The [digest](court::mean).
		digest: H256,
	},
	/// The rule for an early stop holds this after so many checkpoints, and has not stopped before the
	/// last of them.
	Stop {
		/// Checkpoints taken.
		taken: u32,
		/// The [digest](court::stop).
		digest: H256,
	},
	/// The training ends with so many checkpoints.
	Ends {
		/// Checkpoints.
		checkpoints: u32,
	},
}

impl<S: Said> Play<'_, S> {
	/// Returns the claims at a place where all that is due was said, in the order in which one rests on
	/// those before it.
	pub(super) fn claims_at(&self, stage: &Stage) -> Result<Vec<Claim>, Refused> {
		match stage.level {
			Level::Ends | Level::Judge { .. } => Err(Refused::NotNow),
			Level::Segment { steps, slices } => {
				let (from, to) = self.steps_of(stage)?;
				let Some(End::Checkpoint { state, evaluation, .. }) = stage.subject.end else {
					return Err(Refused::NoSuchTarget);
				};
				let mut claims = self.milestones(stage, from, to)?;
				let digest = court::milestone(to, &state, &steps);
				claims.push(Claim::Milestone { step: to, digest });
				claims.extend([Claim::Slices(slices), Claim::Evaluation(evaluation)]);
				Ok(claims)
			}
			Level::Diverged { state, steps, witness } => {
				let (from, to) = self.steps_of(stage)?;
				let mut claims = self.milestones(stage, from, to)?;
				// Before its first step, a segment has the state that is agreed.
				if to > from {
					let digest = court::milestone(to, &state, &steps);
					claims.push(Claim::Milestone { step: to, digest });
				}
				match witness {
					Witness::Evaluation { evaluation, slices } => {
						claims.extend([Claim::Slices(slices), Claim::Evaluation(evaluation)]);
					}
					_ => claims.push(Claim::NotFinite(witness)),
				}
				Ok(claims)
			}
			Level::Tensors { slices } => {
				let count = self.state_tensors();
				let mut claims = self.results_so_far(stage, 0, count, true)?;
				match (slices, stage.subject.end) {
					(Some(slices), Some(End::Checkpoint { evaluation, .. })) => {
						claims.extend([Claim::Slices(slices), Claim::Evaluation(evaluation)]);
					}
					// Whatever its tensors are, a file with another header is none of this job.
					_ => {
						let header = state_file(self.game.case).header.len() as u64;
						let chunks = 0..content::chunks(header);
						claims.extend(chunks.map(|chunk| Claim::Header { chunk }));
					}
				}
				Ok(claims)
			}
			Level::Steps { from, to, denied, .. } => {
				let mut claims = self.milestones(stage, from, to)?;
				claims.push(Claim::Milestone { step: to, digest: denied });
				Ok(claims)
			}
			Level::Slices { from, to, denied, .. } => {
				let claim = |(count, root)| Claim::SlicesSoFar { count, root };
				let posted = self.said_here(stage)?;
				let mut claims: Vec<_> =
					boundaries32(from, to, 1).into_iter().zip(posted).map(claim).collect();
				claims.push(Claim::SlicesSoFar { count: to, root: denied });
				Ok(claims)
			}
			Level::Results { scene, from, to, denied, .. } => {
				let mut claims = self.results_so_far(stage, from, to, denied.is_none())?;
				match (denied, scene) {
					(Some(root), _) => claims.push(Claim::Results { count: to, root }),
					(None, Scene::Step { after, .. }) => claims.push(Claim::After(after)),
					(None, Scene::Slice { losses, correct, .. }) => {
						claims.push(Claim::Slice { losses, correct });
					}
					(None, _) => {}
				}
				Ok(claims)
			}
			Level::Content { owner, node, .. } if node.chunks > 1 => {
				let bytes = self.content_bytes(&owner.scene, owner.result)?;
				let parts = node.parts(bytes, LEVELS).map_err(|_| Refused::NoSuchTarget)?;
				let posted = self.said_here(stage)?;
				let claim = |(node, value)| Claim::Node { node, value };
				Ok(parts.into_iter().zip(posted).map(claim).collect())
			}
			Level::Content { owner, node, .. } => {
				let (at, result) = (owner.scene.moment(), owner.result);
				let place = Place::Chunk { at, result, chunk: node.begin };
				let Some(Opened::Chunk { bytes }) = self.opened(&place) else {
					return Err(Refused::Unsaid);
				};
				let (words, _) = bytes.as_chunks::<4>();
				let first = node.begin.saturating_mul(256);
				let claim = |(element, word): (u64, &[u8; 4])| Claim::Word {
					element,
					bits: u32::from_le_bytes(*word),
				};
				Ok((first..).zip(words).map(claim).collect())
			}
			Level::Chain { owner, bits, from, to, denied, .. } => {
				let unit = self.stretch(&owner.scene, owner.result)?;
				let mut taken = boundaries(from, to, unit);
				if denied.is_none() {
					taken.push(to);
				}
				let posted = self.said_here(stage)?;
				let claim = |(taken, digest)| Claim::Chain { taken, digest };
				let mut claims: Vec<_> = taken.into_iter().zip(posted).map(claim).collect();
				claims.push(match denied {
					Some(digest) => Claim::Chain { taken: to, digest },
					None => Claim::Element { bits },
				});
				Ok(claims)
			}
			Level::Mean { evaluation, from, to, denied, .. } => {
				let taken = self.so_far(from, to, self.mean_stretch(), denied.is_none());
				let posted = self.said_here(stage)?;
				let claim = |(taken, digest)| Claim::Mean { taken, digest };
				let mut claims: Vec<_> = taken.into_iter().zip(posted).map(claim).collect();
				claims.push(match denied {
					Some(digest) => Claim::Mean { taken: to, digest },
					None => Claim::Evaluation(evaluation),
				});
				Ok(claims)
			}
			Level::Stops { from, to, denied, .. } => {
				let taken = self.so_far(from, to, STOP_STRETCH, denied.is_none());
				let posted = self.said_here(stage)?;
				let claim = |(taken, digest)| Claim::Stop { taken, digest };
				let mut claims: Vec<_> = taken.into_iter().zip(posted).map(claim).collect();
				claims.push(match denied {
					Some(digest) => Claim::Stop { taken: to, digest },
					None => Claim::Ends { checkpoints: to },
				});
				Ok(claims)
			}
		}
	}

	/// Returns where digests stand that are posted of a range: at its boundaries, and of a whole range
	/// also at its end.
	fn so_far(&self, from: u32, to: u32, unit: u32, whole: bool) -> Vec<u32> {
		let mut all = boundaries32(from, to, unit);
		if whole {
			all.push(to);
		}
		all
	}

	/// Returns the milestones that were posted between two steps.
	fn milestones(&self, stage: &Stage, from: u32, to: u32) -> Result<Vec<Claim>, Refused> {
		let steps = boundaries32(from, to, 1);
		// A place that takes no post has none.
		let posted = if steps.is_empty() { Roots::new() } else { self.said_here(stage)? };
		let claim = |(step, digest)| Claim::Milestone { step, digest };
		Ok(steps.into_iter().zip(posted).map(claim).collect())
	}

	/// Returns the prefix roots over results that were posted.
	fn results_so_far(
		&self,
		stage: &Stage,
		from: u32,
		to: u32,
		whole: bool,
	) -> Result<Vec<Claim>, Refused> {
		let posted = self.said_here(stage)?;
		let claim = |(count, root)| Claim::Results { count, root };
		Ok(self.so_far(from, to, 1, whole).into_iter().zip(posted).map(claim).collect())
	}

	/// Returns what was posted where a dispute stands.
	fn said_here(&self, stage: &Stage) -> Result<Roots, Refused> {
		stage.place().and_then(|place| self.posted(&place)).ok_or(Refused::Unsaid)
	}
}

/// Returns the root over no leaves.
pub(super) fn nothing() -> H256 {
	merkle::root(&[])
}
