//! Merkle trees after RFC 6962, section 2.1, with blake2b-256: a leaf is hashed after the byte
//! 0x00, a node after 0x01, and an odd node is promoted.

use crate::H256;
use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode};
use scale_info::TypeInfo;
use sp_crypto_hashing::blake2_256;

/// Longest inclusion proof that is accepted: 2^32 leaves.
pub const MAX_PROOF: usize = 32;

/// Returns the hash of a leaf with content `data`.
pub fn leaf(data: &[u8]) -> H256 {
	let mut bytes = Vec::with_capacity(data.len().saturating_add(1));
	bytes.push(0);
	bytes.extend_from_slice(data);
	blake2_256(&bytes).into()
}

/// Returns the hash of the node over `left` and `right`.
pub fn node(left: &H256, right: &H256) -> H256 {
	let mut bytes = [1u8; 65];
	let (_, rest) = bytes.split_at_mut(1);
	let (l, r) = rest.split_at_mut(32);
	l.copy_from_slice(left.as_bytes());
	r.copy_from_slice(right.as_bytes());
	blake2_256(&bytes).into()
}

fn level_up(level: &[H256]) -> Vec<H256> {
	level
		.chunks(2)
		.filter_map(|pair| match pair {
			[left, right] => Some(node(left, right)),
			[odd] => Some(*odd),
			_ => None,
		})
		.collect()
}

/// Returns the root over leaf hashes. The root of no leaves is the hash of the empty string.
pub fn root(leaves: &[H256]) -> H256 {
	let mut level = leaves.to_vec();
	while level.len() > 1 {
		level = level_up(&level);
	}
	level.first().copied().unwrap_or_else(|| blake2_256(&[]).into())
}

/// Returns the inclusion proof of leaf `index`, from the leaf upwards; `None` when there is no such
/// leaf.
pub fn proof(leaves: &[H256], index: usize) -> Option<Vec<H256>> {
	leaves.get(index)?;
	let (mut level, mut at, mut path) = (leaves.to_vec(), index, Vec::new());
	while level.len() > 1 {
		if let Some(sibling) = level.get(at ^ 1) {
			path.push(*sibling);
		}
		level = level_up(&level);
		at /= 2;
	}
	Some(path)
}

/// Returns whether `proof` shows that leaf hash `leaf` is at `index` in the tree of `count` leaves
/// with this `root`. A proof with entries missing or left over is refused.
pub fn verify(root: &H256, leaf: &H256, index: u32, count: u32, proof: &[H256]) -> bool {
	root_by(leaf, index, count, proof).is_some_and(|found| found == *root)
}

/// Returns the root of the tree of `count` leaves in which `proof` leads from leaf hash `leaf` at
/// `index` upwards; `None` where there is no such leaf or `proof` has entries missing or left over.
pub fn root_by(leaf: &H256, index: u32, count: u32, proof: &[H256]) -> Option<H256> {
	if index >= count || proof.len() > MAX_PROOF {
		return None;
	}
	let (mut hash, mut at, mut last) = (*leaf, index, count.saturating_sub(1));
	let mut path = proof.iter();
	while last > 0 {
		if at % 2 == 1 {
			hash = node(path.next()?, &hash);
		} else if at < last {
			hash = node(&hash, path.next()?);
		}
		at /= 2;
		last /= 2;
	}
	path.next().is_none().then_some(hash)
}

/// Returns the hashes beside the leaves at `indices` and what lies above them, by which
/// [`root_by_many`] leads from these leaves to the root: level by level from the leaves upwards, from
/// left to right, each once. `None` unless the indices are ascending and of leaves.
pub fn proof_many(leaves: &[H256], indices: &[u32]) -> Option<Vec<H256>> {
	let ascending = indices.iter().zip(indices.iter().skip(1)).all(|(a, b)| a < b);
	let exist = indices.iter().all(|at| usize::try_from(*at).is_ok_and(|at| at < leaves.len()));
	let (mut level, mut known, mut siblings) = (leaves.to_vec(), indices.to_vec(), Vec::new());
	if !ascending || !exist || known.is_empty() {
		return None;
	}
	while level.len() > 1 {
		for at in &known {
			let beside = at ^ 1;
			if known.binary_search(&beside).is_err() {
				siblings.extend(level.get(usize::try_from(beside).ok()?));
			}
		}
		known.iter_mut().for_each(|at| *at /= 2);
		known.dedup();
		level = level_up(&level);
	}
	Some(siblings)
}

