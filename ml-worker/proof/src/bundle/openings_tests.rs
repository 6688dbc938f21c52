use super::*;
use crate::bundle::{hash_of_state, tensors};
use std::path::PathBuf;
use trainyard_engine::{Tensor32, TensorMap};
use trainyard_program::spec::{Activation, JobSpec, Model};

/// A job with tensors below and above 64 KiB, and a state of it in a file.
struct Scene {
	_folder: tempfile::TempDir,
	path: PathBuf,
	state: TensorMap,
	hash: H256,
	tensors: Tensors,
}

fn scene() -> Scene {
	let hidden = vec![300].try_into().unwrap();
	let model = Model::Mlp { hidden, activation: Activation::Relu };
	let spec = JobSpec { model, ..JobSpec::example() }.check().unwrap();
	let state: TensorMap = lower::state(&spec)
		.into_iter()
		.map(|t| {
			let length = t.shape.iter().product::<u32>();
			let data = (0..length).map(|i| (i as f32).sin() + t.name.len() as f32).collect();
			(t.name, Tensor32 { shape: t.shape, data })
		})
		.collect();
	let folder = tempfile::tempdir().unwrap();
	let path = folder.path().join("state");
	let bytes = tensors::encode(&state);
	std::fs::write(&path, &bytes).unwrap();
	let (hash, tensors) = (hash_of_state(&bytes).unwrap(), Tensors::of(&spec));
	Scene { _folder: folder, path, state, hash, tensors }
}

/// Two chunks of each large tensor, the rest whole.
fn of_all(tensors: &Tensors) -> Parts {
	let part = |tensor| {
		let bytes = tensors.bytes(tensor).unwrap();
		let last = content::chunks(bytes) as u32 - 1;
		let chunks = if bytes < WHOLE_BYTES { vec![] } else { vec![3, last] };
		Part { tensor, chunks }
	};
	Parts::new((0..tensors.0.len() as u32).map(part).collect()).unwrap()
}

#[test]
fn parts_of_a_state_are_shown_without_the_rest() {
	let scene = scene();
	let parts = of_all(&scene.tensors);
	assert!(parts.iter().any(|part| part.chunks.is_empty()));
	assert!(parts.iter().filter(|part| !part.chunks.is_empty()).count() >= 3);
	let opening = Opening::of_file(&scene.path, &parts).unwrap();
	let bytes = opening.encode();
	assert!(bytes.len() as u64 <= scene.tensors.most_bytes(&parts));
	assert!((bytes.len() as u64) < std::fs::metadata(&scene.path).unwrap().len() / 2);
	assert_eq!(Opening::decode(&mut &bytes[..]).unwrap(), opening);
	let found = opening.elements(&scene.hash, &scene.tensors, &parts).unwrap();
	for ((part, found), tensor) in parts.iter().zip(&found).zip(scene.state.values()) {
		let expected: Vec<f32> = match &part.chunks[..] {
			[] => tensor.data.clone(),
			chunks => chunks
				.iter()
				.flat_map(|at| tensor.data.chunks(256).nth(*at as usize).unwrap())
				.copied()
				.collect(),
		};
		assert_eq!(found, &expected);
	}
}

#[test]
fn whatever_is_changed_in_an_opening_is_found() {
	let scene = scene();
	let parts = of_all(&scene.tensors);
	let opening = Opening::of_file(&scene.path, &parts).unwrap();
	let check = |opening: &Opening| opening.elements(&scene.hash, &scene.tensors, &parts);
	let large = parts.iter().position(|part| !part.chunks.is_empty()).unwrap();
	let small = parts.iter().position(|part| part.chunks.is_empty()).unwrap();
	let changed = |change: &dyn Fn(&mut Opening)| {
		let mut other = opening.clone();
		change(&mut other);
		check(&other).unwrap_err()
	};
	assert_eq!(changed(&|o| o.contents[4].0[7] ^= 1), (0, WrongOpening::State));
	assert_eq!(changed(&|o| o.contents.truncate(3)), (0, WrongOpening::State));
	assert_eq!(changed(&|o| drop(o.parts.pop())), (0, WrongOpening::Count));
	assert_eq!(changed(&|o| o.parts[small].bytes[5] ^= 1), (small, WrongOpening::Tensor));
	assert_eq!(
		changed(&|o| o.parts[small].siblings.push(H256::zero())),
		(small, WrongOpening::Tensor)
	);
	let root = (large, WrongOpening::Chunks(OpeningError::Root));
	assert_eq!(changed(&|o| o.parts[large].bytes[2] ^= 1), root);
	assert_eq!(changed(&|o| o.parts[large].siblings[0].0[0] ^= 1), root);
	let count = (large, WrongOpening::Chunks(OpeningError::SiblingCount));
	assert_eq!(changed(&|o| o.parts[large].siblings.truncate(1)), count);
	let length = (large, WrongOpening::Chunks(OpeningError::ChunkLength));
	assert_eq!(changed(&|o| o.parts[large].bytes.truncate(9)), length);
	assert_eq!(changed(&|o| o.parts[large].bytes.truncate(2_047)), length);
	// The right chunks of another place.
	let moved = |part: &Part| Part {
		tensor: part.tensor,
		chunks: part.chunks.iter().map(|chunk| chunk - 1).collect(),
	};
	let other = Parts::new(parts.iter().map(moved).collect()).unwrap();
	let wrong = opening.elements(&scene.hash, &scene.tensors, &other).unwrap_err();
	assert_eq!(wrong.0, large);
	// Another state.
	let wrong = opening.elements(&H256::zero(), &scene.tensors, &parts).unwrap_err();
	assert_eq!(wrong, (0, WrongOpening::State));
}

