//! States as plain numbers: what is hashed, written to files and compared.
//!
//! The engine computes on candle's tensors or on a GPU; all other crates see a state as a
//! [`TensorMap`]. [`State::to_host`] makes one and [`State::from_host`] takes one. candle's tensors
//! stay inside this crate.
//!
//! [`State::to_host`]: crate::State::to_host
//! [`State::from_host`]: crate::State::from_host

use crate::{state::wrong, EngineError};
use candle_core::{Device, Tensor};
use rayon::prelude::*;
use std::{borrow::Cow, collections::BTreeMap};
use trainyard_program::H256;
use trainyard_protocol::{
	content,
	state::{self, TensorDigest},
};

#[cfg(target_endian = "big")]
compile_error!(
	"hashes and files hold numbers little endian, and the engine reads them from memory as they \
	 lie there; on a big-endian machine they would have to be swapped first"
);

/// A tensor of binary32.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor32 {
	/// Shape, outermost dimension first.
	pub shape: Vec<u32>,
	/// Elements, row major.
	pub data: Vec<f32>,
}

/// Tensors by name, in the order of a state hash: a state, or the parameters of a model.
pub type TensorMap = BTreeMap<String, Tensor32>;

/// Says what [`state_hash`] does about a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NanRule {
	/// Fail, because no honest run has such a state.
	Refuse,
	/// Hash it by its canonical bits, whatever its own are: so a verifier can show that a state with a
	/// NaN was committed to. This holds of hashes that were made by the same rule. What was hashed over
	/// other bits of a NaN is the hash of no state, and nobody can serve one for it.
	Allow,
}

/// Returns the hash of a state, see [`state::state_hash`]. The tensors are hashed in parallel.
/// Fails on a NaN under [`NanRule::Refuse`], and for no other reason.
pub fn state_hash(tensors: &TensorMap, rule: NanRule) -> Result<H256, EngineError> {
	let digests = tensors
		.par_iter()
		.map(|(name, tensor)| digest(name, tensor.shape.clone(), &tensor.data, rule));
	Ok(state::state_hash(digests.collect::<Result<_, _>>()?))
}

/// What a state hash covers of one tensor.
pub(crate) fn digest(
	name: &str,
	shape: Vec<u32>,
	data: &[f32],
	rule: NanRule,
) -> Result<TensorDigest, EngineError> {
	let bytes = canonical_bytes(data);
	// They are copied only where there is a NaN.
	if rule == NanRule::Refuse && matches!(bytes, Cow::Owned(_)) {
		return Err(wrong(name, "it holds a value that is not a number"));
	}
	Ok(TensorDigest::of_f32(name.to_owned(), shape, content_hash(&bytes)))
}

/// Returns the [content hash](content::hash) of a tensor with these bytes. Large ones are hashed on
/// all threads.
pub fn content_hash(bytes: &[u8]) -> H256 {
	/// Below this, threads cost more than they bring (documentation of `Hasher::update_rayon`).
	const LARGE: usize = 128 << 10;
	if bytes.len() < LARGE {
		return content::hash(bytes);
	}
	let mut hasher = blake3::Hasher::new();
	hasher.update_rayon(bytes);
	H256(*hasher.finalize().as_bytes())
}

/// Returns the [content hash](content::hash) of a tensor of these numbers.
pub(crate) fn hash_of(data: &[f32]) -> H256 {
	content_hash(&canonical_bytes(data))
}

/// Returns the name of the first tensor that holds a NaN.
pub fn first_nan(tensors: &TensorMap) -> Option<&str> {
	let mut names = tensors.iter().filter(|(_, tensor)| has_nan(&tensor.data));
	names.next().map(|(name, _)| name.as_str())
}

/// Returns whether a value is NaN.
pub(crate) fn has_nan(data: &[f32]) -> bool {
	/// Elements between two checks of the result. Without checks in between, the compiler compares
	/// whole vectors.
	const STRETCH: usize = 1 << 10;
	data.chunks(STRETCH).any(|x| x.iter().fold(false, |any, x| any | x.is_nan()))
}

/// Returns the bytes of the numbers that are hashed and written to files: those of
/// [`content::le_bytes`], copied only where there is a NaN.
pub fn canonical_bytes(data: &[f32]) -> Cow<'_, [u8]> {
	match has_nan(data) {
		true => Cow::Owned(content::le_bytes(data)),
		false => Cow::Borrowed(raw_bytes(data)),
	}
}

/// Returns the bytes of the numbers as they are, little endian, without a copy. Of numbers that may
/// hold a NaN, hashes and files need [`canonical_bytes`].
pub fn raw_bytes(data: &[f32]) -> &[u8] {
	bytemuck::cast_slice(data)
}

/// Makes candle tensors of these numbers, on the processor. Nothing is copied.
pub(crate) fn to_candle(tensors: TensorMap) -> Result<BTreeMap<String, Tensor>, EngineError> {
	let tensors = tensors.into_iter().map(|(name, Tensor32 { shape, data })| {
		let shape: Vec<usize> = shape.into_iter().map(|extent| extent as usize).collect();
		Ok((name, Tensor::from_vec(data, shape, &Device::Cpu)?))
	});
	tensors.collect()
}

/// Copies the numbers of candle's tensors.
pub(crate) fn from_candle(tensors: &BTreeMap<String, Tensor>) -> Result<TensorMap, EngineError> {
	let tensors = tensors.iter().map(|(name, tensor)| {
		let data = tensor.flatten_all()?.to_vec1()?;
		Ok((name.clone(), Tensor32 { shape: shape_of(name, tensor)?, data }))
	});
	tensors.collect()
}

