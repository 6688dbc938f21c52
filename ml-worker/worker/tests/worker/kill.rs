//! Runs that are killed at random moments, with real processes: resumed, they end with the
//! bytes of a run that was never interrupted.

use crate::common::{
	command, contents, digits, job_text, roots, succeeds, text, write_job, Contents,
};
use rand::{rngs::StdRng, Rng, SeedableRng};
use std::{
	path::{Path, PathBuf},
	process::Stdio,
	time::{Duration, Instant},
};

/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(120);

/// A random source whose seed is printed; `TRAINYARD_TEST_SEED` repeats a run.
fn random() -> StdRng {
	let seed = match std::env::var("TRAINYARD_TEST_SEED") {
		Ok(text) => text.parse().expect("TRAINYARD_TEST_SEED is a number"),
		Err(_) => rand::random(),
	};
	eprintln!("TRAINYARD_TEST_SEED={seed}");
	StdRng::seed_from_u64(seed)
}

/// Checkpoints and temporary files in the folder of checkpoints of `out`.
fn files(out: &Path) -> (usize, usize) {
	let entries = std::fs::read_dir(out.join("checkpoints")).into_iter().flatten().flatten();
	entries.fold((0, 0), |(whole, parts), entry| {
		match entry.file_name().to_string_lossy().starts_with(".tmp-") {
			true => (whole, parts + 1),
			false => (whole + 1, parts),
		}
	})
}

/// A job, and what it ends with if nothing interrupts it.
struct Reference {
	folder: tempfile::TempDir,
	job: PathBuf,
	roots: Vec<String>,
	contents: Contents,
	checkpoints: usize,
	took: Duration,
}

impl Reference {
	fn new(job: &str) -> Self {
		let folder = tempfile::tempdir().unwrap();
		let job = write_job(folder.path(), job);
		let whole = folder.path().join("whole");
		let begun = Instant::now();
		let printed = succeeds(&["train", text(&job), "--out", text(&whole)]);
		let took = begun.elapsed();
		let roots: Vec<String> = roots(&printed).into_iter().map(String::from).collect();
		assert_eq!(roots.len(), 2, "{printed}");
		let contents = contents(&whole);
		let (checkpoints, _) = files(&whole);
		Self { folder, job, roots, contents, checkpoints, took }
	}

	fn arguments<'a>(&'a self, out: &'a Path) -> [&'a str; 5] {
		["train", text(&self.job), "--out", text(out), "--resume"]
	}

	/// Goes on to the end; everything must be as in the reference.
	fn finish(&self, out: &Path) {
		let printed = succeeds(&self.arguments(out));
		assert_eq!(roots(&printed), self.roots);
		let found = contents(out);
		let names = |contents: &Contents| contents.keys().cloned().collect::<Vec<_>>();
		assert_eq!(names(&found), names(&self.contents));
		for (name, bytes) in &self.contents {
			assert!(found[name] == *bytes, "{} differs", name.display());
		}
	}

	/// Kills runs at `kills` random moments, spread evenly over the run's checkpoints and,
	/// between them, over its time; resumes after each.
	fn kill(&self, kills: usize) {
		let mut random = random();
		// With this pause after a checkpoint a kill hits anything up to the one after the next.
		let pause = 2.0 * self.took.as_secs_f64() / self.checkpoints as f64;
		let mut moments: Vec<usize> =
			(0..kills).map(|_| random.random_range(0..self.checkpoints)).collect();
		moments.sort_unstable();
		let (mut round, mut killed, mut while_writing) = (0, 0, 0);
		let mut out = self.folder.path().join("killed-0");
		while killed < kills {
			let mut child = command(&self.arguments(&out))
				.stdout(Stdio::null())
				.stderr(Stdio::null())
				.spawn()
				.unwrap();
			let begun = Instant::now();
			while files(&out).0 < moments[killed] && child.try_wait().unwrap().is_none() {
				assert!(begun.elapsed() < PATIENCE, "no checkpoint {}", moments[killed]);
				std::thread::sleep(Duration::from_micros(200));
			}
			std::thread::sleep(Duration::from_secs_f64(random.random_range(0.0..pause)));
			// SIGKILL: nothing of it runs any more.
			child.kill().unwrap();
			if child.wait().unwrap().success() {
				// It came to its end first: the other kills are for another run.
				self.finish(&out);
				round += 1;
				out = self.folder.path().join(format!("killed-{round}"));
				continue;
			}
			killed += 1;
			let (whole, parts) = files(&out);
			while_writing += parts;
			eprintln!("kill {killed}: {whole} of {} checkpoints", self.checkpoints);
		}
		self.finish(&out);
		eprintln!("{killed} kills, {while_writing} while a checkpoint was written");
	}
}

