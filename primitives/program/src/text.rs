//! Short UTF-8 text on chain: URLs, names of hardware.

use alloc::{string::String, vec::Vec};
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::fmt;
use scale_info::TypeInfo;

/// Longest [`Text`], in bytes.
pub const MAX_TEXT: u32 = 256;

/// At most [`MAX_TEXT`] bytes of text, meant as UTF-8. Nothing on chain depends on it being valid;
/// readers decode it lossily.
#[derive(
	Clone,
	Default,
	PartialEq,
	Eq,
	PartialOrd,
	Ord,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Text(pub BoundedVec<u8, ConstU32<MAX_TEXT>>);

impl Text {
	/// Returns the text of `s`, or `None` when it is longer than [`MAX_TEXT`] bytes.
	pub fn new(s: &str) -> Option<Self> {
		BoundedVec::try_from(Vec::from(s.as_bytes())).ok().map(Self)
	}

	/// Returns the text; bytes that are not UTF-8 read as U+FFFD.
	pub fn to_string_lossy(&self) -> String {
		String::from_utf8_lossy(&self.0).into_owned()
	}

	/// Returns whether there is no text.
	pub fn is_empty(&self) -> bool {
		self.0.is_empty()
	}
}

impl fmt::Debug for Text {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		write!(f, "{:?}", self.to_string_lossy())
	}
}

impl fmt::Display for Text {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(&self.to_string_lossy())
	}
}

impl serde::Serialize for Text {
	fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
		s.serialize_str(&self.to_string_lossy())
	}
}

impl<'de> serde::Deserialize<'de> for Text {
	fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
		let s = String::deserialize(d)?;
		Text::new(&s).ok_or_else(|| {
			serde::de::Error::custom(alloc::format!(
				"text of {} bytes; at most {MAX_TEXT} are allowed",
				s.len()
			))
		})
	}
}

/// Serde of a `u128` as a decimal string: JSON numbers lose digits above 2^53.
pub mod decimal {
	use super::String;
	use serde::{de::Error, Deserialize, Deserializer, Serializer};

	/// Writes `n` as a string.
	pub fn serialize<S: Serializer>(n: &u128, s: S) -> Result<S::Ok, S::Error> {
		s.collect_str(n)
	}

	/// Reads a string of digits.
	pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u128, D::Error> {
		String::deserialize(d)?.parse().map_err(D::Error::custom)
	}
}
