//! Recomputes the units of drilling for which the verifier is drawn.

use super::{Key, Memory, Verifier};
use crate::roles::{
	tasks::Tasks,
	units::{self, Step},
};
use std::{collections::HashSet, sync::Arc};
use trainyard_client::{ChainError, Head};

impl Verifier {
	/// Starts the recomputations that are owed at this block, and stops those that are not owed any
	/// more.
	pub(super) async fn look_at_checks(
		self: &Arc<Self>,
		memory: &mut Memory,
		tasks: &mut Tasks<Key>,
		head: Head,
	) -> Result<(), ChainError> {
		let mut wanted = HashSet::new();
		let views = self.chain.drilling_checks(self.sender.account(), head.hash).await?;
		memory.deadlines.note_units(&views);
		for view in views {
			let found = self.home.load_unit(view.id, &view.seed);
			let found_one = matches!(&found, Ok(Some(_)));
			let lost = found.is_ok() && units::is_lost(&view, found_one);
			if lost && memory.lost_units.insert(view.id) {
				units::report_lost(&self.report, &view);
			}
			let Some(step) =
				units::step(&view, head.number, found_one, self.units.is_lacking(view.id))
			else {
				continue;
			};
			let key = Key::Unit(view.id, view.seed, step);
			wanted.insert(key);
			let units = self.units.clone();
			match found {
				Ok(record) => {
					tasks.start_with(key, |stop| units.act(view, step, record, head, stop))
				}
				// It is reported as a failed attempt; the others go on.
				Err(e) => tasks.start(key, async move { Err(e.into()) }),
			};
		}
		// A computation whose time is over only takes processors from others.
		tasks.stop_unless(|key| match key {
			Key::Unit(_, _, Step::Compute) => wanted.contains(key),
			_ => true,
		});
		Ok(())
	}
}
