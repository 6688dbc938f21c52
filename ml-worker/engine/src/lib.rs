//! The strict engine. It trains and evaluates by executing the program of a specification on candle
//! tensors, with the same bits on every CPU.
//!
//! [`Engine::initial_state`] makes checkpoint 0, [`Engine::step`] takes a state one step further,
//! and [`Engine::evaluate`] scores it. A step needs nothing but the state before it and its own
//! number, so a verifier replays any segment from its first checkpoint.
//!
//! candle stores the tensors; its own operators and its autograd are not used, because their order
//! of operations depends on the machine. Every operator of the program is a candle custom operator
//! (`ops`) around one of our [`kernels`]; the elementwise ones of the update are executed
//! together (`fused`).
//!
//! # Example
//!
#![doc = "```rust"]
#![doc = include_str!("../examples/train_two_steps.rs")]
#![doc = "```"]

mod chains;
mod compute;
mod cuda;
mod device;
mod environment;
mod execute;
mod fault;
mod fused;
mod host;
pub mod kernels;
mod ops;
pub mod private;
pub mod ranks;
mod recorded;
mod runner;
mod state;
mod table;
#[cfg(test)]
mod tests;

pub use chains::ChainBatches;
pub use compute::{Compute, Target};
pub use device::DeviceError;
pub use fault::{Fault, MadeBy};
pub use host::{
	canonical_bytes, content_hash, first_nan, raw_bytes, state_hash, NanRule, Tensor32, TensorMap,
};
pub use kernels::{Isa, UnsupportedIsa, ISA_VARIABLE};
pub use ranks::{RankedStep, Ranks};
pub use recorded::{Made, Recording, SliceValues};
pub use runner::ProgramRunner;
pub use state::{Elements, State};
pub use table::{Data, Normalizer, StoredRows, Table, TableWriter};

use candle_core::{Device, Tensor};
use execute::{Bindings, CompiledProgram, Watcher};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use trainyard_program::{
	init,
	lower::{self, StateTensor},
	ops::Role,
	order::{self, Order, TabulatedOrder},
	reference::StepContext,
	spec::{CheckedSpec, Input},
	H256,
};
use trainyard_protocol::{bundle::Evaluation, trace};

/// Says why the engine cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
	/// The instruction set that was asked for cannot be used here.
	#[error(transparent)]
	Isa(#[from] UnsupportedIsa),
	/// The processor is in a mode in which results would differ.
	#[error("the processor does not compute as IEEE 754 says: {0}")]
	Arithmetic(&'static str),
	/// The data does not fit the specification.
	#[error("the {table} data does not fit the specification: {what}")]
	Data {
		/// `training` or `validation`.
		table: &'static str,
		/// What is wrong.
		what: String,
	},
	/// Rows that are kept in a file cannot be read.
	#[error("cannot read the temporary file that keeps the rows of the data: {0}")]
	Rows(#[from] std::io::Error),
	/// A state does not fit the specification.
	#[error("the state does not fit the specification: {what} ({tensor})")]
	State {
		/// The tensor.
		tensor: String,
		/// What is wrong with it.
		what: String,
	},
	/// The initial model of a fine-tuning is missing, or a model was given for a job that has none.
	#[error("the job {}", if *.wanted { "begins with an initial model, which was not given" } else { "has no initial model, but one was given" })]
	InitialModel {
		/// Whether the job has an initial model.
		wanted: bool,
	},
	/// An evaluation of the job has no such slice.
	#[error("slice {slice} is not one of the {slices} slices of an evaluation (from 0)")]
	NoSuchSlice {
		/// The slice asked for.
		slice: u32,
		/// Slices of an evaluation.
		slices: u32,
	},
	/// The job has no such step.
	#[error("step {step} is not one of the job's {steps} steps (from 0)")]
	NoSuchStep {
		/// The step asked for.
		step: u32,
		/// Steps of the job.
		steps: u32,
	},
	/// The batches of the job cannot be cut into so many parts.
	#[error(
		"a batch of {batch} rows is not cut into {ranks} equal parts: take a number of virtual ranks that divides \
		 {batch}"
	)]
	Ranks {
		/// The ranks asked for.
		ranks: u32,
		/// Rows of a batch.
		batch: u32,
	},
	/// Rows cannot be hidden so.
	#[error("rows are hidden by a clip and a noise that are above 0")]
	Hiding,
	/// Training diverged: a value is not a number.
	#[error(
		"training diverged: after step {step}, {tensor} holds a value that is not a number; a \
		 smaller learning rate may help"
	)]
	NotANumber {
		/// The step (from 0) that produced it.
		step: u32,
		/// The tensor.
		tensor: String,
	},
	/// A state overflows when it is evaluated.
	#[error("the model overflows: its validation loss is not a number")]
	LossNotANumber,
	/// An operator refused its operands.
	#[error("an operator failed: {0}")]
	Operator(trainyard_program::reference::ExecError),
	/// The device cannot be used, or it stopped.
	#[error(transparent)]
	Device(#[from] DeviceError),
	/// A tensor operation failed.
	#[error("a tensor operation failed: {0}")]
	Tensor(#[from] candle_core::Error),
}

/// The trace that a step leaves, see [`trace::step_leaf`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepTrace {
	/// Mean loss over the batch, before the update.
	pub loss: f32,
	/// [Content hash](content_hash) of the output of the last layer, `[labels of the batch,
	/// classes]`.
	pub logits: H256,
	/// Norm of the whole gradient before it is clipped; none if the job does not clip it. It is not
	/// part of the leaf.
	pub gradient_norm: Option<f32>,
}