/// Returns the root of the tree of `count` leaves that has these leaf hashes at these indices and the
/// `siblings` that [`proof_many`] returns beside them; `None` unless the indices are ascending and below
/// `count` and there are just as many siblings. Of other leaves at the same indices, the same siblings
/// lead to the root of the tree that is equal everywhere else.
pub fn root_by_many(leaves: &[(u32, H256)], count: u32, siblings: &[H256]) -> Option<H256> {
	let ascending = leaves.iter().zip(leaves.iter().skip(1)).all(|((a, _), (b, _))| a < b);
	let (mut last, mut level) = (count.checked_sub(1)?, leaves.to_vec());
	if !ascending || level.last().is_none_or(|(at, _)| *at > last) {
		return None;
	}
	let mut siblings = siblings.iter();
	while last > 0 {
		let mut known = level.into_iter().peekable();
		let mut up = Vec::with_capacity(known.len());
		while let Some((at, hash)) = known.next() {
			let above = if at % 2 == 1 {
				node(siblings.next()?, &hash)
			} else if at == last {
				hash
			} else if let Some((_, right)) = known.next_if(|(next, _)| *next == at | 1) {
				node(&hash, &right)
			} else {
				node(&hash, siblings.next()?)
			};
			up.push((at / 2, above));
		}
		level = up;
		last /= 2;
	}
	let root = level.first().map(|(_, root)| *root);
	root.filter(|_| siblings.next().is_none())
}

/// The right edge of a tree of `count` leaves that grows: all that is needed to go on.
///
/// It has the roots of the complete subtrees, one for each binary digit 1 of `count`, the largest
/// first. A prefix root is the [`root`] of the first leaves of a list. Whoever knows it and is shown
/// the frontier under it can compute the prefix root after the next leaf, and after any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct Frontier {
	/// Leaves so far.
	pub count: u32,
	/// The roots of the complete subtrees, the largest first.
	pub peaks: Vec<H256>,
}

impl Frontier {
	/// Returns the frontier of no leaves.
	pub fn new() -> Self {
		Self::default()
	}

