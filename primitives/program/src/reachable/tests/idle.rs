//! Segments that stand still.

use super::{adamw, initial, small, Update};
use crate::{
	lower::{BETA1_POWER, BETA2_POWER},
	reachable::{is_idle, twins, weights, Coasting, Elements},
	reference::State,
	spec::{CheckedSpec, Optimizer, Schedule, Training},
};

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
