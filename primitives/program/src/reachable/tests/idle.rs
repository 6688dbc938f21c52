//! Segments that stand still.

use super::{adamw, initial, small, Update};
use crate::{
	lower::{BETA1_POWER, BETA2_POWER},
	reachable::{is_idle, twins, weights, Coasting, Elements},
	reference::State,
	schedule::LearningRate,
	spec::{CheckedSpec, Optimizer, Schedule, Training},
};
use trainyard_strict::{decay, fma, from_nano, sqrt};

const NAMES: [&str; 4] = ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"];

fn elements<'a>(state: &'a State, name: &str) -> Elements<'a> {
	let read =
		|kind: &str| state.get(&format!("optimizer.{kind}.{name}")).map_or(&[][..], Vec::as_slice);
	let first = if read("m").is_empty() { read("velocity") } else { read("m") };
	Elements { parameter: &state[name], first, second: read("v") }
}

fn still(spec: &CheckedSpec, steps: core::ops::Range<u32>, begin: &State, end: &State) -> Vec<u64> {
	let power = |name: &str| begin.get(name).map_or(1.0, |x| x[0]);
	let powers = (power(BETA1_POWER), power(BETA2_POWER));
	let coasting = Coasting::over(spec, steps.start, steps.end, powers);
	NAMES.map(|name| coasting.still(elements(begin, name), elements(end, name))).to_vec()
}

/// What a step makes of a state is compared with the executor, for every rule of an update.
#[test]
fn without_gradients_every_element_is_still() {
	let sgd = |momentum_nano, nesterov| Optimizer::Sgd { momentum_nano, nesterov };
	let adam =
		Optimizer::Adam { beta1_nano: 900_000_000, beta2_nano: 999_000_000, epsilon_nano: 10 };
	for optimizer in [
		sgd(0, false),
		sgd(900_000_000, false),
		sgd(900_000_000, true),
		adamw(900_000_000, 999_000_000, 10),
		adamw(0, 999_000_000, 1_000_000),
		adam,
	] {
		for weight_decay_nano in [0, 100_000_000] {
			for schedule in [Schedule::Constant, Schedule::Cosine { final_rate_nano: 1_000 }] {
				let spec = small(|t: &mut Training| {
					(t.optimizer, t.weight_decay_nano) = (optimizer, weight_decay_nano);
					(t.schedule, t.warmup_steps) = (schedule, 7);
				});
				let (update, mut state) = (Update::of(&spec), initial(&spec));
				let len = update.len();
				let noisy = |step: u32| {
					let value = |i: usize| ((i * 7 + step as usize * 5) % 11) as f32 / 8.0 - 0.6;
					(0..len).map(value).collect::<Vec<_>>()
				};
				for step in 0..40 {
					update.step(&mut state, step, &noisy(step));
				}
				let (begin, mut silent) = (state.clone(), state.clone());
				for step in 40..90 {
					// A zero of either sign is no gradient.
					let zero = if step % 2 == 0 { 0.0 } else { -0.0 };
					update.step(&mut silent, step, &vec![zero; len]);
					update.step(&mut state, step, &noisy(step));
				}
				let found = still(&spec, 40..90, &begin, &silent);
				assert_eq!(found, [12, 4, 8, 2], "{optimizer:?}");
				assert_eq!(still(&spec, 40..90, &begin, &state), [0; 4], "{optimizer:?}");
				// One gradient of one element, in one of the steps.
				let mut once = begin.clone();
				for step in 40..90 {
					let mut gradient = vec![0.0; len];
					gradient[0] = if step == 60 { 1e-3 } else { 0.0 };
					update.step(&mut once, step, &gradient);
				}
				let found: u64 = still(&spec, 40..90, &begin, &once).iter().sum();
				assert_eq!(found, 25, "{optimizer:?}");
			}
		}
	}
}

/// Parameters, first and second moments.
type Parts = [Vec<f32>; 3];

fn of(parts: &Parts) -> Elements<'_> {
	let [parameter, first, second] = parts;
	Elements { parameter, first, second }
}

