//! What is malformed is refused, and what is missing is missed.

use super::*;
use codec::Compact;
use trainyard_program::parts::CHUNK_ELEMENTS;
use trainyard_protocol::content::OpeningError;

/// Opens a tensor once more, without one of its chunks; nothing is left of a tensor of one chunk.
fn without(made: &Computed, tensors: &Tensors, tensor: usize, chunk: usize) -> Tensors {
	let mut less = tensors.clone();
	let opening = &tensors.tensors[tensor];
	let mut numbers: Vec<u64> = opening.chunks.numbers.iter().map(|number| number.0).collect();
	numbers.remove(chunk);
	if numbers.is_empty() {
		less.tensors.remove(tensor);
	} else {
		let bytes = made.bytes(opening.source.origin()).unwrap();
		less.tensors[tensor].chunks = Chunks::open(&bytes, numbers).unwrap();
	}
	less
}

/// Without any one chunk of what it opens, a piece is not decided.
#[test]
fn every_opening_is_needed() {
	let (mut missed, mut origins) = (0, std::collections::HashSet::new());
	let mut check = |lowered: &Lowered<'_>, made: &Computed, piece: &Stretch| {
		let whole = proving::open_stretch(lowered, made, piece).unwrap();
		let agreed = agreed(lowered, made, piece.result);
		for (at, opening) in whole.tensors.tensors.iter().enumerate() {
			for chunk in (0..opening.chunks.numbers.len()).step_by(3) {
				let tensors = without(made, &whole.tensors, at, chunk);
				let less = StretchOpening { tensors, ..whole.clone() };
				let found = stretch(lowered, &agreed, piece, &less);
				assert!(matches!(found, Err(Refused::Missing { .. })), "{found:?}");
				missed += 1;
			}
			origins.insert(core::mem::discriminant(&opening.source));
		}
	};
	for_each_computation(|_, lowered, made| {
		for result in 0..lowered.results() {
			let element = lowered.part(result).unwrap().len / 2;
			for piece in pieces(lowered, made, result, element) {
				check(lowered, made, &piece);
			}
		}
	});
	let (world, made) = testing::long();
	let lowered = Lowered::new(&world.case, Computation::Step { step: 1 }).unwrap();
	for result in 0..lowered.results() {
		for piece in pieces(&lowered, made, result, 1 % lowered.part(result).unwrap().len) {
			check(&lowered, made, &piece);
		}
	}
	assert!(missed > 1_000 && origins.len() == 4, "{missed} {origins:?}");
}

/// A result with a tensor of each source, and a piece of it with several chunks in one tensor.
fn example(world: &World) -> (Lowered<'_>, Computed) {
	let lowered = Lowered::new(&world.case, Computation::Step { step: 1 }).unwrap();
	let made = Computed::new(&lowered, world, &world.initial(), None);
	(lowered, made)
}

type Bend = fn(&mut StretchOpening);

/// Refuses each bent opening of a piece, with the error beside it.
fn refuse(lowered: &Lowered<'_>, made: &Computed, piece: &Stretch, bends: &[(Refused, Bend)]) {
	let good = proving::open_stretch(lowered, made, piece).unwrap();
	let agreed = agreed(lowered, made, piece.result);
	assert_eq!(stretch(lowered, &agreed, piece, &good), Ok(Verdict::Same));
	for (at, (error, bend)) in bends.iter().enumerate() {
		let mut bent = good.clone();
		bend(&mut bent);
		assert_ne!(bent, good, "bend {at}");
		assert_eq!(stretch(lowered, &agreed, piece, &bent), Err(*error), "bend {at}");
	}
}

fn chunks(opening: &mut StretchOpening) -> &mut Chunks {
	&mut opening.tensors.tensors.last_mut().unwrap().chunks
}

fn source(opening: &mut StretchOpening) -> &mut Source {
	&mut opening.tensors.tensors[0].source
}

