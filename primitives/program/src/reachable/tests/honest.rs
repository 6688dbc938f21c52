//! Runs of every optimizer under gradients that seek the bounds.

use super::{adamw, initial, small, Random, Update};
use crate::{
	lower,
	reachable::{Movement, Reachable},
	reference::{run_at, State, StepContext},
	spec::{CheckedSpec, Optimizer, Schedule, Training},
	H256,
};

/// Steps after which states are checked, as if there were checkpoints.
const AT: [u32; 13] = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233];

/// A gradient of `n` elements for a step, from 0.
type Adversary = fn(step: u32, n: usize, random: &mut Random) -> Vec<f32>;

fn each(n: usize, f: impl FnMut(usize) -> f32) -> Vec<f32> {
	(0..n).map(f).collect()
}

/// One element has it all.
fn one_hot(n: usize, at: usize, value: f32) -> Vec<f32> {
	each(n, |i| if i == at % n { value } else { 0.0 })
}

const ADVERSARIES: [(&str, Adversary); 14] = [
	("the same spike in every step", |_, n, _| one_hot(n, 5, 1e15)),
	("a spike that wanders", |step, n, _| one_hot(n, step as usize, -1e15)),
	("alternating signs", |step, n, _| each(n, |_| if step & 1 == 0 { 1e3 } else { -1e3 })),
	("equal elements", |_, n, _| each(n, |_| 3.0)),
	("growing by beta2 / beta1", |step, n, _| {
		each(n, |_| (1e-30 * 1.11f64.powi(step as i32)) as f32)
	}),
	("growing in one element", |step, n, _| {
		one_hot(n, 2, (1e-10 * 1.11f64.powi(step as i32)) as f32)
	}),
	("growing slowly", |step, n, _| each(n, |_| (1e-3 * 1.01f64.powi(step as i32)) as f32)),
	("falling", |step, n, _| each(n, |_| 0.8f32.powi(step as i32))),
	("a spike after silence", |step, n, _| one_hot(n, 7, if step < 100 { 0.0 } else { 1e9 })),
	("silence after a spike", |step, n, _| one_hot(n, 7, if step < 3 { 1e9 } else { 0.0 })),
	("subnormal", |_, n, random| each(n, |_| f32::from_bits(random.below(1 << 23) as u32))),
	("squares that underflow", |_, n, random| each(n, |_| random.wild(-60.0))),
	("of any magnitude", |_, n, random| each(n, |_| random.wild(126.0))),
	("of any magnitude below one", |_, n, random| each(n, |_| random.wild(0.0))),
];

fn optimizers() -> Vec<Optimizer> {
	let sgd = |momentum_nano, nesterov| Optimizer::Sgd { momentum_nano, nesterov };
	vec![
		sgd(0, false),
		sgd(900_000_000, false),
		sgd(900_000_000, true),
		sgd(999_999_970, true),
		adamw(900_000_000, 999_000_000, 10),
		adamw(900_000_000, 990_000_000, 10),
		adamw(990_000_000, 999_000_000, 1_000_000),
		adamw(0, 999_999_970, 1),
		adamw(999_999_970, 999_999_970, 1),
		adamw(999_999_920, 999_999_920, 1),
		adamw(950_000_000, 902_500_001, 10),
		adamw(990_000_000, 900_000_000, 10),
		adamw(500_000_000, 0, 10),
		adamw(0, 0, 10),
		Optimizer::Adam { beta1_nano: 900_000_000, beta2_nano: 999_000_000, epsilon_nano: 10 },
	]
}

/// Changes of the schedule, of the decay and of the clipping.
const TRAININGS: [fn(&mut Training); 6] = [
	|_| (),
	|t| {
		t.warmup_steps = 40;
		t.schedule = Schedule::Cosine { final_rate_nano: 0 };
		t.weight_decay_nano = 50_000_000;
	},
	|t| {
		(t.clip_norm_nano, t.weight_decay_nano) = (1_000_000, 1_000_000_000);
		t.learning_rate_nano = 100_000_000;
	},
	|t| (t.clip_norm_nano, t.learning_rate_nano) = (1, 1_000_000_000),
	|t| (t.clip_norm_nano, t.learning_rate_nano) = (1_000_000_000_000, 100_000_000_000),
	|t| {
		(t.clip_norm_nano, t.weight_decay_nano) = (0, 10_000_000);
		t.warmup_steps = 7;
	},
];

