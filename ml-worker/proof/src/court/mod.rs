//! What a party of a dispute says: the digests, openings and ends of a job on disk, computed again.
//!
//! A [`Recorder`] is a [`Record`](trainyard_court::game::player::Record) over the checkpoints of a
//! result: from the state with which a segment begins it trains the segment again and says what it
//! comes to, whatever the result claims of its end. So the same recorder defends a result and accuses
//! it: [`Recorder::post`], [`open`](Recorder::open), [`deny`](Recorder::deny) and
//! [`openings`](Recorder::openings) are the moves of a
//! [`Player`](trainyard_court::game::player::Player), and [`Recorder::end`] is what is claimed of a
//! segment.
//!
//! Steps up to the one that is asked are trained by the engine as ever. That one is *recorded*:
//! operator by operator, with the tensors between their parts, and each is hashed as it is made. What
//! was computed is kept: states and milestones of a segment on disk, as far as there is room
//! ([`Options::disk`]), the last recorded computation and the last evaluation in memory. Whoever is
//! killed goes on with what is on disk, which is checked by hash before it is used.
//!
//! - `replay` trains segments, `computed` records steps and slices, `evaluation` has evaluations;
//! - `again` computes states that a trainer does not keep;
//! - `disk` keeps states and milestones;
//! - `record` and `play` are what a dispute sees;
//! - `held`, `rows` and `nodes` are tensors, rows and their trees of hashes; [`rows_chunk`] opens a chunk of
//!   all rows for a relay.

mod again;
mod computed;
mod disk;
mod error;
mod evaluation;
mod held;
mod nodes;
mod play;
mod record;
mod replay;
mod rows;
#[cfg(test)]
mod tests;

pub use computed::Lent;
pub use error::RecordError;
pub use rows::rows_chunk;

use crate::{
	bundle::{self, files, manifest::checkpoint_file, tensors, Bundle, Manifest},
	data,
	inputs::Inputs,
};
use computed::Computed;
use disk::Disk;
use evaluation::Evaluated;
use held::HeldState;
use primitive_types::H256;
use replay::Replay;
use std::{
	io::ErrorKind,
	path::{Path, PathBuf},
	sync::{atomic::AtomicBool, Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};
use trainyard_court::{
	game::{End, Moment},
	referee::{state_after, state_file, Lowered, StateTensors},
	Case,
};
use trainyard_engine::{Data, Engine, TensorMap};
use trainyard_protocol::{
	bundle::{Checkpoint, Diverged, Evaluation},
	merkle::Frontier,
	model_file::Layout,
	trace,
};

/// What a result commits to: its leaves in the clear.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
	/// Its checkpoints.
	pub checkpoints: Vec<Checkpoint>,
	/// Where training diverged after them, if it did.
	pub diverged: Option<Diverged>,
}

impl Claims {
	/// Returns what a bundle claims.
	pub fn of(manifest: &Manifest) -> Self {
		let checkpoints = manifest.checkpoints.iter().map(|listed| listed.bound()).collect();
		Self { checkpoints, diverged: manifest.diverged }
	}
}

/// Where a recorder keeps what it computed, and how much.
#[derive(Clone, Debug)]
pub struct Options {
	/// The folder for states and milestones; nothing is kept without one. Only one recorder at a time
	/// may use it.
	pub folder: Option<PathBuf>,
	/// Most bytes of all files in it.
	pub disk: u64,
	/// Most bytes of the results of a recorded computation that stay in memory. Of a larger one, each
	/// result that is asked for is computed again.
	pub memory: u64,
	/// Most segments that are trained again to have a state that is not there: those of a trainer that does not keep
	/// all lack so many at most.
	pub again: u32,
	/// Once it is set, the recorder ends after the present step, with [`RecordError::Stopped`].
	pub stop: Arc<AtomicBool>,
}

impl Default for Options {
	/// Nothing on disk, and 4 GiB of memory.
	fn default() -> Self {
		Self { folder: None, disk: 0, memory: 4 << 30, again: 0, stop: Arc::default() }
	}
}

/// What a recorder has computed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
	/// Steps that were trained.
	pub steps: u64,
	/// Steps and slices that were recorded, or a part of them again.
	pub recorded: u64,
	/// Evaluations.
	pub evaluations: u64,
	/// Files on disk that were damaged and therefore not used.
	pub refused: u64,
}

