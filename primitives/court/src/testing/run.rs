//! Runs by the reference executor, in memory: honest ones, and such as change one thing and go on
//! consistently from there.

use crate::{
	game::{player::*, types::*},
	referee::{proving::Holder, state_file, Computation, Lowered, Origin, StateTensors},
	testing::{Computed, World},
};
use std::collections::BTreeMap;
use trainyard_program::{
	ops::Role,
	spec::{CheckedSpec, InitialModel, JobSpec},
};
use trainyard_protocol::{
	blob,
	bundle::{bundle_leaves, bundle_root, Checkpoint, Diverged, Evaluation},
	content,
	job::WorkResult,
	merkle::Frontier,
	model_file::Layout,
	rows::Rows,
	state::{state_hash, TensorDigest},
	trace, H256,
};
use trainyard_strict::SumChain;

/// A job, its rows, and what its training begins with where that is not drawn.
pub struct Job {
	pub world: World,
	/// The bytes of the parameters of a fine-tuning.
	pub parameters: Vec<Vec<u8>>,
}

impl Job {
	pub fn new(spec: JobSpec) -> Self {
		Self { world: World::new(spec), parameters: vec![] }
	}

	pub fn spec(&self) -> &CheckedSpec {
		&self.world.case.spec
	}

	/// Makes it a fine-tuning that begins with parameters of these numbers, in the order of the state.
	pub fn tuned(mut self, number: impl Fn(&str, u64) -> f32) -> Self {
		let tensors = StateTensors::parameters(self.spec());
		let mut digests = vec![];
		for (index, tensor) in (0..).zip(tensors.tensors()) {
			let elements = 0..tensors.elements(index).unwrap();
			let values: Vec<f32> = elements.map(|element| number(&tensor.name, element)).collect();
			let bytes = content::le_bytes(&values);
			let (name, shape) = (tensor.name.clone(), tensor.shape.clone());
			digests.push(TensorDigest::of_f32(name, shape, content::hash(&bytes)));
			self.parameters.push(bytes);
		}
		let mut spec = self.spec().spec().clone();
		let file = spec.dataset.file();
		spec.initial_model = Some(InitialModel { file, parameters: state_hash(digests) });
		self.world.case.spec = spec.check().unwrap();
		self
	}

	/// Gives it other inputs of the training and of the validation rows.
	pub fn with_inputs(mut self, number: impl Fn(bool, u64) -> f32) -> Self {
		for (at, validates) in [(0, false), (2, true)] {
			let count = self.world.rows[at].len() as u64 / 4;
			let inputs: Vec<f32> = (0..count).map(|i| number(validates, i)).collect();
			self.world.rows[at] = content::le_bytes(&inputs);
		}
		let mut spec = self.spec().spec().clone();
		let contents = self.world.rows.each_ref().map(|bytes| content::hash(bytes));
		spec.dataset.rows = Rows::of(&spec.dataset, contents).root();
		self.world.case.spec = spec.check().unwrap();
		self
	}
}

/// The one thing that a run changes. Everything after it follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
	Nothing,
	/// An element of a result of a step or of a slice.
	Element {
		at: Moment,
		result: u32,
		element: u64,
		bits: u32,
	},
	/// An element of the initial state.
	Initial {
		tensor: usize,
		element: usize,
	},
	/// An input of all training rows, or a label.
	Rows {
		labels: bool,
	},
	/// An input of the validation rows.
	ValidationRows,
	/// The loss in the leaf of a step.
	Loss {
		step: u32,
	},
	/// The logits in the leaf of a step.
	Logits {
		step: u32,
	},
	/// An element of the state after a step.
	Bent {
		step: u32,
	},
	/// A loss in the leaf of a slice.
	Slice {
		checkpoint: u32,
		slice: u32,
	},
	/// The loss of an evaluation.
	Mean {
		checkpoint: u32,
	},
	/// The labels that an evaluation says are predicted.
	Correct {
		checkpoint: u32,
	},
	/// It goes on past an early stop.
	GoesOn,
	/// It ends early, with so many segments.
	Ends {
		segments: u32,
	},
	/// It goes on past numbers that are not finite, with evaluations that are.
	Diverges,
	/// It says that it diverged in this step, where it did not.
	Diverged {
		step: u32,
		witness: Witness,
	},
	/// A word of the model file.
	Model {
		word: usize,
	},
}

