//! The attacks, by what they are on.

mod blocks;
mod committees;
mod draws;
mod forks;
mod keys;
mod pools;
mod records;
mod traps;
mod work;

use crate::report::Attack;

/// Every attack.
pub fn all() -> Vec<Attack> {
	[
		traps::ALL,
		committees::ALL,
		pools::ALL,
		draws::ALL,
		forks::ALL,
		blocks::ALL,
		work::ALL,
		records::ALL,
		keys::ALL,
	]
	.concat()
}
