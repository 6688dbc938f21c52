//! Checkpoint files as a head and parts: the header, and each tensor with its content hash. With these a
//! file is fetched in pieces, each of which is checked by itself.

use super::openings::places;
use primitive_types::H256;
use std::{
	collections::BTreeMap,
	io::{self, ErrorKind, Read},
};
use trainyard_protocol::{
	model_file::Layout,
	state::{state_hash, TensorDigest},
};

/// Returns the length of the head of a checkpoint file of so many `bytes`, and of each of its tensors, as
/// they follow. Fails where they do not follow without gaps in ascending order of name.
pub fn lengths(file: &mut impl Read, bytes: u64) -> io::Result<(u64, Vec<u64>)> {
	let places = places(file, bytes)?;
	let head = places.first().map_or(bytes, |first| first.begin);
	let mut at = head;
	for place in &places {
		if place.begin != at {
			return Err(io::Error::new(ErrorKind::InvalidData, "its tensors are out of order"));
		}
		at = at.saturating_add(place.bytes);
	}
	match at == bytes {
		true => Ok((head, places.into_iter().map(|place| place.bytes).collect())),
		false => Err(io::Error::new(ErrorKind::InvalidData, "bytes follow its tensors")),
	}
}

/// Returns the hash of the state in a checkpoint file with this head, whose tensors have these lengths and
/// content hashes. `None` where no checkpoint file has this head in the [one form](Layout), or other tensors.
pub fn hash_of_parts(head: &[u8], parts: &[(u64, H256)]) -> Option<H256> {
	let (_, text) = head.split_first_chunk::<8>()?;
	let header: safetensors::tensor::Metadata = serde_json::from_slice(text).ok()?;
	let sorted: BTreeMap<String, _> = header.tensors().into_iter().collect();
	let mut shapes = Vec::with_capacity(sorted.len());
	for (name, info) in sorted {
		let shape: Result<Vec<u32>, _> = info.shape.iter().map(|n| u32::try_from(*n)).collect();
		shapes.push((name, shape.ok()?));
	}
	// Its header has the types of the tensors, too: all are binary32.
	let layout = Layout::new(shapes.iter().cloned());
	let lengths = layout.tensors.iter().map(|tensor| tensor.bytes);
	if layout.header != head || !lengths.eq(parts.iter().map(|(bytes, _)| *bytes)) {
		return None;
	}
	let digest = |((name, shape), (_, content)): ((String, Vec<u32>), &(u64, H256))| {
		TensorDigest::of_f32(name, shape, *content)
	};
	Some(state_hash(shapes.into_iter().zip(parts).map(digest).collect()))
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::bundle::{hash_of_state, tensors};
	use trainyard_engine::{content_hash, Tensor32, TensorMap};

	fn state() -> (Vec<u8>, TensorMap) {
		let tensor = |shape: &[u32], from: f32| Tensor32 {
			shape: shape.to_vec(),
			data: (0..shape.iter().product::<u32>()).map(|i| from + i as f32).collect(),
		};
		let tensors: TensorMap = [
			("layers.10.bias".to_owned(), tensor(&[3], -1.5)),
			("layers.2.weight".to_owned(), tensor(&[3, 2], 0.25)),
			("optimizer.beta1_power".to_owned(), tensor(&[1], 7.0)),
		]
		.into();
		(tensors::encode(&tensors), tensors)
	}

	fn parts(bytes: &[u8]) -> (Vec<u8>, Vec<(u64, H256)>) {
		let (head, lengths) = lengths(&mut &bytes[..], bytes.len() as u64).unwrap();
		let (head, mut rest) = bytes.split_at(head as usize);
		let mut parts = Vec::new();
		for length in lengths {
			let (part, after) = rest.split_at(length as usize);
			parts.push((length, content_hash(part)));
			rest = after;
		}
		assert!(rest.is_empty());
		(head.to_vec(), parts)
	}

	#[test]
	fn parts_have_the_hash_of_the_state() {
		let (bytes, _) = state();
		let (head, parts) = parts(&bytes);
		assert_eq!(parts.iter().map(|(bytes, _)| *bytes).collect::<Vec<_>>(), [12, 24, 4]);
		assert_eq!(hash_of_parts(&head, &parts), hash_of_state(&bytes));
		let mut other = parts.clone();
		other[1].1 = H256::zero();
		assert_ne!(hash_of_parts(&head, &other), hash_of_state(&bytes));
		let mut longer = parts.clone();
		longer[1].0 += 4;
		assert_eq!(hash_of_parts(&head, &longer), None);
		assert_eq!(hash_of_parts(&head, &parts[..2]), None);
		assert_eq!(hash_of_parts(&head[..head.len() - 1], &parts), None);
		assert_eq!(hash_of_parts(&[], &[]), None);
		for (old, new) in [("F32", "I32"), ("\"dtype\"", " \"dtype\"")] {
			let text = String::from_utf8(head[8..].to_vec()).unwrap().replacen(old, new, 1);
			let changed = [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
			assert_eq!(hash_of_parts(&changed, &parts), None, "{new}");
		}
	}

	#[test]
	fn a_file_in_another_form_has_no_parts() {
		let (bytes, _) = state();
		let longer = [&bytes[..], &[0; 4]].concat();
		assert!(lengths(&mut &longer[..], longer.len() as u64).is_err());
		let swapped = String::from_utf8_lossy(&bytes[8..]).into_owned();
		let header = swapped.split('\0').next().unwrap().to_owned();
		assert!(lengths(&mut &bytes[..20], 20).is_err() && !header.is_empty());
		assert!(lengths(&mut &b"no state"[..], 8).is_err());
		// Two tensors that change places: the header says so, and is in another order than the bytes.
		let text = r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
		let file = [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &[0; 8]].concat();
		let error = lengths(&mut &file[..], file.len() as u64).unwrap_err();
		assert!(error.to_string().contains("out of order"), "{error}");
	}
}
