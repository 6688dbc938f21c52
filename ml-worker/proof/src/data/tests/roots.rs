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

/// `numpy*` are those of `formats.rs`; NumPy wrote the others, too. Their inputs lie in the middle
/// between two binary32 or beside it:
///
/// ```python
/// i = np.arange(100, dtype=np.uint64)
/// odd = (2**24 + 2 * i + 1) << np.uint64(39)
/// x = (odd + i % 3 - 1).reshape(20, 5)[:, :4]
/// y = i[:20] % 3
/// np.save("rows.npy", np.concatenate([x, y[:, None]], axis=1).astype(">u8"))
/// halves = -(x >> np.uint64(1)).astype("<i8").reshape(20, 2, 2)
/// safetensors.numpy.save_file({"x": halves, "y": y.astype("<f4")}, "rows.safetensors")
/// single = (1000 / (i[:80] + 3)).astype("<f4")
/// middle = (single.astype("<f8") + np.nextafter(single, np.float32(0))) / 2
/// beside = np.nextafter(middle, middle * (i[:80] % 3))
/// np.savez_compressed("rows.npz", x=beside.reshape(20, 2, 2), y=y.astype(">i8"))
/// ```
#[test]
fn the_roots_of_files_that_numpy_wrote_are_those_of_other_programs() {
	let small = [
		"675a362423e794ae68a40e0331d807b6f807b49668fbca87f950610122d9e96d",
		"7b41a3512f9aef35e5114d8b3d6035e356f90e3f2e8dd7040b56b2c279b2777a",
	];
	let integers = [
		"fc55643d33b1d93d3994143afe8aa16eb2f8c8ccc6722fe81e3d41bfbbd03dcd",
		"9d285e3798ba8b5a436c5f397914a51a431af62ad27de9ef20ac79209dbf6993",
	];
	let floats = [
		"8f72a0276002ce7a5b8342f916b66e9c74ff7f45866cdd4508badf926bb7a178",
		"3fda88f7edf3de049f3edcc7f044b252d6c6902cd58865fba52adda32323424b",
	];
	let negative = [
		"882bc2905316ccbeb5e2936cc9f4c215f920a9bf8b6c09f2db3c2b4551e41e7e",
		"4b17512ad30e9935861bce95a411308794c1cb8084d1172c439a0639cf1aa9b9",
	];
	for (name, format, rows, roots) in [
		("numpy.csv", DataFormat::CsvLabelLast, 12, small),
		("numpy.npy", DataFormat::Npy, 12, small),
		("numpy.npz", DataFormat::Npz, 12, small),
		("numpy-compressed.npz", DataFormat::Npz, 12, small),
		#[cfg(feature = "parquet")]
		("default.parquet", DataFormat::Parquet, 12, small),
		#[cfg(feature = "parquet")]
		("label-first.parquet", DataFormat::ParquetLabelFirst, 12, small),
		("rows.npy", DataFormat::Npy, 20, integers),
		("rows.npz", DataFormat::Npz, 20, floats),
		("rows.safetensors", DataFormat::Safetensors, 20, negative),
	] {
		let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
		let mut of_file = dataset(format, rows, 4, 4, 3);
		for (normalization, root) in
			[Normalization::None, Normalization::Standard].into_iter().zip(roots)
		{
			of_file.normalization = normalization;
			check(&file, None, &of_file, root);
		}
	}
}
