//! Recorders over bundles that `train` wrote.

use super::{
	games::{play, Party},
	places::compare,
	*,
};
use crate::{
	bundle::thinning::Thinning,
	inputs::InputPaths,
	restore,
	testing::{changed, job, stopping, table, train, tuned, SEED},
	train::{Cheat, TrainError},
};
use trainyard_court::game::{Claimed, Outcome, Piece, Target};
use trainyard_engine::{raw_bytes, TableWriter};
use trainyard_program::{
	lower,
	ops::OpKind,
	parts::PartList,
	spec::{CheckedSpec, Loss, Model, Optimizer},
};
use trainyard_protocol::content;

/// Returns the bytes of what somebody trains on, as they are hashed.
fn rows_of(data: &Data, labels: usize) -> [Vec<u8>; 4] {
	let bytes = |table: &Table| {
		let all = table
			.stored
			.as_ref()
			.map(|_| table.gather(0..table.labels() / labels, labels).unwrap());
		let (x, y) = all.as_ref().map_or((&table.x, &table.y), |(x, y)| (x, y));
		let y = y.iter().flat_map(|label| label.to_le_bytes()).collect();
		[raw_bytes(x).to_vec(), y]
	};
	let ([x, y], [x_validation, y_validation]) = (bytes(&data.train), bytes(&data.validation));
	[x, y, x_validation, y_validation]
}

/// Returns the same, its rows in files.
fn in_files(inputs: &Inputs) -> Inputs {
	let stored = |table: &Table| {
		let file = tempfile::tempfile().unwrap();
		let mut writer = TableWriter::in_file(table.features, 1, file);
		for (x, y) in table.x.chunks(table.features).zip(table.y.chunks(1)) {
			writer.push(x, y).unwrap();
		}
		Table { normalizer: table.normalizer.clone(), ..writer.finish().unwrap() }
	};
	let Data { train, validation } = &*inputs.data;
	let data = Data { train: stored(train), validation: stored(validation) };
	assert!(data.train.stored.is_some() && data.train.x.is_empty());
	Inputs { data: Arc::new(data), initial_model: inputs.initial_model.clone() }
}

/// Returns the job of the reference that is this one, on these files.
fn of_reference(spec: &CheckedSpec, inputs: &Inputs) -> Job {
	let rows = rows_of(&inputs.data, spec.labels_per_row() as usize);
	let named = StateTensors::parameters(spec);
	let model = inputs.initial_model();
	let parameters = model.map(|model| {
		let bytes = |name: &String| content::le_bytes(&model[name].data);
		named.tensors().iter().map(|tensor| bytes(&tensor.name)).collect()
	});
	let world = World { case: Case { spec: spec.clone(), seed: SEED }, rows };
	Job { world, parameters: parameters.unwrap_or_default() }
}

/// Compares a bundle with the reference, all of it.
fn compare_bundle(name: &str, spec: &CheckedSpec, out: &Path, inputs: &Inputs) -> Recorder {
	let job = of_reference(spec, inputs);
	let run = Run::new(&job, Change::Nothing);
	let recorder = Recorder::of_bundle(out, inputs.clone(), Options::default()).unwrap();
	assert_eq!(recorder.claims().checkpoints, run.checkpoints, "{name}");
	assert_eq!(recorder.claims().diverged, run.diverged, "{name}");
	assert_eq!(recorder.start().unwrap(), End::of(&run.checkpoints[0]), "{name}");
	compare(name, &job, &run, &recorder);
	recorder
}

