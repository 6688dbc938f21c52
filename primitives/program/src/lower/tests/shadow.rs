//! The forward operators in binary64, written independently: finite differences are taken of these.

use crate::{
	lower::NORM_EPSILON,
	ops::{Factor, OpKind, Program, Role, TensorId, Window},
	reference::StepContext,
};
use std::collections::BTreeMap;
use trainyard_strict::{
	philox::{Stream, StreamName},
	Function,
};

/// The parameters, by name.
pub type Wide = BTreeMap<String, Vec<f64>>;

fn gelu(x: f64) -> f64 {
	0.5 * x * libm::erfc(-x / core::f64::consts::SQRT_2)
}

fn apply(function: Function, x: f64) -> f64 {
	match function {
		Function::Gelu => gelu(x),
		Function::Silu => x / (1.0 + libm::exp(-x)),
		Function::Tanh => libm::tanh(x),
		Function::Sigmoid => 1.0 / (1.0 + libm::exp(-x)),
	}
}

/// Elements of an image layer by their places; 0 outside.
fn pixel(x: &[f64], w: &Window, i: u32, c: u32, row: i64, column: i64) -> f64 {
	if row < 0 || column < 0 || row >= w.height.into() || column >= w.width.into() {
		return 0.0;
	}
	let at = ((i * w.channels + c) * w.height + row as u32) * w.width + column as u32;
	x[at as usize]
}

/// What `f` makes of every window of every image, on `planes` planes.
fn each_window(w: &Window, planes: u32, f: impl Fn(u32, u32, i64, i64) -> f64) -> Vec<f64> {
	let mut out = Vec::new();
	for i in 0..w.images {
		for plane in 0..planes {
			for y in 0..w.out_height() {
				for x in 0..w.out_width() {
					let top = i64::from(y * w.stride) - i64::from(w.padding);
					let left = i64::from(x * w.stride) - i64::from(w.padding);
					out.push(f(i, plane, top, left));
				}
			}
		}
	}
	out
}

fn product(a: &[f64], b: &[f64], t: (bool, bool), m: usize, n: usize, k: usize) -> Vec<f64> {
	let mut out = vec![0.0; m * n];
	for i in 0..m {
		for j in 0..n {
			out[i * n + j] = (0..k)
				.map(|p| {
					let left = if t.0 { a[p * m + i] } else { a[i * k + p] };
					left * if t.1 { b[j * k + p] } else { b[p * n + j] }
				})
				.sum();
		}
	}
	out
}

