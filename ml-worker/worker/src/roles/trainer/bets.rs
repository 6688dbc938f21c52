//! The trainer's standing offer: for as long as a result of its own is audited it bets on it, against anybody.
//!
//! Whether it has one the chain says, so nothing of it is on disk. What it offers its owner names; the trainer makes
//! no bet by itself otherwise. When the job ended it takes back what nobody took.

use super::{locked, Trainer};
use crate::{
	args::parse_odds,
	roles::{
		plan::replica_of,
		tasks::{Outcome, TaskError},
	},
};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use trainyard_client::{
	amount,
	bets::{self as calls, Offer},
	Head, JobView,
};
use trainyard_protocol::{
	bets::{Odds, Offered, Side, Statement},
	job::{Balance, BlockNumber, Fate, JobState},
	JobId,
};

/// Blocks for which an offer stands, if the audit lasts as long: a new one follows then.
const STANDS: BlockNumber = 14_400;
/// Answers that pass: the audit has ended meanwhile, or a conviction has.
const OVER: [&str; 3] = ["Bets::AlreadyDecided", "Bets::NotAudited", "Bets::NoSuchResult"];

/// Options of bets on own results.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct BetArgs {
	/// Offer this stake on each result of its own while it is audited, to anybody who says that it is wrong (in TRY).
	/// It returns when the result is accepted
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	bet_stake: Option<Balance>,
	/// Own stake to the other side's, like 100:1
	#[arg(long, value_name = "YOURS:THEIRS", default_value = "100:1", value_parser = parse_odds, requires = "bet_stake")]
	bet_odds: Odds,
	/// Blocks for which the offer can still be taken after it was withdrawn: without a notice nobody relies on it
	#[arg(long, value_name = "BLOCKS", default_value_t = 600, requires = "bet_stake")]
	bet_notice: BlockNumber,
}

/// What is offered on each own result.
#[derive(Clone, Copy, Debug)]
struct Own {
	stake: Balance,
	odds: Odds,
	notice: BlockNumber,
}

/// What is offered on own results, and until when an offer on each is known to stand.
#[derive(Debug, Default)]
pub(super) struct Standing {
	own: Option<Own>,
	until: HashMap<JobId, BlockNumber>,
	/// What its jobs may still ask for: deposits, models, and rescues.
	owed: Balance,
	/// Jobs that ended, of whose results nothing is offered any more.
	over: HashSet<JobId>,
}

impl Standing {
	/// Makes one that knows of no offer yet.
	pub(super) fn new(args: BetArgs) -> Self {
		let BetArgs { bet_stake, bet_odds: odds, bet_notice: notice } = args;
		let own = bet_stake.map(|stake| Own { stake, odds, notice });
		Self { own, ..Self::default() }
	}

	/// Returns whether an offer on the result of this job may be missing, or have outlived it.
	pub(super) fn is_due(&self, job: &JobView, best: BlockNumber) -> bool {
		let is_due = match job.state {
			JobState::Ended(_) => !self.over.contains(&job.id),
			_ => self.until.get(&job.id).is_none_or(|until| *until < best),
		};
		self.own.is_some() && is_due
	}

	/// Returns whether it offers anything.
	pub(super) fn is_on(&self) -> bool {
		self.own.is_some()
	}

	/// Notes what jobs may still ask for.
	pub(super) fn owes(&mut self, owed: Balance) {
		self.owed = owed;
	}

	/// Returns what must be free for an offer of this stake.
	fn needed(&self, stake: Balance, reserve: Balance) -> Balance {
		stake.saturating_add(reserve).saturating_add(self.owed)
	}

	/// Forgets all jobs but these.
	pub(super) fn retain(&mut self, is_known: impl Fn(JobId) -> bool) {
		self.until.retain(|job, _| is_known(*job));
		self.over.retain(|job| is_known(*job));
	}
}

