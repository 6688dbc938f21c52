//! Plays the disputes of a role, block by block: whatever is due is started as a task of the role, so
//! its loop never waits for a computation.

use super::{
	accusing::{self, Accusations, Act, Court, Stakes},
	files::{Files, Recorders},
	journal::Journal,
	party::Subject,
	plan::Step,
	Courtroom, Disputes, Done, Looked,
};
use crate::roles::{
	blocks::LookError,
	common::webhook::Webhook,
	machine::Machine,
	report::Reporter,
	store::{StoreError, Unused},
	tasks::{Outcome, Tasks},
};
use serde_json::json;
use std::{
	collections::{BTreeMap, BTreeSet},
	hash::Hash,
	path::{Path, PathBuf},
	sync::Arc,
};
use trainyard_client::{
	court::{Defendant, Dispute, DisputeId},
	AccountId32, AuditView, JobView,
};
use trainyard_program::work::Parts;
use trainyard_proof::bundle::files;
use trainyard_protocol::{audit::AuditPhase, fees, job::BlockNumber, JobId, H256};

/// Disputes that are computed at once: as many as are heard of one defendant.
const AT_ONCE: usize = 2;
/// Blocks for which the files of a dispute stay after its job is over: a reorganisation may bring it
/// back.
const GRACE: BlockNumber = 600;
/// Blocks between two looks for files that are of no use any more.
const TIDY: BlockNumber = 20;
const MIB: u64 = 1024 * 1024;

/// Options of roles that are party to disputes.
#[derive(Clone, Debug, clap::Args)]
pub struct DisputeArgs {
	/// Disk for what is computed for a dispute (in MiB), two of which are computed at a time: states on
	/// the way through a segment, without which it is trained again for every move
	#[arg(long, value_name = "MIB", default_value_t = 4096)]
	dispute_disk_mib: u64,
	/// Memory for the results of one step that is disputed (in MiB). Of a larger step each result that
	/// is asked for is computed again
	#[arg(long, value_name = "MIB", default_value_t = 4096)]
	dispute_memory_mib: u64,
}

impl DisputeArgs {
	/// Returns options with so much disk and memory.
	#[cfg(test)]
	pub fn of_mib(disk: u64, memory: u64) -> Self {
		Self { dispute_disk_mib: disk, dispute_memory_mib: memory }
	}
}

/// What is done for a dispute or for an accusation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
	/// A move.
	Move(Step),
	/// A transaction of the accusation with this key.
	Accuse(H256, Act),
}

/// What a look came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
	/// All that is due, or runs, each with its job.
	pub work: Vec<(JobId, Work)>,
	/// Jobs about which this account has disputes.
	pub jobs: BTreeSet<JobId>,
}

/// What a move is made with.
struct Table<C> {
	court: C,
	disputes: Disputes,
	recorders: Recorders,
}

/// The disputes of a role.
pub struct Driver<C> {
	table: Arc<Table<C>>,
	accusations: Arc<Accusations>,
	unused: Unused<JobId>,
}

