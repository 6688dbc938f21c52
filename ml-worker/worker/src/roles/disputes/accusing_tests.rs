//! What follows for an accusation, and its file.

use super::*;
use trainyard_client::court::{Burden, Clocks};
use trainyard_court::game::{Claimed, Level, Stage, Subject, Target, Turn};

const NOW: Since = Since { tick: 500, height: 1_000 };
const HASH: H256 = H256([5; 32]);

fn record() -> Record {
	let defendant = Defendant::Trainer { job: 9, who: AccountId32([2; 32]) };
	let (target, claimed) = (Target::Stop, Claimed::Other);
	let accusation = Accusation { defendant, target, claimed, leaves: vec![] };
	Record { salt: Salt([6; 32]), ..Record::new(H256([3; 32]), H256([4; 32]), accusation) }
}

fn at(blocks: u32) -> Since {
	Since { tick: NOW.tick - blocks, height: NOW.height - blocks }
}

#[test]
fn first_one_is_bound_then_one_shows() {
	let none = record();
	let committed = |blocks| Record { committed: Some(NOW.height - blocks), ..record() };
	let shown = |blocks| Record {
		brought: Brought { sent: Some(NOW.height - blocks), ..Brought::default() },
		..committed(blocks + 1)
	};
	let seen = |blocks| {
		let record = shown(blocks);
		let dispute = Some((7, NOW.height - blocks + 1));
		Record { brought: Brought { dispute, ..record.brought }, ..record }
	};
	let refused = |refused| {
		let record = shown(AGAIN);
		Record { brought: Brought { refused, ..record.brought }, ..record }
	};
	let over = Record { over: true, ..record() };
	let open = Facts { open: true, ..Facts::default() };
	let bound = |blocks| Facts { bound: Some((HASH, at(blocks))), ..open };
	let other = Facts { bound: Some((H256([8; 32]), at(3))), ..open };
	let runs = Facts { runs: true, ..open };
	let convicted = Facts { convicted: true, ..open };
	let (commit, challenge) = (Next::Send(Act::Commit), Next::Send(Act::Challenge));
	for (name, record, facts, expected) in [
		("new", none.clone(), open, commit),
		("closed", none.clone(), Facts::default(), Next::Wait),
		("convicted by others", none.clone(), convicted, Next::Over),
		("the job is gone", none.clone(), Facts { gone: true, ..Facts::default() }, Next::Over),
		("gone while it runs", shown(2), Facts { gone: true, runs: true, ..open }, Next::Wait),
		("gone after it ended", shown(AGAIN), Facts { gone: true, ..open }, Next::Over),
		("on its way", committed(3), open, Next::Wait),
		("lost on its way", committed(AGAIN), open, commit),
		("of another fork", Record { committed: Some(NOW.height + 5), ..record() }, open, commit),
		("another comes first", none.clone(), other, Next::Wait),
		("bound in this block", committed(0), bound(0), Next::Wait),
		("bound", committed(1), bound(1), challenge),
		(
			"bound, and the window is shut",
			committed(1),
			Facts { open: false, ..bound(1) },
			challenge,
		),
		(
			"bound, and convicted by others",
			committed(1),
			Facts { convicted: true, ..bound(2) },
			challenge,
		),
		("the last moment", committed(50), bound(REVEAL_TICKS), challenge),
		("too late", committed(51), bound(REVEAL_TICKS + 1), Next::Wait),
		("shown just now", shown(2), bound(3), Next::Wait),
		("shown, and lost on its way", shown(AGAIN), bound(20), challenge),
		("shown, in the pool", shown(2), open, Next::Wait),
		("it runs", shown(2), runs, Next::Wait),
		("it runs for long", shown(200), runs, Next::Wait),
		("it ended", seen(AGAIN), open, Next::Over),
		("it ended long ago", seen(200), open, Next::Over),
		("it ended, and this account is bound to another", seen(AGAIN), other, Next::Over),
		("its fork is gone, and the commitment not", seen(AGAIN), bound(20), challenge),
		("it was won", shown(200), convicted, Next::Over),
		("it never began, and what was bound lapsed", shown(200), open, commit),
		("the same, and the window is shut", shown(200), Facts::default(), Next::Wait),
		("it may have been lost unseen", shown(UNSEEN), open, Next::Over),
		("refused once", refused(1), bound(20), challenge),
		("refused for good", refused(TRIES), bound(20), Next::Wait),
		("refused for good, and what was bound lapsed", refused(TRIES), open, Next::Over),
		("over", over, open, Next::Over),
	] {
		assert_eq!(next(&NOW, &record, &HASH, &facts), expected, "{name}");
	}
}

