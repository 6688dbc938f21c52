use super::*;
use std::ops::ControlFlow;

/// Records a computation: the name of each result, and its content.
fn record(
	program: &Program,
	run: impl FnOnce(&mut Recording<'_>) -> Result<(), EngineError>,
) -> Vec<(String, H256)> {
	let mut found = Vec::new();
	let mut see = |made: &Made<'_>| {
		let out = program.ops[made.op() as usize].out;
		let name = program.tensor(out).unwrap().name.clone();
		found.push((name, host::hash_of(made.elements(out)?.slice())));
		Ok(ControlFlow::Continue(()))
	};
	run(&mut see).unwrap();
	assert_eq!(found.len(), program.ops.len());
	found
}

#[test]
fn recorded_steps_come_to_what_steps_come_to() {
	let momentum = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: true };
	let (spec, data) = small_spec(vec![6, 4], momentum);
	let spec = spec.check().unwrap();
	let engine = Engine::new(&spec, H256::repeat_byte(3), data).unwrap();
	let mut state = Engine::initial_state(&spec, &H256::repeat_byte(3), None).unwrap();
	let program = lower::training_step(&spec);
	for step in 0..3 {
		let before = state.hash().unwrap();
		let found = record(&program, |see| engine.record_step(&state, step, see));
		assert_eq!(state.hash().unwrap(), before, "it stays as it is");
		let made = engine.step(&mut state, step).unwrap();
		let content = |id: u32| {
			let name = &program.tensor(id).unwrap().name;
			found.iter().find(|(found, _)| found == name).unwrap().1
		};
		assert_eq!(content(program.find(Role::Logits).unwrap()), made.logits);
		assert_eq!(content(program.find(Role::Loss).unwrap()), host::hash_of(&[made.loss]));
		for (new, old) in program.next_state() {
			let name = &program.tensor(old).unwrap().name;
			assert_eq!(content(new), state.content(name).unwrap(), "{name}");
		}
	}
	let error = engine.record_step(&state, 40, &mut |_| Ok(ControlFlow::Continue(())));
	assert!(matches!(error, Err(EngineError::NoSuchStep { step: 40, steps: 40 })));
}

#[test]
fn recorded_slices_come_to_what_evaluations_come_to() {
	let (mut spec, _) = small_spec(vec![3], Optimizer::Sgd { momentum_nano: 0, nesterov: false });
	(spec.dataset.train_rows, spec.dataset.validation_rows) = (8_400, 2_100);
	let spec = spec.check().unwrap();
	let data = Data { train: synthetic(8_400, 5, 3), validation: synthetic(2_100, 5, 3) };
	let engine = Engine::new(&spec, H256::repeat_byte(3), Arc::new(data)).unwrap();
	let state = Engine::initial_state(&spec, &H256::repeat_byte(3), None).unwrap();
	let expected = engine.evaluate_slices(&state).unwrap();
	let values = engine.evaluate_values(&state).unwrap();
	assert_eq!((expected.slices.len(), values.len()), (3, 3));
	let mut correct = 0;
	for (slice, (values, contents)) in (0..).zip(values.iter().zip(&expected.slices)) {
		let found = (host::hash_of(&values.losses), host::hash_of(&values.correct));
		assert_eq!(found, *contents);
		correct += values.correct.iter().filter(|hit| **hit == 1.0).count() as u32;
		let rows = spec.slice(slice).unwrap();
		let program = lower::evaluation_of(&spec, rows.end - rows.start);
		let all = record(&program, |see| engine.record_slice(&state, slice, see));
		let content = |role| {
			let name = &program.tensor(program.find(role).unwrap()).unwrap().name;
			all.iter().find(|(found, _)| found == name).unwrap().1
		};
		assert_eq!((content(Role::RowLosses), content(Role::Correct)), *contents);
	}
	assert_eq!(correct, expected.evaluation.correct);
	let error = engine.record_slice(&state, 3, &mut |_| Ok(ControlFlow::Continue(())));
	assert!(matches!(error, Err(EngineError::NoSuchSlice { slice: 3, slices: 3 })));
}

/// What nobody reads any more is freed, and a recording ends where it is told to.
#[test]
fn recordings_take_no_more_than_they_need() {
	let (spec, data) = small_spec(vec![6, 4], Optimizer::Sgd { momentum_nano: 0, nesterov: false });
	let spec = spec.check().unwrap();
	let engine = Engine::new(&spec, H256::repeat_byte(3), data).unwrap();
	let state = Engine::initial_state(&spec, &H256::repeat_byte(3), None).unwrap();
	let program = lower::training_step(&spec);
	let last = program.ops.len() as u32 - 1;
	let (mut freed, mut seen) = (0, 0);
	engine
		.record_step(&state, 0, &mut |made| {
			seen += 1;
			assert_eq!(made.labels()?.len(), 7);
			if made.op() == last {
				for op in &program.ops {
					freed += u32::from(made.elements(op.out).is_err());
				}
			}
			Ok(ControlFlow::Continue(()))
		})
		.unwrap();
	assert_eq!(seen, last + 1);
	assert!(freed > 3, "{freed}");
	let mut seen = 0;
	engine
		.record_step(&state, 0, &mut |made| {
			seen += 1;
			Ok(if made.op() == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
		})
		.unwrap();
	assert_eq!(seen, 5);
}
