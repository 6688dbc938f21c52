//! Steps that hide their rows, against sums and moments that are known.

use super::*;
use crate::{ranks::Rows, tests::small_spec, Data};
use rand::{rngs::StdRng, SeedableRng};
use std::sync::Arc;
use trainyard_program::{
	spec::{JobSpec, Optimizer},
	H256,
};

fn job(batch: u32) -> (CheckedSpec, Arc<Data>) {
	let optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
	let (mut spec, data): (JobSpec, _) = small_spec(vec![6], optimizer);
	(spec.training.batch_size, spec.training.weight_decay_nano) = (batch, 0);
	(spec.check().unwrap(), data)
}

fn begin(spec: &CheckedSpec) -> State {
	Engine::initial_state(spec, &H256::zero(), None).unwrap()
}

fn norm(x: &[f32]) -> f64 {
	x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt()
}

/// What each row adds has a norm of at most the clip, whatever it was before, and the sum is that of the tree.
#[test]
fn no_row_counts_more_than_the_clip() {
	let (spec, data) = job(10);
	let engine = Engine::new(&spec, H256::zero(), data).unwrap();
	let ranks = Ranks::new(&spec, 10).unwrap();
	let numbers = ranks.parameters_of(&mut begin(&spec)).unwrap();
	let parameters = ranks.parameters_from(&numbers).unwrap();
	let sum = |rows: &Rows, clip: f32| {
		ranks.clipped_sum(&parameters, engine.seed(), 0, rows, clip).unwrap()
	};
	let gradient = |row: u32, clip: f32| {
		let mut sum = sum(&engine.training_rows(&[row]).unwrap(), clip);
		sum.pop();
		sum
	};
	let whole = norm(&gradient(3, 1e9));
	assert!(whole > 0.1, "{whole}");
	for part in [0.9f64, 0.5, 1e-3] {
		let clip = (whole * part) as f32;
		let clipped = gradient(3, clip);
		assert!(norm(&clipped) <= f64::from(clip), "{} {clip}", norm(&clipped));
		assert!(norm(&clipped) > f64::from(clip) * 0.999);
	}
	assert_eq!(gradient(3, 1e9), gradient(3, (whole * 1.01) as f32), "a short one stays as it is");
	let rows = engine.training_rows(&[3, 0, 7, 7, 21]).unwrap();
	let clip = (whole * 0.7) as f32;
	let each: Vec<Vec<f32>> = [3, 0, 7, 7, 21]
		.map(|row| {
			let mut one = gradient(row, clip);
			one.push(0.0);
			one
		})
		.to_vec();
	let mut expected = crate::ranks::root(each).unwrap();
	expected.pop();
	let mut found = sum(&rows, clip);
	found.pop();
	assert_eq!(found, expected);
	// A row whose gradient is too large for a number adds nothing.
	let huge = Rows { features: vec![f32::MAX; 5], labels: vec![0] };
	assert!(sum(&huge, 1.0).iter().take(ranks.sum_len() - 1).all(|x| *x == 0.0));
	assert_eq!(sum(&Rows::default(), 1.0), vec![0.0; ranks.sum_len()]);
}

