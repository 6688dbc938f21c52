//! Runs chains of elementwise operators, link by link on a chunk that stays in the first level
//! cache. The next link reads a result before it leaves the cache, and threads share out the chunks
//! of many chains at once.

use super::{
	elementwise::{Map1, Map2, Map3, Scale},
	optimizer::{AdamStep, Ema, EmaSquare, MulAdd},
	Arithmetic, Isa, SimdTask, PARALLEL_FROM,
};
use rayon::prelude::*;
use std::{cell::Cell, mem::MaybeUninit, ops::Range};

/// Elements of a chunk: the results of an AdamW update take 32 KiB.
const CHUNK: usize = 1 << 11;

thread_local! {
	/// Where the thread puts the results of a chunk.
	static SPACE: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// What a link computes.
#[derive(Clone, Copy, Debug)]
pub enum Step {
	/// See [`Scale`].
	Scale(Scale),
	/// See [`MulAdd`].
	MulAdd(MulAdd),
	/// See [`Ema`].
	Ema(Ema),
	/// See [`EmaSquare`].
	EmaSquare(EmaSquare),
	/// See [`AdamStep`].
	AdamStep(AdamStep),
}

/// An elementwise operator of a chain.
#[derive(Clone, Copy, Debug)]
pub struct Link {
	/// What it computes.
	pub step: Step,
	/// Its operands, as many as the step takes: numbers of the chain's inputs or, after these, of
	/// the results of earlier links.
	pub operands: [usize; 3],
}

/// Links over operands of one length.
#[derive(Clone, Debug)]
pub struct Chain<'a> {
	/// What links read from outside, all of one length.
	pub inputs: Vec<&'a [f32]>,
	/// The links, in order; each makes a result.
	pub links: Vec<Link>,
	/// For each link, whether its result is returned. The others live only for a chunk.
	pub kept: Vec<bool>,
}

/// A chunk of a chain, and where its kept results go.
struct Share<'a> {
	chain: &'a Chain<'a>,
	range: Range<usize>,
	kept: Vec<&'a mut [MaybeUninit<f32>]>,
}

/// Returns the kept results of each chain, in the order of its links. It runs on rayon's current
/// threads where that is worth it; their number changes no bit.
///
/// # Panics
/// Panics if a link reads a result that does not come before it, or if inputs differ in length.
pub fn run(isa: Isa, chains: &[Chain<'_>]) -> Vec<Vec<Vec<f32>>> {
	// Not filled with zeros, which would take as long as to write the results.
	let mut results: Vec<Vec<Vec<f32>>> = chains
		.iter()
		.map(|chain| {
			let kept = chain.kept.iter().filter(|kept| **kept);
			kept.map(|_| Vec::with_capacity(chain.len())).collect()
		})
		.collect();
	let mut shares = Vec::new();
	for (chain, results) in chains.iter().zip(&mut results) {
		assert!(chain.inputs.iter().all(|input| input.len() == chain.len()));
		assert_eq!(chain.links.len(), chain.kept.len());
		let stands = |(before, link): (usize, &Link)| {
			link.operands.iter().all(|operand| *operand < chain.inputs.len() + before)
		};
		assert!(chain.links.iter().enumerate().all(stands));
		let mut left: Vec<&mut [MaybeUninit<f32>]> = results
			.iter_mut()
			.map(|result| &mut result.spare_capacity_mut()[..chain.len()])
			.collect();
		for start in (0..chain.len()).step_by(CHUNK) {
			let range = start..(start + CHUNK).min(chain.len());
			let kept = left.iter_mut().map(|left| {
				let (chunk, rest) = std::mem::take(left).split_at_mut(range.len());
				*left = rest;
				chunk
			});
			shares.push(Share { kept: kept.collect(), chain, range });
		}
	}
	let work: usize = chains.iter().map(|chain| chain.len() * chain.links.len()).sum();
	match work < PARALLEL_FROM {
		true => shares.into_iter().for_each(|share| share.run(isa)),
		false => shares.into_par_iter().for_each(|share| share.run(isa)),
	}
	for (chain, results) in chains.iter().zip(&mut results) {
		for result in results {
			// SAFETY: the shares of a chain cover all of its range, and each has written all of
			// its part of every kept result.
			unsafe { result.set_len(chain.len()) };
		}
	}
	results
}

impl Chain<'_> {
	/// Elements of each operand.
	fn len(&self) -> usize {
		self.inputs.first().map_or(0, |input| input.len())
	}
}

impl Share<'_> {
	/// Computes every link on the chunk, and writes all of its kept results.
	fn run(self, isa: Isa) {
		let Self { chain, range, kept } = self;
		let len = range.len();
		let mut space = SPACE.take();
		space.resize(space.len().max(len * chain.links.len()), 0.0);
		isa.run(Chunk {
			inputs: chain.inputs.iter().map(|input| &input[range.clone()]).collect(),
			links: &chain.links,
			results: space.chunks_exact_mut(len).take(chain.links.len()).collect(),
		});
		let found = space.chunks_exact(len).zip(&chain.kept).filter(|(_, kept)| **kept);
		for (to, (found, _)) in kept.into_iter().zip(found) {
			for (to, x) in to.iter_mut().zip(found) {
				to.write(*x);
			}
		}
		SPACE.set(space);
	}
}

