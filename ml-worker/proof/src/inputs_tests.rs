//! Files of a job that are read, and those that are refused by name.

use super::*;
use crate::testing::{changed, job, table};
use trainyard_engine::Tensor32;
use trainyard_program::spec::{DataFormat, Normalization};

/// Returns parameters of the job's model; the numbers of a tensor all differ.
fn model(spec: &CheckedSpec) -> TensorMap {
	let parameters =
		lower::state(spec).into_iter().filter(|t| !t.name.starts_with(lower::OPTIMIZER_PREFIX));
	parameters
		.map(|t| {
			let n = t.shape.iter().product::<u32>();
			let data = (0..n).map(|i| i as f32 * 0.25 - 1.0).collect();
			(t.name, Tensor32 { shape: t.shape, data })
		})
		.collect()
}

/// Returns the state hash of the tensors in these bytes, if they are a file of tensors without NaN.
fn parameters_of(bytes: &[u8]) -> Option<H256> {
	state_hash(&tensors::decode(bytes).ok()?, NanRule::Refuse).ok()
}

/// Loads these bytes as the initial model of the job on the small table.
fn load(bytes: &[u8]) -> Result<Inputs, String> {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let path = folder.path().join("published.safetensors");
	std::fs::write(&path, bytes).unwrap();
	let content_hash = hash::blake2_256(bytes);
	let spec = job(&data);
	let file = FileRef { content_hash, bytes: bytes.len() as u64, ..spec.dataset.file() };
	let parameters = parameters_of(bytes).unwrap_or(H256::repeat_byte(1));
	let model = InitialModel { file, parameters };
	let spec = changed(&spec, |spec| spec.initial_model = Some(model));
	let paths = InputPaths { initial_model: Some(path), ..InputPaths::data(data) };
	Inputs::load(&spec, &paths).map_err(|e| e.to_string())
}

fn spec() -> CheckedSpec {
	let folder = tempfile::tempdir().unwrap();
	job(&table(folder.path()))
}

#[test]
fn a_published_model_is_read() {
	let model = model(&spec());
	let read = |bytes: &[u8]| load(bytes).unwrap().initial_model().unwrap().clone();
	assert_eq!(read(&tensors::encode(&model)), model);
	// As another program writes it: with notes, in any order.
	let data = |t: &Tensor32| t.data.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
	let views: Vec<_> = model
		.iter()
		.rev()
		.map(|(name, t)| (name.clone(), t.shape.iter().map(|d| *d as usize).collect(), data(t)))
		.collect();
	let views = views.iter().map(|(name, shape, data): &(String, Vec<usize>, Vec<u8>)| {
		let dtype = safetensors::Dtype::F32;
		let view = safetensors::tensor::TensorView::new(dtype, shape.clone(), data).unwrap();
		(name.as_str(), view)
	});
	let notes = [("format".to_owned(), "pt".to_owned())].into();
	assert_eq!(read(&safetensors::serialize(views, Some(notes)).unwrap()), model);
}

/// Fetching, rehearsing and training read the same data: the file is decoded for the first of
/// them.
#[test]
fn data_are_decoded_once_and_only_from_the_right_file() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let spec = job(&data);
	let paths = InputPaths::data(&data).with_rows_in(folder.path(), &spec);
	let kept = paths.rows.clone().unwrap();
	// Bytes that are not the job's leave nothing that would be believed later.
	let bytes = std::fs::read(&data).unwrap();
	let mut other = bytes.clone();
	let digit = other.iter_mut().rev().find(|byte| byte.is_ascii_digit()).unwrap();
	*digit = if *digit == b'0' { b'1' } else { b'0' };
	std::fs::write(&data, &other).unwrap();
	let error = Inputs::load(&spec, &paths).unwrap_err();
	assert!(matches!(error, InputError::Content { .. }), "{error}");
	assert!(!kept.exists());
	std::fs::write(&data, &bytes).unwrap();
	let first = Inputs::load(&spec, &paths).unwrap();
	assert!(kept.exists());
	// The data are not read again, so that it makes no difference that they are gone.
	std::fs::remove_file(&data).unwrap();
	let again = Inputs::load(&spec, &paths).unwrap();
	assert_eq!(
		(&again.data.train.x, &again.data.train.y),
		(&first.data.train.x, &first.data.train.y)
	);
	std::fs::write(&kept, b"torn").unwrap();
	assert!(Inputs::load(&spec, &paths).is_err(), "they are decoded again, and not there");
	// A folder that cannot be written keeps nothing, and hinders nothing.
	std::fs::write(&data, &bytes).unwrap();
	let nowhere = InputPaths::data(&data).with_rows_in(&folder.path().join("none"), &spec);
	Inputs::load(&spec, &nowhere).unwrap();
}

