//! Tests, by behaviour.

mod attacks;
mod checks;
mod period;
mod random;
mod stints;

use crate::{mock::*, Error, Event, Reports, Stints};
use frame_support::{assert_noop, assert_ok};
use trainyard_protocol::{stint, H256};

/// Someone who drills.
const DRILLER: AccountId = DRILLERS[0];

/// A signed origin.
fn signed(who: AccountId) -> RuntimeOrigin {
	RuntimeOrigin::signed(who)
}

/// Power of `who`, as work.
fn stock(who: AccountId) -> u64 {
	Stock::get().get(&who).copied().unwrap_or(0)
}
