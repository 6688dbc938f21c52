//! How a peer works.

use crate::{
	roles::fetch::Locations,
	swarm::{contact::Patience, learner::Sharing, privacy::Privacy},
};
use std::{path::PathBuf, time::Duration};
use trainyard_protocol::swarm::role;

/// How a peer works.
#[derive(Clone, Debug)]
pub struct Options {
	/// A sum of [roles](role).
	pub roles: u8,
	/// Its files of data: a slice each.
	pub data: Vec<PathBuf>,
	/// How often it trains on each slice before it only mixes; 0 for no end.
	pub passes: u32,
	/// How many debts are paid at once.
	pub batch: usize,
	/// Most slices that it takes from others where it has no data.
	pub slices: usize,
	/// Where others may be asked.
	pub locations: Locations,
	/// How long answers are waited for.
	pub patience: Patience,
	/// Pause after which somebody is asked again that did not answer; it doubles.
	pub pause: Duration,
	/// After so long it is looked whether somebody is still there.
	pub fresh: Duration,
	/// How likely it computes a contribution of somebody else again in an outer step.
	pub replay: f64,
	/// Whom it draws, if that is to be the same each time.
	pub seed: Option<u64>,
	/// Virtual ranks of its steps and who computes them, where there are several.
	pub sharing: Option<Sharing>,
	/// How it hides the rows on which it trains, if it does.
	pub privacy: Option<Privacy>,
}

impl Default for Options {
	fn default() -> Self {
		Self {
			roles: role::ALL,
			data: Vec::new(),
			passes: 3,
			batch: 8,
			slices: 8,
			locations: Locations::Public,
			patience: Patience::default(),
			pause: Duration::from_secs(30),
			fresh: Duration::from_secs(60),
			replay: 0.25,
			seed: None,
			sharing: None,
			privacy: None,
		}
	}
}

/// Returns what of these roles a peer does in a swarm: in a private one nobody serves data.
pub fn roles_in(roles: u8, private: bool) -> u8 {
	match private {
		true => roles & !role::DATA,
		false => roles,
	}
}
