//! Two traces that differ, narrowed to the first step after which they do.
//!
//! Both sides have committed to a trace of the same length, so neither has to be believed and nobody names
//! an interval: from a node in which the two trees differ, each side shows the nodes of its own tree some
//! [levels](FAN_LEVELS) below. They must hash to that node. The first of them that differ are the next
//! node; all leaves to the left of it are equal. So whatever is shown is true of the trace that its side
//! committed to, everybody who knows the trace can show it, and the only wrong move is silence.
//!
//! At the level of the leaves what is left is one step: its begin is the same state in both traces, its end
//! is not. Whoever brings the bytes of the begin has the step executed, and a side whose leaf is not that
//! of what came out has lost. Both may have.
//!
//! ```text
//!     a ≠ b         root, level 3               shown by each side: levels 0 .. 3 at once, where
//!    /     \                                    they fit; here one level at a time
//!   =       ≠       level 2
//!          / \
//!         ≠   ?     level 1                     what lies to the right of the first that differ
//!        / \                                    does not matter
//!       =   ≠       leaves: the step that ends with this one is executed
//! ```

use crate::H256;
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::ops::Range;
use scale_info::TypeInfo;
use trainyard_protocol::merkle;

/// Levels of a tree that one move goes down, at most.
pub const FAN_LEVELS: u8 = 7;
/// Nodes that one move shows, at most: 4 KiB.
pub const FAN: u32 = 1 << FAN_LEVELS;

/// The nodes that one move shows.
pub type Nodes = BoundedVec<H256, ConstU32<FAN>>;

/// Returns how many levels the tree over `count` leaves has above them.
pub fn height(count: u32) -> u8 {
	let levels = u32::BITS.saturating_sub(count.saturating_sub(1).leading_zeros());
	u8::try_from(levels).unwrap_or(u8::MAX)
}

/// Returns how many nodes a level of the tree over `count` leaves has. Level 0 are the leaves.
pub fn width(count: u32, level: u8) -> u32 {
	let width = u64::from(count).div_ceil(1u64.checked_shl(level.into()).unwrap_or(u64::MAX));
	u32::try_from(width).unwrap_or(u32::MAX)
}

/// Returns how many moves of a side two traces of `count` leaves take at most.
pub fn moves(count: u32) -> u32 {
	u32::from(height(count)).div_ceil(FAN_LEVELS.into())
}

/// A node in which two trees of one shape differ, while all leaves to the left of it are equal.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Descent {
	/// Leaves of each tree.
	pub count: u32,
	/// Level of the node; 0 is that of the leaves.
	pub level: u8,
	/// Which node of its level.
	pub index: u32,
	/// The node of either tree.
	pub nodes: [H256; 2],
}

/// What two moves lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Narrowed {
	/// Another node.
	Deeper(Descent),
	/// The leaf of this index: that of the state after as many steps.
	Leaf {
		/// Its index, at least 1.
		index: u32,
		/// The leaf of either trace.
		leaves: [H256; 2],
	},
}

impl Descent {
	/// Returns where a dispute begins between two traces of `count` leaves with these roots. `None` where
	/// there is nothing to dispute.
	pub fn begin(count: u32, roots: [H256; 2]) -> Option<Self> {
		let [a, b] = roots;
		(count > 1 && a != b).then_some(Self {
			count,
			level: height(count),
			index: 0,
			nodes: roots,
		})
	}

	/// Returns the level whose nodes are due.
	pub fn below(&self) -> u8 {
		self.level.saturating_sub(FAN_LEVELS)
	}

	/// Returns which nodes of [that level](Self::below) are due: at most [`FAN`].
	pub fn due(&self) -> Range<u32> {
		let below = self.below();
		let shift = u32::from(self.level.saturating_sub(below));
		let fan = 1u64.checked_shl(shift).unwrap_or(u64::MAX);
		let first = u64::from(self.index).saturating_mul(fan);
		let last = first.saturating_add(fan).min(width(self.count, below).into());
		let of = |at: u64| u32::try_from(at).unwrap_or(u32::MAX);
		of(first)..of(last)
	}

	/// Returns whether side 0 or 1 can show these nodes: they are as many as are due, and hash to its node.
	pub fn shows(&self, side: usize, nodes: &[H256]) -> bool {
		let due = self.due();
		let many = due.end.saturating_sub(due.start);
		// The nodes that are due are aligned, so the tree over them is that part of the whole tree.
		u32::try_from(nodes.len()) == Ok(many)
			&& many > 0
			&& self.nodes.get(side).is_some_and(|node| merkle::root(nodes) == *node)
	}

	/// Returns what the moves of both sides, which [`Self::shows`] has accepted, lead to. `None` for moves
	/// that it has not: they do not differ.
	pub fn narrow(&self, shown: [&[H256]; 2]) -> Option<Narrowed> {
		let [a, b] = shown;
		let differs = |(a, b): (&H256, &H256)| a != b;
		let at = a.iter().zip(b).position(differs)?;
		let nodes = [*a.get(at)?, *b.get(at)?];
		let index = self.due().start.checked_add(u32::try_from(at).ok()?)?;
		let level = self.below();
		Some(if level == 0 {
			Narrowed::Leaf { index, leaves: nodes }
		} else {
			Narrowed::Deeper(Self { count: self.count, level, index, nodes })
		})
	}
}

