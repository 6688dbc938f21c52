//! The single steps of a job. Each can be repeated at any time: what is done already is
//! seen on chain or on disk.

use super::{
	locked,
	reconcile::{digest, hashes},
	thinned,
	training::Trained,
	Trainer, Window, NAME,
};
use crate::roles::{
	checked,
	common::files::{fetch, fetch_in_turn, servers},
	display,
	job::Job,
	machine::{Class, Need},
	plan::{self, replica_of, Action},
	store::{Committed, JobRecord, Salt},
	tasks::{stopped, Outcome, TaskError},
};
use futures::{stream, StreamExt, TryStreamExt};
use serde_json::json;
use std::{
	sync::{atomic::AtomicBool, Arc},
	time::{Duration, Instant},
};
use trainyard_client::{
	amount,
	blobs::{self, store_chunks},
	calls, AccountId32, Head, JobView,
};
use trainyard_proof::{
	bundle::{self, files, Bundle},
	inputs::Inputs,
	train::{self, Budget, RehearsalError},
	verify,
};
use trainyard_protocol::{
	audit::AuditPhase,
	blob::Chunked,
	commitment, forced,
	job::{JobState, Reveal, WorkResult},
	pieces::{Answer, Answers, Piece, MAX_ANSWERS},
	JobId, H256,
};

/// The limits of the rehearsal of a job, before the deposit depends on its training.
const REHEARSAL: Budget = Budget { steps: 200, time: Duration::from_secs(2) };

/// Blobs of a rescue that are stored at once.
const AT_ONCE: usize = 16;

/// Returns whether `me` has nothing to lose by leaving `job` alone. Who has applied goes on asking
/// for files that seem to be gone.
fn may_leave(job: &JobView, me: &AccountId32) -> bool {
	job.state == JobState::Open && !job.applicants.contains(me)
}

/// Returns the job's seed. Steps that need it are planned once it is there.
pub(super) fn seed_of(job: &JobView) -> Result<H256, TaskError> {
	job.seed.ok_or_else(|| TaskError::failed("the job has no seed yet"))
}

/// Returns the result of this group of which seats lack something, and what, where the job has this
/// seed still.
fn asked(job: &JobView, seed: H256, group: u32) -> Option<(WorkResult, Vec<Piece>)> {
	let audit = job.audit.as_ref().filter(|_| job.seed == Some(seed))?;
	let asks = matches!(audit.phase, AuditPhase::Rescue { .. });
	let group = audit.groups.get(group as usize).filter(|group| asks && !group.asked.is_empty());
	group.map(|group| (group.result, group.asked.clone()))
}

/// Returns what was committed.
fn committed(record: JobRecord) -> Result<Committed, TaskError> {
	record.committed.ok_or_else(|| TaskError::failed("nothing was committed"))
}

impl Trainer {
	/// Does one step that was planned at the block `head`. What it sends answers what was seen there
	/// (a job, a seed, a draw), so it is valid only on chains that have this block.
	pub(super) async fn act(
		self: Arc<Self>,
		job: Arc<Job>,
		action: Action,
		head: Head,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		match action {
			Action::Fetch => self.fetch(&job, &stop).await,
			Action::Apply => self.apply(&job, head).await,
			Action::Rehearse => self.rehearse(&job, stop).await,
			Action::Train => self.train(&job, head, stop).await,
			Action::Commit => self.commit(&job, head).await,
			Action::Reveal => self.reveal(&job, head).await,
			Action::Store => self.store(&job).await,
			Action::Rescue(group) => self.rescue(&job, group).await,
			Action::Open => self.open_forced(&job, head).await,
			Action::Doubt(relay) => self.doubt(&job, relay, head).await,
			Action::Sample(relay) => self.sample(&job, relay, head, stop).await,
			Action::Poke => {
				self.sender.run(&calls::poke(job.id).on(head)).await?;
				Ok(())
			}
			Action::Bet => self.bet(&job, head).await,
			Action::Compare(group) => self.compare(&job, group, stop).await,
			Action::Reclaim => Err(TaskError::failed("deposits are reclaimed blob by blob")),
			Action::Dispute(_) => Err(TaskError::failed("disputes have tasks of their own")),
		}
	}