impl StepTrace {
	/// Returns the leaf of the step in its segment's trace; `step` counts from 0 in the job.
	pub fn leaf(&self, step: u32) -> H256 {
		trace::step_leaf(step, self.loss, &self.logits)
	}
}

/// An evaluation, and what each of its slices comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
	/// Loss and correct labels over all validation rows.
	pub evaluation: Evaluation,
	/// For each [slice](trainyard_program::spec::JobSpec::slice_rows), ascending, the content hashes
	/// of the losses of its labels and of which labels are correct (0 or 1), as binary32.
	pub slices: Vec<(H256, H256)>,
}

impl Evaluated {
	/// Returns the leaf of the evaluation in a trace, after `step` steps.
	pub fn leaf(&self, step: u32) -> H256 {
		trace::evaluation_leaf(step, &self.evaluation, &trace::slices_root(&self.slices))
	}
}

/// Executes one specification under one seed.
pub struct Engine {
	spec: CheckedSpec,
	seed: H256,
	data: Arc<Data>,
	isa: Isa,
	/// The device that executes the programs, if it is not the processor.
	accelerator: Option<Arc<dyn cuda::Accelerator>>,
	/// What the accelerator cannot compute. From then on the processor computes everything.
	fell_back: OnceLock<String>,
	/// Labels of a row.
	labels: usize,
	/// The tensors that the specification asks of a state.
	state: Vec<StateTensor>,
	step: CompiledProgram,
	/// For each slice of the validation rows: its rows, and its program.
	evaluation: Vec<(std::ops::Range<usize>, Arc<CompiledProgram>)>,
	/// The order of the epoch last used.
	order: Mutex<Option<Arc<TabulatedOrder>>>,
}

impl Engine {
	/// Creates an engine on the device that was chosen ([`Compute::chosen`]). Without a choice this
	/// is the processor, with the fastest instruction set or the one that [`ISA_VARIABLE`] names.
	/// Fails if the data does not fit the specification, or if this machine cannot compute
	/// strictly.
	pub fn new(spec: &CheckedSpec, seed: H256, data: Arc<Data>) -> Result<Self, EngineError> {
		Self::on(spec, seed, data, Compute::chosen().target()?)
	}

	/// Creates an engine on the processor with this instruction set.
	pub fn with_isa(
		spec: &CheckedSpec,
		seed: H256,
		data: Arc<Data>,
		isa: Isa,
	) -> Result<Self, EngineError> {
		Self::on(spec, seed, data, Target::Cpu(isa))
	}

	/// Creates an engine on this device.
	pub fn on(
		spec: &CheckedSpec,
		seed: H256,
		data: Arc<Data>,
		target: Target,
	) -> Result<Self, EngineError> {
		let (isa, accelerator) = match target {
			Target::Cpu(isa) => (isa, None),
			Target::Cuda(accelerator) => (Isa::from_environment()?, Some(accelerator)),
		};
		environment::check().map_err(EngineError::Arithmetic)?;
		let d = &spec.dataset;
		check_table("training", &data.train, d.train_rows, spec)?;
		check_table("validation", &data.validation, d.validation_rows, spec)?;
		Ok(Self {
			step: CompiledProgram::new(lower::training_step(spec)),
			evaluation: evaluation_slices(spec),
			order: Mutex::new(None),
			labels: spec.labels_per_row() as usize,
			state: lower::state(spec),
			spec: spec.clone(),
			seed,
			data,
			isa,
			accelerator,
			fell_back: OnceLock::new(),
		})
	}

