//! Measures strict matrix products against those of stock candle, and against the most that the
//! processor can do.

use super::{median, numbers};
use anyhow::{ensure, Context};
use candle_core::{Device, Tensor};
use serde::{Deserialize, Serialize};
use std::{
	hint::black_box,
	sync::Barrier,
	time::{Duration, Instant},
};
use trainyard_engine::{
	kernels::matmul::{matmul, multiply_adds, Operand},
	Isa,
};

/// Widths of the square products that are measured by default.
pub const SQUARES: [usize; 8] = [128, 256, 384, 512, 768, 1_024, 1_536, 2_048];

/// Layers that are measured by default: inputs and outputs.
pub const LAYERS: [(usize, usize); 3] = [(784, 128), (128, 10), (256, 1_024)];

/// Batches with which these layers are measured.
pub const BATCHES: [usize; 3] = [32, 64, 256];

/// A product: `m x n` results of `k` terms each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
	/// What it is.
	pub name: String,
	/// Rows of the result.
	pub m: usize,
	/// Columns of the result.
	pub n: usize,
	/// Terms.
	pub k: usize,
	/// Whether the left operand is stored transposed.
	pub a_transposed: bool,
	/// Whether the right operand is stored transposed.
	pub b_transposed: bool,
}

impl Case {
	/// Returns a product of matrices stored row by row.
	pub fn plain([m, n, k]: [usize; 3]) -> Self {
		let name = if m == n && n == k { format!("{m}") } else { format!("{m}x{n}x{k}") };
		Self { name, m, n, k, a_transposed: false, b_transposed: false }
	}

	/// Returns the three products of a linear layer, as a training step makes them: forward (the
	/// weight is stored `outputs x inputs`), the gradient of the weight and that of the input.
	pub fn layer((inputs, outputs): (usize, usize), batch: usize) -> [Self; 3] {
		let name = |product| format!("{inputs}x{outputs} batch {batch} {product}");
		let forward = Self {
			name: name("forward"),
			m: batch,
			n: outputs,
			k: inputs,
			a_transposed: false,
			b_transposed: true,
		};
		let weight = Self {
			name: name("weight gradient"),
			m: outputs,
			n: inputs,
			k: batch,
			a_transposed: true,
			b_transposed: false,
		};
		let input = Self {
			name: name("input gradient"),
			m: batch,
			n: inputs,
			k: outputs,
			a_transposed: false,
			b_transposed: false,
		};
		[forward, weight, input]
	}

	/// Returns all products of [`LAYERS`] with [`BATCHES`].
	pub fn layers() -> Vec<Self> {
		let of = |layer| BATCHES.into_iter().flat_map(move |batch| Self::layer(layer, batch));
		LAYERS.into_iter().flat_map(of).collect()
	}

	/// Returns the number of floating-point operations; a multiply-add counts as two.
	pub fn flop(&self) -> u64 {
		2 * (self.m * self.n * self.k) as u64
	}

	/// Returns the bytes of both operands and the result, which is the least that has to move.
	pub fn bytes(&self) -> u64 {
		4 * (self.m * self.k + self.k * self.n + self.m * self.n) as u64
	}
}

/// The measurements of a case. Rates are 10^9 floating-point operations per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
	/// The product.
	#[serde(flatten)]
	pub case: Case,
	/// Threads, of both sides.
	pub threads: usize,
	/// See [`Case::flop`].
	pub flop: u64,
	/// See [`Case::bytes`].
	pub bytes: u64,
	/// Turns.
	pub turns: usize,
	/// Median rate of candle.
	pub candle: f64,
	/// Each instruction set that was measured.
	pub kernels: Vec<KernelRate>,
}

/// The measurements of an instruction set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelRate {
	/// Its name.
	pub kernel: String,
	/// Median rate.
	pub rate: f64,
	/// Median of its rate over candle's in the same turn.
	pub ratio: f64,
	/// Median rate of multiply-adds between registers, on as many threads: the most that this
	/// instruction set can do here.
	pub peak: f64,
}