fn float(bytes: &[u8], at: usize) -> f32 {
	f32::from_bits(bits(bytes, at))
}

fn bits(bytes: &[u8], at: usize) -> u32 {
	u32::from_le_bytes(bytes[at * 4..][..4].try_into().unwrap())
}

/// Changes a word: doubles or halves a number.
pub fn bend(bytes: &mut [u8], at: usize) {
	let bent = other(bits(bytes, at));
	bytes[at * 4..][..4].copy_from_slice(&bent.to_le_bytes());
}

/// Returns another number than that of these bits.
pub fn other(bits: u32) -> u32 {
	match bits & 0x7FFF_FFFF {
		0 => 0.5f32.to_bits(),
		_ => bits ^ 0x0080_0000,
	}
}

/// A run: the record of one party.
pub struct Run {
	pub checkpoints: Vec<Checkpoint>,
	/// The checkpoints as its trainer shows them, where it forced some to be false.
	pub shown: Option<Vec<Checkpoint>>,
	pub diverged: Option<Diverged>,
	pub model_bytes: Vec<u8>,
	/// The tensors of the file that was stored for a state, as this party has them.
	pub stored_tensors: Option<Vec<Vec<u8>>>,
	/// A word of its header that was changed.
	pub stored_header: Option<usize>,
	/// The tensors of the states, by steps.
	states: Vec<Vec<Vec<u8>>>,
	steps: Vec<(f32, H256)>,
	evaluations: BTreeMap<u32, (Slices, Evaluation)>,
	computed: BTreeMap<Moment, Computed>,
	divergence: Option<(u32, Witness)>,
	parameters: Vec<Vec<u8>>,
	names: StateTensors,
	layout: Layout,
	/// The steps done before each segment.
	begins: Vec<u32>,
}

/// Returns the bytes of a file of these tensors, which are in the order of a state.
fn file(layout: &Layout, names: &StateTensors, tensors: &[Vec<u8>]) -> Vec<u8> {
	let mut bytes = layout.header.clone();
	for place in &layout.tensors {
		bytes.extend_from_slice(&tensors[names.find(&place.name).unwrap() as usize]);
	}
	assert_eq!(bytes.len() as u64, layout.size);
	bytes
}

impl Run {
	pub fn new(job: &Job, change: Change) -> Self {
		let case = &job.world.case;
		let spec = &case.spec;
		let mut world = World { case: case.clone(), rows: job.world.rows.clone() };
		match change {
			Change::Rows { labels: false } => {
				world.rows[0].chunks_mut(4).for_each(|word| word.copy_from_slice(&[0, 0, 0, 63]));
			}
			Change::Rows { labels: true } => {
				world.rows[1].chunks_mut(4).for_each(|word| word.copy_from_slice(&[0; 4]));
			}
			Change::ValidationRows => bend(&mut world.rows[2], 1),
			_ => {}
		}
		let mut state = world.initial();
		state[..job.parameters.len()].clone_from_slice(&job.parameters);
		if let Change::Initial { tensor, element } = change {
			bend(&mut state[tensor], element);
		}
		let mut run = Self {
			checkpoints: vec![],
			shown: None,
			diverged: None,
			model_bytes: vec![],
			stored_tensors: None,
			stored_header: None,
			states: vec![state],
			steps: vec![],
			evaluations: BTreeMap::new(),
			computed: BTreeMap::new(),
			divergence: None,
			parameters: job.parameters.clone(),
			names: StateTensors::of(spec),
			layout: state_file(case),
			begins: (0..spec.segments()).filter_map(|at| spec.checkpoint_step(at)).collect(),
		};
		run.train(&world, change);
		let last = run.checkpoints.last().map_or(0, |last| last.step);
		run.model_bytes = file(&Layout::of(spec), &run.names, &run.states[last as usize]);
		if let Change::Model { word } = change {
			bend(&mut run.model_bytes, word);
		}
		run
	}

