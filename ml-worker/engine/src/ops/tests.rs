//! Every operator of the program against the reference executor, bit by bit: with every instruction
//! set, on 1, 2 and 8 threads, from operands that lie in memory in any way.

use super::{
	super::kernels::{tests::*, PARALLEL_FROM},
	layout::matrices,
	*,
};
use candle_core::DType;
use proptest::prelude::*;
use std::sync::OnceLock;
use trainyard_program::{
	ops::Nano, reference as exec, reference::ExecError, schedule::LearningRate, spec::Schedule,
	H256,
};
use trainyard_strict::Function;

/// Stands for the labels where operands are numbered.
const LABELS: TensorId = 99;

/// An operator with what it reads.
#[derive(Debug)]
struct Case {
	kind: OpKind,
	/// Operand `i` is tensor `i` of the program.
	operands: Vec<Tensor>,
	labels: Vec<u32>,
	moment: StepContext,
	/// The shape of the result.
	shape: Vec<usize>,
}

/// What the numbers of a case are made of.
#[derive(Clone, Copy, Debug)]
struct Numbers {
	seed: u64,
	style: Style,
	/// That many of a thousand elements are infinities of either sign.
	infinite: usize,
	/// What plain numbers are multiplied by.
	spread: f32,
	/// How operands lie in memory.
	lies: [usize; 3],
}

fn numbers() -> impl Strategy<Value = Numbers> {
	let infinite = prop::sample::select(vec![0usize, 0, 0, 3]);
	let spread = prop::sample::select(vec![1.0f32, 8.0, 150.0]);
	let parts = (any::<u64>(), style(), infinite, spread, [0usize..6, 0..6, 0..6]);
	parts.prop_map(|(seed, style, infinite, spread, lies)| Numbers {
		seed,
		style,
		infinite,
		spread,
		lies,
	})
}

const PLAIN: Numbers =
	Numbers { seed: 5, style: Style::Plain, infinite: 0, spread: 3.0, lies: [0; 3] };

impl Numbers {
	/// Operand number `index`.
	fn operand(self, index: usize, shape: &[usize]) -> Tensor {
		let seed = self.seed ^ index as u64;
		let mut data = values(shape.iter().product(), seed, self.style);
		for (i, x) in data.iter_mut().enumerate() {
			match self.style {
				_ if (i * 7_919 + seed as usize % 1_000) % 1_000 < self.infinite => {
					*x = f32::INFINITY.copysign(*x);
				}
				Style::Plain => *x *= self.spread,
				_ => {}
			}
		}
		lie(Tensor::from_vec(data, shape, &Device::Cpu).unwrap(), self.lies[index])
	}
}

/// The same tensor, elsewhere in memory.
fn lie(x: Tensor, how: usize) -> Tensor {
	let last = x.rank() - 1;
	let filled = |shape: &[usize]| Tensor::full(7.5f32, shape, &Device::Cpu).unwrap();
	let mut gap = x.dims().to_vec();
	match how {
		// In the middle of a longer one.
		1 => {
			gap[0] = 3;
			let long = Tensor::cat(&[&filled(&gap), &x, &filled(&gap)], 0).unwrap();
			long.narrow(0, 3, x.dims()[0]).unwrap()
		}
		// There are gaps after its last axis.
		2 => {
			gap[last] = 2;
			let wide = Tensor::cat(&[&x, &filled(&gap)], last).unwrap();
			wide.narrow(last, 0, x.dims()[last]).unwrap()
		}
		// Its last two axes, or its first and its last, are turned.
		3 | 4 if last > 0 => {
			let first = if how == 3 { last - 1 } else { 0 };
			let turned = x.transpose(first, last).unwrap().contiguous().unwrap();
			turned.transpose(first, last).unwrap()
		}
		_ => x,
	}
}

fn flat(x: &Tensor) -> Vec<f32> {
	x.flatten_all().unwrap().to_vec1().unwrap()
}

/// Pools of 1, 2 and 8 threads, whatever the machine has.
fn pools() -> &'static [rayon::ThreadPool] {
	static POOLS: OnceLock<Vec<rayon::ThreadPool>> = OnceLock::new();
	POOLS.get_or_init(|| {
		let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
		[1, 2, 8].map(pool).into()
	})
}

