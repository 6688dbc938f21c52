//! Names of states, and records of maps.

use crate::{spec::File, H256};
use alloc::vec::Vec;
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use sp_crypto_hashing::blake2_256;
use trainyard_protocol::{blob, content, merkle};

/// Most bytes of what a machine says of a fault.
pub const MAX_FAULT: u32 = 16;
/// Bytes before the output in a record.
pub const RECORD_HEAD: u32 = 4;
/// Length in the head of a record of an index that ended in a fault.
const FAULTY: u32 = u32::MAX;
/// Length in the head of a record whose output is longer than a record may be.
const TOO_LONG: u32 = u32::MAX - 1;

/// What a machine says of a fault, in its own encoding. The same step has the same fault everywhere.
pub type Fault = BoundedVec<u8, ConstU32<MAX_FAULT>>;

/// What is said of a module that may not be executed at all, or computes no such thing. The first byte of a
/// machine's own faults is another.
const REFUSED: u8 = u8::MAX;

/// Returns the result of every step, and every index, of a module that the machine refuses.
pub fn refused() -> Fault {
	Fault::truncate_from(alloc::vec![REFUSED])
}

/// A state, named by what identifies it.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub enum StateId {
	/// These bytes.
	Bytes(File),
	/// A step ended in this fault. So does every step after it.
	Fault(Fault),
}

impl StateId {
	/// Returns the name of what a step came to.
	pub fn of(result: Result<&[u8], &Fault>) -> Self {
		match result {
			Ok(bytes) => Self::Bytes(File::of(bytes)),
			Err(fault) => Self::Fault(fault.clone()),
		}
	}

	/// Returns the hash of a state: `blake2_256(SCALE("trainyard/task/state/v1", state))`.
	pub fn hash(&self) -> H256 {
		(b"trainyard/task/state/v1", self).using_encoded(blake2_256).into()
	}

	/// Returns the leaf of a trace for this state.
	pub fn leaf(&self) -> H256 {
		merkle::leaf(self.hash().as_bytes())
	}

	/// Returns the bytes and their name, where it is no fault.
	pub fn file(&self) -> Option<&File> {
		match self {
			Self::Bytes(file) => Some(file),
			Self::Fault(_) => None,
		}
	}
}

/// The state with which a step begins, as it is brought to be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin<'a> {
	/// These bytes.
	Bytes(&'a [u8]),
	/// A fault, after which nothing is executed.
	Fault(&'a Fault),
}

impl Begin<'_> {
	/// Returns its name.
	pub fn id(&self) -> StateId {
		match self {
			Self::Bytes(bytes) => StateId::of(Ok(bytes)),
			Self::Fault(fault) => StateId::of(Err(fault)),
		}
	}

	/// Returns what comes after it: `execute` of the bytes, or the same fault.
	pub fn after(&self, execute: impl FnOnce(&[u8]) -> Result<Vec<u8>, Fault>) -> StateId {
		match self {
			Self::Bytes(bytes) => StateId::of(execute(bytes).as_deref()),
			Self::Fault(fault) => StateId::of(Err(fault)),
		}
	}
}

/// What a machine is asked to execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call<'a> {
	/// `step` of a state.
	Step {
		/// The state.
		state: &'a [u8],
	},
	/// `map` of an index.
	Map {
		/// The input of the task.
		input: &'a [u8],
		/// The index.
		index: u32,
	},
}

/// Returns the record of what an index came to: the length of the output in four bytes, little endian, the
/// output, and zeros up to `most` bytes of output. Of a fault the length is 2^32 - 1, followed by what of it
/// fits; of a longer output it is 2^32 - 2, followed by zeros.
pub fn record(result: Result<&[u8], &Fault>, most: u32) -> Vec<u8> {
	let most = usize::try_from(most).unwrap_or(usize::MAX);
	let (head, shown) = match result {
		Ok(bytes) if bytes.len() <= most => (u32::try_from(bytes.len()).unwrap_or(TOO_LONG), bytes),
		Ok(_) => (TOO_LONG, &[][..]),
		Err(fault) => (FAULTY, fault.as_slice()),
	};
	let mut record = Vec::with_capacity(most.saturating_add(4));
	record.extend_from_slice(&head.to_le_bytes());
	record.extend(shown.iter().take(most));
	record.resize(most.saturating_add(4), 0);
	record
}

/// Says why records are not those that a file has at an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordError {
	/// The file has no such record.
	NoSuchRecord,
	/// The content hash is not that of the file.
	WrongContent,
	/// What was opened are not the chunks of 1 KiB in which the record is, or they are not of the file.
	WrongOpening,
}

/// Returns the chunks of 1 KiB of the file of all records in which that of an index is: the first, and the
/// one after the last.
pub fn record_chunks(index: u32, most: u32) -> (u64, u64) {
	let width = u64::from(most).saturating_add(RECORD_HEAD.into());
	let begin = width.saturating_mul(index.into());
	let end = begin.saturating_add(width);
	(begin / content::CHUNK_BYTES, end.div_ceil(content::CHUNK_BYTES))
}

