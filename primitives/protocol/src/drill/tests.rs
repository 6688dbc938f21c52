use super::{reference::Tables, *};
use crate::{Text, H256};
use trainyard_program::spec::{self, Schedule, SpecError};

fn chain(size: u32, links: u32) -> Template {
	Template::Chain { size, links }
}

fn calibration(passes: u32) -> Template {
	Template::Calibration { passes }
}

/// The digits job with noise, and three rates.
fn trial() -> TrialTemplate {
	let mut spec = JobSpec::example();
	spec.training.input_noise_nano = 10_000_000;
	spec.training.steps = 500;
	let learning_rates_nano = vec![500_000, 2_000_000, 8_000_000].try_into().unwrap();
	TrialTemplate { spec, learning_rates_nano }
}

#[test]
fn difficulties_are_counted() {
	// Noise is 53 FLOP an element; a link adds dots of 64, and tanh of 42.
	let begin = 64 * 64 * 53;
	let link = 64 * 64 * (53 + 128 + 42);
	assert_eq!(chain(64, 1).flop(), Ok(begin + link));
	assert_eq!(chain(64, 1_000).flop(), Ok(begin + 1_000 * link));
	let work = (begin + 1_000 * link) / 432_000;
	assert_eq!(chain(64, 1_000).difficulty(), Ok(work as u64));

	let pass = 10 * 4_096 * 53 + 4_096 * 16 * trainyard_strict::whetstone::CYCLE_FLOP;
	assert_eq!(calibration(7).flop(), Ok(7 * pass));
	assert_eq!(calibration(20).difficulty(), Ok((20 * pass / 432_000) as u64));

	// Steps, and not the evaluation.
	let spec = trial().spec.check().unwrap();
	let parts = trainyard_program::work::Parts::of(&spec);
	let flop = 500 * parts.step;
	assert_eq!(Template::Trial(trial()).flop(), Ok(flop));
	assert_eq!(Template::Trial(trial()).difficulty(), Ok((flop / 432_000) as u64));
}

#[test]
fn power_is_never_more_than_the_work() {
	for template in [chain(64, 999), chain(100, 333), calibration(13), Template::Trial(trial())] {
		let flop = template.flop().unwrap();
		let work = u128::from(template.difficulty().unwrap()) * FLOP_PER_MICRO_UT;
		assert!(work <= flop && flop < work + FLOP_PER_MICRO_UT);
	}
}

#[test]
fn shapes_and_work_are_bounded() {
	use DrillError::*;
	assert_eq!(chain(15, 1_000_000).validate(), Err(BadSize));
	assert_eq!(chain(4_097, 1).validate(), Err(BadSize));
	assert_eq!(chain(64, 0).validate(), Err(NoLinks));
	assert_eq!(calibration(0).validate(), Err(NoPasses));
	for (few, most) in
		[(chain(64, 1), chain(64, u32::MAX)), (calibration(1), calibration(u32::MAX))]
	{
		assert_eq!(few.validate(), Err(TooLittleWork));
		assert_eq!(most.validate(), Err(TooMuchWork));
	}
	// The fewest that are enough, and the most that are not too many.
	for template in [|n| chain(64, n), calibration] {
		for (limit, error) in [(MIN_UNIT_WORK, TooLittleWork), (MAX_UNIT_WORK + 1, TooMuchWork)] {
			let (mut below, mut above) = (1u32, 1 << 24);
			while above - below > 1 {
				let middle = (below + above) / 2;
				let flop = template(middle).flop().unwrap();
				match flop < u128::from(limit) * FLOP_PER_MICRO_UT {
					true => below = middle,
					false => above = middle,
				}
			}
			let inside = if limit == MIN_UNIT_WORK { above } else { below };
			let outside = if limit == MIN_UNIT_WORK { below } else { above };
			assert_eq!(template(inside).validate(), Ok(()));
			assert_eq!(template(outside).validate(), Err(error));
		}
	}
	assert_eq!(chain(MAX_CHAIN_SIZE, 1).validate(), Ok(()));
}

