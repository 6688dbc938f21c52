//! What the chain has on record of a job, as the pallets lay it out in storage.
//!
//! The pallets own these layouts, and no worker imports a pallet, so they stand here a second time; a test
//! of the runtime (`runtime/tests/runtime/certificate.rs`) compares them with the runtime's own. A runtime
//! that changes one of them has another `spec_version`, which a certificate proves, see
//! [`RUNTIME_VERSIONS`].

use crate::{error::Refusal, keys::Key};
use codec::{Compact, Decode, DecodeAll, Encode};
use scale_info::TypeInfo;
use sp_runtime::AccountId32;
use trainyard_program::{spec::JobSpec, work::Parts};
use trainyard_protocol::{
	audit::{AuditPhase, Decision, Findings},
	duties::{Drawing, Recompute},
	forced::Secret,
	job::{Balance, BlockNumber, Fate, JobState, Reveal, Settlement, Terms, WorkResult},
	pieces::{Piece, PieceSizes},
	seats::Resources,
	JobId, MicroUt, H256,
};

/// Name of the runtime.
pub const RUNTIME_NAME: &str = "trainyard";
/// Versions of the runtime (`spec_version`) whose records are laid out like this. Whoever raises it adds the
/// new one here, or, where a layout changed, a second set of these types: old certificates stay readable.
pub const RUNTIME_VERSIONS: &[u32] = &[26, 27];

/// Derives what everything has that is stored.
macro_rules! stored {
	($($item:item)*) => {$(
		#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo)]
		#[allow(missing_docs)]
		$item
	)*};
}

