//! Every operator on the simulation, and on a GPU where there is one, against the scalar reference, over
//! random shapes.

use super::{simulated, simulator::Simulator};
use crate::cuda::{backend::Backend, check, operators, DeviceError};
use std::collections::BTreeMap;
use trainyard_program::{
	ops::{Factor, Nano, OpKind, TensorId, Window},
	reference as exec,
	reference::{ExecError, StepContext},
	schedule::LearningRate,
	spec::Schedule,
	H256,
};
use trainyard_strict::{philox::philox4x32_10, Function};

/// Which numbers an operand holds.
#[derive(Clone, Copy, Debug)]
enum Range {
	/// Around one, of both signs, with zeros of both signs.
	Ordinary,
	/// Any finite magnitude: subnormal numbers, and products that overflow or vanish.
	Wide,
	/// Any bits: infinities and NaN too.
	Bits,
}

const RANGES: [Range; 3] = [Range::Ordinary, Range::Wide, Range::Bits];

/// Random choices and numbers.
struct Random {
	seed: u32,
	at: u32,
}

impl Random {
	fn word(&mut self) -> u32 {
		self.at += 1;
		philox4x32_10([self.at, 0, 0, 0], [self.seed, 3])[0]
	}

	/// One of `low..=high`.
	fn size(&mut self, low: u32, high: u32) -> u32 {
		low + self.word() % (high - low + 1)
	}

	fn number(&mut self, range: Range) -> f32 {
		let word = self.word();
		match range {
			_ if word.is_multiple_of(29) => [0.0, -0.0][(word >> 8) as usize % 2],
			Range::Ordinary => (word >> 8) as f32 / 8_388_608.0 - 1.0,
			// Magnitudes from 2^-149 to 2^65.
			Range::Wide => {
				let exponent = (word >> 23 & 0xFF) * 3 / 4;
				f32::from_bits(word & 0x807F_FFFF | exponent << 23)
			}
			Range::Bits => f32::from_bits(word),
		}
	}

	fn numbers(&mut self, count: usize, range: Range) -> Vec<f32> {
		(0..count).map(|_| self.number(range)).collect()
	}

	fn coin(&mut self) -> bool {
		self.word() & 1 == 1
	}
}

/// An operator and its operands: tensor `i` has the elements `tensors[i]`. Labels are tensor 9.
struct Case {
	kind: OpKind,
	tensors: Vec<Vec<f32>>,
	labels: Vec<u32>,
}

/// Tensor of the labels.
const LABELS: TensorId = 9;

impl Case {
	fn new(kind: OpKind, tensors: Vec<Vec<f32>>) -> Self {
		Self { kind, tensors, labels: Vec::new() }
	}

	/// Runs it on `backend`, and compares with the reference.
	fn check<B: Backend>(&self, backend: &B, moment: StepContext) {
		let read = |id: TensorId| Ok(self.tensors[id as usize].as_slice());
		let expected = exec::operator::<ExecError>(&self.kind, &self.labels, moment, read).unwrap();
		let mut buffers = BTreeMap::new();
		for (id, tensor) in (0u32..).zip(&self.tensors) {
			buffers.insert(id, backend.upload(tensor).unwrap());
		}
		buffers.insert(LABELS, backend.upload_integers(&self.labels).unwrap());
		let read = |id| Ok(&buffers[&id]);
		let found = operators::apply(backend, &self.kind, moment, expected.len(), read);
		let found = backend.download(&found.unwrap(), expected.len()).unwrap();
		for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
			let same = found.to_bits() == expected.to_bits();
			assert!(
				same || found.is_nan() && expected.is_nan(),
				"{:?}: element {i} is {found:e} ({:08X}), not {expected:e} ({:08X})",
				self.kind,
				found.to_bits(),
				expected.to_bits()
			);
		}
	}
}

/// As many cases of an operator as `count`, on the simulation, and on a GPU where there is one.
fn cases(count: u32, seed: u32, mut make: impl FnMut(&mut Random, Range) -> Case) {
	simulated(|simulator| cases_on(&simulator, count, seed, &mut make));
	#[cfg(feature = "cuda")]
	match crate::cuda::driver::Cuda::open(0) {
		Ok(gpu) => cases_on(&gpu, count, seed, &mut make),
		Err(why) => println!("not on a GPU: {why}"),
	}
}

