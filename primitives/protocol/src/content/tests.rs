use super::*;
use blake3::hazmat::left_subtree_len;
use proptest::{collection::btree_set, prelude::*};
use std::collections::BTreeSet;

/// Input of the official vectors of BLAKE3: 0, 1, …, 250, 0, 1, …
fn input(bytes: usize) -> Vec<u8> {
	(0..bytes).map(|i| (i % 251) as u8).collect()
}

/// Opens every chunk of a content of so many bytes, and returns it with root and paths.
fn opened(bytes: usize) -> (Vec<u8>, H256, Vec<Vec<H256>>) {
	let content = input(bytes);
	let root = hash(&content);
	let count = chunks(bytes as u64);
	assert_eq!(count as usize, content.chunks(1_024).count());
	let paths = (0..count).map(|index| open(&content, index).unwrap()).collect();
	for past in [count, count + 1, u64::MAX / 1_024, u64::MAX] {
		assert_eq!(open(&content, past), Err(OpeningError::NoSuchChunk));
	}
	(content, root, paths)
}

/// The length of a chunk and on which sides of the way to it, from the root downwards, the other
/// parts are. The length of a content has no other trace in an opening.
fn way(bytes: u64, index: u64) -> Option<(u64, Vec<bool>)> {
	let start = index.checked_mul(1_024).filter(|start| *start < bytes)?;
	let (mut begin, mut rest, mut sides) = (0, bytes, Vec::new());
	while rest > 1_024 {
		let left = left_subtree_len(rest);
		let is_right = start - begin >= left;
		sides.push(is_right);
		(begin, rest) = if is_right { (begin + left, rest - left) } else { (begin, left) };
	}
	Some((rest, sides))
}

/// Returns the nodes of the tree over a content, from the chunks upwards, without the root of more
/// than one chunk.
fn levels(content: &[u8]) -> Vec<Vec<[u8; 32]>> {
	let leaf = |(index, chunk)| subtree(index as u64 * 1_024, chunk);
	let mut levels: Vec<Vec<_>> = vec![content.chunks(1_024).enumerate().map(leaf).collect()];
	while levels[levels.len() - 1].len() > 2 {
		let node = |pair: &[[u8; 32]]| match pair {
			[left, right] => merge_subtrees_non_root(left, right, Mode::Hash),
			odd => odd[0],
		};
		levels.push(levels[levels.len() - 1].chunks(2).map(node).collect());
	}
	levels
}

/// The siblings of these chunks by definition: what has no opened chunk under it and is merged with
/// something that has.
fn beside(levels: &[Vec<[u8; 32]>], opened: &BTreeSet<u64>) -> Vec<H256> {
	let mut siblings = Vec::new();
	for (height, nodes) in levels.iter().enumerate() {
		let shown: BTreeSet<u64> = opened.iter().map(|index| index >> height).collect();
		for (at, node) in (0..).zip(nodes) {
			if !shown.contains(&at) && shown.contains(&(at ^ 1)) {
				siblings.push(H256(*node));
			}
		}
	}
	siblings
}

/// Chunks of a content with their indices.
type Shown = Vec<(u64, Vec<u8>)>;

fn shown(content: &[u8], indices: &BTreeSet<u64>) -> Shown {
	indices.iter().map(|index| (*index, chunk(content, *index).unwrap().to_vec())).collect()
}

fn check(root: &H256, bytes: u64, shown: &Shown, siblings: &[H256]) -> Result<(), OpeningError> {
	verify_many(root, bytes, shown.iter().map(|(index, chunk)| (*index, &chunk[..])), siblings)
}

