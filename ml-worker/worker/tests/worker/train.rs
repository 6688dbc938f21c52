//! `trainyard train`: what it must withstand, with real processes.

use crate::common::{self, command, job, job_text, json, roots, run, succeeds, text, write_job};
use std::{
	path::Path,
	process::{Child, Stdio},
	time::{Duration, Instant},
};

/// Checkpoints that the manifest in `out` lists; none while there is no manifest.
fn checkpoints(out: &Path) -> usize {
	let manifest = std::fs::read(out.join("manifest.json")).unwrap_or_default();
	serde_json::from_slice::<serde_json::Value>(&manifest)
		.ok()
		.and_then(|manifest| Some(manifest["checkpoints"].as_array()?.len()))
		.unwrap_or(0)
}

/// Starts a training and waits until it has written `count` checkpoints.
fn start(arguments: &[&str], out: &Path, count: usize) -> Child {
	let mut child = command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
	let begun = Instant::now();
	while checkpoints(out) < count {
		assert!(child.try_wait().unwrap().is_none(), "it ended before checkpoint {count}");
		assert!(begun.elapsed() < Duration::from_secs(120), "no checkpoint {count}");
		std::thread::sleep(Duration::from_millis(2));
	}
	child
}

/// The shipped example: it ends by itself, and verifies like any other.
#[test]
fn a_job_that_stops_early_says_so_and_verifies() {
	let folder = tempfile::tempdir().unwrap();
	let out = folder.path().join("out");
	let job = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/early-stop.toml");
	let estimate = succeeds(&["estimate", text(&job)]);
	assert!(estimate.contains("may stop early"), "{estimate}");
	let (code, said, lines) = run(&["train", text(&job), "--out", text(&out)]);
	assert_eq!(code, 0, "{lines}");
	let segments = checkpoints(&out) - 1;
	assert!((3..120).contains(&segments), "{segments}");
	assert!(said.contains(&format!("early, after {segments} of 120 segments")), "{said}");
	assert!(lines.contains("stops early"), "{lines}");
	let verified = succeeds(&["verify", text(&out), "--segments", "all", "--json"]);
	let verified: serde_json::Value = serde_json::from_str(&verified).unwrap();
	assert_eq!(verified["passed"], true);
	assert_eq!(verified["result"]["segments"], segments);
	assert_eq!(verified["report"]["segments"].as_array().unwrap().len(), segments);
	// A loss that would let it go on is found.
	let path = out.join("manifest.json");
	let mut manifest = json(&path);
	manifest["checkpoints"][segments]["validation"]["loss"] = 0.0f64.into();
	std::fs::write(&path, manifest.to_string()).unwrap();
	assert_eq!(run(&["verify", text(&out), "--segments", "0"]).0, 1);
}

#[test]
#[cfg(unix)]
fn a_terminated_run_says_how_to_go_on() {
	let (folder, job) = job(100_000);
	let out = folder.path().join("out");
	let arguments = ["train", text(&job), "--out", text(&out)];
	let mut child =
		command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
	let begun = Instant::now();
	while checkpoints(&out) < 2 && begun.elapsed() < Duration::from_secs(120) {
		std::thread::sleep(Duration::from_millis(2));
	}
	let kill = std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
	assert!(kill.success());
	assert_eq!(child.wait().unwrap().code(), Some(130));
	let mut said = String::new();
	std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
	assert!(said.contains("--resume goes on"), "{said}");
}

#[test]
fn two_processes_do_not_write_one_bundle() {
	let (folder, job) = job(100_000);
	let out = folder.path().join("out");
	let mut first = start(&["train", text(&job), "--out", text(&out)], &out, 1);
	let (code, _, err) = run(&["train", text(&job), "--out", text(&out), "--resume"]);
	first.kill().unwrap();
	first.wait().unwrap();
	assert_eq!(code, 1);
	assert!(err.contains("another process is writing"), "{err}");
}