stored! {
	/// `TaskMarket.Jobs`.
	pub struct Job {
		pub submitter: AccountId32,
		pub invited: Option<AccountId32>,
		pub terms: Terms,
		pub digest: H256,
		pub quote: Quote,
		pub state: JobState,
		pub posted: BlockNumber,
		pub since: BlockNumber,
		pub deadline: BlockNumber,
		pub seed: Option<H256>,
		pub replicas: Vec<Replica>,
		pub offer: Option<Balance>,
		pub settlement: Settlement,
	}

	/// What a job costs.
	pub struct Quote {
		pub parts: Parts,
		pub work: MicroUt,
		pub training: MicroUt,
		pub price: Balance,
		pub fee_per_ut: Balance,
		pub worth_per_ut: Balance,
		pub compute_per_ut: Balance,
		pub fee: Balance,
		pub storage: Balance,
		pub escrow: Balance,
		pub deposit: Balance,
		pub record: Balance,
		pub needs: Resources,
		pub sizes: PieceSizes,
		pub results: u32,
		pub moved: Moved,
	}

	/// What bytes and states that are not kept add to the times of a job.
	pub struct Moved {
		pub fetch: BlockNumber,
		pub store: BlockNumber,
		pub recompute: Recompute,
	}

	/// One replica of a job.
	pub struct Replica {
		pub trainer: AccountId32,
		pub forced: H256,
		pub fate: Fate,
		pub result: Option<u32>,
		pub segments: Option<u32>,
		pub diverged: bool,
		pub offer: Option<Balance>,
	}

	/// `TaskMarket.Lates`.
	pub struct Late {
		pub from: BlockNumber,
		pub until: BlockNumber,
		pub trainers: Vec<Locked>,
	}

	/// What a trainer has at stake after its result was accepted.
	pub struct Locked {
		pub who: AccountId32,
		pub deposit: Balance,
		pub credited: Option<(MicroUt, u64)>,
	}

	/// `Submissions.Rounds`.
	pub struct Round {
		pub phase: RoundPhase,
		pub entries: Vec<Entry>,
		pub least_segments: u32,
		pub most_segments: u32,
	}

	/// What a round takes.
	pub enum RoundPhase {
		Committing,
		Revealing,
		Closed,
	}

	/// What one trainer has delivered.
	pub struct Entry {
		pub trainer: AccountId32,
		pub commitment: Option<H256>,
		pub reveal: Option<Reveal>,
	}

	/// `Verification.AuditRecords`.
	pub struct Audit {
		pub round: u32,
		pub phase: AuditPhase,
		pub drawing: Drawing,
		pub verifiers: u32,
		pub parties: Vec<AccountId32>,
		pub barred: Vec<AccountId32>,
		pub groups: Vec<Group>,
		pub committee: Vec<Member>,
		pub seed: Option<H256>,
		pub drawn_at: BlockNumber,
		pub assignment: H256,
		pub opened: bool,
		pub mixed: H256,
		pub found: Vec<AccountId32>,
		pub fee: Balance,
		pub price: Balance,
		pub stake: Balance,
		pub challenge: Balance,
		pub needs: Resources,
		pub time: BlockNumber,
		pub recompute: Recompute,
		pub waits: u32,
		pub sizes: PieceSizes,
		pub storage_byte: Balance,
		pub storage: Balance,
		pub relay: Option<BlockNumber>,
		pub latest: BlockNumber,
		pub windows: u32,
		pub relays: u32,
		pub length: BlockNumber,
		pub again: BlockNumber,
		pub window: Option<Window>,
		pub recheck: Rechecks,
		pub served: Vec<AccountId32>,
		pub waiting: Vec<Rejecting>,
		pub owing: Vec<Rejecting>,
		pub owed: Vec<(AccountId32, Balance)>,
	}

	/// One distinct result under audit.
	pub struct Group {
		pub result: WorkResult,
		pub trainers: Vec<AccountId32>,
		pub bundles: Vec<Bundle>,
		pub convicted: Vec<AccountId32>,
		pub out_at: Vec<BlockNumber>,
		pub decision: Option<Decision>,
		pub decided_at: Option<BlockNumber>,
		pub asked: Vec<Asked>,
		pub late: u32,
		pub relayed: bool,
	}

	/// The bundle of one trainer of a result.
	pub struct Bundle {
		pub root: H256,
		pub forced: H256,
		pub opened: bool,
		pub secret: Secret,
	}

	/// A piece of a result that was asked for.
	pub struct Asked {
		pub piece: Piece,
		pub bytes: u64,
		pub stored: bool,
		pub answered: u8,
		pub late: bool,
	}

	/// One member of a committee.
	pub struct Member {
		pub verifier: AccountId32,
		pub key: [u8; 32],
		pub commitment: Option<H256>,
		pub committed_at: BlockNumber,
		pub revealed: bool,
		pub convicted: bool,
		pub lost: bool,
		pub postponed: Vec<u32>,
		pub locked: Balance,
		pub began: u32,
	}

	/// The window for challenges.
	pub struct Window {
		pub from: BlockNumber,
		pub until: BlockNumber,
		pub again: BlockNumber,
		pub length: BlockNumber,
	}

	/// Where the draw of evidence that is replayed again stands.
	pub enum Rechecks {
		None,
		Drawing { after: BlockNumber },
		Drawn(Vec<Recheck>),
	}

	/// A segment of somebody's evidence that another seat replays again.
	pub struct Recheck {
		pub by: AccountId32,
		pub of: AccountId32,
		pub group: u32,
		pub segment: u32,
	}

	/// A seat that rejected something.
	pub struct Rejecting {
		pub seat: AccountId32,
		pub named: Vec<AccountId32>,
	}

	/// `Court.Standings`.
	#[derive(Default)]
	pub struct Standing {
		pub commitments: u32,
		pub disputes: u32,
		pub ended: Option<BlockNumber>,
	}

	/// Who can lose a dispute.
	pub enum Defendant {
		Trainer { job: JobId, who: AccountId32 },
		Seat { job: JobId, who: AccountId32, bundle_root: H256 },
	}

	/// `ModelStorage.Blobs`.
	pub struct Blob {
		pub owner: AccountId32,
		pub size: u64,
		pub content: H256,
		pub chunks: u32,
		pub stored: u32,
		pub lost: u32,
		pub deposit: Balance,
		pub rent: Balance,
		pub since: BlockNumber,
		pub period: BlockNumber,
		pub expires: BlockNumber,
		pub kept: BlockNumber,
		pub removing: Option<u32>,
	}

	/// `System.LastRuntimeUpgrade`.
	pub struct Runtime {
		pub version: Compact<u32>,
		pub name: String,
	}
}

