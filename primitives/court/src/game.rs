//! The game: how a dispute narrows from a target to a piece.
//!
//! The defendant's side alone says anything: it posts digests of what it computed and opens what
//! stands behind them. The challenger names the first [claim](Claim) that it denies. Whatever is
//! posted or opened at a [`Place`] follows from the defendant's own claims, so it is kept for all
//! disputes with it, and a dispute itself is only a [`Stage`].
//!
//! A claim that is true leads to claims that are true, and of a false one some part is false. So
//! whoever computes honestly can always say what is due, or deny something that is false, and the
//! piece that is left decides for it. [`Game`] has the moves; each is a pure function that checks
//! all that it is given.
//!
//! - [`types`] are the places, stages and pieces;
//! - `begin` is how a dispute begins, `enter` what an opening leads to, `narrow` what is left of a
//!   denied claim, `claims` what can be denied, `moves` the rest;
//! - [`ranges`] says how ranges are divided, [`sizes`] how long a dispute can be, [`words`] all of it to
//!   people.

mod begin;
mod claims;
mod enter;
mod judge;
mod moves;
mod narrow;
mod play;
pub mod player;
pub mod ranges;
mod refused;
pub mod sizes;
pub mod types;
pub mod words;

pub use claims::Claim;
pub use judge::{judge, Judgement};
pub use moves::Due;
pub use refused::Refused;
pub use types::{
	After, ChunkBytes, Claimed, Contents, End, Entry, Leaf, LeafContent, Level, Moment, Moved,
	Next, Opened, Opening, Outcome, Owner, Peaks, Piece, Place, Roots, Said, Scene, Stage, Subject,
	Target, Turn, Witness, FAN,
};

use crate::{referee::STOP_STRETCH, Case};
use trainyard_protocol::job::WorkResult;

/// A dispute's surroundings: what it is about, and what the defendant has said of it so far.
#[derive(Debug)]
pub struct Game<'a, S> {
	/// Specification and seed.
	pub case: &'a Case,
	/// The defendant's result; of a seat, the result that it replayed.
	pub result: &'a WorkResult,
	/// What the defendant has posted and opened.
	pub said: &'a S,
}

impl<S> Clone for Game<'_, S> {
	fn clone(&self) -> Self {
		*self
	}
}

impl<S> Copy for Game<'_, S> {}

#[cfg(test)]
mod tests;
