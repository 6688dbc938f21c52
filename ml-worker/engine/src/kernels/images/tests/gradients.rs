//! Gradients against calculus in binary64 and against candle's autograd on stock operators.

use super::*;
use candle_core::{DType, Device, Tensor, Var};

/// A convolution or a pooling in binary64, written from its definition.
#[derive(Clone, Copy, Debug)]
enum Op {
	Conv,
	Max,
	Mean,
}

/// `[images, planes, out height, out width]`, with as many planes as filters or channels.
fn forward(op: Op, w: &Window, filters: usize, x: &[f64], weight: &[f64]) -> Vec<f64> {
	let (channels, kernel) = (w.channels as usize, w.kernel as usize);
	let at = |i: usize, c: usize, y: usize, column: usize, r: usize, s: usize| {
		let row = w.reads(y as u32, r as u32, w.height)? as usize;
		let column = w.reads(column as u32, s as u32, w.width)? as usize;
		Some(x[((i * channels + c) * w.height as usize + row) * w.width as usize + column])
	};
	let taps = || (0..kernel).flat_map(|r| (0..kernel).map(move |s| (r, s)));
	let planes = if matches!(op, Op::Conv) { filters } else { channels };
	let mut out = Vec::new();
	for i in 0..w.images as usize {
		for o in 0..planes {
			for y in 0..w.out_height() as usize {
				for column in 0..w.out_width() as usize {
					let of = |c| taps().map(move |(r, s)| at(i, c, y, column, r, s));
					out.push(match op {
						Op::Conv => {
							let all = (0..channels).flat_map(of).map(Option::unwrap_or_default);
							all.zip(&weight[o * w.patch() as usize..]).map(|(x, w)| x * w).sum()
						}
						Op::Max => of(o).flatten().fold(f64::NEG_INFINITY, f64::max),
						Op::Mean => of(o).flatten().sum::<f64>() / w.taps() as f64,
					});
				}
			}
		}
	}
	out
}

fn wide(x: &[f32]) -> Vec<f64> {
	x.iter().map(|x| f64::from(*x)).collect()
}

/// The difference quotients of `loss` by each element of `at`.
fn quotients(at: &[f32], loss: impl Fn(&[f64]) -> f64) -> Vec<f64> {
	const H: f64 = 1e-6;
	let mut at = wide(at);
	(0..at.len())
		.map(|i| {
			let kept = at[i];
			let mut loss_at = |x: f64| {
				at[i] = x;
				loss(&at)
			};
			let quotient = (loss_at(kept + H) - loss_at(kept - H)) / (2.0 * H);
			at[i] = kept;
			quotient
		})
		.collect()
}

fn near(found: &[f32], expected: &[f64], what: &str) {
	assert_eq!(found.len(), expected.len());
	let norm = expected.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-3);
	for (f, e) in found.iter().zip(expected) {
		assert!((f64::from(*f) - e).abs() <= 1e-6 * norm, "{what}: {f} and {e}");
	}
}

/// All the gradients' operands for a window.
fn operands(w: &Window, filters: usize) -> [Vec<f32>; 4] {
	let planes = (w.images * w.channels) as usize;
	let (area, windows) = (w.area() as usize, w.out_area() as usize);
	[
		values(planes * area, 1, Style::Plain),
		values(filters * w.patch() as usize, 2, Style::Plain),
		values(w.images as usize * filters * windows, 3, Style::Plain),
		values(planes * windows, 4, Style::Plain),
	]
}

fn window(kernel: u32, stride: u32, padding: u32) -> Window {
	Window { images: 2, channels: 3, height: 7, width: 8, kernel, stride, padding }
}

