//! The [trace](trainyard_protocol::trace) of a segment, while the segment is computed.

use primitive_types::H256;
use trainyard_engine::{Evaluated, StepTrace};
use trainyard_protocol::{bundle::Diverged, merkle::Frontier, trace::seal};

/// The trace of a segment so far. It takes the room of a few hashes, however many steps there are.
#[derive(Clone, Debug)]
pub struct Trace {
	/// Steps done before the segment.
	begin: u32,
	leaves: Frontier,
}

impl Trace {
	/// Begins the trace of the segment before which that many steps are done.
	pub fn new(begin: u32) -> Self {
		Self { begin, leaves: Frontier::new() }
	}

	/// Returns the trace of checkpoint 0: its evaluation alone; none is the trace without leaves, where
	/// the initial state has no finite validation loss.
	pub fn of_the_beginning(found: Option<&Evaluated>) -> Self {
		let mut trace = Self::new(0);
		if let Some(found) = found {
			trace.evaluation(found);
		}
		trace
	}

	/// Returns the steps done so far, in the job.
	pub fn steps(&self) -> u32 {
		self.begin.saturating_add(self.leaves.count)
	}

	/// Adds the next step.
	pub fn step(&mut self, made: &StepTrace) {
		self.push(made.leaf(self.steps()));
	}

	/// Adds the evaluation of the state after the steps so far, which is the last leaf.
	pub fn evaluation(&mut self, found: &Evaluated) {
		self.push(found.leaf(self.steps()));
	}

	fn push(&mut self, leaf: H256) {
		// A job has at most 100,000,000 steps, and a frontier counts to 2^32.
		let pushed = self.leaves.push(leaf);
		debug_assert!(pushed.is_some());
	}

	/// Returns the root over the leaves so far: what a seat names as evidence.
	pub fn root(&self) -> H256 {
		self.leaves.root()
	}

	/// Returns what a checkpoint's leaf says of it.
	pub fn sealed(&self) -> H256 {
		seal(&self.root())
	}

	/// Returns the last leaf of a bundle whose training left the finite numbers in the next step or,
	/// after the last one, at the end of the segment.
	pub fn diverged(&self) -> Diverged {
		Diverged { step: self.steps(), trace: self.sealed() }
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::{bundle::Evaluation, merkle, trace};

	#[test]
	fn a_trace_has_the_leaves_of_its_steps_and_of_the_evaluation() {
		let made = |n: u8| StepTrace {
			loss: f32::from(n),
			logits: H256::repeat_byte(n),
			gradient_norm: None,
		};
		let slices = vec![(H256::repeat_byte(1), H256::repeat_byte(2)); 3];
		let found = Evaluated { evaluation: Evaluation::new(1.5, 7, 9), slices };
		let mut trace = Trace::new(100);
		let mut leaves = Vec::new();
		assert_eq!(trace.diverged(), Diverged { step: 100, trace: seal(&merkle::root(&[])) });
		for n in 0..5 {
			trace.step(&made(n));
			let step = 100 + u32::from(n);
			leaves.push(trace::step_leaf(step, f32::from(n), &H256::repeat_byte(n)));
			let end = Diverged { step: step + 1, trace: seal(&merkle::root(&leaves)) };
			assert_eq!((trace.steps(), trace.diverged()), (step + 1, end));
		}
		let slices = trace::slices_root(&found.slices);
		leaves.push(trace::evaluation_leaf(105, &found.evaluation, &slices));
		trace.evaluation(&found);
		assert_eq!(trace.root(), merkle::root(&leaves));
		assert_eq!(trace.sealed(), seal(&trace.root()));

		let leaf = trace::evaluation_leaf(0, &found.evaluation, &slices);
		assert_eq!(Trace::of_the_beginning(Some(&found)).root(), merkle::root(&[leaf]));
		assert_eq!(Trace::of_the_beginning(None).root(), merkle::root(&[]));
	}
}
