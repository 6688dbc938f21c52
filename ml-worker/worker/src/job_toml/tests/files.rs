//! The files that a job names: data, labels and the initial model, here or elsewhere.

use super::*;
use trainyard_program::spec::{FileRef, Normalization};
use trainyard_protocol::{
	content,
	rows::Rows,
	state::{state_hash, TensorDigest},
};

#[test]
fn labels_apart_and_normalisation() {
	let hash = "02".repeat(32);
	let labels = format!(
		"feature_divisor = 16\nformat = \"idx\"\nnormalization = \"standard\"\n[dataset.labels]\n\
		 location = \"https://example.org/labels\"\ncontent_hash = \"{hash}\"\nbytes = 1805\n"
	);
	let text = whole().replace("feature_divisor = 16\n", &labels);
	let job = read(&text).unwrap();
	let d = &job.spec.dataset;
	assert_eq!((d.format, d.normalization), (DataFormat::Idx, Normalization::Standard));
	let location = Text::new("https://example.org/labels").unwrap();
	let content_hash = H256::repeat_byte(2);
	assert_eq!(d.labels, Some(FileRef { content_hash, bytes: 1805, location }));
	assert!(job.has_location() && job.labels_path.is_none());
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
	for format in ["npy", "npz", "safetensors"] {
		let text = whole().replace("feature_divisor = 16", &format!("format = \"{format}\""));
		let job = read(&text).unwrap();
		assert!(to_toml(&job).contains(&format!("format = \"{format}\"")));
		assert_eq!(read(&to_toml(&job)).unwrap(), job);
	}
	let missing = text.replace("bytes = 1805\n", "");
	let error = read(&missing).unwrap_err().to_string();
	assert!(error.contains("dataset.labels.bytes: the field is missing"), "{error}");
	let other = text.replace("format = \"idx\"\n", "");
	let error = read(&other).unwrap_err().to_string();
	assert!(error.contains("dataset.labels: only the format idx keeps labels"), "{error}");
	refused(
		"feature_divisor = 16",
		"format = \"idx\"",
		"dataset.labels",
		"[dataset]",
		"the section is missing: the format idx keeps labels in a file of their own",
	);
	refused(
		"feature_divisor = 16",
		"normalization = \"standart\"",
		"dataset.normalization",
		"normalization = \"standart\"",
		"did you mean standard?",
	);
}

#[test]
fn local_labels_fill_in_and_contradict() {
	let dir = tempfile::tempdir().unwrap();
	let images = [&[0, 0, 8, 2, 0, 0, 0, 4, 0, 0, 0, 2][..], &[1, 2, 3, 4, 5, 6, 7, 8]].concat();
	let labels = [&[0, 0, 8, 1, 0, 0, 0, 4][..], &[0, 1, 2, 1]].concat();
	std::fs::write(dir.path().join("x.idx"), images).unwrap();
	std::fs::write(dir.path().join("y.idx"), labels).unwrap();
	let job = |dataset: &str, labels: &str| {
		let text = format!(
			"[dataset]\npath = \"x.idx\"\nformat = \"idx\"\nvalidation_every = 2\n{dataset}\n\
			 {labels}\n{MODEL}{}{ADAMW}",
			TRAINING.replace("batch_size = 32", "batch_size = 2")
		);
		parse(&text, &dir.path().join("job.toml"))
	};
	let at = "[dataset.labels]\npath = \"y.idx\"";
	let whole = job("", at).unwrap();
	let d = &whole.spec.dataset;
	assert_eq!((d.train_rows, d.validation_rows, d.features, d.classes), (2, 2, 2, 3));
	let labels = d.labels.clone().unwrap();
	let path = dir.path().join("y.idx");
	assert_eq!((labels.content_hash, labels.bytes), trainyard_proof::hash::file(&path).unwrap());
	assert!(!whole.has_location());
	assert_eq!(whole.labels_path, Some(path));
	assert_eq!(parse(&to_toml(&whole), Path::new("")).unwrap(), whole);
	let half = job("location = \"https://example.org/x\"", at).unwrap();
	assert!(!half.has_location(), "the labels cannot be fetched");
	for (labels, what) in [
		("", "job.toml:1: dataset.labels: the section is missing"),
		("[dataset.labels]", "dataset.labels.path: the field is missing"),
		(
			"[dataset.labels]\npath = \"y.idx\"\nbytes = 7",
			"dataset.labels.bytes: it is 7, but the file at dataset.labels.path has 12",
		),
		("[dataset.labels]\npath = \"none\"", "cannot read"),
		("[dataset.labels]\npath = \"x.idx\"", "labels are [rows]"),
		("[dataset.labels]\npath = \"y.idx\"\nrows = 7", "dataset.labels.rows: no such field"),
	] {
		let error = job("", labels).unwrap_err().to_string();
		assert!(error.contains(what), "{what}: {error}");
	}
	let wrong = format!("{at}\ncontent_hash = \"{}\"", "01".repeat(32));
	let error = job("", &wrong).unwrap_err().to_string();
	assert!(error.contains("dataset.labels.content_hash: it is 0x01"), "{error}");
}

