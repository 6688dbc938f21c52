//! How a dispute begins.

use super::{
	play::Play,
	types::{
		Claimed, End, Leaf, LeafContent, Level, Moved, Next, Outcome, Said, Stage, Subject, Target,
		Turn,
	},
	Game, Refused,
};
use trainyard_protocol::{
	bundle::{Checkpoint, Diverged, Evaluation},
	merkle, trace, H256,
};

/// A result with a leaf that no true result has.
struct Impossible;

/// Returns the sealed trace without a leaf: of a training that ended before its first step.
fn sealed_nothing() -> H256 {
	trace::seal(&merkle::root(&[]))
}

impl<'a, S: Said> Game<'a, S> {
	/// Begins a dispute about `target`.
	///
	/// `leaves` are those of the result that the target is about, in ascending index: leaf 0 of
	/// [`Target::Start`], leaves `s` and `s + 1` of [`Target::Segment`], leaf `s` of
	/// [`Target::Evidence`], the last checkpoint of [`Target::Model`], that of the state of
	/// [`Target::Rescue`], none of [`Target::Stop`]. `revealed` is the end that the seat revealed, of
	/// [`Target::Evidence`] alone.
	///
	/// Where a leaf, or what was revealed, is such that no true result has it, whatever was computed,
	/// the dispute ends at once. A leaf that was opened as forced counts with its true trace. Fails with [`Refused::NoSuchTarget`], [`Refused::WrongLeaves`] and
	/// [`Refused::NothingDenied`].
	pub fn begin(
		self,
		target: Target,
		claimed: &Claimed,
		leaves: &[Leaf],
		revealed: Option<&End>,
	) -> Result<Moved, Refused> {
		let indices = self.leaves_of(&target)?;
		if revealed.is_some() != matches!(target, Target::Evidence(_)) {
			return Err(Refused::NoSuchTarget);
		}
		if indices.len() != leaves.len() {
			return Err(Refused::WrongLeaves);
		}
		let count = self.result.leaves();
		for (index, Leaf { content, path }) in indices.iter().zip(leaves) {
			let root = &self.result.bundle_root;
			if !merkle::verify(root, &content.leaf(), *index, count, path) {
				return Err(Refused::WrongLeaves);
			}
		}
		let sound = indices
			.iter()
			.zip(leaves)
			.try_for_each(|(index, leaf)| self.check_leaf(*index, &leaf.content));
		let (begin, end) = match (sound, target) {
			(Ok(()), _) => self.compared(&target, leaves, revealed)?,
			// That is not the seat's fault.
			(Err(Impossible), Target::Evidence(_)) => return Err(Refused::NoSuchTarget),
			(Err(Impossible), _) => return Ok(Moved::ended(Outcome::Convicted)),
		};
		let mut play = Play::new(self);
		let end = play.computed(&target, end);
		match (claimed, &end) {
			(Claimed::End(claimed), Some(end)) if claimed != end => {}
			(Claimed::Other, None) => {}
			_ => return Err(Refused::NothingDenied),
		}
		if let (Target::Evidence(segment), Some(end)) = (target, &end) {
			if self.check_revealed(segment, end).is_err() {
				return Ok(Moved::ended(Outcome::Convicted));
			}
		}
		// Where an initial state has no finite loss, its only segment has no steps, and there is one
		// end that can stand for it, also as the evidence of a seat: nothing opens it. A seat that
		// revealed another one has to show how it came to it.
		if let (Some(Leaf { content: LeafContent::Checkpoint(first), .. }), Some(end)) =
			(leaves.first(), end.filter(|_| target != Target::Start))
		{
			if first.evaluation == Evaluation::NONE {
				let nothing = End::Diverged(Diverged { step: 0, trace: sealed_nothing() });
				match target {
					_ if end == nothing => return Err(Refused::NoSuchTarget),
					Target::Evidence(_) => {}
					_ => return Ok(Moved::ended(Outcome::Convicted)),
				}
			}
		}
		let level = match target {
			Target::Stop => {
				let to = self.result.segments.saturating_add(1);
				Level::Stops { from: 0, to, agreed: None, denied: None }
			}
			_ => Level::Ends,
		};
		let subject = Subject { target, begin, end };
		let stage = play.settle(Stage { subject, level, turn: Turn::Defender })?;
		Ok(Moved { next: Next::Stage(stage), said: play.fresh })
	}

