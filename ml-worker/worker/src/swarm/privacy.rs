//! What a peer that hides its rows may give away, and what it has.
//!
//! Each step that it takes is counted, of all its slices together, since the same row may be in several. The count
//! is in the position, and is written with the model that the steps made: a model that is there was counted, and of
//! steps that a kill undid nobody has seen anything.

use super::{
	board::Board,
	learner::Slice,
	peer::{Peer, PeerError},
};
use serde_json::json;
use trainyard_engine::private::{accountant::Spent, Hiding};

/// How a peer hides its rows, and for how long it trains so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Privacy {
	/// How rows are hidden.
	pub hiding: Hiding,
	/// What may be given away in all.
	pub epsilon: f64,
	/// For this delta.
	pub delta: f64,
}

/// Says why rows cannot be hidden.
#[derive(Debug, thiserror::Error)]
pub enum PrivacyError {
	/// The folder has a model that was trained without noise.
	#[error(
		"the model in this folder was trained without noise before, and that cannot be taken back: hide rows in a new \
		 folder"
	)]
	TooLate,
	/// The folder is that of a peer that hides its rows.
	#[error(
		"the peer of this folder hides its rows, and would give away all by training without noise: name \
		 --private-noise, --private-clip and --private-epsilon again, or leave the role train out"
	)]
	Hidden,
	/// What was spent cannot be read.
	#[error("what the peer of this folder gave away cannot be read: its position is damaged")]
	Damaged,
	/// Delta is too large for the rows.
	#[error(
		"a delta of {delta} allows to show one of {rows} rows as it is: take a smaller one than one part in as many \
		 (--private-delta)"
	)]
	Delta {
		/// The delta.
		delta: f64,
		/// Rows of a slice that train.
		rows: u32,
	},
}

impl Privacy {
	/// Checks that delta is small for a slice.
	pub fn check(&self, slice: &Slice) -> Result<(), PrivacyError> {
		let (delta, rows) = (self.delta, slice.data.train_rows);
		match delta > 0.0 && delta * f64::from(rows) < 1.0 {
			true => Ok(()),
			false => Err(PrivacyError::Delta { delta, rows }),
		}
	}
}

impl<B: Board> Peer<B> {
	/// Begins to hide rows, or goes on. Fails where rows were shown before, or would be from now on.
	pub(super) fn hide(&mut self, trains: bool) -> Result<(), PrivacyError> {
		match (&self.options.privacy, &self.position.given_away) {
			(None, Some(_)) if trains => Err(PrivacyError::Hidden),
			(Some(_), None) if self.position.trained > 0 => Err(PrivacyError::TooLate),
			(Some(_), None) => {
				self.position.given_away = Some(Vec::new());
				Ok(())
			}
			_ => self.spent().map(|_| ()),
		}
	}

	/// Returns what was given away so far.
	fn spent(&self) -> Result<Spent, PrivacyError> {
		let bits = self.position.given_away.iter().flatten();
		let divergences = bits.map(|bits| f64::from_bits(*bits)).collect();
		Spent::from_divergences(divergences).ok_or(PrivacyError::Damaged)
	}

	/// Returns what will have been given away once it has trained on this slice.
	pub(super) fn spent_after(
		&self,
		privacy: &Privacy,
		slice: &Slice,
	) -> Result<Spent, PrivacyError> {
		let mut spent = self.spent()?;
		spent.add(slice.rate(), privacy.hiding.noise, slice.steps());
		Ok(spent)
	}

	/// Returns whether it may train on this slice once more.
	pub(super) fn affords(&self, slice: &Slice) -> bool {
		let Some(privacy) = &self.options.privacy else { return true };
		let after = self.spent_after(privacy, slice);
		after.is_ok_and(|spent| spent.epsilon(privacy.delta) <= privacy.epsilon)
	}

	/// Notes what was given away; it is on disk with the model.
	pub(super) fn give_away(&mut self, spent: &Spent) {
		let bits = spent.divergences().iter().map(|divergence| divergence.to_bits());
		self.position.given_away = Some(bits.collect());
	}

	/// Says what was given away, and whether it goes on.
	pub(super) fn tell_privacy(&self) -> Result<(), PeerError> {
		let Some(privacy) = &self.options.privacy else { return Ok(()) };
		let (epsilon, delta) = (self.spent()?.epsilon(privacy.delta), privacy.delta);
		let goes_on = match self.may_train() {
			true => "",
			false => "; it trains no more",
		};
		self.report.general(
			"privacy",
			&format!(
				"epsilon {epsilon:.3} of {} is spent, for delta {delta}{goes_on}",
				privacy.epsilon
			),
			json!({ "epsilon": epsilon, "most": privacy.epsilon, "delta": delta }),
		);
		Ok(())
	}
}
