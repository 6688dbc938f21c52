//! The bytes of `model.safetensors` that follow from a specification: header, offsets and length.
//!
//! The root of this file is what a trainer commits to, so the file of a given model has exactly one
//! form: an 8-byte little-endian header length; the header, JSON without spaces, tensors in ascending
//! bytewise order of name, each `"name":{"dtype":"F32","shape":[..],"data_offsets":[from,to]}`, padded
//! with spaces to a multiple of 8; then the tensors' little-endian bytes, row major, every NaN as
//! `7FC00000`, in the same order without gaps. Every safetensors reader reads it. Checkpoints have the
//! same form.

use alloc::{string::String, vec::Vec};
use core::fmt::{self, Write};
use trainyard_program::{
	lower::{self, OPTIMIZER_PREFIX},
	spec::CheckedSpec,
};

/// A tensor in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorPlace {
	/// Name of the tensor.
	pub name: String,
	/// Shape, outermost dimension first.
	pub shape: Vec<u32>,
	/// Byte of the file at which its elements begin.
	pub begin: u64,
	/// Bytes of its elements, 4 for each.
	pub bytes: u64,
}

/// What a file consists of before the values of its tensors are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
	/// The first bytes: length of the header, header, spaces.
	pub header: Vec<u8>,
	/// The tensors in the order of the file, from the end of the header to the end of the file.
	pub tensors: Vec<TensorPlace>,
	/// Length of the file in bytes.
	pub size: u64,
}

/// What a part of a file is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
	/// The [header](Layout::header).
	Header,
	/// The tensor of this index in [`Layout::tensors`].
	Tensor(usize),
}

/// Bytes of a file that have one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
	/// What they are a part of.
	pub source: Source,
	/// Where they begin in it, in bytes.
	pub begin: u64,
	/// How many they are, at least 1.
	pub bytes: u64,
}

impl Layout {
	/// Returns the layout of the model file of this job: its parameters alone, without what the
	/// optimizer keeps.
	pub fn of(spec: &CheckedSpec) -> Self {
		let mut parameters = lower::state(spec);
		parameters.retain(|tensor| !tensor.name.starts_with(OPTIMIZER_PREFIX));
		parameters.sort_by(|a, b| a.name.cmp(&b.name));
		Self::new(parameters.into_iter().map(|tensor| (tensor.name, tensor.shape)))
	}

	/// Returns the layout of a file with tensors of these names and shapes, which must come in
	/// ascending order of name. Lengths of 2^64 bytes or more, which no job and no memory has,
	/// saturate.
	pub fn new(tensors: impl IntoIterator<Item = (String, Vec<u32>)>) -> Self {
		let mut text = String::from("{");
		let (mut placed, mut offset) = (Vec::new(), 0u64);
		for (name, shape) in tensors {
			let bytes = shape.iter().fold(4u64, |bytes, n| bytes.saturating_mul((*n).into()));
			let end = offset.saturating_add(bytes);
			let comma = if placed.is_empty() { "" } else { "," };
			let (key, sizes) = (Quoted(&name), Commas(&shape));
			// Writing to a string does not fail.
			let _ = write!(
				text,
				r#"{comma}{key}:{{"dtype":"F32","shape":[{sizes}],"data_offsets":[{offset},{end}]}}"#
			);
			placed.push(TensorPlace { name, shape, begin: offset, bytes });
			offset = end;
		}
		text.push('}');
		while !text.len().is_multiple_of(8) {
			text.push(' ');
		}
		let mut header = Vec::with_capacity(text.len().saturating_add(8));
		header.extend_from_slice(&(text.len() as u64).to_le_bytes());
		header.extend_from_slice(text.as_bytes());
		let first = header.len() as u64;
		for tensor in &mut placed {
			tensor.begin = tensor.begin.saturating_add(first);
		}
		Self { header, tensors: placed, size: offset.saturating_add(first) }
	}

	/// Returns what makes up the bytes of the file from `begin` on, `bytes` or what there is, in their
	/// order and without gaps.
	pub fn parts(&self, begin: u64, bytes: u64) -> Vec<Part> {
		let end = begin.saturating_add(bytes);
		let tensors = self.tensors.iter().enumerate();
		let tensors = tensors.map(|(at, t)| (Source::Tensor(at), t.begin, t.bytes));
		let header = (Source::Header, 0, self.header.len() as u64);
		let common = |(source, first, length): (Source, u64, u64)| {
			let (from, to) = (begin.max(first), end.min(first.saturating_add(length)));
			let bytes = to.checked_sub(from).filter(|bytes| *bytes > 0)?;
			Some(Part { source, begin: from.saturating_sub(first), bytes })
		};
		core::iter::once(header).chain(tensors).filter_map(common).collect()
	}
}

