//! Every operator: whoever is right wins.

use super::*;
use std::collections::{BTreeMap, BTreeSet};
use trainyard_program::{
	ops::OpKind,
	order,
	parts::Part,
	reference::{self, StepContext},
};
use trainyard_strict::canonical_bits;

/// Number of a part among those that jobs have; none for those that no job has. A new one does not
/// compile without a number, and without a job the test of all numbers fails.
pub(super) fn number(part: &Part) -> Option<usize> {
	let kind = match part {
		Part::Whole(kind) => kind,
		Part::RowMax { .. } => return Some(0),
		Part::RowLogSum { .. } => return Some(1),
		Part::RowLogShare { .. } => return Some(2),
		Part::CausalMax { .. } => return Some(3),
		Part::CausalSum { .. } => return Some(4),
		Part::CausalShare { .. } => return Some(5),
		Part::CausalDot { .. } => return Some(6),
		Part::CausalGrad { .. } => return Some(7),
		Part::RowMean { .. } => return Some(8),
		Part::RowDeviation { .. } => return Some(9),
		Part::NormOut { .. } => return Some(10),
		Part::NormGradMean { .. } => return Some(11),
		Part::NormGradDot { .. } => return Some(12),
		Part::NormGrad { .. } => return Some(13),
		Part::NormWeightGrad { .. } => return Some(14),
		Part::PoolChoice { .. } => return Some(15),
		Part::PoolGrad { .. } => return Some(16),
	};
	let number = match kind {
		OpKind::MatMul { .. } => 17,
		OpKind::BatchMatMul { .. } => 18,
		OpKind::Conv2d { .. } => 19,
		OpKind::Conv2dWeightGrad { .. } => 20,
		OpKind::Conv2dInputGrad { .. } => 21,
		OpKind::Mean { .. } => 22,
		OpKind::SumSquares { .. } => 23,
		OpKind::SumRows { .. } => 24,
		OpKind::SumChannels { .. } => 25,
		OpKind::SquaredLoss { .. } => 26,
		OpKind::Correct { .. } => 27,
		OpKind::MaxPool2d { .. } => 28,
		OpKind::AvgPool2d { .. } => 29,
		OpKind::AvgPool2dGrad { .. } => 30,
		OpKind::EmbeddingGrad { .. } => 31,
		OpKind::AddRow { .. } => 32,
		OpKind::AddChannel { .. } => 33,
		OpKind::Relu { .. } => 34,
		OpKind::ReluGrad { .. } => 35,
		OpKind::RowLoss { .. } => 36,
		OpKind::RowLossGrad { .. } => 37,
		OpKind::SquaredLossGrad { .. } => 38,
		OpKind::Scale { .. } => 39,
		OpKind::Decay { .. } => 40,
		OpKind::MulAdd { .. } => 41,
		OpKind::Ema { .. } => 42,
		OpKind::EmaSquare { .. } => 43,
		OpKind::AdamStep { .. } => 44,
		OpKind::Add { .. } => 45,
		OpKind::Activation { .. } => 46,
		OpKind::ActivationGrad { .. } => 47,
		OpKind::SwapAxes { .. } => 48,
		OpKind::Embedding { .. } => 49,
		OpKind::Dropout { .. } => 50,
		OpKind::Noise { .. } => 51,
		OpKind::ClipFactor { .. } => 52,
		OpKind::LearningRate { .. } => 53,
		// Of drilling alone.
		OpKind::Whetstone { .. } => return None,
		// Taken apart.
		OpKind::LogSoftmax { .. }
		| OpKind::MaxPool2dGrad { .. }
		| OpKind::LayerNorm { .. }
		| OpKind::LayerNormGrad { .. }
		| OpKind::LayerNormWeightGrad { .. }
		| OpKind::RmsNorm { .. }
		| OpKind::RmsNormGrad { .. }
		| OpKind::RmsNormWeightGrad { .. }
		| OpKind::CausalSoftmax { .. }
		| OpKind::CausalSoftmaxGrad { .. } => return None,
	};
	Some(number)
}

/// The numbers that there are.
pub(super) const NUMBERS: usize = 54;

/// Two or three elements of a result.
fn some(len: u64) -> BTreeSet<u64> {
	BTreeSet::from([0, len / 2, len - 1])
}

