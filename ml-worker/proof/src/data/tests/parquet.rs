//! Parquet: files that another program wrote, and files that lie.

use super::*;

fn path(name: &str) -> PathBuf {
	Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

/// `tools/cross-check/parquet_files.py` wrote them with pyarrow: the numbers of `numpy.csv` as other programs write
/// them.
#[test]
fn files_that_pyarrow_wrote() {
	let read = |name, format| {
		let dataset = dataset_of(&path(name), None, format, 4).unwrap();
		let data = load(&path(name), None, &dataset).unwrap();
		(rows_of(&data.train, 1), rows_of(&data.validation, 1), dataset.classes)
	};
	let csv = read("numpy.csv", DataFormat::CsvLabelLast);
	assert_eq!((csv.0.len(), csv.1.len()), (9, 3));
	for name in [
		"default.parquet",
		"groups-zstd-v2.parquet",
		"plain-gzip.parquet",
		"deltas-v1.parquet",
		"deltas-v2.parquet",
	] {
		assert_eq!(read(name, DataFormat::Parquet), csv, "{name}");
	}
	assert_eq!(read("label-first.parquet", DataFormat::ParquetLabelFirst), csv);
}

#[test]
fn what_is_no_table_of_numbers_is_refused_by_its_column() {
	for (name, what) in [
		("null", "row 1 (from 0), column \"x\": it is empty (null)"),
		("text", "column \"x\" holds no plain numbers"),
		("list", "column \"x\" has columns inside it"),
		("struct", "column \"x\" has columns inside it"),
		("boolean", "column \"x\" holds true and false"),
		("date", "column \"x\" holds no plain numbers but dates"),
		("half", "column \"x\" holds no plain numbers"),
		("decimal", "column \"x\" holds no plain numbers but dates, times, decimals"),
		("nan", "row 2 (from 0), column \"x\": it is not a finite number"),
		("label", "row 2 (from 0), column \"label\": the label 1.5 is not a whole number"),
		("lz4", "LZO, Brotli or LZ4"),
	] {
		let file = path(&format!("refused-{name}.parquet"));
		let error = inspect(&file, None, DataFormat::Parquet, 2, 1).unwrap_err();
		assert!(!error.is_local() && error.to_string().contains(what), "{name}: {error}");
	}
}

/// More rows than declared are found in the footer, before a page is read.
#[test]
fn the_declared_shape_bounds_what_is_read() {
	let folder = Folder::new();
	let good = std::fs::read(path("groups-zstd-v2.parquet")).unwrap();
	let file = folder.file("data", &good);
	let dataset = dataset_of(&file, None, DataFormat::Parquet, 4).unwrap();
	assert!(load(&file, None, &dataset).is_ok());
	let fewer = Dataset { train_rows: 8, ..dataset.clone() };
	let error = load(&file, None, &fewer).unwrap_err();
	assert!(matches!(error, DataError::MoreRows { declared: 11, .. }), "{error}");
	let more = Dataset { train_rows: 10, ..dataset.clone() };
	let error = load(&file, None, &more).unwrap_err();
	assert!(matches!(error, DataError::Shape { field: "dataset.train_rows", .. }), "{error}");
	let narrow = Dataset { features: 3, ..dataset };
	let error = load(&file, None, &narrow).unwrap_err();
	assert!(matches!(error, DataError::Shape { field: "dataset.features", .. }), "{error}");
}

/// Writes Parquet by hand, so that it can lie.
struct Lies {
	/// Rows that the footer says.
	rows: i64,
	/// Numbers that the head of each page says, and bytes of them.
	values: i64,
	decompressed: i64,
	/// Pages of a column, all alike.
	pages: usize,
	/// The codec, and the page as it is in the file.
	codec: i64,
	page: Vec<u8>,
	/// The name of the first column.
	name: Vec<u8>,
	/// Groups of rows, all with the same pages, and the columns of each.
	groups: u8,
	columns: u8,
}

impl Lies {
	/// Two columns of two doubles.
	fn none() -> Self {
		let page: Vec<u8> = [1.0f64, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
		let name = b"x".to_vec();
		let (groups, columns) = (1, 2);
		Self {
			rows: 2,
			values: 2,
			decompressed: 16,
			pages: 1,
			codec: 0,
			page,
			name,
			groups,
			columns,
		}
	}

	fn bytes(&self) -> Vec<u8> {
		let mut file = b"PAR1".to_vec();
		let mut chunks = Vec::new();
		for _ in 0..self.columns {
			let begin = file.len() as i64;
			let head = Thrift::default().i(1, 5, 0).i(2, 5, self.decompressed);
			let head = head.i(3, 5, self.page.len() as i64);
			let about =
				Thrift::default().i(1, 5, self.values).i(2, 5, 0).i(3, 5, 3).i(4, 5, 3).end();
			let page = [head.raw(5, 12, &about).end(), self.page.clone()].concat();
			file.extend(page.repeat(self.pages));
			let length = file.len() as i64 - begin;
			let about = Thrift::default().i(1, 5, 5).i(4, 5, self.codec).i(5, 6, self.rows);
			let about = about.i(6, 6, length).i(7, 6, length).i(9, 6, begin).end();
			chunks.extend(Thrift::default().i(2, 6, 0).raw(3, 12, &about).end());
		}
		let list = |count: u8, elements: &[u8]| [&[count << 4 | 12], elements].concat();
		let mut schema = Thrift::default().raw(4, 8, b"\x01s").i(5, 5, 2).end();
		for name in [&self.name[..], b"label"] {
			let name = [&varint(name.len() as u64), name].concat();
			schema.extend(Thrift::default().i(1, 5, 5).i(3, 5, 0).raw(4, 8, &name).end());
		}
		let group =
			Thrift::default().raw(1, 9, &list(self.columns, &chunks)).i(2, 6, 9).i(3, 6, self.rows);
		let groups = list(self.groups, &group.end().repeat(self.groups.into()));
		let footer = Thrift::default().i(1, 5, 1).raw(2, 9, &list(3, &schema));
		let rows = self.rows.saturating_mul(self.groups.into());
		let footer = footer.i(3, 6, rows).raw(4, 9, &groups).end();
		file.extend(&footer);
		file.extend((footer.len() as u32).to_le_bytes());
		file.extend(b"PAR1");
		file
	}

	fn refused(&self) -> String {
		let folder = Folder::new();
		let file = folder.file("data", self.bytes());
		let error = inspect(&file, None, DataFormat::Parquet, 2, 1).unwrap_err();
		assert!(!error.is_local(), "{error}");
		error.to_string()
	}
}

/// A struct in Thrift's compact protocol.
#[derive(Default)]
struct Thrift {
	bytes: Vec<u8>,
	id: u8,
}

impl Thrift {
	fn raw(mut self, id: u8, kind: u8, value: &[u8]) -> Self {
		self.bytes.push((id - self.id) << 4 | kind);
		self.bytes.extend(value);
		self.id = id;
		self
	}

	fn i(self, id: u8, kind: u8, value: i64) -> Self {
		let zigzag = (value << 1 ^ value >> 63) as u64;
		self.raw(id, kind, &varint(zigzag))
	}

	fn end(mut self) -> Vec<u8> {
		self.bytes.push(0);
		self.bytes
	}
}

fn varint(mut value: u64) -> Vec<u8> {
	let mut out = Vec::new();
	while value > 0x7f {
		out.push(value as u8 | 0x80);
		value >>= 7;
	}
	out.push(value as u8);
	out
}

#[test]
fn pages_that_lie_are_refused_before_they_take_room() {
	let folder = Folder::new();
	let file = folder.file("data", Lies::none().bytes());
	let dataset = dataset_of(&file, None, DataFormat::Parquet, 2).unwrap();
	assert_eq!((dataset.train_rows, dataset.validation_rows, dataset.features), (1, 1, 1));
	let bomb = |length: usize, values| {
		let page = zstd::bulk::compress(&vec![0; length], 19).unwrap();
		assert!(page.len() < length / 1_000);
		let decompressed = length as i64;
		Lies { values, decompressed, codec: 6, page, ..Lies::none() }.refused()
	};
	// Far more than two rows can take, though less than a page may have.
	assert!(bomb(8 << 20, 2).contains("bytes once decompressed, the most for 2 rows of 1 inputs"));
	assert!(bomb(65 << 20, 2).contains("at most 67108864 are read at a time"));
	// It says less than comes, or more.
	for decompressed in [15, 17, 0] {
		let page = zstd::bulk::compress(&Lies::none().page, 3).unwrap();
		let error = Lies { decompressed, codec: 6, page, ..Lies::none() }.refused();
		assert!(error.contains("decompressed") || error.contains("length"), "{error}");
	}
	for codec in [1, 2, 6] {
		let error = Lies { codec, ..Lies::none() }.refused();
		assert!(error.contains("cannot be decompressed"), "{error}");
	}
	for (lies, what) in [
		// Pages that are decompressed again for each of many groups, and groups that take more room than the file.
		(Lies { groups: 2, ..Lies::none() }, "bytes of pages, and"),
		(Lies { columns: 0, ..Lies::none() }, "a group of rows has no columns"),
		(Lies { columns: 1, ..Lies::none() }, "does not have a number of each column"),
		(Lies { rows: 1 << 40, ..Lies::none() }, "at most 67108864 numbers are read at a time"),
		(Lies { rows: i64::MAX, ..Lies::none() }, "at most 67108864 numbers"),
		(Lies { rows: -1, ..Lies::none() }, "negative"),
		(Lies { rows: 1 << 25, ..Lies::none() }, "the head of a page cannot be read"),
		(Lies { rows: 1, ..Lies::none() }, "more than its column"),
		(Lies { values: 0, ..Lies::none() }, "no numbers"),
		(Lies { values: 1, ..Lies::none() }, "another length"),
		(Lies { values: -2, ..Lies::none() }, "negative"),
		(Lies { decompressed: i64::MAX, ..Lies::none() }, "at most 67108864"),
	] {
		let error = lies.refused();
		assert!(error.contains(what), "{what}: {error}");
	}
}

/// Finding a page takes longer than reading a number, so a file of nothing but pages is refused.
#[test]
fn pages_have_numbers_enough() {
	let folder = Folder::new();
	let file = folder.file("data", Lies { rows: 16, pages: 8, ..Lies::none() }.bytes());
	let found = inspect(&file, None, DataFormat::Parquet, 2, 1).unwrap();
	assert_eq!((found.train_rows, found.validation_rows), (8, 8));
	for pages in [9, 100] {
		let error = Lies { rows: 2 * pages as i64, pages, ..Lies::none() }.refused();
		assert!(error.contains("column \"x\": it has more than 8 pages"), "{error}");
	}
}

#[test]
fn names_of_columns_do_not_act_on_a_terminal() {
	let name = b"\x1b[2J\nx".to_vec();
	let page = [f64::NAN, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
	let error = Lies { name, page, ..Lies::none() }.refused();
	assert!(error.contains("column \"\\u{1b}[2J\\nx\""), "{error}");
	let long = Lies { name: vec![b'a'; 5_000], values: 0, ..Lies::none() }.refused();
	assert!(long.len() < 500, "{long}");
}