	async fn fetch(&self, job: &Job, stop: &AtomicBool) -> Outcome {
		// A slow server must not keep other jobs' files away for long.
		let patience = (job.state == JobState::Open)
			.then(|| self.block_time.saturating_mul(job.terms.apply_blocks));
		let (servers, spec) = (servers(job), job.checked()?);
		let fetching = async {
			// What this trainer applied for does not wait until the files of others were read.
			match may_leave(job, self.me()) {
				true => fetch_in_turn(&self.fetcher, &self.home, spec, &servers, patience).await,
				false => fetch(&self.fetcher, &self.home, spec, &servers, patience).await,
			}
		};
		let fetched = tokio::select! {
			fetched = fetching => fetched,
			// The job is gone, or does not want this trainer any more.
			() = stopped(stop) => return Err(TaskError::Stopped),
		};
		fetched.map_err(|error| {
			if error.is_hopeless() && may_leave(job, self.me()) {
				self.give_up(job, error.to_string())
			} else {
				error.into()
			}
		})?;
		self.data().extend(hashes(spec));
		let bytes = spec.file_bytes();
		let text = format!("data are here and as declared ({bytes} bytes)");
		self.report.job(job.id, "data", &text, json!({ "bytes": bytes }));
		Ok(())
	}

	/// Remembers what is wrong with a job for as long as this process lives.
	fn give_up(&self, job: &JobView, reason: String) -> TaskError {
		self.bad().insert(digest(&job.spec), reason.clone());
		TaskError::Hopeless(reason)
	}

	async fn rehearse(self: &Arc<Self>, job: &Job, stop: Arc<AtomicBool>) -> Outcome {
		let (this, spec) = (self.clone(), job.checked()?.clone());
		let (need, what) =
			(Need::by(Class::Paid, job.deadline), format!("the rehearsal of job {}", job.id));
		let _lease = self.machine.lease_until(NAME, &what, need, false, &stop).await?;
		let rehearsed = tokio::task::spawn_blocking(move || {
			train::rehearse(&spec, &this.home.inputs(&spec), REHEARSAL, &stop)
		})
		.await?;
		match rehearsed {
			Ok(steps) => {
				self.rehearsed().insert(digest(&job.spec), ());
				let text = format!("training holds for {steps} steps of a rehearsal");
				self.report.job(job.id, "rehearsed", &text, json!({ "steps": steps }));
				Ok(())
			}
			Err(e @ RehearsalError::Diverged { .. }) => Err(self.give_up(job, e.to_string())),
			// The files are here for another job, and do not fit this one.
			Err(RehearsalError::Input(e)) if !e.is_local() => Err(self.give_up(job, e.to_string())),
			Err(e) => Err(e.into()),
		}
	}

	async fn apply(&self, job: &JobView, head: Head) -> Outcome {
		let digest = commitment::job(&job.spec, &job.terms);
		let forced = forced::commitment(&self.secret(job));
		self.sender.run(&calls::apply(job.id, &digest, &forced).on(head)).await?;
		let price = plan::price(job);
		let text = format!(
			"applied: {} for a deposit of {}",
			amount::format(price),
			amount::format(job.deposit)
		);
		let fields = json!({ "price": price.to_string(), "deposit": job.deposit.to_string() });
		self.report.job(job.id, "applied", &text, fields);
		Ok(())
	}

	async fn train(self: &Arc<Self>, job: &Arc<Job>, head: Head, stop: Arc<AtomicBool>) -> Outcome {
		let seed = seed_of(job)?;
		let id = job.id;
		let (need, what) =
			(Need::by(Class::Duty, job.deadline), format!("the training of job {id}"));
		let lease = self.machine.lease_until(NAME, &what, need, true, &stop).await?;
		let mut training = self.training(job, job.checked()?.clone(), seed, stop);
		training.lease = lease;
		let (this, of) = (self.clone(), job.clone());
		let begun = Instant::now();
		let trained =
			tokio::task::spawn_blocking(move || training.run(|| this.time_to_check(&of, head)));
		let Trained { result, accuracy, stops_early, begun_at, flop, rested } = trained.await??;
		let took = begun.elapsed().saturating_sub(rested);
		let seconds = took.as_secs_f64();
		self.report.metrics().ran(flop, took);
		self.update(id, &seed, |record| {
			record.result = Some(result);
			record.seconds += seconds;
		})?;
		let all = job.spec.segments();
		let stopped = match stops_early {
			_ if result.diverged => {
				format!(", diverged after {} of {all} segments", result.segments)
			}
			true => format!(", stopped early after {} of {all} segments", result.segments),
			false => String::new(),
		};
		let text = format!(
			"trained in {seconds:.1} s{stopped}, validation accuracy {:.2} %, bundle root {:?}",
			accuracy.unwrap_or(0.0) * 100.0,
			result.bundle_root
		);
		let fields = json!({
			"seconds": seconds, "from_step": begun_at, "accuracy": accuracy,
			"segments": result.segments, "stops_early": stops_early, "diverged": result.diverged,
			"bundle_root": result.bundle_root, "model_root": result.model_root,
			"folder": self.home.bundle_folder(id, &seed),
		});
		self.report.job(id, "trained", &text, fields);
		Ok(())
	}