	fn train(&mut self, world: &World, change: Change) {
		let spec = &world.case.spec;
		let begins = self.evaluate(world, 0, change);
		self.checkpoint(spec, 0, 0, change);
		if !begins.loss().is_finite() {
			self.diverged = Some(Diverged { step: 0, trace: trace::seal(&trace_root(&[])) });
			return;
		}
		for segment in 0..spec.segments() {
			let [from, to] = [segment, segment + 1].map(|at| spec.checkpoint_step(at).unwrap());
			for step in from..to {
				if let Some(witness) = self.step(world, segment, step, change) {
					return self.diverge(from, step, witness);
				}
			}
			if let Some(witness) = self.end(world, segment + 1, to, change) {
				return self.diverge(from, to, witness);
			}
			self.checkpoint(spec, segment + 1, to, change);
			let losses: Vec<f32> = self.checkpoints.iter().map(|c| c.evaluation.loss()).collect();
			let ends = match change {
				Change::GoesOn => None,
				Change::Ends { segments } => Some(segments),
				_ => spec.ends_after(&losses),
			};
			if ends == Some(segment + 1) {
				return;
			}
		}
	}

	/// Trains a step; returns what is not finite, where training ends there.
	fn step(&mut self, world: &World, segment: u32, step: u32, change: Change) -> Option<Witness> {
		let at = Moment::Step { segment, step };
		let lowered = Lowered::new(&world.case, Computation::Step { step }).unwrap();
		let state = self.states[step as usize].clone();
		let made = Computed::new(&lowered, world, &state, cheat_of(change, at));
		let bytes = |result: u32| made.bytes(Origin::Result(result)).unwrap();
		let found = |role| lowered.find(role).unwrap();
		let (loss, logits) = (found(Role::Loss), found(Role::Logits));
		let mut next = state;
		let (mut witness, mut value) = (None, float(&bytes(loss), 0));
		if !value.is_finite() {
			witness = Some(Witness::Result { result: loss, element: 0 });
		}
		for (result, part) in (0..).zip(lowered.parts()) {
			let Ok(Role::Next(old)) = lowered.role(result) else { continue };
			let name = &lowered.program().tensor(old).unwrap().name;
			let new = bytes(result).into_owned();
			let nan = (0..part.len).find(|at| float(&new, *at as usize).is_nan());
			if let Some(element) = nan.filter(|_| witness.is_none()) {
				witness = Some(Witness::Result { result, element });
			}
			next[self.names.find(name).unwrap() as usize] = new;
		}
		let mut content = content::hash(&bytes(logits));
		match change {
			Change::Bent { step: at } if at == step => bend(&mut next[0], 1),
			Change::Loss { step: at } if at == step => {
				value = f32::from_bits(other(value.to_bits()))
			}
			Change::Logits { step: at } if at == step => content = H256::repeat_byte(7),
			_ => {}
		}
		self.computed.insert(at, made);
		self.steps.push((value, content));
		self.states.push(next);
		match change {
			Change::Diverges => None,
			Change::Diverged { step: at, witness } => {
				let is_here = at == step && matches!(witness, Witness::Result { .. });
				is_here.then_some(witness)
			}
			_ => witness,
		}
	}

	/// Evaluates the state at the end of a segment; returns what is not finite.
	fn end(
		&mut self,
		world: &World,
		checkpoint: u32,
		step: u32,
		change: Change,
	) -> Option<Witness> {
		let tensors = (0..).zip(&self.states[step as usize]);
		let infinite = tensors.clone().find_map(|(tensor, bytes)| {
			let all = 0..bytes.len() / 4;
			let element = all.into_iter().find(|at| !float(bytes, *at).is_finite())? as u64;
			Some(Witness::State { tensor, element })
		});
		let found = self.evaluate(world, checkpoint, change);
		let (slices, _) = &self.evaluations[&checkpoint];
		let slices = trace::slices_root(slices.contents());
		let witness = infinite.or(match found.loss().is_finite() {
			true => None,
			false => Some(Witness::Evaluation { evaluation: found, slices }),
		});
		match change {
			Change::Diverges => None,
			Change::Diverged { step: at, witness } => {
				let is_here = at == step && !matches!(witness, Witness::Result { .. });
				is_here.then_some(witness)
			}
			_ => witness,
		}
	}

	fn diverge(&mut self, from: u32, step: u32, witness: Witness) {
		let leaves = self.leaves_of(from, step);
		self.divergence = Some((step, witness));
		// The steps from there on are not part of it.
		self.diverged = Some(Diverged { step, trace: trace::seal(&trace_root(&leaves)) });
	}

	fn leaves_of(&self, from: u32, to: u32) -> Vec<H256> {
		let leaf = |step: u32| {
			let (loss, logits) = &self.steps[step as usize];
			trace::step_leaf(step, *loss, logits)
		};
		(from..to).map(leaf).collect()
	}

