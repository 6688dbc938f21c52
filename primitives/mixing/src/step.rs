//! The outer step of a whole model: what the updates of its peers make of it, block by block.

use crate::{
	aggregate::{late_weight, norm, Aggregation, Contribution},
	outer::OuterStep,
	rule::Fault,
	update::{Layout, Update},
};
use alloc::vec::Vec;
use core::borrow::Borrow;
use trainyard_strict::Arithmetic;

/// An update that counts in a round, itself or where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted<U = Update> {
	/// The update.
	pub update: U,
	/// How many rounds ago the model is with which it begins.
	pub late: u32,
}

impl OuterStep {
	/// Takes the step of a model whose blocks are those of `layout`, by the [aggregate](Aggregation) of updates that
	/// are in the ascending order of their peers. Each has the [weight](late_weight) of its lateness, and is clipped by
	/// its [norm] among all. Returns whether the model moved: where no update has a weight above 0 all numbers stay.
	///
	/// `values` are those of the model, and `velocity` as many where the step [has one](Self::has_velocity), and else
	/// none. Fails with [`Fault::Shape`], and changes nothing, where lengths or the blocks of an update are others than
	/// those of the layout; and with [`Fault::NotFinite`] where a number is not finite after it: then the model is of
	/// no use.
	pub fn take<A: Arithmetic, U: Borrow<Update>>(
		self,
		layout: &Layout,
		aggregation: Aggregation,
		updates: &[Counted<U>],
		values: &mut [f32],
		velocity: &mut [f32],
	) -> Result<bool, Fault> {
		let is = |numbers: &[f32], count: u64| numbers.len() as u64 == count;
		let of_velocity = if self.has_velocity() { layout.values() } else { 0 };
		let blocks = |one: &Counted<U>| one.update.borrow().blocks.len();
		if !is(values, layout.values())
			|| !is(velocity, of_velocity)
			|| !updates.iter().all(|one| blocks(one) == layout.blocks())
		{
			return Err(Fault::Shape);
		}
		let weights: Vec<f32> = updates.iter().map(|one| late_weight(one.late)).collect();
		if weights.iter().all(|weight| *weight <= 0.0) {
			return Ok(false);
		}
		let norms: Vec<f32> = updates.iter().map(|one| norm::<A>(one.update.borrow())).collect();
		let scales = aggregation.scales(&norms, &weights);
		let (mut left, mut left_velocity) = (values, velocity);
		for at in 0..layout.blocks() {
			let length = layout.length_of(at).unwrap_or_default();
			let peers: Vec<Contribution<'_>> = updates
				.iter()
				.zip(scales.iter().zip(&weights))
				.filter_map(|(one, (scale, weight))| {
					let block = one.update.borrow().blocks.get(at)?;
					Some(Contribution { block, scale: *scale, weight: *weight })
				})
				.collect();
			let aggregate = aggregation.block::<A>(length, &peers).ok_or(Fault::Shape)?;
			let of_velocity = if self.has_velocity() { length as usize } else { 0 };
			let (block, rest) = left.split_at_mut_checked(length as usize).ok_or(Fault::Shape)?;
			let (block_velocity, rest_velocity) =
				left_velocity.split_at_mut_checked(of_velocity).ok_or(Fault::Shape)?;
			self.apply::<A>(block, block_velocity, &aggregate)?;
			(left, left_velocity) = (rest, rest_velocity);
		}
		Ok(true)
	}
}