#[test]
fn trials_must_be_work() {
	use DrillError::*;
	assert_eq!(Template::Trial(trial()).validate(), Ok(()));
	type Change = fn(&mut TrialTemplate);
	let cases: [(DrillError, Change); 13] = [
		(NoRates, |t| t.learning_rates_nano = Default::default()),
		(Spec(SpecError::BadLearningRate), |t| {
			t.learning_rates_nano = vec![1_000_000, 0].try_into().unwrap()
		}),
		(Spec(SpecError::BadLearningRate), |t| {
			t.learning_rates_nano = vec![u64::MAX, 1].try_into().unwrap()
		}),
		(Spec(SpecError::BadFinalRate), |t| {
			t.spec.training.schedule = Schedule::Cosine { final_rate_nano: 600_000 }
		}),
		(Spec(SpecError::BadSteps), |t| t.spec.training.steps = 0),
		(NoPower(spec::NoPower::FineTuning), |t| {
			let parameters = H256::repeat_byte(3);
			let file = t.spec.dataset.file();
			t.spec.initial_model = Some(spec::InitialModel { file, parameters })
		}),
		(EarlyStop, |t| {
			t.spec.training.early_stop = Some(spec::EarlyStop { patience: 1, min_delta_nano: 0 })
		}),
		(NoPower(spec::NoPower::SameInputs), |t| t.spec.training.input_noise_nano = 0),
		(NoPower(spec::NoPower::Standstill), |t| {
			t.learning_rates_nano = vec![1_000_000, 999].try_into().unwrap()
		}),
		(DataTooLarge, |t| t.spec.dataset.bytes = MAX_TRIAL_BYTES + 1),
		(TooLittleWork, |t| t.spec.training.steps = 1),
		(TooMuchWork, |t| t.spec.training.steps = 10_000_000),
		(Spec(SpecError::BadLocation), |t| t.spec.dataset.location = Text::default()),
	];
	for (error, change) in cases {
		let mut template = trial();
		change(&mut template);
		assert_eq!(Template::Trial(template).validate(), Err(error));
	}
}

/// Steps alone are counted as power, so what else a trial asks needs limits of its own: drillers and
/// verifiers are drawn, and did not choose it.
#[test]
fn trials_fit_the_machines_that_compute_them() {
	use DrillError::*;
	let relu = |hidden: u32| spec::Model::Mlp {
		hidden: vec![hidden].try_into().unwrap(),
		activation: spec::Activation::Relu,
	};
	// As many rows to train on as to validate with.
	let rows = |trial: &mut TrialTemplate, count: u32| {
		let dataset = &mut trial.spec.dataset;
		(dataset.validation_every, dataset.train_rows, dataset.validation_rows) = (2, count, count);
	};
	// One step of this is less than 1 ut, and a tensor of it has 16 GiB.
	let mut wide = trial();
	wide.spec.dataset.features = 1;
	wide.spec.dataset.classes = 2;
	rows(&mut wide, 65_536);
	wide.spec.model = relu(65_536);
	wide.spec.training.batch_size = 65_536;
	wide.spec.training.steps = 1;
	let parts = trainyard_program::work::Parts::of(&wide.at(500_000).check().unwrap());
	assert!(parts.step < u128::from(MAX_UNIT_WORK) * FLOP_PER_MICRO_UT);
	assert_eq!(Template::Trial(wide).validate(), Err(MemoryTooLarge));

	let mut long = trial();
	rows(&mut long, 50_000_000);
	assert_eq!(Template::Trial(long).validate(), Err(RowsTooLarge));

	// Its rows fit, and its steps are short, but not the evaluation.
	let mut late = small_trial(vec![1_000_000]);
	late.spec.model = relu(512);
	late.spec.training.steps = 10_000;
	assert_eq!(Template::Trial(late.clone()).validate(), Ok(()));
	let difficulty = Template::Trial(late.clone()).difficulty();
	rows(&mut late, 10_000);
	let measure = Template::Trial(late.clone()).measure().unwrap();
	assert_eq!(Ok(measure.difficulty), difficulty, "it earns nothing");
	late.spec.model = relu(2_048);
	late.spec.training.steps = 1_000;
	assert_eq!(Template::Trial(late.clone()).validate(), Ok(()));
	rows(&mut late, 30_000_000);
	assert_eq!(Template::Trial(late).validate(), Err(TooMuchWork));
}

