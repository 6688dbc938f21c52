use super::*;
use crate::{
	inputs::{InputPaths, Inputs},
	testing::{job, table},
};
use trainyard_program::spec::{Loss, Optimizer, ONE_NANO};
use trainyard_protocol::drill::{
	reference::{self, Tables},
	TrialTemplate,
};

/// Computes the unit with every instruction set, on 1, 2 and 8 threads.
fn everywhere(unit: Unit<'_>, data: Option<&Arc<Data>>) -> Vec<(String, UnitResult)> {
	let mut found = Vec::new();
	for isa in Isa::supported() {
		for threads in [1, 2, 8] {
			let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
			let result = pool.install(|| {
				let (stop, mut calls) = (AtomicBool::new(false), 0);
				let progress = &mut |done, all| {
					calls += 1;
					assert!(done == calls && done <= all);
				};
				let (target, data) = (Target::Cpu(isa), data.cloned());
				compute(unit, Options { target, data, progress, stop: &stop })
			});
			found.push((format!("{isa} on {threads}"), result.unwrap()));
		}
	}
	match Compute::Cuda(0).target() {
		Ok(target) => {
			let (stop, data) = (AtomicBool::new(false), data.cloned());
			let options = Options { target, data, progress: &mut |_, _| {}, stop: &stop };
			found.push(("a GPU".into(), compute(unit, options).unwrap()));
		}
		Err(why) => println!("not on a GPU: {why}"),
	}
	found
}

/// Checks that a unit, computed everywhere, equals what the reference computes.
fn check(template: &Template, index: u32, seed: u8) {
	let unit = Unit { template, index, seed: H256::repeat_byte(seed) };
	let expected = reference::unit(template, index, &unit.seed, Tables::default()).unwrap();
	for (place, found) in everywhere(unit, None) {
		assert_eq!(found, expected, "{place}: {template:?}");
	}
}

#[test]
fn chains_are_the_reference_everywhere() {
	// Sizes that no vector divides, and one at which threads take part; all of them are units.
	for (size, links) in [(16, 25_000), (33, 4_000), (70, 700), (131, 110), (520, 2)] {
		check(&Template::Chain { size, links }, 3, size as u8);
	}
}

#[test]
fn calibrations_are_the_reference_everywhere() {
	for passes in [12, 13] {
		check(&Template::Calibration { passes }, 0, passes as u8);
	}
}

/// A small trial, with the table on which it trains.
fn trial(rates: Vec<u64>) -> (TrialTemplate, Inputs) {
	let folder = tempfile::tempdir().unwrap();
	let path = table(folder.path());
	let mut spec = job(&path).into_spec();
	let hidden = vec![64, 32].try_into().unwrap();
	spec.model = trainyard_program::spec::Model::Mlp {
		hidden,
		activation: trainyard_program::spec::Activation::Gelu,
	};
	spec.training.input_noise_nano = 20_000_000;
	spec.training.steps = 4_200;
	let inputs = Inputs::load(&spec.clone().check().unwrap(), &InputPaths::data(path)).unwrap();
	(TrialTemplate { spec, learning_rates_nano: rates.try_into().unwrap() }, inputs)
}

/// What the reference makes of a trial.
fn expected(template: &Template, index: u32, seed: H256, data: &Data) -> UnitResult {
	let rows = |table: &trainyard_engine::Table| {
		let all = 0..table.labels();
		table.gather(all, 1).unwrap()
	};
	let (train, validation) = (rows(&data.train), rows(&data.validation));
	let tables = Tables { train: (&train.0, &train.1), validation: (&validation.0, &validation.1) };
	reference::unit(template, index, &seed, tables).unwrap()
}

#[test]
fn trials_are_the_reference_everywhere() {
	let (trial, inputs) = trial(vec![1_000_000, 8_000_000]);
	let template = Template::Trial(trial);
	for index in [0, 3] {
		let unit = Unit { template: &template, index, seed: H256::repeat_byte(9) };
		let expected = expected(&template, index, unit.seed, &inputs.data);
		assert!(template.takes(&expected) && expected.score.unwrap().correct > 10);
		for (place, found) in everywhere(unit, Some(&inputs.data)) {
			assert_eq!(found, expected, "{place}");
		}
	}
}

/// A trial that diverges also has a result, and it is the same everywhere.
#[test]
fn diverging_trials_are_the_reference_everywhere() {
	let (mut trial, inputs) = trial(vec![ONE_NANO]);
	trial.spec.training.loss = Loss::MeanSquaredError;
	trial.spec.training.optimizer = Optimizer::Sgd { momentum_nano: 999_000_000, nesterov: false };
	let template = Template::Trial(trial);
	let unit = Unit { template: &template, index: 0, seed: H256::repeat_byte(9) };
	let expected = expected(&template, 0, unit.seed, &inputs.data);
	assert_eq!(expected.score, None);
	for (place, found) in everywhere(unit, Some(&inputs.data)) {
		assert_eq!(found, expected, "{place}");
	}
}

#[test]
fn what_cannot_be_computed_is_refused() {
	let stop = AtomicBool::new(true);
	let run = |template: &Template| {
		let unit = Unit { template, index: 0, seed: H256::zero() };
		compute(unit, Options::chosen(None, &mut |_, _| {}, &stop).unwrap()).unwrap_err()
	};
	let chain = Template::Chain { size: 64, links: 500 };
	assert!(matches!(run(&chain), UnitError::Stopped));
	let (trial, _) = trial(vec![1_000_000]);
	let trial = Template::Trial(trial);
	assert!(matches!(run(&trial), UnitError::NoData));
	let wrong = Template::Chain { size: 64, links: 0 };
	assert!(run(&wrong).to_string().contains("at least one link"));
	// A made-up result has the form of a result, and is not the true one.
	let seed = H256::repeat_byte(3);
	assert!(trial.takes(&fabricate(&trial, &seed)) && chain.takes(&fabricate(&chain, &seed)));
	assert_eq!(fabricate(&chain, &seed), fabricate(&chain, &seed));
}