/// Checks every state and every movement of a run, up to where it diverges.
fn check(
	spec: &CheckedSpec,
	bounds: &[Reachable],
	moves: &[Movement],
	states: &[State],
	run: &str,
) {
	let read = |state: &State, name: &str| state.get(name).cloned();
	for (at, state) in AT.iter().zip(states) {
		if state.values().flatten().any(|x| !x.is_finite()) {
			return;
		}
		let index = AT.iter().position(|x| x == at).unwrap();
		let found = bounds[index].state(spec, |name| state.get(name).map(Vec::as_slice));
		assert_eq!(found, Ok(()), "{run}, step {at}, {:?}", spec.training);
		if index == 0 {
			continue;
		}
		for name in state.keys() {
			let (from, to) = (read(&states[index - 1], name), read(state, name));
			let found = moves[index - 1].tensor(name, &from.unwrap(), &to.unwrap());
			assert_eq!(found, Ok(()), "{run}, to step {at}, {:?}", spec.training);
		}
	}
}

#[test]
fn no_run_leaves_the_bounds() {
	let mut random = Random(88_172_645_463_325_252);
	for optimizer in optimizers() {
		for change in TRAININGS {
			let spec = small(|t| {
				t.optimizer = optimizer;
				change(t);
			});
			let update = Update::of(&spec);
			let bounds = AT.map(|step| Reachable::at(&spec, step));
			let moves: Vec<_> =
				AT.windows(2).map(|at| Movement::over(&spec, at[0], at[1])).collect();
			for (run, adversary) in ADVERSARIES {
				let mut state = initial(&spec);
				let mut states = vec![state.clone()];
				for step in 0..AT[12] {
					let gradient = adversary(step, update.len(), &mut random);
					update.step(&mut state, step, &gradient);
					if AT.contains(&(step + 1)) {
						states.push(state.clone());
					}
				}
				check(&spec, &bounds, &moves, &states, run);
			}
		}
	}
}

/// Forward and backward as well: a network that cannot learn its random labels, clipped in every
/// step.
#[test]
fn whole_training_steps_keep_the_bounds() {
	let mut random = Random(0x853C_49E6_748F_EA9B);
	for optimizer in optimizers() {
		let spec = small(|t| {
			(t.optimizer, t.weight_decay_nano) = (optimizer, 10_000_000);
			(t.clip_norm_nano, t.learning_rate_nano) = (50_000_000, 10_000_000);
		});
		let program = lower::training_step(&spec);
		let bounds = AT.map(|step| Reachable::at(&spec, step));
		let moves: Vec<_> = AT.windows(2).map(|at| Movement::over(&spec, at[0], at[1])).collect();
		let mut state = initial(&spec);
		let mut states = vec![state.clone()];
		for step in 0..AT[10] {
			let features: Vec<_> = (0..3 * 32).map(|_| random.unit() as f32).collect();
			let labels: Vec<_> = (0..32).map(|_| random.below(2) as u32).collect();
			let moment = StepContext { seed: H256::zero(), step };
			let values = run_at(&program, &features, &labels, &state, moment).unwrap();
			values.advance(&program, &mut state);
			if AT.contains(&(step + 1)) {
				states.push(state.clone());
			}
		}
		assert!(state.values().flatten().all(|x| x.is_finite()));
		check(&spec, &bounds, &moves, &states, "a network");
	}
}

