//! Products with every instruction set against `strict::dot`, bit by bit.

use super::{super::tests::*, *};
use proptest::prelude::*;
use std::sync::OnceLock;
use trainyard_strict as strict;

/// How an operand of a test lies in memory.
#[derive(Clone, Copy, Debug)]
enum Layout {
	/// Rows, with that many unused elements between them.
	Rows(usize),
	/// Columns, with that many unused elements between them.
	Columns(usize),
	/// Neither rows nor columns are contiguous.
	Scattered,
	/// One row stands for all.
	OneRow,
	/// One column stands for all.
	OneColumn,
}

fn layout() -> impl Strategy<Value = Layout> {
	prop_oneof![
		3 => (0usize..4).prop_map(Layout::Rows),
		3 => (0usize..4).prop_map(Layout::Columns),
		1 => Just(Layout::Scattered),
		1 => Just(Layout::OneRow),
		1 => Just(Layout::OneColumn),
	]
}

impl Layout {
	/// Strides of `rows x columns`, and the elements that they reach over.
	fn strides(self, rows: usize, columns: usize) -> (usize, usize, usize) {
		let (row, column) = match self {
			Layout::Rows(gap) => (columns + gap, 1),
			Layout::Columns(gap) => (1, rows + gap),
			Layout::Scattered => (2, 2 * rows + 3),
			Layout::OneRow => (0, 1),
			Layout::OneColumn => (1, 0),
		};
		let empty = rows == 0 || columns == 0;
		(row, column, if empty { 0 } else { (rows - 1) * row + (columns - 1) * column + 1 })
	}
}

/// An operand with its own elements.
struct Matrix {
	data: Vec<f32>,
	row_stride: usize,
	column_stride: usize,
}

impl Matrix {
	/// `infinite` of a thousand elements are infinities of either sign.
	fn new(
		layout: Layout,
		[rows, columns]: [usize; 2],
		seed: u64,
		style: Style,
		infinite: usize,
	) -> Self {
		let (row_stride, column_stride, len) = layout.strides(rows, columns);
		let mut data = values(len, seed, style);
		for (i, x) in data.iter_mut().enumerate() {
			if (i * 7_919 + seed as usize % 1_000) % 1_000 < infinite {
				*x = f32::INFINITY.copysign(*x);
			}
		}
		Self { data, row_stride, column_stride }
	}

	fn view(&self) -> View<'_> {
		let Self { data, row_stride, column_stride } = self;
		View { data, row_stride: *row_stride, column_stride: *column_stride }
	}
}

fn reference(a: View<'_>, b: View<'_>, [m, n, k]: [usize; 3]) -> Vec<f32> {
	let mut out = Vec::with_capacity(m * n);
	for i in 0..m {
		for j in 0..n {
			let row = (0..k).map(|p| a.data[i * a.row_stride + p * a.column_stride]);
			let column = (0..k).map(|p| b.data[p * b.row_stride + j * b.column_stride]);
			out.push(strict::dot(row, column));
		}
	}
	out
}

/// A pool in which 8 threads can take part, whatever the machine has.
fn pool() -> &'static rayon::ThreadPool {
	static POOL: OnceLock<rayon::ThreadPool> = OnceLock::new();
	POOL.get_or_init(|| rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap())
}