/// A dispute that somebody lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conviction {
	/// Who.
	pub defendant: Defendant,
	/// The number of the dispute; none where it was not the court that decided.
	pub dispute: Option<u64>,
}

/// All that is on record of a job that the certificate is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Records {
	/// Which runtime.
	pub runtime: (String, u32),
	/// The job.
	pub job: Job,
	/// What it trains.
	pub spec: JobSpec,
	/// What was delivered.
	pub round: Option<Round>,
	/// The audit.
	pub audit: Option<Audit>,
	/// Where its disputes stand.
	pub standing: Standing,
	/// Until when what was accepted can still be challenged.
	pub late: Option<Late>,
	/// The findings of each member of the last committee, in its order.
	pub findings: Vec<Option<Findings<AccountId32>>>,
	/// The convictions of trainers and seats.
	pub convictions: Vec<Conviction>,
	/// The model of each reveal, by root, where it is on chain.
	pub models: Vec<(H256, Option<Blob>)>,
}

/// Reads values by their keys.
pub trait Read {
	/// Returns the value under a key, or that there is none.
	fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, Refusal>;
}

impl<F: Fn(&Key) -> Result<Option<Vec<u8>>, Refusal>> Read for F {
	fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, Refusal> {
		self(key)
	}
}

fn read<T: Decode>(from: &impl Read, key: &Key) -> Result<Option<T>, Refusal> {
	let unreadable = |error: codec::Error| Refusal::Unreadable {
		what: key.name.clone(),
		reason: error.to_string(),
	};
	from.get(key)?.map(|bytes| T::decode_all(&mut &bytes[..]).map_err(unreadable)).transpose()
}

fn runtime_key() -> Key {
	Key::of("System", "LastRuntimeUpgrade")
}

fn entry(pallet: &str, item: &str, job: JobId) -> Key {
	Key::of(pallet, item).twox(&job).called(format!("{pallet}.{item} of job {job}"))
}

/// Returns the keys of what is read of every job, which say what else is read.
pub fn first_keys(job: JobId) -> Vec<Key> {
	vec![
		runtime_key(),
		entry("TaskMarket", "Jobs", job),
		entry("TaskMarket", "Specs", job),
		entry("TaskMarket", "Lates", job),
		entry("Submissions", "Rounds", job),
		entry("Verification", "AuditRecords", job),
		entry("Court", "Standings", job),
	]
}

/// Returns the key of the findings of a seat.
pub fn verdict_key(job: JobId, who: &AccountId32) -> Key {
	let name = format!("Verification.Verdicts of job {job} and {who}");
	Key::of("Verification", "Verdicts").twox(&job).blake2(who).called(name)
}

/// Returns the key of a conviction.
pub fn conviction_key(job: JobId, defendant: &Defendant) -> Key {
	let who = match defendant {
		Defendant::Trainer { who, .. } | Defendant::Seat { who, .. } => who,
	};
	let name = format!("Court.Convicted of job {job} and {who}");
	Key::of("Court", "Convicted").twox(&job).blake2(defendant).called(name)
}

/// Returns the key of a blob.
pub fn blob_key(root: &H256) -> Key {
	Key::of("ModelStorage", "Blobs")
		.identity(root)
		.called(format!("ModelStorage.Blobs of {root:?}"))
}

/// What is read of every job.
struct First {
	runtime: (String, u32),
	job: Job,
	spec: JobSpec,
	late: Option<Late>,
	round: Option<Round>,
	audit: Option<Audit>,
	standing: Standing,
}

