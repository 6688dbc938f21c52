use super::*;
use crate::{
	bundle::records,
	data,
	testing::{
		changed, job, on_rows_of, stopping, table, train, train_on, tuned, undivided, with_loss,
		SEED,
	},
};
use std::collections::BTreeMap;
use trainyard_program::spec::{EarlyStop, Loss, Optimizer};

/// Returns every file of a folder, except the lock, with the hash of its bytes.
fn contents(folder: &Path) -> BTreeMap<PathBuf, H256> {
	let mut all = BTreeMap::new();
	let mut folders = vec![folder.to_owned()];
	while let Some(at) = folders.pop() {
		for entry in std::fs::read_dir(&at).unwrap() {
			let path = entry.unwrap().path();
			if path.is_dir() {
				folders.push(path);
			} else if !path.ends_with(bundle::lock::FILE) {
				let name = path.strip_prefix(folder).unwrap().to_owned();
				all.insert(name, crate::hash::file(&path).unwrap().0);
			}
		}
	}
	all
}

/// Trains until `stop_at` steps are done.
fn train_until(spec: &CheckedSpec, data: &Path, out: &Path, stop_at: u32) -> TrainError {
	let stop = AtomicBool::new(false);
	let progress = &mut |at: &Progress| {
		if at.step >= stop_at {
			stop.store(true, Ordering::Relaxed);
		}
	};
	let options = TrainOptions {
		out,
		resume: true,
		keep: Thinning::NONE,
		cheat: None,
		progress,
		stop: &stop,
	};
	run(spec, SEED, &InputPaths::data(data), options).expect_err("it was stopped")
}

#[test]
fn a_run_interrupted_anywhere_ends_with_the_same_bytes() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let spec = job(&data);
	let whole = folder.path().join("whole");
	let bundle = train(&spec, &data, &whole, false, None).unwrap();
	assert!(bundle.is_finished());
	assert_eq!(bundle.manifest().bundle_root, bundle.root());
	assert_eq!(bundle.manifest().model_root, bundle.model_root().ok());

	let parts = folder.path().join("parts");
	for stop_at in 1..60 {
		let error = train_until(&spec, &data, &parts, stop_at);
		let TrainError::Stopped { step, kept } = error else { panic!("{error}") };
		assert_eq!((step, kept), (stop_at, stop_at / 10 * 10));
		// Leftovers of a kill are not in the way.
		std::fs::write(parts.join(".tmp-1-manifest.json"), b"{\"fo").unwrap();
		std::fs::write(parts.join("checkpoints/.tmp-1-step-00000010.safetensors"), b"8").unwrap();
	}
	train(&spec, &data, &parts, true, None).unwrap();
	assert_eq!(contents(&whole), contents(&parts));
	// Every step has one row: the loss of each from 1, and the checkpoints.
	let table = std::fs::read_to_string(parts.join(records::CSV_FILE)).unwrap();
	let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|row| row.split(',').collect()).collect();
	assert_eq!(rows.len(), 61);
	for (step, row) in rows.iter().enumerate() {
		assert_eq!((row.len(), row[0]), (6, step.to_string().as_str()));
		assert_eq!(row[1].is_empty(), step == 0, "{row:?}");
		assert_eq!(row[2], if step == 0 { "" } else { "0.01" });
		assert!(row[3..5].iter().all(|cell| cell.is_empty() == (step % 10 != 0)), "{row:?}");
		assert_eq!(row[5], "", "nothing is clipped");
	}
	// Once whole, there is nothing to do.
	let before = contents(&parts);
	train(&spec, &data, &parts, true, None).unwrap();
	assert_eq!(before, contents(&parts));
}

