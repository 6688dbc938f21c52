//! Every kernel against the reference executor, bit by bit, with every instruction set and number
//! of threads.

mod gradients;
mod speed;

use super::{
	super::{tests::*, Isa, PARALLEL_FROM},
	channels, conv, pool,
};
use proptest::prelude::*;
use std::sync::OnceLock;
use trainyard_program::{
	ops::{OpKind, Window},
	reference as exec,
	reference::StepContext,
};

/// Multiply-adds of a case's product at most, about.
const WORK: u64 = 200_000;

/// Elements of a case's planes at most, about.
const ELEMENTS: u64 = 20_000;

/// Returns the result of the reference executor.
fn reference(kind: OpKind, operands: &[&[f32]]) -> Vec<f32> {
	let read = |id: u32| Ok::<_, exec::ExecError>(operands[id as usize]);
	exec::operator(&kind, &[], StepContext::default(), read).unwrap()
}

/// Runs `f` with every instruction set and with 1, 2 and 8 threads, in a pool that has that many.
fn everywhere(
	expected: &[f32],
	f: impl Fn(Isa, usize) -> Vec<f32> + Sync,
) -> Result<(), TestCaseError> {
	static POOLS: OnceLock<[rayon::ThreadPool; 3]> = OnceLock::new();
	let pools = POOLS.get_or_init(|| {
		[1, 2, 8]
			.map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
	});
	for isa in Isa::supported() {
		for pool in pools {
			let threads = pool.current_num_threads();
			let found = pool.install(|| f(isa, threads));
			same(&found, expected)
				.map_err(|e| TestCaseError::fail(format!("{isa}, {threads} threads: {e}")))?;
		}
	}
	Ok(())
}

/// Numbers of which `infinite` of a thousand are infinities.
fn numbers(len: usize, seed: u64, style: Style, infinite: usize) -> Vec<f32> {
	let mut all = values(len, seed, style);
	for (i, x) in all.iter_mut().enumerate() {
		if (i * 7_919 + seed as usize % 1_000) % 1_000 < infinite {
			*x = f32::INFINITY.copysign(*x);
		}
	}
	all
}

/// A convolution: its windows and filters.
fn convolution() -> impl Strategy<Value = (Window, u32)> {
	let sizes = (1u32..8, 1u32..4, 0u32..14, 0u32..14);
	(sizes, any::<prop::sample::Index>(), 0u32..6, 1u32..71, 1u32..41).prop_map(
		|((kernel, stride, height, width), padding, images, channels, filters)| {
			let padding = padding.index(kernel as usize / 2 + 1) as u32;
			let least = kernel.saturating_sub(2 * padding).max(1);
			let (height, width) = (height + least, width + least);
			let w = Window { images, channels, height, width, kernel, stride, padding };
			// Where a case is too large, it gets fewer filters, images and channels, in this order.
			let work = |w: &Window, filters: u32| {
				u64::from(w.images) * w.out_area() * w.patch() * u64::from(filters)
			};
			let shrunk = |n: u32, work: u64| (u64::from(n) * WORK / work.max(WORK)).max(1) as u32;
			let filters = shrunk(filters, work(&w, filters));
			let w = Window { images: shrunk(w.images, work(&w, filters)).min(w.images), ..w };
			(Window { channels: shrunk(w.channels, work(&w, filters)), ..w }, filters)
		},
	)
}

/// Windows without padding.
fn pooling() -> impl Strategy<Value = Window> {
	(1u32..8, 1u32..4, 0u32..40, 0u32..40, 0u32..6, 1u32..71).prop_map(
		|(kernel, stride, height, width, images, channels)| {
			let (height, width) = (height + kernel, width + kernel);
			let elements = u64::from(images * channels * height * width).max(ELEMENTS);
			let channels = (u64::from(channels) * ELEMENTS / elements).max(1) as u32;
			Window { images, channels, height, width, kernel, stride, padding: 0 }
		},
	)
}

fn infinite() -> impl Strategy<Value = usize> {
	prop::sample::select(vec![0usize, 0, 1, 300])
}

