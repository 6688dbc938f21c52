//! What goes wrong around a run: disks, data, checkpoints, arguments. The program says what is
//! wrong, where and what to do, and loses nothing; with real processes.

use crate::common::{
	command, contents, digits, job, job_text, json, roots, run, succeeds, text, write_job,
};
use std::path::{Path, PathBuf};

/// Checks that the command fails with exit code 1 and all of these words.
fn fails(arguments: &[&str], words: &[&str]) -> String {
	let (code, out, err) = run(arguments);
	assert_eq!(code, 1, "{arguments:?}\n{out}\n{err}");
	for word in words {
		assert!(err.contains(word), "{word:?} is not in:\n{err}");
	}
	err
}

/// Runs a shell script in which `$1` is a folder, `$2` the program, `$3` a job, in its own mount
/// namespace, and returns its output. `None` if this user may not mount anything.
#[cfg(target_os = "linux")]
fn with_mounts(script: &str, folder: &Path, job: &Path) -> Option<String> {
	let shell = |arguments: &[&str], script: &str| {
		std::process::Command::new("unshare")
			.args(arguments)
			.args(["sh", "-c", script, "sh", text(folder)])
			.args([env!("CARGO_BIN_EXE_trainyard"), text(job)])
			.output()
	};
	// As root, or as root of a user namespace.
	for arguments in [&["-m"][..], &["-r", "-m"]] {
		let probe = shell(arguments, "mkdir -p \"$1/probe\" && mount -t tmpfs none \"$1/probe\"");
		if probe.is_ok_and(|done| done.status.success()) {
			let output = shell(arguments, &format!("set -eu; {script}")).unwrap();
			let said = [output.stdout, output.stderr].concat();
			let said = String::from_utf8_lossy(&said).into_owned();
			assert!(output.status.success(), "{said}");
			return Some(said);
		}
	}
	eprintln!("not tested: this user may not mount a file system");
	None
}

/// A file system of 24 MiB that something else fills up in the middle of the run.
#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_is_full_stops_the_run_and_loses_nothing() {
	let (folder, job) = job(2_000);
	let script = r#"
		disk="$1/disk"; mkdir "$disk"; mount -t tmpfs -o size=24m none "$disk"
		"$2" train "$3" --out "$disk/out" 2>"$1/said" & pid=$!
		while kill -0 $pid && [ "$(ls "$disk/out/checkpoints" 2>/dev/null | wc -l)" -lt 5 ]; do sleep 0.01; done
		cat /dev/zero >"$disk/filler" 2>/dev/null || true
		status=0; wait $pid || status=$?
		cat "$1/said"; echo "status $status"
		echo "parts $(ls -A "$disk/out/checkpoints" | grep -c tmp || true)"
		rm "$disk/filler"
		"$2" train "$3" --out "$disk/out" --resume 2>/dev/null
		cp -r "$disk/out" "$1/resumed"
	"#;
	let Some(said) = with_mounts(script, folder.path(), &job) else { return };
	for part in ["No space left on device", "free some space", "--resume", "status 1", "parts 0"] {
		assert!(said.contains(part), "{part}: {said}");
	}
	let whole = folder.path().join("whole");
	succeeds(&["train", text(&job), "--out", text(&whole)]);
	assert!(contents(&whole) == contents(&folder.path().join("resumed")));
}

#[test]
#[cfg(target_os = "linux")]
fn a_read_only_disk_is_named() {
	let (folder, job) = job(20);
	let script = r#"
		disk="$1/disk"; mkdir "$disk"; mount -t tmpfs none "$disk"
		"$2" train "$3" --out "$disk/begun" 2>/dev/null
		rm "$disk/begun/model.safetensors"
		mount -o remount,ro "$disk"
		for arguments in "--out $disk/new" "--out $disk/begun --resume"; do
			status=0; "$2" train "$3" $arguments 2>&1 || status=$?
			echo "status $status"
		done
	"#;
	let Some(said) = with_mounts(script, folder.path(), &job) else { return };
	for part in ["Read-only file system", "Choose a folder that this user may write to"] {
		assert_eq!(said.matches(part).count(), 2, "{part}: {said}");
	}
	assert_eq!(said.matches("status 1").count(), 2, "{said}");
}

