//! Whole runs on a device end in the states of the processor.

use super::devices;
use crate::{
	tests::{checked, other_specs, seed, small_spec, ADAM, SGD},
	Data, Engine, EngineError, Isa, State,
};
use std::sync::Arc;
use trainyard_program::spec::{JobSpec, Loss, MAX_NANO};

fn on_processor(spec: &JobSpec, data: &Arc<Data>) -> Engine {
	Engine::with_isa(&checked(spec), seed(), data.clone(), Isa::supported()[0]).unwrap()
}

fn jobs() -> Vec<(JobSpec, Arc<Data>)> {
	let mut jobs = vec![small_spec(vec![], SGD), small_spec(vec![9, 17], ADAM)];
	jobs.extend(other_specs());
	jobs
}

/// Step by step: equal losses and logits, equal states, equal evaluations; MLPs, a CNN and a
/// transformer, every optimizer and option.
#[test]
fn a_run_gives_the_states_of_the_processor() {
	for (name, target) in devices() {
		for (spec, data) in jobs() {
			let engine = Engine::on(&checked(&spec), seed(), data.clone(), target.clone()).unwrap();
			let reference = on_processor(&spec, &data);
			let mut state = Engine::initial_state(&checked(&spec), &seed(), None).unwrap();
			let mut expected = state.clone();
			let last = spec.training.steps.min(12) - 1;
			for step in 0..last {
				let trace = engine.step(&mut state, step).unwrap();
				assert!(state.tensors.is_empty(), "the state stays on the device");
				assert_eq!(trace, reference.step(&mut expected, step).unwrap(), "{name} at {step}");
			}
			assert_eq!(state.hash().unwrap(), expected.hash().unwrap(), "{name}");
			let found = engine.evaluate_slices(&state).unwrap();
			assert_eq!(found, reference.evaluate_slices(&expected).unwrap(), "{name}");
			// Copied back, it is the same state. The processor can go on with it, and the device
			// can go on with a state of the processor.
			let mut copy = state.clone();
			assert_eq!(copy.host().unwrap().len(), expected.tensors.len());
			assert_eq!(copy.hash().unwrap(), expected.hash().unwrap());
			reference.step(&mut state, last).unwrap();
			engine.step(&mut copy, last).unwrap();
			assert_eq!(state.hash().unwrap(), copy.hash().unwrap(), "{name}");
		}
	}
}

/// A NaN stops a run at the same step as on the processor, and the state stays what it was.
#[test]
fn divergence_is_found() {
	let (mut spec, data) = small_spec(vec![6], SGD);
	spec.training.learning_rate_nano = MAX_NANO;
	spec.training.loss = Loss::MeanSquaredError;
	spec.training.weight_decay_nano = 0;
	let reference = on_processor(&spec, &data);
	for (name, target) in devices() {
		let engine = Engine::on(&checked(&spec), seed(), data.clone(), target).unwrap();
		let mut state = Engine::initial_state(&checked(&spec), &seed(), None).unwrap();
		let mut expected = state.clone();
		let mut stopped = false;
		for step in 0..spec.training.steps {
			let before = state.clone();
			let found = engine.step(&mut state, step);
			match reference.step(&mut expected, step) {
				Ok(trace) => assert_eq!(found.unwrap(), trace, "{name}"),
				Err(expected) => {
					assert_eq!(found.unwrap_err().to_string(), expected.to_string(), "{name}");
					assert!(matches!(expected, EngineError::NotANumber { .. }));
					assert_eq!(state.hash().unwrap(), before.hash().unwrap());
					stopped = true;
					break;
				}
			}
		}
		assert!(stopped, "this rate diverges");
	}
}

/// A state of another job is refused, whether it comes from the processor or from the device.
#[test]
fn states_of_other_jobs_are_refused() {
	let (spec, data) = small_spec(vec![6], SGD);
	let (other, other_data) = small_spec(vec![7], SGD);
	for (_, target) in devices() {
		let engine = Engine::on(&checked(&spec), seed(), data.clone(), target.clone()).unwrap();
		let second = Engine::on(&checked(&other), seed(), other_data.clone(), target).unwrap();
		let mut state = Engine::initial_state(&checked(&other), &seed(), None).unwrap();
		assert!(matches!(engine.step(&mut state, 0), Err(EngineError::State { .. })));
		second.step(&mut state, 0).unwrap();
		assert!(matches!(engine.step(&mut state, 0), Err(EngineError::State { .. })));
		assert!(matches!(engine.evaluate(&State::default()), Err(EngineError::State { .. })));
		second.step(&mut state, 1).unwrap();
	}
}
