//! What a certificate says of a job, by what is on record.

use super::*;
use crate::{
	prove,
	records::*,
	statement::{ResultPart, Statement, Verdict},
};
use sp_runtime::AccountId32;
use trainyard_program::{spec::JobSpec, work::Parts};
use trainyard_protocol::{
	accusation::{Claimed, Target},
	audit::{
		AuditPhase, Decision, Ended, Findings, GroupVerdict, Rejection, Replayed, SegmentEvidence,
	},
	bundle::Evaluation,
	commitment,
	duties::Recompute,
	job::{Ending, Fate, JobState, Reveal, Settlement, Terms, WorkResult},
	pieces::PieceSizes,
	seats::Resources,
	vrf::VrfSignature,
};

pub(super) fn account(n: u8) -> AccountId32 {
	AccountId32::new([n; 32])
}

fn hash(n: u8) -> H256 {
	H256([n; 32])
}

pub(super) fn terms() -> Terms {
	Terms {
		price_per_ut: 1_000,
		replicas: 2,
		verifiers: 3,
		audit_segments: 4,
		audit_fee: 5,
		apply_blocks: 6,
		training_blocks: 7,
		machine: Default::default(),
		undecided_percent: 20,
		keep_every: 1,
		lottery: None,
	}
}

fn result(n: u8) -> WorkResult {
	let (bundle_root, true_root) = (hash(n), hash(n));
	WorkResult { bundle_root, true_root, model_root: hash(n + 1), segments: 30, diverged: false }
}

/// What is on record of a job with two replicas, of which one is false.
#[derive(Clone)]
pub(super) struct Example {
	pub runtime: Runtime,
	pub job: Job,
	pub spec: JobSpec,
	pub late: Option<Late>,
	pub round: Option<Round>,
	pub audit: Option<Audit>,
	pub standing: Option<Standing>,
	pub findings: Vec<(AccountId32, Findings<AccountId32>)>,
	pub convictions: Vec<(Defendant, Option<u64>)>,
	pub blobs: Vec<(H256, Blob)>,
}

