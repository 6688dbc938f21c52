//! What a whistleblower stakes against offers on results that it found false, while it accuses who delivered them.
//!
//! Whoever is accused may have friends whose offers cannot be taken, so few are tried, and none keeps it from accusing.

use super::plan::until;
use crate::roles::{report::Reporter, tasks::TaskError};
use serde_json::json;
use std::sync::Arc;
use tracing::debug;
use trainyard_client::{
	amount,
	bets::{self as calls, Offer},
	AccountId32, Chain, JobView, Transactor, TxError,
};
use trainyard_protocol::{
	bets::{OfferId, Side, Statement},
	job::{Balance, BlockNumber, JobState},
	H256,
};

/// Most offers that it takes, or tries to, of each result.
const TRIES: usize = 4;
/// Most offers of a book that it looks at, the earliest first.
const BOOK: usize = 100;
/// Least blocks before the end of a window: a challenge must come in time, or the bet is lost where the result is false.
const IN_TIME: BlockNumber = 15;

/// Who stakes.
pub(super) struct Bets {
	/// `None` in tests, which have no chain to stake on.
	pub(super) sender: Option<Arc<Transactor>>,
	/// Most that it stakes on each false result.
	pub(super) most: Balance,
	/// Balance that stays free.
	pub(super) reserve: Balance,
	pub(super) report: Reporter,
}

/// Returns what to stake on *wrong* against an offer, where `left` may be staked: none where it is not for this
/// account, stands no longer, or is too small.
fn stake(
	offer: &Offer,
	me: &AccountId32,
	now: BlockNumber,
	left: Balance,
	least: Balance,
) -> Option<Balance> {
	let offered = &offer.offered;
	let is_for_me = offered.only.as_ref().is_none_or(|only| only == me) && offer.maker != *me;
	let judges = offered.panel.as_ref().is_some_and(|panel| panel.members.contains(me));
	if offered.side == Some(Side::Wrong) || !is_for_me || judges || !offer.is_open(now) {
		return None;
	}
	let stake = offered.odds.takers(offer.left)?.min(left);
	let makers = offered.odds.makers(stake)?;
	(stake.min(makers) >= least).then_some(stake)
}

impl Bets {
	/// Stakes on *wrong* against what is offered on the results of those who are accused, best odds first. What
	/// fails is told, and stops no accusation.
	pub(super) async fn take(&self, job: &JobView, accused: &[AccountId32]) {
		let Some(sender) = self.sender.as_ref().filter(|_| self.most > 0) else { return };
		for who in accused {
			let mine = job.replicas.iter().find(|replica| replica.trainer == *who);
			let Some(shown) = mine.and_then(|replica| replica.reveal.as_ref()) else { continue };
			if let Err(error) = self.take_on(sender, job, shown.bundle_root).await {
				let text = format!("nothing more is staked against its result: {error}");
				let reason = json!({ "action": "bet", "reason": error.to_string() });
				self.report.job(job.id, "failed_attempt", &text, reason);
			}
		}
	}

