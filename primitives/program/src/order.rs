//! Which training rows each step sees.
//!
//! Every epoch runs through the training rows in its own order and drops the last, short batch. The
//! order is a keyed permutation of the rows, a function of (seed, epoch, rows) that gives the row
//! at any position without the others: [`Order`]. So any step can be replayed alone, and a referee
//! that doubts one row of a batch computes that row only. Who goes through an epoch computes the
//! values of its rounds once: [`TabulatedOrder`].
//!
//! # The cost of one row
//!
//! A pass of [`Order::at`] takes 8 blocks of Philox, one for each round. Its network permutes
//! `N = a b` values, of which `d = N - n < a` are no rows; a pass that ends at one of those is
//! followed by another one. No walk comes to one of them twice, so there are at most `d + 1`
//! passes: `a` at most, and 65,536 for any number of rows. Of random permutations the share of
//! positions that take more than `w` passes is
//! `d (d - 1) ... (d - w + 1) / (N (N - 1) ... (N - w + 1))`. For no number of rows is it more than
//! 2^-64 that take more than 14 passes, or 112 blocks. The test
//! `passes_are_as_many_as_of_a_random_permutation` counts passes and prints them beside this:
//! `cargo test -p trainyard-program order -- --nocapture`.

use crate::{spec::JobSpec, H256};
use alloc::vec::Vec;
use core::ops::Range;
use trainyard_strict::philox::{Stream, StreamName};

/// Returns the number of whole batches of an epoch; at least 1 for valid specifications.
pub fn batches_per_epoch(spec: &JobSpec) -> u32 {
	spec.dataset.train_rows.checked_div(spec.training.batch_size).unwrap_or(0)
}

/// Where the batch of a step stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
	/// The epoch, from 0.
	pub epoch: u32,
	/// Positions in the epoch's order.
	pub positions: Range<u32>,
}

/// Returns where the batch of `step` (from 0) stands.
pub fn place(spec: &JobSpec, step: u32) -> Place {
	let batches = batches_per_epoch(spec).max(1);
	// Division by a number that is at least 1.
	let (epoch, batch) = (step / batches, step % batches);
	let start = batch.saturating_mul(spec.training.batch_size);
	Place { epoch, positions: start..start.saturating_add(spec.training.batch_size) }
}

/// Rounds of the network. They change the two coordinates in turn.
const ROUNDS: u32 = 8;

/// The order of the training rows of one epoch: a permutation of `0..rows` that gives the row at
/// any position without the others.
///
/// Let `a` be the least even number whose square is at least `rows`, and `b = ceil(rows / a)`. A
/// generalised Feistel network (Black and Rogaway, CT-RSA 2002) permutes the pairs `(x, y)` with
/// `x < a` and `y < b`, each standing for `x b + y`. Rounds 0, 2, 4 and 6 set `x` to
/// `(x + F(y)) mod a`, rounds 1, 3, 5 and 7 set `y` to `(y + F(x)) mod b`; `F(v)` of round `r` is
/// draw number `2^32 r + v` below `a`, or below `b`, at step `epoch` of the stream `shuffle`. From
/// a position on the network is applied until the value is below `rows`: that is the row. (Were
/// both extents odd, every round would be an even permutation, and so every order.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
	stream: Stream,
	epoch: u32,
	rows: u32,
	/// `a` and `b`, at most 65,536 each; 0 without rows.
	extents: [u32; 2],
}

impl Order {
	/// Returns the order of the rows `0..rows` in `epoch`, from 0, under the assignment seed.
	pub fn new(seed: &H256, epoch: u32, rows: u32) -> Self {
		let stream = Stream::new(&seed.0, StreamName::Shuffle);
		Self { stream, epoch, rows, extents: extents(rows) }
	}

	/// Returns the row at `position`, or `None` if there is no such position. It takes 8 blocks of
	/// Philox for a pass, see the [module](self) for how many passes there are.
	pub fn at(&self, position: u32) -> Option<u32> {
		self.walk(position, |round, v| self.value(round, v)).map(|(row, _)| row)
	}

