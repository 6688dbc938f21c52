//! Decides what a trainer does next, by a pure function of what the chain says and what it has.

mod needs;
mod profitability;

pub use needs::Needs;
pub use profitability::{by_pay, hourly, worth, Limits, Prices, Refusal, Standing};

use super::{disputes::driver, job::Job, store::JobRecord};
use std::collections::BTreeSet;
use trainyard_client::{AccountId32, JobView, ReplicaView};
use trainyard_program::units;
use trainyard_protocol::{
	audit::AuditPhase,
	job::{Balance, BlockNumber, Fate, JobState, WorkResult},
	relay::RelayId,
	H256,
};

/// Blocks after a deadline until the trainer pokes the chain about its job: by then the chain's own
/// agenda has had its chance.
const POKE_AFTER: BlockNumber = 10;

/// One step for one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
	/// Get the data and check that it is what the job declares.
	Fetch,
	/// Try a few steps, to see that training does not diverge.
	Rehearse,
	/// Apply.
	Apply,
	/// Train, or go on training.
	Train,
	/// Commit to the result.
	Commit,
	/// Reveal the result.
	Reveal,
	/// Store the model on chain.
	Store,
	/// Store the drawn states on chain, for the group of this index.
	Rescue(u32),
	/// Open what was forced to be false.
	Open,
	/// Poke the chain: the job is overdue.
	Poke,
	/// Take the deposit of an expired blob back.
	Reclaim,
	/// Find out where the result of the group of this index parts from this trainer's, and accuse those
	/// who delivered it.
	Compare(u32),
	/// Offer a bet on the own result, or take it back when the job ended.
	Bet,
	/// Doubt a committee that says of a piece that it is not to be had.
	Doubt(RelayId),
	/// Keep samples of all states for the seats of a relay of them.
	Sample(RelayId),
	/// Go on with a dispute, or with an accusation.
	Dispute(driver::Work),
}

/// What the trainer knows of a job besides what the chain says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
	/// Its record, from the seed on.
	pub record: Option<&'a JobRecord>,
	/// Whether the data is here, checked.
	pub data: bool,
	/// Whether training was tried and did not diverge.
	pub rehearsed: bool,
	/// The commitment that its record can reveal.
	pub commitment: Option<H256>,
	/// Whether this trainer has replaced the commitment on chain as often as it does: then another
	/// program has the same key, and replacing in turns only costs fees.
	pub replaced: bool,
	/// Whether the chain has the whole model.
	pub stored: bool,
	/// What was found to be wrong with the job, if anything.
	pub bad: Option<&'a str>,
	/// Results of others that were compared with this trainer's; `None` where it accuses nobody.
	pub compared: Option<&'a BTreeSet<WorkResult>>,
	/// Whether this trainer has a dispute about the job, so that its files are needed.
	pub disputed: bool,
	/// Whether an offer of a bet on its result may be missing, or have outlived the job.
	pub bet_due: bool,
}

/// What is to be done about one job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
	/// Steps, most urgent first.
	pub actions: Vec<Action>,
	/// Whether its data is to be served.
	pub serve_data: bool,
	/// Whether its bundle is to be served.
	pub serve_bundle: bool,
	/// Why an open job is not applied for.
	pub refusal: Option<Refusal>,
	/// Whether the trainer has anything to do with the job: it applied, or was drawn.
	pub involved: bool,
	/// Whether there will never be anything to do again.
	pub finished: bool,
	/// Whether its folder is of no use any more: the job ended, its result can be challenged no more, and
	/// the time in which its bundle was still served is over.
	pub discard: bool,
}

/// Returns the replica of `me`, if it is a trainer of this job.
pub fn replica_of<'a>(job: &'a JobView, me: &AccountId32) -> Option<&'a ReplicaView> {
	job.replicas.iter().find(|replica| replica.trainer == *me)
}

/// Returns the price of one replica, in units of the currency; saturates.
pub fn price(job: &JobView) -> Balance {
	units::price(job.work, job.terms.price_per_ut).unwrap_or(Balance::MAX)
}

/// Returns what `me` does about `job`.
pub fn plan(
	job: &Job,
	me: &AccountId32,
	known: &Known<'_>,
	limits: &Limits,
	standing: &Standing,
) -> Plan {
	let data = known.data;
	let mut plan = match job.state {
		JobState::Open | JobState::Seeding => before_the_draw(job, me, known, limits, standing),
		JobState::Training | JobState::Revealing | JobState::Auditing => {
			match replica_of(job, me) {
				Some(mine) => at_work(job, mine, known),
				None => Plan { finished: true, ..Plan::default() },
			}
		}
		JobState::Ended(_) => ended(job, me, known, limits, standing),
	};
	if plan.serve_data && !data && !plan.actions.contains(&Action::Fetch) {
		plan.actions.push(Action::Fetch);
	}
	// Training needs the data first.
	if !data {
		plan.actions.retain(|action| *action != Action::Train);
	}
	let overdue = standing.best > job.deadline.saturating_add(POKE_AFTER);
	if overdue && plan.involved && !matches!(job.state, JobState::Ended(_)) {
		plan.actions.push(Action::Poke);
	}
	plan
}

fn before_the_draw(
	job: &Job,
	me: &AccountId32,
	known: &Known<'_>,
	limits: &Limits,
	standing: &Standing,
) -> Plan {
	if job.applicants.contains(me) {
		return Plan { involved: true, serve_data: true, ..Plan::default() };
	}
	// An application sent at the last block would come too late.
	if job.state != JobState::Open || standing.best.saturating_add(1) >= job.deadline {
		return Plan::default();
	}
	let bad = known.bad.map(|why| Refusal::Bad(why.to_owned()));
	match bad.map_or_else(|| worth(job, me, limits, standing), Err) {
		Err(refusal) => Plan { refusal: Some(refusal), ..Plan::default() },
		Ok(()) => {
			let action = match known {
				Known { data: false, .. } => Action::Fetch,
				Known { rehearsed: false, .. } => Action::Rehearse,
				_ => Action::Apply,
			};
			Plan { actions: vec![action], ..Plan::default() }
		}
	}
}

