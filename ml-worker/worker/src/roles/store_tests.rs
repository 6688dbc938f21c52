//! Folders and records of jobs: what survives, what is removed, and what is damaged.

use super::*;
use trainyard_client::{fake, AccountId32, GroupVerdict};
use trainyard_protocol::{
	audit::{Ended, Replayed, SegmentEvidence},
	bundle::Evaluation,
};

fn record() -> JobRecord {
	let (bundle_root, model_root) = (H256::repeat_byte(1), H256::repeat_byte(2));
	let result = WorkResult {
		bundle_root,
		true_root: bundle_root,
		model_root,
		segments: 7,
		diverged: false,
	};
	JobRecord {
		result: Some(result),
		seconds: 2.5,
		committed: Some(Committed { result, salt: Salt::random() }),
		ended: Some(9),
		..JobRecord::new(3, H256::repeat_byte(8), H256::repeat_byte(9))
	}
}

#[test]
fn a_salt_is_still_there_after_a_restart() {
	let dir = tempfile::tempdir().unwrap();
	let genesis = H256::repeat_byte(7);
	let record = record();
	{
		let home = Home::open(dir.path(), &genesis).unwrap();
		assert_eq!(home.load_job(3, &record.seed).unwrap(), None);
		home.save_job(&record).unwrap();
	}
	let home = Home::open(dir.path(), &genesis).unwrap();
	assert_eq!(home.load_job(3, &record.seed).unwrap(), Some(record.clone()));
	assert_eq!(home.jobs().unwrap().0, vec![record.clone()]);
	assert_eq!(home.load_job(3, &H256::repeat_byte(5)).unwrap(), None, "another seed");
	drop(home);
	let other_chain = Home::open(dir.path(), &H256::repeat_byte(6)).unwrap();
	assert!(other_chain.jobs().unwrap().0.is_empty());
}

#[test]
fn salts_are_random_and_stay_out_of_logs() {
	let salt = Salt::random();
	assert_ne!(salt, Salt::random());
	assert!(!format!("{salt:?}").contains(&hex::encode(&salt.0[..2])));
}

#[test]
fn findings_survive_with_their_evidence() {
	let dir = tempfile::tempdir().unwrap();
	let home = Home::open(dir.path(), &H256::zero()).unwrap();
	let (state, evaluation) = (H256::repeat_byte(2), Evaluation::new(f32::INFINITY, 3, 9));
	let evidence = SegmentEvidence {
		segment: 4,
		trace_root: H256::repeat_byte(1),
		ended: Ended::Checkpoint { step: 50, state, evaluation },
		differs: Some(H256::repeat_byte(9)),
		idle_since: Some(3),
	};
	let gone = SegmentEvidence { segment: 5, ended: Ended::Diverged { step: 55 }, ..evidence };
	let replayed = Replayed {
		bundle: 0,
		evidence: vec![evidence, gone].try_into().unwrap(),
		moved: Some(4),
		parts: vec![5].try_into().unwrap(),
	};
	let findings = fake::findings(vec![
		GroupVerdict::Replayed(replayed),
		fake::rejected(AccountId32([7; 32]), 3),
		GroupVerdict::Unavailable,
	]);
	let path = vec![H256::repeat_byte(8); 3].try_into().unwrap();
	let paths = Paths::try_from(vec![path, Default::default()]).unwrap();
	let record = FindingsRecord::new(1, 2, findings, paths);
	let folder = home.audit_folder(1, 2, &"what is audited");
	assert_eq!(home.load_findings(&folder).unwrap(), None);
	home.save_findings(&folder, &record).unwrap();
	assert_eq!(home.load_findings(&folder).unwrap(), Some(record.clone()));
	let later = FindingsRecord {
		rescues: vec![1, 0],
		before: Some(Box::new(record.clone())),
		..FindingsRecord::new(1, 2, record.findings.clone(), record.paths.clone())
	};
	home.save_findings(&folder, &later).unwrap();
	assert_eq!(home.load_findings(&folder).unwrap(), Some(later));
	// A file of an older version knows of no rescues.
	let path = folder.join(FINDINGS_FILE);
	let mut old = serde_json::to_value(&record).unwrap();
	old.as_object_mut().unwrap().remove("rescues");
	std::fs::write(&path, old.to_string()).unwrap();
	assert_eq!(home.load_findings(&folder).unwrap(), Some(record));
	assert_ne!(folder, home.audit_folder(1, 2, &"something else"));
}

#[test]
fn what_was_asked_for_is_known_until_it_is_here() {
	use trainyard_protocol::pieces::Piece;
	let dir = tempfile::tempdir().unwrap();
	let home = Home::open(dir.path(), &H256::zero()).unwrap();
	let folder = home.audit_folder(1, 0, &"audited");
	let pieces = vec![Piece::Leaves, Piece::State(3)];
	let record = AskedRecord { pieces, more: vec![Piece::State(3)], sent: true };
	home.save_asked(&folder, 1, &record).unwrap();
	assert_eq!(home.load_asked(&folder, 0).unwrap(), None);
	assert_eq!(home.load_asked(&folder, 1).unwrap(), Some(record));
	for _ in 0..2 {
		home.forget_asked(&folder, 1).unwrap();
		assert_eq!(home.load_asked(&folder, 1).unwrap(), None);
	}
}