impl Example {
	pub fn new() -> Self {
		let resources = Resources { work: 1, memory_mib: 2, disk_mib: 3 };
		let recompute = Recompute { keep_every: 1, stretch: 0, round: 0 };
		let sizes = PieceSizes {
			state: 1,
			train_rows: 2,
			validation_rows: 3,
			features: 4,
			labels_per_row: 5,
			samples: 6,
			keep_every: 1,
		};
		let quote = Quote {
			parts: Parts { step: 1, evaluation: 2 },
			work: 3,
			training: 4,
			price: 5,
			fee_per_ut: 6,
			worth_per_ut: 7,
			compute_per_ut: 8,
			fee: 9,
			storage: 10,
			escrow: 11,
			deposit: 12,
			record: 13,
			needs: resources,
			sizes,
			results: 14,
			moved: Moved { fetch: 1, store: 2, recompute },
		};
		let spec = JobSpec::example();
		let replica = |n: u8, fate, result| Replica {
			trainer: account(n),
			forced: hash(n + 50),
			fate,
			result: Some(result),
			segments: Some(30),
			diverged: false,
			offer: None,
		};
		let job = Job {
			submitter: account(1),
			invited: None,
			digest: commitment::job(&spec, &terms()),
			terms: terms(),
			quote,
			state: JobState::Ended(Ending::Settled),
			posted: 5,
			since: 30,
			deadline: 99,
			seed: Some(hash(77)),
			replicas: vec![replica(2, Fate::Accepted, 0), replica(3, Fate::Rejected, 1)],
			offer: None,
			settlement: Settlement { escrowed: 11, paid_to_trainers: 9, ..Default::default() },
		};
		let entry = |n: u8, of: WorkResult| Entry {
			trainer: account(n),
			commitment: Some(hash(n + 60)),
			reveal: Some(Reveal {
				bundle_root: hash(n + 70),
				true_root: of.true_root,
				model_root: of.model_root,
				segments: of.segments,
				diverged: of.diverged,
				location: Default::default(),
			}),
		};
		let round = Round {
			phase: RoundPhase::Closed,
			entries: vec![entry(2, result(10)), entry(3, result(20))],
			least_segments: 30,
			most_segments: 30,
		};
		let group = |n: u8, of: WorkResult, decision| Group {
			result: of,
			trainers: vec![account(n)],
			bundles: vec![Bundle {
				root: hash(n + 70),
				forced: hash(n + 50),
				opened: true,
				secret: [n; 32],
			}],
			convicted: vec![],
			out_at: vec![],
			decision: Some(decision),
			decided_at: Some(29),
			asked: vec![],
			late: 0,
			relayed: false,
		};
		let mut groups = vec![
			group(2, result(10), Decision::Accepted),
			group(3, result(20), Decision::Rejected),
		];
		(groups[1].convicted, groups[1].out_at) = (vec![account(3)], vec![28]);
		let member = |n: u8| Member {
			verifier: account(n),
			key: [n; 32],
			commitment: Some(hash(n + 80)),
			committed_at: 20,
			revealed: n != 6,
			convicted: n == 5,
			lost: false,
			postponed: vec![],
			locked: 0,
			began: 0,
		};
		let audit = Audit {
			round: 0,
			phase: AuditPhase::Done,
			drawing: terms().drawing(),
			verifiers: 3,
			parties: vec![account(1), account(2), account(3)],
			barred: vec![account(8)],
			groups,
			committee: vec![member(4), member(5), member(6)],
			seed: Some(hash(78)),
			drawn_at: 15,
			assignment: hash(77),
			opened: true,
			mixed: hash(99),
			found: vec![],
			fee: 5,
			price: 6,
			stake: 7,
			challenge: 8,
			needs: resources,
			time: 9,
			recompute,
			waits: 0,
			sizes,
			storage_byte: 1,
			storage: 2,
			relay: None,
			latest: 0,
			windows: 0,
			relays: 0,
			length: 10,
			again: 11,
			window: None,
			recheck: Rechecks::None,
			served: vec![account(4)],
			waiting: vec![],
			owing: vec![],
			owed: vec![],
		};
		let evidence = |segment: u32| SegmentEvidence {
			segment,
			trace_root: hash(1),
			ended: Ended::Checkpoint { step: 50, state: hash(2), evaluation: Evaluation::NONE },
			differs: None,
			idle_since: None,
		};
		let replayed = Replayed {
			bundle: 0,
			evidence: vec![evidence(3), evidence(17)].try_into().unwrap(),
			moved: None,
			parts: Default::default(),
		};
		let rejected = Rejection {
			account: account(3),
			target: Target::Segment(17),
			claimed: Claimed::Other,
			leaves: Default::default(),
		};
		let findings = |verdicts: Vec<GroupVerdict<AccountId32>>| Findings {
			draw: VrfSignature { pre_output: [3; 32], proof: [4; 64] },
			verdicts: verdicts.try_into().unwrap(),
		};
		let equal = || GroupVerdict::Replayed(replayed.clone());
		let blob = |n: u8| Blob {
			owner: account(2),
			size: 12_345,
			content: hash(n),
			chunks: 4,
			stored: 4,
			lost: 0,
			deposit: 1,
			rent: 2,
			since: 3,
			period: 4,
			expires: 5,
			kept: 6,
			removing: None,
		};
		Self {
			runtime: Runtime {
				version: codec::Compact(RUNTIME_VERSIONS[0]),
				name: "trainyard".into(),
			},
			job,
			spec,
			late: Some(Late { from: 30, until: 90, trainers: vec![] }),
			round: Some(round),
			audit: Some(audit),
			standing: Some(Standing { commitments: 1, disputes: 2, ended: Some(28) }),
			findings: vec![
				(account(4), findings(vec![equal(), GroupVerdict::Rejected(rejected)])),
				(account(5), findings(vec![GroupVerdict::Unavailable, equal()])),
			],
			convictions: vec![
				(Defendant::Trainer { job: JOB, who: account(3) }, Some(12)),
				(Defendant::Seat { job: JOB, who: account(5), bundle_root: hash(73) }, None),
			],
			blobs: vec![(result(10).model_root, blob(200))],
		}
	}

