//! What became of results on which somebody bets: a router, since no pallet imports another.
//!
//! The market knows what became of each replica, submissions what it revealed, the court whom it convicts, and bets
//! remember how that was. Of a task the pallet of tasks knows all that.

use crate::{AccountId, Balance, BlockNumber, Runtime, TaskMarket};
use alloc::vec::Vec;
use frame_support::weights::Weight;
use pallet_submissions::Rounds;
use pallet_task_market::{Guilty, Job, Jobs, Lates};
use pallet_tasks::{Out, Task, Tasks};
use trainyard_protocol::{
	bets::{self, Delivered, Outcome, Statement, BURNED},
	fees,
	job::{JobState, MAX_AUDIT_ROUNDS, MAX_REPLICAS},
	JobId, H256,
};
use trainyard_task::{
	views::{Phase, TaskEnd},
	TaskId,
};
use trainyard_traits::{ResultStage, ResultStanding, Results};

/// Results of jobs of the market, and of tasks.
pub struct AllResults;

/// Returns what a trainer of a job loses for good where its result is convicted, if all others who have a part of it
/// are its friends: of what is not for the submitter's costs of checking a half is burned, of the whole deposit before
/// the settlement and of what is locked after it. What its claim could be sold for before does not count: it has that
/// whatever is found.
fn at_stake(job: &Job<AccountId>, late: bool) -> Balance {
	let lost = match late {
		true => fees::locked_for_late_proof(job.quote.deposit),
		false => {
			let seats = Balance::from(job.terms.verifiers).saturating_mul(MAX_AUDIT_ROUNDS.into());
			let costs = job.terms.audit_fee.saturating_mul(seats);
			job.quote.deposit.saturating_sub(costs).saturating_sub(job.quote.storage)
		}
	};
	let sold = match late {
		true => 0,
		false => fees::pay_of_each(job.quote.price, u32::try_from(job.replicas.len()).unwrap_or(1)),
	};
	(lost / BURNED).saturating_sub(sold)
}

/// Returns when the first of these trainers was convicted, if one was.
fn first_convicted(job: JobId, own: &[AccountId]) -> Option<BlockNumber> {
	let convicted = own.iter().filter_map(|who| crate::Bets::conviction(job, who));
	convicted.map(|convicted| convicted.at).min()
}

/// Returns what became of a statement about a job that is over.
fn decided(id: JobId, job: &Job<AccountId>, own: &[AccountId], late: bool) -> ResultStage {
	let delivered = job.replicas.iter().map(|replica| Delivered {
		own: own.contains(&replica.trainer),
		group: replica.result,
		fate: replica.fate,
		proven: crate::Bets::conviction(id, &replica.trainer).is_some_and(|by| by.proven),
	});
	let delivered: Vec<_> = delivered.collect();
	let outcome = bets::outcome(&delivered, late);
	// A conviction may have been without consequence: of an account, or later than what was settled.
	let by_court = matches!(outcome, Outcome::Wrong | Outcome::Forfeited);
	ResultStage::Over { outcome, convicted: first_convicted(id, own).filter(|_| by_court) }
}

/// Returns what the end of a task says of the claim of this number, and when others may have seen it.
///
/// What is accepted is what nobody challenged, so silence says nothing of who is right, and nobody is paid by it: whoever
/// was silent forfeits what it bet, and a claim that stands because others were silent is not known to be right.
fn task_outcome(
	task: &Task<AccountId>,
	end: TaskEnd,
	number: u8,
) -> (Outcome, Option<BlockNumber>) {
	let out = task.claims.get(usize::from(number)).and_then(|claimed| claimed.out);
	if let Some(Out { at, proven }) = out {
		return (if proven { Outcome::Wrong } else { Outcome::Forfeited }, Some(at));
	}
	let stands = match end {
		TaskEnd::Accepted(accepted) => accepted == number,
		// It is that of an auditor, and no replica had it.
		TaskEnd::Refuted => true,
		_ => false,
	};
	let outs = || task.claims.iter().filter_map(|claimed| claimed.out);
	match stands && outs().all(|out| out.proven) {
		true => (Outcome::Right, outs().map(|out| out.at).max()),
		false => (Outcome::Unknown, None),
	}
}

