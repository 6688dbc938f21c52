//! The moves.

use super::narrow::not_finite_state;
use super::{
	claims::Claim,
	play::Play,
	ranges::parts_between,
	types::{
		After, End, Entry, Level, Moved, Next, Opened, Opening, Piece, Place, Roots, Said, Scene,
		Stage, Turn, Witness, LEVELS,
	},
	Game, Refused, STOP_STRETCH,
};
use alloc::vec::Vec;
use trainyard_program::ops::Role;

/// What a defender has to say where a dispute stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
	/// The place is to be opened.
	Opening,
	/// So many digests are to be posted.
	Post(u32),
	/// Nothing: what the place takes stands.
	Nothing,
}

impl<'a, S: Said> Game<'a, S> {
	/// Returns what the defendant claims where the challenger is to move, in the order in which one
	/// claim rests on those before it. The challenger [denies](Self::deny) one of them. Fails with
	/// [`Refused::NotNow`] where it is not its turn.
	pub fn claims(self, stage: &Stage) -> Result<Vec<Claim>, Refused> {
		at_turn(stage, Turn::Challenger)?;
		Play::new(self).claims_at(stage)
	}

	/// Returns what the defender has to say where it is to move: by [`open`](Self::open) or by
	/// [`post`](Self::post). Fails with [`Refused::NotNow`] where it is not its turn.
	pub fn due(self, stage: &Stage) -> Result<Due, Refused> {
		at_turn(stage, Turn::Defender)?;
		Play::new(self).due(stage)
	}

	/// Goes on by what the defender said in other disputes, or opened as forced. Whoever keeps disputes
	/// calls it for all that stand at a place where something was said. A stage that then
	/// [grants](Stage::grants) what was claimed is the end of a dispute.
	pub fn advance(self, stage: &Stage) -> Result<Stage, Refused> {
		Play::new(self).settle(*stage)
	}

	/// The defender posts digests at `place`, where the dispute must stand: a post that was meant for
	/// another place would bind its account to what it did not compute.
	pub fn post(self, stage: &Stage, place: &Place, roots: &Roots) -> Result<Moved, Refused> {
		at_turn(stage, Turn::Defender)?;
		at_place(stage, place)?;
		let mut play = Play::new(self);
		play.take_post(stage, roots)?;
		let stage = play.settle(*stage)?;
		Ok(Moved { next: Next::Stage(stage), said: play.fresh })
	}

	/// The defender opens `place`, and posts what the place takes to which that leads.
	pub fn open(self, stage: &Stage, place: &Place, opening: &Opening) -> Result<Moved, Refused> {
		at_turn(stage, Turn::Defender)?;
		at_place(stage, place)?;
		let mut play = Play::new(self);
		let mut stage = play.unforced(stage);
		play.take_opening(&stage, opening)?;
		stage = play.settle(stage)?;
		match (stage.turn, play.due(&stage)?) {
			(Turn::Defender, Due::Post(_)) => {
				play.take_post(&stage, &opening.roots)?;
				stage = play.settle(stage)?;
			}
			_ if !opening.roots.is_empty() => return Err(Refused::WrongCount { expected: 0 }),
			_ => {}
		}
		Ok(Moved { next: Next::Stage(stage), said: play.fresh })
	}

	/// Returns where an opening leads, but for the digests that it posts: what these are for.
	pub fn led(self, stage: &Stage, opening: &Opening) -> Result<Stage, Refused> {
		at_turn(stage, Turn::Defender)?;
		let mut play = Play::new(self);
		let stage = play.unforced(stage);
		play.take_opening(&stage, opening)?;
		play.settle(stage)
	}

	/// The challenger denies claim `at` of the [claims](Self::claims) at `place`, and agrees with those
	/// before it.
	pub fn deny(self, stage: &Stage, place: &Place, at: u32) -> Result<Moved, Refused> {
		at_turn(stage, Turn::Challenger)?;
		at_place(stage, place)?;
		let mut play = Play::new(self);
		let claims = play.claims_at(stage)?;
		let level = play.narrow(stage, &claims, usize::try_from(at).unwrap_or(usize::MAX))?;
		let stage = play.settle(Stage { level, ..*stage })?;
		Ok(Moved { next: Next::Stage(stage), said: play.fresh })
	}