/// Returns the shape of a tensor, outermost dimension first.
pub(crate) fn shape_of(name: &str, tensor: &Tensor) -> Result<Vec<u32>, EngineError> {
	let shape = tensor.dims().iter().map(|extent| u32::try_from(*extent));
	shape.collect::<Result<_, _>>().map_err(|_| wrong(name, "a dimension is above 2^32"))
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::State;

	fn example() -> TensorMap {
		let tensor = |shape: &[u32], from: f32| Tensor32 {
			shape: shape.to_vec(),
			data: (0..shape.iter().product::<u32>()).map(|i| from + i as f32).collect(),
		};
		[
			("layer.10.bias".to_owned(), tensor(&[3], -1.5)),
			("layer.2.weight".to_owned(), tensor(&[50, 30], 0.25)),
			("scalar \"quoted\"".to_owned(), tensor(&[], 7.0)),
		]
		.into()
	}

	/// The hash as the protocol writes it, one number after the other.
	fn by_hand(tensors: &TensorMap) -> H256 {
		let digests = tensors.iter().map(|(name, tensor)| {
			let content = content::hash(&content::le_bytes(&tensor.data));
			TensorDigest::of_f32(name.clone(), tensor.shape.clone(), content)
		});
		state::state_hash(digests.collect())
	}

	#[test]
	fn both_rules_give_the_hash_of_the_protocol() {
		let tensors = example();
		let expected = by_hand(&tensors);
		for rule in [NanRule::Refuse, NanRule::Allow] {
			assert_eq!(state_hash(&tensors, rule).unwrap(), expected, "{rule:?}");
		}
		let state = State::from_host(tensors.clone()).unwrap();
		assert_eq!(state.hash().unwrap(), expected);
		assert_eq!(state.to_host().unwrap(), tensors);
	}

	#[test]
	fn threads_hash_to_the_same() {
		for len in [0, 1, 1_024, (128 << 10) - 1, 128 << 10, (128 << 10) + 1, 3_000_001] {
			let bytes: Vec<u8> = (0..len).map(|i: u32| (i % 251) as u8).collect();
			assert_eq!(content_hash(&bytes), content::hash(&bytes), "{len} bytes");
		}
	}

	#[test]
	fn every_nan_is_refused_or_hashed_as_the_same() {
		let mut tensors = example();
		assert_eq!(first_nan(&tensors), None);
		// After the first stretch of values that are checked together.
		let values = &mut tensors.get_mut("layer.2.weight").unwrap().data;
		values[1_400] = f32::from_bits(0x7FC0_0001);
		assert_eq!(first_nan(&tensors), Some("layer.2.weight"));
		let error = state_hash(&tensors, NanRule::Refuse).unwrap_err().to_string();
		assert!(error.contains("layer.2.weight"), "{error}");
		let hash = state_hash(&tensors, NanRule::Allow).unwrap();
		assert_eq!(hash, by_hand(&tensors));
		let value = |tensors: &mut TensorMap, x| {
			tensors.get_mut("layer.2.weight").unwrap().data[1_400] = x;
			state_hash(tensors, NanRule::Allow).unwrap()
		};
		for bits in [0x7FC0_0000, 0x7F80_0001, 0xFFFF_FFFF] {
			assert_eq!(value(&mut tensors, f32::from_bits(bits)), hash, "{bits:08X}");
		}
		assert_ne!(value(&mut tensors, f32::INFINITY), hash);
	}

	#[test]
	fn bytes_are_those_of_the_protocol_and_copied_only_for_a_nan() {
		let mut data: Vec<f32> = (0..1_500).map(|i| i as f32 - 7.5).collect();
		data[3] = f32::NEG_INFINITY;
		let bytes = canonical_bytes(&data);
		assert!(matches!(&bytes, Cow::Borrowed(raw) if *raw == raw_bytes(&data)));
		assert_eq!(*bytes, content::le_bytes(&data));
		data[1_400] = f32::from_bits(0xFFC0_0001);
		assert_eq!(raw_bytes(&data)[5_600..5_604], [1, 0, 0xC0, 0xFF]);
		assert_eq!(canonical_bytes(&data)[5_600..5_604], [0, 0, 0xC0, 0x7F]);
		assert_eq!(*canonical_bytes(&data), content::le_bytes(&data));
	}

	#[test]
	fn hashes_see_every_bit_name_and_shape() {
		let hash = |tensors: &TensorMap| state_hash(tensors, NanRule::Refuse).unwrap();
		let tensors = example();
		let mut other = tensors.clone();
		other.get_mut("layer.10.bias").unwrap().data[1] = -0.0;
		let minus = hash(&other);
		other.get_mut("layer.10.bias").unwrap().data[1] = 0.0;
		assert_ne!(minus, hash(&other), "the sign of zero counts");
		let mut other = tensors.clone();
		other.get_mut("layer.2.weight").unwrap().shape = vec![30, 50];
		assert_ne!(hash(&tensors), hash(&other));
		let mut other = tensors.clone();
		let bias = other.remove("layer.10.bias").unwrap();
		other.insert("layer.10.bios".to_owned(), bias);
		assert_ne!(hash(&tensors), hash(&other));
	}

	#[test]
	fn a_shape_that_does_not_fit_its_numbers_is_refused() {
		let mut tensors = example();
		tensors.get_mut("layer.10.bias").unwrap().data.pop();
		assert!(State::from_host(tensors).is_err());
	}
}