	/// Returns the data that it trains and validates on.
	pub fn data(&self) -> &Data {
		&self.data
	}

	/// Returns the instruction set in use.
	pub fn isa(&self) -> Isa {
		self.isa
	}

	/// Returns what the device cannot compute of this job, if anything: the processor goes on then, to
	/// the same bits.
	pub fn fell_back(&self) -> Option<&str> {
		self.fell_back.get().map(String::as_str)
	}

	/// Returns the device, if one computes.
	fn device(&self) -> Option<&Arc<dyn cuda::Accelerator>> {
		self.accelerator.as_ref().filter(|_| self.fell_back.get().is_none())
	}

	/// Returns what a device computed; `None` if it cannot, so that the processor must.
	fn unless_unsupported<T>(
		&self,
		computed: Result<T, EngineError>,
	) -> Result<Option<T>, EngineError> {
		match computed {
			Err(EngineError::Device(DeviceError::Unsupported(what))) => {
				// Another thread may have noticed it first.
				let _ = self.fell_back.set(what);
				Ok(None)
			}
			computed => computed.map(Some),
		}
	}

	/// Returns checkpoint 0, a pure function of specification and seed, and of a fine-tuning's
	/// initial model. A model must be given if and only if the job has one: its parameters, all of
	/// them finite. The optimizer always begins from its initial state.
	pub fn initial_state(
		spec: &CheckedSpec,
		seed: &H256,
		initial_model: Option<&TensorMap>,
	) -> Result<State, EngineError> {
		environment::check().map_err(EngineError::Arithmetic)?;
		let wanted = spec.initial_model.is_some();
		if wanted != initial_model.is_some() {
			return Err(EngineError::InitialModel { wanted });
		}
		let kept = |name: &str| wanted && !name.starts_with(lower::OPTIMIZER_PREFIX);
		let mut tensors = lower::state(spec)
			.into_par_iter()
			.filter(|tensor| !kept(&tensor.name))
			.map(|tensor| {
				let data = init::initial(seed, &tensor);
				(tensor.name, Tensor32 { shape: tensor.shape, data })
			})
			.collect::<TensorMap>();
		let Some(model) = initial_model else { return State::from_host(tensors) };
		for (name, tensor) in model {
			if !kept(name) {
				return Err(state::wrong(name, "it is no parameter of a model"));
			}
			tensors.insert(name.clone(), tensor.clone());
		}
		let state = State::from_host(tensors)?;
		state.check_shapes(spec)?;
		for (name, tensor) in model {
			if !tensor.data.iter().all(|x| x.is_finite()) {
				return Err(state::wrong(name, "it holds an infinity, or what is not a number"));
			}
		}
		Ok(state)
	}

	/// Takes `state`, which `step` steps have made, one step further. Steps are numbered from 0 and
	/// may be taken in any order: each finds its batch by its number. On an error the state is
	/// unchanged. On a GPU the state stays there, see [`State::host`].
	pub fn step(&self, state: &mut State, step: u32) -> Result<StepTrace, EngineError> {
		self.step_watched(state, step, None)
	}

	fn step_watched(
		&self,
		state: &mut State,
		step: u32,
		see: Option<&mut Watcher<'_>>,
	) -> Result<StepTrace, EngineError> {
		let steps = self.spec.training.steps;
		if step >= steps {
			return Err(EngineError::NoSuchStep { step, steps });
		}
		// A watched step is taken on the processor: its values are the same.
		if let (Some(device), None) = (self.device(), &see) {
			let computed = self.step_on(device, state, step);
			if let Some((trace, _)) = self.unless_unsupported(computed)? {
				return Ok(trace);
			}
		}
		state.host()?;
		state.check(&self.state)?;
		let (next, trace) = in_pool(|| self.next(state, step, see))?;
		state.tensors.extend(next);
		Ok(trace)
	}