#[test]
fn one_daemon_per_folder_and_damage_is_named() {
	let dir = tempfile::tempdir().unwrap();
	let home = Home::open(dir.path(), &H256::zero()).unwrap();
	assert!(matches!(Home::open(dir.path(), &H256::zero()), Err(StoreError::Lock(_))));
	let record = record();
	home.save_job(&record).unwrap();
	let path = home.job_folder(3, &record.seed).join(JOB_FILE);
	std::fs::write(&path, "{").unwrap();
	let whole = JobRecord { job: 4, ..record.clone() };
	home.save_job(&whole).unwrap();
	let (records, problems) = home.jobs().unwrap();
	assert_eq!(records, [whole], "the others are read nevertheless");
	let error = problems[0].to_string();
	assert!(error.contains("state.json") && error.contains("repair"), "{error}");
}

#[test]
fn the_port_is_remembered() {
	let dir = tempfile::tempdir().unwrap();
	let home = Home::open(dir.path(), &H256::zero()).unwrap();
	assert_eq!(home.last_port(), None);
	home.save_port(8601).unwrap();
	assert_eq!(home.last_port(), Some(8601));
}

#[test]
fn idle_data_goes_oldest_first_and_no_further_than_needed() {
	let dir = tempfile::tempdir().unwrap();
	let home = Home::open(dir.path(), &H256::zero()).unwrap();
	let hash = |n: u8| H256::repeat_byte(n);
	for n in 1..=4 {
		std::fs::write(home.data(&hash(n)), [n; 100]).unwrap();
		let age = std::time::SystemTime::now() - std::time::Duration::from_secs(100 - n as u64);
		let file = std::fs::File::options().write(true).open(home.data(&hash(n))).unwrap();
		file.set_modified(age).unwrap();
	}
	for part in ["0011223344556677.part", "8899aabbccddeeff.part"] {
		let part = format!("data/{}.{part}", hex::encode(hash(9)));
		std::fs::write(dir.path().join(part), [9; 25]).unwrap();
	}
	// Rows that were made of it, and such that are just being made.
	for rows in ["0011223344556677.rows", "0011223344556677.x1.part"] {
		let rows = format!("data/{}.{rows}", hex::encode(hash(9)));
		std::fs::write(dir.path().join(rows), [9; 10]).unwrap();
	}
	std::fs::write(dir.path().join("data/notes.txt"), "mine").unwrap();
	let keep = HashSet::from([hash(1)]);
	assert_eq!(home.idle_data(&keep).unwrap(), 370);
	assert!(home.used().unwrap() >= 474);
	assert!(home.evict(&keep, 0).unwrap().is_empty());
	assert_eq!(home.evict(&keep, 101).unwrap(), [hash(2), hash(3)]);
	assert!(home.data(&hash(1)).exists() && home.data(&hash(4)).exists());
	assert_eq!(home.evict(&keep, u64::MAX).unwrap(), [hash(4), hash(9)]);
	assert_eq!(home.idle_data(&keep).unwrap(), 0);
	assert_eq!(std::fs::read_dir(dir.path().join("data")).unwrap().count(), 2);
	assert!(home.data(&hash(1)).exists() && dir.path().join("data/notes.txt").exists());
}

#[test]
fn a_job_is_removed_with_all_its_files_and_no_other() {
	let dir = tempfile::tempdir().unwrap();
	let home = Home::open(dir.path(), &H256::zero()).unwrap();
	let record = record();
	let other = JobRecord { seed: H256::repeat_byte(6), ..record.clone() };
	home.save_job(&record).unwrap();
	home.save_job(&other).unwrap();
	files::create_folder(&home.bundle_folder(3, &record.seed)).unwrap();
	home.remove_job(3, &record.seed).unwrap();
	home.remove_job(3, &record.seed).unwrap();
	assert!(!home.job_folder(3, &record.seed).exists());
	assert_eq!(home.jobs().unwrap().0, [other]);
}

#[cfg(unix)]
#[test]
fn salts_are_for_their_owner_only() {
	use std::os::unix::fs::PermissionsExt;
	let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
	let dir = tempfile::tempdir().unwrap();
	let home = Home::open(&dir.path().join("home"), &H256::zero()).unwrap();
	let record = record();
	home.save_job(&record).unwrap();
	let folder = home.job_folder(3, &record.seed);
	assert_eq!((mode(&folder), mode(&folder.join(JOB_FILE))), (0o700, 0o600));
	let findings = fake::findings(vec![GroupVerdict::Unavailable]);
	let found = FindingsRecord::new(1, 0, findings, Default::default());
	let folder = home.audit_folder(1, 0, &"audited");
	home.save_findings(&folder, &found).unwrap();
	assert_eq!((mode(&folder), mode(&folder.join(FINDINGS_FILE))), (0o700, 0o600));
	assert_eq!((mode(&home.chain), mode(&home.root)), (0o700, 0o700));
}

#[test]
fn the_default_folder_is_one_of_its_own_for_each_role_and_account() {
	let folder = |data: Option<&str>, home: Option<&str>| {
		folder_in(data.map(Into::into), home.map(Into::into), "trainer", &"5Xy")
	};
	let named = |path: &str| Some(PathBuf::from(path));
	assert_eq!(folder(Some("/d"), Some("/h")), named("/d/trainyard/trainer-5Xy"));
	let in_home = named("/h/.local/share/trainyard/trainer-5Xy");
	assert_eq!(folder(None, Some("/h")), in_home);
	assert_eq!(folder(Some("d"), Some("/h")), in_home, "a relative one does not count");
	assert_eq!(folder(None, None), None);
}

#[test]
fn blobs_are_remembered() {
	let dir = tempfile::tempdir().unwrap();
	let home = Home::open(dir.path(), &H256::zero()).unwrap();
	assert!(home.blobs().unwrap().is_empty());
	let blobs = BTreeMap::from([(H256::repeat_byte(3), 7)]);
	home.save_blobs(&blobs).unwrap();
	assert_eq!(home.blobs().unwrap(), blobs);
}
