//! Runs whole tasks: steps one after the other, indices on all cores.

use super::{
	saved::{self, At, Folder},
	Executed, Program, TaskError,
};
use codec::Encode;
use primitive_types::H256;
use rayon::prelude::*;
use std::{
	path::Path,
	sync::atomic::{AtomicBool, Ordering},
	time::{Duration, Instant},
};
use trainyard_task::{
	state::{record, RECORD_HEAD},
	Bounds, Claim, Ends, Fault, File, Form, Limits, StateId, TaskSpec, Trace,
};
use trainyard_task_vm::{Call, Kind, MAX_FUEL};

/// States that are kept of a task, at most.
const STATES: u32 = 256;
/// Time between two states that are saved.
const SAVE_EVERY: Duration = Duration::from_secs(5);
/// Time between two looks at the progress.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Indices of a turn for each thread.
const TURN: usize = 32;

/// How far a task is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
	/// Steps or indices that are done.
	pub done: u32,
	/// Where this process began.
	pub begun_at: u32,
	/// All of them.
	pub all: u32,
	/// Fuel of those that are done.
	pub fuel: u128,
}

/// How a task is run.
pub struct Options<'a> {
	/// Folder in which what is done is kept while it runs; without one a killed run begins again.
	pub keep: Option<&'a Path>,
	/// Whether states are kept there as well, each some steps after another, so that any can be had again by a few
	/// steps: who is in a dispute has to bring one.
	pub states: bool,
	/// For tests of a chain: the step or index whose result is made up.
	pub cheat: Option<u32>,
	/// When to stop at the latest.
	pub until: Option<Instant>,
	/// Set to stop.
	pub stop: &'a AtomicBool,
	/// Called now and then.
	pub progress: &'a mut (dyn FnMut(&Progress) + Send),
}

/// What a task came to.
#[derive(Debug)]
pub struct Finished {
	/// What it was.
	pub spec: TaskSpec,
	/// What whoever computed it claims.
	pub claim: Claim,
	/// What shows that the trace begins and ends so; of a map empty.
	pub ends: Ends,
	/// The trace; of a map none.
	pub trace: Option<Trace>,
	/// The last state, or all records.
	pub output: Result<Vec<u8>, Fault>,
	/// Fuel of all steps or indices. One that ended with a fault counts as the limit.
	pub fuel: u128,
	/// The most that one of them took.
	pub most: u64,
	/// How many ended with a fault; of steps, those after the first do nothing.
	pub faults: u32,
}

/// Returns the specification of a task.
///
/// # Errors
///
/// [`TaskError::Kind`] where the module computes the other form, [`TaskError::Rule`].
pub fn specification(
	program: &Program,
	input: &[u8],
	form: Form,
	limits: Limits,
) -> Result<TaskSpec, TaskError> {
	match (program.kind(), form) {
		(Some(Kind::Step), Form::Step { .. }) | (Some(Kind::Map), Form::Map { .. }) | (None, _) => {
		}
		(Some(Kind::Step), Form::Map { .. }) => {
			return Err(TaskError::Kind("the module exports `step`: it takes --steps, not --map"));
		}
		(Some(Kind::Map), Form::Step { .. }) => {
			return Err(TaskError::Kind("the module exports `map`: it takes --map, not --steps"));
		}
	}
	let spec = TaskSpec { module: program.file(), input: File::of(input), form, limits };
	// What the market of a chain asks beside is not asked here.
	let bounds = Bounds {
		fuel: MAX_FUEL,
		block_fuel: MAX_FUEL,
		block_bytes: u32::MAX,
		fuel_price: 0,
		deposit: 0,
		least: 0,
		window: 0,
		most: 0,
	};
	spec.check(&bounds).map_err(TaskError::Rule)?;
	Ok(spec)
}

