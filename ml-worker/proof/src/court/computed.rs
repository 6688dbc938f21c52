//! A step, or a slice of an evaluation, recorded: the contents of all that it makes.

use super::{
	held::{canonical, HeldState},
	nodes::of_bytes,
	rows::Column,
	RecordError, Recorder,
};
use rayon::prelude::*;
use std::{
	borrow::Cow,
	ops::ControlFlow,
	sync::{Arc, OnceLock},
};
use trainyard_court::{
	game::{Moment, Witness},
	referee::{ends_training, proving::Holder, Chunks, Computation, Lowered, Origin},
	Refused,
};
use trainyard_engine::{content_hash, raw_bytes, Elements, Engine, EngineError, Made};
use trainyard_program::{
	ops::{Role, TensorId},
	parts::{self, Inputs, PartOp},
};
use trainyard_protocol::H256;

/// Elements that one thread computes at least.
const FEW: usize = 256;

/// A computation, recorded. Its results stay in memory if there is room for all of them; otherwise
/// those that are asked for are computed again.
pub(super) struct Computed {
	/// What it is.
	pub at: Moment,
	pub computation: Computation,
	/// The state that it reads.
	pub state: Arc<HeldState>,
	/// The content of each result.
	pub contents: Vec<H256>,
	/// Of a step: its loss, and the content of its logits.
	pub step: Option<(f32, H256)>,
	/// What is not finite, where training ends in this step.
	pub witness: Option<Witness>,
	results: Vec<OnceLock<Vec<f32>>>,
}

/// What a part between operators reads.
struct Memory<'a> {
	tensors: Vec<(TensorId, &'a [f32])>,
	labels: &'a [u32],
}

impl Inputs for Memory<'_> {
	type Error = Refused;

	fn number(&self, tensor: TensorId, index: u64) -> Result<f32, Refused> {
		let found = self.tensors.iter().find(|(id, _)| *id == tensor);
		let number = found.zip(usize::try_from(index).ok()).and_then(|((_, x), at)| x.get(at));
		number.copied().ok_or(Refused::Missing { tensor, index })
	}

	fn label(&self, index: u64) -> Result<u32, Refused> {
		let label = usize::try_from(index).ok().and_then(|at| self.labels.get(at));
		label.copied().ok_or(Refused::Missing { tensor: TensorId::MAX, index })
	}
}

/// Computes a part on all threads, from what its operator read and from the parts before it.
fn between(
	lowered: &Lowered<'_>,
	part: &PartOp,
	made: &Made<'_>,
	before: &[(TensorId, Vec<f32>)],
) -> Result<Vec<f32>, RecordError> {
	let labels = made.labels()?;
	let own = |id: &TensorId| before.iter().find(|(made, _)| made == id);
	let others: Vec<(TensorId, Elements<'_>)> = part
		.part
		.inputs()
		.into_iter()
		.filter(|id| own(id).is_none())
		.map(|id| Ok((id, made.elements(id)?)))
		.collect::<Result<_, EngineError>>()?;
	let own = before.iter().map(|(id, x)| (*id, x.as_slice()));
	let tensors = others.iter().map(|(id, x)| (*id, x.slice())).chain(own).collect();
	let memory = Memory { tensors, labels: &labels };
	let moment = lowered.moment();
	let all = (0..part.len as usize).into_par_iter().with_min_len(FEW);
	let element = |index: usize| parts::element(&part.part, index as u64, moment, &memory);
	Ok(all.map(element).collect::<Result<Vec<f32>, Refused>>()?)
}

/// Runs a computation operator by operator, without fusing any, and hands each result of an operator
/// that is `wanted` to `take`, in order.
fn run(
	engine: &Engine,
	lowered: &Lowered<'_>,
	state: &HeldState,
	wanted: impl Fn(u32) -> bool + Sync,
	mut take: impl FnMut(u32, Vec<f32>) -> ControlFlow<()> + Send,
) -> Result<(), RecordError> {
	let parts = lowered.parts();
	let (mut next, mut failed) = (0usize, None);
	let mut see = |made: &Made<'_>| {
		let end = parts.partition_point(|part| part.op <= made.op());
		let mut results = || -> Result<ControlFlow<()>, RecordError> {
			let own = next..end;
			next = end;
			if !wanted(made.op()) {
				return Ok(ControlFlow::Continue(()));
			}
			let mut before = Vec::<(TensorId, Vec<f32>)>::new();
			for index in own {
				let Some(part) = parts.get(index) else { break };
				// The last part of an operator is what the operator makes.
				let data = match index.saturating_add(1) == end {
					true => made.elements(part.out)?.slice().to_vec(),
					false => between(lowered, part, made, &before)?,
				};
				let data = canonical(data);
				if index.saturating_add(1) < end {
					before.push((part.out, data.clone()));
				}
				if take(index as u32, data).is_break() {
					return Ok(ControlFlow::Break(()));
				}
			}
			Ok(ControlFlow::Continue(()))
		};
		Ok(results().unwrap_or_else(|error| {
			failed = Some(error);
			ControlFlow::Break(())
		}))
	};
	let state = state.state(lowered.state())?;
	match lowered.computation() {
		Computation::Step { step } => engine.record_step(&state, step, &mut see)?,
		Computation::Slice { slice } => engine.record_slice(&state, slice, &mut see)?,
	}
	failed.map_or(Ok(()), Err)
}

