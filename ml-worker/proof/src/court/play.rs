//! The moves of a party that has a recorder.

use super::{lock, RecordError, Recorder};
use trainyard_court::{
	game::{
		player::{Denial, Player},
		End, Game, Level, Moment, Opening, Piece, Roots, Said, Stage, Target,
	},
	referee::Openings,
};

impl Recorder {
	/// Returns the post that is due where a dispute stands; `None` where none is.
	pub fn post<S: Said>(
		&self,
		game: Game<'_, S>,
		stage: &Stage,
	) -> Result<Option<Roots>, RecordError> {
		self.asked(stage, |player| player.post(game, stage))
	}

	/// Returns what opens the place where a dispute stands, with the post that then is due; `None` where
	/// nothing is to be opened. Fails with [`RecordError::OtherThanClaimed`] where the segment that is
	/// accused does not come to what was claimed: then there is nothing to defend.
	pub fn open<S: Said>(
		&self,
		game: Game<'_, S>,
		stage: &Stage,
	) -> Result<Option<Opening>, RecordError> {
		let opening = self.asked(stage, |player| player.open(game, stage))?;
		if let (Level::Ends, Some(segment), Some(end)) =
			(stage.level, segment(stage), stage.subject.end)
		{
			self.check_end(segment, &end)?;
		}
		Ok(opening)
	}

	/// Returns what the challenger does where it is to move: it denies the first claim that is not what
	/// this recorder comes to. `None` where there is none.
	pub fn deny<S: Said>(
		&self,
		game: Game<'_, S>,
		stage: &Stage,
	) -> Result<Option<Denial>, RecordError> {
		self.asked(stage, |player| player.deny(game, stage))
	}

	/// Returns the openings of the piece to which a dispute has come; `None` where it has come to none.
	pub fn openings(&self, stage: &Stage) -> Result<Option<Openings>, RecordError> {
		self.asked(stage, |player| player.openings(stage))
	}

	/// Returns what a player says. Fails where something that it was asked for cannot be computed:
	/// nothing that it then says is an answer.
	fn asked<'a, T>(
		&'a self,
		stage: &Stage,
		say: impl FnOnce(Player<'a, Self>) -> Option<T>,
	) -> Result<Option<T>, RecordError> {
		*lock(&self.failure) = None;
		self.prepare(stage)?;
		let said = say(Player { case: &self.case, record: self });
		match lock(&self.failure).take() {
			Some(error) => Err(error),
			None => Ok(said),
		}
	}

	/// Computes in one pass what a place asks for of many steps.
	fn prepare(&self, stage: &Stage) -> Result<(), RecordError> {
		let Some(segment) = segment(stage) else { return Ok(()) };
		match stage.level {
			Level::Ends | Level::Segment { .. } | Level::Diverged { .. } => {
				let (from, end) = self.steps_of(segment)?;
				let to = match stage.subject.end {
					Some(End::Diverged(diverged)) => diverged.step.clamp(from, end),
					_ => end,
				};
				self.milestones(segment, from, to)
			}
			Level::Steps { from, to, .. } => self.milestones(segment, from, to),
			// What is asked for from here on reads one state, which is kept.
			level => match moment(&level) {
				Some(Moment::Step { segment, step }) => {
					self.milestones(segment, step, step.saturating_add(1))
				}
				_ => {
					let (_, end) = self.steps_of(segment)?;
					self.milestones(segment, end, end)
				}
			},
		}
	}
}

/// Returns the step or slice of a dispute, where it has come to one.
fn moment(level: &Level) -> Option<Moment> {
	match level {
		Level::Results { scene, .. } => Some(scene.moment()),
		Level::Content { owner, .. } | Level::Chain { owner, .. } => Some(owner.scene.moment()),
		Level::Judge { piece: Piece::Stretch { at, .. } } => Some(*at),
		Level::Judge {
			piece: Piece::StepJoin { segment, step, .. } | Piece::NotFinite { segment, step, .. },
		} => Some(Moment::Step { segment: *segment, step: *step }),
		_ => None,
	}
}

/// Returns the segment that a dispute is about, if it is about one.
fn segment(stage: &Stage) -> Option<u32> {
	match stage.subject.target {
		Target::Segment(segment) | Target::Evidence(segment) => Some(segment),
		_ => None,
	}
}
