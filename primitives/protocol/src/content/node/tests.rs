use super::*;
use blake3::hazmat::{left_subtree_len, merge_subtrees_non_root, Mode};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn input(bytes: u64) -> Vec<u8> {
	(0..bytes).map(|i| (i % 251) as u8).collect()
}

/// Lengths around chunks and powers of two of chunks.
fn lengths() -> impl Iterator<Item = u64> {
	let counts = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 96, 127, 128, 129, 200];
	counts.into_iter().flat_map(|n| [1_024 * n - 1_023, 1_024 * n - 1, 1_024 * n])
}

/// All nodes of the tree, split by the rule of BLAKE3, with their values.
fn nodes(content: &[u8]) -> Vec<(Node, H256)> {
	fn split(begin: u64, bytes: &[u8], found: &mut Vec<(Node, H256)>) -> [u8; 32] {
		let length = bytes.len() as u64;
		let value = if length <= 1_024 {
			subtree(begin, bytes)
		} else {
			let (left, right) = bytes.split_at(left_subtree_len(length) as usize);
			let right_begin = begin + left.len() as u64;
			let (left, right) = (split(begin, left, found), split(right_begin, right, found));
			merge_subtrees_non_root(&left, &right, Mode::Hash)
		};
		found.push((Node { begin: begin / 1_024, chunks: length.div_ceil(1_024) }, H256(value)));
		value
	}
	let mut found = Vec::new();
	split(0, content, &mut found);
	// The last one that was found is the root.
	if let Some((_, value)) = found.last_mut() {
		*value = H256(*blake3::hash(content).as_bytes());
	}
	found
}

#[test]
fn the_nodes_are_those_of_the_tree() {
	for bytes in lengths() {
		let content = input(bytes);
		let nodes = nodes(&content);
		for (node, value) in &nodes {
			assert_eq!(node.value(&content), Ok(*value), "{node:?} of {bytes} bytes");
		}
		let nodes: BTreeSet<Node> = nodes.into_iter().map(|(node, _)| node).collect();
		let count = chunks(bytes);
		for begin in 0..=count + 1 {
			for chunks in 0..=count + 1 {
				let node = Node { begin, chunks };
				assert_eq!(node.exists(bytes), nodes.contains(&node), "{node:?} of {bytes} bytes");
			}
		}
		assert_eq!(Node::whole(bytes).value(&content), Ok(hash(&content)));
	}
}

#[test]
fn parts_cover_their_node_and_merge_to_it() {
	for bytes in lengths() {
		let content = input(bytes);
		for (node, value) in nodes(&content) {
			for levels in [0, 1, 2, 3, 6, 7, 63, 64, u32::MAX] {
				let parts = node.parts(bytes, levels).unwrap();
				assert!(levels > 10 || parts.len() <= 1 << levels);
				let mut end = node.begin;
				for part in &parts {
					assert!(part.exists(bytes));
					assert_eq!(part.begin, end);
					end += part.chunks;
				}
				assert_eq!(end, node.begin + node.chunks);
				let values: Vec<_> = parts.iter().map(|p| p.value(&content).unwrap()).collect();
				let found = node.merge(bytes, levels, &values);
				assert_eq!(found, Ok(value), "{node:?} of {bytes} bytes, {levels} levels");
				for (at, part) in (0..).zip(&parts).filter(|(at, _)| at % 7 == 0) {
					let mut path = node.part_path(bytes, levels, &values, at).unwrap();
					path.extend(node.open(&content).unwrap());
					assert_eq!(part.open(&content), Ok(path));
				}
				let past = node.part_path(bytes, levels, &values, values.len() as u64);
				assert_eq!(past, Err(OpeningError::NoSuchNode));
				let fewer = node.part_path(bytes, levels, &values[1..], 0);
				assert_eq!(fewer, Err(OpeningError::ValueCount));
			}
			assert_eq!(node.parts(bytes, 0), Ok(vec![node]));
		}
	}
}