/// Runs a task to its end.
///
/// # Errors
///
/// [`TaskError::Stopped`] where it was stopped; [`TaskError::Broken`], [`TaskError::File`] or [`TaskError::Saved`] where
/// this machine cannot. That a step ends with a fault is no error.
pub fn run(
	program: &Program,
	spec: TaskSpec,
	input: &[u8],
	mut options: Options<'_>,
) -> Result<Finished, TaskError> {
	let width = match spec.form {
		Form::Step { .. } => 32,
		Form::Map { most, .. } => u64::from(most) + u64::from(RECORD_HEAD),
	};
	let task = H256(name_of(&spec));
	let (folder, found) = match options.keep {
		Some(path) => {
			let (folder, found) = Folder::open(path, task, width)?;
			(Some(folder), found)
		}
		None => (None, None),
	};
	let begin = found.unwrap_or(At {
		task,
		done: 0,
		fuel: 0,
		most: 0,
		faults: 0,
		state: Ok(match spec.form {
			Form::Step { .. } => input.to_vec(),
			Form::Map { .. } => Vec::new(),
		}),
	});
	let mut running = Running {
		program,
		all: spec.units(),
		begun_at: begin.done,
		now: begin,
		folder,
		unsaved: Vec::new(),
		entries: Vec::new(),
		saved: Instant::now(),
		looked: None,
		options: &mut options,
	};
	match spec.form {
		Form::Step { .. } => running.steps()?,
		Form::Map { most, .. } => running.map(input, most)?,
	}
	running.finish(spec, input)
}

/// Returns how many steps lie between two states that are kept of so many.
fn apart(steps: u32) -> u32 {
	steps.div_ceil(STATES).max(1)
}

/// Changes a result, as a cheat does.
fn made_up(mut bytes: Vec<u8>) -> Vec<u8> {
	match bytes.last_mut() {
		Some(last) => *last ^= 1,
		None => bytes.push(1),
	}
	bytes
}

/// Computes the state after `done` steps again, from the last one before it that is kept in the folder of the run.
///
/// # Errors
///
/// [`TaskError::Broken`] and [`TaskError::File`] where this machine cannot.
pub fn state_after(
	program: &Program,
	input: &[u8],
	(done, all): (u32, u32),
	folder: &Path,
) -> Result<Result<Vec<u8>, Fault>, TaskError> {
	let (mut at, mut state) = (0, Ok(input.to_vec()));
	let mut kept = done - done % apart(all);
	while kept > 0 {
		if let Some(found) = saved::kept_state(folder, kept)? {
			(at, state) = (kept, Ok(found));
			break;
		}
		// One after a fault is not there.
		kept = kept.saturating_sub(apart(all));
	}
	program.threads.install(|| {
		while let (true, Ok(bytes)) = (at < done, &state) {
			state = program.execute(Call::Step(bytes))?.result;
			at += 1;
		}
		Ok(state)
	})
}

/// Returns the name of a task among what is kept.
fn name_of(spec: &TaskSpec) -> [u8; 32] {
	*blake3::hash(&spec.encode()).as_bytes()
}

struct Running<'a, 'b> {
	program: &'a Program,
	all: u32,
	begun_at: u32,
	now: At,
	folder: Option<Folder>,
	/// Leaves or records that are not on disk.
	unsaved: Vec<u8>,
	/// All of them, where there is no folder.
	entries: Vec<u8>,
	saved: Instant,
	looked: Option<Instant>,
	options: &'a mut Options<'b>,
}

impl Running<'_, '_> {
	fn count(&mut self, fuel: u64, fault: bool) {
		self.now.done += 1;
		self.now.fuel += u128::from(fuel);
		self.now.most = self.now.most.max(fuel);
		self.now.faults += u32::from(fault);
	}

	fn steps(&mut self) -> Result<(), TaskError> {
		let program = self.program;
		program.threads.install(|| {
			while self.now.done < self.all {
				if let Ok(state) = &self.now.state {
					let Executed { result, fuel } = program.execute(Call::Step(state))?;
					let fault = result.is_err();
					self.now.state = match self.options.cheat == Some(self.now.done) {
						true => result.map(made_up),
						false => result,
					};
					self.count(fuel, fault);
					self.keep_state()?;
				} else {
					// Nothing comes after a fault but the same fault.
					self.now.done += 1;
				}
				let leaf = StateId::of(self.now.state.as_deref()).leaf();
				self.unsaved.extend_from_slice(leaf.as_bytes());
				self.look()?;
			}
			Ok(())
		})
	}