/// Returns what the steps make of elements without a gradient, one after the other.
fn coast(
	spec: &CheckedSpec,
	steps: core::ops::Range<u32>,
	powers: (f32, f32),
	at: &Parts,
) -> Parts {
	let (t, [mut x, mut m, mut v]) = (&spec.training, at.clone());
	let ((mut power1, mut power2), decays) = (powers, from_nano(t.weight_decay_nano));
	for step in steps {
		let rate = LearningRate::of(t).at(step);
		for ((x, m), v) in x.iter_mut().zip(&mut m).zip(&mut v) {
			let decayed = if decays > 0.0 { decay(rate, decays) * *x } else { *x };
			match t.optimizer {
				Optimizer::Sgd { momentum_nano, nesterov } => {
					let momentum = from_nano(momentum_nano);
					*m *= momentum;
					let direction = if nesterov { momentum * *m } else { *m };
					*x = fma(-rate, direction, decayed);
				}
				Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano } => {
					let (beta1, beta2) = (from_nano(beta1_nano), from_nano(beta2_nano));
					(*m, *v) = (fma(beta1, *m, 0.0), fma(beta2, *v, 0.0));
					let (rest1, rest2) = (1.0 - beta1 * power1, 1.0 - beta2 * power2);
					let step = (*m / rest1) / (sqrt(*v / rest2) + from_nano(epsilon_nano));
					*x = fma(-rate, step, decayed);
				}
				Optimizer::Adam { .. } => unreachable!("it is compared with the executor"),
			}
		}
		if let Optimizer::AdamW { beta1_nano, beta2_nano, .. } = t.optimizer {
			(power1, power2) = (from_nano(beta1_nano) * power1, from_nano(beta2_nano) * power2);
		}
	}
	[x, m, v]
}

/// What is left out on the way to the end changes no count: not where averages fade to nothing or
/// stay at a subnormal number, nor where a parameter is too small to be settled.
#[test]
fn what_is_left_out_changes_no_count() {
	let parameters =
		[0.3, -0.02, 1.0, -1.0, 1e-7, 3e-20, -1e-38, 7e-45, 0.0, -0.0, 0.5, 0.99999994];
	let first = [0.0, -0.0, 1e-3, -2e-5, 1e-12, 3e-39, -6e-45, 1e-45, 1e-30];
	let second = [0.0, 1e-4, 3e-9, 1e-20, 2e-39, 7e-43, 1e-45];
	let mut begin = [vec![], vec![], vec![]];
	for x in parameters {
		for m in first {
			for v in second {
				begin.iter_mut().zip([x, m, v]).for_each(|(part, value)| part.push(value));
			}
		}
	}
	for (optimizer, powers) in [
		(Optimizer::Sgd { momentum_nano: 0, nesterov: false }, (1.0, 1.0)),
		(Optimizer::Sgd { momentum_nano: 990_000_000, nesterov: true }, (1.0, 1.0)),
		(adamw(900_000_000, 990_000_000, 10), (1.0, 1.0)),
		(adamw(900_000_000, 999_000_000, 10), (0.01, 0.9)),
		(adamw(0, 500_000_000, 1), (0.0, 1e-10)),
		(adamw(999_000_000, 999_900_000, 1_000_000), (0.5, 0.9)),
	] {
		for (weight_decay_nano, schedule) in [
			(0, Schedule::Constant),
			(300_000_000, Schedule::Constant),
			(10_000_000, Schedule::Cosine { final_rate_nano: 3 }),
		] {
			let spec = small(|t: &mut Training| {
				(t.optimizer, t.weight_decay_nano) = (optimizer, weight_decay_nano);
				t.schedule = schedule;
			});
			let mut begin = begin.clone();
			if matches!(optimizer, Optimizer::Sgd { .. }) {
				begin[2].fill(0.0);
			}
			let steps = 10..160;
			let coasting = Coasting::over(&spec, steps.start, steps.end, powers);
			let end = coast(&spec, steps, powers, &begin);
			let all = parameters.len() * first.len() * second.len();
			assert_eq!(coasting.still(of(&begin), of(&end)), all as u64, "{optimizer:?}");
			// One part of every third element ends next to where it should.
			for part in 0..3 {
				let mut wrong = end.clone();
				let near = |x: &mut f32| *x = f32::from_bits(x.to_bits() + 1);
				wrong[part].iter_mut().step_by(3).for_each(near);
				let expected: u64 =
					end[part].iter().zip(&wrong[part]).map(|(a, b)| u64::from(a == b)).sum();
				assert_eq!(coasting.still(of(&begin), of(&wrong)), expected, "{optimizer:?}");
			}
		}
	}
}