/// The bounds are no wider than they must be: gradients exist that come near to each.
#[test]
fn the_bounds_are_met() {
	let spec = small(|_| ());
	let (update, steps) = (Update::of(&spec), 400u32);
	let run = |gradient: &dyn Fn(u32) -> Vec<f32>| {
		let mut state = initial(&spec);
		for step in 0..steps {
			update.step(&mut state, step, &gradient(step));
		}
		state
	};
	let at = Reachable::at(&spec, steps);
	let n = update.len();
	// The whole norm in one element, always: the largest moments.
	let spike = run(&|_| one_hot(n, 0, 1e6));
	let (m, v) = ("optimizer.m.layers.0.weight", "optimizer.v.layers.0.weight");
	let largest = |state: &State, kind: &str| {
		let of = |(name, x): (&String, &Vec<f32>)| {
			name.starts_with(kind).then(|| x.iter().fold(0f32, |a, b| a.max(b.abs())))
		};
		state.iter().filter_map(of).fold(0f32, f32::max)
	};
	let first = f64::from(largest(&spike, "optimizer.m.")) / at.bounds.first;
	let second = f64::from(largest(&spike, "optimizer.v.")) / at.bounds.second;
	assert!((0.9999..=1.0).contains(&first), "{first}");
	assert!((0.9999..=1.0).contains(&second), "{second}");
	// Growing by beta2 / beta1 in each step: the most beside the second moment.
	let grown = run(&|step| {
		let exponent = step as i32 - steps as i32;
		vec![(0.1 * (0.999f64 / 0.9).powi(exponent)) as f32; n]
	});
	let (m, v) = (grown[m][0], grown[v][0]);
	let root = f64::from(m.abs()) / at.bounds.first_beside(f64::from(v));
	assert!((0.9999..=1.0).contains(&root), "{root}");
	// And the parameters move by that much, at a rate of 0.002, in the last of these steps.
	let mut before = initial(&spec);
	for step in 0..steps - 1 {
		let exponent = step as i32 - steps as i32;
		update.step(&mut before, step, &vec![(0.1 * (0.999f64 / 0.9).powi(exponent)) as f32; n]);
	}
	let name = "layers.0.bias";
	let moved = f64::from((grown[name][0] - before[name][0]).abs());
	let most = Movement::over(&spec, steps - 1, steps).most(before[name][0]);
	assert!((0.99..=1.0).contains(&(moved / most)), "{moved} {most}");
	println!("moments {first} {second}, root {root}, movement {}", moved / most);
}

/// SGD's velocity and steps.
#[test]
fn the_bounds_of_sgd_are_met() {
	for nesterov in [false, true] {
		let spec = small(|t| t.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov });
		let (update, steps) = (Update::of(&spec), 300u32);
		let (mut state, mut before) = (initial(&spec), State::new());
		for step in 0..steps {
			before = state.clone();
			update.step(&mut state, step, &one_hot(update.len(), 0, 1e6));
		}
		let bound = Reachable::at(&spec, steps).bounds.first;
		let values = state.iter().filter(|(name, _)| name.contains("velocity"));
		let found = values.flat_map(|(_, x)| x).fold(0f32, |a, b| a.max(b.abs()));
		let velocity = f64::from(found) / bound;
		assert!((0.9999..=1.0).contains(&velocity), "{velocity}");
		let movement = Movement::over(&spec, steps - 1, steps);
		let moved =
			state.iter().filter(|(name, _)| !name.contains("optimizer")).flat_map(|(name, x)| {
				x.iter().zip(&before[name]).map(|(y, x)| f64::from((y - x).abs()))
			});
		let moved = moved.fold(0.0, f64::max) / movement.most(0.0);
		assert!((0.999..=1.001).contains(&moved), "{moved}");
	}
}

#[test]
fn powers_of_beta_are_those_of_the_step() {
	for (beta1, beta2) in [(900_000_000, 999_000_000), (0, 999_999_970), (500_000_000, 10)] {
		let spec = small(|t| t.optimizer = adamw(beta1, beta2, 10));
		let (mut power1, mut power2) = (1f32, 1f32);
		let (beta1, beta2) =
			(trainyard_strict::from_nano(beta1), trainyard_strict::from_nano(beta2));
		let checked = [1u32, 2, 3, 50, 200, 1_000, 1_500, 20_000, 110_000];
		for step in 1..=110_000 {
			(power1, power2) = (beta1 * power1, beta2 * power2);
			if checked.contains(&step) {
				let bounds = Reachable::at(&spec, step).bounds;
				assert_eq!((bounds.power1, bounds.power2), (power1, power2), "{step}");
			}
		}
	}
}
