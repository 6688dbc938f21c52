use super::*;
use crate::{
	bundle::{Checkpoint, Evaluation},
	content,
	job::WorkResult,
	merkle,
	pieces::Leaf,
	rows::Rows,
	state::{self, TensorDigest},
};
use trainyard_program::{
	samples,
	spec::{CheckedSpec, JobSpec, Model},
};

/// At these no piece looks but samples.
const PLACES: H256 = H256([6; 32]);

fn spec() -> CheckedSpec {
	JobSpec::example().check().unwrap()
}

/// The bytes of a tensor of these tests.
fn bytes_of(name: &str, bytes: u64) -> Vec<u8> {
	(0..bytes).map(|at| (at as usize * 7 + name.len()) as u8).collect()
}

/// A run with one state, with the digests of its tensors.
fn scene(spec: &CheckedSpec) -> (WorkResult, Leaf, Vec<TensorDigest>) {
	let tensors: Vec<TensorDigest> = super::chunks::tensors(spec)
		.into_iter()
		.map(|(tensor, _)| {
			let mut digest = TensorDigest::of_f32(tensor.name, tensor.shape, H256::zero());
			let bytes = bytes_of(&digest.name, digest.content_bytes().unwrap());
			digest.content = content::hash(&bytes);
			digest
		})
		.collect();
	let state = state::state_hash(tensors.clone());
	let all: Vec<Checkpoint> = (0..4u32)
		.map(|step| Checkpoint {
			step,
			state: if step == 1 { state } else { H256([step as u8; 32]) },
			evaluation: Evaluation::new(1.5, step, 20),
			trace: H256::zero(),
		})
		.collect();
	let hashes: Vec<H256> = all.iter().map(Checkpoint::leaf).collect();
	let (bundle_root, model_root) = (merkle::root(&hashes), H256::zero());
	let result = WorkResult {
		bundle_root,
		true_root: bundle_root,
		model_root,
		segments: 3,
		diverged: false,
	};
	let path = merkle::proof(&hashes, 1).unwrap().try_into().unwrap();
	(result, Leaf { index: 1, checkpoint: all[1], path }, tensors)
}

fn opened(spec: &CheckedSpec, leaf: &Leaf, all: &[TensorDigest], number: u64) -> ChunkOpening {
	let at = tensor_chunk(spec, number).unwrap();
	let tensor = &all[at.tensor as usize];
	let bytes = bytes_of(&tensor.name, tensor.content_bytes().unwrap());
	let contents: Vec<H256> = all.iter().map(|tensor| tensor.content).collect();
	let chunk = Chunk::of(&bytes, at.chunk).unwrap();
	open(spec, leaf.clone(), &contents, at.tensor, chunk).unwrap()
}

#[test]
fn every_chunk_of_a_state_opens_at_its_number_and_at_no_other() {
	let spec = spec();
	let (result, leaf, tensors) = scene(&spec);
	let piece = Piece::State(1);
	let all = chunks(&spec, 1, &result, piece);
	let own: u64 = tensors.iter().map(|t| content::chunks(t.content_bytes().unwrap())).sum();
	assert_eq!(all, own);
	assert!(all > 3, "a state of several chunks");
	for number in 0..all {
		let opening = opened(&spec, &leaf, &tensors, number);
		assert!(opens(&spec, 1, &result, (piece, &PLACES), number, &opening), "chunk {number}");
		for other in [number ^ 1, number + 1, all, u64::MAX] {
			assert!(
				!opens(&spec, 1, &result, (piece, &PLACES), other, &opening),
				"as chunk {other}"
			);
		}
		assert!(!opens(&spec, 1, &result, (Piece::State(2), &PLACES), number, &opening));
		assert!(!opens(&spec, 1, &result, (Piece::Leaves, &PLACES), number, &opening));
		assert!(!opens(&spec, 1, &result, (all_rows(&spec), &PLACES), number, &opening));
	}
	assert_eq!(tensor_chunk(&spec, all), None);
}