	/// Computes the values of all rounds, `4 (a + b)` draws, so that rows cost no draws any more.
	pub fn tabulate(self) -> TabulatedOrder {
		let [a, b] = self.extents;
		let values = (0..ROUNDS).map(|round| {
			let inputs = if changes_x(round) { b } else { a };
			(0..inputs).map(|v| self.value(round, v)).collect()
		});
		TabulatedOrder { order: self, values: values.collect() }
	}

	/// Returns `F(v)` of a round.
	fn value(&self, round: u32, v: u32) -> u32 {
		let [a, b] = self.extents;
		let bound = if changes_x(round) { a } else { b };
		self.stream.below(self.epoch, (u64::from(round) << 32) | u64::from(v), bound)
	}

	/// Returns the row at `position` and how many passes it took; `value` is `F` of a round at `v`,
	/// below what the round counts modulo.
	fn walk(&self, position: u32, value: impl Fn(u32, u32) -> u32) -> Option<(u32, u32)> {
		if position >= self.rows {
			return None;
		}
		let [a, b] = self.extents;
		let (mut x, mut y) = (position.checked_div(b)?, position.checked_rem(b)?);
		let mut passes = 0u32;
		// Each round can be undone, whatever `value` is, so the values that the walk comes to are a
		// cycle that leads back to `position`, which is below `rows`: it ends.
		loop {
			for round in 0..ROUNDS {
				match changes_x(round) {
					true => x = add_modulo(x, value(round, y), a),
					false => y = add_modulo(y, value(round, x), b),
				}
			}
			passes = passes.saturating_add(1);
			// At most a b - 1, which is below 2^32.
			let row = x.saturating_mul(b).saturating_add(y);
			if row < self.rows {
				return Some((row, passes));
			}
		}
	}
}

/// An [`Order`] with the values of all its rounds, which takes no more draws. They are about
/// `8 sqrt(rows)` numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabulatedOrder {
	order: Order,
	/// `F(v)` of each round, by round and `v`.
	values: Vec<Vec<u32>>,
}

impl TabulatedOrder {
	/// Returns the epoch whose order this is.
	pub fn epoch(&self) -> u32 {
		self.order.epoch
	}

	/// Returns what [`Order::at`] returns.
	pub fn at(&self, position: u32) -> Option<u32> {
		let value = |round: u32, v: u32| {
			let of_round = self.values.get(round as usize);
			of_round.and_then(|values| values.get(v as usize)).copied().unwrap_or_default()
		};
		self.order.walk(position, value).map(|(row, _)| row)
	}

	/// Returns the rows at these positions, as many as there are.
	pub fn rows(&self, positions: Range<u32>) -> Vec<u32> {
		positions.map_while(|position| self.at(position)).collect()
	}
}

/// Returns the bytes of the values that a [`TabulatedOrder`] of so many rows holds.
pub fn table_bytes(rows: u32) -> u64 {
	let [a, b] = extents(rows).map(u64::from);
	let values = a.saturating_add(b).saturating_mul(u64::from(ROUNDS / 2));
	values.saturating_mul(size_of::<u32>() as u64)
}

/// Returns `a`, the least even number whose square is at least `rows`, and `b = ceil(rows / a)`.
fn extents(rows: u32) -> [u32; 2] {
	let root = rows.isqrt();
	// The square of a root is no more than what it is the root of.
	let a = root.saturating_add(u32::from(root.saturating_mul(root) < rows));
	let a = a.next_multiple_of(2);
	[a, rows.div_ceil(a.max(1))]
}

/// Whether a round changes `x`, by a value of `y`; otherwise it changes `y`, by a value of `x`.
fn changes_x(round: u32) -> bool {
	round.is_multiple_of(2)
}

/// Returns `(u + v) mod n` of numbers below `n`, which is at most 65,536.
fn add_modulo(u: u32, v: u32, n: u32) -> u32 {
	let sum = u.saturating_add(v);
	sum.checked_sub(n).unwrap_or(sum)
}

#[cfg(test)]
mod tests;
