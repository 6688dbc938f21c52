//! Steps of virtual ranks, against plain steps, against the reference executor, and cut in different ways.

use super::*;
use crate::ranks::{add, root, Node, Ranks, Rows};

/// Bits of a state.
fn bits(state: &State) -> BTreeMap<String, Vec<u32>> {
	let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect();
	as_vectors(state).into_iter().map(|(name, values)| (name, bits(values))).collect()
}

/// Every model and option of the other tests, with batches that can be cut in many ways.
fn all_specs(batch: u32) -> Vec<(CheckedSpec, Arc<Data>)> {
	let mut all = other_specs();
	all.extend([small_spec(vec![], SGD), small_spec(vec![9, 17], ADAM), text_spec()]);
	let cut = |(mut spec, data): (JobSpec, Arc<Data>)| {
		spec.training.batch_size = batch;
		(checked(&spec), data)
	};
	all.into_iter().map(cut).collect()
}

fn begin(spec: &CheckedSpec) -> State {
	Engine::initial_state(spec, &seed(), None).unwrap()
}

#[test]
fn one_rank_is_a_plain_step() {
	for (spec, data) in all_specs(7) {
		let engine = Engine::new(&spec, seed(), data).unwrap();
		let ranks = Ranks::new(&spec, 1).unwrap();
		let (mut plain, mut ranked) = (begin(&spec), begin(&spec));
		for step in 0..spec.training.steps {
			let trace = engine.step(&mut plain, step).unwrap();
			let done = ranks.step(&engine, &mut ranked, step).unwrap();
			assert_eq!(done.loss.to_bits(), trace.loss.to_bits());
			assert_eq!(done.gradient_norm.map(f32::to_bits), trace.gradient_norm.map(f32::to_bits));
			assert_eq!(bits(&ranked), bits(&plain), "step {step}");
		}
	}
}

/// The nodes of any level, computed one by one and in any order, lead to the same root as one process that computes
/// all; and another number of ranks leads elsewhere.
#[test]
fn who_computes_what_does_not_matter() {
	for (spec, data) in all_specs(12) {
		let engine = Engine::new(&spec, seed(), data).unwrap();
		let mut after = Vec::new();
		for count in [1, 2, 3, 4, 6, 12] {
			let ranks = Ranks::new(&spec, count).unwrap();
			let mut alone = begin(&spec);
			for step in 0..3 {
				ranks.step(&engine, &mut alone, step).unwrap();
			}
			for level in 0..=Node::root_level(count) {
				let mut state = begin(&spec);
				for step in 0..3 {
					let numbers = ranks.parameters_of(&mut state).unwrap();
					assert_eq!(numbers.len(), ranks.parameters_len());
					let parameters = ranks.parameters_from(&numbers).unwrap();
					let nodes = 0..Node::count(level, count);
					// The last one first.
					let mut sums: Vec<Vec<f32>> = nodes
						.rev()
						.map(|index| {
							let node = Node { level, index };
							let rows = ranks.rows_of(&engine, step, node).unwrap();
							ranks.sum(&parameters, &seed(), step, node, &rows).unwrap()
						})
						.collect();
					sums.reverse();
					ranks.update(&mut state, step, root(sums).unwrap()).unwrap();
				}
				assert_eq!(bits(&state), bits(&alone), "{count} ranks, level {level}");
			}
			after.push(bits(&alone));
		}
		for (at, one) in after.iter().enumerate() {
			assert!(after[at + 1..].iter().all(|other| other != one), "{at}");
		}
	}
}

/// The definition, by the reference executor: gradients of parts, added in pairs, and an update by hand.
#[test]
fn ranks_are_parts_whose_gradients_are_added_in_a_tree() {
	let optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
	let (mut spec, data) = small_spec(vec![6], optimizer);
	(spec.training.batch_size, spec.training.weight_decay_nano) = (20, 0);
	let whole = checked(&spec);
	spec.training.batch_size = 4;
	let program = lower::training_step(&checked(&spec));
	let engine = Engine::new(&whole, seed(), data).unwrap();
	let mut state = begin(&whole);
	let before = as_vectors(&state);
	let (x, y) = batch(&engine, 0);
	let parts: Vec<_> = x
		.chunks(4 * 5)
		.zip(y.chunks(4))
		.map(|(x, y)| exec::run(&program, x, y, &before).unwrap())
		.collect();
	let [a, b, c, d, e] = &parts[..] else { panic!("not five parts") };
	let sum = |id: u32| -> Vec<f32> {
		let of = |part: &exec::Values| part.get(id).to_vec();
		let pairs = |x: Vec<f32>, y: Vec<f32>| -> Vec<f32> {
			x.iter().zip(y).map(|(x, y)| x + y).collect()
		};
		pairs(pairs(pairs(of(a), of(b)), pairs(of(c), of(d))), of(e))
	};
	let done = Ranks::new(&whole, 5).unwrap().step(&engine, &mut state, 0).unwrap();
	let loss = sum(program.find(Role::Loss).unwrap())[0] / 5.0;
	assert_eq!(done.loss.to_bits(), loss.to_bits());
	let rate = 0.02f32;
	for (id, tensor) in program.state().filter(|(_, t)| !t.name.starts_with("optimizer.")) {
		let named = format!("{}.gradient", tensor.name);
		let gradient = program.tensors.iter().position(|t| t.name == named).unwrap() as u32;
		let expected = before[&tensor.name]
			.iter()
			.zip(sum(gradient))
			.map(|(x, g)| (-rate).mul_add(g / 5.0, *x));
		let found = &as_vectors(&state)[&tensor.name];
		assert!(expected.map(f32::to_bits).eq(found.iter().map(|x| x.to_bits())), "{id}");
	}
}