#[test]
fn a_run_that_cannot_fit_is_not_begun() {
	let folder = tempfile::tempdir().unwrap();
	// 67 million parameters three times in each of 65,537 checkpoints: 48 TiB.
	let training = "steps = 65536\nbatch_size = 32\ncheckpoint_interval = 1";
	let big = job_text(20)
		.replace("hidden = [32]", "hidden = [8192, 8000]")
		.replace("audit_fee = \"0.2\"\n", "")
		.replace("steps = 20\nbatch_size = 32\ncheckpoint_interval = 10", training);
	let job = write_job(folder.path(), &big);
	let out = folder.path().join("out");
	let words =
		["MiB of free space", "the bundle needs about", "Free some space", "checkpoint_interval"];
	fails(&["train", text(&job), "--out", text(&out)], &words);
	assert!(!out.join("manifest.json").exists() && !out.join("dataset.csv").exists());
}

/// The digits with a change, beside a job that knows their content hash.
fn changed_data(folder: &Path, change: impl FnOnce(&mut Vec<u8>)) -> (PathBuf, PathBuf) {
	let mut bytes = std::fs::read(digits()).unwrap();
	let hash = succeeds(&["hash", text(&digits()), "--json"]);
	let hash: serde_json::Value = serde_json::from_str(&hash).unwrap();
	change(&mut bytes);
	let data = folder.join("data.csv");
	std::fs::write(&data, bytes).unwrap();
	let hash = hash["content_hash"].as_str().unwrap().trim_start_matches("0x").to_owned();
	let text = job_text(20).replace(text(&digits()), text(&data));
	let known =
		text.replace("feature_divisor", &format!("content_hash = \"{hash}\"\nfeature_divisor"));
	let (unknown_job, known_job) = (folder.join("unknown.toml"), folder.join("known.toml"));
	std::fs::write(&unknown_job, text).unwrap();
	std::fs::write(&known_job, known).unwrap();
	(known_job, unknown_job)
}

#[test]
fn damaged_data_are_refused_and_the_place_is_named() {
	let folder = tempfile::tempdir().unwrap();
	let out = folder.path().join("out");
	type Change = fn(&mut Vec<u8>);
	// What the file itself shows, where no hash is given. A changed digit and missing rows show
	// nothing.
	let flip: Change = |data| {
		let digit = (100_000..).find(|at| data[*at].is_ascii_digit()).unwrap();
		data[digit] ^= 1;
	};
	let cut_after_a_row: Change = |data| {
		let end = data[..150_000].iter().rposition(|b| *b == b'\n').unwrap();
		data.truncate(end + 1);
	};
	let cases: [(&str, Change, Option<&str>); 4] = [
		("one flipped bit", flip, None),
		("a letter for a digit", |data| data[1_000] = b'x', Some("is not a finite number")),
		("cut in a row", |data| data.truncate(150_002), Some("columns, but the first line has 65")),
		("cut after a row", cut_after_a_row, None),
	];
	for (name, change, shown) in cases {
		let (known, unknown) = changed_data(folder.path(), change);
		let known = ["train", text(&known), "--out", text(&out)];
		match shown {
			None => fails(&known, &["dataset.content_hash: ", "the file at dataset.path has"]),
			Some(words) => {
				let unknown = ["train", text(&unknown), "--out", text(&out)];
				fails(&unknown, &["dataset.path: ", "data.csv:", words]);
				fails(&known, &["dataset.path: ", "data.csv:", words])
			}
		};
		assert!(!out.exists(), "{name}: nothing was begun");
	}
}

