//! States as files: safetensors with one fixed byte form, that of
//! [`model_file`](trainyard_protocol::model_file).
//!
//! `safetensors::serialize` writes the same bytes today, which a test checks, but it promises no
//! one form, and what is committed to must not depend on a library's version. So [`encode`] is our
//! own; reading is left to the library.

use trainyard_engine::{canonical_bytes, Tensor32, TensorMap};
use trainyard_protocol::model_file::Layout;
use trainyard_strict::canonical_bits;

/// Says why bytes are not a state.
#[derive(Debug, thiserror::Error)]
pub enum TensorError {
	/// Not a safetensors file.
	#[error("not a whole safetensors file: {0}")]
	Format(String),
	/// A tensor whose type is not binary32.
	#[error("tensor {name} is of type {dtype}; states hold F32 only")]
	Dtype {
		/// Which tensor.
		name: String,
		/// Its type.
		dtype: String,
	},
	/// A dimension past `u32`.
	#[error("tensor {0} has a dimension that is too large")]
	Shape(String),
	/// A NaN by other bits than the canonical ones.
	#[error("tensor {0} holds a NaN that is not 7FC00000")]
	NotCanonical(String),
}

/// Returns the bytes of a file with `tensors`, which must come in ascending order of name.
pub fn encode<'a>(
	tensors: impl IntoIterator<Item = (&'a String, &'a Tensor32), IntoIter: Clone>,
) -> Vec<u8> {
	let tensors = tensors.into_iter();
	let shapes = tensors.clone().map(|(name, tensor)| (name.clone(), tensor.shape.clone()));
	let Layout { header: mut bytes, size, .. } = Layout::new(shapes);
	bytes.reserve_exact(usize::try_from(size).unwrap_or_default().saturating_sub(bytes.len()));
	for (_, tensor) in tensors {
		bytes.extend_from_slice(&canonical_bytes(&tensor.data));
	}
	bytes
}

/// Reads a safetensors file. Refuses a NaN by other bits than [`encode`] writes.
pub fn decode(bytes: &[u8]) -> Result<TensorMap, TensorError> {
	let tensors = decode_any_nan(bytes)?;
	let is_canonical = |x: &f32| canonical_bits(*x) == x.to_bits();
	match tensors.iter().find(|(_, tensor)| !tensor.data.iter().all(is_canonical)) {
		Some((name, _)) => Err(TensorError::NotCanonical(name.clone())),
		None => Ok(tensors),
	}
}

/// Does what [`decode`] does, with any bits of a NaN. Checkpoints that others serve are read so: one
/// with a NaN is a false state, which its trainer pays for, whatever the bits; to refuse the file
/// would make it a missing one.
pub(crate) fn decode_any_nan(bytes: &[u8]) -> Result<TensorMap, TensorError> {
	let file = safetensors::SafeTensors::deserialize(bytes)
		.map_err(|e| TensorError::Format(e.to_string()))?;
	let mut tensors = TensorMap::new();
	for (name, view) in file.iter() {
		if view.dtype() != safetensors::Dtype::F32 {
			let dtype = format!("{:?}", view.dtype());
			return Err(TensorError::Dtype { name: name.to_owned(), dtype });
		}
		let shape = view
			.shape()
			.iter()
			.map(|d| u32::try_from(*d))
			.collect::<Result<_, _>>()
			.map_err(|_| TensorError::Shape(name.to_owned()))?;
		let data = view
			.data()
			.chunks_exact(4)
			.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
			.collect();
		tensors.insert(name.to_owned(), Tensor32 { shape, data });
	}
	Ok(tensors)
}

/// Returns whether both have the same names and shapes.
pub fn same_layout(a: &TensorMap, b: &TensorMap) -> bool {
	a.len() == b.len() && a.iter().zip(b).all(|((n, t), (m, u))| n == m && t.shape == u.shape)
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_engine::raw_bytes;

	fn example() -> TensorMap {
		let tensor = |shape: &[u32], from: f32| Tensor32 {
			shape: shape.to_vec(),
			data: (0..shape.iter().product::<u32>()).map(|i| from + i as f32).collect(),
		};
		[
			("layer.10.bias".to_owned(), tensor(&[3], -1.5)),
			("layer.2.weight".to_owned(), tensor(&[3, 2], 0.25)),
			("scalar \"quoted\"".to_owned(), tensor(&[], 7.0)),
		]
		.into()
	}

	#[test]
	fn the_bytes_are_fixed_and_any_reader_reads_them() {
		let tensors = example();
		let bytes = encode(&tensors);
		assert_eq!(decode(&bytes).unwrap(), tensors);
		// The layout is frozen: committed model roots depend on it.
		let views = tensors.iter().map(|(name, t)| {
			let shape = t.shape.iter().map(|d| *d as usize).collect();
			(name.clone(), raw_bytes(&t.data).to_vec(), shape)
		});
		let views: Vec<(String, Vec<u8>, Vec<usize>)> = views.collect();
		let views = views.iter().map(|(name, data, shape)| {
			let view =
				safetensors::tensor::TensorView::new(safetensors::Dtype::F32, shape.clone(), data);
			(name.as_str(), view.unwrap())
		});
		assert_eq!(safetensors::serialize(views, None).unwrap(), bytes);
	}

	#[test]
	fn every_nan_is_written_as_the_same_and_read_by_no_other_bits() {
		let mut tensors = example();
		let mut with = |bits| {
			tensors.get_mut("layer.2.weight").unwrap().data[4] = f32::from_bits(bits);
			encode(&tensors)
		};
		let canonical = with(0x7FC0_0000);
		assert_eq!(with(0x7FC0_0001), canonical);
		assert_eq!(with(0xFF80_0001), canonical);
		let read = decode(&canonical).unwrap();
		assert_eq!(read["layer.2.weight"].data[4].to_bits(), 0x7FC0_0000);
		assert_eq!(encode(&read), canonical);
		// The numbers of the file: three, six of which the fifth is the NaN, and one.
		let at = canonical.len() - 12;
		assert_eq!(canonical[at..at + 4], 0x7FC0_0000u32.to_le_bytes());
		for bits in [0x7FC0_0001u32, 0x7F80_0001, 0xFFC0_0000] {
			let mut bytes = canonical.clone();
			bytes[at..at + 4].copy_from_slice(&bits.to_le_bytes());
			let error = decode(&bytes).unwrap_err().to_string();
			assert!(error.contains("layer.2.weight"), "{error}");
			let read = decode_any_nan(&bytes).unwrap();
			assert_eq!(read["layer.2.weight"].data[4].to_bits(), bits);
		}
		for infinity in [0x7F80_0000, 0xFF80_0000] {
			assert_eq!(encode(&decode(&with(infinity)).unwrap()), with(infinity));
		}
	}

	#[test]
	fn every_truncation_and_extension_is_refused() {
		let bytes = encode(&example());
		for cut in 0..bytes.len() {
			assert!(decode(&bytes[..cut]).is_err(), "{cut}");
		}
		let mut longer = bytes.clone();
		longer.push(0);
		assert!(decode(&longer).is_err());
	}

	#[test]
	fn layouts_differ_by_names_and_shapes() {
		let tensors = example();
		let mut other = tensors.clone();
		other.get_mut("layer.2.weight").unwrap().data[0] = 9.0;
		assert!(same_layout(&tensors, &other));
		other.get_mut("layer.2.weight").unwrap().shape = vec![2, 3];
		assert!(!same_layout(&tensors, &other));
	}
}
