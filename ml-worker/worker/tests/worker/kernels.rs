//! Whole runs with real processes, each forced onto one instruction set and a number of threads:
//! all end with the same bytes.

use crate::common::{command, contents, digits, job_text, text, write_job, Contents};
use std::path::{Path, PathBuf};

const KERNELS: [&str; 4] = ["scalar", "avx2", "avx512", "neon"];
const THREADS: [&str; 3] = ["1", "2", "8"];

/// The digits as images, through convolutions and both poolings.
fn cnn() -> String {
	let layers = r#"["conv 6 3 padding 1", "max_pool 2", "conv 8 3", "avg_pool 2", "linear 16"]"#;
	let image = format!("channels = 1\nheight = 8\nwidth = 8\nlayers = {layers}\n");
	job_text(30).replace("[model.mlp]\nhidden = [32]\n", &format!("[model.cnn]\n{image}"))
}

/// A transformer of two blocks on the shipped text.
fn transformer() -> String {
	let text_file = digits().with_file_name("alice.txt");
	let job = job_text(20).replace("batch_size = 32", "batch_size = 4");
	let sections = job.split_once("[training]").and_then(|(_, rest)| rest.split_once("[terms]"));
	let (training, _) = sections.expect("a job has these sections");
	format!(
		"[dataset]\npath = {:?}\nformat = \"text\"\nfeatures = 32\nvalidation_every = 100\n\n\
		 [model.transformer]\nlayers = 2\nheads = 2\nwidth = 16\ndropout = 0.1\n\n[training]{training}",
		text(&text_file)
	)
}

/// Trains `job` into `out` with this instruction set and number of threads. Returns what it left;
/// none if the machine does not have the instruction set.
fn train(job: &Path, out: PathBuf, kernel: &str, threads: &str) -> Option<Contents> {
	let output = command(&["train", text(job), "--out", text(&out)])
		.env("TRAINYARD_ISA", kernel)
		.env("RAYON_NUM_THREADS", threads)
		.output()
		.unwrap();
	let said = String::from_utf8_lossy(&output.stderr);
	if said.contains("this machine does not support") {
		return None;
	}
	assert!(output.status.success(), "{kernel}, {threads} threads: {said}");
	Some(contents(&out))
}

#[test]
fn every_kernel_and_number_of_threads_ends_with_the_same_bytes() {
	for (name, job) in [("mlp", job_text(60)), ("cnn", cnn()), ("transformer", transformer())] {
		let folder = tempfile::tempdir().unwrap();
		let job = write_job(folder.path(), &job);
		let place = |run: &str| folder.path().join(run);
		let expected =
			train(&job, place("reference"), "scalar", "1").expect("every machine has it");
		assert!(expected.contains_key(Path::new("manifest.json")));
		let mut kernels = 0;
		for kernel in KERNELS {
			let begun = THREADS
				.map(|threads| train(&job, place(&format!("{kernel}-{threads}")), kernel, threads));
			for (threads, found) in THREADS.iter().zip(&begun) {
				let Some(found) = found else { continue };
				assert!(found.keys().eq(expected.keys()));
				for (path, bytes) in found {
					let same = expected[path] == *bytes;
					assert!(
						same,
						"{name}, {kernel}, {threads} threads: {} differs",
						path.display()
					);
				}
			}
			kernels += usize::from(begun.iter().all(Option::is_some));
		}
		// A processor of these families has at least one instruction set besides the reference.
		let least = if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) { 2 } else { 1 };
		eprintln!("{name}: {kernels} kernels with {} numbers of threads", THREADS.len());
		assert!(kernels >= least, "{name}: {kernels} kernels");
	}
}
