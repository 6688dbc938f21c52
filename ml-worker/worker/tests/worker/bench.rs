//! `trainyard bench`, on work small enough to take no time.

use crate::common::{run, succeeds};

fn cores() -> usize {
	std::thread::available_parallelism().unwrap().get()
}

#[test]
fn products_are_compared_on_each_number_of_threads() {
	let arguments = ["bench", "matmul", "--sizes", "16,5x6x7", "--seconds", "0"];
	let out = succeeds(&[&arguments[..], &["--json"]].concat());
	let report: serde_json::Value = serde_json::from_str(&out).unwrap();
	assert!(report["machine"]["cores"].as_u64().unwrap() > 0);
	let rows = report["rows"].as_array().unwrap();
	let found: Vec<_> = rows.iter().map(|row| (&row["name"], &row["threads"])).collect();
	let expected = [("16", 1), ("5x6x7", 1), ("16", 2), ("5x6x7", 2)];
	let expected = &expected[..2 * cores().min(2)];
	for ((name, threads), (expected, count)) in found.iter().zip(expected) {
		assert_eq!((name.as_str(), threads.as_u64()), (Some(*expected), Some(*count)));
	}
	assert_eq!(rows.len(), expected.len());
	for row in rows {
		assert!(row["candle"].as_f64().unwrap() > 0.0, "{row}");
		for kernel in row["kernels"].as_array().unwrap() {
			assert!(kernel["rate"].as_f64().unwrap() > 0.0, "{row}");
			assert!(kernel["peak"].as_f64().unwrap() > 0.0, "{row}");
		}
	}
	let table = succeeds(&[&arguments[..], &["--threads", "1"]].concat());
	for part in ["GFLOP/s", "1 thread; peak: ", "product", "candle", "ratio", "5x6x7"] {
		assert!(table.contains(part), "{part}:\n{table}");
	}
}

#[test]
fn training_is_compared_with_its_memory() {
	let arguments = ["bench", "train", "--models", "mlp", "--seconds", "0"];
	let out = succeeds(&[&arguments[..], &["--json"]].concat());
	let report: serde_json::Value = serde_json::from_str(&out).unwrap();
	let rows = report["rows"].as_array().unwrap();
	assert_eq!(rows.len(), cores().min(2));
	for (row, threads) in rows.iter().zip(1u64..) {
		assert_eq!((&row["model"], &row["layers"]), (&"mlp".into(), &"784-256-10".into()));
		assert_eq!((row["threads"].as_u64(), row["batch"].as_u64()), (Some(threads), Some(64)));
		assert!(row["turns"].as_u64().unwrap() >= 7, "{row}");
		assert!(row["difference"].as_f64().unwrap() < 1e-4, "{row}");
		let parameters = row["parameters"].as_u64().unwrap();
		let flop = row["flop"].as_f64().unwrap();
		let kernels = row["kernels"].as_array().unwrap();
		assert!(!kernels.is_empty() && kernels.iter().all(|side| side["ratio"].is_f64()), "{row}");
		for side in kernels.iter().chain([&row["candle"]]) {
			let steps = side["steps_per_second"].as_f64().unwrap();
			let rate = side["rate"].as_f64().unwrap();
			assert!(steps > 0.0 && (rate - steps * flop / 1e9).abs() < 1e-6 * rate, "{row}");
			if cfg!(target_os = "linux") {
				// Parameters and AdamW's two moments at least.
				assert!(side["memory"].as_u64().unwrap() >= 3 * 4 * parameters, "{row}");
			}
		}
	}
	let table = succeeds(&[&arguments[..], &["--threads", "1"]].concat());
	for part in ["steps/s", "1 thread\n", "203,530", "candle", "ratio", "MiB", "mlp: 784-256-10"] {
		assert!(table.contains(part), "{part}:\n{table}");
	}
}

#[test]
fn hashes_of_a_checkpoint_are_compared() {
	let arguments = ["bench", "hashing", "--mib", "1", "--seconds", "0"];
	let out = succeeds(&[&arguments[..], &["--json"]].concat());
	let report: serde_json::Value = serde_json::from_str(&out).unwrap();
	let rows = report["rows"].as_array().unwrap();
	let found: Vec<_> =
		rows.iter().map(|r| (r["threads"].as_u64(), r["tensors"].as_u64())).collect();
	let expected = [(1, 1), (1, 24), (2, 1), (2, 24)].map(|(a, b)| (Some(a), Some(b)));
	assert_eq!(found, expected[..2 * cores().min(2)]);
	for row in rows {
		assert!(row["bytes"].as_u64().unwrap().abs_diff(1 << 20) < 4 * 24, "{row}");
		assert!(row["ratio"].as_f64().unwrap() > 0.0, "{row}");
	}
	let table = succeeds(&[&arguments[..], &["--threads", "1"]].concat());
	for part in ["GB/s", "BLAKE2b", "BLAKE3", "ratio", "1,048,576"] {
		assert!(table.contains(part), "{part}:\n{table}");
	}
}

#[test]
fn wrong_arguments_are_refused() {
	let many = (cores() + 1).to_string();
	let too_many = format!("{many} threads do not run at once on {} cores", cores());
	for (what, arguments, hint) in [
		("matmul", ["--sizes", "big"], "\"big\" is no size"),
		("train", ["--models", "resnet"], "models are mlp, cnn, transformer"),
		("train", ["--models", "mlp,"], "\"\" is no model"),
		("hashing", ["--mib", "many"], "invalid value"),
	] {
		refused(what, &arguments, hint);
	}
	for what in ["matmul", "train", "hashing"] {
		refused(what, &["--threads", "0"], "at least one");
		refused(what, &["--threads", &format!("1,{many}")], &too_many);
		refused(what, &["--threads", "two"], "invalid value 'two'");
		refused(what, &["--seconds", "-1"], "-1 is no time");
		refused(what, &["--seconds", "inf"], "inf is no time");
		// Other threads than those of the process.
		refused(what, &["--here", "--threads", &many], "set RAYON_NUM_THREADS");
	}
	refused("train", &["--memory", "candle"], "--here");
	refused("train", &["--models", "mlp", "here"], "unexpected argument 'here'");
}

/// `trainyard bench` with these arguments fails, and says so, before it measures anything.
fn refused(what: &str, arguments: &[&str], hint: &str) {
	let (code, out, err) = run(&[&["bench", what], arguments].concat());
	assert_ne!(code, 0, "{arguments:?}");
	assert!(err.contains(hint), "{arguments:?}: {err}");
	assert!(out.is_empty(), "{out}");
}
