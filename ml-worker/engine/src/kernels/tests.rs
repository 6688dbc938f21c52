//! Every kernel against the scalar reference, bit by bit.

use super::{
	elementwise::{add_row, map1, map2, map3, Relu, ReluGrad, Scale},
	loss, matmul,
	matmul::Operand,
	optimizer::{AdamStep, Ema, EmaSquare, MulAdd},
	reduce, Isa, PARALLEL_FROM,
};
use proptest::prelude::*;
use trainyard_strict as strict;

/// The kind of numbers in a case.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
	/// Uniform in (-1, 1).
	Plain,
	/// Any finite bits: all magnitudes.
	Wild,
	/// Subnormals and their neighbourhood.
	Tiny,
	/// Near the largest, so that sums overflow.
	Huge,
	/// Few distinct values, zeros of both signs among them.
	Coarse,
}

pub(crate) fn style() -> impl Strategy<Value = Style> {
	prop_oneof![
		Just(Style::Plain),
		Just(Style::Wild),
		Just(Style::Tiny),
		Just(Style::Huge),
		Just(Style::Coarse)
	]
}

pub(crate) fn values(len: usize, seed: u64, style: Style) -> Vec<f32> {
	let mut state = seed.wrapping_mul(2).wrapping_add(0x9E37_79B9_7F4A_7C15) | 1;
	let mut next = || {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		(state >> 16) as u32
	};
	let plain = |word: u32| (word >> 7) as f32 / 16_777_216.0 - 1.0;
	(0..len)
		.map(|_| {
			let word = next();
			match style {
				Style::Plain => plain(word),
				Style::Wild => {
					let x = f32::from_bits(word);
					if x.is_finite() {
						x
					} else {
						plain(word)
					}
				}
				Style::Tiny => f32::from_bits(word & 0x81FF_FFFF),
				Style::Huge => plain(word) * f32::MAX,
				Style::Coarse => [0.0, -0.0, 1.0, -1.0, 0.5, 3.0][word as usize % 6],
			}
		})
		.collect()
}

/// Fails unless all bits are equal. NaN equals NaN, because its bits are not defined.
pub(crate) fn same(found: &[f32], expected: &[f32]) -> Result<(), TestCaseError> {
	prop_assert_eq!(found.len(), expected.len());
	for (i, (f, e)) in found.iter().zip(expected).enumerate() {
		prop_assert!(
			f.to_bits() == e.to_bits() || f.is_nan() && e.is_nan(),
			"element {} is {:e}, not {:e}",
			i,
			f,
			e
		);
	}
	Ok(())
}

fn reference_matmul(a: Operand<'_>, b: Operand<'_>, [m, n, k]: [usize; 3]) -> Vec<f32> {
	let mut out = Vec::new();
	for i in 0..m {
		for j in 0..n {
			let a = (0..k).map(|p| a.data[if a.transposed { p * m + i } else { i * k + p }]);
			let b = (0..k).map(|p| b.data[if b.transposed { j * k + p } else { p * n + j }]);
			out.push(strict::dot(a, b));
		}
	}
	out
}

fn check_matmul(
	shape: [usize; 3],
	transposed: (bool, bool),
	seed: u64,
	style: Style,
) -> Result<(), TestCaseError> {
	let [m, n, k] = shape;
	let (a, b) = (values(m * k, seed, style), values(k * n, seed ^ 1, style));
	let a = Operand { data: &a, transposed: transposed.0 };
	let b = Operand { data: &b, transposed: transposed.1 };
	let expected = reference_matmul(a, b, shape);
	for isa in Isa::supported() {
		let mut found = vec![f32::NAN; m * n];
		matmul::matmul(isa, a, b, shape, &mut found);
		same(&found, &expected)?;
	}
	Ok(())
}

