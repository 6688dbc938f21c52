//! What is refused, with the place; and that nothing panics.

use super::*;

/// The error of looking into `bytes` as this format, as text.
fn refused(format: DataFormat, bytes: &[u8]) -> String {
	let folder = Folder::new();
	let path = folder.file("data", bytes);
	let error = inspect(&path, None, format, 5, 3).unwrap_err();
	assert!(!error.is_local(), "{error}");
	let error = error.to_string();
	error.strip_prefix(&format!("{}:", path.display())).expect(&error).trim_start().to_owned()
}

#[test]
fn wrong_lines_are_named() {
	for (text, line, what) in [
		("", 1, "empty"),
		("label\n", 1, "1 columns"),
		("a,label\n1,0\n2\n", 3, "1 columns"),
		("a,label\n1,0\n\n2,1\n", 3, "line is empty"),
		("a,label\n1,2,0\n", 2, "3 columns"),
		("a,label\nx,0\n", 2, "\"x\""),
		("a,label\nnan,0\n", 2, "finite"),
		("a,label\n1e39,0\n", 2, "finite"),
		("1,0.5\n2,1\n", 1, "label"),
		("1,0\na,label\n", 2, "\"a\""),
		("a,label\n1,-1\n", 2, "label"),
		("a,label\n1,0.5\n", 2, "label"),
		("a,label\n1,1.5e0\n", 2, "\"1.5e0\" is not a whole number"),
		("a,label\n1,nan\n", 2, "label"),
		("a,label\n1,inf\n", 2, "label"),
		("a,label\n1,1e10\n", 2, "label"),
		("a,label\n1,65536\n", 2, "label 65536"),
		("a,label\n1,6.5536e4\n", 2, "label 65536"),
		("a,label\n1,\n", 2, "label \"\""),
	] {
		for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
			let error = refused(DataFormat::CsvLabelLast, &bytes);
			assert!(error.starts_with(&format!("{line}: ")) && error.contains(what), "{error}");
		}
	}
	let error = refused(DataFormat::CsvLabelLast, b"a,label\n1,0\n\xff,0\n");
	assert!(error.starts_with("3: ") && error.contains("UTF-8"), "{error}");
}

#[test]
fn damaged_gzip_is_named() {
	let whole = gzip(Rows8::new(50, 4, 3).csv(true, |y| y.to_string()).as_bytes());
	for cut in [3, 12, whole.len() / 2, whole.len() - 1] {
		let error = refused(DataFormat::CsvLabelFirst, &whole[..cut]);
		assert!(error.contains("ends too early"), "{cut}: {error}");
	}
	let mut flipped = whole.clone();
	let last = flipped.len() - 6;
	flipped[last] ^= 1;
	let error = refused(DataFormat::CsvLabelFirst, &flipped);
	assert!(error.contains("cut or damaged"), "{error}");
}