#[test]
fn whatever_is_changed_of_an_opening_is_refused() {
	let spec = spec();
	let (result, leaf, tensors) = scene(&spec);
	let number = chunks(&spec, 1, &result, Piece::State(1)) / 2;
	let good = opened(&spec, &leaf, &tensors, number);
	let ChunkOpening::State(good) = good else { panic!("{good:?}") };
	let changes: [fn(&mut StateChunk); 5] = [
		|o| o.content.0[0] ^= 1,
		|o| o.leaf.checkpoint.state.0[3] ^= 1,
		|o| o.chunk.bytes[0] ^= 1,
		|o| o.path.try_push(H256::zero()).unwrap(),
		|o| o.chunk.siblings.try_push(H256::zero()).unwrap(),
	];
	for (at, change) in changes.into_iter().enumerate() {
		let mut other = good.clone();
		change(&mut other);
		assert_ne!(other, good);
		let other = ChunkOpening::State(other);
		assert!(
			!opens(&spec, 1, &result, (Piece::State(1), &PLACES), number, &other),
			"change {at}"
		);
	}
	let good = ChunkOpening::State(good);
	let decoded = ChunkOpening::decode(&mut &good.encode()[..]).unwrap();
	assert_eq!(decoded, good);
	assert!(good.encode().len() <= ChunkOpening::max_encoded_len());
}

/// All rows of a job as a piece.
fn all_rows(spec: &CheckedSpec) -> Piece {
	let dataset = &spec.spec().dataset;
	Piece::Rows { from: 0, to: dataset.train_rows + dataset.validation_rows }
}

/// A job whose rows root is that of these contents.
fn with_rows() -> (CheckedSpec, [Vec<u8>; 4]) {
	let mut spec = JobSpec::example();
	let contents = super::chunks::row_contents(&spec.dataset);
	let bytes = [0usize, 1, 2, 3].map(|at| bytes_of(&"r".repeat(at), contents[at]));
	let hashes = bytes.each_ref().map(|bytes| content::hash(bytes));
	spec.dataset.rows = Rows::of(&spec.dataset, hashes).root();
	(spec.check().unwrap(), bytes)
}

#[test]
fn every_chunk_of_the_rows_opens_at_its_number_and_at_no_other() {
	let (spec, contents) = with_rows();
	let (result, _, _) = scene(&spec);
	let (piece, hashes) = (all_rows(&spec), contents.each_ref().map(|all| content::hash(all)));
	let all = chunks(&spec, 1, &result, piece);
	let own: u64 = contents.iter().map(|bytes| content::chunks(bytes.len() as u64)).sum();
	assert_eq!(all, own);
	assert!(all > 4, "contents of several chunks");
	for number in 0..all {
		let RowsChunk { content, chunk } = rows_chunk(&spec, number).unwrap();
		let chunk = Chunk::of(&contents[content], chunk).unwrap();
		let opening = ChunkOpening::Rows { contents: hashes, chunk };
		assert!(opens(&spec, 1, &result, (piece, &PLACES), number, &opening), "chunk {number}");
		for other in [number ^ 1, number + 1, all, u64::MAX] {
			assert!(
				!opens(&spec, 1, &result, (piece, &PLACES), other, &opening),
				"as chunk {other}"
			);
		}
		let part = Piece::Rows { from: 0, to: 1 };
		assert!(!opens(&spec, 1, &result, (part, &PLACES), number, &opening));
		assert!(!opens(&spec, 1, &result, (Piece::State(1), &PLACES), number, &opening));
		let ChunkOpening::Rows { contents, chunk } = opening else { unreachable!() };
		for at in 0..4 {
			let mut contents = contents;
			contents[at].0[9] ^= 1;
			let other = ChunkOpening::Rows { contents, chunk: chunk.clone() };
			assert!(!opens(&spec, 1, &result, (piece, &PLACES), number, &other), "content {at}");
		}
		let mut damaged = chunk.clone();
		damaged.bytes[0] ^= 1;
		let other = ChunkOpening::Rows { contents, chunk: damaged };
		assert!(!opens(&spec, 1, &result, (piece, &PLACES), number, &other));
		// Another job's rows are none of this one.
		let opening = ChunkOpening::Rows { contents, chunk };
		let example = JobSpec::example().check().unwrap();
		assert!(!opens(&example, 1, &result, (piece, &PLACES), number, &opening));
	}
	assert_eq!(rows_chunk(&spec, all), None);
}

#[test]
fn what_has_no_chunks_is_not_relayed() {
	let (result, leaf, all) = scene(&spec());
	let few = WorkResult { segments: 2, ..result };
	assert_eq!(chunks(&spec(), 1, &few, Piece::Samples), 0, "none of its segments can be picked");
	assert_eq!(chunks(&spec(), 1, &result, Piece::Leaves), 0);
	assert_eq!(chunks(&spec(), 1, &result, Piece::Rows { from: 0, to: 1 }), 0);
	assert_eq!(chunks(&spec(), 1, &result, Piece::Tensor { checkpoint: 1, index: 0 }), 0);
	assert_eq!(open(&spec(), leaf, &[], 0, Chunk::of(&[1], 0).unwrap()), None);
	assert!(all.len() > 1 && result.segments == 3);
}

