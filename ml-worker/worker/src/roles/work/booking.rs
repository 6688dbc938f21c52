//! Reads what an account earned and paid in a block, and for which role, from the events of the block. It
//! is a pure function of these.
//!
//! Every movement of money is an event of the pallet Balances; which role it is of follows from the reason
//! for which it was held, and from what else happened beside it.

use super::part::{Part, Relation};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use trainyard_client::{books::ChainEvent, AccountId32};
use trainyard_protocol::JobId;

/// What something was earned or paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
	/// The price of training.
	Pay,
	/// Fees of audits and relays.
	Fee,
	/// Fees for checks of laps and units, or what a report pays for them.
	Checks,
	/// A part of what a cheat lost.
	Bounty,
	/// Blocks that were made.
	Blocks,
	/// Fees of transactions.
	Transactions,
	/// The time for which the chain kept models and rescues.
	Storage,
	/// What was prepaid for bytes that were asked for.
	Asked,
	/// Deposits and stakes that were lost.
	Lost,
	/// Bets that were won or lost.
	Bets,
	/// Jobs, tasks and projects of its own.
	Spent,
	/// Transfers of its owner.
	Transfer,
	/// What no event of these tells.
	Other,
}

impl Kind {
	/// Returns a word for people.
	pub fn word(self) -> &'static str {
		match self {
			Self::Pay => "pay",
			Self::Fee => "fees of audits",
			Self::Checks => "checks of drilling",
			Self::Bounty => "bounties",
			Self::Blocks => "blocks",
			Self::Transactions => "transactions",
			Self::Storage => "storage",
			Self::Asked => "bytes asked for",
			Self::Lost => "lost",
			Self::Bets => "bets",
			Self::Spent => "own jobs",
			Self::Transfer => "transfers",
			Self::Other => "other",
		}
	}
}

/// Money that came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
	/// For which role.
	pub part: Part,
	/// For what.
	pub kind: Kind,
	/// How much, in units of the currency; negative where it went.
	pub amount: i128,
	/// About which job, if it is known.
	pub job: Option<JobId>,
}

/// Work that was credited as power, or taken from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Power {
	/// For which role.
	pub part: Part,
	/// How much, in micro-ut.
	pub work: i64,
}

/// What a block did to an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
	/// Its money.
	pub entries: Vec<Entry>,
	/// Its power.
	pub power: Vec<Power>,
}

/// What is known besides the events.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
	/// The account.
	pub me: &'a AccountId32,
	/// What it has to do with jobs.
	pub relations: &'a BTreeMap<JobId, Relation>,
	/// The calls of the block, like `Stints.report`, in order.
	pub calls: &'a [String],
}

/// Money of an account that an event moved: how much, and for which reason it was held, if it was.
struct Moved<'a> {
	amount: i128,
	reason: Option<&'a str>,
}

/// Returns what an event of the pallet Balances moved of `me`.
fn moved<'a>(event: &'a ChainEvent, me: &AccountId32) -> Option<Moved<'a>> {
	if event.pallet != "Balances" {
		return None;
	}
	let is_mine = |field: &str| event.account(field) == Some(me);
	let amount = |field: &str| i128::try_from(event.number(field)?).ok();
	let reason = event.word("reason");
	let signed = match event.name.as_str() {
		"Deposit" | "Minted" | "Restored" if is_mine("who") => amount("amount")?,
		"Withdraw" | "Burned" | "Slashed" | "Suspended" | "BurnedHeld" if is_mine("who") => {
			-amount("amount")?
		}
		"DustLost" if is_mine("account") => -amount("amount")?,
		"Transfer" => directed(is_mine("from"), is_mine("to"), amount("amount")?)?,
		"TransferOnHold" => directed(is_mine("source"), is_mine("dest"), amount("amount")?)?,
		"TransferAndHold" => directed(is_mine("source"), is_mine("dest"), amount("transferred")?)?,
		_ => return None,
	};
	(signed != 0).then_some(Moved { amount: signed, reason })
}

fn directed(from: bool, to: bool, amount: i128) -> Option<i128> {
	match (from, to) {
		(true, false) => Some(-amount),
		(false, true) => Some(amount),
		_ => None,
	}
}