#[test]
fn malformed_openings_are_refused() {
	let (world, made) = testing::long();
	let lowered = Lowered::new(&world.case, Computation::Step { step: 1 }).unwrap();
	let is_long =
		|result: &u32| lowered.terms(*result, 0).unwrap() > lowered.stretch(*result).unwrap();
	// Of two gradients of weights, that of the first layer comes last.
	let long = (0..lowered.results()).filter(is_long).nth(1).unwrap();
	let of_chunks = |error| Refused::Chunks(error);
	let wrong = Refused::WrongOpening;
	// A stretch in the middle: of a result before, of features, and with an accumulator.
	let piece = pieces(&lowered, made, long, 1_500)[1];
	let bends: &[(Refused, Bend)] = &[
		(of_chunks(OpeningError::Root), |o| chunks(o).bytes[7] ^= 1),
		(of_chunks(OpeningError::Root), |o| chunks(o).siblings[0].0[31] ^= 128),
		(of_chunks(OpeningError::ChunkLength), |o| chunks(o).bytes.truncate(1_000)),
		(of_chunks(OpeningError::ChunkLength), |o| chunks(o).bytes.push(0)),
		(of_chunks(OpeningError::SiblingCount), |o| chunks(o).siblings.truncate(1)),
		(of_chunks(OpeningError::SiblingCount), |o| chunks(o).siblings.push(H256::zero())),
		(of_chunks(OpeningError::Order), |o| chunks(o).numbers.swap(0, 1)),
		(of_chunks(OpeningError::Order), |o| chunks(o).numbers[1] = chunks(o).numbers[0]),
		(of_chunks(OpeningError::NoSuchChunk), |o| chunks(o).numbers[2] = Compact(1 << 40)),
		(of_chunks(OpeningError::NoSuchChunk), |o| chunks(o).numbers[2] = Compact(u64::MAX)),
		(of_chunks(OpeningError::Empty), |o| {
			*chunks(o) = Chunks { numbers: vec![], bytes: vec![], siblings: vec![] }
		}),
		(Refused::Twice, |o| {
			let again = o.tensors.tensors[0].clone();
			o.tensors.tensors.push(again)
		}),
		(wrong, |o| o.tensors.rows = None),
		(wrong, |o| o.tensors.rows.as_mut().unwrap()[3].0[0] ^= 1),
		(wrong, |o| o.tensors.rows.as_mut().unwrap().swap(0, 2)),
		(of_chunks(OpeningError::NoSuchChunk), |o| {
			let at = o.tensors.tensors.len() - 1;
			o.tensors.tensors[at].source = Source::Labels
		}),
		(wrong, |o| match source(o) {
			Source::Result { content, .. } => content.0[0] ^= 1,
			other => panic!("{other:?}"),
		}),
		(wrong, |o| match source(o) {
			Source::Result { path, .. } => path.push(H256::zero()),
			other => panic!("{other:?}"),
		}),
		(wrong, |o| match source(o) {
			Source::Result { path, .. } => path.truncate(0),
			other => panic!("{other:?}"),
		}),
		(wrong, |o| match source(o) {
			Source::Result { result, .. } => *result ^= 1,
			other => panic!("{other:?}"),
		}),
		(wrong, |o| match source(o) {
			Source::Result { result, .. } => *result = u32::MAX,
			other => panic!("{other:?}"),
		}),
		(wrong, |o| o.before = None),
		(wrong, |o| o.before = Some(Default::default())),
	];
	refuse(&lowered, made, &piece, bends);
	// The begin, to which nothing leads.
	let first = pieces(&lowered, made, long, 1_500)[0];
	let bends: &[(Refused, Bend)] = &[(Refused::LeftOver, |o| o.before = Some(Default::default()))];
	refuse(&lowered, made, &first, bends);
	// The first product reads features and a tensor of the state.
	let product = pieces(&lowered, made, 0, 0)[0];
	let bends: &[(Refused, Bend)] = &[
		(wrong, |o| match source(o) {
			Source::State { content, .. } => content.0[0] ^= 1,
			other => panic!("{other:?}"),
		}),
		(wrong, |o| match source(o) {
			Source::State { path, .. } => path[0].0[0] ^= 1,
			other => panic!("{other:?}"),
		}),
		(wrong, |o| match source(o) {
			Source::State { path, .. } => path.clear(),
			other => panic!("{other:?}"),
		}),
		(wrong, |o| match source(o) {
			Source::State { tensor, .. } => *tensor += 1,
			other => panic!("{other:?}"),
		}),
		(wrong, |o| match source(o) {
			Source::State { tensor, .. } => *tensor = u32::MAX,
			other => panic!("{other:?}"),
		}),
		// A model that no fine-tuning begins with.
		(Refused::LeftOver, |o| match source(o).clone() {
			Source::State { tensor, content, path } => {
				*source(o) = Source::Initial { tensor, content, path }
			}
			other => panic!("{other:?}"),
		}),
		// A tensor of the state is no result.
		(wrong, |o| match source(o).clone() {
			Source::State { tensor, content, path } => {
				*source(o) = Source::Result { result: tensor, content, path }
			}
			other => panic!("{other:?}"),
		}),
	];
	refuse(&lowered, made, &product, bends);
}

