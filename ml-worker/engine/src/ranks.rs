//! Virtual ranks: a step whose batch is cut into parts, so that several processes can compute it.
//!
//! The batch of a step is cut into `V` equal consecutive parts, of which each is that of one *rank*. A rank
//! computes the gradient of the mean loss of its own part, by the operators of a training step over as many
//! rows. The gradients of all ranks are added in a tree over their numbers: 0 and 1, 2 and 3 and so on, then the
//! sums of these in pairs, up to one; where the last of a level has no pair, it goes up as it is. The root is
//! divided by `V`, and clipping and optimizer go on from there as after a backward pass.
//!
//! So the result depends on `V`, and on nothing else: not on how many processes compute the ranks, which of them
//! computes which, or in what order they are done. A part of gradient accumulation is the same thing: one process
//! that computes all ranks, one after the other.
//!
//! Rank 0 draws its dropout and its noise from the seed of the training, and each other rank from
//! [a seed of its own](Ranks::seed_of). With one rank the step is that of [`Engine::step`], bit for bit. No other
//! operator of a step sees more than a row of the batch, except those that sum over it: nothing of a batch is
//! kept from one step to the next.
//!
//! [`Ranks`] computes [nodes](Node) of the tree from rows and parameters alone, and takes the root to the next
//! state. What moves rows, parameters and sums between processes is not here.

use super::{
	environment,
	execute::{Bindings, CompiledProgram},
	host, in_pool,
	kernels::reduce,
	state, Engine, EngineError, Isa, State, TensorMap,
};
use candle_core::{Device, Tensor};
use rayon::prelude::*;
use std::{collections::BTreeMap, ops::Range};
use trainyard_program::{
	lower::{self, StateTensor},
	ops::{Phase, Program, Role, TensorId},
	order,
	reference::StepContext,
	spec::{CheckedSpec, Input},
	H256,
};

/// Elements from which sums are computed on several threads.
const PARALLEL_FROM: usize = 1 << 16;
/// What the seeds of ranks are derived for.
const SEED_CONTEXT: &str = "trainyard: the seed of a virtual rank of a training step";

/// Rows of a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
	/// Inputs, row by row.
	pub features: Vec<f32>,
	/// Labels, row by row.
	pub labels: Vec<u32>,
}

/// A node of the tree over the ranks of a step. At level 0 are the ranks themselves; a node above it is the sum of
/// the two below it, `2 index` and `2 index + 1`, or the first of them where there is no second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
	/// Levels below it.
	pub level: u32,
	/// Its number among those of its level, from 0.
	pub index: u32,
}

impl Node {
	/// Returns how many nodes a level has over so many ranks.
	pub fn count(level: u32, ranks: u32) -> u32 {
		let width = 1u64.checked_shl(level).unwrap_or(u64::MAX).max(1);
		u32::try_from(u64::from(ranks).div_ceil(width)).unwrap_or(u32::MAX)
	}

	/// Returns the level of the root.
	pub fn root_level(ranks: u32) -> u32 {
		ranks.max(1).next_power_of_two().trailing_zeros()
	}

	/// Returns the ranks below it, of so many.
	pub fn ranks(self, ranks: u32) -> Range<u32> {
		// Beyond 64 levels there is nothing but the first node.
		let first = |index: u128| {
			let first = index << self.level.min(64);
			u32::try_from(first).unwrap_or(u32::MAX).min(ranks)
		};
		first(self.index.into())..first(u128::from(self.index) + 1)
	}
}

/// Adds `other` to a sum, element by element.
pub fn add(sum: &mut [f32], other: &[f32]) {
	let each = |(sum, other): (&mut f32, &f32)| *sum += other;
	if sum.len() < PARALLEL_FROM {
		sum.iter_mut().zip(other).for_each(each);
	} else {
		let parts = sum.par_chunks_mut(PARALLEL_FROM / 4);
		parts.zip(other.par_chunks(PARALLEL_FROM / 4)).for_each(|(sum, other)| {
			sum.iter_mut().zip(other).for_each(each);
		});
	}
}

