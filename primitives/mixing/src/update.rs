//! Whole updates: by how much a copy of a model moved, compressed, and what the compression left.

use crate::{
	block::Block,
	rule::{Compression, Fault, BLOCK, MAX_VALUES},
};
use alloc::vec::Vec;
use trainyard_strict::Arithmetic;

/// The blocks of a model: where each begins among its values, and in an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
	rule: Compression,
	values: u64,
	bytes: u64,
	blocks: Vec<Span>,
}

/// One block of a model and of its updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
	first: u64,
	length: u32,
	begin: u64,
	bytes: u32,
}

impl Layout {
	/// Returns the blocks of a model whose tensors have so many values, in their order. Fails with
	/// [`Fault::Shape`] where they are more than [`MAX_VALUES`] together.
	pub fn new(rule: Compression, tensors: impl IntoIterator<Item = u64>) -> Result<Self, Fault> {
		let mut layout = Self { rule, values: 0, bytes: 0, blocks: Vec::new() };
		for tensor in tensors {
			if layout.values.saturating_add(tensor) > MAX_VALUES {
				return Err(Fault::Shape);
			}
			let mut left = tensor;
			while left > 0 {
				let length = left.min(u64::from(BLOCK)) as u32;
				let bytes = rule.block_bytes(length);
				layout.blocks.push(Span {
					first: layout.values,
					length,
					begin: layout.bytes,
					bytes,
				});
				layout.values = layout.values.saturating_add(u64::from(length));
				layout.bytes = layout.bytes.saturating_add(u64::from(bytes));
				left = left.saturating_sub(u64::from(length));
			}
		}
		Ok(layout)
	}

	/// Returns the compression.
	pub fn rule(&self) -> Compression {
		self.rule
	}

	/// Returns the values of the model.
	pub fn values(&self) -> u64 {
		self.values
	}

	/// Returns the bytes of an update of the model.
	pub fn bytes(&self) -> u64 {
		self.bytes
	}

	/// Returns the number of blocks.
	pub fn blocks(&self) -> usize {
		self.blocks.len()
	}

	/// Returns the values of the block with this number in a slice of all values.
	pub fn values_of<'a, T>(&self, block: usize, all: &'a [T]) -> Option<&'a [T]> {
		let Span { first, length, .. } = *self.blocks.get(block)?;
		let first = usize::try_from(first).ok()?;
		all.get(first..first.checked_add(length as usize)?)
	}

	/// Returns the bytes of the block with this number in an update.
	pub fn bytes_of<'a>(&self, block: usize, update: &'a [u8]) -> Option<&'a [u8]> {
		let Span { begin, bytes, .. } = *self.blocks.get(block)?;
		let begin = usize::try_from(begin).ok()?;
		update.get(begin..begin.checked_add(bytes as usize)?)
	}

	/// Returns the values of the block with this number, how many they are.
	pub fn length_of(&self, block: usize) -> Option<u32> {
		self.blocks.get(block).map(|span| span.length)
	}
}

/// What an update did not say of the movements of a peer's copy: one number for each value of the model. It is
/// part of the peer's state, and joins the movement of the next round.
#[derive(Clone, Debug, PartialEq)]
pub struct Residual(pub Vec<f32>);

impl Residual {
	/// Returns the residual with which a peer begins: nothing.
	pub fn none(values: u64) -> Self {
		Self(alloc::vec![0.0; usize::try_from(values).unwrap_or(0)])
	}
}

/// Adds a movement to a residual: each number becomes `fma(keep, residual, from - to)`, where `from` is the
/// model with which the peer's training began and `to` what it ended in. Where one is not finite it fails, and the
/// residual is of no use.
pub fn move_of<A: Arithmetic>(
	residual: &mut Residual,
	keep: f32,
	from: &[f32],
	to: &[f32],
) -> Result<(), Fault> {
	if residual.0.len() != from.len() || from.len() != to.len() {
		return Err(Fault::Shape);
	}
	if !(0.0..=1.0).contains(&keep) {
		return Err(Fault::Keep);
	}
	for ((rest, from), to) in residual.0.iter_mut().zip(from).zip(to) {
		*rest = A::fma(keep, *rest, from - to);
	}
	if residual.0.iter().all(|rest| rest.is_finite()) {
		Ok(())
	} else {
		Err(Fault::NotFinite)
	}
}

/// Takes an update out of what there is to say: returns its bytes, and leaves in `residual` what it does not
/// say, at each place that was picked the difference to what the update has there. Where a number is not
/// finite it fails, and what is left is of no use.
pub fn compress<A: Arithmetic>(layout: &Layout, residual: &mut Residual) -> Result<Vec<u8>, Fault> {
	if residual.0.len() as u64 != layout.values {
		return Err(Fault::Shape);
	}
	let mut out = Vec::with_capacity(usize::try_from(layout.bytes).unwrap_or(0));
	let mut rest = residual.0.as_mut_slice();
	for span in &layout.blocks {
		let (values, after) =
			rest.split_at_mut_checked(span.length as usize).ok_or(Fault::Shape)?;
		rest = after;
		let block = Block::of::<A>(layout.rule, values)?;
		for entry in &block.entries {
			if let Some(value) = values.get_mut(entry.place as usize) {
				*value -= block.value::<A>(entry);
			}
		}
		block.write(layout.rule, span.length, &mut out);
	}
	Ok(out)
}

/// An update whose bytes have been read.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
	/// Its blocks, in the order of the layout.
	pub blocks: Vec<Block>,
}

impl Update {
	/// Reads the bytes of an update; fails where they are not the one form of one.
	pub fn read<A: Arithmetic>(layout: &Layout, bytes: &[u8]) -> Result<Self, Fault> {
		let [found, expected] = [bytes.len() as u64, layout.bytes];
		let short = Fault::Length { found, expected };
		if found != expected {
			return Err(short);
		}
		let mut left = bytes;
		let mut blocks = Vec::with_capacity(layout.blocks.len());
		for span in &layout.blocks {
			let (block, after) = left.split_at_checked(span.bytes as usize).ok_or(short)?;
			left = after;
			blocks.push(Block::read::<A>(layout.rule, span.length, block)?);
		}
		Ok(Self { blocks })
	}

	/// Returns all numbers of the update, 0 where it has none.
	pub fn dense<A: Arithmetic>(&self, layout: &Layout) -> Vec<f32> {
		let mut all = alloc::vec![0.0; usize::try_from(layout.values).unwrap_or(0)];
		for (block, span) in self.blocks.iter().zip(&layout.blocks) {
			for entry in &block.entries {
				let at = span.first.saturating_add(u64::from(entry.place));
				if let Some(value) = usize::try_from(at).ok().and_then(|at| all.get_mut(at)) {
					*value = block.value::<A>(entry);
				}
			}
		}
		all
	}
}