/// Checks that every instruction set on every pool gives the reference's bits.
fn check(case: &Case) -> std::result::Result<(), TestCaseError> {
	let Case { kind, operands, labels, moment, shape } = case;
	let vectors: Vec<Vec<f32>> = operands.iter().map(flat).collect();
	let missing = || ExecError::Missing { tensor: "one of a test".into() };
	let operand = |id: TensorId| vectors.get(id as usize).map(Vec::as_slice).ok_or_else(missing);
	let expected = exec::operator(kind, labels, *moment, operand).unwrap();
	let named = Tensor::from_slice(labels, labels.len(), &Device::Cpu).unwrap();
	for isa in Isa::supported() {
		for pool in pools() {
			let read = |id: TensorId| match id {
				LABELS => Ok(&named),
				_ => Ok(&operands[id as usize]),
			};
			let found = pool.install(|| apply(isa, kind, *moment, shape, read)).unwrap();
			prop_assert_eq!(found.dims(), shape.as_slice());
			same(&flat(&found), &expected)?;
		}
	}
	Ok(())
}

fn moment(step: u32) -> StepContext {
	StepContext { seed: H256::repeat_byte(step as u8), step }
}

fn case(kind: OpKind, operands: Vec<Tensor>, shape: &[usize]) -> Case {
	Case { kind, operands, labels: vec![], moment: moment(3), shape: shape.to_vec() }
}

const FUNCTIONS: [Function; 4] =
	[Function::Gelu, Function::Silu, Function::Tanh, Function::Sigmoid];

/// Sums, activations and what else has an output for each element.
fn elementwise(index: usize, n: Numbers, shape: &[usize], step: u32) -> Case {
	let len = shape.iter().product::<usize>() as u64;
	let (x, y) = (n.operand(0, shape), n.operand(1, shape));
	let function = FUNCTIONS[index % 4];
	let rate = Nano(n.seed % 1_000_000_000);
	let (kind, operands) = match index {
		0..4 => (OpKind::Activation { function, x: 0, len }, vec![x]),
		4..8 => (OpKind::ActivationGrad { function, gradient: 0, at: 1, len }, vec![x, y]),
		8 => (OpKind::Add { x: 0, y: 1, len }, vec![x, y]),
		9 => (OpKind::Dropout { x: 0, rate, site: step / 7, len }, vec![x]),
		_ => (OpKind::Noise { x: 0, deviation: rate, len }, vec![x]),
	};
	Case { moment: moment(step), ..case(kind, operands, shape) }
}

const ELEMENTWISE: usize = 11;

const NORMS: usize = 6;

/// Layer norm and RMS norm, and their gradients.
fn norm(index: usize, n: Numbers, rows: usize, cols: usize) -> Case {
	let epsilon = Nano(10_000);
	let (r, c) = (rows as u32, cols as u32);
	let shapes: [&[usize]; 3] = match index {
		0 | 3 => [&[rows, cols], &[cols], &[cols]],
		_ => [&[rows, cols], &[rows, cols], &[cols]],
	};
	let mut operands: Vec<Tensor> =
		shapes.iter().enumerate().map(|(i, shape)| n.operand(i, shape)).collect();
	let (x, weight) = (1, 2);
	match index {
		0 => {
			let kind = OpKind::LayerNorm { x: 0, weight: 1, bias: 2, epsilon, rows: r, cols: c };
			case(kind, operands, &[rows, cols])
		}
		1 => {
			let kind = OpKind::LayerNormGrad { gradient: 0, x, weight, epsilon, rows: r, cols: c };
			case(kind, operands, &[rows, cols])
		}
		3 => {
			operands.truncate(2);
			let kind = OpKind::RmsNorm { x: 0, weight: 1, epsilon, rows: r, cols: c };
			case(kind, operands, &[rows, cols])
		}
		4 => {
			let kind = OpKind::RmsNormGrad { gradient: 0, x, weight, epsilon, rows: r, cols: c };
			case(kind, operands, &[rows, cols])
		}
		5 => {
			operands.truncate(2);
			let kind = OpKind::RmsNormWeightGrad { gradient: 0, x, epsilon, rows: r, cols: c };
			case(kind, operands, &[cols])
		}
		_ => {
			operands.truncate(2);
			let kind = OpKind::LayerNormWeightGrad { gradient: 0, x, epsilon, rows: r, cols: c };
			case(kind, operands, &[cols])
		}
	}
}

/// Causal softmax and its gradient.
fn attention(index: usize, n: Numbers, batch: usize, size: usize, depth: u32) -> Case {
	let shape = [batch, size, size];
	let (b, s) = (batch as u32, size as u32);
	let x = n.operand(0, &shape);
	if index == 0 {
		let kind = OpKind::CausalSoftmax { x: 0, batch: b, size: s, depth };
		return case(kind, vec![x], &shape);
	}
	let kind = OpKind::CausalSoftmaxGrad { gradient: 0, p: 1, batch: b, size: s, depth };
	case(kind, vec![x, n.operand(1, &shape)], &shape)
}

