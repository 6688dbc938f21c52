//! Brings accusations to the court: first this account binds itself, a block later it shows what it
//! accuses of.
//!
//! An accusation is on disk, with its salt, from before anything is sent: a commitment that nobody
//! shows costs its deposit. What is sent next follows from that file and from the chain ([`next`]), so
//! a kill in between changes nothing. Nobody is accused twice of the same result: [`Brought`] says
//! whether an accusation came to the court, also for seats, which accuse without a commitment.

use super::{locked, plan::AGAIN, Courtroom, Seen, StepError};
use crate::roles::{
	metrics::Loss,
	report::Reporter,
	store::{load, save, Salt, StoreError},
};
use codec::{DecodeAll, Encode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
	collections::{BTreeMap, BTreeSet},
	path::{Path, PathBuf},
	sync::Mutex,
};
use trainyard_client::{
	amount,
	court::{
		challenge_hash, Accusation, Commitment, Defendant, Dispute, DisputeId, Refusal, Since,
	},
	AccountId32, ChainError,
};
use trainyard_court::game::words;
use trainyard_proof::{bundle::files, hash};
use trainyard_protocol::{
	court::REVEAL_TICKS,
	job::{Balance, BlockNumber},
	JobId, H256,
};

/// The folder of accusations, in that of all disputes.
pub(super) const FOLDER: &str = "accused";
/// Blocks after which an accusation of a seat that is not seen on chain is sent again, and for which its
/// dispute may vanish since it was one of another fork.
pub const SETTLED: BlockNumber = 20;
/// How often an accusation is sent that the chain refuses.
const TRIES: u32 = 3;
/// Blocks after which a dispute that was never seen may have been lost, where the chain does not show
/// that. Whoever is silent has 2,400.
const UNSEEN: BlockNumber = 600;

/// What is known of whether an accusation came to the court. It is on disk from before that is sent.
///
/// What was sent and is not on chain is sent again. What was seen there is not, even if it was lost: a
/// second one would lose another stake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brought {
	/// The height at which it was sent last.
	#[serde(default)]
	pub sent: Option<BlockNumber>,
	/// Its dispute, and the height at which that was first seen.
	#[serde(default)]
	pub dispute: Option<(DisputeId, BlockNumber)>,
	/// How often the chain refused it.
	#[serde(default)]
	pub refused: u32,
}

impl Brought {
	/// Returns whether it is to be sent at height `best`, as far as is known of it.
	pub fn is_due(&self, best: BlockNumber) -> bool {
		self.dispute.is_none() && !self.is_refused() && !is_fresh(self.sent, best, SETTLED)
	}

	/// Returns whether the chain refused it for good.
	pub fn is_refused(&self) -> bool {
		self.refused >= TRIES
	}

	/// Notes that its dispute runs at height `best`.
	pub fn see(&mut self, id: DisputeId, best: BlockNumber) {
		if self.dispute.is_none_or(|(known, _)| known != id) {
			self.dispute = Some((id, best));
		}
	}

	/// Returns whether its dispute was seen so long before height `best` that no fork lacks it.
	pub fn is_settled(&self, best: BlockNumber) -> bool {
		self.dispute.is_some_and(|(_, seen)| best >= seen.saturating_add(SETTLED))
	}

	/// Returns whether its dispute has ended, or may have. At height `best` it does not run. `lost` says
	/// whether challengers lost something against the defendant since it was sent, where that is known.
	pub fn is_over(&self, best: BlockNumber, lost: Option<bool>) -> bool {
		match (self.dispute, lost) {
			(Some(_), Some(false)) => self.is_settled(best),
			(Some(_), _) => true,
			(None, Some(lost)) => lost && self.sent.is_some(),
			(None, None) => self.sent.is_some_and(|sent| best >= sent.saturating_add(UNSEEN)),
		}
	}
}

/// Returns whether what was sent at this height may still be on its way at height `best`.
fn is_fresh(sent: Option<BlockNumber>, best: BlockNumber, blocks: BlockNumber) -> bool {
	sent.is_some_and(|sent| sent <= best && best < sent.saturating_add(blocks))
}

