//! A computation of a job, lowered and taken apart.

use super::{StateTensors, STRETCH_BYTES};
use crate::case::{Case, Refused};
use alloc::{collections::BTreeMap, vec::Vec};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::cell::Cell;
use scale_info::TypeInfo;
use trainyard_program::{
	lower,
	ops::{Program, Role, TensorId},
	order::{self, Order},
	parts::{self, Inputs, Moment, Part, PartList, PartOp, Storage},
	reference::StepContext,
};
use trainyard_protocol::H256;

/// What is computed at once, and has a list of results.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	PartialOrd,
	Ord,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub enum Computation {
	/// A step of training.
	Step {
		/// Its number in the job, from 0.
		step: u32,
	},
	/// A slice of an evaluation.
	Slice {
		/// Its number, from 0.
		slice: u32,
	},
}

/// What an opened tensor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
	/// The tensor of this index in [`StateTensors`], of the state before the computation.
	State(u32),
	/// The result of this index: what a part before wrote.
	Result(u32),
	/// The inputs of all training rows where the computation is a step, of all validation rows where
	/// it is a slice.
	Features,
	/// The labels of these rows.
	Labels,
	/// The tensor of this index in [`StateTensors`], of the model that a fine-tuning begins with.
	Initial(u32),
}

/// The rows of a computation among all training or validation rows.
#[derive(Clone, Copy, Debug)]
struct Batch {
	/// The order of the epoch; none where rows are taken as they come.
	order: Option<Order>,
	/// The position of the first row.
	begin: u32,
	/// Number of rows.
	rows: u32,
	/// Number of training rows, or of validation rows.
	all: u32,
}

impl Batch {
	/// Returns the row at place `at` of the batch, if there is one.
	fn row(&self, at: u64) -> Option<u32> {
		let at = u32::try_from(at).ok().filter(|at| *at < self.rows)?;
		let position = self.begin.checked_add(at)?;
		match &self.order {
			Some(order) => order.at(position),
			None => Some(position),
		}
	}
}

/// A computation of a case, lowered and taken apart: its results and what they read.
#[derive(Clone, Debug)]
pub struct Lowered<'a> {
	case: &'a Case,
	computation: Computation,
	/// When it is: random streams and the learning rate.
	moment: Moment,
	program: Program,
	parts: Vec<PartOp>,
	/// What each tensor is where it is opened.
	origins: BTreeMap<TensorId, Origin>,
	state: StateTensors,
	batch: Batch,
}

impl<'a> Lowered<'a> {
	/// Lowers a computation. Fails with [`Refused::NoSuchPiece`] where the case has none such.
	pub fn new(case: &'a Case, computation: Computation) -> Result<Self, Refused> {
		let Case { spec, seed } = case;
		let (program, moment, batch) = match computation {
			Computation::Step { step } if step < spec.training.steps => {
				let order::Place { epoch, positions } = order::place(spec, step);
				let all = spec.dataset.train_rows;
				let order = Some(Order::new(seed, epoch, all));
				let rows = spec.training.batch_size;
				let batch = Batch { order, begin: positions.start, rows, all };
				(lower::training_step(spec), StepContext { seed: *seed, step }, batch)
			}
			Computation::Step { .. } => return Err(Refused::NoSuchPiece),
			Computation::Slice { slice } => {
				let range = spec.slice(slice).ok_or(Refused::NoSuchPiece)?;
				let rows = range.end.saturating_sub(range.start);
				let all = spec.dataset.validation_rows;
				let batch = Batch { order: None, begin: range.start, rows, all };
				// No operator of an evaluation depends on the moment.
				(lower::evaluation_of(spec, rows), StepContext::default(), batch)
			}
		};
		let PartList { parts } = PartList::of(&program)?;
		let (moment, state) = (Moment::from(moment), StateTensors::of(spec));
		let given = (0..).zip(&program.tensors).filter_map(|(id, tensor)| match tensor.role {
			Role::Features => Some((id, Origin::Features)),
			Role::Labels => Some((id, Origin::Labels)),
			Role::State => state.find(&tensor.name).map(|index| (id, Origin::State(index))),
			_ => None,
		});
		let written = (0..).zip(&parts).map(|(result, part)| (part.out, Origin::Result(result)));
		let origins = given.chain(written).collect();
		Ok(Self { case, computation, moment, program, parts, origins, state, batch })
	}

