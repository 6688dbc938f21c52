//! What people read.

use super::*;
use crate::roles::work::{
	booking::{Block, Entry, Power},
	ledger::Point,
	testing::{facts, hold, trained, ME, TRY},
};
use trainyard_protocol::{job::JobState, H256};

fn ledger() -> Ledger {
	// 2026-11-26 10:00.
	let ten = 1_795_687_200_000;
	let point = |block, time, balance| Point { block, hash: H256::zero(), time, balance };
	let mut ledger = Ledger::open(ME, point(10, ten, 100 * TRY));
	let entry = |part, kind, amount| Entry { part, kind, amount, job: None };
	let pay = entry(Part::Trainer, Kind::Pay, 4_500_000_000_000);
	let fee = entry(Part::Trainer, Kind::Transactions, -250_000_000_000);
	let entries = vec![pay, fee];
	let power = vec![Power { part: Part::Driller, work: 2_310 }];
	ledger.note(point(11, ten + 5, 104_250_000_000_000), &Block { entries, power });
	let check = entry(Part::Verifier, Kind::Checks, 50_000_000_000);
	let later = Block { entries: vec![check], power: vec![] };
	ledger.note(point(700, ten + HOUR, 104_300_000_000_000), &later);
	ledger
}

fn status() -> Status {
	let holds = vec![hold("TaskMarket.Deposit", 40 * TRY), hold("Hashrate.Bond", 100 * TRY)];
	let facts = Facts {
		holds,
		free_at: Some(1_600),
		jobs: vec![trained(3, JobState::Training)],
		..facts()
	};
	let made = Made {
		roles: &Part::ROLES.into(),
		node: "ws://here",
		now: 1_795_687_200_000 + HOUR + 9,
		since: 1_795_687_200_000,
		block_time: Duration::from_secs(6),
		told: &Told::default(),
		present: &[],
	};
	Status::of(&facts, &made)
}

#[test]
fn people_read_what_came_what_is_locked_and_why_nothing_came() {
	let text = text(&status(), &ledger());
	let lines: Vec<String> =
		text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
	for line in [
		"5 TRY free, 0 TRY held",
		"earned, TRY (hour in UTC) trainer verifier all driller power, ut",
		"2026-11-26 10:00 +4.25 0 +4.25 0.00231",
		"2026-11-26 11:00 0 +0.05 +0.05 0",
		"since block 10 +4.25 +0.05 +4.3 0.00231",
		"of that pay +4.5 TRY, checks of drilling +0.05 TRY, transactions -0.25 TRY",
		"40 TRY - the deposit of job 3, trained: it returns when the job is settled",
		"100 TRY block 1600, in 1 h the bond of the trainer, which leaves: then `trainyard deregister \
		 --withdraw` returns it",
		"trainer: job 3 is training, until block 110",
		"driller: no stint yet: one begins at the next block",
		"whistleblower: no result stands that could be looked at",
	] {
		assert!(lines.iter().any(|found| found == line), "{line}\n{text}");
	}
	let line = status().line(&ledger());
	assert!(
		line.ends_with("+4.3 TRY since the last hour began, +4.3 TRY since block 10"),
		"{line}"
	);
}

#[test]
fn a_status_is_read_as_it_was_written() {
	let folder = tempfile::tempdir().unwrap();
	assert_eq!(Status::load(folder.path()).unwrap(), None);
	let status = status();
	status.save(folder.path()).unwrap();
	assert_eq!(Status::load(folder.path()).unwrap(), Some(status));
}

#[test]
fn hours_are_named_in_utc() {
	assert_eq!(clock(0), "1970-01-01 00:00");
	assert_eq!(clock(951_782_400_000), "2000-02-29 00:00");
	assert_eq!(clock(951_868_799_999), "2000-02-29 23:00");
	assert_eq!(clock(951_868_800_000), "2000-03-01 00:00");
	assert_eq!(clock(1_798_761_599_000), "2026-12-31 23:00");
	assert_eq!(clock(4_102_444_800_000), "2100-01-01 00:00");
	assert_eq!(
		(time(59), time(3_599), time(90_000), time(172_800)),
		("59 s".into(), "59 min".into(), "25 h".into(), "2 days".into())
	);
}
