//! Computes laps of stints, one after the other on one thread: a machine computes as many at a time as
//! it has cores.

use super::UnitError;
use trainyard_engine::{EngineError, Isa, ProgramRunner};
use trainyard_program::reference::StepContext;
use trainyard_protocol::{
	drill::{chain_state, program},
	stint::{lap_seed, LAP_LINKS, LAP_SIZE},
	H256,
};

/// What computes laps.
pub struct Laps {
	begin: ProgramRunner,
	link: ProgramRunner,
}

impl Laps {
	/// Prepares to compute laps with this instruction set.
	pub fn new(isa: Isa) -> Result<Self, UnitError> {
		let begin = ProgramRunner::new(program::begin(LAP_SIZE), isa)?;
		let link = ProgramRunner::new(program::link(LAP_SIZE), isa)?;
		Ok(Self { begin, link })
	}

	/// Prepares to compute laps with the instruction set that was chosen for this process.
	pub fn chosen() -> Result<Self, UnitError> {
		Self::new(Isa::from_environment().map_err(EngineError::from)?)
	}

	/// Computes lap `index` of the stint with this seed: the result of the unit
	/// [`LAP`](trainyard_protocol::stint::LAP) under the lap's seed.
	pub fn compute(&self, seed: &H256, index: u32) -> Result<H256, UnitError> {
		let seed = lap_seed(seed, index);
		let mut state = self.begin.zeros()?;
		self.begin.advance(&mut state, StepContext { seed, step: 0 })?;
		for step in 1..=LAP_LINKS {
			self.link.advance(&mut state, StepContext { seed, step })?;
		}
		Ok(chain_state(LAP_SIZE, state.content(program::STATE)?))
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::drill::{compute, Options, Unit};
	use std::sync::atomic::AtomicBool;
	use trainyard_protocol::stint::LAP;

	/// A lap is the unit that the pages define, on any number of threads.
	#[test]
	fn a_lap_is_a_chain_under_its_own_seed() {
		let seed = H256([7; 32]);
		let laps = Laps::new(Isa::from_environment().unwrap()).unwrap();
		let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
		for index in [0, 1, 1_000_000] {
			let unit = Unit { template: &LAP, index: 0, seed: lap_seed(&seed, index) };
			let (mut progress, stop) = (|_: u32, _: u32| {}, AtomicBool::new(false));
			let options = Options::chosen(None, &mut progress, &stop).unwrap();
			let expected = compute(unit, options).unwrap();
			assert_eq!(laps.compute(&seed, index).unwrap(), expected.state);
			assert_eq!(alone.install(|| laps.compute(&seed, index)).unwrap(), expected.state);
		}
	}
}
