//! Looks at the chain once: gathers what is known of every job, and starts steps.

use super::{locked, outcome::End, slots, Key, Records, Reported, Trainer, NAME};
use crate::roles::{
	blocks::LookError,
	common::lost,
	display,
	disputes::driver::{Driver, Work},
	job::Job,
	plan::{self, plan, replica_of, Action, Known, Plan, Standing},
	store::{JobRecord, StoreError},
	tasks::Tasks,
};
use codec::Encode;
use serde_json::json;
use std::{
	collections::{HashMap, HashSet},
	fmt::Display,
	sync::Arc,
};
use trainyard_client::{amount, ChainError, Head, JobView, Transactor};
use trainyard_program::spec::JobSpec;
use trainyard_proof::hash;
use trainyard_protocol::{
	fees,
	job::{Fate, JobState},
	JobId, H256,
};

/// Rehearsals at once.
const MAX_REHEARSALS: usize = 1;

/// Returns what identifies a job if its number says too little: the same number may be a different
/// job after a reorganisation, and the same job may be posted again.
pub(super) fn digest(spec: &JobSpec) -> H256 {
	hash::blake2_256(&spec.encode())
}

/// Returns the content hashes of the files that a job reads.
pub(super) fn hashes(spec: &JobSpec) -> impl Iterator<Item = H256> + '_ {
	spec.files().map(|(_, file)| file.content_hash)
}

/// What one look gathers before anything is started.
#[derive(Default)]
pub(super) struct Gathered {
	/// What is planned.
	pub steps: Vec<(Arc<Job>, Plan)>,
	/// Files of jobs that must not be evicted.
	pub keep: HashSet<H256>,
	/// What may go on running.
	pub wanted: HashSet<Key>,
}

impl Trainer {
	/// Looks at all jobs once: starts what is missing, and stops what is not wanted any more.
	pub(super) async fn look(
		self: &Arc<Self>,
		tasks: &mut Tasks<Key>,
		driver: &mut Driver<Arc<Transactor>>,
		reported: &mut Reported,
		head: Head,
	) -> Result<(), LookError> {
		let mut jobs = self.jobs(head, reported).await?;
		// What pays best is taken first.
		jobs.sort_by_cached_key(|job| plan::by_pay(job, &self.limits, &self.prices));
		// First of all: a clock may run.
		let disputes = self.look_at_disputes(driver, &jobs, tasks, reported).await?;
		let stored = self.stored(&jobs).await?;
		let (mut standing, reserved) = self.standing(&jobs, &stored, tasks, head).await?;
		self.remove_old_seeds(&jobs, head);
		reported.retain(&jobs);
		locked(&self.bets).retain(|id| jobs.iter().any(|job| job.id == id));
		standing.disputed = disputes.work.iter().any(|(_, work)| matches!(work, Work::Move(_)));
		let relays = self.look_at_relays(&jobs, reported, head).await?;
		let mut gathered = Gathered::default();
		gathered.wanted.extend(disputes.work.iter().map(|(job, work)| dispute_key(*job, *work)));
		let (mut bundles, mut blobs, mut thinned) =
			(HashMap::new(), HashMap::new(), HashMap::new());
		for job in jobs {
			if job.state == JobState::Open && is_applying(tasks, job.id) {
				gathered.keep.extend(hashes(&job.spec));
				gathered.wanted.extend(tasks.running().filter(|key| key.0 == job.id));
				continue;
			}
			let known_stored = stored.contains(&job.id);
			let disputed = disputes.jobs.contains(&job.id);
			let mut plan = match self.consider(&job, known_stored, disputed, &standing, reported) {
				Ok(plan) => plan,
				// This job's files are broken: the others go on.
				Err(e) => {
					self.report_problem(reported, Some(job.id), &e);
					gathered.keep.extend(hashes(&job.spec));
					gathered.wanted.extend(tasks.running().filter(|key| key.0 == job.id));
					continue;
				}
			};
			reported.problems.remove(&Some(job.id));
			if plan.finished {
				continue;
			}
			if plan.serve_bundle {
				let due = relays.iter().filter(|(of, _)| *of == job.id);
				plan.actions.extend(due.map(|(_, action)| *action));
			}
			if plan.serve_data || !plan.actions.is_empty() {
				gathered.keep.extend(hashes(&job.spec));
			}
			if plan.serve_data {
				let here = self.data();
				let served = hashes(&job.spec).filter(|hash| here.contains(hash));
				blobs.extend(served.map(|hash| (hash, self.home.data(&hash))));
			}
			if let Some(reveal) = replica_of(&job, self.me()).and_then(|r| r.reveal.as_ref()) {
				if let (true, Some(seed)) = (plan.serve_bundle, job.seed) {
					let folder = self.home.bundle_folder(job.id, &seed);
					// Its states are those of all trainers of this result.
					if let Some(of) = self.thinned(&job, reveal, &seed) {
						thinned.insert(reveal.true_root, of.clone());
						thinned.insert(reveal.bundle_root, of);
					}
					bundles.insert(reveal.true_root, folder.clone());
					bundles.insert(reveal.bundle_root, folder);
				}
			}
			gathered.wanted.extend(plan.actions.iter().map(|action| key(&job, *action)));
			if plan.actions.contains(&Action::Apply) {
				// What the next job may still count on.
				let Ok(needs) = job.needs() else { continue };
				let cost = job
					.deposit
					.saturating_add(standing.prices.job(needs))
					.saturating_add(standing.prices.rescue(needs));
				standing.busy += 1;
				standing.training += 1;
				standing.free = standing.free.saturating_sub(cost);
				standing.memory_taken = standing.memory_taken.saturating_add(needs.memory);
				standing.disk = standing.disk.saturating_sub(needs.disk);
			}
			gathered.steps.push((Arc::new(job), plan));
		}
		self.shelf.dropped().set(thinned);
		self.shelf.set(bundles, blobs);
		self.carry_out(tasks, reported, gathered, reserved, head);
		Ok(())
	}