/// The right file is no help where the specification names other rows than it holds; nothing of it is
/// kept then.
#[test]
fn rows_that_the_specification_does_not_name_are_refused() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let right = job(&data);
	let changes: [fn(&mut Dataset); 3] = [
		|d| d.rows = H256::repeat_byte(9),
		|d| d.feature_divisor += 1,
		|d| d.normalization = Normalization::Standard,
	];
	for change in changes {
		let spec = changed(&right, |spec| change(&mut spec.dataset));
		let plain = InputPaths::data(&data);
		let keeping = plain.clone().with_rows_in(folder.path(), &spec);
		for paths in [plain, keeping] {
			let error = Inputs::load(&spec, &paths).unwrap_err();
			assert!(matches!(error, InputError::Rows { .. }) && !error.is_local(), "{error}");
			let found = data::read_rows(&data, None, &spec.dataset, &AtomicBool::new(false));
			let (found, named) = (found.unwrap().root(), spec.dataset.rows);
			for part in [format!("{found:?}"), format!("dataset.rows is {named:?}")] {
				assert!(error.to_string().contains(&part), "{part}: {error}");
			}
			assert!(paths.rows.is_none_or(|kept| !kept.exists()));
		}
		let named = crate::testing::on_rows_of(spec.into_spec(), &data);
		Inputs::load(&named, &InputPaths::data(&data)).unwrap();
	}
	assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the table alone");
}

#[test]
fn files_that_are_no_such_model_are_named() {
	let spec = spec();
	let refused = |change: &dyn Fn(&mut TensorMap)| {
		let mut model = model(&spec);
		change(&mut model);
		let error = load(&tensors::encode(&model)).unwrap_err();
		let name = "published.safetensors cannot be the initial model of this job: ";
		error.split_once(name).unwrap_or_else(|| panic!("{error}")).1.to_owned()
	};
	type Change = fn(&mut TensorMap);
	let changes: [(&str, Change); 7] = [
		("it has no tensor layers.0.bias", |m| drop(m.remove("layers.0.bias"))),
		("it has a tensor \"more\"", |m| {
			m.insert("more".into(), m["layers.0.bias"].clone());
		}),
		("it has a tensor \"optimizer.m.layers.0.bias\"", |m| {
			m.insert("optimizer.m.layers.0.bias".into(), m["layers.0.bias"].clone());
		}),
		("layers.0.weight has shape [4, 8], the job's has [8, 4]", |m| {
			m.get_mut("layers.0.weight").unwrap().shape.reverse();
		}),
		("layers.1.bias holds NaN", |m| {
			m.get_mut("layers.1.bias").unwrap().data[1] = f32::NAN;
		}),
		("layers.1.weight holds inf", |m| {
			m.get_mut("layers.1.weight").unwrap().data[23] = f32::INFINITY;
		}),
		("layers.0.weight holds -inf", |m| {
			m.get_mut("layers.0.weight").unwrap().data[0] = f32::NEG_INFINITY;
		}),
	];
	for (what, change) in changes {
		let found = refused(&change);
		assert!(found.contains(what), "{what}: {found}");
	}

	// Half precision, as many published models are.
	let model = model(&spec);
	let whole = tensors::encode(&model);
	let halves: Vec<(String, Vec<usize>, Vec<u8>)> = model
		.iter()
		.map(|(name, t)| {
			let shape = t.shape.iter().map(|d| *d as usize).collect();
			(name.clone(), shape, vec![0; t.data.len() * 2])
		})
		.collect();
	let views = halves.iter().map(|(name, shape, data)| {
		let dtype = safetensors::Dtype::F16;
		let view = safetensors::tensor::TensorView::new(dtype, shape.clone(), data).unwrap();
		(name.as_str(), view)
	});
	let error = load(&safetensors::serialize(views, None).unwrap()).unwrap_err();
	assert!(error.contains("is of type F16"), "{error}");
	for cut in [1, 7, 8, 40, whole.len() - 1] {
		let error = load(&whole[..cut]).unwrap_err();
		assert!(error.contains("not a whole safetensors file"), "{cut}: {error}");
	}
	let mut long = whole;
	long.resize(long.len() + 2 * HEADER_BYTES as usize, 0);
	let error = load(&long).unwrap_err();
	assert!(error.contains("initial_model.bytes is"), "{error}");
}

