//! What formats hold.

use super::*;

#[test]
fn the_digits_are_those_of_the_example() {
	let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data/digits.csv");
	let found = inspect(&path, None, DataFormat::CsvLabelLast, 5, 1).unwrap();
	let example = JobSpec::example().dataset;
	assert_eq!(found.bytes, example.bytes);
	assert_eq!(found.train_rows, u64::from(example.train_rows));
	assert_eq!(found.validation_rows, u64::from(example.validation_rows));
	assert_eq!((found.features, found.classes), (example.features, example.classes));
	let dataset = dataset_of(&path, None, DataFormat::CsvLabelLast, 5).unwrap();
	let data = load(&path, None, &dataset).unwrap();
	assert_eq!(data.train.x.len(), 1_438 * 64);
	assert_eq!(data.validation.y.len(), 359);
}

#[test]
fn rows_are_split_and_divided() {
	let folder = Folder::new();
	let f = folder.file("a.csv", "a,b,label\n1,2,0\n3,4,1\r\n5,6,2\n7.5,8,0\n9,1e1,1");
	let dataset = dataset_of(&f, None, DataFormat::CsvLabelLast, 3).unwrap();
	assert_eq!((dataset.train_rows, dataset.validation_rows, dataset.classes), (4, 1, 3));
	let data = load(&f, None, &dataset).unwrap();
	assert_eq!(data.validation.x, [1.25, 1.5]);
	assert_eq!(data.validation.y, [2]);
	assert_eq!(data.train.x, [0.25, 0.5, 0.75, 1.0, 1.875, 2.0, 2.25, 2.5]);
	assert_eq!(data.train.y, [0, 1, 0, 1]);
	let f = folder.file("b.csv", "label,a,b\n1,2,3\n0,5,6\n");
	let dataset = dataset_of(&f, None, DataFormat::CsvLabelFirst, 2).unwrap();
	let data = load(&f, None, &dataset).unwrap();
	assert_eq!((data.train.x, data.train.y), (vec![0.5, 0.75], vec![1]));
}

/// A first line of numbers is a row; one with a name in it is a header.
#[test]
fn a_csv_without_a_header_keeps_its_first_row() {
	let folder = Folder::new();
	let read = |name: &str, text: &str| {
		let f = folder.file(name, text);
		let dataset = dataset_of(&f, None, DataFormat::CsvLabelLast, 5).unwrap();
		let data = load(&f, None, &dataset).unwrap();
		(data.train.x, data.train.y, data.validation.x, data.validation.y)
	};
	let rows = "1,2,0\n3,4,1\n5,6,2\n7.5,8,0\n9,1e1,1\n";
	let named = read("named.csv", &format!("a,b,label\n{rows}"));
	assert_eq!(named.1, [0, 1, 2, 0]);
	assert_eq!(read("plain.csv", rows), named);
	assert_eq!(read("mark.csv", &format!("\u{feff}{rows}")), named);
	assert_eq!(read("named-mark.csv", &format!("\u{feff}a,b,label\n{rows}")), named);
	// One name is enough, and what no row may hold is one.
	for header in ["0,1,label", " ,1,2", "nan,1,2", "1,inf,2", "1,1e39,2", "1,\"2\",3"] {
		assert_eq!(read("some.csv", &format!("{header}\n{rows}")), named, "{header}");
	}
}

#[test]
fn labels_may_be_written_as_floats() {
	let folder = Folder::new();
	let text = "# label,a\n1.000000000000000000e+00,5.0\n0.000000000000000000e+00,-6\n\
		2,7\n2.0,8\n-0.0,9\n+1e0,1\n";
	let f = folder.file("a.csv", text);
	let dataset = dataset_of(&f, None, DataFormat::CsvLabelFirst, 6).unwrap();
	assert_eq!(dataset.classes, 3);
	assert_eq!(load(&f, None, &dataset).unwrap().train.y, [1, 0, 2, 2, 0]);
}

/// A file of a format, and its file of labels where it has one.
type Files = (PathBuf, Option<PathBuf>);