	/// Returns the state after `state`, which `step` steps have made.
	fn next(
		&self,
		state: &State,
		step: u32,
		see: Option<&mut Watcher<'_>>,
	) -> Result<(Vec<(String, Tensor)>, StepTrace), EngineError> {
		let (features, labels) = self.batch(step)?;
		let moment = StepContext { seed: self.seed, step };
		let given = Bindings { features, labels, state, moment };
		let values = match see {
			Some(see) => self.step.run_watched(self.isa, given, see)?,
			None => self.step.run(self.isa, given)?,
		};
		let next = self.step.next_state(&values, step)?;
		let trace = StepTrace {
			loss: values.role(Role::Loss)?.to_vec1::<f32>()?.first().copied().unwrap_or_default(),
			logits: host::hash_of(state::elements(values.role(Role::Logits)?)?.slice()),
			gradient_norm: match self.step.gradient_squares() {
				Some(squares) => Some(values.number(squares)?.sqrt()),
				None => None,
			},
		};
		if trace.loss.is_nan() {
			return Err(EngineError::NotANumber { step, tensor: "loss".into() });
		}
		Ok((next, trace))
	}

	/// Scores the parameters of `state` on the validation rows.
	pub fn evaluate(&self, state: &State) -> Result<Evaluation, EngineError> {
		Ok(self.evaluate_slices(state)?.evaluation)
	}

	/// Does what [`Self::evaluate`] does, and also returns what each slice comes to.
	pub fn evaluate_slices(&self, state: &State) -> Result<Evaluated, EngineError> {
		self.evaluate_watched(state, None)
	}

	fn evaluate_watched(
		&self,
		state: &State,
		see: Option<&mut Watcher<'_>>,
	) -> Result<Evaluated, EngineError> {
		if let (Some(device), None) = (self.device(), &see) {
			let computed = self.evaluate_on(device, state);
			if let Some((found, _)) = self.unless_unsupported(computed)? {
				return Ok(found);
			}
		}
		let state = state.on_host()?;
		state.check(&self.state)?;
		in_pool(|| self.score(&state, see))
	}

	fn score(
		&self,
		state: &State,
		see: Option<&mut Watcher<'_>>,
	) -> Result<Evaluated, EngineError> {
		let mut sums = Slices::new(self.data.validation.labels());
		self.each_slice(state, see, |losses, correct| sums.take(losses, correct))?;
		Ok(sums.finish(self.isa)?.0)
	}

	/// Evaluates a state, and hands losses and correct labels of each slice to `take`.
	fn each_slice(
		&self,
		state: &State,
		mut see: Option<&mut Watcher<'_>>,
		mut take: impl FnMut(&[f32], &[f32]),
	) -> Result<(), EngineError> {
		for (rows, plan) in &self.evaluation {
			let given = self.slice_bindings(state, rows.clone())?;
			let values = match see.as_mut() {
				Some(see) => plan.run_watched(self.isa, given, &mut **see)?,
				None => plan.run(self.isa, given)?,
			};
			let losses = state::elements(values.role(Role::RowLosses)?)?;
			take(losses.slice(), state::elements(values.role(Role::Correct)?)?.slice());
		}
		Ok(())
	}

	/// Returns what the evaluation of these validation rows reads.
	fn slice_bindings<'a>(
		&self,
		state: &'a State,
		rows: std::ops::Range<usize>,
	) -> Result<Bindings<'a>, EngineError> {
		let (features, labels) = self.rows(&self.data.validation, rows)?;
		// No operator of an evaluation depends on the moment.
		Ok(Bindings { features, labels, state, moment: StepContext::default() })
	}

	/// Returns the features and labels of the batch of `step`.
	fn batch(&self, step: u32) -> Result<(Tensor, Tensor), EngineError> {
		let place = order::place(&self.spec, step);
		let rows = self.order(place.epoch).rows(place.positions);
		self.rows(&self.data.train, rows.iter().map(|row| *row as usize))
	}

	/// Returns the features and labels of these rows.
	fn rows(
		&self,
		table: &Table,
		rows: impl ExactSizeIterator<Item = usize>,
	) -> Result<(Tensor, Tensor), EngineError> {
		let shape = (rows.len(), table.features);
		let (x, y) = table.gather(rows, self.labels)?;
		let labels = y.len();
		Ok((Tensor::from_vec(x, shape, &Device::Cpu)?, Tensor::from_vec(y, labels, &Device::Cpu)?))
	}

	/// Returns the order of the training rows in `epoch`.
	fn order(&self, epoch: u32) -> Arc<TabulatedOrder> {
		let mut cached = self.order.lock().unwrap_or_else(PoisonError::into_inner);
		match &*cached {
			Some(order) if order.epoch() == epoch => order.clone(),
			_ => {
				let order = Order::new(&self.seed, epoch, self.spec.dataset.train_rows);
				cached.insert(Arc::new(order.tabulate())).clone()
			}
		}
	}
}