#[test]
fn gradients_equal_finite_differences() {
	let (filters, mut checked) = (4, 0);
	for isa in Isa::supported() {
		for w in [window(3, 1, 1), window(3, 2, 1), window(5, 1, 0), window(2, 3, 0)] {
			let [x, weight, gradient, _] = operands(&w, filters);
			let total = |x: &[f64], weight: &[f64]| -> f64 {
				let out = forward(Op::Conv, &w, filters, x, weight);
				out.iter().zip(&gradient).map(|(out, g)| out * f64::from(*g)).sum()
			};
			let by_weight = quotients(&weight, |weight| total(&wide(&x), weight));
			let found = conv::conv_weight_grad(isa, &w, filters as u32, &gradient, &x);
			near(&found, &by_weight, "weight");
			let by_image = quotients(&x, |x| total(x, &wide(&weight)));
			let found = conv::conv_input_grad(isa, &w, filters as u32, &gradient, &weight);
			near(&found, &by_image, "image");
			checked += by_weight.len() + by_image.len();
		}
		for w in [window(2, 2, 0), window(3, 2, 0), window(3, 1, 0), window(2, 3, 0)] {
			let [x, _, _, gradient] = operands(&w, filters);
			let by_image = |op| {
				quotients(&x, |x| {
					let out = forward(op, &w, 0, x, &[]);
					out.iter().zip(&gradient).map(|(out, g)| out * f64::from(*g)).sum()
				})
			};
			let maximum = pool::max_pool(isa, &w, &x);
			let found = pool::max_pool_grad(isa, &w, &gradient, &x, &maximum);
			near(&found, &by_image(Op::Max), "maximum");
			near(&pool::avg_pool_grad(isa, &w, &gradient), &by_image(Op::Mean), "mean");
			checked += 2 * x.len();
		}
	}
	println!("{checked} gradients equal their difference quotients");
}

#[test]
fn gradients_equal_candles_autograd() {
	let tensor = |values: &[f32], shape: &[usize]| {
		Tensor::from_slice(values, shape, &Device::Cpu).unwrap().to_dtype(DType::F64).unwrap()
	};
	let numbers = |t: &Tensor| t.flatten_all().unwrap().to_vec1::<f64>().unwrap();
	let filters = 4;
	// candle takes what is left below the last row for what is left beside the last column.
	let square = Window { width: 7, ..window(3, 2, 1) };
	for w in [window(3, 1, 1), square, window(5, 1, 2), window(1, 1, 0)] {
		let [x, weight, gradient, _] = operands(&w, filters);
		let (kernel, stride, padding) = (w.kernel as usize, w.stride as usize, w.padding as usize);
		let images = Var::from_tensor(&tensor(&x, &[2, 3, 7, w.width as usize])).unwrap();
		let filter = Var::from_tensor(&tensor(&weight, &[filters, 3, kernel, kernel])).unwrap();
		let out = images.conv2d(&filter, padding, stride, 1, 1).unwrap();
		let gradients = tensor(&gradient, out.dims());
		let grads = (&out * &gradients).unwrap().sum_all().unwrap().backward().unwrap();
		let (by_weight, by_image) = (grads.get(&filter).unwrap(), grads.get(&images).unwrap());
		for isa in Isa::supported() {
			let found = conv::conv(isa, &w, filters as u32, &x, &weight);
			near(&found, &numbers(&out), "convolution");
			let found = conv::conv_weight_grad(isa, &w, filters as u32, &gradient, &x);
			near(&found, &numbers(by_weight), "weight");
			let found = conv::conv_input_grad(isa, &w, filters as u32, &gradient, &weight);
			near(&found, &numbers(by_image), "image");
		}
	}
	for size in [2u32, 3] {
		let (height, width) = (2 * size, 3 * size);
		let w = Window {
			images: 2,
			channels: 3,
			height,
			width,
			kernel: size,
			stride: size,
			padding: 0,
		};
		let [x, _, _, gradient] = operands(&w, filters);
		let (k, shape) = (size as usize, [2, 3, height as usize, width as usize]);
		let images = Var::from_tensor(&tensor(&x, &shape)).unwrap();
		let gradients = tensor(&gradient, &[2, 3, 2, 3]);
		let grad = |out: &Tensor| {
			let grads = (out * &gradients).unwrap().sum_all().unwrap().backward().unwrap();
			numbers(grads.get(&images).unwrap())
		};
		// candle's own gradient of max_pool2d is that of a mean over the window; that of a
		// maximum over axes is not.
		let windows = images.reshape((6, 2, k, 3, k)).unwrap();
		let largest = windows.max(4).unwrap().max(2).unwrap().reshape((2, 3, 2, 3)).unwrap();
		let mean = images.avg_pool2d(k).unwrap();
		let (by_largest, by_mean) = (grad(&largest), grad(&mean));
		for isa in Isa::supported() {
			let maximum = pool::max_pool(isa, &w, &x);
			near(&maximum, &numbers(&images.max_pool2d(k).unwrap()), "largest");
			let found = pool::max_pool_grad(isa, &w, &gradient, &x, &maximum);
			near(&found, &by_largest, "gradient of the largest");
			near(&pool::avg_pool(isa, &w, &x), &numbers(&mean), "mean");
			near(&pool::avg_pool_grad(isa, &w, &gradient), &by_mean, "gradient of the mean");
		}
	}
}