/// An honest trainer is acquitted of whatever it is accused. One that wrote one element otherwise, and
/// computed all that follows from it, is convicted of this element, and of no other.
#[test]
fn every_operator_is_decided_for_who_is_right() {
	let (mut seen, mut judged, mut convicted) = (BTreeSet::new(), 0, 0);
	for_each_computation(|world, lowered, made| {
		let mut kinds = BTreeMap::new();
		for (result, at) in (0..).zip(lowered.parts()) {
			for element in some(at.len) {
				for piece in pieces(lowered, made, result, element) {
					let found = decide(lowered, made, &piece);
					assert_eq!(found, Ok(Verdict::Same), "{:?}", at.part);
					judged += 1;
				}
			}
			let number = number(&at.part).expect("a part of a job");
			kinds.insert(number, (result, at));
		}
		for (number, (result, at)) in kinds {
			seen.insert(number);
			let element = at.len / 2;
			let honest = made.bits(result, element);
			// The last bit, and the sign.
			for lie in [honest ^ 1, honest ^ 1 << 31] {
				let cheat = Some((result, element, lie));
				let cheating = Computed::new(lowered, world, &world.initial(), cheat);
				let lie = cheating.bits(result, element);
				for index in some(at.len) {
					let verdict = match index == element {
						true => {
							let (found, claimed) = (Value::Bits(honest), Value::Bits(lie));
							Verdict::Other { found, claimed }
						}
						false => Verdict::Same,
					};
					let piece = pieces(lowered, &cheating, result, index).pop().unwrap();
					assert_eq!(decide(lowered, &cheating, &piece), Ok(verdict), "{:?}", at.part);
					convicted += u32::from(!verdict.is_same());
				}
				// All that was computed from the lie is so.
				for after in (result + 1..lowered.results()).step_by(5) {
					let last = lowered.parts()[after as usize].len - 1;
					let piece = pieces(lowered, &cheating, after, last).pop().unwrap();
					assert_eq!(decide(lowered, &cheating, &piece), Ok(Verdict::Same));
				}
			}
		}
	});
	assert_eq!(seen, (0..NUMBERS).collect());
	assert!(judged > 1_000 && convicted > 200, "{judged} {convicted}");
}

/// The results that the referee recomputes are those of the reference executor, over the batch that
/// the order gives.
#[test]
fn computations_are_those_of_the_reference() {
	let mut compared = 0;
	for_each_computation(|world, lowered, made| {
		let spec = &world.case.spec;
		let (width, labels) = (spec.dataset.features as usize, spec.labels_per_row() as usize);
		let words = |bytes: &[u8]| -> Vec<u32> {
			let (words, _) = bytes.as_chunks::<4>();
			words.iter().map(|word| u32::from_le_bytes(*word)).collect()
		};
		let [train, train_labels, validation, validation_labels] =
			world.rows.each_ref().map(|bytes| words(bytes));
		let (rows, inputs, of_rows, moment) = match lowered.computation() {
			Computation::Step { step } => {
				let order::Place { epoch, positions } = order::place(spec, step);
				assert!(epoch > 0 && positions.start > 0);
				let all = spec.dataset.train_rows;
				let order = order::Order::new(&world.case.seed, epoch, all).tabulate();
				let moment = StepContext { seed: world.case.seed, step };
				(order.rows(positions), train, train_labels, moment)
			}
			Computation::Slice { slice } => {
				let rows = spec.slice(slice).unwrap().collect();
				(rows, validation, validation_labels, StepContext::default())
			}
		};
		let rows_of = |all: &[u32], each: usize| -> Vec<u32> {
			rows.iter().flat_map(|row| all[*row as usize * each..][..each].to_vec()).collect()
		};
		let features: Vec<f32> = rows_of(&inputs, width).into_iter().map(f32::from_bits).collect();
		let state = lowered.state().tensors().iter().zip(world.initial());
		let state = state.map(|(tensor, bytes)| {
			(tensor.name.clone(), words(&bytes).into_iter().map(f32::from_bits).collect())
		});
		let program = lowered.program();
		let labels = rows_of(&of_rows, labels);
		let values =
			reference::run_at(program, &features, &labels, &state.collect(), moment).unwrap();
		for (result, part) in (0..).zip(lowered.parts()) {
			let Some(declared) = program.tensor(part.out) else { continue };
			for (index, expected) in (0..).zip(values.get(part.out)) {
				let found = made.bits(result, index);
				assert_eq!(found, canonical_bits(*expected), "{} {index}", declared.name);
				compared += 1;
			}
		}
	});
	assert!(compared > 10_000, "{compared}");
}