/// Shortest time that one measurement may take: the resolution of the clock and wake-ups do not
/// matter then.
const SHORTEST: Duration = Duration::from_millis(4);

/// Fewest turns.
const TURNS: usize = 7;

/// Measures `case` for about `time`, in at least seven turns, on the threads that rayon and
/// candle have in this process.
///
/// # Errors
/// Fails if candle or one of our products fails, or if the bits of two instruction sets differ.
pub fn measure(case: Case, isas: &[Isa], time: Duration) -> anyhow::Result<Row> {
	let threads = rayon::current_num_threads();
	let Case { m, n, k, .. } = case;
	let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
	let tensor = |data: &[f32], rows, columns, transposed| match transposed {
		true => Tensor::from_slice(data, (columns, rows), &Device::Cpu)?.t(),
		false => Tensor::from_slice(data, (rows, columns), &Device::Cpu),
	};
	let left = tensor(&a, m, k, case.a_transposed)?;
	let right = tensor(&b, k, n, case.b_transposed)?;
	let candle = || left.matmul(&right);
	let ours = |isa: Isa| {
		let a = Operand { data: &a, transposed: case.a_transposed };
		let b = Operand { data: &b, transposed: case.b_transposed };
		let mut out = vec![0.0; m * n];
		matmul(isa, a, b, [m, n, k], &mut out);
		Tensor::from_vec(out, (m, n), &Device::Cpu)
	};
	check(candle, ours, isas, k)?;

	let started = Instant::now();
	candle()?;
	let repeats = SHORTEST.as_secs_f64() / started.elapsed().as_secs_f64().max(1e-9);
	let repeats = repeats.ceil().max(1.0) as usize;
	let work = case.flop() as f64 * repeats as f64 / 1e9;
	let rate = |run: &dyn Fn() -> candle_core::Result<Tensor>| -> anyhow::Result<f64> {
		let started = Instant::now();
		for _ in 0..repeats {
			black_box(run()?);
		}
		Ok(work / started.elapsed().as_secs_f64())
	};
	let mut candle_rates = Vec::new();
	let mut rates = vec![Vec::new(); isas.len()];
	let mut ratios = vec![Vec::new(); isas.len()];
	let mut peaks = vec![Vec::new(); isas.len()];
	let started = Instant::now();
	while candle_rates.len() < TURNS || started.elapsed() < time {
		let of_candle = rate(&candle)?;
		candle_rates.push(of_candle);
		for (index, isa) in isas.iter().enumerate() {
			let of_kernel = rate(&|| ours(*isa))?;
			rates[index].push(of_kernel);
			ratios[index].push(of_kernel / of_candle);
			peaks[index].push(peak(*isa, threads));
		}
	}
	let of = |(index, isa): (usize, &Isa)| KernelRate {
		kernel: isa.to_string(),
		rate: median(&rates[index]),
		ratio: median(&ratios[index]),
		peak: median(&peaks[index]),
	};
	Ok(Row {
		threads,
		flop: case.flop(),
		bytes: case.bytes(),
		turns: candle_rates.len(),
		candle: median(&candle_rates),
		kernels: isas.iter().enumerate().map(of).collect(),
		case,
	})
}

/// Fails unless all instruction sets give equal bits and candle's result is near to them.
fn check(
	candle: impl Fn() -> candle_core::Result<Tensor>,
	ours: impl Fn(Isa) -> candle_core::Result<Tensor>,
	isas: &[Isa],
	k: usize,
) -> anyhow::Result<()> {
	let elements = |tensor: Tensor| tensor.flatten_all()?.to_vec1::<f32>();
	let of_candle = elements(candle()?)?;
	let mut first: Option<Vec<f32>> = None;
	for isa in isas {
		let found = elements(ours(*isa)?)?;
		// Numbers are in (-1, 1): rounding cannot bring sums further apart than this.
		let most = k as f32 * k as f32 * f32::EPSILON;
		let near = found.iter().zip(&of_candle).all(|(x, y)| (x - y).abs() <= most);
		ensure!(near, "the {isa} kernel and candle differ by more than {most:e}");
		let same =
			|first: &Vec<f32>| first.iter().zip(&found).all(|(x, y)| x.to_bits() == y.to_bits());
		ensure!(first.as_ref().is_none_or(same), "the {isa} kernel gives other bits");
		first.get_or_insert(found);
	}
	Ok(())
}

