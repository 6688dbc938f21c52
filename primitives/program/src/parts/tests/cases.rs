//! A case of every operator, small, with long chains where an operator has one.

use crate::{
	ops::{Factor, Nano, OpKind, Window},
	reference::StepContext,
	schedule::LearningRate,
	spec::Schedule,
	H256,
};
use trainyard_strict::{whetstone::VARIABLES, Function};

/// An operator and what it reads: operand `i` is tensor `i`.
pub struct Case {
	pub kind: OpKind,
	pub operands: Vec<Vec<f32>>,
	pub labels: Vec<u32>,
	pub moment: StepContext,
}

/// Number of operators.
pub const KINDS: usize = 48;

/// The number of an operator: a new one does not compile without one, and without a case the test
/// of all numbers fails.
pub fn number(kind: &OpKind) -> usize {
	match kind {
		OpKind::MatMul { .. } => 0,
		OpKind::AddRow { .. } => 1,
		OpKind::Relu { .. } => 2,
		OpKind::ReluGrad { .. } => 3,
		OpKind::LogSoftmax { .. } => 4,
		OpKind::RowLoss { .. } => 5,
		OpKind::RowLossGrad { .. } => 6,
		OpKind::Correct { .. } => 7,
		OpKind::Mean { .. } => 8,
		OpKind::SumRows { .. } => 9,
		OpKind::Scale { .. } => 10,
		OpKind::Decay { .. } => 11,
		OpKind::MulAdd { .. } => 12,
		OpKind::Ema { .. } => 13,
		OpKind::EmaSquare { .. } => 14,
		OpKind::AdamStep { .. } => 15,
		OpKind::Add { .. } => 16,
		OpKind::Activation { .. } => 17,
		OpKind::ActivationGrad { .. } => 18,
		OpKind::BatchMatMul { .. } => 19,
		OpKind::SwapAxes { .. } => 20,
		OpKind::Conv2d { .. } => 21,
		OpKind::Conv2dWeightGrad { .. } => 22,
		OpKind::Conv2dInputGrad { .. } => 23,
		OpKind::AddChannel { .. } => 24,
		OpKind::SumChannels { .. } => 25,
		OpKind::MaxPool2d { .. } => 26,
		OpKind::MaxPool2dGrad { .. } => 27,
		OpKind::AvgPool2d { .. } => 28,
		OpKind::AvgPool2dGrad { .. } => 29,
		OpKind::LayerNorm { .. } => 30,
		OpKind::LayerNormGrad { .. } => 31,
		OpKind::LayerNormWeightGrad { .. } => 32,
		OpKind::RmsNorm { .. } => 33,
		OpKind::RmsNormGrad { .. } => 34,
		OpKind::RmsNormWeightGrad { .. } => 35,
		OpKind::Embedding { .. } => 36,
		OpKind::EmbeddingGrad { .. } => 37,
		OpKind::CausalSoftmax { .. } => 38,
		OpKind::CausalSoftmaxGrad { .. } => 39,
		OpKind::Dropout { .. } => 40,
		OpKind::Noise { .. } => 41,
		OpKind::SquaredLoss { .. } => 42,
		OpKind::SquaredLossGrad { .. } => 43,
		OpKind::SumSquares { .. } => 44,
		OpKind::ClipFactor { .. } => 45,
		OpKind::Whetstone { .. } => 46,
		OpKind::LearningRate { .. } => 47,
	}
}

/// Numbers that repeat, with zeros of both signs, and with infinities where `wild`.
fn numbers(len: usize, seed: u64, wild: bool) -> Vec<f32> {
	let mut word = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
	let mut next = || {
		word ^= word << 13;
		word ^= word >> 7;
		word ^= word << 17;
		(word >> 32) as u32
	};
	(0..len)
		.map(|_| match next() % 64 {
			0 => 0.0,
			1 => -0.0,
			2 | 3 => 1.5,
			4 if wild => f32::INFINITY,
			5 if wild => f32::NEG_INFINITY,
			6 if wild => f32::from_bits(next() & 0x807F_FFFF),
			_ => (next() >> 8) as f32 / 8_388_608.0 - 1.0,
		})
		.collect()
}

fn windows() -> Vec<Window> {
	let window = |channels, height, width, kernel, stride, padding| Window {
		images: 2,
		channels,
		height,
		width,
		kernel,
		stride,
		padding,
	};
	vec![
		window(2, 5, 4, 3, 1, 1),
		window(1, 6, 5, 2, 2, 0),
		window(3, 5, 5, 3, 2, 1),
		window(2, 4, 5, 1, 3, 0),
		window(2, 7, 6, 4, 1, 2),
	]
}

/// Returns cases of every operator.
pub fn all() -> Vec<Case> {
	let mut all = Vec::new();
	for wild in [false, true] {
		for moment in [StepContext::default(), StepContext { seed: H256::repeat_byte(9), step: 77 }]
		{
			let mut made = Made { all: &mut all, moment, wild, seed: u64::from(moment.step) };
			products(&mut made);
			rows(&mut made);
			elementwise(&mut made);
			images(&mut made);
		}
	}
	all
}

