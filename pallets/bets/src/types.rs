//! What this pallet keeps beside offers and bets.

use codec::{Decode, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use trainyard_protocol::{
	bets::{BetId, OfferId, Side},
	job::{Balance, BlockNumber},
};

/// Offers that a view looks at.
pub const MOST_OFFERS: usize = 1_000;

/// What is on the agenda.
#[derive(
	Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode, MaxEncodedLen, TypeInfo,
)]
pub enum Look {
	/// The end of an offer.
	Offer(OfferId),
	/// A look at a bet.
	Bet(BetId),
}

/// What is bet on a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Book {
	/// Offers on record.
	pub offers: u32,
	/// Stakes on *right* in bets that run.
	pub right: Balance,
	/// Stakes on *wrong* in bets that run.
	pub wrong: Balance,
	/// What of the stakes on *right* is not of those who delivered the result.
	pub others: Balance,
}

impl Book {
	/// Returns what is staked on a side.
	pub fn of(&mut self, side: Side) -> &mut Balance {
		match side {
			Side::Right => &mut self.right,
			Side::Wrong => &mut self.wrong,
		}
	}
}

/// That a trainer was convicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Convicted {
	/// When.
	pub at: BlockNumber,
	/// Whether by proof.
	pub proven: bool,
}
