//! Does what an account owes to tasks on chain: computes, commits, shows, audits and challenges.
//!
//! What it computed is in a folder for each task, so a daemon that was killed goes on; salts follow from the key, so
//! one whose disk is gone computes again and shows what it had committed to.

use super::{
	dispute::{self, Inputs},
	plan::{self, Move, Policy},
};
use crate::{
	roles::{
		machine::{Class, Machine, Need},
		report::Reporter,
		run::Base,
		tasks::{stopped, TaskError as Failure, TaskName},
	},
	task::{
		run::{self, Finished, Options},
		saved, Program, TaskError,
	},
};
use serde_json::json;
use std::{
	collections::{BTreeSet, HashMap},
	path::PathBuf,
	sync::{atomic::AtomicBool, Arc, Mutex, MutexGuard, PoisonError},
	time::{Duration, Instant},
};
use tokio::sync::Semaphore;
use trainyard_client::{
	amount,
	blobs::{self, Cost},
	tasks::{self as calls, TaskView},
	Chain, ChainError, Head, Transactor,
};
use trainyard_protocol::{job::Balance, H256};
use trainyard_task::{
	claim::{commitment, digest, refutation},
	spec::{CHALLENGE_PART, MAX_INLINE},
	views::Phase,
	Claim, File, Form, StateId, TaskId, TaskSpec,
};

impl From<TaskError> for Failure {
	fn from(error: TaskError) -> Self {
		match error {
			TaskError::Stopped { .. } => Self::Stopped,
			other => Self::of(&other),
		}
	}
}

/// Something that is due of a task. The digest of what it asks for and offers is part of it: after a fork another task
/// may have its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Duty {
	/// The task.
	pub task: TaskId,
	/// Its digest.
	pub digest: H256,
	/// What is due.
	pub what: Move,
}

impl Duty {
	/// Returns the name of what is due, in one word.
	pub fn word(&self) -> &'static str {
		match self.what {
			Move::Apply => "apply",
			Move::Compute { .. } => "compute",
			Move::Commit => "commit",
			Move::Reveal => "reveal",
			Move::Store => "store",
			Move::Show { .. } => "show",
			Move::Execute { .. } => "execute",
			Move::Challenge { .. } => "challenge",
		}
	}
}

impl Duty {
	/// Returns its name in reports of failures.
	pub fn name(&self) -> TaskName {
		TaskName::new(self.word()).of(format!("task {}", self.task)).with("task", self.task)
	}
}

impl Settings {
	/// Returns those of a verifier: it computes what it is drawn to audit, and challenges what is false of that.
	pub fn of_auditor(role: &'static str) -> Self {
		let policy = Policy {
			apply: false,
			// What the account applied for is computed by whoever applied.
			replicas: false,
			audits: true,
			check: false,
			challenge: true,
			defend: true,
			min_price: 0,
			max_deposit: 0,
			max_ut: 0,
			max_output: 0,
			at_once: 0,
		};
		Self { policy, reserve: 0, threads: 0, cheat: None, role }
	}
}

/// For how long a task is tried before one applies for it.
const REHEARSAL: Duration = Duration::from_secs(1);

/// Computes a task for a moment, and returns how long all of it takes. `None` where its module is refused.
fn rehearse(spec: TaskSpec, inputs: Inputs, threads: usize) -> Result<Option<Duration>, TaskError> {
	let program = Program::of_task(&spec, &inputs.module, threads)?;
	if program.prepared().is_none() {
		return Ok(None);
	}
	let (all, begun, stop) = (spec.units(), Instant::now(), AtomicBool::new(false));
	let options = Options {
		keep: None,
		states: false,
		cheat: None,
		until: Some(begun + REHEARSAL),
		stop: &stop,
		progress: &mut |_| {},
	};
	let done = match run::run(&program, spec, &inputs.input, options) {
		Ok(_) => return Ok(Some(begun.elapsed())),
		Err(TaskError::Stopped { done, .. }) => done,
		Err(error) => return Err(error),
	};
	Ok(Some(begun.elapsed().mul_f64(f64::from(all) / f64::from(done.max(1)))))
}