/// What the slices of an evaluation come to, as they are computed.
struct Slices {
	losses: Vec<f32>,
	correct: u32,
	contents: Vec<(H256, H256)>,
}

impl Slices {
	/// Begins with none; all of them have that many labels.
	fn new(labels: usize) -> Self {
		Self { losses: Vec::with_capacity(labels), correct: 0, contents: Vec::new() }
	}

	/// Takes the next slice: the losses of its labels, and which of them are correct.
	fn take(&mut self, losses: &[f32], correct: &[f32]) {
		self.contents.push((host::hash_of(losses), host::hash_of(correct)));
		self.losses.extend_from_slice(losses);
		self.correct += correct.iter().filter(|hit| **hit == 1.0).count() as u32;
	}

	/// Computes the program's last operator over the rows of all slices. Returns also the losses of
	/// all labels, in their order.
	fn finish(self, isa: Isa) -> Result<(Evaluated, Vec<f32>), EngineError> {
		let Self { losses, correct, contents: slices } = self;
		let loss = kernels::reduce::sum(isa, &losses) / losses.len() as f32;
		if loss.is_nan() {
			return Err(EngineError::LossNotANumber);
		}
		let evaluation = Evaluation::new(loss, correct, losses.len() as u32);
		Ok((Evaluated { evaluation, slices }, losses))
	}
}

/// Runs `f` on one of rayon's threads, or on this one if it is one of them. Operators that share
/// out work from there need not hand it to another thread each time.
fn in_pool<R: Send>(f: impl FnOnce() -> R + Send) -> R {
	match rayon::current_thread_index() {
		Some(_) => f(),
		None => rayon::scope(|_| f()),
	}
}

/// Returns the validation rows in slices, with a program for each.
fn evaluation_slices(spec: &CheckedSpec) -> Vec<(std::ops::Range<usize>, Arc<CompiledProgram>)> {
	let all = spec.dataset.validation_rows;
	let size = spec.slice_rows();
	let plan = |rows| Arc::new(CompiledProgram::new(lower::evaluation_of(spec, rows)));
	let mut slices = Vec::new();
	let whole = all / size * size;
	if whole > 0 {
		let (plan, size) = (plan(size), size as usize);
		let begins = (0..whole as usize).step_by(size);
		slices.extend(begins.map(|begin| (begin..begin + size, plan.clone())));
	}
	if whole < all {
		slices.push((whole as usize..all as usize, plan(all - whole)));
	}
	slices
}

fn check_table(
	name: &'static str,
	table: &Table,
	rows: u32,
	spec: &CheckedSpec,
) -> Result<(), EngineError> {
	let (features, classes) = (spec.dataset.features, spec.dataset.classes);
	let wrong = |what: String| Err(EngineError::Data { table: name, what });
	let labels = spec.labels_per_row() as usize;
	if table.labels() != rows as usize * labels {
		let found = table.labels() / labels;
		return wrong(format!("it has {found} rows, and {rows} are declared"));
	}
	if table.features != features as usize {
		return wrong(format!("rows have {} inputs, not the declared {features}", table.features));
	}
	if table.inputs() != rows as usize * table.features {
		return wrong(format!("{} inputs do not make {rows} rows of {features}", table.inputs()));
	}
	let tokens = spec.model.input() == Input::Tokens;
	let is_token = |x: &f32| *x >= 0.0 && x.fract() == 0.0 && *x < classes as f32;
	table.each(labels, |row, x, y| {
		if let Some(column) = x.iter().position(|x| !x.is_finite()) {
			return wrong(format!(
				"input {column} of its row {row} (from 0) is not a finite number"
			));
		}
		if tokens && !x.iter().all(is_token) {
			return wrong(format!("its inputs are not all tokens below {classes}"));
		}
		match y.iter().find(|label| **label >= classes) {
			Some(label) => wrong(format!(
				"the label of its row {row} (from 0) is {label}; {classes} classes have labels \
				 below"
			)),
			None => Ok(()),
		}
	})
}