	/// Stops what is not wanted any more, and starts what was planned.
	pub(super) fn carry_out(
		self: &Arc<Self>,
		tasks: &mut Tasks<Key>,
		reported: &mut Reported,
		gathered: Gathered,
		reserved: u64,
		head: Head,
	) {
		// A replica may be lost meanwhile, the job may have a different seed, or be gone.
		tasks.stop_unless(|key| gathered.wanted.contains(key));
		match self.make_room(&gathered, reserved) {
			Ok(()) => {
				reported.problems.remove(&None);
			}
			Err(e) => self.report_problem(reported, None, &e),
		}
		self.begin(tasks, gathered, head);
	}

	/// Starts the steps that were planned.
	fn begin(self: &Arc<Self>, tasks: &mut Tasks<Key>, gathered: Gathered, head: Head) {
		let is_here = |job: &Job| hashes(&job.spec).all(|hash| self.home.data(&hash).exists());
		let turns = slots::turns(&gathered.steps, tasks, &mut locked(&self.queue), is_here);
		tasks.stop_unless(|key| turns.over.as_ref() != Some(key));
		for (job, plan) in gathered.steps {
			for action in plan.actions {
				let running = |tasks: &Tasks<Key>| {
					tasks.running().filter(|(.., running)| *running == action).count()
				};
				let may = match action {
					Action::Fetch if !plan.involved => turns.granted.contains(&job.id),
					Action::Rehearse => running(tasks) < MAX_REHEARSALS,
					_ => true,
				};
				if may {
					tasks.start_with(key(&job, action), |stop| {
						self.clone().act(job.clone(), action, head, stop)
					});
				}
			}
		}
	}

	/// Decides what to do about one job.
	fn consider(
		&self,
		job: &Job,
		stored: bool,
		disputed: bool,
		standing: &Standing,
		reported: &mut Reported,
	) -> Result<Plan, StoreError> {
		let record = self.record_of(job)?;
		let digest = digest(&job.spec);
		let bad = self.bad().get(&digest).cloned();
		let here = |hash| self.data().contains(&hash);
		let ours = record.as_ref().and_then(|record| self.commitment(record));
		let compared = self.accuses.then(|| self.compared(job));
		let known = Known {
			record: record.as_ref(),
			data: hashes(&job.spec).all(here),
			rehearsed: self.rehearsed().contains(&digest),
			commitment: ours,
			replaced: self.replaced.is_enough(self.committed(job)),
			stored,
			bad: bad.as_deref(),
			compared: compared.as_ref(),
			disputed,
			bet_due: locked(&self.bets).is_due(job, standing.best),
		};
		let plan = plan(job, self.me(), &known, &self.limits, standing);
		self.report_changes(reported, job, &plan);
		if lost::result_is_lost(job, self.me(), ours) && reported.lost.insert(job.id) {
			lost::report_result(&self.report, job);
		}
		if let (Some(record), Some(seed)) = (&record, job.seed) {
			let ended = matches!(job.state, JobState::Ended(_));
			if ended != record.ended.is_some() {
				// A reorganisation may also bring a job back to life.
				self.update(job.id, &seed, |r| r.ended = ended.then_some(standing.best))?;
				// Once for a job: that it ended is on disk now.
				if let (true, Some(end)) = (ended, End::of(job, self.me())) {
					end.count(self.report.metrics());
				}
			}
			let revoked = replica_of(job, self.me()).is_some_and(|r| r.fate == Fate::Revoked);
			if revoked != record.revoked {
				self.update(job.id, &seed, |r| r.revoked = revoked)?;
				if let (true, Some(end)) = (revoked, End::of(job, self.me())) {
					self.report_revoked(job);
					if record.ended.is_some() {
						end.count_loss(self.report.metrics());
					}
				}
			}
			if plan.discard {
				self.home.remove_job(job.id, &seed)?;
				let text = "its folder is removed: the time for which it was served is over";
				self.report.job(job.id, "removed", text, json!({}));
			}
		}
		if plan.finished {
			// Records under other seeds stay until their folders go.
			self.records().retain(|(id, seed), _| *id != job.id || job.seed != Some(*seed));
		}
		Ok(plan)
	}

