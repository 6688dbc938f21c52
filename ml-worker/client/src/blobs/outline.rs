//! The values of a blob's chunks in the tree over its content: what proves a chunk by itself.

use std::{
	collections::BTreeSet,
	io::{self, Read},
};
use trainyard_protocol::{blob, content::Node, H256};

/// The tree over the content of a blob, down to its chunks: 32 bytes for each. With it every chunk
/// is proved to the chain when it is stored, and checked by itself when it is read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
	root: H256,
	content: H256,
	size: u64,
	values: Vec<H256>,
}

impl Outline {
	/// Reads all of `source` once, chunk by chunk. `size` is its length in bytes, at least 1. Fails
	/// where the source has fewer or more bytes, with [`io::ErrorKind::InvalidData`].
	pub fn of(mut source: impl Read, size: u64) -> io::Result<Self> {
		let chunks = blob::chunk_count(size).filter(|count| *count > 0);
		let chunks = chunks.ok_or_else(|| changed("it is empty, or longer than a blob can be"))?;
		let mut values = Vec::with_capacity(chunks as usize);
		let mut buffer = vec![0; blob::chunk_len(size) as usize];
		for index in 0..chunks {
			let length = blob::chunk_size_at(size, index).unwrap_or_default() as usize;
			let chunk = buffer.get_mut(..length).unwrap_or_default();
			source.read_exact(chunk)?;
			values.push(value(size, index, chunk).ok_or_else(|| changed("it has no such chunk"))?);
		}
		if source.read(&mut [0])? > 0 {
			return Err(changed("it grew while it was read"));
		}
		Self::made(size, values).ok_or_else(|| changed("its tree is not whole"))
	}

	/// Makes the outline of the blob `root` from what somebody says that it is. `None` where these
	/// values do not lead to the root: then one of them, or the size, is wrong.
	pub fn checked(root: H256, size: u64, values: Vec<H256>) -> Option<Self> {
		if blob::chunk_count(size).is_none_or(|count| count as usize != values.len()) {
			return None;
		}
		Self::made(size, values).filter(|outline| outline.root == root)
	}

	fn made(size: u64, values: Vec<H256>) -> Option<Self> {
		let content = Node::whole(size).merge(size, blob::levels(size), &values).ok()?;
		Some(Self { root: blob::root_of(size, &content), content, size, values })
	}

	/// Returns the root of the blob.
	pub fn root(&self) -> H256 {
		self.root
	}

	/// Returns the BLAKE3 hash of the blob.
	pub fn content(&self) -> H256 {
		self.content
	}

	/// Returns the length of the blob in bytes.
	pub fn size(&self) -> u64 {
		self.size
	}

	/// Returns how many chunks the blob has.
	pub fn chunks(&self) -> u32 {
		u32::try_from(self.values.len()).unwrap_or(u32::MAX)
	}

	/// Returns where chunk `index` begins and how many bytes it has; `None` past the last one.
	pub fn place(&self, index: u32) -> Option<(u64, u32)> {
		let length = blob::chunk_size_at(self.size, index)?;
		Some((u64::from(index) * u64::from(blob::chunk_len(self.size)), length))
	}

	/// Returns the path of chunk `index`, by which the chain checks it; `None` past the last one.
	pub fn proof(&self, index: u32) -> Option<Vec<H256>> {
		let (size, levels) = (self.size, blob::levels(self.size));
		Node::whole(size).part_path(size, levels, &self.values, index.into()).ok()
	}

	/// Returns the chunks that `other` has at the same place.
	pub fn same_chunks(&self, other: &Self) -> BTreeSet<u32> {
		let same = |index: &u32| {
			let at = *index as usize;
			blob::is_same_place(self.size, other.size, *index)
				&& self.values.get(at) == other.values.get(at)
		};
		(0..self.chunks()).filter(same).collect()
	}