	/// Returns the indices of the leaves that a target needs.
	fn leaves_of(&self, target: &Target) -> Result<alloc::vec::Vec<u32>, Refused> {
		let result = self.result;
		if self.case.spec.checkpoint_step(result.segments).is_none() {
			return Err(Refused::NoSuchTarget);
		}
		match *target {
			Target::Start => Ok(alloc::vec![0]),
			Target::Segment(segment) if segment < result.trained() => {
				Ok(alloc::vec![segment, segment.saturating_add(1)])
			}
			Target::Evidence(segment) if segment < result.trained() => Ok(alloc::vec![segment]),
			Target::Stop if self.case.spec.training.early_stop.is_some() => Ok(alloc::vec![]),
			Target::Model => Ok(alloc::vec![result.segments]),
			Target::Rescue { state, .. } if state <= result.segments => Ok(alloc::vec![state]),
			_ => Err(Refused::NoSuchTarget),
		}
	}

	/// Returns the state that is agreed, and the end that is denied.
	fn compared(
		&self,
		target: &Target,
		leaves: &[Leaf],
		revealed: Option<&End>,
	) -> Result<(H256, Option<End>), Refused> {
		let state = |leaf: &Leaf| match leaf.content {
			LeafContent::Checkpoint(Checkpoint { state, .. }) => Ok(state),
			LeafContent::Diverged(_) => Err(Refused::WrongLeaves),
		};
		match (target, leaves) {
			(Target::Start, [first]) => Ok((H256::zero(), Some(first.content.end()))),
			(Target::Segment(_), [begin, end]) => Ok((state(begin)?, Some(end.content.end()))),
			(Target::Evidence(_), [begin]) => Ok((state(begin)?, revealed.copied())),
			(Target::Model | Target::Rescue { .. }, [leaf]) => Ok((state(leaf)?, None)),
			(Target::Stop, []) => Ok((H256::zero(), None)),
			_ => Err(Refused::WrongLeaves),
		}
	}

	/// Checks what a leaf says by itself.
	fn check_leaf(&self, index: u32, leaf: &LeafContent) -> Result<(), Impossible> {
		let result = self.result;
		match leaf {
			LeafContent::Checkpoint(checkpoint) if index <= result.segments => {
				let step = self.case.spec.checkpoint_step(index);
				if step != Some(checkpoint.step) {
					return Err(Impossible);
				}
				let none = checkpoint.evaluation == Evaluation::NONE;
				// Such a training ends before its first step, and its trace has no leaf.
				match none && index == 0 && result.diverged && result.segments == 0 {
					true if checkpoint.trace == sealed_nothing() => Ok(()),
					true => Err(Impossible),
					false => self.check_evaluation(&checkpoint.evaluation),
				}
			}
			LeafContent::Diverged(diverged) if index > result.segments => {
				self.check_step(result.segments, diverged)
			}
			_ => Err(Impossible),
		}
	}

	/// Checks what a seat revealed by itself.
	fn check_revealed(&self, segment: u32, end: &End) -> Result<(), Impossible> {
		match end {
			End::Checkpoint { evaluation, .. } => self.check_evaluation(evaluation),
			End::Diverged(diverged) => self.check_step(segment, diverged),
		}
	}

	/// Checks an evaluation of a state from which training goes on.
	fn check_evaluation(&self, evaluation: &Evaluation) -> Result<(), Impossible> {
		let spec = &self.case.spec;
		let labels =
			u64::from(spec.dataset.validation_rows).saturating_mul(spec.labels_per_row().into());
		match evaluation.loss().is_finite() && u64::from(evaluation.labels) == labels {
			true => Ok(()),
			false => Err(Impossible),
		}
	}

	/// Checks where training is said to have diverged in a segment.
	fn check_step(&self, segment: u32, diverged: &Diverged) -> Result<(), Impossible> {
		let spec = &self.case.spec;
		let from = spec.checkpoint_step(segment).ok_or(Impossible)?;
		let to = spec.checkpoint_step(segment.saturating_add(1)).ok_or(Impossible)?;
		match (from..=to).contains(&diverged.step) {
			true => Ok(()),
			false => Err(Impossible),
		}
	}
}