/// Returns the number of the dispute in which `me` accuses of this, if it runs.
pub fn dispute_of(
	disputes: &BTreeMap<DisputeId, Dispute>,
	me: &AccountId32,
	accusation: &Accusation,
) -> Option<DisputeId> {
	let is_it = |dispute: &Dispute| {
		dispute.challenger == *me
			&& dispute.defendant == accusation.defendant
			&& dispute.stage.subject.target == accusation.target
	};
	disputes.iter().find(|(_, dispute)| is_it(dispute)).map(|(id, _)| *id)
}

/// An accusation of this account.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
	/// The seed of the job.
	pub seed: H256,
	/// Root of the bundle of the result that is false.
	pub result: H256,
	/// What is shown.
	pub accusation: Accusation,
	/// What hides it before.
	pub salt: Salt,
	/// The height at which the commitment was sent last.
	pub committed: Option<BlockNumber>,
	/// What is known of its challenge, which shows it.
	pub brought: Brought,
	/// The deposit, from before the commitment is sent, in units of the currency.
	pub deposit: Balance,
	/// Whether it is over: nobody is accused of the same again.
	pub over: bool,
}

/// A record on disk.
#[derive(Serialize, Deserialize)]
struct Written {
	seed: H256,
	result: H256,
	/// SCALE, in hex digits.
	accusation: String,
	salt: Salt,
	committed: Option<BlockNumber>,
	shown: Option<BlockNumber>,
	#[serde(default)]
	dispute: Option<(DisputeId, BlockNumber)>,
	#[serde(default)]
	refused: u32,
	#[serde(with = "trainyard_program::text::decimal")]
	deposit: Balance,
	over: bool,
}

impl Record {
	/// Makes the record of a new accusation, with a fresh salt.
	pub fn new(seed: H256, result: H256, accusation: Accusation) -> Self {
		Self {
			seed,
			result,
			accusation,
			salt: Salt::random(),
			committed: None,
			brought: Brought::default(),
			deposit: 0,
			over: false,
		}
	}

	/// Returns what names it: one account is accused once of its result of a job.
	pub fn key(&self) -> H256 {
		key(&self.seed, &self.accusation.defendant)
	}

	fn job(&self) -> JobId {
		self.accusation.defendant.job()
	}

	fn hash(&self, genesis: &H256, me: &AccountId32) -> H256 {
		challenge_hash(genesis, me, &self.accusation, &self.salt.0)
	}

	fn written(&self) -> Written {
		let Self { seed, result, salt, committed, brought, deposit, over, .. } = *self;
		let Brought { sent: shown, dispute, refused } = brought;
		let accusation = hex::encode(self.accusation.encode());
		Written {
			seed,
			result,
			accusation,
			salt,
			committed,
			shown,
			dispute,
			refused,
			deposit,
			over,
		}
	}

	fn read(written: Written) -> Result<Self, String> {
		let Written { seed, result, salt, committed, shown, deposit, over, .. } = written;
		let bytes = hex::decode(written.accusation).map_err(|e| e.to_string())?;
		let accusation = Accusation::decode_all(&mut &bytes[..]).map_err(|e| e.to_string())?;
		let Written { dispute, refused, .. } = written;
		let brought = Brought { sent: shown, dispute, refused };
		Ok(Self { seed, result, accusation, salt, committed, brought, deposit, over })
	}
}

/// Returns what names the accusation of a defendant under a seed.
pub fn key(seed: &H256, defendant: &Defendant) -> H256 {
	(seed, defendant).using_encoded(hash::blake2_256)
}

/// A transaction that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Act {
	/// Bind oneself.
	Commit,
	/// Show what one is bound to.
	Challenge,
}

/// What the chain says about an accusation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
	/// Whether challenges to results of the job are taken.
	pub open: bool,
	/// Whether the job has ended.
	pub gone: bool,
	/// What this account is bound to about the job, and since when.
	pub bound: Option<(H256, Since)>,
	/// Whether this account has a dispute with the defendant.
	pub runs: bool,
	/// Whether the defendant was convicted.
	pub convicted: bool,
}

/// What follows for an accusation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
	/// This is sent.
	Send(Act),
	/// Something is on its way, or another accusation comes first.
	Wait,
	/// It is over.
	Over,
}

