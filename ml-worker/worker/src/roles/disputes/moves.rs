//! Computes a move, checks it by the rules of the game as the chain does, and names its call.

use super::{
	journal::Written,
	party::{Matter, PartyError, Subject},
	plan::{stage_hash, Due, Step},
};
use trainyard_client::{
	court::{calls, Dispute, DisputeId, Said, Side},
	Call,
};
use trainyard_court::{
	game::{self, player::Denial, Game, Opening, Place, Refused, Roots, Stage, Witness},
	referee::Openings,
};
use trainyard_proof::hash;
use trainyard_protocol::job::BlockNumber;

/// What is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Move {
	/// Digests.
	Post(Place, Roots),
	/// What was asked for.
	Open(Place, Box<Opening>),
	/// The first claim that is denied.
	Deny(Place, u32),
	/// A number that is not finite.
	Show(Place, Witness),
	/// What the piece reads.
	Judge(Box<Openings>),
	/// The turn is over.
	Poke,
}

/// Why there is no move.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
	/// It cannot be computed.
	#[error("the move cannot be computed: {0}")]
	Party(PartyError),
	/// What is asked for is not in this party's record.
	#[error(
		"nothing that answers is in the files of the job: they are not those of the result, or are \
		 damaged. `trainyard verify` checks them"
	)]
	Nothing,
	/// The challenger finds nothing that is false.
	#[error(
		"everything that the defendant says is what was computed here: the accusation is false"
	)]
	Agrees,
	/// The chain would refuse it.
	#[error("the move that was computed breaks the rules of the game: {0}")]
	Refused(Refused),
	/// The referee would decide against this side.
	#[error(
		"the referee would decide for the other side by these openings, so they are not sent: the \
		 files of the job are damaged, or this machine computes wrong"
	)]
	Loses,
	/// Another move is due.
	#[error("the dispute stands where another move is due")]
	NotDue,
}

impl From<Refused> for MoveError {
	fn from(refused: Refused) -> Self {
		match refused {
			Refused::NotNow => MoveError::NotDue,
			refused => MoveError::Refused(refused),
		}
	}
}

impl Move {
	/// Returns the move that is due in a step of a dispute which stands at `stage`, after `said`.
	pub fn compute(
		matter: &Matter,
		stage: &Stage,
		said: &Said,
		step: &Step,
	) -> Result<Self, MoveError> {
		let Matter { subject: Subject { case, result }, party } = matter;
		let game = Game { case, result, said };
		match step.due {
			Due::Poke => Ok(Self::Poke),
			// What stands already is not said again.
			Due::Say if game.advance(stage)? != *stage => Ok(Self::Poke),
			Due::Say => {
				let place = stage.place().ok_or(MoveError::NotDue)?;
				match game.due(stage)? {
					game::Due::Nothing => Err(MoveError::NotDue),
					game::Due::Opening => {
						let opening = party.open(game, stage).map_err(MoveError::Party)?;
						let opening = opening.ok_or(MoveError::Nothing)?;
						game.open(stage, &place, &opening)?;
						Ok(Self::Open(place, Box::new(opening)))
					}
					game::Due::Post(_) => {
						let roots = party.post(game, stage).map_err(MoveError::Party)?;
						let roots = roots.ok_or(MoveError::Nothing)?;
						game.post(stage, &place, &roots)?;
						Ok(Self::Post(place, roots))
					}
				}
			}
			Due::Answer => {
				let place = stage.place().ok_or(MoveError::NotDue)?;
				let denial = party.deny(game, stage).map_err(MoveError::Party)?;
				match denial.ok_or(MoveError::Agrees)? {
					Denial::Deny(at) => {
						game.deny(stage, &place, at)?;
						Ok(Self::Deny(place, at))
					}
					Denial::Show(witness) => {
						game.show(stage, &place, &witness)?;
						Ok(Self::Show(place, witness))
					}
				}
			}
			Due::Judge => {
				let openings = party.openings(stage).map_err(MoveError::Party)?;
				let openings = openings.ok_or(MoveError::Nothing)?;
				let (_, judgement) = game.judge(stage, &openings)?;
				match judgement.is_same() == (step.side == Side::Defender) {
					true => Ok(Self::Judge(Box::new(openings))),
					false => Err(MoveError::Loses),
				}
			}
		}
	}

	/// Returns its call.
	pub fn call(&self, id: DisputeId) -> Call {
		match self {
			Self::Post(place, roots) => calls::post(id, place, roots),
			Self::Open(place, opening) => calls::open(id, place, opening),
			Self::Deny(place, at) => calls::deny(id, place, *at),
			Self::Show(place, witness) => calls::show(id, place, witness),
			Self::Judge(openings) => calls::judge(id, openings),
			Self::Poke => calls::poke(id),
		}
	}

	/// Returns the name of its call.
	pub fn name(&self) -> &'static str {
		match self {
			Self::Post(..) => "post",
			Self::Open(..) => "open",
			Self::Deny(..) => "deny",
			Self::Show(..) => "show",
			Self::Judge(_) => "judge",
			Self::Poke => "poke",
		}
	}

	/// Returns what is written down of it before it is sent at `height`.
	pub fn written(&self, id: DisputeId, dispute: &Dispute, height: BlockNumber) -> Written {
		let call = self.call(id);
		let place = match self {
			Self::Judge(_) | Self::Poke => String::new(),
			_ => dispute.stage.place().map(|place| format!("{place:?}")).unwrap_or_default(),
		};
		Written {
			stage: stage_hash(&dispute.stage),
			height,
			moves: dispute.moves,
			call: self.name().into(),
			place,
			bytes: call.arguments().len() as u64,
			hash: hash::blake2_256(call.arguments()),
		}
	}
}