	/// Removes the folders of jobs under seeds that a reorganisation took from them, after the time
	/// for which bundles are served: until then the chain may come back to them.
	fn remove_old_seeds(&self, jobs: &[Job], head: Head) {
		let old = old_seeds(&self.records(), jobs.iter().map(|job| &**job));
		let gone = locked(&self.old_seeds).note(old, head.number, self.limits.grace);
		for (job, seed) in gone {
			// What cannot be removed is tried again after a restart; it must not stop other jobs.
			self.records().remove(&(job, seed));
			let (event, text) = match self.home.remove_job(job, &seed) {
				Ok(()) => (
					"removed",
					"the folder of another seed is removed: the chain did not come back to it"
						.into(),
				),
				Err(e) => ("problem", e.to_string()),
			};
			self.report.job(job, event, &text, json!({ "seed": seed }));
		}
	}

	/// Removes idle data if the quota or the disk has too little room for what must be fetched now.
	/// The jobs at hand have yet to write `reserved` bytes.
	fn make_room(&self, gathered: &Gathered, reserved: u64) -> Result<(), StoreError> {
		let coming = gathered
			.steps
			.iter()
			.filter(|(_, plan)| plan.actions.contains(&Action::Fetch))
			.filter_map(|(job, _)| Some(job.needs().ok()?.disk))
			.fold(0, u64::saturating_add);
		if coming == 0 {
			return Ok(());
		}
		let coming = coming.saturating_add(reserved);
		let made = self.quota.make_room(&self.home, &gathered.keep, coming)?;
		let mut here = self.data();
		made.removed.iter().for_each(|hash| {
			here.remove(hash);
		});
		Ok(())
	}

	/// Returns the state of the trainer, and the bytes that the jobs at hand have yet to write.
	/// What is only needed to judge open jobs is asked only if there are some.
	async fn standing(
		&self,
		jobs: &[Job],
		stored: &HashSet<JobId>,
		tasks: &Tasks<Key>,
		head: Head,
	) -> Result<(Standing, u64), LookError> {
		let me = *self.me();
		let mut standing = Standing {
			best: head.number,
			block_time: self.block_time,
			free: 0,
			prices: self.prices,
			busy: 0,
			training: 0,
			memory_taken: 0,
			disk: 0,
			disputed: false,
		};
		let open = |job: &Job| job.state == JobState::Open && !job.applicants.contains(&me);
		let bets = locked(&self.bets).is_on();
		if !jobs.iter().any(open) && !self.machine.is_shared() && !bets {
			return Ok((standing, 0));
		}
		let (mut owed, mut reserved) = (0u128, 0u64);
		let mut keep = HashSet::new();
		for job in jobs {
			let applying = open(job) && is_applying(tasks, job.id);
			let taken = applying
				|| match job.state {
					JobState::Open | JobState::Seeding => job.applicants.contains(&me),
					JobState::Ended(_) => false,
					_ => replica_of(job, &me).is_some_and(|r| r.fate == Fate::Working),
				};
			if replica_of(job, &me).is_some() || taken {
				keep.extend(hashes(&job.spec));
			}
			if !taken {
				continue;
			}
			// Results stand for hours, in which a trainer serves and seldom more.
			if job.state != JobState::Auditing {
				standing.busy += 1;
			}
			let Ok(needs) = job.needs() else { continue };
			let record = job.seed.and_then(|seed| self.records().get(&(job.id, seed)).cloned());
			if record.is_none_or(|record| record.result.is_none()) {
				standing.training += 1;
				standing.memory_taken = standing.memory_taken.saturating_add(needs.memory);
			}
			if applying {
				owed = owed.saturating_add(job.deposit);
			}
			// After the reveals the model is on chain, and its deposit is held.
			if !stored.contains(&job.id) && job.state != JobState::Auditing {
				owed = owed.saturating_add(self.prices.job(needs));
			}
			// Of each of them seats may ask for everything until the audit ends.
			owed = owed.saturating_add(self.prices.rescue(needs));
			let written = match job.seed {
				Some(seed) => self.home.written(job.id, &seed)?,
				None => 0,
			};
			reserved = reserved.saturating_add(needs.disk.saturating_sub(written));
		}
		// What other roles of this machine have of the memory, and what they must compute first.
		self.machine.promise_memory(NAME, standing.memory_taken);
		let beside = self.machine.memory_beside(NAME);
		standing.memory_taken = standing.memory_taken.saturating_add(beside);
		standing.training += self.machine.duties_beside(NAME);
		locked(&self.bets).owes(owed);
		standing.free = self.chain.account(&me).await?.free.saturating_sub(owed);
		let left = self.quota.left(&self.home)?;
		let idle = self.home.idle_data(&keep)?;
		standing.disk = left.saturating_add(idle).saturating_sub(reserved);
		Ok((standing, reserved))
	}