#[test]
fn every_seed_is_another_run_and_the_same_seed_the_same() {
	let (folder, job) = job(20);
	let train = |name: &str, seed: &[&str]| {
		let out = folder.path().join(name);
		let mut arguments = vec!["train", text(&job), "--out", text(&out)];
		arguments.extend(seed);
		succeeds(&arguments).lines().take(2).map(String::from).collect::<Vec<_>>()
	};
	let seven = "07".repeat(32);
	let zero = train("a", &[]);
	assert_eq!(zero, train("b", &["--seed", &"00".repeat(32)]));
	let other = train("c", &["--seed", &seven]);
	assert!(zero[0] != other[0] && zero[1] != other[1]);
	// A resumed run knows its seed; another one is refused.
	let c = folder.path().join("c");
	succeeds(&["train", text(&job), "--out", text(&c), "--resume"]);
	assert_eq!(json(&c.join("manifest.json"))["seed"], format!("0x{seven}"));
	let zeros = "00".repeat(32);
	let (code, _, err) =
		run(&["train", text(&job), "--out", text(&c), "--resume", "--seed", &zeros]);
	assert_eq!(code, 1);
	assert!(err.contains("another seed"), "{err}");
	let (code, _, err) = run(&["train", text(&job), "--out", text(&c), "--seed", "07"]);
	assert_eq!(code, 2);
	assert!(err.contains("64 hexadecimal digits"), "{err}");
}

#[test]
fn a_dataset_with_another_hash_is_refused() {
	let folder = tempfile::tempdir().unwrap();
	let out = folder.path().join("out");
	let wrong = "01".repeat(32);
	let job = job_text(20)
		.replace("feature_divisor", &format!("content_hash = \"{wrong}\"\nfeature_divisor"));
	let job = write_job(folder.path(), &job);
	let (code, _, err) = run(&["train", text(&job), "--out", text(&out)]);
	assert_eq!(code, 1);
	assert!(err.contains("job.toml:3: dataset.content_hash: "), "{err}");
	assert!(err.contains(&wrong), "{err}");
	// The right file, and another root of its rows.
	let other =
		job_text(20).replace("feature_divisor", &format!("rows = \"{wrong}\"\nfeature_divisor"));
	let other = write_job(folder.path(), &other);
	let (code, _, err) = run(&["train", text(&other), "--out", text(&out)]);
	assert_eq!(code, 1);
	assert!(err.contains("job.toml:3: dataset.rows: it is 0x0101"), "{err}");
	assert!(err.contains("0x6f487f47") && err.contains("leave rows out"), "{err}");
	// The same where the file is named on the command line.
	let other = folder.path().join("other.csv");
	let mut data = std::fs::read(common::digits()).unwrap();
	*data.last_mut().unwrap() = b' ';
	std::fs::write(&other, data).unwrap();
	let job = write_job(folder.path(), &job_text(20));
	let (code, _, err) = run(&["train", text(&job), "--out", text(&out), "--data", text(&other)]);
	assert_eq!(code, 1);
	assert!(err.contains("is not the dataset of the job"), "{err}");
	assert!(!out.exists(), "nothing was begun");
}