/// The three operators of a convolution.
fn check_convolution(
	w: Window,
	filters: u32,
	seed: u64,
	style: Style,
	infinite: usize,
) -> Result<(), TestCaseError> {
	let of = |len: u64, seed| numbers(len as usize, seed, style, infinite);
	let x = of(u64::from(w.images * w.channels) * w.area(), seed);
	let weight = of(u64::from(filters) * w.patch(), seed ^ 1);
	let gradient = of(u64::from(w.images * filters) * w.out_area(), seed ^ 2);
	let kind = OpKind::Conv2d { x: 0, weight: 1, window: w, filters };
	let expected = reference(kind, &[&x, &weight]);
	everywhere(&expected, |isa, n| conv::conv_with(n, isa, &w, filters, &x, &weight))?;
	let kind = OpKind::Conv2dWeightGrad { gradient: 0, x: 1, window: w, filters };
	let expected = reference(kind, &[&gradient, &x]);
	// All results of blocks at once, some, and one after the other.
	for kept in [usize::MAX, 2 * expected.len(), 0] {
		everywhere(&expected, |isa, n| {
			conv::weight_grad_with(n, kept, isa, &w, filters, &gradient, &x)
		})?;
	}
	let kind = OpKind::Conv2dInputGrad { gradient: 0, weight: 1, window: w, filters };
	let expected = reference(kind, &[&gradient, &weight]);
	everywhere(&expected, |isa, n| conv::input_grad_with(n, isa, &w, filters, &gradient, &weight))
}

/// The four operators of pooling.
fn check_pooling(w: Window, seed: u64, style: Style, infinite: usize) -> Result<(), TestCaseError> {
	let planes = u64::from(w.images * w.channels);
	let x = numbers((planes * w.area()) as usize, seed, style, infinite);
	let gradient = numbers((planes * w.out_area()) as usize, seed ^ 1, style, infinite);
	let maximum = reference(OpKind::MaxPool2d { x: 0, window: w }, &[&x]);
	everywhere(&maximum, |isa, n| pool::pool_on(n, isa, &w, pool::Largest, &x))?;
	let kind = OpKind::MaxPool2dGrad { gradient: 0, x: 1, maximum: 2, window: w };
	let expected = reference(kind, &[&gradient, &x, &maximum]);
	everywhere(&expected, |isa, n| pool::max_pool_grad_on(n, isa, &w, &gradient, &x, &maximum))?;
	let expected = reference(OpKind::AvgPool2d { x: 0, window: w }, &[&x]);
	everywhere(&expected, |isa, n| pool::pool_on(n, isa, &w, pool::Mean, &x))?;
	let expected = reference(OpKind::AvgPool2dGrad { gradient: 0, window: w }, &[&gradient]);
	everywhere(&expected, |isa, n| pool::avg_pool_grad_on(n, isa, &w, &gradient))
}

/// The operators on channels.
fn check_channels(
	[images, channels, area]: [u32; 3],
	seed: u64,
	style: Style,
	infinite: usize,
) -> Result<(), TestCaseError> {
	let (count, places) = (channels as usize, area as usize);
	let area = u64::from(area);
	let x = numbers(images as usize * count * places, seed, style, infinite);
	let channel = numbers(count, seed ^ 1, style, infinite);
	let kind = OpKind::AddChannel { x: 0, channel: 1, images, channels, area };
	let expected = reference(kind, &[&x, &channel]);
	everywhere(&expected, |isa, n| channels::add_channel_on(n, isa, &x, &channel, places))?;
	let kind = OpKind::SumChannels { x: 0, images, channels, area };
	let expected = reference(kind, &[&x]);
	everywhere(&expected, |isa, n| channels::sum_channels_on(n, isa, &x, count, places))
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(256))]

	#[test]
	fn any_convolution_equals_the_reference(
		(w, filters) in convolution(),
		seed in any::<u64>(),
		style in style(),
		infinite in infinite(),
	) {
		check_convolution(w, filters, seed, style, infinite)?;
	}

	/// Windows of 2 at a distance of 2 have loops of their own.
	#[test]
	fn any_pooling_equals_the_reference(
		w in pooling(),
		halving in prop::bool::weighted(0.3),
		seed in any::<u64>(),
		style in style(),
		infinite in infinite(),
	) {
		let w = match halving {
			true => Window { kernel: 2, stride: 2, height: w.height + 1, width: w.width + 1, ..w },
			false => w,
		};
		check_pooling(w, seed, style, infinite)?;
	}

	#[test]
	fn any_channels_equal_the_reference(
		images in 0u32..6,
		channels in 1u32..20,
		area in prop_oneof![1u32..40, 250u32..270, 1_000u32..1_100],
		seed in any::<u64>(),
		style in style(),
		infinite in infinite(),
	) {
		check_channels([images, channels, area], seed, style, infinite)?;
	}
}

