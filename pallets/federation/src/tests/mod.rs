//! Tests, by behaviour.

mod aggregates;
mod attacks;
mod opening;
mod random;
mod rounds;

use crate::{mock::*, Error, Event};
use frame_support::{assert_noop, assert_ok};
use trainyard_protocol::{
	federation::{FederationEnding, Plan, Rule, Stage},
	H256,
};
use trainyard_traits::JobStanding;

/// A signed origin.
fn signed(who: AccountId) -> RuntimeOrigin {
	RuntimeOrigin::signed(who)
}