/// Computes what a dispute about a job asks for.
pub struct Recorder {
	case: Case,
	claims: Claims,
	/// The same as it is under the bundle root, where leaves are forced to be false there and not in the
	/// claims.
	shown: Option<Claims>,
	/// Where the states of the checkpoints lie, in files as in a bundle.
	states: PathBuf,
	blob: Option<PathBuf>,
	inputs: Inputs,
	rows: [H256; 4],
	engine: Engine,
	tensors: StateTensors,
	/// The layout of the file of a state.
	layout: Layout,
	disk: Option<Disk>,
	options: Options,
	/// The bytes of the model file, and of the blob that stands for a state.
	model: OnceLock<Vec<u8>>,
	blob_bytes: OnceLock<Vec<u8>>,
	memory: Mutex<InMemory>,
	work: Mutex<Work>,
	failure: Mutex<Option<RecordError>>,
}

/// What was computed last.
#[derive(Default)]
struct InMemory {
	replay: Option<Replay>,
	state: Option<(record::StateKey, Arc<HeldState>)>,
	computed: Option<Arc<Computed>>,
	evaluated: Option<(u32, Arc<Evaluated>)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
	mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorder {
	/// Makes a recorder for a result with these claims, whose states lie in `states` as in the folder of
	/// a bundle: those with which the segments begin that are asked for, the last one for a dispute
	/// about the model, and none that is not asked for. The initial state is computed. Fails where the
	/// rows are not those of the specification.
	pub fn new(
		case: Case,
		claims: Claims,
		states: &Path,
		inputs: Inputs,
		options: Options,
	) -> Result<Self, RecordError> {
		let rows = data::rows_of(&inputs.data, &case.spec.dataset, &options.stop)?;
		let (found, expected) = (rows.root(), case.spec.dataset.rows);
		if found != expected {
			return Err(RecordError::Rows { found, expected });
		}
		let disk = options.folder.as_deref().map(|folder| Disk::open(folder, options.disk));
		Ok(Self {
			engine: Engine::new(&case.spec, case.seed, inputs.data.clone())?,
			tensors: StateTensors::of(&case.spec),
			layout: state_file(&case),
			disk: disk.transpose()?,
			case,
			claims,
			shown: None,
			states: states.to_owned(),
			blob: None,
			inputs,
			rows: rows.contents,
			options,
			model: OnceLock::new(),
			blob_bytes: OnceLock::new(),
			memory: Mutex::default(),
			work: Mutex::default(),
			failure: Mutex::default(),
		})
	}

	/// Makes a recorder for the bundle in `folder`.
	pub fn of_bundle(folder: &Path, inputs: Inputs, options: Options) -> Result<Self, RecordError> {
		let bundle = Bundle::open(folder)?;
		let Manifest { spec, seed, .. } = bundle.manifest();
		let case = Case { spec: spec.clone(), seed: *seed };
		Self::new(case, Claims::of(bundle.manifest()), folder, inputs, options)
	}

	/// Takes these for the leaves under the bundle root. A trainer's own claims have the traces that it
	/// computed, and so do not have those that it forced to be false.
	pub fn with_shown(self, shown: Claims) -> Self {
		Self { shown: Some(shown), ..self }
	}

	/// Takes the file at `path` for the blob that is said to stand for a state.
	pub fn with_blob(self, path: &Path) -> Self {
		Self { blob: Some(path.to_owned()), blob_bytes: OnceLock::new(), ..self }
	}

	/// Returns what the dispute is about.
	pub fn case(&self) -> &Case {
		&self.case
	}

	/// Returns what the result claims.
	pub fn claims(&self) -> &Claims {
		&self.claims
	}

	/// Returns what was computed so far.
	pub fn work(&self) -> Work {
		*lock(&self.work)
	}

	/// Returns what the start comes to, the initial state and its evaluation: what is claimed of one that
	/// is accused.
	pub fn start(&self) -> Result<End, RecordError> {
		let state = self.initial()?.hash;
		let found = self.try_evaluated(0)?.ok_or(RecordError::NoCheckpoint { checkpoint: 0 })?;
		let mut leaves = Frontier::new();
		// Where training cannot begin there is no evaluation, and the trace has no leaf.
		let evaluation = match found.evaluation.loss().is_finite() {
			true => {
				let slices = trace::slices_root(found.slices.contents());
				// It is the first leaf, so there is room.
				let _ = leaves.push(trace::evaluation_leaf(0, &found.evaluation, &slices));
				found.evaluation
			}
			false => Evaluation::NONE,
		};
		let trace = trace::seal(&leaves.root());
		Ok(End::Checkpoint { state, evaluation, trace })
	}

	/// Returns what a segment comes to, from the state with which it begins: what is claimed of one
	/// that is accused.
	pub fn end(&self, segment: u32) -> Result<End, RecordError> {
		let (_, to) = self.steps_of(segment)?;
		if let Some((step, _)) = self.try_divergence(segment)? {
			let leaves = self.try_steps(segment, step)?.unwrap_or_default();
			let trace = trace::seal(&leaves.root());
			return Ok(End::Diverged(Diverged { step, trace }));
		}
		let missing = || RecordError::NoSegment { segment };
		let checkpoint = segment.saturating_add(1);
		let mark = self.try_mark(segment, to)?.ok_or_else(missing)?;
		let found = self.try_evaluated(checkpoint)?.ok_or_else(missing)?;
		let slices = trace::slices_root(found.slices.contents());
		let mut leaves = mark.steps;
		// It has a step at least and so fewer than 2^32.
		let _ = leaves.push(trace::evaluation_leaf(to, &found.evaluation, &slices));
		let trace = trace::seal(&leaves.root());
		Ok(End::Checkpoint { state: mark.state, evaluation: found.evaluation, trace })
	}

	/// Checks that a segment comes to what the result claims. Fails with
	/// [`RecordError::OtherThanClaimed`].
	pub fn check(&self, segment: u32) -> Result<(), RecordError> {
		let checkpoint = segment.saturating_add(1);
		let claimed = match (self.claims.checkpoints.get(checkpoint as usize), self.claims.diverged)
		{
			(Some(claimed), _) => End::of(claimed),
			(None, Some(diverged)) if checkpoint as usize == self.claims.checkpoints.len() => {
				End::Diverged(diverged)
			}
			_ => return Err(RecordError::NoCheckpoint { checkpoint }),
		};
		self.check_end(segment, &claimed)
	}

	/// Checks that a segment comes to this end.
	fn check_end(&self, segment: u32, claimed: &End) -> Result<(), RecordError> {
		let checkpoint = segment.saturating_add(1);
		let what = match (self.end(segment)?, *claimed) {
			(found, claimed) if found == claimed => return Ok(()),
			(
				End::Checkpoint { state, evaluation, .. },
				End::Checkpoint { state: claimed, evaluation: scored, .. },
			) => match (state == claimed, evaluation == scored) {
				(false, _) => "the state",
				(true, false) => "the evaluation",
				(true, true) => "the trace",
			},
			(End::Diverged(found), End::Diverged(claimed)) if found.step == claimed.step => {
				"the trace"
			}
			_ => "where training diverged",
		};
		Err(RecordError::OtherThanClaimed { checkpoint, what })
	}

	/// Computes the milestones of a segment at the boundaries of the steps `from` to `to` and at `to`, in
	/// one pass, and keeps on disk the state after `from` steps, which is agreed where a dispute has
	/// come there, and as many others as there is room for.
	pub fn milestones(&self, segment: u32, from: u32, to: u32) -> Result<(), RecordError> {
		self.with_replay(segment, |replay| replay.milestones(self, from, to))
	}

	fn engine(&self) -> &Engine {
		&self.engine
	}

	fn data(&self) -> &Data {
		&self.inputs.data
	}

	fn rows(&self) -> [H256; 4] {
		self.rows
	}

	fn tensors(&self) -> &StateTensors {
		&self.tensors
	}

	fn disk(&self) -> Option<&Disk> {
		self.disk.as_ref()
	}

	fn stop(&self) -> &AtomicBool {
		&self.options.stop
	}

	fn state_layout(&self) -> &Layout {
		&self.layout
	}

	fn count(&self, add: impl FnOnce(&mut Work)) {
		add(&mut lock(&self.work));
	}

	/// Returns what was found, and keeps the first error for whoever asks why nothing was.
	fn noted<T>(&self, found: Result<Option<T>, RecordError>) -> Option<T> {
		found.unwrap_or_else(|error| {
			tracing::debug!("a dispute asks for what cannot be computed: {error}");
			lock(&self.failure).get_or_insert(error);
			None
		})
	}

	/// Returns the steps done before a segment and after it.
	fn steps_of(&self, segment: u32) -> Result<(u32, u32), RecordError> {
		let spec = &self.case.spec;
		let steps =
			spec.checkpoint_step(segment).zip(spec.checkpoint_step(segment.saturating_add(1)));
		steps.filter(|(from, to)| from < to).ok_or(RecordError::NoSegment { segment })
	}

	/// Returns a checkpoint of the result.
	fn checkpoint(&self, checkpoint: u32) -> Result<&Checkpoint, RecordError> {
		let found = self.claims.checkpoints.get(checkpoint as usize);
		found.ok_or(RecordError::NoCheckpoint { checkpoint })
	}

	/// Hashes a state on the way through a segment.
	fn hold(&self, state: TensorMap, segment: u32) -> Result<HeldState, RecordError> {
		let path = self.states.clone();
		let wrong = |why| RecordError::WrongState { checkpoint: segment, path, why };
		HeldState::new(&self.tensors, state).map_err(wrong)
	}

	/// Computes the initial state.
	fn initial(&self) -> Result<HeldState, RecordError> {
		let Case { spec, seed } = &self.case;
		let state = Engine::initial_state(spec, seed, self.inputs.initial_model())?;
		self.hold(state.to_host()?, 0)
	}

	/// Reads the state of a checkpoint from its file, and checks that it is the one that the result
	/// commits to.
	fn committed(&self, checkpoint: u32) -> Result<HeldState, RecordError> {
		let listed = self.checkpoint(checkpoint)?;
		let path = self.states.join(checkpoint_file(listed.step));
		let most = bundle::max_checkpoint_bytes(&self.case.spec);
		let bytes = match files::read(&path, most) {
			Err(e) if e.error.kind() == ErrorKind::NotFound => {
				return self.computed_again(checkpoint, &path);
			}
			read => read?,
		};
		let wrong = |why| RecordError::WrongState { checkpoint, path: path.clone(), why };
		let state = tensors::decode(&bytes).map_err(|e| wrong(e.to_string()))?;
		drop(bytes);
		let held = HeldState::new(&self.tensors, state).map_err(wrong)?;
		match held.hash == listed.state {
			true => Ok(held),
			false => Err(wrong(format!("it hashes to {:?}, not {:?}", held.hash, listed.state))),
		}
	}

	/// Returns the state with which a segment begins.
	fn begin_of(&self, segment: u32) -> Result<HeldState, RecordError> {
		if segment > 0 {
			return self.committed(segment);
		}
		let (held, listed) = (self.initial()?, self.checkpoint(0)?);
		match held.hash == listed.state {
			true => Ok(held),
			false => Err(RecordError::OtherThanClaimed { checkpoint: 0, what: "the state" }),
		}
	}

	/// Works with the replay of a segment, from where it stands.
	fn with_replay<T>(
		&self,
		segment: u32,
		work: impl FnOnce(&mut Replay) -> Result<T, RecordError>,
	) -> Result<T, RecordError> {
		let mut memory = lock(&self.memory);
		if memory.replay.as_ref().is_none_or(|replay| replay.segment != segment) {
			memory.replay = None;
			let begin = self.checkpoint(segment)?.state;
			memory.replay = Some(Replay::new(self, segment, &begin)?);
		}
		match &mut memory.replay {
			Some(replay) => work(replay),
			None => Err(RecordError::NoSegment { segment }),
		}
	}

	/// Returns a step or a slice, recorded; `None` where training diverged before.
	fn try_computed(&self, at: &Moment) -> Result<Option<Arc<Computed>>, RecordError> {
		if let Some(held) = lock(&self.memory).computed.clone().filter(|held| held.at == *at) {
			return Ok(Some(held));
		}
		let Some(computation) = at.computation() else { return Ok(None) };
		let state = match *at {
			Moment::Step { segment, step } => {
				let (from, to) = self.steps_of(segment)?;
				if !(from..to).contains(&step) {
					return Ok(None);
				}
				self.try_state(record::StateKey::Steps { segment, steps: step })?
			}
			Moment::Slice { checkpoint, .. } => self.try_evaluated_state(checkpoint)?,
			Moment::Initial | Moment::Stored { .. } | Moment::Model => None,
		};
		let Some(state) = state else { return Ok(None) };
		let lowered = Lowered::new(&self.case, computation)?;
		// The one before makes room.
		lock(&self.memory).computed = None;
		self.count(|work| work.recorded += 1);
		let memory = self.options.memory;
		let made = Computed::new(&self.engine, &lowered, *at, state, memory)?;
		if let Moment::Step { segment, step } = *at {
			self.check_step(&made, &lowered, segment, step)?;
		}
		let made = Arc::new(made);
		lock(&self.memory).computed = Some(made.clone());
		Ok(Some(made))
	}

	/// Checks that a recorded step leads to the state to which training it led, if that is known.
	fn check_step(
		&self,
		made: &Computed,
		lowered: &Lowered<'_>,
		segment: u32,
		step: u32,
	) -> Result<(), RecordError> {
		let (known, ends_in) = self.with_replay(segment, |replay| {
			let after = replay.marks.after.get(&step.saturating_add(1));
			Ok((after.map(|mark| mark.state), replay.marks.ends_in))
		})?;
		let is_right = match (known, &made.witness) {
			(Some(_), Some(_)) => false,
			(Some(after), None) => state_after(lowered, &made.contents)? == after,
			(None, witness) => ends_in != Some(step) || witness.is_some(),
		};
		is_right.then_some(()).ok_or_else(|| made.disagrees())
	}
}
