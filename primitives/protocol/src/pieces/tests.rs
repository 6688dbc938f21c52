use super::*;
use crate::{
	bundle::{self, Diverged, Evaluation},
	content, duties,
	state::state_hash,
};
use proptest::prelude::*;
use trainyard_program::spec::JobSpec;
use Piece::{Leaves, Rows, Samples, State, Tensor};

/// 1,500 rows of three inputs that train, and 20 that validate.
const SIZES: PieceSizes = PieceSizes {
	state: 1_000,
	train_rows: 1_500,
	validation_rows: 20,
	features: 3,
	labels_per_row: 1,
	samples: 7,
	keep_every: 1,
};

fn result(segments: u32, diverged: bool) -> WorkResult {
	let root = H256::zero();
	WorkResult { bundle_root: root, true_root: root, model_root: root, segments, diverged }
}

fn checkpoint(step: u32) -> Checkpoint {
	let evaluation = Evaluation::new(1.5, step, u32::MAX);
	Checkpoint { step, state: H256([step as u8; 32]), evaluation, trace: H256::zero() }
}

/// A result of that many segments, and its leaves.
fn committed(segments: u32, diverged: bool) -> (WorkResult, Vec<LeafContent>) {
	let mut leaves: Vec<_> = (0..=segments).map(checkpoint).map(LeafContent::Checkpoint).collect();
	let end = Diverged { step: segments, trace: H256::zero() };
	leaves.extend(diverged.then_some(LeafContent::Diverged(end)));
	let all = (0..=segments).map(checkpoint);
	let bundle_root = bundle::bundle_root(all, diverged.then_some(end));
	(WorkResult { bundle_root, ..result(segments, diverged) }, leaves)
}

fn leaf(leaves: &[LeafContent], index: u32) -> Leaf {
	let hashes: Vec<H256> = leaves.iter().map(LeafContent::leaf).collect();
	let path = merkle::proof(&hashes, index as usize).unwrap().try_into().unwrap();
	Leaf { index, checkpoint: checkpoint(index), path }
}

#[test]
fn what_a_result_has_can_be_asked_for() {
	let nine = result(9, false);
	let tensor = |checkpoint, index| Tensor { checkpoint, index };
	let exist = |pieces: &[Piece]| SIZES.exist(pieces, &nine, 18);
	let rows = Rows { from: 0, to: 1_520 };
	assert_eq!(SIZES.all_rows(), rows);
	assert!(exist(&[Leaves, rows, State(0), State(4), State(9), tensor(9, 17)]));
	assert!(exist(&[Rows { from: 1_499, to: 1_501 }]));
	assert!(!exist(&[]) && !exist(&[State(10)]) && !exist(&[tensor(10, 0)]));
	assert!(!exist(&[tensor(0, 18)]) && !exist(&[tensor(0, u32::MAX)]));
	assert!(!exist(&[Rows { from: 3, to: 3 }]) && !exist(&[Rows { from: 4, to: 3 }]));
	assert!(!exist(&[Rows { from: 0, to: 1_521 }]));
	assert!(!exist(&[State(2), State(2)]) && !exist(&[State(3), State(2)]));
	assert!(!exist(&[rows, Leaves]));
	// Samples are of all states of a run in which a segment can be picked.
	assert!(exist(&[Samples]) && !SIZES.exist(&[Samples], &result(2, false), 0));
	assert_eq!(SIZES.of(&Samples, &nine, &[]), 70);
	assert!(!Samples.is_answered() && State(9).is_answered());
	assert!(!is_read(&Samples, &[2, 6], &nine) && !SIZES.is_common(&Samples, &nine));
	// The segment in which it diverged has no end.
	assert!(SIZES.exist(&[State(9)], &result(9, true), 0));
	assert!(!SIZES.exist(&[State(10)], &result(9, true), 0));
}

