//! Each bound is an invariant: from any state that keeps the bounds, reached or not, any gradient
//! leads to one that keeps those of the next step.

use super::{adamw, small, Random};
use crate::{
	ops::{Factor, Nano, OpKind},
	reachable::{optimizer, Reachable},
	reference::{operator, ExecError, StepContext},
	spec::{CheckedSpec, Optimizer},
};
use trainyard_strict::from_nano;

/// The greatest binary32 that is not above `x`, which is not negative.
fn down(x: f64) -> f32 {
	let near = x.min(f64::from(f32::MAX)) as f32;
	if f64::from(near) > x {
		f32::from_bits(near.to_bits() - 1)
	} else {
		near
	}
}

/// A number from 0 to `most`: its ends, and all magnitudes between.
fn up_to(most: f64, random: &mut Random) -> f32 {
	match random.below(4) {
		0 => down(most),
		1 => 0.0,
		2 => down(most * random.unit()),
		_ => random.wild(126.0).abs().min(down(most)),
	}
}

fn signed(x: f32, random: &mut Random) -> f32 {
	if random.word() & 1 == 0 {
		x
	} else {
		-x
	}
}

fn run(kind: OpKind, tensors: &[&[f32]]) -> f32 {
	let read = |id: u32| Ok::<_, ExecError>(tensors[id as usize]);
	operator(&kind, &[], StepContext::default(), read).unwrap()[0]
}

/// A step of any age: most are young, and some are as old as can be.
fn any_step(random: &mut Random) -> u32 {
	(1e8f64.powf(random.unit()) as u32).min(99_999_999)
}

fn any_clipping(random: &mut Random) -> u64 {
	1e12f64.powf(random.unit()) as u64
}

#[test]
fn a_step_of_adam_keeps_the_bounds() {
	let mut random = Random(0x9E37_79B9_7F4A_7C15);
	let mut nearest = [0f64; 3];
	for _ in 0..60_000 {
		let (beta1, beta2) = (random.decay_nano(), random.decay_nano());
		let clip = any_clipping(&mut random);
		let spec = small(|t| {
			t.optimizer = adamw(beta1, beta2, 10);
			t.clip_norm_nano = clip;
		});
		let optimizer = optimizer::Optimizer::of(&spec);
		let step = any_step(&mut random) - 1;
		let now = optimizer.bounds(step, (1.0, 1.0));
		let next = optimizer.bounds(step + 1, (1.0, 1.0));
		let v = up_to(now.second, &mut random);
		let m = up_to(now.first.min(now.first_beside(f64::from(v))), &mut random);
		let g = up_to(optimizer.gradient, &mut random);
		// Where both moments grow most together.
		let g = if random.below(3) == 0 {
			let (keep, add) = (f64::from(from_nano(beta2)), 1.0 - f64::from(from_nano(beta1)));
			down((f64::from(m) * keep / f64::from(from_nano(beta1)) / add).min(optimizer.gradient))
		} else {
			g
		};
		let (m, g) = (signed(m, &mut random), [signed(g, &mut random)]);
		let (keep, take) = (Nano(beta1), Nano(beta1).one_minus());
		let m = run(OpKind::Ema { average: 0, x: 1, keep, take, len: 1 }, &[&[m], &g]);
		let (keep, take) = (Nano(beta2), Nano(beta2).one_minus());
		let v = run(OpKind::EmaSquare { average: 0, x: 1, keep, take, len: 1 }, &[&[v], &g]);
		let found = [f64::from(m.abs()), f64::from(v), f64::from(m.abs())];
		let bounds = [next.first, next.second, next.first_beside(f64::from(v))];
		for ((found, bound), nearest) in found.iter().zip(bounds).zip(&mut nearest) {
			assert!(*found <= bound, "{found:e} {bound:e}: {:?}, step {step}", spec.training);
			*nearest = nearest.max(found / bound);
		}
	}
	println!("nearest to the bounds: {nearest:?}");
}

#[test]
fn a_step_of_sgd_keeps_the_bounds() {
	let mut random = Random(0xD1B5_4A32_D192_ED03);
	for _ in 0..60_000 {
		let momentum = random.decay_nano();
		let clip = any_clipping(&mut random);
		let spec = small(|t| {
			t.optimizer = Optimizer::Sgd { momentum_nano: momentum, nesterov: false };
			t.clip_norm_nano = clip;
		});
		let optimizer = optimizer::Optimizer::of(&spec);
		let step = any_step(&mut random) - 1;
		let (now, next) =
			(optimizer.bounds(step, (1.0, 1.0)), optimizer.bounds(step + 1, (1.0, 1.0)));
		let v = signed(up_to(now.first, &mut random), &mut random);
		let g = [signed(up_to(optimizer.gradient, &mut random), &mut random)];
		let factor = Factor::Nano(Nano(momentum));
		let v = run(OpKind::MulAdd { x: 0, y: 1, factor, negate: false, len: 1 }, &[&[v], &g]);
		assert!(f64::from(v.abs()) <= next.first, "{v:e} {:e}: {:?}", next.first, spec.training);
	}
}

