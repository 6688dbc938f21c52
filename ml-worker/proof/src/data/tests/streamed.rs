//! Data that are larger than the memory for them.

use super::*;

/// `load` with these bytes of memory.
fn within(data: &Path, dataset: &Dataset, memory: u64) -> Data {
	load_within(data, None, dataset, memory, &AtomicBool::new(false)).unwrap()
}

#[test]
fn rows_from_a_file_train_to_the_same_root() {
	let folder = Folder::new();
	let csv = folder.file("a.csv", Rows8::new(3_000, 7, 5).csv(false, |y| y.to_string()));
	let dataset = dataset_of(&csv, None, DataFormat::CsvLabelLast, 4).unwrap();
	for normalization in [Normalization::None, Normalization::Standard] {
		let dataset = Dataset { normalization, ..dataset.clone() };
		let needed = 3_000 * (7 + 1) * 4;
		let [held, stored] = [needed, needed - 1].map(|memory| within(&csv, &dataset, memory));
		assert!(held.train.stored.is_none() && held.validation.stored.is_none());
		assert!(stored.train.stored.is_some() && stored.validation.stored.is_some());
		assert!(stored.train.x.is_empty() && stored.train.y.is_empty());
		assert_eq!(held.train.normalizer, stored.train.normalizer);
		assert_eq!(held.train.normalizer.is_some(), normalization == Normalization::Standard);
		for (held, stored) in [(&held.train, &stored.train), (&held.validation, &stored.validation)]
		{
			assert_eq!(rows_of(held, 1), rows_of(stored, 1));
		}
		assert_eq!(root_of(held, &dataset), root_of(stored, &dataset));
		// Nothing of it has a name.
		assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 1);
	}
}

#[test]
fn text_from_a_file_is_the_same() {
	let folder = Folder::new();
	let text: String = (0..5_000).map(|i| char::from(b'a' + (i * i % 23) as u8)).collect();
	let file = folder.file("a.txt", text);
	let dataset = dataset_of(&file, None, DataFormat::Text, 4).unwrap();
	let [held, stored] = [u64::MAX, 0].map(|memory| within(&file, &dataset, memory));
	assert!(held.train.stored.is_none() && stored.train.stored.is_some());
	assert_eq!(rows_of(&held.train, 3), rows_of(&stored.train, 3));
	assert_eq!(rows_of(&held.validation, 3), rows_of(&stored.validation, 3));
	assert_eq!(
		held.train.gather([5, 0].into_iter(), 3).unwrap(),
		stored.train.gather([5, 0].into_iter(), 3).unwrap()
	);
}

#[test]
fn what_does_not_fit_on_the_disk_is_reported_before_it_is_written() {
	let folder = Folder::new();
	let csv = folder.file("a.csv", Rows8::new(8, 3, 2).csv(false, |y| y.to_string()));
	let good = dataset_of(&csv, None, DataFormat::CsvLabelLast, 2).unwrap();
	// As the specification of a stranger would have it, and just as its shape is met.
	let many = Dataset { train_rows: u32::MAX, validation_rows: u32::MAX, ..good.clone() };
	let wide: String = (0..65_536).map(|i| format!("f{i},")).collect();
	let wide = folder.file("wide.csv", format!("{wide}label\n"));
	let (content_hash, bytes) = crate::hash::file(&wide).unwrap();
	let dataset = Dataset { content_hash, bytes, features: 65_536, ..many.clone() };
	let error = load(&wide, None, &dataset).unwrap_err();
	assert!(error.is_local());
	for part in ["wide.csv", "bytes free for a temporary file", MEMORY_VARIABLE] {
		assert!(error.to_string().contains(part), "{error}");
	}
	// With memory for all of them, none is made for rows that cannot come.
	let running = AtomicBool::new(false);
	let error = load_within(&csv, None, &many, u64::MAX, &running).unwrap_err();
	assert!(error.to_string().contains("dataset.train_rows"), "{error}");
}
