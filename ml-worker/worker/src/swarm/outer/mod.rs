//! Outer steps: all peers of a swarm train one model, and move it together.
//!
//! - [`steps`] is what is computed, [`files`] what of that is on disk and served, [`position`] where a peer stands;
//! - `turns` is what a peer does while a step trains: it goes on to the model of the step, trains, and commits;
//! - `vouching` is what it does after that: it takes the updates of all, and vouches for what is right;
//! - `replaying` computes one of them again that it draws, or that somebody says is false.
//!
//! A peer computes each next model by itself from what counts, so it needs nobody for it but one that has the
//! updates. Only who comes late, or was away for longer than the chain remembers, takes the model that most
//! contributions of the last step begin with.

pub mod files;
pub mod position;
mod replaying;
pub mod steps;
#[cfg(test)]
mod tests;
mod turns;
mod vouching;

use self::{
	files::OuterFiles,
	position::OuterPosition,
	steps::{Frame, StepError},
};
use std::{
	collections::{BTreeMap, BTreeSet},
	path::Path,
	sync::Arc,
};
use trainyard_client::AccountId32;
use trainyard_mixing::Update;
use trainyard_program::spec::CheckedSpec;
use trainyard_protocol::{swarm::OuterRule, H256};

/// What a peer knows of outer steps.
pub struct Outer {
	frame: Arc<Frame>,
	files: OuterFiles,
	position: OuterPosition,
	/// What it does about the step whose training is over.
	review: Review,
	/// Updates of the step that was looked at last.
	read: ReadUpdates,
	/// What counts of steps below this one changes no more.
	settled: u32,
	/// Whose contributions to which steps others say are false, and who says so.
	accused: BTreeMap<(u32, AccountId32), BTreeSet<AccountId32>>,
	/// Whose contributions it computed again, and whether that came to the same.
	replayed: BTreeMap<(u32, AccountId32), bool>,
	/// Whose word that a contribution is false was not true.
	alarmists: BTreeSet<AccountId32>,
}

/// What a peer does about one step.
#[derive(Default)]
struct Review {
	step: u32,
	/// The last bits for which it vouched.
	vouched: Option<u64>,
	/// Whose contribution it drew to be computed again, once it drew.
	drawn: Option<Option<AccountId32>>,
	/// Whose contribution could not be computed again, since something that is needed did not come.
	unserved: BTreeSet<AccountId32>,
}

/// Updates that were read, of one step: as many as can contribute to it.
#[derive(Default)]
struct ReadUpdates {
	step: u32,
	/// By their roots; none where the bytes are no update.
	updates: BTreeMap<H256, Option<Arc<Update>>>,
}

impl ReadUpdates {
	/// Returns those of this step, and forgets those of any other.
	fn of(&mut self, step: u32) -> &mut BTreeMap<H256, Option<Arc<Update>>> {
		if self.step != step {
			*self = Self { step, updates: BTreeMap::new() };
		}
		&mut self.updates
	}

	fn clear(&mut self) {
		self.updates.clear();
	}
}

impl Outer {
	/// Opens the folder of a peer.
	pub fn open(
		folder: &Path,
		spec: &CheckedSpec,
		rule: OuterRule,
	) -> Result<Self, super::peer::PeerError> {
		let frame = Frame::new(spec, rule)?;
		Ok(Self {
			frame: Arc::new(frame),
			files: OuterFiles::open(&folder.join("outer"))?,
			position: OuterPosition::open(folder)?,
			review: Review::default(),
			read: ReadUpdates::default(),
			settled: 0,
			accused: BTreeMap::new(),
			replayed: BTreeMap::new(),
			alarmists: BTreeSet::new(),
		})
	}

	/// Returns where the peer stands.
	pub fn position(&self) -> &OuterPosition {
		&self.position
	}

	/// Returns the files that others may ask for.
	pub fn files(&self) -> &OuterFiles {
		&self.files
	}
}

/// What others are told of outer steps.
#[derive(Clone, Debug, Default)]
pub struct Told {
	/// Roots of models and velocities: these are served also where data stay with their peers.
	pub models: Vec<H256>,
	/// Roots of updates, each with the step and the seal.
	pub roots: Vec<(u32, H256, H256)>,
	/// Whose contribution to which step came to something else when it was computed again.
	pub false_ones: Vec<(u32, AccountId32)>,
}

impl From<StepError> for super::peer::PeerError {
	fn from(error: StepError) -> Self {
		Self::Step(error)
	}
}