	/// Returns the jobs whose model by this trainer is on chain, whole, by the chain's own word: a
	/// model that was stored on a branch that was given up is not.
	async fn stored(&self, jobs: &[Job]) -> Result<HashSet<JobId>, ChainError> {
		let mut stored = HashSet::new();
		for job in jobs.iter().filter(|job| job.state == JobState::Revealing) {
			let record = job.seed.and_then(|seed| self.records().get(&(job.id, seed)).cloned());
			let Some(committed) = record.and_then(|record| record.committed) else { continue };
			let view = self.chain.blob(committed.result.model_root).await?;
			if view.is_some_and(|view| view.missing.is_empty()) {
				stored.insert(job.id);
			}
		}
		Ok(stored)
	}

	/// Returns the jobs on chain that have not ended, and the ended ones that this trainer worked
	/// on.
	async fn jobs(&self, head: Head, reported: &mut Reported) -> Result<Vec<Job>, ChainError> {
		let mut jobs = self.chain.active_jobs(head.hash).await?;
		let known: HashSet<JobId> = self.records().keys().map(|(id, _)| *id).collect();
		for id in known {
			if jobs.iter().any(|job| job.id == id) {
				continue;
			}
			let view = match self.chain.job(id).await {
				Ok(view) => view,
				Err(e) if e.is_connection() || e.is_final() => return Err(e),
				Err(e) => {
					self.report_problem(reported, Some(id), &e);
					continue;
				}
			};
			match view {
				Some(job) => jobs.push(job),
				// The chain forgot it, or it is on a different branch. Its files stay: if it comes
				// back, the salt is needed.
				None => self.records().retain(|(known, _), _| *known != id),
			}
		}
		Ok(jobs.into_iter().map(Job::new).collect())
	}

	/// Returns what is known of a job that this trainer was drawn for; a fresh record if the seed
	/// is new.
	fn record_of(&self, job: &JobView) -> Result<Option<JobRecord>, StoreError> {
		let (Some(seed), Some(_)) = (job.seed, replica_of(job, self.me())) else {
			return Ok(None);
		};
		let mut records = self.records();
		if let Some(record) = records.get(&(job.id, seed)) {
			return Ok(Some(record.clone()));
		}
		let record = match self.home.load_job(job.id, &seed)? {
			Some(record) => record,
			None if matches!(job.state, JobState::Ended(_)) => return Ok(None),
			None => {
				let record = JobRecord::new(job.id, seed, job.spec.dataset.content_hash);
				self.home.save_job(&record)?;
				record
			}
		};
		records.insert((job.id, seed), record.clone());
		Ok(Some(record))
	}

	/// Reports once why a job cannot be looked at, or what is wrong with the folder.
	pub(super) fn report_problem(
		&self,
		reported: &mut Reported,
		job: Option<JobId>,
		problem: &dyn Display,
	) {
		let text = problem.to_string();
		if reported.problems.insert(job, text.clone()).as_ref() == Some(&text) {
			return;
		}
		let fields = json!({ "action": "look", "reason": text });
		match job {
			Some(job) => {
				let line = format!("{text}; other jobs go on");
				self.report.job(job, "failed_attempt", &line, fields);
			}
			None => self.report.general("problem", &text, fields),
		}
	}