/// Returns the job of the event at `at` among those of its transaction: that which is named next after it,
/// or else last before it.
fn job_of(scope: &[&ChainEvent], at: usize) -> Option<JobId> {
	let job = |event: &&ChainEvent| {
		let job = event.number("job").and_then(|job| JobId::try_from(job).ok());
		job.filter(|_| event.pallet != "Balances")
	};
	scope[at..].iter().find_map(job).or_else(|| scope[..at].iter().rev().find_map(job))
}

/// Returns the events of the transaction of each event, or of what the chain did by itself, and the place
/// of the event among them.
fn scopes(events: &[ChainEvent]) -> Vec<(Vec<&ChainEvent>, usize)> {
	let mut by: BTreeMap<Option<u32>, Vec<&ChainEvent>> = BTreeMap::new();
	let places: Vec<usize> = events
		.iter()
		.map(|event| {
			let scope = by.entry(event.extrinsic).or_default();
			scope.push(event);
			scope.len() - 1
		})
		.collect();
	let scope = |event: &ChainEvent| by.get(&event.extrinsic).cloned().unwrap_or_default();
	events.iter().zip(places).map(|(event, place)| (scope(event), place)).collect()
}

/// Returns the jobs that something of `me` in these events may be about.
pub fn jobs_named(events: &[ChainEvent], me: &AccountId32) -> BTreeSet<JobId> {
	let mut found = BTreeSet::new();
	for (event, (scope, at)) in events.iter().zip(scopes(events)) {
		if moved(event, me).is_some() || event.names(me) {
			found.extend(job_of(&scope, at));
		}
	}
	found
}

/// Returns what these events did to the account.
pub fn book(events: &[ChainEvent], known: &Known<'_>) -> Block {
	let mut block = Block::default();
	for (event, (scope, at)) in events.iter().zip(scopes(events)) {
		if let Some(power) = power(event, known.me) {
			block.power.push(power);
		}
		if let Some(moved) = moved(event, known.me) {
			let (part, kind, job) = attributed(event, &moved, &scope, at, known);
			block.entries.push(Entry { part, kind, amount: moved.amount, job });
		}
	}
	block
}

fn power(event: &ChainEvent, me: &AccountId32) -> Option<Power> {
	if event.pallet != "Hashrate" || event.account("trainer") != Some(me) {
		return None;
	}
	let work = i64::try_from(event.number("work")?).ok()?;
	let (part, work) = match event.name.as_str() {
		"TrainingCredited" => (Part::Trainer, work),
		"TrainingRevoked" => (Part::Trainer, -work),
		"DrillingCredited" => (Part::Driller, work),
		"DrillingDebited" => (Part::Driller, -work),
		_ => return None,
	};
	Some(Power { part, work })
}