fn at_work(job: &JobView, mine: &ReplicaView, known: &Known<'_>) -> Plan {
	let mut plan = Plan { involved: true, serve_data: true, ..Plan::default() };
	if mine.fate != Fate::Working {
		// Lost already; what was revealed is served until the job ends.
		plan.serve_bundle = mine.reveal.is_some();
		return plan;
	}
	let Some(record) = known.record else {
		// The record begins with the seed.
		return plan;
	};
	match job.state {
		JobState::Training => match record.result {
			None => plan.actions.push(Action::Train),
			// What stands there may be of another fork, or of a folder that was lost: it is replaced.
			Some(_) if mine.commitment.is_some() && known.replaced => {}
			Some(_) if mine.commitment.is_none() || mine.commitment != known.commitment => {
				plan.actions.push(Action::Commit);
			}
			Some(_) => {}
		},
		JobState::Revealing if mine.commitment.is_some() => {
			if record.result.is_none() {
				// The result is a function of job and seed, so a lost one is made again.
				plan.actions.push(Action::Train);
			} else {
				if mine.reveal.is_none() && mine.commitment == known.commitment {
					plan.actions.push(Action::Reveal);
				}
				if !known.stored {
					plan.actions.push(Action::Store);
				}
			}
			plan.serve_bundle = mine.reveal.is_some();
		}
		JobState::Auditing => {
			plan.serve_bundle = mine.reveal.is_some();
			if record.result.is_none() && mine.reveal.is_some() {
				plan.actions.push(Action::Train);
			}
			if let (Some(shown), Some(own)) = (mine.reveal.as_ref(), record.result) {
				if shown.result() == own {
					plan.actions.extend(opening(job, &mine.trainer, known));
					plan.actions.extend(rescue(job, &own));
					if let Some(compared) = known.compared {
						plan.actions.extend(parted(job, &own, compared));
					}
					plan.actions.extend(known.bet_due.then_some(Action::Bet));
				}
			}
		}
		_ => {}
	}
	plan
}

/// Returns the opening of the forced leaves of `me`, when it is due: in the time for it, or as soon as there
/// is a dispute, which may be about such a leaf. While seats reveal it waits, for their time is short beside
/// its clock: who learns that it is caught would rather reveal nothing.
fn opening(job: &JobView, me: &AccountId32, known: &Known<'_>) -> Option<Action> {
	let audit = job.audit.as_ref()?;
	let is_time = match audit.phase {
		AuditPhase::Opening { .. } => true,
		AuditPhase::Revealing { .. } | AuditPhase::Standing { .. } | AuditPhase::Done => false,
		_ => known.disputed,
	};
	let mut bundles = audit.groups.iter().flat_map(|group| &group.bundles);
	let own = bundles.find(|bundle| bundle.trainer == *me)?;
	(is_time && own.forced.is_none()).then_some(Action::Open)
}

/// Returns the rescue of the group with this result, while its window is open and seats lack
/// something of it.
fn rescue(job: &JobView, own: &WorkResult) -> Option<Action> {
	let audit = job.audit.as_ref()?;
	if !matches!(audit.phase, AuditPhase::Rescue { .. }) {
		return None;
	}
	let index = audit.groups.iter().position(|group| {
		group.result.common() == own.common() && group.decision.is_none() && !group.asked.is_empty()
	})?;
	u32::try_from(index).ok().map(Action::Rescue)
}

/// Returns the comparisons with other results while they can be challenged: at most one of those that
/// stand is true, and who delivered it is paid for saying where the others part from it.
fn parted<'a>(
	job: &'a JobView,
	own: &'a WorkResult,
	compared: &'a BTreeSet<WorkResult>,
) -> impl Iterator<Item = Action> + 'a {
	let audit = job.audit.as_ref().filter(|_| driver::is_open(job));
	let groups = audit.map(|audit| &audit.groups[..]).unwrap_or_default();
	let is_ours = groups.iter().any(|group| group.result.common() == own.common());
	groups.iter().zip(0..).filter_map(move |(group, index)| {
		let is_other = group.result.common() != own.common() && group.decision.is_none();
		(is_ours && is_other && !compared.contains(&group.result)).then_some(Action::Compare(index))
	})
}

fn ended(
	job: &JobView,
	me: &AccountId32,
	known: &Known<'_>,
	limits: &Limits,
	standing: &Standing,
) -> Plan {
	let Some(mine) = replica_of(job, me) else {
		return Plan { finished: true, ..Plan::default() };
	};
	let Some(record) = known.record else {
		// Nothing of it is here.
		return Plan { finished: true, ..Plan::default() };
	};
	let since = record.ended.unwrap_or(standing.best);
	// What a defence needs stays until nobody can accuse any more.
	let mut late = job.late.iter().flat_map(|late| &late.trainers);
	let is_late = late.any(|locked| locked.trainer == *me);
	if standing.best > since.saturating_add(limits.grace) && !known.disputed && !is_late {
		return Plan { finished: true, discard: true, ..Plan::default() };
	}
	let revealed = mine.reveal.is_some();
	let actions = (revealed && known.bet_due).then_some(Action::Bet).into_iter().collect();
	Plan { actions, serve_data: revealed, serve_bundle: revealed, ..Plan::default() }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
