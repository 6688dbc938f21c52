//! Where a peer stands among outer steps: `outer.json` in its folder.

use crate::roles::store::{load, save, StoreError};
use serde::{Deserialize, Serialize};
use std::{
	collections::BTreeSet,
	path::{Path, PathBuf},
};
use trainyard_client::AccountId32;
use trainyard_protocol::{swarm::MAX_LATE, H256};

/// Peers that are remembered whose contributions were false.
const MOST_FALSE: usize = 64;

/// The model with which an outer step begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
	/// Number of the outer step.
	pub step: u32,
	/// Root of the model.
	pub model: H256,
	/// Root of its velocity; zero where there is no momentum.
	pub velocity: H256,
	/// Hash of the contributions to the step before, as they were on chain when this was computed; none of a model
	/// that came from others, or with which all begin.
	pub of: Option<H256>,
}

/// A contribution that was computed and is not on chain yet, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
	/// The outer step with whose model it begins.
	pub base: u32,
	/// Root of that model, and of its velocity: what the step began with may be computed again.
	pub began: (H256, H256),
	/// Content hash of the file of rows with which was trained.
	pub data: H256,
	/// Root of the update.
	pub update: H256,
	/// Root of what is kept after it.
	pub kept: H256,
}

/// Where a peer stands among outer steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OuterPosition {
	/// The last models, in order of their steps; as many as a contribution may be late by, and the present one.
	pub bases: Vec<Base>,
	/// Root of what was kept after the last contribution that is on chain; zero for nothing.
	pub kept: H256,
	/// What waits to be sent.
	pub pending: Option<Pending>,
	/// What was sent last, and what was kept before it: its block may give way to another one.
	pub last_sent: Option<(Pending, H256)>,
	/// Whose contribution to which step came to something else when it was computed again.
	pub false_ones: Vec<(u32, AccountId32)>,
	/// Roots of the own updates, each with the step that it was contributed to.
	pub sent: Vec<(u32, H256)>,
	/// Roots of updates of others that were found under their seals, each with the seal and its step.
	pub opened: Vec<(u32, H256, H256)>,
}

fn path(folder: &Path) -> PathBuf {
	folder.join("outer.json")
}

impl OuterPosition {
	/// Reads the position in a folder of a peer; a new one where there is none.
	pub fn open(folder: &Path) -> Result<Self, StoreError> {
		Ok(load(&path(folder))?.unwrap_or_default())
	}

	/// Writes it down; it is on disk when this returns.
	pub fn save(&self, folder: &Path) -> Result<(), StoreError> {
		save(&path(folder), self)
	}

	/// Returns the present model.
	pub fn last(&self) -> Option<Base> {
		self.bases.last().copied()
	}

	/// Returns the model with which an outer step began, where it is remembered.
	pub fn base(&self, step: u32) -> Option<Base> {
		self.bases.iter().find(|base| base.step == step).copied()
	}

	/// Goes on to this model.
	pub fn go_on(&mut self, base: Base) {
		self.bases.push(base);
		let over = self.bases.len().saturating_sub(MAX_LATE as usize + 1);
		self.bases.drain(..over);
		let first = base.step.saturating_sub(MAX_LATE);
		self.sent.retain(|(step, _)| *step >= first);
		self.opened.retain(|(step, ..)| *step >= first);
		let over = self.false_ones.len().saturating_sub(MOST_FALSE);
		self.false_ones.drain(..over);
	}

	/// Returns the root under a seal, where it is known.
	pub fn root_under(&self, seal: &H256) -> Option<H256> {
		self.opened.iter().find(|(_, known, _)| known == seal).map(|(.., root)| *root)
	}

	/// Returns the roots of all files that are still of use.
	pub fn roots(&self) -> BTreeSet<H256> {
		let models = self.bases.iter().flat_map(|base| [base.model, base.velocity]);
		let sent = self.last_sent.iter().map(|(pending, _)| pending);
		let pending = self.pending.iter().chain(sent);
		let pending = pending.flat_map(|pending| [pending.update, pending.kept]);
		let before = self.last_sent.iter().map(|(_, before)| *before);
		let updates = self.sent.iter().map(|(_, root)| *root);
		let opened = self.opened.iter().map(|(.., root)| *root);
		models
			.chain(pending)
			.chain(before)
			.chain(updates)
			.chain(opened)
			.chain([self.kept])
			.collect()
	}
}