fn cases_on<B: Backend>(
	backend: &B,
	count: u32,
	seed: u32,
	make: &mut impl FnMut(&mut Random, Range) -> Case,
) {
	for number in 0..count {
		let mut random = Random { seed: seed * 1_000 + number, at: 0 };
		let range = RANGES[number as usize % RANGES.len()];
		let moment = StepContext { seed: H256::repeat_byte(number as u8), step: random.word() };
		make(&mut random, range).check(backend, moment);
	}
}

/// Rows of labels below `cols`.
fn labels(random: &mut Random, rows: u32, cols: u32) -> Vec<u32> {
	(0..rows).map(|_| random.word() % cols).collect()
}

/// Some windows over images that they fit.
fn window(random: &mut Random, padded: bool) -> Window {
	let kernel = random.size(1, 4);
	Window {
		images: random.size(1, 4),
		channels: random.size(1, 5),
		height: random.size(kernel, 9),
		width: random.size(kernel, 9),
		kernel,
		stride: random.size(1, 3),
		padding: if padded { random.size(0, kernel - 1) } else { 0 },
	}
}

fn area(images: u32, channels: u32, area: u64) -> usize {
	images as usize * channels as usize * area as usize
}

#[test]
fn functions_and_operations() {
	simulated(|simulator| check::check(&simulator).unwrap());
}

