//! States that were made up.

use super::{adamw, initial, small, Update};
use crate::{
	lower::{self, BETA1_POWER, BETA2_POWER},
	reachable::{Limit, Movement, Reachable, Unreachable},
	reference::State,
	spec::{CheckedSpec, Input, Layer, Model, Optimizer, Training},
};

/// A state of an honest run after 50 steps.
fn honest(spec: &CheckedSpec) -> State {
	let (update, mut state) = (Update::of(spec), initial(spec));
	for step in 0..50 {
		let gradient =
			(0..update.len()).map(|i| ((i + step as usize) % 7) as f32 - 3.0).collect::<Vec<_>>();
		update.step(&mut state, step, &gradient);
	}
	state
}

fn check(spec: &CheckedSpec, state: &State) -> Result<(), Unreachable> {
	Reachable::at(spec, 50).state(spec, |name| state.get(name).map(Vec::as_slice))
}

/// What is reported of an honest state whose tensors of these names were filled.
#[track_caller]
fn refused(spec: &CheckedSpec, fill: &[(&str, f32)], expected: Limit, tensor: &str) {
	let mut state = honest(spec);
	assert_eq!(check(spec, &state), Ok(()));
	for (name, values) in &mut state {
		for (begin, value) in fill {
			if name.starts_with(begin) {
				values.fill(*value);
			}
		}
	}
	match check(spec, &state) {
		Err(Unreachable::Element { tensor: found, index: 0, limit, .. }) => {
			assert_eq!((found.as_str(), limit), (tensor, expected));
		}
		other => panic!("{other:?}"),
	}
}

#[test]
fn made_up_states_are_refused() {
	let spec = small(|_| ());
	let (m, v) = ("optimizer.m.", "optimizer.v.");
	let (m0, v0) = ("optimizer.m.layers.0.weight", "optimizer.v.layers.0.weight");
	// Moments that round every gradient away for 169 steps.
	refused(&spec, &[(m, 1e15), (v, 1e38)], Limit::Size, m0);
	refused(&spec, &[(v, 1e38)], Limit::Size, v0);
	refused(&spec, &[(v, f32::INFINITY)], Limit::Number, v0);
	refused(&spec, &[(v, -1e-9)], Limit::Sign, v0);
	refused(&spec, &[(m, f32::NAN)], Limit::Number, m0);
	refused(&spec, &[("layers.1.bias", f32::NEG_INFINITY)], Limit::Number, "layers.1.bias");
	refused(&spec, &[(BETA1_POWER, 1.0)], Limit::Power, BETA1_POWER);
	refused(&spec, &[(BETA2_POWER, 1.0)], Limit::Power, BETA2_POWER);
	refused(&spec, &[(BETA2_POWER, f32::NAN)], Limit::Number, BETA2_POWER);
	// First moments that outweigh the second: a step of any length.
	refused(&spec, &[(m, 1e-3), (v, 1e-12)], Limit::Root, m0);
	refused(&spec, &[(m, 1e-15), (v, 0.0)], Limit::Root, m0);
	refused(&spec, &[("layers.0.bias", -1e30)], Limit::Size, "layers.0.bias");
	let sgd =
		small(|t| t.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: false });
	refused(
		&sgd,
		&[("optimizer.velocity", 10.01)],
		Limit::Size,
		"optimizer.velocity.layers.0.weight",
	);
	// Without clipping, the other bounds hold.
	let free = small(|t| t.clip_norm_nano = 0);
	refused(&free, &[(v, f32::INFINITY)], Limit::Number, v0);
	refused(&free, &[(m, 1e15), (v, 1e18)], Limit::Root, m0);
	refused(&free, &[(BETA1_POWER, 1.0)], Limit::Power, BETA1_POWER);
}

/// A mapping of zeros leaves the inputs as they are, and one that changes leaves what its seed drew.
#[test]
fn a_mapping_is_what_it_was() {
	let mut spec = small(|_| ()).into_spec();
	let layers = vec![Layer::Mapping { reflections: 2, patch: 0 }, Layer::Linear { outputs: 2 }];
	spec.model = Model::Layers { input: Input::Numbers, layers: layers.try_into().unwrap() };
	let spec = spec.check().unwrap();
	refused(&spec, &[("mapping.1", 0.0)], Limit::Magnitude, "mapping.1");
	refused(&spec, &[("mapping.0", 0.6)], Limit::Magnitude, "mapping.0");
	refused(&spec, &[("mapping.0", f32::NAN)], Limit::Number, "mapping.0");

	let vector = initial(&spec).remove("mapping.0").unwrap();
	let movement = Movement::over(&spec, 0, 10);
	assert_eq!(movement.tensor("mapping.0", &vector, &vector), Ok(()));
	let mut turned = vector.clone();
	turned[1] = -turned[1];
	let found = movement.tensor("mapping.0", &vector, &turned).unwrap_err();
	assert!(matches!(found, Unreachable::Element { index: 1, limit: Limit::Kept, .. }), "{found}");
	turned[1] = f32::NAN;
	assert!(movement.tensor("mapping.0", &vector, &turned).is_err());
}