/// Returns where the claim with this root stands for a task.
fn task_standing(id: TaskId, root: &H256) -> Option<ResultStanding<AccountId>> {
	let task = Tasks::<Runtime>::get(id)?;
	let mut claims = (0u8..).zip(&task.claims);
	let (number, claimed) = claims.find(|(_, claimed)| claimed.claim.root == *root)?;
	let claim = Some(number);
	let replicas = task.replicas.iter().filter(|replica| replica.claim == claim);
	let mut own: Vec<AccountId> = replicas.map(|replica| replica.who.clone()).collect();
	// Half of what a replica loses may go to a friend on the other side; the bond of who audits is little beside it.
	let at_stake = if own.is_empty() { 0 } else { task.terms.deposit / BURNED };
	let auditor = task.auditor.iter().filter(|auditor| auditor.claim == claim);
	own.extend(auditor.map(|auditor| auditor.who.clone()));
	let stage = match task.phase {
		Phase::Challenging { .. } if claimed.convicted() => ResultStage::Known,
		// Nothing can be challenged any more, and the task ends with its turn on the agenda.
		Phase::Challenging { until } if TaskMarket::now() > until && task.running == 0 => {
			ResultStage::Known
		}
		Phase::Challenging { .. } => ResultStage::Open,
		Phase::Ended(end) => {
			let (outcome, convicted) = task_outcome(&task, end, number);
			ResultStage::Over { outcome, convicted }
		}
		_ => ResultStage::Awaited,
	};
	Some(ResultStanding { own, at_stake, stage })
}

impl Results<AccountId> for AllResults {
	fn standing(statement: &Statement) -> Option<ResultStanding<AccountId>> {
		let (id, root, late) = match statement {
			Statement::Result { job, root, late } => (*job, root, *late),
			Statement::Task { task, root } => return task_standing(*task, root),
			Statement::Words { .. } => return None,
		};
		let job = Jobs::<Runtime>::get(id)?;
		let round = Rounds::<Runtime>::get(id)?;
		let entries = round.entries.into_iter();
		let own = entries.filter(|entry| {
			entry.reveal.as_ref().is_some_and(|reveal| reveal.bundle_root == *root)
		});
		let own: Vec<AccountId> = own.map(|entry| entry.trainer).collect();
		if own.is_empty() {
			return None;
		}
		let stage = match job.state {
			JobState::Auditing => {
				match own.iter().any(|who| Guilty::<Runtime>::contains_key(id, who)) {
					true => ResultStage::Known,
					false => ResultStage::Open,
				}
			}
			JobState::Ended(_) => match Lates::<Runtime>::get(id).filter(|_| late) {
				Some(time) => {
					let stands =
						|who: &AccountId| time.trainers.iter().any(|locked| locked.who == *who);
					match TaskMarket::now() <= time.until && own.iter().all(stands) {
						true => ResultStage::Open,
						false => ResultStage::Known,
					}
				}
				None => decided(id, &job, &own, late),
			},
			_ => ResultStage::Awaited,
		};
		Some(ResultStanding { own, at_stake: at_stake(&job, late), stage })
	}

	fn standing_weight() -> Weight {
		// The job, its round, its time for late proof, and of each trainer whether and how it was convicted. Of a task its
		// record alone, which is larger.
		let reads = u64::from(MAX_REPLICAS).saturating_mul(2).saturating_add(3);
		<Runtime as frame_system::Config>::DbWeight::get().reads(reads)
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_open(who: &AccountId) -> Option<(JobId, H256)> {
		use pallet_submissions::{Entry, Phase, Round};
		use trainyard_court::Case;
		use trainyard_program::spec::JobSpec;
		use trainyard_protocol::{
			job::{Reveal, WorkResult},
			Text,
		};
		use trainyard_traits::Charged;
		let root = H256::repeat_byte(1);
		let spec = JobSpec::example().check().ok()?;
		let segments = spec.segments();
		let (true_root, model_root, diverged) = (root, root, false);
		let result = WorkResult { bundle_root: root, true_root, model_root, segments, diverged };
		let case = Case { spec, seed: H256::zero() };
		let job = TaskMarket::make_accused(&Charged { case, result, results: 1 }, who);
		let location = Text::new("http://127.0.0.1:8600")?;
		let bundle_root = root;
		let reveal = Reveal { bundle_root, true_root, model_root, segments, diverged, location };
		let commitment = Some(H256::zero());
		let entry = Entry { trainer: who.clone(), commitment, reveal: Some(reveal) };
		let entries = alloc::vec![entry].try_into().ok()?;
		let (phase, least_segments, most_segments) = (Phase::Closed, segments, segments);
		let round = Round { phase, entries, least_segments, most_segments };
		Rounds::<Runtime>::insert(job, round);
		Some((job, root))
	}
}
