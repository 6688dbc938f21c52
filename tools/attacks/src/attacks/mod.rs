//! The attacks, by what they are on.

mod blocks;
mod committees;
mod courts;
mod crowds;
mod draws;
mod endings;
mod forks;
mod guesses;
mod judges;
mod keys;
mod lists;
mod lotteries;
mod offences;
mod old_sets;
mod pools;
mod projects;
mod records;
mod relays;
mod seats;
mod serving;
mod session_keys;
mod stakes;
mod tasks;
mod traps;
mod work;

use crate::report::Attack;

/// Every attack.
pub fn all() -> Vec<Attack> {
	[
		traps::ALL,
		committees::ALL,
		courts::ALL,
		serving::ALL,
		relays::ALL,
		endings::ALL,
		pools::ALL,
		projects::ALL,
		draws::ALL,
		forks::ALL,
		blocks::ALL,
		work::ALL,
		records::ALL,
		keys::ALL,
		judges::ALL,
		guesses::ALL,
		stakes::ALL,
		crowds::ALL,
		lists::ALL,
		lotteries::ALL,
		offences::ALL,
		old_sets::ALL,
		session_keys::ALL,
		seats::ALL,
		tasks::ALL,
	]
	.concat()
}
