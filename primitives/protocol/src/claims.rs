//! Claims on pay: the right to what a replica of a job is paid when the job is settled.
//!
//! A claim is its trainer's, and may be sold while the result is audited. Only the pay goes with it: the deposit, the
//! power, the record and the guilt stay with the trainer. A holder offers it at a price, and whoever buys it names what
//! it saw: so nobody changes anything under it.
//!
//! What a claim is worth changes when seats reveal, when somebody lacks something, and when something is disputed.
//! Those who bring such news know it before others do. So nothing is sold while there is some to come, and an offer
//! is for what was [known](Known) when it was made.

use crate::{
	job::{Balance, BlockNumber},
	H256,
};
use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use trainyard_program::text::decimal;

/// What an audit has said of a result so far, of those steps at which the worth of a claim changes.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
pub struct Known {
	/// The root of the bundle that the trainer revealed.
	pub root: H256,
	/// The round of the audit, from 0.
	pub round: u32,
	/// Whether seats of that round have revealed, and results stand.
	pub stands: bool,
	/// How often trainers were asked to store something.
	pub asked: u32,
}

/// What the holder of a claim asks for it.
#[derive(
	Clone,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
pub struct Asked<AccountId> {
	/// The price.
	#[serde(with = "decimal")]
	pub price: Balance,
	/// The last block in which it can be bought: who sells for ever sells only when it is safe to buy.
	pub until: BlockNumber,
	/// This account alone may buy it.
	pub only: Option<AccountId>,
}

/// An offer that is on record.
#[derive(
	Clone,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
pub struct Offer<AccountId> {
	/// What is asked.
	pub asked: Asked<AccountId>,
	/// The height at which it was made.
	pub since: BlockNumber,
	/// What was known then: the offer lapses when more is.
	pub known: Known,
}

impl<AccountId> Offer<AccountId> {
	/// Returns whether it can be bought at height `now`: what is known now was known when it was made, where the last
	/// dispute about the job ended at the height `ended`.
	pub fn stands(&self, known: &Known, ended: Option<BlockNumber>, now: BlockNumber) -> bool {
		let news = self.known != *known || ended.is_some_and(|height| height >= self.since);
		!news && now <= self.asked.until
	}
}

/// What a buyer saw.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Seen<AccountId> {
	/// Who holds the claim.
	pub holder: AccountId,
	/// The root of the bundle of the result.
	pub root: H256,
	/// The height at which the offer was made. Whoever saw it saw the end of that block, so no later offer is it.
	pub since: BlockNumber,
}

/// What a claim is paid where the result is accepted.
#[derive(
	Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize,
)]
pub struct Pay {
	/// On the average.
	#[serde(with = "decimal")]
	pub expected: Balance,
	/// The least: of a job that pays by [lottery](crate::lottery), without the ticket of the last stratum.
	#[serde(with = "decimal")]
	pub least: Balance,
	/// The most.
	#[serde(with = "decimal")]
	pub most: Balance,
}

/// A claim, for clients.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct ClaimView<AccountId> {
	/// Who trained.
	pub trainer: AccountId,
	/// Who is paid.
	pub holder: AccountId,
	/// What it is paid where the result is accepted.
	pub pay: Pay,
	/// What is known of the result; none while there is news to come, and where it has lost.
	pub known: Option<Known>,
	/// Whether something of the job is disputed, or announced to be.
	pub disputed: bool,
	/// What is on offer.
	pub offer: Option<Offer<AccountId>>,
	/// Whether that can be bought now.
	pub stands: bool,
}

/// The claims of a job, for clients.
pub type ClaimViews<AccountId> = Vec<ClaimView<AccountId>>;

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn an_offer_stands_while_nothing_more_is_known() {
		let known = Known { root: H256::repeat_byte(1), round: 0, stands: false, asked: 0 };
		let asked = Asked::<u64> { price: 5, until: 20, only: None };
		let offer = Offer { asked, since: 10, known };
		assert!(offer.stands(&known, None, 20) && offer.stands(&known, Some(9), 20));
		assert!(!offer.stands(&known, None, 21));
		// A dispute that ended in the block in which it was made may have ended after it.
		assert!(!offer.stands(&known, Some(10), 12) && !offer.stands(&known, Some(11), 12));
		for other in [
			Known { root: H256::repeat_byte(2), ..known },
			Known { round: 1, ..known },
			Known { stands: true, ..known },
			Known { asked: 1, ..known },
		] {
			assert!(!offer.stands(&other, None, 12), "{other:?}");
		}
	}
}
