//! `trainyard verify`: exit codes and what is caught, with real processes.

use crate::common::{job, json, run, succeeds, text};
use std::path::{Path, PathBuf};
use trainyard_engine::{state_hash, NanRule, TensorMap};
use trainyard_proof::bundle::{tensors, Bundle};

/// A bundle of a digits job of 100 steps in ten segments.
fn trained(cheat: &[&str]) -> (tempfile::TempDir, PathBuf) {
	let (folder, job) = job(100);
	let out = folder.path().join("out");
	let mut arguments = vec!["train", text(&job), "--out", text(&out)];
	arguments.extend(cheat);
	succeeds(&arguments);
	(folder, out)
}

/// Exit code, and what `verify --json` says.
fn verify(out: &Path, segments: &str) -> (i32, serde_json::Value) {
	let (code, stdout, err) = run(&["verify", text(out), "--segments", segments, "--json"]);
	let found = serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}: {stdout}\n{err}"));
	(code, found)
}

#[test]
fn an_honest_bundle_passes_at_all_segments() {
	let (_folder, out) = trained(&[]);
	let (code, found) = verify(&out, "all");
	assert_eq!(code, 0, "{found:#}");
	assert_eq!(found["passed"], true);
	let segments = found["report"]["segments"].as_array().unwrap();
	assert_eq!(segments.len(), 10);
	assert!(segments.iter().all(|s| s["equal"] == true));
	assert_eq!(found["report"]["rules"]["rules"].as_array().unwrap().len(), 6);
	let share = found["report"]["share"].as_f64().unwrap();
	assert_eq!(share, 1.0, "all steps and all evaluations");
	let (code, found) = verify(&out, "2");
	assert_eq!((code, found["report"]["segments"].as_array().unwrap().len()), (0, 2));
	let table = succeeds(&["verify", text(&out)]);
	for part in ["bundle root", "checkpoint 0", "replay", "equal", "Full-pass rules", "passed: 3"] {
		assert!(table.contains(part), "{part}:\n{table}");
	}
}

#[test]
fn a_cheat_fails_at_a_fabricated_segment() {
	let (_folder, out) = trained(&["--test-only-cheat", "3"]);
	let (code, found) = verify(&out, "all");
	assert_eq!(code, 1, "{found:#}");
	assert_eq!(found["passed"], false);
	let segments = found["report"]["segments"].as_array().unwrap();
	let differs: Vec<bool> = segments.iter().map(|s| s["equal"] == false).collect();
	assert_eq!(differs.iter().position(|d| *d), Some(7), "{found:#}");
	let summary = found["report"]["summary"].as_str().unwrap();
	assert!(summary.contains("segment 7"), "{summary}");
	// Without a replay it would have passed: nothing else shows it.
	let (code, _) = verify(&out, "0");
	assert_eq!(code, 0);
}

#[test]
fn tampered_files_fail_and_missing_ones_cannot_be_checked() {
	let (folder, out) = trained(&[]);
	let flip = |file: &str| {
		let path = out.join(file);
		let whole = std::fs::read(&path).unwrap();
		let mut bytes = whole.clone();
		*bytes.last_mut().unwrap() ^= 1;
		std::fs::write(&path, bytes).unwrap();
		whole
	};
	for file in ["checkpoints/step-00000030.safetensors", "model.safetensors"] {
		let whole = flip(file);
		let (code, found) = verify(&out, "0");
		assert_eq!(code, 1, "{file}: {found:#}");
		assert!(found.to_string().contains(file), "{found:#}");
		let away = folder.path().join("away");
		std::fs::rename(out.join(file), &away).unwrap();
		let (code, found) = verify(&out, "0");
		assert_eq!(code, 2, "{file}: {found:#}");
		assert!(found["error"].as_str().unwrap().contains(file), "{found:#}");
		std::fs::write(out.join(file), whole).unwrap();
	}
	let path = out.join("manifest.json");
	let whole = std::fs::read(&path).unwrap();
	let tamper = |change: fn(&mut serde_json::Value)| {
		let mut manifest = json(&path);
		change(&mut manifest);
		std::fs::write(&path, serde_json::to_vec(&manifest).unwrap()).unwrap();
		let found = verify(&out, "all");
		std::fs::write(&path, &whole).unwrap();
		found
	};
	type Change = fn(&mut serde_json::Value);
	let changes: [(&str, Change); 7] = [
		("state hash", |m| {
			m["checkpoints"][3]["state_hash"] = m["checkpoints"][4]["state_hash"].clone()
		}),
		("trace", |m| m["checkpoints"][3]["trace"] = m["checkpoints"][4]["trace"].clone()),
		("root", |m| m["bundle_root"] = m["model_root"].clone()),
		("model root", |m| m["model_root"] = m["bundle_root"].clone()),
		("seed", |m| m["seed"] = m["bundle_root"].clone()),
		("steps", |m| m["spec"]["training"]["steps"] = 90.into()),
		("accuracy", |m| m["checkpoints"][2]["validation"]["correct"] = 359.into()),
	];
	for (what, change) in changes {
		let (code, found) = tamper(change);
		assert_eq!(code, 1, "{what}: {found:#}");
	}
	let (code, _) = tamper(|m| m["format"] = "other".into());
	assert_eq!(code, 2);
	assert_eq!(verify(&out, "all").0, 0, "all is well again");

	// The data.
	let data = out.join("dataset.csv");
	let away = folder.path().join("digits.csv");
	std::fs::rename(&data, &away).unwrap();
	let (code, found) = verify(&out, "1");
	assert_eq!(code, 2);
	assert!(found["error"].as_str().unwrap().contains("--data"), "{found:#}");
	succeeds(&["verify", text(&out), "--data", text(&away)]);
	std::fs::write(&data, b"a,label\n1,0\n").unwrap();
	let (code, found) = verify(&out, "1");
	assert_eq!(code, 2);
	assert!(found["error"].as_str().unwrap().contains("is not the dataset"), "{found:#}");
}