struct Made<'a> {
	all: &'a mut Vec<Case>,
	moment: StepContext,
	wild: bool,
	seed: u64,
}

impl Made<'_> {
	/// Adds a case whose operands have these lengths, with labels below `classes`.
	fn add(&mut self, kind: OpKind, lens: &[usize], labels: usize, classes: u32) {
		let operands = lens
			.iter()
			.map(|len| {
				self.seed += 1;
				numbers(*len, self.seed, self.wild)
			})
			.collect();
		let labels = (0..labels as u32).map(|i| (i * 5 + 1) % classes.max(1)).collect();
		self.all.push(Case { kind, operands, labels, moment: self.moment });
	}

	fn plain(&mut self, kind: OpKind, lens: &[usize]) {
		self.add(kind, lens, 0, 0);
	}
}

fn products(made: &mut Made<'_>) {
	for (m, n, k) in [(3u32, 4u32, 5u32), (2, 2, 1_300), (1, 3, 512), (2, 1, 513)] {
		for (transpose_a, transpose_b) in [(false, false), (true, false), (false, true)] {
			let (a, b) = (0, 1);
			let kind = OpKind::MatMul { a, b, transpose_a, transpose_b, m, n, k };
			made.plain(kind, &[(m * k) as usize, (k * n) as usize]);
			let batch = 2;
			let kind = OpKind::BatchMatMul { a, b, transpose_a, transpose_b, batch, m, n, k };
			made.plain(kind, &[(2 * m * k) as usize, (2 * k * n) as usize]);
		}
	}
}

fn rows(made: &mut Made<'_>) {
	for (rows, cols) in [(3u32, 7u32), (1, 1), (2, 1_100), (1_030, 2)] {
		let (area, r, c) = ((rows * cols) as usize, rows as usize, cols as usize);
		let epsilon = Nano(10_000);
		let labelled = [
			OpKind::RowLoss { log_p: 0, labels: 9, rows, cols },
			OpKind::RowLossGrad { log_p: 0, labels: 9, rows, cols },
			OpKind::Correct { logits: 0, labels: 9, rows, cols },
			OpKind::SquaredLoss { outputs: 0, labels: 9, rows, cols },
			OpKind::SquaredLossGrad { outputs: 0, labels: 9, rows, cols },
		];
		for kind in labelled {
			made.add(kind, &[area], r, cols);
		}
		made.plain(OpKind::AddRow { a: 0, row: 1, rows, cols }, &[area, c]);
		made.plain(OpKind::LogSoftmax { logits: 0, rows, cols }, &[area]);
		made.plain(OpKind::Mean { a: 0, len: area as u64 }, &[area]);
		made.plain(OpKind::SumRows { a: 0, rows, cols }, &[area]);
		made.plain(OpKind::SumSquares { x: 0, len: area as u64 }, &[area]);
		let kind = OpKind::LayerNorm { x: 0, weight: 1, bias: 2, epsilon, rows, cols };
		made.plain(kind, &[area, c, c]);
		let kind = OpKind::LayerNormGrad { gradient: 0, x: 1, weight: 2, epsilon, rows, cols };
		made.plain(kind, &[area, area, c]);
		let kind = OpKind::LayerNormWeightGrad { gradient: 0, x: 1, epsilon, rows, cols };
		made.plain(kind, &[area, area]);
		made.plain(OpKind::RmsNorm { x: 0, weight: 1, epsilon, rows, cols }, &[area, c]);
		let kind = OpKind::RmsNormGrad { gradient: 0, x: 1, weight: 2, epsilon, rows, cols };
		made.plain(kind, &[area, area, c]);
		let kind = OpKind::RmsNormWeightGrad { gradient: 0, x: 1, epsilon, rows, cols };
		made.plain(kind, &[area, area]);
	}
	for (batch, size, depth) in [(2u32, 5u32, 4u32), (1, 1, 1), (1, 40, 3)] {
		let area = (batch * size * size) as usize;
		made.plain(OpKind::CausalSoftmax { x: 0, batch, size, depth }, &[area]);
		let kind = OpKind::CausalSoftmaxGrad { gradient: 0, p: 1, batch, size, depth };
		made.plain(kind, &[area, area]);
	}
	let tokens = |made: &mut Made<'_>, kind: OpKind, len: usize, rows: u32, vocabulary: u32| {
		made.plain(kind, &[len]);
		let tokens = (0..rows).map(|i| ((i * i + 3 * i) % vocabulary) as f32).collect();
		if let Some(case) = made.all.last_mut() {
			case.operands.push(tokens);
		}
	};
	for (rows, vocabulary, width) in [(9u32, 4u32, 3u32), (1, 1, 1), (700, 5, 2)] {
		let (len, by) = ((vocabulary * width) as usize, (rows * width) as usize);
		let kind = OpKind::Embedding { table: 0, tokens: 1, rows, vocabulary, width };
		tokens(made, kind, len, rows, vocabulary);
		let kind = OpKind::EmbeddingGrad { gradient: 0, tokens: 1, rows, vocabulary, width };
		tokens(made, kind, by, rows, vocabulary);
	}
	for (lanes, cycles) in [(3u32, 2u32), (1, 40)] {
		made.plain(OpKind::Whetstone { x: 0, lanes, cycles }, &[VARIABLES * lanes as usize]);
	}
}