/// What a step adds to the parameters, over many steps from the same state: its mean is the clipped gradient, and
/// its deviation that of the noise.
#[test]
fn noise_has_the_deviation_that_is_counted() {
	let (spec, data) = job(50);
	let engine = Engine::new(&spec, H256::zero(), data).unwrap();
	// Every row is in every step, so that nothing but the noise differs.
	let hiding = Hiding { clip: 0.5, noise: 3.0 };
	let steps = PrivateSteps::new(&spec, hiding).unwrap();
	assert_eq!(steps.rate(), 1.0);
	let mut random = StdRng::seed_from_u64(1);
	let before = begin(&spec).to_host().unwrap();
	let count = 300;
	let mut moved: Vec<f64> = Vec::new();
	let mut totals: Vec<f64> = Vec::new();
	for _ in 0..count {
		let mut state = begin(&spec);
		steps.step(&engine, &mut state, 0, &mut random).unwrap();
		let after = state.to_host().unwrap();
		let parameters = before.iter().filter(|(name, _)| !name.starts_with("optimizer."));
		let of: Vec<f64> = parameters
			.flat_map(|(name, x)| x.data.iter().zip(&after[name].data))
			// The rate is 0.02, and the batch has 50 rows.
			.map(|(x, y)| f64::from(x - y) / 0.02 * 50.0)
			.collect();
		totals.resize(of.len(), 0.0);
		totals.iter_mut().zip(&of).for_each(|(total, x)| *total += x / f64::from(count));
		moved.extend(of);
	}
	let all = totals.len();
	let variance = moved.chunks(all).flat_map(|one| one.iter().zip(&totals));
	let variance = variance.map(|(x, mean)| (x - mean).powi(2)).sum::<f64>() / moved.len() as f64;
	let deviation = variance.sqrt();
	assert!((deviation / 1.5 - 1.0).abs() < 0.03, "{deviation}");
	// Its mean is what is there without noise.
	let ranks = Ranks::new(&spec, 50).unwrap();
	let numbers = ranks.parameters_of(&mut begin(&spec)).unwrap();
	let parameters = ranks.parameters_from(&numbers).unwrap();
	let rows = engine.training_rows(&(0..50).collect::<Vec<_>>()).unwrap();
	let mut clean = ranks.clipped_sum(&parameters, engine.seed(), 0, &rows, 0.5).unwrap();
	clean.pop();
	let (clean, found) = (norm(&clean), totals.iter().map(|x| x * x).sum::<f64>().sqrt());
	// The means of 300 draws still have a deviation of 0.087 in each coordinate.
	let left = (all as f64 * 2.25 / f64::from(count)).sqrt();
	assert!((found - clean).abs() < 3.0 * left, "{found} {clean} {left}");
}

#[test]
fn rows_are_taken_with_the_rate_and_noise_is_never_the_same() {
	let (spec, data) = job(10);
	let engine = Engine::new(&spec, H256::zero(), data).unwrap();
	let steps = PrivateSteps::new(&spec, Hiding { clip: 1.0, noise: 1.0 }).unwrap();
	assert_eq!(steps.rate(), 0.2);
	let mut random = StdRng::from_os_rng();
	// How often each row is taken, and how many are at once: those of independent draws.
	let (mut times, mut sizes) = ([0u32; 50], Vec::new());
	for _ in 0..4_000 {
		let taken = steps.take(&mut random);
		taken.iter().for_each(|row| times[*row as usize] += 1);
		sizes.push(taken.len() as f64);
	}
	// 800 each, with a deviation of 25.
	assert!(times.iter().all(|times| (650..950).contains(times)), "{times:?}");
	let mean = sizes.iter().sum::<f64>() / 4_000.0;
	let variance = sizes.iter().map(|size| (size - mean).powi(2)).sum::<f64>() / 4_000.0;
	assert!((mean - 10.0).abs() < 0.3 && (variance - 8.0).abs() < 1.2, "{mean} {variance}");
	let mut states = [begin(&spec), begin(&spec)];
	for state in &mut states {
		steps.step(&engine, state, 0, &mut random).unwrap();
	}
	let [one, other] = states.map(|state| state.hash().unwrap());
	assert_ne!(one, other);
	for (clip, noise) in
		[(0.0, 1.0), (1.0, 0.0), (f32::NAN, 1.0), (1.0, f64::INFINITY), (-1.0, 1.0)]
	{
		assert!(matches!(
			PrivateSteps::new(&spec, Hiding { clip, noise }),
			Err(EngineError::Hiding)
		));
	}
}

#[test]
fn normals_are_normal() {
	let mut random = StdRng::seed_from_u64(2);
	let drawn: Vec<f64> = (0..200_000).flat_map(|_| two_normals(&mut random)).collect();
	let count = drawn.len() as f64;
	let moment = |power: i32| drawn.iter().map(|x| x.powi(power)).sum::<f64>() / count;
	assert!(moment(1).abs() < 0.01 && moment(3).abs() < 0.03, "{} {}", moment(1), moment(3));
	assert!((moment(2) - 1.0).abs() < 0.02 && (moment(4) - 3.0).abs() < 0.1);
	let beyond = |x: f64| drawn.iter().filter(|y| y.abs() > x).count() as f64 / count;
	assert!(
		(beyond(1.959_964) - 0.05).abs() < 0.002 && (beyond(3.290_527) - 0.001).abs() < 0.000_3
	);
}