#[test]
fn a_replay_reads_the_ends_of_its_segments_and_the_last_state() {
	let nine = result(9, false);
	let read = |piece| is_read(&piece, &[2, 6], &nine);
	assert!([Leaves, SIZES.all_rows()].into_iter().all(read));
	let states: Vec<u32> = (0..=9).filter(|at| read(State(*at))).collect();
	assert_eq!(states, [2, 3, 6, 7, 9]);
	let tensors = (0..=9).filter(|at| read(Tensor { checkpoint: *at, index: 3 }));
	assert_eq!(tensors.collect::<Vec<_>>(), states);
}

#[test]
fn what_everybody_reads_takes_nobodys_share() {
	let nine = result(9, false);
	let common = |piece| SIZES.is_common(&piece, &nine);
	assert!([Leaves, SIZES.all_rows(), State(9)].into_iter().all(common));
	let rows = Rows { from: 0, to: 1_519 };
	let tensor = Tensor { checkpoint: 9, index: 0 };
	assert!(![rows, State(0), State(8), tensor].into_iter().any(common));
}

/// Both ends of what it replays where each seat draws the least, and of a pick.
#[test]
fn a_share_is_what_a_seat_reads_that_draws_the_least() {
	assert_eq!([0, 1, 3, 15].map(seat_share), [128, 128, 42, 8]);
	for seats in [3, 5, 7, 9, 15] {
		let draws = duties::least_draws(1_000, seats);
		assert!(2 * (draws + 1) <= seat_share(seats), "{seats} seats");
		assert!(seat_share(seats) * seats <= SEAT_PIECES);
	}
	// Of 11 and 13 seats those that pick lack one place.
	for seats in [11, 13] {
		let draws = duties::least_draws(1_000, seats);
		assert!(2 * draws < seat_share(seats) && seat_share(seats) < 2 * (draws + 1), "{seats}");
	}
}

#[test]
fn pieces_have_their_bytes() {
	let nine = result(9, true);
	let tensors = [40, 360];
	let of = |piece| SIZES.of(&piece, &nine, &tensors);
	assert_eq!(of(Leaves), 11 * LEAF_BYTES);
	assert_eq!(of(Tensor { checkpoint: 3, index: 1 }), 360);
	assert_eq!(of(Tensor { checkpoint: 3, index: 2 }), 0);
	assert_eq!(SIZES.sum([State(2), State(5), Leaves], &nine, &[]), 2_000 + 11 * LEAF_BYTES);
	let large = PieceSizes { state: u64::MAX, ..SIZES };
	assert_eq!(large.sum([State(1), Leaves], &nine, &[]), u64::MAX);
	let leaf = LeafContent::Checkpoint(checkpoint(1));
	assert_eq!(leaf.encode().len() as u64, LEAF_BYTES);
	assert_eq!(LeafContent::max_encoded_len() as u64, LEAF_BYTES);
}

/// Chunks of 4 KiB: 1,500 rows of 12 bytes of inputs are 18,000 bytes, their labels 6,000.
#[test]
fn rows_lie_in_chunks_of_their_contents() {
	assert_eq!(SIZES.contents(), [18_000, 6_000, 240, 80]);
	let span = |content, size, chunks, bytes| Span { content, size, chunks, bytes };
	let all = SIZES.spans(0, 1_520);
	let whole = [(18_000, 0..5), (6_000, 0..2), (240, 0..1), (80, 0..1)];
	let whole = whole.into_iter().enumerate();
	assert!(all.into_iter().eq(whole.map(|(at, (size, chunks))| span(at, size, chunks, size))));
	// Row 341 begins in the first chunk of inputs and ends in the second.
	let few = SIZES.spans(341, 342);
	assert_eq!(few, [span(0, 18_000, 0..2, 8_192), span(1, 6_000, 0..1, 4_096)]);
	// The last chunk is shorter.
	let last = SIZES.spans(1_499, 1_501);
	let validating = [span(2, 240, 0..1, 240), span(3, 80, 0..1, 80)];
	let training = [span(0, 18_000, 4..5, 1_616), span(1, 6_000, 1..2, 1_904)];
	assert_eq!(last, [training, validating].concat());
	assert_eq!(SIZES.of(&Rows { from: 1_499, to: 1_501 }, &result(9, false), &[]), 3_840);
	assert_eq!(SIZES.spans(7, 7), []);
	let none = PieceSizes::default();
	assert_eq!(none.spans(0, 9), []);
}

