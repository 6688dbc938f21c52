//! The game: how a dispute narrows from a target to a piece.
//!
//! The defendant's side alone says anything: it posts digests of what it computed and opens what
//! stands behind them. The challenger names the first claim that it denies. Whatever is
//! posted or opened at a [`Place`] follows from the defendant's own claims, so it is kept for all
//! disputes with it, and a dispute itself is only a [`Stage`].

pub mod types;

pub use types::{
	After, ChunkBytes, Claimed, Contents, End, Entry, Level, MeanEnd, Moment, Opened, Opening,
	Outcome, Owner, Peaks, Piece, Place, Roots, Said, Scene, Stage, StretchEnd, Subject, Target,
	Turn, Witness, FAN,
};