/// From test_vectors.json of the BLAKE3 project, the first 32 bytes of each.
#[test]
fn equals_the_official_vectors() {
	for (bytes, expected) in [
		(0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
		(1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"),
		(1_023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"),
		(1_024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"),
		(1_025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"),
		(2_048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"),
		(102_400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"),
	] {
		assert_eq!(hex::encode(hash(&input(bytes))), expected, "{bytes} bytes");
	}
}

#[test]
fn every_chunk_opens() {
	for count in 1..71usize {
		for bytes in [1_024 * count - 1_023, 1_024 * count - 1, 1_024 * count] {
			let (content, root, paths) = opened(bytes);
			for (index, (chunk, path)) in content.chunks(1_024).zip(&paths).enumerate() {
				let found = verify(&root, bytes as u64, index as u64, chunk, path);
				assert_eq!(found, Ok(()), "chunk {index} of {bytes} bytes");
				assert!(path.len() as u32 <= count.next_power_of_two().ilog2());
			}
		}
	}
}

#[test]
fn an_empty_content_has_nothing_to_open() {
	let (_, root, paths) = opened(0);
	assert!(paths.is_empty());
	for (index, chunk) in [(0, &[][..]), (0, &[0]), (1, &[])] {
		assert_eq!(verify(&root, 0, index, chunk, &[]), Err(OpeningError::NoSuchChunk));
	}
}

/// Indices and lengths near the end of their range do not overflow.
#[test]
fn the_longest_content_is_refused_without_a_panic() {
	let (root, chunk, last) = (H256::zero(), [7; 1_024], u64::MAX / 1_024);
	for index in [0, 1, last - 1] {
		for length in [0, 53, 54, 55, 70] {
			let path = vec![root; length];
			let found = verify(&root, u64::MAX, index, &chunk, &path);
			let expected = match length {
				54 => OpeningError::Root,
				_ => OpeningError::SiblingCount,
			};
			assert_eq!(found, Err(expected), "{index}, {length} entries");
		}
	}
	let found = verify(&root, u64::MAX, last, &chunk[1..], &[root; 54]);
	assert_eq!(found, Err(OpeningError::Root));
	let found = verify(&root, u64::MAX, last + 1, &chunk, &[root; 54]);
	assert_eq!(found, Err(OpeningError::NoSuchChunk));
	assert_eq!(verify(&root, u64::MAX, last, &chunk, &[]), Err(OpeningError::ChunkLength));
}

/// The first and the last chunk of the longest content share nothing but the root.
#[test]
fn two_chunks_of_the_longest_content_have_two_ways() {
	let shown = vec![(0, vec![7; 1_024]), (u64::MAX / 1_024, vec![7; 1_023])];
	for (length, error) in [
		(0, OpeningError::SiblingCount),
		(105, OpeningError::SiblingCount),
		(106, OpeningError::Root),
		(107, OpeningError::SiblingCount),
	] {
		let siblings = vec![H256::zero(); length];
		assert_eq!(check(&H256::zero(), u64::MAX, &shown, &siblings), Err(error), "{length}");
	}
}

#[test]
fn no_chunk_is_no_opening() {
	for bytes in [0, 1, 1_024, 1_025, 5_000] {
		let content = input(bytes);
		let root = hash(&content);
		assert_eq!(open_many(&content, []), Err(OpeningError::Empty));
		for siblings in [&[][..], &[root]] {
			assert_eq!(
				check(&root, bytes as u64, &Vec::new(), siblings),
				Err(OpeningError::Empty),
				"{bytes} bytes"
			);
		}
	}
	assert_eq!(check(&H256::zero(), u64::MAX, &Vec::new(), &[]), Err(OpeningError::Empty));
}

/// Every set of chunks of small contents opens, and its chunks as no other set of as many.
#[test]
fn every_set_of_chunks_opens_as_itself() {
	for bytes in (1..=8).flat_map(|count| [1_024 * count - 500, 1_024 * count]) {
		let (content, root, paths) = opened(bytes);
		let (levels, bytes) = (levels(&content), bytes as u64);
		let set = |mask: u64| -> BTreeSet<u64> { (0..8).filter(|i| mask >> i & 1 == 1).collect() };
		let sets: Vec<_> = (1..1 << paths.len()).map(set).collect();
		for indices in &sets {
			let siblings = open_many(&content, indices.iter().copied()).unwrap();
			assert_eq!(siblings, beside(&levels, indices), "{indices:?} of {bytes} bytes");
			let good = shown(&content, indices);
			assert_eq!(check(&root, bytes, &good, &siblings), Ok(()));
			for other in sets.iter().filter(|other| other.len() == indices.len()) {
				let chunks = good.iter().map(|(_, chunk)| chunk.clone());
				let moved = other.iter().copied().zip(chunks).collect();
				let found = check(&root, bytes, &moved, &siblings);
				assert_eq!(found.is_ok(), other == indices, "{indices:?} as {other:?}");
			}
		}
	}
}

/// Neither a node nor the bytes under it open as a chunk.
#[test]
fn a_node_is_no_chunk() {
	let (content, root, paths) = opened(2_048);
	let (left, right) = (paths[1][0], paths[0][0]);
	let node = [left.0, right.0].concat();
	assert_ne!(hash(&node), root);
	assert_eq!(verify(&root, 64, 0, &node, &[]), Err(OpeningError::Root));
	assert_eq!(verify(&root, 2_048, 0, &content, &[]), Err(OpeningError::ChunkLength));
	// Each chunk is bound to its place: equal ones have different paths.
	let same = [7; 2_048];
	assert_ne!(open(&same, 0), open(&same, 1));
}

#[test]
fn every_nan_has_the_same_bytes() {
	let payload = f32::from_bits(0xFFC0_0001);
	assert_eq!(le_bytes(&[payload, f32::NAN])[..4], le_bytes(&[f32::NAN]));
	let values = [1.5, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE / 2.0];
	let plain: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
	assert_eq!(le_bytes(&values), plain);
	assert!(le_bytes(&[]).is_empty());
}

proptest! {
	#[test]
	fn whatever_is_changed_is_refused(
		bytes in 1usize..72_000,
		pick in any::<u64>(),
		place in any::<usize>(),
		bit in 0u8..8,
	) {
		let content = input(bytes);
		let (root, bytes) = (hash(&content), bytes as u64);
		let count = chunks(bytes);
		let index = pick % count;
		let path = open(&content, index).unwrap();
		let chunk = content.chunks(1_024).nth(index as usize).unwrap().to_vec();
		prop_assert_eq!(verify(&root, bytes, index, &chunk, &path), Ok(()));

		let mut other = chunk.clone();
		let byte = place % other.len();
		other[byte] ^= 1 << bit;
		prop_assert_eq!(verify(&root, bytes, index, &other, &path), Err(OpeningError::Root));
		let mut other = root;
		other.0[place % 32] ^= 1 << bit;
		prop_assert_eq!(verify(&other, bytes, index, &chunk, &path), Err(OpeningError::Root));
		if !path.is_empty() {
			let mut other = path.clone();
			let entry = place % other.len();
			other[entry].0[place / 64 % 32] ^= 1 << bit;
			prop_assert_eq!(verify(&root, bytes, index, &chunk, &other), Err(OpeningError::Root));
			let shorter = &path[1..];
			prop_assert_eq!(
				verify(&root, bytes, index, &chunk, shorter),
				Err(OpeningError::SiblingCount)
			);
			let mut swapped = path.clone();
			swapped.reverse();
			let same = swapped == path;
			prop_assert_eq!(verify(&root, bytes, index, &chunk, &swapped).is_ok(), same);
		}
		let longer = [&path[..], &[root]].concat();
		prop_assert_eq!(
			verify(&root, bytes, index, &chunk, &longer),
			Err(OpeningError::SiblingCount)
		);
		for flipped in 0..64 {
			let index = index ^ 1 << flipped;
			prop_assert!(verify(&root, bytes, index, &chunk, &path).is_err(), "index {}", index);
		}
		for other in (0..64).map(|flipped| bytes ^ 1 << flipped) {
			let same = way(other, index) == way(bytes, index);
			let found = verify(&root, other, index, &chunk, &path);
			prop_assert_eq!(found.is_ok(), same, "{} bytes", other);
		}
		let shorter = &chunk[1..];
		prop_assert_eq!(
			verify(&root, bytes, index, shorter, &path),
			Err(OpeningError::ChunkLength)
		);
		let longer = [&chunk[..], &[0]].concat();
		prop_assert_eq!(
			verify(&root, bytes, index, &longer, &path),
			Err(OpeningError::ChunkLength)
		);
	}

	#[test]
	fn many_chunks_share_their_siblings(
		((count, indices), short) in (1u64..131)
			.prop_flat_map(|n| (Just(n), btree_set(0..n, 1..=n as usize)))
			.prop_flat_map(|sets| (Just(sets), 0u64..1_024)),
		pick in any::<usize>(),
		place in any::<usize>(),
		bit in 0u8..8,
	) {
		let bytes = count * 1_024 - short;
		let content = input(bytes as usize);
		let root = hash(&content);
		let siblings = open_many(&content, indices.iter().copied()).unwrap();
		let shown = shown(&content, &indices);
		prop_assert_eq!(check(&root, bytes, &shown, &siblings), Ok(()));

		// Each sibling is of a path, and one merge for each of what is shown but the first suffices.
		prop_assert_eq!(&siblings, &beside(&levels(&content), &indices));
		let paths: Vec<_> = indices.iter().map(|i| open(&content, *i).unwrap()).collect();
		prop_assert!(siblings.len() <= paths.iter().map(Vec::len).sum());
		prop_assert!(siblings.iter().all(|node| paths.iter().any(|path| path.contains(node))));
		let (level, mut merges) = (indices.iter().map(|i| (*i, ())).collect(), 0);
		climb(bytes, level, |_, _| Ok::<_, OpeningError>(()), |(), (), _| merges += 1).unwrap();
		prop_assert_eq!(merges + 1, indices.len() + siblings.len());

		let at = pick % shown.len();
		let bend = |change: &dyn Fn(&mut Shown)| {
			let mut bent = shown.clone();
			change(&mut bent);
			check(&root, bytes, &bent, &siblings)
		};
		let byte = place % shown[at].1.len();
		prop_assert_eq!(bend(&|bent| bent[at].1[byte] ^= 1 << bit), Err(OpeningError::Root));
		prop_assert_eq!(bend(&|bent| bent[at].1.truncate(byte)), Err(OpeningError::ChunkLength));
		prop_assert_eq!(bend(&|bent| bent[at].1.push(0)), Err(OpeningError::ChunkLength));
		for index in (0..9).chain([53, 54, 63]).map(|flipped| shown[at].0 ^ 1 << flipped) {
			prop_assert!(bend(&|bent| bent[at].0 = index).is_err(), "{} moved to {}", at, index);
		}
		prop_assert!(bend(&|bent| drop(bent.remove(at))).is_err());
		prop_assert_eq!(
			bend(&|bent| bent.insert(at, bent[at].clone())),
			Err(OpeningError::Order)
		);
		if at > 0 {
			prop_assert_eq!(bend(&|bent| bent.swap(at - 1, at)), Err(OpeningError::Order));
			// Bytes that change places are as long, but for those of the last chunk.
			let found = bend(&|bent| {
				let left = std::mem::take(&mut bent[at - 1].1);
				bent[at - 1].1 = std::mem::replace(&mut bent[at].1, left);
			});
			let same_length = shown[at].1.len() == 1_024;
			let expected =
				if same_length { OpeningError::Root } else { OpeningError::ChunkLength };
			prop_assert_eq!(found, Err(expected));
		}

		let mut more = siblings.clone();
		more.insert(place % (siblings.len() + 1), root);
		prop_assert_eq!(check(&root, bytes, &shown, &more), Err(OpeningError::SiblingCount));
		if !siblings.is_empty() {
			let at = place % siblings.len();
			let mut other = siblings.clone();
			other[at].0[place / 256 % 32] ^= 1 << bit;
			prop_assert_eq!(check(&root, bytes, &shown, &other), Err(OpeningError::Root));
			let mut fewer = siblings.clone();
			fewer.remove(at);
			prop_assert_eq!(check(&root, bytes, &shown, &fewer), Err(OpeningError::SiblingCount));
			if at > 0 {
				let mut swapped = siblings.clone();
				swapped.swap(at - 1, at);
				prop_assert_eq!(check(&root, bytes, &shown, &swapped), Err(OpeningError::Root));
			}
		}

		let mut other = root;
		other.0[place % 32] ^= 1 << bit;
		prop_assert_eq!(check(&other, bytes, &shown, &siblings), Err(OpeningError::Root));
		for other in (0..20).map(|flipped| bytes ^ 1 << flipped) {
			let same = indices.iter().all(|index| way(other, *index) == way(bytes, *index));
			let found = check(&root, other, &shown, &siblings);
			prop_assert_eq!(found.is_ok(), same, "{} bytes", other);
		}
	}
}

/// Somebody who has the values of nodes, and not the bytes, opens the same.
#[test]
fn values_of_nodes_open_as_bytes_do() {
	for bytes in [1u64, 1_024, 1_025, 5_000, 70_000] {
		let content: Vec<u8> = (0..bytes).map(|i| (i * 31 % 251) as u8).collect();
		for step in [1, 3, 7] {
			let numbers = || (0..chunks(bytes)).step_by(step);
			let by_nodes = open_many_by(bytes, numbers(), |node| node.value(&content));
			let by_bytes = open_many(&content, numbers()).unwrap();
			assert_eq!(by_nodes.unwrap(), by_bytes, "{bytes} bytes, one chunk of {step}");
			let shown: Vec<_> = numbers().map(|at| (at, chunk(&content, at).unwrap())).collect();
			verify_many(&hash(&content), bytes, shown, &by_bytes).unwrap();
		}
	}
	let mut asked = 0;
	let fails = |_| {
		asked += 1;
		Err(OpeningError::Root)
	};
	assert_eq!(open_many_by(3_000, [0], fails), Err(OpeningError::Root));
	assert_eq!(asked, 1, "the first failure is the error");
}