/// Rows of `[rows, 2, 3]` in files of every format and type.
fn every_format(folder: &Folder, rows: &Rows8) -> Vec<(String, DataFormat, Files)> {
	use DataFormat::*;
	let (count, width) = (rows.y.len(), rows.features);
	assert_eq!(width, 6);
	let shape = [count, 2, 3];
	let (x, y) = (|| rows.x.iter().copied(), || rows.y.iter().copied());
	let joined = || rows.rows().flat_map(|(x, y)| x.iter().copied().chain([y]));
	let last = rows.csv(false, |y| y.to_string());
	let first = rows.csv(true, |y| format!("{:.18e}", f64::from(y)));
	let mut all = vec![
		("last.csv".to_owned(), CsvLabelLast, last.clone().into_bytes(), None),
		("first.csv".into(), CsvLabelFirst, first.clone().into_bytes(), None),
		("last.csv.gz".into(), CsvLabelLast, gzip(last.as_bytes()), None),
		// As `cat a.gz b.gz` makes it.
		(
			"first.csv.gz".into(),
			CsvLabelFirst,
			{
				let (a, b) = first.as_bytes().split_at(first.len() / 3);
				[gzip(a), gzip(b)].concat()
			},
			None,
		),
	];
	let types =
		["<u1", "|i2", "<u2", ">i4", "<u4", "<i8", ">u8", "<f4", ">f4", "<f8", ">f8", ">i2"];
	for descr in types.map(|descr| descr.replace("|i2", "<i2").replace("<u1", "|u1")) {
		let (x, y) = (npy(&descr, &shape, x()), npy(&descr, &[count], y()));
		let joined = npy(&descr, &[count, width + 1], joined());
		let name = descr.replace('<', "le-").replace('>', "be-").replace('|', "");
		all.push((format!("{name}.npy"), Npy, joined, None));
		for deflated in [false, true] {
			let named = [("x.npy", x.clone()), ("y.npy", y.clone())];
			let other =
				[("y_test.npy", y.clone()), ("y_train.npy", y.clone()), ("x_train.npy", x.clone())];
			all.push((format!("{name}-{deflated}.npz"), Npz, archive(&named, deflated), None));
			all.push((format!("{name}-t-{deflated}.npz"), Npz, archive(&other, deflated), None));
		}
	}
	for (kind, descr) in [(8, "|u1"), (0xb, ">i2"), (0xc, ">i4"), (0xd, ">f4"), (0xe, ">f8")] {
		let (x, y) = (idx(kind, descr, &shape, x()), idx(kind, descr, &[count], y()));
		all.push((format!("x-{kind}.idx"), Idx, x.clone(), Some(y.clone())));
		all.push((format!("x-{kind}.idx.gz"), Idx, gzip(&x), Some(gzip(&y))));
	}
	for (dtype, descr) in [
		("U8", "|u1"),
		("I16", "<i2"),
		("U32", "<u4"),
		("I64", "<i8"),
		("F32", "<f4"),
		("F64", "<f8"),
	] {
		let x = ("x", dtype, shape.to_vec(), encode(descr, x()));
		let y = ("y", "U8", vec![count], encode("|u1", y()));
		let name = format!("{dtype}.safetensors");
		all.push((name, Safetensors, safetensors([y, x]), None));
	}
	all.into_iter()
		.map(|(name, format, bytes, labels)| {
			let data = folder.file(&name, bytes);
			let labels = labels.map(|bytes| folder.file(&format!("labels-{name}"), bytes));
			(name, format, (data, labels))
		})
		.collect()
}

#[test]
fn the_same_numbers_in_every_format_train_to_the_same_root() {
	let folder = Folder::new();
	let rows = Rows8::new(60, 6, 3);
	for normalization in [Normalization::None, Normalization::Standard] {
		let mut first = None;
		let all = every_format(&folder, &rows);
		assert_eq!(all.len(), 4 + 12 * 5 + 10 + 6);
		for (name, format, (data, labels)) in all {
			let labels = labels.as_deref();
			let dataset = dataset_of(&data, labels, format, 4).unwrap();
			let dataset = Dataset { normalization, ..dataset };
			let spec = JobSpec { dataset: dataset.clone(), ..JobSpec::example() };
			assert!(spec.check().is_ok(), "{name}");
			assert_eq!((dataset.train_rows, dataset.validation_rows), (45, 15), "{name}");
			let loaded = load(&data, labels, &dataset).unwrap();
			let found = (
				rows_of(&loaded.train, 1),
				rows_of(&loaded.validation, 1),
				root_of(loaded, &dataset),
			);
			assert_eq!(first.get_or_insert_with(|| found.clone()), &found, "{name}");
		}
		let (train, ..) = first.unwrap();
		if normalization == Normalization::None {
			let raw: Vec<f32> = rows.x[..6].iter().map(|x| f32::from(*x) / 4.0).collect();
			assert_eq!(train[0], (raw, vec![u32::from(rows.y[0])]));
		}
	}
}