	pub fn entries(&self) -> Vec<(Key, Vec<u8>)> {
		let of_job = |pallet: &str, item: &str| Key::of(pallet, item).twox(&JOB);
		let mut all = vec![
			(Key::of("System", "LastRuntimeUpgrade"), self.runtime.encode()),
			(of_job("TaskMarket", "Jobs"), self.job.encode()),
			(of_job("TaskMarket", "Specs"), self.spec.encode()),
		];
		let late = self.late.as_ref().map(Encode::encode);
		let round = self.round.as_ref().map(Encode::encode);
		let audit = self.audit.as_ref().map(Encode::encode);
		let standing = self.standing.as_ref().map(Encode::encode);
		for (pallet, item, value) in [
			("TaskMarket", "Lates", late),
			("Submissions", "Rounds", round),
			("Verification", "AuditRecords", audit),
			("Court", "Standings", standing),
		] {
			all.extend(value.map(|value| (of_job(pallet, item), value)));
		}
		for (who, findings) in &self.findings {
			all.push((of_job("Verification", "Verdicts").blake2(who), findings.encode()));
		}
		for (defendant, dispute) in &self.convictions {
			all.push((of_job("Court", "Convicted").blake2(defendant), dispute.encode()));
		}
		for (root, blob) in &self.blobs {
			all.push((Key::of("ModelStorage", "Blobs").identity(root), blob.encode()));
		}
		all
	}

	pub fn prove(&self) -> Result<Statement, Refusal> {
		prove(&evidence(self.entries()), &genesis(), JOB)
	}
}

#[test]
fn it_says_what_is_on_record() {
	let Statement { subject, predicate, .. } = Example::new().prove().unwrap();
	let hex = |n: u8| hex::encode([n; 32]);
	assert_eq!(subject.len(), 2, "one model and one bundle count");
	assert_eq!(subject[0].digest["trainyardBlobRoot"], hex(11));
	assert_eq!(subject[0].digest["blake3"], hex(200));
	assert_eq!(subject[1].name, format!("bundle of {}", account(2)));
	assert_eq!(subject[1].digest["trainyardBundleRoot"], hex(72));
	assert_eq!(subject[1].digest["trainyardTrueRoot"], hex(10));
	let chain = &predicate.chain;
	assert_eq!((chain.genesis, chain.block, chain.authority_set), (genesis(), 40, 2));
	let job = &predicate.job;
	assert_eq!((job.id, job.ended, job.ending), (JOB, 30, Ending::Settled));
	assert_eq!(predicate.specification, JobSpec::example());
	let data = &predicate.data[0].digest["blake2b256"];
	assert_eq!(*data, hex::encode(JobSpec::example().dataset.content_hash));
	let fates: Vec<Fate> = predicate.replicas.iter().map(|replica| replica.fate).collect();
	assert_eq!(fates, [Fate::Accepted, Fate::Rejected]);
	let ResultPart { decision, out, .. } = &predicate.results[1];
	assert_eq!((*decision, out[0].since), (Some(Decision::Rejected), 28));
	let audit = predicate.audit.unwrap();
	assert_eq!((audit.rounds, audit.seats.len()), (1, 3));
	let rejected = Verdict::Rejected { trainer: account(3), target: Target::Segment(17) };
	assert_eq!(audit.seats[0].verdicts, [Verdict::Replayed { segments: vec![3, 17] }, rejected]);
	assert_eq!(audit.seats[1].verdicts[0], Verdict::Unavailable);
	assert!(audit.seats[1].convicted && audit.seats[2].verdicts.is_empty());
	let disputes = predicate.disputes;
	assert_eq!((disputes.challengeable_until, disputes.open, disputes.announced), (Some(90), 2, 1));
	let found: Vec<_> = disputes.convictions.iter().map(|one| (one.role, one.dispute)).collect();
	assert_eq!(found, [("trainer", Some(12)), ("seat", None)]);
}

