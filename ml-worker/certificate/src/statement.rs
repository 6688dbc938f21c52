//! What a certificate says, as an [in-toto Statement](https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md)
//! whose predicate is of our own. All of it is a function of what is proven.

use crate::{
	error::Refusal,
	finality::Final,
	records::{Audit, Blob, Defendant, Group, Member, Records, Replica},
};
use serde::Serialize;
use sp_runtime::AccountId32;
use std::collections::BTreeMap;
use trainyard_program::spec::{InputFile, JobSpec};
use trainyard_protocol::{
	accusation::Target,
	audit::{Decision, Findings, GroupVerdict},
	commitment,
	job::{BlockNumber, Ending, Fate, JobState, Reveal, Settlement, Terms, WorkResult},
	JobId, H256,
};

/// What the statement is, by in-toto.
pub const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// What its predicate is.
pub const PREDICATE: &str = "urn:trainyard:certificate:v1";

/// Digests by algorithm, in hex as in-toto writes them.
pub type Digests = BTreeMap<&'static str, String>;

/// A file, or a tree of files, by its digests: in-toto's ResourceDescriptor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Resource {
	/// What it is.
	pub name: String,
	/// Its digests.
	pub digest: Digests,
}

/// What a certificate says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
	/// [`STATEMENT`].
	#[serde(rename = "_type")]
	pub kind: &'static str,
	/// The models that count, and the bundles that show how they were trained.
	pub subject: Vec<Resource>,
	/// [`PREDICATE`].
	#[serde(rename = "predicateType")]
	pub predicate_type: &'static str,
	/// The rest.
	pub predicate: Predicate,
}

/// What is said of the subjects.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Predicate {
	/// Where all of it was read.
	pub chain: ChainPart,
	/// The job.
	pub job: JobPart,
	/// What it trains.
	pub specification: JobSpec,
	/// The files that it read.
	pub data: Vec<Resource>,
	/// Who trained, and what came of it.
	pub replicas: Vec<ReplicaPart>,
	/// The distinct results; none where there was no audit.
	pub results: Vec<ResultPart>,
	/// The audit; none where there was none.
	pub audit: Option<AuditPart>,
	/// The disputes.
	pub disputes: DisputesPart,
}

/// The block at which it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainPart {
	/// Hash of the genesis header, which names the chain.
	pub genesis: H256,
	/// Height of the block.
	pub block: BlockNumber,
	/// Its hash.
	pub block_hash: H256,
	/// Root of its state.
	pub state_root: H256,
	/// The authority set that made it final.
	pub authority_set: u64,
	/// How many authorities that has.
	pub authorities: u32,
	/// Name of the runtime.
	pub runtime: String,
	/// Its version.
	pub runtime_version: u32,
}

/// A job, without what it trains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobPart {
	/// Its number.
	pub id: JobId,
	/// Who posted it.
	pub submitter: AccountId32,
	/// What binds specification and terms.
	pub digest: H256,
	/// Height at which it was posted.
	pub posted: BlockNumber,
	/// Height at which it ended.
	pub ended: BlockNumber,
	/// How.
	pub ending: Ending,
	/// The assignment seed.
	pub seed: Option<H256>,
	/// What was offered.
	pub terms: Terms,
	/// Where the money went.
	pub settlement: Settlement,
}

/// A trainer's replica.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaPart {
	/// Who trained it.
	pub trainer: AccountId32,
	/// What became of it.
	pub fate: Fate,
	/// Which of the results it is, from 0.
	pub result: Option<u32>,
	/// What the trainer committed to.
	pub commitment: Option<H256>,
	/// What it revealed.
	pub revealed: Option<Roots>,
}

/// Roots of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Roots {
	/// Root of the bundle that the trainer shows, in which some traces are forced to be false.
	pub bundle_root: H256,
	/// Root of the bundle as it was computed.
	pub true_root: H256,
	/// Root of the model's blob.
	pub model_root: H256,
	/// Segments trained to their ends.
	pub segments: u32,
	/// Whether training diverged after them.
	pub diverged: bool,
}

/// A distinct result, and what the audit decided about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultPart {
	/// Root of the bundle as it was computed.
	pub true_root: H256,
	/// Root of the model's blob.
	pub model_root: H256,
	/// Segments trained to their ends.
	pub segments: u32,
	/// Whether training diverged after them.
	pub diverged: bool,
	/// What was decided.
	pub decision: Option<Decision>,
	/// At which height.
	pub decided: Option<BlockNumber>,
	/// Who delivered it.
	pub trainers: Vec<AccountId32>,
	/// Those of them who are out: convicted, or silent about what they forced.
	pub out: Vec<Out>,
}

/// A trainer that is out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Out {
	/// Who.
	pub trainer: AccountId32,
	/// Since which height.
	pub since: BlockNumber,
}

/// An audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditPart {
	/// How many rounds it had.
	pub rounds: u32,
	/// From which the last committee drew.
	pub seed: Option<H256>,
	/// The seats of the last round. Those of earlier rounds are not on record.
	pub seats: Vec<SeatPart>,
	/// Who earned a fee, once for each round.
	pub served: Vec<AccountId32>,
	/// Seats of earlier rounds that were convicted.
	pub barred: Vec<AccountId32>,
}

