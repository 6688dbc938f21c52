//! The small commands, with real processes.

use crate::common::{self, job, job_text, run, succeeds, text, write_job};

fn json_of(arguments: &[&str]) -> serde_json::Value {
	serde_json::from_str(&succeeds(arguments)).unwrap()
}

#[test]
fn estimate_counts_work_and_price() {
	let (_folder, job) = job(100);
	let table = succeeds(&["estimate", text(&job)]);
	for part in ["layers.0", "layers.1", "loss", "10 segments", "micro-ut", "escrow"] {
		assert!(table.contains(part), "{part}:\n{table}");
	}
	let found = json_of(&["estimate", text(&job), "--json"]);
	assert_eq!(found["parameters"], 65 * 32 + 33 * 10);
	let micro_ut = found["micro_ut"].as_u64().unwrap();
	let flop = found["flop"].as_u64().unwrap();
	assert_eq!(micro_ut, flop.div_ceil(432_000));
	// 1,000 TRY of 10^12 units for a million micro-ut.
	let price: u128 = found["money"]["price"].as_str().unwrap().parse().unwrap();
	assert_eq!(price, u128::from(micro_ut) * 1_000_000_000);
	let layers: u64 =
		found["layers"].as_array().unwrap().iter().map(|l| l["total"].as_u64().unwrap()).sum();
	assert_eq!(layers, flop);
}

#[test]
fn wrong_job_files_name_file_line_and_field() {
	let folder = tempfile::tempdir().unwrap();
	for (from, to, line, field, hint) in [
		("batch_size = 32", "batch_size = 0", 10, "training.batch_size", "from 1 to 65536"),
		(
			"learning_rate = 0.002",
			"learning_rate = 0.0",
			12,
			"training.learning_rate",
			"0.000000001",
		),
		(
			"checkpoint_interval",
			"checkpoint_intervall",
			11,
			"training.checkpoint_intervall",
			"did you mean checkpoint_interval?",
		),
		("hidden = [32]", "hidden = [65536, 65536]", 6, "model.mlp.hidden", "parameters"),
		("audit_fee = \"0.2\"", "audit_fee = \"half\"", 18, "terms.audit_fee", "TRY"),
	] {
		let changed = job_text(20).replace(from, to);
		let job = write_job(folder.path(), &changed);
		let (code, _, err) = run(&["estimate", text(&job)]);
		assert_eq!(code, 1);
		assert!(err.contains(&format!("job.toml:{line}: {field}: ")), "{err}");
		assert!(err.contains(hint), "{err}");
		let source = changed.lines().nth(line - 1).unwrap();
		assert!(err.contains(&format!("{line} | {source}")), "{err}");
	}
	let missing = folder.path().join("missing.toml");
	let (code, _, err) = run(&["estimate", text(&missing)]);
	assert_eq!(code, 1);
	assert!(err.contains("missing.toml") && err.contains("digits.toml"), "{err}");
}

#[test]
fn a_model_evaluates_as_it_did_in_training() {
	let (folder, job) = job(150);
	let out = folder.path().join("out");
	succeeds(&["train", text(&job), "--out", text(&out)]);
	let model = out.join("model.safetensors");
	let found = json_of(&["evaluate", text(&model), text(&job), "--json"]);
	let manifest = common::json(&out.join("manifest.json"));
	let last = &manifest["checkpoints"].as_array().unwrap().last().unwrap()["validation"];
	assert_eq!(found["correct"], last["correct"]);
	assert_eq!(found["loss"], last["loss"]);
	assert_eq!(found["model_root"], manifest["model_root"]);
	assert!(found["accuracy"].as_f64().unwrap() > 0.8, "{found:#}");

	let other = job_text(150).replace("hidden = [32]", "hidden = [33]");
	let other_job = write_job(folder.path(), &other);
	let (code, _, err) = run(&["evaluate", text(&model), text(&other_job)]);
	assert_eq!(code, 1);
	assert!(err.contains("layers.0.weight has shape [32, 64], the job's has [33, 64]"), "{err}");
	let (code, _, err) = run(&["evaluate", text(&other_job), text(&other_job)]);
	assert_eq!(code, 1);
	assert!(err.contains("is not a model"), "{err}");
}

#[test]
fn curves_are_drawn() {
	let (folder, job) = job(30);
	let out = folder.path().join("out");
	succeeds(&["train", text(&job), "--out", text(&out)]);
	let picture = out.join("curves.svg");
	let drawn = std::fs::read(&picture).unwrap();
	std::fs::remove_file(&picture).unwrap();
	assert_eq!(succeeds(&["plot", text(&out)]).trim(), text(&picture));
	assert_eq!(std::fs::read(&picture).unwrap(), drawn);
	let (code, _, err) = run(&["plot", text(folder.path())]);
	assert_eq!(code, 1);
	assert!(err.contains("no metrics"), "{err}");
}

#[test]
fn hashes_are_those_of_the_bundle() {
	let (folder, job) = job(10);
	let out = folder.path().join("out");
	succeeds(&["train", text(&job), "--out", text(&out)]);
	let manifest = common::json(&out.join("manifest.json"));
	let data = json_of(&["hash", text(&common::digits()), "--json"]);
	assert_eq!(data["content_hash"], manifest["spec"]["dataset"]["content_hash"]);
	assert_eq!(data["bytes"], manifest["spec"]["dataset"]["bytes"]);
	let model = json_of(&["hash", text(&out.join("model.safetensors")), "--json"]);
	assert_eq!(model["blob_root"], manifest["model_root"]);
	let (code, _, err) = run(&["hash", text(&folder.path().join("nothing"))]);
	assert_eq!(code, 1);
	assert!(err.contains("nothing"), "{err}");
}