/// Embedding and its gradient.
fn embedding(index: usize, n: Numbers, rows: usize, vocabulary: usize, width: usize) -> Case {
	let token = |i: usize| ((i * i + n.seed as usize % 997) % vocabulary) as f32;
	let tokens: Vec<f32> = (0..rows).map(token).collect();
	let tokens = lie(Tensor::from_vec(tokens, rows, &Device::Cpu).unwrap(), n.lies[1]);
	let (r, v, w) = (rows as u32, vocabulary as u32, width as u32);
	if index == 0 {
		let kind = OpKind::Embedding { table: 0, tokens: 1, rows: r, vocabulary: v, width: w };
		return case(kind, vec![n.operand(0, &[vocabulary, width]), tokens], &[rows, width]);
	}
	let kind = OpKind::EmbeddingGrad { gradient: 0, tokens: 1, rows: r, vocabulary: v, width: w };
	case(kind, vec![n.operand(0, &[rows, width]), tokens], &[vocabulary, width])
}

/// Losses by rows, and rows that are added or summed.
fn by_row(index: usize, n: Numbers, rows: usize, cols: usize) -> Case {
	let x = n.operand(0, &[rows, cols]);
	let labels = (0..rows).map(|i| ((n.seed as usize % 101 + 7 * i) % cols) as u32).collect();
	let (r, c) = (rows as u32, cols as u32);
	let (logits, log_p, outputs) = (0, 0, 0);
	let (kind, shape): (_, &[usize]) = match index {
		0 => (OpKind::SquaredLoss { outputs, labels: LABELS, rows: r, cols: c }, &[rows]),
		1 => (OpKind::SquaredLossGrad { outputs, labels: LABELS, rows: r, cols: c }, &[rows, cols]),
		2 => (OpKind::RowLoss { log_p, labels: LABELS, rows: r, cols: c }, &[rows]),
		3 => (OpKind::RowLossGrad { log_p, labels: LABELS, rows: r, cols: c }, &[rows, cols]),
		4 => (OpKind::LogSoftmax { logits, rows: r, cols: c }, &[rows, cols]),
		5 => (OpKind::Correct { logits, labels: LABELS, rows: r, cols: c }, &[rows]),
		6 => (OpKind::SumRows { a: 0, rows: r, cols: c }, &[cols]),
		_ => (OpKind::AddRow { a: 0, row: 1, rows: r, cols: c }, &[rows, cols]),
	};
	let operands = if index == 7 { vec![x, n.operand(1, &[cols])] } else { vec![x] };
	Case { labels, ..case(kind, operands, shape) }
}

const BY_ROW: usize = 8;

/// Results of one number.
fn scalar(index: usize, n: Numbers, len: usize) -> Case {
	let (x, all) = (n.operand(0, &[len]), len as u64);
	match index {
		0 => case(OpKind::SumSquares { x: 0, len: all }, vec![x], &[1]),
		1 => case(OpKind::Mean { a: 0, len: all }, vec![x], &[1]),
		2 => {
			let squares = flat(&x).first().map_or(4.0, |x| x.abs());
			let squares = Tensor::from_slice(&[squares], 1, &Device::Cpu).unwrap();
			let kind = OpKind::ClipFactor { squares: 0, largest: Nano(n.seed % 3_000_000_000) };
			case(kind, vec![squares], &[1])
		}
		_ => {
			let steps = 1 + len as u32;
			let final_rate_nano = n.seed % 1_000_000;
			let warmup_steps = (n.seed % u64::from(steps)) as u32;
			let schedule = match n.seed % 2 {
				0 => Schedule::Constant,
				_ => Schedule::Cosine { final_rate_nano },
			};
			let peak = Nano(2_000_000);
			let schedule = LearningRate { peak, schedule, warmup_steps, steps };
			let moment = moment((n.seed / 7 % u64::from(steps)) as u32);
			Case { moment, ..case(OpKind::LearningRate { schedule }, vec![], &[1]) }
		}
	}
}

/// Cycles of the calibration.
fn whetstone(n: Numbers, lanes: usize, cycles: u32) -> Case {
	let shape = [strict::whetstone::VARIABLES, lanes];
	let kind = OpKind::Whetstone { x: 0, lanes: lanes as u32, cycles };
	case(kind, vec![n.operand(0, &shape)], &shape)
}

