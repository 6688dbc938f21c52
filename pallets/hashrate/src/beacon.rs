//! Randomness from the VRF outputs of the authors of recent blocks.
//!
//! Block `n`'s output is written by Babe at the very end of block `n` and first read here
//! in `on_initialize` of block `n + 1`, which puts it into a ring of 256. So during block
//! `now` (and in a state read after it) the outputs of `now - 256 ..= now - 1` are here,
//! and the seed from the blocks `after + 1 ..= after + blocks` can be asked for from block
//! `after + blocks + 1` on, for [`SEED_LIFE`] blocks: nobody is drawn by a seed that everybody has
//! known for long. How many blocks make a seed, and how far apart draw heights lie, is
//! [`SeedTiming`], fixed in genesis.
//!
//! Someone who makes all of the blocks knows the seed beforehand, and can let a draw happen at that
//! height. So there are many of them, and draw heights are multiples of a step: neither the moment
//! of a reveal nor that of a chunk moves a draw by less than the step.
//! `tools/slots/seeds.py` computes what is left.
//!
//! A block without a VRF output (a plain secondary slot; genesis) is represented by the
//! hash of the block's hash, which its author can grind: networks whose draws matter use
//! slots with VRF outputs only. With them, the author of the last of the blocks can withhold it and
//! so choose between two seeds. That author also knows the seed while it chooses what its block
//! includes, so whoever draws with a seed must draw from what was there at `after`.

use crate::{Config, LatestVrf, Outputs, Pallet, SeedTiming, Seeding};
use alloc::vec::Vec;
use codec::Encode;
use frame_support::{traits::Get, weights::Weight};
use sp_io::hashing::blake2_256;
use trainyard_protocol::{job::BlockNumber, H256};
use trainyard_traits::{Beacon, Seed};

/// Outputs kept: as many as a byte has values.
pub const RING: u32 = 256;

/// Most blocks of a seed.
pub const MAX_SEED_BLOCKS: u32 = 24;

/// Most blocks between two draw heights.
pub const MAX_SEED_STEP: u32 = 256;

/// Blocks for which a seed is given, from the first on in which it can be. Long enough that nobody
/// delays a draw for nothing to have another one: the market serves about 40 jobs of others in a
/// block, so that this takes 1,300 jobs that are all due then, and anyone may serve the one that
/// waits by a call.
pub const SEED_LIFE: BlockNumber = 32;

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
	fn draw_height(settled: BlockNumber) -> BlockNumber {
		let step = Seeding::<T>::get().step.max(1);
		settled.checked_next_multiple_of(step).unwrap_or(BlockNumber::MAX)
	}

	/// Returns `blake2_256(SCALE(domain, subject, outputs))` over the outputs of the blocks of the
	/// seed after `after`, all three as byte or item vectors.
	fn seed(domain: &[u8], subject: &[u8], after: BlockNumber) -> Seed {
		let last = after.saturating_add(Seeding::<T>::get().blocks.max(1));
		let ready = last.saturating_add(1);
		let now = Self::now();
		if now < ready {
			return Seed::NotBefore(ready);
		}
		if now > ready.saturating_add(SEED_LIFE) {
			return Seed::Lost;
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

	fn horizon() -> BlockNumber {
		MAX_SEED_BLOCKS.saturating_add(1).saturating_add(SEED_LIFE)
	}

	fn seed_weight() -> Weight {
		let outputs = SeedTiming::default().blocks.max(Seeding::<T>::get().blocks);
		// The timing, the height and the outputs.
		T::DbWeight::get().reads(u64::from(outputs).saturating_add(2))
	}
}
