//! What each call does, and with what it fails.

mod attacks;
mod budget;
mod disputes;
mod opening;
mod outer;
mod peers;
mod random;
mod rounds;
mod tickets;

use crate::{mock::*, Doubts, Error, Event, RewardFault, Slices, Which};
use frame_support::{assert_noop, assert_ok};
use trainyard_protocol::swarm::{
	Count, Curve, CurveFault, Model, Payer, Payment, Plan, Stage, Stages,
};

/// Whether something like this happened.
fn happened(all: &[Event<Test>], what: impl Fn(&Event<Test>) -> bool) -> bool {
	all.iter().any(what)
}
