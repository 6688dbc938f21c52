//! What luck brings whoever claims without a gain, by the rule of the chain.
//!
//! Two models that are as good as one another differ on some labels of a slice, and each of these is as likely to be
//! one's as the other's. The number that one of them gets right of those is binomial, so what a claim comes to on
//! average is a sum over it, without any drawing.

use anyhow::{ensure, Result};
use trainyard_protocol::swarm::{Count, Curve, Due, Measured, Pace, Reward};

/// What all labels are worth, in the smallest unit: more digits than are printed.
const WORTH: u128 = 1_000_000_000_000_000;
/// What both get right, in percent: far enough from 100 that no loss is cut where the curve ends.
const SCORE: u32 = 60;

/// What a claim comes to on average, in parts of what all labels are worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Luck {
	/// What it wins: the budget pays it.
	pub won: f64,
	/// What it loses: it is burned.
	pub lost: f64,
}

/// Returns what a claim comes to whose model differs on so many labels from one that is as good.
pub fn luck(labels: u32, differ: u32) -> Luck {
	let curve = Curve::Linear { factor: WORTH };
	let reward = Reward { curve, pace: Pace { first: 1_000, last: 1_000 }, floor: 0, stake: WORTH };
	let both = labels * SCORE / 100 - differ / 2;
	let score = |of: u32| Count { correct: both + of, labels }.score();
	let (mut won, mut lost) = (0.0, 0.0);
	// The logarithm of the share of each outcome: these are too small and too many to multiply.
	let mut log = -f64::from(differ) * 2f64.ln();
	for right in 0..=differ {
		let base = score(differ - right);
		let due = reward.due(1_000, base, Measured { base, best: base, new: score(right) });
		match due {
			Due::Gain { amount, .. } => won += log.exp() * amount as f64,
			Due::Loss { amount } => lost += log.exp() * amount as f64,
			Due::Nothing => {}
		}
		log += f64::from(differ - right).ln() - f64::from(right + 1).ln();
	}
	Luck { won: won / WORTH as f64, lost: lost / WORTH as f64 }
}

/// Returns the table of docs/swarm.md. Fails where a bet is not fair.
pub fn table() -> Result<String> {
	let mut text = String::from(
		"| labels of the slice | on which two models differ | a claim without a gain wins | and loses | so a fee covers it, where all labels are worth 100 TRY, from |\n|---|---|---|---|---|\n",
	);
	for labels in [100, 1_000, 10_000] {
		for percent in [5, 20] {
			let Luck { won, lost } = luck(labels, labels * percent / 100);
			// Scores are rounded down to millionths.
			ensure!((won - lost).abs() < 2e-6, "a bet is not fair: {won} and {lost}");
			let (fee, won, lost) = (100.0 * won, 100.0 * won, 100.0 * lost);
			text +=
				&format!("| {labels} | {percent} % | {won:.2} % | {lost:.2} % | {fee:.2} TRY |\n");
		}
	}
	Ok(text)
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn chance_takes_what_it_brings() {
		for (labels, differ) in [(100, 1), (100, 5), (1_000, 200), (997, 31)] {
			let Luck { won, lost } = luck(labels, differ);
			assert!(won > 0.0 && (won - lost).abs() < 2e-6, "{labels} {differ}: {won} {lost}");
		}
	}

	#[test]
	fn one_label_is_one_label() {
		// Right or wrong with even chances: half of the time a hundredth is won.
		assert!((luck(100, 1).won - 0.005).abs() < 1e-9);
	}
}