impl First {
	fn read(from: &impl Read, id: JobId, block: BlockNumber) -> Result<Self, Refusal> {
		// Before anything else is decoded: another runtime may lay it out otherwise.
		let runtime: Runtime = read(from, &runtime_key())?.ok_or_else(|| Refusal::Unreadable {
			what: runtime_key().name,
			reason: "there is none, so this is no Trainyard chain".into(),
		})?;
		let (name, version) = (runtime.name, runtime.version.0);
		if name != RUNTIME_NAME || !RUNTIME_VERSIONS.contains(&version) {
			let known: Vec<String> = RUNTIME_VERSIONS.iter().map(u32::to_string).collect();
			return Err(Refusal::OtherRuntime { name, version, known: known.join(", ") });
		}
		let missing = || Refusal::NoJob { job: id, block };
		Ok(Self {
			runtime: (name, version),
			job: read(from, &entry("TaskMarket", "Jobs", id))?.ok_or_else(missing)?,
			spec: read(from, &entry("TaskMarket", "Specs", id))?.ok_or_else(missing)?,
			late: read(from, &entry("TaskMarket", "Lates", id))?,
			round: read(from, &entry("Submissions", "Rounds", id))?,
			audit: read(from, &entry("Verification", "AuditRecords", id))?,
			standing: read(from, &entry("Court", "Standings", id))?.unwrap_or_default(),
		})
	}

	/// Returns the seats of the last committee that revealed findings.
	fn committee(&self) -> &[Member] {
		self.audit.as_ref().map_or(&[], |audit| &audit.committee)
	}

	/// Returns who may have been convicted: all trainers, and the seats that the audit says were.
	fn defendants(&self, job: JobId) -> Vec<Defendant> {
		let trainers = self.job.replicas.iter().map(|replica| replica.trainer.clone());
		let mut all: Vec<Defendant> = trainers.map(|who| Defendant::Trainer { job, who }).collect();
		let Some(audit) = &self.audit else { return all };
		let now = audit.committee.iter().filter(|seat| seat.convicted).map(|seat| &seat.verifier);
		let mut seats: Vec<&AccountId32> = now.chain(&audit.barred).collect();
		seats.sort();
		seats.dedup();
		for who in seats {
			let bundles = audit.groups.iter().flat_map(|group| &group.bundles);
			all.extend(bundles.map(|bundle| Defendant::Seat {
				job,
				who: who.clone(),
				bundle_root: bundle.root,
			}));
		}
		all
	}

	/// Returns the roots of the models that were delivered.
	fn models(&self) -> Vec<H256> {
		let entries = self.round.iter().flat_map(|round| &round.entries);
		let reveals = entries.filter_map(|entry| entry.reveal.as_ref());
		let mut roots: Vec<H256> = reveals.map(|reveal| reveal.model_root).collect();
		roots.sort();
		roots.dedup();
		roots
	}

	fn further_keys(&self, job: JobId) -> Vec<Key> {
		let seats = self.committee().iter().map(|seat| verdict_key(job, &seat.verifier));
		let defendants = self.defendants(job);
		let convictions = defendants.iter().map(|who| conviction_key(job, who));
		let models = self.models();
		seats.chain(convictions).chain(models.iter().map(blob_key)).collect()
	}
}

/// Returns all keys that are read of a job, by what is under the [first](first_keys).
pub fn all_keys(from: &impl Read, job: JobId, block: BlockNumber) -> Result<Vec<Key>, Refusal> {
	let first = First::read(from, job, block)?;
	Ok(first_keys(job).into_iter().chain(first.further_keys(job)).collect())
}

impl Records {
	/// Reads what is on record of a job at a block.
	pub fn read(from: &impl Read, id: JobId, block: BlockNumber) -> Result<Self, Refusal> {
		let first = First::read(from, id, block)?;
		let findings =
			first.committee().iter().map(|seat| read(from, &verdict_key(id, &seat.verifier)));
		let findings = findings.collect::<Result<_, _>>()?;
		let mut convictions = Vec::new();
		for defendant in first.defendants(id) {
			if let Some(dispute) = read(from, &conviction_key(id, &defendant))? {
				convictions.push(Conviction { defendant, dispute });
			}
		}
		let models =
			first.models().into_iter().map(|root| Ok((root, read(from, &blob_key(&root))?)));
		let models = models.collect::<Result<_, Refusal>>()?;
		let First { runtime, job, spec, late, round, audit, standing } = first;
		Ok(Self { runtime, job, spec, round, audit, standing, late, findings, convictions, models })
	}
}
