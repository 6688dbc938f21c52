//! Executes units by the reference. It is slow, and is what the worker is tested against.

use super::{
	calibration_state, chain_state, diverged_state,
	program::{self, STATE},
	trial_state, Template, UnitResult,
};
use crate::{
	bundle::Evaluation,
	content::{self, le_bytes},
	state::{state_hash, TensorDigest},
	trace::{evaluation_leaf, slices_root, step_leaf},
	H256,
};
use alloc::{vec, vec::Vec};
use trainyard_program::{
	init,
	lower::{self, OPTIMIZER_PREFIX},
	ops::{Program, Role},
	order::{self, Order},
	reference::{run_at, ExecError, State, StepContext},
	spec::{CheckedSpec, JobSpec},
};

/// Rows of a table: inputs, row by row, and labels.
pub type Rows<'a> = (&'a [f32], &'a [u32]);

/// The data of a trial, as its job reads it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tables<'a> {
	/// Rows that train.
	pub train: Rows<'a>,
	/// Rows that validate.
	pub validation: Rows<'a>,
}

/// Returns the result of unit `index` of `template` under `seed`. Only a trial reads `tables`.
pub fn unit(
	template: &Template,
	index: u32,
	seed: &H256,
	tables: Tables<'_>,
) -> Result<UnitResult, ExecError> {
	match template {
		Template::Chain { size, links } => chain(*size, *links, seed),
		Template::Calibration { passes } => calibration(*passes, seed),
		Template::Trial(_) => match template.trial(index) {
			Some(spec) => trial(&spec, seed, tables),
			None => Err(ExecError::Missing { tensor: "learning rate".into() }),
		},
	}
}

fn chain(size: u32, links: u32, seed: &H256) -> Result<UnitResult, ExecError> {
	let zeros = zeros(&program::begin(size));
	let mut state = State::from([(STATE.into(), zeros.clone())]);
	advance(&program::begin(size), &zeros, &mut state, StepContext { seed: *seed, step: 0 })?;
	let link = program::link(size);
	for step in 1..=links {
		advance(&link, &zeros, &mut state, StepContext { seed: *seed, step })?;
	}
	Ok(UnitResult { state: chain_state(size, content_of(&state)), score: None })
}

fn calibration(passes: u32, seed: &H256) -> Result<UnitResult, ExecError> {
	let pass = program::pass();
	let mut state = State::from([(STATE.into(), zeros(&pass))]);
	for step in 0..passes {
		advance(&pass, &[], &mut state, StepContext { seed: *seed, step })?;
	}
	Ok(UnitResult { state: calibration_state(content_of(&state)), score: None })
}

/// Returns one `+0` for each element of the state of `program`.
fn zeros(program: &Program) -> Vec<f32> {
	let len = program.state().map(|(_, x)| x.len()).next().unwrap_or_default();
	vec![0.0; usize::try_from(len).unwrap_or_default()]
}

fn advance(
	program: &Program,
	features: &[f32],
	state: &mut State,
	moment: StepContext,
) -> Result<(), ExecError> {
	run_at(program, features, &[], state, moment)?.advance(program, state);
	Ok(())
}

/// Returns the content hash of the tensor that a unit of one tensor computes.
fn content_of(state: &State) -> H256 {
	content::hash(&le_bytes(state.get(STATE).map_or(&[], Vec::as_slice)))
}

fn trial(spec: &CheckedSpec, seed: &H256, tables: Tables<'_>) -> Result<UnitResult, ExecError> {
	let shapes = lower::state(spec);
	let mut state: State =
		shapes.iter().map(|t| (t.name.clone(), init::initial(seed, t))).collect();
	let program = lower::training_step(spec);
	let mut trace = Vec::new();
	let order_of = |epoch| Order::new(seed, epoch, spec.dataset.train_rows).tabulate();
	let mut order = order_of(0);
	for step in 0..spec.training.steps {
		let place = order::place(spec, step);
		if place.epoch != order.epoch() {
			order = order_of(place.epoch);
		}
		let (x, y) = gather(spec, tables.train, &order.rows(place.positions));
		let values = run_at(&program, &x, &y, &state, StepContext { seed: *seed, step })?;
		let loss = values.role(&program, Role::Loss).first().copied().unwrap_or(f32::NAN);
		let logits = content::hash(&le_bytes(values.role(&program, Role::Logits)));
		values.advance(&program, &mut state);
		let parameters = state.iter().filter(|(name, _)| !name.starts_with(OPTIMIZER_PREFIX));
		if loss.is_nan() || parameters.flat_map(|(_, x)| x).any(|x| x.is_nan()) {
			return Ok(UnitResult { state: diverged_state(step, &trace), score: None });
		}
		trace.push(step_leaf(step, loss, &logits));
	}
	let steps = spec.training.steps;
	let (score, slices) = evaluate(spec, &state, tables.validation)?;
	if score.loss().is_nan() {
		return Ok(UnitResult { state: diverged_state(steps, &trace), score: None });
	}
	trace.push(evaluation_leaf(steps, &score, &slices));
	let tensors = shapes.into_iter().map(|tensor| {
		let bytes = le_bytes(state.get(&tensor.name).map_or(&[], Vec::as_slice));
		TensorDigest::of_f32(tensor.name, tensor.shape, content::hash(&bytes))
	});
	Ok(UnitResult {
		state: trial_state(&state_hash(tensors.collect()), &trace),
		score: Some(score),
	})
}

/// Evaluates a state slice by slice. Returns the evaluation, and the root over the leaves of its
/// slices.
fn evaluate(
	spec: &CheckedSpec,
	state: &State,
	validation: Rows<'_>,
) -> Result<(Evaluation, H256), ExecError> {
	let (mut slices, mut losses, mut hits) = (Vec::new(), Vec::new(), 0usize);
	for rows in (0..spec.slices()).filter_map(|slice| spec.slice(slice)) {
		let program = lower::evaluation_of(spec, rows.len() as u32);
		let (x, y) = gather(spec, validation, &rows.collect::<Vec<_>>());
		let values = run_at(&program, &x, &y, state, StepContext::default())?;
		let [of_rows, correct] =
			[Role::RowLosses, Role::Correct].map(|role| values.role(&program, role));
		slices.push((content::hash(&le_bytes(of_rows)), content::hash(&le_bytes(correct))));
		hits = hits.saturating_add(correct.iter().filter(|hit| **hit == 1.0).count());
		losses.extend_from_slice(of_rows);
	}
	let loss = trainyard_strict::sum(losses.iter().copied()) / losses.len() as f32;
	let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
	let found = Evaluation::new(loss, count(hits), count(losses.len()));
	Ok((found, slices_root(&slices)))
}

/// Returns the features and labels of these rows, in their order.
fn gather(spec: &JobSpec, (x, y): Rows<'_>, rows: &[u32]) -> (Vec<f32>, Vec<u32>) {
	let (features, labels) = (spec.dataset.features as usize, spec.labels_per_row() as usize);
	let (mut batch, mut of_batch) = (Vec::new(), Vec::new());
	for row in rows {
		let row = *row as usize;
		batch.extend(x.iter().skip(row.saturating_mul(features)).take(features));
		of_batch.extend(y.iter().skip(row.saturating_mul(labels)).take(labels));
	}
	(batch, of_batch)
}
