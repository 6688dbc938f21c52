//! Computes what two tasks compute, in the ways that a cheat would choose who is paid by their fuel.
//!
//!     shortcuts lcg START COUNT STEPS      the generator of lcg.c by its formula
//!     shortcuts pi SEED STEPS              the points of ml-worker/examples/tasks/pi.rs, as native code on all cores
//!
//! Prints the last state in hexadecimal, and the seconds that it took.

use std::time::Instant;

const A: u64 = 6364136223846793005;
const C: u64 = 1442695040888963407;
const POINTS: u64 = 100_000;

/// `count` steps of the generator at once: each squaring makes a step of twice as many.
fn lcg(mut x: u64, mut count: u64) -> u64 {
	let (mut a, mut c) = (A, C);
	while count > 0 {
		if count & 1 == 1 {
			x = x.wrapping_mul(a).wrapping_add(c);
		}
		c = a.wrapping_mul(c).wrapping_add(c);
		a = a.wrapping_mul(a);
		count >>= 1;
	}
	x
}

fn mix(number: u64) -> u64 {
	let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
	z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
	z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
	z ^ (z >> 31)
}

fn unit(bits: u64) -> f64 {
	(bits >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

/// Points inside the circle, of those from `from` on.
fn inside(start: u64, from: u64, count: u64) -> u64 {
	(from..from + count)
		.map(|point| {
			let x = unit(mix(start ^ (2 * point)));
			let y = unit(mix(start ^ (2 * point + 1)));
			u64::from(x * x + y * y < 1.0)
		})
		.sum()
}

fn main() {
	let words: Vec<String> = std::env::args().skip(1).collect();
	let number = |at: usize| words[at].parse::<u64>().expect("a number");
	let begun = Instant::now();
	let state: Vec<u64> = match words[0].as_str() {
		"lcg" => vec![lcg(number(1), number(2) * number(3)), number(2)],
		"pi" => {
			let (seed, points) = (number(1), number(2) * POINTS);
			let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
			let start = mix(seed);
			let part = points / cores;
			let threads: Vec<_> = (0..cores)
				.map(|core| {
					let count = if core + 1 == cores { points - part * core } else { part };
					std::thread::spawn(move || inside(start, part * core, count))
				})
				.collect();
			let more: u64 = threads.into_iter().map(|thread| thread.join().expect("counted")).sum();
			vec![seed, points, more, (4.0 * more as f64 / points as f64).to_bits()]
		}
		other => panic!("there is no task {other}"),
	};
	let took = begun.elapsed().as_secs_f64();
	let bytes: String = state.iter().flat_map(|word| word.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect();
	println!("{bytes} {took:.9}");
}