fn elementwise(made: &mut Made<'_>) {
	let (n, len) = (37usize, 37u64);
	let rate = Factor::Nano(Nano(20_000_000));
	made.plain(OpKind::Relu { a: 0, len }, &[n]);
	made.plain(OpKind::ReluGrad { gradient: 0, activation: 1, len }, &[n, n]);
	made.plain(OpKind::Scale { x: 0, factor: rate, len }, &[n]);
	made.plain(OpKind::Scale { x: 0, factor: Factor::Tensor(1), len }, &[n, 1]);
	let weight_decay = Nano(30_000_000);
	made.plain(OpKind::Decay { x: 0, learning_rate: rate, weight_decay, len }, &[n]);
	for negate in [false, true] {
		made.plain(OpKind::MulAdd { x: 0, y: 1, factor: rate, negate, len }, &[n, n]);
		let factor = Factor::Tensor(2);
		made.plain(OpKind::MulAdd { x: 0, y: 1, factor, negate, len }, &[n, n, 1]);
	}
	let (keep, take) = (Nano(900_000_000), Nano(100_000_000));
	made.plain(OpKind::Ema { average: 0, x: 1, keep, take, len }, &[n, n]);
	made.plain(OpKind::EmaSquare { average: 0, x: 1, keep, take, len }, &[n, n]);
	let (x, m, v, power1, power2, epsilon) = (0, 1, 2, 3, 4, Nano(10));
	let kind = OpKind::AdamStep { x, m, v, power1, power2, learning_rate: rate, epsilon, len };
	made.plain(kind, &[n, n, n, 1, 1]);
	made.plain(OpKind::Add { x: 0, y: 1, len }, &[n, n]);
	for function in [Function::Gelu, Function::Silu, Function::Tanh, Function::Sigmoid] {
		made.plain(OpKind::Activation { function, x: 0, len }, &[n]);
		made.plain(OpKind::ActivationGrad { function, gradient: 0, at: 1, len }, &[n, n]);
	}
	let (outer, a, b, inner) = (2, 3, 4, 5);
	made.plain(OpKind::SwapAxes { x: 0, outer, a, b, inner }, &[120]);
	for site in [0, 3] {
		made.plain(OpKind::Dropout { x: 0, rate: Nano(300_000_000), site, len }, &[n]);
	}
	made.plain(OpKind::Noise { x: 0, deviation: Nano(500_000_000), len }, &[n]);
	for largest in [Nano(1), Nano(1_000_000_000_000)] {
		made.plain(OpKind::ClipFactor { squares: 0, largest }, &[1]);
	}
	let schedule = Schedule::Cosine { final_rate_nano: 5 };
	let schedule = LearningRate { peak: Nano(1_000_000), schedule, warmup_steps: 50, steps: 500 };
	made.plain(OpKind::LearningRate { schedule }, &[]);
}

fn images(made: &mut Made<'_>) {
	for window in windows() {
		let planes = (window.images * window.channels) as usize;
		let read = planes * window.area() as usize;
		for filters in [1u32, 3] {
			let weight = filters as usize * window.patch() as usize;
			let given = (window.images * filters) as usize * window.out_area() as usize;
			made.plain(OpKind::Conv2d { x: 0, weight: 1, window, filters }, &[read, weight]);
			let kind = OpKind::Conv2dWeightGrad { gradient: 0, x: 1, window, filters };
			made.plain(kind, &[given, read]);
			let kind = OpKind::Conv2dInputGrad { gradient: 0, weight: 1, window, filters };
			made.plain(kind, &[given, weight]);
		}
		let (images, channels, area) = (window.images, window.channels, window.area());
		let kind = OpKind::AddChannel { x: 0, channel: 1, images, channels, area };
		made.plain(kind, &[read, channels as usize]);
		made.plain(OpKind::SumChannels { x: 0, images, channels, area }, &[read]);
		// Pooling has no padding.
		let window = Window { padding: 0, ..window };
		let given = planes * window.out_area() as usize;
		made.plain(OpKind::MaxPool2d { x: 0, window }, &[read]);
		let kind = OpKind::MaxPool2dGrad { gradient: 0, x: 1, maximum: 2, window };
		made.plain(kind, &[given, read, given]);
		// The maxima are those of the images.
		if let Some(case) = made.all.last_mut() {
			let pool = OpKind::MaxPool2d { x: 1, window };
			case.operands[2] = super::whole::max_pool(&pool, &case.operands[1]);
		}
		made.plain(OpKind::AvgPool2d { x: 0, window }, &[read]);
		made.plain(OpKind::AvgPool2dGrad { gradient: 0, window }, &[given]);
	}
}
