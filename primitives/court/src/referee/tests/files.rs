//! Files that follow from a state: the model, and stored checkpoints.

use super::*;
use std::collections::BTreeSet;
use trainyard_protocol::{
	blob,
	content::{self, Node, OpeningError},
	model_file::Layout,
};

/// A job, the bytes of the tensors of a state of it, and their contents.
fn example() -> (World, Vec<Vec<u8>>, Vec<H256>) {
	let world = World::new(testing::specs().remove(0));
	let state = world.initial();
	let contents = state.iter().map(|bytes| content::hash(bytes)).collect();
	(world, state, contents)
}

/// Returns a file of this layout with these tensors.
fn file(layout: &Layout, tensors: &StateTensors, state: &[Vec<u8>]) -> Vec<u8> {
	let mut bytes = layout.header.clone();
	for tensor in &layout.tensors {
		bytes.extend(&state[tensors.find(&tensor.name).unwrap() as usize]);
	}
	assert_eq!(bytes.len() as u64, layout.size);
	bytes
}

/// Returns the value of a chunk of a content.
fn value(bytes: &[u8], chunk: u64) -> H256 {
	Node { begin: chunk, chunks: 1 }.value(bytes).unwrap()
}

#[test]
fn chunks_of_the_model_are_decided_for_who_is_right() {
	let (world, state, contents) = example();
	let (case, tensors) = (&world.case, StateTensors::of(&world.case.spec));
	let layout = Layout::of(&case.spec);
	let model_file = file(&layout, &tensors, &state);
	let hash = tensors.hash(&contents).unwrap();
	let open = |chunks: &[(u32, u64)]| {
		let mut opened = Tensors::default();
		for tensor in chunks.iter().map(|(tensor, _)| *tensor).collect::<BTreeSet<_>>() {
			let of_tensor = chunks.iter().filter(|(of, _)| *of == tensor);
			let bytes = &state[tensor as usize];
			let chunks = Chunks::open(bytes, of_tensor.map(|(_, chunk)| *chunk)).unwrap();
			let path = tensors.path(&contents, tensor).unwrap();
			let source = Source::State { tensor, content: contents[tensor as usize], path };
			opened.tensors.push(TensorOpening { source, chunks });
		}
		opened
	};
	let all = content::chunks(layout.size);
	assert!(all > 1 && !layout.header.len().is_multiple_of(1_024));
	let mut mixed = 0;
	for chunk in 0..all {
		let chunks = model_chunks(case, chunk);
		let opening = open(&chunks);
		let size = Openings::Tensors(opening.clone()).encode().len() as u64;
		assert!(size <= Cost::of_chunks(case, None, chunks.len() as u32).bytes);
		let right = value(&model_file, chunk);
		let same = model(case, &hash, chunk, &right, &opening);
		assert_eq!(same, Ok(Verdict::Same), "chunk {chunk}");
		let lie = H256::repeat_byte(7);
		let (found, claimed) = (Value::Digest(right), Value::Digest(lie));
		let verdict = Ok(Verdict::Other { found, claimed });
		assert_eq!(model(case, &hash, chunk, &lie, &opening), verdict);
		for at in 0..chunks.len() {
			let mut less = chunks.clone();
			let (tensor, _) = less.remove(at);
			let found = model(case, &hash, chunk, &right, &open(&less));
			let is_missing =
				matches!(found, Err(Refused::Missing { tensor: of, .. }) if of == tensor);
			assert!(is_missing, "{found:?}");
		}
		if let Some(first) = opening.tensors.first() {
			let wrong = Err(Refused::WrongOpening);
			assert_eq!(model(case, &lie, chunk, &right, &opening), wrong);
			let mut bent = opening.clone();
			bent.tensors.push(first.clone());
			assert_eq!(model(case, &hash, chunk, &right, &bent), Err(Refused::Twice));
			bent = opening.clone();
			bent.tensors[0].source = Source::Features;
			assert_eq!(model(case, &hash, chunk, &right, &bent), Err(Refused::LeftOver));
			bent = opening.clone();
			bent.tensors[0].chunks.bytes[0] ^= 1;
			let root = Err(Refused::Chunks(OpeningError::Root));
			assert_eq!(model(case, &hash, chunk, &right, &bent), root);
		}
		let rows = Tensors { rows: Some([lie; 4]), ..opening };
		assert_eq!(model(case, &hash, chunk, &right, &rows), Err(Refused::LeftOver));
		mixed += u32::from(chunks.len() > 1);
	}
	assert!(mixed > 0);
	assert!(model_chunks(case, all).is_empty());
	for chunk in [all, u64::MAX] {
		let found = model(case, &hash, chunk, &hash, &Tensors::default());
		assert_eq!(found, Err(Refused::NoSuchPiece));
	}
}