/// Adds the nodes of one level, in order, up to the root; `None` without any.
pub fn root(mut sums: Vec<Vec<f32>>) -> Option<Vec<f32>> {
	while sums.len() > 1 {
		let mut above = Vec::with_capacity(sums.len().div_ceil(2));
		let mut below = sums.into_iter();
		while let Some(mut first) = below.next() {
			if let Some(second) = below.next() {
				add(&mut first, &second);
			}
			above.push(first);
		}
		sums = above;
	}
	sums.pop()
}

/// What a step of ranks leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedStep {
	/// Mean loss over the batch, before the update: the ranks' losses are added like their gradients.
	pub loss: f32,
	/// Norm of the whole gradient before it is clipped; none if the job does not clip it.
	pub gradient_norm: Option<f32>,
}

/// The step of a specification, in parts: what one rank computes, and the update.
pub struct Ranks {
	count: u32,
	isa: Isa,
	classes: u32,
	tokens: bool,
	/// Rows, inputs of a row and labels of a row of a part.
	rows: usize,
	features: usize,
	labels: usize,
	/// Forward and backward pass over the rows of a part.
	pass: CompiledProgram,
	/// The gradients that it leaves, in the order of their numbers.
	gradients: Vec<TensorId>,
	/// From the gradients to the next state.
	update: CompiledProgram,
	/// Name and shape of each gradient, as the update reads them.
	read: Vec<(String, Vec<usize>)>,
	state: Vec<StateTensor>,
}

impl Ranks {
	/// Cuts the batches of a specification into the parts of so many ranks. Fails if they cannot be cut so, or if
	/// this machine cannot compute strictly.
	pub fn new(spec: &CheckedSpec, count: u32) -> Result<Self, EngineError> {
		Self::with_isa(spec, count, Isa::from_environment()?)
	}

	/// Does what [`Self::new`] does, for this instruction set.
	pub fn with_isa(spec: &CheckedSpec, count: u32, isa: Isa) -> Result<Self, EngineError> {
		environment::check().map_err(EngineError::Arithmetic)?;
		let batch = spec.training.batch_size;
		let wrong = || EngineError::Ranks { ranks: count, batch };
		let rows = batch.checked_div(count).ok_or_else(wrong)?;
		if rows.checked_mul(count) != Some(batch) || rows == 0 {
			return Err(wrong());
		}
		let mut part = spec.clone().into_spec();
		part.training.batch_size = rows;
		// Nothing that is checked depends on it where it gets smaller.
		let part = part.check().map_err(|_| wrong())?;
		let (pass, update, gradients) = split(lower::training_step(&part));
		let read = gradients.iter().filter_map(|id| update.tensor(*id)).map(|tensor| {
			(tensor.name.clone(), tensor.shape.iter().map(|extent| *extent as usize).collect())
		});
		Ok(Self {
			count,
			isa,
			classes: spec.dataset.classes,
			tokens: spec.model.input() == Input::Tokens,
			rows: rows as usize,
			features: spec.dataset.features as usize,
			labels: spec.labels_per_row() as usize,
			read: read.collect(),
			pass: CompiledProgram::keeping(pass, &gradients),
			update: CompiledProgram::new(update),
			gradients,
			state: lower::state(spec),
		})
	}

	/// Returns how many ranks there are.
	pub fn count(&self) -> u32 {
		self.count
	}

	/// Returns the length of a sum: the elements of all gradients, and the loss.
	pub fn sum_len(&self) -> usize {
		self.read.iter().map(|(_, shape)| shape.iter().product::<usize>()).sum::<usize>() + 1
	}

	/// Returns how many inputs and how many labels the rows of so many ranks have.
	pub fn row_lens(&self, ranks: usize) -> (usize, usize) {
		let rows = ranks * self.rows;
		(rows * self.features, rows * self.labels)
	}

	/// Returns the seed from which a rank draws dropout and noise. That of rank 0 is the training's, so that one
	/// rank alone is a plain step.
	pub fn seed_of(seed: &H256, rank: u32) -> H256 {
		match rank {
			0 => *seed,
			_ => {
				H256(blake3::derive_key(SEED_CONTEXT, &[&seed.0[..], &rank.to_le_bytes()].concat()))
			}
		}
	}

	/// Returns the parameters of a state, one after the other in the order of their names, as
	/// [`Self::parameters_from`] takes them.
	pub fn parameters_of(&self, state: &mut State) -> Result<Vec<f32>, EngineError> {
		state.host()?;
		state.check(&self.state)?;
		let mut all = Vec::with_capacity(self.parameters_len());
		for (_, tensor) in state.parameters() {
			all.extend_from_slice(state::elements(tensor)?.slice());
		}
		Ok(all)
	}