impl<C: Courtroom + 'static> Driver<C> {
	/// Makes the driver of `me`, which keeps its files in `folder`. What cannot be read there is
	/// reported, and the rest goes on.
	pub fn open(
		court: C,
		me: AccountId32,
		folder: &Path,
		args: &DisputeArgs,
		stakes: Stakes,
		report: &Reporter,
		webhook: Webhook,
	) -> Result<Self, StoreError> {
		let (accusations, problems) = Accusations::open(me, folder, stakes, report.clone())?;
		for problem in problems {
			let reason = problem.to_string();
			report.general("problem", &reason, json!({ "reason": reason }));
		}
		let mib = |mib: u64| mib.saturating_mul(MIB);
		let (disk, memory) = (mib(args.dispute_disk_mib), mib(args.dispute_memory_mib));
		let disputes = Disputes::new(me, folder, report.clone(), webhook);
		let recorders = Recorders::new(folder, disk, memory);
		let table = Arc::new(Table { court, disputes, recorders });
		Ok(Self { table, accusations: Arc::new(accusations), unused: Unused::default() })
	}

	/// Computes its moves on `machine`, for this role. Nothing is computed before.
	pub fn on(mut self, machine: Machine, role: &'static str) -> Self {
		if let Some(table) = Arc::get_mut(&mut self.table) {
			table.disputes.compute_on(machine, role);
		}
		self
	}

	/// Returns the accusations of the role.
	pub fn accusations(&self) -> &Arc<Accusations> {
		&self.accusations
	}

	/// Looks at the court once, and starts what is due in `tasks`, each under its `key`. `jobs` are all
	/// that have not ended, and those of the others about which there is something to do; `files` are those from which this account computes its side of a dispute, if
	/// it has them.
	pub async fn look<K: Clone + Eq + Hash + Send + 'static>(
		&mut self,
		jobs: &[&JobView],
		files: impl Fn(&JobView, &Dispute) -> Option<Files>,
		tasks: &mut Tasks<K>,
		key: impl Fn(JobId, Work) -> K,
	) -> Result<Due, LookError> {
		let jobs: BTreeMap<JobId, &JobView> = jobs.iter().map(|job| (job.id, *job)).collect();
		let subject = |dispute: &Dispute| {
			let defendant = &dispute.defendant;
			Subject::of(jobs.get(&defendant.job())?, defendant)
		};
		let Table { court, disputes, recorders } = &*self.table;
		let Looked { seen, plan } = disputes.look(court, subject).await?;
		let me = *disputes.me();
		let own = || seen.disputes.values().filter(|dispute| dispute.side_of(&me).is_some());
		let parties: BTreeSet<Defendant> = own().map(|dispute| dispute.defendant).collect();
		recorders.retain(|defendant| parties.contains(defendant));

		let mut due = Due { jobs: own().map(|it| it.defendant.job()).collect(), ..Due::default() };
		// A recorder computes one move at a time.
		let (mut busy, mut running) = (BTreeSet::new(), 0usize);
		let mut free = Vec::new();
		for step in plan.steps {
			let Some(dispute) = seen.disputes.get(&step.id) else { continue };
			let job = dispute.defendant.job();
			due.work.push((job, Work::Move(step)));
			match tasks.is_running(&key(job, Work::Move(step))) {
				true => {
					busy.insert(dispute.defendant);
					running += 1;
				}
				false => free.push((step, dispute)),
			}
		}
		for (step, dispute) in free {
			let (job, defendant) = (dispute.defendant.job(), dispute.defendant);
			let is_due = running < AT_ONCE && !busy.contains(&defendant);
			let Some(view) = jobs.get(&job).filter(|_| is_due) else { continue };
			let (Some(subject), Some(files)) =
				(Subject::of(view, &defendant), files(view, dispute))
			else {
				continue;
			};
			let work = self.table.clone().carry_out(step, defendant, subject, files);
			if tasks.start(key(job, Work::Move(step)), work) {
				busy.insert(defendant);
				running += 1;
			}
		}
		let of = |id| court_of(jobs.get(&id)?);
		for (name, act) in self.accusations.due(court, &seen, of).await? {
			let Some(job) = self.accusations.job_of(&name) else { continue };
			let work = Work::Accuse(name, act);
			due.work.push((job, work));
			let (table, accusations) = (self.table.clone(), self.accusations.clone());
			let now = seen.now;
			tasks.start(key(job, work), async move {
				Ok(accusations.carry_out(&table.court, &name, act, &now).await?)
			});
		}
		if seen.now.height % TIDY == 0 {
			self.tidy(|job| jobs.contains_key(&job) || due.jobs.contains(&job), seen.now.height)?;
		}
		Ok(due)
	}

	/// Removes what is kept of jobs that are over for long.
	fn tidy(
		&mut self,
		is_active: impl Fn(JobId) -> bool,
		height: BlockNumber,
	) -> Result<(), StoreError> {
		let kept = kept(self.table.disputes.folder())?;
		let over: BTreeSet<JobId> =
			kept.iter().map(|(job, _)| *job).filter(|job| !is_active(*job)).collect();
		let gone: BTreeSet<JobId> = self.unused.note(over, height, GRACE).into_iter().collect();
		if gone.is_empty() {
			return Ok(());
		}
		self.accusations.forget(|job| !gone.contains(&job))?;
		for (_, path) in kept.iter().filter(|(job, path)| gone.contains(job) && path.is_dir()) {
			std::fs::remove_dir_all(path).map_err(files::at("remove", path))?;
		}
		Ok(())
	}
}

