//! All states of a run under one root.

use crate::{claim::Ends, descent::height, state::StateId, Claim, H256};
use alloc::{vec, vec::Vec};
use core::ops::Range;
use trainyard_protocol::merkle;

/// The trace of a run: the [leaves](StateId::leaf) of the state before the first step and of those after
/// each, and all nodes of the [Merkle tree](merkle) over them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
	/// Nodes by level: the leaves first, the root last.
	levels: Vec<Vec<H256>>,
}

impl Trace {
	/// Returns the trace with these leaves. `None` where there are fewer than two: a run has a step.
	pub fn of(leaves: Vec<H256>) -> Option<Self> {
		if leaves.len() < 2 {
			return None;
		}
		let mut levels = vec![leaves];
		while let Some(below) = levels.last().filter(|level| level.len() > 1) {
			let level = below.chunks(2).map(merkle::root).collect();
			levels.push(level);
		}
		Some(Self { levels })
	}

	/// Returns the leaves of a run of `steps` steps from a state: `step` takes the bytes of one to what
	/// comes after it, and is asked no more once there was a fault. Returns the last state as well.
	pub fn run(
		input: &[u8],
		steps: u32,
		mut step: impl FnMut(&[u8]) -> Result<Vec<u8>, crate::Fault>,
	) -> (Vec<H256>, Result<Vec<u8>, crate::Fault>) {
		let mut state = Ok(input.to_vec());
		let mut leaves = vec![StateId::of(Ok(input)).leaf()];
		for _ in 0..steps {
			state = match state {
				Ok(bytes) => step(&bytes),
				fault => fault,
			};
			leaves.push(StateId::of(state.as_deref()).leaf());
		}
		(leaves, state)
	}

	/// Returns its root.
	pub fn root(&self) -> H256 {
		self.levels.last().map(|level| merkle::root(level)).unwrap_or_default()
	}

	/// Returns how many leaves it has: one more than steps.
	pub fn count(&self) -> u32 {
		let leaves = self.levels.first().map_or(0, Vec::len);
		u32::try_from(leaves).unwrap_or(u32::MAX)
	}

	/// Returns nodes of a level; none for a range that is not of it. Level 0 are the leaves.
	pub fn nodes(&self, level: u8, range: Range<u32>) -> &[H256] {
		let nodes = self.levels.get(usize::from(level));
		let range = range.start as usize..range.end as usize;
		nodes.and_then(|nodes| nodes.get(range)).unwrap_or_default()
	}

	/// Returns the inclusion proof of a leaf; `None` where there is none.
	pub fn proof(&self, index: u32) -> Option<Vec<H256>> {
		if index >= self.count() {
			return None;
		}
		let mut at = index as usize;
		let mut path = Vec::new();
		for level in self.levels.iter().take(usize::from(height(self.count()))) {
			path.extend(level.get(at ^ 1));
			at /= 2;
		}
		Some(path)
	}

	/// Returns the claim that this trace ends with `output`, and the proofs of its ends.
	pub fn claim(&self, output: StateId) -> (Claim, Ends) {
		let last = self.count().saturating_sub(1);
		let path = |index| {
			let path = self.proof(index).unwrap_or_default();
			path.try_into().unwrap_or_default()
		};
		(Claim { root: self.root(), output }, Ends { first: path(0), last: path(last) })
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::state::Fault;
	use proptest::prelude::*;

	#[test]
	fn a_run_stops_at_a_fault_and_its_trace_goes_on() {
		let fault: Fault = vec![3].try_into().unwrap();
		let mut asked = 0;
		let (leaves, end) = Trace::run(&[0], 5, |bytes| {
			asked += 1;
			if bytes[0] == 2 {
				Err(fault.clone())
			} else {
				Ok(vec![bytes[0] + 1])
			}
		});
		assert_eq!((asked, end.clone()), (3, Err(fault.clone())));
		let of = |result: Result<&[u8], &Fault>| StateId::of(result).leaf();
		let stuck = of(Err(&fault));
		assert_eq!(leaves, [of(Ok(&[0])), of(Ok(&[1])), of(Ok(&[2])), stuck, stuck, stuck]);
		let (leaves, end) = Trace::run(&[7], 1, |_| Ok(vec![]));
		assert_eq!((leaves.len(), end), (2, Ok(vec![])));
		assert_eq!(Trace::of(vec![]), None);
		assert_eq!(Trace::of(vec![stuck]), None);
	}

	proptest! {
		#[test]
		fn roots_and_proofs_are_those_of_the_tree(count in 2usize..300, pick in any::<u32>()) {
			let leaves: Vec<_> = (0..count).map(|i| merkle::leaf(&i.to_le_bytes())).collect();
			let trace = Trace::of(leaves.clone()).unwrap();
			prop_assert_eq!(trace.root(), merkle::root(&leaves));
			prop_assert_eq!(trace.count() as usize, count);
			let index = pick % count as u32;
			prop_assert_eq!(trace.proof(index), merkle::proof(&leaves, index as usize));
			prop_assert_eq!(trace.proof(count as u32), None);
			prop_assert_eq!(trace.nodes(0, 0..count as u32), &leaves[..]);
			prop_assert_eq!(trace.nodes(0, 0..count as u32 + 1), &[][..]);
		}
	}
}
