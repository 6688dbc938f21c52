//! Tables: what is held in, rows out.

use super::*;
use crate::roles::work::{
	facts::LateLock,
	testing::{facts, hold, job, trained, verifier, TRY},
};
use trainyard_client::{fake, AccountId32, BlobView};
use trainyard_protocol::{job::Ending, views::VerifierView};

/// Amount and block of each row.
fn rows(facts: &Facts) -> Vec<(Balance, Option<BlockNumber>)> {
	locked(facts).iter().map(|row| (row.amount, row.until)).collect()
}

fn whys(facts: &Facts) -> String {
	locked(facts).iter().map(|row| row.why.clone()).collect::<Vec<_>>().join(" | ")
}

#[test]
fn bonds_stay_until_their_owner_leaves() {
	let holds =
		vec![hold("Hashrate.Bond", 100 * TRY), hold("Verification.VerifierBond", 100 * TRY)];
	let stays = Facts { holds, ..facts() };
	assert_eq!(rows(&stays), [(100 * TRY, None), (100 * TRY, None)]);
	assert!(whys(&stays).contains("14400 blocks") && whys(&stays).contains("7200 blocks"));
	let seats = VerifierView { locked: 30 * TRY, ..verifier(Standing::Left { since: 900 }) };
	let leaves = Facts { free_at: Some(1_500), verifier: Some(seats), trainer: None, ..stays };
	assert_eq!(
		rows(&leaves),
		[(100 * TRY, Some(1_500)), (30 * TRY, None), (70 * TRY, Some(8_100))]
	);
	assert!(whys(&leaves).contains("running seats"), "{}", whys(&leaves));
	let waits = Facts { verifier: Some(verifier(Standing::Waiting { since: 3 })), ..leaves };
	assert!(whys(&waits).contains("at once"), "{}", whys(&waits));
}

#[test]
fn deposits_are_told_job_by_job_and_late_proof_by_its_block() {
	let me = facts().me;
	let applied = JobView { applicants: vec![me], deadline: 1_020, ..job(4, JobState::Open) };
	let jobs = vec![
		trained(3, JobState::Auditing),
		applied,
		job(5, JobState::Open),
		JobView { submitter: AccountId32([8; 32]), ..fake::job(JobState::Ended(Ending::Settled)) },
	];
	let late = [(2, LateLock { locked: 8 * TRY, until: 90_000 })].into();
	let holds = vec![hold("TaskMarket.Deposit", 78 * TRY)];
	let facts = Facts { holds, jobs, late, ..facts() };
	let expected = [(40 * TRY, None), (30 * TRY, Some(1_020)), (8 * TRY, Some(90_000))];
	assert_eq!(rows(&facts), expected);
	let whys = whys(&facts);
	for word in
		["job 3, audited: four fifths", "job 4, applied for", "fifth of the deposit of job 2"]
	{
		assert!(whys.contains(word), "{word}: {whys}");
	}
}

/// Whatever the views say, the rows are what is held, to the last unit.
#[test]
fn all_rows_together_are_what_is_held() {
	let blob = |expires| BlobView {
		owner: facts().me,
		size: 9,
		chunks: 1,
		missing: vec![],
		expires,
		removing: false,
	};
	let reasons = [
		"Hashrate.Bond",
		"Verification.VerifierBond",
		"TaskMarket.Deposit",
		"TaskMarket.Escrow",
		"TaskMarket.Record",
		"ModelStorage.Blob",
		"Stints.Driller",
		"Court.Challenge",
		"Verification.Claim",
		"Verification.Relay",
		"Drilling.Project",
		"Session.Keys",
		"Unknown.Reason",
	];
	for amount in [1, 39 * TRY, 40 * TRY, 41 * TRY, 500 * TRY] {
		let holds: Vec<_> = reasons.iter().map(|reason| hold(reason, amount)).collect();
		let seats = VerifierView { locked: 200 * TRY, ..verifier(Standing::Paused) };
		let facts = Facts {
			holds: holds.clone(),
			jobs: vec![trained(3, JobState::Training)],
			blobs: vec![blob(2_000), blob(1_500)],
			verifier: Some(seats),
			..facts()
		};
		let rows = locked(&facts);
		for hold in &holds {
			let of = rows.iter().filter(|row| row.reason == hold.reason);
			let (count, sum) = of.fold((0, 0), |(n, sum), row| (n + 1, sum + row.amount));
			assert!(count > 0 && sum == hold.amount, "{} {amount}: {rows:#?}", hold.reason);
		}
		assert!(rows.iter().all(|row| !row.why.is_empty()));
		let blobs = rows.iter().find(|row| row.reason == "ModelStorage.Blob").unwrap();
		assert!(blobs.until == Some(2_000) && blobs.why.contains("1500"), "{blobs:?}");
	}
}