	/// The challenger agrees with all that is claimed of a step, or of the state at the end of a
	/// segment, and names a number in it that is not finite: a training that goes on past it is false.
	///
	/// Takes a [`Witness::Result`] where all results of a step can be agreed with, and a
	/// [`Witness::State`] where a segment can. (A leaf with an evaluation that is not finite
	/// [begins](Self::begin) no dispute.) Fails with [`Refused::NoSuchWitness`].
	pub fn show(self, stage: &Stage, place: &Place, witness: &Witness) -> Result<Moved, Refused> {
		at_turn(stage, Turn::Challenger)?;
		at_place(stage, place)?;
		let play = Play::new(self);
		let piece = match (stage.level, *witness) {
			(
				Level::Results { scene, denied: None, to, .. },
				Witness::Result { result, element },
			) => {
				let Scene::Step { segment, step, after: After::Next { .. }, .. } = scene else {
					return Err(Refused::NotNow);
				};
				play.check_witness(&scene, witness)?;
				let claims = play.claims_at(stage)?;
				let all = claims.iter().find_map(|claim| match claim {
					Claim::Results { count, root } if *count == to => Some(*root),
					_ => None,
				});
				let results = all.ok_or(Refused::Unsaid)?;
				let by_defender = false;
				Piece::NotFinite { segment, step, results, result, element, by_defender }
			}
			(Level::Segment { .. }, Witness::State { tensor, element }) => {
				let Some(End::Checkpoint { state, .. }) = stage.subject.end else {
					return Err(Refused::NotNow);
				};
				let elements = play.tensors().elements(tensor);
				elements.filter(|all| element < *all).ok_or(Refused::NoSuchWitness)?;
				not_finite_state(state, tensor, element, false)
			}
			(Level::Results { denied: None, .. } | Level::Segment { .. }, _) => {
				return Err(Refused::NoSuchWitness);
			}
			_ => return Err(Refused::NotNow),
		};
		let stage = Stage { level: Level::Judge { piece }, turn: Turn::Piece, ..*stage };
		Ok(Moved { next: Next::Stage(stage), said: Vec::new() })
	}
}

fn at_turn(stage: &Stage, turn: Turn) -> Result<(), Refused> {
	match stage.turn == turn {
		true => Ok(()),
		false => Err(Refused::NotNow),
	}
}

fn at_place(stage: &Stage, place: &Place) -> Result<(), Refused> {
	match stage.place().as_ref() == Some(place) {
		true => Ok(()),
		false => Err(Refused::WrongPlace),
	}
}

