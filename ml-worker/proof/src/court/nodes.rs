//! Values of nodes of large contents, on all threads, and of contents that are not in memory.

use super::RecordError;
use rayon::prelude::*;
use std::borrow::Cow;
use trainyard_court::referee::Chunks;
use trainyard_protocol::{
	content::{self, Node},
	H256,
};

/// Chunks of a piece that one thread hashes at once: 1 MiB.
const PIECE: u64 = 1 << 10;

/// A content by its length and a function that reads `size` bytes from `begin` on.
pub(super) struct Content<R> {
	/// Length in bytes.
	pub bytes: u64,
	/// Reads bytes.
	pub read: R,
}

impl<'a, R> Content<R>
where
	R: Fn(u64, u64) -> Result<Cow<'a, [u8]>, RecordError> + Sync,
{
	/// Returns the value of a node.
	pub fn value(&self, node: Node) -> Result<H256, RecordError> {
		let of = |node: &Node| -> Result<H256, RecordError> {
			let (begin, size) = node.place(self.bytes)?;
			Ok(node.value_of(self.bytes, &(self.read)(begin, size)?)?)
		};
		let levels = node.chunks.div_ceil(PIECE).next_power_of_two().ilog2();
		if levels == 0 {
			return of(&node);
		}
		let parts = node.parts(self.bytes, levels)?;
		let values = parts.par_iter().map(of).collect::<Result<Vec<_>, _>>()?;
		Ok(node.merge(self.bytes, levels, &values)?)
	}

	/// Opens the chunks of these numbers, which ascend.
	pub fn open(&self, numbers: &[u64]) -> Result<Chunks, RecordError> {
		let all = numbers.iter().copied();
		let siblings = content::open_many_by(self.bytes, all, |node| self.value(node))?;
		let mut bytes = Vec::new();
		for number in numbers {
			let (begin, size) = Node { begin: *number, chunks: 1 }.place(self.bytes)?;
			bytes.extend_from_slice(&(self.read)(begin, size)?);
		}
		let numbers = numbers.iter().map(|number| (*number).into()).collect();
		Ok(Chunks { numbers, bytes, siblings })
	}
}

/// Returns a content that is in memory.
pub(super) fn of_bytes<'a>(
	bytes: &'a [u8],
) -> Content<impl Fn(u64, u64) -> Result<Cow<'a, [u8]>, RecordError> + Sync> {
	let read = |begin: u64, size: u64| {
		let end = begin.saturating_add(size).min(bytes.len() as u64);
		Ok(Cow::Borrowed(bytes.get(begin as usize..end as usize).unwrap_or_default()))
	};
	Content { bytes: bytes.len() as u64, read }
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn pieces_come_to_the_values_of_the_whole() {
		for bytes in [1u64, 1_024, 1 << 20, (1 << 20) + 1, (5 << 20) + 700, 9 << 20] {
			let content: Vec<u8> = (0..bytes).map(|i| (i * 7 % 251) as u8).collect();
			let held = of_bytes(&content);
			let whole = Node::whole(bytes);
			assert_eq!(held.value(whole).unwrap(), content::hash(&content), "{bytes}");
			for levels in 1..4 {
				for node in whole.parts(bytes, levels).unwrap() {
					assert_eq!(held.value(node).unwrap(), node.value(&content).unwrap());
				}
			}
			let last = content::chunks(bytes) - 1;
			let mut numbers = vec![0, last / 2, last];
			numbers.dedup();
			let expected = Chunks::open(&content, numbers.iter().copied()).unwrap();
			assert_eq!(held.open(&numbers).unwrap(), expected, "{bytes}");
			assert!(matches!(held.open(&[last + 1]), Err(RecordError::Opening(_))));
		}
	}
}