#[test]
fn a_state_at_its_beginning_is_known() {
	let spec = small(|_| ());
	let mut state = initial(&spec);
	let at = Reachable::at(&spec, 0);
	assert_eq!(at.state(&spec, |name| state.get(name).map(Vec::as_slice)), Ok(()));
	state.get_mut("optimizer.v.layers.1.bias").unwrap()[1] = 1e-30;
	let found = at.state(&spec, |name| state.get(name).map(Vec::as_slice));
	let Err(error) = found else { panic!() };
	assert_eq!(
		error.to_string(),
		"element 1 of optimizer.v.layers.1.bias is 1e-30, but no honest run has a magnitude above 0e0"
	);
}

/// Each element is within its bound, but not all of them together.
#[test]
fn moments_share_the_norm() {
	let spec = small(|_| ());
	let state = honest(&spec);
	let at = Reachable::at(&spec, 50);
	let fill = |kind: &str, m: f32, v: f32| {
		let mut state = state.clone();
		for (name, values) in &mut state {
			if name.starts_with(kind) {
				values.fill(v);
			}
			if name.starts_with("optimizer.m.") && m != 0.0 {
				values.fill(m);
			}
		}
		at.state(&spec, |name| state.get(name).map(Vec::as_slice))
	};
	// 26 elements; each alone could be 0.99 and 0.048.
	let tensor = "optimizer.v.layers.0.weight".to_string();
	assert!(
		matches!(fill("optimizer.v.", 0.0, 0.047), Err(Unreachable::Sum { tensor: t, .. }) if t == tensor)
	);
	// A tensor at a time is within the norm, and all together are not.
	let found = fill("optimizer.v.", 0.0, 0.0035);
	assert!(
		matches!(&found, Err(Unreachable::Sum { tensor, .. }) if tensor.starts_with("all")),
		"{found:?}"
	);
	assert_eq!(fill("optimizer.v.", 0.0, 0.0018), Ok(()));
	assert!(matches!(fill("optimizer.v.", 0.3, 0.0018), Err(Unreachable::Sum { .. })));
}

/// The jump of the review: all weights 0, all hidden biases -1, moments 0.
#[test]
fn a_jump_past_the_movement_is_refused() {
	for change in [
		(|t: &mut Training| t.optimizer = adamw(900_000_000, 999_000_000, 10)) as fn(&mut Training),
		|t| {
			t.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: true };
			t.weight_decay_nano = 10_000_000;
		},
	] {
		let spec = small(change);
		let from = honest(&spec);
		let mut to = from.clone();
		let movement = Movement::over(&spec, 50, 60);
		let name = "layers.0.bias";
		let most = movement.most(from[name][0]);
		to.get_mut(name).unwrap().fill(-1.0);
		let found = movement.tensor(name, &from[name], &to[name]);
		let least = match found {
			Err(Unreachable::Element { limit: Limit::Least, bound, .. }) => bound,
			other => panic!("{other:?} {most}"),
		};
		// Up to its bound it passes.
		to.get_mut(name).unwrap().clone_from(&from[name]);
		to.get_mut(name).unwrap()[0] = least as f32 * 0.999;
		assert_eq!(movement.tensor(name, &from[name], &to[name]), Ok(()));
	}
}

/// A second moment fades by its decay and no faster.
#[test]
fn second_moments_cannot_vanish() {
	let spec = small(|_| ());
	let movement = Movement::over(&spec, 50, 100);
	let name = "optimizer.v.layers.0.bias";
	assert_eq!(movement.tensor(name, &[1e-3; 4], &[0.952e-3; 4]), Ok(()));
	let found = movement.tensor(name, &[1e-3; 4], &[1e-3, 1e-3, 0.95e-3, 0.0]);
	assert!(matches!(found, Err(Unreachable::Element { index: 2, limit: Limit::Least, .. })));
	let found = movement.tensor(name, &[0.0; 4], &[0.04, 0.05, 0.0, 0.0]);
	assert!(matches!(found, Err(Unreachable::Element { index: 1, limit: Limit::Most, .. })));
	let powers = Reachable::at(&spec, 100).bounds;
	assert_eq!(movement.tensor(BETA1_POWER, &[0.5], &[powers.power1]), Ok(()));
	assert!(movement.tensor(BETA2_POWER, &[0.5], &[powers.power1]).is_err());
}

#[test]
fn wrong_lengths_and_missing_tensors_are_named() {
	let spec = small(|_| ());
	let mut state = honest(&spec);
	state.get_mut("layers.0.bias").unwrap().push(0.0);
	let tensor = "layers.0.bias".to_string();
	assert_eq!(check(&spec, &state), Err(Unreachable::Length { tensor, expected: 4, found: 5 }));
	let tensor = "layers.0.weight".to_string();
	state.remove(&tensor);
	assert_eq!(check(&spec, &state), Err(Unreachable::Missing { tensor }));
	assert_eq!(lower::state(&spec).len(), 14);
}