/// A trainer that does not keep all states defends each segment all the same, and no state is computed that the result
/// does not commit to.
#[test]
fn states_that_are_not_kept_are_computed_again() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let (spec, out) = (job(&data), folder.path().join("bundle"));
	let bundle = train(&spec, &data, &out, false, None).unwrap();
	let inputs = Inputs::load(&spec, &InputPaths::data(&data)).unwrap();
	let options = |again| Options { again, ..Options::default() };
	let recorder = || Recorder::of_bundle(&out, inputs.clone(), options(3)).unwrap();
	let ends = |recorder: &Recorder| [1, 2, 5].map(|segment| recorder.end(segment).unwrap());
	let (whole, file) = (ends(&recorder()), bundle.path(&checkpoint_file(20)));
	let state = std::fs::read(&file).unwrap();
	let every = Thinning::every(4.try_into().unwrap());
	assert_eq!(restore::thin(&out, every).unwrap().states, 4);
	assert_eq!(ends(&recorder()), whole);
	assert!(std::fs::read(&file).unwrap() == state, "it stays for the next move");

	restore::thin(&out, every).unwrap();
	let mut claims = Claims::of(bundle.manifest());
	claims.checkpoints[2].state = H256::repeat_byte(7);
	let false_state =
		Recorder::new(recorder().case().clone(), claims, &out, inputs.clone(), options(3));
	let error = false_state.unwrap().end(2).unwrap_err();
	assert!(matches!(error, RecordError::WrongState { checkpoint: 2, .. }), "{error}");
	assert!(!file.is_file());
	std::fs::remove_file(bundle.path(&checkpoint_file(0))).unwrap();
	assert_eq!(recorder().end(2).unwrap(), whole[1], "from the initial state");
	restore::thin(&out, every).unwrap_err();
	std::fs::remove_file(&file).unwrap();
	let few = Recorder::of_bundle(&out, inputs.clone(), options(1)).unwrap();
	let error = few.end(2).unwrap_err();
	assert!(matches!(error, RecordError::MissingState { checkpoint: 2, .. }), "{error}");
}

#[test]
fn bundles_are_recorded_as_the_reference_says() {
	let folder = tempfile::tempdir().unwrap();
	let path = table(folder.path());
	let short = |spec: &CheckedSpec| changed(spec, |spec| spec.training.steps = 30);
	for (name, spec) in [("whole", short(&job(&path))), ("stops", stopping(&path))] {
		let out = folder.path().join(name);
		let bundle = train(&spec, &path, &out, false, None).unwrap();
		assert_eq!(bundle.manifest().segments(), 3, "{name}");
		let inputs = Inputs::load(&spec, &InputPaths::data(&path)).unwrap();
		compare_bundle(name, &spec, &out, &inputs);
		// The same of rows that are kept in a file.
		compare_bundle(name, &spec, &out, &in_files(&inputs));
	}
	let published = Bundle::open(&folder.path().join("whole")).unwrap();
	let (spec, paths) = tuned(&short(&job(&path)), &path, &published);
	let out = folder.path().join("tuned");
	crate::testing::train_on(&spec, &paths, &out, false, None).unwrap();
	compare_bundle("tuned", &spec, &out, &Inputs::load(&spec, &paths).unwrap());
}

#[test]
fn a_bundle_that_diverged_is_recorded_as_the_reference_says() {
	let folder = tempfile::tempdir().unwrap();
	let path = table(folder.path());
	for doubled in 0..16 {
		let spec = changed(&job(&path), |spec| {
			let Model::Mlp { hidden, .. } = &mut spec.model else { unreachable!() };
			*hidden = Default::default();
			spec.training.optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
			spec.training.loss = Loss::MeanSquaredError;
			spec.training.learning_rate_nano = 10_000_000 << doubled;
		});
		let out = folder.path().join(doubled.to_string());
		let Err(error) = train(&spec, &path, &out, false, None) else { continue };
		assert!(matches!(error, TrainError::Diverged { bundle: Some(_), .. }), "{error}");
		let inputs = Inputs::load(&spec, &InputPaths::data(&path)).unwrap();
		let recorder = compare_bundle("diverged", &spec, &out, &inputs);
		let last = recorder.claims().checkpoints.len() as u32 - 1;
		assert!(recorder.divergence(last).is_some() && last > 0);
		return;
	}
	panic!("no rate is too high");
}

