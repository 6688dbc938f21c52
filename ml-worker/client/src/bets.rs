//! Bets: what a client asks of the chain about them, and the calls.

use crate::{AccountId32, Call, Chain, ChainError};
use codec::Encode;
use trainyard_protocol::{
	bets::{self, BetId, Judgement, OddsView, OfferId, Side, Statement},
	job::{Balance, BlockNumber},
};

/// An offer.
pub type Offer = bets::Offer<AccountId32>;
/// What somebody offers.
pub type Offered = bets::Offered<AccountId32>;
/// A bet that runs.
pub type Bet = bets::Bet<AccountId32>;

/// Numbers in the answer to one request.
const NUMBERS_AT_ONCE: u32 = 256;

impl Chain {
	/// Returns the offer with this number, until it is removed.
	pub async fn bet_offer(&self, id: OfferId) -> Result<Option<Offer>, ChainError> {
		self.api("bet_offer", id, None).await
	}

	/// Returns the numbers of all offers on a statement, in order.
	pub async fn bet_offers(&self, statement: &Statement) -> Result<Vec<OfferId>, ChainError> {
		self.numbers("bet_offers", statement).await
	}

	/// Returns the bet with this number, while it runs.
	pub async fn bet(&self, id: BetId) -> Result<Option<Bet>, ChainError> {
		self.api("bet", id, None).await
	}

	/// Returns the numbers of all bets of an offer that run, in order.
	pub async fn bets_of(&self, offer: OfferId) -> Result<Vec<BetId>, ChainError> {
		self.numbers("bets", Some(offer)).await
	}

	/// Returns what is bet on a statement, and what stands on it of offers that have stood for `age` blocks and stand
	/// for `notice` blocks after they are withdrawn.
	pub async fn odds(
		&self,
		statement: &Statement,
		age: BlockNumber,
		notice: BlockNumber,
	) -> Result<OddsView, ChainError> {
		self.api("odds", (statement, age, notice), None).await
	}

	/// Returns all numbers of a list about `of`. A node returns a part at a time.
	async fn numbers(&self, method: &str, of: impl Encode) -> Result<Vec<u64>, ChainError> {
		let (mut all, mut last) = (Vec::new(), None);
		loop {
			let more: Vec<u64> = self.api(method, (&of, last, NUMBERS_AT_ONCE), None).await?;
			let done = more.len() < NUMBERS_AT_ONCE as usize;
			// A node that repeats itself would keep this here for ever.
			let goes_on = more.last().copied() > last;
			last = more.last().copied().or(last);
			all.extend(more);
			if done || !goes_on {
				return Ok(all);
			}
		}
	}
}

/// `Bets.offer`: offer a stake on a statement.
pub fn offer(statement: &Statement, offered: &Offered) -> Call {
	Call::new("Bets", "offer", (statement, offered))
}

/// `Bets.take`: stake against a part of an offer.
pub fn take(offer: OfferId, side: Side, amount: Balance) -> Call {
	Call::new("Bets", "take", (offer, side, amount))
}

/// `Bets.withdraw`: take back what nobody took of an offer.
pub fn withdraw(offer: OfferId) -> Call {
	Call::new("Bets", "withdraw", offer)
}

/// `Bets.agree`: end a bet as soon as both sides say this; `None` takes the word back.
pub fn agree(bet: BetId, to_maker: Option<Balance>) -> Call {
	Call::new("Bets", "agree", (bet, to_maker))
}

/// `Bets.judge`: say what a member of a panel thinks.
pub fn judge(offer: OfferId, judgement: Judgement) -> Call {
	Call::new("Bets", "judge", (offer, judgement))
}

/// `Bets.settle`: end a bet that is decided.
pub fn settle(bet: BetId) -> Call {
	Call::new("Bets", "settle", bet)
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::fake::FakeNode;
	use codec::Decode;
	use trainyard_protocol::{bets::Odds, H256};

	fn statement() -> Statement {
		Statement::Result { job: 7, root: H256::repeat_byte(3), late: true }
	}

	#[tokio::test]
	async fn all_numbers_are_asked_for_part_by_part() {
		let node = FakeNode::new(|method, arguments, _| match method {
			"TrainyardApi_bet_offers" => {
				type Arguments = (Statement, Option<u64>, u32);
				let (of, after, count) = Arguments::decode(&mut &arguments[..]).unwrap();
				assert_eq!(of, statement());
				let from = after.map_or(0, |after| after + 1);
				Ok((from..600).take(count as usize).collect::<Vec<u64>>().encode())
			}
			"TrainyardApi_bets" => Ok(vec![4_u64].encode()),
			"TrainyardApi_bet" => Ok(None::<Bet>.encode()),
			"TrainyardApi_odds" => Ok(OddsView::default().encode()),
			_ => Err("no such method"),
		});
		let chain = node.chain().await;
		assert_eq!(chain.bet_offers(&statement()).await.unwrap(), (0..600).collect::<Vec<u64>>());
		assert_eq!(chain.bets_of(3).await.unwrap(), [4]);
		assert!(chain.bet(4).await.unwrap().is_none());
		assert_eq!(chain.odds(&statement(), 1, 2).await.unwrap(), OddsView::default());
	}

	#[test]
	fn arguments_have_the_layout_of_the_calls() {
		let offered = Offered {
			side: Some(Side::Wrong),
			odds: Odds { maker: 100, taker: 1 },
			stake: 9,
			until: 5,
			notice: 6,
			only: None,
			panel: None,
		};
		let head =
			[&[0, 7, 0, 0, 0][..], &[3; 32], &[1, 1, 1, 100, 0, 0, 0, 1, 0, 0, 0, 9]].concat();
		let tail = [&[0; 15][..], &[5, 0, 0, 0, 6, 0, 0, 0, 0, 0]].concat();
		assert_eq!(offer(&statement(), &offered).arguments(), [head, tail].concat());
		let layout = [&[2, 0, 0, 0, 0, 0, 0, 0, 1, 9][..], &[0; 15]].concat();
		assert_eq!(take(2, Side::Wrong, 9).arguments(), layout);
		assert_eq!(judge(2, None).arguments(), [2, 0, 0, 0, 0, 0, 0, 0, 0]);
		assert_eq!(agree(2, None).arguments(), judge(2, None).arguments());
		assert_eq!(settle(5).arguments(), withdraw(5).arguments());
	}
}
