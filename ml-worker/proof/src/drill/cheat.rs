//! A driller that does not do the work: for tests only, to show that it is caught. Reached by
//! `--test-only-cheat`.

use codec::Encode;
use trainyard_protocol::{
	bundle::Evaluation,
	drill::{Template, UnitResult},
	H256,
};

/// Returns a made-up result of a unit, in the form of its template. All cheats make up the same
/// result, as drillers of one owner would: a group of them agrees on it, and only a recomputation
/// shows that nothing was computed.
pub fn fabricate(template: &Template, seed: &H256) -> UnitResult {
	let state = (b"trainyard/drill/cheat", seed).using_encoded(crate::hash::blake2_256);
	let score = match template {
		Template::Trial(trial) => {
			let labels = trial.spec.dataset.validation_rows * trial.spec.labels_per_row();
			Some(Evaluation::new(0.001, labels, labels))
		}
		Template::Chain { .. } | Template::Calibration { .. } => None,
	};
	UnitResult { state, score }
}
