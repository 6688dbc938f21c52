//! The calibration of drilling: cycles of scalar functions in lanes that are independent of each
//! other.

use super::{Arithmetic, Isa, SimdTask, PARALLEL_FROM};
use rayon::prelude::*;
use std::ops::Range;
use trainyard_strict::whetstone::{cycle, VARIABLES};

/// Lanes that are computed beside each other: one or two vectors of each variable.
const GROUP: usize = 16;
/// Lanes that one thread takes at a time.
const SHARE: usize = 4 * GROUP;
/// How many times as long as an addition a cycle of a lane takes, roughly.
const WORK: usize = 512;

/// Runs `cycles` cycles of every lane of `x`, `[VARIABLES, lanes]`; see `OpKind::Whetstone`. It
/// runs on rayon's current threads where that is worth it; their number changes no bit.
pub fn cycles(isa: Isa, x: &[f32], cycles: u32) -> Vec<f32> {
	let lanes = x.len() / VARIABLES;
	let mut out = vec![0.0; x.len()];
	let shares: Vec<Range<usize>> =
		(0..lanes).step_by(SHARE).map(|start| start..(start + SHARE).min(lanes)).collect();
	let run = |range: &Range<usize>| {
		let mut made = vec![0.0; VARIABLES * range.len()];
		isa.run(Lanes { x, lanes, range: range.clone(), cycles, out: &mut made });
		made
	};
	let made: Vec<Vec<f32>> = match lanes * cycles as usize * WORK < PARALLEL_FROM {
		true => shares.iter().map(run).collect(),
		false => shares.par_iter().map(run).collect(),
	};
	for (range, made) in shares.iter().zip(&made) {
		for (variable, made) in made.chunks_exact(range.len()).enumerate() {
			out[variable * lanes..][range.clone()].copy_from_slice(made);
		}
	}
	out
}

struct Lanes<'a> {
	x: &'a [f32],
	/// Lanes of `x`.
	lanes: usize,
	/// Those that are computed.
	range: Range<usize>,
	cycles: u32,
	/// `[VARIABLES, range]`.
	out: &'a mut [f32],
}

impl SimdTask for Lanes<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let len = self.range.len();
		for start in (0..len).step_by(GROUP) {
			let count = GROUP.min(len - start);
			// Lanes after the last are zeros that nothing reads.
			let mut group = [[0.0f32; GROUP]; VARIABLES];
			for (variable, values) in group.iter_mut().enumerate() {
				let from = variable * self.lanes + self.range.start + start;
				values[..count].copy_from_slice(&self.x[from..from + count]);
			}
			for _ in 0..self.cycles {
				for lane in 0..GROUP {
					let next = cycle::<A>(std::array::from_fn(|variable| group[variable][lane]));
					for (values, next) in group.iter_mut().zip(next) {
						values[lane] = next;
					}
				}
			}
			for (variable, values) in group.iter().enumerate() {
				self.out[variable * len + start..][..count].copy_from_slice(&values[..count]);
			}
		}
	}
}