#[test]
fn a_local_file_fills_in_and_contradicts() {
	let dir = tempfile::tempdir().unwrap();
	std::fs::write(dir.path().join("d.csv"), "a,b,label\n1,2,0\n3,4,2\n5,6,1\n7,8,0\n").unwrap();
	let job_path = dir.path().join("job.toml");
	let job = |dataset: &str| {
		let text = format!(
			"[dataset]\npath = \"d.csv\"\nvalidation_every = 2\n{dataset}\n{MODEL}{}{ADAMW}",
			TRAINING.replace("batch_size = 32", "batch_size = 2")
		);
		parse(&text, &job_path)
	};
	let whole = job("").unwrap();
	assert!(!whole.has_location() && whole.terms.is_none());
	assert_eq!(whole.dataset_path, Some(dir.path().join("d.csv")));
	let d = &whole.spec.dataset;
	assert_eq!((d.train_rows, d.validation_rows, d.features, d.classes), (2, 2, 2, 3));
	assert_eq!(
		(d.content_hash, d.bytes),
		trainyard_proof::hash::file(&dir.path().join("d.csv")).unwrap()
	);
	assert!(job(&format!("content_hash = \"{:?}\"\nclasses = 10", d.content_hash)).is_ok());
	// The rows that train are the first and the third, undivided.
	let inputs = |x: &[f32]| content::hash(&content::le_bytes(x));
	let labels = |y: [u32; 2]| content::hash(y.map(u32::to_le_bytes).as_flattened());
	let (train, validation) = ([1.0, 2.0, 5.0, 6.0], [3.0, 4.0, 7.0, 8.0]);
	let contents = [inputs(&train), labels([0, 1]), inputs(&validation), labels([2, 0])];
	let (train_rows, validation_rows, features, labels_per_row) = (2, 2, 2, 1);
	let rows = Rows { train_rows, validation_rows, features, labels_per_row, contents };
	assert_eq!(d.rows, rows.root());
	assert_eq!(job(&format!("rows = \"{:?}\"", d.rows)).unwrap(), whole);
	// It depends on what is made of the numbers.
	let mut roots = vec![d.rows];
	for more in
		["feature_divisor = 2", "normalization = \"standard\"", "format = \"csv_label_first\""]
	{
		let root = job(more).unwrap().spec.dataset.rows;
		assert!(!roots.contains(&root), "{more}");
		roots.push(root);
	}
	for (field, value) in [
		("content_hash", format!("\"{}\"", "01".repeat(32))),
		("bytes", "7".into()),
		("train_rows", "3".into()),
		("features", "3".into()),
		("classes", "2".into()),
		("rows", format!("\"{}\"", "01".repeat(32))),
	] {
		let error = job(&format!("{field} = {value}")).unwrap_err().to_string();
		assert!(error.contains(&format!("job.toml:4: dataset.{field}: ")), "{error}");
		assert!(error.contains("dataset.path"), "{error}");
	}
	std::fs::write(dir.path().join("d.csv"), "a,b,label\n1,2,0\n3,x,2\n").unwrap();
	let error = job("").unwrap_err().to_string();
	assert!(error.contains("job.toml:2: dataset.path: ") && error.contains("d.csv:3: "), "{error}");
	std::fs::remove_file(dir.path().join("d.csv")).unwrap();
	let error = job("").unwrap_err().to_string();
	assert!(
		error.contains("job.toml:2: dataset.path: ") && error.contains("cannot read"),
		"{error}"
	);
}