/// Lengths around the boundaries of blocks and lanes, and any others.
pub(crate) fn length(most: usize) -> impl Strategy<Value = usize> {
	let edges = vec![0, 1, 2, 15, 16, 17, 511, 512, 513, 1_023, 1_024, 1_025, 1_536, 2_049];
	let edges: Vec<usize> = edges.into_iter().filter(|edge| *edge <= most).collect();
	prop_oneof![prop::sample::select(edges), 0..=most]
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(192))]

	#[test]
	fn matmul_equals_the_reference(
		m in 0usize..20,
		n in 0usize..40,
		k in length(1_700),
		transposed in any::<(bool, bool)>(),
		seed in any::<u64>(),
		style in style(),
	) {
		check_matmul([m, n, k], transposed, seed, style)?;
	}

	#[test]
	fn sums_equal_the_reference(len in length(5_000), seed in any::<u64>(), style in style()) {
		let x = values(len, seed, style);
		let expected = strict::sum(x.iter().copied());
		for isa in Isa::supported() {
			same(&[reduce::sum(isa, &x)], &[expected])?;
		}
	}

	#[test]
	fn column_sums_equal_the_reference(
		rows in length(2_100),
		cols in 0usize..40,
		seed in any::<u64>(),
		style in style(),
	) {
		let x = values(rows * cols, seed, style);
		let column = |j: usize| x.iter().copied().skip(j).step_by(cols).collect::<Vec<_>>();
		let expected: Vec<f32> =
			(0..cols).map(|j| strict::sum(column(j).into_iter())).collect();
		for isa in Isa::supported() {
			same(&reduce::sum_rows(isa, &x, cols), &expected)?;
		}
	}

	#[test]
	fn loss_equals_the_reference(
		rows in 0usize..12,
		cols in length(2_100).prop_map(|cols| cols.max(1)),
		seed in any::<u64>(),
		style in style(),
		spread in prop::sample::select(vec![1.0f32, 30.0, 200.0]),
	) {
		let x: Vec<f32> = values(rows * cols, seed, style).iter().map(|x| x * spread).collect();
		let labels: Vec<u32> = (0..rows).map(|i| ((seed as usize + 7 * i) % cols) as u32).collect();
		let mut log_p = Vec::new();
		for row in x.chunks(cols) {
			let m = strict::max(row.iter().copied());
			let exps: Vec<f32> = row.iter().map(|x| strict::exp(x - m)).collect();
			let l = strict::log(strict::sum(exps.into_iter()));
			log_p.extend(row.iter().map(|x| (x - m) - l));
		}
		let mut gradient = Vec::new();
		for (row, label) in log_p.chunks(cols).zip(&labels) {
			for (j, x) in row.iter().enumerate() {
				let hot = if j == *label as usize { 1.0 } else { 0.0 };
				gradient.push((strict::exp(*x) - hot) / rows as f32);
			}
		}
		for isa in Isa::supported() {
			same(&loss::log_softmax(isa, &x, cols), &log_p)?;
			same(&loss::row_loss_grad(isa, &log_p, &labels, cols), &gradient)?;
		}
	}

	#[test]
	fn elementwise_equals_the_reference(
		len in length(2_100),
		seed in any::<u64>(),
		style in style(),
	) {
		check_elementwise(len, seed, style)?;
	}
}