/// Shapes of which the random ones are too small: several blocks of terms in each product,
/// several blocks of panels and of channels.
#[test]
fn large_convolutions_equal_the_reference() {
	for (index, (w, filters)) in [
		// images, channels, height, width, kernel, stride, padding
		([2, 70, 9, 8, 3, 1, 1], 33),
		([1, 3, 5, 6, 3, 2, 1], 1_030),
		([5, 2, 28, 28, 5, 1, 2], 6),
		([70, 1, 7, 7, 3, 1, 0], 20),
		([1, 40, 3, 300, 2, 1, 0], 40),
		([1_100, 2, 2, 2, 2, 1, 0], 3),
		([2, 30, 34, 31, 1, 1, 0], 9),
		([3, 4, 40, 40, 7, 3, 3], 5),
		([1, 60, 33, 33, 3, 1, 1], 3),
	]
	.into_iter()
	.enumerate()
	{
		let [images, channels, height, width, kernel, stride, padding] = w;
		let w = Window { images, channels, height, width, kernel, stride, padding };
		for style in [Style::Plain, Style::Wild] {
			check_convolution(w, filters, index as u64, style, 0).unwrap();
		}
	}
}

/// Calls the public functions, which choose the number of threads, at sizes where they choose
/// several.
#[test]
fn large_operators_equal_the_reference() {
	let w =
		Window { images: 9, channels: 8, height: 61, width: 63, kernel: 2, stride: 2, padding: 0 };
	let x = values((u64::from(w.images * w.channels) * w.area()) as usize, 1, Style::Plain);
	assert!(x.len() > PARALLEL_FROM);
	let channel = values(8, 2, Style::Plain);
	let maximum = reference(OpKind::MaxPool2d { x: 0, window: w }, &[&x]);
	let mean = reference(OpKind::AvgPool2d { x: 0, window: w }, &[&x]);
	let gradient = values(maximum.len(), 3, Style::Coarse);
	let kind = OpKind::MaxPool2dGrad { gradient: 0, x: 1, maximum: 2, window: w };
	let of_maximum = reference(kind, &[&gradient, &x, &maximum]);
	let of_mean = reference(OpKind::AvgPool2dGrad { gradient: 0, window: w }, &[&gradient]);
	let (images, channels, area) = (w.images, w.channels, w.area());
	let added = OpKind::AddChannel { x: 0, channel: 1, images, channels, area };
	let added = reference(added, &[&x, &channel]);
	let summed = reference(OpKind::SumChannels { x: 0, images, channels, area }, &[&x]);
	let (c, filters) = (Window { kernel: 3, padding: 1, ..w }, 4);
	let weight = values(filters as usize * c.patch() as usize, 4, Style::Plain);
	let result = reference(OpKind::Conv2d { x: 0, weight: 1, window: c, filters }, &[&x, &weight]);
	assert!(result.len() * c.patch() as usize > 1 << 20);
	let kind = OpKind::Conv2dWeightGrad { gradient: 0, x: 1, window: c, filters };
	let of_weight = reference(kind, &[&result, &x]);
	let kind = OpKind::Conv2dInputGrad { gradient: 0, weight: 1, window: c, filters };
	let of_input = reference(kind, &[&result, &weight]);
	for threads in [1, 2, 8] {
		let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
		for isa in Isa::supported() {
			threads.install(|| {
				let area = area as usize;
				same(&pool::max_pool(isa, &w, &x), &maximum).unwrap();
				same(&pool::avg_pool(isa, &w, &x), &mean).unwrap();
				let found = pool::max_pool_grad(isa, &w, &gradient, &x, &maximum);
				same(&found, &of_maximum).unwrap();
				same(&pool::avg_pool_grad(isa, &w, &gradient), &of_mean).unwrap();
				same(&channels::add_channel(isa, &x, &channel, area), &added).unwrap();
				same(&channels::sum_channels(isa, &x, 8, area), &summed).unwrap();
				same(&conv::conv(isa, &c, filters, &x, &weight), &result).unwrap();
				let found = conv::conv_weight_grad(isa, &c, filters, &result, &x);
				same(&found, &of_weight).unwrap();
				let found = conv::conv_input_grad(isa, &c, filters, &result, &weight);
				same(&found, &of_input).unwrap();
			});
		}
	}
}