impl<S: Said> Play<'_, S> {
	/// Returns what is due where a dispute stands, whether or not it was said.
	pub(super) fn due(&self, stage: &Stage) -> Result<Due, Refused> {
		let posts = |count: u32| match count {
			0 => Due::Nothing,
			_ => Due::Post(count),
		};
		// Of a whole range, the last digest is posted, too.
		let range = |from: u32, to: u32, unit: u32, whole: bool| {
			let between = parts_between(from.into(), to.into(), unit.into());
			posts(between.saturating_add(u32::from(whole)))
		};
		Ok(match stage.level {
			Level::Ends => Due::Opening,
			Level::Segment { .. } | Level::Diverged { .. } => {
				let (from, to) = self.steps_of(stage)?;
				range(from, to, 1, false)
			}
			Level::Tensors { .. } | Level::Judge { .. } => Due::Nothing,
			Level::Steps { from, to, .. } | Level::Slices { from, to, .. } => {
				match to.saturating_sub(from) {
					1 => Due::Opening,
					_ => range(from, to, 1, false),
				}
			}
			Level::Results { from, to, denied, .. } => match denied {
				Some(_) if to.saturating_sub(from) == 1 => Due::Opening,
				_ => range(from, to, 1, denied.is_none()),
			},
			Level::Content { node, .. } if node.chunks == 1 => Due::Opening,
			Level::Content { owner, node, .. } => {
				let bytes = self.content_bytes(&owner.scene, owner.result)?;
				let parts = node.parts(bytes, LEVELS).map_err(|_| Refused::NoSuchTarget)?;
				posts(u32::try_from(parts.len()).unwrap_or(u32::MAX))
			}
			Level::Chain { owner, from, to, denied, .. } => {
				let between = parts_between(from, to, self.stretch(&owner.scene, owner.result)?);
				posts(between.saturating_add(u32::from(denied.is_none())))
			}
			Level::Mean { from, to, denied, .. } => {
				range(from, to, self.mean_stretch(), denied.is_none())
			}
			Level::Stops { from, to, denied, .. } => {
				range(from, to, STOP_STRETCH, denied.is_none())
			}
		})
	}

	/// Goes on from where a dispute stands as far as nobody has to say or to choose anything.
	pub(super) fn settle(&mut self, stage: Stage) -> Result<Stage, Refused> {
		let mut stage = self.unforced(&stage);
		loop {
			if matches!(stage.level, Level::Judge { .. }) {
				return Ok(Stage { turn: Turn::Piece, ..stage });
			}
			if let Some(piece) = self.piece_of(&stage)? {
				stage.level = Level::Judge { piece };
				continue;
			}
			let place = stage.place().ok_or(Refused::NotNow)?;
			match self.due(&stage)? {
				Due::Opening => match self.opened(&place) {
					// Its words are claims.
					Some(Opened::Chunk { .. }) => {}
					Some(opened) => match self.enter(&stage, &opened) {
						Ok(level) => {
							stage.level = level;
							continue;
						}
						// It said something else before, which does not lead here: of one result that
						// cannot be, and a seat that revealed two ends has nothing to say any more.
						Err(Refused::WrongOpening | Refused::NoSuchWitness) => {
							return Ok(Stage { turn: Turn::Defender, ..stage });
						}
						Err(error) => return Err(error),
					},
					None => return Ok(Stage { turn: Turn::Defender, ..stage }),
				},
				Due::Post(_) if self.posted(&place).is_none() => {
					return Ok(Stage { turn: Turn::Defender, ..stage });
				}
				Due::Post(_) | Due::Nothing => {}
			}
			let claims = self.claims_at(&stage)?;
			if claims.len() != 1 {
				return Ok(Stage { turn: Turn::Challenger, ..stage });
			}
			let level = self.narrow(&stage, &claims, 0)?;
			// Of a range that is none, the only claim is its end.
			if level == stage.level {
				return Err(Refused::NoSuchTarget);
			}
			stage.level = level;
		}
	}

	/// Takes a post where a dispute stands.
	fn take_post(&mut self, stage: &Stage, roots: &Roots) -> Result<(), Refused> {
		let place = stage.place().ok_or(Refused::NotNow)?;
		let Due::Post(expected) = self.due(stage)? else { return Err(Refused::NotNow) };
		if self.posted(&place).is_some() {
			return Err(Refused::AlreadySaid);
		}
		if u32::try_from(roots.len()) != Ok(expected) {
			return Err(Refused::WrongCount { expected });
		}
		if let Level::Content { owner, node, value } = stage.level {
			let bytes = self.content_bytes(&owner.scene, owner.result)?;
			if node.merge(bytes, LEVELS, roots) != Ok(value) {
				return Err(Refused::WrongRoots);
			}
		}
		self.fresh.push(Entry::Posted(place, roots.clone()));
		Ok(())
	}

	/// Checks that a number can make a training diverge in this step.
	pub(super) fn check_witness(&self, scene: &Scene, witness: &Witness) -> Result<(), Refused> {
		let Witness::Result { result, element } = *witness else {
			return Err(Refused::NoSuchWitness);
		};
		let lowered = self.lowered(scene)?;
		let role = lowered.role(result).map_err(|_| Refused::NoSuchWitness)?;
		let counts = matches!(role, Role::Loss | Role::Next(_));
		let exists = self.elements(scene, result).is_ok_and(|elements| element < elements);
		match counts && exists {
			true => Ok(()),
			false => Err(Refused::NoSuchWitness),
		}
	}
}
