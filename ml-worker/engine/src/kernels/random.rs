//! Operators that draw random numbers: dropout and noise.
//!
//! A random word depends on nothing but seed, stream, step and its index, so blocks of words
//! are computed in vectors, and chunks of elements on threads.

use super::{
	rows::{by_rows, part, LONG},
	Arithmetic, Isa, SimdTask,
};
use trainyard_program::{
	ops::Nano,
	reference::{dropout_threshold, StepContext},
};
use trainyard_strict::{
	inverse_normal_with,
	philox::{symmetric, Stream, StreamName},
};

/// Words of a block of the generator.
const WORDS: usize = 4;

/// Elements for which words are computed at a time.
const GROUP: usize = 64 * WORDS;

/// Where the words of a tensor begin.
#[derive(Clone, Copy)]
struct Source {
	stream: Stream,
	step: u32,
	/// The block of the first element.
	first: u64,
}

impl Source {
	fn new(moment: StepContext, name: StreamName, first: u64) -> Self {
		Self { stream: Stream::new(&moment.seed.0, name), step: moment.step, first }
	}

	/// Returns the source of the words from element `index` on, which is a multiple of the words of
	/// a block.
	fn from(self, index: usize) -> Self {
		Self { first: self.first.wrapping_add((index / WORDS) as u64), ..self }
	}

	/// The next words.
	#[inline(always)]
	fn fill(&mut self, words: &mut [u32; GROUP]) {
		let (blocks, _) = words.as_chunks_mut::<WORDS>();
		for (offset, block) in (0..(GROUP / WORDS) as u64).zip(blocks) {
			*block = self.stream.block(self.step, self.first.wrapping_add(offset));
		}
		self.first = self.first.wrapping_add((GROUP / WORDS) as u64);
	}
}

/// An element with its word.
trait WithWord: Copy + Sync {
	fn at<A: Arithmetic>(self, x: f32, word: u32) -> f32;
}

/// `f` of every element and its word.
fn with_words(isa: Isa, f: impl WithWord, source: Source, x: &[f32]) -> Vec<f32> {
	let mut out = vec![0.0; x.len()];
	// As rows that are groups, and what is left after them.
	let whole = x.len() / GROUP * GROUP;
	let (groups, rest) = out.split_at_mut(whole);
	by_rows(groups, GROUP, LONG, |first, out| {
		let (x, source) = (part(x, first, GROUP, out), source.from(first * GROUP));
		isa.run(Words { f, source, x, out });
	});
	isa.run(Words { f, source: source.from(whole), x: &x[whole..], out: rest });
	out
}

struct Words<'a, F> {
	f: F,
	source: Source,
	x: &'a [f32],
	out: &'a mut [f32],
}

impl<F: WithWord> SimdTask for Words<'_, F> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let (mut source, mut words) = (self.source, [0; GROUP]);
		for (out, x) in self.out.chunks_mut(GROUP).zip(self.x.chunks(GROUP)) {
			source.fill(&mut words);
			for ((out, x), word) in out.iter_mut().zip(x).zip(&words) {
				*out = self.f.at::<A>(*x, *word);
			}
		}
	}
}

/// Keeps the elements of a dropout.
#[derive(Clone, Copy)]
struct Keep {
	threshold: u32,
	factor: f32,
}

impl WithWord for Keep {
	#[inline(always)]
	fn at<A: Arithmetic>(self, x: f32, word: u32) -> f32 {
		if word >= self.threshold {
			self.factor * x
		} else {
			0.0
		}
	}
}

/// `x / (1 - rate)`, by multiplication with the factor, where dropout number `site` keeps the
/// element at `moment`, otherwise +0; see `OpKind::Dropout`.
pub fn dropout(isa: Isa, x: &[f32], moment: StepContext, rate: Nano, site: u32) -> Vec<f32> {
	let source = Source::new(moment, StreamName::Dropout, u64::from(site) << 32);
	let threshold = dropout_threshold(rate);
	with_words(isa, Keep { threshold, factor: 1.0 / rate.one_minus().to_f32() }, source, x)
}

/// Adds noise of this deviation.
#[derive(Clone, Copy)]
struct AddNormal(f32);

impl WithWord for AddNormal {
	#[inline(always)]
	fn at<A: Arithmetic>(self, x: f32, word: u32) -> f32 {
		A::fma(self.0, inverse_normal_with::<A>(symmetric(word)), x)
	}
}

/// `fma(deviation, z, x)` with `z` the standard normal of the element at `moment`; see
/// `OpKind::Noise`.
pub fn noise(isa: Isa, x: &[f32], moment: StepContext, deviation: Nano) -> Vec<f32> {
	let source = Source::new(moment, StreamName::Noise, 0);
	with_words(isa, AddNormal(deviation.to_f32()), source, x)
}