	/// Stakes against what is offered on one result.
	async fn take_on(
		&self,
		sender: &Transactor,
		job: &JobView,
		root: H256,
	) -> Result<(), TaskError> {
		let chain = sender.chain();
		let me = sender.account();
		let least = chain.constant("Bets", "MinStake").await?.unwrap_or(1);
		for late in [false, true] {
			let statement = Statement::Result { job: job.id, root, late };
			let (offers, staked) = standing(chain, &statement, me).await?;
			let left = self.most.saturating_sub(staked);
			let head = chain.head().await?;
			let over = match job.state {
				JobState::Auditing => until(job),
				_ => BlockNumber::MAX,
			};
			if head.number.saturating_add(IN_TIME) > over {
				continue;
			}
			let free = chain.account(me).await?.free.saturating_sub(self.reserve);
			let may = |(_, offer): &(OfferId, Offer)| {
				stake(offer, me, head.number, left.min(free), least).is_some()
			};
			let (mut left, mut beyond) = (left.min(free), false);
			let tried: Vec<_> = offers.into_iter().filter(may).take(TRIES).collect();
			for (id, offer) in tried {
				// The deposit backs what others say; it bounds nothing of who delivered the result.
				if beyond && !job.replicas.iter().any(|replica| replica.trainer == offer.maker) {
					continue;
				}
				let Some(stake) = stake(&offer, me, head.number, left, least) else { continue };
				match sender.run(&calls::take(id, Side::Wrong, stake)).await {
					// Others were before, or the deposit of its trainer backs no more of it.
					Err(e @ (TxError::Failed { .. } | TxError::Invalid { .. })) => {
						beyond |= e.failed_with("Bets::BeyondDeposit");
						debug!("offer {id} is not taken: {e}");
					}
					other => {
						other?;
						left = left.saturating_sub(stake);
						let wins = offer.offered.odds.makers(stake).unwrap_or_default();
						let text = format!(
							"stakes {} to win {} on a result being wrong",
							amount::format(stake),
							amount::format(wins)
						);
						let (stake, wins) = (stake.to_string(), wins.to_string());
						let fields = json!({ "offer": id, "stake": stake, "wins": wins });
						self.report.job(job.id, "bet_taken", &text, fields);
					}
				}
			}
		}
		Ok(())
	}
}

/// Returns the offers on a statement, those with the best odds against it first, and what `me` has staked in bets of
/// them.
async fn standing(
	chain: &Chain,
	statement: &Statement,
	me: &AccountId32,
) -> Result<(Vec<(OfferId, Offer)>, Balance), TaskError> {
	let (mut offers, mut staked) = (Vec::new(), 0 as Balance);
	for id in chain.bet_offers(statement).await?.into_iter().take(BOOK) {
		let Some(offer) = chain.bet_offer(id).await? else { continue };
		let bets = if offer.bets > 0 { chain.bets_of(id).await? } else { Vec::new() };
		for bet in bets {
			let bet = chain.bet(bet).await?.filter(|bet| bet.taker == *me);
			staked = staked.saturating_add(bet.map_or(0, |bet| bet.takers));
		}
		offers.push((id, offer));
	}
	// A maker stakes most for the least where it holds the result for right with most.
	offers.sort_by_key(|(id, offer)| (std::cmp::Reverse(offer.offered.odds.probability()), *id));
	Ok((offers, staked))
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::bets::{Odds, Offered};

	fn account(n: u8) -> AccountId32 {
		AccountId32([n; 32])
	}

	fn offer(side: Option<Side>) -> Offer {
		let odds = Odds { maker: 100, taker: 1 };
		Offer {
			maker: account(2),
			statement: Statement::Result { job: 7, root: H256::zero(), late: false },
			offered: Offered {
				side,
				odds,
				stake: 1_000,
				until: 50,
				notice: 0,
				only: None,
				panel: None,
			},
			left: 800,
			record: 0,
			since: 9,
			closing: None,
			closed: false,
			bets: 0,
			panel_until: None,
			voted: None,
			votes: Default::default(),
			verdict: None,
		}
	}

	#[test]
	fn no_more_is_staked_than_is_left_of_either_side() {
		let taken = |offer: &Offer, left, least| stake(offer, &account(1), 20, left, least);
		for side in [None, Some(Side::Right)] {
			assert_eq!(taken(&offer(side), 100, 1), Some(8), "all that is left of the offer");
			assert_eq!(taken(&offer(side), 3, 1), Some(3), "all that may be staked");
			assert_eq!(taken(&offer(side), 3, 4), None);
		}
		let wrong = offer(Some(Side::Wrong));
		assert_eq!(taken(&wrong, 100, 1), None, "its maker says the same");
		let over = Offer { closing: Some(20), ..offer(None) };
		assert_eq!(taken(&over, 100, 1), None);
		assert_eq!(stake(&offer(None), &account(1), 51, 100, 1), None, "it has expired");
		assert_eq!(stake(&offer(None), &account(2), 20, 100, 1), None, "its own");
		let mut other = offer(None);
		other.offered.only = Some(account(3));
		assert_eq!(taken(&other, 100, 1), None);
	}
}