#[test]
fn data_that_change_under_a_run_are_noticed_when_it_goes_on() {
	let folder = tempfile::tempdir().unwrap();
	let data = folder.path().join("data.csv");
	std::fs::copy(digits(), &data).unwrap();
	let job = write_job(folder.path(), &job_text(60).replace(text(&digits()), text(&data)));
	let out = folder.path().join("out");
	let resume = ["train", text(&job), "--out", text(&out), "--resume"];
	succeeds(&resume);
	let whole = contents(&out);
	// The bundle's copy is made again where it is damaged.
	let mut bytes = std::fs::read(&data).unwrap();
	bytes[100_000] ^= 1;
	std::fs::write(out.join("dataset.csv"), &bytes).unwrap();
	succeeds(&resume);
	assert!(contents(&out) == whole);
	// Of a source that changed a job file without a hash makes another job.
	std::fs::write(&data, &bytes).unwrap();
	fails(&resume, &["another job: its dataset.content_hash is", "Choose another folder"]);
	assert!(contents(&out) == whole, "nothing is lost");
}

#[test]
fn damaged_checkpoints_are_named_and_trained_again() {
	let (folder, job) = job(60);
	let out = folder.path().join("out");
	let train = ["train", text(&job), "--out", text(&out), "--resume"];
	let printed = succeeds(&train);
	let whole = contents(&out);
	let file = out.join("checkpoints/step-00000040.safetensors");
	let good = std::fs::read(&file).unwrap();
	type Damage = fn(&mut Vec<u8>);
	let damages: [(&str, Damage); 4] = [
		("one flipped bit", |bytes| *bytes.last_mut().unwrap() ^= 1),
		("cut", |bytes| bytes.truncate(1_000)),
		("empty", |bytes| bytes.clear()),
		("a header of 2^63 bytes", |bytes| bytes[7] = 0x80),
	];
	for (name, damage) in damages {
		let mut bytes = good.clone();
		damage(&mut bytes);
		std::fs::write(&file, bytes).unwrap();
		let (code, _, err) = run(&["verify", text(&out)]);
		assert_eq!(code, 1, "{name}: {err}");
		let (code, out_text, err) = run(&train);
		assert_eq!(code, 0, "{name}: {err}");
		for part in ["step-00000040.safetensors does not hash", "from the checkpoint before it"] {
			assert!(err.contains(part), "{name}, {part}: {err}");
		}
		assert_eq!(roots(&out_text), roots(&printed), "{name}");
		assert!(contents(&out) == whole, "{name}");
	}
	// Records that inform are made again as far as they are known.
	std::fs::write(out.join("metrics.csv"), b"\xff\0").unwrap();
	std::fs::remove_file(out.join("model.safetensors")).unwrap();
	succeeds(&train);
	assert!(contents(&out) == whole);
	// The program does not guess what a manifest said.
	std::fs::write(out.join("manifest.json"), b"{\"format\":").unwrap();
	fails(&train, &["manifest.json cannot be read", "train again in another folder"]);
	assert_eq!(contents(&out).len(), whole.len(), "nothing is lost");
}

#[test]
fn shapes_that_do_not_fit_are_refused_before_anything_is_written() {
	let folder = tempfile::tempdir().unwrap();
	let out = folder.path().join("out");
	let cnn = "[model.cnn]\nchannels = 1\nheight = 8\nwidth = 9\nlayers = [\"conv 4 3\"]";
	for (from, to, words) in [
		("feature_divisor", "features = 63\nfeature_divisor", &["dataset.features", "63", "64"]),
		(
			"feature_divisor",
			"classes = 9\nfeature_divisor",
			&["dataset.classes", "it is 9", "go up to 9"],
		),
		("feature_divisor", "train_rows = 2000\nfeature_divisor", &["train_rows", "2000", "1438"]),
		("[model.mlp]\nhidden = [32]", cnn, &["job.toml:", "model", "dataset.features"]),
	] {
		let job = write_job(folder.path(), &job_text(20).replace(from, to));
		fails(&["train", text(&job), "--out", text(&out)], words);
		assert!(!out.exists(), "{to}");
	}
}

