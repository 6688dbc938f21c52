//! States as files: safetensors with one fixed byte form.
//!
//! The root of `model.safetensors` is what a trainer commits to, so the file of a given
//! model has exactly one form: an 8-byte little-endian header length; the header, JSON
//! without spaces, tensors in ascending bytewise order of name, each
//! `"name":{"dtype":"F32","shape":[..],"data_offsets":[from,to]}`, padded with spaces to
//! a multiple of 8; then the tensors' little-endian bytes, row major, in the same order
//! without gaps. Every safetensors reader reads it.

use crate::hash::blake2_256;
use candle_core::{Device, Tensor};
use primitive_types::H256;
use std::collections::BTreeMap;
use trainyard_protocol::bundle::{state_hash, Dtype, TensorDigest};

/// A tensor of binary32.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor32 {
	/// Shape, outermost dimension first.
	pub shape: Vec<u32>,
	/// Elements, row major.
	pub data: Vec<f32>,
}

/// Named tensors, in the order of a state hash.
pub type Tensors = BTreeMap<String, Tensor32>;

/// Why bytes are not a state.
#[derive(Debug, thiserror::Error)]
pub enum TensorError {
	/// Not a safetensors file.
	#[error("not a whole safetensors file: {0}")]
	Format(String),
	/// A tensor of another type than binary32.
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
	/// candle refused a tensor.
	#[error(transparent)]
	Candle(#[from] candle_core::Error),
}

fn le_bytes(data: &[f32]) -> Vec<u8> {
	data.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// The bytes of a file with `tensors`; see the module's comment.
pub fn encode(tensors: &Tensors) -> Vec<u8> {
	let mut header = String::from("{");
	let mut offset = 0usize;
	for (name, tensor) in tensors {
		if header.len() > 1 {
			header.push(',');
		}
		let end = offset + tensor.data.len() * 4;
		let shape: Vec<String> = tensor.shape.iter().map(u32::to_string).collect();
		header.push_str(&format!(
			"{}:{{\"dtype\":\"F32\",\"shape\":[{}],\"data_offsets\":[{offset},{end}]}}",
			serde_json::Value::from(name.as_str()),
			shape.join(",")
		));
		offset = end;
	}
	header.push('}');
	while header.len() % 8 != 0 {
		header.push(' ');
	}
	let mut bytes = Vec::with_capacity(8 + header.len() + offset);
	bytes.extend((header.len() as u64).to_le_bytes());
	bytes.extend(header.as_bytes());
	for tensor in tensors.values() {
		bytes.extend(le_bytes(&tensor.data));
	}
	bytes
}

/// Reads a safetensors file.
pub fn decode(bytes: &[u8]) -> Result<Tensors, TensorError> {
	let file = safetensors::SafeTensors::deserialize(bytes)
		.map_err(|e| TensorError::Format(e.to_string()))?;
	let mut tensors = Tensors::new();
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

/// State hash of `tensors`, see [`state_hash`]. Unlike the engine's it hashes states with
/// NaN too: a verifier must be able to show that such a state was committed to.
pub fn hash(tensors: &Tensors) -> H256 {
	state_hash(
		tensors
			.iter()
			.map(|(name, tensor)| TensorDigest {
				name: name.clone(),
				dtype: Dtype::F32,
				shape: tensor.shape.clone(),
				content: blake2_256(&le_bytes(&tensor.data)),
			})
			.collect(),
	)
}

/// Name of the first tensor that holds a NaN.
pub fn first_nan(tensors: &Tensors) -> Option<&str> {
	tensors
		.iter()
		.find(|(_, tensor)| tensor.data.iter().any(|x| x.is_nan()))
		.map(|(name, _)| name.as_str())
}

/// Whether both have the same names and shapes.
pub fn same_layout(a: &Tensors, b: &Tensors) -> bool {
	a.len() == b.len() && a.iter().zip(b).all(|((n, t), (m, u))| n == m && t.shape == u.shape)
}

/// Tensors of candle, copied out.
pub fn from_candle(tensors: &BTreeMap<String, Tensor>) -> Result<Tensors, TensorError> {
	tensors
		.iter()
		.map(|(name, tensor)| {
			let shape = tensor
				.dims()
				.iter()
				.map(|d| u32::try_from(*d))
				.collect::<Result<_, _>>()
				.map_err(|_| TensorError::Shape(name.clone()))?;
			let data = tensor.flatten_all()?.to_vec1::<f32>()?;
			Ok((name.clone(), Tensor32 { shape, data }))
		})
		.collect()
}

/// The tensors as candle's, on the CPU.
pub fn to_candle(tensors: &Tensors) -> Result<BTreeMap<String, Tensor>, TensorError> {
	tensors
		.iter()
		.map(|(name, tensor)| {
			let shape: Vec<usize> = tensor.shape.iter().map(|d| *d as usize).collect();
			let copy = Tensor::from_slice(&tensor.data, shape, &Device::Cpu)?;
			Ok((name.clone(), copy))
		})
		.collect()
}

#[cfg(test)]
mod tests {
	use super::*;

	fn example() -> Tensors {
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
			(name.clone(), le_bytes(&t.data), shape)
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
	fn hashes_see_every_bit_name_and_shape() {
		let tensors = example();
		let all = hash(&tensors);
		let mut other = tensors.clone();
		other.get_mut("layer.10.bias").unwrap().data[1] = -0.0;
		let minus = hash(&other);
		other.get_mut("layer.10.bias").unwrap().data[1] = 0.0;
		assert_ne!(minus, hash(&other), "the sign of zero counts");
		let mut other = tensors.clone();
		other.get_mut("layer.2.weight").unwrap().shape = vec![2, 3];
		assert_ne!(all, hash(&other));
		assert!(!same_layout(&tensors, &other));
		other.get_mut("layer.2.weight").unwrap().data[0] = f32::NAN;
		assert_eq!(first_nan(&other), Some("layer.2.weight"));
		assert_eq!(first_nan(&tensors), None);
	}

	#[test]
	fn candle_and_back() {
		let tensors = example();
		assert_eq!(from_candle(&to_candle(&tensors).unwrap()).unwrap(), tensors);
	}
}