#[test]
fn needs_are_counted() {
	let needs = |template: Template| template.measure().unwrap().needs;
	let job = trial().spec.check().unwrap();
	let (of_job, parts) = Needs::and_parts(&job);
	let found = needs(Template::Trial(trial()));
	let flop = 500 * parts.step + parts.evaluation;
	assert_eq!(u128::from(found.work), flop.div_ceil(FLOP_PER_MICRO_UT));
	let mib = |bytes: u64| u64::from(bytes.div_ceil(1 << 20) as u32);
	assert_eq!(u64::from(found.disk_mib), mib(of_job.files + of_job.rows));
	assert!(found.memory_mib >= 128 && found.disk_mib >= 1);
	// Zeros, X, W, X W, and the next X, of 64 MiB each.
	let of_chain = needs(chain(MAX_CHAIN_SIZE, 1));
	assert_eq!((of_chain.memory_mib, of_chain.disk_mib), (128 + 5 * 64, 0));
	assert_eq!(needs(calibration(20)).memory_mib, 129);
}

#[test]
fn units_of_a_trial_take_the_rates_in_turn() {
	let template = Template::Trial(trial());
	let rate = |index| template.trial(index).unwrap().training.learning_rate_nano;
	assert_eq!([0, 1, 2, 3, 4].map(rate), [500_000, 2_000_000, 8_000_000, 500_000, 2_000_000]);
	let job = template.trial(u32::MAX).unwrap();
	assert_eq!(job.segments(), 1);
	assert_eq!(chain(64, 10).trial(0), None);
	assert_eq!(trial().learning_rate_nano(4), Some(2_000_000));
}

#[test]
fn results_have_the_form_of_their_template() {
	let score = Evaluation::new(0.5, 300, 359);
	let state = H256::repeat_byte(1);
	let with = |score| UnitResult { state, score };
	let template = Template::Trial(trial());
	assert!(template.takes(&with(Some(score))) && template.takes(&with(None)));
	for wrong in [
		Evaluation::new(f32::NAN, 300, 359),
		Evaluation::new(0.5, 360, 359),
		Evaluation::new(0.5, 300, 360),
	] {
		assert!(!template.takes(&with(Some(wrong))), "{wrong:?}");
	}
	assert!(chain(64, 10).takes(&with(None)) && !chain(64, 10).takes(&with(Some(score))));
	// A trial that diverged may have cost a single step.
	assert_eq!(template.credit(7, &with(Some(score))), 7);
	assert_eq!(template.credit(7, &with(None)), 0);
	assert_eq!(chain(64, 10).credit(7, &with(None)), 7);
}

/// The layouts are frozen: clients in other languages build them by hand.
#[test]
fn layouts() {
	use codec::Encode;
	use sp_crypto_hashing::blake2_256;
	let mut bytes = b"trainyard/drill/seed/v1".to_vec();
	bytes.extend([3; 32]);
	bytes.extend([4, 0, 0, 0, 5, 0, 0, 0]);
	assert_eq!(unit_seed(&H256([3; 32]), 4, 5), H256(blake2_256(&bytes)));

	let score = Some(Evaluation::new(f32::from_bits(6), 7, 8));
	for score in [None, score] {
		let result = UnitResult { state: H256([2; 32]), score };
		let mut bytes = b"trainyard/drill/v1".to_vec();
		bytes.extend([1; 32]);
		bytes.extend(258u64.to_le_bytes());
		bytes.extend([9; 32]);
		bytes.extend([2; 32]);
		match score {
			None => bytes.push(0),
			Some(_) => bytes.extend([1, 6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0]),
		}
		bytes.extend([4; 32]);
		let made = commitment(&H256([1; 32]), 258, &[9u8; 32], &result, &[4; 32]);
		assert_eq!(made, H256(blake2_256(&bytes)));
	}
	assert_eq!(chain(300, 4).encode(), [0, 44, 1, 0, 0, 4, 0, 0, 0]);
	assert_eq!(calibration(9).encode(), [2, 9, 0, 0, 0]);
	assert_eq!(Template::Trial(trial()).encode()[0], 1);
	assert_eq!([Mismatch::Majority, Mismatch::AllLose].map(|rule| rule.encode()), [[0], [1]]);
}