#[test]
fn other_files_than_declared_are_named() {
	let folder = tempfile::tempdir().unwrap();
	let data = table(folder.path());
	let spec = job(&data);
	let bytes = tensors::encode(&model(&spec));
	let path = folder.path().join("model");
	let (content_hash, length) = (hash::blake2_256(&bytes), bytes.len() as u64);
	let file = FileRef { content_hash, bytes: length, ..spec.dataset.file() };
	let parameters = parameters_of(&bytes).unwrap();
	let spec = changed(&spec, |spec| spec.initial_model = Some(InitialModel { file, parameters }));
	let paths = InputPaths { initial_model: Some(path.clone()), ..InputPaths::data(&data) };
	let error = |paths: &InputPaths| Inputs::load(&spec, paths).unwrap_err();
	let missing = error(&InputPaths::data(&data));
	assert!(missing.is_local() && missing.to_string().contains("(initial_model)"), "{missing}");
	assert!(matches!(error(&paths), InputError::Io { .. }));
	let mut flipped = bytes.clone();
	*flipped.last_mut().unwrap() ^= 1;
	let longer: Vec<u8> = bytes.iter().chain(b"x").copied().collect();
	for other in [&flipped, &longer, &bytes[..9].to_vec()] {
		std::fs::write(&path, other).unwrap();
		let error = error(&paths);
		assert!(matches!(error, InputError::Content { .. }) && !error.is_local(), "{error}");
		assert!(error.to_string().contains("initial_model.content_hash is"), "{error}");
	}

	// The first place with the right content counts, for each file by itself.
	let elsewhere = InputPaths {
		data: folder.path().join("nowhere"),
		initial_model: Some(folder.path().join("right")),
		labels: None,
		rows: None,
	};
	std::fs::write(folder.path().join("right"), &bytes).unwrap();
	let found = InputPaths::first_right(&spec, &[paths.clone(), elsewhere.clone()]);
	assert_eq!(found, InputPaths { data: data.clone(), ..elsewhere.clone() });
	assert!(Inputs::load(&spec, &found).is_ok());
	// The right file, of which the specification says something else.
	let other = changed(&spec, |spec| {
		spec.initial_model.as_mut().unwrap().parameters = H256::repeat_byte(9);
	});
	let error = Inputs::load(&other, &found).unwrap_err();
	assert!(matches!(error, InputError::Parameters { .. }) && !error.is_local(), "{error}");
	for part in [format!("{parameters:?}"), "initial_model.parameters is 0x0909".to_owned()] {
		assert!(error.to_string().contains(&part), "{part}: {error}");
	}
	std::fs::remove_file(folder.path().join("right")).unwrap();
	assert_eq!(InputPaths::first_right(&spec, &[paths, elsewhere]), found, "the last place");
}
#[test]
fn data_and_labels_are_checked_by_content() {
	let folder = tempfile::tempdir().unwrap();
	let file = |name: &str, bytes: &[u8]| {
		let path = folder.path().join(name);
		std::fs::write(&path, bytes).unwrap();
		let (content_hash, bytes) = hash::file(&path).unwrap();
		let location = JobSpec::example().dataset.location;
		(path, FileRef { content_hash, bytes, location })
	};
	let images = [&[0, 0, 8, 2, 0, 0, 0, 4, 0, 0, 0, 2][..], &[1, 2, 3, 4, 5, 6, 7, 8]];
	let labels = |labels: [u8; 4]| [&[0, 0, 8, 1, 0, 0, 0, 4][..], &labels].concat();
	let (data, found) = file("x.idx", &images.concat());
	let (right, of_labels) = file("y.idx", &labels([0, 1, 2, 1]));
	let (other, _) = file("z.idx", &labels([1, 1, 2, 1]));
	let mut spec = JobSpec::example();
	spec.dataset = Dataset {
		format: DataFormat::Idx,
		content_hash: found.content_hash,
		bytes: found.bytes,
		labels: Some(of_labels),
		train_rows: 2,
		validation_rows: 2,
		validation_every: 2,
		features: 2,
		classes: 3,
		..spec.dataset
	};
	spec.training.batch_size = 1;
	let never = AtomicBool::new(false);
	let rows = data::read_rows(&data, Some(&right), &spec.dataset, &never).unwrap();
	spec.dataset.rows = rows.root();
	let spec = spec.check().unwrap();
	let error = |spec: &CheckedSpec, data: &Path, labels: &Path| {
		let paths = InputPaths { labels: Some(labels.to_owned()), ..InputPaths::data(data) };
		Inputs::load(spec, &paths).err()
	};
	assert!(error(&spec, &data, &right).is_none());
	// Read as labels, the images would be wrong; the error says instead that the file is a
	// different one.
	for (data, labels, which) in [
		(&data, &other, InputFile::Labels),
		(&data, &data, InputFile::Labels),
		(&right, &right, InputFile::Data),
	] {
		let found = error(&spec, data, labels).unwrap();
		assert!(
			matches!(&found, InputError::Content { which: said, .. } if *said == which),
			"{found}"
		);
		assert!(!found.is_local());
	}
	let wrong = |change: fn(&mut Dataset)| {
		let spec = changed(&spec, |spec| change(&mut spec.dataset));
		error(&spec, &data, &right).unwrap().to_string()
	};
	let length = wrong(|d| d.bytes += 1);
	for part in ["x.idx is not the dataset of the job", "dataset.bytes 21"] {
		assert!(length.contains(part), "{length}");
	}
	let hash = wrong(|d| d.labels.as_mut().unwrap().content_hash = H256::repeat_byte(1));
	for part in ["y.idx is not the file of labels", "dataset.labels.content_hash is 0x01"] {
		assert!(hash.contains(part), "{hash}");
	}
	// Errors about the right files.
	assert!(wrong(|d| d.classes = 2).contains("label 2, but dataset.classes is 2"));
	let missing = error(&spec, Path::new("/nowhere"), &right).unwrap();
	assert!(matches!(missing, InputError::Data(_)) && missing.is_local(), "{missing}");
}