#[test]
fn ranks_draw_each_for_itself() {
	let twice = |spec: &CheckedSpec, data: Arc<Data>| {
		let engine = Engine::new(spec, seed(), data).unwrap();
		let ranks = Ranks::new(spec, 2).unwrap();
		// The rows of rank 0 for both.
		let first = Node { level: 0, index: 0 };
		let rows = ranks.rows_of(&engine, 1, first).unwrap();
		let parameters = ranks.parameters_of(&mut begin(spec)).unwrap();
		let parameters = ranks.parameters_from(&parameters).unwrap();
		[first, Node { level: 0, index: 1 }]
			.map(|node| ranks.sum(&parameters, &seed(), 1, node, &rows).unwrap())
	};
	let (mut spec, data) = small_spec(vec![6], SGD);
	spec.training.batch_size = 10;
	let [one, other] = twice(&checked(&spec), data.clone());
	assert_eq!(one, other, "nothing is drawn");
	spec.training.input_noise_nano = 10_000_000;
	let [one, other] = twice(&checked(&spec), data);
	assert_ne!(one, other, "noise");
	let (mut spec, data) = text_spec();
	spec.training.batch_size = 10;
	if let Model::Transformer { dropout_nano, .. } = &mut spec.model {
		*dropout_nano = 500_000_000;
	}
	let [one, other] = twice(&checked(&spec), data);
	assert_ne!(one, other, "dropout");
	assert_eq!(Ranks::seed_of(&seed(), 0), seed());
	assert_ne!(Ranks::seed_of(&seed(), 1), Ranks::seed_of(&seed(), 2));
}

#[test]
fn what_does_not_fit_is_refused() {
	let (mut spec, data) = small_spec(vec![6], SGD);
	spec.training.batch_size = 12;
	let spec = checked(&spec);
	for count in [0, 5, 7, 24, u32::MAX] {
		let error = Ranks::new(&spec, count).err().unwrap().to_string();
		assert!(error.contains("12 rows") && error.contains(&count.to_string()), "{error}");
	}
	let engine = Engine::new(&spec, seed(), data).unwrap();
	let ranks = Ranks::new(&spec, 4).unwrap();
	let node = Node { level: 1, index: 1 };
	assert_eq!((node.ranks(4), Node { level: 40, index: 0 }.ranks(4)), (2..4, 0..4));
	let rows = ranks.rows_of(&engine, 0, node).unwrap();
	assert_eq!((rows.features.len(), rows.labels.len()), ranks.row_lens(2));
	let numbers = ranks.parameters_of(&mut begin(&spec)).unwrap();
	let parameters = ranks.parameters_from(&numbers).unwrap();
	let sum = |rows: &Rows| ranks.sum(&parameters, &seed(), 0, node, rows);
	assert_eq!(sum(&rows).unwrap().len(), ranks.sum_len());
	let short = Rows { labels: rows.labels[1..].to_vec(), ..rows.clone() };
	assert!(sum(&short).unwrap_err().to_string().contains("2 ranks"));
	let mut bad = rows.clone();
	bad.labels[3] = 3;
	assert!(sum(&bad).unwrap_err().to_string().contains("label 3"));
	for node in [Node { level: 9, index: 0 }, Node { level: 0, index: 4 }] {
		let error = ranks.sum(&parameters, &seed(), 0, node, &rows).unwrap_err().to_string();
		assert!(error.contains("no node over 4 ranks"), "{error}");
	}
	assert!(ranks.parameters_from(&numbers[1..]).is_err());
	assert!(ranks.parameters_from(&[&numbers[..], &[0.0]].concat()).is_err());
	let mut state = begin(&spec);
	assert!(ranks.update(&mut state, 0, vec![0.0; ranks.sum_len() - 1]).is_err());
	assert!(engine.batch_rows(spec.training.steps, 0..1).is_err());
	// A gradient that is not a number leaves the state as it was.
	let before = bits(&state);
	let diverged = ranks.update(&mut state, 0, vec![f32::NAN; ranks.sum_len()]);
	assert!(matches!(diverged, Err(EngineError::NotANumber { step: 0, .. })), "{diverged:?}");
	assert_eq!(bits(&state), before);
}

#[test]
fn long_sums_are_those_of_short_ones() {
	let x: Vec<f32> = (0..150_001).map(|i| (i as f32 * 0.37).sin()).collect();
	let y: Vec<f32> = (0..150_001).map(|i| (i as f32 * 0.11).cos() * 1e-3).collect();
	let mut sum = x.clone();
	add(&mut sum, &y);
	assert!(sum.iter().zip(x.iter().zip(&y)).all(|(sum, (x, y))| *sum == x + y));
	assert_eq!(root(vec![]), None);
	assert_eq!(Node::count(2, 5), 2);
	assert_eq!([1, 2, 3, 4, 5, 8].map(Node::root_level), [0, 1, 2, 2, 3, 3]);
}
