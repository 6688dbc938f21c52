//! The rows root of every kind of data. The expected roots were computed by `tools/cross-check`, which
//! shares nothing with this crate; `packages/polkadot-js/test/rows.test.js` has the same.

use super::*;

const NEVER: AtomicBool = AtomicBool::new(false);

/// What a specification says of data in the examples, or of `x.idx` and `y.idx`.
fn dataset(format: DataFormat, rows: u32, every: u32, features: u32, divisor: u32) -> Dataset {
	Dataset {
		format,
		train_rows: rows - rows / every,
		validation_rows: rows / every,
		validation_every: every,
		features,
		classes: 256,
		feature_divisor: divisor,
		..JobSpec::example().dataset
	}
}

/// Checks the root of these data, wherever the decoded rows are.
fn check(data: &Path, labels: Option<&Path>, dataset: &Dataset, expected: &str) {
	let found = read_rows(data, labels, dataset, &NEVER).unwrap();
	assert_eq!(hex::encode(found.root()), expected, "{data:?} {:?}", dataset.normalization);
	assert_eq!(found.train_rows, dataset.train_rows);
	for memory in [0, u64::MAX] {
		let rows = load_within(data, labels, dataset, memory, &NEVER).unwrap();
		assert_eq!(rows.train.stored.is_some(), memory == 0);
		assert_eq!(contents::rows_of(&rows, dataset, &NEVER).unwrap(), found);
	}
	let stopped = read_rows(data, labels, dataset, &AtomicBool::new(true));
	assert!(matches!(stopped, Err(DataError::Stopped)), "{stopped:?}");
}

#[test]
fn the_roots_are_those_of_other_programs() {
	let example = |name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data").join(name);
	let (digits, text) = (example("digits.csv"), example("alice.txt"));
	let mut of_digits = dataset(DataFormat::CsvLabelLast, 1_797, 5, 64, 16);
	check(
		&digits,
		None,
		&of_digits,
		"6f487f47973c9bbf93cec31312d3e477d71578072a9ee843bddd36b0738b1434",
	);
	of_digits.normalization = Normalization::Standard;
	let normalised = "662ae76d653641fa0e684274a1a7219b6e40b7166810df2216fc7fa9824c94b6";
	check(&digits, None, &of_digits, normalised);
	of_digits.feature_divisor = 1;
	check(&digits, None, &of_digits, normalised);
	let of_text = dataset(DataFormat::Text, 2_319, 20, 64, 1);
	check(
		&text,
		None,
		&of_text,
		"b2c5403c833dc85d302d42013a065367a50b4cf9d3565214fc7423e52955a1ac",
	);

	let folder = Folder::new();
	let pixels = (0u32..210).map(|i| ((i * i + i / 5) % 251) as u8);
	let x: Vec<u8> =
		[0, 0, 8, 3, 0, 0, 0, 35, 0, 0, 0, 2, 0, 0, 0, 3].into_iter().chain(pixels).collect();
	let y: Vec<u8> = [0, 0, 8, 1, 0, 0, 0, 35].into_iter().chain((0..35).map(|i| i % 4)).collect();
	let (x, y) = (folder.file("x.idx", x), folder.file("y.idx", y));
	let mut of_idx = dataset(DataFormat::Idx, 35, 4, 6, 255);
	check(
		&x,
		Some(&y),
		&of_idx,
		"a434ec54ebf5a3193b0a9379cff3214bd0a1f2c6f5fbbe30cd071b8ec930184c",
	);
	of_idx.normalization = Normalization::Standard;
	check(
		&x,
		Some(&y),
		&of_idx,
		"015e7436d99515301a772a41afc468e72822c3a193f3c82f2b7f5048ff0f7d99",
	);
}