	/// Returns the frontier of these leaves.
	pub fn of<'a>(leaves: impl IntoIterator<Item = &'a H256>) -> Option<Self> {
		let mut frontier = Self::new();
		leaves.into_iter().try_for_each(|leaf| frontier.push(*leaf))?;
		Some(frontier)
	}

	/// Returns whether it has as many peaks as `count` has binary digits 1. One that was decoded need
	/// not, and none of its roots means anything then.
	pub fn is_whole(&self) -> bool {
		u32::try_from(self.peaks.len()) == Ok(self.count.count_ones())
	}

	/// Returns the [`root`] over the leaves so far.
	pub fn root(&self) -> H256 {
		let mut peaks = self.peaks.iter().rev();
		let last = peaks.next().copied().unwrap_or_else(|| root(&[]));
		peaks.fold(last, |right, left| node(left, &right))
	}

	/// Adds a leaf. `None`, and nothing changes, where `count` has no successor or the frontier is not
	/// [whole](Self::is_whole).
	pub fn push(&mut self, leaf: H256) -> Option<()> {
		let count = self.count.checked_add(1).filter(|_| self.is_whole())?;
		let mut hash = leaf;
		// A subtree is complete with this leaf for each digit 1 at the end of the count.
		for _ in 0..self.count.trailing_ones() {
			hash = node(&self.peaks.pop()?, &hash);
		}
		self.peaks.push(hash);
		self.count = count;
		Some(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	fn leaves(n: usize) -> Vec<H256> {
		(0..n).map(|i| leaf(&(i as u64).to_le_bytes())).collect()
	}

	/// Computes the root by the recursive definition of RFC 6962: split at the largest power of two
	/// below n.
	fn rfc6962(leaves: &[H256]) -> H256 {
		match leaves.len() {
			0 => blake2_256(&[]).into(),
			1 => leaves[0],
			n => {
				let k = n.next_power_of_two() / 2;
				node(&rfc6962(&leaves[..k]), &rfc6962(&leaves[k..]))
			}
		}
	}

	#[test]
	fn equals_the_recursive_definition() {
		for n in 0..70 {
			assert_eq!(root(&leaves(n)), rfc6962(&leaves(n)), "{n} leaves");
		}
	}

	#[test]
	fn a_frontier_has_the_root_after_every_leaf() {
		let mut frontier = Frontier::new();
		for n in 0..140usize {
			assert_eq!(frontier.root(), root(&leaves(n)), "{n} leaves");
			assert_eq!(frontier.peaks.len() as u32, (n as u32).count_ones());
			assert!(frontier.is_whole());
			assert_eq!(Frontier::of(&leaves(n)), Some(frontier.clone()));
			let bytes = frontier.encode();
			assert_eq!(Frontier::decode(&mut &bytes[..]), Ok(frontier.clone()));
			frontier.push(leaves(n + 1)[n]).unwrap();
		}
	}

	#[test]
	fn a_frontier_that_is_not_whole_takes_nothing() {
		for (count, peaks) in [(0, 1), (1, 0), (3, 1), (4, 2), (u32::MAX, 31), (u32::MAX, 32)] {
			let mut frontier = Frontier { count, peaks: vec![H256::zero(); peaks] };
			assert_eq!(frontier.is_whole(), peaks as u32 == count.count_ones());
			let before = frontier.clone();
			assert_eq!((frontier.push(H256::zero()), frontier), (None, before));
		}
	}

	proptest! {
		/// The same siblings lead to both of two trees that differ in these leaves alone.
		#[test]
		fn some_leaves_have_a_proof_together(n in 1u32..150, seed in any::<u64>()) {
			let mut all = leaves(n as usize);
			let mut indices: Vec<u32> = (0..n).filter(|at| seed >> (at % 61) & 1 == 1).collect();
			indices.push(seed as u32 % n);
			indices.sort();
			indices.dedup();
			let siblings = proof_many(&all, &indices).unwrap();
			let of = |all: &[H256]| -> Vec<(u32, H256)> {
				indices.iter().map(|at| (*at, all[*at as usize])).collect()
			};
			prop_assert_eq!(root_by_many(&of(&all), n, &siblings), Some(root(&all)));
			let mut longer = siblings.clone();
			longer.push(all[0]);
			prop_assert_eq!(root_by_many(&of(&all), n, &longer), None);
			if let Some((_, shorter)) = siblings.split_last() {
				prop_assert_eq!(root_by_many(&of(&all), n, shorter), None);
			}
			prop_assert_eq!(root_by_many(&of(&all), indices[indices.len() - 1], &siblings), None);
			let before = of(&all);
			for at in &indices {
				all[*at as usize] = leaf(b"other");
			}
			prop_assert_eq!(root_by_many(&of(&all), n, &siblings), Some(root(&all)));
			// A leaf that is not among them cannot change.
			if let Some(other) = (0..n).find(|at| !indices.contains(at)) {
				all[other as usize] = leaf(b"a third");
				prop_assert_ne!(root_by_many(&of(&all), n, &siblings), Some(root(&all)));
			}
			let mut turned = before;
			turned.reverse();
			if turned.len() > 1 {
				prop_assert_eq!(root_by_many(&turned, n, &siblings), None);
			}
		}

		#[test]
		fn every_leaf_has_a_proof_and_no_other(n in 1usize..200, pick in any::<usize>(), other in any::<usize>()) {
			let all = leaves(n);
			let r = root(&all);
			let (i, j) = (pick % n, other % n);
			let p = proof(&all, i).unwrap();
			prop_assert!(verify(&r, &all[i], i as u32, n as u32, &p));
			if i != j {
				prop_assert!(!verify(&r, &all[j], i as u32, n as u32, &p));
				prop_assert!(!verify(&r, &all[i], j as u32, n as u32, &p));
			}
			prop_assert_eq!(root_by(&all[i], i as u32, n as u32, &p), Some(r));
			let mut longer = p.clone();
			longer.push(r);
			prop_assert!(!verify(&r, &all[i], i as u32, n as u32, &longer));
			if let Some((_, shorter)) = p.split_last() {
				prop_assert!(!verify(&r, &all[i], i as u32, n as u32, shorter));
			}
			prop_assert!(!verify(&r, &all[i], n as u32, n as u32, &p));
		}
	}
}