proptest! {
	/// Whatever rows are asked for, their chunks hold them and begin and end with them.
	#[test]
	fn chunks_of_rows_hold_them(
		counts in (0u32..5_000, 0u32..5_000, 1u32..2_000, 1u32..20),
		a in any::<u32>(),
		b in any::<u32>(),
	) {
		let (train_rows, validation_rows, features, labels_per_row) = counts;
		let sizes =
			PieceSizes { train_rows, validation_rows, features, labels_per_row, ..SIZES };
		let all = train_rows + validation_rows;
		prop_assume!(all > 0);
		let (a, b) = (a % (all + 1), b % (all + 1));
		let (from, to) = (a.min(b), a.max(b));
		let mut found = 0;
		for Span { content, size, chunks, bytes } in sizes.spans(from, to) {
			prop_assert_eq!(size, sizes.contents()[content]);
			let (rows, width) = match content {
				0 | 1 => (from.min(train_rows)..to.min(train_rows), [features, labels_per_row][content]),
				_ => (
					from.max(train_rows) - train_rows..to.max(train_rows) - train_rows,
					[features, labels_per_row][content - 2],
				),
			};
			let chunk = u64::from(blob::chunk_len(size));
			let place = |row: u32| u64::from(row) * u64::from(width) * 4;
			let (begin, end) = (u64::from(chunks.start) * chunk, u64::from(chunks.end) * chunk);
			prop_assert!(begin <= place(rows.start) && place(rows.start) < begin + chunk);
			prop_assert!(end >= place(rows.end) && place(rows.end) + chunk > end);
			let of_chunks = chunks.clone().map(|at| u64::from(blob::chunk_size_at(size, at).unwrap()));
			prop_assert_eq!(of_chunks.sum::<u64>(), bytes);
			found += u64::from(rows.end - rows.start) * u64::from(width);
		}
		let numbers = u64::from(features) + u64::from(labels_per_row);
		prop_assert_eq!(found, u64::from(to - from) * numbers);
	}
}

#[test]
fn a_leaf_is_under_the_revealed_root() {
	for diverged in [false, true] {
		let (result, leaves) = committed(9, diverged);
		let good = leaf(&leaves, 2);
		assert!(good.fits(&result) && leaf(&leaves, 9).fits(&result));
		let mut other = good.clone();
		other.checkpoint.state = H256::zero();
		assert!(!other.fits(&result), "not what was committed");
		assert!(!Leaf { index: 3, ..good.clone() }.fits(&result), "of another checkpoint");
		let last = leaf(&leaves, 9);
		assert!(!last.fits(&WorkResult { segments: 8, ..result }));
		assert!(!last.fits(&WorkResult { diverged: !diverged, ..result }));
	}
}

#[test]
fn parts_of_leaves_are_all_leaves_under_the_root() {
	for (segments, diverged) in [(0, false), (9, true), (511, false), (511, true), (1_500, false)] {
		let (result, leaves) = committed(segments, diverged);
		let count = parts(&result);
		assert_eq!(count, (leaves.len() as u32).div_ceil(512));
		assert_eq!(LeavesPart::of(&leaves, count), None);
		let mut all = Vec::new();
		for part in 0..count {
			let found = LeavesPart::of(&leaves, part).unwrap();
			assert!(found.fits(&result), "part {part} of {segments}");
			all.extend(found.leaves.iter().copied());
			let changes: [fn(&mut LeavesPart); 5] = [
				|p| p.part += 1,
				|p| {
					p.leaves.pop();
				},
				|p| {
					if p.leaves.try_push(p.leaves[0]).is_err() {
						p.leaves.pop();
					}
				},
				|p| p.path.try_push(H256::zero()).unwrap(),
				|p| match &mut p.leaves[0] {
					LeafContent::Checkpoint(checkpoint) => checkpoint.step ^= 1,
					LeafContent::Diverged(end) => end.step ^= 1,
				},
			];
			for (at, change) in changes.into_iter().enumerate() {
				let mut other = found.clone();
				change(&mut other);
				assert!(!other.fits(&result), "change {at} of part {part} of {segments}");
			}
			assert!(!found.fits(&WorkResult { bundle_root: H256::zero(), ..result }));
		}
		assert_eq!(all, leaves);
		// A leaf that says the run diverged is the last one of a run that did, and no other.
		let last = LeavesPart::of(&leaves, count - 1).unwrap();
		let more = WorkResult { segments: segments + u32::from(diverged), ..result };
		assert!(!last.fits(&WorkResult { diverged: !diverged, ..more }));
	}
}

