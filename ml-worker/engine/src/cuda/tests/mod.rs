//! Tests the GPU's kernels and everything around them without a GPU: the kernels are compiled for
//! the processor, and every operator must give the bits of the scalar reference. With a GPU
//! (feature `cuda`), the same tests also run on it.

mod chains;
mod disagreement;
mod operators;
mod simulator;
mod training;

use super::backend::Backend;
use crate::{Compute, Target};
use simulator::Simulator;
use std::sync::Arc;

/// Runs `f` on the simulation, as a device of many and of few multiprocessors. Prints a plain
/// message if this machine has no C++ compiler.
fn simulated(mut f: impl FnMut(Simulator)) {
	for multiprocessors in [1, 132] {
		match Simulator::new(multiprocessors) {
			Ok(simulator) => f(simulator),
			Err(why) => println!("skipped: the kernels cannot be compiled for the host: {why}"),
		}
	}
}

/// Returns the devices on which programs can be tried here: the simulation, and a GPU where there
/// is one.
fn devices() -> Vec<(String, Target)> {
	let mut devices = Vec::new();
	simulated(|simulator| {
		let name = simulator.name();
		devices.push((name, Target::Cuda(Arc::new(super::executor::Executor::new(simulator)))));
	});
	match Compute::Cuda(0).target() {
		Ok(target) => devices.push(("GPU".into(), target)),
		Err(why) => println!("not on a GPU: {why}"),
	}
	devices
}
