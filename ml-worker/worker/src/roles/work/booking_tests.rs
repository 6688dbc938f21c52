//! Tables: events of a block in, entries out.

use super::*;
use trainyard_client::books::Field;

const ME: AccountId32 = AccountId32([1; 32]);
const OTHER: AccountId32 = AccountId32([2; 32]);
const JACKPOT: AccountId32 = AccountId32([9; 32]);

fn who(account: AccountId32) -> Field {
	Field::Account(account)
}

fn n(number: u128) -> Field {
	Field::Number(number)
}

fn event(extrinsic: Option<u32>, title: &str, fields: &[(&str, Field)]) -> ChainEvent {
	let (pallet, name) = title.split_once('.').unwrap();
	let fields = fields.iter().map(|(name, field)| ((*name).to_owned(), field.clone())).collect();
	ChainEvent { extrinsic, pallet: pallet.into(), name: name.into(), fields }
}

fn on_hold(reason: &str, source: AccountId32, dest: AccountId32, amount: u128) -> ChainEvent {
	let reason = Field::Word(reason.into());
	let fields =
		[("reason", reason), ("source", who(source)), ("dest", who(dest)), ("amount", n(amount))];
	event(None, "Balances.TransferOnHold", &fields)
}

fn transfer(at: Option<u32>, from: AccountId32, to: AccountId32, amount: u128) -> ChainEvent {
	let fields = [("from", who(from)), ("to", who(to)), ("amount", n(amount))];
	event(at, "Balances.Transfer", &fields)
}

fn ended(job: u128) -> ChainEvent {
	event(None, "TaskMarket.JobEnded", &[("job", n(job))])
}

/// The fee of a transaction: what was withdrawn, and what came back of it.
fn fee(at: u32, what: ChainEvent) -> Vec<ChainEvent> {
	let of = |title, amount| event(Some(at), title, &[("who", who(ME)), ("amount", n(amount))]);
	let paid = [("who", who(ME)), ("actual_fee", n(7)), ("tip", n(0))];
	let paid = event(Some(at), "TransactionPayment.TransactionFeePaid", &paid);
	vec![of("Balances.Withdraw", 10), what, of("Balances.Deposit", 3), paid]
}

fn relations() -> BTreeMap<JobId, Relation> {
	[(1, Relation::Trains), (2, Relation::Checks), (3, Relation::Posted)].into()
}

fn booked(events: &[ChainEvent]) -> Block {
	book(events, &Known { me: &ME, relations: &relations(), calls: &[] })
}

/// What came of it in short.
fn rows(events: &[ChainEvent]) -> Vec<(Part, Kind, i128, Option<JobId>)> {
	let entries = booked(events).entries;
	entries.iter().map(|entry| (entry.part, entry.kind, entry.amount, entry.job)).collect()
}

#[test]
fn money_that_was_held_is_of_the_role_that_deals_with_its_job() {
	use Kind::*;
	use Part::*;
	let cases = [
		("TaskMarket.Escrow", OTHER, ME, 1, (Trainer, Pay, 50)),
		("TaskMarket.Escrow", OTHER, ME, 2, (Verifier, Fee, 50)),
		("TaskMarket.Escrow", OTHER, ME, 7, (Verifier, Fee, 50)),
		("TaskMarket.Escrow", ME, OTHER, 3, (Account, Spent, -50)),
		("Bets.Stake", OTHER, ME, 1, (Trainer, Bets, 50)),
		("Bets.Stake", ME, OTHER, 3, (Account, Bets, -50)),
		("TaskMarket.Deposit", ME, JACKPOT, 1, (Trainer, Lost, -50)),
		("TaskMarket.Deposit", OTHER, ME, 2, (Verifier, Bounty, 50)),
		("TaskMarket.Deposit", OTHER, ME, 1, (Trainer, Bounty, 50)),
		("TaskMarket.Deposit", OTHER, ME, 7, (Whistleblower, Bounty, 50)),
		("TaskMarket.Deposit", OTHER, ME, 3, (Account, Spent, 50)),
		("Court.Challenge", ME, OTHER, 7, (Disputes, Lost, -50)),
		("Court.Challenge", OTHER, ME, 2, (Verifier, Bounty, 50)),
		("Verification.VerifierBond", ME, JACKPOT, 2, (Verifier, Lost, -50)),
		("Verification.Claim", ME, OTHER, 7, (Whistleblower, Asked, -50)),
		("Verification.Claim", OTHER, ME, 1, (Trainer, Fee, 50)),
		("Verification.Relay", OTHER, ME, 7, (Verifier, Fee, 50)),
		("Stints.Driller", ME, JACKPOT, 1, (Driller, Lost, -50)),
		("Session.Keys", ME, JACKPOT, 1, (Account, Other, -50)),
	];
	for (reason, from, to, job, (part, kind, amount)) in cases {
		let found = rows(&[on_hold(reason, from, to, 50), ended(job)]);
		assert_eq!(found.len(), 1, "{reason}");
		assert_eq!((found[0].0, found[0].1, found[0].2), (part, kind, amount), "{reason} {job}");
	}
	assert!(rows(&[on_hold("TaskMarket.Escrow", OTHER, JACKPOT, 5), ended(1)]).is_empty());
	assert!(rows(&[on_hold("TaskMarket.Escrow", ME, ME, 5), ended(1)]).is_empty(), "it stays");
}

