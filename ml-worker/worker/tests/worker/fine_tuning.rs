//! Fine-tuning: a run that begins with a published model, with real processes.

use crate::common::{job, job_text, json, roots, run, succeeds, text, write_job};
use std::path::{Path, PathBuf};
use trainyard_engine::TensorMap;
use trainyard_proof::bundle::{parameters, tensors, Bundle};
use trainyard_protocol::blob::Chunked;

/// A job of `steps` steps that begins with the model at `path`.
fn tuning_text(steps: u32, path: &Path, more: &str) -> String {
	format!("{}\n[initial_model]\npath = {:?}\n{more}", job_text(steps), text(path))
}

/// A folder with a published model of 100 steps in it, and the model's path.
fn published() -> (tempfile::TempDir, PathBuf) {
	let (folder, job) = job(100);
	let out = folder.path().join("published");
	succeeds(&["train", text(&job), "--out", text(&out)]);
	let model = out.join("model.safetensors");
	(folder, model)
}

#[test]
fn a_published_model_is_trained_further_and_checked() {
	let (folder, model) = published();
	// The blob that a trainer stores on chain is the file: its chunks in order.
	let bytes = std::fs::read(&model).unwrap();
	let stored = folder.path().join("blob");
	std::fs::write(&stored, Chunked::new(&bytes).chunks.concat()).unwrap();
	let first = Bundle::open(model.parent().unwrap()).unwrap();
	assert_eq!(Some(Chunked::new(&bytes).root), first.manifest().model_root);

	let tuning = write_job(folder.path(), &tuning_text(60, &stored, ""));
	let out = folder.path().join("tuned");
	let printed =
		succeeds(&["train", text(&tuning), "--out", text(&out), "--seed", &"07".repeat(32)]);
	let tuned = Bundle::open(&out).unwrap();
	let (begun, ended) = (tuned.checkpoint(0).unwrap(), tuned.checkpoint(60).unwrap());
	let before = first.checkpoint(100).unwrap();
	assert_eq!(parameters(begun.clone()), parameters(before.clone()));
	assert_ne!(begun, before, "the optimizer begins from scratch");
	assert_ne!(parameters(ended.clone()), parameters(begun.clone()));
	let accuracy = |bundle: &Bundle| {
		let listed = &bundle.manifest().checkpoints;
		(listed[0].validation.accuracy(), listed.last().unwrap().validation.accuracy())
	};
	assert_eq!(accuracy(&tuned).0, accuracy(&first).1);
	assert!(accuracy(&tuned).1 > 0.9, "{:?}", accuracy(&tuned));

	// A different seed: the same beginning, a different order of the rows.
	let other = folder.path().join("other");
	let of_other = succeeds(&["train", text(&tuning), "--out", text(&other)]);
	assert_ne!(roots(&of_other), roots(&printed));
	assert_eq!(Bundle::open(&other).unwrap().checkpoint(0).unwrap(), begun);

	let table = succeeds(&["verify", text(&out), "--segments", "all"]);
	for part in ["from specification and initial model", "not applicable: fine-tuned", "passed: 6"]
	{
		assert!(table.contains(part), "{part}:\n{table}");
	}
	// The bundle is checked by itself, and says so where it cannot be.
	std::fs::remove_file(&stored).unwrap();
	succeeds(&["verify", text(&out), "--segments", "1"]);
	std::fs::remove_file(out.join("initial-model.safetensors")).unwrap();
	let (code, _, err) = run(&["verify", text(&out), "--segments", "1"]);
	assert_eq!(code, 2);
	assert!(err.contains("initial model is missing") && err.contains("--initial-model"), "{err}");
	succeeds(&["verify", text(&out), "--segments", "1", "--initial-model", text(&model)]);
	let manifest = json(&out.join("manifest.json"));
	assert_eq!(manifest["spec"]["initial_model"]["file"]["bytes"], bytes.len());
}

#[test]
fn a_fine_tuning_is_estimated_as_one_and_not_posted_without_a_location() {
	let (folder, model) = published();
	let at = |data: &str, more: &str| {
		let text =
			tuning_text(60, &model, more).replace("[dataset]\n", &format!("[dataset]\n{data}"));
		write_job(folder.path(), &text)
	};
	let location = "location = \"http://127.0.0.1:1/file\"\n";
	let estimate = succeeds(&["estimate", text(&at("", ""))]);
	assert!(estimate.contains("fine-tuning of the model 0x"), "{estimate}");
	assert!(estimate.contains("no power"), "{estimate}");
	let job = at("", "");
	let found: serde_json::Value =
		serde_json::from_str(&succeeds(&["estimate", text(&job), "--json"])).unwrap();
	assert_eq!(found["mints_power"], false);

	let post = |job: &Path| {
		let node = "ws://127.0.0.1:1";
		run(&["submit", text(job), "--node", node, "--suri", "//Alice"])
	};
	let (code, _, err) = post(&at(location, ""));
	assert_ne!(code, 0);
	assert!(err.contains("has no initial_model.location"), "{err}");
	let (_, _, err) = post(&at("", location));
	assert!(err.contains("has no dataset.location"), "{err}");
}

#[test]
fn files_that_are_no_model_of_the_job_are_refused() {
	let (folder, model) = published();
	let out = folder.path().join("out");
	let whole = std::fs::read(&model).unwrap();
	let changed = folder.path().join("changed.safetensors");
	let refused = |bytes: &[u8]| {
		std::fs::write(&changed, bytes).unwrap();
		let job = write_job(folder.path(), &tuning_text(20, &changed, ""));
		let (code, _, err) = run(&["train", text(&job), "--out", text(&out)]);
		assert_eq!(code, 1, "{err}");
		assert!(err.contains("initial_model.path: ") && err.contains(text(&changed)), "{err}");
		assert!(!out.exists(), "nothing was begun");
		err
	};
	let change = |change: fn(&mut TensorMap)| {
		let mut tensors = tensors::decode(&whole).unwrap();
		change(&mut tensors);
		refused(&tensors::encode(&tensors))
	};
	let err = change(|model| drop(model.remove("layers.1.bias")));
	assert!(err.contains("it has no tensor layers.1.bias"), "{err}");
	let err = change(|model| drop(model.insert("x".into(), model["layers.1.bias"].clone())));
	assert!(err.contains("a tensor \"x\""), "{err}");
	let err = change(|model| model.get_mut("layers.0.weight").unwrap().shape.reverse());
	assert!(err.contains("layers.0.weight has shape [64, 32]"), "{err}");
	let err = change(|model| model.get_mut("layers.0.bias").unwrap().data[3] = f32::NAN);
	assert!(err.contains("layers.0.bias holds NaN"), "{err}");
	assert!(refused(&whole[..whole.len() - 1]).contains("not a whole safetensors file"));
	assert!(refused(b"PK").contains("not a whole safetensors file"));

	// Named on the command line, it must be the job's.
	let job = write_job(folder.path(), &tuning_text(20, &model, ""));
	let arguments = ["train", text(&job), "--out", text(&out), "--initial-model", text(&changed)];
	let (code, _, err) = run(&arguments);
	assert_eq!(code, 1);
	assert!(err.contains("is not the initial model of the job"), "{err}");
	assert!(!out.exists(), "nothing was begun");
}