/// A job with a tensor that is not read whole.
fn with_a_large_tensor() -> CheckedSpec {
	let mut spec = JobSpec::example();
	let Model::Mlp { hidden, .. } = &mut spec.model else { unreachable!() };
	*hidden = vec![600].try_into().unwrap();
	spec.check().unwrap()
}

#[test]
fn every_chunk_of_the_samples_opens_at_its_number_and_at_no_other() {
	let spec = with_a_large_tensor();
	let (result, leaf, tensors) = scene(&spec);
	let of_state = samples::chunks_of_state(&spec);
	assert_eq!(chunks(&spec, 1, &result, Piece::Samples), 4 * of_state);
	assert!(of_state < chunks(&spec, 1, &result, Piece::State(1)), "not all of a state");
	let contents: Vec<H256> = tensors.iter().map(|tensor| tensor.content).collect();
	let piece = (Piece::Samples, &PLACES);
	let mut seen = Vec::new();
	for number in of_state..2 * of_state {
		let SampleChunk { checkpoint, place } =
			sample_chunk(&spec, (1, result.segments), &PLACES, number).unwrap();
		assert_eq!(checkpoint, 1);
		let tensor = &tensors[place.tensor as usize];
		let bytes = bytes_of(&tensor.name, tensor.content_bytes().unwrap());
		let chunk = Chunk::of(&bytes, place.chunk).unwrap();
		let opening = open(&spec, leaf.clone(), &contents, place.tensor, chunk).unwrap();
		assert!(opens(&spec, 1, &result, piece, number, &opening), "chunk {number}");
		let elsewhere = [number - of_state, number + of_state, number ^ 1, 4 * of_state, u64::MAX];
		for other in elsewhere {
			assert!(!opens(&spec, 1, &result, piece, other, &opening), "{number} as {other}");
		}
		assert!(!opens(&spec, 1, &result, (Piece::State(2), &PLACES), number, &opening));
		let is_whole = (bytes.len() as u64) < samples::WHOLE_BYTES;
		let others = (Piece::Samples, &H256([7; 32]));
		let is_there = sampled(others.1, place.tensor, bytes.len() as u64);
		let drawn = is_there.contains(&(place.chunk as u32));
		assert!(opens(&spec, 1, &result, others, number, &opening) <= drawn);
		assert!(!is_whole || opens(&spec, 1, &result, others, number, &opening));
		seen.push((place.tensor, place.chunk));
	}
	// Each chunk that is read has one number: whole tensors, and two chunks of the others.
	assert!(seen.is_sorted() && seen.windows(2).all(|pair| pair[0] != pair[1]));
	for (tensor, digest) in (0u32..).zip(&tensors) {
		let bytes = digest.content_bytes().unwrap();
		let own: Vec<u64> = seen.iter().filter(|(of, _)| *of == tensor).map(|(_, c)| *c).collect();
		match bytes < samples::WHOLE_BYTES {
			true => assert_eq!(own, (0..content::chunks(bytes)).collect::<Vec<_>>()),
			false => assert_eq!(own.len(), 2),
		}
	}
	// Where trainers keep one state in three, the second that has samples is the last one.
	assert_eq!(chunks(&spec, 3, &result, Piece::Samples), 2 * of_state);
	let last = |every, number| sample_chunk(&spec, (every, result.segments), &PLACES, number);
	assert_eq!(last(3, 2 * of_state - 1).unwrap().checkpoint, 3);
	assert_eq!((last(3, 2 * of_state), last(2, 3 * of_state)), (None, None));
	assert_eq!(last(2, of_state).unwrap().checkpoint, 2);
	// A state that the result does not have.
	let shorter = WorkResult { segments: 0, ..result };
	let number = of_state;
	let SampleChunk { place, .. } =
		sample_chunk(&spec, (1, result.segments), &PLACES, number).unwrap();
	let digest = &tensors[place.tensor as usize];
	let bytes = bytes_of(&digest.name, digest.content_bytes().unwrap());
	let chunk = Chunk::of(&bytes, place.chunk).unwrap();
	let opening = open(&spec, leaf, &contents, place.tensor, chunk).unwrap();
	assert!(opens(&spec, 1, &result, piece, number, &opening));
	assert!(!opens(&spec, 1, &shorter, piece, number, &opening));
	assert!(!opens(&spec, 2, &result, piece, number, &opening), "none of those that are kept");
}