impl<C: Courtroom + 'static> Table<C> {
	async fn carry_out(
		self: Arc<Self>,
		step: Step,
		defendant: Defendant,
		subject: Subject,
		files: Files,
	) -> Outcome {
		let this = self.clone();
		let open = move || this.recorders.open(&defendant, &subject, &files);
		match self.disputes.carry_out(&self.court, step, open).await {
			Ok(Done::Moved | Done::Overtaken) => Ok(()),
			Err(error) => Err(error.into()),
		}
	}
}

/// Returns what the chain says about challenges to results of a job; `None` for one that has no seed, or
/// that this program cannot read.
fn court_of(job: &JobView) -> Option<Court> {
	let spec = job.spec.clone().check().ok()?;
	let deposit = fees::challenge_deposit(&spec, &Parts::of(&spec), job.compute_per_ut)?;
	Some(Court { seed: job.seed?, open: is_open(job), deposit })
}

/// Returns whether results of a job can be challenged: they stand, or were accepted so short a time ago
/// that late proof is taken.
pub fn is_open(job: &JobView) -> bool {
	let stands = |audit: &AuditView| matches!(audit.phase, AuditPhase::Standing { .. });
	let is_late = job.late.as_ref().is_some_and(|late| late.open);
	is_late || job.audit.as_ref().is_some_and(stands)
}

/// Returns what is kept in the folder of disputes, each with its job.
fn kept(folder: &Path) -> Result<Vec<(JobId, PathBuf)>, StoreError> {
	let mut found = Vec::new();
	let mut read = |folder: &Path, job: &dyn Fn(&Path, &str) -> Option<JobId>| {
		if !folder.exists() {
			return Ok(());
		}
		let entries = std::fs::read_dir(folder).map_err(files::at("read the folder", folder))?;
		for entry in entries {
			let path = entry.map_err(files::at("read the folder", folder))?.path();
			let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
			if let Some(job) = name.and_then(|name| job(&path, &name)) {
				found.push((job, path));
			}
		}
		Ok::<_, StoreError>(())
	};
	read(folder, &|path, name| match name.parse::<DisputeId>() {
		Ok(_) => Journal::job_of(path),
		Err(_) => Recorders::job_of(name),
	})?;
	read(&folder.join(accusing::FOLDER), &|_, name| name.split('-').next()?.parse().ok())?;
	Ok(found)
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::fake;
	use trainyard_protocol::job::JobState;

	/// What a challenge deposits goes by the quote of its job, or this account would count on money that the chain
	/// does not take, or lack what it takes.
	#[test]
	fn a_challenge_costs_what_the_job_was_quoted() {
		let with = |compute_per_ut| {
			let seed = Some(H256::zero());
			JobView { seed, compute_per_ut, ..fake::job(JobState::Auditing) }
		};
		let deposit = |compute| court_of(&with(compute)).unwrap().deposit - fees::CHALLENGE_BASE;
		let most = deposit(fees::COMPUTE_PRICE);
		assert!(most > 0 && deposit(fees::COMPUTE_PRICE / 100).abs_diff(most / 100) <= 1);
		assert_eq!(deposit(0), 0);
		assert!(court_of(&JobView { seed: None, ..with(1) }).is_none(), "nothing was drawn");
	}
}