	/// Returns the case.
	pub fn case(&self) -> &'a Case {
		self.case
	}

	/// Returns the computation.
	pub fn computation(&self) -> Computation {
		self.computation
	}

	/// Returns when it is computed.
	pub fn moment(&self) -> &Moment {
		&self.moment
	}

	/// Returns the program.
	pub fn program(&self) -> &Program {
		&self.program
	}

	/// Returns the tensors of the state before it.
	pub fn state(&self) -> &StateTensors {
		&self.state
	}

	/// Returns the parts, one for each result.
	pub fn parts(&self) -> &[PartOp] {
		&self.parts
	}

	/// Returns the number of results.
	pub fn results(&self) -> u32 {
		u32::try_from(self.parts.len()).unwrap_or(u32::MAX)
	}

	/// Returns the part that computes a result. Fails with [`Refused::NoSuchPiece`].
	pub fn part(&self, result: u32) -> Result<&PartOp, Refused> {
		let part = usize::try_from(result).ok().and_then(|result| self.parts.get(result));
		part.ok_or(Refused::NoSuchPiece)
	}

	/// Returns the result that is this to the outside; `None` where the program has no tensor of this
	/// role.
	pub fn find(&self, role: Role) -> Option<u32> {
		self.written(self.program.find(role)?)
	}

	/// Returns the result of the next value of each tensor of the state, in the order of
	/// [`StateTensors`]; none for those that have none.
	pub(super) fn next(&self) -> Vec<Option<u32>> {
		let mut next = alloc::vec![None; self.state.tensors().len()];
		for (new, old) in self.program.next_state() {
			let Some(Origin::State(index)) = self.origins.get(&old) else { continue };
			let at = usize::try_from(*index).ok().and_then(|index| next.get_mut(index));
			if let Some(at) = at {
				*at = self.written(new);
			}
		}
		next
	}

	/// Returns the result that a tensor is.
	fn written(&self, tensor: TensorId) -> Option<u32> {
		match self.origins.get(&tensor) {
			Some(Origin::Result(result)) => Some(*result),
			_ => None,
		}
	}

	/// Returns what a result is to the outside: [`Role::Local`] for those between parts. Fails with
	/// [`Refused::NoSuchPiece`].
	pub fn role(&self, result: u32) -> Result<Role, Refused> {
		let tensor = self.program.tensor(self.part(result)?.out);
		Ok(tensor.map_or(Role::Local, |tensor| tensor.role))
	}

	/// Returns the terms of the chain of an element; 0 where it has no chain. Fails with
	/// [`Refused::NoSuchPiece`].
	pub fn terms(&self, result: u32, element: u64) -> Result<u64, Refused> {
		let PartOp { part, len, .. } = self.part(result)?;
		if element >= *len {
			return Err(Refused::NoSuchPiece);
		}
		Ok(parts::terms(part, element))
	}

	/// Returns the terms of a stretch of the chains of a result, by what [`STRETCH_BYTES`] open.
	/// Fails with [`Refused::NoSuchPiece`].
	pub fn stretch(&self, result: u32) -> Result<u64, Refused> {
		let PartOp { part, .. } = self.part(result)?;
		Ok(parts::stretch(part, STRETCH_BYTES, |tensor| self.storage(tensor)))
	}

	/// Returns the most hashes that lead from the content of a tensor to what was agreed.
	pub(super) fn depth(&self, tensor: TensorId) -> u32 {
		let leaves = match self.origins.get(&tensor) {
			Some(Origin::Result(_)) => self.parts.len(),
			Some(Origin::State(_)) => self.state.tensors().len(),
			_ => 1,
		};
		leaves.checked_next_power_of_two().map_or(u32::MAX, usize::ilog2)
	}

	/// Returns how a tensor lies where it is opened.
	pub(super) fn storage(&self, tensor: TensorId) -> Storage {
		let origin = self.origins.get(&tensor).copied();
		let elements = origin.and_then(|origin| self.opened_elements(origin)).unwrap_or_default();
		match (origin, self.batch.order) {
			(Some(Origin::Features), Some(_)) => {
				Storage { elements, run: self.case.spec.dataset.features.into() }
			}
			// A slice takes rows as they come.
			_ => elements.into(),
		}
	}

	/// Returns whether a tensor is made of rows whose places the order gives.
	pub(super) fn is_ordered(&self, tensor: TensorId) -> bool {
		let given = matches!(self.origins.get(&tensor), Some(Origin::Features | Origin::Labels));
		given && self.batch.order.is_some()
	}

	/// Returns the number of elements of what is opened; `None` where the computation reads no such
	/// tensor.
	pub fn opened_elements(&self, origin: Origin) -> Option<u64> {
		let of_rows = |each: u32| u64::from(self.batch.all).checked_mul(each.into());
		match origin {
			Origin::State(tensor) => self.state.elements(tensor),
			Origin::Result(result) => self.part(result).ok().map(|part| part.len),
			Origin::Features => of_rows(self.case.spec.dataset.features),
			Origin::Labels => of_rows(self.case.spec.dataset.labels_per_row()),
			Origin::Initial(_) => None,
		}
	}

	/// Returns the rows content by which features, or labels, are opened.
	pub(super) fn rows_content(&self, rows: &[H256; 4], labels: bool) -> H256 {
		let [train, train_labels, validation, validation_labels] = *rows;
		match (self.computation, labels) {
			(Computation::Step { .. }, false) => train,
			(Computation::Step { .. }, true) => train_labels,
			(Computation::Slice { .. }, false) => validation,
			(Computation::Slice { .. }, true) => validation_labels,
		}
	}

	/// Returns a part's inputs over words that were opened.
	pub(crate) fn inputs<'w, W: Words>(&'w self, words: &'w W) -> Located<'w, W> {
		Located { lowered: self, words, last: Cell::new(None) }
	}

	/// Returns the part of a result whose element is `element`. Fails with
	/// [`Refused::NoSuchPiece`].
	pub(super) fn part_with(&self, result: u32, element: u64) -> Result<&Part, Refused> {
		let PartOp { part, len, .. } = self.part(result)?;
		(element < *len).then_some(part).ok_or(Refused::NoSuchPiece)
	}
}

