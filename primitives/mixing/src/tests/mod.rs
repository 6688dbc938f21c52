//! What mixing comes to, compared with its definition written again, simply.

mod aggregates;
mod blocks;
mod steps;
mod updates;
mod vectors;

use crate::{compress, Compression, Layout, Residual, Update};
use trainyard_strict::Soft;

/// Numbers of about the size of a movement, the same for a seed; some are equal, and some are 0.
pub fn values(length: usize, seed: u32) -> Vec<f32> {
	let mut x = seed.wrapping_mul(2_654_435_761) | 1;
	let mut next = || {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		x
	};
	(0..length)
		.map(|_| match next() % 8 {
			0 => 0.0,
			1 => -0.001,
			2 => 0.001,
			_ => ((next() >> 8) as f32 / 16_777_216.0 - 0.5) * 0.01,
		})
		.collect()
}

pub fn laid_out(rule: Compression, tensors: impl IntoIterator<Item = u64>) -> Layout {
	Layout::new(rule, tensors).unwrap()
}

pub fn rule(picks: u32, bits: u32) -> Compression {
	Compression::new(picks, bits).unwrap()
}

/// The update of these values, and what is left of them.
pub fn compressed(layout: &Layout, values: &[f32]) -> (Vec<u8>, Vec<f32>) {
	let mut residual = Residual(values.to_vec());
	let bytes = compress::<Soft>(layout, &mut residual).unwrap();
	(bytes, residual.0)
}

pub fn read(layout: &Layout, bytes: &[u8]) -> Update {
	Update::read::<Soft>(layout, bytes).unwrap()
}

pub fn bits(values: &[f32]) -> Vec<u32> {
	values.iter().map(|value| value.to_bits()).collect()
}