	/// Returns how many numbers the parameters have.
	pub fn parameters_len(&self) -> usize {
		self.parameters().values().map(|shape| shape.iter().product::<usize>()).sum()
	}

	/// Makes of these numbers a state that has parameters alone.
	pub fn parameters_from(&self, numbers: &[f32]) -> Result<State, EngineError> {
		let (mut rest, mut tensors) = (numbers, TensorMap::new());
		for (name, shape) in self.parameters() {
			let Some((data, after)) = rest.split_at_checked(shape.iter().product()) else {
				return Err(state::wrong(name, "there are fewer numbers than it has"));
			};
			rest = after;
			let shape = shape.into_iter().map(|extent| extent as u32).collect();
			tensors.insert(name.to_owned(), host::Tensor32 { shape, data: data.to_vec() });
		}
		if !rest.is_empty() {
			return Err(state::wrong("parameters", "there are more numbers than they have"));
		}
		State::from_host(tensors)
	}

	/// Names and shapes of the parameters, in the order of their names.
	fn parameters(&self) -> BTreeMap<&str, Vec<usize>> {
		let all =
			self.state.iter().filter(|tensor| !tensor.name.starts_with(lower::OPTIMIZER_PREFIX));
		all.map(|tensor| {
			let shape = tensor.shape.iter().map(|extent| *extent as usize).collect();
			(tensor.name.as_str(), shape)
		})
		.collect()
	}

	/// Computes a node of the tree, at `step` under the seed of the training, from the parameters and the rows of
	/// the ranks below it: the sum of their gradients, and behind it that of their losses.
	pub fn sum(
		&self,
		parameters: &State,
		seed: &H256,
		step: u32,
		node: Node,
		rows: &Rows,
	) -> Result<Vec<f32>, EngineError> {
		let ranks = node.ranks(self.count);
		if ranks.is_empty() || node.level > Node::root_level(self.count) {
			let what = format!("{node:?} is no node over {} ranks", self.count);
			return Err(EngineError::Data { table: "batch's", what });
		}
		self.check_rows(ranks.len(), rows)?;
		let (count, first) = (self.count, ranks.start);
		let context = Context { parameters, seed, step, count, first, rows, clip: None };
		in_pool(|| self.sum_below(&context, node))
	}

	/// Computes the sum of the gradients of any number of parts, each of which is scaled down to a norm of at most
	/// `clip` before, in the tree over as many ranks; one that is no number counts as zeros. Behind it is the sum of the
	/// losses, as they are.
	pub fn clipped_sum(
		&self,
		parameters: &State,
		seed: &H256,
		step: u32,
		rows: &Rows,
		clip: f32,
	) -> Result<Vec<f32>, EngineError> {
		let (inputs, _) = self.row_lens(1);
		let parts = rows.features.len().checked_div(inputs).unwrap_or_default();
		self.check_rows(parts, rows)?;
		if parts == 0 {
			return Ok(vec![0.0; self.sum_len()]);
		}
		let count = u32::try_from(parts).unwrap_or(u32::MAX);
		let context = Context { parameters, seed, step, count, first: 0, rows, clip: Some(clip) };
		let all = Node { level: Node::root_level(count), index: 0 };
		in_pool(|| self.sum_below(&context, all))
	}

	fn sum_below(&self, context: &Context<'_>, node: Node) -> Result<Vec<f32>, EngineError> {
		let Some(level) = node.level.checked_sub(1) else {
			return self.of_rank(context, node.index);
		};
		let index = node.index.saturating_mul(2);
		let (first, second) =
			(Node { level, index }, Node { level, index: index.saturating_add(1) });
		if second.ranks(context.count).is_empty() {
			return self.sum_below(context, first);
		}
		let below = |node| move || self.sum_below(context, node);
		let (sum, other) = match context.clip {
			// Parts that are clipped are small: threads take different ones.
			Some(_) => rayon::join(below(first), below(second)),
			None => (below(first)(), below(second)()),
		};
		let mut sum = sum?;
		add(&mut sum, &other?);
		Ok(sum)
	}