/// Returns what is to be done about an accusation at `now`; `hash` is what its commitment is.
pub fn next(now: &Since, record: &Record, hash: &H256, facts: &Facts) -> Next {
	let is_fresh = |sent: Option<BlockNumber>| is_fresh(sent, now.height, AGAIN);
	let Record { brought, .. } = record;
	match facts.bound {
		_ if record.over => Next::Over,
		_ if facts.runs => Next::Wait,
		Some((bound, since)) if bound == *hash => {
			let is_late = since.ticks_until(now) > REVEAL_TICKS;
			let is_due = now.height > since.height && !is_fresh(brought.sent) && !is_late;
			match is_due && !brought.is_refused() {
				true => Next::Send(Act::Challenge),
				false => Next::Wait,
			}
		}
		_ if is_fresh(brought.sent) => Next::Wait,
		// The dispute ended, or may have. One that never began is brought again: what this account was
		// bound to lapsed before it was shown.
		_ if brought.is_refused() || brought.is_over(now.height, None) => Next::Over,
		// Of another of its own accusations.
		Some(_) => Next::Wait,
		None if facts.convicted || facts.gone => Next::Over,
		None if !facts.open || is_fresh(record.committed) => Next::Wait,
		None => Next::Send(Act::Commit),
	}
}

/// What this account is ready to put at stake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stakes {
	/// Most for one challenge, in units of the currency.
	pub most: Balance,
	/// What stays free on the account.
	pub reserve: Balance,
	/// Accusations at once.
	pub open: usize,
}

/// A job whose results can be accused, as the chain shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Court {
	/// Its seed.
	pub seed: H256,
	/// Whether challenges are taken.
	pub open: bool,
	/// The deposit of one, in units of the currency.
	pub deposit: Balance,
}

/// The accusations of an account.
pub struct Accusations {
	me: AccountId32,
	folder: PathBuf,
	stakes: Stakes,
	report: Reporter,
	records: Mutex<BTreeMap<H256, Record>>,
	/// Of which it was reported that they are too dear.
	refused: Mutex<BTreeSet<H256>>,
}

impl Accusations {
	/// Opens those of `me` in the folder of its disputes. Returns also what is wrong with files that
	/// cannot be read.
	pub fn open(
		me: AccountId32,
		disputes: &Path,
		stakes: Stakes,
		report: Reporter,
	) -> Result<(Self, Vec<StoreError>), StoreError> {
		let folder = disputes.join(FOLDER);
		files::create_private_folder(&folder)?;
		let (mut records, mut problems) = (BTreeMap::new(), Vec::new());
		let entries = std::fs::read_dir(&folder).map_err(files::at("read the folder", &folder))?;
		for entry in entries {
			let path = entry.map_err(files::at("read the folder", &folder))?.path();
			if path.extension().is_none_or(|ending| ending != "json") {
				continue;
			}
			let damaged = |reason| StoreError::Damaged { path: path.clone(), reason };
			let read = load::<Written>(&path).and_then(|written| {
				written.map(|written| Record::read(written).map_err(damaged)).transpose()
			});
			match read {
				Ok(record) => records.extend(record.map(|record| (record.key(), record))),
				Err(e) => problems.push(e),
			}
		}
		let (records, refused) = (Mutex::new(records), Mutex::default());
		Ok((Self { me, folder, stakes, report, records, refused }, problems))
	}

	/// Returns the folder of the manifest of a result that is accused, or compared.
	pub fn result_folder(&self, job: JobId, bundle_root: &H256) -> PathBuf {
		self.folder.join(format!("{job}-{}", hex::encode(&bundle_root.0[..8])))
	}

	/// Returns whether a defendant is accused, or was.
	pub fn has(&self, seed: &H256, defendant: &Defendant) -> bool {
		locked(&self.records).contains_key(&key(seed, defendant))
	}

	/// Returns the result that a defendant is accused of, or was.
	pub fn result_of(&self, seed: &H256, defendant: &Defendant) -> Option<H256> {
		locked(&self.records).get(&key(seed, defendant)).map(|record| record.result)
	}

	/// Returns the job that an accusation is about.
	pub fn job_of(&self, key: &H256) -> Option<JobId> {
		locked(&self.records).get(key).map(Record::job)
	}

	/// Returns how many are not over.
	pub fn open_count(&self) -> usize {
		locked(&self.records).values().filter(|record| !record.over).count()
	}

