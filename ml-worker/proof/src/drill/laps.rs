//! Computes laps of stints: on the processor one after the other on one thread, so that a machine
//! computes as many at a time as it has cores; on a GPU many at a time.

use super::UnitError;
use std::ops::Range;
use trainyard_engine::{ChainBatches, DeviceError, EngineError, Isa, ProgramRunner, Target};
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

/// What computes laps on a GPU.
pub struct LapBatches {
	chains: ChainBatches,
	processor: Laps,
}

impl LapBatches {
	/// Prepares to compute laps there; `None` if it is the processor.
	pub fn new(target: &Target) -> Result<Option<Self>, UnitError> {
		let Some(chains) = ChainBatches::new(target, LAP_SIZE, LAP_LINKS) else { return Ok(None) };
		Ok(Some(Self { chains, processor: Laps::chosen()? }))
	}

	/// Returns how many laps give work to all of the GPU.
	pub fn at_a_time(&self) -> u32 {
		self.chains.at_a_time()
	}

	/// Computes these laps of the stint with this seed, as [`Laps::compute`] does.
	pub fn compute(&self, seed: &H256, laps: Range<u32>) -> Result<Vec<H256>, UnitError> {
		let seeds: Vec<H256> = laps.map(|index| lap_seed(seed, index)).collect();
		let found = self.chains.compute(&seeds, &mut |_| true)?.unwrap_or_default();
		Ok(found.into_iter().map(|content| chain_state(LAP_SIZE, content)).collect())
	}

	/// Computes a lap on the processor, and fails if it has another result there: the GPU, or its
	/// memory, makes errors.
	pub fn confirm(&self, seed: &H256, index: u32, result: &H256) -> Result<(), UnitError> {
		if self.processor.compute(seed, index)? == *result {
			return Ok(());
		}
		let what = format!("lap {index} of a stint has another result there");
		Err(EngineError::Device(DeviceError::Differs(what)).into())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::drill::{compute, Options, Unit};
	use std::sync::atomic::AtomicBool;
	use trainyard_engine::Compute;
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

	/// Laps on a GPU, where there is one, are those of the processor.
	#[test]
	fn laps_of_a_gpu_are_those_of_the_processor() {
		let cpu = Compute::Cpu.target().unwrap();
		assert!(LapBatches::new(&cpu).unwrap().is_none());
		let target = match Compute::Cuda(0).target() {
			Ok(target) => target,
			Err(why) => return println!("not on a GPU: {why}"),
		};
		let batches = LapBatches::new(&target).unwrap().unwrap();
		let seed = H256([7; 32]);
		let (first, count) = (1_000, batches.at_a_time() + 3);
		let found = batches.compute(&seed, first..first + count).unwrap();
		assert_eq!(found.len(), count as usize);
		for at in [0, 1, count / 2, count - 1] {
			batches.confirm(&seed, first + at, &found[at as usize]).unwrap();
		}
		let wrong = batches.confirm(&seed, first, &found[1]).unwrap_err().to_string();
		assert!(wrong.contains("lap 1000 of a stint has another result"), "{wrong}");
	}
}