/// The check notices whatever a device does wrong.
#[test]
fn a_device_that_computes_otherwise_is_refused() {
	/// Flips the last bit of every result for which the second field returns `true`.
	struct Wrong<B>(B, fn(f32) -> bool);
	impl<B: Backend> Backend for Wrong<B> {
		type Buffer = B::Buffer;
		fn name(&self) -> String {
			self.0.name()
		}
		fn multiprocessors(&self) -> u32 {
			self.0.multiprocessors()
		}
		fn allocate(&self, len: usize) -> Result<Self::Buffer, DeviceError> {
			self.0.allocate(len)
		}
		fn upload(&self, values: &[f32]) -> Result<Self::Buffer, DeviceError> {
			self.0.upload(values)
		}
		fn upload_integers(&self, values: &[u32]) -> Result<Self::Buffer, DeviceError> {
			self.0.upload_integers(values)
		}
		fn download(&self, buffer: &Self::Buffer, len: usize) -> Result<Vec<f32>, DeviceError> {
			let mut values = self.0.download(buffer, len)?;
			for x in values.iter_mut().filter(|x| self.1(**x)) {
				// As a device that flushes subnormal numbers.
				*x = 0.0;
			}
			Ok(values)
		}
		fn launch(
			&self,
			kernel: &'static str,
			blocks: u32,
			threads: u32,
			arguments: &[crate::cuda::backend::Arg<'_, Self::Buffer>],
		) -> Result<(), DeviceError> {
			self.0.launch(kernel, blocks, threads, arguments)
		}
	}
	simulated(|simulator| {
		let error = check::check(&Wrong(simulator, f32::is_subnormal)).unwrap_err();
		assert!(error.to_string().contains("does not compute as IEEE 754 says"), "{error}");
	});
}

#[test]
fn products() {
	cases(60, 1, |random, range| {
		let (transpose_a, transpose_b) = (random.coin(), random.coin());
		let [m, n] = [(); 2].map(|_| match random.size(0, 9) {
			0 => 1,
			1 | 2 => random.size(60, 140),
			_ => random.size(1, 40),
		});
		// Around the blocks of 512 terms, and around the tiles.
		let k = match random.size(0, 5) {
			0 => random.size(0, 3),
			1 => random.size(510, 515),
			2 => random.size(1_020, 1_100),
			_ => random.size(1, 70),
		};
		let tensors =
			vec![random.numbers((m * k) as usize, range), random.numbers((k * n) as usize, range)];
		let kind = OpKind::MatMul { a: 0, b: 1, transpose_a, transpose_b, m, n, k };
		Case::new(kind, tensors)
	});
	cases(20, 2, |random, range| {
		let (transpose_a, transpose_b) = (random.coin(), random.coin());
		let (batch, m, n) = (random.size(1, 5), random.size(1, 33), random.size(1, 33));
		let k = if random.size(0, 4) == 0 { 700 } else { random.size(1, 40) };
		let tensors = vec![
			random.numbers((batch * m * k) as usize, range),
			random.numbers((batch * k * n) as usize, range),
		];
		let kind = OpKind::BatchMatMul { a: 0, b: 1, transpose_a, transpose_b, batch, m, n, k };
		Case::new(kind, tensors)
	});
}

/// Products whose results are whole tiles: one and several of them, of one, two and three blocks of
/// terms, the last of which is short.
#[test]
fn products_of_whole_tiles() {
	let make = |random: &mut Random, range, [m, n, k]: [u32; 3]| {
		let (transpose_a, transpose_b) = (random.coin(), random.coin());
		let tensors =
			vec![random.numbers((m * k) as usize, range), random.numbers((k * n) as usize, range)];
		Case::new(OpKind::MatMul { a: 0, b: 1, transpose_a, transpose_b, m, n, k }, tensors)
	};
	cases(18, 9, |random, range| {
		let side = |random: &mut Random| 128 * random.size(1, 2);
		let k = [8, 16, 504, 512, 520, 1_032][random.size(0, 5) as usize];
		let size = [side(random), side(random), k];
		make(random, range, size)
	});
	cases(3, 10, |random, range| {
		let (transpose_a, transpose_b) = (random.coin(), random.coin());
		let (batch, m, n, k) = (3, 128, 256, 24);
		let tensors = vec![
			random.numbers((batch * m * k) as usize, range),
			random.numbers((batch * k * n) as usize, range),
		];
		let kind = OpKind::BatchMatMul { a: 0, b: 1, transpose_a, transpose_b, batch, m, n, k };
		Case::new(kind, tensors)
	});
	// Seventeen blocks of terms for seventeen multiprocessors: each has a part.
	match Simulator::new(17) {
		Ok(simulator) => cases_on(&simulator, 2, 11, &mut |random, range| {
			make(random, range, [128, 128, 16 * 512 + 8])
		}),
		Err(why) => println!("skipped: the kernels cannot be compiled for the host: {why}"),
	}
}

#[test]
fn convolutions() {
	cases(90, 3, |random, range| {
		let mut window = window(random, true);
		let mut filters = random.size(1, 6);
		// Dot products of more than one block, in each of the three operators.
		match random.size(0, 8) {
			0 => window.channels = random.size(60, 70),
			1 => filters = random.size(511, 515),
			2 => window.images = 24,
			_ => {}
		}
		let (images, w) = (window.images, window);
		let images_len = area(images, w.channels, w.area());
		let results_len = area(images, filters, w.out_area());
		let weights_len = filters as usize * w.patch() as usize;
		let (kind, lens) = match random.size(0, 2) {
			0 => (OpKind::Conv2d { x: 0, weight: 1, window, filters }, [images_len, weights_len]),
			1 => (
				OpKind::Conv2dWeightGrad { gradient: 0, x: 1, window, filters },
				[results_len, images_len],
			),
			_ => (
				OpKind::Conv2dInputGrad { gradient: 0, weight: 1, window, filters },
				[results_len, weights_len],
			),
		};
		Case::new(kind, lens.map(|len| random.numbers(len, range)).into())
	});
}

#[test]
fn pooling_and_channels() {
	cases(90, 4, |random, range| {
		let window = window(random, false);
		let Window { images, channels, .. } = window;
		let (whole, pooled) =
			(area(images, channels, window.area()), area(images, channels, window.out_area()));
		// Few different numbers: several places of a window equal its maximum.
		let mut x = random.numbers(whole, range);
		if random.coin() {
			x.iter_mut().for_each(|x| *x = [0.0, -0.0, 1.0][x.to_bits() as usize % 3]);
		}
		let gradient = random.numbers(pooled, range);
		match random.size(0, 5) {
			0 => Case::new(OpKind::MaxPool2d { x: 0, window }, vec![x]),
			1 => {
				let read = |_| Ok::<_, ExecError>(x.as_slice());
				let pool = OpKind::MaxPool2d { x: 0, window };
				let maximum = exec::operator(&pool, &[], StepContext::default(), read).unwrap();
				let kind = OpKind::MaxPool2dGrad { gradient: 0, x: 1, maximum: 2, window };
				Case::new(kind, vec![gradient, x, maximum])
			}
			2 => Case::new(OpKind::AvgPool2d { x: 0, window }, vec![x]),
			3 => Case::new(OpKind::AvgPool2dGrad { gradient: 0, window }, vec![gradient]),
			4 => {
				let channel = random.numbers(channels as usize, range);
				let kind =
					OpKind::AddChannel { x: 0, channel: 1, images, channels, area: window.area() };
				Case::new(kind, vec![x, channel])
			}
			_ => {
				// Sums of several blocks.
				let images = if random.coin() { 60 } else { images };
				let x = random.numbers(area(images, channels, window.area()), range);
				let kind = OpKind::SumChannels { x: 0, images, channels, area: window.area() };
				Case::new(kind, vec![x])
			}
		}
	});
}

#[test]
fn sums() {
	cases(48, 5, |random, range| {
		let len = match random.size(0, 4) {
			0 => random.size(0, 40),
			1 => random.size(1_020, 1_030),
			2 => 1_050_000,
			_ => random.size(1, 5_000),
		};
		let x = random.numbers(len as usize, range);
		let len = u64::from(len);
		match random.size(0, 2) {
			0 if len > 0 => Case::new(OpKind::Mean { a: 0, len }, vec![x]),
			1 => Case::new(OpKind::SumSquares { x: 0, len }, vec![x]),
			_ => {
				let (rows, cols) = (len as u32 / 7, 7);
				let x = x[..rows as usize * 7].to_vec();
				Case::new(OpKind::SumRows { a: 0, rows, cols }, vec![x])
			}
		}
	});
	cases(12, 6, |random, range| {
		let (rows, cols) = (random.size(1, 1_100), random.size(1, 70));
		let x = random.numbers((rows * cols) as usize, range);
		Case::new(OpKind::SumRows { a: 0, rows, cols }, vec![x])
	});
}

#[test]
fn rows() {
	cases(117, 7, |random, range| {
		let rows = random.size(1, 40);
		let cols =
			if random.size(0, 5) == 0 { random.size(1_000, 3_000) } else { random.size(1, 70) };
		let len = (rows * cols) as usize;
		let mut numbers = |len: u32| random.numbers(len as usize, range);
		let (x, gradient) = (numbers(rows * cols), numbers(rows * cols));
		let (weight, bias) = (numbers(cols), numbers(cols));
		let labels = labels(random, rows, cols);
		let epsilon = Nano(10_000);
		let case = match random.size(0, 12) {
			0 => Case::new(OpKind::LogSoftmax { logits: 0, rows, cols }, vec![x]),
			1 => Case::new(OpKind::RowLoss { log_p: 0, labels: LABELS, rows, cols }, vec![x]),
			2 => Case::new(OpKind::RowLossGrad { log_p: 0, labels: LABELS, rows, cols }, vec![x]),
			3 => {
				// Ties: the first counts.
				let x = x.iter().map(|x| if x.abs() < 0.5 { 0.25 } else { *x }).collect();
				Case::new(OpKind::Correct { logits: 0, labels: LABELS, rows, cols }, vec![x])
			}
			4 => Case::new(OpKind::SquaredLoss { outputs: 0, labels: LABELS, rows, cols }, vec![x]),
			5 => {
				let kind = OpKind::SquaredLossGrad { outputs: 0, labels: LABELS, rows, cols };
				Case::new(kind, vec![x])
			}
			6 => {
				let kind = OpKind::LayerNorm { x: 0, weight: 1, bias: 2, epsilon, rows, cols };
				Case::new(kind, vec![x, weight, bias])
			}
			7 => {
				let kind =
					OpKind::LayerNormGrad { gradient: 0, x: 1, weight: 2, epsilon, rows, cols };
				Case::new(kind, vec![gradient, x, weight])
			}
			8 => {
				let kind = OpKind::LayerNormWeightGrad { gradient: 0, x: 1, epsilon, rows, cols };
				Case::new(kind, vec![gradient, x])
			}
			9 => {
				let kind = OpKind::RmsNorm { x: 0, weight: 1, epsilon, rows, cols };
				Case::new(kind, vec![x, weight])
			}
			10 => {
				let kind =
					OpKind::RmsNormGrad { gradient: 0, x: 1, weight: 2, epsilon, rows, cols };
				Case::new(kind, vec![gradient, x, weight])
			}
			11 => {
				let kind = OpKind::RmsNormWeightGrad { gradient: 0, x: 1, epsilon, rows, cols };
				Case::new(kind, vec![gradient, x])
			}
			_ => Case::new(OpKind::AddRow { a: 0, row: 1, rows, cols }, vec![x, weight]),
		};
		assert_eq!(case.tensors[0].len(), len);
		Case { labels, ..case }
	});
}

#[test]
fn attention() {
	cases(24, 8, |random, range| {
		let size =
			if random.size(0, 7) == 0 { random.size(1_024, 1_060) } else { random.size(1, 50) };
		let (batch, depth) = (if size > 1_000 { 1 } else { random.size(1, 4) }, random.size(1, 64));
		let len = (batch * size * size) as usize;
		let (x, p) = (random.numbers(len, range), random.numbers(len, range));
		match random.coin() {
			true => Case::new(OpKind::CausalSoftmax { x: 0, batch, size, depth }, vec![x]),
			false => {
				let kind = OpKind::CausalSoftmaxGrad { gradient: 0, p: 1, batch, size, depth };
				Case::new(kind, vec![x, p])
			}
		}
	});
	cases(24, 9, |random, range| {
		let (rows, vocabulary, width) =
			(random.size(1, 90), random.size(1, 30), random.size(1, 20));
		let tokens = (0..rows).map(|_| (random.word() % vocabulary) as f32).collect();
		match random.coin() {
			true => {
				let table = random.numbers((vocabulary * width) as usize, range);
				let kind = OpKind::Embedding { table: 0, tokens: 1, rows, vocabulary, width };
				Case::new(kind, vec![table, tokens])
			}
			false => {
				let gradient = random.numbers((rows * width) as usize, range);
				let kind =
					OpKind::EmbeddingGrad { gradient: 0, tokens: 1, rows, vocabulary, width };
				Case::new(kind, vec![gradient, tokens])
			}
		}
	});
	cases(12, 10, |random, range| {
		let [outer, a, b, inner] = [(); 4].map(|_| random.size(1, 9));
		let x = random.numbers((outer * a * b * inner) as usize, range);
		Case::new(OpKind::SwapAxes { x: 0, outer, a, b, inner }, vec![x])
	});
}

#[test]
fn elementwise() {
	const FUNCTIONS: [Function; 4] =
		[Function::Gelu, Function::Silu, Function::Tanh, Function::Sigmoid];
	cases(180, 11, |random, range| {
		let count = random.size(1, 3_000) as usize;
		let len = count as u64;
		let [x, y, z] = [(); 3].map(|_| random.numbers(count, range));
		let function = FUNCTIONS[random.word() as usize % 4];
		let nano = |random: &mut Random| Nano(u64::from(random.word() % 1_000_000_000));
		let factor = match random.coin() {
			true => Factor::Nano(nano(random)),
			false => Factor::Tensor(5),
		};
		let scalar = random.numbers(1, Range::Ordinary);
		let kind = match random.size(0, 14) {
			0 => OpKind::Relu { a: 0, len },
			1 => OpKind::ReluGrad { gradient: 0, activation: 1, len },
			2 => OpKind::Scale { x: 0, factor, len },
			3 => OpKind::Decay { x: 0, learning_rate: factor, weight_decay: nano(random), len },
			4 => OpKind::MulAdd { x: 0, y: 1, factor, negate: random.coin(), len },
			5 => OpKind::Ema { average: 0, x: 1, keep: nano(random), take: nano(random), len },
			6 => {
				OpKind::EmaSquare { average: 0, x: 1, keep: nano(random), take: nano(random), len }
			}
			7 => OpKind::AdamStep {
				x: 0,
				m: 1,
				v: 2,
				power1: 3,
				power2: 4,
				learning_rate: factor,
				epsilon: nano(random),
				len,
			},
			8 => OpKind::Add { x: 0, y: 1, len },
			9 => OpKind::Activation { function, x: 0, len },
			10 => OpKind::ActivationGrad { function, gradient: 0, at: 1, len },
			11 => {
				let rate = Nano(u64::from(random.size(1, 900_000_000)));
				OpKind::Dropout { x: 0, rate, site: random.size(0, 9), len }
			}
			12 => OpKind::Noise { x: 0, deviation: nano(random), len },
			13 => OpKind::ClipFactor { squares: 5, largest: nano(random) },
			_ => OpKind::LearningRate {
				schedule: LearningRate {
					peak: nano(random),
					schedule: Schedule::Cosine { final_rate_nano: 1_000 },
					warmup_steps: random.size(0, 20),
					steps: u32::MAX,
				},
			},
		};
		Case::new(kind, vec![x, y, z, vec![0.75], vec![0.875], scalar])
	});
}