/// A trainer that fabricated its last segment, and one that trained it.
#[test]
fn who_fabricated_a_segment_loses_as_defender_and_as_accuser() {
	let folder = tempfile::tempdir().unwrap();
	let path = table(folder.path());
	let spec = job(&path);
	let inputs = Inputs::load(&spec, &InputPaths::data(&path)).unwrap();
	let made = |name: &str, cheat| {
		let out = folder.path().join(name);
		train(&spec, &path, &out, false, cheat).unwrap();
		Recorder::of_bundle(&out, inputs.clone(), Options::default()).unwrap()
	};
	let honest = made("honest", None);
	let cheat = made("cheat", Some(Cheat::Fabricate { segments: 1 }));
	let case = honest.case();
	let target = Target::Segment(5);
	let [true_end, false_end] =
		[&honest, &cheat].map(|party| End::of(&Party::claims(party).checkpoints[6]));
	assert_ne!(true_end, false_end);
	// The cheat's recorder comes to the true end as well, so it says that there is nothing to defend.
	assert_eq!([honest.end(5).unwrap(), cheat.end(5).unwrap()], [true_end; 2]);
	honest.check(5).unwrap();
	for segment in 0..5 {
		cheat.check(segment).unwrap();
	}
	let error = cheat.check(5).unwrap_err();
	assert!(
		matches!(error, RecordError::OtherThanClaimed { checkpoint: 6, what: "the state" }),
		"{error}"
	);
	let accused = play(case, &cheat, &honest, target, Claimed::End(true_end));
	assert_eq!(accused.outcome, Outcome::Convicted);
	let defended = play(case, &honest, &cheat, target, Claimed::End(false_end));
	assert_eq!(defended.outcome, Outcome::Acquitted);

	// A seat has the cheat's bundle alone, and not its end.
	std::fs::remove_file(folder.path().join("cheat").join(checkpoint_file(60))).unwrap();
	let seat =
		Recorder::of_bundle(&folder.path().join("cheat"), inputs.clone(), Options::default());
	let seat = seat.unwrap();
	let end = seat.end(5).unwrap();
	let accused = play(case, &cheat, &seat, target, Claimed::End(end));
	assert_eq!(accused.outcome, Outcome::Convicted);
}

#[test]
fn every_error_is_named() {
	let folder = tempfile::tempdir().unwrap();
	let path = table(folder.path());
	let spec = changed(&job(&path), |spec| spec.training.steps = 30);
	let out = folder.path().join("out");
	let bundle = train(&spec, &path, &out, false, None).unwrap();
	let inputs = Inputs::load(&spec, &InputPaths::data(&path)).unwrap();
	let recorder = |options| Recorder::of_bundle(&out, inputs.clone(), options).unwrap();
	let failed = |made: &Recorder, what: Option<H256>| {
		assert_eq!(what, None);
		lock(&made.failure).take().unwrap()
	};
	let all = StateAt::Steps { segment: 1, steps: 12 };

	let file = out.join(checkpoint_file(10));
	let whole = std::fs::read(&file).unwrap();
	std::fs::remove_file(&file).unwrap();
	let made = recorder(Options::default());
	let error = failed(&made, made.state(all));
	assert!(matches!(error, RecordError::MissingState { checkpoint: 1, .. }), "{error}");
	// Another segment needs it not.
	assert!(made.state(StateAt::Steps { segment: 2, steps: 21 }).is_some());

	let mut bent = whole.clone();
	*bent.last_mut().unwrap() ^= 1;
	for bytes in [&bent[..], &whole[..whole.len() - 1], &whole[..9], &[]] {
		std::fs::write(&file, bytes).unwrap();
		let made = recorder(Options::default());
		let error = failed(&made, made.state(all));
		assert!(matches!(error, RecordError::WrongState { checkpoint: 1, .. }), "{error}");
	}
	std::fs::write(&file, &whole).unwrap();
	let made = recorder(Options::default());
	assert!(made.state(all).is_some());

	let error = failed(&made, made.state(StateAt::Steps { segment: 3, steps: 31 }));
	assert!(matches!(error, RecordError::NoCheckpoint { .. } | RecordError::NoSegment { .. }));
	let error = failed(&made, made.state(StateAt::Checkpoint(9)));
	assert!(matches!(error, RecordError::NoCheckpoint { checkpoint: 9 }), "{error}");
	assert!(matches!(made.check(3), Err(RecordError::NoCheckpoint { checkpoint: 4 })));
	assert!(matches!(made.end(7), Err(RecordError::NoSegment { segment: 7 })));

	let stopped = Options { stop: Arc::new(AtomicBool::new(false)), ..Options::default() };
	let made = recorder(stopped.clone());
	stopped.stop.store(true, std::sync::atomic::Ordering::Relaxed);
	let error = failed(&made, made.state(all));
	assert!(matches!(error, RecordError::Stopped), "{error}");

	// Rows of another file.
	let mut other = Data::clone(&inputs.data);
	other.train.y[3] ^= 1;
	let other = Inputs { data: Arc::new(other), ..inputs.clone() };
	let error = Recorder::of_bundle(&out, other, Options::default()).err().unwrap();
	assert!(matches!(error, RecordError::Rows { .. }), "{error}");
	let nowhere = folder.path().join("nowhere");
	let error = Recorder::of_bundle(&nowhere, inputs.clone(), Options::default()).err().unwrap();
	assert!(matches!(error, RecordError::Bundle(_)), "{error}");

	// Claims that are others.
	let mut claims = Claims::of(bundle.manifest());
	claims.checkpoints[2].trace.0[0] ^= 1;
	claims.checkpoints[0].state.0[0] ^= 1;
	let case = recorder(Options::default()).case().clone();
	let made = Recorder::new(case, claims, &out, inputs.clone(), Options::default()).unwrap();
	let error = made.check(1).unwrap_err();
	assert!(
		matches!(error, RecordError::OtherThanClaimed { checkpoint: 2, what: "the trace" }),
		"{error}"
	);
	let error = made.check(0).unwrap_err();
	assert!(
		matches!(error, RecordError::OtherThanClaimed { checkpoint: 0, what: "the state" }),
		"{error}"
	);
}