/// Measures the rate of multiply-adds between registers, `threads` threads at a time.
fn peak(isa: Isa, threads: usize) -> f64 {
	/// About a millisecond.
	const TURNS: u64 = 1 << 18;
	let start = Barrier::new(threads);
	let one = || {
		start.wait();
		let started = Instant::now();
		let flop = multiply_adds(isa, TURNS);
		flop as f64 / started.elapsed().as_secs_f64() / 1e9
	};
	std::thread::scope(|scope| {
		let others: Vec<_> = (1..threads).map(|_| scope.spawn(one)).collect();
		one() + others.into_iter().filter_map(|other| other.join().ok()).sum::<f64>()
	})
}

/// Returns the cases that a list of sizes names, separated by commas: `N` (a square product),
/// `MxNxK`, or `layers` (see [`Case::layers`]).
///
/// # Errors
/// Fails if an entry is none of these.
pub fn parse_cases(list: &str) -> anyhow::Result<Vec<Case>> {
	let mut cases = Vec::new();
	for entry in list.split(',').map(str::trim) {
		if entry == "layers" {
			cases.extend(Case::layers());
			continue;
		}
		let sizes: Option<Vec<usize>> =
			entry.split('x').map(|size| size.parse().ok().filter(|size| *size > 0)).collect();
		cases.push(match sizes.as_deref() {
			Some([size]) => Case::plain([*size; 3]),
			Some([m, n, k]) => Case::plain([*m, *n, *k]),
			_ => {
				return Err(anyhow::anyhow!("\"{entry}\" is no size"))
					.context("sizes are N, MxNxK or layers, separated by commas")
			}
		});
	}
	Ok(cases)
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn sizes_are_read() {
		let cases = parse_cases("128, 3x4x5,layers").unwrap();
		assert_eq!(cases.len(), 2 + 27);
		assert_eq!(cases[0], Case::plain([128; 3]));
		assert_eq!((cases[1].m, cases[1].n, cases[1].k), (3, 4, 5));
		assert_eq!((cases[0].flop(), cases[0].bytes()), (2 << 21, 12 << 14));
		for wrong in ["", "0", "3x4", "1x2x3x4", "layer", "-1"] {
			let error = format!("{:#}", parse_cases(wrong).unwrap_err());
			assert!(error.contains("MxNxK") && error.contains(wrong), "{error}");
		}
	}

	#[test]
	fn a_layer_has_three_products_of_equal_work() {
		let [forward, weight, input] = Case::layer((784, 128), 32);
		assert_eq!((forward.m, forward.n, forward.k), (32, 128, 784));
		assert_eq!((weight.m, weight.n, weight.k), (128, 784, 32));
		assert_eq!((input.m, input.n, input.k), (32, 784, 128));
		assert_eq!(forward.flop(), weight.flop());
		assert_eq!(forward.flop(), input.flop());
	}

	#[test]
	fn every_layout_is_measured() {
		let isas = Isa::supported();
		for case in Case::layer((33, 17), 5) {
			let row = measure(case.clone(), &isas, Duration::ZERO).unwrap();
			assert_eq!((&row.case, row.flop), (&case, 2 * 33 * 17 * 5));
			assert!(row.turns >= TURNS && row.candle > 0.0);
			assert_eq!(row.kernels.len(), isas.len());
			for rate in &row.kernels {
				assert!(rate.rate > 0.0 && rate.ratio > 0.0 && rate.peak > 0.0, "{rate:?}");
			}
			let text = serde_json::to_string(&row).unwrap();
			let read: Row = serde_json::from_str(&text).unwrap();
			assert_eq!((read.case, read.turns), (row.case, row.turns));
		}
	}
}