/// A seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SeatPart {
	/// Who.
	pub verifier: AccountId32,
	/// What it committed to.
	pub commitment: Option<H256>,
	/// Its verdict on each result, in their order; empty if it revealed none.
	pub verdicts: Vec<Verdict>,
	/// Whether the court convicted its evidence.
	pub convicted: bool,
	/// Whether it lost an accusation.
	pub lost_accusation: bool,
}

/// A verdict on a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
	/// It replayed these segments, and they were equal.
	Replayed {
		/// Which.
		segments: Vec<u32>,
	},
	/// It accused a trainer.
	Rejected {
		/// Whom.
		trainer: AccountId32,
		/// Of what.
		target: Target,
	},
	/// It could not have or replay the result.
	Unavailable,
}

/// The disputes of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DisputesPart {
	/// The last block in which a challenge is taken of what was accepted; none when that time is over.
	pub challengeable_until: Option<BlockNumber>,
	/// Disputes that run.
	pub open: u32,
	/// Challenges that somebody is bound to and has not shown.
	pub announced: u32,
	/// Convictions, as long as they are on record: until no challenge is taken any more and none runs. Who is
	/// out stays with the results.
	pub convictions: Vec<ConvictionPart>,
}

/// A conviction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConvictionPart {
	/// As a trainer, or as a seat.
	pub role: &'static str,
	/// Who.
	pub account: AccountId32,
	/// Of which bundle the evidence was, for a seat.
	pub bundle_root: Option<H256>,
	/// In which dispute; none where it was not the court that decided.
	pub dispute: Option<u64>,
}

/// Returns a hash as in-toto writes it.
fn digest(hash: &H256) -> String {
	hex::encode(hash)
}

/// Returns a value's name in JSON.
fn name(value: &impl Serialize) -> String {
	match serde_json::to_value(value) {
		Ok(serde_json::Value::String(text)) => text,
		Ok(other) => other.to_string(),
		Err(error) => error.to_string(),
	}
}

/// Returns whether a replica's result counts: the audit accepted it, or its parties agreed.
fn counts(fate: Fate) -> bool {
	fate.is_true() || fate == Fate::Agreed
}

impl Statement {
	/// Returns what follows from these records of a job at this block. Fails where there is nothing to
	/// certify.
	pub fn of(genesis: H256, block: &Final, id: JobId, records: &Records) -> Result<Self, Refusal> {
		let Records { runtime, job, spec, .. } = records;
		let JobState::Ended(ending) = job.state else {
			let state = name(&job.state);
			return Err(Refusal::NotEnded { job: id, block: block.number, state });
		};
		if commitment::job(spec, &job.terms) != job.digest {
			let what = format!("TaskMarket.Specs of job {id}");
			let reason = "it is not what the job's digest binds".into();
			return Err(Refusal::Unreadable { what, reason });
		}
		let replicas: Vec<ReplicaPart> =
			job.replicas.iter().map(|replica| replica_part(replica, records)).collect();
		let subject = subjects(&replicas, &records.models);
		if subject.is_empty() {
			return Err(Refusal::NoResult { job: id, ending: name(&ending) });
		}
		let chain = ChainPart {
			genesis,
			block: block.number,
			block_hash: block.hash,
			state_root: block.state_root,
			authority_set: block.set,
			authorities: block.authorities,
			runtime: runtime.0.clone(),
			runtime_version: runtime.1,
		};
		let job = JobPart {
			id,
			submitter: job.submitter.clone(),
			digest: job.digest,
			posted: job.posted,
			ended: job.since,
			ending,
			seed: job.seed,
			terms: job.terms.clone(),
			settlement: job.settlement,
		};
		let groups = records.audit.iter().flat_map(|audit| &audit.groups);
		let predicate = Predicate {
			chain,
			job,
			specification: spec.clone(),
			data: data(spec),
			replicas,
			results: groups.map(result_part).collect(),
			audit: records.audit.as_ref().map(|audit| audit_part(audit, &records.findings)),
			disputes: disputes_part(records),
		};
		Ok(Self { kind: STATEMENT, subject, predicate_type: PREDICATE, predicate })
	}

	/// Returns the roots of the models that count.
	pub fn models(&self) -> impl Iterator<Item = H256> + '_ {
		self.counting().map(|roots| roots.model_root)
	}

	/// Returns what the replicas that count revealed.
	pub fn counting(&self) -> impl Iterator<Item = &Roots> {
		let counting = self.predicate.replicas.iter().filter(|replica| counts(replica.fate));
		counting.filter_map(|replica| replica.revealed.as_ref())
	}

	/// Returns whether this is a bundle of a replica that counts: as it was computed, or as its trainer
	/// shows it, with its model.
	pub fn has_bundle(&self, result: &WorkResult) -> bool {
		self.counting().any(|roots| {
			[roots.true_root, roots.bundle_root].contains(&result.bundle_root)
				&& roots.model_root == result.model_root
				&& (roots.segments, roots.diverged) == (result.segments, result.diverged)
		})
	}
}

