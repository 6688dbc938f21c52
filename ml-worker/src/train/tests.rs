use super::*;
use crate::bundle::records;
use crate::testing::{job, table, train, SEED};
use std::collections::BTreeMap;

/// Every file of a folder with the hash of its bytes, but the lock.
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
fn train_until(spec: &JobSpec, data: &Path, out: &Path, stop_at: u32) -> TrainError {
	let stop = AtomicBool::new(false);
	let progress = &mut |at: &Progress| {
		if at.step >= stop_at {
			stop.store(true, Ordering::Relaxed);
		}
	};
	let options = TrainOptions { out, resume: true, cheat: None, progress, stop: &stop };
	run(spec, SEED, data, options).expect_err("it was stopped")
}

#[test]
fn a_run_interrupted_anywhere_ends_with_the_same_bytes() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let spec = job(&data);
	let whole = folder.path().join("whole");
	let bundle = train(&spec, &data, &whole, false, None).unwrap();
	assert!(bundle.is_finished());
	assert_eq!(bundle.manifest().bundle_root, Some(bundle.root()));
	assert_eq!(bundle.manifest().model_root, bundle.model_root().ok());
	assert!(bundle.path(bundle::CURVES_FILE).is_file());

	let parts = folder.path().join("parts");
	for stop_at in [1, 9, 10, 11, 25, 47, 59] {
		let error = train_until(&spec, &data, &parts, stop_at);
		let TrainError::Stopped { step, kept } = error else { panic!("{error}") };
		assert_eq!((step, kept), (stop_at, stop_at / 10 * 10));
		// What a kill leaves behind is not in the way.
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
		assert_eq!((row.len(), row[0]), (5, step.to_string().as_str()));
		assert_eq!(row[1].is_empty(), step == 0, "{row:?}");
		assert_eq!(row[2], if step == 0 { "" } else { "0.01" });
		assert!(row[3..].iter().all(|cell| cell.is_empty() == (step % 10 != 0)), "{row:?}");
	}
	// Once whole, there is nothing to do.
	let before = contents(&parts);
	train(&spec, &data, &parts, true, None).unwrap();
	assert_eq!(before, contents(&parts));
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
	let mut state = Engine::initial_state(&spec, &SEED).unwrap();
	for listed in &bundle.manifest().checkpoints {
		assert_eq!(state.hash().unwrap(), listed.state_hash, "step {}", listed.step);
		assert_eq!(validation(&engine.evaluate(&state).unwrap()), listed.validation);
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
	let mut other = spec.clone();
	other.training.steps = 70;
	let error = train(&other, &data, &out, true, None).unwrap_err();
	assert!(matches!(error, TrainError::Other { what: "job", .. }), "{error}");
	let stop = AtomicBool::new(false);
	let progress = &mut |_: &Progress| {};
	let options = TrainOptions { out: &out, resume: true, cheat: None, progress, stop: &stop };
	let error = run(&spec, H256::zero(), &data, options).unwrap_err();
	assert!(matches!(error, TrainError::Other { what: "seed", .. }), "{error}");
	let error = train(&spec, &data, folder.path(), true, None).unwrap_err();
	assert!(matches!(error, TrainError::Foreign { .. }), "{error}");
	// Where the data are does not make another job.
	other = spec.clone();
	other.dataset.location = trainyard_primitives::Text::new("http://elsewhere/").unwrap();
	assert!(train(&other, &data, &out, true, None).is_ok());
	let lock = Lock::take(&out).unwrap();
	let error = train(&spec, &data, &out, true, None).unwrap_err();
	assert!(matches!(error, TrainError::Lock(LockError::Held(_))), "{error}");
	drop(lock);
	assert_eq!(contents(&out).keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>());
}

#[test]
fn an_absurd_learning_rate_is_noticed_and_loses_nothing() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let mut spec = job(&data);
	spec.training.learning_rate_nano = 1_000_000_000_000;
	// Decay by a thousand times the weight overshoots a thousandfold in every step.
	spec.training.weight_decay_nano = 1_000_000_000;
	let out = folder.path().join("out");
	let error = train(&spec, &data, &out, false, None).unwrap_err();
	let TrainError::Diverged { step, kept, learning_rate, .. } = &error else { panic!("{error}") };
	assert_eq!(learning_rate, "1000");
	assert!(*step >= 1 && kept < step, "{error}");
	for part in ["diverged at step", "layers.", "learning rate 1000", "a tenth"] {
		assert!(error.to_string().contains(part), "{part}: {error}");
	}
	let bundle = Bundle::open(&out).unwrap();
	assert!(!bundle.is_finished());
	for listed in &bundle.manifest().checkpoints {
		bundle.checkpoint(listed.step).unwrap();
	}
	// The same again: the same error.
	assert_eq!(train(&spec, &data, &out, true, None).unwrap_err().to_string(), error.to_string());
}
