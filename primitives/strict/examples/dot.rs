//! A dot product whose bits are the same on every machine.

use trainyard_strict::{dot, fma, sum};

fn main() {
	let a: Vec<f32> = (0..1_000).map(|i| 1.0 / (i + 1) as f32).collect();
	let b: Vec<f32> = (0..1_000).map(|i| (i % 7) as f32 - 3.0).collect();

	// One defined order of operations, with a single rounding in each multiplication and addition.
	let strict = dot(a.iter().copied(), b.iter().copied());

	// Any other order may end in other bits, and so does rounding twice.
	let forward = a.iter().zip(&b).fold(0.0, |sum, (x, y)| fma(*x, *y, sum));
	let products = sum(a.iter().zip(&b).map(|(x, y)| x * y));

	println!("dot      {strict} {:08x}", strict.to_bits());
	println!("forward  {forward} {:08x}", forward.to_bits());
	println!("products {products} {:08x}", products.to_bits());

	// Every machine that follows docs/strict-arithmetic.md computes these.
	assert_eq!(strict.to_bits(), DOT);
}

/// What every machine computes.
const DOT: u32 = 0xc078_f3e4;