#[test]
fn the_parts_of_some_nodes() {
	let parts = |chunks: u64, levels| -> Vec<(u64, u64)> {
		let parts = Node::whole(chunks * 1_024).parts(chunks * 1_024, levels).unwrap();
		parts.iter().map(|node| (node.begin, node.chunks)).collect()
	};
	assert_eq!(parts(5, 1), [(0, 4), (4, 1)]);
	assert_eq!(parts(5, 2), [(0, 2), (2, 2), (4, 1)]);
	assert_eq!(parts(6, 2), [(0, 2), (2, 2), (4, 2)]);
	assert_eq!(parts(7, 2), [(0, 2), (2, 2), (4, 2), (6, 1)]);
	assert_eq!(parts(64, 6).len(), 64);
	assert_eq!((parts(65, 6).len(), parts(65, 6)[32]), (33, (64, 1)));
	assert_eq!((parts(4_096, 6).len(), parts(4_096, 6)[1]), (64, (64, 64)));
	// Six levels at a time lead to a chunk in as many rounds as 64 must be multiplied.
	for (chunks, rounds) in [(1, 0), (64, 1), (65, 2), (4_096, 2), (4_097, 3), (1 << 24, 4)] {
		let (bytes, mut found) = (chunks * 1_024, 0);
		let mut node = Node::whole(bytes);
		while node.chunks > 1 {
			node = node.parts(bytes, 6).unwrap()[0];
			found += 1;
		}
		assert_eq!(found, rounds, "{chunks} chunks");
	}
}

#[test]
fn what_is_no_node_is_refused() {
	let content = input(5 * 1_024);
	let no_node = Err(OpeningError::NoSuchNode);
	for (begin, chunks) in [
		(0, 0),
		(0, 3),
		(0, 6),
		(1, 2),
		(2, 3),
		(4, 2),
		(5, 1),
		(4, 0),
		(u64::MAX, 1),
		(1, u64::MAX),
		(0, u64::MAX),
		(u64::MAX, u64::MAX),
	] {
		let node = Node { begin, chunks };
		assert!(!node.exists(5_120));
		assert_eq!(node.place(5_120), Err(OpeningError::NoSuchNode));
		assert_eq!(node.parts(5_120, 6), Err(OpeningError::NoSuchNode));
		assert_eq!(node.merge(5_120, 6, &[]), no_node);
		assert_eq!(node.value(&content), no_node);
		assert_eq!(node.value_of(5_120, &content), no_node);
		assert_eq!(node.open(&content), Err(OpeningError::NoSuchNode));
		let found = node.verify(&H256::zero(), 5_120, &H256::zero(), &[]);
		assert_eq!(found, Err(OpeningError::NoSuchNode));
	}
	assert!(!Node::whole(0).exists(0));
	assert_eq!(Node::whole(0).value(&[]), no_node);
}

/// Numbers near the end of their range do not overflow.
#[test]
fn the_longest_content_has_nodes() {
	let bytes = u64::MAX;
	let whole = Node::whole(bytes);
	assert_eq!((whole.begin, whole.chunks), (0, 1 << 54));
	assert_eq!(whole.place(bytes), Ok((0, bytes)));
	assert_eq!(whole.parts(bytes, 6).unwrap().len(), 64);
	let values = [H256::zero(); 64];
	assert!(whole.merge(bytes, 6, &values).is_ok());
	for length in [0, 63, 65] {
		let values = vec![H256::zero(); length];
		assert_eq!(whole.merge(bytes, 6, &values), Err(OpeningError::ValueCount));
	}
	// All chunks of it are not asked for: their number does not fit the values.
	assert_eq!(whole.merge(bytes, 64, &values), Err(OpeningError::ValueCount));
	let last = Node { begin: (1 << 54) - 1, chunks: 1 };
	assert_eq!(last.place(bytes), Ok((bytes - 1_023, 1_023)));
	for (length, error) in [
		(53, OpeningError::SiblingCount),
		(54, OpeningError::Root),
		(55, OpeningError::SiblingCount),
	] {
		let path = vec![H256::zero(); length];
		assert_eq!(last.verify(&H256::zero(), bytes, &H256::zero(), &path), Err(error));
	}
}