#[test]
fn a_run_that_stops_early_is_the_beginning_of_the_whole_one() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let whole = train(&job(&data), &data, &folder.path().join("whole"), false, None).unwrap();
	let listed = &whole.manifest().checkpoints;
	let losses: Vec<f32> = listed.iter().map(|c| c.validation.loss()).collect();
	let mut lengths = std::collections::BTreeSet::new();
	for (at, (patience, min_delta_nano)) in
		[(1, 0), (1, 100_000_000), (1, 200_000_000), (2, 300_000_000), (3, 1_000_000_000_000)]
			.into_iter()
			.enumerate()
	{
		let rule = EarlyStop { patience, min_delta_nano };
		let spec = changed(&job(&data), |spec| spec.training.early_stop = Some(rule));
		let out = folder.path().join(at.to_string());
		let bundle = train(&spec, &data, &out, false, None).unwrap();
		let segments = rule.stops_at(&losses).unwrap_or(6);
		let manifest = bundle.manifest();
		assert!(bundle.is_finished());
		assert_eq!(bundle.result().unwrap().segments, segments);
		assert_eq!(manifest.stops_early(), segments < 6);
		assert_eq!(manifest.checkpoints, listed[..=segments as usize]);
		let model = bundle::model_bytes(&whole.checkpoint(segments * 10).unwrap());
		assert_eq!(manifest.model_root, Some(Chunked::new(&model).root));
		assert!(!bundle.has_checkpoint(segments * 10 + 10));
		let lines = metrics::read(&out).unwrap();
		assert_eq!(lines.last().map(|line| line.step), Some(segments * 10));
		lengths.insert(segments);
	}
	assert!(lengths.len() > 1 && lengths.contains(&3), "{losses:?} {lengths:?}");
}

#[test]
fn a_run_interrupted_around_its_early_stop_ends_with_the_same_bytes() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let spec = stopping(&data);
	let whole = folder.path().join("whole");
	let (mut seen, mut flop) = (Vec::new(), 0);
	let never = AtomicBool::new(false);
	let progress = &mut |at: &Progress| {
		seen.push((at.step, at.steps, at.stops_early));
		flop = at.flop;
	};
	let options = TrainOptions {
		out: &whole,
		resume: false,
		keep: Thinning::NONE,
		cheat: None,
		progress,
		stop: &never,
	};
	let bundle = run(&spec, SEED, &InputPaths::data(&data), options).unwrap();
	assert_eq!(bundle.manifest().segments(), 3);
	assert_eq!(seen.last(), Some(&(30, 60, true)));
	assert!(seen[..seen.len() - 1].iter().all(|(step, _, stops)| *step < 30 && !stops));
	// What is shown as computed is what is paid for.
	assert_eq!(Ok(flop), Parts::of(&spec).flop_of(&spec, 3));

	let parts = folder.path().join("parts");
	for stop_at in [1, 10, 19, 20, 21, 29] {
		let error = train_until(&spec, &data, &parts, stop_at);
		assert!(matches!(error, TrainError::Stopped { step, .. } if step == stop_at), "{error}");
	}
	train(&spec, &data, &parts, true, None).unwrap();
	assert_eq!(contents(&whole), contents(&parts));
	// Killed after the last checkpoint, before anything else of the end was written.
	let mut manifest = bundle.manifest().clone();
	manifest.model_root = None;
	std::fs::write(parts.join("manifest.json"), manifest.to_bytes()).unwrap();
	for file in [bundle::MODEL_FILE, bundle::CONFIG_FILE] {
		std::fs::remove_file(parts.join(file)).unwrap();
	}
	train(&spec, &data, &parts, true, None).unwrap();
	assert_eq!(contents(&whole), contents(&parts));
	// Once whole, there is nothing to do.
	train(&spec, &data, &parts, true, None).unwrap();
	assert_eq!(contents(&whole), contents(&parts));
	// Checkpoints after the stop are no part of the run.
	let beyond = train(&job(&data), &data, &folder.path().join("beyond"), false, None).unwrap();
	let mut manifest = beyond.manifest().clone();
	manifest.spec = spec.clone();
	manifest.bundle_root = manifest.computed_root();
	std::fs::write(beyond.path("manifest.json"), manifest.to_bytes()).unwrap();
	let cut = train(&spec, &data, beyond.folder(), true, None).unwrap();
	assert_eq!(cut.result().unwrap(), bundle.result().unwrap());
}

#[test]
fn the_state_hashes_are_the_engines() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let spec = job(&data);
	let bundle = train(&spec, &data, &folder.path().join("out"), false, None).unwrap();
	let engine =
		Engine::new(&spec, SEED, Arc::new(data::load(&data, None, &spec.dataset).unwrap()));
	let engine = engine.unwrap();
	let mut state = Engine::initial_state(&spec, &SEED, None).unwrap();
	for listed in &bundle.manifest().checkpoints {
		assert_eq!(state.hash().unwrap(), listed.state_hash, "step {}", listed.step);
		assert_eq!(engine.evaluate(&state).unwrap(), listed.validation);
		for step in listed.step..(listed.step + 10).min(spec.training.steps) {
			engine.step(&mut state, step).unwrap();
		}
	}
	let accuracy = bundle.manifest().checkpoints.last().unwrap().validation.accuracy();
	assert!(accuracy > 0.9, "the classes are far apart: {accuracy}");
}