/// Zeros of both signs are equal, and the largest of them is +0.
#[test]
fn zeros_in_pools() {
	let w =
		Window { images: 1, channels: 1, height: 2, width: 4, kernel: 2, stride: 2, padding: 0 };
	let x = [-1.0, -0.0, -0.0, -0.0, 0.0, -2.0, -0.0, -0.0];
	for stride in [1, 2] {
		let w = Window { stride, ..w };
		for isa in Isa::supported() {
			let maximum = pool::max_pool(isa, &w, &x);
			assert!(maximum.iter().all(|m| m.to_bits() == 0));
			// A gradient of -0 arrives as +0, and so does what no window gives.
			let gradient = vec![-0.0; maximum.len()];
			let found = pool::max_pool_grad(isa, &w, &gradient, &x, &maximum);
			assert!(found.iter().all(|g| g.to_bits() == 0));
			let found = pool::avg_pool_grad(isa, &w, &gradient);
			assert!(found.iter().all(|g| g.to_bits() == 0));
			let gradient: Vec<f32> = (1..).map(|g| g as f32).take(maximum.len()).collect();
			let found = pool::max_pool_grad(isa, &w, &gradient, &x, &maximum);
			// The first of equals, row by row.
			let expected = match stride {
				1 => [0.0, 1.0 + 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0],
				_ => [0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
			};
			assert_eq!(found, expected, "{isa} {stride}");
		}
	}
}

/// An infinite weight meets no padding in the gradient of the image: there it would be NaN.
#[test]
fn infinite_weights_meet_no_padding() {
	let w =
		Window { images: 1, channels: 1, height: 3, width: 3, kernel: 3, stride: 1, padding: 1 };
	let weight = [f32::INFINITY; 9];
	for isa in Isa::supported() {
		let found = conv::conv_input_grad(isa, &w, 1, &[1.0; 9], &weight);
		assert_eq!(found, [f32::INFINITY; 9], "{isa}");
		// Forward, the padding is +0 and takes part.
		let found = conv::conv(isa, &w, 1, &[1.0; 9], &weight);
		assert_eq!(found.iter().filter(|x| x.is_nan()).count(), 8, "{isa}");
	}
}

#[test]
#[should_panic(expected = "elements of the images")]
fn short_images_are_refused() {
	let w =
		Window { images: 1, channels: 1, height: 3, width: 3, kernel: 3, stride: 1, padding: 0 };
	conv::conv(Isa::Scalar, &w, 1, &[0.0; 8], &[0.0; 9]);
}

#[test]
#[should_panic(expected = "elements of the result")]
fn a_short_gradient_is_refused() {
	let w =
		Window { images: 1, channels: 1, height: 3, width: 3, kernel: 2, stride: 1, padding: 0 };
	pool::avg_pool_grad(Isa::Scalar, &w, &[0.0; 3]);
}
