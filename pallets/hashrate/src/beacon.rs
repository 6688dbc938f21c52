//! Randomness from the VRF outputs of the authors of recent blocks.
//!
//! Block `n`'s output is written by Babe at the very end of block `n` and first read here
//! in `on_initialize` of block `n + 1`, which puts it into a ring of 256. So during block
//! `now` (and in a state read after it) the outputs of `now - 256 ..= now - 1` are here,
//! and the seed from the blocks `after + 1 ..= after + SeedBlocks` can be asked for from
//! block `after + SeedBlocks + 1` on, until the first of them leaves the ring.
//!
//! A block without a VRF output (a plain secondary slot; genesis) is represented by the
//! hash of the block's hash, which its author can grind: networks whose draws matter use
//! slots with VRF outputs only. With them, the author of the last of the blocks can
//! withhold it and so choose between two seeds, and someone who makes all of them knows
//! the seed beforehand. That author also knows the seed while it chooses what its block
//! includes, so whoever draws with a seed must draw from what was there at `after`.

use crate::{Config, LatestVrf, Outputs, Pallet};
use alloc::vec::Vec;
use codec::Encode;
use frame_support::traits::Get;
use sp_io::hashing::blake2_256;
use trainyard_protocol::{job::BlockNumber, H256};
use trainyard_traits::{Beacon, Seed};

/// Outputs kept: as many as a byte has values.
pub const RING: u32 = 256;

/// Returns the place of block `n`'s output in the ring.
pub(crate) fn place(n: BlockNumber) -> u8 {
	let [n_mod_256, ..] = n.to_le_bytes();
	n_mod_256
}

impl<T: Config> Pallet<T> {
	/// Puts the previous block's output into the ring.
	pub(crate) fn record_output() {
		let Some(previous) = Self::now().checked_sub(1) else { return };
		// Babe leaves an earlier output in place when a block has none.
		let fresh = T::VrfOutput::get().filter(|output| LatestVrf::<T>::get() != Some(*output));
		let output = match fresh {
			Some(output) => {
				LatestVrf::<T>::put(output);
				output
			}
			None => H256(frame_system::Pallet::<T>::parent_hash().using_encoded(blake2_256)),
		};
		Outputs::<T>::insert(place(previous), (previous, output));
	}

	/// Returns the output of block `n`, while the ring has it.
	fn output(n: BlockNumber) -> Option<H256> {
		Outputs::<T>::get(place(n)).filter(|(block, _)| *block == n).map(|(_, output)| output)
	}
}

impl<T: Config> Beacon for Pallet<T> {
	/// Returns `blake2_256(SCALE(domain, subject, outputs))` over the outputs of the `SeedBlocks`
	/// blocks after `after`, all three as byte or item vectors.
	fn seed(domain: &[u8], subject: &[u8], after: BlockNumber) -> Seed {
		let last = after.saturating_add(T::SeedBlocks::get());
		let ready = last.saturating_add(1);
		if Self::now() < ready {
			return Seed::NotBefore(ready);
		}
		let outputs: Option<Vec<H256>> =
			(after.saturating_add(1)..=last).map(Self::output).collect();
		match outputs {
			Some(outputs) => {
				Seed::Ready(H256((domain, subject, outputs).using_encoded(blake2_256)))
			}
			None => Seed::Lost,
		}
	}
}