#[test]
fn damaged_checkpoints_are_trained_again() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let spec = job(&data);
	let out = folder.path().join("out");
	train(&spec, &data, &out, false, None).unwrap();
	let whole = contents(&out);
	for (step, damage) in [(60, &b"cut"[..]), (20, b""), (0, b"x")] {
		std::fs::write(out.join(checkpoint_file(step)), damage).unwrap();
		train(&spec, &data, &out, true, None).unwrap();
		assert_eq!(contents(&out), whole, "step {step}");
	}
	std::fs::remove_file(out.join(checkpoint_file(40))).unwrap();
	std::fs::remove_file(out.join(bundle::MODEL_FILE)).unwrap();
	train(&spec, &data, &out, true, None).unwrap();
	assert_eq!(contents(&out), whole);
	std::fs::write(out.join("manifest.json"), b"{}").unwrap();
	let error = train(&spec, &data, &out, true, None).unwrap_err().to_string();
	assert!(error.contains("manifest.json cannot be read"), "{error}");
}

/// A state is known by its hash; what the manifest says of its evaluation is not believed.
#[test]
fn wrong_evaluations_are_computed_again() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let (whole_at, out) = (folder.path().join("whole"), folder.path().join("out"));
	type Change = fn(&mut Evaluation);
	// The checkpoint, what is wrong with it, and whether metrics.jsonl is right, wrong or missing.
	let cases: [(usize, Change, &str); 6] = [
		(2, |v| *v = with_loss(*v, v.loss() + 0.125), "wrong"),
		(2, |v| v.correct += 1, "right"),
		(1, |v| *v = with_loss(*v, f32::from_bits(v.loss().to_bits() ^ 1)), "right"),
		(0, |v| *v = with_loss(*v, v.loss() - 2_000.0), "right"),
		(1, |v| *v = with_loss(*v, v.loss() + 0.125), "missing"),
		(1, |_| {}, "wrong"),
	];
	for spec in [job(&data), stopping(&data)] {
		let _ = std::fs::remove_dir_all(&whole_at);
		let whole = train(&spec, &data, &whole_at, false, None).unwrap();
		let expected = contents(&whole_at);
		for (at, change, records) in cases {
			let _ = std::fs::remove_dir_all(&out);
			std::fs::create_dir_all(out.join(bundle::CHECKPOINTS)).unwrap();
			for file in expected.keys() {
				std::fs::copy(whole_at.join(file), out.join(file)).unwrap();
			}
			let mut manifest = whole.manifest().clone();
			manifest.checkpoints.truncate(3);
			let listed = &mut manifest.checkpoints[at];
			change(&mut listed.validation);
			let mut wrong = *listed;
			wrong.validation = with_loss(wrong.validation, wrong.validation.loss() + 0.125);
			manifest.model_root = None;
			manifest.bundle_root = manifest.computed_root();
			std::fs::write(out.join("manifest.json"), manifest.to_bytes()).unwrap();
			match records {
				"wrong" => {
					let line = Line::validation(wrong.step, &wrong.validation);
					metrics::correct(&out, &[(wrong.step, line)].into()).unwrap();
					assert_ne!(
						contents(&out)[Path::new(metrics::FILE)],
						expected[Path::new(metrics::FILE)]
					);
				}
				"missing" => std::fs::remove_file(out.join(metrics::FILE)).unwrap(),
				_ => {}
			}
			let resumed = train(&spec, &data, &out, true, None).unwrap();
			assert_eq!(resumed.result().unwrap(), whole.result().unwrap(), "{at}, {records}");
			if records != "missing" {
				assert_eq!(contents(&out), expected, "{at}, {records}");
			}
		}
	}
}

/// No file but the manifest has a trace: where the list is not what was written, nothing shows which of
/// its traces are right.
#[test]
fn a_damaged_trace_is_made_again() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let (spec, out) = (job(&data), folder.path().join("out"));
	let whole = train(&spec, &data, &out, false, None).unwrap();
	let expected = contents(&out);
	for (at, finished) in [(0, true), (6, true), (3, false), (2, false)] {
		let mut manifest = whole.manifest().clone();
		if !finished {
			manifest.checkpoints.truncate(4);
			manifest.model_root = None;
			manifest.bundle_root = manifest.computed_root();
		}
		manifest.checkpoints[at].trace.0[9] ^= 1;
		std::fs::write(out.join("manifest.json"), manifest.to_bytes()).unwrap();
		let resumed = train(&spec, &data, &out, true, None).unwrap();
		assert_eq!(resumed.result().unwrap(), whole.result().unwrap());
		assert_eq!(contents(&out), expected);
	}
}