/// Checks that every instruction set with every number of threads gives the reference's bits.
fn check(a: View<'_>, b: View<'_>, shape: [usize; 3]) -> Result<(), TestCaseError> {
	let expected = reference(a, b, shape);
	for isa in Isa::supported() {
		for threads in [1, 2, 8] {
			let mut found = vec![f32::NAN; expected.len()];
			pool().install(|| product(Micro::new(isa), a, b, shape, &mut found, threads));
			same(&found, &expected)?;
		}
		let mut found = vec![f32::NAN; expected.len()];
		matmul_views(isa, a, b, shape, &mut found);
		same(&found, &expected)?;
	}
	Ok(())
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(256))]

	#[test]
	fn any_product_equals_the_reference(
		m in 0usize..40,
		n in 0usize..72,
		k in length(2_600),
		layouts in (layout(), layout()),
		seed in any::<u64>(),
		style in style(),
		infinite in prop::sample::select(vec![0usize, 0, 1, 300]),
	) {
		let a = Matrix::new(layouts.0, [m, k], seed, style, infinite);
		let b = Matrix::new(layouts.1, [k, n], seed ^ 1, style, infinite);
		check(a.view(), b.view(), [m, n, k])?;
	}

	/// Long and flat, so that every way of cutting and packing is met.
	#[test]
	fn any_flat_product_equals_the_reference(
		long in 100usize..1_500,
		short in 0usize..6,
		k in 0usize..130,
		tall in any::<bool>(),
		layouts in (layout(), layout()),
		seed in any::<u64>(),
		style in style(),
	) {
		let [m, n] = if tall { [long, short] } else { [short, long] };
		let a = Matrix::new(layouts.0, [m, k], seed, style, 0);
		let b = Matrix::new(layouts.1, [k, n], seed ^ 1, style, 0);
		check(a.view(), b.view(), [m, n, k])?;
	}

	#[test]
	fn a_batch_is_its_products(
		batch in 0usize..6,
		m in 0usize..20,
		n in 0usize..40,
		k in length(600),
		layouts in (layout(), layout()),
		shared in any::<(bool, bool)>(),
		seed in any::<u64>(),
		style in style(),
	) {
		let one = |layout: Layout, shape: [usize; 2], shared: bool, seed: u64| {
			let (row_stride, column_stride, len) = layout.strides(shape[0], shape[1]);
			let stride = if shared { 0 } else { len };
			let data = values(len + batch.saturating_sub(1) * stride, seed, style);
			(Matrix { data, row_stride, column_stride }, stride)
		};
		let (a, a_stride) = one(layouts.0, [m, k], shared.0, seed);
		let (b, b_stride) = one(layouts.1, [k, n], shared.1, seed ^ 1);
		let mut expected = Vec::new();
		for index in 0..batch {
			let skip = |of: &Matrix, stride: usize| of.data[index * stride..].to_vec();
			let a = Matrix { data: skip(&a, a_stride), ..a };
			let b = Matrix { data: skip(&b, b_stride), ..b };
			expected.extend(reference(a.view(), b.view(), [m, n, k]));
		}
		for isa in Isa::supported() {
			let mut found = vec![f32::NAN; batch * m * n];
			let a = Batch { first: a.view(), stride: a_stride };
			let b = Batch { first: b.view(), stride: b_stride };
			matmul_batched(isa, a, b, batch, [m, n, k], &mut found);
			same(&found, &expected)?;
		}
	}
}

/// Shapes at which threads, blocks of columns, turned results and parts of columns come in.
#[test]
fn large_products_equal_the_reference() {
	let rows = Layout::Rows(0);
	let columns = Layout::Columns(0);
	for (index, (shape, layouts)) in [
		([61, 300, 1_100], (rows, rows)),
		([61, 530, 513], (rows, columns)),
		([140, 67, 1_024], (columns, rows)),
		([96, 64, 1_024], (rows, columns)),
		([257, 34, 512], (rows, columns)),
		([3, 1_400, 600], (rows, rows)),
		([5, 1_400, 100], (rows, columns)),
		([1_400, 3, 100], (rows, rows)),
		([1, 1, 20_000], (rows, columns)),
		([40, 2_100, 70], (columns, rows)),
		([30, 30, 5_000], (Layout::Scattered, Layout::Scattered)),
	]
	.into_iter()
	.enumerate()
	{
		for style in [Style::Plain, Style::Wild] {
			let (m, n, k, seed) = (shape[0], shape[1], shape[2], index as u64);
			let a = Matrix::new(layouts.0, [m, k], seed, style, 0);
			let b = Matrix::new(layouts.1, [k, n], seed ^ 1, style, 0);
			check(a.view(), b.view(), shape).unwrap();
		}
	}
}

/// More rows than are copied at a time, of a left operand that has to be copied.
#[test]
fn a_tall_product_equals_the_reference() {
	let shape = [COPIED_ROWS + 13, 270, 512];
	let [m, n, k] = shape;
	let a = Matrix::new(Layout::Rows(512), [m, k], 1, Style::Plain, 0);
	let b = Matrix::new(Layout::Rows(0), [k, n], 2, Style::Plain, 0);
	assert!(!pack::is_spaced(a.row_stride) && BLOCK / k < n);
	for isa in Isa::supported() {
		let mut found = vec![f32::NAN; m * n];
		product(Micro::new(isa), a.view(), b.view(), shape, &mut found, 1);
		// All would take long.
		for at in (0..m * n).step_by(211) {
			let row = &a.data[at / n * a.row_stride..][..k];
			let column = b.data.iter().skip(at % n).step_by(n);
			let expected = strict::dot(row.iter().copied(), column.copied());
			assert_eq!(found[at].to_bits(), expected.to_bits(), "{isa} {at}");
		}
	}
}