#[test]
fn what_is_not_on_record_is_not_said() {
	let mut less = Example::new();
	(less.late, less.standing, less.blobs, less.convictions) = (None, None, vec![], vec![]);
	let said = less.prove().unwrap();
	assert_eq!(said.subject[0].digest.keys().collect::<Vec<_>>(), [&"trainyardBlobRoot"]);
	assert_eq!(said.predicate.disputes.challengeable_until, None);
	assert_eq!((said.predicate.disputes.open, said.predicate.disputes.convictions.len()), (0, 0));
}

#[test]
fn an_agreement_has_no_audit() {
	let mut agreed = Example::new();
	agreed.job.state = JobState::Ended(Ending::Agreed);
	agreed.job.replicas.truncate(1);
	agreed.job.replicas[0].fate = Fate::Agreed;
	(agreed.audit, agreed.late) = (None, None);
	let said = agreed.prove().unwrap();
	assert!(said.predicate.audit.is_none() && said.predicate.results.is_empty());
	assert_eq!(said.subject.len(), 2);
	// Before anybody revealed anything there is nothing that a certificate could be of.
	agreed.round = None;
	let refused = Refusal::NoResult { job: JOB, ending: "agreed".into() };
	assert_eq!(agreed.prove(), Err(refused));
}

#[test]
fn nothing_is_certified_of_a_job_without_a_true_result() {
	for fate in [Fate::Revoked, Fate::Undecided, Fate::Unavailable, Fate::NotRevealed] {
		let mut lost = Example::new();
		lost.job.replicas[0].fate = fate;
		assert!(matches!(lost.prove(), Err(Refusal::NoResult { .. })), "{fate:?}");
	}
	let mut runs = Example::new();
	runs.job.state = JobState::Auditing;
	let refused = Refusal::NotEnded { job: JOB, block: 40, state: "auditing".into() };
	assert_eq!(runs.prove(), Err(refused));
	let mut bent = Example::new();
	bent.spec.training.steps += 1;
	assert!(matches!(bent.prove(), Err(Refusal::Unreadable { .. })), "not what the digest binds");
}

#[test]
fn a_job_that_was_forgotten_is_refused() {
	let entries = Example::new().entries();
	let job = Key::of("TaskMarket", "Jobs").twox(&JOB);
	let without = entries.into_iter().filter(|(key, _)| key.bytes != job.bytes).collect();
	let refused = prove(&evidence(without), &genesis(), JOB);
	assert_eq!(refused, Err(Refusal::NoJob { job: JOB, block: 40 }));
}

#[test]
fn the_state_of_another_runtime_is_not_read() {
	let mut other = Example::new();
	other.runtime.version = codec::Compact(9_999);
	assert!(matches!(other.prove(), Err(Refusal::OtherRuntime { version: 9_999, .. })));
	other = Example::new();
	other.runtime.name = "polkadot".into();
	assert!(matches!(other.prove(), Err(Refusal::OtherRuntime { .. })));
}

#[test]
fn a_bundle_is_recognised_as_it_was_computed_and_as_it_is_shown() {
	let said = Example::new().prove().unwrap();
	let shown = WorkResult { bundle_root: hash(72), ..result(10) };
	assert!(said.has_bundle(&result(10)) && said.has_bundle(&shown));
	for other in [
		result(20),
		WorkResult { bundle_root: hash(73), ..result(10) },
		WorkResult { model_root: hash(12), ..result(10) },
		WorkResult { segments: 29, ..result(10) },
		WorkResult { diverged: true, ..result(10) },
	] {
		assert!(!said.has_bundle(&other), "{other:?}");
	}
}

#[test]
fn further_keys_follow_from_the_first() {
	let example = Example::new();
	let keys = all_keys(&Entries(example.entries()), JOB, 40).unwrap();
	let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
	let count = |what: &str| names.iter().filter(|name| name.starts_with(what)).count();
	assert_eq!(count("Verification.Verdicts"), 3);
	// Two trainers, and two seats by two bundles.
	assert_eq!(count("Court.Convicted"), 6);
	assert_eq!(count("ModelStorage.Blobs"), 2);
}