/// A trainer that trained with half of the learning rate, and says so at each place, comes to an update
/// that the court computes otherwise.
#[test]
fn who_trained_with_another_rate_is_convicted_by_an_update() {
	let folder = tempfile::tempdir().unwrap();
	let path = table(folder.path());
	let spec = job(&path);
	let inputs = Inputs::load(&spec, &InputPaths::data(&path)).unwrap();
	let [honest, cheat] =
		[("honest", None), ("cheat", Some(Cheat::HalfRate))].map(|(name, how)| {
			let out = folder.path().join(name);
			train(&spec, &path, &out, false, how).unwrap();
			let claims = Claims::of(Bundle::open(&out).unwrap().manifest());
			let trained = how.and_then(|how| how.trained(&spec)).unwrap_or(spec.clone());
			let case = Case { spec: trained, seed: SEED };
			Recorder::new(case, claims, &out, inputs.clone(), Options::default()).unwrap()
		});
	for segment in [0, 5] {
		honest.check(segment).unwrap();
		cheat.check(segment).unwrap();
		let ends = [&honest, &cheat]
			.map(|party| End::of(&Party::claims(party).checkpoints[segment as usize + 1]));
		assert_ne!(ends[0], ends[1]);
	}
	let (case, target) = (honest.case(), Target::Segment(0));
	// Both begin with the same state, so the honest one accuses it of the first segment.
	let claimed = Claimed::End(honest.end(0).unwrap());
	let accused = play(case, &cheat, &honest, target, claimed);
	assert_eq!(accused.outcome, Outcome::Convicted);
	let Some(Piece::Stretch { at: Moment::Step { segment: 0, step: 0 }, stretch, .. }) =
		accused.piece
	else {
		panic!("{:?}", accused.piece)
	};
	let lowered = lower::training_step(&spec);
	let parts = PartList::of(&lowered).unwrap();
	let part = &parts.parts[stretch.result as usize];
	assert!(matches!(lowered.ops[part.op as usize].kind, OpKind::AdamStep { .. }), "{part:?}");
	let claimed = Claimed::End(cheat.end(0).unwrap());
	assert_eq!(play(case, &honest, &cheat, target, claimed).outcome, Outcome::Acquitted);
}