/// The trace of the segment in which training diverged is made again as well.
#[test]
fn a_run_that_diverges_ends_with_the_same_bytes_wherever_it_was_interrupted() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let spec = changed(&job(&data), |spec| {
		spec.model = trainyard_program::spec::Model::Mlp {
			hidden: Default::default(),
			activation: trainyard_program::spec::Activation::Relu,
		};
		spec.training.optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
		spec.training.loss = Loss::MeanSquaredError;
		spec.training.learning_rate_nano = 5_000_000_000;
	});
	let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
	let error = train(&spec, &data, &whole, false, None).unwrap_err();
	let TrainError::Diverged { step, kept, .. } = error else { panic!("{error}") };
	let diverged = Bundle::open(&whole).unwrap().manifest().diverged.unwrap();
	assert!(kept >= 10 && step % 10 > 1, "{step}, {kept}");
	assert_eq!(diverged.step, step - 1, "counted from 0");
	for stop_at in 1..step {
		let error = train_until(&spec, &data, &parts, stop_at);
		assert!(matches!(error, TrainError::Stopped { step, .. } if step == stop_at), "{error}");
	}
	for _ in 0..2 {
		let error = train(&spec, &data, &parts, true, None).unwrap_err();
		assert!(matches!(error, TrainError::Diverged { .. }), "{error}");
		assert_eq!(contents(&whole), contents(&parts));
	}
}

/// Thinned out as it goes, and interrupted anywhere, it is the run that it would have been, once what was left out is
/// computed again.
#[test]
fn a_run_that_thins_its_states_out_is_the_same_run() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let spec = job(&data);
	let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
	train(&spec, &data, &whole, false, None).unwrap();
	let keep = Thinning::every(4.try_into().unwrap());
	let paths = InputPaths::data(&data);
	let never = AtomicBool::new(false);
	let states = |out: &Path| -> Vec<u32> {
		let bundle = Bundle::open(out).unwrap();
		let listed = bundle.manifest().checkpoints.iter().map(|c| c.step);
		listed.filter(|step| bundle.has_checkpoint(*step)).collect()
	};
	for stop_at in [5, 15, 25, 35, 45, 55] {
		let stop = AtomicBool::new(false);
		let progress = &mut |at: &Progress| stop.store(at.step >= stop_at, Ordering::Relaxed);
		let options =
			TrainOptions { out: &parts, resume: true, keep, cheat: None, progress, stop: &stop };
		let error = run(&spec, SEED, &paths, options).expect_err("it was stopped");
		let TrainError::Stopped { kept, .. } = error else { panic!("{error}") };
		assert_eq!(kept, stop_at / 10 * 10, "the last one is there");
		let expected: Vec<u32> = (0..=kept).filter(|s| s % 40 == 0 || *s == kept).collect();
		assert_eq!(states(&parts), expected);
	}
	// Where the last one is spoilt it goes on from the one that was kept before it.
	std::fs::write(parts.join(checkpoint_file(50)), b"x").unwrap();
	let mut begun = None;
	let progress = &mut |at: &Progress| {
		begun.get_or_insert(at.begun_at);
	};
	let options =
		TrainOptions { out: &parts, resume: true, keep, cheat: None, progress, stop: &never };
	run(&spec, SEED, &paths, options).unwrap();
	assert_eq!((begun, states(&parts)), (Some(40), vec![0, 40, 60]));
	// So it does where the two accounts of a state differ that was thinned out.
	let metrics = parts.join(metrics::FILE);
	let lines = std::fs::read_to_string(&metrics).unwrap();
	let mut lines: Vec<&str> = lines.lines().collect();
	lines.retain(|line| !line.starts_with("{\"step\":30,\"validation"));
	std::fs::write(&metrics, lines.join("\n") + "\n").unwrap();
	let mut manifest = Bundle::open(&parts).unwrap();
	manifest.manifest_mut().model_root = None;
	manifest.write_manifest().unwrap();
	let mut begun = None;
	let progress = &mut |at: &Progress| {
		begun.get_or_insert(at.begun_at);
	};
	let options =
		TrainOptions { out: &parts, resume: true, keep, cheat: None, progress, stop: &never };
	run(&spec, SEED, &paths, options).unwrap();
	assert_eq!((begun, states(&parts)), (Some(0), vec![0, 40, 60]));

	let missing = restore::missing(&Bundle::open(&parts).unwrap());
	restore::restore(&parts, &paths, &missing, &mut |_, _| {}, &never).unwrap();
	assert_eq!(contents(&whole), contents(&parts));
}