#[test]
fn a_dispute_is_that_of_an_account_a_defendant_and_a_target() {
	let clocks =
		Clocks { challenger: 1, defender: 1, since: None, challenger_rest: 0, defender_rest: 0 };
	let Accusation { defendant, target, claimed, .. } = record().accusation;
	let me = AccountId32([1; 32]);
	let stage = |target| Stage {
		subject: Subject { target, begin: H256::zero(), end: None },
		level: Level::Ends,
		turn: Turn::Defender,
	};
	let mine = Dispute {
		challenger: me,
		defendant,
		claimed,
		stage: stage(target),
		deposit: 7,
		stake: 0,
		committed_at: 9,
		clocks,
		burden: Burden::default(),
		moved_at: 9,
		awake: 9,
		aside: false,
		moves: 0,
	};
	let who = Defendant::Trainer { job: 9, who: AccountId32([3; 32]) };
	let others = [
		Dispute { challenger: AccountId32([4; 32]), ..mine.clone() },
		Dispute { defendant: who, ..mine.clone() },
		Dispute { stage: stage(Target::Model), ..mine.clone() },
	];
	let mut disputes: BTreeMap<_, _> = (0..).zip(others).collect();
	assert_eq!(dispute_of(&disputes, &me, &record().accusation), None);
	disputes.insert(5, mine);
	assert_eq!(dispute_of(&disputes, &me, &record().accusation), Some(5));
}

#[test]
fn accusations_survive_a_restart_and_are_made_once() {
	let dir = tempfile::tempdir().unwrap();
	let report = Reporter::new("trainer", true, None);
	let stakes = Stakes { most: 10, reserve: 1, open: 4 };
	let open = || {
		let me = AccountId32([1; 32]);
		Accusations::open(me, dir.path(), stakes, report.clone()).unwrap()
	};
	let (accusations, problems) = open();
	assert!(problems.is_empty() && accusations.open_count() == 0);
	let record = record();
	accusations.add(record.clone()).unwrap();
	let again = Record { salt: Salt([9; 32]), ..record.clone() };
	accusations.add(again).unwrap();
	let key = record.key();
	let brought = Brought { sent: Some(8), dispute: Some((3, 9)), refused: 1 };
	let change = |record: &mut Record| (record.committed, record.brought) = (Some(7), brought);
	accusations.change(&key, change).unwrap();

	let (accusations, _) = open();
	let found = locked(&accusations.records)[&key].clone();
	let expected = Record { committed: Some(7), brought, ..record.clone() };
	assert_eq!(found, expected, "the first salt stays");
	let defendant = &record.accusation.defendant;
	assert!(accusations.has(&record.seed, defendant));
	assert!(!accusations.has(&H256([1; 32]), defendant), "under another seed it is another result");
	assert_eq!(accusations.result_of(&record.seed, defendant), Some(record.result));
	assert_eq!(accusations.job_of(&key), Some(9));

	// A file that is damaged is named, and the others are there.
	std::fs::write(dir.path().join("accused").join("8-00.json"), "{").unwrap();
	let (accusations, problems) = open();
	assert_eq!((accusations.open_count(), problems.len()), (1, 1));
	accusations.forget(|job| job != 9).unwrap();
	assert_eq!(open().0.open_count(), 0);
}