/// A node between root and chunks has another value as a content of its own.
#[test]
fn a_node_is_no_content() {
	let content = input(4_096);
	let left = Node { begin: 0, chunks: 2 };
	assert_ne!(left.value(&content), Node::whole(2_048).value(&content[..2_048]));
	let same = vec![7; 4_096];
	let right = Node { begin: 2, chunks: 2 };
	assert_ne!(left.value(&same), right.value(&same));
}

proptest! {
	#[test]
	fn whatever_is_changed_gives_another_value_or_is_refused(
		bytes in 1u64..140_000,
		pick in any::<usize>(),
		levels in 0u32..9,
		place in any::<usize>(),
		bit in 0u8..8,
	) {
		let content = input(bytes);
		let root = hash(&content);
		let nodes = nodes(&content);
		let (node, value) = nodes[pick % nodes.len()];
		let parts = node.parts(bytes, levels).unwrap();
		let values: Vec<_> = parts.iter().map(|part| part.value(&content).unwrap()).collect();
		prop_assert_eq!(node.merge(bytes, levels, &values), Ok(value));
		let bend = |change: &dyn Fn(&mut Vec<H256>)| {
			let mut bent = values.clone();
			change(&mut bent);
			node.merge(bytes, levels, &bent)
		};
		let at = place % values.len();
		let byte = place / 256 % 32;
		prop_assert_ne!(bend(&|bent| bent[at].0[byte] ^= 1 << bit), Ok(value));
		prop_assert_eq!(bend(&|bent| bent.truncate(at)), Err(OpeningError::ValueCount));
		prop_assert_eq!(bend(&|bent| bent.insert(at, root)), Err(OpeningError::ValueCount));
		prop_assert_eq!(bend(&|bent| bent.clear()), Err(OpeningError::ValueCount));
		if at > 0 {
			prop_assert_ne!(bend(&|bent| bent.swap(at - 1, at)), Ok(value));
		}

		let path = node.open(&content).unwrap();
		prop_assert_eq!(node.verify(&root, bytes, &value, &path), Ok(()));
		if node.chunks == 1 {
			let chunk = super::super::open(&content, node.begin).unwrap();
			prop_assert_eq!(&path, &chunk);
		}
		let (begin, size) = node.place(bytes).unwrap();
		let own = &content[begin as usize..(begin + size) as usize];
		prop_assert_eq!(node.value_of(bytes, own), Ok(value));
		let mut other = own.to_vec();
		let at = place % other.len();
		other[at] ^= 1 << bit;
		let changed = node.value_of(bytes, &other).unwrap();
		prop_assert_eq!(node.verify(&root, bytes, &changed, &path), Err(OpeningError::Root));
		prop_assert_eq!(node.value_of(bytes, &own[1..]), Err(OpeningError::ChunkLength));
		other.push(0);
		prop_assert_eq!(node.value_of(bytes, &other), Err(OpeningError::ChunkLength));

		let mut other = root;
		other.0[byte] ^= 1 << bit;
		prop_assert_eq!(node.verify(&other, bytes, &value, &path), Err(OpeningError::Root));
		let longer = [&path[..], &[root]].concat();
		prop_assert_eq!(node.verify(&root, bytes, &value, &longer), Err(OpeningError::SiblingCount));
		if let Some(shorter) = path.get(1..) {
			let found = node.verify(&root, bytes, &value, shorter);
			prop_assert_eq!(found, Err(OpeningError::SiblingCount));
			let mut other = path.clone();
			other[place % path.len()].0[byte] ^= 1 << bit;
			prop_assert_eq!(node.verify(&root, bytes, &value, &other), Err(OpeningError::Root));
		}
		// No other node is opened by this.
		for (other, _) in nodes.iter().filter(|(other, _)| *other != node) {
			prop_assert!(other.verify(&root, bytes, &value, &path).is_err(), "{:?}", other);
		}
	}
}