/// Several jobs end in a block: each movement is of the one that is named next.
#[test]
fn each_job_has_its_own() {
	let pay = |amount| on_hold("TaskMarket.Escrow", OTHER, ME, amount);
	let found = rows(&[pay(5), ended(2), pay(7), ended(1), pay(1)]);
	let expected = [
		(Part::Verifier, Kind::Fee, 5, Some(2)),
		(Part::Trainer, Kind::Pay, 7, Some(1)),
		(Part::Trainer, Kind::Pay, 1, Some(1)),
	];
	assert_eq!(found, expected);
	let named = jobs_named(&[pay(5), ended(2), pay(7), ended(1)], &ME);
	assert_eq!(named, [1, 2].into());
	assert!(jobs_named(&[ended(2)], &ME).is_empty());
}

#[test]
fn fees_of_transactions_are_of_the_role_that_sent_them() {
	for (call, job, part) in [
		("TaskMarket.apply", 1, Part::Trainer),
		("Submissions.commit", 1, Part::Trainer),
		("ModelStorage.upload_chunk", 1, Part::Trainer),
		("Verification.rescue", 1, Part::Trainer),
		("Verification.set_location", 7, Part::Verifier),
		("Verification.commit", 2, Part::Verifier),
		("Verification.request", 7, Part::Whistleblower),
		("Verification.request", 2, Part::Verifier),
		("Stints.report", 7, Part::Driller),
		("Stints.check_reveal", 7, Part::Verifier),
		("Drilling.commit", 7, Part::Driller),
		("Drilling.check", 7, Part::Verifier),
		("Drilling.vote", 7, Part::Account),
		("Court.commit", 1, Part::Trainer),
		("Court.deny", 7, Part::Disputes),
		("Hashrate.register", 7, Part::Trainer),
		("Hashrate.set_candidate", 7, Part::Node),
		("TaskMarket.submit_job", 3, Part::Account),
		("Balances.transfer_all", 7, Part::Account),
	] {
		// Whether the call did what it should or failed, its fee is paid.
		let done = event(Some(1), "TaskMarket.Applied", &[("job", n(job))]);
		let events = fee(1, done);
		let calls = ["Timestamp.set".to_owned(), call.to_owned()];
		let known = Known { me: &ME, relations: &relations(), calls: &calls };
		let entries = book(&events, &known).entries;
		let sum: i128 = entries.iter().map(|entry| entry.amount).sum();
		assert_eq!((entries.len(), sum), (2, -7), "{call}");
		let kind = Kind::Transactions;
		assert!(entries.iter().all(|it| (it.part, it.kind) == (part, kind)), "{call} {entries:?}");
		assert!(has_sent(&events, &ME) && !has_sent(&events, &OTHER));
	}
}

#[test]
fn checks_of_drilling_blocks_and_transfers() {
	let paid = event(None, "Stints.CheckPaid", &[("verifier", who(ME)), ("fee", n(5))]);
	assert_eq!(rows(&[transfer(None, JACKPOT, ME, 5), paid])[0].1, Kind::Checks);
	let reported = event(Some(1), "Stints.Reported", &[("driller", who(ME)), ("fee", n(5))]);
	let found = rows(&[transfer(Some(1), ME, JACKPOT, 5), reported]);
	assert_eq!(found, [(Part::Driller, Kind::Checks, -5, None)]);
	let of_other = event(None, "Stints.CheckPaid", &[("verifier", who(OTHER)), ("fee", n(5))]);
	let found = rows(&[transfer(None, JACKPOT, ME, 5), of_other]);
	assert_eq!(found, [(Part::Account, Kind::Transfer, 5, None)]);
	let minted = event(None, "Balances.Minted", &[("who", who(ME)), ("amount", n(9))]);
	let rewarded = event(None, "Hashrate.BlockRewarded", &[("author", who(ME))]);
	assert_eq!(rows(&[minted.clone(), rewarded]), [(Part::Node, Kind::Blocks, 9, None)]);
	assert_eq!(rows(&[minted]), [(Part::Account, Kind::Other, 9, None)]);
	let slashed = event(None, "Hashrate.DrillerSlashed", &[("trainer", who(ME))]);
	let found = rows(&[on_hold("Hashrate.Bond", ME, JACKPOT, 5), slashed]);
	assert_eq!(found, [(Part::Driller, Kind::Lost, -5, None)]);
}

#[test]
fn power_is_counted_by_what_it_is_for() {
	let credit = |name: &str, trainer, work| {
		event(None, &format!("Hashrate.{name}"), &[("trainer", who(trainer)), ("work", n(work))])
	};
	let events = [
		credit("TrainingCredited", ME, 50),
		credit("DrillingCredited", ME, 7),
		credit("DrillingDebited", ME, 2),
		credit("TrainingRevoked", ME, 1),
		credit("DrillingCredited", OTHER, 99),
	];
	let found: Vec<(Part, i64)> =
		booked(&events).power.iter().map(|power| (power.part, power.work)).collect();
	let (trainer, driller) = (Part::Trainer, Part::Driller);
	assert_eq!(found, [(trainer, 50), (driller, 7), (driller, -2), (trainer, -1)]);
}

/// Events of tasks name no job.
#[test]
fn tasks_are_booked_by_what_was_held() {
	use {Kind::*, Part::*};
	for (reason, source, dest, row) in [
		("Tasks.Escrow", OTHER, ME, (Tasks, Pay, 50)),
		("Tasks.Escrow", ME, OTHER, (Account, Spent, -50)),
		("Tasks.Replica", OTHER, ME, (Tasks, Bounty, 50)),
		("Tasks.Replica", ME, JACKPOT, (Tasks, Lost, -50)),
		("Tasks.Challenge", ME, OTHER, (Tasks, Lost, -50)),
	] {
		let (part, kind, amount) = row;
		let found = rows(&[on_hold(reason, source, dest, 50)]);
		assert_eq!(found, [(part, kind, amount, None)], "{reason}");
	}
	assert_eq!(sender("Tasks.post", |other| other), Account);
	assert_eq!(sender("Tasks.commit", |other| other), Tasks);
}