	/// Computes the gradients and the loss of one rank.
	fn of_rank(&self, context: &Context<'_>, rank: u32) -> Result<Vec<f32>, EngineError> {
		let at = (rank - context.first) as usize;
		let ((x, y), (x_len, y_len)) = (self.row_lens(at), self.row_lens(1));
		let features = context.rows.features[x..x + x_len].to_vec();
		let labels = context.rows.labels[y..y + y_len].to_vec();
		let given = Bindings {
			features: Tensor::from_vec(features, (self.rows, self.features), &Device::Cpu)?,
			labels: Tensor::from_vec(labels, y_len, &Device::Cpu)?,
			moment: StepContext { seed: Self::seed_of(context.seed, rank), step: context.step },
			state: context.parameters,
		};
		let values = self.pass.run(self.isa, given)?;
		let mut sum = Vec::with_capacity(self.sum_len());
		for id in &self.gradients {
			sum.extend_from_slice(state::elements(values.tensor(*id)?)?.slice());
		}
		if let Some(most) = context.clip {
			self.clip(&mut sum, most);
		}
		sum.extend_from_slice(state::elements(values.role(Role::Loss)?)?.slice());
		Ok(sum)
	}

	/// Scales a gradient down to a norm of at most `most`.
	fn clip(&self, gradient: &mut [f32], most: f32) {
		let (mut rest, mut squares) = (&*gradient, 0.0);
		for (_, shape) in &self.read {
			let (part, after) = rest.split_at(shape.iter().product());
			rest = after;
			squares += reduce::sum_squares(self.isa, part);
		}
		// Rounding moves a norm by less than this part of it, so the bound holds of what is added.
		let norm = squares.sqrt() * (1.0 + 1.0 / 4_096.0);
		if !norm.is_finite() {
			gradient.fill(0.0);
		} else if norm > most {
			let factor = most / norm;
			gradient.iter_mut().for_each(|x| *x *= factor);
		}
	}

	/// Checks rows that may have come from another process.
	fn check_rows(&self, ranks: usize, rows: &Rows) -> Result<(), EngineError> {
		let wrong = |what: String| Err(EngineError::Data { table: "batch's", what });
		let (inputs, labels) = self.row_lens(ranks);
		if (rows.features.len(), rows.labels.len()) != (inputs, labels) {
			return wrong(format!(
				"{} inputs and {} labels are not the {inputs} and {labels} of {ranks} ranks",
				rows.features.len(),
				rows.labels.len()
			));
		}
		let classes = self.classes as f32;
		let is_token = |x: &f32| *x >= 0.0 && x.fract() == 0.0 && *x < classes;
		if self.tokens && !rows.features.iter().all(is_token) {
			return wrong(format!("its inputs are not all tokens below {classes}"));
		}
		match rows.labels.iter().find(|label| **label >= self.classes) {
			Some(label) => wrong(format!("the label {label} is not below {classes}")),
			None => Ok(()),
		}
	}

	/// Takes a state one step further by the root of the tree: divides it by the number of ranks, clips and lets the
	/// optimizer take its step. On an error the state is unchanged.
	pub fn update(
		&self,
		state: &mut State,
		step: u32,
		root: Vec<f32>,
	) -> Result<RankedStep, EngineError> {
		state.host()?;
		state.check(&self.state)?;
		if root.len() != self.sum_len() {
			return Err(state::wrong("gradient", "it has another length than the model's"));
		}
		let (next, done) = in_pool(|| self.next(state, step, root))?;
		state.tensors.extend(next);
		Ok(done)
	}

	fn next(
		&self,
		state: &State,
		step: u32,
		mut root: Vec<f32>,
	) -> Result<(Vec<(String, Tensor)>, RankedStep), EngineError> {
		let count = self.count as f32;
		root.iter_mut().for_each(|x| *x /= count);
		let mut given = state.clone();
		let mut rest = root.as_slice();
		for (name, shape) in &self.read {
			let (data, after) = rest.split_at(shape.iter().product());
			rest = after;
			let tensor = Tensor::from_vec(data.to_vec(), shape.as_slice(), &Device::Cpu)?;
			given.tensors.insert(name.clone(), tensor);
		}
		let loss = rest.first().copied().unwrap_or(f32::NAN);
		// No operator of the update reads rows, and none draws.
		let none = Tensor::zeros(0, candle_core::DType::F32, &Device::Cpu)?;
		let moment = StepContext { step, ..StepContext::default() };
		let given = Bindings { features: none.clone(), labels: none, moment, state: &given };
		let values = self.update.run(self.isa, given)?;
		let next = self.update.next_state(&values, step)?;
		if loss.is_nan() {
			return Err(EngineError::NotANumber { step, tensor: "loss".into() });
		}
		let gradient_norm = match self.update.gradient_squares() {
			Some(squares) => Some(values.number(squares)?.sqrt()),
			None => None,
		};
		Ok((next, RankedStep { loss, gradient_norm }))
	}

