//! Recomputes the units of drilling for which the verifier is drawn.

use super::Verifier;
use crate::roles::{
	tasks::{Outcome, TaskError, Tasks},
	units::{self, Step, Units},
};
use serde_json::json;
use std::{
	collections::{HashMap, HashSet},
	sync::Arc,
};
use tracing::debug;
use trainyard_client::{ChainError, Head};

/// Recomputations under way.
#[derive(Default)]
pub(super) struct Checks {
	tasks: Tasks<units::Key>,
	/// What was last reported of failures.
	failures: HashMap<units::Key, String>,
}

impl Checks {
	/// Returns the next step that ends. It waits for ever while none runs, and is cancel safe.
	pub async fn ended(&mut self) -> (units::Key, Outcome) {
		self.tasks.ended().await
	}

	/// Stops what is being computed.
	pub fn stop(&self) {
		self.tasks.stop_unless(|_| false);
	}

	/// Starts what `verifier` owes at this block, and stops what it does not owe any more.
	pub async fn look(
		&mut self,
		verifier: &Verifier,
		units: &Arc<Units>,
		head: Head,
	) -> Result<(), ChainError> {
		let me = verifier.sender.account();
		let mut wanted = HashSet::new();
		for view in verifier.chain.drilling_checks(me, head.hash).await? {
			let found = verifier.home.load_unit(view.id, &view.seed);
			let found_one = matches!(&found, Ok(Some(_)));
			let Some(step) = units::step(&view, head.number, found_one) else { continue };
			let key = (view.id, view.seed, step);
			wanted.insert(key);
			let units = units.clone();
			match found {
				Ok(record) => {
					self.tasks.start_with(key, |stop| units.act(view, step, record, head, stop))
				}
				// It is reported as a failed attempt; the others go on.
				Err(e) => self.tasks.start(key, async move { Err(e.into()) }),
			};
		}
		self.tasks.stop_unless(|key| key.2 != Step::Compute || wanted.contains(key));
		Ok(())
	}

	/// Notes the outcome of a step. Returns whether the next one can be taken at once.
	pub fn note(&mut self, verifier: &Verifier, key: units::Key, outcome: Outcome) -> bool {
		let Err(e) = outcome else {
			self.failures.remove(&key);
			return true;
		};
		let text = match e {
			TaskError::Stopped | TaskError::Transient(_) => {
				debug!("assignment {}: {e}", key.0);
				return false;
			}
			TaskError::Hopeless(text) | TaskError::Failed(text) => text,
		};
		if self.failures.insert(key, text.clone()).as_ref() != Some(&text) {
			let step = format!("{:?}", key.2).to_lowercase();
			let line = format!(
				"recomputation of assignment {}: {step}: {text}; it will be tried again",
				key.0
			);
			let fields = json!({ "assignment": key.0, "action": step, "reason": text });
			verifier.report.general("failed_attempt", &line, fields);
		}
		false
	}
}