#[test]
fn wrong_numpy_arrays_are_named() {
	let npy = |descr, shape: &[usize], count| npy(descr, shape, (0..count).map(|n| n as u8));
	let good = npy("<f4", &[4, 3], 12);
	let joined = |bytes: &[u8]| refused(DataFormat::Npy, bytes);
	for (bytes, what) in [
		(good[..good.len() - 1].to_vec(), "47 bytes follow"),
		([&good[..], b"x"].concat(), "49 bytes follow"),
		(good[..9].to_vec(), "ends too early"),
		(npy("<f4", &[12], 12), "[rows, features + 1]"),
		(npy("<f4", &[12, 1], 12), "[rows, features + 1]"),
		(npy("<f4", &[2, 2, 3], 12), "[rows, features + 1]"),
		(npy("<f4", &[], 1), "a single number"),
		(npy("<f4", &[3, 0], 0), "1 to 65536 inputs"),
		(npy("|u1", &[1, 65_538], 65_538), "1 to 65536 inputs"),
		(npy("<f4", &[usize::MAX, 3], 12), "48 bytes follow"),
		(npy("<f4", &[3, usize::MAX, 2], 12), "1 to 65536 inputs"),
		(b"PK\x03\x04    ".to_vec(), "no NumPy array"),
	] {
		let error = joined(&bytes);
		assert!(error.contains(what), "{what}: {error}");
	}
	let mut not_finite = good.clone();
	let at = good.len() - 5 * 4;
	not_finite[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
	assert!(joined(&not_finite).contains("row 2 (from 0): input 1 (from 0) is not a finite"));
	let mut half = good.clone();
	half[good.len() - 4..].copy_from_slice(&0.5f32.to_le_bytes());
	assert!(joined(&half).contains("row 3 (from 0): the label 0.5 is not a whole number"));
	half[good.len() - 4..].copy_from_slice(&1e9f32.to_le_bytes());
	assert!(joined(&half).contains("row 3 (from 0): label 1000000000: at most 65536 classes"));
}

#[test]
fn wrong_archives_are_named() {
	let x = npy("|u1", &[4, 3], 0..12);
	let y = npy("<i8", &[4], [0, 1, 2, 0].into_iter());
	let named = |x: &[u8], y: &[u8]| [("x.npy", x.to_vec()), ("y.npy", y.to_vec())];
	let of = |bytes: &[u8]| refused(DataFormat::Npz, bytes);
	let few = npy("<i8", &[3], [0, 1, 2].into_iter());
	let cases = [
		(archive(&named(&x, &few), false), "y.npy: it holds 3 labels, but "),
		(archive(&named(&x, &npy("|u1", &[4, 1], 0..4)), false), "y.npy: its shape is [4, 1]"),
		(archive(&named(&y, &y), true), "x.npy: its shape is [4], which labels have"),
		(archive(&named(&x[..x.len() - 1], &y), true), "x.npy: an array of [4, 3] numbers"),
		(archive(&named(b"12345678", &y), false), "x.npy: it is no NumPy array"),
		(archive(&[("x.npy", x.clone())], false), "y.npy: it has no entry y.npy"),
		(archive(&[("a.npy", x.clone())], false), "Its first entries: a.npy"),
		(archive(&[], false), "no array x and y"),
		(
			archive(&[("x.npy", x.clone()), ("x.npy", x.clone()), ("y.npy", y.clone())], false),
			"two entries are called x.npy",
		),
		(b"PK".to_vec(), "too short"),
		(vec![0; 100], "no archive"),
		([archive(&named(&x, &y), true), vec![0]].concat(), "no archive"),
	];
	for (bytes, what) in cases {
		let error = of(&bytes);
		assert!(error.contains(what), "{what}: {error}");
	}
	// Its label would be beyond what the header says.
	let minus = npy("<i8", &[4], [0, 1, 2, 0].into_iter().map(|n: u8| n));
	let mut minus = archive(&named(&x, &minus), false);
	let at = minus.windows(8).rposition(|bytes| bytes == 2u64.to_le_bytes()).unwrap();
	minus[at] = 1;
	assert!(of(&minus).contains("y.npy: the entry's checksum is wrong"), "a flipped bit");
	// Encrypted, and compressed by something else.
	let good = archive(&named(&x, &y), false);
	let entry = good.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
	for (place, value, what) in [
		(8, 1, "encrypted"),
		(10, 14, "method 14"),
		(42, 200, "directory says"),
		(24, 3, "longer than the archive's directory says"),
	] {
		let mut bytes = good.clone();
		bytes[entry + place] = value;
		let error = of(&bytes);
		assert!(error.contains(what), "{what}: {error}");
	}
}

/// An entry that unpacks to far more than its array needs is not unpacked.
#[test]
fn a_bomb_is_not_unpacked() {
	let y = npy("<i8", &[4], [0, 1, 2, 0].into_iter());
	let mut x = npy("|u1", &[4, 3], 0..12);
	x.resize(1 << 26, 0);
	let bytes = archive(&[("x.npy", x), ("y.npy", y)], true);
	assert!(bytes.len() < 1 << 20);
	assert!(refused(DataFormat::Npz, &bytes).contains("bytes follow"));
	// The directory does not show it: it is noticed where more bytes come than it says.
	let entry = bytes.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
	let mut lies = bytes.clone();
	let length = npy("|u1", &[4, 3], 0..12).len() as u32;
	lies[entry + 24..entry + 28].copy_from_slice(&length.to_le_bytes());
	assert!(refused(DataFormat::Npz, &lies).contains("longer than the archive's directory says"));
	// A CSV is read no further than the specification declares rows, and no line is too long.
	let folder = Folder::new();
	let csv = folder.file(
		"a.csv",
		gzip(
			"a,label\n"
				.bytes()
				.chain("1,0\n".repeat(1 << 20).bytes())
				.collect::<Vec<u8>>()
				.as_slice(),
		),
	);
	let dataset = dataset_of(&csv, None, DataFormat::CsvLabelLast, 2).unwrap();
	let dataset = Dataset { train_rows: 2, validation_rows: 2, ..dataset };
	let error = load(&csv, None, &dataset).unwrap_err();
	assert!(matches!(error, DataError::MoreRows { declared: 4, .. }), "{error}");
	let line = gzip(&vec![b'1'; 1 << 23]);
	assert!(refused(DataFormat::CsvLabelLast, &line).contains("longer than"));
}

/// Rows whose numbers are padded: few rows, few bytes of gzip, and any amount of text.
#[test]
fn a_padded_line_is_not_read() {
	let folder = Folder::new();
	let of = |padding: usize| {
		let line = format!("{}1,0", " ".repeat(padding));
		gzip(format!("a,label\n{line}\r\n{line}\n").as_bytes())
	};
	// Two numbers have 64 bytes each, and the end of the line does not count.
	let good = folder.file("good.csv", of(125));
	let dataset = dataset_of(&good, None, DataFormat::CsvLabelLast, 2).unwrap();
	assert!(load(&good, None, &dataset).is_ok());
	let long = folder.file("long.csv", of(126));
	for error in [
		load(&long, None, &dataset).unwrap_err(),
		inspect(&long, None, DataFormat::CsvLabelLast, 2, 1).unwrap_err(),
	] {
		assert!(!error.is_local());
		let error = error.to_string();
		let what = "long.csv:2: the line is longer than 128 bytes, the most for 1 inputs";
		assert!(error.contains(what), "{error}");
	}
	// Neither is a header that names other columns than are declared.
	let header = folder.file("header.csv", format!("a{},label\n1,0\n2,1\n", " ".repeat(130)));
	let error = load(&header, None, &dataset).unwrap_err().to_string();
	assert!(error.contains("header.csv:1: the line is longer than 128 bytes"), "{error}");
}

/// Lines that are just short enough, and too many bytes together: also with the declared rows.
#[test]
fn a_padded_file_is_not_read() {
	let folder = Folder::new();
	let padded = |rows: usize, padding: usize| {
		format!("a,label\n{}", format!("{}1,1\n", " ".repeat(padding)).repeat(rows))
	};
	let rows = 20_000;
	let modest = folder.file("modest.csv", padded(rows, 60));
	let dataset = dataset_of(&modest, None, DataFormat::CsvLabelLast, 2).unwrap();
	assert!(load(&modest, None, &dataset).is_ok(), "64 bytes a row, and names");
	let most = 32 * 2 * (rows + 1) + (1 << 20);
	let text = padded(rows, 120);
	assert!(text.len() > most);
	for (name, bytes) in
		[("plain.csv", text.clone().into_bytes()), ("packed.csv", gzip(text.as_bytes()))]
	{
		let path = folder.file(name, bytes);
		let found = [
			load(&path, None, &dataset).unwrap_err(),
			inspect(&path, None, DataFormat::CsvLabelLast, 2, 1).unwrap_err(),
		];
		for error in found {
			assert!(!error.is_local());
			let error = error.to_string();
			for part in [
				name,
				&format!("more than {most} bytes once decompressed"),
				"20000 rows of 1 inputs and a label",
			] {
				assert!(error.contains(part), "{error}");
			}
		}
	}
	// Every other format: more than its rows can take is not even looked through.
	let long = vec![0; most + 1];
	let y = folder.file("y", idx(8, "|u1", &[4], [0, 1, 2, 0].into_iter()));
	let few = Dataset { train_rows: 2, validation_rows: 2, ..dataset };
	for (format, bytes) in [
		(DataFormat::Text, long.clone()),
		(DataFormat::Npy, long.clone()),
		(DataFormat::Idx, long.clone()),
		(DataFormat::Npz, archive(&[("x.npy", long.clone()), ("y.npy", long.clone())], true)),
		(
			DataFormat::Safetensors,
			safetensors([
				("x", "U8", vec![long.len(), 1], long.clone()),
				("y", "U8", vec![long.len()], long.clone()),
			]),
		),
	] {
		let path = folder.file("long", bytes);
		let labels = (format == DataFormat::Idx).then_some(y.as_path());
		let error = load(&path, labels, &Dataset { format, ..few.clone() }).unwrap_err();
		let most = 32 * 2 * 5 + (1 << 20);
		assert!(error.to_string().contains(&format!("more than {most} bytes")), "{error}");
	}
}

#[test]
fn reading_stops_when_it_is_asked_to() {
	let folder = Folder::new();
	let csv = folder.file("a.csv", "a,label\n1,0\n2,1\n");
	let dataset = dataset_of(&csv, None, DataFormat::CsvLabelLast, 2).unwrap();
	let stop = AtomicBool::new(true);
	let error = load_until(&csv, None, &dataset, &stop).unwrap_err();
	assert!(matches!(error, DataError::Stopped) && error.is_local(), "{error}");
}

#[test]
fn wrong_idx_files_are_named() {
	let folder = Folder::new();
	let x = idx(8, "|u1", &[4, 3], 0..12);
	let y = idx(8, "|u1", &[4], [0, 1, 2, 0].into_iter());
	let cases: Vec<(Vec<u8>, Vec<u8>, &str)> = vec![
		(y.clone(), y.clone(), "x: its shape is [4], which labels have"),
		(x.clone(), x.clone(), "y: its shape is [4, 3]; labels are [rows]"),
		(x.clone(), idx(8, "|u1", &[5], 0..5), "y: it holds 5 labels, but "),
		(x[..x.len() - 1].to_vec(), y.clone(), "x: an array of [4, 3] numbers of 1 bytes"),
		([&x[..], b"1"].concat(), y.clone(), "13 bytes follow"),
		(gzip(&x[..x.len() - 1]), y.clone(), "x: it ends in row 3 (from 0) of the 4"),
		(gzip(&[&x[..], b"1"].concat()), y.clone(), "x: its header says shape [4, 3], but more"),
		(x.clone(), gzip(&[&y[..], b"1"].concat()), "y: its header says shape [4], but more"),
		(x[..9].to_vec(), y.clone(), "x: it ends too early"),
		(vec![1, 0, 8, 1, 0, 0, 0, 0], y.clone(), "x: it is no IDX file"),
		(vec![0, 0, 9, 0, 0, 0, 0, 0], y.clone(), "x: it holds a single number"),
		(vec![0, 0, 7, 1, 0, 0, 0, 0], y.clone(), "no type of numbers 0x07"),
		(
			x.clone(),
			idx(9, "|i1", &[4], [0, 255, 1, 2].into_iter()),
			"row 1 (from 0): the label -1",
		),
		(
			x.clone(),
			idx(0xe, ">f8", &[4], [0, 1, 2, 0].into_iter())
				.into_iter()
				.enumerate()
				.map(|(at, byte)| if at == 8 { 0x3f } else { byte })
				.collect(),
			"row 0 (from 0): the label 0.0000",
		),
	];
	for (x, y, what) in cases {
		let (x, y) = (folder.file("x", x), folder.file("y", y));
		let error = inspect(&x, Some(&y), DataFormat::Idx, 2, 1).unwrap_err().to_string();
		assert!(error.contains(what), "{what}: {error}");
	}
	let (x, y) = (folder.file("x", x), folder.file("y", y));
	let dataset = dataset_of(&x, Some(&y), DataFormat::Idx, 2).unwrap();
	let error = load(&x, Some(&y), &Dataset { classes: 2, ..dataset }).unwrap_err().to_string();
	assert!(error.contains("y: row 2 (from 0): label 2, but dataset.classes is 2"), "{error}");
	assert!(inspect(&x, None, DataFormat::Idx, 2, 1).is_err());
}

#[test]
fn wrong_safetensors_are_named() {
	let x = || ("x", "F32", vec![2, 2], encode("<f4", 0..4));
	let y = || ("y", "I64", vec![2], encode("<i8", 0..2));
	let good = safetensors([x(), y()]);
	let mut long = good.clone();
	long[..8].copy_from_slice(&(1u64 << 60).to_le_bytes());
	let mut no_json = good.clone();
	no_json[8] = b'x';
	for (bytes, what) in [
		(good[..5].to_vec(), "ends too early"),
		(good[..good.len() - 1].to_vec(), "31 follow"),
		([&good[..], b"1"].concat(), "33 follow"),
		(long, "its header has 1152921504606846976 bytes"),
		(no_json, "not one of a safetensors file"),
		(safetensors([("a", "F32", vec![2, 2], encode("<f4", 0..4)), y()]), "no tensor \"x\""),
		(safetensors([("x", "BF16", vec![2, 2], vec![0; 8]), y()]), "x: its numbers are BF16"),
		(safetensors([("x", "F32", vec![2, 3], encode("<f4", 0..4)), y()]), "header"),
		(safetensors([x(), ("y", "I64", vec![3], encode("<i8", 0..3))]), "y: it holds 3 labels"),
		(safetensors([x(), ("y", "I8", vec![2], vec![0, 255])]), "y: row 1 (from 0): the label -1"),
	] {
		let error = refused(DataFormat::Safetensors, &bytes);
		assert!(error.contains(what), "{what}: {error}");
	}
}

/// A good file of each binary format, and of CSV compressed.
fn good_files() -> Vec<(DataFormat, Vec<u8>)> {
	let x = npy("<f4", &[6, 4], 0..24);
	let y = npy("|u1", &[6], [0, 1, 2, 0, 1, 2].into_iter());
	let entries = [("x.npy", x), ("y.npy", y)];
	let tensors = [
		("x", "F32", vec![6, 4], encode("<f4", 0..24)),
		("y", "U8", vec![6], vec![0, 1, 2, 0, 1, 2]),
	];
	vec![
		(DataFormat::Npy, npy("<f8", &[6, 4], (0..24).map(|n| n % 3))),
		(DataFormat::Npz, archive(&entries, false)),
		(DataFormat::Npz, archive(&entries, true)),
		(DataFormat::Safetensors, safetensors(tensors)),
		(DataFormat::Idx, idx(8, "|u1", &[6, 2, 2], 0..24)),
		(DataFormat::Idx, gzip(&idx(8, "|u1", &[6, 2, 2], 0..24))),
		(
			DataFormat::CsvLabelLast,
			gzip(Rows8::new(6, 4, 3).csv(false, |y| y.to_string()).as_bytes()),
		),
		#[cfg(feature = "parquet")]
		(DataFormat::Parquet, include_bytes!("../../../tests/files/default.parquet").to_vec()),
		#[cfg(feature = "parquet")]
		(
			DataFormat::Parquet,
			include_bytes!("../../../tests/files/groups-zstd-v2.parquet").to_vec(),
		),
		#[cfg(feature = "parquet")]
		(DataFormat::Parquet, include_bytes!("../../../tests/files/deltas-v1.parquet").to_vec()),
		#[cfg(feature = "parquet")]
		(DataFormat::Parquet, include_bytes!("../../../tests/files/plain-gzip.parquet").to_vec()),
	]
}

/// Looks into `bytes` and, where they can be read, loads them; with the labels of
/// [`good_files`].
fn look(folder: &Folder, format: DataFormat, bytes: &[u8]) -> bool {
	let data = folder.file("data", bytes);
	let labels = folder.file("labels", idx(8, "|u1", &[6], [0, 1, 2, 0, 1, 2].into_iter()));
	let labels = Some(labels.as_path()).filter(|_| format == DataFormat::Idx);
	match dataset_of(&data, labels, format, 3) {
		Ok(dataset) => {
			let loaded = load(&data, labels, &dataset).unwrap();
			let rows = rows_of(&loaded.train, 1).len() + rows_of(&loaded.validation, 1).len();
			assert_eq!(rows as u32, dataset.train_rows + dataset.validation_rows);
			assert!(loaded.train.x.iter().all(|x| x.is_finite()));
			true
		}
		Err(error) => {
			assert!(!error.is_local(), "{error}");
			false
		}
	}
}

#[test]
fn the_good_files_are_good() {
	let folder = Folder::new();
	for (format, bytes) in good_files() {
		assert!(look(&folder, format, &bytes), "{format:?}");
	}
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(1_500))]

	#[test]
	fn damaged_files_are_read_or_refused(
		which in 0..good_files().len(),
		changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
		cut in prop::option::of(any::<prop::sample::Index>()),
		more in prop::collection::vec(any::<u8>(), 0..20),
	) {
		let (format, mut bytes) = good_files().swap_remove(which);
		for (at, byte) in changes {
			let at = at.index(bytes.len());
			bytes[at] = byte;
		}
		if let Some(cut) = cut {
			bytes.truncate(cut.index(bytes.len() + 1));
		}
		bytes.extend(more);
		look(&Folder::new(), format, &bytes);
	}

	#[test]
	fn any_bytes_are_read_or_refused(
		which in 0..good_files().len(), begin in 0usize..40, bytes in prop::collection::vec(any::<u8>(), 0..200),
	) {
		let (format, good) = good_files().swap_remove(which);
		let begin = begin.min(good.len());
		look(&Folder::new(), format, &[&good[..begin], &bytes].concat());
	}
}