/// A digits job with this model and training.
fn job(model: &str, training: &str) -> String {
	format!(
		"[dataset]\npath = {:?}\nfeature_divisor = 16\n\n{model}\n\n[training]\n{training}\n\n\
		 [training.optimizer.adamw]\n",
		text(&digits())
	)
}

#[test]
fn a_perceptron_killed_at_twenty_moments_ends_with_the_same_bytes() {
	let reference = Reference::new(&job_text(600));
	reference.kill(20);
	let out = reference.folder.path().join("killed-0");
	succeeds(&["verify", text(&out), "--segments", "5"]);
}

#[test]
fn a_convolutional_network_with_dropout_and_noise_does_too() {
	let model = "[model.cnn]\nchannels = 1\nheight = 8\nwidth = 8\n\
	             layers = [\"conv 4 3\", \"max_pool 2\", \"linear 16\", \"dropout 0.25\"]";
	let training = "steps = 40\nbatch_size = 16\ncheckpoint_interval = 2\nlearning_rate = 0.01\n\
	                schedule = \"cosine\"\nwarmup_steps = 5\nclip_norm = 1.0\ninput_noise = 0.05";
	Reference::new(&job(model, training)).kill(6);
}

/// A limit on file sizes kills by a signal as soon as a file has grown so far: surely in the
/// middle of a checkpoint.
#[test]
#[cfg(unix)]
fn killed_in_the_middle_of_a_checkpoint_it_loses_nothing() {
	use std::os::unix::process::ExitStatusExt;
	const SIGXFSZ: i32 = 25;
	const BLOCK: u64 = 512;
	let model = "[model.mlp]\nhidden = [256]";
	let training = "steps = 20\nbatch_size = 32\ncheckpoint_interval = 5\nlearning_rate = 0.002";
	let reference = Reference::new(&job(model, training));
	let mut random = random();
	for step in [0, 5, 10, 15, 20] {
		// Everything is there but one checkpoint, so it is the next thing to be written.
		let out = reference.folder.path().join(format!("without-{step}"));
		let missing = Path::new("checkpoints").join(format!("step-{step:08}.safetensors"));
		for (name, bytes) in reference.contents.iter().filter(|(name, _)| **name != missing) {
			std::fs::create_dir_all(out.join(name).parent().unwrap()).unwrap();
			std::fs::write(out.join(name), bytes).unwrap();
		}
		let blocks = reference.contents[&missing].len() as u64 / BLOCK;
		// All other files that are written again are shorter than the least limit.
		let limit = random.random_range(40..blocks);
		let program = env!("CARGO_BIN_EXE_trainyard");
		let status = std::process::Command::new("sh")
			.args(["-c", &format!("ulimit -c 0; ulimit -f {limit}; exec \"$@\""), "sh", program])
			.args(reference.arguments(&out))
			.stdout(Stdio::null())
			.stderr(Stdio::null())
			.status()
			.unwrap();
		assert_eq!(status.signal(), Some(SIGXFSZ), "step {step}, {limit} blocks: {status}");
		let parts: Vec<u64> = std::fs::read_dir(out.join("checkpoints"))
			.unwrap()
			.map(|entry| entry.unwrap())
			.filter(|entry| entry.file_name().to_string_lossy().starts_with(".tmp-"))
			.map(|entry| entry.metadata().unwrap().len())
			.collect();
		assert_eq!(parts, [limit * BLOCK], "a part of the checkpoint of step {step}");
		reference.finish(&out);
	}
}