	/// Returns whether `bytes` are chunk `index`.
	pub fn is_chunk(&self, index: u32, bytes: &[u8]) -> bool {
		let known = self.values.get(index as usize);
		known.is_some() && value(self.size, index, bytes).as_ref() == known
	}
}

/// Returns the value of a chunk as a node of the content.
fn value(size: u64, index: u32, chunk: &[u8]) -> Option<H256> {
	blob::chunk_node(size, index)?.value_of(size, chunk).ok()
}

fn changed(what: &str) -> io::Error {
	io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::blob::Chunked;

	#[test]
	fn an_outline_is_that_of_the_blob_cut_in_memory() {
		for size in [1usize, 4_096, 4_097, 30_000, 262_144, 262_145, 1 << 20] {
			let bytes: Vec<u8> = (0..size).map(|i| (i ^ (i >> 7)) as u8).collect();
			let outline = Outline::of(&bytes[..], size as u64).unwrap();
			let cut = Chunked::new(&bytes);
			assert_eq!((outline.root(), outline.content()), (cut.root, cut.content));
			assert_eq!(outline.chunks() as usize, cut.chunks.len());
			for (index, chunk) in (0..).zip(&cut.chunks) {
				assert_eq!(outline.proof(index), cut.proof(index as usize));
				let (begin, length) = outline.place(index).unwrap();
				assert_eq!(&bytes[begin as usize..][..length as usize], *chunk);
				assert!(outline.is_chunk(index, chunk));
				let mut wrong = chunk.to_vec();
				wrong[0] ^= 1;
				assert!(!outline.is_chunk(index, &wrong));
				assert!(!outline.is_chunk(index, &chunk[1..]));
				assert!(!outline.is_chunk(index + 1, chunk) || outline.proof(index + 1) == None);
			}
			assert_eq!(
				(outline.proof(outline.chunks()), outline.place(outline.chunks())),
				(None, None)
			);
		}
	}

	#[test]
	fn chunks_of_another_blob_are_the_same_at_the_same_place() {
		let bytes: Vec<u8> = (0..30_000u32).map(|i| (i ^ (i >> 7)) as u8).collect();
		let outline = |bytes: &[u8]| Outline::of(bytes, bytes.len() as u64).unwrap();
		let base = outline(&bytes);
		assert_eq!(base.same_chunks(&base), (0..8).collect());
		let mut tuned = bytes.clone();
		tuned[5_000] ^= 1;
		tuned.push(7);
		assert_eq!(outline(&tuned).same_chunks(&base), [0, 2, 3, 4, 5, 6].into());
		// What moved is elsewhere, and chunks of another length begin elsewhere.
		assert_eq!(outline(&bytes[1..]).same_chunks(&base), [].into());
		let zeros = (outline(&[0; 300_000]), outline(&[0; 30_000]));
		assert_eq!(zeros.0.same_chunks(&zeros.1), [].into());
	}

	#[test]
	fn values_that_do_not_lead_to_the_root_are_none() {
		let bytes = vec![7; 30_000];
		let outline = Outline::of(&bytes[..], 30_000).unwrap();
		let Outline { root, values, .. } = outline.clone();
		assert_eq!(Outline::checked(root, 30_000, values.clone()), Some(outline));
		assert_eq!(Outline::checked(root, 30_001, values.clone()), None);
		assert_eq!(Outline::checked(root, 30_000, values[1..].to_vec()), None);
		let mut wrong = values;
		wrong[3].0[0] ^= 1;
		assert_eq!(Outline::checked(root, 30_000, wrong), None);
		assert_eq!(Outline::checked(root, 0, vec![]), None);
	}

	#[test]
	fn a_source_of_another_length_is_refused() {
		let bytes = [1; 100];
		assert_eq!(Outline::of(&bytes[..], 99).unwrap_err().kind(), io::ErrorKind::InvalidData);
		assert_eq!(Outline::of(&bytes[..], 101).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
		assert_eq!(Outline::of(&bytes[..0], 0).unwrap_err().kind(), io::ErrorKind::InvalidData);
	}
}