#[test]
fn a_folder_of_another_job_is_left_alone() {
	let (folder, first) = job(20);
	let out = folder.path().join("out");
	succeeds(&["train", text(&first), "--out", text(&out)]);
	let whole = contents(&out);
	fails(&["train", text(&first), "--out", text(&out)], &["already holds a bundle", "--resume"]);
	for (from, to, difference) in [
		("steps = 20", "steps = 30", "its training.steps is 20, not 30"),
		("hidden = [32]", "hidden = [16]", "its model.mlp.hidden is [32], not [16]"),
	] {
		let other = write_job(folder.path(), &job_text(20).replace(from, to));
		let arguments = ["train", text(&other), "--out", text(&out), "--resume"];
		let words = ["holds the bundle of another job: ", difference, "Choose another folder"];
		fails(&arguments, &words);
	}
	assert!(contents(&out) == whole);
	assert!(json(&out.join("manifest.json"))["model_root"].is_string());
}

#[test]
fn wrong_arguments_say_what_is_right() {
	let (folder, job) = job(20);
	let out = folder.path().join("out");
	let (job, out) = (text(&job), text(&out));
	for (arguments, words) in [
		(&["train", job][..], &["--out <DIR>"][..]),
		(&["train", "--out", out], &["<JOB.toml>"]),
		(&["train", job, "--out", out, "--resum"], &["--resum", "--resume"]),
		(&["train", job, "--out", out, "--seed", "xyz"], &["64 hexadecimal digits"]),
		(&["train", job, "--out", out, "--device", "tpu"], &["tpu", "cpu", "cuda"]),
		(&["trian", job], &["trian", "train"]),
	] {
		let (code, _, err) = run(arguments);
		assert_eq!(code, 2, "{arguments:?}: {err}");
		for word in words {
			assert!(err.contains(word), "{arguments:?}, {word}: {err}");
		}
	}
	// What is no job file.
	fails(&["train", text(folder.path()), "--out", out], &[text(folder.path())]);
	fails(&["train", text(&digits()), "--out", out], &["digits.csv"]);
	let missing = text(&digits()).replace("digits.csv", "nothing.csv");
	fails(&["train", job, "--out", out, "--data", &missing], &["nothing.csv", "No such file"]);
	assert!(!Path::new(out).exists());
}

/// On a terminal a bar shows the progress of the run, elsewhere lines do.
#[test]
#[cfg(target_os = "linux")]
fn progress_is_a_bar_on_a_terminal_and_lines_elsewhere() {
	let (folder, job) = job(300);
	let train = |out: &Path| command(&["train", text(&job), "--out", text(out)]);
	let output = train(&folder.path().join("lines")).output().unwrap();
	let lines = String::from_utf8_lossy(&output.stderr).into_owned();
	let last = lines.lines().last().unwrap();
	assert!(lines.starts_with("step 0 of 300, accuracy "), "{lines}");
	for part in ["step 300 of 300, loss ", ", accuracy ", "FLOP/s"] {
		assert!(last.contains(part), "{part}: {last}");
	}
	assert!(!lines.contains('\u{1b}'), "no control characters: {lines:?}");
	let printed = String::from_utf8_lossy(&output.stdout).into_owned();
	assert!(
		printed.contains("computed     300 steps, ") && printed.contains("FLOP/s"),
		"{printed}"
	);

	let on_terminal = format!(
		"{} train {} --out {}",
		env!("CARGO_BIN_EXE_trainyard"),
		text(&job),
		text(&folder.path().join("bar"))
	);
	let output = std::process::Command::new("script")
		.args(["-qec", &on_terminal, "/dev/null"])
		.env("TERM", "xterm")
		.output();
	let Ok(output) = output else {
		return eprintln!(
			"the bar is not tested: there is no program `script`, which has a terminal"
		);
	};
	let bar = String::from_utf8_lossy(&output.stdout).into_owned();
	for part in ["/300 steps", " left", "loss ", "accuracy ", "FLOP/s", "\u{1b}["] {
		assert!(bar.contains(part), "{part}: {bar:?}");
	}
}