fn replica_part(replica: &Replica, records: &Records) -> ReplicaPart {
	let entries = records.round.iter().flat_map(|round| &round.entries);
	let entry = entries.into_iter().find(|entry| entry.trainer == replica.trainer);
	let roots = |reveal: &Reveal| Roots {
		bundle_root: reveal.bundle_root,
		true_root: reveal.true_root,
		model_root: reveal.model_root,
		segments: reveal.segments,
		diverged: reveal.diverged,
	};
	ReplicaPart {
		trainer: replica.trainer.clone(),
		fate: replica.fate,
		result: replica.result,
		commitment: entry.and_then(|entry| entry.commitment),
		revealed: entry.and_then(|entry| entry.reveal.as_ref().map(roots)),
	}
}

/// Returns the models that count, each once, and the bundles of all replicas that do.
fn subjects(replicas: &[ReplicaPart], models: &[(H256, Option<Blob>)]) -> Vec<Resource> {
	let counting = || {
		let counting = replicas.iter().filter(|replica| counts(replica.fate));
		counting.filter_map(|replica| Some((&replica.trainer, replica.revealed.as_ref()?)))
	};
	let counted = |root: &H256| counting().any(|(_, roots)| roots.model_root == *root);
	let models = models.iter().filter(|(root, _)| counted(root)).map(|(root, blob)| {
		let mut all = Digests::from([("trainyardBlobRoot", digest(root))]);
		// Without its blob on record the root is all that there is: it binds length and BLAKE3 hash.
		all.extend(blob.as_ref().map(|blob| ("blake3", digest(&blob.content))));
		Resource { name: "model.safetensors".into(), digest: all }
	});
	let bundles = counting().map(|(trainer, roots)| Resource {
		name: format!("bundle of {trainer}"),
		digest: Digests::from([
			("trainyardBundleRoot", digest(&roots.bundle_root)),
			("trainyardTrueRoot", digest(&roots.true_root)),
		]),
	});
	models.chain(bundles).collect()
}

fn data(spec: &JobSpec) -> Vec<Resource> {
	let resource = |(which, file): (InputFile, trainyard_program::spec::FileRef)| {
		let name = match which {
			InputFile::Data => "data",
			InputFile::Labels => "labels",
			InputFile::InitialModel => "initial model",
		};
		let algorithm = match file.is_on_chain() {
			true => "trainyardBlobRoot",
			false => "blake2b256",
		};
		Resource {
			name: name.into(),
			digest: Digests::from([(algorithm, digest(&file.content_hash))]),
		}
	};
	spec.files().map(resource).collect()
}

fn result_part(group: &Group) -> ResultPart {
	let WorkResult { true_root, model_root, segments, diverged, .. } = group.result;
	let out = group.convicted.iter().zip(&group.out_at);
	ResultPart {
		true_root,
		model_root,
		segments,
		diverged,
		decision: group.decision,
		decided: group.decided_at,
		trainers: group.trainers.clone(),
		out: out.map(|(who, since)| Out { trainer: who.clone(), since: *since }).collect(),
	}
}

fn audit_part(audit: &Audit, findings: &[Option<Findings<AccountId32>>]) -> AuditPart {
	let seats = audit.committee.iter().zip(findings);
	AuditPart {
		// A committee that was never drawn had no round.
		rounds: audit.round + u32::from(audit.drawn_at > 0),
		seed: audit.seed,
		seats: seats.map(|(seat, findings)| seat_part(seat, findings.as_ref())).collect(),
		served: audit.served.clone(),
		barred: audit.barred.clone(),
	}
}

fn seat_part(seat: &Member, findings: Option<&Findings<AccountId32>>) -> SeatPart {
	let verdict = |verdict: &GroupVerdict<AccountId32>| match verdict {
		GroupVerdict::Replayed(replayed) => Verdict::Replayed {
			segments: replayed.evidence.iter().map(|evidence| evidence.segment).collect(),
		},
		GroupVerdict::Rejected(rejection) => {
			Verdict::Rejected { trainer: rejection.account.clone(), target: rejection.target }
		}
		GroupVerdict::Unavailable => Verdict::Unavailable,
	};
	let verdicts = findings.iter().flat_map(|findings| &findings.verdicts);
	SeatPart {
		verifier: seat.verifier.clone(),
		commitment: seat.commitment,
		verdicts: verdicts.map(verdict).collect(),
		convicted: seat.convicted,
		lost_accusation: seat.lost,
	}
}

fn disputes_part(records: &Records) -> DisputesPart {
	let convictions = records.convictions.iter().map(|conviction| {
		let (role, account, bundle_root) = match &conviction.defendant {
			Defendant::Trainer { who, .. } => ("trainer", who, None),
			Defendant::Seat { who, bundle_root, .. } => ("seat", who, Some(*bundle_root)),
		};
		ConvictionPart { role, account: account.clone(), bundle_root, dispute: conviction.dispute }
	});
	DisputesPart {
		challengeable_until: records.late.as_ref().map(|late| late.until),
		open: records.standing.disputes,
		announced: records.standing.commitments,
		convictions: convictions.collect(),
	}
}
