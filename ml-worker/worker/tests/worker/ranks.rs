//! `trainyard ranks`, with real processes.

use crate::common::{command, job, run, succeeds, text};
use std::{
	io::{BufRead, BufReader, Read},
	process::{Command, Stdio},
};

/// The line with the state.
fn state(out: &str) -> &str {
	out.lines().find(|line| line.starts_with("state hash")).unwrap()
}

#[test]
fn any_number_of_processes_trains_the_same_model() {
	let (folder, job) = job(20);
	for ranks in ["4", "8"] {
		let mut found = Vec::new();
		for workers in ["1", "2", "4"] {
			let out = folder.path().join(format!("{ranks}-{workers}"));
			let arguments = ["ranks", "train", text(&job), "--ranks", ranks];
			let more = ["--workers", workers, "--threads", "1", "--out", text(&out)];
			let printed = succeeds(&[&arguments[..], &more].concat());
			assert!(printed.contains("workers lost 0"), "{printed}");
			let model = std::fs::read(out.join("model.safetensors")).unwrap();
			found.push((state(&printed).to_owned(), model));
		}
		assert!(found.windows(2).all(|two| two[0] == two[1]), "{ranks}");
	}
}

#[test]
fn one_rank_is_what_train_does() {
	let (folder, job) = job(20);
	let (plain, ranked) = (folder.path().join("plain"), folder.path().join("ranked"));
	succeeds(&["train", text(&job), "--out", text(&plain)]);
	succeeds(&["ranks", "train", text(&job), "--out", text(&ranked)]);
	let model = |folder: &std::path::Path| std::fs::read(folder.join("model.safetensors")).unwrap();
	assert!(model(&plain) == model(&ranked));
}

#[test]
#[cfg(unix)]
fn killed_workers_change_no_bit() {
	let (_folder, job) = job(400);
	let arguments = ["ranks", "train", text(&job), "--ranks", "8", "--threads", "1"];
	let expected = succeeds(&[&arguments[..], &["--workers", "1"]].concat());
	let mut child = command(&[&arguments[..], &["--workers", "3"]].concat())
		.stdout(Stdio::piped())
		.stderr(Stdio::piped())
		.spawn()
		.unwrap();
	let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
	let processes = lines.find(|line| line.starts_with("processes")).unwrap();
	let numbers: Vec<&str> =
		processes.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
	assert_eq!(numbers.len(), 2, "{processes}");
	for (number, step) in numbers.into_iter().zip(["step 10 of", "step 50 of"]) {
		assert!(lines.any(|line| line.starts_with(step)));
		// SIGKILL: nothing of it runs any more.
		assert!(Command::new("kill").args(["-9", number]).status().unwrap().success());
	}
	let rest: Vec<String> = lines.collect();
	let mut printed = String::new();
	child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
	assert!(child.wait().unwrap().success(), "{rest:?}");
	assert!(printed.contains("workers lost 2"), "{printed}\n{rest:?}");
	assert_eq!(state(&printed), state(&expected));
}

#[test]
fn what_cannot_be_shared_out_is_refused() {
	let (folder, job) = job(20);
	let refused = |more: &[&str]| {
		let (code, _, err) = run(&[&["ranks", "train", text(&job)], more].concat());
		assert_eq!(code, 1, "{err}");
		err
	};
	let err = refused(&["--ranks", "5"]);
	assert!(err.contains("a batch of 32 rows is not cut into 5 equal parts"), "{err}");
	let err = refused(&["--ranks", "2", "--workers", "4"]);
	assert!(err.contains("4 workers have nothing to do with 2 virtual ranks"), "{err}");
	let secret = folder.path().join("secret");
	let (code, _, err) = run(&["ranks", "work", "--connect", "127.0.0.1:1"]);
	assert!(code == 1 && err.contains("the secret of the coordinator is missing"), "{err}");
	std::fs::write(&secret, "no secret").unwrap();
	let arguments = ["ranks", "work", "--connect", "127.0.0.1:1", "--patience", "0"];
	let (code, _, err) = run(&[&arguments[..], &["--ranks-secret", text(&secret)]].concat());
	assert!(code == 1 && err.contains("has no secret"), "{err}");
	std::fs::write(&secret, "07".repeat(32)).unwrap();
	let (code, _, err) = run(&[&arguments[..], &["--ranks-secret", text(&secret)]].concat());
	assert!(code == 1 && err.contains("cannot connect to 127.0.0.1:1"), "{err}");
}

/// A worker that somebody else started, as on another machine.
#[test]
fn workers_of_other_machines_join_by_address_and_secret() {
	let (folder, job) = job(4_000);
	let secret = folder.path().join("secret");
	let mut train = command(&[
		"ranks",
		"train",
		text(&job),
		"--ranks",
		"4",
		"--ranks-listen",
		"127.0.0.1:0",
		"--ranks-secret",
		text(&secret),
		"-v",
	])
	.stdout(Stdio::piped())
	.stderr(Stdio::piped())
	.spawn()
	.unwrap();
	let mut lines = BufReader::new(train.stderr.take().unwrap()).lines().map(Result::unwrap);
	let address = lines.find_map(|line| Some(line.strip_prefix("others connect to ")?.to_owned()));
	let arguments = ["ranks", "work", "--connect", &address.unwrap()];
	let mut worker =
		command(&[&arguments[..], &["--ranks-secret", text(&secret)]].concat()).spawn().unwrap();
	let joined = lines.any(|line| line.contains("is there"));
	assert!(joined, "the worker joined before the end");
	let rest: Vec<String> = lines.collect();
	let mut printed = String::new();
	train.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
	assert!(train.wait().unwrap().success(), "{rest:?}");
	assert!(worker.wait().unwrap().success(), "it ends with the training");
	assert!(printed.contains("workers lost 0"), "{printed}");
	let alone = succeeds(&["ranks", "train", text(&job), "--ranks", "4"]);
	assert_eq!(state(&printed), state(&alone));
}