	/// Returns the record of a job under the seed that it has now.
	pub(super) fn record(&self, job: JobId, seed: H256) -> Result<JobRecord, TaskError> {
		let missing = || TaskError::failed("the job has no record under this seed");
		self.records().get(&(job, seed)).cloned().ok_or_else(missing)
	}

	/// Returns the commitment of this trainer that is on chain.
	pub(super) fn committed(&self, job: &JobView) -> Option<H256> {
		replica_of(job, self.me())?.commitment
	}

	/// Returns the commitment that `record` can reveal, if it has one.
	pub(super) fn commitment(&self, record: &JobRecord) -> Option<H256> {
		let Committed { result, salt } = record.committed.as_ref()?;
		Some(commitment::result(&self.chain.genesis(), record.job, self.me(), result, &salt.0))
	}

	async fn commit(&self, job: &JobView, head: Head) -> Outcome {
		let seed = seed_of(job)?;
		// The salt is on disk before anything is sent.
		let record = self.update(job.id, &seed, |record| {
			if let Some(result) = record.result {
				if record.committed.as_ref().is_none_or(|c| c.result != result) {
					record.committed = Some(Committed { result, salt: Salt::random() });
				}
			}
		})?;
		let commitment =
			self.commitment(&record).ok_or_else(|| TaskError::failed("there is no result yet"))?;
		self.sender.run(&calls::commit_result(job.id, &commitment).on(head)).await?;
		self.replaced.note(&self.report, job.id, self.committed(job));
		self.report.job(job.id, "committed", "committed", json!({ "commitment": commitment }));
		Ok(())
	}

	async fn reveal(&self, job: &JobView, head: Head) -> Outcome {
		let seed = seed_of(job)?;
		let record = self.record(job.id, seed)?;
		let Committed { result, salt } = committed(record)?;
		let reveal = Reveal {
			bundle_root: result.bundle_root,
			true_root: result.true_root,
			model_root: result.model_root,
			segments: result.segments,
			diverged: result.diverged,
			location: self.location.clone(),
		};
		self.sender.run(&calls::reveal_result(job.id, &reveal, &salt.0).on(head)).await?;
		let text = format!("revealed, served at {}", self.location);
		self.report.job(job.id, "revealed", &text, json!({ "location": self.location }));
		Ok(())
	}

	/// Opens the leaves that this trainer forced to be false.
	async fn open_forced(&self, job: &JobView, head: Head) -> Outcome {
		let seed = seed_of(job)?;
		let (folder, secret) = (self.home.bundle_folder(job.id, &seed), self.secret(job));
		let opened = tokio::task::spawn_blocking(move || {
			Bundle::open(&folder)?.opening(&secret).ok_or_else(|| {
				TaskError::failed("the bundle has too few checkpoints for its forced leaves")
			})
		});
		let opening = opened.await??;
		let call = calls::open_forced(job.id, &self.secret(job), &opening);
		self.sender.run(&call.on(head)).await?;
		let leaves: Vec<u32> = opening.leaves.iter().map(|leaf| leaf.step).collect();
		let text = format!("opened the forced leaves after steps {leaves:?}");
		self.report.job(job.id, "opened", &text, json!({ "steps": leaves }));
		Ok(())
	}