	/// Returns the jobs of those that are not over.
	pub fn open_jobs(&self) -> BTreeSet<JobId> {
		let records = locked(&self.records);
		records.values().filter(|record| !record.over).map(Record::job).collect()
	}

	fn path(&self, record: &Record) -> PathBuf {
		let key = hex::encode(&record.key().0[..8]);
		self.folder.join(format!("{}-{key}.json", record.job()))
	}

	/// Takes an accusation up, unless the defendant was accused before; it is on disk when this
	/// returns.
	pub fn add(&self, record: Record) -> Result<(), StoreError> {
		let mut records = locked(&self.records);
		if records.contains_key(&record.key()) {
			return Ok(());
		}
		save(&self.path(&record), &record.written())?;
		records.insert(record.key(), record);
		Ok(())
	}

	fn change(&self, key: &H256, change: impl FnOnce(&mut Record)) -> Result<(), StoreError> {
		let mut records = locked(&self.records);
		let Some(record) = records.get_mut(key) else { return Ok(()) };
		let mut changed = record.clone();
		change(&mut changed);
		save(&self.path(&changed), &changed.written())?;
		*record = changed;
		Ok(())
	}

	/// Returns what is to be sent now. `court` is what the chain says about a job.
	pub async fn due<C: Courtroom>(
		&self,
		chain: &C,
		seen: &Seen,
		court: impl Fn(JobId) -> Option<Court>,
	) -> Result<Vec<(H256, Act)>, DueError> {
		let records: Vec<_> = {
			let records = locked(&self.records);
			let open = records.iter().filter(|(_, record)| !record.over);
			open.map(|(key, record)| (*key, record.clone())).collect()
		};
		let (mut due, mut jobs, mut results) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
		let mut busy = 0usize;
		let mut waiting = Vec::new();
		for (key, record) in records {
			let of = court(record.job());
			if of.is_some_and(|of| of.seed != record.seed) {
				continue;
			}
			let defendant = &record.accusation.defendant;
			if let Some(id) = dispute_of(&seen.disputes, &self.me, &record.accusation) {
				if record.brought.dispute.is_none_or(|(known, _)| known != id) {
					self.change(&key, |record| record.brought.see(id, seen.now.height))?;
				}
			}
			let runs = seen
				.disputes
				.values()
				.any(|dispute| dispute.challenger == self.me && dispute.defendant == *defendant);
			let bound = chain.bound(record.job()).await?;
			let bound = bound.map(|Commitment { hash, since, .. }| (hash, since));
			let convicted = chain.is_convicted(defendant).await?;
			let open = of.is_some_and(|of| of.open);
			let facts = Facts { open, gone: of.is_none(), bound, runs, convicted };
			let hash = record.hash(&chain.genesis(), &self.me);
			match next(&seen.now, &record, &hash, &facts) {
				Next::Over => self.end(&key, &record, convicted)?,
				Next::Send(Act::Commit) => {
					let deposit = of.map_or(Balance::MAX, |of| of.deposit);
					waiting.push((key, record, deposit));
				}
				next => {
					// Only what may be on the chain takes a place.
					if runs || record.committed.is_some() {
						busy += 1;
						jobs.extend((!runs).then_some(record.job()));
						results.insert((record.job(), record.result));
					}
					if let Next::Send(act) = next {
						due.push((key, act));
					}
				}
			}
		}
		for (key, record, deposit) in waiting {
			// One commitment for each job, and one after the other of those who said the same: the
			// deposit is back then.
			let is_free = busy < self.stakes.open
				&& !jobs.contains(&record.job())
				&& !results.contains(&(record.job(), record.result));
			if is_free && self.affords(chain, &key, &record, deposit).await? {
				self.change(&key, |record| record.deposit = deposit)?;
				busy += 1;
				jobs.insert(record.job());
				results.insert((record.job(), record.result));
				due.push((key, Act::Commit));
			}
		}
		Ok(due)
	}