#[test]
fn templates_are_read_from_text() {
	let read = |text: &str| serde_json::from_str::<Template>(text);
	assert_eq!(read(r#"{"chain": {"size": 64, "links": 9}}"#).unwrap(), chain(64, 9));
	assert_eq!(read(r#"{"calibration": {"passes": 3}}"#).unwrap(), calibration(3));
	let template = Template::Trial(trial());
	let text = serde_json::to_string(&template).unwrap();
	assert_eq!(read(&text).unwrap(), template);
	assert!(read(r#"{"calibration": {"passes": 3, "links": 1}}"#).is_err());
}

/// A seed of one repeated byte.
fn seed(byte: u8) -> H256 {
	H256::repeat_byte(byte)
}

fn result(template: &Template, index: u32, byte: u8) -> UnitResult {
	reference::unit(template, index, &seed(byte), Tables::default()).unwrap()
}

#[test]
fn seeds_sizes_and_lengths_change_the_result() {
	let one = result(&chain(16, 3), 0, 1);
	assert_eq!(result(&chain(16, 3), 7, 1), one, "a chain is its seed");
	for other in
		[result(&chain(16, 3), 0, 2), result(&chain(16, 4), 0, 1), result(&chain(17, 3), 0, 1)]
	{
		assert_ne!(other.state, one.state);
	}
	let one = result(&calibration(1), 0, 1);
	for other in [result(&calibration(1), 0, 2), result(&calibration(2), 0, 1)] {
		assert_ne!(other.state, one.state);
	}
}

/// The values of a chain stay spread out: products of zeros, or of ones, could be left out.
#[test]
fn a_chain_stays_alive() {
	use trainyard_program::reference::{run_at, State, StepContext};
	for size in [16, 50] {
		let zeros = vec![0.0; (size * size) as usize];
		let mut state = State::from([("x".into(), zeros.clone())]);
		let (begin, link) = (program::begin(size), program::link(size));
		for step in 0..=60 {
			let list = if step == 0 { &begin } else { &link };
			let moment = StepContext { seed: seed(4), step };
			run_at(list, &zeros, &[], &state, moment).unwrap().advance(list, &mut state);
		}
		let x = &state["x"];
		let mean = x.iter().map(|x| f64::from(*x)).sum::<f64>() / x.len() as f64;
		let square = x.iter().map(|x| f64::from(x * x)).sum::<f64>() / x.len() as f64;
		assert!(mean.abs() < 0.2 && (0.2..0.9).contains(&square), "{mean} {square}");
		let saturated = x.iter().filter(|x| x.abs() == 1.0).count();
		assert!(saturated * 50 < x.len(), "{saturated}");
	}
}

#[test]
fn deviations_are_the_gain_over_the_root() {
	assert_eq!(program::deviation(16).0, 375_000_000);
	assert_eq!(program::deviation(4_096).0, 23_437_500);
	assert_eq!(program::deviation(100).0, 150_000_000);
	assert_eq!(program::deviation(17).0, (1.5e9 / 17f64.sqrt()).floor() as u64);
}

/// A small table of two classes that can be distinguished.
fn table(rows: u32) -> (Vec<f32>, Vec<u32>) {
	let label = |row: u32| row % 2;
	let value = |row: u32, j: u32| label(row) as f32 + ((row * 7 + j * 3) % 11) as f32 / 11.0;
	let x = (0..rows).flat_map(|row| (0..4).map(move |j| value(row, j))).collect();
	(x, (0..rows).map(label).collect())
}

fn small_trial(rates: Vec<u64>) -> TrialTemplate {
	let mut template = trial();
	let spec = &mut template.spec;
	spec.dataset.features = 4;
	spec.dataset.classes = 2;
	spec.dataset.train_rows = 40;
	spec.dataset.validation_rows = 10;
	spec.dataset.feature_divisor = 1;
	spec.model = spec::Model::Mlp {
		hidden: vec![6].try_into().unwrap(),
		activation: spec::Activation::Tanh,
	};
	spec.training.batch_size = 8;
	spec.training.steps = 60;
	template.learning_rates_nano = rates.try_into().unwrap();
	template
}

#[test]
fn a_trial_has_a_score_by_its_rate() {
	let template = Template::Trial(small_trial(vec![1_000, 20_000_000]));
	let ((x, y), (vx, vy)) = (table(40), table(10));
	let tables = Tables { train: (&x, &y), validation: (&vx, &vy) };
	let of = |index| reference::unit(&template, index, &seed(5), tables).unwrap();
	let (slow, fast) = (of(0).score.unwrap(), of(1).score.unwrap());
	assert!(fast.loss() < slow.loss(), "{fast:?} {slow:?}");
	assert_eq!((fast.labels, fast.correct), (10, 10));
	assert_eq!(of(0), of(2));
	assert_ne!(of(0).state, of(1).state);
	assert!(template.takes(&of(0)));
}

#[test]
fn a_trial_may_diverge() {
	let mut trial = small_trial(vec![1_000_000_000_000]);
	trial.spec.training.optimizer =
		spec::Optimizer::Sgd { momentum_nano: 999_000_000, nesterov: false };
	trial.spec.training.loss = spec::Loss::MeanSquaredError;
	trial.spec.model = spec::Model::Mlp {
		hidden: vec![6].try_into().unwrap(),
		activation: spec::Activation::Relu,
	};
	let template = Template::Trial(trial);
	let ((x, y), (vx, vy)) = (table(40), table(10));
	let tables = Tables { train: (&x, &y), validation: (&vx, &vy) };
	let found = reference::unit(&template, 0, &seed(5), tables).unwrap();
	assert_eq!(found.score, None);
	assert_eq!(found, reference::unit(&template, 0, &seed(5), tables).unwrap());
	assert_eq!(template.credit(9, &found), 0);
}

/// The test vectors of docs/drilling.md.
#[test]
fn vectors() {
	let hash = |result: UnitResult| hex::encode(result.state);
	let template = Template::Trial(small_trial(vec![20_000_000]));
	let ((x, y), (vx, vy)) = (table(40), table(10));
	let tables = Tables { train: (&x, &y), validation: (&vx, &vy) };
	let trained = reference::unit(&template, 0, &seed(7), tables).unwrap();
	let found = [
		hash(result(&chain(16, 1), 0, 0)),
		hash(result(&chain(48, 20), 0, 7)),
		hash(result(&calibration(1), 0, 0)),
		hash(result(&calibration(3), 0, 7)),
		hash(trained),
	];
	let score = trained.score.unwrap();
	assert_eq!((score.loss().to_bits(), score.correct, score.labels), (1_025_073_412, 10, 10));
	let expected = [
		"b82d9909295831b9770a257c131f4f53fb5f559ba2d5c47fa9cb5b72e9d1d7ca",
		"e1fe2c773fa13f780a7bb62d95193ee7c6d8af5c472ad925c691eab8c7ad1144",
		"77b95c6b24d44bbe2f4d741bb5287f270135de8fb1b1d62f04327a6ae0eb0133",
		"fd9ff1e51f662a657135402db2227a671746533e277ee83ee542192061b0580e",
		"6411be41b09b4a89cbe4c28958ceda58f23db89cbc8e3c4e1929ee42f02aa6fd",
	];
	assert_eq!(found, expected);
	// In the page, each in a row of its own, in this order.
	const PAGE: &str = include_str!("../../../../docs/drilling.md");
	let (_, vectors) = PAGE.split_once("### Test vectors").unwrap();
	let rows = vectors.lines().filter(|line| line.starts_with('|') && line.contains("` | `"));
	let hashes = rows.filter_map(|line| line.rsplit('`').nth(1)).collect::<Vec<_>>();
	assert_eq!(hashes, expected);
	assert!(PAGE.contains(&format!("{:08X}", score.loss().to_bits())));
	let cycle = trainyard_strict::whetstone::CYCLE_FLOP;
	assert!(PAGE.contains(&format!("FLOP of a cycle: {cycle}")));
	assert_eq!(calibration(1).flop(), Ok(36_773_888));
}