/// A look at a network that died costs next to nothing, however long the segment is. (If all steps
/// were computed of every element, this test would take hours.)
#[test]
fn a_dead_network_is_looked_at_in_a_moment() {
	let steps = 0..u32::MAX;
	for (m, v) in [(0.0, 0.0), (1e-4, 1e-7), (-6e-45, 3e-40)] {
		let spec = small(|t: &mut Training| {
			t.optimizer = adamw(900_000_000, 990_000_000, 10);
			(t.weight_decay_nano, t.schedule) = (0, Schedule::Constant);
		});
		let parameters: Vec<f32> = (1..=4_096u16).map(|i| 0.1 + f32::from(i) / 4_096.0).collect();
		let begin = [parameters, vec![m; 4_096], vec![v; 4_096]];
		// After this many steps nothing changes any more.
		let few = begin.clone().map(|part| part[..4].to_vec());
		let end = coast(&spec, 0..12_000, (1.0, 1.0), &few);
		let coasting = Coasting::over(&spec, steps.start, steps.end, (1.0, 1.0));
		assert_eq!(coasting.still(of(&few), of(&end)), 4);
		// Of an end that cannot be, nothing is computed at all.
		assert_eq!(coasting.still(of(&begin), of(&begin)), if m == 0.0 { 4_096 } else { 0 });
	}
}

#[test]
fn equal_units_are_counted_once() {
	assert_eq!(twins(&[1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.5], 3), 3);
	assert_eq!(twins(&[1.0, 2.0, -2.0, -4.0, 0.5, 1.0, 0.25, -0.5], 4), 4, "scaled, negated");
	assert_eq!(twins(&[0.0, 0.0, -0.0, 0.0], 2), 2);
	assert_eq!(twins(&[0.0, 3.0, 0.0, 6.0, 0.0, 5.0], 3), 2, "one element alone");
	assert_eq!(twins(&[f32::MIN_POSITIVE, 1e38, f32::MIN_POSITIVE / 2.0, 1e38], 2), 0);
	assert_eq!((twins(&[1.0; 4], 4), twins(&[], 0)), (0, 0));
	let spec = small(|_| ());
	let drawn = initial(&spec);
	assert_eq!(twins(&drawn["layers.0.weight"], 4) + twins(&drawn["layers.1.weight"], 2), 0);
}

#[test]
fn a_segment_is_idle_by_its_work() {
	let spec = small(|_| ());
	let found = weights(&spec);
	let names: Vec<_> = found.iter().map(|w| (w.tensors.join(" "), w.elements)).collect();
	assert_eq!(names, [("layers.0.weight".into(), 12), ("layers.1.weight".into(), 8)]);
	// The second layer has more work for each of its elements: its gradient goes on.
	let [first, second] = [found[0].work, found[1].work];
	assert!(first / 12 < second / 8, "{first} {second}");
	assert!(!is_idle(&found, &[0, 0]) && is_idle(&found, &[12, 8]));
	let (all, half) = (first + second, (first + second) / 2);
	for elements in 0..=8u64 {
		let idle = first + second * u128::from(elements) / 8;
		assert_eq!(is_idle(&found, &[12, elements]), 2 * idle > all, "{elements}");
	}
	assert_eq!(is_idle(&found, &[0, 8]), second > half);
	assert!(!is_idle(&[], &[]));
}