	fn evaluate(&mut self, world: &World, checkpoint: u32, change: Change) -> Evaluation {
		let (spec, state) = (&world.case.spec, self.states.last().unwrap().clone());
		let mut slices = vec![];
		for slice in 0..spec.slices() {
			let lowered = Lowered::new(&world.case, Computation::Slice { slice }).unwrap();
			let at = Moment::Slice { checkpoint, slice };
			let made = Computed::new(&lowered, world, &state, cheat_of(change, at));
			let result = |role| made.bytes(Origin::Result(lowered.find(role).unwrap())).unwrap();
			let (losses, correct) = (result(Role::RowLosses), result(Role::Correct));
			let mut bytes = (losses.into_owned(), correct.into_owned());
			if change == (Change::Slice { checkpoint, slice }) {
				bend(&mut bytes.0, 1);
			}
			self.computed.insert(at, made);
			slices.push(bytes);
		}
		let (mut sum, mut labels, mut hits) = (SumChain::default(), 0u64, 0u32);
		for (losses, correct) in &slices {
			for at in 0..losses.len() / 4 {
				sum.add(labels, float(losses, at));
				hits += u32::from(float(correct, at) == 1.0);
				labels += 1;
			}
		}
		let mut loss = sum.finish(labels) / labels as f32;
		match change {
			Change::Mean { checkpoint: at } if at == checkpoint => {
				loss = f32::from_bits(other(loss.to_bits()));
			}
			Change::Correct { checkpoint: at } if at == checkpoint => hits += 1,
			Change::Diverges if !loss.is_finite() => loss = 1.5,
			_ => {}
		}
		let found = Evaluation::new(loss, hits, labels as u32);
		self.evaluations.insert(checkpoint, (Slices::new(slices), found));
		found
	}

	fn checkpoint(&mut self, spec: &CheckedSpec, index: u32, step: u32, _: Change) {
		let (slices, found) = &self.evaluations[&index];
		let slices = trace::slices_root(slices.contents());
		let evaluation = if found.loss().is_finite() { *found } else { Evaluation::NONE };
		let from = index.checked_sub(1).map_or(0, |before| spec.checkpoint_step(before).unwrap());
		let mut leaves = self.leaves_of(from, step);
		// A training that ends before its first step has a trace without leaves.
		if evaluation != Evaluation::NONE {
			leaves.push(trace::evaluation_leaf(step, &evaluation, &slices));
		}
		let trace = trace::seal(&trace_root(&leaves));
		let state = self.hash(step).unwrap();
		self.checkpoints.push(Checkpoint { step, state, evaluation, trace });
	}

	fn hash(&self, steps: u32) -> Option<H256> {
		self.names.hash(&contents(self.states.get(steps as usize)?))
	}

	/// Returns the bytes of the file that stands for a state.
	pub fn blob_bytes(&self) -> Option<Vec<u8>> {
		let mut bytes = file(&self.layout, &self.names, self.stored_tensors.as_ref()?);
		if let Some(word) = self.stored_header {
			bend(&mut bytes, word);
		}
		Some(bytes)
	}

	/// Changes the file that is stored for a state, as this party has it.
	pub fn with_stored(mut self, state: u32, word: Option<usize>) -> Self {
		let step = self.checkpoints[state as usize].step;
		let mut tensors = self.states[step as usize].clone();
		if let Some(word) = word {
			bend(&mut tensors[1], word);
		}
		self.stored_tensors = Some(tensors);
		self
	}

	pub fn result(&self) -> WorkResult {
		let content = content::hash(&self.model_bytes);
		WorkResult {
			bundle_root: bundle_root(self.checkpoints.iter().copied(), self.diverged),
			true_root: bundle_root(self.checkpoints.iter().copied(), self.diverged),
			model_root: blob::root_of(self.model_bytes.len() as u64, &content),
			segments: self.checkpoints.len() as u32 - 1,
			diverged: self.diverged.is_some(),
		}
	}

	/// Returns what leaf `index` says.
	pub fn leaf(&self, index: u32) -> Option<LeafContent> {
		let checkpoint = self.checkpoints.get(index as usize).copied();
		let last = index as usize == self.checkpoints.len();
		let diverged = self.diverged.filter(|_| last).map(LeafContent::Diverged);
		checkpoint.map(LeafContent::Checkpoint).or(diverged)
	}

	pub fn end_at(&self, index: u32) -> Option<End> {
		Some(match self.leaf(index)? {
			LeafContent::Checkpoint(checkpoint) => End::of(&checkpoint),
			LeafContent::Diverged(diverged) => End::Diverged(diverged),
		})
	}