fn check_elementwise(len: usize, seed: u64, style: Style) -> Result<(), TestCaseError> {
	let (x, y) = (values(len, seed, style), values(len, seed ^ 2, style));
	let z: Vec<f32> = values(len, seed ^ 3, style).iter().map(|z| z.abs()).collect();
	let zip = |f: &dyn Fn(f32, f32) -> f32| -> Vec<f32> {
		x.iter().zip(&y).map(|(x, y)| f(*x, *y)).collect()
	};
	let adam = AdamStep { minus_learning_rate: -2e-3, rest1: 0.1, rest2: 1e-3, epsilon: 1e-8 };
	let step = |((x, m), v): ((&f32, &f32), &f32)| {
		let step = (m / adam.rest1) / (strict::sqrt(v / adam.rest2) + adam.epsilon);
		strict::fma(adam.minus_learning_rate, step, *x)
	};
	let stepped: Vec<f32> = x.iter().zip(&y).zip(&z).map(step).collect();
	let ema = Ema { keep: 0.9, take: 0.1 };
	let square = EmaSquare { keep: 0.999, take: 0.001 };
	for isa in Isa::supported() {
		let relu: Vec<f32> = x.iter().map(|x| strict::relu(*x)).collect();
		same(&map1(isa, Relu, &x), &relu)?;
		same(&map1(isa, Scale(0.9), &x), &x.iter().map(|x| 0.9 * x).collect::<Vec<_>>())?;
		let grad = zip(&|g, a| if a > 0.0 { g } else { 0.0 });
		same(&map2(isa, ReluGrad, &x, &y), &grad)?;
		let expected = zip(&|x, y| strict::fma(-0.05, x, y));
		same(&map2(isa, MulAdd(-0.05), &x, &y), &expected)?;
		let expected = zip(&|a, x| strict::fma(ema.keep, a, ema.take * x));
		same(&map2(isa, ema, &x, &y), &expected)?;
		let expected = zip(&|a, x| strict::fma(square.keep, a, square.take * (x * x)));
		same(&map2(isa, square, &x, &y), &expected)?;
		same(&map3(isa, adam, &x, &y, &z), &stepped)?;
		for cols in [1, 10, 33] {
			let row = &y[..cols.min(y.len())];
			let rows = if row.is_empty() { 0 } else { x.len() / row.len() };
			let whole = &x[..rows * row.len()];
			let expected: Vec<f32> =
				whole.iter().zip(row.iter().cycle()).map(|(x, y)| x + y).collect();
			same(&add_row(isa, whole, row), &expected)?;
		}
	}
	Ok(())
}

/// Sizes at which threads take part.
#[test]
fn threads_change_nothing() {
	check_matmul([101, 70, 1_100], (false, true), 1, Style::Wild).unwrap();
	check_matmul([70, 101, 600], (true, false), 2, Style::Plain).unwrap();
	check_elementwise(PARALLEL_FROM + 77, 3, Style::Wild).unwrap();
	let x = values(PARALLEL_FROM + 5, 4, Style::Plain);
	let cols = 100;
	let whole = &x[..x.len() / cols * cols];
	for isa in Isa::supported() {
		let sum = reduce::sum(isa, &x);
		assert_eq!(sum.to_bits(), strict::sum(x.iter().copied()).to_bits());
		let found = reduce::sum_rows(isa, whole, cols);
		for (j, found) in found.iter().enumerate() {
			let column: Vec<f32> = whole.iter().copied().skip(j).step_by(cols).collect();
			assert_eq!(found.to_bits(), strict::sum(column.into_iter()).to_bits());
		}
	}
	// One thread and several.
	let (a, b) = (values(128 * 640, 5, Style::Plain), values(640 * 96, 6, Style::Plain));
	let product = |threads| {
		let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
		let mut out = vec![0.0; 128 * 96];
		let (a, b) =
			(Operand { data: &a, transposed: false }, Operand { data: &b, transposed: false });
		let isa = Isa::supported()[0];
		pool.install(|| matmul::matmul(isa, a, b, [128, 96, 640], &mut out));
		out
	};
	let one = product(1);
	for threads in [2, 3, 7] {
		same(&product(threads), &one).unwrap();
	}
}

#[test]
fn losses_and_hits_of_rows() {
	let log_p = [-0.5, -1.5, -3.0, -0.1];
	assert_eq!(loss::row_loss(&log_p, &[1, 0], 2), [1.5, 3.0]);
	// The first of equals is the prediction.
	let logits = [1.0, 1.0, 0.0, -0.0, -2.0, -1.0];
	assert_eq!(loss::correct(&logits, &[0, 0, 1], 2), [1.0, 1.0, 1.0]);
	assert_eq!(loss::correct(&logits, &[1, 1, 0], 2), [0.0, 0.0, 0.0]);
}

#[test]
fn kernels_have_names() {
	for isa in Isa::supported() {
		assert_eq!(isa.to_string().parse(), Ok(isa));
	}
	let message = "avx1024".parse::<Isa>().unwrap_err().to_string();
	assert!(message.contains("avx1024") && message.contains("scalar"), "{message}");
}