/// Words of what is opened: the bits of a number, or a label.
pub(crate) trait Words {
	/// Returns element `index` of what is opened, if it was.
	fn word(&self, origin: Origin, index: u64) -> Option<u32>;
}

/// What the parts of a computation read, wherever it was opened.
pub(crate) struct Located<'a, W> {
	lowered: &'a Lowered<'a>,
	words: &'a W,
	/// The place in the batch that was last looked up, and its row: chains go along rows.
	last: Cell<Option<(u64, u32)>>,
}

impl<W: Words> Located<'_, W> {
	/// Returns the row at this place of the batch.
	fn row(&self, at: u64) -> Option<u32> {
		if let Some((last, row)) = self.last.get() {
			if last == at {
				return Some(row);
			}
		}
		let row = self.lowered.batch.row(at)?;
		self.last.set(Some((at, row)));
		Some(row)
	}

	/// Returns element `index` of a tensor of the batch with so many elements in each row.
	fn of_batch(&self, origin: Origin, each: u32, index: u64) -> Option<u32> {
		let each = u64::from(each);
		let (at, column) = (index.checked_div(each)?, index.checked_rem(each)?);
		let begin = u64::from(self.row(at)?).checked_mul(each)?;
		self.words.word(origin, begin.checked_add(column)?)
	}

	fn find(&self, tensor: TensorId, index: u64) -> Option<u32> {
		let dataset = &self.lowered.case.spec.dataset;
		match *self.lowered.origins.get(&tensor)? {
			Origin::Features => self.of_batch(Origin::Features, dataset.features, index),
			Origin::Labels => self.of_batch(Origin::Labels, dataset.labels_per_row(), index),
			origin => self.words.word(origin, index),
		}
	}
}

impl<W: Words> Inputs for Located<'_, W> {
	type Error = Refused;

	fn number(&self, tensor: TensorId, index: u64) -> Result<f32, Refused> {
		let word = self.find(tensor, index).ok_or(Refused::Missing { tensor, index })?;
		Ok(f32::from_bits(word))
	}

	fn label(&self, index: u64) -> Result<u32, Refused> {
		let labels = self.lowered.program.find(Role::Labels).unwrap_or(TensorId::MAX);
		self.find(labels, index).ok_or(Refused::Missing { tensor: labels, index })
	}
}