/// What is right of one computation, state or job is refused for another.
#[test]
fn openings_belong_to_their_piece() {
	let world = World::new(testing::specs().remove(0));
	let (lowered, made) = example(&world);
	let result = (0..lowered.results())
		.find(|result| {
			let opened =
				proving::open_stretch(&lowered, &made, &pieces(&lowered, &made, *result, 0)[0]);
			let tensors = opened.unwrap().tensors.tensors;
			let is_state = |t: &TensorOpening| matches!(t.source, Source::State { .. });
			let is_result = |t: &TensorOpening| matches!(t.source, Source::Result { .. });
			tensors.iter().any(is_state) && tensors.iter().any(is_result)
		})
		.unwrap();
	let piece = pieces(&lowered, &made, result, 0)[0];
	let opening = proving::open_stretch(&lowered, &made, &piece).unwrap();
	let right = agreed(&lowered, &made, result);
	assert_eq!(stretch(&lowered, &right, &piece, &opening), Ok(Verdict::Same));
	let wrong = Err(Refused::WrongOpening);
	let other_state = Agreed { state: H256::zero(), ..right };
	assert_eq!(stretch(&lowered, &other_state, &piece, &opening), wrong);
	let other_results = agreed(&lowered, &made, result - 1);
	assert_eq!(stretch(&lowered, &other_results, &piece, &opening), wrong);
	// An element, a result or a computation that there is not.
	let none = |piece: Stretch| {
		let empty = StretchOpening::default();
		assert_eq!(stretch(&lowered, &right, &piece, &empty), Err(Refused::NoSuchPiece));
	};
	none(Stretch { element: lowered.part(result).unwrap().len, ..piece });
	none(Stretch { element: u64::MAX, ..piece });
	none(Stretch { result: lowered.results(), ..piece });
	none(Stretch { result: u32::MAX, ..piece });
	let case = &world.case;
	let (steps, slices) = (case.spec.training.steps, case.spec.slices());
	for computation in [
		Computation::Step { step: steps },
		Computation::Step { step: u32::MAX },
		Computation::Slice { slice: slices },
		Computation::Slice { slice: u32::MAX },
	] {
		assert_eq!(Lowered::new(case, computation).unwrap_err(), Refused::NoSuchPiece);
	}
	// Rows of another step are other chunks, or other elements of them.
	let (result, other) = (0, Lowered::new(case, Computation::Step { step: 2 }).unwrap());
	let piece = pieces(&lowered, &made, result, 0)[0];
	let opening = proving::open_stretch(&lowered, &made, &piece).unwrap();
	let found = stretch(&other, &agreed(&lowered, &made, result), &piece, &opening);
	assert!(!matches!(found, Ok(Verdict::Same)), "{found:?}");
	assert!(CHUNK_ELEMENTS >= u64::from(case.spec.dataset.features));
}

#[test]
fn openings_decode_whole_and_within_their_bound() {
	let world = World::new(testing::specs().remove(0));
	let (lowered, made) = example(&world);
	let piece = pieces(&lowered, &made, 1, 0)[0];
	let opening = Openings::Stretch(proving::open_stretch(&lowered, &made, &piece).unwrap());
	let bytes = opening.encode();
	assert_eq!(Openings::from_bytes(&bytes), Ok(opening));
	for end in 0..bytes.len() {
		assert_eq!(Openings::from_bytes(&bytes[..end]), Err(Refused::WrongOpening), "{end}");
	}
	let longer = [&bytes[..], &[0]].concat();
	assert_eq!(Openings::from_bytes(&longer), Err(Refused::WrongOpening));
	let contents = |count: usize| Openings::Contents(vec![H256::zero(); count]).encode();
	let most = (MAX_OPENINGS - 5) / 32;
	assert!(Openings::from_bytes(&contents(most)).is_ok());
	assert_eq!(Openings::from_bytes(&contents(most + 1)), Err(Refused::TooLong));
	// A list that is said to be longer than there are bytes.
	assert_eq!(Openings::from_bytes(&[2, 254, 255, 255, 255]), Err(Refused::WrongOpening));
	for variant in 6..=255u8 {
		assert_eq!(Openings::from_bytes(&[variant, 0, 0, 0]), Err(Refused::WrongOpening));
	}
}
