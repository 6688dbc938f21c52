//! Chains of drilling on a device that computes many at a time.

use super::{
	cuda::{Accelerator, Chains},
	EngineError, Target,
};
use std::sync::Arc;
use trainyard_program::H256;

/// Computes chains of one size on a GPU, many at a time.
#[derive(Clone, Debug)]
pub struct ChainBatches {
	device: Arc<dyn Accelerator>,
	size: u32,
	links: u32,
}

impl ChainBatches {
	/// Prepares to compute chains of `links` products of matrices of `size` rows. `None` on the
	/// processor, which computes one at a time on each thread ([`ProgramRunner`](super::ProgramRunner)).
	pub fn new(target: &Target, size: u32, links: u32) -> Option<Self> {
		match target {
			Target::Cpu(_) => None,
			Target::Cuda(device) => Some(Self { device: device.clone(), size, links }),
		}
	}

	/// Returns how many chains give work to all of the device.
	pub fn at_a_time(&self) -> u32 {
		self.device.chains_at_a_time(self.size)
	}

	/// Computes the chains under these seeds. Returns the [content
	/// hash](trainyard_protocol::content::hash) of the last `X` of each, or `None` where `go_on` returned
	/// false: it is called after each link, with how many were given to the device.
	pub fn compute(
		&self,
		seeds: &[H256],
		go_on: &mut dyn FnMut(u32) -> bool,
	) -> Result<Option<Vec<H256>>, EngineError> {
		let chains = Chains { size: self.size, links: self.links, seeds };
		Ok(self.device.chains(chains, go_on)?)
	}
}