/// Returns the record of an index in a file of `count` records, as far as chunks of 1 KiB show it: those of
/// [`record_chunks`], one after the other, and their [siblings](content::open_many). `content` is the
/// content hash from which the root of the file is.
pub fn opened_record(
	file: &File,
	content: &H256,
	(index, count, most): (u32, u32, u32),
	chunks: &[u8],
	siblings: &[H256],
) -> Result<Vec<u8>, RecordError> {
	let width = u64::from(most).saturating_add(RECORD_HEAD.into());
	let size = width.saturating_mul(count.into());
	if index >= count || u64::from(file.bytes) != size {
		return Err(RecordError::NoSuchRecord);
	}
	if blob::root_of(size, content) != file.root {
		return Err(RecordError::WrongContent);
	}
	let (first, _) = record_chunks(index, most);
	let (begin, width) = (width.saturating_mul(index.into()), width as usize);
	let chunk = content::CHUNK_BYTES as usize;
	let parts = (first..).zip(chunks.chunks(chunk));
	content::verify_many(content, size, parts, siblings).map_err(|_| RecordError::WrongOpening)?;
	let from = begin.saturating_sub(first.saturating_mul(content::CHUNK_BYTES)) as usize;
	let to = from.saturating_add(width);
	// What is opened beyond the record is true, and costs only who opens it.
	chunks.get(from..to).map(<[u8]>::to_vec).ok_or(RecordError::WrongOpening)
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	fn fault(bytes: &[u8]) -> Fault {
		bytes.to_vec().try_into().unwrap()
	}

	/// The layout is frozen: clients in other languages build it by hand.
	#[test]
	fn layout() {
		let mut bytes = b"trainyard/task/state/v1".to_vec();
		bytes.push(0);
		bytes.extend([3, 0, 0, 0]);
		let content = content::hash(b"abc");
		let mut root = b"trainyard/blob/v2".to_vec();
		root.extend(3u64.to_le_bytes());
		root.extend(content.as_bytes());
		bytes.extend(blake2_256(&root));
		let state = StateId::of(Ok(b"abc"));
		assert_eq!(state.hash(), H256(blake2_256(&bytes)));
		assert_eq!(state.leaf(), merkle::leaf(state.hash().as_bytes()));

		let mut bytes = b"trainyard/task/state/v1".to_vec();
		bytes.extend([1, 2 << 2, 7, 8]);
		assert_eq!(StateId::of(Err(&fault(&[7, 8]))).hash(), H256(blake2_256(&bytes)));
	}

	#[test]
	fn a_fault_goes_on_for_ever_and_nothing_is_executed() {
		let stuck = fault(&[1]);
		let begin = Begin::Fault(&stuck);
		assert_eq!(begin.after(|_| unreachable!()), begin.id());
		let begin = Begin::Bytes(b"a");
		assert_eq!(begin.after(|bytes| Ok([bytes, b"b"].concat())), StateId::of(Ok(b"ab")));
		assert_eq!(begin.after(|_| Err(stuck.clone())), StateId::of(Err(&stuck)));
	}

	#[test]
	fn records_of_different_results_differ() {
		let results: [Result<&[u8], Fault>; 8] = [
			Ok(&[]),
			Ok(&[0]),
			Ok(&[0, 0]),
			Ok(&[1, 0]),
			Ok(&[0; 8]),
			Ok(&[0; 9]),
			Err(fault(&[])),
			Err(fault(&[1])),
		];
		let records: Vec<_> = results.iter().map(|r| record(r.as_ref().copied(), 8)).collect();
		for (at, one) in records.iter().enumerate() {
			assert_eq!(one.len(), 12);
			assert!(records.iter().skip(at + 1).all(|other| other != one), "{at}");
		}
		assert_eq!(records[3], [2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
		assert_eq!(record(Err(&fault(&[9; 16])), 2), [255, 255, 255, 255, 9, 9]);
	}

	proptest! {
		/// Each record opens as it is, and nothing else does.
		#[test]
		fn records_open(
			most in 1u32..3_000,
			count in 1u32..12,
			pick in any::<u32>(),
			changed in any::<u32>(),
		) {
			let index = pick % count;
			let outputs: Vec<Vec<u8>> =
				(0..count).map(|i| vec![i as u8 + 1; (i * 7919 % most) as usize]).collect();
			let records: Vec<_> = outputs.iter().map(|out| record(Ok(out), most)).collect();
			let all = records.concat();
			let (file, content) = (File::of(&all), content::hash(&all));
			let (first, end) = record_chunks(index, most);
			let siblings = content::open_many(&all, first..end).unwrap();
			let to = (end as usize * 1024).min(all.len());
			let mut chunks = all[first as usize * 1024..to].to_vec();
			let at = (index, count, most);
			let opened = opened_record(&file, &content, at, &chunks, &siblings);
			prop_assert_eq!(opened, Ok(records[index as usize].clone()));
			let other = opened_record(&file, &content, (index, count + 1, most), &chunks, &siblings);
			prop_assert_eq!(other, Err(RecordError::NoSuchRecord));
			let other = opened_record(&file, &H256::zero(), at, &chunks, &siblings);
			prop_assert_eq!(other, Err(RecordError::WrongContent));
			let none = opened_record(&file, &content, at, &[], &siblings);
			prop_assert_eq!(none, Err(RecordError::WrongOpening));
			let changed = changed as usize % chunks.len();
			chunks[changed] ^= 1;
			let other = opened_record(&file, &content, at, &chunks, &siblings);
			prop_assert_eq!(other, Err(RecordError::WrongOpening));
		}
	}
}