	pub fn computed_at(&self, at: &Moment) -> &Computed {
		&self.computed[at]
	}
}

fn cheat_of(change: Change, at: Moment) -> Option<(u32, u64, u32)> {
	match change {
		Change::Element { at: place, result, element, bits } if place == at => {
			Some((result, element, bits))
		}
		_ => None,
	}
}

fn trace_root(leaves: &[H256]) -> H256 {
	trainyard_protocol::merkle::root(leaves)
}

impl Run {
	/// Returns the tensors of a state.
	fn tensors(&self, at: StateAt) -> Option<&Vec<Vec<u8>>> {
		let steps = match at {
			StateAt::Checkpoint(0) => 0,
			StateAt::Checkpoint(index) => self.checkpoints.get(index as usize)?.step,
			StateAt::Steps { steps, .. } => steps,
		};
		self.states.get(steps as usize)
	}

	/// Returns the tensors of the file that stands for a state.
	fn stored_of(&self, state: u32) -> Option<&Vec<Vec<u8>>> {
		self.stored_tensors.as_ref().or_else(|| self.tensors(StateAt::Checkpoint(state)))
	}
}

fn contents(tensors: &[Vec<u8>]) -> Vec<H256> {
	tensors.iter().map(|bytes| content::hash(bytes)).collect()
}

impl Record for Run {
	type Computed<'a> = &'a Computed;

	fn checkpoints(&self) -> &[Checkpoint] {
		self.shown.as_deref().unwrap_or(&self.checkpoints)
	}

	fn leaves(&self) -> Vec<H256> {
		bundle_leaves(self.checkpoints().iter().copied(), self.diverged)
	}

	fn state(&self, at: StateAt) -> Option<H256> {
		match (self.divergence, at) {
			(Some((step, _)), StateAt::Steps { steps, .. }) if steps > step => None,
			_ => self.names.hash(&self.contents(at)?),
		}
	}

	fn contents(&self, at: StateAt) -> Option<Vec<H256>> {
		self.tensors(at).map(|tensors| contents(tensors))
	}

	fn tensor<T>(&self, at: StateAt, tensor: u32, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
		self.tensors(at)?.get(tensor as usize).map(|bytes| read(bytes))
	}

	fn steps(&self, segment: u32, to: u32) -> Option<Frontier> {
		let from = self.begins.get(segment as usize)?;
		(to as usize <= self.steps.len()).then(|| Frontier::of(&self.leaves_of(*from, to)))?
	}

	fn step(&self, _: u32, step: u32) -> Option<(f32, H256)> {
		self.steps.get(step as usize).copied()
	}

	fn computed(&self, at: &Moment) -> Option<&Computed> {
		self.computed.get(at)
	}

	fn slices<T>(&self, checkpoint: u32, read: impl FnOnce(&Slices) -> T) -> Option<T> {
		self.evaluations.get(&checkpoint).map(|(slices, _)| read(slices))
	}

	fn evaluation(&self, checkpoint: u32) -> Option<Evaluation> {
		match self.divergence {
			Some((_, Witness::Evaluation { evaluation, .. }))
				if checkpoint as usize == self.checkpoints.len() =>
			{
				return Some(evaluation);
			}
			_ => {}
		}
		self.evaluations.get(&checkpoint).map(|(_, found)| *found)
	}

	fn divergence(&self, _: u32) -> Option<(u32, Witness)> {
		self.divergence
	}

	fn witness(&self, _: u32, step: u32) -> Option<Witness> {
		let (diverged, witness) = self.divergence?;
		(diverged == step).then_some(witness)
	}

	fn model<T>(&self, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
		Some(read(&self.model_bytes))
	}

	fn stored_contents(&self, state: u32) -> Option<Vec<H256>> {
		self.stored_of(state).map(|tensors| contents(tensors))
	}

	fn stored<T>(&self, state: u32, tensor: u32, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
		self.stored_of(state)?.get(tensor as usize).map(|bytes| read(bytes))
	}

	fn blob<T>(&self, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
		Some(read(&self.blob_bytes()?))
	}

	fn parameters(&self) -> Option<Vec<H256>> {
		Some(contents(&self.parameters))
	}

	fn parameter<T>(&self, tensor: u32, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
		self.parameters.get(tensor as usize).map(|bytes| read(bytes))
	}
}