/// Matrix products, one or a batch, of operands stored in either order.
fn product(n: Numbers, batch: Option<usize>, turned: [bool; 2], [m, n_, k]: [usize; 3]) -> Case {
	let stored = |rows: usize, columns: usize, turned: bool| {
		let matrix = if turned { [columns, rows] } else { [rows, columns] };
		batch.into_iter().chain(matrix).collect::<Vec<_>>()
	};
	let operands =
		vec![n.operand(0, &stored(m, k, turned[0])), n.operand(1, &stored(k, n_, turned[1]))];
	let [transpose_a, transpose_b] = turned;
	let (a, b) = (0, 1);
	let (m_, columns, k) = (m as u32, n_ as u32, k as u32);
	match batch {
		None => {
			let kind = OpKind::MatMul { a, b, transpose_a, transpose_b, m: m_, n: columns, k };
			case(kind, operands, &[m, n_])
		}
		Some(batch) => {
			let shape = [batch, m, n_];
			let batch = batch as u32;
			let (m, n) = (m_, columns);
			let kind = OpKind::BatchMatMul { a, b, transpose_a, transpose_b, batch, m, n, k };
			case(kind, operands, &shape)
		}
	}
}

fn swap(n: Numbers, [outer, a, b, inner]: [usize; 4]) -> Case {
	let x = n.operand(0, &[outer, a, b, inner]);
	let [o, a_, b_, i] = [outer, a, b, inner].map(|extent| extent as u32);
	case(
		OpKind::SwapAxes { x: 0, outer: o, a: a_, b: b_, inner: i },
		vec![x],
		&[outer, b, a, inner],
	)
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(512))]

	#[test]
	fn elementwise_operators_equal_the_reference(
		index in 0..ELEMENTWISE,
		n in numbers(),
		rows in 0usize..5,
		cols in length(1_100),
		step in any::<u32>(),
	) {
		check(&elementwise(index, n, &[rows, cols], step))?;
	}

	#[test]
	fn norms_equal_the_reference(
		index in 0..NORMS,
		n in numbers(),
		(rows, cols) in prop_oneof![
			(0usize..8, length(2_100)),
			(length(2_100), 0usize..8),
			(0usize..70, 0usize..70),
		],
	) {
		check(&norm(index, n, rows, cols))?;
	}

	#[test]
	fn causal_softmax_equals_the_reference(
		index in 0usize..2,
		n in numbers(),
		batch in 0usize..4,
		size in 0usize..70,
		depth in 1u32..300,
	) {
		check(&attention(index, n, batch, size, depth))?;
	}

	#[test]
	fn embeddings_equal_the_reference(
		index in 0usize..2,
		n in numbers(),
		rows in 0usize..90,
		vocabulary in 1usize..80,
		width in 0usize..70,
	) {
		check(&embedding(index, n, rows, vocabulary, width))?;
	}

	#[test]
	fn operators_on_rows_equal_the_reference(
		index in 0..BY_ROW,
		n in numbers(),
		(rows, cols) in prop_oneof![
			(0usize..8, length(2_100)),
			(length(2_100), 0usize..8),
			(0usize..70, 0usize..70),
		],
	) {
		check(&by_row(index, n, rows, cols.max(1)))?;
	}

	#[test]
	fn operators_of_one_number_equal_the_reference(
		index in 0usize..4,
		n in numbers(),
		len in length(5_000),
	) {
		check(&scalar(index, n, len.max(1)))?;
	}

	#[test]
	fn products_equal_the_reference(
		n in numbers(),
		batch in prop_oneof![Just(None), (0usize..5).prop_map(Some)],
		turned in any::<[bool; 2]>(),
		shape in [0usize..20, 0..40, 0..70],
	) {
		check(&product(n, batch, turned, shape))?;
	}

	#[test]
	fn cycles_equal_the_reference(n in numbers(), lanes in length(300), cycles in 0u32..4) {
		check(&whetstone(n, lanes, cycles))?;
	}

	#[test]
	fn swapped_axes_equal_the_reference(
		n in numbers(),
		outer in 0usize..4,
		a in 0usize..40,
		b in 0usize..40,
		inner in prop_oneof![
			prop::sample::select(vec![0usize, 1, 8, 16, 32, 64]),
			0usize..20,
		],
	) {
		check(&swap(n, [outer, a, b, inner]))?;
	}
}

