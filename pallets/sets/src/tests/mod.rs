//! Tests, by behaviour.

mod attacks;
mod generations;
mod opening;
mod random;
mod showing;

use crate::{mock::*, Error, Event};
use frame_support::{assert_noop, assert_ok};
use trainyard_protocol::{
	sets::{Measure, Plan, Run, SetEnding, Stage},
	H256,
};
use trainyard_traits::JobEnd;