/// A string of JSON in quotation marks, escaped where JSON demands it.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_char('"')?;
		for c in self.0.chars() {
			match c {
				'"' | '\\' => write!(f, "\\{c}")?,
				'\u{8}' => f.write_str("\\b")?,
				'\t' => f.write_str("\\t")?,
				'\n' => f.write_str("\\n")?,
				'\u{c}' => f.write_str("\\f")?,
				'\r' => f.write_str("\\r")?,
				'\0'..'\u{20}' => write!(f, "\\u{:04x}", u32::from(c))?,
				_ => f.write_char(c)?,
			}
		}
		f.write_char('"')
	}
}

/// Numbers with commas between them.
struct Commas<'a>(&'a [u32]);

impl fmt::Display for Commas<'_> {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		for (at, number) in self.0.iter().enumerate() {
			let comma = if at == 0 { "" } else { "," };
			write!(f, "{comma}{number}")?;
		}
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::spec::{JobSpec, Optimizer};

	fn layout(tensors: &[(&str, &[u32])]) -> Layout {
		Layout::new(tensors.iter().map(|(name, shape)| (String::from(*name), shape.to_vec())))
	}

	#[test]
	fn the_bytes_are_frozen() {
		let found = layout(&[("a.bias", &[3]), ("b", &[]), ("b.weight", &[2, 3])]);
		let text = concat!(
			r#"{"a.bias":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"#,
			r#""b":{"dtype":"F32","shape":[],"data_offsets":[12,16]},"#,
			r#""b.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[16,40]}}      "#,
		);
		assert_eq!(text.len(), 184);
		assert_eq!(found.header, [&[184, 0, 0, 0, 0, 0, 0, 0], text.as_bytes()].concat());
		let places: Vec<_> = found.tensors.iter().map(|t| (t.begin, t.bytes)).collect();
		assert_eq!(places, [(192, 12), (204, 4), (208, 24)]);
		assert_eq!(found.size, 232);

		let empty = layout(&[]);
		assert_eq!(empty.header, b"\x08\0\0\0\0\0\0\0{}      ");
		assert_eq!((empty.tensors.len(), empty.size), (0, 16));
		assert_eq!(layout(&[("x", &[u32::MAX; 9])]).size, u64::MAX);
	}

	#[test]
	fn names_are_escaped_as_in_json() {
		let name: String =
			(0..0x80u8).map(char::from).chain("é\u{2028}\u{1F600}".chars()).collect();
		let quoted = alloc::format!("{}", Quoted(&name));
		assert_eq!(quoted, serde_json::to_string(&name).unwrap());
	}

	#[test]
	fn the_model_file_of_the_example() {
		let mut spec = JobSpec::example();
		let found = Layout::of(&spec.clone().check().unwrap());
		let names: Vec<_> = found.tensors.iter().map(|t| (t.name.as_str(), &t.shape[..])).collect();
		let expected: [(&str, &[u32]); 6] = [
			("layers.0.bias", &[64]),
			("layers.0.weight", &[64, 64]),
			("layers.1.bias", &[32]),
			("layers.1.weight", &[32, 64]),
			("layers.2.bias", &[10]),
			("layers.2.weight", &[10, 32]),
		];
		assert_eq!(names, expected);
		assert_eq!(found.header.len() % 8, 0);
		assert_eq!(found.size, found.header.len() as u64 + 4 * 6_570);
		// What the optimizer keeps is no part of it.
		spec.training.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: false };
		assert_eq!(Layout::of(&spec.check().unwrap()), found);
	}

	#[test]
	fn parts_cover_what_is_asked_for() {
		let found = Layout::of(&JobSpec::example().check().unwrap());
		let header = found.header.len() as u64;
		assert_eq!(found.parts(0, u64::MAX).iter().map(|part| part.bytes).sum::<u64>(), found.size);
		for begin in 0..header + 300 {
			let parts = found.parts(begin, 1_024);
			assert_eq!(parts.iter().map(|part| part.bytes).sum::<u64>(), 1_024);
			let mut at = begin;
			for part in parts {
				let first = match part.source {
					Source::Header => 0,
					Source::Tensor(index) => found.tensors[index].begin,
				};
				assert_eq!(first + part.begin, at);
				at += part.bytes;
			}
		}
		let tensor = |index, begin, bytes| Part { source: Source::Tensor(index), begin, bytes };
		let first = Part { source: Source::Header, begin: header - 4, bytes: 4 };
		let expected = [first, tensor(0, 0, 256), tensor(1, 0, 4)];
		assert_eq!(found.parts(header - 4, 264), expected);
		assert_eq!(found.parts(found.size - 8, 1_024), [tensor(5, 10 * 32 * 4 - 8, 8)]);
		assert!(found.parts(found.size, 1).is_empty());
		assert!(found.parts(u64::MAX, u64::MAX).is_empty());
		assert!(found.parts(5, 0).is_empty());
	}
}
