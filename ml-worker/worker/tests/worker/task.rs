//! Deterministic tasks: the two that are shipped, kills, and what is wrong with modules and inputs.

use crate::common::{command, run, succeeds, text};
use std::{
	path::{Path, PathBuf},
	process::Stdio,
	time::{Duration, Instant},
};

/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(120);

fn example(name: &str) -> PathBuf {
	Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/tasks").join(name)
}

/// The value of a line that begins with this name.
fn value<'a>(out: &'a str, name: &str) -> &'a str {
	let line = out.lines().find_map(|line| line.strip_prefix(name));
	line.unwrap_or_else(|| panic!("no {name} in {out}")).trim()
}

fn root(module: &Path) -> String {
	value(&succeeds(&["hash", text(module)]), "blob root").to_owned()
}

#[test]
fn the_shipped_modules_are_those_of_the_page() {
	let page =
		std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tasks.md"))
			.unwrap();
	for name in ["pi.wasm", "sweep.wasm"] {
		let root = root(&example(name));
		assert!(page.contains(&root), "docs/tasks.md does not have {root} of {name}");
		let checked = succeeds(&["task", "check", text(&example(name))]);
		assert!(value(&checked, "module").starts_with(&root), "{checked}");
	}
}

/// Runs pi from a seed, and returns what it printed and its last state.
fn pi(seed: u64, steps: u32) -> (String, [u64; 4]) {
	let folder = tempfile::tempdir().unwrap();
	let out = folder.path().join("state");
	let printed = succeeds(&[
		"task",
		"run",
		text(&example("pi.wasm")),
		"--input-hex",
		&hex::encode(seed.to_le_bytes()),
		"--steps",
		&steps.to_string(),
		"--out",
		text(&out),
	]);
	let state = std::fs::read(&out).unwrap();
	let mut numbers =
		state.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
	(printed, std::array::from_fn(|_| numbers.next().unwrap()))
}

#[test]
fn pi_is_estimated_within_what_chance_allows() {
	for seed in [0, 1, u64::MAX] {
		let (printed, [said, points, inside, estimate]) = pi(seed, 10);
		assert_eq!((said, points), (seed, 1_000_000));
		let estimate = f64::from_bits(estimate);
		assert_eq!(estimate, 4.0 * inside as f64 / points as f64);
		// The deviation of 4 * hits / points: sqrt(pi * (4 - pi) / points). Five of them are one in 1.7 millions.
		let deviation =
			(std::f64::consts::PI * (4.0 - std::f64::consts::PI) / points as f64).sqrt();
		let error = estimate - std::f64::consts::PI;
		assert!(error.abs() < 5.0 * deviation, "seed {seed}: {estimate}");
		assert!(error != 0.0 && printed.contains(" ut "), "{printed}");
	}
	// Another seed draws other points, the same seed the same.
	assert_ne!(pi(2, 1).1[2..], pi(3, 1).1[2..]);
	assert_eq!(value(&pi(2, 3).0, "trace root"), value(&pi(2, 3).0, "trace root"));
}

/// The input of the sweep.
fn sweep(columns: u32, steps: u32) -> Vec<u8> {
	let mut bytes = Vec::new();
	for number in [0.1f64, 0.05, 0.02, 0.03, 0.001, 0.25] {
		bytes.extend(number.to_le_bytes());
	}
	bytes.extend(columns.to_le_bytes());
	bytes.extend(steps.to_le_bytes());
	bytes
}

/// The same epidemic, computed natively.
fn epidemic(index: u32, columns: u32, steps: u32) -> [f64; 4] {
	let beta = 0.1 + 0.05 * f64::from(index / columns);
	let gamma = 0.02 + 0.03 * f64::from(index % columns);
	let change = |(s, i): (f64, f64)| {
		let infected = beta * s * i;
		(-infected, infected - gamma * i)
	};
	let h = 0.25;
	let (mut s, mut i) = (1.0 - 0.001, 0.001);
	let mut peak: f64 = i;
	for _ in 0..steps {
		let a = change((s, i));
		let b = change((s + h / 2.0 * a.0, i + h / 2.0 * a.1));
		let c = change((s + h / 2.0 * b.0, i + h / 2.0 * b.1));
		let d = change((s + h * c.0, i + h * c.1));
		s += h / 6.0 * (a.0 + 2.0 * b.0 + 2.0 * c.0 + d.0);
		i += h / 6.0 * (a.1 + 2.0 * b.1 + 2.0 * c.1 + d.1);
		peak = peak.max(i);
	}
	[beta, gamma, peak, 1.0 - s]
}

#[test]
fn the_sweep_is_what_the_same_program_computes_natively() {
	let folder = tempfile::tempdir().unwrap();
	let (input, out) = (folder.path().join("input"), folder.path().join("records"));
	std::fs::write(&input, sweep(16, 800)).unwrap();
	let roots = ["1", "3"].map(|threads| {
		let printed = succeeds(&[
			"task",
			"run",
			text(&example("sweep.wasm")),
			"--input",
			text(&input),
			"--map",
			"256",
			"--record",
			"32",
			"--threads",
			threads,
			"--out",
			text(&out),
		]);
		let records = std::fs::read(&out).unwrap();
		assert_eq!(records.len(), 256 * 36);
		for (index, record) in (0u32..).zip(records.chunks_exact(36)) {
			let expected = epidemic(index, 16, 800).map(f64::to_le_bytes).concat();
			assert_eq!(record[..4], 32u32.to_le_bytes(), "index {index}");
			assert_eq!(record[4..], expected, "index {index}");
		}
		value(&printed, "root").to_owned()
	});
	assert_eq!(roots[0], roots[1], "threads change nothing");
	// The numbers make sense: an epidemic that cannot grow stays as small as it began.
	let [beta, gamma, peak, _] = epidemic(15, 16, 800);
	assert!(beta < gamma && peak == 0.001);
	let [_, _, peak, ever] = epidemic(255 - 15, 16, 800);
	assert!(peak > 0.5 && ever > 0.9);
}