/// A chain of several stretches is decided stretch by stretch: the false one is found, and none other.
#[test]
fn long_chains_are_decided_by_the_stretch() {
	let (world, made) = testing::long();
	let lowered = Lowered::new(&world.case, Computation::Step { step: 1 }).unwrap();
	let length = |result: u32| lowered.stretch(result).unwrap();
	let is_long = |result: &u32| lowered.terms(*result, 0).unwrap() > length(*result);
	let long: Vec<u32> = (0..lowered.results()).filter(is_long).collect();
	let kinds: Vec<_> = long.iter().map(|at| number(&lowered.parts()[*at as usize].part)).collect();
	// Gradients of weights and biases read columns, in the first layer of the rows of the batch.
	assert_eq!(kinds, [Some(17), Some(17), Some(24)], "{long:?}");
	for result in [long[0], long[2]] {
		let all = pieces(&lowered, made, result, 55);
		assert!(all.len() > 2);
		for piece in &all {
			assert_eq!(decide(&lowered, made, piece), Ok(Verdict::Same));
		}
	}
	let (result, element) = (long[1], 1_500);
	let all = pieces(&lowered, made, result, element);
	assert!(all.len() > 4, "{}", all.len());
	for piece in &all {
		assert_eq!(decide(&lowered, made, piece), Ok(Verdict::Same));
	}
	for (at, piece) in all.iter().enumerate() {
		let lie = match piece.to {
			To::Chain { taken, .. } => To::Chain { taken, digest: H256::repeat_byte(7) },
			To::Element { bits } => To::Element { bits: bits ^ 1 },
		};
		let lying = Stretch { to: lie, ..*piece };
		let verdict = decide(&lowered, made, &lying).unwrap();
		assert!(!verdict.is_same(), "stretch {at}: {verdict:?}");
		// From a digest that is not the honest one, nothing opens.
		if let Some((taken, _)) = piece.from {
			let from = Some((taken, H256::repeat_byte(7)));
			let found = decide(&lowered, made, &Stretch { from, ..*piece });
			assert_eq!(found, Err(Refused::WrongOpening));
		}
	}
	// A stretch has its bounds and no others.
	let length = length(result);
	let digest = H256::repeat_byte(7);
	let to = |taken| To::Chain { taken, digest };
	let from = |taken| Some((taken, digest));
	let element_of = To::Element { bits: 0 };
	let others = [
		(None, element_of),
		(None, to(1)),
		(None, to(length - 1)),
		(None, to(length + 1)),
		(None, to(2 * length)),
		(None, to(600)),
		(from(0), to(length)),
		(from(1), to(length + 1)),
		(from(length), to(length)),
		(from(length), to(3 * length)),
		(from(length), to(600)),
		(from(length), element_of),
		(from(600), to(600)),
		(from(600), to(601)),
		(from(u64::MAX), to(u64::MAX)),
		(from(u64::MAX), element_of),
	];
	for (from, to) in others {
		let piece = Stretch { result, element, from, to };
		let empty = StretchOpening::default();
		let found = stretch(&lowered, &agreed(&lowered, made, result), &piece, &empty);
		assert_eq!(found, Err(Refused::NoSuchPiece), "{from:?} {to:?}");
		assert_eq!(Cost::of(&lowered, &piece), Err(Refused::NoSuchPiece));
	}
}

/// Whatever bits of a NaN a processor makes, one form is claimed, opened and found.
#[test]
fn payloads_of_nan_do_not_split() {
	let world = World::new(testing::specs().remove(0));
	let lowered = Lowered::new(&world.case, Computation::Step { step: 13 }).unwrap();
	let mut state = world.initial();
	// Weights of both infinities: sums of them are NaN, by 7FC00000 or FFC00000.
	let weights = lowered.state().find("layers.2.weight").unwrap() as usize;
	for (at, word) in state[weights].as_chunks_mut::<4>().0.iter_mut().enumerate() {
		let sign = if at % 2 == 0 { f32::INFINITY } else { f32::NEG_INFINITY };
		*word = sign.to_le_bytes();
	}
	let made = Computed::new(&lowered, &world, &state, None);
	let mut nan = 0;
	for (result, part) in (0..).zip(lowered.parts()) {
		for element in some(part.len) {
			let bits = made.bits(result, element);
			let piece = pieces(&lowered, &made, result, element).pop().unwrap();
			assert_eq!(decide(&lowered, &made, &piece), Ok(Verdict::Same), "{:?}", part.part);
			if f32::from_bits(bits).is_nan() {
				assert_eq!(bits, 0x7FC0_0000);
				nan += 1;
				// Other bits are a lie.
				for lie in [0xFFC0_0000, 0x7FC0_0001, 0x7F80_0001] {
					let lying = Stretch { to: To::Element { bits: lie }, ..piece };
					let (found, claimed) = (Value::Bits(bits), Value::Bits(lie));
					let verdict = Ok(Verdict::Other { found, claimed });
					assert_eq!(decide(&lowered, &made, &lying), verdict);
				}
			}
		}
	}
	assert!(nan > 40, "{nan}");
	// Who hashed other bits cannot open them.
	let reads = |result: &u32| {
		let inputs = lowered.parts()[*result as usize].part.inputs();
		inputs.contains(&lowered.parts()[0].out)
	};
	let reader = (1..lowered.results()).find(reads).unwrap();
	let mut bent = made.clone();
	let word = f32::from_bits(0xFFC0_0001).to_bits().to_le_bytes();
	bent.write(0, word.repeat(lowered.parts()[0].len as usize));
	for (result, part) in (1..=reader).zip(&lowered.parts()[1..]) {
		bent.write(result, vec![0; part.len as usize * 4]);
	}
	let to = To::Element { bits: 0 };
	let piece = Stretch { result: reader, element: 0, from: None, to };
	assert_eq!(decide(&lowered, &bent, &piece), Err(Refused::NotCanonical));
}
