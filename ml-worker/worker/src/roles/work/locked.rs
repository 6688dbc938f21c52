//! Says what is locked of the account, until when, and why. It is a pure function of what the chain says.

use super::{facts::Facts, part::Relation};
use serde::{Deserialize, Serialize};
use trainyard_client::{books::Hold, JobView};
use trainyard_protocol::{
	job::{Balance, BlockNumber, JobState},
	views::Standing,
};

/// An amount that is locked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locked {
	/// The chain's reason, like `TaskMarket.Deposit`.
	pub reason: String,
	/// How much.
	#[serde(with = "trainyard_program::text::decimal")]
	pub amount: Balance,
	/// The block after which it is free, if that is known.
	pub until: Option<BlockNumber>,
	/// Why, and what frees it.
	pub why: String,
}

/// Returns everything that is locked. All together is what is held of the account.
pub fn locked(facts: &Facts) -> Vec<Locked> {
	facts.holds.iter().flat_map(|hold| explained(hold, facts)).collect()
}

fn explained(hold: &Hold, facts: &Facts) -> Vec<Locked> {
	let row = |amount: Balance, until: Option<BlockNumber>, why: String| Locked {
		reason: hold.reason.clone(),
		amount,
		until,
		why,
	};
	let mut rows = match hold.reason.as_str() {
		"Hashrate.Bond" => {
			let why = match facts.free_at {
				Some(_) => "the bond of the trainer, which leaves: then `trainyard deregister \
				            --withdraw` returns it"
					.to_owned(),
				None => format!(
					"the bond of trainer and driller: it stays until {} after `trainyard deregister`",
					blocks(facts.unbonding.trainer)
				),
			};
			vec![row(hold.amount, facts.free_at, why)]
		}
		"Verification.VerifierBond" => of_verifier(hold, facts, row),
		"TaskMarket.Deposit" => {
			let mine = facts.jobs.iter();
			let mine = mine.filter(|job| Relation::of(job, &facts.me) == Some(Relation::Trains));
			let running = mine.map(|job| row(job.deposit, deposit_until(job), deposit_why(job)));
			let late = facts.late.iter().map(|(job, late)| {
				let why = format!(
					"the fifth of the deposit of job {job}: its result can be challenged until then"
				);
				row(late.locked, Some(late.until), why)
			});
			running.chain(late).collect()
		}
		"TaskMarket.Escrow" => {
			vec![row(hold.amount, None, "escrow of its own jobs, until they end".to_owned())]
		}
		"TaskMarket.Record" => {
			let why = "records of its own jobs, until they are removed";
			vec![row(hold.amount, None, why.to_owned())]
		}
		"ModelStorage.Blob" => {
			let expiries = facts.blobs.iter().map(|blob| blob.expires);
			let why = match expiries.clone().min() {
				Some(first) => format!(
					"{} blob(s) on chain, models and rescues: each returns, less the rent for its \
					 time, within a day after it expires, the first after block {first}",
					facts.blobs.len()
				),
				None => "blobs on chain, until they expire".to_owned(),
			};
			vec![row(hold.amount, expiries.max(), why)]
		}
		"Stints.Driller" => {
			let why = "the deposit of a driller: it returns when the stint is given up";
			vec![row(hold.amount, None, why.to_owned())]
		}
		"Court.Challenge" => {
			let why = "deposits of challenges, until their disputes end";
			vec![row(hold.amount, None, why.to_owned())]
		}
		"Verification.Claim" | "Verification.Relay" => {
			let why =
				"prepaid for bytes that were asked for, until they came or the time for it is over";
			vec![row(hold.amount, None, why.to_owned())]
		}
		"Tasks.Escrow" | "Tasks.Record" => {
			let why = "escrow and records of its own tasks, until they end and are forgotten";
			vec![row(hold.amount, None, why.to_owned())]
		}
		"Tasks.Replica" => {
			let why = "deposits of tasks that it computes, until these end";
			vec![row(hold.amount, None, why.to_owned())]
		}
		"Tasks.Challenge" => {
			let why = "deposits of challenges of tasks, until their disputes end";
			vec![row(hold.amount, None, why.to_owned())]
		}
		"Bets.Stake" | "Bets.Record" => {
			let why = "offers and bets on results, until they are taken back or decided";
			vec![row(hold.amount, None, why.to_owned())]
		}
		"Drilling.Project" => {
			let why = "deposits of its own projects, until they are cleared";
			vec![row(hold.amount, None, why.to_owned())]
		}
		"Session.Keys" | "Session" => {
			let why = "the deposit for session keys: `hashrate.purgeKeys` returns it";
			vec![row(hold.amount, None, why.to_owned())]
		}
		_ => Vec::new(),
	};
	let told = rows.iter().fold(0, |sum: Balance, row| sum.saturating_add(row.amount));
	match hold.amount.checked_sub(told) {
		Some(0) => {}
		Some(rest) => {
			let why = match hold.reason.as_str() {
				"TaskMarket.Deposit" => {
					"deposits of jobs that end in these blocks, or are disputed"
				}
				_ => "held by the chain for this reason",
			};
			rows.push(row(rest, None, why.to_owned()));
		}
		// Views of a block before or after.
		None => rows = vec![row(hold.amount, None, "it changes in these blocks".to_owned())],
	}
	rows
}

fn of_verifier(
	hold: &Hold,
	facts: &Facts,
	row: impl Fn(Balance, Option<BlockNumber>, String) -> Locked,
) -> Vec<Locked> {
	let Some(view) = &facts.verifier else { return Vec::new() };
	let seats = view.locked.min(hold.amount);
	let mut rows = Vec::new();
	if seats > 0 {
		let why = "the stakes of running seats, until these end";
		rows.push(row(seats, None, why.to_owned()));
	}
	let (until, why) = match view.standing {
		Standing::Left { since } => (
			facts.unbonding.verifier.map(|blocks| since.saturating_add(blocks)),
			"the bond of the verifier, which left: then `verification.withdraw` returns it".to_owned(),
		),
		Standing::Waiting { .. } => (
			None,
			"the bond of the verifier, which waits for a place: `verification.deregister` frees it at \
			 once"
				.to_owned(),
		),
		Standing::Active | Standing::Paused => (
			None,
			format!(
				"the bond of the verifier: it stays until {} after `verification.deregister`",
				blocks(facts.unbonding.verifier)
			),
		),
	};
	if hold.amount > seats {
		rows.push(row(hold.amount - seats, until, why));
	}
	rows
}

fn blocks(number: Option<BlockNumber>) -> String {
	match number {
		Some(number) => format!("{number} blocks"),
		None => "the unbonding period".to_owned(),
	}
}

/// Returns the block in which the deposit of a job is free, where that follows from its state.
fn deposit_until(job: &JobView) -> Option<BlockNumber> {
	matches!(job.state, JobState::Open | JobState::Seeding).then_some(job.deadline)
}

fn deposit_why(job: &JobView) -> String {
	let why = match job.state {
		JobState::Open | JobState::Seeding => {
			"applied for: it returns at the draw, if others are drawn"
		}
		JobState::Training => "trained: it returns when the job is settled",
		JobState::Revealing => "to be revealed: it returns when the job is settled",
		JobState::Auditing => "audited: four fifths return when the job is settled",
		JobState::Ended(_) => "ended: it returns in these blocks",
	};
	format!("the deposit of job {}, {why}", job.id)
}

#[cfg(test)]
#[path = "locked_tests.rs"]
mod tests;