impl Computed {
	/// Records a computation. All results are kept where they take at most `memory` bytes.
	pub fn new(
		engine: &Engine,
		lowered: &Lowered<'_>,
		at: Moment,
		state: Arc<HeldState>,
		memory: u64,
	) -> Result<Self, RecordError> {
		let count = lowered.parts().len();
		let bytes = lowered.parts().iter().fold(0u64, |sum, part| sum.saturating_add(part.len));
		let is_kept = bytes.saturating_mul(4) <= memory;
		let roles: Vec<Role> =
			(0..lowered.results()).map(|result| lowered.role(result)).collect::<Result<_, _>>()?;
		let mut results: Vec<OnceLock<Vec<f32>>> = Vec::with_capacity(count);
		let (mut contents, mut loss, mut infinite) = (Vec::with_capacity(count), None, None);
		let take = |result: u32, data: Vec<f32>| {
			let role = roles.get(result as usize).copied().unwrap_or(Role::Local);
			if role == Role::Loss {
				loss = data.first().copied();
			}
			let element = match role {
				Role::Loss | Role::Next(_) => data.iter().position(|x| ends_training(role, *x)),
				_ => None,
			};
			if let Some(element) = element {
				// The loss is named before all tensors of the next state, as by the engine.
				let found = (role != Role::Loss, result, element as u64);
				infinite =
					Some(infinite.map_or(found, |before: (bool, u32, u64)| before.min(found)));
			}
			contents.push(content_hash(raw_bytes(&data)));
			results.push(if is_kept { OnceLock::from(data) } else { OnceLock::new() });
			ControlFlow::Continue(())
		};
		run(engine, lowered, &state, |_| true, take)?;
		let logits = lowered.find(Role::Logits);
		let logits = logits.and_then(|result| contents.get(result as usize).copied());
		let computation = lowered.computation();
		let is_step = matches!(computation, Computation::Step { .. });
		let witness = infinite.filter(|_| is_step);
		Ok(Self {
			at,
			computation,
			state,
			step: loss.zip(logits).filter(|_| is_step),
			witness: witness.map(|(_, result, element)| Witness::Result { result, element }),
			contents,
			results,
		})
	}

	/// Returns a result, and computes it again where it is not in memory. `None` where there is none.
	pub fn result(&self, recorder: &Recorder, result: u32) -> Result<Option<&[f32]>, RecordError> {
		let Some(held) = self.results.get(result as usize) else { return Ok(None) };
		if held.get().is_none() {
			let lowered = Lowered::new(recorder.case(), self.computation)?;
			let op = lowered.part(result)?.op;
			let mut found = None;
			let take = |at: u32, data: Vec<f32>| match at == result {
				true => {
					found = Some(data);
					ControlFlow::Break(())
				}
				false => ControlFlow::Continue(()),
			};
			recorder.count(|work| work.recorded += 1);
			run(recorder.engine(), &lowered, &self.state, |at| at == op, take)?;
			let data = found.ok_or(Refused::NoSuchPiece)?;
			if self.contents.get(result as usize) != Some(&content_hash(raw_bytes(&data))) {
				return Err(self.disagrees());
			}
			// Another thread may have been faster, with the same bits.
			let _ = held.set(data);
		}
		Ok(held.get().map(Vec::as_slice))
	}

	/// Returns the error of a machine that came to two different results.
	pub fn disagrees(&self) -> RecordError {
		let step = match self.at {
			Moment::Step { step, .. } => step,
			_ => 0,
		};
		RecordError::Disagrees { step }
	}
}

/// A computation, lent to whoever plays.
pub struct Lent<'a> {
	pub(super) recorder: &'a Recorder,
	pub(super) made: Arc<Computed>,
}

impl Lent<'_> {
	/// Returns the rows that it reads, or their labels.
	fn column(&self, origin: Origin) -> Option<Column<'_>> {
		let data = self.recorder.data();
		let table = match self.made.computation {
			Computation::Step { .. } => &data.train,
			Computation::Slice { .. } => &data.validation,
		};
		let labels = self.recorder.case().spec.labels_per_row() as usize;
		match origin {
			Origin::Features => Some(Column::inputs(table, labels)),
			Origin::Labels => Some(Column::labels(table, labels)),
			_ => None,
		}
	}

	/// Returns a tensor of the state, or a result.
	fn numbers(&self, origin: Origin) -> Option<&[f32]> {
		match origin {
			Origin::State(tensor) => self.made.state.numbers(tensor),
			Origin::Result(result) => self.recorder.noted(self.made.result(self.recorder, result)),
			_ => None,
		}
	}
}

impl Holder for Lent<'_> {
	fn bytes(&self, origin: Origin) -> Option<Cow<'_, [u8]>> {
		match self.column(origin) {
			Some(column) => {
				let bytes = self.recorder.noted(column.all().map(Some))?;
				Some(Cow::Owned(bytes.into_owned()))
			}
			None => self.numbers(origin).map(|data| Cow::Borrowed(raw_bytes(data))),
		}
	}

	fn word(&self, origin: Origin, index: u64) -> Option<u32> {
		match self.column(origin) {
			Some(column) => self.recorder.noted(column.word(index)),
			None => self.numbers(origin)?.get(usize::try_from(index).ok()?).map(|x| x.to_bits()),
		}
	}

	fn open(&self, origin: Origin, numbers: &[u64]) -> Option<Chunks> {
		let opened = match self.column(origin) {
			Some(column) => column.open(numbers),
			None => of_bytes(raw_bytes(self.numbers(origin)?)).open(numbers),
		};
		self.recorder.noted(opened.map(Some))
	}

	fn state(&self) -> &[H256] {
		&self.made.state.contents
	}

	fn results(&self) -> &[H256] {
		&self.made.contents
	}

	fn rows(&self) -> [H256; 4] {
		self.recorder.rows()
	}
}