#[test]
fn folders_of_others_are_left_alone() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let spec = job(&data);
	let out = folder.path().join("out");
	train(&spec, &data, &out, false, None).unwrap();
	let whole = contents(&out);
	let exists = train(&spec, &data, &out, false, None).unwrap_err();
	assert!(matches!(exists, TrainError::Exists(_)), "{exists}");
	let other = changed(&spec, |spec| spec.training.steps = 70);
	let error = train(&other, &data, &out, true, None).unwrap_err();
	assert!(matches!(error, TrainError::Other { what: "job", .. }), "{error}");
	let stop = AtomicBool::new(false);
	let progress = &mut |_: &Progress| {};
	let options = TrainOptions {
		out: &out,
		resume: true,
		keep: Thinning::NONE,
		cheat: None,
		progress,
		stop: &stop,
	};
	let paths = InputPaths::data(&data);
	let error = run(&spec, H256::zero(), &paths, options).unwrap_err();
	assert!(matches!(error, TrainError::Other { what: "seed", .. }), "{error}");
	let error = train(&spec, &data, folder.path(), true, None).unwrap_err();
	assert!(matches!(error, TrainError::Foreign { .. }), "{error}");
	// A different location of the data does not make a different job.
	let location = trainyard_protocol::Text::new("http://elsewhere/").unwrap();
	let other = changed(&spec, |spec| spec.dataset.location = location);
	assert!(train(&other, &data, &out, true, None).is_ok());
	let lock = Lock::take(&out).unwrap();
	let error = train(&spec, &data, &out, true, None).unwrap_err();
	assert!(matches!(error, TrainError::Lock(LockError::Held(_))), "{error}");
	drop(lock);
	assert_eq!(contents(&out).keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>());
}

#[test]
fn a_fine_tuning_goes_on_where_the_model_stood_and_resumes_to_the_same_bytes() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let first = train(&job(&data), &data, &folder.path().join("first"), false, None).unwrap();
	let (spec, paths) = tuned(&job(&data), &data, &first);
	let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
	let bundle = train_on(&spec, &paths, &whole, false, None).unwrap();
	let validation =
		|bundle: &Bundle, index: usize| bundle.manifest().checkpoints[index].validation;
	assert_eq!(validation(&bundle, 0), validation(&first, 6), "it begins where the other ended");

	for stop_at in [1, 25] {
		let stop = AtomicBool::new(false);
		let progress = &mut |at: &Progress| stop.store(at.step >= stop_at, Ordering::Relaxed);
		let options = TrainOptions {
			out: &parts,
			resume: true,
			keep: Thinning::NONE,
			cheat: None,
			progress,
			stop: &stop,
		};
		let error = run(&spec, SEED, &paths, options).expect_err("it was stopped");
		assert!(matches!(error, TrainError::Stopped { .. }), "{error}");
		// The copy of the model is made again where it was spoilt.
		std::fs::write(parts.join(bundle::INITIAL_MODEL_FILE), b"x").unwrap();
	}
	let location = trainyard_protocol::Text::new("http://elsewhere/model").unwrap();
	let moved =
		changed(&spec, |spec| spec.initial_model.as_mut().unwrap().file.location = location);
	train_on(&moved, &paths, &parts, true, None).unwrap();
	train_on(&spec, &paths, &parts, true, None).unwrap();
	let (mut whole, mut parts) = (contents(&whole), contents(&parts));
	// The manifest of the run that was whole names the location that it was resumed with.
	let manifest = Path::new("manifest.json");
	assert!(whole.remove(manifest).is_some() && parts.remove(manifest).is_some());
	assert_eq!(whole, parts);

	// A different model makes a different job, and so does no model.
	let (other, paths_of_other) = tuned(&job(&data), &data, &bundle);
	let out = folder.path().join("whole");
	let error = train_on(&other, &paths_of_other, &out, true, None).unwrap_err();
	assert!(matches!(error, TrainError::Other { what: "job", .. }), "{error}");
	let error = train(&spec, &data, &out, true, None).unwrap_err().to_string();
	assert!(error.contains("(initial_model)"), "{error}");
	let error = train_on(&spec, &paths_of_other, &out, true, None).unwrap_err().to_string();
	assert!(error.contains("is not the initial model of the job"), "{error}");
}

