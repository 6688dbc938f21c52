//! Tests, by behaviour.

mod attacks;
mod offers;
mod panels;
mod random;
mod settling;
mod views;

use crate::{mock::*, Bets, Books, Convictions, Error, Event, Offers, Statements};
use frame_support::{assert_noop, assert_ok};
use trainyard_protocol::{
	bets::{BetEnding, Odds, Offered, Outcome, Panel, Side, Statement, MAX_ODDS},
	job::Balance,
	H256,
};
use trainyard_traits::{ConvictionObserver, ResultStage};
