//! An estimate of pi by random points: the part of them inside the unit circle.
//!
//! A state is four numbers of 8 bytes, little endian: the seed, how many points there were, how many of them were inside,
//! and the estimate as a float. The first state may be the seed alone. Each step draws [`POINTS`] points.

#![no_std]
#![no_main]

use core::{panic::PanicInfo, ptr::addr_of_mut};

/// Points of a step: some 11 million units of fuel.
const POINTS: u64 = 100_000;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
	core::arch::wasm32::unreachable()
}

/// The state, before a step and after it.
static mut STATE: [u64; 4] = [0; 4];

/// Returns where the host writes a state of so many bytes. A longer one has no place here.
#[export_name = "input"]
extern "C" fn input(length: usize) -> *mut u64 {
	match length {
		8 | 32 => addr_of_mut!(STATE).cast(),
		_ => core::arch::wasm32::unreachable(),
	}
}

/// Mixes a number well (SplitMix64, by Sebastiano Vigna, in the public domain).
fn mix(number: u64) -> u64 {
	let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
	z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
	z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
	z ^ (z >> 31)
}

/// Returns a number from 0 to 1 of 53 random bits.
fn unit(bits: u64) -> f64 {
	(bits >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

/// Makes the next state, and returns its place in the upper half and its length in the lower one.
#[export_name = "step"]
extern "C" fn step(at: usize, _length: usize) -> u64 {
	// SAFETY: there is one thread, and nothing else borrows it.
	let state = unsafe { &mut *addr_of_mut!(STATE) };
	let [seed, points, inside, _] = *state;
	let start = mix(seed);
	let mut more = 0;
	for point in points..points + POINTS {
		// Each point has two numbers of its own, whatever was drawn before it.
		let x = unit(mix(start ^ (2 * point)));
		let y = unit(mix(start ^ (2 * point + 1)));
		more += u64::from(x * x + y * y < 1.0);
	}
	let (points, inside) = (points + POINTS, inside + more);
	*state = [seed, points, inside, (4.0 * inside as f64 / points as f64).to_bits()];
	(at as u64) << 32 | 32
}
