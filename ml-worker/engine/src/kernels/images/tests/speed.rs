//! Speed of convolutions beside candle's, for anybody who changes them. It asserts only that the
//! results are close. `cargo test --release -- --ignored --nocapture convolutions_beside`.

use super::*;
use candle_core::{Device, Tensor, Var};
use std::time::Instant;

/// Seconds of the fastest of several turns.
fn fastest(mut f: impl FnMut()) -> f64 {
	let begin = Instant::now();
	let mut best = f64::INFINITY;
	for turn in 0.. {
		let start = Instant::now();
		f();
		best = best.min(start.elapsed().as_secs_f64());
		if turn > 5 && begin.elapsed().as_secs_f64() > 0.4 {
			break;
		}
	}
	best
}

#[test]
#[ignore = "measures"]
fn convolutions_beside_candle() {
	println!("{} threads", rayon::current_num_threads());
	let shapes = [
		// images, channels, height, width, kernel, stride, padding, filters
		([64, 1, 28, 28, 3, 1, 1], 16),
		([64, 1, 28, 28, 5, 1, 2], 32),
		([64, 16, 14, 14, 3, 1, 1], 32),
		([64, 32, 14, 14, 3, 1, 1], 64),
		([64, 32, 14, 14, 5, 1, 2], 64),
		([64, 16, 12, 12, 5, 1, 0], 32),
		([64, 32, 28, 28, 3, 1, 1], 32),
		([64, 32, 28, 28, 1, 1, 0], 32),
		([64, 32, 28, 28, 3, 2, 1], 64),
		([64, 64, 7, 7, 3, 1, 1], 64),
		([8, 64, 56, 56, 3, 1, 1], 64),
	];
	for (shape, filters) in shapes {
		let [images, channels, height, width, k, stride, padding] = shape;
		let w = Window { images, channels, height, width, kernel: k, stride, padding };
		let of = |len: u64, seed| values(len as usize, seed, Style::Plain);
		let x = of(u64::from(images * channels) * w.area(), 1);
		let weight = of(u64::from(filters) * w.patch(), 2);
		let gradient = of(u64::from(images * filters) * w.out_area(), 3);
		let flop = 2.0 * gradient.len() as f64 * w.patch() as f64;
		let [i, c, h, wd, f, k] = [images, channels, height, width, filters, k].map(|n| n as usize);
		let image = Var::from_slice(&x, (i, c, h, wd), &Device::Cpu).unwrap();
		let filter = Var::from_slice(&weight, (f, c, k, k), &Device::Cpu).unwrap();
		let run = || image.conv2d(&filter, padding as usize, stride as usize, 1, 1).unwrap();
		let out = run();
		let theirs = fastest(|| drop(run()));
		let g = Tensor::from_slice(&gradient, out.dims(), &Device::Cpu).unwrap();
		let loss = (&out * &g).unwrap().sum_all().unwrap();
		let back = fastest(|| drop(loss.backward().unwrap()));
		let speed = |seconds: f64| flop / seconds / 1e9;
		print!("{shape:?} {filters}: candle {:.1} back {:.1}", speed(theirs), 2.0 * speed(back));
		for isa in Isa::supported().into_iter().filter(|isa| *isa != Isa::Scalar) {
			let found = conv::conv(isa, &w, filters, &x, &weight);
			let expected: Vec<f32> = out.flatten_all().unwrap().to_vec1().unwrap();
			assert!(found.iter().zip(&expected).all(|(f, e)| (f - e).abs() < 1e-2));
			let forward = fastest(|| drop(conv::conv(isa, &w, filters, &x, &weight)));
			let by_weight =
				fastest(|| drop(conv::conv_weight_grad(isa, &w, filters, &gradient, &x)));
			let by_image =
				fastest(|| drop(conv::conv_input_grad(isa, &w, filters, &gradient, &weight)));
			print!(
				" | {isa} {:.1} weight {:.1} image {:.1}",
				speed(forward),
				speed(by_weight),
				speed(by_image)
			);
		}
		println!();
	}
}

#[test]
#[ignore = "measures"]
fn pools_beside_candle() {
	println!("{} threads; microseconds", rayon::current_num_threads());
	for (channels, size, kernel, stride) in [(16, 28, 2, 2), (32, 14, 2, 2), (16, 28, 3, 2)] {
		let w =
			Window { images: 64, channels, height: size, width: size, kernel, stride, padding: 0 };
		let area = w.area() as usize;
		let x = values(64 * channels as usize * area, 1, Style::Plain);
		let (c, s) = (channels as usize, size as usize);
		let image = Var::from_slice(&x, (64, c, s, s), &Device::Cpu).unwrap();
		let bias = Var::from_slice(&x[..c], (1, c, 1, 1), &Device::Cpu).unwrap();
		let (k, stride) = (kernel as usize, stride as usize);
		let micro = |seconds: f64| seconds * 1e6;
		let run = || image.max_pool2d_with_stride(k, stride).unwrap();
		let mean = || image.avg_pool2d_with_stride(k, stride).unwrap();
		let (max, avg) = (fastest(|| drop(run())), fastest(|| drop(mean())));
		let add = fastest(|| drop(image.broadcast_add(&bias).unwrap()));
		let back = |out: Tensor| {
			let loss = out.sum_all().unwrap();
			fastest(|| drop(loss.backward().unwrap()))
		};
		let (max_back, avg_back) =
			if k == stride { (back(run()), back(mean())) } else { (0.0, 0.0) };
		print!(
			"{w:?}: candle max {:.0} avg {:.0} max back {:.0} avg back {:.0} add {:.0}",
			micro(max),
			micro(avg),
			micro(max_back),
			micro(avg_back),
			micro(add)
		);
		for isa in Isa::supported().into_iter().filter(|isa| *isa != Isa::Scalar) {
			let maximum = pool::max_pool(isa, &w, &x);
			let all = [
				fastest(|| drop(pool::max_pool(isa, &w, &x))),
				fastest(|| drop(pool::avg_pool(isa, &w, &x))),
				fastest(|| drop(pool::max_pool_grad(isa, &w, &maximum, &x, &maximum))),
				fastest(|| drop(pool::avg_pool_grad(isa, &w, &maximum))),
				fastest(|| drop(channels::add_channel(isa, &x, &x[..c], area))),
				fastest(|| drop(channels::sum_channels(isa, &x, c, area))),
			];
			print!(" | {isa}");
			for (name, seconds) in
				["max", "avg", "max grad", "avg grad", "add", "sum"].iter().zip(all)
			{
				print!(" {name} {:.0}", micro(seconds));
			}
		}
		println!();
	}
}
