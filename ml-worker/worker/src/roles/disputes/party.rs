//! What a party computes its moves from.

use std::{error::Error, sync::Arc};
use trainyard_client::{
	court::{Defendant, Said},
	GroupView, JobView,
};
use trainyard_court::{
	game::{
		player::{Denial, Player, Record},
		Game, Opening, Roots, Stage,
	},
	referee::Openings,
	Case,
};
use trainyard_proof::court::Recorder;
use trainyard_protocol::job::WorkResult;

/// Why a party cannot compute its move.
pub type PartyError = Box<dyn Error + Send + Sync>;

/// Computes what a party says, from its own files. A `None` is that it has nothing to say there: a
/// defender that does not have it, or a challenger that agrees with everything.
pub trait Party: Send + Sync {
	/// Returns the post that is due.
	fn post(&self, game: Game<'_, Said>, stage: &Stage) -> Result<Option<Roots>, PartyError>;

	/// Returns what opens the place, with the post that then is due.
	fn open(&self, game: Game<'_, Said>, stage: &Stage) -> Result<Option<Opening>, PartyError>;

	/// Returns what the challenger does.
	fn deny(&self, game: Game<'_, Said>, stage: &Stage) -> Result<Option<Denial>, PartyError>;

	/// Returns the openings of a piece.
	fn openings(&self, stage: &Stage) -> Result<Option<Openings>, PartyError>;
}

/// What a dispute is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
	/// Specification and seed.
	pub case: Case,
	/// The defendant's result; of a seat the result that it replayed.
	pub result: WorkResult,
}

impl Subject {
	/// Returns what disputes with a defendant are about, by its job as the chain shows it. `None` where
	/// the defendant claims nothing.
	pub fn of(job: &JobView, defendant: &Defendant) -> Option<Self> {
		let result = match defendant {
			_ if defendant.job() != job.id => return None,
			Defendant::Trainer { who, .. } => {
				let mine = job.replicas.iter().find(|replica| replica.trainer == *who)?;
				mine.reveal.as_ref()?.result()
			}
			Defendant::Seat { bundle_root, .. } => {
				let groups = &job.audit.as_ref()?.groups;
				let root = *bundle_root;
				let has = |group: &&GroupView| {
					let mut bundles = group.bundles.iter();
					group.result.bundle_root == root || bundles.any(|bundle| bundle.root == root)
				};
				WorkResult { bundle_root: root, ..groups.iter().find(has)?.result }
			}
		};
		let (spec, seed) = (job.spec.clone().check().ok()?, job.seed?);
		Some(Self { case: Case { spec, seed }, result })
	}
}

/// What a dispute is about, and who computes.
#[derive(Clone)]
pub struct Matter {
	/// What it is about.
	pub subject: Subject,
	/// Computes this side's moves.
	pub party: Arc<dyn Party>,
}

impl Party for Recorder {
	fn post(&self, game: Game<'_, Said>, stage: &Stage) -> Result<Option<Roots>, PartyError> {
		Ok(Recorder::post(self, game, stage)?)
	}

	fn open(&self, game: Game<'_, Said>, stage: &Stage) -> Result<Option<Opening>, PartyError> {
		Ok(Recorder::open(self, game, stage)?)
	}

	fn deny(&self, game: Game<'_, Said>, stage: &Stage) -> Result<Option<Denial>, PartyError> {
		Ok(Recorder::deny(self, game, stage)?)
	}

	fn openings(&self, stage: &Stage) -> Result<Option<Openings>, PartyError> {
		Ok(Recorder::openings(self, stage)?)
	}
}

/// A party with a record in memory.
pub struct InMemory<R> {
	/// Specification and seed.
	pub case: Case,
	/// What it holds.
	pub record: R,
}

impl<R: Record + Send + Sync> InMemory<R> {
	fn player(&self) -> Player<'_, R> {
		Player { case: &self.case, record: &self.record }
	}
}

impl<R: Record + Send + Sync> Party for InMemory<R> {
	fn post(&self, game: Game<'_, Said>, stage: &Stage) -> Result<Option<Roots>, PartyError> {
		Ok(self.player().post(game, stage))
	}

	fn open(&self, game: Game<'_, Said>, stage: &Stage) -> Result<Option<Opening>, PartyError> {
		Ok(self.player().open(game, stage))
	}

	fn deny(&self, game: Game<'_, Said>, stage: &Stage) -> Result<Option<Denial>, PartyError> {
		Ok(self.player().deny(game, stage))
	}

	fn openings(&self, stage: &Stage) -> Result<Option<Openings>, PartyError> {
		Ok(self.player().openings(stage))
	}
}
