//! Layer norm and RMS norm by rows.

use super::{
	reduce::{sum_columns, sum_of, Addend},
	rows::{by_rows, part, LONG},
	Arithmetic, Isa, SimdTask,
};

/// Mean and standard deviation of a row: `m = sum(x) / cols` and
/// `s = sqrt(sum((x - m) * (x - m)) / cols + epsilon)`.
#[inline(always)]
fn moments<A: Arithmetic>(x: &[f32], epsilon: f32) -> (f32, f32) {
	let cols = x.len() as f32;
	let m = sum_of(x, x, |x, _| x) / cols;
	let squares = sum_of(x, x, |x, _| (x - m) * (x - m));
	(m, A::sqrt(squares / cols + epsilon))
}

/// `fma(h, weight, bias)` with `h = (x - m) / s`, see `moments`, over rows of the length of
/// `weight`.
///
/// # Panics
/// Panics if `weight` and `bias` differ in length.
pub fn layer_norm(isa: Isa, x: &[f32], weight: &[f32], bias: &[f32], epsilon: f32) -> Vec<f32> {
	assert_eq!(weight.len(), bias.len());
	let (cols, mut out) = (weight.len(), vec![0.0; x.len()]);
	by_rows(&mut out, cols, LONG, |first, out| {
		let x = part(x, first, cols, out);
		isa.run(LayerNorm { x, weight, bias, epsilon, out });
	});
	out
}

struct LayerNorm<'a> {
	x: &'a [f32],
	weight: &'a [f32],
	bias: &'a [f32],
	epsilon: f32,
	out: &'a mut [f32],
}

impl SimdTask for LayerNorm<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let cols = self.weight.len();
		for (x, out) in self.x.chunks_exact(cols).zip(self.out.chunks_exact_mut(cols)) {
			let (m, s) = moments::<A>(x, self.epsilon);
			for (((out, x), w), b) in out.iter_mut().zip(x).zip(self.weight).zip(self.bias) {
				*out = A::fma((x - m) / s, *w, *b);
			}
		}
	}
}

/// Returns the gradient of [`layer_norm`] by `x`. With `q = gradient * weight`, `a = sum(q) / cols`
/// and `b = sum(q * h) / cols`: `((q - a) - h * b) / s`.
///
/// # Panics
/// Panics if `gradient` and `x` differ in length.
pub fn layer_norm_grad(
	isa: Isa,
	gradient: &[f32],
	x: &[f32],
	weight: &[f32],
	epsilon: f32,
) -> Vec<f32> {
	assert_eq!(gradient.len(), x.len());
	let (cols, mut out) = (weight.len(), vec![0.0; x.len()]);
	by_rows(&mut out, cols, LONG, |first, out| {
		let (gradient, x) = (part(gradient, first, cols, out), part(x, first, cols, out));
		isa.run(LayerNormGrad { gradient, x, weight, epsilon, out });
	});
	out
}

struct LayerNormGrad<'a> {
	gradient: &'a [f32],
	x: &'a [f32],
	weight: &'a [f32],
	epsilon: f32,
	out: &'a mut [f32],
}

impl SimdTask for LayerNormGrad<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let cols = self.weight.len();
		let mut q = vec![0.0; cols];
		let rows = self.gradient.chunks_exact(cols).zip(self.x.chunks_exact(cols));
		for ((gradient, x), h) in rows.zip(self.out.chunks_exact_mut(cols)) {
			let (m, s) = moments::<A>(x, self.epsilon);
			for (h, x) in h.iter_mut().zip(x) {
				*h = (x - m) / s;
			}
			for ((q, g), w) in q.iter_mut().zip(gradient).zip(self.weight) {
				*q = g * w;
			}
			let a = sum_of(&q, &q, |q, _| q) / cols as f32;
			let b = sum_of(&q, h, |q, h| q * h) / cols as f32;
			for (out, q) in h.iter_mut().zip(&q) {
				*out = ((q - a) - *out * b) / s;
			}
		}
	}
}

/// Returns the gradient of [`layer_norm`] by its weight: per column the sum of `gradient * h`.
///
/// # Panics
/// Panics if `gradient` and `x` are not whole rows of `cols` elements, or if they differ in length.
pub fn layer_norm_weight_grad(
	isa: Isa,
	gradient: &[f32],
	x: &[f32],
	epsilon: f32,
	cols: usize,
) -> Vec<f32> {
	assert_eq!(gradient.len(), x.len());
	if cols == 0 {
		return Vec::new();
	}
	assert_eq!(x.len() % cols, 0);
	sum_columns(isa, Products { gradient, x, epsilon, cols }, x.len() / cols, cols)
}

/// The rows of `gradient * h`.
#[derive(Clone, Copy)]
struct Products<'a> {
	gradient: &'a [f32],
	x: &'a [f32],
	epsilon: f32,
	cols: usize,
}