/// What was computed of a task.
struct Computed {
	program: Program,
	inputs: Inputs,
	finished: Finished,
	folder: PathBuf,
}

/// How a [`Keeper`] works.
#[derive(Clone, Debug)]
pub struct Settings {
	/// Which tasks it takes part in.
	pub policy: Policy,
	/// Balance that stays free for fees.
	pub reserve: Balance,
	/// Threads for a map; 0 for one for each core.
	pub threads: usize,
	/// For tests of a chain: the step or index whose result is made up.
	pub cheat: Option<u32>,
	/// Under which name it asks for cores.
	pub role: &'static str,
}

/// Does what an account owes to tasks.
pub struct Keeper {
	chain: Arc<Chain>,
	sender: Arc<Transactor>,
	folder: PathBuf,
	report: Reporter,
	machine: Machine,
	settings: Settings,
	results: Mutex<HashMap<(TaskId, H256), Arc<Computed>>>,
	/// Tasks that are over.
	over: Mutex<BTreeSet<TaskId>>,
	/// Whoever computes has it.
	turn: Semaphore,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
	of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Keeper {
	/// Makes one that keeps what it computes in the folder of a role.
	pub fn new(base: &Base, settings: Settings) -> Self {
		Self {
			chain: base.chain.clone(),
			sender: base.sender.clone(),
			folder: base.home.tasks(),
			report: base.report.clone(),
			machine: base.machine.clone(),
			settings,
			results: Mutex::default(),
			over: Mutex::default(),
			turn: Semaphore::new(1),
		}
	}

	fn folder(&self, task: TaskId, digest: &H256) -> PathBuf {
		self.folder.join(format!("{task}-{}", hex::encode(&digest.as_bytes()[..8])))
	}

	fn result(&self, duty: &Duty) -> Result<Arc<Computed>, Failure> {
		let found = locked(&self.results).get(&(duty.task, duty.digest)).cloned();
		found.ok_or_else(|| Failure::failed("its result is not there any more"))
	}

	/// Looks at all tasks, and returns what is due of each.
	pub async fn look(&self, head: Head) -> Result<Vec<(Duty, Arc<TaskView>)>, ChainError> {
		let me = *self.sender.account();
		let views = self.running().await?;
		let busy = views.iter().filter(|view| plan::is_busy(view, &me)).count();
		let mut free = self.settings.policy.at_once.saturating_sub(busy);
		let mut due = Vec::new();
		for view in views {
			let digest = digest(&view.spec, &view.terms);
			let own = locked(&self.results).get(&(view.id, digest)).cloned();
			let own = own.as_ref().map(|own| &own.finished.claim);
			let moves = plan::moves(&view, &me, own, &self.settings.policy, head.number);
			let view = Arc::new(view);
			for what in moves {
				if what == Move::Apply {
					if free == 0 {
						continue;
					}
					free -= 1;
				}
				due.push((Duty { task: view.id, digest, what }, view.clone()));
			}
		}
		Ok(due)
	}

	/// Returns all tasks that are not over. What was kept of those that are is removed.
	async fn running(&self) -> Result<Vec<TaskView>, ChainError> {
		let mut views = Vec::new();
		let all = self.chain.tasks(None).await?;
		locked(&self.over).retain(|id| all.binary_search(id).is_ok());
		for id in all {
			if locked(&self.over).contains(&id) {
				continue;
			}
			let Some(view) = self.chain.task(id).await? else { continue };
			match view.phase {
				Phase::Ended(end) => {
					locked(&self.over).insert(id);
					self.close(&view, end);
				}
				_ => views.push(view),
			}
		}
		Ok(views)
	}

	fn close(&self, view: &TaskView, end: trainyard_task::views::TaskEnd) {
		let digest = digest(&view.spec, &view.terms);
		let known = locked(&self.results).remove(&(view.id, digest)).is_some();
		let folder = self.folder(view.id, &digest);
		let kept = folder.exists();
		if kept {
			// What cannot be removed now is removed with the folder of the role.
			let _ = saved::remove(&folder);
		}
		if known || kept {
			let text = format!("task {}: {}", view.id, super::tell::ending(end));
			let fields = json!({ "task": view.id, "end": super::tell::phase_name(&view.phase) });
			self.report.general("task_ended", &text, fields);
		}
	}

	/// Does what is due.
	pub async fn act(
		self: Arc<Self>,
		duty: Duty,
		view: Arc<TaskView>,
		head: Head,
		stop: Arc<AtomicBool>,
	) -> Result<(), Failure> {
		match duty.what {
			Move::Apply => self.apply(&duty, &view, head).await,
			Move::Compute { until } => self.compute(&duty, &view, until, stop).await,
			Move::Commit => self.commit(&duty, head).await,
			Move::Reveal => self.reveal(&duty).await,
			Move::Store => tokio::select! {
				stored = self.store(&duty) => stored,
				// The task is over.
				() = stopped(&stop) => Err(Failure::Stopped),
			},
			Move::Show { dispute, side, level, nodes } => {
				self.show(&duty, (dispute, side), level, nodes).await
			}
			Move::Execute { dispute, index } => self.execute(&duty, dispute, index).await,
			Move::Challenge { claim } => self.challenge(&duty, &view, claim).await,
		}
	}

	fn tell(&self, event: &str, task: TaskId, text: &str, fields: serde_json::Value) {
		let mut fields = fields;
		fields["task"] = json!(task);
		self.report.general(event, &format!("task {task}: {text}"), fields);
	}

	async fn file(&self, file: &File) -> Result<Vec<u8>, Failure> {
		Ok(blobs::load(&self.chain, file.root, file.bytes.into()).await?)
	}

	async fn inputs(&self, view: &TaskView) -> Result<Inputs, Failure> {
		let spec = &view.spec;
		Ok(Inputs { module: self.file(&spec.module).await?, input: self.file(&spec.input).await? })
	}

	async fn apply(&self, duty: &Duty, view: &TaskView, head: Head) -> Result<(), Failure> {
		let (bounds, terms) = (self.chain.task_bounds().await?, &view.terms);
		let mut needed = terms.deposit.saturating_add(self.settings.reserve);
		if matches!(view.spec.form, Form::Map { .. }) {
			// Who does not challenge a false claim beside its own loses its deposit with it.
			let challenge = bounds.deposit.max(terms.deposit / CHALLENGE_PART);
			needed = needed.saturating_add(challenge);
		}
		let output = plan::most_output(view);
		if output > u64::from(MAX_INLINE) {
			let Cost { deposit, rent, fees } = blobs::cost_of(&self.sender, output).await?;
			let gone = rent.saturating_add(fees);
			needed = needed.saturating_add(deposit).saturating_add(gone);
			if terms.reward < gone {
				return Err(Failure::Hopeless(format!(
					"storing its output costs {}, and it pays {}",
					amount::format(gone),
					amount::format(terms.reward)
				)));
			}
		}
		let free = self.chain.account(self.sender.account()).await?.free;
		if free < needed {
			return Err(Failure::failed(format!(
				"its deposits, storing its output and what stays free for fees are {}, and {} are free",
				amount::format(needed),
				amount::format(free)
			)));
		}
		let inputs = self.inputs(view).await?;
		let (spec, threads) = (view.spec.clone(), self.settings.threads);
		let rehearsal = tokio::task::spawn_blocking(move || rehearse(spec, inputs, threads));
		let Some(takes) = rehearsal.await?? else {
			return Err(Failure::Hopeless("its module is refused: it computes nothing".into()));
		};
		// Half of the time is for what else the machine does, and its other tasks wait for their turn.
		let period = self.chain.block_time().await?.saturating_mul(terms.compute);
		let at_once = u32::try_from(self.settings.policy.at_once).unwrap_or(u32::MAX).max(1);
		if takes > period / 2 / at_once {
			return Err(Failure::Hopeless(format!(
				"computing it takes {:.0} s here, and it gives {:.0} s",
				takes.as_secs_f64(),
				period.as_secs_f64()
			)));
		}
		let sent = self.sender.run(&calls::apply(duty.task, &duty.digest).on(head)).await;
		match sent {
			Err(error) if error.failed_with("Tasks::NotOpen") => {
				return Err(Failure::Hopeless("its time for applications is over".into()));
			}
			other => other?,
		};
		let reward = amount::format(view.terms.reward);
		let fields = json!({ "reward": view.terms.reward.to_string() });
		self.tell("task_applied", duty.task, &format!("applied, for {reward}"), fields);
		Ok(())
	}

	async fn compute(
		&self,
		duty: &Duty,
		view: &TaskView,
		until: u32,
		stop: Arc<AtomicBool>,
	) -> Result<(), Failure> {
		let turn = tokio::select! {
			turn = self.turn.acquire() => turn,
			() = crate::roles::tasks::stopped(&stop) => return Err(Failure::Stopped),
		};
		let _turn = turn.map_err(|_| Failure::Stopped)?;
		let class = match plan::takes_part(view, self.sender.account()) {
			true => Class::Duty,
			false => Class::Watch,
		};
		let need = Need::by(class, until);
		let what = format!("task {}", duty.task);
		let _lease =
			self.machine.lease_until(self.settings.role, &what, need, false, &stop).await?;
		let inputs = self.inputs(view).await?;
		let folder = self.folder(duty.task, &duty.digest);
		let (spec, threads, cheat) =
			(view.spec.clone(), self.settings.threads, self.settings.cheat);
		let keep = folder.clone();
		let computing = tokio::task::spawn_blocking(move || {
			let program = Program::of_task(&spec, &inputs.module, threads)?;
			let options = Options {
				keep: Some(&keep),
				states: matches!(spec.form, Form::Step { .. }),
				cheat,
				until: None,
				stop: &stop,
				progress: &mut |_| {},
			};
			let finished = run::run(&program, spec, &inputs.input, options)?;
			Ok::<_, TaskError>((program, inputs, finished))
		});
		let (program, inputs, finished) = computing.await??;
		let text = format!(
			"computed: {}, {:.3} ut of fuel",
			plan::output_text(&finished.claim.output),
			crate::task::work(finished.fuel).unwrap_or_default() as f64 / 1e6
		);
		let fields = json!({
			"root": format!("{:?}", finished.claim.root),
			"fuel": finished.fuel.to_string(),
		});
		self.tell("task_computed", duty.task, &text, fields);
		let computed = Arc::new(Computed { program, inputs, finished, folder });
		locked(&self.results).insert((duty.task, duty.digest), computed);
		Ok(())
	}

	async fn commit(&self, duty: &Duty, head: Head) -> Result<(), Failure> {
		let own = self.result(duty)?;
		let salt = self.sender.task_salt(duty.task, &duty.digest);
		let (genesis, me) = (self.chain.genesis(), self.sender.account());
		let made = commitment(&genesis, duty.task, me, &own.finished.claim, &salt);
		self.sender.run(&calls::commit(duty.task, &made).on(head)).await?;
		self.tell("task_committed", duty.task, "committed to its claim", json!({}));
		Ok(())
	}

	async fn reveal(&self, duty: &Duty) -> Result<(), Failure> {
		let own = self.result(duty)?;
		let salt = self.sender.task_salt(duty.task, &duty.digest);
		let Finished { claim, ends, output, .. } = &own.finished;
		let short = claim.output.file().is_some_and(|file| file.bytes <= MAX_INLINE);
		let output = output.as_deref().ok().filter(|_| short);
		self.sender.run(&calls::reveal(duty.task, claim, ends, output, &salt)).await?;
		let fields = json!({ "root": format!("{:?}", claim.root) });
		self.tell("task_revealed", duty.task, "showed its claim", fields);
		Ok(())
	}

	async fn store(&self, duty: &Duty) -> Result<(), Failure> {
		let own = self.result(duty)?;
		let Finished { claim, output: Ok(bytes), .. } = &own.finished else { return Ok(()) };
		let StateId::Bytes(file) = &claim.output else { return Ok(()) };
		let there = self.chain.blob(file.root).await?;
		if there.is_some_and(|blob| !blob.removing && blob.missing.is_empty()) {
			return Ok(());
		}
		blobs::store(&self.sender, bytes).await?;
		let fields = json!({ "root": format!("{:?}", file.root), "bytes": file.bytes });
		self.tell("task_stored", duty.task, "stored its output on chain", fields);
		Ok(())
	}

	async fn show(
		&self,
		duty: &Duty,
		(number, side): (u32, u8),
		level: u8,
		(first, end): (u32, u32),
	) -> Result<(), Failure> {
		let own = self.result(duty)?;
		let Some(trace) = &own.finished.trace else { return Ok(()) };
		let nodes = trace.nodes(level, first..end);
		self.sender.run(&calls::show(duty.task, number, side, nodes)).await?;
		let text = format!("dispute {number}: showed {} nodes of level {level}", nodes.len());
		let fields = json!({ "dispute": number, "level": level });
		self.tell("task_showed", duty.task, &text, fields);
		Ok(())
	}

	async fn execute(&self, duty: &Duty, number: u32, index: u32) -> Result<(), Failure> {
		let own = self.result(duty)?;
		let made = tokio::task::spawn_blocking(move || {
			let Some(trace) = &own.finished.trace else { return Ok(None) };
			let Computed { program, inputs, finished, folder } = &*own;
			dispute::brought(program, &finished.spec, inputs, trace, index, folder)
		});
		let Some((brought, path)) = made.await?? else {
			return Err(Failure::failed("its trace has no such step"));
		};
		self.sender.run(&calls::execute(duty.task, number, &brought, &path)).await?;
		let text = format!("dispute {number}: the chain executed step {index}");
		let fields = json!({ "dispute": number, "step": index });
		self.tell("task_executed", duty.task, &text, fields);
		Ok(())
	}

	/// Returns the bytes of the output of a claim.
	async fn output(&self, task: TaskId, number: u8, claim: &Claim) -> Result<Vec<u8>, Failure> {
		match claim.output.file() {
			Some(file) if file.bytes <= MAX_INLINE => {
				let found = self.chain.task_output(task, number).await?;
				found.ok_or_else(|| Failure::failed("the chain has no output of that claim"))
			}
			Some(file) => self.file(file).await,
			None => Err(Failure::failed("that claim has no output")),
		}
	}

	/// Seals what it will say, and says it in a later block.
	async fn challenge(&self, duty: &Duty, view: &TaskView, number: u8) -> Result<(), Failure> {
		let own = self.result(duty)?;
		let Some((claim, _)) = view.claims.get(usize::from(number)) else { return Ok(()) };
		let (genesis, me) = (self.chain.genesis(), *self.sender.account());
		let salt = self.sender.task_seal_salt(duty.task, &duty.digest);
		let ours = &own.finished.claim;
		let (made, call, text, fields) = match view.spec.form {
			Form::Step { .. } => (
				commitment(&genesis, duty.task, &me, ours, &salt),
				calls::challenge(duty.task, number, ours, &own.finished.ends, &salt),
				format!("challenged claim {number} by its own trace"),
				json!({ "claim": number }),
			),
			Form::Map { .. } => {
				let theirs = self.output(duty.task, number, claim).await?;
				let Ok(records) = &own.finished.output else { return Ok(()) };
				let spec = &view.spec;
				let Some(index) = dispute::first_difference(spec, records, &theirs) else {
					return Err(Failure::Hopeless("its records are the same".into()));
				};
				let opened = dispute::opened(spec, &own.inputs, &theirs, index);
				let opened = opened.ok_or_else(|| Failure::failed("that record has no opening"))?;
				(
					refutation(&genesis, duty.task, &me, (number, index), &salt),
					calls::refute(duty.task, number, &opened, &salt),
					format!("showed that the record of index {index} in claim {number} is false"),
					json!({ "claim": number, "index": index }),
				)
			}
		};
		match self.chain.task_seal(duty.task, &me).await? {
			Some((sealed, _)) if sealed == made => {}
			Some(_) => {
				self.sender.run(&calls::unseal(duty.task)).await?;
				self.sender.run(&calls::seal(duty.task, &made)).await?;
			}
			None => {
				self.sender.run(&calls::seal(duty.task, &made)).await?;
			}
		}
		// The seal is in a block, so this is in a later one, as it must be.
		self.sender.run(&call).await?;
		self.tell("task_challenged", duty.task, &text, fields);
		Ok(())
	}
}