	async fn store(&self, job: &JobView) -> Outcome {
		let seed = seed_of(job)?;
		let record = self.record(job.id, seed)?;
		let expected = committed(record)?.result.model_root;
		let path = self.home.bundle_folder(job.id, &seed).join(bundle::MODEL_FILE);
		let bytes = files::read(&path, u64::MAX - 1)?;
		let root = Chunked::new(&bytes).root;
		if root != expected {
			let text = format!("{} is not the model that was committed", path.display());
			return Err(TaskError::Failed(text));
		}
		self.note_blob(root, job.id)?;
		let stored = blobs::store(&self.sender, &bytes).await;
		stored.map_err(|e| TaskError::from(e).about("storing the model"))?;
		let text = format!("model stored on chain ({} bytes)", bytes.len());
		self.report.job(job.id, "stored", &text, json!({ "root": root, "bytes": bytes.len() }));
		Ok(())
	}

	/// Answers with what seats lack of a result of this trainer, once in each window.
	async fn rescue(self: &Arc<Self>, job: &JobView, group: u32) -> Outcome {
		let seed = seed_of(job)?;
		let audit =
			job.audit.as_ref().ok_or_else(|| TaskError::failed("the job is not audited"))?;
		let folder = self.home.bundle_folder(job.id, &seed);
		let view = audit.groups.get(group as usize);
		let view = view.ok_or_else(|| TaskError::failed("there is no such result"))?;
		let pieces = view.asked.clone();
		let window = window(job.id, audit.round, &pieces);
		let is_there = |root: &H256| view.rescued.iter().any(|stored| stored.blob == *root);
		let before = locked(&self.rescued).get(&window).cloned();
		if before.is_some_and(|roots| roots.iter().all(is_there)) {
			return Ok(());
		}
		let text = format!("verifiers lack {} of the result: storing it", display::pieces(&pieces));
		self.report.job(job.id, "rescue", &text, json!({ "group": group, "pieces": pieces }));
		let (spec, wanted, this) = (checked(job)?, pieces.clone(), self.clone());
		let steps = thinned::steps_of(job, &pieces);
		// Seats that go on asking would otherwise take the folder again and again.
		let first = self.shelf.dropped().own_first();
		let prepared = tokio::task::spawn_blocking(move || {
			let _first = first;
			let paths = this.home.inputs(&spec);
			// What is not kept is computed for this alone.
			let (new, _) = thinned::restored(&folder, &paths, &steps, &AtomicBool::new(false))?;
			let inputs = || Ok(Inputs::load(&spec, &paths)?);
			let prepared = verify::answers(&folder, &spec, &wanted, inputs);
			thinned::remove(&new);
			Ok::<_, TaskError>(prepared?)
		});
		let prepared = prepared.await??;
		// Parts of the leaves are too long to come together.
		let (leaves, others): (Vec<_>, Vec<_>) =
			prepared.into_iter().partition(|prepared| matches!(prepared.answer, Answer::Leaves(_)));
		for part in leaves {
			self.answer(job.id, group, vec![part.answer]).await?;
		}
		let said: Vec<Answer> = others.iter().map(|prepared| prepared.answer.clone()).collect();
		let blobs: Vec<_> = others.into_iter().flat_map(|prepared| prepared.blobs).collect();
		let mut roots = Vec::new();
		for (bytes, _) in &blobs {
			let root = Chunked::new(bytes).root;
			self.note_blob(root, job.id)?;
			roots.push(root);
		}
		// Blocks keep room for the chunks of what was announced.
		self.answer(job.id, group, said.clone()).await?;
		// One after the other, each would wait for blocks of its own, and a window has few.
		let blobs = Arc::new(blobs);
		let storing = stream::iter(0..blobs.len()).map(|at| {
			let (this, blobs) = (self.clone(), blobs.clone());
			async move {
				let (bytes, chunks) = &blobs[at];
				let stored = store_chunks(&this.sender, bytes, chunks.clone()).await;
				stored.map_err(|e| TaskError::from(e).about("storing what verifiers lack"))
			}
		});
		let _: Vec<H256> = storing.buffer_unordered(AT_ONCE).try_collect().await?;
		// Storing may have taken more blocks than a transaction lives from the head of this look.
		let now = self.chain.job(job.id).await?;
		let now = now.as_ref().and_then(|now| asked(now, seed, group));
		if now != Some((view.result, pieces)) {
			return Err(TaskError::failed("nobody asks for this rescue any more"));
		}
		self.answer(job.id, group, said).await?;
		let bytes: usize = blobs.iter().map(|(bytes, _)| bytes.len()).sum();
		let text = format!("rescued: {bytes} bytes on chain");
		let fields = json!({ "group": group, "roots": roots, "bytes": bytes });
		locked(&self.rescued).insert(window, roots);
		self.report.job(job.id, "rescued", &text, fields);
		Ok(())
	}