#[test]
fn an_absurd_learning_rate_stops_with_step_layer_and_advice() {
	let folder = tempfile::tempdir().unwrap();
	let out = folder.path().join("out");
	let job = job_text(200)
		.replace("learning_rate = 0.002", "learning_rate = 1000.0\nloss = \"mean_squared_error\"")
		.replace("[training.optimizer.adamw]", "[training.optimizer.sgd]");
	let job = write_job(folder.path(), &job);
	let (code, _, err) = run(&["train", text(&job), "--out", text(&out)]);
	assert_eq!(code, 1);
	for part in ["diverged at step ", "layers.", "learning rate 1000", "try a tenth"] {
		assert!(err.contains(part), "{part}: {err}");
	}
	let kept = checkpoints(&out);
	assert!(kept >= 1, "checkpoint 0 is kept");
	// What was trained is a bundle, which says that the segment after it diverges; so it does.
	let (code, shown, err) = run(&["verify", text(&out), "--segments", "all"]);
	assert_eq!(code, 0, "{shown}{err}");
	assert!(shown.contains("training diverged in segment"), "{shown}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
	let (folder, job) = job(20);
	let file = folder.path().join("file");
	std::fs::write(&file, b"").unwrap();
	let inside = file.join("out");
	let (code, _, err) = run(&["train", text(&job), "--out", text(&inside)]);
	assert_eq!(code, 1);
	assert!(err.contains(text(&inside)) && err.contains("not a folder"), "{err}");
	// A folder with other things in it is left alone.
	let (code, _, err) = run(&["train", text(&job), "--out", text(folder.path())]);
	assert_eq!(code, 1);
	assert!(err.contains("neither empty nor a bundle"), "{err}");
}

/// Read-only folders do not stop root, so the program runs as somebody else.
#[test]
#[cfg(unix)]
fn a_read_only_folder_is_named() {
	use std::os::unix::{
		fs::{MetadataExt, PermissionsExt},
		process::CommandExt,
	};
	let (folder, job) = job(20);
	let mode = |path: &Path, mode: u32| {
		std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
	};
	mode(folder.path(), 0o755);
	mode(&job, 0o644);
	let program = folder.path().join("trainyard");
	std::fs::copy(env!("CARGO_BIN_EXE_trainyard"), &program).unwrap();
	let data = folder.path().join("digits.csv");
	std::fs::copy(common::digits(), &data).unwrap();
	let job =
		write_job(folder.path(), &job_text(20).replace(text(&common::digits()), "digits.csv"));
	let read_only = folder.path().join("read-only");
	std::fs::create_dir(&read_only).unwrap();
	mode(&read_only, 0o555);
	let mut command = std::process::Command::new(&program);
	command.args(["train", text(&job), "--out"]).arg(read_only.join("out"));
	if std::fs::metadata(folder.path()).unwrap().uid() == 0 {
		command.uid(65_534).gid(65_534);
	}
	let output = command.output().unwrap();
	let err = String::from_utf8_lossy(&output.stderr);
	assert_eq!(output.status.code(), Some(1), "{err}");
	assert!(err.contains("Permission denied") && err.contains("read-only/out"), "{err}");
	assert!(err.contains("Choose a folder that this user may write to"), "{err}");
	mode(&read_only, 0o755);
}

/// A limit on file sizes behaves like a full disk: writes end in the middle.
#[test]
#[cfg(unix)]
fn a_disk_that_fills_up_loses_nothing() {
	let (folder, job) = job(60);
	let (whole, full) = (folder.path().join("whole"), folder.path().join("full"));
	let reference = succeeds(&["train", text(&job), "--out", text(&whole)]);
	// 512-byte blocks: room for the copy of the data, not for the metrics and the model to
	// grow on; the signal is ignored so that writing fails instead.
	let limit = std::fs::metadata(common::digits()).unwrap().len() / 512 + 1;
	let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$@\"");
	let grow = job_text(60).replace("hidden = [32]", "hidden = [512]");
	let big = folder.path().join("big.toml");
	std::fs::write(&big, &grow).unwrap();
	let output = std::process::Command::new("sh")
		.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_trainyard"), "train", text(&big)])
		.args(["--out", text(&full)])
		.output()
		.unwrap();
	let err = String::from_utf8_lossy(&output.stderr);
	assert_eq!(output.status.code(), Some(1), "{err}");
	assert!(err.contains("cannot write") && err.contains("--resume"), "{err}");
	let left: Vec<_> = std::fs::read_dir(full.join("checkpoints")).unwrap().collect();
	assert!(left.is_empty(), "half a file is no checkpoint: {left:?}");
	// With room again it goes on, and another run is not disturbed by any of it.
	succeeds(&["train", text(&big), "--out", text(&full), "--resume"]);
	succeeds(&["verify", text(&full), "--segments", "1"]);
	assert_eq!(
		roots(&succeeds(&["train", text(&job), "--out", text(&whole), "--resume"])),
		roots(&reference)
	);
}

#[cfg(not(feature = "cuda"))]
#[test]
fn devices_that_this_build_has_not_are_named() {
	let (folder, job) = job(20);
	let out = folder.path().join("out");
	let (code, _, err) = run(&["train", text(&job), "--out", text(&out), "--device", "cuda"]);
	assert_eq!(code, 1);
	assert!(
		err.contains("has no CUDA: build with --features cuda") && err.contains("--device cpu"),
		"{err}"
	);
}

/// The accuracies that docs/benchmarks.md has on record, with their roots.
#[test]
fn the_examples_reach_what_is_on_record() {
	let home = Path::new(env!("CARGO_MANIFEST_DIR"));
	let record = std::fs::read_to_string(home.join("../../docs/benchmarks.md")).unwrap();
	let folder = tempfile::tempdir().unwrap();
	for (example, least) in [("digits.toml", 96.0), ("digits-cnn.toml", 98.0)] {
		let job = home.join("../examples").join(example);
		let out = folder.path().join(example);
		succeeds(&["train", text(&job), "--out", text(&out)]);
		let manifest = json(&out.join("manifest.json"));
		let last = &manifest["checkpoints"].as_array().unwrap().last().unwrap()["validation"];
		let figures = [&last["correct"], &last["rows"]].map(|n| n.as_f64().unwrap());
		let percent = 100.0 * figures[0] / figures[1];
		assert!(percent >= least, "{example}: {percent:.2} %");
		let row = record.lines().find(|line| line.starts_with(&format!("| `{example}`"))).unwrap();
		let root = &manifest["model_root"].as_str().unwrap()[..10];
		for part in [format!("{percent:.2} % ({} of {})", figures[0], figures[1]), root.into()] {
			assert!(row.contains(&part), "{part} is not in {row}");
		}
	}
}