/// A step from any moments within the bounds is no longer than the longest.
#[test]
fn no_step_is_longer_than_its_bound() {
	let mut random = Random(0xA076_1D64_78BD_642F);
	let mut nearest = 0f64;
	for _ in 0..150 {
		let epsilon = 1e12f64.powf(random.unit()) as u64;
		let (beta1, beta2) = (random.decay_nano(), random.decay_nano());
		let clip = any_clipping(&mut random);
		let spec: CheckedSpec = small(|t| {
			t.optimizer = adamw(beta1, beta2, epsilon);
			(t.clip_norm_nano, t.learning_rate_nano) = (clip, 1_000_000_000);
		});
		let step = 1 + random.below(300) as u32;
		let bounds = Reachable::at(&spec, step).bounds;
		let longest = crate::reachable::Movement::over(&spec, step - 1, step).most(0.0);
		for _ in 0..300 {
			let v = up_to(bounds.second, &mut random);
			let m = up_to(bounds.first.min(bounds.first_beside(f64::from(v))), &mut random);
			let kind = OpKind::AdamStep {
				x: 0,
				m: 1,
				v: 2,
				power1: 3,
				power2: 4,
				learning_rate: Factor::Nano(Nano(1_000_000_000)),
				epsilon: Nano(epsilon),
				len: 1,
			};
			let moved = run(kind, &[&[0.0], &[m], &[v], &[bounds.power1], &[bounds.power2]]);
			let moved = f64::from(moved.abs());
			assert!(
				moved <= longest,
				"{moved:e} {longest:e}: m {m:e}, v {v:e}, {:?}",
				spec.training
			);
			nearest = nearest.max(moved / longest);
		}
	}
	println!("nearest to the longest step: {nearest}");
}

/// Near one, decays and shares are rounded so differently that a steady average would be half as
/// large again as what is averaged; it never gets there.
#[test]
fn averages_do_not_pass_what_they_average() {
	let mut random = Random(0x94D0_49BB_1331_11EB);
	for _ in 0..5_000 {
		let (beta1, beta2) = (random.decay_nano(), random.decay_nano());
		let clip = any_clipping(&mut random);
		let spec = small(|t| {
			t.optimizer = adamw(beta1, beta2, 10);
			t.clip_norm_nano = clip;
		});
		let clip = f64::from(from_nano(clip));
		let bounds = optimizer::Optimizer::of(&spec).bounds(99_999_999, (0.0, 0.0));
		let most = 1.0 + 1.0 / 1_024.0;
		assert!(bounds.first <= clip * most, "{} {clip} {:?}", bounds.first, spec.training);
		assert!(bounds.second <= clip * clip * most, "{} {clip}", bounds.second);
	}
}

/// Clipping itself: gradients of any shape and magnitude keep the norm, and each element.
#[test]
fn clipped_gradients_are_within_the_norm() {
	let mut random = Random(0x2545_F491_4F6C_DD1D);
	let mut nearest = [0f64; 2];
	for case in 0..1_000 {
		let clip = any_clipping(&mut random);
		let spec = small(|t| t.clip_norm_nano = clip);
		let optimizer = optimizer::Optimizer::of(&spec);
		let n = 1 + random.below(3_000) as usize;
		let high = -80.0 + 205.0 * random.unit();
		let gradient: Vec<f32> = match case % 4 {
			0 => (0..n).map(|_| random.wild(high)).collect(),
			1 => vec![high.exp2() as f32; n],
			2 => (0..n).map(|i| if i == n / 2 { high.exp2() as f32 } else { 0.0 }).collect(),
			_ => (0..n).map(|_| (random.unit() * high.exp2()) as f32).collect(),
		};
		let squares = run(OpKind::SumSquares { x: 0, len: n as u64 }, &[&gradient]);
		let largest = Nano(clip);
		let factor = run(OpKind::ClipFactor { squares: 0, largest }, &[&[squares]]);
		let clipped = gradient.iter().map(|x| f64::from(factor * x));
		let (mut norm, mut most) = (0.0, 0.0f64);
		for x in clipped {
			norm += x * x;
			most = most.max(x.abs());
		}
		let found = [most / optimizer.gradient, norm.sqrt() / optimizer.norm];
		for (found, nearest) in found.into_iter().zip(&mut nearest) {
			assert!(found <= 1.0, "{found}: {case} {n} {high} {clip}");
			*nearest = nearest.max(found);
		}
	}
	println!("nearest to the largest element and norm: {nearest:?}");
}
