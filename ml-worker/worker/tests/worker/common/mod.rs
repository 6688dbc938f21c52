//! Runs the real `trainyard` on the shipped digits.

use std::{
	collections::BTreeMap,
	path::{Path, PathBuf},
	process::{Command, Output},
};

/// Makes a command `trainyard` with these arguments.
pub fn command(arguments: &[&str]) -> Command {
	let mut command = Command::new(env!("CARGO_BIN_EXE_trainyard"));
	command.args(arguments).env_remove("RUST_LOG");
	command
}

/// Runs `trainyard` to its end.
pub fn trainyard(arguments: &[&str]) -> Output {
	command(arguments).output().expect("trainyard starts")
}

/// Runs `trainyard`, and returns exit code, standard output and standard error.
pub fn run(arguments: &[&str]) -> (i32, String, String) {
	let output = trainyard(arguments);
	(
		output.status.code().unwrap_or(-1),
		String::from_utf8_lossy(&output.stdout).into_owned(),
		String::from_utf8_lossy(&output.stderr).into_owned(),
	)
}

/// Runs `trainyard`, which must succeed, and returns its standard output.
pub fn succeeds(arguments: &[&str]) -> String {
	let (code, out, err) = run(arguments);
	assert_eq!(code, 0, "{arguments:?}\n{out}\n{err}");
	out
}

/// Path of the shipped digits.
pub fn digits() -> PathBuf {
	Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data/digits.csv")
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
	path.to_str().expect("temporary paths are UTF-8")
}

/// The text of a digits job of `steps` steps with a checkpoint every ten.
pub fn job_text(steps: u32) -> String {
	format!(
		"[dataset]\npath = {:?}\nfeature_divisor = 16\n\n[model.mlp]\nhidden = [32]\n\n\
		 [training]\nsteps = {steps}\nbatch_size = 32\ncheckpoint_interval = 10\n\
		 learning_rate = 0.002\n\n[training.optimizer.adamw]\n\n\
		 [terms]\nprice_per_ut = \"1000\"\naudit_fee = \"0.2\"\n",
		text(&digits())
	)
}

/// Writes a job into `folder`.
pub fn write_job(folder: &Path, job: &str) -> PathBuf {
	let path = folder.join("job.toml");
	std::fs::write(&path, job).unwrap();
	path
}

/// A folder with a job of `steps` steps in it, and the job's path.
pub fn job(steps: u32) -> (tempfile::TempDir, PathBuf) {
	let folder = tempfile::tempdir().unwrap();
	let path = write_job(folder.path(), &job_text(steps));
	(folder, path)
}

/// The roots in what `trainyard train` printed.
pub fn roots(out: &str) -> Vec<&str> {
	out.lines().filter(|line| line.contains(" root ")).collect()
}

/// JSON of a file.
pub fn json(path: &Path) -> serde_json::Value {
	serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Bytes of the files of a folder.
pub type Contents = BTreeMap<PathBuf, Vec<u8>>;

/// Returns every file below `folder` except the lock, by its path in it.
pub fn contents(folder: &Path) -> Contents {
	let (mut all, mut folders) = (Contents::new(), vec![folder.to_owned()]);
	while let Some(at) = folders.pop() {
		for entry in std::fs::read_dir(&at).unwrap() {
			let path = entry.unwrap().path();
			if path.is_dir() {
				folders.push(path);
			} else if !path.ends_with(".lock") {
				let name = path.strip_prefix(folder).unwrap().to_owned();
				all.insert(name, std::fs::read(&path).unwrap());
			}
		}
	}
	all
}