/// Rows longer than a block of a sum, in causal softmax.
#[test]
fn long_softmax_equals_the_reference() {
	for index in 0..2 {
		for style in [Style::Plain, Style::Coarse] {
			check(&attention(index, Numbers { style, ..PLAIN }, 1, 1_300, 64)).unwrap();
		}
	}
}

/// Sizes at which threads take part.
#[test]
fn large_operators_equal_the_reference() {
	const LARGE: usize = PARALLEL_FROM;
	for style in [Style::Plain, Style::Wild] {
		let n = Numbers { style, ..PLAIN };
		for index in 0..ELEMENTWISE {
			check(&elementwise(index, n, &[LARGE + 77], 12)).unwrap();
		}
		for (rows, cols) in [(LARGE / 128 + 3, 128), (LARGE / 1_500 + 2, 1_500), (LARGE + 5, 1)] {
			for index in 0..NORMS {
				check(&norm(index, n, rows, cols)).unwrap();
			}
			for index in 0..BY_ROW {
				check(&by_row(index, n, rows, cols)).unwrap();
			}
		}
		for index in 0..2 {
			check(&attention(index, n, 65, 64, 32)).unwrap();
			check(&embedding(index, n, LARGE / 96 + 3, 70, 96)).unwrap();
		}
		for index in 0..2 {
			check(&scalar(index, n, LARGE + 1_029)).unwrap();
		}
		for axes in [[17, 64, 8, 32], [3, 300, 301, 1], [2, 40, 70, 50]] {
			check(&swap(n, axes)).unwrap();
		}
		check(&whetstone(n, 1_003, 3)).unwrap();
		check(&product(n, Some(65), [false, true], [64, 64, 32])).unwrap();
		check(&product(n, None, [true, false], [70, 110, 600])).unwrap();
	}
}

/// A product reads turned and spaced operands where they lie, and copies only what strides cannot
/// describe.
#[test]
fn products_copy_only_what_they_must() {
	let x = Tensor::arange(0f32, 240.0, &Device::Cpu).unwrap().reshape((2, 4, 5, 6)).unwrap();
	let strides = |x: &Tensor, batch, rows_columns, transposed| {
		let (storage, layout) = x.storage_and_layout();
		let candle_core::Storage::Cpu(storage) = &*storage else { panic!("not on the CPU") };
		let found = matrices(storage, layout, batch, rows_columns, transposed).unwrap();
		let (batch, copied) = (found.batch(), found.is_copy());
		([batch.stride, batch.first.row_stride, batch.first.column_stride], copied)
	};
	assert_eq!(strides(&x, 8, [5, 6], false), ([30, 6, 1], false));
	assert_eq!(strides(&x, 8, [6, 5], true), ([30, 1, 6], false));
	assert_eq!(strides(&x, 1, [8, 30], false), ([240, 30, 1], false));
	let turned = x.transpose(2, 3).unwrap();
	assert_eq!(strides(&turned, 8, [6, 5], false), ([30, 1, 6], false));
	let narrow = x.narrow(3, 1, 4).unwrap().narrow(1, 0, 1).unwrap();
	assert_eq!(strides(&narrow, 2, [5, 4], false), ([120, 6, 1], false));
	let spread = Tensor::ones((1, 6), DType::F32, &Device::Cpu).unwrap();
	let spread = spread.broadcast_as((5, 6)).unwrap();
	assert_eq!(strides(&spread, 1, [5, 6], false), ([30, 0, 1], false));
	// Rows and heads have two distances, where one may be.
	let heads = x.transpose(1, 2).unwrap();
	assert_eq!(strides(&heads, 10, [4, 6], false), ([24, 6, 1], true));
	assert_eq!(strides(&heads, 2, [5, 24], false), ([120, 24, 1], true));
}

#[test]
fn numbers_that_are_no_tokens_are_refused() {
	for wrong in [3.0, -1.0, 0.5, f32::NAN, f32::INFINITY] {
		let tokens = Tensor::from_slice(&[1.0, wrong], 2, &Device::Cpu).unwrap();
		let table = Tensor::zeros((3, 4), DType::F32, &Device::Cpu).unwrap();
		let kind = OpKind::Embedding { table: 0, tokens: 1, rows: 2, vocabulary: 3, width: 4 };
		let read = |id| Ok(if id == 0 { &table } else { &tokens });
		let error = apply(Isa::Scalar, &kind, moment(0), &[2, 4], read).unwrap_err();
		assert!(error.to_string().contains("token 1 is not a whole number below"), "{error}");
	}
}