/// A chunk of a chain.
struct Chunk<'a> {
	inputs: Vec<&'a [f32]>,
	links: &'a [Link],
	results: Vec<&'a mut [f32]>,
}

impl Chunk<'_> {
	/// An operand.
	#[inline(always)]
	fn read(&self, operand: usize) -> &[f32] {
		match self.inputs.get(operand) {
			Some(input) => input,
			None => self.results[operand - self.inputs.len()],
		}
	}
}

impl SimdTask for Chunk<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(mut self) {
		for (index, Link { step, operands: [x, y, z] }) in self.links.iter().enumerate() {
			let out = std::mem::take(&mut self.results[index]);
			match *step {
				Step::Scale(f) => one::<A>(f, self.read(*x), out),
				Step::MulAdd(f) => two::<A>(f, self.read(*x), self.read(*y), out),
				Step::Ema(f) => two::<A>(f, self.read(*x), self.read(*y), out),
				Step::EmaSquare(f) => two::<A>(f, self.read(*x), self.read(*y), out),
				Step::AdamStep(f) => {
					three::<A>(f, self.read(*x), self.read(*y), self.read(*z), out)
				}
			}
			self.results[index] = out;
		}
	}
}

#[inline(always)]
fn one<A: Arithmetic>(f: impl Map1, x: &[f32], out: &mut [f32]) {
	for (out, x) in out.iter_mut().zip(x) {
		*out = f.at::<A>(*x);
	}
}

#[inline(always)]
fn two<A: Arithmetic>(f: impl Map2, x: &[f32], y: &[f32], out: &mut [f32]) {
	for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
		*out = f.at::<A>(*x, *y);
	}
}

#[inline(always)]
fn three<A: Arithmetic>(f: impl Map3, x: &[f32], y: &[f32], z: &[f32], out: &mut [f32]) {
	for (((out, x), y), z) in out.iter_mut().zip(x).zip(y).zip(z) {
		*out = f.at::<A>(*x, *y, *z);
	}
}

#[cfg(test)]
mod tests {
	use super::{
		super::elementwise::{map1, map2, map3},
		*,
	};
	use proptest::prelude::*;

	fn numbers(len: usize, seed: u32) -> Vec<f32> {
		// Signs, subnormals, huge and tiny values, no NaN.
		let bits = (0..len as u32).map(|i| (i ^ seed).wrapping_mul(2_654_435_761) ^ seed);
		bits.map(f32::from_bits).map(|x| if x.is_nan() { 0.5 } else { x }).collect()
	}

	fn bits(x: &[f32]) -> Vec<u32> {
		x.iter().map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }).collect()
	}

	proptest! {
		#![proptest_config(ProptestConfig::with_cases(64))]

		/// Chains of AdamW and of SGD beside each other give the bits of their operators one by
		/// one, with every instruction set and any number of threads.
		#[test]
		fn chains_are_their_operators(
			lengths in prop::collection::vec(0usize..3 * CHUNK, 0..6),
			seed in any::<u32>(),
			threads in prop::sample::select(vec![1usize, 2, 8]),
		) {
			let (decay, keep) = (Scale(0.99), Ema { keep: 0.9, take: 0.1 });
			let squares = EmaSquare { keep: 0.999, take: 0.001 };
			let adam = AdamStep {
				minus_learning_rate: -0.01,
				rest1: 0.1,
				rest2: 0.001,
				epsilon: 1e-8,
			};
			let add = MulAdd(-0.5);
			let data: Vec<[Vec<f32>; 4]> = lengths
				.iter()
				.map(|len| [1u32, 2, 3, 4].map(|n| numbers(*len, seed.wrapping_add(n))))
				.collect();
			let link = |step, operands| Link { step, operands };
			let chains: Vec<Chain<'_>> = data
				.iter()
				.enumerate()
				.map(|(index, inputs)| Chain {
					inputs: inputs.iter().map(Vec::as_slice).collect(),
					links: match index % 2 {
						0 => vec![
							link(Step::Scale(decay), [0, 0, 0]),
							link(Step::Ema(keep), [1, 3, 0]),
							link(Step::EmaSquare(squares), [2, 3, 0]),
							link(Step::AdamStep(adam), [4, 5, 6]),
						],
						_ => vec![
							link(Step::MulAdd(add), [1, 3, 0]),
							link(Step::MulAdd(add), [4, 0, 0]),
						],
					},
					kept: match index % 2 {
						0 => vec![false, true, true, true],
						_ => vec![true, true],
					},
				})
				.collect();
			let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
			for isa in Isa::supported() {
				let found = pool.install(|| run(isa, &chains));
				prop_assert_eq!(found.len(), chains.len());
				for (index, ([x, m, v, g], found)) in data.iter().zip(&found).enumerate() {
					let expected = if index % 2 == 0 {
						let decayed = map1(isa, decay, x);
						let m = map2(isa, keep, m, g);
						let v = map2(isa, squares, v, g);
						let x = map3(isa, adam, &decayed, &m, &v);
						vec![m, v, x]
					} else {
						let velocity = map2(isa, add, m, g);
						let x = map2(isa, add, &velocity, x);
						vec![velocity, x]
					};
					prop_assert_eq!(expected.len(), found.len());
					for (expected, found) in expected.iter().zip(found) {
						prop_assert_eq!(bits(expected), bits(found));
					}
				}
			}
		}
	}
}
