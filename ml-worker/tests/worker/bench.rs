//! `trainyard bench`, on products small enough to take no time.

use crate::common::{run, succeeds};

#[test]
fn products_are_compared_on_each_number_of_threads() {
	let arguments = ["bench", "matmul", "--sizes", "16,5x6x7", "--seconds", "0"];
	let out = succeeds(&[&arguments[..], &["--json"]].concat());
	let report: serde_json::Value = serde_json::from_str(&out).unwrap();
	assert!(report["machine"]["cores"].as_u64().unwrap() > 0);
	let rows = report["rows"].as_array().unwrap();
	let found: Vec<_> = rows.iter().map(|row| (&row["name"], &row["threads"])).collect();
	let expected = [("16", 1), ("5x6x7", 1), ("16", 2), ("5x6x7", 2)];
	for ((name, threads), (expected, count)) in found.iter().zip(expected) {
		assert_eq!((name.as_str(), threads.as_u64()), (Some(expected), Some(count)));
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
fn wrong_sizes_and_threads_are_refused() {
	for (arguments, hint) in [
		(["--sizes", "big"], "\"big\" is no size"),
		(["--threads", "0"], "at least one thread"),
		(["--seconds", "-1"], "-1 is no time"),
	] {
		let (code, _, err) = run(&[&["bench", "matmul"], &arguments[..]].concat());
		assert_ne!(code, 0);
		assert!(err.contains(hint), "{err}");
	}
}
