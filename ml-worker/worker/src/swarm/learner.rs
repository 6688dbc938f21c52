//! What a peer computes with data: training on a slice, and how many labels a model gets right.

use crate::ranks::crew::{Crew, Ranked};
use rand::{rngs::StdRng, SeedableRng};
use std::{
	ops::Range,
	path::{Path, PathBuf},
	sync::{Arc, PoisonError, RwLock},
};
use trainyard_client::AccountId32;
use trainyard_engine::{
	private::{Hiding, PrivateSteps},
	Data, Engine, EngineError, State, TensorMap,
};
use trainyard_program::{
	lower::OPTIMIZER_PREFIX,
	spec::{CheckedSpec, Dataset, FileRef, JobSpec, SpecError},
};
use trainyard_proof::{
	data::{self, DataError},
	hash,
};
use trainyard_protocol::{federation::PartData, swarm::Count, Text, H256};

/// Steps that can be taken with one slice, at most: whoever trains on it longer begins again with the order of
/// its rows.
const STEPS: u32 = 1_000_000;
/// Stands for the location of a file that is here. The name is reserved and never answers.
const HERE: &str = "http://no-location.invalid/";

/// Says why a model cannot be trained or measured.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
	/// The data cannot be read.
	#[error(transparent)]
	Data(#[from] DataError),
	/// The slice is none of this swarm.
	#[error("{}: {what}", .path.display())]
	Slice {
		/// Its file.
		path: PathBuf,
		/// What is wrong.
		what: String,
	},
	/// The swarm and the slice make no valid specification.
	#[error("what the swarm trains is no valid job with these data: {0}")]
	Spec(#[from] SpecError),
	/// It cannot be computed.
	#[error(transparent)]
	Engine(#[from] EngineError),
	/// The operating system gives no random numbers.
	#[error("the operating system gives no random numbers: {0}")]
	Random(String),
	/// There are no rows by which a model could be measured.
	#[error("there are no data yet by which a model could be measured: give a file with --data, or wait for a peer that serves some")]
	NoRows,
}

/// How a peer computes its steps where that is by virtual ranks.
#[derive(Clone)]
pub struct Sharing {
	/// Parts of a batch.
	pub ranks: u32,
	/// Who computes them.
	pub crew: Arc<Crew>,
}

impl std::fmt::Debug for Sharing {
	fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
		write!(f, "{} ranks", self.ranks)
	}
}

/// A slice of data.
pub struct Slice {
	/// What it is: also for others, where it is served.
	pub data: PartData,
	/// Its file.
	pub path: PathBuf,
	spec: CheckedSpec,
	rows: Arc<Data>,
	/// Rows of a step, where there are enough.
	wanted_batch: u32,
	engine: Engine,
	/// Who computes its steps, where these have more than one virtual rank.
	ranked: Option<(Arc<Crew>, Ranked)>,
}

/// Returns what is trained with data that have these rows. The seed, the number of steps and where the data are
/// do not matter here: nobody replays this.
fn spec_with(
	template: &JobSpec,
	file: &FileRef,
	rows: (u32, u32),
) -> Result<CheckedSpec, SpecError> {
	let mut spec = template.clone();
	let dataset = &mut spec.dataset;
	dataset.content_hash = file.content_hash;
	dataset.bytes = file.bytes;
	dataset.location = Text::new(HERE).unwrap_or_default();
	(dataset.train_rows, dataset.validation_rows) = rows;
	let training = &mut spec.training;
	training.batch_size = training.batch_size.min(rows.0);
	training.steps = STEPS;
	training.checkpoint_interval = STEPS;
	training.early_stop = None;
	spec.initial_model = None;
	spec.check()
}

/// Returns a specification of the template alone: for the shape of its models.
pub fn plain(template: &JobSpec) -> Result<CheckedSpec, SpecError> {
	JobSpec { initial_model: None, ..template.clone() }.check()
}

impl Slice {
	/// Reads a file that is in the format of the template.
	pub fn open(template: &JobSpec, path: &Path, who: &AccountId32) -> Result<Self, LearnError> {
		let Dataset { format, validation_every, features, classes, .. } = &template.dataset;
		let wrong = |what: String| LearnError::Slice { path: path.to_owned(), what };
		if template.dataset.labels.is_some() {
			return Err(wrong(
				"slices whose labels are files of their own cannot be used here".into(),
			));
		}
		let found = data::inspect(path, None, *format, *validation_every, *features)?;
		if found.features != *features || found.classes > *classes {
			return Err(wrong(format!(
				"it has {} inputs and {} classes, and the swarm {features} and {classes}",
				found.features, found.classes,
			)));
		}
		let small =
			|rows: u64| u32::try_from(rows).map_err(|_| wrong(format!("{rows} rows are too many")));
		let location = Text::new(HERE).unwrap_or_default();
		let data = PartData {
			file: FileRef { content_hash: found.content_hash, bytes: found.bytes, location },
			labels: None,
			train_rows: small(found.train_rows)?,
			validation_rows: small(found.validation_rows)?,
			rows: H256::zero(),
		};
		Self::of(template, data, path, who)
	}

	/// Reads a file of which somebody said what it has. Fails where it is another one.
	pub fn of(
		template: &JobSpec,
		data: PartData,
		path: &Path,
		who: &AccountId32,
	) -> Result<Self, LearnError> {
		let spec = spec_with(template, &data.file, (data.train_rows, data.validation_rows))?;
		let rows = Arc::new(data::load(path, None, &spec.dataset)?);
		// Two peers with the same slice see its rows in different orders.
		let seed = [who.0, data.file.content_hash.0].concat();
		let engine = Engine::new(&spec, hash::blake2_256(&seed), rows.clone())?;
		let wanted_batch = template.training.batch_size;
		Ok(Self { data, path: path.to_owned(), spec, rows, wanted_batch, engine, ranked: None })
	}

	/// Cuts its steps into the virtual ranks of these peers' processes. Fails where its batches cannot be cut so.
	pub fn shared(mut self, sharing: Option<&Sharing>) -> Result<Self, LearnError> {
		if let Some(Sharing { ranks, crew }) = sharing {
			let ranked = Ranked::new(&self.spec, *self.engine.seed(), *ranks)?;
			self.ranked = Some((crew.clone(), ranked));
		}
		Ok(self)
	}

	/// Trains a state with all rows once; `passes` says how often that was done before.
	pub fn train(&self, state: &TensorMap, passes: u32) -> Result<TensorMap, LearnError> {
		let mut state = State::from_host(state.clone())?;
		for step in self.steps_after(passes) {
			match &self.ranked {
				Some((crew, ranked)) => {
					crew.step(ranked, &self.engine, &mut state, step)?;
				}
				None => {
					self.engine.step(&mut state, step)?;
				}
			}
		}
		Ok(state.to_host()?)
	}

	/// Fails where a step cannot have as many rows as the swarm trains with at once: such steps are little work.
	pub fn is_enough(&self) -> Result<(), LearnError> {
		let (rows, batch) = (self.data.train_rows, self.wanted_batch);
		match rows >= batch {
			true => Ok(()),
			false => Err(LearnError::Slice {
				path: self.path.clone(),
				what: format!(
					"it has {rows} rows that train, and a step of this swarm takes {batch}"
				),
			}),
		}
	}

	/// Trains a state for so many steps by this seed, which says in what order rows come: the steps of outer step
	/// `base`, if all have as many. Whoever has the rows comes to the same.
	pub fn train_from(
		&self,
		state: TensorMap,
		seed: H256,
		base: u32,
		steps: u32,
	) -> Result<TensorMap, LearnError> {
		let engine = Engine::new(&self.spec, seed, self.rows.clone())?;
		let rounds = STEPS.checked_div(steps).unwrap_or(1).max(1);
		let first = base.checked_rem(rounds).unwrap_or_default().saturating_mul(steps);
		let mut state = State::from_host(state)?;
		for step in first..first.saturating_add(steps).min(STEPS) {
			engine.step(&mut state, step)?;
		}
		Ok(state.to_host()?)
	}

	/// Trains a state with as many rows, each taken by chance and hidden; what is drawn is seeded by the operating system.
	pub fn train_hiding(
		&self,
		state: &TensorMap,
		passes: u32,
		hiding: Hiding,
	) -> Result<TensorMap, LearnError> {
		let steps = PrivateSteps::new(&self.spec, hiding)?;
		let mut random =
			StdRng::try_from_os_rng().map_err(|e| LearnError::Random(e.to_string()))?;
		let mut state = State::from_host(state.clone())?;
		for step in self.steps_after(passes) {
			steps.step(&self.engine, &mut state, step, &mut random)?;
		}
		Ok(state.to_host()?)
	}

	/// Returns how many steps train with all rows once.
	pub fn steps(&self) -> u32 {
		let rows = self.spec.dataset.train_rows;
		rows.checked_div(self.spec.training.batch_size).unwrap_or(1).max(1)
	}

	/// Returns the part of the rows that is in a batch.
	pub fn rate(&self) -> f64 {
		f64::from(self.spec.training.batch_size) / f64::from(self.spec.dataset.train_rows)
	}

	/// Returns the steps of a pass, after so many.
	fn steps_after(&self, passes: u32) -> Range<u32> {
		let steps = self.steps();
		let most = STEPS.checked_div(steps).unwrap_or(1).max(1);
		let first = passes.checked_rem(most).unwrap_or_default().saturating_mul(steps);
		first..first.saturating_add(steps).min(STEPS)
	}

	/// Returns how many labels of the validation rows a state gets right.
	pub fn count(&self, state: &TensorMap) -> Result<Count, LearnError> {
		let found = self.engine.evaluate(&State::from_host(state.clone())?)?;
		let labels = self.data.validation_rows.saturating_mul(self.spec.labels_per_row());
		Ok(Count::of(&found, labels))
	}
}

/// All that one peer knows of its data. Clones share it.
#[derive(Clone)]
pub struct Learner {
	template: JobSpec,
	/// What the optimizer keeps, before the first step.
	optimizer: Arc<TensorMap>,
	slices: Arc<RwLock<Vec<Arc<Slice>>>>,
}

impl Learner {
	/// Makes one without any data.
	pub fn new(template: &JobSpec) -> Result<Self, LearnError> {
		let spec = plain(template)?;
		let mut optimizer = Engine::initial_state(&spec, &H256::zero(), None)?.to_host()?;
		optimizer.retain(|name, _| name.starts_with(OPTIMIZER_PREFIX));
		let template = template.clone();
		Ok(Self { template, optimizer: Arc::new(optimizer), slices: Arc::default() })
	}

	/// Returns what is trained.
	pub fn template(&self) -> &JobSpec {
		&self.template
	}

	/// Adds a slice.
	pub fn add(&self, slice: Slice) {
		self.slices.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(slice));
	}

	/// Returns the slices, in order.
	pub fn slices(&self) -> Vec<Arc<Slice>> {
		self.slices.read().unwrap_or_else(PoisonError::into_inner).clone()
	}

	/// Returns a state that has this model, and what an optimizer keeps: of `before`, or else as at first.
	pub fn state_of(&self, model: TensorMap, before: Option<&TensorMap>) -> TensorMap {
		let kept = before.unwrap_or(&self.optimizer).iter();
		let mut state: TensorMap = kept
			.filter(|(name, _)| name.starts_with(OPTIMIZER_PREFIX))
			.map(|(name, tensor)| (name.clone(), tensor.clone()))
			.collect();
		state.extend(model);
		state
	}

	/// Returns how many labels a state gets right of the validation rows of all slices.
	pub fn count(&self, state: &TensorMap) -> Result<Count, LearnError> {
		let mut all = Count { correct: 0, labels: 0 };
		for slice in self.slices() {
			let of_slice = slice.count(state)?;
			all.correct = all.correct.saturating_add(of_slice.correct);
			all.labels = all.labels.saturating_add(of_slice.labels);
		}
		match all.labels {
			0 => Err(LearnError::NoRows),
			_ => Ok(all),
		}
	}
}