	fn map(&mut self, input: &[u8], most: u32) -> Result<(), TaskError> {
		let program = self.program;
		let cheat = self.options.cheat;
		let turn = (TURN * program.threads.current_num_threads()) as u32;
		while self.now.done < self.all {
			let indices = self.now.done..self.all.min(self.now.done.saturating_add(turn));
			let results: Result<Vec<_>, _> = program.threads.install(|| {
				indices
					.into_par_iter()
					.map(|index| {
						let executed = program.execute(Call::Map(input, index.into()))?;
						let result = match cheat == Some(index) {
							true => executed.result.clone().map(made_up),
							false => executed.result.clone(),
						};
						let record = record(result.as_deref(), most);
						Ok::<_, TaskError>((record, executed.fuel, executed.result.is_err()))
					})
					.collect()
			});
			for (record, fuel, fault) in results? {
				self.unsaved.extend_from_slice(&record);
				self.count(fuel, fault);
			}
			self.look()?;
		}
		Ok(())
	}

	/// Keeps the state that there is now, where it is one of those that are kept.
	fn keep_state(&mut self) -> Result<(), TaskError> {
		let wanted = self.options.states && self.now.done % apart(self.all) == 0;
		match (&self.folder, &self.now.state) {
			(Some(folder), Ok(state)) if wanted => folder.keep_state(self.now.done, state),
			_ => Ok(()),
		}
	}

	/// Shows the progress, saves, and stops, where it is time.
	fn look(&mut self) -> Result<(), TaskError> {
		let ends = self.now.done == self.all;
		if !ends && self.looked.is_some_and(|looked| looked.elapsed() < LOOK_EVERY) {
			return Ok(());
		}
		self.looked = Some(Instant::now());
		(self.options.progress)(&Progress {
			done: self.now.done,
			begun_at: self.begun_at,
			all: self.all,
			fuel: self.now.fuel,
		});
		let stops = !ends
			&& (self.options.stop.load(Ordering::Relaxed)
				|| self.options.until.is_some_and(|until| Instant::now() >= until));
		if ends || stops || self.saved.elapsed() >= SAVE_EVERY {
			self.save()?;
		}
		if stops {
			let saved = self.folder.is_some();
			return Err(TaskError::Stopped { done: self.now.done, all: self.all, saved });
		}
		Ok(())
	}

	fn save(&mut self) -> Result<(), TaskError> {
		match &mut self.folder {
			Some(folder) => {
				folder.save(&self.unsaved, &self.now)?;
				self.unsaved.clear();
			}
			None => self.entries.append(&mut self.unsaved),
		}
		self.saved = Instant::now();
		Ok(())
	}

	fn finish(self, spec: TaskSpec, input: &[u8]) -> Result<Finished, TaskError> {
		let entries = match self.folder {
			Some(mut folder) => folder.entries(self.all)?,
			None => self.entries,
		};
		let now = self.now;
		let (claim, ends, trace, output) = match spec.form {
			Form::Step { .. } => {
				let first = StateId::of(Ok(input)).leaf();
				let rest = entries.chunks_exact(32).map(H256::from_slice);
				let leaves: Vec<H256> = std::iter::once(first).chain(rest).collect();
				let trace = Trace::of(leaves)
					.ok_or_else(|| TaskError::Saved("the trace is empty".to_owned()))?;
				let (claim, ends) = trace.claim(StateId::of(now.state.as_deref()));
				(claim, ends, Some(trace), now.state)
			}
			Form::Map { .. } => {
				let file = File::of(&entries);
				let claim = Claim { root: file.root, output: StateId::Bytes(file) };
				(claim, Ends::default(), None, Ok(entries))
			}
		};
		if !claim.is_of(&spec, &ends) {
			return Err(TaskError::Saved(
				"what was saved does not make a result of this task: remove the folder to begin again".into(),
			));
		}
		let (fuel, most, faults) = (now.fuel, now.most, now.faults);
		Ok(Finished { spec, claim, ends, trace, output, fuel, most, faults })
	}
}