#[test]
fn a_fine_tuning_names_its_model() {
	let section = "[initial_model]\nlocation = \"https://example.org/model.safetensors\"\n\
		content_hash = \"0202020202020202020202020202020202020202020202020202020202020202\"\n\
		bytes = 26664\n\
		parameters = \"0303030303030303030303030303030303030303030303030303030303030303\"\n";
	let text = whole() + section;
	let job = read(&text).unwrap();
	let InitialModel { file, parameters } = job.spec.initial_model.clone().unwrap();
	assert_eq!((file.content_hash, file.bytes), (H256::repeat_byte(2), 26_664));
	assert_eq!(parameters, H256::repeat_byte(3));
	assert_eq!(file.location.to_string_lossy(), "https://example.org/model.safetensors");
	assert_eq!((job.has_location(), &job.initial_model_path), (true, &None));
	assert_eq!(read(&to_toml(&job)).unwrap(), job);
	let mut without = job.clone();
	let plain = JobSpec { initial_model: None, ..job.spec.spec().clone() };
	without.spec = plain.check().unwrap();
	assert_eq!(read(&whole()).unwrap(), without);

	let complaint = |from: &str, to: &str| {
		let changed = text.replacen(from, to, 1);
		assert_ne!(changed, text, "{from}");
		read(&changed).unwrap_err().to_string()
	};
	for (from, to, field, what) in [
		("bytes = 26664\n", "", "initial_model.bytes", "the field is missing"),
		("bytes = 26664", "bytes = 0", "initial_model.bytes", "from 1 to 2147483648"),
		("hash = \"0202", "hash = \"02", "initial_model.content_hash", "62 characters"),
		("\"0303", "\"03", "initial_model.parameters", "62 characters"),
		("\nparameters = \"0303", "\n# \"", "initial_model.parameters", "the field is missing"),
		("\nparameters = \"0303", "\n# \"", "initial_model.parameters", "trainyard estimate"),
		("\"https://example.org/model", "\"ftp://x/model", "initial_model", "iroh:// location"),
		("bytes = 26664", "bytes = 26664\nsize = 3", "initial_model.size", "no such field"),
		("https://example.org/model.safetensors", "", "initial_model", "iroh:// location"),
	] {
		let error = complaint(from, to);
		assert!(error.contains(&format!("{field}: ")) && error.contains(what), "{to}: {error}");
	}
	let missing = read(&(whole() + "[initial_model]\n")).unwrap_err();
	assert_eq!(missing.problems.len(), 4, "{missing}");
	let zero = complaint(&"03".repeat(32), &"00".repeat(32));
	assert!(zero.contains("initial_model.parameters: the hash of the initial"), "{zero}");
}

#[test]
fn a_local_initial_model_fills_in_and_must_fit() {
	use trainyard_engine::{Tensor32, TensorMap};
	use trainyard_proof::bundle::tensors;
	let dir = tempfile::tempdir().unwrap();
	let model = dir.path().join("model.safetensors");
	let write = |bias: u32| {
		let shape_of = [("layers.0.bias", vec![bias]), ("layers.0.weight", vec![10, 64])];
		let tensors: TensorMap = shape_of
			.map(|(name, shape)| {
				let n = shape.iter().product::<u32>() as usize;
				(name.to_owned(), Tensor32 { shape, data: vec![0.5; n] })
			})
			.into();
		std::fs::write(&model, tensors::encode(&tensors)).unwrap();
	};
	let job_path = dir.path().join("job.toml");
	let job = |more: &str| {
		let text = whole().replace("[64, 32]", "[]").replace("audit_fee = 0.15\n", "");
		let section = "[initial_model]\npath = \"model.safetensors\"\n";
		parse(&(text + section + more), &job_path)
	};
	write(10);
	let read = job("").unwrap();
	let InitialModel { file, parameters } = read.spec.initial_model.clone().unwrap();
	assert_eq!((file.content_hash, file.bytes), trainyard_proof::hash::file(&model).unwrap());
	let digest = |name: &str, shape: &[u32]| {
		let values = vec![0.5; shape.iter().product::<u32>() as usize];
		let content = content::hash(&content::le_bytes(&values));
		TensorDigest::of_f32(name.into(), shape.to_vec(), content)
	};
	let of_parameters = [digest("layers.0.weight", &[10, 64]), digest("layers.0.bias", &[10])];
	assert_eq!(parameters, state_hash(of_parameters.into()));
	assert_eq!(job(&format!("parameters = \"{parameters:?}\"\n")).unwrap(), read);
	assert_eq!(read.initial_model_path, Some(model.clone()));
	assert_eq!(read.without_location(), Some(InputFile::InitialModel), "it cannot be posted");
	assert_eq!(parse(&to_toml(&read), &job_path).unwrap(), read);
	assert!(job("location = \"http://x/m\"\n").unwrap().has_location());
	// The data have no local file, and the model has.
	let error = read.inputs(&GivenFiles::default(), &job_path).unwrap_err().to_string();
	assert!(error.contains("job.toml: dataset.path: ") && error.contains("--data FILE"), "{error}");

	let wrong = |field| format!("{field} = \"{}\"\n", "01".repeat(32));
	for (more, field) in [
		(wrong("content_hash"), "content_hash"),
		(wrong("parameters"), "parameters"),
		("bytes = 7\n".to_owned(), "bytes"),
	] {
		let error = job(&more).unwrap_err().to_string();
		assert!(error.contains(&format!("initial_model.{field}: ")), "{error}");
		assert!(error.contains("initial_model.path"), "{error}");
	}
	write(11);
	let error = job("").unwrap_err().to_string();
	for part in ["initial_model.path: ", "layers.0.bias has shape [11], the job's has [10]"] {
		assert!(error.contains(part), "{part}: {error}");
	}
	std::fs::remove_file(&model).unwrap();
	let error = job("").unwrap_err().to_string();
	assert!(error.contains("initial_model.path: cannot read"), "{error}");
}