impl Trainer {
	/// Sees to it that an offer stands on the own result of a job while it is audited, and none after that.
	pub(super) async fn bet(&self, job: &JobView, head: Head) -> Outcome {
		let mine = replica_of(job, self.me());
		let root = mine.and_then(|mine| Some(mine.reveal.as_ref()?.bundle_root));
		let (Some(mine), Some(root), Some(own)) = (mine, root, locked(&self.bets).own) else {
			return Ok(());
		};
		let statement = Statement::Result { job: job.id, root, late: false };
		let mut offers = Vec::new();
		for id in self.chain.bet_offers(&statement).await? {
			let offer = self.chain.bet_offer(id).await?;
			offers.extend(offer.filter(|offer| offer.maker == *self.me()).map(|offer| (id, offer)));
		}
		match job.state {
			JobState::Auditing if mine.fate == Fate::Working => {
				// One that its owner withdrew is its owner's decision.
				let stands = |of: &Offer| of.is_open(head.number) || of.closing.is_some();
				match offers.iter().find(|(_, offer)| stands(offer)) {
					Some((_, offer)) => self.stands(job.id, offer.offered.until),
					None => self.offer(job.id, statement, own, head).await?,
				}
			}
			JobState::Ended(_) => {
				for (id, _) in offers.iter().filter(|(_, offer)| !offer.closed) {
					self.sender.run(&calls::withdraw(*id).on(head)).await?;
				}
				locked(&self.bets).over.insert(job.id);
			}
			_ => {}
		}
		Ok(())
	}

	/// Takes note that an offer on the result of a job stands until then.
	fn stands(&self, job: JobId, until: BlockNumber) {
		locked(&self.bets).until.insert(job, until);
	}

	/// Offers a stake on the own result of a job.
	async fn offer(&self, job: JobId, statement: Statement, own: Own, head: Head) -> Outcome {
		let Own { stake, odds, notice } = own;
		let free = self.chain.account(self.me()).await?.free;
		let needed = locked(&self.bets).needed(stake, self.limits.reserve);
		// Who asks for a state while it cannot pay for storing it takes its deposit.
		if free < needed {
			return Err(TaskError::failed(format!(
				"a stake of {} on its own result, what its jobs may still ask for, and the reserve are {}, and {} are free",
				amount::format(stake),
				amount::format(needed),
				amount::format(free)
			)));
		}
		let until = head.number.saturating_add(STANDS);
		let side = Some(Side::Right);
		let offered = Offered { side, odds, stake, until, notice, only: None, panel: None };
		match self.sender.run(&calls::offer(&statement, &offered).on(head)).await {
			Err(error) if OVER.iter().any(|name| error.failed_with(name)) => return Ok(()),
			other => other?,
		};
		self.stands(job, until);
		let text = format!(
			"bets on its result: {} at {}:{}, with {notice} blocks of notice",
			amount::format(stake),
			odds.maker,
			odds.taker
		);
		let fields = json!({
			"stake": stake.to_string(), "odds": odds, "notice": notice, "until": until,
		});
		self.report.job(job, "bet_offered", &text, fields);
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::fake;
	use trainyard_protocol::job::Ending;

	#[test]
	fn an_offer_is_due_until_it_stands_after_it_expired_and_when_the_job_ended() {
		let odds = Odds { maker: 100, taker: 1 };
		let args = BetArgs { bet_stake: None, bet_odds: odds, bet_notice: 600 };
		let job = |id, state| JobView { id, ..fake::job(state) };
		let audited = |id| job(id, JobState::Auditing);
		let ended = job(7, JobState::Ended(Ending::Settled));
		assert!(!Standing::new(args).is_due(&audited(7), 10), "nobody asked for it");
		let mut bets = Standing::new(BetArgs { bet_stake: Some(5), ..args });
		assert!(bets.is_due(&audited(7), 10));
		bets.until.insert(7, 20);
		assert!(!bets.is_due(&audited(7), 20) && bets.is_due(&audited(7), 21));
		assert!(bets.is_due(&audited(8), 10) && bets.is_due(&ended, 10));
		bets.over.insert(7);
		assert!(!bets.is_due(&ended, 10));
		assert_eq!(bets.needed(5, 3), 8);
		bets.owes(90);
		assert_eq!(bets.needed(5, 3), 98, "rescues and models come first");
		bets.retain(|job| job != 7);
		assert!(bets.is_due(&audited(7), 10) && bets.is_due(&ended, 10));
	}
}