#[test]
fn an_absurd_learning_rate_is_noticed_and_loses_nothing() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let spec = changed(&job(&data), |spec| {
		spec.training.learning_rate_nano = 1_000_000_000_000;
		// Each step overshoots the minimum of the squares a thousandfold.
		spec.training.optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
		spec.training.loss = Loss::MeanSquaredError;
	});
	let out = folder.path().join("out");
	let error = train(&spec, &data, &out, false, None).unwrap_err();
	let TrainError::Diverged { step, kept, .. } = &error else { panic!("{error}") };
	assert!(*step >= 1 && kept < step, "{error}");
	for part in [
		"diverged at step",
		"the largest parameter is",
		"the first value out of range is of step",
		", made by ",
		"in layers.",
		"learning rate 1000",
		"a tenth",
		"clip_norm",
	] {
		assert!(error.to_string().contains(part), "{part}: {error}");
	}
	let bundle = Bundle::open(&out).unwrap();
	assert!(bundle.is_finished() && bundle.manifest().diverged.is_some());
	for listed in &bundle.manifest().checkpoints {
		bundle.checkpoint(listed.step).unwrap();
	}
	// The same again: the same error.
	assert_eq!(train(&spec, &data, &out, true, None).unwrap_err().to_string(), error.to_string());
}

/// A divergence that the loss of a step or the state at a checkpoint showed is traced to the step
/// that made it.
#[test]
fn the_first_value_out_of_range_is_found_after_the_last_checkpoint() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let mut spec = job(&data).into_spec();
	// Squares of huge gradients overflow in the average that Adam keeps; nothing else does.
	spec.dataset.feature_divisor = 1;
	spec.training.steps = 10;
	let text = std::fs::read_to_string(&data).unwrap();
	let huge = |cell: &str| format!("{cell}e24");
	let changed: Vec<String> = text
		.lines()
		.enumerate()
		.map(|(at, line)| {
			let (inputs, label) = line.rsplit_once(',').unwrap();
			match at {
				0 => line.to_owned(),
				_ => {
					format!("{},{label}", inputs.split(',').map(huge).collect::<Vec<_>>().join(","))
				}
			}
		})
		.collect();
	std::fs::write(&data, changed.join("\n")).unwrap();
	let found = data::inspect(&data, None, spec.dataset.format, 4, 1).unwrap();
	(spec.dataset.content_hash, spec.dataset.bytes) = (found.content_hash, found.bytes);
	let spec = on_rows_of(spec, &data);
	let out = folder.path().join("out");
	let error = train(&spec, &data, &out, false, None).unwrap_err();
	let TrainError::Diverged { step: 10, kept: 0, .. } = &error else { panic!("{error}") };
	for part in [
		"optimizer.v.layers.",
		" holds inf",
		"the first value out of range is of step 1: inf at element ",
		"weight.next, made by EmaSquare of layers.",
		"dataset.feature_divisor",
	] {
		assert!(error.to_string().contains(part), "{part}: {error}");
	}
}

/// Training rows are harmless, so only a validation can show it.
#[test]
fn inputs_out_of_range_are_distinguished_from_a_learning_rate() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let text = std::fs::read_to_string(&data).unwrap();
	let mut rows = String::new();
	for (at, line) in text.lines().enumerate() {
		match at.checked_sub(1).filter(|row| row % 4 == 3) {
			Some(_) => {
				rows += &format!("3e38,3e38,3e38,3e38,{}\n", line.rsplit_once(',').unwrap().1)
			}
			None => rows += &format!("{line}\n"),
		}
	}
	std::fs::write(&data, rows).unwrap();
	let spec = undivided(&job(&data), &data);
	let error = train(&spec, &data, &folder.path().join("out"), false, None).unwrap_err();
	for part in [
		"diverged at step 0",
		"is of the validation after step 0",
		"of layers.",
		"(forward pass)",
		"dataset.feature_divisor",
	] {
		assert!(error.to_string().contains(part), "{part}: {error}");
	}
	assert!(!error.to_string().contains("learning rate 0.01"), "{error}");
}