#[test]
fn stored_states_are_decided_for_who_is_right() {
	let (world, state, _) = example();
	let (case, tensors) = (&world.case, StateTensors::of(&world.case.spec));
	let layout = state_file(case);
	let honest = file(&layout, &tensors, &state);
	let root = |file: &[u8]| blob::root_of(file.len() as u64, &content::hash(file));
	let mut apart = 0;
	for (tensor, bytes) in (0..).zip(&state) {
		for chunk in 0..content::chunks(bytes.len() as u64) {
			let value = value(bytes, chunk);
			let numbers = stored_chunks(case, tensor, chunk);
			let name = &tensors.get(tensor).unwrap().name;
			let place = layout.tensors.iter().find(|place| place.name == *name).unwrap();
			let begin = place.begin + chunk * 1_024;
			// A byte that is part of this chunk, and one beside it.
			let changes = [None, Some((begin, true)), Some((begin - 1, false))];
			for change in changes {
				let mut file = honest.clone();
				if let Some((byte, _)) = change {
					file[byte as usize] ^= 1;
				}
				let (blob, content) = (root(&file), content::hash(&file));
				let chunks = Chunks::open(&file, numbers.iter().copied()).unwrap();
				let opening = Openings::Blob(content, chunks.clone());
				let size = opening.encode().len() as u64;
				assert!(size <= Cost::of_chunks(case, None, numbers.len() as u32).bytes);
				let judge = |content: &H256, chunks: &Chunks| {
					stored(case, &blob, tensor, chunk, &value, (content, chunks))
				};
				let is_same = change.is_none_or(|(_, is_part)| !is_part);
				assert_eq!(judge(&content, &chunks).unwrap().is_same(), is_same, "{name} {chunk}");
				// Malformed, or not all of it.
				assert_eq!(judge(&H256::zero(), &chunks), Err(Refused::WrongOpening));
				let mut all = 0..content::chunks(layout.size);
				let other = all.find(|number| !numbers.contains(number)).unwrap();
				let other = Chunks::open(&file, [other]).unwrap();
				assert_eq!(judge(&content, &other), Err(Refused::LeftOver));
				let mut bent = chunks.clone();
				bent.bytes[0] ^= 1;
				let root = Err(Refused::Chunks(OpeningError::Root));
				assert_eq!(judge(&content, &bent), root);
				if numbers.len() > 1 {
					for (number, at) in [(numbers[0], 1_024 - begin % 1_024), (numbers[1], 0)] {
						let one = Chunks::open(&file, [number]).unwrap();
						let index = chunk * 256 + at / 4;
						assert_eq!(judge(&content, &one), Err(Refused::Missing { tensor, index }));
					}
					apart += 1;
				}
			}
		}
		let end = content::chunks(bytes.len() as u64);
		assert!(stored_chunks(case, tensor, end).is_empty());
		let opening = Chunks::open(&honest, [0]).unwrap();
		let opening = (&content::hash(&honest), &opening);
		let found = stored(case, &root(&honest), tensor, end, &H256::zero(), opening);
		assert_eq!(found, Err(Refused::NoSuchPiece));
	}
	assert!(apart > 0);
}

#[test]
fn headers_of_stored_states_are_decided_for_who_is_right() {
	let (world, state, _) = example();
	let (case, tensors) = (&world.case, StateTensors::of(&world.case.spec));
	let layout = state_file(case);
	let honest = file(&layout, &tensors, &state);
	let header = layout.header.len() as u64;
	let chunks = content::chunks(header);
	assert!(chunks > 1 && !header.is_multiple_of(1_024));
	let judge = |file: &[u8], chunk: u64, number: u64| {
		let content = content::hash(file);
		let opening = Chunks::open(file, [number]).unwrap();
		let blob = blob::root_of(file.len() as u64, &content);
		stored_header(case, &blob, chunk, (&content, &opening))
	};
	for chunk in 0..chunks {
		assert_eq!(judge(&honest, chunk, chunk), Ok(Verdict::Same));
		let mut file = honest.clone();
		let last = (header - 1).min(chunk * 1_024 + 1_023) as usize;
		file[last] ^= 1;
		assert!(!judge(&file, chunk, chunk).unwrap().is_same());
		// What lies behind is not of the header.
		file[last] ^= 1;
		file[last + 1] ^= 1;
		assert_eq!(judge(&file, chunk, chunk), Ok(Verdict::Same));
		assert_eq!(judge(&honest, chunk, chunk + 1), Err(Refused::LeftOver));
	}
	assert_eq!(judge(&honest, chunks, chunks), Err(Refused::NoSuchPiece));
	// A longer file has another root, whatever size is said.
	let longer = [&honest[..], &[0]].concat();
	assert_eq!(judge(&longer, 0, 0), Err(Refused::WrongOpening));
}