impl Addend for Products<'_> {
	const WORK: usize = LONG;

	#[inline(always)]
	fn add<A: Arithmetic>(self, i: usize, lane: &mut [f32]) {
		let start = i * self.cols;
		let (x, gradient) = (&self.x[start..][..self.cols], &self.gradient[start..][..self.cols]);
		let (m, s) = moments::<A>(x, self.epsilon);
		for ((lane, x), g) in lane.iter_mut().zip(x).zip(gradient) {
			*lane += g * ((x - m) / s);
		}
	}
}

/// Returns `sqrt(sum(x * x) / cols + epsilon)` of a row.
#[inline(always)]
fn root_mean_square<A: Arithmetic>(x: &[f32], epsilon: f32) -> f32 {
	let squares = sum_of(x, x, |x, _| x * x);
	A::sqrt(squares / x.len() as f32 + epsilon)
}

/// `h * weight` with `h = x / s`, see `root_mean_square`, over rows of the length of `weight`.
pub fn rms_norm(isa: Isa, x: &[f32], weight: &[f32], epsilon: f32) -> Vec<f32> {
	let (cols, mut out) = (weight.len(), vec![0.0; x.len()]);
	by_rows(&mut out, cols, LONG, |first, out| {
		let x = part(x, first, cols, out);
		isa.run(RmsNorm { x, weight, epsilon, out });
	});
	out
}

struct RmsNorm<'a> {
	x: &'a [f32],
	weight: &'a [f32],
	epsilon: f32,
	out: &'a mut [f32],
}

impl SimdTask for RmsNorm<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let cols = self.weight.len();
		for (x, out) in self.x.chunks_exact(cols).zip(self.out.chunks_exact_mut(cols)) {
			let s = root_mean_square::<A>(x, self.epsilon);
			for ((out, x), w) in out.iter_mut().zip(x).zip(self.weight) {
				*out = x / s * w;
			}
		}
	}
}

/// Returns the gradient of [`rms_norm`] by `x`. With `q = gradient * weight` and
/// `b = sum(q * h) / cols`: `(q - h * b) / s`.
///
/// # Panics
/// Panics if `gradient` and `x` differ in length.
pub fn rms_norm_grad(
	isa: Isa,
	gradient: &[f32],
	x: &[f32],
	weight: &[f32],
	epsilon: f32,
) -> Vec<f32> {
	assert_eq!(gradient.len(), x.len());
	let (cols, mut out) = (weight.len(), vec![0.0; x.len()]);
	by_rows(&mut out, cols, LONG, |first, out| {
		let (gradient, x) = (part(gradient, first, cols, out), part(x, first, cols, out));
		isa.run(RmsNormGrad { gradient, x, weight, epsilon, out });
	});
	out
}

struct RmsNormGrad<'a> {
	gradient: &'a [f32],
	x: &'a [f32],
	weight: &'a [f32],
	epsilon: f32,
	out: &'a mut [f32],
}

impl SimdTask for RmsNormGrad<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let cols = self.weight.len();
		let mut q = vec![0.0; cols];
		let rows = self.gradient.chunks_exact(cols).zip(self.x.chunks_exact(cols));
		for ((gradient, x), h) in rows.zip(self.out.chunks_exact_mut(cols)) {
			let s = root_mean_square::<A>(x, self.epsilon);
			for (h, x) in h.iter_mut().zip(x) {
				*h = x / s;
			}
			for ((q, g), w) in q.iter_mut().zip(gradient).zip(self.weight) {
				*q = g * w;
			}
			let b = sum_of(&q, h, |q, h| q * h) / cols as f32;
			for (out, q) in h.iter_mut().zip(&q) {
				*out = (q - *out * b) / s;
			}
		}
	}
}

/// Returns the gradient of [`rms_norm`] by its weight: per column the sum of `gradient * h`.
///
/// # Panics
/// Panics if `gradient` and `x` are not whole rows of `cols` elements, or if they differ in length.
pub fn rms_norm_weight_grad(
	isa: Isa,
	gradient: &[f32],
	x: &[f32],
	epsilon: f32,
	cols: usize,
) -> Vec<f32> {
	assert_eq!(gradient.len(), x.len());
	if cols == 0 {
		return Vec::new();
	}
	assert_eq!(x.len() % cols, 0);
	sum_columns(isa, RmsProducts { gradient, x, epsilon, cols }, x.len() / cols, cols)
}

/// The rows of `gradient * h`, with `h` of [`rms_norm`].
#[derive(Clone, Copy)]
struct RmsProducts<'a> {
	gradient: &'a [f32],
	x: &'a [f32],
	epsilon: f32,
	cols: usize,
}

impl Addend for RmsProducts<'_> {
	const WORK: usize = LONG;

	#[inline(always)]
	fn add<A: Arithmetic>(self, i: usize, lane: &mut [f32]) {
		let start = i * self.cols;
		let (x, gradient) = (&self.x[start..][..self.cols], &self.gradient[start..][..self.cols]);
		let s = root_mean_square::<A>(x, self.epsilon);
		for ((lane, x), g) in lane.iter_mut().zip(x).zip(gradient) {
			*lane += g * (x / s);
		}
	}
}