#[test]
fn a_fee_follows_the_bytes_and_the_price() {
	let cheap = Fees::of(1_000, PRICE_PART * 100);
	let rows = Piece::Rows { from: 0, to: 9 };
	for (bytes, each, of_samples) in [(1, 1_000, 100), ((4 << 30) + 1, 2_000, 200)] {
		assert_eq!(cheap.of_seat(&Piece::State(1), bytes), each);
		assert_eq!(cheap.of_seat(&rows, bytes), each);
		assert_eq!(cheap.of_seat(&Piece::Samples, bytes), of_samples);
		assert_eq!(cheap.of_seats(&Piece::Samples, bytes, 31), Some(31 * of_samples));
		assert_eq!(cheap.escrowed(&Piece::Samples, bytes), Some(123 * of_samples));
	}
	assert_eq!(cheap.escrowed(&rows, 0), Some(0));
	let dear = Fees::of(1_000, PRICE_PART * 1_500);
	assert_eq!(dear.of_seat(&Piece::Samples, 1), 1_500);
	assert_eq!(dear.of_seat(&rows, 1), 1_500);
	assert_eq!(dear.of_seat(&rows, (4 << 30) + 1), 2_000);
	assert_eq!(Fees::of(u128::MAX, 0).escrowed(&rows, 1), None);
}

/// Frozen: whoever opens a chunk in another language draws it.
#[test]
fn seats_draw_chunks_of_their_own() {
	let bytes = [&b"trainyard/relay/chunk/v1"[..], &[1; 32], &[9, 0, 0, 0]].concat();
	let hash = blake2_256(&bytes);
	let n = u64::from_le_bytes(hash[..8].try_into().unwrap());
	let by_hand = (u128::from(n) * 1_000_000) >> 64;
	assert_eq!(u128::from(drawn(&H256([1; 32]), &9u32, 1_000_000)), by_hand);
	assert_ne!(drawn(&H256([1; 32]), &8u32, 1_000_000), by_hand as u64);
	assert_eq!(drawn(&H256([1; 32]), &8u32, 1), 0);
}

/// `P(k of n seats or more are the cheat's)` at a share of the bonds.
fn tail(seats: u32, share: f64) -> f64 {
	let least = seats / 2 + 1;
	(least..=seats)
		.map(|k| {
			let choose = (0..k).fold(1.0, |c, i| c * f64::from(seats - i) / f64::from(i + 1));
			choose * share.powi(k as i32) * (1.0 - share).powi((seats - k) as i32)
		})
		.sum()
}

/// The page names these figures.
#[test]
fn an_owner_of_two_fifths_has_a_majority_that_often() {
	let [first, both] = [tail(SEATS, 0.4), tail(LACKING_SEATS, 0.4)];
	assert_eq!(format!("{:.1} {:.1}", 100.0 * first, 100.0 * both), "12.8 2.0");
	let [first, both] = [tail(SEATS, 0.3), tail(LACKING_SEATS, 0.3)];
	assert!(first < 0.011 && both < 0.000_02, "{first} {both}");
}

/// `P(k of n seats are the cheat's)` at a share of the bonds.
fn exactly(seats: u32, share: f64, k: u32) -> f64 {
	let choose = (0..k).fold(1.0, |c, i| c * f64::from(seats - i) / f64::from(i + 1));
	choose * share.powi(k as i32) * (1.0 - share).powi((seats - k) as i32)
}

/// Where the answer is false, an honest result is lost, and who posted the job has its money back and the model. It
/// asks, looks at how many seats of the committee are its own, and goes on, or has them say the truth. Going on costs
/// the fees of all others where the answer is true in the end.
#[test]
fn who_owns_two_fifths_gains_nothing_by_asking() {
	let fee = 1.0 / PRICE_PART as f64;
	for share in [0.1, 0.2, 0.3, 0.4] {
		let least = LACKING_SEATS / 2 + 1;
		let gain = |own: u32| {
			let others = f64::from(SEATS - own);
			let wanted = least.saturating_sub(own);
			let wins: f64 = (wanted..=APPEAL_SEATS).map(|k| exactly(APPEAL_SEATS, share, k)).sum();
			// A first majority that lies: the trainer doubts, and has from who asked what it paid.
			let costs = match own > SEATS / 2 {
				true => f64::from(SEATS),
				false => others + f64::from(APPEAL_SEATS) * (1.0 - share),
			};
			(wins - (1.0 - wins) * costs * fee).max(-others * fee)
		};
		let all: f64 = (0..=SEATS).map(|own| exactly(SEATS, share, own) * gain(own)).sum();
		assert!(all < 0.0, "{share}: {all} of the price");
	}
}

#[test]
fn large_pieces_have_more_time() {
	let all = [0, 1, HOUR_BYTES, HOUR_BYTES + 1, u64::MAX].map(hours);
	assert_eq!(all, [1, 1, 1, 2, u32::MAX]);
}