#[test]
fn what_a_state_lacks_is_not_opened() {
	let scene = scene();
	let open = |text: &str| Opening::of_file(&scene.path, &text.parse().unwrap());
	let large = of_all(&scene.tensors).iter().position(|part| !part.chunks.is_empty()).unwrap();
	let last = content::chunks(scene.tensors.bytes(large as u32).unwrap());
	for bad in ["99".to_owned(), format!("{large}.{last}"), large.to_string()] {
		let error = open(&bad).unwrap_err();
		assert!(matches!(error, OpenError::NoSuchPart { .. }), "{bad}: {error}");
	}
	assert!(open(&format!("{large}.{}", last - 1)).is_ok());
	// What the bytes of a file open is the same.
	let whole = std::fs::read(&scene.path).unwrap();
	let parts = of_all(&scene.tensors);
	let of_bytes = Opening::of_bytes(&whole, &parts).unwrap();
	assert_eq!(of_bytes, Opening::of_file(&scene.path, &parts).unwrap());
	// A folder is no file.
	let folder = scene.path.parent().unwrap();
	let error = Opening::of_file(folder, &parts).unwrap_err();
	assert!(matches!(error, OpenError::File(_)), "{error}");
	// A file that was cut, at any place.
	for cut in [0, 5, 8, 100, whole.len() - 1] {
		std::fs::write(&scene.path, &whole[..cut]).unwrap();
		let error = open("0").unwrap_err();
		assert!(matches!(error, OpenError::File(_)), "{cut}: {error}");
	}
	std::fs::write(&scene.path, [&u64::MAX.to_le_bytes()[..], &whole[8..]].concat()).unwrap();
	assert!(matches!(open("0").unwrap_err(), OpenError::File(_)));
}

#[test]
fn parts_have_one_text() {
	for good in ["0", "0,2.17.4001", "7.0", "1,2,3.1.2.3,4294967295"] {
		assert_eq!(good.parse::<Parts>().unwrap().to_string(), good);
	}
	let many =
		|n: u32, between: &str| (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(between);
	assert!(many(MAX_PARTS as u32, ",").parse::<Parts>().is_ok());
	assert!(many(MAX_CHUNKS as u32 + 1, ".").parse::<Parts>().is_ok());
	for bad in [
		"".to_owned(),
		",".to_owned(),
		"1,1".to_owned(),
		"2,1".to_owned(),
		"1.3.3".to_owned(),
		"1.4.3".to_owned(),
		"01".to_owned(),
		"+1".to_owned(),
		"1.".to_owned(),
		"-1".to_owned(),
		"4294967296".to_owned(),
		many(MAX_PARTS as u32 + 1, ","),
		many(MAX_CHUNKS as u32 + 2, "."),
	] {
		assert_eq!(bad.parse::<Parts>(), Err(NotParts), "{bad}");
	}
}

/// Not more is opened at once than [`MAX_BYTES`], of which nothing is read before.
#[test]
fn too_much_is_refused() {
	// 256 tensors of 63 KiB.
	let tensor = Tensor32 { shape: vec![16_128], data: vec![0.5; 16_128] };
	let state: TensorMap = (0..256).map(|i| (format!("t{i:03}"), tensor.clone())).collect();
	let bytes = tensors::encode(&state);
	let parts = |count: u32| {
		let part = |tensor| Part { tensor, chunks: Vec::new() };
		Parts::new((0..count).map(part).collect()).unwrap()
	};
	assert_eq!(Opening::of_bytes(&bytes, &parts(65)).unwrap().parts.len(), 65);
	let error = Opening::of_bytes(&bytes, &parts(66)).unwrap_err();
	assert!(matches!(error, OpenError::TooMuch { bytes } if bytes == (66 * 63) << 10), "{error}");
	assert!(parts(66).to_string().parse::<Parts>().is_ok());
}