	/// Takes a state one step further in this process: all ranks, and the update.
	pub fn step(
		&self,
		engine: &Engine,
		state: &mut State,
		step: u32,
	) -> Result<RankedStep, EngineError> {
		state.host()?;
		state.check(&self.state)?;
		let all = Node { level: Node::root_level(self.count), index: 0 };
		let rows = self.rows_of(engine, step, all)?;
		let root = self.sum(state, engine.seed(), step, all, &rows)?;
		self.update(state, step, root)
	}

	/// Returns the rows of the ranks below a node.
	pub fn rows_of(&self, engine: &Engine, step: u32, node: Node) -> Result<Rows, EngineError> {
		let ranks = node.ranks(self.count);
		let rows = self.rows as u32;
		engine.batch_rows(step, ranks.start * rows..ranks.end * rows)
	}
}

/// What the ranks below a node have in common.
struct Context<'a> {
	parameters: &'a State,
	seed: &'a H256,
	step: u32,
	/// All ranks of the tree.
	count: u32,
	/// The rank to which the first of the rows belong.
	first: u32,
	rows: &'a Rows,
	/// Norm to which each rank's gradient is scaled down.
	clip: Option<f32>,
}

/// Cuts a training step before its update. Returns both parts, and the gradients: what the passes compute and the
/// update reads.
fn split(step: Program) -> (Program, Program, Vec<TensorId>) {
	let (update, passes): (Vec<_>, Vec<_>) =
		step.ops.into_iter().partition(|op| op.phase == Phase::Update);
	let read: Vec<TensorId> = update.iter().flat_map(|op| op.kind.inputs()).collect();
	let mut gradients: Vec<TensorId> =
		passes.iter().map(|op| op.out).filter(|id| read.contains(id)).collect();
	gradients.sort_unstable();
	let mut given = step.tensors.clone();
	for (at, id) in gradients.iter().enumerate() {
		if let Some(tensor) = given.get_mut(*id as usize) {
			// To the update they are given like the state. No tensor of a state has such a name.
			tensor.name = format!("gradient {at}");
			tensor.role = Role::State;
		}
	}
	let passes = Program { tensors: step.tensors, ops: passes };
	(passes, Program { tensors: given, ops: update }, gradients)
}

impl Engine {
	/// Returns the seed of the training.
	pub fn seed(&self) -> &H256 {
		&self.seed
	}

	/// Returns these training rows, by their numbers.
	pub fn training_rows(&self, rows: &[u32]) -> Result<Rows, EngineError> {
		let all = self.spec.dataset.train_rows;
		if let Some(row) = rows.iter().find(|row| **row >= all) {
			let what = format!("it has {all} rows, and none of number {row}");
			return Err(EngineError::Data { table: "training", what });
		}
		let rows = rows.iter().map(|row| *row as usize);
		let (features, labels) = self.data.train.gather(rows, self.labels)?;
		Ok(Rows { features, labels })
	}

	/// Returns rows of the batch of `step`, by their places in it.
	pub fn batch_rows(&self, step: u32, places: Range<u32>) -> Result<Rows, EngineError> {
		let steps = self.spec.training.steps;
		if step >= steps {
			return Err(EngineError::NoSuchStep { step, steps });
		}
		let place = order::place(&self.spec, step);
		let first = place.positions.start;
		let end = first.saturating_add(places.end).min(place.positions.end);
		let rows = self.order(place.epoch).rows(first.saturating_add(places.start)..end);
		let rows = rows.iter().map(|row| *row as usize);
		let (features, labels) = self.data.train.gather(rows, self.labels)?;
		Ok(Rows { features, labels })
	}
}