	/// Reports changes of state of jobs that this trainer is involved in, and why it does not take
	/// others.
	fn report_changes(&self, reported: &mut Reported, job: &JobView, plan: &Plan) {
		let state = display::state(&job.state);
		let fields = json!({ "state": state });
		if plan.involved || reported.states.contains_key(&job.id) {
			match reported.states.insert(job.id, state) {
				Some(before) if before == state => {}
				Some(before) => {
					let text = format!("{before} -> {state}{}", self.ending(job));
					self.report.job(job.id, "state", &text, fields);
				}
				None => self.report.job(job.id, "state", state, fields),
			}
		}
		if let Some(refusal) = &plan.refusal {
			// The figures in it may change with every block.
			let kind = std::mem::discriminant(refusal);
			if reported.refusals.insert(job.id, kind) != Some(kind) {
				let text = refusal.to_string();
				let reason = json!({ "reason": text });
				self.report.job(job.id, "not_taken", &format!("not taken: {text}"), reason);
			}
		}
		if plan.finished {
			reported.states.remove(&job.id);
			reported.refusals.remove(&job.id);
		}
	}

	/// Reports that a result of this trainer was convicted after it was accepted.
	fn report_revoked(&self, job: &JobView) {
		let lost = fees::locked_for_late_proof(job.deposit);
		let text = format!("its result is {}", display::fate(&Fate::Revoked));
		self.report.job(job.id, "revoked", &text, json!({ "lost": lost.to_string() }));
	}

	fn ending(&self, job: &JobView) -> String {
		match (job.state, replica_of(job, self.me())) {
			(JobState::Ended(_), Some(mine)) if mine.fate == Fate::Accepted => {
				format!(": accepted, paid {}", amount::format(plan::price(job)))
			}
			(JobState::Ended(_), Some(mine)) if mine.fate == Fate::Idle => {
				let paid = amount::format(plan::price(job));
				format!(": accepted, paid {paid}, no power: the training stood still")
			}
			(JobState::Ended(_), Some(mine)) => format!(": {}", display::fate(&mine.fate)),
			(JobState::Ended(_) | JobState::Training, None) => {
				": not drawn, deposit returned".into()
			}
			_ => String::new(),
		}
	}
}

/// Returns the records of `jobs` under seeds that these do not have.
fn old_seeds<'a>(records: &Records, jobs: impl Iterator<Item = &'a JobView>) -> Vec<(JobId, H256)> {
	let has_other = |job: &JobView, seed: &H256| match job.seed {
		Some(now) => now != *seed,
		// A seed may still come back to a job that goes on.
		None => matches!(job.state, JobState::Ended(_)),
	};
	let of = |job: &'a JobView| {
		let seeds = records.range((job.id, H256::zero())..=(job.id, H256::repeat_byte(0xff)));
		seeds.filter(|((_, seed), _)| has_other(job, seed)).map(|(key, _)| *key).collect::<Vec<_>>()
	};
	jobs.flat_map(of).collect()
}

/// Returns what identifies a step of `job`.
pub(super) fn key(job: &JobView, action: Action) -> Key {
	(job.id, job.seed.unwrap_or_else(|| digest(&job.spec)), action)
}

/// Returns what identifies what is done for a dispute. It stands on chain, whatever seed the job has.
pub(super) fn dispute_key(job: JobId, work: Work) -> Key {
	(job, H256::zero(), Action::Dispute(work))
}

/// Returns whether an application is on its way: it may have been sent, and is not on chain yet.
fn is_applying(tasks: &Tasks<Key>, job: JobId) -> bool {
	tasks.running().any(|(id, _, action)| *id == job && *action == Action::Apply)
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::fake;
	use trainyard_protocol::job::Ending;

	#[test]
	fn only_seeds_that_jobs_have_no_longer_are_old() {
		let seed = H256::repeat_byte;
		let of = |id, state, seed| JobView { id, seed, ..fake::job(state) };
		let record = |(id, n)| ((id, seed(n)), JobRecord::new(id, seed(n), H256::zero()));
		let keys = [(1, 1), (1, 2), (1, 0xff), (2, 1), (3, 1), (4, 1)];
		let records: Records = keys.map(record).into();
		let jobs = [
			of(1, JobState::Training, Some(seed(2))),
			of(2, JobState::Open, None),
			of(3, JobState::Ended(Ending::Cancelled), None),
		];
		let old = old_seeds(&records, jobs.iter());
		assert_eq!(old, [(1, seed(1)), (1, seed(0xff)), (3, seed(1))], "job 4 is unknown here");
	}
}