#[test]
fn a_run_that_is_killed_goes_on_to_the_same_result() {
	let folder = tempfile::tempdir().unwrap();
	let (out, trace) = (folder.path().join("state"), folder.path().join("trace"));
	let arguments = [
		"task",
		"run",
		text(&example("pi.wasm")),
		"--input-hex",
		"0700000000000000",
		"--steps",
		"3000",
		"--out",
		text(&out),
		"--trace",
		text(&trace),
	]
	.map(String::from);
	let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
	let whole = succeeds(&arguments);
	let (state, leaves) = (std::fs::read(&out).unwrap(), std::fs::read(&trace).unwrap());
	assert_eq!((state.len(), leaves.len()), (32, 3_001 * 32));
	let part = folder.path().join("state.part");
	assert!(!part.exists());
	std::fs::remove_file(&out).unwrap();
	// Stopped by its own limit first, so that there is a saved state however fast the machine is.
	let mut once = arguments.clone();
	once.extend(["--seconds", "0"]);
	let (code, _, err) = run(&once);
	assert_eq!(code, 130, "{err}");
	assert!(err.contains("the same command goes on"), "{err}");
	assert!(part.join("state").exists() && !out.exists());
	// Killed at once, and at moments.
	for pause in [0, 60, 200] {
		let mut child =
			command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
		std::thread::sleep(Duration::from_millis(pause));
		let _ = child.kill();
		child.wait().unwrap();
		if out.exists() {
			break;
		}
		assert!(part.exists());
	}
	let begun = Instant::now();
	let (code, again, err) = run(&arguments);
	assert!(begun.elapsed() < PATIENCE);
	assert_eq!(code, 0, "{err}");
	assert!(err.contains("goes on after step") || !part.exists(), "{err}");
	for name in ["trace root", "output", "fuel"] {
		assert_eq!(value(&again, name), value(&whole, name));
	}
	assert_eq!(std::fs::read(&out).unwrap(), state);
	assert_eq!(std::fs::read(&trace).unwrap(), leaves);
	assert!(!part.exists());
	// A folder of another task is not used for this one, and is not lost.
	std::fs::remove_file(&out).unwrap();
	run(&once);
	let mut other = arguments.clone();
	other[6] = "2999";
	let (code, _, err) = run(&other);
	assert_eq!(code, 1);
	assert!(err.contains("another task") && part.join("state").exists(), "{err}");
}

/// Runs a module of this text, and returns exit code, output and error.
fn of_text(module: &[u8], arguments: &[&str]) -> (i32, String, String) {
	let folder = tempfile::tempdir().unwrap();
	let path = folder.path().join("module.wasm");
	std::fs::write(&path, module).unwrap();
	let mut all = vec!["task", "run", text(&path)];
	all.extend(arguments);
	run(&all)
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
	let pi = std::fs::read(example("pi.wasm")).unwrap();
	let steps = ["--input-hex", "0700000000000000", "--steps", "2"];
	let says = |module: &[u8], arguments: &[&str], expected: &str| {
		let (code, out, err) = of_text(module, arguments);
		assert!(code != 0 && err.contains(expected), "{arguments:?}: {out}{err}");
	};
	says(b"#!/bin/sh", &steps, "no WebAssembly module");
	says(&vec![0; 70_000], &steps, "a module has 65536 at most");
	says(&pi[..200], &steps, "no WebAssembly that a task can have");
	// An import of one function, `a.b`.
	let import = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x07\x01\x01a\x01b\0\0";
	says(import, &steps, "a task has no host");
	says(&pi, &["--input-hex", "07", "--map", "2"], "it takes --steps");
	says(&pi, &["--input-hex", "0g", "--steps", "2"], "hexadecimal");
	says(&pi, &["--input-hex", "", "--steps", "2"], "1 byte at least");
	says(&pi, &["--input-hex", "07", "--steps", "0"], "1 to 2,097,151 steps");
	says(&pi, &["--steps", "2"], "--input");
	says(&pi, &["--input", "/nowhere", "--steps", "2"], "/nowhere");
	let less = [&steps[..], &["--fuel", "10"]].concat();
	says(&pi, &less, "give it fewer pages, or the task more fuel");
	let most = [&steps[..], &["--fuel", "99999999999"]].concat();
	says(&pi, &most, "larger than any task can have");
}

#[test]
fn a_fault_is_a_result_with_a_trace() {
	// The module has no place for a state of one byte.
	let pi = std::fs::read(example("pi.wasm")).unwrap();
	let (code, out, err) = of_text(&pi, &["--input-hex", "07", "--steps", "5"]);
	assert_eq!(code, 2, "{err}");
	assert!(value(&out, "fault").contains("trapped") && out.contains("in step 1"), "{out}");
	assert!(value(&out, "trace root").starts_with("0x"));
	let fuel = ["--input-hex", "0700000000000000", "--steps", "3", "--fuel", "1000000"];
	let (code, out, _) = of_text(&pi, &fuel);
	assert_eq!(
		(code, value(&out, "fault")),
		(2, "the step needs more fuel than the limit, in step 1")
	);
}