/// Files that NumPy 2.4 wrote, and the same numbers as CSV:
///
/// ```python
/// rows = np.arange(12)
/// x = np.stack([rows, rows % 5, 100 - rows, rows * rows], axis=1).reshape(12, 2, 2)
/// y = rows * 7 % 3
/// np.savez("numpy.npz", x=x.astype(np.uint8), y=y)
/// np.savez_compressed("numpy-compressed.npz", x_train=x.astype(">f8"),
///     y_train=y.astype(np.float32), x_test=x, y_test=y)
/// np.save("numpy.npy", np.concatenate([x.reshape(12, 4), y[:, None]], axis=1).astype(">i2"))
/// ```
#[test]
fn files_that_numpy_wrote() {
	let file = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
	let read = |name, format| {
		let dataset = dataset_of(&file(name), None, format, 4).unwrap();
		let data = load(&file(name), None, &dataset).unwrap();
		(rows_of(&data.train, 1), rows_of(&data.validation, 1))
	};
	let csv = read("numpy.csv", DataFormat::CsvLabelLast);
	assert_eq!((csv.0.len(), csv.1.len()), (9, 3));
	assert_eq!(read("numpy.npz", DataFormat::Npz), csv);
	assert_eq!(read("numpy-compressed.npz", DataFormat::Npz), csv);
	assert_eq!(read("numpy.npy", DataFormat::Npy), csv);
}

#[test]
fn a_text_becomes_tokens() {
	let folder = Folder::new();
	let file = folder.file("a.txt", "banana band");
	let dataset = dataset_of(&file, None, DataFormat::Text, 2).unwrap();
	// One byte follows the first ten: there are three rows of three, of which one validates.
	assert_eq!((dataset.train_rows, dataset.validation_rows), (2, 1));
	// Space, a, b, d, n.
	assert_eq!((dataset.features, dataset.classes, dataset.bytes), (3, 5, 11));
	let data = load(&file, None, &dataset).unwrap();
	assert_eq!(data.train.x, [2.0, 1.0, 4.0, 0.0, 2.0, 1.0]);
	assert_eq!(data.train.y, [1, 4, 1, 2, 1, 4]);
	assert_eq!(data.validation.x, [1.0, 4.0, 1.0]);
	assert_eq!(data.validation.y, [4, 1, 0]);
	let error = |dataset: Dataset| load(&file, None, &dataset).unwrap_err().to_string();
	let few = error(Dataset { classes: 4, ..dataset.clone() });
	assert!(few.contains("dataset.classes is 4, but the file has 5"), "{few}");
	let rows = error(Dataset { train_rows: 3, ..dataset });
	assert!(rows.contains("dataset.train_rows"), "{rows}");
	for (text, rows) in [("", 0), ("abc", 0), ("abcd", 1), ("abcdefg", 2)] {
		let file = folder.file("b.txt", text);
		let found = inspect(&file, None, DataFormat::Text, 9, 3).unwrap();
		assert_eq!((found.train_rows, found.classes), (rows, 2.max(text.len() as u32)));
	}
}

#[test]
fn a_specification_that_does_not_match_is_refused() {
	let folder = Folder::new();
	let f = folder.file("a.csv", "a,b,label\n1,2,0\n3,4,1\n5,6,2\n7,8,0\n");
	let good = dataset_of(&f, None, DataFormat::CsvLabelLast, 2).unwrap();
	assert!(load(&f, None, &good).is_ok());
	type Break = fn(&mut Dataset);
	let cases: &[(&str, Break)] = &[
		("dataset.features", |d| d.features = 3),
		("dataset.classes", |d| d.classes = 2),
		("dataset.train_rows", |d| d.train_rows = 3),
		("dataset.train_rows", |d| d.train_rows = 1),
		("dataset.validation_rows", |d| d.validation_rows = 1),
		("dataset.validation_rows", |d| d.validation_rows = 3),
	];
	for (field, break_it) in cases {
		let mut dataset = good.clone();
		break_it(&mut dataset);
		let error = load(&f, None, &dataset).unwrap_err();
		assert!(!error.is_local());
		assert!(error.to_string().contains(field), "{field}: {error}");
	}
	let missing = load(Path::new("/nowhere"), None, &good).unwrap_err();
	assert!(matches!(missing, DataError::Io { .. }) && missing.is_local());
}

#[test]
fn labels_apart_are_read() {
	let folder = Folder::new();
	let x = folder.file("x.idx", idx(8, "|u1", &[6, 2], 0..12));
	let y = folder.file("y.idx", idx(8, "|u1", &[6], [0, 1, 2, 0, 1, 2].into_iter()));
	let dataset = dataset_of(&x, Some(&y), DataFormat::Idx, 3).unwrap();
	assert_eq!(load(&x, Some(&y), &dataset).unwrap().validation.y, [2, 2]);
	let error = load(&x, None, &dataset).unwrap_err().to_string();
	assert!(error.contains("[dataset.labels]"), "{error}");
}