/// The mean loss of the training list at these parameters.
pub fn loss(
	program: &Program,
	features: &[f32],
	labels: &[u32],
	parameters: &Wide,
	moment: StepContext,
) -> f64 {
	let mut values: Vec<Vec<f64>> = program
		.tensors
		.iter()
		.map(|t| match t.role {
			Role::Features => features.iter().map(|x| f64::from(*x)).collect(),
			Role::State => parameters.get(&t.name).cloned().unwrap_or_default(),
			_ => vec![],
		})
		.collect();
	for op in &program.ops {
		let v = |id: TensorId| values[id as usize].as_slice();
		let out: Vec<f64> = match op.kind {
			OpKind::MatMul { a, b, transpose_a, transpose_b, m, n, k } => {
				let t = (transpose_a, transpose_b);
				product(v(a), v(b), t, m as usize, n as usize, k as usize)
			}
			OpKind::BatchMatMul { a, b, transpose_a, transpose_b, m, n, k, .. } => {
				let (m, n, k) = (m as usize, n as usize, k as usize);
				let pairs = v(a).chunks(m * k).zip(v(b).chunks(k * n));
				let t = (transpose_a, transpose_b);
				pairs.flat_map(|(a, b)| product(a, b, t, m, n, k)).collect()
			}
			OpKind::AddRow { a, row, cols, .. } => {
				let row = v(row);
				v(a).iter().enumerate().map(|(i, x)| x + row[i % cols as usize]).collect()
			}
			OpKind::AddChannel { x, channel, channels, area, .. } => {
				let of = |i: usize| v(channel)[i / area as usize % channels as usize];
				v(x).iter().enumerate().map(|(i, x)| x + of(i)).collect()
			}
			OpKind::Relu { a, .. } => v(a).iter().map(|x| x.max(0.0)).collect(),
			OpKind::Activation { function, x, .. } => {
				v(x).iter().map(|x| apply(function, *x)).collect()
			}
			OpKind::MulAdd { x, y, factor: Factor::Nano(factor), negate: true, .. } => {
				let factor = factor.0 as f64 / 1e9;
				v(x).iter().zip(v(y)).map(|(x, y)| y - factor * x).collect()
			}
			OpKind::Add { x, y, .. } => v(x).iter().zip(v(y)).map(|(x, y)| x + y).collect(),
			OpKind::SwapAxes { x, outer, a, b, inner } => {
				let (a, b, inner) = (a as usize, b as usize, inner as usize);
				let mut out = vec![0.0; v(x).len()];
				for o in 0..outer as usize {
					for i in 0..a {
						for j in 0..b {
							for k in 0..inner {
								out[((o * b + j) * a + i) * inner + k] =
									v(x)[((o * a + i) * b + j) * inner + k];
							}
						}
					}
				}
				out
			}
			OpKind::Conv2d { x, weight, window: w, filters } => {
				each_window(&w, filters, |i, o, top, left| {
					let mut total = 0.0;
					for c in 0..w.channels {
						for r in 0..w.kernel {
							for s in 0..w.kernel {
								let at = ((o * w.channels + c) * w.kernel + r) * w.kernel + s;
								let (row, column) = (top + i64::from(r), left + i64::from(s));
								total +=
									v(weight)[at as usize] * pixel(v(x), &w, i, c, row, column);
							}
						}
					}
					total
				})
			}
			OpKind::MaxPool2d { x, window: w } => each_window(&w, w.channels, |i, c, top, left| {
				let taps = (0..w.kernel).flat_map(|r| (0..w.kernel).map(move |s| (r, s)));
				let seen = taps
					.map(|(r, s)| pixel(v(x), &w, i, c, top + i64::from(r), left + i64::from(s)));
				seen.fold(f64::NEG_INFINITY, f64::max)
			}),
			OpKind::AvgPool2d { x, window: w } => each_window(&w, w.channels, |i, c, top, left| {
				let taps = (0..w.kernel).flat_map(|r| (0..w.kernel).map(move |s| (r, s)));
				let seen = taps
					.map(|(r, s)| pixel(v(x), &w, i, c, top + i64::from(r), left + i64::from(s)));
				seen.sum::<f64>() / f64::from(w.kernel * w.kernel)
			}),
			OpKind::LayerNorm { x, weight, bias, epsilon, cols, .. } => {
				assert_eq!(epsilon, NORM_EPSILON);
				let n = cols as usize;
				v(x).chunks(n)
					.flat_map(|row| {
						let mean = row.iter().sum::<f64>() / n as f64;
						let var = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
						let s = (var + 1e-5).sqrt();
						let scaled = row.iter().zip(v(weight)).zip(v(bias));
						scaled.map(|((x, w), b)| (x - mean) / s * w + b).collect::<Vec<_>>()
					})
					.collect()
			}
			OpKind::RmsNorm { x, weight, epsilon, cols, .. } => {
				assert_eq!(epsilon, NORM_EPSILON);
				let n = cols as usize;
				v(x).chunks(n)
					.flat_map(|row| {
						let squares = row.iter().map(|x| x * x).sum::<f64>() / n as f64;
						let s = (squares + 1e-5).sqrt();
						row.iter().zip(v(weight)).map(|(x, w)| x / s * w).collect::<Vec<_>>()
					})
					.collect()
			}
			OpKind::Embedding { table, tokens, width, .. } => v(tokens)
				.iter()
				.flat_map(|t| v(table)[*t as usize * width as usize..][..width as usize].to_vec())
				.collect(),
			OpKind::CausalSoftmax { x, size, depth, .. } => {
				let n = size as usize;
				v(x).chunks(n)
					.enumerate()
					.flat_map(|(i, row)| {
						let factor = 1.0 / f64::from(depth).sqrt();
						let e: Vec<f64> =
							row[..=i % n].iter().map(|x| (x * factor).exp()).collect();
						let total: f64 = e.iter().sum();
						(0..n).map(|j| e.get(j).map_or(0.0, |e| e / total)).collect::<Vec<_>>()
					})
					.collect()
			}
			OpKind::Dropout { x, rate, site, .. } => {
				let stream = Stream::new(&moment.seed.0, StreamName::Dropout);
				let rate = rate.0 as f64 / 1e9;
				let keep = |i: usize| {
					let block = i as u64 / 4 + u64::from(site) * (1 << 32);
					let word = stream.block(moment.step, block)[i % 4];
					f64::from(word) / f64::from(u32::MAX) >= rate
				};
				let scaled = |(i, x): (usize, &f64)| if keep(i) { x / (1.0 - rate) } else { 0.0 };
				v(x).iter().enumerate().map(scaled).collect()
			}
			OpKind::LogSoftmax { logits, cols, .. } => v(logits)
				.chunks(cols as usize)
				.flat_map(|row| {
					let total = row.iter().map(|x| x.exp()).sum::<f64>().ln();
					row.iter().map(|x| x - total).collect::<Vec<_>>()
				})
				.collect(),
			OpKind::RowLoss { log_p, cols, .. } => {
				let rows = v(log_p).chunks(cols as usize).zip(labels);
				rows.map(|(row, label)| -row[*label as usize]).collect()
			}
			OpKind::SquaredLoss { outputs, cols, .. } => {
				let rows = v(outputs).chunks(cols as usize).zip(labels);
				rows.map(|(row, label)| {
					let target = |j: usize| f64::from(u8::from(j == *label as usize));
					let squares = row.iter().enumerate().map(|(j, x)| (x - target(j)).powi(2));
					squares.sum::<f64>() / f64::from(cols)
				})
				.collect()
			}
			OpKind::Mean { a, .. } => return v(a).iter().sum::<f64>() / v(a).len() as f64,
			ref other => panic!("{other:?} before the loss"),
		};
		values[op.out as usize] = out;
	}
	panic!("a list without a loss")
}
