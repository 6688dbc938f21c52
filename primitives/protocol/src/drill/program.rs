//! The operator lists of chains and calibrations. (A trial's are those of its job,
//! [`trainyard_program::lower`].)
//!
//! Each list is executed at a moment: the seed of the unit, and the step that the list's
//! description gives. All random numbers are those of [`OpKind::Noise`]: the stream `noise` of that
//! seed, at that step.

use super::{CALIBRATION_CYCLES, CALIBRATION_LANES};
use alloc::vec::Vec;
use trainyard_program::{
	ops::{Nano, Op, OpKind, Phase, Program, Role, TensorDecl, TensorId},
	spec::ONE_NANO,
};
use trainyard_strict::{whetstone::VARIABLES, Function};

/// The state of a unit: `X`.
pub const STATE: &str = "x";

/// Gain of a chain: standard deviation of the weights times the root of their rows, in halves.
/// Above 1, so that a chain neither dies out nor comes to rest (Sompolinsky, Crisanti and
/// Sommers, "Chaos in random neural networks", 1988).
const GAIN_HALVES: u64 = 3;

/// Standard deviation of what a pass of a calibration adds to its lanes: 1/16.
const CALIBRATION_NOISE: Nano = Nano(ONE_NANO / 16);

/// Returns the standard deviation of the weights of a chain with matrices of `size` rows:
/// `floor(10^9 sqrt(9 / (4 size)))`, of 10^-9.
pub fn deviation(size: u32) -> Nano {
	let one = u128::from(ONE_NANO).saturating_mul(u128::from(ONE_NANO));
	let gain = u128::from(GAIN_HALVES).saturating_mul(u128::from(GAIN_HALVES));
	let below = u128::from(size).saturating_mul(4);
	let square = one.saturating_mul(gain).checked_div(below).unwrap_or_default();
	Nano(u64::try_from(square.isqrt()).unwrap_or(u64::MAX))
}

/// Returns the list that begins a chain, executed at step 0: `X`, `[size, size]`, is normal with
/// variance 1. Given: `Features`, all `+0`.
pub fn begin(size: u32) -> Program {
	let mut list = Draft::default();
	let zeros = list.declare("zeros", [size, size], Role::Features);
	let x = list.declare(STATE, [size, size], Role::State);
	let drawn = list.declare("drawn", [size, size], Role::Next(x));
	let len = area(size, size);
	list.push(drawn, OpKind::Noise { x: zeros, deviation: Nano(ONE_NANO), len });
	list.0
}

/// Returns the list of one link of a chain with matrices of `size` rows. Link `l` (from 1) is
/// executed at step `l`: `W` is normal with the [`deviation`], and `tanh(X W)` is the next `X`.
/// Given: `Features`, all `+0`, and the state.
pub fn link(size: u32) -> Program {
	let mut list = Draft::default();
	let zeros = list.declare("zeros", [size, size], Role::Features);
	let x = list.declare(STATE, [size, size], Role::State);
	let weight = list.declare("weight", [size, size], Role::Local);
	let product = list.declare("product", [size, size], Role::Local);
	let next = list.declare("next", [size, size], Role::Next(x));
	let len = area(size, size);
	list.push(weight, OpKind::Noise { x: zeros, deviation: deviation(size), len });
	let (a, b, transpose_a, transpose_b) = (x, weight, false, false);
	let kind = OpKind::MatMul { a, b, transpose_a, transpose_b, m: size, n: size, k: size };
	list.push(product, kind);
	list.push(next, OpKind::Activation { function: Function::Tanh, x: product, len });
	list.0
}

/// Returns the list of one pass of a calibration. Pass `p` (from 0) is executed at step `p`: noise
/// on the lanes, `[VARIABLES, CALIBRATION_LANES]`, and then their cycles. Before pass 0 all lanes
/// are `+0`. Given: the state.
pub fn pass() -> Program {
	let shape = [VARIABLES as u32, CALIBRATION_LANES];
	let mut list = Draft::default();
	let x = list.declare(STATE, shape, Role::State);
	let noisy = list.declare("noisy", shape, Role::Local);
	let next = list.declare("next", shape, Role::Next(x));
	let len = area(VARIABLES as u32, CALIBRATION_LANES);
	list.push(noisy, OpKind::Noise { x, deviation: CALIBRATION_NOISE, len });
	let (lanes, cycles) = (CALIBRATION_LANES, CALIBRATION_CYCLES);
	list.push(next, OpKind::Whetstone { x: noisy, lanes, cycles });
	list.0
}

fn area(rows: u32, cols: u32) -> u64 {
	u64::from(rows).saturating_mul(u64::from(cols))
}

/// An operator list under construction.
#[derive(Default)]
struct Draft(Program);

impl Draft {
	fn declare(&mut self, name: &str, shape: [u32; 2], role: Role) -> TensorId {
		let id = self.0.tensors.len() as TensorId;
		self.0.tensors.push(TensorDecl { name: name.into(), shape: Vec::from(shape), role });
		id
	}

	fn push(&mut self, out: TensorId, kind: OpKind) {
		self.0.ops.push(Op { phase: Phase::Forward, layer: None, out, kind });
	}
}