/// Batches large enough for threads, of more and of fewer matrices than there are threads.
#[test]
fn large_batches_equal_the_reference() {
	for (batch, shape) in [(3, [70, 90, 513]), (20, [30, 40, 50]), (9, [33, 64, 600])] {
		let [m, n, k] = shape;
		let a = values(batch * m * k, 1, Style::Plain);
		let b = values(batch * k * n, 2, Style::Plain);
		let first = |data, columns| View { data, row_stride: columns, column_stride: 1 };
		let mut expected = Vec::new();
		for index in 0..batch {
			let (a, b) = (&a[index * m * k..], &b[index * k * n..]);
			expected.extend(reference(first(a, k), first(b, n), shape));
		}
		for isa in Isa::supported() {
			for threads in [1, 2, 8] {
				let mut found = vec![f32::NAN; expected.len()];
				let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
				let a = Batch { first: first(&a, k), stride: m * k };
				let b = Batch { first: first(&b, n), stride: k * n };
				pool.install(|| matmul_batched(isa, a, b, batch, shape, &mut found));
				same(&found, &expected).unwrap();
			}
		}
	}
}

#[test]
fn turning_is_transposing() {
	for isa in Isa::supported() {
		for (rows, columns) in [(1, 1), (7, 9), (8, 8), (16, 3), (13, 70), (40, 129)] {
			let from = values(rows * columns, 3, Style::Wild);
			let mut out = vec![f32::NAN; rows * columns];
			turn(Micro::new(isa), &from, [columns, rows], &mut out, 1);
			for i in 0..rows {
				for j in 0..columns {
					assert_eq!(out[j * rows + i].to_bits(), from[i * columns + j].to_bits());
				}
			}
		}
	}
}

#[test]
fn strips_cover_all_rows_and_none_is_too_high() {
	for isa in Isa::supported() {
		let micro = Micro::new(isa);
		for m in 1..200 {
			for threads in [1, 2, 3, 8] {
				let mut out = vec![0.0; m * 2];
				let mut expected = 0;
				for (rows, part) in Heights::new(micro, m, threads).split(2, &mut out) {
					assert_eq!(rows.start, expected);
					let height = rows.len();
					assert_eq!(part.len(), 2 * height);
					assert!((1..=micro.rows()).contains(&height), "{isa} {m} {threads}");
					expected += height;
				}
				assert_eq!(expected, m);
			}
		}
	}
}

#[test]
fn operations_between_registers_are_counted() {
	for isa in Isa::supported() {
		let one = multiply_adds(isa, 1);
		assert!(one > 0);
		assert_eq!(multiply_adds(isa, 10), 10 * one);
	}
}

#[test]
#[should_panic(expected = "the left operand is shorter than 3 x 4")]
fn a_short_left_operand_is_refused() {
	let view = |data, row_stride| View { data, row_stride, column_stride: 1 };
	matmul_views(Isa::Scalar, view(&[0.0; 11], 4), view(&[0.0; 8], 2), [3, 2, 4], &mut [0.0; 6]);
}

#[test]
#[should_panic(expected = "the right operand is shorter than 4 x 2")]
fn a_short_right_operand_is_refused() {
	let view = |data, row_stride| View { data, row_stride, column_stride: 1 };
	matmul_views(Isa::Scalar, view(&[0.0; 12], 4), view(&[0.0; 8], 3), [3, 2, 4], &mut [0.0; 6]);
}

#[test]
#[should_panic(expected = "matrix 2 of a batch is outside of its data")]
fn a_short_batch_is_refused() {
	let first = View { data: &[0.0; 11], row_stride: 2, column_stride: 1 };
	let a = Batch { first, stride: 4 };
	matmul_batched(Isa::Scalar, a, a, 3, [2, 2, 2], &mut [0.0; 12]);
}