	/// Gives these answers. What was counted already is no error: this trainer may have started again,
	/// or another one of the same result was faster.
	async fn answer(&self, job: JobId, group: u32, answers: Vec<Answer>) -> Outcome {
		for answers in in_calls(answers) {
			let head = self.chain.head().await?;
			match self.sender.run(&calls::rescue(job, group, &answers).on(head)).await {
				Err(e) if e.failed_with("Verification::AlreadyRescued") => {}
				given => given.map(drop)?,
			}
		}
		Ok(())
	}
}

/// Returns these answers in as many calls as they need: several seats can ask for more than one call answers.
fn in_calls(answers: Vec<Answer>) -> impl Iterator<Item = Answers> {
	let mut left = answers.into_iter();
	std::iter::from_fn(move || {
		let some: Vec<Answer> = left.by_ref().take(MAX_ANSWERS as usize).collect();
		(!some.is_empty()).then(|| Answers::truncate_from(some))
	})
}

/// What a rescue is remembered by: after two results passed, the same pieces may be asked for of other
/// segments.
fn window(job: JobId, round: u32, pieces: &[Piece]) -> Window {
	(job, round, pieces.to_vec())
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::{fake, GroupView, RescuedView};

	#[test]
	fn only_a_job_without_an_application_is_left_alone() {
		let me = AccountId32([1; 32]);
		let open = fake::job(JobState::Open);
		assert!(may_leave(&open, &me));
		let applied = JobView { applicants: vec![me], ..open };
		assert!(!may_leave(&applied, &me));
		assert!(may_leave(&applied, &AccountId32([2; 32])));
		assert!(!may_leave(&fake::job(JobState::Training), &me));
	}

	#[test]
	fn what_is_too_much_for_a_call_comes_in_several() {
		let answer = |from: u32| Answer::Rows { from, to: from + 1, contents: [H256::zero(); 4] };
		for (count, calls) in [(0, vec![]), (68, vec![68]), (195, vec![68, 68, 59])] {
			let all: Vec<Answer> = (0..count).map(answer).collect();
			let some: Vec<Answers> = in_calls(all.clone()).collect();
			assert_eq!(some.iter().map(|call| call.len()).collect::<Vec<_>>(), calls);
			assert_eq!(some.into_iter().flatten().collect::<Vec<_>>(), all);
		}
	}

	#[test]
	fn what_is_asked_for_after_another_draw_is_stored_again() {
		let pieces = [Piece::Leaves];
		let stored = window(7, 0, &pieces);
		assert_eq!(window(7, 0, &pieces), stored);
		assert_ne!(window(7, 1, &pieces), stored, "of other segments");
		assert_ne!(window(8, 0, &pieces), stored);
		let rows = Piece::Rows { from: 0, to: 9 };
		assert_ne!(window(7, 0, &[rows]), stored);
	}

	#[test]
	fn a_rescue_answers_the_group_that_asks() {
		let (seed, other) = (H256::repeat_byte(1), H256::repeat_byte(2));
		let result = WorkResult {
			bundle_root: seed,
			true_root: seed,
			model_root: other,
			segments: 3,
			diverged: false,
		};
		let files = vec![Piece::Leaves];
		let group = |asked| {
			let rescued = vec![RescuedView { piece: Piece::State(1), blob: other }];
			GroupView { asked, rescued, ..fake::group(result) }
		};
		let job = |phase, asked| {
			let groups = vec![group(vec![]), group(asked)];
			let audit = Some(fake::audit(phase, groups));
			JobView { audit, seed: Some(seed), ..fake::job(JobState::Auditing) }
		};
		let rescue = AuditPhase::Rescue { until: 9 };
		let wanted = Some((result, files.clone()));
		assert_eq!(asked(&job(rescue, files.clone()), seed, 1), wanted);
		assert_eq!(asked(&job(rescue, files.clone()), other, 1), None, "a different seed");
		assert_eq!(asked(&job(rescue, vec![]), seed, 1), None, "nobody lacks anything");
		assert_eq!(asked(&job(rescue, files.clone()), seed, 2), None, "no such group");
		assert_eq!(asked(&job(AuditPhase::Done, files), seed, 1), None);
	}
}