#[test]
fn garbage_in_a_checkpoint_that_no_replay_reads_fails() {
	type Change = fn(&mut TensorMap);
	let changes: [(&str, Change); 2] = [
		("NaN", |state| {
			state.values_mut().next().unwrap().data[0] = f32::NAN;
		}),
		("not those of the job", |state| {
			let tensor = state.values().next().unwrap().clone();
			state.insert("foreign".into(), tensor);
		}),
	];
	let (_folder, out) = trained(&[]);
	let bundle = Bundle::open(&out).unwrap();
	for (word, change) in changes {
		// The forger commits to what it forged: all hashes and roots are right.
		let mut manifest = bundle.manifest().clone();
		let mut state = bundle.checkpoint(30).unwrap();
		change(&mut state);
		let path = out.join("checkpoints/step-00000030.safetensors");
		let whole = std::fs::read(&path).unwrap();
		std::fs::write(&path, tensors::encode(&state)).unwrap();
		manifest.checkpoints[3].state_hash = state_hash(&state, NanRule::Allow).unwrap();
		manifest.bundle_root = manifest.computed_root();
		std::fs::write(out.join("manifest.json"), manifest.to_bytes()).unwrap();
		let (code, found) = verify(&out, "0");
		assert_eq!(code, 1, "{word}: {found:#}");
		let files = &found["report"]["checks"][0];
		assert_eq!((&files["name"], &files["status"]), (&"files".into(), &"fail".into()));
		assert!(files["detail"].as_str().unwrap().contains(word), "{found:#}");
		std::fs::write(&path, whole).unwrap();
	}
}

#[test]
fn what_is_no_bundle_cannot_be_checked() {
	let folder = tempfile::tempdir().unwrap();
	let (code, _, err) = run(&["verify", text(folder.path())]);
	assert_eq!(code, 2);
	assert!(err.contains("is no bundle"), "{err}");
	let (code, _, err) = run(&["verify", text(folder.path()), "--segments", "some"]);
	assert_eq!(code, 2);
	assert!(err.contains("neither a number of segments nor"), "{err}");
}

#[test]
fn a_certificate_that_is_none_is_refused_and_needs_a_genesis_hash() {
	let folder = tempfile::tempdir().unwrap();
	let file = folder.path().join("job.certificate.json");
	std::fs::write(&file, "{\"_type\": 1}").unwrap();
	let hash = format!("0x{}", "12".repeat(32));
	let check = |flags: &[&str]| run(&[&["verify", "--certificate", text(&file)], flags].concat());
	let (code, _, err) = check(&[]);
	assert!(code == 2 && err.contains("--genesis"), "{err}");
	let (code, _, err) = check(&["--genesis", "0x12"]);
	assert_eq!(code, 2, "{err}");
	let (code, out, err) = check(&["--genesis", &hash, "--json"]);
	assert!(code == 1 && err.contains("is refused: this is no certificate"), "{err}");
	assert_eq!(serde_json::from_str::<serde_json::Value>(&out).unwrap()["passed"], false);
	std::fs::remove_file(&file).unwrap();
	let (code, _, err) = check(&["--genesis", &hash]);
	assert!(code == 2 && err.contains("cannot check"), "{err}");
}