/// Returns for which role and for what money was moved, and about which job.
fn attributed(
	event: &ChainEvent,
	moved: &Moved<'_>,
	scope: &[&ChainEvent],
	at: usize,
	known: &Known<'_>,
) -> (Part, Kind, Option<JobId>) {
	let me = known.me;
	let came = moved.amount > 0;
	let job = job_of(scope, at);
	let relation = job.and_then(|job| known.relations.get(&job).copied());
	let by_job = |otherwise: Part| relation.map_or(otherwise, Relation::part);
	let next = |pallet: &str, name: &str, field: &str| {
		let mut after = scope[at..].iter().take(4);
		after.any(|other| other.is(pallet, name) && other.account(field) == Some(me))
	};
	match moved.reason {
		Some("TaskMarket.Escrow" | "TaskMarket.Record") => match (came, relation) {
			(true, Some(Relation::Trains)) => (Part::Trainer, Kind::Pay, job),
			// A seat of an earlier round is on no committee any more.
			(true, _) => (Part::Verifier, Kind::Fee, job),
			(false, _) => (Part::Account, Kind::Spent, job),
		},
		Some("TaskMarket.Deposit") => match (came, relation) {
			(false, _) => (Part::Trainer, Kind::Lost, job),
			(true, Some(Relation::Posted)) => (Part::Account, Kind::Spent, job),
			(true, _) => (by_job(Part::Whistleblower), Kind::Bounty, job),
		},
		Some("Tasks.Escrow") => match came {
			true => (Part::Tasks, Kind::Pay, None),
			false => (Part::Account, Kind::Spent, None),
		},
		Some("Tasks.Record") => (Part::Account, Kind::Spent, None),
		Some("Tasks.Replica" | "Tasks.Challenge") => {
			(Part::Tasks, if came { Kind::Bounty } else { Kind::Lost }, None)
		}
		Some("Bets.Stake") => (by_job(Part::Account), Kind::Bets, job),
		Some("Court.Challenge") => {
			let kind = if came { Kind::Bounty } else { Kind::Lost };
			(by_job(Part::Disputes), kind, job)
		}
		Some("Verification.VerifierBond") => match came {
			false => (Part::Verifier, Kind::Lost, job),
			true => (by_job(Part::Whistleblower), Kind::Bounty, job),
		},
		Some("Verification.Claim" | "Verification.Relay") => match (came, relation) {
			(false, _) => (by_job(Part::Whistleblower), Kind::Asked, job),
			(true, Some(Relation::Trains)) => (Part::Trainer, Kind::Fee, job),
			(true, _) => (Part::Verifier, Kind::Fee, job),
		},
		Some("Hashrate.Bond") => match next("Hashrate", "Slashed", "trainer") {
			true => (Part::Node, Kind::Lost, None),
			false => (Part::Driller, Kind::Lost, None),
		},
		Some("ModelStorage.Blob") => (Part::Trainer, Kind::Storage, None),
		Some("Stints.Driller") => (Part::Driller, Kind::Lost, None),
		Some("Drilling.Project") => (Part::Account, Kind::Spent, None),
		Some(_) => (Part::Account, Kind::Other, job),
		None => {
			let is_fee = matches!(event.name.as_str(), "Withdraw" | "Deposit");
			let paid = scope.iter().any(|other| pays(other, me));
			if let Some(at) = event.extrinsic.filter(|_| is_fee && paid) {
				let call = known.calls.get(at as usize).map_or("", String::as_str);
				return (sender(call, by_job), Kind::Transactions, job);
			}
			if came
				&& (next("Stints", "CheckPaid", "verifier")
					|| next("Drilling", "CheckPaid", "verifier"))
			{
				return (Part::Verifier, Kind::Checks, None);
			}
			if !came && next("Stints", "Reported", "driller") {
				return (Part::Driller, Kind::Checks, None);
			}
			if came && event.name == "Minted" && next("Hashrate", "BlockRewarded", "author") {
				return (Part::Node, Kind::Blocks, None);
			}
			match event.name.as_str() {
				"Transfer" => (Part::Account, Kind::Transfer, None),
				_ => (Part::Account, Kind::Other, job),
			}
		}
	}
}

/// Returns the role that sends a call. One that several roles send is of the role that deals with its job.
fn sender(call: &str, by_job: impl Fn(Part) -> Part) -> Part {
	let (pallet, name) = call.split_once('.').unwrap_or_default();
	match (pallet, name) {
		("Submissions" | "ModelStorage", _) => Part::Trainer,
		("TaskMarket", "apply" | "post_listing" | "remove_listing" | "poke") => Part::Trainer,
		("Verification", "rescue" | "open_forced") => Part::Trainer,
		(
			"Verification",
			"request" | "withdraw_request" | "request_relay" | "ask_seats" | "appeal",
		) => by_job(Part::Whistleblower),
		("Verification", _) | ("Stints" | "Drilling", "check" | "check_reveal") => Part::Verifier,
		("Drilling", "propose" | "vote" | "withdraw_project" | "clear") => Part::Account,
		("Stints" | "Drilling", _) => Part::Driller,
		("Tasks", "post" | "cancel") => Part::Account,
		("Tasks", _) => Part::Tasks,
		("Court", _) => by_job(Part::Disputes),
		("Hashrate", "set_candidate") | ("Session", _) => Part::Node,
		("Hashrate", _) => Part::Trainer,
		_ => Part::Account,
	}
}

/// Returns whether `me` paid for a transaction among these events.
pub fn has_sent(events: &[ChainEvent], me: &AccountId32) -> bool {
	events.iter().any(|event| pays(event, me))
}

fn pays(event: &ChainEvent, me: &AccountId32) -> bool {
	event.is("TransactionPayment", "TransactionFeePaid") && event.account("who") == Some(me)
}

#[cfg(test)]
#[path = "booking_tests.rs"]
mod tests;