/// Returns which sides a step convicts that came to a state with this leaf.
pub fn convicted(after: &H256, leaves: [H256; 2]) -> [bool; 2] {
	leaves.map(|leaf| leaf != *after)
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{state::Begin, Fault, StateId, Trace};
	use proptest::prelude::*;

	#[test]
	fn shapes() {
		for (count, levels) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (128, 7), (129, 8)] {
			assert_eq!(height(count), levels, "{count}");
			assert_eq!((width(count, levels), width(count, 0)), (1, count));
		}
		assert_eq!((height(u32::MAX), width(u32::MAX, 32)), (32, 1));
		assert_eq!((moves(2), moves(128), moves(129), moves(1 << 21)), (1, 1, 2, 3));
	}

	#[test]
	fn nothing_is_disputed_between_equals() {
		let (a, b) = (H256([1; 32]), H256([2; 32]));
		assert_eq!(Descent::begin(9, [a, a]), None);
		assert_eq!(Descent::begin(1, [a, b]), None);
		let descent = Descent::begin(9, [a, b]).unwrap();
		assert_eq!(descent.narrow([&[a, b], &[a, b]]), None);
		assert!(!descent.shows(2, &[a]) && !descent.shows(0, &[]));
	}

	/// A step that everybody can repeat: no bytes are a fault.
	fn step(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
		let [first, ..] = bytes else { return Err(vec![1].try_into().unwrap()) };
		Ok(vec![first.wrapping_mul(5).wrapping_add(3)])
	}

	/// Plays a dispute to its end. Returns the index of the leaf, both leaves, and the moves of a side.
	fn play(traces: [&Trace; 2]) -> (u32, [H256; 2], u32) {
		let roots = traces.map(Trace::root);
		let mut descent = Descent::begin(traces[0].count(), roots).unwrap();
		let mut moves = 0;
		loop {
			let (level, due) = (descent.below(), descent.due());
			assert!(due.len() <= FAN as usize);
			let shown = traces.map(|trace| trace.nodes(level, due.clone()));
			for (side, nodes) in shown.into_iter().enumerate() {
				assert!(descent.shows(side, nodes));
				let mut other = nodes.to_vec();
				other[0] = H256([9; 32]);
				assert!(!descent.shows(side, &other), "another node");
				assert!(!descent.shows(side, &nodes[1..]), "one too few");
				other = nodes.to_vec();
				other.push(nodes[0]);
				assert!(!descent.shows(side, &other), "one too many");
			}
			moves += 1;
			match descent.narrow(shown).unwrap() {
				Narrowed::Deeper(next) => descent = next,
				Narrowed::Leaf { index, leaves } => return (index, leaves, moves),
			}
		}
	}

	proptest! {
		/// The naive model: look at all leaves. A dispute finds the first that differ, and executing that
		/// step convicts whoever is false there, however the runs go on.
		#[test]
		fn a_dispute_finds_the_first_difference(
			steps in 1u32..2_000,
			lies in proptest::collection::vec((any::<u32>(), any::<u8>(), 0usize..2), 1..6),
			begin in any::<u8>(),
		) {
			let run = |side: usize| {
				let mut number = 0;
				let mut states = vec![Ok(vec![begin])];
				let (leaves, _) = Trace::run(&[begin], steps, |bytes| {
					number += 1;
					let lie = lies.iter().find(|(at, _, who)| at % steps + 1 == number && *who == side);
					let next = match lie {
						Some((_, 0, _)) => Err(vec![7].try_into().unwrap()),
						Some((_, byte, _)) => Ok(vec![*byte]),
						None => step(bytes),
					};
					states.push(next.clone());
					next
				});
				while states.len() < leaves.len() {
					states.push(states.last().unwrap().clone());
				}
				(Trace::of(leaves).unwrap(), states)
			};
			let ((a, states), (b, others)) = (run(0), run(1));
			let naive = states.iter().zip(&others).position(|(a, b)| a != b);
			let Some(naive) = naive else {
				prop_assert_eq!(a.root(), b.root());
				return Ok(());
			};
			let (index, leaves, count) = play([&a, &b]);
			prop_assert_eq!(index as usize, naive);
			prop_assert!(index > 0, "both begin with the input");
			prop_assert!(count <= moves(steps + 1));
			// The begin is opened under either root.
			let begin = match &states[naive - 1] {
				Ok(bytes) => Begin::Bytes(bytes),
				Err(fault) => Begin::Fault(fault),
			};
			for trace in [&a, &b] {
				let path = trace.proof(index - 1).unwrap();
				let (root, count) = (trace.root(), trace.count());
				prop_assert!(merkle::verify(&root, &begin.id().leaf(), index - 1, count, &path));
			}
			let after = begin.after(step);
			let truth = [&states[naive], &others[naive]]
				.map(|state| StateId::of(state.as_deref()) != after);
			prop_assert_eq!(convicted(&after.leaf(), leaves), truth);
			prop_assert!(truth[0] || truth[1], "one of them at least is false");
		}

		/// Whoever has the true trace wins against every other.
		#[test]
		fn the_true_trace_wins(steps in 1u32..1_500, at in any::<u32>(), byte in any::<u8>()) {
			let (leaves, _) = Trace::run(&[1], steps, step);
			let truth = Trace::of(leaves.clone()).unwrap();
			let mut false_leaves = leaves.clone();
			let at = at % steps + 1;
			false_leaves[at as usize] = merkle::leaf(&[byte]);
			let lie = Trace::of(false_leaves).unwrap();
			let (index, sides, _) = play([&lie, &truth]);
			prop_assert_eq!(index, at);
			prop_assert_eq!(convicted(&leaves[at as usize], sides), [true, false]);
		}
	}
}