	/// Returns whether this account can and will pay for a challenge; reports once why not.
	async fn affords<C: Courtroom>(
		&self,
		chain: &C,
		key: &H256,
		record: &Record,
		deposit: Balance,
	) -> Result<bool, ChainError> {
		let needed = deposit.saturating_add(self.stakes.reserve);
		let why = match deposit > self.stakes.most {
			true => format!("more than the {} that are allowed", amount::format(self.stakes.most)),
			false => {
				let free = chain.free().await?;
				if free >= needed {
					return Ok(true);
				}
				format!("and {} are free", amount::format(free))
			}
		};
		if locked(&self.refused).insert(*key) {
			let who = record.accusation.defendant.who();
			let text = format!(
				"the result of {who} is false ({}), and is not challenged: that takes a deposit of \
				 {}, {why}",
				words::target(&record.accusation.target),
				amount::format(deposit)
			);
			let fields = json!({ "account": who, "deposit": deposit.to_string() });
			self.report.job(record.job(), "problem", &text, fields);
		}
		Ok(false)
	}

	/// Notes that an accusation is over, and reports how it ended.
	fn end(&self, key: &H256, record: &Record, convicted: bool) -> Result<(), StoreError> {
		self.change(key, |record| record.over = true)?;
		let who = record.accusation.defendant.who();
		let Brought { sent, dispute, .. } = record.brought;
		let (event, text) = match (convicted, sent.is_some() || dispute.is_some()) {
			(true, true) => ("accusation_won", format!("{who}, who was accused, is convicted")),
			(true, false) => ("accusation_moot", format!("{who} was convicted by somebody else")),
			(false, true) => {
				self.report.metrics().lost(Loss::Challenge, record.deposit);
				("accusation_lost", format!("{who} was accused, and is not convicted"))
			}
			(false, false) => {
				("accusation_dropped", format!("{who} was not accused while the job was open"))
			}
		};
		self.report.job(record.job(), event, &text, json!({ "account": who }));
		Ok(())
	}

	/// Sends what is due of an accusation. It is on disk before that it is sent.
	pub async fn carry_out<C: Courtroom>(
		&self,
		chain: &C,
		key: &H256,
		act: Act,
		now: &Since,
	) -> Result<(), StepError> {
		let Some(record) = locked(&self.records).get(key).cloned() else { return Ok(()) };
		let (job, height) = (record.job(), now.height);
		self.change(key, |record| match act {
			Act::Commit => {
				// What was to be shown before lapsed. That costs a deposit, so it is bounded.
				let has_lapsed = record.brought.sent.take().is_some();
				record.brought.refused += u32::from(has_lapsed);
				record.committed = Some(height);
			}
			Act::Challenge => record.brought.sent = Some(height),
		})?;
		let sent = match act {
			Act::Commit => chain.commit(job, &record.hash(&chain.genesis(), &self.me)).await,
			Act::Challenge => chain.challenge(&record.accusation, &record.salt.0).await,
		};
		let Accusation { defendant, target, .. } = &record.accusation;
		let who = defendant.who();
		if let Err(error) = sent {
			// What failed in a block is not on its way any more. A challenge fails again in the next one.
			if matches!(error, trainyard_client::TxError::Failed { .. }) {
				self.change(key, |record| match act {
					Act::Commit => record.committed = None,
					Act::Challenge => record.brought.refused += 1,
				})?;
			}
			return match Refusal::of(&error) {
				Some(Refusal::Overtaken | Refusal::Over) => Ok(()),
				refusal => {
					let advice = refusal.map_or("", Refusal::advice);
					Err(StepError::Sending { error, advice })
				}
			};
		}
		let (event, text) = match act {
			Act::Commit => ("accusing", format!("bound to accuse a trainer, about {target:?}")),
			Act::Challenge => ("accused", format!("{who} is accused, about {target:?}")),
		};
		self.report.job(job, event, &text, json!({ "account": who, "target": target }));
		Ok(())
	}

	/// Forgets what is about jobs that are not `known` any more.
	pub fn forget(&self, known: impl Fn(JobId) -> bool) -> Result<(), StoreError> {
		let mut records = locked(&self.records);
		let gone: Vec<_> = records.values().filter(|it| !known(it.job())).cloned().collect();
		for record in gone {
			let path = self.path(&record);
			match std::fs::remove_file(&path) {
				Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
					return Err(files::at("remove", &path)(e).into());
				}
				_ => drop(records.remove(&record.key())),
			}
		}
		Ok(())
	}
}

/// Says why it is not known what is due.
pub type DueError = crate::roles::blocks::LookError;

#[cfg(test)]
#[path = "accusing_tests.rs"]
mod tests;