#[test]
fn the_blob_of_a_tensor_is_its_content() {
	let spec = JobSpec::example().check().unwrap();
	let all = ExpectedTensor::all(&spec);
	let values = |at: usize| -> Vec<f32> {
		let bytes = all[at].content_bytes().unwrap();
		(0..bytes / 4).map(|i| (i as f32) + at as f32).collect()
	};
	let bytes: Vec<Vec<u8>> = (0..all.len()).map(|at| content::le_bytes(&values(at))).collect();
	let digests: Vec<TensorDigest> = all
		.iter()
		.zip(&bytes)
		.map(|(e, bytes)| {
			TensorDigest::of_f32(e.name.clone(), e.shape.clone(), content::hash(bytes))
		})
		.collect();
	let state = state_hash(digests.clone());
	for (at, expected) in all.iter().enumerate() {
		let proof = TensorProof::new(digests.clone(), &expected.name).unwrap();
		let content = proof.tensor.content;
		let blob = tensor_blob(&state, expected, &content, &proof.path);
		assert_eq!(blob, Some(blob::Chunked::new(&bytes[at]).root));
		assert_eq!(tensor_blob(&state, expected, &H256::zero(), &proof.path), None);
		assert_eq!(tensor_blob(&H256::zero(), expected, &content, &proof.path), None);
		assert_eq!(tensor_blob(&state, &all[(at + 1) % all.len()], &content, &proof.path), None);
	}
}

/// Frozen: calls carry these bytes.
#[test]
fn layout() {
	let pieces =
		[Leaves, Rows { from: 1, to: 258 }, State(258), Tensor { checkpoint: 3, index: 4 }];
	let bytes: Vec<u8> = pieces.iter().flat_map(Encode::encode).collect();
	let [one, two] = [[1, 0, 0, 0], [2, 1, 0, 0]];
	let expected = [&[0, 1][..], &one, &two, &[2], &two, &[3, 3, 0, 0, 0, 4, 0, 0, 0]];
	assert_eq!(bytes, expected.concat());
	let leaf = Leaf { index: 258, checkpoint: checkpoint(3), path: Default::default() };
	let shown = [&two[..], &checkpoint(3).encode(), &[0]].concat();
	let hash = |byte| H256([byte; 32]);
	let part = LeavesPart {
		part: 1,
		leaves: vec![LeafContent::Checkpoint(checkpoint(3))].try_into().unwrap(),
		path: vec![hash(7)].try_into().unwrap(),
	};
	let path = vec![hash(8)].try_into().unwrap();
	let answers = [
		(
			Answer::Leaves(part),
			Leaves,
			[&[0][..], &one, &[4, 0], &checkpoint(3).encode(), &[4], &[7; 32]].concat(),
		),
		(
			Answer::Rows { from: 1, to: 258, contents: [1, 2, 3, 4].map(hash) },
			pieces[1],
			[&[1][..], &one, &two, &[1; 32], &[2; 32], &[3; 32], &[4; 32]].concat(),
		),
		(
			Answer::State { leaf: leaf.clone(), blob: hash(5) },
			State(258),
			[&[2][..], &shown, &[5; 32]].concat(),
		),
		(
			Answer::Tensor { leaf, index: 1, content: hash(6), path },
			Tensor { checkpoint: 258, index: 1 },
			[&[3][..], &shown, &one, &[6; 32], &[4], &[8; 32]].concat(),
		),
	];
	for (answer, piece, bytes) in answers {
		assert_eq!((answer.piece(), answer.encode()), (piece, bytes.clone()));
		assert_eq!(Answer::decode(&mut &bytes[..]), Ok(answer));
	}
}
